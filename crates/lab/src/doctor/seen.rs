//! What was seen of a host.

use std::collections::BTreeMap;

use dbdyno_probe::{HostShares, Reach};

use crate::canaries::Sample;

/// All of it.
pub(super) struct DoctorReadings {
    pub(super) facts: BTreeMap<String, String>,
    /// Processors that we may use.
    pub(super) processors: usize,
    pub(super) memory_mb: u64,
    /// Pages that had rested for ten seconds, and those that were taken away meanwhile.
    pub(super) rested: Option<Reach>,
    /// Room where servers and results go.
    pub(super) free_mb: Option<u64>,
    pub(super) open_files: Option<u64>,
    pub(super) turns: Option<Turns>,
    pub(super) sums: Sample,
    pub(super) chases: Sample,
    pub(super) syncs: Result<Sample, String>,
    pub(super) lateness: Sample,
    pub(super) shares: Option<HostShares>,
    /// Programs that are not there and would be needed, with what for.
    pub(super) missing: Vec<(&'static str, &'static str)>,
}

/// Turns per second of two threads and a socket.
pub(super) struct Turns {
    pub(super) same: f64,
    pub(super) apart: f64,
}

impl DoctorReadings {
    pub(super) fn host_fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }
}
