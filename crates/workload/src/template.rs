//! Statement templates: SQL with generators in braces.
//!
//! ```text
//!   UPDATE t SET a = {int 1..9}, doc = '{{"id": {id}}}' WHERE id = {same id}
//!                    └───┬────┘        └┬┘      └─┬─┘ └┬┘
//!                     generator     a brace       │   a brace
//!                                             generator
//! ```
//!
//! Whatever is in braces but the table becomes a placeholder of the dialect (`?`, or `$1`, `$2` …),
//! and so does a text in quotes that has generators in it. [`FORMS`] lists what may stand in
//! braces; what each of them gives is said in the guide, `docs/guide/custom-loads.md`, which a test
//! holds against the list.

use std::fmt;
use std::sync::Arc;

use dbdyno_model::Dialect;

use crate::calendar;
use crate::formula::Formula;
pub use crate::generator::{Generator, GeneratorName};
use crate::piece::{Piece, join_quoted, push_sql};
use crate::suggest::did_you_mean;

/// A template taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

/// A piece of a template with its place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplatePart<'a> {
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
    /// Takes a text apart: each generator is a parameter.
    ///
    /// # Errors
    /// An unknown generator, a brace without its partner, or more parameters than the protocols
    /// can carry.
    pub fn parse(text: &str) -> Result<Template, TemplateError> {
        let mut parser = Parser { text, at: 0 };
        let mut pieces = Vec::new();
        parser.template(0, &mut pieces)?;
        Template::of(pieces)
    }

    /// Takes a statement apart: a text in quotes that has generators in it is one parameter.
    ///
    /// # Errors
    /// As above, and a generator that would be taken for characters.
    pub fn statement(text: &str) -> Result<Template, TemplateError> {
        let joined = join_quoted(Template::parse(text)?.pieces);
        Template::of(joined.map_err(|(offset, message)| TemplateError { offset, message })?)
    }

    fn of(pieces: Vec<Piece>) -> Result<Template, TemplateError> {
        let template = Template { pieces };
        if template.parameter_generators().count() > PARAMETERS_MOST {
            let message = format!("more than {PARAMETERS_MOST} parameters; make it smaller");
            return Err(TemplateError { offset: 0, message });
        }
        let bytes: u64 = template.parameter_generators().map(Generator::bytes_most).sum();
        if bytes > VALUES_BYTES_MOST {
            let message = format!(
                "its values have up to {} MB together, and a server takes {} MB at most; make them \
                 shorter or fewer",
                bytes >> 20,
                VALUES_BYTES_MOST >> 20
            );
            return Err(TemplateError { offset: 0, message });
        }
        Ok(template)
    }

    /// The SQL for one table in one dialect, cut at its parameters: one piece more than there are
    /// parameters.
    pub(crate) fn sql_pieces(&self, table: &str) -> Vec<String> {
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
        let pieces = self.sql_pieces(table);
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
    pub(crate) fn parameter_generators(&self) -> impl Iterator<Item = &Generator> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Parameter(generator, _) => Some(generator),
            Piece::Sql(_) | Piece::Table(_) => None,
        })
    }

    /// All parts in order.
    pub fn parts(&self) -> impl Iterator<Item = TemplatePart<'_>> + '_ {
        self.pieces.iter().map(|piece| match piece {
            Piece::Sql(text) => TemplatePart::Text(text),
            Piece::Table(offset) => TemplatePart::Table(*offset),
            Piece::Parameter(generator, offset) => TemplatePart::Parameter(generator, *offset),
        })
    }
}

/// How deep braces may be nested; more is no statement that anybody means.
const DEPTH_MOST: usize = 8;
/// Bytes of SQL that `{rows N: …}` makes: a server takes one packet.
const STATEMENT_BYTES_MOST: usize = 16 << 20;
/// Bytes of the values of a statement: MySQL's packets have a gigabyte at most, and 64 MB where
/// nobody says so.
const VALUES_BYTES_MOST: u64 = 64 << 20;

/// Reads a text from left to right.
struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Reads up to the end, or, at a depth, up to the brace that closes it.
    fn template(&mut self, depth: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
        let mut braces = 0_usize;
        while let Some(before) = self.rest().find(['{', '}']) {
            push_sql(pieces, &self.rest()[..before]);
            self.at += before;
            let doubled = ["{{", "}}"].into_iter().find(|two| self.rest().starts_with(*two));
            match doubled {
                Some("{{") => braces += 1,
                // Of `{rows 2: {rows 2: {k}}}` the braces at the end close.
                Some(_) if depth == 0 || braces > 0 => braces = braces.saturating_sub(1),
                _ if self.rest().starts_with('{') => {
                    self.word(depth, pieces)?;
                    continue;
                }
                _ if depth > 0 => return Ok(()),
                _ => return Err(self.wrong(UNOPENED)),
            }
            push_sql(pieces, &self.rest()[..1]);
            self.at += 2;
        }
        push_sql(pieces, self.rest());
        self.at = self.text.len();
        Ok(())
    }

    fn wrong(&self, message: impl Into<String>) -> TemplateError {
        TemplateError { offset: self.at, message: message.into() }
    }

    /// Reads what stands in the braces that begin here, and passes them.
    fn word(&mut self, depth: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
        let offset = self.at;
        if depth == DEPTH_MOST {
            return Err(self.wrong(format!("braces are nested deeper than {DEPTH_MOST}")));
        }
        if self.rest().starts_with("{rows ") {
            self.rows(depth, pieces)?;
        } else {
            let is_raw = self.rest().starts_with("{raw ");
            let close = if is_raw { partner(self.rest()) } else { self.rest().find('}') };
            let close = close.ok_or_else(|| self.wrong("'{' without '}'"))?;
            let word = &self.rest()[1..close];
            if !is_raw && word.contains('{') {
                return Err(self.wrong(nested(word)));
            }
            parse_word(word, offset, pieces)?;
            self.at += close + 1;
        }
        match pieces.len() > 4 * PARAMETERS_MOST {
            true => Err(TemplateError {
                offset,
                message: "what stands in these braces makes the statement too long".to_owned(),
            }),
            false => Ok(()),
        }
    }

    /// `{rows N: …}`.
    fn rows(&mut self, depth: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
        let offset = self.at;
        let wrong = |message: &str| TemplateError { offset, message: message.to_owned() };
        let word = &self.rest()["{rows ".len()..];
        let count = word.split_once(':').and_then(|(count, _)| number(count));
        let count = count.filter(|count| (1..=10_000).contains(count));
        let count = count.ok_or_else(|| wrong("{rows N: …} takes a number from 1 to 10000"))?;
        let behind = word.find(':').map_or("", |colon| &word[colon + 1..]).trim_start();
        self.at = self.text.len() - behind.len();
        let mut row = Vec::new();
        self.template(depth + 1, &mut row)?;
        if !self.rest().starts_with('}') {
            return Err(wrong("'{' without '}'"));
        }
        self.at += 1;
        let bytes: usize = row.iter().map(Piece::bytes).sum();
        if bytes.saturating_mul(count as usize) > STATEMENT_BYTES_MOST {
            return Err(wrong("{rows N: …} makes the statement too long"));
        }
        for index in 0..count {
            if index > 0 {
                push_sql(pieces, ",");
            }
            for piece in &row {
                match piece {
                    Piece::Sql(text) => push_sql(pieces, text),
                    other => pieces.push(other.clone()),
                }
            }
            if pieces.len() > 4 * PARAMETERS_MOST {
                return Err(wrong("{rows N: …} makes the statement too long"));
            }
        }
        Ok(())
    }
}

const UNOPENED: &str = "'}' without '{'; a brace of your own is written twice: }}";

/// What is wrong with a brace before the one that it opens is closed.
fn nested(word: &str) -> String {
    format!(
        "braces within braces: {{{word}}}; a brace of your own is written twice, {{{{ and }}}}, \
         as in '{{{{\"id\": {{row}}}}}}'"
    )
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

/// All that may stand in braces.
pub const FORMS: [&str; 33] = [
    "{int A..B}",
    "{decimal A.00..B.00}",
    "{date A..B}",
    "{datetime A..B}",
    "{text A..B}",
    "{digits N}",
    "{twice N}",
    "{bits N}",
    "{uuid}",
    "{one of a|b|c}",
    "{const N}",
    "{null P%: …}",
    "{row}",
    "{id of TABLE}",
    "{id}",
    "{same id}",
    "{id+N}",
    "{id*N}",
    "{seq}",
    "{same seq}",
    "{… as NAME}",
    "{same NAME}",
    "{= FORMULA}",
    "{rows N: …}",
    "{raw …}",
    "{table}",
    "{k}",
    "{same k}",
    "{k+N}",
    "{k*N}",
    "{hot id*N}",
    "{c}",
    "{pad}",
];

fn parse_word(word: &str, offset: usize, pieces: &mut Vec<Piece>) -> Result<(), TemplateError> {
    if word == "table" {
        pieces.push(Piece::Table(offset));
        return Ok(());
    }
    if let Some(text) = word.strip_prefix("raw ") {
        push_sql(pieces, text);
        return Ok(());
    }
    let (generators, count) = match list_of(word) {
        Some(list) => list,
        None => {
            let generator =
                generator_of(word).map_err(|message| TemplateError { offset, message })?;
            (Box::new(move |_| generator.clone()) as Maker, 1)
        }
    };
    for index in 0..count {
        if index > 0 {
            push_sql(pieces, ", ");
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

const NULL_TAKES: &str = "{null P%: …} takes a share from 0.01% to 99.99% and a generator without \
                          braces, for example {null 10%: int 1..9}";

/// The generator that a word names; what it takes, if it does not name one.
fn generator_of(word: &str) -> Result<Generator, String> {
    if let Some((inner, name)) = word.rsplit_once(" as ")
        && is_name(name)
    {
        if ["id", "seq"].contains(&name) {
            return Err(format!("{{same {name}}} has a meaning already; take another name"));
        }
        if inner.rsplit_once(" as ").is_some_and(|(_, other)| is_name(other)) {
            return Err(format!("a value is kept under one name; leave out `as {name}`"));
        }
        return Ok(Generator::Keep(name.into(), Box::new(generator_of(inner)?)));
    }
    if let Some(rest) = word.strip_prefix("null ") {
        // Of NULL in so many cases of so many cases nobody means anything.
        let parts = rest.split_once(':');
        let parts = parts.filter(|(_, inner)| !inner.trim_start().starts_with("null "));
        let (share, inner) = parts.ok_or(NULL_TAKES)?;
        let share = share.trim().strip_suffix('%').and_then(|share| fixed(share.trim(), 2));
        let share = share.filter(|share| (1..10_000).contains(share)).ok_or(NULL_TAKES)?;
        return Ok(Generator::Null(share as u32, Box::new(generator_of(inner.trim())?)));
    }
    let unknown = || {
        let begins = word.starts_with(|c: char| c.is_ascii_alphabetic());
        if !begins {
            return format!(
                "{{{word}}} is no generator; a brace of your own is written twice: {{{{ and }}}}"
            );
        }
        let near = near(word);
        format!("unknown generator {{{word}}}{near}; known are {}", FORMS.join(", "))
    };
    if let Some(formula) = word.strip_prefix('=') {
        let formula = Formula::parse(formula).map_err(|error| format!("{{{word}}}: {error}"))?;
        let named = formula.bind(&mut |name| {
            if !is_name(name) {
                return Err(format!("{{{word}}}: {name:?} is too long for a name"));
            }
            Ok(name.as_str().into())
        });
        return Ok(Generator::Computed(Box::new(named?)));
    }
    if let Some((_, generator)) = PLAIN.iter().find(|(name, _)| *name == word) {
        return Ok(generator.clone());
    }
    if let Some((name, distance)) = word.split_once('+')
        && let Some(distance) = number(distance)
    {
        match name {
            "id" => return Ok(Generator::LastIdPlus(distance)),
            "k" => return Ok(Generator::LastKPlus(distance)),
            _ => {}
        }
    }
    let (name, rest) = word.split_once(' ').ok_or_else(unknown)?;
    typed(name, rest.trim()).ok_or_else(unknown)?
}

/// What was probably meant: a generator that takes nothing, or the form of another.
fn near(word: &str) -> String {
    let plain = did_you_mean(word, PLAIN.iter().map(|(name, _)| *name));
    if !plain.is_empty() {
        return plain;
    }
    let forms = FORMS.into_iter().map(form_of_hole);
    let names: Vec<String> = forms.clone().map(first_word).collect();
    let meant = did_you_mean(&first_word(word), names.iter().map(String::as_str));
    let meant = forms.zip(&names).find(|(_, name)| meant.contains(&format!("{name:?}")));
    meant.map_or_else(String::new, |(form, _)| format!(" (did you mean {form:?}?)"))
}

fn form_of_hole(text: &'static str) -> &'static str {
    text.trim_matches(['{', '}'])
}

fn first_word(text: &str) -> String {
    text.split(' ').next().unwrap_or_default().to_owned()
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
        "date" => range(rest, calendar::parse_day)
            .map(|(low, high)| Generator::Date(low, high))
            .ok_or_else(|| takes("two days, for example 2020-01-01..2026-12-31")),
        "datetime" => range(rest, calendar::parse_day)
            .map(|(low, high)| {
                let seconds = dbdyno_model::calendar::SECONDS_PER_DAY;
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
        "bits" => range(rest, bits)
            .or_else(|| bits(rest).map(|bits| (bits, bits)))
            .map(|(low, high)| Generator::Bits(low, high))
            .ok_or_else(|| takes("a length from 1 to 63 or two, for example {bits 8}")),
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
    let count = decimal_count(low);
    if count != decimal_count(high) || count > 9 {
        return None;
    }
    let (low, high) = range(rest, |text| fixed(text.trim(), count))?;
    Some(Generator::Decimal(low, high, count as u8))
}

fn decimal_count(text: &str) -> usize {
    text.split_once('.').map_or(0, |(_, behind)| behind.trim().len())
}

/// A decimal number in units of `10^-decimals`.
fn fixed(text: &str, decimals: usize) -> Option<i64> {
    let (whole, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    if digits.is_empty() || !are_digits(digits) || !are_digits(behind) || behind.len() > decimals {
        return None;
    }
    format!("{whole}{behind:0<decimals$}").parse().ok()
}

fn are_digits(part: &str) -> bool {
    part.bytes().all(|byte| byte.is_ascii_digit())
}

fn range<T: PartialOrd>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<(T, T)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (parse(low)?, parse(high)?);
    (low <= high).then_some((low, high))
}

fn length(text: &str) -> Option<u32> {
    number(text).filter(|length| (1..=60_000).contains(length)).map(|length| length as u32)
}

/// Numbers have a sign, which leaves 63 bits.
fn bits(text: &str) -> Option<u32> {
    length(text).filter(|length| *length < i64::BITS)
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
        template.parameter_generators().cloned().collect()
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
        assert_eq!(template.sql_pieces("t"), ["INSERT INTO t VALUES (", ", ", "),(", ", ", ")"]);
        assert_eq!(template.parameter_generators().count(), 4);
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
        assert_eq!(Template::parse("{id of items*3}").unwrap().parameter_generators().count(), 3);
        let raw = Template::parse(r#"SELECT '{raw {"a": {}}}'"#).unwrap();
        assert_eq!(raw.sql(Dialect::Mysql, "t"), r#"SELECT '{"a": {}}'"#);
    }

    #[test]
    fn braces_of_ones_own_are_written_twice() {
        for (text, sql) in [
            ("{{}}", "{}"),
            ("'{{\"a\": {{\"b\": {id}}}}}'", "'{\"a\": {\"b\": ?}}'"),
            ("{{{id}}}", "{?}"),
            ("{rows 2: {rows 2: {id}}}", "?,?,?,?"),
            ("{rows 2: ({{ {id} }})}", "({ ? }),({ ? })"),
            ("{raw {{}}}}}", "{{}}}"),
        ] {
            assert_eq!(Template::parse(text).unwrap().sql(Dialect::Mysql, "t"), sql, "{text}");
        }
        for wrong in ["{\"a\": 1}", "{\"a\": {id}}", "{1,2}", "{}"] {
            let message = Template::parse(wrong).unwrap_err().message;
            assert!(message.contains("{{ and }}"), "{wrong}: {message}");
        }
    }

    /// Those that take nothing are listed as they are.
    #[test]
    fn the_list_has_every_plain_generator() {
        for (name, _) in PLAIN {
            assert!(FORMS.contains(&format!("{{{name}}}").as_str()), "{name}");
        }
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
        let message = Template::parse("{integer 1..9}").unwrap_err().message;
        assert!(message.contains("did you mean \"int A..B\"?"), "{message}");
        assert!(Template::parse("{rows 10000: ({id*60000})}").is_err());
        assert!(Template::parse(&"{rows 1: ".repeat(50_000)).is_err());
        let all = Template::parse("{rows 1000: {rows 1000: {rows 1000: (1)}}}").unwrap_err();
        assert!(all.message.contains("too long"), "{all:?}");
        let deep = format!("{{{}int 1..9}}", "null 1%: ".repeat(20_000));
        assert!(Template::parse(&deep).is_err());
        let deep = format!("{{int 1..9{}}}", " as a".repeat(200_000));
        let message = Template::parse(&deep).unwrap_err().message;
        assert!(message.contains("under one name"), "{message:.99}");
        for large in ["{rows 10000: ('{text 60000}{text 60000}')}".to_owned(), {
            format!("{{text 60000 as a}}, '{}'", "{same a}".repeat(20_000))
        }] {
            let all = Template::statement(&large).unwrap_err();
            assert!(all.message.contains("MB"), "{all:?}");
        }
        let deep = format!("{}{}", "{rows 1: ".repeat(20), "}".repeat(20));
        assert!(Template::parse(&deep).is_err());
    }
}
