"""The exceptions of the package."""

from __future__ import annotations

from typing import Optional


class SpelunkError(Exception):
    """Something could not be done.

    ``code`` is stable and explained in ``docs/errors.md``; ``hint`` is one next step, if there is one; ``run`` is the
    run that it happened in, if one was started: ``Spelunk.resume`` continues it.
    """

    def __init__(self, message: str, code: str, hint: Optional[str] = None, run: Optional[str] = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.hint = hint
        self.run = run

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return (type(self), (self.message, self.code, self.hint, self.run))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C stopped a run. What it had so far is kept: ``Spelunk.resume(interrupted.run)`` continues it."""

    def __init__(self, run: str) -> None:
        super().__init__(f"run {run} was stopped; `resume` continues it")
        self.run = run
