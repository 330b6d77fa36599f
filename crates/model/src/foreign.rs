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

/// Marks upon one character that are kept: letters of Vietnamese, Hebrew or Thai have up to three,
/// and a hundred of them cover the lines above.
const MARKS_MOST: usize = 8;

/// Whether a character moves or hides others instead of showing itself: control characters (C0,
/// DEL, C1), separators of lines, marks of direction, and what has no width, which is what Unicode
/// calls `Default_Ignorable_Code_Point` (DerivedCoreProperties.txt of Unicode 16) and the controls
/// of musical and hieroglyphic notation and of shorthand. Joiners (U+200C, U+200D) and the sign for
/// a colourful picture (U+FE0F) are letters of some languages where they stand behind another one.
pub fn is_nonprinting(c: char) -> bool {
    c.is_control() || is_hidden(c) && !JOINERS.contains(&c)
}

/// What joins the character before it to the next one, or chooses its picture.
const JOINERS: [char; 3] = ['\u{200c}', '\u{200d}', '\u{fe0f}'];

fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}'
            | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a joiner behind this character changes how it looks, and is not merely hidden there: in
/// writing from Arabic to Burmese, in Khmer and Mongolian, and in pictures.
fn is_joined(before: char, joiner: char) -> bool {
    let is_picture = matches!(before, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}');
    let is_letter = matches!(before, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}');
    match joiner {
        '\u{fe0f}' => is_picture,
        '\u{200d}' => is_letter || is_picture || before == '\u{fe0f}',
        _ => is_letter,
    }
}

/// Whether a character is drawn upon the one before it: blocks of combining marks, of letters of
/// any script.
fn is_mark(c: char) -> bool {
    matches!(
        c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}'
            | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{6d6}'..='\u{6dc}'
            | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}'
            | '\u{eb1}' | '\u{eb4}'..='\u{ebc}' | '\u{ec8}'..='\u{ece}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}'
            | '\u{302a}'..='\u{302f}' | '\u{3099}' | '\u{309a}' | '\u{a66f}'..='\u{a672}'
            | '\u{fe20}'..='\u{fe2f}' | '\u{16af0}'..='\u{16af4}' | '\u{1d165}'..='\u{1d169}'
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
    // Most texts have nothing that hides, joins or is drawn upon another one.
    if !text.contains(|c: char| c.is_control() || is_hidden(c) || is_mark(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let (mut before, mut marks) = (' ', 0);
    for c in text.chars() {
        let is_joiner = JOINERS.contains(&c);
        marks = if is_mark(c) || is_joiner { marks + 1 } else { 0 };
        let shows_itself = if is_joiner { is_joined(before, c) } else { !is_nonprinting(c) };
        let is_kept = shows_itself && marks <= MARKS_MOST;
        before = c;
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
        for harmless in [
            "grüße 名前 µ",
            "می\u{200c}خواهم",
            "5\u{a0}%",
            "👩\u{200d}🔬",
            "❤\u{fe0f}\u{200d}🔥",
            "e\u{301}",
        ] {
            assert_eq!(one_line(harmless), harmless);
        }
    }

    #[test]
    fn nothing_hides() {
        let hidden = [
            0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x17b4, 0x180b, 0x180e, 0x180f, 0x200b, 0x200c,
            0x200d, 0x200e, 0x2028, 0x202e, 0x2060, 0x2064, 0x2065, 0x206a, 0x3164, 0xfe00, 0xfe0f,
            0xfeff, 0xffa0, 0xfff0, 0xfffb, 0xffff, 0x13430, 0x1bca0, 0x1d173, 0xe0001, 0xe0041,
            0xe0100, 0xe0fff,
        ];
        for code in hidden {
            let c = char::from_u32(code).unwrap();
            assert_eq!(one_line(&format!("ad{c}min")), "ad\u{fffd}min", "{code:x}");
            assert_eq!(lines(&format!("{c}")), "\u{fffd}", "{code:x}");
        }
        for marks in ["\u{301}", "\u{20dd}", "\u{e34}"] {
            let shown = one_line(&format!("Z{}Z", marks.repeat(5000))).into_owned();
            assert_eq!(shown.matches(marks).count(), MARKS_MOST, "{shown}");
            assert!(shown.ends_with("\u{fffd}Z"));
        }
        let joiners = format!("👩{}", "\u{200d}".repeat(50));
        assert_eq!(one_line(&joiners).matches('\u{200d}').count(), 1, "behind a picture only");
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
