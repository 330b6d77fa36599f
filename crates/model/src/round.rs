//! One measurement of one arm.

use crate::classes::ClassTally;
use crate::histogram::LatencyHistogram;
use crate::plan::RoundKey;
use crate::readings::{EDGE_EVENTS, Readings};
use crate::series::Series;

/// What one arm did in one round. Rounds are the replicates of the experiment; whatever is inside a
/// round (seconds, events) is not.
///
/// An *event* is one turn of a load: a single statement or a whole transaction. A *statement* is
/// what QPS counts, BEGIN and COMMIT included, as sysbench and Callaghan count it.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// Which round this is.
    pub key: RoundKey,
    /// Which start of the servers it fell in: how often they had been started again by then.
    pub start: u32,
    /// Which filling of the tables it fell in: how often they had been filled anew by then.
    pub filling: u32,
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
    /// Gives back the memory of what is recorded no more: of thousands of rounds, which are copied
    /// when pairs of arms are judged.
    pub fn shrink_to_fit(&mut self) {
        self.latency.shrink_to_fit();
        for times in self.classes.iter_mut().filter_map(|class| class.times.as_mut()) {
            times.latency.shrink_to_fit();
            times.response.iter_mut().for_each(LatencyHistogram::shrink_to_fit);
        }
        if let Some(open) = &mut self.open {
            open.response.shrink_to_fit();
            open.lag.shrink_to_fit();
        }
    }

    /// Whether the rate of an open loop was held: all that was meant was answered in the end, and
    /// no queue grew. A round of the closed loop holds none.
    ///
    /// What was meant and did not end in the window is what was under way at its close, less what
    /// was at its opening. Without a queue that grows both are about Poisson numbers with the mean
    /// *L* = rate × mean response (Little 1961), so that their difference is 0 give or take `√2L`.
    /// Three times that, and a hundredth of what was meant, are let pass; but more than four times
    /// what is being served is a queue, and widens nothing.
    pub fn holds_its_rate(&self) -> bool {
        let Some(open) = &self.open else { return false };
        let offered = open.offered as f64;
        let inside = |times: &LatencyHistogram| offered * times.mean_ns() / self.wall_ns as f64;
        let under_way = inside(&open.response).min(4.0 * inside(&self.latency));
        let let_pass = 0.01 * offered + 3.0 * (2.0 * under_way).sqrt();
        open.unanswered == 0 && offered - self.events as f64 <= let_pass
    }

    /// Statements per second.
    pub fn qps(&self) -> f64 {
        self.done_statements() / (self.wall_ns as f64 / 1e9)
    }

    /// Events per second.
    pub fn tps(&self) -> f64 {
        self.done_events() / (self.wall_ns as f64 / 1e9)
    }

    /// Events that were done in the window, those that its ends cut by the part of their time that
    /// lies within it. A number of whole events is the same for all rates between *n* and *n* + 1
    /// of them, and where ten fill a window, that is a tenth.
    pub fn done_events(&self) -> f64 {
        let done = self.events as f64 + self.readings.get(EDGE_EVENTS).unwrap_or(0.0);
        // One that ended at the very opening is no event, and the logarithm of none no rate.
        done.max(0.01)
    }

    /// The statements of [`Round::done_events`].
    pub fn done_statements(&self) -> f64 {
        if self.events == 0 {
            return self.statements as f64;
        }
        self.statements as f64 * self.done_events() / self.events as f64
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arms::ArmIndex;
    use crate::plan::Cell;
    use crate::random::stream;

    #[test]
    fn a_series_in_longer_slots_loses_only_what_fills_none() {
        let fine = Series { slot_ns: 25, statements: vec![1, 2, 3, 4, 10, 20, 30, 40, 5] };
        assert_eq!(fine.with_longer_slots(4), Series { slot_ns: 100, statements: vec![10, 100] });
        assert_eq!(fine.with_longer_slots(1), fine);
        let slots = fine.statements;
        let class = crate::ClassTally { name: "read".into(), count: 115, slots, times: None };
        let coarse = class.clone().with_longer_slots(4);
        assert_eq!((coarse.count, &*coarse.slots), (115, &[10, 100][..]));
    }

    fn a_round() -> Round {
        let cell = Cell { load: "point-query".into(), clients: 1 };
        Round {
            key: RoundKey { cell, pair: 0, arm: ArmIndex::BASE },
            start: 0,
            filling: 0,
            started_unix_ms: 0,
            wall_ns: 1,
            events: 0,
            statements: 0,
            rows_read: 0,
            rows_changed: 0,
            retries: 0,
            latency: LatencyHistogram::new(),
            series: Series::default(),
            classes: Vec::new(),
            cost: Cost::default(),
            pauses: None,
            open: None,
            readings: Readings::default(),
        }
    }

    /// One server of 5 ms a time for Poisson arrivals at this share of what it can do; the window
    /// is half a second, after two seconds of the same.
    fn was_held(load: f64, seed: u64) -> bool {
        const SERVICE_NS: f64 = 5e6;
        const OPEN_NS: f64 = 2e9;
        const CLOSE_NS: f64 = 2.5e9;
        let mut random = stream(&[seed]);
        let (mut arrival, mut free) = (0.0, 0.0_f64);
        let mut round = a_round();
        round.wall_ns = (CLOSE_NS - OPEN_NS) as u64;
        let mut open = OpenLoop::default();
        while arrival < CLOSE_NS {
            let unit = ((random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
            arrival -= unit.ln() * SERVICE_NS / load;
            free = free.max(arrival) + SERVICE_NS;
            if (OPEN_NS..CLOSE_NS).contains(&arrival) {
                open.offered += 1;
                open.response.record_latency((free - arrival) as u64);
            }
            if (OPEN_NS..CLOSE_NS).contains(&free) {
                round.events += 1;
                round.latency.record_latency(SERVICE_NS as u64);
            }
        }
        round.open = Some(open);
        round.holds_its_rate()
    }

    #[test]
    fn chance_at_the_ends_of_a_window_is_no_queue_that_grows() {
        let held = |load: f64| (0..500).filter(|&seed| was_held(load, seed)).count();
        for load in [0.2, 0.5, 0.8] {
            let held = held(load);
            assert!(held >= 490, "{held} of 500 at {load}");
        }
        for load in [1.5, 2.0] {
            let held = held(load);
            assert!(held <= 10, "{held} of 500 at {load}");
        }
    }

    #[test]
    fn what_was_given_up_was_not_held() {
        let mut round = Round { events: 100, ..a_round() };
        assert!(!round.holds_its_rate(), "a closed loop has no rate");
        for (unanswered, holds) in [(0, true), (1, false)] {
            round.open = Some(OpenLoop { offered: 100, unanswered, ..OpenLoop::default() });
            assert_eq!(round.holds_its_rate(), holds);
        }
    }
}
