"""Spelunk for dspy: ``Interpreter`` runs the code of dspy's modules in the sandbox, and ``RLM`` is a module on this engine.

>>> import dspy, spelunk.dspy
>>> dspy.configure(lm=dspy.LM("openai/gpt-6-luna"), interpreter_factory=spelunk.dspy.Interpreter)
>>> spelunk.dspy.RLM("context, query -> answer: int")(context=text, query="How many?").answer

dspy is not a dependency of this package: whoever imports this module has it.
"""

from __future__ import annotations

import contextvars
import dataclasses
import functools
import inspect
import keyword
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional

from . import _native
from ._answer import Answer, Event
from ._errors import SpelunkError
from ._run import Run
from ._spelunk import Spelunk
from .rlm import _model

try:
    import dspy  # type: ignore[import,unused-ignore]
    from dspy.primitives.code_interpreter import (  # type: ignore[import,unused-ignore]
        CodeExecutionError,
        CodeInterpreterError,
        FinalOutput,
    )
    from dspy.signatures.signature import ensure_signature  # type: ignore[import,unused-ignore]
    from dspy.utils.callback import with_callbacks  # type: ignore[import,unused-ignore]
    from pydantic import BaseModel, create_model
    from pydantic_core import PydanticSerializationError, to_jsonable_python
except ImportError as error:
    raise ImportError("`spelunk.dspy` needs dspy 3.4 or newer: `pip install dspy`") from error

__all__ = ["RLM", "Interpreter"]

Call = tuple[str, list[Any], dict[str, Any]]
#: A text of that length is sent to the sandbox once, not for every execution.
_KEPT_CHARS_MIN = 10_000
#: A shorter input is part of the question; a longer one is a document.
_INLINE_CHARS_MAX = 2_000
_TOOLS_AT_ONCE_MAX = 16
#: dspy shortens what its models see itself.
_SETTINGS = {"limits.stdout_chars_max": 1_000_000}


class Interpreter:
    """A ``CodeInterpreter`` of dspy in a confined worker process, for ``interpreter_factory``.

    Values cross as JSON would have it: tuples and sets become lists, models and dataclasses become dictionaries.
    """

    execution_instructions = (
        "Code runs as Python in a confined process without files, network or environment variables. Variables, imports and "
        "functions persist between executions. Tools and SUBMIT are global functions."
    )

    def __init__(
        self,
        tools: Optional[Mapping[str, Callable[..., Any]]] = None,
        output_fields: Optional[list[dict[str, Any]]] = None,
        *,
        settings: Optional[Mapping[str, Any]] = None,
        callbacks: Iterable[Any] = (),
    ) -> None:
        """``settings`` as of ``Spelunk``: ``{"ask.sandbox": "cpython"}``, ``{"limits.cell_ms_max": 60_000}``."""
        self.tools = dict(tools or {})
        self.output_fields = output_fields
        self.callbacks = list(callbacks)
        self._settings = tuple({**_SETTINGS, **(settings or {})}.items())
        self._session: Optional[_native.Session] = None
        self._owner = os.getpid()
        self._has_ended = False
        self._executes = threading.Lock()
        #: The long texts that the session has.
        self._kept: dict[str, str] = {}

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def start(self) -> None:
        """Starts the worker, if it has not been started."""
        if self._has_ended or self._owner != os.getpid():
            raise CodeInterpreterError("the session has ended: make a new interpreter")
        if self._session is None:
            try:
                self._session = _engine(self._settings, self._owner)._native().session()
            except (RuntimeError, SpelunkError) as error:
                self._has_ended = True
                raise CodeInterpreterError(f"could not start the sandbox: {error}") from error

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def execute(self, code: str, variables: Optional[Mapping[str, Any]] = None) -> Any:
        """Runs code with these variables: the value of its last expression, else what it printed, else ``None``."""
        if not self._executes.acquire(blocking=False):
            raise CodeInterpreterError("an interpreter cannot execute recursively, or in two threads at once")
        try:
            given = dict(variables or {})
            names = [*given, *self.tools, *(field["name"] for field in self.output_fields or ())]
            for name in names:
                if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_spelunk"):
                    raise CodeInterpreterError(f"Invalid variable name: {name!r}")
            given = {name: _coerced(value) for name, value in given.items()}
            if self._session is None or self._has_ended or self._owner != os.getpid():
                self.start()
            try:
                self._run(self._setup(given), given)
            except CodeExecutionError as error:
                self._kept.clear()
                raise CodeInterpreterError(f"could not set up the code: {error}") from error
            return self._run(code, {})
        finally:
            self._executes.release()

    __call__ = execute

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def invoke_tool(self, tool_name: str, kwargs: dict[str, Any], args: Iterable[Any] = ()) -> Any:
        """Calls a tool for the code."""
        if tool_name not in self.tools:
            raise CodeInterpreterError(f"Unknown tool: {tool_name}")
        tool = self.tools[tool_name]
        positional, kwargs = _by_name(tool, list(args), kwargs)
        result = tool(*positional, **kwargs)
        if not inspect.isawaitable(result):
            return result
        import asyncio

        async def awaited() -> Any:
            return await result

        # In a thread of its own: the caller may have an event loop that runs.
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(contextvars.copy_context().run, asyncio.run, awaited()).result()

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def shutdown(self) -> None:
        """Ends the session."""
        self._session, self._has_ended = None, True

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()

    def _setup(self, given: Mapping[str, Any]) -> str:
        """Code that defines the tools, ``SUBMIT`` and the variables."""
        lines = [f"def {name}(*args, **kwargs):\n    return _spelunk_call({name!r}, args, kwargs)" for name in self.tools]
        fields = [field["name"] for field in self.output_fields or ()] or ["output"]
        submitted = ", ".join(f"{name!r}: {name}" for name in fields)
        lines.append(f"def SUBMIT({', '.join(fields)}):\n    _spelunk_submit({{{submitted}}})")
        if not self._kept:
            lines.append("_spelunk_kept = {}")
        for name, value in given.items():
            if isinstance(value, str) and self._kept.get(name) is value:
                lines.append(f"{name} = _spelunk_kept[{name!r}]")
                continue
            lines.append(f"{name} = _spelunk_bind({name!r})")
            if isinstance(value, str) and len(value) >= _KEPT_CHARS_MIN:
                lines.append(f"_spelunk_kept[{name!r}] = {name}")
                self._kept[name] = value
        return "\n".join(lines)

    def _run(self, code: str, given: Mapping[str, Any]) -> Any:
        cell = _Cell(self, given)
        assert self._session is not None
        try:
            output, is_final, raised = self._session.run(code, cell.answer, _coerced_result)
        except BaseException as error:
            self._has_ended = True
            if isinstance(error, RuntimeError):
                raise CodeInterpreterError(f"the interpreter state was lost: {error}") from error
            raise
        if is_final:
            return FinalOutput(cell.submitted)
        if raised is None:
            return cell.shown if cell.shown is not None else output or None
        kind, message, traceback, is_lost = raised
        short = f"{kind}: {message}" if message else kind
        if is_lost:
            self._has_ended = True
            raise CodeInterpreterError(f"the interpreter state was lost: {short}")
        if kind in ("SyntaxError", "IndentationError", "TabError"):
            raise SyntaxError(f"Invalid Python syntax: {message}")
        # A line that was changed before it ran is not shown.
        raise CodeExecutionError(short if "_spelunk_" in traceback else traceback)


class _Cell:
    """Answers the calls of one cell."""

    def __init__(self, interpreter: Interpreter, given: Mapping[str, Any]) -> None:
        self.interpreter, self.given = interpreter, given
        self.shown: Any = None
        self.submitted: Any = None

    def answer(self, calls: list[Call]) -> list[tuple[str, Any]]:
        if len(calls) == 1:
            return [self._reply(calls[0])]
        with ThreadPoolExecutor(min(len(calls), _TOOLS_AT_ONCE_MAX)) as pool:
            replies = [pool.submit(contextvars.copy_context().run, self._reply, call) for call in calls]
        return [reply.result() for reply in replies]

    def _reply(self, call: Call) -> tuple[str, Any]:
        name, args, _ = call
        if name == "_spelunk_show":
            self.shown = args[0]
            return "return", None
        if name == "_spelunk_bind":
            return "return", self.given[args[0]]
        if name == "_spelunk_submit":
            self.submitted = args[0]
            return "finish", None
        try:
            tool, positional, kwargs = args
            return "return", self.interpreter.invoke_tool(tool, kwargs, positional)
        except Exception as error:  # noqa: BLE001 - It is raised again in the code.
            return "RuntimeError", f"{type(error).__name__}: {error}"


class RLM(dspy.Module):  # type: ignore[misc,unused-ignore]
    """A signature, answered by a run of this engine. Its inputs are read as documents where they are long; its outputs have
    their types. ``trajectory`` of the prediction is the code of the root with its output, ``spelunk`` the ``Answer``.
    """

    def __init__(
        self,
        signature: Any,
        max_iters: int = 20,
        max_llm_calls: int = 50,
        tools: Iterable[Callable[..., Any]] = (),
        **options: Any,
    ) -> None:
        """``options`` are those of ``Spelunk``. Without ``model``, the model is that of ``dspy.configure(lm=dspy.LM(…))``."""
        super().__init__()
        self.signature = ensure_signature(signature)
        reserved = {"trajectory", "spelunk"} & set(self.signature.output_fields)
        if reserved:
            raise ValueError(f"an output cannot be called {sorted(reserved)[0]!r}: the prediction has a field of that name")
        limits = {"limits.turns_max": max_iters, "limits.calls_max": max_iters + max_llm_calls}
        settings = {**limits, **options.pop("settings", {})}
        self._options = {**options, "settings": settings, "tools": [_function(tool) for tool in tools]}
        fields: dict[str, Any] = {name: (field.annotation, ...) for name, field in self.signature.output_fields.items()}
        self._outputs: Any = create_model("Outputs", **fields)

    def forward(self, **inputs: Any) -> Any:
        """Runs to the end."""
        question, options = self._asked(inputs)
        run: Run[Any] = self._engine().start(question, **options)
        return self._prediction(list(run), run.answer())

    async def aforward(self, **inputs: Any) -> Any:
        """``forward`` for an event loop."""
        question, options = self._asked(inputs)
        run = self._engine().astart(question, **options)
        return self._prediction([event async for event in run], await run.answer())

    def _engine(self) -> Spelunk:
        if "model" in self._options:
            return Spelunk(**self._options)
        lm = dspy.settings.lm
        if not isinstance(lm, dspy.LM):
            raise ValueError("there is no model: use `dspy.configure(lm=dspy.LM(…))`, or give `model`")
        backend, _, name = lm.model.partition("/")
        url = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
        model, base_url, env = _model(backend, {"model_name": name, "api_key": lm.kwargs.get("api_key"), "base_url": url})
        return Spelunk(model, **{"base_url": base_url, **self._options, "env": {**env, **self._options.get("env", {})}})

    def _asked(self, inputs: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """The question, and what it is about."""
        expected = set(self.signature.input_fields)
        if set(inputs) != expected:
            raise ValueError(f"the inputs are {sorted(expected)}, not {sorted(inputs)}")
        documents: dict[str, Any] = {}
        lines = [self.signature.instructions, ""]
        for name, value in inputs.items():
            if isinstance(value, (str, int, float)) and len(str(value)) <= _INLINE_CHARS_MAX:
                lines.append(f"{name}: {value}")
                continue
            value = _coerced(value)
            called = name if isinstance(value, (str, bytes)) else f"{name}.json"
            documents[called] = value
            lines.append(f"{name}: the document `{called}`")
        lines += ["", "The answer has these fields:"]
        lines += [f"- {name}: {field.json_schema_extra['desc']}" for name, field in self.signature.output_fields.items()]
        return "\n".join(lines), {"documents": documents, "schema": self._outputs, "strategy": "repl"}

    def _prediction(self, events: list[Event], answer: Answer[Any]) -> Any:
        cells = [event.fields for event in events if event.type == "cell.ran" and event.frame == "0"]
        trajectory = [{name: cell[name].get("text", "") for name in ("code", "output")} for cell in cells]
        outputs = {name: getattr(answer.value, name) for name in self.signature.output_fields}
        return dspy.Prediction(**outputs, trajectory=trajectory, spelunk=answer)


def _function(tool: Any) -> Callable[..., Any]:
    """The function of a ``dspy.Tool``, under its name and with its description; another function as it is."""
    if not isinstance(tool, dspy.Tool):
        return tool  # type: ignore[no-any-return]
    function = functools.wraps(tool.func)(lambda **arguments: tool.func(**arguments))
    function.__name__, function.__doc__ = tool.name, tool.desc
    return function


def _by_name(tool: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Arguments by name where that is possible: dspy's own tools take no others."""
    try:
        parameters = inspect.signature(tool).parameters.values()
    except ValueError:
        return args, kwargs
    names = [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]
    named = dict(zip(names, args))
    if len(named) < len(args) or named.keys() & kwargs:
        return args, kwargs
    return [], {**named, **kwargs}


@functools.lru_cache(maxsize=8)
def _engine(settings: tuple[tuple[str, Any], ...], owner: int) -> Spelunk:
    """One for all interpreters of a process: they share idle workers."""
    return Spelunk(settings=dict(settings))


def _coerced(value: Any) -> Any:
    """A plain value for any other that JSON could hold."""
    if isinstance(value, (str, int, float, list, tuple, dict, set, frozenset, bytes, type(None))) and not hasattr(value, "_fields"):
        return value
    if hasattr(value, "_asdict"):
        return value._asdict()
    try:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.asdict(value)
        return to_jsonable_python(value)
    except (PydanticSerializationError, TypeError) as error:
        raise CodeInterpreterError(f"Unable to serialize {type(value).__name__} as JSON: {error}") from error


def _coerced_result(value: Any) -> Any:
    """The same for what a tool returned; its text, if it cannot be coerced."""
    try:
        return _coerced(value)
    except CodeInterpreterError:
        if isinstance(value, BaseModel):
            raise
        return str(value)
