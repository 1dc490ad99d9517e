//! The catalogue of messages: every sentence that the command line can print, taken from the source, in one file that a
//! person can read in one sitting. `SPELUNK_UPDATE=1` writes it again; the diff is the review.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use spelunk_types::ErrorCode;

const GOLDEN: &str = "tests/cli/golden/messages.txt";
/// Where messages for people are written. Servers, prompts and pages have their own tests.
const PLACES: [&str; 11] = [
    "spelunk/src",
    "spelunk-app/src",
    "spelunk-context/src/error.rs",
    "spelunk-context/src/reader/error.rs",
    "spelunk-context/src/store/error.rs",
    "spelunk-engine/src/error.rs",
    "spelunk-engine/src/limits/budget.rs",
    "spelunk-index/src/error.rs",
    "spelunk-journal/src/error.rs",
    "spelunk-model/src/wire/model_error.rs",
    "spelunk-types/src/error_code.rs",
];
const LEFT_OUT: [&str; 6] = [
    "/render/report/",
    "/render/viewer",
    "/otel",
    "/config/reference.rs",
    "/asking/question_input.rs",
    "/demo/script.rs",
];
/// What comes before a text that is for developers.
const FOR_DEVELOPERS: [&str; 7] =
    ["expect(", "reason = ", "assert!(", "panic!(", "unreachable!(", "include_str!(", "doc = "];

#[test]
fn every_message_is_in_the_catalogue() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut catalogue = String::from("# Generated from the source; see tests/cli/messages.rs.\n");
    for place in PLACES {
        for file in files(&crates.join(place)) {
            let name = file.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
            if LEFT_OUT.iter().any(|part| name.contains(part)) {
                continue;
            }
            let messages = messages(&std::fs::read_to_string(&file).unwrap());
            if !messages.is_empty() {
                catalogue += &format!("\n## {name}\n");
                catalogue.extend(messages.iter().map(|message| format!("{message}\n")));
            }
        }
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN);
    if std::env::var_os("SPELUNK_UPDATE").is_some() {
        std::fs::write(&golden, &catalogue).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    let (new, old): (BTreeSet<&str>, BTreeSet<&str>) =
        (catalogue.lines().collect(), expected.lines().collect());
    let changed: Vec<&&str> = new.symmetric_difference(&old).collect();
    assert!(catalogue == expected, "run with SPELUNK_UPDATE=1 and read the diff; changed: {changed:#?}");
}

/// Wording that was replaced: nobody who reads it first knows what it means.
#[test]
fn no_message_uses_words_that_were_replaced() {
    let catalogue = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(GOLDEN)).unwrap();
    let replaced = [
        "No model wrote this",
        "blacked out",
        "it may make",
        " asks {model}",
        "o on with",
        "looks\"",
        " stands ",
        " holds ",
        "` is no ",
        "unless said",
        "anew",
        " nobody ",
        "the desk",
    ];
    let used: Vec<&str> = replaced.into_iter().filter(|words| catalogue.contains(words)).collect();
    assert_eq!(used, Vec::<&str>::new());
}

/// Each example in `docs/errors.md` is a message of the source, with values in place of its placeholders.
#[test]
fn every_example_of_an_error_is_a_message() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut known: Vec<Vec<String>> = Vec::new();
    for entry in std::fs::read_dir(crates).unwrap() {
        for file in files(&entry.unwrap().path().join("src")) {
            let source = std::fs::read_to_string(&file).unwrap();
            known.extend(texts(&source).iter().map(|text| fixed_parts(text)));
        }
    }
    known.extend(ErrorCode::ALL.iter().map(|code| vec![code.meaning().to_owned()]));
    known.retain(|parts| {
        let text = parts.join(" ");
        text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= 2
            && text.chars().filter(|c| c.is_alphabetic()).count() >= 8
    });
    let page = std::fs::read_to_string(crates.parent().unwrap().join("docs/errors.md")).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let examples: Vec<&str> = rows.filter_map(|row| row.split(" | ").nth(3)).collect();
    assert!(examples.len() > 50, "{}", examples.len());
    let invented: Vec<&str> = examples.into_iter().filter(|example| !is_written(example, &known)).collect();
    assert_eq!(invented, Vec::<&str>::new());
}

/// A text without its placeholders.
fn fixed_parts(text: &str) -> Vec<String> {
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = rest.split_once('{') {
        parts.push(before.to_owned());
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    parts.push(rest.to_owned());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether known messages contain at least half of the letters before the first colon. Values in backticks or
/// parentheses are not counted.
fn is_written(example: &str, known: &[Vec<String>]) -> bool {
    let mut is_fixed = vec![false; example.len()];
    for place in known.iter().filter_map(|parts| places(example, parts)).flatten() {
        is_fixed[place].fill(true);
    }
    let head = example.split(": ").next().unwrap();
    let (mut n_letters, mut n_fixed, mut is_value) = (0, 0, false);
    for (at, c) in head.char_indices() {
        match c {
            '`' => is_value = !is_value,
            '(' => is_value = true,
            ')' => is_value = false,
            c if c.is_alphabetic() && !is_value => {
                n_letters += 1;
                n_fixed += usize::from(is_fixed[at]);
            }
            _ => {}
        }
    }
    n_fixed * 2 >= n_letters
}

/// Where the parts of a message are in an example, if all of them are, in order.
fn places(example: &str, parts: &[String]) -> Option<Vec<Range<usize>>> {
    let (mut places, mut end) = (Vec::new(), 0);
    for part in parts {
        let start = end + example.get(end..)?.find(part.as_str())?;
        end = start + part.len();
        places.push(start..end);
    }
    Some(places)
}

/// The source files at a path, sorted, without tests.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_wanted = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default();
        name != "tests" && (path.is_dir() || path.extension().is_some_and(|ending| ending == "rs"))
    };
    entries.into_iter().filter(is_wanted).flat_map(|path| files(&path)).collect()
}

/// The sentences in the string literals of a source file: three words and more.
fn messages(source: &str) -> Vec<String> {
    texts(source).into_iter().filter(|text| is_sentence(text)).collect()
}

/// The string literals of a source file that are not for developers.
fn texts(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let (mut found, mut rest, mut before) = (Vec::new(), source, String::new());
    while let Some(c) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.split_once('\n').map_or("", |(_, after)| after);
        } else if rest.starts_with("'\"'") {
            rest = rest.get(3..).unwrap();
        } else if c == '"' {
            let is_raw = before.ends_with("r#") || before.ends_with('r');
            let (text, after) = literal(rest.get(1..).unwrap(), is_raw);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let is_for_people =
                !FOR_DEVELOPERS.iter().any(|words| before.trim_end().ends_with(words.trim_end()));
            if is_for_people {
                found.push(text);
            }
            before.clear();
            rest = after;
        } else {
            before.push(c);
            rest = rest.get(c.len_utf8()..).unwrap();
        }
    }
    found
}

/// The text up to the closing quote, and what follows.
fn literal(text: &str, is_raw: bool) -> (String, &str) {
    let mut chars = text.char_indices();
    let mut shown = String::new();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (shown, text.get(at + 1..).unwrap()),
            '\\' if !is_raw => match chars.next() {
                Some((_, 'n' | '\n')) | None => shown.push(' '),
                Some((_, other)) => shown.push(other),
            },
            c => shown.push(c),
        }
    }
    (shown, "")
}

fn is_sentence(text: &str) -> bool {
    let is_word = |word: &&str| word.chars().any(char::is_alphabetic) && !word.contains(['=', '<', '\u{1b}']);
    text.split(' ').filter(is_word).count() >= 3 && !text.starts_with("SELECT")
}
