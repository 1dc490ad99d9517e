//! The methods of `str` that search for text: `find`, `rfind`, `count`, `in`, `startswith`, `endswith`, `split`.

use std::ops::Range;

use super::re::{Flags, ITEM_BYTES, MatchCursor, PyPattern};
use super::{LazyText, TextBatch, TextError};

impl LazyText {
    /// `text.find(needle, start, end)`, with bounds counted from the beginning; `None` for Python's -1.
    pub fn find(&self, needle: &str, chars: Range<u64>) -> Result<Option<u64>, TextError> {
        let start = self.at_char(chars.start)?;
        if start.char < chars.start || chars.start > chars.end {
            return Ok(None);
        }
        if needle.is_empty() {
            return Ok(Some(chars.start));
        }
        let pattern = PyPattern::literal(needle);
        let found = self.walk(&pattern, MatchCursor::from_byte(start.byte), false, |walk| {
            match walk.next(false)? {
                Some(_) => walk.hunt.group_chars(0),
                None => Ok(None),
            }
        })?;
        Ok(found.filter(|found| found.end <= chars.end).map(|found| found.start))
    }

    /// `text.rfind(needle, start, end)`, read from the end.
    pub fn rfind(&self, needle: &str, chars: Range<u64>) -> Result<Option<u64>, TextError> {
        let (start, end) = (self.at_char(chars.start)?, self.at_char(chars.end)?);
        if start.char < chars.start || chars.start > chars.end {
            return Ok(None);
        }
        if needle.is_empty() {
            return Ok(Some(end.char));
        }
        let overlap = needle.chars().count() as u64 * 4;
        let (mut at, mut buffer) = (end.byte, Vec::new());
        while at > start.byte {
            let from = self.floor_char(at.saturating_sub(self.sizes.window_bytes.max(4)))?.max(start.byte);
            let to = self.floor_char(at.saturating_add(overlap).min(end.byte))?;
            let mut piece = self.piece(from..to, self.margin(), buffer)?;
            self.mask(&mut piece);
            let (first, last) = (piece.text_at(from), piece.text_at(to));
            if let Some(found) = piece.text.get(first..last).and_then(|text| text.rfind(needle)) {
                let found = self.at_byte(piece.document_at(first + found))?;
                return self.fresh(Some(found.char));
            }
            buffer = piece.text.into_bytes();
            at = from;
        }
        self.fresh(None)
    }

    /// `text.count(needle, start, end)`
    pub fn count(&self, needle: &str, chars: Range<u64>) -> Result<u64, TextError> {
        let (start, end) = (self.at_char(chars.start)?, self.at_char(chars.end)?);
        if start.char < chars.start || chars.start > chars.end {
            return Ok(0);
        }
        if needle.is_empty() {
            return Ok(end.char - start.char + 1);
        }
        let pattern = PyPattern::literal(needle);
        self.walk(&pattern, MatchCursor::from_byte(start.byte), false, |walk| {
            let mut n_found = 0;
            while walk.next(false)?.is_some_and(|found| found.end <= end.byte) {
                n_found += 1;
            }
            Ok(n_found)
        })
    }

    /// `needle in text`
    pub fn contains(&self, needle: &str) -> Result<bool, TextError> {
        if needle.is_empty() {
            return Ok(true);
        }
        let pattern = PyPattern::literal(needle);
        self.walk(&pattern, MatchCursor::default(), false, |walk| Ok(walk.next(false)?.is_some()))
    }

    /// `text.startswith(needle)`
    pub fn starts_with(&self, needle: &str) -> Result<bool, TextError> {
        let end = self.floor_char((needle.chars().count() as u64 * 4).min(self.bytes()))?;
        Ok(self.fresh(self.masked(0..end)?)?.starts_with(needle))
    }

    /// `text.endswith(needle)`
    pub fn ends_with(&self, needle: &str) -> Result<bool, TextError> {
        let n_bytes = needle.chars().count() as u64 * 4;
        let tail = self.masked(self.floor_char(self.bytes().saturating_sub(n_bytes))?..self.bytes())?;
        self.fresh(tail.ends_with(needle))
    }

    /// `text.split(separator, maxsplit)` in batches of about `bytes_max` bytes. Without a separator it splits at
    /// whitespace; `splits_max` 0 means no limit.
    pub fn split(
        &self,
        separator: Option<&str>,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<TextBatch<String>, TextError> {
        match separator {
            None => self.split_blanks(splits_max, from, bytes_max),
            Some("") => Err(TextError::Value { message: "empty separator" }),
            Some(separator) => {
                let splits = self.re_split(&PyPattern::literal(separator), splits_max, from, bytes_max)?;
                Ok(TextBatch { items: splits.items.into_iter().flatten().collect(), next: splits.next })
            }
        }
    }

    fn split_blanks(
        &self,
        splits_max: u64,
        from: MatchCursor,
        bytes_max: u64,
    ) -> Result<TextBatch<String>, TextError> {
        let word = PyPattern::compile(r"\S+", Flags::NONE)?;
        self.walk(&word, from, true, |walk| {
            let (mut items, mut bytes) = (Vec::new(), 0);
            while bytes < bytes_max {
                let is_over = splits_max > 0 && walk.cursor.n_matches >= splits_max;
                let Some(found) = walk.next(false)? else { return Ok(TextBatch { items, next: None }) };
                if is_over {
                    items.push(walk.part(found.start..self.bytes())?);
                    return Ok(TextBatch { items, next: None });
                }
                let item = walk.hunt.group(0).unwrap_or_default().to_owned();
                bytes += item.len() as u64 + ITEM_BYTES;
                items.push(item);
            }
            Ok(TextBatch { items, next: Some(walk.cursor) })
        })
    }
}
