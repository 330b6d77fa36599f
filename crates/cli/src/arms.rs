//! Which arms of a stored run are judged, and against which arm.

use dbdyno_model::{ArmIndex, Comparison, MaskedTarget, Pairing, Reference, Run, RunPair};
use dbdyno_store::Store;

use crate::failure::Failure;
use crate::values::Against;

/// The arm with this name, or with this target where only one has it.
///
/// # Errors
/// Names those that there are.
pub(crate) fn arm_named(run: &Run, text: &str) -> Result<ArmIndex, Failure> {
    let specs = &run.plan.arms;
    if let Some(arm) = ArmIndex::from_name(text).filter(|arm| specs.get(*arm).is_some()) {
        return Ok(arm);
    }
    let named: Vec<ArmIndex> =
        specs.iter().filter(|(_, spec)| spec.to_string() == text).map(|(arm, _)| arm).collect();
    match named.as_slice() {
        [only] => Ok(*only),
        _ => {
            let all = specs.iter().map(|(arm, spec)| format!("{arm} ({spec})"));
            let all: Vec<String> = all.collect();
            Err(Failure::Usage(format!(
                "run {} has no arm {:?}, or several of that target; it has {}",
                run.id,
                MaskedTarget::from_text(text),
                all.join(", ")
            )))
        }
    }
}

/// The two arms that are to be shown in full: `arm`, against another one, the one before it, or
/// base.
///
/// # Errors
/// An arm that there is not, or that is to be shown against itself.
pub(crate) fn resolve_pairing(
    run: &Run,
    arm: &str,
    against: Option<&Against>,
) -> Result<Pairing, Failure> {
    let test = arm_named(run, arm)?;
    let base = match against {
        None => ArmIndex::BASE,
        Some(Against::Arm(arm)) => arm_named(run, arm)?,
        Some(Against::Before) => ArmIndex(test.0.saturating_sub(1)),
    };
    if base == test {
        return Err(Failure::Usage(format!(
            "{test} cannot be shown against itself; name another one with --against"
        )));
    }
    Ok(Pairing { base, test })
}

/// What was found between two arms of a run, among all that it has, and how far this host is to be
/// trusted.
pub(crate) fn judged_pair(store: &Store, pair: RunPair<'_>) -> Result<Comparison, Failure> {
    let self_tests = Some(dbdyno_lab::self_tests(store, &pair.whole.id)?);
    Ok(Comparison { self_tests, ..dbdyno_judge::compare_pair(pair)? })
}

/// What of a stored run is to be judged.
pub(crate) enum RunSelection {
    /// Two of its arms, which may be all that it has.
    Pair(Pairing),
    /// All arms of a larger one.
    All(Reference),
}

impl RunSelection {
    /// What is judged of a run where nobody says: all of it.
    pub(crate) fn whole_run(run: &Run) -> RunSelection {
        if run.plan.arms.count() == 2 {
            return RunSelection::Pair(Pairing::USUAL);
        }
        // Where nothing was measured of base, the first arm of which something was stands for it.
        let mut arms = run.plan.arms.indices();
        let first = arms.find(|arm| run.arm(*arm).rounds().next().is_some());
        RunSelection::All(Reference::Arm(first.unwrap_or(ArmIndex::BASE)))
    }
}

/// Two arms of a stored run.
pub(crate) struct StoredPair {
    run: Run,
    pairing: Pairing,
}

impl StoredPair {
    /// Base and the first test of a run.
    pub(crate) fn first(run: Run) -> StoredPair {
        StoredPair { run, pairing: Pairing::USUAL }
    }

    pub(crate) fn as_run_pair(&self) -> RunPair<'_> {
        self.run.pair(self.pairing)
    }
}

/// Loads a run of two arms, or two arms of a larger one: `@last/test2` is base and test2.
///
/// # Errors
/// No such run, no such arm, or a larger run of which no arm is named.
pub(crate) fn load_pair(store: &Store, text: &str) -> Result<StoredPair, Failure> {
    let whole = store.resolve_run(text).and_then(|id| store.load(&id));
    let (run, arm) = match (whole, text.rsplit_once('/')) {
        (Ok(run), _) => (run, None),
        (Err(_), Some((run, arm))) => (store.load(&store.resolve_run(run)?)?, Some(arm)),
        (Err(error), None) => return Err(error.into()),
    };
    match arm {
        Some(arm) => Ok(StoredPair { pairing: resolve_pairing(&run, arm, None)?, run }),
        None if run.plan.arms.count() == 2 => Ok(StoredPair::first(run)),
        None => {
            let arms = run.plan.arms.indices().skip(1).map(|arm| format!("{text}/{arm}"));
            Err(Failure::Usage(format!(
                "run {} has {} arms; name the one to compare with base: {}",
                run.id,
                run.plan.arms.count(),
                arms.collect::<Vec<_>>().join(", ")
            )))
        }
    }
}

/// Loads a run, and chooses what `--arm` and `--against` ask for.
///
/// # Errors
/// No such run, or no such arm.
pub(crate) fn load_selection(
    store: &Store,
    run: &str,
    arm: Option<&str>,
    against: Option<&Against>,
) -> Result<(Run, RunSelection), Failure> {
    let run = store.load(&store.resolve_run(run)?)?;
    let selection = match (arm, against) {
        (Some(arm), against) => RunSelection::Pair(resolve_pairing(&run, arm, against)?),
        (None, Some(Against::Arm(arm))) => RunSelection::All(Reference::Arm(arm_named(&run, arm)?)),
        (None, Some(Against::Before)) => RunSelection::All(Reference::Before),
        (None, None) => RunSelection::whole_run(&run),
    };
    Ok((run, selection))
}
