"""The examples of `docs/python.md` run as they are written, and their types are right."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs/python.md"


@pytest.fixture
def examples(tmp_path) -> Path:
    """All examples as one program, in a folder with the documents that they name."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 7
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/usage.md").write_text("A user can set calls_max.\n")
    (tmp_path / "docs/limits.md").write_text("calls_max is 50.\n")
    program = tmp_path / "examples.py"
    program.write_text("\n\n".join(blocks))
    return program


def test_the_examples_run(serve, examples):
    cited = "Calls.\n\n```evidence\nusage.md:1: A user can set calls_max.\n```"
    typed = '```repl\nFINAL({"name": "calls_max", "default": 50})\n```'
    priced = "```repl\nFINAL(str(price('lamp')))\n```"
    rules = {"What is the limit of calls?": typed, "What does a lamp cost?": priced}
    server = serve(*({"contains": part, "reply": reply} for part, reply in rules.items()), cited)
    home = {name: str(examples.parent / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME")}
    model = {"SPELUNK_MODEL_PROVIDER": "openai", "SPELUNK_MODEL_NAME": "scripted", "SPELUNK_MODEL_BASE_URL": server.base_url}
    env = {"PATH": os.environ["PATH"], **home, **model}
    ran = subprocess.run([sys.executable, examples], cwd=examples.parent, env=env, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert lines[0] == "Calls."
    assert lines[1] == "usage.md:1: A user can set calls_max."
    assert "calls_max 51" in lines and "4.2" in lines and "source-not-found" in ran.stdout
    assert lines[-1] == "Calls."


def test_the_examples_have_the_right_types(examples):
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", examples], cwd=examples.parent, capture_output=True, text=True
    )
    assert checked.stdout == "Success: no issues found in 1 source file\n"


@pytest.mark.skipif("PYRIGHT" not in os.environ, reason="there is no pyright")
def test_the_examples_have_the_right_types_for_pyright(examples):
    command = [os.environ["PYRIGHT"], "--pythonpath", sys.executable, examples]
    checked = subprocess.run(command, cwd=examples.parent, capture_output=True, text=True)
    assert checked.stdout == "0 errors, 0 warnings, 0 informations\n"
