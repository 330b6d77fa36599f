//! What two transactions alone do to each other: which anomalies a history has, and how often.
//!
//! A verdict shows one shortest cycle. To say which kinds of anomalies there are, all cycles of two
//! transactions are looked at: each has a dependency against the order of completion, so that only
//! the pairs of such dependencies are searched, each in the operations of its two transactions.
//! Names: see [`crate::anomaly`]; a *non-repeatable read* (P2 of Berenson et al., SIGMOD 1995) is a
//! G-single whose two dependencies come from two reads of one key. Lost updates are those of
//! [`crate::lost_updates`] as well, whose shortest cycle may be over others.

use std::collections::BTreeMap;

use crate::anomaly::{LOST_UPDATE, cycle_name};
use crate::check::Checker;
use crate::edges::{Edge, visit_edges};
use crate::level::Dependency;
use crate::lost_updates::LostUpdates;
use crate::region::CycleStep;

/// Examples of a kind that are kept, the first ones in the order of completion.
const EXAMPLES: usize = 8;

/// One kind of anomaly of two transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairAnomaly {
    /// Its name.
    pub name: String,
    /// Pairs of transactions that have it; a pair may have several kinds.
    pub pairs: u64,
    /// The first of them: the two steps of the cycle.
    pub examples: Vec<[CycleStep; 2]>,
}

impl PairAnomaly {
    fn of_none(name: String) -> PairAnomaly {
        PairAnomaly { name, pairs: 0, examples: Vec::new() }
    }
}

impl Checker<'_> {
    /// The kinds of anomalies of two transactions, by name, which `refine` may make more exact.
    /// Cycles of dependencies only: what a transaction saw of one that was rolled back is a flaw,
    /// and has no part in any.
    #[must_use]
    pub fn pair_anomalies(
        &self,
        refine: impl Fn(String, &[CycleStep; 2]) -> String,
    ) -> Vec<PairAnomaly> {
        let mut kinds: BTreeMap<String, PairAnomaly> = BTreeMap::new();
        let mut between: Vec<Edge> = Vec::new();
        let lost = LostUpdates::from_history(self.history, &self.versions);
        for (later, earlier) in self.against_completion() {
            between.clear();
            for txn in [later, earlier] {
                visit_edges(self.history, &self.versions, txn, |edge| {
                    if [(later, earlier), (earlier, later)].contains(&(edge.from, edge.to)) {
                        between.push(edge);
                    }
                });
            }
            for (name, steps) in cycles(&between, later, &refine) {
                let is_counted_below = name == LOST_UPDATE && lost.contains_pair(later, earlier);
                let kind = kinds.entry(name.clone()).or_insert_with(|| PairAnomaly::of_none(name));
                kind.pairs += u64::from(!is_counted_below);
                if kind.examples.len() < EXAMPLES {
                    kind.examples.push(steps);
                }
            }
        }
        for steps in lost.example_cycles() {
            let name = LOST_UPDATE.to_owned();
            let kind = kinds.entry(name.clone()).or_insert_with(|| PairAnomaly::of_none(name));
            if kind.examples.is_empty() {
                kind.examples.push(steps);
            }
        }
        if let Some(kind) = kinds.get_mut(LOST_UPDATE) {
            kind.pairs += lost.pair_count();
        }
        kinds.into_values().collect()
    }

    /// Pairs of a transaction and one that depends on it although it was completed before.
    fn against_completion(&self) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for txn in 0..self.history.len() as u32 {
            visit_edges(self.history, &self.versions, txn, |edge| {
                if edge.from > edge.to {
                    pairs.push((edge.from, edge.to));
                }
            });
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

/// One cycle of each name that these edges between two transactions make.
fn cycles(
    between: &[Edge],
    later: u32,
    refine: &impl Fn(String, &[CycleStep; 2]) -> String,
) -> BTreeMap<String, [CycleStep; 2]> {
    let mut named = BTreeMap::new();
    for back in between.iter().filter(|edge| edge.from == later) {
        for forth in between.iter().filter(|edge| edge.to == later) {
            let steps = [step(back), step(forth)];
            named.entry(refine(name(&steps), &steps)).or_insert(steps);
        }
    }
    named
}

fn name(steps: &[CycleStep; 2]) -> String {
    let [one, two] = steps;
    let is_read = |d: Dependency| matches!(d, Dependency::Read | Dependency::CurrentRead);
    let is_reread =
        |read: &CycleStep, anti: &CycleStep| is_read(read.dependency) && anti.dependency.is_anti();
    if one.key == two.key && (is_reread(one, two) || is_reread(two, one)) {
        return "non-repeatable read".to_owned();
    }
    cycle_name(steps)
}

fn step(edge: &Edge) -> CycleStep {
    let Edge { from, to, dependency, key, version } = *edge;
    let (from, to) = (from as usize, to as usize);
    CycleStep { from, to, dependency, key, version, by: None, is_assumed: false }
}

#[cfg(test)]
mod tests {
    use crate::check::Checker;
    use crate::format::read_history;

    fn kinds(text: &str) -> Vec<(String, u64)> {
        let history = read_history(text.as_bytes()).unwrap();
        let all = Checker::new(&history).pair_anomalies(|name, _| name);
        all.into_iter().map(|kind| (kind.name, kind.pairs)).collect()
    }

    #[test]
    fn each_kind_is_told_by_its_name() {
        let one = |name: &str| vec![(name.to_owned(), 1)];
        let lost = "r(x,0,0,0)\nr(x,0,1,1)\nw(x,1<0,0,0)\nw(x,2<1,1,1)";
        assert_eq!(kinds(lost), one("lost update"));
        let skew = "r(x,0,0,0)\nr(y,0,1,1)\nw(y,1<0,0,0)\nw(x,2<0,1,1)";
        assert_eq!(kinds(skew), one("write skew (G2-item)"));
        let single = "r(x,0,0,0)\nw(x,1<0,1,1)\nw(y,2<0,1,1)\nr(y,2<0,0,0)";
        assert_eq!(kinds(single), one("G-single"));
        let again = "r(x,0,0,0)\nw(x,1<0,1,1)\nR(x,1<0,0,0)";
        assert_eq!(kinds(again), one("non-repeatable read"));
        let serial = "w(x,1<0,0,0)\nr(x,1<0,1,1)\nw(y,2<0,1,1)\nr(y,2<0,0,2)";
        assert_eq!(kinds(serial), vec![]);
    }

    /// The shortest cycle of such a pair may be one of three, or of one key at two versions.
    #[test]
    fn a_lost_update_is_told_whatever_was_written_between() {
        let one = |pairs| vec![("lost update".to_owned(), pairs)];
        let blind = "r(x,0,0,0)\nw(x,1<0,0,0)\nw(x,2<1,1,1)\nr(x,0,2,2)\nw(x,3<2,2,2)";
        assert_eq!(kinds(blind), one(1));
        let all_three = "r(x,0,0,0)\nw(x,1<0,0,0)\nr(x,0,1,1)\nw(x,2<1,1,1)\nr(x,0,2,2)\n\
            w(x,3<2,2,2)";
        assert_eq!(kinds(all_three), one(3));
        let of_two_keys = "r(x,0,0,0)\nr(y,0,0,0)\nw(x,1,0,0)\nw(y,1,0,0)\n\
            r(x,0,1,1)\nr(y,0,1,1)\nw(x,2,1,1)\nw(y,2,1,1)";
        assert_eq!(kinds(of_two_keys), one(1), "no order of versions is known");
    }

    #[test]
    fn a_pair_counts_once_for_each_kind_that_it_has() {
        let text = "r(x,0,0,0)\nr(y,0,0,0)\nr(x,0,1,1)\nr(y,0,1,1)\n\
            w(x,1<0,0,0)\nw(y,2<0,1,1)\nw(x,3<1,1,1)";
        let told = kinds(text);
        let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["lost update", "write skew (G2-item)"]);
        assert!(told.iter().all(|(_, pairs)| *pairs == 1), "{told:?}");
    }
}
