use super::*;

const WHOLE: Kind = Kind::Whole { min: 1, max: 100 };
const WORDS: Kind = Kind::Choice(&["auto", "never"]);

fn check(kind: Kind, written: Written<'_>, expected: &str) {
    let found = match Value::read(kind, written) {
        Ok(value) => value.to_string(),
        Err(Refusal { must, meant: None }) => format!("must be {must}"),
        Err(Refusal { must, meant: Some(meant) }) => format!("must be {must}; meant {meant}"),
    };
    assert_eq!(found, expected);
}

#[test]
fn text_comes_from_plain_words_and_quoted_strings() {
    check(Kind::Text, Written::Plain("a \"b\""), r#""a \"b\"""#);
    check(Kind::Text, Written::Quoted("a\nb"), r#""a\nb""#);
    check(Kind::Text, Written::Integer { digits: "3", radix: 10 }, "must be a string in quotes");
    check(Kind::Text, Written::Other, "must be a string in quotes");
}

#[test]
fn the_name_of_a_variable_is_letters_digits_and_underscores() {
    check(Kind::VariableName, Written::Plain("MY_KEY2"), "\"MY_KEY2\"");
    check(Kind::VariableName, Written::Plain(""), "\"\"");
    check(Kind::VariableName, Written::Plain("sk-123"), "must be the name of an environment variable");
    check(Kind::VariableName, Written::Plain("2KEY"), "must be the name of an environment variable");
}

#[test]
fn a_whole_number_stays_within_its_bounds() {
    check(WHOLE, Written::Plain("1"), "1");
    check(WHOLE, Written::Plain("1_00"), "100");
    check(WHOLE, Written::Integer { digits: "+7", radix: 10 }, "7");
    check(WHOLE, Written::Integer { digits: "1F", radix: 16 }, "31");
    check(WHOLE, Written::Plain("0"), "must be at least 1");
    check(WHOLE, Written::Plain("-3"), "must be at least 1");
    check(WHOLE, Written::Plain("101"), "must be at most 100");
    check(WHOLE, Written::Plain("99999999999999999999999"), "must be at most 100");
}

#[test]
fn what_is_no_whole_number_is_refused() {
    check(WHOLE, Written::Plain(""), "must be an integer");
    check(WHOLE, Written::Plain("-"), "must be an integer");
    check(WHOLE, Written::Plain("3.5"), "must be an integer");
    check(WHOLE, Written::Plain("_3"), "must be an integer");
    check(WHOLE, Written::Plain("3__3"), "must be an integer");
    check(WHOLE, Written::Quoted("3"), "must be an integer");
    check(WHOLE, Written::Float("3.0"), "must be an integer");
}

#[test]
fn yes_and_no_have_four_spellings_outside_files_and_one_in_them() {
    check(Kind::YesNo, Written::Plain("yes"), "true");
    check(Kind::YesNo, Written::Plain("on"), "true");
    check(Kind::YesNo, Written::Plain("1"), "true");
    check(Kind::YesNo, Written::Plain("off"), "false");
    check(Kind::YesNo, Written::Boolean(false), "false");
    check(Kind::YesNo, Written::Plain("maybe"), "must be `true` or `false`");
    check(Kind::YesNo, Written::Quoted("true"), "must be `true` or `false`");
}

#[test]
fn a_choice_is_one_of_its_words() {
    check(WORDS, Written::Quoted("never"), "\"never\"");
    check(WORDS, Written::Plain("nevr"), "must be one of `auto`, `never`; meant never");
    check(WORDS, Written::Plain("sometimes"), "must be one of `auto`, `never`");
    check(WORDS, Written::Boolean(true), "must be one of `auto`, `never`");
}

#[test]
fn a_number_is_kept_exactly_to_six_decimals() {
    check(Kind::Number, Written::Plain("2.5"), "2.5");
    check(Kind::Number, Written::Plain("0.100000"), "0.1");
    check(Kind::Number, Written::Float("0.000001"), "0.000001");
    check(Kind::Number, Written::Integer { digits: "3", radix: 10 }, "3.0");
    check(Kind::Number, Written::Plain("1000000"), "1000000.0");
    check(Kind::Number, Written::Plain("-0"), "0.0");
}

#[test]
fn what_is_no_such_number_is_refused() {
    check(Kind::Number, Written::Plain("1e3"), "must be a number such as `2.5`");
    check(Kind::Number, Written::Float("inf"), "must be a number such as `2.5`");
    check(Kind::Number, Written::Plain(".5"), "must be a number such as `2.5`");
    check(Kind::Number, Written::Quoted("2.5"), "must be a number such as `2.5`");
    check(Kind::Number, Written::Plain("0.0000001"), "must be a number with at most six decimals");
    check(Kind::Number, Written::Plain("-0.5"), "must be at least 0");
    check(Kind::Number, Written::Plain("1000000.5"), "must be at most 1000000");
}

#[test]
fn a_list_is_of_texts_in_a_file() {
    check(Kind::List, Written::List(&["a", "b \"c\""]), r#"["a","b \"c\""]"#);
    check(Kind::List, Written::List(&[]), "[]");
    check(Kind::List, Written::Plain("a"), "must be a list of strings in quotes");
    check(Kind::List, Written::Other, "must be a list of strings in quotes");
    check(Kind::Text, Written::List(&["a"]), "must be a string in quotes");
}

#[test]
fn what_is_written_can_be_read_again() {
    check(Kind::Text, Written::Quoted("a\u{7f}\u{1b}"), r#""a\u007f\u001b""#);
    check(Kind::List, Written::List(&["\u{7f}"]), r#"["\u007f"]"#);
}

#[test]
fn a_pattern_must_compile() {
    check(Kind::Pattern, Written::Quoted(r"^\w+ \{$"), r#""^\\w+ \\{$""#);
    check(
        Kind::Pattern,
        Written::Quoted("a{3,1}"),
        "must be a regular expression (invalid repetition count range, the start must be <= the end)",
    );
    check(
        Kind::Pattern,
        Written::Quoted("(a{999}){999}"),
        "must be a regular expression (Compiled regex exceeds size limit of 10485760 bytes.)",
    );
    check(Kind::Pattern, Written::Boolean(true), "must be a string in quotes");
}
