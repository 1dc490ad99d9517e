"""The schema of an answer: a pydantic model, any other type that pydantic knows, or JSON Schema as a mapping."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class Schema:
    """A JSON Schema, and how a text that matches it becomes a value."""

    def __init__(self, schema: Any) -> None:
        self._adapter: Any = None
        if isinstance(schema, Mapping):
            self.json = json.dumps(schema)
            return
        try:
            from pydantic import TypeAdapter
        except ImportError as error:
            raise ImportError("a type as a schema needs pydantic: `pip install spelunk[schema]`") from error
        self._adapter = TypeAdapter(schema)
        self.json = json.dumps(self._adapter.json_schema())

    def value(self, text: str) -> Any:
        """The text as a value."""
        return json.loads(text) if self._adapter is None else self._adapter.validate_json(text)
