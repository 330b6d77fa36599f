//! What stands between the marks of a literal is shown of no log, whatever it looks like.
//!
//! Statements are made from a seed, with literals of all forms, some of which have the lines of a
//! log within them. They are logged as servers log them and carried as people carry logs. Each
//! literal has a word that stands nowhere else.

use std::fmt::Write as _;

use dbdyno_explain::{DeadlockReading, deadlock_clusters, read_deadlocks, signature_written};

/// Logs of each server. `LOG_SEEDS` in the environment is for a longer look.
const LOGS: u64 = 150;
const DEADLOCKS_OF_A_LOG: usize = 3;

/// Numbers of a seed: SplitMix64 (Steele, Lea and Flood, 2014).
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end as u64) as usize
    }

    fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    fn is_one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Server {
    Innodb,
    Postgres,
}

/// Lines that a value may have, as servers and clients write them.
const LINES_OF_LOGS: [&str; 44] = [
    "",
    "*** (1) TRANSACTION:",
    "*** (2) TRANSACTION:",
    "TRANSACTION 77, ACTIVE 9 sec starting index read",
    "---TRANSACTION 77, ACTIVE 9 sec",
    "mysql tables in use 1, locked 1",
    "LOCK WAIT 3 lock struct(s), heap size 1136, 2 row lock(s)",
    "MySQL thread id 7, OS thread handle 1, query id 3 h u updating",
    "MariaDB thread id 7, OS thread handle 1, query id 3 h u Updating",
    "*** (1) WAITING FOR THIS LOCK TO BE GRANTED:",
    "*** (2) HOLDS THE LOCK(S):",
    "*** CONFLICTING WITH:",
    "RECORD LOCKS space id 4 page no 4 n bits 72 index PRIMARY of table `d`.`a` trx id 77 \
     lock_mode X waiting",
    "Record lock, heap no 2 PHYSICAL RECORD: n_fields 3; compact format; info bits 0",
    " 0: len 4; hex 80000001; asc     ;;",
    "*** WE ROLL BACK TRANSACTION (1)",
    "2026-01-01T00:00:09.000000Z 7 [Note] InnoDB: Transactions deadlock detected, dumping \
     detailed information.",
    "2026-01-01T00:00:09.000000Z 7 [Note] InnoDB: *** (2) TRANSACTION:",
    "LATEST DETECTED DEADLOCK",
    "------------------------",
    "END OF INNODB MONITOR OUTPUT",
    "2026-01-01 00:00:09 UTC [7] ERROR:  deadlock detected",
    "2026-01-01 00:00:09 UTC [9] LOG:  process 9 still waiting for ShareLock on transaction 3",
    "2026-01-01 00:00:09 UTC [7] DETAIL:  Process 7 waits for ShareLock on transaction 2; \
     blocked by process 8.",
    "Process 8 waits for ShareLock on transaction 1; blocked by process 7.",
    "2026-01-01 00:00:09 UTC [7] HINT:  See server log for query details.",
    "2026-01-01 00:00:09 UTC [7] CONTEXT:  while updating tuple (0,1) in relation \"a\"",
    "2026-01-01 00:00:09 UTC [9] LOG:  checkpoint starting: time",
    "ERROR:  deadlock detected",
    "ERROR: deadlock detected",
    "Detail: Process 7 waits for ShareLock on transaction 2; blocked by process 8.",
    "Hint: See server log for query details.",
    "HINT:  See server log for query details.",
    "Where: while updating tuple (0,1) in relation \"a\"",
    "psql:a.sql:3: ERROR:  deadlock detected",
    "2026-01-01 00:00:09.123 UTC,\"u\",\"d\",7,\"[local]\",abc.7,1,\"UPDATE\",\
     2026-01-01 00:00:00 UTC,3/4,5,ERROR,40P01,\"deadlock detected\",\"Process 7 waits\",,,,,,",
    "{\"timestamp\":\"2026-01-01 00:00:09.123 UTC\",\"pid\":7,\"error_severity\":\"ERROR\"}",
    "{\"log\":\"x\\n\",\"stream\":\"stderr\"}",
    "db-1  | x",
    "Jan  1 00:00:09 db postgres[7]: [3-1] x",
    "2026-01-01T00:00:09.000000000Z stderr F x",
    "> x",
    "\u{feff}x",
    "ERROR 1213 (40001): Deadlock found when trying to get lock; try restarting transaction",
];

/// With what a line of a value begins that has a secret.
const BEFORE_SECRETS: [&str; 19] = [
    "",
    "\t",
    "  ",
    "foo",
    "UPDATE t SET a = b",
    "UPDATE t SET a = ",
    "DELETE FROM",
    "\tProcess 7: ",
    "\tProcess 8: UPDATE t SET b = ",
    "Process 8: ",
    "Process 8: SELECT",
    "2026-01-01 00:00:09 UTC [7] STATEMENT:  ",
    "2026-01-01 00:00:09 UTC [7] STATEMENT:  UPDATE t SET b = ",
    "2026-01-01 00:00:09 UTC [7] DETAIL:  Process 7: ",
    "STATEMENT:  ",
    "STATEMENT: ",
    "x: ",
    "[SQL: ",
    "LINE 1: ",
];

/// With what a value may end: what stands behind it in the statement may look like a part of it.
const ENDS: [&str; 11] = [
    "TRANSACTION ",
    "TRANSACTION 77, ACTIVE 9 sec ",
    "MySQL thread id 7, OS thread handle 1, query id 3 h u ",
    "RECORD LOCKS space id 4 page no 4 n bits 72 index ",
    "RECORD LOCKS space id 4 page no 4 n bits 72 index PRIMARY of table ",
    "TABLE LOCK table ",
    "2026-01-01 00:00:09 UTC [7] CONTEXT:  while updating tuple (0,1) in relation \"",
    "2026-01-01 00:00:09 UTC [7] DETAIL:  Process 7 waits for ShareLock on ",
    "Process 8 waits for ",
    "Process 8: ",
    "2026-01-01 00:00:09 UTC [7] STATEMENT:  ",
];

/// Statements under way, and the words in their literals.
struct Writer {
    chance: Chance,
    server: Server,
    secrets: Vec<String>,
}

impl Writer {
    /// A word that stands nowhere else.
    fn secret(&mut self) -> String {
        let letters = "abcdefghijkmnpqrstuvwxyz".as_bytes();
        let mut word = "Zq".to_owned();
        for _ in 0..9 {
            word.push(letters[self.chance.below(letters.len())].into());
        }
        self.secrets.push(word.clone());
        word
    }

    fn secret_digits(&mut self) -> String {
        let mut word = "9".to_owned();
        for _ in 0..9 {
            word.push((b'0' + self.chance.below(10) as u8).into());
        }
        self.secrets.push(word.clone());
        word
    }

    /// What may stand between marks, with a secret: often several lines.
    fn content(&mut self) -> String {
        if self.chance.is_one_in(2) {
            return self.secret();
        }
        let mut text = if self.chance.is_one_in(2) { self.secret() } else { String::new() };
        for _ in 0..1 + self.chance.below(5) {
            let line = self.chance.one_of(&LINES_OF_LOGS);
            text.push('\n');
            text.push_str(line);
            if self.chance.is_one_in(2) {
                let before = self.chance.one_of(&BEFORE_SECRETS);
                let secret = self.secret();
                let behind = self.chance.one_of(&["", ";", ".", ", b", "\n;", "\n\n"]);
                write!(text, "\n{before}{secret}{behind}").unwrap();
            }
        }
        if self.chance.is_one_in(4) {
            let end = self.chance.one_of(&ENDS);
            write!(text, "\n{end}").unwrap();
        }
        text
    }

    /// The same as a literal in these marks.
    fn quoted(&mut self, mark: char) -> String {
        let mut text = self.content();
        if self.chance.is_one_in(6) {
            let at = self.chance.one_of(&[" -- ", " /* ", " # ", "`", "\"", "'", "$$", ";"]);
            text = format!("{text}{at}{}", self.secret());
        }
        let is_escaped = self.server == Server::Innodb && self.chance.is_one_in(2);
        let doubled = format!("{mark}{mark}");
        let protected = format!("\\{mark}");
        let text = if is_escaped {
            text.replace('\\', "\\\\").replace(mark, &protected)
        } else {
            text.replace(mark, &doubled)
        };
        let text = match self.server {
            Server::Innodb if !is_escaped => text.replace('\\', ""),
            _ => text,
        };
        format!("{mark}{text}{mark}")
    }

    fn literal(&mut self) -> String {
        match self.server {
            Server::Innodb => self.literal_of_innodb(),
            Server::Postgres => self.literal_of_postgres(),
        }
    }

    fn literal_of_innodb(&mut self) -> String {
        match self.chance.below(14) {
            0..=4 => self.quoted('\''),
            5..=6 => self.quoted('"'),
            7 => format!("_utf8mb4{}", self.quoted('\'')),
            8 => format!("CONCAT({}, {})", self.quoted('\''), self.quoted('"')),
            9 => self.secret_digits(),
            10 => format!("-{}.5e3", self.secret_digits()),
            11 => format!("0x{}", self.secret_digits()),
            12 => format!("doc->>{}", self.quoted('\'')),
            _ => format!("DATE {}", self.quoted('\'')),
        }
    }

    fn literal_of_postgres(&mut self) -> String {
        match self.chance.below(14) {
            0..=4 => self.quoted('\''),
            5 => format!("E{}", self.quoted('\'')),
            6 => format!("$${}$$", self.content().replace('$', "")),
            7 => format!("$a1${}$a1$", self.content()),
            8 => format!("{}::jsonb", self.quoted('\'')),
            9 => self.secret_digits(),
            10 => format!("X'{}'", self.secret_digits()),
            11 => format!("ARRAY[{}, {}]", self.quoted('\''), self.quoted('\'')),
            12 => format!("{} || {}", self.quoted('\''), self.quoted('\'')),
            _ => format!("U&{}", self.quoted('\'')),
        }
    }

    fn comment(&mut self) -> String {
        let secret = self.secret();
        match (self.chance.below(16), self.server) {
            (0, _) => format!(" /* {secret} */ "),
            (1, _) => format!(" -- it's {secret}\n"),
            (2, Server::Innodb) => format!(" # it's {secret}\n"),
            (2, Server::Postgres) => format!(" /* a /* b */ {secret} */ "),
            (3, Server::Innodb) => format!(" /*!99999 it's {secret} */ "),
            (4, _) => format!(" /*{} {secret} */ ", self.chance.one_of(&LINES_OF_LOGS)),
            (5, _) => format!(" /*\n{}\n{secret} */ ", self.chance.one_of(&LINES_OF_LOGS)),
            _ => String::new(),
        }
    }

    fn condition(&mut self) -> String {
        let column = self.chance.one_of(&["a = ", "c > ", "t1.g <> ", "LOWER(e) = ", "e LIKE "]);
        format!("{column}{}{}", self.comment(), self.literal())
    }

    fn statement(&mut self) -> String {
        let table = self.chance.one_of(&["acc", "db.acc", "acc AS t1", "acc t1"]);
        let text = match self.chance.below(8) {
            0 | 1 => format!(
                "UPDATE {table} SET x = {},{} y={} WHERE {}",
                self.literal(),
                self.comment(),
                self.literal(),
                self.condition()
            ),
            2 => format!(
                "INSERT INTO acc (a, b) VALUES ({}, {}), ({},{}{})",
                self.literal(),
                self.literal(),
                self.literal(),
                self.comment(),
                self.literal()
            ),
            3 => {
                format!("DELETE FROM {table} WHERE {} AND {}", self.condition(), self.condition())
            }
            4 => format!("SELECT {}, a FROM {table} WHERE {}", self.literal(), self.condition()),
            5 => format!("INSERT INTO acc SELECT {}, b FROM u", self.literal()),
            6 => format!("CALL p({},{} {})", self.literal(), self.comment(), self.literal()),
            _ => format!("{}UPDATE acc SET x = {}", self.comment(), self.literal()),
        };
        if self.chance.is_one_in(6) { self.cut(text) } else { text }
    }

    /// A statement that the server cut off.
    fn cut(&mut self, mut text: String) -> String {
        let mut end = text.len() / 2 + self.chance.below(text.len() / 2);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }

    fn log(&mut self) -> String {
        let form = self.chance.below(4);
        let mut log = String::new();
        for number in 0..DEADLOCKS_OF_A_LOG {
            let pair = [self.statement(), self.statement()];
            match (self.server, form) {
                (Server::Innodb, 0) => log.push_str(&innodb_notes(&pair, number)),
                (Server::Innodb, _) => log.push_str(&innodb_account(&pair, number)),
                (Server::Postgres, 0) => log.push_str(&postgres_csv(&pair, number)),
                (Server::Postgres, 1) => log.push_str(&postgres_json(&pair, number)),
                (Server::Postgres, 2) => log.push_str(&postgres_client(&pair)),
                (Server::Postgres, _) => log.push_str(&postgres_entries(&pair, number)),
            }
        }
        log
    }

    fn carried(&mut self, log: &str) -> String {
        let each = |before: &str| {
            log.lines().fold(String::new(), |text, line| text + before + line + "\n")
        };
        match self.chance.below(12) {
            0 => each("db-1  | "),
            1 => each("> "),
            2 => each("    "),
            3 => each("2026-01-01T00:00:09.000000000Z stderr F "),
            4 => each("Jan  1 00:00:09 db mysqld[7]: "),
            5 => log.replace('\n', "\r\n"),
            6 => log
                .lines()
                .map(|line| format!("{{\"log\":{}}}\n", json_string(&format!("{line}\n"))))
                .collect(),
            7 if self.server == Server::Innodb => {
                let line = log.replace('\\', "\\\\").replace('\n', "\\n").replace('\t', "\\t");
                format!("Type\tName\tStatus\nInnoDB\t\t{line}\n")
            }
            8 => format!("```\n{log}```\n"),
            9 => log.replace('\t', "        "),
            _ => log.to_owned(),
        }
    }
}

fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

const LOCK: &str = "RECORD LOCKS space id 4 page no 4 n bits 72 index PRIMARY of table `d`.`a`";

/// As `innodb_print_all_deadlocks` and the monitor write it.
fn innodb_account(pair: &[String; 2], number: usize) -> String {
    let [first, second] = pair;
    let party = |which: usize, statement: &str| {
        format!(
            "*** ({which}) TRANSACTION:\nTRANSACTION {number}{which}, ACTIVE 1 sec starting index \
             read\nmysql tables in use 1, locked 1\nLOCK WAIT 3 lock struct(s), heap size 1136, 2 \
             row lock(s)\nMySQL thread id {which}, OS thread handle 1, query id 1 h u \
             updating\n{statement}\n*** ({which}) WAITING FOR THIS LOCK TO BE GRANTED:\n{LOCK} trx \
             id {number}{which} lock_mode X waiting\n"
        )
    };
    format!(
        "2026-01-01 00:00:{number:02} 7f InnoDB: transactions deadlock detected, dumping detailed \
         information.\n{}{}*** WE ROLL BACK TRANSACTION (1)\n",
        party(1, first),
        party(2, second)
    )
}

/// As MySQL 8 writes it, with a note before each part.
fn innodb_notes(pair: &[String; 2], number: usize) -> String {
    let note = "2026-01-01T00:00:00.000000Z 7 [Note] [MY-012468] [InnoDB] ";
    let account = innodb_account(pair, number);
    let headings = ["*** (1) TRANSACTION", "*** (2) TRANSACTION", "*** WE ROLL BACK"];
    headings.iter().fold(account, |text, heading| {
        text.replacen(&format!("\n{heading}"), &format!("\n{note}{heading}"), 1)
    })
}

fn postgres_detail(pair: &[String; 2]) -> String {
    format!(
        "Process 7 waits for ShareLock on transaction 2; blocked by process 8.\nProcess 8 waits \
         for ShareLock on transaction 1; blocked by process 7.\nProcess 7: {}\nProcess 8: {}",
        pair[0], pair[1]
    )
}

/// As `log_destination = stderr` has it: a tab before each line that goes on.
fn postgres_entries(pair: &[String; 2], number: usize) -> String {
    let before = format!("2026-01-01 00:00:{number:02} UTC [7] ");
    let entry =
        |label: &str, text: &str| format!("{before}{label}:  {}\n", text.replace('\n', "\n\t"));
    entry("ERROR", "deadlock detected")
        + &entry("DETAIL", &postgres_detail(pair))
        + &entry("HINT", "See server log for query details.")
        + &entry("CONTEXT", "while updating tuple (0,1) in relation \"a\"")
        + &entry("STATEMENT", &pair[0])
}

/// As psql prints the log's details where a server sends them, without tabs.
fn postgres_client(pair: &[String; 2]) -> String {
    format!(
        "ERROR:  deadlock detected\nDETAIL:  {}\nHINT:  See server log for query details.\n",
        postgres_detail(pair)
    )
}

fn postgres_csv(pair: &[String; 2], number: usize) -> String {
    let field = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    format!(
        "2026-01-01 00:00:{number:02}.123 UTC,\"u\",\"d\",7,\"[local]\",abc.7,1,\"UPDATE\",\
         2026-01-01 00:00:00 UTC,3/4,{number},ERROR,40P01,\"deadlock detected\",{},\"See server \
         log for query details.\",,,,{},,,\"psql\",\"client backend\",,0\n",
        field(&postgres_detail(pair)),
        field(&pair[0])
    )
}

fn postgres_json(pair: &[String; 2], number: usize) -> String {
    format!(
        "{{\"timestamp\":\"2026-01-01 00:00:{number:02}.123 UTC\",\"user\":\"u\",\"dbname\":\"d\",\
         \"pid\":7,\"error_severity\":\"ERROR\",\"state_code\":\"40P01\",\"message\":\"deadlock \
         detected\",\"detail\":{},\"statement\":{},\"backend_type\":\"client backend\"}}\n",
        json_string(&postgres_detail(pair)),
        json_string(&pair[0])
    )
}

/// All that is shown of a log.
fn shown(log: &str) -> (DeadlockReading, String) {
    let reading = read_deadlocks(log);
    let clusters: Vec<String> = deadlock_clusters(log).iter().map(signature_written).collect();
    let text = format!("{reading:?}\n{}", clusters.join("\n"));
    (reading, text)
}

fn look_for_secrets(server: Server) {
    let logs = std::env::var("LOG_SEEDS").map_or(LOGS, |text| text.parse().unwrap());
    let (mut told, mut with_statements) = (0, 0);
    let mut shown_secrets = Vec::new();
    for seed in 0..logs {
        let mut writer = Writer { chance: Chance(seed), server, secrets: Vec::new() };
        let log = writer.log();
        let log = writer.carried(&log);
        let (reading, text) = shown(&log);
        told += reading.tellings.len();
        with_statements += usize::from(text.contains("acc"));
        if let Some(secret) = writer.secrets.iter().find(|secret| text.contains(*secret)) {
            shown_secrets.push(format!("seed {seed}, {secret}:\n{log}\n{text}"));
        }
    }
    shown_secrets.sort_by_key(String::len);
    let first = shown_secrets.first().map_or("", String::as_str);
    assert!(shown_secrets.is_empty(), "{server:?}: {} logs, {first}", shown_secrets.len());
    // It is no proof where nothing is read.
    let (logs, all) = (logs as usize, logs as usize * DEADLOCKS_OF_A_LOG);
    assert!(told >= all / 2, "{server:?}: {told} deadlocks of {all}");
    assert!(with_statements >= logs / 2, "{server:?}: {with_statements} logs of {logs}");
}

#[test]
fn no_literal_of_innodb_is_shown_that_looks_like_a_log() {
    look_for_secrets(Server::Innodb);
}

#[test]
fn no_literal_of_postgresql_is_shown_that_looks_like_a_log() {
    look_for_secrets(Server::Postgres);
}
