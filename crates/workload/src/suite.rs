//! Suites: loads in an order that means something.
//!
//! The order is Callaghan's (`mdcallag/mytools`, `bench/sysbench.lua/all_small.sh`; read, not
//! copied). His *postwrite* is our `settle`, his `scan.warm` of 60 s our `warm:60s:scan`, and reads
//! that he measures before the writes carry his suffix `.pre`:
//!
//! ```text
//!   load ─▶ warm ─▶ settle ─▶ reads .pre ─▶ updates ─▶ settle ─▶ reads ─▶ delete ─▶ insert
//!                             on fresh tables                    on written ones
//! ```
//!
//! | suite         | measured | what it is                                                      |
//! |---------------|---------:|-----------------------------------------------------------------|
//! | `sysbench-42` |       42 | his tables of 2023 and early 2024: 17 point, 15 range, 10 write |
//! | `sysbench-32` |       32 | his tables since 2025: five aggregates more, no `.pre`          |
//! | `sysbench-47` |       47 | everything: the 32 and the 15 `.pre`                            |
//! | `db-bench`    |        6 | his runs of RocksDB's `db_bench`, see [`key_value`]              |
//!
//! In 2025 he still runs two of the `.pre` loads but shows neither; in `sysbench-32` they warm.

use dbdyno_model::Stage;

use crate::catalog::built_in::{self, BEFORE_WRITES};
use crate::catalog::key_value;
use crate::draw;

/// A named list of stages.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// What `--load` takes.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    parts: &'static [&'static [&'static str]],
}

/// All suites.
pub const SUITES: &[Suite] = &[
    Suite {
        name: "sysbench-42",
        about: "Callaghan's microbenchmarks in the order of 2023: reads before and after writes",
        parts: &[FRESH, PRE_2023, WRITES, READS_2023, LAST],
    },
    Suite {
        name: "sysbench-32",
        about: "Callaghan's microbenchmarks in the order of 2025: reads after writes only",
        parts: &[FRESH, PRE_UNSEEN, WRITES, READS_2025, LAST],
    },
    Suite {
        name: "sysbench-47",
        about: "all of Callaghan's microbenchmarks: those of sysbench-32, and reads before writes",
        parts: &[FRESH, SCAN_WARM, PRE_2023, WRITES, READS_2025, LAST],
    },
    Suite {
        name: "db-bench",
        about: "the steps of RocksDB's db_bench in Callaghan's order",
        parts: &[FILLED, &key_value::NAMES],
    },
];

impl Suite {
    /// The suite with this name.
    pub fn find(name: &str) -> Option<&'static Suite> {
        SUITES.iter().find(|suite| suite.name == name)
    }

    /// Its stages, in order.
    pub fn stages(&self) -> Vec<Stage> {
        let texts = self.parts.iter().copied().flatten();
        texts.map(|text| text.parse().expect("the suites below are spelled right")).collect()
    }
}

/// Every load that comes with dbdyno, once or under every label that a suite has for it, except the
/// steps of the Insert Benchmark, which run by themselves: `sysbench-47`, and before its last two
/// loads, which change the size of the tables, one load under every distribution of ids and all
/// loads that are in no suite.
pub fn full_suite() -> Vec<Stage> {
    let suite = Suite::find("sysbench-47").expect("the suites above have it");
    let stages = suite.stages();
    let (most, last) = stages.split_at(stages.len() - LAST.len());
    let known: Vec<&str> = stages.iter().filter_map(Stage::measured_label).map(load_of).collect();
    let entries = built_in::entries();
    let is_known = |name: &str| known.iter().any(|known| plain(known) == plain(name));
    let others = entries.iter().map(|entry| entry.name).filter(|name| !is_known(name));
    let drawn = draw::NAMES.map(|name| format!("read-only?rand={name}"));
    let more = drawn.into_iter().chain(others.map(str::to_owned)).map(Stage::Measure);
    most.iter().cloned().chain(more).chain(last.iter().cloned()).collect()
}

/// The label without the mark of a load that is asked before anything was written.
fn load_of(label: &str) -> &str {
    label.strip_suffix(BEFORE_WRITES).unwrap_or(label)
}

/// A name without the range that is the usual one, and only a label.
fn plain(name: &str) -> &str {
    name.strip_suffix("_range=100").unwrap_or(name)
}

const FRESH: &[&str] = &["warm:point-query", "settle"];
const FILLED: &[&str] = &["fillseq", "settle"];
const SCAN_WARM: &[&str] = &["warm:60s:scan"];

const PRE_2023: &[&str] = &[
    "point-query.pre",
    "random-points_range=10.pre",
    "random-points_range=100.pre",
    "random-points_range=1000.pre",
    "read-only_range=10.pre",
    "read-only_range=100.pre",
    "read-only_range=10000.pre",
    "points-covered-pk.pre",
    "points-covered-si.pre",
    "points-notcovered-pk.pre",
    "points-notcovered-si.pre",
    "range-covered-pk.pre",
    "range-covered-si.pre",
    "range-notcovered-pk.pre",
    "range-notcovered-si.pre",
];

const PRE_UNSEEN: &[&str] = &["warm:60s:scan", "warm:point-query", "warm:range-notcovered-si"];

const WRITES: &[&str] = &[
    "update-inlist",
    "update-index",
    "update-nonindex",
    "update-one",
    "update-zipf",
    "write-only",
    "read-write_range=10",
    "read-write_range=100",
    "settle",
];

const READS_2023: &[&str] = &[
    "read-only_range=10",
    "read-only_range=100",
    "read-only_range=10000",
    "point-query",
    "random-points_range=10",
    "random-points_range=100",
    "random-points_range=1000",
    "hot-points",
    "points-covered-pk",
    "points-covered-si",
    "points-notcovered-pk",
    "points-notcovered-si",
    "range-covered-pk",
    "range-covered-si",
    "range-notcovered-pk",
    "range-notcovered-si",
    "scan",
];

const READS_2025: &[&str] = &[
    "warm:60s:scan",
    "scan",
    "read-only_range=10",
    "read-only_range=100",
    "read-only_range=10000",
    "read-only-simple_range=1000",
    "read-only-sum_range=1000",
    "read-only-order_range=1000",
    "read-only-distinct_range=1000",
    "read-only-count_range=1000",
    "point-query",
    "random-points_range=10",
    "random-points_range=100",
    "random-points_range=1000",
    "hot-points",
    "points-covered-pk",
    "points-notcovered-pk",
    "range-covered-pk",
    "range-notcovered-pk",
    // The scans of the primary key have pushed the secondary index out of the cache.
    "warm:points-covered-si",
    "points-covered-si",
    "points-notcovered-si",
    "range-covered-si",
    "range-notcovered-si",
];

const LAST: &[&str] = &["delete", "insert"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::load::LoadGroup;
    use crate::table::Tables;

    fn labels(name: &str) -> Vec<String> {
        let stages = Suite::find(name).unwrap().stages();
        stages.iter().filter_map(Stage::measured_label).map(str::to_owned).collect()
    }

    /// Callaghan sorts rows into his tables by their names alone.
    fn table_of(label: &str) -> &'static str {
        let changes = ["delete", "insert", "update", "write"];
        if label.contains("point") {
            "point"
        } else if changes.iter().any(|word| label.contains(word)) {
            "write"
        } else {
            "range"
        }
    }

    /// His tables know no aggregates of their own: those are ranges.
    #[test]
    fn every_label_is_a_load_of_the_group_of_its_name() {
        let tables = Tables { count: 1, rows: 1000, seed: 1 };
        for suite in SUITES.iter().filter(|suite| suite.name.starts_with("sysbench")) {
            for label in suite.stages().iter().filter_map(Stage::load) {
                let group = catalog::resolve_load(label, tables).unwrap().group;
                let table = match group {
                    LoadGroup::Point => "point",
                    LoadGroup::Range | LoadGroup::RangeAggregate => "range",
                    LoadGroup::Write => "write",
                };
                assert_eq!(table, table_of(label), "{label}");
            }
        }
    }

    #[test]
    fn suites_have_as_many_rows_as_they_are_called() {
        for (name, rows) in [("sysbench-42", 42), ("sysbench-32", 32), ("sysbench-47", 47)] {
            let mut labels = labels(name);
            assert_eq!(labels.len(), rows, "{name}");
            labels.sort_unstable();
            labels.dedup();
            assert_eq!(labels.len(), rows, "{name} measures something twice");
        }
    }

    #[test]
    fn the_42_are_17_point_15_range_and_10_write() {
        let labels = labels("sysbench-42");
        let count = |table| labels.iter().filter(|label| table_of(label) == table).count();
        assert_eq!((count("point"), count("range"), count("write")), (17, 15, 10));
    }

    /// 27 loads after the writes and 15 of them before; 5 more since 2025.
    #[test]
    fn a_twin_stands_before_the_writes_and_its_load_after() {
        for (name, twins) in [("sysbench-42", 15), ("sysbench-32", 0), ("sysbench-47", 15)] {
            let labels = labels(name);
            let place = |label: &str| labels.iter().position(|other| other == label).unwrap();
            let found = labels.iter().filter(|label| load_of(label) != label.as_str());
            for twin in found.clone() {
                assert!(place(twin) < place("update-inlist"), "{name}: {twin}");
                assert!(place(load_of(twin)) > place("read-write_range=100"), "{name}: {twin}");
            }
            assert_eq!(found.count(), twins, "{name}");
            assert_eq!(labels[labels.len() - 2..], ["delete", "insert"]);
        }
        let (new, old) = (labels("sysbench-32"), labels("sysbench-42"));
        let added = new.iter().filter(|label| !old.contains(label));
        assert_eq!(added.filter(|label| label.starts_with("read-only-")).count(), 5);
    }

    #[test]
    fn everything_is_all_of_the_catalog_and_all_of_the_47_each_label_once() {
        let stages = full_suite();
        let measured: Vec<&str> = stages.iter().filter_map(Stage::measured_label).collect();
        let names: Vec<&str> = measured.iter().map(|label| plain(load_of(label))).collect();
        for entry in catalog::entries() {
            assert!(names.contains(&plain(entry.name)), "{}", entry.name);
        }
        assert!(labels("sysbench-47").iter().all(|label| measured.contains(&label.as_str())));
        let added = measured.len() - 47 - draw::NAMES.len();
        let others = [
            "point-select",
            "update-only",
            "join",
            "bulk-insert",
            "tpcc",
            "register",
            "list-append",
            "counter",
        ];
        assert_eq!(added, others.len() + catalog::key_value::NAMES.len() + 1);
        let mut once = measured.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), measured.len());
        assert_eq!(measured[measured.len() - 2..], ["delete", "insert"]);
    }
}
