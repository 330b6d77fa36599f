//! What is seen of a client that has time, and of one that has none: the shares on which
//! `judge::cautions::saturation` decides, and what it decides.
//!
//! ```text
//!   cargo bench -p dbdyno-lab --bench signs -- PRODUCT:VERSION…   measures it against itself
//!   cargo bench -p dbdyno-lab --bench signs -- FILE               the runs that are stored there
//!
//!     quiet                client and server on all processors
//!     one processor        the client is kept on the last one, the server on the others
//!     N neighbours         and there are N threads beside it that never rest
//!     N everywhere         on every processor, beside client and server
//! ```

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dbdyno_judge::cautions::saturation::client_signs;
use dbdyno_judge::compare_run;
use dbdyno_lab::{ExperimentOrder, Lab, Progress, Watch, run_experiment};
use dbdyno_model::{
    Arm, ArmSpec, Arms, Pin, Plan, Product, Question, Quiet, Round, RoundSchedule, Run, Stage,
    Target, Transport,
};
use dbdyno_sandbox::{Home, LaunchOptions, Server, allowed_processors};
use dbdyno_store::Store;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;

const LOADS: [&str; 2] = ["point-query", "update-nonindex"];
const CLIENTS: [u32; 3] = [1, 4, 16];

/// Where client and neighbours are.
#[derive(Clone, Copy)]
enum Squeeze {
    Quiet,
    OneProcessor,
    Beside(usize),
    Everywhere(usize),
}

impl Squeeze {
    const ALL: [Squeeze; 6] = [
        Squeeze::Quiet,
        Squeeze::OneProcessor,
        Squeeze::Beside(1),
        Squeeze::Beside(3),
        Squeeze::Everywhere(1),
        Squeeze::Everywhere(3),
    ];

    fn name(self) -> String {
        match self {
            Squeeze::Quiet => "quiet".to_owned(),
            Squeeze::OneProcessor => "one processor".to_owned(),
            Squeeze::Beside(neighbours) => format!("{neighbours} neighbours"),
            Squeeze::Everywhere(neighbours) => format!("{neighbours} everywhere"),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    if arguments.is_empty() {
        // `cargo bench` of the whole workspace comes by without arguments.
        println!("signs: give PRODUCT:VERSION… or FILE; see the top of this file");
        return;
    }
    println!("| run | server | load | clients | rate | busy | paused | lag | client says |");
    println!("|---|---|---|--:|--:|--:|--:|--:|---|");
    for argument in &arguments {
        match argument.parse::<ArmSpec>() {
            Ok(spec) => squeezed(&spec),
            Err(_) => stored(Path::new(argument)),
        }
    }
}

fn stored(file: &Path) {
    let store = Store::open(file).expect("the file opens");
    for summary in store.list().expect("runs can be listed").runs {
        let run = store.load(&summary.id).expect("the run can be read");
        let name = run.name.clone().unwrap_or_else(|| run.id.to_string());
        print_run(&name, &run);
    }
}

fn squeezed(spec: &ArmSpec) {
    let Target::Release(wanted) = &spec.target else { panic!("a release is needed") };
    let (product, version) = (&wanted.product, &wanted.version);
    let home = Home::open(None).expect("the home opens");
    let release = dbdyno_sandbox::get(&home, *product, version, &mut |_| {}).expect("it is got");
    let options = LaunchOptions::for_host(4_096);
    let server = Server::start(&home, &release, &options, "signs", &mut |_| {}).expect("starts");
    let endpoint = server.endpoint();
    let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
    let scheme = match product {
        Product::MySql | Product::MariaDb => "mysql",
        Product::Postgres => "postgres",
    };
    let (user, password) = (&endpoint.user, endpoint.password.expose());
    let url = format!("{scheme}://{user}:{password}@{host}:{port}/{}", endpoint.database);
    let folder = tempfile::tempdir().expect("a folder can be made");
    let mut store = Store::open(&folder.path().join("signs.db")).expect("the file opens");
    let all = allowed_processors();
    let (&last, others) = all.split_last().expect("there is a processor");
    for squeeze in Squeeze::ALL {
        let (client, servers, neighbours) = match squeeze {
            Squeeze::Quiet => (all.clone(), all.clone(), Vec::new()),
            Squeeze::OneProcessor => (vec![last], others.to_vec(), Vec::new()),
            Squeeze::Beside(count) => (vec![last], others.to_vec(), vec![last; count]),
            Squeeze::Everywhere(count) => (all.clone(), all.clone(), all.repeat(count)),
        };
        server.pin_to_processors(&servers).expect("the server can be placed");
        let run = beside(&neighbours, || {
            keep_on(&client);
            let run = one_run(&home, &mut store, &url);
            keep_on(&all);
            run
        });
        print_run(&squeeze.name(), &run);
    }
    server.stop().expect("it stops");
}

/// Does the work beside threads that never rest, one on each of these processors.
fn beside<T>(neighbours: &[usize], work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        for &processor in neighbours {
            let over = &over;
            scope.spawn(move || {
                keep_on(&[processor]);
                while !over.load(Ordering::Relaxed) {}
            });
        }
        let done = work();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// Keeps the calling thread, and those that it makes from now on, on these processors.
fn keep_on(processors: &[usize]) {
    let mut set = CpuSet::new();
    processors.iter().for_each(|&processor| set.set(processor).expect("a processor"));
    sched_setaffinity(Pid::from_raw(0), &set).expect("the kernel lets us");
}

struct Silent;

impl Watch for Silent {
    fn report_progress(&mut self, _progress: Progress<'_>) {}
}

fn one_run(home: &Home, store: &mut Store, url: &str) -> Run {
    let plan = Plan {
        arms: Arms::from([url; 2].map(|arm| arm.parse().expect("a URL"))),
        question: Question {
            stages: LOADS.map(|load| Stage::Measure(load.to_owned())).to_vec(),
            clients: CLIENTS.to_vec(),
            rows: 100_000,
            ..Question::default()
        },
        schedule: RoundSchedule {
            pairs: 4,
            round_ns: 300_000_000,
            lead_in_ns: 50_000_000,
            warm_up_ns: 500_000_000,
            slice_ns: 0,
            ..RoundSchedule::default()
        },
        quiet: Quiet { pin: Pin::None, ..Quiet::default() },
        ..Plan::default()
    };
    let stop = AtomicBool::new(false);
    let clock = dbdyno_load::Clock::system();
    let mut lab = Lab { home, store, stop: &stop, watch: &mut Silent, clock };
    let tool_version = env!("CARGO_PKG_VERSION");
    let order = ExperimentOrder {
        plan: &plan,
        name: None,
        command: "signs",
        tool_version,
        varied: &[],
        trial_of: None,
    };
    let id = run_experiment(&mut lab, &order).unwrap_or_else(|error| panic!("{error}"));
    store.load(&id).expect("what was just stored can be read")
}

fn print_run(name: &str, run: &Run) {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let comparison = compare_run(run.first_pair()).expect("what was measured can be judged");
    for cell in comparison.cells {
        for arm in Arm::BOTH {
            let mine = |round: &&Round| round.key.cell == cell.cell && round.key.arm == arm.into();
            let rounds: Vec<&Round> = run.rounds.iter().filter(mine).collect();
            let Some(signs) = client_signs(run.first_pair(), &cell.cell, arm, &rounds) else {
                continue;
            };
            let of_arm = format!("{arm}: ");
            let codes = cell.warnings.iter().filter(|warning| {
                warning.code.starts_with("client-") && warning.text.starts_with(&of_arm)
            });
            let codes: Vec<&str> = codes.map(|warning| warning.code.as_str()).collect();
            println!(
                "| {name} | {} | {} | {} | {:.0} | {} | {} | {} | {} |",
                run.environment[arm.into()].get("server.version"),
                cell.cell.load,
                cell.cell.clients,
                cell.arms[arm].qps.estimate,
                percent(signs.busy),
                signs.paused.map_or("–".to_owned(), percent),
                percent(signs.lag),
                codes.join(", ")
            );
        }
    }
}
