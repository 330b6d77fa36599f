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
mod kept;
mod known;
mod processes;
mod room;
mod server;
mod session;
mod settings;

pub use dbdyno_engine::CutTail;
pub use dbdyno_wire::{Listener, ServerSecurity};
pub use server::EngineListener;
pub use settings::{ServeLimits, Settings};

use std::path::Path;
use std::sync::Arc;

use dbdyno_engine::{ClockFunction, Engine, EngineError, Replica, follow};
use dbdyno_model::Design;

/// What is served: an engine, and the replica that follows it in the same process, if one does.
pub struct ServedEngine {
    engine: Arc<Engine>,
    replica: Option<Replica>,
}

impl ServedEngine {
    /// What was cut off the end of its log when it was opened.
    pub fn cut_tail(&self) -> Option<&CutTail> {
        self.engine.cut_tail()
    }
}

impl From<Engine> for ServedEngine {
    fn from(engine: Engine) -> ServedEngine {
        ServedEngine { engine: Arc::new(engine), replica: None }
    }
}

/// Opens the engine in a directory, to be served, with its replica where its design has one;
/// `clock` gives nanoseconds and goes on from life to life.
///
/// # Errors
/// The disk's refusal, or what is there is not what an engine left.
pub fn engine_in(
    directory: &Path,
    design: &Design,
    clock: ClockFunction,
) -> Result<ServedEngine, EngineError> {
    let (engine, replica) = follow::open_in(directory, design, clock)?;
    Ok(ServedEngine { engine, replica })
}
