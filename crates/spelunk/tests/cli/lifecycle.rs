//! A run after its answer: follow-up, archive, unarchive, cleanup.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::expect;
use serde_json::Value;
use spelunk_journal::{Workspace, unarchive};
use spelunk_testkit::{Gate, ModelServer, status};
use spelunk_types::{Event, RunId};

use crate::scene::archive::{gzip, tar};
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, short, to_all, wait_at};

/// Every file of a folder except locks.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if !path.ends_with("run.lock") {
                files.insert(
                    path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(),
                    std::fs::read(&path).unwrap(),
                );
            }
        }
    }
    files
}

/// An answered run with blobs: its document and its reply are too long for a journal line.
fn long_run() -> (Scene, String) {
    let text = "The magic number is 42, as everybody knows by now.\n".repeat(200);
    let scene = Scene::new(&[("notes/long.md", &text)]);
    let server = answering(&format!("Long.\n\n{}", "It is 42 indeed. ".repeat(1000)));
    let run = scene.answered(&server);
    (scene, run)
}

#[test]
fn an_archived_run_comes_back_as_it_was_even_after_its_blobs_are_gone() {
    let (scene, run) = long_run();
    let home = scene.path(".spelunk/runs").join(&run);
    let (before, shown) = (files(&home), scene.spelunk(["show"]).run().stdout);
    let ran = scene.spelunk(["run", "archive", short(&run)]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with(&format!("archived {} · ", short(&run))), "{}", ran.stdout);
    assert!(!home.exists());
    assert_eq!(scene.spelunk(["run", "list"]).run().stdout, "");
    let listed = scene.spelunk(["run", "list", "--lifecycle", "archived", "--json"]).run().stdout;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[0]["run"], run.as_str());
    assert_eq!((&listed[0]["state"], &listed[0]["lifecycle"]), (&"answered".into(), &"archived".into()));
    assert_eq!(listed[0]["question"], QUESTION);
    let collected = scene.spelunk(["gc"]).run().stdout;
    assert!(collected.ends_with("· 0 blobs kept\n"), "{collected}");
    let ran = scene.spelunk(["run", "unarchive", short(&run), "--json"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(files(&home), before);
    assert_eq!(scene.spelunk(["show"]).run().stdout, shown);
    assert!(!scene.exists(&format!(".spelunk/archive/{run}.tar.gz")));
    assert_eq!(scene.spelunk(["run", "unarchive", short(&run)]).run().code, 1);
}

#[test]
fn a_run_in_use_is_neither_archived_nor_cleaned() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let child = scene.ask(&server).start();
    wait_at(&gate, &server);
    let run = scene.only_run();
    let ran = scene.spelunk(["run", "archive", short(&run)]).run();
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("is working on run"), "{}", ran.stderr);
    scene.spelunk(["run", "clean", "--older-than", "0d", "--all"]).run().check(&expect![[r"
        kept SHORT: in use
        removed 0 runs · 0 B
        --- stderr
        --- exit 0
    "]]);
    gate.open();
    assert!(child.wait_with_output().unwrap().status.success());
    assert_eq!(scene.only_run(), run);
}

#[test]
fn clean_removes_what_is_old_and_answered_and_says_so_first_if_asked() {
    let rule = to_all().fault(status(400)).reply(REPLY).usage(100, 20);
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([rule]));
    assert_eq!(scene.ask(&server).run().code, 1);
    let failed = scene.only_run();
    assert_eq!(scene.ask(&server).arg("--no-cache").run().code, 0);
    let answered = scene.runs().into_iter().find(|run| *run != failed).unwrap();
    let damaged = "rlm-20260101T000000Z-0000000b";
    let journal = std::fs::read_to_string(scene.journal_path(&answered)).unwrap();
    let bytes = journal.replacen("\"call.started\"", "\"call.startled\"", 1);
    scene.write(&format!(".spelunk/runs/{damaged}/journal.jsonl"), bytes.as_bytes());
    scene.spelunk(["run", "clean"]).run().check(&expect![[r#"
        kept SHORT2: journal-damaged
        removed 0 runs · 0 B
        --- stderr
        --- exit 0
    "#]]);
    let ran = scene.spelunk(["run", "clean", "--older-than", "0d", "--dry-run", "--json"]).run();
    let said: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(said["dry_run"], true);
    assert_eq!(said["removed"][0]["run"], answered.as_str());
    let kept: BTreeMap<&str, &str> = said["kept"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fate| (fate["run"].as_str().unwrap(), fate["kept"].as_str().unwrap()))
        .collect();
    assert_eq!(kept, BTreeMap::from([(failed.as_str(), "can be resumed"), (damaged, "journal-damaged")]));
    assert_eq!(scene.runs().len(), 3);
    let ran = scene.spelunk(["run", "clean", "--older-than", "0h"]).run();
    assert!(ran.stdout.contains("removed 1 run · "), "{}", ran.stdout);
    assert!(!scene.journal_path(&answered).exists());
    assert!(scene.journal_path(&failed).exists());
    assert_eq!(scene.spelunk(["run", "clean", "--older-than", "0d", "--all"]).run().code, 0);
    assert!(!scene.journal_path(&failed).exists());
    assert!(scene.journal_path(damaged).exists());
}

#[test]
fn retention_is_a_setting_and_times_are_checked() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let ran = scene.spelunk(["run", "clean", "--set", "run.retention_days=0"]).run();
    assert!(ran.stdout.starts_with(&format!("removed {} · ", short(&run))), "{}", ran.stdout);
    scene.spelunk(["run", "clean", "--older-than", "soon"]).run().check(&expect![[r"
        --- stderr
        error: `soon` is not a duration

        hint: give days or hours, such as `30d` or `12h`
        --- exit 2
    "]]);
    let empty = Scene::new(&[]);
    empty.spelunk(["run", "clean"]).run().check(&expect![[r"
        removed 0 runs · 0 B
        --- stderr
        --- exit 0
    "]]);
    assert!(!empty.exists(".spelunk"));
}

/// The same run as if it had been made so many days ago.
fn aged(scene: &Scene, run: &str, days: u64) -> String {
    let workspace = Workspace::open(&scene.path(".spelunk")).unwrap();
    let records = workspace.read_journal(&run.parse().unwrap()).unwrap();
    let events: Vec<Event> = records.iter().filter_map(|record| record.event().cloned()).collect();
    let earlier = |at_ms: u64| at_ms - days * 86_400_000;
    let old = RunId::new(earlier(events[0].at_ms), 7);
    let mut journal = workspace.create_journal(&old);
    for event in events {
        journal.append(earlier(event.at_ms), vec![(event.frame, event.kind)]).unwrap();
    }
    old.to_string()
}

#[test]
fn s0_06_a_run_past_its_retention_is_removed_when_another_starts() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let (young, old) = (aged(&scene, &run, 29), aged(&scene, &run, 31));
    let ran = scene.ask(&server).run();
    let said = "Removed 1 run unchanged for 30 days (`run.retention_days`)";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
    assert!(!scene.journal_path(&old).exists() && scene.journal_path(&young).exists());
    // 0 leaves it to `run clean`.
    assert_eq!(scene.ask(&server).arg("--set").arg("run.retention_days=0").run().code, 0);
    assert!(scene.journal_path(&young).exists());
    assert_eq!(scene.ask(&server).arg("--set").arg("run.retention_days=28").run().code, 0);
    assert!(!scene.journal_path(&young).exists() && scene.journal_path(&run).exists());
}

#[test]
fn a_process_that_asks_often_looks_for_old_runs_once_an_hour() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let ask = |engine: &spelunk::Spelunk| {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let question = spelunk::Question::new("What?").path("notes").strategy(spelunk::Strategy::Direct);
        assert!(runtime.block_on(engine.ask(question)).unwrap().success);
    };
    let engine = || {
        let builder = spelunk::Spelunk::builder().isolated().directory(scene.path(""));
        let builder = builder.variable("HOME", scene.home()).model("openai/scripted");
        builder.base_url(server.base_url()).build().unwrap()
    };
    let (first, before) = (engine(), aged(&scene, &run, 31));
    ask(&first);
    let after = aged(&scene, &run, 32);
    ask(&first);
    assert!(!scene.journal_path(&before).exists() && scene.journal_path(&after).exists());
    ask(&engine());
    assert!(!scene.journal_path(&after).exists() && scene.journal_path(&run).exists());
}

#[test]
fn s0_05_an_archived_run_says_so_and_is_active_again_when_it_is_unpacked() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let metadata = format!(".spelunk/runs/{run}/metadata.json");
    let active = scene.read(&metadata);
    assert!(active.contains("\"lifecycle\": \"active\""), "{active}");
    assert_eq!(scene.spelunk(["run", "archive", short(&run), "-q"]).run().code, 0);
    let workspace = Workspace::open(&scene.path(".spelunk")).unwrap();
    unarchive(&workspace, &run.parse().unwrap()).unwrap();
    let text = scene.read(&metadata);
    assert_eq!(text, active.replace("\"lifecycle\": \"active\"", "\"lifecycle\": \"archived\""));
    assert_eq!(scene.spelunk(["run", "archive", short(&run), "-q"]).run().code, 0);
    assert_eq!(scene.spelunk(["run", "unarchive", short(&run), "-q"]).run().code, 0);
    assert_eq!(scene.read(&metadata), active);
}

#[test]
fn archives_are_cleaned_only_when_they_are_meant() {
    let (scene, run) = long_run();
    assert_eq!(scene.spelunk(["run", "archive", short(&run), "-q"]).run().code, 0);
    let archive = format!(".spelunk/archive/{run}.tar.gz");
    assert_eq!(scene.spelunk(["run", "clean", "--older-than", "0d", "--all"]).run().code, 0);
    assert!(scene.exists(&archive));
    let ran = scene.spelunk(["run", "clean", "--older-than", "0d", "--archives"]).run();
    assert!(ran.stdout.starts_with(&format!("removed {} (archive) · ", short(&run))), "{}", ran.stdout);
    assert!(!scene.exists(&archive));
}

#[test]
fn an_archive_from_elsewhere_puts_nothing_where_it_does_not_belong() {
    let (scene, run) = long_run();
    assert_eq!(scene.spelunk(["run", "archive", short(&run), "-q"]).run().code, 0);
    let archive = format!(".spelunk/archive/{run}.tar.gz");
    let whole = std::fs::read(scene.path(&archive)).unwrap();
    let hash = "0".repeat(64);
    let blob = format!("blobs/00/{hash}");
    let journal = format!("runs/{run}/journal.jsonl");
    let stray = format!("runs/{run}/../../../stray");
    let hostile: Vec<(Vec<u8>, &str)> = vec![
        (gzip(&tar(&[(&stray, "x")])), "which is not part of a run"),
        (gzip(&tar(&[("workspace.toml", "x")])), "which is not part of a run"),
        (gzip(&tar(&[(&blob, "x")])), "with the wrong content"),
        (gzip(&linked(tar(&[(&journal, "")]))), "which is not part of a run"),
        (gzip(&tar(&[("summary.json", "{}")])), "contains no journal"),
        (whole.get(..whole.len() / 2).unwrap().to_vec(), "is truncated or not an archive"),
        (b"no archive".to_vec(), "is truncated or not an archive"),
    ];
    for (bytes, why) in hostile {
        scene.write(&archive, &bytes);
        let ran = scene.spelunk(["run", "unarchive", short(&run)]).run();
        assert_eq!(ran.code, 1);
        assert!(ran.stderr.contains(why), "{why}: {}", ran.stderr);
        assert!(!scene.exists("stray") && !scene.path(".spelunk/runs").join(&run).exists());
        assert_eq!(scene.spelunk(["run", "list", "--lifecycle", "all"]).run().code, 0);
    }
    scene.write(&archive, &whole);
    assert_eq!(scene.spelunk(["run", "unarchive", short(&run)]).run().code, 0);
}

/// The tar with its first entry turned into a symbolic link.
fn linked(mut tar: Vec<u8>) -> Vec<u8> {
    tar[156] = b'2';
    tar[157..163].copy_from_slice(b"/stray");
    tar[148..156].copy_from_slice(b"        ");
    let sum: u32 = tar[..512].iter().map(|&byte| u32::from(byte)).sum();
    tar[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    tar
}

#[test]
fn runs_are_listed_by_state() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    let listed =
        |state| scene.spelunk(["run", "list", "--state", state]).run().stdout.lines().skip(1).count();
    assert_eq!(
        ["answered", "interrupted", "open", "limited", "stopped", "damaged"].map(listed),
        [1, 0, 0, 0, 0, 0]
    );
    scene.spelunk(["run", "list", "--state", "done"]).run().check(&expect![[r"
        --- stderr
        error: there is no state `done`

        hint: choose one of running, waiting, interrupted, limited, answered, failed, cancelled, damaged, newer
        --- exit 2
    "]]);
    let shown = scene.spelunk(["run", "show"]).run().stdout;
    assert_eq!(shown, scene.spelunk(["show"]).run().stdout);
}

#[test]
fn another_question_is_asked_about_the_files_of_an_earlier_run() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.write("notes/left-out.log", b"nothing\n");
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--exclude", "*.log", "-q"]).server(&server);
    assert_eq!(ask.run().code, 0);
    let run = scene.only_run();
    let again =
        scene.spelunk(["ask", "And which one is it not?", "--run", short(&run)]).server(&server).run();
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert!(again.stderr.contains("1 file · "), "{}", again.stderr);
    let started = |run: &str| scene.journal(run).into_iter().next().unwrap();
    let second = scene.runs().into_iter().find(|other| *other != run).unwrap();
    let (first, second) = (started(&run), started(&second));
    assert_eq!((&first["sources"], &first["scan"]), (&second["sources"], &second["scan"]));
    assert_eq!(first["corpus_digest"], second["corpus_digest"]);
    assert_eq!(second["question"]["text"], "And which one is it not?");
}

#[test]
fn text_from_standard_input_can_be_asked_about_again() {
    let (scene, server) = (Scene::new(&[]), answering("42.\n\n```evidence\nstdin:2: forty-two\n```"));
    let ask = scene.spelunk(["ask", QUESTION, "-", "-q"]).server(&server).stdin("one\nforty-two\n");
    assert_eq!(ask.run().code, 0);
    let run = scene.only_run();
    let ran = scene.spelunk(["ask", "Again?", "--run", short(&run), "-q"]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "42.\n  stdin:2  forty-two\n"));
}

#[test]
fn a_run_and_a_path_cannot_both_be_asked_about() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let before = n_calls(&server);
    for extra in [&["notes"][..], &["--include", "*.md"][..], &["--no-gitignore"][..]] {
        let args = ["ask", "Again?", "--run", short(&run)].into_iter().chain(extra.iter().copied());
        scene.spelunk(args).server(&server).run().check(&expect![[r"
            --- stderr
            error: `--run` uses the files of that run, so paths and file flags cannot be given with it

            hint: leave out either `--run` or the paths and file flags
            --- exit 2
        "]]);
    }
    scene.spelunk(["ask", "Again?", "--run", "ffff"]).server(&server).run().check(&expect![[r"
        --- stderr
        error: there is no run `ffff`

        hint: run `spelunk run list` to see the runs of this workspace
        --- exit 1
    "]]);
    assert_eq!(n_calls(&server), before);
}

#[test]
fn resume_takes_the_newest_run_that_can_be_resumed_and_no_session() {
    let rule = to_all().fault(status(400)).reply(REPLY).usage(100, 20);
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([rule]));
    assert_eq!(scene.ask(&server).run().code, 1);
    let failed = scene.only_run();
    assert_eq!(scene.ask(&server).arg("--no-cache").run().code, 0);
    assert_eq!(scene.spelunk(["repl", "notes"]).stdin("print(1)\n").run().code, 0);
    assert_eq!(scene.runs().len(), 3);
    let resumed = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert!(resumed.stderr.contains(&format!("resuming run {}", short(&failed))), "{}", resumed.stderr);
    // Now nothing can be resumed: the newest run is named.
    assert!(scene.spelunk(["resume"]).run().stderr.contains("already has its answer"));
}

#[test]
fn a_workspace_above_is_found_and_a_foreign_one_is_not() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    std::fs::create_dir_all(scene.path("deep/er")).unwrap();
    let below = |dir: &str| {
        let script = format!("cd {dir}");
        scene.after_shell(&script, ["run", "list", "--json"]).run()
    };
    assert!(below("deep/er").stdout.contains(&run));
    assert!(!scene.exists("deep/er/.spelunk") && !scene.exists("deep/.spelunk"));
    // A workspace that this user did not create is passed over.
    scene.write("deep/.spelunk/workspace.toml", scene.read(".spelunk/workspace.toml").as_bytes());
    assert!(below("deep/er").stdout.contains(&run));
}
