"""Tasks as written by hand, and how each gets its half, its wording and its line of the task file."""

import hashlib
from dataclasses import dataclass, field

from sources import BuildError

HALVES = ("dev", "sealed")

# The kinds of the project's task format; the group is this set's own name, from which `variant` is made.
KIND_OF_GROUP = {
    "docs": "needle",
    "books": "needle",
    "logs": "logs",
    "tables": "table",
    "code": "code",
    "absent": "absent",
    "hops": "hops",
}

# Requests for a form of the answer; `{noun}` is what the task calls its answer. Many questions request none.
FORMS = {
    "en": [
        "",
        "",
        "",
        "",
        "Reply with the {noun} only.",
        "One line is enough.",
        "Please finish with `Answer: …` on a separate line.",
        "Return it as JSON, like {{\"answer\": …}}.",
        "I only need the {noun}.",
        "Wrap the {noun} in <answer></answer>.",
        "Say it in one short sentence.",
        "Where does it say so? Put the {noun} on the last line.",
    ],
    "de": ["", "", "Bitte nur die Antwort, ohne Erklärung.", "Schreib am Ende eine Zeile `Answer: …`."],
    "fr": ["", "", "Réponds par la valeur seule.", "Termine par une ligne `Answer: …`."],
    "es": ["", "", "Responde solo con el dato.", "Termina con una línea `Answer: …`."],
    "zh": ["", "", "只给出答案即可。", "请在最后一行写 `Answer: …`。"],
    "ja": ["", "", "答えだけを書いてください。", "最後の行に `Answer: …` と書いてください。"],
}

# What to do if the text does not contain the answer. Added to tasks with and without an answer alike.
SILENT = {
    "en": ["", "", "", "If the files don't say, tell me so.", "Don't guess: if it isn't in there, I want to know that."],
    "de": ["", "", "Falls es dort nicht steht, sag das bitte."],
    "fr": ["", "", "Si ce n'est pas dans les fichiers, dis-le."],
    "es": ["", "", "Si los archivos no lo dicen, dímelo."],
    "zh": ["", "", "如果文件里没有,请直说。"],
    "ja": ["", "", "書かれていなければ、そう言ってください。"],
}


@dataclass
class Task:
    """A question and how its truth is computed from the files of a corpus."""

    group: str
    slug: str
    corpus: str
    question: str
    # Takes the corpus and returns the answer: a string, or a list for a set.
    truth: object
    how: str = "exact"
    accept: list = field(default_factory=list)
    tolerance: float = 0.0
    language: str = "en"
    noun: str = "value"
    # The question already requests a form, or must not have one appended.
    plain: bool = False
    # Tasks that are added later get the next number, so that they do not move the earlier ones to another half.
    batch: int = 1
    # The half of the task, whatever its id; if empty, the id decides.
    half: str = ""
    # For the checks: the pattern and the file of a fact, the words that must not occur.
    pattern: str = ""
    path: str = ""
    n_places: int = 1
    never: list = field(default_factory=list)

    @property
    def id(self):
        return f"{self.group}-{self.slug}"

    @property
    def variant(self):
        """The group's name in reports, which count tasks that name their half separately."""
        return f"more-{self.group}" if self.half else self.group


class Set:
    """The tasks in the order in which they were added."""

    def __init__(self):
        self.tasks = []

    def add(self, task):
        if task.group not in KIND_OF_GROUP:
            raise BuildError(f"task {task.slug}: there is no group `{task.group}`")
        if any(task.id == other.id for other in self.tasks):
            raise BuildError(f"the id `{task.id}` is used twice")
        self.tasks.append(task)


def draw(options, *parts):
    """One of the options, chosen by a hash of the parts: the same on every machine."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return options[int.from_bytes(digest[:8], "big") % len(options)]


def halves(tasks):
    """The half of each task. In every group and batch, ids are sorted by hash and assigned in turn, unless the task names its half.

    The seed has no influence: a task that was sealed once stays sealed.
    """
    found = {task.id: task.half for task in tasks if task.half}
    dealt = [task for task in tasks if not task.half]
    for group, batch in sorted({(task.group, task.batch) for task in dealt}):
        ids = (task.id for task in dealt if (task.group, task.batch) == (group, batch))
        ids = sorted(ids, key=lambda one: hashlib.sha256(one.encode()).hexdigest())
        first = draw((0, 1), "first", group, batch)
        for place, one in enumerate(ids):
            found[one] = HALVES[(place + first) % 2]
    return found


def worded(task, seed):
    """The complete wording of the question."""
    if task.plain:
        return task.question
    form = draw(FORMS[task.language], "form", seed, task.id).format(noun=task.noun)
    silent = draw(SILENT[task.language], "silent", seed, task.id)
    glue = "" if task.language in ("zh", "ja") else " "
    return glue.join(part for part in (task.question, silent, form) if part)


def size(n_bytes):
    """The size in tokens of four bytes, rounded up to a power of two thousand tokens, so that reports have few columns."""
    tokens = 1000
    while tokens * 4 < n_bytes:
        tokens *= 2
    return tokens


def line(task, seed, answer, folder):
    """A line of the task file. The reader ignores unknown fields."""
    n_bytes = sum(len(text.encode()) for text in folder.files.values())
    scoring = {"how": task.how}
    if task.accept:
        scoring["accept"] = task.accept
    if task.tolerance:
        scoring["tolerance"] = task.tolerance
    return {
        "id": task.id,
        "kind": KIND_OF_GROUP[task.group],
        "variant": task.variant,
        "seed": seed,
        "tokens": size(n_bytes),
        "question": worded(task, seed),
        "answer": answer,
        "scoring": scoring,
        "files": [f"{task.id}/{path}" for path in sorted(folder.files)],
        "language": task.language,
        "corpus": task.corpus,
        "bytes": n_bytes,
    }
