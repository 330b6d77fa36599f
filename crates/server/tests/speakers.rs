//! Speakers of MySQL's protocol are taken for what they are: what is not known of one is not asked.

use std::sync::{Arc, Mutex};

use dbdyno_model::Dialect;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_server::{
    BlockingWatch, FactReader, Onlooker, ServerRelease, StatisticsExtent, column_statistics,
    database_bytes, explain_statement, latest_deadlock, lend_statistics, open_transactions,
    optimizer_trace, read_fact, replication_position, require_known_promises, server_backlog,
    session_level, session_reads,
};
use dbdyno_wire::mock::{Login, MockProtocol, MockReply, MockServer, Script, Turn};
use dbdyno_wire::{Client, mysql::MysqlConnection};

/// A server that calls itself so, answers these questions, and refuses all others.
struct Speaker {
    version: &'static str,
    answers: Vec<(&'static str, String)>,
    asked: Mutex<Vec<String>>,
}

impl Script for Speaker {
    fn statement_turn(&self, _connection: u64, _statement: u64) -> Turn {
        Turn::now(MockReply::Affected(0))
    }

    fn version(&self) -> Option<&str> {
        Some(self.version)
    }

    fn text_reply(&self, sql: &str) -> Option<MockReply> {
        if sql.starts_with("SET ") {
            return Some(MockReply::Affected(0));
        }
        self.asked.lock().unwrap().push(sql.to_owned());
        let known = self.answers.iter().find(|(question, _)| sql.contains(question));
        Some(known.map_or_else(
            || MockReply::Error { code: 1146, sqlstate: "42S02", message: "no such table".into() },
            |(_, text)| MockReply::Text(text.clone()),
        ))
    }
}

struct Played {
    _server: MockServer,
    speaker: Arc<Speaker>,
    onlooker: Onlooker,
}

impl Played {
    fn new(version: &'static str, answers: &[(&'static str, &str)]) -> Played {
        let answers = answers.iter().map(|(question, text)| (*question, (*text).to_owned()));
        let (answers, asked) = (answers.collect(), Mutex::default());
        let speaker = Arc::new(Speaker { version, answers, asked });
        let script = Arc::clone(&speaker) as Arc<dyn Script>;
        let server =
            MockServer::start(MockProtocol::Mysql, Login::without_password("bob"), script).unwrap();
        let client = Box::new(MysqlConnection::connect(&server.endpoint()).unwrap());
        let onlooker = Onlooker::from_client(client, Dialect::Mysql).unwrap();
        Played { _server: server, speaker, onlooker }
    }

    fn parts(&mut self) -> (&mut dyn Client, ServerRelease) {
        (&mut *self.onlooker.client, self.onlooker.server)
    }

    /// Another session of it.
    fn session(&self) -> Box<dyn Client> {
        Box::new(MysqlConnection::connect(&self._server.endpoint()).unwrap())
    }

    fn asked(&self) -> Vec<String> {
        self.speaker.asked.lock().unwrap().clone()
    }
}

#[test]
fn a_third_speaker_is_taken_for_what_it_is() {
    for (version, name, release) in [
        ("5.7.25-TiDB-v7.5.0", "TiDB", 7_05_00),
        ("8.0.11-TiDB-v8.5.0", "TiDB", 8_05_00),
        ("8.0.30-Vitess", "Vitess", 8_00_30),
    ] {
        let mut played =
            Played::new(version, &[("@@transaction_isolation", "REPEATABLE-READ"), ("", "7")]);
        let (client, server) = played.parts();
        assert_eq!((server.family().name, server.version_number()), (name, release));
        let unknown = require_known_promises(server).unwrap_err().to_string();
        assert!(unknown.contains(&format!("what {name} promises")), "{unknown}");
        // Whatever it would answer: none of it is what MySQL means by it.
        assert!(FactReader::for_release(server).read(client).is_empty());
        assert_eq!(read_fact(client, server, "history_list").unwrap(), None);
        assert!(server_backlog(client, server, &[]).unwrap().is_empty());
        assert_eq!(open_transactions(client, server), []);
        assert_eq!(latest_deadlock(client, server), None);
        assert!(explain_statement(client, server, "SELECT 1").is_none());
        assert!(optimizer_trace(client, server, "SELECT 1").is_none());
        assert_eq!(session_reads(client, server), None);
        assert_eq!(database_bytes(client, server), None);
        assert_eq!(replication_position(client, server).unwrap(), None);
        assert!(column_statistics(&mut played.onlooker).is_none());
        let refused =
            BlockingWatch::from_client(played.session(), played.onlooker.server).err().unwrap();
        assert!(refused.to_string().contains(name), "{refused}");
        assert_eq!(played.asked(), Vec::<String>::new(), "{version}");
        // What all speakers mean alike is asked.
        let (client, server) = played.parts();
        assert_eq!(session_level(client, server), Some(IsolationLevel::RepeatableRead));
        let other = Played::new(version, &[]);
        let client = played.session();
        let lent = lend_statistics(other.onlooker, played.onlooker, client, StatisticsExtent::All);
        assert!(lent.err().unwrap().contains("not taken"));
    }
}

#[test]
fn a_fact_is_read_at_the_next_place_where_one_is_refused() {
    let monitor = "Trx id counter A17\nHistory list length 1862\nLIST OF TRANSACTIONS:\n";
    for version in ["8.0.33", "5.5.34", "10.11.19-MariaDB", "10.2.11-MariaDB"] {
        let mut played = Played::new(version, &[("ENGINE INNODB STATUS", monitor)]);
        let (client, server) = played.parts();
        assert_eq!(read_fact(client, server, "history_list").unwrap(), Some(1862.0), "{version}");
        let mut refused = Played::new(version, &[]);
        let (client, server) = refused.parts();
        assert_eq!(read_fact(client, server, "history_list").unwrap(), None, "{version}");
        assert_eq!(refused.asked().len(), played.asked().len());
    }
}

/// As `serde_json::Value` it takes 1.6 gigabytes, as it did where traces were read before.
#[test]
fn a_trace_that_would_take_all_memory_is_none() {
    let deep = format!("{}1{}", "{\"a\":".repeat(50), "}".repeat(50));
    let hostile = format!("[{}]", vec![deep.as_str(); 50_000].join(","));
    let whole = "{\"steps\": [{\"join_optimization\": {}}]}";
    for (trace, is_read) in [(hostile.as_str(), false), (whole, true)] {
        let mut played = Played::new("8.0.33", &[("EXPLAIN", "1"), ("OPTIMIZER_TRACE", trace)]);
        let (client, server) = played.parts();
        assert_eq!(optimizer_trace(client, server, "SELECT 1").is_some(), is_read);
    }
    let nested = "[".repeat(1_000_000);
    let mut played = Played::new("8.0.33", &[("EXPLAIN", "1"), ("OPTIMIZER_TRACE", &nested)]);
    let (client, server) = played.parts();
    assert!(optimizer_trace(client, server, "SELECT 1").is_none());
}
