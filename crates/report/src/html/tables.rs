//! The tables of results.

use dbdyno_document::html::escape;
use dbdyno_document::number;

use super::fold::folded;
use crate::notes::Notes;
use crate::rows::{self, PlainRow};
use crate::view::{CellView, View};
use crate::words::{self, Group};

/// With more cells than this, tables of costs start folded.
const OPEN_CELLS_MAX: usize = 3;

/// One table for each unit.
pub(super) fn rates(view: &View, notes: &Notes<'_>) -> String {
    let summary = &view.summary;
    let mut of_run = marks(&notes.of_run(summary));
    let reach = reach(&summary.cells, summary.budget);
    let mut text = String::new();
    for (number, group) in words::groups(view).iter().enumerate() {
        let title = match group.unit {
            Some(unit) => capital(&words::in_full(unit)),
            None => group.title.clone(),
        };
        let (id, mark) = (format!("rates-title-{number}"), std::mem::take(&mut of_run));
        text.push_str(&format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}{mark}</h2>\n",
            escape(&title)
        ));
        // The ratio of response times, or of highest rates, is no rQPS.
        let ratio = if group.unit.is_some() { "rQPS" } else { "ratio" };
        text.push_str(&rate_table(group, ratio, notes, reach, summary.budget));
        if number == 0 {
            text.push_str(&aside(ratio, summary.budget));
        }
        text.push_str("</section>\n");
    }
    text
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

fn rate_table(
    group: &Group<'_>,
    ratio: &str,
    notes: &Notes<'_>,
    reach: f64,
    budget: Option<f64>,
) -> String {
    let one_count = one_count(&group.cells);
    let first =
        one_count.map_or("clients".to_owned(), |count| format!("at {}", words::clients(count)));
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"rates\">\n<thead><tr><th scope=\"col\">{first}\
         </th><th scope=\"col\" class=\"answer\">answer</th><th scope=\"col\">test vs base</th>\
         <th scope=\"col\">95&nbsp;% interval</th>\
         <th scope=\"col\" class=\"picture\"><span class=\"unseen\">interval drawn</span></th>\
         <th scope=\"col\">{ratio}</th><th scope=\"col\" class=\"base\">base</th>\
         <th scope=\"col\" class=\"test\">test</th><th scope=\"col\">pairs</th>\
         <th scope=\"col\">would find</th></tr></thead>\n",
    );
    if one_count.is_some() {
        let rows = group.cells.iter().map(|cell| rate(cell, &cell.load, notes, reach, budget));
        return text + "<tbody>\n" + &rows.collect::<String>() + "</tbody>\n</table></div>\n";
    }
    let mut load = None;
    for cell in &group.cells {
        if load != Some(&cell.load) {
            let close = if load.is_some() { "</tbody>\n" } else { "" };
            text.push_str(&format!(
                "{close}<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"10\">{}</th>\
                 </tr>\n",
                escape(&cell.load)
            ));
            load = Some(&cell.load);
        }
        text.push_str(&rate(cell, &words::clients(cell.clients), notes, reach, budget));
    }
    text + "</tbody>\n</table></div>\n"
}

fn aside(ratio: &str, budget: Option<f64>) -> String {
    let budget = budget.map_or(number::UNKNOWN.to_owned(), number::percent_as_given);
    format!(
        "<p class=\"aside\">Geometric means over rounds, whose interval is that of starts of the \
         servers where there were three or more. {ratio}: test ÷ base. Pairs: of rounds; in \
         brackets about how many more would decide. Would find: the smallest change that this many \
         pairs of this noise find with 80&nbsp;% chance. In the drawing, the grey band is the \
         budget of {budget} within which the arms count as equal, and an arrow points to what lies \
         outside. {}</p>\n",
        escape(words::SIGNS)
    )
}

/// The number of clients that all cells have; then a load needs no row of its own.
fn one_count(cells: &[&CellView]) -> Option<u32> {
    let first = cells.first()?.clients;
    cells.iter().all(|cell| cell.clients == first).then_some(first)
}

fn rate(cell: &CellView, name: &str, notes: &Notes<'_>, reach: f64, budget: Option<f64>) -> String {
    let row = rows::rate(cell);
    let detectable = cell.detectable.map(number::percent_of_spread);
    format!(
        "<tr><th scope=\"row\">{}</th><td class=\"answer {}\">{}{}</td><td>{}</td><td>{}</td>\
         <td class=\"picture\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
         </tr>\n",
        escape(name),
        row.verdict.name(),
        words::word(row.verdict),
        marks(&notes.of_cell(cell)),
        row.change,
        row.interval,
        picture(cell, reach, budget),
        row.rqps,
        row.base,
        row.test,
        pairs(cell),
        detectable.unwrap_or_else(|| number::UNKNOWN.to_owned()),
    )
}

/// `12`, or `12 (+14)` where about 14 more would decide.
fn pairs(cell: &CellView) -> String {
    match cell.pairs_missing.filter(|_| words::needs(cell).is_some()) {
        Some(missing) => format!("{} (+{missing})", cell.pairs),
        None => cell.pairs.to_string(),
    }
}

/// Superscript links to the warnings.
fn marks(numbers: &[usize]) -> String {
    let links: Vec<String> =
        numbers.iter().map(|number| format!("<a href=\"#note-{number}\">{number}</a>")).collect();
    if links.is_empty() {
        return String::new();
    }
    format!("<sup class=\"marks\">{}</sup>", links.join(" "))
}

/// How far the drawn scale reaches to either side of "no change": far enough for most intervals,
/// never so far that the budget vanishes.
fn reach(cells: &[CellView], budget: Option<f64>) -> f64 {
    let budget = budget.unwrap_or(0.0).abs();
    let farthest = |cell: &CellView| {
        let effect = cell.effect();
        let bounds = [effect.ratio, effect.low, effect.high];
        bounds.into_iter().flatten().map(|rqps| (rqps - 1.0).abs()).fold(0.0, f64::max)
    };
    let widest = cells.iter().map(farthest).fold(0.0, f64::max);
    let most = if budget > 0.0 { 15.0 * budget } else { 1.0 };
    (widest * 1.1).clamp((1.5 * budget).max(0.001), most.max(0.001))
}

/// The interval as a line with a dot, on a scale that all rows share.
fn picture(cell: &CellView, reach: f64, budget: Option<f64>) -> String {
    const WIDTH: f64 = 110.0;
    let x = |rqps: f64| ((rqps - 1.0) / reach * 0.5 + 0.5).clamp(0.0, 1.0) * WIDTH;
    let budget = budget.unwrap_or(0.0).abs();
    let (left, right) = (x(1.0 - budget), x(1.0 + budget));
    let mut marks = String::new();
    let effect = cell.effect();
    if let (Some(low), Some(high)) = (effect.low, effect.high) {
        marks = format!("<path class=\"line\" d=\"M{:.1} 8H{:.1}\"/>", x(low), x(high));
    }
    if let Some(rqps) = effect.ratio.filter(|rqps| (rqps - 1.0).abs() > reach) {
        // Off the scale: an arrow instead of a dot.
        let (tip, back) = if rqps < 1.0 { (0.0, 7.0) } else { (WIDTH, WIDTH - 7.0) };
        marks.push_str(&format!("<path class=\"off\" d=\"M{tip} 8L{back} 4V12Z\"/>"));
    } else if let Some(rqps) = effect.ratio {
        marks.push_str(&format!("<circle cx=\"{:.1}\" cy=\"8\" r=\"3\"/>", x(rqps)));
    }
    format!(
        "<svg class=\"{}\" viewBox=\"0 0 {WIDTH} 16\" width=\"{WIDTH}\" height=\"16\" \
         aria-hidden=\"true\"><rect x=\"{left:.1}\" width=\"{:.1}\" height=\"16\"/>\
         <path class=\"one\" d=\"M{} 0V16\"/>{marks}</svg>",
        cell.verdict.0.name(),
        right - left,
        WIDTH / 2.0,
    )
}

pub(super) fn costs(view: &View) -> String {
    let cells = &view.summary.cells;
    if cells.is_empty() {
        return String::new();
    }
    let open = if cells.len() > OPEN_CELLS_MAX { "" } else { " open" };
    let mut text = String::new();
    for cell in cells {
        text.push_str(&cost(cell, open));
    }
    text.push_str(&format!("<p class=\"aside\">{}</p>\n", escape(&words::op(view))));
    folded("costs", "Cost and latency", &text)
}

fn cost(cell: &CellView, open: &str) -> String {
    let tables = [
        (words::place_of_times(cell), rows::plain(cell)),
        (words::place_of_classes(cell), rows::classes(cell)),
    ];
    let tables = tables.iter().filter(|(_, rows)| !rows.is_empty());
    tables.map(|(title, rows)| cost_table(title, rows, open)).collect()
}

fn cost_table(title: &str, rows: &[PlainRow], open: &str) -> String {
    let mut text = format!(
        "<details{open}><summary>{}</summary>\n<div class=\"scroll\"><table>\n<thead><tr>\
         <td></td><th scope=\"col\" class=\"base\">base</th><th scope=\"col\" class=\"test\">test\
         </th><th scope=\"col\">test ÷ base</th></tr></thead>\n<tbody>\n",
        escape(title)
    );
    for row in rows {
        text.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            escape(&row.label),
            row.base,
            row.test,
            row.ratio
        ));
    }
    text + "</tbody>\n</table></div></details>\n"
}
