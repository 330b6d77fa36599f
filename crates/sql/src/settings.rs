//! What a client has set for its session, and what it is told of it.

use dbdyno_model::design::Isolation;

use crate::error::Result;
use crate::operand::Operand;
use crate::parse::{Access, Characteristics};
use crate::variables::Variables;

/// What a client has set, and what it is told of its session.
pub(crate) struct Settings {
    pub variables: Variables,
    pub autocommit: Autocommit,
    pub isolation: Isolation,
    /// What transactions may do that say nothing else.
    pub access: Access,
    /// What the transaction that is open may do.
    pub access_of_open: Access,
    /// What is said of the next transaction alone.
    pub next: Characteristics,
    /// The most rows of a question that has no LIMIT.
    pub rows_most: u64,
    /// The first number that the last INSERT was given for its rows; 0 if none was.
    pub last_number: i64,
}

/// Whether a statement outside of a transaction is one of its own, or begins one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autocommit {
    /// It begins one, which lasts until it is ended.
    Off,
    /// It is one of its own.
    On,
}

impl Settings {
    pub(crate) fn new(variables: Variables, isolation: Isolation) -> Settings {
        Settings {
            variables,
            autocommit: Autocommit::On,
            isolation,
            access: Access::ReadWrite,
            access_of_open: Access::ReadWrite,
            next: Characteristics::default(),
            rows_most: u64::MAX,
            last_number: 0,
        }
    }

    pub(crate) fn value(&self, name: &str) -> Result<Operand<'static>> {
        Ok(match name {
            "autocommit" => Operand::Int((self.autocommit == Autocommit::On).into()),
            "transaction_isolation" | "tx_isolation" => {
                Operand::of_text(self.isolation.name().to_ascii_uppercase().as_bytes()).into_owned()
            }
            "transaction_read_only" | "tx_read_only" => {
                Operand::Int((self.access == Access::ReadOnly).into())
            }
            "last_insert_id()" => Operand::Int(self.last_number),
            "schema()" => self.variables.value("database()")?,
            "session_user()" | "system_user()" => self.variables.value("user()")?,
            _ => self.variables.value(name)?,
        })
    }
}
