//! Pieces of a statement: SQL, and generators between it.
//!
//! ```text
//!   … VALUES ({seq}, '{{"tag": "{one of a|b}"}}')
//!   ──────────── ───── ─────────────────────── ──
//!   SQL          a parameter                    SQL
//!                      a parameter: literal, one of, literal
//! ```
//!
//! Text in quotes that has generators in it is one parameter, for a placeholder within quotes would
//! be taken for characters. In quotes of another kind, and in comments, a generator is refused.

use std::sync::Arc;

use crate::generator::Generator;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it is.
    Sql(String),
    /// The table of the step, with the offset of its brace.
    Table(usize),
    /// A parameter, with the offset of its brace.
    Parameter(Generator, usize),
}

impl Piece {
    /// How long it is where it is repeated; a parameter is a placeholder.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Piece::Sql(text) => text.len(),
            Piece::Table(_) | Piece::Parameter(..) => 1,
        }
    }
}

/// What is wrong with the pieces, and at which offset.
pub(crate) type Wrong = (usize, String);

/// Appends a text, to the last piece if that is one.
pub(crate) fn push_sql(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Sql(last)) => last.push_str(text),
        _ => pieces.push(Piece::Sql(text.to_owned())),
    }
}

/// Makes one parameter of each text in quotes that has generators in it.
pub(crate) fn join_quoted(pieces: Vec<Piece>) -> Result<Vec<Piece>, Wrong> {
    let mut joining = Joining::default();
    for piece in pieces {
        match piece {
            Piece::Sql(text) => joining.sql(&text)?,
            Piece::Table(offset) => joining.table(offset)?,
            Piece::Parameter(generator, offset) => joining.parameter(generator, offset)?,
        }
    }
    joining.end()
}

/// What the next character stands in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    #[default]
    Sql,
    /// `'…'`
    Text,
    /// `"…"` or `` `…` ``
    Other(char),
    /// `-- …`
    Line,
    /// `/* … */`
    Block,
}

#[derive(Default)]
struct Joining {
    done: Vec<Piece>,
    /// SQL after the last of these.
    sql: String,
    within: Within,
    /// Where in `sql` the open quote is; `None` if it lies before a `{table}`.
    quote: Option<usize>,
    /// What the text in quotes is made of, up to its last generator, and where its first one is.
    joined: Option<(Vec<Generator>, usize)>,
}

impl Joining {
    fn sql(&mut self, text: &str) -> Result<(), Wrong> {
        let mut rest = text;
        while let Some(next) = rest.chars().next() {
            let (within, length) = self.step(next, rest);
            let (read, behind) = rest.split_at(length);
            let ends = self.within == Within::Text && within == Within::Sql;
            if self.within == Within::Sql && within == Within::Text {
                self.quote = Some(self.sql.len());
            }
            self.within = within;
            match self.joined.take() {
                Some((parts, offset)) if ends => self.close(parts, offset)?,
                joined => {
                    self.joined = joined;
                    self.sql.push_str(read);
                }
            }
            rest = behind;
        }
        Ok(())
    }

    /// What stands behind the next characters, and how many bytes these are.
    fn step(&self, next: char, rest: &str) -> (Within, usize) {
        let one = next.len_utf8();
        match (self.within, next) {
            (Within::Sql, '\'') => (Within::Text, one),
            (Within::Sql, '"' | '`') => (Within::Other(next), one),
            (Within::Sql, '-') if rest.starts_with("-- ") => (Within::Line, 3),
            (Within::Sql, '/') if rest.starts_with("/*") => (Within::Block, 2),
            (Within::Text, '\'') if rest.starts_with("''") => (Within::Text, 2),
            (Within::Text, '\'') => (Within::Sql, one),
            (Within::Other(quote), _) if next == quote => (Within::Sql, one),
            (Within::Line, '\n') => (Within::Sql, one),
            (Within::Block, '*') if rest.starts_with("*/") => (Within::Sql, 2),
            (within, _) => (within, one),
        }
    }

    fn table(&mut self, offset: usize) -> Result<(), Wrong> {
        if self.joined.is_some() {
            return Err((offset, TABLE_IN_TEXT.to_owned()));
        }
        self.flush();
        self.quote = None;
        self.done.push(Piece::Table(offset));
        Ok(())
    }

    fn parameter(&mut self, generator: Generator, offset: usize) -> Result<(), Wrong> {
        match self.within {
            Within::Sql => {
                self.flush();
                self.done.push(Piece::Parameter(generator, offset));
                Ok(())
            }
            Within::Text => {
                let Some(quote) = self.quote else {
                    return Err((offset, TABLE_IN_TEXT.to_owned()));
                };
                let (mut parts, first) = self.joined.take().unwrap_or((Vec::new(), offset));
                // Behind the first generator there is no quote in front of the characters.
                let opening = usize::from(parts.is_empty());
                let characters = self.sql.split_off(quote);
                push_literal(&mut parts, &characters[opening..], offset)?;
                parts.push(generator);
                self.joined = Some((parts, first));
                Ok(())
            }
            Within::Other(quote) => Err((
                offset,
                format!(
                    "a generator within {quote} would be taken for characters; write text in \
                     single quotes, in which generators may stand"
                ),
            )),
            Within::Line | Within::Block => {
                Err((offset, "a generator within a comment; leave it out".to_owned()))
            }
        }
    }

    /// The text in quotes ends.
    fn close(&mut self, mut parts: Vec<Generator>, offset: usize) -> Result<(), Wrong> {
        let quote = self.quote.take().expect("a text that is joined has begun");
        let characters = self.sql.split_off(quote);
        push_literal(&mut parts, &characters, offset)?;
        self.flush();
        self.done.push(Piece::Parameter(Generator::Joined(parts), offset));
        Ok(())
    }

    fn flush(&mut self) {
        if !self.sql.is_empty() {
            self.done.push(Piece::Sql(std::mem::take(&mut self.sql)));
        }
    }

    fn end(mut self) -> Result<Vec<Piece>, Wrong> {
        if let Some((_, offset)) = self.joined {
            return Err((offset, "the quote in front of this is not closed".to_owned()));
        }
        self.flush();
        Ok(self.done)
    }
}

const TABLE_IN_TEXT: &str = "a text in quotes has either {table} or generators that give values";

/// Appends characters from between quotes.
fn push_literal(parts: &mut Vec<Generator>, characters: &str, offset: usize) -> Result<(), Wrong> {
    // Servers differ in what it means, and a text that is sent as text would have to double it.
    if characters.contains('\\') {
        let message = "a text with generators cannot have backslashes";
        return Err((offset, message.to_owned()));
    }
    if !characters.is_empty() {
        parts.push(Generator::Literal(Arc::from(characters.replace("''", "'"))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::template::{Template, TemplatePart};

    /// The statement with its parameters written into it, and each parameter by itself.
    fn told(text: &str) -> Result<(String, Vec<String>), String> {
        let template = Template::statement(text).map_err(|error| error.message)?;
        let (mut whole, mut parameters) = (String::new(), Vec::new());
        for part in template.parts() {
            match part {
                TemplatePart::Text(text) => whole.push_str(text),
                TemplatePart::Table(_) => whole.push_str("TABLE"),
                TemplatePart::Parameter(generator, _) => {
                    let shown = shown(generator);
                    whole.push_str(&shown);
                    parameters.push(shown);
                }
            }
        }
        Ok((whole, parameters))
    }

    fn shown(generator: &Generator) -> String {
        match generator {
            Generator::Const(number) => number.to_string(),
            Generator::Joined(parts) => {
                let inner: String = parts
                    .iter()
                    .map(|part| match part {
                        Generator::Literal(text) => text.replace('\'', "''"),
                        other => shown(other),
                    })
                    .collect();
                format!("'{inner}'")
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn text_with_generators_is_one_parameter() {
        for (text, parameters) in [
            ("A 'x' {const 1}", &["1"][..]),
            ("A 'x{const 1}'", &["'x1'"]),
            ("A '{const 1}', '{const 2}y' {const 3}", &["'1'", "'2y'", "3"]),
            ("A 'it''s {const 1} o''clock'", &["'it''s 1 o''clock'"]),
            ("A '{{\"a\": {const 1}}}'", &["'{\"a\": 1}'"]),
            ("A '{table}' {const 1}", &["1"]),
            ("A \"it's\" '{const 1}'", &["'1'"]),
            ("A /* it's */ {const 1} -- don't\n, {const 2}", &["1", "2"]),
            ("A {rows 2: ('{{{const 1}}}')}", &["'{1}'", "'{1}'"]),
        ] {
            assert_eq!(told(text).unwrap().1, parameters, "{text}");
        }
    }

    #[test]
    fn a_generator_that_would_be_characters_is_refused() {
        for (text, part) in [
            ("A \"{const 1}\"", "single quotes"),
            ("A `{const 1}`", "single quotes"),
            ("A -- {const 1}", "a comment"),
            ("A /* {const 1} */", "a comment"),
            ("A '{const 1}", "not closed"),
            ("A '{table} {const 1}'", "either {table}"),
            ("A '{const 1} {table}'", "either {table}"),
            ("A '\\{const 1}'", "backslashes"),
        ] {
            let error = told(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        /// What is accepted says the same as the text with the numbers in it, wherever its quotes
        /// are.
        #[test]
        fn nothing_is_lost_or_moved(words in prop::collection::vec(0_usize..11, 0..20)) {
            const WORDS: [(&str, &str); 11] = [
                ("'", "'"), ("''", "''"), ("\"", "\""), ("`", "`"), ("-- ", "-- "),
                ("\n", "\n"), ("/*", "/*"), ("*/", "*/"), (" é ", " é "),
                ("{const 7}", "7"), ("{{x}}", "{x}"),
            ];
            let text: String = words.iter().map(|at| WORDS[*at].0).collect();
            let plain: String = words.iter().map(|at| WORDS[*at].1).collect();
            if let Ok((whole, parameters)) = told(&text) {
                prop_assert_eq!(&whole, &plain);
                prop_assert!(parameters.len() <= words.iter().filter(|at| **at == 9).count());
            }
        }
    }
}
