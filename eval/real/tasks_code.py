"""Code from packages. Every truth is computed from the syntax trees."""

import ast

from extract import callers, default_of, defined_in, number, raised_by, subclasses
from model import Task


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("code", slug, corpus, question, truth, how=how, **(rest[0] if rest else {})))


def place(name):
    return lambda f: [defined_in(f, name)]


def default(qualified, parameter):
    """A constant default: the text of a string, or a number."""

    def truth(f):
        value = ast.literal_eval(default_of(f, qualified, parameter))
        return value if isinstance(value, str) else number(value)

    return truth


FORM = "Write methods as Class.method, separated by commas."

TASKS = [
    # Where something is defined.
    ("where-syslog", "gunicorn-code", "Which file takes a syslog address such as udp://localhost:514 apart?", place("parse_syslog_address"), "paths", {"noun": "path"}),
    ("where-usergroup", "supervisor-code", "I am looking for the function that splits user:group settings at the colon. Where is it defined?", place("colon_separated_user_group"), "paths", {"noun": "path"}),
    ("where-fingerprint", "urllib3-code", "In which file is it checked that a certificate has the expected fingerprint?", place("assert_fingerprint"), "paths", {"noun": "path"}),
    ("where-hostkey", "paramiko-code", "Dans quel fichier la classe HostKeyEntry est-elle définie ?", place("HostKeyEntry"), "paths", {"language": "fr", "plain": True}),
    ("where-timestamp", "tornado-code", "Where does Tornado turn a time into the format that HTTP headers use?", place("format_timestamp"), "paths", {"noun": "path"}),
    ("where-ignore", "scrapy-code", "Which module of Scrapy defines the retry middleware?", place("RetryMiddleware"), "paths", {"noun": "path"}),
    ("where-pydantic", "peewee-code", "把 peewee 模型转换成 pydantic 模型的函数 to_pydantic 在哪个文件里?", place("to_pydantic"), "paths", {"language": "zh", "plain": True}),
    # Defaults of parameters.
    ("default-callbacks", "gunicorn-code", "At most how many callbacks does one call of PollableMethodQueue.run_callbacks run, if nothing is passed?", default("PollableMethodQueue.run_callbacks", "max_callbacks"), "exact", {"noun": "number"}),
    ("default-drain", "gunicorn-code", "How many bytes does close_graceful read off the socket at most, by default?", default("close_graceful", "max_drain"), "exact", {"noun": "number", "accept": ["64 KiB", "65,536"]}),
    ("default-loop", "supervisor-code", "What is the default timeout of Medusa's asyncore loop function in supervisor?", default("loop", "timeout"), "number", {"accept": ["30.0", "30 seconds"]}),
    ("default-content", "urllib3-code", "What does guess_content_type return for a file name that tells nothing, unless another default is given?", default("guess_content_type", "default"), "exact", {"noun": "type"}),
    ("default-pty", "paramiko-code", "Welchen Terminaltyp fordert Channel.get_pty an, wenn man keinen angibt?", default("Channel.get_pty", "term"), "exact", {"language": "de"}),
    ("default-reads", "paramiko-code", "How many requests does SFTPClient.listdir_iter send ahead when I leave that argument out?", default("SFTPClient.listdir_iter", "read_aheads"), "exact", {"noun": "number"}),
    ("default-cookie", "tornado-code", "For how many days is a signed cookie of Tornado kept by the browser if I do not say?", default("RequestHandler.set_signed_cookie", "expires_days"), "exact", {"noun": "number"}),
    ("default-rsearch", "scrapy-code", "What is the default chunk size of re_rsearch?", default("re_rsearch", "chunk_size"), "exact", {"noun": "number", "accept": ["1 KiB"]}),
    ("default-stale", "peewee-code", "Idle pooled connections can be closed with close_stale. From what age on, in seconds, if no age is passed?", default("PooledDatabase.close_stale", "age"), "exact", {"noun": "number"}),
    # Who calls whom.
    ("callers-halfclose", "gunicorn-code", f"Which methods call _half_close_remote? {FORM}", lambda f: callers(f, "_half_close_remote"), "set", {"plain": True}),
    ("callers-channel", "supervisor-code", f"Find everything that calls add_channel. {FORM}", lambda f: callers(f, "add_channel"), "set", {"plain": True}),
    ("callers-logchannel", "paramiko-code", f"What calls get_log_channel? {FORM}", lambda f: callers(f, "get_log_channel"), "set", {"plain": True}),
    ("callers-parseheader", "tornado-code", f"List the callers of _parse_header. {FORM}", lambda f: callers(f, "_parse_header"), "set", {"plain": True}),
    ("callers-popstream", "scrapy-code", f"From where is pop_stream called? {FORM}", lambda f: callers(f, "pop_stream"), "set", {"plain": True}),
    # Exceptions and classes.
    ("raises-chunk", "urllib3-code", "Which exceptions can HTTPResponse._update_chunk_length raise by its own raise statements? Comma-separated.", lambda f: raised_by(f, "HTTPResponse._update_chunk_length"), "set", {"plain": True}),
    ("raises-retry", "urllib3-code", "Which exception is raised when a Retry-After header makes no sense?", lambda f: raised_by(f, "Retry.parse_retry_after")[0], "exact", {"noun": "name"}),
    ("raises-getnowait", "tornado-code", "キューが空のとき、Queue.get_nowait はどの例外を送出しますか。", lambda f: raised_by(f, "Queue.get_nowait")[0], "exact", {"language": "ja"}),
    ("bases-policy", "paramiko-code", "Which classes derive directly from MissingHostKeyPolicy? A comma-separated list will do.", lambda f: subclasses(f, "MissingHostKeyPolicy"), "set", {"plain": True}),
]
