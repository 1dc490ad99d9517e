//! The driver as a program.
#![expect(clippy::unwrap_used, reason = "tests stop at the first surprise")]

mod driver;
