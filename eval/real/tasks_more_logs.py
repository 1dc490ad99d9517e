"""Logs of formats that no prompt or rule was tuned for: chat, a database, a load balancer, a cluster, a vehicle bus, chess, an IDE, ETL runs, commits.

All of them belong to the development half.
"""

import re
import statistics
from collections import Counter
from email.utils import parsedate_to_datetime

from extract import best, most, number, only
from model import Task
from sources import BuildError

PROXY = re.compile(r'haproxy\[\d+\]: \S+ \[([^\]]+)\] (\S+) (\S+?)/(\S+) (-?\d+)/(-?\d+)/(-?\d+)/(-?\d+)/\+?(\d+) (\d+) \+?(\d+) .*?"(\S+) (\S+)')
CLUSTER = re.compile(r"Apr 03 (\d\d:\d\d):\d\d \S+ (\S+?)\s*\[(\d+)\] \((\w+)\) \t(\w+): (.*)")


def add_to(tasks):
    for slug, corpus, question, truth, how, *rest in TASKS:
        tasks.add(Task("logs", slug, corpus, question, truth, how=how, half="dev", **(rest[0] if rest else {})))


def messages(f):
    """Day, month and nickname of each message of the channel."""
    return re.findall(r"^\[(\d\d) (\w{3}) \d\d:\d\d\] <([^!>]+)!", f.text("channel.log"), re.M)


def durations(f):
    return [float(one) for one in re.findall(r"duration: ([\d.]+) ms", f.text("postgresql.log"))]


def proxy(f):
    """One dictionary per request."""
    names = ("time", "frontend", "backend", "server", "Tq", "Tw", "Tc", "Tr", "Tt", "status", "bytes", "method", "path")
    rows = [PROXY.search(line) for line in f.lines("haproxy.log")]
    assert all(rows)
    return [dict(zip(names, row.groups(), strict=True)) for row in rows]


def cluster(f):
    """Minute, daemon, process, function, level and text of each line."""
    rows = [CLUSTER.match(line) for line in f.lines("pacemaker.log")[1:]]
    assert sum(row is None for row in rows) == 0
    return [row.groups() for row in rows]


def span(f):
    """The seconds between the first and the last time stamp, which are on the same day."""
    times = [sum(int(part) * unit for part, unit in zip(one, (3600, 60, 1), strict=True)) for one in re.findall(r"^Apr 03 (\d\d):(\d\d):(\d\d) ", f.text("pacemaker.log"), re.M)]
    return times[-1] - times[0]


def frames(f):
    """Time, identifier and number of data bytes of each frame."""
    found = re.findall(r"^ +([\d.]+) \d  ([0-9A-F]+) +Rx   d (\d)", f.text("trace.asc"), re.M)
    return [(float(time), one, int(length)) for time, one, length in found]


def games(f):
    """The tags of each game, and its moves."""
    parts = re.split(r"\n\n(?=\[Event )", f.text("games.pgn").strip())
    return [dict(re.findall(r'^\[(\w+) "(.*)"\]$', part, re.M)) | {"moves": part.split("\n\n", 1)[1]} for part in parts]


def n_moves(game):
    return max(map(int, re.findall(r"(?:^|\s)(\d+)\.", game["moves"])), default=0)


def players(f):
    """Name and rating of every player."""
    return {(game[side], int(game[f"{side}Elo"])) for game in games(f) for side in ("White", "Black") if game.get(f"{side}Elo", "").isdigit()}


def commits(f):
    return [parsedate_to_datetime(line) for line in f.lines("commits.txt")]


def runs(f):
    """The name of each example and the output of its run."""
    parts = re.split(r"==== running etl\.sh for (\S+) ====\n", f.text("runall.log"))
    return list(zip(parts[1::2], parts[2::2], strict=True))


def second(items):
    """The second most frequent item; a tie with its neighbours is an error."""
    ranked = Counter(items).most_common(3)
    if len({n for _, n in ranked}) != 3:
        raise BuildError(f"no single second: {ranked}")
    return ranked[1][0]


def share(part, whole, digits=1):
    return number(100 * part / whole, digits)


N = {"noun": "number"}

TASKS = [
    # A chat, more than a year.
    ("irc-writer", "irc-log", "Who wrote the second most messages in the channel? Go by nickname.",
     lambda f: second(nick for _, _, nick in messages(f)), "exact", {"noun": "nickname"}),
    ("irc-disconnected", "irc-log", "Combien de fois celui qui tient ce journal a-t-il été déconnecté (« You disconnected ») ?",
     lambda f: number(sum(line.endswith("*** You disconnected") for line in f.lines("channel.log"))), "number", {"language": "fr"}),
    ("irc-october", "irc-log", "On which day of October were the most messages written? Messages are the lines with a nickname in angle brackets.",
     lambda f: most(f"{day} Oct" for day, month, _ in messages(f) if month == "Oct")[0], "exact", {"noun": "day", "accept": ["6 October", "October 6", "Oct 6", "6 Oct", "06 October", "6th October", "October 6th"]}),
    ("irc-nicks", "irc-log", "How many different nicknames wrote at least one message in May?",
     lambda f: number(len({nick for _, month, nick in messages(f) if month == "May"})), "number", N),
    # A database: some entries have several lines.
    ("pg-slowest", "postgres-log", "How long did the slowest statement take, in milliseconds?",
     lambda f: number(max(durations(f))), "number", {"noun": "number", "tolerance": 0.5}),
    ("pg-slow", "postgres-log", "Count the logged durations above 100 ms.",
     lambda f: number(sum(one > 100 for one in durations(f))), "number", N),
    ("pg-ready", "postgres-log", "Wie oft hat der Server gemeldet, dass er bereit ist, Verbindungen anzunehmen?",
     lambda f: number(f.text("postgresql.log").count("database system is ready to accept connections")), "number", {"language": "de"}),
    ("pg-error", "postgres-log", "Which function was called that does not exist? Only its name, without arguments.",
     lambda f: only(re.findall(r"ERROR:  function (\w+)\(", f.text("postgresql.log"))), "exact", {"plain": True, "accept": ["sleep(integer)"]}),
    # A load balancer.
    ("proxy-second", "haproxy-log", "Which server behind the load balancer handled the second largest number of requests?",
     lambda f: second(row["server"] for row in proxy(f)), "exact", {"noun": "server", "accept": ["default/instance5"]}),
    ("proxy-share", "haproxy-log", "What share of all requests, in percent with one decimal, got the status 404?",
     lambda f: share(sum(row["status"] == "404" for row in proxy(f)), len(proxy(f))), "number", {"noun": "number", "tolerance": 0.06}),
    ("proxy-404", "haproxy-log", "How many requests that went to instance7 were answered with 404?",
     lambda f: number(sum(row["server"] == "instance7" and row["status"] == "404" for row in proxy(f))), "number", N),
    ("proxy-post", "haproxy-log", "有多少个 POST 请求?",
     lambda f: number(sum(row["method"] == "POST" for row in proxy(f))), "number", {"language": "zh"}),
    ("proxy-queue", "haproxy-log", "The five timers before the status are Tq/Tw/Tc/Tr/Tt in milliseconds. How many requests spent more than 30 seconds in the queue (Tw)?",
     lambda f: number(sum(int(row["Tw"]) > 30_000 for row in proxy(f))), "number", N),
    ("proxy-bytes", "haproxy-log", "Which response was the largest? I want its size in bytes, the number right after the status.",
     lambda f: number(max(int(row["bytes"]) for row in proxy(f))), "number", {"plain": True}),
    ("proxy-post-time", "haproxy-log", "Tt, the last of the five timers (Tq/Tw/Tc/Tr/Tt), is the total time in milliseconds. What is its mean over the POST requests? Whole milliseconds.",
     lambda f: number(statistics.fmean(int(row["Tt"]) for row in proxy(f) if row["method"] == "POST"), 0), "number", {"noun": "number", "tolerance": 0.51}),
    # A cluster of two machines.
    ("cluster-daemon", "cluster-log", "Which of the daemons wrote the most lines?",
     lambda f: most(row[1] for row in cluster(f))[0], "exact", {"noun": "name"}),
    ("cluster-notices", "cluster-log", "How many lines of level notice came from pacemaker-controld?",
     lambda f: number(sum(row[1] == "pacemaker-controld" and row[4] == "notice" for row in cluster(f))), "number", N),
    ("cluster-minute", "cluster-log", "¿En qué minuto se escribieron más líneas? Da la hora como HH:MM.",
     lambda f: most(row[0] for row in cluster(f))[0], "exact", {"language": "es", "plain": True}),
    ("cluster-function", "cluster-log", "The name in parentheses is the function that wrote the line. Which one occurs most often?",
     lambda f: most(row[3] for row in cluster(f))[0], "exact", {"noun": "name", "accept": ["(cib_perform_op)", "cib_perform_op()"]}),
    ("cluster-span", "cluster-log", "How many minutes lie between the first and the last time stamp? Leave out what is less than a whole minute.",
     lambda f: number(span(f) // 60), "number", N),
    # The frames on a vehicle's bus.
    ("can-most", "can-trace", "Which identifier was sent most often? As in the third column, that is, in hexadecimal.",
     lambda f: most(one for _, one, _ in frames(f))[0], "exact", {"noun": "identifier", "accept": ["0x64"]}),
    ("can-short", "can-trace", "How many frames carry fewer than four data bytes?",
     lambda f: number(sum(length < 4 for _, _, length in frames(f))), "number", N),
    ("can-first", "can-trace", "At how many seconds does a frame with the identifier 10 (third column, hexadecimal) appear for the first time?",
     lambda f: number([time for time, one, _ in frames(f) if one == "10"][0]), "exact", {"noun": "number"}),
    ("can-last", "can-trace", "最後のフレームの時刻は何秒ですか。",
     lambda f: number(frames(f)[-1][0]), "exact", {"language": "ja"}),
    # Chess games of one week.
    ("chess-draws", "chess-games", "How many games of the event \"ch-CHN 2025\" ended in a draw?",
     lambda f: number(sum(game["Event"] == "ch-CHN 2025" and game["Result"] == "1/2-1/2" for game in games(f))), "number", N),
    ("chess-rating", "chess-games", "Who is the player with the highest rating?",
     lambda f: best(players(f), lambda one: one[1])[0], "exact", {"noun": "name", "accept": ["Arjun Erigaisi", "Erigaisi, Arjun"]}),
    ("chess-lost", "chess-games", "Wie viele Partien verlor ein Großmeister (Titel GM) mit Weiß?",
     lambda f: number(sum(game.get("WhiteTitle") == "GM" and game["Result"] == "0-1" for game in games(f))), "number", {"language": "de"}),
    ("chess-longest", "chess-games", "How many moves does the longest game have? The number of the last numbered move counts.",
     lambda f: number(max(map(n_moves, games(f)))), "number", N),
    # A development environment.
    ("ide-sources", "ide-log", "For how many artefacts were the sources downloaded (\"Downloaded sources for …\")?",
     lambda f: number(len(set(re.findall(r"Downloaded sources for (\S+)", f.text("ide.log"))))), "number", N),
    ("ide-day", "ide-log", "Combien de lignes datent du 10 septembre 2022 ?",
     lambda f: number(sum(line.startswith("2022-09-10") for line in f.lines("ide.log"))), "number", {"language": "fr"}),
    # ETL runs, one after another, with their output between the log lines.
    ("etl-warning", "etl-log", "There is a single WARNING. Which of the examples was running when it was logged?",
     lambda f: only(name for name, text in runs(f) if re.search(r"^2023\S+ \S+ \S+ WARNING ", text, re.M)), "exact", {"noun": "name"}),
    ("etl-runs", "etl-log", "How many examples were run one after the other?",
     lambda f: number(len(runs(f))), "number", N),
    ("etl-module", "etl-log", "Date, time, module, level: which module wrote the most log lines?",
     lambda f: most(re.findall(r"^2023-\S+ \S+ (\S+) [A-Z]+ ", f.text("runall.log"), re.M))[0], "exact", {"noun": "module"}),
    # The dates of a project's commits.
    ("commits-weekday", "commits", "On which day of the week were the fewest commits made?",
     lambda f: best(Counter(date.strftime("%A") for date in commits(f)).items(), lambda one: one[1], smallest=True)[0], "exact", {"noun": "weekday", "accept": ["Sat"]}),
    ("commits-march", "commits", "¿Cuántos commits hay de marzo de 2015?",
     lambda f: number(sum((date.year, date.month) == (2015, 3) for date in commits(f))), "number", {"language": "es"}),
    ("commits-night", "commits", "How many commits carry a local time between 00:00 and 05:59?",
     lambda f: number(sum(date.hour < 6 for date in commits(f))), "number", N),
]
