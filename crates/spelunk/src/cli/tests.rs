use super::*;

fn arguments(line: &[&str]) -> Vec<String> {
    let given = line.iter().map(OsString::from).collect();
    with_default_command(given).into_iter().map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn a_question_means_ask() {
    assert_eq!(arguments(&["spelunk", "what is this?", "."]), ["spelunk", "ask", "what is this?", "."]);
    assert_eq!(arguments(&["spelunk", "ask", "why"]), ["spelunk", "ask", "why"]);
    assert_eq!(arguments(&["spelunk", "shwo"]), ["spelunk", "shwo"]);
    assert_eq!(arguments(&["spelunk", "--help"]), ["spelunk", "--help"]);
    assert_eq!(arguments(&["spelunk"]), ["spelunk"]);
    assert_eq!(
        arguments(&["spelunk", "-q", "-m", "none", "a b"]),
        ["spelunk", "ask", "-q", "-m", "none", "a b"]
    );
    assert_eq!(arguments(&["spelunk", "-q", "show"]), ["spelunk", "-q", "show"]);
    assert_eq!(arguments(&["spelunk", "--set", "a b"]), ["spelunk", "--set", "a b"]);
}

#[test]
fn only_the_bare_word_makes_a_worker() {
    let is_meant = |words: &[&str]| is_worker(&words.iter().map(OsString::from).collect::<Vec<_>>());
    assert!(is_meant(&["spelunk", "worker"]));
    assert!(!is_meant(&["spelunk", "worker", "x"]));
    assert!(!is_meant(&["spelunk"]));
    assert!(!is_meant(&["spelunk", "ask", "worker"]));
}

#[test]
fn every_flag_of_ask_that_takes_a_value_is_skipped_with_it() {
    for flag in ["--set", "--workspace", "--model", "-m", "--sub-model", "--report", "--max-time"] {
        assert_eq!(arguments(&["spelunk", flag, "a b", "c d"])[1], "ask", "{flag}");
        assert_eq!(arguments(&["spelunk", flag, "a b"])[1], flag);
    }
    for flag in ["--json", "-q", "--no-cache", "--events"] {
        assert_eq!(arguments(&["spelunk", flag, "a b"])[1], "ask", "{flag}");
    }
}
