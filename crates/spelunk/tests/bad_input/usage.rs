//! Invalid command lines.

use expect_test::expect;

use crate::scene::{NOTE, Scene};

#[track_caller]
fn refused(args: &[&'static str], expected: &expect_test::Expect) {
    let scene = Scene::new(&NOTE);
    scene.spelunk(args.iter().copied()).run().check(expected);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn an_unknown_flag_is_answered_with_a_known_one() {
    refused(
        &["ask", "what is this?", "--modle", "x"],
        &expect![[r"
        --- stderr
        error: unexpected argument '--modle' found

          tip: a similar argument exists: '--model'

        Usage: spelunk ask --model <MODEL> <QUESTION> [PATH]...

        For more information, try '--help'.
        --- exit 2
    "]],
    );
}

#[test]
fn an_unknown_command_is_answered_with_a_known_one() {
    refused(
        &["shwo"],
        &expect![[r#"
            --- stderr
            error: unrecognized subcommand 'shwo'

              tip: a similar subcommand exists: 'show'

            Usage: spelunk [OPTIONS] [COMMAND]

            For more information, try '--help'.
            --- exit 2
        "#]],
    );
    refused(
        &["frobnicate"],
        &expect![[r#"
            --- stderr
            error: unrecognized subcommand 'frobnicate'

            Usage: spelunk [OPTIONS] [COMMAND]

            For more information, try '--help'.
            --- exit 2
        "#]],
    );
}

#[test]
fn a_flag_without_a_command_is_no_error() {
    let ran = Scene::new(&[]).spelunk(["--quiet"]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let scene = Scene::new(&NOTE);
    let full = |args: &[&'static str]| scene.after_shell("exec >/dev/full", args.iter().copied()).run();
    full(&["ask", "magic number", "notes", "-q"]).check(&expect![[r"
        --- stderr
        error: could not write to standard output: No space left on device (os error 28)
        --- exit 1
    "]]);
    assert_eq!(full(&["--help"]).code, 1);
}

#[test]
fn an_empty_question_is_refused() {
    refused(
        &["ask", " \n", "."],
        &expect![[r#"
        --- stderr
        error: the question is empty

        hint: ask something, such as `spelunk ask "what is this?" .`
        --- exit 2
    "#]],
    );
    refused(
        &["ask"],
        &expect![[r"
        --- stderr
        error: the following required arguments were not provided:
          <QUESTION>

        Usage: spelunk ask <QUESTION> [PATH]...

        For more information, try '--help'.
        --- exit 2
    "]],
    );
}

#[test]
fn an_unknown_strategy_is_answered_with_those_there_are() {
    refused(
        &["ask", "what is this?", "--strategy", "magic"],
        &expect![[r#"
            --- stderr
            error: there is no strategy `magic`

            hint: choose one of auto, direct, repl, search, map, hybrid, agent
            --- exit 2
        "#]],
    );
}

#[test]
fn a_number_that_is_none_is_refused() {
    refused(
        &["show", "--at", "yesterday"],
        &expect![[r"
        --- stderr
        error: invalid value 'yesterday' for '--at <SEQ>': invalid digit found in string

        For more information, try '--help'.
        --- exit 2
    "]],
    );
}

#[test]
fn json_tells_the_error_on_both_streams() {
    refused(
        &["show", "k3f9", "--json"],
        &expect![[r#"
            {"error":{"causes":[],"code":"run-not-found","hint":"ask something first, such as `spelunk ask \"what is this?\" .`","message":"there are no runs here"}}
            --- stderr
            error: there are no runs here

            hint: ask something first, such as `spelunk ask "what is this?" .`
            --- exit 1
        "#]],
    );
}
