//! The line index of a document: for each block of bytes, the number of lines that begin before it. Its size depends on
//! the number of blocks, not on the lines: 32 kB for a gigabyte. Finding a line reads one block.

use std::num::NonZeroUsize;
use std::ops::Range;

use super::ReadError;

/// Small enough to read for a single line, large enough to keep the index short.
pub(crate) const BLOCK_BYTES: u64 = 256 * 1024;

/// Reads the bytes of one range, at most a block, into the buffer.
pub(crate) type ReadRange<'a> = dyn Fn(Range<u64>, &mut Vec<u8>) -> Result<(), ReadError> + Sync + 'a;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LineIndex {
    /// Line ends before each block.
    ends_before: Vec<u64>,
    bytes: u64,
    /// A final newline ends the last line and begins none.
    pub(crate) n_lines: u64,
}

impl LineIndex {
    pub(crate) fn build(bytes: u64, threads: NonZeroUsize, read: &ReadRange<'_>) -> Result<Self, ReadError> {
        let mut counts = in_shares(0..bytes.div_ceil(BLOCK_BYTES), threads, &|blocks| {
            let (mut counts, mut block) = (Vec::new(), Vec::new());
            for idx in blocks {
                let from = idx * BLOCK_BYTES;
                read(from..(from + BLOCK_BYTES).min(bytes), &mut block)?;
                counts.push(memchr::memchr_iter(b'\n', &block).count() as u64);
            }
            Ok(counts)
        })?;
        let mut last = Vec::new();
        read(bytes.saturating_sub(1)..bytes, &mut last)?;
        let n_unended = u64::from(last.last().is_some_and(|&last| last != b'\n'));
        let mut n_ends = 0;
        for count in &mut counts {
            n_ends += std::mem::replace(count, n_ends);
        }
        Ok(Self { ends_before: counts, bytes, n_lines: n_ends + n_unended })
    }

    /// The offset at which a line, counted from 0, begins; the end of the document for the line after the last.
    pub(crate) fn start_of(&self, line_idx: u64, read: &ReadRange<'_>) -> Result<u64, ReadError> {
        if line_idx == 0 {
            return Ok(0);
        }
        if line_idx >= self.n_lines {
            return Ok(self.bytes);
        }
        // The line begins after the `line_idx`-th line end, which is in the last block with fewer line ends before it.
        let block_idx = self.ends_before.partition_point(|&ends| ends < line_idx) - 1;
        let from = block_idx as u64 * BLOCK_BYTES;
        let mut block = Vec::new();
        read(from..(from + BLOCK_BYTES).min(self.bytes), &mut block)?;
        let nth = usize::try_from(line_idx - self.ends_before[block_idx] - 1).unwrap_or(usize::MAX);
        let end = memchr::memchr_iter(b'\n', &block).nth(nth);
        Ok(end.map_or(self.bytes, |end| from + end as u64 + 1))
    }

    /// The line, counted from 0, that contains an offset. The end of a document after its last line end is in no line.
    pub(crate) fn line_at(&self, at: u64, read: &ReadRange<'_>) -> Result<u64, ReadError> {
        let at = at.min(self.bytes);
        let Some(block_idx) =
            usize::try_from(at / BLOCK_BYTES).ok().filter(|idx| *idx < self.ends_before.len())
        else {
            return Ok(self.n_lines);
        };
        let mut block = Vec::new();
        read(block_idx as u64 * BLOCK_BYTES..at, &mut block)?;
        Ok(self.ends_before[block_idx] + memchr::memchr_iter(b'\n', &block).count() as u64)
    }
}

/// Splits blocks among the threads, and concatenates what `count` returns for each share.
pub(crate) fn in_shares<T: Send>(
    blocks: Range<u64>,
    threads: NonZeroUsize,
    count: &(dyn Fn(Range<u64>) -> Result<Vec<T>, ReadError> + Sync),
) -> Result<Vec<T>, ReadError> {
    let n_threads = threads.get() as u64;
    if n_threads == 1 {
        return count(blocks);
    }
    let share = (blocks.end - blocks.start).div_ceil(n_threads);
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..n_threads)
            .map(|idx| (blocks.start + idx * share).min(blocks.end))
            .map(|first| scope.spawn(move || count(first..(first + share).min(blocks.end))))
            .collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().expect("counting does not panic")?);
        }
        Ok(all)
    })
}

#[cfg(test)]
mod tests;
