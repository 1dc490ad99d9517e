"""Builds the evaluation set from real material: fetches the sources by name, computes the truths and writes the tasks.

    python3 eval/real/build.py --out DIR [--half dev|sealed|both] [--seed N] [--cache DIR]

`DIR/dev` and `DIR/sealed` are then folders for `spelunk eval run --tasks`.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import corpora  # noqa: E402
import model  # noqa: E402
from sources import BuildError  # noqa: E402


def every_task():
    """The tasks of all groups."""
    import tasks_absent
    import tasks_books
    import tasks_code
    import tasks_docs
    import tasks_hops
    import tasks_logs
    import tasks_more_absent
    import tasks_more_logs
    import tasks_more_tables
    import tasks_tables

    tasks = model.Set()
    first = (tasks_docs, tasks_books, tasks_logs, tasks_tables, tasks_code, tasks_absent, tasks_hops)
    for part in (*first, tasks_more_logs, tasks_more_tables, tasks_more_absent):
        part.add_to(tasks)
    return tasks.tasks


def place(folder, root):
    """Writes the files of a corpus once."""
    for path, text in folder.files.items():
        target = root / folder.name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")


def link(folder, root, target):
    """Gives a task its own folder with the files of its corpus, as hard links if possible."""
    for path in folder.files:
        there = target / path
        there.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(root / folder.name / path, there)
        except OSError:
            shutil.copyfile(root / folder.name / path, there)


def build(out, wanted, seed, cache, tasks):
    """Writes the wanted halves. Returns the number of tasks per half and group."""
    half_of = model.halves(tasks)
    folders, failed, problems, counts = {}, set(), [], {}
    lines = {half: [] for half in wanted}
    checks = {half: [] for half in wanted}
    for task in tasks:
        half = half_of[task.id]
        if half not in wanted or task.corpus in failed:
            continue
        try:
            if task.corpus not in folders:
                folders[task.corpus] = corpora.load(task.corpus, cache)
                place(folders[task.corpus], out / "corpora")
        except BuildError as error:
            failed.add(task.corpus)
            problems.append(str(error))
            continue
        folder = folders[task.corpus]
        try:
            answer = task.truth(folder)
            if not answer:
                raise BuildError("the truth is empty")
        except BuildError as error:
            problems.append(f"{task.id}: {error}")
            continue
        link(folder, out / "corpora", out / half / task.id)
        lines[half].append(model.line(task, seed, answer, folder))
        checks[half].append({"id": task.id, "pattern": task.pattern, "path": task.path, "n_places": task.n_places, "never": task.never})
        counts[half, task.group] = counts.get((half, task.group), 0) + 1
    if problems:
        raise BuildError("\n".join(problems))
    for half in wanted:
        for name, rows in (("checks.jsonl", checks[half]), ("tasks.jsonl", lines[half])):
            text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
            (out / half / name).write_text(text, encoding="utf-8")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="a folder that does not exist yet")
    parser.add_argument("--half", choices=(*model.HALVES, "both"), default="both")
    parser.add_argument("--seed", type=int, default=1, help="chooses how the answer's form is asked for")
    parser.add_argument("--cache", type=Path, help="where downloads are kept; OUT/cache unless named")
    options = parser.parse_args()
    if options.out.exists() and any(one.name != "cache" for one in options.out.iterdir()):
        raise SystemExit(f"error: `{options.out}` is not empty\n\nhint: name another folder with `--out`, or remove that one")
    wanted = model.HALVES if options.half == "both" else (options.half,)
    try:
        cache = (options.cache or options.out / "cache").resolve()
        counts = build(options.out, wanted, options.seed, cache, every_task())
    except BuildError as error:
        raise SystemExit(f"error: {error}") from None
    for half in wanted:
        groups = ", ".join(f"{group} {counts.get((half, group), 0)}" for group in model.KIND_OF_GROUP)
        print(f"{half}: {sum(n for (one, _), n in counts.items() if one == half)} tasks ({groups})")


if __name__ == "__main__":
    main()
