"""Functions of the program as tools of the model."""

import json
import threading

import pytest

import spelunk
from spelunk import SpelunkError


def code(text):
    return f"```repl\n{text}\n```"


def test_a_function_is_called_by_the_model_with_its_arguments_and_returns_values(engine):
    calls = []

    @spelunk.tool(effect="read")
    def look_up(name: str, n: int = 1) -> dict:
        """Looks a name up."""
        calls.append((name, n, threading.current_thread() is threading.main_thread()))
        return {"name": name, "found": [n, None]}

    engine = engine(code("r = look_up('a', n=2)\nFINAL(r['name'] + str(r['found']))"), tools=[look_up])
    answer = engine.ask("What is it?", "a.md", strategy="repl")
    assert str(answer) == "a[2, None]"
    assert calls == [("a", 2, False)]
    (prompt,) = engine.server.prompts()
    assert "- `look_up(name: str, n: int = None)`: Looks a name up." in prompt


def test_an_exception_and_a_result_that_is_no_json_are_exceptions_of_the_code(engine):
    def fails() -> None:
        raise KeyError("gone")

    def strange():
        return object()

    async def slow(n: int) -> int:
        return n + 1

    text = """said = []
for call in (fails, strange):
    try:
        call()
    except ToolError as error:
        said.append(str(error))
FINAL(said + [slow(1)])"""
    engine = engine(code(text), tools=[fails, strange, slow])
    answer = engine.ask("What is it?", "a.md", strategy="repl")
    assert json.loads(str(answer)) == ["KeyError: 'gone'", "TypeError: Object of type object is not JSON serializable", 2]


def test_a_function_may_ask_the_engine_in_turn(engine, serve, settings):
    other = spelunk.Spelunk(**{**settings, "base_url": serve("It is 41.").base_url})

    def ask_other() -> str:
        return other.ask("What is it?", text="41", strategy="direct").text

    engine = engine(code("FINAL(ask_other())"), tools=[ask_other])
    assert str(engine.ask("What is it?", "a.md", strategy="repl")) == "It is 41."


def test_a_function_may_ask_the_engine_that_calls_it(engine):
    def ask_again() -> str:
        return asked.ask("What is the magic number?", text="The magic number is 41.", strategy="direct").text

    inner = {"contains": "The magic number is 41.", "reply": "It is 41."}
    asked = engine(inner, code("FINAL(ask_again())"), tools=[ask_again])
    assert str(asked.ask("What is it?", "a.md", strategy="repl")) == "It is 41."
    assert len(asked.runs()) == 2


def test_what_cannot_be_a_tool_is_refused(engine):
    def positional(*args):
        pass

    with pytest.raises(TypeError, match="`positional` cannot be a tool: `args` cannot be given by name"):
        engine("", tools=[positional])

    @spelunk.tool(effect="never")
    def wrong():
        pass

    with pytest.raises(ValueError, match="the tool `wrong`: there is no effect `never`"):
        engine("", tools=[wrong])

    def same():
        pass

    with pytest.raises(SpelunkError, match="same"):
        engine("", tools=[same, same])


def test_a_function_that_blocks_holds_up_nothing_else(engine):
    is_asked, may_answer = threading.Event(), threading.Event()

    def wait() -> str:
        is_asked.set()
        assert may_answer.wait(20)
        return "now"

    run = engine(code("FINAL(wait())"), tools=[wait]).start("What is it?", "a.md", strategy="repl")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(str(run.answer())))
    waiting.start()
    assert is_asked.wait(20)
    may_answer.set()
    waiting.join(20)
    assert answers == ["now"]


def test_a_run_whose_function_blocks_can_be_cancelled(engine):
    is_asked, may_answer = threading.Event(), threading.Event()

    def wait() -> None:
        is_asked.set()
        may_answer.wait(20)

    run = engine(code("wait()"), tools=[wait]).start("What is it?", "a.md", strategy="repl")
    threading.Thread(target=lambda: (is_asked.wait(20), run.cancel())).start()
    with pytest.raises(SpelunkError) as raised:
        run.answer()
    may_answer.set()
    assert raised.value.code == "cancelled"
