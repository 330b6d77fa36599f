//! Data to stdout, talk to stderr.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use dbdyno_model::{Comparison, History, Run};
use dbdyno_report::{Colour, TextStyle, View};

use crate::args::{Color, Format, Shape};
use crate::failure::Failure;

const WIDTH_WITHOUT_TERMINAL: usize = 100;

/// Prints data.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(text.as_bytes())
        .and_then(|()| stdout.flush())
        .map_err(|error| Failure::Write("to stdout".to_owned(), error))
}

/// Says something to whoever watches.
#[expect(clippy::print_stderr, reason = "talk goes to stderr")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Says what went wrong.
pub(crate) fn complain(text: &str) {
    if !text.is_empty() {
        say(&format!("dbdyno: {text}"));
    }
}

/// Prints a comparison in the shape that was asked for.
pub(crate) fn comparison(run: &Run, comparison: &Comparison, shape: Shape) -> Result<(), Failure> {
    let view = View::new(run, comparison);
    print(&match shape.format {
        Format::Text => dbdyno_report::text(&view, &style(shape.color)),
        Format::Json => dbdyno_report::json(&view),
        Format::Csv => dbdyno_report::csv(&view),
        Format::Markdown => dbdyno_report::markdown(&view),
    })
}

/// Prints a history in the shape that was asked for.
pub(crate) fn history(history: &History, shape: Shape) -> Result<(), Failure> {
    print(&match shape.format {
        Format::Text => dbdyno_report::history_text(history, &style(shape.color)),
        Format::Json => dbdyno_report::history_json(history),
        Format::Csv => dbdyno_report::history_csv(history),
        Format::Markdown => dbdyno_report::history_markdown(history),
    })
}

/// Writes a page and says where it is.
pub(crate) fn write_page(path: &Path, page: String) -> Result<(), Failure> {
    let shown = path.display().to_string();
    std::fs::write(path, page).map_err(|error| Failure::Write(shown.clone(), error))?;
    let shown = std::fs::canonicalize(path).map_or(shown, |path| path.display().to_string());
    say(&format!("report {shown}"));
    Ok(())
}

/// Columns of the terminal.
pub(crate) fn width() -> usize {
    let size = console::Term::stdout().size_checked();
    size.map_or(WIDTH_WITHOUT_TERMINAL, |(_, width)| width as usize)
}

/// How text looks here.
pub(crate) fn style(color: Color) -> TextStyle {
    let wished = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colour = match color {
        Color::Always => Colour::Ansi,
        Color::Auto if wished && std::io::stdout().is_terminal() => Colour::Ansi,
        Color::Auto | Color::Never => Colour::Plain,
    };
    TextStyle { colour, width: width() }
}
