//! What an executable says of its own functions, out of the table of sections of its ELF file:
//! profiles of a server without names are of little use.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::foreign_files::open_plain;

/// The largest table of sections that is read; a real one has some kilobytes.
const TABLE_BYTES: usize = 16 << 20;

/// How much of an executable has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbols {
    /// Names of all functions, lines and types (`.debug_info`).
    Full,
    /// Names of all functions (`.symtab`).
    Names,
    /// Only what other files may call (`.dynsym`).
    None,
}

impl Symbols {
    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Symbols::Full => "full",
            Symbols::Names => "names",
            Symbols::None => "none",
        }
    }

    /// Reads the executable `file`; none if it is not a 64-bit ELF file.
    pub(crate) fn of_executable(file: &Path) -> Option<Symbols> {
        let sections = sections(&mut open_plain(file).ok()?).ok()??;
        let has = |name: &str| sections.iter().any(|known| known == name);
        Some(if has(".debug_info") || has(".zdebug_info") {
            Symbols::Full
        } else if has(".symtab") {
            Symbols::Names
        } else {
            Symbols::None
        })
    }
}

/// Names of the sections. Offsets are those of the ELF-64 header: the table's place at 40, and at
/// 58 the size of an entry, the number of entries and the entry that has the names.
fn sections(file: &mut File) -> io::Result<Option<Vec<String>>> {
    let mut header = [0_u8; 64];
    file.read_exact(&mut header)?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Ok(None);
    }
    let size = usize::from(u16_at(&header, 58)).max(64);
    let count = usize::from(u16_at(&header, 60));
    let names = usize::from(u16_at(&header, 62));
    if size * count > TABLE_BYTES {
        return Ok(None);
    }
    let table = read_at(file, u64_at(&header, 40), size * count)?;
    let entries: Vec<&[u8]> = table.chunks_exact(size).collect();
    let Some(strings) = entries.get(names) else { return Ok(None) };
    let length = usize::try_from(u64_at(strings, 32)).unwrap_or(0).min(1 << 20);
    let strings = read_at(file, u64_at(strings, 24), length)?;
    Ok(Some(
        entries
            .iter()
            .map(|entry| {
                let text = strings.get(u32_at(entry, 0) as usize..).unwrap_or_default();
                let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
                String::from_utf8_lossy(&text[..end]).into_owned()
            })
            .collect(),
    ))
}

fn read_at(file: &mut File, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_test_has_names_and_a_text_is_no_executable() {
        let own = std::env::current_exe().unwrap();
        assert!(matches!(Symbols::of_executable(&own), Some(Symbols::Full | Symbols::Names)));
        let text = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(text.path(), [b'x'; 100]).unwrap();
        assert_eq!(Symbols::of_executable(text.path()), None);
        std::fs::write(text.path(), b"\x7fELF\x02\x01").unwrap();
        assert_eq!(Symbols::of_executable(text.path()), None, "torn");
    }
}
