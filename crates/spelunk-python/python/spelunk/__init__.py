"""Spelunk answers questions about text that is too large for any model, and cites the lines it rests on.

>>> import spelunk
>>> answer = spelunk.ask("Which limits can a user set?", "docs/")
>>> print(answer)
>>> answer.citations, answer.cost, answer.run
"""

from __future__ import annotations

from ._answer import Answer, Citation, Event, Passage, RunInfo, Usage
from ._errors import Interrupted, SpelunkError
from ._run import AsyncRun, Run
from ._spelunk import Spelunk, ask
from ._tools import tool
from ._view import View

__all__ = [
    "Answer", "AsyncRun", "Citation", "Event", "Interrupted", "Passage", "Run", "RunInfo", "Spelunk", "SpelunkError",
    "Usage", "View", "ask", "tool",
]
