"""Measures `ask` without a model: for how many questions its output contains the answering sentence.

    python3 eval/passages/measure.py target/release/spelunk

The trees in `questions.tsv` are documentation of pinned packages, fetched by name. A seeded script chose the sentences,
and each question was written for its sentence before anything was measured. The two other sets are those of
`crates/spelunk-index/benches`: their truth is a section, in which an emphasised or listed sentence must begin (the JSON
contains the passages that are printed, in the same order). Output above 1,500 characters counts as a failure.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / "real"))
from sources import Source, fetch, members  # noqa: E402

PRINTED_MAX = 1500
SOURCES = {
    "flask": Source("pip", "flask", "3.1.2", "bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87", "BSD-3-Clause"),
    "starlette": Source("pip", "starlette", "0.50.0", "a2a17b22203254bcbc2e1f926d2d55f3f9497f769416b3190768befe598fa3ca", "BSD-3-Clause"),
    "attrs": Source("pip", "attrs", "25.4.0", "16d5969b87f0859ef33a48b35d55ac1be6e42ae49d5e853b597db70c35c57e11", "MIT"),
}


def index(program, folder):
    """Runs a search, which stores its index in the workspace, so that questions need not build one."""
    subprocess.run([program, "search", "-q", "words", "docs"], cwd=folder, capture_output=True, timeout=600)


def ask(program, folder, question, *options):
    command = [program, "ask", "--model", "none", "-q", *options, "--", question, "docs"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120).stdout


def plain(text):
    """Only the words, because the program adds emphasis, indentation and line breaks."""
    return " ".join(re.sub(r"\*\*", "", text).split())


def of_trees(program, folder):
    rows = [line.split("\t") for line in (HERE / "questions.tsv").read_text().splitlines() if not line.startswith("#")]
    for tree, source in SOURCES.items():
        for name, data in members(source, fetch(source, folder / "cache"), ("docs/*.rst", "docs/*.md")).items():
            path = folder / tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        text = [plain(path.read_text()) for path in (folder / tree).rglob("*.*") if path.is_file()]
        own = [row for row in rows if row[0] == tree]
        for _, question, sentence in own:
            if not any(plain(sentence) in one for one in text):
                sys.exit(f"{tree}: the answer to `{question}` is not in the documentation")
        index(program, folder / tree)
        printed = [ask(program, folder / tree, question) for _, question, _ in own]
        found = [plain(row[2]) in plain(text) and len(text) <= PRINTED_MAX for row, text in zip(own, printed)]
        yield tree, found, max(map(len, printed))
        if "-v" in sys.argv:
            for row, is_found in zip(own, found):
                print(" " if is_found else "✗", row[1])


def of_sections(program, folder, name, kind):
    bench = ROOT / "crates/spelunk-index/benches" / name
    (folder / name).mkdir(exist_ok=True)
    if not (folder / name / "docs").exists():
        shutil.copytree(bench / "docs", folder / name / "docs")
    rows = [line.split("\t") for line in (bench / "queries.tsv").read_text().splitlines() if not line.startswith("#")]
    index(program, folder / name)
    found = []
    for _, question, document, first, last in [row for row in rows if row[0] == kind]:
        passages = json.loads(ask(program, folder / name, question, "--json") or "{}").get("passages", [])
        inside = [p["document"].removeprefix("docs/") == document and int(first) <= p["line"] <= int(last) for p in passages]
        found.append(any(inside))
    return found


def main():
    program = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        every = []
        for tree, found, longest in of_trees(program, folder):
            every += found
            print(f"{tree}: {sum(found)} of {len(found)}, longest output {longest} characters", flush=True)
        print(f"sentences printed: {sum(every)} of {len(every)}, {100 * sum(every) / len(every):.0f} %", flush=True)
        for name in [] if "--trees" in sys.argv else ["held-out", "corpus"]:
            for kind in ["words", "meaning"]:
                found = of_sections(program, folder, name, kind)
                print(f"{name}, {kind}: {sum(found)} of {len(found)}, {100 * sum(found) / len(found):.1f} %", flush=True)


if __name__ == "__main__":
    main()
