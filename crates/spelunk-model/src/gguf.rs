//! GGUF: the file format of local models. Only the metadata is parsed here, enough to identify a file and check that it
//! is complete before loading it. A file may contain anything, so every length in it is checked against a limit first.

mod tensor;

use std::io::{self, Read};

/// The magic number.
const MAGIC: [u8; 4] = *b"GGUF";

/// The most metadata entries that are read.
const ENTRIES_MAX: u64 = 4_096;
/// The most tensors in a file.
const TENSORS_MAX: u64 = 100_000;
/// The longest key of an entry.
const KEY_BYTES_MAX: u64 = 1_024;
/// The longest string that is kept; longer ones are skipped.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The most elements of an array: vocabularies are the longest.
const ELEMENTS_MAX: u64 = 8_000_000;
/// All metadata together.
const HEADER_BYTES_MAX: u64 = 512 << 20;
/// The default alignment of tensors.
const ALIGNMENT_BYTES_USUAL: u64 = 32;

/// The metadata of a model file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GgufHeader {
    /// The family, such as `qwen2`.
    pub architecture: String,
    /// The name its authors gave it.
    pub name: Option<String>,
    /// Its size, such as `1.5B`.
    pub size_label: Option<String>,
    /// The longest context it was trained for.
    pub context_tokens: Option<u64>,
    /// Its chat template.
    pub chat_template: Option<String>,
}

/// Why a file is not accepted as a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GgufError {
    #[error("it does not begin with `GGUF`")]
    NotGguf,
    #[error("its format has version {version}, and 2 and 3 are read")]
    Version { version: u32 },
    #[error("its metadata are damaged: {what}")]
    Damaged { what: &'static str },
    #[error("its metadata name no architecture")]
    NoArchitecture,
    #[error("it is cut short: it has {bytes} bytes of at least {bytes_min}")]
    CutShort { bytes: u64, bytes_min: u64 },
    #[error("it could not be read")]
    Read(#[source] io::Error),
}

impl From<io::Error> for GgufError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::Damaged { what: "the file ends within them" };
        }
        Self::Read(error)
    }
}

impl GgufHeader {
    /// Parses the metadata of a file of `bytes` bytes; the tensors themselves are not read. Use a buffered reader.
    pub fn read(source: impl Read, bytes: u64) -> Result<Self, GgufError> {
        let mut input = Input { source: source.take(HEADER_BYTES_MAX) };
        if input.bytes::<4>().map_err(|error| not_gguf(error.into()))? != MAGIC {
            return Err(GgufError::NotGguf);
        }
        let version = u32::from_le_bytes(input.bytes()?);
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version { version });
        }
        let (n_tensors, n_entries) = (input.whole()?, input.whole()?);
        if n_tensors > TENSORS_MAX || n_entries > ENTRIES_MAX {
            return Err(GgufError::Damaged { what: "it counts more entries than any model has" });
        }
        let mut entries = Vec::new();
        for _ in 0..n_entries {
            entries.extend(input.entry()?);
        }
        let header = Self::of(&entries)?;
        let bytes_min = tensor::bytes_min(&mut input, n_tensors, alignment_bytes(&entries)?)?;
        if bytes < bytes_min {
            return Err(GgufError::CutShort { bytes, bytes_min });
        }
        Ok(header)
    }

    fn of(entries: &[(String, Kept)]) -> Result<Self, GgufError> {
        let text = |key: &str| {
            entries.iter().find_map(|(name, value)| match value {
                Kept::Text(text) if name == key => Some(text.clone()),
                Kept::Text(_) | Kept::Whole(_) => None,
            })
        };
        let architecture = text("general.architecture").ok_or(GgufError::NoArchitecture)?;
        let window = format!("{architecture}.context_length");
        let context_tokens = entries.iter().find_map(|(name, value)| match value {
            Kept::Whole(whole) if *name == window => Some(*whole),
            Kept::Text(_) | Kept::Whole(_) => None,
        });
        Ok(Self {
            name: text("general.name"),
            size_label: text("general.size_label"),
            chat_template: text("tokenizer.chat_template"),
            architecture,
            context_tokens,
        })
    }
}

fn alignment_bytes(entries: &[(String, Kept)]) -> Result<u64, GgufError> {
    let told = entries.iter().find_map(|(name, value)| match value {
        Kept::Whole(whole) if name == "general.alignment" => Some(*whole),
        Kept::Text(_) | Kept::Whole(_) => None,
    });
    let alignment = told.unwrap_or(ALIGNMENT_BYTES_USUAL);
    if !alignment.is_power_of_two() {
        return Err(GgufError::Damaged { what: "its alignment is no power of two" });
    }
    Ok(alignment)
}

/// A file too short for a header is not a GGUF file.
fn not_gguf(error: GgufError) -> GgufError {
    match error {
        GgufError::Damaged { .. } => GgufError::NotGguf,
        other @ (GgufError::NotGguf
        | GgufError::Version { .. }
        | GgufError::NoArchitecture
        | GgufError::CutShort { .. }
        | GgufError::Read(_)) => other,
    }
}

/// A value that may be needed; all others are skipped.
enum Kept {
    Text(String),
    Whole(u64),
}

struct Input<R> {
    source: io::Take<R>,
}

impl<R: Read> Input<R> {
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], io::Error> {
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn whole(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    /// Bytes read so far.
    fn position(&self) -> u64 {
        HEADER_BYTES_MAX - self.source.limit()
    }

    /// The length of the name that follows.
    fn name_bytes(&mut self) -> Result<u64, GgufError> {
        let n_bytes = self.whole()?;
        if n_bytes > KEY_BYTES_MAX {
            return Err(GgufError::Damaged { what: "an entry has a name longer than 1,024 bytes" });
        }
        Ok(n_bytes)
    }

    fn entry(&mut self) -> Result<Option<(String, Kept)>, GgufError> {
        let n_bytes = self.name_bytes()?;
        let name = self.text(n_bytes)?;
        let kind = u32::from_le_bytes(self.bytes()?);
        let kept = match kind {
            8 => self.kept_text()?,
            4 => Some(Kept::Whole(u32::from_le_bytes(self.bytes()?).into())),
            10 => Some(Kept::Whole(self.whole()?)),
            9 => {
                self.skip_list()?;
                None
            }
            other => {
                self.skip(width(other)?)?;
                None
            }
        };
        Ok(name.zip(kept))
    }

    fn kept_text(&mut self) -> Result<Option<Kept>, GgufError> {
        let n_bytes = self.whole()?;
        if n_bytes > TEXT_BYTES_MAX {
            self.skip(n_bytes)?;
            return Ok(None);
        }
        Ok(self.text(n_bytes)?.map(Kept::Text))
    }

    /// A string of this many bytes, which the caller has bounded; `None` if it is not UTF-8.
    fn text(&mut self, n_bytes: u64) -> Result<Option<String>, GgufError> {
        let mut bytes = Vec::new();
        let n_read = self.source.by_ref().take(n_bytes).read_to_end(&mut bytes)?;
        if n_read as u64 != n_bytes {
            return Err(GgufError::Damaged { what: "the file ends within them" });
        }
        Ok(String::from_utf8(bytes).ok())
    }

    fn skip_list(&mut self) -> Result<(), GgufError> {
        let kind = u32::from_le_bytes(self.bytes()?);
        let n_elements = self.whole()?;
        if n_elements > ELEMENTS_MAX {
            return Err(GgufError::Damaged { what: "a list is longer than any vocabulary" });
        }
        match kind {
            8 => {
                for _ in 0..n_elements {
                    let n_bytes = self.whole()?;
                    self.skip(n_bytes)?;
                }
                Ok(())
            }
            9 => Err(GgufError::Damaged { what: "it has a list of lists" }),
            other => self.skip(n_elements.saturating_mul(width(other)?)),
        }
    }

    fn skip(&mut self, n_bytes: u64) -> Result<(), GgufError> {
        let n_skipped = io::copy(&mut self.source.by_ref().take(n_bytes), &mut io::sink())?;
        if n_skipped != n_bytes {
            return Err(GgufError::Damaged { what: "the file ends within them" });
        }
        Ok(())
    }
}

/// The size of a number of this type.
fn width(kind: u32) -> Result<u64, GgufError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(GgufError::Damaged { what: "an entry is of an unknown kind" }),
    }
}

#[cfg(test)]
mod tests;
