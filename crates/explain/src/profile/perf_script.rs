//! What `perf script` prints: samples, with their stacks below them, or the function behind them.
//!
//! ```text
//!   mysqld 7 [001] 5.25: 250000 cycles:u:                       header: period, event
//!   ⇥ 7f3a row_search_mvcc+0x1a (/usr/sbin/mysqld)              a frame each, the innermost first
//!
//!      sleep 7  5.25:   691 cycles:u:  7fa9550eeaa3 main+0xf3 (/usr/bin/x)    without stacks
//! ```
//!
//! A sample stands for as many events as its period says. All samples of a text have periods or
//! none has, and each has a header or none has: others would count for what is next to them.
//!
//! Text of other tools has lines that look like some of these: nearly all lines must be headers and
//! frames, or nothing is read.

use std::borrow::Cow;
use std::collections::HashMap;

use super::coverage::Coverage;
use super::filled::{filled_lines, is_digits};
use super::form::{
    CodePart, Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing, plain_event, two_events,
    unit_of_periods,
};
use super::lost::LostSamples;
use super::programs::{Sighting, Threads};
use super::rate::{SampleGaps, Sampling, perf_sampling};
use super::stack::{Stack, UNKNOWN, cut_name};

/// Whether a line is a frame below a header, or the header of a sample.
pub(super) fn is_of_script(line: &str) -> bool {
    is_frame(line) || header(line).is_some()
}

/// `  7f3a main+0x1a (/usr/bin/x)`: an address, and what may be the name of a function.
fn is_frame(line: &str) -> bool {
    let Some((address, name)) = line.trim().split_once(' ') else { return false };
    let name = name.trim_start();
    let is_short = address.bytes().all(|byte| byte.is_ascii_hexdigit()) && name.ends_with(')');
    line.starts_with([' ', '\t'])
        && (is_address(line) || is_short)
        && name.starts_with(|c: char| c.is_alphabetic() || "_[<(~*\".$?@".contains(c))
}

/// Whether the name of a frame has a blank outside of what is in parentheses or templates.
fn has_blank(line: &str) -> bool {
    let Some((_address, name)) = line.trim().split_once(' ') else { return false };
    let name = name.rsplit_once(" (").map_or(name, |(name, _file)| name).trim();
    let mut depth = 0_i32;
    let mut is_blank = false;
    for c in name.chars() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ' ' => is_blank |= depth <= 0,
            _ => {}
        }
    }
    is_blank && !name.contains("operator")
}

/// What else `perf script` prints below a header: the branches before a sample, and lines of the
/// source of a frame.
fn is_beside_frames(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let (first, others) = (words.next().unwrap_or_default(), words.next().is_some());
    let is_branch = first.starts_with("0x") && first.matches('/').count() > 1;
    let is_source = first.rsplit_once(':').is_some_and(|(_, number)| is_digits(number));
    line.starts_with([' ', '\t']) && (is_branch || (is_source && !others))
}

/// The share of lines that must be understood.
const UNDERSTOOD_LEAST: f64 = 0.9;

/// How many lines were understood.
#[derive(Default)]
struct LineCount {
    lines: u64,
    headers: u64,
    others: u64,
    first_other: usize,
    /// Frames that may be sentences, for their names have blanks.
    vague: u64,
    first_vague: usize,
}

impl LineCount {
    fn note(&mut self, number: usize, line: &str) {
        if line.trim().is_empty() || line.starts_with('#') {
            return;
        }
        self.lines += 1;
        let is_header = header(line).is_some() || short_header(line).is_some();
        self.headers += u64::from(is_header);
        if !is_header && is_frame(line) && has_blank(line) {
            self.vague += 1;
            if self.vague == 1 {
                self.first_vague = number;
            }
        }
        if !is_header && !is_frame(line) && !is_beside_frames(line) {
            self.others += 1;
            if self.others == 1 {
                self.first_other = number;
            }
        }
    }

    /// The first line that was not, where they are too many.
    fn refusal(&self) -> Option<ProfileError> {
        // Without headers nothing else tells frames from words behind a number.
        let vague = if self.headers == 0 { self.vague } else { 0 };
        let share = 1.0 - (self.others + vague) as f64 / self.lines.max(1) as f64;
        let first = if self.others > 0 { self.first_other } else { self.first_vague };
        (share < UNDERSTOOD_LEAST).then(|| {
            let what = format!(
                "{:.0} % of the lines are headers and frames as `perf script` prints them, and this \
                 one is not: `mysqld 7 [001] 5.25: 250000 cycles:`, and below `  7f3a main+0x1a \
                 (/usr/sbin/mysqld)`; give all that it has printed, and nothing else",
                100.0 * share
            );
            ProfileError::new(first, what)
        })
    }
}

/// Whether a text begins with an address.
fn is_address(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|address| {
        address.len() >= 4 && address.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// What has been read of the samples so far.
struct ScriptSamples<'t> {
    programs: HashMap<&'t str, &'t str>,
    /// What a sample weighs whose header has no period.
    weight_of_one: f64,
    stack: Stack<'t>,
    program: &'t str,
    weight: f64,
    event: Option<&'t str>,
    samples: u64,
    /// Whether samples have periods, as the first header has it.
    has_periods: Option<bool>,
    is_flat: bool,
    part: Option<CodePart>,
    gaps: SampleGaps<'t>,
    /// The first frame that no header is above.
    headless: Option<usize>,
    /// The line above that is no header, where frames of the sample before cannot be below it.
    beside: Option<usize>,
    /// Whether the stack of the header above has been given, so that it has no more frames.
    is_given: bool,
    /// Samples that have a header and no frame: their programs and weights.
    frameless: Vec<(&'t str, f64)>,
}

impl<'t> ScriptSamples<'t> {
    fn note_header(
        &mut self,
        number: usize,
        header: &SampleHeader<'t>,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        if let Some(first) = self.headless {
            return Err(ProfileError::new(first, HEADER_MISSING));
        }
        self.emit_stack(take);
        self.note_end_of_sample();
        self.program = self.programs.get(header.thread).copied().unwrap_or(header.thread);
        let has_period = header.period.is_some();
        if *self.has_periods.get_or_insert(has_period) != has_period {
            return Err(ProfileError::new(number, PERIODS_MIXED));
        }
        (self.beside, self.is_given) = (None, false);
        self.gaps.note_sample(header.before, header.at_s);
        self.weight = header.period.unwrap_or(self.weight_of_one);
        let own = CodePart::of_event(header.event);
        self.part = self.part.map(|part| part.union_with(own)).or(Some(own));
        let event = plain_event(header.event);
        match self.event {
            Some(first) if first != event => return Err(two_events(number, first, event)),
            _ => self.event = Some(event),
        }
        if is_address(header.place) {
            self.is_flat = true;
            self.push(number, header.place)?;
            self.emit_stack(take);
        }
        Ok(())
    }

    /// Takes a line that is no header of a sample.
    fn note_line(
        &mut self,
        number: usize,
        line: &'t str,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        if line.starts_with([' ', '\t']) {
            return self.push(number, line);
        }
        self.emit_stack(take);
        // Blank lines stand within samples, too.
        if !line.is_empty() {
            let thread = short_header(line).unwrap_or_default();
            self.program = self.programs.get(thread).copied().unwrap_or(thread);
            if !line.starts_with('#') {
                self.beside = Some(number);
            }
        }
        Ok(())
    }

    fn push(&mut self, number: usize, line: &'t str) -> Result<(), ProfileError> {
        let Some(frame) = frame_function(line).filter(|_| !is_beside_frames(line)) else {
            return Ok(());
        };
        if self.event.is_none() {
            self.headless.get_or_insert(number);
        } else if let Some(line) = self.beside.or(self.is_given.then_some(number)) {
            return Err(ProfileError::new(line, HEADER_MISSING));
        }
        self.stack.push(number, frame)
    }

    /// Notes that the sample of the header above, if there is one, has no frame.
    fn note_end_of_sample(&mut self) {
        if self.event.is_some() && !self.is_given {
            self.frameless.push((self.program, self.weight));
        }
    }

    /// Gives samples without frames, where others have some: they are as much of the whole.
    fn emit_frameless(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) {
        self.note_end_of_sample();
        if self.samples == 0 {
            return;
        }
        self.samples += self.frameless.len() as u64;
        for (program, weight) in self.frameless.drain(..) {
            take(&Sighting { program, ..Sighting::new(&[UNKNOWN], weight) });
        }
    }

    fn emit_stack(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) {
        self.samples += u64::from(!self.stack.is_empty());
        self.is_given |= !self.stack.is_empty();
        self.stack.emit_sighting(self.program, self.weight, take);
    }
}

/// Why a text is refused some of whose samples have periods.
const PERIODS_MIXED: &str = "of the samples above and this one, one has a period and the other has \
                             none, so that they cannot be added up: a sample without one would \
                             count as 1; give what `perf script` prints of one recording";
/// Why frames are refused below a line that is no header, beside others that have one.
const HEADER_MISSING: &str = "this stack has no header above it, and others have one, so that \
                              nobody knows what it weighs: `mysqld 7 [001] 5.25: 250000 cycles:`; \
                              give all that `perf script` has printed";

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let sampling = perf_sampling(text);
    let mut found = ScriptSamples {
        programs: threads(text).into_programs(),
        weight_of_one: sampling.map_or(1.0, Sampling::sample_weight),
        stack: Stack::default(),
        program: "",
        weight: 1.0,
        event: None,
        samples: 0,
        has_periods: None,
        is_flat: false,
        part: None,
        gaps: SampleGaps::default(),
        headless: None,
        beside: None,
        is_given: false,
        frameless: Vec::new(),
    };
    let (mut understood, mut lost) = (LineCount::default(), LostSamples::default());
    for (number, line) in filled_lines(text).chain([(0, "")]) {
        if lost.note_record(line) {
            continue;
        }
        understood.note(number, line);
        let noted = match header(line) {
            Some(header) => found.note_header(number, &header, take),
            None => found.note_line(number, line, take),
        };
        // What is no text of perf at all is said first.
        noted.map_err(|error| understood_whole(text).unwrap_or(error))?;
    }
    if let Some(error) = understood.refusal() {
        return Err(error);
    }
    found.emit_frameless(take);
    let ScriptSamples { event, samples, has_periods, is_flat, part, gaps, .. } = found;
    let has_periods = has_periods.unwrap_or(true);
    let unit = weight_unit(event, has_periods, sampling.filter(|_| !has_periods));
    let gap_us = gaps.usual_gap_us().filter(|_| unit == MeasureUnit::Sample);
    let stacks = if is_flat { " without stacks" } else { "" };
    let of = event.map_or_else(String::new, |event| format!(" of {event}"));
    Ok(Form {
        taken_for: format!("`perf script`, {samples} samples{of}{stacks}{lost}"),
        measure: ProfileMeasure::of_unit(unit, event)
            .with_part(part.unwrap_or_default())
            .with_gap(gap_us),
        weighing: Weighing::Periods,
        coverage: Coverage::WHOLE,
    })
}

/// That too few lines of a text are headers and frames.
fn understood_whole(text: &str) -> Option<ProfileError> {
    let mut understood = LineCount::default();
    filled_lines(text).for_each(|(number, line)| understood.note(number, line));
    understood.refusal()
}

/// What weights count: what the periods of all samples do, or what a sample stands for.
fn weight_unit(event: Option<&str>, has_periods: bool, sampling: Option<Sampling>) -> MeasureUnit {
    match (event, sampling) {
        (Some(event), _) if has_periods => unit_of_periods(event),
        (Some(_), Some(sampling)) => sampling.weight_unit(),
        (Some(_), None) => MeasureUnit::Sample,
        (None, _) => MeasureUnit::Untold,
    }
}

/// Which files the functions of threads are of.
fn threads(text: &str) -> Threads<'_> {
    let (mut threads, mut thread) = (Threads::default(), "");
    for (_, line) in filled_lines(text) {
        let place = match header(line) {
            Some(sampled) => {
                thread = sampled.thread;
                sampled.place
            }
            None => {
                if !line.is_empty() && !line.starts_with([' ', '\t']) {
                    thread = short_header(line).unwrap_or_default();
                }
                line
            }
        };
        if let Some(file) = file(place).filter(|_| !thread.is_empty()) {
            threads.note_file(thread, file);
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
struct SampleHeader<'a> {
    /// The name of the thread; empty where it is not told.
    thread: &'a str,
    /// All that stands before its time.
    before: &'a str,
    /// When it was taken, in seconds.
    at_s: f64,
    period: Option<f64>,
    event: &'a str,
    /// What stands behind the event.
    place: &'a str,
}

/// `mysqld 7 [001] 5.25: 250000 cycles:u:`
fn header(line: &str) -> Option<SampleHeader<'_>> {
    let is_time = |word: &str| {
        let parts = word.strip_suffix(':').and_then(|time| time.split_once('.'));
        parts.is_some_and(|(seconds, rest)| is_digits(seconds) && is_digits(rest))
    };
    let mut rest = line;
    let (before, at_s) = loop {
        let (word, behind) = next_word(rest)?;
        if is_time(word) {
            let before = line.len() - rest.trim_start().len();
            rest = behind;
            break (&line[..before], word.trim_end_matches(':').parse().ok()?);
        }
        rest = behind;
    };
    let (word, behind) = next_word(rest)?;
    let period = word.parse::<f64>().ok().filter(|period| *period > 0.0);
    let (event, place) = if period.is_some() { next_word(behind)? } else { (word, behind) };
    Some(SampleHeader { thread: thread(before), before, at_s, period, event, place })
}

/// `[003]`, `29906`, `29906/29910`
fn is_numbers(word: &str) -> bool {
    word.trim_matches(['[', ']']).split('/').all(is_digits)
}

/// `mysqld 29906`, as `-F comm,pid,ip,sym` prints it: the name of the thread.
fn short_header(line: &str) -> Option<&str> {
    let name = thread(line);
    (!line.starts_with([' ', '\t']) && name.len() < line.trim().len()).then_some(name)
}

/// `IO thread 29906/29910 [003] `: the name, without the numbers of its process and processor.
fn thread(before: &str) -> &str {
    let mut name = before.trim();
    // A thread may be called by a number.
    for _ in 0..2 {
        match name.rsplit_once(char::is_whitespace) {
            Some((rest, word)) if is_numbers(word) => name = rest.trim_end(),
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
pub(super) fn frame_function(line: &str) -> Option<Cow<'_, str>> {
    let (_address, rest) = line.trim().split_once(' ')?;
    // A name may have parentheses with blanks before them, as `std::function<void ()>` has.
    let parts = rest.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    let (symbol, file) = match parts {
        Some((symbol, file)) if !file.trim_end_matches(')').contains([')', '>']) => {
            (symbol.trim(), file.trim_end_matches(')'))
        }
        _ => (rest.trim(), ""),
    };
    let name = match symbol.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    if name != UNKNOWN {
        let is_kernel = file == "[kernel.kallsyms]" || file.starts_with("[guest.kernel");
        return Some(if is_kernel {
            format!("{}_[k]", cut_name(name)).into()
        } else {
            name.into()
        });
    }
    let file = file.rsplit('/').next().unwrap_or(file);
    Some(format!("[{}]", cut_name(file.trim_matches(['[', ']']))).into())
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    fn sample(header: &str, name: &str) -> String {
        format!("{header}\n\t    7f3a {name}+0x1 (/usr/sbin/mysqld)\n\n")
    }

    /// A sample without a period counted as 1, beside others that counted as ten million.
    #[test]
    fn samples_with_and_without_periods_are_not_added_up() {
        let told = sample("mysqld 7 [001] 5.25: 10101010 cpu-clock:", "a");
        let untold = sample("mysqld 7 [001] 5.26: cpu-clock:", "b");
        for text in [format!("{told}{untold}"), format!("{untold}{told}")] {
            let error = read(&text).unwrap_err();
            assert!(error.line == 4 && error.what.contains("has a period"), "{error}");
        }
        assert_eq!(read(&told.repeat(2)).unwrap().total, 20_202_020.0);
        assert_eq!(read(&untold.repeat(2)).unwrap().total, 2.0);
    }

    /// A sample whose header cannot be read counted as much as the one above it.
    #[test]
    fn a_stack_without_a_header_beside_others_is_refused() {
        let told = sample("mysqld 7 [001] 5.25: 10101010 cpu-clock:", "a");
        let broken = sample("mysqld 7 [001] 5,25: 10101010 cpu-clock:", "b");
        let short = sample("mysqld 7", "c");
        for (text, line) in [
            (told.repeat(20) + &broken + &told, 61),
            (told.repeat(20) + &short, 61),
            (told.repeat(20) + "\t    7f3a main+0x1 (/usr/sbin/mysqld)\n\n", 61),
            (short.clone() + &told, 2),
            (format!("\t    7f3a main+0x1 (/usr/sbin/mysqld)\n\n{told}"), 1),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.line == line && error.what.contains("no header"), "{error}");
        }
        assert_eq!(read(&short.repeat(2)).unwrap().total, 2.0, "no sample has a header");
        let words = told.repeat(20) + "Warning: a word\n" + &told;
        assert_eq!(read(&words).unwrap().own["a"], 21.0 * 10_101_010.0);
    }

    /// Samples without frames were lost from the whole, so that what had doubled was equal.
    #[test]
    fn samples_without_frames_are_those_of_an_unknown_function() {
        let told = sample("mysqld 7 [001] 5.25: 1000 cycles:P:", "a");
        let frameless = "mysqld 7 [001] 5.26: 1000 cycles:P: \n\n";
        for text in [
            told.repeat(2) + &frameless.repeat(3),
            format!("{frameless}{told}{frameless}{frameless}{told}"),
        ] {
            let profile = read(&text).unwrap();
            assert_eq!((profile.total, profile.own["a"]), (5_000.0, 2_000.0), "{text}");
        }
    }
}
