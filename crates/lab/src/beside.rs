//! Whether another dbdyno of the same home measures meanwhile: each takes from the other what
//! both measure. One that begins and ends between two looks has left its name.

use std::collections::BTreeSet;

use dbdyno_model::{ArmIndex, Plan, RunId, Severity, Warning};
use dbdyno_sandbox::Scratch;

use crate::LabError;
use crate::laboratory::Lab;
use crate::watch::Progress;

/// The sign to others that this one measures, and of which others the run tells.
pub(crate) struct MeasuringSign {
    scratch: Scratch,
    told: BTreeSet<String>,
}

impl MeasuringSign {
    /// Tells the others of the home, and of them. Models share nothing: none for a plan of them.
    ///
    /// # Errors
    /// A home in which nothing can be written.
    pub(crate) fn set(
        lab: &mut Lab<'_>,
        plan: &Plan,
        run: &RunId,
    ) -> Result<Option<MeasuringSign>, LabError> {
        if plan.arms.values().all(|arm| arm.is_mock()) {
            return Ok(None);
        }
        let scratch = lab.home.announce_measuring(&mut |_| {});
        let scratch = scratch.map_err(|error| LabError::Sandbox(ArmIndex::BASE, error))?;
        let mut sign = MeasuringSign { scratch, told: BTreeSet::new() };
        sign.tell_others(lab, run)?;
        Ok(Some(sign))
    }

    /// Warns of those who measure now, or have measured meanwhile, and were not told of yet.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) fn tell_others(&mut self, lab: &mut Lab<'_>, run: &RunId) -> Result<(), LabError> {
        for other in lab.home.others_who_measure(&self.scratch) {
            if self.told.insert(other.clone()) {
                let warning = warning_of(&other);
                lab.watch.report_progress(Progress::Warning(&warning));
                lab.store.add_warning(run, &warning)?;
            }
        }
        Ok(())
    }
}

fn warning_of(other: &str) -> Warning {
    let text = format!(
        "another dbdyno, {other}, measures on this host at the same time: each slows what the \
         other one measures; let one end before the next begins"
    );
    Warning::new(Severity::Caution, "another-dbdyno", text)
}
