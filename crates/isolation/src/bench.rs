//! A server that is asked, and what it is asked.

use std::sync::atomic::{AtomicBool, Ordering};

use dbdyno_cases::{Case, InterleavingSize, PromiseFamily};
use dbdyno_load::Clock;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_model::{ArmIndex, ArmSpec, Dialect};
use dbdyno_sandbox::Home;

use crate::words::Words;
use dbdyno_lab::{Progress, Station, Watch};

/// Which arm the server is, where an error names one: there is no other.
pub(crate) const ARM: ArmIndex = ArmIndex::BASE;

/// What is asked of a server.
pub struct IsolationQuestion<'a> {
    /// The server.
    pub spec: &'a ArmSpec,
    /// At these levels, where it has them.
    pub levels: &'a [IsolationLevel],
    /// These cases.
    pub cases: &'a [Case],
    /// Interleavings of these shapes, and how many of each at most.
    pub shapes: &'a [(InterleavingSize, u64)],
    /// Decides which ones where there are more.
    pub seed: u64,
}

/// Where it is asked.
pub struct IsolationLab<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Set from outside to stop; what is known until then is kept.
    pub stop: &'a AtomicBool,
    /// Who listens.
    pub watch: &'a mut dyn Watch,
}

/// A server that is asked.
pub(crate) struct Bench<'a, 'b> {
    pub(crate) lab: &'a mut IsolationLab<'b>,
    pub(crate) station: &'a Station,
    pub(crate) words: Words,
    pub(crate) clock: &'a Clock,
}

impl Bench<'_, '_> {
    /// Whether the user wants an end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.lab.stop.load(Ordering::Relaxed)
    }

    /// Says what is played.
    pub(crate) fn report_progress(&mut self, text: &str) {
        self.lab.watch.report_progress(Progress::Playing(text));
    }

    /// Whose promises hold.
    pub(crate) fn promise_family(&self) -> PromiseFamily {
        self.words.family
    }

    /// How SQL is spelled.
    pub(crate) fn dialect(&self) -> Dialect {
        self.station.dialect
    }
}
