//! From flags to a plan, and the plan in words before anything runs.

use std::time::Duration;

use dbdyno_model::{Cell, PerArm, Plan, Secret, Target};
use dbdyno_store::Store;

use crate::args::Compare;
use crate::progress::for_people;

/// Noise of a pair where nothing has been measured yet: what short rounds on a shared machine with
/// two processors have. Only for the announcement; the interval afterwards rests on the pairs.
const NOISE_ASSUMED: f64 = 0.15;
/// How many stored runs are looked through for the noise of a load.
const RUNS_LOOKED_AT: usize = 10;

/// Rounds as `--quick` wants them: about a minute a cell.
///
/// On a shared host the rate wanders by a tenth within half a second, so that many short pairs tell
/// more than few long ones: a pair of rounds of 1 s has as much noise as one of 0.4 s.
const QUICK: Shape = Shape { pairs: 200, round_ms: 100, lead_in_ms: 30, warm_up_ms: 1000 };
/// Rounds otherwise: about five minutes a cell.
const THOROUGH: Shape = Shape { pairs: 500, round_ms: 200, lead_in_ms: 50, warm_up_ms: 5000 };

#[derive(Clone, Copy)]
struct Shape {
    pairs: u32,
    round_ms: u64,
    lead_in_ms: u64,
    warm_up_ms: u64,
}

/// The plan that the flags describe.
pub fn from_flags(flags: &Compare, mut arms: PerArm<dbdyno_model::ArmSpec>) -> Plan {
    for arm in dbdyno_model::Arm::BOTH {
        take_password_from_environment(&mut arms[arm].target);
    }
    let shape = if flags.quick { QUICK } else { THOROUGH };
    let round_ns =
        flags.seconds.map_or(shape.round_ms * 1_000_000, |length| length.as_nanos() as u64);
    Plan {
        arms,
        loads: without_repeats(&flags.load),
        clients: without_repeats(&flags.clients),
        pairs: flags.rounds.unwrap_or(shape.pairs),
        round_ns,
        lead_in_ns: shape.lead_in_ms * 1_000_000,
        warm_up_ns: shape.warm_up_ms * 1_000_000,
        seed: flags.seed,
        tables: flags.tables,
        rows: flags.rows,
        budget: flags.budget,
        pin: flags.pin.into(),
    }
}

/// The command that carries out this plan again. Passwords are not part of it.
pub fn command(plan: &Plan, flags: &Compare) -> String {
    let clients: Vec<String> = plan.clients.iter().map(u32::to_string).collect();
    let mut command = format!(
        "dbdyno compare '{}' '{}' --load {} --clients {} --rounds {} --seconds {} --tables {} \
         --rows {} --seed {} --budget {}% --pin {}",
        plan.arms.base,
        plan.arms.test,
        plan.loads.join(","),
        clients.join(","),
        plan.pairs,
        plan.round_ns as f64 / 1e9,
        plan.tables,
        plan.rows,
        plan.seed,
        plan.budget * 100.0,
        plan.pin.name(),
    );
    if flags.quick {
        command.push_str(" --quick");
    }
    command
}

/// The plan in words: how many rounds, how long, what can be found.
pub fn announcement(plan: &Plan, store: &Store) -> String {
    let cells = plan.cells();
    let length = Duration::from_nanos(plan.measuring_ns());
    let seconds = plan.round_ns as f64 / 1e9;
    let mut text = format!(
        "plan   base {}, test {}\n       {} × {} pairs of rounds of {seconds} s in random ABBA \
         order: about {} of measuring\n",
        plan.arms.base,
        plan.arms.test,
        counted(cells.len(), "cell"),
        plan.pairs,
        for_people(length),
    );
    for cell in &cells {
        let (noise, source) = expected_noise(plan, cell, store);
        let effect = dbdyno_lab::detectable_share(noise, plan.pairs);
        let what = format!("{} at {}", cell.load, counted(cell.clients as usize, "client"));
        text.push_str(&match effect {
            Some(effect) => format!(
                "       {what}: finds a change of {:.1} % or more ({source})\n",
                effect * 100.0
            ),
            None => {
                format!("       {what}: too few rounds for a verdict; give --rounds 3 or more\n")
            }
        });
    }
    text.truncate(text.trim_end().len());
    text
}

/// The noise of a pair in the newest stored run that measured this cell with rounds of this length,
/// and where the figure comes from.
fn expected_noise(plan: &Plan, cell: &Cell, store: &Store) -> (f64, String) {
    let runs = store.list().unwrap_or_default();
    for summary in runs.into_iter().take(RUNS_LOOKED_AT) {
        let Ok(run) = store.load(&summary.id) else { continue };
        let alike = run.plan.round_ns == plan.round_ns
            && run.plan.arms.base.dialect() == plan.arms.base.dialect()
            && run.plan.arms.test.dialect() == plan.arms.test.dialect();
        if let (true, Some(noise)) = (alike, dbdyno_lab::noise_of(&run, cell)) {
            return (noise, format!("noise {:.1} % a pair in run {}", noise * 100.0, run.id));
        }
    }
    (NOISE_ASSUMED, format!("noise of {:.0} % a pair assumed", NOISE_ASSUMED * 100.0))
}

fn take_password_from_environment(target: &mut Target) {
    let Target::Url(url) = target else { return };
    let variable = match url.dialect {
        dbdyno_model::Dialect::Mysql => "MYSQL_PWD",
        dbdyno_model::Dialect::Postgres => "PGPASSWORD",
        dbdyno_model::Dialect::Sqlite => return,
    };
    if url.password.is_none() {
        url.password = std::env::var(variable).ok().map(Secret::new);
    }
}

fn without_repeats<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
