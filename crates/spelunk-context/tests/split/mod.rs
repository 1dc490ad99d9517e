//! One document per format, split with small limits, and exactly what an analyst would read of each chunk. After an
//! intended change, `UPDATE_EXPECT=1 cargo test -p spelunk-context` rewrites the snapshots.

use expect_test::{ExpectFile, expect_file};
use spelunk_context::{Chunk, Detector, DocText, Mode, Partitioner, render};
use spelunk_types::Limits;

/// Limits under which a page of text is several chunks.
fn limits() -> Limits {
    Limits {
        chunk_code_lines: 16,
        chunk_narrow_rows: 4,
        chunk_wide_dense_rows: 2,
        chunk_json_elements: 3,
        chunk_jsonl_lines: 3,
        chunk_jsonl_narrow_lines: 3,
        chunk_log_lines: 8,
        chunk_prose_lines: 14,
        chunk_other_lines: 10,
        overlap_log_lines: 2,
        overlap_prose_lines: 2,
        overlap_other_lines: 2,
        chunk_plain_tokens: 100,
        overlap_plain_tokens: 10,
        ..Limits::default()
    }
}

fn check(name: &str, text: &str, limits: &Limits, mode: Mode, expected: &ExpectFile) {
    let detected = Detector::default().detect(name, text);
    let cutting = Partitioner::new(limits, mode).cut(DocText { idx: 0, name, text, detected: &detected });
    let mut shown = format!(
        "# {name}: {}, {} {}, {} lines, {} chunks\n",
        detected.content_type.name(),
        cutting.units.count(),
        cutting.units.name(),
        cutting.lines,
        cutting.chunks.len(),
    );
    for chunk in &cutting.chunks {
        shown += &show(chunk, text);
    }
    expected.assert_eq(&shown);
}

/// A chunk as a section of Markdown, each line after its number in the document.
fn show(chunk: &Chunk, text: &str) -> String {
    let (first, last) = (chunk.lines.start(), chunk.lines.end());
    let mut shown = format!("\n## {} of {}: lines {first} to {last}", chunk.index + 1, chunk.n_chunks);
    shown += &format!(", {} {}, {} tokens", chunk.units.count(), chunk.units.name(), chunk.tokens_estimate);
    if let Some(prelude) = &chunk.prelude {
        shown += &format!(", prelude {} to {}", prelude.lines.start(), prelude.lines.end());
    }
    if chunk.overlap_lines > 0 {
        shown += &format!(", overlap {}", chunk.overlap_lines);
    }
    if let Some(scope) = &chunk.scope {
        shown += &format!(", in `{scope}`");
    }
    shown += "\n\n````\n";
    for (line, number) in render(chunk, text).lines().zip(1..) {
        let original = chunk.line_of(number).unwrap();
        shown += format!("{original:>3} {}", line.replace('\t', "→ ")).trim_end();
        shown += "\n";
    }
    shown + "````\n"
}

macro_rules! snapshots {
    ($($test:ident $name:literal $(from $input:literal)?;)+) => {
        $(#[test] fn $test() {
            let text = include_str!(concat!("input/", snapshots!(@input $name $($input)?)));
            check($name, text, &limits(), Mode::ByType, &expect_file![concat!($name, ".md")]);
        })+
    };
    (@input $name:literal) => { $name };
    (@input $name:literal $input:literal) => { $input };
}

snapshots! {
    python_is_cut_between_definitions_with_its_imports "sample.py";
    rust_is_cut_between_items_with_comments_and_attributes_above "sample.rs" from "rust.txt";
    typescript_is_cut_between_methods "sample.ts";
    a_language_without_a_grammar_is_cut_by_the_line_rule "sample.lua";
    a_table_is_cut_between_rows_with_its_header "sample.csv";
    a_minified_array_is_cut_between_elements "sample.json";
    an_object_is_cut_between_keys "object.json";
    json_lines_are_cut_between_lines "sample.jsonl";
    a_log_is_cut_between_records_and_keeps_traces_whole "sample.log";
    prose_is_cut_at_headings "sample.md";
    settings_are_cut_by_lines_with_an_overlap "sample.yaml";
}

#[test]
fn the_plain_mode_cuts_by_tokens_with_an_overlap() {
    let text = include_str!("input/sample.md");
    check("sample.md", text, &limits(), Mode::Plain, &expect_file!["sample.plain.md"]);
}

#[test]
fn what_is_too_large_for_a_chunk_is_cut_inside_and_stays_json() {
    let text = include_str!("input/object.json");
    let limits = Limits { chunk_tokens_max: 30, ..limits() };
    check("object.json", text, &limits, Mode::ByType, &expect_file!["object.small.json.md"]);
}
