//! How often servers are started and tables are filled within a cell: what the flags say of it.
//!
//! ```text
//!   fillings   ├──────── 0 ────────┼──────── 1 ────────┤      --reloads 1
//!   starts      ├── 0 ──┼─── 1 ─────┼── 2 ──┼─── 3 ─────┤      --restarts 3
//!   pairs      · · · · ┆ · · · ·     · · · · ┆ · · · ·        a start has whole blocks of two
//! ```

use dbdyno_model::{Plan, Stage};

use crate::args::Compare;
use crate::failure::Failure;

/// Numbers of restarts and of reloads.
pub(crate) struct Levels {
    /// Starts of all servers within a cell, after the first one.
    pub restarts: u32,
    /// Fillings of the tables within a cell, after the first one.
    pub reloads: u32,
}

impl Levels {
    /// What the flags ask for, in a cell of the plan.
    ///
    /// # Errors
    /// Reloads of tables that later stages want as they are.
    pub(crate) fn from_flags(
        flags: &Compare,
        plan: &Plan,
        usual_restarts: u32,
        is_steps: bool,
    ) -> Result<Levels, Failure> {
        // A start has at least one block of two pairs.
        let most = (plan.schedule.pairs / 2).saturating_sub(1);
        let wanted =
            if flags.restart_between { most } else { flags.restarts.unwrap_or(usual_restarts) };
        let reloads = if flags.reload_between { wanted.max(1) } else { flags.reloads };
        let reloads = reloads.min(most);
        let can_be = plan.arms.values().all(|arm| arm.can_be_restarted());
        if !can_be && (flags.restart_between || flags.restarts.is_some_and(|times| times > 0)) {
            return Err(Failure::Usage(
                "--restarts restarts all arms, and dbdyno does not restart a server by URL; name a \
                 release or an embedded engine, or leave it out"
                    .to_owned(),
            ));
        }
        let is_ours = can_be && plan.arms.values().all(|arm| arm.begin.upgrade_from.is_none());
        if reloads > 0 && !is_ours {
            return Err(Failure::Usage(
                "--reloads sets up servers of dbdyno anew, and not those by URL nor those that are \
                 upgraded in place; name a release or an embedded engine, or leave --reloads out"
                    .to_owned(),
            ));
        }
        if reloads > 0 && (is_steps || plan.question.stages.contains(&Stage::Restore)) {
            return Err(Failure::Usage(
                "--reloads fills the tables of a cell anew, and steps of the Insert Benchmark and \
                 `restore` rest on the tables that were loaded first; leave one of them out"
                    .to_owned(),
            ));
        }
        // Servers whose tables are filled anew are started for it.
        Ok(Levels { restarts: wanted.min(most).max(reloads), reloads })
    }
}
