//! Taking processor profiles: rounds of their own, while all processors are sampled.
//!
//! ```text
//!   start 1    base ▏▓▓▓▓▏ test ▏▓▓▓▓▏ test ▏▓▓▓▓▏ base ▏▓▓▓▓▏     ▓ windows of rounds
//!   start 2    …                                                   a profile: the samples of an
//!                                                                  arm in the windows of a start
//! ```
//!
//! A start of a server is the replicate: where its code and its memory come to lie is another
//! matter in each, and what two profiles of one start differ in says nothing of that (Curtsinger
//! and Berger, "Stabilizer", ASPLOS 2013). Rounds are whole, so that an arm has the host for
//! itself while it is sampled. What they say of rates is not kept: sampling costs something.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use dbdyno_host::Local;
use dbdyno_model::{Arm, Counting, Plan, RoundSchedule, Stopping};
pub use dbdyno_probe::perf::SampleKind;
use dbdyno_probe::perf::{self, Stacks, Window};
use dbdyno_sandbox::{Events, Recorder, Scratch};
use dbdyno_store::Store;

use crate::error::LabError;
use crate::experiment::{ExperimentOrder, run_experiment};
use crate::laboratory::Lab;
use crate::watch::{Progress, Watch};

/// Rounds of each arm in a start: what wanders from one to the next meets both arms.
const ROUNDS: u32 = 2;

/// A profile of an arm.
#[derive(Clone, Debug, PartialEq)]
pub struct ArmProfile {
    /// Whose it is.
    pub arm: Arm,
    /// In which start of the servers it was taken, from 0.
    pub start: u32,
    /// Operations that were carried out meanwhile.
    pub operations: f64,
    /// How long it took, in the windows of its rounds.
    pub wall_ns: u64,
    /// What was sampled.
    pub stacks: Stacks,
}

/// A plan of so many profiles of each arm, each over so many seconds, of the first cell of `plan`.
pub fn plan_of(plan: &Plan, profiles: u32, seconds: f64) -> Plan {
    let can_be = plan.arms.values().all(|arm| arm.can_be_restarted());
    let mut plan = plan.clone();
    plan.question.clients.truncate(1);
    plan.question.counting = Counting::No;
    plan.rule.stopping = Stopping::Fixed;
    plan.schedule = RoundSchedule {
        pairs: ROUNDS * profiles,
        round_ns: (seconds * 1e9 / f64::from(ROUNDS)) as u64,
        slice_ns: 0,
        restarts: if can_be { profiles.saturating_sub(1) } else { 0 },
        reloads: 0,
        limit_ns: None,
        ..plan.schedule
    };
    plan
}

/// Takes profiles by such a plan as [`plan_of`] makes. An interruption leaves those that are
/// whole. Nothing is kept in the laboratory's store.
///
/// # Errors
/// Processors that cannot be sampled, and whatever is in the way of measuring.
pub fn profile_arms(
    lab: &mut Lab<'_>,
    plan: &Plan,
    kind: SampleKind,
    tool_version: &str,
) -> Result<Vec<ArmProfile>, LabError> {
    record_profile(lab, plan, kind, tool_version)?.read(lab)
}

/// What was recorded, not read yet.
pub struct ProfileRecording {
    // Dropped last: the file is in it.
    file: PathBuf,
    rounds: Vec<SampledRound>,
    kind: SampleKind,
    _scratch: Scratch,
}

/// As [`profile_arms()`]; reading what was recorded, which takes a while, is left.
///
/// # Errors
/// As [`profile_arms()`].
pub fn record_profile(
    lab: &mut Lab<'_>,
    plan: &Plan,
    kind: SampleKind,
    tool_version: &str,
) -> Result<ProfileRecording, LabError> {
    let scratch = lab
        .home
        .create_scratch("profile", &mut |text| lab.watch.report_progress(Progress::Reading(text)));
    let scratch = scratch.map_err(|error| LabError::Profile(error.to_string()))?;
    let events = match kind {
        SampleKind::Samples => Events::Clock,
        SampleKind::Waits => Events::Switches,
    };
    let recorder = Recorder::start(scratch.path(), events).map_err(LabError::Profile)?;
    let mut store = Store::open(&scratch.path().join("rounds.db")).map_err(LabError::Store)?;
    let mut sampling =
        Sampling { outer: lab.watch, recorder, has_begun: false, failed: None, rounds: Vec::new() };
    let (home, stop, clock) = (lab.home, lab.stop, lab.clock.clone());
    let mut inner = Lab { home, store: &mut store, stop, watch: &mut sampling, clock };
    let command = "dbdyno profile";
    let order =
        ExperimentOrder { plan, name: None, command, tool_version, varied: &[], trial_of: None };
    run_experiment(&mut inner, &order)?;
    let Sampling { recorder, failed, rounds, .. } = sampling;
    if let Some(failed) = failed {
        return Err(LabError::Profile(failed));
    }
    let file = recorder.finish().map_err(LabError::Profile)?;
    Ok(ProfileRecording { file, rounds, kind, _scratch: scratch })
}

impl ProfileRecording {
    /// The profiles in it.
    ///
    /// # Errors
    /// [`LabError::Profile`] for a file that cannot be read.
    pub fn read(&self, lab: &mut Lab<'_>) -> Result<Vec<ArmProfile>, LabError> {
        lab.watch.report_progress(Progress::Reading("the samples, and the names of functions"));
        let windows: Vec<Window> = self.rounds.iter().map(|round| round.window.clone()).collect();
        let stacks = perf::read_stacks(&**lab.home.host(), &self.file, &windows, self.kind)
            .map_err(LabError::Profile)?;
        Ok(by_start(&self.rounds, stacks))
    }
}

/// The stacks of anybody's `perf.data`, of the processes of this name or of all; `None` where the
/// file is not one.
///
/// # Errors
/// A file that cannot be read, or is damaged.
pub fn import_stacks(file: &Path, process: Option<&str>) -> Result<Option<Stacks>, String> {
    let shown = file.display();
    if !perf::is_perf_data(file)
        .map_err(|error| format!("{shown}: {error}; name the file of a profile"))?
    {
        return Ok(None);
    }
    let all = perf::read_stacks(
        &Local,
        file,
        &[Window::all_samples(process.map(str::to_owned))],
        SampleKind::Samples,
    )?;
    Ok(all.into_iter().next())
}

/// A round and its samples.
struct SampledRound {
    arm: Arm,
    start: u32,
    operations: f64,
    window: Window,
}

/// Begins to sample with the first round, and notes when and in which processes each took place.
struct Sampling<'a> {
    outer: &'a mut dyn Watch,
    recorder: Recorder,
    has_begun: bool,
    failed: Option<String>,
    rounds: Vec<SampledRound>,
}

impl Watch for Sampling<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::RoundBegins { .. } if !self.has_begun => {
                self.has_begun = true;
                self.failed = self.recorder.begin_sampling().err();
            }
            Progress::RoundDone { round, server, .. } => {
                let from_ns = round.started_unix_ms * 1_000_000;
                // An arm without a server lives in our own threads.
                let own = [std::process::id()];
                let processes = if server.is_empty() { &own } else { server };
                self.rounds.push(SampledRound {
                    arm: round.key.arm.pair_side(),
                    start: round.start,
                    operations: round.done_events(),
                    window: Window {
                        unix_ns: (from_ns, from_ns + round.wall_ns),
                        processes: processes.to_vec(),
                        name: None,
                    },
                });
            }
            // It is not kept.
            Progress::Begun(_) => return,
            _ => {}
        }
        self.outer.report_progress(progress);
    }
}

/// The rounds of a start together.
fn by_start(rounds: &[SampledRound], stacks: Vec<Stacks>) -> Vec<ArmProfile> {
    let mut found: BTreeMap<(Arm, u32), ArmProfile> = BTreeMap::new();
    for (round, stacks) in rounds.iter().zip(stacks) {
        let (arm, start) = (round.arm, round.start);
        let stacks_before = Stacks::default;
        let of_start = found.entry((arm, start)).or_insert_with(|| ArmProfile {
            arm,
            start,
            operations: 0.0,
            wall_ns: 0,
            stacks: stacks_before(),
        });
        of_start.operations += round.operations;
        let (from_ns, until_ns) = round.window.unix_ns;
        of_start.wall_ns += until_ns - from_ns;
        of_start.stacks.add_window(&stacks);
    }
    found.into_values().filter(|one| one.stacks.samples > 0.0).collect()
}
