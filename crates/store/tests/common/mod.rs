//! A run of fixed content, and how to put any run into a store.

use dbdyno_model::{
    ArmIndex, ArmSpec, Arms, Cell, Cost, Environment, LatencyHistogram, OpenLoop, Pauses, Plan,
    Question, Quiet, Readings, Round, RoundKey, RoundSchedule, Run, RunId, RunStatus, Series,
    Severity, Warning,
};
use dbdyno_store::{NewRun, Store};

/// Stores everything of `run` but its id; returns the id that the store gave.
pub(crate) fn put(store: &mut Store, run: &Run) -> RunId {
    let new = NewRun {
        name: run.name.as_deref(),
        started_unix_ms: run.started_unix_ms,
        tool_version: &run.tool_version,
        command: &run.command,
        plan: &run.plan,
    };
    let id = store.begin_run(&new).unwrap();
    for (arm, environment) in run.environment.iter() {
        store.set_environment(&id, arm, environment).unwrap();
    }
    for round in &run.rounds {
        store.add_round(&id, round).unwrap();
    }
    for ended in &run.ended {
        store.end_arm(&id, ended).unwrap();
    }
    store.add_counts(&id, &run.counts).unwrap();
    for warning in &run.warnings {
        store.add_warning(&id, warning).unwrap();
    }
    store.finish(&id, run.status).unwrap();
    id
}

pub(crate) fn spec(text: &str) -> ArmSpec {
    text.parse().unwrap()
}

pub(crate) fn plan() -> Plan {
    Plan {
        arms: Arms::from(["mariadb:10.11", "mysql://ann@127.0.0.1:3307/shop?slow=7%"].map(spec)),
        question: Question {
            stages: ["warm:60s:scan", "settle", "read-write", "point-query.pre"]
                .map(|stage| stage.parse().unwrap())
                .into(),
            clients: vec![8, 1],
            seed: u64::MAX - 41,
            tables: 4,
            rows: 100_000,
            driving: "rate poisson:sine:1000+-500@30s".parse().unwrap(),
            files: vec![dbdyno_model::LoadFile {
                file: "loads/shop.toml".into(),
                text: "name = \"shop\"\n".into(),
            }],
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs: 7,
            round_ns: 3_000_000_000,
            lead_in_ns: 500_000_000,
            warm_up_ns: 10_000_000_000,
            restarts: 3,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        quiet: Quiet { pin: dbdyno_model::Pin::Same, ..Quiet::default() },
        ..Plan::default()
    }
}

/// Round number `index`: every field depends on it.
pub(crate) fn round(index: u32) -> Round {
    let number = u64::from(index);
    let mut latency = LatencyHistogram::new();
    for step in 0..50 {
        latency.record_latency((number + 1) * 1_000 * (step * step + 1));
    }
    Round {
        key: RoundKey {
            cell: Cell { load: "read-write".into(), clients: 8 },
            pair: index / 2,
            arm: ArmIndex(index as u8 % 2),
        },
        start: index / 4,
        filling: 0,
        started_unix_ms: 1_750_000_000_000 + number,
        wall_ns: 3_000_000_123 + number,
        events: 50 + number,
        statements: 900 + number,
        rows_read: 40_000 + number,
        rows_changed: 200 + number,
        retries: number,
        latency,
        series: Series {
            slot_ns: 100_000_000,
            statements: (0..30).map(|slot| 30 + (slot * 7 + number) % 11).collect(),
        },
        classes: Vec::new(),
        cost: Cost {
            server_cpu_ns: Some(2_000_000_000 + number),
            server_kernel_ns: Some(500_000_000),
            client_cpu_ns: Some(0),
            client_kernel_ns: None,
            server_context_switches: Some(12_345),
            client_context_switches: Some(u64::MAX),
            client_run_delay_ns: Some(77 + number),
            server_read_bytes: None,
            server_written_bytes: Some(4096),
        },
        pauses: (index != 1)
            .then_some(Pauses { sum_ns: 9_000_000 + number, longest_ns: 2_000_000 }),
        open: (index == 1).then(|| {
            let mut open = OpenLoop { offered: 71, unanswered: 1, ..OpenLoop::default() };
            (1..72).for_each(|step| open.response.record_latency(step * 70_000));
            (1..71).for_each(|step| open.lag.record_latency(step * 900));
            open
        }),
        readings: Readings::default(),
    }
}

/// The run that `data/v1.db` holds. Never change it.
pub(crate) fn golden_run() -> Run {
    let mut known = Environment::default();
    known.set("host.kernel", "6.1.0");
    known.set("variable.init_connect", "");
    let mut environment = Arms::from([known.clone(), known]);
    environment[ArmIndex::TEST].set("server.version", "11.8.3-MariaDB — ü");
    Run {
        id: RunId("1badcafe".into()),
        name: Some("golden".into()),
        started_unix_ms: 1_750_000_000_000,
        status: RunStatus::Interrupted,
        tool_version: "0.1.0".into(),
        command: "dbdyno compare mariadb:10.11 'mysql://ann@127.0.0.1:3307/shop?slow=7%'".into(),
        plan: plan(),
        environment,
        rounds: (0..3).map(round).collect(),
        ended: Vec::new(),
        counts: dbdyno_model::RunCounts::default(),
        warnings: vec![
            Warning::new(Severity::Caution, "steal", "Another guest took time."),
            Warning::new(Severity::Note, "note", "Second."),
        ],
    }
}
