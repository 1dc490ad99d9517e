use expect_test::{Expect, expect};
use spelunk_types::Limits;

use super::*;
use crate::kind::Detector;
use crate::records::{FieldClass, Recipe};
use crate::split::{DocText, Mode, Partitioner};

fn cut(name: &str, text: &str, limits: &Limits) -> Option<SchemaSketch> {
    let detected = Detector::default().detect(name, text);
    let document = DocText { idx: 0, name, text, detected: &detected };
    let cutting = Partitioner::new(limits, Mode::ByType).cut(document);
    SchemaSketch::of(detected.content_type, text, &cutting)
}

#[track_caller]
fn check(name: &str, text: &str, expected: &Expect) {
    let sketch = cut(name, text, &Limits::default());
    expected.assert_eq(&sketch.map_or_else(|| "none".to_owned(), |sketch| sketch.to_string()));
}

#[test]
fn a_list_of_objects_shows_keys_types_what_is_optional_and_lengths() {
    check(
        "a.json",
        r#"[
            {"id": 1, "name": "a", "tags": [], "at": {"x": 1, "y": 2.5}},
            {"id": 2, "name": null, "tags": ["u", "v"], "at": {"x": 1}, "ok": true},
            {"id": 3, "name": "c", "tags": ["w"], "pair": [1, 2]}
        ]"#,
        &expect![
            "[{id: integer, name: string | null, tags: [string; 0..2], at?: {x: integer, y?: number}, ok?: boolean, pair?: [integer; 2]}; 3]"
        ],
    );
}

#[test]
fn an_object_shows_its_keys_in_order_and_odd_keys_in_quotes() {
    check(
        "a.json",
        r#"{"zeta": {}, "alpha": [], "@id": "x", "two words": 1, "q\"uote": 2, "line\nend": 3, "": 4}"#,
        &expect![[
            r#"{zeta: {}, alpha: [], @id: string, "two words": integer, "q\"uote": integer, "line\nend": integer, "": integer}"#
        ]],
    );
}

#[test]
fn values_and_keys_that_are_data_are_not_listed_one_by_one() {
    let keys: Vec<String> = (0..100).map(|n| format!("\"user-{n}\": {{\"name\": \"Ann\"}}")).collect();
    check(
        "a.json",
        &format!("{{{}}}", keys.join(",")),
        &expect!["{[64 or more keys such as user-0]: {name: string}}"],
    );
}

#[test]
fn a_sample_is_taken_from_all_over_a_long_document_and_said_to_be_one() {
    let element = |n: usize| match n {
        0 => "{\"id\": 0, \"first\": true}".to_owned(),
        9999 => "{\"id\": 9999, \"last\": \"yes\"}".to_owned(),
        n => format!("{{\"id\": {n}, \"note\": \"{}\"}}", "x".repeat(40)),
    };
    let elements: Vec<String> = (0..10_000).map(element).collect();
    // The last chunk has only the last element.
    let limits = Limits { chunk_json_elements: 9999, ..Limits::default() };
    let text = format!("[{}]", elements.join(","));
    let sketch = cut("a.json", &text, &limits).unwrap();
    expect!["[{id: integer, first?: boolean, note?: string}; 10000] (inferred from 90112 of 648817 bytes; rare parts may be missing)"]
        .assert_eq(&sketch.to_string());
}

#[test]
fn a_document_that_is_cut_inside_is_sketched_from_its_root() {
    let rows: Vec<String> = (0..5000).map(|n| format!("{{\"n\": {n}, \"s\": \"{n}\"}}")).collect();
    let long = "x".repeat(400_000);
    let text = format!(
        "{{\"meta\": {{\"v\": 1}}, \"rows\": [{}], \"text\": \"{long}\", \"end\": null}}",
        rows.join(",")
    );
    let limits = Limits { chunk_tokens_max: 5000, ..Limits::default() };
    let sketch = cut("a.json", &text, &limits).unwrap();
    expect!["{meta: {v: integer}, rows: [{n: integer, s: string}; 350 or more], text: string, end: null} (inferred from 114572 of 522834 bytes; rare parts may be missing)"].assert_eq(&sketch.to_string());
}

#[test]
fn what_an_object_lacks_is_only_known_when_it_was_seen_to_its_end() {
    let mut shape = Shape::default();
    shape.fold(r#"[{"a": 1, "b": 2}, {"a": 1, "#);
    assert_eq!(show::show(&shape, 100).unwrap(), "[{a: integer, b: integer}; 1 or more]");
    shape.fold(r#"[{"a": 1}]"#);
    assert_eq!(show::show(&shape, 100).unwrap(), "[{a: integer, b?: integer}; 1]");
}

#[test]
fn a_sketch_is_short_whatever_the_document_is() {
    let wide = |n: usize| -> String {
        let keys: Vec<String> = (0..60).map(|k| format!("\"a_rather_long_key_{n}_{k}\": {k}")).collect();
        format!("{{{}}}", keys.join(","))
    };
    let inner: Vec<String> = (0..60).map(|n| format!("\"k{n}\": [{}]", wide(n))).collect();
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    let long_key = format!("{{\"{}\": 1}}", "k".repeat(10_000));
    for text in [&format!("{{{}}}", inner.join(",")), &deep, &long_key] {
        let sketch = cut("a.json", text, &Limits::default()).unwrap();
        assert!(sketch.text.len() <= SchemaSketch::TEXT_BYTES_MAX, "{}", sketch.text.len());
    }
    let sketch = cut("a.json", &long_key, &Limits::default()).unwrap();
    assert_eq!(sketch.text, format!("{{\"{}…\": integer}}", "k".repeat(59)));
    check("a.json", &deep, &expect!["[[[[[[[?; 1]; 1]; 1]; 1]; 1]; 1]; 1]"]);
}

#[test]
fn what_is_no_json_has_no_sketch_and_what_breaks_off_has_one_up_to_there() {
    check("a.json", "hello", &expect!["none"]);
    check("a.json", "", &expect!["none"]);
    check("a.md", "{\"a\": 1}", &expect!["{a: integer}"]);
    check("a.md", "# Title", &expect!["none"]);
    check("a.json", "{\"a\": 1,\n \"b\": [true,\n", &expect!["{a: integer, b: [boolean; 1 or more]}"]);
    check("a.jsonl", "hello\nthere\n", &expect!["none"]);
}

const LOG: &str = r#"{"version": 2, "schema": "app"}
{"@timestamp": "2026-01-01T00:00:00Z", "level": "INFO", "msg": "up", "service": "api", "user": {"id": 1, "geo": {"city": {"name": "x"}}}}
{"@timestamp": "2026-01-01T00:00:01Z", "level": "ERROR", "msg": "down", "service": "api", "error": "boom", "durationMs": 12.5, "requestId": "r1", "http_status": 500}
not json
{"@timestamp": "2026-01-01T00:00:02Z", "level": "INFO", "msg": "up", "service": "db", "retries": 3, "tags": ["a"]}
"#;

fn records(text: &str) -> Records {
    cut("a.jsonl", text, &Limits::default()).unwrap().records.unwrap()
}

#[test]
fn records_have_fields_with_types_presence_and_a_class() {
    let records = records(LOG);
    let mut shown = format!(
        "{} sampled, {} malformed, {} shapes, metadata first: {}\n",
        records.n_sampled, records.n_malformed, records.n_shapes, records.begins_with_metadata
    );
    for field in &records.fields {
        let types: Vec<&str> = field.types.iter().map(|json_type| json_type.name()).collect();
        let class = field.class.map_or("-", FieldClass::name);
        shown += &format!("{} {} {} {class}\n", field.path, types.join("|"), field.n_present);
    }
    expect![[r#"
        5 sampled, 1 malformed, 4 shapes, metadata first: true
        ."@timestamp" string 3 timestamp
        .durationMs number 1 -
        .error string 1 error
        .http_status number 1 status
        .level string 3 level
        .msg string 3 message
        .requestId string 1 identifier
        .retries number 1 -
        .schema string 1 -
        .service string 3 source
        .tags array 1 -
        .user.geo.city object 1 -
        .user.id number 1 -
        .version number 1 -
    "#]]
    .assert_eq(&shown);
}

#[test]
fn recipes_are_for_fields_that_are_there() {
    let shown = |text: &str| -> String {
        let recipes = records(text).recipes.into_iter();
        recipes.fold(String::new(), |shown, Recipe { name, filter }| shown + name + ": " + &filter + "\n")
    };
    expect![[r#"
        filter-level: inputs | fromjson? | objects | select((.level | tostring | ascii_downcase) == "error")
        extract-errors: inputs | fromjson? | objects | select(.error != null)
        count-by-status: [inputs | fromjson? | objects] | group_by(.http_status) | map({value: (.[0] | .http_status), n: length}) | sort_by(-.n)
        time-range: inputs | fromjson? | objects | select(."@timestamp" >= "FROM" and ."@timestamp" < "TO")
        message-search: inputs | fromjson? | objects | select(.msg | tostring | test("WORD"; "i"))
        top-errors: [inputs | fromjson? | objects] | map(select(.error != null)) | group_by(.error) | map({error: (.[0] | .error), n: length}) | sort_by(-.n) | .[:10]
        duration-outliers: [inputs | fromjson? | objects] | map(select(.durationMs | type == "number")) | sort_by(-(.durationMs)) | .[:10] | .[]
        trace: inputs | fromjson? | objects | select(.requestId == "ID")
        by-source: [inputs | fromjson? | objects] | group_by(.service) | map({value: (.[0] | .service), n: length}) | sort_by(-.n)
        aggregate: [inputs | fromjson? | objects] | map(.durationMs | numbers) | {n: length, min: min, max: max, mean: (if length > 0 then add / length else null end)}
    "#]].assert_eq(&shown(LOG));
    expect![[r#"
        aggregate: [inputs | fromjson? | objects] | map(.a | numbers) | {n: length, min: min, max: max, mean: (if length > 0 then add / length else null end)}
    "#]].assert_eq(&shown("{\"a\": 1}\n{\"a\": 2}\n"));
    assert_eq!(
        shown("{\"ts\": 1767225600}\n"),
        "time-range: inputs | fromjson? | objects | select(.ts >= FROM and .ts < TO)\n"
    );
    assert_eq!(shown("{\"a\": \"x\"}\n"), "");
}

#[test]
fn fields_that_come_or_go_on_the_way_are_told_of_a_long_document_only() {
    let text = |n_lines: usize| -> String {
        let line = |n: usize| if n < 900 { "{\"a\": 1, \"old\": 1}\n" } else { "{\"a\": 1, \"new\": 1}\n" };
        (0..n_lines).map(line).collect()
    };
    let drift = |n_lines: usize| {
        let records = records(&text(n_lines));
        (records.n_sampled, records.only_early, records.only_late)
    };
    assert_eq!(drift(1000), (20, vec![], vec![]));
    assert_eq!(drift(1001), (40, vec![".old".to_owned()], vec![".new".to_owned()]));
    // Chunks begin at lines 1001 and 2001.
    assert_eq!(drift(3000), (42, vec![".old".to_owned()], vec![".new".to_owned()]));
}

#[test]
fn chunks_of_json_lines_are_longer_where_records_are_narrow() {
    let chunks = |n_fields: usize| {
        let fields: Vec<String> = (0..n_fields).map(|idx| format!("\"f{idx}\": {idx}")).collect();
        let text = format!("{{{}}}\n", fields.join(",")).repeat(3000);
        let detected = Detector::default().detect("a.jsonl", &text);
        let document = DocText { idx: 0, name: "a.jsonl", text: &text, detected: &detected };
        Partitioner::new(&Limits::default(), Mode::ByType).cut(document).chunks.len()
    };
    assert_eq!([9, 10, 15, 16].map(chunks), [3, 4, 4, 6]);
}

#[test]
fn a_spread_has_both_ends() {
    let spread = |n, n_max| spread(n, n_max).collect::<Vec<_>>();
    assert_eq!(spread(0, 3), [0; 0]);
    assert_eq!(spread(1, 3), [0]);
    assert_eq!(spread(3, 3), [0, 1, 2]);
    assert_eq!(spread(10, 3), [0, 4, 9]);
    assert_eq!(spread(10, 1), [0]);
}

proptest::proptest! {
    #[test]
    fn any_text_may_be_sketched(text in "[\\[\\]{}:,\"a1 \n\\\\]{0,200}", is_lines in proptest::bool::ANY) {
        let name = if is_lines { "a.jsonl" } else { "a.json" };
        let limits = Limits { chunk_tokens_max: 20, ..Limits::default() };
        if let Some(sketch) = cut(name, &text, &limits) {
            proptest::prop_assert!(sketch.text.len() <= SchemaSketch::TEXT_BYTES_MAX);
            proptest::prop_assert!(sketch.sampled_bytes <= sketch.bytes);
        }
    }
}
