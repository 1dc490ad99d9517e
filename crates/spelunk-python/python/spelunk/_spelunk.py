"""Asks questions and continues runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, List, Optional, TypedDict, TypeVar, Union, overload

from . import _native
from ._answer import Answer, Passage, RunInfo, answer_of
from ._contexts import Paths, material, paths_of
from ._errors import Interrupted
from ._program import program
from ._run import AsyncRun, Run
from ._schema import Schema
from ._tools import described
from ._view import View

if TYPE_CHECKING:
    from typing_extensions import Unpack

T = TypeVar("T")
Text = Union[str, bytes]
JsonSchema = Mapping[str, Any]
Folder = Union[str, "os.PathLike[str]"]


class Options(TypedDict, total=False):
    """What a question is about, and how it is answered: see ``Spelunk.ask``."""

    text: Text
    documents: Mapping[str, Any]
    context: Any
    contexts: Iterable[str]
    strategy: str
    include: Iterable[str]
    exclude: Iterable[str]
    progress: bool


class Engine(TypedDict, total=False):
    """Who answers, and where runs are kept: see ``Spelunk``."""

    model: str
    sub_model: str
    base_url: str
    max_cost: float
    workspace: Folder
    directory: Folder
    settings: Mapping[str, Any]
    env: Mapping[str, str]
    isolated: bool
    tools: Iterable[Callable[..., Any]]


class EngineAndOptions(Engine, Options, total=False):
    """Everything that ``spelunk.ask`` takes."""


class Spelunk:
    """Settings, models and a workspace. What is not given here comes from the environment and the settings files, as on
    the command line; with ``isolated`` from nowhere."""

    def __init__(
        self,
        model: Optional[str] = None,
        *,
        sub_model: Optional[str] = None,
        base_url: Optional[str] = None,
        max_cost: Optional[float] = None,
        workspace: Optional[Folder] = None,
        directory: Optional[Folder] = None,
        settings: Optional[Mapping[str, Any]] = None,
        env: Optional[Mapping[str, str]] = None,
        isolated: bool = False,
        tools: Iterable[Callable[..., Any]] = (),
    ) -> None:
        """``model`` as in ``--model``; ``max_cost`` in dollars per run; ``workspace`` is where runs are kept;
        ``directory`` is where relative paths begin; ``settings`` are those of ``docs/reference/defaults.toml`` by their
        keys; ``env`` are variables as the engine sees them, such as a key; ``tools`` are functions that the model may call:
        see ``spelunk.tool``."""
        chosen = {key: _setting(value) for key, value in (settings or {}).items()}
        if max_cost is not None:
            chosen["limits.cost_microusd_max"] = str(round(max_cost * 1e6))
        self._settings: dict[str, Any] = {
            "worker": program(),
            "isolated": isolated,
            "directory": directory,
            "workspace": workspace,
            "model": model,
            "sub_model": sub_model,
            "base_url": base_url,
            "settings": list(chosen.items()),
            "variables": list((env or {}).items()),
            "tools": [described(function) for function in tools],
        }
        self._owner = os.getpid()
        self._engine = _native.Engine(self._settings)

    def _native(self) -> _native.Engine:
        # A forked child has none of the threads and connections of its parent.
        if self._owner != os.getpid():
            self._owner, self._engine = os.getpid(), _native.Engine(self._settings)
        return self._engine

    @overload
    def ask(
        self, question: str, path: Optional[Paths] = None, *, schema: None = None, **options: Unpack[Options]
    ) -> Answer[None]: ...
    @overload
    def ask(
        self, question: str, path: Optional[Paths] = None, *, schema: JsonSchema, **options: Unpack[Options]
    ) -> Answer[Any]: ...
    @overload
    def ask(
        self, question: str, path: Optional[Paths] = None, *, schema: type[T], **options: Unpack[Options]
    ) -> Answer[T]: ...
    def ask(self, question: str, path: Optional[Paths] = None, **options: Any) -> Answer[Any]:
        """Asks a question about files, texts or values, and waits for the answer.

        ``path`` is a file or folder, or several; ``text`` is a text; ``documents`` are values by name; ``context`` is
        any value: text, bytes, a ``Path`` or a list of them, a file object, a table of pandas or polars, a ``dict`` or
        ``list`` (as JSON), an iterator of texts, or a function that returns one of these. ``contexts`` are ids of
        ``Spelunk.contexts``. ``schema`` is a pydantic
        model, or JSON Schema: then ``value`` of the answer is such a value. ``include`` and ``exclude`` are patterns of
        file names. ``progress`` shows a line while the run goes on, in a notebook or on a terminal. Ctrl-C stops the run
        and raises ``Interrupted``.
        """
        return self.start(question, path, **options).answer()

    @overload
    async def aask(
        self, question: str, path: Optional[Paths] = None, *, schema: None = None, **options: Unpack[Options]
    ) -> Answer[None]: ...
    @overload
    async def aask(
        self, question: str, path: Optional[Paths] = None, *, schema: JsonSchema, **options: Unpack[Options]
    ) -> Answer[Any]: ...
    @overload
    async def aask(
        self, question: str, path: Optional[Paths] = None, *, schema: type[T], **options: Unpack[Options]
    ) -> Answer[T]: ...
    async def aask(self, question: str, path: Optional[Paths] = None, **options: Any) -> Answer[Any]:
        """``ask`` for an event loop. Cancelling the task stops the run."""
        return await self.astart(question, path, **options).answer()

    def start(
        self,
        question: str,
        path: Optional[Paths] = None,
        *,
        text: Optional[Text] = None,
        documents: Optional[Mapping[str, Any]] = None,
        context: Any = None,
        contexts: Iterable[str] = (),
        schema: Any = None,
        strategy: Optional[str] = None,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        progress: bool = False,
    ) -> Run[Any]:
        """Starts a run: ``for event in run`` sees what happens, ``run.answer()`` waits for the end."""
        expected = None if schema is None else Schema(schema)
        paths, texts = material(path, text, documents, context)
        asked = {
            "question": question,
            "paths": paths,
            "texts": texts,
            "contexts": list(contexts),
            "include": list(include),
            "exclude": list(exclude),
            "strategy": strategy,
            "schema": None if expected is None else expected.json,
        }
        return Run(self._native().start(asked), expected, self.view, progress)

    def astart(self, question: str, path: Optional[Paths] = None, **options: Any) -> AsyncRun[Any]:
        """``start`` for an event loop: ``async for event in spelunk.astart(…)``. A loop that is left early stops the run."""
        return AsyncRun(lambda: self.start(question, path, **options))

    def resume(self, run: str) -> Answer[None]:
        """Continues a run that was interrupted or stopped by a limit that is higher now, and returns its answer. What it
        did before is not repeated. A run that is over returns the answer it has."""
        try:
            return answer_of(self._native().resume(run), None, self.view)
        except KeyboardInterrupt:
            raise Interrupted(run) from None

    def view(self, run: str) -> View:
        """The viewer's page of a run. A notebook shows it at the end of a cell."""
        return View(run, self._native().page(run))

    @property
    def contexts(self) -> Contexts:
        """Texts of the workspace under ids, as of ``spelunk context``."""
        return Contexts(self)

    def runs(self) -> list[RunInfo]:
        """The runs of the workspace, newest first."""
        return [
            RunInfo(row["run"], row["status"], row["question"], row["model"], row["cost_microusd"] / 1e6)
            for row in json.loads(self._native().runs())
        ]

    def search(self, query: str, path: Paths = ".", *, hits: int = 10) -> list[Passage]:
        """The best passages of files and folders, by words and by meaning. Asks no model."""
        found = json.loads(self._native().search(query, paths_of(path), hits))
        return [Passage(hit["document"], hit["line"], hit["text"], hit["score"]) for hit in found["hits"]]


class Contexts:
    """Texts of a workspace under ids. A question names them with ``contexts``."""

    def __init__(self, engine: Spelunk) -> None:
        self._engine = engine

    def add(self, id: str, path: Optional[Folder] = None, *, text: str = "") -> None:
        """Registers a file, or a text, in place of an earlier one of this id."""
        if path is not None:
            path = os.path.join(self._engine._settings["directory"] or os.getcwd(), path)
        self._engine._native().add_context(id, path, text)

    def remove(self, id: str) -> None:
        """Removes a context. Its file is kept."""
        self._engine._native().remove_context(id)

    def list(self) -> List[str]:
        """The ids."""
        return self._engine._native().contexts()


def _setting(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (bool, list)) else str(value)


@overload
def ask(
    question: str, path: Optional[Paths] = None, *, schema: None = None, **options: Unpack[EngineAndOptions]
) -> Answer[None]: ...
@overload
def ask(
    question: str, path: Optional[Paths] = None, *, schema: JsonSchema, **options: Unpack[EngineAndOptions]
) -> Answer[Any]: ...
@overload
def ask(
    question: str, path: Optional[Paths] = None, *, schema: type[T], **options: Unpack[EngineAndOptions]
) -> Answer[T]: ...
def ask(question: str, path: Optional[Paths] = None, **options: Any) -> Answer[Any]:
    """Asks a question and waits for the answer: ``Spelunk.ask``, with the arguments of ``Spelunk`` beside its own."""
    engine = {name: options.pop(name) for name in list(options) if name in Engine.__annotations__}
    return Spelunk(**engine).ask(question, path, **options)
