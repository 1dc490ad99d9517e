"""What a question is asked about: values of Python as paths and named texts."""

from __future__ import annotations

import importlib
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Optional, Union

Paths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]]]


def paths_of(path: Optional[Paths]) -> list[str]:
    """One path or several."""
    if path is None:
        return []
    if isinstance(path, (str, os.PathLike)):
        return [os.fspath(path)]
    return [os.fspath(each) for each in path]


def material(
    path: Optional[Paths],
    text: Optional[Union[str, bytes]],
    documents: Optional[Mapping[str, Any]],
    context: Any,
) -> tuple[list[str], list[tuple[str, bytes]]]:
    """Paths, and texts with their names."""
    paths = paths_of(path)
    texts: list[tuple[str, bytes]] = []
    if text is not None:
        texts.append(("text", text.encode() if isinstance(text, str) else bytes(text)))
    for name, value in (documents or {}).items():
        texts.append((name, _read(value, name)[1]))
    if isinstance(context, os.PathLike) or _is_paths(context):
        paths += paths_of(context)
    elif context is not None:
        texts.append(_read(context, "context"))
    return paths, texts


def _is_paths(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(each, os.PathLike) for each in value)


def _read(value: Any, name: str) -> tuple[str, bytes]:
    """A value as text, and a name that tells its format."""
    if isinstance(value, str):
        return name, value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return name, bytes(value)
    if isinstance(value, os.PathLike):
        with open(value, "rb") as file:
            return name, file.read()
    if hasattr(value, "read"):
        called = getattr(value, "name", None)
        return os.path.basename(called) if isinstance(called, str) else name, _read(value.read(), name)[1]
    # pandas; polars.
    if hasattr(value, "to_csv"):
        return f"{name}.csv", str(value.to_csv(index=False)).encode()
    if hasattr(value, "write_csv"):
        table = io.BytesIO()
        value.write_csv(table)
        return f"{name}.csv", table.getvalue()
    if type(value).__module__.startswith("pyarrow."):
        table = io.BytesIO()
        importlib.import_module("pyarrow.csv").write_csv(value, table)
        return f"{name}.csv", table.getvalue()
    if callable(value):
        return _read(value(), name)
    if isinstance(value, Iterator):
        return name, b"".join(_read(each, name)[1] for each in value)
    try:
        return f"{name}.json", json.dumps(value, ensure_ascii=False, indent=1).encode()
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"a context of type `{type(value).__name__}` cannot be read ({error}): give text, bytes, paths, a file, "
            "a table with `to_csv`, or what JSON can hold"
        ) from error
