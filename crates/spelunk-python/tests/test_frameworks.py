"""The example of `docs/compatible.md` for LangChain and LlamaIndex runs as it is written, with the program of the package as the server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CITED

from spelunk._program import program

pytest.importorskip("langchain_openai")
pytest.importorskip("llama_index.llms.openai_like")
PAGE = Path(__file__).parents[3] / "docs/compatible.md"


def test_langchain_and_llamaindex_use_the_server(serve, tmp_path):
    (example,) = [block for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.M | re.S) if "langchain" in block]
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/a.md").write_text("The magic number is 42.\n")
    settings = {"PROVIDER": "openai", "NAME": "scripted", "BASE_URL": serve(CITED).base_url}
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], **{f"SPELUNK_MODEL_{name}": value for name, value in settings.items()}}
    command = [program(), "serve", "--listen", "127.0.0.1:0", "--root", "notes"]
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            said = ""
            while not (address := re.search(r"127\.0\.0\.1:[1-9]\d*", said)):
                line = server.stdout.readline()
                assert line, said
                said += line
            asking = [sys.executable, "-c", example.replace("127.0.0.1:7766", address[0])]
            ran = subprocess.run(asking, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}, capture_output=True, text=True)
        finally:
            server.terminate()
    assert ran.returncode == 0, ran.stderr
    told = [line for line in ran.stdout.splitlines() if line]
    assert [line for line in told if line == "It is 42."] == ["It is 42."] * 2, told
    assert told[-1].split() == ["a.md:1", "The", "magic", "number", "is", "42."], told
