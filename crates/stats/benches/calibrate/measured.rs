//! Comparisons on real servers whose answer is known, as `cargo xtask calibrate measure` kept them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::table::{Share, Table};

/// What was compared, and how: the rows of the tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Question {
    base: String,
    test: String,
    flags: String,
}

/// One cell of one comparison.
struct Answer {
    verdict: String,
    rqps: f64,
    detectable: Option<f64>,
    seconds: f64,
}

impl Question {
    /// What the test arm loses on purpose, as a share of its rate; 0 for an arm against itself,
    /// `None` where the truth is not known.
    fn planted(&self) -> Option<f64> {
        if self.base == self.test {
            return Some(0.0);
        }
        let (_, planted) = self.test.split_once("slow=")?;
        let percent: f64 = planted.split('%').next()?.parse().ok()?;
        Some(percent / 100.0)
    }
}

/// Reads the file of a folder; an empty section if there is none.
pub(crate) fn section(folder: &Path) -> String {
    let path = folder.join("measured.csv");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut questions: BTreeMap<Question, Vec<Answer>> = BTreeMap::new();
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |name: &str| -> &str {
            let at = columns.iter().position(|column| *column == name);
            at.and_then(|at| cells.get(at)).copied().unwrap_or_default()
        };
        let question = Question {
            base: cell("base").to_owned(),
            test: cell("test").to_owned(),
            flags: cell("flags").to_owned(),
        };
        questions.entry(question).or_default().push(Answer {
            verdict: cell("verdict").to_owned(),
            rqps: cell("rqps").parse().unwrap_or(f64::NAN),
            detectable: cell("detectable").parse().ok(),
            seconds: cell("seconds").parse().unwrap_or(f64::NAN),
        });
    }
    of_equal_arms(&questions) + &of_planted(&questions)
}

fn of_equal_arms(questions: &BTreeMap<Question, Vec<Answer>>) -> String {
    let mut table = Table::new(&[
        "arm against itself",
        "flags",
        "comparisons",
        "false verdicts (95 % interval)",
        "equal",
        "cannot tell",
        "rQPS",
        "found at least",
        "minutes each",
    ]);
    let equal = questions.iter().filter(|(question, _)| question.planted() == Some(0.0));
    for (question, answers) in equal {
        let said = |verdict: &str| count(answers, |answer| answer.verdict == verdict);
        let wrong = count(answers, |a| a.verdict == "slower" || a.verdict == "faster");
        let [low, middle, high] = spread(answers.iter().map(|answer| answer.rqps));
        let [_, finds, _] = spread(answers.iter().filter_map(|answer| answer.detectable));
        table.row(&[
            format!("`{}`", question.base),
            format!("`{}`", question.flags),
            answers.len().to_string(),
            format!("{}: {}", wrong.count, wrong.with_interval()),
            said("equal").count.to_string(),
            said("undecided").count.to_string(),
            format!("{middle:.4} ({low:.4} to {high:.4})"),
            format!("{:.1} %", 100.0 * finds),
            minutes(answers),
        ]);
    }
    format!(
        "## Real servers against themselves\n\n\
         Whole comparisons, each with its own seed, servers and starts.\n\
         rQPS: median and range; *found at least*: the effect that the median comparison \
         finds with a power of 80 %.\n\n\
         {}",
        table.end()
    )
}

fn of_planted(questions: &BTreeMap<Question, Vec<Answer>>) -> String {
    let mut table = Table::new(&[
        "base",
        "planted",
        "flags",
        "comparisons",
        "found (95 % interval)",
        "said faster",
        "found within 1, 2, 5, 10 minutes",
        "rQPS",
        "minutes each",
    ]);
    for (question, answers) in questions {
        let Some(planted) = question.planted().filter(|planted| *planted > 0.0) else { continue };
        let [low, middle, high] = spread(answers.iter().map(|answer| answer.rqps));
        table.row(&[
            format!("`{}`", question.base),
            format!("{:.1} %", 100.0 * planted),
            format!("`{}`", question.flags),
            answers.len().to_string(),
            count(answers, |answer| answer.verdict == "slower").with_interval(),
            count(answers, |answer| answer.verdict == "faster").count.to_string(),
            [1.0, 2.0, 5.0, 10.0].map(|minutes| found_within(answers, minutes)).join(", "),
            format!("{middle:.4} ({low:.4} to {high:.4})"),
            minutes(answers),
        ]);
    }
    format!(
        "## Real servers with a planted loss\n\n\
         The test arm delays its answers by this share on purpose (`slow=`).\n\
         Minutes are those of the whole command, including servers and tables.\n\n\
         {}",
        table.end()
    )
}

/// How many had found the loss when so much time was gone.
fn found_within(answers: &[Answer], minutes: f64) -> String {
    let found = |answer: &&Answer| answer.verdict == "slower" && answer.seconds <= 60.0 * minutes;
    answers.iter().filter(found).count().to_string()
}

fn count(answers: &[Answer], holds: impl Fn(&Answer) -> bool) -> Share {
    let count = answers.iter().filter(|answer| holds(answer)).count() as u64;
    Share { count, of: answers.len() as u64 }
}

/// Least, median, most.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    [at(0), at(values.len() / 2), at(values.len().saturating_sub(1))]
}

fn minutes(answers: &[Answer]) -> String {
    let [_, seconds, _] = spread(answers.iter().map(|answer| answer.seconds));
    format!("{:.1}", seconds / 60.0)
}
