//! Hostile text for the code that takes text apart. A target is a function of bytes that panics where an invariant does
//! not hold; [`TARGETS`] lists them all. The binary of this crate feeds them mutated samples on stable Rust. With
//! `cargo fuzz` on nightly, the whole of a target file is:
//!
//! ```text
//! #![no_main]
//! libfuzzer_sys::fuzz_target!(|data: &[u8]| spelunk_fuzz::splitters(data));
//! ```

mod cells;
mod choice;
mod detectors;
mod mutate;
mod plans;
mod splitters;

pub use cells::cells;
pub use detectors::detectors;
pub use mutate::Mutator;
pub use plans::{plans, structures};
pub use splitters::splitters;

/// A function that panics where an invariant does not hold.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 5] = [
    ("splitters", splitters),
    ("detectors", detectors),
    ("plans", plans),
    ("structures", structures),
    ("cells", cells),
];

#[cfg(test)]
mod tests;
