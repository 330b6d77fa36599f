//! A chart that is drawn here, without a script: points with their intervals, a line and a band for
//! each arm.
//!
//! ```text
//!   │        ╱░░┆░       ┆  dashed: nothing was measured beyond
//!   │     ·┼´░░░┆        ·┼ a point and its interval, base a little to the left, test to the right
//!   │  ·┼´   ·┼ ┆
//!   └───────────┴──
//! ```
//!
//! Colours, and the size of letters on narrow screens, come from the style sheet.

use dbdyno_document::html::escape;

use crate::ticks::{Direction, LetterHeights, labels_with_room};

const WIDTH: f64 = 660.0;
const HEIGHT: f64 = 340.0;
const LEFT: f64 = 88.0;
const RIGHT: f64 = 642.0;
const TOP: f64 = 34.0;
const BOTTOM: f64 = 282.0;
/// As the style sheet has them.
const LETTERS: LetterHeights = LetterHeights { wide: 13.0, narrow: 20.0 };
/// Half the distance of the two arms' points.
const APART: f64 = 4.0;

/// How values become places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Equal steps for equal differences.
    Linear,
    /// Equal steps for equal factors.
    Logarithmic,
}

/// One direction of a chart.
pub(super) struct Axis {
    pub(super) title: String,
    pub(super) scale: Scale,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Values with what is written there.
    pub(super) ticks: Vec<(f64, String)>,
}

/// A measured value.
pub(super) struct Mark {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// `""`, or `" apart"` for what has no part in the line.
    pub(super) class: &'static str,
}

/// What is drawn of one arm.
pub(super) struct Trace {
    /// `base` or `test`.
    pub(super) arm: &'static str,
    pub(super) marks: Vec<Mark>,
    pub(super) line: Vec<(f64, f64)>,
    /// Place, lower and upper end.
    pub(super) band: Vec<(f64, f64, f64)>,
}

/// A whole chart.
pub(super) struct Figure {
    /// What it shows, for those who do not see it.
    pub(super) label: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) traces: Vec<Trace>,
    /// Beyond this place nothing was measured.
    pub(super) edge: Option<f64>,
}

impl Axis {
    /// The share of the way from low to high.
    fn share(&self, value: f64) -> f64 {
        let (value, low, high) = match self.scale {
            Scale::Linear => (value, self.low, self.high),
            Scale::Logarithmic => {
                (value.max(f64::MIN_POSITIVE).ln(), self.low.ln(), self.high.ln())
            }
        };
        let share = (value - low) / (high - low);
        if share.is_nan() { 0.5 } else { share.clamp(0.0, 1.0) }
    }
}

impl Figure {
    fn place(&self, x: f64, y: f64) -> (f64, f64) {
        let across = LEFT + self.x.share(x) * (RIGHT - LEFT);
        (across, BOTTOM - self.y.share(y) * (BOTTOM - TOP))
    }

    /// The chart as SVG.
    pub(super) fn svg(&self) -> String {
        let mut svg = format!(
            "<svg class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-label=\"{}\">\n",
            escape(&self.label)
        );
        svg.push_str(&self.axes());
        for trace in &self.traces {
            svg.push_str(&self.area(trace));
        }
        for (index, trace) in self.traces.iter().enumerate() {
            svg.push_str(&self.curve(trace));
            let shift = if index == 0 { -APART } else { APART };
            trace.marks.iter().for_each(|mark| svg.push_str(&self.mark(mark, trace.arm, shift)));
            svg.push_str(&legend(trace.arm, index));
        }
        svg + "</svg>\n"
    }

    fn axes(&self) -> String {
        let mut svg = String::new();
        let rows = labels(&self.y, |value| self.place(self.x.low, value).1);
        for (y, text, class) in labels_with_room(&rows, LETTERS, Direction::Up) {
            svg.push_str(&format!(
                "<path class=\"grid\" d=\"M{LEFT} {y:.1}H{RIGHT}\"/>\
                 <text x=\"{:.1}\" y=\"{:.1}\" class=\"end {class}\">{}</text>\n",
                LEFT - 8.0,
                y + 4.0,
                escape(text)
            ));
        }
        let columns = labels(&self.x, |value| self.place(value, self.y.low).0);
        for (x, _) in &columns {
            svg.push_str(&format!("<path class=\"grid\" d=\"M{x:.1} {BOTTOM}v5\"/>\n"));
        }
        for (x, text, class) in labels_with_room(&columns, LETTERS, Direction::Across) {
            svg.push_str(&format!(
                "<text x=\"{x:.1}\" y=\"{:.1}\" class=\"middle {class}\">{}</text>\n",
                BOTTOM + 22.0,
                escape(text)
            ));
        }
        if let Some(edge) = self.edge {
            let (x, _) = self.place(edge, self.y.low);
            svg.push_str(&format!("<path class=\"edge\" d=\"M{x:.1} {TOP}V{BOTTOM}\"/>\n"));
        }
        format!(
            "{svg}<path class=\"axis\" d=\"M{LEFT} {BOTTOM}H{RIGHT}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" class=\"middle title\">{}</text>\
             <text x=\"{RIGHT}\" y=\"20\" class=\"end title\">{}</text>\n",
            f64::midpoint(LEFT, RIGHT),
            HEIGHT - 8.0,
            escape(&self.x.title),
            escape(&self.y.title)
        )
    }

    fn area(&self, trace: &Trace) -> String {
        if trace.band.is_empty() {
            return String::new();
        }
        let upper = trace.band.iter().map(|&(x, _, high)| self.place(x, high));
        let lower = trace.band.iter().rev().map(|&(x, low, _)| self.place(x, low));
        format!("<path class=\"band {}\" d=\"{}Z\"/>\n", trace.arm, path(upper.chain(lower)))
    }

    fn curve(&self, trace: &Trace) -> String {
        if trace.line.is_empty() {
            return String::new();
        }
        let line = trace.line.iter().map(|&(x, y)| self.place(x, y));
        format!("<path class=\"line {}\" d=\"{}\"/>\n", trace.arm, path(line))
    }

    fn mark(&self, mark: &Mark, arm: &str, shift: f64) -> String {
        let (x, y) = self.place(mark.x, mark.y);
        let (_, top) = self.place(mark.x, mark.high);
        let (_, bottom) = self.place(mark.x, mark.low);
        let x = x + shift;
        let dot = match arm {
            "base" => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
            _ => format!("<path d=\"M{:.1} {y:.1}l5 -5l5 5l-5 5Z\"/>", x - 5.0),
        };
        format!(
            "<g class=\"mark {arm}{}\"><path class=\"bar\" d=\"M{x:.1} {top:.1}V{bottom:.1}\"/>\
             {dot}</g>\n",
            mark.class
        )
    }
}

/// The labels of an axis, each at its place in the drawing.
fn labels(axis: &Axis, place: impl Fn(f64) -> f64) -> Vec<(f64, String)> {
    axis.ticks.iter().map(|(value, text)| (place(*value), text.clone())).collect()
}

fn legend(arm: &str, index: usize) -> String {
    let x = LEFT + 70.0 * index as f64;
    format!("<text x=\"{x:.1}\" y=\"20\" class=\"name {arm}\">{arm}</text>\n")
}

fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (index, (x, y)) in points.enumerate() {
        path.push_str(&format!("{}{x:.1} {y:.1}", if index == 0 { 'M' } else { 'L' }));
    }
    path
}

/// About so many round values from 0 to `high`.
pub(super) fn round_steps(high: f64, about: f64) -> Vec<f64> {
    if !(high > 0.0 && high.is_finite()) {
        return vec![0.0];
    }
    let rough = high / about;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * power);
    (0..=(high / step).floor() as u32).map(|count| f64::from(count) * step).collect()
}

/// Powers of ten within a range, and 2 and 5 times these where it holds fewer than three; equal
/// steps where those are too few as well. 1 is among them if it lies within.
pub(super) fn decade_ticks(low: f64, high: f64) -> Vec<f64> {
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Vec::new();
    }
    let powers = low.log10().floor() as i32..=high.log10().floor() as i32;
    let times = |factors: &[f64]| -> Vec<f64> {
        let all =
            powers.clone().flat_map(|power| factors.iter().map(move |f| f * 10f64.powi(power)));
        all.filter(|value| (low..=high).contains(value)).collect()
    };
    let decades = times(&[1.0]);
    if decades.len() > 2 {
        return decades;
    }
    let halves = times(&[1.0, 2.0, 5.0]);
    if halves.len() > 1 {
        return halves;
    }
    let steps = round_steps(high - low, 4.0);
    let step = steps.get(1).copied().unwrap_or(high - low);
    let first = (low / step).ceil() as u64;
    let places = (first..=(high / step).floor() as u64).map(|count| count as f64 * step);
    places.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round_and_cover_the_range() {
        assert_eq!(round_steps(9_300.0, 5.0), [0.0, 2000.0, 4000.0, 6000.0, 8000.0]);
        assert_eq!(round_steps(0.0, 5.0), [0.0]);
        assert_eq!(decade_ticks(3.0, 12_000.0), [10.0, 100.0, 1000.0, 10_000.0]);
        assert_eq!(decade_ticks(141.0, 2_600.0), [200.0, 500.0, 1000.0, 2000.0]);
        assert_eq!(decade_ticks(2.1, 4.4), [3.0, 4.0]);
        assert_eq!(decade_ticks(0.7, 1.6), [1.0, 1.5]);
        assert!(decade_ticks(0.0, f64::INFINITY).is_empty());
    }

    #[test]
    fn logarithmic_axes_have_a_tick_at_1_where_it_lies_within() {
        for low in (-40..0).map(|at| 10f64.powf(f64::from(at) / 10.0)) {
            for high in (1..40).map(|at| 10f64.powf(f64::from(at) / 10.0)) {
                assert!(decade_ticks(low, high).contains(&1.0), "{low} to {high}");
            }
        }
    }

    #[test]
    fn what_is_off_the_scale_stays_in_the_chart() {
        let axis =
            |scale| Axis { title: String::new(), scale, low: 1.0, high: 16.0, ticks: vec![] };
        assert_eq!(axis(Scale::Logarithmic).share(4.0), 0.5);
        assert_eq!(axis(Scale::Logarithmic).share(-3.0), 0.0);
        assert_eq!(axis(Scale::Linear).share(f64::INFINITY), 1.0);
        assert_eq!(axis(Scale::Linear).share(f64::NAN), 0.5);
    }
}
