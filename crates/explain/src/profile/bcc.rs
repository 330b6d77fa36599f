//! What the tools of bcc print that sum up stacks: `profile`, `offcputime`, `offwaketime`,
//! `wakeuptime`.
//!
//! ```text
//!   Tracing off-CPU time (us) of all threads by user + kernel stack... Hit Ctrl-C to end.
//!       finish_task_switch                              the innermost first, with their addresses
//!       schedule                                        if these were asked for
//!       --                                              the kernel above, the user below
//!       do_command
//!       -                mysqld (77)
//!           4952                                        samples, or microseconds
//! ```
//!
//! Whatever stands below a process is its count, and a stack without one is refused: left out, it
//! would make all others look larger, or take the count of the next one.
//!
//! Above a stack that waited, `offwaketime` has the one that woke it, from `waker:` to a line of
//! marks: that is none of the functions that waited.
//!
//! The heading says what is counted, how often, and in which code:
//!
//! ```text
//!   Sampling at 49 Hertz of PID 7 by kernel stack    a sample stands for 1/49 s in the kernel
//!   Tracing off-CPU time (us) of …                   microseconds, given as nanoseconds
//! ```
//!
//! Where it is missing, the functions may (see `read`).

use dbdyno_model::foreign;

use super::coverage::Coverage;
use super::filled::{filled_lines, is_digits};
use super::form::{
    CodePart, EVENTS, Form, MeasureUnit, OFF_CPU, PROCESSOR, ProfileError, ProfileMeasure,
    Weighing, check_weights,
};
use super::programs::Sighting;
use super::rate::{Sampling, heading_sampling};
use super::stack::{Stack, UNKNOWN, is_left_out};

/// Off-CPU time is told in microseconds.
const MICROSECOND_NS: f64 = 1e3;
/// Lines above the first stack: prompts and what the tool says.
const HEAD_LINES: usize = 200;

/// A line above the stacks.
struct Heading {
    begin: &'static str,
    whose: &'static str,
    counts: &'static str,
}

/// What a heading tells.
#[derive(Clone, Copy)]
struct Counting {
    whose: &'static str,
    counts: &'static str,
    /// What a count of 1 stands for.
    one: Option<Sampling>,
    part: CodePart,
}

const HEADINGS: [Heading; 3] = [
    Heading { begin: "Tracing off-CPU time (us)", whose: "`offcputime`", counts: OFF_CPU },
    Heading {
        begin: "Tracing blocked time (us)",
        whose: "`offwaketime` or `wakeuptime`",
        counts: OFF_CPU,
    },
    Heading { begin: "Sampling at ", whose: "`profile`", counts: PROCESSOR },
];

impl Counting {
    /// Whether stacks below both headings count the same, so that they can be added up.
    fn is_added_to(&self, other: &Counting) -> bool {
        self.counts == other.counts && self.one == other.one && self.part == other.part
    }
}

/// Whether a text is of bcc: one of its headings stands above stacks, or below a stack its process
/// and a count.
pub(super) fn is_of_bcc(text: &str) -> bool {
    let mut was_process = false;
    filled_lines(text).take(HEAD_LINES).any(|(_, line)| {
        let is_count = was_process && line.trim().parse::<u64>().is_ok();
        was_process = named_process(line).is_some();
        is_count || heading(line).is_some()
    })
}

fn heading(line: &str) -> Option<Counting> {
    let line = line.trim_start_matches("# ");
    let of = HEADINGS.iter().find(|of| line.starts_with(of.begin) && line.contains("stack"))?;
    let one = match of.counts {
        OFF_CPU => Some(Sampling::Nanoseconds(MICROSECOND_NS)),
        _ => heading_sampling(line),
    };
    let counts = if matches!(one, Some(Sampling::Events(_))) { EVENTS } else { of.counts };
    let scope = line.rsplit_once(" by ").map_or("", |(_, scope)| scope);
    let part = match (scope.contains("user"), scope.contains("kernel")) {
        (true, false) => CodePart::User,
        (false, true) => CodePart::Kernel,
        _ => CodePart::Whole,
    };
    Some(Counting { whose: of.whose, counts, one, part })
}

/// What a count stands for, in words.
fn described(of: &Counting) -> String {
    let at = match of.one.filter(|_| of.counts != OFF_CPU) {
        Some(Sampling::Nanoseconds(ns)) => format!(" at {:.0} Hertz", 1e9 / ns),
        Some(Sampling::Events(events)) => format!(" at every {events} events"),
        None => String::new(),
    };
    let measure = ProfileMeasure::of_unit(MeasureUnit::Sample, Some(of.counts));
    format!("{}{at}", measure.with_part(of.part).name())
}

/// `-                mysqld (77)`: the name.
fn named_process(line: &str) -> Option<&str> {
    let line = line.trim();
    // `offwaketime` and `wakeuptime`: who waited, and who ended it.
    if let Some(name) = line.strip_prefix("target:") {
        let name = name.trim();
        let number =
            name.rsplit_once(' ').filter(|(_, end)| end.bytes().all(|b| b.is_ascii_digit()));
        return Some(number.map_or(name, |(name, _)| name.trim()));
    }
    let (name, _number) = line.strip_prefix("- ")?.strip_suffix(')')?.rsplit_once('(')?;
    Some(name.trim())
}

/// What has been read of the stacks so far.
#[derive(Default)]
struct BccStacks<'t> {
    stack: Stack<'t>,
    /// The line of the last function of the stack.
    last: usize,
    /// How many stacks there were.
    stacks: u64,
    heading: Option<Counting>,
    process: &'t str,
    /// Whether the line above names a process, so that a count comes next.
    is_counted_next: bool,
    is_waker: bool,
    /// What the tool says of stacks that it could not print.
    undisplayed: Option<&'t str>,
}

impl<'t> BccStacks<'t> {
    /// Takes a heading: what is counted below it.
    fn note_heading(&mut self, number: usize, other: Counting) -> Result<(), ProfileError> {
        self.end_stack()?;
        match self.heading {
            Some(first) if !first.is_added_to(&other) => {
                let what = format!(
                    "{} above, and {} from here on, cannot be added up; leave one of them in the \
                     file",
                    described(&first),
                    described(&other)
                );
                Err(ProfileError::new(number, what))
            }
            _ => {
                self.heading = Some(other);
                Ok(())
            }
        }
    }

    /// Takes a line that is no heading.
    fn note_line(
        &mut self,
        number: usize,
        line: &'t str,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        if line.trim().is_empty() {
            return self.end_stack();
        }
        // What is no stack stands at the margin: prompts, `^C`.
        let line_in = line.trim_start();
        let is_mark = line_in.split_whitespace().all(|word| word == "-" || word == "--");
        if self.is_waker && is_mark && line_in.split_whitespace().count() > 1 {
            (self.stack, self.is_waker) = (Stack::default(), false);
        }
        self.is_waker |= line_in.starts_with("waker:") && self.stack.is_empty();
        if line_in.len() == line.len() || is_mark || line_in.starts_with("waker:") {
            return Ok(());
        }
        if let Some(name) = named_process(line) {
            self.process = name;
            // `wakeuptime` has what it counts for above the stack.
            self.is_counted_next = !self.stack.is_empty() || line_in.starts_with('-');
            return Ok(());
        }
        if let Some(count) = Some(line_in.trim_end()).filter(|word| is_digits(word)) {
            let count: u64 = count.parse().map_err(|_| ProfileError::new(number, COUNT_USAGE))?;
            return self.emit_stack(number, count, take);
        }
        if self.is_counted_next {
            return Err(ProfileError::new(number, COUNT_USAGE));
        }
        self.last = number;
        self.stack.push(number, frame(line).into())
    }

    fn emit_stack(
        &mut self,
        number: usize,
        count: u64,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        let weight = self.heading.and_then(|of| of.one).map_or(1.0, Sampling::sample_weight);
        check_weights(number, count as f64 * weight)?;
        if self.stack.is_empty() && self.is_counted_next {
            self.stack.push(number, UNKNOWN.into())?;
        }
        self.stacks += u64::from(!self.stack.is_empty());
        let process = std::mem::take(&mut self.process);
        self.stack.emit_sighting(process, count as f64 * weight, take);
        self.is_counted_next = false;
        Ok(())
    }

    /// The stack above has to have its count: something else begins here.
    fn end_stack(&self) -> Result<(), ProfileError> {
        if self.stack.is_empty() {
            return Ok(());
        }
        Err(ProfileError::new(self.last, COUNT_MISSING))
    }
}

/// What the tools say of stacks that they counted and could not print.
const UNDISPLAYED: &str = "could not be displayed";
/// Why a line below a process is refused.
const COUNT_USAGE: &str = "below a stack and its process stands how often it was counted, a whole \
                           number from 0 in a line of its own; give all that the tool has printed";
/// Why a stack is refused below which nothing stands.
const COUNT_MISSING: &str = "below the stack that ends here does not stand how often it was \
                             counted; give all that the tool has printed, to its end";

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut found = BccStacks::default();
    for (number, line) in filled_lines(text) {
        if let Some(other) = heading(line) {
            found.note_heading(number, other)?;
        } else if line.starts_with("WARNING: ") && line.contains(UNDISPLAYED) {
            found.undisplayed = Some(line);
        } else if is_left_out(line) {
            let what = "stacks were left out here, so that nothing can be said of the whole; give \
                        all that the tool has printed";
            return Err(ProfileError::new(number, what));
        } else {
            found.note_line(number, line, take)?;
        }
    }
    found.end_stack()?;
    let mut form = stacks_form(found.heading, found.stacks);
    if let Some(warning) = found.undisplayed {
        form.taken_for.push_str(&format!("; {}", foreign::one_line(warning)));
    }
    Ok(form)
}

/// What so many stacks below a heading are, or below none.
fn stacks_form(found: Option<Counting>, stacks: u64) -> Form {
    let Some(of) = found else {
        return Form {
            taken_for: format!("bcc's stacks, {stacks} stacks"),
            weighing: Weighing::Counts,
            measure: ProfileMeasure::UNTOLD,
            coverage: Coverage::WHOLE,
        };
    };
    let unit = of.one.map_or(MeasureUnit::Sample, Sampling::weight_unit);
    Form {
        taken_for: format!("bcc's {} of {}, {stacks} stacks", of.whose, described(&of)),
        weighing: match of.counts {
            OFF_CPU => Weighing::Untold,
            _ => Weighing::Unit(of.one.map_or(1.0, Sampling::sample_weight)),
        },
        measure: ProfileMeasure::of_unit(unit, Some(of.counts)).with_part(of.part),
        coverage: Coverage::WHOLE,
    }
}

/// `ffffffff810a9581 finish_task_switch`, `finish_task_switch`, `b'finish_task_switch'`.
fn frame(line: &str) -> &str {
    let line = line.trim();
    let is_address = |word: &str| word.len() >= 8 && word.bytes().all(|b| b.is_ascii_hexdigit());
    let named = line.split_once(' ').filter(|(word, _)| is_address(word));
    let name = named.map_or(line, |(_, name)| name.trim());
    // What Python prints of bytes.
    let bytes = name.strip_prefix("b'").and_then(|rest| rest.strip_suffix('\''));
    bytes.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    /// A stack whose count cannot be read was left out without a word, and the next stack's count
    /// was given to it.
    #[test]
    fn a_stack_without_a_count_is_refused_with_its_line() {
        let of = |first: &str, last: &str| {
            let stack = |name: &str, count: &str| {
                format!(
                    "    {name}\n    main\n    -                mysqld (7)\n        {count}\n\n"
                )
            };
            let heading =
                "Tracing off-CPU time (us) of all threads by user stack... Hit Ctrl-C.\n\n";
            heading.to_owned() + &stack("a", first) + &stack("b", "5") + &stack("c", last)
        };
        let profile = read(&of("3", "7")).unwrap();
        assert_eq!((profile.own["a"], profile.own["c"], profile.total), (3e3, 7e3, 15e3));
        for count in
            ["-9", "9e3", "9.0", "9,000", "9 us", "0x28", "nan", "", "99999999999999999999"]
        {
            for (text, line) in [(of(count, "7"), 6), (of("3", count), 16)] {
                let error = read(&text).unwrap_err();
                let is_told = error.what.contains("how often it was counted");
                // Of a count that is missing the next line is named, or the end of the stack.
                let lines = if count.is_empty() { line - 2..=line + 2 } else { line..=line };
                assert!(is_told && lines.contains(&error.line), "{count:?}: {error}");
            }
        }
        let close = read(&of("9e3", "7").replace("\n\n", "\n")).unwrap_err();
        assert!(close.line == 5 && close.what.contains("below a stack and its process"), "{close}");
        let whole = of("3", "7");
        for end in ["        7\n\n", "    -                mysqld (7)\n        7\n\n"] {
            let cut = read(whole.strip_suffix(end).unwrap()).unwrap_err();
            assert!(cut.what.contains("how often it was counted") && cut.line == 14, "{cut}");
        }
        let no_end = whole.replacen("    -                mysqld (7)\n        3\n", "", 1);
        assert_eq!(read(&no_end).unwrap_err().line, 4, "the next stack has not its count");
    }

    /// What `offwaketime` prints, as text and folded: the stack that waits, and no waker.
    #[test]
    fn wakers_are_none_of_the_functions_that_wait() {
        let text = "Tracing blocked time (us) by kernel off-CPU and waker stack for 5 secs.\n\n    \
                    waker:           swapper/0\n    ffffffff8137897c blk_mq_complete_request\n    \
                    ffffffff810b54d9 __wake_up\n    -                -\n    ffffffff81785085 \
                    schedule\n    ffffffff8137b839 bt_get\n    target:          cksum\n        \
                    56529\n";
        let folded = "cksum;bt_get;schedule;-;__wake_up;blk_mq_complete_request;swapper/0 56529\n";
        for (text, weight) in [(text, 56_529_000.0), (folded, 56_529.0)] {
            let profile = read(text).unwrap();
            assert_eq!(profile.own.into_iter().collect::<Vec<_>>(), [("bt_get".into(), weight)]);
        }
    }

    /// Counts of processes without a stack were lost from the whole.
    #[test]
    fn a_process_without_a_stack_is_an_unknown_function() {
        let text = "Sampling at 49 Hertz of all threads by user + kernel stack for 10 secs.\n\n    \
                    f\n    main\n    -                mysqld (7)\n        5\n\n\n    -           \
                         mysqld (7)\n        30\n";
        let profile = read(text).unwrap();
        let share = profile.own["f"] / profile.total;
        assert!((share - 5.0 / 35.0).abs() < 1e-9, "{share}");
        let warning = "WARNING: 30 stack traces could not be displayed.\n";
        let told = read(&format!("{text}{warning}")).unwrap();
        assert!(told.taken_for.contains("30 stack traces"), "{}", told.taken_for);
    }
}
