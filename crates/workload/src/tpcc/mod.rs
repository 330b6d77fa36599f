//! TPC-C, as BenchmarkSQL drives it: nine tables, five transactions, terminals.
//!
//! ```text
//!   Warehouses (Dataset)      Tpcc (Dialogue)
//!    ├── schema               └── User (Partner), one for each client, at a terminal
//!    ├── fill                      operation ─▶ deck ─▶ New-Order · Payment · Order-Status
//!    └── consistency                                    Delivery · Stock-Level
//!                                                          │ Talk: every answer is checked
//!                                                          ▼
//!                                                        Link
//! ```
//!
//! Clauses are those of the standard specification, revision 5.11. Facts of BenchmarkSQL (mix,
//! indexes, list of statements) were read; nothing was ported.
//!
//! # What is measured
//!
//! * An event is a transaction, filed under its class. `new-order` per minute is *tpmC*, all events
//!   per minute are *tpmTotal*. New-Orders that roll back by design (1 %) count, by the standard.
//! * `delivery-background`: by clause 2.7 the terminal's request is queued, answered at once, and
//!   carried out later. Queueing asks nothing of the server, so it is no event: one of no
//!   duration would only flatter the latencies. What is counted, apart from the others, is the
//!   delivery itself, which the terminal's own connection carries out before the next request. With
//!   `think=on` the pause therefore begins some milliseconds later than the standard would have it.
//! * What a terminal would only show (names, addresses, taxes) is read from the server and not
//!   looked at. Numbers of rows and whatever a later statement needs are checked.
//! * `think=off`, the default, saturates the server with few clients. Then many terminals meet in
//!   few warehouses, which TPC-C forbids: such a tpmC compares two servers, and is not to be put
//!   beside published ones. `think=on` has users that type and think (clause 5.2.5); it wants ten
//!   clients for each warehouse. Latency then runs from the intended start.
//! * With fewer `items` or `customers` than the standard's the load is for tests only.
//!
//! # Why both arms are asked the same
//!
//! A terminal's inputs are a function of seed, client and operation alone; numbers of orders come
//! from the server, as they must. An operation that the server rolled back is asked again with the
//! same inputs. Isolation is the server's default; rows that decide are read with `FOR UPDATE`,
//! and order lines are worked off sorted by (warehouse, item), so that deadlocks are rare.

mod consistency;
mod delivery;
mod fill;
mod new_order;
mod order_status;
mod payment;
mod random;
mod schema;
mod statements;
mod stock_level;
mod talk;
mod terminal;
mod user;

pub use fill::Warehouses;
pub use user::UserPace;

use dbdyno_model::Dialect;

use crate::dialogue::{Dialogue, Partner};
use crate::statement::Statement;
use user::{Kind, User};

/// Items by the standard.
pub const ITEMS: u64 = 100_000;
/// Customers of a district by the standard.
pub const CUSTOMERS: u64 = 3000;

/// The load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tpcc {
    /// Size of the tables.
    pub size: Warehouses,
    /// Whether users type and think.
    pub pace: UserPace,
}

impl Dialogue for Tpcc {
    fn statements(&self, dialect: Dialect) -> Vec<Statement> {
        statements::all_statements(dialect)
    }

    fn class_names(&self) -> Vec<String> {
        Kind::ALL.iter().map(|kind| kind.class_name().to_owned()).collect()
    }

    fn create_partner(&self, client: u32, dialect: Dialect) -> Box<dyn Partner> {
        let _statements_differ_and_users_do_not = dialect;
        Box::new(User::new(self.size, self.pace, client))
    }

    fn writes_rows(&self) -> bool {
        true
    }
}
