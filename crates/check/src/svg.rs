//! A cycle as a picture: a lane for each transaction, time downwards, an arrow for each dependency.
//!
//! ```text
//!    T0, session 0       T1, session 1
//!         │                   │
//!     r(x) = initial ──rw──▶ w(x) = 2
//!         │                   │
//! ```
//!
//! Colours follow the scheme of the page that the picture stands in, or the one that the reader
//! prefers; nothing is loaded from elsewhere.

use std::fmt::Write as _;

use crate::check::LevelVerdict;
use crate::draw::lane_name;
use crate::history::History;
use crate::region::CycleStep;
use crate::witness::{Arrow, Witness};

const LANE: usize = 240;
const ROW: usize = 46;
const TOP: usize = 56;
const BOX: (usize, usize) = (150, 26);
const LINE: usize = 18;

const STYLE: &str = "\
svg{--page:#fff;--ink:#1b1f24;--soft:#8c959f;--box:#f6f8fa;--arrow:#c4320a;font:13px system-ui,sans-serif}\
@media(prefers-color-scheme:dark){svg{--page:#0d1117;--ink:#e6edf3;--soft:#6e7681;--box:#161b22;--arrow:#ff8f6b}}\
text{fill:var(--ink)}.page{fill:var(--page)}.lane{stroke:var(--soft);stroke-dasharray:3 4}\
.op{fill:var(--box);stroke:var(--soft)}.arrow{fill:none;stroke:var(--arrow);stroke-width:1.6}\
.label{fill:var(--arrow);font-weight:600}.head{fill:var(--arrow)}";

/// The cycles that break a level, each as a picture in SVG; none where something else does, and of
/// none that has more transactions than a picture has room for.
#[must_use]
pub fn cycle_pictures(history: &History, verdict: &LevelVerdict) -> Vec<String> {
    match verdict {
        LevelVerdict::Cycle(name, cycle) => {
            picture(history, name, &cycle.steps).into_iter().collect()
        }
        LevelVerdict::NoOrder(name, cycles) => {
            cycles.iter().filter_map(|cycle| picture(history, name, &cycle.steps)).collect()
        }
        _ => Vec::new(),
    }
}

fn picture(history: &History, name: &str, steps: &[CycleStep]) -> Option<String> {
    let witness = Some(Witness::from_steps(history, steps)).filter(Witness::has_room)?;
    let bottom = TOP + ROW * (witness.ops.len() + 1);
    let reasons: Vec<&str> = witness.arrows.iter().map(|arrow| arrow.reason.as_str()).collect();
    let longest = reasons.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    let width = (LANE * witness.lanes.len()).max(longest * 7 + 24);
    let height = bottom + LINE * reasons.len() + 16;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\"><title>{}</title>\
         <style>{STYLE}</style><defs><marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" \
         markerWidth=\"8\" markerHeight=\"8\" orient=\"auto-start-reverse\">\
         <path class=\"head\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n",
        escaped(name)
    );
    let _ = writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>");
    for (lane, txn) in witness.lanes.iter().enumerate() {
        let x = middle(lane);
        let _ = writeln!(
            out,
            "<text x=\"{x}\" y=\"24\" text-anchor=\"middle\">{}</text>\
             <line class=\"lane\" x1=\"{x}\" x2=\"{x}\" y1=\"34\" y2=\"{bottom}\"/>",
            escaped(&lane_name(history, *txn))
        );
    }
    for (row, op) in witness.ops.iter().enumerate() {
        let (x, y) = (middle(witness.lane_index(op.txn)), height_of(row));
        let _ = writeln!(
            out,
            "<rect class=\"op\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\
             <text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            x - BOX.0 / 2,
            y - BOX.1 / 2,
            BOX.0,
            BOX.1,
            y + 5,
            escaped(&op.text)
        );
    }
    for arrow in &witness.arrows {
        out += &line(&witness, arrow, bottom);
    }
    for (at, reason) in reasons.iter().enumerate() {
        let y = bottom + LINE * (at + 1);
        let _ = writeln!(
            out,
            "<text x=\"12\" y=\"{y}\">{}</text>",
            escaped(&reason.replacen("   ", ": ", 1))
        );
    }
    Some(out + "</svg>\n")
}

fn middle(lane: usize) -> usize {
    LANE * lane + LANE / 2
}

fn height_of(row: usize) -> usize {
    TOP + ROW * row + ROW / 2
}

/// An arrow between two operations, or between two lanes where no operation makes it.
fn line(witness: &Witness, arrow: &Arrow, bottom: usize) -> String {
    let row = |(txn, place): (usize, Option<usize>)| {
        let place = place?;
        witness.ops.iter().position(|op| op.txn == txn && op.place == place)
    };
    let (from, to) = (witness.lane_index(arrow.from.0), witness.lane_index(arrow.to.0));
    let (y1, y2) = match (row(arrow.from), row(arrow.to)) {
        (Some(one), Some(other)) => (height_of(one), height_of(other)),
        _ => (bottom - ROW / 3, bottom - ROW / 3),
    };
    let side = BOX.0 / 2 + 2;
    let (x1, x2) = if from < to {
        (middle(from) + side, middle(to) - side)
    } else {
        (middle(from) - side, middle(to) + side)
    };
    // A quarter of the way: in the middle the labels of two that cross would meet.
    let (x, y) = ((3 * x1 + x2) / 4, (5 * y1 + y2) / 6);
    let bend = if y1 == y2 { 0 } else { x1.abs_diff(x2) / 3 };
    let (c1, c2) = if from < to { (x1 + bend, x2 - bend) } else { (x1 - bend, x2 + bend) };
    format!(
        "<path class=\"arrow\" marker-end=\"url(#head)\" \
         d=\"M{x1} {y1}C{c1} {y1} {c2} {y2} {x2} {y2}\"/>\
         <text class=\"label\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        y.saturating_sub(5),
        escaped(&arrow.label)
    )
}

/// XML has no control characters.
fn escaped(text: &str) -> String {
    let text = text.replace(char::is_control, "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
