//! SQLite files: whatever their pages contain, a scan describes them or says why not, and queries end within their time
//! and return values of a bounded size.
#![expect(clippy::disallowed_methods, reason = "SQLite reads files, not bytes")]

use std::sync::Arc;

use spelunk_context::{Corpus, QueryWatch, ScanOptions, SourceInput, View};
use spelunk_tables::{Cell, Tables};

use crate::check_message;
use crate::choice::body_of;

const MAGIC: &[u8; 16] = b"SQLite format 3\0";
const QUERY_MS_MAX: u64 = 2_000;
const CELL_CHARS_MAX: usize = 2_000;
const DESCRIPTION_BYTES_MAX: u64 = 300_000;

/// The bytes as they are, behind the mark of a SQLite file.
pub(crate) fn sqlite(data: &[u8]) {
    let body = body_of(data);
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("a.db");
    // Without the mark it is any binary file.
    let bytes = [&MAGIC[..], body.get(MAGIC.len()..).unwrap_or_default()].concat();
    std::fs::write(&path, bytes).expect("a temporary file");
    match Corpus::scan(&[SourceInput::Path(path.clone())], &ScanOptions::default(), &mut |_| {}) {
        Err(error) => check_message(&error.to_string().replace(&path.display().to_string(), "a.db")),
        Ok(corpus) => look(&View::of(Arc::new(corpus))),
    }
    let beside = std::fs::read_dir(directory.path()).expect("a temporary directory").count();
    assert_eq!(beside, 1, "nothing is created beside it");
}

fn look(view: &View) {
    assert!(view.bytes() <= DESCRIPTION_BYTES_MAX, "{} bytes", view.bytes());
    let opened = Tables::of(view, 0, &QueryWatch::of_ms(QUERY_MS_MAX)).expect("only servers fail");
    let Some(mut tables) = opened else { return };
    drop(tables.describe(""));
    for table in tables.tables().to_vec() {
        let Ok(result) = tables.query(&format!("SELECT * FROM {} LIMIT 5", table.name), 5) else { continue };
        let is_short = |cell: &Cell| cell.to_string().chars().count() <= CELL_CHARS_MAX;
        assert!(result.rows.len() <= 5 && result.rows.iter().flatten().all(is_short));
    }
}
