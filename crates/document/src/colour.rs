//! Colours of a terminal, which only repeat what words and signs say.

use crate::cell::Tint;

/// Whether the text carries colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Characters only.
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// The escape sequences of reports: those of each colour, and the end of all.
pub const COLOUR_SEQUENCES: [&str; 7] = [
    "\u{1b}[0m",
    "\u{1b}[1m",
    "\u{1b}[2m",
    "\u{1b}[31m",
    "\u{1b}[32m",
    "\u{1b}[33m",
    "\u{1b}[1;33m",
];

/// What a colour says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Paint {
    /// The answer.
    Strong,
    /// What the answer may not hold for.
    Caution,
    /// Slower, worse.
    Bad,
    /// Faster, better.
    Good,
    /// Undecided.
    Doubt,
    /// Not worth a look.
    Faint,
    /// Nothing.
    None,
}

impl Paint {
    fn code(self) -> Option<&'static str> {
        match self {
            Paint::Strong => Some("1"),
            Paint::Caution => Some("1;33"),
            Paint::Bad => Some("31"),
            Paint::Good => Some("32"),
            Paint::Doubt => Some("33"),
            Paint::Faint => Some("2"),
            Paint::None => None,
        }
    }
}

/// Colours a text, and leaves line feeds outside of the colour.
pub(crate) fn paint_text(text: &str, paint: Paint, colour: Colour) -> String {
    let (Colour::Ansi, Some(code)) = (colour, paint.code()) else {
        return text.to_owned();
    };
    let mut painted = String::new();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        painted.push_str(&format!("\u{1b}[{code}m{bare}\u{1b}[0m{}", &line[bare.len()..]));
    }
    painted
}

impl Tint {
    /// Its colour. Where the sign beside a number is enough, there is none.
    pub(crate) fn text_paint(self) -> Paint {
        match self {
            Tint::Worse => Paint::Bad,
            Tint::Better => Paint::Good,
            Tint::Near => Paint::Faint,
            Tint::Undecided => Paint::Doubt,
            _ => Paint::None,
        }
    }
}
