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
//! A map does not tell what it counts, and two of them cannot be added up. What a script says
//! before may tell it, as that of `offcputime.bt` does, and so may the name of a map.

use std::borrow::Cow;

use super::filled::{filled, is_digits};
use super::form::{Form, Measure, MeasureUnit, OFF_CPU, ProfileError, Weighing};
use super::perf_script;
use super::programs::Sighting;
use super::stack::{Stack, is_left_out};

/// Whether a line begins a map: `@name[`.
pub(super) fn is_of_bpftrace(line: &str) -> bool {
    name_of_map(line).is_some()
}

/// The name of a map, and what is behind its bracket.
fn name_of_map(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.trim_start().strip_prefix('@')?.split_once('[')?;
    name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_').then_some((name, rest))
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut stack = Stack::default();
    let (mut map, mut stacks, mut begun, mut is_off_cpu) = (None, 0_u64, None, false);
    let mut program = "";
    for (number, line) in filled(text) {
        let wrong = |what: &str| ProfileError::new(number, what);
        if is_left_out(line) {
            return Err(wrong(
                "stacks were left out here, so that nothing can be said of the whole; give all that \
                 bpftrace has printed",
            ));
        }
        let (mut rest, mut is_first) = (line, false);
        if begun.is_none() {
            let Some((name, behind)) = name_of_map(line) else {
                is_off_cpu |= line.starts_with("Tracing") && tells_off_cpu(line);
                continue;
            };
            match map {
                Some(known) if known != name => {
                    return Err(wrong(&format!(
                        "counts of two maps, @{known} and @{name}, cannot be added up; leave one in \
                         the file"
                    )));
                }
                _ => map = Some(name),
            }
            begun = Some(number);
            (rest, is_first) = (behind, true);
        }
        let (inner, count) = match rest.rsplit_once("]:").or(rest.rsplit_once("] :")) {
            Some((inner, count)) if !count.starts_with(':') => (inner, Some(count.trim())),
            _ => (rest, None),
        };
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
        stacks += u64::from(!stack.is_empty());
        stack.give(std::mem::take(&mut program), count as f64, take);
    }
    if let Some(number) = begun {
        let what = "this stack has no end: `]: 12`; give all that bpftrace has printed";
        return Err(ProfileError::new(number, what));
    }
    let map = map.unwrap_or_default();
    is_off_cpu |= tells_off_cpu(map);
    let of = if is_off_cpu { format!(" of {OFF_CPU}") } else { String::new() };
    let off_cpu = Measure::of(MeasureUnit::Event, Some(OFF_CPU));
    Ok(Form {
        taken_for: format!("bpftrace map @{map}{of}, {stacks} stacks"),
        measure: if is_off_cpu { off_cpu } else { Measure::UNTOLD },
        weighing: if is_off_cpu { Weighing::Periods } else { Weighing::Smallest },
        is_excerpt: false,
    })
}

/// `, mysqld, 77`: the name of a process in a key.
fn word_of_key(key: &str) -> Option<&str> {
    key.split(',').map(str::trim).find(|word| !word.is_empty() && !is_digits(word))
}

/// `Tracing nanosecond time in off-CPU stacks.`, `offcpu`, `off_cpu_ns`
fn tells_off_cpu(text: &str) -> bool {
    let letters = |c: char| c.is_ascii_alphabetic().then_some(c.to_ascii_lowercase());
    text.chars().filter_map(letters).collect::<String>().contains("offcpu")
}

/// `finish_task_switch+106`, `0x7f3a`, or with `perf`: `7f3a main+0x1a (/usr/bin/x)`.
fn frame(line: &str) -> Option<Cow<'_, str>> {
    let line = line.trim().trim_end_matches(',').trim_end();
    if line.is_empty() || line.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|b| b.is_ascii_hexdigit());
    if line.split_once(' ').is_some_and(|(address, _)| is_address(address)) {
        return perf_script::frame(line);
    }
    let is_offset = |(_, offset): &(&str, &str)| {
        let digits = offset.strip_prefix("0x").unwrap_or(offset);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit())
    };
    let name = line.rsplit_once('+').filter(is_offset).map_or(line, |(name, _)| name);
    Some(if name.starts_with("0x") { "[unknown]".into() } else { name.into() })
}
