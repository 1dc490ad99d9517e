"""Questions, what they are asked about, and what comes back."""

import copy
import io
import json
import os
import pickle
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import CITED

import spelunk
from spelunk import Citation, SpelunkError, View
from spelunk._program import program


def test_an_answer_has_its_text_citations_cost_and_run(engine, folder):
    engine = engine(CITED)
    answer = engine.ask("What is the magic number?", "a.md", strategy="direct")
    assert str(answer) == answer.text == "It is 42."
    assert answer.citations == [Citation("a.md", 1, "The magic number is 42.")]
    assert (answer.grounding, answer.stopped_by, answer.value, answer.cost) == ("cited", None, None, 0.0)
    assert (answer.usage.calls, answer.usage.cached_tokens, answer.warnings) == (1, 0, [])
    assert answer.usage.input_tokens > 0 and answer.usage.output_tokens > 0
    (run,) = engine.runs()
    assert (run.run, run.status, run.question) == (answer.run, "answered", "What is the magic number?")
    assert run.model.endswith("scripted")


def test_a_function_asks_without_an_engine(serve, settings):
    base_url = serve(CITED).base_url
    answer = spelunk.ask("What is it?", "a.md", base_url=base_url, strategy="direct", **settings)
    assert str(answer) == "It is 42."


def test_a_notebook_shows_the_answer_with_its_citations(engine):
    engine = engine("<b>42</b>\n\n```evidence\na.md:1: The magic number is 42.\n```")
    answer = engine.ask("What is it?", "a.md", strategy="direct")
    assert answer._repr_html_() == (
        '<div style="white-space: pre-wrap">&lt;b&gt;42&lt;/b&gt;</div>'
        "<details><summary><code>a.md:1</code></summary><blockquote>The magic number is 42.</blockquote></details>"
        f"<small>1 call · $0.0000 · run {answer.run}</small>"
    )


def test_the_page_of_a_run_is_that_of_the_program(engine, folder):
    engine = engine(CITED)
    run = engine.start("What is it?", "a.md", strategy="direct")
    answer = run.answer()
    exported = [program(), "run", "export", answer.run, "--html", "page.html", "--workspace", "runs"]
    subprocess.run(exported, cwd=folder, env={"HOME": str(folder)}, check=True, capture_output=True)
    page = (folder / "page.html").read_text()
    assert answer.view() == run.view() == engine.view(answer.run) == View(answer.run, page)
    assert page.startswith("<!doctype html>") and "The magic number is 42." in page
    assert repr(answer.view()) == f"View(run='{answer.run}', {len(page)} characters)"
    with pytest.raises(SpelunkError) as raised:
        engine.view("rlm-20261118T000000Z-00000000")
    assert raised.value.code == "run-not-found"
    # A copy has no engine.
    copied = pickle.loads(pickle.dumps(answer))
    assert copied == answer == copy.deepcopy(answer)
    with pytest.raises(SpelunkError) as raised:
        copied.view()
    assert raised.value.hint == f"use `Spelunk.view('{answer.run}')`"


PROGRESS = """
import json, sys, spelunk
engine = spelunk.Spelunk(**json.loads(sys.argv[1]))
print(engine.ask("What is it?", "a.md", strategy="direct", progress=True))
"""


def test_a_terminal_shows_a_line_while_a_run_goes_on(serve, settings):
    server = serve({"contains": "", "reply": CITED, "delay_ms": 1000})
    given = json.dumps({**settings, "base_url": server.base_url}, default=str)
    command = [sys.executable, "-c", PROGRESS, given]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, text=True) as asked:
        os.close(theirs)
        assert asked.stdout.read() == "It is 42.\n"
    shown = os.read(ours, 1 << 16).decode()
    waiting = "turn 1: waiting for openai/scripted · 0 calls done, 1 in flight · 0 tokens · "
    assert shown.startswith("\r\x1b[K") and f"\r\x1b[K{waiting}"[:79] in shown and shown.endswith("\r\x1b[K")
    # Elsewhere there is none.
    piped = subprocess.run(command, capture_output=True, text=True)
    assert (piped.stdout, piped.stderr) == ("It is 42.\n", "")


class Pandas:
    def to_csv(self, index):
        assert index is False
        return "name,n\nkey,42\n"


class Polars:
    def write_csv(self, file):
        file.write(b"name,n\nkey,42\n")


@pytest.mark.parametrize(
    ("context", "shown"),
    [
        ("The key is 42.", ["context", "The key is 42."]),
        (b"The key is 42.", ["context", "The key is 42."]),
        ({"key": [42]}, ["context.json", '"key": [']),
        ([{"key": 42}], ["context.json", '"key": 42']),
        (io.StringIO("The key is 42."), ["context", "The key is 42."]),
        (Pandas(), ["context.csv", "key,42"]),
        (Polars(), ["context.csv", "key,42"]),
        (iter(["The key ", "is 42."]), ["context", "The key is 42."]),
        (lambda: "The key is 42.", ["context", "The key is 42."]),
    ],
    ids=["str", "bytes", "dict", "list", "file", "pandas", "polars", "iterator", "function"],
)
def test_a_context_is_any_value(engine, context, shown):
    engine = engine("It is 42.")
    assert str(engine.ask("What is the key?", context=context, strategy="direct")) == "It is 42."
    (prompt,) = engine.server.prompts()
    assert [part for part in shown if part not in prompt] == []


def test_a_table_of_pyarrow_is_csv(engine):
    pyarrow = pytest.importorskip("pyarrow")
    engine = engine("It is 42.")
    engine.ask("What is the key?", context=pyarrow.table({"name": ["key"], "n": [42]}), strategy="direct")
    (prompt,) = engine.server.prompts()
    assert "context.csv" in prompt and '"key",42' in prompt


def test_paths_texts_documents_and_files_are_read_together(engine, folder):
    engine = engine("It is 42.")
    (folder / "b.md").write_text("The second file.\n")
    with open(folder / "b.md") as file:
        engine.ask(
            "What is it?", ["a.md"], text="The plain text.", documents={"c.md": "The third.", "d.md": Path(file.name)},
            context=file, strategy="direct",
        )
    (prompt,) = engine.server.prompts()
    parts = ["a.md", "The magic number", "The plain text.", "c.md", "The third.", "d.md", "b.md", "The second file."]
    assert [part for part in parts if part not in prompt] == []


def test_a_list_of_paths_is_no_json(engine, folder):
    engine = engine("It is 42.")
    engine.ask("What is it?", context=[folder / "a.md"], strategy="direct")
    assert "The magic number is 42." in engine.server.prompts()[0]


def test_a_value_that_cannot_be_read_is_refused(engine):
    engine = engine("It is 42.")
    with pytest.raises(TypeError, match="a context of type `object` cannot be read .*: give text, bytes, paths"):
        engine.ask("What is it?", context=object())
    with pytest.raises(ValueError, match="there is no strategy `quick`: choose one of auto, direct, "):
        engine.ask("What is it?", "a.md", strategy="quick")
    assert engine.server.prompts() == [] and engine.runs() == []


def test_an_error_has_a_code_and_a_hint(engine):
    engine = engine("It is 42.")
    with pytest.raises(SpelunkError) as raised:
        engine.ask("What is it?", "nowhere.md")
    error = raised.value
    assert error.code == "source-not-found" and "nowhere.md" in error.message and error.run is None
    assert str(error) == (error.message if error.hint is None else f"{error.message}\nhint: {error.hint}")
    again = pickle.loads(pickle.dumps(error))
    assert (again.message, again.code, again.hint) == (error.message, error.code, error.hint)


def test_a_wrong_setting_is_refused_before_anything_is_asked(settings):
    with pytest.raises(SpelunkError) as raised:
        spelunk.Spelunk(**settings, settings={"limits.calls": 1})
    assert raised.value.code == "setting-unknown" and "no setting `limits.calls`" in str(raised.value)


def test_a_run_that_stopped_at_a_limit_goes_on_once_it_is_higher(engine):
    stopped = engine(CITED, settings={"limits.calls_max": 0})
    with pytest.raises(SpelunkError) as raised:
        stopped.ask("What is it?", "a.md", strategy="direct")
    error = raised.value
    assert (error.code, error.hint) == ("calls-exhausted", "raise the limit and continue the run with `resume`")
    assert [(run.run, run.status) for run in stopped.runs()] == [(error.run, "limited")]
    with pytest.raises(SpelunkError) as raised:
        stopped.resume(error.run)
    assert (raised.value.code, stopped.server.prompts()) == ("calls-exhausted", [])
    again = engine(CITED, base_url=stopped.server.base_url)
    assert str(again.resume(error.run)) == "It is 42."


def test_the_cost_of_a_run_is_limited(engine):
    prices = {"model.price_input_usd_per_mtok": 3.0, "model.price_output_usd_per_mtok": 15.0}
    with pytest.raises(SpelunkError) as raised:
        engine(CITED, max_cost=0.000001, settings=prices).ask("What is it?", "a.md", strategy="direct")
    assert raised.value.code == "cost-exhausted"
    answer = engine(CITED, max_cost=0.5, settings=prices).ask("And now?", "a.md", strategy="direct")
    expected = (3.0 * answer.usage.input_tokens + 15.0 * answer.usage.output_tokens) / 1e6
    assert answer.cost == pytest.approx(expected, abs=1e-6) and answer.cost > 0


def test_code_of_a_model_runs_in_the_program_beside_the_module(engine):
    engine = engine('```repl\nFINAL(str(6 * 7), cite=grep("magic"))\n```')
    answer = engine.ask("What is it?", "a.md", strategy="repl")
    assert str(answer) == "42" and answer.citations == [Citation("a.md", 1, "The magic number is 42.")]
    assert answer.details["metrics"]["cells"] == 1


def test_passages_are_found_without_a_model(settings):
    (passage,) = spelunk.Spelunk(**settings).search("magic", "a.md")
    assert (passage.document, passage.line, passage.text) == ("a.md", 1, "The magic number is 42.\n")


def test_threads_ask_at_the_same_time(engine):
    engine, answers = engine("It is 42."), []
    ask = lambda n: answers.append(str(engine.ask(f"Question {n}?", "a.md", strategy="direct")))  # noqa: E731
    threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == ["It is 42."] * 8


def test_a_context_is_read_before_the_run_and_may_change_after(engine):
    engine = engine("It is 42.")
    changing = bytearray(b"The magic number is 42.")
    run = engine.start("What is it?", context=changing, strategy="direct")
    changing[:] = b"x" * len(changing)
    run.answer()
    (prompt,) = engine.server.prompts()
    assert "The magic number is 42." in prompt


def test_a_context_that_fails_while_it_is_read_starts_no_run(engine):
    def lines():
        yield "The magic number"
        raise OSError("gone")

    def growing():
        rows = {"a": 1}
        for name in rows:
            rows[name + "b"] = 2
            yield name

    engine = engine("It is 42.")
    for context, error in [(lines(), "gone"), (growing(), "dictionary changed size during iteration")]:
        with pytest.raises((OSError, RuntimeError), match=error):
            engine.ask("What is it?", context=context)
    assert engine.runs() == []


def test_contexts_are_texts_of_the_workspace_under_ids(engine, folder):
    engine = engine("It is 42.")
    engine.contexts.add("numbers", "a.md")
    engine.contexts.add("note", text="It is odd.")
    engine.contexts.add("note", text="It is even.")
    assert sorted(engine.contexts.list()) == ["note", "numbers"]
    engine.ask("What is it?", contexts=["numbers", "note"], strategy="direct")
    (prompt,) = engine.server.prompts()
    assert "The magic number is 42." in prompt and "It is even." in prompt and "It is odd." not in prompt
    engine.contexts.remove("note")
    assert engine.contexts.list() == ["numbers"]
    with pytest.raises(SpelunkError, match="note"):
        engine.contexts.remove("note")
    with pytest.raises(SpelunkError, match="nowhere.md"):
        engine.contexts.add("gone", "nowhere.md")
