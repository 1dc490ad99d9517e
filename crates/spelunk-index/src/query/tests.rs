use expect_test::{Expect, expect};

use super::*;

fn check(text: &str, expected: &Expect) {
    let parsed = Parsed::of(&Query::new(text), &|kind| kind == "rust");
    let terms: Vec<&str> = parsed.terms.iter().map(|term| term.text.as_str()).collect();
    let phrases = |list: &[Phrase]| {
        let shown = list
            .iter()
            .map(|phrase| phrase.iter().map(|(_, term)| term.as_str()).collect::<Vec<_>>().join("+"));
        shown.collect::<Vec<_>>().join(",")
    };
    let globs =
        |list: &[GlobMatcher]| list.iter().map(|glob| glob.glob().glob()).collect::<Vec<_>>().join(",");
    let Filters { paths, paths_excluded, kinds } = &parsed.filters;
    expected.assert_eq(&format!(
        "{} | {} | not {} | {} | not {} | {}{}",
        terms.join(" "),
        phrases(&parsed.phrases),
        phrases(&parsed.excluded),
        globs(paths),
        globs(paths_excluded),
        kinds.join(","),
        if parsed.is_cut { " | cut" } else { "" }
    ));
}

#[test]
fn each_form_is_read() {
    check("retry failed requests", &expect!["retry fail request |  | not  |  | not  | "]);
    check(r#"the "exact words" here"#, &expect!["exact word her | exact+word | not  |  | not  | "]);
    check("cache -redis -\"two words\"", &expect!["cach |  | not redis,two+word |  | not  | "]);
    check(
        "path:src/*.rs path:docs -path:tests/ x",
        &expect!["x |  | not  | src/*.rs,src/*.rs/**,**/docs,**/docs/** | not **/tests,**/tests/** | "],
    );
    check("type:rust kind:code KIND:prose x", &expect!["kind pros x |  | not  |  | not  | rust,source_code"]);
    check("getUserName", &expect!["get user nam getusername |  | not  |  | not  | "]);
}

#[test]
fn everything_else_is_words() {
    check("type:nonsense path: kind:", &expect!["typ nonsens path kind |  | not  |  | not  | "]);
    check(
        "\"never closed AND (x OR y) * ~ ^ \\ - --flag",
        &expect!["never clos x y flag |  | not  |  | not  | "],
    );
    check("path:[ what is it", &expect!["path |  | not  |  | not  | "]);
    check("to be or not to be", &expect!["to be or not |  | not  |  | not  | "]);
    check("", &expect![" |  | not  |  | not  | "]);
    check("!!! ... \"\" -\"\"", &expect![" |  | not  |  | not  | "]);
}

#[test]
fn a_query_of_a_megabyte_is_cut_and_says_so() {
    let words = (0..150_000).map(|n| format!("w{n}x")).collect::<Vec<_>>().join(" ");
    let parsed = Parsed::of(&Query::new(words), &|_| false);
    assert!(parsed.is_cut && parsed.terms.len() == TERMS_MAX);
    let phrases = "\"a b\" ".repeat(1000);
    let parsed = Parsed::of(&Query::new(phrases), &|_| false);
    assert!(parsed.is_cut && parsed.phrases.len() == CLAUSES_MAX);
}

#[test]
fn a_phrase_is_held_word_behind_word() {
    let holds = |text: &str, phrase: &str| {
        Parsed { phrases: vec![phrase_of(phrase)], ..Parsed::default() }.allows(text)
    };
    assert!(holds("one two three", "two three") && holds("One TWO, three", "one two"));
    assert!(!holds("one two three", "one three") && !holds("", "one") && holds("anything", ""));
    assert!(holds("one one two", "one two"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_query(text in "\\PC{0,100}|[-\" :a-z*\\[\\]{},!path]{0,60}") {
        Parsed::of(&Query::new(text), &|_| true);
    }
}
