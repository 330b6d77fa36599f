//! What stands before the user: how wide it is, and what it is capable of.
//!
//! ```text
//!   COLUMNS ──▶ else the terminal's width ──▶ else nobody knows: a pipe, a file
//!                                               reports are laid out for 100 columns,
//!                                               lines of lists and of prose stay whole
//!
//!   TERM=dumb, or no TERM ──▶ no colours, and lines instead of a bar that is drawn again
//!   NO_COLOR ───────────────▶ no colours, unless --color always asks for them
//! ```
//!
//! This is the only place that asks.

use std::io::IsTerminal as _;

use console::Term;
use dbdyno_document::terminal::{Colour, TextStyle};

use crate::args::Color;

const WIDTH_WHERE_UNKNOWN: usize = 100;

/// Nothing can be laid out for less.
const WIDTH_LEAST: usize = 20;

/// Columns of stdout, where they are known.
pub(crate) fn columns() -> Option<usize> {
    columns_of(&Term::stdout(), std::env::var("COLUMNS").ok().as_deref())
}

/// Columns for which talk is laid out: those of a terminal on stderr. A file gets whole lines.
pub(crate) fn columns_of_talk() -> Option<usize> {
    let is_watched = std::io::stderr().is_terminal();
    let wish = std::env::var("COLUMNS").ok();
    is_watched.then(|| columns_of(&Term::stderr(), wish.as_deref())).flatten()
}

fn columns_of(term: &Term, wish: Option<&str>) -> Option<usize> {
    let wish = wish.and_then(|wish| wish.parse().ok()).filter(|wish| *wish > 0);
    let of_terminal = || term.size_checked().map(|(_, width)| usize::from(width));
    let known = wish.or_else(|| of_terminal().filter(|width| *width > 0));
    known.map(|width| width.max(WIDTH_LEAST))
}

/// Columns for which reports are laid out.
pub(crate) fn width() -> usize {
    columns().unwrap_or(WIDTH_WHERE_UNKNOWN)
}

/// How text looks here.
pub(crate) fn text_style(color: Color) -> TextStyle {
    let wished = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let is_capable = std::io::stdout().is_terminal() && !console::is_dumb();
    let colour = match color {
        Color::Always => Colour::Ansi,
        Color::Auto if wished && is_capable => Colour::Ansi,
        Color::Auto | Color::Never => Colour::Plain,
    };
    TextStyle { colour, width: width() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tests have no terminal that could answer in the place of the variable.
    #[test]
    fn the_variable_counts_where_it_is_a_number() {
        let (reader, writer) = std::io::pipe().unwrap();
        let nobody = Term::read_write_pair(reader, writer);
        let columns = |wish| columns_of(&nobody, wish);
        assert_eq!((columns(Some("80")), columns(Some("3"))), (Some(80), Some(WIDTH_LEAST)));
        for wish in [None, Some("0"), Some(""), Some("wide"), Some("-1")] {
            assert_eq!(columns(wish), None, "{wish:?}");
        }
    }
}
