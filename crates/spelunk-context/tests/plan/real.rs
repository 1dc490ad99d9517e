//! The worked examples as real documents that are split: rows, records and definitions have fixed positions, so the
//! result may differ from the formula, and the test shows by how much.

use std::fmt::Write as _;
use std::sync::Arc;

use expect_test::expect;
use spelunk_context::{
    Corpus, Detector, Mode, Plan, PlanOptions, ScanOptions, SourceInput, Units, View, Work, plan, render,
};
use spelunk_types::Limits;

fn planned(documents: &[(&str, String)]) -> Plan {
    plan(&view(documents), &options())
}

fn view(documents: &[(&str, String)]) -> View {
    let source = |(name, text): &(&str, String)| SourceInput::Text {
        name: (*name).into(),
        bytes: text.clone().into(),
    };
    let sources: Vec<SourceInput> = documents.iter().map(source).collect();
    View::of(Arc::new(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

fn options() -> PlanOptions {
    PlanOptions {
        limits: Limits::default(),
        detector: Detector::default(),
        mode: Mode::ByType,
        files_left_out: 0,
    }
}

fn shown(plan: &Plan) -> String {
    let mut shown = String::new();
    for row in &plan.manifest {
        let (expected, cut) = (row.partitions_expected, row.n_chunks);
        writeln!(
            shown,
            "{}: {} {}, {expected} expected, {cut} cut",
            row.name,
            row.units.count(),
            row.units.name()
        )
        .unwrap();
    }
    writeln!(shown, "{} tasks, {} batches", plan.tasks.len(), plan.n_batches()).unwrap();
    for share in &plan.analysts {
        writeln!(shown, "{}: {} tasks, {} analysts", share.analyst.name(), share.tasks, share.analysts)
            .unwrap();
    }
    shown
}

/// A record with `n_fields` fields.
fn record(n_fields: usize) -> String {
    let fields: Vec<String> = (0..n_fields).map(|idx| format!("\"f{idx}\": {idx}")).collect();
    format!("{{{}}}\n", fields.join(", "))
}

fn table(rows: usize) -> String {
    let rows = (0..rows).fold(String::new(), |text, row| text + &format!("{row},x,\"a, b\"\n"));
    format!("id,name,note\n{rows}")
}

fn python(lines: usize) -> String {
    let function =
        |n: usize| format!("def f{n}(x):\n{}    return x\n\n\n", "    x = step(x)\n".repeat(n % 37));
    let mut text = String::from("import os\nfrom sys import path\n\n\n");
    let mut n_lines = 4;
    for n in 0..lines {
        let function = function(n);
        n_lines += function.lines().count();
        if n_lines > lines {
            break;
        }
        text += &function;
    }
    text
}

#[test]
fn example_b_is_cut_as_the_formula_says() {
    let plan = planned(&[
        ("events.csv", table(82_000)),
        ("users.csv", table(45_000)),
        ("raw.jsonl", record(12).repeat(25_000)),
        ("etl.log", "2024-01-01 10:00:00 INFO done\n".repeat(15_000)),
        ("transform.py", python(4200)),
        ("load.sh", "echo x\n".repeat(800)),
        ("pipeline_config.json", format!("[\n{}0]", "1,\n".repeat(348))),
        ("README.md", "text\n".repeat(200)),
    ]);
    // The Python is cut at definitions, which gives chunks of about 200 lines: also 21 for 4,188 lines.
    expect![[r"
        README.md: 200 lines, 0 expected, 0 cut
        etl.log: 15000 lines, 6 expected, 6 cut
        events.csv: 82000 rows, 41 expected, 41 cut
        load.sh: 800 lines, 0 expected, 0 cut
        pipeline_config.json: 349 elements, 0 expected, 0 cut
        raw.jsonl: 25000 lines, 34 expected, 34 cut
        transform.py: 4188 lines, 21 expected, 21 cut
        users.csv: 45000 rows, 23 expected, 23 cut
        128 tasks, 3 batches
        code: 22 tasks, 6 analysts
        data: 64 tasks, 16 analysts
        json: 35 tasks, 9 analysts
        general: 7 tasks, 2 analysts
    "]]
    .assert_eq(&shown(&plan));
}

#[test]
fn code_is_cut_at_definitions_of_150_to_300_lines_with_the_imports_in_each() {
    let documents = [("transform.py", python(4200))];
    let plan = planned(&documents);
    let text = &documents[0].1;
    for task in &plan.tasks {
        let Work::Chunk(chunk) = &task.work else { panic!("one document, and not a small one") };
        let rendered = render(chunk, text);
        assert!(rendered.starts_with("import os\nfrom sys import path\n"));
        let own = text.get(chunk.span.start.try_into().unwrap()..chunk.span.end.try_into().unwrap()).unwrap();
        assert!(own.starts_with("def ") || chunk.index == 0);
        let Units::Lines(lines) = chunk.units else { panic!("code is counted in lines") };
        assert!((150..=300).contains(&lines) || chunk.index + 1 == chunk.n_chunks, "{lines}");
    }
}

#[test]
fn a_wide_and_sparse_table_is_cut_every_1500_rows_with_its_header() {
    // O1.22: 25,000 rows of 45 columns.
    let header = (0..45).map(|n| format!("c{n}")).collect::<Vec<_>>().join(",");
    let row = format!("1{}\n", ",".repeat(44));
    let documents = [("wide.csv", format!("{header}\n{}", row.repeat(25_000)))];
    let plan = planned(&documents);
    let rows: Vec<u64> = plan.tasks.iter().map(rows_of).collect();
    assert_eq!((rows.len(), rows[0], rows[16]), (17, 1500, 1000));
    let Work::Chunk(last) = &plan.tasks[16].work else { panic!("one document, and not a small one") };
    assert_eq!(render(last, &documents[0].1), format!("{header}\n{}", row.repeat(1000)));
}

#[test]
fn a_wide_and_dense_table_is_cut_every_500_rows() {
    let header = (0..20).map(|n| format!("c{n}")).collect::<Vec<_>>().join(",");
    let row = format!("1{}\n", ",1".repeat(19));
    let plan = planned(&[("wide.csv", format!("{header}\n{}", row.repeat(1600)))]);
    assert_eq!(plan.tasks.iter().map(rows_of).collect::<Vec<_>>(), [500, 500, 500, 100]);
}

fn rows_of(task: &spelunk_context::PlanTask) -> u64 {
    match &task.work {
        Work::Chunk(chunk) => chunk.units.count(),
        Work::Batch(_) => 0,
    }
}
