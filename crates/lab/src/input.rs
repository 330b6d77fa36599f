//! Files that a user names to be read.
//!
//! ```text
//!   path ──▶ a pipe of our caller's shell? ─▶ opened: `<(…)` is /dev/fd/63; /dev/null is empty
//!            a file on a disk? ─────────────▶ opened, read up to a limit
//!            anything else ─────────────────▶ refused by its kind (`files`)
//! ```
//!
//! What a shell hands over by number is meant to be read, and its other end is there.

use std::io;
use std::path::Path;

pub use dbdyno_files::{open_named as open, read_from};
use flate2::read::MultiGzDecoder;

/// How a file of gzip begins.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// What a person or a script of a person writes is shorter: loads, experiments, cases. A parser may
/// take seventy times as much.
const WRITTEN_MOST: u64 = 2 << 20;

/// What is in a file of at most `most` bytes.
///
/// # Errors
/// Those of [`open`], a file that is larger, or one that cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, most)
}

/// The text of a file that a person writes.
///
/// # Errors
/// Those of [`read`] with a limit of 2 MiB, or bytes that are not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    text_within(path, WRITTEN_MOST)
}

/// The text of a file of at most `most` bytes.
///
/// # Errors
/// Those of [`read`], or bytes that are not UTF-8.
pub(crate) fn text_within(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// The text of what a program wrote, packed by gzip or not, in UTF-8 or as a mark at its beginning
/// says in UTF-16. What is no text becomes U+FFFD.
///
/// # Errors
/// What is packed is damaged, or larger than `most` bytes.
pub fn decode_text(bytes: Vec<u8>, most: u64) -> io::Result<String> {
    let bytes = if bytes.starts_with(&GZIP) {
        read_from(MultiGzDecoder::new(bytes.as_slice()), most)?
    } else {
        bytes
    };
    let utf16 = |unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> =
            bytes[2..].chunks_exact(2).map(|two| unit([two[0], two[1]])).collect();
        String::from_utf16_lossy(&units)
    };
    Ok(match bytes.as_slice() {
        [0xff, 0xfe, ..] => utf16(u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, text @ ..] => String::from_utf8_lossy(text).into_owned(),
        // What is text already is not copied: it may be large.
        _ => String::from_utf8(bytes)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_on_a_disk_is_refused_by_its_kind() {
        for (path, kind) in [
            ("/", "a folder"),
            ("/dev/zero", "a device"),
            ("/proc/version", "the kernel"),
            ("/dev/fd/../environ", "the kernel"),
        ] {
            let error = read_text(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(kind), "{path}: {error}");
        }
        assert_eq!(read_text(Path::new("/dev/null")).unwrap(), "");
    }

    #[test]
    fn what_a_shell_hands_over_is_read() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"a = 1\n").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read_text(Path::new(&path)).unwrap(), "a = 1\n");
    }

    #[test]
    fn what_a_program_wrote_is_unpacked_and_decoded() {
        use std::io::Write as _;
        let text = "deadlock ä\n";
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let packed = packed.finish().unwrap();
        let units = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit);
        let little = [0xff, 0xfe].into_iter().chain(units(u16::to_le_bytes)).collect();
        let big = [0xfe, 0xff].into_iter().chain(units(u16::to_be_bytes)).collect();
        let marked = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        for bytes in [packed.clone(), little, big, marked, text.as_bytes().to_vec()] {
            assert_eq!(decode_text(bytes, 100).unwrap(), text);
        }
        let larger = decode_text(packed.clone(), 5).unwrap_err();
        assert_eq!(larger.kind(), io::ErrorKind::FileTooLarge);
        assert!(decode_text(packed[..packed.len() - 4].to_vec(), 100).is_err());
    }
}
