//! What rows, versions, sessions and transactions take in memory.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench memory [-- ROWS]
//! ```
//!
//! Bytes that were asked of the allocator and not given back, counted around each step, for the
//! rows of a table as sysbench's (see `sbtest`). What the allocator adds, some sixteen bytes for
//! each piece, is not among them.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use dbdyno_engine::disk::RealDisk;
use dbdyno_engine::{Datum, Engine, EngineOptions, EngineSession, Intent, Table, Upkeep};
use dbdyno_model::Design;
use dbdyno_model::design::Device;

mod sbtest;

static LIVE: AtomicI64 = AtomicI64::new(0);

/// Counts the bytes that are in use.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes for each of so many, by what a step leaves in use.
fn each<T>(name: &str, many: usize, step: impl FnOnce() -> T) -> T {
    let before = LIVE.load(Ordering::Relaxed);
    let made = step();
    let bytes = (LIVE.load(Ordering::Relaxed) - before) as f64 / many as f64;
    println!("{name:<44} {bytes:>8.0} bytes");
    made
}

/// Gives a row another text, in a transaction that may be open.
fn update(session: &mut EngineSession, table: &Arc<Table>, id: i64, byte: u8) {
    let text = Datum::Text(&[byte; 120]);
    let done = session.statement(|it| sbtest::set(it, table, id, sbtest::C, text));
    done.expect("nobody else is there");
}

fn main() {
    let rows = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(200_000_usize);
    let design = Design { device: Device::None, ..Design::default() };
    let options = EngineOptions { upkeep: Upkeep::OnDemand, ..EngineOptions::default() };
    let directory = tempfile::tempdir().expect("a directory");
    let disk = RealDisk::open(directory.path()).expect("it is empty");
    let engine = Engine::open(Arc::new(disk), &design, options).expect("an empty engine");
    let before = engine.heap_bytes();
    let table = sbtest::filled(&engine, rows as i64);
    let mut session = engine.session();
    let each_row = (engine.heap_bytes() - before) as f64 / rows as f64;
    println!("{:<44} {each_row:>8.0} bytes", "a row with its entry in one index");

    let mut sessions = each("a session that does nothing", 1_000, || {
        (0..1_000).map(|_| engine.session()).collect::<Vec<_>>()
    });
    each("a transaction that has read a row", 1_000, || {
        for session in &mut sessions {
            session.begin(None).expect("nothing is open");
            let read = |it: &mut dbdyno_engine::RunningStatement<'_>| {
                it.get(&table, &[Datum::Int(1)], Intent::Read).map(|_| ())
            };
            session.statement(read).expect("it is there");
        }
    });
    each("and has changed one: version, locks, record", 1_000, || {
        for (id, session) in sessions.iter_mut().enumerate() {
            update(session, &table, 1 + id as i64, 7);
        }
    });
    each("what the end of those adds, until purge", 1_000, || {
        sessions.iter_mut().for_each(|session| session.commit().expect("the disk is there"));
    });
    drop(sessions);
    engine.purge();
    let versions = 50_000;
    let before = engine.heap_bytes();
    for id in 1..=versions {
        update(&mut session, &table, id, 9);
    }
    let each_version = (engine.heap_bytes() - before) as f64 / versions as f64;
    println!("{:<44} {each_version:>8.0} bytes", "an older version of a row");
    engine.purge();
    let left = engine.heap_bytes().saturating_sub(before);
    println!("{:<44} {:>8} bytes", "versions that purge has left, in all", left);
}
