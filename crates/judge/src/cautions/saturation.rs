//! Whether the client was the one that was measured.
//!
//! A load generator that has no time left gives a rate of its own: whatever the server does, the
//! rate stays. Three signs, each over all rounds of an arm in a cell:
//!
//! | sign                                        | from | what follows               |
//! |---------------------------------------------|-----:|----------------------------|
//! | client threads on a processor               | 80 % | no verdict                 |
//! | whole client held up for more than 1 ms     | 25 % | no verdict                 |
//! | the same                                    |  5 % | a caution                  |
//! | client threads waiting for a processor      | 30 % | a caution                  |
//!
//! An embedded arm lives in the client's threads, which then are busy by nature: it is left out.

use dbdyno_model::readings::BUSIEST_THREAD_NS;
use dbdyno_model::{
    Arm, Cell, Placement, Processors, Round, RunPair, Setting, Severity, Target, Warning,
};
use dbdyno_workload::planned;

/// The fact that says on how many processors this process may run: fewer than the host has where
/// somebody has confined it (`taskset`, a container).
pub const PROCESSORS: &str = "client.processors";

/// Client threads that are on a processor for this share of the time that they can have at most
/// leave the server a fifth of each turn: a server that gets twice as fast then gains 11 %.
const BUSY_BLOCKS: f64 = 0.8;
/// A client that is held up for a quarter of the time is not the load that the plan asks for.
/// Sixteen clients of PostgreSQL on two processors have up to 17 % by themselves.
const PAUSED_BLOCKS: f64 = 0.25;
/// Pauses hit rounds at random, and the interval has their noise in it; from here on it is theirs
/// rather than the server's, and latencies have them in their tail.
const PAUSED_HIGH: f64 = 0.05;
/// With more clients than processors some waiting is part of the experiment, for rates and arms
/// alike; but from here on it is a good part of every latency. One client has up to 25 % by itself
/// where it shares a processor with the server, and 54 % beside three threads that never rest.
const LAG_HIGH: f64 = 0.3;

/// Shares of the time over all rounds of an arm in a cell.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// Client threads on a processor, of the time that they could have been on one.
    pub busy: f64,
    /// The whole client held up for more than 1 ms; `None` where it shares a processor with the
    /// server.
    pub paused: Option<f64>,
    /// Client threads that could have run and waited for a processor.
    pub lag: f64,
}

/// What is seen of the client of one arm in one cell; `None` for an embedded arm.
pub fn client_signs(run: RunPair<'_>, cell: &Cell, arm: Arm, rounds: &[&Round]) -> Option<Signs> {
    if run.spec_on(arm).is_embedded() {
        return None;
    }
    let processors = client_processors(run, cell);
    let wall_ns: f64 = rounds.iter().map(|round| round.wall_ns as f64).sum();
    let threads = threads(run, cell, arm);
    let share = |field: fn(&Round) -> Option<u64>, per_wall: f64| {
        let sum: Option<u64> = rounds.iter().map(|round| field(round)).sum();
        sum.map(|sum| sum as f64 / (wall_ns * per_wall))
    };
    let all = share(|round| round.cost.client_cpu_ns, threads.min(processors));
    let busiest = share(|round| round.readings.get(BUSIEST_THREAD_NS).map(|ns| ns as u64), 1.0);
    Some(Signs {
        busy: all.unwrap_or(0.0).max(busiest.unwrap_or(0.0)),
        paused: share(|round| round.pauses.map(|pauses| pauses.sum_ns), 1.0),
        lag: share(|round| round.cost.client_run_delay_ns, threads).unwrap_or(0.0),
    })
}

/// The largest factor between the rates of two arms that their client alone makes, where `slower`
/// has the lower one: what its pauses took from it. Without bound where that rate is the client's;
/// a client that is saturated in the other arm alone makes the difference smaller than it is.
pub fn factor_of_client(run: RunPair<'_>, cell: &Cell, slower: Arm) -> f64 {
    let rounds: Vec<&Round> =
        run.rounds_of(slower).filter(|round| round.key.cell == *cell).collect();
    match client_signs(run, cell, slower, &rounds) {
        None => 1.0,
        Some(signs) if signs.busy >= BUSY_BLOCKS => f64::INFINITY,
        Some(signs) => 1.0 / (1.0 - signs.paused.unwrap_or(0.0)).max(f64::MIN_POSITIVE),
    }
}

/// What speaks against the client of one arm in one cell.
pub fn of_arm(run: RunPair<'_>, cell: &Cell, arm: Arm, rounds: &[&Round]) -> Vec<Warning> {
    let Some(signs) = client_signs(run, cell, arm, rounds) else { return Vec::new() };
    let paused = signs.paused.unwrap_or(0.0);
    [busy_client(arm, signs.busy), paused_client(arm, paused), late_client(arm, signs.lag)]
        .into_iter()
        .flatten()
        .collect()
}

/// Threads of ours that work without a pause: one for each client, in steps of the Insert Benchmark
/// up to two. There one of them may be saturated while the other waits for it, which is why the
/// busiest thread is looked at as well.
fn threads(run: RunPair<'_>, cell: &Cell, arm: Arm) -> f64 {
    let of_step =
        |(step, sizes)| planned::threads_of_step(step, &sizes, run.spec_on(arm).dialect()) as f64;
    f64::from(cell.clients) * planned::step_of(cell).map_or(1.0, of_step)
}

/// Processors that the clients of a cell can use.
pub(crate) fn client_processors(run: RunPair<'_>, cell: &Cell) -> f64 {
    let all = logical_processors(run).map_or(f64::INFINITY, |all| all as f64);
    cell_placement(run, cell).map_or(all, |place| counted(place.clients, all))
}

/// Processors that the server of an arm can use in a cell: those of its placement, and what the
/// kernel lets it have of them.
pub(crate) fn server_processors(run: RunPair<'_>, cell: &Cell, arm: Arm) -> f64 {
    let spec = run.spec_on(arm);
    let all = run.environment(arm).get("host.cpu.logical").parse().unwrap_or(f64::INFINITY);
    if spec.is_embedded() {
        return all;
    }
    let there = cell_placement(run, cell).map_or(all, |place| counted(place.servers, all));
    let Target::Release(release) = &spec.target else { return there };
    let allowed = release.settings.iter().find_map(|setting| match setting {
        Setting::Cpus(milli) => Some(f64::from(*milli) / 1e3),
        _ => None,
    });
    // Each member of a topology is let have as much.
    allowed.filter(|_| spec.begin.topology.is_none()).map_or(there, |allowed| allowed.min(there))
}

/// Processors on which we may run; `None` where that is not known.
pub(crate) fn logical_processors(run: RunPair<'_>) -> Option<usize> {
    let environment = run.environment(Arm::Base);
    let own = environment.get(PROCESSORS).parse().ok();
    own.or_else(|| environment.get("host.cpu.logical").parse().ok()).filter(|&all| all > 0)
}

/// Where clients and servers of a cell are put; `None` where they are not.
pub(crate) fn cell_placement(run: RunPair<'_>, cell: &Cell) -> Option<Placement> {
    let all: Vec<usize> = (0..logical_processors(run).unwrap_or(0)).collect();
    // Servers by URL are never moved, and then neither are the clients.
    let is_ours = |arm: Arm| !matches!(run.spec_on(arm).target, Target::Url(_));
    let placement = run.plan().quiet.pin.placement_for(cell.clients, &all);
    placement.filter(|_| Arm::BOTH.into_iter().all(is_ours))
}

fn counted(processors: Processors, all: f64) -> f64 {
    if processors.is_any() { all } else { processors.count() as f64 }
}

fn busy_client(arm: Arm, share: f64) -> Option<Warning> {
    (share >= BUSY_BLOCKS).then(|| {
        let text = format!(
            "{arm}: the client is saturated: its threads were on a processor for {:.0} % of the \
             time, so that the rate is the client's and not the server's; use more --clients if \
             processors are idle, else a load that asks more of the server",
            share * 100.0
        );
        Warning::new(Severity::Blocks, "client-saturated", text)
    })
}

fn paused_client(arm: Arm, share: f64) -> Option<Warning> {
    let severity = match share {
        PAUSED_BLOCKS.. => Severity::Blocks,
        PAUSED_HIGH.. => Severity::Caution,
        _ => return None,
    };
    let text = format!(
        "{arm}: the client itself was stalled for {:.0} % of the time, in pauses of more than 1 ms; \
         use fewer --clients, or a host with less to do",
        share * 100.0
    );
    Some(Warning::new(severity, "client-paused", text))
}

fn late_client(arm: Arm, share: f64) -> Option<Warning> {
    (share >= LAG_HIGH).then(|| {
        let text = format!(
            "{arm}: the client's threads waited for a processor for {:.0} % of the time, which is \
             part of every latency; use fewer --clients than there are processors, or run the \
             client on another machine",
            share * 100.0
        );
        Warning::new(Severity::Caution, "client-lag", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    use dbdyno_load::{Connector, RoundSpec, run_round};
    use dbdyno_model::{ArmIndex, Pauses, Run, Verdict};

    use crate::sample::{WALL_NS, point_queries as run};

    fn judged(run: &Run) -> (Verdict, Vec<String>) {
        let comparison = crate::compare_run(run.first_pair()).unwrap();
        let cell = &comparison.cells[0];
        let codes = cell.warnings.iter().map(|warning| warning.code.clone());
        (cell.verdict, codes.filter(|code| code.starts_with("client-")).collect())
    }

    #[test]
    fn a_client_without_time_left_gets_no_verdict() {
        let server = "mysql://u@h/d";
        assert_eq!(judged(&run(server, 2, |_| {})), (Verdict::Faster, vec![]));
        let busy = |round: &mut Round| {
            if round.key.arm == ArmIndex::TEST {
                round.cost.client_cpu_ns = Some(2 * WALL_NS * 85 / 100);
            }
        };
        let saturated = (Verdict::Undecided, vec!["client-saturated".to_owned()]);
        assert_eq!(judged(&run(server, 2, busy)), saturated);
        // Eight clients on four processors cannot get more than four.
        let crowd = |round: &mut Round| round.cost.client_cpu_ns = Some(4 * WALL_NS * 85 / 100);
        let (verdict, codes) = judged(&run(server, 8, crowd));
        assert_eq!((verdict, codes.len()), (Verdict::Undecided, 2), "both arms");
        assert_eq!(judged(&run("sqlite:", 2, busy)).0, Verdict::Faster, "it lives in the client");
    }

    /// A client that was stalled for 28 % of the time in both arms was told to make a factor of 10.
    #[test]
    fn a_client_makes_no_larger_factor_than_it_was_stalled() {
        let factor = |slower, percent_paused: u64, percent_busy: u64| {
            let run = run("mysql://u@h/d", 2, |round| {
                if round.key.arm == ArmIndex::TEST {
                    let sum_ns = WALL_NS * percent_paused / 100;
                    round.pauses = Some(Pauses { sum_ns, longest_ns: sum_ns });
                    round.cost.client_cpu_ns = Some(2 * WALL_NS * percent_busy / 100);
                }
            });
            factor_of_client(run.first_pair(), &run.plan.cells()[0], slower)
        };
        assert!((factor(Arm::Test, 28, 10) - 1.0 / 0.72).abs() < 1e-6);
        assert_eq!(factor(Arm::Test, 28, 85), f64::INFINITY);
        assert!(factor(Arm::Base, 28, 85) < 1.1, "the faster one was held up");
    }

    /// A client of l.i1 has two threads that write, one of qr100 has one that does not wait.
    #[test]
    fn threads_of_the_insert_benchmark_are_counted_and_the_busiest_looked_at() {
        let codes = |label: &str, percent: u64, busiest: u64| {
            let disturb = |round: &mut Round| {
                round.cost.client_cpu_ns = Some(WALL_NS * percent / 100);
                round.readings.set(BUSIEST_THREAD_NS, Some((WALL_NS * busiest / 100) as f64));
            };
            judged(&crate::sample::of_load(label, "mysql://u@h/d", 1, disturb)).1.len()
        };
        assert_eq!(codes("l.i0", 85, 85), 2, "both arms");
        assert_eq!(codes("l.i1", 120, 60), 0, "two threads");
        assert_eq!(codes("l.i1", 170, 75), 2);
        assert_eq!(codes("l.i1", 110, 85), 2, "the one that inserts is saturated");
        assert_eq!(codes("qr100", 85, 78), 2);
    }

    /// The anchor: where nothing answers, asking is all there is. What other processes took from
    /// the client is left out; on a busy host one of several tries must do.
    #[test]
    fn an_arm_that_answers_at_once_saturates_its_client() {
        let tables = dbdyno_workload::Tables { count: 1, rows: 1_000, seed: 1 };
        let load = dbdyno_workload::resolve_load("point-query", tables).unwrap();
        let load =
            dbdyno_workload::ReadyLoad::compile(&load, dbdyno_model::Dialect::Mysql).unwrap();
        let stop = AtomicBool::new(false);
        let spec = RoundSpec {
            load: &load,
            connector: &Connector::Null,
            clients: 1,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window: Duration::from_millis(200),
            think: None,
            slow: 0.0,
            processors: dbdyno_model::Processors::ANY,
            kept: None,
            record: None,
            stop: &stop,
        };
        let is_blocked = |_| {
            let Ok(asked) = run_round(&spec, &mut |_| {}) else { return false };
            let null = |round: &mut Round| {
                round.wall_ns = asked.wall_ns.saturating_sub(asked.usage.run_delay_ns).max(1);
                round.cost.client_cpu_ns = Some(asked.usage.cpu_ns);
            };
            judged(&run("mysql://u@h/d", 1, null)).0 == Verdict::Undecided
        };
        assert!((0..50).any(is_blocked));
    }

    #[test]
    fn pauses_and_waiting_are_told_before_they_block() {
        let server = "mysql://u@h/d";
        let paused = |percent: u64| {
            let disturb = move |round: &mut Round| {
                let sum_ns = WALL_NS * percent / 100;
                round.pauses = Some(Pauses { sum_ns, longest_ns: sum_ns });
            };
            judged(&run(server, 2, disturb))
        };
        assert_eq!(paused(3), (Verdict::Faster, vec![]));
        assert_eq!(paused(10).0, Verdict::Faster);
        assert_eq!(paused(10).1.len(), 2);
        assert_eq!(paused(30).0, Verdict::Undecided);
        let late = |round: &mut Round| round.cost.client_run_delay_ns = Some(WALL_NS);
        let (verdict, codes) = judged(&run(server, 2, late));
        assert_eq!((verdict, codes[0].as_str()), (Verdict::Faster, "client-lag"));
    }
}
