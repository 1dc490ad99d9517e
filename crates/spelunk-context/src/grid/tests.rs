//! What becomes a grid, and what does not.

use std::sync::Arc;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::{Corpus, ScanOptions, SourceInput};

fn view(files: &[(&str, &str)]) -> View {
    let input = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<SourceInput> = files.iter().map(input).collect();
    View::of(Arc::new(Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

fn shown(grid: &Grid) -> String {
    let mut lines = vec![grid.columns().join(" ¦ ")];
    for row in 0..grid.len() {
        let (document, line) = grid.place(row).unwrap();
        let cells = (0..grid.columns().len()).map(|column| grid.cell(row, column).unwrap_or("-"));
        lines.push(format!("{document}:{line} {}", cells.collect::<Vec<_>>().join(" ¦ ")));
    }
    lines.join("\n") + "\n"
}

fn check(files: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&shown(&Grid::of(&view(files), 1_000_000).unwrap()));
}

#[test]
fn tables_have_the_columns_of_their_header() {
    check(
        &[("o.csv", "id,name,note\n1,Ada,\"two\nlines, \"\"quoted\"\"\"\n\n2,Bob\n3,Cy,x,too many\n")],
        &expect![[r#"
            id ¦ name ¦ note
            o.csv:2 1 ¦ Ada ¦ two
            lines, "quoted"
            o.csv:5 2 ¦ Bob ¦ -
            o.csv:6 3 ¦ Cy ¦ x
        "#]],
    );
}

#[test]
fn json_lines_have_their_keys() {
    check(
        &[("e.jsonl", "{\"a\":1,\"u\":{\"id\":\"x\"}}\n\n{\"a\":null,\"b\":[1,2]}\n")],
        &expect![[r#"
            a ¦ u.id ¦ b
            e.jsonl:1 1 ¦ x ¦ -
            e.jsonl:3 - ¦ - ¦ [1,2]
        "#]],
    );
}

const LOG: &str = "2025-03-07T00:04:39.337Z INFO  gateway req=e47 GET / accepted\n\
    2025-03-07T00:06:19.876Z ERROR stock req=e47 gave up\n  at main.rs:4\n\
    2025-03-07T00:06:20.100Z INFO  gateway req=e48 done\n\
    2025-03-07T00:06:21.100Z INFO  stock req=e48 done\n\
    2025-03-07T00:06:22.100Z WARN  gateway req=e49 slow\n\
    2025-03-07T00:06:23.100Z INFO  gateway req=e49 done\n\
    2025-03-07T00:06:24.100Z INFO  stock req=e50 done\n\
    2025-03-07T00:06:25.100Z INFO  gateway req=e51 done\n\
    2025-03-07T00:06:26.100Z INFO  gateway req=e51 done\n\
    2025-03-07T00:06:27.100Z INFO  gateway req=e52 done\n\
    2025-03-07T00:06:28.100Z INFO  gateway req=e53 done\n";

#[test]
fn lines_of_a_log_are_cut_into_times_and_words() {
    let grid = Grid::of(&view(&[("s.log", LOG)]), 1_000_000).unwrap();
    assert_eq!((grid.len(), grid.place(2)), (11, Some(("s.log", 4))));
    let shown = shown(&grid);
    let head = shown.lines().take(3).collect::<Vec<_>>().join("\n") + "\n";
    expect![[r#"
        date ¦ time ¦ level ¦ word 2 ¦ req ¦ text
        s.log:1 2025-03-07 ¦ 00:04:39.337 ¦ INFO ¦ gateway ¦ e47 ¦ req=e47 GET / accepted
        s.log:2 2025-03-07 ¦ 00:06:19.876 ¦ ERROR ¦ stock ¦ e47 ¦ req=e47 gave up
    "#]]
    .assert_eq(&head);
    assert_eq!(grid.few(2, 3).unwrap(), BTreeSet::from(["ERROR", "INFO", "WARN"]));
    assert_eq!(grid.few(2, 2), None);
}

#[test]
fn lines_with_the_same_signs_have_parts_and_tags() {
    check(
        &[("m.txt", "#1 | user 7 | [size] Too large.\n#2 | user 9 | [praise] Fine.\n")],
        &expect![[r#"
            part 1 ¦ part 2 ¦ tag ¦ part 3
            m.txt:1 #1 ¦ user 7 ¦ size ¦ Too large.
            m.txt:2 #2 ¦ user 9 ¦ praise ¦ Fine.
        "#]],
    );
}

#[test]
fn several_documents_of_one_form_are_one_grid() {
    check(
        &[("a.csv", "x,y\n1,2\n"), ("b.csv", "y,z\n3,4\n")],
        &expect![[r#"
            file ¦ x ¦ y ¦ z
            a.csv:2 a.csv ¦ 1 ¦ 2 ¦ -
            b.csv:2 b.csv ¦ - ¦ 3 ¦ 4
        "#]],
    );
}

#[test]
fn prose_code_and_mixtures_are_no_grid() {
    let none: [&[(&str, &str)]; 5] = [
        &[("a.md", "# Title\n\nSome words, and more | words.\nAnd so on; and on.\n")],
        &[("a.rs", "fn main() {\n    let x = 1;\n}\n")],
        &[("a.csv", "x,y\n1,2\n"), ("b.jsonl", "{\"x\":1}\n{\"x\":2}\n")],
        &[("a.csv", "x,y\n")],
        &[("a.csv", "x,y\n1,2\n"), ("b.md", "Notes.\n")],
    ];
    for files in none {
        assert!(Grid::of(&view(files), 1_000_000).is_none(), "{files:?}");
    }
    assert!(Grid::of(&view(&[("a.csv", "x,y\n1,2\n3,4\n")]), 5).is_none());
}

proptest! {
    #[test]
    fn no_text_breaks_a_grid(name in "[ab]\\.(csv|log|jsonl|txt)", text in "[ -~|;\t\n\"{}:,=äé\\[\\]0-9T]{1,400}") {
        prop_assume!(!text.trim().is_empty());
        if let Some(grid) = Grid::of(&view(&[(&name, &text)]), 1_000_000) {
            let n_lines = text.lines().count() as u64;
            for row in 0..grid.len() {
                let (_, line) = grid.place(row).unwrap();
                prop_assert!((1..=n_lines).contains(&line));
                for column in 0..grid.columns().len() {
                    grid.cell(row, column);
                }
            }
        }
    }

    #[test]
    fn a_table_that_was_written_is_read_again(rows in prop::collection::vec(("[a-z]{1,6}", "[0-9]{1,4}", "[a-z ,\"]{1,8}"), 1..20)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["a", "b", "c"]).unwrap();
        for (a, b, c) in &rows {
            writer.write_record([a, b, c]).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let grid = Grid::of(&view(&[("t.csv", &text)]), 1_000_000).unwrap();
        prop_assert_eq!(grid.len(), rows.len());
        for (row, (a, b, c)) in rows.iter().enumerate() {
            prop_assert_eq!(grid.cell(row, 0), Some(a.as_str()));
            prop_assert_eq!(grid.cell(row, 1), Some(b.as_str()));
            prop_assert_eq!(grid.cell(row, 2).map(str::trim), Some(c.trim()));
        }
    }
}
