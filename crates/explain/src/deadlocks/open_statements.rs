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

use super::carried::Source;
use super::literal_scan::LiteralScan;

/// Why nothing is told of a statement.
pub(super) const WITHIN_ANOTHER: &str = "it may be within the literal of the statement before it";
/// Bytes of a statement that InnoDB prints of a deadlock, at most: the constant with which
/// `lock0lock.cc` calls `trx_print_latched`.
const INNODB_BYTES_MOST: usize = 3_000;
/// The largest `track_activity_query_size` of PostgreSQL.
const POSTGRES_BYTES_MOST: usize = 1 << 20;

/// The statements that were told last: of the source of the line that is read, and of the text
/// without regard to sources, as a line of a literal may begin like one of another source.
#[derive(Default)]
pub(super) struct OpenStatements {
    of_source: LatestStatements,
    of_text: LatestStatements,
    source: Source,
    /// Whose entry of PostgreSQL's log was read last.
    entry_source: Source,
}

/// A statement of either server: a literal of the one may have an account of the other.
pub(super) struct LatestStatements {
    innodb: OpenStatement,
    postgres: OpenStatement,
    /// Whether lines that go on with an entry of PostgreSQL's log stand without their tab: what
    /// looks like an entry may be one of them.
    is_indentation_lost: bool,
}

/// A statement, as far as it is told.
struct OpenStatement {
    dialect: Dialect,
    has_begun: bool,
    /// Bytes of it that its server prints at most.
    bytes_most: usize,
    scan: LiteralScan,
    /// Whether it was within a literal before the line that is read.
    was_open: bool,
    /// Whether the line that is read is a part of the scan.
    is_scanned: bool,
    /// Whether a line within a literal was read as something else: what is of the statement is not
    /// known from there on.
    is_astray: bool,
    /// Bytes of lines since it began.
    bytes: usize,
    /// For how many bytes of lines the literals of those before it may go on.
    doubtful_bytes: usize,
}

impl Default for LatestStatements {
    fn default() -> LatestStatements {
        LatestStatements {
            innodb: OpenStatement::new(Dialect::Mysql, INNODB_BYTES_MOST),
            postgres: OpenStatement::new(Dialect::Postgres, POSTGRES_BYTES_MOST),
            is_indentation_lost: false,
        }
    }
}

impl OpenStatements {
    /// A line of this source follows, with what the source has told last.
    pub(super) fn begin_line(&mut self, source: Source, statements: LatestStatements) {
        (self.source, self.of_source) = (source, statements);
    }

    /// What the source of the line has told last.
    pub(super) fn end_line(&mut self) -> LatestStatements {
        std::mem::take(&mut self.of_source)
    }

    /// A statement begins. Returns whether it may be within another one.
    pub(super) fn begin_statement(&mut self, dialect: Dialect) -> bool {
        let doubts = self.both().map(|one| one.begin_statement(dialect));
        doubts.contains(&true)
    }

    /// A line of the statement that began last.
    pub(super) fn push_line(&mut self, line: &str, dialect: Dialect) {
        self.both().into_iter().for_each(|one| one.of_dialect(dialect).push_line(line));
    }

    /// A line is read, whatever it is.
    pub(super) fn pass_line(&mut self, line: &str) {
        self.both().into_iter().for_each(|one| one.pass_line(line));
    }

    /// An entry of PostgreSQL's log begins with this text, which may be a statement.
    pub(super) fn begin_entry(&mut self, text: &str) {
        let is_of_another = self.entry_source != self.source;
        self.entry_source = self.source;
        self.of_source.begin_entry(text, false);
        self.of_text.begin_entry(text, is_of_another);
    }

    /// A line goes on with an entry of PostgreSQL's log, and has no tab.
    pub(super) fn lose_indentation(&mut self) {
        self.both().into_iter().for_each(|one| one.is_indentation_lost = true);
    }

    fn both(&mut self) -> [&mut LatestStatements; 2] {
        [&mut self.of_source, &mut self.of_text]
    }
}

impl LatestStatements {
    fn begin_statement(&mut self, dialect: Dialect) -> bool {
        let is_in_doubt = self.innodb.bytes_to_come() > 0 || self.postgres.bytes_to_come() > 0;
        self.of_dialect(dialect).begin_another();
        is_in_doubt
    }

    /// PostgreSQL puts a tab before lines that go on with an entry of its log.
    fn pass_line(&mut self, line: &str) {
        for one in [&mut self.innodb, &mut self.postgres] {
            one.pass_line(line);
        }
        // InnoDB puts one blank before the fields of a record.
        let goes_on = line.starts_with('\t') || line.starts_with("  ");
        if goes_on && self.postgres.has_begun {
            self.postgres.push_line(line);
        }
    }

    /// What begins like an entry of a log that has tabs is one, if it is of the same source.
    fn begin_entry(&mut self, text: &str, is_of_another: bool) {
        if !self.is_indentation_lost && !is_of_another {
            self.postgres = OpenStatement::new(Dialect::Postgres, POSTGRES_BYTES_MOST);
        }
        self.postgres.begin_another();
        self.postgres.push_line(text);
    }

    fn of_dialect(&mut self, dialect: Dialect) -> &mut OpenStatement {
        match dialect {
            Dialect::Postgres => &mut self.postgres,
            _ => &mut self.innodb,
        }
    }
}

impl OpenStatement {
    fn new(dialect: Dialect, bytes_most: usize) -> OpenStatement {
        OpenStatement {
            dialect,
            has_begun: false,
            bytes_most,
            scan: LiteralScan::new(dialect),
            was_open: false,
            is_scanned: false,
            is_astray: false,
            bytes: 0,
            doubtful_bytes: 0,
        }
    }

    /// Another one begins in the line that is read. Both may be none, or be real.
    fn begin_another(&mut self) {
        let doubtful_bytes = self.bytes_to_come();
        let next = Self::new(self.dialect, self.bytes_most);
        *self = OpenStatement { has_begun: true, doubtful_bytes, ..next };
    }

    /// For how many bytes of lines a literal may go on of those that began before the line that is
    /// read.
    fn bytes_to_come(&self) -> usize {
        let own = self.bytes_most.saturating_sub(self.bytes);
        let is_open = self.was_open || self.is_astray;
        if is_open { own.max(self.doubtful_bytes) } else { self.doubtful_bytes }
    }

    fn pass_line(&mut self, line: &str) {
        let bytes = line.len() + 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.doubtful_bytes = self.doubtful_bytes.saturating_sub(bytes);
        self.is_astray |= self.was_open && !self.is_scanned;
        (self.was_open, self.is_scanned) = (self.scan.is_open(), false);
    }

    fn push_line(&mut self, line: &str) {
        if !std::mem::replace(&mut self.is_scanned, true) {
            self.scan.push_line(line);
        }
    }
}
