//! One HTML file of several arms: loads down, arms across, and each row drawn.
//!
//! ```text
//!   load │ clients │ base: rate │ arm: rQPS, coloured │ … │ drawn: │  ·   │ against the arm before
//!                                                         1 ─┼──┼──┼─
//! ```
//!
//! It has no script. A colour repeats what the sign beside it says.

use super::{Answer, ArmsView, Row, words};
use crate::calendar::utc;
use crate::html::{self, Colours, escape::escape};
use crate::number::{GLUE, UNKNOWN};
use crate::view::WarningView;
use crate::words as told;

/// Width of an arm in a drawing, and the height of all of it.
const STEP: f64 = 30.0;
const HEIGHT: f64 = 44.0;

/// The report as one self-contained HTML file.
pub fn arms_html(view: &ArmsView) -> String {
    let mut page = head(view);
    page.push_str("<body>\n<main>\n");
    page.push_str(&headline(view));
    page.push_str(&table(view));
    page.push_str(&counts(view));
    page.push_str(&intervals(view));
    page.push_str(&notes(view));
    page.push_str(&provenance(view));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(view: &ArmsView) -> String {
    let name = view.head.name.as_deref().unwrap_or(&view.head.run);
    let targets: Vec<&str> = view.arms.iter().map(|arm| arm.target.as_str()).collect();
    let title = format!("{}: dbdyno {name}", targets.join(", "));
    html::head(&title, "'none'")
}

fn headline(view: &ArmsView) -> String {
    let mut text = String::from("<header>\n");
    for status in words::status(view) {
        text.push_str(&format!("<p class=\"status\" role=\"note\">{}</p>\n", escape(&status)));
    }
    text.push_str(&format!("<h1>{}</h1>\n<dl class=\"arms\">\n", escape(&words::headline(view))));
    let counts = words::of_arms(view);
    for arm in &view.arms {
        let count = counts.iter().find(|(of, _)| of.index == arm.index);
        let count = count.map_or(String::new(), |(_, count)| format!(": {count}"));
        let class = if arm.index == view.reference.first() { "base" } else { "test" };
        text.push_str(&format!(
            "<dt class=\"{class}\">{}</dt><dd>{}{}</dd>\n",
            arm.index,
            escape(&arm.label),
            escape(&count)
        ));
    }
    text + "</dl>\n</header>\n"
}

fn table(view: &ArmsView) -> String {
    if view.rows.iter().all(|row| row.answers().next().is_none()) {
        return String::new();
    }
    let reference = view.first();
    let colours = Colours::of(view.rows.iter().flat_map(Row::answers));
    let scale = Scale::of(view);
    let mut text = String::from(
        "<section aria-labelledby=\"arms-title\">\n<h2 id=\"arms-title\">rQPS of all arms</h2>\n\
         <div class=\"scroll\"><table class=\"heat arms\">\n",
    );
    let mut unit = None;
    for row in &view.rows {
        if row.begins(unit) {
            text.push_str(&columns(view, row.unit, unit.is_none()));
            unit = Some(row.unit);
        }
        text.push_str(&format!(
            "<tr><th scope=\"row\">{}</th><td class=\"clients\">{}</td>",
            escape(&row.cell.load),
            row.cell.clients
        ));
        for at in 0..view.arms.len() {
            text.push_str(&match &row.arms[at].answer {
                _ if at == reference => format!("<td>{}</td>", words::rate(row, at)),
                Some(answer) => colours.cell(&answer.view, &marked(answer)),
                None => format!("<td>{UNKNOWN}</td>"),
            });
        }
        text.push_str(&format!(
            "<td class=\"picture\">{}</td><td>{}</td></tr>\n",
            scale.drawn(row),
            words::steps(row).replace(' ', "\u{a0}")
        ));
    }
    let aside = escape(&words::signs(view));
    text + &format!(
        "</tbody>\n</table></div>\n<p class=\"aside\">{aside} Drawn: rQPS of each arm \
        with its 95{GLUE}% interval, on one logarithmic scale; the line is 1 and the band the \
        budget. Below 1 purple, above 1 green, hatched what is not decided.</p>\n</section>\n"
    )
}

fn columns(view: &ArmsView, unit: &str, is_first: bool) -> String {
    let before = if is_first { "" } else { "</tbody>\n" };
    let heads = view.heads().into_iter().enumerate().map(|(at, head)| match at == view.first() {
        true => {
            format!("<th scope=\"col\" class=\"base\">{}<br>{}</th>", escape(&head), escape(unit))
        }
        false => format!("<th scope=\"col\" class=\"test\">{}</th>", escape(&head)),
    });
    format!(
        "{before}<thead><tr><td></td><th scope=\"col\">clients</th>{}<th scope=\"col\">drawn</th><th scope=\"col\">against the arm \
         before</th></tr></thead>\n<tbody>\n",
        heads.collect::<String>()
    )
}

/// A ratio with links to its notes.
fn marked(answer: &Answer) -> String {
    let links = answer
        .marks
        .iter()
        .map(|note| format!("<a href=\"#note-{number}\">{number}</a>", number = note + 1));
    let links: Vec<String> = links.collect();
    let marks = match links.is_empty() {
        true => String::new(),
        false => format!("<sup class=\"marks\">{}</sup>", links.join(" ")),
    };
    format!("{}{marks}", words::ratio(answer, false))
}

/// The scale that all drawings share.
struct Scale {
    /// The largest distance from 1, as a logarithm.
    reach: f64,
    budget: f64,
}

impl Scale {
    /// Far enough for every ratio, and never so near that the budget fills it.
    fn of(view: &ArmsView) -> Scale {
        let budget = view.head.budget.unwrap_or(0.0).abs();
        let ratios = view.rows.iter().flat_map(Row::answers).filter_map(|of| of.effect().ratio);
        let far = ratios.map(|ratio| ratio.ln().abs()).filter(|far| far.is_finite());
        Scale { reach: 1.15 * far.fold((3.0 * budget).max(0.01), f64::max), budget }
    }

    fn y(&self, ratio: f64) -> f64 {
        (0.5 - 0.5 * (ratio.ln() / self.reach).clamp(-1.0, 1.0)) * HEIGHT
    }

    fn drawn(&self, row: &Row) -> String {
        let width = STEP * row.arms.len() as f64;
        let (top, bottom) = (self.y(1.0 + self.budget), self.y(1.0 - self.budget));
        let one = self.y(1.0);
        let mut marks = String::new();
        for (at, arm) in row.arms.iter().enumerate() {
            let x = STEP * (at as f64 + 0.5);
            let Some(answer) = &arm.answer else {
                marks.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{one:.1}\" r=\"1.5\"/>"));
                continue;
            };
            let effect = answer.view.effect();
            let class = answer.view.verdict.0.name();
            let mut mark = String::new();
            if let (Some(low), Some(high)) = (effect.low, effect.high) {
                let (low, high) = (self.y(low), self.y(high));
                mark.push_str(&format!("<path class=\"line\" d=\"M{x:.1} {low:.1}V{high:.1}\"/>"));
            }
            if let Some(ratio) = effect.ratio {
                let y = self.y(ratio);
                mark.push_str(&format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>"));
            }
            marks.push_str(&format!("<g class=\"{class}\">{mark}</g>"));
        }
        format!(
            "<svg viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" height=\"{HEIGHT}\" \
             aria-hidden=\"true\"><rect y=\"{top:.1}\" width=\"{width}\" height=\"{:.1}\"/>\
             <path class=\"one\" d=\"M0 {one:.1}H{width}\"/>{marks}</svg>",
            bottom - top
        )
    }
}

/// Instructions, where they were counted.
fn counts(view: &ArmsView) -> String {
    let rows = words::counted(view);
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let head = head.iter().map(|text| format!("<th scope=\"col\">{}</th>", escape(text)));
    let row = |row: &Vec<String>| {
        let cells = row.iter().skip(1).map(|text| format!("<td>{}</td>", escape(text)));
        format!(
            "<tr><th scope=\"row\">{}</th>{}</tr>\n",
            escape(&row[0]),
            cells.collect::<String>()
        )
    };
    format!(
        "<section>\n<div class=\"scroll\"><table class=\"rates\"><thead><tr>{}</tr></thead><tbody>\n\
         {}</tbody></table></div>\n</section>\n",
        head.collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

/// The same with intervals, pairs and what the arms did, folded away.
fn intervals(view: &ArmsView) -> String {
    let mut rows = String::new();
    for row in &view.rows {
        for (at, arm) in view.arms.iter().enumerate() {
            let found = &row.arms[at];
            let cpu = found.did.as_ref().and_then(|did| did.server_cpu_us_per_op);
            let p99 = found.did.as_ref().and_then(|did| did.latency_us.p99);
            let answer = found.answer.as_ref();
            rows.push_str(&format!(
                "<tr><th scope=\"row\">{} at {}, {}</th><td>{}</td><td>{}</td><td>{}</td>\
                 <td>{}</td><td>{}</td></tr>\n",
                escape(&row.cell.load),
                told::clients(row.cell.clients),
                escape(&arm.target),
                words::rate(row, at),
                answer.map_or(UNKNOWN.to_owned(), |answer| words::ratio(answer, true)),
                answer.map_or(UNKNOWN.to_owned(), |answer| answer.view.pairs.to_string()),
                cpu.map_or(UNKNOWN.to_owned(), crate::number::three_digits),
                crate::number::latency(p99, None),
            ));
        }
    }
    format!(
        "<section>\n<details><summary>Intervals, pairs, cost and latency of each arm</summary>\n\
         <div class=\"scroll\"><table class=\"facts\"><thead><tr><td></td>\
         <th scope=\"col\">rate</th><th scope=\"col\">rQPS against {}</th>\
         <th scope=\"col\">pairs</th><th scope=\"col\">server CPU µs/op</th>\
         <th scope=\"col\">p99</th></tr></thead><tbody>\n{rows}</tbody></table></div></details>\n\
         </section>\n",
        view.reference
    )
}

fn notes(view: &ArmsView) -> String {
    let mut text = String::from(
        "<section aria-labelledby=\"notes-title\">\n<h2 id=\"notes-title\">Warnings</h2>\n",
    );
    if view.notes.is_empty() {
        return text + "<p>None.</p>\n</section>\n";
    }
    text.push_str("<ol class=\"notes\">\n");
    for (at, note) in view.notes.iter().enumerate() {
        let warning = WarningView { text: note.text(), ..note.warning.clone() };
        text.push_str(&html::warning(at + 1, &warning));
    }
    text + "</ol>\n</section>\n"
}

fn provenance(view: &ArmsView) -> String {
    let head = &view.head;
    let rows = [
        ("run", head.run.clone()),
        ("name", head.name.clone().unwrap_or_else(|| UNKNOWN.to_owned())),
        ("started", utc(head.started_unix_ms)),
        ("status", head.status.clone()),
        ("dbdyno", head.tool_version.clone()),
        ("seed", head.seed.to_string()),
    ];
    let rows = rows.iter().map(|(name, value)| {
        format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>\n", escape(value))
    });
    let pairs = view.arms.iter().filter(|arm| arm.index != view.reference.first()).map(|arm| {
        format!("dbdyno report {} --arm {} --against {}\n", head.run, arm.index, view.reference)
    });
    format!(
        "<section aria-labelledby=\"origin-title\">\n<h2 id=\"origin-title\">Provenance</h2>\n\
         <p>This command reproduces the run:</p>\n<pre><code>{}</code></pre>\n\
         <p>These write the page of one arm, with all rounds, facts and differences:</p>\n\
         <pre><code>{}</code></pre>\n<div class=\"scroll\"><table class=\"facts\"><tbody>\n{}\
         </tbody></table></div>\n</section>\n",
        escape(&head.command),
        pairs.collect::<String>(),
        rows.collect::<String>(),
    )
}
