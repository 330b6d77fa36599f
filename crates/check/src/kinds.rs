//! All kinds of anomalies that a history has, each with a witness and, where it can be, a number.
//!
//! ```text
//!   flaws          G1a, G1b, garbage reads …        each one is counted
//!   two at a time  lost update, write skew …        each pair is counted: `pairs`
//!   longer cycles  G0, G1c, G-single, G2-item …     a shortest one of each kind is searched for
//!   levels         what broke a level that is none of these, such as G-single-process
//! ```
//!
//! A verdict tells what it found first. Whoever mends a database wants to know what else there is.
//! A cycle of a kind is a walk whose dependencies a small automaton accepts: which ones may stand
//! in it, whether two anti-dependencies stand beside each other, or none do. The walk is searched
//! for in the graph and the states of the automaton at once, one step deeper each time, so that the
//! first one found is a shortest. Long cycles are not counted: there are more than anybody could.
//!
//! A walk may meet a transaction twice, and is no cycle of the kind then. It is passed over, and
//! what it would have hidden may be overlooked: of kinds with several anti-dependencies, one that
//! is not told is no proof that there is none.

use std::collections::{BTreeMap, BTreeSet};

use crate::anomaly::cycle_name;
use crate::check::{Checker, LevelVerdict};
use crate::edges::{Reach, visit_edges};
use crate::history::UNKNOWN;
use crate::level::{Dependency, Level};
use crate::pairs::PairAnomaly;
use crate::region::{Cycle, CycleStep, Graph, Label};
use crate::replaced::link_replaced;
use crate::versions::FlawKind;

/// Steps of the search for one kind after which the next cycle found is taken.
const STEPS_AT_MOST: u64 = 4_000_000;
/// Steps of the search for one kind after which it ends.
const STEPS_IN_ALL: u64 = 100_000_000;

/// A kind of anomaly that a history has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnomalyKind {
    /// What it is called.
    pub name: String,
    /// How many there are, and of what; `None` where they are not counted.
    pub count: Option<(u64, &'static str)>,
    /// One of them, as what breaks a level.
    pub witness: LevelVerdict,
}

impl AnomalyKind {
    /// Why there is no number, in words; nothing where there is one.
    #[must_use]
    pub fn why_not_counted(&self) -> Option<&'static str> {
        match (&self.count, &self.witness) {
            (Some(_), _) => None,
            (None, LevelVerdict::Cycle(_, cycle)) if cycle.steps.len() <= 2 => Some(
                "the order of the versions of its keys is not known; it is where values are \
                 appended to lists and read, or where a write tells the version that it replaced, \
                 as w(x,2<1,0,0) or [\"w\", \"x\", 2, 1]",
            ),
            (None, LevelVerdict::Cycle(..)) => {
                Some("of cycles of more than two transactions there are more than can be counted")
            }
            _ => Some("it is what broke a level, of which one witness is searched for"),
        }
    }
}

/// Whether anti-dependencies stand beside each other.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Anti {
    /// There are none, or one that comes first.
    Few,
    /// Several, none beside another one.
    Apart,
    /// Several, of which two stand beside each other.
    Beside,
}

/// A kind of cycle: the dependency that it begins with, the others, and its anti-dependencies.
struct CycleKind {
    name: &'static str,
    first: fn(Dependency) -> bool,
    rest: fn(Dependency) -> bool,
    anti: Anti,
}

fn is_write(dependency: Dependency) -> bool {
    dependency == Dependency::Write
}

fn is_read(dependency: Dependency) -> bool {
    matches!(dependency, Dependency::Read | Dependency::CurrentRead)
}

fn is_known(dependency: Dependency) -> bool {
    is_write(dependency) || is_read(dependency)
}

fn is_of_item(dependency: Dependency) -> bool {
    dependency.is_anti() && !dependency.is_predicate()
}

fn is_known_or_of_item(dependency: Dependency) -> bool {
    is_known(dependency) || is_of_item(dependency)
}

fn is_any(_: Dependency) -> bool {
    true
}

/// The kinds of longer cycles. Each name is exactly what [`cycle_name`] calls such a cycle: a cycle
/// that has another name is passed over, so that a kind with a wrong name is never found.
const SEARCHED_CYCLES: [CycleKind; 7] = [
    CycleKind { name: "G0", first: is_write, rest: is_write, anti: Anti::Few },
    CycleKind { name: "G1c", first: is_read, rest: is_known, anti: Anti::Few },
    CycleKind { name: "G-single", first: Dependency::is_anti, rest: is_known, anti: Anti::Few },
    CycleKind { name: LONG_FORK, first: Dependency::is_anti, rest: is_any, anti: Anti::Apart },
    CycleKind {
        name: "G-nonadjacent",
        first: Dependency::is_anti,
        rest: is_any,
        anti: Anti::Apart,
    },
    CycleKind { name: "G2-item", first: is_of_item, rest: is_known_or_of_item, anti: Anti::Beside },
    CycleKind { name: "G2", first: Dependency::is_predicate, rest: is_any, anti: Anti::Beside },
];

const LONG_FORK: &str = "long fork (G-nonadjacent)";

impl Checker<'_> {
    /// The kinds of anomalies of a history: flaws, cycles of two transactions, longer ones, and
    /// what broke levels, of which these are verdicts.
    ///
    /// Orders of versions are those that are known, and that a transaction replaced what it read
    /// and then wrote, unless that is a lost update.
    #[must_use]
    pub fn anomaly_kinds(&self, verdicts: &[(Level, LevelVerdict)]) -> Vec<AnomalyKind> {
        let mut kinds = self.flaw_kinds();
        let mut versions = self.versions.clone();
        let shape = Level::Serializable.graph_shape();
        if let Err(cycle) = link_replaced(self.history, &mut versions, &shape) {
            add(&mut kinds, of_cycle(cycle));
            versions = self.versions.clone();
        }
        let reach = Reach::from_versions(self.history, &versions);
        let linked = Checker { history: self.history, versions, reach };
        for pair in linked.pair_anomalies(|name, _| name) {
            kinds.retain(|kind| kind.name != pair.name);
            add(&mut kinds, of_pairs(&pair));
        }
        let lost = linked.vanished_writes(&linked.versions);
        if let Some(first) = lost.first() {
            let witness = LevelVerdict::Vanished(*first);
            let name = witness.anomaly().unwrap_or_default().to_owned();
            let count = Some((lost.len() as u64, "reads"));
            add(&mut kinds, AnomalyKind { name, count, witness });
        }
        let all = linked.all_edges();
        for wanted in &SEARCHED_CYCLES {
            let is_told = kinds.iter().any(|kind| kind.name == wanted.name);
            if let Some(cycle) = (!is_told).then(|| shortest(&all, wanted)).flatten() {
                add(&mut kinds, of_cycle(cycle));
            }
        }
        for (_, verdict) in verdicts {
            if let Some(name) = verdict.anomaly() {
                let (name, witness) = (name.to_owned(), verdict.clone());
                add(&mut kinds, AnomalyKind { name, count: None, witness });
            }
        }
        kinds
    }

    fn flaw_kinds(&self) -> Vec<AnomalyKind> {
        let mut kinds: BTreeMap<usize, AnomalyKind> = BTreeMap::new();
        for flaw in &self.versions.flaws {
            let of = match flaw.kind {
                FlawKind::DuplicateWrite => "writes",
                FlawKind::IncompatibleOrder => "versions",
                _ => "reads",
            };
            let count = Some((self.versions.flaw_counts[flaw.kind as usize], of));
            let name = flaw.kind.name().to_owned();
            let witness = LevelVerdict::Flaw(*flaw);
            kinds.entry(flaw.kind as usize).or_insert(AnomalyKind { name, count, witness });
        }
        kinds.into_values().collect()
    }

    /// All dependencies between transactions.
    fn all_edges(&self) -> Vec<(u32, u32, Label)> {
        let mut all = Vec::new();
        for txn in 0..self.history.len() as u32 {
            visit_edges(self.history, &self.versions, txn, |edge| {
                let (key, version) = (edge.key, edge.version);
                let dependency = Some(edge.dependency);
                let label = Label { dependency, key, version, by: UNKNOWN };
                all.push((edge.from, edge.to, label));
            });
        }
        all
    }
}

fn add(kinds: &mut Vec<AnomalyKind>, kind: AnomalyKind) {
    if kinds.iter().all(|known| known.name != kind.name) {
        kinds.push(kind);
    }
}

fn of_cycle(cycle: Cycle) -> AnomalyKind {
    let name = cycle_name(&cycle.steps);
    AnomalyKind { name: name.clone(), count: None, witness: LevelVerdict::Cycle(name, cycle) }
}

fn of_pairs(pair: &PairAnomaly) -> AnomalyKind {
    let name = pair.name.clone();
    let steps = pair.examples.first().map_or(Vec::new(), |steps| steps.to_vec());
    let witness = LevelVerdict::Cycle(name.clone(), Cycle { steps, is_shortest: true });
    AnomalyKind { name, count: Some((pair.pairs, "pairs of transactions")), witness }
}

/// What is known of a walk: bits.
#[derive(Clone, Copy)]
struct State(u8);

impl State {
    /// The dependency that it ended with is an anti-dependency.
    const ANTI: u8 = 1;
    /// Two of them stand beside each other.
    const BESIDE: u8 = 2;
    /// There are several.
    const MANY: u8 = 4;
    const COUNT: usize = 8;

    fn first(dependency: Dependency) -> State {
        State(if dependency.is_anti() { State::ANTI } else { 0 })
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// After one more dependency, if the kind allows it.
    fn then(self, dependency: Dependency, anti: Anti) -> Option<State> {
        if !dependency.is_anti() {
            return Some(State(self.0 & !State::ANTI));
        }
        let is_beside = self.has(State::ANTI);
        let beside = if is_beside { State::BESIDE } else { 0 };
        let is_allowed = anti != Anti::Apart || !is_beside;
        is_allowed.then_some(State(self.0 | State::ANTI | State::MANY | beside))
    }

    /// Whether a walk that has come back to its beginning is of the kind.
    fn is_of(self, anti: Anti) -> bool {
        match anti {
            Anti::Few => true,
            Anti::Apart => self.has(State::MANY) && !self.has(State::ANTI),
            Anti::Beside => self.has(State::MANY) && (self.0 & (State::ANTI | State::BESIDE) != 0),
        }
    }
}

/// A shortest cycle of a kind, if one is found.
fn shortest(all: &[(u32, u32, Label)], wanted: &CycleKind) -> Option<Cycle> {
    let is_of =
        |label: &Label| label.dependency.is_some_and(|d| (wanted.first)(d) || (wanted.rest)(d));
    let own: Vec<(u32, u32, Label)> = all.iter().filter(|edge| is_of(&edge.2)).copied().collect();
    let count = own.iter().map(|edge| edge.0.max(edge.1) + 1).max()?;
    let graph = Graph::from_edges((0..count).collect(), &own);
    let (_, component, is_cyclic) = graph.strong_components();
    if !is_cyclic {
        return None;
    }
    let is_first = |(from, to, label): &&(u32, u32, Label)| {
        let is_within = component[*from as usize] == component[*to as usize];
        is_within && label.dependency.is_some_and(wanted.first)
    };
    let firsts: Vec<&(u32, u32, Label)> = own.iter().filter(is_first).collect();
    let never = CycleVisit { turn: 0, from: UNKNOWN, edge: UNKNOWN };
    let reached = vec![never; State::COUNT * count as usize];
    let mut search = Search { graph: &graph, component, wanted, reached, turn: 0, steps: 0 };
    for depth in 2.. {
        let mut is_cut = false;
        for &&(tail, head, label) in &firsts {
            let is_shortest = search.steps <= STEPS_AT_MOST;
            let limit = if is_shortest { depth } else { u32::MAX };
            if search.steps > STEPS_IN_ALL {
                return None;
            }
            match search.walk(tail, head, label, limit) {
                Walk::Cycle(steps) => return Some(Cycle { steps, is_shortest }),
                Walk::CutOff => is_cut = true,
                Walk::None => {}
            }
        }
        if !is_cut {
            return None;
        }
    }
    None
}

/// What came of a walk.
enum Walk {
    Cycle(Vec<CycleStep>),
    /// There may be a longer one.
    CutOff,
    None,
}

/// How a node was reached in a state.
#[derive(Clone, Copy)]
struct CycleVisit {
    turn: u32,
    /// The node and state before, and the edge from there.
    from: u32,
    edge: u32,
}

struct Search<'a> {
    graph: &'a Graph,
    component: Vec<u32>,
    wanted: &'a CycleKind,
    /// By node and state.
    reached: Vec<CycleVisit>,
    turn: u32,
    steps: u64,
}

impl Search<'_> {
    /// Walks from an edge on, at most so many steps, back to its tail.
    fn walk(&mut self, tail: u32, head: u32, label: Label, limit: u32) -> Walk {
        let Some(dependency) = label.dependency else { return Walk::None };
        self.turn += 1;
        let begin = State::COUNT as u32 * head + u32::from(State::first(dependency).0);
        self.note(begin, UNKNOWN, UNKNOWN);
        let (mut layer, mut next) = (vec![begin], Vec::new());
        for _ in 1..limit {
            for &at in &layer {
                let node = at as usize / State::COUNT;
                let state = State((at as usize % State::COUNT) as u8);
                for (place, &(to, label)) in
                    (self.graph.first_edge(node)..).zip(self.graph.out_edges(node))
                {
                    self.steps += 1;
                    let allowed = label.dependency.filter(|d| (self.wanted.rest)(*d));
                    let state = allowed.and_then(|d| state.then(d, self.wanted.anti));
                    let Some(state) = state else { continue };
                    if self.component[to as usize] != self.component[tail as usize] {
                        continue;
                    }
                    if to == tail {
                        if state.is_of(self.wanted.anti)
                            && let Some(steps) = self.cycle(tail, head, dependency, at, place)
                        {
                            return Walk::Cycle(steps);
                        }
                        continue;
                    }
                    let place_of = State::COUNT as u32 * to + u32::from(state.0);
                    if self.note(place_of, at, place) {
                        next.push(place_of);
                    }
                }
            }
            if next.is_empty() {
                return Walk::None;
            }
            layer = std::mem::take(&mut next);
        }
        Walk::CutOff
    }

    /// Whether it was not reached before.
    fn note(&mut self, at: u32, from: u32, edge: u32) -> bool {
        let reached = &mut self.reached[at as usize];
        let is_new = reached.turn != self.turn;
        if is_new {
            *reached = CycleVisit { turn: self.turn, from, edge };
        }
        is_new
    }

    /// The steps of a walk that comes back, if it is a cycle of the kind.
    fn cycle(
        &self,
        tail: u32,
        head: u32,
        dependency: Dependency,
        last: u32,
        edge: u32,
    ) -> Option<Vec<CycleStep>> {
        let mut edges = vec![edge];
        let mut at = last;
        while self.reached[at as usize].edge != UNKNOWN {
            edges.push(self.reached[at as usize].edge);
            at = self.reached[at as usize].from;
        }
        let mut steps = Vec::new();
        let mut from = head;
        for &edge in edges.iter().rev() {
            let (to, label) = self.graph.edge_at(edge);
            steps.push(step(from, to, &label)?);
            from = to;
        }
        let own = self.graph.out_edges(tail as usize).iter();
        let mut own = own.filter(|(to, label)| *to == head && label.dependency == Some(dependency));
        // Of several edges of a kind another one may make it what is wanted.
        own.find_map(|(_, label)| {
            let steps = [&[step(tail, head, label)?], &steps[..]].concat();
            let txns: BTreeSet<usize> = steps.iter().map(|step| step.from).collect();
            let is_wanted = txns.len() == steps.len() && cycle_name(&steps) == self.wanted.name;
            is_wanted.then_some(steps)
        })
    }
}

fn step(from: u32, to: u32, label: &Label) -> Option<CycleStep> {
    let Label { dependency, key, version, .. } = *label;
    let (from, to, dependency) = (from as usize, to as usize, dependency?);
    Some(CycleStep { from, to, dependency, key, version, by: None, is_assumed: false })
}

#[cfg(test)]
mod tests {
    use crate::check::Checker;
    use crate::format::read_history;
    use crate::level::Level;

    fn kinds(text: &str) -> Vec<(String, Option<u64>)> {
        let history = read_history(text.as_bytes()).unwrap();
        let checker = Checker::new(&history);
        let verdicts = checker.proved_verdicts(&[Level::ReadCommitted, Level::Serializable]);
        let all = checker.anomaly_kinds(&verdicts).into_iter();
        all.map(|kind| (kind.name, kind.count.map(|count| count.0))).collect()
    }

    fn names(text: &str) -> Vec<String> {
        kinds(text).into_iter().map(|kind| kind.0).collect()
    }

    #[test]
    fn kinds_behind_the_first_are_told() {
        let text = "w(x,1<null,0,0)\nr(x,1<null,1,1)\nabort(0,0)\n\
            r(y,null,2,2)\nr(y,null,3,3)\nw(y,2<null,2,2)\nw(y,3<2,3,3)\n\
            r(a,null,4,4)\nr(b,null,5,5)\nw(b,4<null,4,4)\nw(a,5<null,5,5)";
        let expected = [("G1a (aborted read)", 1), ("lost update", 1), ("write skew (G2-item)", 1)];
        let expected = expected.map(|(name, count)| (name.to_owned(), Some(count)));
        assert_eq!(kinds(text), expected);
    }

    #[test]
    fn longer_cycles_are_told_by_their_kinds() {
        let long_fork = "w(x,1<null,0,0)\nw(y,2<null,1,1)\nr(x,1,2,2)\nr(y,null,2,2)\n\
            r(x,null,3,3)\nr(y,2,3,3)";
        assert_eq!(names(long_fork), ["long fork (G-nonadjacent)"]);
        let skew_of_three = "r(x,null,0,0)\nw(y,1<null,0,0)\nr(y,null,1,1)\nw(z,2<null,1,1)\n\
            r(z,null,2,2)\nw(x,3<null,2,2)";
        assert_eq!(names(skew_of_three), ["G2-item"]);
        let dirty_of_three = "w(x,1<null,0,0)\nw(y,2<null,1,1)\nw(z,3<null,2,2)\nr(x,1,1,1)\n\
            r(y,2,2,2)\nr(z,3,0,0)";
        assert_eq!(names(dirty_of_three), ["G1c"]);
        let cycle_of_writes = "w(x,1<null,0,0)\nw(y,2<null,1,1)\nw(z,3<null,2,2)\n\
            w(x,4<1,1,1)\nw(y,5<2,2,2)\nw(z,6<3,0,0)";
        assert_eq!(names(cycle_of_writes), ["G0"]);
        let single_of_three = "r(x,null,0,0)\nw(x,1<null,1,1)\nw(y,2<null,1,1)\nr(y,2,2,2)\n\
            w(z,3<null,2,2)\nr(z,3,0,0)";
        assert_eq!(names(single_of_three), ["G-single"]);
    }

    #[test]
    fn a_serial_history_has_none() {
        assert!(kinds("w(x,1<null,0,0)\nr(x,1,1,1)\nw(x,2<1,1,1)\nr(x,2,0,2)").is_empty());
    }

    #[test]
    fn two_cycles_that_share_a_transaction_are_not_one() {
        // Two G-single that meet in a transaction: a walk over both is no cycle.
        let text = "r(x,null,0,0)\nw(x,1<null,1,1)\nw(a,2<null,1,1)\nr(a,2,0,0)\n\
            r(y,null,0,0)\nw(y,3<null,2,2)\nw(b,4<null,2,2)\nr(b,4,0,0)";
        assert_eq!(kinds(text), [("G-single".to_owned(), Some(2))]);
    }
}
