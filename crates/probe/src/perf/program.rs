//! Programs and libraries that a profile names, read to a limit.
//!
//! ```text
//!   an absolute name ─▶ a regular file, 2 GiB ─▶ what is read of it, sections after unpacking and
//!   (others are none)   at most                  names: 64 MiB and sixteen times its length, and
//!                                                2 GiB of all programs of a profile
//! ```
//!
//! A profile may come from anybody, and its names may be of files that somebody made for it: a
//! section of two megabytes unpacks to as many gigabytes, and each of a million symbols may have
//! the same long text for its name. Whatever is kept is therefore counted before it is. Where the
//! limit is met, a program has no names at all, for some would tell of one function as of another.
//!
//! Other files that debug information names (`.dwo`, `.dwp`) are not opened.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use dbdyno_symbols::{MANGLED_MOST, SourceLanguage, demangle_name};
use gimli::{AbbreviationsCacheStrategy, Dwarf, EndianArcSlice, RunTimeEndian, SectionId};
use object::read::elf::{ElfFile64, ProgramHeader as _, SectionHeader as _, Sym as _};
use object::{
    Endianness, Object as _, ObjectSection, ObjectSymbol as _, ReadCache, SymbolKind, elf,
};

use super::allowance::{Allowance, NoProgram};
use super::units::DebugInformation;

/// Where debug packages of distributions put their files.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";
/// What a symbol takes beside its name.
const SYMBOL_BYTES: u64 = 64;
/// Sections from which names of functions come. A unit is none without its table of lines, of which
/// nothing but its place is kept ([`without_lines`]).
const SECTIONS: [SectionId; 9] = [
    SectionId::DebugAbbrev,
    SectionId::DebugAddr,
    SectionId::DebugInfo,
    SectionId::DebugLine,
    SectionId::DebugLineStr,
    SectionId::DebugRanges,
    SectionId::DebugRngLists,
    SectionId::DebugStr,
    SectionId::DebugStrOffsets,
];

type ElfFile<'d> = ElfFile64<'d, Endianness, &'d ReadCache<CountedFile>>;

/// A program or library.
pub(super) struct Program {
    debug: Option<DebugInformation>,
    /// Parts that are loaded: offset in the file, length, address.
    segments: Vec<(u64, u64, u64)>,
    /// Functions by address, with lengths, as the linker named them.
    table: Vec<(u64, u64, String)>,
    allowance: Rc<Allowance>,
}

impl Program {
    /// Reads what a profile names; `left` are the bytes that may be kept of all of them, now and
    /// when functions are looked up.
    pub(super) fn open(
        path: &Path,
        build_id: Option<&Vec<u8>>,
        left: &Rc<Cell<u64>>,
    ) -> Result<Program, NoProgram> {
        let before = left.get();
        let allowance = Allowance::new(left);
        let opened = opened(path, build_id, &allowance);
        if opened.is_none() || allowance.is_met() {
            // What was read of it is dropped; the others have theirs.
            left.set(before);
        }
        if allowance.is_met() {
            return Err(NoProgram::TooLarge);
        }
        opened.ok_or(NoProgram::Absent)
    }

    /// The functions at an offset of the file, the innermost first; none without names.
    ///
    /// # Errors
    /// The debug information of that place would take more than may be kept.
    pub(super) fn frames_at(&self, offset: u64) -> Result<Vec<String>, NoProgram> {
        let part = self
            .segments
            .iter()
            .find(|(from, length, _)| (*from..from.saturating_add(*length)).contains(&offset));
        let Some((from, _, address)) = part else { return Ok(Vec::new()) };
        let address = (offset - from).wrapping_add(*address);
        let names = self.debug.as_ref().map(|debug| debug.functions(address, &self.allowance));
        let names = names.transpose()?.unwrap_or_default();
        if !names.is_empty() {
            return Ok(names);
        }
        let after = self.table.partition_point(|(begin, ..)| *begin <= address);
        let found = after.checked_sub(1).map(|at| &self.table[at]);
        let found = found.filter(|(begin, length, _)| address - begin < (*length).max(1));
        Ok(found
            .map(|(.., name)| demangle_name(name, SourceLanguage::Unknown))
            .into_iter()
            .collect())
    }
}

fn opened(path: &Path, build_id: Option<&Vec<u8>>, allowance: &Rc<Allowance>) -> Option<Program> {
    if !path.is_absolute() {
        return None;
    }
    let cache = counted_cache(path, allowance)?;
    let file = ElfFile::parse(&cache).ok()?;
    let own_id = file.build_id().ok()?;
    if let (Some(own), Some(sampled)) = (own_id, build_id)
        && !sampled.starts_with(own)
    {
        return None;
    }
    let mut table = functions(&file, allowance)?;
    let debug = match own_id.and_then(debug_file).filter(|path| path.exists()) {
        Some(beside) => {
            let cache = counted_cache(&beside, allowance)?;
            let file = ElfFile::parse(&cache).ok()?;
            table.extend(functions(&file, allowance)?);
            debug_information(&file, allowance)
        }
        None => debug_information(&file, allowance),
    };
    table.sort_by_cached_key(|(address, _, name)| (*address, plainness_key(name)));
    table.dedup_by_key(|(address, ..)| *address);
    Some(Program { debug, segments: segments(&file), table, allowance: allowance.clone() })
}

/// A file whose bytes are counted when they are read.
fn counted_cache(path: &Path, allowance: &Rc<Allowance>) -> Option<ReadCache<CountedFile>> {
    let file = dbdyno_files::open(path).ok()?;
    allowance.add_file(file.metadata().ok()?.len())?;
    Some(ReadCache::new(CountedFile { file, allowance: allowance.clone() }))
}

/// A file of which each byte that is read is counted, for it is kept.
struct CountedFile {
    file: File,
    allowance: Rc<Allowance>,
}

impl Read for CountedFile {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(bytes)?;
        let taken = self.allowance.take_bytes(read as u64);
        taken.map(|()| read).ok_or_else(|| io::ErrorKind::FileTooLarge.into())
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// What a file tells beyond its symbols; nothing where it has none, or it is damaged.
fn debug_information(file: &ElfFile<'_>, allowance: &Allowance) -> Option<DebugInformation> {
    file.section_by_name(SectionId::DebugInfo.name())?;
    let endian = if file.is_little_endian() { RunTimeEndian::Little } else { RunTimeEndian::Big };
    let mut dwarf = Dwarf::load(|id| {
        let named = file.section_by_name(id.name()).filter(|_| SECTIONS.contains(&id));
        let bytes = named.map_or_else(|| Some(Arc::default()), |one| unpacked(&one, allowance));
        let bytes = bytes.ok_or(())?;
        let is_of_lines = id == SectionId::DebugLine;
        let bytes = if is_of_lines { without_lines(&bytes, endian).into() } else { bytes };
        Ok::<_, ()>(EndianArcSlice::new(bytes, endian))
    })
    .ok()?;
    dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
    DebugInformation::new(dwarf, allowance)
}

/// The bytes of a section, for which room is made when it is known that there are not too many.
fn unpacked<'d>(section: &impl ObjectSection<'d>, allowance: &Allowance) -> Option<Arc<[u8]>> {
    let packed = section.compressed_data().ok()?;
    allowance.take_bytes(packed.uncompressed_size)?;
    Some(packed.decompress().ok()?.as_ref().into())
}

/// Tables of lines in their places, and nothing in them: names of files and lines, which multiply
/// in memory, are not needed for names of functions. A table of DWARF 4 (6.2.4) without opcodes,
/// folders and files stands where each began.
fn without_lines(tables: &[u8], endian: RunTimeEndian) -> Vec<u8> {
    const IN_64_BITS: u32 = u32::MAX;
    let number = |bytes: &[u8; 4]| match endian {
        RunTimeEndian::Little => u32::from_le_bytes(*bytes),
        RunTimeEndian::Big => u32::from_be_bytes(*bytes),
    };
    let mut empty = vec![0; tables.len()];
    let mut at = 0;
    while let Some(first) = tables.get(at..).and_then(<[u8]>::first_chunk::<4>) {
        let wide = tables.get(at + 4..).and_then(<[u8]>::first_chunk::<8>);
        let length = match (number(first), wide) {
            (IN_64_BITS, None) => break,
            (IN_64_BITS, Some(wide)) if endian == RunTimeEndian::Little => {
                u64::from_le_bytes(*wide).saturating_add(12)
            }
            (IN_64_BITS, Some(wide)) => u64::from_be_bytes(*wide).saturating_add(12),
            (length, _) => u64::from(length) + 4,
        };
        let next = usize::try_from(length).ok().and_then(|length| at.checked_add(length));
        let Some(next) = next.filter(|next| *next <= tables.len()) else { break };
        let table = empty_table(endian);
        if let Some(place) = empty.get_mut(at..next).and_then(|all| all.get_mut(..table.len())) {
            place.copy_from_slice(&table);
        }
        at = next;
    }
    empty
}

/// A table of lines that has none: its length, its version, the length of what is before its
/// program, how instructions are counted, no opcodes, no folders and no files.
fn empty_table(endian: RunTimeEndian) -> Vec<u8> {
    const COUNTED: [u8; 8] = [1, 1, 1, 0, 1, 1, 0, 0];
    let (length, version, before): (u32, u16, u32) = (14, 4, 8);
    let mut table = Vec::with_capacity(18);
    match endian {
        RunTimeEndian::Little => {
            table.extend(length.to_le_bytes());
            table.extend(version.to_le_bytes());
            table.extend(before.to_le_bytes());
        }
        RunTimeEndian::Big => {
            table.extend(length.to_be_bytes());
            table.extend(version.to_be_bytes());
            table.extend(before.to_be_bytes());
        }
    }
    table.extend(COUNTED);
    table
}

/// Functions of both tables of symbols, in no order.
fn functions(file: &ElfFile<'_>, allowance: &Allowance) -> Option<Vec<(u64, u64, String)>> {
    let mut all = Vec::new();
    for (table, symbols) in [
        (file.elf_symbol_table(), file.symbols().collect::<Vec<_>>()),
        (file.elf_dynamic_symbol_table(), file.dynamic_symbols().collect()),
    ] {
        let strings = file.elf_section_table().section(table.string_section()).ok();
        let strings = strings.and_then(|one| one.data(file.endian(), file.data()).ok());
        let strings = strings.unwrap_or_default();
        for symbol in symbols {
            let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            let entry = table.symbol(symbol.index()).ok().filter(|_| is_function);
            let from = entry.map(|entry| entry.st_name(file.endian()) as usize);
            let Some(name) = from.and_then(|from| name_in(strings.get(from..)?)) else { continue };
            allowance.take_bytes(SYMBOL_BYTES + name.len() as u64)?;
            all.push((symbol.address(), symbol.size(), name.to_owned()));
        }
    }
    Some(all)
}

/// The name at the beginning of a table of strings, or as much of it as is ever looked at.
fn name_in(strings: &[u8]) -> Option<&str> {
    let within = &strings[..strings.len().min(MANGLED_MOST + 1)];
    let bytes = within.split(|byte| *byte == 0).next().filter(|bytes| !bytes.is_empty())?;
    match std::str::from_utf8(bytes) {
        Ok(name) => Some(name),
        // A letter may have been cut.
        Err(error) if bytes.len() > MANGLED_MOST => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).ok()
        }
        Err(_) => None,
    }
}

/// Of names of one function the plainest comes first: `malloc` before `__libc_malloc`.
pub(super) fn plainness_key(name: &str) -> (usize, usize, String) {
    let bare = name.trim_start_matches('_');
    (name.len() - bare.len(), name.len(), name.to_owned())
}

/// `/usr/lib/debug/.build-id/ab/cdef….debug`.
fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = hex.split_at_checked(2)?;
    Some(Path::new(DEBUG_FILES).join(first).join(format!("{rest}.debug")))
}

/// Which part of a file is loaded where.
fn segments(file: &ElfFile<'_>) -> Vec<(u64, u64, u64)> {
    let endian = file.endian();
    let loaded = file.elf_program_headers().iter().filter(|one| one.p_type(endian) == elf::PT_LOAD);
    loaded.map(|one| (one.p_offset(endian), one.p_filesz(endian), one.p_vaddr(endian))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::allowance::BYTES_MOST;
    use super::*;
    use std::os::unix::fs::FileExt as _;

    const NO_ROOM: u64 = 0;

    fn own() -> PathBuf {
        std::env::current_exe().unwrap()
    }

    fn open(path: &Path) -> Result<Program, NoProgram> {
        Program::open(path, None, &Rc::new(Cell::new(BYTES_MOST)))
    }

    /// Function within function: what the compiler has put into another one is told by debug
    /// information alone, of a unit that has its table of lines.
    #[test]
    fn functions_within_functions_have_names() {
        #[inline(always)]
        fn within(value: usize) -> usize {
            std::hint::black_box(value) + 1
        }
        #[inline(never)]
        fn around(value: usize) -> usize {
            within(value) + within(value + 1)
        }
        assert_eq!(around(1), 5);
        let program = open(&own()).unwrap();
        let address = around as fn(usize) -> usize as usize as u64;
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own_path = own().display().to_string();
        let offset = maps.lines().filter(|line| line.ends_with(&own_path)).find_map(|line| {
            let (range, rest) = line.split_once(' ')?;
            let (from, to) = range.split_once('-')?;
            let hex = |text: &str| u64::from_str_radix(text, 16).ok();
            let from_file = hex(rest.split(' ').nth(1)?)?;
            (hex(from)?..hex(to)?)
                .contains(&address)
                .then(|| address - hex(from).unwrap() + from_file)
        });
        let offset = offset.expect("we are mapped");
        let found =
            (0..64).map(|byte| program.frames_at(offset + byte).unwrap()).find(|all| all.len() > 1);
        let found = found.expect("a function that was put into another");
        assert!(found.iter().any(|name| name.contains("within")), "{found:?}");
        assert!(found.last().unwrap().contains("around"), "{found:?}");
    }

    #[test]
    fn what_is_no_file_on_a_disk_is_no_program() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("libc.so.6");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [&pipe, Path::new("/dev/zero"), Path::new("/proc/self/maps"), folder.path()] {
            assert_eq!(open(path).err(), Some(NoProgram::Absent), "{}", path.display());
        }
        assert!(!open(&own()).unwrap().segments.is_empty());
    }

    /// Where dbdyno is called is nothing that a profile knows.
    #[test]
    fn a_name_that_is_not_absolute_is_no_program() {
        let here = std::env::current_dir().unwrap();
        let up = here.components().skip(1).map(|_| "..").collect::<PathBuf>();
        let relative = up.join(own().strip_prefix("/").unwrap());
        assert!(relative.exists(), "{}", relative.display());
        assert_eq!(open(&relative).err(), Some(NoProgram::Absent));
    }

    #[test]
    fn what_is_kept_of_all_programs_is_limited() {
        let left = Rc::new(Cell::new(BYTES_MOST));
        Program::open(&own(), None, &left).unwrap();
        let taken = BYTES_MOST - left.get();
        let length = std::fs::metadata(own()).unwrap().len();
        assert!((length / 8..4 * length).contains(&taken), "{taken} of {length}");
        for before in [NO_ROOM, taken - 1] {
            let room = Rc::new(Cell::new(before));
            let program = Program::open(&own(), None, &room);
            assert_eq!(program.err(), Some(NoProgram::TooLarge));
            assert_eq!(room.get(), before, "others have theirs");
        }
        Program::open(&own(), None, &Rc::new(Cell::new(taken))).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let sparse = folder.path().join("sparse");
        File::create(&sparse).unwrap().set_len(BYTES_MOST + 1).unwrap();
        assert_eq!(open(&sparse).err(), Some(NoProgram::TooLarge));
    }

    /// An ELF file of four sections: none, a packed one of debug information, symbols and strings.
    fn written(unpacked_bytes: u64, symbols: usize, strings: &[u8]) -> Vec<u8> {
        let names = b"\0.debug_info\0.symtab\0.strtab\0";
        let strings = [&names[..], strings].concat();
        let numbers =
            |all: &[u64]| all.iter().flat_map(|one| one.to_le_bytes()).collect::<Vec<u8>>();
        // A header of zlib, and nothing behind it.
        let packed = numbers(&[1, unpacked_bytes, 1]);
        let symbol = |at: usize| {
            let name = (names.len() + at) as u32;
            [&name.to_le_bytes()[..], &[2, 0, 1, 0], &numbers(&[0x1000 + at as u64, 1])].concat()
        };
        let table: Vec<u8> = (0..=symbols).flat_map(|at| symbol(at.saturating_sub(1))).collect();
        let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        file.extend([3, 0, 62, 0, 1, 0, 0, 0]);
        file.resize(64, 0);
        let mut headers = vec![0; 64];
        for (name, kind, flags, bytes, link, entry) in [
            (1_u32, 1_u32, 0x800_u64, &packed, 0_u32, 0_u64),
            (13, 2, 0, &table, 3, 24),
            (21, 3, 0, &strings, 0, 0),
        ] {
            headers.extend([name.to_le_bytes(), kind.to_le_bytes()].concat());
            headers.extend(numbers(&[flags, 0, file.len() as u64, bytes.len() as u64]));
            headers.extend([link.to_le_bytes(), 0_u32.to_le_bytes()].concat());
            headers.extend(numbers(&[1, entry]));
            file.extend(bytes);
        }
        let at = (file.len() as u64).to_le_bytes();
        file[40..48].copy_from_slice(&at);
        for (place, number) in [(52, 64_u16), (54, 56), (58, 64), (60, 4), (62, 3)] {
            file[place..place + 2].copy_from_slice(&number.to_le_bytes());
        }
        file.extend(headers);
        file
    }

    fn opened_of(bytes: &[u8]) -> Result<Program, NoProgram> {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().write_all_at(bytes, 0).unwrap();
        open(file.path())
    }

    /// Each of these would be gigabytes.
    #[test]
    fn what_unpacks_or_repeats_itself_without_end_has_no_names() {
        let small = opened_of(&written(1 << 10, 3, b"abc\0")).unwrap();
        let names: Vec<&str> = small.table.iter().map(|(.., name)| name.as_str()).collect();
        assert_eq!(names, ["abc", "bc", "c"]);
        for unpacked in [2 << 30, u64::MAX] {
            let bomb = opened_of(&written(unpacked, 0, b""));
            assert_eq!(bomb.err(), Some(NoProgram::TooLarge), "{unpacked}");
        }
        let long = vec![b'a'; 100_000];
        let program = opened_of(&written(0, 3, &long)).unwrap();
        assert!(program.table.iter().all(|(.., name)| name.len() == MANGLED_MOST + 1));
        let repeated = opened_of(&written(0, 50_000, &long));
        assert_eq!(repeated.err(), Some(NoProgram::TooLarge));
    }

    #[test]
    fn between_two_functions_of_a_table_is_neither() {
        let program = Program {
            allowance: Allowance::new(&Rc::default()),
            debug: None,
            segments: vec![(0x1000, 0x1000, 0x40_1000)],
            table: vec![
                (0x40_1010, 4, "_ZN4main4workEv".to_owned()),
                (0x40_1020, 0, "start".to_owned()),
            ],
        };
        let name = |offset| program.frames_at(offset).unwrap().concat();
        let found = [0x100f, 0x1010, 0x1013, 0x1014, 0x1020, 0x1021, 0x3000].map(name);
        assert_eq!(found, ["", "main::work()", "main::work()", "", "start", "", ""]);
    }

    #[test]
    fn a_function_with_several_names_has_the_plainest() {
        let mut names = ["__libc_malloc", "malloc", "__malloc", "mallocate"];
        names.sort_by_cached_key(|name| plainness_key(name));
        assert_eq!(names, ["malloc", "mallocate", "__malloc", "__libc_malloc"]);
    }
}
