"""Answers and what belongs to them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any, Callable, ClassVar, Generic, Optional, TypeVar

from ._errors import SpelunkError
from ._view import View

T = TypeVar("T")


@dataclass(frozen=True)
class Citation:
    """A quote that was found in its source."""

    document: str
    line: int
    quote: str


@dataclass(frozen=True)
class Usage:
    """The tokens of a run, and the calls that were paid for."""

    input_tokens: int
    output_tokens: int
    cached_tokens: int
    calls: int


@dataclass(frozen=True)
class Event:
    """Something that happened in a run; ``docs/reference/events.md`` lists the types and their fields."""

    type: str
    seq: int
    frame: str
    at_ms: int
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Passage:
    """A passage that a search found."""

    document: str
    line: int
    text: str
    score: float


@dataclass(frozen=True)
class RunInfo:
    """A run of the workspace. ``status`` is a word: answered, interrupted, limited, failed, cancelled, running…"""

    run: str
    status: str
    question: str
    model: Optional[str]
    cost: float


@dataclass(frozen=True)
class Answer(Generic[T]):
    """The answer of a run. ``str(answer)`` is its text."""

    text: str
    #: With a schema: the answer as a value of it.
    value: T
    #: Quotes that were found in the sources.
    citations: list[Citation]
    #: In dollars; 0 if the price of the model is not known.
    cost: float
    usage: Usage
    #: The id of the run.
    run: str
    #: ``cited``, ``computed``, ``uncited`` or ``partial``.
    grounding: str
    #: From 0 to 1, if it is known.
    confidence: Optional[float]
    #: The code of the limit that ended the run before it was done.
    stopped_by: Optional[str]
    warnings: list[str]
    #: Everything that is known about the run, as ``spelunk ask --json`` prints it.
    details: Mapping[str, Any] = field(repr=False)
    # Of the engine. It is no field: copies and comparisons are of the answer alone.
    _view: ClassVar[Any] = None

    def __str__(self) -> str:
        return self.text

    def view(self) -> View:
        """The viewer's page of the run."""
        if self._view is None:
            raise SpelunkError("this is a copy of an answer", "run-not-found", f"use `Spelunk.view({self.run!r})`")
        view: View = self._view(self.run)
        return view

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_view"}

    def _repr_html_(self) -> str:
        cited = "".join(
            f"<details><summary><code>{escape(citation.document)}:{citation.line}</code></summary>"
            f"<blockquote>{escape(citation.quote)}</blockquote></details>"
            for citation in self.citations
        )
        text = f'<div style="white-space: pre-wrap">{escape(self.text)}</div>'
        calls = f"{self.usage.calls} call{'' if self.usage.calls == 1 else 's'}"
        return f"{text}{cited}<small>{calls} · ${self.cost:.4f} · run {escape(self.run)}</small>"


def answer_of(told: str, schema: Any, view: Callable[[str], View]) -> Answer[Any]:
    """The answer of a run from its JSON. A run without an answer raises an error."""
    details = json.loads(told)
    text, outcome = details["answer"], details["outcome"]
    if not details["success"]:
        raise SpelunkError(*_why(details), run=details["run"])
    usage = details["usage"]
    answer: Answer[Any] = Answer(
        text=text,
        value=None if schema is None else schema.value(text),
        citations=[Citation(**citation) for citation in details["citations"]],
        cost=usage.get("cost_microusd", 0) / 1e6,
        usage=Usage(
            usage["input_tokens"], usage["output_tokens"], usage.get("cached_tokens", 0), details["metrics"]["calls"]
        ),
        run=details["run"],
        grounding=details["grounding"],
        confidence=details["confidence"],
        stopped_by=outcome.get("stopped_by"),
        warnings=details["warnings"],
        details=details,
    )
    object.__setattr__(answer, "_view", view)
    return answer


def _why(details: Mapping[str, Any]) -> tuple[str, str, Optional[str]]:
    """Why there is no answer: a message, a code and a hint."""
    outcome, errors = details["outcome"], details["errors"]
    message = outcome.get("message") or (errors[-1]["message"] if errors else "the run ended without an answer")
    if "code" in outcome:
        return message, outcome["code"], details["hint"]
    if "stopped_by" in outcome:
        return message, outcome["stopped_by"], details["hint"] or "raise the limit and continue the run with `resume`"
    return "the run was cancelled", "cancelled", "continue it with `resume`"
