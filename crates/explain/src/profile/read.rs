//! Profiles as text, in any of the forms that tools print; which one it is shows in the lines.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use dbdyno_model::FunctionPlace;

use super::counts::weight_of_sample;
use super::coverage::Coverage;
use super::filled::filled_lines;
use super::form::{
    ALLOCATIONS, EVENT_LINE, Form, MeasureUnit, PERIOD_LINE, ProfileError, ProfileMeasure,
    SAMPLES_LINE, WAITS, Weighing, check_weights, is_amount, plain_event, two_events,
    unit_of_periods,
};
use super::inlined::is_within_java_name;
use super::primitives::{is_switch, telling_function, without_waker};
use super::programs::{Programs, Sighting};
use super::ruby::{MethodLines, may_have_blocks};
use super::samples::Profile;
use super::speedscope::is_of_speedscope;
use super::stack::{WrittenNames, endless_line};
use super::{
    async_profiler, backtraces, bcc, bpftrace, others, perf_report, perf_script, pprof, speedscope,
};

/// Reads stacks.
///
/// # Errors
/// The first line that is no stack, and a file without any.
pub fn read(text: &str) -> Result<Profile, ProfileError> {
    read_process(text, None)
}

/// Reads stacks: those of a program, or of all.
///
/// # Errors
/// The first line that is no stack, a file without any, and one without the program.
pub fn read_process(text: &str, process: Option<&str>) -> Result<Profile, ProfileError> {
    let mut sums = Sums::default();
    let (form, programs) = each_stack(text, process, &mut |seen| sums.add(seen))?;
    if sums.is_endless() {
        return Err(ProfileError::new(
            0,
            format!(
                "it has more than {PLACES_MOST} pairs of a function and its caller, which no program \
             has; give a profile whose functions have names"
            ),
        ));
    }
    check_weights(0, sums.total)?;
    let profile = sums.profile(form, &programs, process);
    if profile.total > 0.0 {
        return Ok(profile);
    }
    if let Some(error) = programs.nothing_left(process) {
        return Err(error);
    }
    let what = "there is no stack in it; give stacks as `main;work;read 12`, a line each, what \
                `perf script`, `perf report --stdio`, `pprof -top`, bpftrace, bcc, \
                async-profiler or pt-pmp prints, or gdb's `thread apply all bt`";
    Err(ProfileError::new(0, what))
}

/// Whose output a text is.
#[derive(Clone, Copy)]
enum Tool {
    PerfScript,
    Gdb,
    PtPmp,
    Bcc,
    Bpftrace,
    AsyncProfiler,
    Pprof,
}

/// The tool, by the first line that only one of them prints.
fn tool(text: &str) -> Option<Tool> {
    if bcc::is_of_bcc(text) {
        return Some(Tool::Bcc);
    }
    for (_, line) in filled_lines(text) {
        if line.is_empty() {
            continue;
        } else if bpftrace::is_of_bpftrace(line) {
            return Some(Tool::Bpftrace);
        } else if async_profiler::is_of_async_profiler(line) {
            return Some(Tool::AsyncProfiler);
        } else if backtraces::is_of_gdb(line) {
            return Some(Tool::Gdb);
        } else if pprof::is_of_pprof(line) {
            return Some(Tool::Pprof);
        } else if backtraces::is_of_pmp(line) {
            return Some(Tool::PtPmp);
        } else if perf_script::is_of_script(line) {
            return Some(Tool::PerfScript);
        } else if is_collapsed(line) {
            return None;
        }
    }
    None
}

/// Whether a line is a stack and a count: `main;work;read 12`.
fn is_collapsed(line: &str) -> bool {
    let parts = line.rsplit_once(' ').filter(|_| !line.starts_with(['#', ' ', '\t']));
    parts.is_some_and(|(stack, count)| stack.contains(';') && count.parse::<f64>().is_ok())
}

/// Gives each stack of a program, or of all, outermost function first, with its weight; names are
/// written as their language has them, and cut to a sensible length. What is idle is left out.
///
/// # Errors
/// The first line that is no stack, and texts that look alike and are none: samples of several
/// events, and what `perf diff` and difffolded.pl print. What no program has: lines and stacks
/// without end.
pub(super) fn each_stack(
    text: &str,
    process: Option<&str>,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<(Form, Programs), ProfileError> {
    let mut methods = MethodLines::default();
    if may_have_blocks(text) {
        each_seen(text, process, &mut |seen| methods.note_stack(seen.stack))?;
    }
    let mut names = WrittenNames::with_block_lines(methods.block_lines());
    let mut programs = Programs::default();
    let form = each_seen(text, process, &mut |seen| {
        names.emit_written(seen, &mut |seen| {
            if programs.note_stack(seen, process) {
                take(seen);
            }
        });
    })?;
    names.endless_names().map_or(Ok((form, programs)), Err)
}

/// Gives all that was seen.
fn each_seen(
    text: &str,
    process: Option<&str>,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    if is_of_speedscope(text) {
        return speedscope::each_stack(text, take);
    }
    if let Some(error) = others::other_tool_refusal(text).or_else(|| endless_line(text)) {
        return Err(error);
    }
    match tool(text) {
        Some(Tool::PerfScript) => return perf_script::each_stack(text, take),
        Some(Tool::Gdb) => return backtraces::each_stack(text, take),
        Some(Tool::PtPmp) => return backtraces::each_sum(text, take),
        Some(Tool::Bcc) => return bcc::each_stack(text, take),
        Some(Tool::AsyncProfiler) => return async_profiler::each_stack(text, take),
        Some(Tool::Bpftrace) => return bpftrace::each_stack(text, take),
        Some(Tool::Pprof) => return pprof::each_stack(text, take),
        None => {}
    }
    match perf_report::read(text)? {
        Some(report) => {
            for row in &report.rows {
                let program = row.program;
                take(&Sighting { program, ..Sighting::new(&[&row.name], row.weight) });
            }
            Ok(report.form)
        }
        None => collapsed(text, process, take),
    }
}

fn collapsed(
    text: &str,
    process: Option<&str>,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let (mut head, mut repeats) = (CollapsedHead::default(), RepeatedStacks::default());
    let (mut counted, mut all, mut squares) = (StackCount::default(), 0.0, 0.0);
    for (number, line) in filled_lines(text) {
        let line = line.trim();
        head.note_line(number, line, &counted)?;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (stack, count) = stack_and_count(number, line)?;
        let period = head.period.map_or(1.0, |(period, _)| period);
        let weight = count * period;
        (counted.stacks, counted.counts) = (counted.stacks + 1, counted.counts + count);
        (all, squares) = (all + weight, squares + weight * period);
        check_weights(number, all)?;
        if repeats.note_stack(stack, weight) {
            repeats.emit_sightings(process, take);
        }
    }
    repeats.emit_sightings(process, take);
    head.check_end(&counted)?;
    let of = head.event.map_or_else(String::new, |event| format!(" of {event}"));
    let weighing = match (&head.samples, head.event) {
        // Kish: of periods that differ the longer ones tell more.
        _ if head.period.is_some() => Weighing::Unit(squares / all.max(f64::MIN_POSITIVE)),
        (Some(samples), _) => Weighing::Unit(all / samples.sum),
        (None, Some(event)) if is_amount(event) => Weighing::Untold,
        (None, _) => Weighing::Counts,
    };
    let stacks = counted.stacks;
    let taken_for = format!("collapsed stacks{of}, {stacks} of them");
    Ok(Form { taken_for, measure: head.measure(), weighing, coverage: Coverage::WHOLE })
}

/// Stacks that are kept until it is known how often each was seen, at most: some 2 MiB.
const STACKS_KEPT: usize = 1 << 14;

/// Stacks as they are written, in the order in which they were seen first: a text that nobody has
/// summed up has the same ones again and again, and each is taken apart once.
#[derive(Default)]
struct RepeatedStacks<'t> {
    /// By stack and weight, as the bits of it: the place among all.
    places: HashMap<(&'t str, u64), usize>,
    /// With the weight, and how often each was seen.
    stacks: Vec<(&'t str, f64, u64)>,
}

impl<'t> RepeatedStacks<'t> {
    /// Notes a stack; whether there are as many as are kept.
    fn note_stack(&mut self, stack: &'t str, weight: f64) -> bool {
        let place = *self.places.entry((stack, weight.to_bits())).or_insert(self.stacks.len());
        match self.stacks.get_mut(place) {
            Some((.., times)) => *times += 1,
            None => self.stacks.push((stack, weight, 1)),
        }
        self.stacks.len() == STACKS_KEPT
    }

    /// Gives each, and is empty afterwards.
    fn emit_sightings(&mut self, process: Option<&str>, take: &mut dyn FnMut(&Sighting<'_>)) {
        let mut frames: Vec<&str> = Vec::new();
        self.places.clear();
        for (stack, weight, times) in self.stacks.drain(..) {
            frames.clear();
            split_frames(without_waker(stack), &mut frames);
            // stackcollapse-perf.pl begins a stack with its process, and says so nowhere.
            let program = frames.first().filter(|_| process.is_some()).copied().unwrap_or("");
            take(&Sighting { program, stack: &frames, weight, times });
        }
    }
}

/// The frames of a stack; `Lorg/x/Bar;::run` of Java is one.
fn split_frames<'t>(stack: &'t str, frames: &mut Vec<&'t str>) {
    let mut from = 0;
    for (at, _) in stack.match_indices(';').chain([(stack.len(), "")]) {
        if !is_within_java_name(&stack[from..at], &stack[at..]) {
            frames.push(stack[from..at].trim());
            from = at + 1;
        }
    }
}

/// How many samples all stacks have, as lines tell it.
struct ToldSamples {
    /// Of the stacks below the last line that tells it.
    last: f64,
    /// Of all stacks.
    sum: f64,
    /// The last line that tells it.
    line: usize,
    /// How many stacks stand above that.
    stacks: u64,
}

/// What lines above collapsed stacks tell.
#[derive(Default)]
struct CollapsedHead<'t> {
    event: Option<&'t str>,
    samples: Option<ToldSamples>,
    /// Events of a sample of the stacks that come next, and how many stacks stand above the line
    /// that tells it.
    period: Option<(f64, u64)>,
}

impl<'t> CollapsedHead<'t> {
    /// Takes what a line tells that stands behind so many stacks; others tell nothing.
    fn note_line(
        &mut self,
        number: usize,
        line: &'t str,
        counted: &StackCount,
    ) -> Result<(), ProfileError> {
        if let Some(told) = line.strip_prefix(EVENT_LINE).map(plain_event) {
            match self.event {
                Some(first) if first != told => return Err(two_events(number, first, told)),
                _ => self.event = Some(told),
            }
        }
        if let Some(told) = line.strip_prefix(SAMPLES_LINE) {
            self.note_samples(number, told, counted)?;
        }
        if let Some(told) = line.strip_prefix(PERIOD_LINE) {
            let usage = "behind `# period:` stands how many events a sample stands for, 1 or more, \
                         of a clock nanoseconds: `# period: 10101010`";
            let told = positive(told).filter(|period| *period >= 1.0);
            let told = told.ok_or_else(|| ProfileError::new(number, usage))?;
            match self.period {
                None if counted.stacks > 0 => {
                    let what = "the stacks above have no `# period:`, so that they and those below \
                                cannot be added up; put one above each of them, or give two files";
                    return Err(ProfileError::new(number, what));
                }
                Some((first, stacks)) if first != told && stacks == counted.stacks => {
                    return Err(told_twice(number, PERIOD_LINE, first, told));
                }
                _ => self.period = Some((told, counted.stacks)),
            }
        }
        Ok(())
    }

    /// Behind the stacks of one file another one may stand, with a head of its own.
    fn note_samples(
        &mut self,
        number: usize,
        text: &str,
        counted: &StackCount,
    ) -> Result<(), ProfileError> {
        let usage = "behind `# samples:` stands how many samples all stacks have: \
                     `# samples: 12000`";
        let told = positive(text).ok_or_else(|| ProfileError::new(number, usage))?;
        let stacks = counted.stacks;
        self.check_samples(counted)?;
        match &self.samples {
            None if stacks > 0 => return Err(ProfileError::new(number, SAMPLES_BELOW)),
            Some(first) if first.stacks == stacks => {
                if first.last != told {
                    return Err(told_twice(number, SAMPLES_LINE, first.last, told));
                }
            }
            first => {
                let sum = told + first.as_ref().map_or(0.0, |first| first.sum);
                self.samples = Some(ToldSamples { last: told, sum, line: number, stacks });
            }
        }
        Ok(())
    }

    /// Looks whether all stacks are there that the last head tells of.
    ///
    /// # Errors
    /// They are not, and the line that tells how many samples they have.
    fn check_end(&self, counted: &StackCount) -> Result<(), ProfileError> {
        match &self.samples {
            Some(last) if counted.stacks > 0 && last.stacks == counted.stacks => {
                Err(ProfileError::new(last.line, SAMPLES_BELOW))
            }
            _ => self.check_samples(counted),
        }
    }

    /// Looks whether all stacks have as many samples as the head tells: those of a text that was
    /// cut have fewer.
    ///
    /// # Errors
    /// They have not, and the line that tells how many.
    fn check_samples(&self, counted: &StackCount) -> Result<(), ProfileError> {
        let Some(told) = self.samples.as_ref().filter(|told| told.stacks < counted.stacks) else {
            return Ok(());
        };
        let &ToldSamples { sum: samples, line, .. } = told;
        let most_apart = 0.5 + SAMPLES_ROUNDED * samples;
        // What is an amount may be less than 1 each time.
        let is_less = counted.counts < samples - most_apart && !self.event.is_some_and(is_amount);
        // Counts below a period are samples.
        let is_more = counted.counts > samples + most_apart && self.period.is_some();
        if !is_less && !is_more {
            return Ok(());
        }
        let what = format!(
            "there are {samples} samples as this line has it, and the stacks have {} together: \
             stacks are missing, or others were added; give the file as it was written, to its end",
            counted.counts
        );
        Err(ProfileError::new(line, what))
    }

    fn measure(&self) -> ProfileMeasure {
        match self.event {
            Some(event) if self.period.is_some() => {
                ProfileMeasure::of_unit(unit_of_periods(event), Some(event))
            }
            None if self.period.is_some() => ProfileMeasure::of_unit(MeasureUnit::Event, None),
            Some(event) if is_amount(event) => {
                ProfileMeasure::of_unit(MeasureUnit::Event, Some(event))
            }
            Some(event) => ProfileMeasure::of_unit(MeasureUnit::Sample, Some(event)),
            None => ProfileMeasure::UNTOLD,
        }
    }
}

/// Why a number of samples is refused below stacks that have none above them, or above none.
const SAMPLES_BELOW: &str = "`# samples:` stands above the stacks that it counts, and those above \
                             this line have none, or none follow: the text was cut, or put \
                             together of two; give each file as it was written";

/// Sums of samples are rounded as far as this, as shares of them.
const SAMPLES_ROUNDED: f64 = 1e-6;

/// How many stacks were read, and the sum of what stands behind them.
#[derive(Default)]
struct StackCount {
    stacks: u64,
    counts: f64,
}

/// Two numbers where one belongs.
fn told_twice(line: usize, whose: &str, first: f64, other: f64) -> ProfileError {
    let what = format!(
        "`{whose} {other}` stands here, and `{whose} {first}` above: nobody knows which is right, \
         and stacks of two profiles cannot be told apart; give two files"
    );
    ProfileError::new(line, what)
}

fn positive(number: &str) -> Option<f64> {
    number.trim().parse::<f64>().ok().filter(|it| it.is_finite() && *it > 0.0)
}

/// `main;work;read 12`: the stack, and how often it was seen.
fn stack_and_count(number: usize, line: &str) -> Result<(&str, f64), ProfileError> {
    let wrong = |what: &str| ProfileError::new(number, what);
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
    Ok((stack, count))
}

/// The share of stacks that end there from which on no sample of a processor is among them.
const ALL_GOING: f64 = 0.999;

/// What functions tell of stacks whose text does not: all threads go off the processor, or types
/// of arrays stand where functions do, as in profiles of Java's allocations.
fn told_by_functions(own: &BTreeMap<Arc<str>, f64>, total: f64) -> Option<&'static str> {
    let going: f64 = own.iter().filter(|(name, _)| is_switch(name)).map(|(_, own)| own).sum();
    if going >= ALL_GOING * total {
        return Some(WAITS);
    }
    own.keys().any(|name| is_array(name)).then_some(ALLOCATIONS)
}

/// Whether a type of arrays stands where a function does.
fn is_array(function: &str) -> bool {
    let name = without_kernel_mark(function);
    let name = name.strip_suffix("_[i]").unwrap_or(name);
    name.strip_suffix("[]").is_some_and(|element| {
        !element.is_empty()
            && element.bytes().all(|b| b.is_ascii_alphanumeric() || b"_$./[]".contains(&b))
    })
}

fn without_kernel_mark(function: &str) -> &str {
    function.strip_suffix("_[k]").unwrap_or(function)
}

/// Functions with their callers, at most: profiles of large servers have some ten thousand.
const PLACES_MOST: usize = 200_000;

/// Stacks whose weights are looked at, at most: so many tell what they are, and have 8 MiB.
const WEIGHTS_MOST: usize = 1 << 19;

/// Samples by number of function: a million stacks have a few thousand names.
#[derive(Default)]
struct Sums {
    numbers: HashMap<Arc<str>, u32>,
    /// By number.
    own: Vec<f64>,
    /// The same, each wait counted for the function that waits.
    waiting: Vec<f64>,
    /// Weights of the first stacks, but for 0, with how often each was seen.
    weights: Vec<(f64, u64)>,
    /// The sum of the squares of all weights.
    squares: f64,
    /// By caller, if there is one, and function.
    by_caller: HashMap<(Option<u32>, u32), f64>,
    total: f64,
    /// Places of the stack that is being added, kept to be used again.
    places: HashSet<(Option<u32>, u32)>,
}

impl Sums {
    /// Whether it has more places than are kept; what comes after them is not.
    fn is_endless(&self) -> bool {
        self.by_caller.len() > PLACES_MOST || self.own.len() > PLACES_MOST
    }

    fn add(&mut self, seen: &Sighting<'_>) {
        let Sighting { stack, weight, times, .. } = *seen;
        if self.is_endless() {
            return;
        }
        self.places.clear();
        let mut caller = None;
        for frame in stack {
            let number = self.number(frame);
            // A function that calls itself has its samples once.
            self.places.insert((caller, number));
            caller = Some(number);
            if self.places.len() > PLACES_MOST {
                break;
            }
        }
        let Some(last) = caller else { return };
        if weight > 0.0 && self.weights.len() < WEIGHTS_MOST {
            self.weights.push((weight, times));
        }
        let count = seen.total_weight();
        self.total += count;
        self.squares += weight * count;
        self.own[last as usize] += count;
        let telling = self.number(telling_function(stack));
        self.waiting[telling as usize] += count;
        for place in &self.places {
            *self.by_caller.entry(*place).or_default() += count;
        }
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.own.len() as u32;
        self.numbers.insert(name.into(), number);
        self.own.push(0.0);
        self.waiting.push(0.0);
        number
    }

    fn profile(self, form: Form, programs: &Programs, process: Option<&str>) -> Profile {
        let mut names: Vec<Arc<str>> = vec!["".into(); self.own.len()];
        for (name, number) in self.numbers {
            names[number as usize] = name;
        }
        let name = |number: u32| names[number as usize].clone();
        let by_function = |sums: &[f64]| -> BTreeMap<Arc<str>, f64> {
            let own = (0..).zip(sums).filter(|(_, own)| **own > 0.0);
            own.map(|(number, own)| (name(number), *own)).collect()
        };
        let mut own = by_function(&self.own);
        let mut form = form;
        if form.measure == ProfileMeasure::UNTOLD
            && let Some(event) = told_by_functions(&own, self.total)
        {
            form.measure = ProfileMeasure::of_unit(MeasureUnit::Event, Some(event));
            if form.weighing == Weighing::Counts {
                form.weighing = Weighing::Untold;
            }
            form.taken_for += &format!(", {event} as their functions tell");
        }
        let by_caller = self.by_caller.into_iter().map(|((caller, number), samples)| {
            ((caller.map_or_else(|| "".into(), name), name(number)), samples)
        });
        let unit = match form.weighing {
            Weighing::Periods => Some(self.squares / self.total.max(f64::MIN_POSITIVE)),
            Weighing::Counts => weight_of_sample(&self.weights),
            Weighing::Untold => None,
            Weighing::Unit(unit) => Some(unit),
        };
        let Form { mut taken_for, mut measure, coverage, weighing } = form;
        match unit {
            Some(unit) if weighing == Weighing::Counts && unit > 1.0 => {
                taken_for +=
                    &format!(", the smallest weight, {unit}, taken for that of one sample");
            }
            Some(_) => {}
            None => taken_for += ", and how many samples their weights stand for is not told",
        }
        if unit.is_none() && measure.unit == MeasureUnit::Sample {
            measure.unit = MeasureUnit::Event;
        }
        let mut place = FunctionPlace::Innermost;
        if measure.has_waits() {
            (place, own) = (FunctionPlace::Waiting, by_function(&self.waiting));
        }
        taken_for += &programs.shares_text(process);
        Profile {
            unit,
            place,
            own,
            by_caller: by_caller.collect(),
            total: self.total,
            is_excerpt: coverage.is_excerpt,
            left_out_most: coverage.left_out_most,
            measure,
            taken_for,
            programs: programs.busy_shares(),
            idle_share: programs.idle_share(),
            process: process.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::form::{CodePart, MeasureUnit};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn both_forms_of_stacks_are_read() {
        let collapsed =
            read("# a comment\nmain;work;read 3\nmain;work 2\nmain;work;work 1\n").unwrap();
        assert_eq!(collapsed.total, 6.0);
        assert_eq!((collapsed.own["read"], collapsed.own["work"]), (3.0, 3.0));
        let key = |caller: &str, name: &str| (caller.into(), name.into());
        assert_eq!(collapsed.by_caller[&key("main", "work")], 6.0);
        assert_eq!(collapsed.by_caller[&key("work", "work")], 1.0);
        let script = "mysqld 7 [001] 5.25: 10101010 cpu-clock:pppH:\n\
                      \t    7f3a read_row(THD*)+0x1a (/usr/sbin/mysqld)\n\
                      \t    7f00 [unknown] (/lib/libc.so.6)\n\
                      \t    5501 main+0x5 (/usr/sbin/mysqld)\n\n\
                      mysqld 7 [001] 5.26: 10101010 cpu-clock:pppH:\n\
                      \t    5501 main+0x9 (/usr/sbin/mysqld)\n";
        let script = read(script).unwrap();
        let samples = |weight: f64| (weight / script.unit.unwrap()).round();
        assert_eq!(samples(script.total), 2.0);
        let own = (samples(script.own["read_row(THD*)"]), samples(script.own["main"]));
        assert_eq!(own, (1.0, 1.0));
        assert_eq!(samples(script.by_caller[&key("main", "[libc.so.6]")]), 1.0);
    }

    /// A text that nobody has summed up has the same stacks again and again.
    #[test]
    fn a_stack_that_comes_again_is_taken_apart_once() {
        let text = "# period: 1000\n".to_owned()
            + &"main;work 1\nmain;rest 1\n".repeat(500)
            + "main;work 2\n# period: 2000\nmain;rest 1\n";
        let mut given = Vec::new();
        let take = &mut |seen: &Sighting<'_>| {
            given.push((seen.stack[1].to_owned(), seen.weight, seen.times));
        };
        each_stack(&text, None, take).unwrap();
        let expected = [("work", 1e3, 500), ("rest", 1e3, 500), ("work", 2e3, 1), ("rest", 2e3, 1)];
        assert!(given.iter().map(|(name, w, n)| (&**name, *w, *n)).eq(expected), "{given:?}");
        let profile = read(&text).unwrap();
        assert_eq!((profile.own["work"], profile.own["rest"]), (502e3, 502e3));
        assert_eq!((profile.total, profile.unit), (1_004e3, Some(1_006e6 / 1_004e3)));
        assert!(profile.taken_for.contains("1002 of them"), "{}", profile.taken_for);
        // A line for each sample, however often its stack comes.
        assert_eq!(read(&"main;work 1\n".repeat(9)).unwrap().unit, Some(1.0));
    }

    /// A file that was cut behind its head was read as one that is whole, and its functions that
    /// are missing were proved to be gone.
    #[test]
    fn collapsed_stacks_have_as_many_samples_as_their_head_tells() {
        let of = |samples: &str, period: &str, hot: u64| {
            let lines: String = (0..50).map(|at| format!("main;g{at} 10\n")).collect();
            format!("# event: cpu-clock\n{samples}{period}{lines}main;hot {hot}\n")
        };
        let (samples, period) = ("# samples: 3500\n", "# period: 10101010\n");
        assert_eq!(read(&of(samples, period, 3_000)).unwrap().unit, Some(10_101_010.0));
        let twice = of(samples, period, 3_000).repeat(2);
        assert_eq!(read(&twice).unwrap().total, 7_000.0 * 10_101_010.0);
        assert_eq!(read(&of(&samples.repeat(2), period, 3_000)).unwrap().total, 35353535000.0);
        assert!(read(&of(samples, "", 30_000)).is_ok(), "counts may be a clock's");
        let waits = "# event: offcpu-time\n# samples: 9\nmain;read 3\n";
        assert!(read(waits).is_ok(), "milliseconds, most of them 0");
        let cut = &twice[..twice.len() - "main;hot 3000\n".len()];
        for (text, line, why) in [
            (
                &*of(samples, period, 3),
                2,
                "3500 samples as this line has it, and the stacks have 503 ",
            ),
            (&of(samples, "", 3), 2, "3500 samples as this line has it, and the stacks have 503 "),
            (&of(samples, period, 9_000), 2, "and the stacks have 9500 "),
            (&of("# samples: 99999999\n", period, 3_000), 2, "99999999 samples"),
            ("main;work 3\n# samples: 40\n", 2, "those above this line have none"),
            ("# samples: 3\nmain;work 3\n# samples: 40\n", 3, "or none follow"),
            (&of("# samples: 3500\n# samples: 3400\n", period, 3_000), 3, "which is right"),
            (&of(samples, "# period: 10\n# period: 9\n", 3_000), 4, "which is right"),
            (&of(samples, "# period: 1e-300\n", 3_000), 3, "1 or more"),
            (cut, 56, "7000 samples as this line has it, and the stacks have 4000"),
            (&twice.replacen("hot 3000", "hot 3", 1), 2, "and the stacks have 503 "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.line == line && error.what.contains(why), "{error}");
        }
    }

    /// So many stacks are kept and no more, whatever their number in a text is.
    #[test]
    fn stacks_that_are_kept_have_a_limit() {
        let lines: Vec<String> = (0..STACKS_KEPT).map(|at| format!("f{at}")).collect();
        let mut repeats = RepeatedStacks::default();
        let full = lines.iter().filter(|line| repeats.note_stack(line, 1.0)).count();
        let mut given = 0;
        repeats.emit_sightings(None, &mut |seen| given += seen.times as usize);
        assert_eq!((full, given, repeats.stacks.len()), (1, STACKS_KEPT, 0));
        assert!(!repeats.note_stack(&lines[0], 1.0) && repeats.places.len() == 1);
    }

    #[test]
    fn a_class_of_java_is_no_frame_of_its_own() {
        let mut frames = Vec::new();
        split_frames("java;Lorg/x/Bar;::run;Lorg/x/Baz;::run;LoadFile;::f;b", &mut frames);
        assert_eq!(
            frames,
            ["java", "Lorg/x/Bar;::run", "Lorg/x/Baz;::run", "LoadFile", "::f", "b"]
        );
    }

    /// A stack of a million functions, and a million stacks that have nothing in common, take no
    /// more than stacks of a program do.
    #[test]
    fn what_no_program_has_is_refused() {
        let frames = |count: usize| (0..count).map(|at| format!("f{at}")).collect::<Vec<_>>();
        let deep = read(&format!("{} 5\n", frames(100_000).join(";"))).unwrap();
        assert_eq!((deep.total, deep.by_caller.len()), (5.0, 100_000));
        let apart = |at: usize| format!("a{at};b{at} 1\n");
        let endless: String = (0..PLACES_MOST).map(apart).collect();
        let error = read(&endless).unwrap_err();
        assert!(error.what.contains("no program has"), "{error}");
    }

    /// What an ordinary user records has no events of the kernel: its functions seemed to cost
    /// nothing any more.
    #[test]
    fn what_is_counted_in_user_code_alone_is_another_thing() {
        let report = |event: &str| {
            let head = format!("# Samples: 4K of event '{event}'\n# Event count (approx.): 5000\n");
            read(&(head + "100.00%  a  b  [.] f\n")).unwrap().measure
        };
        let script = |event: &str| {
            read(&format!("m 7 [001] 5.25: 25 {event}: \n\t7f3a f+0x1 (/bin/m)\n\n"))
                .unwrap()
                .measure
        };
        for of in [&report as &dyn Fn(&str) -> ProfileMeasure, &script] {
            let contradict = |one, other| of(one).is_incomparable_with(&of(other));
            assert!(contradict("cycles", "cycles:u") && contradict("cycles:u", "cycles:kppp"));
            assert!(!contradict("cycles:u", "cycles:uppp") && !contradict("cycles", "cycles:pppH"));
            assert_eq!(of("cycles:u").name(), "cycles of user code alone");
        }
    }

    /// A sample stands for as many events as its period says.
    #[test]
    fn samples_are_weighed_by_their_periods() {
        let sample = |period: u32, event: &str, name: &str| {
            format!("java 1 [000] 1.0: {period:>10} {event}: \n\t  29ebc {name} (/usr/bin/x)\n\n")
        };
        let profile = read(&(sample(1, "faults", "hot") + &sample(99, "faults", "cold"))).unwrap();
        assert_eq!((profile.own["hot"], profile.own["cold"], profile.total), (1.0, 99.0, 100.0));
        let samples = profile.total / profile.unit.unwrap();
        assert!((1.0..1.1).contains(&samples), "one sample outweighs the other: {samples}");
        let both = sample(5, "cycles:u", "a") + &sample(7, "instructions:u", "a");
        let error = read(&both).unwrap_err();
        assert_eq!(error.line, 4);
        assert!(error.what.contains("two events, cycles and instructions"), "{error}");
        assert!(read(&(sample(5, "cycles:u", "a") + &sample(7, "cycles:k", "a"))).is_ok());
    }

    /// Own weights of a text, what it was taken for, and what it counts.
    fn told(text: &str) -> (Vec<(String, f64)>, String, ProfileMeasure) {
        let profile = read(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let own = profile.own.into_iter().map(|(name, own)| (name.to_string(), own.round()));
        (own.collect(), profile.taken_for, profile.measure)
    }

    fn owns(all: &[(&str, f64)]) -> Vec<(String, f64)> {
        all.iter().map(|(name, own)| ((*name).to_owned(), *own)).collect()
    }

    /// gdb's backtraces, and pt-pmp's sums of the same: three samples of three threads.
    #[test]
    fn backtraces_and_their_sums_tell_the_same() {
        let thread = |number: u32, frames: &[&str]| {
            let frame = |(at, frame): (usize, &&str)| format!("#{at}  {frame}\n");
            let frames: String = frames.iter().enumerate().map(frame).collect();
            format!("Thread {number} (Thread 0x7f{number} (LWP {number})):\n{frames}\n")
        };
        let waits = [
            "0x0001 in pthread_cond_wait@@GLIBC_2.3.2 () from /lib/libpthread.so.0",
            "0x0002 in os_event::wait (this=0x1,\n    count=0) at os0event.cc:1",
            "0x0003 in start_thread (arg=0x7f) at pthread_create.c:309",
        ];
        let works =
            ["row_sel<true> (a=1) at row0sel.cc:5", "0x0003 in start_thread (arg=0x7f) at p.c:3"];
        let polls = ["0x0004 in poll () from /lib/libc.so.6", "0x0005 in main ()"];
        let sample = |is_busy: bool| {
            let second = if is_busy { &works[..] } else { &waits[..] };
            thread(3, &waits) + &thread(2, second) + &thread(1, &polls)
        };
        let gdb = sample(true) + &sample(false) + &sample(true);
        let (own, taken_for, measure) = told(&gdb);
        assert_eq!(own, owns(&[("os_event::wait", 4.0), ("poll", 3.0), ("row_sel<true>", 2.0)]));
        assert_eq!(taken_for, "gdb backtraces, 3 samples of 3 threads");
        assert_eq!(measure.name(), "threads, working or waiting");
        let pmp = "Fri Jan  6 23:48:24 UTC 2017\n\
                   \u{20}     4 pthread_cond_wait(libpthread.so.0),os_event::wait(os0event.cc:1),start_thread\n\
                   \u{20}     3 poll(libc.so.6),main\n      2 row_sel<true>,start_thread\n";
        let (sums, taken_for, of_sums) = told(pmp);
        assert_eq!((sums, of_sums), (own, measure));
        assert_eq!(taken_for, "pt-pmp, 3 stacks of 9 threads");
        assert!(told("   4207 nanosleep,usleep,main\n").1.starts_with("pt-pmp"), "no address");
        let quoted: String =
            gdb.lines().map(|line| format!("> {}\n", line.replace('#', "\\#"))).collect();
        assert_eq!(told(&quoted).0, told(&gdb).0);
        let cut = read(&(pmp.to_owned() + "[...]\n")).unwrap_err();
        assert!(cut.line == 5 && cut.what.contains("left out"), "{cut}");
    }

    #[test]
    fn maps_of_bpftrace_are_stacks() {
        let map = "Attaching 1 probe...\n@cpu[\n    __schedule+723\n    schedule+70\n,\n    \
                   Timer::arm(unsigned long, std::function<void ()>)+188\n    start_thread+219\n, \
                   mysqld]: 1493\n@cpu[\n,\n    Timer::arm(unsigned long, std::function<void \
                   ()>)+4\n    0x7f3a\n, mysqld]: 7\n";
        let profile = read(map).unwrap();
        assert_eq!((profile.own["__schedule"], profile.total), (1493.0, 1500.0));
        let arm: Arc<str> = "Timer::arm(unsigned long, std::function<void ()>)".into();
        assert_eq!(profile.by_caller[&(arm.clone(), "schedule".into())], 1493.0);
        assert_eq!(profile.own[&arm], 7.0);
        assert_eq!(
            profile.taken_for,
            "bpftrace map @cpu, 2 stacks, and how many samples their weights stand for is not told; of \
             mysqld"
        );
        assert_eq!(told("@[vfs_read]: 5\n@[vfs_write]: 7\n").0[0], ("vfs_read".to_owned(), 5.0));
        for (text, why) in [
            ("@a[\n    f+1\n]: 3\n@b[\n    f+1\n]: 3\n", "two maps, @a and @b"),
            ("@[\n    f+1\n    mysqld]:\n[2K, 4K)  134 |@@|\n", "a histogram of bpftrace"),
            ("@[\n    f+1\n]: 3\n[...]\n", "left out"),
            ("@[\n    f+1\n", "has no end"),
            ("@freq[154]: 1100000\n", "there is no stack"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.what.contains(why), "{error} {text}");
        }
    }

    #[test]
    fn tables_of_pprof_have_the_total_of_their_head() {
        let table = "Type: cpu\nDuration: 20.4s, Total samples = 20s (98%)\n(pprof) top2\n\
                     Showing nodes accounting for 8s, 40% of 20s total\nShowing top 2 nodes out of \
                     90\n      flat  flat%   sum%        cum   cum%\n     5s 25% 25%      17s 85%  \
                     runtime.scan (inline)\n  3000ms 15% 40%      3s 15%  main.work /go/src/x.go:7\n  \
                     0     0% 40%      20s 100%  main.main\n";
        let profile = read(table).unwrap();
        assert_eq!((profile.own["runtime.scan"], profile.own["main.work"]), (5.0, 3.0));
        assert_eq!((profile.total, profile.is_excerpt), (20.0, true));
        assert_eq!(profile.total / profile.unit.unwrap(), 2_000.0, "of 10 ms each");
        assert_eq!(profile.taken_for, "`pprof -top` of cpu, 2 functions, 40.0 % of it");
        let headless = table.replace("Showing nodes", "some nodes of");
        let headless = headless.replace("accounting for", "for");
        assert_eq!(read(&headless).unwrap().total.round(), 20.0, "from the largest share");
        let heap = "flat flat% sum% cum cum%\n 2MB 100% 100% 2MB 100% f\n";
        assert_eq!(told(heap).0, owns(&[("f", 2_097_152.0)]));
        for (text, why) in [
            (format!("{table}{table}"), "a second table"),
            (table.replace("3000ms", "-3000ms"), "below 0"),
            (table.replace("3000ms", "3parsecs"), "a weight is a time"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.what.contains(why), "{error}");
        }
    }

    /// Samples without stacks have their function in the same line.
    #[test]
    fn flat_samples_are_read_with_their_periods() {
        let flat = "  sleep 27  2843.56180: 691 cycles:u:  ffffffffbb26bff4 [unknown] ([unknown])\n\
                    \u{20}  sleep 27  2843.556189:  9160 cycles:u:  7fa9550eeaa3 init+0xf3 (/lib/x)\n";
        let (own, taken_for, measure) = told(flat);
        assert_eq!(own, owns(&[("[unknown]", 691.0), ("init", 9_160.0)]));
        assert_eq!(taken_for, "`perf script`, 2 samples of cycles without stacks; of sleep");
        assert_eq!(measure.name(), "cycles of user code alone");
        let tracepoints =
            "perf 13 [002] 233.835807: sched:sched_switch: perf:13 [120] R ==> m:27\n";
        assert!(read(tracepoints).unwrap_err().what.contains("there is no stack"));
    }

    /// Below a stack of bcc stands how often it was counted.
    #[test]
    fn stacks_of_bcc_have_their_counts() {
        let text = "Sampling at 49 Hertz of all threads by user + kernel stack.\n^C\n    \
                    ffffffff814ebf62 read_iter_zero\n    ffffffff817cb636 entry_SYSCALL_64\n    --\n    \
                    00007f317a59b9b0 read\n    -                dd (6773)\n        5\n\n    \
                    ffffffff8103663e default_idle\n    --\n    -                swapper/2 (0)\n        \
                    57\n\n";
        let (own, taken_for, _) = told(text);
        assert_eq!(own, owns(&[("read_iter_zero", 102_040_816.0)]));
        assert_eq!(
            taken_for,
            "bcc's `profile` of processor time at 49 Hertz, 2 stacks; of dd; 91.9 % of all samples are idle and left out"
        );
    }

    /// What a profile counts is named by what its text tells, and is `samples` where nothing does.
    #[test]
    fn what_is_counted_is_what_the_text_tells() {
        let off = "    finish_task_switch\n    schedule\n    --\n    read\n    -                \
                   bash \
                   (24347)\n        1450908\n\n    schedule\n    waitpid\n    -           bash (24)\n   \
                   \x20   4952\n";
        let offcputime = format!(
            "# offcputime-bpfcc -p 24347\nTracing off-CPU time (us) of PID 24347 by user + kernel \
             stack... Hit Ctrl-C to end.\n^C\n{off}"
        );
        let users = "Tracing off-CPU time (us) of user threads by user stack for 5 \
                     secs.\n\n\twrite\n\
                     \t-                python (9107)\n\t    8\n\n";
        let map = "@[\n    pthread_cond_wait+12\n, mysqld]: 36126\n";
        let traced = format!(
            "Attaching 3 probes...\nTracing nanosecond time in off-CPU stacks. Ctrl-C to end.\n{map}"
        );
        let java = |head: &str, unit: &str| {
            format!(
                "{head}--- Execution profile ---\nTotal samples:         496\n\n--- 352227700 {unit} \
                 (53.09%), 248 samples\n  [ 0] java.lang.Object\n  [ 1] a.b.Main.run\n\n--- 300000000 \
                 {unit} (45.22%), 248 samples\n  [ 0] c.D\n\n          ns  percent  samples  top\n  \
                 ----------  -------  -------  ---\n   352227700   53.09%      248  java.lang.Object\n"
            )
        };
        for (text, counts) in [
            (offcputime.as_str(), "off-CPU time"),
            (users, "off-CPU time by user stacks alone"),
            (off, "waits off the CPU"),
            ("mysqld;do_command;-;futex_wait;schedule;finish_task_switch.isra.0 4952\n", WAITS),
            ("a;b;__schedule_[k] 7\nb;schedule_[k] 99\n", WAITS),
            ("a;b;__schedule_[k] 7\nb;work 99\n", "samples"),
            ("main;work;read 12\n", "samples"),
            ("main;operator new[] 12\n", "samples"),
            ("a/b.main;java/util/Arrays.copyOf;byte[]_[i] 1572864\n", "allocations"),
            ("a.b.main;java.lang.Object[] 15\n", "allocations"),
            (&traced, "off-CPU time"),
            (&map.replace("@[", "@offcpu_us["), "off-CPU time"),
            (map, "samples"),
            (&java("Started [lock] profiling\n", "ns"), "time of waiting for locks"),
            (&java("Started [wall] profiling\n", "ns"), "wall-clock time of threads"),
            (&java("Started [cpu] profiling\n", "ns"), "processor time"),
            (&java("", "bytes"), "allocations"),
            (&java("", "ns"), "time"),
            ("# event: cpu-clock\nmain;work 3\n", "processor time"),
            ("# event: offcpu-time\nthread 7;main;read 3\n", "off-CPU time"),
        ] {
            assert_eq!(told(text).2.name(), counts, "{text}");
        }
        let (own, taken_for, _) = told(&java("", "ns"));
        assert_eq!(own.iter().find(|(name, _)| name == "c.D").unwrap().1, 3e8);
        assert_eq!(taken_for, "async-profiler's text of time, 2 stacks, 98.3 % of it");
        let profile = read(&java("", "ns")).unwrap();
        assert_eq!(
            (profile.total / profile.unit.unwrap()).round(),
            501.0,
            "as many alike, of 496 in the stacks"
        );
        let half =
            java("", "ns").replace("--- 300000000 ns (45.22%), 248 samples\n  [ 0] c.D\n", "");
        assert!(read(&half).unwrap().is_excerpt);
        let mixed = java("", "ns") + &java("", "bytes");
        assert!(read(&mixed).unwrap_err().what.contains("a second report begins here"));
        let both = offcputime.clone()
            + "Sampling at 49 Hertz of all threads by user stack.\n    f\n    5\n";
        assert!(read(&both).unwrap_err().what.contains("off-CPU time above, and processor time"));
        let cut = read(&(offcputime + "[...]\n")).unwrap_err();
        assert!(cut.what.contains("left out here"), "{cut}");
    }

    /// Screens of `perf top` are of the last seconds, have no number of samples, and fade.
    #[test]
    fn screens_of_perf_top_are_no_reports() {
        let lines =
            "       9.06%  [kernel]       [k] mlx5e_skb\n   5.68%  mysqld   [.] row_search_mvcc\n";
        let first = "   PerfTop:  104692 irqs/sec  kernel:99.5%  exact:  0.0% [4000Hz cycles],  \
                     (all, 56 \
                     CPUs)\n---------------------\n\n";
        let newer = "Samples: 45K of event 'cycles:P', 4000 Hz, Event count (approx.): \
                     6457234182 lost: \
                     0/0 drop: 0/0\nOverhead  Shared Object            Symbol\n";
        for head in [first, newer] {
            let (own, taken_for, measure) = told(&format!("{head}{lines}"));
            assert_eq!(own[1], ("mlx5e_skb_[k]".to_owned(), 906.0));
            assert_eq!(taken_for, "`perf top` of cycles, 2 functions, 14.7 % of it");
            assert_eq!(measure, ProfileMeasure::of_unit(MeasureUnit::Share, Some("cycles")));
        }
        let old = "   PerfTop:      62 irqs/sec  kernel:80.6% [1000Hz cycles],  (all, 1 \
                   CPUs)\n\n             \
                   samples  pcnt function                 DSO\n             _______ _____ ________ ___\n\n \
                   \x20            339.00 18.1% dvb_dmx_swfilter_packet           [dvb_core]\n              \
                   315.00 16.9% acpi_pm_read      [kernel.kallsyms]\n";
        let (own, taken_for, _) = told(old);
        assert!(own.contains(&("acpi_pm_read_[k]".to_owned(), 1_690.0)), "{own:?}");
        assert_eq!(taken_for, "`perf top` of cycles, 2 functions, 35.0 % of it");
        let twice = read(&format!("{first}{lines}{first}{lines}")).unwrap_err();
        assert!(twice.what.contains("another screen of `perf top`"), "{twice}");
        let report = "Samples: 3K of event 'cycles:ppp', Event count (approx.): 8000000\n  \
                      Overhead  \
                      Command  Shared Object  Symbol\n  100.00%  mysqld   mysqld  [.] f\n";
        let (own, taken_for, _) = told(report);
        assert_eq!(own, owns(&[("f", 8e6)]), "what the screen of `perf report` shows");
        assert_eq!(taken_for, "`perf report` of cycles, 1 functions, 100.0 % of it; of mysqld");
    }

    /// Shares of a report are of events: where their count is told, functions have so many.
    #[test]
    fn reports_have_so_many_events() {
        let report =
            |head: &str| format!("{head}    75.00%  m  m  [.] a\n    25.00%  m  m  [.] b\n");
        let samples = "# Samples: 4K of event 'cycles:u'\n";
        let both = read(&report(&format!("{samples}# Event count (approx.): 8000000\n"))).unwrap();
        assert_eq!((both.own["a"], both.total / both.unit.unwrap()), (6e6, 4_000.0));
        assert_eq!(
            both.measure,
            ProfileMeasure::of_unit(MeasureUnit::Event, Some("cycles")).with_part(CodePart::User)
        );
        assert_eq!(both.taken_for, "`perf report` of cycles, 2 functions, 100.0 % of it; of m");
        let only = read(&report(samples)).unwrap();
        assert_eq!((only.own["a"], only.measure.unit), (3_000.0, MeasureUnit::Sample));
        assert_eq!(read(&report("")).unwrap().measure.unit, MeasureUnit::Share);
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

    /// Lines of other tools look like some of `perf script`: nearly all must be understood.
    #[test]
    fn what_is_understood_in_part_is_no_profile() {
        for (text, line) in [
            ("Title\n     nsecs  : count\n      1024 -> 2047       : 27  |*  |\n", 1),
            (
                "   2326448 calls in 2.3 s\n   Ordered by: internal time\n   200000  0.845  db.py\n",
                2,
            ),
            ("m 7 [001] 5.25: 250000 cycles:\n\t 7f3a main (/x)\n\nsome\nother\ntext\n", 4),
        ] {
            assert_eq!(read(text).unwrap_err().line, line, "{text}");
        }
        let words = "    deadbeef mend what was broken\n    cafebabe name another one\n";
        assert_eq!(read(words).unwrap_err().line, 1, "commits");
        let names = "    b2c3d0 Rows::next(int, char)\n    b2c000 std::map<int, char>::at\n";
        assert_eq!(read(names).unwrap().own["Rows::next(int, char)"], 1.0);
        assert!(read("    #0 0x4f5a2d in main /x/a.cc:5:10\n").is_err(), "of a sanitizer");
        let beside = "m 7 [001] 5.25: 250000 cycles:\n\t 7f3a main (/x)\n  a.cc:12\n\t  0 \
                      [unknown] ([unknown])\n 0x5d0/0x5e0/P/-/-/0  0x5d0/0x5e0/P/-/-/0\n\n";
        assert_eq!(read(beside).unwrap().own["main"], 250_000.0);
        let short = "IO thread 7\n\t 7f3a main (/x)\n\nIO thread 7/9 [001]\n\t 7f3a main (/x)\n";
        let short = read(short).unwrap();
        assert_eq!((short.total, &*short.programs[0].0), (2.0, "x"));
    }

    #[test]
    fn functions_of_async_profiler_are_read_without_stacks() {
        let flat = "--- Execution profile ---\nTotal samples       : 741\n\n          ns  percent  \
                    samples  top\n  ----------  -------  -------  ---\n  1375787484   60.00%      130  \
                    oopDesc* copy<false>(oopDesc*)\n   891787484   40.00%       84  java.util.HashMap.put\n";
        let profile = read(flat).unwrap();
        assert_eq!(profile.own["oopDesc* copy<false>(oopDesc*)"], 1_375_787_484.0);
        assert_eq!((profile.total, profile.is_excerpt), (2_267_574_968.0, false));
        assert_eq!(profile.taken_for, "async-profiler's text of time, 2 functions, 100.0 % of it");
        let stacks = "--- 50 ns (100.00%), 5 samples\n  [ 0] f\n\n";
        let both = format!("{stacks}{}", flat.split_once("741\n").unwrap().1);
        assert_eq!(read(&both).unwrap().total, 50.0, "the table says the same once more");
        assert!(read(&format!("{flat}{stacks}")).unwrap_err().what.contains("twice"));
    }

    /// A frame of bcc is a whole line: blanks are part of a name.
    #[test]
    fn names_of_bcc_have_blanks_and_lines_beside_them_are_none() {
        let text = "Sampling at 49 Hertz of all threads by user + kernel stack.\n    00007f3a0000 \
                    LinuxAIOHandler::poll(fil_node_t**, void**, IORequest*)\n    \
                    Timer::arm(std::function<void ()>)\n    -                mysqld (7)\n        5\n";
        let (own, ..) = told(text);
        assert_eq!(own[0].0, "LinuxAIOHandler::poll(fil_node_t**, void**, IORequest*)");
        let wakeup = "Tracing blocked time (us) by kernel stack... Hit Ctrl-C to end.\n    \
                      target:  vmstat\n    ffffffff810df082 hrtimer_wakeup\n    waker:   swapper/1\n        \
                      4000415\n";
        let profile = read(wakeup).unwrap();
        assert_eq!(profile.own.keys().map(|name| &**name).collect::<Vec<_>>(), ["hrtimer_wakeup"]);
        assert_eq!(profile.programs, [("vmstat".to_owned(), 1.0)]);
        let cut = wakeup.replace("    target:", "[...truncated...]\n    target:");
        assert!(read(&cut).unwrap_err().what.contains("left out"));
        let script = "m 7 [001] 5.25: 9 cycles:\n\t 7f3a f(std::function<void ()>)+0x1a (/x)\n\n\
                      m 7 [001] 5.26: 9 cycles:\n\t 7f3a f(std::function<void ()>)\n\n";
        assert_eq!(told(script).0, owns(&[("f(std::function<void ()>)", 18.0)]));
    }

    /// As the pprof in Perl prints them, and that of Go before 1.5.
    #[test]
    fn old_tables_of_pprof_have_samples() {
        let table = "(pprof) top2\nTotal: 2525 samples\n     298  11.8%  11.8%      345  13.7% \
                     runtime.mapaccess1\n     268  10.6%  22.4%     2124  84.1% main.FindLoops\n";
        let profile = read(table).unwrap();
        assert_eq!((profile.own["main.FindLoops"], profile.total), (268.0, 2_525.0));
        assert_eq!(profile.taken_for, "`pprof -top` of samples, 2 functions, 22.4 % of it");
        assert!(read(&format!("{table}{table}")).unwrap_err().what.contains("a second table"));
    }

    /// Of an endless sum every share is nothing, or no number.
    #[test]
    fn weights_that_no_program_has_are_refused_with_their_place() {
        let pprof = |head: &str, flat: &str| {
            format!(
                "Type: cpu\nShowing nodes accounting for 1s, 2% of {head} total\n\
                 flat flat% sum% cum cum%\n1s 1% 1% 1s 1% f\n{flat}s 1% 1% 1s 1% g\n"
            )
        };
        let traces = |value: &str| {
            format!("--- {value} ns (50.00%), 2 samples\n  [ 0] f\n\n--- 1 ns (50.00%), 1 sample\n")
                + "  [ 0] g\n"
        };
        let speedscope = |weights: &str| {
            format!(
                "{{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"shared\":{{\
                 \"frames\":[{{\"name\":\"f\"}}]}},\"profiles\":[{{\"type\":\"sampled\",\"unit\":\
                 \"seconds\",\"samples\":[[0],[0]],\"weights\":[{weights}]}}]}}"
            )
        };
        let many = "9".repeat(400);
        for (text, line, what) in [
            ("m;a 1\nm;b 1e308\nm;c 1e308\n".to_owned(), 2, ""),
            ("# period: 1e300\nm;a 1\nm;b 1e30\n".to_owned(), 2, ""),
            (pprof("9s", &many), 5, ""),
            (pprof(&format!("{many}s"), "1"), 2, ""),
            (traces("1e308"), 1, ""),
            (speedscope("1,1e300"), 0, "profile 1 of 1: "),
        ] {
            let error = read(&text).unwrap_err();
            let expected = format!("{what}weights add up to more than 1e30, which no program has");
            assert!(error.line == line && error.what.starts_with(&expected), "{error}\n{text}");
        }
        assert!(read("m;a 1e29\n").is_ok() && read(&speedscope("1,1e19")).is_ok());
    }

    #[test]
    fn what_is_no_stack_is_named_by_its_line() {
        for (text, line) in [("a;b 1\na;b\n", 2), ("a;b x\n", 1), ("a -1\n", 1), ("", 0)] {
            assert_eq!(read(text).unwrap_err().line, line, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(
            text in "[ \t\na-f0-9;().+x#-]{0,200}|\
                     (@a?\\[|\\]: ?|#0 |0x1 in |flat flat% sum% cum cum%|\
                     1s 5% 5% 2s 9%|Thread 1 \\(|[ ,\n:a1?<(>)])*",
        ) {
            if let Ok(profile) = read(&text) {
                let own: f64 = profile.own.values().sum();
                prop_assert!((own - profile.total).abs() < 1e-6 * own.max(1.0));
            }
        }
    }
}
