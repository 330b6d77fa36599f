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
    let form = each_stack(text, &mut |stack, count| sums.add(stack, count))?;
    let profile = sums.profile(form);
    if profile.total > 0.0 {
        return Ok(profile);
    }
    let what = "there is no stack in it; give stacks as `main;work;read 12`, a line each, or what \
                `perf script` or `perf report --stdio` prints";
    Err(ProfileError { line: 0, what: what.to_owned() })
}

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Form {
    /// Stacks, and how often each was seen, or for how long.
    Collapsed,
    /// A sample each, and what it stands for.
    Script,
    /// Functions and shares of the whole, or of a part of them.
    Report { is_excerpt: bool },
}

/// Gives each stack, outermost function first, with how often it was seen.
///
/// # Errors
/// The first line that is no stack, and texts that look alike and are none: samples of several
/// events, and what `perf diff` and difffolded.pl print.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&[&str], f64),
) -> Result<Form, ProfileError> {
    let is_frame = |line: &str| {
        line.starts_with([' ', '\t'])
            && line.split_whitespace().next().is_some_and(|address| {
                address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
    };
    if text.lines().any(is_frame) {
        of_script(text, take)?;
        return Ok(Form::Script);
    }
    match perf_report::read(text).map_err(|(line, what)| ProfileError { line, what })? {
        Some(report) => {
            report.functions.iter().for_each(|(name, samples)| take(&[name], *samples));
            Ok(Form::Report { is_excerpt: report.is_excerpt })
        }
        None => collapsed(text, take).map(|()| Form::Collapsed),
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
        if stack.rsplit_once(' ').is_some_and(|(_, word)| word.parse::<u64>().is_ok()) {
            return Err(wrong(
                "two counts stand behind this stack, as difffolded.pl writes them; give the two \
                 profiles that it was made of",
            ));
        }
        frames.clear();
        frames.extend(stack.split(';').map(str::trim));
        take(&frames, count);
    }
    Ok(())
}

/// A header, then a line for each frame, the innermost first, then an empty line. A sample stands
/// for as many events as its period says.
fn of_script(text: &str, take: &mut dyn FnMut(&[&str], f64)) -> Result<(), ProfileError> {
    let mut frames: Vec<String> = Vec::new();
    let (mut weight, mut first) = (1.0, None);
    for (at, line) in text.lines().chain([""]).enumerate() {
        if line.starts_with([' ', '\t']) {
            frames.extend(frame(line));
            continue;
        }
        if !frames.is_empty() {
            frames.reverse();
            take(&frames.iter().map(String::as_str).collect::<Vec<_>>(), weight);
            frames.clear();
        }
        let Some(Sampled { period, event }) = header(line) else { continue };
        weight = period.unwrap_or(1.0);
        match first {
            Some(first) if first != event => {
                let what = format!(
                    "samples of two events, {first} and {event}, cannot be added up; leave those of \
                     one in the file"
                );
                return Err(ProfileError { line: at + 1, what });
            }
            _ => first = Some(event),
        }
    }
    Ok(())
}

/// What the header of a sample tells.
struct Sampled<'a> {
    period: Option<f64>,
    event: &'a str,
}

/// `mysqld 7 [001] 5.25: 250000 cycles:u:`; the event is told without what it is restricted to.
fn header(line: &str) -> Option<Sampled<'_>> {
    let is_time = |word: &&str| {
        let parts = word.strip_suffix(':').and_then(|time| time.split_once('.'));
        let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.is_some_and(|(seconds, rest)| is_digits(seconds) && is_digits(rest))
    };
    let mut words = line.split_whitespace().skip_while(|word| !is_time(word)).skip(1);
    let word = words.next()?;
    let period = word.parse::<f64>().ok().filter(|period| *period > 0.0);
    let event = if period.is_some() { words.next()? } else { word };
    let event = event.trim_end_matches(':');
    let modifiers = |(_, end): &(&str, &str)| end.bytes().all(|b| b.is_ascii_alphabetic());
    let event = event.rsplit_once(':').filter(modifiers).map_or(event, |(event, _)| event);
    Some(Sampled { period, event })
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
    /// The smallest weight of a stack, and the sum of all their squares.
    least: Option<f64>,
    squares: f64,
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
        self.squares += count * count;
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

    fn profile(self, form: Form) -> Profile {
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
        let unit = match form {
            // As many samples of one weight would say as much: Kish, *Survey Sampling*, 1965.
            Form::Script => self.squares / self.total.max(f64::MIN_POSITIVE),
            Form::Collapsed => self.least.filter(|least| *least >= PERIOD_LEAST).unwrap_or(1.0),
            Form::Report { .. } => 1.0,
        };
        let is_excerpt = form == Form::Report { is_excerpt: true };
        Profile { unit, own, by_caller: by_caller.collect(), total: self.total, is_excerpt }
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
        let samples = |weight: f64| (weight / script.unit).round();
        assert_eq!(samples(script.total), 2.0);
        let own = (samples(script.own["read_row(THD*)"]), samples(script.own["main"]));
        assert_eq!(own, (1.0, 1.0));
        assert_eq!(samples(script.by_caller[&key("main", "[libc.so.6]")]), 1.0);
    }

    /// A sample stands for as many events as its period says.
    #[test]
    fn samples_are_weighed_by_their_periods() {
        let sample = |period: u32, event: &str, name: &str| {
            format!("java 1 [000] 1.0: {period:>10} {event}: \n\t  29ebc {name} (/usr/bin/x)\n\n")
        };
        let profile = read(&(sample(1, "faults", "hot") + &sample(99, "faults", "cold"))).unwrap();
        assert_eq!((profile.own["hot"], profile.own["cold"], profile.total), (1.0, 99.0, 100.0));
        let samples = profile.total / profile.unit;
        assert!((1.0..1.1).contains(&samples), "one sample outweighs the other: {samples}");
        let both = sample(5, "cycles:u", "a") + &sample(7, "instructions:u", "a");
        let error = read(&both).unwrap_err();
        assert_eq!(error.line, 4);
        assert!(error.what.contains("two events, cycles and instructions"), "{error}");
        assert!(read(&(sample(5, "cycles:u", "a") + &sample(7, "cycles:k", "a"))).is_ok());
    }

    #[test]
    fn what_looks_like_a_profile_and_is_none_is_refused_by_name() {
        let diff = "# Event 'cycles'\n# Baseline  Delta Abs  Shared Object      Symbol\n\
                    19.76%     +3.20%  mysqld   [.] buf_page_get_gen\n";
        assert!(read(diff).unwrap_err().what.contains("`perf diff` has printed this"));
        let without_header = diff.lines().last().unwrap();
        assert!(read(without_header).unwrap_err().what.contains("`perf diff`"));
        let folded = read("main;read 12 15\nmain;write 3 0\n").unwrap_err();
        assert!(folded.line == 1 && folded.what.contains("difffolded.pl"), "{folded}");
        let events = "# Samples: 1K of event 'cycles'\n 100.00%  a  b  [.] f\n\
                      # Samples: 9K of event 'instructions'\n 100.00%  a  b  [.] f\n";
        assert!(read(events).unwrap_err().what.contains("two events"));
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
