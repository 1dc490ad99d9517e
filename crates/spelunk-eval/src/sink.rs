//! Where the files of tasks are written. This crate generates text; the caller has the disk.

use std::io;

/// Receives files, one after the other, in pieces.
pub trait Sink {
    /// Starts a file; the pieces that follow are its text.
    fn begin(&mut self, path: &str) -> io::Result<()>;

    /// The next piece.
    fn write(&mut self, text: &str) -> io::Result<()>;
}

/// A file being written, with its length.
pub(crate) struct OutputFile<'a> {
    sink: &'a mut dyn Sink,
    bytes: u64,
}

impl<'a> OutputFile<'a> {
    pub(crate) fn begin(sink: &'a mut dyn Sink, path: &str) -> io::Result<Self> {
        sink.begin(path)?;
        Ok(Self { sink, bytes: 0 })
    }

    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.bytes += text.len() as u64 + 1;
        self.sink.write(text)?;
        self.sink.write("\n")
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Files in memory.
    #[derive(Debug, Default)]
    pub(crate) struct MemorySink {
        /// The files, by path.
        pub(crate) files: BTreeMap<String, String>,
        current: String,
    }

    impl Sink for MemorySink {
        fn begin(&mut self, path: &str) -> io::Result<()> {
            path.clone_into(&mut self.current);
            self.files.insert(path.to_owned(), String::new());
            Ok(())
        }

        fn write(&mut self, text: &str) -> io::Result<()> {
            self.files.entry(self.current.clone()).or_default().push_str(text);
            Ok(())
        }
    }
}
