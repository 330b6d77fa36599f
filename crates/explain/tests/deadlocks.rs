//! Deadlocks as real servers told them, whole and damaged.

use dbdyno_explain::{LogKind, deadlock_clusters, read_deadlocks, statement_with_holes};
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

/// Each line with what a tool or a person has put before it.
fn wrapped(text: &str, before: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| before(line) + "\n").collect()
}

/// However a log was carried here, it tells the same.
#[test]
fn a_log_tells_the_same_however_it_was_carried() {
    let json = |line: &str| serde_json::to_string(&format!("{line}\n")).unwrap();
    type Carried = fn(&str) -> String;
    let ways: [(&str, Carried); 9] = [
        ("quoted", |line| format!("> {line}")),
        ("quoted twice", |line| format!(">> {line}").replace(">>", "> >")),
        ("indented", |line| format!("    {line}")),
        ("composed", |line| format!("db-1  | {line}")),
        ("a pod", |line| format!("[pod/db-0/mysql] 2026-01-01T00:00:00.123456789Z {line}")),
        ("a container", |line| format!("2026-01-01T00:00:00.123456789Z stderr F {line}")),
        ("syslog", |line| format!("Jan  1 00:00:00 host db[77]: {}", line.replace('\t', "#011"))),
        ("syslog's protocol", |line| format!("<134>1 2026-01-01T00:00:00Z host db 7 - - {line}")),
        ("ends of lines of Windows", |line| format!("{line}\r")),
    ];
    for (server, text) in TEXTS {
        let plain = deadlock_clusters(text);
        for (way, before) in ways {
            assert_eq!(deadlock_clusters(&wrapped(text, before)), plain, "{server}, {way}");
        }
        let docker = |line: &str| format!(r#"{{"log":{},"stream":"stderr"}}"#, json(line));
        assert_eq!(deadlock_clusters(&wrapped(text, docker)), plain, "{server}, docker");
        let journal = |line: &str| format!(r#"{{"MESSAGE":{},"_PID":"7"}}"#, json(line));
        assert_eq!(deadlock_clusters(&wrapped(text, journal)), plain, "{server}, journal");
    }
    for (server, text) in &TEXTS[4..] {
        let one_line = format!("InnoDB\t\t{}", text.replace('\n', "\\n"));
        assert_eq!(deadlock_clusters(&one_line), deadlock_clusters(text), "{server}, mysql -e");
    }
}

/// PostgreSQL's other forms of a log, and what its clients print, which knows no statements.
#[test]
fn postgres_tells_of_a_deadlock_in_many_forms() {
    let details = "Process 7 waits for ShareLock on transaction 2; blocked by process 8.\n\
                   Process 8 waits for ShareLock on transaction 1; blocked by process 7.";
    let asked = "Process 7: UPDATE a SET x=1\nProcess 8: UPDATE b\n   SET x=1";
    let plain =
        format!("ERROR:  deadlock detected\nDETAIL:  {details}\n{asked}\n").replace("\nP", "\n\tP");
    let of_server = deadlock_clusters(&plain.replace("\n   SET", "\n\t   SET"));
    assert_eq!(statements(&of_server[0]), ["UPDATE a SET x=?", "UPDATE b SET x=?"]);
    let csv = format!(
        "2026-01-01 00:00:00.000 UTC,\"u\",\"d\",7,\"[local]\",1.7,3,\"UPDATE\",\
         2026-01-01 00:00:00 UTC,3/1,2,FEHLER,40P01,\"Verklemmung entdeckt\",\"{details}\n{asked}\",\
         \"See \"\"log\"\".\",,,,\"UPDATE a SET x=1\",,,\"psql\",\"client backend\",,0\n"
    );
    let json = serde_json::json!({
        "timestamp": "2026-01-01 00:00:00.000 UTC", "pid": 7, "error_severity": "ERROR",
        "state_code": "40P01", "message": "deadlock detected",
        "detail": format!("{details}\n{asked}"), "statement": "UPDATE a SET x=1",
    });
    let blanks = plain.replace('\t', "        ");
    let verbose = plain.replace("ERROR:  ", "2026-01-01 00:00:00 UTC [7] u@d ERROR:  40P01: ");
    for text in [csv, json.to_string(), blanks, verbose] {
        assert_eq!(deadlock_clusters(&text), of_server, "{text}");
    }
    // Prefixes of lines as managed servers and commas have them.
    for prefix in
        ["2026-01-01 00:00:00 UTC:10.0.0.1(5432):u@d:[7]:", "2026-01-01 00:00:00 UTC,u,d,7,"]
    {
        let text = plain.replace("ERROR:", &format!("{prefix}ERROR:"));
        let text = text.replace("DETAIL:", &format!("{prefix}DETAIL:"));
        assert_eq!(deadlock_clusters(&text), of_server, "{text}");
    }
    let psql = format!(
        "psql:x.sql:3: ERROR:  deadlock detected\nDETAIL:  {details}\n\
                        HINT:  See server log for query details.\n"
    );
    let jdbc = format!(
        "org.postgresql.util.PSQLException: ERROR: deadlock detected\n\
                        \u{20} Detail: {details}\n  Hint: See server log.\n"
    );
    let german = "FEHLER:  Verklemmung (Deadlock) entdeckt\n\
        DETAIL:  Prozess 7 wartet auf ShareLock-Sperre auf Transaktion 2; blockiert von Prozess 8.\n\
        \tProzess 8 wartet auf ShareLock-Sperre auf Transaktion 1; blockiert von Prozess 7.\n\
        \tProzess 7: UPDATE a SET x=1\n\tProzess 8: UPDATE b SET x=1\n";
    let french = "ERREUR:  interblocage (deadlock) détecté\n\
        DÉTAIL :  Le processus 7 attend ShareLock sur transaction 2 ; bloqué par le processus 8.\n\
        \tLe processus 8 attend ShareLock sur transaction 1 ; bloqué par le processus 7.\n\
        \tProcessus 7 : UPDATE a SET x=1\n\tProcessus 8 : UPDATE b SET x=1\n";
    for text in [&psql, &jdbc] {
        let reading = read_deadlocks(text);
        assert_eq!((reading.clusters.len(), &reading.unread[..]), (1, &[][..]), "{text}");
        assert_eq!(statements(&reading.clusters[0]), ["", ""], "{text}");
    }
    for text in [german, french] {
        let clusters = deadlock_clusters(text);
        assert_eq!(clusters.len(), 1, "{text}");
        let [a, b] = statements(&clusters[0])[..] else { panic!("{clusters:?}") };
        assert_eq!([a, b], ["UPDATE a SET x=?", "UPDATE b SET x=?"], "{text}");
        assert!(clusters[0].parties.iter().all(|one| one.waits_for == ["ShareLock"]), "{text}");
    }
}

/// As people post it: an exception of a driver, in one line, coloured, or broken by a page.
#[test]
fn what_people_post_is_read() {
    let waits = "Process 7 waits for ShareLock on transaction 2; blocked by process 8.";
    let other = "Process 8 waits for ShareLock on transaction 1; blocked by process 7.";
    let texts = [
        format!("ERROR: deadlock detected\nDETAIL: {waits}\n{other}\nHINT: See the log.\n"),
        format!("2026-01-07 11:37:47.058 UTC [24887] DETAIL:  {waits}\n        {other}\n"),
        format!("psycopg2.errors.DeadlockDetected: deadlock detected\nDETAIL:  {waits}\n{other}\n"),
        format!("(psycopg2.errors.DeadlockDetected) deadlock detected DETAIL: {waits} {other}\n"),
        format!(
            "\x1b[36mweb_1   |\x1b[0m raised DeadlockDetected('deadlock detected\\nDETAIL:  \
             {waits}\\n{other}\\nHINT:  See server log.\\n')\n"
        ),
    ];
    for text in texts {
        let reading = read_deadlocks(&text);
        assert_eq!((reading.clusters.len(), &reading.unread[..]), (1, &[][..]), "{text}");
        let parties = &reading.clusters[0].parties;
        assert!(
            parties.iter().all(|one| one.waits_for[0] == "ShareLock on transaction ?"),
            "{text}"
        );
    }
    let of_next_line = format!(
        "ERROR:  deadlock detected\nDETAIL:  {waits}\n        {other}\n        Process 7: SELECT f()\n\
         \u{20}       Process 8:\n        INSERT INTO m\n        VALUES ('x', (NULL, 0))\n\n\
         2026-01-01 00:00:00 UTC [8] LOG:  duration: 1 ms  statement:\n        INSERT INTO other\n"
    );
    let clusters = deadlock_clusters(&of_next_line);
    assert_eq!(statements(&clusters[0]), ["INSERT INTO m VALUES (?, (NULL, ?))", "SELECT f()"]);
    // A page has taken the stars for a list, and has broken the lines.
    let page = TEXTS[5].1.replace("*** (", "(").replace(" index ", " index\n");
    assert_eq!(deadlock_clusters(&page), deadlock_clusters(TEXTS[5].1));
}

/// A cycle closes by lock and record: what is told one behind the other is not thrown together.
#[test]
fn as_many_take_part_as_close_the_cycle() {
    let counts = |text: &str| -> Vec<usize> {
        let clusters = deadlock_clusters(text);
        clusters.iter().map(|one| one.parties.len()).collect()
    };
    assert_eq!(counts(include_str!("deadlocks/foreign/three-parties.log")), [3]);
    let mut told = counts(include_str!("deadlocks/foreign/three-then-two-verbosity2.log"));
    told.sort_unstable();
    assert_eq!(told, [2, 3]);
    assert_eq!(counts(include_str!("deadlocks/foreign/pg-compose.log")), [2]);
    // Without headings, of one table: records tell who is in whose way.
    let party = |number: u32, wants: u32, has: u32| {
        let lock = |record: u32, state: &str| {
            format!(
                "RECORD LOCKS space id 4 page no 4 n bits 72 index PRIMARY of table `d`.`t` trx \
                 id {number} lock_mode X{state}\nRecord lock, heap no {record} PHYSICAL RECORD: 1\n\n"
            )
        };
        format!(
            "TRANSACTION {number}, ACTIVE 1 sec\nMySQL thread id {number}, query id 1\n\
             UPDATE t SET x={number}\n{}{}",
            lock(has, ""),
            lock(wants, " waiting")
        )
    };
    let three = [party(1, 12, 11), party(2, 13, 12), party(3, 11, 13)].concat();
    let two = [party(4, 15, 14), party(5, 14, 15)].concat();
    for (text, expected) in [
        (three.clone() + &two, vec![2, 3]),
        (two.clone() + &three, vec![2, 3]),
        (
            two.clone()
                + &two.replace("TRANSACTION 4", "TRANSACTION 6").replace("id 4 l", "id 6 l"),
            vec![2],
        ),
    ] {
        let mut told = counts(&text);
        told.sort_unstable();
        assert_eq!(told, expected, "{text}");
    }
    // The last of three is lost: no deadlock is told that never happened.
    let cut = [party(1, 12, 11), party(2, 13, 12), party(4, 15, 14)].concat();
    let reading = read_deadlocks(&cut);
    assert_eq!((reading.clusters.len(), &reading.unread[..]), (0, &[1][..]), "{reading:?}");
}

/// MySQL 5.0 and 5.1 number transactions in two parts.
#[test]
fn old_numbers_of_transactions_keep_their_locks() {
    let old = TEXTS[2].1.replace("TRANSACTION ", "TRANSACTION 0 ").replace("trx id ", "trx id 0 ");
    assert_eq!(deadlock_clusters(&old), deadlock_clusters(TEXTS[2].1));
}

/// What a text was taken for, how much of it has no part, and what was not understood.
#[test]
fn a_reading_says_how_much_was_understood() {
    for (server, text) in TEXTS {
        let reading = read_deadlocks(text);
        let kind = match server {
            _ if server.starts_with("Postgre") => LogKind::Postgres,
            _ if server.ends_with("monitor") => LogKind::InnodbStatus,
            _ => LogKind::Mysql,
        };
        assert!(reading.kinds.contains(&kind), "{server}: {:?}", reading.kinds);
        assert!(reading.passed_over < reading.lines, "{server}");
        assert_eq!(reading.unread, [0; 0], "{server}");
    }
    assert_eq!(read_deadlocks("").kinds, []);
    assert_eq!(read_deadlocks("dear diary\n").kinds, []);
    let more = format!("{}\n2026 ERROR:  deadlock detected\n", TEXTS[3].1);
    assert_eq!(read_deadlocks(&more).unread, [more.lines().count()]);
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
