//! What continuous integration is told, and where.

use clap::ValueEnum as _;
use dbdyno_document::{Document, Element, markdown};
use dbdyno_model::{Comparison, Gate, RunPair};
use dbdyno_report::{CheckSuite, GateCheck, GateResult, View};

use crate::args::{Color, ToldFormat};
use crate::command_line::Command;
use crate::failure::Failure;
use crate::history::HistoryFormat;
use crate::{files, output};

/// Where a workflow of GitHub wants its summary.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// How programs read the answer of a command, if they were meant to.
#[derive(Clone, Copy)]
pub(crate) struct ReadByPrograms {
    /// Its first word.
    command: &'static str,
    format: ToldFormat,
}

impl ReadByPrograms {
    /// What was asked for by the flags of a command.
    pub(crate) fn of_command(command: &Command) -> Option<ReadByPrograms> {
        let (command, format) = match command {
            Command::Compare(flags) => ("compare", flags.told.format),
            Command::Resume(flags) => ("resume", flags.told.format),
            Command::Show(flags) => ("show", flags.told.format),
            Command::Run(flags) => ("run", named_format(&flags.flags)?),
            Command::History(flags) if flags.format == HistoryFormat::Github => {
                ("history", ToldFormat::Github)
            }
            Command::History(flags) if flags.format == HistoryFormat::Junit => {
                ("history", ToldFormat::Junit)
            }
            _ => return None,
        };
        Some(ReadByPrograms { command, format })
    }

    /// Tells a program why there is no answer: nothing on stdout would be read as nothing wrong.
    ///
    /// # Errors
    /// A stdout, or a summary of a workflow, that cannot be written.
    pub(crate) fn print_failure(self, reason: &str) -> Result<(), Failure> {
        let ReadByPrograms { command, format } = self;
        let checks = || dbdyno_report::failure_checks(command, reason);
        let text = match format {
            ToldFormat::Junit if !output::is_answered() => dbdyno_report::junit_report(&checks()),
            ToldFormat::Github if !output::is_answered() => {
                let sentence = format!("dbdyno {command} could not be carried out: {reason}");
                github_output(&checks(), &workflow_summary(None, &in_markdown(sentence)))?
            }
            ToldFormat::Jsonl => dbdyno_report::error_line(reason),
            _ => return Ok(()),
        };
        output::print_answer(&text, format, Color::Never)
    }
}

/// The format among flags that are not read yet: those behind the file of an experiment.
fn named_format(flags: &[String]) -> Option<ToldFormat> {
    let values = flags.iter().enumerate().filter_map(|(at, flag)| match flag.as_str() {
        "--format" => flags.get(at + 1).map(String::as_str),
        flag => flag.strip_prefix("--format="),
    });
    values.last().and_then(|name| ToldFormat::from_str(name, false).ok())
}

fn in_markdown(sentence: String) -> String {
    let sentence = vec![Element::Sentence(sentence.into())];
    markdown::render_document(&Document::from(vec![sentence]))
}

/// Two arms, and what the gate says of their cells.
pub(crate) fn gate_check(
    pair: RunPair<'_>,
    comparison: &Comparison,
    gate: Option<Gate>,
) -> GateCheck {
    GateCheck {
        view: View::new(pair, comparison),
        gate,
        unmeasured: pair.plan().cells_beside(comparison.cells.iter().map(|of| &of.cell)),
        outcomes: gate
            .into_iter()
            .flat_map(|gate| comparison.cells.iter().map(move |cell| gate.judge_cell(cell)))
            .collect(),
    }
}

/// What a summary says: the gate first, where there is one.
pub(crate) fn workflow_summary(gate: Option<&GateResult>, markdown: &str) -> String {
    let gate = gate.map(dbdyno_report::gate_markdown).unwrap_or_default();
    output::sanitize_text(&format!("{gate}{markdown}")).into_owned()
}

/// Annotations for stdout; the summary is appended where the workflow wants it, or stands behind
/// them where none runs.
pub(crate) fn github_output(checks: &[CheckSuite], summary: &str) -> Result<String, Failure> {
    let annotations = dbdyno_report::github_annotations(checks);
    let Some(path) = std::env::var_os(SUMMARY).filter(|path| !path.is_empty()) else {
        return Ok(format!("{annotations}\n{summary}"));
    };
    files::append(path.as_ref(), format!("{summary}\n"))?;
    Ok(annotations)
}
