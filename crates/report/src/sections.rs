//! Parts of a report for a terminal, each of which can be asked for.

use dbdyno_document::number::GLUE;
use dbdyno_document::terminal::{self, TextStyle};
use dbdyno_document::{Document, Element};

use crate::counts;
use crate::difference;
use crate::first_screen::{self, CellOrder};
use crate::mechanisms;
use crate::notes::Notes;
use crate::shapes;
use crate::sheet::Sheet;
use crate::sheets;
use crate::text::{doubt_table, footnotes, plain_table, rate_table, shape_text, sheet_text};
use crate::view::View;

/// A part of the report that the first screen leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// What operations cost, and how long they take; curves, and costs for a row.
    Cost,
    /// How sure each answer is.
    Doubt,
    /// What the mechanisms of engines did.
    Engine,
    /// Where the arms are unequal.
    Facts,
    /// Every warning and note, and where it applies.
    Notes,
}

/// The answer, and these parts of the report. Ends with a line feed.
pub fn sections(view: &View, all: &[Section], order: CellOrder, style: &TextStyle) -> String {
    let view = &view.printable();
    let mut text = first_screen::head(view, order, style);
    for section in all {
        let part = section_text(view, *section, style);
        if !part.is_empty() {
            text.push('\n');
            text.push_str(&part);
        }
    }
    text.replace(GLUE, " ")
}

fn section_text(view: &View, section: Section, style: &TextStyle) -> String {
    let width = style.width;
    let has_cells = !view.summary.cells.is_empty();
    let joined = |sheets: Vec<Sheet>| {
        let texts: Vec<String> = sheets.iter().map(|sheet| sheet_text(sheet, width)).collect();
        texts.join("\n")
    };
    match section {
        Section::Cost => {
            let mut counted = sheets::of_steps(view);
            counted.extend(counts::sheets(view));
            let shapes = shapes::curves(view).into_iter().chain(shapes::costs(view));
            let plain = has_cells.then(|| plain_table(view, width));
            let parts = plain.into_iter().chain((!counted.is_empty()).then(|| joined(counted)));
            parts
                .chain(shapes.map(|shape| shape_text(&shape, width)))
                .collect::<Vec<_>>()
                .join("\n")
        }
        Section::Doubt if has_cells => doubt_table(view, width),
        Section::Doubt => String::new(),
        Section::Engine => joined(mechanisms::sheets(view)),
        Section::Facts => {
            let audit = &view.summary.audit;
            let rest = format!(" (dbdyno diff {} --all)", view.summary.run);
            let mut document = Document::default();
            document.push(vec![Element::Sentence(difference::counts(audit).into())]);
            let unequal = difference::unequal(audit, difference::Extent::WhatMatters, &rest);
            unequal.into_iter().for_each(|passage| document.push(passage));
            terminal::written(&document, style)
        }
        Section::Notes => {
            let notes = Notes::new(&view.summary);
            let marked = has_cells.then(|| rate_table(view, &notes, style) + "\n");
            marked.unwrap_or_default() + &footnotes(view, &notes, style)
        }
    }
}
