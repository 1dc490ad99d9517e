//! `spelunk resume` of runs that cannot or need not continue.

use expect_test::expect;
use spelunk_testkit::{Gate, ModelServer, Rule, status};

use crate::scene::{NOTE, REPLY, Ran, Scene, answering, n_calls, short, to_all, wait_at, wait_for};

/// Fails once with an error that is not retried, then answers.
fn failing_once() -> Rule {
    to_all().fault(status(400)).reply(REPLY).usage(100, 20)
}

/// A run that failed.
fn failed() -> (Scene, ModelServer, String) {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([failing_once()]));
    assert_eq!(scene.ask(&server).run().code, 1);
    let run = scene.only_run();
    (scene, server, run)
}

#[test]
fn where_there_is_no_workspace_there_is_nothing_to_resume() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        --- stderr
        error: there are no runs here

        hint: ask something first, such as `spelunk ask "what is this?" .`
        --- exit 1
    "#]]);
    scene.spelunk(["resume", "k3f9"]).run().check(&expect![[r#"
        --- stderr
        error: there are no runs here

        hint: ask something first, such as `spelunk ask "what is this?" .`
        --- exit 1
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn an_unknown_run_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["resume", "nothing"]).run().check(&expect![[r"
        --- stderr
        error: there is no run `nothing`

        hint: run `spelunk run list` to see the runs of this workspace
        --- exit 1
    "]]);
}

#[test]
fn a_beginning_that_two_runs_share_is_refused_with_both() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let journal = std::fs::read(scene.journal_path(&run)).unwrap();
    scene.write(".spelunk/runs/rlm-20200101T000000Z-beef0001/journal.jsonl", &journal);
    scene.write(".spelunk/runs/rlm-20200102T000000Z-beef0002/journal.jsonl", &journal);
    let ran = scene.spelunk(["resume", "beef"]).run();
    expect![[r"
        error: 2 runs begin with `beef`

        hint: choose one of beef0001, beef0002
    "]]
    .assert_eq(&ran.stderr);
    assert_eq!(ran.code, 1);
}

#[test]
fn a_run_with_an_answer_gives_it_again() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let journal = std::fs::read(scene.journal_path(&run)).unwrap();
    scene.spelunk(["resume"]).run().check(&expect![[r"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        run SHORT already has its answer
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "]]);
    assert_eq!(std::fs::read(scene.journal_path(&run)).unwrap(), journal);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn a_run_that_failed_goes_on() {
    let (scene, server, run) = failed();
    scene.spelunk(["resume", short(&run)]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 6: no completed calls to reuse
        1 file · 35 B read · 2 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn another_model_is_refused() {
    let (scene, server, run) = failed();
    let journal = std::fs::read(scene.journal_path(&run)).unwrap();
    scene.spelunk(["resume", "--model", "other"]).server(&server).run().check(&expect![[r"
        --- stderr
        error: run `SHORT` was started with model openai/scripted, not openai/other

        hint: resume it with its original settings, or ask again: matching replies are taken from the cache
        --- exit 1
    "]]);
    assert_eq!(std::fs::read(scene.journal_path(&run)).unwrap(), journal);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn text_that_has_changed_is_refused() {
    let (scene, server, run) = failed();
    let journal = std::fs::read(scene.journal_path(&run)).unwrap();
    scene.write("notes/a.md", b"The magic number is 43.\n");
    scene.spelunk(["resume"]).run().check(&expect![[r"
        --- stderr
        error: the text of run `SHORT` has changed since it was started

        hint: ask again about the new text: matching replies are taken from the cache
        --- exit 1
    "]]);
    assert_eq!(std::fs::read(scene.journal_path(&run)).unwrap(), journal);
    assert_eq!(n_calls(&server), 1);
    scene.write("notes/a.md", NOTE[0].1.as_bytes());
    assert_eq!(scene.spelunk(["resume"]).run().code, 0);
}

#[test]
fn text_that_is_gone_is_refused() {
    let (scene, _server, _) = failed();
    std::fs::remove_file(scene.path("notes/a.md")).unwrap();
    scene.spelunk(["resume"]).run().check(&expect![[r"
        --- stderr
        error: no readable documents in `notes`

        hint: pass a path that contains text files
        --- exit 1
    "]]);
}

#[test]
fn a_run_that_another_process_works_on_is_refused_with_its_pid() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let asking = scene.ask(&server).start();
    wait_at(&gate, &server);
    let pid = format!("pid {}", asking.id());
    let ran = scene.spelunk(["resume"]).run();
    expect![[r"
        error: could not use the journal of run `SHORT`
          caused by: another process (pid PID) is working on run `SHORT`

        hint: watch it with `spelunk tail SHORT`
    "]]
    .assert_eq(&scene.normalise(&ran.stderr).replace(&pid, "pid PID"));
    assert_eq!(ran.code, 1);
    scene.spelunk(["gc"]).run().check(&expect![[r"
        --- stderr
        error: runs are active in this workspace

        hint: try again when they have ended
        --- exit 1
    "]]);
    gate.open();
    assert_eq!(Ran::of(&scene, asking.wait_with_output().unwrap()).code, 0);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn of_two_processes_that_resume_one_gets_the_run() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([failing_once().gate(&gate)]);
    let scene = Scene::new(&NOTE);
    assert_eq!(scene.ask(&server).run().code, 1);
    let resuming = scene.spelunk(["resume"]).start();
    wait_for("the second call", || (n_calls(&server) == 2).then_some(()));
    gate.reached_blocking(1);
    let pid = format!("pid {}", resuming.id());
    let ran = scene.spelunk(["resume"]).run();
    expect![[r"
        error: could not use the journal of run `SHORT`
          caused by: another process (pid PID) is working on run `SHORT`

        hint: watch it with `spelunk tail SHORT`
    "]]
    .assert_eq(&scene.normalise(&ran.stderr).replace(&pid, "pid PID"));
    gate.open();
    assert_eq!(Ran::of(&scene, resuming.wait_with_output().unwrap()).code, 0);
    assert_eq!(n_calls(&server), 2);
}
