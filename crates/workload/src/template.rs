//! Statement templates: SQL with generators in braces.
//!
//! | in braces    | stands for                                                    |
//! |--------------|---------------------------------------------------------------|
//! | `{table}`    | the table drawn for the step, spelled out                     |
//! | `{id}`       | an id that exists, uniform in 1..=rows                        |
//! | `{id+N}`     | the id drawn last, plus N                                     |
//! | `{same id}`  | the id drawn last                                             |
//! | `{id*N}`     | N ids, each uniform, joined by commas                         |
//! | `{k}`        | a value of the indexed column, uniform in 1..=rows            |
//! | `{k*N}`      | N of them, joined by commas                                   |
//! | `{c}` `{pad}`| 119 or 59 random characters                                   |
//!
//! Whatever is in braces but the table becomes a placeholder of the dialect (`?`, or `$1`, `$2` …).

use std::fmt;

use dbdyno_model::Dialect;

/// How one parameter is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// Uniform id.
    Id,
    /// The id drawn last, plus a number.
    LastIdPlus(i64),
    /// Uniform value of the indexed column.
    K,
    /// Characters for column `c`.
    C,
    /// Characters for column `pad`.
    Pad,
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
    Parameters(Generator, u32),
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

impl Template {
    /// Takes a template apart.
    ///
    /// # Errors
    /// An unknown generator or a brace without its partner.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let offset = text.len() - rest.len() + open;
            if open > 0 {
                pieces.push(Piece::Sql(rest[..open].to_owned()));
            }
            let close = rest[open..]
                .find('}')
                .ok_or_else(|| TemplateError { offset, message: "'{' without '}'".to_owned() })?;
            let word = &rest[open + 1..open + close];
            let piece = parse_word(word).ok_or_else(|| TemplateError {
                offset,
                message: format!("unknown generator {{{word}}}; known are {KNOWN}"),
            })?;
            pieces.push(piece);
            rest = &rest[open + close + 1..];
        }
        if !rest.is_empty() {
            pieces.push(Piece::Sql(rest.to_owned()));
        }
        Ok(Template { pieces })
    }

    /// The SQL for one table in one dialect.
    pub fn sql(&self, dialect: Dialect, table: &str) -> String {
        let mut sql = String::new();
        let mut number = 0;
        for piece in &self.pieces {
            match piece {
                Piece::Sql(text) => sql.push_str(text),
                Piece::Table => sql.push_str(table),
                Piece::Parameters(_, count) => {
                    for index in 0..*count {
                        number += 1;
                        sql.push_str(if index > 0 { ", " } else { "" });
                        match dialect {
                            Dialect::Postgres => sql.push_str(&format!("${number}")),
                            Dialect::Mysql | Dialect::Sqlite => sql.push('?'),
                        }
                    }
                }
            }
        }
        sql
    }

    /// The generators of all parameters in order.
    pub fn generators(&self) -> Vec<Generator> {
        let parameters = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameters(generator, count) => Some((*generator, *count as usize)),
            Piece::Sql(_) | Piece::Table => None,
        });
        parameters.flat_map(|(generator, count)| std::iter::repeat_n(generator, count)).collect()
    }
}

const KNOWN: &str = "{table}, {id}, {id+N}, {same id}, {id*N}, {k}, {k*N}, {c}, {pad}";

fn parse_word(word: &str) -> Option<Piece> {
    let one = |generator| Some(Piece::Parameters(generator, 1));
    match word {
        "table" => Some(Piece::Table),
        "id" => one(Generator::Id),
        "same id" => one(Generator::LastIdPlus(0)),
        "k" => one(Generator::K),
        "c" => one(Generator::C),
        "pad" => one(Generator::Pad),
        _ => {
            if let Some(distance) = word.strip_prefix("id+") {
                return one(Generator::LastIdPlus(distance.parse().ok()?));
            }
            let (name, count) = word.split_once('*')?;
            let generator = match name {
                "id" => Generator::Id,
                "k" => Generator::K,
                _ => return None,
            };
            let count = count.parse().ok().filter(|count| (1..=60_000).contains(count))?;
            Some(Piece::Parameters(generator, count))
        }
    }
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
        assert_eq!(template.generators(), [K, K, K, LastIdPlus(9)]);
    }

    #[test]
    fn wrong_templates_say_where() {
        let offset = |text| Template::parse(text).unwrap_err().offset;
        assert_eq!(offset("SELECT {idd}"), 7);
        assert_eq!(offset("SELECT {id"), 7);
        assert_eq!(offset("SELECT {id*0}"), 7);
        assert_eq!(offset("{c*3}"), 0);
    }
}
