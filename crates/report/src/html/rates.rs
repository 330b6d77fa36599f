//! The tables of rates on a page, with their intervals drawn.

use dbdyno_document::html::{self, escape};
use dbdyno_document::{DataTable, Element, TableCell, TableColumn, number};

use crate::notes::Notes;
use crate::rates::{self, RateColumn, RatedCell};
use crate::view::{CellView, View};
use crate::words::{self, Group};

/// One table for each unit.
pub(super) fn rates_sections(view: &View, notes: &Notes<'_>) -> String {
    let summary = &view.summary;
    let mut of_run = notes.of_run(summary);
    let reach = reach(&summary.cells, summary.budget);
    let mut text = String::new();
    for (number, group) in words::unit_groups(view).iter().enumerate() {
        let title = group.unit.map_or(group.title.clone(), |unit| capital(&words::in_full(unit)));
        let mut elements =
            vec![Element::Table(table(group, notes, &mut of_run, reach, summary.budget))];
        if number == 0 {
            elements.push(Element::Aside(aside(summary.budget).into()));
        }
        let id = format!("rates-title-{number}");
        text.push_str(&format!(
            "<section class=\"rates\" aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{}\
             </section>\n",
            escape(&title),
            html::render_elements_below(&title, &elements)
        ));
    }
    text
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map_or(String::new(), |first| first.to_uppercase().chain(characters).collect())
}

/// The answer comes first: on narrow screens the rest is out of sight.
fn table(
    group: &Group<'_>,
    notes: &Notes<'_>,
    of_run: &mut Vec<usize>,
    reach: f64,
    budget: Option<f64>,
) -> DataTable {
    let count = one_count(&group.cells);
    let first = match count {
        Some(count) => rates::load_column(format!("at {}", words::clients(count))),
        None => rates::clients("clients"),
    };
    let drawn = TableColumn::drawing_cells("interval drawn", |of: &RatedCell<'_>| {
        TableCell::from_svg(picture(of.cell, reach, budget))
    });
    let columns: [RateColumn<'_, '_>; 10] = [
        first.with_marks(std::mem::take(of_run)),
        rates::answer_column(),
        rates::change_column(),
        rates::interval(),
        drawn,
        rates::ratio(group),
        rates::base_column(),
        rates::test_column(),
        TableColumn::number_texts("pairs", |of: &RatedCell<'_>| pairs(of.cell).into()),
        TableColumn::number_texts("would find", |of: &RatedCell<'_>| {
            let detectable = of.cell.detectable.map(number::percent_of_spread);
            detectable.unwrap_or_else(|| number::UNKNOWN.to_owned()).into()
        }),
    ];
    let cells = RatedCell::from_cells(&group.cells, notes);
    match count {
        Some(_) => DataTable::new(&columns, &cells),
        None => rates::below_loads(&columns, &cells),
    }
}

fn aside(budget: Option<f64>) -> String {
    let budget = budget.map_or(number::UNKNOWN.to_owned(), number::percent_as_given);
    format!(
        "Geometric means over rounds, whose interval is that of starts of the servers where there \
         were three or more. rQPS and ratio: test ÷ base. Pairs: of rounds; in brackets about how \
         many more would decide. Would find: the smallest change that this many pairs of this \
         noise find with 80{}% chance. In the drawing, the grey band is the budget of {budget} \
         within which the arms count as equal, and an arrow points to what lies outside. {}",
        number::GLUE,
        words::SIGNS
    )
}

/// The number of clients that all cells have; then a load needs no row of its own.
fn one_count(cells: &[&CellView]) -> Option<u32> {
    let first = cells.first()?.clients;
    cells.iter().all(|cell| cell.clients == first).then_some(first)
}

/// `12`, or `12 (+14)` where about 14 more would decide.
fn pairs(cell: &CellView) -> String {
    match cell.pairs_missing.filter(|_| words::needed_pairs(cell).is_some()) {
        Some(missing) => format!("{} (+{missing})", cell.pairs),
        None => cell.pairs.to_string(),
    }
}

/// How far the drawn scale reaches to either side of "no change": far enough for most intervals,
/// never so far that the budget vanishes.
fn reach(cells: &[CellView], budget: Option<f64>) -> f64 {
    let budget = budget.unwrap_or(0.0).abs();
    let effects = cells.iter().map(CellView::effect);
    let bounds = effects.flat_map(|effect| [effect.ratio, effect.low, effect.high]);
    let widest = bounds.flatten().map(|rqps| (rqps - 1.0).abs()).fold(0.0, f64::max);
    let most = if budget > 0.0 { 15.0 * budget } else { 1.0 };
    (widest * 1.1).clamp((1.5 * budget).max(0.001), most.max(0.001))
}

/// The width of such a drawing.
const WIDTH: f64 = 110.0;

/// Where a ratio stands on a scale that reaches so far.
fn x(rqps: f64, reach: f64) -> f64 {
    ((rqps - 1.0) / reach * 0.5 + 0.5).clamp(0.0, 1.0) * WIDTH
}

/// The interval as a line with a dot, on a scale that all rows share.
fn picture(cell: &CellView, reach: f64, budget: Option<f64>) -> String {
    let budget = budget.unwrap_or(0.0).abs();
    let (left, right) = (x(1.0 - budget, reach), x(1.0 + budget, reach));
    let mut marks = String::new();
    let effect = cell.effect();
    if let (Some(low), Some(high)) = (effect.low, effect.high) {
        marks =
            format!("<path class=\"line\" d=\"M{:.1} 8H{:.1}\"/>", x(low, reach), x(high, reach));
    }
    if let Some(rqps) = effect.ratio.filter(|rqps| (rqps - 1.0).abs() > reach) {
        // Off the scale: an arrow instead of a dot.
        let (tip, back) = if rqps < 1.0 { (0.0, 7.0) } else { (WIDTH, WIDTH - 7.0) };
        marks.push_str(&format!("<path class=\"off\" d=\"M{tip} 8L{back} 4V12Z\"/>"));
    } else if let Some(rqps) = effect.ratio {
        marks.push_str(&format!("<circle cx=\"{:.1}\" cy=\"8\" r=\"3\"/>", x(rqps, reach)));
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
