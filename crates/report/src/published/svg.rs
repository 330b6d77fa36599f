//! Theirs across, ours upwards, both logarithmic, a panel for each table that was measured.
//!
//! ```text
//!   ours │      ◇╱      ● confirmed   ◇ different here   ○ open
//!        │   ●╱●        the band is the tolerance; above it we find a smaller loss than they do
//!        │ ○╱
//!        └────── theirs
//! ```

use std::fmt::Write as _;

use dbdyno_document::html::escape;
use dbdyno_document::layout::printable_line;
use dbdyno_document::number::format_fixed;
use dbdyno_model::published::{
    FigureStanding, ReplicatedRow, ReplicatedTable, Replication, ratio_tolerance,
};

const PANEL: f64 = 400.0;
const HEAD: f64 = 44.0;
/// Between the edge of a panel and its axes, left and below; right and above.
const MARGIN: f64 = 52.0;
const EDGE: f64 = 14.0;
/// What the marks mean, in lines that fit below a single panel.
const LEGEND: [&str; 2] =
    ["● confirmed   ◆ different here   ○ open", "band: within the tolerance; bars: 95 % intervals"];
const LEGEND_LINE: f64 = 16.0;
/// Letters that fit above a panel.
const TITLE_MOST: usize = 54;
/// Rows that are named in a panel: those that differ most.
const NAMED_MOST: usize = 6;

const STYLE: &str = "\
    text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:13px}\
    .aside{fill:#59636e}.ground{fill:#fff}.axis{stroke:#818b98;fill:none}\
    .grid{stroke:#d1d9e0;fill:none}.band{fill:#818b98;fill-opacity:.18}\
    .bar{stroke-width:1.2;fill:none}.confirmed{stroke:#1a7f37;fill:#1a7f37}\
    .different{stroke:#8250df;fill:#8250df}.open{stroke:#818b98;fill:none}\
    @media(prefers-color-scheme:dark){text{fill:#f0f6fc}.aside{fill:#9198a1}.ground{fill:#0d1117}\
    .grid{stroke:#3d444d}.confirmed{stroke:#3fb950;fill:#3fb950}\
    .different{stroke:#ab7df8;fill:#ab7df8}}";

/// The charts as one self-contained SVG file, two panels to a line; `None` where nothing was
/// measured.
pub fn published_svg(all: &[Replication]) -> Option<String> {
    let tables = all.iter().flat_map(|one| &one.tables);
    let tables: Vec<&ReplicatedTable> = tables.filter(|table| table.agreement.is_some()).collect();
    let columns = tables.len().clamp(1, 2);
    let lines = tables.len().div_ceil(columns);
    let legend = (PANEL + HEAD) * lines as f64;
    let height = legend + LEGEND_LINE * LEGEND.len() as f64 + 8.0;
    let width = PANEL * columns as f64;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"Printed ratios and ours\">\n\
         <style>{STYLE}</style>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\"/>\n"
    );
    for (at, table) in tables.iter().enumerate() {
        let x = PANEL * (at % columns) as f64;
        let y = (PANEL + HEAD) * (at / columns) as f64;
        svg.push_str(&Panel::of(table).drawn(x, y));
    }
    for (at, line) in LEGEND.iter().enumerate() {
        let y = legend + LEGEND_LINE * (at + 1) as f64;
        let _ = writeln!(svg, "<text class=\"aside\" x=\"{MARGIN}\" y=\"{y}\">{line}</text>");
    }
    svg.push_str("</svg>\n");
    (!tables.is_empty()).then_some(svg)
}

/// One table with its scale.
struct Panel<'a> {
    table: &'a ReplicatedTable,
    low: f64,
    high: f64,
}

impl<'a> Panel<'a> {
    fn of(table: &'a ReplicatedTable) -> Panel<'a> {
        let both = table.rows.iter().filter_map(|row| Some((row.published.ratio, row.ours?)));
        let values = both.flat_map(|(theirs, ours)| [theirs, ours.estimate]);
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (low, high) =
            values.fold((0.9_f64, 1.1_f64), |(low, high), value| (low.min(value), high.max(value)));
        Panel { table, low: low / 1.1, high: high * 1.1 }
    }

    fn share(&self, value: f64) -> f64 {
        let share = (value / self.low).ln() / (self.high / self.low).ln();
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    fn x(&self, theirs: f64) -> f64 {
        MARGIN + self.share(theirs) * (PANEL - MARGIN - EDGE)
    }

    fn y(&self, ours: f64) -> f64 {
        HEAD + (1.0 - self.share(ours)) * (PANEL - MARGIN - EDGE)
    }

    fn drawn(&self, x: f64, y: f64) -> String {
        let published = &self.table.published;
        let title: String = printable_line(&published.of).chars().take(TITLE_MOST).collect();
        let mut svg = format!(
            "<g transform=\"translate({x} {y})\">\n<text class=\"title\" x=\"{MARGIN}\" y=\"22\">\
             {}</text>\n",
            escape(&title)
        );
        svg.push_str(&self.band());
        svg.push_str(&self.axes());
        for row in &self.table.rows {
            svg.push_str(&self.mark(row));
        }
        svg.push_str(&self.names());
        svg + "</g>\n"
    }

    /// Between theirs less and theirs plus the tolerance.
    fn band(&self) -> String {
        let steps =
            (0..=40).map(|step| self.low * (self.high / self.low).powf(f64::from(step) / 40.0));
        let steps: Vec<f64> = steps.collect();
        let upper = steps.iter().map(|theirs| (*theirs, theirs + ratio_tolerance(*theirs)));
        let lower = steps.iter().rev().map(|theirs| (*theirs, theirs - ratio_tolerance(*theirs)));
        let mut path = String::new();
        for (at, (theirs, ours)) in upper.chain(lower).enumerate() {
            let command = if at == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{command}{:.1} {:.1}", self.x(theirs), self.y(ours));
        }
        format!("<path class=\"band\" d=\"{path}Z\"/>\n")
    }

    fn axes(&self) -> String {
        let bottom = self.y(self.low);
        let mut svg = String::new();
        for tick in ticks(self.low, self.high) {
            let (x, y) = (self.x(tick), self.y(tick));
            let _ = writeln!(
                svg,
                "<path class=\"grid\" d=\"M{x:.1} {HEAD}V{bottom}M{MARGIN} {y:.1}H{}\"/>\
                 <text text-anchor=\"middle\" x=\"{x:.1}\" y=\"{}\">{tick}</text>\
                 <text text-anchor=\"end\" x=\"{}\" y=\"{:.1}\">{tick}</text>",
                PANEL - EDGE,
                bottom + 16.0,
                MARGIN - 6.0,
                y + 4.0
            );
        }
        let published = &self.table.published;
        let across = format!("theirs: {} ÷ {}", published.test, published.base);
        format!(
            "{svg}<path class=\"axis\" d=\"M{MARGIN} {HEAD}V{bottom}H{}\"/>\
             <text class=\"aside\" text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text>\
             <text class=\"aside\" x=\"{MARGIN}\" y=\"{}\">ours</text>\n",
            PANEL - EDGE,
            PANEL - EDGE,
            bottom + 32.0,
            escape(&printable_line(&across)),
            HEAD - 6.0
        )
    }

    fn mark(&self, row: &ReplicatedRow) -> String {
        let Some(ours) = row.ours else { return String::new() };
        let (x, y) = (self.x(row.published.ratio), self.y(ours.estimate));
        let (class, shape) = match row.standing {
            FigureStanding::Different => (
                "different",
                format!("<path d=\"M{:.1} {y:.1}l4.5 -4.5l4.5 4.5l-4.5 4.5Z\"/>", x - 4.5),
            ),
            FigureStanding::Confirmed => {
                ("confirmed", format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>"))
            }
            _ => ("open", format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>")),
        };
        let told = format!(
            "{}: theirs {}, ours {} ({} to {})",
            row.published.load,
            format_fixed(row.published.ratio, 2),
            format_fixed(ours.estimate, 2),
            format_fixed(ours.low, 2),
            format_fixed(ours.high, 2)
        );
        format!(
            "<g class=\"{class}\"><title>{}</title><path class=\"bar\" d=\"M{x:.1} {:.1}V{:.1}\"/>\
             {shape}</g>\n",
            escape(&printable_line(&told)),
            self.y(ours.low),
            self.y(ours.high)
        )
    }

    /// The names of those that lie farthest off, beside their marks.
    fn names(&self) -> String {
        let rows = self.table.rows.iter();
        let mut rows: Vec<&ReplicatedRow> =
            rows.filter(|row| row.distance().is_some_and(|distance| distance > 1.0)).collect();
        rows.sort_by(|one, other| far(other).total_cmp(&far(one)));
        let mut taken: Vec<(f64, f64)> = Vec::new();
        let mut svg = String::new();
        for row in rows.into_iter().take(NAMED_MOST) {
            let Some(ours) = row.ours else { continue };
            let (x, y) = (self.x(row.published.ratio), self.y(ours.estimate));
            if taken.iter().any(|(_, other)| (other - y).abs() < 13.0) {
                continue;
            }
            taken.push((x, y));
            let (anchor, shift) = if x > PANEL / 2.0 { ("end", -8.0) } else { ("start", 8.0) };
            let _ = writeln!(
                svg,
                "<text text-anchor=\"{anchor}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
                x + shift,
                y + 4.0,
                escape(&printable_line(&row.published.load))
            );
        }
        svg
    }
}

/// How many times ours is theirs, or theirs ours, as a logarithm.
fn far(row: &ReplicatedRow) -> f64 {
    row.ours.map_or(0.0, |ours| (ours.estimate / row.published.ratio).ln().abs())
}

/// Round ratios within a range: at least two, at most about eight.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    const FINE: [f64; 9] = [0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5];
    const COARSE: [f64; 9] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0];
    let ticks = if low > 0.35 && high < 2.0 { FINE } else { COARSE };
    ticks.into_iter().filter(|tick| (low..=high).contains(tick)).collect()
}
