//! Both arms of a plan, set up: opened, filled and looked at.

use dbdyno_model::{Arm, ImageUse, PerArm, Plan, Stage, Target};
use dbdyno_workload::planned::datasets_of;

use crate::arm::{Restores, SetUp, Station, open_station, upgrade};
use crate::capture;
use crate::checks;
use crate::error::LabError;
use crate::host::{host_facts, memory_mb};
use crate::laboratory::Lab;

/// Sets both arms of a plan up and fills their tables.
///
/// # Errors
/// Whatever is in the way; nothing stays behind then.
pub(crate) fn set_up(lab: &mut Lab<'_>, plan: &Plan) -> Result<PerArm<Station>, LabError> {
    checks::check(plan)?;
    upgrade::check(lab.home, plan)?;
    let datasets = datasets_of(plan)?;
    let clock = lab.clock.clone();
    let facts = host_facts(lab);
    let memory_mb = memory_mb(&facts);
    let clients = plan.clients.iter().copied().max().unwrap_or(1);
    let wants_back = plan.stages.contains(&Stage::Restore);
    let restores = if wants_back { Restores::Yes } else { Restores::No };
    let setup = |arm: Arm| {
        let spec = &plan.arms[arm];
        let (home, stop, clock) = (lab.home, lab.stop, &clock);
        SetUp { home, arm, spec, datasets: &datasets, memory_mb, clients, restores, stop, clock }
    };
    // Both are opened before either is filled, which takes long: what is wrong shows early.
    let mut base = open_station(&setup(Arm::Base), None, lab.watch)?;
    let same_server = matches!(plan.arms.base.target, Target::Url(_))
        && plan.arms.base.target == plan.arms.test.target;
    let mut test = if same_server {
        base.share(&setup(Arm::Test))
    } else {
        open_station(&setup(Arm::Test), Some(&base), lab.watch)?
    };
    base.fill(&setup(Arm::Base), lab.watch)?;
    test.fill(&setup(Arm::Test), lab.watch)?;
    base.note_delay();
    test.note_delay();
    for (name, value) in facts {
        base.environment.set(name.clone(), value.clone());
        test.environment.set(name, value);
    }
    let mut stations = PerArm { base, test };
    capture::full(plan, &mut stations)?;
    Ok(stations)
}

/// Sets both arms up once more in place of what they were, empty, and fills their tables, from no
/// image. What is known of the arms stays.
///
/// # Errors
/// Whatever was in the way.
pub(crate) fn reload(
    lab: &mut Lab<'_>,
    plan: &Plan,
    stations: &mut PerArm<Station>,
) -> Result<(), LabError> {
    let datasets = datasets_of(plan)?;
    let memory_mb = memory_mb(&dbdyno_probe::host_facts());
    let clients = plan.clients.iter().copied().max().unwrap_or(1);
    for arm in Arm::BOTH {
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
        let mut anew = open_station(&setup, None, lab.watch)?;
        std::mem::swap(&mut anew.environment, &mut stations[arm].environment);
        std::mem::replace(&mut stations[arm], anew).take_down(arm)?;
        stations[arm].fill(&setup, lab.watch)?;
    }
    Ok(())
}
