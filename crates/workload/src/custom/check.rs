//! What generators may stand where.

use crate::custom::schema::Place;
use crate::file::{Entry, FileError};
use crate::generate::{KEPT_MOST, SEQUENCE_MOST};
use crate::suggest::did_you_mean;
use crate::template::{Generator, Part, Template};

/// Goes through the statements of an event in one dialect, in order.
pub(super) struct Checker<'a> {
    place: &'a Place,
    kept: Vec<String>,
    repeat: u64,
    sequences: u64,
    parameters: u64,
    id_drawn: bool,
    k_drawn: bool,
}

/// Parameters that an event may have, repetitions counted.
const PARAMETERS_MOST: u64 = 200_000;

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
    pub(super) fn statement(&mut self, text: &str, entry: &Entry<'_, '_>) -> Result<(), FileError> {
        let template = Template::parse(text)
            .map_err(|error| entry.error_within(error.offset, error.message))?;
        let mut quoted = false;
        for part in template.parts() {
            let (checked, offset) = match part {
                Part::Text(text) => {
                    quoted ^= text.matches('\'').count() % 2 == 1;
                    continue;
                }
                Part::Table(offset) => (self.table(), offset),
                Part::Parameter(_, offset) if quoted => {
                    let message = "a generator within quotes would be taken for characters; leave \
                                   the quotes out, a placeholder needs none";
                    (Err(message.to_owned()), offset)
                }
                Part::Parameter(generator, offset) => (self.parameter(generator), offset),
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

    /// Looks at what a column is filled with.
    pub(super) fn column(&mut self, text: &str, entry: &Entry<'_, '_>) -> Result<(), FileError> {
        let template = Template::parse(text)
            .map_err(|error| entry.error_within(error.offset, error.message))?;
        let parts: Vec<Part<'_>> = template.parts().collect();
        for part in &parts {
            let (checked, offset) = match part {
                Part::Text(text) if text.chars().any(|c| c == '\\' || c.is_control()) => {
                    let message = "a column cannot have backslashes, tabs or line breaks";
                    (Err(message.to_owned()), 0)
                }
                Part::Text(_) => continue,
                Part::Table(offset) => {
                    (Err("{table} stands in statements, not in columns".to_owned()), *offset)
                }
                Part::Parameter(generator, offset) => {
                    (self.filling(generator, parts.len()), *offset)
                }
            };
            checked.map_err(|message| entry.error_within(offset, message))?;
        }
        Ok(())
    }

    fn table(&self) -> Result<(), String> {
        match self.place {
            Place::Sbtest => Ok(()),
            Place::Own(_) | Place::There { .. } => {
                Err("{table} is one of sysbench's tables; write the name of the table".to_owned())
            }
        }
    }

    fn parameter(&mut self, generator: &Generator) -> Result<(), String> {
        self.parameters += self.repeat;
        match generator {
            Generator::Row => Err("{row} stands in columns, not in statements".to_owned()),
            Generator::K | Generator::HotId(_) => match self.place {
                Place::Own(_) => {
                    Err("{k} and {hot id*N} are of sysbench's tables; write {int A..B} \
                                      or {id of TABLE}"
                        .to_owned())
                }
                Place::Sbtest | Place::There { .. } => {
                    self.k_drawn |= *generator == Generator::K;
                    self.ids()
                }
            },
            _ => self.anywhere(generator),
        }
    }

    /// In a column, NULL cannot be a part of a text.
    fn filling(&mut self, generator: &Generator, parts: usize) -> Result<(), String> {
        match generator {
            Generator::Null(..) if parts > 1 => {
                Err("{null …} must be all that a column has".to_owned())
            }
            Generator::Kept(_) if parts > 1 => {
                Err("{same NAME} must be all that a column has".to_owned())
            }
            Generator::Row => Ok(()),
            Generator::Keep(_, inner) if **inner == Generator::Row => self.anywhere(generator),
            Generator::Id | Generator::K | Generator::HotId(_) => {
                Err("which table? write {id of TABLE}, or {row} for the row's own number"
                    .to_owned())
            }
            Generator::Sequence | Generator::LastSequence => {
                Err("{seq} stands in statements; a row's own number is {row}".to_owned())
            }
            _ => self.anywhere(generator),
        }
    }

    fn anywhere(&mut self, generator: &Generator) -> Result<(), String> {
        match generator {
            Generator::Id => {
                self.id_drawn = true;
                self.ids()
            }
            Generator::IdOf(table) => {
                self.id_drawn = true;
                self.table_with_rows(table)
            }
            Generator::LastIdPlus(_) if !self.id_drawn => Err(
                "no id was drawn before this in the step; write {id} first, or keep one from an \
                     earlier step: {id as NAME} and {same NAME}"
                    .to_owned(),
            ),
            Generator::LastKPlus(_) if !self.k_drawn => {
                Err("no k was drawn before this in the step; write {k} first".to_owned())
            }
            Generator::Sequence => {
                self.sequences += self.repeat;
                if self.sequences > SEQUENCE_MOST as u64 {
                    return Err(format!("more than {SEQUENCE_MOST} times {{seq}} in an event"));
                }
                Ok(())
            }
            Generator::LastSequence if self.sequences == 0 => {
                Err("there is no {seq} before this in the event".to_owned())
            }
            Generator::Null(_, inner) => match &**inner {
                Generator::Row => Err("{row} is never NULL".to_owned()),
                inner => self.parameter(inner),
            },
            Generator::Keep(name, inner) => {
                if **inner != Generator::Row {
                    self.parameter(inner)?;
                }
                self.keep(name)
            }
            Generator::Kept(name) if !self.kept.iter().any(|kept| **kept == **name) => {
                let near = did_you_mean(name, self.kept.iter().map(String::as_str));
                Err(format!(
                    "nothing was kept as {name:?} before this{near}; write {{… as {name}}} first, \
                     for example {{id as {name}}}"
                ))
            }
            _ => Ok(()),
        }
    }

    fn keep(&mut self, name: &str) -> Result<(), String> {
        if !self.kept.iter().any(|kept| kept == name) {
            self.kept.push(name.to_owned());
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
