//! What one operation costs: a row read, changed, put in, taken out, by its primary key.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench points [-- SECONDS [ROWS [DESIGN]]]
//!   cargo bench -p dbdyno-engine --bench points -- 2 1000000 view=csn
//! ```
//!
//! A table as sysbench's (see `sbtest`). Nothing is synced (`device=none`), but records are written
//! to a file. Each statement is a transaction. Processor time is that of the process, with the
//! thread that purges: medians of three windows, with the least and the most. It is what to compare
//! where the host has other things to do as well.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::{
    Datum, Engine, EngineOptions, EngineSession, Intent, Result, RunningStatement, Table, Upkeep,
};
use dbdyno_model::random::{RandomStream, stream};

mod crew;
mod sbtest;

use sbtest::{C, K, row, set};

/// Operations of a turn: a look at the clock's flag is not part of one.
const BATCH: u64 = 32;
/// Windows of each operation.
const ROUNDS: u32 = 3;
const THREADS: [usize; 3] = [1, 8, 64];

thread_local! {
    static PLACE: Cell<usize> = const { Cell::new(usize::MAX) };
}

type Operation = fn(&mut RunningStatement<'_>, &Arc<Table>, &mut RandomStream, i64) -> Result<()>;

/// One client, and its questions.
struct Client {
    session: EngineSession,
    random: RandomStream,
}

const OPERATIONS: [(&str, Operation); 6] = [
    ("read a row", |it, table, random, rows| {
        let id = 1 + random.next_below(rows as u64) as i64;
        it.get(table, &[Datum::Int(id)], Intent::Read).map(|row| assert!(row.is_some()))
    }),
    ("read a row to share", |it, table, random, rows| {
        let id = 1 + random.next_below(rows as u64) as i64;
        it.get(table, &[Datum::Int(id)], Intent::Share).map(|row| assert!(row.is_some()))
    }),
    ("update a text", |it, table, random, rows| {
        let id = 1 + random.next_below(rows as u64) as i64;
        set(it, table, id, C, Datum::Text(&[random.next_below(200) as u8; 120]))
    }),
    ("update an indexed number", |it, table, random, rows| {
        let to = random.next_below(rows as u64) as i64;
        set(it, table, 1 + random.next_below(rows as u64) as i64, K, Datum::Int(to))
    }),
    ("put a row in", |it, table, random, rows| {
        it.insert(table, &row(0, random.next_below(rows as u64) as i64)).map(|_| ())
    }),
    ("take a row out, put it in", |it, table, random, rows| {
        let id = 1 + random.next_below(rows as u64) as i64;
        it.delete(table, &[Datum::Int(id)])?;
        it.insert(table, &row(id, id)).map(|_| ())
    }),
];

fn measure(engine: &Engine, table: &Arc<Table>, threads: usize, window: Duration, rows: i64) {
    let client = |place: usize| {
        let random = stream(&[threads as u64, place as u64]);
        Mutex::new(Client { session: engine.session(), random })
    };
    let clients: Vec<_> = (0..threads).map(client).collect();
    for (name, operation) in OPERATIONS {
        let (mut cpu, mut rate) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let next = AtomicUsize::new(0);
            let cost = crew::run(threads, window / ROUNDS, || {
                let mut place = PLACE.get();
                if place == usize::MAX {
                    place = next.fetch_add(1, Ordering::Relaxed);
                    PLACE.set(place);
                }
                let mut client = clients[place].lock().expect("each has its own");
                let Client { session, random } = &mut *client;
                for _ in 0..BATCH {
                    session.statement(|it| operation(it, table, random, rows)).expect("it is done");
                }
            });
            let done = (cost.turns * BATCH) as f64;
            cpu.push(cost.cpu_ns / done);
            rate.push(done / cost.seconds);
        }
        let (cpu, rate) = (crew::spread(cpu, 0), crew::spread(rate, 0));
        println!("{threads:>4} threads  {name:<28} {cpu:>24} ns CPU  {rate:>30} /s");
        engine.purge();
    }
}

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let number = |place: usize, default: f64| {
        arguments.get(place).map_or(default, |text| text.parse().expect("a number"))
    };
    let (seconds, rows) = (number(0, 1.0), number(1, 1_000_000.0) as i64);
    let fields = arguments.get(2).map_or("", String::as_str);
    let design = format!("device=none&{fields}").parse().expect("a design");
    let directory = tempfile::tempdir().expect("a directory");
    let disk = Arc::new(RealDisk::open(directory.path()).expect("it is empty"));
    let options = EngineOptions { upkeep: Upkeep::Background, ..EngineOptions::default() };
    let engine = Engine::open(disk, &design, options).expect("an empty engine");
    let begun = Instant::now();
    let table = sbtest::filled(&engine, rows);
    let each = begun.elapsed().as_nanos() as f64 / rows as f64;
    let bytes = engine.heap_bytes() as f64 / rows as f64;
    println!("{rows} rows in {each:.0} ns each, {bytes:.0} bytes of memory each");
    for threads in THREADS {
        measure(&engine, &table, threads, Duration::from_secs_f64(seconds), rows);
    }
    engine.close().expect("the disk is there");
}
