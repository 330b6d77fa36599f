//! Which rows a story can show: what its statements can give, as far as they say it in words that
//! are read here.
//!
//! ```text
//!   rows: 1:10 2:20
//!   T1: update test set value = 11 where id = 1          ids 1 2, values 10 20 11
//!   T2: select id, value from test where id = 1 => a     of which a has id 1
//! ```
//!
//! A statement of another form makes everything possible: a condition is refused only where no
//! order of these statements, whatever a server does, can make it true or false.

use std::collections::BTreeSet;

use crate::case::{StepAction, StoryStatement, StoryStep};
use crate::condition::RowText;

/// The only select list and table of which rows are told.
const PLAIN: &str = "select id, value from test";
/// What makes one row of many, or many rows of one.
const MIXING: [&str; 6] = ["join", "union", "select", "group", "having", "distinct"];
/// First words of statements that leave rows as they are.
const HARMLESS: [&str; 6] = ["select", "savepoint", "set", "lock", "unlock", "show"];

/// Ids and values that rows can have; `None` is any.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PossibleRows {
    ids: Option<BTreeSet<i64>>,
    values: Option<BTreeSet<i64>>,
    /// Ids that are there from the beginning to the end.
    lasting: BTreeSet<i64>,
}

impl PossibleRows {
    /// Those of the table, from the beginning to the end of a story.
    pub(crate) fn of_story(
        rows: &[(i64, i64)],
        setup: &[StoryStatement],
        steps: &[StoryStep],
    ) -> PossibleRows {
        let ids: BTreeSet<i64> = rows.iter().map(|(id, _)| *id).collect();
        let values = rows.iter().map(|(_, value)| *value).collect();
        let mut all = PossibleRows { lasting: ids.clone(), ids: Some(ids), values: Some(values) };
        for statement in setup {
            let sql = statement.sql.to_ascii_lowercase();
            if !sql.starts_with("create index") && !sql.starts_with("create unique index") {
                all.add_statement(&sql);
            }
        }
        for step in steps.iter().filter(|step| step.action == StepAction::Statement) {
            let spelled = step.spelled.iter().map(|(_, own)| &own.sql);
            for sql in spelled.chain([&step.sql]) {
                all.add_statement(&sql.to_ascii_lowercase());
            }
        }
        all
    }

    fn add_statement(&mut self, sql: &str) {
        let words = sql.split_whitespace().collect::<Vec<&str>>().join(" ");
        let told = if HARMLESS.iter().any(|first| words.split(' ').next() == Some(first)) {
            Some(())
        } else if let Some(rest) = words.strip_prefix("update test set ") {
            self.add_update(rest)
        } else if let Some(rest) = words.strip_prefix("insert into test (") {
            self.add_insert(rest)
        } else {
            self.lasting.clear();
            words.starts_with("delete from test").then_some(())
        };
        if told.is_none() {
            *self = PossibleRows { ids: None, values: None, lasting: BTreeSet::new() };
        }
    }

    /// What stands behind `set`; `None` if it may change ids.
    fn add_update(&mut self, rest: &str) -> Option<()> {
        let assigned = rest.split(" where ").next()?.split(" returning ").next()?;
        for assignment in assigned.split(',') {
            match assignment.split_once('=').map(|(column, value)| (column.trim(), value.trim())) {
                Some(("value", value)) => self.add_value(value.parse().ok()),
                Some((column, _)) if column != "id" && !column.contains(['(', '.', '`', '"']) => {}
                _ => return None,
            }
        }
        Some(())
    }

    /// What stands behind the parenthesis of the columns; `None` if it is of other rows than those
    /// that are written out.
    fn add_insert(&mut self, rest: &str) -> Option<()> {
        let (columns, rows) = rest.split_once(") values")?;
        let columns: Vec<&str> = columns.split(',').map(str::trim).collect();
        let id = columns.iter().position(|column| *column == "id")?;
        let value = columns.iter().position(|column| *column == "value");
        let rows = rows.trim().strip_prefix('(')?.strip_suffix(')')?;
        for row in rows.split(')') {
            let row = row.trim_start_matches([',', ' ', '(']);
            let row: Vec<&str> = row.split(',').map(str::trim).collect();
            if row.len() != columns.len() {
                return None;
            }
            let number = row.get(id)?.parse().ok()?;
            self.ids.as_mut()?.insert(number);
            self.add_value(value.and_then(|place| row.get(place)?.parse().ok()));
        }
        Some(())
    }

    /// A value that is written; `None` is any.
    fn add_value(&mut self, value: Option<i64>) {
        match (value, &mut self.values) {
            (Some(value), Some(values)) => {
                values.insert(value);
            }
            _ => self.values = None,
        }
    }

    /// Those that a step can answer with; `None` if it may have other rows than those of the table.
    pub(crate) fn of_step(&self, step: &StoryStep) -> Option<PossibleRows> {
        let mut all: Option<PossibleRows> = None;
        let spelled = step.spelled.iter().map(|(_, own)| &own.sql);
        for sql in spelled.chain([&step.sql]).filter(|_| step.action == StepAction::Statement) {
            let own = self.of_select(&sql.to_ascii_lowercase())?;
            all = match all {
                Some(other) if other != own => return Some(self.without_lasting()),
                _ => Some(own),
            };
        }
        all
    }

    fn of_select(&self, sql: &str) -> Option<PossibleRows> {
        let words: Vec<&str> = sql.split_whitespace().collect();
        let rest = words.join(" ").strip_prefix(PLAIN)?.to_owned();
        let is_mixing = rest.split([' ', '(']).any(|word| MIXING.contains(&word));
        let is_behind = rest.is_empty() || rest.starts_with(' ');
        if is_mixing || !is_behind || rest.contains([';', '-']) || rest.starts_with(" as ") {
            return None;
        }
        let mut own = self.without_lasting();
        let searched = rest.strip_prefix(" where id = ").filter(|rest| !rest.contains(" or "));
        if let (Some(searched), Some(ids)) = (searched, &mut own.ids)
            && let Some(id) = searched.split(' ').next().and_then(|id| id.parse().ok())
        {
            ids.retain(|known| *known == id);
        }
        Some(own)
    }

    fn without_lasting(&self) -> PossibleRows {
        PossibleRows { lasting: BTreeSet::new(), ..self.clone() }
    }

    /// Why no row is this one.
    pub(crate) fn why_not(&self, row: &RowText) -> Option<String> {
        let (id, value) = row.split_once(':')?;
        let (id, value) = (id.parse::<i64>().ok()?, value.parse::<i64>().ok());
        if self.ids.as_ref().is_some_and(|ids| !ids.contains(&id)) {
            return Some(format!("no row that can be there has id {id}"));
        }
        let values = self.values.as_ref()?;
        let value = value.filter(|value| !values.contains(value))?;
        Some(format!("no statement of the story makes a value {value}"))
    }

    /// Why rows are not all that are there.
    pub(crate) fn why_incomplete(&self, rows: &[RowText]) -> Option<String> {
        let missing = self
            .lasting
            .iter()
            .map(i64::to_string)
            .find(|id| !rows.iter().any(|row| row.split(':').next() == Some(id)))?;
        Some(format!("no statement of the story deletes the row with id {missing}"))
    }
}
