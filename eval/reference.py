"""Runs evaluation tasks through another engine (package `rlms`, the reference, or `minrlm`), for a fair comparison.

    python3 reference.py --tasks DIR/tasks.jsonl --base-url http://127.0.0.1:8000/v1 \\
        --model local --out reference.jsonl --parallel 8 --task-limit-s 120

Every trial runs in a separate process: the engine runs the model's code with `exec` in its own
process, and only a process can be killed at its time limit. Token counts come from the server's
`/usage` if it has one (the API key names the trial), otherwise from the engine. An interrupted
run can be continued: trials that are in the output are skipped.
"""

import argparse
import concurrent.futures
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

ANSWER_CHARS_MAX = 20_000
CONTEXT_BYTES_MAX = 256 << 20
GRACE_S = 10
OUTAGE_SIGNS = ("APIConnectionError", "Connection error", "ConnectError")


def read_tasks(path):
    """The tasks of a file, checked for the fields that this script needs."""
    tasks = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            task = json.loads(line)
            good = isinstance(task["id"], str) and isinstance(task["question"], str) and isinstance(task["files"], list)
        except (ValueError, KeyError, TypeError) as error:
            raise SystemExit(f"{path}, line {number}: not a task ({error})") from None
        if not good:
            raise SystemExit(f"{path}, line {number}: id, question or files has the wrong type")
        tasks.append(task)
    return tasks


def read_done(path):
    """The trials that are already done. Removes a torn last line from the file."""
    if not path.exists():
        return set()
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        path.write_bytes(whole)
    done = set()
    for line in whole.decode("utf-8", "replace").splitlines():
        try:
            trial = json.loads(line)
            key = (trial["task"], trial["model"], trial["repeat"])
            done.discard(key) if trial["status"] == "outage" else done.add(key)
        except (ValueError, KeyError, TypeError):
            continue
    return done


def context_of(root, names):
    """The text of a task: a single file as it is, several with headings that contain their paths."""
    paths = []
    for name in names:
        path = root / name
        inside = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        paths += [(p, p.relative_to(root).as_posix()) for p in inside]
    if sum(p.stat().st_size for p, _ in paths) > CONTEXT_BYTES_MAX:
        raise ValueError(f"the files are larger than {CONTEXT_BYTES_MAX} bytes")
    texts = [(name, p.read_text(encoding="utf-8", errors="replace")) for p, name in paths]
    if len(texts) == 1:
        return texts[0][1]
    return "\n\n".join(f"===== {name} =====\n{text}" for name, text in texts)


def minrlm_trial(spec):
    """Runs a trial of minrlm. Returns the reply, calls, input tokens and output tokens."""
    from minrlm import RLM

    sampling = spec["sampling"]
    engine = RLM(
        model=spec["model"],
        base_url=spec["base_url"],
        api_key=spec["key"],
        max_time_seconds=int(spec["limit_s"]),
        max_output_tokens=sampling["max_tokens"],
        temperature=sampling.get("temperature", 0.0),
    )
    done = engine.completion(spec["question"], context=spec["context"])
    return done.response, done.iterations, done.input_tokens, done.output_tokens


def rlms_trial(spec):
    """Runs a trial of the reference engine. Returns the reply, calls, input tokens and output tokens."""
    from rlm import RLM

    engine = RLM(
        backend="openai",
        backend_kwargs={
            "model_name": spec["model"],
            "base_url": spec["base_url"],
            "api_key": spec["key"],
            "timeout": spec["limit_s"],
            "max_retries": 1,
        },
        environment="local",
        max_depth=spec["depth"],
        max_iterations=spec["iterations"],
        max_timeout=spec["limit_s"],
        compaction=spec["compaction"],
        sampling_args=spec["sampling"],
        verbose=False,
    )
    done = engine.completion(spec["context"], root_prompt=spec["question"])
    usage = done.usage_summary
    calls = sum(each.total_calls for each in usage.model_usage_summaries.values())
    return done.response, calls, usage.total_input_tokens, usage.total_output_tokens


TRIALS = {"rlms": rlms_trial, "minrlm": minrlm_trial}


def one(spec):
    """Runs one trial in this process and returns its result."""
    result = {"answer": "", "status": "answered"}
    began = time.monotonic()
    try:
        answer, result["calls"], result["tokens_in"], result["tokens_out"] = TRIALS[spec["engine"]](spec)
        result["answer"] = answer if isinstance(answer, str) else str(answer)
    except Exception as error:  # any failure of the engine is a result
        name = type(error).__name__
        text = f"{name}: {error}"[:2000]
        limit = name in ("TimeoutExceededError", "TokenLimitExceededError", "BudgetExceededError", "ErrorThresholdExceededError")
        status = "partial" if limit else "outage" if any(sign in text for sign in OUTAGE_SIGNS) else "failed"
        result = {"answer": str(getattr(error, "partial_answer", None) or ""), "status": status, "error": text}
    # Excludes the start of this process, which is not the engine's time.
    result["wall_ms"] = int((time.monotonic() - began) * 1000)
    return result


def worker():
    """The child process: reads a specification from standard input, writes the result to the file it names."""
    spec = json.loads(sys.stdin.read())
    result = one(spec)
    Path(spec["result"]).write_text(json.dumps(result), encoding="utf-8")
    # Threads that the model's code left running must not keep this process alive.
    os._exit(0)


def server_usage(base_url, key):
    """The server's counts for a key, or `None` if it has none."""
    url = base_url.rstrip("/").removesuffix("/v1") + "/usage?key=" + urllib.parse.quote(key)
    try:
        with urllib.request.urlopen(url, timeout=20) as reply:
            sums = json.loads(reply.read())
        return {"tokens_in": sums["prompt_tokens"], "tokens_out": sums["completion_tokens"], "calls": sums["calls"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


class Runner:
    """Runs the trials of one run."""

    def __init__(self, args):
        self.args = args
        self.root = args.tasks.resolve().parent
        self.deadline = time.monotonic() + args.wall_limit_s if args.wall_limit_s else None
        self.lock = threading.Lock()
        self.name = f"{int(time.time()):x}"
        self.finished = 0

    def left_s(self):
        return float("inf") if self.deadline is None else self.deadline - time.monotonic()

    def trial(self, task, repeat):
        """Runs one trial. Returns `None` if the run's time is over."""
        if self.left_s() < 20:
            return None
        args = self.args
        key = f"{args.engine}-{self.name}-{task['id']}-{repeat}"
        limit_s = min(args.task_limit_s, self.left_s() - GRACE_S)
        began = time.monotonic()
        result = self._run(task, repeat, key, limit_s)
        wall_ms = result.get("wall_ms") or int((time.monotonic() - began) * 1000)
        counted = server_usage(args.base_url, key) or {}
        line = {
            "engine": args.engine, "task": task["id"], "kind": task.get("kind", ""), "tokens": task.get("tokens", 0),
            "strategy": args.engine, "model": args.model, "repeat": repeat, "answer": result["answer"][:ANSWER_CHARS_MAX],
            "tokens_in": 0, "tokens_out": 0, "calls": 0, "wall_ms": wall_ms, "status": result["status"],
        }
        for name in ("tokens_in", "tokens_out", "calls"):
            line[name] = counted.get(name, result.get(name, 0))
        if result.get("error"):
            line["error"] = result["error"]
        return line

    def _run(self, task, repeat, key, limit_s):
        args = self.args
        sampling = {"max_tokens": args.max_tokens, "temperature": args.temperature, "seed": args.seed + repeat}
        folder = Path(args.out).resolve().parent
        result_path = folder / f".{key.replace('/', '_')}.result"
        try:
            spec = {
                "engine": args.engine, "model": args.model, "base_url": args.base_url, "key": key, "limit_s": limit_s, "result": str(result_path),
                "depth": args.depth, "iterations": args.iterations, "compaction": args.compaction,
                "sampling": {name: value for name, value in sampling.items() if value is not None},
                "question": task["question"], "context": context_of(self.root, task["files"]),
            }
        except (OSError, ValueError) as error:
            return {"answer": "", "status": "failed", "error": f"the task's files: {error}"}
        child = subprocess.Popen(
            [sys.executable, os.path.abspath(__file__), "--worker"],
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True,
        )
        try:
            _, noise = child.communicate(json.dumps(spec).encode(), timeout=limit_s + GRACE_S)
            if result_path.exists():
                return json.loads(result_path.read_text(encoding="utf-8"))
            tail = noise.decode("utf-8", "replace")[-500:]
            return {"answer": "", "status": "failed", "error": f"the engine's process ended ({child.returncode}): {tail}"}
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            return {"answer": "", "status": "partial", "error": f"stopped after {limit_s + GRACE_S:.0f} s"}
        finally:
            result_path.unlink(missing_ok=True)

    def run(self):
        args = self.args
        done = read_done(args.out)
        plan = [(t, r) for r in range(args.repeats) for t in read_tasks(args.tasks)]
        if args.kind:
            plan = [(t, r) for t, r in plan if t.get("kind") in args.kind]
        todo = [(t, r) for t, r in plan if (t["id"], args.model, r) not in done]
        print(f"{len(plan)} trials, {len(plan) - len(todo)} already made", flush=True)
        with open(args.out, "a", encoding="utf-8") as out, concurrent.futures.ThreadPoolExecutor(args.parallel) as pool:
            for future in concurrent.futures.as_completed([pool.submit(self.trial, t, r) for t, r in todo]):
                line = future.result()
                if line is None:
                    continue
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
                out.flush()
                self.finished += 1
                shown = line["answer"].strip().replace("\n", " ")[-60:]
                print(
                    f"{self.finished}/{len(todo)} {line['task']} {line['status']} {line['wall_ms'] / 1000:.1f} s, "
                    f"{line['calls']} calls, {line['tokens_in']}+{line['tokens_out']} tokens: {shown!r}",
                    flush=True,
                )
        left = len(todo) - self.finished
        print(f"done; {left} trials were left for another run" if left else "done", flush=True)


def main():
    if sys.argv[1:] == ["--worker"]:
        worker()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", type=Path, required=True, help="folder of tasks, or its tasks.jsonl")
    parser.add_argument("--engine", choices=TRIALS, default="rlms")
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", default="local")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parallel", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--kind", action="append", help="only this kind of task; may be repeated")
    parser.add_argument("--task-limit-s", type=float, default=120)
    parser.add_argument("--wall-limit-s", type=float, help="begin no trial that could end after this time")
    parser.add_argument("--max-tokens", type=int, default=2048, help="per reply of the model")
    parser.add_argument("--temperature", type=float, help="default: the server's")
    parser.add_argument("--seed", type=int, default=1, help="of the first repeat")
    parser.add_argument("--iterations", type=int, default=30, help="the engine's own default")
    parser.add_argument("--depth", type=int, default=1, help="the engine's own default")
    parser.add_argument("--compaction", action="store_true", help="let the engine shorten its history")
    args = parser.parse_args()
    if args.tasks.is_dir():
        args.tasks = args.tasks / "tasks.jsonl"
    Runner(args).run()


if __name__ == "__main__":
    main()
