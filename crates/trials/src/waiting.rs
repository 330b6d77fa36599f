//! What the rest of a ledger is made of: what the sessions of both servers wait for.
//!
//! ```text
//!   the rest differs by a tenth of the difference and more?  no: it stays one line
//!     yes: profiles of waits, of the store or new ones ─▶ parts of the rest
//! ```
//!
//! Waits are looked at in rounds of their own, in which each switch of a thread is recorded: that
//! takes some tens of seconds, and slows what is recorded.

use dbdyno_explain::profile::{WaitStacks, by_class, compare_waits, part_rest};
use dbdyno_model::{Interval, Ledger, Target, WaitProfile, Waits};

use crate::{Case, trial};
use dbdyno_lab::profile::{SampleKind, plan_of, record_profile};
use dbdyno_lab::{Lab, LabError, Progress};

/// The share of the difference from which on the rest is parted.
const REST_MATTERS: f64 = 0.1;
/// Profiles of each arm, each in a start of its own.
const PROFILES: u32 = 3;
/// How long each takes at most: no longer than the cell was measured.
const SECONDS_MOST: f64 = 4.0;

/// What is known of the waits.
pub(crate) enum Waiting {
    /// They make nothing of the difference, or cannot be looked at in such arms.
    NotAsked,
    /// They could not be looked at, for this reason.
    Unknown(String),
    /// They part the rest of the ledger.
    Known(Waits),
}

impl Case<'_> {
    /// Parts the rest of the ledger, where it matters for the difference.
    pub(crate) fn with_waits(
        &mut self,
        lab: &mut Lab<'_>,
        ledger: &mut Ledger,
    ) -> Result<Waiting, LabError> {
        let is_asked = self.question.rates.is_some()
            && [self.base(), self.test()]
                .into_iter()
                .all(|spec| matches!(spec.target, Target::Release(_)))
            && self.limit.is_none()
            && self.open.is_none()
            && rest_matters(ledger);
        if !is_asked {
            return Ok(Waiting::NotAsked);
        }
        let known = lab.store.waits_of(&self.question.run.whole.id, self.question.cell)?;
        let all = match known.is_empty() {
            false => known,
            true if !self.may_begin() => return Ok(Waiting::NotAsked),
            true => match self.looked_at(lab) {
                Ok(Some(looked)) => looked,
                Err(error) if !self.time.is_cause_of(&error) => {
                    let LabError::Profile(why) = error else { return Err(error) };
                    return Ok(Waiting::Unknown(why));
                }
                Ok(None) | Err(_) => {
                    self.ends_here();
                    return Ok(Waiting::NotAsked);
                }
            },
        };
        let found = compare_waits(self.question.cell.clients, &all);
        part_rest(ledger, &found);
        Ok(Waiting::Known(found))
    }

    /// Takes profiles of waits, and keeps them if they are whole; `None` if the time was over
    /// before.
    fn looked_at(&self, lab: &mut Lab<'_>) -> Result<Option<Vec<WaitProfile>>, LabError> {
        lab.check_origin(&self.question.run.whole.id)?;
        lab.watch.report_progress(Progress::Trial("recording what sessions wait for"));
        let explained = self.question.run.plan();
        let seconds =
            f64::from(explained.schedule.pairs) * explained.schedule.round_ns as f64 / 1e9;
        let plan = trial::plan_of_rates(self.question);
        let plan = plan_of(&plan, PROFILES, seconds.min(SECONDS_MOST));
        let recording = record_profile(lab, &plan, SampleKind::Waits, self.question.tool_version)?;
        if self.time.is_over() {
            return Ok(None);
        }
        let taken = recording.read(lab)?;
        let lost = taken.iter().map(|one| one.stacks.lost).max().unwrap_or(0);
        if lost > 0 {
            return Err(LabError::Profile(format!(
                "{lost} records of waits were lost, for they came faster than they could be written"
            )));
        }
        let clients = self.question.cell.clients;
        let mut all = Vec::new();
        for one in &taken {
            let dialect = plan.arms[one.arm.into()].dialect();
            let (stacks, operations) = (one.stacks.collapsed.as_str(), one.operations);
            let waited = WaitStacks { stacks, operations, wall_ns: one.wall_ns };
            let classes = by_class(dialect, clients, &waited)
                .map_err(|error| LabError::Profile(error.to_string()))?;
            all.push(WaitProfile { arm: one.arm, start: one.start, classes });
        }
        lab.store.keep_waits(&self.question.run.whole.id, self.question.cell, &all)?;
        Ok(Some(all))
    }
}

/// Whether the rest of a ledger, its last line, makes a part of the difference that matters.
fn rest_matters(ledger: &Ledger) -> bool {
    let Some(rest) = ledger.lines.last() else { return false };
    let Interval { estimate, low, high } = rest.difference_us;
    let whole = ledger.total.difference_us.estimate.abs();
    low * high > 0.0 && estimate.abs() >= REST_MATTERS * whole
}
