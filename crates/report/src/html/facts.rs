//! Environment, warnings, provenance: what an expert reads before believing the number.

use dbdyno_document::html;
use dbdyno_document::{ColumnTone, DataTable, Element, Footnote, TableColumn, Text, number};

use super::fold::{folded_body, folded_section};
use crate::calendar::format_utc;
use crate::cautions;
use crate::comparison;
use crate::difference::{self, Extent};
use crate::notes::Notes;
use crate::view::{CellDetail, Fact, InequalityView, Summary, View};
use crate::words;

/// Facts with this prefix describe the host, which both arms share.
const HOST: &str = "host.";

const NO_FACTS: &str = "Neither settings of the servers nor the host are known.";

pub(super) fn environment(view: &View) -> String {
    let facts = view.detail.facts.iter();
    let (equal, differing): (Vec<&Fact>, Vec<&Fact>) = facts.partition(|fact| fact.is_equal());
    let (host, equal): (Vec<&Fact>, Vec<&Fact>) =
        equal.into_iter().partition(|fact| fact.name.starts_with(HOST));
    if view.detail.facts.is_empty() {
        return folded_section(
            "facts",
            "Environment: nothing was recorded",
            &[Element::Sentence(NO_FACTS.into())],
        );
    }
    let mut elements = Vec::new();
    if !host.is_empty() {
        elements.push(Element::Table(shared(&host).with_title("Host")));
    }
    elements.extend(differences(view, &differing));
    if !equal.is_empty() {
        let count = words::count_with_noun(equal.len() as u64, "fact");
        let title = format!("Equal in both arms: {count}");
        elements.push(Element::Fold(title.into(), vec![Element::Table(shared(&equal))]));
    }
    let body = format!("<div class=\"facts\">\n{}</div>\n", html::render_elements(&elements));
    folded_body("facts", "Environment: the host, and what differs between the arms", &body)
}

/// Facts that both arms have in common.
fn shared(facts: &[&Fact]) -> DataTable {
    let facts = facts.iter().map(|fact| (fact.name.clone(), value(&fact.base)));
    named_values(&facts.collect::<Vec<_>>())
}

/// By weight and topic; a run that was not audited has its facts only.
fn differences(view: &View, differing: &[&Fact]) -> Vec<Element> {
    const TITLE: &str = "What differs between the arms";
    let audit = &view.summary.audit;
    if audit.is_empty() && differing.is_empty() {
        let nothing = "Nothing that was recorded: both arms are the same as far as is known.";
        return vec![Element::Title(TITLE.into()), Element::Sentence(nothing.into())];
    }
    if audit.is_empty() {
        let columns = of_both(|fact: &&Fact| (&fact.name, &fact.base, &fact.test));
        return vec![Element::Table(DataTable::new(&columns, differing).with_title(TITLE))];
    }
    let mut elements = vec![
        Element::Title(TITLE.into()),
        Element::Sentence(difference::unequal_counts(audit).into()),
    ];
    for section in difference::audit_sections(audit, Extent::All) {
        let columns = of_both(|one: &&InequalityView| (&one.name, &one.base, &one.test));
        let mut table = DataTable::new(&columns, &[]);
        for (topic, list) in &section.groups {
            table.add_group(vec![(*topic).into()]);
            table.add_rows(&columns, list);
        }
        let count: usize = section.groups.iter().map(|(_, list)| list.len()).sum();
        let title = format!("{}: {count}", section.title);
        // What blocks or annotates stands open.
        elements.push(if OPEN.contains(&section.title) {
            Element::Table(table.with_title(title))
        } else {
            Element::Fold(title.into(), vec![Element::Table(table)])
        });
    }
    elements
}

/// Sections that are read before the number is believed.
const OPEN: [&str; 2] = [difference::BLOCKS, difference::ANNOTATES];

/// Name and values of a fact.
type FactParts<'f> = (&'f String, &'f Option<String>, &'f Option<String>);

/// The columns of facts of both arms.
fn of_both<'a, F: 'a>(
    parts: impl for<'f> Fn(&'f F) -> FactParts<'f> + Copy + 'a,
) -> [TableColumn<'a, F>; 3] {
    [
        TableColumn::word_texts("", move |fact: &F| difference::bare_name(parts(fact).0).into()),
        TableColumn::word_texts("base", move |fact: &F| value(parts(fact).1).into())
            .of_arm(ColumnTone::Base),
        TableColumn::word_texts("test", move |fact: &F| value(parts(fact).2).into())
            .of_arm(ColumnTone::Test),
    ]
}

fn value(value: &Option<String>) -> String {
    match value.as_deref() {
        Some("") => "(empty)".to_owned(),
        Some(value) => value.to_owned(),
        None => "(not recorded)".to_owned(),
    }
}

/// What blocks or endangers a verdict, the worst first; nothing where nothing does.
pub(super) fn cautions_html(summary: &Summary) -> String {
    let cautions = cautions::find_doubts(summary);
    if cautions.is_empty() {
        return String::new();
    }
    let worst = cautions.iter().take(cautions::TOLD_MOST).map(|one| Footnote {
        number: None,
        severity: one.severity_word(),
        text: one.display_text(summary.cells.len()).into(),
        code: Text::default(),
    });
    let mut elements = vec![Element::Footnotes(worst.collect())];
    if let more @ 1.. = cautions.len().saturating_sub(cautions::TOLD_MOST) {
        let more =
            format!("{}, among the notes", words::count_with_noun(more as u64, "more caution"));
        elements.push(Element::Aside(more.into()));
    }
    format!(
        "<section aria-labelledby=\"cautions-title\">\n<h2 id=\"cautions-title\">What endangers \
         this answer</h2>\n{}</section>\n",
        html::render_elements(&elements)
    )
}

const NO_NOTES: &str = "There is nothing that one must know of these results beside them.";

/// All of them, and what only says how the method works, by number.
pub(super) fn notes_html(notes: &Notes<'_>) -> String {
    let title = match notes.iter().count() {
        0 => return folded_section("notes", "Notes: none", &[Element::Sentence(NO_NOTES.into())]),
        count => format!("Notes: {count}"),
    };
    folded_section("notes", &title, &comparison::footnote_elements(notes))
}

/// What a run is, and under these names what else is known of it.
pub(crate) fn origin_table(head: &Summary, plan: &[(String, String)]) -> DataTable {
    let rows = [
        ("run", head.run.clone()),
        ("name", head.name.clone().unwrap_or_else(|| number::UNKNOWN.to_owned())),
        ("started", format_utc(head.started_unix_ms)),
        ("status", head.status.clone()),
        ("dbdyno", head.tool_version.clone()),
        ("seed", head.seed.to_string()),
    ];
    let rows = rows.map(|(name, value)| (name.to_owned(), value));
    named_values(&rows.into_iter().chain(plan.iter().cloned()).collect::<Vec<_>>())
}

/// Names, and what they have.
fn named_values(rows: &[(String, String)]) -> DataTable {
    let columns = [
        TableColumn::word_texts("", |row: &(String, String)| (&row.0).into()),
        TableColumn::word_texts("", |row: &(String, String)| (&row.1).into()),
    ];
    DataTable::new(&columns, rows)
}

pub(super) fn provenance_html(view: &View) -> String {
    let mut elements = vec![
        Element::Sentence("This command reproduces the run:".into()),
        Element::Lines(vec![(&view.summary.command).into()]),
        Element::Table(origin_table(&view.summary, &view.detail.plan)),
    ];
    let orders = orders(view);
    if !orders.is_empty() {
        elements.push(Element::Fold("Order of rounds".into(), vec![Element::Table(orders)]));
    }
    format!(
        "<section aria-labelledby=\"origin-title\">\n<h2 id=\"origin-title\">Provenance</h2>\n\
         <div class=\"facts\">\n{}</div>\n</section>\n",
        html::render_elements_below("Provenance", &elements)
    )
}

/// The order of rounds in each cell, as it was measured: `base test test base …`.
fn orders(view: &View) -> DataTable {
    let cells = view.summary.cells.iter().zip(&view.detail.cells);
    named_values(
        &cells.map(|(cell, detail)| (words::cell_place(cell), order(detail))).collect::<Vec<_>>(),
    )
}

fn order(detail: &CellDetail) -> String {
    let arms: Vec<&str> = detail.rounds.iter().map(|round| round.arm).collect();
    let blocks: Vec<String> = arms.chunks(4).map(|block| block.join(" ")).collect();
    blocks.join(" · ")
}
