//! What the facts of a cell point to before anything is tried: a prior for the order of suspects.
//!
//! ```text
//!   ledger   processors take the difference ───▶ what costs processor time
//!            the rest takes it ──┬─ more syncs, more redo, more written ─▶ commits, logs and syncs
//!            what sessions wait  ├─ more pages read ─────────────────────▶ pages and files
//!            for, what servers   ├─ more waits for locks and latches ────▶ locks and threads
//!            count, bytes        └─ none of them ────────────────────────▶ any of the three
//! ```
//!
//! A prior decides what is tried first, and nothing else: what is a cause is for trials to say.
//! Which setting costs what is known by its rule of the audit, and by name where a rule has many.

use std::collections::BTreeSet;

use dbdyno_model::server_facts::FactClass;
use dbdyno_model::{
    CellComparison, FactComparison, FactWorth, Ledger, PerArm, Prior, Suspect, Waits,
};

use crate::usual;

/// What an operation may cost more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Time of processors.
    Processor,
    /// What a commit waits for.
    Syncs,
    /// What is read from files and written to them.
    Pages,
    /// What sessions wait for of each other.
    Locks,
}

use Resource::{Locks, Pages, Processor, Syncs};

impl Resource {
    fn name(self) -> &'static str {
        match self {
            Processor => "processor time",
            Syncs => "commits, logs and syncs",
            Pages => "pages and files",
            Locks => "locks and threads",
        }
    }
}

/// What settings cost, by the key of their rule of the audit.
const BY_RULE: [(&str, &[Resource]); 20] = [
    ("durability", &[Syncs]),
    ("flush-method", &[Syncs, Pages]),
    ("flushing", &[Syncs, Pages]),
    ("replication", &[Syncs]),
    ("gtid", &[Syncs]),
    ("cache-size", &[Pages]),
    ("table-kind", &[Pages]),
    ("memory", &[Processor, Pages]),
    ("concurrency", &[Locks]),
    ("isolation", &[Locks]),
    ("deadlock-printing", &[Locks]),
    ("optimizer", &[Processor]),
    ("cost-constants", &[Processor]),
    ("charset", &[Processor]),
    ("instrumentation", &[Processor]),
    ("instrumentation-size", &[Processor]),
    ("allocator", &[Processor]),
    ("session", &[Processor]),
    ("encryption", &[Processor]),
    ("cipher", &[Processor]),
];
/// What settings with this name cost, or with names that go on behind it with `_`, whatever their
/// rule.
const BY_NAME: [(&str, &[Resource]); 32] = [
    ("innodb_adaptive_hash_index", &[Processor, Locks]),
    ("innodb_checksum", &[Processor]),
    ("innodb_log_checksums", &[Processor]),
    ("innodb_doublewrite", &[Syncs, Pages]),
    ("innodb_change_buffering", &[Pages]),
    ("innodb_read_ahead", &[Pages]),
    ("innodb_random_read_ahead", &[Pages]),
    ("innodb_io_capacity", &[Syncs, Pages]),
    ("innodb_page_size", &[Pages]),
    ("innodb_flush", &[Syncs, Pages]),
    ("innodb_compression", &[Processor, Pages]),
    ("innodb_spin", &[Locks]),
    ("innodb_sync", &[Locks]),
    ("innodb_deadlock_detect", &[Locks]),
    ("innodb_snapshot_isolation", &[Locks]),
    ("query_cache", &[Locks, Processor]),
    ("table_open_cache", &[Locks]),
    ("log_bin", &[Syncs]),
    ("binlog", &[Syncs]),
    ("sync", &[Syncs]),
    ("sort_buffer_size", &[Processor]),
    ("join_buffer_size", &[Processor]),
    ("io", &[Pages]),
    ("effective_io_concurrency", &[Pages]),
    ("wal", &[Syncs]),
    ("commit", &[Syncs]),
    ("synchronous", &[Syncs]),
    ("full_page_writes", &[Syncs]),
    ("checkpoint", &[Syncs, Pages]),
    ("bgwriter", &[Pages]),
    ("autovacuum", &[Pages]),
    ("jit", &[Processor]),
];
/// The same of the words of arms that live in our own threads.
const BY_WORD: [(&str, &[Resource]); 14] = [
    ("journal_mode", &[Syncs]),
    ("cache", &[Pages]),
    ("cache_size", &[Pages]),
    ("mmap_size", &[Pages]),
    ("device", &[Syncs]),
    ("log", &[Syncs]),
    ("wake", &[Locks]),
    ("gate", &[Locks]),
    ("schedule", &[Locks]),
    ("sigma", &[Locks]),
    ("kappa", &[Locks]),
    ("cpu_us", &[Processor]),
    ("row_us", &[Processor]),
    ("client_us", &[Processor]),
];

/// What a difference may cost; nothing where that is not known.
fn resources(suspect: &Suspect) -> &'static [Resource] {
    let goes_on = |known: &str| {
        suspect
            .name
            .strip_prefix(known)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    };
    let by_name = BY_NAME.iter().find(|(known, _)| goes_on(known));
    let key = suspect.facts.first().map_or("", |fact| dbdyno_audit::rule_key_of(fact));
    by_name
        .or_else(|| BY_WORD.iter().find(|(known, _)| suspect.name == *known))
        .or_else(|| BY_RULE.iter().find(|(known, _)| *known == key))
        .map_or(&[], |(_, resources)| *resources)
}

/// Processors take the difference where they take so much of it, and the rest does where they take
/// less than half at most.
const WORK_LEAST: f64 = 0.7;
const WORK_MOST: f64 = 0.5;
/// A difference of less says nothing of where it comes from.
const DIFFERENCE_LEAST: f64 = 0.02;
/// So many times as much is read or written as in the faster arm, and so much of it, in KB for an
/// operation.
const BYTES_TIMES: f64 = 1.5;
const BYTES_LEAST: f64 = 0.1;
/// So much of the difference is waited for one thing.
const WAIT_LEAST: f64 = 0.2;

/// What facts of a cell point to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pointing {
    resources: BTreeSet<Resource>,
    /// The facts, as parts of a sentence.
    why: Vec<String>,
}

impl Pointing {
    /// What is known of a cell: its ledger, what its servers count, and what their sessions waited
    /// for, where that was looked at before.
    pub fn of_cell(
        cell: &CellComparison,
        ledger: Option<&Ledger>,
        work: &[FactComparison],
        waits: Option<&Waits>,
    ) -> Pointing {
        let slower = 1.0 / cell.rqps.estimate - 1.0;
        let mut pointing = Pointing::default();
        if !slower.is_finite() || slower.abs() < DIFFERENCE_LEAST {
            return pointing;
        }
        let is_of_processors = ledger.map(|ledger| pointing.by_ledger(ledger));
        if is_of_processors == Some(Some(true)) {
            return pointing;
        }
        pointing.by_work(work, slower);
        let of_arms = PerArm::from_fn(|arm| &cell.arms[arm]);
        pointing.by_bytes(&of_arms.map(|of| [of.written_kb_per_op, of.read_kb_per_op]), slower);
        waits.into_iter().for_each(|waits| pointing.by_waits(waits));
        if pointing.resources.is_empty() && is_of_processors == Some(Some(false)) {
            pointing.resources.extend([Syncs, Pages, Locks]);
        }
        pointing
    }

    /// Facts that point to this alone.
    #[cfg(test)]
    pub(crate) fn to(resource: Resource) -> Pointing {
        Pointing { resources: [resource].into(), why: Vec::new() }
    }

    /// Whether processors take the difference, if the ledger says so or the contrary.
    fn by_ledger(&mut self, ledger: &Ledger) -> Option<bool> {
        let (most, share) = (ledger.work_share_most()?, ledger.work_share()?);
        if most < WORK_MOST {
            self.why.push(format!(
                "processors take at most {:.0} % of the difference, and the rest is waiting, for \
                     processors included",
                100.0 * most
            ));
            return Some(false);
        }
        if share < WORK_LEAST {
            return None;
        }
        self.why.push(format!("processors take {:.0} % of the difference", 100.0 * share.min(1.0)));
        self.resources.insert(Processor);
        Some(true)
    }

    fn by_work(&mut self, work: &[FactComparison], slower: f64) {
        for one in work.iter().filter(|one| one.worth == FactWorth::Telling) {
            let resource = match one.fact.class {
                FactClass::Log => Syncs,
                FactClass::Pages => Pages,
                FactClass::Wait => Locks,
                FactClass::Access | FactClass::Temporary => Processor,
                FactClass::Debt | FactClass::Work | FactClass::Sessions | FactClass::Errors => {
                    continue;
                }
            };
            // What the slower arm has less of does not make it slower.
            let is_more = one.ratio_to_base().is_some_and(|times| (times > 1.0) == (slower > 0.0));
            if is_more && self.resources.insert(resource) {
                let shown =
                    |value| one.fact.display_value(value).unwrap_or_else(|| "none".to_owned());
                let (base, test) = (shown(one.base), shown(one.test));
                self.why.push(format!("{}: {base} → {test}", one.fact.name));
            }
        }
    }

    /// By KB for an operation, those that were written and those that were read.
    fn by_bytes(&mut self, kb: &PerArm<[Option<f64>; 2]>, slower: f64) {
        for (at, resource, what) in [(0, Syncs, "written"), (1, Pages, "read")] {
            // What is not known of an arm is not 0.
            let (Some(base), Some(test)) = (kb.base[at], kb.test[at]) else { continue };
            let (fast, slow) = if slower > 0.0 { (base, test) } else { (test, base) };
            if slow >= BYTES_LEAST && slow > BYTES_TIMES * fast && self.resources.insert(resource) {
                self.why.push(format!("KB {what} for an operation: {base:.1} → {test:.1}"));
            }
        }
    }

    fn by_waits(&mut self, waits: &Waits) {
        let whole = waits.total.us.test - waits.total.us.base;
        for line in &waits.lines {
            let resource = match line.name.as_str() {
                name if name.contains("lock") || name.contains("latch") => Locks,
                name if name.contains("log") || name.contains("commit") => Syncs,
                name if name.contains("file") => Pages,
                _ => continue,
            };
            let more = line.us.test - line.us.base;
            if more / whole >= WAIT_LEAST && self.resources.insert(resource) {
                self.why.push(format!("waiting for {}", line.name));
            }
        }
    }

    /// What a suspect weighs more for it.
    fn weighs(&self, suspect: &Suspect) -> bool {
        resources(suspect).iter().any(|one| self.resources.contains(one))
    }

    /// Puts what the facts point to first.
    pub(crate) fn rank_suspects(&self, suspects: &mut [Suspect]) {
        for one in suspects.iter_mut().filter(|one| self.weighs(one)) {
            one.weight *= usual::POINTED;
        }
        suspects.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.name.cmp(&b.name)));
    }

    /// What is told of it: `None` where the facts point to nothing that differs.
    pub fn prior_for(&self, suspects: &[Suspect]) -> Option<Prior> {
        let first = suspects.iter().filter(|one| self.weighs(one)).map(|one| one.name.clone());
        let first: Vec<String> = first.collect();
        (!first.is_empty()).then(|| Prior {
            points_to: self.resources.iter().map(|one| one.name()).collect(),
            why: self.why.join("; "),
            first,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not known of an arm is not 0: bytes of the other one point to nothing.
    #[test]
    fn bytes_that_are_not_known_point_to_nothing() {
        let pointed = |base: [Option<f64>; 2], test: [Option<f64>; 2], slower: f64| {
            let mut pointing = Pointing::default();
            pointing.by_bytes(&PerArm { base, test }, slower);
            (pointing.resources.into_iter().collect::<Vec<_>>(), pointing.why)
        };
        let (none, some) = ([None, None], [Some(5.0), Some(9.0)]);
        for (base, test, slower) in
            [(none, some, 1.0), (some, none, 1.0), (none, some, -0.5), (some, none, -0.5)]
        {
            assert_eq!(pointed(base, test, slower), (Vec::new(), Vec::new()), "{base:?} {test:?}");
        }
        let zero = [Some(0.0), Some(0.0)];
        for (base, test, slower) in [(zero, some, 1.0), (some, zero, -0.5)] {
            let (resources, why) = pointed(base, test, slower);
            assert!(resources.contains(&Syncs) && resources.contains(&Pages), "{resources:?}");
            assert!(why[0].starts_with("KB written for an operation: "), "{why:?}");
        }
        let (resources, why) = pointed([None, Some(1.0)], [Some(5.0), Some(9.0)], 1.0);
        assert_eq!(resources, [Pages]);
        assert_eq!(why, ["KB read for an operation: 1.0 → 9.0"], "the known one still points");
        assert_eq!(pointed(zero, some, -0.5).0, [], "the faster arm did more");
    }

    /// Options as servers of several families call them, and what they may cost.
    #[test]
    fn what_a_setting_costs_is_known_by_its_rule_or_its_name() {
        let suspect = |name: &str, facts: Vec<String>| {
            resources(&Suspect {
                name: name.to_owned(),
                facts,
                told: Vec::new(),
                given: Vec::new(),
                base: String::new(),
                test: String::new(),
                weight: 1.0,
            })
        };
        let of = |name: &str| suspect(name, vec![format!("variable.{name}")]);
        for name in [
            "sync_binlog",
            "innodb_flush_log_at_trx_commit",
            "innodb_flush_method",
            "innodb_doublewrite",
            "log_bin",
            "synchronous_commit",
            "fsync",
            "full_page_writes",
            "wal_sync_method",
            "wal_compression",
            "innodb_use_fdatasync",
            "binlog_group_commit_sync_delay",
            "innodb_redo_log_capacity",
        ] {
            assert!(of(name).contains(&Syncs), "{name}: {:?}", of(name));
        }
        for name in [
            "optimizer_switch",
            "eq_range_index_dive_limit",
            "performance_schema",
            "jit",
            "jit_above_cost",
            "innodb_adaptive_hash_index",
            "character_set_server",
            "sort_buffer_size",
            "track_io_timing",
        ] {
            assert!(of(name).contains(&Processor), "{name}: {:?}", of(name));
        }
        for name in ["innodb_buffer_pool_size", "shared_buffers", "io_method", "innodb_io_capacity"]
        {
            assert!(of(name).contains(&Pages), "{name}: {:?}", of(name));
        }
        for name in ["innodb_thread_concurrency", "transaction_isolation", "query_cache_type"] {
            assert!(of(name).contains(&Locks), "{name}: {:?}", of(name));
        }
        let word = suspect("jitter", Vec::new());
        assert_eq!(word, &[] as &[Resource], "it only begins like jit");
        assert!(!of("log_error_verbosity").contains(&Syncs), "no log of changes");
    }
}
