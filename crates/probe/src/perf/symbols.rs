//! Names for places in files: of functions, inlined ones each by itself.
//!
//! ```text
//!   debug information   of the file, or of the package beside it (/usr/lib/debug/.build-id)
//!   symbol table        the function whose range has the address; without one: [mysqld]
//!   kernel              /proc/kallsyms, where it is the kernel that was sampled; marked with
//!                       _[k], as tools for flame graphs do
//! ```
//!
//! A stripped file has the names of the functions that it exports, and no others: an address
//! between two of them is *not* given the name of the one before.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use addr2line::{Loader, demangle_auto};
use object::read::elf::{FileHeader, ProgramHeader};
use object::{Object, ObjectSymbol, ReadCache, elf};

use super::maps::{Objects, Place, READY, UNKNOWN};

/// The number under which the kernel stands among files.
pub(super) const KERNEL: &str = "[kernel]";
/// Innermost in a stack whose thread could go on.
const WAITS_FOR_A_PROCESSOR: &str = "[waits for a processor]";
/// Code that the kernel maps into every process, for asking what time it is.
const KERNELS_OWN: &str = "vdso";
/// Where debug packages of distributions put their files.
const DEBUG_FILES: &str = "/usr/lib/debug/.build-id";

/// Letters of a name that are kept: a stack has hundreds, and a profile names files as it likes.
const NAME_MOST: usize = 4 << 10;
/// Letters of the name of a file on any disk.
const FILE_NAME_MOST: usize = 255;

/// Functions of all files of a profile.
pub(super) struct Symbols<'o> {
    objects: &'o Objects,
    build_ids: HashMap<String, Vec<u8>>,
    kernel: Vec<(u64, String)>,
    files: HashMap<u32, Option<Program>>,
    /// The functions at a place, innermost first, and whether they have names.
    known: HashMap<Place, (Vec<String>, bool)>,
}

impl<'o> Symbols<'o> {
    /// `kernel_begins` is where the kernel that was sampled begins; `build_ids` are those of the
    /// files that were, as far as they are known.
    pub(super) fn new(
        objects: &'o Objects,
        kernel_begins: Option<u64>,
        build_ids: HashMap<String, Vec<u8>>,
    ) -> Symbols<'o> {
        let kernel = kernel_functions(kernel_begins);
        Symbols { objects, build_ids, kernel, files: HashMap::new(), known: HashMap::new() }
    }

    /// A stack, whose places are innermost first, as a line that begins with the outermost.
    pub(super) fn line(&mut self, places: &[Place]) -> String {
        let mut line = String::new();
        for place in places.iter().rev() {
            let (frames, _) = self.frames(*place);
            for frame in frames.iter().rev() {
                if !line.is_empty() {
                    line.push(';');
                }
                line.push_str(frame);
            }
        }
        line
    }

    /// The file of a place in a function without a name.
    pub(super) fn unnamed(&mut self, place: Place) -> Option<String> {
        let (frames, has_name) = self.frames(place);
        (!has_name).then(|| frames.concat().trim_matches(['[', ']']).to_owned())
    }

    fn frames(&mut self, place: Place) -> &(Vec<String>, bool) {
        if !self.known.contains_key(&place) {
            let found = self.look_up(place);
            self.known.insert(place, found);
        }
        &self.known[&place]
    }

    fn look_up(&mut self, place: Place) -> (Vec<String>, bool) {
        if place == READY {
            return (vec![WAITS_FOR_A_PROCESSOR.to_owned()], true);
        }
        if place == UNKNOWN {
            return (vec!["[unknown]".to_owned()], false);
        }
        let path = self.objects.path(place.object);
        if path == KERNEL {
            let after = self.kernel.partition_point(|(address, _)| *address <= place.offset);
            let name = after.checked_sub(1).map(|at| self.kernel[at].1.clone());
            let is_known = name.is_some();
            let name = name.map_or_else(|| KERNEL.to_owned(), |name| format!("{name}_[k]"));
            return (vec![name], is_known);
        }
        let build_id = self.build_ids.get(path);
        let file = self.files.entry(place.object);
        let file = file.or_insert_with(|| Program::open(Path::new(path), build_id));
        let frames = file.as_ref().map(|file| file.frames(place.offset)).unwrap_or_default();
        if !frames.is_empty() {
            return (frames.iter().map(|name| clean(name)).collect(), true);
        }
        let name = path.rsplit('/').next().unwrap_or(path).trim_matches(['[', ']']);
        let is_known = name == KERNELS_OWN;
        let name: String = name.chars().take(FILE_NAME_MOST).collect();
        (vec![format!("[{name}]")], is_known)
    }
}

/// A name as it may stand in a line of stacks.
fn clean(name: &str) -> String {
    name.chars().take(NAME_MOST).map(|c| if c == ';' || c.is_control() { ',' } else { c }).collect()
}

/// Where each function of the running kernel begins; none where it is not the one that begins
/// there, or where addresses are hidden.
fn kernel_functions(begins: Option<u64>) -> Vec<(u64, String)> {
    let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
    let function = |line: &str| {
        let mut words = line.split_whitespace();
        let address = u64::from_str_radix(words.next()?, 16).ok().filter(|at| *at > 0)?;
        let kind = words.next()?;
        matches!(kind, "t" | "T" | "w" | "W").then_some(())?;
        Some((address, words.next()?.to_owned()))
    };
    let mut all: Vec<(u64, String)> = text.lines().filter_map(function).collect();
    if !begins.is_some_and(|begins| all.iter().any(|(at, name)| *at == begins && name == "_text")) {
        return Vec::new();
    }
    all.sort_by_cached_key(|(address, name)| (*address, plainness(name)));
    all.dedup_by_key(|(address, _)| *address);
    all
}

/// Of names of one function the plainest comes first: `malloc` before `__libc_malloc`.
fn plainness(name: &str) -> (usize, usize, String) {
    let bare = name.trim_start_matches('_');
    (name.len() - bare.len(), name.len(), name.to_owned())
}

/// A program or library.
struct Program {
    debug: Option<Loader>,
    /// Parts that are loaded: offset in the file, length, address.
    segments: Vec<(u64, u64, u64)>,
    /// Functions by address, with lengths, as the linker named them.
    table: Vec<(u64, u64, String)>,
}

impl Program {
    fn open(path: &Path, build_id: Option<&Vec<u8>>) -> Option<Program> {
        let cache = ReadCache::new(dbdyno_files::open(path).ok()?);
        let file = object::File::parse(&cache).ok()?;
        let own_id = file.build_id().ok()?;
        if let (Some(own), Some(sampled)) = (own_id, build_id)
            && !sampled.starts_with(own)
        {
            return None;
        }
        let beside = own_id.and_then(debug_file).filter(|path| path.exists());
        let mut table = functions(&file);
        if let Some(beside) = &beside {
            let cache = ReadCache::new(dbdyno_files::open(beside).ok()?);
            table.extend(object::File::parse(&cache).map(|file| functions(&file)).ok()?);
        }
        table.sort_by_cached_key(|(address, _, name)| (*address, plainness(name)));
        table.dedup_by_key(|(address, ..)| *address);
        let has_lines = |file: &object::File<'_, _>| {
            object::Object::section_by_name(file, ".debug_info").is_some()
        };
        let debug = match (&beside, has_lines(&file)) {
            (Some(beside), _) => Loader::new(beside).ok(),
            (None, true) => Loader::new(path).ok(),
            (None, false) => None,
        };
        Some(Program { debug, segments: segments(path)?, table })
    }

    /// The functions at an offset of the file, the innermost first; none without names.
    fn frames(&self, offset: u64) -> Vec<String> {
        let part = self
            .segments
            .iter()
            .find(|(from, length, _)| (*from..from.saturating_add(*length)).contains(&offset));
        let Some((from, _, address)) = part else { return Vec::new() };
        let address = offset - from + address;
        let names = self.debug.as_ref().map(|debug| inlined(debug, address)).unwrap_or_default();
        if !names.is_empty() {
            return names;
        }
        let after = self.table.partition_point(|(begin, ..)| *begin <= address);
        let found = after.checked_sub(1).map(|at| &self.table[at]);
        let found = found.filter(|(begin, length, _)| address < begin + (*length).max(1));
        found
            .map(|(.., name)| demangle_auto(Cow::from(name), None).into_owned())
            .into_iter()
            .collect()
    }
}

/// The functions at an address by debug information; none if one of them has no name there.
fn inlined(debug: &Loader, address: u64) -> Vec<String> {
    let mut names = Vec::new();
    let Ok(mut frames) = debug.find_frames(address) else { return names };
    while let Ok(Some(frame)) = frames.next() {
        let name = frame.function.as_ref().and_then(|function| function.demangle().ok());
        match name {
            Some(name) => names.push(name.into_owned()),
            None => return Vec::new(),
        }
    }
    names
}

fn functions<'f>(file: &object::File<'f, &'f ReadCache<File>>) -> Vec<(u64, u64, String)> {
    let of = |symbol: object::Symbol<'f, '_, &'f ReadCache<File>>| {
        let is_function = symbol.kind() == object::SymbolKind::Text && symbol.is_definition();
        let name = symbol.name().ok().filter(|name| is_function && !name.is_empty())?;
        Some((symbol.address(), symbol.size(), name.to_owned()))
    };
    let own = file.symbols().filter_map(of).collect::<Vec<_>>();
    own.into_iter().chain(file.dynamic_symbols().filter_map(of)).collect()
}

/// `/usr/lib/debug/.build-id/ab/cdef….debug`.
fn debug_file(build_id: &[u8]) -> Option<PathBuf> {
    let hex: String = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
    let (first, rest) = hex.split_at_checked(2)?;
    Some(Path::new(DEBUG_FILES).join(first).join(format!("{rest}.debug")))
}

/// Which part of a file is loaded where.
fn segments(path: &Path) -> Option<Vec<(u64, u64, u64)>> {
    let cache = ReadCache::new(dbdyno_files::open(path).ok()?);
    let header = elf::FileHeader64::<object::Endianness>::parse(&cache).ok()?;
    let endian = header.endian().ok()?;
    let all = header.program_headers(endian, &cache).ok()?.iter();
    let loaded = all.filter(|one| one.p_type(endian) == elf::PT_LOAD);
    Some(
        loaded
            .map(|one| (one.p_offset(endian), one.p_filesz(endian), one.p_vaddr(endian)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_on_a_disk_has_no_functions() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("libc.so.6");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [&pipe, Path::new("/dev/zero"), Path::new("/proc/self/maps"), folder.path()] {
            assert!(segments(path).is_none(), "{}", path.display());
        }
        assert!(segments(&std::env::current_exe().unwrap()).is_some());
    }

    #[inline(never)]
    fn a_function_of_this_program(number: u64) -> u64 {
        std::hint::black_box(number) + 1
    }

    /// Offset in the program's file of what is mapped at an address of this process.
    fn offset_of(address: usize) -> (String, u64) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let place = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let (from, until) = words[0].split_once('-').unwrap();
            let [from, until, shift] =
                [from, until, words[2]].map(|text| usize::from_str_radix(text, 16).unwrap());
            (from..until)
                .contains(&address)
                .then(|| (words[5].to_owned(), (address - from + shift) as u64))
        };
        maps.lines().find_map(place).unwrap()
    }

    #[test]
    fn a_function_of_a_program_with_symbols_has_its_name() {
        let address = a_function_of_this_program as *const () as usize;
        assert_eq!(a_function_of_this_program(1), 2);
        let (path, offset) = offset_of(address);
        let mut objects = Objects::default();
        let place = Place { object: objects.number(&path), offset };
        let mut symbols = Symbols::new(&objects, None, HashMap::new());
        let line = symbols.line(&[place]);
        assert!(line.contains("a_function_of_this_program"), "{line}");
        assert_eq!(symbols.unnamed(place), None);
        let other = HashMap::from([(path.clone(), vec![1, 2, 3])]);
        let mut symbols = Symbols::new(&objects, None, other);
        let name = path.rsplit('/').next().unwrap();
        assert_eq!(symbols.unnamed(place).as_deref(), Some(name), "it is another build");
    }

    #[test]
    fn between_two_functions_of_a_table_is_neither() {
        let program = Program {
            debug: None,
            segments: vec![(0x1000, 0x1000, 0x40_1000)],
            table: vec![
                (0x40_1010, 4, "_ZN4main4workEv".to_owned()),
                (0x40_1020, 0, "start".to_owned()),
            ],
        };
        let name = |offset| program.frames(offset).concat();
        let found = [0x100f, 0x1010, 0x1013, 0x1014, 0x1020, 0x1021, 0x3000].map(name);
        assert_eq!(found, ["", "main::work()", "main::work()", "", "start", "", ""]);
    }

    #[test]
    fn a_function_with_several_names_has_the_plainest() {
        let mut names = ["__libc_malloc", "malloc", "__malloc", "mallocate"];
        names.sort_by_cached_key(|name| plainness(name));
        assert_eq!(names, ["malloc", "mallocate", "__malloc", "__libc_malloc"]);
    }

    #[test]
    fn names_fit_into_a_line_of_stacks() {
        assert_eq!(clean("a<b;c>\n"), "a<b,c>,");
        assert_eq!(clean(&"ä".repeat(9_000)).chars().count(), NAME_MOST);
    }
}
