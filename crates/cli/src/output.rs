//! Data to stdout, talk to stderr, by the only writer there is.
//!
//! ```text
//!   text of ours and of servers ──▶ plain ──▶ stdout, stderr
//!                                     ├─ what steers a terminal ──▶ U+FFFD; colours of ours stay
//!                                     ├─ `::error`, `##vso[` …  ──▶ no command of a CI's runner
//!                                     └─ talk: more than 16 000 characters ──▶ cut; a password
//!                                        that a server repeats ──▶ `***`
//! ```
//!
//! What comes from outside is made harmless where it enters (`model::foreign`) and where a report
//! lays it out. This is the second line: whatever is forgotten there, no byte reaches a terminal
//! that was not looked at here.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use dbdyno_document::terminal::{self, COLOUR_SEQUENCES, Colour, TextStyle};
use dbdyno_document::{Document, csv, layout, markdown};
use dbdyno_model::Secret;
use dbdyno_model::foreign::{self, is_nonprinting, truncate_text};
use dbdyno_report::CellOrder;

use crate::args::{Color, Format, ReportFormat, Section, Shape, ToldFormat};
use crate::failure::Failure;
use crate::files;
use crate::screen::{self, text_style};

/// Characters of a message; a longer one hides what stands before it.
const TALK_MOST: usize = 16_000;

/// What a text may do besides being shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TerminalRights {
    /// Nothing.
    Nothing,
    /// It has the colours of reports.
    Colours,
    /// Its lines may be commands of a workflow of GitHub.
    Commands,
}

impl TerminalRights {
    /// What the shape of an answer needs.
    fn by(format: ToldFormat, style: &TextStyle) -> TerminalRights {
        match format {
            ToldFormat::Github => TerminalRights::Commands,
            ToldFormat::Text => TerminalRights::colours(style),
            _ => TerminalRights::Nothing,
        }
    }

    /// What a text of this style needs.
    fn colours(style: &TextStyle) -> TerminalRights {
        match style.colour {
            Colour::Ansi => TerminalRights::Colours,
            Colour::Plain => TerminalRights::Nothing,
        }
    }
}

/// Prints data.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    write(text, TerminalRights::Nothing)
}

/// Lines for people. Those that are too long are wrapped, where it is known how wide the screen is:
/// in a pipe a line stays a line.
pub(crate) fn lines(text: String) -> String {
    match screen::columns() {
        Some(width) => layout::wrap_lines(&text, width),
        None => text,
    }
}

/// Prints a text that was laid out in this style.
pub(crate) fn print_styled(text: &str, style: &TextStyle) -> Result<(), Failure> {
    write(text, TerminalRights::colours(style))
}

/// Whether an answer stands on stdout already.
static IS_ANSWERED: AtomicBool = AtomicBool::new(false);

/// Whether an answer was printed: what fails later has no place on stdout, where one document is.
pub(crate) fn is_answered() -> bool {
    IS_ANSWERED.load(Ordering::Relaxed)
}

/// Prints an answer in the shape that was asked for.
pub(crate) fn print_answer(text: &str, format: ToldFormat, color: Color) -> Result<(), Failure> {
    IS_ANSWERED.store(true, Ordering::Relaxed);
    write(text, TerminalRights::by(format, &text_style(color)))
}

fn write(text: &str, admitted: TerminalRights) -> Result<(), Failure> {
    // A password that is a word, such as `postgres`, is one of the answer's own, too.
    let text = without(text, |password| password.contains(|c: char| !c.is_ascii_alphabetic()));
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(plain(&text, admitted).as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::Write("to stdout".to_owned(), error))
}

/// Passwords of this process, of its accounts on servers that others run.
static PASSWORDS: Mutex<Vec<Secret>> = Mutex::new(Vec::new());
/// Shorter ones are words: to take them out of a message would show them.
const PASSWORD_CHARS_LEAST: usize = 8;

/// Has no message show this password, whoever repeats it: a server may, in an error.
pub(crate) fn hide_password(password: &Secret) {
    if password.expose().chars().count() >= PASSWORD_CHARS_LEAST {
        let mut known = PASSWORDS.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(password) {
            known.push(password.clone());
        }
    }
}

fn without_passwords(text: &str) -> Cow<'_, str> {
    without(text, |_| true)
}

/// The text without those passwords that are looked for.
fn without(text: &str, is_sought: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let known = PASSWORDS.lock().unwrap_or_else(PoisonError::into_inner);
    let sought = known.iter().map(Secret::expose).filter(|password| is_sought(password));
    sought.fold(Cow::Borrowed(text), |text, password| {
        if text.contains(password) { Cow::Owned(text.replace(password, "***")) } else { text }
    })
}

/// Says something to whoever watches. Whether somebody still does changes nothing in what is done.
pub(crate) fn say_text(text: &str) {
    let text = without_passwords(text);
    let text = truncate_text(&text, TALK_MOST);
    let _ = std::io::stderr().lock().write_all(line(&text, TerminalRights::Nothing).as_bytes());
}

/// Says something in whole words, on a terminal. What is meant to be copied, such as a command,
/// is said by [`say_text`].
pub(crate) fn say_lines(text: &str) {
    match screen::columns_of_talk() {
        Some(width) => say_text(layout::wrap_lines(text, width).trim_end()),
        None => say_text(text),
    }
}

/// Says what was laid out in this style, of any length.
pub(crate) fn say_styled(text: &str, style: &TextStyle) {
    let text = line(text, TerminalRights::colours(style));
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Asks for something on the same line.
pub(crate) fn write_prompt(question: &str) {
    let _ = std::io::stderr().lock().write_all(plain(question, TerminalRights::Nothing).as_bytes());
}

fn line(text: &str, admitted: TerminalRights) -> String {
    format!("{}\n", plain(text, admitted))
}

/// The text, of which a terminal and the runner of a workflow only show what they get.
fn plain(text: &str, admitted: TerminalRights) -> Cow<'_, str> {
    let has_commands = text.contains("::") || text.contains("##");
    if !has_commands && text.chars().all(|c: char| c == '\n' || c == '\t' || !is_nonprinting(c)) {
        return Cow::Borrowed(text);
    }
    let shown: String = text.split_inclusive('\n').map(|line| plain_line(line, admitted)).collect();
    Cow::Owned(shown)
}

/// One line with its end.
fn plain_line(line: &str, admitted: TerminalRights) -> String {
    let (body, end) = match (line.strip_suffix("\r\n"), line.strip_suffix('\n')) {
        (Some(body), _) => (body, "\r\n"),
        (None, Some(body)) => (body, "\n"),
        (None, None) => (line, ""),
    };
    let body = match admitted {
        TerminalRights::Colours => coloured(body),
        TerminalRights::Nothing | TerminalRights::Commands => foreign::lines(body).into_owned(),
    };
    // Commands of GitHub stand at the beginning of a line, the older ones, those of Azure and of
    // TeamCity anywhere in it.
    let body = match body.trim_start().strip_prefix("::") {
        Some(rest) if admitted != TerminalRights::Commands => format!(": :{rest}"),
        _ => body,
    };
    let words = ["##[", "##vso[", "##teamcity["];
    let body =
        words.iter().fold(body, |body, word| body.replace(word, &format!("# {}", &word[1..])));
    body + end
}

/// The text with the colours that reports have, and nothing else that steers.
fn coloured(text: &str) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        shown.push_str(&foreign::lines(&rest[..at]));
        rest = &rest[at..];
        let known = COLOUR_SEQUENCES.iter().find(|known| rest.starts_with(**known));
        shown.push_str(known.copied().unwrap_or("\u{fffd}"));
        rest = &rest[known.map_or(1, |known| known.len())..];
    }
    shown.push_str(&foreign::lines(rest));
    shown
}

/// A line of talk behind a word that says what it is: `note   …`.
pub(crate) fn labelled_line(word: &str, text: &str) -> String {
    format!("{word:<6} {text}")
}

/// Says what went wrong.
pub(crate) fn say_error(text: &str) {
    if !text.is_empty() {
        say_lines(&format!("dbdyno: {text}"));
    }
}

/// The order that `--worst-first` asks for.
pub(crate) fn cell_order(worst_first: bool) -> CellOrder {
    if worst_first { CellOrder::WorstFirst } else { CellOrder::Groups }
}

/// The part of a report that this flag names.
pub(crate) fn report_section(section: &Section) -> dbdyno_report::Section {
    match section {
        Section::Cost => dbdyno_report::Section::Cost,
        Section::Doubt => dbdyno_report::Section::Doubt,
        Section::Engine => dbdyno_report::Section::Engine,
        Section::Facts => dbdyno_report::Section::Facts,
        Section::Notes => dbdyno_report::Section::Notes,
    }
}

/// A document for a terminal, of a command that has no colours.
pub(crate) fn plain_text(document: &Document) -> String {
    terminal::render_document(
        document,
        &TextStyle { colour: Colour::Plain, width: screen::width() },
    )
}

/// The same of a list: in a pipe each of its lines stays one.
pub(crate) fn list_text(document: &Document) -> String {
    let width = screen::columns().unwrap_or(usize::MAX);
    terminal::render_document(document, &TextStyle { colour: Colour::Plain, width })
}

/// Prints a result in the format that was asked for.
pub(crate) fn print_document(
    shape: Shape,
    document: impl FnOnce() -> Document,
    json: impl FnOnce() -> String,
) -> Result<(), Failure> {
    let style = text_style(shape.color);
    let text = match shape.format {
        Format::Text => terminal::render_document(&document(), &style),
        Format::Markdown => markdown::render_document(&document()),
        Format::Csv => csv::render_document(&document()),
        Format::Json => json(),
    };
    print_styled(&text, &style)
}

/// Prints a result that has no rows for a spreadsheet in the format that was asked for.
pub(crate) fn print_report(
    format: ReportFormat,
    document: impl FnOnce() -> Document,
    json: impl FnOnce() -> String,
) -> Result<(), Failure> {
    print(&match format {
        ReportFormat::Text => plain_text(&document()),
        ReportFormat::Markdown => markdown::render_document(&document()),
        ReportFormat::Json => json(),
    })
}

/// Writes what may be printed by a program of others, such as the runner of a workflow, and says
/// where it is.
pub(crate) fn write_still(path: &Path, text: &str) -> Result<(), Failure> {
    write_page(path, sanitize_text(text).into_owned())
}

/// The text of a file with names that come from outside: who shows it, or the runner of a workflow
/// that prints it, is not steered by it.
pub(crate) fn sanitize_text(text: &str) -> Cow<'_, str> {
    plain(text, TerminalRights::Nothing)
}

/// Writes a page and says where it is.
pub(crate) fn write_page(path: &Path, page: String) -> Result<(), Failure> {
    let shown = path.display().to_string();
    files::write(path, page)?;
    let shown = std::fs::canonicalize(path).map_or(shown, |path| path.display().to_string());
    say_text(&format!("report {shown}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_colours_of_ours_reaches_a_terminal() {
        let hostile = "\u{1b}[31ma\u{1b}[0m\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{1b}[8mb\r\nc\rd\te";
        assert_eq!(
            plain(hostile, TerminalRights::Colours),
            "\u{1b}[31ma\u{1b}[0m\u{fffd}]0;x\u{fffd}\u{fffd}2J\u{fffd}\u{fffd}[8mb\r\nc\u{fffd}d\te"
        );
        assert!(!plain(hostile, TerminalRights::Nothing).contains('\u{1b}'));
        assert!(!plain(hostile, TerminalRights::Commands).contains('\u{1b}'));
        assert!(matches!(plain("a\n\tb é", TerminalRights::Nothing), Cow::Borrowed(_)));
    }

    #[test]
    fn nothing_is_a_command_of_a_runner() {
        let hostile = "a\n ::error::b\n##[error]c\nx ##vso[task.setvariable]d ##teamcity[e]\nf::g";
        let shown = plain(hostile, TerminalRights::Nothing);
        assert_eq!(
            shown,
            "a\n: :error::b\n# #[error]c\nx # #vso[task.setvariable]d # #teamcity[e]\nf::g"
        );
        assert_eq!(
            plain("::notice title=a::b\n", TerminalRights::Commands),
            "::notice title=a::b\n"
        );
    }

    #[test]
    fn no_message_shows_a_password_that_a_server_repeats() {
        hide_password(&Secret::new("correct-horse"));
        hide_password(&Secret::new("mysql"));
        let said = "mysql says: denied (using password correct-horse, correct-horse)";
        assert_eq!(without_passwords(said), "mysql says: denied (using password ***, ***)");
    }
}
