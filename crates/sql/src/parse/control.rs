//! What is said about transactions, and to the engine itself.

use dbdyno_model::design::Isolation;

use super::lex::Token;
use super::{Assignment, Expr, Parser, Show, Snapshot, Statement};
use crate::error::{Result, SqlError};

impl Parser<'_> {
    /// What begins with this word, which is read already and stands at `here`.
    pub(super) fn control_statement(&mut self, word: &str, here: usize) -> Result<Statement> {
        Ok(match word {
            "BEGIN" => {
                self.eat("WORK")?;
                Statement::Begin(Snapshot::AtFirstRead)
            }
            "START" => {
                self.want("TRANSACTION")?;
                Statement::Begin(self.characteristics()?)
            }
            "COMMIT" => Statement::Commit,
            "ROLLBACK" => {
                if !self.eat("TO")? {
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
            "CHECKPOINT" => Statement::Checkpoint,
            "SHOW" => Statement::Show(self.show()?),
            "CHECK" => {
                self.want("REPLICA")?;
                Statement::Show(Show::Comparison)
            }
            "DESCRIBE" | "DESC" => Statement::Show(Show::Columns(self.name()?)),
            _ => {
                let error = SqlError::Unknown(format!("the statement {word}"));
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
        self.want("READ")?;
        self.want("COMMITTED")?;
        Ok(Isolation::ReadCommitted)
    }

    /// What may follow START TRANSACTION.
    fn characteristics(&mut self) -> Result<Snapshot> {
        if self.eat("WITH")? {
            self.want("CONSISTENT")?;
            self.want("SNAPSHOT")?;
            return Ok(Snapshot::AtOnce);
        }
        if self.eat("READ")? {
            // One that only reads is no other here: nothing is done for it before it writes.
            self.want("WRITE")?;
        }
        Ok(Snapshot::AtFirstRead)
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
            if is_session && self.eat("TRANSACTION")? {
                self.want("ISOLATION")?;
                self.want("LEVEL")?;
                return Ok(Statement::SetIsolation(self.isolation()?));
            }
            if !is_session && all.is_empty() && self.is("TRANSACTION") {
                // For the next transaction only, MySQL says; this is for all that follow.
                let error = SqlError::Unknown("SET TRANSACTION without SESSION".to_owned());
                return Err(self.blame(here, error));
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
        let set = self.word("NAMES")?;
        let all = ["character_set_client", "character_set_connection", "character_set_results"];
        let assign = |name: &str, value: String| Assignment {
            name: name.to_owned(),
            value: Expr::Text(value.into_bytes()),
        };
        let mut all: Vec<_> = all.into_iter().map(|name| assign(name, set.clone())).collect();
        if self.eat("COLLATE")? {
            all.push(assign("collation_connection", self.word("COLLATE")?));
        }
        Ok(all)
    }

    /// A name, with quotes or without.
    fn word(&mut self, what: &str) -> Result<String> {
        match self.next.clone() {
            Token::Text(text) => {
                self.advance()?;
                Ok(String::from_utf8_lossy(&text).into_owned())
            }
            Token::Word(word) => {
                self.advance()?;
                Ok(word.to_owned())
            }
            _ => Err(self.unexpected(&format!("a name for {what}"))),
        }
    }

    fn assignment(&mut self) -> Result<Assignment> {
        let here = self.here();
        let written = self.word("SET")?;
        let name = match written.strip_prefix("@@") {
            Some(name) => self.variable_name(name, here)?,
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
        Ok(Assignment { name: name.to_ascii_lowercase(), value })
    }

    /// The name of a variable behind `@@`, which may have its scope before it.
    pub(super) fn variable_name(&mut self, name: &str, here: usize) -> Result<String> {
        let is_scope = ["session", "local", "global"].iter().any(|s| s.eq_ignore_ascii_case(name));
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
        self.eat("FULL")?;
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
            return Ok(Show::Databases);
        }
        if self.eat("TABLES")? {
            return Ok(Show::Tables(self.like()?));
        }
        if self.eat("COLUMNS")? || self.eat("FIELDS")? {
            if !self.eat("FROM")? {
                self.want("IN")?;
            }
            return Ok(Show::Columns(self.name()?));
        }
        let known = "VARIABLES, STATUS, REPLICA STATUS, TABLES, COLUMNS, DATABASES or WARNINGS";
        Err(self.unexpected(known))
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
