"""Runs in progress: events, event loops, Ctrl-C, processes that fork or end."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import textwrap
import threading
from pathlib import Path

import pytest
from conftest import CITED

import spelunk
from spelunk import SpelunkError

SLOW = {"contains": "", "reply": CITED, "delay_ms": 60_000}


def test_a_loop_sees_every_event_and_then_the_answer(engine):
    run = engine(CITED).start("What is it?", "a.md", strategy="direct")
    types = [event.type for event in run]
    assert (types[0], types.count("call.started"), types[-1]) == ("run.started", 1, "run.finished")
    assert str(run.answer()) == "It is 42." and run.answer().run == run.id


def test_an_event_has_its_fields(engine):
    first, *_ = engine(CITED).start("What is it?", "a.md", strategy="direct")
    assert (first.type, first.seq, first.frame) == ("run.started", 1, "0")
    assert first.fields["question"]["text"] == "What is it?"


def test_an_event_loop_asks_many_at_once(engine):
    engine = engine("It is 42.")

    async def ask():
        asked = (engine.aask(f"Question {n}?", "a.md", strategy="direct") for n in range(20))
        return [str(answer) for answer in await asyncio.gather(*asked)]

    assert asyncio.run(ask()) == ["It is 42."] * 20


def test_an_event_loop_sees_every_event_and_then_the_answer(engine):
    engine = engine(CITED)

    async def watch():
        run = engine.astart("What is it?", "a.md", strategy="direct")
        types = [event.type async for event in run]
        return types, await run.answer()

    types, answer = asyncio.run(watch())
    assert (types[0], types[-1], str(answer)) == ("run.started", "run.finished", "It is 42.")


def test_an_error_is_raised_where_the_answer_is_awaited(engine):
    engine = engine(CITED)

    async def watch():
        return [event async for event in engine.astart("What is it?", "nowhere.md")]

    with pytest.raises(SpelunkError):
        asyncio.run(watch())
    with pytest.raises(SpelunkError):
        asyncio.run(engine.aask("What is it?", "nowhere.md"))


async def until_sent(server):
    while not server.prompts():
        await asyncio.sleep(0.01)


def settled(engine):
    """The status of the only run, once nobody works on it."""
    while (run := engine.runs()[0]).status == "running":
        threading.Event().wait(0.01)
    return run.status


def test_a_cancelled_task_stops_its_run(engine):
    engine = engine(SLOW)

    async def cancel():
        task = asyncio.create_task(engine.aask("What is it?", "a.md", strategy="direct"))
        await until_sent(engine.server)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert settled(engine) == "cancelled"


def test_a_loop_that_is_left_early_stops_its_run(engine):
    engine = engine(SLOW)

    async def leave():
        events = engine.astart("What is it?", "a.md", strategy="direct").__aiter__()
        assert (await events.__anext__()).type == "run.started"
        await events.aclose()

    asyncio.run(leave())
    assert settled(engine) == "cancelled"


def test_a_thread_cancels_a_run_that_another_waits_for(engine):
    run = engine(SLOW).start("What is it?", "a.md", strategy="direct")
    threading.Timer(0.2, run.cancel).start()
    with pytest.raises(SpelunkError) as raised:
        run.answer()
    assert (raised.value.code, raised.value.run) == ("cancelled", run.id)


def python(program, engine, **options):
    """A process of its own with an engine that asks the same server."""
    head = f"""
        import os, signal, sys, threading, spelunk
        engine = spelunk.Spelunk(model="openai/scripted", base_url={engine.server.base_url!r}, isolated=True,
            directory={str(engine._settings["directory"])!r}, workspace={str(engine._settings["workspace"])!r},
            env={dict(engine._settings["variables"])!r})
    """
    program = textwrap.dedent(head) + textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, **options)


def test_ctrl_c_stops_the_run_and_it_goes_on_with_resume(engine):
    slow = engine({**SLOW, "delay_ms": 1_500})
    process = python(
        """
        try:
            engine.ask("What is it?", "a.md", strategy="direct")
        except KeyboardInterrupt as interrupted:
            print(type(interrupted).__name__, interrupted.run)
        """,
        slow,
    )
    asyncio.run(until_sent(slow.server))
    process.send_signal(signal.SIGINT)
    name, run = process.communicate(timeout=10)[0].split()
    assert (process.returncode, name) == (0, "Interrupted")
    assert [(each.run, each.status) for each in slow.runs()] == [(run, "cancelled")]
    answer = slow.resume(run)
    assert (str(answer), answer.run) == ("It is 42.", run)
    assert str(slow.resume(run)) == "It is 42."
    assert len(slow.server.prompts()) == 2


def test_a_run_that_does_not_exist_is_refused(engine):
    engine = engine(CITED)
    with pytest.raises(ValueError, match="`x` is not a run id"):
        engine.resume("x")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_child_asks_with_the_engine_of_its_parent(engine):
    process = python(
        """
        print(engine.ask("What is it?", "a.md", strategy="direct"), flush=True)
        child = os.fork()
        if child == 0:
            print(engine.ask("And now?", "a.md", strategy="direct"), flush=True)
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """,
        engine("It is 42."),
    )
    assert process.communicate(timeout=20)[0] == "It is 42.\nIt is 42.\n0\n"


def test_the_interpreter_ends_while_a_run_is_in_progress(engine):
    slow = engine(SLOW)
    process = python(
        """
        ask = lambda: engine.ask("What is it?", "a.md", strategy="direct")
        threading.Thread(target=ask, daemon=True).start()
        sys.stdin.readline()
        print("over")
        """,
        slow, stdin=subprocess.PIPE,
    )
    asyncio.run(until_sent(slow.server))
    assert process.communicate("\n", timeout=10)[0] == "over\n"
    assert process.returncode == 0
    assert [run.status for run in slow.runs()] == ["interrupted"]


def test_the_import_loads_nothing_that_is_not_needed():
    program = "import sys, spelunk; print({'asyncio', 'dspy', 'pathlib', 'pydantic', 'typing_extensions'} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "set()\n"


def test_the_console_script_is_the_program():
    script = Path(sysconfig.get_path("scripts")) / "spelunk"
    shown = [subprocess.check_output([path, "--version"], text=True) for path in (script, spelunk._program.program())]
    assert shown[0] == shown[1] and shown[0].startswith("spelunk 0.")
    # All of its output arrives, and its exit code.
    reference = Path(__file__).parents[3] / "docs/reference/defaults.toml"
    assert subprocess.check_output([script, "config", "defaults"], text=True) == reference.read_text()
    assert subprocess.run([script, "no-such-command"], stderr=subprocess.DEVNULL).returncode == 2


def test_the_console_script_finds_the_package_beside_it(folder):
    # As `pip install --target` leaves them. The interpreter looks nowhere else.
    (folder / "bin").mkdir()
    script = shutil.copy(Path(sysconfig.get_path("scripts")) / "spelunk", folder / "bin")
    (folder / "spelunk").symlink_to(Path(spelunk.__file__).parent)
    shown = subprocess.check_output([sys.executable, "-I", "-S", script, "--version"], text=True)
    assert shown.startswith("spelunk 0.")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the package has two engines")
def test_the_package_has_one_engine():
    program = Path(spelunk._program.program())
    assert program.stat().st_size < 100_000 < (program.parents[1] / "_native.abi3.so").stat().st_size
    # A launcher without its module says so.
    with tempfile.TemporaryDirectory() as folder:
        alone = shutil.copy(program, folder)
        told = subprocess.run([alone], capture_output=True, text=True)
    assert told.returncode == 1 and told.stderr.startswith("error: could not load the engine: ")


def test_the_memory_of_a_cell_is_limited_in_the_program(settings):
    command = [spelunk._program.program(), "repl", "a.md", "--set", "workspace.path=runs"]
    env = {**settings["env"], "PATH": os.environ["PATH"]}
    cells = "x = [0] * 200_000_000\nprint(6 * 7)\n"
    told = subprocess.run(command, input=cells, cwd=settings["directory"], env=env, capture_output=True, text=True)
    assert "MemoryError: the session exceeded 512 MB of memory (`limits.cell_memory_bytes_max`)" in told.stdout + told.stderr
    assert "42\n" in told.stdout and told.returncode == 0


def test_a_loop_that_is_closed_stops_its_run(engine):
    engine = engine(SLOW)
    loop = asyncio.new_event_loop()
    events = engine.astart("What is it?", "a.md", strategy="direct").__aiter__()
    assert loop.run_until_complete(events.__anext__()).type == "run.started"
    asyncio.run(until_sent(engine.server))
    # Nobody closes the iterator: the loop is gone as if it had crashed.
    loop.close()
    del events
    assert settled(engine) == "cancelled"


def rss():
    """The memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def n_of(kind):
    """How many open files (`fd`) or threads (`task`) this process has."""
    return len(os.listdir(f"/proc/self/{kind}"))


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc")
def test_memory_files_and_threads_do_not_grow_with_the_number_of_questions(engine):
    engine = engine("It is 42.")

    def ask(n):
        for _ in range(n):
            assert str(engine.ask("What is it?", "a.md", strategy="direct")) == "It is 42."

    ask(30)
    before, files, threads = rss(), n_of("fd"), n_of("task")
    ask(100)
    # `bench/python.py` asks 10,000 times. The numbers of idle connections and threads vary.
    assert rss() - before < 100 * 100_000
    assert n_of("fd") <= files + 10 and n_of("task") <= threads + 10
