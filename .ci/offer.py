"""Tests the offer of a local model on a terminal: `offer.py PROGRAM`, with a program that can run local models.

Nothing is downloaded without a yes, and the offer is made only once. A local server replaces the hub and sends a file that is not
the model, so the program must discard it.
"""

import http.server
import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import termios
import threading

PROGRAM = os.path.abspath(sys.argv[1])
CATALOGUE = pathlib.Path(__file__).parents[1] / "crates/spelunk-model/data/local-models.json"
MODEL = json.loads(CATALOGUE.read_text())[0]
OFFER = [
    "No key and no model server was found. This program can run a small model itself:",
    f"  {MODEL['name']}: 1.1 GB, licence Apache-2.0",
    f"  SHA-256 {MODEL['sha256']}",
    "Download it? You are asked only once. [y/N] ",
]
DECLINED = f"Nothing was downloaded. `spelunk model pull {MODEL['name']}` does it later."


class Hub(http.server.BaseHTTPRequestHandler):
    """Replaces the hub. It serves a different file under the model's name."""

    requested_paths = []

    def do_GET(self):
        self.requested_paths.append(self.path)
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"GGUF")

    def log_message(self, *_):
        pass


class Home:
    """A user without a key."""

    def __init__(self, folder, port):
        self.folder = pathlib.Path(folder)
        (self.folder / "a.md").write_text("The magic number is 42.\n")
        # No pip in PATH, so that nothing is fetched from elsewhere.
        self.env = {"HOME": folder, "PATH": folder, "NO_COLOR": "1"}
        settings = ["--set", f"local.hub_url=http://127.0.0.1:{port}", "--set", "model.probe_local=false"]
        self.command = [PROGRAM, *settings, "ask", "What is the magic number?", "a.md"]

    def ask(self, typed, *flags):
        """Asks on a terminal with this input. Returns the non-empty lines and the exit status."""
        ours, theirs = pty.openpty()
        mode = termios.tcgetattr(theirs)
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(theirs, termios.TCSANOW, mode)
        os.write(ours, typed.encode())
        streams = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
        shown = b""
        with subprocess.Popen([*self.command, *flags], cwd=self.folder, env=self.env, **streams) as process:
            os.close(theirs)
            try:
                while part := os.read(ours, 1 << 16):
                    shown += part
            except OSError:  # The other end is closed.
                pass
        os.close(ours)
        lines = shown.decode().replace("\r\n", "\n").replace("\r\x1b[J", "").split("\n")
        return [line for line in lines if line], process.returncode

    def ask_without_terminal(self):
        ran = subprocess.run(self.command, cwd=self.folder, env=self.env, input="y\n", capture_output=True, text=True)
        return (ran.stdout + ran.stderr).split("\n"), ran.returncode


def is_offered(lines):
    return any("Download it?" in line for line in lines)


def check_a_no(home):
    lines, status = home.ask_without_terminal()
    assert not is_offered(lines) and status == 4, lines
    lines, status = home.ask("y\n", "--quiet")
    assert not is_offered(lines) and status == 4, lines
    lines, status = home.ask("\n")
    assert lines[:4] == [*OFFER[:3], OFFER[3] + DECLINED] and status == 4, lines
    lines, status = home.ask("y\n")
    assert not is_offered(lines) and status == 4, lines
    assert Hub.requested_paths == [], Hub.requested_paths


def check_a_yes(home):
    lines, status = home.ask("y\n")
    assert lines[:3] == OFFER[:3] and lines[3].startswith(OFFER[3]) and status == 1, lines
    repository, name = MODEL["hub"].rsplit("/", 1)
    assert Hub.requested_paths == [f"/{repository}/resolve/main/{name}"], Hub.requested_paths
    assert any("its SHA-256 is" in line for line in lines), lines
    assert not list(home.folder.rglob(f"{MODEL['name']}.gguf"))


def check_a_model_that_is_there(home):
    models = home.folder / ".local/share/spelunk/models"
    models.mkdir(parents=True)
    (models / f"{MODEL['name']}.gguf").write_bytes(b"GGUF")
    lines, status = home.ask_without_terminal()
    assert f"error: the local model `{MODEL['name']}` cannot be read" in lines and status == 2, (lines, status)


def main():
    hub = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    for check in (check_a_no, check_a_yes, check_a_model_that_is_there):
        with tempfile.TemporaryDirectory() as folder:
            check(Home(folder, hub.server_address[1]))
    print("==> a local model is offered once, and downloaded only after a yes")


main()
