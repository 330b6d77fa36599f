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

use super::filled::filled_lines;
use super::form::{
    CodePart, EVENTS, Form, MeasureUnit, OFF_CPU, PROCESSOR, ProfileError, ProfileMeasure, Weighing,
};
use super::programs::Sighting;
use super::rate::{Sampling, heading_sampling};
use super::stack::{Stack, is_left_out};

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

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut stack = Stack::default();
    let (mut stacks, mut found, mut process) = (0_u64, None::<Counting>, "");
    let mut is_waker = false;
    for (number, line) in filled_lines(text) {
        if let Some(other) = heading(line) {
            match found {
                Some(first) if !first.is_added_to(&other) => {
                    let what = format!(
                        "{} above, and {} from here on, cannot be added up; leave one of them in \
                         the file",
                        described(&first),
                        described(&other)
                    );
                    return Err(ProfileError::new(number, what));
                }
                _ => found = Some(other),
            }
            continue;
        }
        if is_left_out(line) {
            let what = "stacks were left out here, so that nothing can be said of the whole; give \
                        all that the tool has printed";
            return Err(ProfileError::new(number, what));
        }
        // What is no stack stands at the margin: prompts, `^C`.
        let line_in = line.trim_start();
        let is_mark = line_in.split_whitespace().all(|word| word == "-" || word == "--");
        if is_waker && is_mark && line_in.split_whitespace().count() > 1 {
            (stack, is_waker) = (Stack::default(), false);
        }
        is_waker |= line_in.starts_with("waker:") && stack.is_empty();
        if line_in.len() == line.len() || is_mark || line_in.starts_with("waker:") {
            continue;
        }
        if let Some(name) = named_process(line) {
            process = name;
            continue;
        }
        match line.trim().parse::<u64>() {
            Ok(count) => {
                let weight = found.and_then(|of| of.one).map_or(1.0, Sampling::sample_weight);
                stacks += u64::from(!stack.is_empty());
                stack.emit_sighting(std::mem::take(&mut process), count as f64 * weight, take);
            }
            Err(_) => stack.push(number, frame(line).into())?,
        }
    }
    Ok(stacks_form(found, stacks))
}

/// What so many stacks below a heading are, or below none.
fn stacks_form(found: Option<Counting>, stacks: u64) -> Form {
    let Some(of) = found else {
        return Form {
            taken_for: format!("bcc's stacks, {stacks} stacks"),
            weighing: Weighing::Counts,
            measure: ProfileMeasure::UNTOLD,
            is_excerpt: false,
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
        is_excerpt: false,
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
}
