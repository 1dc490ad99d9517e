//! Images of the sources. They are not documents: no text is read from them and no digest of a corpus contains them. A scan
//! lists them by name; what a file holds is read, checked and hashed when a model is shown it.

mod header;

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::Arc;

use spelunk_fs::open_to_read;
use spelunk_types::BlobId;

pub use self::header::ImageHeader;
use crate::{SourceError, error, name};

/// The most pixels on a side that all providers accept.
const SIDE_PIXELS_MAX: u32 = 8_000;

/// An image that a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageEntry {
    /// A relative path with `/` as the separator, as documents have.
    pub name: String,
    /// The format that its extension names; the header decides when it is read.
    pub kind: ImageKind,
    /// The size when it was scanned.
    pub bytes: u64,
    /// Whether the user named this file, rather than a directory that contains it.
    pub is_named: bool,
    pub(crate) path: PathBuf,
}

/// A format of images that models can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageKind {
    /// Portable Network Graphics.
    Png,
    /// JPEG.
    Jpeg,
    /// GIF.
    Gif,
    /// WebP.
    Webp,
}

impl ImageKind {
    /// The format that the extension of a path names.
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, extension) = name::file_name(path).rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "gif" => Some(Self::Gif),
            "webp" => Some(Self::Webp),
            _ => None,
        }
    }

    /// The word for lists.
    pub fn word(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Gif => "gif",
            Self::Webp => "webp",
        }
    }

    /// The media type of requests.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
        }
    }
}

/// The content of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// What its header says.
    pub header: ImageHeader,
    /// BLAKE3 of the bytes.
    pub digest: BlobId,
    /// The file.
    pub bytes: Arc<[u8]>,
}

/// Why a file cannot be shown as an image.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It has no bytes.
    #[error("it is empty")]
    Empty,
    /// It is larger than allowed.
    #[error("it has more than {bytes_max} bytes")]
    TooLarge {
        /// The limit.
        bytes_max: u64,
    },
    /// Its content is something else, whatever its name says.
    #[error("it does not begin like a PNG, JPEG, GIF or WebP file")]
    NotAnImage,
    /// Its header is cut or wrong.
    #[error("its header is damaged")]
    Damaged,
    /// Its header declares more pixels than providers accept.
    #[error("it is {width} x {height} pixels, and {SIDE_PIXELS_MAX} on a side are the most")]
    TooWide {
        /// The declared width.
        width: u32,
        /// The declared height.
        height: u32,
    },
    /// It cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl ImageEntry {
    /// Reads the file. Only its header is interpreted. Blocking.
    pub fn read(&self, bytes_max: u64) -> Result<ImageFile, ImageError> {
        let bytes = self.bytes_up_to(bytes_max.saturating_add(1)).map_err(|error| {
            if error::is_absence(&error) {
                SourceError::Changed { name: self.name.clone() }
            } else {
                SourceError::from_io(&self.path, error)
            }
        })?;
        if bytes.len() as u64 > bytes_max {
            return Err(ImageError::TooLarge { bytes_max });
        }
        let header = ImageHeader::read(&bytes)?;
        let digest = BlobId::from_hash(*blake3::hash(&bytes).as_bytes());
        Ok(ImageFile { header, digest, bytes: bytes.into() })
    }

    /// Opens only a regular file: a pipe that replaced it would block forever.
    fn bytes_up_to(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        if !self.path.symlink_metadata()?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut bytes = Vec::new();
        open_to_read(&self.path)?.take(bytes_max).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
