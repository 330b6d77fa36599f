//! Recoverable, cascadeless, strict: which commits have to come first, judged by clients' clocks.
//!
//! ```text
//!   recoverable   T read of W, and commits     W had committed before T did
//!   cascadeless   T read of W                  W had committed before T read
//!   strict        T read of W or overwrote it  W had committed before T did so
//! ```
//!
//! Bernstein, Hadzilacos, Goodman, *Concurrency Control and Recovery in Database Systems*, 1987,
//! chapter 2. A client knows of its commit only between which two moments it happened, and of its
//! other operations that they were done when it asked to commit. So a pair of transactions proves
//! the property, or contradicts it, or their intervals overlap and say nothing.

use crate::edges::visit_edges;
use crate::history::{History, Times};
use crate::level::{Dependency, Level};
use crate::region::{Cycle, CycleStep};
use crate::versions::Versions;

/// What intervals say.
pub(crate) enum IntervalEvidence {
    /// Every pair proves it.
    Proved,
    /// A pair contradicts it: which depends on the other, and which asked to commit first.
    Contradicted(Cycle),
    /// Nothing contradicts it, and so many pairs of all overlap.
    Open { overlapping: u64, all: u64 },
    /// When commits were asked for is not told.
    NoTimes,
}

pub(crate) fn interval_evidence(
    history: &History,
    versions: &Versions,
    level: Level,
) -> IntervalEvidence {
    let committed = || (0..history.len()).filter(|&txn| versions.is_in[txn]);
    if committed().any(|txn| history.times[txn].commit_invoke_ns == 0) {
        return IntervalEvidence::NoTimes;
    }
    let (mut overlapping, mut all, mut broken) = (0, 0, None);
    for txn in committed() {
        visit_edges(history, versions, txn as u32, |edge| {
            if edge.to != txn as u32 || !matters(level, edge.dependency) {
                return;
            }
            let (from, to) = (edge.from as usize, txn);
            all += 1;
            match is_first(level, &history.times[from], &history.times[to]) {
                Some(true) => {}
                None => overlapping += 1,
                Some(false) => {
                    let step = CycleStep {
                        from,
                        to,
                        dependency: edge.dependency,
                        key: edge.key,
                        version: edge.version,
                        by: None,
                        is_assumed: false,
                    };
                    let back = Dependency::CommitAsked;
                    let answer = CycleStep { from: to, to: from, dependency: back, ..step };
                    broken.get_or_insert_with(|| vec![step, answer]);
                }
            }
        });
    }
    match broken {
        Some(steps) => IntervalEvidence::Contradicted(Cycle { steps, is_shortest: true }),
        None if overlapping > 0 => IntervalEvidence::Open { overlapping, all },
        None => IntervalEvidence::Proved,
    }
}

/// Whether the level asks anything of a dependency.
fn matters(level: Level, dependency: Dependency) -> bool {
    match dependency {
        Dependency::Read | Dependency::CurrentRead => true,
        Dependency::Write => level == Level::Strict,
        _ => false,
    }
}

/// Whether the writer's commit comes before what the other one did, as far as intervals tell.
pub(crate) fn is_first(level: Level, writer: &Times, other: &Times) -> Option<bool> {
    let (proof, refusal) = match level {
        // The other one's commit is what has to wait.
        Level::Recoverable => (other.commit_invoke_ns, other.commit_return_ns),
        // Its operation is: not before it began, and done when it asked to commit.
        _ => (other.begin_invoke_ns, other.commit_invoke_ns),
    };
    match () {
        () if writer.commit_return_ns <= proof => Some(true),
        () if refusal < writer.commit_invoke_ns => Some(false),
        () => None,
    }
}
