//! Whether what is told next may be within a statement that has not ended.
//!
//! ```text
//!   UPDATE t SET a = 'x                  a value with line feeds: its lines may look like those of
//!   TRANSACTION 7, ACTIVE 9 sec          an account, of this server or of another one
//!   MySQL thread id 7, …
//!   foo', pw = 'hunter2'                 no statement, and a secret of somebody else
//! ```
//!
//! Servers print so many bytes of a statement and no more: what begins behind them is none of it.
//! Within them, what is told behind a statement that ends in a literal is a hole.

use dbdyno_model::Dialect;

use super::statement::Statement;

/// Why nothing is told of a statement.
pub(super) const WITHIN_ANOTHER: &str = "it may be within the literal of the statement before it";
/// Bytes of a statement that InnoDB prints of a deadlock, at most: the constant with which
/// `lock0lock.cc` calls `trx_print_latched`.
const INNODB_BYTES_MOST: usize = 3_000;
/// The largest `track_activity_query_size` of PostgreSQL.
const POSTGRES_BYTES_MOST: usize = 1 << 20;

/// The statements that were told last, of either server: a literal of the one may have an account
/// of the other.
#[derive(Default)]
pub(super) struct OpenStatements {
    innodb: OpenStatement,
    postgres: OpenStatement,
}

/// A statement, as far as it is told.
#[derive(Default)]
struct OpenStatement {
    latest: Statement,
    /// Bytes of it that were told before the line that is read: whoever reads the line first may
    /// take it for a part of the statement.
    told: usize,
    /// Whether it was too long by then to be kept.
    was_cut: bool,
    /// Bytes of lines since it began.
    bytes: usize,
    /// Whether another one has begun within it.
    is_in_doubt: bool,
}

impl OpenStatements {
    /// A statement begins. Returns whether it may be within another one.
    pub(super) fn begin_statement(&mut self, dialect: Dialect) -> bool {
        let is_within_innodb = self.innodb.may_have(Dialect::Mysql, INNODB_BYTES_MOST);
        let is_within_postgres = self.postgres.may_have(Dialect::Postgres, POSTGRES_BYTES_MOST);
        let own = self.of_dialect(dialect);
        if is_within_innodb || is_within_postgres {
            own.is_in_doubt = true;
        } else {
            *own = OpenStatement::default();
        }
        own.is_in_doubt
    }

    /// A line of the statement that began last.
    pub(super) fn push_line(&mut self, line: &str, dialect: Dialect) {
        let own = self.of_dialect(dialect);
        if !own.is_in_doubt {
            own.latest.push_line(line);
        }
    }

    /// A line is read, whatever it is. PostgreSQL puts a tab before lines that go on with an entry
    /// of its log.
    pub(super) fn pass_line(&mut self, line: &str) {
        for one in [&mut self.innodb, &mut self.postgres] {
            one.bytes = one.bytes.saturating_add(line.len() + 1);
            (one.told, one.was_cut) = (one.latest.len(), one.latest.is_cut());
        }
        // InnoDB puts one blank before the fields of a record.
        let goes_on = line.starts_with('\t') || line.starts_with("  ");
        if goes_on && !self.postgres.latest.is_empty() {
            self.push_line(line.trim_start(), Dialect::Postgres);
        }
    }

    /// An entry of PostgreSQL's log begins with this text, which may be a statement.
    pub(super) fn begin_entry(&mut self, text: &str) {
        self.postgres = OpenStatement::default();
        self.begin_statement(Dialect::Postgres);
        self.push_line(text, Dialect::Postgres);
    }

    fn of_dialect(&mut self, dialect: Dialect) -> &mut OpenStatement {
        match dialect {
            Dialect::Postgres => &mut self.postgres,
            _ => &mut self.innodb,
        }
    }
}

impl OpenStatement {
    /// Whether what is told now may be within its literal, if a server prints so many bytes of it.
    fn may_have(&self, dialect: Dialect, bytes_most: usize) -> bool {
        let goes_on = self.is_in_doubt || self.was_cut || self.latest.may_go_on(self.told, dialect);
        goes_on && self.bytes < bytes_most
    }
}
