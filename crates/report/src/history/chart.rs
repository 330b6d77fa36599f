//! The chart of a series, as SVG.
//!
//! ```text
//!   1.00 ┤ · ·· ·──·─·        dots   values; each tells its run when pointed at
//!        │      ░│            lines  levels
//!   0.90 ┤      ░│·─·──··     ░      where a shift may begin
//!        └──────────────── 1 … n
//! ```

use std::fmt::Write as _;
use std::ops::Range;

use dbdyno_document::html::escape;
use dbdyno_model::{HistorySeries, ShiftWeight};

use super::words;
use crate::ticks::{Direction, LetterHeights, labels_with_room};

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 10.0;
const BOTTOM: f64 = 30.0;
const TICKS: usize = 4;
/// As the style of the page has them, on paper and on narrow screens.
const LETTERS: LetterHeights = LetterHeights { wide: 14.0, narrow: 22.0 };

struct Axes {
    count: usize,
    low: f64,
    high: f64,
}

impl Axes {
    fn of(series: &HistorySeries) -> Axes {
        let values = series.points.iter().map(|point| point.value);
        let (low, high) =
            values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        let margin = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.06 };
        Axes { count: series.points.len(), low: low - margin, high: high + margin }
    }

    fn x(&self, at: f64) -> f64 {
        LEFT + (at + 0.5) / self.count as f64 * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        TOP + (self.high - value) / (self.high - self.low) * (HEIGHT - TOP - BOTTOM)
    }
}

/// The chart.
pub(super) fn svg(series: &HistorySeries) -> String {
    let axes = Axes::of(series);
    let mut svg = format!(
        "<svg class=\"history\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&words::title(series))
    );
    svg.push_str(&grid(series, &axes));
    svg.push_str(&shifts(series, &axes));
    svg.push_str(&levels(series, &axes));
    for (at, point) in series.points.iter().enumerate() {
        let _infallible = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\"><title>{}: {}, {}</title></circle>",
            axes.x(at as f64),
            axes.y(point.value),
            at + 1,
            escape(&words::run(point)),
            escape(&words::value(series, point.value)),
        );
    }
    svg + "</svg>\n"
}

fn grid(series: &HistorySeries, axes: &Axes) -> String {
    let mut svg = String::new();
    for tick in 0..=TICKS {
        let value = axes.low + (axes.high - axes.low) * tick as f64 / TICKS as f64;
        let y = axes.y(value);
        let _infallible = writeln!(
            svg,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            escape(&words::value(series, value)),
        );
    }
    let mut marks = vec![0, axes.count - 1];
    marks.extend(series.changes.shifts.iter().map(|shift| shift.first));
    marks.sort_unstable();
    marks.dedup();
    let marks: Vec<(f64, String)> =
        marks.into_iter().map(|at| (axes.x(at as f64), (at + 1).to_string())).collect();
    for (x, text, class) in labels_with_room(&marks, LETTERS, Direction::Across) {
        let _infallible = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" class=\"{class}\">{text}</text>",
            HEIGHT - 10.0,
        );
    }
    svg
}

fn shifts(series: &HistorySeries, axes: &Axes) -> String {
    let mut svg = String::new();
    for shift in &series.changes.shifts {
        let class = match (shift.weight, series.is_worse(shift.size.estimate)) {
            (ShiftWeight::Alarm, true) => "slower",
            (ShiftWeight::Alarm, false) => "faster",
            _ => "undecided",
        };
        let (from, to) = (axes.x(shift.earliest as f64 - 1.0), axes.x(shift.latest as f64));
        let at = axes.x(shift.first as f64 - 0.5);
        let (top, bottom) = (TOP, HEIGHT - BOTTOM);
        let _infallible = writeln!(
            svg,
            "<g class=\"{class}\"><rect x=\"{from:.1}\" y=\"{top}\" width=\"{:.1}\" \
             height=\"{}\"/><line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{bottom}\"/>\
             <title>{}: {}</title></g>",
            (to - from).max(1.0),
            bottom - top,
            escape(words::shift_answer(series, shift)),
            escape(&words::size(series, shift.size.estimate)),
        );
    }
    svg
}

fn levels(series: &HistorySeries, axes: &Axes) -> String {
    let shifts = &series.changes.shifts;
    let mut svg = String::new();
    for (at, shift) in shifts.iter().enumerate() {
        let end = shifts.get(at + 1).map_or(axes.count, |next| next.first);
        if at == 0 {
            svg.push_str(&level(0..shift.first, shift.before, axes));
        }
        svg.push_str(&level(shift.first..end, shift.after, axes));
    }
    svg
}

fn level(values: Range<usize>, value: f64, axes: &Axes) -> String {
    let (x1, x2) = (axes.x(values.start as f64 - 0.5), axes.x(values.end as f64 - 0.5));
    let y = axes.y(value);
    format!("<line class=\"level\" x1=\"{x1:.1}\" x2=\"{x2:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\n")
}
