//! The protocols of one server as one state machine, run by a row of [`crate::rules`].
//!
//! ```text
//!            first statement            lock is free
//!   idle ──────────────────▶ open ◀──────────────────── waits
//!                             │ │ └── lock is taken ──────▲ │
//!                     commit  │ └─── refused ──▶ rolled back ◀── victim of a deadlock
//!                             ▼
//!                         committed
//! ```
//!
//! Clients ask whatever they can: each transaction reads or writes any key, up to as many
//! operations as it has, and commits. Locks follow from what a transaction did: who read a key
//! holds a shared lock, who wrote it an exclusive one, until the end. Waiting requests stand in one
//! line; one that already holds a lock on the key may pass those that wait for it.
//! Granted requests go on with the step that freed the lock. A circle of waits is broken at once,
//! at the cost of any one of those in it: the only choice that clients do not make.
//!
//! Versions become visible with the commit, so that the order of commits is that of versions.

use std::fmt;

use dbdyno_cases::{Interleaving, InterleavingSize, KeyOperation};

use crate::explore::Protocol;
use crate::fact::{Facts, StateFact};
use crate::outcome::{
    Did, KeyVersion, MOST, Ops, ProtocolOutcome, ShortSequence, key_name, transaction_name,
};
use crate::rules::{Locks, Passes, Reads, Refuses, Rules, ViewMoment};

/// Whether transactions and keys have names before they are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Any transaction may begin next, any key may be met next.
    Given,
    /// Who begins first is T1, which key is met first is `a`: each state once up to symmetry.
    ByAppearance,
}

/// A protocol of one server, for so many transactions.
#[derive(Clone, Copy, Debug)]
pub struct Single {
    /// What it does.
    pub rules: Rules,
    /// Transactions, keys, operations of a transaction at most.
    pub shape: InterleavingSize,
    /// Symmetry.
    pub names: Names,
}

/// What may happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SingleAction {
    /// A client asks.
    Asks(u8, KeyOperation),
    /// A circle of waits is broken by rolling back this one.
    Victim(u8),
}

/// Where a transaction is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// It has asked nothing yet.
    #[default]
    Idle,
    /// It can ask.
    Open,
    /// It waits for a lock.
    Waits(KeyOperation),
    /// It has committed.
    Committed,
    /// It was rolled back.
    RolledBack,
}

/// No view has been settled.
const NO_VIEW: u8 = u8::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Running {
    phase: Phase,
    ops: Ops,
    /// How many commits it sees.
    view: u8,
}

/// All that there is to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SingleState {
    txns: [Running; MOST],
    /// Who has committed, in this order.
    committed: ShortSequence,
    /// Who waits, in this order.
    waiting: ShortSequence,
}

impl SingleState {
    /// Where a transaction is.
    #[must_use]
    pub(crate) fn phase_of(&self, who: usize) -> Phase {
        self.txns[who].phase
    }

    /// What it did.
    #[must_use]
    pub fn operations_of(&self, who: usize) -> Ops {
        self.txns[who].ops
    }

    /// Whether nobody waits and nobody was rolled back.
    #[must_use]
    pub(crate) fn is_smooth(&self) -> bool {
        self.waiting.is_empty() && !self.txns.iter().any(|one| one.phase == Phase::RolledBack)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Shared,
    Exclusive,
}

impl Protocol for Single {
    type State = SingleState;
    type Action = SingleAction;

    fn initial(&self) -> SingleState {
        let idle = Running { phase: Phase::Idle, ops: Ops::default(), view: NO_VIEW };
        SingleState {
            txns: [idle; MOST],
            committed: ShortSequence::default(),
            waiting: ShortSequence::default(),
        }
    }

    fn add_actions(&self, state: &SingleState, to: &mut Vec<SingleAction>) {
        let in_circle = self.in_circle(state);
        if in_circle != 0 {
            let members = (0..MOST).filter(|who| in_circle & (1 << who) != 0);
            to.extend(members.map(|who| SingleAction::Victim(who as u8)));
            return;
        }
        let keys = self.keys_to_meet(state);
        let mut others_idle = false;
        for who in 0..usize::from(self.shape.transactions) {
            let one = &state.txns[who];
            let is_idle = one.phase == Phase::Idle;
            let can = is_idle || one.phase == Phase::Open;
            if !can || (is_idle && others_idle && self.names == Names::ByAppearance) {
                continue;
            }
            others_idle |= is_idle;
            let asked = self.shape.asked_after(one.ops.len(), keys);
            to.extend(asked.map(|what| SingleAction::Asks(who as u8, what)));
        }
    }

    fn next_state(&self, state: &SingleState, action: SingleAction) -> SingleState {
        let mut next = *state;
        match action {
            SingleAction::Victim(who) => self.end(&mut next, usize::from(who), Phase::RolledBack),
            SingleAction::Asks(who, what) => self.ask(&mut next, usize::from(who), what),
        }
        next
    }
}

impl Single {
    /// Keys that may be asked for.
    fn keys_to_meet(&self, state: &SingleState) -> u8 {
        if self.names == Names::Given {
            return self.shape.keys;
        }
        let of = |did: Did| match did {
            Did::Read(key, _) | Did::Write(key) => key + 1,
            Did::Nothing => 0,
        };
        let known = state.txns.iter().map(|one| {
            let done = one.ops.iter().map(of).max().unwrap_or(0);
            done.max(wanted_key(one.phase))
        });
        (known.max().unwrap_or(0) + 1).min(self.shape.keys)
    }

    /// Whether anything depends on what a transaction sees of others from some time on.
    fn has_views(&self) -> bool {
        self.rules.reads == Reads::View || self.rules.refuses != Refuses::Nobody
    }

    fn ask(&self, state: &mut SingleState, who: usize, what: KeyOperation) {
        if state.txns[who].phase == Phase::Idle {
            state.txns[who].phase = Phase::Open;
            if self.rules.view == ViewMoment::FirstStatement && self.has_views() {
                state.txns[who].view = state.committed.len() as u8;
            }
        }
        match what {
            KeyOperation::Commit => self.commit(state, who),
            _ if self.blockers(state, who, what) != 0 => {
                state.txns[who].phase = Phase::Waits(what);
                state.waiting.push(who);
            }
            _ => self.carry_out(state, who, what),
        }
    }

    fn carry_out(&self, state: &mut SingleState, who: usize, what: KeyOperation) {
        match what {
            KeyOperation::Read(key) => {
                if state.txns[who].view == NO_VIEW && self.rules.reads == Reads::View {
                    state.txns[who].view = state.committed.len() as u8;
                }
                let seen = self.seen(state, who, key);
                state.txns[who].ops.push(Did::Read(key, seen));
            }
            KeyOperation::Write(key) => {
                let is_late = self.rules.refuses == Refuses::LateWrites
                    && self.has_newer(state, who, |ops| ops.last_write(key).is_some());
                match is_late {
                    true => self.end(state, who, Phase::RolledBack),
                    false => state.txns[who].ops.push(Did::Write(key)),
                }
            }
            KeyOperation::Commit => self.commit(state, who),
        }
    }

    fn commit(&self, state: &mut SingleState, who: usize) {
        let own = state.txns[who].ops;
        let both = |ops: &Ops, mine: &dyn Fn(u8) -> bool| {
            (0..self.shape.keys).any(|key| mine(key) && ops.last_write(key).is_some())
        };
        let is_refused = match self.rules.refuses {
            Refuses::Nobody | Refuses::LateWrites => false,
            Refuses::LateCommits => {
                self.has_newer(state, who, |ops| both(ops, &|key| own.last_write(key).is_some()))
            }
            Refuses::StaleReads => {
                self.has_newer(state, who, |ops| both(ops, &|key| own.has_read(key)))
            }
        };
        if is_refused {
            self.end(state, who, Phase::RolledBack);
        } else {
            state.committed.push(who);
            self.end(state, who, Phase::Committed);
        }
    }

    /// Whether somebody who committed after the view of `who` did what is asked for.
    fn has_newer(&self, state: &SingleState, who: usize, what: impl Fn(&Ops) -> bool) -> bool {
        let view = state.txns[who].view;
        let newer = state.committed.iter().skip(usize::from(view));
        view != NO_VIEW && newer.map(|other| &state.txns[other].ops).any(what)
    }

    /// The version that a read sees.
    fn seen(&self, state: &SingleState, who: usize, key: u8) -> KeyVersion {
        let own = |who: usize| {
            state.txns[who].ops.last_write(key).map(|place| KeyVersion::of_write(who, place))
        };
        if let Some(own) = own(who) {
            return own;
        }
        if self.rules.reads == Reads::Dirty {
            let is_open = |who: &usize| {
                !matches!(state.txns[*who].phase, Phase::Committed)
                    && state.txns[*who].phase != Phase::RolledBack
            };
            if let Some(dirty) = (0..MOST).filter(is_open).find_map(own) {
                return dirty;
            }
        }
        let count = match self.rules.reads {
            Reads::View => usize::from(state.txns[who].view),
            Reads::Latest | Reads::Dirty => state.committed.len(),
        };
        let visible: Option<KeyVersion> = {
            let mut newest = None;
            for version in state.committed.iter().take(count).filter_map(own) {
                newest = Some(version);
            }
            newest
        };
        visible.unwrap_or(KeyVersion::FIRST)
    }

    /// Rolls back a transaction that is open, as its client may at any time.
    pub(crate) fn roll_back(&self, state: &mut SingleState, who: usize) {
        self.end(state, who, Phase::RolledBack);
    }

    /// Ends a transaction, and lets go on who waited for it.
    fn end(&self, state: &mut SingleState, who: usize, phase: Phase) {
        state.waiting.remove(who);
        state.txns[who].phase = phase;
        state.txns[who].view = NO_VIEW;
        loop {
            let free = state.waiting.iter().find_map(|one| match state.txns[one].phase {
                Phase::Waits(what) if self.blockers(state, one, what) == 0 => Some((one, what)),
                _ => None,
            });
            let Some((one, what)) = free else { return };
            state.waiting.remove(one);
            state.txns[one].phase = Phase::Open;
            self.carry_out(state, one, what);
        }
    }

    fn held(&self, state: &SingleState, who: usize, key: u8) -> Option<Mode> {
        let one = &state.txns[who];
        if !matches!(one.phase, Phase::Open | Phase::Waits(_)) || self.rules.locks == Locks::None {
            return None;
        }
        if one.ops.last_write(key).is_some() {
            return Some(Mode::Exclusive);
        }
        let reads = self.rules.locks == Locks::ReadsAndWrites && one.ops.has_read(key);
        reads.then_some(Mode::Shared)
    }

    /// The lock that an operation needs beyond what its transaction holds.
    fn needed(&self, state: &SingleState, who: usize, what: KeyOperation) -> Option<(u8, Mode)> {
        let (key, mode) = match (what, self.rules.locks) {
            (KeyOperation::Write(key), Locks::Writes | Locks::ReadsAndWrites) => {
                (key, Mode::Exclusive)
            }
            (KeyOperation::Read(key), Locks::ReadsAndWrites) => (key, Mode::Shared),
            _ => return None,
        };
        let held = self.held(state, who, key);
        let is_enough = held == Some(Mode::Exclusive) || held == Some(mode);
        (!is_enough).then_some((key, mode))
    }

    /// Whom an operation has to wait for, as bits.
    fn blockers(&self, state: &SingleState, who: usize, what: KeyOperation) -> u8 {
        let Some((key, mode)) = self.needed(state, who, what) else { return 0 };
        let clash = |other: Mode| mode == Mode::Exclusive || other == Mode::Exclusive;
        let mut bits = 0;
        for other in (0..MOST).filter(|other| *other != who) {
            if self.held(state, other, key).is_some_and(clash) {
                bits |= 1 << other;
            }
        }
        let passes = self.rules.passes == Passes::Waiting;
        if passes && self.held(state, who, key).is_some() {
            return bits;
        }
        for other in state.waiting.iter().take_while(|other| *other != who) {
            let Phase::Waits(what) = state.txns[other].phase else { continue };
            let wants = self.needed(state, other, what);
            if wants.is_some_and(|(of, mode)| of == key && clash(mode)) {
                bits |= 1 << other;
            }
        }
        bits
    }

    /// Who waits in a circle, as bits.
    fn in_circle(&self, state: &SingleState) -> u8 {
        if state.waiting.len() < 2 {
            return 0;
        }
        let edges: [u8; MOST] = std::array::from_fn(|who| match state.txns[who].phase {
            Phase::Waits(what) => self.blockers(state, who, what),
            _ => 0,
        });
        let reach = |from: usize| {
            let mut seen = edges[from];
            for _ in 0..MOST {
                let further = (0..MOST).filter(|who| seen & (1 << who) != 0);
                seen |= further.fold(0, |bits, who| bits | edges[who]);
            }
            seen
        };
        (0..MOST).filter(|who| reach(*who) & (1 << who) != 0).fold(0, |bits, who| bits | 1 << who)
    }

    /// What came of it, if nobody is in the midst of a transaction.
    #[must_use]
    pub fn outcome_of(&self, state: &SingleState) -> Option<ProtocolOutcome> {
        if !state.txns.iter().all(|one| !matches!(one.phase, Phase::Open | Phase::Waits(_))) {
            return None;
        }
        let mut outcome = ProtocolOutcome::default();
        for who in state.committed.iter() {
            outcome.ops[who] = state.txns[who].ops;
            for key in 0..self.shape.keys {
                if state.txns[who].ops.last_write(key).is_some() {
                    outcome.versions[usize::from(key)].push(who);
                }
            }
        }
        for (who, one) in state.txns.iter().enumerate() {
            if one.phase == Phase::RolledBack {
                outcome.add_rolled_back(who, one.ops);
            }
        }
        Some(outcome)
    }

    /// What is shown of a state.
    #[must_use]
    pub(crate) fn facts_of(&self, state: &SingleState) -> Facts {
        let who = 0..usize::from(self.shape.transactions);
        let txns = who.map(|who| (transaction_name(who), self.txn_facts(state, who)));
        let keys = 0..self.shape.keys;
        let versions = keys.clone().map(|key| (key_name(key), versions_of(state, key)));
        let mut facts = vec![
            ("transactions", StateFact::Map(txns.collect())),
            ("versions", StateFact::Map(versions.collect())),
        ];
        if self.rules.locks != Locks::None {
            let locks = keys.map(|key| (key_name(key), self.lock_facts(state, key)));
            facts.push(("locks", StateFact::Map(locks.collect())));
            facts.push((
                "waiting",
                StateFact::from_texts(state.waiting.iter().map(transaction_name)),
            ));
        }
        facts
    }

    fn txn_facts(&self, state: &SingleState, who: usize) -> StateFact {
        let one = &state.txns[who];
        let mut fields = vec![
            ("is", StateFact::from_text(one.phase.to_string())),
            ("did", StateFact::from_texts(one.ops.iter().map(|did| did.to_string()))),
        ];
        if self.has_views() {
            let view = match one.view {
                NO_VIEW => "none".to_owned(),
                view => format!("{view} commits"),
            };
            fields.push(("view", StateFact::Text(view)));
        }
        StateFact::Record(fields)
    }

    /// Who holds a key.
    fn lock_facts(&self, state: &SingleState, key: u8) -> StateFact {
        let held = (0..MOST).filter_map(|who| {
            let name = transaction_name(who);
            self.held(state, who, key).map(|mode| match mode {
                Mode::Shared => format!("{name} shared"),
                Mode::Exclusive => format!("{name} exclusive"),
            })
        });
        StateFact::from_texts(held)
    }
}

fn wanted_key(phase: Phase) -> u8 {
    match phase {
        Phase::Waits(KeyOperation::Read(key) | KeyOperation::Write(key)) => key + 1,
        _ => 0,
    }
}

/// The versions of a key that committed, the oldest first.
fn versions_of(state: &SingleState, key: u8) -> StateFact {
    let writers = state.committed.iter();
    let writers = writers.filter(|who| state.txns[*who].ops.last_write(key).is_some());
    StateFact::from_texts(
        std::iter::once("initial".to_owned()).chain(writers.map(transaction_name)),
    )
}

impl fmt::Display for SingleAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SingleAction::Asks(who, what) => {
                write!(f, "{}", Interleaving { steps: vec![(*who, *what)] })
            }
            SingleAction::Victim(who) => write!(f, "T{} is rolled back to end a deadlock", who + 1),
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Phase::Idle => f.write_str("idle"),
            Phase::Open => f.write_str("open"),
            Phase::Waits(KeyOperation::Read(key)) => write!(f, "waits to read {}", key_name(*key)),
            Phase::Waits(KeyOperation::Write(key)) => {
                write!(f, "waits to write {}", key_name(*key))
            }
            Phase::Waits(KeyOperation::Commit) => f.write_str("waits to commit"),
            Phase::Committed => f.write_str("committed"),
            Phase::RolledBack => f.write_str("rolled back"),
        }
    }
}
