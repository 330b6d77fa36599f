//! Statement templates: SQL with generators in braces.
//!
//! | in braces          | stands for                                                       |
//! |--------------------|------------------------------------------------------------------|
//! | `{table}`          | the table drawn for the step, spelled out                        |
//! | `{id}`             | an id that exists, drawn from 1..=rows as the load says          |
//! | `{id of T}`        | the same for table T of several                                  |
//! | `{id+N}`           | the id drawn last, plus N                                        |
//! | `{same id}`        | the id drawn last                                                |
//! | `{id*N}`           | N ids, each drawn anew, joined by commas; also `{id of T*N}`     |
//! | `{hot id*N}`       | the same N neighbouring ids each time, from the middle on        |
//! | `{k}`              | a value of the indexed column, uniform in 1..=rows               |
//! | `{k+N}`            | the k drawn last, plus N                                         |
//! | `{k*N}`            | N of them, joined by commas                                      |
//! | `{c}` `{pad}`      | 119 or 59 random characters                                      |
//! | `{int A..B}`       | a uniform number, both ends included                             |
//! | `{decimal A..B}`   | the same with as many decimals as are written: `0.00..9.99`      |
//! | `{date A..B}`      | a day from `2020-01-01` to another                               |
//! | `{datetime A..B}`  | a second of these days                                           |
//! | `{digits N}`       | N random digits, as characters                                   |
//! | `{text N}`         | N random letters; `{text A..B}` from A to B of them              |
//! | `{twice N}`        | N characters, the second half of which repeats the first        |
//! | `{one of a|b|c}`   | one of these texts                                               |
//! | `{uuid}`           | a random UUID                                                    |
//! | `{const N}`        | the number N, as a parameter                                     |
//! | `{seq}`            | a number that no other operation of the load gets, above 2^62    |
//! | `{same seq}`       | the `{seq}` before                                               |
//! | `{row}`            | the number of the row, from 1; only where rows are made          |
//! | `{null P%: G}`     | NULL in P percent of all cases, else what generator G gives      |
//! | `{G as NAME}`      | what G gives, remembered under a name until the event ends       |
//! | `{same NAME}`      | what was remembered                                              |
//! | `{rows N: …}`      | what follows the colon N times, each time with new values        |
//! | `{raw …}`          | what follows as it is, with braces that have partners            |
//!
//! Whatever is in braces but the table becomes a placeholder of the dialect (`?`, or `$1`, `$2` …).

use std::fmt;
use std::sync::Arc;

use dbdyno_model::Dialect;

use crate::calendar;

/// How one parameter is made. Names are texts in a template and numbers where it has been bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generator<N = Arc<str>> {
    /// An id as the load draws them.
    Id,
    /// An id of this table.
    IdOf(N),
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
    /// The same in units of `10^-decimals`.
    Decimal(i64, i64, u8),
    /// A day between two others, counted from 1970-01-01.
    Date(i64, i64),
    /// A second between two others, counted from 1970-01-01.
    DateTime(i64, i64),
    /// This many random digits.
    Digits(u32),
    /// From so many to so many random letters.
    Letters(u32, u32),
    /// This many characters that can be compressed to half of them.
    Twice(u32),
    /// One of these texts.
    OneOf(Arc<[String]>),
    /// A random UUID.
    Uuid,
    /// Always this number.
    Const(i64),
    /// A number of its own for each operation of each client.
    Sequence,
    /// The number before.
    LastSequence,
    /// The number of the row that is being made.
    Row,
    /// NULL in so many of ten thousand cases.
    Null(u32, Box<Generator<N>>),
    /// Remembered under a name.
    Keep(N, Box<Generator<N>>),
    /// What was remembered.
    Kept(N),
}

/// What a name in a generator names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A table.
    Table,
    /// A remembered value.
    Value,
}

impl<N> Generator<N> {
    /// The same generator with other names.
    ///
    /// # Errors
    /// Those of `bind`.
    pub fn bind<M, E>(
        &self,
        bind: &mut impl FnMut(Named, &N) -> Result<M, E>,
    ) -> Result<Generator<M>, E> {
        Ok(match self {
            Generator::IdOf(name) => Generator::IdOf(bind(Named::Table, name)?),
            Generator::Kept(name) => Generator::Kept(bind(Named::Value, name)?),
            Generator::Null(share, inner) => Generator::Null(*share, Box::new(inner.bind(bind)?)),
            Generator::Keep(name, inner) => {
                let inner = Box::new(inner.bind(bind)?);
                Generator::Keep(bind(Named::Value, name)?, inner)
            }
            Generator::Id => Generator::Id,
            Generator::LastIdPlus(distance) => Generator::LastIdPlus(*distance),
            Generator::HotId(distance) => Generator::HotId(*distance),
            Generator::K => Generator::K,
            Generator::LastKPlus(distance) => Generator::LastKPlus(*distance),
            Generator::C => Generator::C,
            Generator::Pad => Generator::Pad,
            Generator::Int(low, high) => Generator::Int(*low, *high),
            Generator::Decimal(low, high, decimals) => Generator::Decimal(*low, *high, *decimals),
            Generator::Date(low, high) => Generator::Date(*low, *high),
            Generator::DateTime(low, high) => Generator::DateTime(*low, *high),
            Generator::Digits(count) => Generator::Digits(*count),
            Generator::Letters(low, high) => Generator::Letters(*low, *high),
            Generator::Twice(count) => Generator::Twice(*count),
            Generator::OneOf(texts) => Generator::OneOf(Arc::clone(texts)),
            Generator::Uuid => Generator::Uuid,
            Generator::Const(number) => Generator::Const(*number),
            Generator::Sequence => Generator::Sequence,
            Generator::LastSequence => Generator::LastSequence,
            Generator::Row => Generator::Row,
        })
    }
}

/// A template taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Sql(String),
    /// With the offset of its brace, as below.
    Table(usize),
    Parameter(Generator, usize),
}

/// A piece of a template with its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// As it is.
    Text(&'a str),
    /// The table of the step; byte offset of its brace.
    Table(usize),
    /// A parameter; byte offset of its brace.
    Parameter(&'a Generator, usize),
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
        parse_into(text, 0, 0, &mut pieces)?;
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
                Piece::Table(_) => current.push_str(table),
                Piece::Parameter(..) => pieces.push(String::new()),
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
                Dialect::Mysql | Dialect::Engine | Dialect::Sqlite | Dialect::Rocksdb => {
                    sql.push('?')
                }
            }
            sql.push_str(piece);
        }
        sql
    }

    /// The generators of all parameters in order.
    pub(crate) fn generators(&self) -> impl Iterator<Item = &Generator> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameter(generator, _) => Some(generator),
            Piece::Sql(_) | Piece::Table(_) => None,
        })
    }

    /// All parts in order.
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> + '_ {
        self.pieces.iter().map(|piece| match piece {
            Piece::Sql(text) => Part::Text(text),
            Piece::Table(offset) => Part::Table(*offset),
            Piece::Parameter(generator, offset) => Part::Parameter(generator, *offset),
        })
    }
}

/// How deep braces may be nested; more is no statement that anybody means.
const DEPTH_MOST: usize = 8;

fn parse_into(
    text: &str,
    start: usize,
    depth: usize,
    pieces: &mut Vec<Piece>,
) -> Result<(), TemplateError> {
    let mut at = 0;
    while let Some(open) = text[at..].find(['{', '}']).map(|found| at + found) {
        let offset = start + open;
        let wrong = |message: String| TemplateError { offset, message };
        if text[open..].starts_with('}') {
            return Err(wrong("'}' without '{'; write {raw …} around braces of your own".into()));
        }
        if open > at {
            pieces.push(Piece::Sql(text[at..open].to_owned()));
        }
        let close = partner(&text[open..]).ok_or_else(|| wrong("'{' without '}'".to_owned()))?;
        let word = &text[open + 1..open + close];
        if depth == DEPTH_MOST {
            return Err(wrong(format!("braces are nested deeper than {DEPTH_MOST}")));
        }
        parse_word(word, offset, depth, pieces)?;
        if pieces.len() > 4 * PARAMETERS_MOST {
            return Err(wrong(format!("{{{word}}} makes the statement too long")));
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
pub const KNOWN: &str = "{table}, {id}, {id of TABLE}, {id+N}, {same id}, {id*N}, {hot id*N}, \
                         {k}, {k+N}, {k*N}, {c}, {pad}, {int A..B}, {decimal A.00..B.00}, \
                         {date A..B}, {datetime A..B}, {digits N}, {text A..B}, {twice N}, \
                         {one of a|b|c}, \
                         {uuid}, {const N}, {seq}, {same seq}, {row}, {null P%: …}, \
                         {… as NAME}, {same NAME}, {rows N: …}, {raw …}";

fn parse_word(
    word: &str,
    offset: usize,
    depth: usize,
    pieces: &mut Vec<Piece>,
) -> Result<(), TemplateError> {
    let wrong = |message: String| TemplateError { offset, message };
    if word == "table" {
        pieces.push(Piece::Table(offset));
        return Ok(());
    }
    if let Some(text) = word.strip_prefix("raw ") {
        pieces.push(Piece::Sql(text.to_owned()));
        return Ok(());
    }
    if let Some((count, body)) = word.strip_prefix("rows ").and_then(|rest| rest.split_once(':')) {
        let count = number(count).filter(|count| (1..=10_000).contains(count));
        let message = || wrong("{rows N: …} takes a number from 1 to 10000".to_owned());
        let count = count.ok_or_else(message)?;
        let body = body.trim_start();
        let body_offset = offset + 1 + word.len() - body.len();
        for index in 0..count {
            if index > 0 {
                pieces.push(Piece::Sql(",".to_owned()));
            }
            parse_into(body, body_offset, depth + 1, pieces)?;
            if pieces.len() > 4 * PARAMETERS_MOST {
                return Err(wrong(format!("{{{word}}} makes the statement too long")));
            }
        }
        return Ok(());
    }
    let (generators, count) = match list_of(word) {
        Some(list) => list,
        None => {
            let generator = generator_of(word).map_err(wrong)?;
            (Box::new(move |_| generator.clone()) as Maker, 1)
        }
    };
    for index in 0..count {
        if index > 0 {
            pieces.push(Piece::Sql(", ".to_owned()));
        }
        pieces.push(Piece::Parameter(generators(index), offset));
    }
    Ok(())
}

type Maker = Box<dyn Fn(i64) -> Generator>;

/// What makes parameter number `i` of a word that stands for several, and how many these are.
fn list_of(word: &str) -> Option<(Maker, i64)> {
    let (name, count) = word.rsplit_once('*')?;
    let count = number(count).filter(|count| (1..=PARAMETERS_MOST as i64).contains(count))?;
    let maker: Maker = match name {
        "id" => Box::new(|_| Generator::Id),
        "k" => Box::new(|_| Generator::K),
        "hot id" => Box::new(|index| Generator::HotId(index + 1)),
        _ => {
            let table: Arc<str> = name.strip_prefix("id of ").filter(|t| is_name(t))?.into();
            Box::new(move |_| Generator::IdOf(Arc::clone(&table)))
        }
    };
    Some((maker, count))
}

/// The generator that a word names; what it takes, if it does not name one.
fn generator_of(word: &str) -> Result<Generator, String> {
    if let Some((inner, name)) = word.rsplit_once(" as ")
        && is_name(name)
    {
        if ["id", "seq"].contains(&name) {
            return Err(format!("{{same {name}}} has a meaning already; take another name"));
        }
        return Ok(Generator::Keep(name.into(), Box::new(generator_of(inner)?)));
    }
    if let Some(rest) = word.strip_prefix("null ") {
        let takes = || {
            "{null P%: …} takes a share from 0.01% to 99.99% and a generator without \
                        braces, for example {null 10%: int 1..9}"
        };
        let (share, inner) = rest.split_once(':').ok_or_else(takes)?;
        let share = share.trim().strip_suffix('%').and_then(|share| fixed(share.trim(), 2));
        let share = share.filter(|share| (1..10_000).contains(share)).ok_or_else(takes)?;
        return Ok(Generator::Null(share as u32, Box::new(generator_of(inner.trim())?)));
    }
    let unknown = || {
        let near = crate::suggest::did_you_mean(word, PLAIN.iter().map(|(name, _)| *name));
        format!("unknown generator {{{word}}}{near}; known are {KNOWN}")
    };
    if let Some((_, generator)) = PLAIN.iter().find(|(name, _)| *name == word) {
        return Ok(generator.clone());
    }
    let with = |sign: &str| {
        let (name, distance) = word.split_once(sign)?;
        Some((name, number(distance)?))
    };
    match with("+") {
        Some(("id", distance)) => return Ok(Generator::LastIdPlus(distance)),
        Some(("k", distance)) => return Ok(Generator::LastKPlus(distance)),
        _ => {}
    }
    let (name, rest) = word.split_once(' ').ok_or_else(unknown)?;
    typed(name, rest.trim()).ok_or_else(unknown)?
}

/// Generators that take nothing.
const PLAIN: [(&str, Generator); 10] = [
    ("id", Generator::Id),
    ("same id", Generator::LastIdPlus(0)),
    ("k", Generator::K),
    ("c", Generator::C),
    ("pad", Generator::Pad),
    ("uuid", Generator::Uuid),
    ("seq", Generator::Sequence),
    ("same seq", Generator::LastSequence),
    ("same k", Generator::LastKPlus(0)),
    ("row", Generator::Row),
];

/// Generators with something behind their name; `None` for a name that none has.
fn typed(name: &str, rest: &str) -> Option<Result<Generator, String>> {
    let takes = |what: &str| format!("{{{name} {rest}}}: {name} takes {what}");
    let made = match name {
        "int" => {
            range(rest, number).map(|(low, high)| Generator::Int(low, high)).ok_or_else(|| {
                takes("two whole numbers, the smaller one first, for example {int 1..9}")
            })
        }
        "decimal" => decimal(rest)
            .ok_or_else(|| takes("two numbers with equal decimals, for example 0.00..9.99")),
        "date" => range(rest, calendar::day)
            .map(|(low, high)| Generator::Date(low, high))
            .ok_or_else(|| takes("two days, for example 2020-01-01..2026-12-31")),
        "datetime" => range(rest, calendar::day)
            .map(|(low, high)| {
                let seconds = calendar::SECONDS_PER_DAY;
                Generator::DateTime(low * seconds, (high + 1) * seconds - 1)
            })
            .ok_or_else(|| takes("two days, for example 2020-01-01..2026-12-31")),
        "digits" => length(rest)
            .map(Generator::Digits)
            .ok_or_else(|| takes("a length from 1 to 60000, for example {digits 40}")),
        "text" => range(rest, length)
            .or_else(|| length(rest).map(|length| (length, length)))
            .map(|(low, high)| Generator::Letters(low, high))
            .ok_or_else(|| takes("a length from 1 to 60000 or two, for example {text 5..20}")),
        "twice" => length(rest)
            .map(Generator::Twice)
            .ok_or_else(|| takes("a length from 1 to 60000, for example {twice 400}")),
        "one" => one_of(rest).ok_or_else(|| {
            takes("texts between bars, without backslash or line break: {one of a|b|c}")
        }),
        "const" => number(rest)
            .map(Generator::Const)
            .ok_or_else(|| takes("a whole number, for example {const 1}")),
        "id" => rest
            .strip_prefix("of ")
            .filter(|table| is_name(table))
            .map(|table| Generator::IdOf(table.into()))
            .ok_or_else(|| takes("the name of a table, for example {id of customers}")),
        "same" if is_name(rest) => Ok(Generator::Kept(rest.into())),
        _ => return None,
    };
    Some(made)
}

fn one_of(rest: &str) -> Option<Generator> {
    let texts: Arc<[String]> =
        rest.strip_prefix("of ")?.split('|').map(|text| text.trim().to_owned()).collect();
    // A backslash or a control character would have to be escaped, differently in each dialect and
    // in each way of filling.
    let is_plain = |text: &String| !text.chars().any(|c| c == '\\' || c.is_control());
    texts.iter().all(is_plain).then_some(Generator::OneOf(texts))
}

fn decimal(rest: &str) -> Option<Generator> {
    let (low, high) = rest.split_once("..")?;
    let decimals = |text: &str| text.split_once('.').map_or(0, |(_, behind)| behind.trim().len());
    let count = decimals(low);
    if count != decimals(high) || count > 9 {
        return None;
    }
    let (low, high) = range(rest, |text| fixed(text.trim(), count))?;
    Some(Generator::Decimal(low, high, count as u8))
}

/// A decimal number in units of `10^-decimals`.
fn fixed(text: &str, decimals: usize) -> Option<i64> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if digits.is_empty() || !is_digits(digits) || !is_digits(behind) || behind.len() > decimals {
        return None;
    }
    format!("{whole}{behind:0<decimals$}").parse().ok()
}

fn range<T: PartialOrd>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<(T, T)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (parse(low)?, parse(high)?);
    (low <= high).then_some((low, high))
}

fn length(text: &str) -> Option<u32> {
    number(text).filter(|length| (1..=60_000).contains(length)).map(|length| length as u32)
}

/// Whether a text can name a table or a remembered value.
pub fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= 63
        && bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generators(template: &Template) -> Vec<Generator> {
        template.generators().cloned().collect()
    }

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
        assert_eq!(generators(&template), [K, K, K, LastIdPlus(9)]);
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
        assert_eq!(generators(&hot), expected);
    }

    #[test]
    fn generators_of_custom_loads_are_read() {
        let read = |word: &str| generators(&Template::parse(word).unwrap()).remove(0);
        use Generator::*;
        assert_eq!(read("{decimal -0.50..9.99}"), Decimal(-50, 999, 2));
        assert_eq!(read("{decimal 1..2}"), Decimal(1, 2, 0));
        assert_eq!(read("{date 1970-01-02..1970-02-01}"), Date(1, 31));
        assert_eq!(read("{datetime 1970-01-01..1970-01-01}"), DateTime(0, 86_399));
        assert_eq!(read("{text 5}"), Letters(5, 5));
        let colours = ["red".to_owned(), "dark blue".to_owned()].into();
        assert_eq!(read("{one of red | dark blue}"), OneOf(colours));
        assert_eq!(read("{null 0.5%: int 1..9}"), Null(50, Box::new(Int(1, 9))));
        let kept = Keep("buyer".into(), Box::new(IdOf("customers".into())));
        assert_eq!(read("{id of customers as buyer}"), kept);
        assert_eq!(read("{same buyer}"), Kept("buyer".into()));
        assert_eq!(Template::parse("{id of items*3}").unwrap().generators().count(), 3);
        let raw = Template::parse(r#"SELECT '{raw {"a": {}}}'"#).unwrap();
        assert_eq!(raw.sql(Dialect::Mysql, "t"), r#"SELECT '{"a": {}}'"#);
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
        assert_eq!(offset("SELECT 1}"), 8);
        for wrong in ["{decimal 1.0..2.00}", "{date 2020-02-30..2021-01-01}", "{text 9..1}"] {
            assert_eq!(offset(wrong), 0);
        }
        for wrong in ["{null 100%: k}", "{one of a\\b}", "{id as seq}", "{same}", "{id of 1}"] {
            assert_eq!(offset(wrong), 0);
        }
        let message = Template::parse("{sam id}").unwrap_err().message;
        assert!(message.contains("did you mean \"same id\"?"), "{message}");
        assert!(Template::parse("{rows 10000: ({id*60000})}").is_err());
        assert!(Template::parse(&"{rows 1: ".repeat(50_000)).is_err());
        let deep = format!("{}{}", "{rows 1: ".repeat(20), "}".repeat(20));
        assert!(Template::parse(&deep).is_err());
    }
}
