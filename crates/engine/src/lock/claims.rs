//! What is claimed of a place, as a set of bits, and which claims exclude each other.
//!
//! ```text
//!   a claim of …        waits while another has …
//!   record S            record X
//!   record X            record S, X
//!   gap                 –
//!   insert intention    gap
//!   table IS            table X
//!   table IX            table S, X
//!   table S             table IX, X
//!   table X             table IS, IX, S, X
//! ```
//!
//! A next-key lock claims the record and the gap before it. Gaps have no modes: a lock of one wants
//! nothing to be put into it, and any number may want that. An insert intention only asks; nothing
//! waits for it, so it is not kept. That is InnoDB's table (`lock_rec_has_to_wait`), with one
//! difference: an insert intention waits for gaps that are locked, not for those that a waiting
//! next-key lock asks for; that one looks again when it is woken.

use super::request::{LockKind, Mode, Place, TableMode};

/// A set of claims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Claim(u8);

const RECORD_S: u8 = 1;
const RECORD_X: u8 = 2;
const GAP: u8 = 4;
const INSERT: u8 = 8;
const TABLE_IS: u8 = 16;
const TABLE_IX: u8 = 32;
const TABLE_S: u8 = 64;
const TABLE_X: u8 = 128;

/// Single claims, and which claims of others each waits for.
const WAITS: [(u8, u8); 8] = [
    (RECORD_S, RECORD_X),
    (RECORD_X, RECORD_S | RECORD_X),
    (GAP, 0),
    (INSERT, GAP),
    (TABLE_IS, TABLE_X),
    (TABLE_IX, TABLE_S | TABLE_X),
    (TABLE_S, TABLE_IX | TABLE_X),
    (TABLE_X, TABLE_IS | TABLE_IX | TABLE_S | TABLE_X),
];

/// The same for sets.
const BLOCKERS: [u8; 256] = spread(&WAITS);

/// Single claims, and which weaker ones they include.
const COVERS: [u8; 256] = spread(&[
    (RECORD_S, RECORD_S),
    (RECORD_X, RECORD_S | RECORD_X),
    (GAP, GAP),
    (INSERT, 0),
    (TABLE_IS, TABLE_IS),
    (TABLE_IX, TABLE_IS | TABLE_IX),
    (TABLE_S, TABLE_IS | TABLE_S),
    (TABLE_X, TABLE_IS | TABLE_IX | TABLE_S | TABLE_X),
]);

const fn spread(singles: &[(u8, u8); 8]) -> [u8; 256] {
    let mut sets = [0; 256];
    let mut set = 0;
    while set < 256 {
        let mut single = 0;
        while single < 8 {
            let (bit, means) = singles[single];
            if set as u8 & bit != 0 {
                sets[set] |= means;
            }
            single += 1;
        }
        set += 1;
    }
    sets
}

impl Claim {
    /// How many single claims there are.
    pub(super) const SINGLES: usize = 8;
    /// The gap before a key.
    pub(super) const GAP: Claim = Claim(GAP);

    /// The claim of a row lock. After the last key there is a gap and no record.
    pub(super) fn of_row(place: Place<'_>, kind: LockKind, mode: Mode) -> Claim {
        let supremum = place == Place::Supremum;
        let record = match mode {
            Mode::Shared => RECORD_S,
            Mode::Exclusive => RECORD_X,
        };
        match kind {
            LockKind::Record => {
                assert!(!supremum, "there is no record after the last key");
                Claim(record)
            }
            LockKind::Gap => Claim(GAP),
            LockKind::NextKey if supremum => Claim(GAP),
            LockKind::NextKey => Claim(record | GAP),
            LockKind::InsertIntention => Claim(INSERT),
        }
    }

    /// The claim of a lock of a table.
    pub(super) fn of_table(mode: TableMode) -> Claim {
        Claim(match mode {
            TableMode::IntentShared => TABLE_IS,
            TableMode::IntentExclusive => TABLE_IX,
            TableMode::Shared => TABLE_S,
            TableMode::Exclusive => TABLE_X,
        })
    }

    /// Whether this has to wait while another transaction has that.
    pub(super) fn waits_for(self, held: Claim) -> bool {
        BLOCKERS[usize::from(self.0)] & held.0 != 0
    }

    /// Whether this has to wait while one that came earlier waits for that.
    pub(super) fn waits_behind(self, wanted: Claim) -> bool {
        BLOCKERS[usize::from(self.0)] & wanted.0 & !GAP != 0
    }

    /// The single claims behind which this waits, as numbers below [`Claim::SINGLES`].
    pub(super) fn stands_behind(self) -> impl Iterator<Item = usize> {
        Claim(BLOCKERS[usize::from(self.0)] & !GAP).single_claims()
    }

    /// The single claims in this one, as numbers below [`Claim::SINGLES`].
    pub(super) fn single_claims(self) -> impl Iterator<Item = usize> {
        (0..Self::SINGLES).filter(move |bit| self.0 & (1 << bit) != 0)
    }

    /// Whether a holder of that need not ask for this.
    pub(super) fn is_covered_by(self, held: Claim) -> bool {
        self.0 & !COVERS[usize::from(held.0)] == 0
    }

    /// What is held when this is granted.
    pub(super) fn held_part(self) -> Claim {
        Claim(self.0 & !INSERT)
    }

    /// Whether this is more than a gap: a holder that wants more goes first.
    pub(super) fn goes_first(self) -> bool {
        self.0 & !(GAP | INSERT) != 0
    }

    pub(super) fn has_gap(self) -> bool {
        self.0 & GAP != 0
    }

    pub(super) fn asks_to_insert(self) -> bool {
        self.0 & INSERT != 0
    }

    pub(super) fn is_none(self) -> bool {
        self.0 == 0
    }

    pub(super) fn with_claim(self, other: Claim) -> Claim {
        Claim(self.0 | other.0)
    }

    pub(super) fn without_claim(self, other: Claim) -> Claim {
        Claim(self.0 & !other.0)
    }

    /// In words, as deadlocks are printed.
    pub(super) fn in_words(self) -> String {
        const WORDS: [&str; Claim::SINGLES] = [
            "record S",
            "record X",
            "gap",
            "insert intention",
            "table IS",
            "table IX",
            "table S",
            "table X",
        ];
        self.single_claims().map(|bit| WORDS[bit]).collect::<Vec<_>>().join(" + ")
    }
}
