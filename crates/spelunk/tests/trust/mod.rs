//! A repository written by somebody else, with a workspace and settings in it: nothing outside the project is changed,
//! no answer is forged, nothing is paid for, and the user is warned.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;

use expect_test::expect;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, short};

/// Every file, link and directory below the root, by path, with its content.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.file_type().unwrap());
            let held = if kind.is_dir() {
                folders.push(path.clone());
                "directory".to_owned()
            } else if kind.is_symlink() {
                format!("link to {}", std::fs::read_link(&path).unwrap().display())
            } else {
                String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned()
            };
            found.insert(path.strip_prefix(root).unwrap().display().to_string(), held);
        }
    }
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A clone of somebody's project: the notes, and the workspace of a run of theirs, with a forged answer.
fn clone_with_workspace() -> Scene {
    let theirs = Scene::new(&NOTE);
    theirs.answered(&answering("The magic number is 666."));
    let ours = Scene::new(&NOTE);
    copy(&theirs.path(".spelunk"), &ours.path(".spelunk"));
    ours
}

#[test]
fn a_workspace_that_came_with_a_clone_is_refused_and_says_how_to_trust_it() {
    let scene = clone_with_workspace();
    let server = answering(REPLY);
    scene.ask(&server).run().check(&expect![[r#"
        --- stderr
        error: the workspace `DIR/work/.spelunk` is not trusted: you did not create it on this machine, so it may have come with the files around it

        hint: if you know where it comes from, run `spelunk trust`; otherwise delete it, or keep runs elsewhere with `--workspace DIR`
        --- exit 2
    "#]]);
    assert_eq!(n_calls(&server), 0);
    scene.spelunk(["trust"]).run().check(&expect![[r#"
        trusted: DIR/work/.spelunk (1 run)
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["trust"]).run().check(&expect![[r#"
        already trusted: DIR/work/.spelunk (1 run)
        --- stderr
        --- exit 0
    "#]]);
    // Their cached reply is never used, even in a trusted workspace.
    let ran = scene.ask(&server).run();
    assert!(ran.stdout.starts_with("The magic number is 42."), "{}", ran.stdout);
    assert_eq!(n_calls(&server), 1);
    // Our own is used.
    scene.ask(&server).run();
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn a_workspace_that_is_not_trusted_is_read_and_never_changed() {
    let scene = clone_with_workspace();
    let run = short(&scene.only_run()).to_owned();
    let before = tree(&scene.path(".spelunk"));
    for reads in [
        vec!["show", &run],
        vec!["run", "list"],
        vec!["tail", &run],
        vec!["context", "list"],
        vec!["resume", &run],
        vec!["run", "export", &run],
    ] {
        let ran = scene.spelunk(reads.clone()).run();
        assert_eq!(ran.code, 0, "{reads:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("note: the workspace"), "{reads:?}: {}", ran.stderr);
        assert!(
            ran.stderr.contains("; opened read-only\n") && !ran.stderr.contains("warning"),
            "{}",
            ran.stderr
        );
    }
    let server = answering(REPLY);
    let writes = [
        vec!["ask", QUESTION, "notes"],
        vec!["repair", &run],
        vec!["gc"],
        vec!["run", "clean", "--older-than", "1h"],
        vec!["run", "archive", &run],
        vec!["run", "export", &run, "--format", "workspace"],
        vec!["repl", "notes"],
        vec!["search", "magic", "notes"],
        vec!["context", "add", "notes/a.md"],
        vec!["mcp"],
        vec!["serve", "--listen", "127.0.0.1:0"],
    ];
    for words in writes {
        let ran = scene.spelunk(words.clone()).server(&server).run();
        assert!(ran.code == 2, "{words:?}: {} {}", ran.code, ran.stderr);
        assert!(
            ran.stderr.contains("is not trusted") || ran.stderr.contains("usage"),
            "{words:?}: {}",
            ran.stderr
        );
    }
    assert_eq!(n_calls(&server), 0);
    assert_eq!(tree(&scene.path(".spelunk")), before);
}

/// Links that a later pull put into a trusted workspace, each to a directory or file outside.
const PLANTED: [(&str, &str); 20] = [
    ("replies-v1", "folder"),
    ("tmp", "folder"),
    ("blobs", "folder"),
    ("archive", "folder"),
    ("index-v1", "folder"),
    ("inline", "folder"),
    ("server", "folder"),
    ("runs", "folder"),
    ("runs/RUN", "folder"),
    ("runs/RUN/run.lock", "file"),
    ("runs/RUN/prompts.pack", "file"),
    ("runs/RUN/journal.jsonl", "file"),
    ("runs/RUN/metadata.json", "file"),
    ("runs/RUN/results", "folder"),
    ("repl_history", "file"),
    ("registry.json", "file"),
    ("registry.lock", "file"),
    ("workspace.lock", "file"),
    ("workspace.toml", "file"),
    ("workspace.id", "file"),
];

#[test]
fn no_command_reads_writes_or_deletes_through_a_link_in_a_workspace() {
    for (name, target) in PLANTED {
        let scene = Scene::new(&NOTE);
        let server = answering(REPLY);
        let run = scene.answered(&server);
        scene.spelunk(["context", "add", "notes/a.md"]).run();
        scene.spelunk(["search", "magic", "notes"]).run();
        let outside = scene.root().join("outside");
        let canary = "0123456789abcdef".repeat(4);
        for file in ["file", "folder/1-1", "folder/journal.jsonl", &format!("folder/01/{canary}")] {
            let path = outside.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "theirs").unwrap();
        }
        let place = scene.path(".spelunk").join(name.replace("RUN", &run));
        if place.is_dir() {
            std::fs::remove_dir_all(&place).unwrap();
        } else if place.exists() {
            std::fs::remove_file(&place).unwrap();
        }
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(outside.join(target), &place).unwrap();
        let before = tree(&outside);
        let commands = [
            vec!["ask", "How many numbers are there?", "notes", "--set", "limits.cache_bytes_max=0"],
            vec!["resume", &run],
            vec!["repair", &run],
            vec!["show", &run],
            vec!["run", "export", &run],
            vec!["search", "magic", "notes"],
            vec!["context", "add", "notes/a.md", "--id", "more"],
            vec!["repl", "notes"],
            vec!["run", "archive", &run],
            vec!["run", "clean", "--older-than", "1h"],
            vec!["gc"],
        ];
        for words in commands {
            let ran = scene.spelunk(words.clone()).server(&server).stdin("1 + 1\n").run();
            assert!(ran.code >= 0 && !ran.stderr.contains("panicked"), "{name} {words:?}: {}", ran.stderr);
            assert!(!ran.stdout.contains("theirs"), "{name} {words:?}: {}", ran.stdout);
            assert_eq!(tree(&outside), before, "{name} {words:?}: {}", ran.stderr);
        }
    }
}

#[test]
fn a_project_file_cannot_raise_limits_delete_the_cache_or_leave_the_project() {
    let scene = Scene::new(&NOTE);
    let server = answering(REPLY);
    for text in [
        "limits.cache_bytes_max = 0",
        "limits.cost_microusd_max = 1000000000",
        "workspace.path = '..'",
        "model.price_input_usd_per_mtok = 0",
        "model.key_env = 'HOME'",
    ] {
        scene.write("spelunk.toml", text.as_bytes());
        let ran = scene.ask(&server).run();
        assert_eq!(ran.code, 2, "{text}: {}", ran.stderr);
        assert!(ran.stderr.contains("project file"), "{text}: {}", ran.stderr);
    }
    assert_eq!(n_calls(&server), 0);
    scene.write("spelunk.toml", b"limits.calls_max = 7\nworkspace.path = 'runs-of-ours'\n");
    assert_eq!(scene.ask(&server).run().code, 0);
    assert!(scene.exists("runs-of-ours/workspace.toml"));
}

#[test]
fn a_job_folder_that_came_with_a_clone_is_not_worked_in() {
    let scene = Scene::new(&NOTE);
    scene.write("job/state/job.json", br#"{"sources": ["/etc/passwd"]}"#);
    let folder = scene.path("job").display().to_string();
    let words = format!("cd '{folder}'");
    scene.after_shell(&words, ["tool", "grep", "root"]).run().check(&expect![[r#"
        --- stderr
        error: this is not a job folder: you did not create it on this machine

        hint: create one with `spelunk tool init DIR --question QUESTION PATH`, and run this in it
        --- exit 2
    "#]]);
    // What was written into a job folder of ours is not trusted either.
    scene.spelunk(["tool", "init", "ours", "--question", QUESTION, "notes"]).run();
    scene.write("ours/state/job.json", br#"{"sources": ["/etc/passwd"]}"#);
    let words = format!("cd '{}'", scene.path("ours").display());
    let ran = scene.after_shell(&words, ["tool", "grep", "root|magic"]).run();
    assert!(ran.stdout.contains("magic number") && !ran.stdout.contains("root:"), "{}", ran.stdout);
}

#[test]
fn no_escape_sequence_reaches_the_terminal() {
    let bad = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}evil\u{9b}31m";
    let text = format!("# Numbers\n\nThe magic number is 42. {bad}\n");
    let scene = Scene::new(&[("notes/a.md", &text), ("notes/b\u{202e}\u{1b}[2Jgnp.md", "magic number 7")]);
    let server = answering(&format!("It is 42 {bad}.\n\n```evidence\na.md:3: The magic number is 42.\n```"));
    let mut shown = Vec::new();
    shown.push(scene.ask(&server).run());
    for words in [
        vec!["show"],
        vec!["show", "--json"],
        vec!["run", "list"],
        vec!["run", "export", "--format", "markdown"],
        vec!["outline", "notes"],
        vec!["outline", "notes", "--json"],
        vec!["search", "magic number", "notes"],
        vec!["search", "magic number", "notes", "--json"],
        vec!["plan", "notes"],
        vec!["tail"],
    ] {
        shown.push(scene.spelunk(words).run());
    }
    let cell = "print(context)\nprint('\\x1b[2J')\n";
    shown.push(scene.spelunk(["repl", "notes"]).stdin(cell).run());
    for ran in shown {
        for text in [&ran.stdout, &ran.stderr] {
            let found = text.chars().find(|c| (c.is_control() && !"\n\t".contains(*c)) || *c == '\u{202e}');
            assert_eq!(found, None, "{}", text.escape_debug());
        }
    }
}

#[test]
fn a_broken_or_oversized_message_of_an_agent_is_answered() {
    let scene = Scene::new(&NOTE);
    let ran = scene.spelunk(["mcp", "--root", "notes"]).stdin("{broken\n[1]\n").run();
    let codes: Vec<i64> = ran
        .stdout
        .lines()
        .map(|line| {
            serde_json::from_str::<serde_json::Value>(line).unwrap()["error"]["code"].as_i64().unwrap()
        })
        .collect();
    assert_eq!(codes, [-32_700, -32_600], "{} {}", ran.stdout, ran.stderr);
}
