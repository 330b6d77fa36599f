//! Checks as a report of tests like JUnit's, which Jenkins, GitLab and many others show.
//!
//! Counts stand above what they count: who reads them alone reads the same as who reads the tests.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use dbdyno_document::html::escape;
use dbdyno_document::layout::printable_line;

use super::checks::{CheckStatus, CheckSuite, NamedCheck};

/// The report. Ends with a line feed.
pub fn junit_report(suites: &[CheckSuite]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&NamedCheck> = suites.iter().flat_map(|suite| &suite.checks).collect();
    let _infallible = writeln!(text, "<testsuites name=\"dbdyno\" {}>", counts(&all));
    let (mut suite_names, mut names) = (BTreeSet::new(), BTreeSet::new());
    for suite in suites {
        let checks: Vec<&NamedCheck> = suite.checks.iter().collect();
        let name = own_name(xml(&suite.name), &mut suite_names);
        let _infallible = writeln!(text, "  <testsuite name=\"{name}\" {}>", counts(&checks));
        for check in &checks {
            test_case(&mut text, check, &own_name(xml(&check.name), &mut names));
        }
        text.push_str("  </testsuite>\n");
    }
    text.push_str("</testsuites>\n");
    text
}

/// How many tests there are, of which answers, and how long they took.
fn counts(checks: &[&NamedCheck]) -> String {
    let count = |status| checks.iter().filter(|check| check.status == status).count();
    let seconds: f64 = checks.iter().map(|check| check.seconds).sum();
    format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        checks.len(),
        count(CheckStatus::Failed),
        count(CheckStatus::Error) + count(CheckStatus::NotRun),
        count(CheckStatus::Skipped),
    )
}

/// A name that none before it has: who reads reports takes two tests of one name for one. Two texts
/// may differ in nothing that can be printed.
fn own_name(name: String, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name} #{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let own = names.find(|name| !taken.contains(name)).unwrap_or(name);
    taken.insert(own.clone());
    own
}

fn test_case(text: &mut String, check: &NamedCheck, name: &str) {
    let file = check.file.iter().map(|file| format!(" file=\"{}\"", xml(file)));
    let _infallible = writeln!(
        text,
        "    <testcase classname=\"dbdyno.{}\" name=\"{}\"{} time=\"{:.3}\">",
        xml(&check.class),
        name,
        file.collect::<String>(),
        check.seconds,
    );
    let message = xml(&check.message);
    let answer = match check.status {
        CheckStatus::Failed => format!("      <failure type=\"gate\" message=\"{message}\"/>\n"),
        CheckStatus::Error => format!("      <error type=\"gate\" message=\"{message}\"/>\n"),
        CheckStatus::NotRun => format!("      <error type=\"command\" message=\"{message}\"/>\n"),
        CheckStatus::Skipped => format!("      <skipped message=\"{message}\"/>\n"),
        CheckStatus::Passed | CheckStatus::Worse => String::new(),
    };
    text.push_str(&answer);
    let doubts = check.doubts.iter().map(|doubt| xml(doubt));
    let lines: Vec<String> = std::iter::once(message).chain(doubts).collect();
    let _infallible = writeln!(text, "      <system-out>{}</system-out>", lines.join("\n"));
    text.push_str("    </testcase>\n");
}

/// A text from outside on one line, in text and attributes.
fn xml(text: &str) -> String {
    escape(&printable_line(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_markup() {
        let shown = xml("<a b=\"&\u{0}\u{fffe}'\">\n##[x]");
        assert_eq!(shown, "&lt;a b=&quot;&amp;\u{fffd}\u{fffd}&#39;&quot;&gt; #&#35;[x]");
    }

    #[test]
    fn each_test_has_a_name_of_its_own() {
        let mut taken = BTreeSet::new();
        let names = ["q", "q", "q #2", "q"].map(|name| own_name(name.to_owned(), &mut taken));
        assert_eq!(names, ["q", "q #2", "q #2 #2", "q #3"]);
    }

    /// Every way in which up to three checks may end: counts are those of the elements.
    #[test]
    fn counts_are_those_of_the_elements() {
        const ALL: [CheckStatus; 6] = [
            CheckStatus::Passed,
            CheckStatus::Worse,
            CheckStatus::Failed,
            CheckStatus::Skipped,
            CheckStatus::Error,
            CheckStatus::NotRun,
        ];
        for at in 0..6_usize.pow(3) {
            let statuses = [ALL[at % 6], ALL[at / 6 % 6], ALL[at / 36]];
            let suites = statuses.map(|status| CheckSuite {
                name: "a > b".to_owned(),
                checks: vec![NamedCheck {
                    class: "load".to_owned(),
                    name: "\"c\"".to_owned(),
                    status,
                    message: "<failure".to_owned(),
                    doubts: Vec::new(),
                    file: Some("d&e.csv".to_owned()),
                    seconds: 0.5,
                }],
            });
            let text = junit_report(&suites);
            let elements =
                ["<failure ", "<error ", "<skipped "].map(|one| text.matches(one).count());
            let [failures, errors, skipped] = elements;
            let head = format!(
                "<testsuites name=\"dbdyno\" tests=\"3\" failures=\"{failures}\" \
                 errors=\"{errors}\" skipped=\"{skipped}\" time=\"1.500\">"
            );
            assert!(text.contains(&head), "{text}");
            for (suite, status) in text.split("<testsuite ").skip(1).zip(statuses) {
                let of_any = |all: &[CheckStatus]| usize::from(all.contains(&status));
                let failed = of_any(&[CheckStatus::Failed]);
                let error = of_any(&[CheckStatus::Error, CheckStatus::NotRun]);
                let skipped = of_any(&[CheckStatus::Skipped]);
                let own = format!("failures=\"{failed}\" errors=\"{error}\" skipped=\"{skipped}\"");
                assert!(suite.contains(&own), "{text}");
            }
        }
    }
}
