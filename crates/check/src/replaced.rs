//! What a transaction replaced that read a row and wrote it.
//!
//! ```text
//!   T read x = 4 and wrote x = 7        another version between 4 and 7?   T ──rw──▶ its writer
//!                                                                          ◀──────ww── T
//! ```
//!
//! At levels at which that is a cycle the version that was read is the one that was replaced, and
//! no order of the others needs to be searched for. Two transactions that read one version and both
//! wrote are a lost update, whichever of them came first. So read-modify-write histories are
//! decided without a search: Elle's option *linearizable keys* assumes that, here it is a
//! consequence; Gu et al., *MTC: Plain mini-transactions*, ICDE 2025.

use crate::footprint::{Access, visit_accesses};
use crate::history::{ABSENT, History, INITIAL, UNKNOWN, WriteId};
use crate::level::{Dependency, End, Shape};
use crate::region::{Cycle, CycleStep};
use crate::versions::Versions;

/// A read of a key that its transaction wrote later.
struct Base {
    key: u32,
    version: WriteId,
    how: Dependency,
}

/// Lets what was read and then written follow each other, where the level forces that.
///
/// # Errors
/// A lost update: what the level forces cannot be.
pub(crate) fn link_replaced(
    history: &History,
    versions: &mut Versions,
    shape: &Shape,
) -> Result<(), Cycle> {
    let forced = [Dependency::Anti, Dependency::CurrentAnti].map(|how| is_forced(shape, how));
    if forced == [false, false] {
        return Ok(());
    }
    // By id, the version that its writer read and replaced, and how.
    let mut bases: Vec<Base> = Vec::new();
    let mut links: Vec<(WriteId, Base)> = Vec::new();
    for txn in (0..history.len()).filter(|&txn| versions.is_in[txn]) {
        bases.clear();
        visit_accesses(history.ops(txn), |access| match access {
            Access::Read(seen) if !seen.is_predicate && forced[usize::from(seen.is_current)] => {
                let (key, version) = (seen.key, versions.resolved_version(&seen));
                let is_known = version == INITIAL
                    || (version < ABSENT
                        && versions.writer_of(version) != UNKNOWN
                        && versions.key(version) == key
                        && versions.is_final(version));
                if is_known && bases.iter().all(|base| base.key != key) {
                    let current = seen.is_current;
                    let how = if current { Dependency::CurrentAnti } else { Dependency::Anti };
                    bases.push(Base { key, version, how });
                }
            }
            Access::Write { op, own_before: None } if op.value < ABSENT => {
                if let Some(at) = bases.iter().position(|base| base.key == op.key) {
                    links.push((op.value, bases.swap_remove(at)));
                }
            }
            _ => {}
        });
    }
    for (id, base) in &links {
        if let Err(other) = versions.replace(*id, base.version) {
            return Err(lost_update(versions, *id, base, other, &links));
        }
    }
    versions.place_again();
    Ok(())
}

/// What follows a version that has to be the last one of its key, as a cycle.
pub(crate) fn behind_the_last(versions: &Versions, lasts: &[WriteId]) -> Option<Cycle> {
    let is_told = |last: WriteId| last != INITIAL && last != UNKNOWN;
    let lost = versions.unplaced_versions();
    (0_u32..).zip(lasts).filter(|(_, last)| is_told(**last)).find_map(|(key, &last)| {
        let linked = versions.all[last as usize].next_writer;
        let first = lost.partition_point(|(other, _)| *other < key);
        // Whatever is not linked to INITIAL comes behind all that is.
        let mut others = lost[first..].iter().take_while(|(other, _)| *other == key);
        let is_base = versions.from(versions.first[key as usize]).any(|id| id == last);
        let other =
            others.next().filter(|_| is_base).map_or(UNKNOWN, |(_, id)| versions.writer_of(*id));
        let next = if linked == UNKNOWN { other } else { linked };
        (next != UNKNOWN).then(|| {
            let (from, to) = (versions.writer_of(last) as usize, next as usize);
            let step = |from, to, dependency| CycleStep {
                from,
                to,
                dependency,
                key,
                version: last,
                by: None,
                is_assumed: false,
            };
            let steps = vec![step(from, to, Dependency::Write), step(to, from, Dependency::Last)];
            Cycle { steps, is_shortest: true }
        })
    })
}

/// Whether a version between the one that was read and the one that was written makes a cycle.
fn is_forced(shape: &Shape, how: Dependency) -> bool {
    let write = shape.ends[Dependency::Write as usize];
    let (Some((from, _)), Some((_, to))) = (shape.ends[how as usize], write) else { return false };
    to == End::Snapshot || from == End::Commit
}

/// The one cycle of two transactions of which each replaced what both had read.
fn lost_update(
    versions: &Versions,
    id: WriteId,
    base: &Base,
    other: WriteId,
    links: &[(WriteId, Base)],
) -> Cycle {
    let (one, two) = (versions.writer_of(id) as usize, versions.writer_of(other) as usize);
    let its = links.iter().find(|(link, its)| *link == other && its.version == base.version);
    let (dependency, version) =
        its.map_or((Dependency::Write, other), |(_, its)| (its.how, its.version));
    let key = base.key;
    let step = |from, to, dependency, version| CycleStep {
        from,
        to,
        dependency,
        key,
        version,
        by: None,
        is_assumed: false,
    };
    let steps = vec![step(one, two, base.how, base.version), step(two, one, dependency, version)];
    Cycle { steps, is_shortest: true }
}
