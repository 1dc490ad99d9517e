//! Compares the index with a naive count, at the edges of blocks.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::{BLOCK_BYTES, LineIndex};
use crate::ReadError;

fn index_of(text: &[u8], threads: usize) -> LineIndex {
    LineIndex::build(text.len() as u64, NonZeroUsize::new(threads).unwrap(), &reading(text)).unwrap()
}

fn reading(text: &[u8]) -> impl Fn(Range<u64>, &mut Vec<u8>) -> Result<(), ReadError> + Sync {
    |range, buffer| {
        let range = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
        buffer.clear();
        buffer.extend_from_slice(&text[range]);
        Ok(())
    }
}

#[test]
fn a_final_newline_begins_no_further_line() {
    assert_eq!(index_of(b"", 1).n_lines, 0);
    assert_eq!(index_of(b"\n", 1).n_lines, 1);
    assert_eq!(index_of(b"a", 1).n_lines, 1);
    assert_eq!(index_of(b"a\n", 1).n_lines, 1);
    assert_eq!(index_of(b"a\nb", 1).n_lines, 2);
    assert_eq!(index_of(b"a\n\n", 1).n_lines, 2);
}

#[test]
fn lines_are_found_across_blocks_whatever_the_number_of_threads() {
    let block = usize::try_from(BLOCK_BYTES).unwrap();
    // Line ends at the last byte of a block and at the first of the next, and a line across two blocks.
    let mut text = vec![b'x'; 4 * block + 5];
    for at in [3, block - 1, block, 3 * block + 1, 4 * block] {
        text[at] = b'\n';
    }
    let starts = [0, 4, block, block + 1, 3 * block + 2, 4 * block + 1, 4 * block + 5];
    for threads in [1, 2, 3, 8] {
        let index = index_of(&text, threads);
        let found: Vec<u64> = (0..=6).map(|idx| index.start_of(idx, &reading(&text)).unwrap()).collect();
        assert_eq!((index.n_lines, found), (6, starts.map(|start| start as u64).to_vec()));
        assert_eq!(index, index_of(&text, 1));
    }
}

#[test]
fn the_index_is_as_long_as_the_text_has_blocks_even_if_all_of_it_is_line_ends() {
    let text = vec![b'\n'; 3 * usize::try_from(BLOCK_BYTES).unwrap()];
    let index = index_of(&text, 2);
    assert_eq!(index.n_lines, 3 * BLOCK_BYTES);
    assert_eq!(index.ends_before, [0, BLOCK_BYTES, 2 * BLOCK_BYTES]);
    assert_eq!(index.start_of(BLOCK_BYTES + 7, &reading(&text)).unwrap(), BLOCK_BYTES + 7);
}
