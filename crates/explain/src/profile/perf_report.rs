//! What `perf report --stdio` prints: a line for each function, with its share of all samples.
//!
//! ```text
//!   # Samples: 12K of event 'cpu-clock'
//!   # Children      Self  Command  Shared Object      Symbol
//!       11.76%     0.96%  mysqld   mysqld             [.] row_search_mvcc
//! ```
//!
//! Shares have two digits, and the number of samples as many as `12K` has: enough for a table, and
//! who calls whom is not in it. Samples stand for as many events as their periods say, and shares
//! are those of the events: where their count is told, functions have so many of it. Trees below a
//! line are passed over. Where the shares of all lines are less than the whole, it is an excerpt,
//! and the rest is put together. What `perf diff` prints looks alike, and has differences where a
//! report has shares: it is refused, as are two events, whose samples cannot be added up.
//!
//! What `perf top` prints looks alike, and is of the last seconds before a screen was drawn, where
//! older samples fade: it has shares, and no number of samples. Two screens are not added up.
//!
//! ```text
//!   PerfTop:  104692 irqs/sec  kernel:99.5%  exact: 0.0% [4000Hz cycles],  (all, 56 CPUs)
//!   Samples: 45K of event 'cycles', 4000 Hz, Event count (approx.): 6457 lost: 0/0 drop: 0/0
//! ```

use std::borrow::Cow;
use std::collections::BTreeMap;

use dbdyno_model::LEFT_OUT;

use super::filled::filled;
use super::form::{Form, Measure, MeasureUnit, ProfileError, Weighing, plain_event, two_events};
use super::stack::cut;

/// The share of all samples from which on a report is taken for whole: lines are rounded.
const WHOLE: f64 = 0.97;

/// What a report tells.
#[derive(Debug, PartialEq)]
pub(super) struct Report<'t> {
    /// The weight of each function.
    pub(super) functions: BTreeMap<Cow<'t, str>, f64>,
    pub(super) form: Form,
}

/// What the head of a report tells.
#[derive(Default)]
struct Head<'t> {
    samples: Option<f64>,
    events: Option<f64>,
    event: Option<&'t str>,
    /// Screens of `perf top`.
    screens: usize,
}

impl<'t> Head<'t> {
    fn line(&mut self, number: usize, line: &'t str) -> Result<(), ProfileError> {
        let line = line.trim_start().trim_start_matches("# ");
        if let Some((_, rest)) = line.split_once("Event count (approx.):") {
            let number = rest.trim_start().split(' ').next().unwrap_or_default();
            self.events = self.events.or_else(|| count(number));
        }
        let event = match (line.strip_prefix("PerfTop:"), line.strip_prefix("Samples:")) {
            (Some(rest), _) => {
                self.screen(number)?;
                event_of_top(rest)
            }
            (None, Some(rest)) => {
                if rest.contains(" Hz,") || rest.contains(" lost: ") {
                    self.screen(number)?;
                }
                self.samples = self.samples.or_else(|| count(rest.split_whitespace().next()?));
                rest.split_once("of event").map(|(_, event)| plain_event(quoted(event)))
            }
            (None, None) => return Ok(()),
        };
        match (self.event, event.filter(|event| !event.is_empty())) {
            (Some(first), Some(event)) if first != event => Err(two_events(number, first, event)),
            (known, event) => {
                self.event = known.or(event);
                Ok(())
            }
        }
    }

    /// A screen of `perf top` begins.
    fn screen(&mut self, number: usize) -> Result<(), ProfileError> {
        self.screens += 1;
        let what = "another screen of `perf top` begins here, and what fades from one to the next \
                    cannot be added up; leave one in the file, or better give what `perf record` \
                    and `perf report --stdio` make of the same time";
        if self.screens > 1 { Err(ProfileError::new(number, what)) } else { Ok(()) }
    }

    /// What all functions together weigh, the weight of a sample, and what that counts.
    fn whole(&self) -> (f64, f64, MeasureUnit) {
        match (self.samples.filter(|_| self.screens == 0), self.events) {
            (Some(samples), Some(events)) => (events, events / samples, MeasureUnit::Event),
            (Some(samples), None) => (samples, 1.0, MeasureUnit::Sample),
            // Each hundredth of a per cent is one: more is not told.
            (None, _) => (10_000.0, 1.0, MeasureUnit::Share),
        }
    }
}

/// Reads a report; `None` where no line is one of a report.
///
/// # Errors
/// A line, and why it is no report that can be read.
pub(super) fn read(text: &str) -> Result<Option<Report<'_>>, ProfileError> {
    let mut functions: BTreeMap<Cow<'_, str>, f64> = BTreeMap::new();
    let mut shares: Vec<(Cow<'_, str>, f64)> = Vec::new();
    let mut head = Head::default();
    for (number, line) in filled(text) {
        if is_of_diff(line) {
            let what = "`perf diff` has printed this: differences of two profiles, and no profile; \
                        give the two files of perf.data, or what `perf report --stdio` prints of \
                        each";
            return Err(ProfileError::new(number, what));
        }
        head.line(number, line)?;
        shares
            .extend(function(line).or_else(|| function_of_top(line).filter(|_| head.screens > 0)));
    }
    if shares.is_empty() {
        return Ok(None);
    }
    let (whole, sample, unit) = head.whole();
    let told: f64 = shares.iter().map(|(_, share)| share).sum();
    for (name, share) in shares {
        *functions.entry(name).or_default() += share * whole;
    }
    let is_excerpt = told < WHOLE;
    let count = functions.len();
    if is_excerpt {
        functions.insert(LEFT_OUT.into(), (1.0 - told) * whole);
    }
    let of = head.event.map_or_else(String::new, |event| format!(" of {event}"));
    let told = 100.0 * told.min(1.0);
    let tool = if head.screens > 0 { "`perf top`" } else { "`perf report`" };
    let form = Form {
        taken_for: format!("{tool}{of}, {count} functions, {told:.1} % of it"),
        measure: Measure::of(unit, head.event),
        weighing: Weighing::Unit(sample),
        is_excerpt,
    };
    Ok(Some(Report { functions, form }))
}

/// The header of `perf diff`, or a line with a share and a difference: `19.76%  +3.20%  mysqld …`.
fn is_of_diff(line: &str) -> bool {
    let is_header =
        line.trim_start().starts_with('#') && line.contains("Baseline") && line.contains("Delta");
    let mut words = line.split_whitespace();
    let is_share = |word: &str| word.strip_suffix('%').is_some_and(|it| it.parse::<f64>().is_ok());
    let is_signed = |word: &str| word.starts_with(['+', '-']) && is_share(word);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    is_header
        || (is_share(first) && is_signed(second))
        || (is_signed(first) && line.contains("[.]"))
}

/// ` 'cycles:u', 4000 Hz, …`: what stands in quotes, or all where nothing does.
fn quoted(text: &str) -> &str {
    let text = text.trim();
    text.strip_prefix('\'').and_then(|rest| rest.split_once('\'')).map_or(text, |(event, _)| event)
}

/// `… exact: 0.0% [4000Hz cycles],  (all, 56 CPUs)`: the event.
fn event_of_top(text: &str) -> Option<&str> {
    let (_, inside) = text.split_once('[')?;
    let (inside, _) = inside.split_once(']')?;
    inside.split_once(' ').map(|(_, event)| plain_event(event))
}

/// `339.00 18.1% acpi_pm_read  [kernel.kallsyms]`, as `perf top` before Linux 3.0 has it.
fn function_of_top(line: &str) -> Option<(Cow<'_, str>, f64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [samples, share, name @ .., object] = &words[..] else { return None };
    samples.parse::<f64>().ok()?;
    let share = share.strip_suffix('%')?.parse::<f64>().ok().filter(|share| *share > 0.0)?;
    let kernel = if object.starts_with("[kernel") { "_[k]" } else { "" };
    (!name.is_empty()).then(|| (format!("{}{kernel}", cut(&name.join(" "))).into(), share / 100.0))
}

/// `12K`, `3M`, `870`.
fn count(text: &str) -> Option<f64> {
    let (number, times) = match text.as_bytes().last()? {
        b'K' => (&text[..text.len() - 1], 1e3),
        b'M' => (&text[..text.len() - 1], 1e6),
        b'G' => (&text[..text.len() - 1], 1e9),
        _ => (text, 1.0),
    };
    number.parse::<f64>().ok().map(|number| number * times).filter(|count| *count > 0.0)
}

/// A line of a function: its name, or its file where it has none, and its own share.
fn function(line: &str) -> Option<(Cow<'_, str>, f64)> {
    let percent = |word: &str| word.strip_suffix('%')?.parse::<f64>().ok();
    // Stacks are passed here too, and are longer.
    percent(line.split_whitespace().next()?)?;
    let (before, symbol, is_kernel) = match line.split_once(" [.] ") {
        Some((before, symbol)) => (before, symbol.trim(), false),
        None => line.split_once(" [k] ").map(|(before, symbol)| (before, symbol.trim(), true))?,
    };
    let words: Vec<&str> = before.split_whitespace().collect();
    let shares: Vec<f64> = words.iter().map_while(|word| percent(word)).collect();
    // Of two, the second is its own.
    let share = *shares.last().filter(|_| shares.len() <= 2)?;
    let name = match symbol.starts_with("0x") {
        true => format!("[{}]", cut(words.last()?)).into(),
        false if is_kernel => format!("{}_[k]", cut(symbol)).into(),
        false => symbol.into(),
    };
    (share > 0.0).then_some((name, share / 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
# Samples: 3K of event 'cpu-clock'
#
# Children      Self  Command          Shared Object      Symbol
# ........  ........  ...............  .................  .......
#
    11.76%     1.00%  mysqld           [kernel.kallsyms]  [k] exc_page_fault
            |
             --10.80%--exc_page_fault
                        --10.47%--handle_mm_fault

    11.73%     0.00%  mysqld           [kernel.kallsyms]  [k] asm_exc_page_fault
     9.10%     8.50%  mysqld           mysqld             [.] row_search_mvcc(unsigned char*, int)
     2.00%     2.00%  connection 12    mysqld             [.] 0x00000000012ab4
";

    #[test]
    fn functions_have_their_own_share_of_the_samples() {
        let functions = read(REPORT).unwrap().unwrap().functions;
        let rounded = functions.iter().map(|(name, own)| (&**name, own.round()));
        assert_eq!(
            rounded.collect::<Vec<_>>(),
            [
                (LEFT_OUT, 2_655.0),
                ("[mysqld]", 60.0),
                ("exc_page_fault_[k]", 30.0),
                ("row_search_mvcc(unsigned char*, int)", 255.0),
            ]
        );
    }

    #[test]
    fn reports_without_callers_are_read_and_other_texts_are_none() {
        let flat = "     7.32%  mysqld  [kernel.kallsyms]  [k] clear_page_erms\n";
        let functions = read(flat).unwrap().unwrap().functions;
        assert_eq!(functions["clear_page_erms_[k]"].round(), 732.0);
        assert_eq!(read("main;work;read 12\n"), Ok(None));
        assert_eq!(
            [count("12K"), count("2M"), count("870"), count("K")],
            [Some(12e3), Some(2e6), Some(870.0), None]
        );
    }
}
