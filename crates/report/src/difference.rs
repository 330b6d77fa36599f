//! The difference of two environments, by meaning.
//!
//! ```text
//!   plans      statement by statement: in what, where the optimizers part, and why; how firm
//!   varied     what is compared, in a few lines; settings that one release has and the other has
//!              not are told by topic below
//!   blocks     every fact
//!   annotates  every fact
//!   defaults   that changed with the release, by topic; those that no rule knows are counted
//!   new, gone  settings of one release, by topic; those that no rule knows are counted
//!   unseen     facts that one side alone could be asked for
//! ```
//!
//! Hundreds of variables must not bury the one that matters: what no rule knows is counted, and
//! shown to those who ask for all.

use dbdyno_document::{ArmLabel, DataTable, Document, Element, TableColumn, Text};
use dbdyno_model::{Audit, FactChange, PerArm, PlanChange, PlanStability, Weight};

use crate::explanation::json::{PlanJson, plan as plan_json};
use crate::explanation::plan;
use crate::firmness::{self, FirmnessJson};
use crate::view::{AuditView, InequalityView, LabelView};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// What rules know of.
    WhatMatters,
    /// Everything.
    All,
}

/// Titles of the parts. Those of these two matter for the verdict.
pub(crate) const BLOCKS: &str = "blocks the verdict";
pub(crate) const ANNOTATES: &str = "annotates the verdict";
/// Plans that a sample flips, or nearly.
const FIRMNESS: &str = "how firm the plans are";
const VARIED: &str = "varied: the question itself";
const HARMLESS: &str = "harmless: specific to each instance, or a consequence of the rest";
const NEW: &str = "new: settings that only test has";
const GONE: &str = "gone: settings that only base has";
const UNSEEN: &str = "observed on one side only";
/// Nobody knows beforehand which of them matter.
const DEFAULTS: &str =
    "varied by the release: defaults that changed; `dbdyno explain` finds which of them matter";
/// Longer values are cut.
const VALUE_MOST: usize = 44;
/// Lists of switches are shown by the switches that differ.
const LIST_LEAST: usize = 30;

/// Of what these rules find there is nothing to know, as long as it does not weigh.
const QUIET: [&str; 4] = ["other-setting", "instance", "translation", "packages"];

/// A part of the difference.
pub(crate) struct Section<'a> {
    pub(crate) title: &'static str,
    /// By topic.
    pub(crate) groups: Vec<(&'static str, Vec<&'a InequalityView>)>,
    /// How many more there are.
    pub(crate) uncounted: usize,
}

/// What is known of the plans of both arms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plans<'a> {
    /// Those that changed, each with its load.
    pub changed: &'a [(String, PlanChange)],
    /// How firmly they are taken, changed or not.
    pub firmness: &'a [PlanStability],
}

/// The difference as a document.
pub fn difference_document(
    audit: &Audit,
    labels: &PerArm<String>,
    plans: Plans<'_>,
    extent: Extent,
) -> Document {
    let view = &AuditView::new(audit);
    let arms = PerArm::from_fn(|arm| Text::from(&labels[arm]));
    let mut document = Document::default();
    document.push(vec![
        Element::Arms(ArmLabel::of_both(arms)),
        Element::Sentence(unequal_counts(view).into()),
    ]);
    let firmness = firmness::stability_notes(plans.firmness);
    for (title, notes) in [("plans that changed", notes(plans)), (FIRMNESS, firmness)] {
        if !notes.is_empty() {
            let notes = notes.into_iter().map(Text::from).collect();
            document.push(vec![Element::Title(title.into()), Element::Notes(notes)]);
        }
    }
    unequal_passages(view, extent, " (--all)")
        .into_iter()
        .for_each(|passage| document.push(passage));
    document
}

/// Where the arms are unequal, a passage for each part. `rest` says how what is only counted can be
/// seen.
pub(crate) fn unequal_passages(view: &AuditView, extent: Extent, rest: &str) -> Vec<Vec<Element>> {
    let mut passages = Vec::new();
    for section in audit_sections(view, extent) {
        let mut passage = vec![Element::Table(table(&section))];
        if section.uncounted > 0 {
            passage.push(Element::Sentence(format!("and {} more{rest}", section.uncounted).into()));
        }
        passages.push(passage);
    }
    passages
}

/// A fact that is unequal, below its topic.
type UnequalFact<'a> = (&'static str, &'a InequalityView);

fn table(section: &Section<'_>) -> DataTable {
    let columns = [
        TableColumn::word_texts("", |fact: &UnequalFact<'_>| fact.0.into()).as_group(),
        TableColumn::word_texts("", |fact: &UnequalFact<'_>| bare_name(&fact.1.name).into()),
        TableColumn::word_texts("base", |fact: &UnequalFact<'_>| values(fact.1).0.into()),
        TableColumn::word_texts("test", |fact: &UnequalFact<'_>| values(fact.1).1.into()),
    ];
    let of_topic = section.groups.iter();
    let facts = of_topic.flat_map(|(topic, list)| list.iter().map(|one| (*topic, *one)));
    DataTable::new(&columns, &facts.collect::<Vec<_>>()).with_title(section.title)
}

fn notes(plans: Plans<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    for (load, change) in plans.changed {
        notes.extend(plan::change_notes(change).into_iter().map(|note| format!("{load}, {note}")));
    }
    notes
}

/// How many facts are unequal, by weight, and what was varied.
pub(crate) fn unequal_counts(view: &AuditView) -> String {
    let mut rules: Vec<&str> = Vec::new();
    for one in view.unequal.iter().filter(|one| part_of(one) == VARIED) {
        if !QUIET.contains(&one.rule) && !rules.contains(&one.rule) {
            rules.push(one.rule);
        }
    }
    let named = if rules.is_empty() { String::new() } else { format!(" ({})", rules.join(", ")) };
    let told = [
        (view.varied, "varied"),
        (view.blocks, "blocks"),
        (view.annotates, "annotates"),
        (view.harmless, "harmless"),
        (view.equal, "equal"),
    ];
    let told = told.iter().map(|(count, word)| {
        let named = if *word == Weight::Varied.name() { named.as_str() } else { "" };
        format!("{word} {count}{named}")
    });
    format!("facts: {}", told.collect::<Vec<String>>().join(", "))
}

/// The parts that are not empty.
pub(crate) fn audit_sections(view: &AuditView, extent: Extent) -> Vec<Section<'_>> {
    let parts = [VARIED, BLOCKS, ANNOTATES, DEFAULTS, HARMLESS, NEW, GONE, UNSEEN];
    let mut sections: Vec<Section<'_>> =
        parts.map(|title| Section { title, groups: Vec::new(), uncounted: 0 }).into();
    for one in &view.unequal {
        let part = part_of(one);
        let Some(section) = sections.iter_mut().find(|section| section.title == part) else {
            continue;
        };
        if extent == Extent::WhatMatters && is_quiet(one) {
            section.uncounted += 1;
            continue;
        }
        match section.groups.iter_mut().find(|(topic, _)| *topic == one.topic) {
            Some((_, list)) => list.push(one),
            None => section.groups.push((one.topic, vec![one])),
        }
    }
    sections.retain(|section| !section.groups.is_empty() || section.uncounted > 0);
    sections
}

/// The title of the part in which a fact stands.
fn part_of(one: &InequalityView) -> &'static str {
    let parts = [
        (Weight::Blocks, None, BLOCKS),
        (Weight::Annotates, None, ANNOTATES),
        (Weight::Varied, Some(FactChange::Default), DEFAULTS),
        (Weight::Varied, Some(FactChange::New), NEW),
        (Weight::Varied, Some(FactChange::Gone), GONE),
        (Weight::Varied, None, VARIED),
        (Weight::Harmless, Some(FactChange::Unseen), UNSEEN),
        (Weight::Harmless, None, HARMLESS),
    ];
    let own = parts.into_iter().find(|(weight, change, _)| {
        one.weight == weight.name() && change.is_none_or(|change| one.change == change.name())
    });
    own.map_or("", |(.., title)| title)
}

/// Whether there is nothing to know of it, as long as it does not weigh.
fn is_quiet(one: &InequalityView) -> bool {
    let weighs = one.weight == Weight::Blocks.name() || one.weight == Weight::Annotates.name();
    let values = [&one.base, &one.test];
    let is_empty = values.iter().all(|value| value.as_deref().is_none_or(str::is_empty));
    !weighs && (QUIET.contains(&one.rule) || is_empty)
}

/// A fact without the word that all settings begin with.
pub(crate) fn bare_name(name: &str) -> &str {
    name.strip_prefix("variable.").unwrap_or(name)
}

/// Both values as they are shown: of long lists what differs.
fn values(one: &InequalityView) -> (String, String) {
    match (list(&one.base), list(&one.test)) {
        (Some(base), Some(test)) => (clipped(&apart(&base, &test)), clipped(&apart(&test, &base))),
        _ => (shown(&one.base), shown(&one.test)),
    }
}

/// The parts of a long list.
fn list(value: &Option<String>) -> Option<Vec<&str>> {
    let text = value.as_deref()?;
    let is_list = text.len() >= LIST_LEAST && text.contains(',');
    is_list.then(|| text.split(',').map(str::trim).collect())
}

/// What one list has and the other has not.
fn apart(own: &[&str], other: &[&str]) -> String {
    let own: Vec<&str> = own.iter().filter(|part| !other.contains(part)).copied().collect();
    format!("…{}", own.join(","))
}

fn shown(value: &Option<String>) -> String {
    match value.as_deref() {
        None => "—".to_owned(),
        Some("") => "''".to_owned(),
        Some(value) => clipped(value),
    }
}

fn clipped(value: &str) -> String {
    match value.char_indices().nth(VALUE_MOST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// The difference as JSON: `{base: {label}, test: {label}, audit, plans, firmness}`, where `audit`
/// is that of a run.
pub fn difference_json(audit: &Audit, labels: &PerArm<String>, plans: Plans<'_>) -> String {
    #[derive(serde::Serialize)]
    struct OfLoad<'a> {
        load: &'a str,
        #[serde(flatten)]
        plan: PlanJson<'a>,
    }
    #[derive(serde::Serialize)]
    struct Whole<'a> {
        base: LabelView,
        test: LabelView,
        audit: AuditView,
        plans: Vec<OfLoad<'a>>,
        firmness: Vec<FirmnessJson<'a>>,
    }
    let changed = plans.changed.iter();
    let changed = changed.map(|(load, change)| OfLoad { load, plan: plan_json(change) });
    let whole = Whole {
        base: LabelView { label: labels.base.clone() },
        test: LabelView { label: labels.test.clone() },
        audit: AuditView::new(audit),
        plans: changed.collect(),
        firmness: plans.firmness.iter().map(firmness::json).collect(),
    };
    crate::json::json_text(&whole)
}
