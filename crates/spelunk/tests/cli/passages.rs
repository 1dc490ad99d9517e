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
    scene.spelunk(["ask", QUESTION]).run().check(&expect![[r#"
        No model is configured. Best-matching passages:

        notes/a.md:3  Numbers
            **The magic number is 42.**
            It was found in 1979.
        --- stderr

        3 files · 107 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn the_model_none_asks_nobody() {
    let scene = Scene::new(&FILES);
    let ask = scene.spelunk(["ask", QUESTION, "log.txt", "--model", "none"]);
    ask.env("OPENAI_API_KEY", "sk-unused").run().check(&expect![[r#"
        No model is configured. Best-matching passages:

        log.txt:2
            start
            **magic word spoken**
            stop
        --- stderr

        1 file · 29 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
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
          "computed": null,
          "degraded": true,
          "documents": 1,
          "notices": [],
          "outcome": {
            "is": "degraded"
          },
          "passages": [
            {
              "alike": 0,
              "document": "log.txt",
              "headings": [],
              "line": 2,
              "line_end": 3,
              "line_start": 1,
              "score": 1.3912267684936523,
              "sentence": "magic word spoken",
              "text": "start\nmagic word spoken\nstop\n"
            }
          ],
          "run": null
        }
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!((ran.code, ran.stderr.as_str()), (4, ""));
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn standard_input_is_searched_too() {
    let scene = Scene::new(&[]);
    scene.spelunk(["ask", QUESTION, "-"]).stdin("one\nthe magic number\n").run().check(&expect![[r#"
        No model is configured. Best-matching passages:

        stdin:2
            one
            **the magic number**
        --- stderr

        1 file · 21 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
}

#[test]
fn a_request_from_standard_input_says_what_it_needs() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["ask", "-"]).stdin("write a poem about the sea\n").run().check(&expect![[r#"
        --- stderr
        error: no model is configured, and a request without files needs one

        hint: run `spelunk doctor`; to search a text from standard input, run `spelunk ask QUESTION -`
        --- exit 2
    "#]]);
    for args in [&["ask", "-"][..], &["ask", QUESTION, "-"]] {
        scene.spelunk(args.iter().copied()).stdin(" \n").run().check(&expect![[r#"
            --- stderr
            error: standard input is empty

            hint: pipe a text into it
            --- exit 2
        "#]]);
    }
}

#[test]
fn where_nothing_matches_the_exit_code_says_so() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["ask", "zebra quagga okapi"]).run().check(&expect![[r#"
        No model is configured. No passage matches the question.
        --- stderr

        3 files · 107 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 1
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn what_is_printed_is_short_and_says_nothing_twice() {
    let paragraph = "The cache keeps each reply for a day. After that, it asks again and pays again.\n";
    let filler =
        "Nothing of interest is said here about anything, at some length and without an end.\n".repeat(40);
    let page = format!(
        "# Guide\n\n- [Cache](#cache)\n- [Other](#other)\n\n## Storage\n\n### Cache\n\n{paragraph}{filler}"
    );
    let scene = Scene::new(&[("a.md", &page), ("b.md", &page)]);
    let ran = scene.spelunk(["ask", "how long does the cache keep a reply?"]).run();
    assert_eq!(ran.code, 4);
    assert!(ran.stdout.chars().count() <= 1_500, "{}", ran.stdout);
    assert!(ran.stdout.contains("  Guide > Storage > Cache"), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("**The cache keeps each reply for a day.**").count(), 1, "{}", ran.stdout);
    assert!(!ran.stdout.contains("**- [Cache](#cache)"), "{}", ran.stdout);
}

/// Whatever the files are like, the output has a limit.
#[test]
fn at_most_1500_characters_are_printed() {
    let short = "cache it\n".repeat(400);
    let long = format!("{} ends.\n", "the cache keeps many words without a stop ".repeat(60));
    let heads =
        format!("# {0}\n\n## {0}\n\n### Cache\n\n{1}", "A heading that is rather long ".repeat(9), short);
    let wide = "der Zwischenspeicher, cache, hält übergroße Wörter für später bereit\n".repeat(40);
    let name = |n: usize| format!("{}/{n}.md", "a-long-name-of-a-directory".repeat(6));
    let texts = [short.as_str(), &long, &heads, &wide];
    let files: Vec<(String, &str)> = texts.iter().enumerate().map(|(n, text)| (name(n), *text)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let scene = Scene::new(&files);
    let mut longest = 0;
    for (question, path) in [
        ("what does the cache keep?", "."),
        ("what does the cache keep?", &name(0)),
        ("what does the cache keep?", &name(1)),
        ("what does the cache keep?", &name(2)),
        ("was hält der Zwischenspeicher bereit?", &name(3)),
        ("which customer has the most cache?", "."),
    ] {
        let ran = scene.spelunk(["ask", question, path]).run();
        assert_eq!(ran.code, 4, "{}", ran.stderr);
        let n_chars = ran.stdout.chars().count();
        assert!(n_chars <= 1_500, "{question} {path}: {n_chars}\n{}", ran.stdout);
        longest = longest.max(n_chars);
    }
    // The room is used.
    assert!(longest > 1_200, "{longest}");
}

#[test]
fn a_count_is_computed_or_said_to_be_impossible() {
    let log = "09:41 INFO started\n09:42 ERROR refused\n09:43 ERROR refused again\n";
    let scene = Scene::new(&[("app.log", log), ("t/orders.csv", "id,region\n1,north\n2,south\n3,south\n")]);
    scene.spelunk(["ask", "how many ERROR lines?", "app.log"]).run().check(&expect![[r#"
        No model is configured. Computed:

        2
            lines with the word `ERROR` in any case, of 3 lines in `app.log`
        --- stderr

        1 file · 65 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
    scene.spelunk(["ask", "which region has the most orders?", "t"]).run().check(&expect![[r#"
        No model is configured. Computed:

        south: 2
            SELECT "region", COUNT(*) AS n FROM "orders" GROUP BY "region" ORDER BY n DESC, 1 LIMIT 5, over 3 rows
        --- stderr

        1 file · 34 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
    for (question, path) in
        [("which customer has the most orders?", "t"), ("how many lines do not contain ERROR?", "app.log")]
    {
        let ran = scene.spelunk(["ask", question, path]).run();
        let said = "No model is configured, and this count needs one. ";
        assert!(ran.stdout.starts_with(said), "{question}: {}", ran.stdout);
    }
}

#[test]
fn an_entry_about_exactly_what_is_asked_comes_first() {
    let tour = "# The frame\n\nA frame opens a frame, and every frame of a frame records what the frame did.\n\n\
                The frame is what a frame asks. A frame ends when the frame has its answer.\n";
    let glossary = "# Glossary\n\n| word | meaning |\n|---|---|\n| **call** | one prompt to a model |\n\
                    | **frame** | one invocation inside a run |\n| **turn** | one reply of a model |\n";
    let scene = Scene::new(&[("tour.md", tour), ("glossary.md", glossary)]);
    let ran = scene.spelunk(["ask", "what is a frame?", ".", "--json", "-q"]).run();
    let shown: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let first = &shown["passages"][0];
    assert_eq!((first["document"].as_str(), first["line"].as_u64()), (Some("glossary.md"), Some(6)));
}
