//! Finds the elements of an array in a stream of bytes, keeping only where the current one began.

use std::ops::{ControlFlow, Range};

#[derive(Debug)]
pub(super) struct ArrayScan {
    place: Position,
    /// Brackets open inside the array.
    depth: u64,
    string: StringPart,
    /// The range of the element so far, without surrounding whitespace.
    element: Option<Range<u64>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Before,
    /// After the bracket or a comma, or in an element.
    Inside {
        is_first: bool,
    },
    Behind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringPart {
    Outside,
    Inside,
    Escape,
}

impl ArrayScan {
    /// Before the array.
    pub(super) fn new() -> Self {
        Self { place: Position::Before, depth: 0, string: StringPart::Outside, element: None }
    }

    /// At the beginning of an element.
    pub(super) fn inside() -> Self {
        Self { place: Position::Inside { is_first: false }, ..Self::new() }
    }

    /// Processes bytes that begin at that offset.
    pub(super) fn feed(
        &mut self,
        at: u64,
        bytes: &[u8],
        found: &mut dyn FnMut(Range<u64>) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, &'static str> {
        let mut idx = 0;
        while let Some(&byte) = bytes.get(idx) {
            match self.string {
                StringPart::Escape => {
                    self.string = StringPart::Inside;
                    idx += 1;
                }
                StringPart::Inside => {
                    let Some(n_plain) = memchr::memchr2(b'"', b'\\', &bytes[idx..]) else {
                        self.extend(at + bytes.len() as u64);
                        break;
                    };
                    idx += n_plain;
                    let is_quote = bytes.get(idx) == Some(&b'"');
                    self.string = if is_quote { StringPart::Outside } else { StringPart::Escape };
                    idx += 1;
                }
                StringPart::Outside => {
                    let offset = at + idx as u64;
                    idx += 1;
                    if let Some(element) = self.step(offset, byte)?
                        && found(element).is_break()
                    {
                        return Ok(ControlFlow::Break(()));
                    }
                    continue;
                }
            }
            self.extend(at + idx as u64);
        }
        Ok(ControlFlow::Continue(()))
    }

    pub(super) fn fault_at_end(&self) -> Option<&'static str> {
        match self.place {
            Position::Before => Some("it has no array"),
            Position::Inside { .. } => Some("its array does not end"),
            Position::Behind => None,
        }
    }

    fn extend(&mut self, end: u64) {
        if let Some(element) = &mut self.element {
            element.end = end;
        }
    }

    /// Processes one byte outside strings; returns the element that it ended.
    fn step(&mut self, offset: u64, byte: u8) -> Result<Option<Range<u64>>, &'static str> {
        let is_blank = matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        let is_first = match self.place {
            _ if is_blank => return Ok(None),
            Position::Before if byte == b'[' => {
                self.place = Position::Inside { is_first: true };
                return Ok(None);
            }
            Position::Before => return Err("it does not begin with an array"),
            Position::Behind => return Err("there is text after its array"),
            Position::Inside { is_first } => is_first,
        };
        match byte {
            b',' if self.depth == 0 => {
                self.place = Position::Inside { is_first: false };
                return self.element.take().map(Some).ok_or("an element of its array is missing");
            }
            b']' if self.depth == 0 => {
                self.place = Position::Behind;
                return match self.element.take() {
                    None if !is_first => Err("an element of its array is missing"),
                    element => Ok(element),
                };
            }
            b'}' if self.depth == 0 => return Err("its brackets do not match"),
            b'[' | b'{' => self.depth += 1,
            b']' | b'}' => self.depth -= 1,
            b'"' => self.string = StringPart::Inside,
            _ => {}
        }
        let start = self.element.as_ref().map_or(offset, |element| element.start);
        self.element = Some(start..offset + 1);
        Ok(None)
    }
}
