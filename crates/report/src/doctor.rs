//! The findings about a host, for people and for programs.

use dbdyno_model::Finding;
use serde::Serialize;

use crate::layout::{paragraph, printable};

/// Version of the JSON; raised when a name changes its meaning.
const VERSION: u32 = 1;
const FIRST: usize = 28;

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

/// One paragraph for each finding, below it what to change and what it costs not to. Ends with a
/// line feed.
pub fn doctor_text(findings: &[Finding], width: usize) -> String {
    let hanging = " ".repeat(FIRST);
    let mut text = String::new();
    for finding in findings {
        let first = format!("{:<8} {:<18} ", finding.state(), finding.code);
        text.push_str(&paragraph(&printable(&finding.found), width, &first, &hanging));
        if let Some(advice) = &finding.advice {
            for (word, what) in [("change", &advice.change), ("cost", &advice.cost)] {
                let first = format!("{hanging}{word:<8}");
                text.push_str(&paragraph(what, width, &first, &" ".repeat(FIRST + 8)));
            }
        }
    }
    let count = |state: &str| findings.iter().filter(|found| found.state() == state).count();
    let states = ["blocks", "caution", "note"].map(|state| format!("{} {state}", count(state)));
    text.push_str(&format!(
        "\n{} of {} good; {}\n",
        count("good"),
        findings.len(),
        states.join(", ")
    ));
    text
}

/// The same as JSON, indented, ending with a line feed. `state` is that of the worst finding.
pub fn doctor_json(findings: &[Finding]) -> String {
    let worst = findings.iter().max_by_key(|finding| finding.severity);
    let report = Report {
        version: VERSION,
        state: worst.map_or("good", Finding::state),
        findings: findings
            .iter()
            .map(|finding| Entry {
                code: &finding.code,
                state: finding.state(),
                found: &finding.found,
                change: finding.advice.as_ref().map(|advice| advice.change.as_str()),
                cost: finding.advice.as_ref().map(|advice| advice.cost.as_str()),
            })
            .collect(),
    };
    let mut json = serde_json::to_string_pretty(&report).expect("texts can be written as JSON");
    json.push('\n');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Severity;

    fn findings() -> [Finding; 2] {
        let found = "a disk with \u{1b}[31m in its name";
        [
            Finding::good("processors", "2 × X"),
            Finding::bad(Severity::Caution, "file-system", found, "use another", "much"),
        ]
    }

    #[test]
    fn advice_stands_below_what_was_found() {
        let text = doctor_text(&findings(), 60);
        assert_eq!(
            text,
            "good     processors         2 × X\n\
             caution  file-system        a disk with \u{fffd}[31m in its name\n\
             \u{20}                           change  use another\n\
             \u{20}                           cost    much\n\
             \n1 of 2 good; 0 blocks, 1 caution, 0 note\n"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 60));
    }

    #[test]
    fn programs_read_the_worst_state_and_each_finding() {
        let json: serde_json::Value = serde_json::from_str(&doctor_json(&findings())).unwrap();
        assert_eq!(json["state"], "caution");
        assert_eq!(json["findings"][0]["change"], serde_json::Value::Null);
        assert_eq!(json["findings"][1]["code"], "file-system");
        assert_eq!(json["findings"][1]["cost"], "much");
    }
}
