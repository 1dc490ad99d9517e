//! Compares patterns with the results of Python 3.11.

mod python;
mod windows;
