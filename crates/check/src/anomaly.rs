//! What anomalies are called.
//!
//! Cycles by what is on them: Adya, *Weak Consistency*, MIT 1999 (G0, G1c, G-single, G2-item, G2);
//! G-nonadjacent and the endings `-process` and `-realtime` as in Elle; lost update (P4) and write
//! skew (A5B) as in Berenson et al., SIGMOD 1995; long fork as in Cerone, Bernardi, Gotsman, CONCUR
//! 2015.

use crate::level::Dependency;
use crate::region::CycleStep;
use crate::versions::FlawKind;

/// Two transactions read one version and both wrote its key.
pub(crate) const LOST_UPDATE: &str = "lost update";

/// The name of a cycle.
pub(crate) fn cycle_name(steps: &[CycleStep]) -> String {
    let count = |is: fn(Dependency) -> bool| steps.iter().filter(|s| is(s.dependency)).count();
    let anti = count(Dependency::is_anti);
    let reads = count(|d| matches!(d, Dependency::Read | Dependency::CurrentRead));
    let next = steps.iter().skip(1).chain(steps.first());
    let is_adjacent = steps
        .iter()
        .zip(next)
        .any(|(one, two)| one.dependency.is_anti() && two.dependency.is_anti());
    let is_seen = steps.iter().any(|step| step.dependency == Dependency::Seen);
    let name = match anti {
        _ if is_seen => "G-seen",
        0 if reads == 0 => "G0",
        0 => "G1c",
        1 | 2 if is_lost_update(steps) => return LOST_UPDATE.to_owned(),
        1 => "G-single",
        2 if is_long_fork(steps) => "long fork (G-nonadjacent)",
        _ if !is_adjacent => "G-nonadjacent",
        _ if count(Dependency::is_predicate) > 0 => "G2",
        _ if anti == 2 && steps.len() == 2 => return "write skew (G2-item)".to_owned(),
        _ => "G2-item",
    };
    let ending = match () {
        () if count(|d| d == Dependency::RealTime) > 0 => "-realtime",
        () if count(|d| d == Dependency::Session) > 0 => "-process",
        () => "",
    };
    format!("{name}{ending}")
}

/// Two transactions read one version, and both replace it.
fn is_lost_update(steps: &[CycleStep]) -> bool {
    let [one, two] = steps else { return false };
    let is = |step: &CycleStep, wanted: Dependency| step.dependency == wanted;
    let has_write = is(one, Dependency::Write) || is(two, Dependency::Write);
    // Both replaced what both had read: then nothing says which of them did so first.
    let have_read_one = one.version == two.version;
    one.key == two.key && (has_write || have_read_one)
}

/// Two transactions of which each sees what the other one misses.
fn is_long_fork(steps: &[CycleStep]) -> bool {
    let is_read = |d: Dependency| matches!(d, Dependency::Read | Dependency::CurrentRead);
    let turn = usize::from(!steps[0].dependency.is_anti());
    steps.len() == 4
        && (0..4).all(|at| {
            let dependency = steps[(at + turn) % 4].dependency;
            if at % 2 == 0 { dependency.is_anti() } else { is_read(dependency) }
        })
}

impl FlawKind {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FlawKind::GarbageRead => "garbage read",
            FlawKind::DuplicateWrite => "duplicate write",
            FlawKind::IncompatibleOrder => "incompatible order",
            FlawKind::Internal => "internal inconsistency",
            FlawKind::AbortedRead => "G1a (aborted read)",
            FlawKind::IntermediateRead => "G1b (intermediate read)",
        }
    }
}
