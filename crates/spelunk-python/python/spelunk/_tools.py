"""Functions of the program as tools of the model."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from typing import Any, Literal, Optional, TypeVar, Union, get_args, get_origin, overload

F = TypeVar("F", bound=Callable[..., Any])
Effect = Literal["read", "repeatable", "once"]
_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


@overload
def tool(function: F) -> F: ...
@overload
def tool(*, effect: Effect) -> Callable[[F], F]: ...
def tool(function: Optional[F] = None, *, effect: Effect = "once") -> Union[F, Callable[[F], F]]:
    """Says what a tool does: ``read`` only reads, ``repeatable`` may be called again after a crash, and ``once``, which
    every other function is, must not."""

    def mark(function: F) -> F:
        function.__spelunk_effect__ = effect  # type: ignore[attr-defined]
        return function

    return mark if function is None else mark(function)


def described(function: Callable[..., Any]) -> dict[str, Any]:
    """The function as the engine takes it: its name, the schema of its arguments, and how to call it with JSON."""

    def call(arguments: str) -> str:
        result = function(**json.loads(arguments))
        if inspect.iscoroutine(result):
            import asyncio

            result = asyncio.run(result)
        return json.dumps(result)

    return {
        "name": function.__name__,
        "schema": json.dumps(_schema(function)),
        "effect": getattr(function, "__spelunk_effect__", "once"),
        "call": call,
    }


def _schema(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    properties, required, is_open = {}, [], False
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise TypeError(f"`{function.__name__}` cannot be a tool: `{name}` cannot be given by name")
        properties[name] = _type_schema(hints.get(name, Any))
        if parameter.default is parameter.empty:
            required.append(name)
    schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}
    return {**schema, "description": inspect.getdoc(function) or ""}


def _type_schema(hint: Any) -> dict[str, Any]:
    """What JSON Schema can say of a type; anything else is any value."""
    if hint in _TYPES:
        return {"type": _TYPES[hint]}
    if get_origin(hint) is list:
        return {"type": "array", "items": _type_schema(get_args(hint)[0])}
    if get_origin(hint) is dict:
        return {"type": "object"}
    if get_origin(hint) is Literal:
        return {"enum": list(get_args(hint))}
    return {}
