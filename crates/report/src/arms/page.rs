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

use dbdyno_document::html::{self, PageHead, escape};
use dbdyno_document::number::UNKNOWN;
use dbdyno_document::{ColumnTone, DataTable, Element, Footnote, TableCell, TableColumn};

use super::document::{self, Tail};
use super::figure::Figure;
use super::history::Scale;
use super::table::{self, Line, Part, Table};
use super::view::ArmsView;
use super::words::Signs;
use super::{costs, evidence, words};
use crate::html as page;

const STYLE: &str = include_str!("../../assets/arms.css");
/// Size of the drawing of a history: its height, the width of an arm, and the most of all arms.
const HEIGHT: f64 = 34.0;
const STEP: f64 = 22.0;
const WIDTH_MOST: f64 = 176.0;

/// The section of how the run is repeated.
const ORIGIN: &str = "origin";

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
    page.push_str(&evidence::articles_html(view));
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn head(view: &ArmsView) -> String {
    let name = view.head.name.as_deref().unwrap_or(&view.head.run);
    let targets: Vec<&str> = view.arms.iter().map(|arm| arm.target.as_str()).collect();
    let title = format!("{}: dbdyno {name}", targets.join(", "));
    PageHead { title: &title, styles: &[page::STYLE, STYLE], script: None }.html()
}

fn headline(view: &ArmsView) -> String {
    let mut head = document::answer_elements(view);
    head.push(Element::Arms(words::arm_labels(view)));
    format!("<header>\n{}</header>\n", html::render_elements(&head))
}

/// A part of the page with its title, coloured by the shades of its cells.
fn section(id: &str, title: &str, elements: &[Element]) -> String {
    let class = if id == ORIGIN { "facts" } else { "heat" };
    format!(
        "<section class=\"{class}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{}</h2>\n\
         {}</section>\n",
        escape(title),
        html::render_elements_below(title, elements)
    )
}

/// Medians of groups, and where they start to fall; nothing where nothing is known of either.
fn overview(view: &ArmsView) -> String {
    let by_cpu = table::by_cpu(view);
    let mut elements: Vec<Element> = medians(view, by_cpu.as_ref()).into_iter().collect();
    elements.extend(document::term_elements(words::fall_sentences(view)));
    let sharing = by_cpu.and(costs::about_sharing(view));
    elements.extend(sharing.map(|text| Element::Aside(text.into())));
    if elements.is_empty() {
        return String::new();
    }
    section("overview", &format!("Medians: {}", words::title(view)), &elements)
}

/// Groups down, arms across; nothing where there is one group.
fn medians(view: &ArmsView, by_cpu: Option<&Table>) -> Option<Element> {
    let table = table::rates(view);
    let parts: Vec<&Part> = table.parts.iter().chain(table.all.as_ref()).collect();
    let of_cpu: Vec<&Part> = by_cpu.iter().flat_map(|of| of.parts.iter().chain(&of.all)).collect();
    table.all.as_ref()?;
    let mut columns = vec![TableColumn::word_texts("", |part: &&Part| {
        part.called.as_deref().unwrap_or_default().into()
    })];
    for (at, head) in view.column_heads().iter().enumerate() {
        let is_first = at == table.first;
        let (parts, of_cpu) = (&parts, &of_cpu);
        let column = TableColumn::number_cells(head.as_str(), move |part: &&Part| {
            let place = parts.iter().position(|one| std::ptr::eq(*one, *part));
            let second = place.and_then(|place| of_cpu.get(place)?.medians[at].as_ref());
            match &part.medians[at] {
                _ if is_first => "1".into(),
                Some(figure) => with_cpu(figure, second),
                None => UNKNOWN.into(),
            }
        });
        columns.push(column.of_arm(if is_first { ColumnTone::Base } else { ColumnTone::Test }));
    }
    Some(Element::Table(DataTable::new(&columns, &parts)))
}

/// A figure, and below it the same by server CPU.
fn with_cpu(figure: &Figure, by_cpu: Option<&Figure>) -> TableCell {
    match by_cpu {
        Some(of) => figure.cell().with_small(
            TableCell::from(format!("CPU {}", of.display_text())).with_shade(of.shade.tint(), None),
        ),
        None => figure.cell(),
    }
}

fn rates(view: &ArmsView) -> String {
    let by_cpu = table::by_cpu(view);
    let of_cpu: Vec<&Line> = by_cpu.iter().flat_map(Table::lines).collect();
    let width = (STEP * view.arms.len() as f64).min(WIDTH_MOST);
    let scale = Scale::for_view(view, width, HEIGHT);
    let tail = match view.reference {
        dbdyno_model::Reference::Before => Tail::None,
        dbdyno_model::Reference::Arm(_) => Tail::Drawings(&scale),
    };
    let table = table::rates(view).data_table(view, tail, |line, at, figure| {
        let second = of_cpu.get(line.row).and_then(|of| of.figures[at].as_ref());
        with_cpu(figure, second)
            .with_link(evidence::anchor_id(line.row, at))
            .with_anchor(evidence::figure_anchor(line.row, at))
    });
    let about = "Each figure leads to its evidence. Purple at 0.95 and below, green at 1.05 and \
                 above, grey between, hatched what is not decided. History: rQPS of the arms in \
                 their order with 95 % intervals, on one scale for all loads that is finer near 1; \
                 the band is 0.95 to 1.05, hollow is not decided, and a triangle lies beyond the \
                 scale.";
    let signs = words::sign_legend(view, Signs::WithMethod);
    let asides = [signs, about.to_owned()].map(|text| Element::Aside(text.into()));
    let elements: Vec<Element> = std::iter::once(Element::Table(table)).chain(asides).collect();
    section("arms", &words::title(view), &elements)
}

/// A table without links.
fn plain(view: &ArmsView, table: &Table) -> Element {
    Element::Table(table.data_table(view, Tail::None, |_, _, figure| figure.cell()))
}

fn steps(view: &ArmsView) -> String {
    let steps = table::steps_table(view);
    let steps = steps.map(|table| section("steps", &table.title, &[plain(view, &table)]));
    steps.unwrap_or_default()
}

/// Instructions, where they were counted.
fn counts(view: &ArmsView) -> String {
    let table =
        words::counts_table(view).map(|table| html::render_elements(&[Element::Table(table)]));
    table.map_or(String::new(), |table| format!("<section>\n{table}</section>\n"))
}

/// What operations cost, folded away.
fn cost_tables(view: &ArmsView) -> String {
    let (tables, said) = table::costs_by_quantity(view);
    let by_cpu = table::by_cpu(view);
    let mut body = String::new();
    for table in by_cpu.iter().chain(&tables) {
        body.push_str(&format!("<h3>{}</h3>\n", escape(&table.title)));
        body.push_str(&html::render_elements_below(&table.title, &[plain(view, table)]));
    }
    let sharing = by_cpu.as_ref().and(costs::about_sharing(view));
    let asides = sharing.into_iter().chain(said).chain([costs::ABOUT.to_owned()]);
    let asides: Vec<Element> = asides.map(|text| Element::Aside(text.into())).collect();
    let body = format!("<div class=\"heat\">\n{body}{}</div>\n", html::render_elements(&asides));
    page::folded_body("costs", "What operations cost", &body)
}

fn notes(view: &ArmsView) -> String {
    let notes = view.notes.iter().enumerate().map(|(at, note)| Footnote {
        number: Some(at + 1),
        severity: note.warning.severity,
        text: note.display_text().into(),
        code: (&note.warning.code).into(),
    });
    let notes = match view.notes.as_slice() {
        [] => Element::Sentence("None.".into()),
        _ => Element::Footnotes(notes.collect()),
    };
    section("notes", "Warnings", &[notes])
}

fn provenance(view: &ArmsView) -> String {
    let others = view.arms.iter().filter(|arm| arm.index != view.reference.first());
    let pairs = others.map(|arm| {
        let (run, against) = (&view.head.run, view.reference);
        format!("dbdyno report {run} --arm {} --against {against}", arm.index).into()
    });
    let elements = [
        Element::Sentence("This command reproduces the run:".into()),
        Element::Lines(vec![(&view.head.command).into()]),
        Element::Sentence(
            "These write the page of one arm, with all rounds, facts and differences:".into(),
        ),
        Element::Lines(pairs.collect()),
        Element::Table(page::origin_table(&view.head, &[])),
    ];
    section(ORIGIN, "Provenance", &elements)
}
