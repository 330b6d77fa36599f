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

use crate::acyclic::{SolverAnswer, solve_choices};
use crate::certificate::Certificate;
use crate::check::{Checker, LevelVerdict, cycle_verdict, no_order};
use crate::edges::Reach;
use crate::layout::Before;
use crate::level::Keeps;
use crate::orders::Chains;
use crate::polygraph::{Edge, Outs, Pair, Polygraph};
use crate::pruning::{Pruning, prune_choices, resting_on};
use crate::question::{Cycles, Question};
use crate::schedule::{Sessions, best_schedule, build_schedule};

/// Pairs of chains at most, in both orders: a byte is kept of each.
const PAIRS_AT_MOST: usize = 500_000_000;
/// Words that are joined in one round of pruning at most: some minutes.
const WORDS_AT_MOST: usize = 100_000_000_000;
/// Cycles of a proof that is made smaller.
const CORE_AT_MOST: usize = 64;
/// Cycles that a proof is searched among.
const CLAUSES_AT_MOST: usize = 4_000;

impl Checker<'_> {
    /// A verdict that the level holds, if transactions can be carried out one after the other.
    ///
    /// Sessions are kept first, also where the level does not ask for them: an order that keeps
    /// them is one of the level, and they tell more.
    pub(crate) fn carried_out(
        &self,
        question: &Question<'_>,
        chains: &Chains,
    ) -> Option<LevelVerdict> {
        let shape = &question.shape;
        let has_sessions = shape.keeps != Keeps::RealTime;
        let kept = has_sessions
            .then(|| Before::from_history(self.history, &self.versions, Keeps::Sessions));
        let befores =
            kept.iter().chain((shape.keeps != Keeps::Sessions).then_some(&question.before));
        for before in befores {
            let graph = Polygraph::from_chains(self.history, &self.versions, shape, before, chains);
            let sessions = before
                .has_sessions()
                .then(|| Sessions::from_history(&graph, self.history, &self.versions))
                .flatten();
            let found =
                best_schedule(&graph, sessions.as_ref()).filter(|found| found.is_carried_out);
            let verdict = found.and_then(|found| self.ordered_by(question, chains, &found.order));
            if verdict.is_some() {
                return verdict;
            }
        }
        None
    }

    /// A verdict, if one is found.
    pub(crate) fn solved_verdict(
        &self,
        question: &Question<'_>,
        chains: &Chains,
    ) -> Option<LevelVerdict> {
        if let Some(verdict) = self.carried_out(question, chains) {
            return Some(verdict);
        }
        let pairs: usize = chains.key_groups().map(|group| group.len() * group.len()).sum();
        let edges = self.history.op_count() + 4 * chains.len();
        if pairs > PAIRS_AT_MOST || edges.saturating_mul(chains.len() / 32) > WORDS_AT_MOST {
            return None;
        }
        let (shape, before) = (&question.shape, &question.before);
        let graph = Polygraph::from_chains(self.history, &self.versions, shape, before, chains);
        let pruned = prune_choices(&graph);
        if let Some(&(one, two)) = pruned.contradictions.first() {
            let both = [(one, two), (two, one)];
            let clauses =
                both.map(|pair| resting_on(&graph, &pruned.forced, pair, since(&pruned, pair)));
            return self.refuted(question, chains, &graph, &pruned, clauses.into_iter().flatten());
        }
        let all: Vec<Edge> = graph.known.iter().chain(&pruned.edges).copied().collect();
        let guess = build_schedule(&graph, &Outs::from_edges(graph.nodes, &all));
        let line = guess.map_or(pruned.line.clone(), |guess| guess.order);
        match solve_choices(&graph, &pruned.edges, &pruned.open, &line) {
            SolverAnswer::Order(order) => self.ordered_by(question, chains, &order),
            SolverAnswer::None(conflicts) => {
                self.refuted(question, chains, &graph, &pruned, conflicts.into_iter())
            }
            SolverAnswer::GaveUp => None,
        }
    }

    /// The history with its versions in the order of these events.
    fn ordered_by(
        &self,
        question: &Question<'_>,
        chains: &Chains,
        order: &[u32],
    ) -> Option<LevelVerdict> {
        let line: Vec<u32> = order
            .iter()
            .copied()
            .filter(|node| (*node as usize) < 2 * self.history.len())
            .collect();
        let mut versions = self.versions.clone();
        chains.line_up(&mut versions, &line);
        let reach = Reach::from_versions(self.history, &versions);
        let events = question.order_events(&versions, &reach, Cycles::Shortest).ok()?;
        Some(LevelVerdict::Holds(Certificate { events }))
    }

    /// The cycles that no choices avoid.
    fn refuted(
        &self,
        question: &Question<'_>,
        chains: &Chains,
        graph: &Polygraph,
        pruned: &Pruning,
        clauses: impl Iterator<Item = Vec<Pair>>,
    ) -> Option<LevelVerdict> {
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
            let (cycle, used) = chains.mark_assumed_steps(&self.versions, cycle, &chosen);
            if used.is_empty() {
                return Some(cycle_verdict(cycle));
            }
            cycles.push(cycle);
        }
        Some(no_order(cycles))
    }
}

/// The round before which what refutes a pair was known.
fn since(pruned: &Pruning, pair: Pair) -> u32 {
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
        all.iter().filter(|switch| solver.unsat_core_contains_var(switch.var())).copied().collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::read_history;
    use crate::level::Level;

    fn is_carried_out(text: &str, level: Level) -> bool {
        let history = read_history(text.as_bytes()).unwrap();
        let checker = Checker::new(&history);
        let shape = level.graph_shape();
        let before = Before::from_history(&history, &checker.versions, shape.keeps);
        let question = Question { history: &history, shape, before };
        let chains = Chains::from_versions(&history, &checker.versions);
        let verdict = checker.carried_out(&question, &chains);
        assert!(matches!(verdict, None | Some(LevelVerdict::Holds(_))), "{level}");
        verdict.is_some()
    }

    /// Blind writes, whose readers stand in the file before and behind them.
    const BLIND: &str = "r(x,2,2,4)\nw(x,1,0,0)\nw(y,7,0,0)\nw(x,3,0,1)\nr(x,1,1,2)\nw(x,2,1,3)\n\
        w(y,8,1,3)\nr(y,7,2,5)\nr(x,3,2,6)\nw(y,9,2,6)\n";

    #[test]
    fn blind_writes_are_carried_out_without_a_search() {
        for level in [Level::Serializable, Level::SnapshotIsolation] {
            // The reader of 2 comes first in its session, and after it 7 is read, which 8 replaces.
            assert!(is_carried_out(&BLIND.replace("w(y,8,1,3)\n", ""), level), "{level}");
        }
    }

    #[test]
    fn snapshots_are_taken_though_both_commits_wait_for_them() {
        let skew = "r(x,1,0,0)\nw(y,4,0,0)\nr(y,2,1,1)\nw(x,3,1,1)\nw(x,1,2,2)\nw(y,2,2,2)\n";
        assert!(is_carried_out(skew, Level::SnapshotIsolation));
        assert!(!is_carried_out(skew, Level::Serializable));
    }

    #[test]
    fn sessions_that_cannot_be_kept_are_not_where_the_level_does_not_ask() {
        let stale = "w(x,1,0,0)\nw(x,2,0,1)\nr(x,2,1,2)\nr(x,1,1,3)\n";
        assert!(is_carried_out(stale, Level::Serializable));
        assert!(!is_carried_out(stale, Level::StrongSessionSerializable));
    }
}
