//! A history as one HTML file without any script: it opens from disk and asks nobody.

use dbdyno_document::html::{PageHead, escape};
use dbdyno_document::layout::printable;
use dbdyno_model::{BenchmarkHistory, HistorySeries, Severity};

use super::{chart, words};
use crate::html::STYLE;

const OWN_STYLE: &str = "svg.history{width:100%;height:auto;display:block;color:var(--base)}\
svg.history text{fill:var(--faint);font-size:12px}\
svg.history .grid{stroke:var(--rule);stroke-width:1}\
svg.history circle{fill:currentcolor}\
svg.history .level{stroke:var(--ink);stroke-width:1.5}\
svg.history g rect{fill:currentcolor;opacity:.14}svg.history g line{stroke:currentcolor;\
stroke-width:1.5}svg.history g.slower{color:var(--slower)}svg.history g.faster{color:\
var(--faster)}svg.history g.undecided{color:var(--doubt)}\
td.answer.worse{color:var(--slower);font-weight:600}\
td.answer.better{color:var(--faster);font-weight:600}td.answer,td.run{text-align:left}";

/// The history as one self-contained HTML file.
pub fn history_html(history: &BenchmarkHistory) -> String {
    let headline = words::headline(history);
    let title = format!("{headline} dbdyno history");
    let head = PageHead { title: &title, styles: &[STYLE, OWN_STYLE], script: None };
    let mut page = head.html();
    page.push_str(&format!(
        "<body>\n<main>\n<header>\n<h1>{}</h1>\n<p class=\"aside\">{}</p>\n</header>\n",
        escape(&headline),
        escape(&printable(&history.source)),
    ));
    page.push_str(&notes(history.warnings.iter().map(|one| (one.severity, one.text.as_str()))));
    for series in &history.series {
        page.push_str(&of_series(series));
    }
    page.push_str(
        "<p class=\"aside\">Dots are values, lines the medians of levels; the shaded band is where \
         a change may begin (95 %). Sizes have 95 % intervals, which take into account that what \
         barely was found is smaller than it looks; p is the chance of something as clear where \
         nothing changes; E-divisive is where that method, at the same level, begins the nearest \
         new level.</p>\n</main>\n</body>\n</html>\n",
    );
    page
}

fn of_series(series: &HistorySeries) -> String {
    let about = if series.about.is_empty() {
        words::span(series)
    } else {
        format!("{}; {}", printable(&series.about), words::span(series))
    };
    let mut text = format!(
        "<section>\n<h2>{}</h2>\n<p class=\"aside\">{}</p>\n{}",
        escape(&words::title(series)),
        escape(&about),
        chart::svg(series)
    );
    text.push_str(&table(series));
    text.push_str(&notes(series.warnings.iter().map(|one| (one.severity, one.text.as_str()))));
    for remark in words::remarks(series) {
        text.push_str(&format!("<p>{}</p>\n", escape(&remark)));
    }
    text + "</section>\n"
}

fn table(series: &HistorySeries) -> String {
    let rows = words::rows(series);
    if rows.is_empty() {
        return String::new();
    }
    let heads = words::HEADS.map(|head| format!("<th scope=\"col\">{head}</th>")).concat();
    let mut text =
        format!("<div class=\"scroll\"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n");
    for row in rows {
        text.push_str("<tr>");
        for (head, cell) in words::HEADS.iter().zip(&row) {
            let class = match *head {
                "answer" if cell == "worse" || cell == "better" => format!("answer {cell}"),
                head => head.to_owned(),
            };
            text.push_str(&format!("<td class=\"{class}\">{}</td>", escape(cell)));
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody>\n</table></div>\n"
}

fn notes<'a>(notes: impl Iterator<Item = (Severity, &'a str)>) -> String {
    let note = |(severity, text): (Severity, &str)| {
        let severity = severity.name();
        format!("<p><b class=\"{severity}\">{severity}</b> {}</p>\n", escape(&printable(text)))
    };
    notes.map(note).collect()
}
