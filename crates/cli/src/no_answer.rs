//! What a program that reads the answer of a command is told where there is none.
//!
//! ```text
//!   Err(Failure) ──▶ stderr, exit code
//!               └──▶ stdout   junit: an erroneous test · github: an annotation · jsonl: a line
//! ```
//!
//! A runner reads an empty report as nothing wrong. Where an answer stands on stdout already,
//! nothing is added: it is one document.

use clap::ValueEnum as _;
use dbdyno_document::{Document, Element, markdown};

use crate::args::{Color, ToldFormat};
use crate::command_line::Command;
use crate::failure::Failure;
use crate::history::HistoryFormat;
use crate::{ci, output};

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
            Command::Run(flags) => ("run", format_flag(&flags.flags)?),
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
        let checks = dbdyno_report::failure_checks(command, reason);
        let text = match format {
            ToldFormat::Junit if !output::is_answered() => dbdyno_report::junit_report(&checks),
            ToldFormat::Github if !output::is_answered() => {
                let sentence = format!("dbdyno {command} could not be carried out: {reason}");
                ci::github_output(&checks, &ci::workflow_summary(None, &markdown_of(sentence)))?
            }
            ToldFormat::Jsonl => dbdyno_report::error_line(reason),
            _ => return Ok(()),
        };
        output::print_answer(&text, format, Color::Never)
    }
}

/// The format among flags that are not read yet: those behind the file of an experiment.
fn format_flag(flags: &[String]) -> Option<ToldFormat> {
    let mut values = flags.iter().enumerate().filter_map(|(at, flag)| match flag.as_str() {
        "--format" => flags.get(at + 1).map(String::as_str),
        flag => flag.strip_prefix("--format="),
    });
    values.next_back().and_then(|name| ToldFormat::from_str(name, false).ok())
}

fn markdown_of(sentence: String) -> String {
    let sentence = vec![Element::Sentence(sentence.into())];
    markdown::render_document(&Document::from(vec![sentence]))
}
