//! The table as one drawing that stands by itself: for a README, a ticket or a slide.
//!
//! ```text
//!   3 arms against base (mysql:5.6): slower in 56 …              the finding
//!   queries/s      mysql:5.6   mysql:5.7   mysql:8.0   history
//!   rows by key                  ▼ 0.97      ▼ 0.90
//!     point-query     21 840     = 0.99      ▼ 0.91    ·─╲_       colours, hatching and numbers
//!   rows by key: starts to fall with mysql:8.0 …
//! ```
//!
//! It fetches nothing, has the fonts of whoever looks at it, and is light or dark as they wish.
//! Widths of text are estimated, so that columns are wide enough for usual fonts.

use dbdyno_document::html::escape;
use dbdyno_document::layout;
use dbdyno_document::number::GLUE;

use super::figure::{Figure, Shade};
use super::history::Scale;
use super::table::{self, Part, Table};
use super::view::ArmsView;
use super::words::Signs;
use super::{costs, words};
use crate::words as told;

const STYLE: &str = include_str!("../../assets/arms-svg.css");
/// Height of a row, and of a line of text around the table.
const ROW: f64 = 21.0;
const LINE: f64 = 18.0;
const MARGIN: f64 = 16.0;
/// About the width of a character of the table's 13 pixels, and of the heading's 16.
const CHARACTER: f64 = 7.3;
const OF_HEADING: f64 = 8.9;
const NAME_MOST: f64 = 250.0;
const ARM_LEAST: f64 = 66.0;
/// The width of an arm in a history, and the most of all of them.
const STEP: f64 = 15.0;
const HISTORY_MOST: f64 = 120.0;
/// Text is wrapped at this width at least.
const TEXT_LEAST: f64 = 620.0;

/// The table of rates as one SVG file.
pub fn arms_svg(view: &ArmsView) -> String {
    let table = table::rates(view);
    let columns = Columns::of(view, &table);
    let width = columns.width.max(TEXT_LEAST + 2.0 * MARGIN);
    let mut drawing = Drawing { svg: String::new(), y: MARGIN, width };
    let headline = words::headline(view);
    for status in words::status(view) {
        drawing.paragraph(&status, "status", CHARACTER);
    }
    drawing.paragraph(&headline, "heading", OF_HEADING);
    drawing.y += 8.0;
    if view.has_answers() {
        drawing.table(view, &table, &columns);
        drawing.y += 10.0;
    }
    for (called, sentence) in words::fall_sentences(view) {
        drawing.paragraph(&format!("{called}: {sentence}"), "said", CHARACTER);
    }
    drawing.y += 6.0;
    let sharing = table::by_cpu(view).and(costs::about_sharing(view));
    for text in
        [words::sign_legend(view, Signs::WithMethod), LEGEND.to_owned()].into_iter().chain(sharing)
    {
        drawing.paragraph(&text, "aside", CHARACTER);
    }
    drawing.paragraph(&format!("dbdyno show {}", view.head.run), "aside code", CHARACTER);
    let height = drawing.y + MARGIN / 2.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-labelledby=\"finding\">\n\
         <title id=\"finding\">{}</title>\n<style>{STYLE}</style>\n\
         <defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect class=\"near\" width=\"6\" height=\"6\"/>\
         <rect class=\"hatching\" width=\"2\" height=\"6\"/></pattern></defs>\n\
         <rect class=\"paper\" x=\".5\" y=\".5\" width=\"{:.0}\" height=\"{:.0}\" rx=\"6\"/>\n{}\
         </svg>\n",
        plain(&headline),
        width - 1.0,
        height - 1.0,
        drawing.svg
    )
}

const LEGEND: &str = "Purple at 0.95 and below, green at 1.05 and above, grey between, hatched \
    what is not decided. History: the arms in their order on one scale that is finer near 1, the \
    band 0.95 to 1.05; hollow is not decided, a triangle lies beyond the scale.";

fn plain(text: &str) -> String {
    escape(&layout::printable_line(text).replace(GLUE, " "))
}

/// Where columns begin, and how wide they are.
struct Columns {
    name: f64,
    reference: f64,
    arm: f64,
    /// Heads of arms, each in one line or two.
    heads: Vec<Vec<String>>,
    /// Places of the arms beside the reference.
    others: Vec<usize>,
    history: f64,
    width: f64,
}

fn longest(lengths: impl Iterator<Item = usize>) -> f64 {
    lengths.max().unwrap_or(0) as f64
}

fn lengths(lines: &[String]) -> impl Iterator<Item = usize> {
    lines.iter().map(|line| line.chars().count())
}

impl Columns {
    fn of(view: &ArmsView, table: &Table) -> Columns {
        let names = table.lines().map(|line| name(table, line).chars().count());
        let parts =
            table.parts.iter().filter_map(|part| Some(part.called.as_ref()?.chars().count()));
        let first = std::iter::once(head_of_names(table).chars().count());
        let name = longest(names.map(|count| count + 2).chain(parts).chain(first));
        let heads: Vec<Vec<String>> = view.column_heads().iter().map(|head| in_two(head)).collect();
        let others = table.other_arms(view);
        let arm = longest(others.iter().flat_map(|at| lengths(&heads[*at])));
        let references = table.lines().map(|line| line.reference.chars().count());
        let reference = longest(references.chain(lengths(&heads[table.first])));
        let name = (CHARACTER * name + 8.0).min(NAME_MOST);
        let reference = CHARACTER * reference + 10.0;
        let arm = (OF_HEADING * arm + 8.0).max(ARM_LEAST);
        let history = match view.reference {
            dbdyno_model::Reference::Before => 0.0,
            dbdyno_model::Reference::Arm(_) => (STEP * view.arms.len() as f64).min(HISTORY_MOST),
        };
        let all = name + reference + arm * others.len() as f64 + history;
        Columns { name, reference, arm, heads, others, history, width: all + 12.0 + 2.0 * MARGIN }
    }

    /// The middle of the column of an arm, by its place among the others.
    fn middle(&self, number: usize) -> f64 {
        MARGIN + self.name + self.reference + self.arm * (number as f64 + 0.5)
    }

    fn history_x(&self) -> f64 {
        MARGIN + self.name + self.reference + self.arm * self.others.len() as f64 + 12.0
    }
}

/// A name that is long is parted behind its colon.
fn in_two(head: &str) -> Vec<String> {
    const LONG: usize = 9;
    let head = layout::printable_line(head);
    match head.split_once(':') {
        Some((kind, version)) if head.chars().count() > LONG => {
            vec![format!("{kind}:"), version.to_owned()]
        }
        _ => vec![head],
    }
}

fn head_of_names(table: &Table) -> String {
    match table.clients {
        Some(one) => format!("{} at {}", table.unit, told::clients(one)),
        None => table.unit.clone(),
    }
}

fn name(table: &Table, line: &table::Line) -> String {
    let most = (NAME_MOST / CHARACTER) as usize - 2;
    let name = match table.clients {
        Some(_) => line.load.clone(),
        None => format!("{}, {}", line.load, told::clients(line.clients)),
    };
    if name.chars().count() > most {
        name.chars().take(most - 1).chain(['…']).collect()
    } else {
        name
    }
}

/// What has been drawn, and where the next line begins.
struct Drawing {
    svg: String,
    y: f64,
    width: f64,
}

impl Drawing {
    fn text(&mut self, x: f64, y: f64, class: &str, text: &str) {
        self.svg.push_str(&format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{}</text>\n",
            plain(text)
        ));
    }

    /// Text in as many lines as it needs.
    fn paragraph(&mut self, text: &str, class: &str, character: f64) {
        let characters = ((self.width - 2.0 * MARGIN) / character) as usize;
        let text = layout::printable_line(text).replace(GLUE, " ");
        let line = if class == "heading" { 1.25 * LINE } else { LINE };
        for part in layout::wrap_paragraph(&text, characters, "", "").lines() {
            self.y += line;
            self.text(MARGIN, self.y - 4.0, class, part);
        }
    }

    fn table(&mut self, view: &ArmsView, table: &Table, columns: &Columns) {
        let scale = Scale::for_view(view, columns.history, ROW - 1.0);
        self.head(table, columns);
        let by_cpu = table::by_cpu(view);
        for (number, part) in table.parts.iter().enumerate() {
            self.medians(part, columns);
            if let Some(of_cpu) = &by_cpu {
                self.medians_by_cpu(&of_cpu.parts[number], columns);
            }
            for line in &part.lines {
                let y = self.y;
                self.text(MARGIN + 10.0, y + 15.0, "name", &name(table, line));
                self.text(self.reference_x(columns), y + 15.0, "rate", &line.reference);
                self.figures(&line.figures, columns);
                if columns.history > 0.0 {
                    self.svg.push_str(&format!(
                        "<g transform=\"translate({:.1} {y:.1})\">{}</g>\n",
                        columns.history_x(),
                        scale.svg_content(view, &view.rows[line.row])
                    ));
                }
                self.y += ROW;
            }
        }
        if let Some(all) = &table.all {
            self.medians(all, columns);
            if let Some(of_cpu) = by_cpu.as_ref().and_then(|of| of.all.as_ref()) {
                self.medians_by_cpu(of_cpu, columns);
            }
        }
    }

    fn reference_x(&self, columns: &Columns) -> f64 {
        MARGIN + columns.name + columns.reference - 8.0
    }

    /// Lines of which the last one stands above this place.
    fn lines(&mut self, x: f64, bottom: f64, class: &str, lines: &[String]) {
        for (at, text) in lines.iter().enumerate() {
            let below = lines.len() - 1 - at;
            self.text(x, bottom - 5.0 - LINE * below as f64, class, text);
        }
    }

    fn head(&mut self, table: &Table, columns: &Columns) {
        let lines = columns.heads.iter().map(Vec::len).max().unwrap_or(1);
        let bottom = self.y + LINE * lines as f64;
        self.text(MARGIN, bottom - 5.0, "head", &head_of_names(table));
        self.lines(self.reference_x(columns), bottom, "head base end", &columns.heads[table.first]);
        for (number, at) in columns.others.iter().enumerate() {
            self.lines(columns.middle(number), bottom, "head test middle", &columns.heads[*at]);
        }
        if columns.history > 0.0 {
            self.text(columns.history_x(), bottom - 5.0, "head", "history");
        }
        let end = self.width - MARGIN;
        self.svg
            .push_str(&format!("<path class=\"rule\" d=\"M{MARGIN} {bottom:.1}H{end:.1}\"/>\n"));
        self.y = bottom + 3.0;
    }

    /// The name of a group and its medians.
    fn medians(&mut self, part: &Part, columns: &Columns) {
        let Some(called) = &part.called else { return };
        self.y += 5.0;
        self.text(MARGIN, self.y + 15.0, "group", called);
        self.figures(&part.medians, columns);
        self.y += ROW;
    }

    fn medians_by_cpu(&mut self, part: &Part, columns: &Columns) {
        if part.called.is_none() {
            return;
        }
        self.text(MARGIN + 10.0, self.y + 15.0, "name by", "by server CPU");
        self.figures(&part.medians, columns);
        self.y += ROW;
    }

    fn figures(&mut self, figures: &[Option<Figure>], columns: &Columns) {
        for (number, at) in columns.others.iter().enumerate() {
            let middle = columns.middle(number);
            let text = match &figures[*at] {
                Some(figure) => {
                    self.svg.push_str(&format!(
                        "<rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" \
                         height=\"{:.1}\" rx=\"2\"/>\n",
                        class(figure),
                        middle - columns.arm / 2.0 + 1.0,
                        self.y + 0.5,
                        columns.arm - 2.0,
                        ROW - 1.0
                    ));
                    figure.display_text()
                }
                None => dbdyno_document::number::UNKNOWN.to_owned(),
            };
            self.text(middle, self.y + 15.0, "middle", &text);
        }
    }
}

/// The class of a cell: that of its shade, with how strong it is where it is coloured.
fn class(figure: &Figure) -> String {
    match figure.shade {
        Shade::Worse | Shade::Better => {
            let strength = (4.0 * figure.colour_strength()).ceil().clamp(2.0, 4.0) - 1.0;
            format!("{} s{strength}", figure.shade.css_class())
        }
        Shade::Undecided => "hatched".to_owned(),
        Shade::Near | Shade::None => figure.shade.css_class().to_owned(),
    }
}
