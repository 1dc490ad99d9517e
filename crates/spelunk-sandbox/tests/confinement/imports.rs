//! Ways around the import system of `CPython`. Taking one gives access to every module, and no more power than before.

use spelunk_sandbox::{Python, PythonModules, Sandbox, WorkerCommand};

use crate::scene::{Backend, Session, setup, worker};

/// Each binds `posix` to an unmodified module of system calls, or gets at our modified one indirectly.
const ROUTES: &[(&str, &str)] = &[
    ("a plain import", "import posix"),
    ("a reload", "import importlib, os, posix\nimportlib.reload(os)"),
    (
        "forgotten modules",
        "import sys\nfor name in ('os', 'posix', 'io'):\n    del sys.modules[name]\nimport os, posix",
    ),
    ("a fresh built-in", "import importlib.machinery as m\nposix = m.BuiltinImporter.load_module('posix')"),
    (
        "a spec",
        "import _imp, importlib.util as u\nposix = _imp.create_builtin(u.find_spec('posix'))\n_imp.exec_builtin(posix)",
    ),
    (
        "a loader",
        "import os, json\nos = type(json.__loader__)('os', os.__file__).load_module('os')\nposix = os",
    ),
    ("no finder of ours", "import sys\ndel sys.meta_path[0]\ndel sys.modules['posix']\nimport posix"),
    (
        "a finder of theirs",
        "import sys\nclass F:\n    def find_spec(self, name, *_):\n        return None\nsys.meta_path.insert(0, F())\nimport posix",
    ),
    (
        "frames",
        "import sys\nframe = sys._getframe()\nwhile frame.f_back and 'posix' not in frame.f_globals:\n    frame = frame.f_back\nposix = frame.f_globals['posix']",
    ),
    ("functions of the host", "posix = ask.__globals__['posix']"),
    (
        "the collector",
        "import gc, types\nposix = [o for o in gc.get_objects() if isinstance(o, types.ModuleType) and o.__name__ == 'posix'][0]",
    ),
    (
        "subclasses",
        "c = [c for c in object.__subclasses__() if c.__name__ == '_wrap_close'][0]\nposix = c.__init__.__globals__['sys'].modules['posix']",
    ),
    ("built-in names", "posix = __builtins__.__import__('posix')"),
];

/// What a module of system calls can do here: nothing beyond what is readable anyway.
const POWERS: &str = r"
import sys
del sys.meta_path[:-3]
import _socket
def attempt(name, work):
    try:
        print(name, 'gave', work())
    except BaseException as error:
        print(name, type(error).__name__)
attempt('write', lambda: posix.open('FILE', 1))
attempt('append', lambda: posix.open('FILE', 1 | 0o2000))
attempt('empty', lambda: posix.open('FILE', 0o1000))
attempt('create', lambda: posix.open('DIR/mine', 0o101))
attempt('read', lambda: posix.open('FILE', 0))
attempt('remove', lambda: posix.unlink('FILE'))
attempt('chmod', lambda: posix.chmod('FILE', 0))
attempt('fork', lambda: posix.fork())
attempt('exec', lambda: posix.execv('/bin/sh', ['sh']))
attempt('spawn', lambda: posix.posix_spawn('/bin/sh', ['sh'], {}))
attempt('kill', lambda: posix.kill(PARENT, 0))
attempt('environment', lambda: sorted(set(posix.environ) - {b'PYTHONHASHSEED', b'TZ', b'MALLOC_ARENA_MAX', b'LC_CTYPE'}))
attempt('network', lambda: _socket.socket(2, 1))
attempt('socket of the host', lambda: _socket.socket(1, 1))
";

const POWERLESS: &str = "\
write PermissionError
append PermissionError
empty PermissionError
create PermissionError
read PermissionError
remove PermissionError
chmod PermissionError
fork PermissionError
exec PermissionError
spawn PermissionError
kill PermissionError
environment gave []
network PermissionError
socket of the host PermissionError
= done";

#[test]
fn no_way_through_the_import_system_leads_out() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("precious.txt");
    #[expect(clippy::disallowed_methods, reason = "the file that must survive")]
    std::fs::write(&file, "precious").unwrap();
    let powers = POWERS
        .replace("FILE", file.to_str().unwrap())
        .replace("DIR", directory.path().to_str().unwrap())
        .replace("PARENT", &std::process::id().to_string());
    for (name, route) in ROUTES {
        let mut session = Session::open(&sandbox, &setup());
        assert_eq!((*name, session.run(&format!("{route}\npass")).as_str()), (*name, "= done"));
        assert_eq!((*name, session.run(&powers).as_str()), (*name, POWERLESS));
    }
    #[expect(clippy::disallowed_methods, reason = "the file that must survive")]
    let survived = std::fs::read_to_string(&file).unwrap();
    assert_eq!(survived, "precious");
}

/// A module or `.pth` file that a cell leaves behind, and one in the worker's start directory.
#[test]
fn a_planted_module_is_not_imported() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    let planted = r"
import sys, site
for path in ('json.py', '/json.py', '/tmp/json.py', '/tmp/evil.pth'):
    with open(path, 'w') as file:
        file.write('import sys; sys.planted = True')
for name in [name for name in sys.modules if name.split('.')[0] == 'json']:
    del sys.modules[name]
site.addsitedir('/tmp')
import json
print(json.loads('[1]'), hasattr(sys, 'planted'), json.__name__)
";
    assert_eq!(Session::open(&sandbox, &setup()).run(planted), "[1] False json\n= done");

    let directory = tempfile::tempdir().unwrap();
    for name in ["json.py", "sitecustomize.py", "encodings.py"] {
        #[expect(clippy::disallowed_methods, reason = "what a hostile clone may hold")]
        std::fs::write(directory.path().join(name), "import sys\nsys.planted = True\n").unwrap();
    }
    let start = format!("cd '{}' && exec '{}'", directory.path().display(), worker().program.display());
    let there = WorkerCommand { program: "/bin/sh".into(), arguments: vec!["-c".into(), start.into()] };
    let python = Python { program: "python3".into(), modules: PythonModules::Standard };
    let sandbox = Sandbox::cpython(there, python);
    let look = "import sys, json\nprint(json.loads('[1]'), hasattr(sys, 'planted'))";
    assert_eq!(Session::open(&sandbox, &setup()).run(look), "[1] False\n= done");
}

/// Everyday code, each with its output.
const EVERYDAY: &[(&str, &str)] = &[
    ("import json\nprint(json.dumps({'a': [1, None]}))", "{\"a\": [1, null]}"),
    ("import re\nprint(re.findall(r'\\d+', 'a1b22'))", "['1', '22']"),
    ("import csv, io\nprint(list(csv.reader(io.StringIO('a,b\\n1,2'))))", "[['a', 'b'], ['1', '2']]"),
    ("import datetime\nprint(datetime.date(2024, 2, 28) + datetime.timedelta(2))", "2024-03-01"),
    (
        "import zoneinfo, datetime\nprint(datetime.datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo('UTC')))",
        "2024-01-01 00:00:00+00:00",
    ),
    ("import decimal\nprint(decimal.Decimal('0.1') + decimal.Decimal('0.2'))", "0.3"),
    ("import fractions\nprint(fractions.Fraction(1, 3) * 3)", "1"),
    ("import statistics\nprint(statistics.median([3, 1, 2]))", "2"),
    ("import hashlib\nprint(hashlib.sha256(b'').hexdigest()[:8])", "e3b0c442"),
    ("import random\nrandom.seed(1)\nprint(random.randint(0, 9) in range(10))", "True"),
    (
        "import zlib, gzip, bz2, lzma\nprint(zlib.decompress(zlib.compress(b'a')), gzip.decompress(gzip.compress(b'a')), bz2.decompress(bz2.compress(b'a')), lzma.decompress(lzma.compress(b'a')))",
        "b'a' b'a' b'a' b'a'",
    ),
    ("import sqlite3\nprint(sqlite3.connect(':memory:').execute('select 1 + 1').fetchone())", "(2,)"),
    (
        "import threading\nfound = []\nthreads = [threading.Thread(target=found.append, args=(n,)) for n in range(8)]\n[t.start() for t in threads]\n[t.join() for t in threads]\nprint(sorted(found))",
        "[0, 1, 2, 3, 4, 5, 6, 7]",
    ),
    (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(4) as pool:\n    print(list(pool.map(lambda n: n * n, range(4))))",
        "[0, 1, 4, 9]",
    ),
    (
        "import asyncio\nasync def one():\n    await asyncio.sleep(1)\n    return 1\nprint(asyncio.run(one()))",
        "1",
    ),
    (
        "import selectors, os\nr, w = os.pipe()\ns = selectors.DefaultSelector()\ns.register(r, selectors.EVENT_READ)\nos.write(w, b'x')\nprint(len(s.select(1)))",
        "1",
    ),
    (
        "with open('/tmp/note.txt', 'w') as file:\n    file.write('kept')\nprint(open('/tmp/note.txt').read())",
        "kept",
    ),
    ("import xml.etree.ElementTree as e\nprint(e.fromstring('<a><b/></a>')[0].tag)", "b"),
    (
        "import unicodedata, string, textwrap, difflib, heapq, bisect, itertools, functools, collections, enum, typing, dataclasses, uuid, base64, struct, array, copy, pprint, logging, argparse, html, urllib.parse, email, pickle, shelve, contextlib, inspect, ast, dis, platform, locale, calendar, math, cmath, operator, secrets, time, glob, fnmatch, pathlib, shutil, tempfile, os\nprint(os.cpu_count() > 0, platform.system())",
        "True Linux",
    ),
];

#[test]
fn the_standard_library_works_behind_the_filter() {
    let Some(sandbox) = Backend::Cpython.sandbox() else { return };
    for (code, printed) in EVERYDAY {
        let shown = Session::open(&sandbox, &setup()).run(code);
        assert_eq!((*code, shown), (*code, format!("{printed}\n= done")));
    }
}
