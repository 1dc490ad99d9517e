//! Which files of a desk may be written next to a journal.

use super::is_shown;

#[test]
fn only_files_of_a_desk_are_written_beside_a_journal() {
    for path in
        ["scratch/a.txt", "scratch/scripts/001_scan.py", "output/answer.md", "state/notes.md", "AGENTS.md"]
    {
        assert!(is_shown(path), "{path}");
    }
    let refused = [
        "journal.jsonl",
        "lock",
        "metadata.json",
        "state",
        "scratch/../journal.jsonl",
        "scratch//a",
        "./scratch/a",
        "/scratch/a",
        "scratch/..",
        "scratch\\a",
        "chunks/manifest.json",
        "",
    ];
    for path in refused {
        assert!(!is_shown(path), "{path}");
    }
}
