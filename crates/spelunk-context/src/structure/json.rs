//! Finds the keys of a JSON document without parsing it: those of the outermost object, or of the first object if the
//! document is a list or has one value per line. Invalid JSON gives the keys seen so far.

use super::Mark;

#[derive(Debug, Default)]
pub(super) struct Keys {
    n_line_ends: u64,
    depth: u64,
    /// The depth of the object whose keys are collected; known once it begins.
    wanted_depth: Option<u64>,
    is_over: bool,
    awaits_key: bool,
    string: Option<OpenString>,
}

#[derive(Debug)]
struct OpenString {
    start: u64,
    is_key: bool,
    is_escaped: bool,
}

impl Keys {
    pub(super) fn scan(&mut self, at: u64, block: &[u8], found: &mut dyn FnMut(Mark)) {
        for (idx, &byte) in block.iter().enumerate() {
            if self.is_over {
                return;
            }
            self.n_line_ends += u64::from(byte == b'\n');
            let offset = at + idx as u64;
            match &mut self.string {
                Some(string) if string.is_escaped => string.is_escaped = false,
                Some(string) if byte == b'\\' => string.is_escaped = true,
                Some(string) if byte == b'"' => {
                    if string.is_key {
                        found(Mark { line: self.n_line_ends + 1, depth: 0, bytes: string.start..offset });
                    }
                    self.string = None;
                }
                Some(_) => {}
                None => self.step(offset, byte),
            }
        }
    }

    fn step(&mut self, offset: u64, byte: u8) {
        match byte {
            b'"' => {
                let is_key = std::mem::take(&mut self.awaits_key);
                self.string = Some(OpenString { start: offset + 1, is_key, is_escaped: false });
            }
            b'{' | b'[' => {
                self.depth += 1;
                if byte == b'{' && self.wanted_depth.is_none() && self.depth <= 2 {
                    self.wanted_depth = Some(self.depth);
                }
                self.awaits_key = byte == b'{' && self.wanted_depth == Some(self.depth);
            }
            b'}' | b']' => {
                self.is_over = self.wanted_depth == Some(self.depth);
                self.depth = self.depth.saturating_sub(1);
                self.awaits_key = false;
            }
            b',' => self.awaits_key = self.wanted_depth == Some(self.depth),
            _ => {}
        }
    }
}
