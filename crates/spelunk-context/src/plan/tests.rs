use expect_test::{Expect, expect};

use super::*;
use crate::kind::ContentType;
use crate::testing::{put, remove, tree, view};

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
        shown += &format!(
            "{} {} {} lines, {} {}, {} via {}, {} expected, {} cut\n",
            row.name,
            row.tier.name(),
            row.lines,
            row.units.count(),
            row.units.name(),
            row.detected.content_type.name(),
            row.detected.via.name(),
            row.partitions_expected,
            row.n_chunks,
        );
    }
    for task in &plan.tasks {
        let work = match &task.work {
            Work::Chunk(chunk) => format!("{} {}/{}", chunk.document, chunk.index + 1, chunk.n_chunks),
            Work::Batch(batch) => {
                let names: Vec<&str> = batch.items.iter().map(|item| item.name.as_str()).collect();
                format!("{} ({} lines)", names.join(" + "), batch.lines)
            }
        };
        shown += &format!("task for {}: {work}, {} tokens\n", task.analyst.name(), task.tokens_estimate);
    }
    for share in &plan.analysts {
        shown += &format!("{}\n", share.labels().collect::<Vec<_>>().join(" "));
    }
    for warning in &plan.warnings {
        shown += &format!("warning: {warning}\n");
    }
    shown
}

fn check(texts: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&shown(&plan(&view(texts), &options())));
}

#[test]
fn blank_parts_are_nobodys_task() {
    let blank = "\n".repeat(20_000);
    let plan_of = |text: &str| plan(&view(&[("a.txt", text)]), &options());
    let nothing = plan_of(&blank);
    assert_eq!((nothing.tasks.len(), nothing.manifest[0].lines, nothing.parts()["a.txt"]), (0, 20_000, 0));
    let something = plan_of(&format!("first\n{blank}last\n"));
    assert_eq!((something.tasks.len(), something.parts()["a.txt"]), (2, 2));
}

#[test]
fn small_documents_of_one_type_are_read_together_shortest_first() {
    let (long, short, rows) = ("x = 1\n".repeat(1000), "x = 1\n".repeat(400), "1,2\n".repeat(100));
    check(
        &[
            ("a.py", &long),
            ("b.py", &short),
            ("c.py", &long),
            ("d.csv", &format!("a,b\n{rows}")),
            ("e.md", "# E\n"),
        ],
        &expect![[r"
            a.py small 1000 lines, 1000 lines, source_code via extension, 0 expected, 0 cut
            b.py small 400 lines, 400 lines, source_code via extension, 0 expected, 0 cut
            c.py small 1000 lines, 1000 lines, source_code via extension, 0 expected, 0 cut
            d.csv small 101 lines, 100 rows, structured_data via extension, 0 expected, 0 cut
            e.md small 1 lines, 1 lines, prose via extension, 0 expected, 0 cut
            task for code: b.py + a.py (1400 lines), 2100 tokens
            task for code: c.py (1000 lines), 1500 tokens
            task for data: d.csv (101 lines), 101 tokens
            task for general: e.md (1 lines), 1 tokens
            code-analyst-1
            data-analyst-1
            general-analyst-1
        "]],
    );
}

#[test]
fn one_line_is_not_small_when_it_holds_many_elements_or_many_tokens() {
    let elements = format!("[{}0]", "1,".repeat(1999));
    let tokens = format!("[\"{}\"]", "x".repeat(300_000));
    check(
        &[("elements.json", &elements), ("tokens.json", &tokens)],
        &expect![[r"
            elements.json medium 1 lines, 2000 elements, json via extension, 6 expected, 6 cut
            tokens.json medium 1 lines, 1 elements, json via extension, 1 expected, 2 cut
            task for json: elements.json 1/6, 176 tokens
            task for json: elements.json 2/6, 176 tokens
            task for json: elements.json 3/6, 176 tokens
            task for json: elements.json 4/6, 176 tokens
            task for json: elements.json 5/6, 176 tokens
            task for json: elements.json 6/6, 126 tokens
            task for json: tokens.json 1/2, 50000 tokens
            task for json: tokens.json 2/2, 25002 tokens
            json-analyst-1 json-analyst-2
        "]],
    );
}

/// B1.6: the document's `max(2, …)` would split these 1,600 rows in two.
#[test]
fn a_table_below_its_target_is_not_cut() {
    let rows = format!("a,b\n{}", "1,2\n".repeat(1600));
    check(
        &[("a.csv", &rows)],
        &expect![[r"
            a.csv medium 1601 lines, 1600 rows, structured_data via extension, 1 expected, 1 cut
            task for data: a.csv 1/1, 1601 tokens
            data-analyst-1
        "]],
    );
}

#[test]
fn many_tasks_much_text_and_missing_files_are_warned_about() {
    let log = "2024-01-01 10:00:00 INFO something happened\n".repeat(130_000);
    let mut options = PlanOptions { files_left_out: 3, ..options() };
    options.limits.corpus_tokens_warn = 1_000_000;
    let plan = plan(&view(&[("a.log", &log)]), &options);
    let warnings: Vec<String> = plan.warnings.iter().map(ToString::to_string).collect();
    let expected = [
        "3 files are excluded by `files_max`; set it to 0 to include all",
        "about 1441220 tokens; consider excluding files",
        "52 tasks; consider excluding files or using larger chunks",
    ];
    assert_eq!(warnings, expected);
}

#[test]
fn a_document_that_changed_is_named_and_the_rest_is_planned() {
    let root = tree(&[("a.txt", "one"), ("b.txt", "two"), ("c.txt", "three")]);
    let corpus = crate::testing::scan(&[root.path()]).unwrap();
    let view = View::of(Arc::new(corpus));
    put(root.path(), "a.txt", b"changed");
    remove(root.path(), "b.txt");
    let plan = plan(&view, &options());
    let names: Vec<&str> = plan.manifest.iter().map(|row| row.name.as_str()).collect();
    let unreadable: Vec<&str> = plan.unreadable.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, unreadable), (vec!["c.txt"], vec!["a.txt", "b.txt"]));
    assert_eq!(plan.warnings, [PlanWarning::Unreadable(2)]);
}

#[test]
fn a_custom_kind_is_cut_by_its_own_rule_and_batched_by_itself() {
    let kind = crate::kind::CustomKind {
        name: "story".into(),
        extensions: vec!["story".into()],
        names: vec![],
        base: ContentType::Prose,
        boundary: Some(regex::Regex::new("^CHAPTER ").unwrap()),
        target_lines: Some(1000),
        analyst_prompt: None,
    };
    let chapter = |lines: usize| format!("CHAPTER X\n{}", "text\n".repeat(lines - 1));
    let long = chapter(900) + &chapter(1100) + &chapter(500);
    let options = PlanOptions { detector: Detector::default().with_custom(kind), ..options() };
    let view = view(&[("a.story", &long), ("b.story", &chapter(10)), ("c.md", "text\n")]);
    expect![[r"
        a.story medium 2500 lines, 2500 lines, prose via custom, 3 expected, 3 cut
        b.story small 10 lines, 10 lines, prose via custom, 0 expected, 0 cut
        c.md small 1 lines, 1 lines, prose via extension, 0 expected, 0 cut
        task for general: a.story 1/3, 1127 tokens
        task for general: a.story 2/3, 1377 tokens
        task for general: a.story 3/3, 627 tokens
        task for general: c.md (1 lines), 2 tokens
        task for general: b.story (10 lines), 14 tokens
        general-analyst-1 general-analyst-2
    "]]
    .assert_eq(&shown(&plan(&view, &options)));
}

#[test]
fn the_plain_mode_cuts_everything_by_tokens() {
    let text = "A line of ten words that says nothing at all.\n".repeat(1600);
    let plan = plan(&view(&[("a.md", &text)]), &PlanOptions { mode: Mode::Plain, ..options() });
    let tokens: Vec<u64> = plan.tasks.iter().map(|task| task.tokens_estimate).collect();
    assert_eq!((tokens.len(), tokens.iter().max()), (10, Some(&1996)));
}
