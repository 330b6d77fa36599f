//! The Insert Benchmark in the JSON contract: its columns under Callaghan's names.

use std::collections::BTreeMap;

use dbdyno_model::insert_benchmark::{ArmMetrics, COLUMNS, StepMetrics};
use serde::Serialize;

use super::values::if_finite;

/// One step, both arms.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepView {
    /// `l.i0`, `qr100` …
    pub step: String,
    /// The load that the step stands for in the cells.
    pub load: String,
    /// Number of clients.
    pub clients: u32,
    /// Rows per second that the background should insert; `None` where there is no background.
    pub target_ips: Option<f64>,
    /// The reference arm.
    pub base: StepArmView,
    /// The arm under test.
    pub test: StepArmView,
}

/// One arm in one step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepArmView {
    /// By name of the column; `null`: not observed.
    #[serde(flatten)]
    pub columns: BTreeMap<&'static str, Option<f64>>,
    /// What the arm is called.
    pub tag: String,
    /// Rows inserted ÷ rows due.
    pub sla_kept: Option<f64>,
    /// Whether that is too little, so that the step is not comparable.
    pub sla_missed: bool,
    /// How often the first row was looked for.
    pub getmin_count: u64,
    /// Mean time that this took, milliseconds.
    pub getmin_ms_mean: Option<f64>,
    /// Longest time that this took, milliseconds.
    pub getmin_ms_max: Option<f64>,
    /// History length or dead tuples when the step began.
    pub debt_begin: Option<f64>,
    /// The same when it ended.
    pub debt_end: Option<f64>,
}

impl StepView {
    pub(super) fn new(step: &StepMetrics, labels: [&str; 2]) -> StepView {
        StepView {
            step: step.step.clone(),
            load: step.cell.load.clone(),
            clients: step.cell.clients,
            target_ips: step.target_ips.and_then(if_finite),
            base: StepArmView::new(&step.arms.base, labels[0]),
            test: StepArmView::new(&step.arms.test, labels[1]),
        }
    }

    /// The rate that the step is about: `qps`, or `ips` where there is no background.
    pub fn rate(&self, arm: &StepArmView) -> Option<f64> {
        arm.column(if self.target_ips.is_some() { "qps" } else { "ips" })
    }
}

impl StepArmView {
    fn new(arm: &ArmMetrics, tag: &str) -> StepArmView {
        StepArmView {
            columns: COLUMNS
                .into_iter()
                .map(|name| (name, arm.column(name).and_then(if_finite)))
                .collect(),
            tag: tag.to_owned(),
            sla_kept: arm.kept.and_then(if_finite),
            sla_missed: arm.has_missed_sla(),
            getmin_count: arm.getmin_count,
            getmin_ms_mean: arm.getmin_ms_mean.and_then(if_finite),
            getmin_ms_max: arm.getmin_ms_max.and_then(if_finite),
            debt_begin: arm.debt_begin.and_then(if_finite),
            debt_end: arm.debt_end.and_then(if_finite),
        }
    }

    /// The value of a column.
    pub fn column(&self, name: &str) -> Option<f64> {
        self.columns.get(name).copied().flatten()
    }
}
