//! A trial: an ordinary run of base, test, and test with some differences taken back.

use std::time::Duration;

use dbdyno_explain::{Set, made_equal};
use dbdyno_model::{
    Arm, ArmIndex, ArmSpec, Arms, Counting, PerArm, Plan, RoundSchedule, Run, RunId, RunStatus,
    Stage, Stopping, Suspect, TrialDirection, WantedWords, Witness,
};
use dbdyno_store::Store;

use crate::known::View;
use crate::question::ExplainQuestion;
use dbdyno_lab::count::ROWS_MOST;
use dbdyno_lab::{
    ExperimentOrder, Lab, LabError, Progress, TrialOf, Watch, resume, run_experiment,
};

/// How often a trial is counted. Of three the one in the middle holds, whatever one stray has in
/// it.
const REPEATS: u32 = 3;

/// Arms of a trial beside base and test. Servers that are measured share the memory of the host,
/// and more of them would have less each than the explained ones had.
pub(crate) fn arms_most(witness: Witness) -> usize {
    match witness {
        Witness::Instructions => 6,
        Witness::Rate => 4,
    }
}

/// What a trial is to tell.
pub(crate) struct TrialRequest<'a> {
    pub(crate) view: View,
    /// Each is made equal in an arm of its own.
    pub(crate) sets: &'a [Set],
    /// The load of the explained cell, and others for which the same is counted.
    pub(crate) loads: &'a [String],
}

/// How long a trial of the rates of so many sets takes at most, servers being started included.
/// `None` of instructions: nobody knows how long a server takes to start under valgrind.
pub(crate) fn longest_trial_time(
    question: &ExplainQuestion<'_>,
    witness: Witness,
    sets: usize,
) -> Option<Duration> {
    let plan = (witness == Witness::Rate).then(|| plan_of_rates(question))?;
    let test = &plan.arms[ArmIndex::TEST];
    let others = std::iter::repeat_n(test.clone(), 1 + sets);
    let arms = std::iter::once(plan.arms[ArmIndex::BASE].clone()).chain(others).collect();
    let plan = Plan { arms, ..plan };
    let pair_ns = plan.arms.count() as u64 * (plan.schedule.round_ns + plan.schedule.lead_in_ns);
    let starts = u64::from(plan.schedule.restarts) + 1;
    let ns = u64::from(plan.schedule.pairs).saturating_mul(pair_ns);
    Some(Duration::from_nanos(ns.saturating_add(starts.saturating_mul(plan.start_again_ns()))))
}

/// Carries out a trial of these sets.
///
/// # Errors
/// As [`measured`].
pub(crate) fn carry_out(
    lab: &mut Lab<'_>,
    question: &ExplainQuestion<'_>,
    suspects: &[Suspect],
    wanted: &TrialRequest<'_>,
) -> Result<RunId, LabError> {
    let TrialRequest { view: View { witness, direction }, sets, loads } = *wanted;
    let arms = question.run.arm_specs();
    let arm = match direction {
        TrialDirection::TestAsBase => arms.test,
        TrialDirection::BaseAsTest => arms.base,
    };
    // Test as it is takes part anyhow, where it has not been counted.
    let taken_back = sets.iter().filter(|set| !set.is_empty());
    let plan = plan_of(
        question,
        taken_back
            .map(|set| made_equal(arm, direction, set.iter().map(|one| &suspects[*one])))
            .collect(),
        witness,
        loads,
    );
    measured(lab, question, &plan, witness)
}

/// Measures test against test with a remedy, in all cells of the explained run.
///
/// # Errors
/// As [`measured`].
pub(crate) fn carry_out_remedy(
    lab: &mut Lab<'_>,
    question: &ExplainQuestion<'_>,
    witness: Witness,
    with_it: ArmSpec,
) -> Result<RunId, LabError> {
    let explained = question.run.plan();
    let arms = Arms::from([question.run.spec_on(Arm::Test).clone(), with_it]);
    let clients = match witness {
        Witness::Instructions => vec![1],
        Witness::Rate => explained.question.clients.clone(),
    };
    let mut plan = Plan { arms, ..plan_of_cell(question, witness) };
    plan.question.clients = clients;
    plan.question.stages.clone_from(&explained.question.stages);
    // Other cells differ by other ratios, which nobody asked to know so well.
    plan.rule.stopping = Stopping::Fixed;
    measured(lab, question, &plan, witness)
}

fn measured(
    lab: &mut Lab<'_>,
    question: &ExplainQuestion<'_>,
    plan: &Plan,
    witness: Witness,
) -> Result<RunId, LabError> {
    lab.check_origin(&question.run.whole.id)?;
    let command = plan.command_line(&WantedWords::default());
    let order = ExperimentOrder {
        plan,
        name: None,
        command: &command,
        tool_version: question.tool_version,
        varied: &[],
        trial_of: Some(TrialOf { run: &question.run.whole.id, witness }),
    };
    let mut watch = Brief(lab.watch);
    let (home, stop, clock) = (lab.home, lab.stop, lab.clock.clone());
    let begun = begun(lab.store, question, plan, witness)?;
    let mut lab = Lab { home, store: lab.store, stop, watch: &mut watch, clock };
    match begun.map(|run| resume(&mut lab, &run)) {
        // Other servers than it began with.
        None | Some(Err(LabError::Unlike(_))) => run_experiment(&mut lab, &order),
        Some(resumed) => resumed,
    }
}

/// The trial of the same rates that was cut short. What was counted is kept of whole loads, which
/// nobody asks for again.
fn begun(
    store: &Store,
    question: &ExplainQuestion<'_>,
    plan: &Plan,
    witness: Witness,
) -> Result<Option<Run>, LabError> {
    for (id, of) in store.trials_of(&question.run.whole.id)? {
        if of != Witness::Rate || witness != Witness::Rate {
            continue;
        }
        let run = store.load(&id)?;
        if run.status != RunStatus::Complete && !run.rounds.is_empty() && run.plan == *plan {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

/// Tells all but what each arm is told, which is hundreds of settings.
struct Brief<'a>(&'a mut dyn Watch);

impl Watch for Brief<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        if !matches!(progress, Progress::Told(..)) {
            self.0.report_progress(progress);
        }
    }
}

/// How the rates of the explained cell are measured in a trial of the arms as they are.
pub(crate) fn plan_of_rates(question: &ExplainQuestion<'_>) -> Plan {
    plan_of_cell(question, Witness::Rate)
}

fn plan_of_cell(question: &ExplainQuestion<'_>, witness: Witness) -> Plan {
    plan_of(question, Vec::new(), witness, std::slice::from_ref(&question.cell.load))
}

fn plan_of(
    question: &ExplainQuestion<'_>,
    changed: Vec<ArmSpec>,
    witness: Witness,
    loads: &[String],
) -> Plan {
    let explained = question.run.plan();
    let PerArm { base, test } = question.run.arm_specs().map(ArmSpec::clone);
    // What test needs as it is has been counted before, and a count does not wander.
    let is_known =
        witness == Witness::Instructions && !changed.is_empty() && are_counted(question, loads);
    let test = Some(test).filter(|_| !is_known);
    let arms = std::iter::once(base).chain(test).chain(changed).collect();
    // In the order of the run: its writes come where they came there.
    let labels =
        explained.labels().into_iter().filter(|label| loads.iter().any(|one| one == label));
    let stages = labels.map(|label| Stage::Measure(label.to_owned())).collect();
    let mut plan = Plan { arms, ..explained.clone() };
    plan.question.stages = stages;
    match (witness, question.rates) {
        (Witness::Rate, Some(rates)) => {
            plan.question.clients = vec![question.cell.clients];
            plan.question.counting = Counting::No;
            plan.rule.stopping.clone_from(&rates.rule.stopping);
            let RoundSchedule { reloads, slice_ns, .. } = plan.schedule;
            plan.schedule = RoundSchedule { reloads, slice_ns, limit_ns: None, ..rates.schedule };
        }
        _ => {
            let tables = u64::from(plan.question.tables);
            plan.question.clients = vec![1];
            plan.question.rows = plan.question.rows.min((ROWS_MOST / tables).max(1));
            plan.question.counting = Counting::Only;
            plan.rule.stopping = Stopping::Fixed;
            plan.schedule = RoundSchedule {
                pairs: REPEATS,
                restarts: 0,
                reloads: 0,
                limit_ns: None,
                ..plan.schedule
            };
        }
    }
    plan
}

/// Whether the run itself has counted these loads.
fn are_counted(question: &ExplainQuestion<'_>, loads: &[String]) -> bool {
    loads.iter().all(|load| question.run.whole.counts.has_sample(load, question.run.pairing.test))
}
