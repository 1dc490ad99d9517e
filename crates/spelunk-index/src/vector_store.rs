//! Vectors on disk: a row of int8 and its scale for each distinct text, in append-only files of 65,536 rows. A row is
//! found by its key, the hash of its text and model, so no text is embedded twice. A scan reads the rows in blocks and
//! holds at most one block and the similarities of one file per thread.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use crate::files;

/// Rows per file.
pub(crate) const SHARD_ROWS: u32 = 1 << 16;

const KEY_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;

/// Rows read at a time.
const BLOCK_ROWS: u32 = 1 << 12;

/// Threads of a scan. More would only compete for memory bandwidth.
const THREADS_MAX: usize = 4;

/// The key of a row.
pub(crate) type Key = [u8; KEY_BYTES];

/// A quantised vector.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Quantised {
    pub(crate) scale: f32,
    pub(crate) numbers: Box<[u8]>,
}

impl Quantised {
    pub(crate) fn of(vector: &[f32]) -> Self {
        let (scale, numbers) = crate::embed::quantise(vector);
        Self { scale, numbers: numbers.collect() }
    }

    /// The similarity of two vectors.
    pub(crate) fn similarity(&self, other: &Self) -> f32 {
        similarity(other, self.scale, &self.numbers)
    }
}

/// The key of a text under a model.
pub(crate) fn key_of(embedder_id: &str, text: &str) -> Key {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(embedder_id.len() as u64).to_le_bytes());
    hasher.update(embedder_id.as_bytes());
    hasher.update(text.as_bytes());
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&hasher.finalize().as_bytes()[..KEY_BYTES]);
    key
}

/// The rows of one model.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    directory: PathBuf,
    dimensions: usize,
    len: u32,
}

/// A row and its similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearRow {
    pub(crate) row: u32,
    pub(crate) similarity: f32,
}

impl Rows {
    pub(crate) fn new(directory: PathBuf, dimensions: usize, n_rows: u32) -> Self {
        Self { directory, dimensions, len: n_rows }
    }

    /// The complete rows in a directory, whatever they are.
    pub(crate) fn found_in(directory: &Path, dimensions: usize) -> io::Result<Option<Self>> {
        let mut rows = Self::new(directory.to_owned(), dimensions, 0);
        let names = files::names(directory)?;
        for shard in 0..u32::try_from(names.len()).unwrap_or(u32::MAX) {
            let (rows_path, keys_path) = (rows.rows_path(shard), rows.keys_path(shard));
            if !names.iter().any(|name| rows_path.ends_with(name)) {
                break;
            }
            let n_rows = files::stamp(&rows_path)?.bytes / rows.row_bytes() as u64;
            let n_keys = files::stamp(&keys_path)?.bytes / KEY_BYTES as u64;
            let n_here = u32::try_from(n_rows.min(n_keys)).unwrap_or(u32::MAX).min(SHARD_ROWS);
            rows.len += n_here;
            if n_here < SHARD_ROWS {
                break;
            }
        }
        Ok((rows.len > 0).then_some(rows))
    }

    pub(crate) fn n_rows(&self) -> u32 {
        self.len
    }

    /// The names of its files.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = String> {
        (0..self.len.div_ceil(SHARD_ROWS))
            .flat_map(|shard| [format!("rows-{shard:05}.bin"), format!("keys-{shard:05}.bin")])
    }

    fn row_bytes(&self) -> usize {
        SCALE_BYTES + self.dimensions
    }

    fn rows_path(&self, shard: u32) -> PathBuf {
        self.directory.join(format!("rows-{shard:05}.bin"))
    }

    fn keys_path(&self, shard: u32) -> PathBuf {
        self.directory.join(format!("keys-{shard:05}.bin"))
    }

    /// Every key with its row.
    pub(crate) fn load_keys(&self) -> io::Result<HashMap<Key, u32>> {
        let mut keys = HashMap::with_capacity(self.len as usize);
        for shard in 0..self.len.div_ceil(SHARD_ROWS) {
            let bytes_max = u64::from(SHARD_ROWS) * KEY_BYTES as u64;
            let bytes = files::read_whole(&self.keys_path(shard), bytes_max)?.unwrap_or_default();
            let first = shard * SHARD_ROWS;
            let n_here = (self.len - first).min(SHARD_ROWS);
            keys.extend(bytes.as_chunks::<KEY_BYTES>().0.iter().copied().zip(first..first + n_here));
        }
        Ok(keys)
    }

    /// Reads one row in place.
    pub(crate) fn read(&self, row: u32) -> io::Result<Option<Quantised>> {
        if row >= self.len {
            return Ok(None);
        }
        let mut bytes = vec![0; self.row_bytes()];
        let file = files::open(&self.rows_path(row / SHARD_ROWS))?;
        let is_there = files::read_at(&file, &mut bytes, self.offset_of(row))?;
        let (scale, numbers) = bytes.split_at(SCALE_BYTES);
        let scale = scale.try_into().map_or(0.0, f32::from_le_bytes);
        Ok(is_there.then(|| Quantised { scale, numbers: numbers.into() }))
    }

    fn offset_of(&self, row: u32) -> u64 {
        u64::from(row % SHARD_ROWS) * self.row_bytes() as u64
    }

    /// The nearest of the wanted rows, nearest first; ties go to the row that was added first.
    pub(crate) fn scan(
        &self,
        query: &Quantised,
        wanted: &(dyn Fn(u32) -> bool + Sync),
        n_max: usize,
    ) -> io::Result<Vec<NearRow>> {
        let n_shards = self.len.div_ceil(SHARD_ROWS);
        let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_threads = n_cores.min(THREADS_MAX).min(n_shards as usize);
        let next = AtomicU32::new(0);
        let work = || {
            let mut near = Vec::new();
            loop {
                let shard = next.fetch_add(1, Relaxed);
                if shard >= n_shards {
                    return Ok(near);
                }
                self.scan_shard(shard, query, wanted, &mut near)?;
                keep_nearest(&mut near, n_max);
            }
        };
        let mut near: Vec<NearRow> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            let mut near = Vec::new();
            for thread in threads {
                let found: io::Result<Vec<NearRow>> =
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                near.extend(found?);
            }
            io::Result::Ok(near)
        })?;
        keep_nearest(&mut near, n_max);
        near.sort_unstable_by(|a, b| a.order(*b));
        Ok(near)
    }

    fn scan_shard(
        &self,
        shard: u32,
        query: &Quantised,
        wanted: &(dyn Fn(u32) -> bool + Sync),
        near: &mut Vec<NearRow>,
    ) -> io::Result<()> {
        let file = files::open(&self.rows_path(shard))?;
        let first = shard * SHARD_ROWS;
        let n_here = (self.len - first).min(SHARD_ROWS);
        let mut block = Vec::new();
        let mut done = 0;
        while done < n_here {
            let n_block = (n_here - done).min(BLOCK_ROWS);
            let rows = first + done..first + done + n_block;
            done += n_block;
            if !rows.clone().any(wanted) {
                continue;
            }
            block.resize(n_block as usize * self.row_bytes(), 0);
            if !files::read_at(&file, &mut block, self.offset_of(rows.start))? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            for (row, bytes) in rows.zip(block.chunks_exact(self.row_bytes())) {
                if wanted(row) {
                    let (scale, numbers) = bytes.split_at(SCALE_BYTES);
                    let scale = scale.try_into().map_or(0.0, f32::from_le_bytes);
                    near.push(NearRow { row, similarity: similarity(query, scale, numbers) });
                }
            }
        }
        Ok(())
    }

    /// Opens for appending. Rows added after the last commit are truncated.
    pub(crate) fn append(&self) -> io::Result<Appender> {
        files::make_directory(&self.directory)?;
        let mut appender = Appender { rows: self.clone(), open: None };
        if !self.len.is_multiple_of(SHARD_ROWS) {
            appender.open_shard()?;
        }
        Ok(appender)
    }
}

/// The dot product of two vectors, which is the cosine similarity if both have length 1.
fn similarity(query: &Quantised, scale: f32, numbers: &[u8]) -> f32 {
    let mut sum = 0_i32;
    for (a, b) in query.numbers.iter().zip(numbers) {
        sum += i32::from(i16::from(a.cast_signed()) * i16::from(b.cast_signed()));
    }
    #[expect(clippy::cast_precision_loss, reason = "a similarity needs no seventh digit")]
    let sum = sum as f32;
    sum * query.scale * scale
}

impl NearRow {
    /// The nearest first; equally near rows are ordered by when they were added.
    fn order(self, other: Self) -> Ordering {
        other.similarity.total_cmp(&self.similarity).then(self.row.cmp(&other.row))
    }
}

fn keep_nearest(near: &mut Vec<NearRow>, n_max: usize) {
    if near.len() > n_max {
        near.select_nth_unstable_by(n_max, |a, b| a.order(*b));
        near.truncate(n_max);
    }
}

/// Appends rows.
#[derive(Debug)]
pub(crate) struct Appender {
    rows: Rows,
    open: Option<(BufWriter<File>, BufWriter<File>)>,
}

impl Appender {
    /// Appends a row; returns its number, or `None` if there are too many.
    pub(crate) fn add(&mut self, key: &Key, vector: &Quantised) -> io::Result<Option<u32>> {
        let row = self.rows.len;
        let Some(n_rows) = row.checked_add(1) else { return Ok(None) };
        if self.open.is_none() {
            self.open_shard()?;
        }
        if let Some((rows, keys)) = &mut self.open {
            rows.write_all(&vector.scale.to_le_bytes())?;
            rows.write_all(&vector.numbers)?;
            keys.write_all(key)?;
        }
        self.rows.len = n_rows;
        if n_rows.is_multiple_of(SHARD_ROWS) {
            self.sync()?;
            self.open = None;
        }
        Ok(Some(row))
    }

    /// Makes everything added so far durable.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if let Some((rows, keys)) = &mut self.open {
            rows.flush()?;
            keys.flush()?;
            rows.get_ref().sync_data()?;
            keys.get_ref().sync_data()?;
        }
        Ok(())
    }

    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    fn open_shard(&mut self) -> io::Result<()> {
        let shard = self.rows.len / SHARD_ROWS;
        let n_here = u64::from(self.rows.len % SHARD_ROWS);
        let open = |path: &Path, bytes: u64| {
            let mut file = files::open_private(path)?;
            file.set_len(bytes)?;
            file.seek(SeekFrom::End(0))?;
            io::Result::Ok(BufWriter::with_capacity(1 << 18, file))
        };
        let rows = open(&self.rows.rows_path(shard), n_here * self.rows.row_bytes() as u64)?;
        let keys = open(&self.rows.keys_path(shard), n_here * KEY_BYTES as u64)?;
        self.open = Some((rows, keys));
        Ok(())
    }
}

/// Texts that already have a vector: in the rows of an index, or of one that it replaces. Shared by threads.
#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    rows: RwLock<HashMap<Key, u32>>,
    old: Option<(HashMap<Key, u32>, Rows)>,
}

impl VectorCache {
    /// Loads the rows of an index, and those in the directory of its predecessor.
    pub(crate) fn load(rows: &Rows, old_directory: &Path) -> io::Result<Self> {
        let old = Rows::found_in(old_directory, rows.dimensions)?;
        let old = old.map(|old| io::Result::Ok((old.load_keys()?, old))).transpose()?;
        Ok(Self { rows: RwLock::new(rows.load_keys()?), old })
    }

    pub(crate) fn row(&self, key: &Key) -> Option<u32> {
        self.rows.read().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    pub(crate) fn insert(&self, key: Key, row: u32) {
        self.rows.write().unwrap_or_else(PoisonError::into_inner).insert(key, row);
    }

    /// A vector that need not be computed again. One that cannot be read is computed again.
    pub(crate) fn old_vector(&self, key: &Key) -> Option<Quantised> {
        let (keys, rows) = self.old.as_ref()?;
        rows.read(*keys.get(key)?).ok().flatten()
    }
}

#[cfg(test)]
mod tests;
