//! User-defined models: which one does which work, by flags, roles and code.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status, when};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, to_all};

/// The user's settings with these models, each at its own server.
fn settle(scene: &Scene, models: &[(&str, &ModelServer, &str)], rest: &str) {
    let mut toml = format!("{rest}\n");
    for (alias, server, more) in models {
        let base_url = server.base_url();
        toml += &format!(
            "[models.{alias}]\nprovider = 'openai'\nname = '{alias}-1'\nbase_url = '{base_url}'\n{more}\n"
        );
    }
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
}

#[test]
fn a_named_model_is_asked_with_its_own_key() {
    let (scene, fast) = (Scene::new(&NOTE), answering(REPLY));
    settle(&scene, &[("fast", &fast, "key_env = 'FAST_KEY'")], "");
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--model", "fast"]);
    ask.env("FAST_KEY", "key-of-fast").env("OPENAI_API_KEY", "another").run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/fast-1 (--model fast)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(fast.requests()[0].header("authorization"), Some("Bearer key-of-fast"));
    assert_eq!(fast.requests()[0].json()["model"], "fast-1");
    scene.spelunk(["ask", QUESTION, "notes", "--model", "fast"]).run().check(&expect![[r#"
        --- stderr
        error: `models.fast.key_env` names `FAST_KEY`, which is not set

        hint: set `FAST_KEY`
        --- exit 2
    "#]]);
}

/// A root whose code calls `model` and that then answers with the reply.
fn asking(argument: &str) -> ModelServer {
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("turns left")).reply("```repl\nFINAL(said)\n```").usage(10, 1),
        to_all().reply(format!(
            "```repl\nhits = grep('magic')\ntry:\n    said = llm_query('SUB: who?'{argument})\nexcept Exception as error:\n    said = repr(error)\nprint(said)\n```"
        )),
    ])
}

fn explored(scene: &Scene) -> String {
    let ran = scene.spelunk(["ask", QUESTION, "notes", "--strategy", "repl"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stdout
}

#[test]
fn code_reaches_the_model_that_it_names() {
    let scene = Scene::new(&NOTE);
    let (root, sub, fast) = (asking(", model='fast'"), answering("sub"), answering("fast"));
    let models = [("smart", &root, ""), ("usual", &sub, ""), ("fast", &fast, "")];
    settle(&scene, &models, "roles.root = 'smart'\nroles.sub = 'usual'");
    assert_eq!(explored(&scene), "fast\n");
    assert_eq!((n_calls(&root), n_calls(&sub), n_calls(&fast)), (2, 0, 1));
    let system = root.requests()[0].json()["messages"][0]["content"].to_string();
    assert!(system.contains(r#"\"fast\", \"smart\", \"usual\""#), "{system}");
    let journal = scene.journal(&scene.only_run());
    let asked: Vec<_> =
        journal.iter().filter(|line| line["type"] == "call.started").map(|line| &line["model"]).collect();
    assert_eq!(asked, ["openai/smart-1", "openai/fast-1", "openai/smart-1"]);
    assert_eq!(journal[0]["other_models"]["names"], serde_json::json!(["fast", "smart", "usual"]));
}

#[test]
fn code_without_a_name_asks_the_model_of_sub_calls() {
    let (scene, root, sub) = (Scene::new(&NOTE), asking(""), answering("sub"));
    settle(&scene, &[("smart", &root, ""), ("usual", &sub, "")], "roles.root = 'smart'\nroles.sub = 'usual'");
    assert_eq!(explored(&scene), "sub\n");
    assert_eq!((n_calls(&root), n_calls(&sub)), (2, 1));
}

#[test]
fn a_name_that_no_model_has_is_an_error_that_lists_the_names() {
    let (scene, root) = (Scene::new(&NOTE), asking(", model='big'"));
    settle(&scene, &[("smart", &root, "")], "roles.root = 'smart'\n[models.locked]\nkey_env = 'NOT_SET'");
    expect![[r#"
        ValueError("there is no model 'big'; the models are locked, smart")
    "#]]
    .assert_eq(&explored(&scene));
}

#[test]
fn a_model_that_cannot_be_asked_says_why_where_it_is_named() {
    let (scene, root) = (Scene::new(&NOTE), asking(", model='locked'"));
    let locked = "roles.root = 'smart'\n[models.locked]\nprovider = 'openai'\nkey_env = 'NOT_SET'";
    settle(&scene, &[("smart", &root, "")], locked);
    let said = explored(&scene);
    assert!(
        said.contains("the model 'locked' cannot be used: `models.locked.key_env` names `NOT_SET`"),
        "{said}"
    );
}

#[test]
fn a_run_is_resumed_with_the_keys_of_its_named_models() {
    let (scene, smart) = (
        Scene::new(&NOTE),
        ModelServer::start_blocking([to_all().fault(status(401)).reply(REPLY).usage(100, 20)]),
    );
    settle(&scene, &[("smart", &smart, "key_env = 'SMART_KEY'")], "roles.root = 'smart'");
    let ask = scene.spelunk(["ask", QUESTION, "notes"]).env("SMART_KEY", "wrong");
    assert_eq!(ask.run().code, 1);
    let resume = scene.spelunk(["resume"]).env("SMART_KEY", "right");
    let ran = resume.run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(smart.requests()[1].header("authorization"), Some("Bearer right"));
}

#[test]
fn another_model_answers_when_the_first_is_out() {
    let scene = Scene::new(&NOTE);
    let out = ModelServer::start_blocking([to_all().always(status(500))]);
    let spare = answering(REPLY);
    settle(&scene, &[("smart", &out, "fallback = ['spare']"), ("spare", &spare, "")], "roles.root = 'smart'");
    scene.spelunk(["ask", QUESTION, "notes"]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/smart-1 (roles.root is smart)
        warning: openai/smart-1 is unavailable: openai/spare-1 answers instead (check it with `spelunk doctor`)
        1 file · 35 B read · 2 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!((n_calls(&out), n_calls(&spare)), (1, 1));
}

/// Models that run one program, each with its own arguments.
fn settle_commands(scene: &Scene, aliases: &[&str]) {
    let model = |alias: &&str| format!("[models.{alias}]\nprovider = 'command'\ncommand = 'sh {alias}.sh'\n");
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    let toml: Vec<String> = aliases.iter().map(model).collect();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml.concat()).unwrap();
}

#[test]
fn one_program_with_other_arguments_is_another_model() {
    let say = |name: &str| format!("cat >/dev/null; echo I am {name}.");
    let scene = Scene::new(&[NOTE[0], ("a.sh", &say("a")), ("b.sh", &say("b"))]);
    settle_commands(&scene, &["a", "b"]);
    let said = |model| scene.spelunk(["ask", QUESTION, "notes", "--model", model]).run().stdout;
    assert_eq!([said("a"), said("b"), said("a")], ["I am a.\n", "I am b.\n", "I am a.\n"]);
}

/// Earlier versions recorded only the program.
#[test]
fn a_run_that_names_a_program_without_its_arguments_goes_on() {
    let scene = Scene::new(&[NOTE[0], ("b.sh", "cat >/dev/null; test -f ready && echo I am b.")]);
    settle_commands(&scene, &["b"]);
    assert_eq!(scene.spelunk(["ask", QUESTION, "notes", "--model", "b"]).impatient().run().code, 1);
    let recorded = scene.journal(&scene.only_run())[0]["model"]["base_url"].as_str().unwrap().to_owned();
    scene.rewrite_start(&recorded, "command:sh");
    scene.write("ready", b"");
    let resumed = scene.spelunk(["resume"]).run();
    assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "I am b.\n"), "{}", resumed.stderr);
}
