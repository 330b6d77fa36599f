//! Open choices, made by a SAT solver that knows of cycles.
//!
//! ```text
//!   the solver decides "a before b" ──▶ its edges join the graph ──▶ an order of all nodes is kept
//!          ▲                                                          │ an edge closes a cycle
//!          └───────── not all of these choices at once ◀──────────────┘
//! ```
//!
//! SAT modulo acyclicity (Gebser, Janhunen, Rintanen, JELIA 2014), with the order of nodes kept as
//! edges come and go: Pearce and Kelly, *A dynamic topological sort algorithm for directed acyclic
//! graphs*, ACM JEA 11, 2006. The first choices follow the order that the known edges have, so that
//! a history that somebody carried out one after the other is found soon. Bounded by conflicts.

use std::collections::HashMap;

use batsat::{
    Callbacks, Lit, Solver, SolverInterface as _, SolverOpts, Theory, TheoryArg, clause, lbool,
};

use crate::history::UNKNOWN;
use crate::polygraph::{Edge, Pair, Polygraph, PolygraphReason};

/// Clauses that are learnt at most, and nodes that are moved or looked at for them.
const LEARNT_AT_MOST: u64 = 200_000;
const STEPS_AT_MOST: u64 = 400_000_000;

/// What the solver came to.
pub(crate) enum SolverAnswer {
    /// The nodes in an order that agrees with known edges and some choices.
    Order(Vec<u32>),
    /// No choices are possible: sets of pairs that close cycles, some of them forced.
    None(Vec<Vec<Pair>>),
    GaveUp,
}

/// Counts what was learnt, and stops the solver.
#[derive(Default)]
struct Budget {
    learnt: u64,
}

impl Callbacks for Budget {
    fn on_new_clause(&mut self, _: &[Lit], _: clause::Kind) {
        self.learnt += 1;
    }

    fn stop(&self) -> bool {
        self.learnt > LEARNT_AT_MOST
    }
}

/// Makes the open choices; `forced` are the edges of those that are made.
pub(crate) fn solve_choices(
    graph: &Polygraph,
    forced: &[Edge],
    open: &[Pair],
    line: &[u32],
) -> SolverAnswer {
    let mut cycles = Cycles::new(graph, line);
    for &(from, to, why) in graph.known.iter().chain(forced) {
        if cycles.insert(from, to, why).is_err() {
            return SolverAnswer::GaveUp;
        }
    }
    cycles.undo.clear();
    let mut solver = Solver::new(SolverOpts::default(), Budget::default());
    for pair in open {
        let place = |chain: u32| {
            let [head, _] = graph.choice_heads(chain);
            cycles.place.get(head as usize).copied().unwrap_or(0)
        };
        // The solver tries the negative literal of a variable first.
        let is_first = place(pair.0) < place(pair.1);
        let unlikely = if is_first { (pair.1, pair.0) } else { *pair };
        let var = solver.new_var_default();
        cycles.literals.insert(unlikely, Lit::new(var, true));
        cycles.pairs.push(unlikely);
    }
    match solver.solve_limited_th(&mut cycles, &[]) {
        answer if answer == lbool::TRUE && cycles.steps <= STEPS_AT_MOST => {
            SolverAnswer::Order(cycles.order())
        }
        answer if answer == lbool::FALSE && cycles.steps <= STEPS_AT_MOST => {
            SolverAnswer::None(cycles.conflicts)
        }
        _ => SolverAnswer::GaveUp,
    }
}

/// How a search follows edges.
#[derive(Clone, Copy)]
enum Way {
    Along,
    Against,
}

/// The graph with the choices that are made, and an order of its nodes.
struct Cycles<'a> {
    graph: &'a Polygraph,
    place: Vec<u32>,
    outs: Vec<Vec<(u32, PolygraphReason)>>,
    ins: Vec<Vec<(u32, PolygraphReason)>>,
    /// Tails of edges, in the order in which they came.
    undo: Vec<(u32, u32)>,
    /// By level, the edges and the literals that were there before it.
    levels: Vec<(usize, usize)>,
    done: usize,
    /// By variable.
    pairs: Vec<Pair>,
    literals: HashMap<Pair, Lit>,
    conflicts: Vec<Vec<Pair>>,
    reached: HashMap<u32, (u32, PolygraphReason)>,
    steps: u64,
}

impl<'a> Cycles<'a> {
    fn new(graph: &'a Polygraph, line: &[u32]) -> Cycles<'a> {
        let mut place = vec![0; graph.nodes as usize];
        for (at, node) in (0..).zip(line) {
            place[*node as usize] = at;
        }
        Cycles {
            graph,
            place,
            outs: vec![Vec::new(); graph.nodes as usize],
            ins: vec![Vec::new(); graph.nodes as usize],
            undo: Vec::new(),
            levels: Vec::new(),
            done: 0,
            pairs: Vec::new(),
            literals: HashMap::new(),
            conflicts: Vec::new(),
            reached: HashMap::new(),
            steps: 0,
        }
    }

    fn order(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.graph.nodes).collect();
        order.sort_unstable_by_key(|node| self.place[*node as usize]);
        order
    }

    /// Adds an edge, and moves nodes so that it runs forward.
    ///
    /// # Errors
    /// The pairs of a cycle that it closes.
    fn insert(&mut self, from: u32, to: u32, why: PolygraphReason) -> Result<(), Vec<Pair>> {
        if from == to {
            return Err(self.cycle(from, to, why));
        }
        let (low, high) = (self.place[to as usize], self.place[from as usize]);
        if high > low {
            let behind = self.reach(to, Way::Along, high, from);
            if self.reached.contains_key(&from) {
                return Err(self.cycle(from, to, why));
            }
            let before = self.reach(from, Way::Against, low, UNKNOWN);
            self.reorder(before, behind);
        }
        self.outs[from as usize].push((to, why));
        self.ins[to as usize].push((from, why));
        self.undo.push((from, to));
        Ok(())
    }

    /// All that are met from a node on, along edges or against them, no further than a place; the
    /// search ends where the wanted node is met.
    fn reach(&mut self, from: u32, way: Way, limit: u32, wanted: u32) -> Vec<u32> {
        let next = match way {
            Way::Along => &self.outs,
            Way::Against => &self.ins,
        };
        let is_within = |node: u32| match way {
            Way::Along => self.place[node as usize] <= limit,
            Way::Against => self.place[node as usize] >= limit,
        };
        self.reached.clear();
        self.reached.insert(from, (UNKNOWN, PolygraphReason::Known));
        let mut queue = vec![from];
        let mut done = 0;
        while let Some(&node) = queue.get(done) {
            done += 1;
            for &(other, why) in &next[node as usize] {
                self.steps += 1;
                if is_within(other) && !self.reached.contains_key(&other) {
                    self.reached.insert(other, (node, why));
                    if other == wanted {
                        return queue;
                    }
                    queue.push(other);
                }
            }
        }
        queue
    }

    /// Gives the places of both to those before, and then to those behind.
    fn reorder(&mut self, mut before: Vec<u32>, mut behind: Vec<u32>) {
        before.sort_unstable_by_key(|node| self.place[*node as usize]);
        behind.sort_unstable_by_key(|node| self.place[*node as usize]);
        let all: Vec<u32> = before.into_iter().chain(behind).collect();
        let mut places: Vec<u32> = all.iter().map(|node| self.place[*node as usize]).collect();
        places.sort_unstable();
        for (node, place) in all.iter().zip(places) {
            self.place[*node as usize] = place;
        }
    }

    /// The pairs on the way that was just found back to the tail of an edge.
    fn cycle(&self, from: u32, to: u32, why: PolygraphReason) -> Vec<Pair> {
        let mut pairs = Vec::new();
        let mut note = |why: PolygraphReason| {
            if let PolygraphReason::Pair(pair) = why {
                pairs.push(pair);
            }
        };
        note(why);
        let mut at = from;
        while at != to {
            let (before, why) = self.reached[&at];
            note(why);
            at = before;
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    fn literal(&self, pair: Pair) -> Option<Lit> {
        self.literals
            .get(&pair)
            .copied()
            .or_else(|| self.literals.get(&(pair.1, pair.0)).map(|literal| !*literal))
    }

    fn take_up(&mut self, acts: &mut TheoryArg<'_>) {
        while let Some(&literal) = acts.model().get(self.done) {
            self.done += 1;
            let Some(&(one, two)) = self.pairs.get(literal.var().idx() as usize) else { continue };
            let (first, second) = if literal.sign() { (one, two) } else { (two, one) };
            let edges: Vec<Edge> = self.graph.choice_edges(first, second).collect();
            for (from, to, why) in edges {
                if let Err(pairs) = self.insert(from, to, why) {
                    let clause: Vec<Lit> =
                        pairs.iter().filter_map(|pair| self.literal(*pair)).map(|l| !l).collect();
                    self.conflicts.push(pairs);
                    acts.raise_conflict(&clause, false);
                    return;
                }
            }
        }
    }
}

impl Theory for Cycles<'_> {
    fn final_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.take_up(acts);
    }

    fn partial_check(&mut self, acts: &mut TheoryArg<'_>) {
        self.take_up(acts);
    }

    fn create_level(&mut self) {
        self.levels.push((self.undo.len(), self.done));
    }

    fn pop_levels(&mut self, count: usize) {
        let Some(left) = self.levels.len().checked_sub(count) else { return };
        let Some(&(edges, done)) = self.levels.get(left) else { return };
        for (from, to) in self.undo.drain(edges..).rev() {
            self.outs[from as usize].pop();
            self.ins[to as usize].pop();
        }
        self.levels.truncate(left);
        self.done = done;
    }

    fn n_levels(&self) -> usize {
        self.levels.len()
    }

    fn explain_propagation(&mut self, _: Lit) -> &[Lit] {
        unreachable!("nothing is propagated")
    }
}
