//! What `perf script` prints: samples, with their stacks below them, or the function behind them.
//!
//! ```text
//!   mysqld 7 [001] 5.25: 250000 cycles:u:                       header: period, event
//!   ⇥ 7f3a row_search_mvcc+0x1a (/usr/sbin/mysqld)              a frame each, the innermost first
//!
//!      sleep 7  5.25:   691 cycles:u:  7fa9550eeaa3 main+0xf3 (/usr/bin/x)    without stacks
//! ```
//!
//! A sample stands for as many events as its period says.

use std::borrow::Cow;

use super::filled::filled;
use super::form::{Form, Measure, MeasureUnit, ProfileError, Weighing, plain_event, two_events};
use super::programs::{Sighting, Threads};
use super::stack::{Stack, cut};

/// Whether a line is a frame below a header, or the header of a sample.
pub(super) fn is_of_script(line: &str) -> bool {
    is_frame(line) || header(line).is_some()
}

fn is_frame(line: &str) -> bool {
    line.starts_with([' ', '\t']) && is_address(line)
}

/// Whether a text begins with an address.
fn is_address(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|address| {
        address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let programs = threads(text).programs();
    let (mut stack, mut program) = (Stack::default(), "");
    let (mut weight, mut first, mut samples) = (1.0, None, 0_u64);
    let (mut has_periods, mut is_flat) = (true, false);
    let mut give = |stack: &mut Stack<'_>, program: &str, weight: f64| {
        samples += u64::from(!stack.is_empty());
        stack.give(program, weight, take);
    };
    for (number, line) in filled(text).chain([(0, "")]) {
        let Some(Sampled { thread, period, event, place }) = header(line) else {
            match line.starts_with([' ', '\t']) {
                false => give(&mut stack, program, weight),
                true => push(&mut stack, number, line)?,
            }
            continue;
        };
        give(&mut stack, program, weight);
        program = programs.get(thread).copied().unwrap_or(thread);
        has_periods &= period.is_some();
        weight = period.unwrap_or(1.0);
        match first {
            Some(first) if first != event => return Err(two_events(number, first, event)),
            _ => first = Some(event),
        }
        if is_address(place) {
            is_flat = true;
            push(&mut stack, number, place)?;
            give(&mut stack, program, weight);
        }
    }
    let unit = match first {
        Some(_) if has_periods => MeasureUnit::Event,
        Some(_) => MeasureUnit::Sample,
        None => MeasureUnit::Untold,
    };
    let stacks = if is_flat { " without stacks" } else { "" };
    let of = first.map_or_else(String::new, |event| format!(" of {event}"));
    Ok(Form {
        taken_for: format!("`perf script`, {samples} samples{of}{stacks}"),
        measure: Measure::of(unit, first),
        weighing: Weighing::Periods,
        is_excerpt: false,
    })
}

fn push<'t>(stack: &mut Stack<'t>, number: usize, line: &'t str) -> Result<(), ProfileError> {
    frame(line).map_or(Ok(()), |frame| stack.push(number, frame))
}

/// Which files the functions of threads are of.
fn threads(text: &str) -> Threads<'_> {
    let (mut threads, mut thread) = (Threads::default(), "");
    for (_, line) in filled(text) {
        let place = match header(line) {
            Some(sampled) => {
                thread = sampled.thread;
                sampled.place
            }
            None => line,
        };
        if let Some(file) = file(place).filter(|_| !thread.is_empty()) {
            threads.note(thread, file);
        }
    }
    threads
}

/// `… (/usr/sbin/mysqld)`: the file of a frame.
fn file(frame: &str) -> Option<&str> {
    let frame = frame.trim_end().strip_suffix(')')?;
    let frame = frame.strip_suffix(" (deleted)").unwrap_or(frame);
    frame.rsplit_once(" (").map(|(_, file)| file)
}

/// What the header of a sample tells.
struct Sampled<'a> {
    /// The name of the thread; empty where it is not told.
    thread: &'a str,
    period: Option<f64>,
    event: &'a str,
    /// What stands behind the event.
    place: &'a str,
}

/// `mysqld 7 [001] 5.25: 250000 cycles:u:`; the event is told without what it is restricted to.
fn header(line: &str) -> Option<Sampled<'_>> {
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let is_time = |word: &str| {
        let parts = word.strip_suffix(':').and_then(|time| time.split_once('.'));
        parts.is_some_and(|(seconds, rest)| is_digits(seconds) && is_digits(rest))
    };
    let mut rest = line;
    let thread = loop {
        let (word, behind) = next_word(rest)?;
        if is_time(word) {
            let before = line.len() - rest.trim_start().len();
            rest = behind;
            break thread(&line[..before]);
        }
        rest = behind;
    };
    let (word, behind) = next_word(rest)?;
    let period = word.parse::<f64>().ok().filter(|period| *period > 0.0);
    let (event, place) = if period.is_some() { next_word(behind)? } else { (word, behind) };
    Some(Sampled { thread, period, event: plain_event(event), place })
}

/// `IO thread 29906/29910 [003] `: the name, without the numbers of its process and processor.
fn thread(before: &str) -> &str {
    let mut name = before.trim();
    let is_number = |word: &str| {
        let word = word.trim_matches(['[', ']']);
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit() || b == b'/')
    };
    // A thread may be called by a number.
    for _ in 0..2 {
        match name.rsplit_once(char::is_whitespace) {
            Some((rest, word)) if is_number(word) => name = rest.trim_end(),
            _ => break,
        }
    }
    name
}

fn next_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// `    7f3a row_search_mvcc+0x1a (/usr/sbin/mysqld)`: the function, or its file where it has no
/// name.
pub(super) fn frame(line: &str) -> Option<Cow<'_, str>> {
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
        return Some(if is_kernel { format!("{}_[k]", cut(name)).into() } else { name.into() });
    }
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(format!("[{}]", cut(file.trim_matches(['[', ']']))).into())
}
