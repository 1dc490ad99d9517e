//! Lists of objects, as a bucket sends them: keys are short, the list leads to documents with printable names below the
//! address, and to no file elsewhere.

use std::path::PathBuf;
use std::sync::Arc;

use spelunk_context::{Corpus, ObjectEntry, ObjectError, ObjectStore, ScanOptions, SourceInput};
use spelunk_server::fuzzing::read_listing;

use crate::check_message;
use crate::choice::text_of;

const URL: &str = "s3://shelf/docs";

/// A bucket with these objects, all of which have the same text.
#[derive(Debug)]
struct Bucket {
    entries: Vec<ObjectEntry>,
    copy: PathBuf,
}

impl ObjectStore for Bucket {
    fn url(&self) -> &str {
        URL
    }

    fn list(&self) -> Result<Vec<ObjectEntry>, ObjectError> {
        Ok(self.entries.clone())
    }

    fn fetch(&self, objects: &[&ObjectEntry]) -> Result<Vec<Option<PathBuf>>, ObjectError> {
        Ok(objects.iter().map(|_| Some(self.copy.clone())).collect())
    }
}

/// Reads the text as a page of a list, and what it lists as a source.
pub(crate) fn objects(data: &[u8]) {
    let Some(page) = read_listing(&text_of(data)) else { return };
    assert!(page.objects.iter().all(|entry| entry.key.len() <= 1024), "{page:?}");
    let copy = tempfile::NamedTempFile::new().expect("a temporary file");
    std::io::Write::write_all(&mut copy.as_file(), b"text\n").expect("it can be written");
    let bucket = Bucket { entries: page.objects, copy: copy.path().to_owned() };
    let source = SourceInput::Objects(Arc::new(bucket));
    match Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}) {
        Ok(corpus) => {
            for document in corpus.documents() {
                assert!(document.name.starts_with(URL), "{}", document.name);
                assert!(!document.name.chars().any(char::is_control), "{:?}", document.name);
                assert!(document.name.split('/').all(|part| part != ".."), "{}", document.name);
            }
        }
        Err(error) => check_message(&error.to_string()),
    }
}
