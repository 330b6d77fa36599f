//! Files that a user names to be read.
//!
//! ```text
//!   path ──▶ a file? ──────────────────────▶ opened, read up to a limit
//!            a pipe of our caller's shell? ─▶ the same: `<(…)` is /dev/fd/63; /dev/null is empty
//!            another pipe, device, folder ──▶ refused by its kind
//! ```
//!
//! A named pipe would be waited for until somebody writes into it, and `/dev/zero` never ends. What
//! a shell hands over by number is meant to be read, and its other end is there.

use std::fs::{File, metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use flate2::read::MultiGzDecoder;

/// Where open files stand by number.
const BY_NUMBER: [&str; 4] = ["/dev/fd/", "/dev/stdin", "/proc/self/fd/", "/proc/thread-self/fd/"];

/// How a file of gzip begins.
const GZIP: [u8; 3] = [0x1f, 0x8b, 8];

/// What a person or a script of a person writes is shorter: loads, experiments, cases.
const WRITTEN_MOST: u64 = 16 << 20;

/// Opens a file of a kind that can be read to its end.
///
/// # Errors
/// There is none, it may not be read, or it is something else: a folder, a device, a named pipe.
pub fn open(path: &Path) -> io::Result<File> {
    let kind = metadata(path)?.file_type();
    let is_by_number =
        path.to_str().is_some_and(|path| BY_NUMBER.iter().any(|known| path.starts_with(known)));
    let what = match () {
        () if kind.is_file() || is_by_number && !kind.is_dir() => return File::open(path),
        () if path == Path::new("/dev/null") => return File::open(path),
        () if kind.is_dir() => "it is a folder",
        () if kind.is_fifo() => "it is a named pipe; if it is meant, give it as /dev/stdin",
        () if kind.is_socket() => "it is a socket",
        () => "it is a device",
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// What is in a file of at most `most` bytes.
///
/// # Errors
/// Those of [`open`], a file that is larger, or one that cannot be read.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(open(path)?, most)
}

/// What comes from an open file or stdin, of at most `most` bytes.
///
/// # Errors
/// It is larger, or cannot be read.
pub fn read_from(source: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let what = format!("it is larger than {} MiB, the most that is read", most >> 20);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
    }
    Ok(bytes)
}

/// The text of a file that a person writes.
///
/// # Errors
/// Those of [`read`] with a limit of 16 MiB, or bytes that are not UTF-8.
pub fn text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, WRITTEN_MOST)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
}

/// The text of what a program wrote, packed by gzip or not, in UTF-8 or as a mark at its beginning
/// says in UTF-16. What is no text becomes U+FFFD.
///
/// # Errors
/// What is packed is damaged, or larger than `most` bytes.
pub fn decoded(bytes: Vec<u8>, most: u64) -> io::Result<String> {
    let bytes = match bytes.starts_with(&GZIP) {
        true => read_from(MultiGzDecoder::new(bytes.as_slice()), most)?,
        false => bytes,
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
        text => String::from_utf8_lossy(text).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_by_its_kind() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in [
            (folder.path(), "a folder"),
            (&pipe, "a named pipe"),
            (&socket, "a socket"),
            (Path::new("/dev/zero"), "a device"),
        ] {
            let error = text(path).unwrap_err().to_string();
            assert!(error.contains(kind), "{}: {error}", path.display());
        }
    }

    #[test]
    fn what_a_shell_hands_over_is_read() {
        use std::io::Write as _;
        use std::os::fd::AsRawFd as _;
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"a = 1\n").unwrap();
        drop(writer);
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(text(Path::new(&path)).unwrap(), "a = 1\n");
    }

    #[test]
    fn more_than_is_wanted_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [b'x'; 1025]).unwrap();
        assert_eq!(read(&path, 1025).unwrap().len(), 1025);
        assert_eq!(read(&path, 1024).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_from(io::repeat(0), 9).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
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
            assert_eq!(decoded(bytes, 100).unwrap(), text);
        }
        let larger = decoded(packed.clone(), 5).unwrap_err();
        assert_eq!(larger.kind(), io::ErrorKind::FileTooLarge);
        assert!(decoded(packed[..packed.len() - 4].to_vec(), 100).is_err());
    }
}
