//! The closed SQL subset of the loads, compiled to operations of the reference engine.
//!
//! ```text
//!   text ─► parse ─► what it says ─► plan ─► how it is answered ─► run ─► operations of a session
//!             refused: what no load says      no statistics         parameters, rows
//! ```
//!
//! It is asked in MySQL's words. What the loads of `workload` say is understood, with joins, groups
//! and sub-queries as far as TPC-C's consistency conditions need them; a custom load may say the
//! same. Everything else is refused by name, and nothing is passed over in silence: a hint that
//! does not hint would make two arms unequal.
//!
//! | module      | what it knows                                                       |
//! |-------------|---------------------------------------------------------------------|
//! | `parse`     | the language                                                        |
//! | `plan`      | names, levels, and the index by which each table is read            |
//! | `expr`      | expressions and their values                                        |
//! | `operand`   | values: exact numbers, bytes, times                                 |
//! | `run`       | plans, executed                                                     |
//! | `variables` | what sessions set and ask for besides rows                          |
//! | `show`      | what a server tells of itself                                       |
//! | `connection`| one client: statements prepared and executed, tables made           |

mod column;
mod connection;
mod define;
mod error;
mod expr;
mod operand;
mod parse;
mod plan;
mod run;
mod settings;
mod show;
mod time;
mod variables;

pub use column::{Column, ColumnKind};
pub use connection::{About, Connection, Done};
pub use error::{Result, SqlError};
pub use expr::Params;
pub use operand::Operand;
pub use run::Sink;
pub use settings::Autocommit;
pub use time::parts_of_time;
pub use variables::{Known, Takes, Variables};
