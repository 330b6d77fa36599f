//! What clients of the closed loop record of their transactions while a round is measured.
//!
//! ```text
//!   Recording ──▶ Recorder 0 ──▶ Tape   operations 16 B, ends of transactions 48 B  ─┐
//!    (a round)    Recorder 1 ──▶ Tape   …                                            ├▶ Recorded
//!                 Recorder n ──▶ Tape   the survey: all rows, when nobody asks any  ─┘  or Reader
//!                                       more
//! ```
//!
//! The partner of a dialogue notes what it sees ([`dbdyno_workload::Link::note_operation`]); here
//! it becomes bytes of [`dbdyno_check`]. A recorder takes all of its memory, and touches every page
//! of it, before the round begins; on the hot path it appends, and reads the clock three times for
//! a transaction. It never grows (`tape`). Where its room ends it ends: the transaction that does
//! not fit is taken back whole, those after it are counted and not recorded. What others saw of
//! them would be versions that nobody wrote, so all records are cut where the first of them begins
//! ([`dbdyno_check::trim_records`]), and how many are missing is told.
//!
//! An attempt that the server rolled back for the sake of others is a transaction of its own that
//! failed. One whose commit was not answered is of unknown outcome.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_check::{
    HEADER, Op, OpRecord, OperationKind, SumRecord, Times, TransactionOutcome, Txn, UNKNOWN,
    WriteId, encode_end, read_stream, settle_sums, trim_records,
};
use dbdyno_workload::versioned::WriteName;
use dbdyno_workload::{Deed, OperationNote};

use crate::tape::{Tape, WORD};
use crate::time::{duration_ns, now};

/// Room of all clients of a round together,
const ROOM_OF_ALL: usize = 512 << 20;
/// and of one of them, bytes.
const ROOM_MOST: usize = 64 << 20;
/// Room of one of them whose records are read while it goes on.
const ROOM_OF_READ: usize = 1 << 20;
/// How long a client waits before it looks for room again.
const WAIT: Duration = Duration::from_micros(100);
const OP: u64 = 2;
const END: u64 = 6;
/// The only table of such a load.
const TABLE: u16 = 1;

/// What a client does whose tape is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WhenFull {
    /// It records no more.
    End,
    /// It waits until somebody has read, which no client does that is measured.
    Wait,
}

/// The recorders of one round.
#[derive(Debug)]
pub struct Recording {
    clients: u32,
    when_full: WhenFull,
    origin: Instant,
    /// By client; the one after the last surveys.
    tapes: Vec<Arc<Tape>>,
    done: Mutex<Vec<Recorder>>,
}

/// What the clients of a round recorded.
#[derive(Clone, Debug, Default)]
pub struct RoundRecord {
    /// The history, as [`dbdyno_check::read_records`] reads it.
    pub records: Vec<u8>,
    /// Transactions that are in it, failed ones among them.
    pub transactions: u64,
    /// Transactions that clients began and did not record, for want of room.
    pub unrecorded: u64,
}

impl Recording {
    /// Recorders for so many clients, with as much room as they may have.
    #[must_use]
    pub fn new(clients: u32) -> Recording {
        Recording::with_room(clients, ROOM_MOST.min(ROOM_OF_ALL / clients.max(1) as usize))
    }

    /// The same with about so many bytes of room for each client.
    #[must_use]
    pub fn with_room(clients: u32, room: usize) -> Recording {
        let tapes = (0..=clients).map(|_| Arc::new(Tape::new(room / WORD))).collect();
        let (origin, done) = (now(), Mutex::new(Vec::new()));
        Recording { clients, when_full: WhenFull::End, origin, tapes, done }
    }

    /// Recorders with little room, which is made by who reads meanwhile ([`Recording::reader`]);
    /// clients wait for it.
    #[must_use]
    pub fn to_be_read(clients: u32) -> Recording {
        let recording = Recording::with_room(clients, ROOM_OF_READ);
        Recording { when_full: WhenFull::Wait, ..recording }
    }

    /// The recorder of a client.
    pub(crate) fn client_recorder(&self, client: u32) -> Recorder {
        Recorder {
            client,
            clients: self.clients,
            when_full: self.when_full,
            origin: self.origin,
            tape: Arc::clone(&self.tapes[client as usize]),
            at: 0,
            begun: 0,
            times: Times::default(),
            ending: Ending::NotAsked,
            transactions: 0,
            unrecorded: 0,
            full_ns: None,
        }
    }

    /// Reads while the clients record, which makes room on their tapes. What was read is not in
    /// what [`crate::end_recording`] puts together.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader { tapes: self.tapes.clone(), words: Vec::new(), ops: Vec::new() }
    }

    /// Takes a recorder back, whose client is done.
    pub(crate) fn return_recorder(&self, recorder: Recorder) {
        recorder.tape.close();
        self.done.lock().unwrap_or_else(PoisonError::into_inner).push(recorder);
    }

    /// Clients whose recorders write on it; the next number surveys.
    pub(crate) fn clients(&self) -> u32 {
        self.clients
    }

    /// Whether somebody's room has ended.
    pub(crate) fn is_full(&self) -> bool {
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
        done.iter().any(|recorder| recorder.full_ns.is_some())
    }

    /// Puts together what is on the tapes of all who are done.
    pub(crate) fn into_record(self) -> RoundRecord {
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut recorded = RoundRecord { records: HEADER.to_vec(), ..RoundRecord::default() };
        let ended_ns = done.iter().filter_map(|recorder| recorder.full_ns).min();
        let mut words = Vec::new();
        for recorder in done {
            words.clear();
            recorder.tape.take_words(&mut words);
            recorded.records.reserve_exact(words.len() * WORD);
            recorded.records.extend(words.iter().flat_map(|word| word.to_le_bytes()));
            recorded.transactions += recorder.transactions;
            recorded.unrecorded += recorder.unrecorded;
        }
        let clients = self.clients;
        settle_sums(&mut recorded.records, |id| name_of(id, clients).pack());
        if let Some(ended_ns) = ended_ns {
            trim_records(&mut recorded.records, ended_ns);
        }
        recorded
    }
}

/// How far a transaction has come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    NotAsked,
    CommitAsked,
    RolledBack,
}

/// What one client records.
#[derive(Debug)]
pub(crate) struct Recorder {
    client: u32,
    clients: u32,
    when_full: WhenFull,
    origin: Instant,
    tape: Arc<Tape>,
    /// Words that were put on the tape, and where the open transaction begins.
    at: u64,
    begun: u64,
    times: Times,
    ending: Ending,
    transactions: u64,
    unrecorded: u64,
    /// When the first transaction began that was not recorded.
    full_ns: Option<u64>,
}

impl Recorder {
    #[inline]
    fn ns(&self) -> u64 {
        duration_ns(now() - self.origin)
    }

    /// A transaction begins.
    #[inline]
    pub(crate) fn begin_transaction(&mut self) {
        let ns = self.ns();
        self.tape.mark_begin(ns);
        self.begun = self.at;
        self.times = Times { begin_invoke_ns: ns, begin_return_ns: ns, ..Times::default() };
        self.ending = Ending::NotAsked;
    }

    /// Its last statement is sent.
    pub(crate) fn ask_end(&mut self, sql: &str) {
        match sql {
            "COMMIT" => {
                self.times.commit_invoke_ns = self.ns();
                self.ending = Ending::CommitAsked;
            }
            "ROLLBACK" => self.ending = Ending::RolledBack,
            _ => {}
        }
    }

    /// Notes an operation.
    ///
    /// # Errors
    /// A sentence: a row held the name of a write by somebody who is not there.
    #[inline]
    pub(crate) fn note_operation(&mut self, noted: OperationNote) -> Result<(), String> {
        if self.full_ns.is_some() {
            return Ok(());
        }
        // The end has to fit as well.
        if !self.has_room(OP + END) {
            self.fill_up();
            return Ok(());
        }
        let OperationNote { deed, key, .. } = noted;
        let kind = match deed {
            Deed::Read => OperationKind::Read,
            Deed::CurrentRead => OperationKind::CurrentRead,
            Deed::Write => OperationKind::Write,
            Deed::Append => OperationKind::Append,
            Deed::Order => OperationKind::Order,
            Deed::Sum | Deed::CurrentSum => {
                let is_current = deed == Deed::CurrentSum;
                let sum = SumRecord { table: TABLE, key, sum: noted.value, is_current };
                self.put(&sum.encode());
                return Ok(());
            }
        };
        let value = self.id(noted.value)?;
        let prev = noted.prev.map_or(Ok(UNKNOWN), |prev| self.id(prev))?;
        let op = OpRecord { kind, table: TABLE, key, value, prev };
        self.put(&op.encode());
        Ok(())
    }

    /// The dense id of a version.
    #[inline]
    fn id(&mut self, packed: u64) -> Result<WriteId, String> {
        if packed == 0 {
            return Ok(dbdyno_check::INITIAL);
        }
        let name = WriteName::unpack(packed).filter(|name| name.client < self.clients);
        let id = name.and_then(|name| id_of(name, self.clients));
        id.ok_or_else(|| {
            format!(
                "a row holds the version {packed}, which no client of this round wrote; does \
                 somebody else write to the tables?"
            )
        })
    }

    #[inline]
    fn has_room(&self, words: u64) -> bool {
        let end = self.at + words;
        while self.when_full == WhenFull::Wait && !self.tape.has_room(end) {
            thread::sleep(WAIT);
        }
        self.tape.has_room(end)
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        for word in bytes.chunks_exact(WORD) {
            let word = word.try_into().expect("so many bytes");
            self.tape.put_word(self.at, u64::from_le_bytes(word));
            self.at += 1;
        }
    }

    #[cold]
    fn fill_up(&mut self) {
        self.at = self.begun;
        self.full_ns = Some(self.times.begin_invoke_ns);
    }

    /// A transaction is over: whether it was answered, and if not, whether the server rolled it
    /// back.
    pub(crate) fn end_transaction(&mut self, how: Over) {
        if self.full_ns.is_none() && !self.has_room(END) {
            self.fill_up();
        }
        if self.full_ns.is_some() {
            self.unrecorded += 1;
            return;
        }
        self.times.commit_return_ns = self.ns();
        let outcome = match (how, self.ending) {
            (Over::Answered, Ending::CommitAsked) => TransactionOutcome::Ok,
            (Over::Broken, Ending::CommitAsked) => TransactionOutcome::Unknown,
            _ => TransactionOutcome::Failed,
        };
        let ops = ((self.at - self.begun) / OP) as u32;
        let txn = Txn { session: self.client, outcome, times: self.times, token: 0 };
        self.put(&encode_end(txn, ops));
        self.tape.publish_until(self.at);
        self.transactions += 1;
    }
}

/// Reads what clients record while they do.
#[derive(Debug)]
pub struct Reader {
    tapes: Vec<Arc<Tape>>,
    words: Vec<u64>,
    ops: Vec<Op>,
}

impl Reader {
    /// Gives all transactions that have ended since the last time, those of a client in its order,
    /// with their operations, whose keys are those of the table. Returns a moment of the records'
    /// clock: everybody who began before it has been given.
    pub fn read(&mut self, mut give: impl FnMut(Txn, &[Op])) -> u64 {
        // Before the tapes are read: what began later may have ended in between.
        let begun = self.tapes.iter().rev().skip(1).map(|tape| tape.begun_ns()).min();
        for tape in &self.tapes {
            self.words.clear();
            tape.take_words(&mut self.words);
            let mut bytes = Vec::with_capacity(self.words.len() * WORD);
            bytes.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
            read_stream(&bytes, &mut self.ops, &mut give);
        }
        begun.unwrap_or(u64::MAX)
    }
}

/// How a transaction came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// All statements were answered.
    Answered,
    /// The server rolled it back for the sake of others.
    RolledBack,
    /// Nobody knows.
    Broken,
}

/// Client *w* of *n* has the ids 1 + *w*, 1 + *w* + *n*, … ([`dbdyno_check::WriteIds`]); `None`
/// where 32 bits do not hold it.
fn id_of(name: WriteName, clients: u32) -> Option<WriteId> {
    let id = 1 + u64::from(name.client) + u64::from(name.number - 1) * u64::from(clients);
    WriteId::try_from(id).ok().filter(|id| *id < dbdyno_check::ABSENT)
}

fn name_of(id: WriteId, clients: u32) -> WriteName {
    WriteName { client: (id - 1) % clients, number: (id - 1) / clients + 1 }
}

#[cfg(test)]
mod tests {
    use dbdyno_check::{Checker, Level, LevelVerdict, read_records};

    use super::*;

    fn noted(deed: Deed, value: u64, prev: Option<u64>) -> OperationNote {
        OperationNote { deed, key: 7, value, prev }
    }

    fn name(client: u32, number: u32) -> u64 {
        WriteName { client, number }.pack()
    }

    /// Writes the next version of a register, one behind `prev`.
    fn write(recorder: &mut Recorder, number: u32, prev: u64) {
        recorder.begin_transaction();
        let value = name(recorder.client, number);
        recorder.note_operation(noted(Deed::Write, value, Some(prev))).unwrap();
        recorder.ask_end("COMMIT");
        recorder.end_transaction(Over::Answered);
    }

    /// What these have on their tapes, as a file.
    fn written(all: &[&Recorder]) -> Vec<u8> {
        let mut words = Vec::new();
        all.iter().for_each(|recorder| recorder.tape.take_words(&mut words));
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        HEADER.into_iter().chain(bytes).collect()
    }

    #[test]
    fn ids_are_dense_and_names_come_back() {
        for clients in [1, 3, 100] {
            for id in 1..1_000 {
                assert_eq!(id_of(name_of(id, clients), clients), Some(id));
            }
        }
        assert_eq!(id_of(WriteName { client: 9, number: u32::MAX }, 10), None);
    }

    #[test]
    fn what_becomes_of_a_transaction_is_noted_as_its_client_knows_it() {
        let recording = Recording::with_room(1, 4096);
        let mut recorder = recording.client_recorder(0);
        let ends = [
            ("COMMIT", Over::Answered),
            ("COMMIT", Over::RolledBack),
            ("COMMIT", Over::Broken),
            ("ROLLBACK", Over::Answered),
            ("SELECT", Over::Broken),
        ];
        for (sql, over) in ends {
            recorder.begin_transaction();
            recorder.ask_end(sql);
            recorder.end_transaction(over);
        }
        let history = read_records(&written(&[&recorder])).unwrap();
        let told: Vec<TransactionOutcome> = (0..5).map(|txn| history.txn(txn).outcome).collect();
        let (ok, failed) = (TransactionOutcome::Ok, TransactionOutcome::Failed);
        assert_eq!(told, [ok, failed, TransactionOutcome::Unknown, failed, failed]);
    }

    #[test]
    fn a_full_recorder_ends_and_what_others_saw_of_the_rest_accuses_nobody() {
        // Room for two transactions of one write, which are eight words each.
        let recording = Recording::with_room(2, 16 * WORD);
        let (mut one, mut other) = (recording.client_recorder(0), recording.client_recorder(1));
        write(&mut one, 1, 0);
        write(&mut one, 2, name(0, 1));
        write(&mut one, 3, name(0, 2));
        write(&mut one, 4, name(0, 3));
        // It saw the version that was not recorded.
        write(&mut other, 1, name(0, 4));
        assert_eq!((one.transactions, one.unrecorded), (2, 2));
        let ended_ns = one.full_ns.unwrap();
        let mut records = written(&[&one, &other]);
        let whole = read_records(&records).unwrap();
        assert!(Checker::new(&whole).level_verdict(Level::Serializable).anomaly().is_some());
        trim_records(&mut records, ended_ns);
        let history = read_records(&records).unwrap();
        let verdict = Checker::new(&history).level_verdict(Level::Serializable);
        assert!(matches!(verdict, LevelVerdict::Holds(_)), "{verdict:?}");
    }

    #[test]
    fn a_reader_makes_room_and_knows_how_far_it_is() {
        let recording = Recording::with_room(2, 16 * WORD);
        let (mut one, mut other) = (recording.client_recorder(0), recording.client_recorder(1));
        let mut reader = recording.reader();
        let mut seen = Vec::new();
        other.begin_transaction();
        let began = other.times.begin_invoke_ns;
        for number in 1..=5 {
            write(&mut one, number, if number == 1 { 0 } else { name(0, number - 1) });
            let before = reader.read(|txn, ops| seen.push((txn, ops.to_vec())));
            assert!(before <= began, "somebody who began then is not there yet");
        }
        assert_eq!((one.unrecorded, seen.len()), (0, 5));
        assert_eq!(seen[4].1[0].value, id_of(WriteName { client: 0, number: 5 }, 2).unwrap());
        assert_eq!(seen[4].1[0].key, 7);
        other.end_transaction(Over::Answered);
        one.tape.close();
        other.tape.close();
        assert_eq!(reader.read(|_, _| {}), u64::MAX);
    }

    #[test]
    fn a_version_of_nobody_is_an_error() {
        let recording = Recording::with_room(2, 4096);
        let mut recorder = recording.client_recorder(0);
        recorder.begin_transaction();
        let error = recorder.note_operation(noted(Deed::Read, name(2, 1), None)).unwrap_err();
        assert!(error.contains("which no client of this round wrote"), "{error}");
    }
}
