//! Permissiveness of a protocol: of all that a level allows, what it lets happen.
//!
//! ```text
//!   results     sets of histories: produced ÷ allowed, level by level
//!   schedules   orders of statements: completed, blocked, deadlock, aborted, by one level
//! ```

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_protocols::{NamedProtocol, Results, Schedules, Share};
use dbdyno_report::verdicts::{PermissivenessReport, ResultShares, ScheduleCounts, ShareCounts};

/// Counts by a level: at most `states` states and `sample` schedules.
pub(super) fn permissiveness_report(
    protocol: NamedProtocol,
    shape: InterleavingSize,
    level: Level,
    states: usize,
    sample: u64,
) -> PermissivenessReport {
    let results = protocol.result_permissiveness(shape, states);
    let schedules = protocol.schedule_permissiveness(shape, level, sample);
    PermissivenessReport {
        results: results.map(|all| all.iter().map(result_shares).collect()),
        schedules: schedules.map(|counts| schedule_counts(&counts, level)),
    }
}

fn result_shares(of: &Results) -> ResultShares {
    ResultShares {
        level: of.level.name(),
        sets: share_counts(&of.sets),
        classes: share_counts(&of.classes),
    }
}

fn share_counts(share: &Share) -> ShareCounts {
    let Share { all, allowed, produced, let_through } = *share;
    ShareCounts { all, allowed, produced, let_through }
}

fn schedule_counts(of: &Schedules, level: Level) -> ScheduleCounts {
    ScheduleCounts {
        level: level.name(),
        canonical: of.canonical,
        played: of.played,
        allowed: of.allowed,
        completed: of.completed,
        blocked: of.blocked,
        deadlocked: of.deadlocked,
        aborted: of.aborted,
        wrongly_aborted: of.wrongly_aborted,
        misread: of.misread,
        let_through: of.let_through,
    }
}
