//! Profiles as text: collapsed stacks (`a;b;c 12`), and what `perf script` and `perf report` print.

use std::collections::HashMap;
use std::fmt;

use super::perf_report;
use super::samples::Profile;

/// A line that is no stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// Which line, from 1; 0: the whole file.
    pub line: usize,
    /// What is wrong with it, and what would be right.
    pub what: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.what)
    }
}

impl std::error::Error for ProfileError {}

/// Reads stacks; which of the three forms it is shows in the lines.
///
/// # Errors
/// The first line that is no stack, and a file without any.
pub fn read(text: &str) -> Result<Profile, ProfileError> {
    let mut sums = Sums::default();
    each_stack(text, &mut |stack, count| sums.add(stack, count))?;
    let profile = sums.profile();
    if profile.total > 0.0 {
        return Ok(profile);
    }
    let what = "there is no stack in it; give stacks as `main;work;read 12`, a line each, or what \
                `perf script` or `perf report --stdio` prints";
    Err(ProfileError { line: 0, what: what.to_owned() })
}

/// Gives each stack, outermost function first, with how often it was seen.
///
/// # Errors
/// The first line that is no stack.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&[&str], f64),
) -> Result<(), ProfileError> {
    let is_frame = |line: &str| {
        line.starts_with([' ', '\t'])
            && line.split_whitespace().next().is_some_and(|address| {
                address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    };
    if text.lines().any(is_frame) {
        of_script(text, take);
        return Ok(());
    }
    match perf_report::read(text) {
        Some(functions) => {
            functions.iter().for_each(|(name, samples)| take(&[name], *samples));
            Ok(())
        }
        None => collapsed(text, take),
    }
}

fn collapsed(text: &str, take: &mut dyn FnMut(&[&str], f64)) -> Result<(), ProfileError> {
    let mut frames: Vec<&str> = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |what: &str| ProfileError { line: at + 1, what: what.to_owned() };
        let usage = "a line is a stack and how often it was seen: `main;work;read 12`";
        let (stack, count) = line.rsplit_once(' ').ok_or_else(|| wrong(usage))?;
        let count: f64 = count.parse().map_err(|_| wrong(usage))?;
        if !(count.is_finite() && count >= 0.0) {
            return Err(wrong("a stack is seen so many times, 0 or more"));
        }
        frames.clear();
        frames.extend(stack.split(';').map(str::trim));
        take(&frames, count);
    }
    Ok(())
}

/// A header, then a line for each frame, the innermost first, then an empty line.
fn of_script(text: &str, take: &mut dyn FnMut(&[&str], f64)) {
    let mut frames: Vec<String> = Vec::new();
    for line in text.lines().chain([""]) {
        if line.starts_with([' ', '\t']) {
            frames.extend(frame(line));
        } else if !frames.is_empty() {
            frames.reverse();
            take(&frames.iter().map(String::as_str).collect::<Vec<_>>(), 1.0);
            frames.clear();
        }
    }
}

/// `    7f3a row_search_mvcc+0x1a (/usr/sbin/mysqld)`: the function, or its file where it has no
/// name.
fn frame(line: &str) -> Option<String> {
    let (_address, rest) = line.trim().split_once(' ')?;
    let (symbol, file) = match rest.rsplit_once(" (") {
        Some((symbol, file)) => (symbol.trim(), file.trim_end_matches(')')),
        None => (rest.trim(), ""),
    };
    let name = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    if name != "[unknown]" {
        let is_kernel = file == "[kernel.kallsyms]" || file.starts_with("[guest.kernel");
        return Some(if is_kernel { format!("{name}_[k]") } else { name.to_owned() });
    }
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(format!("[{}]", file.trim_matches(['[', ']'])))
}

/// Where no stack has a smaller weight than this, weights are times: periods in nanoseconds or
/// microseconds. Of a profile with as many samples some stack was seen a few times only.
const PERIOD_LEAST: f64 = 1_000.0;

/// Samples by number of function: a million stacks have a few thousand names.
#[derive(Default)]
struct Sums {
    numbers: HashMap<String, u32>,
    /// By number.
    own: Vec<f64>,
    /// The smallest weight of a stack.
    least: Option<f64>,
    /// By caller, if there is one, and function.
    by_caller: HashMap<(Option<u32>, u32), f64>,
    total: f64,
    /// Places of the stack that is being added, kept to be used again.
    places: Vec<(Option<u32>, u32)>,
}

impl Sums {
    fn add(&mut self, stack: &[&str], count: f64) {
        self.places.clear();
        let mut caller = None;
        for frame in stack {
            let number = self.number(frame);
            // A function that calls itself has its samples once.
            if !self.places.contains(&(caller, number)) {
                self.places.push((caller, number));
            }
            caller = Some(number);
        }
        let Some(last) = caller else { return };
        if count > 0.0 {
            self.least = Some(self.least.map_or(count, |least| least.min(count)));
        }
        self.total += count;
        self.own[last as usize] += count;
        for place in &self.places {
            *self.by_caller.entry(*place).or_default() += count;
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.own.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.own.push(0.0);
        number
    }

    fn profile(self) -> Profile {
        let mut names = vec![String::new(); self.own.len()];
        for (name, number) in self.numbers {
            names[number as usize] = name;
        }
        let name = |number: u32| names[number as usize].clone();
        let own = (0..).zip(&self.own).filter(|(_, own)| **own > 0.0);
        let own = own.map(|(number, own)| (name(number), *own)).collect();
        let by_caller = self.by_caller.into_iter().map(|((caller, number), samples)| {
            ((caller.map_or_else(String::new, name), name(number)), samples)
        });
        let unit = self.least.filter(|least| *least >= PERIOD_LEAST).unwrap_or(1.0);
        Profile { unit, own, by_caller: by_caller.collect(), total: self.total }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_of_stacks_are_read() {
        let collapsed =
            read("# a comment\nmain;work;read 3\nmain;work 2\nmain;work;work 1\n").unwrap();
        assert_eq!(collapsed.total, 6.0);
        assert_eq!((collapsed.own["read"], collapsed.own["work"]), (3.0, 3.0));
        let key = |caller: &str, name: &str| (caller.to_owned(), name.to_owned());
        assert_eq!(collapsed.by_caller[&key("main", "work")], 6.0);
        assert_eq!(collapsed.by_caller[&key("work", "work")], 1.0);
        let script = "mysqld 7 [001] 5.25: 10101010 cpu-clock:pppH:\n\
                      \t    7f3a read_row(THD*)+0x1a (/usr/sbin/mysqld)\n\
                      \t    7f00 [unknown] (/lib/libc.so.6)\n\
                      \t    5501 main+0x5 (/usr/sbin/mysqld)\n\n\
                      mysqld 7 [001] 5.26: 10101010 cpu-clock:pppH:\n\
                      \t    5501 main+0x9 (/usr/sbin/mysqld)\n";
        let script = read(script).unwrap();
        assert_eq!(script.total, 2.0);
        assert_eq!((script.own["read_row(THD*)"], script.own["main"]), (1.0, 1.0));
        assert_eq!(script.by_caller[&key("main", "[libc.so.6]")], 1.0);
    }

    #[test]
    fn what_is_no_stack_is_named_by_its_line() {
        for (text, line) in [("a;b 1\na;b\n", 2), ("a;b x\n", 1), ("a -1\n", 1), ("", 0)] {
            assert_eq!(read(text).unwrap_err().line, line, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[ \t\na-f0-9;().+x#-]{0,200}") {
            if let Ok(profile) = read(&text) {
                let own: f64 = profile.own.values().sum();
                prop_assert!((own - profile.total).abs() < 1e-6 * own.max(1.0));
            }
        }
    }
}
