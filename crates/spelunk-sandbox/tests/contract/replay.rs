//! The same cells and replies give the same steps: a run resumes by feeding them again.

use spelunk_sandbox::{CellEnd, HostCall, Sandbox};

use crate::scene::{Session, setup};

/// Cells whose output would differ between two runs if anything real leaked through.
const CELLS: [&str; 9] = [
    "import time, random, datetime\nprint(time.time(), time.time())",
    "print(random.random(), random.randint(0, 10**9), random.sample(range(100), 5))",
    "x = list('abcdef')\nrandom.shuffle(x)\nprint(x)",
    "print({'apple', 'pear', 'plum', 'fig', 'kiwi', 'lime'})",
    "print(datetime.datetime.now(), datetime.date.today())",
    "time.sleep(3600)\nprint(time.time(), time.perf_counter(), time.monotonic())",
    "import asyncio\nprint(await asyncio.gather(*[ask(i) for i in range(4)]))",
    "print([hash(w) for w in ('a', 'b')])\nprint(1 / 0)",
    "def f():\n    return ask(str(random.random()))\nprint(f(), f)",
];

type Steps = Vec<(Vec<Vec<HostCall>>, CellEnd)>;

fn play(sandbox: &Sandbox) -> Steps {
    let mut session = Session::open(sandbox, &setup());
    CELLS
        .iter()
        .map(|code| {
            let (steps, end) = session.run_to_end(code);
            (steps, end.expect("the interpreter lives"))
        })
        .collect()
}

pub(crate) fn the_same_cells_and_replies_give_the_same_steps(sandbox: &Sandbox) {
    let first = play(sandbox);
    assert!(first.iter().filter(|(_, end)| matches!(end, CellEnd::Done { .. })).count() == 8, "{first:#?}");
    assert_eq!(play(sandbox), first);
}

pub(crate) fn a_session_is_rebuilt_by_feeding_it_again(sandbox: &Sandbox) {
    let cells =
        ["x = [ask(i) for i in range(3)]", "x.append(1 / 0)", "def f():\n    return sum(x)", "y = ask(f())"];
    let mut old = Session::open(sandbox, &setup());
    let mut new = Session::open(sandbox, &setup());
    for code in cells {
        assert_eq!(old.run(code), new.run(code));
    }
    assert_eq!(new.run("print(x, y, f())"), "[0, 1, 2] 3 3\n= done");
    assert_eq!(old.variable("y"), new.variable("y"));
}

pub(crate) fn time_comes_from_the_setup(sandbox: &Sandbox) {
    let mut session = Session::open(sandbox, &setup());
    assert_eq!(
        session.run("import time\nprint(time.time(), time.time())"),
        "1700000000.0 1700000000.001\n= done"
    );
    assert_eq!(session.run("time.sleep(60)\nprint(time.time())"), "1700000060.002\n= done");
    let code = "import datetime\nprint(datetime.datetime.now().isoformat(), datetime.date.today())";
    assert_eq!(session.run(code), "2023-11-14T22:14:20.003000 2023-11-14\n= done");
}

pub(crate) fn chance_comes_from_the_seed(sandbox: &Sandbox) {
    let mut session = Session::open(sandbox, &setup());
    // The result of `random.Random(7).random()` in every Python.
    assert_eq!(session.run("import random\nrandom.random()"), "0.32383276483316237\n= done");
    let mut other = setup();
    other.seed = 8;
    assert_eq!(
        Session::open(sandbox, &other).run("import random\nrandom.random()"),
        "0.2267058593810488\n= done"
    );
}
