//! Random histories of locks against a list of all that was asked for.
//!
//! No thread sleeps here: one that has to wait is put into the queue and left there. The oracle
//! knows no bits, no shards and no shortcuts; it looks at everything each time.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

const TRXS: usize = 6;
const PLACES: [Place<'static>; 4] =
    [Place::Key(b"a"), Place::Key(b"b"), Place::Key(b""), Place::Supremum];

#[derive(Clone, Copy, Debug)]
enum Step {
    Ask(usize, usize, LockKind, Mode),
    Unlock(usize, usize, LockKind, Mode),
    Inherit(usize, usize),
    GiveUp(usize),
    Release(usize),
    Weigh(usize, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind = || {
        let kinds = [LockKind::Record, LockKind::Gap, LockKind::NextKey, LockKind::InsertIntention];
        prop::sample::select(kinds.to_vec())
    };
    let mode = || prop::sample::select(vec![Mode::Shared, Mode::Exclusive]);
    let row = move || (0..TRXS, 0..PLACES.len(), kind(), mode());
    let step = prop_oneof![
        12 => row().prop_map(|(trx, place, kind, mode)| Step::Ask(trx, place, kind, mode)),
        1 => row().prop_map(|(trx, place, kind, mode)| Step::Unlock(trx, place, kind, mode)),
        1 => (0..PLACES.len(), 0..PLACES.len()).prop_map(|(from, to)| Step::Inherit(from, to)),
        1 => (0..TRXS).prop_map(Step::GiveUp),
        2 => (0..TRXS).prop_map(Step::Release),
        2 => (0..TRXS, 0_u64..4).prop_map(|(trx, weight)| Step::Weigh(trx, weight)),
    ];
    prop::collection::vec(step, 1..120)
}

/// What one holds of one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Parts {
    shared: bool,
    exclusive: bool,
    gap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Request {
    trx: usize,
    place: usize,
    kind: LockKind,
    mode: Mode,
    first: bool,
}

#[derive(Clone, Debug)]
struct Oracle {
    cats: bool,
    held: BTreeMap<(usize, usize), Parts>,
    /// Of all places, in the order in which they stand.
    requests: Vec<Request>,
    weights: [u64; TRXS],
}

fn asks_record(kind: LockKind, place: usize) -> bool {
    matches!(kind, LockKind::Record | LockKind::NextKey) && PLACES[place] != Place::Supremum
}

impl Oracle {
    fn parts(&self, trx: usize, place: usize) -> Parts {
        self.held.get(&(trx, place)).copied().unwrap_or_default()
    }

    fn excluded_by(&self, request: &Request) -> Vec<usize> {
        let excludes = |other: &usize| {
            let parts = self.parts(*other, request.place);
            let record = match request.mode {
                Mode::Shared => parts.exclusive,
                Mode::Exclusive => parts.shared || parts.exclusive,
            };
            let into_gap = request.kind == LockKind::InsertIntention && parts.gap;
            *other != request.trx
                && (into_gap || (asks_record(request.kind, request.place) && record))
        };
        (0..TRXS).filter(excludes).collect()
    }

    /// Those that stand before a request and want what excludes it.
    fn stands_behind(&self, request: &Request, before: &[Request]) -> Vec<usize> {
        let records = |request: &Request| asks_record(request.kind, request.place);
        let excludes = |ahead: &&Request| {
            let both = records(request) && records(ahead) && ahead.place == request.place;
            both && (request.mode, ahead.mode) != (Mode::Shared, Mode::Shared)
        };
        match request.first {
            true => Vec::new(),
            false => before.iter().filter(excludes).map(|ahead| ahead.trx).collect(),
        }
    }

    fn ask(&mut self, trx: usize, place: usize, kind: LockKind, mode: Mode) -> QueueAnswer {
        let parts = self.parts(trx, place);
        let gap = matches!(kind, LockKind::Gap | LockKind::NextKey);
        let record = asks_record(kind, place);
        let has_record = parts.exclusive || (parts.shared && mode == Mode::Shared);
        if kind != LockKind::InsertIntention && (!gap || parts.gap) && (!record || has_record) {
            return QueueAnswer::Before;
        }
        let first = parts.shared || parts.exclusive;
        let request = Request { trx, place, kind, mode, first };
        let waits = !self.excluded_by(&request).is_empty()
            || !self.stands_behind(&request, &self.requests).is_empty();
        if !waits {
            self.give(&request);
            return QueueAnswer::Granted;
        }
        let firsts = self.requests.iter().filter(|other| other.first).count();
        let index = if first { firsts } else { self.requests.len() };
        self.requests.insert(index, request);
        self.weights[trx] = 1;
        QueueAnswer::Conflict
    }

    fn give(&mut self, request: &Request) {
        if request.kind == LockKind::InsertIntention {
            return;
        }
        let parts = self.held.entry((request.trx, request.place)).or_default();
        parts.gap |= request.kind != LockKind::Record;
        if asks_record(request.kind, request.place) {
            parts.shared |= request.mode == Mode::Shared;
            parts.exclusive |= request.mode == Mode::Exclusive;
        }
    }

    /// Grants what can be granted, one after another.
    fn settle(&mut self, place: usize) {
        let (cats, weights) = (self.cats, self.weights);
        let weight = |request: &Request| if cats { weights[request.trx].max(1) } else { 1 };
        let at_place =
            (0..self.requests.len()).filter(|index| self.requests[*index].place == place);
        let mut order: Vec<usize> = at_place.collect();
        order.sort_by_key(|index| std::cmp::Reverse(weight(&self.requests[*index])));
        let requests = self.requests.clone();
        for index in order {
            let request = requests[index];
            let stays = |ahead: &&Request| {
                self.requests.contains(ahead) && weight(ahead) >= weight(&request)
            };
            let before: Vec<Request> = requests[..index].iter().filter(stays).copied().collect();
            if self.excluded_by(&request).is_empty()
                && self.stands_behind(&request, &before).is_empty()
            {
                self.give(&request);
                self.requests.retain(|other| *other != request);
            }
        }
    }

    fn waits(&self, trx: usize) -> Option<Request> {
        self.requests.iter().find(|request| request.trx == trx).copied()
    }

    fn stop_waiting(&mut self, trx: usize) {
        let place = self.waits(trx).map(|request| request.place);
        self.requests.retain(|request| request.trx != trx);
        place.into_iter().for_each(|place| self.settle(place));
    }

    fn edges(&self, trx: usize) -> Vec<usize> {
        let Some(place) = self.requests.iter().position(|request| request.trx == trx) else {
            return Vec::new();
        };
        let request = self.requests[place];
        let mut edges = self.excluded_by(&request);
        edges.extend(self.stands_behind(&request, &self.requests[..place]));
        edges
    }

    /// Whether one waits for itself.
    fn is_deadlocked(&self, trx: usize) -> bool {
        let mut reached = [false; TRXS];
        let mut next = self.edges(trx);
        while let Some(other) = next.pop() {
            if !std::mem::replace(&mut reached[other], true) {
                next.extend(self.edges(other));
            }
        }
        reached[trx]
    }
}

struct Pair {
    locks: Arc<LockSys>,
    trxs: Vec<Arc<LockTrx>>,
    oracle: Oracle,
    /// The weight of all, if it is one.
    equal: Option<u64>,
}

impl Pair {
    fn new(options: &str, cats: bool) -> Pair {
        let (locks, _) = table(options, LONG);
        let trxs = (0..TRXS).map(|_| locks.begin_transaction()).collect();
        let oracle =
            Oracle { cats, held: BTreeMap::new(), requests: Vec::new(), weights: [1; TRXS] };
        Pair { locks, trxs, oracle, equal: None }
    }

    fn weigh_equally(&self) {
        if let Some(equal) = self.equal {
            self.trxs.iter().for_each(|trx| trx.weight.store(equal, Ordering::Relaxed));
        }
    }

    fn step(&mut self, step: Step) {
        let running = |pair: &Pair, trx: usize| pair.oracle.waits(trx).is_none();
        match step {
            Step::Ask(trx, place, kind, mode) if running(self, trx) => {
                self.ask(trx, place, kind, mode);
            }
            Step::Unlock(trx, place, kind, mode) if running(self, trx) => {
                self.unlock(trx, place, kind, mode);
            }
            Step::Inherit(from, to) => self.inherit(from, to),
            Step::GiveUp(trx) => self.give_up(trx),
            Step::Release(trx) if running(self, trx) => {
                self.locks.release_all(&self.trxs[trx]);
                for place in 0..PLACES.len() {
                    if self.oracle.held.remove(&(trx, place)).is_some() {
                        self.oracle.settle(place);
                    }
                }
            }
            Step::Weigh(trx, weight) => {
                self.trxs[trx].weight.store(weight, Ordering::Relaxed);
                self.oracle.weights[trx] = weight;
            }
            Step::Ask(..) | Step::Unlock(..) | Step::Release(..) => {}
        }
    }

    fn ask(&mut self, trx: usize, place: usize, kind: LockKind, mode: Mode) {
        let kind = match kind {
            LockKind::Record if PLACES[place] == Place::Supremum => LockKind::NextKey,
            kind => kind,
        };
        let spot = Spot::of_row(INDEX, PLACES[place]);
        let claim = Claim::of_row(PLACES[place], kind, mode);
        let (hash, number) = self.locks.part(spot);
        let mut shard = self.locks.latch(number);
        let (met, at) = shard.request_claim(&self.trxs[trx], spot, hash, claim, number);
        assert_eq!(met, self.oracle.ask(trx, place, kind, mode));
        if met != QueueAnswer::Conflict {
            return;
        }
        let queue = shard.queue(at.slot);
        let round = self.locks.waits.fetch_add(1, Ordering::Relaxed);
        let stands = queue.enqueue_claim(&self.trxs[trx], claim, at, round);
        // One that begins to wait weighs 1, and may end the wait of others before the next step.
        self.weigh_equally();
        let suspect = queue.is_blocked_by_one_that_waits(stands);
        drop(shard);
        assert!(suspect || !self.oracle.is_deadlocked(trx), "a deadlock is not sought");
        self.resolve(&[trx]);
    }

    fn unlock(&mut self, trx: usize, place: usize, kind: LockKind, mode: Mode) {
        if kind == LockKind::Record && PLACES[place] == Place::Supremum {
            return;
        }
        self.locks.unlock(&self.trxs[trx], INDEX, PLACES[place], kind, mode);
        let mut parts = self.oracle.parts(trx, place);
        match mode {
            _ if !asks_record(kind, place) => {}
            Mode::Shared => parts.shared = false,
            Mode::Exclusive => parts.exclusive = false,
        }
        parts.gap &= !matches!(kind, LockKind::Gap | LockKind::NextKey);
        self.oracle.held.insert((trx, place), parts);
        self.oracle.held.retain(|_, parts| *parts != Parts::default());
        self.oracle.settle(place);
    }

    fn inherit(&mut self, from: usize, to: usize) {
        self.locks.inherit_gap(INDEX, PLACES[from], PLACES[to]);
        for trx in 0..TRXS {
            if self.oracle.parts(trx, from).gap {
                self.oracle.held.entry((trx, to)).or_default().gap = true;
            }
        }
        self.forget_victims();
    }

    fn give_up(&mut self, trx: usize) {
        let State::Waiting(at) = self.trxs[trx].wait().state else {
            return;
        };
        assert!(self.locks.dismiss(&self.trxs[trx], at, State::Running, &mut Vec::new()));
        self.oracle.stop_waiting(trx);
    }

    fn resolve(&mut self, roots: &[usize]) {
        for &root in roots {
            let deadlocked = self.oracle.is_deadlocked(root);
            let before = self.locks.meter.current_counts().count_of(Counter::Deadlocks);
            self.locks.resolve_deadlocks(&self.trxs[root]);
            let found = self.locks.meter.current_counts().count_of(Counter::Deadlocks) - before;
            assert_eq!(found > 0, deadlocked, "{:?}", self.oracle);
        }
        self.forget_victims();
    }

    /// What was found to be a deadlock was one, and is none any more. Of several victims the next
    /// is one without which the others still wait for themselves, or they would not be victims.
    fn forget_victims(&mut self) {
        let victim = |trx: &usize| self.trxs[*trx].wait().state == State::Victim;
        let mut victims: Vec<usize> = (0..TRXS).filter(victim).collect();
        while !victims.is_empty() {
            let without = |place: &usize| {
                let (mut rest, mut oracle) = (victims.clone(), self.oracle.clone());
                let victim = rest.remove(*place);
                let was_one = oracle.is_deadlocked(victim);
                oracle.stop_waiting(victim);
                was_one && rest.iter().all(|&other| oracle.is_deadlocked(other))
            };
            let next = (0..victims.len()).find(without);
            let next = next.unwrap_or_else(|| panic!("{victims:?}: {:?}", self.oracle));
            let victim = victims.remove(next);
            self.oracle.stop_waiting(victim);
            self.trxs[victim].resume();
        }
        assert!((0..TRXS).all(|trx| !self.oracle.is_deadlocked(trx)), "{:?}", self.oracle);
    }

    fn compare(&self) {
        let mut held = BTreeMap::new();
        let shards = self.locks.latch_all();
        for (trx, locker) in self.trxs.iter().enumerate() {
            let state = locker.wait().state;
            assert_eq!(matches!(state, State::Waiting(_)), self.oracle.waits(trx).is_some());
            if state == State::Granted {
                locker.resume();
            }
            for at in locker.held_places().iter() {
                let (spot, queue) = shards[at.shard as usize].spot_and_queue(at.slot);
                let place =
                    PLACES.iter().position(|place| Spot::of_row(INDEX, *place) == spot).unwrap();
                let mut grants =
                    queue.granted_claims().iter().filter(|grant| grant.trx.is_same(locker));
                let words = grants.next().unwrap().claim.in_words();
                assert!(grants.next().is_none(), "one grant for each transaction and place");
                let parts = Parts {
                    shared: words.contains("record S"),
                    exclusive: words.contains("record X"),
                    gap: words.contains("gap"),
                };
                assert!(held.insert((trx, place), parts).is_none(), "held twice");
            }
        }
        assert_eq!(held, self.oracle.held);
        let places: usize = shards.iter().map(|shard| shard.places()).sum();
        let mut named: Vec<usize> = held.keys().map(|(_, place)| *place).collect();
        named.extend(self.oracle.requests.iter().map(|request| request.place));
        named.sort_unstable();
        named.dedup();
        assert_eq!(places, named.len(), "no queue is kept of which nobody is");
    }

    /// No two hold what excludes each other.
    fn is_exclusive(&self) {
        for (&(trx, place), parts) in &self.oracle.held {
            let others = self
                .oracle
                .held
                .iter()
                .filter(|((other, at), _)| (*at, *other != trx) == (place, true));
            for (_, other) in others {
                assert!(!parts.exclusive || !(other.exclusive || other.shared));
            }
        }
    }
}

fn follow(steps: &[Step], options: &str, cats: bool) {
    let mut pair = Pair::new(options, cats);
    for step in steps {
        pair.step(*step);
        pair.compare();
        pair.is_exclusive();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(800))]

    #[test]
    fn queues_do_what_a_list_of_all_requests_would(steps in steps()) {
        follow(&steps, "schedule=fifo&lock_shards=1", false);
        follow(&steps, "schedule=fifo&lock_shards=3", false);
        follow(&steps, "schedule=cats&lock_shards=3", true);
    }

    #[test]
    fn with_equal_weights_cats_is_fifo(steps in steps(), equal in 0_u64..4) {
        let mut steps = steps;
        steps.retain(|step| !matches!(step, Step::Weigh(..)));
        cats_is_fifo(&steps, equal);
    }
}

fn cats_is_fifo(steps: &[Step], equal: u64) {
    let mut pair = Pair { equal: Some(equal), ..Pair::new("schedule=cats&lock_shards=3", false) };
    for step in steps {
        pair.weigh_equally();
        pair.step(*step);
        pair.compare();
    }
}

/// The last step closes two rings that share a transaction, and both victims wait for one place:
/// which of them gives way first decides whether a third is served in between.
#[test]
fn victims_give_way_in_an_order_that_makes_them_victims() {
    use LockKind::{Gap, InsertIntention, NextKey, Record};
    use Mode::{Exclusive as X, Shared as S};
    let asks = [
        (5, 3, NextKey, S),
        (0, 2, Record, S),
        (4, 3, NextKey, S),
        (3, 1, Gap, S),
        (0, 0, Record, S),
        (3, 2, Record, X),
        (4, 2, NextKey, S),
        (5, 0, Gap, S),
        (5, 1, InsertIntention, S),
        (0, 3, InsertIntention, S),
    ];
    let steps = asks.map(|(trx, place, kind, mode)| Step::Ask(trx, place, kind, mode));
    follow(&steps, "schedule=fifo&lock_shards=1", false);
    cats_is_fifo(&steps, 0);
}

/// The last one asks for more than it has, goes to the head of the queue, and waits for itself; the
/// victim's place is given away in the same step.
#[test]
fn weights_are_equal_while_a_deadlock_is_resolved() {
    use LockKind::{NextKey, Record};
    use Mode::{Exclusive as X, Shared as S};
    let asks = [
        (5, 1, Record, S),
        (2, 1, Record, S),
        (2, 1, NextKey, X),
        (5, 0, Record, S),
        (3, 1, NextKey, S),
        (5, 1, Record, X),
    ];
    cats_is_fifo(&asks.map(|(trx, place, kind, mode)| Step::Ask(trx, place, kind, mode)), 2);
}

#[test]
fn tables_exclude_each_other_as_in_the_manual() {
    use TableMode::{Exclusive as X, IntentExclusive as Ix, IntentShared as Is, Shared as S};
    // MySQL 8.0 reference manual, § 17.7.1: X, IX, S, IS against the same.
    let manual = [
        (X, [false, false, false, false]),
        (Ix, [false, true, false, true]),
        (S, [false, false, true, true]),
        (Is, [false, true, true, true]),
    ];
    for (asked, goes) in manual {
        for (held, goes) in [X, Ix, S, Is].into_iter().zip(goes) {
            let (locks, _) = table("", Duration::ZERO);
            locks.lock_table(&locks.begin_transaction(), TableId(1), held).unwrap();
            let got = locks.lock_table(&locks.begin_transaction(), TableId(1), asked);
            assert_eq!(got.is_ok(), goes, "{asked:?} while {held:?} is held");
        }
    }
}
