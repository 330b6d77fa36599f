//! The closed SQL subset of the loads, compiled to operations of the reference engine.
//!
//! ```text
//!   text ─► parse ─► syntax tree ─► plan ─► executable plan ─► run ─► operations of a session
//!             refused: unknown SQL     no statistics           parameters, rows
//! ```
//!
//! The dialect is MySQL's. It covers the statements of the loads of `workload`, with joins, groups
//! and sub-queries as far as TPC-C's consistency conditions need them; custom loads may use the
//! same. Everything else is refused with an error that names it, and nothing is ignored silently: a
//! hint without effect would make two arms unequal.
//!
//! | module      | what it knows                                                       |
//! |-------------|---------------------------------------------------------------------|
//! | `parse`     | the language                                                        |
//! | `plan`      | names, levels, and the index by which each table is read            |
//! | `expr`      | expressions and their values                                        |
//! | `operand`   | values: exact numbers, bytes, times                                 |
//! | `run`       | plans, executed                                                     |
//! | `variables` | what sessions set and ask for besides rows                          |
//! | `host`      | the server around a session: what ends a statement                  |
//! | `watch`     | whether a statement is to end, and how much it keeps                |
//! | `show`      | `SHOW` statements                                                   |
//! | `connection`| one client: statements prepared and executed, tables made           |

mod column;
mod connection;
mod define;
mod error;
mod expr;
mod host;
mod operand;
mod parse;
mod plan;
mod run;
mod settings;
mod show;
mod time;
mod variables;
mod watch;
mod wide;

pub use column::{ColumnKind, ColumnOrigin, KeyRole, ResultColumn, TEXT_MOST};
pub use connection::{EffectWords, SqlConnection, StatementDescription, StatementEffect};
pub use error::{NameFault, Result, SqlError};
pub use expr::Params;
pub use host::{Kill, ProcessRow, SessionHost, StatementStop};
pub use operand::{Operand, QuotientDigits};
pub use run::Sink;
pub use settings::Autocommit;
pub use time::parts_of_time;
pub use variables::{KnownVariable, Takes, Variables};
