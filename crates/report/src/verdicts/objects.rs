//! Banks, sets, counters, registers and mutexes: whether they have their own property.

use dbdyno_document::{Document, Element, Text};
use serde::Serialize;

use super::levels::drawing_elements;
use super::property::{PropertyVerdict, VerdictWord};

/// What is known of a history without transactions: the JSON of `check`.
#[derive(Serialize)]
pub struct ObjectReport {
    /// [`super::VERDICTS_SCHEMA`].
    pub schema: u32,
    /// What it was taken for.
    pub workload: &'static str,
    /// What is to hold.
    pub property: &'static str,
    /// Where that is defined.
    pub definition: &'static str,
    /// Whether it holds.
    #[serde(flatten)]
    pub verdict: PropertyVerdict,
    /// Sentences that show what breaks it.
    pub evidence: Vec<String>,
    /// What else should be known.
    pub notes: Vec<String>,
    /// Operations that were understood.
    pub operations: usize,
    /// Those that were confirmed.
    pub ok: usize,
    /// Those that certainly did nothing.
    pub failed: usize,
    /// Those of which the outcome is not known.
    pub unknown: usize,
    /// Entries of the nemesis.
    pub passed_over: usize,
    /// Objects.
    pub keys: usize,
}

/// What the file was taken for, how much of it was understood, and what was found.
pub fn object_document(report: &ObjectReport) -> Document {
    let ObjectReport { workload, property, definition, verdict, .. } = report;
    let word = match verdict.verdict {
        VerdictWord::Holds => "holds",
        VerdictWord::Broken => "broken",
        VerdictWord::CannotTell => "cannot tell",
    };
    let keys = match report.keys {
        1 => String::new(),
        keys => format!(" on {keys} keys"),
    };
    let counts = format!(
        "taken for a {workload} of Jepsen: {} operations{keys}, {} ok, {} failed, {} of unknown \
         outcome; {} entries of the nemesis passed over",
        report.operations, report.ok, report.failed, report.unknown, report.passed_over
    );
    let mut head = vec![
        Element::Headline(format!("{word}: {property}").into()),
        Element::Sentence(counts.into()),
    ];
    head.extend(report.notes.iter().map(|note| Element::Sentence(note.into())));
    let title = format!("{property}, {definition}: {}", verdict.in_words());
    let evidence: Vec<Text> = report.evidence.iter().map(Text::from).collect();
    Document::from(vec![head, drawing_elements(title, &evidence)])
}
