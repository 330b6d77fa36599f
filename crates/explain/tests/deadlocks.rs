//! Deadlocks as real servers told them, whole and damaged.

use dbdyno_explain::{
    LogDirection, LogKind, LogRepair, deadlock_clusters, gather_deadlocks, read_deadlocks,
    statement_with_holes,
};
use dbdyno_model::{DeadlockCluster, DeadlockParty, Dialect};
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

/// Rows of `pg_locks`, and prose about them, have a process, a mode and a number.
#[test]
fn rows_and_prose_about_locks_are_no_deadlock() {
    for text in [
        " pid | relation | mode\n-----+----------+------\n 77 | 16396 | ShareLock\n 78 | 16396 | \
         ExclusiveLock\n",
        "22870\t16390\tShareLock\tt\n22871\t16390\tExclusiveLock\tf\n",
        "In step 1 pid 476 takes RowExclusiveLock on t.\nIn step 2 pid 477 requests ShareLock on \
         transaction 750 and waits.\n",
    ] {
        let reading = read_deadlocks(text);
        assert_eq!((reading.tellings.len(), reading.unread.len()), (0, 0), "{text}");
    }
}

/// What the monitor says of an error of a foreign key looks like the beginning of a deadlock.
#[test]
fn an_error_of_a_foreign_key_is_no_deadlock() {
    let error = "------------------------\nLATEST FOREIGN KEY ERROR\n------------------------\n\
                 101220 15:12:17 Transaction:\nTRANSACTION 3837B, ACTIVE 0 sec inserting\n\
                 MySQL thread id 517, query id 17 localhost ann update\nINSERT INTO t VALUES (1)\n\
                 Foreign key constraint fails for table `d`.`t`:\n";
    let rest = "------------\nTRANSACTIONS\n------------\n";
    for text in [error.to_owned(), error.to_owned() + rest] {
        let reading = read_deadlocks(&text);
        assert_eq!((reading.tellings.len(), reading.unread.len()), (0, 0), "{reading:?}");
    }
    // Nor is one lost that stands behind it, or before.
    for (name, told) in &TEXTS[..3] {
        let count = |text: &str| read_deadlocks(text).tellings.len();
        let before = format!("{told}\n{error}{rest}");
        assert_eq!([count(&format!("{error}{told}")), count(&before)], [count(told); 2], "{name}");
    }
}

/// A text that is cut anywhere tells no deadlock as whole that never happened.
#[test]
fn what_is_cut_off_is_told_in_part() {
    let signatures = |text: &str| -> Vec<Vec<DeadlockParty>> {
        let mut all: Vec<_> = deadlock_clusters(text).into_iter().map(|one| one.parties).collect();
        for party in all.iter_mut().flatten() {
            // Of the rows PostgreSQL tells behind all the rest.
            party.waits_for.retain(|lock| !lock.starts_with("a row of "));
        }
        all
    };
    for (server, text) in TEXTS {
        let whole = signatures(text);
        assert_eq!(read_deadlocks(text).in_part, [], "{server}");
        let lines: Vec<&str> = text.lines().take(60).collect();
        for at in 0..lines.len() {
            for part in [&lines[..at], &lines[at..]].map(|part| part.join("\n")) {
                let reading = read_deadlocks(&part);
                let mut told = signatures(&part);
                told.retain(|one| !whole.contains(one));
                let is_said = told.is_empty() || !reading.in_part.is_empty();
                assert!(is_said, "{server}, {at}: {told:?}");
            }
        }
    }
}

/// The lines of a screen of so many columns.
fn on_a_screen(text: &str, columns: usize) -> String {
    let mut wrapped = String::new();
    for line in text.replace('\t', "        ").lines() {
        let letters: Vec<char> = line.chars().collect();
        let parts = letters.chunks(columns).map(|part| part.iter().collect::<String>());
        wrapped.push_str(&parts.collect::<Vec<_>>().join("\n"));
        wrapped.push('\n');
    }
    wrapped
}

/// The lines of a page of so many columns, broken between words.
fn by_words(text: &str, columns: usize) -> String {
    let mut wrapped = String::new();
    for line in text.replace('\t', "        ").lines() {
        let mut begun = 0;
        for (at, word) in line.split(' ').enumerate() {
            if at > 0 && begun + 1 + word.len() > columns {
                wrapped.push('\n');
                begun = 0;
            } else if at > 0 {
                wrapped.push(' ');
                begun += 1;
            }
            wrapped.push_str(word);
            begun += word.len();
        }
        wrapped.push('\n');
    }
    wrapped
}

/// A line of a page.
fn html(line: &str) -> String {
    let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    line.replace('"', "&quot;").replace('\'', "&#39;") + "<br>"
}

/// What becomes of a whole text on its way is undone, and said.
#[test]
fn what_has_become_of_a_text_is_undone() {
    for (server, text) in TEXTS {
        let plain = deadlock_clusters(text);
        let numbered = text.lines().enumerate().map(|(at, line)| format!("{:6}\t{line}\n", at + 1));
        let ways = [
            ("a page", LogRepair::Markup, wrapped(text, html)),
            ("numbers", LogRepair::Prefixes, numbered.collect()),
            ("names", LogRepair::Prefixes, wrapped(text, |line| format!("db-0 server {line}"))),
            ("a screen", LogRepair::Wraps(100), on_a_screen(text, 100)),
        ];
        for (way, repair, text) in ways {
            let reading = read_deadlocks(&text);
            // InnoDB's words are known whatever stands before them.
            let is_said = reading.repairs == [repair] || reading.repairs.is_empty();
            assert!(is_said && reading.in_part.is_empty(), "{server}, {way}: {reading:?}");
            assert_eq!(deadlock_clusters(&text), plain, "{server}, {way}: {text}");
            assert_eq!(reading.lines, text.lines().count(), "{server}, {way}");
        }
        assert_eq!(read_deadlocks(text).repairs, [], "{server}");
    }
    let wrapped = by_words(TEXTS[3].1, 72);
    assert_eq!(deadlock_clusters(&wrapped), deadlock_clusters(TEXTS[3].1), "{wrapped}");
    assert!(matches!(read_deadlocks(&wrapped).repairs[..], [LogRepair::Wraps(71 | 72)]));
}

/// A lock of which a part is lost is not told, and that it is lost is.
#[test]
fn locks_that_are_cut_are_not_told() {
    for cut in ["lock_mode X locks rec b", "lock_mod", "lock_mode X locks rec b ut not gap waiting"]
    {
        let text = TEXTS[5].1.replace("lock_mode X waiting", cut);
        let reading = read_deadlocks(&text);
        let lost = reading.in_part.iter().filter(|gap| gap.missing.contains("the line of a lock"));
        assert_eq!((reading.tellings.len(), lost.count()), (1, 2), "{cut}: {:?}", reading.in_part);
        let parties = &deadlock_clusters(&text)[0].parties;
        assert!(parties.iter().all(|party| party.waits_for.is_empty()), "{cut}: {parties:?}");
    }
}

/// Lines of a statement that have lost their indentation are of it where the account goes on.
#[test]
fn statements_keep_the_lines_that_lost_their_indentation() {
    let text = "ERROR:  deadlock detected\nDETAIL:  Process 7 waits for ShareLock on transaction 2;\
        \u{20}blocked by process 8.\nProcess 8 waits for ShareLock on transaction 1; blocked by \
        process 7.\nProcess 7: UPDATE a\nSET x=1\n\
                Process 8: UPDATE b\nSET x=1\nWHERE y=2\n";
    let behind = format!("{text}HINT:  See server log for query details.\n");
    let whole = ["UPDATE a SET x=?", "UPDATE b SET x=? WHERE y=?"];
    assert_eq!(statements(&deadlock_clusters(&behind)[0]), whole);
    // Where nothing is behind them it may be anything, which is said.
    let reading = read_deadlocks(text);
    assert_eq!(reading.in_part.iter().map(|gap| gap.line).collect::<Vec<_>>(), [7]);
    // With words before them that are not the same in all lines.
    let framed = behind.replace("\nProcess", "\n+ Process").replace("\nSET", "\n+ SET");
    assert!(!read_deadlocks(&framed).in_part.is_empty());
}

/// What is waited for is a party, and lines that begin in the middle tell of a deadlock.
#[test]
fn accounts_without_their_head_are_told_in_part() {
    let text = "\tProcess 8 waits for ShareLock on transaction 1; blocked by process 9.\n\
                \tProcess 9 waits for ShareLock on transaction 3; blocked by process 7.\n\
                \tProcess 7: UPDATE a\n\tProcess 8: UPDATE b\n\tProcess 9: UPDATE c\n";
    let clusters = deadlock_clusters(text);
    assert_eq!(statements(&clusters[0]), ["UPDATE a", "UPDATE b", "UPDATE c"]);
    assert!(clusters[0].parties[0].waits_for.is_empty());
    let gaps = read_deadlocks(text).in_part;
    assert_eq!((gaps.len(), &*gaps[0].missing), (1, "what process 7 waits for"));
    let alone: String = text.lines().skip(1).map(|line| format!("{line}\n")).collect();
    let reading = read_deadlocks(&alone);
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (0, &[1][..]));
    // A lock that another log tells is no deadlock.
    let waits = "2026 LOG:  process 7 still waiting for ShareLock on transaction 1 after 1000 ms\n";
    assert_eq!(read_deadlocks(waits).unread, [0; 0]);
}

/// The severity of a record of a csvlog is no head of a table.
#[test]
fn a_csvlog_may_begin_with_any_severity() {
    let record = |severity: &str, message: &str, detail: &str| {
        format!(
            "2026-01-01 00:00:00.000 UTC,\"u\",\"d\",7,\"[local]\",1.7,3,\"idle\",2026-01-01 \
             00:00:00 UTC,3/1,2,{severity},{message},\"{detail}\",,,,,,,,,\"psql\",\"client\",,0\n"
        )
    };
    let detail = "Process 7 waits for ShareLock on transaction 2; blocked by process 8.\nProcess 8 \
                  waits for ShareLock on transaction 1; blocked by process 7.\nProcess 7: UPDATE \
                  a\nProcess 8: UPDATE b";
    let deadlock = record("ERROR", "40P01,\"deadlock detected\"", detail);
    let text = record("LOG", "00000,\"connection authorized\"", "") + &deadlock;
    assert_eq!(deadlock_clusters(&text), deadlock_clusters(&deadlock));
    assert_eq!(statements(&deadlock_clusters(&text)[0]), ["UPDATE a", "UPDATE b"]);
}

/// The text of a server under whatever name an object of JSON has it.
#[test]
fn accounts_are_found_under_any_name() {
    for (server, plain) in &TEXTS[3..] {
        let text = *plain;
        let object = serde_json::json!({ "level": "error", "err": { "whole": text } });
        let with_message = serde_json::json!({ "msg": "query failed", "err": text });
        for text in [object, with_message].map(|object| object.to_string()) {
            assert_eq!(deadlock_clusters(&text), deadlock_clusters(plain), "{server}");
        }
    }
}

/// Lines that a page has broken between words: as MySQL's own manual prints them.
#[test]
fn lines_that_a_page_has_broken_are_joined() {
    let text = "LATEST DETECTED DEADLOCK\n*** (1) TRANSACTION:\n\
                TRANSACTION 11703, ACTIVE 71 sec starting index read\n\
                MySQL thread id 40, OS thread handle 0xa4, query id 131 localhost\n\
                bunyk Searching rows for update\nupdate m set a = 0\n\
                *** (1) WAITING FOR THIS LOCK TO BE GRANTED:\n\
                RECORD LOCKS space id 0 page no 635 n bits 72 index `PRIMARY`\n\
                of table `t`.`m` trx id 11703 lock_mode X waiting\n\
                *** (2) TRANSACTION:\nTRANSACTION 11702, ACTIVE 78 sec\n\
                MySQL thread id 41, OS thread handle 0xa4, query id 132 localhost\n\
                bunyk Searching rows for update\nupdate m set a = 1\n\
                *** (2) HOLDS THE LOCK(S):\n\
                RECORD LOCKS space id 0 page no 635 n bits 72 index `PRIMARY`\n\
                of table `t`.`m` trx id 11702 lock\nmode S locks rec but not gap\n\
                *** (2) WAITING FOR THIS LOCK TO BE GRANTED:\n\
                RECORD LOCKS space id 0 page no 635 n bits 72 index `PRIMARY`\n\
                of table `t`.`m` trx id 11702 lock_mode X\nlocks gap before rec insert\n\
                intention waiting\n*** WE ROLL BACK TRANSACTION (1)\n";
    let place = "index PRIMARY of table t.m:";
    for lost in ["", " waiting\n"] {
        let text = text.replace(lost, if lost.is_empty() { "" } else { "\n" });
        let cluster = &deadlock_clusters(&text)[0];
        let told = |mode: &str| vec![format!("{place} {mode}")];
        let find = |statement: &str| {
            let mut parties = cluster.parties.iter();
            let party = parties.find(|one| one.waits_for == told(statement)).unwrap();
            (party.statement.clone(), party.holds.clone())
        };
        assert_eq!(find("X"), ("update m set a = ?".to_owned(), vec![]));
        let second = find("X locks gap before rec insert intention");
        assert_eq!(second, ("update m set a = ?".to_owned(), told("S locks rec but not gap")));
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

/// Heroku numbers the lines of each entry, those of a statement as well: they were not logged.
#[test]
fn lines_of_logplex_are_those_of_their_entry() {
    let text = TEXTS[3].1;
    for process in ["app[postgres.77]:", "d.af28b93f-a129 app[postgres.77]"] {
        let mut part = 0;
        let carried = text.lines().map(|line| {
            part = if line.starts_with('\t') { part + 1 } else { 1 };
            let blank = if part > 1 { "" } else { " sql_error_code = 40P01 " };
            format!("2026-01-01T00:00:00+00:00 {process} [GREEN] [19-{part}] {blank}{line}\n")
        });
        let carried: String = carried.collect();
        let reading = read_deadlocks(&carried);
        assert!(reading.in_part.is_empty() && reading.repairs.is_empty(), "{reading:?}");
        assert_eq!(deadlock_clusters(&carried), deadlock_clusters(text), "{process}");
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
    // As `jq .` and journalctl print it: with a line for each name, in the first place or not.
    let pretty = serde_json::to_string_pretty(&json).unwrap();
    let other = "{\n  \"error_severity\": \"LOG\",\n  \"message\": \"checkpoint starting\"\n}";
    let after = format!("$ jq . postgresql.json\n{other}\n{pretty}\n");
    let lines = plain.lines().map(|line| serde_json::json!({"MESSAGE": line, "_PID": "7"}));
    let journal: Vec<String> =
        lines.map(|line| serde_json::to_string_pretty(&line).unwrap()).collect();
    for text in [csv, json.to_string(), pretty, after, blanks, verbose] {
        assert_eq!(deadlock_clusters(&text), of_server, "{text}");
    }
    assert_eq!(deadlock_clusters(&journal.join("\n")), deadlock_clusters(&plain));
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
        assert_eq!((reading.tellings.len(), &reading.unread[..]), (1, &[][..]), "{text}");
        assert_eq!(statements(&deadlock_clusters(text)[0]), ["", ""], "{text}");
    }
    for text in [german, french] {
        let clusters = deadlock_clusters(text);
        assert_eq!(clusters.len(), 1, "{text}");
        let [a, b] = statements(&clusters[0])[..] else { panic!("{clusters:?}") };
        assert_eq!([a, b], ["UPDATE a SET x=?", "UPDATE b SET x=?"], "{text}");
        assert!(
            clusters[0].parties.iter().all(|one| one.waits_for == ["ShareLock on transaction ?"]),
            "{text}"
        );
    }
}

/// Of two texts under one name nobody knows which was logged: it is said where they stand.
#[test]
fn a_text_that_is_told_twice_is_none() {
    let text = "{\"log\": \"a\", \"log\": \"b\"}";
    let pretty = "{\n \"log\": \"a\",\n \"log\": \"b\"\n}";
    for (text, place) in [
        (format!("plain\n{text}\n"), (2, 18)),
        (format!("db-1  | {text}\n"), (1, 26)),
        (format!("[{{\"log\": \"x\"}},\n {text}]\n"), (2, 19)),
        (pretty.to_owned(), (3, 6)),
        (format!("plain\n{pretty}\n"), (4, 6)),
        (format!("{{\"log\": {}}}\n", serde_json::Value::from(text)), (1, 18)),
    ] {
        let twice = read_deadlocks(&text).wrong.unwrap_or_else(|| panic!("{text}"));
        assert_eq!((twice.line, twice.column), place, "{text}: {twice}");
        assert!(twice.what.contains("the name \"log\" stands twice"), "{twice}");
    }
    let loki = "{\"data\":{\"result\":[\n{\"stream\":{\"pod\":\"a\",\"pod\":\"b\"},\
                \"values\":[[\"30\",\"c\"]]}]}}\n";
    let twice = read_deadlocks(loki).wrong.unwrap();
    assert_eq!((twice.line, twice.column), (2, 26), "labels of a stream: {twice}");
    assert_eq!(read_deadlocks("{\"log\": \"a\", \"x\": 1, \"x\": 2}\n").wrong, None);
}

/// A line of JSON has its message, and what tells of the deadlock in another field, as libraries of
/// applications write it.
#[test]
fn all_fields_of_an_object_are_looked_at() {
    let (waits, other) = (
        "Process 7 waits for ShareLock on transaction 2; blocked by process 8.\\n\
         Process 8 waits for ShareLock on transaction 3; blocked by process 7.",
        "\"log\":\"2026-01-01 00:00:00 UTC [27] LOG:  checkpoint starting: time\"",
    );
    for telling in [
        format!(
            "\"msg\":\"failed\",\"err\":{{\"message\":\"deadlock detected\",\"detail\":\"{waits}\"}}"
        ),
        format!(
            "\"msg\":\"deadlock detected\",\"stack\":\"error: deadlock detected\\n at f\",\
             \"err\":{{\"detail\":\"{waits}\",\"hint\":\"See server log for query details.\"}},\
             \"again\":\"ERROR:  deadlock detected\\nDETAIL:  {waits}\",\"code\":\"40P01\""
        ),
        format!("\"msg\":\"failed\",\"cause\":\"Verklemmung entdeckt\",\"detail\":\"{waits}\""),
        format!("\"msg\":\"failed\",\"all\":[\"deadlock detected\",{{\"text\":\"{waits}\"}}]"),
    ] {
        let text = format!("{{{other}}}\n{{{telling}}}\n{{{other}}}\n");
        let reading = read_deadlocks(&text);
        assert_eq!(reading.tellings.len(), 1, "{text}: {reading:?}");
        assert_eq!((&reading.unread[..], &reading.in_part[..]), (&[][..], &[][..]), "{text}");
        assert_eq!(reading.repairs, [], "{text}");
    }
    for announcing in [
        "\"msg\":\"failed\",\"error\":\"ERROR: deadlock detected (SQLSTATE 40P01)\"",
        "\"msg\":\"failed\",\"err\":{\"code\":\"40P01\"}",
        "\"msg\":\"failed\",\"errors\":[{\"text\":\"deadlock detected\"}]",
    ] {
        for before in ["{\"log\":\"x\"}", "2026-01-01 00:00:00 UTC [27] LOG:  x"] {
            let reading = read_deadlocks(&format!("{before}\n{{{announcing}}}\n"));
            assert_eq!(
                (reading.tellings.len(), &reading.unread[..]),
                (0, &[2][..]),
                "{announcing}"
            );
        }
    }
    let client = "{\"msg\":\"failed\",\"error\":\"1 error:\\n\\t* Error 1213: Deadlock found when \
                  trying to get lock; try restarting transaction\\n\"}\n";
    assert_eq!(read_deadlocks(client).client_errors, [1]);
    let quoting = "{\"msg\":\"slow\",\"sql\":\"INSERT INTO t VALUES ('deadlock detected')\"}\n";
    assert!(read_deadlocks(quoting).unread.is_empty());
}

/// An application tells one deadlock twice, in other severities: it is one, of one source.
#[test]
fn severities_are_no_containers() {
    let told = "OperationalError('deadlock detected\\nDETAIL:  Process 7 waits for ShareLock on \
                transaction 2; blocked by process 8.\\nProcess 8 waits for ShareLock on transaction \
                3; blocked by process 7.\\nHINT:  See server log for query details.')";
    for (first, second, count) in [("warning", "ERR", 1), ("db-1", "db-2", 2)] {
        let reading = read_deadlocks(&format!("{first} | {told}\n\n{second} | {told}\n"));
        assert_eq!((reading.sources, reading.tellings.len()), ((count - 1) * 2, 2), "{first}");
        let gathered = gather_deadlocks(reading.tellings);
        let counts: Vec<usize> = gathered.clusters.iter().map(|one| one.count as usize).collect();
        assert_eq!(counts, [count], "{first}");
    }
}

/// A deadlock that is announced alone must not make text of the marks of JSON in other lines.
#[test]
fn objects_of_several_kinds_are_read_as_objects() {
    let told = "{\"msg\":\"record\",\"record\":{\"error_severity\":\"ERROR\",\"message\":\
                \"deadlock detected\",\"detail\":\"Process 7 waits for ShareLock on transaction 2; blocked by \
                process 8.\\nProcess 8 waits for ShareLock on transaction 3; blocked by process \
                7.\\nProcess 7: UPDATE a SET x=1\\nProcess 8: UPDATE b SET x=1\",\"hint\":\"h\"}}\n";
    let text = format!("{told}{{\"msg\":\"deadlock detected\",\"level\":50}}\n");
    let reading = read_deadlocks(&text);
    assert_eq!((&reading.unread[..], reading.repairs), (&[2][..], vec![]));
    let clusters = deadlock_clusters(&text);
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(statements(&clusters[0]), ["UPDATE a SET x=?", "UPDATE b SET x=?"]);
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
        assert_eq!((reading.tellings.len(), &reading.unread[..]), (1, &[][..]), "{text}");
        let parties = &deadlock_clusters(&text)[0].parties;
        assert!(
            parties.iter().all(|one| one.waits_for[0] == "ShareLock on transaction ?"),
            "{text}"
        );
    }
    // Within the error of an application, and behind a prefix without a blank.
    let elixir = format!(
        "2023-02-17T03:21:54.631 [error] ** {{:error, [16645703], %Postgrex.Error{{postgres: %{{code: \
         :deadlock_detected, detail: \"{waits}\\n{other}\", message: \"deadlock detected\", pg_code: \
         \"40P01\"}}}}}}\n"
    );
    let unparted = format!(
        "2017-09-28 13:35:20 EESTERROR: deadlock detected\n2017-09-28 13:35:20 EESTDETAIL: {waits}\n\
         {other}\nProcess 7: UPDATE a SET x=1\nProcess 8: UPDATE b SET x=1\n"
    );
    let clusters = deadlock_clusters(&unparted);
    assert_eq!(statements(&clusters[0]), ["UPDATE a SET x=?", "UPDATE b SET x=?"]);
    for text in [elixir, unparted] {
        let parties = &deadlock_clusters(&text)[0].parties;
        assert!(
            parties.iter().all(|one| one.waits_for == ["ShareLock on transaction ?"]),
            "{text}"
        );
    }
    // What speaks of one and tells nothing of it is not understood.
    let spoken =
        "2026-01-01 00:00:00 UTC [7] LOG:  retry: %{code: :deadlock_detected, query: nil}\n";
    let reading = read_deadlocks(spoken);
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (0, &[1][..]));
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
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (0, &[1][..]), "{reading:?}");
}

/// A log without headings whose first lines are lost: what is left of a deadlock is none, and does
/// not take the place of a party of the next one, although they lock the same records.
#[test]
fn remains_of_a_deadlock_are_told_and_join_no_other() {
    let party = |number: u32, wants: (u32, u32), has: (u32, u32)| {
        let lock = |(record, version): (u32, u32), state: &str| {
            format!(
                "RECORD LOCKS space id 4 page no 4 n bits 72 index PRIMARY of table `d`.`t` trx \
                 id {number} lock_mode X{state}\nRecord lock, heap no {record} PHYSICAL RECORD: \
                 1\n 0: len 4; hex 80000001; asc     ;;\n 1: len 6; hex {version:012x}; asc  ;;\n"
            )
        };
        format!(
            "TRANSACTION {number}, ACTIVE 1 sec\nmysql tables in use 1, locked 1\nMySQL thread id \
             {number}, query id 1 127.0.0.1 ann updating\nUPDATE t SET x={number}\n{}{}",
            lock(has, ""),
            lock(wants, " waiting")
        )
    };
    let pair = |first: u32| {
        let (one, other) = ((2, first), (3, first + 1));
        [party(first, other, one), party(first + 1, one, other)].concat()
    };
    let whole = [pair(10), pair(20), pair(30)].concat();
    let lines: Vec<&str> = whole.lines().collect();
    for from in 0..lines.len() / 3 {
        let reading = read_deadlocks(&lines[from..].join("\n"));
        let clusters = deadlock_clusters(&lines[from..].join("\n"));
        let sizes: Vec<usize> = clusters.iter().map(|one| one.parties.len()).collect();
        let count = if from == 0 { 3 } else { 2 };
        assert_eq!((reading.tellings.len(), sizes), (count, vec![2]), "{from}");
        let unread = if from == 0 { vec![] } else { vec![1] };
        assert_eq!(reading.unread, unread, "{from}: it is one");
        assert_eq!(reading.in_part, [], "{from}");
    }
    // The monitor's list of transactions tells locks as well.
    let list = "---TRANSACTION 7, ACTIVE 2 sec\nRECORD LOCKS space id 4 page no 4 n bits 72 index \
                PRIMARY of table `d`.`t` trx id 7 lock_mode X waiting\n";
    assert_eq!(read_deadlocks(list).unread, [0; 0]);
}

/// MySQL 5.0 and 5.1 number transactions in two parts.
#[test]
fn old_numbers_of_transactions_keep_their_locks() {
    let old = TEXTS[2].1.replace("TRANSACTION ", "TRANSACTION 0 ").replace("trx id ", "trx id 0 ");
    assert_eq!(deadlock_clusters(&old), deadlock_clusters(TEXTS[2].1));
}

/// A line as a store of logs has it, with its time and where it comes from.
type Stored<'a> = (usize, &'a str, &'a str);

/// Answers of stores of logs, which give the newest line first, and Loki's two streams.
fn answers(all: &[Stored<'_>]) -> Vec<(&'static str, String)> {
    let ms = |at: usize| 1_767_225_600_000 + at;
    let listed = |of: &dyn Fn(&Stored<'_>) -> serde_json::Value| {
        serde_json::Value::from(all.iter().rev().map(of).collect::<Vec<_>>())
    };
    let hits = listed(&|(at, pod, line)| {
        let kubernetes = serde_json::json!({ "pod_name": pod });
        let time = format!("2026-01-01T00:{:02}:{:02}.{at:09}Z", at / 60, at % 60);
        let source =
            serde_json::json!({ "@timestamp": time, "message": line, "kubernetes": kubernetes });
        serde_json::json!({ "_index": "logs", "_id": at.to_string(), "_source": source })
    });
    let hits = serde_json::json!({ "took": 3, "timed_out": false, "hits": {
        "total": { "value": all.len(), "relation": "eq" }, "max_score": null, "hits": hits } });
    let events = listed(&|(at, pod, line)| {
        let timestamp = ms(*at);
        serde_json::json!({ "logStreamName": pod, "timestamp": timestamp, "message": line })
    });
    let events = serde_json::json!({ "events": events, "searchedLogStreams": [] });
    let insights = listed(&|(at, _, line)| {
        let time = format!("2026-01-01 00:{:02}:{:02}.{:03}", at / 60, at % 60, at % 1_000);
        serde_json::json!([{ "field": "@timestamp", "value": time },
            { "field": "@message", "value": line }, { "field": "@ptr", "value": "p" }])
    });
    let insights = serde_json::json!({ "results": insights, "status": "Complete" });
    let datadog = listed(&|(at, pod, line)| {
        let attributes = serde_json::json!({ "timestamp": ms(*at).to_string(), "host": pod,
            "service": "db", "status": "error", "message": line });
        serde_json::json!({ "id": at.to_string(), "type": "log", "attributes": attributes })
    });
    let datadog = serde_json::json!({ "data": datadog, "meta": { "page": {} } });
    let stream = |level: usize| {
        let of_level = all.iter().rev().filter(|(at, ..)| at % 2 == level);
        let mut streams = std::collections::BTreeMap::<&str, Vec<[String; 2]>>::new();
        for (at, pod, line) in of_level {
            let pair = [(ms(*at) * 1_000_000).to_string(), (*line).to_owned()];
            streams.entry(pod).or_default().push(pair);
        }
        let one = move |(pod, values): (&str, Vec<[String; 2]>)| {
            let labels = serde_json::json!({ "pod": pod, "level": level.to_string() });
            serde_json::json!({ "stream": labels, "values": values })
        };
        streams.into_iter().map(one).collect::<Vec<_>>()
    };
    let streams = [stream(0), stream(1)].concat();
    let loki = serde_json::json!({ "status": "success", "data": {
        "resultType": "streams", "result": streams, "stats": { "summary": {} } } });
    let mut answers = Vec::new();
    for (name, json) in [
        ("Elasticsearch", hits),
        ("CloudWatch", events),
        ("Datadog", datadog),
        ("Loki", loki),
        ("Insights", insights),
    ] {
        answers.push((name, json.to_string()));
        answers.push((name, serde_json::to_string_pretty(&json).unwrap() + "\n"));
    }
    answers
}

/// What stores of logs answer tells the same as the log, of either family, mixed or not.
#[test]
fn answers_of_stores_are_read() {
    for (server, text) in &TEXTS[..4] {
        let plain = deadlock_clusters(text);
        let lines: Vec<Stored<'_>> =
            (0..).zip(text.lines()).map(|(at, line)| (at, "db-0", line)).collect();
        for (store, answer) in answers(&lines) {
            assert_eq!(deadlock_clusters(&answer), plain, "{server}, {store}");
        }
    }
    // Managed servers ship what belongs together as one.
    let whole = TEXTS[3].1.replace("\n\t", "\u{1}");
    let entries: Vec<String> = whole.lines().map(|line| line.replace('\u{1}', "\n\t")).collect();
    let lines: Vec<Stored<'_>> =
        (0..).zip(&entries).map(|(at, line)| (at, "db-0", line.as_str())).collect();
    for (store, answer) in answers(&lines) {
        assert_eq!(deadlock_clusters(&answer), deadlock_clusters(TEXTS[3].1), "{store}");
    }
    let (a, b) = (TEXTS[0].1, TEXTS[3].1);
    let turns = a.lines().map(|line| ("db-0", line)).zip(b.lines().map(|line| ("db-1", line)));
    let turns = turns.flat_map(|(a, b)| [a, b]);
    let rest = a.lines().skip(b.lines().count()).map(|line| ("db-0", line));
    let other = b.lines().skip(a.lines().count()).map(|line| ("db-1", line));
    let lines: Vec<Stored<'_>> = (0..)
        .zip(turns.chain(rest).chain(other))
        .map(|(at, (pod, line))| (at, pod, line))
        .collect();
    // Rows of Insights do not say where they come from.
    for (store, answer) in answers(&lines).into_iter().filter(|(store, _)| *store != "Insights") {
        let reading = read_deadlocks(&answer);
        assert_eq!((reading.sources, &reading.unread[..]), (2, &[][..]), "{store}");
        assert_eq!(deadlock_clusters(&answer), deadlock_clusters(&format!("{a}{b}")), "{store}");
    }
    // Pages of one search, one behind the other.
    let one = |text: &str, first: usize| {
        let lines: Vec<Stored<'_>> =
            (first..).zip(text.lines()).map(|(at, line)| (at, "db-0", line)).collect();
        answers(&lines)
    };
    for ((store, a), (_, b)) in one(TEXTS[3].1, 1_000).into_iter().zip(one(TEXTS[3].1, 0)) {
        let pages = deadlock_clusters(&format!("{a}\n{b}"));
        assert_eq!(pages[0].count, 2 * deadlock_clusters(TEXTS[3].1)[0].count, "{store}");
    }
    // What could not be read is said to be there.
    let unknown = r#"{"rows":[[{"text":"*** (1) TRANSACTION:"}]]}"#;
    assert_eq!(read_deadlocks(unknown).unread, [1]);
}

/// Prefixes of lines as servers, managed or not, have them: with the number of the line, too.
#[test]
fn prefixes_of_postgres_tell_the_same() {
    let of = |prefix: &dyn Fn(usize, usize) -> String| {
        let told = |process: usize, other: usize| {
            let lines = [
                "ERROR:  deadlock detected".to_owned(),
                format!(
                    "DETAIL:  Process {process} waits for ShareLock on transaction 2; blocked by process \
                     {other}.\n\tProcess {other} waits for ShareLock on transaction 1; blocked by process \
                     {process}.\n\tProcess {process}: UPDATE a SET x=1\n\tProcess {other}: UPDATE b SET x=1"
                ),
                "HINT:  See server log for query details.".to_owned(),
                "CONTEXT:  while updating tuple (0,2) in relation \"a\"".to_owned(),
                "STATEMENT:  UPDATE a SET x=1".to_owned(),
            ];
            let line =
                |(at, line): (usize, &String)| format!("{}{line}\n", prefix(process, at + 3));
            lines.iter().enumerate().map(line).collect::<String>()
        };
        (told(7, 9), told(8, 10))
    };
    let plain = deadlock_clusters(&of(&|_, _| String::new()).0);
    assert_eq!(statements(&plain[0]), ["UPDATE a SET x=?", "UPDATE b SET x=?"]);
    assert!(plain[0].parties.iter().any(|one| one.waits_for.contains(&"a row of a".to_owned())));
    let time = "2026-01-01 00:00:00 UTC";
    type Prefixed<'a> = &'a dyn Fn(usize, usize) -> String;
    let prefixes: [(&str, Prefixed<'_>); 12] = [
        ("pgBadger", &|p, l| format!("{time} [{p}]: [{l}-1] user=u,db=d,app=a,client=[local] ")),
        ("pgBadger, syslog", &|_, _| "user=u,db=d,app=psql - x,client=::1 ".to_owned()),
        ("the line alone", &|_, l| format!("{time} [{l}] ")),
        ("process and line", &|p, l| format!("{time} [{p}] [{l}] u@d ")),
        ("line and process", &|p, l| format!("{time} [{l}] [{p}] ")),
        ("RDS", &|p, _| format!("{time}:10.0.0.1(54321):u@d:[{p}]:")),
        ("Azure", &|p, _| format!("{time}-67740000.{p:x}-")),
        ("Cloud SQL", &|p, l| format!("{time} [{p}]: [{l}-1] db=d,user=u,host=10.0.0.1 ")),
        ("Heroku", &|p, l| format!("[DATABASE] [{p}]: [{l}-1] sql_error_code = 40P01 ")),
        ("session", &|p, l| format!("{time} 67740000.{p:x} {l} 5/77 0 ")),
        ("CloudNativePG", &|p, l| format!("{time} [{p}] app=[unknown] [{l}] ")),
        ("Patroni", &|p, _| format!("{time} [{p}]: [7-1] 67740000.{p:x} 0     ")),
    ];
    for (name, prefix) in prefixes {
        let (one, other) = of(prefix);
        let reading = read_deadlocks(&one);
        assert_eq!((reading.tellings.len(), reading.unread.len()), (1, 0), "{name}: {one}");
        assert_eq!(deadlock_clusters(&one), plain, "{name}: {one}");
        let both = deadlock_clusters(&format!("{one}{other}"));
        assert_eq!(both[0].count, 2, "{name}: {both:?}");
    }
    // Two backends turn by turn: the process tells them apart, whatever the number of the line.
    for (name, prefix) in &prefixes[3..5] {
        let (one, other) = of(prefix);
        let entry = |text: &str| -> Vec<String> {
            let parts = text.split(time).filter(|part| !part.is_empty());
            parts.map(|part| format!("{time}{part}")).collect()
        };
        let turns: String =
            entry(&one).into_iter().zip(entry(&other)).map(|(a, b)| a + &b).collect();
        let reading = read_deadlocks(&turns);
        assert_eq!((reading.tellings.len(), reading.unread.len()), (2, 0), "{name}: {turns}");
    }
}

/// Names of tables and indexes that no server has are cut, and locks stay what they are.
#[test]
fn names_of_locks_have_a_sensible_size() {
    let huge = "t".repeat(1_000_000);
    let innodb = TEXTS[1].1.replace("`stock`", &format!("`{huge}`"));
    let postgres = TEXTS[3].1.replace("relation \"stock\"", &format!("relation \"{huge}\""));
    for text in [innodb, postgres] {
        let clusters = deadlock_clusters(&text);
        assert_eq!(clusters.iter().map(|one| one.count).collect::<Vec<_>>(), [3, 1]);
        let parties = clusters.iter().flat_map(|one| &one.parties);
        let locks: Vec<&String> =
            parties.flat_map(|party| party.waits_for.iter().chain(&party.holds)).collect();
        assert!(locks.iter().all(|lock| lock.len() < 2_200), "{:?}", locks[0].len());
        assert!(locks.iter().any(|lock| lock.contains('…')));
    }
}

/// A text of so many lines with their times, the newest first, in forms that stores of logs have.
fn newest_first(lines: &[String]) -> [String; 4] {
    let second = |at: usize| (at / 60, at % 60);
    let stamped = |at: usize, line: &str| {
        let (minute, second) = second(at);
        format!("2026-01-01T00:{minute:02}:{second:02}.{at:09}Z {line}\n")
    };
    let json = |at: usize, line: &str| {
        let line = serde_json::json!({
            "labels": { "app": "db" }, "line": line,
            "timestamp": format!("{}000000000", 1_767_225_000 + at),
        });
        format!("{line}\n")
    };
    let row = |at: usize, line: &str| {
        let ((minute, second), line) = (second(at), line.replace('"', "\"\""));
        format!("\"Jan 1, 2026 @ 00:{minute:02}:{second:02}.000\",\"{line}\"\n")
    };
    let turned = |each: &dyn Fn(usize, &str) -> String| -> String {
        lines.iter().enumerate().rev().map(|(at, line)| each(at, line)).collect()
    };
    let array = turned(&json).trim_end().replace('\n', ",\n");
    [
        turned(&stamped),
        turned(&json),
        format!("[{array}]\n"),
        format!("\"@timestamp\",message\n{}", turned(&row)),
    ]
}

/// What a store of logs gives out has the newest line first.
#[test]
fn logs_with_the_newest_first_are_turned_around() {
    for (server, text) in TEXTS {
        let plain = deadlock_clusters(text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for turned in newest_first(&lines) {
            let reading = read_deadlocks(&turned);
            assert_eq!(reading.direction, LogDirection::NewestFirst, "{server}");
            assert_eq!(gather_deadlocks(reading.tellings).clusters, plain, "{server}: {turned}");
        }
    }
    // Of the same time, lines stay in their order, or they are turned around, too.
    let [ask, wait] = [TEXTS[3].1, "2026-11-25 02:30:00.000 GMT [1] LOG:  a\n"];
    let later =
        "2026-11-25 02:50:00.000 GMT [1] LOG:  b\n2026-11-25 02:45:00.000 GMT [1] LOG:  a\n";
    let first: String = ask.lines().take(8).map(|line| format!("{line}\n")).collect();
    let kept = format!("{later}{first}{wait}");
    let tac: String = kept.lines().rev().map(|line| format!("{line}\n")).collect();
    let of = |text: &str| {
        let reading = read_deadlocks(text);
        (reading.direction, reading.unread.len(), deadlock_clusters(text))
    };
    let plain = deadlock_clusters(&first);
    assert_eq!(plain.len(), 1);
    assert_eq!(of(&kept), (LogDirection::NewestFirst, 0, plain.clone()));
    assert_eq!(of(&first), (LogDirection::OldestFirst, 0, plain.clone()));
    let backwards: String = first.lines().rev().map(|line| format!("{line}\n")).collect();
    assert_eq!(of(&backwards), (LogDirection::NewestFirst, 0, plain), "{tac}");
}

/// Servers that were made from one image give the same numbers: what one of them was told is not
/// put into the mouth of the other, and nothing gets lost, in whatever order texts come.
#[test]
fn statements_that_contradict_each_other_are_of_two_deadlocks() {
    let postgres = |second: u32, sql: &str| {
        format!(
            "2026-11-29 10:00:{second:02}.000 UTC [71] ERROR:  deadlock detected\n\
             2026-11-29 10:00:{second:02}.000 UTC [71] DETAIL:  Process 71 waits for ShareLock on \
             transaction 731; blocked by process 72.\n\tProcess 72 waits for ShareLock on \
             transaction 730; blocked by process 71.\n\tProcess 71: {sql}\n\tProcess 72: {sql}\n\
             2026-11-29 10:00:{second:02}.000 UTC [71] HINT:  See server log for query details.\n\
             2026-11-29 10:00:{second:02}.000 UTC [71] STATEMENT:  {sql}\n"
        )
    };
    for (first, second) in [(1, 1), (1, 30)] {
        let update = postgres(first, "UPDATE a SET n = 1 WHERE id = 5");
        let delete = postgres(second, "DELETE FROM b WHERE id = 6");
        for texts in [[&update, &delete], [&delete, &update]] {
            let read = texts.map(|text| read_deadlocks(text).tellings);
            let gathered = gather_deadlocks(read.into_iter().flatten());
            let counts: Vec<u64> = gathered.clusters.iter().map(|one| one.count).collect();
            assert_eq!((&*counts, gathered.repeated), (&[1, 1][..], 0), "{gathered:?}");
        }
        let again = [&update, &update].map(|text| read_deadlocks(text).tellings);
        let gathered = gather_deadlocks(again.into_iter().flatten());
        assert_eq!((gathered.clusters[0].count, gathered.repeated_tellings), (1, 2));
    }
}

/// Servers in containers begin at the same numbers and are asked the same: the tables tell them
/// apart.
#[test]
fn waits_for_locks_of_other_tables_are_of_two_deadlocks() {
    for (server, text) in &TEXTS[4..] {
        for other in [
            text.replace("`dbdyno`.`stock`", "`tenant_2`.`stock`"),
            text.replace("lock_mode X", "lock mode S"),
        ] {
            assert_ne!(other, **text, "{server}");
            let read = [*text, &other].map(|text| read_deadlocks(text).tellings);
            let gathered = gather_deadlocks(read.into_iter().flatten());
            let counts: Vec<u64> = gathered.clusters.iter().map(|one| one.count).collect();
            assert_eq!((&*counts, gathered.repeated), (&[1, 1][..], 0), "{server}: {gathered:?}");
        }
    }
}

/// A monitor shows its latest deadlock whenever it is asked.
#[test]
fn a_deadlock_that_is_shown_again_counts_once() {
    for (server, text) in &TEXTS[4..] {
        let polls = text.repeat(3);
        let gathered = gather_deadlocks(read_deadlocks(&polls).tellings);
        assert_eq!(gathered.clusters, deadlock_clusters(text), "{server}");
        assert_eq!((gathered.repeated, gathered.repeated_tellings), (1, 3), "{server}");
        // The same numbers of another server, at another time.
        let other = text.replace("2026-11-25 02:3", "2026-11-25 02:4");
        assert_ne!(other, **text);
        assert_eq!(deadlock_clusters(&(polls + &other))[0].count, 2, "{server}");
    }
    // In the log, and in the monitor after it.
    let log = "2026-11-25  2:37:43 13 [Note] InnoDB: Transactions deadlock detected, dumping \
               detailed information.\n";
    let account = TEXTS[4].1.split_once("0x7f0402fbf6c0\n").unwrap().1;
    let both = format!("{log}{account}\n{}", TEXTS[4].1);
    assert_eq!(deadlock_clusters(&both), deadlock_clusters(TEXTS[4].1));
    let twice = TEXTS[0].1.repeat(2);
    assert_eq!(deadlock_clusters(&twice), deadlock_clusters(TEXTS[0].1), "a log, twice");
}

/// The server's log and the error of a driver, in one file.
#[test]
fn a_driver_tells_what_the_server_has_told() {
    let waits = |lock: &str, other: &str| {
        format!(
            "Process 7 waits for {lock}; blocked by process 8.\n\
             Process 8 waits for {other}; blocked by process 7.\n"
        )
    };
    let told = |details: &str| {
        let server = format!(
            "2026-01-01 00:00:00.000 UTC [7] ERROR:  deadlock detected\n2026-01-01 00:00:00.000 UTC \
             [7] DETAIL:  {}\tProcess 7: UPDATE a SET x=1\n\tProcess 8: UPDATE b SET x=1\n",
            details.replace("\nProcess 8", "\n\tProcess 8")
        );
        let driver = format!(
            "psycopg2.errors.DeadlockDetected: deadlock detected\nDETAIL:  {details}HINT:  See \
             server log for query details.\n"
        );
        (server, driver)
    };
    let (server, driver) = told(&waits("ShareLock on transaction 2", "ShareLock on transaction 1"));
    for text in [server.clone() + &driver, driver.clone() + &server] {
        let gathered = gather_deadlocks(read_deadlocks(&text).tellings);
        assert_eq!(gathered.clusters, deadlock_clusters(&server), "{text}");
        assert_eq!((gathered.repeated, gathered.doubtful), (1, 0), "{text}");
    }
    // Connections of a pool may wait for the same tables again.
    let lock = "ShareLock on relation 5 of database 1";
    let (server, driver) = told(&waits(lock, lock));
    let gathered = gather_deadlocks(read_deadlocks(&(server + &driver)).tellings);
    let count: u64 = gathered.clusters.iter().map(|one| one.count).sum();
    assert_eq!((count, gathered.repeated, gathered.doubtful), (2, 0, 1), "{gathered:?}");
    // Another server gives the same numbers at another time.
    let (server, _) = told(&waits("ShareLock on transaction 2", "ShareLock on transaction 1"));
    let later = server.replace("00:00:00", "00:05:00");
    assert_eq!(deadlock_clusters(&(server + &later))[0].count, 2);
}

/// Lines of two servers, or of two backends, turn by turn.
#[test]
fn mixed_logs_are_parted() {
    let mixed = |logs: [String; 2]| -> String {
        let mut lines: Vec<_> = logs.iter().map(|log| log.lines()).collect();
        let mut text = String::new();
        loop {
            let next: Vec<&str> = lines.iter_mut().filter_map(Iterator::next).collect();
            if next.is_empty() {
                return text;
            }
            next.iter().for_each(|line| text.push_str(&format!("{line}\n")));
        }
    };
    type Carried = fn(&str, usize, &str) -> String;
    let ways: [(&str, Carried); 4] = [
        ("composed", |name, _, line| format!("{name}-1  | {line}")),
        ("pods", |name, _, line| format!("[pod/{name}-0/db] {line}")),
        ("syslog", |name, at, line| {
            format!("Jan  1 00:00:00 host {name}[{at}]: {}", line.replace('\t', "#011"))
        }),
        ("json", |name, _, line| {
            serde_json::json!({ "log": line, "kubernetes": { "pod_name": name } }).to_string()
        }),
    ];
    for (a, b) in [(TEXTS[0], TEXTS[4]), (TEXTS[1], TEXTS[2]), (TEXTS[3], TEXTS[3])] {
        let all = [a.1.to_owned(), b.1.replace("2026-11-25", "2026-11-26")];
        let plain = deadlock_clusters(&all.concat());
        for (way, before) in ways {
            let [a, b] = &all;
            let of = |text: &str, name, at| wrapped(text, |line| before(name, at, line));
            let text = mixed([of(a, "one", 7), of(b, "two", 8)]);
            let reading = read_deadlocks(&text);
            assert_eq!((reading.sources, reading.unread.len()), (2, 0), "{way}");
            assert_eq!(deadlock_clusters(&text), plain, "{way}: {text}");
        }
    }
    // Each backend names itself in its prefix.
    let one = |process: usize| {
        let other = 10 * process;
        let lines = [
            "ERROR:  deadlock detected".to_owned(),
            format!(
                "DETAIL:  Process {process} waits for ShareLock on transaction {other}; blocked by \
                 process {other}.\n\tProcess {other} waits for ShareLock on transaction {process}; \
                 blocked by process {process}."
            ),
            format!("CONTEXT:  while updating tuple (0,2) in relation \"t{process}\""),
            "STATEMENT:  UPDATE".to_owned(),
        ];
        lines.map(|line| format!("2026-01-01 00:00:00.000 UTC [{process}] {line}\n"))
    };
    let turns: String = one(7).into_iter().zip(one(8)).map(|(a, b)| a + &b).collect();
    let reading = read_deadlocks(&turns);
    assert_eq!((reading.tellings.len(), reading.unread.len()), (2, 0), "{turns}");
    assert_eq!(deadlock_clusters(&turns), deadlock_clusters(&[one(7), one(8)].concat().concat()));
}

/// A stroke in a statement is no name of a container.
#[test]
fn strokes_in_statements_stay() {
    let text = TEXTS[5].1.replace("FOR UPDATE", "AND flags\nstatus | 4 > 0\nFOR UPDATE");
    let clusters = deadlock_clusters(&text);
    let statement = "SELECT qty FROM stock WHERE w = ? AND flags status | ? > ? FOR UPDATE";
    assert_eq!(statements(&clusters[0]), [statement; 2]);
    assert_eq!(read_deadlocks(&text).sources, 0);
    let composed: String = text.lines().map(|line| format!("db-1  | {line}\n")).collect();
    assert_eq!(statements(&deadlock_clusters(&composed)[0]), [statement; 2]);
    assert_eq!(read_deadlocks(&composed).sources, 1);
}

/// Of what may be the line of a container or of a statement nobody knows which it is; what is
/// surely of the statement stays.
#[test]
fn lone_lines_with_strokes_are_told_as_doubtful_or_stay() {
    let with = |line: &str| {
        let lines = with_long_statements(TEXTS[1].1, "");
        let lines = lines.iter().flat_map(|own| {
            let stroke = own.contains("WHERE w = 1").then_some(line);
            [Some(own.as_str()), stroke].into_iter().flatten().map(str::to_owned)
        });
        read_deadlocks(&lines.collect::<Vec<String>>().join("\n"))
    };
    for line in
        ["app-1  | ready", "app-1  | 4", "app  | started for", "flags_1  | mask", "app-1  |"]
    {
        let reading = with(line);
        let is_told = reading.in_part.iter().any(|gap| gap.missing.contains("end of a statement"));
        assert!(is_told, "{line}: {:?}", reading.in_part);
    }
    for line in
        ["+ flags_1 | 4", "flags_1 | 4", "flags   | 4", "flags   | (1 << 3)", "a || b", "|| b"]
    {
        let reading = with(line);
        assert!(reading.in_part.is_empty(), "{line}: {:?}", reading.in_part);
        let clusters = gather_deadlocks(reading.tellings).clusters;
        let statement = statement_with_holes(line, Dialect::Mysql);
        assert!(statements(&clusters[0]).iter().any(|it| it.contains(&statement)), "{line}");
    }
}

/// A client that was a victim is told no more than that.
#[test]
fn errors_of_clients_are_counted_apart() {
    let error = "2026-01-01T00:00:00.1Z 5 [ERROR] [MY-010584] [Repl] Could not execute: Deadlock \
                 found when trying to get lock; try restarting transaction\n";
    let reading = read_deadlocks(error);
    assert_eq!((&reading.client_errors[..], reading.tellings.len()), (&[1][..], 0));
    let reading = read_deadlocks(&(TEXTS[1].1.to_owned() + error));
    assert_eq!(reading.client_errors, [TEXTS[1].1.lines().count() + 1]);
    assert_eq!(gather_deadlocks(reading.tellings).clusters, deadlock_clusters(TEXTS[1].1));
    for error in [
        "ERROR 1213 (40001) at line 3: Verklemmung (Deadlock) beim Versuch, eine Sperre anzufordern",
        "ERROR 1213 (40001): WSREP detected deadlock/conflict and aborted the transaction. Try \
         restarting the transaction",
        "SQLTransactionRollbackException: (conn=9) Deadlock: wsrep aborted transaction",
        "SQLSTATE[40001]: Serialization failure: 1213 Verklemmung (Deadlock)",
        "OperationalError: (1213, 'Verklemmung (Deadlock)')",
    ] {
        let log = format!("2026-01-01T00:00:00.1Z 5 [Note] ready\n{error}\n{error}\n");
        let reading = read_deadlocks(&log);
        assert_eq!(reading.client_errors, [2, 3], "{error}");
        assert!(reading.tellings.is_empty() && reading.unread.is_empty(), "{error}");
    }
    let spring = "2026-01-01 00:00:00.000 ERROR 1213 --- [main] c.e.App : refused\n";
    assert!(read_deadlocks(spring).client_errors.is_empty(), "1213 is its process");
}

/// Readers keep what belongs to one deadlock of a sensible size, whatever a text tells.
#[test]
fn endless_accounts_are_none() {
    let transactions: String =
        (0..5_000).map(|at| format!("TRANSACTION {at}, ACTIVE 1 sec\n")).collect();
    let processes: String = (0..5_000)
        .map(|at| {
            format!("Process {at} waits for ShareLock on transaction 1; blocked by process 1.\n")
        })
        .collect();
    for (text, unread) in [
        (transactions.clone(), vec![1]),
        (format!("*** (1) TRANSACTION:\n{transactions}"), vec![2]),
        (format!("ERROR:  deadlock detected\nDETAIL:  {processes}"), vec![1]),
    ] {
        let reading = read_deadlocks(&text);
        assert_eq!((reading.tellings.len(), reading.unread), (0, unread), "{}", &text[..99]);
    }
    // A statement that is longer than any server writes is cut, and says so.
    let long = TEXTS[3].1.replace("SET qty", &format!("SET {} qty", "a, ".repeat(100_000)));
    let clusters = deadlock_clusters(&long);
    for cut in statements(&clusters[0]) {
        assert!(cut.ends_with(" …") && cut.len() < 100_000, "{} bytes", cut.len());
    }
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

    /// Clients write a log as one line and double the backslashes in it, and other tools do not.
    #[test]
    fn no_literal_appears_of_a_log_that_was_written_as_one_line(
        parts in prop::collection::vec((0..4_usize, "[A-Z]{2}['\"\\\\ ]{1,2}[A-Z]{2}"), 2..6),
        has_pairs: bool,
        is_carried: bool,
    ) {
        let part = |(kind, text): &(usize, String)| written(*kind, text, Dialect::Mysql);
        let sql: String = parts.iter().map(part).collect();
        let (_, log) = TEXTS[4];
        let text = log.replacen("SELECT qty FROM", &format!("select qty, {sql} from"), 1);
        prop_assert!(text != log);
        let text = if has_pairs { text.replace('\\', "\\\\") } else { text };
        let one_line = format!("InnoDB\t\t{}\n", text.replace('\t', "\\t").replace('\n', "\\n"));
        let log = if is_carried { format!("db-1  | {one_line}") } else { one_line };
        let found = deadlock_clusters(&log);
        prop_assert!(!found.is_empty(), "{log}");
        let told = found.iter().flat_map(statements).find(|told| told.starts_with("select qty"));
        let (told, _) = told.map(|told| told.split_once(" from").unwrap_or((told, ""))).unwrap();
        prop_assert!(!told.contains(|letter: char| letter.is_ascii_uppercase()), "{told} of {sql}");
    }
}

/// A value may have lines that look like those of an account, and what stands behind them in its
/// statement is another one's secret.
#[test]
fn lines_within_a_literal_begin_nothing_whose_literals_are_shown() {
    let (_, status) = TEXTS[5];
    let head = "TRANSACTION 7, ACTIVE 9 sec\nMySQL thread id 7, OS thread handle 1, query id 1 h u";
    let lock = "RECORD LOCKS space id 4 page no 4 n bits 72 index ";
    for forged in [
        format!("'x\n{head} updating\nfoo', pw='hunter2' WHERE a=1"),
        format!("'x\\'\n{head} updating\nfoo', pw='hunter2', b='\\''"),
        format!("\"x\n*** (2) TRANSACTION:\n{head}\nfoo\", pw=\"hunter2\""),
        format!("'x\n{lock}', pw='hunter2', b=' of table `d`.`t` trx id 7 lock_mode X waiting'"),
        "'x\nTRANSACTION ', pw='hunter2', b=', ACTIVE 9 sec'".to_owned(),
    ] {
        let text = status.replacen("SELECT qty", &format!("SELECT {forged}, qty"), 1);
        assert_ne!(text, status);
        for text in [text.clone(), text.replace("LATEST DETECTED DEADLOCK", "")] {
            let found = read_deadlocks(&text);
            assert!(!format!("{found:?}").contains("hunter2"), "{forged}: {found:?}");
        }
    }
    let (_, log) = TEXTS[3];
    let process = log.split("Process ").nth(1).unwrap().split(' ').next().unwrap();
    for forged in ["'x\n\tProcess N: foo', pw='hunter2'", "$$x\n\tProcess N: $$, 'hunter2'"] {
        let forged = forged.replace('N', process);
        let text = log.replacen("UPDATE stock SET", &format!("UPDATE stock SET a = {forged},"), 1);
        assert_ne!(text, log);
        let found = read_deadlocks(&text);
        assert!(!format!("{found:?}").contains("hunter2"), "{forged}: {found:?}");
    }
    let account = "ERROR:  deadlock detected\nDETAIL:  Process 101 waits for ShareLock on \
                   transaction 733; blocked by process 102.\nProcess 102 waits for ShareLock on \
                   transaction 732; blocked by process 101.\nProcess 101: ";
    let stamp = "2026-06-15 10:14:45.123 UTC [101] ";
    let stamped = format!("{stamp}{account}").replace("\nDET", &format!("\n{stamp}DET"));
    for head in [account.to_owned(), stamped] {
        let forged = format!("'x\n{head}b', 'hunter2'");
        let innodb = status.replacen("SELECT qty", &format!("SELECT {forged}, qty"), 1);
        let tabs = forged.replace('\n', "\n\t");
        let postgres = log.replacen("UPDATE stock SET", &format!("UPDATE stock SET {tabs},"), 1);
        let one_line = format!("InnoDB\t\t{}\n", innodb.replace('\n', "\\n"));
        for text in [innodb, postgres, one_line] {
            let found = read_deadlocks(&text);
            assert!(!format!("{found:?}").contains("hunter2"), "{head}: {found:?}");
        }
    }
    for stamped in [
        "2024-01-01 10:00:00.000 UTC [102] LOG:  x",
        "2024-01-01T10:00:00.000000Z 10 [Note] [MY-010] [Server] x",
        "HINT:  x",
    ] {
        let forged = format!("'see\n{stamped}'\n, 'hunter2'");
        let innodb = status.replacen("SELECT qty", &format!("SELECT {forged}, qty"), 1);
        let tabs = format!("UPDATE stock SET a = {},", forged.replace('\n', "\n\t"));
        let postgres = log.replacen("UPDATE stock SET", &tabs, 1);
        let first = tabs.replacen("see\n\t", "", 1);
        let at_once = log.replacen("UPDATE stock SET", &first, 1);
        for text in [innodb, postgres, at_once] {
            let found = read_deadlocks(&text);
            assert!(!format!("{found:?}").contains("hunter2"), "{stamped}: {found:?}");
        }
    }
    let cut = "UPDATE t SET a=1 WHERE id=2\",See server log,\"UPDATE t SET a='hunter2' WHERE b='x'";
    assert_eq!(statement_with_holes(cut, Dialect::Postgres), "UPDATE t SET a=? WHERE id=??");
    let account = "ALTER USER u IDENTIFIED WITH p AS 'hunter2'";
    assert_eq!(
        statement_with_holes(account, Dialect::Mysql),
        "ALTER USER u IDENTIFIED WITH p AS ?"
    );
}

/// What `grep -C` writes before lines is taken off, and files are read each by itself.
#[test]
fn the_names_and_numbers_of_grep_are_no_part_of_a_log() {
    let account = |process: u32, sql: [&str; 2]| {
        let other = process + 4;
        format!(
            "LOG:  before\nERROR:  deadlock detected\nDETAIL:  Process {process} waits for ShareLock \
             on transaction 7; blocked by process {other}.\n\tProcess {other} waits for ShareLock \
             on transaction 8; blocked by process {process}.\n\tProcess {process}: {}\n\tProcess \
             {other}: {}\nHINT:  See server log for query details.",
            sql[0], sql[1]
        )
    };
    let found = |text: &str, name: &str, is_numbered: bool| -> String {
        text.lines()
            .enumerate()
            .map(|(at, line)| {
                let mark = if line.to_lowercase().contains("deadlock") { ':' } else { '-' };
                let number = if is_numbered { format!("{}{mark}", at + 98) } else { String::new() };
                let name = if name.is_empty() { String::new() } else { format!("{name}{mark}") };
                format!("{name}{number}{line}\n")
            })
            .collect()
    };
    let (one, two) = (account(12, ["UPDATE a", "DELETE b"]), account(32, ["INSERT c", "UPDATE d"]));
    let plain = deadlock_clusters(&format!("{one}\n{two}\n"));
    assert_eq!(plain.len(), 2, "{plain:#?}");
    for (names, is_numbered) in [
        (["pg-Mon.log", "pg-Tue.log"], false),
        (["pg-Mon.log", "/var/log/pg-Mon.log.1"], true),
        (["", ""], true),
    ] {
        let text = format!(
            "{}--\n{}",
            found(&one, names[0], is_numbered),
            found(&two, names[1], is_numbered)
        );
        assert_eq!(deadlock_clusters(&text), plain, "{text}");
    }
    let status = TEXTS[5].1;
    assert_eq!(
        deadlock_clusters(&found(status, "error.log", false)),
        deadlock_clusters(status),
        "InnoDB's"
    );
}

/// What is locked is told in whatever language, and relations are told apart.
#[test]
fn locks_of_other_languages_are_told_as_in_english() {
    let waits = |text: &str| -> Vec<String> {
        let clusters = deadlock_clusters(text);
        assert_eq!(clusters.len(), 1, "{text}");
        clusters[0].parties.iter().flat_map(|party| party.waits_for.clone()).collect()
    };
    let german = "FEHLER:  Verklemmung entdeckt\nDETAIL:  Prozess 12 wartet auf \
        AccessExclusiveLock-Sperre auf Relation 16384 der Datenbank 5; blockiert von Prozess 13.\n\
        \tProzess 13 wartet auf ShareLock-Sperre auf Transaktion 900; blockiert von Prozess 12.\n";
    let told =
        ["AccessExclusiveLock on relation 16384 of database 5", "ShareLock on transaction ?"];
    assert_eq!(waits(german), told);
    let chinese = "错误:  检测到死锁\n详细信息:  进程12等待在关系 16384 属于数据库 5上的\
        AccessExclusiveLock; 由进程13阻塞.\n\t进程13等待在事务 900上的ShareLock; 由进程12阻塞.\n";
    assert_eq!(waits(chinese), told);
    let japanese = "ERROR:  デッドロックを検出しました\nDETAIL:  プロセス 12 は ExclusiveLock を \
        データベース 5 のリレーション 16384 のタプル (0,2) で待機していましたが、プロセス 13 で\
        ブロックされました\n\tプロセス 13 は ShareLock を 仮想トランザクション 3/45 で待機して\
        いましたが、プロセス 12 でブロックされました\n";
    assert_eq!(waits(japanese)[1], "ShareLock on virtual transaction ?");
}

/// The numbers of an advisory lock are a program's rows: each deadlock was a kind of its own.
#[test]
fn keys_of_advisory_locks_tell_no_kinds_apart() {
    let english = |key: u32| {
        format!(
            "ERROR:  deadlock detected\nDETAIL:  Process 12 waits for ExclusiveLock on advisory lock \
             [16388,0,{key},5]; blocked by process 13.\n\tProcess 13 waits for ExclusiveLock on \
             advisory lock [16388,0,{},1]; blocked by process 12.\n",
            key + 1
        )
    };
    let german = "FEHLER:  Verklemmung entdeckt\nDETAIL:  Prozess 12 wartet auf \
        ExclusiveLock-Sperre auf Advisory-Lock [16388,0,7,5]; blockiert von Prozess 13.\n\
        \tProzess 13 wartet auf ExclusiveLock-Sperre auf Advisory-Lock [16388,0,8,1]; blockiert von \
        Prozess 12.\n";
    let clusters = deadlock_clusters(&(english(102_074) + &english(102_008) + german));
    assert_eq!((clusters.len(), clusters[0].count), (1, 3), "{clusters:?}");
    let waits: Vec<&String> = clusters[0].parties.iter().flat_map(|one| &one.waits_for).collect();
    let locks = ["[?,?,?,1]", "[?,?,?,5]"];
    assert_eq!(waits, locks.map(|key| format!("ExclusiveLock on advisory lock {key}")).each_ref());
}

/// With `log_error_verbosity=terse` the announcement is all there is, in the server's language:
/// "no deadlocks" was said of it.
#[test]
fn what_is_announced_in_any_language_and_not_told_is_unread() {
    for message in [
        "ERROR:  deadlock detected",
        "FEHLER:  Verklemmung entdeckt",
        "ERREUR:  interblocage (deadlock) détecté",
        "错误:  检测到死锁",
        "ERROR:  デッドロックを検出しました",
        "ОШИБКА:  обнаружена взаимоблокировка",
        "ERROR:  se ha detectado un deadlock",
        "ERRO:  impasse detectado",
        "오류:  deadlock 발생했음",
        "ERRORE:  rilevato deadlock",
        "BŁĄD:  wykryto zakleszczenie",
        "HATA:  kilitlenme (deadlock) tespit edildi",
        "FEL:  upptäckte ett deadlock här",
        "TIPP:  Einzelheiten zur Anfrage finden Sie im Serverlog.",
        "HINT:  See server log for query details.",
        "DETAIL:  User transaction caused buffer deadlock with recovery.",
        "ERROR:  canceling the transaction since it was involved in a distributed deadlock",
        "ERROR:  canceling statement due to user request: \"cancelled by global deadlock detector\"",
    ] {
        let text = format!(
            "2024-03-05 10:12:01 CET [4136] {message}\n\
             2024-03-05 10:12:09 CET [4137] LOG:  checkpoint complete: wrote 3 buffers\n"
        );
        let reading = read_deadlocks(&text);
        assert_eq!((reading.tellings.len(), &reading.unread[..]), (0, &[1][..]), "{message}");
    }
}

/// One that is told takes no other one's place: its announcement stands.
#[test]
fn an_announcement_whose_details_are_cut_is_unread_beside_one_that_is_told() {
    let whole = "2024-03-05 10:12:01 CET [4136] FEHLER:  Verklemmung entdeckt\n\
                 2024-03-05 10:12:01 CET [4136] DETAIL:  Prozess 4136 wartet auf ShareLock-Sperre \
                 auf Transaktion 809; blockiert von Prozess 1556.\n\
                 \tProzess 1556 wartet auf ShareLock-Sperre auf Transaktion 808; blockiert von \
                 Prozess 4136.\n";
    let cut = "2024-03-05 10:14:01 CET [4136] ERRORE:  rilevato deadlock\n\
               2024-03-05 10:14:01 CET [4136] DETTAGLI:  Il processo 4136 è in attesa di ShareLock \
               su transazione 809; bloccato dal processo 1556.\n";
    let reading = read_deadlocks(&format!("{whole}{cut}"));
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (1, &[4][..]));
}

/// Two reports without the number of their backend, line by line between one another: the row of
/// one was given to the other, and one was told to be not understood.
#[test]
fn reports_between_one_another_are_both_told_and_share_no_rows() {
    let text = "2024-03-05 10:12:01 CET ERROR:  deadlock detected\n\
                2024-03-05 10:12:01 CET ERROR:  deadlock detected\n\
                2024-03-05 10:12:01 CET DETAIL:  Process 41 waits for ShareLock on transaction 809; blocked by process 55.\n\
                \tProcess 55 waits for ShareLock on transaction 808; blocked by process 41.\n\
                \tProcess 41: UPDATE a SET x=1 WHERE id=2\n\
                \tProcess 55: UPDATE a SET x=2 WHERE id=1\n\
                2024-03-05 10:12:01 CET DETAIL:  Process 77 waits for ShareLock on transaction 819; blocked by process 75.\n\
                \tProcess 75 waits for ShareLock on transaction 818; blocked by process 77.\n\
                \tProcess 77: DELETE FROM b WHERE id=2\n\
                \tProcess 75: DELETE FROM c WHERE id=1\n\
                2024-03-05 10:12:01 CET HINT:  See server log for query details.\n\
                2024-03-05 10:12:01 CET HINT:  See server log for query details.\n\
                2024-03-05 10:12:01 CET CONTEXT:  while updating tuple (0,2) in relation \"a\"\n\
                2024-03-05 10:12:01 CET CONTEXT:  while deleting tuple (0,2) in relation \"b\"\n\
                2024-03-05 10:12:01 CET STATEMENT:  UPDATE a SET x=1 WHERE id=2\n\
                2024-03-05 10:12:01 CET STATEMENT:  DELETE FROM b WHERE id=2\n";
    let reading = read_deadlocks(text);
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (2, &[][..]));
    let clusters = gather_deadlocks(reading.tellings).clusters;
    let of_b = clusters.iter().find(|one| statements(one).iter().any(|it| it.contains("FROM b")));
    let waits = of_b.unwrap().parties.iter().flat_map(|party| &party.waits_for);
    assert!(waits.into_iter().all(|wait| !wait.contains("row of a")), "{of_b:?}");
}

/// Of two that were announced one was told, and a third announcement took the place of the other:
/// one of three was passed over in silence.
#[test]
fn an_announcement_that_waits_keeps_its_place() {
    let announced =
        |second: u32| format!("2024-03-05 10:12:0{second} CET ERROR:  deadlock detected\n");
    let told = |second: u32, [one, other]: [u32; 2]| {
        format!(
            "2024-03-05 10:12:0{second} CET DETAIL:  Process {one} waits for ShareLock on \
             transaction {one}9; blocked by process {other}.\n\
             \tProcess {other} waits for ShareLock on transaction {one}8; blocked by process {one}.\n"
        )
    };
    let text = [announced(1), announced(2), told(2, [41, 55]), announced(3), told(3, [77, 75])];
    let reading = read_deadlocks(&text.concat());
    assert_eq!((reading.tellings.len(), reading.unread.len()), (2, 1), "{reading:?}");
    let many = announced(1).repeat(301);
    assert_eq!(read_deadlocks(&many).unread.len(), 301);
}

/// A queue keeps the errors of its jobs, and the server logs the statement that stores one.
#[test]
fn a_deadlock_within_a_logged_statement_is_none_of_this_log() {
    let text = "2024-03-05 10:12:07 CET [41] LOG:  duration: 1201.2 ms  statement: UPDATE jobs SET \
                last_error = 'PG::TRDeadlockDetected: ERROR:  deadlock detected\n\
                \tDETAIL:  Process 41 waits for ShareLock on transaction 809; blocked by process 55.\n\
                \tProcess 55 waits for ShareLock on transaction 808; blocked by process 41.\n\
                \tHINT:  See server log for query details.\n\
                \tCONTEXT:  while updating tuple (0,2) in relation \"a\"\n\
                \t' WHERE id = 7\n\
                2024-03-05 10:12:08 CET [43] LOG:  checkpoint starting: time\n";
    let reading = read_deadlocks(text);
    assert!(reading.tellings.is_empty(), "{:?}", reading.tellings);
    assert!(!reading.unread.is_empty(), "it is spoken of one");
}

/// Where the word for a process stands behind its number.
#[test]
fn statements_behind_a_number_and_a_word_are_taken() {
    let text = "2024-03-05 10:13:01 KST [4136] 오류:  deadlock 발생했음\n\
                2024-03-05 10:13:01 KST [4136] 상세정보:  4136 프로세스가 ShareLock 상태로 지연되고 있음(해당 작업: 트랜잭션 809); 1556 프로세스에 의해 블록킹되었음\n\
                \t1556 프로세스가 ShareLock 상태로 지연되고 있음(해당 작업: 트랜잭션 808); 4136 프로세스에 의해 블록킹되었음\n\
                \t4136 프로세스: UPDATE a SET x=1 WHERE id=2\n\
                \t1556 프로세스: UPDATE a SET x=2 WHERE id=1\n";
    let clusters = deadlock_clusters(text);
    assert_eq!(statements(&clusters[0]), ["UPDATE a SET x=? WHERE id=?"; 2]);
}

/// A page that lost the line of a lock below its heading.
#[test]
fn a_heading_of_locks_without_a_lock_is_told_in_part() {
    let party = |number: u32, heading: &str| {
        format!(
            "*** ({number}) TRANSACTION:\nTRANSACTION 10{number}, ACTIVE 0 sec inserting\n\
             MySQL thread id 9{number}, OS thread handle 4{number}, query id 1{number} host user update\n\
             INSERT INTO t VALUES ({number})\n{heading}"
        )
    };
    let lock = |number: u32, held: &str| {
        format!(
            "RECORD LOCKS space id 3 page no 8 n bits 0 index PRIMARY of table `d`.`t` trx id \
             10{number} lock_mode X{held}\nRecord lock, heap no 7\n"
        )
    };
    let text = |held: &str| {
        format!(
            "LATEST DETECTED DEADLOCK\n------------------------\n2020-03-01 15:43:35 0x2adf\n{}{}{}{held}{}{}\
             *** WE ROLL BACK TRANSACTION (2)\n",
            party(1, "*** (1) WAITING FOR THIS LOCK TO BE GRANTED:\n"),
            lock(1, " insert intention waiting"),
            party(2, "*** (2) HOLDS THE LOCK(S):\n"),
            "*** (2) WAITING FOR THIS LOCK TO BE GRANTED:\n",
            lock(2, " insert intention waiting"),
        )
    };
    assert_eq!(read_deadlocks(&text(&lock(2, ""))).in_part, []);
    let cut = read_deadlocks(&text(""));
    assert_eq!(cut.tellings.len(), 1);
    assert_eq!(cut.in_part.iter().map(|gap| gap.line).collect::<Vec<_>>(), [15]);
}

/// The first deadlocks of a log, with statements of several lines.
fn with_long_statements(text: &str, behind: &str) -> Vec<String> {
    let indentation = format!("\n{behind}WHERE w = 1\n{behind}AND i");
    let lines: Vec<&str> = text.lines().take(40).collect();
    lines.join("\n").replace(" WHERE w = 1 AND i", &indentation).lines().map(Into::into).collect()
}

/// What a text tells, and what it says is missing.
fn told_and_missing(lines: &[String]) -> (Vec<DeadlockCluster>, usize) {
    let reading = read_deadlocks(&lines.join("\n"));
    let missing = reading.in_part.len() + reading.unread.len();
    (gather_deadlocks(reading.tellings).clusters, missing)
}

/// The line of another connection cut the statement in which it stood: `UPDATE stock SET qty = ?`
/// without its WHERE is another signature.
#[test]
fn lines_of_others_within_an_account_are_passed_over() {
    let of_mysql = [
        "2026-11-25T02:37:41.000001Z 99 [Warning] [MY-010055] [Server] IP address '10.0.0.7' could \
         not be resolved: Name or service not known",
        "2026-11-25T02:37:41.000001Z 0 [Note] [MY-011953] [InnoDB] Page cleaner took 4321ms",
        "2026-11-25  2:37:41 99 [Warning] Aborted connection 99 to db: 'd' user: 'u' host: 'h'",
        "261125  2:37:41 [Warning] IP address '10.0.0.7' could not be resolved",
        "2026-11-25 02:37:41.872 GMT [5758] LOG:  checkpoint starting: time",
        "[pod/app-1/web] GET /stock 200",
        "app-1  | GET /stock 200",
        "app-1 | Server started, listening on port 3000",
        "web_1    | [2026-11-25 02:37:41] INFO ready",
        "cache  | 1:M 25 Nov 2026 02:37:41.000 * Ready to accept connections",
        "api-12     | {\"level\":\"info\",\"msg\":\"ready\"}",
        "Nov 25 02:37:41 host sshd[99]: Accepted publickey for ann",
        "2026-11-25T02:37:41.123456789Z stderr F started",
        "{\"log\":\"started\\n\",\"stream\":\"stderr\",\"time\":\"2026-11-25T02:37:41.1Z\"}",
    ];
    let of_postgres = [
        "2026-11-25 02:37:52.900 GMT [99] LOG:  checkpoint starting: time",
        "2026-11-25 02:37:52.900 GMT [99] FATAL:  password authentication failed for user \"ann\"",
        "2026-11-25 02:37:52.900 GMT LOG:  checkpoint starting: time",
        "2026-11-25 02:37:52 99 [Warning] Aborted connection 99 to db: 'd' user: 'u' host: 'h'",
        "[pod/app-1/web] GET /stock 200",
        "Nov 25 02:37:52 host sshd[99]: Accepted publickey for ann",
    ];
    for (at, others) in [(0, &of_mysql[..]), (1, &of_mysql), (2, &of_mysql), (3, &of_postgres)] {
        let (server, text) = TEXTS[at];
        let lines = with_long_statements(text, if at == 3 { "\t" } else { "" });
        let expected = told_and_missing(&lines);
        let statements: Vec<_> = expected.0.iter().flat_map(statements).collect();
        assert!(statements.contains(&UPDATE), "{server}: {statements:?}");
        for (other, before) in others.iter().zip(0..).flat_map(|(other, number)| {
            let places = (number % 3..lines.len() - 12).step_by(3);
            places.map(move |before| (other, before))
        }) {
            let mut disturbed = lines.clone();
            disturbed.insert(before, (*other).to_owned());
            let told = told_and_missing(&disturbed);
            let is_behind_row = at == 3 && other.contains("GMT LOG:");
            if !is_behind_row || !lines[before].contains("CONTEXT") {
                assert_eq!(told, expected, "{server}, before {before}: {other}");
            }
        }
    }
}

/// Where the other line tells a statement itself, or the account ends behind it, nobody knows whose
/// the next lines are.
#[test]
fn statements_with_doubtful_ends_are_told_in_part() {
    let mysql = "2026-11-25T02:37:41.0Z 9 [Warning] [MY-010908] [Server] Unsafe statement written \
                 to the binary log. Statement: DELETE FROM a";
    let postgres = "2026-11-25 02:37:52.900 GMT [99] LOG:  duration: 7.0 ms  statement: SELECT x";
    for (at, other, behind) in [(0, mysql, ""), (1, mysql, ""), (2, mysql, ""), (3, postgres, "\t")]
    {
        let (server, text) = TEXTS[at];
        let mut lines = with_long_statements(text, behind);
        let first = lines.iter().position(|line| line.contains("WHERE w = 1")).unwrap();
        lines.insert(first, other.to_owned());
        let reading = read_deadlocks(&lines.join("\n"));
        let gap = reading.in_part.iter().find(|gap| gap.line == first + 1).unwrap();
        assert!(gap.missing.contains("the end of a statement"), "{server}: {gap:?}");
        // The same without anything behind the other line that shows that the account goes on.
        lines.truncate(first + 3);
        lines[first] = if at == 3 { postgres.split("duration").next().unwrap() } else { mysql }
            .replace("Statement: ", "")
            .to_owned();
        let (clusters, missing) = told_and_missing(&lines);
        let is_said = clusters.is_empty() && missing > 0;
        assert!(is_said || missing > 0, "{server}: {clusters:?}");
    }
}

/// A row that begins with a date is none of the log's own lines, and a blank line ends nothing.
#[test]
fn rows_with_dates_and_blank_lines_are_of_the_statement() {
    let asked = "UPDATE stock SET qty = qty + ?, note = ? WHERE w = ? AND i = ? AND d IN (?)";
    for (at, behind) in [(0, ""), (1, ""), (2, ""), (3, "\t")] {
        let (server, text) = TEXTS[at];
        let dates = [
            "(\"2026-01-01 10:00:00\",",
            "",
            "\"2026-01-02 10:00:00\",",
            "'a",
            "2026-01-03 10:00:00')",
        ];
        let dates = dates.map(|line| format!("\n{behind}{line}")).concat();
        let dates = if at == 3 { dates.replace('"', "'") } else { dates };
        let lines: Vec<&str> = text.lines().take(40).collect();
        let with = |row: usize| format!(" AND i = {row} AND d IN {dates}");
        let text = lines.join("\n").replace(" AND i = 1", &with(1)).replace(" AND i = 2", &with(2));
        for text in [&text, &text.replace("\n\t\n", "\n\n")] {
            let clusters = deadlock_clusters(text);
            assert_eq!(statements(&clusters[0]), [asked; 2], "{server}");
        }
    }
}

/// A function that catches the error, or a level of the log without errors, leaves of a deadlock
/// what `log_lock_waits` writes. It was passed over where another deadlock was told.
#[test]
fn a_process_that_has_found_a_deadlock_tells_one() {
    let whole = TEXTS[3].1.lines().take(8).collect::<Vec<_>>().join("\n");
    let found = |process: usize| {
        let stamp = format!("2026-11-25 02:37:52.871 GMT [{process}]");
        format!(
            "{stamp} LOG:  process {process} detected deadlock while waiting for ShareLock on \
             transaction 729 after 1000.123 ms\n{stamp} DETAIL:  Process holding the lock: 5759. \
             Wait queue: .\n{stamp} CONTEXT:  while updating tuple (0,2) in relation \"stock\"\n\
             {stamp} STATEMENT:  UPDATE stock\n"
        )
    };
    let terse = "2026-11-25 02:37:52.872 GMT [77] ERROR:  deadlock detected\n";
    for (text, told, unread) in [
        (whole.clone(), 1, &[][..]),
        (found(5758) + &whole, 1, &[][..]),
        (found(5759) + &whole, 1, &[1][..]),
        (found(77) + &found(5758) + &whole, 1, &[1][..]),
        (found(5758) + &whole + "\n" + &found(5758), 1, &[13][..]),
        (found(5758) + &found(5758) + &whole, 1, &[1][..]),
        (found(77), 0, &[1][..]),
        (found(77) + terse, 0, &[5][..]),
        (found(77) + &found(5758) + terse + &whole, 1, &[9][..]),
        (found(5758) + &found(77) + terse + &whole, 1, &[9][..]),
    ] {
        for text in [text.clone(), text.replace(" GMT [5758]", " GMT").replace(" GMT [77]", " GMT")]
        {
            let reading = read_deadlocks(&text);
            assert_eq!((reading.tellings.len(), &reading.unread[..]), (told, unread), "{text}");
            assert_eq!(reading.in_part, [], "{text}");
        }
    }
}

/// The words of PostgreSQL's translations, which may be what announces a deadlock, too.
#[test]
fn a_deadlock_that_was_found_is_known_in_any_language() {
    for message in [
        "LOG:  Prozess 77 hat Verklemmung festgestellt beim Warten auf ShareLock-Sperre auf \
         Transaktion 729 nach 1000,123 ms",
        "LOG:  el proceso 77 detectó un deadlock mientras esperaba ShareLock en transacción 729 \
         después de 1000.123 ms",
        "СООБЩЕНИЕ:  процесс 77 обнаружил взаимоблокировку, ожидая в режиме ShareLock блокировку \
         \"транзакция 729\" в течение 1000.123 мс",
        "日志:  进程 77 等待 事务 729 上的 ShareLock 达 1000.123 毫秒后检测到死锁",
        "LOG:  プロセス77は、トランザクション 729上のShareLockに対し1000.123 ms待機する\
         デッドロックを検知しました",
        "로그:  77 PID 프로세스에서 ShareLock(729 트랜잭션) 대기중 1000.123ms 후에 교착 상태를 감지함",
    ] {
        let line = format!("2026-11-25 02:37:52.871 GMT [77] {message}\n");
        let reading = read_deadlocks(&format!("{line}{}", TEXTS[3].1));
        assert_eq!((reading.tellings.len(), &reading.unread[..]), (4, &[1][..]), "{message}");
        let whole = TEXTS[3].1.replace("5758", "77");
        let reading = read_deadlocks(&format!("{line}{whole}"));
        assert_eq!((reading.tellings.len(), &reading.unread[..]), (4, &[][..]), "{message}");
    }
    // Waits that end otherwise are none.
    let avoided = "2026-11-25 02:37:52.871 GMT [77] LOG:  process 77 avoided deadlock for \
                   ShareLock on transaction 729 by rearranging queue order after 1000.123 ms\n\
                   2026-11-25 02:37:52.871 GMT [77] LOG:  process 77 still waiting for ShareLock \
                   on transaction 729 after 1000.123 ms\n";
    let reading = read_deadlocks(avoided);
    assert_eq!((reading.tellings.len(), &reading.unread[..]), (0, &[][..]));
}

/// A log that ends within a statement told it as whole, and one in a container's file told no
/// statements at all as if none had been logged.
#[test]
fn statements_that_are_cut_are_told_in_part() {
    for (at, behind) in [(0, ""), (1, ""), (2, ""), (3, "\t")] {
        let (server, text) = TEXTS[at];
        let lines = with_long_statements(text, behind);
        let whole: Vec<_> = deadlock_clusters(&lines.join("\n"));
        let wholes: Vec<_> = whole.iter().flat_map(statements).collect();
        for end in 1..lines.len() {
            let cut = &lines[..end];
            let carried = cut.iter().enumerate();
            let carried =
                carried.map(|(at, line)| format!("2026-11-25T10:00:00.{at:09}Z stderr F {line}"));
            for text in [cut.join("\n"), carried.collect::<Vec<_>>().join("\n")] {
                let reading = read_deadlocks(&text);
                let is_said = !reading.in_part.is_empty() || !reading.unread.is_empty();
                let told = gather_deadlocks(reading.tellings).clusters;
                let are_whole = told.iter().flat_map(statements).all(|it| wholes.contains(&it));
                assert!(are_whole || is_said, "{server}, {end}: {told:?}");
            }
        }
    }
}

/// Without the line of its thread a transaction was told as one whose statement was not logged, and
/// a statement without its first line as another one.
#[test]
fn what_stands_before_a_statement_is_missed() {
    for (server, text) in &TEXTS[..3] {
        let lines = with_long_statements(text, "");
        let thread = lines.iter().position(|line| line.contains("thread id ")).unwrap();
        let with_start = |start: &str| {
            let mut lines = lines.clone();
            lines[thread + 1] = start.to_owned();
            lines
        };
        let mut threadless = lines.clone();
        threadless.remove(thread);
        for lines in [threadless, with_start("= 7"), with_start("(7, 'a'), (8, 'b')")] {
            assert_eq!(unasked(&lines), 1, "{server}: {lines:?}");
        }
        // A transaction of the server itself has neither thread nor statement.
        let asked = lines[thread..].iter().position(|line| line.starts_with("AND i = ")).unwrap();
        let mut own = lines.clone();
        own.drain(thread..=thread + asked);
        assert_eq!(unasked(&own), 0, "{server}");
    }
}

/// How often it is said that nobody knows what a transaction asks.
fn unasked(lines: &[String]) -> usize {
    let gaps = read_deadlocks(&lines.join("\n")).in_part;
    gaps.iter().filter(|gap| gap.missing.contains(" asks")).count()
}

/// A comparison at the beginning of a line was taken for a quotation, and a label in a literal for
/// that of another entry.
#[test]
fn lines_of_statements_that_look_otherwise_are_theirs() {
    let asked = "UPDATE stock SET qty = qty + ?, note = ? WHERE w = ? AND i > ? AND x = ? OR x > ?";
    for (at, behind) in [(0, ""), (1, ""), (2, ""), (3, "\t")] {
        let (server, text) = TEXTS[at];
        let lines: Vec<&str> = text.lines().take(40).collect();
        let rest = ["> 1", "AND x = 'ERROR:  y'", "OR x", "  > 7"];
        let rest = rest.map(|line| format!("\n{behind}{line}")).concat();
        let mut text = lines.join("\n");
        for row in [" = 1", " = 2"] {
            text = text.replace(&format!(" AND i{row}"), &format!(" AND i{rest}"));
        }
        assert_eq!(statements(&deadlock_clusters(&text)[0]), [asked; 2], "{server}: {text}");
    }
}

/// A jsonlog had a backend of its own for each of its records, and where an error was not logged,
/// what was undone of the text lost deadlocks that it tells.
#[test]
fn records_of_a_jsonlog_are_of_their_backend() {
    let found = |process: usize| {
        format!(
            "{{\"pid\":{process},\"error_severity\":\"LOG\",\"state_code\":\"00000\",\"message\":\
             \"process {process} detected deadlock while waiting for ShareLock on transaction 7 \
             after 1000.123 ms\",\"statement\":\"UPDATE a\\nSET x = 1\"}}\n"
        )
    };
    let told = "{\"pid\":41,\"error_severity\":\"ERROR\",\"state_code\":\"40P01\",\"message\":\
                \"deadlock detected\",\"detail\":\"Process 41 waits for ShareLock on transaction 9; \
                blocked by process 55.\\nProcess 55 waits for ShareLock on transaction 8; blocked \
                by process 41.\\nProcess 41: UPDATE a\\nSET x = 1\\nProcess 55: UPDATE a\\nSET x = \
                2\"}\n";
    let other =
        "{\"pid\":77,\"error_severity\":\"LOG\",\"message\":\"checkpoint starting: time\"}\n";
    for (text, unread) in [
        (found(41) + told, &[][..]),
        (found(41) + other + told, &[]),
        (found(77) + told + other, &[1]),
        (found(41) + told + &found(41) + &found(77), &[3, 4]),
    ] {
        let reading = read_deadlocks(&text);
        let told = (reading.tellings.len(), &reading.unread[..], reading.in_part.len());
        assert_eq!(told, (1, unread, 0), "{text}");
    }
}

/// The details of a deadlock of PostgreSQL between two processes.
fn details_of(number: u32) -> String {
    let process = |other: u32| 100 * number + other;
    let (one, other) = (process(1), process(2));
    format!(
        "Process {one} waits for ShareLock on transaction {number}7; blocked by process \
         {other}.\nProcess {other} waits for ShareLock on transaction {number}8; blocked by \
         process {one}.\nProcess {one}: UPDATE a SET b = 1\nProcess {other}: UPDATE c SET d = 2"
    )
}

/// A record that was cut before its first wait was neither counted nor named beside a whole one.
#[test]
fn a_record_in_json_that_was_cut_off_is_named() {
    let quoted = |text: String| serde_json::Value::from(text).to_string();
    let jsonlog = |number: u32| {
        format!(
            "{{\"timestamp\":\"2026-01-02 0{number}:04:05.678 UTC\",\"pid\":{number}01,\
             \"error_severity\":\"ERROR\",\"state_code\":\"40P01\",\"message\":\"deadlock \
             detected\",\"detail\":{},\"backend_type\":\"client backend\"}}",
            quoted(details_of(number))
        )
    };
    let plain = |number: u32| {
        let time = format!("2026-01-02 0{number}:04:05.678 UTC [{number}01]");
        let details = details_of(number).replace('\n', "\n\t");
        format!("{time} ERROR:  deadlock detected\n{time} DETAIL:  {details}\n")
    };
    let logger = |number: u32| {
        let words = "ERROR: deadlock detected (SQLSTATE 40P01)";
        format!("{{\"msg\":\"{words}\",\"detail\":{}}}", quoted(details_of(number)))
    };
    let message = |number: u32| format!("{{\"message\":{}}}", quoted(plain(number)));
    let docker = |number: u32| format!("{{\"log\":{}}}", quoted(jsonlog(number)));
    let forms: [&dyn Fn(u32) -> String; 4] = [&jsonlog, &message, &docker, &logger];
    for form in forms {
        let (whole, other) = (form(1), form(2));
        let begin = other.find("deadlock detected").unwrap() + 20;
        for length in (begin..other.len() - 2).step_by(11) {
            let cut = &other[..length];
            for text in [format!("{whole}\n{cut}"), format!("{cut}\n{whole}\n")] {
                expect_two(&text);
            }
        }
    }
    let loki = |number: u32| format!("[\"176000000{number}000000000\",{}]", quoted(plain(number)));
    for (before, behind) in [
        (format!("[\n{},\n", message(1)), message(2)),
        (format!("{{\"hits\":{{\"hits\":[{},", message(1)), message(2)),
        (format!("{{\"events\":[{},", message(1)), message(2)),
        (format!("{{\"data\":{{\"result\":[{{\"stream\":{{}},\"values\":[{},", loki(1)), loki(2)),
        (jsonlog(1).replace(",\"", ",\n\""), jsonlog(2).replace(",\"", ",\n\"")),
    ] {
        let begin = behind.find("deadlock detected").unwrap() + 20;
        for length in (begin..behind.len() - 2).step_by(23) {
            expect_two(&format!("{before}{}", &behind[..length]));
        }
    }
}

/// Two deadlocks are told, or one, and of the other one that it was not understood.
fn expect_two(text: &str) {
    let reading = read_deadlocks(text);
    let is_named = !reading.unread.is_empty() || !reading.in_part.is_empty();
    let count = reading.tellings.len();
    assert!(count == 2 || count == 1 && is_named, "{count} of {text}");
}

/// As `fold` breaks lines: where they are full, or before the word for which there is no room.
fn folded(text: &str, columns: usize, is_at_words: bool) -> String {
    let mut whole = String::new();
    for line in text.lines() {
        let mut rest = line;
        while rest.len() > columns {
            let blank = rest[..columns].rfind(' ').filter(|_| is_at_words);
            let (part, behind) = rest.split_at(blank.map_or(columns, |at| at + 1));
            whole.push_str(part);
            whole.push('\n');
            rest = behind;
        }
        whole.push_str(rest);
        whole.push('\n');
    }
    whole
}

/// Words that announce a deadlock may be broken as well: there is none only where none is told.
#[test]
fn a_log_is_read_or_refused_wherever_its_lines_are_broken() {
    for (server, text) in [TEXTS[1], TEXTS[3]] {
        let told = |clusters: &[DeadlockCluster]| {
            let one = |it: &DeadlockCluster| format!("{} {:?}", it.count, statements(it));
            clusters.iter().map(one).collect::<Vec<_>>()
        };
        let whole = told(&deadlock_clusters(text));
        let mut read = 0;
        for (columns, is_at_words) in (50..=100).flat_map(|it| [(it, false), (it, true)]) {
            let reading = read_deadlocks(&folded(text, columns, is_at_words));
            let is_in_part = !reading.unread.is_empty() || !reading.in_part.is_empty();
            let clusters = told(&gather_deadlocks(reading.tellings).clusters);
            assert!(is_in_part || clusters == whole, "{server}, {columns}: {clusters:#?}");
            read += usize::from(clusters == whole);
        }
        assert!(read >= 20, "{server}: {read} of 102");
    }
}
