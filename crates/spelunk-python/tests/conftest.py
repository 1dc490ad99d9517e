"""The scripted model server, and an engine that asks it and nobody else."""

import json
import os
import subprocess
from pathlib import Path

import pytest

import spelunk

CITED = "It is 42.\n\n```evidence\na.md:1: The magic number is 42.\n```"


class Server:
    """The scripted model server as a process."""

    def __init__(self, *rules):
        self.process = subprocess.Popen(
            [os.environ["MODEL_SERVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.base_url = self._say(json.dumps(rules)).strip()

    def _say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def prompts(self):
        """What was asked so far."""
        return json.loads(self._say(""))

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()


@pytest.fixture
def serve():
    """Starts a server with these rules; a text is the reply to everything."""
    servers = []

    def start(*rules):
        server = Server(*({"contains": "", "reply": rule} if isinstance(rule, str) else rule for rule in rules))
        servers.append(server)
        return server

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def settings(tmp_path):
    """The arguments of an engine for this test alone."""
    (tmp_path / "a.md").write_text("The magic number is 42.\n")
    env = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "state")}
    return {
        "model": "openai/scripted", "isolated": True, "directory": tmp_path, "workspace": tmp_path / "runs", "env": env,
    }


@pytest.fixture
def engine(serve, settings):
    """An engine whose model replies so."""

    def start(*rules, **more):
        server = serve(*rules)
        engine = spelunk.Spelunk(**{**settings, "base_url": server.base_url, **more})
        engine.server = server
        return engine

    return start


@pytest.fixture
def folder(tmp_path) -> Path:
    """Where relative paths begin."""
    return tmp_path
