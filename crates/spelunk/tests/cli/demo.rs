//! `spelunk demo`: a whole run, a crash and its resume, without a key.

use expect_test::expect;

use crate::scene::{Scene, short};

#[test]
fn the_demo_crashes_resumes_and_answers() {
    let scene = Scene::new(&[]);
    let ran = scene.spelunk(["demo"]).run();
    expect![[r#"
        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          deploys.csv:3  drop v1 token audience
          deploys.csv:4  use v2 token audience
          gateway.log:3  token audience "billing-v1" not accepted
          gateway.log:7  config reloaded: billing.audience=billing-v2
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
    "#]].assert_eq(&scene.normalise(&ran.stdout));
    // Which frames had closed before the crash depends on the machine; that two replies had arrived does not.
    let stderr = scene.normalise(&ran.stderr);
    let (before, rest) = stderr.split_once("0  program  open\n").unwrap();
    let (at_crash, after) = rest.split_once("\n\n\n").unwrap();
    expect![[r"
        A demonstration. The model is scripted: its replies are shipped with the program, nothing is sent anywhere.
        Everything else is real: the engine, its journal, the checked citations, the crash and the resume.

        question: Why did checkout fail on 3 March, and what would have prevented it?
        run SHORT over 3 documents, a child frame for each

        crash! The run was cut off after 2 replies. What its journal holds:

    "]].assert_eq(before);
    assert_eq!(
        (at_crash.matches(" tokens ").count(), at_crash.matches("#0  open").count()),
        (2, 1),
        "{at_crash}"
    );
    expect![[r#"
        resuming, as `spelunk resume SHORT` would:
        2 replies came from the journal, only 2 calls were made now

        0  program  answered, 5 cited  TIME
        ├─ 0.0  direct  answered, 2 cited  TIME
        │  └─ 0.0#0  299 → 46 tokens  $0.0006  TIME
        ├─ 0.1  direct  answered, 2 cited  TIME
        │  └─ 0.1#0  412 → 60 tokens  $0.0008  TIME
        ├─ 0.2  direct  answered, 1 cited  TIME
        │  └─ 0.2#0  340 → 42 tokens  $0.0006  TIME
        └─ 0#0  107 → 52 tokens  $0.0004  TIME

        warning: 1 request had been sent and not answered when the run stopped; it is counted as 4517 tokens, $0.020901 (that is the most it can have cost; the provider's bill may be lower)
        3 files · 1.2 kB read · 5 calls · 5.8k tokens · $0.0231 · TIME · run SHORT

        look at it again:  spelunk show SHORT   spelunk tail SHORT
        ask about your own text:  spelunk ask "what is this about?" PATH
    "#]]
    .assert_eq(after);
    assert_eq!(ran.code, 0);
    let run = scene.only_run();
    scene.spelunk(["show", short(&run)]).run().check(&expect![[r#"
        run       RUN  (answered)
        question  Why did checkout fail on 3 March, and what would have prevented it?
        model     scripted/demo
        corpus    3 files · 1.2 kB
        resumed   1 time

        0  program  answered, 5 cited  TIME
        ├─ 0.0  direct  answered, 2 cited  TIME
        │  └─ 0.0#0  299 → 46 tokens  $0.0006  TIME
        ├─ 0.1  direct  answered, 2 cited  TIME
        │  └─ 0.1#0  412 → 60 tokens  $0.0008  TIME
        ├─ 0.2  direct  answered, 1 cited  TIME
        │  └─ 0.2#0  340 → 42 tokens  $0.0006  TIME
        └─ 0#0  107 → 52 tokens  $0.0004  TIME

        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          deploys.csv:3  drop v1 token audience
          deploys.csv:4  use v2 token audience
          gateway.log:3  token audience "billing-v1" not accepted
          gateway.log:7  config reloaded: billing.audience=billing-v2
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
        warning: 1 request had been sent and not answered when the run stopped; it is counted as 4517 tokens, $0.020901 (that is the most it can have cost; the provider's bill may be lower)

        3 files · 1.2 kB read · 5 calls · 5.8k tokens · $0.0231 · TIME · run SHORT
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn the_demo_of_a_quiet_user_is_its_answer() {
    Scene::new(&[]).spelunk(["demo", "-q"]).run().check(&expect![[r#"
        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          deploys.csv:3  drop v1 token audience
          deploys.csv:4  use v2 token audience
          gateway.log:3  token audience "billing-v1" not accepted
          gateway.log:7  config reloaded: billing.audience=billing-v2
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
        --- stderr
        --- exit 0
    "#]]);
}
