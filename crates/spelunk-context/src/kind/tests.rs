use expect_test::expect;

use super::*;

fn told(name: &str, text: &str) -> String {
    shown(&Detector::default().detect(name, text))
}

fn shown(detected: &Detected) -> String {
    let language = detected.language.map(|language| format!(", {language}")).unwrap_or_default();
    format!("{} via {}{language}", detected.content_type.name(), detected.via.name())
}

#[test]
fn whole_names_go_before_extensions() {
    let names = [
        "Makefile",
        "src/Dockerfile",
        "requirements.txt",
        "requirements-dev.txt",
        "CMakeLists.txt",
        ".env",
        ".env.local",
        ".gitignore",
        "LICENSE",
        "Gemfile",
        ".bashrc",
        "go.mod",
        "Dockerfile.prod",
    ];
    let told: Vec<String> = names.iter().map(|name| format!("{name}: {}", told(name, ""))).collect();
    expect![[r"
        Makefile: config via name
        src/Dockerfile: config via name
        requirements.txt: config via name
        requirements-dev.txt: config via name
        CMakeLists.txt: config via name
        .env: config via name
        .env.local: config via name
        .gitignore: config via name
        LICENSE: prose via name
        Gemfile: source_code via name, ruby
        .bashrc: source_code via name, bash
        go.mod: config via name
        Dockerfile.prod: config via name
    "]]
    .assert_eq(&(told.join("\n") + "\n"));
}

#[test]
fn every_extension_of_the_table_has_its_type() {
    let types = [
        (
            "source_code",
            "py ts js tsx jsx rb go rs java kt c cpp h hpp cs swift scala php lua zig ex exs hs ml sh bash zsh",
        ),
        ("structured_data", "csv tsv"),
        ("json", "json"),
        ("jsonl", "jsonl ndjson"),
        ("log", "log"),
        ("prose", "md rst txt adoc"),
        ("markup", "xml html htm svg"),
        ("config", "yaml yml toml ini conf"),
    ];
    for (content_type, extensions) in types {
        for extension in extensions.split(' ') {
            let detected = Detector::default().detect(&format!("a.{extension}"), "");
            assert_eq!(
                (detected.content_type.name(), detected.via),
                (content_type, Via::Extension),
                "{extension}"
            );
        }
    }
}

#[test]
fn json_in_a_text_file_is_not_a_table() {
    assert_eq!(told("a.txt", "{\"a\":1,\"b\":2}\n"), "json via sniffing");
    assert_eq!(told("a.txt", "{\"a\":1,\"b\":2}\n{\"a\":3,\"b\":4}\n"), "jsonl via sniffing");
    assert_eq!(
        told("a.txt", "[2024-01-01 10:00:00] ERROR a\n[2024-01-01 10:00:01] INFO b\n"),
        "log via sniffing"
    );
}

#[test]
fn a_long_json_text_is_told_by_its_head() {
    let text = format!("[{}1]", "{\"a\": [1, 2]},\n".repeat(200));
    assert_eq!(told("export", &text), "json via sniffing");
}

#[test]
fn tables_have_labels_and_rows_of_one_width() {
    assert_eq!(told("a.txt", "id,name\n1,x\n2,\"y,\nz\"\n"), "structured_data via sniffing");
    assert_eq!(told("a", "id\tname\n1\tx\n"), "structured_data via sniffing");
    assert_eq!(
        told("a.txt", "Dear Sir, you may, or may not, know.\nWell, now you do, at least.\n"),
        "prose via extension"
    );
    assert_eq!(
        told("a.log", "2024-01-01 00:00:00,123 INFO a\n2024-01-01 00:00:01,123 WARN b\n"),
        "log via extension"
    );
}

#[test]
fn a_log_of_json_lines_is_jsonl() {
    assert_eq!(told("app.log", "{\"t\":1}\n{\"t\":2}\n"), "jsonl via sniffing");
    assert_eq!(told("app.log", "A sentence without any time in it.\n"), "log via extension");
    assert_eq!(told("app.log", "id,name\n1,x\n"), "structured_data via sniffing");
}

#[test]
fn comments_in_settings_are_not_headings() {
    assert_eq!(told("a.yml", "# A heading, one would think\n\nkey: value\n"), "config via extension");
    assert_eq!(told("a.conf", "{\"a\": 1}"), "json via sniffing");
}

#[test]
fn a_copy_or_a_pattern_is_of_the_type_of_what_it_copies() {
    assert_eq!(told("Cargo.toml.orig", "# A package\n[package]\n"), "config via extension");
    assert_eq!(told("app.py.bak", ""), "source_code via extension, python");
    assert_eq!(told("Makefile.in", "all:\n"), "config via name");
    assert_eq!(told("notes.orig", "Once upon a time there was a cave.\n"), "prose via sniffing");
    assert_eq!(told(".orig", ""), "config via name");
}

#[test]
fn text_without_a_telling_name_is_sniffed() {
    assert_eq!(told("run", "#!/usr/bin/env python3\nprint(1)\n"), "source_code via sniffing, python");
    assert_eq!(told("x", "import os\nimport sys\n"), "source_code via sniffing");
    assert_eq!(told("x", "<?xml version=\"1.0\"?><a/>"), "markup via sniffing");
    assert_eq!(told("x", "# Title\n\nText.\n"), "prose via sniffing");
    assert_eq!(told("x", "Once upon a time there was a cave.\n"), "prose via sniffing");
    assert_eq!(told("x", "1 2 3\n4 5 6\n"), "unknown via sniffing");
    assert_eq!(told("x", ""), "unknown via sniffing");
    assert_eq!(told("x", "\u{feff}{\"a\": 1}"), "json via sniffing");
}

#[test]
fn the_user_goes_before_every_rule() {
    let kind = CustomKind {
        name: "protobuf".into(),
        extensions: vec!["proto".into()],
        names: vec!["buf.gen".into()],
        base: ContentType::SourceCode,
        boundary: None,
        target_lines: Some(100),
        analyst_prompt: None,
    };
    let detector = Detector::default().with_custom(kind);
    let detector = detector.with_override("*.dat", "log").unwrap();
    let detector = detector.with_override("old/*.proto", "prose").unwrap();
    let told = ["a.proto", "x/buf.gen", "x/a.dat", "old/a.proto", "old/new/a.proto"]
        .map(|name| shown(&detector.detect(name, "")));
    let expected = [
        "source_code via custom, protobuf",
        "source_code via custom",
        "log via override",
        "prose via override, protobuf",
        "source_code via custom, protobuf",
    ];
    assert_eq!(told, expected);
    let refused = |pattern, name| Detector::default().with_override(pattern, name).unwrap_err().to_string();
    assert_eq!(refused("[", "log"), "`[` is not a valid file name pattern");
    assert_eq!(refused("*.x", "protobuf"), "there is no content type `protobuf`");
}

#[test]
fn the_user_may_name_a_type_of_their_own() {
    let kind = CustomKind {
        name: "story".into(),
        extensions: vec!["story".into()],
        names: vec![],
        base: ContentType::Prose,
        boundary: None,
        target_lines: None,
        analyst_prompt: None,
    };
    let detector = Detector::default().with_custom(kind);
    assert_eq!(detector.type_names()[..2], ["story", "source_code"]);
    let Detected { content_type, via, custom, .. } =
        detector.with_override("tales/*", "story").unwrap().detect("tales/a.json", "{}");
    assert_eq!((content_type, via), (ContentType::Prose, Via::Override));
    assert_eq!(custom.unwrap().name, "story");
}

#[test]
fn types_have_names_and_structures() {
    let all = ContentType::ALL.map(|content_type| {
        assert_eq!(ContentType::from_name(content_type.name()), Some(content_type));
        format!("{} {}", content_type.name(), content_type.structure().name())
    });
    expect!["source_code mixed, structured_data structured, json structured, jsonl structured, log mixed, prose unstructured, markup mixed, config structured, unknown mixed"]
        .assert_eq(&all.join(", "));
}

proptest::proptest! {
    #[test]
    fn any_name_and_any_text_have_a_type(name in "(?s).{0,12}", text in "(?s).{0,200}") {
        Detector::default().detect(&name, &text);
    }
}
