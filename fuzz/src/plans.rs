//! Plans and landmarks of a document that was actually ingested: a plan is consistent, its sketch is short, and its
//! landmarks lie inside the document.

use std::sync::Arc;

use spelunk_context::{
    Corpus, Detector, Landmarks, PlanOptions, Reader, ScanOptions, SchemaSketch, SourceInput, Tier, View,
    Work, plan,
};

use crate::choice::Choice;

/// Plans one document.
pub(crate) fn plans(data: &[u8]) {
    let Choice { detected, mode, limits, text } = Choice::of(data);
    let Some(view) = view(&text) else { return };
    let detector = Detector::default().with_override("**", detected.content_type.name());
    let detector = detector.expect("`**` is a pattern and a type has its name");
    let plan = plan(&view, &PlanOptions { limits, detector, mode, files_left_out: 0 });
    assert!(plan.unreadable.is_empty(), "text in memory can be read");
    let row = &plan.manifest[0];
    let n_tasks = if row.tier == Tier::Small { 1 } else { row.n_chunks };
    assert_eq!(plan.tasks.len() as u64, n_tasks, "a task per chunk, or one batch");
    let is_blank =
        text.strip_prefix('\u{feff}').unwrap_or(&text).bytes().all(|byte| byte.is_ascii_whitespace());
    let is_uncut = row.tier == Tier::Small || is_blank;
    assert_eq!(is_uncut, row.n_chunks == 0, "what is small is not cut, and what is blank is nobody's task");
    for task in &plan.tasks {
        match &task.work {
            Work::Chunk(_) => assert_eq!(task.schema, row.schema, "a chunk knows its document"),
            Work::Batch(batch) => assert_eq!((batch.items.len(), batch.lines), (1, row.lines)),
        }
    }
    if let Some(schema) = &row.schema {
        assert!(schema.text.len() <= SchemaSketch::TEXT_BYTES_MAX, "a sketch is short");
        assert!(!schema.text.contains('\n'), "a sketch is one line");
        assert!(schema.sampled_bytes <= schema.bytes);
    }
}

/// Finds landmarks in one document.
pub(crate) fn structures(data: &[u8]) {
    let Choice { detected, text, .. } = Choice::of(data);
    let Some(view) = view(&text) else { return };
    let document = view.documents().next().expect("a corpus is never empty");
    let reader = Reader::of_document(&view, document).expect("text in memory can be read");
    let Landmarks { landmarks, n_left_out, is_whole } =
        reader.structure(detected.content_type).expect("text in memory can be read");
    assert!(is_whole, "the text is short");
    assert!(landmarks.len() <= Landmarks::LANDMARKS_MAX);
    assert!(n_left_out == 0 || landmarks.len() == Landmarks::LANDMARKS_MAX);
    let n_lines = text.split('\n').count() as u64;
    let mut before = 0;
    for landmark in &landmarks {
        assert!(landmark.line >= before.max(1) && landmark.line <= n_lines, "in order, and inside");
        before = landmark.line;
    }
}

/// `None` for what is not a document: only whitespace, or containing a NUL.
fn view(text: &str) -> Option<View> {
    let source = SourceInput::Text { name: "a".to_owned(), bytes: text.as_bytes().to_vec() };
    let options = ScanOptions { allow_secrets: true, ..ScanOptions::default() };
    let corpus = Corpus::scan(&[source], &options, &mut |_| {}).ok()?;
    Some(View::of(Arc::new(corpus)))
}
