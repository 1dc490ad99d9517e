"""Writes real.jsonl: patterns as programs contain them, each with texts and what Python's `re` does there.

    python3 build.py > real.jsonl    # the table in the repository is from Python 3.11
"""

import json
import re

LOG = "2024-05-06 12:00:01 ERROR [db] timeout=30s user: 17\n2024-05-06 12:00:02 INFO ok\n"
DOC = "# Title\nName: Ada Lovelace\nScore: 7.5 (beta)\n\nInstance: a -> b, b -> c\n"
CODE = 'def f(x, y=[1]):\n    return {"a": $x, "b": "${y}"}  # it\'s <b>'
WIDE = "Größe: 12 €, naïve café\nПривет, мир!\n日本語\n"
SHORT = "ab  \n"

PATTERNS = [
    (r"Instance:\s*(.*?)$", 0), (r"Instance:\s*(.*?)(?=\n|$)", 0), (r"Instance:\s*(.*?)(?:\n|$)", 0),
    (r"(\w+): (.*)\Z", 0), (r"(?s)Score:(.*)\Z", 0), (r"\s*$", 0), (r"\s+$", 0), (r"\s+$", re.M), (r"^\s*|\s*$", 0),
    (r"^(\w+)\s*:\s*(.+)$", re.M), (r"^(?P<key>[^:\n]+):[ \t]*(?P<value>.*)$", re.M), (r"^.*$", 0), (r"^.*$", re.M),
    (r".*", 0), (r".*?", 0), (r"x*", 0), (r"a?", 0), (r"a??", 0), (r"|a", 0), (r"a|", 0), (r"(a|)", 0), (r"(?:a|)b", 0),
    (r"\b", 0), (r"\B", 0), (r"(?=b)", 0), (r"(?<=a)", 0), (r"$", 0), (r"$", re.M), (r"^", 0), (r"^", re.M),
    (r"\Z", 0), (r"\A", 0), (r"(?m)^(?!$)", 0), (r"\n\Z", 0), (r"\n$", 0), (r"b\s*$", 0), (r"[^\n]*$", 0), (r"(.)$", 0),
    (r"\d+(?:\.\d+)?", 0), (r"\b\d{4}-\d{2}-\d{2}\b", 0), (r"(\d{4})-(\d{2})", 0), (r"\[([^\]]*)\]", 0), (r"[[(]([^])]*)[])]", 0),
    (r"[^[\]]+", 0), (r"[a&&b]", 0), (r"[\w.-]+", 0), (r"[-\w]+:", 0), (r"{.*}", re.S), (r"\{[^{}]*\}", 0), (r"\$\{?(\w+)\}?", 0),
    (r"[$]\w", 0), (r"\<b\>", 0), (r"['\"]([^'\"]*)['\"]", 0), (r"def\s+(\w+)\s*\((.*?)\):", 0), (r"\w+(?=\()", 0),
    (r"(?<!\d)\d{2}(?!\d)", 0), (r"(\w)\1", 0), (r"(?P<q>['\"])(?P<body>.*?)(?P=q)", 0), (r"(?i)error|INFO", 0), (r"error", re.I),
    (r"größe", re.I), (r"[а-я]+", re.I), (r"\w+", 0), (r"\w+", re.A), (r"\b\w+\b", re.A), (r"\W+", 0), (r"[^\x00-\x7F]+", 0),
    (r"\s", 0), (r"[^\S\n]+", 0), (r"\n\s*\n", 0), (r"(?:\r\n|\r|\n)", 0), (r"([,;])\s*", 0), (r"\s*([,;])\s*", 0), (r"a{2}|b{1,2}", 0),
    (r"(a)|(b)|(c)", 0), (r"(?:(a)|b)*", 0), (r"((a)|b)+", 0), (r"(?P<a>\w)(?P<b>\d)?", 0), (r"a.b", re.S), (r"\#\s*(.*)", 0),
    (r"\u00e9|\x41", 0), (r"\t|\040", 0), (r"(?x) (\d+) \s* # number" + "\n" + r" (s|€)", 0), (r"(?s:T.*?N)(?i:AME)", 0), (r"a*+b", 0), (r"(?>a+)b", 0),
    (r"(\w+) -> (\w+)", 0), (r"^#+\s+(.*)", re.M), (r"(?:^|\n)Name: ([^\n]+)", 0), (r"[A-Z][a-z]+(?: [A-Z][a-z]+)*", 0),
    (r"(?:\s|^)\S{1,3}(?=\s|$)", 0), (r"\S+\s*$", 0), (r"(?:ab|a)(?:\s|$)+", 0), (r"\.$|\n", 0),
]  # fmt: skip


def spans(match):
    if match is None:
        return None
    return [None if match.span(i) == (-1, -1) else match.span(i) for i in range(match.re.groups + 1)]


def row(pattern, flags, text):
    p = re.compile(pattern, flags)
    return {
        "pattern": pattern, "flags": int(flags), "text": text, "groups": p.groups,
        "names": [[name, idx] for name, idx in p.groupindex.items()], "all_flags": p.flags, "findall": p.findall(text),
        "finditer": [spans(m) for m in p.finditer(text)], "split": p.split(text), "split2": p.split(text, 2),
        "sub": p.subn(r"<\g<0>>", text), "sub1": p.subn("_", text, 1), "match": spans(p.match(text)),
        "fullmatch": spans(p.fullmatch(text)), "search": spans(p.search(text)),
    }  # fmt: skip


for pattern, flags in PATTERNS:
    texts = [text for text in (LOG, DOC, CODE, WIDE) if re.search(pattern, text, flags)]
    # An empty match is everywhere: short texts show it as well as long ones.
    is_empty = re.fullmatch(pattern, "", flags)
    texts = ["", "ab", "a\n", "\n\n", "éa\n"] if is_empty else texts[:2]
    for text in [*texts, SHORT]:
        print(json.dumps(row(pattern, flags, text), ensure_ascii=False))
