//! Text into tokens.
//!
//! ```text
//!   SELECT `c` FROM sbtest1 WHERE id >= ?     Word · Word · Word · Word · Word · Word · >= · ?
//! ```
//!
//! A token borrows from the text; only a string that has escapes in it is copied. Comments are
//! passed over but for hints, since one that is not understood must not pass in silence, and for
//! what MySQL executes: the content of `/*! … */` and of `/*!50000 … */` stands in the statement.

use std::borrow::Cow;

use crate::error::{Result, SqlError};

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'s> {
    /// A name or a word of the language.
    Word(&'s str),
    /// A name in backticks, which is never a word of the language.
    Quoted(&'s str),
    /// Digits, and maybe a point among them.
    Number(&'s str),
    /// What stood between quotes.
    Text(Cow<'s, [u8]>),
    /// `?`
    Mark,
    /// One of the symbols that the grammar knows.
    Symbol(&'static str),
    /// Nothing follows.
    End,
}

/// Longer ones first.
const SYMBOLS: [&str; 18] = [
    "<=>", "<=", ">=", "<>", "!=", "(", ")", ",", ".", "=", "<", ">", "+", "-", "*", "/", "%", ";",
];

/// Takes tokens from the front of a text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'s> {
    text: &'s str,
    at: usize,
    /// Where the last token begins, or what was to be one.
    began: usize,
    /// Where the last token ends.
    ended: usize,
    /// Where the `/*!` begins within which the next token stands.
    executed: Option<usize>,
}

/// What is said for later releases than this is passed over, as MySQL 8.0 does.
const RELEASE: u32 = 80_099;

impl<'s> Lexer<'s> {
    pub(super) fn new(text: &'s str) -> Lexer<'s> {
        Lexer { text, at: 0, began: 0, ended: 0, executed: None }
    }

    /// What was taken since this place, as it is written.
    pub(super) fn text_since(&self, began: usize) -> &'s str {
        self.text[began..self.ended.max(began)].trim_ascii()
    }

    /// Where the last token begins, or what was to be one.
    pub(super) fn token_start(&self) -> usize {
        self.began
    }

    /// The next token.
    pub(super) fn next_token(&mut self) -> Result<Token<'s>> {
        self.ended = self.at;
        self.pass_over()?;
        let rest = &self.text[self.at..];
        self.began = self.at;
        let Some(&first) = rest.as_bytes().first() else { return Ok(Token::End) };
        if first.is_ascii_alphabetic() || matches!(first, b'_' | b'@') {
            let word = self.run(rest, is_of_word);
            let is_quoted = rest[word.len()..].starts_with(['\'', '"']);
            if is_quoted && begins_literal(word) {
                let literal = format!("a literal that begins with {word}");
                return Err(SqlError::Unknown(literal));
            }
            return Ok(Token::Word(word));
        }
        if first.is_ascii_digit() {
            let number = self.run(rest, |byte| byte.is_ascii_digit() || byte == b'.');
            let behind = &rest[number.len()..];
            if behind.bytes().next().is_some_and(is_of_word) {
                // The rest would be a name of its own: `SELECT 0x41` answered 0.
                let word = format!("{number}{}", self.run(behind, is_of_word));
                return Err(SqlError::Unknown(format!(
                    "{word}: a number in hexadecimal, in binary or with an exponent, or a name \
                     that begins with a digit"
                )));
            }
            return Ok(Token::Number(number));
        }
        match first {
            b'?' => {
                self.at += 1;
                Ok(Token::Mark)
            }
            b'\'' | b'"' => self.string(rest, first),
            b'`' => {
                let name = &rest[1..];
                let end = name.find('`').ok_or_else(|| self.open("`"))?;
                self.at += end + 2;
                Ok(Token::Quoted(&name[..end]))
            }
            _ => {
                let known = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
                let symbol = *known.ok_or_else(|| {
                    let character = rest.chars().next().unwrap_or_default();
                    SqlError::Unknown(format!("the character {character:?}"))
                })?;
                self.at += symbol.len();
                Ok(Token::Symbol(symbol))
            }
        }
    }

    /// Passes over blanks and comments.
    fn pass_over(&mut self) -> Result<()> {
        loop {
            let rest = self.text[self.at..].trim_ascii_start();
            self.at = self.text.len() - rest.len();
            self.began = self.at;
            let is_dashed = rest
                .strip_prefix("--")
                .is_some_and(|after| after.bytes().next().is_none_or(|byte| byte <= b' '));
            if is_dashed || rest.starts_with('#') {
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else if let Some(inside) = rest.strip_prefix("/*") {
                self.comment(inside)?;
            } else if rest.starts_with("*/") && self.executed.take().is_some() {
                self.at += 2;
            } else if rest.is_empty() && self.executed.is_some() {
                self.at = self.executed.unwrap_or(self.at);
                return Err(self.open("/*!"));
            } else {
                return Ok(());
            }
        }
    }

    /// Passes over a comment, or into one that is executed. `inside` is what follows its `/*`.
    fn comment(&mut self, inside: &'s str) -> Result<()> {
        if inside.starts_with('+') {
            return Err(SqlError::Unknown(format!("the hint /*{}", first_words(inside))));
        }
        if let Some(executed) = inside.strip_prefix('!')
            && self.executed.is_none()
        {
            let digits = executed.bytes().take(6).take_while(u8::is_ascii_digit).count();
            let digits = if digits < 5 { 0 } else { digits };
            let release: u32 = executed[..digits].parse().unwrap_or_default();
            if release <= RELEASE {
                self.executed = Some(self.at);
                self.at += "/*!".len() + digits;
                return Ok(());
            }
        }
        let length = inside.find("*/").ok_or_else(|| self.open("/*"))?;
        self.at += "/*".len() + length + "*/".len();
        Ok(())
    }

    /// The words that come next, for a message.
    pub(super) fn upcoming_words(&self) -> &'s str {
        first_words(self.text[self.at..].trim_ascii_start())
    }

    fn run(&mut self, rest: &'s str, is_inside: impl Fn(u8) -> bool) -> &'s str {
        let end = rest.bytes().position(|byte| !is_inside(byte)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    /// What stands between quotes: a doubled quote is one, and a backslash takes what follows as
    /// MySQL does.
    fn string(&mut self, rest: &'s str, quote: u8) -> Result<Token<'s>> {
        let bytes = &rest.as_bytes()[1..];
        let mut copied: Option<Vec<u8>> = None;
        let mut from = 0;
        let mut at = 0;
        loop {
            let byte = *bytes.get(at).ok_or_else(|| self.open("a quote"))?;
            let literal = match byte {
                b'\\' => escaped(*bytes.get(at + 1).ok_or_else(|| self.open("a quote"))?),
                _ if byte == quote && bytes.get(at + 1) == Some(&quote) => quote,
                _ if byte == quote => break,
                _ => {
                    at += 1;
                    continue;
                }
            };
            let copied = copied.get_or_insert_default();
            copied.extend_from_slice(&bytes[from..at]);
            if byte == b'\\' && matches!(literal, b'%' | b'_') {
                // They are for LIKE, which has an escape of its own.
                copied.push(b'\\');
            }
            copied.push(literal);
            at += 2;
            from = at;
        }
        self.at += at + 2;
        Ok(Token::Text(match copied {
            Some(mut copied) => {
                copied.extend_from_slice(&bytes[from..at]);
                Cow::Owned(copied)
            }
            None => Cow::Borrowed(&bytes[..at]),
        }))
    }

    fn open(&self, what: &str) -> SqlError {
        SqlError::Syntax(format!("{what} is opened and not closed: {}", self.upcoming_words()))
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_$@".contains(&byte)
}

/// Whether a word is a part of the literal whose quote follows it: `X'41'`, `_latin1'a'`.
fn begins_literal(word: &str) -> bool {
    let is_letter = ["b", "n", "x"].iter().any(|letter| word.eq_ignore_ascii_case(letter));
    is_letter || word.starts_with('_')
}

/// The first characters of a text.
fn first_words(text: &str) -> &str {
    let end = text.char_indices().nth(40).map_or(text.len(), |(end, _)| end);
    &text[..end]
}

/// What a character stands for behind a backslash (MySQL 8.4 reference, 11.1.1).
fn escaped(byte: u8) -> u8 {
    match byte {
        b'0' => 0,
        b'b' => 8,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'Z' => 26,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(text);
        let next =
            || lexer.next_token().map(|token| (token != Token::End).then_some(token)).transpose();
        std::iter::from_fn(next).collect::<Result<_>>().unwrap()
    }

    #[test]
    fn tokens_are_words_numbers_texts_and_symbols() {
        let tokens = all("a.`b c`>=1.50 <>?");
        assert_eq!(
            tokens,
            [
                Token::Word("a"),
                Token::Symbol("."),
                Token::Quoted("b c"),
                Token::Symbol(">="),
                Token::Number("1.50"),
                Token::Symbol("<>"),
                Token::Mark,
            ]
        );
    }

    /// What followed the digits was taken for an alias, and `SELECT 1e3` answered 1.
    #[test]
    fn numbers_and_literals_of_other_forms_are_refused_by_name() {
        for text in
            ["0x41", "0b101", "1e3", "1.5E-3", "7a", "X'41'", "b'1'", "N'a'", "_latin1\"a\""]
        {
            let error = Lexer::new(text).next_token().unwrap_err();
            assert!(matches!(error, SqlError::Unknown(_)), "{text}: {error}");
        }
        assert_eq!(all("a1 'b'"), [Token::Word("a1"), Token::Text(b"b".into())]);
        assert_eq!(all("1.5,7)")[0], Token::Number("1.5"));
    }

    #[test]
    fn comments_are_passed_over_and_what_mysql_executes_is_not() {
        let words = |text: &'static str| -> Vec<String> {
            all(text)
                .into_iter()
                .map(|token| match token {
                    Token::Word(word) => word.to_owned(),
                    other => format!("{other:?}"),
                })
                .collect()
        };
        for (text, expected) in [
            ("/* mysql-connector-j */ a /**/ b", "a b"),
            ("a -- rest\nb # rest\n c --", "a b c"),
            ("a /*! b */ c", "a b c"),
            ("a /*!50000 b /* c */ */ d", "a b d"),
            ("a /*!99999 b */ c /*M! d */", "a c"),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
        for wrong in ["/* open", "a /*! b", "/*+ NO_MERGE(t) */"] {
            let mut lexer = Lexer::new(wrong);
            let mut take = || lexer.next_token();
            assert!(take().is_err() || take().is_err() || take().is_err(), "{wrong}");
        }
    }

    #[test]
    fn quotes_are_doubled_or_escaped() {
        let text = |written: &str| match all(written).remove(0) {
            Token::Text(text) => String::from_utf8(text.into_owned()).unwrap(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text("'plain'"), "plain");
        assert_eq!(text("''"), "");
        assert_eq!(text("'it''s'"), "it's");
        assert_eq!(text(r"'a\n\'b\\'"), "a\n'b\\");
        assert_eq!(text(r"'5\% \_'"), r"5\% \_");
        assert_eq!(text("\"say \"\"x\"\"\""), "say \"x\"");
        assert!(Lexer::new("'open").next_token().is_err());
        assert!(Lexer::new("'open\\").next_token().is_err());
        assert!(Lexer::new("`open").next_token().is_err());
        assert!(Lexer::new("a").next_token().is_ok() && Lexer::new("^").next_token().is_err());
    }
}
