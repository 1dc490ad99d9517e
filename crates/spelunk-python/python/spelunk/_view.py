"""What a run shows: its page in a notebook, and a line while it goes on."""

from __future__ import annotations

import base64
import os
import sys
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class View:
    """The viewer with one run in it. A notebook shows it at the end of a cell; ``html`` is the page, which needs no server."""

    run: str
    html: str

    def __repr__(self) -> str:
        return f"View(run={self.run!r}, {len(self.html)} characters)"

    def _repr_html_(self) -> str:
        # The address of a page in `srcdoc` cannot change, and this one's does. Nothing in the frame can reach the notebook.
        page = base64.b64encode(self.html.encode()).decode()
        style = "border: 0; width: 100%; height: 40em"
        return f'<iframe sandbox="allow-scripts" style="{style}" src="data:text/html;charset=utf-8;base64,{page}"></iframe>'


class Line:
    """The progress of a run, in a notebook or on a terminal; elsewhere nothing is shown."""

    def __init__(self) -> None:
        self._display = _notebook_display()
        self._is_terminal = sys.stderr.isatty()
        self._handle: Any = None

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        if self._display is None or self._handle is not None:
            self.draw("")

    def draw(self, status: str) -> None:
        """Shows what the run is doing in place of what is shown."""
        text = status.replace("\n", " · ")
        if self._handle is not None:
            self._handle.update({"text/plain": text}, raw=True)
        elif self._display is not None:
            self._handle = self._display({"text/plain": text}, raw=True, display_id=True)
        elif self._is_terminal:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
            sys.stderr.write(f"\r\x1b[K{text[: width - 1]}")
            sys.stderr.flush()


def _notebook_display() -> Any:
    """How a notebook shows something; nothing elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return sys.modules["IPython"].display.display if hasattr(shell, "kernel") else None
