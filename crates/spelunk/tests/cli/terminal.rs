//! Output on a terminal of 80 and of 120 columns. The terminal is that of `script`.

use expect_test::expect;

use crate::scene::{NOTE, QUESTION, Scene, answering};

const LONG: &str = "The magic number is 42, as the notes say in their third line, and nothing else in this folder says anything \
                    about it, so there is no reason to doubt it.\n\n- The first item of a list that is too long for one line of \
                    a terminal of eighty columns, too.\n\n```evidence\na.md:3: The magic number is 42.\n```";

/// What a terminal shows, with the names of the scene replaced.
fn shown(scene: &Scene, columns: usize, args: &[&str], base_url: &str) -> String {
    let ran = scene.on_terminal(columns, args).env("OPENAI_BASE_URL", base_url).run();
    let text = scene.normalise(&ran.stdout.replace('\r', ""));
    // What a progress block drew was erased.
    let seen = |line: &str| line.rsplit("\u{1b}[J").next().unwrap_or_default().to_owned() + "\n";
    let text: String = text.lines().map(seen).collect();
    for line in text.lines() {
        assert!(line.chars().count() <= columns, "{line}");
    }
    text
}

#[test]
fn text_is_wrapped_at_words_to_the_width_of_the_terminal() {
    let (scene, server) = (Scene::new(&NOTE), answering(LONG));
    let at = |columns| shown(&scene, columns, &["ask", QUESTION, "notes", "-q"], &server.base_url());
    expect![[r#"
        The magic number is 42, as the notes say in their third line, and nothing else
        in this folder says anything about it, so there is no reason to doubt it.

        - The first item of a list that is too long for one line of a terminal of eighty
        columns, too.
          a.md:3  The magic number is 42.
    "#]]
    .assert_eq(&at(80));
    expect![[r#"
        The magic number is 42, as the notes say in their third line, and nothing else in this folder says anything about it, so
        there is no reason to doubt it.

        - The first item of a list that is too long for one line of a terminal of eighty columns, too.
          a.md:3  The magic number is 42.
    "#]].assert_eq(&at(120));
}

#[test]
fn errors_and_hints_are_wrapped() {
    let scene = Scene::new(&NOTE);
    let args = ["ask", QUESTION, "notes", "--model", "tiny"];
    let refused = shown(&scene, 80, &args, "");
    expect![[r#"
        error: cannot use the model `tiny`: no key was found, and no local server offers
        it

        hint: set the key of its provider, write PROVIDER/NAME, or set its server with
        `--base-url`
    "#]]
    .assert_eq(&refused);
}

#[test]
fn runs_are_listed_in_the_width_of_the_terminal() {
    let (scene, server) = (Scene::new(&NOTE), answering(LONG));
    let question = "What is the magic number, and which of the notes in this folder say something about where it comes from?";
    assert_eq!(scene.spelunk(["ask", question, "notes", "-q"]).server(&server).run().code, 0);
    expect![[r#"
        RUN       STARTED      STATE        CALLS      COST  QUESTION
        SHORT  just now     answered         1     $0.00  What is the magic number,…
    "#]]
    .assert_eq(&shown(&scene, 80, &["run", "list"], ""));
    expect![[r#"
        RUN       STARTED      STATE        CALLS      COST  QUESTION
        SHORT  just now     answered         1     $0.00  What is the magic number, and which of the notes in this folder sa…
    "#]].assert_eq(&shown(&scene, 120, &["run", "list"], ""));
}

#[test]
fn the_greeting_and_what_is_found_without_a_model_fit() {
    let text = "# Storage\n\n## Cache\n\nThe cache keeps each reply for a day, counted from the moment at which it was written and not from the last time that it was read.\n";
    let scene = Scene::new(&[("notes/a.md", text)]);
    expect![[r#"
        spelunk 0.1.0: ask questions of text too large for any model

        Model    none; `spelunk ask` shows the best passages instead of an answer
        Here     0 files, 1 folder

          spelunk ask "what is this about?" .   ask about this folder
          spelunk search "words" .              find passages, without a model
          spelunk demo                          watch a run crash and resume; no key
          spelunk doctor                        check the model and the settings
          spelunk --help                        all commands
    "#]]
    .assert_eq(&shown(&scene, 80, &[], ""));
    let at = |columns| shown(&scene, columns, &["ask", "how long does the cache keep a reply?", "notes"], "");
    expect![[r#"
        No model is configured. Best-matching passages:

        a.md:5  Storage > Cache
            **The cache keeps each reply for a day, counted from the moment at which it
            was written and not from the last time that it was read.**

        1 file · 152 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server
        such as Ollama, or run `spelunk doctor`.
    "#]]
    .assert_eq(&at(80));
    expect![[r#"
        No model is configured. Best-matching passages:

        a.md:5  Storage > Cache
            **The cache keeps each reply for a day, counted from the moment at which it was written and not from the last time
            that it was read.**

        1 file · 152 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
    "#]].assert_eq(&at(120));
}

#[test]
fn the_code_of_each_turn_and_the_demo_fit() {
    let scene = Scene::new(&NOTE);
    for columns in [80, 120] {
        let text = shown(&scene, columns, &["demo"], "");
        assert!(text.contains("turn 1") && text.contains("  > errors = grep(\"ERROR\")"), "{text}");
    }
}

#[test]
fn results_are_wrapped_at_words_and_no_number_is_cut() {
    let (scene, server) = (Scene::new(&NOTE), answering(LONG));
    scene.answered(&server);
    let at = |columns, args: &[&str]| shown(&scene, columns, args, &server.base_url());
    assert_eq!(at(60, &["show"]).lines().last(), Some("run SHORT"));
    expect![[r#"
        RUN       STARTED      STATE
        CALLS      COST  QUESTION
        SHORT  just now     answered
        1     $0.00  What is the magic number?
    "#]]
    .assert_eq(&at(40, &["run", "list"]));
    for args in [["search", "magic"].as_slice(), &["doctor"], &["model", "list"], &["plan", "notes"]] {
        at(80, args);
    }
}
