//! The reference engine as a server: MySQL's protocol in front, the closed SQL subset behind it.
//!
//! ```text
//!   listener ─ acceptor ─┬─ thread ─ Visitor ◀─ wire ─▶ client      wire::mysql::server
//!                        │             │ request
//!                        │          session ─ sql::Connection ─ engine
//!                        │             │ rows
//!                        │          answer ─▶ built whole, then one write
//!                        └─ thread …
//! ```
//!
//! One thread serves a connection from the greeting to the end; the engine's gate limits how many
//! run at a time. An answer is complete before its first byte is sent: rows are read under latches
//! of the engine, and a client that does not read must not hold one.
//!
//! The engine's commit returns before the answer is built, so an acknowledged commit is as durable
//! as the design says. On shutdown the server accepts no connections, ends lock waits, lets running
//! statements finish and sends their answers, and flushes the log.
//!
//! | module     | what it knows                                                          |
//! |------------|------------------------------------------------------------------------|
//! | `server`   | connections: let in, counted, ended                                    |
//! | `session`  | requests of one connection, and what is done for each                  |
//! | `answer`   | rows of the engine as packets                                          |
//! | `charset`  | characters of clients and of the engine, which has UTF-8               |
//! | `given`    | values of parameters as the engine takes them                          |
//! | `known`    | the variables that clients set and ask for                             |
//! | `house`    | state that all connections share; `settings`: options of the server    |

mod answer;
mod charset;
mod given;
mod house;
mod known;
mod server;
mod session;
mod settings;

pub use dbdyno_wire::Listener;
pub use server::Server;
pub use settings::{Limits, Settings};

use std::path::Path;

use dbdyno_engine::{Clock, Engine, EngineError};
use dbdyno_model::Design;

/// Opens the engine in a directory, to be served; `clock` gives nanoseconds.
///
/// # Errors
/// The disk's refusal, or what is there is not what an engine left.
pub fn engine_in(directory: &Path, design: &Design, clock: Clock) -> Result<Engine, EngineError> {
    Engine::open_in(directory, design, clock)
}
