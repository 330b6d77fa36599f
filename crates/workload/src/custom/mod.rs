//! Loads that users write: a TOML file.
//!
//! ```text
//!   shop.toml ──Custom::parse──▶ Custom ──load(options, tables)──▶ Load
//!                 │                ├── events: statements with generators   ──▶ Mix or Choice
//!                 ▼                └── tables: sysbench's, its own, none    ──▶ Dataset
//!       FileError: file, line, column, what to write instead
//! ```
//!
//! ```toml
//! name = "accounts"
//! group = "write"
//!
//! [[table]]
//! name = "account"
//! create = "CREATE TABLE account (id INTEGER PRIMARY KEY, balance INTEGER NOT NULL)"
//! columns = { id = "{row}", balance = "{int 0..1000}" }
//!
//! [[step]]
//! sql = "UPDATE account SET balance = balance + {int -9..9} WHERE id = {id}"
//! changed = "0..1"
//! ```
//!
//! What stands in braces is described in [`crate::template`]. Everything that can be known without
//! a server is checked when the file is read: a load that has been read compiles in every dialect
//! that it speaks.

mod check;
mod declared;
mod dialects;
mod events;
pub mod keys;
mod schema;
mod tables;

use std::fmt;
use std::sync::Arc;

use dbdyno_model::random;

use crate::catalog::built_in;
use crate::dataset::Dataset;
use crate::draw::{self, Draw};
use crate::file::{FileError, FileSection, Source};
use crate::load::{Choice, Content, Load, LoadGroup, Mix, TransactionMode, Trend, Unit};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;

use schema::Place;

/// A load as a file describes it.
#[derive(Clone, PartialEq)]
pub struct Custom {
    /// What it is called.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// Its place in the table of results.
    pub group: LoadGroup,
    /// The file as it was named, for messages.
    pub file: String,
    /// The text of the file: what a stored plan keeps.
    pub text: String,
    trend: Trend,
    draw: Draw,
    place: Place,
    events: Vec<(u32, Mix)>,
}

/// The text speaks for the rest.
impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("file", &self.file).field("text", &self.text).finish()
    }
}

/// More is no description of a load.
const BYTES_MOST: usize = 1 << 20;

impl Custom {
    /// Reads a file. `file` is what it is called in messages.
    ///
    /// # Errors
    /// What is wrong, where, and what to write instead.
    pub fn parse(file: &str, text: &str) -> Result<Custom, FileError> {
        let source = Source { file, text };
        if text.len() > BYTES_MOST {
            return Err(source.error(0, "the file is larger than 1 MiB; a load is shorter"));
        }
        let document = source.parse()?;
        let top = FileSection::of_file(source, "a load", &document);
        let name = name(&top)?;
        let about = match top.value("about") {
            Some(about) => about.as_text()?.to_owned(),
            None => format!("custom load of {file}"),
        };
        let group = top
            .required("group", "group = \"point\", \"range\", \"range-aggregate\" or \"write\"")?;
        let group = LoadGroup::from_name(group.as_one_of(&LoadGroup::ALL.map(LoadGroup::name))?);
        let group = group.expect("one of the words above");
        let said = top.value("trend").map(|t| t.as_one_of(&["steady", "grows", "shrinks"]));
        let said = said.transpose()?;
        let draw = draw(&top)?;
        let place = tables::read_tables(&top)?;
        let events = events::read_events(&top, &place, draw)?;
        let trend = match said {
            Some("grows") => Trend::Grows,
            Some("shrinks") => Trend::Shrinks,
            Some(_) => Trend::Steady,
            None => events::size_trend(&events),
        };
        top.finish()?;
        let (file, text) = (file.to_owned(), text.to_owned());
        Ok(Custom { name, about, group, file, text, trend, draw, place, events })
    }

    /// Whether it makes no tables: those that it asks must be there already.
    pub fn asks_what_is_there(&self) -> bool {
        matches!(self.place, Place::There { .. })
    }

    /// The load with its options: `rand`, `skew`, `trx`. `spec` is its name with them.
    ///
    /// # Errors
    /// An option that it does not take.
    pub(crate) fn load(
        &self,
        spec: &str,
        options: &mut SpecOptions,
        tables: Tables,
    ) -> Result<Load, SpecError> {
        let draw = options.draw(self.draw)?;
        let transaction = match options.take_one_of("trx", &["as written", "on", "off"])? {
            "on" => Some(TransactionMode::Explicit),
            "off" => Some(TransactionMode::Autocommit),
            _ => None,
        };
        let mut events = self.events.clone();
        for (_, mix) in &mut events {
            mix.draw = draw;
            mix.transaction = transaction.unwrap_or(mix.transaction);
        }
        let content = match events.len() {
            1 => Content::Mix(events.remove(0).1),
            _ => Content::Choice(Choice { mixes: events }),
        };
        Ok(Load {
            name: spec.to_owned(),
            about: self.about.clone(),
            group: self.group,
            trend: self.trend,
            unit: Unit::Statements,
            dataset: self.dataset(tables),
            content,
            background: None,
            options: options.requested_names(),
            file: Some(self.file.clone()),
        })
    }

    fn dataset(&self, tables: Tables) -> Arc<dyn Dataset> {
        let key = format!("{}?file={:016x}", self.name, random::key_of(&self.text));
        tables::build_dataset(&self.place, key, tables)
    }
}

/// A load's name stands in lists with commas, in front of options, and in the names of stages.
fn name(top: &FileSection<'_, '_>) -> Result<String, FileError> {
    let entry = top.required("name", "name = \"my-load\"")?;
    let name = entry.as_text()?;
    if name.len() > 63
        || !name.starts_with(|c: char| c.is_ascii_alphabetic())
        || !name.chars().all(|c: char| c.is_ascii_alphanumeric() || "-_".contains(c))
    {
        let message = "a name has letters, digits, '-' and '_', begins with a letter and is at \
                       most 63 long";
        return Err(entry.error(message));
    }
    if name == "settle" || crate::suite::Suite::find(name).is_some() || built_in::has_load(name) {
        return Err(entry.error(format!(
            "dbdyno has a load, suite or stage {name:?} already; take another name"
        )));
    }
    Ok(name.to_owned())
}

fn draw(top: &FileSection<'_, '_>) -> Result<Draw, FileError> {
    let skew = top.value("skew");
    let share = skew.as_ref().map(|skew| skew.as_fraction()).transpose()?;
    match top.value("rand") {
        Some(rand) => {
            let name = rand.as_one_of(&draw::NAMES)?;
            Draw::from_name(name, share).map_err(|error| skew.unwrap_or(rand).error(error))
        }
        None => match skew {
            Some(skew) => {
                Err(skew.error("skew takes a distribution beside it: rand = \"zipfian\""))
            }
            None => Ok(Draw::Uniform),
        },
    }
}
