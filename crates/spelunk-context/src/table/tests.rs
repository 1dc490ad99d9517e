//! Which documents become a row table, and which do not.

use std::collections::BTreeSet;
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

#[test]
fn an_object_of_objects_has_a_row_for_each_entry_even_if_a_key_repeats() {
    check(
        &[("e.json", "{\"e1\": {\"a\": 1},\n \"e1\": {\"a\": 2},\n \"e2\": {\"a\": 3}}\n")],
        &expect![[r#"
            key ¦ a
            e.json:1 e1 ¦ 1
            e.json:2 e1 ¦ 2
            e.json:3 e2 ¦ 3
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
    let levels: BTreeSet<&str> = grid.values(2).collect();
    assert_eq!(levels, BTreeSet::from(["ERROR", "INFO", "WARN"]));
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

#[test]
fn json_documents_are_records() {
    check(
        &[(
            "a.json",
            "[\n  {\"id\": 1, \"name\": {\"common\": \"Ada\"}},\n  {\"id\": 2, \"tags\": [\"x\"]}\n]\n",
        )],
        &expect![[r#"
            id ¦ name.common ¦ tags
            a.json:2 1 ¦ Ada ¦ -
            a.json:3 2 ¦ - ¦ ["x"]
        "#]],
    );
    check(
        &[(
            "b.json",
            "{\"meta\": {\"n\": 2},\n\"rows\": [{\"x\": 1},\n{\"x\": 2}], \"other\": [{\"y\": 1}]}",
        )],
        &expect![[r#"
            x
            b.json:2 1
            b.json:3 2
        "#]],
    );
    check(
        &[("c.json", "{\"AF\": {\"x\": 1, \"y\": 2},\n\"AL\": {\"x\": 3},\n\"AM\": {\"y\": 4, \"x\": 5}}")],
        &expect![[r#"
            key ¦ x ¦ y
            c.json:1 AF ¦ 1 ¦ 2
            c.json:2 AL ¦ 3 ¦ -
            c.json:3 AM ¦ 5 ¦ 4
        "#]],
    );
    for none in
        ["{}", "[]", "[1, 2]", "{\"a\": {\"b\": 1}, \"c\": {\"d\": 2}, \"e\": {\"f\": 3}}", "[{\"a\": 1}"]
    {
        assert!(RowTable::of(&view(&[("d.json", none)]), 1_000).is_none(), "{none}");
    }
}

/// Two lines of each known log format, written for this test after the formats' documentation.
#[test]
#[expect(clippy::too_many_lines, reason = "one case for each format")]
fn known_log_formats_have_their_fields() {
    let cases = [
        (
            r#"10.0.0.7 - ann [17/May/2015:10:05:03 +0000] "GET /a?b=1 HTTP/1.1" 200 512 "-" "curl/8.1 \"x\"""#,
            "host=10.0.0.7 user=ann date=17/May/2015 time=10:05:03 zone=+0000 method=GET path=/a?b=1 protocol=HTTP/1.1 status=200 bytes=512 referrer=- agent=curl/8.1 \\\"x\\\"",
        ),
        (
            "[Sun Dec 04 04:47:44 2005] [error] mod_jk child in state 6",
            "date=Sun Dec 04 time=04:47:44 year=2005 level=error message=mod_jk child in state 6",
        ),
        (
            "2024/05/01 10:00:00 [warn] 12#34: *5 upstream is slow",
            "date=2024/05/01 time=10:00:00 level=warn pid=12 message=*5 upstream is slow",
        ),
        (
            "<34>1 2024-05-01T10:00:00Z web-1 app 77 ID9 - gave up",
            "priority=34 time=2024-05-01T10:00:00Z host=web-1 program=app pid=77 id=ID9 message=gave up",
        ),
        (
            "Dec 10 06:55:46 LabSZ sshd[24200]: Invalid user admin",
            "date=Dec 10 time=06:55:46 host=LabSZ program=sshd pid=24200 message=Invalid user admin",
        ),
        (
            "2024-05-01 10:00:00.123 UTC [88] ann@shop ERROR:  no such table",
            "date=2024-05-01 time=10:00:00.123 pid=88 user=ann database=shop level=ERROR message=no such table",
        ),
        (
            r#"Dec  9 12:00:03 lb-1 haproxy[99]: 10.0.0.9:3803 [09/Dec/2013:12:00:03.205] front shop/web-5 0/133/0/294/430 404 176 - - ---- 2/2/2/1/0 0/1 {x} "GET /a HTTP/1.1""#,
            "date=Dec  9 time=12:00:03 host=lb-1 client=10.0.0.9 accepted=09/Dec/2013:12:00:03.205 frontend=front backend=shop server=web-5 request_ms=0 queue_ms=133 connect_ms=0 response_ms=294 total_ms=430 status=404 bytes=176 method=GET path=/a protocol=HTTP/1.1",
        ),
        (
            "Apr 03 11:01:18 node-1 pacemakerd     [19] (main) \tnotice: Starting",
            "date=Apr 03 time=11:01:18 host=node-1 program=pacemakerd pid=19 function=main level=notice message=Starting",
        ),
        (
            "2018-06-15 10:01:19.310 UTC [78]: [3-1] app=psql,db=shop LOG:  duration: 1.6 ms",
            "date=2018-06-15 time=10:01:19.310 pid=78 session=app=psql,db=shop level=LOG message=duration: 1.6 ms",
        ),
        (
            "2023-01-09 14:54:26,928 util INFO Found a parser",
            "date=2023-01-09 time=14:54:26,928 source=util level=INFO message=Found a parser",
        ),
        ("2015-07-29 17:41:44,747 - INFO  [QuorumPeer[myid=1]/0:0:2181:FastLeader@774] - Notification", ""),
        (
            "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.MRAppMaster: Created job",
            "date=2015-10-18 time=18:01:47,978 level=INFO thread=main source=org.apache.hadoop.MRAppMaster message=Created job",
        ),
        (
            "17/06/09 20:10:40 INFO executor.Backend: Registered",
            "date=17/06/09 time=20:10:40 level=INFO source=executor.Backend message=Registered",
        ),
        (
            "081109 203615 148 INFO dfs.DataNode$PacketResponder: PacketResponder 1 done",
            "date=081109 time=203615 pid=148 level=INFO source=dfs.DataNode$PacketResponder message=PacketResponder 1 done",
        ),
        (
            "20171223-22:15:29:606|Step_LSC|30002312|onStandStepChanged 3579",
            "date=20171223 time=22:15:29:606 component=Step_LSC pid=30002312 message=onStandStepChanged 3579",
        ),
        (
            "[10.30 16:49:06] chrome.exe - proxy.test:5070 open through proxy",
            "date=10.30 time=16:49:06 program=chrome.exe target=proxy.test:5070 message=open through proxy",
        ),
        (
            "03-17 16:13:38.811  1702  2395 D WindowManager: printFreezing",
            "date=03-17 time=16:13:38.811 pid=1702 tid=2395 level=D tag=WindowManager message=printFreezing",
        ),
        (
            "E0507 12:00:00.000001   99 server.go:12] gave up",
            "level=E date=0507 time=12:00:00.000001 pid=99 source=server.go:12 message=gave up",
        ),
        ("WARNING:shop.cart:empty", "level=WARNING source=shop.cart message=empty"),
    ];
    for (line, expected) in cases {
        let between = "  at somewhere\n".repeat(40);
        let text = format!("{line}\n{line}\n{between}{}", format!("{line}\n").repeat(20));
        let rows = RowTable::of(&view(&[("x.log", &text)]), 1_000_000).unwrap();
        assert_eq!(rows.len(), 22, "{line}");
        let cells = rows
            .columns()
            .iter()
            .enumerate()
            .map(|(idx, name)| format!("{name}={}", rows.cell(0, idx).unwrap()));
        let cells = cells.collect::<Vec<_>>().join(" ");
        if !expected.is_empty() {
            assert_eq!(cells, expected);
        }
    }
}

#[test]
fn logs_that_name_their_fields_are_tables() {
    check(
        &[(
            "conn.log",
            "#separator \\x09\n#fields\tts\tuid\tproto\n#types\ttime\tstring\tenum\n1.5\tCx\tudp\n2.5\tCy\t-\n#close\t2024\n",
        )],
        &expect![[r#"
            ts ¦ uid ¦ proto
            conn.log:4 1.5 ¦ Cx ¦ udp
            conn.log:5 2.5 ¦ Cy ¦ -
        "#]],
    );
    check(
        &[(
            "u_ex.log",
            "#Version: 1.0\n#Fields: date time cs-method\n2024-05-01 10:00:00 GET\n2024-05-01 10:00:01 -\n",
        )],
        &expect![[r#"
            date ¦ time ¦ cs-method
            u_ex.log:3 2024-05-01 ¦ 10:00:00 ¦ GET
            u_ex.log:4 2024-05-01 ¦ 10:00:01 ¦ -
        "#]],
    );
}

#[test]
fn entries_of_the_systemd_journal_are_rows() {
    let entry = |pid: u32| {
        format!("__CURSOR=s={pid}\n__REALTIME_TIMESTAMP=1700000000000000\nPRIORITY=6\nMESSAGE=a=b {pid}\n\n")
    };
    check(
        &[("journal.export", &format!("{}{}", entry(1), entry(2).trim_end()))],
        &expect![[r#"
            __CURSOR ¦ __REALTIME_TIMESTAMP ¦ PRIORITY ¦ MESSAGE
            journal.export:1 s=1 ¦ 1700000000000000 ¦ 6 ¦ a=b 1
            journal.export:6 s=2 ¦ 1700000000000000 ¦ 6 ¦ a=b 2
        "#]],
    );
}

#[test]
fn lines_of_a_second_format_are_counted_as_broken() {
    let first = "Dec 10 06:55:46 LabSZ sshd[24200]: Invalid user webmaster\n".repeat(40) + "    continued\n";
    let second = "2024-05-01 10:00:00,123 - root - ERROR - failed\n".repeat(3);
    let rows = RowTable::of(&view(&[("x.log", &format!("{first}{second}"))]), 1_000_000).unwrap();
    assert_eq!((rows.len(), rows.n_broken()), (40, 3));
}

#[test]
fn wide_tables_keep_their_columns() {
    let names: Vec<String> = (0..1_000).map(|n| format!("c{n}")).collect();
    let row: Vec<String> = (0..1_000).map(|n| n.to_string()).collect();
    let csv = format!("{}\n{}\n", names.join(","), row.join(","));
    let rows = RowTable::of(&view(&[("wide.csv", &csv)]), 1_000_000).unwrap();
    assert_eq!((rows.columns().len(), rows.cell(0, 999)), (1_000, Some("999")));
    let sparse = "{\"a\": 1, \"b\": 2}\n{\"b\": 3, \"b \": 4}\n{\"c\": 5}\n";
    let rows = RowTable::of(&view(&[("sparse.jsonl", sparse)]), 1_000_000).unwrap();
    let column = |name: &str| rows.column(name).unwrap();
    assert_eq!((rows.cell(1, column("b")), rows.cell(2, column("c"))), (Some("3"), Some("5")));
    assert_eq!((rows.cell(1, column("a")), rows.cell(2, column("b"))), (None, None));
}
