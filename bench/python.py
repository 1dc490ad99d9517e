#!/usr/bin/env python3
"""Measures the Python package: the time of its import, its overhead in an `ask` beyond the engine's own calls, the time of a
session for dspy's code, and the memory of many questions. Needs the package (`cargo xtask wheel`) and the scripted model server:

    cargo build -p spelunk-testkit --example model_server
    MODEL_SERVER=target/debug/examples/model_server python bench/python.py [ASKS]

With ASKS (such as 10000), asks that many questions in a loop and prints memory, open files and threads ten times.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import spelunk


def seconds(work, n):
    """The median of n measurements."""
    taken = []
    for _ in range(n):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def import_seconds(statement):
    # CPU time, because other programs use the machine too.
    program = f"import time; began = time.process_time(); {statement}; print(time.process_time() - began)"
    runs = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(15)]
    return statistics.median(runs)


class Timed:
    """A native object whose methods are timed."""

    def __init__(self, native, spent):
        self._native, self._spent = native, spent

    def __getattr__(self, name):
        value = getattr(self._native, name)
        if not callable(value):
            return value

        def call(*arguments):
            began = time.perf_counter()
            result = value(*arguments)
            self._spent.append(time.perf_counter() - began)
            return Timed(result, self._spent) if name == "start" else result

        return call


def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def files_and_threads():
    """The numbers of open files and threads of this process."""
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def main():
    bare = import_seconds("pass")
    print(f"import spelunk: {(import_seconds('import spelunk') - bare) * 1e3:.1f} ms (goal: 50)")
    server = subprocess.Popen([os.environ["MODEL_SERVER"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server.stdin.write(json.dumps([{"contains": "", "reply": "It is 42."}]) + "\n")
    server.stdin.flush()
    url = server.stdout.readline().strip()
    with tempfile.TemporaryDirectory() as folder:
        env = {"HOME": folder, "XDG_STATE_HOME": folder}
        engine = spelunk.Spelunk("openai/scripted", base_url=url, isolated=True, workspace=f"{folder}/runs", env=env)

        def ask():
            assert str(engine.ask("What is it?", text="The magic number is 42.", strategy="direct")) == "It is 42."

        ask()
        totals, overheads = [], []
        native = engine._native()
        for _ in range(50):
            spent = []
            engine._native = lambda: Timed(native, spent)
            totals.append(seconds(ask, 1))
            overheads.append(totals[-1] - sum(spent))
        del engine._native
        overhead, total = statistics.median(overheads), statistics.median(totals)
        print(f"ask: {total * 1e3:.2f} ms, of which {overhead * 1e3:.3f} ms are Python's, {overhead / total:.1%} (goal: 1 ms)")

        def session():
            native.session().run("x = 1", lambda calls: [], lambda value: value)

        session()
        print(f"a session with one cell: {seconds(session, 30) * 1e3:.1f} ms")
        if len(sys.argv) > 1:
            n_asks = int(sys.argv[1])
            for n in range(1, n_asks + 1):
                ask()
                if n % max(n_asks // 10, 1) == 0:
                    files, threads = files_and_threads()
                    print(f"after {n} questions: {rss() / 1e6:.1f} MB, {files} files, {threads} threads", flush=True)
    server.stdin.close()
    server.wait(10)


if __name__ == "__main__":
    main()
