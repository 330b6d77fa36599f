//! Choices that only one way is left for, because the other one would close a cycle.
//!
//! ```text
//!   9's writer ──▶ … ──▶ U, which read 7     "7 before 9" needs U before 9's writer: a cycle,
//!                                            so 9 comes before 7, and its edges are there
//! ```
//!
//! What is reached from where is worked out for all tails of choices at once, by bits in blocks of
//! columns, against the order of the graph; what is forced is added, and the same is done again
//! until nothing more is forced. That is what Cobra prunes by (Tan et al., OSDI 2020). In most
//! histories little is left.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::history::UNKNOWN;
use crate::polygraph::{Edge, Outs, Pair, Polygraph, PolygraphReason};

/// Columns that are looked at in one pass at most, in words of 64 bits.
const WORDS_AT_MOST: usize = 64;
/// Words of all nodes together in one pass at most: 256 MiB.
const ROWS_AT_MOST: usize = 1 << 25;

/// What pruning came to.
pub(crate) struct Pruning {
    pub forced: ForcedChoices,
    /// Those of them whose edges are needed; the others follow.
    pub edges: Vec<Edge>,
    /// All nodes, in an order that known and forced edges agree with.
    pub line: Vec<u32>,
    /// Choices that are open, the smaller chain first.
    pub open: Vec<Pair>,
    /// Pairs of which neither order is possible.
    pub contradictions: Vec<Pair>,
}

/// Choices that are forced, and in which round: a later one may rest on an earlier one.
pub(crate) struct ForcedChoices {
    /// By chain, the first one of its key, how many there are, and where their rounds begin.
    keys: Vec<(u32, u32, usize)>,
    /// By chain and chain of one key, one more than the round; 0 where nothing is forced.
    rounds: Vec<u8>,
    count: usize,
}

impl ForcedChoices {
    fn of(graph: &Polygraph) -> ForcedChoices {
        let mut forced = ForcedChoices { keys: Vec::new(), rounds: Vec::new(), count: 0 };
        let mut begin = 0;
        for group in &graph.groups {
            let count = group.len();
            forced.keys.extend(group.clone().map(|_| (group.start, count as u32, begin)));
            begin += count * count;
        }
        forced.rounds = vec![0; begin];
        forced
    }

    fn place(&self, one: u32, two: u32) -> Option<usize> {
        let &(first, count, begin) = self.keys.get(one as usize)?;
        let (row, column) = ((one - first) as usize, (two - first) as usize);
        Some(begin + row * count as usize + column)
    }

    /// The round in which a choice was forced.
    pub(crate) fn round(&self, pair: Pair) -> Option<u32> {
        let round = *self.rounds.get(self.place(pair.0, pair.1)?)?;
        (round > 0).then(|| u32::from(round) - 1)
    }

    fn add(&mut self, pair: Pair, round: u8) {
        if let Some(at) = self.place(pair.0, pair.1).filter(|at| self.rounds[*at] == 0) {
            self.rounds[at] = round + 1;
            self.count += 1;
        }
    }

    /// The chains that one comes before, by their places among those of the key.
    fn row(&self, chain: u32) -> &[u8] {
        let (first, count, begin) = self.keys[chain as usize];
        let count = count as usize;
        &self.rounds[begin + (chain - first) as usize * count..][..count]
    }
}

/// Open choices that are few enough for the solver: another round would cost more.
const OPEN_ENOUGH: usize = 30_000;
/// Rounds at most; what is left then is open.
const ROUNDS_AT_MOST: u8 = 250;

/// Which of two chains can come first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Possible {
    Both,
    First,
    Second,
    Neither,
}

pub(crate) fn prune_choices(graph: &Polygraph) -> Pruning {
    let mut pruned = Pruning {
        forced: ForcedChoices::of(graph),
        edges: Vec::new(),
        line: Vec::new(),
        open: Vec::new(),
        contradictions: Vec::new(),
    };
    for round in 1.. {
        let all: Vec<Edge> = graph.known.iter().chain(&pruned.edges).copied().collect();
        let outs = Outs::from_edges(graph.nodes, &all);
        pruned.line = outs.in_order();
        if pruned.line.len() < graph.nodes as usize {
            pruned.contradictions = cyclic(graph, &outs, &pruned.line);
            break;
        }
        let is_new = round == 1 || pruned.open.len() > OPEN_ENOUGH;
        if !is_new || round == ROUNDS_AT_MOST {
            break;
        }
        let before = pruned.forced.count;
        pruned.open.clear();
        look(graph, &outs, &pruned.line, &mut |pair, possible| match possible {
            Possible::Both => pruned.open.push(pair),
            Possible::First => pruned.forced.add(pair, round),
            Possible::Second => pruned.forced.add((pair.1, pair.0), round),
            Possible::Neither => pruned.contradictions.push(pair),
        });
        if !pruned.contradictions.is_empty() || pruned.forced.count == before {
            break;
        }
        pruned.edges = reduced(graph, &pruned.forced);
    }
    pruned
}

/// Pairs whose forced edges lie on cycles.
fn cyclic(graph: &Polygraph, outs: &Outs, order: &[u32]) -> Vec<Pair> {
    let done: HashSet<u32> = order.iter().copied().collect();
    let nodes = 0..outs.nodes();
    let rest = nodes.filter(|node| !done.contains(node));
    let edges = rest.flat_map(|node| outs.of_node(node));
    let pairs = edges.filter_map(|(head, why)| match why {
        PolygraphReason::Pair(pair) if !done.contains(head) && !graph.is_certain(*pair) => {
            Some(*pair)
        }
        _ => None,
    });
    pairs.take(1).collect()
}

/// Tells of every pair of chains of a key what is possible.
fn look(graph: &Polygraph, outs: &Outs, order: &[u32], tell: &mut impl FnMut(Pair, Possible)) {
    let words = (ROWS_AT_MOST / (graph.nodes as usize + 1)).clamp(1, WORDS_AT_MOST);
    let mut from = 0;
    while from < graph.groups.len() {
        // As many keys as their chains have columns for; of a key with more, some chains.
        let mut to = from;
        let mut count = 0;
        while let Some(group) = graph.groups.get(to)
            && (to == from || count + 2 * group.len() <= 64 * words)
        {
            count += 2 * group.len();
            to += 1;
        }
        let groups = &graph.groups[from..to];
        let all: Vec<u32> = groups.iter().cloned().flatten().collect();
        let parts: Vec<&[u32]> = all.chunks(32 * words).collect();
        match parts[..] {
            [only] => {
                let reach = Reach::of(graph, outs, order, only);
                for group in groups {
                    for_pairs(group, &mut |(one, two)| {
                        let is_second = reach.closes(graph, one, two, (one - only[0]) as usize);
                        let is_first = reach.closes(graph, two, one, (two - only[0]) as usize);
                        tell((one, two), possible(is_second, is_first));
                    });
                }
            }
            _ => large(graph, outs, order, &graph.groups[from], words, tell),
        }
        from = to;
    }
}

fn for_pairs(group: &std::ops::Range<u32>, give: &mut impl FnMut(Pair)) {
    for one in group.clone() {
        for two in one + 1..group.end {
            give((one, two));
        }
    }
}

fn possible(is_first_refuted: bool, is_second_refuted: bool) -> Possible {
    match (is_first_refuted, is_second_refuted) {
        (false, false) => Possible::Both,
        (false, true) => Possible::First,
        (true, false) => Possible::Second,
        (true, true) => Possible::Neither,
    }
}

/// A key with more chains than there are columns: part after part.
fn large(
    graph: &Polygraph,
    outs: &Outs,
    order: &[u32],
    group: &std::ops::Range<u32>,
    words: usize,
    tell: &mut impl FnMut(Pair, Possible),
) {
    let count = group.len();
    let mut is_refuted = vec![false; count * count];
    let all: Vec<u32> = group.clone().collect();
    for part in all.chunks(32 * words) {
        let reach = Reach::of(graph, outs, order, part);
        for (column, &one) in part.iter().enumerate() {
            for two in group.clone().filter(|two| *two != one) {
                let at = (one - group.start) as usize * count + (two - group.start) as usize;
                is_refuted[at] = reach.closes(graph, one, two, column);
            }
        }
    }
    for_pairs(group, &mut |(one, two)| {
        let at = |one: u32, two: u32| {
            is_refuted[(one - group.start) as usize * count + (two - group.start) as usize]
        };
        tell((one, two), possible(at(one, two), at(two, one)));
    });
}

/// The nodes that reach the tails of some chains: by node, two bits for each of them.
struct Reach {
    rows: Vec<u64>,
    words: usize,
}

impl Reach {
    fn of(graph: &Polygraph, outs: &Outs, order: &[u32], chains: &[u32]) -> Reach {
        let words = (2 * chains.len()).div_ceil(64).max(1);
        let mut rows = vec![0_u64; graph.nodes as usize * words];
        for (column, &chain) in chains.iter().enumerate() {
            for (side, tail) in graph.choice_tails(chain).into_iter().enumerate() {
                let bit = 2 * column + side;
                if tail != UNKNOWN {
                    rows[tail as usize * words + bit / 64] |= 1 << (bit % 64);
                }
            }
        }
        for &node in order.iter().rev() {
            for &(head, _) in outs.of_node(node) {
                let (node, head) = (node as usize * words, head as usize * words);
                for word in 0..words {
                    rows[node + word] |= rows[head + word];
                }
            }
        }
        Reach { rows, words }
    }

    /// Whether the first chain of a pair, which has that column, cannot come first.
    fn closes(&self, graph: &Polygraph, first: u32, second: u32, column: usize) -> bool {
        let tails = graph.choice_tails(first);
        graph.choice_heads(second).into_iter().enumerate().any(|(side, head)| {
            let bit = 2 * column + side;
            head != UNKNOWN
                && tails[side] != UNKNOWN
                && self.rows[head as usize * self.words + bit / 64] & (1 << (bit % 64)) != 0
        })
    }
}

/// The edges of forced pairs, without those that follow from two others.
fn reduced(graph: &Polygraph, forced: &ForcedChoices) -> Vec<Edge> {
    let mut all = Vec::new();
    for group in &graph.groups {
        let ranks: Vec<usize> = group
            .clone()
            .map(|chain| forced.row(chain).iter().filter(|round| **round > 0).count())
            .collect();
        for one in group.clone() {
            // The chain before most others comes first, where what is forced is an order.
            let own = forced.row(one).iter().enumerate().filter(|(_, round)| **round > 0);
            let mut own: Vec<usize> = own.map(|(at, _)| at).collect();
            own.sort_unstable_by_key(|at| (std::cmp::Reverse(ranks[*at]), *at));
            let mut is_covered = vec![false; group.len()];
            for at in own {
                if is_covered[at] {
                    continue;
                }
                let two = group.start + at as u32;
                all.extend(graph.choice_edges(one, two));
                for (is_covered, round) in is_covered.iter_mut().zip(forced.row(two)) {
                    *is_covered |= *round > 0;
                }
            }
        }
    }
    all
}

/// The pairs that close a cycle together with a choice, as few as a search finds: it rests on what
/// was forced before the round.
pub(crate) fn resting_on(
    graph: &Polygraph,
    forced: &ForcedChoices,
    choice: Pair,
    round: u32,
) -> Option<Vec<Pair>> {
    let mut all: Vec<Edge> = graph.known.clone();
    for one in graph.groups.iter().cloned().flatten() {
        let first = forced.keys[one as usize].0;
        let earlier = |own: &u8| *own > 0 && u32::from(*own) <= round;
        let own = (first..).zip(forced.row(one)).filter(|(_, own)| earlier(own));
        all.extend(own.flat_map(|(two, _)| graph.choice_edges(one, two)));
    }
    let outs = Outs::from_edges(graph.nodes, &all);
    let ways = graph
        .choice_edges(choice.0, choice.1)
        .filter_map(|(from, to, _)| cheapest(graph, &outs, to, from));
    ways.min_by_key(Vec::len).map(|mut pairs| {
        pairs.push(choice);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    })
}

/// The pairs on a way between two nodes, as few as there are.
fn cheapest(graph: &Polygraph, outs: &Outs, from: u32, to: u32) -> Option<Vec<Pair>> {
    let mut reached: HashMap<u32, (u32, u32, PolygraphReason)> =
        HashMap::from([(from, (0, from, PolygraphReason::Known))]);
    let mut queue = VecDeque::from([(from, 0)]);
    while let Some((node, cost)) = queue.pop_front() {
        if node == to {
            break;
        }
        if reached[&node].0 < cost {
            continue;
        }
        for &(head, why) in outs.of_node(node) {
            let is_free = match why {
                PolygraphReason::Known => true,
                PolygraphReason::Pair(pair) => graph.is_certain(pair),
            };
            let next = cost + u32::from(!is_free);
            if reached.get(&head).is_none_or(|(known, ..)| next < *known) {
                reached.insert(head, (next, node, why));
                if next == cost {
                    queue.push_front((head, next))
                } else {
                    queue.push_back((head, next))
                }
            }
        }
    }
    reached.get(&to)?;
    let mut pairs = Vec::new();
    let mut at = to;
    while at != from {
        let (_, before, why) = reached[&at];
        if let PolygraphReason::Pair(pair) = why {
            pairs.push(pair);
        }
        at = before;
    }
    Some(pairs)
}
