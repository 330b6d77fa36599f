//! One measurement of one arm.

use crate::classes::ClassTally;
use crate::histogram::LatencyHistogram;
use crate::plan::RoundKey;
use crate::readings::Readings;

/// What one arm did in one round. Rounds are the replicates of the experiment; whatever is inside a
/// round (seconds, events) is not.
///
/// An *event* is one turn of a load: a single statement or a whole transaction. A *statement* is
/// what QPS counts, BEGIN and COMMIT included, as sysbench and Callaghan count it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Which round this is.
    pub key: RoundKey,
    /// Which life of the servers it fell in: how often they had been started again by then.
    pub life: u32,
    /// When the measured window began, milliseconds since 1970.
    pub started_unix_ms: u64,
    /// Length of the measured window.
    pub wall_ns: u64,
    /// Events that ended inside the window.
    pub events: u64,
    /// Statements of those events.
    pub statements: u64,
    /// Rows that those statements returned.
    pub rows_read: u64,
    /// Rows that those statements changed.
    pub rows_changed: u64,
    /// Events that were rolled back and asked again (deadlock, lock wait timeout, serialisation).
    pub retries: u64,
    /// Latencies of the events.
    pub latency: LatencyHistogram,
    /// Throughput inside the round.
    pub series: Series,
    /// What each class did; empty where the load has one class only.
    pub classes: Vec<ClassTally>,
    /// What the round cost.
    pub cost: Cost,
    /// How the client itself was held up; `None` where it shared a processor with the server, and
    /// its being held up is the server's work.
    pub pauses: Option<Pauses>,
    /// In the open loop, what became of the events that were meant for the window. The counts above
    /// are those of events that *ended* in it, as in the closed loop.
    pub open: Option<OpenLoop>,
    /// What further instruments showed; empty for most loads.
    pub readings: Readings,
}

impl Round {
    /// Statements per second.
    pub fn qps(&self) -> f64 {
        self.statements as f64 / (self.wall_ns as f64 / 1e9)
    }

    /// Events per second.
    pub fn tps(&self) -> f64 {
        self.events as f64 / (self.wall_ns as f64 / 1e9)
    }
}

/// What became of the events that were meant for the window of an open-loop round, whenever they
/// were answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenLoop {
    /// Events that were meant for the window.
    pub offered: u64,
    /// Those of them that nobody had begun to answer when the round was given up. Their response
    /// times are at least what is recorded.
    pub unanswered: u64,
    /// Response times: from the moment at which an event should have been sent to its answer.
    pub response: LatencyHistogram,
    /// The generator's own fault: how late it sent, although a connection was free.
    pub lag: LatencyHistogram,
}

impl OpenLoop {
    /// Whether the rate was held: what was meant was answered, at most a hundredth of it after the
    /// window. `answered` is the number of events that ended in the window.
    pub fn is_sustained(&self, answered: u64) -> bool {
        self.unanswered == 0 && answered as f64 >= 0.99 * self.offered as f64
    }

    /// Adds what others met.
    pub fn merge(&mut self, other: &OpenLoop) {
        self.offered += other.offered;
        self.unanswered += other.unanswered;
        self.response.merge(&other.response);
        self.lag.merge(&other.lag);
    }
}

/// Times at which a thread of ours that asks for next to nothing was woken more than 1 ms late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses {
    /// All of them together.
    pub sum_ns: u64,
    /// The longest.
    pub longest_ns: u64,
}

/// Statements in equal slots of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Series {
    /// Length of a slot.
    pub slot_ns: u64,
    /// Statements that ended in each slot. The last slot is whole: a partial one is not kept.
    pub statements: Vec<u64>,
}

/// Resources used during a round, of the processes that matter and no others. `None` means that it
/// cannot be observed (a server on another host), never zero.
///
/// "Server" is the sum over the processes of the server; "client" is the sum over our client
/// threads. An embedded arm lives in the client's threads: there, "client" is what the same load
/// costs against nothing, and "server" is the rest. A load that depends on answers cannot be asked
/// of nothing: then "server" is all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Processor time of the server.
    pub server_cpu_ns: Option<u64>,
    /// The part of it spent in the kernel.
    pub server_kernel_ns: Option<u64>,
    /// Processor time of the client threads.
    pub client_cpu_ns: Option<u64>,
    /// The part of it spent in the kernel.
    pub client_kernel_ns: Option<u64>,
    /// Context switches of the server's threads, voluntary and not.
    pub server_context_switches: Option<u64>,
    /// Context switches of the client threads.
    pub client_context_switches: Option<u64>,
    /// Time that the client threads could have run and waited for a processor.
    pub client_run_delay_ns: Option<u64>,
    /// Bytes that the server caused to be read from storage.
    pub server_read_bytes: Option<u64>,
    /// Bytes that the server caused to be written to storage.
    pub server_written_bytes: Option<u64>,
}
