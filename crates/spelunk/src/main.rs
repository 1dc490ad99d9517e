//! The spelunk program.

fn main() {}
