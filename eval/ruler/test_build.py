"""Tests that the tasks are correct, without a download: `python3 eval/ruler/test_build.py`."""

import collections
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import build


class NoDownload(build.Texts):
    def __init__(self, _cache):
        letters = "abcdefghij"
        self.words = ["".join(word) for word in itertools.islice(itertools.permutations(letters, 6), 4_000)]
        self.book = ". ".join(" ".join(self.words[at : at + 9]) for at in range(0, 900, 9))


TEXTS = NoDownload(None)
N_BYTES = 64_000


def made(name):
    return build.TASKS[name][1](random.Random(f"1 {name}"), TEXTS, N_BYTES)


class Tasks(unittest.TestCase):
    def test_needles_are_in_the_text_once_for_each_value(self):
        for name in build.TASKS:
            if not name.startswith("niah"):
                continue
            text, question, answer = made(name)
            keys = re.search(r"for (.*) that the text", question)[1].split(", ")
            found = [value for key in keys for value in re.findall(rf"for {key} is ([0-9a-f-]+)\.", text)]
            self.assertEqual(sorted(found), sorted(answer), name)

    def test_variables_follow_from_assignments(self):
        text, question, answer = made("vt")
        value = re.search(r"value (\d+)", question)[1]
        holds = {}
        for name, source in re.findall(r"VAR (\w+) = (?:VAR )?(\w+)", text):
            holds[name] = holds.get(source, source)
        self.assertEqual({name for name, held in holds.items() if held == value}, set(answer))
        self.assertEqual(len(answer), 5)

    def test_words_are_the_most_common(self):
        text, _, answer = made("cwe")
        counts = collections.Counter(re.findall(r"\d+\. (\w+)", text))
        self.assertEqual({word for word, _ in counts.most_common(10)}, set(answer))
        self.assertEqual(sorted(set(counts.values())), [3, 30])
        text, _, answer = made("fwe")
        self.assertEqual([word for word, _ in collections.Counter(re.findall(r"[a-z]+", text)).most_common(3)], answer)

    def test_sizes_are_as_requested(self):
        for name in build.TASKS:
            self.assertAlmostEqual(len(made(name)[0]) / N_BYTES, 1.0, delta=0.1, msg=name)

    def test_the_same_seed_writes_the_same_files(self):
        original, build.Texts = build.Texts, NoDownload
        try:
            with tempfile.TemporaryDirectory() as folder:
                for name in ("a", "b"):
                    build.build(Path(folder) / name, [1_000, 2_000], 1, 7, None)
                self.assertEqual(*((Path(folder) / name / "tasks.jsonl").read_text() for name in ("a", "b")))
                rows = [json.loads(line) for line in (Path(folder) / "a" / "tasks.jsonl").read_text().splitlines()]
                self.assertEqual(len(rows), 22)
                for row in rows:
                    same = [(Path(folder) / name / row["files"][0]).read_bytes() for name in ("a", "b")]
                    self.assertEqual(*same)
        finally:
            build.Texts = original

    def test_the_order_of_sets_does_not_matter(self):
        code = "import test_build, hashlib; print(hashlib.sha256(repr([test_build.made(n) for n in test_build.build.TASKS]).encode()).hexdigest())"
        here = str(Path(__file__).resolve().parent)
        made = {
            subprocess.run([sys.executable, "-c", code], cwd=here, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
            for seed in "123"
        }
        self.assertEqual(len(made), 1)


if __name__ == "__main__":
    unittest.main()
