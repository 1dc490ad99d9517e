//! Private parsers, exposed for the fuzz targets only; not a stable API.

pub use crate::journal::read_lines;
pub use crate::line::{read as read_line, seal, write};
