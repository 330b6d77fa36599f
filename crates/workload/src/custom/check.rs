//! What generators may stand where, and what is known of their values.

use std::sync::Arc;

use crate::custom::schema::{Place, ROWS_MOST};
use crate::file::{FileEntry, FileError};
use crate::formula::{DIGITS_MOST, Digits, Formula, Number};
use crate::generate::{KEPT_MOST, SEQUENCE_MOST};
use crate::generator::Generator;
use crate::load::Channel;
use crate::suggest::did_you_mean;
use crate::template::{Template, TemplatePart};

/// Goes through the statements of an event in one dialect, or the columns of a table, in order.
pub(super) struct Checker<'a> {
    place: &'a Place,
    kept: Vec<(String, ValueFacts)>,
    repeat: u64,
    sequences: u64,
    parameters: u64,
    id_drawn: bool,
    k_drawn: bool,
}

/// What is known of a value before it is made.
#[derive(Clone, Copy)]
struct ValueFacts {
    /// How long it is if it is a number; `None` for other characters.
    digits: Option<Digits>,
    may_be_null: bool,
}

/// Where a generator stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stands {
    Statement,
    PartOfText,
    Column,
    PartOfColumn,
}

impl Stands {
    fn is_in_column(self) -> bool {
        matches!(self, Stands::Column | Stands::PartOfColumn)
    }

    /// Of what NULL would have to be a part, if it is more than the generator.
    fn whole(self) -> Option<&'static str> {
        match self {
            Stands::PartOfText => Some("stands in the quotes"),
            Stands::PartOfColumn => Some("a column has"),
            Stands::Statement | Stands::Column => None,
        }
    }

    /// Where a part of what stands here stands.
    fn part(self) -> Stands {
        if self.is_in_column() { Stands::PartOfColumn } else { Stands::PartOfText }
    }
}

/// Parameters that an event may have, repetitions counted.
const PARAMETERS_MOST: u64 = 200_000;

const CHARACTERS: ValueFacts = ValueFacts { digits: None, may_be_null: false };

fn number(digits: Digits) -> ValueFacts {
    ValueFacts { digits: Some(digits), may_be_null: false }
}

fn number_between(low: i64, high: i64, decimals: u8) -> ValueFacts {
    let decimals = u32::from(decimals);
    number(Digits::of_number(low, decimals).max_with(Digits::of_number(high, decimals)))
}

impl<'a> Checker<'a> {
    pub(super) fn new(place: &'a Place) -> Checker<'a> {
        Checker {
            place,
            kept: Vec::new(),
            repeat: 1,
            sequences: 0,
            parameters: 0,
            id_drawn: false,
            k_drawn: false,
        }
    }

    /// What follows is asked so often; ids of the step before are forgotten.
    pub(super) fn begin_step(&mut self, repeat: u64) {
        self.repeat = repeat;
        self.id_drawn = false;
        self.k_drawn = false;
    }

    /// Looks at a statement.
    pub(super) fn statement(
        &mut self,
        text: &str,
        channel: Channel,
        entry: &FileEntry<'_, '_>,
    ) -> Result<(), FileError> {
        let template = Template::statement(text)
            .map_err(|error| entry.error_within(error.offset, error.message))?;
        let mut before = "";
        for part in template.parts() {
            let (checked, offset) = match part {
                TemplatePart::Text(text) => {
                    before = text;
                    continue;
                }
                TemplatePart::Table(offset) => (self.table(), offset),
                TemplatePart::Parameter(generator, offset) => {
                    self.parameters += self.repeat;
                    let literal = wants_literal(before).filter(|_| channel == Channel::Prepared);
                    (self.parameter(generator, literal), offset)
                }
            };
            checked.map_err(|message| entry.error_within(offset, message))?;
        }
        if self.parameters > PARAMETERS_MOST {
            let message =
                format!("an event of more than {PARAMETERS_MOST} parameters; repeat less");
            return Err(entry.error(message));
        }
        Ok(())
    }

    /// Looks at what a column is filled with, and gives it.
    pub(super) fn column(
        &mut self,
        template: &Template,
        entry: &FileEntry<'_, '_>,
    ) -> Result<Generator, FileError> {
        let alone = template.parts().count() == 1;
        let stands = if alone { Stands::Column } else { Stands::PartOfColumn };
        let mut all = Vec::new();
        for part in template.parts() {
            let (generator, offset) = match part {
                TemplatePart::Text(text) => (Generator::Literal(text.into()), 0),
                TemplatePart::Parameter(generator, offset) => (generator.clone(), offset),
                TemplatePart::Table(offset) => {
                    let message = "{table} stands in statements, not in columns";
                    return Err(entry.error_within(offset, message));
                }
            };
            let checked = self.value(&generator, stands);
            checked.map_err(|message| entry.error_within(offset, message))?;
            all.push(generator);
        }
        Ok(if alone { all.remove(0) } else { Generator::Joined(all) })
    }

    /// Remembers what the column before gives under its name.
    pub(super) fn column_is_kept(
        &mut self,
        name: &str,
        generator: &Generator,
    ) -> Result<(), String> {
        let what = self.value(generator, Stands::Column)?;
        self.keep(name, what)
    }

    fn table(&self) -> Result<(), String> {
        match self.place {
            Place::Sbtest => Ok(()),
            Place::Own(_) | Place::There { .. } => {
                Err("{table} is one of sysbench's tables; write the name of the table".to_owned())
            }
        }
    }

    /// Looks at a parameter, and at the word before it that takes none.
    fn parameter(&mut self, generator: &Generator, literal: Option<&str>) -> Result<(), String> {
        match (generator, literal) {
            (Generator::Joined(_), Some(literal)) => Err(format!(
                "text with generators is a parameter, and {literal} takes none; write CAST('…' AS \
                 …), or channel = \"text\""
            )),
            _ => self.value(generator, Stands::Statement).map(drop),
        }
    }

    fn value(&mut self, generator: &Generator, stands: Stands) -> Result<ValueFacts, String> {
        let row_number = number(Digits::of_number(ROWS_MOST as i64, 0));
        match generator {
            Generator::Row if stands.is_in_column() => Ok(row_number),
            Generator::Row => Err("{row} stands in columns, not in statements".to_owned()),
            Generator::Id | Generator::K | Generator::HotId(_) if stands.is_in_column() => {
                Err("which table? write {id of TABLE}, or {row} for the row's own number"
                    .to_owned())
            }
            Generator::Sequence | Generator::LastSequence if stands.is_in_column() => {
                Err("{seq} stands in statements; a row's own number is {row}".to_owned())
            }
            Generator::Id => {
                self.id_drawn = true;
                self.ids().map(|()| row_number)
            }
            Generator::IdOf(table) => {
                self.id_drawn = true;
                self.table_with_rows(table).map(|()| row_number)
            }
            Generator::K | Generator::HotId(_) => self.of_sysbench(generator).map(|()| row_number),
            Generator::LastIdPlus(_) if stands.is_in_column() && !self.id_drawn => {
                Err("no id was drawn before this in the row; write {id of TABLE} first, or {= id} \
                     for the column id"
                    .to_owned())
            }
            Generator::LastIdPlus(_) | Generator::LastKPlus(_) => self.drawn_last(generator),
            Generator::Sequence | Generator::LastSequence => self.sequence(generator),
            Generator::Int(low, high) => Ok(number_between(*low, *high, 0)),
            Generator::Decimal(low, high, decimals) => Ok(number_between(*low, *high, *decimals)),
            Generator::Const(value) => Ok(number_between(*value, *value, 0)),
            Generator::Digits(count) if *count <= DIGITS_MOST => {
                Ok(number(Digits { before: *count, behind: 0 }))
            }
            Generator::OneOf(texts) => Ok(one_of(texts)),
            Generator::Literal(text) if stands.is_in_column() => plain(text),
            Generator::Null(_, inner) => self.null(inner, stands),
            Generator::Keep(name, inner) => {
                let what = self.value(inner, stands)?;
                self.keep(name, what)?;
                Ok(what)
            }
            Generator::Kept(name) => {
                let what = self.kept(name, stands)?;
                never_null(what, stands, || format!("{{same {name}}}"))
            }
            Generator::Computed(formula) => {
                let what = self.computed(formula, stands)?;
                never_null(what, stands, || "the formula".to_owned())
            }
            Generator::Joined(parts) => {
                parts.iter().try_for_each(|part| self.value(part, stands.part()).map(drop))?;
                Ok(CHARACTERS)
            }
            _ => Ok(CHARACTERS),
        }
    }

    fn of_sysbench(&mut self, generator: &Generator) -> Result<(), String> {
        match self.place {
            Place::Own(_) => {
                Err("{k} and {hot id*N} are of sysbench's tables; write {int A..B} or \
                                  {id of TABLE}"
                    .to_owned())
            }
            Place::Sbtest | Place::There { .. } => {
                self.k_drawn |= *generator == Generator::K;
                self.ids()
            }
        }
    }

    /// A number that lies some way from the one that was drawn last.
    fn drawn_last(&self, generator: &Generator) -> Result<ValueFacts, String> {
        let far = |distance| number_between(distance, i64::MAX, 0);
        match generator {
            Generator::LastIdPlus(_) if !self.id_drawn => Err(
                "no id was drawn before this in the step; write {id} first, or keep one from an \
                 earlier step: {id as NAME} and {same NAME}"
                    .to_owned(),
            ),
            Generator::LastKPlus(_) if !self.k_drawn => {
                Err("no k was drawn before this in the step; write {k} first".to_owned())
            }
            Generator::LastIdPlus(distance) | Generator::LastKPlus(distance) => Ok(far(*distance)),
            _ => unreachable!("only these two are asked about"),
        }
    }

    fn sequence(&mut self, generator: &Generator) -> Result<ValueFacts, String> {
        if *generator == Generator::Sequence {
            self.sequences += self.repeat;
            if self.sequences > SEQUENCE_MOST as u64 {
                return Err(format!("more than {SEQUENCE_MOST} times {{seq}} in an event"));
            }
        }
        match self.sequences {
            0 => Err("there is no {seq} before this in the event".to_owned()),
            _ => Ok(number_between(0, i64::MAX, 0)),
        }
    }

    fn null(&mut self, inner: &Generator, stands: Stands) -> Result<ValueFacts, String> {
        if let Some(whole) = stands.whole() {
            return Err(format!("{{null …}} must be all that {whole}"));
        }
        if *inner == Generator::Row {
            return Err("{row} is never NULL".to_owned());
        }
        let what = self.value(inner, stands)?;
        Ok(ValueFacts { may_be_null: true, ..what })
    }

    fn computed(&self, formula: &Formula<Arc<str>>, stands: Stands) -> Result<ValueFacts, String> {
        if formula.has_row() && !stands.is_in_column() {
            return Err(
                "row is the number of the row that is filled, and stands in columns, not in \
                        statements"
                    .to_owned(),
            );
        }
        let mut may_be_null = formula.may_divide_by_zero();
        let digits = formula.max_digits(&mut |name| {
            let what = self.kept(name, stands)?;
            may_be_null |= what.may_be_null;
            what.digits.ok_or_else(|| {
                format!("{name} is no number; texts are put together without =, as {{same {name}}}")
            })
        })?;
        Ok(ValueFacts { digits: Some(digits), may_be_null })
    }

    fn kept(&self, name: &str, stands: Stands) -> Result<ValueFacts, String> {
        if let Some((_, what)) = self.kept.iter().find(|(kept, _)| kept == name) {
            return Ok(*what);
        }
        let near = did_you_mean(name, self.kept.iter().map(|(kept, _)| kept.as_str()));
        Err(if stands.is_in_column() {
            format!(
                "no column {name:?} stands before this{near}, and no value was kept under that \
                 name; write {{… as {name}}} first, or put the column there"
            )
        } else {
            format!(
                "nothing was kept as {name:?} before this{near}; write {{… as {name}}} first, for \
                 example {{id as {name}}}"
            )
        })
    }

    fn keep(&mut self, name: &str, what: ValueFacts) -> Result<(), String> {
        match self.kept.iter_mut().find(|(kept, _)| kept == name) {
            Some((_, known)) => *known = what,
            None => self.kept.push((name.to_owned(), what)),
        }
        match self.kept.len() > KEPT_MOST {
            true => Err(format!("more than {KEPT_MOST} names for values; use fewer")),
            false => Ok(()),
        }
    }

    fn ids(&self) -> Result<(), String> {
        match self.place {
            Place::Sbtest | Place::There { rows: Some(_) } => Ok(()),
            Place::There { rows: None } => {
                Err("ids from 1 to what? write rows = N at the top of the file".to_owned())
            }
            Place::Own(tables) if tables.len() == 1 => Ok(()),
            Place::Own(tables) => Err(format!(
                "which table? write {{id of {}}}",
                tables.first().map_or("TABLE", |table| &table.name)
            )),
        }
    }

    fn table_with_rows(&self, table: &str) -> Result<(), String> {
        let Place::Own(tables) = self.place else {
            return Err("{id of TABLE} is for tables of the load's own; write {id}".to_owned());
        };
        match tables.iter().find(|known| known.name == table) {
            Some(known) if known.is_empty() => {
                Err(format!("table {table} has no rows when the load begins"))
            }
            Some(_) => Ok(()),
            None => {
                let names = tables.iter().map(|table| table.name.as_str());
                let near = did_you_mean(table, names.clone());
                let names: Vec<&str> = names.collect();
                Err(format!("there is no table {table:?}{near}; there are {}", names.join(", ")))
            }
        }
    }
}

/// The word in front of a text in quotes that makes a literal of it.
fn wants_literal(before: &str) -> Option<&str> {
    const WORDS: [&str; 3] = ["date", "time", "timestamp"];
    const PREFIXES: [&str; 4] = ["b", "e", "n", "x"];
    let word = before.trim_end().rsplit(|c| !is_name_char(c)).next()?;
    let is = |known: &&str| known.eq_ignore_ascii_case(word);
    let is_prefix = before.ends_with(is_name_char) && PREFIXES.iter().any(is);
    (is_prefix || WORDS.iter().any(is)).then_some(word)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// NULL cannot be a part of a text.
fn never_null(
    what: ValueFacts,
    stands: Stands,
    named: impl FnOnce() -> String,
) -> Result<ValueFacts, String> {
    match stands.whole() {
        Some(whole) if what.may_be_null => {
            Err(format!("{} may be NULL, and must be all that {whole}", named()))
        }
        _ => Ok(what),
    }
}

fn one_of(texts: &[String]) -> ValueFacts {
    let digits = texts.iter().map(|text| Number::read(text.as_bytes()).map(Number::digit_count));
    let longest = digits.reduce(|one, other| Some(one?.max_with(other?)));
    ValueFacts { digits: longest.flatten(), may_be_null: false }
}

/// Text of a column: a row is a line, and its columns stand between tabs.
fn plain(text: &str) -> Result<ValueFacts, String> {
    if text.chars().any(|c| c == '\\' || c.is_control()) {
        return Err("a column cannot have backslashes, tabs or line breaks".to_owned());
    }
    Ok(one_of(&[text.to_owned()]))
}
