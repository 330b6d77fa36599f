//! Which direction of a figure is good, and from where that is known.
//!
//! ```text
//!   --better  ─▶  unit of the values  ─▶  tool of the file  ─▶  name of the column  ─▶  assumed
//!                 ops/s more, ms less      jmh less             latency less            more
//! ```
//!
//! A tool has figures of several kinds, a name may be `Score`, and a unit is of one kind: where
//! they say the opposite, the unit decides, and the note tells both. Whether
//! github-action-benchmark is told `customBiggerIsBetter` or `customSmallerIsBetter` is a user's
//! choice, which he may have made wrong, or have corrected on the way: where the rows differ, the
//! name of the benchmark decides, and where that says the opposite, the direction is open.

use dbdyno_model::{Better, Severity, Warning, foreign};

use super::cells::{self, Measure};
use super::names;
use super::table::Table;

/// Columns of this name tell of what metric a row is.
const METRICS: [&str; 7] =
    ["metric", "metric_name", "measure", "measures", "measurement", "statistic", "_field"];

/// Which direction of the figures in `column` is good, whose unit is `unit`, and what is to be said
/// of that.
pub(super) fn of(
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
    let tool = of_tool(table, column, rows);
    // What benchmarks are called counts beside the word of their tool, and not in other files.
    let bench = table.better.and_then(|_| named_by(table, table.column("bench")?, rows));
    let said = match (names::said(head), bench.or_else(|| of_metric(table, rows))) {
        // A column that is called `value` has the figures of what its row names.
        (said, Some(metric)) if said.better.is_none() && !said.is_turned => metric,
        (said, _) => said,
    };
    // A time that is kept or spared is told in a unit of time, too.
    let unit_says = of_unit(unit).filter(|_| {
        !(said.is_turned && cells::measured(unit) == Some(Measure::Time)
            || said.is_of_faults && cells::measured(unit) == Some(Measure::Rate))
    });
    let (better, severity, text) = match unit_says {
        Some(better) => by_unit(better, unit, tool, said.better),
        None => by_word(tool, said.better, bench.is_some()),
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

fn by_unit(better: Better, unit: &str, tool: Word, name: Option<Better>) -> Sentence {
    let against = match (tool, name) {
        (Word::Says(told), _) if told != better => {
            ", although the tool of the file says the opposite"
        }
        (Word::Contradicts, _) => ", although the tool of the file says both",
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
        (Word::Says(better), Some(name)) if name != better && is_bench => assumed(
            better,
            &format!(
                "The tool of the file says that {} is better, and the name says the opposite",
                better.name()
            ),
        ),
        (Word::Says(better), _) => known(better, "by the tool of the file"),
        (Word::Contradicts, Some(better)) => {
            known(better, "by the name, for the tool of the file says now one and now the other")
        }
        (Word::Contradicts, None) => assumed(
            Better::Higher,
            "The tool of the file says now that more is better and now that less is",
        ),
        (Word::Silent, Some(better)) => known(better, "by the name of the column"),
        (Word::Silent, None) => assumed(
            Better::Higher,
            "Whether more or less is better is told neither by a unit nor by the name of the column",
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
    cells.all(|cell| cell == first).then(|| names::said(first))
}

/// What a tool says of some rows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Says(Better),
    /// Of some that more is better, of others that less is.
    Contradicts,
    Silent,
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
    if let Some(column) = table.better {
        return of(column, &["higher"], &["lower"]);
    }
    let is_score = table.header[column].to_ascii_lowercase().contains("score");
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

fn of_unit(unit: &str) -> Option<Better> {
    cells::measured(unit).map(|measured| match measured {
        Measure::Time | Measure::Cost => Better::Lower,
        Measure::Rate => Better::Higher,
    })
}
