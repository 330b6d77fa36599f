//! The reference engine as a server, as a user starts and ends it, and as an arm.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::mysql::MysqlConnection;
use dbdyno_wire::{Client as _, Endpoint, Param, Security};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::certificates::{Authority, Papers};
use crate::common::{BRIEF, Home, turn};
use crate::tls::{connect, refusal};

/// A server that a user has started, and where it listens.
pub(crate) struct Served {
    child: Child,
    _stdout: BufReader<ChildStdout>,
    endpoint: Endpoint,
}

impl Served {
    pub(crate) fn start(home: &Home, data: &Path, args: &[&str]) -> Served {
        let mut command = home.command(["engine", "serve", "--listen", "127.0.0.1:0", "--data"]);
        command.arg(data).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        stdout.read_line(&mut url).unwrap();
        let port = url.trim().strip_prefix("mysql://root@127.0.0.1:");
        let port = port.and_then(|rest| rest.split_once("/test")).map(|(port, _)| port);
        let port = port.unwrap_or_else(|| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("{url:?}, {said}")
        });
        let endpoint = Endpoint {
            transport: Transport::Tcp("127.0.0.1".to_owned(), port.parse().unwrap()),
            user: "root".to_owned(),
            password: Secret::default(),
            database: "test".to_owned(),
            security: Security::without_tls(),
        };
        Served { child, _stdout: stdout, endpoint }
    }

    pub(crate) fn connect(&self) -> MysqlConnection {
        MysqlConnection::connect(&self.endpoint).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }

    /// Its port.
    pub(crate) fn port(&self) -> u16 {
        match self.endpoint.transport {
            Transport::Tcp(_, port) => port,
            Transport::Unix(_) => unreachable!("it was told to listen on TCP"),
        }
    }

    /// Its tables, told to an account with this password.
    pub(crate) fn tables(&self, password: &str) -> Vec<String> {
        let endpoint = Endpoint { password: Secret::new(password), ..self.endpoint.clone() };
        let mut client = MysqlConnection::connect(&endpoint).unwrap();
        let rows = client.query("SHOW TABLES").unwrap().rows;
        rows.into_iter().flatten().flatten().collect()
    }

    /// Ends it by a signal; with which code.
    pub(crate) fn end(mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        self.child.wait().unwrap().code()
    }
}

impl Drop for Served {
    /// A test that fails leaves no server behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn what_a_killed_server_acknowledged_is_there() {
    const WRITERS: i64 = 4;
    const STRIDE: i64 = 1_000_000;
    let home = Home::new();
    let data = home.path().join("tables");
    // A commit waits for the disk: what is acknowledged is synced.
    let mut served = Served::start(&home, &data, &[]);
    served.connect().run("CREATE TABLE t (id BIGINT PRIMARY KEY)").unwrap();
    let acknowledged: [AtomicI64; WRITERS as usize] = Default::default();
    for life in 1..=3 {
        thread::scope(|scope| {
            for (writer, mine) in acknowledged.iter().enumerate() {
                let mut client = served.connect();
                scope.spawn(move || {
                    let insert = client.prepare("INSERT INTO t (id) VALUES (?)").unwrap();
                    loop {
                        // What was not answered may be there or not; its number is not used again.
                        let next = mine.fetch_add(1, Ordering::SeqCst) + 1;
                        let id = writer as i64 * STRIDE + 2 * next;
                        if client.execute(insert, &vec![Param::Int(id)]).is_err() {
                            mine.fetch_sub(1, Ordering::SeqCst);
                            return;
                        }
                    }
                });
            }
            while acknowledged.iter().any(|mine| mine.load(Ordering::SeqCst) < 20 * life) {
                thread::yield_now();
            }
            served.signal(Signal::SIGKILL);
        });
        served.child.wait().unwrap();
        served = Served::start(&home, &data, &[]);
        let mut client = served.connect();
        for (writer, mine) in acknowledged.iter().enumerate() {
            let (from, most) = (writer as i64 * STRIDE, mine.load(Ordering::SeqCst));
            let count = client.query(&format!(
                "SELECT count(*) FROM t WHERE id BETWEEN {} AND {}",
                from + 1,
                from + 2 * most
            ));
            let count = count.unwrap().first_value().map(str::to_owned);
            assert_eq!(count.as_deref(), Some(&*most.to_string()), "writer {writer}");
            // The one that was not answered may be there.
            let next = from + 2 * (most + 1);
            client
                .run(&format!("DELETE FROM t WHERE id >= {next} AND id < {}", from + STRIDE))
                .unwrap();
        }
    }
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}

#[test]
fn a_server_ends_by_a_signal_with_what_was_committed() {
    let home = Home::new();
    let data = home.path().join("tables");
    let served = Served::start(&home, &data, &["--design", "view=csn&device=none"]);
    let mut client = served.connect();
    client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    client.run("INSERT INTO t VALUES (1), (2)").unwrap();
    let shown = client.query("SHOW VARIABLES LIKE 'view'").unwrap();
    assert_eq!(shown.rows[0][1].as_deref(), Some("csn"));
    let second = home.dbdyno([
        "engine",
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data",
        data.to_str().unwrap(),
    ]);
    assert_eq!(second.code, 2, "{second:?}");
    assert!(second.err.contains("another engine that runs"), "{second:?}");
    assert_eq!(served.end(Signal::SIGINT), Some(0));
    let served = Served::start(&home, &data, &["--design", "engine:?gate=pool:2"]);
    let rows = served.connect().query("SELECT count(*) FROM t").unwrap();
    assert_eq!(rows.first_value(), Some("2"));
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}

#[test]
fn a_served_engine_is_followed_by_a_replica_from_life_to_life() {
    let home = Home::new();
    let data = home.path().join("tables");
    for life in 1..=2_u64 {
        let served = Served::start(&home, &data, &["--design", "topology=replica:1&device=none"]);
        let mut client = served.connect();
        if life == 1 {
            client.run("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
        }
        for id in 0..50 {
            client.run(&format!("INSERT INTO t VALUES ({})", 100 * life + id)).unwrap();
        }
        let compared = client.query("CHECK REPLICA").unwrap().rows;
        assert_eq!((compared.len(), &compared[0][1]), (1, &None), "{compared:?}");
        let told = client.query("SHOW REPLICA STATUS").unwrap();
        let of = |name: &str| -> String {
            let place = told.columns.iter().position(|column| column == name).unwrap();
            told.rows[0][place].clone().unwrap()
        };
        let number = |name: &str| -> u64 { of(name).parse().unwrap() };
        assert_eq!((of("Replica_State"), number("Behind_Bytes")), ("applying".to_owned(), 0));
        assert!(number("Applied_Transactions") >= 50, "{told:?}");
        assert!(number("Lag_ns_Max") >= number("Lag_ns_P50"), "{told:?}");
        assert!(number("Lag_ns_P50") > 0, "{told:?}");
        assert_eq!(served.end(Signal::SIGTERM), Some(0));
    }
    let alone = Served::start(&home, &home.path().join("alone"), &["--design", "device=none"]);
    let mut client = alone.connect();
    for sql in ["SHOW REPLICA STATUS", "CHECK REPLICA"] {
        assert_eq!(client.query(sql).unwrap().rows, Vec::<Vec<_>>::new(), "{sql}");
    }
    assert_eq!(alone.end(Signal::SIGTERM), Some(0));
}

#[test]
fn an_account_with_a_password_lets_in_who_knows_it() {
    let home = Home::new();
    let file = home.path().join("password");
    std::fs::write(&file, "known\nnot read\n").unwrap();
    let args = ["--password-file", file.to_str().unwrap()];
    let served = Served::start(&home, &home.path().join("tables"), &args);
    assert_eq!(served.tables("known"), [""; 0]);
    for password in ["", "unknown"] {
        let endpoint = Endpoint { password: Secret::new(password), ..served.endpoint.clone() };
        let refused = MysqlConnection::connect(&endpoint).unwrap_err().to_string();
        assert!(refused.contains("1045"), "{refused}");
        assert!(!refused.contains("known"), "{refused}");
    }
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}

#[test]
fn a_server_encrypts_by_a_certificate_that_is_named_or_made() {
    let home = Home::new();
    let papers = Papers::new();
    let authority = Authority::new("authority of a user");
    let [certificate, key] = papers.put("server", &authority.sign(&["127.0.0.1"], 2100));
    let [_, other] = papers.put("other", &authority.sign(&["127.0.0.1"], 2100));
    let believed = papers.believe(&authority, "authority.pem");
    let run = |args: &[&str]| home.dbdyno([&["engine", "serve"][..], args].concat());
    let done = run(&["--tls-cert", &certificate, "--tls-key", &other]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("is not the key of the certificate"), "{done:?}");
    let done = run(&["--tls-cert", &key, "--tls-key", &key]);
    assert!(done.err.contains("has no certificate in it"), "{done:?}");
    let url = |served: &Served, options: &str| {
        format!("mysql://root@127.0.0.1:{}/test{options}", served.port())
    };
    let files = ["--tls-cert", &certificate, "--tls-key", &key];
    let named = Served::start(&home, &home.path().join("named"), &files);
    let identity = format!("?tls=verify-identity&ssl-ca={believed}");
    for (options, is_encrypted) in [("", false), ("?tls=required", true), (&identity, true)] {
        let client = connect(&url(&named, options)).unwrap();
        assert_eq!(client.encryption().is_some(), is_encrypted, "{options}");
    }
    assert_eq!(named.end(Signal::SIGTERM), Some(0));
    let made = Served::start(&home, &home.path().join("made"), &["--tls", "required"]);
    assert!(connect(&url(&made, "?tls=required")).unwrap().encryption().is_some());
    let said = refusal(&url(&made, ""));
    assert!(said.contains("3159") && said.contains("tls=required"), "{said}");
    let said = refusal(&url(&made, &identity));
    assert!(said.contains("signed by none of the authorities"), "{said}");
    assert_eq!(made.end(Signal::SIGTERM), Some(0));
}

#[test]
fn what_cannot_be_served_is_refused_with_what_to_try() {
    let home = Home::new();
    for (args, said) in [
        (&["--listen", "0.0.0.0:0"][..], "wants a password"),
        (&["--listen", "nowhere"], "127.0.0.1:0"),
        (&["--design", "view=vectro"], "vector, hybrid, cached, csn"),
        (&["--password-file", "/nonexistent"], "--password-file /nonexistent"),
        (&["--socket", "/nonexistent/s"], "name another"),
        (&["--data", "/proc/nothing"], "--data"),
        (&["--tls", "sometimes"], "off, offered, required"),
        (&["--tls-cert", "/nonexistent"], "--tls-key"),
        (
            &["--tls-cert", "/nonexistent", "--tls-key", "/nonexistent"],
            "--tls-cert=/nonexistent: No such file",
        ),
        (&["--tls", "off", "--tls-cert", "/a", "--tls-key", "/b"], "leave one of them out"),
    ] {
        let done = home.dbdyno([&["engine", "serve"][..], args].concat());
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.err.contains(said), "{args:?}: {done:?}");
    }
}

#[test]
fn an_engine_is_compared_over_the_wire_and_by_url() {
    let _turn = turn();
    let home = Home::new();
    let data = tempfile::tempdir().unwrap();
    let served = Served::start(&home, &data.path().join("tables"), &["--design", "device=none"]);
    let url = format!("mysql://root@127.0.0.1:{}/test", served.port());
    let load = ["--rounds", "3", "--pin", "none", "--format", "json"];
    let load = [&load[..], &["--load", "point-query,read-write,tpcc?items=200&customers=30"]];
    let load = load.concat();
    let args = ["compare", "engine:?device=none&wire=on", &url];
    let run = home.dbdyno([&args[..], &BRIEF, &load].concat());
    assert!([0, 1, 3].contains(&run.code), "{run:?}");
    let run: Value = serde_json::from_str(&run.out).unwrap();
    let cells = run["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 3, "{cells:?}");
    for cell in cells {
        for arm in ["base", "test"] {
            assert!(cell[arm]["qps"].as_f64().unwrap() > 0.0, "{cell}");
            assert!(cell[arm]["server_cpu_us_per_op"].as_f64().unwrap() > 0.0, "{cell}");
        }
    }
    assert_eq!(served.tables(""), [""; 0], "they are taken away again");
    assert!(home.sandboxes().is_empty(), "{:?}", home.sandboxes());
    assert_eq!(served.end(Signal::SIGTERM), Some(0));
}
