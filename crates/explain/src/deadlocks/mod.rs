//! Deadlocks as servers tell them, clustered by what they have in common.
//!
//! ```text
//!   error log of MySQL, MariaDB (innodb_print_all_deadlocks) ┐
//!   SHOW ENGINE INNODB STATUS: the latest one                ├─▶ parties ─▶ signature ─▶ clusters
//!   log of PostgreSQL                                        ┘   statement with `?`, locks
//! ```
//!
//! The signature of a deadlock is what its parties asked and which locks they wanted and held:
//! tables, indexes, modes. Who came first, and which rows it was, is chance. Text of the outside
//! world never panics; what is cut off in the middle is told as far as it goes, with what is
//! missing of it. Each deadlock has to be whole: every party waits for something, every one who is
//! waited for is a party, and the statements that stand there were taken. Where one is announced
//! and not told, the line is named: no deadlocks are found only where none is spoken of.

mod announcement;
mod carried;
mod csv;
mod findings;
mod foreign;
mod innodb;
mod json;
mod labels;
mod lines;
mod literal_scan;
mod locks;
mod one_line;
mod open_statements;
mod order;
mod parting;
mod postgres;
mod repair;
mod statement;
mod stores;
mod waits;

use std::collections::BTreeMap;

use dbdyno_json::Wrong;
use dbdyno_model::{DeadlockCluster, DeadlockParty};

pub use findings::{DeadlockGap, DeadlockTelling};
use lines::{Line, each_line};
use order::{Order, Unit, begins_with_date};
use parting::ReadersBySource;
pub use repair::LogRepair;
use repair::{RepairedText, repaired_texts, without_markup};
pub use statement::statement_with_holes;

use crate::beginning::text_beginning;

/// What a text was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogKind {
    /// An error log of MySQL or MariaDB.
    Mysql,
    /// What `SHOW ENGINE INNODB STATUS` prints.
    InnodbStatus,
    /// A log of PostgreSQL, or what its clients print of an error.
    Postgres,
}

impl LogKind {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            LogKind::Mysql => "error log of MySQL or MariaDB",
            LogKind::InnodbStatus => "InnoDB's status",
            LogKind::Postgres => "log of PostgreSQL",
        }
    }
}

/// What a text tells of deadlocks, and how much of it was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeadlockReading {
    /// The deadlocks as they are told, one as often as it is told.
    pub tellings: Vec<DeadlockTelling>,
    /// What the text was taken for; empty where it is no log that is known.
    pub kinds: Vec<LogKind>,
    /// Its lines.
    pub lines: usize,
    /// Those that have no part in a deadlock.
    pub passed_over: usize,
    /// Numbers of lines, from 1, that speak of a deadlock of which nothing was understood.
    pub unread: Vec<usize>,
    /// How many of these tell that a process has found a deadlock, of which no error is logged.
    pub errorless: usize,
    /// What the deadlocks lack that are told in part.
    pub in_part: Vec<DeadlockGap>,
    /// What was undone of what had become of the text.
    pub repairs: Vec<LogRepair>,
    /// Numbers of lines, from 1, with the error of a client that was a victim, which tells no more.
    pub client_errors: Vec<usize>,
    /// How it stands in the text.
    pub direction: LogDirection,
    /// Where JSON does not say what was logged: a name stands twice in an object, or an answer of
    /// Loki has something else among its lines.
    pub wrong: Option<Wrong>,
    /// Containers, hosts and processes whose lines are mixed in it, where their names are told.
    pub sources: usize,
}

impl DeadlockReading {
    /// In how many places something of a deadlock is missing that may stand in the text.
    fn lacks(&self) -> usize {
        (self.unread.len() + self.in_part.len()).saturating_sub(self.errorless)
    }

    /// The same with the lines of the text that came, which had so many.
    fn of_repaired(mut self, repaired: &RepairedText, lines: usize) -> DeadlockReading {
        self.repairs.push(repaired.repair);
        self.lines = lines;
        if repaired.begins.is_empty() {
            return self;
        }
        let places = self.unread.iter_mut().chain(&mut self.client_errors);
        for line in places.chain(self.in_part.iter_mut().map(|gap| &mut gap.line)) {
            *line = repaired.begins.get(*line - 1).copied().unwrap_or(*line);
        }
        self
    }
}

/// Which line of a log stands first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogDirection {
    /// The oldest, as in files of servers.
    OldestFirst,
    /// The newest, as in what a store of logs gives out; it was turned around.
    NewestFirst,
}

/// The deadlocks of texts, each counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatheredDeadlocks {
    /// By signature, the most frequent first.
    pub clusters: Vec<DeadlockCluster>,
    /// Deadlocks that are told more often than they happened.
    pub repeated: u64,
    /// How often all of these are told.
    pub repeated_tellings: u64,
    /// Deadlocks that may be the same as another one that is counted.
    pub doubtful: u64,
}

/// Bytes of a text that is turned around where its times do not say that it has to be.
const TRIED_MOST: usize = 16 << 20;

/// Lines that speak of a deadlock, of which the first ones are named.
const MENTIONS_MOST: usize = 100;

/// Bytes of a line in which the words of a deadlock are looked for that was broken.
const LOOKED_AT_MOST: usize = 1_000;

/// Reads a text. What has become of it on its way is undone where less is missing then.
pub fn read_deadlocks(text: &str) -> DeadlockReading {
    let Some(page) = without_markup(text) else { return read_repaired(text) };
    let mut reading = read_repaired(&page.text);
    reading.repairs.insert(0, page.repair);
    reading
}

fn read_repaired(text: &str) -> DeadlockReading {
    let plain = read_turned(text);
    let is_untold = plain.tellings.is_empty()
        && (plain.lacks() > 0 || text.contains("RECORD LOCKS ") && text.contains("ACTIVE "));
    let may_be_better = (plain.lacks() > 0 || is_untold) && !json::is_of_json(text);
    if !may_be_better || plain.wrong.is_some() || text.len() > TRIED_MOST {
        return plain;
    }
    // Where lines told their sources what stands before them was understood.
    let texts =
        repaired_texts(text).filter(|it| it.repair != LogRepair::Prefixes || plain.sources == 0);
    let tried = texts.map(|repaired| {
        let reading = read_turned(&repaired.text);
        reading.of_repaired(&repaired, plain.lines)
    });
    let better = tried.filter(|one| {
        let is_better =
            is_untold || one.lacks() < plain.lacks() && one.tellings.len() >= plain.tellings.len();
        is_better && one.wrong.is_none() && !one.tellings.is_empty()
    });
    better.min_by_key(DeadlockReading::lacks).unwrap_or(plain)
}

fn read_turned(text: &str) -> DeadlockReading {
    let (reading, course) = read_in(text, Order::OldestFirst);
    let is_understood =
        reading.in_part.is_empty() && (reading.unread.is_empty() || !reading.tellings.is_empty());
    let may_be_turned = course.may_be_turned() && text.len() <= TRIED_MOST;
    if reading.wrong.is_some() || !course.is_turned() && (is_understood || !may_be_turned) {
        return reading;
    }
    let turned = Unit::ALL.map(|unit| read_in(text, Order::Turned(unit)).0);
    let best = turned
        .into_iter()
        .min_by_key(|one| (one.lacks(), usize::MAX - one.tellings.len()))
        .filter(|best| {
            // In an order that no time tells no less of a text is understood.
            let is_whole = best.lacks() == 0 && !best.tellings.is_empty();
            course.is_turned() || is_whole && best.passed_over <= reading.passed_over
        });
    best.unwrap_or(reading)
}

fn read_in(text: &str, order: Order) -> (DeadlockReading, order::Course) {
    let (mut parted, mut kinds) = (ReadersBySource::default(), Kinds::default());
    let (mut client_errors, mut mentions) = (Vec::new(), Vec::new());
    let mut broken = BrokenMentions::default();
    let passed = each_line(text, order, &mut |line| {
        kinds.look(&line);
        if innodb::is_error_of_a_client(&line) {
            client_errors.push(line.number);
        }
        if mentions.len() < MENTIONS_MOST && announcement::mentions_deadlock(line.text) {
            mentions.push(line.number);
        }
        broken.pass_line(&line);
        parted.read_line(&line);
    });
    let (findings, sources) = parted.into_findings();
    let (mut unread, mut in_part) = (findings.unread, findings.gaps);
    unread.extend(passed.cut);
    if findings.tellings.is_empty() {
        unread.extend(broken.lines);
    } else {
        let missing = "the end of this line, which was broken here";
        in_part.extend(broken.lines.into_iter().map(|line| DeadlockGap::new(line, missing)));
    }
    if findings.tellings.is_empty() && unread.is_empty() && client_errors.is_empty() {
        unread = mentions;
    }
    unread.sort_unstable();
    unread.dedup();
    in_part.sort();
    in_part.dedup();
    client_errors.sort_unstable();
    client_errors.dedup();
    let reading = DeadlockReading {
        tellings: findings.tellings,
        kinds: kinds.found(),
        lines: passed.lines,
        passed_over: passed.lines.saturating_sub(findings.used),
        unread,
        errorless: findings.errorless,
        in_part,
        repairs: Vec::new(),
        client_errors,
        direction: match order {
            Order::OldestFirst => LogDirection::OldestFirst,
            Order::Turned(_) => LogDirection::NewestFirst,
        },
        wrong: passed.wrong,
        sources,
    };
    (reading, passed.course)
}

/// Counts the deadlocks that texts tell of, each once.
pub fn gather_deadlocks(tellings: impl IntoIterator<Item = DeadlockTelling>) -> GatheredDeadlocks {
    let known = findings::group_tellings(tellings.into_iter());
    let again = || known.iter().filter(|one| one.shown > one.count);
    let repeated = again().map(|one| one.count).sum();
    let repeated_tellings = again().map(|one| one.shown).sum();
    let doubtful = known.iter().map(|one| one.doubtful).sum();
    let clusters = clustered(known.into_iter().map(|one| (one.count, one.parties)));
    GatheredDeadlocks { clusters, repeated, repeated_tellings, doubtful }
}

/// The deadlocks that a text tells of, clustered by signature, the most frequent first.
pub fn deadlock_clusters(text: &str) -> Vec<DeadlockCluster> {
    gather_deadlocks(read_deadlocks(text).tellings).clusters
}

/// Lines that speak of a deadlock only together with the next one: somebody has broken them.
#[derive(Default)]
struct BrokenMentions {
    lines: Vec<usize>,
    /// The line before, and its number.
    last: String,
    number: usize,
}

impl BrokenMentions {
    fn pass_line(&mut self, line: &Line<'_>) {
        let text = text_beginning(line.text, LOOKED_AT_MOST).trim_end();
        // Most lines of a log begin with a time, and go on with no other.
        let may_go_on = !self.last.is_empty() && !begins_with_date(text);
        if may_go_on && self.lines.len() < MENTIONS_MOST && self.is_broken_before(text) {
            self.lines.push(self.number);
        }
        self.last.clear();
        self.last.push_str(text);
        self.number = line.number;
    }

    fn is_broken_before(&self, next: &str) -> bool {
        let joints = ["", " "].map(|joint| format!("{}{joint}{next}", self.last));
        joints.iter().any(|whole| speaks_of_deadlock(whole))
            && !speaks_of_deadlock(&self.last)
            && !speaks_of_deadlock(next)
    }
}

/// Whether a line mentions a deadlock, or has a whole wait of its details.
fn speaks_of_deadlock(text: &str) -> bool {
    let has_wait = text.contains("Lock ") && text.contains(" waits for ");
    announcement::mentions_deadlock(text) || has_wait && postgres::has_wait(text)
}

/// What a text may be taken for, by the words of its lines.
#[derive(Default)]
struct Kinds {
    is_status: bool,
    is_mysql: bool,
    has_transactions: bool,
    is_postgres: bool,
}

impl Kinds {
    fn look(&mut self, line: &Line<'_>) {
        let has = |words: &[&str]| words.iter().any(|word| line.text.contains(word));
        if line.text.is_empty() {
            return;
        }
        self.is_status =
            self.is_status || has(&["INNODB MONITOR OUTPUT", "LATEST DETECTED DEADLOCK"]);
        let severities = ["[Note]", "[Warning]", "[ERROR]", "[System]"];
        self.is_mysql = self.is_mysql
            || (line.text.contains('[') && has(&severities))
            || has(&["ransactions deadlock detected"]);
        self.has_transactions = self.has_transactions || innodb::is_of_a_transaction(line);
        let labels = ["LOG:  ", "DETAIL:  ", "STATEMENT:  "];
        self.is_postgres = self.is_postgres
            || (line.text.contains(":  ") && has(&labels))
            || postgres::is_wait(line);
    }

    fn found(&self) -> Vec<LogKind> {
        let is_mysql = self.is_mysql || (!self.is_status && self.has_transactions);
        [
            (self.is_status, LogKind::InnodbStatus),
            (is_mysql, LogKind::Mysql),
            (self.is_postgres, LogKind::Postgres),
        ]
        .into_iter()
        .filter_map(|(is, kind)| is.then_some(kind))
        .collect()
    }
}

/// Sets the parties of each in the order of their signature, and counts. Letter case is none of
/// it: the spelling that came first is shown.
fn clustered(all: impl Iterator<Item = (u64, Vec<DeadlockParty>)>) -> Vec<DeadlockCluster> {
    let one = |(count, mut parties): (u64, Vec<DeadlockParty>)| {
        for party in &mut parties {
            for locks in [&mut party.waits_for, &mut party.holds] {
                locks.sort();
                locks.dedup();
            }
        }
        parties.sort_by_cached_key(without_case);
        DeadlockCluster { count, parties }
    };
    merge_clusters(all.map(one))
}

fn without_case(party: &DeadlockParty) -> DeadlockParty {
    DeadlockParty { statement: party.statement.to_ascii_lowercase(), ..party.clone() }
}

/// What a cluster has in common, in one line: `UPDATE … waits for …, holds … ⟷ UPDATE …`.
pub fn signature_written(cluster: &DeadlockCluster) -> String {
    let party = |party: &DeadlockParty| {
        let statement = match party.statement.as_str() {
            "" => "a statement that was not logged",
            statement => statement,
        };
        let waits_for = match party.waits_for.join(" and ") {
            none if none.is_empty() => "a lock that is not told".to_owned(),
            told => told,
        };
        let mut text = format!("{statement} waits for {waits_for}");
        if !party.holds.is_empty() {
            text.push_str(&format!(", holds {}", party.holds.join(" and ")));
        }
        text
    };
    cluster.parties.iter().map(party).collect::<Vec<_>>().join(" ⟷ ")
}

/// Clusters of several texts as one, the most frequent first.
pub fn merge_clusters(all: impl IntoIterator<Item = DeadlockCluster>) -> Vec<DeadlockCluster> {
    let mut found: BTreeMap<Vec<DeadlockParty>, DeadlockCluster> = BTreeMap::new();
    for cluster in all {
        let key = cluster.parties.iter().map(without_case).collect();
        match found.get_mut(&key) {
            Some(known) => known.count += cluster.count,
            None => drop(found.insert(key, cluster)),
        }
    }
    let mut clusters: Vec<DeadlockCluster> = found.into_values().collect();
    clusters.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.parties.cmp(&b.parties)));
    clusters
}
