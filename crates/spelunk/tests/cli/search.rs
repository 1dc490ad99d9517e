//! `spelunk search`: by words and by meaning, over an index that keeps up with the files.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

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
    // What changes is found at once.
    scene.write("docs/new.md", b"The zebra lives in the annex.\n");
    scene.spelunk(["search", "zebra", "-k", "1"]).run().check(&expect![[r#"
        docs/new.md:1  similarity 0.70
            The zebra lives in the annex.
        --- stderr
        1 passage · 4 documents searched by hybrid
        --- exit 0
    "#]]);
    scene.spelunk(["search", "zebra", "--mode", "magic"]).run().check(&expect![[r#"
        --- stderr
        error: there is no mode `magic`

        hint: choose one of words, meaning, hybrid
        --- exit 2
    "#]]);
}

#[test]
fn a_question_for_one_fact_is_answered_from_what_was_found() {
    let filler = "Nothing of interest happened on this day at all.\n".repeat(900);
    let scene = Scene::new(&[FILES[0], ("docs/log.md", &filler), FILES[1]]);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("Write what to search for")).reply("password environment").usage(10, 5),
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
        strategy search (a question for one fact, over more than one call can hold)
        3 files · 1.3 kB read of 44.2 kB · 2 calls · 135 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(server.unexpected(), []);
}
