//! Rows in bulk: prepared INSERTs of many rows each, in one transaction.
//!
//! ```text
//!   more ── lines, a tab between fields ──▶ Lines ── 512 rows ──▶ execute   ┐ BEGIN
//!     ▲                                       │  └── 512 rows ──▶ execute   │
//!     └─────── until there are none left ◀────┘  └── the rest ──▶ execute   ┘ COMMIT
//! ```
//!
//! The server spends as much on a row that comes so as on one that comes through LOAD DATA. What
//! LOAD DATA cannot do is share a table with others: it holds the lock on AUTO_INCREMENT to the end
//! of its statement, unless `innodb_autoinc_lock_mode` is 2. An INSERT whose number of rows is
//! known takes no such lock. Nor does it need `local_infile`, which many servers keep shut.

use std::ops::Range;

use super::result::{Form, Reading, RowCounter};
use super::statement::Statement;
use super::{MysqlConnection, PREPARE};
use crate::client::{Args, BulkTarget, Client as _, Param};
use crate::error::WireError;

/// Rows of one INSERT: about 100 KiB of a table like sysbench's. With 64 rows filling takes a
/// quarter longer.
const ROWS_MOST: usize = 512;
/// The protocol counts parameters in two bytes.
const PARAMETERS_MOST: usize = u16::MAX as usize;

impl MysqlConnection {
    /// Inserts what `more` makes; returns the number of rows that the server took.
    ///
    /// # Errors
    /// The server's refusal, after which none of the rows is there, or a broken connection.
    pub(super) fn insert_in_bulk(
        &mut self,
        target: &BulkTarget<'_>,
        more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<u64, WireError> {
        self.run("BEGIN")?;
        let taken = insert_all(self, target, more);
        match &taken {
            Ok(_) => self.run("COMMIT").map(drop)?,
            Err(error) if error.is_fatal() => {}
            Err(_) => self.run("ROLLBACK").map(drop)?,
        }
        taken
    }
}

fn insert_all(
    connection: &mut MysqlConnection,
    target: &BulkTarget<'_>,
    more: &mut dyn FnMut(&mut Vec<u8>) -> bool,
) -> Result<u64, WireError> {
    let columns = target.columns.len();
    let rows_each = (PARAMETERS_MOST / columns).clamp(1, ROWS_MOST);
    let mut whole = Insert::prepare(connection, target, rows_each)?;
    let (mut lines, mut taken, mut goes_on) = (Lines::default(), 0, true);
    while goes_on {
        goes_on = more(&mut lines.made);
        lines.find_fields();
        let mut fields = lines.fields.chunks_exact(rows_each * columns);
        for fields in &mut fields {
            let args = RowArgs { bytes: &lines.bytes, fields, target };
            taken += whole.execute(connection, &args)?;
        }
        let rest = fields.remainder().len();
        lines.keep_last(rest);
    }
    whole.close(connection)?;
    if !lines.fields.is_empty() {
        let mut rest = Insert::prepare(connection, target, lines.fields.len() / columns)?;
        let args = RowArgs { bytes: &lines.bytes, fields: &lines.fields, target };
        taken += rest.execute(connection, &args)?;
        rest.close(connection)?;
    }
    Ok(taken)
}

/// A prepared INSERT that nobody else uses.
struct Insert(Statement);

impl Insert {
    fn prepare(
        connection: &mut MysqlConnection,
        target: &BulkTarget<'_>,
        rows: usize,
    ) -> Result<Insert, WireError> {
        let row = format!("({})", vec!["?"; target.columns.len()].join(","));
        let (table, columns) = (target.table, target.columns.join(", "));
        let rows = vec![row; rows].join(",");
        let sql = format!("INSERT INTO {table} ({columns}) VALUES {rows}");
        connection.ask(|this| {
            this.send_text(PREPARE, &sql)?;
            Statement::read(&mut this.channel, this.ending).map(Insert)
        })
    }

    fn execute(
        &mut self,
        connection: &mut MysqlConnection,
        args: &dyn Args,
    ) -> Result<u64, WireError> {
        connection.ask(|this| {
            self.0.write(&mut this.channel, args)?;
            this.channel.send()?;
            let mut reading = Reading::new(Form::Binary, this.ending);
            let outcome = reading.finish(&mut this.channel, &mut RowCounter);
            self.0.note_outcome(&outcome);
            outcome.map(|outcome| outcome.affected)
        })
    }

    /// A server keeps a statement of thousands of parameters in a megabyte, and a table is filled
    /// in many parts. After an error it stays until the connection ends.
    fn close(self, connection: &mut MysqlConnection) -> Result<(), WireError> {
        connection.ask(|this| self.0.close(&mut this.channel))
    }
}

/// Lines that were made, and where their fields are.
#[derive(Default)]
struct Lines {
    /// What was made last.
    made: Vec<u8>,
    bytes: Vec<u8>,
    fields: Vec<Range<usize>>,
}

impl Lines {
    /// Takes over what was made.
    fn find_fields(&mut self) {
        let mut start = self.bytes.len();
        self.bytes.append(&mut self.made);
        for (index, byte) in self.bytes.iter().enumerate().skip(start) {
            if matches!(byte, b'\t' | b'\n') {
                self.fields.push(start..index);
                start = index + 1;
            }
        }
    }

    /// Forgets all but the last `count` fields.
    fn keep_last(&mut self, count: usize) {
        self.fields.drain(..self.fields.len() - count);
        let start = self.fields.first().map_or(self.bytes.len(), |field| field.start);
        self.bytes.drain(..start);
        for field in &mut self.fields {
            *field = field.start - start..field.end - start;
        }
    }
}

/// Fields as parameters; the server makes numbers of digits where a column wants them.
struct RowArgs<'a> {
    bytes: &'a [u8],
    fields: &'a [Range<usize>],
    target: &'a BulkTarget<'a>,
}

impl Args for RowArgs<'_> {
    fn count(&self) -> usize {
        self.fields.len()
    }
    fn get(&self, index: usize) -> Param<'_> {
        let field = &self.bytes[self.fields[index].clone()];
        self.target.param_from_field(index % self.target.columns.len(), field)
    }
}
