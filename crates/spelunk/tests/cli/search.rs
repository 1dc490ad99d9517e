//! `spelunk search`: by words and by meaning, over an index that follows changes to the files.

use expect_test::expect;
use spelunk_testkit::{Fault, ModelServer, on, when};

use crate::scene::Scene;

const FILES: [(&str, &str); 3] = [
    (
        "docs/retry.md",
        "# Retries\n\nA request that failed is sent again after a pause that doubles each time.\n",
    ),
    ("docs/keys.md", "# Keys\n\nThe password is read from the environment and never written to disk.\n"),
    ("src/client.py", "def send_again(request):\n    return maxRetryCount > 3\n"),
];

#[test]
fn passages_are_found_by_words_and_by_meaning() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["search", "maxRetryCount", "--mode", "words", "-k", "1"]).run().check(&expect![[r#"
        src/client.py:2
            return maxRetryCount > 3
        --- stderr
        1 passage · 3 documents searched by words
        --- exit 0
    "#]]);
    let ran = scene
        .spelunk(["search", "where are credentials kept", "--mode", "meaning", "-k", "1", "--json"])
        .run();
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["hits"][0]["document"], "docs/keys.md", "{found}");
    // Changes are found at once.
    scene.write("docs/new.md", b"The zebra lives in the annex.\n");
    scene.spelunk(["search", "zebra", "-k", "1"]).run().check(&expect![[r#"
        docs/new.md:1  similarity 0.70
            The zebra lives in the annex.
        --- stderr
        1 passage · 4 documents searched by words and meaning
        --- exit 0
    "#]]);
    scene.spelunk(["search", "zebra", "--mode", "magic"]).run().check(&expect![[r#"
        --- stderr
        error: there is no mode `magic`

        hint: choose one of words, meaning, hybrid
        --- exit 2
    "#]]);
}

/// More text than a search indexes before it answers, most of it blank, which costs little.
pub(crate) fn large() -> String {
    format!(
        "The zebra lives in the annex.\n{}The okapi lives in the garden.\n",
        (" ".repeat(9_999) + "\n").repeat(2_100)
    )
}

#[test]
fn a_lot_of_text_is_read_until_it_is_indexed() {
    let scene = Scene::new(&[("docs/animals.md", &large())]);
    let search = || scene.spelunk(["search", "where is the okapi", "docs", "-k", "1"]).run();
    search().check(&expect![[r#"
        animals.md:2102
            The okapi lives in the garden.
        --- stderr
        searched by words only: 21 MB are not indexed yet; build the index with `spelunk index` to search by meaning as well
        1 passage · 1 document searched by words
        --- exit 0
    "#]]);
    scene.spelunk(["index", "docs"]).run().check(&expect![[r#"
        --- stderr
        Indexed 1 document, 21.0 MB.
        --- exit 0
    "#]]);
    search().check(&expect![[r#"
        animals.md:2102  similarity 0.74
            The okapi lives in the garden.
        --- stderr
        1 passage · 1 document searched by words and meaning
        --- exit 0
    "#]]);
}

#[test]
fn a_question_for_one_fact_is_answered_from_what_was_found() {
    let filler = "Nothing of interest happened on this day at all.\n".repeat(900);
    let scene = Scene::new(&[FILES[0], ("docs/log.md", &filler), FILES[1]]);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("fact or overview")).reply("fact").usage(10, 1),
        when(|prompt| prompt.contains("You prepare a search")).reply("password environment").usage(10, 5),
        when(|prompt| prompt.contains("password is read"))
            .reply("From the environment.\n\n```evidence\nkeys.md:3: The password is read from the environment\n```")
            .usage(100, 20),
    ]);
    let ask = scene.spelunk(["ask", "Where does the password come from?", "docs"]).server(&server);
    ask.run().check(&expect![[r#"
        From the environment.
          keys.md:3  The password is read from the environment
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        search: the question asks for something that the text states
        3 files · 77 B read of 44.2 kB · 3 calls · 146 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(server.unexpected(), []);
}

/// Uses a server for the embeddings of the index.
fn with_vectors(scene: &Scene, base_url: &str) {
    let toml = format!(
        "roles.embedding = 'vectors'\n[models.vectors]\nprovider = 'openai'\nname = 'tiny-embed'\nbase_url = '{base_url}'\nkey_env = 'VECTOR_KEY'\n"
    );
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
}

#[test]
fn the_model_of_the_role_embedding_makes_the_vectors() {
    let (scene, server) = (Scene::new(&FILES), ModelServer::start_blocking([]));
    with_vectors(&scene, &server.base_url());
    let search = |words: &'static str| {
        let ran =
            scene.spelunk(["search", words, "--mode", "meaning", "--json"]).env("VECTOR_KEY", "k-1").run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()
    };
    assert_eq!(search("again")["mode"], "meaning");
    let requests = server.requests();
    assert!(requests.iter().all(|request| request.path == "/v1/embeddings"), "{requests:?}");
    assert!(requests.iter().all(|request| request.header("authorization") == Some("Bearer k-1")));
    assert_eq!(requests[0].json()["model"], "tiny-embed");
    // The vector length, three documents, the query.
    assert_eq!(requests.len(), 5);
    // The documents are now cached.
    search("pause");
    assert_eq!(server.requests().len(), 7);
    scene
        .spelunk(["doctor"])
        .env("VECTOR_KEY", "k-1")
        .env("OPENAI_API_KEY", "k")
        .env("OPENAI_BASE_URL", &server.base_url())
        .run()
        .check(&expect![[r#"
            ok    settings   DIR/home/.config/spelunk/config.toml
            ok    workspace  DIR/work/.spelunk (0 runs)
            ok    sandbox    monty (a session starts in TIME)
            ok    model      openai/scripted (OPENAI_API_KEY is set)
            ok    price      free
            ok    reach      http://127.0.0.1:PORT/v1 offers it
            ok    embedding  openai/tiny-embed returns vectors with 3 dimensions
            --- stderr
            --- exit 0
        "#]]);
}

#[test]
fn an_embedding_model_that_cannot_be_asked_is_told() {
    let (scene, port) = (Scene::new(&FILES), spelunk_testkit::ClosedPort::reserve());
    with_vectors(&scene, &port.base_url());
    let search = ["search", "again", "--mode", "meaning"];
    scene.spelunk(search).run().check(&expect![[r#"
        --- stderr
        error: the embedding model `roles.embedding` did not respond: `models.vectors.key_env` names `VECTOR_KEY`, which is not set; unset `roles.embedding` to search without it

        hint: search by words, or check that the model responds
        --- exit 1
    "#]]);
    scene.spelunk(search).env("VECTOR_KEY", "k-1").run().check(&expect![[r#"
        --- stderr
        error: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); unset `roles.embedding` to search without it

        hint: search by words, or check that the model responds
        --- exit 1
    "#]]);
    let gemini = scene.spelunk(search).env("SPELUNK_ROLES_EMBEDDING", "gemini/text-embedding-004");
    gemini.env("GEMINI_API_KEY", "k-1").run().check(&expect![[r#"
        --- stderr
        error: the embedding model `roles.embedding` did not respond: embeddings need an OpenAI-compatible API, which gemini does not have; unset `roles.embedding` to search without it

        hint: search by words, or check that the model responds
        --- exit 1
    "#]]);
}

#[test]
fn an_embedding_model_that_stays_silent_is_told_and_asked_once() {
    let scene = Scene::new(&FILES);
    let server = ModelServer::start_blocking([on("embed").always(Fault::StallBeforeHeaders)]);
    with_vectors(&scene, &server.base_url());
    let silent = |args: &[&'static str]| {
        let call = scene.spelunk(args.iter().copied()).env("VECTOR_KEY", "k-1").env("OPENAI_API_KEY", "k");
        call.env("OPENAI_BASE_URL", &server.base_url()).env("SPELUNK_LIMITS_CALL_MS_MAX", "300").run()
    };
    silent(&["search", "again", "--mode", "meaning"]).check(&expect![[r#"
        --- stderr
        error: the embedding model `openai/tiny-embed http://127.0.0.1:PORT/v1` did not respond: no reply within TIME; unset `roles.embedding` to search without it

        hint: search by words, or check that the model responds
        --- exit 1
    "#]]);
    let told = silent(&["doctor"]);
    assert!(told.stdout.contains("bad   embedding  no reply within 300 ms"), "{}", told.stdout);
    let n_asked = server.requests().iter().filter(|request| request.path == "/v1/embeddings").count();
    assert_eq!(n_asked, 2);
}
