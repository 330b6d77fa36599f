//! Checks as a report of tests like JUnit's, which Jenkins, GitLab and many others show.
//!
//! Counts stand above what they count: who reads them alone reads the same as who reads the tests.

use std::fmt::Write as _;

use dbdyno_document::html::escape;
use dbdyno_document::layout::printable_line;

use super::checks::{CheckStatus, CheckSuite, NamedCheck};

/// The report. Ends with a line feed.
pub fn junit_report(suites: &[CheckSuite]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let all: Vec<&NamedCheck> = suites.iter().flat_map(|suite| &suite.checks).collect();
    let _infallible = writeln!(text, "<testsuites name=\"dbdyno\" {}>", counts(&all));
    for suite in suites {
        let checks: Vec<&NamedCheck> = suite.checks.iter().collect();
        let (name, counts) = (xml(&suite.name), counts(&checks));
        let _infallible = writeln!(text, "  <testsuite name=\"{name}\" {counts}>");
        checks.iter().for_each(|check| test_case(&mut text, check));
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
        count(CheckStatus::Error),
        count(CheckStatus::Skipped),
    )
}

fn test_case(text: &mut String, check: &NamedCheck) {
    let file = check.file.iter().map(|file| format!(" file=\"{}\"", xml(file)));
    let _infallible = writeln!(
        text,
        "    <testcase classname=\"dbdyno.{}\" name=\"{}\"{} time=\"{:.3}\">",
        xml(&check.class),
        xml(&check.name),
        file.collect::<String>(),
        check.seconds,
    );
    let message = xml(&check.message);
    let answer = match check.status {
        CheckStatus::Failed => format!("      <failure type=\"gate\" message=\"{message}\"/>\n"),
        CheckStatus::Error => format!("      <error type=\"gate\" message=\"{message}\"/>\n"),
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

    /// Every way in which up to three checks may end: counts are those of the elements.
    #[test]
    fn counts_are_those_of_the_elements() {
        const ALL: [CheckStatus; 5] = [
            CheckStatus::Passed,
            CheckStatus::Worse,
            CheckStatus::Failed,
            CheckStatus::Skipped,
            CheckStatus::Error,
        ];
        for at in 0..5_usize.pow(3) {
            let statuses = [ALL[at % 5], ALL[at / 5 % 5], ALL[at / 25]];
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
                let [failed, error, skipped] =
                    [CheckStatus::Failed, CheckStatus::Error, CheckStatus::Skipped]
                        .map(|one| usize::from(status == one));
                let own = format!("failures=\"{failed}\" errors=\"{error}\" skipped=\"{skipped}\"");
                assert!(suite.contains(&own), "{text}");
            }
        }
    }
}
