//! Logs of deadlocks and profiles, whoever wrote them: read or refused, in whatever order their
//! lines stand, and what is told of them adds up.

#![no_main]

use dbdyno_explain::profile::{WeightedProfile, difference, read, why_incomparable};
use dbdyno_explain::{gather_deadlocks, read_deadlocks};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let reading = read_deadlocks(text);
    let told = reading.tellings.len() as u64;
    let gathered = gather_deadlocks(reading.tellings.iter().chain(&reading.tellings).cloned());
    let count: u64 = gathered.clusters.iter().map(|one| one.count).sum();
    assert!(count <= 2 * told && (count > 0) == (told > 0), "{count} of {told}");
    assert!(gathered.clusters.iter().all(|one| one.parties.len() >= 2), "{gathered:?}");
    let Ok(profile) = read(text) else { return };
    let own: f64 = profile.own.values().sum();
    assert!((own - profile.total).abs() <= 1e-6 * own.max(1.0), "{own} {}", profile.total);
    let side = [WeightedProfile { profile, operations: Some(1.0) }];
    assert_eq!(why_incomparable(&side, &side), None);
    let found = difference(&side, &side);
    assert!(found.functions.iter().all(|one| one.weighted.estimate.abs() < 1e-9), "{found:?}");
});
