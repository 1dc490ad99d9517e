//! The user's tools: MCP servers and programs, as `spelunk tools` shows them, as a question uses them, and as a run
//! that was killed in the middle of a call continues.

mod hostile;
mod servers;

use expect_test::expect;
use spelunk_testkit::{ModelServer, Rule, when};

use crate::scene::{NOTE, QUESTION, Ran, Scene, short, wait_for};

/// A program that writes down each call and returns how many there were.
pub(crate) const BOOK: &str = r#"
[tools.book]
kind = "program"
command = ["sh", "-c", "cat >> booked; echo >> booked; echo '{\"booked\": '$(wc -l < booked)'}'"]
description = "Books a seat."
schema = '{"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}'
"#;

/// A scene whose user has these settings.
pub(crate) fn scene(settings: &str) -> Scene {
    let scene = Scene::new(&NOTE);
    let folder = scene.home().join(".config/spelunk");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), settings).unwrap();
    scene
}

/// A model that writes these cells, one in each turn.
pub(crate) fn writing(cells: &[&str]) -> ModelServer {
    let rule = |(idx, code): (usize, &&str)| {
        let is_turn =
            move |prompt: &str| idx == 0 || prompt.contains(&format!("\n\n{} turns left.", 20 - idx));
        when(is_turn).reply(format!("```repl\n{code}\n```")).usage(100, 20)
    };
    let rules: Vec<Rule> = cells.iter().enumerate().map(rule).collect();
    ModelServer::start_blocking(rules.into_iter().rev())
}

/// Books a seat and answers with what came of it.
pub(crate) const BOOKING: &str =
    "try:\n    FINAL('seat ' + str(book('7A')['booked']))\nexcept ToolError as error:\n    FINAL(str(error))";

fn ask(scene: &Scene, flags: &[&str]) -> Ran {
    let server = writing(&[BOOKING]);
    let args = ["ask", QUESTION, "notes"].into_iter().chain(flags.iter().copied());
    scene.spelunk(args).server(&server).run()
}

pub(crate) fn booked(scene: &Scene) -> String {
    if scene.exists("booked") { scene.read("booked") } else { String::new() }
}

#[test]
fn tools_are_listed_with_what_they_may_do_and_called() {
    let scene = scene(BOOK);
    scene.spelunk(["tools", "list"]).run().check(&expect![[r#"
        book(seat: str)  [once, needs consent]
            Books a seat.
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["tools", "call", "book", r#"{"seat": "7A"}"#]).run().check(&expect![[r#"
        {
          "booked": 1
        }
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(booked(&scene), "{\"seat\":\"7A\"}\n");
    scene.spelunk(["tools", "call", "bok"]).run().check(&expect![[r#"
        --- stderr
        error: there is no tool `bok`

        hint: list them with `spelunk tools list`
        --- exit 2
    "#]]);
    scene.spelunk(["tools", "call", "book", "7A"]).run().check(&expect![[r#"
        --- stderr
        error: the arguments are not a JSON object

        hint: such as '{"query": "text"}'
        --- exit 2
    "#]]);
    Scene::new(&NOTE).spelunk(["tools", "list"]).run().check(&expect![[r#"
        --- stderr
        no tools are configured; add `[tools.NAME]` to your settings, or pass a server with `--mcp`
        --- exit 0
    "#]]);
}

#[test]
fn a_program_that_fails_says_why() {
    let scene =
        scene("[tools.fail]\nkind = \"program\"\ncommand = [\"sh\", \"-c\", \"echo no seat >&2; exit 3\"]\n");
    scene.spelunk(["tools", "call", "fail"]).run().check(&expect![[r#"
        --- stderr
        error: `fail` failed: exit status 3: no seat
        --- exit 1
    "#]]);
}

#[test]
fn a_question_uses_a_tool_only_if_it_is_told_to_and_asks_before_it_changes_something() {
    let scene = scene(BOOK);
    ask(&scene, &["--tool", "book"]).check(&expect![[r#"
        `book` may change something, so it needs consent: `--allow-tool book`
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 1 cell · 1 call · 120 tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(booked(&scene), "");
    ask(&scene, &["--tool", "book", "--allow-tool", "book"]).check(&expect![[r#"
        seat 1
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B explored in 1 cell · 1 call · 120 tokens · $0.00 · TIME · no citations · run SHORT2
        --- exit 0
    "#]]);
    assert_eq!(booked(&scene), "{\"seat\":\"7A\"}\n");
    let shown = scene.spelunk(["show"]).run().stdout;
    assert!(shown.contains("\n├─ 0!0  book  returned  "), "{shown}");
    assert!(shown.contains(r#"  {"seat":"7A"}"#), "{shown}");
    ask(&scene, &["--tool", "bok"]).check(&expect![[r#"
        --- stderr
        error: there is no tool `bok`

        hint: did you mean `book`?
        --- exit 2
    "#]]);
    ask(&scene, &["--tool", "book", "--allow-tool", "look"]).check(&expect![[r#"
        --- stderr
        error: there is no tool `look`

        hint: did you mean `book`?
        --- exit 2
    "#]]);
    let without = ask(&scene, &["--tool", "book", "--deny-tool", "book", "--strategy", "repl"]);
    assert!(!without.stdout.contains("seat"), "{}", without.stdout);
    assert_eq!(booked(&scene), "{\"seat\":\"7A\"}\n");
}

#[test]
fn child_frames_use_a_tool_only_if_a_flag_or_a_setting_says_so() {
    let look = "[tools.look]\nkind = \"program\"\ncommand = [\"echo\", \"seen\"]\neffect = \"read\"\n";
    let root = "FINAL(rlm_query('Child?', context))";
    let child = "n = len(context)\ntry:\n    FINAL(look())\nexcept NameError:\n    FINAL('no tool')";
    let of_child = |prompt: &str| prompt.contains("Child?") && !prompt.contains(QUESTION);
    let rules = || {
        [
            when(of_child).reply(format!("```repl\n{child}\n```")).usage(1, 1),
            when(|_: &str| true).reply(format!("```repl\n{root}\n```")).usage(1, 1),
        ]
    };
    let on = format!("[ask]\nsub_tools = \"look\"\n{look}");
    for (settings, flags, said) in [
        (look.to_owned(), ["--tool", "look"].as_slice(), "no tool"),
        (look.to_owned(), &["--tool", "look", "--sub-tool", "look"], "seen"),
        (on.clone(), &["--tool", "look"], "seen"),
    ] {
        let (scene, server) = (scene(&settings), ModelServer::start_blocking(rules()));
        let args = ["ask", QUESTION, "notes"].into_iter().chain(flags.iter().copied());
        let ran = scene.spelunk(args).server(&server).run();
        assert_eq!(ran.stdout.trim_end(), said, "{flags:?} {}", ran.stderr);
    }
    let scene = scene(&on);
    ask(&scene, &["--sub-tool", "look"]).check(&expect![[r#"
        --- stderr
        error: there is no tool `look`

        hint: define it with `[tools.NAME]` in your settings
        --- exit 2
    "#]]);
    scene.write("spelunk.toml", b"[ask]\nsub_tools = \"look\"\n");
    let refused = scene.spelunk(["tools", "list"]).run();
    assert!(refused.stderr.contains("a project file may not set `ask.sub_tools`"), "{}", refused.stderr);
}

#[test]
fn on_a_terminal_the_user_is_asked_and_sees_the_arguments() {
    for (answer, said, n_booked) in
        [("y\n", "seat 1", 1), ("n\n", "the user does not allow this call of `book`", 0)]
    {
        let (scene, server) = (scene(BOOK), writing(&[BOOKING]));
        let call = scene.on_terminal(80, &["ask", QUESTION, "notes", "--tool", "book"]).server(&server);
        let ran = call.stdin(answer).run();
        assert!(ran.stdout.contains(r#"book wants to run with {"seat":"7A"}"#), "{}", ran.stdout);
        assert!(ran.stdout.contains("Allow it? [y/N]"), "{}", ran.stdout);
        assert!(ran.stdout.contains(said), "{}", ran.stdout);
        assert_eq!(booked(&scene).lines().count(), n_booked);
    }
}

#[test]
fn a_project_file_gives_the_model_no_tools() {
    let scene = Scene::new(&NOTE);
    scene.write("spelunk.toml", BOOK.as_bytes());
    scene.spelunk(["tools", "list"]).run().check(&expect![[r#"
        --- stderr
        error: a project file may not set `tools.book` (spelunk.toml:2)

        hint: move it to your own `~/.config/spelunk/config.toml`, the environment or a flag
        --- exit 2
    "#]]);
    scene.write("spelunk.toml", b"[ask]\ntools = \"book\"\n");
    scene.spelunk(["tools", "list"]).run().check(&expect![[r#"
        --- stderr
        error: a project file may not set `ask.tools` (spelunk.toml:2)

        hint: move it to your own `~/.config/spelunk/config.toml`, the environment or a flag
        --- exit 2
    "#]]);
}

#[test]
fn a_command_sees_no_keys_unless_they_are_named() {
    let shows = "[tools.env]\nkind = \"program\"\ncommand = [\"sh\", \"-c\", \"echo ${OPENAI_API_KEY:-none} ${SEAT:-none}\"]\n";
    for (settings, said) in
        [(shows.to_owned(), "none none\n"), (format!("{shows}env = [\"SEAT\"]\n"), "none 7A\n")]
    {
        let scene = scene(&settings);
        let call = scene.spelunk(["tools", "call", "env"]).env("OPENAI_API_KEY", "sk-x").env("SEAT", "7A");
        assert_eq!(call.run().stdout, said);
    }
}

/// A program that waits after its work is done, so that it can be killed.
const SLOW: &str = r#"
[tools.book]
kind = "program"
command = ["sh", "-c", "cat >> booked; echo >> booked; if [ ! -e go ]; then sleep 60; fi; echo '{\"booked\": '$(wc -l < booked)'}'"]
schema = '{"type": "object", "properties": {"seat": {"type": "string"}}, "required": ["seat"]}'
allow = true
"#;

#[test]
fn a_run_killed_in_a_call_that_must_happen_once_waits_for_a_decision() {
    for (decision, said, n_booked) in [("done", "seat of None", 1), ("again", "seat of {'booked': 2}", 2)] {
        let (scene, server) = (scene(SLOW), writing(&["FINAL('seat of ' + str(book('7A')))"]));
        let mut child = scene.spelunk(["ask", QUESTION, "notes", "--tool", "book"]).server(&server).start();
        wait_for("the call", || (booked(&scene).lines().count() == 1).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        let run = scene.only_run();
        scene.write("go", b"");
        let resume = |flags: &[&str]| {
            let args = ["resume", short(&run)].into_iter().chain(flags.iter().copied());
            scene.spelunk(args).server(&server).run()
        };
        if decision == "done" {
            resume(&[]).check(&expect![[r#"
                --- stderr
                error: it is unknown whether call `0!0` of `book` in run `SHORT` took effect

                hint: check whether it did, then continue with `spelunk resume SHORT --tool '0!0=done'` or `--tool '0!0=again'`
                --- exit 1
            "#]]);
        }
        let wrong = resume(&["--tool", "0!0=done", "--tool", "0!9=done"]);
        assert_eq!(wrong.code, 2, "{}", wrong.stderr);
        let ran = resume(&["--tool", &format!("0!0={decision}")]);
        assert_eq!((ran.code, ran.stdout.trim_end()), (0, said), "{}", ran.stderr);
        assert_eq!(booked(&scene).lines().count(), n_booked);
    }
}

#[test]
fn a_run_killed_in_a_call_that_may_be_repeated_repeats_it() {
    let settings = format!("{SLOW}effect = \"repeatable\"\n");
    let (scene, server) = (scene(&settings), writing(&["FINAL('seat of ' + str(book('7A')))"]));
    let mut child = scene.spelunk(["ask", QUESTION, "notes", "--tool", "book"]).server(&server).start();
    wait_for("the call", || (booked(&scene).lines().count() == 1).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    scene.write("go", b"");
    let ran = scene.spelunk(["resume"]).server(&server).run();
    assert_eq!((ran.code, ran.stdout.trim_end()), (0, "seat of {'booked': 2}"), "{}", ran.stderr);
}
