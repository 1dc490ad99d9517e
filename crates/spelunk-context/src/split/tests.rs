//! Properties of every splitter and every partition, over ordinary and pathological text.

use proptest::prelude::*;
use spelunk_types::Limits;

use super::*;
use crate::kind::{CustomKind, Via};
use crate::lines::count_lines;
use crate::pack::{Strength, pack};

fn detected(content_type: ContentType) -> Detected {
    Detected { content_type, via: Via::Extension, language: None, custom: None }
}

fn of(content_type: ContentType, language: Option<&'static str>) -> Detected {
    Detected { language, ..detected(content_type) }
}

/// Limits so small that a few lines are many chunks.
fn small(target: u64, tokens_max: u64) -> Limits {
    Limits {
        chunk_code_lines: target,
        chunk_narrow_rows: target,
        chunk_wide_dense_rows: target,
        chunk_wide_sparse_rows: target,
        chunk_json_elements: target,
        chunk_jsonl_lines: target,
        chunk_jsonl_narrow_lines: target,
        chunk_jsonl_wide_lines: target,
        chunk_log_lines: target,
        chunk_prose_lines: target,
        chunk_other_lines: target,
        overlap_log_lines: 2,
        overlap_prose_lines: 2,
        overlap_other_lines: 2,
        chunk_tokens_max: tokens_max,
        chunk_plain_tokens: tokens_max,
        overlap_plain_tokens: 2,
        ..Limits::default()
    }
}

fn cut(text: &str, detected: &Detected, limits: &Limits, mode: Mode) -> Cutting {
    Partitioner::new(limits, mode).cut(DocText { idx: 7, name: "a", text, detected })
}

fn kinds() -> Vec<Detected> {
    let mut kinds: Vec<Detected> = ContentType::ALL.into_iter().map(detected).collect();
    kinds.push(of(ContentType::SourceCode, Some("rust")));
    kinds.push(of(ContentType::SourceCode, Some("python")));
    kinds.push(Detected {
        custom: Some(std::sync::Arc::new(begins_with_a())),
        ..detected(ContentType::Prose)
    });
    kinds
}

fn begins_with_a() -> CustomKind {
    CustomKind {
        name: "a".into(),
        extensions: vec![],
        names: vec![],
        base: ContentType::Prose,
        boundary: Some(regex::Regex::new("^a").unwrap()),
        target_lines: None,
        analyst_prompt: None,
    }
}

fn part<'t>(text: &'t str, span: &crate::pack::Span) -> Option<&'t str> {
    text.get(usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap())
}

/// The properties of every cutting.
fn check(text: &str, cutting: &Cutting, limits: &Limits) -> Result<(), TestCaseError> {
    let mut covered = 0;
    let mut bytes_before = 0;
    for (chunk, index) in cutting.chunks.iter().zip(0..) {
        let own = part(text, &chunk.span);
        prop_assert!(own.is_some(), "between characters");
        prop_assert_eq!(chunk.span.start, covered, "in order, without a gap");
        prop_assert!(!own.unwrap().is_empty(), "it goes on");
        prop_assert_eq!(
            (chunk.index, chunk.n_chunks as usize, chunk.document_idx),
            (index, cutting.chunks.len(), 7)
        );
        prop_assert_eq!(chunk.overlap.end, chunk.span.start);
        let overlap_bytes = chunk.overlap.end - chunk.overlap.start;
        prop_assert!(
            overlap_bytes < bytes_before || overlap_bytes == 0,
            "the overlap is shorter than the chunk"
        );
        prop_assert!(part(text, &chunk.overlap).is_some());
        let rendered = render(chunk, text);
        let ceiling = limits.chunk_tokens_max.max(16);
        prop_assert!(
            chunk.tokens_estimate <= ceiling || own.unwrap().chars().count() <= 2,
            "{} tokens in {rendered:?}",
            chunk.tokens_estimate
        );
        check_lines(text, chunk, &rendered)?;
        bytes_before = chunk.span.end - chunk.span.start;
        covered = chunk.span.end;
    }
    prop_assert_eq!(covered, text.len() as u64, "to the end");
    prop_assert_eq!(cutting.lines, count_lines(text));
    let n_units: u64 = cutting.chunks.iter().map(|chunk| chunk.units.count()).sum();
    if cutting.chunks.iter().all(|chunk| chunk.shell.is_none()) {
        prop_assert_eq!(n_units, cutting.units.count());
    }
    Ok(())
}

/// Every rendered line matches the line of the document that it claims to be.
fn check_lines(text: &str, chunk: &Chunk, rendered: &str) -> Result<(), TestCaseError> {
    let originals: Vec<&str> = text.split('\n').collect();
    let body = match &chunk.shell {
        Some(shell) => rendered.strip_prefix(&shell.open).unwrap().strip_suffix(&shell.close).unwrap(),
        None => rendered,
    };
    let mut lines: Vec<&str> = body.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    for (line, number) in lines.iter().zip(1..) {
        let original =
            chunk.line_of(number).and_then(|line| originals.get(usize::try_from(line).unwrap() - 1));
        prop_assert!(
            original.is_some_and(|original| original.contains(line)),
            "line {number} {line:?} of {rendered:?} is {original:?}"
        );
    }
    prop_assert_eq!(chunk.line_of(0), None);
    prop_assert_eq!(chunk.line_of(lines.len() as u64 + 1).filter(|_| !lines.is_empty()), None);
    Ok(())
}

/// Text that resembles every format a little.
fn mixed() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "a",
        "é",
        "😀",
        " ",
        "\n",
        "\r\n",
        "\n\n",
        "\0",
        "\u{feff}",
        "\"",
        "\"\"",
        ",",
        "\t",
        "[",
        "]",
        "{",
        "}",
        ":",
        "\\",
        "# A\n",
        "## B\n",
        "===\n",
        "```\n",
        "fn a() {\n",
        "}\n",
        "def f():\n",
        "    x = 1\n",
        "import os\n",
        "use a::{\n",
        "class A:\n",
        "2024-01-01 10:00:00 INFO a\n",
        "\tat x.y(Z)\n",
        "Traceback\n",
        "Caused by: x\n",
        "{\"a\": [1, 2]}\n",
        "\"a\": ",
        "1,",
        "\"x\ny\",",
        "/*",
        "*/",
        "\"\"\"",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ]);
    prop::collection::vec(pieces, 0..80).prop_map(|pieces| pieces.concat())
}

fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("\"\"".to_owned()),
        "[a-z é😀,{}\\[\\]:\n]{0,40}".prop_map(|text| serde_json::Value::from(text).to_string()),
        Just("\"\\\\\"".to_owned()),
        Just("\"\\ud83d\\ude00\\\"\\u00e9\"".to_owned()),
        Just(format!("\"{}\"", "\\ud83d\\ude00\\\\\\n".repeat(20))),
    ];
    let blank = || prop::sample::select(vec!["", "", " ", "\n", "\r\n  "]);
    leaf.prop_recursive(4, 64, 8, move |inner| {
        let array = (prop::collection::vec(inner.clone(), 0..8), blank()).prop_map(|(items, blank)| {
            format!("[{blank}{}{blank}]", items.join(&format!("{blank},{blank}")))
        });
        let object =
            (prop::collection::vec(("[a-z\"]{0,3}", inner), 0..8), blank()).prop_map(|(items, blank)| {
                let item = |(key, value): &(String, String)| {
                    format!("{}:{blank}{value}", serde_json::Value::from(key.as_str()))
                };
                format!(
                    "{{{blank}{}{blank}}}",
                    items.iter().map(item).collect::<Vec<_>>().join(&format!(",{blank}"))
                )
            });
        prop_oneof![array, object]
    })
}

fn csv_text() -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "",
        "1",
        "x y",
        "\"a,b\"",
        "\"a\nb\"",
        "\"say \"\"hi\"\"\"",
        "5\" disk",
        "é",
    ]);
    let row = prop::collection::vec(cell, 3).prop_map(|cells| cells.join(","));
    (prop::collection::vec(row, 0..40), any::<bool>(), any::<bool>()).prop_map(|(rows, has_end, is_crlf)| {
        let line_end = if is_crlf { "\r\n" } else { "\n" };
        let end = if has_end { line_end } else { "" };
        format!("id,name,\"long\nlabel\"{line_end}{}{end}", rows.join(line_end))
    })
}

#[test]
fn the_first_line_of_a_definition_is_no_chunk_of_its_own() {
    let functions = "fn f() {\n    g();\n}\n\n".repeat(40);
    let text = format!(
        "{functions}impl A {{\n    const B: [u8; 400] = [\n{}    ];\n}}\n",
        "        1,\n".repeat(400)
    );
    let cutting = cut(&text, &detected(ContentType::SourceCode), &Limits::default(), Mode::ByType);
    let lines: Vec<(u64, u64, Option<&str>)> = cutting
        .chunks
        .iter()
        .map(|chunk| (*chunk.lines.start(), *chunk.lines.end(), chunk.scope.as_deref()))
        .collect();
    assert_eq!(lines, [(1, 160, None), (161, 360, None), (361, 564, Some("const B: [u8; 400] = ["))]);
}

/// Found by the property below.
#[test]
fn imports_and_an_overlap_share_the_room_beside_a_chunk() {
    let text = format!("import os\n# A\n# A\n# A\n{}", "a".repeat(92));
    let cutting = cut(&text, &detected(ContentType::SourceCode), &small(2, 20), Mode::ByType);
    let tokens: Vec<u64> = cutting.chunks.iter().map(|chunk| chunk.tokens_estimate).collect();
    assert_eq!(tokens, [4, 5, 20, 8]);
}

/// Found by `fuzz`: the comma after a number that is too long, and the whitespace around it, were not counted.
#[test]
fn json_that_cannot_be_cut_into_values_stays_under_the_ceiling() {
    let text = format!("[\n{}1{} ,2]{}", " ".repeat(30), "0".repeat(70), "\n".repeat(70));
    let cutting = cut(&text, &detected(ContentType::Json), &small(2, 16), Mode::ByType);
    let sizes: Vec<u64> = cutting.chunks.iter().map(|chunk| chunk.span.end - chunk.span.start).collect();
    assert_eq!(sizes, [64, 41, 72]);
    let tokens: Vec<u64> = cutting.chunks.iter().map(|chunk| chunk.tokens_estimate).collect();
    assert_eq!(tokens, [16, 11, 1]);
}

/// Found by `fuzz`.
#[test]
fn a_document_is_measured_in_the_unit_it_is_cut_in() {
    let measured = |text: &str, kind: &Detected, tokens_max: u64, mode: Mode| {
        let limits = small(2, tokens_max);
        let document = DocText { idx: 7, name: "a", text, detected: kind };
        let (lines, units) = Partitioner::new(&limits, mode).measure(document);
        assert_eq!((lines, units), (lines, cut(text, kind, &limits, mode).units));
        format!("{} {}", units.count(), units.name())
    };
    let (json, table) = (detected(ContentType::Json), detected(ContentType::StructuredData));
    assert_eq!(measured("[1,\n2,3]", &json, 16, Mode::ByType), "3 elements");
    assert_eq!(measured("[1,\n2,3]", &json, 15, Mode::ByType), "2 lines");
    assert_eq!(measured("[1,\n2,3]", &json, 16, Mode::Plain), "2 lines");
    assert_eq!(measured("a,b\n1,2\n", &table, 16, Mode::ByType), "1 rows");
    assert_eq!(measured("a,b\n1,2\n", &table, 16, Mode::Plain), "2 lines");
    let own = Detected { custom: Some(begins_with_a().into()), ..json };
    assert_eq!(measured("[1,\n2,3]", &own, 16, Mode::ByType), "2 lines");
}

proptest! {
    #[test]
    fn boundaries_ascend_and_lie_between_characters(text in mixed()) {
        for kind in kinds() {
            let boundaries = boundaries(&kind, &text);
            let mut before = 0;
            for boundary in &boundaries {
                prop_assert!(boundary.at > before && boundary.at < text.len() as u64);
                prop_assert!(part(&text, &(before..boundary.at)).is_some());
                before = boundary.at;
            }
            let spans = pack(&text, &boundaries, 50);
            prop_assert_eq!(spans.last().map_or(0, |span| span.end), text.len() as u64);
        }
    }

    #[test]
    fn every_type_covers_every_text(text in mixed(), target in 1_u64..12, tokens_max in 1_u64..60) {
        let limits = small(target, tokens_max);
        for kind in kinds() {
            check(&text, &cut(&text, &kind, &limits, Mode::ByType), &limits)?;
        }
        check(&text, &cut(&text, &detected(ContentType::Prose), &limits, Mode::Plain), &limits)?;
    }

    #[test]
    fn any_text_at_all_is_covered(text in "(?s).{0,200}", tokens_max in 1_u64..20) {
        let limits = small(3, tokens_max);
        for kind in kinds() {
            check(&text, &cut(&text, &kind, &limits, Mode::ByType), &limits)?;
        }
    }

    #[test]
    fn every_chunk_of_json_is_json(text in json_text(), target in 1_u64..5, tokens_max in 40_u64..80) {
        let limits = small(target, tokens_max);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok());
        let cutting = cut(&text, &detected(ContentType::Json), &limits, Mode::ByType);
        check(&text, &cutting, &limits)?;
        for chunk in cutting.chunks.iter().filter(|_| text.starts_with(['[', '{'])) {
            let rendered = render(chunk, &text);
            let parsed = serde_json::from_str::<serde_json::Value>(&rendered);
            prop_assert!(parsed.is_ok(), "{rendered:?} of {text:?}");
        }
    }

    #[test]
    fn every_chunk_of_a_table_has_the_header_and_whole_rows(text in csv_text(), target in 1_u64..12) {
        let limits = small(target, 50_000);
        let cutting = cut(&text, &detected(ContentType::StructuredData), &limits, Mode::ByType);
        check(&text, &cutting, &limits)?;
        let rows_of = |text: &str| -> Vec<csv::StringRecord> {
            let reader = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(text.as_bytes());
            reader.into_records().map(Result::unwrap).collect()
        };
        let whole = rows_of(&text);
        let mut rows = vec![whole[0].clone()];
        for chunk in &cutting.chunks {
            let part = rows_of(&render(chunk, &text));
            prop_assert_eq!(&part[0], &whole[0]);
            prop_assert_eq!(part.len() as u64 - 1, chunk.units.count());
            rows.extend(part.into_iter().skip(1));
        }
        prop_assert_eq!(rows, whole);
    }
}

#[test]
fn a_document_of_many_short_lines_has_no_more_chunks_than_a_plan_can_hold() {
    let limits = small(1, 50_000);
    for text in ["\n", "# a\n", "a,b\n"] {
        for kind in [ContentType::Unknown, ContentType::Prose, ContentType::Log] {
            let chunks = cut(&text.repeat(30_000), &detected(kind), &limits, Mode::ByType).chunks;
            assert!((15_000..=20_000).contains(&chunks.len()), "{text:?} as {kind:?}: {}", chunks.len());
        }
    }
    // A number of chunks within the limit follows from the target.
    let chunks = cut(&"\n".repeat(20_000), &detected(ContentType::Unknown), &limits, Mode::ByType).chunks;
    assert_eq!(chunks.len(), 20_000);
}

#[test]
fn an_empty_text_has_no_chunks() {
    for kind in kinds() {
        assert_eq!(cut("", &kind, &Limits::default(), Mode::ByType).chunks, [], "{:?}", kind.content_type);
    }
    assert_eq!(cut("", &detected(ContentType::Log), &Limits::default(), Mode::Plain).chunks, []);
}

#[test]
fn one_giant_line_is_cut_under_the_ceiling_in_every_type() {
    let text = "x".repeat(1_000_000);
    for kind in kinds() {
        let cutting = cut(&text, &kind, &Limits::default(), Mode::ByType);
        assert!(cutting.chunks.len() >= 5, "{:?}", kind.content_type);
        assert!(cutting.chunks.iter().all(|chunk| chunk.tokens_estimate <= 50_000 && chunk.lines == (1..=1)));
    }
}

#[test]
fn a_minified_array_is_cut_by_elements_in_one_pass() {
    let text = format!("[{}{{}}]", "{\"id\":1,\"tags\":[\"a\",\"b\"]},".repeat(10_000));
    let cutting = cut(&text, &detected(ContentType::Json), &Limits::default(), Mode::ByType);
    assert_eq!(
        (cutting.units, cutting.partitions_expected, cutting.chunks.len()),
        (Units::Elements(10_001), 29, 29)
    );
}

#[test]
fn a_function_is_cut_only_if_it_is_too_long_itself() {
    let function =
        |lines: usize, n: usize| format!("fn f{n}() {{\n{}}}\n\n", "    step();\n".repeat(lines - 3));
    let text =
        function(140, 0) + &function(200, 1) + &function(299, 2) + &function(700, 3) + &function(10, 4);
    let kind = of(ContentType::SourceCode, Some("rust"));
    let cutting = cut(&text, &kind, &Limits::default(), Mode::ByType);
    let lines: Vec<_> = cutting.chunks.iter().map(|chunk| chunk.lines.clone().count()).collect();
    let starts_function = |chunk: &Chunk| render(chunk, &text).starts_with("fn ");
    let starts: Vec<bool> = cutting.chunks.iter().map(starts_function).collect();
    assert_eq!(lines, [140, 200, 299, 200, 200, 300, 10]);
    assert_eq!(starts, [true, true, true, true, false, false, true]);
}

#[test]
fn strengths_are_ordered() {
    assert!(Strength::Word < Strength::Sentence && Strength::Item < Strength::Section);
}
