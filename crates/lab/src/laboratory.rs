//! The place where experiments are carried out, and its time.

use std::sync::atomic::AtomicBool;

use dbdyno_load::{Clock, VirtualClock};
use dbdyno_model::{EndedArm, Plan, RunId, Severity, Warning};
use dbdyno_sandbox::Home;
use dbdyno_store::Store;

use crate::error::LabError;
use crate::watch::{Progress, Watch};

/// The place where experiments are carried out.
pub struct Lab<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Where results go.
    pub store: &'a mut Store,
    /// Set from outside to stop; what was measured until then is kept.
    pub stop: &'a AtomicBool,
    /// Who listens.
    pub watch: &'a mut dyn Watch,
    /// What time it is: see [`clock_of`].
    pub clock: Clock,
}

impl Lab<'_> {
    /// Refuses to carry out what somebody else wrote into the store, where the user does not trust
    /// it: servers that are started, with their options, and statements that are sent.
    ///
    /// # Errors
    /// [`LabError::Foreign`], or a store that cannot be read.
    pub fn check_origin(&self, run: &RunId) -> Result<(), LabError> {
        if !self.store.may_be_carried_out(run)? {
            return Err(LabError::Foreign(run.clone()));
        }
        Ok(())
    }

    /// Stores that a run goes on without an arm, and tells it.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub(crate) fn end_arm(&mut self, run: &RunId, ended: &EndedArm) -> Result<(), LabError> {
        self.store.end_arm(run, ended)?;
        let text = format!("{} takes no part from here on: {}", ended.arm, ended.why);
        let warning = Warning::new(Severity::Caution, "arm-ended", text);
        self.watch.report_progress(Progress::Warning(&warning));
        self.store.add_warning(run, &warning)?;
        Ok(())
    }
}

/// The first day of virtual time: 2026-01-01.
const VIRTUAL_UNIX_MS: u64 = 1_767_225_600_000;
const DAY_MS: u64 = 86_400_000;

/// The clock of an experiment by this plan, whose results go to this store, and which goes on after
/// so many rounds of an earlier process. That of models goes on where it was when the store was
/// last written to, a day later, and halts after so many rounds; what models answer does not depend
/// on what else is in the store.
///
/// # Errors
/// A store that cannot be read.
pub fn clock_of(
    plan: &Plan,
    store: &Store,
    rounds_before: usize,
    halts: Option<u64>,
) -> Result<Clock, LabError> {
    if !plan.arms.values().any(|arm| arm.is_mock()) {
        return Ok(Clock::system());
    }
    let after = store.last_started_unix_ms()?.map_or(0, |last| last + DAY_MS);
    // The first process has the same noise whatever the store has, one that resumes has another.
    let noise_seed = VIRTUAL_UNIX_MS + rounds_before as u64;
    let begins_unix_ms = after.max(VIRTUAL_UNIX_MS);
    Ok(Clock::Virtual(VirtualClock::with_noise_and_halt(begins_unix_ms, noise_seed, halts)))
}
