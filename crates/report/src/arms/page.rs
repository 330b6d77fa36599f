//! One HTML file of several arms: loads down, arms across.
//!
//! ```text
//!   sentence · arms
//!   medians:  groups down, arms across          where each group starts to fall
//!   rates:    load │ base: rate │ arm: rQPS, coloured, a link to its evidence │ … │ history
//!   steps:    the same against the arm before
//!   folded:   costs in the same shape · warnings · provenance
//!   evidence of each cell, seen when its link is followed
//! ```
//!
//! It has no script. A colour repeats what the sign beside it says.

use dbdyno_document::html::{PageHead, escape};
use dbdyno_document::number::UNKNOWN;

use super::figure::{Figure, Shade};
use super::history::Scale;
use super::table::{self, Line, Part, Table};
use super::view::ArmsView;
use super::words::Signs;
use super::{costs, evidence, words};
use crate::calendar::utc;
use crate::html;
use crate::view::WarningView;
use crate::words as told;

const STYLE: &str = include_str!("../../assets/arms.css");
/// Size of the drawing of a history: its height, the width of an arm, and the most of all arms.
const HEIGHT: f64 = 34.0;
const STEP: f64 = 22.0;
const WIDTH_MOST: f64 = 176.0;

/// The report as one self-contained HTML file.
pub fn arms_html(view: &ArmsView) -> String {
    let mut page = head(view);
    page.push_str("<body>\n<main class=\"many\">\n");
    page.push_str(&headline(view));
    if view.has_answers() {
        page.push_str(&overview(view));
        page.push_str(&rates(view));
        page.push_str(&steps(view));
    }
    page.push_str(&counts(view));
    if view.has_answers() {
        page.push_str(&cost_tables(view));
    }
    page.push_str(&notes(view));
    page.push_str(&provenance(view));
    page.push_str(&evidence::articles(view));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(view: &ArmsView) -> String {
    let name = view.head.name.as_deref().unwrap_or(&view.head.run);
    let targets: Vec<&str> = view.arms.iter().map(|arm| arm.target.as_str()).collect();
    let title = format!("{}: dbdyno {name}", targets.join(", "));
    PageHead { title: &title, styles: &[html::STYLE, STYLE], script: None }.html()
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

/// Medians of groups, and where they start to fall.
fn overview(view: &ArmsView) -> String {
    let fall = |(called, sentence): &(String, String)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escape(called), escape(sentence))
    };
    let falls: String = words::falls(view).iter().map(fall).collect();
    let by_cpu = costs::by_cpu(view);
    let medians = medians(view, by_cpu.as_ref());
    let sharing = by_cpu.and(costs::about_sharing(view)).map(|text| aside(&text));
    format!(
        "<section aria-labelledby=\"overview-title\">\n<h2 id=\"overview-title\">Medians: {}</h2>\n\
         {medians}<dl class=\"falls\">\n{falls}</dl>\n{}</section>\n",
        escape(&words::title(view)),
        sharing.unwrap_or_default(),
    )
}

/// Groups down, arms across; nothing where there is one group.
fn medians(view: &ArmsView, by_cpu: Option<&Table>) -> String {
    let table = table::rates(view);
    let Some(all) = &table.all else { return String::new() };
    let of_cpu: Vec<&Part> = by_cpu.iter().flat_map(|of| of.parts.iter().chain(&of.all)).collect();
    let mut rows = String::new();
    for (number, part) in table.parts.iter().chain([all]).enumerate() {
        let cells = part.medians.iter().enumerate().map(|(at, figure)| {
            let second = of_cpu.get(number).and_then(|of| of.medians[at].as_ref());
            match figure {
                _ if at == table.first => "<td class=\"none\">1</td>".to_owned(),
                Some(figure) => cell(figure, &(escape(&figure.text()) + &small(second))),
                None => format!("<td>{UNKNOWN}</td>"),
            }
        });
        rows.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>{}</tr>\n",
            escape(part.called.as_deref().unwrap_or_default()),
            cells.collect::<String>()
        ));
    }
    format!(
        "<div class=\"scroll\"><table class=\"heat\">\n<thead>{}</thead><tbody>\n{rows}</tbody>\
         </table></div>\n",
        heads(view, &table, "<td></td>", "")
    )
}

fn aside(text: &str) -> String {
    format!("<p class=\"aside\">{}</p>\n", escape(text))
}

/// The second figure of a cell: the same by server CPU.
fn small(figure: Option<&Figure>) -> String {
    figure.map_or(String::new(), |of| {
        format!("<br><small class=\"{}\">CPU {}</small>", of.shade.class(), escape(&of.text()))
    })
}

fn rates(view: &ArmsView) -> String {
    let table = table::rates(view);
    let width = (STEP * view.arms.len() as f64).min(WIDTH_MOST);
    let scale = Scale::of(view, width, HEIGHT);
    let by_cpu = costs::by_cpu(view);
    let of_cpu: Vec<&Line> = by_cpu.iter().flat_map(Table::lines).collect();
    let linked = |line: &Line, at: usize, figure: &Figure| {
        let second = of_cpu.get(line.row).and_then(|of| of.figures[at].as_ref());
        let link = format!(
            "<a href=\"#{}\">{}</a>",
            evidence::anchor(line.row, at),
            escape(&figure.text())
        );
        link + &marks(figure) + &small(second)
    };
    let with_history = view.reference != dbdyno_model::Reference::Before;
    let tail = |line: &Line| {
        if !with_history {
            return String::new();
        }
        let drawn = scale.drawn(view, &view.rows[line.row]);
        format!(
            "<td class=\"picture\"><svg viewBox=\"0 0 {width} {HEIGHT}\" width=\"{width}\" \
             height=\"{HEIGHT}\" aria-hidden=\"true\">{drawn}</svg></td>"
        )
    };
    let history = if with_history { "history" } else { "" };
    let shape = Shape { tail_head: history, cell: &linked, tail: &tail, has_anchors: true };
    format!(
        "<section aria-labelledby=\"arms-title\">\n<h2 id=\"arms-title\">{}</h2>\n{}{}{}\
         </section>\n",
        escape(&words::title(view)),
        laid_out(view, &table, &shape),
        aside(&words::signs(view, Signs::WithMethod)),
        aside(
            "Each figure is a link to its evidence. Purple at 0.95 and below, green at 1.05 and \
             above, grey between, hatched what is not decided. History: rQPS of the arms in their \
             order with 95 % intervals, on one scale for all loads that is finer near 1; the band \
             is 0.95 to 1.05, hollow is not decided, and a triangle lies beyond the scale."
        ),
    )
}

fn steps(view: &ArmsView) -> String {
    let Some(table) = table::steps(view) else { return String::new() };
    format!(
        "<section aria-labelledby=\"steps-title\">\n<h2 id=\"steps-title\">{}</h2>\n{}</section>\n",
        escape(&table.title),
        laid_out(view, &table, &PLAIN),
    )
}

/// How a table is laid out.
struct Shape<'a> {
    tail_head: &'a str,
    /// What stands in a cell, as HTML.
    cell: &'a dyn Fn(&Line, usize, &Figure) -> String,
    /// What stands behind the arms.
    tail: &'a dyn Fn(&Line) -> String,
    has_anchors: bool,
}

const PLAIN: Shape<'static> = Shape {
    tail_head: "",
    cell: &|_, _, figure| escape(&figure.text()),
    tail: &|_| String::new(),
    has_anchors: false,
};

/// The heads of arms, with what stands before them and behind.
fn heads(view: &ArmsView, table: &Table, before: &str, behind: &str) -> String {
    let arms = view.heads().into_iter().enumerate().map(|(at, head)| {
        let class = if at == table.first { "base" } else { "test" };
        // A target is broken behind its kind, if it must be.
        let head = escape(&head).replacen(':', ":<wbr>", 1);
        format!("<th scope=\"col\" class=\"{class}\">{head}</th>")
    });
    format!("<tr>{before}{}{behind}</tr>", arms.collect::<String>())
}

fn laid_out(view: &ArmsView, table: &Table, shape: &Shape<'_>) -> String {
    let first = match table.clients {
        Some(one) => format!("{} at {}", table.unit, told::clients(one)),
        None => table.unit.clone(),
    };
    let columns = 1 + usize::from(table.clients.is_none());
    let clients = if columns > 1 { "<th scope=\"col\">clients</th>" } else { "" };
    let before = format!("<td>{}</td>{clients}", escape(&first));
    let behind = match shape.tail_head {
        "" => String::new(),
        head => format!("<th scope=\"col\">{head}</th>"),
    };
    let mut body = String::new();
    for part in &table.parts {
        body.push_str("<tbody>\n");
        if let Some((called, medians)) = part.head() {
            let cells = medians.iter().enumerate().map(|(at, figure)| match figure {
                Some(figure) if at != table.first => cell(figure, &escape(&figure.text())),
                _ => "<td></td>".to_owned(),
            });
            let end = if shape.tail_head.is_empty() { "" } else { "<td></td>" };
            body.push_str(&format!(
                "<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}</th>{}{end}\
                 </tr>\n",
                escape(called),
                cells.collect::<String>()
            ));
        }
        part.lines.iter().for_each(|line| body.push_str(&row(table, line, shape)));
        body.push_str("</tbody>\n");
    }
    format!(
        "<div class=\"scroll\"><table class=\"heat\">\n<thead>{}</thead>\n{body}</table></div>\n",
        heads(view, table, &before, &behind),
    )
}

fn row(table: &Table, line: &Line, shape: &Shape<'_>) -> String {
    let id = if shape.has_anchors {
        format!(" id=\"{}\"", evidence::row_anchor(line.row))
    } else {
        String::new()
    };
    let clients = match table.clients {
        Some(_) => String::new(),
        None => format!("<td class=\"clients\">{}</td>", line.clients),
    };
    let cells = line.figures.iter().enumerate().map(|(at, figure)| match figure {
        _ if at == table.first => format!("<td class=\"rate\">{}</td>", escape(&line.reference)),
        Some(figure) => cell(figure, &(shape.cell)(line, at, figure)),
        None => format!("<td>{UNKNOWN}</td>"),
    });
    format!(
        "<tr{id}><th scope=\"row\">{}</th>{clients}{}{}</tr>\n",
        escape(&line.load),
        cells.collect::<String>(),
        (shape.tail)(line)
    )
}

/// A coloured cell with this HTML in it.
fn cell(figure: &Figure, text: &str) -> String {
    let class = figure.shade.class();
    match (figure.shade, figure.verdict) {
        (Shade::Worse | Shade::Better, verdict) => {
            let strength = 100.0 * figure.strength();
            let unjudged = if verdict.is_none() { " unjudged" } else { "" };
            format!("<td class=\"{class}{unjudged}\" style=\"--share:{strength:.0}%\">{text}</td>")
        }
        (Shade::None, _) => format!("<td>{text}</td>"),
        _ => format!("<td class=\"{class}\">{text}</td>"),
    }
}

fn marks(figure: &Figure) -> String {
    let links: Vec<String> = figure.marks.iter().map(|note| evidence::note_link(*note)).collect();
    if links.is_empty() {
        String::new()
    } else {
        format!("<sup class=\"marks\">{}</sup>", links.join(" "))
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
        "<section>\n<div class=\"scroll\"><table class=\"rates\"><thead><tr>{}</tr></thead>\n\
         <tbody>{}</tbody></table></div>\n</section>\n",
        head.collect::<String>(),
        rows.iter().map(row).collect::<String>()
    )
}

/// What operations cost, folded away.
fn cost_tables(view: &ArmsView) -> String {
    let (tables, said) = costs::tables(view);
    let by_cpu = costs::by_cpu(view);
    let told: String = by_cpu
        .iter()
        .chain(&tables)
        .map(|table| {
            let title = escape(&table.title);
            format!("<h3>{title}</h3>\n{}", laid_out(view, table, &PLAIN))
        })
        .collect();
    let sharing = by_cpu.as_ref().and(costs::about_sharing(view));
    let asides = sharing.into_iter().chain(said).chain([costs::ABOUT.to_owned()]);
    let asides: String = asides.map(|text| aside(&text)).collect();
    html::folded("costs", "What operations cost", &(told + &asides))
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
