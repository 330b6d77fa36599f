//! What goes into a store comes out of it, exactly.

use std::fmt;

use crate::common::{self, golden_run, put};
use crate::counted;
use dbdyno_model::{
    ArmIndex, ArmSpec, Arms, Cell, ClassTally, ClassTimes, Cost, Environment, Idle, JudgingRule,
    KeepMemory, LatencyHistogram, OpenLoop, Pauses, Pin, Plan, Question, Quiet, Readings, Round,
    RoundKey, RoundSchedule, Run, RunId, RunStatus, Series, Severity, Stage, Target, Warning,
};
use dbdyno_store::Store;
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;

/// Small numbers, all numbers, and the edges where a signed column would turn over.
fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![
        0..1000u64,
        any::<u64>(),
        Just(u64::MAX),
        Just(i64::MAX as u64),
        Just(i64::MAX as u64 + 1),
    ]
}

/// What a run may have of anything.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..1000u64, 0..=1u64 << 53, Just(1 << 53)]
}

/// What a slot of a series may have: all together have no more than a run.
fn of_slot() -> impl Strategy<Value = u64> {
    number().prop_map(|number| number >> 5)
}

fn number_u32() -> impl Strategy<Value = u32> {
    prop_oneof![0..100u32, 0..=1_000_000u32, Just(1_000_000)]
}

/// Milliseconds since 1970.
fn moment() -> impl Strategy<Value = u64> {
    0..=1u64 << 43
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), any::<String>(), "[a-z'\"\\\\\0]{0,9}"]
}

fn spec() -> impl Strategy<Value = ArmSpec> {
    let target = prop_oneof![
        Just("mariadb:10.11"),
        Just("postgres:"),
        Just("sqlite:?synchronous=off&cache_size=-2000"),
        Just("mysql://root@/x?socket=/run/mysqld/my%26sqld.sock"),
        Just("postgres://a%40b@[::1]:5433/d%2Fe"),
    ];
    (target, 0.0..=0.9f64).prop_map(|(text, slow)| ArmSpec { slow, ..text.parse().unwrap() })
}

fn pin() -> impl Strategy<Value = Pin> {
    {
        let given = "clients=0,5-9/servers=511".parse().expect("a placement");
        prop_oneof![
            Just(Pin::Auto),
            Just(Pin::Same),
            Just(Pin::Split),
            Just(Pin::None),
            Just(given)
        ]
    }
}

fn stages() -> impl Strategy<Value = Vec<Stage>> {
    let load = || "[a-z][a-z-]{0,9}(_range=[0-9]{1,4})?([?]rand=zipfian)?([.]pre)?";
    let other = || {
        prop_oneof![
            Just(Stage::Settle),
            Just(Stage::Restore),
            (load(), option::of(1..9999u32))
                .prop_map(|(load, limit_s)| Stage::Warm { load, limit_s }),
        ]
    };
    let measured = btree_set(load(), 0..4);
    (measured, vec(other(), 0..4)).prop_map(|(measured, others)| {
        let measured = measured.into_iter().filter(|label| label != "settle");
        measured.map(Stage::Measure).chain(others).collect()
    })
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        (spec(), spec(), stages(), btree_set(number_u32(), 0..4)),
        (number_u32(), number(), number(), number(), any_number()),
        (number_u32(), number(), any::<f64>(), pin(), number_u32()),
    )
        .prop_map(|(first, second, third)| Plan {
            arms: [first.0.clone(), first.1]
                .into_iter()
                .chain(vec![first.0; second.0 as usize % 4])
                .collect(),
            question: Question {
                stages: first.2,
                clients: first.3.into_iter().collect(),
                seed: second.4,
                tables: third.0,
                rows: third.1,
                driving: WAYS_OF_DRIVING[second.0 as usize % WAYS_OF_DRIVING.len()]
                    .parse()
                    .unwrap(),
                files: vec![dbdyno_model::LoadFile {
                    file: "é.toml".into(),
                    text: "name = 'é'\n\tgroup = \"point\"".into(),
                }],
                counting: dbdyno_model::Counting::Beside,
                note: format!("{} fillings", second.0),
            },
            schedule: RoundSchedule {
                pairs: second.0,
                round_ns: second.1,
                lead_in_ns: second.2,
                warm_up_ns: second.3,
                restarts: third.4,
                reloads: third.4 / 2,
                slice_ns: second.1 / 2,
                limit_ns: (second.1 % 2 == 0).then_some(second.1),
            },
            rule: JudgingRule {
                budget: if third.2.is_nan() { 0.02 } else { third.2 },
                interval: INTERVALS[third.4 as usize % INTERVALS.len()].parse().unwrap(),
                stopping: STOPPING[second.0 as usize % STOPPING.len()].parse().unwrap(),
            },
            quiet: Quiet {
                pin: third.3,
                idle: if third.4 % 2 == 0 { Idle::Halt } else { Idle::Poll },
                keep_memory: KeepMemory::ALL[third.4 as usize % KeepMemory::ALL.len()],
            },
        })
}

const INTERVALS: [&str; 5] = ["auto", "t", "robust", "bca", "hodges-lehmann"];

const STOPPING: [&str; 4] = ["extended 2 3,0,5", "fixed", "detect 8 9 0.01 0.95", "decided 18 48"];

const WAYS_OF_DRIVING: [&str; 4] =
    ["closed", "think 8s..12s", "rate poisson:steps:1,0.25@10s", "find-max p99 < 10ms"];

fn cost() -> impl Strategy<Value = Cost> {
    vec(option::of(number()), 9).prop_map(|numbers| Cost {
        server_cpu_ns: numbers[0],
        server_kernel_ns: numbers[1],
        client_cpu_ns: numbers[2],
        client_kernel_ns: numbers[3],
        server_context_switches: numbers[4],
        client_context_switches: numbers[5],
        server_read_bytes: numbers[6],
        server_written_bytes: numbers[7],
        client_run_delay_ns: numbers[8],
    })
}

fn round() -> impl Strategy<Value = Round> {
    (
        (text(), number_u32(), number_u32(), any::<bool>()),
        vec(number(), 7),
        (vec(number(), 0..20), number(), vec(of_slot(), 0..20)),
        (cost(), option::of((number(), number())), readings()),
        vec((text(), number(), vec(of_slot(), 0..9), any::<bool>()), 0..3),
    )
        .prop_map(
            |(
                key,
                numbers,
                (latencies, slot_ns, statements),
                (cost, pauses, readings),
                classes,
            )| {
                let mut latency = LatencyHistogram::new();
                latencies.iter().for_each(|&value| latency.record_latency(value));
                let mut open = None;
                if numbers[0] % 2 == 1 {
                    let (offered, unanswered) = (numbers[1], numbers[2]);
                    let (response, mut lag) = (latency.clone(), LatencyHistogram::new());
                    latencies.iter().for_each(|&value| lag.record_latency(value / 3));
                    open = Some(OpenLoop { offered, unanswered, response, lag });
                }
                let times = ClassTimes {
                    latency: latency.clone(),
                    response: open.as_ref().map(|open| open.lag.clone()),
                };
                let mut names = std::collections::HashSet::new();
                let classes = classes.into_iter().filter(|class| names.insert(class.0.clone()));
                let class = |(name, count, slots, events): (_, _, _, bool)| ClassTally {
                    name,
                    count,
                    slots,
                    times: events.then(|| times.clone()),
                };
                let classes = classes.map(class).collect();
                Round {
                    key: RoundKey {
                        cell: Cell { load: key.0, clients: key.1 },
                        pair: key.2,
                        arm: ArmIndex(u8::from(key.3)),
                    },
                    start: key.2 / 3,
                    filling: key.2 / 7,
                    started_unix_ms: numbers[0] >> 10,
                    wall_ns: numbers[1],
                    events: numbers[2],
                    statements: numbers[3],
                    rows_read: numbers[4],
                    rows_changed: numbers[5],
                    retries: numbers[6],
                    latency,
                    series: Series { slot_ns, statements },
                    classes,
                    cost,
                    pauses: pauses.map(|(sum_ns, longest_ns)| Pauses { sum_ns, longest_ns }),
                    open,
                    readings,
                }
            },
        )
}

fn readings() -> impl Strategy<Value = Readings> {
    vec((text(), -9e15..9e15), 0..4).prop_map(|pairs| {
        let mut readings = Readings::default();
        pairs.iter().for_each(|(name, value)| readings.set(name, Some(*value)));
        readings
    })
}

fn environment() -> impl Strategy<Value = Environment> {
    btree_map(text(), text(), 0..5).prop_map(|facts| Environment { facts })
}

fn run() -> impl Strategy<Value = Run> {
    let severity =
        prop_oneof![Just(Severity::Note), Just(Severity::Caution), Just(Severity::Blocks)];
    let status = prop_oneof![
        Just(RunStatus::Partial),
        Just(RunStatus::Interrupted),
        Just(RunStatus::Complete)
    ];
    let warning = (severity, text(), text()).prop_map(|(severity, code, text)| Warning {
        severity,
        code,
        text,
    });
    (
        (option::of("[a-z]{5,9}"), moment(), text(), text(), status),
        plan(),
        (environment(), environment()),
        (vec(round(), 0..4), vec(round(), 0..4)),
        vec(warning, 0..3),
    )
        .prop_map(|(head, plan, environment, (mut rounds, mut behind), mut warnings)| {
            let mut seen = std::collections::HashSet::new();
            rounds.retain(|round| seen.insert(round.key.clone()));
            seen.clear();
            let last = ArmIndex(plan.arms.count() as u8 - 1);
            behind.iter_mut().for_each(|round| round.key.arm = last);
            behind.retain(|round| seen.insert(round.key.clone()));
            let mut ended = Vec::new();
            if last > ArmIndex::TEST {
                rounds.extend(behind);
                let why = "gone — ü\nline".to_owned();
                ended.push(dbdyno_model::EndedArm { arm: last, why });
            }
            let environment = Arms::from_fn(plan.arms.indices(), |arm| match arm {
                ArmIndex::TEST => environment.1.clone(),
                arm if arm == ArmIndex::BASE || arm == last => environment.0.clone(),
                _ => Environment::default(),
            });
            // One that is said again is one: a test of its own says so.
            let mut said = std::collections::HashSet::new();
            warnings.retain(|warning| said.insert(format!("{warning:?}")));
            Run {
                id: RunId(String::new()),
                name: head.0,
                started_unix_ms: head.1,
                status: head.4,
                tool_version: head.2,
                command: head.3,
                plan,
                environment,
                rounds,
                ended,
                counts: dbdyno_model::RunCounts { calls: counted::calls(), ..counted::counts() },
                warnings,
            }
        })
}

/// Runs, of which a failure prints how large they are: what differs is said beside.
#[derive(Clone)]
struct Runs(Vec<Run>);

impl fmt::Debug for Runs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds: Vec<usize> = self.0.iter().map(|run| run.rounds.len()).collect();
        write!(f, "runs with {rounds:?} rounds")
    }
}

/// Where two values are first shown differently, and how. A run takes thousands of lines, and what
/// is wrong with it one.
fn first_difference(one: &impl fmt::Debug, other: &impl fmt::Debug) -> String {
    let (one, other) = (format!("{one:#?}"), format!("{other:#?}"));
    let (one, other): (Vec<_>, Vec<_>) = (one.lines().collect(), other.lines().collect());
    let differs = |at: &usize| one.get(*at) != other.get(*at);
    let Some(at) = (0..one.len().max(other.len())).find(differs) else {
        return "nothing that is shown".to_owned();
    };
    let line = |lines: &[&str]| lines.get(at).map_or("", |line| line.trim()).to_owned();
    format!("at {}: {:?}, not {:?}", path_of(&one, at), line(&one), line(&other))
}

/// The fields around a line of a shown value, from its indentation: `rounds[1].latency`.
fn path_of(lines: &[&str], at: usize) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    // What closes something stands where an element of it could be.
    let inside =
        |line: &&str| depth(line) + 4 * usize::from(line.trim().starts_with(['}', ']', ')']));
    let mut within = lines.get(at).map_or(0, inside);
    let (mut path, mut before) = (Vec::new(), 0);
    for line in lines[..at].iter().rev() {
        let (text, depth) = (line.trim(), depth(line));
        if depth == within && !text.ends_with(['{', '[', '(']) {
            before += 1;
        } else if depth < within {
            let field = text.split_once(": ").map(|(field, _)| field);
            let place = text.ends_with('[').then(|| format!("[{before}]"));
            path.extend(field.map(|field| format!("{field}{}", place.unwrap_or_default())));
            (within, before) = (depth, 0);
        }
    }
    path.reverse();
    path.join(".")
}

#[test]
fn a_difference_is_named_in_a_line() {
    let run = golden_run();
    assert_eq!(first_difference(&run, &run), "nothing that is shown");
    let mut other = run.clone();
    other.rounds[1].latency.record_latency(7);
    let told = "at rounds[1].latency: \"7: 1,\", not \"2000: 1,\"";
    assert_eq!(first_difference(&other, &run), told);
    other = run.clone();
    other.warnings.pop();
    let told = first_difference(&other, &run);
    assert_eq!(told, "at warnings[1]: \"],\", not \"Warning {\"");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_run_comes_back_among_others(runs in vec(run(), 1..3).prop_map(Runs)) {
        let mut runs = runs.0;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let mut store = Store::open(&path).unwrap();
        for run in &mut runs {
            run.id = put(&mut store, run);
        }
        drop(store);
        let store = Store::open(&path).unwrap();
        for run in &runs {
            let stored = store.load(&run.id).unwrap();
            prop_assert!(stored == *run, "{}", first_difference(&stored, run));
        }
        let listed: Vec<_> = store.list().unwrap().runs.into_iter().map(|run| run.id).collect();
        let newest_first: Vec<_> = runs.iter().rev().map(|run| run.id.clone()).collect();
        prop_assert_eq!(listed, newest_first);
    }
}

#[test]
fn passwords_reach_neither_the_plan_nor_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = golden_run();
    run.plan.arms[ArmIndex::BASE] = common::spec("postgres://ann:hush%40hush@h/d");
    let id = put(&mut store, &run);
    let Target::Url(url) = &store.load(&id).unwrap().plan.arms[ArmIndex::BASE].target else {
        panic!("another target came back");
    };
    assert_eq!(url.password, None);
    drop(store);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(4).any(|window| window == b"hush"));
    }
}

#[test]
fn equal_environments_are_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut store = Store::open(&path).unwrap();
    let mut run = golden_run();
    run.environment[ArmIndex::BASE] = run.environment[ArmIndex::TEST].clone();
    put(&mut store, &run);
    put(&mut store, &run);
    // The same letters, cut at another place, are other facts.
    let mut shifted = Environment::default();
    shifted.set("ab", "c");
    let mut other = Environment::default();
    other.set("a", "bc");
    run.environment[ArmIndex::BASE] = shifted;
    run.environment[ArmIndex::TEST] = other;
    let id = put(&mut store, &run);
    assert_eq!(store.load(&id).unwrap().environment, run.environment);
    let raw = rusqlite::Connection::open(&path).unwrap();
    let count: i64 =
        raw.query_row("SELECT count(*) FROM environment", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}
