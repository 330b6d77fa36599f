//! All arms of a plan, set up: opened, filled and looked at.
//!
//! Servers that are up at once share the memory that two of them would have, so that each of them
//! has less. An arm that cannot be set up ends there, with its reason, as long as two are left.

use dbdyno_model::{ArmIndex, Arms, EndedArm, ImageUse, Plan, Stage, Target};
use dbdyno_workload::planned::datasets_of;

use crate::arm::{Restores, SetUp, Station, open_station, upgrade};
use crate::capture;
use crate::checks;
use crate::error::LabError;
use crate::host::{host_facts, memory_mb};
use crate::laboratory::Lab;
use crate::room;
use crate::watch::Watch;

/// Those that take part.
#[derive(Default)]
pub(crate) struct Ready {
    /// The arms, set up.
    pub(crate) stations: Arms<Station>,
    /// Those that could not be.
    pub(crate) ended: Vec<EndedArm>,
}

impl Ready {
    /// Goes on without the arm that an error is of, where two are left without it: `others` have
    /// not failed so far.
    fn without(&mut self, error: LabError, others: usize) -> Result<(), LabError> {
        let ended = error.ends_an_arm(others)?;
        self.stations.remove(ended.arm).map(|station| station.take_down(ended.arm));
        self.ended.push(ended);
        Ok(())
    }
}

/// Sets the arms of a plan up and fills their tables, but for those that have `ended` before.
///
/// # Errors
/// Whatever is in the way of more than an arm that can be done without; nothing stays behind then.
pub(crate) fn set_up(
    lab: &mut Lab<'_>,
    plan: &Plan,
    ended: &[EndedArm],
) -> Result<Ready, LabError> {
    checks::check_plan(plan)?;
    upgrade::check_upgrades(lab.home, plan)?;
    let datasets = datasets_of(plan)?;
    room::check_disk_space(lab.home, plan, &datasets)?;
    let clock = lab.clock.clone();
    let facts = host_facts(lab);
    let memory_mb = room::memory_of_two_mb(memory_mb(&facts), plan);
    let clients = plan.question.clients.iter().copied().max().unwrap_or(1);
    let wants_back = plan.question.stages.contains(&Stage::Restore);
    let restores = if wants_back { Restores::Yes } else { Restores::No };
    let setup = |arm: ArmIndex| {
        let spec = &plan.arms[arm];
        let (home, stop, clock) = (lab.home, lab.stop, &clock);
        SetUp { home, arm, spec, datasets: &datasets, memory_mb, clients, restores, stop, clock }
    };
    let has_ended = |arm: &ArmIndex| ended.iter().any(|ended| ended.arm == *arm);
    let arms: Vec<ArmIndex> = plan.arms.indices().filter(|arm| !has_ended(arm)).collect();
    let mut ready = Ready::default();
    // All are opened before any is filled, which takes long: what is wrong shows early.
    for &arm in &arms {
        match open(plan, &setup(arm), &ready.stations, lab.watch) {
            Ok(station) => ready.stations.push(arm, station),
            Err(error) => ready.without(error, arms.len() - ready.ended.len() - 1)?,
        }
    }
    for arm in ready.stations.indices() {
        if let Err(error) = ready.stations[arm].ensure_filled(&setup(arm), lab.watch) {
            ready.without(error, ready.stations.count() - 1)?;
        }
    }
    for (_, station) in ready.stations.iter_mut() {
        station.note_delay();
        for (name, value) in &facts {
            station.environment.set(name.clone(), value.clone());
        }
    }
    look_at_tables(plan, &mut ready.stations)?;
    Ok(ready)
}

/// Opens an arm, or shares the server of one that is open already.
fn open(
    plan: &Plan,
    setup: &SetUp<'_>,
    others: &Arms<Station>,
    watch: &mut dyn Watch,
) -> Result<Station, LabError> {
    let target = &setup.spec.target;
    match others
        .iter()
        .find(|(arm, other)| plan.arms[*arm].target == *target && !other.shares_tables())
    {
        Some((arm, other)) if matches!(target, Target::Url(_)) => Ok(other.shared_view(arm, setup)),
        _ => open_station(setup, others, watch),
    }
}

/// Notes what the tables of all arms are. Tables that arms share are looked at once.
fn look_at_tables(plan: &Plan, stations: &mut Arms<Station>) -> Result<(), LabError> {
    for arm in stations.indices() {
        let shared = stations[arm].shares_tables_of().and_then(|of| stations.get(of));
        let shared = shared.map(|station| station.environment.clone());
        capture::note_tables_and_loads(plan, &mut stations[arm], shared)?;
    }
    Ok(())
}

/// Sets all arms up once more in place of what they were, empty, and fills their tables, from no
/// image. What is known of the arms stays.
///
/// # Errors
/// Whatever was in the way.
pub(crate) fn reload_arms(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &mut Arms<Station>,
) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    let memory_mb =
        room::memory_of_two_mb(memory_mb(&dbdyno_probe::host_facts(&**lab.home.host())), plan);
    let clients = plan.question.clients.iter().copied().max().unwrap_or(1);
    for arm in stations.indices() {
        let mut spec = plan.arms[arm].clone();
        spec.begin.image = ImageUse::None;
        let (home, stop, clock) = (lab.home, lab.stop, &lab.clock);
        let setup = SetUp {
            home,
            arm,
            spec: &spec,
            datasets: &datasets,
            memory_mb,
            clients,
            restores: Restores::No,
            stop,
            clock,
        };
        let mut anew = open_station(&setup, &Arms::default(), lab.watch)?;
        std::mem::swap(&mut anew.environment, &mut stations[arm].environment);
        std::mem::replace(&mut stations[arm], anew).take_down(arm)?;
        stations[arm].ensure_filled(&setup, lab.watch)?;
    }
    Ok(())
}
