//! Tasks are the same everywhere, have the requested size, and their answers are right.

use proptest::prelude::*;

use super::*;
use crate::score;
use crate::sink::tests::MemorySink;

fn tree() -> Tree {
    let mut files = vec![
        (
            "src/load.rs".to_owned(),
            "pub fn load_settings(path: &str) -> u64 {\n    7\n}\nconst RETRIES_MAX: u64 = 1_200;\n"
                .to_owned(),
        ),
        ("src/a.rs".to_owned(), "fn main() {\n    load_settings(\"a\");\n}\n".to_owned()),
        ("src/b.rs".to_owned(), "fn other_main() {\n    crate::load::load_settings(\"b\");\n}\n".to_owned()),
        (
            "src/c.rs".to_owned(),
            "// load_settings() is called elsewhere\nfn unrelated_thing() {}\n".to_owned(),
        ),
    ];
    let filler =
        |idx: usize| (format!("src/f{idx}.rs"), format!("fn f{idx}() {{\n    // {}\n}}\n", "x".repeat(900)));
    files.extend((0..20).map(filler));
    Tree::new(files)
}

fn made(kind: Kind, variant: Option<&str>, tokens: u64, seed: u64) -> (Task, MemorySink) {
    let tree = tree();
    let mut sink = MemorySink::default();
    let order = Order { kind, variant, tokens, seed, tree: Some(&tree) };
    let task = generate(&order, &mut sink).unwrap();
    (task, sink)
}

fn digest(sink: &MemorySink) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, text) in &sink.files {
        hasher.update(path.as_bytes()).update(text.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(12).collect()
}

/// A change here makes earlier recorded results incomparable.
#[test]
fn the_same_order_gives_the_same_bytes_on_every_machine() {
    let mut shown = String::new();
    for kind in Kind::ALL {
        for variant in kind.variants() {
            let (task, sink) = made(kind, Some(variant), 4000, 7);
            let bytes: usize = sink.files.values().map(String::len).sum();
            shown.push_str(&format!(
                "{} {} files, {bytes} bytes, {}, {}\n",
                task.id,
                task.files.len(),
                digest(&sink),
                task.answer.join(" ")
            ));
        }
    }
    expect_test::expect![[r#"
        needle-single-4k-7 1 files, 16249 bytes, c881fd0d0a86, 251895
        needle-multiple-4k-7 1 files, 16440 bytes, 27753f599150, 739563 770206 403708 194947
        labels-count-read-4k-7 1 files, 16064 bytes, 5de30208130d, 13
        labels-common-read-4k-7 1 files, 16059 bytes, df7ed0f6b1d0, size
        labels-count-easy-4k-7 1 files, 16074 bytes, 68d83edb2229, 28
        labels-common-easy-4k-7 1 files, 16061 bytes, 97e32582248b, size
        pairs-read-4k-7 1 files, 16016 bytes, e69e9d523528, (3319, 3885) (3319, 4366) (3319, 4367) (3885, 5142) (3885, 9018) (4366, 5142) (4366, 9018) (4367, 5142) (4367, 9018)
        pairs-easy-4k-7 1 files, 16043 bytes, e3976554c6a9, (1768, 5557) (1768, 8922) (1768, 9263) (3793, 5557) (3793, 8922) (3793, 9263) (5044, 5557) (5044, 8922) (5044, 9263)
        hops-three-4k-7 6 files, 17377 bytes, feaa27cf8e84, 1820
        code-definition-4k-7 21 files, 15889 bytes, f469ade0e2d4, src/load.rs
        code-callers-4k-7 21 files, 16745 bytes, cfc80677a35a, src/a.rs src/b.rs
        code-constant-4k-7 21 files, 16772 bytes, 853637faa391, 1200
        logs-first-4k-7 1 files, 15427 bytes, 76588a39e631, auth
        logs-count-4k-7 1 files, 16004 bytes, cab60e6314d9, 2
        logs-trace-4k-7 1 files, 16070 bytes, a8ab575cd9a7, 8935
        table-sum-4k-7 1 files, 16045 bytes, 8a985775b84f, 90
        table-top-4k-7 1 files, 16019 bytes, 67dfb47c1c8f, 100527
        table-distinct-4k-7 1 files, 16020 bytes, 5bda2409d5a9, 49
        absent-number-4k-7 1 files, 16071 bytes, 4b479f31c3fa, absent
        absent-person-4k-7 1 files, 16022 bytes, 98f94a8423ad, absent
    "#]].assert_eq(&shown);
}

#[test]
fn the_right_answer_scores_all_and_another_does_not() {
    for kind in Kind::ALL {
        for variant in kind.variants() {
            let (task, _) = made(kind, Some(variant), 4000, 3);
            let right = format!("I looked.\n\nANSWER: {}", task.answer.join("; "));
            assert!((score(&task, &right).score - 1.0).abs() < 1e-9, "{} {right}", task.id);
            assert!(score(&task, "ANSWER: 999999999").score < 0.01, "{}", task.id);
        }
    }
}

#[test]
fn code_is_asked_about_as_it_is() {
    let (task, sink) = made(Kind::Code, Some("callers"), 1000, 1);
    assert!(task.question.contains("`load_settings`"), "{}", task.question);
    assert_eq!(task.answer, ["src/a.rs", "src/b.rs"]);
    assert!(sink.files.keys().any(|path| path.ends_with("/src/load.rs")));
    let (task, _) = made(Kind::Code, Some("definition"), 1000, 1);
    assert_eq!(task.answer, ["src/load.rs"]);
    let (task, _) = made(Kind::Code, Some("constant"), 1000, 1);
    assert_eq!(task.answer, ["1200"]);
}

#[test]
fn an_order_that_cannot_be_filled_is_refused() {
    let refused = |kind, variant, tokens, tree: Option<&Tree>| {
        let order = Order { kind, variant, tokens, seed: 1, tree };
        generate(&order, &mut MemorySink::default()).unwrap_err().to_string()
    };
    let tree = tree();
    assert_eq!(refused(Kind::Needle, None, 10, None), "a task has from 1000 to 10000000 tokens, not 10");
    assert_eq!(refused(Kind::Needle, Some("double"), 8000, None), "`needle` has no variant `double`");
    assert_eq!(
        refused(Kind::Code, None, 8000, None),
        "tasks of the kind `code` need a source tree, and none was given"
    );
    assert_eq!(
        refused(Kind::Code, None, 80_000, Some(&tree)),
        "the tree contains 4662 tokens of source code, but the task needs 80000"
    );
    let empty = Tree::new(vec![("a.rs".into(), "x\n".repeat(4000))]);
    assert_eq!(
        refused(Kind::Code, Some("callers"), 1000, Some(&empty)),
        "the tree contains nothing to ask about as `callers`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Answers are recomputed from the files, by other means than those that generated them.
    #[test]
    fn answers_follow_from_the_files(seed in any::<u64>(), tokens in 1000_u64..6000) {
        let (task, sink) = made(Kind::Labels, Some("count-read"), tokens, seed);
        let text: String = sink.files.values().cloned().collect();
        let asked = task.question.split("have the topic ").nth(1).and_then(|rest| rest.split('?').next()).unwrap();
        let n = text.lines().filter(|line| topic_of(line).is_some_and(|topic| topic.name == asked)).count();
        prop_assert_eq!(&task.answer, &[n.to_string()]);

        let (task, sink) = made(Kind::Needle, Some("single"), tokens, seed);
        let text: String = sink.files.values().cloned().collect();
        prop_assert_eq!(text.matches(&task.answer[0]).count(), 1);
        prop_assert!(text.len() as u64 >= tokens * BYTES_PER_TOKEN && (text.len() as u64) < tokens * BYTES_PER_TOKEN + 4000);

        let (task, sink) = made(Kind::Table, Some("top"), tokens, seed);
        let region = task.question.split("of the region ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
        let text: String = sink.files.values().cloned().collect();
        let rows = text.lines().skip(1).map(|line| line.split(',').collect::<Vec<_>>());
        let prices: Vec<(u64, &str)> = rows.filter(|row| row[2] == region).map(|row| (row[6].parse().unwrap(), row[0])).collect();
        let top = prices.iter().max().unwrap();
        prop_assert_eq!(&task.answer, &[top.1.to_owned()]);
        prop_assert_eq!(prices.iter().filter(|(price, _)| *price == top.0).count(), 1);

        let (task, sink) = made(Kind::Logs, Some("first"), tokens, seed);
        let text: String = sink.files.values().cloned().collect();
        let first = text.lines().find(|line| line.contains(" ERROR ")).and_then(|line| line.split_whitespace().nth(2));
        prop_assert_eq!(first, task.answer.first().map(String::as_str));
        let times: Vec<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        prop_assert!(times.is_sorted());
    }
}
