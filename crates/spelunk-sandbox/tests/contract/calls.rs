//! Host calls, awaited and not, and how a host ends a cell.

use spelunk_sandbox::{HostReply, Sandbox, Step};

use crate::scene::{Session, all_kinds, setup};

fn session(sandbox: &Sandbox) -> Session {
    Session::open(sandbox, &setup())
}

pub(crate) fn arguments_arrive_by_position_and_by_name(sandbox: &Sandbox) {
    let shown = session(sandbox).run("r = ask('a', 1, model='m', deep=[True, None])\nprint(r)");
    assert_eq!(shown, "< ask('a', 1, model='m', deep=[True, None])\na\n= done");
}

pub(crate) fn every_kind_of_value_goes_both_ways(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let (steps, _) = session.run_to_end("v = give('all')\nask(v)\nnan = float('nan')");
    assert_eq!(steps[1][0].args, [all_kinds()]);
    assert_eq!(session.variable("v"), Some(all_kinds()));
    assert_eq!(
        session.run("print(v['big'] + 1, v['float'] * 10, v['text'] == 'a\"b\\U0001F600\\n', v['bytes'], type(v['set']))"),
        "123456789012345678901234567891 3.0000000000000004 True b'\\x00\\xff' <class 'set'>\n= done"
    );
}

pub(crate) fn a_host_call_can_raise_a_built_in_exception(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "try:\n    ask('raise ValueError: too long')\nexcept ValueError as e:\n    print(type(e).__name__, str(e), e.args)";
    assert_eq!(
        session.run(code),
        "< ask('raise ValueError: too long')\nValueError too long ('too long',)\n= done"
    );
    assert_eq!(
        session.run("x = 1\nask('raise TimeoutError: no answer')"),
        "< ask('raise TimeoutError: no answer')\n= TimeoutError: no answer"
    );
    assert_eq!(session.run("x"), "1\n= done");
}

pub(crate) fn a_host_call_can_raise_an_exception_of_the_setup(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "try:\n    ask('raise BudgetError: 0 left')\nexcept BudgetError as e:\n    print(type(e).__name__, e)";
    assert_eq!(session.run(code), "< ask('raise BudgetError: 0 left')\nBudgetError 0 left\n= done");
    let code = "try:\n    ask('raise BudgetError: 0 left')\nexcept Exception as e:\n    print(isinstance(e, BudgetError), repr(e))";
    assert_eq!(session.run(code), "< ask('raise BudgetError: 0 left')\nTrue BudgetError('0 left')\n= done");
    let code = "try:\n    ask('raise BudgetError: 0 left')\nexcept ValueError:\n    print('wrong')";
    assert_eq!(session.run(code), "< ask('raise BudgetError: 0 left')\n= BudgetError: 0 left");
    assert_eq!(session.run("raise BudgetError('mine')"), "= BudgetError: mine");
}

pub(crate) fn a_call_works_wherever_python_allows_one(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("[ask(i) for i in range(2)]"), "< ask(0)\n< ask(1)\n[0, 1]\n= done");
    assert_eq!(session.run("def f(x):\n    return ask(x) + 1\nf(f(1))"), "< ask(1)\n< ask(2)\n3\n= done");
    assert_eq!(session.run("sorted([2, 1], key=ask)"), "< ask(2)\n< ask(1)\n[1, 2]\n= done");
    assert_eq!(session.run("list(map(ask, 'ab'))"), "< ask('a')\n< ask('b')\n['a', 'b']\n= done");
    assert_eq!(session.run("f'{ask(1)}-{ask(2)}'"), "< ask(1)\n< ask(2)\n'1-2'\n= done");
    assert_eq!(session.run("{ask(1): ask(2)}"), "< ask(1)\n< ask(2)\n{1: 2}\n= done");
    assert_eq!(session.run("(lambda x: ask(x))('l')"), "< ask('l')\n'l'\n= done");
}

pub(crate) fn an_awaited_call_gives_its_value(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(session.run("r = await ask('a')\nprint(r)"), "< ask('a')\na\n= done");
    assert_eq!(session.run("await give('b')"), "< give('b')\n'b'\n= done");
    let code = "import asyncio\nasync def main():\n    return await ask('c')\nprint(asyncio.run(main()))";
    assert_eq!(session.run(code), "< ask('c')\nc\n= done");
    assert_eq!(session.run("ask('plain')"), "< ask('plain')\n'plain'\n= done");
}

pub(crate) fn calls_that_are_awaited_together_are_sent_together(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "import asyncio\nr = await asyncio.gather(ask('a'), ask('b'), ask('c'))\nprint(r)";
    assert_eq!(session.run(code), "< ask('a') | ask('b') | ask('c')\n['a', 'b', 'c']\n= done");
    let code = "r = await asyncio.gather(*[ask(i) for i in range(3)])\nawait ask(sum(r))";
    assert_eq!(session.run(code), "< ask(0) | ask(1) | ask(2)\n< ask(3)\n3\n= done");
}

pub(crate) fn a_function_that_awaits_is_gathered_too(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "import asyncio\nasync def twice(x):\n    first = await ask(x)\n    return await ask(first * 2)\nasync def main():\n    return await asyncio.gather(*[twice(i) for i in (1, 2)])\nprint(asyncio.run(main()))";
    assert_eq!(session.run(code), "< ask(1) | ask(2)\n< ask(2) | ask(4)\n[2, 4]\n= done");
}

pub(crate) fn one_failed_call_of_many_is_an_exception_of_its_own(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "import asyncio\nr = await asyncio.gather(ask('a'), ask('raise ValueError: bad'), return_exceptions=True)\nprint(r[0], type(r[1]).__name__, r[1])";
    assert_eq!(session.run(code), "< ask('a') | ask('raise ValueError: bad')\na ValueError bad\n= done");
    let code = "try:\n    await asyncio.gather(ask('a'), ask('raise ValueError: bad'))\nexcept ValueError as e:\n    print('caught', e)";
    assert_eq!(session.run(code), "< ask('a') | ask('raise ValueError: bad')\ncaught bad\n= done");
}

pub(crate) fn a_finish_cannot_be_caught(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let shown = "< ask('finish')\nbefore\n= finished";
    for code in [
        "print('before')\nask('finish')\nprint('after')",
        "print('before')\ntry:\n    ask('finish')\nexcept BaseException:\n    print('caught')",
        "print('before')\ntry:\n    ask('finish')\nfinally:\n    print('finally')",
        "print('before')\nwhile True:\n    try:\n        ask('finish')\n    except:\n        pass",
        "print('before')\ndef f():\n    try:\n        return ask('finish')\n    finally:\n        print('f')\ntry:\n    f()\nfinally:\n    print('g')",
        "print('before')\nclass C:\n    def __enter__(self):\n        return self\n    def __exit__(self, *a):\n        print('exit')\n        return True\nwith C():\n    ask('finish')",
    ] {
        assert_eq!(session.run(code), shown, "{code}");
    }
}

pub(crate) fn a_finish_within_a_gather_ends_the_cell(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "import asyncio\ntry:\n    await asyncio.gather(ask('a'), ask('finish'))\nexcept BaseException:\n    print('caught')\nprint('after')";
    assert_eq!(session.run(code), "< ask('a') | ask('finish')\n= finished");
    assert_eq!(session.run("await ask('again')"), "< ask('again')\n'again'\n= done");
}

pub(crate) fn a_finish_keeps_the_variables(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert_eq!(
        session.run("x = [1]\ndef f():\n    x.append(2)\n    ask('finish')\nf()\nx = None"),
        "< ask('finish')\n= finished"
    );
    assert_eq!(session.run("x"), "[1, 2]\n= done");
}

pub(crate) fn wrong_use_by_the_host_is_an_error(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    assert!(session.interpreter().resume(vec![HostReply::Finish]).is_err());
    let mut session = self::session(sandbox);
    assert!(matches!(session.interpreter().feed("ask(1)"), Ok(Step::Calls(calls)) if calls.len() == 1));
    assert!(session.interpreter().resume(vec![]).is_err());
    let mut session = self::session(sandbox);
    assert!(matches!(session.interpreter().feed("ask(1)"), Ok(Step::Calls(_))));
    assert!(session.interpreter().feed("1").is_err());
}

pub(crate) fn threads_of_a_pool_get_their_replies(sandbox: &Sandbox) {
    let mut session = session(sandbox);
    let code = "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(max_workers=3) as pool:\n    print(list(pool.map(ask, ['a', 'b', 'c'])))";
    let (steps, end) = session.run_to_end(code);
    let asked: Vec<_> = steps.into_iter().flatten().map(|call| call.args[0].clone()).collect();
    assert_eq!(asked, ["a".into(), "b".into(), "c".into()]);
    assert_eq!(crate::scene::show(&[], &end.unwrap()), "['a', 'b', 'c']\n= done");
    let code = "with ThreadPoolExecutor() as pool:\n    futures = [pool.submit(ask, i) for i in range(3)]\n    print([f.result() for f in futures])";
    let (_, end) = session.run_to_end(code);
    assert_eq!(crate::scene::show(&[], &end.unwrap()), "[0, 1, 2]\n= done");
}
