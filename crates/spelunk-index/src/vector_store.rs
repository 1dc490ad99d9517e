//! Vectors on disk: a row of int8 and its scale for each distinct text, in append-only files of 65,536 rows. A row is
//! found by its key, the hash of its text and model, so no text is embedded twice. Each complete file has a file of
//! signs, one bit per number: a scan compares the signs, an eighth of the size, and computes the similarity only for
//! the nearest rows. It holds at most one block per thread.

use std::cmp::{Ordering, Reverse};
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufWriter, Seek as _, SeekFrom, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};

use spelunk_fs::if_there;

use crate::files;

pub(crate) const SHARD_ROWS: u32 = 1 << 16;

const KEY_BYTES: usize = 16;
const SCALE_BYTES: usize = 4;
const BLOCK_ROWS: u32 = 1 << 12;

/// How many rows with the nearest signs are compared in full: at least, and per wanted row. Of 585,000 rows (source
/// code, 60 questions), they include 99.7 % of the ten nearest and 98.3 % of the fifty nearest.
const BY_SIGNS_MIN: usize = 4096;
const BY_SIGNS_EACH: usize = 16;

/// Threads of a scan. More would only compete for memory bandwidth.
const THREADS_MAX: usize = 4;

pub(crate) type Key = [u8; KEY_BYTES];

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

    /// For every byte of signs, what each of its values adds to the dot product with the signs.
    fn sign_products(&self) -> Vec<[i32; 256]> {
        let product = |eight: &[u8], signs: u8| {
            let signed = eight.iter().zip(0..).map(|(number, bit)| {
                let number = i32::from(number.cast_signed());
                if signs >> bit & 1 == 1 { -number } else { number }
            });
            signed.sum()
        };
        let table =
            |eight: &[u8]| std::array::from_fn(|signs| product(eight, u8::try_from(signs).unwrap_or(0)));
        self.numbers.chunks(8).map(table).collect()
    }

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

#[derive(Debug, Clone)]
pub(crate) struct Rows {
    directory: PathBuf,
    dimensions: usize,
    pub(crate) len: u32,
}

fn signs(numbers: &[u8]) -> impl Iterator<Item = u8> {
    numbers
        .chunks(8)
        .map(|eight| eight.iter().zip(0..).fold(0, |bits, (number, bit)| bits | (number >> 7) << bit))
}

/// What a thread found: rows by their signs' product, or by similarity if they have no signs.
#[derive(Debug, Default)]
struct Found {
    by_signs: Vec<(Reverse<i32>, u32)>,
    near: Vec<NearRow>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearRow {
    pub(crate) row: u32,
    pub(crate) similarity: f32,
}

impl Rows {
    pub(crate) fn new(directory: PathBuf, dimensions: usize, n_rows: u32) -> Self {
        Self { directory, dimensions, len: n_rows }
    }

    pub(crate) fn found_in(directory: &Path, dimensions: usize) -> io::Result<Option<Self>> {
        let mut rows = Self::new(directory.to_owned(), dimensions, 0);
        let names = files::names(directory)?;
        for shard in 0..u32::try_from(names.len()).unwrap_or(u32::MAX) {
            let (rows_path, keys_path) = (rows.path("rows", shard), rows.path("keys", shard));
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

    pub(crate) fn file_names(&self) -> impl Iterator<Item = String> {
        let signs = (0..self.len / SHARD_ROWS).map(|shard| format!("signs-{shard:05}.bin"));
        (0..self.len.div_ceil(SHARD_ROWS))
            .flat_map(|shard| [format!("rows-{shard:05}.bin"), format!("keys-{shard:05}.bin")])
            .chain(signs)
    }

    fn row_bytes(&self) -> usize {
        SCALE_BYTES + self.dimensions
    }

    fn path(&self, what: &str, shard: u32) -> PathBuf {
        self.directory.join(format!("{what}-{shard:05}.bin"))
    }

    fn sign_bytes(&self) -> usize {
        self.dimensions.div_ceil(8)
    }

    fn write_signs(&self, shard: u32) -> io::Result<()> {
        let bytes_max = u64::from(SHARD_ROWS) * self.row_bytes() as u64;
        let rows = files::read_whole(&self.path("rows", shard), bytes_max)?.unwrap_or_default();
        let rows = rows.chunks_exact(self.row_bytes());
        let signs: Vec<u8> = rows.flat_map(|row| signs(row.get(SCALE_BYTES..).unwrap_or_default())).collect();
        files::replace(&self.path("signs", shard), &signs)
    }

    pub(crate) fn load_keys(&self) -> io::Result<HashMap<Key, u32>> {
        let mut keys = HashMap::with_capacity(self.len as usize);
        for shard in 0..self.len.div_ceil(SHARD_ROWS) {
            let bytes_max = u64::from(SHARD_ROWS) * KEY_BYTES as u64;
            let bytes = files::read_whole(&self.path("keys", shard), bytes_max)?.unwrap_or_default();
            let first = shard * SHARD_ROWS;
            let n_here = (self.len - first).min(SHARD_ROWS);
            keys.extend(bytes.as_chunks::<KEY_BYTES>().0.iter().copied().zip(first..first + n_here));
        }
        Ok(keys)
    }

    pub(crate) fn read(&self, row: u32) -> io::Result<Option<Quantised>> {
        if row >= self.len {
            return Ok(None);
        }
        let mut bytes = vec![0; self.row_bytes()];
        let file = files::open(&self.path("rows", row / SHARD_ROWS))?;
        let is_there = files::read_at(&file, &mut bytes, self.offset_of(row))?;
        let (scale, numbers) = bytes.split_at(SCALE_BYTES);
        let scale = scale.try_into().map_or(0.0, f32::from_le_bytes);
        Ok(is_there.then(|| Quantised { scale, numbers: numbers.into() }))
    }

    fn offset_of(&self, row: u32) -> u64 {
        u64::from(row % SHARD_ROWS) * self.row_bytes() as u64
    }

    /// The nearest wanted rows, nearest first; ties go to the row that was added first. Among many
    /// rows, one whose signs are not near may be missed.
    pub(crate) fn scan(
        &self,
        query: &Quantised,
        wanted: &(dyn Fn(u32) -> bool + Sync),
        n_max: usize,
    ) -> io::Result<Vec<NearRow>> {
        let n_shards = self.len.div_ceil(SHARD_ROWS);
        let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_threads = n_cores.min(THREADS_MAX).min(n_shards as usize);
        let (next, products) = (AtomicU32::new(0), query.sign_products());
        let by_signs_max = BY_SIGNS_MIN.max(n_max.saturating_mul(BY_SIGNS_EACH));
        let work = || {
            let mut found = Found::default();
            loop {
                // Starts with the last shard, which takes longest if it is incomplete.
                let Some(shard) = n_shards.checked_sub(next.fetch_add(1, Relaxed) + 1) else {
                    return Ok(found);
                };
                // Once there are enough, only nearer ones count.
                let is_full = found.by_signs.len() >= by_signs_max;
                let last = found.by_signs.iter().map(|(product, _)| product.0).min();
                let product_min = last.filter(|_| is_full).unwrap_or(i32::MIN);
                if !self.scan_signs(shard, (&products, product_min), wanted, &mut found.by_signs)? {
                    self.scan_shard(shard, query, wanted, &mut found.near)?;
                }
                keep_first(&mut found.by_signs, by_signs_max, Ord::cmp);
                keep_first(&mut found.near, n_max, |a, b| a.order(*b));
            }
        };
        let mut all = Found::default();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
            for thread in threads {
                let found: io::Result<Found> =
                    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let Found { by_signs, near } = found?;
                all.by_signs.extend(by_signs);
                all.near.extend(near);
            }
            io::Result::Ok(())
        })?;
        let Found { mut by_signs, mut near } = all;
        keep_first(&mut by_signs, by_signs_max, Ord::cmp);
        let mut rows: Vec<u32> = by_signs.into_iter().map(|(_, row)| row).collect();
        rows.sort_unstable();
        for of_shard in rows.chunk_by(|a, b| a / SHARD_ROWS == b / SHARD_ROWS) {
            self.compare(of_shard, query, &mut near)?;
        }
        keep_first(&mut near, n_max, |a, b| a.order(*b));
        near.sort_unstable_by(|a, b| a.order(*b));
        Ok(near)
    }

    /// Scans the signs of a complete file; `false` if there are none, as in an older index.
    fn scan_signs(
        &self,
        shard: u32,
        (products, product_min): (&[[i32; 256]], i32),
        wanted: &(dyn Fn(u32) -> bool + Sync),
        near: &mut Vec<(Reverse<i32>, u32)>,
    ) -> io::Result<bool> {
        let first = shard * SHARD_ROWS;
        if self.len - first < SHARD_ROWS {
            return Ok(false);
        }
        let Some(file) = if_there(files::open(&self.path("signs", shard)))? else { return Ok(false) };
        let product =
            |signs: &[u8]| products.iter().zip(signs).map(|(of, byte)| of[usize::from(*byte)]).sum();
        let mut block = vec![0; BLOCK_ROWS as usize * self.sign_bytes()];
        for row_start in (first..first + SHARD_ROWS).step_by(BLOCK_ROWS as usize) {
            let at = u64::from(row_start - first) * self.sign_bytes() as u64;
            if !files::read_at(&file, &mut block, at)? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let rows = (row_start..).zip(block.chunks_exact(self.sign_bytes()));
            let rows = rows.map(|(row, signs)| (Reverse(product(signs)), row));
            near.extend(rows.filter(|(product, row)| product.0 >= product_min && wanted(*row)));
        }
        Ok(true)
    }

    /// Computes the similarities of some rows of one file.
    fn compare(&self, rows: &[u32], query: &Quantised, near: &mut Vec<NearRow>) -> io::Result<()> {
        let Some(first) = rows.first() else { return Ok(()) };
        let file = files::open(&self.path("rows", first / SHARD_ROWS))?;
        let mut bytes = vec![0; self.row_bytes()];
        for row in rows {
            if !files::read_at(&file, &mut bytes, self.offset_of(*row))? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            near.push(NearRow { row: *row, similarity: similarity_of(query, &bytes) });
        }
        Ok(())
    }

    fn scan_shard(
        &self,
        shard: u32,
        query: &Quantised,
        wanted: &(dyn Fn(u32) -> bool + Sync),
        near: &mut Vec<NearRow>,
    ) -> io::Result<()> {
        let file = files::open(&self.path("rows", shard))?;
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
                    near.push(NearRow { row, similarity: similarity_of(query, bytes) });
                }
            }
        }
        Ok(())
    }

    /// Opens for appending. Rows added after the last commit are truncated.
    pub(crate) fn append(&self) -> io::Result<Appender> {
        files::make_directory(&self.directory)?;
        let names = files::names(&self.directory)?;
        for shard in 0..self.len / SHARD_ROWS {
            let path = self.path("signs", shard);
            if !names.iter().any(|name| path.ends_with(name)) {
                self.write_signs(shard)?;
            }
        }
        let mut appender = Appender { rows: self.clone(), open: None };
        if !self.len.is_multiple_of(SHARD_ROWS) {
            appender.open_shard()?;
        }
        Ok(appender)
    }
}

fn similarity_of(query: &Quantised, row: &[u8]) -> f32 {
    let (scale, numbers) = row.split_at(SCALE_BYTES);
    similarity(query, scale.try_into().map_or(0.0, f32::from_le_bytes), numbers)
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

fn keep_first<T>(items: &mut Vec<T>, n_max: usize, order: impl Fn(&T, &T) -> Ordering) {
    if items.len() > n_max {
        items.select_nth_unstable_by(n_max, order);
        items.truncate(n_max);
    }
}

#[derive(Debug)]
pub(crate) struct Appender {
    pub(crate) rows: Rows,
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
            self.rows.write_signs(row / SHARD_ROWS)?;
        }
        Ok(Some(row))
    }

    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if let Some((rows, keys)) = &mut self.open {
            rows.flush()?;
            keys.flush()?;
            rows.get_ref().sync_data()?;
            keys.get_ref().sync_data()?;
        }
        Ok(())
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
        let rows = open(&self.rows.path("rows", shard), n_here * self.rows.row_bytes() as u64)?;
        let keys = open(&self.rows.path("keys", shard), n_here * KEY_BYTES as u64)?;
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

    pub(crate) fn old_vector(&self, key: &Key) -> Option<Quantised> {
        let (keys, rows) = self.old.as_ref()?;
        rows.read(*keys.get(key)?).ok().flatten()
    }
}

#[cfg(test)]
mod tests;
