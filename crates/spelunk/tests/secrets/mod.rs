//! Keys: they are sent to the provider and appear nowhere else, and the files of a run are readable by their owner
//! only.

mod addresses;
mod documents;
mod given;

use std::path::{Path, PathBuf};

use spelunk_testkit::{ModelServer, Rule, on, status};

use crate::scene::{Call, NOTE, QUESTION, REPLY, Ran, Scene, to_all};

/// Long and unusual enough to be found anywhere, even in parts.
const KEY: &str = "sk-test-7b21f09c44d8e6a35512";

/// Repeats the key in an error message and in a header, then answers.
fn repeating() -> Rule {
    let echo = |code| status(code).message(format!("your key {KEY} is odd")).header("x-echo", KEY);
    to_all().fault(echo(500)).fault(echo(429)).reply(REPLY).usage(100, 20)
}

/// Rejects the key and repeats it.
fn refusing() -> Rule {
    to_all().always(status(401).message(format!("Incorrect API key provided: {KEY}")).header("x-echo", KEY))
}

/// Every file below a directory.
fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

/// Searches for the key in everything that was printed and written.
#[track_caller]
fn assert_nowhere(scene: &Scene, printed: &[Ran]) {
    assert_secret_nowhere(scene, KEY, printed);
}

/// The same for another secret.
#[track_caller]
pub(crate) fn assert_secret_nowhere(scene: &Scene, secret: &str, printed: &[Ran]) {
    for ran in printed {
        assert_eq!(
            (ran.stdout.matches(secret).count(), ran.stderr.matches(secret).count()),
            (0, 0),
            "{}",
            ran.stderr
        );
    }
    let files = files_below(scene.root());
    assert_ne!(files.len(), 0);
    let holds_key = |path: &&PathBuf| {
        // A server that still runs may have removed a file since it was listed.
        let bytes = spelunk_fs::if_there(std::fs::read(path)).unwrap().unwrap_or_default();
        bytes.windows(secret.len()).any(|window| window == secret.as_bytes())
            || path.to_str().unwrap().contains(secret)
    };
    let holding: Vec<&PathBuf> = files.iter().filter(holds_key).collect();
    assert_eq!(holding, Vec::<&PathBuf>::new());
}

/// Runs every command that could repeat a key, against a server that repeats it.
#[track_caller]
fn check(give_key: impl for<'a> Fn(Call<'a>, &ModelServer) -> Call<'a>) {
    for (rule, code) in [(repeating(), 0), (refusing(), 1)] {
        let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([rule]));
        let with_key =
            |args: &[&'static str]| give_key(scene.spelunk(args.iter().copied()), &server).impatient();
        let asked = with_key(&["ask", QUESTION, "notes", "--events"]).run();
        assert_eq!(asked.code, code, "{}", asked.stderr);
        let sent = server
            .requests()
            .iter()
            .filter(|request| request.headers.iter().any(|(_, value)| value.contains(KEY)))
            .count();
        assert_eq!(sent, server.requests().len(), "the key is used");
        let printed = vec![
            asked,
            with_key(&["ask", QUESTION, "notes", "--no-cache"]).run(),
            with_key(&["ask", QUESTION, "notes", "--no-cache", "--json"]).run(),
            with_key(&["resume"]).run(),
            with_key(&["doctor", "--json"]).run(),
            with_key(&["doctor", "--ask"]).run(),
            with_key(&["config", "show", "--json"]).run(),
            with_key(&["config", "show"]).run(),
            with_key(&["show", "--json"]).run(),
            with_key(&["tail"]).run(),
            with_key(&["run", "list"]).run(),
            with_key(&["run", "export", "--format", "html", "--output", "run.html"]).run(),
            with_key(&["run", "export", "--format", "workspace", "--output", "exported"]).run(),
            with_key(&["run", "export", "--format", "json"]).run(),
            with_key(&["model", "list"]).run(),
            with_key(&["model", "list", "--json"]).run(),
            with_key(&["model", "test"]).run(),
            with_key(&["model", "test", "--json"]).run(),
        ];
        assert_nowhere(&scene, &printed);
    }
}

#[test]
fn the_key_of_openai_is_nowhere() {
    check(|call, server| call.server(server).env("OPENAI_API_KEY", KEY).env("SPELUNK_MODEL_NAME", "tiny"));
}

#[test]
fn the_key_of_anthropic_is_nowhere() {
    check(|call, server| {
        let base_url = server.base_url().replace("/v1", "");
        call.env("ANTHROPIC_API_KEY", KEY).env("ANTHROPIC_BASE_URL", &base_url)
    });
}

/// The other providers, each with its own variable, at a server that speaks its format.
fn check_provider(model: &'static str, variable: &'static str) {
    check(|call, server| {
        let (provider, name) = model.split_once('/').unwrap();
        call.env(variable, KEY)
            .env("SPELUNK_MODEL_PROVIDER", provider)
            .env("SPELUNK_MODEL_NAME", name)
            .env("SPELUNK_MODEL_BASE_URL", &server.base_url())
    });
}

#[test]
fn the_key_of_openai_responses_is_nowhere() {
    check_provider("openai-responses/tiny", "OPENAI_API_KEY");
}

#[test]
fn the_key_of_gemini_is_nowhere() {
    check_provider("gemini/tiny", "GEMINI_API_KEY");
}

#[test]
fn the_key_of_bedrock_is_nowhere() {
    check_provider("bedrock/tiny", "AWS_BEARER_TOKEN_BEDROCK");
}

#[test]
fn the_key_of_azure_is_nowhere() {
    check_provider("azure/tiny", "AZURE_OPENAI_API_KEY");
}

#[test]
fn the_key_of_openrouter_is_nowhere_even_if_it_is_only_looked_at() {
    // Its URL is fixed, so nothing is sent.
    let scene = Scene::new(&NOTE);
    let with_key =
        |args: &[&'static str]| scene.spelunk(args.iter().copied()).env("OPENROUTER_API_KEY", KEY).run();
    assert_nowhere(
        &scene,
        &[
            with_key(&["model", "list"]),
            with_key(&["model", "list", "--json"]),
            with_key(&["plan", "notes", "--json"]),
            with_key(&["config", "show"]),
        ],
    );
}

#[test]
fn the_secret_access_key_of_aws_is_nowhere() {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([repeating()]));
    let with_key = |args: &[&'static str]| {
        let call = scene.spelunk(args.iter().copied()).env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
        let call = call.env("AWS_SECRET_ACCESS_KEY", KEY).env("SPELUNK_MODEL_PROVIDER", "bedrock");
        let call = call.env("SPELUNK_MODEL_NAME", "tiny").env("SPELUNK_MODEL_BASE_URL", &server.base_url());
        call.impatient().run()
    };
    let asked = with_key(&["ask", QUESTION, "notes", "--events"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    // It signs requests and is never sent.
    let travels =
        |request: &spelunk_testkit::Recorded| request.headers.iter().any(|(_, value)| value.contains(KEY));
    assert!(!server.requests().iter().any(travels));
    assert_nowhere(&scene, &[asked, with_key(&["doctor"]), with_key(&["model", "list", "--json"])]);
}

/// A root, sub-calls and a fallback, each with its own key, in a run that calls them all.
#[test]
fn the_keys_of_named_models_are_nowhere() {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([repeating()]));
    let out = ModelServer::start_blocking([
        to_all().always(status(500).message(format!("your key {KEY} is odd")).header("x-echo", KEY))
    ]);
    let toml = format!(
        "roles.root = 'smart'\nroles.sub = 'fast'\n\
         [models.smart]\nprovider = 'openai'\nname = 'a'\nbase_url = '{}'\nkey_env = 'SMART_KEY'\nfallback = ['fast']\n\
         [models.fast]\nprovider = 'anthropic'\nname = 'b'\nbase_url = '{}'\nkey_env = 'FAST_KEY'\n",
        out.base_url(),
        server.base_url().replace("/v1", ""),
    );
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
    let with_key = |args: &[&'static str]| {
        let call = scene.spelunk(args.iter().copied()).env("SMART_KEY", KEY).env("FAST_KEY", KEY);
        call.impatient().run()
    };
    let asked = with_key(&["ask", QUESTION, "notes", "--events"]);
    assert_eq!(asked.code, 0, "{}", asked.stderr);
    let printed = [
        asked,
        with_key(&["show", "--json"]),
        with_key(&["doctor", "--json"]),
        with_key(&["model", "test", "--json"]),
        with_key(&["model", "list"]),
        with_key(&["run", "export", "--format", "workspace", "--output", "exported"]),
    ];
    assert_nowhere(&scene, &printed);
}

#[test]
fn the_key_of_a_command_is_nowhere() {
    // The command must not contain the key itself: settings are not secret.
    let split = KEY.split_at(8);
    let command = format!("printf '%s%s\\n' {} {}", split.0, split.1);
    check(|call, server| {
        call.server(server).env("SPELUNK_MODEL_KEY_COMMAND", &command).env("SPELUNK_MODEL_NAME", "tiny")
    });
}

#[test]
fn the_key_of_a_named_variable_is_nowhere() {
    check(|call, server| {
        let call = call.server(server).env("SPELUNK_MODEL_KEY_ENV", "MY_KEY").env("MY_KEY", KEY);
        call.env("SPELUNK_MODEL_NAME", "tiny")
    });
}

#[test]
fn the_key_is_not_repeated_while_models_are_looked_for() {
    let echo = status(500).message(format!("your key {KEY} is odd")).header("x-echo", KEY);
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([on("models").always(echo)]));
    let ran = scene.ask(&server).env("OPENAI_API_KEY", KEY).run();
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_nowhere(&scene, &[ran]);
}

#[cfg(unix)]
#[test]
fn what_a_run_leaves_behind_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let text = "The magic number is 42, as everybody knows by now.\n".repeat(200);
    let scene = Scene::new(&[("notes/a.md", &text)]);
    let server = ModelServer::start_blocking([to_all().fault(status(400)).reply(REPLY)]);
    assert_eq!(scene.ask(&server).run().code, 1);
    assert_eq!(scene.spelunk(["resume"]).run().code, 0);
    assert_eq!(scene.spelunk(["gc"]).run().code, 0);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let files = files_below(&scene.path(".spelunk"));
    let mut open: Vec<String> = Vec::new();
    for file in &files {
        let directories = file.ancestors().skip(1).take_while(|dir| dir.starts_with(scene.path(".spelunk")));
        let wrong = |path: &Path, right: u32| {
            (mode(path) != right).then(|| format!("{:o} {}", mode(path), path.display()))
        };
        open.extend(wrong(file, 0o600));
        open.extend(directories.filter_map(|dir| wrong(dir, 0o700)));
    }
    open.sort();
    open.dedup();
    assert_eq!(open, Vec::<String>::new());
}
