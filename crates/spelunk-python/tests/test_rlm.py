"""The interface of the reference engine."""

import signal
import subprocess
import sys
import warnings

import pytest

from spelunk.rlm import RLM, BudgetExceededError, RLMChatCompletion, TimeoutExceededError, TokenLimitExceededError

CELL = '```repl\nFINAL(context.strip().split()[-1])\n```'
PARENT = '```repl\nFINAL("so: " + rlm_query("What is it?", "context"))\n```'


@pytest.fixture
def rlm(serve, tmp_path, monkeypatch):
    """An engine whose model replies so."""
    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.chdir(tmp_path)

    def start(*rules, **options):
        server = serve(*rules)
        kwargs = {"model_name": "scripted", "base_url": server.base_url, "api_key": "sk-test"}
        engine = RLM(backend="openai", backend_kwargs=kwargs, **options)
        engine.server = server
        return engine

    return start


def test_a_completion_has_the_fields_of_the_reference(rlm):
    with rlm(CELL) as engine:
        result = engine.completion("The answer is 42", root_prompt="What is it?")
    assert (result.response, result.root_model, result.prompt) == ("42", "scripted", "The answer is 42")
    usage = result.usage_summary.model_usage_summaries["scripted"]
    assert (usage.total_calls, usage.total_cost, result.usage_summary.total_cost) == (1, None, None)
    assert usage.total_input_tokens == result.usage_summary.total_input_tokens > 0
    assert result.execution_time > 0 and result.metadata["outcome"] == {"is": "answered"}
    assert RLMChatCompletion.from_dict(result.to_dict()) == result


def test_a_prompt_alone_is_the_question(rlm):
    engine = rlm({"contains": "Is water wet?", "reply": "yes"}, '```repl\nFINAL("yes")\n```')
    assert engine.completion("Is water wet?").response == "yes"
    assert "Is water wet?" in engine.server.prompts()[0]
    assert engine.completion({"question": "Is fire hot?"}).response == "yes"


def test_custom_tools_are_functions_of_the_session(rlm):
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    tools = {"plus": {"tool": add, "description": "The sum."}, "twice": lambda n: 2 * n}
    engine = rlm("```repl\nFINAL(str(twice(plus(1, 2))))\n```", custom_tools=tools)
    assert engine.completion("The text.", root_prompt="How much?").response == "6"
    prompt = engine.server.prompts()[0]
    assert "- `plus(a: int, b: int)`: The sum." in prompt and "- `twice(n)`" in prompt


def test_at_depth_0_the_model_answers_without_code(rlm):
    assert rlm("plainly", max_depth=0).completion("The text.", root_prompt="How?").response == "plainly"


def test_callbacks_see_sub_calls_and_iterations(rlm):
    seen = []
    note = lambda name: lambda *facts: seen.append((name, *(fact for fact in facts if not isinstance(fact, float))))  # noqa: E731
    engine = rlm(
        {"contains": "What is it?", "reply": '```repl\nFINAL("42")\n```'}, PARENT, max_depth=2,
        on_subcall_start=note("start"), on_subcall_complete=note("complete"),
        on_iteration_start=note("turn"), on_iteration_complete=note("turned"),
    )
    assert engine.completion("The answer is 42", root_prompt="What?").response == "so: 42"
    assert ("start", 1, "scripted", "What is it?") in seen and ("complete", 1, "scripted", None) in seen
    assert [fact for fact in seen if fact[:2] == ("turned", 0)] == [("turned", 0, 1)]


def test_a_callback_that_raises_stops_the_run(rlm):
    def refuse(depth, iteration):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        rlm(CELL, on_iteration_start=refuse).completion("The answer is 42", root_prompt="What?")


def test_a_callback_may_ask_the_engine_that_calls_it(rlm):
    told = []

    def ask_again(depth, iteration):
        if not told:
            told.append(None)
            told.append(engine.completion("The number is 41", root_prompt="Which?").response)

    engine = rlm(CELL, on_iteration_start=ask_again)
    assert engine.completion("The answer is 42", root_prompt="What?").response == "42"
    assert told == [None, "41"]


def test_limits_raise_the_exceptions_of_the_reference(rlm, monkeypatch):
    with pytest.raises(TokenLimitExceededError) as tokens:
        rlm(CELL, max_tokens=10).completion("The answer is 42", root_prompt="What?")
    assert tokens.value.token_limit == 10
    slow = {"contains": "", "reply": CELL, "delay_ms": 60_000}
    with pytest.raises(TimeoutExceededError) as timeout:
        rlm(slow, max_timeout=0.2).completion("The answer is 42", root_prompt="What?")
    assert timeout.value.timeout == 0.2
    monkeypatch.setenv("SPELUNK_MODEL_PRICE_INPUT_USD_PER_MTOK", "3.0")
    monkeypatch.setenv("SPELUNK_MODEL_PRICE_OUTPUT_USD_PER_MTOK", "15.0")
    with pytest.raises(BudgetExceededError) as budget:
        rlm(CELL, max_budget=0.000001).completion("The answer is 42", root_prompt="What?")
    assert budget.value.budget == 0.000001


def test_ctrl_c_is_the_cancellation_of_the_reference(rlm):
    engine = rlm({"contains": "", "reply": CELL, "delay_ms": 60_000})
    program = f"""
from spelunk.rlm import RLM, CancellationError
kwargs = {{"model_name": "scripted", "base_url": {engine.server.base_url!r}, "api_key": "sk-test"}}
try:
    RLM(backend_kwargs=kwargs).completion("The answer is 42", root_prompt="What?")
except CancellationError as error:
    print(error, error.run[:4])
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    while not engine.server.prompts():
        pass
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=10)[0] == "Execution cancelled by user (Ctrl+C) rlm-\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"environment": "docker"}, "environment='docker' is not available in spelunk.rlm: the code of models runs in"),
        ({"persistent": True}, "persistent is not available"),
        ({"custom_sub_tools": {"f": len}}, "custom_sub_tools is not available"),
        ({"custom_tools": {"n": 42}}, r"custom_tools\['n'\] is not available"),
        ({"custom_system_prompt": "x"}, "custom_system_prompt is not available"),
        ({"sampling_args": {"temperature": 1}}, "sampling_args is not available"),
        ({"max_depth": 7}, "max_depth=7 is not available in spelunk.rlm: use 0 to 6"),
        ({"other_backends": ["gemini"]}, r"other_backends=\['gemini'\] is not available"),
    ],
)
def test_what_cannot_be_honoured_says_so(options, message):
    with pytest.raises(NotImplementedError, match=message):
        RLM(**options)


def test_what_makes_no_difference_is_told(rlm):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rlm(CELL, max_errors=3, compaction=True, logger=object())
    # The collector may find files of other tests just now.
    told = [str(each.message) for each in told if each.category is not ResourceWarning]
    assert [message.split(" has no effect in spelunk.rlm: ")[0] for message in told] == ["max_errors", "logger", "compaction"]
    with pytest.raises(ValueError, match="there is no backend 'x': use one of openai, "):
        RLM(backend="x")
