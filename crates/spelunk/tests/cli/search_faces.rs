//! Every face that searches asks the model of the role `embedding`, and does without it where words are enough.

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

/// A scene whose index is made by a server at that address.
fn with_vectors(base_url: &str) -> Scene {
    let scene = Scene::new(&FILES);
    let toml = format!(
        "roles.embedding = 'vectors'\n[models.vectors]\nprovider = 'openai'\nname = 'tiny-embed'\nbase_url = '{base_url}'\n"
    );
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
    for name in ["retry", "keys"] {
        assert_eq!(scene.spelunk(["context", "add", &format!("docs/{name}.md")]).run().code, 0);
    }
    scene
}

/// How many texts each request for vectors had.
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
    // The length of a vector, a document each, the query, and the query with the paragraphs.
    assert_eq!(n_texts(&server), [1, 1, 1, 1, 3]);
    // What is known is not asked for again.
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
fn code_and_strategies_ask_it_too() {
    let (vectors, cell) =
        (ModelServer::start_blocking([]), "```repl\nFINAL(search('password', mode='hybrid')[0]['doc'])\n```");
    let scene = with_vectors(&vectors.base_url());
    let model = ModelServer::start_blocking([when(|_| true).reply(cell).usage(10, 5)]);
    let ran = scene.spelunk(["ask", "Where?", "docs", "--strategy", "repl"]).server(&model).run();
    assert_eq!((ran.code, ran.stdout.lines().next()), (0, Some("keys.md")), "{}", ran.stderr);
    assert_eq!(n_texts(&vectors), [1, 1, 1, 1]);
    let model = ModelServer::start_blocking([
        when(|prompt| prompt.contains("Write what to search for")).reply("password").usage(10, 5),
        when(|_| true).reply("From the environment.").usage(10, 5),
    ]);
    let ran = scene.spelunk(["ask", "Where?", "docs", "--strategy", "search"]).server(&model).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    // The documents are known: the length, the question and the one search.
    assert_eq!(n_texts(&vectors)[4..], [1, 1, 1]);
}

#[test]
fn words_are_looked_for_where_it_cannot_be_reached() {
    let port = ClosedPort::reserve();
    let scene = with_vectors(&port.base_url());
    scene.spelunk(["search", "password", "docs", "-k", "1"]).run().check(&expect![[""]]);
    scene
        .spelunk(["search", "password", "docs", "-k", "1", "--mode", "words", "--json"])
        .run()
        .check(&expect![[""]]);
    scene.spelunk(["context", "search", "password", "--semantic"]).run().check(&expect![[""]]);
    let http = Server::start(&scene, &["--root", "docs"], None);
    let found = http.get("/api/context/search/all?q=password&mode=hybrid").json();
    expect![[""]].assert_eq(&without_port(&found, &port));
    assert_eq!(
        http.get("/api/context/search/all?q=password&mode=meaning").problem(),
        (502, "model-unreachable".into())
    );
    drop(http);
    let mut client = Client::plain(&scene);
    let told = client.text("context_search", &json!({ "query": "password", "mode": "hybrid" }));
    expect![[""]].assert_eq(&told.replace(&port.base_url(), "URL"));
}

fn without_port(value: &Value, port: &ClosedPort) -> String {
    serde_json::to_string_pretty(value).unwrap().replace(&port.base_url(), "URL")
}

#[test]
fn a_run_that_began_by_words_goes_on_by_words() {
    let port = ClosedPort::reserve();
    let scene = with_vectors(&port.base_url());
    let model = ModelServer::start_blocking([
        when(|prompt| prompt.contains("Write what to search for")).reply("password").usage(10, 5),
        when(|_| true).reply("From the environment.").usage(10, 5),
    ]);
    let ask = ["ask", "Where does it come from?", "docs", "--strategy", "search"];
    scene.spelunk(ask).server(&model).run().check(&expect![[""]]);
    let run = scene.only_run();
    let journal = scene.spelunk(["show", &run, "--events"]).run().stdout;
    let how: Vec<&str> = journal.lines().filter(|line| line.contains("searched by")).collect();
    assert_eq!(how.len(), 2, "{journal}");
    let cell = "```repl\nFINAL(str(search('password', mode='hybrid')[0]['similarity']))\n```";
    let model = ModelServer::start_blocking([when(|_| true).reply(cell).usage(10, 5)]);
    scene.spelunk(["ask", "Where?", "docs", "--strategy", "repl"]).server(&model).run().check(&expect![[""]]);
}
