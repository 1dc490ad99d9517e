//! The prelude of a code file: its imports, which every chunk needs. What precedes them is not part of it.

use std::ops::Range;

use crate::lines::{is_blank, lines};

const LOOK_LINES_MAX: usize = 1000;

/// The maximum number of lines; later imports are left out.
const PRELUDE_LINES_MAX: usize = 100;

/// The span of the imports in whole lines, if there are any.
pub(in crate::split) fn prelude_of(text: &str, bytes_max: usize) -> Option<Range<usize>> {
    let mut inside = Inside::Nothing;
    let mut prelude: Option<Range<usize>> = None;
    let mut n_lines = 0;
    for (at, line) in lines(text).take(LOOK_LINES_MAX) {
        n_lines += usize::from(prelude.is_some());
        let bare = line.trim_ascii();
        let is_import = match inside {
            Inside::Comment(close) => {
                if contains(bare, close) {
                    inside = Inside::Nothing;
                }
                continue;
            }
            Inside::Import { .. } => true,
            Inside::Nothing => begins_import(bare),
        };
        if is_import {
            let range = prelude.get_or_insert(at..at);
            if n_lines >= PRELUDE_LINES_MAX || at + line.len() - range.start > bytes_max {
                break;
            }
            range.end = at + line.len();
            inside = inside.after_import(bare);
        } else if let Some(close) = opens_comment(bare) {
            inside = Inside::Comment(close);
        } else if !is_blank(line) && !is_passed_over(bare) {
            break;
        }
    }
    prelude.filter(|range| !range.is_empty())
}

#[derive(Clone, Copy)]
enum Inside {
    Nothing,
    /// A comment, until this closes it.
    Comment(&'static [u8]),
    /// An import, with this many brackets open.
    Import {
        depth: i64,
    },
}

impl Inside {
    fn after_import(self, bare: &[u8]) -> Self {
        let before = match self {
            Self::Import { depth } => depth,
            Self::Nothing | Self::Comment(_) => 0,
        };
        let depth = bare.iter().fold(before, |depth, byte| match byte {
            b'(' | b'{' => depth + 1,
            b')' | b'}' => depth - 1,
            _ => depth,
        });
        if depth > 0 { Self::Import { depth } } else { Self::Nothing }
    }
}

fn begins_import(bare: &[u8]) -> bool {
    const STARTS: &str = "import |import(|from |use |pub use |#include|#import|require |require(|require_relative |\
        using |package |extern crate |library(|open |@import |alias |source ";
    let is_binding = begins_with(bare, "const |let |var |local ");
    begins_with(bare, STARTS)
        || (is_binding
            && (contains(bare, b"require(") || contains(bare, b"require \"") || contains(bare, b"import(")))
}

/// The terminator of a comment or docstring that begins on this line and does not end on it.
fn opens_comment(bare: &[u8]) -> Option<&'static [u8]> {
    const PAIRS: [(&[u8], &[u8]); 9] = [
        (b"/*", b"*/"),
        (b"<!--", b"-->"),
        (b"r\"\"\"", b"\"\"\""),
        (b"\"\"\"", b"\"\"\""),
        (b"'''", b"'''"),
        (b"{-", b"-}"),
        (b"--[[", b"]]"),
        (b"=begin", b"=end"),
        (b"(*", b"*)"),
    ];
    let (open, close) = PAIRS.iter().find(|(open, _)| bare.starts_with(open))?;
    let rest = bare.get(open.len()..).unwrap_or_default();
    (!contains(rest, close)).then_some(*close)
}

/// Comments and other lines that may precede or separate imports.
fn is_passed_over(bare: &[u8]) -> bool {
    const STARTS: &str = "#|//|--|;|%|*|/*|\"\"\"|'''|\"use |'use |<?php|{-|(*|declare(|@file:|extern ";
    begins_with(bare, STARTS)
}

/// Whether a line begins with one of these, which are separated by `|`.
fn begins_with(bare: &[u8], starts: &str) -> bool {
    starts.split('|').any(|start| bare.starts_with(start.as_bytes()))
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    memchr::memmem::find(haystack, needle).is_some()
}
