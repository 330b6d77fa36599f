//! Orders of versions that nothing tells: guessed, refuted by cycles, and searched for.
//!
//! ```text
//!   key x   base: INITIAL ▶ 4 ▶ 7      a: 9 ▶ 2      b: 5          three chains, base is first
//!   guess   4 7 9 2 5       a cycle over 2 ▶ 5:  "a before b" is refuted, a clause
//!   guess   4 7 5 9 2       no cycle: the order is found, and stands in the certificate
//! ```
//!
//! What is known links versions to *chains*. A guess puts the chains of every key in a line,
//! near the order of completion, and is judged as any other history. Each cycle of it is a
//! clause over pairs of chains: not all of these orders at once. A SAT solver chooses orders
//! that agree with all clauses so far, the next guess agrees with what it chose, and so on until
//! a guess has no cycle (the level holds) or the clauses have no solution (no order explains the
//! history, and a smallest set of such cycles is the proof). Deciding snapshot isolation and
//! serializability of such histories is NP-complete (Papadimitriou, J. ACM 26, 1979; Biswas and
//! Enea, OOPSLA 2019), so that the search is bounded and says when it gives up. Lazy clauses of
//! cycles: as in SAT modulo acyclicity (Gebser, Janhunen, Rintanen, JELIA 2014); polygraphs with
//! grouped versions: Cobra (OSDI 2020).

use std::collections::HashMap;

use batsat::{BasicSolver, Lit, SolverInterface as _, Var, lbool};

use crate::edges::anti_dependency;
use crate::footprint::{Access, visit_accesses};
use crate::history::{History, INITIAL, UNKNOWN, WriteId};
use crate::layout::Node;
use crate::level::{Dependency, Shape};
use crate::region::{Cycle, CycleStep, Label, joined_nodes};
use crate::versions::Versions;

/// Cycles of a proof that is made smaller by leaving one out after the other.
const CORE_AT_MOST: usize = 64;

/// Versions of one key that are linked, from the first to the last one.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: WriteId,
    tail: WriteId,
}

/// The chains of one key, without that of INITIAL.
#[derive(Debug)]
struct Group {
    key: u32,
    /// Where its chains begin and end among all.
    first: usize,
    end: usize,
    /// The last version of the chain of INITIAL.
    base: WriteId,
}

/// The chain of INITIAL of one key: its number, and the others of the key.
pub(crate) struct Base {
    pub id: u32,
    pub first: u32,
    pub end: u32,
}

/// Chains of all keys whose order is not known.
#[derive(Debug)]
pub(crate) struct Chains {
    groups: Vec<Group>,
    all: Vec<Chain>,
    /// By version, its chain; UNKNOWN for those that hang together with INITIAL.
    chain: Vec<u32>,
    /// By chain, and by chain of INITIAL behind them, the readers of its last version: the
    /// transaction, and how.
    readers: Vec<Vec<(u32, Dependency)>>,
}

impl Chains {
    pub(crate) fn from_versions(history: &History, versions: &Versions) -> Chains {
        let mut chains = Chains {
            groups: Vec::new(),
            all: Vec::new(),
            chain: vec![UNKNOWN; versions.all.len()],
            readers: Vec::new(),
        };
        for group in versions.unplaced_versions().chunk_by(|one, other| one.0 == other.0) {
            let first = chains.all.len();
            for &(_, head) in group {
                let mut tail = head;
                for id in versions.from(head) {
                    chains.chain[id as usize] = chains.all.len() as u32;
                    tail = id;
                }
                chains.all.push(Chain { head, tail });
            }
            let (key, end) = (group[0].0, chains.all.len());
            chains.groups.push(Group { key, first, end, base: versions.last_linked(key) });
        }
        chains.readers = vec![Vec::new(); chains.all.len() + chains.groups.len()];
        for txn in (0..history.len()).filter(|&txn| versions.is_in[txn]) {
            visit_accesses(history.ops(txn), |access| {
                let Access::Read(seen) = access else { return };
                let version = versions.resolved_version(&seen);
                let Some(chain) = chains.ending_or_base(seen.key, version) else { return };
                chains.readers[chain as usize].push((txn as u32, anti_dependency(&seen)));
            });
        }
        chains
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The last version of a chain, or of one of INITIAL.
    fn tail(&self, chain: u32) -> WriteId {
        let count = self.all.len();
        match self.all.get(chain as usize) {
            Some(chain) => chain.tail,
            None => self.groups[chain as usize - count].base,
        }
    }

    /// By key, its chains.
    pub(crate) fn key_groups(&self) -> impl Iterator<Item = std::ops::Range<u32>> + '_ {
        self.groups.iter().map(|group| group.first as u32..group.end as u32)
    }

    /// The chains of INITIAL, which come before all others of their keys.
    pub(crate) fn initial_chains(&self) -> impl Iterator<Item = Base> + '_ {
        let count = self.all.len() as u32;
        (count..).zip(&self.groups).map(|(id, group)| Base {
            id,
            first: group.first as u32,
            end: group.end as u32,
        })
    }

    /// The first and the last version of each chain, and then of those of INITIAL.
    pub(crate) fn end_versions(&self) -> impl Iterator<Item = (WriteId, WriteId)> + '_ {
        let bases = self.groups.iter().map(|group| (UNKNOWN, group.base));
        self.all.iter().map(|chain| (chain.head, chain.tail)).chain(bases)
    }

    /// The chain that ends with a version of a key; that of INITIAL has the number that
    /// [`Chains::initial_chains`] gives it.
    pub(crate) fn ending_or_base(&self, key: u32, id: WriteId) -> Option<u32> {
        self.ending(id).or_else(|| {
            let at = self.groups.binary_search_by_key(&key, |group| group.key).ok()?;
            (self.groups[at].base == id).then(|| (self.all.len() + at) as u32)
        })
    }

    /// The chain of a version, unless that is the one of INITIAL.
    fn chain(&self, id: WriteId) -> Option<u32> {
        self.chain.get(id as usize).copied().filter(|chain| *chain != UNKNOWN)
    }

    /// The chain that ends with a version.
    fn ending(&self, id: WriteId) -> Option<u32> {
        self.chain(id).filter(|chain| self.all[*chain as usize].tail == id)
    }

    /// Puts the chains of every key in an order: by the place in the line of their first writers.
    pub(crate) fn line_up(&self, versions: &mut Versions, line: &[Node]) -> Vec<u32> {
        let mut place = vec![UNKNOWN; versions.is_in.len()];
        for (at, node) in line.iter().enumerate().filter(|(_, node)| *node % 2 == 1) {
            place[*node as usize / 2] = at as u32;
        }
        let mut after = vec![UNKNOWN; self.all.len()];
        for group in &self.groups {
            let mut order: Vec<u32> = (group.first as u32..group.end as u32).collect();
            order.sort_by_key(|&chain| {
                let writer = versions.writer_of(self.all[chain as usize].head);
                (place[writer as usize], chain)
            });
            let mut before = group.base;
            for (at, &chain) in order.iter().enumerate() {
                let Chain { head, tail } = self.all[chain as usize];
                versions.link_again(group.key, before, head);
                before = tail;
                after[chain as usize] = order.get(at + 1).copied().unwrap_or(UNKNOWN);
            }
            versions.end_at(group.key, before);
        }
        after
    }

    /// The pairs of chains whose order a cycle rests on: each first one before its second.
    fn assumed(&self, cycle: &Cycle, after: &[u32]) -> Vec<(u32, u32)> {
        let links = cycle.steps.iter().filter(|step| step.dependency.is_link());
        let mut pairs: Vec<(u32, u32)> = links
            .filter_map(|step| self.ending(step.version))
            .map(|chain| (chain, after[chain as usize]))
            .filter(|(_, next)| *next != UNKNOWN)
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// The chains of two versions of a key, if their order is not known.
    pub(crate) fn unordered_pair(&self, first: WriteId, second: WriteId) -> Option<(u32, u32)> {
        let (one, other) = (self.chain(first)?, self.chain(second)?);
        (one != other).then_some((one, other))
    }

    /// The edges of "the first chain comes before the second": its last writer and its last
    /// readers come before the second's first writer.
    fn edges(
        &self,
        versions: &Versions,
        shape: &Shape,
        first: u32,
        second: u32,
        give: &mut impl FnMut(Node, Node, Label),
    ) {
        let version = self.tail(first);
        let head = self.all[second as usize].head;
        let (to, key) = (versions.writer_of(head), versions.key(head));
        let writer = if version == INITIAL { UNKNOWN } else { versions.writer_of(version) };
        let readers = self.readers[first as usize].iter().copied();
        for (from, dependency) in std::iter::once((writer, Dependency::Write)).chain(readers) {
            if from != to
                && from != UNKNOWN
                && let Some((tail, head)) = joined_nodes(shape, dependency, from, to)
            {
                let by = UNKNOWN;
                give(tail, head, Label { dependency: Some(dependency), key, version, by });
            }
        }
    }
}

impl Chains {
    /// A cycle with the steps marked that rest on choices, and those choices.
    pub(crate) fn mark_assumed_steps(
        &self,
        versions: &Versions,
        cycle: Cycle,
        chosen: &[(u32, u32)],
    ) -> (Cycle, Vec<(u32, u32)>) {
        let rests = |step: &CycleStep, pair: &(u32, u32)| {
            let head = self.all[pair.1 as usize].head;
            let is_it = step.version == self.tail(pair.0) && step.key == versions.key(head);
            is_it && step.dependency.is_link() && step.to as u32 == versions.writer_of(head)
        };
        let used: Vec<(u32, u32)> = chosen
            .iter()
            .filter(|pair| cycle.steps.iter().any(|step| rests(step, pair)))
            .copied()
            .collect();
        let marked = marked(cycle, |step| used.iter().any(|pair| rests(step, pair)));
        (marked, used)
    }

    /// What choices add to the graph of a level.
    pub(crate) fn all_edges(
        &self,
        versions: &Versions,
        shape: &Shape,
        chosen: &[(u32, u32)],
    ) -> Vec<(Node, Node, Label)> {
        let mut all = Vec::new();
        for &(first, second) in chosen {
            let mut give = |from, to, label| all.push((from, to, label));
            self.edges(versions, shape, first, second, &mut give);
        }
        all
    }
}

/// What is known of pairs of chains.
pub(crate) struct Search<'a> {
    chains: &'a Chains,
    solver: BasicSolver,
    /// By pair with the smaller chain first: true means that it comes first.
    pairs: HashMap<(u32, u32), Var>,
    /// Why clauses are there, each with the literal that switches it on.
    refuted: Vec<(Cycle, Lit)>,
}

/// What the clauses leave.
pub(crate) enum Choice {
    /// Orders of pairs that agree with all clauses: each first one before its second.
    Pairs(Vec<(u32, u32)>),
    /// None: a set of cycles of which every order of the versions has one.
    None(Vec<Cycle>),
    /// The solver gave up.
    GaveUp,
}

impl<'a> Search<'a> {
    pub(crate) fn new(chains: &'a Chains) -> Search<'a> {
        let (solver, pairs) = (BasicSolver::default(), HashMap::new());
        Search { chains, solver, pairs, refuted: Vec::new() }
    }

    /// The chains that are asked about.
    pub(crate) fn chains(&self) -> &'a Chains {
        self.chains
    }

    /// Notes that a guess has a cycle. False if the cycle rests on no guess: then it is the proof.
    pub(crate) fn refute_guess(&mut self, cycle: Cycle, after: &[u32]) -> bool {
        let pairs = self.chains.assumed(&cycle, after);
        let assumed = |version| self.chains.ending(version).map(|chain| after[chain as usize]);
        let marked = marked(cycle, |step| assumed(step.version).is_some_and(|n| n != UNKNOWN));
        self.forbid_orders(&pairs, marked)
    }

    /// Lets the chain of every last version stand behind all others of its key.
    pub(crate) fn end_with(&mut self, versions: &Versions, lasts: &[WriteId]) {
        for group in &self.chains.groups {
            let Some(last) = self.chains.chain(lasts[group.key as usize]) else { continue };
            for other in (group.first as u32..group.end as u32).filter(|other| *other != last) {
                let Chain { tail, .. } = self.chains.all[last as usize];
                let head = self.chains.all[other as usize].head;
                let (from, to) = (versions.writer_of(tail), versions.writer_of(head));
                let step = |from, to, dependency, is_assumed| CycleStep {
                    from,
                    to,
                    dependency,
                    key: group.key,
                    version: tail,
                    by: None,
                    is_assumed,
                };
                let (from, to) = (from as usize, to as usize);
                let steps = vec![
                    step(from, to, Dependency::Write, true),
                    step(to, from, Dependency::Last, false),
                ];
                self.forbid_orders(&[(last, other)], Cycle { steps, is_shortest: true });
            }
        }
    }

    /// Notes that not all of these orders are there at once.
    pub(crate) fn forbid_orders(&mut self, pairs: &[(u32, u32)], cycle: Cycle) -> bool {
        if pairs.is_empty() {
            return false;
        }
        let mut clause: Vec<Lit> =
            pairs.iter().map(|&(first, second)| !self.literal(first, second)).collect();
        let switch = Lit::new(self.solver.new_var_default(), true);
        clause.push(!switch);
        self.solver.add_clause_reuse(&mut clause);
        self.refuted.push((cycle, switch));
        true
    }

    fn literal(&mut self, first: u32, second: u32) -> Lit {
        let pair = (first.min(second), first.max(second));
        let solver = &mut self.solver;
        let var = *self.pairs.entry(pair).or_insert_with(|| solver.new_var_default());
        Lit::new(var, first < second)
    }

    /// The next choice.
    pub(crate) fn next_choice(&mut self) -> Choice {
        let switches: Vec<Lit> = self.refuted.iter().map(|(_, switch)| *switch).collect();
        match self.solver.solve_limited(&switches) {
            answer if answer == lbool::TRUE => {
                let mut chosen: Vec<(u32, u32)> = self
                    .pairs
                    .iter()
                    .map(|(&(one, other), var)| match self.solver.value_var(*var) {
                        value if value == lbool::FALSE => (other, one),
                        _ => (one, other),
                    })
                    .collect();
                chosen.sort_unstable();
                Choice::Pairs(chosen)
            }
            answer if answer == lbool::FALSE => Choice::None(self.proof()),
            _ => Choice::GaveUp,
        }
    }

    /// A set of cycles without which there would be an order, as small as leaving out one after
    /// the other makes it.
    fn proof(&mut self) -> Vec<Cycle> {
        let mut core: Vec<Lit> = self.core();
        let mut at = 0;
        while at < core.len() && core.len() <= CORE_AT_MOST {
            let less: Vec<Lit> = [&core[..at], &core[at + 1..]].concat();
            match self.solver.solve_limited(&less) {
                answer if answer == lbool::FALSE => (core, at) = (self.core(), 0),
                _ => at += 1,
            }
        }
        let told = self.refuted.iter().filter(|(_, switch)| core.contains(switch));
        told.map(|(cycle, _)| cycle.clone()).collect()
    }

    /// The switches of the clauses that the solver's last refusal rests on.
    fn core(&self) -> Vec<Lit> {
        let all = self.refuted.iter().map(|(_, switch)| *switch);
        all.filter(|switch| self.solver.unsat_core_contains_var(switch.var())).collect()
    }

    /// Notes that a choice has a cycle.
    pub(crate) fn refute_choice(
        &mut self,
        versions: &Versions,
        cycle: Cycle,
        chosen: &[(u32, u32)],
    ) -> bool {
        let (marked, used) = self.chains.mark_assumed_steps(versions, cycle, chosen);
        self.forbid_orders(&used, marked)
    }
}

/// The cycle, with the steps marked that rest on an order that nothing tells.
fn marked(mut cycle: Cycle, is_assumed: impl Fn(&CycleStep) -> bool) -> Cycle {
    for step in &mut cycle.steps {
        step.is_assumed = step.dependency.is_link() && is_assumed(step);
    }
    cycle
}
