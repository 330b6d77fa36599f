//! The history of a load over its arms, small enough to stand in a line.
//!
//! ```text
//!   ▅▄▃▂▁   in a terminal: a block for each arm, by the edges of the colours and four more
//!
//!   ─●─┬──────────   as a drawing: a point for each arm with its interval, joined by a line,
//!      ●──●─┬─────   on one scale for all rows, which is finer near 1; the band is what counts
//!           ○──▼──   as near, hollow is not decided, and an arrow is what lies beyond
//! ```

use dbdyno_model::Reference;

use super::figure::{Figure, Shade};
use super::rows::Row;
use super::view::ArmsView;

/// A block, and the largest gain that has it.
const BLOCKS: [(f64, char); 8] = [
    (0.60, '▁'),
    (0.75, '▂'),
    (0.85, '▃'),
    (0.95, '▄'),
    (1.05, '▅'),
    (1.25, '▆'),
    (1.50, '▇'),
    (f64::INFINITY, '█'),
];
/// Stands for an arm that was not measured.
const NOTHING: char = '·';
/// What the blocks mean.
pub(super) const LEGEND: &str = "History: a block for each arm in their order, ▅ within 5 % \
    of what it is measured against; ▄▃▂▁ from 0.95, 0.85, 0.75, 0.60 down, ▆▇█ from 1.05, \
    1.25, 1.50 up; · not measured.";

/// The history in blocks; nothing where each arm is measured against another one.
pub(super) fn history_blocks(view: &ArmsView, row: &Row) -> String {
    if view.reference == Reference::Before {
        return String::new();
    }
    (0..view.arms.len()).map(|at| gain(view, row, at).map_or(NOTHING, block)).collect()
}

/// The block of a gain. The edges themselves are beyond, as those of colours are.
fn block(gain: f64) -> char {
    let own =
        BLOCKS.iter().find(|(most, _)| if *most < 1.0 { gain <= *most } else { gain < *most });
    own.map_or('█', |(_, block)| *block)
}

/// What an arm does of what the reference does, as a ratio of rates.
fn gain(view: &ArmsView, row: &Row, at: usize) -> Option<f64> {
    let arm = &row.arms[at];
    if at == view.first() {
        return arm.did.as_ref().map(|_| 1.0);
    }
    let of = &arm.answer.as_ref()?.view;
    let ratio = of.effect().ratio?;
    Some(if of.response_ratio.is_some() { 1.0 / ratio } else { ratio })
}

/// The scale that all drawings of a report share.
pub(super) struct Scale {
    /// The largest distance from 1 that is drawn, as a logarithm.
    reach: f64,
    /// Size of a drawing.
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Drawings reach at least so far,
const REACH_LEAST: f64 = 0.2;
/// and so far that this share of the points lies within.
const WITHIN: f64 = 0.95;
/// Within this distance from 1, as a logarithm, the scale is about that of logarithms; beyond it
/// is compressed, so that a factor of two in one load leaves five points in another visible.
const FINE: f64 = 0.08;
/// The band of what counts as near.
const NEAR: [f64; 2] = [0.95, 1.05];

impl Scale {
    /// For drawings of this size.
    pub(super) fn for_view(view: &ArmsView, width: f64, height: f64) -> Scale {
        let all = view
            .rows
            .iter()
            .flat_map(|row| (0..row.arms.len()).filter_map(move |at| gain(view, row, at)));
        let mut sizes: Vec<f64> =
            all.map(|gain| gain.ln().abs()).filter(|size| size.is_finite()).collect();
        sizes.sort_by(f64::total_cmp);
        let far = sizes.get((WITHIN * sizes.len().saturating_sub(1) as f64).round() as usize);
        Scale { reach: 1.1 * far.copied().unwrap_or(0.0).max(REACH_LEAST), width, height }
    }

    fn y(&self, gain: f64) -> f64 {
        let margin = 3.0;
        let [far, farthest] = [gain.ln(), self.reach].map(|log| (log / FINE).asinh());
        let share = 0.5 - 0.5 * (far / farthest).clamp(-1.0, 1.0);
        margin + share * (self.height - 2.0 * margin)
    }

    fn x(&self, at: usize, arms: usize) -> f64 {
        self.width * (at as f64 + 0.5) / arms.max(1) as f64
    }

    /// A drawing that stands by itself on a page.
    pub(super) fn svg(&self, view: &ArmsView, row: &Row) -> String {
        let Scale { width, height, .. } = self;
        format!(
            "<svg viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
             aria-hidden=\"true\">{}</svg>",
            self.svg_content(view, row)
        )
    }

    /// The inside of an `svg` element of this size: the band, the line of 1, points and intervals.
    /// Classes: `zone`, `one`, `way`, `span`, and for points those of shades.
    pub(super) fn svg_content(&self, view: &ArmsView, row: &Row) -> String {
        let [low, high] = NEAR.map(|edge| self.y(edge));
        let mut svg = format!(
            "<path class=\"zone\" d=\"M0 {high:.1}H{width}V{low:.1}H0Z\"/>\
             <path class=\"one\" d=\"M0 {one:.1}H{width}\"/>",
            width = self.width,
            one = self.y(1.0),
        );
        let arms = row.arms.len();
        let points: Vec<(usize, f64)> =
            (0..arms).filter_map(|at| Some((at, gain(view, row, at)?))).collect();
        let way: Vec<String> = points
            .iter()
            .map(|(at, gain)| format!("{:.1} {:.1}", self.x(*at, arms), self.y(*gain)))
            .collect();
        if !way.is_empty() {
            svg.push_str(&format!("<path class=\"way\" d=\"M{}\"/>", way.join("L")));
        }
        for (at, gain) in points {
            svg.push_str(&self.point(row, at, gain, self.x(at, arms)));
        }
        svg
    }

    fn point(&self, row: &Row, at: usize, gain: f64, x: f64) -> String {
        let y = self.y(gain);
        let Some(answer) = &row.arms[at].answer else {
            return format!("<circle class=\"none\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"1.8\"/>");
        };
        let shade = Figure::of_answer(answer).shade;
        let effect = answer.view.effect();
        let is_time = answer.view.response_ratio.is_some();
        let mut svg = String::new();
        if let (Some(low), Some(high)) = (effect.low, effect.high) {
            let ends = [low, high].map(|ratio| if is_time { 1.0 / ratio } else { ratio });
            let [low, high] = ends.map(|gain| self.y(gain));
            if (low - high).abs() > 1.0 {
                svg.push_str(&format!("<path class=\"span\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>"));
            }
        }
        let class = shade.css_class();
        let is_beyond = gain.ln().abs() > self.reach;
        if is_beyond && shade != Shade::Undecided {
            let (tip, back) = if gain < 1.0 { (y + 2.5, y - 3.0) } else { (y - 2.5, y + 3.0) };
            svg.push_str(&format!(
                "<path class=\"{class}\" d=\"M{x:.1} {tip:.1}L{:.1} {back:.1}H{:.1}Z\"/>",
                x - 3.0,
                x + 3.0
            ));
        } else {
            svg.push_str(&format!(
                "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.6\"/>"
            ));
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_change_where_colours_do() {
        for (gain, expected) in [
            (0.1, '▁'),
            (0.60, '▁'),
            (0.61, '▂'),
            (0.85, '▃'),
            (0.95, '▄'),
            (0.951, '▅'),
            (1.0, '▅'),
            (1.049, '▅'),
            (1.05, '▆'),
            (1.25, '▇'),
            (1.5, '█'),
            (9.0, '█'),
        ] {
            assert_eq!(block(gain), expected, "{gain}");
        }
    }
}
