//! Deadlocks as real servers told them, whole and damaged.

use dbdyno_explain::{deadlock_clusters, statement_with_holes};
use dbdyno_model::{DeadlockCluster, Dialect};
use proptest::prelude::*;

const TEXTS: [(&str, &str); 6] = [
    ("MariaDB 10.11.19", include_str!("deadlocks/mariadb-10.11.19.log")),
    ("MySQL 8.0.33", include_str!("deadlocks/mysql-8.0.33.log")),
    ("MySQL 5.6.24", include_str!("deadlocks/mysql-5.6.24.log")),
    ("PostgreSQL 15.20", include_str!("deadlocks/postgres-15.20.log")),
    ("MariaDB 10.11.19, monitor", include_str!("deadlocks/mariadb-10.11.19.status")),
    ("MySQL 8.0.33, monitor", include_str!("deadlocks/mysql-8.0.33.status")),
];

const UPDATE: &str = "UPDATE stock SET qty = qty + ?, note = ? WHERE w = ? AND i = ?";
const SELECT: &str = "SELECT qty FROM stock WHERE w = ? FOR UPDATE";

fn statements(cluster: &DeadlockCluster) -> Vec<&str> {
    cluster.parties.iter().map(|party| party.statement.as_str()).collect()
}

/// Three deadlocks of two updates, with other rows and in another order, and one of two locking
/// reads.
#[test]
fn every_deadlock_of_a_log_is_in_the_cluster_of_its_signature() {
    for (server, text) in &TEXTS[..4] {
        let clusters = deadlock_clusters(text);
        let counts: Vec<u64> = clusters.iter().map(|one| one.count).collect();
        assert_eq!(counts, [3, 1], "{server}: {clusters:#?}");
        assert_eq!(statements(&clusters[0]), [UPDATE; 2], "{server}");
        assert_eq!(statements(&clusters[1]), [SELECT; 2], "{server}");
        let waits =
            clusters.iter().flat_map(|one| &one.parties).all(|one| !one.waits_for.is_empty());
        assert!(waits, "{server}: {clusters:#?}");
    }
}

#[test]
fn the_latest_deadlock_of_a_monitor_is_one() {
    for (server, text) in &TEXTS[4..] {
        let clusters = deadlock_clusters(text);
        assert_eq!(clusters.len(), 1, "{server}: {clusters:#?}");
        assert_eq!((clusters[0].count, statements(&clusters[0])), (1, vec![SELECT; 2]), "{server}");
    }
}

#[test]
fn locks_are_told_by_table_index_and_mode() {
    let mysql = &deadlock_clusters(TEXTS[1].1)[0];
    let lock = "index PRIMARY of table dbdyno.stock: X locks rec but not gap";
    for party in &mysql.parties {
        assert_eq!(
            (&party.waits_for[..], &party.holds[..]),
            (&[lock.to_owned()][..], &[lock.to_owned()][..])
        );
    }
    // Only one of the two holders is told of each lock; both are.
    let mariadb = &deadlock_clusters(TEXTS[0].1)[0];
    assert!(mariadb.parties.iter().all(|party| party.holds == [lock]), "{mariadb:#?}");
    let postgres = &deadlock_clusters(TEXTS[3].1)[0];
    let waits: Vec<&String> = postgres.parties.iter().flat_map(|one| &one.waits_for).collect();
    assert!(waits.iter().any(|wait| **wait == "ShareLock on transaction ?"), "{waits:?}");
    assert!(waits.iter().any(|wait| **wait == "a row of stock"), "{waits:?}");
}

#[test]
fn a_log_without_deadlocks_has_no_clusters() {
    for text in ["", "\n\n", "ERROR:  deadlock detected", "TRANSACTION 1, ACTIVE 0 sec\n", "*** (1"]
    {
        assert!(deadlock_clusters(text).is_empty(), "{text}");
    }
}

/// What may become of a log: bytes that are lost, put in, or cut off.
#[derive(Clone, Debug)]
enum Damage {
    Cut(prop::sample::Index, prop::sample::Index),
    Put(prop::sample::Index, String),
    Swap(prop::sample::Index, prop::sample::Index),
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    use prop::sample::Index;
    let damage = prop_oneof![
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Damage::Cut(a, b)),
        (any::<Index>(), "\\PC{0,8}|[*()\t\n :'`,;-]{0,6}")
            .prop_map(|(at, text)| Damage::Put(at, text)),
        (any::<Index>(), any::<Index>()).prop_map(|(a, b)| Damage::Swap(a, b)),
    ];
    prop::collection::vec(damage, 0..12)
}

fn damaged(text: &str, damages: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for damage in damages {
        if chars.is_empty() {
            break;
        }
        match damage {
            Damage::Cut(a, b) => {
                let (a, b) = (a.index(chars.len()), b.index(chars.len()));
                // As a rule a little is lost, seldom half of it.
                chars.drain(a.min(b)..(a.min(b) + a.abs_diff(b) / 8));
            }
            Damage::Put(at, text) => {
                let at = at.index(chars.len());
                chars.splice(at..at, text.chars());
            }
            Damage::Swap(a, b) => {
                let (a, b) = (a.index(chars.len()), b.index(chars.len()));
                chars.swap(a, b);
            }
        }
    }
    chars.into_iter().collect()
}

/// Texts with what begins and ends literals and comments in them.
const SECRET: &str = "[A-Z]{2}[0-9'\"\\\\/*#$ -]{0,3}[A-Z]{2}";

/// A part of a statement with this text in a literal, a comment or, without its letters, a name.
fn written(kind: usize, text: &str, dialect: Dialect) -> String {
    let protected = |mark: char| text.replace('\\', "\\\\").replace(mark, &format!("\\{mark}"));
    let doubled = |mark: char, text: &str| text.replace(mark, &format!("{mark}{mark}"));
    let name = text.to_lowercase();
    match (kind, dialect) {
        (0, Dialect::Mysql) => format!("a = '{}' ", protected('\'')),
        (0, _) => format!("a = E'{}' ", protected('\'')),
        (1, Dialect::Mysql) => format!("a = \"{}\" ", protected('"')),
        (1, _) => format!("b = $q${}$q$ ", text.replace('$', "")),
        (2, Dialect::Mysql) => format!("a = '{}' ", doubled('\'', &text.replace('\\', "\\\\"))),
        (2, _) => format!("a = '{}' ", doubled('\'', &text.replace('\\', ""))),
        (3, _) => format!("/* {} */ ", text.replace('*', "")),
        (4, _) => format!("-- {text}\n"),
        (5, Dialect::Mysql) => format!("# {text}\n"),
        (6, Dialect::Mysql) => format!("`{}` ", doubled('`', &name)),
        (6, _) => format!("\"{}\" ", doubled('"', &name)),
        (7, _) => "a in (1, 2, '3') ".to_owned(),
        _ => "and b = 0xAB ".to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever becomes of a log, it is read, and no deadlock is told that has no two parties.
    #[test]
    fn damaged_logs_are_read_as_far_as_they_go(which in 0..TEXTS.len(), damages in damages()) {
        let text = damaged(TEXTS[which].1, &damages);
        for cluster in deadlock_clusters(&text) {
            prop_assert!(cluster.count > 0 && cluster.parties.len() >= 2, "{cluster:?}");
        }
    }

    /// Holes are put in once: what has them already stays as it is.
    #[test]
    fn holes_stay_holes(sql in "[a-z0-9 ,=()'`\"?\\\\\n\u{e4}$/*#-]{0,60}") {
        for dialect in [Dialect::Mysql, Dialect::Postgres] {
            let once = statement_with_holes(&sql, dialect);
            prop_assert_eq!(statement_with_holes(&once, dialect), once.clone());
        }
    }

    /// Statements are written by the dialect's rules and cut off anywhere, as logs do.
    #[test]
    fn no_literal_appears_in_a_statement_with_holes(
        is_mysql: bool,
        parts in prop::collection::vec((0..9_usize, SECRET), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let dialect = if is_mysql { Dialect::Mysql } else { Dialect::Postgres };
        let sql: String = parts.iter().map(|(kind, text)| written(*kind, text, dialect)).collect();
        let cut = cut.index(sql.len() + 1);
        for sql in [&sql[..], &sql[..cut]] {
            let holes = statement_with_holes(sql, dialect);
            let is_secret = |letter: char| letter.is_ascii_uppercase() && letter != 'E';
            prop_assert!(!holes.contains(is_secret), "{holes}\n  of {sql}");
        }
    }
}
