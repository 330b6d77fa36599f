//! How sure each cell is, and where the rest of the doubt comes from: the rows of a table.
//!
//! ```text
//!   how sure    interval           q    single runs    from pairs restarts the next minute
//!   point-query
//!     1 client  robust, 8 starts 0.3 % −9.1 to +2.0 %        62 %     38 % restarts: 21 % narrower
//! ```
//!
//! Shares are of the variance of the result (Kalibera and Jones 2013).

use dbdyno_document::{DataTable, TableCell, TableColumn, number};

use crate::view::{CellView, LevelView, View};
use crate::words;

/// What is said of one cell.
struct DoubtRow {
    place: String,
    /// `robust, 8 starts`.
    interval: String,
    /// `0.3 %`; empty where there is one cell only.
    q: String,
    /// `−9 to +3 %`.
    single: String,
    /// Its levels as a bar, for a page.
    bar: String,
    /// For each of [`LEVELS`] its share, or nothing.
    shares: [String; 3],
    /// `more restarts: 21 % narrower`.
    minute: String,
}

/// The names of levels in JSON, what further ones are called, and the one thing.
const LEVELS: [(&str, &str); 3] = [("pair", "pairs"), ("life", "restarts"), ("filling", "reloads")];

/// How sure each cell is. On a narrow terminal the last columns are left out.
pub(crate) fn table(view: &View) -> DataTable {
    let rows: Vec<DoubtRow> = view.summary.cells.iter().map(|cell| row(view, cell)).collect();
    let columns = [
        TableColumn::word_texts("how sure", |row: &DoubtRow| (&row.place).into()),
        TableColumn::number_texts("interval", |row: &DoubtRow| (&row.interval).into()),
        TableColumn::number_texts("q", |row: &DoubtRow| (&row.q).into()).as_dispensable(),
        TableColumn::number_texts("single runs", |row: &DoubtRow| (&row.single).into())
            .as_dispensable(),
        TableColumn::drawing_cells("levels drawn", |row: &DoubtRow| {
            TableCell::from_svg(row.bar.clone())
        }),
        TableColumn::number_texts("from pairs", |row: &DoubtRow| (&row.shares[0]).into())
            .as_dispensable(),
        TableColumn::number_texts("restarts", |row: &DoubtRow| (&row.shares[1]).into())
            .as_dispensable(),
        TableColumn::number_texts("reloads", |row: &DoubtRow| (&row.shares[2]).into())
            .as_dispensable(),
        TableColumn::word_texts("the next minute", |row: &DoubtRow| (&row.minute).into())
            .as_dispensable(),
    ];
    DataTable::new(&columns, &rows).without_empty_columns().titled_by_its_corner()
}

fn row(view: &View, cell: &CellView) -> DoubtRow {
    let doubt = &cell.doubt;
    let unit = match (doubt.replicates, doubt.interval) {
        (_, "welch" | "fieller") => "round",
        (unit, _) => unit,
    };
    let count = words::count_with_noun(u64::from(doubt.replicate_count), noun(unit));
    let only = view.summary.cells.len() < 2;
    DoubtRow {
        place: words::cell_place(cell),
        interval: format!("{}, {}", doubt.interval, count),
        q: if only { String::new() } else { probability(doubt.q_value) },
        single: single(cell),
        bar: bar(cell),
        shares: LEVELS
            .map(|(name, _)| share(doubt.levels.iter().find(|level| level.level == name))),
        minute: minute(cell),
    }
}

/// Shares of the variance side by side, the lowest level first and darkest:
/// `████████████▓▓▓▓▓▓▓░░`.
fn bar(cell: &CellView) -> String {
    const WIDTH: f64 = 110.0;
    const SHADES: [&str; 3] = ["0.75", "0.4", "0.15"];
    if cell.doubt.levels.is_empty() {
        return String::new();
    }
    let mut parts = String::new();
    let mut from = 0.0;
    for (level, shade) in cell.doubt.levels.iter().zip(SHADES) {
        let to = from + level.share.unwrap_or(0.0) * WIDTH;
        parts.push_str(&format!(
            "<path fill=\"currentColor\" fill-opacity=\"{shade}\" \
             d=\"M{from:.1} 2H{to:.1}V14H{from:.1}Z\"/>"
        ));
        from = to;
    }
    format!(
        "<svg viewBox=\"0 0 {WIDTH} 16\" width=\"{WIDTH}\" height=\"16\" aria-hidden=\"true\">\
         {parts}</svg>"
    )
}

/// What whoever runs each arm once could have found.
fn single(cell: &CellView) -> String {
    let single = cell.doubt.single_runs.as_ref();
    let Some((low, high)) = single.and_then(|single| Some((single.low?, single.high?))) else {
        return String::new();
    };
    let [low, high] = [low, high].map(|ratio| number::format_signed(100.0 * (ratio - 1.0), 1));
    let glue = number::GLUE;
    format!("{low}{glue}to{glue}{high}{glue}%")
}

/// `lifes` is no word.
fn noun(unit: &str) -> &str {
    if unit == "life" { "start" } else { unit }
}

fn share(level: Option<&LevelView>) -> String {
    let Some(share) = level.and_then(|level| level.share) else { return String::new() };
    let assumed = if level.is_some_and(|level| level.assumed) { " assumed" } else { "" };
    format!("{}{assumed}", whole_percent(share))
}

fn minute(cell: &CellView) -> String {
    let spend = cell.doubt.next_minute.first();
    let Some((best, narrows)) = spend.and_then(|best| Some((best.level, best.narrows?))) else {
        return String::new();
    };
    let more = LEVELS.iter().find(|(name, _)| *name == best).map_or(best, |(_, more)| more);
    format!("more {more}: {} narrower", whole_percent(narrows))
}

pub(crate) fn whole_percent(share: f64) -> String {
    format!("{}{}%", number::format_fixed(100.0 * share, 0), number::GLUE)
}

/// A probability as people read it.
pub(crate) fn probability(value: Option<f64>) -> String {
    match value {
        None => number::UNKNOWN.to_owned(),
        Some(value) if value < 0.0001 => format!("<0.01{}%", number::GLUE),
        Some(value) => {
            let decimals = if value < 0.01 {
                2
            } else if value < 0.1 {
                1
            } else {
                0
            };
            format!("{}{}%", number::format_fixed(100.0 * value, decimals), number::GLUE)
        }
    }
}

/// Why these intervals, each reason once with the places that it holds for.
pub(crate) fn interval_reasons(view: &View) -> Vec<String> {
    let cells = &view.summary.cells;
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for cell in cells {
        let reason = format!("{}: {}", cell.doubt.interval, cell.doubt.interval_why);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, places)) => places.push(words::cell_place(cell)),
            None => reasons.push((reason, vec![words::cell_place(cell)])),
        }
    }
    let all = cells.len();
    let reasons = reasons.into_iter().map(|(reason, places)| match places.len() {
        number if number == all => reason,
        _ => format!("{reason} ({})", places.join(", ")),
    });
    reasons.collect()
}

/// What q-values are of, in both families, and what the rest of the table means.
pub(crate) fn table_legend(view: &View) -> String {
    let family = &view.summary.family;
    let [p, q] = [family.p_at_most, family.q_at_most].map(number::percent_as_given);
    let mut text = String::new();
    if view.summary.cells.len() > 1 {
        text = format!(
            "q-values: over the {} that are judged, one p-value each, by Benjamini and Hochberg; a \
             cell is told slower or faster if its own p is at most {p} and its q at most {q}. ",
            words::count_with_noun(u64::from(family.cells), "cell"),
        );
    }
    if family.metrics > 0 {
        text.push_str(&format!(
            "Costs and latencies are a family of their own, of {} that are judged: higher or lower \
             if p is at most {p} and q at most {q}. ",
            family.metrics,
        ));
    }
    text + "From pairs, restarts, reloads: the share of each level in the variance of the result. \
            Single runs: the least and the most that one run of each arm would have claimed, a run \
            being a start, or a round where servers were started once. The next minute: what narrows the interval most, and by how much."
}
