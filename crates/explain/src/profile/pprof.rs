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
//! the largest function. What functions have that are not shown is put together.

use dbdyno_model::LEFT_OUT;

use super::filled::filled_lines;
use super::form::{Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing, check_weights};
use super::programs::Sighting;

/// The share from which on a table is taken for whole: shares are rounded, and pprof drops nodes.
const WHOLE: f64 = 0.97;
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
    let total = table.total.or(table.total_by_share()).unwrap_or(told);
    table.rows.iter().for_each(|(name, value)| take(&Sighting::new(&[name], *value)));
    let is_excerpt = told < WHOLE * total;
    if is_excerpt {
        take(&Sighting::new(&[LEFT_OUT], total - told));
    }
    let shown = 100.0 * told / total.max(f64::MIN_POSITIVE);
    let smallest = table.rows.iter().map(|(_, value)| *value).fold(f64::INFINITY, f64::min);
    // What is no time of a processor has an amount of its own each time: a wait, an allocation.
    let (event, weighing) = match (table.unit, table.kind) {
        (Unit::Seconds, None | Some("cpu" | "CPU" | "time")) => {
            ("time", Weighing::Unit(SAMPLE_S.min(smallest)))
        }
        (Unit::Seconds, Some(_)) => ("time", Weighing::Untold),
        (Unit::Bytes, _) => ("bytes", Weighing::Untold),
        (Unit::Count, None | Some("samples" | "goroutine" | "threadcreate" | "cpu")) => {
            ("counts", Weighing::Unit(1.0))
        }
        (Unit::Count, Some(_)) => ("counts", Weighing::Untold),
    };
    let event = table.kind.unwrap_or(event);
    let count = table.rows.len();
    Ok(Form {
        taken_for: format!("`pprof -top` of {event}, {count} functions, {shown:.1} % of it"),
        measure: ProfileMeasure::of_unit(MeasureUnit::Event, Some(event)),
        weighing,
        is_excerpt,
    })
}

/// What stands in the text.
struct Table<'t> {
    /// Of what it is: `cpu`.
    kind: Option<&'t str>,
    /// As the head has it.
    total: Option<f64>,
    /// Functions with a weight of their own.
    rows: Vec<(&'t str, f64)>,
    /// The sum of these weights.
    told: f64,
    /// The largest of these weights, and its share.
    largest: Option<(f64, f64)>,
    unit: Unit,
}

impl<'t> Table<'t> {
    fn read(text: &'t str) -> Result<Table<'t>, ProfileError> {
        let mut table = Table {
            kind: None,
            total: None,
            rows: Vec::new(),
            told: 0.0,
            largest: None,
            unit: Unit::Count,
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
                    (table.total, table.kind) = (Some(total), Some("samples"));
                }
            } else if let Some((_, rest)) = line.split_once("nodes accounting for ") {
                let all = rest.split_once(" of ").map(|(_, all)| all.trim());
                let all = all.map(|all| all.strip_suffix(" total").unwrap_or(all));
                table.total = all.and_then(weight).map(|(total, _)| total);
                check_weights(number, table.total.unwrap_or(0.0))?;
            } else if let Some(row) = row(line).filter(|_| head.is_some()) {
                table.add(number, &row)?;
            }
        }
        Ok(table)
    }

    fn add(&mut self, number: usize, row: &Row<'t>) -> Result<(), ProfileError> {
        let wrong = |what: &str| ProfileError::new(number, what);
        let (value, unit) = weight(row.flat)
            .ok_or_else(|| wrong("a weight is a time, bytes or a number: `8.29s`, `512kB`"))?;
        if value < 0.0 {
            return Err(wrong(
                "weights below 0: a difference of two profiles, and no profile; give what \
                 `pprof -top` prints of each",
            ));
        }
        if value > 0.0 {
            self.unit = unit;
            if self.largest.is_none_or(|(known, _)| value > known) {
                self.largest = Some((value, row.share));
            }
            self.rows.push((row.name, value));
            self.told += value;
        }
        check_weights(number, self.told)
    }

    fn total_by_share(&self) -> Option<f64> {
        self.largest.filter(|(_, share)| *share > 0.0).map(|(value, share)| value / share)
    }
}

/// A line of the table.
struct Row<'t> {
    flat: &'t str,
    share: f64,
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
    let percent = |word: &str| word.strip_suffix('%')?.parse::<f64>().ok();
    let share = percent(share).filter(|_| percent(sum).and(percent(cum_share)).is_some())?;
    let mut name = rest.trim();
    for inlined in [" (inline)", " (partial-inline)"] {
        name = name.strip_suffix(inlined).unwrap_or(name);
    }
    // With its file, as `-lines` prints it.
    let name = name.split_once(" /").map_or(name, |(name, _)| name).trim();
    (!name.is_empty()).then_some(Row { flat, share: share / 100.0, name })
}

/// `8.29s`, `190ms`, `1.5mins`, `512kB`, `4997`: in seconds, bytes, or as a count.
fn weight(text: &str) -> Option<(f64, Unit)> {
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
    Some((number.parse::<f64>().ok()? * times, unit))
}
