//! Curves over clients and costs over rows: a sentence, a chart and a table each.

use dbdyno_document::html::{self, escape};
use dbdyno_document::{Element, number};

use super::figure::{Axis, Figure, Mark, Scale, Trace, decade_ticks, round_steps};
use crate::shapes::{self, NumberedSentence};
use crate::view::{CostView, CurvePointView, CurveView, IntervalView, LineView, UslView, View};
use crate::words;

/// Places at which a line over rows is drawn.
const PLACES: u32 = 48;

/// The sections of both; nothing where a run has neither.
pub(super) fn sections_html(view: &View) -> String {
    let summary = &view.summary;
    let curves: Vec<(NumberedSentence, Figure)> =
        summary.curves.iter().map(|one| (shapes::curve_sentence(one), curve_figure(one))).collect();
    let costs: Vec<(NumberedSentence, Figure)> =
        summary.costs.iter().map(|one| (shapes::cost_sentence(one), cost_figure(one))).collect();
    section("curves", "The rate over clients", curves, CURVES_ASIDE)
        + &section("row-costs", "The cost over rows", costs, COSTS_ASIDE)
}

const CURVES_ASIDE: &str = "Points: measured, with their 95 % intervals; hollow ones have no part \
    in the curve. Bands: 95 %, each place by itself. Dashed: nothing was measured beyond. The axis \
    of clients is logarithmic.";
const COSTS_ASIDE: &str = "Points: measured, with their 95 % intervals. Lines: fixed cost + cost \
    per row × rows, which bend because both axes are logarithmic.";

fn section(id: &str, title: &str, shapes: Vec<(NumberedSentence, Figure)>, aside: &str) -> String {
    if shapes.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "<section aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n",
        escape(title)
    );
    for (shape, figure) in shapes {
        let mut below: Vec<Element> = shape.table.into_iter().map(Element::Table).collect();
        below.extend(shape.warnings.into_iter().map(|warning| Element::Aside(warning.into())));
        text.push_str(&format!(
            "<figure>\n<figcaption>{}</figcaption>\n{}{}</figure>\n",
            escape(&shape.sentence),
            figure.svg(),
            html::render_elements_below(title, &below)
        ));
    }
    text + &format!("<p class=\"aside\">{}</p>\n</section>\n", escape(aside))
}

fn mark(x: f64, interval: IntervalView, class: &'static str) -> Option<Mark> {
    let IntervalView { value, low, high } = interval;
    let (low, high) = (low.unwrap_or(0.0), high.unwrap_or(f64::INFINITY));
    Some(Mark { x, y: value?, low, high, class })
}

/// The largest of the values that are there.
fn most(values: impl Iterator<Item = Option<f64>>) -> f64 {
    values.flatten().fold(0.0, f64::max)
}

fn curve_figure(curve: &CurveView) -> Figure {
    let most_clients = f64::from(curve.points.iter().map(|point| point.clients).max().unwrap_or(1));
    let limit = curve.base.as_ref().map_or(most_clients, |_| 2.0 * f64::from(curve.most_clients()));
    let least = f64::from(curve.points.iter().map(|point| point.clients).min().unwrap_or(1));
    let rates = curve.points.iter().flat_map(|point| [point.base.value, point.test.value]);
    // Intervals that are wider than this are cut, so that they do not flatten the curve.
    let measured = most(rates);
    let ends = curve.points.iter().flat_map(|point| [point.base.high, point.test.high]);
    let fits = [&curve.base, &curve.test].into_iter().flatten();
    let drawn = most(fits.flat_map(|usl| usl.band.iter().map(|at| at.rate.value)));
    let high = most(ends).max(1.04 * drawn).min(2.0 * measured).max(1.08 * measured);
    let mut counts: Vec<f64> = curve.points.iter().map(|point| f64::from(point.clients)).collect();
    counts.extend((limit > most_clients).then_some(limit));
    Figure {
        label: format!("The rate over clients. {}", shapes::curve_sentence(curve).sentence),
        x: Axis {
            title: "clients".to_owned(),
            scale: Scale::Logarithmic,
            low: least * 0.93,
            high: most_clients.max(limit) * 1.07,
            ticks: counts
                .into_iter()
                .map(|clients| (clients, number::format_fixed(clients, 0)))
                .collect(),
        },
        y: Axis {
            title: words::in_full(curve.unit),
            scale: Scale::Linear,
            low: 0.0,
            high,
            ticks: round_steps(high, 5.0).into_iter().map(|at| (at, rate(at))).collect(),
        },
        traces: vec![
            curve_trace("base", curve, |point| point.base, curve.base.as_ref(), least),
            curve_trace("test", curve, |point| point.test, curve.test.as_ref(), least),
        ],
        edge: curve.base.as_ref().map(|_| f64::from(curve.most_clients())),
    }
}

/// Points of an arm and what was fitted to them, from this number of clients on.
fn curve_trace(
    arm: &'static str,
    curve: &CurveView,
    of_point: fn(&CurvePointView) -> IntervalView,
    usl: Option<&UslView>,
    least: f64,
) -> Trace {
    let points = curve.points.iter().filter_map(|point| {
        let class = if point.fitted { "" } else { " apart" };
        mark(f64::from(point.clients), of_point(point), class)
    });
    let band = usl.iter().flat_map(|usl| &usl.band).filter(|at| at.clients >= least);
    Trace {
        arm,
        marks: points.collect(),
        line: band.clone().filter_map(|at| Some((at.clients, at.rate.value?))).collect(),
        band: band.filter_map(|at| Some((at.clients, at.rate.low?, at.rate.high?))).collect(),
    }
}

/// A tick of rates, as charts of the script have them: `1 500`, `150k`, `1.5M`.
fn rate(value: f64) -> String {
    for (least, unit, letter) in [(1e6, 1e6, "M"), (1e4, 1e3, "k")] {
        if value >= least {
            return format!("{}{letter}", (value / unit * 1e3).round() / 1e3);
        }
    }
    if value >= 10.0 || value == 0.0 {
        number::format_fixed(value, 0)
    } else {
        number::three_digits(value)
    }
}

fn cost_figure(cost: &CostView) -> Figure {
    let rows: Vec<f64> = cost.points.iter().map(|point| point.rows).collect();
    let least = rows.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = rows.iter().copied().fold(0.0, f64::max);
    let values = cost.points.iter().flat_map(|point| [point.base.value, point.test.value]);
    let low = values.clone().flatten().fold(f64::INFINITY, f64::min) / 1.5;
    let high = most(values) * 1.5;
    let [base, test] = [
        ("base", cost.base.as_ref(), cost.points.iter().map(|point| point.base).collect()),
        ("test", cost.test.as_ref(), cost.points.iter().map(|point| point.test).collect()),
    ]
    .map(|(arm, line, points): (_, _, Vec<IntervalView>)| Trace {
        arm,
        marks: rows.iter().zip(points).filter_map(|(rows, at)| mark(*rows, at, "")).collect(),
        line: line.and_then(|line| drawn_line(line, least, largest)).unwrap_or_default(),
        band: Vec::new(),
    });
    Figure {
        label: format!("Cost over rows. {}", shapes::cost_sentence(cost).sentence),
        x: Axis {
            title: "rows per event".to_owned(),
            scale: Scale::Logarithmic,
            low: least / 1.2,
            high: largest * 1.2,
            ticks: rows.iter().map(|rows| (*rows, number::format_fixed(*rows, 0))).collect(),
        },
        y: Axis {
            title: match cost.measure {
                "server_cpu" => "server CPU per event".to_owned(),
                _ => "time per event".to_owned(),
            },
            scale: Scale::Logarithmic,
            low,
            high,
            ticks: decade_ticks(low, high)
                .into_iter()
                .map(|value| (value, number::latency(Some(value), None)))
                .collect(),
        },
        traces: vec![base, test],
        edge: None,
    }
}

/// Places of a line over rows, between these.
fn drawn_line(line: &LineView, least: f64, largest: f64) -> Option<Vec<(f64, f64)>> {
    let (fixed, per_row) = (line.fixed_us.value?, line.per_row_us.value?);
    let places = (0..PLACES).map(|place| {
        let rows = least * (largest / least).powf(f64::from(place) / f64::from(PLACES - 1));
        (rows, fixed + per_row * rows)
    });
    Some(places.collect())
}
