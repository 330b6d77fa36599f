//! What the mechanisms of a reference engine do in a round: the engine counts (`engine::meter`),
//! and the kernel how often threads gave their processor away or lost it. Both are put among the
//! round's readings under [`ENGINE_PREFIX`]; `judge::mechanisms` says what they mean.

use dbdyno_model::Readings;
use dbdyno_model::readings::{ENGINE_PREFIX, ENGINE_SWITCHES, REPLICA_LAG, REPLICA_WINDOWS};

use crate::cost::CostReadings;
use crate::neighbours::Look;

/// Notes what the engine counted between two looks, from the opening to the close of a window, and
/// the kernel of its threads.
pub(crate) fn note_engine_counts(seen: &CostReadings<'_>, readings: &mut Readings) {
    let [Look { counts: Some(opened), .. }, Look { counts: Some(closed), lag, .. }] = seen.looks
    else {
        return;
    };
    let (usage, own) = (seen.usage, seen.own_threads());
    let switches = [
        usage.voluntary_switches + own.voluntary_switches,
        usage.involuntary_switches + own.involuntary_switches,
    ];
    for (name, count) in ENGINE_SWITCHES.iter().zip(switches) {
        readings.set(&format!("{ENGINE_PREFIX}{name}"), Some(count as f64));
    }
    let lag = lag.as_ref().filter(|lag| lag.count() > 0);
    let quantile = |quantile| lag.map_or(0.0, |lag| lag.quantile_ns(quantile) as f64);
    for (name, ns) in REPLICA_LAG.iter().zip([quantile(0.5), quantile(0.99), quantile(1.0)]) {
        readings.set(&format!("{ENGINE_PREFIX}{name}"), Some(ns));
    }
    let windows = f64::from(u8::from(lag.is_some()));
    readings.set(&format!("{ENGINE_PREFIX}{REPLICA_WINDOWS}"), Some(windows));
    for (name, count) in closed.since(opened).named_counts() {
        readings.set(&format!("{ENGINE_PREFIX}{name}"), Some(count as f64));
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_host::Local;
    use dbdyno_judge::mechanisms::FIGURES;
    use dbdyno_load::usage::ThreadUsage;
    use dbdyno_load::{Connector, EngineArm};
    use dbdyno_model::Design;
    use dbdyno_model::design::{Device, Metered};

    use super::*;

    fn seen(looks: &[Look], usage: ThreadUsage) -> CostReadings<'_> {
        CostReadings { usage, wall_ns: 1, observed_ns: 1, looks, asking_ns: None }
    }

    #[test]
    fn what_the_engine_counts_in_a_window_is_among_its_readings() {
        let directory = tempfile::tempdir().unwrap();
        let design = Design { device: Device::None, meter: Metered::Times, ..Design::default() };
        let connector = Connector::Engine(EngineArm::open(directory.path(), &design).unwrap());
        let mut client = connector.connect().unwrap();
        client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
        let opened = Look::at_arms(&Local, None, None).with_those_of(&connector);
        for id in 0..10 {
            client.run(&format!("INSERT INTO t VALUES ({id})")).unwrap();
        }
        let looks = [opened, Look::at_arms(&Local, None, None).with_those_of(&connector)];
        let mut readings = Readings::default();
        let usage = ThreadUsage {
            voluntary_switches: 7,
            involuntary_switches: 3,
            ..ThreadUsage::default()
        };
        note_engine_counts(&seen(&looks, usage), &mut readings);
        assert_eq!(readings.get("engine.commits"), Some(10.0));
        let [voluntary, involuntary] =
            ENGINE_SWITCHES.map(|name| readings.get(&format!("{ENGINE_PREFIX}{name}")).unwrap());
        assert!(voluntary >= 7.0 && involuntary >= 3.0, "those of clients, and of its own threads");
        let held = ["engine.lock_latch_held_ns", "engine.trx_latch_held_ns"];
        assert!(held.iter().all(|name| readings.get(name).unwrap() > 0.0), "{readings:?}");
        let counters = FIGURES.iter().flat_map(|(one, each)| [*one, *each]);
        for name in counters {
            assert!(
                readings.get(&format!("{ENGINE_PREFIX}{name}")).is_some(),
                "{name} is not counted"
            );
        }
        let mut none = Readings::default();
        let blind = [Look::at_arms(&Local, None, None), Look::at_arms(&Local, None, None)];
        note_engine_counts(&seen(&blind, usage), &mut none);
        assert!(none.is_empty());
    }
}
