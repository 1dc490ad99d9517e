//! The outline of a view: its size and kinds of files, without reading text. It stays short for any view.

use std::collections::BTreeMap;
use std::fmt;

use crate::DocEntry;
use crate::name::shortened;

/// What a view contains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The number of documents.
    pub documents: u64,
    /// Their size on disk.
    pub bytes: u64,
    /// How many of them describe a database.
    pub databases: u64,
    /// Every extension, largest share of bytes first.
    pub extensions: Vec<ExtensionShare>,
    /// Name and size of the largest documents, largest first.
    pub largest: Vec<(String, u64)>,
}

/// The documents that share an extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtensionShare {
    /// In lower case without the dot; empty for names without one.
    pub extension: String,
    /// The number of documents.
    pub documents: u64,
    /// Their size on disk.
    pub bytes: u64,
}

impl Outline {
    /// Documents listed as the largest.
    pub const LARGEST_MAX: usize = 10;

    /// Extensions shown by `Display`; the rest are summed up in one line.
    const EXTENSIONS_SHOWN_MAX: usize = 10;
    const NAME_CHARS_MAX: usize = 120;

    pub(crate) fn of<'a>(documents: impl Iterator<Item = &'a DocEntry>) -> Self {
        let mut outline =
            Self { documents: 0, bytes: 0, databases: 0, extensions: Vec::new(), largest: Vec::new() };
        let mut shares: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut by_size: Vec<(u64, &str)> = Vec::new();
        for document in documents {
            outline.documents += 1;
            outline.bytes += document.bytes;
            outline.databases += u64::from(document.database.is_some());
            let share = shares.entry(extension_of(&document.name)).or_default();
            share.0 += 1;
            share.1 += document.bytes;
            by_size.push((document.bytes, &document.name));
        }
        by_size.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
        outline.largest =
            by_size.iter().take(Self::LARGEST_MAX).map(|&(bytes, name)| (name.to_owned(), bytes)).collect();
        outline.extensions = shares
            .into_iter()
            .map(|(extension, (documents, bytes))| ExtensionShare { extension, documents, bytes })
            .collect();
        outline.extensions.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.extension.cmp(&b.extension)));
        outline
    }
}

/// At most 30 lines.
impl fmt::Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", counted(self.documents), Size(self.bytes))?;
        if self.documents < 2 {
            return match self.largest.first() {
                Some((name, _)) => write!(f, ": {}", shortened(name, Self::NAME_CHARS_MAX)),
                None => Ok(()),
            };
        }
        f.write_str("\nby extension:")?;
        for share in self.extensions.iter().take(Self::EXTENSIONS_SHOWN_MAX) {
            let name = match share.extension.as_str() {
                "" => "(none)".to_owned(),
                extension => format!(".{extension}"),
            };
            write!(f, "\n  {name}: {}, {}", counted(share.documents), Size(share.bytes))?;
        }
        let rest = self.extensions.get(Self::EXTENSIONS_SHOWN_MAX..).unwrap_or_default();
        if !rest.is_empty() {
            let documents = rest.iter().map(|share| share.documents).sum();
            let bytes = rest.iter().map(|share| share.bytes).sum();
            write!(f, "\n  {} others: {}, {}", rest.len(), counted(documents), Size(bytes))?;
        }
        f.write_str("\nlargest:")?;
        for (name, bytes) in &self.largest {
            write!(f, "\n  {}: {}", shortened(name, Self::NAME_CHARS_MAX), Size(*bytes))?;
        }
        Ok(())
    }
}

fn counted(documents: u64) -> String {
    if documents == 1 { "1 document".to_owned() } else { format!("{documents} documents") }
}

/// The part of the file name after its last dot, unless the name begins with it or it is too long for an extension.
fn extension_of(name: &str) -> String {
    const EXTENSION_CHARS_MAX: usize = 16;
    let file_name = name.rsplit('/').next().unwrap_or(name);
    match file_name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.chars().count() <= EXTENSION_CHARS_MAX => {
            extension.to_lowercase()
        }
        Some(_) | None => String::new(),
    }
}

struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit_bytes, unit) = match self.0 {
            0..1000 => return write!(f, "{} B", self.0),
            1000..1_000_000 => (1000, "kB"),
            1_000_000..1_000_000_000 => (1_000_000, "MB"),
            1_000_000_000.. => (1_000_000_000, "GB"),
        };
        let tenths = self.0 / (unit_bytes / 10);
        if tenths < 100 {
            write!(f, "{}.{} {unit}", tenths / 10, tenths % 10)
        } else {
            write!(f, "{} {unit}", tenths / 10)
        }
    }
}

#[cfg(test)]
mod tests;
