//! Patterns against what Python 3.11 said about them.

mod python;
mod windows;
