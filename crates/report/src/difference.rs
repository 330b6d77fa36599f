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

/// Titles of the parts that matter for the verdict.
pub(crate) const BLOCKS: &str = "blocks the verdict";
pub(crate) const ANNOTATES: &str = "annotates the verdict";
/// Plans that a sample flips, or nearly.
const FIRMNESS: &str = "how firm the plans are";
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
    document
        .push(vec![Element::Arms(ArmLabel::of_both(arms)), Element::Sentence(counts(view).into())]);
    let firmness = firmness::notes(plans.firmness);
    for (title, notes) in [("plans that changed", notes(plans)), (FIRMNESS, firmness)] {
        if !notes.is_empty() {
            let notes = notes.into_iter().map(Text::from).collect();
            document.push(vec![Element::Title(title.into()), Element::Notes(notes)]);
        }
    }
    unequal(view, extent, " (--all)").into_iter().for_each(|passage| document.push(passage));
    document
}

/// Where the arms are unequal, a passage for each part. `rest` says how what is only counted can be
/// seen.
pub(crate) fn unequal(view: &AuditView, extent: Extent, rest: &str) -> Vec<Vec<Element>> {
    let passage = |section: Section<'_>| {
        let mut passage = vec![Element::Table(table(&section))];
        if section.uncounted > 0 {
            passage.push(Element::Sentence(format!("and {} more{rest}", section.uncounted).into()));
        }
        passage
    };
    sections(view, extent).into_iter().map(passage).collect()
}

/// A fact that is unequal, below its topic.
type UnequalFact<'a> = (&'static str, &'a InequalityView);

fn table(section: &Section<'_>) -> DataTable {
    let columns = [
        TableColumn::words("", |fact: &UnequalFact<'_>| fact.0.into()).as_group(),
        TableColumn::words("", |fact: &UnequalFact<'_>| bare_name(&fact.1.name).into()),
        TableColumn::words("base", |fact: &UnequalFact<'_>| values(fact.1).0.into()),
        TableColumn::words("test", |fact: &UnequalFact<'_>| values(fact.1).1.into()),
    ];
    let of_topic = section.groups.iter();
    let facts = of_topic.flat_map(|(topic, list)| list.iter().map(|one| (*topic, *one)));
    DataTable::new(&columns, &facts.collect::<Vec<_>>()).titled(section.title)
}

fn notes(plans: Plans<'_>) -> Vec<String> {
    let of_load = |(load, change): &(String, PlanChange)| {
        let load = load.clone();
        plan::notes(change).into_iter().map(move |note| format!("{load}, {note}"))
    };
    plans.changed.iter().flat_map(of_load).collect()
}

/// How many facts are unequal, by weight, and what was varied.
pub(crate) fn counts(view: &AuditView) -> String {
    let mut rules: Vec<&str> = Vec::new();
    let of_both = |one: &&InequalityView| {
        let by_the_release =
            [FactChange::New, FactChange::Gone, FactChange::Default].map(FactChange::name);
        let of_one = by_the_release.contains(&one.change);
        one.weight == Weight::Varied.name() && !of_one && !QUIET.contains(&one.rule)
    };
    for one in view.unequal.iter().filter(of_both) {
        if !rules.contains(&one.rule) {
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
pub(crate) fn sections(view: &AuditView, extent: Extent) -> Vec<Section<'_>> {
    let is = |one: &InequalityView, weight: Weight| one.weight == weight.name();
    let of_one_release = |one: &InequalityView, change: FactChange| {
        is(one, Weight::Varied) && one.change == change.name()
    };
    let varied = |one: &InequalityView| {
        let by_the_release =
            [FactChange::New, FactChange::Gone, FactChange::Default].map(FactChange::name);
        is(one, Weight::Varied) && !by_the_release.contains(&one.change)
    };
    let unseen =
        |one: &InequalityView| is(one, Weight::Harmless) && one.change == FactChange::Unseen.name();
    let harmless = |one: &InequalityView| is(one, Weight::Harmless) && !unseen(one);
    type Filter<'f> = &'f dyn Fn(&InequalityView) -> bool;
    let parts: [(&'static str, Filter<'_>); 8] = [
        ("varied: the question itself", &varied),
        (BLOCKS, &|one| is(one, Weight::Blocks)),
        (ANNOTATES, &|one| is(one, Weight::Annotates)),
        (DEFAULTS, &|one| of_one_release(one, FactChange::Default)),
        ("harmless: specific to each instance, or a consequence of the rest", &harmless),
        ("new: settings that only test has", &|one| of_one_release(one, FactChange::New)),
        ("gone: settings that only base has", &|one| of_one_release(one, FactChange::Gone)),
        ("observed on one side only", &unseen),
    ];
    parts
        .into_iter()
        .map(|(title, filter)| section(title, view, filter, extent))
        .filter(|section| !section.groups.is_empty() || section.uncounted > 0)
        .collect()
}

fn section<'a>(
    title: &'static str,
    view: &'a AuditView,
    filter: &dyn Fn(&InequalityView) -> bool,
    extent: Extent,
) -> Section<'a> {
    let is_quiet = |one: &InequalityView| {
        let is_empty = |value: &Option<String>| value.as_deref().is_none_or(str::is_empty);
        let weighs = one.weight == Weight::Blocks.name() || one.weight == Weight::Annotates.name();
        !weighs && (QUIET.contains(&one.rule) || is_empty(&one.base) && is_empty(&one.test))
    };
    let mut section = Section { title, groups: Vec::new(), uncounted: 0 };
    for one in view.unequal.iter().filter(|one| filter(one)) {
        if extent == Extent::WhatMatters && is_quiet(one) {
            section.uncounted += 1;
            continue;
        }
        match section.groups.iter_mut().find(|(topic, _)| *topic == one.topic) {
            Some((_, list)) => list.push(one),
            None => section.groups.push((one.topic, vec![one])),
        }
    }
    section
}

/// A fact without the word that all settings begin with.
pub(crate) fn bare_name(name: &str) -> &str {
    name.strip_prefix("variable.").unwrap_or(name)
}

/// Both values as they are shown: of long lists what differs.
fn values(one: &InequalityView) -> (String, String) {
    let list = |value: &Option<String>| {
        value
            .as_deref()
            .filter(|text| text.len() >= LIST_LEAST && text.contains(','))
            .map(|text| text.split(',').map(str::trim).map(str::to_owned).collect::<Vec<String>>())
    };
    match (list(&one.base), list(&one.test)) {
        (Some(base), Some(test)) => {
            let apart = |own: &[String], other: &[String]| {
                let own: Vec<&str> =
                    own.iter().filter(|part| !other.contains(part)).map(String::as_str).collect();
                format!("…{}", own.join(","))
            };
            (clipped(&apart(&base, &test)), clipped(&apart(&test, &base)))
        }
        _ => (shown(&one.base), shown(&one.test)),
    }
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
