//! The size of the terminal. Output to a file or a pipe has no width and is not wrapped.

use std::borrow::Cow;
use std::io;

use crate::units::wrapped;

/// Narrower terminals are treated as this wide.
const WIDTH_MIN: usize = 40;

/// The width of standard output in columns, if it is a terminal.
pub fn stdout_width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(io::stdout()))
}

pub fn stderr_width() -> Option<usize> {
    columns(terminal_size::terminal_size_of(io::stderr()))
}

fn columns(size: Option<(terminal_size::Width, terminal_size::Height)>) -> Option<usize> {
    size.map(|(width, _)| usize::from(width.0).max(WIDTH_MIN))
}

pub fn fitted(text: &str, width: Option<usize>) -> Cow<'_, str> {
    width.map_or(Cow::Borrowed(text), |width| Cow::Owned(wrapped(text, width)))
}
