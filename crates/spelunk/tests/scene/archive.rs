//! Builds archives in the formats of the real tools, without compression. Small enough to be read here.

/// A tar with these files.
pub(crate) fn tar(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, text) in files {
        let mut header = [0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, name.as_bytes());
        put(100, b"0000644\0");
        put(124, format!("{:011o}\0", text.len()).as_bytes());
        put(136, b"00000000000\0");
        put(148, b"        ");
        put(156, b"0");
        put(257, b"ustar\x0000");
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(text.as_bytes());
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// The bytes as gzip, in one stored block.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let n_bytes = u16::try_from(bytes.len()).unwrap();
    let mut archive = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
    archive.extend_from_slice(&n_bytes.to_le_bytes());
    archive.extend_from_slice(&(!n_bytes).to_le_bytes());
    archive.extend_from_slice(bytes);
    archive.extend_from_slice(&crc32(bytes).to_le_bytes());
    archive.extend_from_slice(&u32::from(n_bytes).to_le_bytes());
    archive
}

/// A zip with these files.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let at = u32::try_from(archive.len()).unwrap();
        let (n_name, n_text) = (u16::try_from(name.len()).unwrap(), u32::try_from(text.len()).unwrap());
        // From the required version to the length of the extra field: the same in both headers.
        let mut about = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        about.extend_from_slice(&crc32(text.as_bytes()).to_le_bytes());
        about.extend_from_slice(&n_text.to_le_bytes());
        about.extend_from_slice(&n_text.to_le_bytes());
        about.extend_from_slice(&n_name.to_le_bytes());
        about.extend_from_slice(&[0, 0]);
        archive
            .extend_from_slice(&[b"PK\x03\x04", about.as_slice(), name.as_bytes(), text.as_bytes()].concat());
        directory.extend_from_slice(&[b"PK\x01\x02\x14\0", about.as_slice(), &[0; 10]].concat());
        directory.extend_from_slice(&at.to_le_bytes());
        directory.extend_from_slice(name.as_bytes());
    }
    let (n_files, at) = (u16::try_from(files.len()).unwrap(), u32::try_from(archive.len()).unwrap());
    archive.extend_from_slice(&directory);
    archive.extend_from_slice(b"PK\x05\x06\0\0\0\0");
    archive.extend_from_slice(&[n_files.to_le_bytes(), n_files.to_le_bytes()].concat());
    archive.extend_from_slice(&u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend_from_slice(&at.to_le_bytes());
    archive.extend_from_slice(&[0, 0]);
    archive
}

fn crc32(bytes: &[u8]) -> u32 {
    let of_bit = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), of_bit))
}
