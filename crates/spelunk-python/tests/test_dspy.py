"""`spelunk.dspy` with dspy itself: its interpreter and its module."""

import asyncio
import subprocess
import sys
import threading

import pytest

dspy = pytest.importorskip("dspy")

from dspy.primitives.code_interpreter import CodeExecutionError, CodeInterpreterError, FinalOutput  # noqa: E402
from dspy.utils.dummies import DummyLM  # noqa: E402

from spelunk.dspy import RLM, Interpreter  # noqa: E402

SANDBOXES = ["monty", "cpython"]


@pytest.fixture(params=SANDBOXES)
def interpreter(request):
    """An interpreter in each sandbox."""

    def make(**options):
        settings = {"ask.sandbox": request.param, **options.pop("settings", {})}
        return Interpreter(settings=settings, **options)

    return make


def test_code_returns_its_value_or_what_it_printed_and_variables_stay(interpreter):
    with interpreter() as python:
        assert isinstance(python, dspy.CodeInterpreter)
        assert python.execute("x = 20") is None
        assert python.execute("print('a')\nx += 1\nx * 2") == 42
        assert python.execute("print(x)\nprint('b')") == "21\nb\n"
        assert python("(1, {'a': {2}})") == [1, {"a": [2]}]


def test_values_of_the_host_are_variables_and_are_bound_again_each_time(interpreter):
    long = "a" * 20_000 + "é"
    given = {"text": long, "n": 2**70, "x": float("inf"), "rows": [{1: (None, True)}], "raw": b"\x00"}
    with interpreter() as python:
        shown = python.execute("[len(text), text[-1], n, x > 1e308, rows, len(raw)]", variables=given)
        assert shown == [20_001, "é", 2**70, True, [{1: [None, True]}], 1]
        assert python.execute("text = 1; n = 2; [text, n]", variables=given) == [1, 2]
        assert python.execute("[len(text), n]", variables=given) == [20_001, 2**70]
        assert python.execute("text", variables={"text": "short"}) == "short"
        with pytest.raises(CodeInterpreterError, match="Invalid variable name: 'for'"):
            python.execute("1", variables={"for": 1})
        with pytest.raises(CodeInterpreterError, match="Unable to serialize Lock as JSON|Unable to serialize lock as JSON"):
            python.execute("1", variables={"lock": threading.Lock()})
        with pytest.raises(CodeInterpreterError, match="nested deeper than 32"):
            endless = []
            endless.append(endless)
            python.execute("1", variables={"endless": endless})
        assert python.execute("1 + 1") == 2


def test_tools_are_called_with_values_and_their_exceptions_are_raised_in_the_code(interpreter):
    calls = []

    def look_up(name, n=1):
        calls.append((name, n))
        return {"name": name, "found": (n, None)}

    def fails():
        raise KeyError("gone")

    async def later(n):
        await asyncio.sleep(0)
        return n + 1

    with interpreter(tools={"look_up": look_up, "fails": fails, "later": later}) as python:
        assert python.execute("look_up('a', n=2)") == {"name": "a", "found": [2, None]}
        assert python.execute("try:\n    fails()\nexcept RuntimeError as error:\n    print(error)") == "KeyError: 'gone'\n"
        assert python.execute("later(1)") == 2
        with pytest.raises(CodeExecutionError, match="KeyError: 'gone'"):
            python.execute("x = fails()")
        python.tools["again"] = lambda: python.execute("1")
        with pytest.raises(CodeExecutionError, match="cannot execute recursively"):
            python.execute("again()")
        assert calls == [("a", 2)]


def test_tools_that_threads_call_run_at_once_in_cpython():
    together = threading.Barrier(3, timeout=20)
    code = """from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(3) as pool:
    found = list(pool.map(meet, [1, 2, 3]))
found"""
    settings = {"ask.sandbox": "cpython"}
    with Interpreter({"meet": lambda n: (together.wait(), n)[1]}, settings=settings) as python:
        assert python.execute(code) == [1, 2, 3]


def test_submit_ends_the_code_with_the_fields_of_the_signature(interpreter):
    with interpreter() as python:
        assert python.execute("SUBMIT([1, 2])\nprint('never')") == FinalOutput({"output": [1, 2]})
        python.output_fields = [{"name": "answer", "type": "str"}, {"name": "score"}]
        assert python.execute("try:\n    SUBMIT('a', 2)\nfinally:\n    x = 1") == FinalOutput({"answer": "a", "score": 2})
        assert python.execute("SUBMIT(score=2, answer='a')") == FinalOutput({"answer": "a", "score": 2})
        with pytest.raises(CodeExecutionError, match="TypeError.*score"):
            python.execute("SUBMIT('a')")


def test_errors_of_the_code_leave_the_session_as_it_is(interpreter):
    with interpreter() as python:
        python.execute("x = 42")
        with pytest.raises(SyntaxError, match="Invalid Python syntax"):
            python.execute("+++")
        with pytest.raises(CodeExecutionError, match="ZeroDivisionError"):
            python.execute("y = 1 / 0\ny")
        with pytest.raises(CodeExecutionError, match="KeyError: 'a'"):
            python.execute("{}['a']")
        assert python.execute("x") == 42


def test_code_reaches_nothing_of_the_machine(interpreter, tmp_path):
    (tmp_path / "secret").write_text("secret")
    with interpreter() as python:
        for code in [f"open({str(tmp_path / 'secret')!r}).read()", "import socket\nsocket.create_connection(('127.0.0.1', 9))"]:
            with pytest.raises(CodeExecutionError):
                python.execute(code)
        assert python.execute("import os\nos.environ.get('PATH')") is None


def test_a_session_that_is_over_is_not_started_again(interpreter):
    python = interpreter(settings={"limits.cell_ms_max": 200})
    python.execute("x = 1")
    with pytest.raises(CodeInterpreterError, match="the interpreter state was lost: TimeoutError"):
        python.execute("while True:\n    pass")
    for again in (python.start, lambda: python.execute("x")):
        with pytest.raises(CodeInterpreterError, match="the session has ended"):
            again()
    python.shutdown()


def test_rlm_of_dspy_runs_its_code_in_the_sandbox(interpreter):
    replies = [
        {"reasoning": "Look.", "code": "```python\nprint(len(text))\n```"},
        {"reasoning": "Ask.", "code": "n = count(text)\nsaid = llm_query('How many?')\nSUBMIT(n, said)"},
    ]
    lm, sub_lm = DummyLM(replies), lambda prompt: ["Three."]
    rlm = dspy.RLM("text -> n: int, said: str", tools=[dspy.Tool(lambda text: len(text), name="count")], sub_lm=sub_lm)
    with dspy.context(lm=lm, interpreter_factory=interpreter):
        told = rlm(text="abc")
    assert (told.n, told.said) == (3, "Three.")
    assert [entry["output"] for entry in told.trajectory] == ["3\n", "FINAL: {'n': 3, 'said': 'Three.'}"]


def test_code_builds_sub_agents_of_dspy_in_cpython():
    code = "import dspy\nSUBMIT(dspy.Predict('question -> answer')(question='6 * 7').answer)"
    lm = DummyLM([{"reasoning": "Ask.", "code": code}, {"answer": "42"}])
    with dspy.context(lm=lm, interpreter_factory=lambda: Interpreter(settings={"ask.sandbox": "cpython"})):
        assert dspy.RLM("question -> answer: int")(question="6 * 7").answer == 42


def scripted(server):
    return dspy.LM("openai/scripted", api_base=server.base_url, api_key="none")


TYPED = "```repl\nFINAL({'names': [look_up('b')], 'n': len(context)})\n```"


def test_the_module_answers_a_signature_with_values_of_its_types(serve, settings):
    def look_up(name: str) -> str:
        """Looks a name up."""
        return name.upper()

    options = {name: settings[name] for name in ("isolated", "directory", "workspace", "env")}
    rlm = RLM("text, question -> names: list[str], n: int", tools=[dspy.Tool(look_up, desc="Finds it.")], **options)
    server = serve(TYPED)
    with dspy.context(lm=scripted(server)):
        told = rlm(text="a" * 3_000, question="Which?")
    assert (told.names, told.n) == (["B"], 3_000)
    assert [cell["code"] for cell in told.trajectory] == ["FINAL({'names': [look_up('b')], 'n': len(context)})"]
    assert told.spelunk.usage.calls == 1
    (prompt,) = server.prompts()
    assert "question: Which?" in prompt and "`look_up(name: str)`: Finds it." in prompt
    assert asyncio.run(rlm_async(rlm, server)) == ["B"]


async def rlm_async(rlm, server):
    with dspy.context(lm=scripted(server)):
        return (await rlm.acall(text="a" * 3_000, question="Which?")).names


def test_the_module_says_what_is_missing():
    with pytest.raises(ValueError, match=r"the inputs are \['question'\], not \['text'\]"):
        RLM("question -> answer", model="openai/scripted")(text="a")
    with pytest.raises(ValueError, match="an output cannot be called 'trajectory'"):
        RLM("question -> trajectory")
    with dspy.context(lm=DummyLM([])), pytest.raises(ValueError, match="there is no model"):
        RLM("question -> answer")(question="a")


def test_without_dspy_the_import_says_so():
    program = "import sys; sys.modules['dspy'] = None\ntry:\n    import spelunk.dspy\nexcept ImportError as error:\n    print(error)"
    said = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert said == "`spelunk.dspy` needs dspy 3.4 or newer: `pip install dspy`\n"
