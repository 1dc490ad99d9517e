//! A quick script does no more than so much, holds no more than so much, and is left to the interpreter beyond that: at the
//! same place each time.

use std::ops::Range;
use std::sync::Arc;

use spelunk_context::{GrepQuery, ReadError};

use super::{desk, path, quick};
use crate::{Desk, DeskLimits, Shelf, ShelfDocument, ShelfLines, ShelfReport, ShellLimits};

fn with(change: impl FnOnce(&mut ShellLimits)) -> Desk {
    let mut limits = DeskLimits::default();
    change(&mut limits.shell);
    desk().with_limits(limits)
}

/// So many lines, each another.
fn lines(n_lines: usize) -> String {
    (0..n_lines).fold(String::new(), |all, n| all + &format!("line {n}\n"))
}

/// The largest number of lines, of these, for which a script is quick.
fn n_quick(desk: &Desk, script: &str, n_lines: &[usize]) -> usize {
    let is_quick = |n_lines: &&usize| quick(desk, script, Some(&lines(**n_lines))).is_some();
    n_lines.iter().take_while(is_quick).last().copied().unwrap_or_default()
}

#[test]
fn what_a_program_does_is_counted() {
    let desk = with(|limits| limits.work_max = 40_000);
    let counts = [10, 100, 1000, 10_000];
    let n_quick = |script: &str| n_quick(&desk, script, &counts);
    // Straight through, keys that nothing is done with, conditions that never hold, and texts that grow.
    assert_eq!(n_quick("awk '{s += $2} END {print s}'"), 1000);
    assert_eq!(n_quick("awk '{n[$2]} END {for (a in n) {}}'"), 1000);
    assert_eq!(n_quick("awk '{n[$2]} END {for (a in n) for (b in n) {}}'"), 10);
    assert_eq!(n_quick("awk '{n[$2]} END {for (a in n) for (b in n) for (c in n) {}}'"), 10);
    let conditions = "0;".repeat(99);
    assert_eq!(n_quick(&format!("awk '{conditions}'")), 100);
    assert_eq!(n_quick("awk '{t = t t \"x\"; if (t == \"\") t = \"\"}'"), 10);
    assert_eq!(n_quick("awk '/x/'"), 10_000);
    assert_eq!(n_quick("sort -k2 -k1 -k3,4n"), 100);
    assert_eq!(n_quick("sort"), 1000);
    assert_eq!(n_quick("cut -c1-2,4,6,8,10"), 1000);
}

#[test]
fn what_a_program_holds_is_counted() {
    let desk = with(|limits| limits.held_bytes_max = 4 * 100_000);
    let text = format!("{}\n{}", "h".repeat(1000), "line\n".repeat(200));
    let is_quick = |script: &str| quick(&desk, script, Some(&text)).is_some();
    assert!(is_quick("awk 'NR == 1 {h = $0} {a[1] = h} END {print length(a)}'"));
    assert!(is_quick("awk 'NR == 1 {h = $0} {a[NR] = 1} END {print length(a)}'"));
    assert!(!is_quick("awk 'NR == 1 {h = $0} {a[NR] = h} END {print length(a)}'"));
    assert!(!is_quick("awk 'NR == 1 {h = $0} {a[h NR] = 1} END {print length(a)}'"));
    // A loop holds the keys it goes through.
    let desk = with(|limits| limits.held_bytes_max = 4 * 30_000);
    let is_quick = |script: &str| quick(&desk, script, Some(&text)).is_some();
    assert!(is_quick("awk '{a[NR]} END {for (i in a) n++; for (i in a) n++}'"));
    assert!(!is_quick("awk '{a[NR]} END {for (i in a) for (j in a) n++}'"));
}

#[test]
fn a_text_that_is_kept_or_made_is_not_long() {
    let long = "x".repeat(70_000) + "\n";
    let is_quick = |script: &str| quick(&desk(), script, Some(&long)).is_some();
    assert!(is_quick("awk '{print length($0), substr($0, 1, 3)}'"));
    assert!(!is_quick("awk '{h = $0}'"));
    assert!(!is_quick("awk '{n[$0]++}'"));
    assert!(!is_quick("awk '{print $0 $0}'"));
    assert!(!is_quick("awk '{print toupper($0)}'"));
    assert!(!is_quick("awk '{print substr($0, 2)}'"));
    let fields = "x ".repeat(1_000_001) + "\n";
    assert_eq!(quick(&desk(), "awk '{print NF, $1}'", Some(&fields)), None);
}

#[test]
fn patterns_that_are_much_once_written_out_are_counted() {
    let desk = desk();
    let heavy = "grep -cE '[a-z]{200}|x' scratch/words.txt\n";
    assert!(quick(&desk, &heavy.repeat(10), None).is_some());
    assert_eq!(quick(&desk, &heavy.repeat(100), None), None);
    let heavy = format!("awk '{}' scratch/words.txt\n", "/[a-z]{200}|x/ || ".repeat(20) + "0");
    assert!(quick(&desk, &heavy, None).is_some());
    assert_eq!(quick(&desk, &heavy.repeat(10), None), None);
    // Many open places may make every byte slow.
    let text = format!("{}\n", "ab".repeat(100_000));
    let desk = with(|limits| limits.work_max = 100_000);
    assert!(quick(&desk, "grep -c '[ab]*a[ab]b'", Some(&text)).is_some());
    assert_eq!(quick(&desk, "grep -c '[ab]*a[ab]\\{20\\}b'", Some(&text)), None);
    assert_eq!(quick(&desk, "grep -cE '(a|b)*a(a|b){20}b'", Some(&text)), None);
}

#[test]
fn adding_to_a_large_file_again_and_again_is_counted() {
    let mut desk = with(|limits| limits.work_max = 40_000);
    desk.put(&path("output/large"), "x".repeat(256 * 1024)).unwrap();
    let script = "echo a >> output/large\n";
    assert!(quick(&desk, &script.repeat(10), None).is_some());
    assert_eq!(quick(&desk, &script.repeat(30), None), None);
}

/// A document that must not be read.
#[derive(Debug)]
struct Unread;

impl Shelf for Unread {
    fn documents(&self) -> Vec<ShelfDocument> {
        vec![ShelfDocument { name: "large.txt".to_owned(), bytes: 60_000_000 }]
    }

    fn read_lines(&self, _: usize, _: u64, _: u64) -> Result<ShelfLines, ReadError> {
        panic!("it was read")
    }

    fn read_bytes(&self, _: usize, _: Range<u64>) -> Result<String, ReadError> {
        panic!("it was read")
    }

    fn read_all(&self, _: usize, _: u64) -> Result<String, ReadError> {
        panic!("it was read")
    }

    fn grep(&self, _: &GrepQuery, _: &[usize]) -> Result<ShelfReport, ReadError> {
        panic!("it was searched")
    }
}

#[test]
fn sizes_are_added_up_before_anything_is_read() {
    let mut desk = desk();
    desk.mount(Arc::new(Unread));
    let script = format!("cat{}", " input/contexts/large.txt".repeat(2000));
    assert_eq!(quick(&desk, &script, None), None);
    let mut limits = DeskLimits::default();
    limits.shell.input_bytes_max = 50_000_000;
    assert_eq!(quick(&desk.with_limits(limits), "wc -l input/contexts/large.txt", None), None);
}
