//! Maps that bpftrace prints: stacks, or one function, and how often each was counted.
//!
//! ```text
//!   @[                                 kernel frames, and behind a comma those of the user:
//!       finish_task_switch+106         the innermost first
//!       __schedule+706
//!   ,
//!       my_read+12
//!   , mysqld]: 36
//!   @[do_sys_open]: 7
//! ```
//!
//! Printed at intervals, a map that is not cleared has all that it had before, and more: the last
//! print alone is read. Where prints do not contain those before, they are of times apart, and are
//! added up.
//!
//! A map does not tell what it counts, and two of them cannot be added up. What a script says
//! before may tell it, as that of `offcputime.bt` does, and so may the name of a map.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use dbdyno_model::random::key_of;

use super::coverage::Coverage;
use super::filled::{filled_lines, is_digits};
use super::form::{
    Form, MeasureUnit, OFF_CPU, ProfileError, ProfileMeasure, Weighing, lowercase_letters,
};
use super::lost::LostSamples;
use super::perf_script;
use super::programs::Sighting;
use super::stack::{Stack, UNKNOWN, is_left_out};

/// Whether a line begins a map: `@name[`.
pub(super) fn is_of_bpftrace(line: &str) -> bool {
    name_of_map(line).is_some()
}

/// The name of a map, and what is behind its bracket.
fn name_of_map(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().strip_prefix('@')?.split_once('[')?;
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then_some((name, rest))
}

/// Parts the lines of a key from each other: the prime of FNV-1a.
const KEY_FACTOR: u64 = 0x0000_0100_0000_01b3;

/// An entry of a map.
struct MapEntry<'t> {
    /// A number that stands for its key: names may be as long as the text.
    key: u64,
    stack: Stack<'t>,
    program: &'t str,
    count: f64,
}

/// The entries of a map, as often as it was printed.
#[derive(Default)]
struct MapPrints<'t> {
    entries: Vec<MapEntry<'t>>,
    /// Before which of them something else was printed.
    parts: Vec<usize>,
}

impl<'t> MapPrints<'t> {
    /// Something else is printed.
    fn part(&mut self) {
        self.parts.push(self.entries.len());
    }

    /// Where each print begins: behind something else, where a key comes again, and, as counts
    /// rise within a print, where one falls if that is asked for.
    fn begins(&self, by_fall: Fall) -> Vec<usize> {
        let (mut begins, mut keys) = (Vec::new(), HashSet::new());
        for (at, entry) in self.entries.iter().enumerate() {
            let has_fallen = at > 0 && entry.count < self.entries[at - 1].count;
            let is_parted = at == 0 || self.parts.binary_search(&at).is_ok();
            let is_new = is_parted || (by_fall == Fall::Parts && has_fallen);
            if is_new || keys.contains(&entry.key) {
                begins.push(at);
                keys.clear();
            }
            keys.insert(entry.key);
        }
        begins
    }

    /// Whether each print has at least what the one before it has, so that they are sums.
    fn has_grown(&self, begins: &[usize]) -> bool {
        let end = self.entries.len();
        let ends = begins.iter().skip(1).copied().chain([end]);
        let mut before: HashMap<u64, f64> = HashMap::new();
        for (begin, end) in begins.iter().zip(ends) {
            let print = self.entries[*begin..end].iter();
            let counts: HashMap<u64, f64> = print.map(|entry| (entry.key, entry.count)).collect();
            if before.iter().any(|(key, count)| counts.get(key).is_none_or(|now| now < count)) {
                return false;
            }
            before = counts;
        }
        begins.len() > 1
    }

    /// Gives the entries: of prints that contain each other, those of the last one. Returns how
    /// many stacks, and what is said of it.
    fn give(self, times: f64, take: &mut dyn FnMut(&Sighting<'_>)) -> (u64, String) {
        let found = [Fall::Passes, Fall::Parts].map(|fall| self.begins(fall));
        let sums = found.iter().find(|begins| self.has_grown(begins));
        let told = sums.map_or_else(String::new, |begins| {
            let count = begins.len();
            format!(", the last of {count} prints, which has all that was printed before")
        });
        let begin = sums.and_then(|begins| begins.last()).copied().unwrap_or(0);
        // A key without frames, beside others that have some, is a stack that could not be kept.
        let has_frames = self.entries.iter().any(|entry| !entry.stack.is_empty());
        let mut stacks = 0;
        for mut entry in self.entries.into_iter().skip(begin).filter(|_| has_frames) {
            stacks += 1;
            let weight = times * entry.count;
            if entry.stack.is_empty() {
                let program = entry.program;
                take(&Sighting { program, ..Sighting::new(&[UNKNOWN], weight) });
            }
            entry.stack.emit_sighting(entry.program, weight, take);
        }
        (stacks, told)
    }
}

/// Whether a count that is less than the one before begins a print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fall {
    Passes,
    Parts,
}

const LEFT_OUT_HERE: &str = "stacks were left out here, so that nothing can be said of the whole; \
                             give all that bpftrace has printed";
const NO_BEGINNING: &str = "the beginning of this stack is missing: `@[`; give all that bpftrace \
                            has printed";

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut stack = Stack::default();
    let (mut map, mut begun, mut is_off_cpu, mut unit_ns) = (None, None, false, None);
    let (mut prints, mut key) = (MapPrints::default(), 0_u64);
    let mut lost = LostSamples::default();
    let mut program = "";
    for (number, line) in filled_lines(text) {
        let wrong = |what: &str| ProfileError::new(number, what);
        if is_left_out(line) {
            return Err(wrong(LEFT_OUT_HERE));
        }
        let (mut rest, mut is_first) = (line, false);
        if begun.is_none() {
            let Some((name, behind)) = name_of_map(line) else {
                if line.starts_with("Tracing") && tells_off_cpu(line) {
                    (is_off_cpu, unit_ns) = (true, told_unit_ns(line));
                }
                if ends_key(line) {
                    return Err(wrong(NO_BEGINNING));
                }
                if !line.trim().is_empty() && !lost.note_events(line) {
                    prints.part();
                }
                continue;
            };
            if let Some(known) = map.replace(name).filter(|known| *known != name) {
                return Err(wrong(&two_maps(known, name)));
            }
            begun = Some(number);
            (rest, is_first) = (behind, true);
        }
        let (inner, count) = match rest.rsplit_once("]:").or(rest.rsplit_once("] :")) {
            Some((inner, count)) if !count.starts_with(':') => (inner, Some(count.trim())),
            _ => (rest, None),
        };
        key = key.wrapping_mul(KEY_FACTOR) ^ key_of(inner.trim());
        // Names of processes stand before the stack, or behind it and a comma.
        let is_key = inner.trim_start().starts_with(',') || (is_first && count.is_none());
        if is_key {
            program =
                Some(program).filter(|it| !it.is_empty()).or(word_of_key(inner)).unwrap_or("");
        } else if let Some(frame) = frame(inner) {
            stack.push(number, frame)?;
        }
        let Some(count) = count else { continue };
        let count: u64 = count.parse().map_err(|_| {
            wrong("behind a stack stands how often it was counted: `]: 12`; histograms are none")
        })?;
        begun = None;
        prints.entries.push(MapEntry {
            key: std::mem::take(&mut key),
            stack: std::mem::take(&mut stack),
            program: std::mem::take(&mut program),
            count: count as f64,
        });
    }
    if let Some(number) = begun {
        let what = "this stack has no end: `]: 12`; give all that bpftrace has printed";
        return Err(ProfileError::new(number, what));
    }
    let mut form = give_map(map.unwrap_or_default(), is_off_cpu, unit_ns, prints, take);
    form.taken_for += &lost.to_string();
    Ok(form)
}

/// Why a second map is refused.
fn two_maps(known: &str, name: &str) -> String {
    format!("counts of two maps, @{known} and @{name}, cannot be added up; leave one in the file")
}

/// Gives what the prints of a map have, in nanoseconds where the script or the name of the map says
/// in which unit of time it counts.
fn give_map(
    map: &str,
    is_off_cpu: bool,
    unit_ns: Option<f64>,
    prints: MapPrints<'_>,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Form {
    let is_off_cpu = is_off_cpu || tells_off_cpu(map);
    let unit_ns = unit_ns.or_else(|| told_unit_ns(map)).filter(|_| is_off_cpu);
    let (stacks, repeated) = prints.give(unit_ns.unwrap_or(1.0), take);
    let unit = unit_ns.map_or(MeasureUnit::Event, |_| MeasureUnit::Nanosecond);
    form(map, is_off_cpu, unit, &format!("{stacks} stacks{repeated}"))
}

/// What a map is.
fn form(map: &str, is_off_cpu: bool, unit: MeasureUnit, what: &str) -> Form {
    let of = if is_off_cpu { format!(" of {OFF_CPU}") } else { String::new() };
    let off_cpu = ProfileMeasure::of_unit(unit, Some(OFF_CPU));
    Form {
        taken_for: format!("bpftrace map @{map}{of}, {what}"),
        measure: if is_off_cpu { off_cpu } else { ProfileMeasure::UNTOLD },
        weighing: if is_off_cpu { Weighing::Untold } else { Weighing::Counts },
        coverage: Coverage::WHOLE,
    }
}

/// Whether a line is the last one of a key: `]: 36`, `, mysqld]: 36`.
fn ends_key(line: &str) -> bool {
    let line = line.trim();
    line.starts_with([']', ',']) && line.contains("]:")
}

/// In which unit of time a script counts, if it says so: `Tracing nanosecond time in …`, or a map
/// that is called `offcpu_us`.
fn told_unit_ns(text: &str) -> Option<f64> {
    const UNITS: [(&str, &str, f64); 3] =
        [("nanosecond", "ns", 1.0), ("microsecond", "us", 1e3), ("millisecond", "ms", 1e6)];
    let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
    words.find_map(|word| {
        let word = word.to_ascii_lowercase();
        let told = UNITS.iter().find(|(long, short, _)| {
            word.strip_suffix('s').unwrap_or(&word) == *long || word == *short || word == *long
        });
        told.map(|(.., ns)| *ns)
    })
}

/// `, mysqld, 77`: the name of a process in a key.
fn word_of_key(key: &str) -> Option<&str> {
    key.split(',').map(str::trim).find(|word| !word.is_empty() && !is_digits(word))
}

/// `Tracing nanosecond time in off-CPU stacks.`, `offcpu`, `off_cpu_ns`
fn tells_off_cpu(text: &str) -> bool {
    lowercase_letters(text).contains("offcpu")
}

/// `finish_task_switch+106`, `0x7f3a`, or with `perf`: `7f3a main+0x1a (/usr/bin/x)`.
fn frame(line: &str) -> Option<Cow<'_, str>> {
    let line = line.trim().trim_end_matches(',').trim_end();
    if line.is_empty() || line.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|b| b.is_ascii_hexdigit());
    if line.split_once(' ').is_some_and(|(address, _)| is_address(address)) {
        return perf_script::frame_function(line);
    }
    let is_offset = |(_, offset): &(&str, &str)| {
        let digits = offset.strip_prefix("0x").unwrap_or(offset);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let name = line.rsplit_once('+').filter(is_offset).map_or(line, |(name, _)| name);
    Some(if name.starts_with("0x") { UNKNOWN.into() } else { name.into() })
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    /// A text that was cut at its beginning lost the stack that stood there, with its count.
    #[test]
    fn a_stack_without_a_beginning_or_a_count_is_refused_with_its_line() {
        let stack = |count: &str| format!("@[\n    f+1\n    main+5\n, mysqld]: {count}\n");
        let whole = stack("3000") + &stack("7");
        assert_eq!(read(&whole).unwrap().total, 3_007.0);
        let cut = read(whole.strip_prefix("@[\n    f+1\n").unwrap()).unwrap_err();
        assert!(cut.line == 2 && cut.what.contains("beginning of this stack"), "{cut}");
        for count in ["-9", "9e3", "9,000", "nan", "", "99999999999999999999"] {
            let error = read(&(stack(count) + &stack("7"))).unwrap_err();
            assert!(error.line == 4 && error.what.contains("how often"), "{count:?} {error}");
        }
    }

    /// A stack that could not be kept was counted all the same.
    #[test]
    fn keys_without_frames_are_of_an_unknown_function() {
        let stack = "@[\n    f+1\n    main+5\n, mysqld]: 30\n";
        for key in ["@[\n, mysqld]: 70\n", "@[\n]: 70\n", "@[, mysqld]: 70\n", "@[]: 70\n"] {
            let profile = read(&(stack.to_owned() + key)).unwrap();
            let own = ["f", "[unknown]"].map(|name| profile.own.get(name).copied());
            assert_eq!((profile.total, own), (100.0, [Some(30.0), Some(70.0)]), "{key}");
            assert!(read(key).is_err(), "{key}");
        }
    }

    /// A map that is printed each second and not cleared has all that it had.
    #[test]
    fn of_a_map_that_grows_the_last_print_is_read() {
        let print = |a: u64, b: u64| {
            let of = |name: &str, count: u64| match count {
                0 => String::new(),
                _ => format!("@[\n    {name}+1\n    main+5\n]: {count}\n"),
            };
            of("b", b) + &of("a", a) + "\n"
        };
        let own = |text: &str| {
            let profile = read(text).unwrap();
            let told = profile.taken_for.contains("the last of");
            (profile.own.get("a").copied(), profile.own.get("b").copied(), told)
        };
        let fallen = "@[\n    a+1\n]: 40\n12:00:02\n@[\n    a+1\n]: 80\n@[\n    b+1\n]: 20\n";
        assert_eq!(own(fallen), (Some(80.0), Some(20.0), true));
        for parted in ["", "12:00:02\n"] {
            let grows = print(40, 0) + parted + &print(80, 20) + parted + &print(80, 20);
            assert_eq!(own(&grows), (Some(80.0), Some(20.0), true), "{grows}");
            let cleared = print(40, 10) + parted + &print(30, 20);
            assert_eq!(own(&cleared), (Some(70.0), Some(30.0), false), "{cleared}");
        }
        assert_eq!(own(&print(40, 10)), (Some(40.0), Some(10.0), false));
    }
}
