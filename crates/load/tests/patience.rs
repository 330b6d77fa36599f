//! Rounds whose clients wait for locks that nobody gives back.
//!
//! A client outside the round holds rows until all is over, and the design lets others wait for
//! them for hours. A round that waited for its clients would not end.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_load::{
    Connector, EngineArm, LoadError, OpenSpec, RoundSpec, fill_tables, run_open, run_round,
};
use dbdyno_model::design::Device;
use dbdyno_model::{Design, Dialect, Processors};
use dbdyno_wire::Client;
use dbdyno_workload::{Load, ReadyLoad, Tables, resolve_load};

const HOURS: Duration = Duration::from_secs(10 * 3600);
const WINDOW: Duration = Duration::from_millis(400);
/// The first operation of a second round: what a row has already does not change it.
const NEXT: u64 = 1 << 32;
static GO_ON: AtomicBool = AtomicBool::new(false);

/// An engine, and a client that has locked some rows of its tables.
struct Place {
    arm: EngineArm,
    connector: Connector,
    load: ReadyLoad,
    _owner: Box<dyn Client>,
    _directory: tempfile::TempDir,
}

impl Place {
    fn new(load: &str, locked: &str) -> Place {
        let load: Load = resolve_load(load, Tables { count: 1, rows: 1_000, seed: 3 }).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let design = Design { device: Device::None, lock_wait: HOURS, ..Design::default() };
        let arm = EngineArm::open(directory.path(), &design).unwrap();
        let connector = Connector::Engine(arm.clone());
        fill_tables(&connector, Dialect::Engine, &*load.dataset, &GO_ON, &mut |_| {}).unwrap();
        let mut owner = connector.connect().unwrap();
        owner.run("BEGIN").unwrap();
        owner.run(&format!("SELECT id FROM sbtest1 WHERE id <= {locked} FOR UPDATE")).unwrap();
        let load = ReadyLoad::compile(&load, Dialect::Engine).unwrap();
        Place { arm, connector, load, _owner: owner, _directory: directory }
    }

    fn round<'a>(&'a self, window: Duration, stop: &'a AtomicBool) -> RoundSpec<'a> {
        RoundSpec {
            load: &self.load,
            connector: &self.connector,
            clients: 2,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop,
        }
    }

    fn counted(&self, name: &str) -> u64 {
        counted(&self.arm, name)
    }
}

fn counted(arm: &EngineArm, name: &str) -> u64 {
    arm.meter_counts().named_counts().find(|(known, _)| *known == name).unwrap().1
}

/// Asks to stop when so many clients have begun to wait.
fn stop_when_many_wait(arm: &EngineArm, many: u64, stop: &AtomicBool) {
    while counted(arm, "lock_waits") < many {
        thread::yield_now();
    }
    stop.store(true, Ordering::Relaxed);
}

#[test]
fn a_request_to_stop_ends_waits_for_locks() {
    for load in ["update-nonindex", "read-write"] {
        let place = Place::new(load, "1000");
        let (arm, stop) = (&place.arm, AtomicBool::new(false));
        let ended = thread::scope(|scope| {
            scope.spawn(|| stop_when_many_wait(arm, 2, &stop));
            run_round(&place.round(HOURS, &stop), &mut |_| {})
        });
        assert!(matches!(ended, Err(LoadError::Interrupted)), "{load}: {ended:?}");
        assert_eq!(place.counted("lock_timeouts"), 0, "nobody's patience has ended");
    }
}

#[test]
fn what_waits_for_a_lock_when_the_window_has_closed_does_not_count() {
    let nothing = Place::new("update-nonindex", "1000");
    let ended = run_round(&nothing.round(WINDOW, &GO_ON), &mut |_| {});
    assert!(matches!(ended, Err(LoadError::NothingFinished)), "{ended:?}");
    assert_eq!(nothing.counted("lock_waits"), 2);

    let some = Place::new("update-nonindex", "100");
    let measured = run_round(&some.round(WINDOW, &GO_ON), &mut |_| {}).unwrap();
    assert_eq!(measured.answer.statements, measured.events);
    assert_eq!(measured.answer.retries, 0, "it was not asked again");
    assert_eq!(some.counted("lock_waits"), 2, "both have met a row that is locked");
    let next = RoundSpec { first_operation: NEXT, ..some.round(WINDOW, &GO_ON) };
    let again = run_round(&next, &mut |_| {}).unwrap();
    assert_eq!(again.answer.retries, 0);
    assert_eq!(some.counted("lock_waits"), 4, "in the next round locks are waited for again");
}

#[test]
fn in_the_open_loop_it_is_unanswered_when_draining_ends() {
    let place = Place::new("update-nonindex", "100");
    let schedule = ArrivalSchedule::new(&"1000".parse().unwrap(), 5, 0, &[]);
    let round = place.round(WINDOW, &GO_ON);
    let drain = Duration::from_millis(100);
    let (_, open) = run_open(&OpenSpec { round, schedule, drain }, &mut |_| {}).unwrap();
    assert_eq!((open.offered, open.response.count()), (400, 400));
    assert!(open.unanswered >= 2, "both clients wait: {}", open.unanswered);

    let (arm, stop) = (&place.arm, AtomicBool::new(false));
    let many = place.counted("lock_waits") + 2;
    let schedule = ArrivalSchedule::new(&"1000".parse().unwrap(), 5, 0, &[]);
    let ended = thread::scope(|scope| {
        scope.spawn(|| stop_when_many_wait(arm, many, &stop));
        let round = RoundSpec { first_operation: NEXT, ..place.round(HOURS, &stop) };
        run_open(&OpenSpec { round, schedule, drain }, &mut |_| {})
    });
    assert!(matches!(ended, Err(LoadError::Interrupted)), "{ended:?}");
}
