//! Text into tokens.
//!
//! ```text
//!   SELECT `c` FROM sbtest1 WHERE id >= ?     Word · Word · Word · Word · Word · Word · >= · ?
//! ```
//!
//! A token borrows from the text; only a string that has escapes in it is copied. There are no
//! comments: hints hide in them, and a hint that is not understood must not pass in silence.

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
const SYMBOLS: [&str; 17] =
    ["<=", ">=", "<>", "!=", "(", ")", ",", ".", "=", "<", ">", "+", "-", "*", "/", "%", ";"];

/// Takes tokens from the front of a text.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'s> {
    text: &'s str,
    at: usize,
    /// Where the last token begins, or what was to be one.
    began: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(text: &'s str) -> Lexer<'s> {
        Lexer { text, at: 0, began: 0 }
    }

    /// Where the last token begins, or what was to be one.
    pub(super) fn began(&self) -> usize {
        self.began
    }

    /// The next token.
    pub(super) fn take(&mut self) -> Result<Token<'s>> {
        let rest = self.text[self.at..].trim_ascii_start();
        self.at = self.text.len() - rest.len();
        self.began = self.at;
        let Some(&first) = rest.as_bytes().first() else { return Ok(Token::End) };
        if first.is_ascii_alphabetic() || matches!(first, b'_' | b'@') {
            let is_inside = |byte: u8| byte.is_ascii_alphanumeric() || b"_$@".contains(&byte);
            return Ok(Token::Word(self.run(rest, is_inside)));
        }
        if first.is_ascii_digit() {
            return Ok(Token::Number(self.run(rest, |byte| byte.is_ascii_digit() || byte == b'.')));
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

    /// The words that come next, for a message.
    pub(super) fn rest(&self) -> &'s str {
        let rest = self.text[self.at..].trim_ascii_start();
        let end = rest.char_indices().nth(40).map_or(rest.len(), |(end, _)| end);
        &rest[..end]
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
        SqlError::Syntax(format!("{what} is opened and not closed: {}", self.rest()))
    }
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
        let next = || lexer.take().map(|token| (token != Token::End).then_some(token)).transpose();
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
        assert!(Lexer::new("'open").take().is_err());
        assert!(Lexer::new("'open\\").take().is_err());
        assert!(Lexer::new("`open").take().is_err());
        assert!(Lexer::new("a").take().is_ok() && Lexer::new("#").take().is_err());
    }
}
