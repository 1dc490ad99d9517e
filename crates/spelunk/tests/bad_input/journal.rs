//! Journals that are damaged, torn, or of a newer format.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status};

use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, short, to_all};

/// A run that failed after its call was started, and a server that would answer now.
fn failed() -> (Scene, ModelServer, String) {
    let rule = to_all().fault(status(400)).reply(REPLY).usage(100, 20);
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([rule]));
    assert_eq!(scene.ask(&server).run().code, 1);
    let run = scene.only_run();
    (scene, server, run)
}

/// The journal as an engine with another format version would have started it, including the checksum.
pub(crate) fn with_format(journal: &str, format: u32) -> String {
    let (first, rest) = journal.split_once('\n').unwrap();
    let (body, _) = first.rsplit_once(",\"sum\":").unwrap();
    let body = body.replacen("\"format\":2,", &format!("\"format\":{format},"), 1);
    let sum: String = spelunk_journal::digest(body.as_bytes()).to_string().chars().take(8).collect();
    format!("{body},\"sum\":\"{sum}\"}}\n{rest}")
}

#[test]
fn a_damaged_journal_is_refused_by_line_then_repaired_then_resumed() {
    let (scene, server, run) = failed();
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    let damaged = journal.replacen("\"passages.chosen\"", "\"passages.chosem\"", 1);
    std::fs::write(scene.journal_path(&run), &damaged).unwrap();
    scene.spelunk(["resume"]).run().check(&expect![[r"
        --- stderr
        error: could not use the journal of run `SHORT`
          caused by: journal line 4 of run `SHORT` is damaged: its checksum does not match

        hint: run `spelunk repair SHORT` to keep the first 3 events
        --- exit 1
    "]]);
    scene.spelunk(["show"]).run().check(&expect![[r"
        --- stderr
        error: journal line 4 of run `SHORT` is damaged: its checksum does not match

        hint: run `spelunk repair SHORT` to keep the first 3 events
        --- exit 1
    "]]);
    scene.spelunk(["gc"]).run().check(&expect![[r"
        --- stderr
        error: journal line 4 of run `SHORT` is damaged: its checksum does not match

        hint: run `spelunk repair SHORT` to keep the first 3 events
        --- exit 1
    "]]);
    assert_eq!(std::fs::read_to_string(scene.journal_path(&run)).unwrap(), damaged);
    scene.spelunk(["repair", short(&run)]).run().check(&expect![[r#"
        run SHORT keeps its first 3 events; 1.7 kB moved to runs/RUN/journal.cut-at-4
        Continue: spelunk resume SHORT
        --- stderr
        --- exit 0
    "#]]);
    // Nothing is deleted: the removed part is kept next to it.
    let aside = scene.path(&format!(".spelunk/runs/{run}/journal.cut-at-4"));
    let kept = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    assert_eq!(kept + &std::fs::read_to_string(aside).unwrap(), damaged);
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 3: no completed calls to reuse
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn a_sound_journal_needs_no_repair() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    scene.spelunk(["repair", short(&run)]).run().check(&expect![[r"
        run SHORT is intact: 9 events
        --- stderr
        --- exit 0
    "]]);
    scene.spelunk(["repair", "nothing"]).run().check(&expect![[r"
        --- stderr
        error: there is no run `nothing`

        hint: run `spelunk run list` to see the runs of this workspace
        --- exit 1
    "]]);
}

#[test]
fn a_torn_last_line_is_dropped() {
    let (scene, _server, run) = failed();
    let mut journal = std::fs::read(scene.journal_path(&run)).unwrap();
    journal.truncate(journal.len() - 7);
    std::fs::write(scene.journal_path(&run), &journal).unwrap();
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 5: no completed calls to reuse
        warning: 1 request was sent but not answered when the run stopped; it is counted as 4380 tokens (this is an upper bound; the provider's bill may be lower)
        1 file · 35 B read · 2 calls · 4.5k tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn a_journal_of_a_newer_format_is_refused_and_left_alone() {
    let (scene, server, run) = failed();
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    let newer = with_format(&journal, 3);
    std::fs::write(scene.journal_path(&run), &newer).unwrap();
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        --- stderr
        error: could not use the journal of run `SHORT`
          caused by: run `SHORT` has a journal of format 3; this version reads formats up to 2

        hint: use the version that wrote it, or a newer one
        --- exit 1
    "#]]);
    scene.spelunk(["show"]).run().check(&expect![[r#"
        --- stderr
        error: run `SHORT` has a journal of format 3; this version reads formats up to 2

        hint: use the version that wrote it, or a newer one
        --- exit 1
    "#]]);
    scene.spelunk(["repair", short(&run)]).run().check(&expect![[r#"
        --- stderr
        error: run `SHORT` has a journal of format 3; this version reads formats up to 2

        hint: use the version that wrote it, or a newer one
        --- exit 1
    "#]]);
    let ran = scene.spelunk(["run", "list"]).run();
    assert_eq!(ran.stdout.matches(" newer ").count(), 1, "{}", ran.stdout);
    assert_eq!(std::fs::read_to_string(scene.journal_path(&run)).unwrap(), newer);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn a_prompt_that_is_gone_is_told_and_the_reply_shown() {
    let text = "The magic number is 42, as everybody knows by now.\n".repeat(200);
    let scene = Scene::new(&[("notes/long.md", &text)]);
    let run = scene.answered(&answering(REPLY));
    std::fs::remove_file(scene.journal_path(&run).with_file_name("prompts.pack")).unwrap();
    scene.spelunk(["show", "--call", "0#0"]).run().check(&expect![[r#"
        --- the prompt was lost in a power failure ---
        --- reply ---
        The magic number is 42.

        ```evidence
        a.md:3: The magic number is 42.
        ```
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_run_that_died_before_its_first_line_is_nothing_to_resume() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.write(".spelunk/workspace.toml", b"format = 1\n");
    assert_eq!(scene.spelunk(["trust"]).run().code, 0);
    // A crash between creating the file and writing its first line.
    scene.write(".spelunk/runs/rlm-20260101T000000Z-0000000a/journal.jsonl", b"");
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        --- stderr
        error: there are no runs here

        hint: ask something first, such as `spelunk ask "what is this?" .`
        --- exit 1
    "#]]);
    scene.spelunk(["run", "list"]).run().check(&expect![[r#"
        --- stderr
        No runs yet.
        --- exit 0
    "#]]);
    assert_eq!(scene.spelunk(["gc"]).run().code, 0);
    assert_eq!(scene.ask(&server).run().code, 0);
}
