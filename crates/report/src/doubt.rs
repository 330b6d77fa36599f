//! How sure each cell is, and where the rest of the doubt comes from: the rows of a table.
//!
//! ```text
//!   how sure    interval           q    single runs    from pairs restarts the next minute
//!   point-query
//!     1 client  robust, 8 starts 0.3 % −9.1 to +2.0 %        62 %     38 % restarts: 21 % narrower
//! ```
//!
//! Shares are of the variance of the result (Kalibera and Jones 2013).

use dbdyno_document::number;

use crate::view::{CellView, LevelView, View};
use crate::words;

/// What is said of one cell.
pub(crate) struct DoubtRow {
    /// `robust, 8 starts`.
    pub interval: String,
    /// `0.3 %`; empty where there is one cell only.
    pub q: String,
    /// For each of [`LEVELS`] its share, or nothing.
    pub shares: [String; 3],
    /// `−9 to +3 %`.
    pub single: String,
    /// `more restarts: 21 % narrower`.
    pub minute: String,
}

/// The names of levels in JSON, what further ones are called, and the one thing.
const LEVELS: [(&str, &str); 3] = [("pair", "pairs"), ("life", "restarts"), ("filling", "reloads")];

/// The heads of the columns beside the place.
pub(crate) const HEAD: [&str; 7] =
    ["interval", "q", "single runs", "from pairs", "restarts", "reloads", "the next minute"];

impl DoubtRow {
    /// Under [`HEAD`].
    pub(crate) fn columns(self) -> Vec<String> {
        let first = [self.interval, self.q, self.single];
        first.into_iter().chain(self.shares).chain([self.minute]).collect()
    }
}

pub(crate) fn row(view: &View, cell: &CellView) -> DoubtRow {
    let doubt = &cell.doubt;
    let unit = match (doubt.replicates, doubt.interval) {
        (_, "welch" | "fieller") => "round",
        (unit, _) => unit,
    };
    let count = words::plural(u64::from(doubt.replicate_count), noun(unit));
    let only = view.summary.cells.len() < 2;
    DoubtRow {
        interval: format!("{}, {}", doubt.interval, count),
        q: if only { String::new() } else { probability(doubt.q_value) },
        shares: LEVELS
            .map(|(name, _)| share(doubt.levels.iter().find(|level| level.level == name))),
        single: single(cell),
        minute: minute(cell),
    }
}

/// What whoever runs each arm once could have found.
fn single(cell: &CellView) -> String {
    let single = cell.doubt.single_runs.as_ref();
    let Some((low, high)) = single.and_then(|single| Some((single.low?, single.high?))) else {
        return String::new();
    };
    let percent = |ratio: f64| number::signed(100.0 * (ratio - 1.0), 1);
    let glue = number::GLUE;
    format!("{}{glue}to{glue}{}{glue}%", percent(low), percent(high))
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
    format!("{}{}%", number::fixed(100.0 * share, 0), number::GLUE)
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
            format!("{}{}%", number::fixed(100.0 * value, decimals), number::GLUE)
        }
    }
}

/// Why these intervals, each reason once with the places that it holds for.
pub(crate) fn reasons(view: &View) -> Vec<String> {
    let cells = &view.summary.cells;
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for cell in cells {
        let reason = format!("{}: {}", cell.doubt.interval, cell.doubt.interval_why);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, places)) => places.push(words::place(cell)),
            None => reasons.push((reason, vec![words::place(cell)])),
        }
    }
    let all = cells.len();
    let told = |(reason, places): (String, Vec<String>)| match places.len() {
        number if number == all => reason,
        _ => format!("{reason} ({})", places.join(", ")),
    };
    reasons.into_iter().map(told).collect()
}

/// What q-values are of, in both families, and what the rest of the table means.
pub(crate) fn aside(view: &View) -> String {
    let family = &view.summary.family;
    let percent = |share: f64| number::percent_as_given(share);
    let mut text = String::new();
    if view.summary.cells.len() > 1 {
        text = format!(
            "q-values: over the {} that are judged, one p-value each, by Benjamini and Hochberg; a \
             cell is told slower or faster if its own p is at most {} and its q at most {}. ",
            words::plural(u64::from(family.cells), "cell"),
            percent(family.p_at_most),
            percent(family.q_at_most),
        );
    }
    if family.metrics > 0 {
        text.push_str(&format!(
            "Costs and latencies are a family of their own, of {} that are judged: higher or lower \
             if p is at most {} and q at most {}. ",
            family.metrics,
            percent(family.p_at_most),
            percent(family.q_at_most),
        ));
    }
    text + "From pairs, restarts, reloads: the share of each level in the variance of the result. \
            Single runs: the least and the most that one run of each arm would have claimed, a run \
            being a start, or a round where servers were started once. The next minute: what narrows the interval most, and by how much."
}
