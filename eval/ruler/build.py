"""Builds the synthetic tasks of RULER (Hsieh et al., 2024) at several lengths, in the project's task format.

    python3 eval/ruler/build.py --out DIR [--tokens 16k,32k,64k,128k] [--count N] [--seed N] [--cache DIR]

`DIR` is then a folder for `spelunk eval run --tasks`. README.md explains what follows the published recipe and what does not.
"""

import argparse
import json
import random
import string
import sys
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "real"))

import corpora  # noqa: E402
from sources import BuildError  # noqa: E402

BYTES_PER_TOKEN = 4
NOISE = "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.\n"
BOOK = "moby-dick"


class Texts:
    """Words and filler text."""

    def __init__(self, cache):
        files = corpora.load(BOOK, cache).files
        # The file names do not sort in the order of the chapters, but any order works.
        self.book = "\n".join(files[name] for name in sorted(files))
        self.words = sorted({word for word in self.book.lower().split() if word.isascii() and word.isalpha() and 5 <= len(word) <= 10})

    def sentences(self, n_bytes):
        """Sentences from the start of the book, about `n_bytes` in total; the book repeats if it is too short."""
        found, size = [], 0
        while size < n_bytes:
            for sentence in self.book.replace("\n", " ").split(". "):
                found.append(sentence.strip() + ".")
                size += len(found[-1].encode()) + 1
                if size >= n_bytes:
                    break
        return found


def number(rng):
    return str(rng.randrange(1_000_000, 10_000_000))


def identifier(rng):
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def needle(key, value, kind):
    return f"The special {kind} for {key} is {value}."


def spread(rng, filler, needles):
    """Inserts the needles at random places in the filler, in order."""
    places = sorted(rng.sample(range(len(filler) + 1), len(needles)))
    out = list(filler)
    for place, one in reversed(list(zip(places, needles))):
        out.insert(place, one)
    return out


def retrieval(rng, texts, n_bytes, haystack, n_keys=1, n_values=1, n_queries=1, kind="number", key_kind="word"):
    """Needles in a haystack: `haystack` is noise, a book, or needles with other keys."""
    make = {"number": number, "identifier": identifier}[kind]
    make_key = (lambda: "-".join(rng.sample(texts.words, 2))) if key_kind == "word" else (lambda: identifier(rng))
    keys = []
    while len(keys) < max(n_keys, n_queries):
        key = make_key()
        if key not in keys:
            keys.append(key)
    values = {key: [make(rng) for _ in range(n_values)] for key in keys}
    needles = [needle(key, value, kind) for key in keys for value in values[key]]
    rng.shuffle(needles)
    n_filler = n_bytes - sum(len(one) + 1 for one in needles)
    if haystack == "noise":
        filler = [NOISE.strip()] * max(1, n_filler // len(NOISE))
    elif haystack == "book":
        filler = texts.sentences(n_filler)
    else:
        filler, size = [], 0
        while size < n_filler:
            filler.append(needle(make_key(), make(rng), kind))
            size += len(filler[-1]) + 1
    query_keys = keys[:n_queries]
    answer = [value for key in query_keys for value in values[key]]
    if len(answer) == 1:
        question = f"What is the special {kind} for {query_keys[0]} that the text mentions?"
    else:
        question = f"What are all the special {kind}s for {', '.join(query_keys)} that the text mentions? Separate them by commas."
    return "\n".join(spread(rng, filler, needles)), question, answer


def tracking(rng, texts, n_bytes, n_hops=4):
    """A chain of assignments in noise: all variables that have the first one's value."""
    names = ["".join(rng.choices(string.ascii_uppercase, k=5)) for _ in range(n_hops + 1)]
    value = str(rng.randrange(10_000, 100_000))
    steps = [f"VAR {names[0]} = {value}"] + [f"VAR {name} = VAR {before}" for before, name in zip(names, names[1:])]
    n_filler = n_bytes - sum(len(step) + 1 for step in steps)
    filler = [NOISE.strip()] * max(len(steps), n_filler // len(NOISE))
    question = f"Find all variables that are assigned the value {value} in the text, directly or through another variable. Separate them by commas."
    return "\n".join(spread(rng, filler, steps)), question, names


def common_words(rng, texts, n_bytes, n_common=10, times_common=30, times_others=3):
    """A numbered list of words: the ten that occur thirty times, among others that occur three times."""
    common = rng.sample(texts.words, n_common)
    pool = [word for word in texts.words if word not in common]
    rng.shuffle(pool)
    rows, size = common * times_common, sum(len(word) + 7 for word in common) * times_common
    while size < n_bytes and pool:
        word = pool.pop()
        rows += [word] * times_others
        size += (len(word) + 7) * times_others
    rng.shuffle(rows)
    text = "\n".join(f"{number}. {word}" for number, word in enumerate(rows, 1))
    return text, f"What are the {n_common} most common words in the list? Separate them by commas.", common


def frequent_words(rng, texts, n_bytes, alpha=2.0, n_words=2_000):
    """Coded words whose frequency falls with their rank to the power of `alpha`: the three most frequent."""
    words = []
    while len(words) < n_words:
        word = "".join(rng.choices(string.ascii_lowercase, k=6))
        if word not in words:
            words.append(word)
    weights = [1 / rank**alpha for rank in range(1, n_words + 1)]
    rows = rng.choices(words, weights, k=max(200, n_bytes * 2 // 19))
    counts = sorted(((rows.count(word), word) for word in words[:8]), reverse=True)
    if len({count for count, _ in counts[:4]}) < 4:
        raise BuildError("two of the most frequent words are equally frequent")
    text = " ".join(word if rng.random() < 0.5 else f"{word} ...." for word in rows)
    return text, "Ignore the dots. What are the three most frequent words in the text? Separate them by commas.", [word for _, word in counts[:3]]


# Name, kind of the project's task format, and how it is made: the eleven synthetic tasks with their published parameters.
TASKS = {
    "niah-single-1": ("needle", lambda *a: retrieval(*a, haystack="noise")),
    "niah-single-2": ("needle", lambda *a: retrieval(*a, haystack="book")),
    "niah-single-3": ("needle", lambda *a: retrieval(*a, haystack="book", kind="identifier")),
    "niah-multikey-1": ("needle", lambda *a: retrieval(*a, haystack="book", n_keys=4)),
    "niah-multikey-2": ("needle", lambda *a: retrieval(*a, haystack="needles")),
    "niah-multikey-3": ("needle", lambda *a: retrieval(*a, haystack="needles", kind="identifier", key_kind="identifier")),
    "niah-multivalue": ("needle", lambda *a: retrieval(*a, haystack="book", n_values=4)),
    "niah-multiquery": ("needle", lambda *a: retrieval(*a, haystack="book", n_queries=4)),
    "vt": ("hops", tracking),
    "cwe": ("labels", common_words),
    "fwe": ("labels", frequent_words),
}


def build(out, lengths, count, seed, cache):
    texts = Texts(cache)
    lines = []
    for name, (kind, make) in TASKS.items():
        for tokens in lengths:
            for n in range(count):
                rng = random.Random(f"{seed} {name} {tokens} {n}")
                text, question, answer = make(rng, texts, tokens * BYTES_PER_TOKEN)
                one = f"{name}-{tokens // 1000}k-{n}"
                (out / one).mkdir(parents=True)
                (out / one / "text.txt").write_text(text + "\n", encoding="utf-8")
                how, answer = ("exact", answer[0]) if len(answer) == 1 else ("set", answer)
                row = {"id": one, "kind": kind, "variant": name, "seed": seed, "tokens": tokens, "question": question,
                       "answer": answer, "scoring": {"how": how}, "files": [f"{one}/text.txt"]}
                lines.append(json.dumps(row) + "\n")
    (out / "tasks.jsonl").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def length(word):
    if not word.endswith("k") or not word[:-1].isdigit() or not 1 <= int(word[:-1]) <= 1000:
        raise argparse.ArgumentTypeError(f"`{word}` is not a length such as 16k")
    return int(word[:-1]) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="a folder that does not exist yet")
    parser.add_argument("--tokens", type=lambda words: [length(word) for word in words.split(",")], default="16k,32k,64k,128k")
    parser.add_argument("--count", type=int, default=1, help="tasks of each kind and length")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cache", type=Path, help="where the download is kept; OUT/cache unless named")
    options = parser.parse_args()
    if options.out.exists() and any(one.name != "cache" for one in options.out.iterdir()):
        raise SystemExit(f"error: `{options.out}` is not empty\n\nhint: name another folder with `--out`, or remove that one")
    try:
        n = build(options.out, options.tokens, options.count, options.seed, (options.cache or options.out / "cache").resolve())
    except BuildError as error:
        raise SystemExit(f"error: {error}") from None
    print(f"{n} tasks in {options.out}")


if __name__ == "__main__":
    main()
