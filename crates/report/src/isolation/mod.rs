//! How servers isolate, for people and for programs.
//!
//! ```text
//!   table     levels × anomalies, one word for each; Markdown has a row for each level
//!   stories   what was said and answered, session beside session
//!   counts    what became of all small interleavings
//! ```

mod cells;
mod json;
mod stories;

use dbdyno_document::{DataTable, Document, Element, TableColumn};
use dbdyno_model::isolation::{CaseOutcome, IsolationTold, LevelTold, Permissiveness, ShapeTold};

use cells::{cell, subject_name, subject_names};
pub use json::isolation_json;

/// How much is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationExtent {
    /// Tables.
    Tables,
    /// The stories of all cases as well.
    Stories,
}

/// What marks in tables mean.
const KEY: &str = "occurs: the anomaly was seen. Otherwise it was prevented: waits, a transaction \
                   had to wait; error N, one was refused; snapshot, what was read was old enough. \
                   some: it was seen in one of the cases and not in another.";
const BROKEN: &str = "! this server is known to prevent it";
const BETTER: &str = "* prevented, though that is not known of this server at this level";

/// How several servers are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IsolationLayout {
    /// Each by itself, a row for each anomaly: narrow enough for a terminal.
    Apart,
    /// In one table, a row for each level of each server: for a page.
    Together,
}

/// How servers isolate, as a document.
pub fn isolation_document(
    all: &[IsolationTold],
    extent: IsolationExtent,
    layout: IsolationLayout,
) -> Document {
    let mut document = Document::default();
    if layout == IsolationLayout::Together {
        document.push(level_table(all).map(Element::Table).into_iter().collect());
        told_counts(counts_table(all, layout), &mut document);
    }
    for told in all.iter().filter(|_| layout == IsolationLayout::Apart) {
        let one = std::slice::from_ref(told);
        document.push(vec![Element::Headline(headline(told).into())]);
        document.push(anomaly_table(told).map(Element::Table).into_iter().collect());
        told_counts(counts_table(one, layout), &mut document);
        if extent == IsolationExtent::Stories {
            told_stories(told, &mut document);
        }
    }
    let has_tables = all.iter().any(has_cases);
    let mut legend = Vec::new();
    if has_tables {
        legend.push(Element::Prose(KEY.into()));
        legend.extend(marks(all).into_iter().map(|mark| Element::Sentence(mark.into())));
    }
    let reasons = unknown_reasons(all).into_iter();
    legend.extend(reasons.map(|sentence| Element::Sentence(sentence.into())));
    let broken = broken(all).into_iter().map(|sentence| format!("! {sentence}"));
    legend.extend(broken.map(|sentence| Element::Sentence(sentence.into())));
    if extent == IsolationExtent::Tables && has_tables && layout == IsolationLayout::Apart {
        legend.push(Element::Sentence("Each story, step by step: --all".into()));
    }
    document.push(legend);
    if extent == IsolationExtent::Stories && layout == IsolationLayout::Together {
        for told in all {
            document.push(vec![Element::Sentence(headline(told).into())]);
            told_stories(told, &mut document);
        }
    }
    document
}

/// What became of interleavings, and what its columns mean.
fn told_counts(table: Option<DataTable>, document: &mut Document) {
    let Some(table) = table else { return };
    document.push(vec![Element::Table(table)]);
    document.push(vec![Element::Prose(COUNTS_KEY.into())]);
}

fn told_stories(told: &IsolationTold, document: &mut Document) {
    stories::story_lines(told)
        .into_iter()
        .for_each(|story| document.push(vec![Element::Lines(story)]));
}

fn has_cases(told: &IsolationTold) -> bool {
    told.levels.iter().any(|level| !level.cases.is_empty())
}

fn headline(told: &IsolationTold) -> String {
    let cut = if told.is_cut_short { "; it was ended before the end" } else { "" };
    let levels = told.levels.iter().flat_map(|level| &level.shapes);
    let unknown: u64 = levels.map(|shape| shape.counts.unknown).sum();
    let unknown = match unknown {
        0 => String::new(),
        some => format!("; of {some} interleavings the outcome is unknown"),
    };
    format!("{} ({}), promises of {}{unknown}{cut}", told.target, told.version, told.family)
}

/// A server: a row for each anomaly, a column for each level.
fn anomaly_table(told: &IsolationTold) -> Option<DataTable> {
    type AnomalyColumn<'a> = TableColumn<'a, String>;
    let name = AnomalyColumn::word_texts("", |name| name.into());
    let levels = told.levels.iter().filter(|level| !level.cases.is_empty()).map(|level| {
        let title = level.level.to_string();
        AnomalyColumn::word_texts(title, move |name| cell(level, name).to_string().into())
    });
    let columns: Vec<AnomalyColumn<'_>> = [name].into_iter().chain(levels).collect();
    let names = subject_names(std::slice::from_ref(told));
    has_cases(told).then(|| DataTable::new(&columns, &names))
}

/// Servers: a row for each level, a column for each anomaly.
fn level_table(all: &[IsolationTold]) -> Option<DataTable> {
    type LevelColumn<'a> = TableColumn<'a, ServerLevel<'a>>;
    let first = [
        LevelColumn::word_texts("server", |row| server(row.told).into()),
        LevelColumn::word_texts("level", |row| row.level.level.to_string().into()),
    ];
    let anomalies = subject_names(all).into_iter().map(|name| {
        let title = name.clone();
        LevelColumn::word_texts(title, move |row| cell(row.level, &name).to_string().into())
    });
    let columns: Vec<LevelColumn<'_>> = first.into_iter().chain(anomalies).collect();
    let levels = server_levels(all).filter(|row| !row.level.cases.is_empty());
    let levels: Vec<ServerLevel<'_>> = levels.collect();
    (!levels.is_empty()).then(|| DataTable::new(&columns, &levels))
}

/// A level of a server.
#[derive(Clone, Copy)]
struct ServerLevel<'a> {
    told: &'a IsolationTold,
    level: &'a LevelTold,
}

fn server_levels(all: &[IsolationTold]) -> impl Iterator<Item = ServerLevel<'_>> {
    all.iter().flat_map(|told| told.levels.iter().map(move |level| ServerLevel { told, level }))
}

/// The server with its version, without what is said behind a hyphen.
fn server(told: &IsolationTold) -> String {
    let version = told.version.split(['-', ' ']).next().unwrap_or_default();
    format!("{} ({version})", told.target)
}

/// Marks that occur in these tables.
fn marks(all: &[IsolationTold]) -> Vec<&'static str> {
    let cases = || all.iter().flat_map(|told| &told.levels).flat_map(|level| &level.cases);
    let mut marks = Vec::new();
    if cases().any(|case| case.breaks_promise()) {
        marks.push(BROKEN);
    }
    if cases().any(|case| case.exceeds_promise()) {
        marks.push(BETTER);
    }
    marks
}

/// Why it is not known what became of a case, once for all levels at which it is the same.
fn unknown_reasons(all: &[IsolationTold]) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    for told in all {
        for level in &told.levels {
            for case in &level.cases {
                let CaseOutcome::Unknown(why) = &case.outcome else { continue };
                let why = format!("{}: {why}", subject_name(case));
                let place = level.level.to_string();
                match reasons.iter_mut().find(|(known, _)| *known == why) {
                    Some((_, places)) if places.contains(&place) => {}
                    Some((_, places)) => places.push(place),
                    None => reasons.push((why, vec![place])),
                }
            }
        }
    }
    reasons
        .into_iter()
        .map(|(why, places)| format!("unknown at {}: {why}", places.join(", ")))
        .collect()
}

/// Sentences about what should not have been.
fn broken(all: &[IsolationTold]) -> Vec<String> {
    let mut sentences = Vec::new();
    for told in all {
        for level in &told.levels {
            for case in level.cases.iter().filter(|case| case.breaks_promise()) {
                sentences.push(format!(
                    "{} at {}: {} was seen: {}",
                    told.target, level.level, case.name, case.about
                ));
            }
            for shape in level.shapes.iter().filter(|shape| level.breaks_serializability(shape)) {
                sentences.push(format!(
                    "{} at {}: {} interleavings of {} ended as no serial order does{}",
                    told.target,
                    level.level,
                    shape.counts.not_serializable,
                    shape.shape,
                    example(shape)
                ));
            }
        }
    }
    sentences
}

fn example(shape: &ShapeTold) -> String {
    shape.example.as_ref().map_or_else(String::new, |one| format!(", as {one}"))
}

const COUNTS_KEY: &str = "allowed: a scheduler that shows committed values only could complete it \
                          at once, and some serial order does the same; shares are of these. at \
                          once: so it went. waited: it was completed after a wait. waited, \
                          refused: a transaction was refused after a wait, as in a deadlock. \
                          refused: one was refused without any. misread: it was completed at once \
                          with a result of no serial order. let through: it is not allowed, and \
                          was completed at once all the same.";

/// One of the counts.
type CountOf = fn(&Permissiveness) -> u64;

/// What became of interleavings of one shape, at a level of a server.
type CountsRow<'a> = (ServerLevel<'a>, &'a ShapeTold);

fn counts_table(all: &[IsolationTold], layout: IsolationLayout) -> Option<DataTable> {
    type CountsColumn<'a> = TableColumn<'a, CountsRow<'a>>;
    let is_apart = layout == IsolationLayout::Apart;
    let mut columns = vec![
        CountsColumn::word_texts(if is_apart { "" } else { "level" }, |(of, _)| {
            of.level.level.to_string().into()
        }),
        CountsColumn::number_texts("shape", |(_, shape)| shape.shape.as_str().into()),
        CountsColumn::number_texts("played", |(_, shape)| {
            format!("{}/{}", shape.counts.played, shape.canonical).into()
        }),
        CountsColumn::number_texts("allowed", |(_, shape)| shape.counts.allowed.to_string().into()),
    ];
    if !is_apart {
        columns.insert(0, CountsColumn::word_texts("server", |(of, _)| server(of.told).into()));
    }
    let parts: [(&str, CountOf); 5] = [
        ("at once", |counts| counts.completed),
        ("waited", |counts| counts.waited),
        ("waited, refused", |counts| counts.refused_after_waiting),
        ("refused", |counts| counts.aborted),
        ("misread", |counts| counts.misread),
    ];
    columns.extend(parts.map(|(title, part)| {
        CountsColumn::number_texts(title, move |(_, shape)| share(&shape.counts, part).into())
    }));
    let let_through = CountsColumn::number_texts("let through", |(_, shape)| {
        shape.counts.let_through.to_string().into()
    });
    columns.push(let_through);
    let rows = server_levels(all).flat_map(|of| of.level.shapes.iter().map(move |one| (of, one)));
    let rows: Vec<CountsRow<'_>> = rows.collect();
    (!rows.is_empty()).then(|| DataTable::new(&columns, &rows))
}

/// Of the interleavings that are allowed.
fn share(counts: &Permissiveness, part: CountOf) -> String {
    match counts.allowed {
        0 => "–".to_owned(),
        all => format!("{:.1} %", 100.0 * part(counts) as f64 / all as f64),
    }
}

#[cfg(test)]
mod tests;
