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

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use dbdyno_host::{Host, kernel};

use super::allowance::{BYTES_MOST, NoProgram};
use super::maps::{Objects, Place, READY, UNKNOWN};
use super::program::{Program, plainness_key};

/// The number under which the kernel stands among files.
pub(super) const KERNEL: &str = "[kernel]";
/// Innermost in a stack whose thread could go on.
const WAITS_FOR_A_PROCESSOR: &str = "[waits for a processor]";
/// Code that the kernel maps into every process, for asking what time it is.
const KERNELS_OWN: &str = "vdso";
/// Why the functions of a file have no names.
const TOO_LARGE: &str = "its symbols and debug information take more than is read of a file";

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
    /// Bytes that may still be kept of programs.
    left: Rc<Cell<u64>>,
    /// Files that were not read for their size, and why.
    unread: BTreeMap<String, &'static str>,
    /// The functions at a place, innermost first, and whether they have names.
    known: HashMap<Place, (Vec<Rc<str>>, bool)>,
    /// Each name once, for the same function may be at many places.
    names: HashSet<Rc<str>>,
}

/// Bytes of a line of stacks, at most; one that reaches it is longer than any that is read.
const LINE_MOST: usize = 1 << 20;

impl<'o> Symbols<'o> {
    /// `kernel_begins` is where the kernel that was sampled begins; `build_ids` are those of the
    /// files that were, as far as they are known.
    pub(super) fn new(
        host: &dyn Host,
        objects: &'o Objects,
        kernel_begins: Option<u64>,
        build_ids: HashMap<String, Vec<u8>>,
    ) -> Symbols<'o> {
        let kernel = kernel_functions(host, kernel_begins);
        Symbols {
            objects,
            build_ids,
            kernel,
            files: HashMap::new(),
            left: Rc::new(Cell::new(BYTES_MOST)),
            unread: BTreeMap::new(),
            known: HashMap::new(),
            names: HashSet::new(),
        }
    }

    /// A stack, whose places are innermost first, as a line that begins with the outermost.
    pub(super) fn stack_line(&mut self, places: &[Place]) -> String {
        let mut line = String::new();
        for place in places.iter().rev() {
            let (frames, _) = self.frames(*place);
            for frame in frames.iter().rev() {
                if !line.is_empty() {
                    line.push(';');
                }
                line.push_str(frame);
            }
            if line.len() > LINE_MOST {
                break;
            }
        }
        line
    }

    /// The file of a place in a function without a name.
    pub(super) fn file_if_unnamed(&mut self, place: Place) -> Option<String> {
        let (frames, has_name) = self.frames(place);
        (!has_name).then(|| frames.concat().trim_matches(['[', ']']).to_owned())
    }

    fn frames(&mut self, place: Place) -> &(Vec<Rc<str>>, bool) {
        if !self.known.contains_key(&place) {
            let (names, have_names) = self.look_up(place);
            let names = names.into_iter().map(|name| self.kept(name)).collect();
            self.known.insert(place, (names, have_names));
        }
        &self.known[&place]
    }

    fn kept(&mut self, name: String) -> Rc<str> {
        if let Some(name) = self.names.get(name.as_str()) {
            return name.clone();
        }
        let name: Rc<str> = name.into();
        self.names.insert(name.clone());
        name
    }

    /// Files that were not read for their size, and why.
    pub(super) fn unread_files(&self) -> &BTreeMap<String, &'static str> {
        &self.unread
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
        let file = self.files.entry(place.object).or_insert_with(|| {
            let opened = Program::open(Path::new(path), build_id, &self.left);
            if opened.as_ref().is_err_and(|why| *why == NoProgram::TooLarge) {
                self.unread.insert(path.chars().take(NAME_MOST).collect(), TOO_LARGE);
            }
            opened.ok()
        });
        let frames = file.as_ref().map(|program| program.frames_at(place.offset));
        let frames = frames.transpose().unwrap_or_else(|_| {
            // Names of some of its functions would tell of one as of another.
            *file = None;
            self.unread.insert(path.chars().take(NAME_MOST).collect(), TOO_LARGE);
            None
        });
        let frames = frames.unwrap_or_default();
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
fn kernel_functions(host: &dyn Host, begins: Option<u64>) -> Vec<(u64, String)> {
    let text = host.kernel_text(&kernel::proc_path("kallsyms")).unwrap_or_default();
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
    all.sort_by_cached_key(|(address, name)| (*address, plainness_key(name)));
    all.dedup_by_key(|(address, _)| *address);
    all
}

#[cfg(test)]
mod tests {
    use dbdyno_host::Local;

    use super::*;

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
        let place = Place { object: objects.number_of(&path), offset };
        let mut symbols = Symbols::new(&Local, &objects, None, HashMap::new());
        let line = symbols.stack_line(&[place]);
        assert!(line.contains("a_function_of_this_program"), "{line}");
        assert_eq!(symbols.file_if_unnamed(place), None);
        let other = HashMap::from([(path.clone(), vec![1, 2, 3])]);
        let mut symbols = Symbols::new(&Local, &objects, None, other);
        let name = path.rsplit('/').next().unwrap();
        assert_eq!(symbols.file_if_unnamed(place).as_deref(), Some(name), "it is another build");
    }

    #[test]
    fn names_fit_into_a_line_of_stacks() {
        assert_eq!(clean("a<b;c>\n"), "a<b,c>,");
        assert_eq!(clean(&"ä".repeat(9_000)).chars().count(), NAME_MOST);
    }
}
