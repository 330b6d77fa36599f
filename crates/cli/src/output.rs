//! Data to stdout, talk to stderr.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use dbdyno_model::{Comparison, Gate, History, Run};
use dbdyno_report::{Colour, HistoryExtent, Order, TextStyle, View};

use crate::args::{Color, Format, Section, Shape, Told, ToldFormat};
use crate::ci;
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

/// Says something to whoever watches. Whether somebody still does changes nothing in what is done.
pub(crate) fn say(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = stderr.write_all(format!("{text}\n").as_bytes());
}

/// A line of talk behind a word that says what it is: `note   …`.
pub(crate) fn talk(word: &str, text: &str) -> String {
    format!("{word:<6} {text}")
}

/// Says what went wrong.
pub(crate) fn complain(text: &str) {
    if !text.is_empty() {
        say(&format!("dbdyno: {text}"));
    }
}

/// Prints a comparison in the shape that was asked for, and as much of it for people.
pub(crate) fn comparison(
    run: &Run,
    comparison: &Comparison,
    gate: Option<Gate>,
    told: &Told,
) -> Result<(), Failure> {
    let view = View::new(run, comparison);
    let color = told.color;
    let order = order(told.worst_first);
    let sections: Vec<dbdyno_report::Section> = told.section.iter().map(section).collect();
    let markdown = || match told.all {
        true => dbdyno_report::markdown(&view),
        false => dbdyno_report::first_markdown(&view, order),
    };
    print(&match told.format {
        ToldFormat::Text if told.all => dbdyno_report::text(&view, &style(color)),
        ToldFormat::Text if sections.is_empty() => {
            dbdyno_report::first_screen(&view, order, &style(color))
        }
        ToldFormat::Text => dbdyno_report::sections(&view, &sections, order, &style(color)),
        ToldFormat::Json => dbdyno_report::json(&view),
        ToldFormat::Jsonl => ci::line(&dbdyno_report::json(&view)),
        ToldFormat::Csv => dbdyno_report::csv(&view),
        ToldFormat::Markdown => markdown(),
        ToldFormat::Github => {
            let checked = ci::checked(view.clone(), comparison, gate);
            ci::github(&[checked], &markdown())?
        }
        ToldFormat::Junit => dbdyno_report::junit(&[ci::checked(view, comparison, gate)]),
        ToldFormat::Benchfmt => dbdyno_report::benchfmt(&[ci::checked(view, comparison, gate)]),
    })
}

/// The order that `--worst-first` asks for.
pub(crate) fn order(worst_first: bool) -> Order {
    if worst_first { Order::WorstFirst } else { Order::Groups }
}

/// The part of a report that this flag names.
pub(crate) fn section(section: &Section) -> dbdyno_report::Section {
    match section {
        Section::Cost => dbdyno_report::Section::Cost,
        Section::Doubt => dbdyno_report::Section::Doubt,
        Section::Engine => dbdyno_report::Section::Engine,
        Section::Facts => dbdyno_report::Section::Facts,
        Section::Notes => dbdyno_report::Section::Notes,
    }
}

/// Prints a history in the shape that was asked for.
pub(crate) fn history(
    history: &History,
    extent: HistoryExtent,
    shape: Shape,
) -> Result<(), Failure> {
    print(&match shape.format {
        Format::Text => dbdyno_report::history_text(history, extent, &style(shape.color)),
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
