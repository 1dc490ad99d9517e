//! Every frontend that searches uses the model of the role `embedding`, and works without it if words are enough.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{ClosedPort, ModelServer, Recorded, when};

use crate::http::client::Server;
use crate::mcp::client::Client;
use crate::scene::Scene;

const FILES: [(&str, &str); 2] = [
    ("docs/retry.md", "# Retries\n\nA request that failed is sent again after a pause.\n"),
    ("docs/keys.md", "# Keys\n\nThe password is read from the environment.\n"),
];

/// A scene whose embeddings come from a server at that URL.
fn with_vectors(base_url: &str) -> Scene {
    let scene = Scene::new(&FILES);
    set_vectors(&scene, base_url);
    for name in ["retry", "keys"] {
        assert_eq!(scene.spelunk(["context", "add", &format!("docs/{name}.md")]).run().code, 0);
    }
    scene
}

fn set_vectors(scene: &Scene, base_url: &str) {
    let toml = format!(
        "roles.embedding = 'vectors'\n[models.vectors]\nprovider = 'openai'\nname = 'tiny-embed'\nbase_url = '{base_url}'\n"
    );
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
}

/// The number of texts in each embedding request.
fn n_texts(server: &ModelServer) -> Vec<usize> {
    let of = |request: &Recorded| request.json()["input"].as_array().map_or(0, Vec::len);
    server.requests().iter().filter(|request| request.path == "/v1/embeddings").map(of).collect()
}

#[test]
fn contexts_are_searched_with_the_model_of_the_role() {
    let server = ModelServer::start_blocking([]);
    let scene = with_vectors(&server.base_url());
    let search = ["context", "search", "password", "--semantic", "--json"];
    let ran = scene.spelunk(search).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        (&found["mode"], &found["searched"], &found["notices"]),
        (&json!("meaning"), &json!(2), &json!([]))
    );
    assert!(found["results"][0]["similarity"].as_f64().unwrap() > 0.9, "{found}");
    // The vector length, one request per document, the query, and the query with the paragraphs.
    assert_eq!(n_texts(&server), [1, 1, 1, 1, 3]);
    // Cached vectors are not requested again.
    scene.spelunk(search).run();
    assert_eq!(n_texts(&server)[5..], [1, 1, 3]);
}

#[test]
fn a_server_asks_how_long_vectors_are_once() {
    let server = ModelServer::start_blocking([]);
    let scene = with_vectors(&server.base_url());
    let http = Server::start(&scene, &["--root", "docs"], None);
    for _ in 0..2 {
        let found = http.get("/api/context/search/all?q=password&mode=meaning").json();
        assert_eq!(
            (&found["mode"], found["results"].as_array().unwrap().len()),
            (&json!("meaning"), 2),
            "{found}"
        );
    }
    assert_eq!(n_texts(&server), [1, 1, 1, 1, 3, 1, 3]);
    drop(http);
    let mut client = Client::plain(&scene);
    let found = client.data("context_search", &json!({ "query": "password", "mode": "hybrid" }));
    assert_eq!(found["mode"], "hybrid");
    assert_eq!(n_texts(&server)[7..], [1, 1]);
}

#[test]
fn code_asks_it_too() {
    let (vectors, cell) =
        (ModelServer::start_blocking([]), "```repl\nFINAL(search('password', mode='hybrid')[0]['doc'])\n```");
    let scene = with_vectors(&vectors.base_url());
    let model = ModelServer::start_blocking([when(|_| true).reply(cell).usage(10, 5)]);
    let ran = scene.spelunk(["ask", "Where?", "docs", "--strategy", "repl"]).server(&model).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("keys.md")), "{}", ran.stderr);
    assert_eq!(n_texts(&vectors), [1, 1, 1, 1]);
}

#[test]
fn words_are_looked_for_where_it_cannot_be_reached() {
    let port = ClosedPort::reserve();
    let scene = with_vectors(&port.base_url());
    scene.spelunk(["search", "password", "docs", "-k", "1"]).run().check(&expect![[r#"
        keys.md:3
            The password is read from the environment.
        --- stderr
        searched by words only: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it
        1 passage · 2 documents searched by words
        --- exit 0
    "#]]);
    scene
        .spelunk(["search", "password", "docs", "-k", "1", "--mode", "words", "--json"])
        .run()
        .check(&expect![[r##"
            {"documents":2,"hits":[{"document":"keys.md","line":3,"line_end":3,"line_start":1,"matched":["password"],"scope":null,"score":1.3862943649291992,"similarity":null,"text":"# Keys\n\nThe password is read from the environment.\n","twins":0}],"mode":"words","notices":[{"code":"model-unreachable","message":"searched by words only: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it"}]}
            --- stderr
            searched by words only: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it
            1 passage · 2 documents searched by words
            --- exit 0
        "##]]);
    scene.spelunk(["context", "search", "password", "--semantic"]).run().check(&expect![[r#"
        --- stderr
        error: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it

        hint: search by words, or check that the model responds
        --- exit 1
    "#]]);
    let http = Server::start(&scene, &["--root", "docs"], None);
    let found = http.get("/api/context/search/all?q=password&mode=hybrid").json();
    expect![[r##"
        {
          "mode": "words",
          "notices": [
            {
              "code": "model-unreachable",
              "message": "searched by words only: the embedding model `openai/tiny-embed URL` did not respond: could not reach `URL`: Connection refused (os error 111); unset `roles.embedding` to search without it"
            }
          ],
          "results": [
            {
              "chunk": "# Keys\n\nThe password is read from the environment.\n",
              "context_id": "keys",
              "full_length": 51,
              "line": 3,
              "line_end": 3,
              "line_start": 1,
              "name": "keys.md",
              "position": 0,
              "score": 1.3863,
              "similarity": null,
              "type": "document"
            }
          ],
          "searched": 2,
          "unread": []
        }"##]].assert_eq(&without_port(&found, &port));
    assert_eq!(
        http.get("/api/context/search/all?q=password&mode=meaning").problem(),
        (502, "model-unreachable".into())
    );
    drop(http);
    let mut client = Client::plain(&scene);
    let told = client.text("context_search", &json!({ "query": "password", "mode": "hybrid" }));
    expect![[r#"
        keys:3
            The password is read from the environment.
        [searched by words only: the embedding model `openai/tiny-embed URL` did not respond: could not reach `URL`: Connection refused (os error 111); unset `roles.embedding` to search without it]
        [1 passage in 2 contexts by words]"#]].assert_eq(&told.replace(&port.base_url(), "URL"));
}

fn without_port(value: &Value, port: &ClosedPort) -> String {
    serde_json::to_string_pretty(value).unwrap().replace(&port.base_url(), "URL")
}

#[test]
fn a_run_that_began_by_words_continues_with_what_they_found() {
    let port = ClosedPort::reserve();
    let scene = with_vectors(&port.base_url());
    let model = ModelServer::start_blocking([
        when(|prompt| prompt.contains("You prepare a search")).reply("password").usage(10, 5),
        when(|_| true).reply("From the environment.").usage(10, 5),
    ]);
    let ask = ["ask", "Where does it come from?", "docs", "--strategy", "search"];
    let asked = scene.spelunk(ask).server(&model).arg("--set").arg("limits.calls_max=1").run();
    assert_eq!(asked.code, 3, "{}", asked.stderr);
    let run = scene.only_run();
    let observed: Vec<String> = scene
        .journal(&run)
        .iter()
        .filter(|event| event["type"] == "value.observed")
        .map(|event| event["what"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(observed, [r#"passages ["Where does it come from?","password"]"#]);
    // The embedding model is available, but is not called.
    let vectors = ModelServer::start_blocking([]);
    set_vectors(&scene, &vectors.base_url());
    let resumed = scene.spelunk(["resume", &run, "--set", "limits.calls_max=10"]).server(&model).run();
    resumed.check(&expect![[r#"
        From the environment.
          keys.md:3  The password is read from the environment.
        --- stderr
        resuming run SHORT after event 10: reusing 1 completed call
        2 files · 51 B read of 113 B · 2 calls · 30 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_texts(&vectors), Vec::<usize>::new());
}

#[test]
fn code_is_told_by_words_and_the_user_why() {
    let port = ClosedPort::reserve();
    let scene = with_vectors(&port.base_url());
    let cell = "```repl\nFINAL(str(search('password', mode='hybrid')[0]['similarity']))\n```";
    let model = ModelServer::start_blocking([when(|_| true).reply(cell).usage(10, 5)]);
    scene.spelunk(["ask", "Where?", "docs", "--strategy", "repl"]).server(&model).run().check(&expect![[r#"
        None
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        warning: searched by words only: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles… (check that the server is running and that `--base-url` is correct, then run `spelunk doctor`)
        2 files · 113 B explored in 1 cell · 1 call · 15 tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
    let cell = "```repl\ntry:\n    search('password', mode='meaning')\nexcept RuntimeError as error:\n    FINAL(str(error))\n```";
    let model = ModelServer::start_blocking([when(|_| true).reply(cell).usage(10, 5)]);
    scene.spelunk(["ask", "Where?", "docs", "--strategy", "repl"]).server(&model).run().check(&expect![[r#"
        the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        2 files · 113 B explored in 1 cell · 1 call · 15 tokens · $0.00 · TIME · no citations · run SHORT2
        --- exit 0
    "#]]);
}
