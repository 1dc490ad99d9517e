//! Access control: tokens and scopes, hosts, origins, and the listen address.

use expect_test::expect;
use serde_json::json;

use super::client::Server;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

fn token(scene: &Scene, name: &str, scopes: &str, more: &[&str]) -> String {
    let mut call =
        scene.spelunk(["serve", "--token-file", "tokens", "--new-token", name, "--scopes", scopes]);
    for arg in more {
        call = call.arg(arg);
    }
    let made = call.run();
    assert_eq!(made.code, 0, "{}", made.stderr);
    made.stdout.trim().to_owned()
}

#[test]
fn a_token_allows_what_its_scopes_say() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let (reader, runner, admin) = (
        token(&scene, "reader", "read", &[]),
        token(&scene, "runner", "run", &[]),
        token(&scene, "boss", "admin", &[]),
    );
    let expired = token(&scene, "late", "admin", &["--days", "0"]);
    let file = scene.read("tokens");
    for token in [&reader, &runner, &admin, &expired] {
        assert!(!file.contains(token.as_str()));
    }
    let mut server = Server::start(&scene, &["--token-file", "tokens"], Some(&model));
    let ask = json!({ "question": QUESTION, "paths": ["notes"] });
    assert_eq!(server.get("/v1/runs").problem(), (401, "token-missing".into()));
    assert_eq!(server.get("/v1/runs").header("www-authenticate"), Some("Bearer realm=\"spelunk\""));
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/openapi.json").status, 200);
    for wrong in ["nope", &expired, &format!("{reader}0")] {
        server.token = Some(wrong.to_owned());
        assert_eq!(server.get("/v1/runs").problem(), (401, "token-refused".into()), "{wrong}");
        assert_eq!(server.post("/mcp", &json!({})).problem(), (401, "token-refused".into()));
    }
    server.token = Some(reader.clone());
    assert_eq!(server.get("/v1/runs").status, 200);
    assert_eq!(server.get("/v1/server").json()["scopes"], json!(["read"]));
    assert_eq!(server.post("/v1/runs", &ask).problem(), (403, "scope-missing".into()));
    let consent = server.post("/v1/runs/latest/tools/0!0", &json!({ "decision": "allow" }));
    assert_eq!(consent.problem(), (403, "scope-missing".into()));
    server.token = Some(runner.clone());
    let run = server.ask();
    server.finish(&run);
    assert_eq!(server.delete(&format!("/v1/runs/{run}")).problem(), (403, "scope-missing".into()));
    server.token = Some(admin.clone());
    assert_eq!(server.delete(&format!("/v1/runs/{run}")).status, 204);
    for secret in [reader, runner, admin, expired] {
        assert!(!server.log().contains(&secret));
    }
}

#[test]
fn the_help_says_how_to_serve() {
    Scene::new(&[]).spelunk(["serve", "--help"]).run().check(&expect![[r#"
        Serve runs, contexts and models over HTTP, with a web page to view them

        Usage: spelunk serve [OPTIONS]

        Options:
              --listen <ADDRESS:PORT>  The address and port to listen on; tokens are required unless it is
                                       loopback [default: 127.0.0.1:PORT]
              --root <DIR>             Read only files below this directory; may be repeated [default: the
                                       current directory]
              --token-file <FILE>      The file that contains the digests of accepted tokens
              --new-token <NAME>       Add a token with this name to that file, print it, and exit
              --scopes <SCOPES>        The scopes of the new token: read, run, admin [default: run]
              --days <N>               Days until the new token expires [default: never]
          -m, --model <MODEL>          The model: a NAME from `[models.NAME]`, a model of the default
                                       provider, or PROVIDER/NAME, where PROVIDER is openai,
                                       openai-responses, anthropic, gemini, bedrock, azure or command;
                                       `local:NAME` runs inside this program; `none` uses no model
              --sub-model <MODEL>      The model for sub-calls and analysts: a NAME from `[models.NAME]`, or
                                       a model of the same provider
              --base-url <URL>         The base URL for requests, such as `http://127.0.0.1:PORT/v1`
              --sandbox <SANDBOX>      The sandbox for code that models write: monty or cpython
              --tools <SET>            The tools that clients of `/mcp` are shown: essential, tasks (with
                                       tasks for agents) or all [default: essential]
              --set <KEY=VALUE>        Override a setting for this command, such as `limits.calls_max=50`
              --workspace <DIR>        The directory for runs [default: .spelunk]
              --fleet <URL>            Work with the fleet at these NATS servers, such as
                                       `nats://10.0.0.1:4222`
              --fleet-creds <FILE>     The file with the credentials for them
              --json                   Print the result as JSON
          -q, --quiet                  Print only the result
          -h, --help                   Print help
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn nobody_listens_to_the_world_without_a_token() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["serve", "--listen", "0.0.0.0:0"]).run().check(&expect![[r#"
        --- stderr
        error: `0.0.0.0:0` can be reached from other machines, but no tokens are configured

        hint: pass a token file with `--token-file`, or listen on 127.0.0.1
        --- exit 2
    "#]]);
    scene.spelunk(["serve", "--token-file", "none"]).run().check(&expect![[r#"
        --- stderr
        error: the token file `DIR/work/none` cannot be read: No such file or directory (os error 2)

        hint: create one with `spelunk serve --new-token NAME --token-file FILE`
        --- exit 2
    "#]]);
    scene.write("spelunk.toml", b"[server]\nlisten = \"0.0.0.0:7766\"\n");
    let refused = scene.spelunk(["serve"]).run();
    assert!(refused.code != 0 && refused.stderr.contains("server.listen"), "{}", refused.stderr);
}

#[test]
fn a_second_token_of_the_same_name_is_refused_and_the_file_stays_usable() {
    let scene = Scene::new(&NOTE);
    scene.write("tokens", b"# ours");
    token(&scene, "ci", "read", &[]);
    let before = scene.read("tokens");
    assert!(before.starts_with("# ours\nci read "), "{before}");
    scene.spelunk(["serve", "--token-file", "tokens", "--new-token", "ci"]).run().check(&expect![[r#"
        --- stderr
        error: the token file `DIR/work/tokens` already contains a token named `ci`

        hint: to replace a token, delete its line from the file first
        --- exit 2
    "#]]);
    assert_eq!(scene.read("tokens"), before);
    scene.write("tokens", format!("{before}{}", before.replace("# ours\n", "")).as_bytes());
    scene.spelunk(["serve", "--token-file", "tokens"]).run().check(&expect![[r#"
        --- stderr
        error: the token file `DIR/work/tokens` contains the name `ci` twice

        hint: correct or delete that line of the file
        --- exit 2
    "#]]);
}

#[test]
fn a_page_of_another_site_reaches_nothing() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.cors_origins=https://ok.example"], Some(&model));
    let with = |headers: &[(&str, &str)]| server.send("GET", "/v1/runs", headers, b"");
    // A host name that resolves to this machine but is not ours.
    for host in ["evil.example", "evil.example:7766", "127.0.0.1.evil.example", "localhost.evil.example"] {
        assert_eq!(with(&[("Host", host)]).problem(), (421, "host-refused".into()), "{host}");
    }
    for origin in ["https://evil.example", "null", "http://localhost:1", "https://ok.example.evil"] {
        assert_eq!(with(&[("Origin", origin)]).problem(), (403, "origin-refused".into()), "{origin}");
    }
    assert_eq!(server.send("POST", "/mcp", &[("Origin", "https://evil.example")], b"{}").problem().0, 403);
    let own = format!("http://{}", server.address);
    let same = with(&[("Origin", &own)]);
    assert_eq!((same.status, same.header("access-control-allow-origin")), (200, None));
    let allowed = with(&[("Origin", "https://ok.example")]);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://ok.example"));
    let preflight = [("Origin", "https://ok.example"), ("Access-Control-Request-Method", "POST")];
    let preflight = server.send("OPTIONS", "/v1/runs", &preflight, b"");
    assert_eq!(
        (preflight.status, preflight.header("access-control-allow-methods")),
        (204, Some("GET, POST, DELETE"))
    );
}

#[test]
fn every_answer_carries_the_headers_that_keep_a_page_tame() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    for path in ["/healthz", "/v1/runs", "/nowhere"] {
        let answer = server.get(path);
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    }
}

#[test]
fn the_log_has_a_line_for_each_request_and_nothing_of_what_was_said() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    server.post("/v1/plan?secret=hunter2", &json!({ "paths": ["notes"], "question": "hunter2" }));
    server.get("/v1/runs/hunter2");
    let log = server.log_with("run-not-found");
    assert!(!log.contains("hunter2"), "{log}");
    let lines: Vec<serde_json::Value> =
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let told: Vec<String> = lines
        .iter()
        .map(|line| format!("{} {} {} {}", line["method"], line["route"], line["status"], line["code"]))
        .collect();
    assert_eq!(told, [r#""POST" "/v1/plan" 200 null"#, r#""GET" "/v1/runs/{run}" 404 "run-not-found""#,]);
}
