//! A case: a story of a few sessions, and what makes it the anomaly that it is named after.

use dbdyno_model::Dialect;
use dbdyno_model::isolation::{IsolationLevel, Promise};

use crate::condition::Condition;

/// Servers that make the same promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromiseFamily {
    /// InnoDB, and what behaves as InnoDB does.
    Mysql,
    /// InnoDB of MariaDB with `innodb_snapshot_isolation=ON`.
    InnodbSnapshot,
    /// PostgreSQL.
    Postgres,
    /// SQLite.
    Sqlite,
}

impl PromiseFamily {
    /// All of them.
    pub const ALL: [PromiseFamily; 4] = [
        PromiseFamily::Mysql,
        PromiseFamily::InnodbSnapshot,
        PromiseFamily::Postgres,
        PromiseFamily::Sqlite,
    ];

    /// Its name in stories and reports.
    pub fn name(self) -> &'static str {
        match self {
            PromiseFamily::Mysql => "mysql",
            PromiseFamily::InnodbSnapshot => "innodb-snapshot",
            PromiseFamily::Postgres => "postgres",
            PromiseFamily::Sqlite => "sqlite",
        }
    }
}

/// What a step does, apart from how it is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepAction {
    /// A transaction begins.
    Begin,
    /// A transaction begins, and what it will see is settled at once.
    BeginSnapshot,
    /// It ends, and means to have happened.
    Commit,
    /// It ends, and means not to have happened.
    Rollback,
    /// A statement.
    Statement,
}

/// A statement as a file has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryStatement {
    /// The line of the file, from 1.
    pub line: usize,
    /// Its SQL; the table is called `test`.
    pub sql: String,
}

/// One step of a story.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoryStep {
    /// Its line in the text of the case, from 1.
    pub line: usize,
    /// Who takes it, from 1.
    pub session: u8,
    /// What it does.
    pub action: StepAction,
    /// Its SQL where it is a statement; the table is called `test`.
    pub sql: String,
    /// Its SQL where a dialect spells it otherwise.
    pub spelled: Vec<(Dialect, StoryStatement)>,
    /// What the condition calls its answer.
    pub name: Option<String>,
    /// Whether waiting is part of the story, and prevents nothing.
    pub waits_anyway: bool,
}

impl StoryStep {
    /// Its SQL in this dialect.
    pub fn sql_in(&self, dialect: Dialect) -> &str {
        self.spelling(dialect).map_or(&self.sql, |own| &own.sql)
    }

    /// The line of the file where its SQL in this dialect stands, from 1.
    pub fn line_in(&self, dialect: Dialect) -> usize {
        self.spelling(dialect).map_or(self.line, |own| own.line)
    }

    fn spelling(&self, dialect: Dialect) -> Option<&StoryStatement> {
        self.spelled.iter().find(|(of, _)| *of == dialect).map(|(_, own)| own)
    }
}

/// A case.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Whether it is one of those that come with dbdyno, and not somebody's own.
    pub is_published: bool,
    /// Its name, which no other case has.
    pub name: String,
    /// The anomaly that it is a case of, by Adya's or Hermitage's name.
    pub anomaly: String,
    /// One sentence.
    pub about: String,
    /// Where it was learnt.
    pub source: String,
    /// What is in the table before: id and value.
    pub rows: Vec<(i64, i64)>,
    /// Statements that follow the rows, such as one that makes an index.
    pub setup: Vec<StoryStatement>,
    /// Which levels of which servers are known to prevent it.
    pub prevented: Vec<(PromiseFamily, Vec<IsolationLevel>)>,
    /// When the anomaly has been seen.
    pub(crate) occurs: Condition,
    /// What happens, in this order as far as nobody has to wait.
    pub steps: Vec<StoryStep>,
}

impl Case {
    /// What a server of this family is known for at this level.
    pub fn server_promise(&self, family: PromiseFamily, level: IsolationLevel) -> Promise {
        match self.prevented.iter().any(|(of, levels)| *of == family && levels.contains(&level)) {
            true => Promise::Prevents,
            false => Promise::Open,
        }
    }

    /// How many sessions take part.
    pub fn sessions(&self) -> u8 {
        self.steps.iter().map(|step| step.session).max().unwrap_or(0)
    }
}
