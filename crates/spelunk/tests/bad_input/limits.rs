//! Limits: a run stops before it spends too much, exits with code 3, and continues on request.

use expect_test::{Expect, expect};
use spelunk_testkit::{Fault, ModelServer};

use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, to_all};

/// Asks under a limit, then follows the hint.
#[track_caller]
fn stopped(setting: &str, stopped: &Expect, resumed: &Expect) {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let priced = ["--set=model.price_input_usd_per_mtok=10", "--set=model.price_output_usd_per_mtok=20"];
    let ran = scene.ask(&server).arg(priced[0]).arg(priced[1]).arg(&format!("--set={setting}")).run();
    ran.check(stopped);
    assert_eq!(n_calls(&server), 0);
    let hint = ran.stderr.split('`').find(|part| part.starts_with("spelunk resume")).unwrap();
    let args: Vec<&str> = hint.split(' ').skip(1).chain(priced).collect();
    scene.spelunk(args).run().check(resumed);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn calls_are_limited() {
    stopped(
        "limits.calls_max=0",
        &expect![[r#"
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT
            error: call limit reached (0)

            hint: continue: `spelunk resume SHORT --max-calls 1`
            --- exit 3
        "#]],
        &expect![[r#"
            The magic number is 42.
              a.md:3  The magic number is 42.
            --- stderr
            resuming run SHORT after event 7: no completed calls to reuse
            1 file · 35 B read · 1 call · 120 tokens · $0.0014 · TIME · run SHORT
            --- exit 0
        "#]],
    );
}

#[test]
fn tokens_are_limited() {
    stopped(
        "limits.tokens_max=3000",
        &expect![[r#"
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT
            error: token limit reached (3000)

            hint: continue: `spelunk resume SHORT --max-tokens 6000`
            --- exit 3
        "#]],
        &expect![[r#"
            The magic number is 42.
              a.md:3  The magic number is 42.
            --- stderr
            resuming run SHORT after event 7: no completed calls to reuse
            1 file · 35 B read · 1 call · 120 tokens · $0.0014 · TIME · run SHORT
            --- exit 0
        "#]],
    );
}

#[test]
fn cost_is_limited() {
    stopped(
        "limits.cost_microusd_max=50000",
        &expect![[r#"
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT
            error: cost limit reached ($0.05)

            hint: continue: `spelunk resume SHORT --max-cost 0.1`
            --- exit 3
        "#]],
        &expect![[r#"
            The magic number is 42.
              a.md:3  The magic number is 42.
            --- stderr
            resuming run SHORT after event 7: no completed calls to reuse
            1 file · 35 B read · 1 call · 120 tokens · $0.0014 · TIME · run SHORT
            --- exit 0
        "#]],
    );
}

#[test]
fn time_is_limited() {
    let scene = Scene::new(&NOTE);
    let rule = to_all().fault(Fault::StallBeforeHeaders).reply(REPLY).usage(100, 20);
    let server = ModelServer::start_blocking([rule]);
    let ran = scene.ask(&server).arg("--set=limits.run_ms_max=1500").run();
    ran.check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 1 call · 236 tokens · $0.00 · TIME · run SHORT
        error: time limit reached (TIME)

        hint: continue: `spelunk resume SHORT --max-time 3s`
        --- exit 3
    "#]]);
    let resume = scene.spelunk(["resume", "--set", "limits.run_ms_max=3000"]);
    resume.run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 8: no completed calls to reuse
        1 file · 35 B read · 2 calls · 356 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn json_holds_the_limit() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--set=limits.calls_max=0").arg("--json").arg("-q").run();
    let json = scene.normalise_json(&ran.stdout);
    expect![[r#"
        {
          "is": "partial",
          "stopped_by": "calls-exhausted"
        }
        {
          "causes": [],
          "code": "calls-exhausted",
          "hint": "raise it with `--set limits.calls_max=1`",
          "message": "call limit reached (0)"
        }
    "#]]
    .assert_eq(&format!("{:#}\n{:#}\n", json["outcome"], json["error"]));
    assert_eq!(ran.code, 3);
}
