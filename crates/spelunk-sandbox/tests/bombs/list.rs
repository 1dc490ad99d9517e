//! The bombs, and how each ends. `killed` is the watchdog's work: native code that cannot be interrupted.

/// A cell that must be stopped.
pub(crate) struct Bomb {
    pub(crate) code: &'static str,
    pub(crate) monty: &'static str,
    pub(crate) cpython: &'static str,
}

const fn bomb(code: &'static str, monty: &'static str, cpython: &'static str) -> Bomb {
    Bomb { code, monty, cpython }
}

/// A value with very many parts is copied for the host: which limit is hit first depends on the machine.
const OUT_OF_MEMORY_OR_TIME: &str = "the sandbox process died: out of memory (limit 128 MB) or TimeoutError";
/// The host is sent more than the session may hold: the interpreter cannot refuse the copy.
const OUT_OF_MEMORY: &str = "the sandbox process died: out of memory (limit 128 MB)";

pub(crate) const BOMBS: &[Bomb] = &[
    // Memory at once.
    bomb("'a' * 10**12", "MemoryError", "MemoryError"),
    bomb("b'a' * 10**12", "MemoryError", "MemoryError"),
    bomb("[0] * 10**10", "MemoryError", "MemoryError"),
    bomb("(0,) * 10**10", "MemoryError", "MemoryError"),
    bomb("list(range(10**12))", "MemoryError", "MemoryError"),
    bomb("'x'.ljust(10**10)", "MemoryError", "MemoryError"),
    bomb("'x'.zfill(10**10)", "MemoryError", "MemoryError"),
    bomb("'{:>1000000000}'.format(1)", "MemoryError", "MemoryError"),
    bomb("f'{1:1000000000}'", "MemoryError", "MemoryError"),
    bomb("'%1000000000d' % 1", "MemoryError", "MemoryError"),
    bomb("f'{1.0:.1000000000f}'", "MemoryError", "MemoryError"),
    bomb("('a' * 10**6).replace('a', 'b' * 10**6)", "MemoryError", "MemoryError"),
    bomb("('b' * 10**6).join(['a'] * 10**6)", "MemoryError", "MemoryError"),
    bomb("10**(10**9)", "MemoryError", "killed"),
    bomb("1 << 10**11", "MemoryError", "MemoryError"),
    // Memory bit by bit.
    bomb("l = []\nwhile True:\n    l.append('x' * 1000)", "MemoryError", "MemoryError"),
    bomb("s = 'x'\nwhile True:\n    s += s", "MemoryError", "MemoryError"),
    bomb("d = {}\ni = 0\nwhile True:\n    d[i] = str(i)\n    i += 1", "MemoryError", "MemoryError"),
    bomb("s = set()\ni = 0\nwhile True:\n    s.add(i)\n    i += 1", "MemoryError", "MemoryError"),
    bomb("l = [0]\nwhile True:\n    l = l + l", "MemoryError", "MemoryError"),
    bomb("l = []\nwhile True:\n    l.append(l)", "MemoryError", "MemoryError"),
    bomb("x = [list(range(1000)) for _ in range(10**9)]", "MemoryError", "MemoryError"),
    bomb("sorted(range(10**8), reverse=True)", "MemoryError", "MemoryError"),
    bomb("import itertools\nlist(itertools.product(range(100), repeat=5))", "MemoryError", "MemoryError"),
    bomb("import itertools\nlist(itertools.permutations(range(12)))", "MemoryError", "MemoryError"),
    bomb("import itertools\nlist(itertools.count())", "MemoryError", "MemoryError"),
    bomb(
        "with open('big', 'w') as f:\n    while True:\n        f.write('x' * 10**6)",
        "MemoryError or OSError",
        "MemoryError or OSError",
    ),
    // Time.
    bomb("while True: pass", "TimeoutError", "TimeoutError"),
    bomb(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "TimeoutError",
        "TimeoutError",
    ),
    bomb("while True: print('spam')", "TimeoutError", "TimeoutError"),
    bomb("print('x' * 10**7)", "done", "done"),
    bomb("sum(range(10**12))", "TimeoutError", "killed"),
    bomb(
        "x = int('9' * 4000) ** 5000\ny = x * x * x * x * x * x\ny * y * y * y",
        "TimeoutError or killed or MemoryError",
        "killed or MemoryError or TimeoutError",
    ),
    bomb("9 ** 9 ** 9 ** 9", "MemoryError", "killed"),
    bomb(
        "import math\nmath.factorial(10**7)",
        "TimeoutError or killed or MemoryError or ValueError",
        "killed",
    ),
    bomb("x = 3 ** 10**6\nstr(x)", "ValueError or TimeoutError or done", "ValueError"),
    bomb("all(i >= 0 for i in range(10**12))", "TimeoutError or MemoryError", "TimeoutError"),
    bomb("max(map(lambda x: x, range(10**12)))", "TimeoutError or MemoryError", "TimeoutError"),
    bomb("import time\ntime.sleep(10**9)", "done", "done"),
    bomb("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "done", "killed"),
    bomb("import re\nre.match(r'(a|aa)+\\1$', 'a' * 60 + 'b')", "error or done or PatternError", "killed"),
    bomb(
        "import re\nre.match('(a?){60}a{60}$', 'a' * 60)",
        "done or error or PatternError",
        "killed or done",
    ),
    bomb(
        "import re\nre.compile('(?:(?:a{1000}){1000}){1000}')",
        "error or PatternError or done",
        "killed or done or error or OverflowError",
    ),
    // Stack.
    bomb("def f(): return f()\nf()", "RecursionError", "RecursionError"),
    bomb("f = lambda n: f(n + 1)\nf(0)", "RecursionError", "RecursionError"),
    bomb(
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "RecursionError",
        "RecursionError",
    ),
    bomb(
        "x = []\nfor _ in range(10**5): x = [x]\nprint(len(repr(x)))",
        "RecursionError or done",
        "RecursionError",
    ),
    bomb("x = []\nfor _ in range(10**6): x = [x]\nx = None", "done or TimeoutError", "done or TimeoutError"),
    bomb(
        "x = []\ny = []\nfor _ in range(10**5): x, y = [x], [y]\nx == y",
        "RecursionError or done",
        "RecursionError",
    ),
    bomb("import json\njson.loads('[' * 10**5)", "RecursionError or JSONDecodeError", "RecursionError"),
    bomb(
        "x = []\nfor _ in range(10**5): x = [x]\nimport json\njson.dumps(x)",
        "RecursionError or ValueError",
        "RecursionError",
    ),
    bomb(
        "eval('(' * 5000 + ')' * 5000)",
        "SyntaxError or RecursionError or MemoryError",
        "SyntaxError or RecursionError or MemoryError",
    ),
    bomb("x = []\nfor _ in range(10**5): x = [x]\nask(x)", "done", "done"),
    bomb(
        "x = {}\nfor _ in range(60): x = {'a': x, 'b': x}\nask(x)",
        OUT_OF_MEMORY_OR_TIME,
        "ValueError or TimeoutError",
    ),
    bomb("ask('x' * (100 << 20))", OUT_OF_MEMORY, "ValueError or MemoryError"),
];
