//! Images and PDF pages, for models with vision. They are not documents: they have no text and are not part
//! of a corpus digest. A scan only lists them; a file is read, checked and hashed when a model is shown it.

mod header;

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use spelunk_fs::open_regular;
use spelunk_types::BlobId;

pub use self::header::ImageHeader;
use crate::extract::{INPUT_BYTES_MAX, pages_apart};
use crate::{ExtractError, PageRange, SourceError, error, name};

/// The most pixels on a side that all providers accept.
const SIDE_PIXELS_MAX: u32 = 8_000;

/// An image or a PDF that a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageEntry {
    /// A relative path with `/` as the separator, as documents have.
    pub name: String,
    /// The format that its extension names; the header decides when it is read.
    pub kind: ImageKind,
    /// The size when it was scanned.
    pub bytes: u64,
    /// Whether the user named this file, rather than a directory that contains it, and no text can be read from it.
    pub is_named: bool,
    pub(crate) path: PathBuf,
}

/// An image format that can be shown to models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ImageKind {
    Png,
    Jpeg,
    Gif,
    Webp,
    /// Pages of a PDF.
    Pdf,
}

spelunk_types::named! { ImageKind { Png = "png", Jpeg = "jpeg", Gif = "gif", Webp = "webp", Pdf = "pdf" } }

impl ImageKind {
    pub(crate) fn of(path: &str) -> Option<Self> {
        let (_, extension) = name::file_name(path).rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "png" => Some(Self::Png),
            "jpg" | "jpeg" => Some(Self::Jpeg),
            "gif" => Some(Self::Gif),
            "webp" => Some(Self::Webp),
            "pdf" => Some(Self::Pdf),
            _ => None,
        }
    }

    /// The media type in requests.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::Webp => "image/webp",
            Self::Pdf => "application/pdf",
        }
    }
}

/// The content of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageFile {
    /// What its header says.
    pub header: ImageHeader,
    /// How many pages it has; 1 for a picture.
    pub pages: u32,
    /// BLAKE3 of the file and of the page range.
    pub digest: BlobId,
    /// The picture, or a PDF with these pages.
    pub bytes: Arc<[u8]>,
}

/// Why a file cannot be shown as an image.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ImageError {
    #[error("it is empty")]
    Empty,
    #[error("it has more than {bytes_max} bytes")]
    TooLarge { bytes_max: u64 },
    #[error("it does not begin like a PNG, JPEG, GIF or WebP file")]
    NotAnImage,
    #[error("its header is damaged")]
    Damaged,
    #[error("it is {width} x {height} pixels; the maximum is {SIDE_PIXELS_MAX} per side")]
    TooWide { width: u32, height: u32 },
    #[error("it has no page {page}: it has {n_pages}")]
    NoPage { page: u32, n_pages: u32 },
    #[error(transparent)]
    Pages(#[from] ExtractError),
    #[error(transparent)]
    Source(#[from] SourceError),
}

impl ImageEntry {
    /// Finds an image by name, with the pages of a PDF: `report.pdf#page=3` or `report.pdf#page=3-5`.
    pub fn find<'a>(images: &'a [Self], name: &str) -> Option<(&'a Self, Option<PageRange>)> {
        let of = |name: &str| images.iter().find(|image| image.name == name);
        if let Some(image) = of(name) {
            return Some((image, None));
        }
        let (file, range) = name.rsplit_once("#page=")?;
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let range = PageRange { first: first.parse().ok()?, last: last.parse().ok()? };
        let is_range = 1 <= range.first && range.first <= range.last;
        let image = of(file).filter(|image| is_range && image.kind == ImageKind::Pdf)?;
        Some((image, Some(range)))
    }

    /// Reads a picture, of which only the header is interpreted, or pages of a PDF. Blocking.
    pub fn read(&self, range: Option<PageRange>, bytes_max: u64) -> Result<ImageFile, ImageError> {
        if self.kind == ImageKind::Pdf {
            return self.read_pages(range, bytes_max);
        }
        let bytes = self.read_bytes(bytes_max)?;
        let header = ImageHeader::read(&bytes)?;
        let digest = BlobId::from_hash(*blake3::hash(&bytes).as_bytes());
        Ok(ImageFile { header, pages: 1, digest, bytes: bytes.into() })
    }

    fn read_pages(&self, range: Option<PageRange>, bytes_max: u64) -> Result<ImageFile, ImageError> {
        let file = self.read_bytes(INPUT_BYTES_MAX)?;
        let pages = pages_apart(&file, range)?;
        let (first, last) = range.map_or((1, 1), |range| (range.first, range.last));
        if last > pages.n_of_file {
            return Err(ImageError::NoPage { page: last, n_pages: pages.n_of_file });
        }
        if pages.bytes.len() as u64 > bytes_max {
            return Err(ImageError::TooLarge { bytes_max });
        }
        // The digest of the file, not of the pages: another version of this program may write them differently.
        let mut digest = blake3::Hasher::new();
        digest.update(&file);
        if range.is_some() {
            digest.update(format!("#page={first}-{last}").as_bytes());
        }
        let side = |pixels: u32| pixels.clamp(1, SIDE_PIXELS_MAX);
        let header =
            ImageHeader { kind: ImageKind::Pdf, width: side(pages.width), height: side(pages.height) };
        let digest = BlobId::from_hash(*digest.finalize().as_bytes());
        Ok(ImageFile { header, pages: pages.n_pages, digest, bytes: pages.bytes.into() })
    }

    fn read_bytes(&self, bytes_max: u64) -> Result<Vec<u8>, ImageError> {
        let mut bytes = Vec::new();
        let read = open_regular(&self.path)
            .and_then(|file| file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes));
        read.map_err(|error| {
            if error::is_absence(&error) {
                SourceError::Changed { name: self.name.clone() }
            } else {
                SourceError::from_io(&self.path, error)
            }
        })?;
        if bytes.len() as u64 > bytes_max {
            return Err(ImageError::TooLarge { bytes_max });
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests;
