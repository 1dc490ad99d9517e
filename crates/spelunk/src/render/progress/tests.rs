//! What is said while analysts work.

use std::collections::BTreeMap;
use std::time::Duration;

use spelunk_engine::{RunView, TasksView};
use spelunk_types::EventKind;

use super::{run_status, task_line};

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(word, n)| ((*word).to_owned(), *n)).collect()
}

#[test]
fn a_finished_task_is_one_line() {
    let line = |findings: &[(&str, u64)], relevant: bool| {
        let label = "src/a.rs lines 1 to 200".to_owned();
        task_line(&EventKind::TaskReported { task: 3, of: 10, label, relevant, findings: counts(findings) })
    };
    let found = "task 3/10 complete: 4 findings (2 high, 1 medium, 1 low): src/a.rs lines 1 to 200";
    assert_eq!(line(&[("low", 1), ("high", 2), ("medium", 1)], true).as_deref(), Some(found));
    assert_eq!(
        line(&[], false).as_deref(),
        Some("task 3/10 complete: not relevant: src/a.rs lines 1 to 200")
    );
    assert_eq!(line(&[], true).as_deref(), Some("task 3/10 complete: no findings: src/a.rs lines 1 to 200"));
}

#[test]
fn the_line_says_how_far_the_tasks_are() {
    let findings = counts(&[("high", 2), ("unrated", 1)]);
    let tasks = TasksView { planned: 40, documents: 9, recalled: 0, done: 9, failed: 1, findings };
    let mut view = RunView::default();
    view.tasks = Some(tasks);
    assert_eq!(
        run_status(&view, 0, Duration::from_secs(20)),
        "10 of 40 tasks, 1 failed · 2 high, 1 unrated · about 1 min 0 s left · 0 calls done · 0 tokens · $0.00 · 20.0 s"
    );
}
