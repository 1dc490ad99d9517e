//! `spelunk ask` without a model: prints passages, states that they are not an answer, and leaves nothing behind.

use expect_test::expect;

use crate::scene::{QUESTION, Scene};

const FILES: [(&str, &str); 3] = [
    ("notes/a.md", "# Numbers\n\nThe magic number is 42.\nIt was found in 1979.\n"),
    ("notes/b.md", "Nothing of interest.\n"),
    ("log.txt", "start\nmagic word spoken\nstop\n"),
];

#[test]
fn without_a_model_the_best_passages_are_shown() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["ask", QUESTION]).run().check(&expect![[r"
        No model wrote this: the passages that share most words with the question.

        notes/a.md:3
            # Numbers
            The magic number is 42.
            It was found in 1979.

        log.txt:2
            start
            magic word spoken
            stop
        --- stderr

        2 passages of 2 that match · 3 files · 107 B searched
        for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`
        --- exit 0
    "]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn the_model_none_asks_nobody() {
    let scene = Scene::new(&FILES);
    let ask = scene.spelunk(["ask", QUESTION, "log.txt", "--model", "none"]);
    ask.env("OPENAI_API_KEY", "sk-unused").run().check(&expect![[r"
        No model wrote this: the passages that share most words with the question.

        log.txt:2
            start
            magic word spoken
            stop
        --- stderr

        1 passage of 1 that match · 1 file · 29 B searched
        for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`
        --- exit 0
    "]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn json_says_that_it_is_degraded() {
    let scene = Scene::new(&FILES);
    let ran = scene.spelunk(["ask", QUESTION, "log.txt", "--json", "-q"]).run();
    expect![[r#"
        {
          "answer": null,
          "bytes_read": 29,
          "degraded": true,
          "documents": 1,
          "outcome": {
            "is": "degraded"
          },
          "passages": [
            {
              "document": "log.txt",
              "line_end": 3,
              "line_start": 1,
              "score": 0.3371219038963318,
              "text": "start\nmagic word spoken\nstop\n"
            }
          ],
          "passages_matched": 1,
          "run": null
        }
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn standard_input_is_searched_too() {
    let scene = Scene::new(&[]);
    scene.spelunk(["ask", QUESTION, "-"]).stdin("one\nthe magic number\n").run().check(&expect![[r"
        No model wrote this: the passages that share most words with the question.

        stdin:2
            one
            the magic number
        --- stderr

        1 passage of 1 that match · 1 file · 21 B searched
        for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`
        --- exit 0
    "]]);
}

#[test]
fn where_nothing_matches_the_exit_code_says_so() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["ask", "zebra quagga okapi"]).run().check(&expect![[r"
        No model wrote this: no passage shares a word with the question.
        --- stderr

        0 passages of 0 that match · 3 files · 107 B searched
        for an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`
        --- exit 1
    "]]);
    assert!(!scene.exists(".spelunk"));
}
