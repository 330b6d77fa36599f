//! Which direction of a figure is good, and from where that is known.
//!
//! ```text
//!   --better  ─▶  unit of the values  ─▶  tool of the file  ─▶  name of the column  ─▶  assumed
//!                 ops/s more, ms less      jmh less             latency less            more
//! ```
//!
//! A tool has figures of several kinds, a name may be `Score`, and a unit is of one kind: where
//! they say the opposite, the unit decides, and the note tells both.

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
    (column, unit): (usize, &str),
    rows: &[usize],
    asked: Option<Better>,
) -> (Better, Option<Warning>) {
    if let Some(better) = asked {
        return (better, None);
    }
    let head = &table.header[column];
    let tool = of_tool(table, column, rows);
    let said = match (names::said(head), of_metric(table, rows)) {
        // A column that is called `value` has the figures of what its row names.
        (said, Some(metric)) if said.better.is_none() && !said.is_turned => metric,
        (said, _) => said,
    };
    // A time that is kept or spared is told in a unit of time, too.
    let unit_says = of_unit(unit).filter(|_| {
        !(said.is_turned && cells::measured(unit) == Some(Measure::Time)
            || said.is_of_faults && cells::measured(unit) == Some(Measure::Rate))
    });
    let told = match (unit_says, tool, said.better) {
        (Some(better), told, name) => {
            let source = format!("by the unit, {}", foreign::one_line(unit));
            let against = match (told, name) {
                (Some(told), _) if told != better => {
                    ", although the tool of the file says the opposite"
                }
                (None, Some(name)) if name != better => {
                    ", although the name of the column says the opposite"
                }
                _ => "",
            };
            Some((better, source + against))
        }
        (None, Some(better), _) => Some((better, "by the tool of the file".to_owned())),
        (None, None, Some(better)) => Some((better, "by the name of the column".to_owned())),
        (None, None, None) => None,
    };
    match told {
        Some((better, source)) => {
            let text = format!(
                "That {} is better is told {source}; --better says otherwise.",
                better.name()
            );
            (better, Some(Warning::new(Severity::Note, "direction", text)))
        }
        None => {
            let text = "Whether more or less is better is told neither by a unit nor by the name \
                        of the column; more is assumed, and --better says it.";
            (Better::Higher, Some(Warning::new(Severity::Caution, "direction", text)))
        }
    }
}

/// What the name of the metric says that these rows are of.
fn of_metric(table: &Table<'_>, rows: &[usize]) -> Option<names::Meaning> {
    let column = METRICS.iter().find_map(|name| table.column(name))?;
    let mut cells = rows.iter().map(|&row| table.cell(row, column));
    let first = cells.next()?;
    cells.all(|cell| cell == first).then(|| names::said(first))
}

/// What the tool that wrote the file says of these rows: github-action-benchmark in a column of its
/// own, JMH by the mode of its scores.
fn of_tool(table: &Table<'_>, column: usize, rows: &[usize]) -> Option<Better> {
    if let Some(column) = table.better {
        let is_higher = are_all(table, column, rows, &["higher"]);
        return Some(if is_higher { Better::Higher } else { Better::Lower });
    }
    let is_score = table.header[column].to_ascii_lowercase().contains("score");
    let mode = table.column("mode").filter(|_| is_score)?;
    if are_all(table, mode, rows, &["thrpt", "Throughput"]) {
        return Some(Better::Higher);
    }
    are_all(table, mode, rows, &["avgt", "sample", "ss"]).then_some(Better::Lower)
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
