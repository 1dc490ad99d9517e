#!/usr/bin/env python3
"""Measures the cost of keeping a context outside the session: some 60 operations on one text, once as a real string in the
session and once as a host object, timed through `spelunk repl` and printed as a table of ratios.

    bench/contexts.py target/release/spelunk [--mb 7] [--only WORD]

Every line is one cell. Its time includes a round trip to the worker, which is measured with `pass`. Ratios above 3 are marked,
and so are operations that only one side refuses. The first use of an outside text counts its characters; this is not timed.
"""
import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MARK = "-- done --"

# Operations by group. Both sides take the same number of steps.
OPERATIONS = {
    "str": [
        "len(context)", "context[1000]", "context[-1]", "context[5000:6000]", "context[:100]", "context[-100:]",
        "context[1000000:2000000].count('a')", "context[::100000]", "'needle 4711' in context", "'absent words' in context",
        "context.find('needle')", "context.find('needle', 3000000)", "context.rfind('needle')", "context.index('needle', 10)",
        "context.rindex('needle')", "context.count('needle')", "context.count('e')", "context.count('needle', 1000000)",
        "context.startswith('line')", "context.startswith('line', 0)", "context.startswith(('x', 'line'))", "context.endswith('\\n')",
        "context.endswith('x', 0, 10)", "len(context.split())", "len(context.split('\\n'))", "len(context.splitlines())",
        "len(context.splitlines(True))", "len(context.split('needle'))", "context.split(None, 3)[:3]", "context.rsplit(None, 1)[-1]",
        "context.partition('needle')[1]", "context.rpartition('needle')[1]", "len(context.lower())", "len(context.upper())",
        "len(context.strip())", "len(context.rstrip())", "len(context.replace('needle', 'x'))", "len(context.casefold())",
        "len(context.encode())", "context.isascii()", "len(context + 'x')", "context == 'x'", "len(str(context))", "len(f'{context}')",
        "hash(context) is not None", "bool(context)", "isinstance(context, str)", "type(context).__name__",
    ],
    "re": [
        "re.search(r'needle (\\d+)', context).group(1)", "re.search('absent words', context)", "re.match('line', context).span()",
        "re.fullmatch('x', context)", "len(re.findall(r'needle', context))", "len(re.findall(r'\\d+', context))",
        "len(re.findall(r'(\\w+) (\\d+)', context))", "sum(1 for m in re.finditer(r'\\d+', context))",
        "Counter(m.group() for m in re.finditer(r'needle', context))", "len(deque(re.finditer('needle', context)))",
        "[m.start() for m in re.finditer('needle', context)][-1]", "next(re.finditer('needle', context)).start()",
        "len(re.split(r'\\n', context))", "len(re.sub('needle', 'x', context))", "re.subn('needle', 'x', context)[1]",
        "re.compile('needle (?P<n>\\\\d+)').search(context)['n']", "re.search('NEEDLE', context, re.I).start()",
        "len(re.findall(r'(?m)^line 9\\d* ', context))", "re.compile('needle').search(context, 3000000).start()",
    ],
    "loops": [
        "sum(len(line) for line in context.split('\\n'))", "sum(1 for line in context.splitlines() if 'needle' in line)",
        "[i for i, line in enumerate(context.splitlines()) if 'needle' in line][-1]", "Counter(context.split()).most_common(1)",
        "Counter(context).most_common(1)", "sum(1 for c in context[:200000] if c == 'e')",
        "sum(1 for a, b in zip(context[:100000], context[1:100001]) if a == b)", "max(context.splitlines(), key=len)[:9]",
        "sorted(set(context.split()))[:3]", "[context[i:i + 1000] for i in range(0, len(context), 1000)][-1][:4]",
        "[context[i] for i in range(0, 2000)].count('e')", "len(list(context[:100000]))",
        "any('needle' in line for line in context.splitlines())", "'|'.join(context.splitlines()[:3])",
    ],
    "programs": [
        "at = 0; n = 0\nwhile (at := context.find('needle', at)) != -1:\n    at += 1; n += 1\nn",
        "n = 0\nfor m in re.finditer(r'\\w+', context[:500000]):\n    n += m.end() - m.start()\nn",
        "n = 0\nfor m in re.finditer('needle', context):\n    n += len(context[m.start() - 20:m.end() + 20])\nn",
        "n = 0\nfor line in context.splitlines():\n    if re.match(r'line \\d+5 ', line):\n        n += 1\nn",
        "n = 0\nfor i in range(0, len(context), 100000):\n    n += context.startswith('line', i)\nn",
    ],
}


def text_of(mb):
    """Lines of random words; every 400th line contains a needle."""
    words = "data sample report river stone market energy paper signal window garden method result network policy".split()
    pick = random.Random(7)
    lines, size = [], 0
    while size < mb * 1_000_000:
        n = len(lines)
        line = "line %d %s" % (n, " ".join(pick.choice(words) for _ in range(9)))
        if n % 400 == 0:
            line += " needle %d" % n
        lines.append(line)
        size += len(line) + 1
    return "\n".join(lines) + "\n"


class Session:
    """A `spelunk repl` over one file, with the context inside or outside."""

    def __init__(self, program, path, workspace, inside_bytes):
        settings = {"limits.cell_context_bytes_max": inside_bytes, "limits.cell_ms_max": 120_000,
                    "limits.run_ms_max": 86_400_000, "limits.cell_memory_bytes_max": 4_000_000_000}
        flags = [part for key, value in settings.items() for part in ("--set", "%s=%d" % (key, value))]
        self.process = subprocess.Popen([program, "--workspace", workspace, *flags, "repl", path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        self.run("import re\nfrom collections import Counter, deque")
        self.run("len(context)")

    def run(self, code):
        """Runs a cell. Returns its seconds and its output."""
        block = "if True:\n" + "".join("    %s\n" % line for line in code.split("\n")[:-1])
        last = code.split("\n")[-1]
        is_plain = last.startswith(("from ", "import ", "pass"))
        body = block if "\n" in code else "if True:\n"
        body += "    %s\n" % (last if is_plain else "print(repr(%s)[:60])" % last)
        began = time.perf_counter()
        self.process.stdin.write(body + "\nprint('%s')\n" % MARK)
        self.process.stdin.flush()
        output = []
        for line in self.process.stdout:
            if MARK in line:
                return time.perf_counter() - began, "".join(output).strip()
            output.append(line)
        sys.exit("the session ended: " + "".join(output))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def best(session, code, rounds):
    """The time of the fastest round, and the output. Slow operations are not repeated."""
    fastest, output = session.run(code)
    for _ in range(rounds - 1):
        if fastest > 1:
            break
        fastest = min(fastest, session.run(code)[0])
    return fastest, output


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("program")
    args.add_argument("--mb", type=float, default=7)
    args.add_argument("--only", default="")
    args.add_argument("--rounds", type=int, default=3)
    args = args.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text.txt")
        path.write_text(text_of(args.mb))
        inside = Session(args.program, str(path), str(Path(folder, "in")), 1 << 40)
        outside = Session(args.program, str(path), str(Path(folder, "out")), 1)
        empty = [best(session, "pass", 9)[0] for session in (inside, outside)]
        print("%.1f MB; an empty cell takes %.1f and %.1f ms\n" % (args.mb, *[1000 * took for took in empty]))
        print("| operation | inside ms | outside ms | ratio | |\n|---|---|---|---|---|")
        n, n_above = 0, 0
        for group, operations in OPERATIONS.items():
            for code in operations:
                if args.only not in group + " " + code:
                    continue
                (took_in, output_in), (took_out, output_out) = best(inside, code, args.rounds), best(outside, code, args.rounds)
                ratio = took_out / took_in
                note = "" if ratio <= 3 else "above 3"
                if "Error" in output_out and "Error" not in output_in:
                    note = "refused: " + output_out.splitlines()[-1][:140]
                elif output_in != output_out:
                    note = "differs: %s / %s" % (output_in[-60:], output_out[-60:])
                n, n_above = n + 1, n_above + bool(note)
                shown = code.replace("\n", "; ").replace("|", "\\|")
                print("| `%s` | %.2f | %.2f | %.1f | %s |" % (shown, 1000 * took_in, 1000 * took_out, ratio, note), flush=True)
        print("\n%d operations, %d to look at" % (n, n_above))
        inside.close()
        outside.close()


if __name__ == "__main__":
    main()
