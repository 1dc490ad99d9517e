//! `spelunk demo`: a whole run, a crash and its resume, without a key.

use expect_test::expect;

use crate::scene::{Scene, short};

#[test]
#[expect(clippy::too_many_lines, reason = "one expectation")]
fn the_demo_crashes_resumes_and_answers() {
    let scene = Scene::new(&[]);
    let ran = scene.spelunk(["demo"]).run();
    expect![[r#"
        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          gateway.log:3  2026-03-03T09:42:11Z gateway ERROR upstream billing-v2 refused: 401 token audience "billing-v1" not…
          deploys.csv:3  2026-03-03T09:42:00Z,billing,2.0.0,jo,drop v1 token audience
          deploys.csv:4  2026-03-03T10:17:00Z,gateway,5.4.1,sam,use v2 token audience
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
    "#]].assert_eq(&scene.normalise(&ran.stdout));
    expect![[r#"
        This is a demonstration: the model is scripted, and nothing is sent over the network. Everything else is real: the engine, the sandbox, the journal, the checked citations, the crash and the resume.

        Question: Why did checkout fail on 3 March, and what would have prevented it?

        turn 1 (TIME)
          > errors = grep("ERROR")
          > for hit in errors:
          >     print(hit["doc"], hit["line"], hit["text"])
            gateway.log 3 2026-03-03T09:42:11Z gateway ERROR upstream billing-v2 refused: 401 token audience "billing-v1" not accepted
            gateway.log 5 2026-03-03T09:42:14Z gateway ERROR upstream billing-v2 refused: 401 token audience "billing-v1" not accepted
        child 0.0, turn 1 (TIME)
          > for line in context.splitlines():
          >     if "2026-03-03" in line:
          >         print(line)
            2026-03-03T09:42:00Z,billing,2.0.0,jo,drop v1 token audience
            2026-03-03T10:17:00Z,gateway,5.4.1,sam,use v2 token audience

        Crash! The run was cut off in the middle of a reply. Its journal contains:

        0  repl  unfinished
        ├─ 0#0  902 → 32 tokens  $0.0011  TIME
        ├─ cell 0  printed  TIME  errors = grep("ERROR")
        ├─ 0#1  1.0k → 51 tokens  $0.0013  TIME
        └─ 0.0  repl  unfinished
           ├─ 0.0#0  828 → 24 tokens  $0.0010  TIME
           ├─ cell 0  printed  TIME  for line in context.splitlines():
           └─ 0.0#1  no reply yet

        Resuming, as `spelunk resume SHORT` would:

        child 0.0, turn 2 (TIME)
          > FINAL("Billing 2.0.0 dropped the v1 token audience at 09:42; the gateway followed only at 10:17.", cite=grep("token audience"))
        turn 2 (TIME)
          > change = rlm_query("What was deployed when the errors began at 09:42, and what ended them?", "deploys.csv")
          > print(change)
            Billing 2.0.0 dropped the v1 token audience at 09:42; the gateway followed only at 10:17.
        turn 3 (TIME)
          > evidence = errors[:1] + grep("token audience", doc="deploys.csv") + grep("other way round")
          > FINAL("Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.", cite=evidence)

        3 replies came from the journal; 2 new calls were made.

        0  repl  answered, 4 citations  TIME
        ├─ 0#0  902 → 32 tokens  $0.0011  TIME
        ├─ cell 0  printed  TIME  errors = grep("ERROR")
        ├─ 0#1  1.0k → 51 tokens  $0.0013  TIME
        ├─ 0.0  repl  answered, 2 citations  TIME
        │  ├─ 0.0#0  828 → 24 tokens  $0.0010  TIME
        │  ├─ cell 0  printed  TIME  for line in context.splitlines():
        │  ├─ 0.0#1  889 → 35 tokens  $0.0011  TIME
        │  └─ cell 1  answered  TIME  FINAL("Billing 2.0.0 dropped the v1 token audience at 09:42…
        ├─ cell 1  printed  TIME  change = rlm_query("What was deployed when the errors began…
        ├─ 0#2  1.0k → 84 tokens  $0.0016  TIME
        └─ cell 2  answered  TIME  evidence = errors[:1] + grep("token audience", doc="deploys…

        warning: 1 request was sent but not answered when the run stopped; it is counted as 5305 tokens, $0.021689 (this is an upper bound; the provider's bill may be lower)
        3 files · 1.2 kB explored in 5 cells · 6 calls · 10.2k tokens · $0.0276 · TIME · run SHORT

        Try next:
          spelunk show SHORT                    the run again: its tree, costs and answer
          spelunk serve                            runs in your browser
          spelunk ask "what is this about?" PATH   your own text
    "#]].assert_eq(&scene.normalise(&ran.stderr));
    assert_eq!(ran.code, 0);
    let run = scene.only_run();
    scene.spelunk(["show", short(&run)]).run().check(&expect![[r#"
        run       RUN  (answered)
        question  Why did checkout fail on 3 March, and what would have prevented it?
        model     scripted/demo
        corpus    3 files · 1.2 kB
        resumed   1 time

        0  repl  answered, 4 citations  TIME
        ├─ 0#0  902 → 32 tokens  $0.0011  TIME
        ├─ cell 0  printed  TIME  errors = grep("ERROR")
        ├─ 0#1  1.0k → 51 tokens  $0.0013  TIME
        ├─ 0.0  repl  answered, 2 citations  TIME
        │  ├─ 0.0#0  828 → 24 tokens  $0.0010  TIME
        │  ├─ cell 0  printed  TIME  for line in context.splitlines():
        │  ├─ 0.0#1  889 → 35 tokens  $0.0011  TIME
        │  └─ cell 1  answered  TIME  FINAL("Billing 2.0.0 dropped the v1 token audience at 09:42…
        ├─ cell 1  printed  TIME  change = rlm_query("What was deployed when the errors began…
        ├─ 0#2  1.0k → 84 tokens  $0.0016  TIME
        └─ cell 2  answered  TIME  evidence = errors[:1] + grep("token audience", doc="deploys…

        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          gateway.log:3  2026-03-03T09:42:11Z gateway ERROR upstream billing-v2 refused: 401 token audience "billing-v1" not…
          deploys.csv:3  2026-03-03T09:42:00Z,billing,2.0.0,jo,drop v1 token audience
          deploys.csv:4  2026-03-03T10:17:00Z,gateway,5.4.1,sam,use v2 token audience
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
        warning: 1 request was sent but not answered when the run stopped; it is counted as 5305 tokens, $0.021689 (this is an upper bound; the provider's bill may be lower)

        3 files · 1.2 kB explored in 5 cells · 6 calls · 10.2k tokens · $0.0276 · TIME · run SHORT
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn the_demo_of_a_quiet_user_is_its_answer() {
    Scene::new(&[]).spelunk(["demo", "-q"]).run().check(&expect![[r#"
        Billing 2.0.0 went out at 09:42, before the gateway asked for v2 tokens, so every checkout failed with 401 until the gateway followed at 10:17. Following the runbook, gateway first, would have prevented it.
          gateway.log:3  2026-03-03T09:42:11Z gateway ERROR upstream billing-v2 refused: 401 token audience "billing-v1" not…
          deploys.csv:3  2026-03-03T09:42:00Z,billing,2.0.0,jo,drop v1 token audience
          deploys.csv:4  2026-03-03T10:17:00Z,gateway,5.4.1,sam,use v2 token audience
          runbook.md:10  Doing it the other way round breaks every checkout until the gateway follows.
        --- stderr
        --- exit 0
    "#]]);
}
