//! Environment, warnings, provenance: what an expert reads before believing the number.

use dbdyno_document::html::escape;
use dbdyno_document::number;

use super::fold::folded;
use crate::calendar::utc;
use crate::cautions;
use crate::difference::{self, Extent, Section};
use crate::notes::Notes;
use crate::view::{CellDetail, Fact, Summary, View, WarningView};
use crate::words;

/// Facts with this prefix describe the host, which both arms share.
const HOST: &str = "host.";

pub(super) fn environment(view: &View) -> String {
    let facts = &view.detail.facts;
    let (differing, equal): (Vec<&Fact>, Vec<&Fact>) =
        facts.iter().partition(|fact| !fact.is_equal());
    let (host, equal): (Vec<&Fact>, Vec<&Fact>) =
        equal.into_iter().partition(|fact| fact.name.starts_with(HOST));
    if facts.is_empty() {
        return folded("facts", "Environment: nothing was recorded", "");
    }
    let mut text = String::new();
    if !host.is_empty() {
        text.push_str("<h3>Host</h3>\n");
        text.push_str(&shared_table(&host));
    }
    text.push_str("<h3>What differs between the arms</h3>\n");
    text.push_str(&differences(view, &differing));
    if !equal.is_empty() {
        let count = words::plural(equal.len() as u64, "fact");
        text.push_str(&format!("<details><summary>Equal in both arms: {count}</summary>\n"));
        text.push_str(&shared_table(&equal));
        text.push_str("</details>\n");
    }
    folded("facts", "Environment: the host, and what differs between the arms", &text)
}

fn shared_table(facts: &[&Fact]) -> String {
    let rows = facts.iter().map(|fact| {
        let value = value(&fact.base);
        format!("<tr><th scope=\"row\">{}</th><td>{value}</td></tr>\n", escape(&fact.name))
    });
    format!(
        "<div class=\"scroll\"><table class=\"facts\"><tbody>\n{}</tbody></table></div>\n",
        rows.collect::<String>()
    )
}

/// By weight and topic; a run that was not audited has its facts only.
fn differences(view: &View, differing: &[&Fact]) -> String {
    let audit = &view.summary.audit;
    if audit.is_empty() {
        return difference_table(differing);
    }
    let mut text = format!("<p>{}</p>\n", escape(&difference::counts(audit)));
    for (number, section) in difference::sections(audit, Extent::All).iter().enumerate() {
        let count: usize = section.groups.iter().map(|(_, list)| list.len()).sum();
        // What blocks or annotates stands open.
        let open = if OPEN.contains(&section.title) { " open" } else { "" };
        text.push_str(&format!(
            "<details{open} id=\"unequal-{number}\"><summary>{}: {count}</summary>\n",
            escape(section.title)
        ));
        text.push_str(&section_table(section));
        text.push_str("</details>\n");
    }
    text
}

/// Sections that are read before the number is believed.
const OPEN: [&str; 2] = [difference::BLOCKS, difference::ANNOTATES];

fn section_table(section: &Section<'_>) -> String {
    let mut rows = String::new();
    for (topic, list) in &section.groups {
        rows.push_str(&format!(
            "<tr><th scope=\"rowgroup\" colspan=\"3\">{}</th></tr>\n",
            escape(topic)
        ));
        for one in list {
            rows.push_str(&format!(
                "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
                escape(difference::name(one)),
                value(&one.base),
                value(&one.test),
            ));
        }
    }
    three_columns(&rows)
}

fn three_columns(rows: &str) -> String {
    format!(
        "<div class=\"scroll\"><table class=\"facts\"><thead><tr><td></td>\
         <th scope=\"col\" class=\"base\">base</th><th scope=\"col\" class=\"test\">test</th></tr>\
         </thead><tbody>\n{rows}</tbody></table></div>\n",
    )
}

fn difference_table(facts: &[&Fact]) -> String {
    if facts.is_empty() {
        return "<p>Nothing that was recorded: both arms are the same as far as is known.</p>\n"
            .to_owned();
    }
    let rows = facts.iter().map(|fact| {
        format!(
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td></tr>\n",
            escape(&fact.name),
            value(&fact.base),
            value(&fact.test),
        )
    });
    three_columns(&rows.collect::<String>())
}

fn value(value: &Option<String>) -> String {
    match value {
        Some(value) if value.is_empty() => "<i>empty</i>".to_owned(),
        Some(value) => escape(value),
        None => "<i>not recorded</i>".to_owned(),
    }
}

/// What blocks or endangers a verdict, the worst first; nothing where nothing does.
pub(super) fn cautions(summary: &Summary) -> String {
    let cautions = cautions::of(summary);
    if cautions.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<section aria-labelledby=\"cautions-title\">\n<h2 id=\"cautions-title\">What endangers \
         this answer</h2>\n<ul class=\"notes\">\n",
    );
    for one in cautions.iter().take(cautions::TOLD_MOST) {
        let said = escape(&one.text(summary.cells.len()));
        text.push_str(&format!("<li><b class=\"{0}\">{0}</b> {said}</li>\n", one.word()));
    }
    text.push_str("</ul>\n");
    if let more @ 1.. = cautions.len().saturating_sub(cautions::TOLD_MOST) {
        let more = format!("{}, among the notes", words::plural(more as u64, "more caution"));
        text.push_str(&format!("<p class=\"aside\"><a href=\"#notes-title\">{more}</a></p>\n"));
    }
    text + "</section>\n"
}

/// All of them, and what only says how the method works, by number.
pub(super) fn warnings(notes: &Notes<'_>) -> String {
    if notes.is_empty() {
        return folded("notes", "Notes: none", "");
    }
    let list: String = notes.iter().map(|(number, one)| warning(number, one)).collect();
    let title = format!("Notes: {}", notes.iter().count());
    folded("notes", &title, &format!("<ol class=\"notes\">\n{list}</ol>\n"))
}

/// A warning with its number, in a list of them.
pub(crate) fn warning(number: usize, warning: &WarningView) -> String {
    format!(
        "<li id=\"note-{number}\"><b class=\"{severity}\">{severity}</b> {} <code>{}</code></li>\n",
        escape(&warning.text),
        escape(&warning.code),
        severity = warning.severity,
    )
}

pub(super) fn provenance(view: &View) -> String {
    let summary = &view.summary;
    let mut rows = vec![
        ("run".to_owned(), summary.run.clone()),
        ("name".to_owned(), summary.name.clone().unwrap_or_else(|| number::UNKNOWN.to_owned())),
        ("started".to_owned(), utc(summary.started_unix_ms)),
        ("status".to_owned(), summary.status.clone()),
        ("dbdyno".to_owned(), summary.tool_version.clone()),
        ("seed".to_owned(), summary.seed.to_string()),
    ];
    rows.extend(view.detail.plan.iter().cloned());
    let rows = rows.iter().map(|(name, value)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(name), escape(value))
    });
    format!(
        "<section aria-labelledby=\"origin-title\">\n<h2 id=\"origin-title\">Provenance</h2>\n\
         <p>This command reproduces the run:</p>\n<pre><code>{}</code></pre>\n\
         <div class=\"scroll\"><table class=\"facts\"><tbody>\n{}</tbody></table></div>\n{}\
         </section>\n",
        escape(&summary.command),
        rows.collect::<String>(),
        orders(view),
    )
}

/// The order of rounds in each cell, as it was measured: `base test test base …`.
fn orders(view: &View) -> String {
    let cells = view.summary.cells.iter().zip(&view.detail.cells);
    let lines = cells.map(|(cell, detail)| {
        let place = escape(&words::place(cell));
        format!("<tr><th scope=\"row\">{place}</th><td>{}</td></tr>\n", order(detail))
    });
    format!(
        "<details><summary>Order of rounds</summary>\n<div class=\"scroll\"><table class=\"facts\">\
         <tbody>\n{}</tbody></table></div></details>\n",
        lines.collect::<String>()
    )
}

fn order(detail: &CellDetail) -> String {
    let arms: Vec<&str> = detail.rounds.iter().map(|round| round.arm).collect();
    let blocks: Vec<String> = arms.chunks(4).map(|block| block.join(" ")).collect();
    blocks.join(" · ")
}
