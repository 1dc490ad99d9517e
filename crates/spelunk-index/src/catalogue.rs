//! The catalogue: the indexed documents and their versions, and the files of the index. Written atomically
//! after every commit, with a checksum of itself and every file, so that opening an index detects damage.

use std::collections::BTreeMap;

use spelunk_context::{ContentType, Detected, DocEntry};

use crate::files::Stamp;

/// Changes whenever the format of an index does.
const FORM: &str = "spelunk-index 1";
pub(crate) const BYTES_MAX: u64 = 4 << 30;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Catalogue {
    pub(crate) vectors: Option<Vectors>,
    /// The hash of everything that determines how documents are cut.
    pub(crate) cut: String,
    pub(crate) next_id: u64,
    /// Documents that were only partly indexed when it was committed.
    pub(crate) partial: Vec<u64>,
    pub(crate) files: BTreeMap<String, FileRecord>,
    pub(crate) documents: BTreeMap<String, DocumentRecord>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vectors {
    pub(crate) embedder: String,
    pub(crate) dimensions: usize,
    pub(crate) n_rows: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileRecord {
    pub(crate) stamp: Stamp,
    /// BLAKE3 in hex.
    pub(crate) digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRecord {
    /// Its id; a new version gets a new one.
    pub(crate) id: u64,
    /// The digest of its bytes, and whether secrets may be read.
    pub(crate) version: String,
    pub(crate) n_passages: u64,
    pub(crate) content_type: ContentType,
    /// The name of its language in queries.
    pub(crate) language: Option<String>,
    pub(crate) custom: Option<String>,
}

impl DocumentRecord {
    pub(crate) fn of(id: u64, document: &DocEntry, n_passages: u64, detected: Option<&Detected>) -> Self {
        let language = detected.and_then(|detected| detected.language);
        let custom = detected.and_then(|detected| detected.custom.as_ref());
        Self {
            id,
            version: version_of(document),
            n_passages,
            content_type: detected.map_or(ContentType::Unknown, |detected| detected.content_type),
            language: language.map(str::to_owned),
            custom: custom.map(|kind| kind.name.clone()),
        }
    }

    fn is_of(&self, document: &DocEntry) -> bool {
        self.version.strip_prefix(&document.digest.to_string()) == Some(reading_of(document))
    }

    /// Whether a filter for this content type, language or user-defined kind matches.
    pub(crate) fn is_kind(&self, kind: &str) -> bool {
        self.content_type.name() == kind
            || self.language.as_deref() == Some(kind)
            || self.custom.as_deref() == Some(kind)
    }
}

/// The digest of a document's bytes, and whether secrets may be read: then it is another text.
fn version_of(document: &DocEntry) -> String {
    format!("{}{}", document.digest, reading_of(document))
}

fn reading_of(document: &DocEntry) -> &'static str {
    if document.redacts { "" } else { "+secrets" }
}

impl Catalogue {
    /// The record of a document, if it was indexed in its current version.
    pub(crate) fn current(&self, document: &DocEntry) -> Option<&DocumentRecord> {
        self.documents.get(&document.name).filter(|record| record.is_of(document))
    }

    /// Like `current`, for all documents. They are mostly sorted by name, so both lists are read once.
    pub(crate) fn all_current<'a, 'd>(
        &'a self,
        documents: impl Iterator<Item = &'d DocEntry>,
    ) -> impl Iterator<Item = (&'d DocEntry, Option<&'a DocumentRecord>)> {
        let mut held = self.documents.iter().peekable();
        documents.map(move |document| {
            while held.next_if(|(name, _)| **name < document.name).is_some() {}
            let here = held.next_if(|(name, _)| **name == document.name).map(|(_, record)| record);
            let record = here.or_else(|| self.documents.get(&document.name));
            (document, record.filter(|record| record.is_of(document)))
        })
    }

    pub(crate) fn n_passages(&self) -> u64 {
        self.documents.values().map(|document| document.n_passages).sum()
    }

    pub(crate) fn encode(&self) -> String {
        let mut text = format!("{FORM}\ncut {}\nnext {}\n", self.cut, self.next_id);
        if let Some(Vectors { embedder, dimensions, n_rows }) = &self.vectors {
            text.push_str(&format!("vectors {dimensions} {n_rows} {}\n", quoted(embedder)));
        }
        for id in &self.partial {
            text.push_str(&format!("partial {id}\n"));
        }
        for (path, FileRecord { stamp: Stamp { bytes, changed_ns }, digest }) in &self.files {
            text.push_str(&format!("file {bytes} {changed_ns} {digest} {}\n", quoted(path)));
        }
        for (name, record) in &self.documents {
            let DocumentRecord { id, version, n_passages, content_type, language, custom } = record;
            let language = language.as_deref().unwrap_or("-");
            let custom = custom.as_deref().map_or_else(|| "null".to_owned(), quoted);
            let (kind, name) = (content_type.name(), quoted(name));
            text.push_str(&format!(
                "document {id} {version} {n_passages} {kind} {language} {name} {custom}\n"
            ));
        }
        let checksum = blake3::hash(text.as_bytes()).to_hex();
        text + &format!("end {checksum}\n")
    }

    /// Parses it; the error describes what is wrong.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        const DAMAGED: &str = "the checksum of its catalogue does not match";
        let text = std::str::from_utf8(bytes).map_err(|_| DAMAGED)?;
        let (body, end) = text.rsplit_once("end ").ok_or("its catalogue is truncated")?;
        if blake3::hash(body.as_bytes()).to_hex().as_str() != end.trim_end_matches('\n') {
            return Err(DAMAGED);
        }
        let mut lines = body.lines();
        if lines.next() != Some(FORM) {
            return Err("it was written by another version");
        }
        let mut catalogue = Self::default();
        for line in lines {
            catalogue.take(line).ok_or("its catalogue cannot be read")?;
        }
        Ok(catalogue)
    }

    fn take(&mut self, line: &str) -> Option<()> {
        let (fact, rest) = line.split_once(' ')?;
        match fact {
            "cut" => rest.clone_into(&mut self.cut),
            "next" => self.next_id = rest.parse().ok()?,
            "partial" => self.partial.push(rest.parse().ok()?),
            "vectors" => {
                let [dimensions, n_rows, embedder] = fields(rest)?;
                self.vectors = Some(Vectors {
                    embedder: unquoted(embedder)?,
                    dimensions: dimensions.parse().ok()?,
                    n_rows: n_rows.parse().ok()?,
                });
            }
            "file" => {
                let [bytes, changed_ns, digest, path] = fields(rest)?;
                let stamp = Stamp { bytes: bytes.parse().ok()?, changed_ns: changed_ns.parse().ok()? };
                self.files.insert(unquoted(path)?, FileRecord { stamp, digest: digest.to_owned() });
            }
            "document" => {
                let [id, version, n_passages, kind, language, names] = fields(rest)?;
                let mut names = serde_json::Deserializer::from_str(names).into_iter::<serde_json::Value>();
                let name = names.next()?.ok()?.as_str()?.to_owned();
                let custom = names.next()?.ok()?.as_str().map(str::to_owned);
                let record = DocumentRecord {
                    id: id.parse().ok()?,
                    version: version.to_owned(),
                    n_passages: n_passages.parse().ok()?,
                    content_type: ContentType::from_name(kind)?,
                    language: (language != "-").then(|| language.to_owned()),
                    custom,
                };
                self.documents.insert(name, record);
            }
            _ => return None,
        }
        Some(())
    }
}

/// The first fields of a line; the last takes the rest.
fn fields<const N: usize>(line: &str) -> Option<[&str; N]> {
    let mut parts = line.splitn(N, ' ');
    let mut fields = [""; N];
    for field in &mut fields {
        *field = parts.next()?;
    }
    Some(fields)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn unquoted(text: &str) -> Option<String> {
    serde_json::from_str::<serde_json::Value>(text).ok()?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
