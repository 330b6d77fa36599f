//! A round: what is to be run, of which moments an observer is told, and what is measured.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_model::{ClassTally, LatencyHistogram, Processors, Series, Think};
use dbdyno_workload::ReadyLoad;

use crate::answer::EventAnswer;
use crate::connector::Connector;
use crate::kept::KeptConnections;
use crate::record::Recording;
use crate::usage::ThreadUsage;

/// One round to run.
#[derive(Clone, Copy)]
pub struct RoundSpec<'a> {
    /// What to ask.
    pub load: &'a ReadyLoad,
    /// Whom to ask.
    pub connector: &'a Connector,
    /// Number of clients, each with a connection: and each with a thread, up to
    /// [`dbdyno_model::plan::THREADS_MAX`].
    pub clients: u32,
    /// Number of every client's first operation.
    pub first_operation: u64,
    /// Load before the window opens.
    pub lead_in: Duration,
    /// Length of the window.
    pub window: Duration,
    /// What a client rests between the answer to an event and the next event, unless the load has
    /// pauses of its own. In the closed loop only.
    pub think: Option<Thinking>,
    /// Share of the rate that is taken away on purpose; see `ArmSpec::slow`.
    pub slow: f64,
    /// On which all clients run.
    pub processors: Processors,
    /// Connections of the same clients, load and server that are taken up, and those of this round
    /// left for the next one; `None` where each round connects anew. Clients that share threads
    /// always do, and so do the open loop, embedded arms and a load's background.
    pub kept: Option<&'a KeptConnections>,
    /// Where clients record what they see, in the closed loop with a thread for each, under a load
    /// whose rows tell their versions; each recording is of one round.
    pub record: Option<&'a Recording>,
    /// Set from outside to stop early.
    pub stop: &'a AtomicBool,
}

impl RoundSpec<'_> {
    /// What a client rests before its first event: clients that think do not all begin at once, but
    /// as if they had been at it for long.
    pub(crate) fn first_rest(&self, client: u32) -> Duration {
        Duration::from_nanos(
            self.think
                .map_or(0, |Thinking { think, seed }| think.first_ns(seed, client, self.clients)),
        )
    }
}

/// What clients rest, drawn from a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thinking {
    /// How long.
    pub think: Think,
    /// The same for rounds in which clients are to rest alike.
    pub seed: u64,
}

impl Thinking {
    /// The rest after event `number`, from 0, of a client in its round.
    pub(crate) fn pause(&self, client: u32, number: u64) -> Duration {
        Duration::from_nanos(self.think.pause_ns(self.seed, client, number))
    }
}

/// The moments of which an observer is told, and looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So many clients have got in, and the others have not yet: told now and then where connecting
    /// takes long.
    Connecting(u32),
    /// The window has opened.
    Opened,
    /// The window has closed; all connections are still there.
    Closed,
}

/// What the clients saw between open and close.
#[derive(Clone, Debug)]
pub struct RoundMeasurement {
    /// When the window opened, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Length of the window.
    pub wall_ns: u64,
    /// Time between the two looks of the observer: the window, and how late the looks were.
    pub observed_ns: u64,
    /// Events that ended in the window.
    pub events: u64,
    /// What the parts of events inside the window are more than those, see
    /// [`dbdyno_model::Round::done_events`]; `None` where there are several clients, or they rest.
    pub edge_events: Option<f64>,
    /// What their statements did.
    pub answer: EventAnswer,
    /// Latency of each event.
    pub latency: LatencyHistogram,
    /// Statements in slots of [`SLOT`].
    pub series: Series,
    /// By class, unless there is one only.
    pub classes: Vec<ClassTally>,
    /// What the client threads cost.
    pub usage: ThreadUsage,
}

/// Resolution of the series within a round.
pub const SLOT: Duration = Duration::from_millis(25);
