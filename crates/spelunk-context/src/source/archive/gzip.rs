//! Gzip: one compressed stream, which is a file or a tar. Consecutive members form one stream.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use super::{Stop, Torn, Unpacking, tar};
use crate::name;
use crate::unpack_limits::UnpackLimits;

/// Unpacks a file into one document, named like the archive without its last extension, up to any damage.
pub(super) fn unpack_one(path: &Path, unpacking: &mut Unpacking<'_>) -> Result<(), Stop> {
    let (mut input, packed) = open(path)?;
    // The first byte decides: a file that is not gzip at all has no entry.
    let mut first = [0; 1];
    let n_first = input.read(&mut first).map_err(Stop::Damaged)?;
    let archive = name::file_name(unpacking.archive);
    let inner = archive.rsplit_once('.').map_or(archive, |(stem, _)| stem).to_owned();
    let Some(relative) = unpacking.admit(&inner)? else { return Ok(()) };
    let mut input = first[..n_first].chain(input);
    unpacking.keep(relative, &mut input, &|| packed.get(), Torn::Keep)
}

pub(super) fn unpack_tar(path: &Path, unpacking: &mut Unpacking<'_>) -> Result<(), Stop> {
    let (input, packed) = open(path)?;
    let input = Bounded { input, packed, unpacked: 0, limits: unpacking.limits };
    tar::unpack_stream(input, unpacking)
}

type Packed = Rc<Cell<u64>>;

fn open(path: &Path) -> Result<(MultiGzDecoder<BufReader<Counting>>, Packed), Stop> {
    let packed = Packed::default();
    let file = spelunk_fs::open_to_read(path).map_err(Stop::Damaged)?;
    let input = Counting { file, n_read: Rc::clone(&packed) };
    Ok((MultiGzDecoder::new(BufReader::new(input)), packed))
}

struct Counting {
    file: File,
    n_read: Packed,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.file.read(buffer)?;
        self.n_read.set(self.n_read.get() + n as u64);
        Ok(n)
    }
}

/// A stream that fails when it turns out to be a bomb: a tar has no packed size per entry.
struct Bounded<R> {
    input: R,
    packed: Packed,
    unpacked: u64,
    limits: UnpackLimits,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.input.read(buffer)?;
        self.unpacked += n as u64;
        if self.limits.is_bomb(self.unpacked, self.packed.get()) {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "its compression ratio is too high"));
        }
        Ok(n)
    }
}
