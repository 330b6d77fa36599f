//! Files of histories in any format: refused with a place, or judged at every level, and every
//! proof that a level holds is accepted by the code that did not find it.

#![no_main]

use dbdyno_check::{Checker, Format, Level, LevelVerdict, read_history, replay, write_history};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(history) = read_history(bytes) else { return };
    let checker = Checker::new(&history);
    for level in Level::ALL {
        match checker.level_verdict(level) {
            LevelVerdict::Holds(proof) => {
                replay(&history, level, &proof).expect("an accepted proof")
            }
            broken => drop(dbdyno_check::violation_drawing(&history, &broken)),
        }
    }
    let records = write_history(&history, Format::Records).expect("records have every kind");
    let again = read_history(&records).expect("records that were just written");
    assert_eq!(write_history(&again, Format::Records).as_ref(), Ok(&records));
});
