//! Which documents become a row table, and which do not.

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

fn shown(grid: &RowTable) -> String {
    let mut lines = vec![grid.columns().join(" ¦ ")];
    for row in 0..grid.len() {
        let (document, line) = grid.place(row).unwrap();
        let cells = (0..grid.columns().len()).map(|column| grid.cell(row, column).unwrap_or("-"));
        lines.push(format!("{document}:{line} {}", cells.collect::<Vec<_>>().join(" ¦ ")));
    }
    lines.join("\n") + "\n"
}

fn check(files: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&shown(&RowTable::of(&view(files), 1_000_000).unwrap()));
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
    let grid = RowTable::of(&view(&[("s.log", LOG)]), 1_000_000).unwrap();
    assert_eq!((grid.len(), grid.place(2)), (11, Some(("s.log", 4))));
    let shown = shown(&grid);
    let head = shown.lines().take(3).collect::<Vec<_>>().join("\n") + "\n";
    expect![[r#"
        date ¦ time ¦ level ¦ source ¦ req ¦ text
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
fn lines_that_are_no_rows_are_counted() {
    let broken = |name: &str, text: &str| {
        let grid = RowTable::of(&view(&[(name, text)]), 1_000_000).unwrap();
        (grid.len(), grid.n_broken())
    };
    let json = (0..20).map(|n| format!("{{\"n\":{n}}}\n")).collect::<Vec<_>>().concat();
    assert_eq!(broken("e.jsonl", &format!("{json}{{\"n\":")), (20, 1));
    assert_eq!(broken("o.csv", "a,b\n1,1,000\n2,3\n4,5,\n"), (2, 1));
}

#[test]
fn the_second_column_of_a_name_has_another() {
    check(
        &[("o.csv", "id,amount,amount\n1,5,6\n2,7,8\n")],
        &expect![[r#"
            id ¦ amount ¦ amount 2
            o.csv:2 1 ¦ 5 ¦ 6
            o.csv:3 2 ¦ 7 ¦ 8
        "#]],
    );
}

#[test]
fn the_first_of_parts_may_be_their_names() {
    check(
        &[("t.txt", "customer\tunits\tregion\nann\t3\teast\nbob\t4\twest\n")],
        &expect![[r#"
            customer ¦ units ¦ region
            t.txt:2 ann ¦ 3 ¦ east
            t.txt:3 bob ¦ 4 ¦ west
        "#]],
    );
    check(
        &[("t.md", "| who | what |\n|-----|------|\n| ann | desk |\n| bob | lamp |\n")],
        &expect![[r#"
            who ¦ what
            t.md:3 ann ¦ desk
            t.md:4 bob ¦ lamp
        "#]],
    );
}

#[test]
fn a_first_row_without_figures_is_still_a_row() {
    let text = "ann | desk | fine\nbob | lamp | 2 of 3 broke\ncy | desk | 4 came late\neve | lamp | fine\n";
    assert_eq!(RowTable::of(&view(&[("m.txt", text)]), 1_000_000).unwrap().len(), 4);
}

#[test]
fn log_lines_of_other_makers_lose_nothing() {
    let shown_of = |text: &str| {
        let grid = RowTable::of(&view(&[("s.log", text)]), 1_000_000).unwrap();
        shown(&grid).lines().take(2).collect::<Vec<_>>().join("\n") + "\n"
    };
    let twice = |line: &str| format!("{line}\n{line}\n{line}\n");
    expect![[r#"
        date ¦ time ¦ text
        s.log:1 2025-03-07 ¦ 06:00:00 ¦ ERROR|gateway|gave up
    "#]]
    .assert_eq(&shown_of(&twice("2025-03-07 06:00:00|ERROR|gateway|gave up")));
    expect![[r#"
        date ¦ time ¦ level ¦ time 2 ¦ msg ¦ code ¦ text
        s.log:1 2025-03-07 ¦ 06:00:00,123 ¦ ERROR ¦ 350 ¦ gave up ¦ 7 ¦ time=350 msg="gave up" code=7
    "#]]
    .assert_eq(&shown_of(&twice("[2025-03-07 06:00:00,123] ERROR time=350 msg=\"gave up\" code=7")));
    expect![[r#"
        date ¦ time ¦ source ¦ level ¦ text
        s.log:1 2025-03-07 ¦ 06:00:00 ¦ gateway ¦ ERROR ¦ host gave up
    "#]]
    .assert_eq(&shown_of(&twice("2025-03-07T06:00:00+02:00 gateway ERROR host gave up")));
}

#[test]
fn several_documents_of_one_form_are_one_grid() {
    check(
        &[("a.csv", "x,y\n1,2\n"), ("b.csv", "x,y\n3,4\nx,y\n5,6\n")],
        &expect![[r#"
            file ¦ x ¦ y
            a.csv:2 a.csv ¦ 1 ¦ 2
            b.csv:2 b.csv ¦ 3 ¦ 4
            b.csv:4 b.csv ¦ 5 ¦ 6
        "#]],
    );
}

#[test]
fn prose_code_and_mixtures_are_no_grid() {
    let none: [&[(&str, &str)]; 11] = [
        &[("a.md", "# Title\n\nSome words, and more | words.\nAnd so on; and on.\n")],
        &[("a.rs", "fn main() {\n    let x = 1;\n}\n")],
        &[("a.csv", "x,y\n1,2\n"), ("b.jsonl", "{\"x\":1}\n{\"x\":2}\n")],
        &[("a.csv", "x,y\n")],
        &[("a.csv", "x,y\n1,2\n"), ("b.md", "Notes.\n")],
        // Tables with different columns, numbers as names, a directive for a program, and times that cannot be
        // compared.
        &[("a.csv", "x,y\n1,2\n"), ("b.csv", "y\n3\n")],
        &[("a.csv", "1,east\n2,west\n")],
        &[("a.csv", "sep=;\nx;y\n1;2\n")],
        &[("a.log", "2025-03-07T00:04:39Z INFO a\n2025-03-07T00:04:39+02:00 INFO a\n")],
        &[
            ("a.log", "2025-03-07T00:04:39Z INFO a\n2025-03-07T00:05:39Z INFO a\n"),
            ("b.log", "2025-03-07T00:04:39+02:00 INFO a\n2025-03-07T00:05:39+02:00 INFO a\n"),
        ],
        &[("a.log", "2025-03-07 00:04:39 +0100 INFO a\n2025-03-07 00:04:39 +0200 INFO a\n")],
    ];
    for files in none {
        assert!(RowTable::of(&view(files), 1_000_000).is_none(), "{files:?}");
    }
    assert!(RowTable::of(&view(&[("a.csv", "x,y\n1,2\n3,4\n")]), 5).is_none());
}

proptest! {
    #[test]
    fn no_text_breaks_a_grid(name in "[ab]\\.(csv|log|jsonl|txt)", text in "[ -~|;\t\n\"{}:,=äé\\[\\]0-9T]{1,400}") {
        prop_assume!(!text.trim().is_empty());
        if let Some(grid) = RowTable::of(&view(&[(&name, &text)]), 1_000_000) {
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
        let grid = RowTable::of(&view(&[("t.csv", &text)]), 1_000_000).unwrap();
        prop_assert_eq!(grid.len(), rows.len());
        for (row, (a, b, c)) in rows.iter().enumerate() {
            prop_assert_eq!(grid.cell(row, 0), Some(a.as_str()));
            prop_assert_eq!(grid.cell(row, 1), Some(b.as_str()));
            prop_assert_eq!(grid.cell(row, 2).map(str::trim), Some(c.trim()));
        }
    }
}
