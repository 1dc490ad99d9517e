//! Hints that tell the model what to write instead of an unsupported feature; see
//! `docs/limitations/python.md`.

/// A substring of the message, and what to write instead.
const HINTS: [(&str, &str, &str); 9] = [
    ("SystemExit", "", "the cell ended here; the session continues with its variables"),
    (
        "NotImplementedError",
        "async for",
        "collect the items with `await asyncio.gather(...)` and use a plain `for`",
    ),
    ("NotImplementedError", "try*/except*", "use a plain `except`"),
    (
        "NotImplementedError",
        "cannot suspend",
        "call it in a plain `for` loop, not in special methods or callbacks",
    ),
    (
        "NotImplementedError",
        "class bodies",
        "keep methods and `name = value` in the class; set the rest after it",
    ),
    (
        "ModuleNotFoundError",
        "No module named",
        "this sandbox has only common modules of the standard library; write it in plain Python",
    ),
    ("TimeoutError", "time limit exceeded", "the variables of this session are lost; do less per cell"),
    ("MemoryError", "", "the variables of this session are lost; read and keep smaller pieces"),
    ("RecursionError", "", "use a loop with a list as a stack"),
];

pub(super) fn hint_for(kind: &str, message: &str) -> Option<&'static str> {
    HINTS.iter().find(|(of, part, _)| *of == kind && message.contains(part)).map(|(_, _, hint)| *hint)
}
