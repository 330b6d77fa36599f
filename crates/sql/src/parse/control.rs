//! What is said about transactions, and to the engine itself.

use dbdyno_model::design::Isolation;

use super::lex::Token;
use super::{
    Access, Assignment, Characteristics, Detail, Expr, Parser, Scope, Show, Snapshot, Statement,
};
use crate::error::{Result, SqlError};
use crate::host::Kill;

/// Words with which statements of MySQL 8.0 begin that are not known here, after its manual (SQL
/// Statements).
const STATEMENTS: [&str; 37] = [
    "BINLOG",
    "CACHE",
    "CALL",
    "CHANGE",
    "CHECKSUM",
    "CLONE",
    "DEALLOCATE",
    "DO",
    "EXECUTE",
    "FLUSH",
    "GET",
    "GRANT",
    "HANDLER",
    "HELP",
    "IMPORT",
    "INSTALL",
    "LOAD",
    "LOCK",
    "OPTIMIZE",
    "PREPARE",
    "PURGE",
    "RENAME",
    "REPAIR",
    "REPLACE",
    "RESET",
    "RESIGNAL",
    "RESTART",
    "REVOKE",
    "SHUTDOWN",
    "SIGNAL",
    "STOP",
    "TABLE",
    "UNINSTALL",
    "UNLOCK",
    "VALUES",
    "WITH",
    "XA",
];
/// What may stand before the name of a variable.
const SCOPES: [&str; 3] = ["session", "local", "global"];

impl Parser<'_> {
    /// What begins with this word, which is read already and stands at `here`.
    pub(super) fn control_statement(&mut self, word: &str, here: usize) -> Result<Statement> {
        Ok(match word {
            "BEGIN" => {
                self.eat("WORK")?;
                Statement::Begin(Snapshot::AtFirstRead, None)
            }
            "START" => {
                self.want("TRANSACTION")?;
                self.start_transaction()?
            }
            "COMMIT" => {
                self.end_of_transaction()?;
                Statement::Commit
            }
            "ROLLBACK" => {
                self.eat("WORK")?;
                if !self.eat("TO")? {
                    self.end_of_transaction()?;
                    return Ok(Statement::Rollback);
                }
                self.eat("SAVEPOINT")?;
                Statement::RollbackTo(self.name()?)
            }
            "SAVEPOINT" => Statement::Savepoint(self.name()?),
            "RELEASE" => {
                self.want("SAVEPOINT")?;
                Statement::Release(self.name()?)
            }
            "SET" => self.set()?,
            "USE" => Statement::Use(self.name()?),
            "KILL" => {
                let is_query = self.eat("QUERY")?;
                let what = if is_query { Kill::Query } else { Kill::Connection };
                if !is_query {
                    self.eat("CONNECTION")?;
                }
                Statement::Kill(self.number()?, what)
            }
            "CHECKPOINT" => Statement::Checkpoint,
            "SHOW" => Statement::Show(self.show()?),
            "CHECK" => {
                self.want("REPLICA")?;
                Statement::Show(Show::Comparison)
            }
            "DESCRIBE" | "DESC" => {
                let table = self.table_name()?;
                let is_one =
                    matches!(self.next, Token::Text(_) | Token::Word(_) | Token::Quoted(_));
                let form =
                    if is_one { Some(self.name_or_text("a column")?.into_bytes()) } else { None };
                Statement::Show(Show::Columns(Detail::Usual, table, form))
            }
            _ => {
                let is_of_mysql = STATEMENTS.contains(&word);
                let error = if is_of_mysql {
                    SqlError::Unknown(format!("the statement {word}"))
                } else {
                    SqlError::Syntax(format!("no statement of MySQL begins with {word}"))
                };
                return Err(self.blame(here, error));
            }
        })
    }

    fn isolation(&mut self) -> Result<Isolation> {
        if self.eat("SERIALIZABLE")? {
            return Ok(Isolation::Serializable);
        }
        if self.eat("REPEATABLE")? {
            self.want("READ")?;
            return Ok(Isolation::RepeatableRead);
        }
        let here = self.here();
        self.want("READ")?;
        if self.is("UNCOMMITTED") {
            let what = "READ UNCOMMITTED: the weakest level that it has is READ COMMITTED";
            return Err(self.blame(here, SqlError::Unknown(what.to_owned())));
        }
        self.want("COMMITTED")?;
        Ok(Isolation::ReadCommitted)
    }

    /// `READ ONLY` or `READ WRITE`, if one of them stands here.
    fn access_mode(&mut self) -> Result<Option<Access>> {
        if !self.eat("READ")? {
            return Ok(None);
        }
        if self.eat("ONLY")? {
            return Ok(Some(Access::ReadOnly));
        }
        self.want("WRITE")?;
        Ok(Some(Access::ReadWrite))
    }

    /// What follows START TRANSACTION.
    fn start_transaction(&mut self) -> Result<Statement> {
        let (mut snapshot, mut access) = (Snapshot::AtFirstRead, None);
        loop {
            if self.eat("WITH")? {
                self.want("CONSISTENT")?;
                self.want("SNAPSHOT")?;
                snapshot = Snapshot::AtOnce;
            } else if let Some(said) = self.access_mode()? {
                if access.is_some_and(|before| before != said) {
                    let text = "one transaction is READ ONLY or READ WRITE".to_owned();
                    return Err(SqlError::Syntax(text));
                }
                access = Some(said);
            } else {
                return Ok(Statement::Begin(snapshot, access));
            }
            if !self.eat_symbol(",")? {
                return Ok(Statement::Begin(snapshot, access));
            }
        }
    }

    /// What may follow COMMIT and ROLLBACK, and says what is done anyway.
    fn end_of_transaction(&mut self) -> Result<()> {
        self.eat("WORK")?;
        if self.eat("AND")? {
            self.want("NO")?;
            self.want("CHAIN")?;
        }
        if self.eat("NO")? {
            self.want("RELEASE")?;
        }
        Ok(())
    }

    /// What follows SET TRANSACTION.
    fn characteristics(&mut self) -> Result<Characteristics> {
        let mut said = Characteristics::default();
        loop {
            if let Some(access) = self.access_mode()? {
                said.access = Some(access);
            } else {
                self.want("ISOLATION")?;
                self.want("LEVEL")?;
                said.isolation = Some(self.isolation()?);
            }
            if !self.eat_symbol(",")? {
                return Ok(said);
            }
        }
    }

    /// Variables of the session; what is the server's is not set by those who ask it.
    fn set(&mut self) -> Result<Statement> {
        let mut all = Vec::new();
        loop {
            let here = self.here();
            if self.is("GLOBAL") || self.is("PERSIST") {
                return Err(self.of_the_server(here));
            }
            let is_session = self.eat("SESSION")? || self.eat("LOCAL")?;
            if all.is_empty() && self.eat("TRANSACTION")? {
                let scope = if is_session { Scope::Session } else { Scope::Next };
                return Ok(Statement::SetTransaction(scope, self.characteristics()?));
            }
            if self.eat("NAMES")? {
                all.extend(self.names_of_set()?);
            } else {
                all.push(self.assignment()?);
            }
            if !self.eat_symbol(",")? {
                return Ok(Statement::Set(all));
            }
        }
    }

    /// `SET NAMES utf8mb4 [COLLATE …]`.
    fn names_of_set(&mut self) -> Result<Vec<Assignment>> {
        let set = self.name_or_text("NAMES")?;
        let all = ["character_set_client", "character_set_connection", "character_set_results"];
        let assign = |name: &str, value: String| Assignment {
            scope: Scope::Session,
            name: name.to_owned(),
            value: Expr::Text(value.into_bytes()),
        };
        let mut all: Vec<_> = all.into_iter().map(|name| assign(name, set.clone())).collect();
        if self.eat("COLLATE")? {
            all.push(assign("collation_connection", self.name_or_text("COLLATE")?));
        }
        Ok(all)
    }

    /// A name, with quotes or without.
    pub(super) fn name_or_text(&mut self, what: &str) -> Result<String> {
        match self.next.clone() {
            Token::Text(text) => {
                self.advance()?;
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            Token::Word(word) => {
                self.advance()?;
                Ok(word.to_owned())
            }
            Token::Quoted(name) => {
                self.advance()?;
                Ok(name.to_owned())
            }
            _ => Err(self.unexpected(&format!("a name for {what}"))),
        }
    }

    fn assignment(&mut self) -> Result<Assignment> {
        let here = self.here();
        let written = self.name_or_text("SET")?;
        let mut scope = Scope::Session;
        let name = match written.strip_prefix("@@") {
            Some(name) => {
                let is_scoped = SCOPES.iter().any(|scope| scope.eq_ignore_ascii_case(name));
                scope = if is_scoped { Scope::Session } else { Scope::Next };
                self.variable_name(name, here)?
            }
            None if written.starts_with('@') => {
                let error = SqlError::Unknown(format!("the variable {written} of a user"));
                return Err(self.blame(here, error));
            }
            None => written,
        };
        self.want_symbol("=")?;
        // ON, OFF, BINARY and the like are words, and no columns.
        let value = match self.next {
            Token::Word(word) if word.eq_ignore_ascii_case("ON") => {
                self.advance()?;
                Expr::Text(b"ON".to_vec())
            }
            _ => self.expr()?,
        };
        let value = match value {
            Expr::Column(None, word) => Expr::Text(word.into_bytes()),
            other => other,
        };
        Ok(Assignment { scope, name: name.to_ascii_lowercase(), value })
    }

    /// The name of a variable behind `@@`, which may have its scope before it.
    pub(super) fn variable_name(&mut self, name: &str, here: usize) -> Result<String> {
        let is_scope = SCOPES.iter().any(|scope| scope.eq_ignore_ascii_case(name));
        if !is_scope || !self.eat_symbol(".")? {
            return Ok(name.to_ascii_lowercase());
        }
        let read = self.name()?.to_ascii_lowercase();
        match name.eq_ignore_ascii_case("global") && self.is_symbol("=") {
            true => Err(self.of_the_server(here)),
            false => Ok(read),
        }
    }

    fn of_the_server(&mut self, here: usize) -> SqlError {
        let error =
            SqlError::Unknown("SET GLOBAL: what a server has is told when it starts".into());
        self.blame(here, error)
    }

    fn show(&mut self) -> Result<Show> {
        let _ = self.eat("GLOBAL")? || self.eat("SESSION")? || self.eat("LOCAL")?;
        let detail = if self.eat("FULL")? { Detail::Full } else { Detail::Usual };
        if self.eat("VARIABLES")? {
            return Ok(Show::Variables(self.like()?));
        }
        if self.eat("REPLICA")? {
            self.want("STATUS")?;
            return Ok(Show::Replica);
        }
        if self.eat("STATUS")? {
            return Ok(Show::Status(self.like()?));
        }
        if self.eat("WARNINGS")? || self.eat("ERRORS")? {
            return Ok(Show::Warnings);
        }
        if self.eat("DATABASES")? || self.eat("SCHEMAS")? {
            return Ok(Show::Databases(self.like()?));
        }
        if self.eat("PROCESSLIST")? {
            return Ok(Show::Processes);
        }
        if self.eat("TABLES")? {
            self.schema_of_show()?;
            return Ok(Show::Tables(detail, self.like()?));
        }
        if self.eat("COLUMNS")? || self.eat("FIELDS")? {
            let table = self.table_of_show()?;
            return Ok(Show::Columns(detail, table, self.like()?));
        }
        if self.eat("INDEX")? || self.eat("INDEXES")? || self.eat("KEYS")? {
            return Ok(Show::Indexes(self.table_of_show()?));
        }
        if self.eat("CREATE")? {
            self.want("TABLE")?;
            return Ok(Show::CreateTable(self.table_name()?));
        }
        let known = "VARIABLES, STATUS, REPLICA STATUS, [FULL] TABLES, [FULL] COLUMNS, INDEX, \
                     CREATE TABLE, PROCESSLIST, DATABASES or WARNINGS";
        Err(self.unexpected(known))
    }

    /// `FROM table [FROM schema]`.
    fn table_of_show(&mut self) -> Result<String> {
        if !self.eat("FROM")? {
            self.want("IN")?;
        }
        let table = self.table_name()?;
        self.schema_of_show()?;
        Ok(table)
    }

    /// `FROM schema`, or nothing.
    fn schema_of_show(&mut self) -> Result<()> {
        if self.eat("FROM")? || self.eat("IN")? {
            let schema = self.name()?;
            self.schemas.push(schema);
        }
        Ok(())
    }

    /// `LIKE 'form'`, or nothing.
    fn like(&mut self) -> Result<Option<Vec<u8>>> {
        if !self.eat("LIKE")? {
            return Ok(None);
        }
        match self.next.clone() {
            Token::Text(form) => {
                self.advance()?;
                Ok(Some(form.into_owned()))
            }
            _ => Err(self.unexpected("the form of a name in quotes")),
        }
    }
}
