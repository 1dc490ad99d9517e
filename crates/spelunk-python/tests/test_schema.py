"""Typed answers."""

import pytest
from pydantic import BaseModel

from spelunk import SpelunkError


class Part(BaseModel):
    name: str


class Found(BaseModel):
    number: int
    parts: list[Part]


CELL = '```repl\nFINAL({"number": 42, "parts": [{"name": "a"}]})\n```'


def test_a_pydantic_model_is_the_value_of_the_answer(engine):
    answer = engine(CELL).ask("What is it?", "a.md", strategy="repl", schema=Found)
    assert answer.value == Found(number=42, parts=[Part(name="a")])


def test_another_type_is_a_schema_too(engine):
    answer = engine("```repl\nFINAL([1, 2])\n```").ask("Which?", "a.md", strategy="repl", schema=list[int])
    assert answer.value == [1, 2]


def test_a_json_schema_is_a_mapping(engine):
    answer = engine(CELL).ask("What is it?", "a.md", strategy="repl", schema={"type": "object"})
    assert answer.value == {"number": 42, "parts": [{"name": "a"}]}


def test_a_schema_that_is_none_is_refused(engine):
    with pytest.raises(SpelunkError) as raised:
        engine(CELL).ask("What is it?", "a.md", schema={"type": "number", "multipleOf": 2})
    assert raised.value.code == "schema-invalid" and "multipleOf" in str(raised.value)
