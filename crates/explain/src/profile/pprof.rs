//! What `pprof -top` prints: functions with their own weight, and that of all that they call.
//!
//! ```text
//!   Type: cpu
//!   Showing nodes accounting for 28s, 56.60% of 49.47s total
//!         flat  flat%   sum%        cum   cum%
//!        8.29s 16.76% 16.76%     17.77s 35.92%  runtime.scanobject
//! ```
//!
//! The total stands in the head; where that is missing, it follows from the weight and the share of
//! the largest function. What functions have that are not shown is put together: pprof leaves small
//! ones out, and says so (`Dropped 160 nodes`).
//!
//! All weights of a table have one unit, add up to no more than its head tells, and a line of it
//! stands there once: the sums of shares in its third column rise from line to line.

use std::collections::HashSet;

use dbdyno_model::LEFT_OUT;

use super::coverage::Coverage;
use super::filled::filled_lines;
use super::form::{Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing, check_weights};
use super::programs::Sighting;

/// Half of the last digit of a weight that has a unit: `8.29s`, `28s`, `1.50MB`.
const DIGIT_HALF: f64 = 0.005;
/// Half of the last digit of a share.
const SHARE_HALF: f64 = 5e-5;
/// Steps of the sums of shares from which on a share moves them, however they are rounded.
const STEPS_SURE: f64 = 2.0;
/// Seconds between two samples of a processor in Go, and of gperftools.
const SAMPLE_S: f64 = 0.01;

/// Whether a line is the head of the table.
pub(super) fn is_of_pprof(line: &str) -> bool {
    line.split_whitespace().eq(["flat", "flat%", "sum%", "cum", "cum%"])
        || old_total(line).is_some()
}

/// `Total: 2525 samples`: the head of the pprof in Perl, and of Go before 1.5.
fn old_total(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["Total:", total, "samples"] = words[..] else { return None };
    total.parse::<f64>().ok().filter(|total| *total > 0.0)
}

/// What a weight counts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Seconds,
    Bytes,
    Count,
}

/// Gives each function.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let table = Table::read(text)?;
    let told = table.told;
    let coverage = table.coverage()?;
    let total = table.total.map(|of| of.value).or(table.total_by_share()).unwrap_or(told);
    table.rows.iter().for_each(|(name, value)| take(&Sighting::new(&[name], *value)));
    if coverage.rest > 0.0 {
        take(&Sighting::new(&[LEFT_OUT], coverage.rest));
    }
    let shown = 100.0 * told / total.max(f64::MIN_POSITIVE);
    let smallest = table.rows.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    // What is no time of a processor has an amount of its own each time: a wait, an allocation.
    let (event, weighing) = match (table.unit.unwrap_or(Unit::Count), table.kind) {
        (Unit::Seconds, None | Some("cpu" | "CPU" | "time")) => {
            ("time", Weighing::Unit(SAMPLE_S.min(smallest)))
        }
        (Unit::Seconds, Some(_)) => ("time", Weighing::Untold),
        (Unit::Bytes, _) => ("bytes", Weighing::Untold),
        (Unit::Count, Some("samples" | "goroutine" | "threadcreate" | "cpu")) => {
            ("counts", Weighing::Unit(1.0))
        }
        (Unit::Count, _) => ("counts", Weighing::Untold),
    };
    let event = table.kind.unwrap_or(event);
    let count = table.rows.len();
    Ok(Form {
        taken_for: format!("`pprof -top` of {event}, {count} functions, {shown:.1} % of it"),
        measure: ProfileMeasure::of_unit(MeasureUnit::Event, Some(event)),
        weighing,
        coverage,
    })
}

/// What stands in the text.
struct Table<'t> {
    /// Of what it is: `cpu`.
    kind: Option<&'t str>,
    /// As the head has it: of the profile, and of the functions of the table.
    total: Option<TableWeight>,
    shown: Option<TableWeight>,
    /// The line that tells them.
    head: usize,
    /// Functions with a weight of their own.
    rows: Vec<(&'t str, f64)>,
    /// The sum of these weights.
    told: f64,
    /// The largest of these weights, and its share.
    largest: Option<(f64, f64)>,
    /// That of all weights.
    unit: Option<Unit>,
    /// The sum of half the last digits of all weights, and of those that hide samples.
    halves: f64,
    coarse_halves: f64,
    /// Lines whose share is not nothing.
    lines: HashSet<&'t str>,
}

impl<'t> Table<'t> {
    fn read(text: &'t str) -> Result<Table<'t>, ProfileError> {
        let mut table = Table {
            kind: None,
            total: None,
            shown: None,
            head: 0,
            rows: Vec::new(),
            told: 0.0,
            largest: None,
            unit: None,
            halves: 0.0,
            coarse_halves: 0.0,
            lines: HashSet::new(),
        };
        let mut head = None;
        for (number, line) in filled_lines(text) {
            if let Some(kind) = line.trim_start().strip_prefix("Type:") {
                table.kind = Some(kind.trim());
            } else if is_of_pprof(line) {
                if head.replace(number).is_some() {
                    let what = "a second table begins here, of the same profile or another one; \
                                leave one in the file";
                    return Err(ProfileError::new(number, what));
                }
                if let Some(total) = old_total(line) {
                    let total = TableWeight { value: total, unit: Unit::Count, half: 0.0 };
                    (table.total, table.kind) = (Some(total), Some("samples"));
                    table.head = number;
                }
            } else if let Some((_, rest)) = line.split_once("nodes accounting for ") {
                let all = rest.split_once(" of ").map(|(_, all)| all.trim());
                let all = all.map(|all| all.strip_suffix(" total").unwrap_or(all));
                table.total = all.and_then(weight);
                table.shown = rest.split([',', ' ']).next().and_then(weight);
                table.head = number;
                check_weights(number, table.total.map_or(0.0, |of| of.value))?;
            } else if let Some(row) = row(line).filter(|_| head.is_some()) {
                table.add(number, &row)?;
                let is_moved = row.share > 0.0 && row.share >= STEPS_SURE * row.step;
                if is_moved && !table.lines.insert(line.trim()) {
                    let what = "this line stands in the table twice, which would count the \
                                function twice; give the table as `pprof -top` has printed it";
                    return Err(ProfileError::new(number, what));
                }
            } else if head.is_some() && is_cut_row(line) {
                let what = "this line of a function has no end, or a share that cannot be read: \
                            `8.29s 16.76% 16.76%  17.77s 35.92%  runtime.scanobject`; give all \
                            that `pprof -top` has printed";
                return Err(ProfileError::new(number, what));
            }
        }
        Ok(table)
    }

    fn add(&mut self, number: usize, row: &Row<'t>) -> Result<(), ProfileError> {
        let wrong = |what: &str| ProfileError::new(number, what);
        let TableWeight { value, unit, half } = weight(row.flat)
            .ok_or_else(|| wrong("a weight is a time, bytes or a number: `8.29s`, `512kB`"))?;
        if value < 0.0 {
            return Err(wrong(
                "weights below 0: a difference of two profiles, and no profile; give what \
                 `pprof -top` prints of each",
            ));
        }
        if value > 0.0 {
            if *self.unit.get_or_insert(unit) != unit {
                return Err(wrong(
                    "this weight has another unit than those above, so that they cannot be added \
                     up: all are times, or bytes, or numbers; give what `pprof -top` prints of one \
                     profile",
                ));
            }
            self.halves += half;
            self.coarse_halves += coarse(half);
            if self.largest.is_none_or(|(known, _)| value > known) {
                self.largest = Some((value, row.share));
            }
            self.rows.push((row.name, value));
            self.told += value;
        }
        check_weights(number, self.told)
    }

    /// How much of the profile stands in the table.
    ///
    /// # Errors
    /// There is more than the head tells, or in another unit.
    fn coverage(&self) -> Result<Coverage, ProfileError> {
        for told in self.shown.into_iter().chain(self.total).filter(|told| told.value > 0.0) {
            let most = told.value + self.halves + told.half;
            if self.unit.is_some_and(|unit| unit != told.unit) {
                let what = "what is told here has another unit than the functions below; give the \
                            table as `pprof -top` has printed it";
                return Err(ProfileError::new(self.head, what));
            }
            if self.told > most * (1.0 + f64::EPSILON * self.rows.len() as f64) {
                let what = format!(
                    "functions have {:.1} % of what is told here: lines stand twice, or are of \
                     another profile; give the table as `pprof -top` has printed it",
                    100.0 * self.told / told.value
                );
                return Err(ProfileError::new(self.head, what));
            }
        }
        let total = self.total.map(|of| of.value).or(self.total_by_share()).unwrap_or(self.told);
        let by_share =
            self.largest.map_or(0.0, |(value, share)| value * SHARE_HALF / share.powi(2));
        let rounding = self.coarse_halves + self.total.map_or(by_share, |of| coarse(of.half));
        Ok(Coverage::of_table(self.told, total, rounding))
    }

    fn total_by_share(&self) -> Option<f64> {
        self.largest.filter(|(_, share)| *share > 0.0).map(|(value, share)| value / share)
    }
}

/// A line of the table.
struct Row<'t> {
    flat: &'t str,
    share: f64,
    /// The last digit of the sum of shares.
    step: f64,
    name: &'t str,
}

/// `8.29s 16.76% 16.76%     17.77s 35.92%  runtime.scanobject`
fn row(line: &str) -> Option<Row<'_>> {
    let mut rest = line;
    let mut words = [""; 5];
    for word in &mut words {
        rest = rest.trim_start();
        let end = rest.find(char::is_whitespace)?;
        (*word, rest) = rest.split_at(end);
    }
    let [flat, share, sum, _, cum_share] = words;
    let share = percent(share).filter(|_| percent(sum).and(percent(cum_share)).is_some())?;
    let digits = sum.split_once('.').map_or(0, |(_, behind)| behind.len() - 1);
    let step = 0.1_f64.powi(digits as i32 + 2);
    let mut name = rest.trim();
    for inlined in [" (inline)", " (partial-inline)"] {
        name = name.strip_suffix(inlined).unwrap_or(name);
    }
    // With its file, as `-lines` prints it.
    let name = name.split_once(" /").map_or(name, |(name, _)| name).trim();
    (!name.is_empty()).then_some(Row { flat, share: share / 100.0, step, name })
}

/// `16.76%`
fn percent(word: &str) -> Option<f64> {
    let number = word.strip_suffix('%')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit() || b".-".contains(&byte));
    number.parse::<f64>().ok().filter(|_| is_number)
}

/// Whether a line begins as a row does, with a weight, and ends before its function, or has a share
/// that is no number.
fn is_cut_row(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| weight(word).is_some())
        && words.next().is_some_and(|word| word.ends_with('%'))
}

/// Half of a last digit that hides samples: hundredths of a second are whole ones.
fn coarse(half: f64) -> f64 {
    if half > DIGIT_HALF { half } else { 0.0 }
}

/// A weight as it is printed.
#[derive(Clone, Copy)]
struct TableWeight {
    value: f64,
    unit: Unit,
    /// Half of its last digit; 0 where it is exact.
    half: f64,
}

/// `8.29s`, `190ms`, `1.5mins`, `512kB`, `4997`: in seconds, bytes, or as a count.
fn weight(text: &str) -> Option<TableWeight> {
    let end =
        text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-'))).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let (times, unit) = match unit {
        "" => (1.0, Unit::Count),
        "s" => (1.0, Unit::Seconds),
        "ms" => (1e-3, Unit::Seconds),
        "us" | "µs" | "μs" => (1e-6, Unit::Seconds),
        "ns" => (1e-9, Unit::Seconds),
        "mins" => (60.0, Unit::Seconds),
        "hrs" => (3_600.0, Unit::Seconds),
        "B" => (1.0, Unit::Bytes),
        "kB" | "KB" => (1_024.0, Unit::Bytes),
        "MB" => (1_048_576.0, Unit::Bytes),
        "GB" => (1_073_741_824.0, Unit::Bytes),
        _ => return None,
    };
    let is_exact = unit == Unit::Count || (unit == Unit::Bytes && times == 1.0);
    let half = if is_exact { 0.0 } else { DIGIT_HALF * times };
    Some(TableWeight { value: number.parse::<f64>().ok()? * times, unit, half })
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    /// A table with so many functions of a second below one of five.
    fn table(head: &str, count: usize) -> String {
        let total = 5 + count;
        let share = |seconds: usize| 100.0 * seconds as f64 / total as f64;
        let row = |at: usize| {
            format!(
                "  1.00s {:.2}% {:.2}%  1.00s {:.2}%  main.g{at}\n",
                share(1),
                share(6 + at),
                share(1)
            )
        };
        let columns = "      flat  flat%   sum%        cum   cum%\n";
        let first = format!("  5.00s {0:.2}% {0:.2}%  5.00s {0:.2}%  hot\n", share(5));
        format!("Type: cpu\n{head}{columns}{first}") + &(0..count).map(row).collect::<String>()
    }

    const WHOLE: &str = "Showing nodes accounting for 25s, 100% of 25s total\n";

    /// A row in bytes was taken among those in seconds, and rows that stand twice were added up.
    #[test]
    fn rows_have_one_unit_and_stand_once() {
        let whole = table(WHOLE, 20);
        let profile = read(&whole).unwrap();
        assert_eq!((profile.total, profile.is_excerpt), (25.0, false));
        let hot = "  5.00s 20.00% 20.00%  5.00s 20.00%  hot\n";
        let small = "  1.00s 4.00% 100.00%  1.00s 4.00%  main.g19\n";
        let inlined = whole.replace("g19\n", "g19 (inline)\n");
        let of_kb = WHOLE.replace("25s", "25kB");
        for (text, line, why) in [
            (whole.replace("5.00s 20.00%", "5.00kB 20.00%"), 5, "another unit"),
            (whole.replace(WHOLE, &of_kb), 2, "another unit"),
            (format!("{whole}{hot}"), 25, "stands in the table twice"),
            (format!("{inlined}{small}"), 2, "104.0 %"),
            (whole.replace("for 25s", "for 24s"), 2, "104.2 %"),
            (whole.replace("of 25s", "of 20s"), 2, "125.0 %"),
            (whole.replace("4.00% 96.00%", "nan% 96.00%"), 23, "cannot be read"),
            (whole.strip_suffix("%  main.g19\n").unwrap().to_owned(), 24, "has no end"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.line == line && error.what.contains(why), "{error}\n{text}");
        }
        // Functions of C++ that are overloaded have one name as pprof writes it.
        assert!(read(&table(WHOLE, 20).replace("g19", "g18")).is_ok());
    }

    /// Objects of a heap, each of which stands for many, were taken for samples, and chance for
    /// proved.
    #[test]
    fn counts_of_which_nothing_says_that_they_are_samples_are_none() {
        let counts = |kind: &str| {
            let text = table(WHOLE, 20).replace("00s", "").replace("s total", " total");
            let text = text.replace(".", "").replace("for 25s", "for 25");
            text.replace("Type: cpu\n", kind)
        };
        for (kind, is_told) in
            [("Type: samples\n", true), ("Type: inuse_objects\n", false), ("", false)]
        {
            let profile = read(&counts(kind)).unwrap();
            assert_eq!(profile.unit.is_some(), is_told, "{kind} {profile:?}");
        }
    }

    #[test]
    fn a_table_that_drops_functions_is_an_excerpt_however_little_it_drops() {
        let head = "Showing nodes accounting for 24s, 96.00% of 25s total\nDropped 1 nodes\n";
        let cut = table(WHOLE, 20).replace(WHOLE, head);
        let cut = cut.replace("  1.00s 4.00% 100.00%  1.00s 4.00%  main.g19\n", "");
        let profile = read(&cut).unwrap();
        assert!((profile.total - 25.0).abs() < 1e-9 && profile.is_excerpt, "{profile:?}");
        assert!((1.0..1.1).contains(&profile.left_out_most), "{profile:?}");
        let tail = "Showing nodes accounting for 999s, 99.9% of 1000s total\nflat flat% sum% cum \
                    cum%\n999s 99.9% 99.9% 999s 99.9% f\n";
        assert!(read(tail).unwrap().is_excerpt);
    }
}
