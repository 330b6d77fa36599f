//! From flags to a plan, and the plan in words before anything runs.

use std::time::Duration;

use dbdyno_lab::Remaining;
use dbdyno_model::{Arm, ArmSpec, Cell, PerArm, Plan, Run, Secret, Stage, Target};
use dbdyno_store::Store;

use crate::args::Compare;
use crate::failure::Failure;
use crate::loads::{self, Chosen};
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
const QUICK: Shape = Shape {
    pairs: 200,
    restarts: 7,
    pairs_with_restarts: 144,
    round_ms: 100,
    lead_in_ms: 30,
    warm_up_ms: 2000,
};
/// Rounds otherwise: about five minutes a cell.
const THOROUGH: Shape = Shape {
    pairs: 500,
    restarts: 11,
    pairs_with_restarts: 480,
    round_ms: 200,
    lead_in_ms: 50,
    warm_up_ms: 20_000,
};

#[derive(Clone, Copy)]
struct Shape {
    pairs: u32,
    /// Of servers that are ours, and the pairs that there is time for beside them.
    restarts: u32,
    pairs_with_restarts: u32,
    round_ms: u64,
    lead_in_ms: u64,
    warm_up_ms: u64,
}

/// The plan that the flags describe.
///
/// # Errors
/// A load that is not there, or that cannot be asked of these arms.
pub fn from_flags(flags: &Compare, mut arms: PerArm<ArmSpec>) -> Result<Plan, Failure> {
    take_passwords_from_environment(&mut arms);
    let shape = if flags.quick { QUICK } else { THOROUGH };
    let round_ns =
        flags.seconds.map_or(shape.round_ms * 1_000_000, |length| length.as_nanos() as u64);
    let warm_up_ns =
        flags.warm_up.map_or(shape.warm_up_ms * 1_000_000, |length| length.as_nanos() as u64);
    let Chosen { stages, files } = loads::choose(&flags.load, &flags.load_file)?;
    let (usual_restarts, pairs) = match are_restarted(&arms, &stages) {
        true => (shape.restarts, shape.pairs_with_restarts),
        false => (0, shape.pairs),
    };
    let pairs = flags.rounds.unwrap_or(pairs);
    // A life has at least one block of two pairs.
    let restarts = flags.restarts.unwrap_or(usual_restarts).min((pairs / 2).saturating_sub(1));
    let plan = Plan {
        arms,
        stages,
        clients: without_repeats(&flags.clients),
        pairs,
        round_ns,
        lead_in_ns: shape.lead_in_ms * 1_000_000,
        warm_up_ns,
        seed: flags.seed,
        tables: flags.tables,
        rows: flags.rows,
        budget: flags.budget,
        pin: flags.pin.into(),
        restarts,
        files,
    };
    dbdyno_lab::check(&plan)?;
    Ok(plan)
}

/// Servers that are ours are started again between pairs, because two starts of one server are not
/// equally fast; but not in a suite, whose order leads from one state of the servers to the next.
fn are_restarted(arms: &PerArm<ArmSpec>, stages: &[Stage]) -> bool {
    let ours = |arm: Arm| matches!(arms[arm].target, Target::Release(..));
    let measures = |stage: &Stage| matches!(stage, Stage::Measure(_));
    Arm::BOTH.into_iter().all(ours) && stages.iter().all(measures)
}

/// The command that carries out this plan again. Passwords are not part of it.
pub fn command(plan: &Plan, flags: &Compare) -> String {
    let stages: Vec<String> = plan.stages.iter().map(ToString::to_string).collect();
    let clients: Vec<String> = plan.clients.iter().map(u32::to_string).collect();
    let mut command = format!(
        "dbdyno compare '{}' '{}' --load {} --clients {} --rounds {} --seconds {} --tables {} \
         --rows {} --seed {} --budget {}% --pin {} --restarts {}",
        plan.arms.base,
        plan.arms.test,
        in_shell(&stages.join(",")),
        clients.join(","),
        plan.pairs,
        plan.round_ns as f64 / 1e9,
        plan.tables,
        plan.rows,
        plan.seed,
        plan.budget * 100.0,
        plan.pin.name(),
        plan.restarts,
    );
    for file in &plan.files {
        command.push_str(&format!(" --load-file {}", in_shell(&file.file)));
    }
    if flags.quick {
        command.push_str(" --quick");
    }
    if let Some(warm_up) = flags.warm_up {
        command.push_str(&format!(" --warm-up {}", warm_up.as_secs_f64()));
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
    let known = runs_alike(plan, store);
    for cell in &cells {
        let (noise, source) = expected_noise(cell, &known);
        let effect = dbdyno_lab::detectable_share(plan, noise);
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
    let settlings = plan.stages.iter().filter(|stage| **stage == Stage::Settle).count();
    if settlings > 0 {
        let times = counted(settlings, "time");
        text.push_str(&format!("       in between, the servers are left to settle {times}\n"));
    }
    text.truncate(text.trim_end().len());
    text
}

/// The newest runs that measured such arms with rounds of this length, newest first.
fn runs_alike(plan: &Plan, store: &Store) -> Vec<Run> {
    let alike = |run: &Run| {
        run.plan.round_ns == plan.round_ns
            && run.plan.arms.base.dialect() == plan.arms.base.dialect()
            && run.plan.arms.test.dialect() == plan.arms.test.dialect()
    };
    let runs = store.list().unwrap_or_default().into_iter().take(RUNS_LOOKED_AT);
    runs.filter_map(|summary| store.load(&summary.id).ok()).filter(alike).collect()
}

/// The noise of a pair in the newest run that measured this cell, and where the figure comes from.
fn expected_noise(cell: &Cell, known: &[Run]) -> (f64, String) {
    let noise = |run: &Run| Some((dbdyno_lab::noise_of(run, cell)?, run.id.clone()));
    match known.iter().find_map(noise) {
        Some((noise, run)) => (noise, format!("noise {:.1} % a pair in run {run}", noise * 100.0)),
        None => (NOISE_ASSUMED, format!("noise of {:.0} % a pair assumed", NOISE_ASSUMED * 100.0)),
    }
}

/// What is left of a run, in words.
pub fn announcement_of_rest(run: &Run) -> String {
    let left = Remaining::of(&run.plan, Some(run));
    let (base, test) = (&run.plan.arms.base, &run.plan.arms.test);
    let mut text = format!(
        "resume {}: base {base}, test {test}\n       {} of {} rounds are measured and kept; about \
         {} of measuring left",
        run.id,
        left.rounds_kept,
        left.rounds_kept + left.rounds_left as usize,
        for_people(left.measuring),
    );
    for (cell, time) in &left.repeated {
        let time = for_people(*time);
        text.push_str(&format!(
            "\n       {cell}: the tables are new, so it is repeated unmeasured, {time} for each arm"
        ));
    }
    text
}

/// Fills in the passwords that URLs do not have.
pub fn take_passwords_from_environment(arms: &mut PerArm<ArmSpec>) {
    for arm in Arm::BOTH {
        take_password_from_environment(&mut arms[arm].target);
    }
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

/// A word as a shell takes it: options of a load have characters with a meaning there.
fn in_shell(word: &str) -> String {
    if word.contains(['?', '&', '*', ' ', '$', '(', ')', ';']) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}

fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
