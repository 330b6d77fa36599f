//! What is said about transactions, and to the engine itself.

use dbdyno_model::design::Isolation;

use super::{Parser, Statement};
use crate::error::{Result, SqlError};

impl Parser<'_> {
    /// What begins with this word, which is read already and stands at `here`.
    pub(super) fn control(&mut self, word: &str, here: usize) -> Result<Statement> {
        Ok(match word {
            "BEGIN" => {
                self.eat("WORK")?;
                Statement::Begin
            }
            "START" => {
                self.want("TRANSACTION")?;
                Statement::Begin
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
            "SET" => {
                for word in ["SESSION", "TRANSACTION", "ISOLATION", "LEVEL"] {
                    self.want(word)?;
                }
                Statement::SetIsolation(self.isolation()?)
            }
            "CHECKPOINT" => Statement::Checkpoint,
            "SHOW" => {
                self.eat("GLOBAL")?;
                if self.eat("VARIABLES")? {
                    return Ok(Statement::ShowVariables);
                }
                self.want("STATUS")?;
                Statement::ShowStatus
            }
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
}
