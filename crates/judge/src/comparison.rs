//! From rounds to an answer.
//!
//! Pairs are formed by the plan, not by time of day: the two rounds of a pair stood next to each
//! other and asked the same questions. Each pair gives one log-ratio of rates; those are the data,
//! and what happened inside a round is not.

use dbdyno_audit::AuditWarning;
use dbdyno_model::experiment::FigureOutcome;
use dbdyno_model::insert_benchmark::StepMetrics;
use dbdyno_model::{
    ArmSpec, Audit, Cell, CellComparison, Comparison, Environment, PerArm, Plan, Round, Run,
    RunPair, RunStatus, Severity, TestFamily, Verdict, Warning,
};

use crate::cautions::cell_warnings;
use crate::cell::{cell_comparison, group_of};
use crate::curves;
use crate::error::JudgeError;
use crate::extension;
use crate::family;
use crate::insert_benchmark::{restrain_verdict, step_metrics};
use crate::judged::{judge_pairs, judged_pairs};
use crate::mechanisms;
use crate::metrics;
use crate::rate_unit::CellUnits;
use crate::row_costs;
use crate::sequential;

/// What was found of two arms, before it is known how many others were asked the same.
pub(crate) struct Draft {
    pub(crate) cells: Vec<CellComparison>,
    audit: Audit,
    findings: Vec<AuditWarning>,
    steps: Vec<StepMetrics>,
    mechanisms: Vec<FigureOutcome>,
}

/// Judges a run of two arms, cell by cell. Rounds without their partner are left out, cells without
/// a pair too.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn compare_run(run: RunPair<'_>) -> Result<Comparison, JudgeError> {
    let mut draft = draft_comparison(run)?;
    let family = family::control_false_discoveries(&mut draft.cells.iter_mut().collect::<Vec<_>>());
    conclude_comparison(run, draft, family)
}

/// Each cell by itself.
pub(crate) fn draft_comparison(run: RunPair<'_>) -> Result<Draft, JudgeError> {
    let audit =
        dbdyno_audit::audit_arms(&run.arm_specs(), &PerArm::from_fn(|arm| run.environment(arm)));
    let findings = dbdyno_audit::audit_warnings(&audit);
    let mut draft =
        Draft { cells: Vec::new(), audit, findings, steps: Vec::new(), mechanisms: Vec::new() };
    for cell in run.plan().cells() {
        let (pairs, dropped, notes) = judged_pairs(run, &cell);
        if pairs.is_empty() {
            continue;
        }
        let units = CellUnits::of_cell(run.plan(), &cell);
        let mut judged = judge_pairs(run, &units, &pairs)?;
        judged.look_again(run, &cell)?;
        draft.mechanisms.extend(mechanisms::engine_figures(run, &cell, &pairs)?);
        let arms: PerArm<Vec<&Round>> =
            PerArm::from_fn(|arm| pairs.iter().map(|pair| pair[arm]).collect());
        if let Some(step) = step_metrics(run, &cell, &arms) {
            restrain_verdict(&step, &mut judged);
            draft.steps.push(step);
        }
        let mut against = cell_warnings(run, &cell, &units, &arms);
        against.extend(cell_audit_warnings(&draft.findings, &cell).into_iter().chain(notes));
        let compared = cell_comparison(cell, &units, judged, &arms, against)?;
        let group = group_of(run.plan(), &compared.cell);
        let metrics = metrics::cell_metrics(run, &compared, &pairs)?;
        draft.cells.push(CellComparison { group, pairs_dropped: dropped, metrics, ..compared });
    }
    Ok(draft)
}

/// The answer, once the family has taken back what does not hold among so many.
pub(crate) fn conclude_comparison(
    run: RunPair<'_>,
    draft: Draft,
    family: TestFamily,
) -> Result<Comparison, JudgeError> {
    let Draft { mut cells, audit, findings, steps, mechanisms } = draft;
    let longer = extension::looked_at(run);
    for cell in &mut cells {
        say_what_is_missing(run, longer.as_ref(), cell)?;
    }
    let counts = crate::counts::compare_counted_loads(
        PerArm::from_fn(|arm| run.arm_on(arm)),
        run.plan().rule.budget,
        &cells,
    )?;
    let mut warnings = whole_run_warnings(run.whole);
    warnings.extend(run_audit_cautions(findings));
    Ok(Comparison {
        labels: labels(run),
        budget: run.plan().rule.budget,
        curves: curves::client_curves(run, &cells)?,
        costs: row_costs::cost_lines(run, &cells)?,
        cells,
        insert_benchmark: steps,
        family,
        counts,
        audit,
        mechanisms,
        self_tests: None,
        warnings,
    })
}

/// How many more pairs would decide a cell, and how long they would take: by the rule by which the
/// run is made longer, where it can be, for that is stricter than the one by which it was judged.
fn say_what_is_missing(
    run: RunPair<'_>,
    longer: Option<&Plan>,
    cell: &mut CellComparison,
) -> Result<(), JudgeError> {
    let once = cell.pairs_missing.filter(|_| cell.verdict == Verdict::Undecided);
    let is_blocked = cell.warnings.iter().any(|warning| warning.severity == Severity::Blocks);
    cell.pairs_missing = match longer {
        Some(longer) if cell.verdict == Verdict::Undecided && !is_blocked => {
            sequential::pairs_missing(run, longer, &cell.cell, once)?
        }
        _ => once,
    };
    cell.missing_ns =
        cell.pairs_missing.and_then(|pairs| sequential::missing_ns(run, &cell.cell, pairs));
    Ok(())
}

/// What the audit says of a cell: what it found there, and what withholds every verdict.
pub(crate) fn cell_audit_warnings(findings: &[AuditWarning], cell: &Cell) -> Vec<Warning> {
    let place = cell.to_string();
    let is_told = |finding: &&AuditWarning| match finding.of.as_deref() {
        None => finding.warning.severity == Severity::Blocks,
        Some(of) => of == cell.load || of == place,
    };
    findings.iter().filter(is_told).map(|finding| finding.warning.clone()).collect()
}

/// What it says of the whole run beside that.
pub(crate) fn run_audit_cautions(findings: Vec<AuditWarning>) -> impl Iterator<Item = Warning> {
    let is_told = |finding: &AuditWarning| {
        finding.of.is_none() && finding.warning.severity != Severity::Blocks
    };
    findings.into_iter().filter(is_told).map(|finding| finding.warning)
}

/// What the two arms of a run are called.
pub(crate) fn labels(run: RunPair<'_>) -> PerArm<String> {
    PerArm::from_fn(|arm| arm_label(run.spec_on(arm), run.environment(arm)))
}

/// What an arm is called of which this is true.
pub(crate) fn arm_label(spec: &ArmSpec, facts: &Environment) -> String {
    match facts.get("server.version") {
        "" => spec.to_string(),
        version => format!("{spec} ({version})"),
    }
}

/// What is known of a run as a whole.
pub(crate) fn whole_run_warnings(run: &Run) -> Vec<Warning> {
    let mut warnings = run.warnings.clone();
    // What it was taken up after is no matter of a run that has come to its end.
    if run.status == RunStatus::Complete {
        warnings.retain(|warning| warning.code != Warning::BROKE_OFF);
    }
    if run.status != RunStatus::Complete {
        let text = "the run did not finish; the results are those of the part that was measured";
        warnings.push(Warning::new(Severity::Caution, "not-finished", text));
    }
    warnings
}
