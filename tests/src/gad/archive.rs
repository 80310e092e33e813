//! Archives: the tar form of a bundle, and defective ones.

use anchorlog_proto::gad::tar::TarWriter;

use super::record::Files;

/// The length of a block.
pub const BLOCK: usize = 512;

/// The archive of these files.
#[must_use]
pub fn archive(files: &Files) -> Vec<u8> {
    let mut writer = TarWriter::new(Vec::new());
    for (path, bytes) in files {
        let size = u64::try_from(bytes.len()).expect("a small file");
        writer.append(path, size, &bytes[..]).expect("a path of the suite");
    }
    writer.finish().expect("memory takes it")
}

/// One member with whatever path and type.
///
/// # Panics
/// When the path is longer than the field for it.
#[must_use]
pub fn member(path: &[u8], bytes: &[u8], type_flag: u8) -> Vec<u8> {
    let mut header = header(path, bytes.len(), type_flag);
    sum(&mut header);
    let mut member = [&header[..], bytes].concat();
    member.resize(member.len().next_multiple_of(BLOCK), 0);
    member
}

/// The header of a member, its checksum still missing.
///
/// # Panics
/// When the path is longer than the field for it.
#[must_use]
pub fn header(path: &[u8], size: usize, type_flag: u8) -> [u8; BLOCK] {
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &[u8]| header[at..at + text.len()].copy_from_slice(text);
    assert!(path.len() <= 100, "longer paths need the prefix field");
    put(0, path);
    put(100, b"0000644\0");
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, format!("{size:011o}\0").as_bytes());
    put(136, b"00000000000\0");
    put(156, &[type_flag]);
    put(257, b"ustar\x0000");
    put(329, b"0000000\0");
    put(337, b"0000000\0");
    header
}

/// Fills in the checksum.
///
/// # Panics
/// Never: a sum of 512 bytes has six octal digits.
pub fn sum(header: &mut [u8; BLOCK]) {
    header[148..156].fill(b' ');
    let sum: u32 = header.iter().copied().map(u32::from).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
}

/// The archive with this member before its end.
#[must_use]
pub fn append(archive: Vec<u8>, member: &[u8]) -> Vec<u8> {
    let end = archive.len() - 2 * BLOCK;
    [&archive[..end], member, &archive[end..]].concat()
}
