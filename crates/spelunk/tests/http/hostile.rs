//! Malicious or faulty clients: bodies, parameters, paths, and slow connections.

use std::io::{Read as _, Write as _};

use serde_json::{Value, json};
use spelunk_testkit::{Fault, ModelServer};

use super::client::{Answer, Server};
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, to_all, wait_for};

#[test]
fn bodies_that_are_wrong_are_problems() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.body_bytes_max=2000"], Some(&model));
    let raw = |body: &str| {
        server.send("POST", "/v1/runs", &[("Content-Type", "application/json")], body.as_bytes())
    };
    for (body, status, code) in [
        ("", 400, "json-malformed"),
        ("{", 400, "json-malformed"),
        ("\u{0}", 400, "json-malformed"),
        ("[]", 422, "json-malformed"),
        ("null", 422, "json-malformed"),
        ("{}", 422, "usage-wrong"),
        (r#"{"question":7}"#, 422, "usage-wrong"),
        (r#"{"question":" ","paths":["notes"]}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":"notes"}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":["notes"],"extra":1}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":["notes"],"strategy":"guess"}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":["notes"],"limits":{"files_max":1}}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":["notes"],"limits":{"calls_max":-1}}"#, 422, "usage-wrong"),
        (r#"{"question":"q","paths":["notes"],"schema":{"type":7}}"#, 422, "schema-invalid"),
        (r#"{"question":"q","paths":["nothing-here"]}"#, 422, "source-not-found"),
    ] {
        assert_eq!(raw(body).problem(), (status, code.to_owned()), "{body}");
    }
    let deep = "[".repeat(1_000);
    assert_eq!(raw(&deep).problem(), (400, "json-malformed".into()));
    assert_eq!(
        raw(&json!({ "question": "x".repeat(3_000) }).to_string()).problem(),
        (413, "body-too-large".into())
    );
    let plain = server.send("POST", "/v1/runs", &[("Content-Type", "text/plain")], b"{}");
    assert_eq!(plain.problem(), (415, "media-type-wrong".into()));
    let hint = raw(r#"{"qestion":"q"}"#).json();
    assert_eq!(hint["detail"], "the argument `question` is missing");
    assert_eq!(hint["hint"], "see `/openapi.json` for the format of requests");
    assert!(scene.runs().is_empty());
}

/// A client learns neither where the roots are nor of options that it cannot pass.
#[test]
fn messages_show_paths_as_the_client_wrote_them() {
    let (scene, model) = (Scene::new(&[(".env", "A=1\n"), ("empty/.keep", "")]), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    for path in [".env", "empty"] {
        let refused = server.post("/v1/plan", &json!({ "paths": [path] }));
        let (status, body) = (refused.status, refused.body);
        assert_eq!(status, 422, "{body}");
        assert!(body.contains(&format!("`{path}`")) && !body.contains("--allow-secrets"), "{body}");
        assert!(!body.contains(scene.root().to_str().unwrap()), "{body}");
    }
}

/// Rejected before the run is accepted: the limit would have no effect.
#[test]
fn a_limit_on_cost_is_refused_where_the_model_has_no_price() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--model", "tiny", "--base-url", "https://192.0.2.1/v1"], None);
    let ask = |limits: Value| {
        server.post("/v1/runs", &json!({ "question": QUESTION, "paths": ["notes"], "limits": limits }))
    };
    assert_eq!(ask(json!({ "cost_microusd_max": 1_000_000 })).problem(), (422, "price-unknown".into()));
    let chat = json!({
        "model": "spelunk",
        "messages": [{ "role": "user", "content": QUESTION }],
        "spelunk": { "paths": ["notes"], "limits": { "cost_microusd_max": 1_000_000 } },
    });
    let answer = server.post("/v1/chat/completions", &chat);
    assert!(
        (400..500).contains(&answer.status) && answer.body.contains("no price is known"),
        "{}",
        answer.body
    );
    assert!(scene.runs().is_empty());
}

#[test]
fn forms_that_are_wrong_are_problems() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.upload_bytes_max=4000"], Some(&model));
    let part =
        |head: &str, body: &str| format!("--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n");
    let request = part("name=\"request\"", r#"{"question":"q"}"#);
    let file = |name: &str| part(&format!("name=\"file\"; filename=\"{name}\""), "text");
    for (form, status, code) in [
        (String::new(), 400, "multipart-malformed"),
        ("--B".to_owned(), 400, "multipart-malformed"),
        ("garbage\r\n--B--\r\n".to_owned(), 400, "multipart-malformed"),
        (request.clone(), 400, "multipart-malformed"),
        ("--B--\r\n".to_owned(), 400, "multipart-malformed"),
        (format!("{request}{request}--B--\r\n"), 400, "multipart-malformed"),
        (format!("{}--B--\r\n", part("name=\"request\"", "{")), 400, "json-malformed"),
        (format!("{request}{}--B--\r\n", part("name=\"other\"", "x")), 400, "multipart-malformed"),
        (format!("{request}{}--B--\r\n", file("../../etc/passwd")), 400, "multipart-malformed"),
        (format!("{request}{}--B--\r\n", file("/etc/passwd")), 400, "multipart-malformed"),
        (format!("{request}{}--B--\r\n", part("name=\"file\"", &"x".repeat(5_000))), 413, "body-too-large"),
        (format!("{}{}--B--\r\n", part("name=\"request\"", "[]"), file("a")), 422, "json-malformed"),
        (format!("{request}{}--B--\r\n", file("a").repeat(101)), 400, "multipart-malformed"),
        (format!("--B\r\nX: {}\r\n\r\n\r\n--B--\r\n", "x".repeat(300_000)), 400, "multipart-malformed"),
    ] {
        let headers = [("Content-Type", "multipart/form-data; boundary=B")];
        let answer = server.send("POST", "/v1/runs", &headers, form.as_bytes());
        let shown: String = form.chars().take(200).collect();
        assert_eq!(answer.problem(), (status, code.to_owned()), "{shown}");
    }
    let without = server.send("POST", "/v1/runs", &[("Content-Type", "multipart/form-data")], b"x");
    assert_eq!(without.problem(), (400, "multipart-malformed".into()));
    assert!(scene.runs().is_empty() && !scene.exists(".spelunk/server/uploads"));
}

#[test]
fn no_path_leads_out_of_the_roots_or_the_run() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    std::fs::write(scene.root().join("secret.txt"), "root:x:0:0").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(scene.root().join("secret.txt"), scene.path("notes/link.md")).unwrap();
    let server = Server::start(&scene, &["--root", "notes"], Some(&model));
    for path in [
        "/etc/passwd",
        "../secret.txt",
        "notes/../../secret.txt",
        "notes/link.md",
        "..",
        "/",
        "\u{0}",
        "",
        ".spelunk",
        "notes/../.spelunk",
        "postgres://ann@127.0.0.1:1/shop",
        "s3://shelf/docs",
    ] {
        let ask = json!({ "question": QUESTION, "paths": [path] });
        for answer in [server.post("/v1/runs", &ask), server.post("/v1/plan", &json!({ "paths": [path] }))] {
            assert_eq!(answer.problem().0, 422, "{path}: {}", answer.body);
            assert!(!answer.body.contains("root:x"));
        }
    }
}

#[test]
fn no_part_of_an_address_leads_out_of_a_run() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--root", "notes"], Some(&model));
    let run = server.ask();
    server.finish(&run);
    let at = format!("/v1/runs/{run}");
    let outside = [
        "..",
        "%2e%2e",
        "../../workspace.toml",
        "..%2f..%2fworkspace.toml",
        "%2e%2e%2f%2e%2e%2fworkspace.toml",
        "journal.jsonl",
        "run.lock",
        "state/../journal.jsonl",
        "state%2f..%2fjournal.jsonl",
        "%2fetc%2fpasswd",
        "..%5c..%5cworkspace.toml",
        "%00",
        "state/",
        "",
        "%ff",
    ];
    for path in outside {
        for address in
            [format!("{at}/files/{path}"), format!("{at}/blobs/{path}"), format!("/v1/runs/{path}/files")]
        {
            let answer = server.get(&address);
            assert!(answer.status == 404, "{address}: {} {}", answer.status, answer.body);
            answer.problem();
        }
        for source in [path, "/etc/passwd", "../secret.txt", "link.md"] {
            assert_eq!(
                server.get(&format!("{at}/source?line=1&source={source}")).problem().0 / 100,
                4,
                "{source}"
            );
        }
    }
    for id in
        ["..", ".", "%2e%2e", "rlm-", "x", &"r".repeat(500), "%00", "%ff", "rlm-20260101T000000Z-00000000"]
    {
        for (method, rest) in [
            ("GET", ""),
            ("GET", "/events"),
            ("GET", "/result"),
            ("GET", "/evidence"),
            ("GET", "/report"),
            ("GET", "/files"),
            ("GET", "/files/x"),
            ("GET", "/blobs/x"),
            ("GET", "/source?source=x"),
            ("GET", "/plan"),
            ("POST", "/cancel"),
            ("POST", "/resume"),
            ("DELETE", ""),
        ] {
            let answer = server.send(method, &format!("/v1/runs/{id}{rest}"), &[], b"");
            assert!(
                [404, 405, 409].contains(&answer.status),
                "{method} {id}{rest}: {} {}",
                answer.status,
                answer.body
            );
            answer.problem();
        }
    }
    assert_eq!(scene.runs(), [run]);
}

#[test]
fn a_blob_is_read_only_through_a_run_that_names_it() {
    let long = "A long question about the number. ".repeat(100);
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let (one, other) = (server.ask_with(&json!({ "question": long, "paths": ["notes"] })), server.ask());
    server.finish(&one);
    server.finish(&other);
    let blob = scene.journal(&one)[0]["question"]["blob"].as_str().unwrap().to_owned();
    let answer = server.get(&format!("/v1/runs/{one}/blobs/{blob}"));
    assert_eq!((answer.status, answer.body.as_str()), (200, long.as_str()));
    assert_eq!(server.get(&format!("/v1/runs/{other}/blobs/{blob}")).problem(), (404, "not-found".into()));
    // The parts of a prompt can be read, too.
    let started = scene.journal(&one).into_iter().find(|event| event["type"] == "call.started").unwrap();
    let record: Value = match started["text"]["blob"].as_str() {
        Some(blob) => server.get(&format!("/v1/runs/{one}/blobs/{blob}")).json(),
        None => serde_json::from_str(started["text"]["text"].as_str().unwrap()).unwrap(),
    };
    let message = record["messages"][0]["text"]["blob"].as_str().unwrap();
    assert!(server.get(&format!("/v1/runs/{one}/blobs/{message}")).body.contains("A long question"));
}

#[test]
fn parameters_and_methods_that_nobody_knows_are_refused_by_name() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    for (path, says) in [
        ("/v1/runs?stat=open", "the parameter `stat` is not a parameter of this path"),
        ("/v1/runs?state=lost", "the parameter `state` must be one of"),
        ("/v1/runs?limit=0", "must be an integer from 1 to 200"),
        ("/v1/runs?limit=-1", "must be an integer"),
        ("/v1/runs?limit=1&limit=2", "is given twice"),
        ("/v1/runs?cursor=../x", "the parameter `cursor` is not a cursor of this server"),
        ("/v1/runs?%ff=%ff", "parameter"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.problem(), (400, "parameter-wrong".into()), "{path}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(says), "{}", answer.body);
    }
    assert_eq!(server.send("PUT", "/v1/runs", &[], b"").problem(), (405, "method-not-allowed".into()));
    assert_eq!(server.send("BREW", "/v1/runs", &[], b"").problem(), (405, "method-not-allowed".into()));
    assert_eq!(server.get("/v1/nowhere").problem(), (404, "not-found".into()));
    assert_eq!(server.get("/v1/runs/").problem().0, 404);
    let missing = server.send("GET", "/v1/runs/x/events", &[("Last-Event-ID", "soon")], b"");
    assert_eq!(missing.problem(), (400, "parameter-wrong".into()));
}

#[test]
fn slow_clients_lose_their_connection_and_nobody_else_does() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.request_ms_max=100"], None);
    // Half of a request head.
    let mut half = server.connect();
    half.write_all(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n").unwrap();
    // Half of a body.
    let mut body = server.connect();
    let head = "POST /v1/plan HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
    body.write_all(head.as_bytes()).unwrap();
    let mut form = server.connect();
    let head = "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: 99\r\n\r\n--B\r\n";
    form.write_all(head.as_bytes()).unwrap();
    assert_eq!(server.get("/healthz").status, 200);
    let mut rest = Vec::new();
    half.read_to_end(&mut rest).unwrap();
    assert!(!String::from_utf8(rest).unwrap().contains("200 OK"));
    for stream in [body, form] {
        let answer = Answer::read_one(stream);
        assert_eq!(answer.problem(), (408, "body-too-slow".into()));
    }
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn endless_bodies_and_heads_are_cut_off() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    for kind in ["application/json", "multipart/form-data; boundary=B"] {
        let mut stream = server.connect();
        let head = format!(
            "POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
        // A hundred of them exceed every limit; the server responds before it has read them all.
        for _ in 0..100 {
            if stream.write_all(chunk.as_bytes()).is_err() {
                break;
            }
        }
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        // If the server closed while we were writing, its response may be lost.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 413 ") || answer.starts_with("HTTP/1.1 400 "),
            "{answer}"
        );
    }
    let long = "x".repeat(200_000);
    let answer = server.send("GET", "/healthz", &[("X-Long", &long)], b"");
    assert_eq!(answer.status, 431);
    let many: Vec<(String, String)> = (0..500).map(|idx| (format!("X-{idx}"), "1".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(server.send("GET", "/healthz", &many, b"").status, 431);
    assert_eq!(server.get("/healthz").status, 200);
    assert!(!scene.exists(".spelunk/server/uploads"));
}

#[test]
fn connections_without_a_request_do_not_lock_others_out() {
    let model = ModelServer::start_blocking([to_all().always(Fault::StallBeforeHeaders)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &["--set", "server.connections_max=4"], Some(&model));
    let run = server.ask();
    // One has a request in progress; the others send half a request, or nothing any more.
    let mut watcher = server.connect();
    watcher
        .write_all(format!("GET /v1/runs/{run}/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes())
        .unwrap();
    let mut first = [0; 12];
    watcher.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let mut half_open: Vec<_> = (0..8).map(|_| server.connect()).collect();
    for stream in &mut half_open {
        drop(stream.write_all(b"GET /healthz HTTP/1.1\r\nHo"));
    }
    for _ in 0..20 {
        assert_eq!(server.get("/healthz").status, 200);
    }
    // The oldest were closed without a response; the watcher was not.
    assert_eq!(half_open[0].read(&mut [0; 1]).unwrap_or(0), 0);
    watcher.set_nonblocking(true).unwrap();
    let mut rest = vec![0; 1 << 16];
    while let Ok(n_read) = watcher.read(&mut rest) {
        assert_ne!(n_read, 0, "the watcher was disconnected");
    }
}

#[test]
fn a_client_that_does_not_read_loses_its_connection() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--set", "server.request_ms_max=200"], Some(&model));
    let run = server.ask();
    server.finish(&run);
    // More than the buffers of both sockets can hold.
    let text = "The magic number is 42. ".repeat(1_500_000);
    scene.write(&format!(".spelunk/runs/{run}/long.txt"), text.as_bytes());
    let path = format!("/v1/runs/{run}/files/long.txt");
    let mut idle = server.connect();
    idle.write_all(format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).unwrap();
    let n_open = || {
        let metrics = server.get("/metrics").body;
        metrics.lines().find_map(|line| line.strip_prefix("spelunk_connections ").map(str::to_owned)).unwrap()
    };
    wait_for("the connection to be gone", || (n_open() == "1").then_some(()));
    let mut rest = Vec::new();
    drop(idle.read_to_end(&mut rest));
    assert!(rest.len() < text.len(), "{}", rest.len());
    // A client that reads gets all of it.
    assert_eq!(server.get(&path).body, text);
}

#[test]
fn a_client_that_leaves_in_the_middle_costs_nothing() {
    let gate = spelunk_testkit::Gate::new();
    let model = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate)]);
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    crate::scene::wait_at(&gate, &model);
    let mut watchers: Vec<_> = (0..20).map(|_| server.watch(&run, 0)).collect();
    for watcher in &mut watchers {
        assert_eq!(watcher.next().unwrap().kind, "run.started");
    }
    let count = || {
        let metrics = server.get("/metrics").body;
        metrics
            .lines()
            .find_map(|line| line.strip_prefix("spelunk_event_watchers ").map(str::to_owned))
            .unwrap()
    };
    assert_eq!(count(), "20");
    drop(watchers);
    // A stream notices a disconnected reader only when it has something to send.
    gate.open();
    assert_eq!(server.finish(&run).last().unwrap().data, r#"{"state":"answered"}"#);
    wait_for("all watchers to be gone", || (count() == "0").then_some(()));
}
