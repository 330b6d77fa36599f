//! A level where some choices of orders are left: pruned, made by a solver, and proved.
//!
//! ```text
//!   polygraph ─▶ pruning ─▶ what is open: solver ─▶ an order of all events: looked at as any other
//!                   │                       └─────▶ cycles that no choices avoid ─┐
//!                   └─▶ a pair of which neither order is possible ────────────────┴▶ the proof
//! ```
//!
//! A proof that no order is possible is a set of cycles, each of which rests on choices: what was
//! forced is in it with the cycle of what would have been otherwise. Of all of them the solver's
//! core is kept, and made smaller by leaving out one after the other.

use std::collections::{HashMap, HashSet};

use batsat::{BasicSolver, Lit, SolverInterface as _, Var, lbool};

use crate::acyclic::{Made, choose};
use crate::certificate::Certificate;
use crate::check::{Checker, Verdict, broken, no_order};
use crate::edges::Reach;
use crate::orders::Chains;
use crate::polygraph::{Pair, Polygraph};
use crate::pruning::{Pruned, prune, resting_on};
use crate::question::{Cycles, Question};

/// Pairs of chains at most, in both orders: a byte is kept of each.
const PAIRS_AT_MOST: usize = 500_000_000;
/// Words that are joined in one round of pruning at most: some minutes.
const WORDS_AT_MOST: usize = 100_000_000_000;
/// Cycles of a proof that is made smaller.
const CORE_AT_MOST: usize = 64;
/// Cycles that a proof is searched among.
const CLAUSES_AT_MOST: usize = 4_000;

impl Checker<'_> {
    /// A verdict, if one is found.
    pub(crate) fn made(&self, question: &Question<'_>, chains: &Chains) -> Option<Verdict> {
        let pairs: usize = chains.groups().map(|group| group.len() * group.len()).sum();
        let edges = self.history.op_count() + 4 * chains.len();
        if pairs > PAIRS_AT_MOST || edges.saturating_mul(chains.len() / 32) > WORDS_AT_MOST {
            return None;
        }
        let about = (&question.shape, &question.before);
        let graph = Polygraph::of(self.history, &self.versions, about, chains);
        let pruned = prune(&graph);
        if let Some(&(one, two)) = pruned.contradictions.first() {
            let both = [(one, two), (two, one)];
            let clauses =
                both.map(|pair| resting_on(&graph, &pruned.forced, pair, since(&pruned, pair)));
            return self.refuted(question, chains, &graph, &pruned, clauses.into_iter().flatten());
        }
        match choose(&graph, &pruned.edges, &pruned.open, &pruned.line) {
            Made::Order(order) => self.ordered_by(question, chains, &order),
            Made::None(conflicts) => {
                self.refuted(question, chains, &graph, &pruned, conflicts.into_iter())
            }
            Made::GaveUp => None,
        }
    }

    /// The history with its versions in the order of these events.
    fn ordered_by(
        &self,
        question: &Question<'_>,
        chains: &Chains,
        order: &[u32],
    ) -> Option<Verdict> {
        let is_event = |node: &u32| (*node as usize) < 2 * self.history.len();
        let line: Vec<u32> = order.iter().copied().filter(is_event).collect();
        let mut versions = self.versions.clone();
        chains.line_up(&mut versions, &line);
        let reach = Reach::of(self.history, &versions);
        let events = question.line(&versions, &reach, Cycles::Shortest).ok()?;
        Some(Verdict::Holds(Certificate { events }))
    }

    /// The cycles that no choices avoid.
    fn refuted(
        &self,
        question: &Question<'_>,
        chains: &Chains,
        graph: &Polygraph,
        pruned: &Pruned,
        clauses: impl Iterator<Item = Vec<Pair>>,
    ) -> Option<Verdict> {
        let mut clauses: Vec<Vec<Pair>> = clauses.collect();
        let mut is_explained: HashSet<Pair> = HashSet::new();
        let mut done = 0;
        while let Some(clause) = clauses.get(done).cloned() {
            done += 1;
            if clauses.len() > CLAUSES_AT_MOST {
                return None;
            }
            for pair in clause {
                let Some(round) = pruned.forced.round(pair) else { continue };
                if is_explained.insert(pair) {
                    let other = (pair.1, pair.0);
                    clauses.push(resting_on(graph, &pruned.forced, other, round)?);
                }
            }
        }
        let mut cycles = Vec::new();
        for clause in core(graph, &clauses)? {
            let more = chains.all_edges(&self.versions, &question.shape, &clause);
            let cycle = question.line_with(&self.versions, &self.reach, &more).err()?;
            let chosen: Vec<Pair> =
                clause.iter().copied().filter(|pair| !graph.is_certain(*pair)).collect();
            let (cycle, used) = chains.marked(&self.versions, cycle, &chosen);
            if used.is_empty() {
                return Some(broken(cycle));
            }
            cycles.push(cycle);
        }
        Some(no_order(cycles))
    }
}

/// The round before which what refutes a pair was known.
fn since(pruned: &Pruned, pair: Pair) -> u32 {
    pruned.forced.round((pair.1, pair.0)).unwrap_or(u32::MAX)
}

/// Those of some sets of choices, none of which can be made at once, that leave no choice.
fn core(graph: &Polygraph, clauses: &[Vec<Pair>]) -> Option<Vec<Vec<Pair>>> {
    let mut solver = BasicSolver::default();
    let mut vars: HashMap<Pair, Var> = HashMap::new();
    let mut switches: Vec<Lit> = Vec::new();
    for clause in clauses {
        let switch = Lit::new(solver.new_var_default(), true);
        let mut literals = vec![!switch];
        for &(one, two) in clause.iter().filter(|pair| !graph.is_certain(**pair)) {
            let pair = (one.min(two), one.max(two));
            let var = *vars.entry(pair).or_insert_with(|| solver.new_var_default());
            literals.push(Lit::new(var, one > two));
        }
        solver.add_clause_reuse(&mut literals);
        switches.push(switch);
    }
    let is_none = |solver: &mut BasicSolver, all: &[Lit]| solver.solve_limited(all) == lbool::FALSE;
    let left = |solver: &BasicSolver, all: &[Lit]| -> Vec<Lit> {
        let is_in = |switch: &&Lit| solver.unsat_core_contains_var(switch.var());
        all.iter().filter(is_in).copied().collect()
    };
    if !is_none(&mut solver, &switches) {
        return None;
    }
    let mut core = left(&solver, &switches);
    let mut at = 0;
    while at < core.len() && core.len() <= CORE_AT_MOST {
        let less: Vec<Lit> = [&core[..at], &core[at + 1..]].concat();
        if is_none(&mut solver, &less) {
            (core, at) = (left(&solver, &less), 0);
        } else {
            at += 1;
        }
    }
    let told = switches.iter().zip(clauses).filter(|(switch, _)| core.contains(switch));
    Some(told.map(|(_, clause)| clause.clone()).collect())
}
