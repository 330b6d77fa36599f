//! The evidence of each cell of the page: an article that is seen when a link to it is followed.
//!
//! ```text
//!   │ ▼ 0.72 │ ──#e3-2──▶  sentence · interval, p-value, pairs · drawing of the pairs in time ·
//!                          figures of both arms · what speaks against it · command
//! ```
//!
//! No script is needed: the style sheet shows the article that the address names.

use dbdyno_document::html::{self, escape};
use dbdyno_document::number::{self, GLUE};
use dbdyno_document::{DataTable, Element, Footnote, Text};

use super::costs;
use super::figure;
use super::rounds::PairRatio;
use super::rows::{Answer, Row};
use super::view::ArmsView;
use crate::doubt::probability;
use crate::rows;
use crate::words as told;

/// Size of the drawing of pairs.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 96.0;
/// Above and below the points, and left of them, where the scale stands.
const MARGIN: f64 = 8.0;
const LEFT: f64 = 48.0;
/// The drawing reaches so far from 1 at least, as a logarithm.
const REACH_LEAST: f64 = 0.03;

/// The name of a place in the page.
pub(super) fn anchor_id(row: usize, arm: usize) -> String {
    format!("e{row}-{arm}")
}

/// The name of the figure that leads to it.
pub(super) fn figure_anchor(row: usize, arm: usize) -> String {
    format!("r{row}-{arm}")
}

/// A link to a note, by its number from 0.
pub(super) fn note_link(note: usize) -> String {
    format!("<a href=\"#note-{number}\">{number}</a>", number = note + 1)
}

/// All articles.
pub(super) fn articles_html(view: &ArmsView) -> String {
    let mut text = String::new();
    for (number, row) in view.rows.iter().enumerate() {
        for at in 0..row.arms.len() {
            if let Some(answer) = &row.arms[at].answer {
                text.push_str(&article(view, number, at, answer));
            }
        }
    }
    format!("<div class=\"evidence\">\n{text}</div>\n")
}

fn article(view: &ArmsView, number: usize, at: usize, answer: &Answer) -> String {
    let row = &view.rows[number];
    let heads = view.column_heads();
    let (base, test) = (&heads[answer.against.position()], &heads[at]);
    let sentence = told::verdict_of(&answer.view, view.head.budget, [base, test]);
    let title = format!("{} at {}", row.cell.load, told::clients(row.cell.clients));
    let title = format!("{title}: {test} against {base}");
    format!(
        "<article id=\"{}\" role=\"region\" tabindex=\"0\" aria-label=\"{title}\">\n<a class=\"close\" href=\"#{}\">close</a>\n\
         <h3>{title}</h3>\n<p>{}.</p>\n<p class=\"aside\">{}</p>\n{}\
         <div class=\"both\">{}{}</div>\n\
         <p class=\"aside\">In full: <code>{}</code></p>\n</article>\n",
        anchor_id(number, at),
        figure_anchor(number, at),
        escape(sentence.trim_end_matches('.')),
        escape(&proof(&heads, row, at, answer)),
        strip(answer),
        figures(answer, [base, test]),
        against(view, answer),
        escape(&command(view, at, answer)),
        title = escape(&title),
    )
}

/// `rQPS 0.951 (0.944 to 0.958), p <0.01 %, q 0.02 %, 24 pairs in 8 starts; …`.
fn proof(heads: &[String], row: &Row, at: usize, answer: &Answer) -> String {
    let view = &answer.view;
    let doubt = &view.doubt;
    let unit = if doubt.replicates == "life" { "start" } else { doubt.replicates };
    let dropped = match view.pairs_dropped {
        0 => String::new(),
        some => format!(", {some} left out because the host was not as usual"),
    };
    let mut parts = vec![
        format!(
            "{} with its 95{GLUE}% interval",
            figure::Figure::of_answer(answer).with_interval()
        ),
        format!("p {}", probability(doubt.p_value)),
        format!("q {} among all answers", probability(doubt.q_value)),
        format!("{}{dropped}", told::count_with_noun(u64::from(view.pairs), "pair")),
        format!(
            "interval: {} over {}",
            doubt.interval,
            told::count_with_noun(u64::from(doubt.replicate_count), unit)
        ),
    ];
    let by_cpu = costs::rate_by_cpu(row, at);
    parts.extend(by_cpu.map(|of| format!("by server CPU {}", of.as_figure().with_interval())));
    let step = row.arms[at].step.as_ref().filter(|step| step.against != answer.against);
    parts.extend(step.map(|step| {
        let before = &heads[step.against.position()];
        format!("against {before}: {}", figure::Figure::of_answer(step).with_interval())
    }));
    parts.join(" · ")
}

/// Where the ratios of pairs are drawn.
struct Strip {
    /// Ends of the scale, as logarithms.
    low: f64,
    high: f64,
    /// How many pairs there are.
    count: usize,
}

impl Strip {
    fn y(&self, ratio: f64) -> f64 {
        let share = ((self.high - ratio.ln()) / (self.high - self.low)).clamp(0.0, 1.0);
        MARGIN + share * (HEIGHT - 2.0 * MARGIN)
    }

    fn x(&self, at: usize) -> f64 {
        LEFT + (WIDTH - LEFT - MARGIN) * (at as f64 + 0.5) / self.count as f64
    }

    /// What stands on the scale: its ends, and 1 unless that would stand upon one of them.
    fn labels(&self) -> String {
        let edges = [self.high, self.low].map(f64::exp);
        let is_free = edges.iter().all(|edge| (self.y(*edge) - self.y(1.0)).abs() > 14.0);
        let labels = edges.into_iter().chain(is_free.then_some(1.0)).map(|edge| {
            let (x, y, ratio) = (LEFT - 6.0, self.y(edge) + 4.0, number::format_fixed(edge, 2));
            format!("<text x=\"{x:.0}\" y=\"{y:.1}\">{ratio}</text>")
        });
        labels.collect()
    }

    /// A tick before each pair that was measured in another start than the one before it.
    fn starts(&self, ratios: &[PairRatio]) -> String {
        let begins = (1..ratios.len()).filter(|&at| ratios[at].start != ratios[at - 1].start);
        let ticks = begins.map(|at| {
            let x = f64::midpoint(self.x(at - 1), self.x(at));
            format!("M{x:.1} {}v4", HEIGHT - 4.0)
        });
        ticks.collect()
    }
}

/// The ratios of pairs as they were measured: a dot each, a tick where the servers were started
/// again, the interval as a band and the estimate as a line.
fn strip(answer: &Answer) -> String {
    if answer.ratios.is_empty() {
        return String::new();
    }
    let effect = answer.view.effect();
    let all = answer.ratios.iter().map(|pair| pair.ratio);
    let bounds = [effect.low, effect.high, effect.ratio].into_iter().flatten();
    let logs: Vec<f64> = all.chain(bounds).map(f64::ln).filter(|log| log.is_finite()).collect();
    let low = logs.iter().copied().fold(-REACH_LEAST, f64::min);
    let high = logs.iter().copied().fold(REACH_LEAST, f64::max);
    let strip = Strip { low, high, count: answer.ratios.len() };
    let mut svg = String::new();
    if let (Some(low), Some(high)) = (effect.low, effect.high) {
        let (top, bottom) = (strip.y(high), strip.y(low));
        svg.push_str(&format!(
            "<path class=\"zone\" d=\"M{LEFT} {top:.1}H{WIDTH}V{bottom:.1}H{LEFT}Z\"/>"
        ));
    }
    svg.push_str(&format!("<path class=\"one\" d=\"M{LEFT} {:.1}H{WIDTH}\"/>", strip.y(1.0)));
    if let Some(ratio) = effect.ratio {
        let y = strip.y(ratio);
        svg.push_str(&format!("<path class=\"way\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/>"));
    }
    svg.push_str(&format!("<path class=\"starts\" d=\"{}\"/>", strip.starts(&answer.ratios)));
    let dots = answer.ratios.iter().enumerate();
    let dots = dots.map(|(at, pair)| format!("M{:.1} {:.1}h0", strip.x(at), strip.y(pair.ratio)));
    svg.push_str(&format!("<path class=\"dots\" d=\"{}\"/>", dots.collect::<String>()));
    format!(
        "<svg class=\"strip\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-label=\"rQPS of {}, in the order of measuring\">{svg}{}</svg>\n",
        told::count_with_noun(answer.ratios.len() as u64, "pair"),
        strip.labels()
    )
}

/// What both arms did.
fn figures(answer: &Answer, heads: [&String; 2]) -> String {
    let rate = rows::rate(&answer.view);
    let first = rows::PlainRow {
        label: answer.view.unit.to_owned(),
        base: rate.base,
        test: rate.test,
        ratio: format!("×{}", rate.rqps),
    };
    let mut rows = rows::plain_rows(&answer.view);
    rows.insert(0, first);
    rows.retain(|row| row.base != number::UNKNOWN || row.test != number::UNKNOWN);
    let [base, test] = heads;
    let columns = rows::plain_columns("", base, test, "÷");
    html::render_elements_below(
        &format!("what {base} and {test} did"),
        &[Element::Table(DataTable::new(&columns, &rows))],
    )
}

/// What speaks against it in its own words; mere notes by their numbers.
fn against(view: &ArmsView, answer: &Answer) -> String {
    let mere = dbdyno_model::Severity::Note.name();
    let own = answer.view.warnings.iter().filter(|warning| warning.severity != mere);
    let own = own.map(|warning| Footnote {
        number: None,
        severity: warning.severity,
        text: (&warning.text).into(),
        code: Text::default(),
    });
    let own: Vec<Footnote> = own.collect();
    let notes = answer.notes.iter().filter(|note| view.notes[**note].is_mere());
    let links: Vec<String> = notes.map(|note| note_link(*note)).collect();
    let mut text = String::new();
    if !own.is_empty() {
        text.push_str(&html::render_elements(&[Element::Footnotes(own)]));
    }
    if !links.is_empty() {
        text.push_str(&format!("<p>notes {}</p>\n", links.join(" ")));
    }
    format!("<div class=\"against\">{text}</div>\n")
}

fn command(view: &ArmsView, at: usize, answer: &Answer) -> String {
    match view.arms.len() {
        2 => format!("dbdyno show {} --all", view.head.run),
        _ => format!(
            "dbdyno show {} --arm {} --against {} --all",
            view.head.run, view.arms[at].index, answer.against
        ),
    }
}
