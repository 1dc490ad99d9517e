//! The header of an image: format and size in pixels. Nothing else is interpreted: the file is hostile.

use super::{ImageError, ImageKind, SIDE_PIXELS_MAX};

/// What the header of an image says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageHeader {
    /// The format.
    pub kind: ImageKind,
    /// In pixels, from 1 to 8,000.
    pub width: u32,
    /// In pixels, from 1 to 8,000.
    pub height: u32,
}

impl ImageHeader {
    /// Reads the header of a file.
    pub fn read(bytes: &[u8]) -> Result<Self, ImageError> {
        if bytes.is_empty() {
            return Err(ImageError::Empty);
        }
        let kind = kind(bytes).ok_or(ImageError::NotAnImage)?;
        let size = match kind {
            ImageKind::Png => png(bytes),
            ImageKind::Jpeg => jpeg(bytes),
            ImageKind::Gif => gif(bytes),
            ImageKind::Webp => webp(bytes),
            ImageKind::Pdf => None,
        };
        let (width, height) =
            size.filter(|(width, height)| *width > 0 && *height > 0).ok_or(ImageError::Damaged)?;
        if width > SIDE_PIXELS_MAX || height > SIDE_PIXELS_MAX {
            return Err(ImageError::TooWide { width, height });
        }
        Ok(Self { kind, width, height })
    }
}

fn kind(bytes: &[u8]) -> Option<ImageKind> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some(ImageKind::Png),
        [0xff, 0xd8, 0xff, ..] => Some(ImageKind::Jpeg),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(ImageKind::Gif),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(ImageKind::Webp),
        _ => None,
    }
}

fn png(bytes: &[u8]) -> Option<(u32, u32)> {
    if bytes.get(8..16)? != b"\0\0\0\x0dIHDR" {
        return None;
    }
    Some((u32::from_be_bytes(array(bytes, 16)?), u32::from_be_bytes(array(bytes, 20)?)))
}

/// Segments are skipped by their lengths up to the one that starts a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        if *bytes.get(at)? != 0xff {
            return None;
        }
        let marker = *bytes.get(at + 1)?;
        match marker {
            // Padding before a marker.
            0xff => at += 1,
            // Markers without a length.
            0x01 | 0xd0..=0xd7 => at += 2,
            // The picture data begins, or the file ends, and no frame was declared.
            0xd8..=0xda => return None,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                let (height, width) = (short(bytes, at + 5)?, short(bytes, at + 7)?);
                return Some((width, height));
            }
            _ => at += 2 + usize::try_from(short(bytes, at + 2)?).ok().filter(|len| *len >= 2)?,
        }
    }
}

fn short(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(array(bytes, at)?)))
}

fn gif(bytes: &[u8]) -> Option<(u32, u32)> {
    let side = |at| Some(u32::from(u16::from_le_bytes(array(bytes, at)?)));
    Some((side(6)?, side(8)?))
}

/// The first chunk says how the picture is compressed, and each way has its own header.
fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8 " if bytes.get(23..26)? == b"\x9d\x01\x2a" => {
            let side = |at| Some(u32::from(u16::from_le_bytes(array(bytes, at)?) & 0x3fff));
            Some((side(26)?, side(28)?))
        }
        b"VP8L" if *bytes.get(20)? == 0x2f => {
            let bits = u32::from_le_bytes(array(bytes, 21)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => {
            let side = |at| {
                let [low, middle, high]: [u8; 3] = array(bytes, at)?;
                Some(u32::from_le_bytes([low, middle, high, 0]) + 1)
            };
            Some((side(24)?, side(27)?))
        }
        _ => None,
    }
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
