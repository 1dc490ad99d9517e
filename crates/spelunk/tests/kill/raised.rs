//! A run stopped by a limit, resumed under a higher one, killed in the middle of that and resumed again; a workspace
//! removed during a run, and a file beside the journal that cannot be written.

use expect_test::expect;
use spelunk_testkit::{Gate, ModelServer, when};

use crate::scene::{NOTE, QUESTION, REPLY, Ran, Scene, n_calls, short, to_all, wait_at, wait_for};

/// A model that explores, answers, and concludes with what it has when asked to. Its answer is held at the gate.
pub(crate) fn explorer(gate: &Gate) -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("The budget is used up.")).reply("I saw a part.").usage(100, 20),
        when(|prompt| prompt.contains("Output:"))
            .reply("```repl\nFINAL('42')\n```")
            .usage(100, 20)
            .gate(gate),
        to_all().reply("```repl\nprint(context)\n```").usage(100, 20),
    ])
}

#[test]
fn a_partial_answer_becomes_whole_under_a_higher_limit_whatever_happens_meanwhile() {
    let gate = Gate::new();
    let (scene, server) = (Scene::new(&NOTE), explorer(&gate));
    let ask = ["ask", QUESTION, "notes", "--strategy", "repl", "--max-calls", "2"];
    scene.spelunk(ask).server(&server).run().check(&expect![[r#"
        I saw a part.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 1 cell · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
        Partial answer. Call limit reached (2). Continue: spelunk resume SHORT --max-calls 4
        --- exit 3
    "#]]);
    scene.spelunk(["resume", "--max-calls", "2"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: run `SHORT` has a partial answer: call limit reached (2), and the limit is now 2

        hint: continue: `spelunk resume SHORT --max-calls 4`
        --- exit 3
    "#]]);
    let mut resuming = scene.spelunk(["resume", "--max-calls", "4"]).server(&server).start();
    wait_for("the answer", || (n_calls(&server) == 3).then_some(()));
    gate.reached_blocking(1);
    resuming.kill().unwrap();
    resuming.wait().unwrap();
    gate.open();
    scene.spelunk(["resume", "--max-calls", "4"]).server(&server).run().check(&expect![[r#"
        42
        --- stderr
        resuming run SHORT after event 13: reusing 1 completed call
        warning: 1 request was sent but not answered when the run stopped; it is counted as 5161 tokens (this is an upper bound; the provider's bill may be lower)
        1 file · 35 B explored in 2 cells · 4 calls · 5.5k tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
    // The exploration, the conclusion, the answer that was lost with its process, and the answer.
    assert_eq!(n_calls(&server), 4);
    let again = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!((again.code, again.stdout.as_str()), (0, "42\n"), "{}", again.stderr);
}

#[test]
fn a_workspace_that_is_removed_under_a_run_ends_it_with_a_word() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let asking = scene.ask(&server).start();
    wait_at(&gate, &server);
    std::fs::remove_dir_all(scene.path(".spelunk")).unwrap();
    gate.open();
    let ran = Ran::of(&scene, asking.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    // There is nothing to resume, so nothing suggests it.
    let end = "\n  caused by: it was removed during the run\n\n\
        hint: ask again: the record of the run is lost\n";
    assert!(ran.stderr.ends_with(end), "{}", ran.stderr);
    assert!(!scene.exists(".spelunk/runs"));
}

#[test]
fn a_file_beside_the_journal_that_cannot_be_written_is_named_and_costs_no_answer() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let asking = scene.ask(&server).start();
    wait_at(&gate, &server);
    let run = scene.only_run();
    // It may have been written once.
    let taken = scene.path(&format!(".spelunk/runs/{run}/metadata.json"));
    drop(std::fs::remove_file(&taken));
    std::fs::create_dir(&taken).unwrap();
    gate.open();
    let ran = Ran::of(&scene, asking.wait_with_output().unwrap());
    assert!(ran.code == 0 && ran.stdout.starts_with("The magic number is 42.\n"), "{}", ran.stderr);
    let told = format!(
        "warning: the files of run {0} are incomplete: could not write `{1}`: Is a directory (os error 21); \
         rewrite them with `spelunk run export {0} --format workspace`\n",
        short(&run),
        taken.display(),
    );
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    std::fs::remove_dir(&taken).unwrap();
    let again = scene.spelunk(["run", "export", "--format", "workspace"]).run();
    assert_eq!(again.code, 0, "{}", again.stderr);
}
