//! The findings about a host, for people and for programs.

use dbdyno_document::{Document, Element, LabelledItem};
use dbdyno_model::{Finding, Severity};
use serde::Serialize;

use crate::words::count_with_noun;

/// Version of the JSON; raised when a name changes its meaning.
const VERSION: u32 = 1;
/// Columns of `caution`, of the longest code, and of `change`.
const STATE_WIDTH: usize = 8;
const CODE_WIDTH: usize = 18;
const ADVICE_WIDTH: usize = 7;
const REST: &str = "dbdyno doctor --all: figures of each check, what each note costs";

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    state: &'static str,
    findings: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    code: &'a str,
    state: &'static str,
    found: &'a str,
    change: Option<&'a str>,
    cost: Option<&'a str>,
}

/// How much is printed of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoctorExtent {
    /// The answer, what is not as it should be, and the names of the rest.
    Faults,
    /// Each finding with its figures.
    Whole,
}

/// The answer in a sentence, then each finding, the worst first: what was found, what to change,
/// and what it costs not to.
pub fn doctor_document(findings: &[Finding], extent: DoctorExtent) -> Document {
    let is_whole = extent == DoctorExtent::Whole;
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    let listed = sorted.iter().filter(|finding| is_whole || finding.severity.is_some());
    let mut items: Vec<LabelledItem> = listed.map(|finding| item(finding, extent)).collect();
    let good = sorted.iter().filter(|finding| finding.severity.is_none());
    let good: Vec<&str> = good.map(|finding| finding.code.as_str()).collect();
    if !is_whole && !good.is_empty() {
        items.push(LabelledItem::new(good.join(", ")).with_label("good", STATE_WIDTH));
    }
    let mut document = Document::default();
    document.push(vec![Element::Headline(headline(findings).into())]);
    document.push(vec![Element::Items(items)]);
    if !is_whole {
        let rest = LabelledItem::new(REST).with_label("rest", STATE_WIDTH);
        document.push(vec![Element::Items(vec![rest])]);
    }
    document
}

fn item(finding: &Finding, extent: DoctorExtent) -> LabelledItem {
    let item = LabelledItem::new(&finding.found)
        .with_label(finding.state_name(), STATE_WIDTH)
        .with_label(&finding.code, CODE_WIDTH);
    let Some(advice) = &finding.advice else { return item };
    let item =
        item.with_detail(LabelledItem::new(&advice.change).with_label("change", ADVICE_WIDTH));
    // What only a note would cost is left for those who ask.
    if extent == DoctorExtent::Faults && finding.severity <= Some(Severity::Note) {
        return item;
    }
    item.with_detail(LabelledItem::new(&advice.cost).with_label("cost", ADVICE_WIDTH))
}

/// Whether the host is fit, and what stands against it.
fn headline(findings: &[Finding]) -> String {
    let count = |severity| -> u64 {
        findings.iter().filter(|found| found.severity == Some(severity)).count() as u64
    };
    let [blocks, cautions, notes] =
        [Severity::Blocks, Severity::Caution, Severity::Note].map(count);
    let against = [(cautions, "caution"), (notes, "note")];
    let against: Vec<String> = against
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| count_with_noun(*count, noun))
        .collect();
    let against =
        if against.is_empty() { "nothing to change".to_owned() } else { against.join(", ") };
    match blocks {
        0 => format!("This host is fit to measure on: {against}"),
        _ => format!(
            "This host is not fit to measure on: {} to remove first; {against}",
            count_with_noun(blocks, "obstacle")
        ),
    }
}

/// The same as JSON, indented, ending with a line feed. `state` is that of the worst finding.
pub fn doctor_json(findings: &[Finding]) -> String {
    let worst = findings.iter().max_by_key(|finding| finding.severity);
    let report = Report {
        version: VERSION,
        state: worst.map_or("good", Finding::state_name),
        findings: findings
            .iter()
            .map(|finding| Entry {
                code: &finding.code,
                state: finding.state_name(),
                found: &finding.found,
                change: finding.advice.as_ref().map(|advice| advice.change.as_str()),
                cost: finding.advice.as_ref().map(|advice| advice.cost.as_str()),
            })
            .collect(),
    };
    crate::json::json_text(&report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_document::number::GLUE;
    use dbdyno_document::terminal::{self, Colour, TextStyle};

    fn written(extent: DoctorExtent, width: usize) -> String {
        let style = TextStyle { colour: Colour::Plain, width };
        terminal::render_document(&doctor_document(&findings(), extent), &style)
    }

    fn findings() -> [Finding; 3] {
        let found = "a disk with \u{1b}[31m in its name";
        [
            Finding::without_advice("processors", "2 × X"),
            Finding::with_advice(Severity::Note, "wake-up", "sleepers", "stay awake", "little"),
            Finding::with_advice(Severity::Caution, "file-system", found, "use another", "much"),
        ]
    }

    #[test]
    fn the_answer_comes_first_and_then_the_worst() {
        let text = written(DoctorExtent::Whole, 60);
        let expected = "This host is fit to measure on: 1 caution, 1 note\n\n\
             caution  file-system        a disk with \u{fffd}[31m in its name\n\
             \u{20}                           change  use another\n\
             \u{20}                           cost    much\n\
             note     wake-up            sleepers\n\
             \u{20}                           change  stay awake\n";
        let rest = "\u{20}                           cost    little\n\
             good     processors         2 × X\n";
        assert_eq!(text, format!("{expected}{rest}"));
        assert!(text.lines().all(|line| line.chars().count() <= 60));
        let text = written(DoctorExtent::Faults, 100);
        assert!(text.starts_with(expected), "{text}");
        assert!(text.contains("\ngood     processors\n") && !text.contains("little"), "{text}");
    }

    #[test]
    fn what_blocks_is_in_the_first_sentence() {
        let blocks = Finding::with_advice(Severity::Blocks, "disk", "full", "free some", "all");
        let said = |findings: &[Finding]| headline(findings).replace(GLUE, " ");
        let [good, note, _] = findings();
        let not_fit = "This host is not fit to measure on: 1 obstacle to remove first; 1 note";
        assert_eq!(said(&[good.clone(), note, blocks]), not_fit);
        assert_eq!(said(&[good]), "This host is fit to measure on: nothing to change");
    }

    #[test]
    fn programs_read_the_worst_state_and_each_finding() {
        let json: serde_json::Value = serde_json::from_str(&doctor_json(&findings())).unwrap();
        assert_eq!(json["state"], "caution");
        assert_eq!(json["findings"][0]["change"], serde_json::Value::Null);
        assert_eq!(json["findings"][2]["code"], "file-system");
        assert_eq!(json["findings"][2]["cost"], "much");
    }
}
