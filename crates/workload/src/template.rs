//! Statement templates: SQL with generators in braces.
//!
//! | in braces      | stands for                                                       |
//! |----------------|------------------------------------------------------------------|
//! | `{table}`      | the table drawn for the step, spelled out                        |
//! | `{id}`         | an id that exists, drawn from 1..=rows as the load says          |
//! | `{id+N}`       | the id drawn last, plus N                                        |
//! | `{same id}`    | the id drawn last                                                |
//! | `{id*N}`       | N ids, each drawn anew, joined by commas                         |
//! | `{hot id*N}`   | the same N neighbouring ids each time, from the middle on        |
//! | `{k}`          | a value of the indexed column, uniform in 1..=rows               |
//! | `{k+N}`        | the k drawn last, plus N                                         |
//! | `{k*N}`        | N of them, joined by commas                                      |
//! | `{c}` `{pad}`  | 119 or 59 random characters                                      |
//! | `{int A..B}`   | a uniform number, both ends included                             |
//! | `{digits N}`   | N random digits, as characters                                   |
//! | `{const N}`    | the number N, as a parameter                                     |
//! | `{seq}`        | a number that no other operation of the load gets                |
//! | `{rows N: …}`  | what follows the colon N times, each time with new values        |
//!
//! Whatever is in braces but the table becomes a placeholder of the dialect (`?`, or `$1`, `$2` …).

use std::fmt;

use dbdyno_model::Dialect;

/// How one parameter is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// An id as the load draws them.
    Id,
    /// The id drawn last, plus a number.
    LastIdPlus(i64),
    /// The id that lies this far after the middle of the table.
    HotId(i64),
    /// Uniform value of the indexed column.
    K,
    /// The k drawn last, plus a number.
    LastKPlus(i64),
    /// Characters for column `c`.
    C,
    /// Characters for column `pad`.
    Pad,
    /// A uniform number between two others, both included.
    Int(i64, i64),
    /// This many random digits.
    Digits(u32),
    /// Always this number.
    Const(i64),
    /// A number of its own for each operation of each client.
    Sequence,
}

/// A template taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Sql(String),
    Table,
    Parameter(Generator),
}

/// What is wrong with a template, and where (byte offset).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte offset of the brace.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at character {}: {}", self.offset + 1, self.message)
    }
}

/// The protocols number parameters with 16 bits.
const PARAMETERS_MOST: usize = 60_000;

impl Template {
    /// Takes a template apart.
    ///
    /// # Errors
    /// An unknown generator, a brace without its partner, or more parameters than the protocols
    /// can carry.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        parse_into(text, 0, &mut pieces)?;
        let template = Template { pieces };
        if template.generators().count() > PARAMETERS_MOST {
            let message = format!("more than {PARAMETERS_MOST} parameters; make it smaller");
            return Err(TemplateError { offset: 0, message });
        }
        Ok(template)
    }

    /// The SQL for one table in one dialect, cut at its parameters: one piece more than there are
    /// parameters.
    pub fn pieces(&self, table: &str) -> Vec<String> {
        let mut pieces = vec![String::new()];
        for piece in &self.pieces {
            let current = pieces.last_mut().expect("never empty");
            match piece {
                Piece::Sql(text) => current.push_str(text),
                Piece::Table => current.push_str(table),
                Piece::Parameter(_) => pieces.push(String::new()),
            }
        }
        pieces
    }

    /// The SQL for one table with the placeholders of a dialect.
    pub fn sql(&self, dialect: Dialect, table: &str) -> String {
        let pieces = self.pieces(table);
        let mut sql = pieces[0].clone();
        for (index, piece) in pieces.iter().enumerate().skip(1) {
            match dialect {
                Dialect::Postgres => sql.push_str(&format!("${index}")),
                Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
            }
            sql.push_str(piece);
        }
        sql
    }

    /// The generators of all parameters in order.
    pub fn generators(&self) -> impl Iterator<Item = Generator> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameter(generator) => Some(*generator),
            Piece::Sql(_) | Piece::Table => None,
        })
    }
}

fn parse_into(text: &str, start: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        let offset = start + open;
        if open > at {
            pieces.push(Piece::Sql(text[at..open].to_owned()));
        }
        let close = partner(&text[open..])
            .ok_or_else(|| TemplateError { offset, message: "'{' without '}'".to_owned() })?;
        let word = &text[open + 1..open + close];
        parse_word(word, offset + 1, pieces)?;
        if pieces.len() > 4 * PARAMETERS_MOST {
            let message = format!("{{{word}}} makes the statement too long");
            return Err(TemplateError { offset, message });
        }
        at = open + close + 1;
    }
    if at < text.len() {
        pieces.push(Piece::Sql(text[at..].to_owned()));
    }
    Ok(())
}

/// Where the brace that `text` begins with is closed.
fn partner(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// What is known, for messages.
pub const KNOWN: &str = "{table}, {id}, {id+N}, {same id}, {id*N}, {hot id*N}, {k}, {k+N}, \
                         {k*N}, {c}, {pad}, {int A..B}, {digits N}, {const N}, {seq}, {rows N: …}";

fn parse_word(word: &str, offset: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
    if let Some((count, body)) = word.strip_prefix("rows ").and_then(|rest| rest.split_once(':')) {
        let count = number(count).filter(|count| (1..=10_000).contains(count));
        let message = "{rows N: …} takes a number from 1 to 10000".to_owned();
        let count = count.ok_or(TemplateError { offset: offset - 1, message })?;
        let body = body.trim_start();
        let body_offset = offset + word.len() - body.len();
        for index in 0..count {
            if index > 0 {
                pieces.push(Piece::Sql(",".to_owned()));
            }
            parse_into(body, body_offset, pieces)?;
        }
        return Ok(());
    }
    let (generators, count) = if word == "table" {
        pieces.push(Piece::Table);
        return Ok(());
    } else {
        generators_of(word).ok_or_else(|| TemplateError {
            offset: offset - 1,
            message: format!("unknown generator {{{word}}}; known are {KNOWN}"),
        })?
    };
    for index in 0..count {
        if index > 0 {
            pieces.push(Piece::Sql(", ".to_owned()));
        }
        pieces.push(Piece::Parameter(generators(index)));
    }
    Ok(())
}

type Maker = Box<dyn Fn(i64) -> Generator>;

/// What makes parameter number `i` of a word, and how many parameters it stands for.
fn generators_of(word: &str) -> Option<(Maker, i64)> {
    let one = |generator| Some((Box::new(move |_| generator) as Maker, 1));
    match word {
        "id" => return one(Generator::Id),
        "same id" => return one(Generator::LastIdPlus(0)),
        "k" => return one(Generator::K),
        "c" => return one(Generator::C),
        "pad" => return one(Generator::Pad),
        "seq" => return one(Generator::Sequence),
        _ => {}
    }
    if let Some(distance) = word.strip_prefix("id+") {
        return one(Generator::LastIdPlus(number(distance)?));
    }
    if let Some(distance) = word.strip_prefix("k+") {
        return one(Generator::LastKPlus(number(distance)?));
    }
    if let Some(digits) = word.strip_prefix("digits ") {
        let digits = number(digits).filter(|digits| (1..=60_000).contains(digits))?;
        return one(Generator::Digits(digits as u32));
    }
    if let Some(value) = word.strip_prefix("const ") {
        return one(Generator::Const(number(value)?));
    }
    if let Some((low, high)) = word.strip_prefix("int ").and_then(|range| range.split_once("..")) {
        let (low, high) = (number(low)?, number(high)?);
        return if low <= high { one(Generator::Int(low, high)) } else { None };
    }
    let (name, count) = word.split_once('*')?;
    let count = number(count).filter(|count| (1..=PARAMETERS_MOST as i64).contains(count))?;
    let maker: Maker = match name {
        "id" => Box::new(|_| Generator::Id),
        "k" => Box::new(|_| Generator::K),
        "hot id" => Box::new(|index| Generator::HotId(index + 1)),
        _ => return None,
    };
    Some((maker, count))
}

fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_follow_the_dialect() {
        let template =
            Template::parse("SELECT c FROM {table} WHERE k IN ({k*3}) AND id<{id+9}").unwrap();
        assert_eq!(
            template.sql(Dialect::Mysql, "sbtest2"),
            "SELECT c FROM sbtest2 WHERE k IN (?, ?, ?) AND id<?"
        );
        assert_eq!(
            template.sql(Dialect::Postgres, "sbtest2"),
            "SELECT c FROM sbtest2 WHERE k IN ($1, $2, $3) AND id<$4"
        );
        use Generator::{K, LastIdPlus};
        assert_eq!(template.generators().collect::<Vec<_>>(), [K, K, K, LastIdPlus(9)]);
    }

    #[test]
    fn rows_repeat_what_follows_the_colon() {
        let template = Template::parse("INSERT INTO t VALUES {rows 2: ({k}, {int 1..9})}").unwrap();
        assert_eq!(template.sql(Dialect::Mysql, "t"), "INSERT INTO t VALUES (?, ?),(?, ?)");
        assert_eq!(template.pieces("t"), ["INSERT INTO t VALUES (", ", ", "),(", ", ", ")"]);
        assert_eq!(template.generators().count(), 4);
        let hot = Template::parse("{hot id*2} {digits 5} {const -3}").unwrap();
        use Generator::{Const, Digits, HotId};
        let expected = [HotId(1), HotId(2), Digits(5), Const(-3)];
        assert_eq!(hot.generators().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn wrong_templates_say_where() {
        let offset = |text| Template::parse(text).unwrap_err().offset;
        assert_eq!(offset("SELECT {idd}"), 7);
        assert_eq!(offset("SELECT {id"), 7);
        assert_eq!(offset("SELECT {id*0}"), 7);
        assert_eq!(offset("{c*3}"), 0);
        assert_eq!(offset("{rows 2: ({id}, {idd})}"), 16);
        assert_eq!(offset("{rows x: 1}"), 0);
        assert_eq!(offset("{int 9..1}"), 0);
        assert!(Template::parse("{rows 10000: ({id*60000})}").is_err());
    }
}
