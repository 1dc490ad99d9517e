"""The notebook of the documentation runs in a real kernel, cell by cell."""

import base64
import os
import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[3] / "docs/notebook.ipynb"
CITED = "Calls.\n\n```evidence\nlimits.md:1: calls_max is 50.\n```"
EVENTS = [
    "run.started", "source.scanned", "frame.opened", "passages.chosen", "call.started", "call.settled", "citation.checked",
    "frame.closed", "run.finished",
]


class Client(NotebookClient):
    """Keeps what was shown for a while, too."""

    def process_message(self, message, cell, index):
        if message["msg_type"] in ("display_data", "update_display_data"):
            self.shown.append(message["content"]["data"]["text/plain"])
        return super().process_message(message, cell, index)


def test_the_notebook_runs_in_a_kernel(serve, tmp_path, monkeypatch):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/limits.md").write_text("calls_max is 50.\n")
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    slow = {"contains": "What is the limit of calls?", "reply": CITED, "delay_ms": 1000}
    model = {"PROVIDER": "openai", "NAME": "scripted", "BASE_URL": serve(slow, CITED).base_url}
    env = {**os.environ, **{f"SPELUNK_MODEL_{name}": value for name, value in model.items()}}
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert all(cell.outputs == [] for cell in notebook.cells if cell.cell_type == "code")
    client = Client(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.shown = []
    client.execute(env=env)

    shown, cited, events, viewed, runs = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
    html = re.sub(r"run [\w-]+", "run R", shown[0].data["text/html"])
    assert html == (
        '<div style="white-space: pre-wrap">Calls.</div><details><summary><code>limits.md:1</code></summary>'
        "<blockquote>calls_max is 50.</blockquote></details><small>1 call · $0.0000 · run R</small>"
    )
    assert cited[0].data["text/plain"] == "('limits.md', 1)"
    assert "".join(output.text for output in events).splitlines() == EVENTS
    assert runs[0].data["text/plain"] == "[('answered', 0.0), ('answered', 0.0), ('answered', 0.0), ('answered', 0.0)]"
    waiting = r"turn 1: waiting for openai/scripted · 0 calls done, 1 in flight · 0 tokens · \$0\.00 · [\d.]+ m?s"
    assert [line for line in client.shown if re.fullmatch(waiting, line)] and client.shown[-1] == ""
    line, page = viewed
    assert line.data["text/plain"] == ""
    frame = re.fullmatch(r'<iframe sandbox="allow-scripts" .* src="data:text/html;[^,]+,([^"]+)"></iframe>', page.data["text/html"])
    assert "What is the limit of calls?" in base64.b64decode(frame[1]).decode()
