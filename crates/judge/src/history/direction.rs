//! Which direction of a figure is good, and from where that is known.
//!
//! ```text
//!   --better ─▶ stated in the name ─▶ unit that has one sense ─▶ word of the owner ─▶ other units
//!               (lower is better)     ms, ns/op, tps             customSmaller…       req/s, MB/s
//!            ─▶ the file itself ─▶ name of the column ─▶ assumed
//!               jmh less            latency less          more
//! ```
//!
//! A tool has figures of several kinds, a name may be `Score`, and a time or an operation by the
//! time has one sense: where a tool says the opposite of these, the unit decides, and the note
//! tells both. What is counted by the time may be good or bad: errors by the second are bad by
//! their word, and requests that reach an origin by what their owner says. Whether
//! github-action-benchmark is told `customBiggerIsBetter` or `customSmallerIsBetter` is such a word
//! of the owner, which he may have made wrong, or have corrected on the way: where the rows differ,
//! the name of the benchmark decides, and where a unit of one sense or a name says the opposite,
//! the direction is open.

use dbdyno_model::{Better, Severity, Warning, foreign};

use super::cells::{self, Measure};
use super::jmh::{self, JmhColumn};
use super::names;
use super::one_run;
use super::table::{BIGGER, HIGHER, LOWER, SMALLER, Table};

/// Columns of this name tell of what metric a row is.
const METRICS: [&str; 7] =
    ["metric", "metric_name", "measure", "measures", "measurement", "statistic", "_field"];
/// Money is spent by the time.
const MONEY: [&str; 12] =
    ["$", "€", "£", "¥", "usd", "eur", "gbp", "cents", "dollars", "euros", "credits", "cost"];

/// Which direction of the figures in `column` is good, whose unit is `unit`, and what is to be said
/// of that.
pub(super) fn figure_direction(
    table: &Table<'_>,
    column: usize,
    unit: &str,
    rows: &[usize],
    asked: Option<Better>,
) -> (Better, Option<Warning>) {
    if let Some(better) = asked {
        return (better, None);
    }
    let head = &table.header[column];
    let outcome = table.outcomes.iter().find(|(outcome, _)| *outcome == column);
    if let Some((_, Some(better))) = outcome {
        let (better, severity, text) = known(*better, "by the words of the outcomes");
        return (better, Some(Warning::new(severity, "direction", text)));
    }
    if let Some(name) = of_second_metric(table, column, rows) {
        let (better, severity, text) = by_second_metric(&name, unit);
        return (better, Some(Warning::new(severity, "direction", text)));
    }
    if one_run::is_time_of_hyperfine(&table.header, column) {
        let (better, severity, text) =
            known(Better::Lower, "by the columns, which are hyperfine's");
        return (better, Some(Warning::new(severity, "direction", text)));
    }
    let tool = of_tool(table, column, rows);
    // What benchmarks are called counts beside the word of their tool, and not in other files.
    let bench = table.better.and_then(|_| named_by(table, table.column("bench")?, rows));
    let said = match (names::name_meaning(head), bench.or_else(|| of_metric(table, rows))) {
        // A column that is called `value` has the figures of what its row names.
        (said, Some(metric)) if said.better.is_none() && !said.is_turned || metric.is_stated => {
            metric
        }
        (said, _) => said,
    };
    // A time that is kept or spared is told in a unit of time, too.
    let measure = cells::unit_measure(unit);
    let is_of_name = said.is_turned && measure == Some(Measure::Time)
        || said.is_of_faults && measure == Some(Measure::Rate);
    let unit_says = if is_of_name { UnitWord::Silent } else { of_unit(unit) };
    let is_of_less = said.is_doubtful || said.is_of_main && said.better == Some(Better::Lower);
    let (better, severity, text) = match (said.better, unit_says) {
        (_, UnitWord::OneSense(Better::Higher) | UnitWord::Usual(Better::Higher))
            if is_of_less && !said.is_stated && tool == Word::Silent =>
        {
            let unit = foreign::one_line(unit);
            let why = format!(
                "The name is of what is good to do in few places, and the unit, {unit}, of what \
                 mostly is"
            );
            assumed(Better::Higher, &why)
        }
        (Some(better), _) if said.is_stated => by_statement(better, unit, unit_says, tool),
        (name, UnitWord::OneSense(better)) => by_unit(better, unit, tool, name),
        // A benchmark's name that only counts is none against its owner.
        (name, UnitWord::Usual(better)) => match tool {
            Word::OfOwner(told) => by_owner(told, better, unit, name.filter(|_| said.is_of_main)),
            _ => by_unit(better, unit, tool, name),
        },
        (name, UnitWord::Silent) => by_word(tool, name, bench.is_some()),
    };
    (better, Some(Warning::new(severity, "direction", text)))
}

/// A direction, how sure it is, and what is said of it.
type Sentence = (Better, Severity, String);

fn known(better: Better, source: &str) -> Sentence {
    let text =
        format!("That {} is better is told {source}; --better says otherwise.", better.name());
    (better, Severity::Note, text)
}

fn assumed(better: Better, why: &str) -> Sentence {
    let more = if better == Better::Higher { "more" } else { "less" };
    (better, Severity::Caution, format!("{why}; {more} is assumed, and --better says it."))
}

/// By what stands in the name, unless a unit of one sense or the tool says the opposite.
fn by_statement(better: Better, unit: &str, unit_says: UnitWord, tool: Word) -> Sentence {
    let is_against_unit = matches!(unit_says, UnitWord::OneSense(of_unit) if of_unit != better);
    let is_against_tool = tool.better().is_some_and(|told| told != better);
    if is_against_unit || is_against_tool {
        let other = if is_against_unit {
            format!("the unit, {},", foreign::one_line(unit))
        } else {
            "the file itself".to_owned()
        };
        let name = better.name();
        let why = format!("The name states that {name} is better, and {other} says the opposite");
        return assumed(better, &why);
    }
    known(better, "by the name, which states it")
}

/// By the owner's word, where a unit says only what is usual.
fn by_owner(told: Better, usual: Better, unit: &str, name: Option<Better>) -> Sentence {
    let unit = foreign::one_line(unit);
    match name {
        Some(name) if name != told => assumed(
            told,
            &format!(
                "The file itself says that {} is better, and the name says the opposite",
                told.name()
            ),
        ),
        _ if told != usual => known(
            told,
            &format!("by the file itself, although more often the opposite of {unit} is"),
        ),
        _ => known(told, "by the file itself"),
    }
}

fn by_unit(better: Better, unit: &str, tool: Word, name: Option<Better>) -> Sentence {
    let against = match (tool, name) {
        (Word::OfOwner(told), _) if told != better => {
            let why = format!(
                "The file itself says that {} is better, and the unit, {}, says the opposite",
                told.name(),
                foreign::one_line(unit)
            );
            return assumed(told, &why);
        }
        (Word::Says(told), _) if told != better => ", although the file itself says the opposite",
        (Word::Contradicts, _) => ", although the file itself says both",
        (Word::Silent, Some(name)) if name != better => {
            ", although the name of the column says the opposite"
        }
        _ => "",
    };
    known(better, &format!("by the unit, {}{against}", foreign::one_line(unit)))
}

/// By what the tool and the name say, where `is_bench` is whether that is of a benchmark.
fn by_word(tool: Word, name: Option<Better>, is_bench: bool) -> Sentence {
    match (tool, name) {
        (Word::Says(better) | Word::OfOwner(better), Some(name)) if name != better && is_bench => {
            assumed(
                better,
                &format!(
                    "The file itself says that {} is better, and the name says the opposite",
                    better.name()
                ),
            )
        }
        (Word::Says(better) | Word::OfOwner(better), _) => known(better, "by the file itself"),
        (Word::Contradicts, Some(better)) => {
            known(better, "by the name, for the file itself says now one and now the other")
        }
        (Word::Contradicts, None) => assumed(
            Better::Higher,
            "The file itself says now that more is better and now that less is",
        ),
        (Word::Silent, Some(better)) => known(better, "by the name of the column"),
        (Word::Silent, None) => assumed(
            Better::Higher,
            "Whether more or less is better is told neither by a unit nor by the name of the column",
        ),
    }
}

/// What a figure of JMH is called that is not of its mode: a profiler's, or a place in a
/// distribution, whose name says nothing.
fn of_second_metric(table: &Table<'_>, column: usize, rows: &[usize]) -> Option<String> {
    match jmh::column(table, column)? {
        JmhColumn::Second(name) => Some(name),
        JmhColumn::Percentile => Some(String::new()),
        JmhColumn::Score => jmh::second_of_rows(table, rows),
        JmhColumn::Error => None,
    }
}

/// By the name and the unit of a second metric: where one says what is usual and the other the
/// opposite, such as `gc.alloc.rate` in MB/sec, nobody knows.
fn by_second_metric(name: &str, unit: &str) -> Sentence {
    let said = names::name_meaning(name).better;
    match (of_unit(unit), said) {
        (UnitWord::OneSense(better), _) => by_unit(better, unit, Word::Silent, said),
        (UnitWord::Usual(usual), Some(better)) if usual != better => assumed(
            Better::Higher,
            "Of this second metric the name says that one direction is better, and the unit the \
             other",
        ),
        (_, Some(better)) => known(better, "by the name of the second metric"),
        (UnitWord::Usual(better), None) if name.is_empty() => {
            by_unit(better, unit, Word::Silent, None)
        }
        (_, None) => assumed(
            Better::Higher,
            "The mode is that of the score, and says nothing of this second metric, nor does its \
             name",
        ),
    }
}

/// What the name of the metric says that these rows are of.
fn of_metric(table: &Table<'_>, rows: &[usize]) -> Option<names::Meaning> {
    named_by(table, METRICS.iter().find_map(|name| table.column(name))?, rows)
}

/// What the name in this column says, where all rows have the same.
fn named_by(table: &Table<'_>, column: usize, rows: &[usize]) -> Option<names::Meaning> {
    let mut cells = rows.iter().map(|&row| table.cell(row, column));
    let first = cells.next()?;
    cells.all(|cell| cell == first).then(|| names::name_meaning(first))
}

/// What a tool says of some rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Says(Better),
    /// The owner of the benchmark chose it.
    OfOwner(Better),
    /// Of some that more is better, of others that less is.
    Contradicts,
    Silent,
}

impl Word {
    fn better(self) -> Option<Better> {
        match self {
            Word::Says(better) | Word::OfOwner(better) => Some(better),
            Word::Contradicts | Word::Silent => None,
        }
    }
}

/// What the tool that wrote the file says of these rows: github-action-benchmark in a column of its
/// own, JMH by the mode of its scores.
fn of_tool(table: &Table<'_>, column: usize, rows: &[usize]) -> Word {
    let of = |column: usize, higher: &[&str], lower: &[&str]| match (
        are_all(table, column, rows, higher),
        are_all(table, column, rows, lower),
    ) {
        (true, _) => Word::Says(Better::Higher),
        (_, true) => Word::Says(Better::Lower),
        _ => Word::Contradicts,
    };
    if let Some(column) = table.better
        && rows.iter().any(|&row| !table.cell(row, column).is_empty())
    {
        let told = of(column, &[HIGHER, BIGGER], &[LOWER, SMALLER]);
        return match told {
            Word::Says(better) if are_all(table, column, rows, &[BIGGER, SMALLER]) => {
                Word::OfOwner(better)
            }
            told => told,
        };
    }
    let is_score = jmh::column(table, column) == Some(JmhColumn::Score);
    match table.column("mode").filter(|_| is_score) {
        Some(mode) => match of(mode, &["thrpt", "Throughput"], &["avgt", "sample", "ss"]) {
            Word::Contradicts => Word::Silent,
            told => told,
        },
        None => Word::Silent,
    }
}

/// Whether each of these rows has one of the words in this column.
fn are_all(table: &Table<'_>, column: usize, rows: &[usize], words: &[&str]) -> bool {
    rows.iter().all(|&row| words.contains(&table.cell(row, column)))
}

/// What a unit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnitWord {
    /// A time, what each operation costs, or operations by the time.
    OneSense(Better),
    /// What is counted by the time, and what it mostly is.
    Usual(Better),
    Silent,
}

fn of_unit(unit: &str) -> UnitWord {
    let said = names::name_meaning(unit);
    match cells::unit_measure(unit) {
        Some(Measure::Time | Measure::Cost) => UnitWord::OneSense(Better::Lower),
        Some(Measure::Rate) => {
            let what = unit.rsplit_once('/').map_or("", |(what, _)| what.trim());
            if MONEY.contains(&what.to_lowercase().as_str()) {
                return UnitWord::Usual(Better::Lower);
            }
            match said.better {
                Some(Better::Higher) if said.is_of_main => UnitWord::OneSense(Better::Higher),
                Some(better) => UnitWord::Usual(better),
                // `k/s`, `/s`: so many of something.
                None if cells::is_size(what) => UnitWord::Usual(Better::Higher),
                None => UnitWord::Silent,
            }
        }
        None if said.is_of_faults => said.better.map_or(UnitWord::Silent, UnitWord::Usual),
        None => UnitWord::Silent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_by_the_time_is_good_or_bad_by_its_word() {
        let lower = UnitWord::Usual(Better::Lower);
        for unit in [
            "errors/s",
            "failures/s",
            "deadlocks/s",
            "aborts/s",
            "timeouts/s",
            "retries/s",
            "misses/s",
            "drops/s",
            "faults/sec",
            "wakeups/s",
            "$/h",
            "USD/h",
            "errors",
            "conflicts/op",
        ] {
            assert_eq!(of_unit(unit), lower, "{unit}");
        }
        for unit in ["req/s", "GB/s", "MB/s", "rows/s", "k/s", "/s", "iter/sec", "Mbit/s", "M/s"] {
            assert_eq!(of_unit(unit), UnitWord::Usual(Better::Higher), "{unit}");
        }
        for unit in ["ops/s", "tps", "qps", "ops/ms"] {
            assert_eq!(of_unit(unit), UnitWord::OneSense(Better::Higher), "{unit}");
        }
        for unit in ["ms", "ns/op", "B/op", "s"] {
            assert_eq!(of_unit(unit), UnitWord::OneSense(Better::Lower), "{unit}");
        }
        for unit in ["frobs/s", "points", "", "%", "MB"] {
            assert_eq!(of_unit(unit), UnitWord::Silent, "{unit}");
        }
    }
}
