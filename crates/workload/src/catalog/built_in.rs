//! All loads that come with dbdyno, and how one of them is found by its name.

use super::entry::LoadEntry;
use super::{key_value, mechanisms, micro, oltp, tpcc, versioned};

/// Stands behind the name of a load that is asked a second time, before anything was written.
pub(crate) const BEFORE_WRITES: &str = ".pre";

/// All loads, in the order of the list.
pub fn entries() -> Vec<LoadEntry> {
    let mut entries = micro::entries();
    entries.extend(oltp::entries());
    entries.extend(mechanisms::entries());
    entries.extend(tpcc::entries());
    entries.extend(key_value::entries());
    entries.extend(versioned::entries());
    entries
}

/// Whether a load of this name comes with dbdyno.
pub(crate) fn has_load(name: &str) -> bool {
    find(&entries(), name).is_some()
}

pub(super) fn find<'a>(entries: &'a [LoadEntry], name: &str) -> Option<&'a LoadEntry> {
    let find = |name: &str| entries.iter().find(|entry| entry.name == name);
    find(name)
        .or_else(|| find(name.strip_suffix("_range=100")?))
        .or_else(|| find(name.strip_suffix("_range=10000").filter(|name| *name == "write-only")?))
}
