"""The program ``spelunk`` of this package. It runs the code that models write, apart from this process."""

from __future__ import annotations

import os
import sys

from ._errors import SpelunkError


def program() -> str:
    """The path of the program."""
    name = "spelunk.exe" if sys.platform == "win32" else "spelunk"
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    if not os.access(path, os.X_OK):
        hint = "install the package again, from a wheel: it contains the program"
        raise SpelunkError(f"there is no program `{path}`", "sandbox-failed", hint)
    return path
