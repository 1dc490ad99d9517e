"""Tests of the builder, without the network; with `--built DIR` also of its output.

    python3 eval/real/test_build.py
    python3 eval/real/test_build.py --built DIR
"""

import json
import re
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import build  # noqa: E402
import corpora  # noqa: E402
import extract  # noqa: E402
import model  # noqa: E402
import sources  # noqa: E402
import tasks_absent  # noqa: E402

BUILT = None

FIXTURE = extract.Folder("fixture", {
    "a.txt": "The lamp burns for\n   42 hours.\nThe lamp is red.\n",
    "b.txt": "Nothing here.\n",
    "t.csv": "name,size\nx,1\ny,5\nz,5\n",
    "c.log": "#fields\tts\tuid\n1.0\tA\n2.0\tB\n",
    "m.py": (
        "class Tin:\n"
        "    def open(self, force=3, *, how='slow'):\n"
        "        raise errors.Stuck('x')\n"
        "    def shake(self):\n"
        "        def inner():\n"
        "            self.open()\n"
        "        return inner\n"
        "def both(tin):\n"
        "    tin.open(1)\n"
        "class Can(Tin):\n"
        "    limit = 7\n"
    ),
})


class Extractors(unittest.TestCase):
    def test_a_fact_is_found_across_a_wrapped_line(self):
        self.assertEqual(extract.fact(FIXTURE, r"burns for (\d+) hours", "a.txt"), "42")

    def test_a_fact_that_is_missing_or_found_twice_or_elsewhere_stops_the_build(self):
        for pattern, path, n_places in [(r"burns for (\d+) days", "a.txt", 1), (r"The (lamp)", "a.txt", 1), (r"(Nothing)", "a.txt", 1)]:
            with self.assertRaises(sources.BuildError):
                extract.fact(FIXTURE, pattern, path, n_places)
        self.assertEqual(extract.fact(FIXTURE, r"The (lamp)", "a.txt", 2), "lamp")

    def test_a_tie_stops_the_build(self):
        rows = FIXTURE.rows("t.csv")
        with self.assertRaises(sources.BuildError):
            extract.best(rows, lambda row: int(row["size"]))
        self.assertEqual(extract.best(rows, lambda row: int(row["size"]), smallest=True)["name"], "x")
        with self.assertRaises(sources.BuildError):
            extract.most(["a", "b"])
        self.assertEqual(extract.most(["a", "b", "a"]), ("a", 2))

    def test_numbers_are_written_plainly(self):
        self.assertEqual([extract.number(7.0), extract.number(2.345, 2), extract.number(0.5), extract.number(12.0, 2)], ["7", "2.35", "0.5", "12"])

    def test_logs_with_tabs_have_rows(self):
        self.assertEqual(FIXTURE.zeek("c.log"), [{"ts": "1.0", "uid": "A"}, {"ts": "2.0", "uid": "B"}])

    def test_code_is_read_by_its_syntax(self):
        self.assertEqual(extract.defined_in(FIXTURE, "shake"), "m.py")
        self.assertEqual(extract.default_of(FIXTURE, "Tin.open", "force"), "3")
        self.assertEqual(extract.default_of(FIXTURE, "Tin.open", "how"), "'slow'")
        self.assertEqual(extract.callers(FIXTURE, "open"), ["Tin.shake.inner", "both"])
        self.assertEqual(extract.raised_by(FIXTURE, "Tin.open"), ["Stuck"])
        self.assertEqual(extract.subclasses(FIXTURE, "Tin"), ["Can"])
        self.assertEqual(extract.constant(FIXTURE, "m.py", "limit"), "7")

    def test_what_occurs_is_not_absent(self):
        self.assertEqual(tasks_absent.silence([r"green"])(FIXTURE), "absent")
        with self.assertRaises(sources.BuildError):
            tasks_absent.silence([r"green", r"lamp is"])(FIXTURE)

    def test_patterns_choose_files(self):
        self.assertTrue(sources.matches("docs/a/b.rst", ("docs/*.rst",)))
        self.assertFalse(sources.matches("docs/man/b.rst", ("docs/*.rst", "!docs/man/*")))


class Tasks(unittest.TestCase):
    tasks = build.every_task()

    def test_the_halves_have_the_same_mix_and_do_not_depend_on_the_order(self):
        half_of = model.halves(self.tasks)
        self.assertEqual(half_of, model.halves(self.tasks[::-1]))
        for group in model.KIND_OF_GROUP:
            counts = [sum(half_of[task.id] == half for task in self.tasks if task.group == group and not task.half) for half in model.HALVES]
            self.assertLessEqual(abs(counts[0] - counts[1]), 1, group)

    def test_a_task_that_names_its_half_moves_no_other_and_brings_nothing_to_the_sealed_half(self):
        half_of = model.halves(self.tasks)
        dealt = [task for task in self.tasks if not task.half]
        self.assertEqual(model.halves(dealt), {task.id: half_of[task.id] for task in dealt})
        named = [task for task in self.tasks if task.half]
        self.assertEqual({half_of[task.id] for task in named}, {"dev"})
        # Corpora and sources of the development half only are not in the sealed one.
        sealed = {task.corpus for task in self.tasks if half_of[task.id] == "sealed"}
        self.assertFalse(sealed & {task.corpus for task in named})
        self.assertFalse({corpora.CORPORA[one].source for one in sealed} & {corpora.CORPORA[task.corpus].source for task in named})

    def test_a_later_batch_moves_nothing(self):
        later = model.Task("docs", "later", "just-docs", "?", None, batch=2)
        before, after = model.halves(self.tasks), model.halves([*self.tasks, later])
        self.assertEqual({one: after[one] for one in before}, before)

    def test_there_are_enough_tasks_of_enough_sources_and_languages(self):
        used = {corpora.CORPORA[task.corpus].source for task in self.tasks}
        self.assertGreaterEqual(len(self.tasks), 150)
        self.assertGreaterEqual(len(used), 12)
        self.assertEqual(used, set(corpora.SOURCES))
        self.assertEqual({task.corpus for task in self.tasks}, set(corpora.CORPORA))
        foreign = sum(task.language != "en" for task in self.tasks) / len(self.tasks)
        self.assertTrue(0.12 <= foreign <= 0.25, foreign)

    def test_the_readme_counts_the_tasks(self):
        text = (Path(__file__).resolve().parent / "README.md").read_text(encoding="utf-8")
        half_of = model.halves(self.tasks)
        self.assertIn(f"\n{len(self.tasks)} tasks about {len(corpora.CORPORA)} corpora from {len(corpora.SOURCES)} sources", text)
        for variant, kind in {(task.variant, model.KIND_OF_GROUP[task.group]) for task in self.tasks}:
            dev, sealed = (sum(half_of[task.id] == half for task in self.tasks if task.variant == variant) for half in model.HALVES)
            self.assertIn(f"| `{variant}` | `{kind}` | {dev} | {sealed} |", text)

    def test_a_question_keeps_its_words_in_every_wording(self):
        for task in self.tasks:
            wordings = {model.worded(task, seed) for seed in range(20)}
            self.assertTrue(all(one.startswith(task.question) for one in wordings))
            self.assertEqual(len(wordings) == 1, task.plain, task.id)


class Built(unittest.TestCase):
    def setUp(self):
        if BUILT is None:
            self.skipTest("name a built set with `--built DIR`")

    def each(self):
        for half in model.HALVES:
            if not (BUILT / half).exists():
                continue
            rows = [json.loads(line) for line in (BUILT / half / "tasks.jsonl").read_text(encoding="utf-8").splitlines()]
            checks = [json.loads(line) for line in (BUILT / half / "checks.jsonl").read_text(encoding="utf-8").splitlines()]
            self.assertEqual([row["id"] for row in rows], [check["id"] for check in checks])
            for row, check in zip(rows, checks, strict=True):
                # As bytes, because some files have carriage returns.
                yield row, check, {path: (BUILT / half / path).read_bytes().decode() for path in row["files"]}

    def test_every_task_has_a_truth_and_its_files(self):
        for row, _, texts in self.each():
            answers = row["answer"] if isinstance(row["answer"], list) else [row["answer"]]
            self.assertTrue(answers and all(one.strip() for one in answers), row["id"])
            self.assertTrue(row["question"].strip(), row["id"])
            self.assertEqual(row["bytes"], sum(len(text.encode()) for text in texts.values()), row["id"])
            if row["scoring"]["how"] == "number":
                float(row["answer"])

    def test_a_fact_is_where_it_was_found_and_nowhere_else(self):
        for row, check, texts in self.each():
            if check["pattern"]:
                pattern = extract.loose(check["pattern"])
                found = [path for path, text in texts.items() for _ in pattern.finditer(text)]
                self.assertEqual(found, [f"{row['id']}/{check['path']}"] * check["n_places"])

    def test_what_is_absent_does_not_occur(self):
        for row, check, texts in self.each():
            self.assertEqual(row["kind"] == "absent", bool(check["never"]))
            for pattern in check["never"]:
                self.assertIsNone(re.search(pattern, "\n".join(texts.values())), row["id"])


if __name__ == "__main__":
    if "--built" in sys.argv:
        at = sys.argv.index("--built")
        BUILT = Path(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    unittest.main()
