//! What setting up an arm needs to know.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dbdyno_load::Clock;
use dbdyno_model::{ArmIndex, ArmSpec, ReleaseSpec, Severity, Warning};
use dbdyno_sandbox::{Home, LaunchOptions};
use dbdyno_workload::Dataset;

/// Whether tables are wanted back as they were loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restores {
    /// Never.
    No,
    /// At a stage `restore`.
    Yes,
}

/// Everything that setting up needs to know.
pub struct SetUp<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Which arm it is.
    pub arm: ArmIndex,
    /// What it is.
    pub spec: &'a ArmSpec,
    /// What to fill it with.
    pub datasets: &'a [Arc<dyn Dataset>],
    /// Memory of the host.
    pub memory_mb: u64,
    /// Clients that will ask it at the same time, at most.
    pub clients: u32,
    /// Whether the plan wants its tables back as they were loaded.
    pub restores: Restores,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// The time of the experiment.
    pub clock: &'a Clock,
}

/// How a server of this arm is set up, whatever release it is.
pub(crate) fn options(setup: &SetUp<'_>, wanted: &ReleaseSpec) -> LaunchOptions {
    let options = LaunchOptions::for_host(setup.memory_mb).for_clients(setup.clients);
    let options = options.with_settings(&wanted.settings);
    let bytes: u64 = setup.datasets.iter().map(|dataset| dataset.bytes()).sum();
    // Their rows as text, twice, for what indexes and pages take.
    LaunchOptions { tables_mb: options.tables_mb.max(2 * bytes / (1 << 20)), ..options }
}

/// That the arm is slowed on purpose, where it is.
pub(super) fn slowdown_warnings(setup: &SetUp<'_>) -> Vec<Warning> {
    if setup.spec.slow <= 0.0 {
        return Vec::new();
    }
    let percent = setup.spec.slow * 100.0;
    let text = format!("{} is slowed by {percent} % on purpose (slow=)", setup.arm);
    vec![Warning::new(Severity::Caution, "slowed", text)]
}
