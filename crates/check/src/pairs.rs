//! What two transactions alone do to each other: which anomalies a history has, and how often.
//!
//! A verdict shows one shortest cycle. To say which kinds of anomalies there are, all cycles of two
//! transactions are looked at: each has a dependency against the order of completion, so that only
//! the pairs of such dependencies are searched, each in the operations of its two transactions.
//! Names: see [`crate::anomaly`]; a *non-repeatable read* (P2 of Berenson et al., SIGMOD 1995) is a
//! G-single whose two dependencies come from two reads of one key.

use std::collections::BTreeMap;

use crate::anomaly::cycle_name;
use crate::check::Checker;
use crate::edges::{Edge, visit_edges};
use crate::level::Dependency;
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
                let kind = kinds.entry(name.clone()).or_insert_with(|| PairAnomaly {
                    name: name.clone(),
                    pairs: 0,
                    examples: Vec::new(),
                });
                kind.pairs += 1;
                if kind.examples.len() < EXAMPLES {
                    kind.examples.push(steps);
                }
            }
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
