//! What async-profiler prints with `-o text` or `-o traces`: stacks, each below a line with what it
//! weighs.
//!
//! ```text
//!   Started [lock] profiling                                what is sampled, if that was kept
//!   --- Execution profile ---
//!   Total samples       : 496
//!
//!   --- 352227700 ns (53.09%), 248 samples                  weight, share, samples
//!     [ 0] java.util.Properties                             the innermost first
//!     [ 1] java.util.Hashtable.get
//! ```
//!
//! With `-o flat` it prints functions with what they have themselves:
//!
//! ```text
//!             ns  percent  samples  top
//!     ----------  -------  -------  ---
//!     1375787484   17.54%      130  java.util.HashMap.putVal
//! ```
//!
//! The unit tells bytes from time; what kind of time it is, the line above alone. It prints so many
//! of the stacks, 200 if nothing else was asked for: the shares tell what is left out.

use std::collections::HashSet;

use dbdyno_model::LEFT_OUT;

use super::coverage::Coverage;
use super::filled::filled_lines;
use super::form::{
    ALLOCATIONS, Form, MeasureUnit, PROCESSOR, ProfileError, ProfileMeasure, WALL, Weighing,
    check_weights,
};
use super::programs::Sighting;
use super::stack::Stack;

/// Why a table is refused with stacks below it.
const TWICE: &str = "a table of functions, and stacks below it, are of one profile twice; leave \
                     one of them in the file";
/// Half of the last digit of a share: it is printed in hundredths of a per cent.
const SHARE_HALF: f64 = 5e-5;
/// The head of a report.
const HEAD: &str = "--- Execution profile ---";
const SECOND: &str = "a second report begins here, of the same profile or another one; leave one \
                      in the file";
const WEIGHT_USAGE: &str = "this weight cannot be read; above a stack stands what it weighs, its \
                            share and its samples: `--- 352227700 ns (53.09%), 248 samples`; give \
                            what async-profiler has printed";
const ROW_USAGE: &str = "this row cannot be read; a row of the table is a weight, its share, \
                         samples and a function: `1375787484   17.54%   130  java.util.HashMap.putVal`; \
                         give what async-profiler has printed";
const WEIGHT_ALONE: &str = "below this weight stands no stack; give all that async-profiler has \
                            printed, to its end";
const FRAME_ALONE: &str = "above this function of a stack its weight is missing, or functions that \
                           it calls; give all that async-profiler has printed";

/// Whether a line is the head of its text, or of a stack.
pub(super) fn is_of_async_profiler(line: &str) -> bool {
    line.trim() == HEAD || weight(line).is_some()
}

/// What stands above a stack.
#[derive(Clone, Copy)]
struct Weight<'t> {
    value: f64,
    unit: &'t str,
    share: f64,
    samples: f64,
}

impl<'t> Weight<'t> {
    /// Of words that are a number, a share in per cent and a whole number from 1.
    fn of_words(value: &str, unit: &'t str, share: &str, samples: &str) -> Option<Weight<'t>> {
        let value = value.parse::<f64>().ok().filter(|value| value.is_finite() && *value >= 0.0)?;
        let share = share.parse::<f64>().ok().filter(|share| share.is_finite() && *share >= 0.0)?;
        let samples = samples.parse::<u64>().ok().filter(|samples| *samples > 0)? as f64;
        Some(Weight { value, unit, share: share / 100.0, samples })
    }

    /// The squares of the weights of its samples, if they are alike.
    fn square(&self) -> f64 {
        self.value * self.value / f64::max(self.samples, 1.0)
    }
}

/// `--- 352227700 ns (53.09%), 248 samples`
fn weight(line: &str) -> Option<Weight<'_>> {
    let words: Vec<&str> = line.strip_prefix("--- ")?.split_whitespace().collect();
    let [value, unit, share, samples, "sample" | "samples"] = words[..] else { return None };
    let share = share.strip_prefix('(')?.strip_suffix("%),")?;
    Weight::of_words(value, unit, share, samples)
}

/// Whether a line is of those above a stack, and none of its numbers tells what it weighs.
fn is_weight_unreadable(line: &str) -> bool {
    line.strip_prefix("--- ").is_some_and(|rest| {
        rest.contains('%') || rest.trim_end().ends_with("samples") || rest.contains("sample ")
    })
}

/// `Total samples       : 496`: how many; nothing within where it is no number.
fn told_samples(line: &str) -> Option<Option<f64>> {
    let number = line.trim().strip_prefix("Total samples")?.trim_start().strip_prefix(':')?;
    Some(number.trim().parse::<u64>().ok().map(|samples| samples as f64))
}

/// `----------  -------`
fn is_rule(line: &str) -> bool {
    line.bytes().all(|byte| byte == b'-' || byte.is_ascii_whitespace())
}

/// `          ns  percent  samples  top`: the unit.
fn head_of_flat(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [unit, "percent", "samples", "top"] = words[..] { Some(unit) } else { None }
}

/// `  1375787484   17.54%      130  java.util.HashMap.putVal`: what it weighs, and the function.
fn flat<'t>(line: &'t str, unit: &'t str) -> Option<(Weight<'t>, &'t str)> {
    let (value, rest) = line.trim().split_once(' ')?;
    let (share, rest) = rest.trim_start().split_once("% ")?;
    let (samples, name) = rest.trim_start().split_once(' ')?;
    Weight::of_words(value, unit, share, samples).map(|weight| (weight, name.trim()))
}

/// `  [ 1] java.util.Hashtable.get`: its place, and the name.
fn frame(line: &str) -> Option<(u32, &str)> {
    let (number, name) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    let place = number.trim().parse::<u32>().ok()?;
    Some((place, name.trim())).filter(|(_, name)| !name.is_empty())
}

/// `Started [lock] profiling`: what is sampled.
fn started(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Started [")?.strip_suffix("] profiling")
}

/// What is sampled, by what was started and the unit of the weights.
fn sampled_event<'t>(kind: Option<&'t str>, unit: Option<&str>) -> &'t str {
    match (kind, unit) {
        (Some("cpu" | "itimer" | "ctimer"), _) => PROCESSOR,
        (Some("wall"), _) => WALL,
        (Some("lock"), _) => "time of waiting for locks",
        (Some("alloc"), _) | (None, Some("bytes")) => ALLOCATIONS,
        (Some(other), _) => other,
        (None, Some("ns")) => "time",
        (None, _) => "samples",
    }
}

/// What has been read of a report so far.
#[derive(Default)]
struct AsyncReport<'t> {
    stack: Stack<'t>,
    /// What was started.
    kind: Option<&'t str>,
    /// The unit of the first weight.
    unit: Option<&'t str>,
    /// The line of the weight above, and the weight.
    above: Option<(usize, Weight<'t>)>,
    /// Whether the head of a report was read.
    has_head: bool,
    /// Samples as the head has them, and the line.
    told_samples: Option<(f64, usize)>,
    /// The unit of the table that the line is in.
    table: Option<&'t str>,
    has_table: bool,
    stacks: u64,
    functions: HashSet<&'t str>,
    total: f64,
    share: f64,
    samples: f64,
    squares: f64,
}

impl<'t> AsyncReport<'t> {
    fn note_line(
        &mut self,
        number: usize,
        line: &'t str,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        let wrong = |what: &str| ProfileError::new(number, what);
        self.kind = self.kind.or_else(|| started(line));
        // The number of a job of a shell looks like a function, but for the margin.
        let is_inner = line.starts_with([' ', '\t']) || self.above.is_some();
        if let Some((place, name)) = frame(line).filter(|_| is_inner) {
            if self.above.is_none() || place as usize != self.stack.depth() {
                return Err(wrong(FRAME_ALONE));
            }
            return self.stack.push(number, name.into());
        }
        self.end_stack(take)?;
        if line.trim().is_empty() {
            self.table = None;
        } else if line.trim() == HEAD {
            if std::mem::replace(&mut self.has_head, true) {
                return Err(wrong(SECOND));
            }
        } else if let Some(samples) = told_samples(line) {
            let samples = samples.ok_or_else(|| wrong(WEIGHT_USAGE))?;
            self.told_samples = Some((samples, number));
        } else if let Some(unit) = head_of_flat(line) {
            if std::mem::replace(&mut self.has_table, true) {
                return Err(wrong(SECOND));
            }
            self.table = Some(unit);
        } else if let Some(weight) = weight(line) {
            if self.has_table {
                return Err(wrong(if self.stacks == 0 { TWICE } else { SECOND }));
            }
            self.note_unit(number, weight.unit)?;
            check_weights(number, self.total + weight.value)?;
            self.above = Some((number, weight));
        } else if is_weight_unreadable(line) {
            return Err(wrong(WEIGHT_USAGE));
        } else if let Some(unit) = self.table.filter(|_| self.stacks == 0 && !is_rule(line)) {
            // Behind stacks the table says the same once more.
            let (weight, name) = flat(line, unit).ok_or_else(|| wrong(ROW_USAGE))?;
            if !self.functions.insert(name) {
                return Err(wrong(
                    "this function stands in the table twice; leave one table in the \
                                  file, as async-profiler has printed it",
                ));
            }
            self.note_unit(number, unit)?;
            check_weights(number, self.total + weight.value)?;
            take(&Sighting::new(&[name], weight.value));
            self.add(weight);
        }
        Ok(())
    }

    /// All weights have one unit.
    fn note_unit(&mut self, number: usize, unit: &'t str) -> Result<(), ProfileError> {
        let first = *self.unit.get_or_insert(unit);
        if first == unit {
            return Ok(());
        }
        let what = format!(
            "weights in {first} above, and in {unit} here, cannot be added up; leave those of one \
             unit in the file"
        );
        Err(ProfileError::new(number, what))
    }

    /// Gives the stack below a weight, which has to have one.
    fn end_stack(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) -> Result<(), ProfileError> {
        let Some((number, weight)) = self.above.take() else { return Ok(()) };
        if self.stack.is_empty() {
            return Err(ProfileError::new(number, WEIGHT_ALONE));
        }
        self.stacks += 1;
        self.stack.emit_sighting("", weight.value, take);
        self.add(weight);
        Ok(())
    }

    fn add(&mut self, of: Weight<'_>) {
        (self.total, self.share) = (self.total + of.value, self.share + of.share);
        (self.samples, self.squares) = (self.samples + of.samples, self.squares + of.square());
    }

    /// Looks whether stacks or functions have no more than all that the report tells of.
    fn check_totals(&self) -> Result<(), ProfileError> {
        if let Some((told, number)) = self.told_samples.filter(|(told, _)| self.samples > *told) {
            let what = format!(
                "there are {told} samples as this line has it, and below are {}: something stands \
                 twice; give what async-profiler has printed",
                self.samples
            );
            return Err(ProfileError::new(number, what));
        }
        let rows = self.stacks as usize + self.functions.len();
        if self.share > 1.0 + rows as f64 * SHARE_HALF {
            let what = format!(
                "shares add up to {:.1} %: something stands twice; give what async-profiler has \
                 printed",
                100.0 * self.share
            );
            return Err(ProfileError::new(0, what));
        }
        Ok(())
    }
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut report = AsyncReport::default();
    for (number, line) in filled_lines(text).chain([(0, "")]) {
        report.note_line(number, line, take)?;
    }
    report.check_totals()?;
    let AsyncReport { kind, unit, total, share, squares, stacks, functions, .. } = report;
    let event = sampled_event(kind, unit);
    let rows = stacks as usize + functions.len();
    // Where no share is told, nothing tells the whole.
    let whole = if share > 0.0 { total / share.min(1.0) } else { total };
    let rounding = whole * rows as f64 * SHARE_HALF;
    let coverage = Coverage::of_table(total, whole, rounding);
    if coverage.rest > 0.0 {
        take(&Sighting::new(&[LEFT_OUT], coverage.rest));
    }
    // Kish: amounts are of all sizes, and a stack tells the mean of its own.
    let sample = if squares > 0.0 { squares / total } else { 1.0 };
    let told = 100.0 * f64::min(share, 1.0);
    let count = if functions.is_empty() {
        format!("{stacks} stacks")
    } else {
        format!("{} functions", functions.len())
    };
    Ok(Form {
        taken_for: format!("async-profiler's text of {event}, {count}, {told:.1} % of it"),
        measure: ProfileMeasure::of_unit(MeasureUnit::Event, Some(event)),
        weighing: Weighing::Unit(sample),
        coverage,
    })
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    const BEGINNING: &str = "--- Execution profile ---\nTotal samples       : 40\n\n";

    fn stack(ns: &str, share: &str, samples: &str, name: &str) -> String {
        format!("--- {ns} ns ({share}%), {samples} samples\n  [ 0] {name}\n  [ 1] main\n\n")
    }

    fn table(rows: &[(&str, &str, &str, &str)]) -> String {
        let head = "          ns  percent  samples  top\n  ----------  -------  -------  ---\n";
        let row = |(ns, share, samples, name): &(&str, &str, &str, &str)| {
            format!("  {ns}   {share}%  {samples}  {name}\n")
        };
        BEGINNING.to_owned() + head + &rows.iter().map(row).collect::<String>()
    }

    fn refused_line(text: &str) -> usize {
        read(text).map(|profile| panic!("{profile:?}\n{text}")).unwrap_err().line
    }

    /// A stack whose weight cannot be read was left out, and the rest called an excerpt.
    #[test]
    fn weights_that_cannot_be_read_are_refused_with_their_line() {
        let stacks = |samples: &str| {
            BEGINNING.to_owned()
                + &stack("300", "75.00", samples, "hot")
                + &stack("100", "25.00", "10", "f")
        };
        assert_eq!(read(&stacks("30")).unwrap().own["hot"], 300.0);
        let rows =
            |samples: &str| table(&[("300", "75.00", samples, "hot"), ("100", "25.00", "10", "f")]);
        assert_eq!(read(&rows("30")).unwrap().own["hot"], 300.0);
        for samples in ["-30", "3e1", "30.0", "3,0", "nan", "99999999999999999999999", ""] {
            assert_eq!(refused_line(&stacks(samples)), 4, "{samples:?}");
            assert_eq!(refused_line(&rows(samples)), 6, "{samples:?}");
        }
        for (ns, share) in [("-300", "75.00"), ("nan", "75.00"), ("300", "nan"), ("300", "-5")] {
            let text = BEGINNING.to_owned() + &stack(ns, share, "30", "hot");
            assert_eq!(refused_line(&text), 4, "{ns} {share}");
            assert_eq!(refused_line(&table(&[(ns, share, "30", "hot")])), 6, "{ns} {share}");
        }
        let whole = stacks("30");
        let cut = whole.strip_suffix("  [ 0] f\n  [ 1] main\n\n").unwrap();
        assert_eq!(refused_line(cut), 8, "a weight without its stack");
        assert_eq!(refused_line(&whole.replacen("  [ 0] hot\n", "", 1)), 5, "no innermost one");
    }

    #[test]
    fn two_reports_and_what_stands_twice_are_refused() {
        let one = BEGINNING.to_owned() + &stack("300", "75.00", "30", "hot");
        assert_eq!(refused_line(&one.repeat(2)), 8);
        let twice = one.clone() + &stack("300", "25.00", "30", "hot");
        assert_eq!(refused_line(&twice), 2, "60 samples of 40");
        let mixed = one.clone() + &stack("300", "25.00", "10", "hot").replace(" ns ", " bytes ");
        assert_eq!(refused_line(&mixed), 8, "nanoseconds and bytes");
        let more =
            one.replace("Total samples       : 40\n", "") + &stack("200", "50.00", "20", "f");
        assert_eq!(refused_line(&more), 0, "125 % of it");
        let row = ("300", "75.00", "10", "hot");
        assert_eq!(refused_line(&table(&[row, row])), 7);
        let parted = table(&[row]) + "\n" + table(&[row]).split_once("\n\n").unwrap().1;
        assert_eq!(refused_line(&parted), 8);
    }
}
