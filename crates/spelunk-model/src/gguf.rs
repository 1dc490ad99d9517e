//! GGUF: the file format of local models. Only the metadata is parsed here, enough to identify a file and to check that
//! it is complete before it is loaded. A file may contain anything, so every length is checked against a limit first.

mod tensor;

use std::collections::HashMap;
use std::io::{self, Read};

const MAGIC: [u8; 4] = *b"GGUF";

const ENTRIES_MAX: u64 = 4_096;
const TENSORS_MAX: u64 = 100_000;
const KEY_BYTES_MAX: u64 = 1_024;
/// The longest string that is kept; longer ones are skipped.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The most elements of an array: vocabularies are the longest.
const ELEMENTS_MAX: u64 = 8_000_000;
/// All metadata together.
const HEADER_BYTES_MAX: u64 = 512 << 20;
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
    #[error("its format version {version} is not supported; versions 2 and 3 are")]
    Version { version: u32 },
    #[error("its metadata is damaged: {what}")]
    Damaged { what: &'static str },
    #[error("its metadata has no architecture")]
    NoArchitecture,
    #[error("it is truncated: it has {bytes} bytes of at least {bytes_min}")]
    CutShort { bytes: u64, bytes_min: u64 },
    #[error("it could not be read")]
    Read(#[source] io::Error),
}

impl From<io::Error> for GgufError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::Damaged { what: "it is truncated" };
        }
        Self::Read(error)
    }
}

impl GgufHeader {
    /// Parses the metadata of a file of `bytes` bytes; the tensors themselves are not read. Use a buffered reader.
    pub fn read(source: impl Read, bytes: u64) -> Result<Self, GgufError> {
        let mut input = Input { source: source.take(HEADER_BYTES_MAX) };
        match input.bytes() {
            Ok(MAGIC) => {}
            Ok(_) => return Err(GgufError::NotGguf),
            // A file too short for a header is not a GGUF file.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(GgufError::NotGguf),
            Err(error) => return Err(error.into()),
        }
        let version = u32::from_le_bytes(input.bytes()?);
        if !(2..=3).contains(&version) {
            return Err(GgufError::Version { version });
        }
        let (n_tensors, n_entries) = (input.number()?, input.number()?);
        if n_tensors > TENSORS_MAX || n_entries > ENTRIES_MAX {
            return Err(GgufError::Damaged { what: "it has too many entries" });
        }
        let mut entries = Entries::default();
        for _ in 0..n_entries {
            input.entry(&mut entries)?;
        }
        let alignment = entries.numbers.get("general.alignment").copied().unwrap_or(ALIGNMENT_BYTES_USUAL);
        let header = Self::of(entries)?;
        if !alignment.is_power_of_two() {
            return Err(GgufError::Damaged { what: "its alignment is not a power of two" });
        }
        let bytes_min = tensor::bytes_min(&mut input, n_tensors, alignment)?;
        if bytes < bytes_min {
            return Err(GgufError::CutShort { bytes, bytes_min });
        }
        Ok(header)
    }

    fn of(Entries { mut texts, numbers }: Entries) -> Result<Self, GgufError> {
        let architecture = texts.remove("general.architecture").ok_or(GgufError::NoArchitecture)?;
        Ok(Self {
            name: texts.remove("general.name"),
            size_label: texts.remove("general.size_label"),
            chat_template: texts.remove("tokenizer.chat_template"),
            context_tokens: numbers.get(&format!("{architecture}.context_length")).copied(),
            architecture,
        })
    }
}

/// The values that may be needed, by name; all others are skipped. If a name occurs twice, the first value counts.
#[derive(Default)]
struct Entries {
    texts: HashMap<String, String>,
    numbers: HashMap<String, u64>,
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

    fn number(&mut self) -> Result<u64, GgufError> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn position(&self) -> u64 {
        HEADER_BYTES_MAX - self.source.limit()
    }

    fn name_bytes(&mut self) -> Result<u64, GgufError> {
        let n_bytes = self.number()?;
        if n_bytes > KEY_BYTES_MAX {
            return Err(GgufError::Damaged { what: "an entry has a name longer than 1,024 bytes" });
        }
        Ok(n_bytes)
    }

    fn entry(&mut self, entries: &mut Entries) -> Result<(), GgufError> {
        let n_bytes = self.name_bytes()?;
        // A name that is not UTF-8 is never looked up.
        let name = self.text(n_bytes)?.unwrap_or_default();
        match u32::from_le_bytes(self.bytes()?) {
            8 => {
                if let Some(text) = self.short_text()? {
                    entries.texts.entry(name).or_insert(text);
                }
            }
            4 => {
                let number = u32::from_le_bytes(self.bytes()?);
                entries.numbers.entry(name).or_insert(number.into());
            }
            10 => {
                let number = self.number()?;
                entries.numbers.entry(name).or_insert(number);
            }
            9 => self.skip_list()?,
            other => self.skip(width(other)?)?,
        }
        Ok(())
    }

    /// A string; `None` if it is too long or not UTF-8.
    fn short_text(&mut self) -> Result<Option<String>, GgufError> {
        let n_bytes = self.number()?;
        if n_bytes > TEXT_BYTES_MAX {
            self.skip(n_bytes)?;
            return Ok(None);
        }
        self.text(n_bytes)
    }

    /// A string of this many bytes, which the caller has bounded; `None` if it is not UTF-8.
    fn text(&mut self, n_bytes: u64) -> Result<Option<String>, GgufError> {
        let mut bytes = Vec::new();
        let n_read = self.source.by_ref().take(n_bytes).read_to_end(&mut bytes)?;
        if n_read as u64 != n_bytes {
            return Err(GgufError::Damaged { what: "it is truncated" });
        }
        Ok(String::from_utf8(bytes).ok())
    }

    fn skip_list(&mut self) -> Result<(), GgufError> {
        let kind = u32::from_le_bytes(self.bytes()?);
        let n_elements = self.number()?;
        if n_elements > ELEMENTS_MAX {
            return Err(GgufError::Damaged { what: "a list is too long" });
        }
        match kind {
            8 => {
                for _ in 0..n_elements {
                    let n_bytes = self.number()?;
                    self.skip(n_bytes)?;
                }
                Ok(())
            }
            9 => Err(GgufError::Damaged { what: "it contains a list of lists" }),
            other => self.skip(n_elements.saturating_mul(width(other)?)),
        }
    }

    fn skip(&mut self, n_bytes: u64) -> Result<(), GgufError> {
        let n_skipped = io::copy(&mut self.source.by_ref().take(n_bytes), &mut io::sink())?;
        if n_skipped != n_bytes {
            return Err(GgufError::Damaged { what: "it is truncated" });
        }
        Ok(())
    }
}

fn width(kind: u32) -> Result<u64, GgufError> {
    match kind {
        0 | 1 | 7 => Ok(1),
        2 | 3 => Ok(2),
        4..=6 => Ok(4),
        10..=12 => Ok(8),
        _ => Err(GgufError::Damaged { what: "an entry has an unknown type" }),
    }
}

#[cfg(test)]
mod tests;
