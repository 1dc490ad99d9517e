"""Uses real MCP servers through the program: `mcp-servers.py PROGRAM FOLDER`, where the folder contains the packages.

Every server is listed and called with `spelunk tools`. Then a scripted model calls them all in one run, whose answer must
contain the output of each.
"""

import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROGRAM, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
MODULES = FOLDER / "node_modules" / "@modelcontextprotocol"
EVERYTHING = ["node", str(MODULES / "server-everything" / "dist" / "index.js")]
WORDS = "The cave is dry in winter."

# The model's code. Each line calls one server.
CODE = """
said = [
    std_echo(message='one')[-3:],
    web_get_sum(a=20, b=22),
    files_read_text_file(path='{work}/a.txt')['content'].strip(),
    page_fetch(url='{page}'),
    rows_read_query(query='select 40 + 2 as n'),
]
batch = std_echo_batched([{{'message': 'b%d' % n}} for n in range(5)])
FINAL(' | '.join(str(one) for one in said + batch))
"""


class Page(BaseHTTPRequestHandler):
    """Serves a web page, and the model's API."""

    code = ""

    def log_message(self, *_):
        pass

    def reply(self, kind, body):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v1/models":
            models = {"object": "list", "data": [{"id": "scripted", "object": "model"}]}
            return self.reply("application/json", json.dumps(models).encode())
        return self.reply("text/html", f"<html><body><article><p>{WORDS}</p></article></body></html>".encode())

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        delta = {"content": f"```repl\n{Page.code}\n```"}
        chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}]
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        chunks.append({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 1}})
        head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
        lines = [f"data: {json.dumps({**head, **chunk})}\n\n" for chunk in chunks]
        self.reply("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait_for(port):
    until = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except OSError:
            assert time.monotonic() < until, "the server over HTTP does not listen"
            time.sleep(0.05)


def main(root):
    work, home = root / "work", root / "home"
    (home / ".config" / "spelunk").mkdir(parents=True)
    work.mkdir()
    (work / "a.txt").write_text("A file.\n")
    page = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=page.serve_forever, daemon=True).start()
    address, port = f"http://127.0.0.1:{page.server_port}/", free_port()
    web_server = subprocess.Popen(
        [*EVERYTHING, "streamableHttp"], env={**os.environ, "PORT": str(port)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port)
        commands = {
            "std": [*EVERYTHING, "stdio"],
            "files": ["node", str(MODULES / "server-filesystem" / "dist" / "index.js"), str(work)],
            "page": [str(FOLDER / "newer" / "bin" / "mcp-server-fetch"), "--ignore-robots-txt", "--allow-private-ips"],
            "rows": [str(FOLDER / "older" / "bin" / "mcp-server-sqlite"), "--db-path", str(root / "t.db")],
        }
        settings = [f"[tools.{name}]\ncommand = {json.dumps(words)}\n" for name, words in commands.items()]
        settings.append(f'[tools.web]\nurl = "http://127.0.0.1:{port}/mcp"\n')
        (home / ".config" / "spelunk" / "config.toml").write_text("".join(settings))
        environment = {
            "HOME": str(home),
            "PATH": os.environ["PATH"],
            "SPELUNK_MODEL_PROBE_LOCAL": "false",
            "OPENAI_BASE_URL": f"{address}v1",
        }

        def spelunk(*words):
            ran = subprocess.run([PROGRAM, *words], cwd=work, env=environment, capture_output=True, text=True)
            assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
            return ran.stdout

        listed = {tool["name"]: tool for tool in json.loads(spelunk("tools", "list", "--json"))}
        effects = {
            "std_echo": "read",
            "web_echo": "read",
            "files_read_text_file": "read",
            "files_write_file": "repeatable",
            "files_move_file": "once",
            "page_fetch": listed["page_fetch"]["effect"],
            "rows_write_query": "once",
        }
        assert {name: listed[name]["effect"] for name in effects} == effects, listed
        spelunk("tools", "call", "files_write_file", json.dumps({"path": str(work / "b.txt"), "content": "Written."}))
        assert (work / "b.txt").read_text() == "Written."

        Page.code = CODE.format(work=work, page=address)
        flags = [word for name in [*commands, "web"] for word in ("--tool", name)]
        # Tools that a server does not declare as read-only must be allowed explicitly.
        flags += [word for name in ("page", "rows") for word in ("--allow-tool", name)]
        answer = spelunk("ask", "What do they say?", "a.txt", *flags)
        for words in ["one | ", "42", "A file.", WORDS, "b0", "b4"]:
            assert words in answer, f"{words!r} is missing: {answer}"
        print(f"==> {len(listed)} tools of {len(commands) + 1} real MCP servers: {' '.join(answer.split())[:200]}")
    finally:
        web_server.kill()
        web_server.wait()
        page.shutdown()


with tempfile.TemporaryDirectory() as folder:
    main(pathlib.Path(folder).resolve())
