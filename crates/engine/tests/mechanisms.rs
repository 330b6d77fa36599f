//! The words of the mechanisms of one server, as the model has them: a new word is compared with
//! the others without a list to be kept.

use dbdyno_model::Design;
use dbdyno_model::design::{DeadlockPrint, Isolation, LogBuffer, Schedule, View, ViewClose, Wake};

/// Each mechanism by its name, with the values that are tried by so many sessions at a time. A
/// smaller gate may keep out whoever would end the wait of who is inside. What the levels promise
/// differs, so that [`Isolation`] is not among them.
///
/// A field that is new in [`Design`] does not compile here before it is decided whether it is one.
pub(crate) fn mechanism_values(sessions: u32) -> Vec<(&'static str, Vec<String>)> {
    let Design {
        view: _,
        view_close: _,
        wake: _,
        log: _,
        lock_shards: _,
        trx_shards: _,
        schedule: _,
        deadlock_print: _,
        gate: _,
        // The level and what a session waits for are the questions of the tests.
        isolation: Isolation::RepeatableRead,
        device: _,
        lock_wait: _,
        // What is counted, and what stands beside one server.
        meter: _,
        topology: _,
        depend: _,
        certify: _,
        apply: _,
        apply_order: _,
        wire: _,
        planted: _,
    } = Design::default()
    else {
        panic!("the usual level is InnoDB's");
    };
    let values = |values: &[&str]| values.iter().map(|&value| value.to_owned()).collect();
    vec![
        ("view", values(&View::WORDS)),
        ("view_close", values(&ViewClose::WORDS)),
        ("wake", values(&Wake::WORDS)),
        ("log", values(&LogBuffer::WORDS)),
        ("lock_shards", values(&["1", "4096"])),
        ("trx_shards", values(&["1", "4096"])),
        ("schedule", values(&Schedule::WORDS)),
        ("deadlock_print", values(&DeadlockPrint::WORDS)),
        ("gate", vec![format!("tickets:{sessions}"), format!("blind:{sessions}"), "pool:1".into()]),
    ]
}
