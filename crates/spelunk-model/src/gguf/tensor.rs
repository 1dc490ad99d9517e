//! Tensors: where the weights of a file are, and so the minimum length of a complete file. This
//! detects an interrupted download before llama.cpp reads past the end.

use std::io::Read;

use super::{GgufError, Input};

const DIMENSIONS_MAX: u32 = 8;

/// The minimum size of a file whose tensor list begins here.
pub(super) fn bytes_min<R: Read>(
    input: &mut Input<R>,
    n_tensors: u64,
    alignment_bytes: u64,
) -> Result<u64, GgufError> {
    let mut end = 0_u64;
    for _ in 0..n_tensors {
        let name_bytes = input.name_bytes()?;
        input.skip(name_bytes)?;
        end = end.max(tensor_end(input)?);
    }
    let begin = input.position();
    if end == 0 {
        return Ok(begin);
    }
    let too_long = || GgufError::Damaged { what: "a tensor is too large" };
    begin
        .checked_next_multiple_of(alignment_bytes)
        .and_then(|begin| begin.checked_add(end))
        .ok_or_else(too_long)
}

/// Where a tensor ends, relative to the start of the tensor data.
fn tensor_end<R: Read>(input: &mut Input<R>) -> Result<u64, GgufError> {
    let too_long = || GgufError::Damaged { what: "a tensor is too large" };
    let n_dimensions = u32::from_le_bytes(input.bytes()?);
    if n_dimensions > DIMENSIONS_MAX {
        return Err(GgufError::Damaged { what: "a tensor has more than 8 dimensions" });
    }
    let mut n_elements = 1_u64;
    for _ in 0..n_dimensions {
        n_elements = n_elements.checked_mul(input.number()?).ok_or_else(too_long)?;
    }
    let (elements, bytes) = block(u32::from_le_bytes(input.bytes()?));
    let offset = input.number()?;
    let n_bytes = n_elements.div_ceil(elements).checked_mul(bytes).ok_or_else(too_long)?;
    offset.checked_add(n_bytes).ok_or_else(too_long)
}

/// How many elements of this type are packed into how many bytes. An unknown type counts as zero
/// bytes: llama.cpp knows more types than this list.
fn block(kind: u32) -> (u64, u64) {
    match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        24 => (1, 1),
        27 | 28 => (1, 8),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        39 => (32, 17),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        34 => (256, 54),
        _ => (1, 0),
    }
}
