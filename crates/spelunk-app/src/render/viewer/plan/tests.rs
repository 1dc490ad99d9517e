use super::*;

#[test]
fn the_record_of_a_corpus_is_read_line_by_line() {
    let text = "aa 12 a.py\nbb 7 name with blanks.md\nbroken\ncc x y\n";
    assert_eq!(listed(text), [("a.py".to_owned(), 12), ("name with blanks.md".to_owned(), 7)]);
}

#[test]
fn a_document_that_failed_in_one_part_is_not_done() {
    let mut fold =
        Fold { documents: vec![("a".into(), 1), ("b".into(), 2), ("c".into(), 3)], ..Fold::default() };
    fold.is_planned = true;
    let root = FrameId::root();
    fold.tasks.insert(root.child(0), (vec!["a".into()], Reading::Done));
    fold.tasks.insert(root.child(1), (vec!["a".into(), "b".into()], Reading::Failed));
    fold.tasks.insert(root.child(2), (vec!["b".into()], Reading::Open));
    let told = fold.finish(&Detector::default());
    let states: Vec<_> =
        told["documents"].as_array().unwrap().iter().map(|one| (&one["tasks"], &one["state"])).collect();
    let expected = [(json!(2), json!("failed")), (json!(2), json!("failed")), (json!(0), json!("waiting"))];
    assert_eq!(states, expected.each_ref().map(|(tasks, state)| (tasks, state)));
}
