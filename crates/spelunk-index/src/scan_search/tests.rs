//! Searching without an index.

use spelunk_types::ErrorCode;

use super::*;
use crate::testing::view;

const TEXTS: [(&str, &str); 4] = [
    ("docs/food.md", "# Bread\n\nFlour and water make a loaf of bread.\n"),
    ("docs/old/food.md", "# Bread\n\nBread of a day long gone.\n"),
    ("src/oven.rs", "fn bake(bread: &str) -> usize {\n    bread.len()\n}\n"),
    ("notes.txt", "Nothing about it, only the day long gone.\n"),
];

fn because() -> Notice {
    Notice::WordsOnly { code: ErrorCode::ModelUnreachable, why: "no route".into() }
}

fn found(text: &str) -> SearchResults {
    let view = view(&TEXTS);
    search_by_reading(&view, &Query::new(text), &Detector::default(), because()).unwrap()
}

fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = found(text).hits.into_iter().map(|hit| hit.document).collect();
    names.sort();
    names
}

#[test]
fn filters_and_phrases_mean_what_they_mean_in_an_index() {
    assert_eq!(names("bread"), ["docs/food.md", "docs/old/food.md", "src/oven.rs"]);
    assert_eq!(names("bread path:docs"), ["docs/food.md", "docs/old/food.md"]);
    assert_eq!(names("bread path:docs -path:docs/old"), ["docs/food.md"]);
    assert_eq!(names("bread type:rust"), ["src/oven.rs"]);
    assert_eq!(names("\"long gone\""), ["docs/old/food.md", "notes.txt"]);
    assert_eq!(names("\"gone long\""), Vec::<String>::new());
    assert_eq!(names("day -bread"), ["notes.txt"]);
    assert_eq!(names("day -\"of a day\""), ["notes.txt"]);
}

#[test]
fn it_says_how_and_why() {
    let told = found("loaf");
    assert_eq!((told.mode, told.documents, told.documents_missing), (Mode::Words, 4, 0));
    assert_eq!(told.notices, [because()]);
    assert_eq!((told.hits[0].line_start, told.hits[0].mark.line, told.hits[0].similarity), (1, 3, None));
    assert_eq!(found("!!!").notices, [because(), Notice::NothingAsked]);
    let long = "flour water ".repeat(90_000);
    assert_eq!(found(&long).notices, [because(), Notice::QueryCut]);
}
