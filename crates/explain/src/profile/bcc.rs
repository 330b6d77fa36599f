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
//! The heading says what is counted; where it is missing, the functions may (see `read`).

use super::filled::filled_lines;
use super::form::{Form, MeasureUnit, OFF_CPU, PROCESSOR, ProfileError, ProfileMeasure, Weighing};
use super::programs::Sighting;
use super::stack::{Stack, is_left_out};

/// Lines above the first stack: prompts and what the tool says.
const HEAD_LINES: usize = 200;

/// A line above the stacks.
struct Heading {
    begin: &'static str,
    whose: &'static str,
    unit: MeasureUnit,
    counts: &'static str,
}

const HEADINGS: [Heading; 3] = [
    Heading {
        begin: "Tracing off-CPU time (us)",
        whose: "`offcputime`",
        unit: MeasureUnit::Event,
        counts: OFF_CPU,
    },
    Heading {
        begin: "Tracing blocked time (us)",
        whose: "`offwaketime` or `wakeuptime`",
        unit: MeasureUnit::Event,
        counts: OFF_CPU,
    },
    Heading {
        begin: "Sampling at ",
        whose: "`profile`",
        unit: MeasureUnit::Sample,
        counts: PROCESSOR,
    },
];

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

fn heading(line: &str) -> Option<&'static Heading> {
    let line = line.trim_start_matches("# ");
    HEADINGS.iter().find(|of| line.starts_with(of.begin) && line.contains("stack"))
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
    let (mut stacks, mut found, mut process) = (0_u64, None::<&Heading>, "");
    let mut is_waker = false;
    for (number, line) in filled_lines(text) {
        if let Some(other) = heading(line) {
            match found {
                Some(first) if first.counts != other.counts => {
                    let what = format!(
                        "{} above, and {} from here on, cannot be added up; leave one of them in \
                         the file",
                        first.counts, other.counts
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
                stacks += u64::from(!stack.is_empty());
                stack.emit_sighting(std::mem::take(&mut process), count as f64, take);
            }
            Err(_) => stack.push(number, frame(line).into())?,
        }
    }
    let (whose, measure) = match found {
        Some(of) => (of.whose, ProfileMeasure::of_unit(of.unit, Some(of.counts))),
        None => ("stacks", ProfileMeasure::UNTOLD),
    };
    let of = measure.event.as_ref().map_or_else(String::new, |event| format!(" of {event}"));
    Ok(Form {
        taken_for: format!("bcc's {whose}{of}, {stacks} stacks"),
        weighing: match measure.event.as_deref() {
            Some(OFF_CPU) => Weighing::Untold,
            Some(_) => Weighing::Unit(1.0),
            None => Weighing::Counts,
        },
        measure,
        is_excerpt: false,
    })
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
        for text in [text, folded] {
            let profile = read(text).unwrap();
            assert_eq!(profile.own.into_iter().collect::<Vec<_>>(), [("bt_get".into(), 56_529.0)]);
        }
    }
}
