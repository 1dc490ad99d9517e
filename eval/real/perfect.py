"""Writes the truths of a built half as if an engine had answered them, in several wordings, to test the scorer.

    python3 eval/real/perfect.py --tasks DIR/dev --out perfect.jsonl
    spelunk eval report perfect.jsonl --tasks DIR/dev --out perfect.md

Any score below 1.00 in the report is a weakness of the scorer, not of an engine.
"""

import argparse
import json
from pathlib import Path

GIVEN = {
    "bare": "{}",
    "marked": "The files are clear about it.\n\nAnswer: {}",
    "json": '{{"answer": "{}"}}',
    "tagged": "<answer>{}</answer>",
    "short": "It is {}.",
    "prose": "According to what is written in these files, the value that you are looking for is {}.",
}
DENIED = {
    "en": "The documents do not say.",
    "de": "Die Dokumente sagen das nicht.",
    "fr": "Les documents ne le disent pas.",
    "es": "Los documentos no lo dicen.",
    "zh": "文档中没有提到。",
    "ja": "文書には書かれていません。",
}


def answers(task):
    """Name, repeat and text of each perfect answer."""
    if task["scoring"]["how"] == "absent":
        # In English, and in the language of the question.
        return {("denied", 0, DENIED["en"]), ("denied-in-its-language", 0, DENIED[task["language"]])}
    truth = task["answer"] if isinstance(task["answer"], str) else ", ".join(task["answer"])
    given = {(name, 0, wording.format(truth)) for name, wording in GIVEN.items()}
    return given | {("alias", repeat, alias) for repeat, alias in enumerate(task["scoring"].get("accept", []))}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tasks", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with options.out.open("w", encoding="utf-8") as out:
        for line in (options.tasks / "tasks.jsonl").read_text(encoding="utf-8").splitlines():
            task = json.loads(line)
            for strategy, repeat, answer in sorted(answers(task)):
                trial = {"engine": "truth", "task": task["id"], "strategy": strategy, "model": "none", "repeat": repeat, "answer": answer, "status": "ok"}
                out.write(json.dumps(trial, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
