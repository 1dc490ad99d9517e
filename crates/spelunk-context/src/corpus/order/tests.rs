use spelunk_types::FileOrder;

use super::compare_files;
use crate::testing::{names, put, tree};
use crate::{Corpus, ScanOptions, SourceInput};

const FILES: [&str; 8] = [
    "README.md",
    "docs/README.txt",
    "Cargo.toml",
    "config/app.yml",
    "src/main.rs",
    "src/a/b.rs",
    "notes.md",
    "z.txt",
];

#[track_caller]
fn check(order: FileOrder, expected: [&str; 8]) {
    let sizes = [3, 1, 2, 9, 5, 4, 8, 1];
    let mut files: Vec<(&str, u64)> = FILES.into_iter().zip(sizes).collect();
    files.sort_by(|a, b| compare_files(order, *a, *b));
    assert_eq!(files.iter().map(|(name, _)| *name).collect::<Vec<_>>(), expected);
}

#[test]
fn the_order_says_which_files_come_first() {
    check(
        FileOrder::Size,
        [
            "config/app.yml",
            "notes.md",
            "src/main.rs",
            "src/a/b.rs",
            "README.md",
            "Cargo.toml",
            "docs/README.txt",
            "z.txt",
        ],
    );
    check(
        FileOrder::Path,
        [
            "Cargo.toml",
            "README.md",
            "config/app.yml",
            "docs/README.txt",
            "notes.md",
            "src/a/b.rs",
            "src/main.rs",
            "z.txt",
        ],
    );
    check(
        FileOrder::Priority,
        [
            "README.md",
            "docs/README.txt",
            "Cargo.toml",
            "config/app.yml",
            "src/main.rs",
            "src/a/b.rs",
            "notes.md",
            "z.txt",
        ],
    );
}

fn scan(root: &std::path::Path, files_max: u64, order: FileOrder) -> Corpus {
    let options = ScanOptions { files_max, order, ..ScanOptions::default() };
    Corpus::scan(&[SourceInput::Path(root.to_owned())], &options, &mut |_| {}).unwrap()
}

#[test]
fn what_files_max_leaves_out_is_counted_and_listed() {
    let root = tree(&[("a.md", "1"), ("b.md", "333"), ("c.md", "22"), ("d.md", "4444")]);
    let corpus = scan(root.path(), 2, FileOrder::Size);
    let report = &corpus.reports()[0];
    assert_eq!(names(&corpus), "b.md\nd.md\n");
    assert_eq!((report.left_out_total, report.left_out.join(" ")), (2, "c.md a.md".to_owned()));
    assert_eq!(crate::testing::skipped(&corpus), "2 files-max: c.md a.md\n");
    let corpus = scan(root.path(), 3, FileOrder::Path);
    assert_eq!(
        (names(&corpus).as_str(), corpus.reports()[0].left_out.join(" ").as_str()),
        ("a.md\nb.md\nc.md\n", "d.md")
    );
    for all in [0, 4, 5] {
        assert_eq!(scan(root.path(), all, FileOrder::Size).reports()[0].left_out_total, 0);
    }
}

#[test]
fn what_is_not_text_takes_no_place_under_files_max() {
    let root = tree(&[("b.md", "1"), ("c.md", "1")]);
    put(root.path(), "a.bin", &[0; 100]);
    let corpus = scan(root.path(), 1, FileOrder::Size);
    assert_eq!(names(&corpus), "b.md\n");
    assert_eq!(crate::testing::skipped(&corpus), "1 binary: a.bin\n1 files-max: c.md\n");
}

#[test]
fn the_list_of_what_was_left_out_is_bounded_and_its_count_is_not() {
    let root = tree(&[]);
    for n in 0..1102 {
        put(root.path(), format!("{n:04}.txt"), b"x");
    }
    let report = &scan(root.path(), 100, FileOrder::Path).reports()[0].clone();
    assert_eq!((report.documents, report.left_out_total, report.left_out.len()), (100, 1002, 1000));
    assert_eq!(report.left_out[0], "0100.txt");
}

#[test]
fn secrets_are_kept_back_and_counted_unless_they_are_allowed_and_the_digest_is_the_same() {
    let root = tree(&[("a.env.md", "x\nDB_PASSWORD=s3cr3t-P4ssw0rd\n"), ("b.md", "nothing\n")]);
    let scan = |allow_secrets| {
        let options = ScanOptions { allow_secrets, ..ScanOptions::default() };
        let corpus =
            Corpus::scan(&[SourceInput::Path(root.path().to_owned())], &options, &mut |_| {}).unwrap();
        let report = corpus.reports()[0].clone();
        let view = crate::View::of(corpus.into());
        (view.read_owned(view.find("a.env.md").unwrap()).unwrap(), report, view.digest())
    };
    let (text, report, digest) = scan(false);
    assert_eq!(text, "x\nDB_PASSWORD=[secret:assigned-secret]\n");
    assert_eq!(report.redactions.into_iter().collect::<Vec<_>>(), [("assigned-secret".to_owned(), 1)]);
    assert_eq!(report.redactions_examples["assigned-secret"], ["a.env.md:2"]);
    let (text, report, same_digest) = scan(true);
    assert_eq!((text.as_str(), report.redactions.len()), ("x\nDB_PASSWORD=s3cr3t-P4ssw0rd\n", 0));
    assert_eq!(digest, same_digest);
}
