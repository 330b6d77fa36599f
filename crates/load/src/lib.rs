//! The load generator: clients that send events to an arm and record the answers.
//!
//! ```text
//!   Connector ──connect──▶ Session ── one for each client, on a thread of its own; with more than
//!                             │       256 clients `shards`, a thread for each processor
//!                             │  ask(event): every statement of it, every answer checked
//!                             ▼
//!   closed::run_round     lead-in │◀──────── window ────────▶│
//!                                 open: counters start       close: counters stop
//!   interleave            both arms of a pair, in slices of the closed loop that take turns
//!   open::run_open        the same, but each event is sent at its own time: see arrival
//!   mock                  all three in virtual time, where a model answers
//! ```
//!
//! In the *closed* loop a client sends its next event when the last one is answered, so latency is
//! service time and a stall hides the requests that were not sent meanwhile (coordinated omission).
//! In the *open* loop events have intended times, and waiting counts.
//!
//! This is the hot path: on it nothing allocates, nothing takes a lock, and the closed loop reads
//! the clock once for each event. The processor time of the client is measured and reported beside
//! every rate.

mod affinity;
pub mod again;
mod answer;
pub mod arrival;
mod asking;
mod background;
mod book;
mod brake;
mod check;
pub mod clock;
pub mod closed;
pub mod connector;
pub mod crew;
mod crowd;
pub mod engine;
pub mod error;
mod files;
pub mod fill;
mod fixed;
pub mod interleave;
mod kept;
pub mod mock;
pub mod null;
pub mod open;
mod parallel;
mod patience;
pub mod record;
pub mod rocks;
mod round;
pub mod schedule;
pub mod session;
mod shards;
mod slices;
pub mod sqlite;
mod survey;
mod talk;
mod tally;
mod tape;
mod time;
pub mod usage;
mod window;
mod wire;

pub use affinity::pin_to;
pub use answer::EventAnswer;
pub use check::check_invariants;
pub use clock::{Clock, VirtualClock};
pub use closed::run_round;
pub use connector::Connector;
pub use engine::{EngineArm, EngineCounts, EngineWatch};
pub use error::LoadError;
pub use files::open_file_limit;
pub use fill::{FILL_VERSION, FillProgress, drop_tables, fill_tables};
pub use fixed::{NumberedClient, ask_each};
pub use interleave::run_interleaved;
pub use kept::KeptConnections;
pub use mock::MockArm;
pub use open::{OpenSpec, run_open};
pub use record::{Reader, Recording, RoundRecord};
pub use rocks::RocksArm;
pub use round::{Moment, RoundMeasurement, RoundSpec, Thinking};
pub use session::ClientSession;
pub use slices::Slices;
pub use sqlite::SqliteFile;
pub use survey::end_recording;
