//! Laws that every round obeys, whatever the server does. A round that breaks one was not measured
//! as we think, and nothing rests on it.
//!
//! ```text
//!   Little (1961)          N = X·R          clients = events/s × seconds of each
//!     closed loop            all clients are always waiting for an answer: equal
//!     with pauses            those that rest are missing: not more
//!     open loop              connections that are in use: not more
//!   utilisation            U = X·S          processors in use = events/s × processor time of each
//!                                           not more than there are
//!   counting               every event has one latency, every event that was meant one response
//! ```
//!
//! Little's law is exact but for what the ends of a window cut. Each client's first event began
//! before it, by no more than the longest latency; the histogram is right to 0.1 %. So more clients
//! than there are, beyond this, prove that the round is damaged. Fewer do not prove it of one
//! round: an event that was still going on at the close is in no latency, and where a server
//! stalled then, much of the window is missing; that is told, for no percentile shows it. But a
//! stall at the close is rare, and where more than half of at least `ROUNDS_LEAST` rounds lack
//! clients, latencies or counts are wrong. Where one event fills the window, the law says nothing,
//! and neither do we.

use dbdyno_model::{Arm, Cell, Driving, Round, RunPair, Severity, Warning};

use crate::cautions::saturation;
use dbdyno_workload::planned;

/// What a latency is off at most by its place in the histogram, as a share, both ways.
const RESOLUTION: f64 = 0.002;
/// Processor time is read a little before or after the ends of the window, and some kernels count
/// it in hundredths of a second for each thread.
const ACCOUNTING: f64 = 0.05;
/// A smaller share of a round that is in no latency is left untold.
const STALL_TOLD: f64 = 0.05;
/// Of fewer rounds, more than half may lack clients by chance: 98 cells of 227 stored runs had a
/// round that did.
const ROUNDS_LEAST: usize = 4;
/// Less processor time than this is too little to speak of shares of it.
const ACCOUNTING_NS: f64 = 50e6;

/// What the rounds of an arm in a cell break. A broken law of events blocks the verdict; processor
/// time beyond what there is leaves the rate alone, but no cost is right then.
pub(crate) fn of_arm(run: RunPair<'_>, cell: &Cell, arm: Arm, rounds: &[&Round]) -> Vec<Warning> {
    // Its clients have several connections each, with paces of their own.
    if planned::step_of(cell).is_some() {
        return Vec::new();
    }
    let rests =
        planned::planned_load(run.plan(), &cell.load).is_ok_and(|load| load.rests_between_events());
    let clients = match (&run.plan().question.driving, rests) {
        (Driving::Closed, false) => Clients::AlwaysAsking,
        _ => Clients::AtMost,
    };
    let balances: Vec<Balance> = rounds.iter().map(|round| Balance::of(round)).collect();
    let little = match clients {
        Clients::AlwaysAsking => too_many(&balances, arm).or_else(|| too_few(&balances, arm)),
        Clients::AtMost => too_many(&balances, arm),
    };
    let counted = rounds.iter().find_map(|round| miscounted(round)).map(|(pair, text)| {
        let text = format!("{arm}: in pair {pair} {text}; {AGAIN}");
        Warning::new(Severity::Blocks, "miscounted", text)
    });
    let overdrawn = rounds.iter().flat_map(|round| utilisation(run, cell, arm, round));
    let busy = overdrawn.max_by(|a, b| a.by.total_cmp(&b.by)).map(|over| over.warning(arm));
    little.into_iter().chain(counted).chain(busy).collect()
}

const AGAIN: &str = "the round is damaged, so measure it again, and report it if it happens again";

/// What clients do between two events.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Clients {
    /// Nothing.
    AlwaysAsking,
    /// They rest, or wait until they are due.
    AtMost,
}

/// A round against Little's law, in clients.
#[derive(Clone, Copy)]
struct Balance {
    pair: u32,
    clients: f64,
    /// Events per second times their mean latency.
    inside: f64,
    tolerance: f64,
}

impl Balance {
    fn of(round: &Round) -> Balance {
        let wall_ns = round.wall_ns as f64;
        let clients = f64::from(round.key.cell.clients);
        Balance {
            pair: round.key.pair,
            clients,
            inside: round.latency.mean_ns() * round.events as f64 / wall_ns,
            tolerance: clients * (RESOLUTION + round.latency.max_ns() as f64 / wall_ns),
        }
    }

    fn over(&self) -> f64 {
        self.inside - self.clients - self.tolerance
    }

    fn under(&self) -> f64 {
        self.clients - self.inside - self.tolerance
    }

    fn told(&self) -> String {
        format!(
            "events per second times latency make {:.2} clients in pair {}, and there were {}, \
             to {:.1} %",
            self.inside,
            self.pair,
            self.clients,
            100.0 * self.tolerance / self.clients
        )
    }
}

fn too_many(balances: &[Balance], arm: Arm) -> Option<Warning> {
    let worst = balances.iter().max_by(|a, b| a.over().total_cmp(&b.over()))?;
    (worst.over() > 0.0).then(|| {
        let told = worst.told();
        let text = format!("{arm}: a round contradicts itself by Little's law: {told}; {AGAIN}");
        Warning::new(Severity::Blocks, "little-broken", text)
    })
}

fn too_few(balances: &[Balance], arm: Arm) -> Option<Warning> {
    let worst = balances.iter().max_by(|a, b| a.under().total_cmp(&b.under()))?;
    let short = balances.iter().filter(|balance| balance.under() > 0.0).count();
    if balances.len() >= ROUNDS_LEAST && 2 * short > balances.len() {
        let (told, all) = (worst.told(), balances.len());
        let text = format!(
            "{arm}: {short} of {all} rounds contradict themselves by Little's law: {told}; clients \
             spent time on something other than waiting for answers, such as waiting for a \
             processor, or latencies are wrong: measure again while the host is quiet, and report \
             it if it happens again"
        );
        return Some(Warning::new(Severity::Blocks, "little-broken", text));
    }
    let missing = (worst.clients - worst.inside) / worst.clients;
    (worst.under() > 0.0 && missing >= STALL_TOLD).then(|| {
        let text = format!(
            "{arm}: in pair {} clients spent {:.0} % of the round in events that had not ended \
             with it: the rate includes this stall, latencies do not; longer rounds (--seconds) \
             cut off less",
            worst.pair,
            missing * 100.0
        );
        Warning::new(Severity::Note, "stall-at-the-end", text)
    })
}

fn miscounted(round: &Round) -> Option<(u32, String)> {
    let pair = round.key.pair;
    if round.latency.count() != round.events {
        let count = round.latency.count();
        return Some((pair, format!("{} events have {count} latencies", round.events)));
    }
    let open = round.open.as_ref()?;
    let count = open.response.count();
    (count != open.offered).then(|| {
        (pair, format!("{} events were meant, and {count} have response times", open.offered))
    })
}

/// A round against the utilisation law.
#[derive(Clone, Copy)]
struct Overdrawn {
    pair: u32,
    who: &'static str,
    used: f64,
    there: f64,
    by: f64,
}

impl Overdrawn {
    fn warning(&self, arm: Arm) -> Warning {
        let text = format!(
            "{arm}: by the utilisation law the {} used {:.2} processors in pair {}, and only \
             {:.2} are available: costs per operation of this arm are too high, so do not rely on \
             them; see whether anything else runs as part of the server",
            self.who, self.used, self.pair, self.there
        );
        Warning::new(Severity::Caution, "utilisation-broken", text)
    }
}

fn utilisation(run: RunPair<'_>, cell: &Cell, arm: Arm, round: &Round) -> Vec<Overdrawn> {
    let wall_ns = round.wall_ns as f64;
    // A client's time ends with the event that crosses the end of the window.
    let last = round.latency.max_ns() as f64 / wall_ns;
    let is_embedded = run.spec_on(arm).is_embedded();
    let sides = [
        ("server", round.cost.server_cpu_ns, saturation::server_processors(run, cell, arm)),
        ("client", round.cost.client_cpu_ns, saturation::client_processors(run, cell)),
    ];
    let over = |(who, cpu_ns, there): (&'static str, Option<u64>, f64)| {
        let cpu_ns = cpu_ns? as f64;
        let is_thread = who == "client" || is_embedded;
        let cut = if is_thread { last } else { 0.0 };
        let may_ns = wall_ns * there * (1.0 + ACCOUNTING + cut) + ACCOUNTING_NS;
        let used = cpu_ns / wall_ns;
        let pair = round.key.pair;
        (cpu_ns > may_ns).then_some(Overdrawn { pair, who, used, there, by: used - there })
    };
    sides.into_iter().filter_map(over).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmIndex, Gate, GateOutcome, LatencyHistogram, OpenLoop, Run, Verdict};

    use crate::sample::{WALL_NS, of_load, of_pairs, point_queries};

    fn told(run: &Run) -> (Verdict, Vec<String>) {
        let comparison = crate::compare_run(run.first_pair()).unwrap();
        let cell = &comparison.cells[0];
        let codes = cell.warnings.iter().map(|warning| warning.code.clone());
        let laws = ["little-broken", "stall-at-the-end", "miscounted", "utilisation-broken"];
        (cell.verdict, codes.filter(|code| laws.contains(&code.as_str())).collect())
    }

    fn latencies(count: u64, ns: u64) -> LatencyHistogram {
        let mut latency = LatencyHistogram::new();
        (0..count).for_each(|_| latency.record_latency(ns));
        latency
    }

    /// Latencies that are longer than the rate allows prove damage; shorter ones only where most
    /// rounds have them.
    #[test]
    fn rounds_whose_latencies_do_not_fit_their_rate_block_the_verdict() {
        let server = "mysql://u@h/d";
        assert_eq!(told(&point_queries(server, 2, |_| {})), (Verdict::Faster, vec![]));
        let damaged = |percent: u64, pairs: std::ops::Range<u32>| {
            told(&point_queries(server, 2, move |round: &mut Round| {
                if pairs.contains(&round.key.pair) && round.key.arm == ArmIndex::BASE {
                    let ns = 2 * WALL_NS / round.events * percent / 100;
                    round.latency = latencies(round.events, ns);
                }
            }))
        };
        let broken = (Verdict::Undecided, vec!["little-broken".to_owned()]);
        assert_eq!(damaged(110, 3..4), broken);
        assert_eq!(damaged(90, 3..4), (Verdict::Faster, vec!["stall-at-the-end".to_owned()]));
        assert_eq!(damaged(90, 0..4).0, Verdict::Faster, "half of eight");
        assert_eq!(damaged(90, 0..5), broken, "more than half");
        assert_eq!(damaged(98, 3..4), (Verdict::Faster, vec![]), "too little to tell");
    }

    /// Nothing passes a gate by a rate that nothing rests on.
    #[test]
    fn a_gate_is_open_where_a_law_is_broken() {
        let gated = |percent: u64| {
            let run = point_queries("mysql://u@h/d", 2, |round: &mut Round| {
                let ns = 2 * WALL_NS / round.events * percent / 100;
                round.latency = latencies(round.events, ns);
            });
            Gate { rqps_above: 0.1 }.judge_all(&crate::compare_run(run.first_pair()).unwrap().cells)
        };
        assert_eq!(gated(100), GateOutcome::Holds);
        assert_eq!(gated(110), GateOutcome::CannotTell);
    }

    /// Of few rounds, all may have met a stall.
    #[test]
    fn few_rounds_that_lack_clients_are_told_and_block_nothing() {
        let short = |pairs: u32| {
            let run = of_pairs(pairs, "point-query", "mysql://u@h/d", 2, |round: &mut Round| {
                if round.key.arm == ArmIndex::BASE {
                    round.latency = latencies(round.events, 2 * WALL_NS / round.events * 9 / 10);
                }
            });
            told(&run).1
        };
        for pairs in 1..4 {
            assert_eq!(short(pairs), ["stall-at-the-end"], "{pairs}");
        }
        assert_eq!(short(4), ["little-broken"]);
    }

    /// What the ends of a window cut is no damage: two events in a window of 2.5.
    #[test]
    fn long_events_are_not_held_against_a_round() {
        let long = |round: &mut Round| {
            (round.events, round.statements) = (4, 4 + u64::from(round.key.arm == ArmIndex::TEST));
            round.latency = latencies(4, WALL_NS * 2 / 5);
        };
        assert_eq!(told(&point_queries("mysql://u@h/d", 2, long)).1, Vec::<String>::new());
    }

    #[test]
    fn clients_that_rest_may_be_fewer_and_not_more() {
        let at = |percent: u64| {
            let mut run = of_load("tpcc?think=on", "mysql://u@h/d", 2, move |round: &mut Round| {
                let ns = 2 * WALL_NS / round.events * percent / 100;
                round.latency = latencies(round.events, ns);
            });
            run.plan.question.driving = Driving::Closed;
            told(&run).1
        };
        assert_eq!(at(10), Vec::<String>::new());
        assert_eq!(at(120), ["little-broken", "little-broken"], "both arms");
    }

    #[test]
    fn events_and_their_times_are_counted() {
        let lost = |round: &mut Round| {
            if round.key.pair == 2 {
                round.latency.record_latency(1000);
            }
        };
        let (verdict, codes) = told(&point_queries("mysql://u@h/d", 2, lost));
        assert_eq!((verdict, codes.len()), (Verdict::Undecided, 2));
        let meant = |round: &mut Round| {
            let response = latencies(round.events, 1000);
            let offered = round.events + u64::from(round.key.pair == 1);
            round.open = Some(OpenLoop { offered, response, ..OpenLoop::default() });
        };
        let mut run = point_queries("mysql://u@h/d", 2, meant);
        run.plan.question.driving = "rate 10000".parse().unwrap();
        assert_eq!(told(&run).1, ["miscounted", "miscounted"]);
    }

    #[test]
    fn processor_time_that_there_is_not_is_told() {
        let used = |target: &str, percent: u64| {
            let burn = move |round: &mut Round| {
                round.cost.server_cpu_ns = Some(WALL_NS * percent / 100);
            };
            told(&point_queries(target, 2, burn))
        };
        // Four processors, 5 % of them, and 50 ms that a window of 100 ms cannot tell.
        assert_eq!(used("mysql://u@h/d", 460), (Verdict::Faster, vec![]));
        let both = vec!["utilisation-broken".to_owned(); 2];
        assert_eq!(used("mysql://u@h/d", 480), (Verdict::Faster, both.clone()));
        assert_eq!(used("mariadb:10.11?cpus=0.5", 95).1, Vec::<String>::new());
        assert_eq!(used("mariadb:10.11?cpus=0.5", 110).1, both, "the kernel lets it have half");
    }
}
