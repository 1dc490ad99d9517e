//! The bombs, and how each ends. `killed` is the watchdog's work: native code that cannot be interrupted.

/// A cell that must be stopped.
pub(crate) struct Bomb {
    pub(crate) code: &'static str,
    /// Whether it exhausts time rather than memory.
    pub(crate) takes_time: bool,
    pub(crate) monty: &'static str,
    pub(crate) cpython: &'static str,
}

const fn memory(code: &'static str, monty: &'static str, cpython: &'static str) -> Bomb {
    Bomb { code, takes_time: false, monty, cpython }
}

const fn time(code: &'static str, monty: &'static str, cpython: &'static str) -> Bomb {
    Bomb { code, takes_time: true, monty, cpython }
}

/// A value with very many parts is copied for the host: which limit is hit first depends on the machine.
const OUT_OF_MEMORY_OR_TIME: &str = "the sandbox process died: out of memory (limit 128 MB) or TimeoutError";
/// The host is sent more than the session may hold: the interpreter cannot refuse the copy.
const OUT_OF_MEMORY: &str = "the sandbox process died: out of memory (limit 128 MB)";

pub(crate) const BOMBS: &[Bomb] = &[
    // Memory at once.
    memory("'a' * 10**12", "MemoryError", "MemoryError"),
    memory("b'a' * 10**12", "MemoryError", "MemoryError"),
    memory("[0] * 10**10", "MemoryError", "MemoryError"),
    memory("(0,) * 10**10", "MemoryError", "MemoryError"),
    memory("list(range(10**12))", "MemoryError", "MemoryError"),
    memory("'x'.ljust(10**10)", "MemoryError", "MemoryError"),
    memory("'x'.zfill(10**10)", "MemoryError", "MemoryError"),
    memory("'{:>1000000000}'.format(1)", "MemoryError", "MemoryError"),
    memory("f'{1:1000000000}'", "MemoryError", "MemoryError"),
    memory("'%1000000000d' % 1", "MemoryError", "MemoryError"),
    memory("f'{1.0:.1000000000f}'", "MemoryError", "MemoryError"),
    memory("('a' * 10**6).replace('a', 'b' * 10**6)", "MemoryError", "MemoryError"),
    memory("('b' * 10**6).join(['a'] * 10**6)", "MemoryError", "MemoryError"),
    memory("10**(10**9)", "MemoryError", "killed"),
    memory("1 << 10**11", "MemoryError", "MemoryError"),
    // Memory bit by bit.
    memory("l = []\nwhile True:\n    l.append('x' * 1000)", "MemoryError", "MemoryError"),
    memory("s = 'x'\nwhile True:\n    s += s", "MemoryError", "MemoryError"),
    memory("d = {}\ni = 0\nwhile True:\n    d[i] = str(i)\n    i += 1", "MemoryError", "MemoryError"),
    memory("s = set()\ni = 0\nwhile True:\n    s.add(i)\n    i += 1", "MemoryError", "MemoryError"),
    memory("l = [0]\nwhile True:\n    l = l + l", "MemoryError", "MemoryError"),
    memory("l = []\nwhile True:\n    l.append(l)", "MemoryError", "MemoryError"),
    memory("x = [list(range(1000)) for _ in range(10**9)]", "MemoryError", "MemoryError"),
    memory("sorted(range(10**8), reverse=True)", "MemoryError", "MemoryError"),
    memory("import itertools\nlist(itertools.product(range(100), repeat=5))", "MemoryError", "MemoryError"),
    memory("import itertools\nlist(itertools.permutations(range(12)))", "MemoryError", "MemoryError"),
    memory("import itertools\nlist(itertools.count())", "MemoryError", "MemoryError"),
    memory(
        "with open('big', 'w') as f:\n    while True:\n        f.write('x' * 10**6)",
        "MemoryError or OSError",
        "MemoryError or OSError",
    ),
    // Time.
    time("while True: pass", "TimeoutError", "TimeoutError"),
    time(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "TimeoutError",
        "TimeoutError",
    ),
    time("while True: print('spam')", "TimeoutError", "TimeoutError"),
    time("print('x' * 10**7)", "done", "done"),
    time("sum(range(10**12))", "TimeoutError", "killed"),
    time(
        "x = int('9' * 4000) ** 5000\ny = x * x * x * x * x * x\ny * y * y * y",
        "TimeoutError or killed or MemoryError",
        "killed or MemoryError or TimeoutError",
    ),
    time("9 ** 9 ** 9 ** 9", "MemoryError", "killed"),
    time(
        "import math\nmath.factorial(10**7)",
        "TimeoutError or killed or MemoryError or ValueError",
        "killed",
    ),
    time("x = 3 ** 10**6\nstr(x)", "ValueError or TimeoutError or done", "ValueError"),
    time("all(i >= 0 for i in range(10**12))", "TimeoutError or MemoryError", "TimeoutError"),
    time("max(map(lambda x: x, range(10**12)))", "TimeoutError or MemoryError", "TimeoutError"),
    time("import time\ntime.sleep(10**9)", "done", "done"),
    time("import re\nre.match('(a+)+$', 'a' * 40 + 'b')", "done", "killed"),
    time("import re\nre.match(r'(a|aa)+\\1$', 'a' * 60 + 'b')", "error or done or PatternError", "killed"),
    time(
        "import re\nre.match('(a?){60}a{60}$', 'a' * 60)",
        "done or error or PatternError",
        "killed or done",
    ),
    time(
        "import re\nre.compile('(?:(?:a{1000}){1000}){1000}')",
        "error or PatternError or done",
        "killed or done or error or OverflowError",
    ),
    // Stack.
    time("def f(): return f()\nf()", "RecursionError", "RecursionError"),
    time("f = lambda n: f(n + 1)\nf(0)", "RecursionError", "RecursionError"),
    time(
        "class A:\n    def __repr__(self): return repr(self)\nrepr(A())",
        "RecursionError",
        "RecursionError",
    ),
    time(
        "x = []\nfor _ in range(10**5): x = [x]\nprint(len(repr(x)))",
        "RecursionError or done",
        "RecursionError",
    ),
    time("x = []\nfor _ in range(10**6): x = [x]\nx = None", "done or TimeoutError", "done or TimeoutError"),
    time(
        "x = []\ny = []\nfor _ in range(10**5): x, y = [x], [y]\nx == y",
        "RecursionError or done",
        "RecursionError",
    ),
    time("import json\njson.loads('[' * 10**5)", "RecursionError or JSONDecodeError", "RecursionError"),
    time(
        "x = []\nfor _ in range(10**5): x = [x]\nimport json\njson.dumps(x)",
        "RecursionError or ValueError",
        "RecursionError",
    ),
    time(
        "eval('(' * 5000 + ')' * 5000)",
        "SyntaxError or RecursionError or MemoryError",
        "SyntaxError or RecursionError or MemoryError",
    ),
    time("x = []\nfor _ in range(10**5): x = [x]\nask(x)", "done", "done"),
    time(
        "x = {}\nfor _ in range(60): x = {'a': x, 'b': x}\nask(x)",
        OUT_OF_MEMORY_OR_TIME,
        "ValueError or TimeoutError",
    ),
    time("ask('x' * (100 << 20))", OUT_OF_MEMORY, "ValueError or MemoryError"),
];
