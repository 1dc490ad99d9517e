"""The program ``spelunk`` of this package. It runs the code that models write, apart from this process."""

from __future__ import annotations

import os
import sys

from ._errors import SpelunkError


def program() -> str:
    """The path of the program."""
    # Imported where they are used: they take half of the time of the import.
    import sysconfig
    from pathlib import Path

    name = "spelunk.exe" if sys.platform == "win32" else "spelunk"
    user = "nt_user" if sys.platform == "win32" else "posix_user"
    folders = [
        Path(sysconfig.get_path("scripts")),
        Path(sysconfig.get_path("scripts", user)),
        # With `pip install --target FOLDER`.
        Path(__file__).parent.parent / "bin",
    ]
    for folder in folders:
        if os.access(folder / name, os.X_OK):
            return str(folder / name)
    raise SpelunkError(
        f"the program `{name}` is in none of {', '.join(map(str, folders))}",
        "sandbox-failed",
        "install the package again, from a wheel: it contains the program",
    )
