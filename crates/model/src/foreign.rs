//! Text that a server, an archive or a file of somebody else wrote.
//!
//! ```text
//!   server ──▶ Foreign          one line, at most so long, nothing in it steers a terminal
//!          ──▶ facts, warnings  the same, of several lines (`lines`)
//!   all of it ──▶ report (`one_line`) ──▶ the one writer of `cli`, which looks once more
//! ```
//!
//! A version with an escape sequence in it could set the title of a terminal, hide what follows, or
//! answer for whoever types; a mark of direction can make `lam` of `mal`; a line feed can make up a
//! line of dbdyno, or a command of continuous integration. What does so becomes U+FFFD, of which
//! everybody knows that something is missing.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

/// Characters of a message of a server that are kept.
const MESSAGE_MOST: usize = 2000;

/// Whether a character moves or hides others instead of showing itself: control characters (C0,
/// DEL, C1), separators of lines, marks of direction, what has no width, tags. Joiners (U+200C,
/// U+200D) are letters of some languages.
pub fn is_nonprinting(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
                | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// The text on one line, of what shows itself: a break or a tab is a space.
pub fn one_line(text: &str) -> Cow<'_, str> {
    cleaned(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// The text of what shows itself, with its lines and tabs.
pub fn lines(text: &str) -> Cow<'_, str> {
    cleaned(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

fn cleaned(text: &str, kept: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if !text.contains(is_nonprinting) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        let is_kept = !is_nonprinting(c);
        shown.push(if is_kept { c } else { kept(c).unwrap_or(char::REPLACEMENT_CHARACTER) });
    }
    Cow::Owned(shown)
}

/// At most the first `most` characters; of more, how many are left out.
pub fn truncate_text(text: &str, most: usize) -> Cow<'_, str> {
    // A character has at most four bytes: most texts need not be counted.
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let more = text[end..].chars().count();
            Cow::Owned(format!("{} … ({more} characters more)", &text[..end]))
        }
    }
}

/// A message of a server: one line of what shows itself, at most 2 000 characters of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreign(String);

impl Foreign {
    /// The message as it may be shown.
    pub fn new(text: &str) -> Foreign {
        Foreign(truncate_text(&one_line(text), MESSAGE_MOST).into_owned())
    }

    /// Puts words of our own behind it, which are never cut off.
    pub fn push_str(&mut self, ours: &str) {
        self.0.push_str(&one_line(ours));
    }
}

impl From<String> for Foreign {
    fn from(text: String) -> Self {
        Foreign::new(&text)
    }
}

impl From<&str> for Foreign {
    fn from(text: &str) -> Self {
        Foreign::new(text)
    }
}

impl From<Foreign> for String {
    fn from(foreign: Foreign) -> Self {
        foreign.0
    }
}

impl Deref for Foreign {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers() {
        let hostile =
            "a\u{1b}]0;title\u{7}\u{9b}31m\u{202e}b\r\n::error::c\td\u{7f}\u{2028}e\u{ad}";
        assert_eq!(
            one_line(hostile),
            "a\u{fffd}]0;title\u{fffd}\u{fffd}31m\u{fffd}b  ::error::c d\u{fffd}\u{fffd}e\u{fffd}"
        );
        assert_eq!(lines("a\r\n\tb\u{1b}"), "a\u{fffd}\n\tb\u{fffd}");
        for harmless in ["grüße 名前 µ", "می\u{200c}خواهم", "5\u{a0}%", "👩\u{200d}🔬"]
        {
            assert!(matches!(one_line(harmless), Cow::Borrowed(_)), "{harmless}");
        }
    }

    #[test]
    fn a_message_is_as_long_as_somebody_reads() {
        let long = Foreign::new(&"é\n".repeat(1 << 20));
        assert_eq!(long.chars().take(MESSAGE_MOST).count(), MESSAGE_MOST);
        assert!(long.ends_with(" … (2095152 characters more)"), "{}", long.len());
        let mut advised = Foreign::new("no\u{1b}[2J");
        advised.push_str("; say tls=required");
        assert_eq!(advised.to_string(), "no\u{fffd}[2J; say tls=required");
    }
}
