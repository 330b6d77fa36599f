//! The PostgreSQL client against PostgreSQL, and the PostgreSQL mock against psql and pgbench.
//!
//! The tests start a server of their own in a temporary directory, on a free port, and stop it.
//! Where PostgreSQL is not installed they are skipped, unless `DBDYNO_REQUIRE_SERVERS` is set.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use dbdyno_model::{Secret, Transport};
use dbdyno_wire::mock::{Auth, FixedScript, Login, MockProtocol, MockServer, Turn};
use dbdyno_wire::postgres::PostgresConnection;
use dbdyno_wire::{
    BulkTarget, Client, Endpoint, Param, RowBuffer, ServerError, StatementCounts, WireError,
};

/// PostgreSQL does not run as root; this is `nobody`.
const NOBODY: u32 = 65_534;
const SETTINGS: &str = "fsync=off\nmax_connections=40\nlog_min_messages=fatal\n";
const PASSWORD: &str = "pässwörd, =x";

/// The newest installed PostgreSQL.
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn binaries() -> Option<PathBuf> {
    let mut found: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| (entry.file_name(), entry.path().join("bin")))
        .filter(|(_, bin)| bin.join("initdb").exists() && bin.join("postgres").exists())
        .filter_map(|(name, bin)| Some((name.to_str()?.parse().ok()?, bin)))
        .collect();
    found.sort();
    let newest = found.pop().map(|(_, bin)| bin).or_else(|| {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path)
            .find(|bin| bin.join("initdb").exists() && bin.join("postgres").exists())
    });
    if newest.is_none() {
        let required = std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_some();
        assert!(!required, "DBDYNO_REQUIRE_SERVERS is set and PostgreSQL is not installed");
        eprintln!("skipped: PostgreSQL is not installed; try apt-get install postgresql");
    }
    newest
}

struct Server {
    directory: PathBuf,
    port: u16,
    child: Child,
}

impl Server {
    /// One for all tests that run at the same time; the last one to leave stops it.
    fn shared() -> Option<Arc<Server>> {
        static SHARED: Mutex<Weak<Server>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(server) = shared.upgrade() {
            return Some(server);
        }
        let server = Arc::new(Server::start()?);
        *shared = Arc::downgrade(&server);
        Some(server)
    }

    fn start() -> Option<Server> {
        let bin = binaries()?;
        let directory = temporary_directory();
        let data = directory.join("data");
        let init = as_nobody(&bin.join("initdb"), &directory)
            .args(["-U", "root", "-A", "trust", "--locale=C", "-E", "UTF8", "--no-sync", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(init.status.success(), "{}", String::from_utf8_lossy(&init.stderr));
        fs::write(data.join("pg_hba.conf"), host_based_access()).unwrap();
        fs::write(data.join("postgresql.auto.conf"), SETTINGS).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = as_nobody(&bin.join("postgres"), &directory)
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1", "-k"])
            .arg(&directory)
            .stdout(Stdio::null())
            .stderr(fs::File::create(directory.join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut server = Server { directory, port, child };
        server.set_up();
        Some(server)
    }

    fn set_up(&mut self) {
        let mut root = self.await_ready();
        for method in ["md5", "scram-sha-256", "password"] {
            let encryption = if method == "md5" { "md5" } else { "scram-sha-256" };
            root.run(&format!(
                "SET password_encryption='{encryption}';
                 CREATE ROLE \"by {method}\" LOGIN PASSWORD '{PASSWORD}'"
            ))
            .unwrap();
        }
        root.run("CREATE ROLE encrypted LOGIN; CREATE ROLE crowded LOGIN CONNECTION LIMIT 0")
            .unwrap();
        root.run("CREATE DATABASE \"by md5\"").unwrap();
    }

    fn await_ready(&mut self) -> PostgresConnection {
        for _ in 0..1500 {
            if let Ok(connection) = PostgresConnection::connect(&self.endpoint("root")) {
                return connection;
            }
            if self.child.try_wait().unwrap().is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let log = fs::read_to_string(self.directory.join("log"));
        panic!("PostgreSQL does not start: {}", log.unwrap_or_default());
    }

    fn unix(&self) -> Transport {
        let file = format!(".s.PGSQL.{}", self.port);
        Transport::Unix(self.directory.join(file).to_str().unwrap().to_owned())
    }

    fn tcp(&self) -> Transport {
        Transport::Tcp("127.0.0.1".to_owned(), self.port)
    }

    fn endpoint(&self, user: &str) -> Endpoint {
        Endpoint {
            transport: self.unix(),
            user: user.to_owned(),
            password: Secret::default(),
            database: "postgres".to_owned(),
            security: dbdyno_wire::Security::without_tls(),
        }
    }

    fn connect(&self) -> PostgresConnection {
        PostgresConnection::connect(&self.endpoint("root")).unwrap()
    }

    fn signal(&self, name: &str) {
        signal(name, u64::from(self.child.id()));
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.signal("INT");
        for _ in 0..500 {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                break;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

fn signal(name: &str, pid: u64) {
    let script = format!("kill -{name} {pid}");
    Command::new("sh").args(["-c", &script]).stderr(Stdio::null()).status().unwrap();
}

/// A new directory that belongs to whom the server will run as.
fn temporary_directory() -> PathBuf {
    let mut random = [0_u8; 8];
    getrandom::fill(&mut random).unwrap();
    let name = format!("dbdyno-wire-{:016x}", u64::from_ne_bytes(random));
    let directory = std::env::temp_dir().join(name);
    fs::create_dir(&directory).unwrap();
    if is_root(&directory) {
        chown(&directory, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    directory
}

fn is_root(just_made: &Path) -> bool {
    fs::metadata(just_made).unwrap().uid() == 0
}

fn as_nobody(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C.UTF-8").env("HOME", directory).current_dir(directory);
    if fs::metadata(directory).unwrap().uid() == NOBODY {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn host_based_access() -> String {
    let mut lines = String::from("hostssl all encrypted 127.0.0.1/32 trust\n");
    for (place, address) in [("local", ""), ("host", "127.0.0.1/32")] {
        for method in ["md5", "scram-sha-256", "password"] {
            lines += &format!("{place} all \"by {method}\" {address} {method}\n");
        }
        lines += &format!("{place} all root,crowded {address} trust\n");
    }
    lines
}

fn login_error(endpoint: &Endpoint) -> ServerError {
    match PostgresConnection::connect(endpoint) {
        Err(WireError::Login(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn server_error<T: std::fmt::Debug>(result: Result<T, WireError>) -> ServerError {
    match result {
        Err(WireError::Server(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn single(client: &mut PostgresConnection, sql: &str) -> String {
    client.query(sql).unwrap().first_value().expect("a value").to_owned()
}

fn rows(rows: u64) -> StatementCounts {
    StatementCounts { rows, affected: 0 }
}

#[test]
fn every_login_over_every_transport() {
    let Some(server) = Server::shared() else { return };
    for transport in [server.unix(), server.tcp()] {
        for user in ["root", "by md5", "by scram-sha-256", "by password"] {
            let mut endpoint = server.endpoint(user);
            endpoint.transport = transport.clone();
            endpoint.password = Secret::new(PASSWORD);
            if user == "by password" && transport == server.tcp() {
                let error = PostgresConnection::connect(&endpoint).unwrap_err();
                assert!(matches!(error, WireError::Exposed(_)), "{error}");
                continue;
            }
            let mut client = PostgresConnection::connect(&endpoint).unwrap();
            assert_eq!(single(&mut client, "SELECT current_user"), user);
            let pid = single(&mut client, "SELECT pg_backend_pid()");
            assert_eq!(pid, client.connection_id().to_string());
            let version = single(&mut client, "SHOW server_version");
            assert_eq!(version.split(' ').next(), Some(client.server_version()));
            assert_eq!(single(&mut client, "SHOW application_name"), "dbdyno");
            if user == "root" {
                continue;
            }
            endpoint.password = Secret::new("wrong");
            assert_eq!(login_error(&endpoint).sqlstate, "28P01", "{user}");
            endpoint.password = Secret::default();
            assert!(login_error(&endpoint).message.contains("none was given"));
        }
    }
    let mut endpoint = server.endpoint("by md5");
    endpoint.password = Secret::new(PASSWORD);
    endpoint.database = String::new();
    let mut client = PostgresConnection::connect(&endpoint).unwrap();
    assert_eq!(single(&mut client, "SELECT current_database()"), "by md5");
}

#[test]
fn refused_logins_say_why() {
    let Some(server) = Server::shared() else { return };
    let mut endpoint = server.endpoint("root");
    endpoint.database = "nowhere".to_owned();
    assert_eq!(login_error(&endpoint).sqlstate, "3D000");
    assert_eq!(login_error(&server.endpoint("crowded")).sqlstate, "53300");
    assert_eq!(login_error(&server.endpoint("nobody")).sqlstate, "28000");
    let mut endpoint = server.endpoint("encrypted");
    endpoint.transport = server.tcp();
    let error = login_error(&endpoint);
    assert!(error.message.contains("say tls=required"), "{error}");
    endpoint.transport = Transport::Unix("/nowhere/.s.PGSQL.1".to_owned());
    let error = PostgresConnection::connect(&endpoint).unwrap_err();
    assert!(matches!(&error, WireError::Connect(place, _) if place.contains("/nowhere")));
}

#[test]
fn parameters_of_every_kind_arrive() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client
        .run(
            "CREATE TEMP TABLE t (n serial, a int2, b int4, c int8, d numeric, e text, f bool,
                                  g float8, h char(5), i oid)",
        )
        .unwrap();
    let insert = client
        .prepare("INSERT INTO t (a,b,c,d,e,f,g,h,i) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9)")
        .unwrap();
    let whole = |a: i64, b: i64, c: i64| {
        [
            Param::Int(a),
            Param::Int(b),
            Param::Int(c),
            Param::Int(c),
            Param::Int(a),
            Param::Int(1),
            Param::Int(b),
            Param::Text("ä'b".as_bytes()),
            Param::Int(4_294_967_295),
        ]
    };
    let one = StatementCounts { rows: 0, affected: 1 };
    let low = whole(i64::from(i16::MIN), i64::from(i32::MIN), i64::MIN);
    let high = whole(i64::from(i16::MAX), i64::from(i32::MAX), i64::MAX);
    assert_eq!(client.execute(insert, &&low[..]).unwrap(), one);
    assert_eq!(client.execute(insert, &&high[..]).unwrap(), one);
    assert_eq!(client.execute(insert, &&[Param::Null; 9][..]).unwrap(), one);
    let text = [Param::Text(b"7"); 5];
    let text = [&text[..], &[Param::Text(b"f"), text[0], text[0], text[0]]].concat();
    assert_eq!(client.execute(insert, &&text[..]).unwrap(), one);
    let result = client.query("SELECT a,b,c,d,e,f,g,h,i FROM t ORDER BY n").unwrap();
    let shown: Vec<String> = result
        .rows
        .iter()
        .map(|row| row.iter().map(|v| v.as_deref().unwrap_or("∅")).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        shown,
        [
            "-32768 -2147483648 -9223372036854775808 -9223372036854775808 -32768 t -2147483648 \
             ä'b   4294967295",
            "32767 2147483647 9223372036854775807 9223372036854775807 32767 t 2147483647 \
             ä'b   4294967295",
            "∅ ∅ ∅ ∅ ∅ ∅ ∅ ∅ ∅",
            "7 7 7 7 7 f 7 7     7",
        ]
    );
    for (place, value) in [(0, 32_768), (0, -32_769), (1, 2_147_483_648), (1, -2_147_483_649)] {
        let mut beyond = low;
        beyond[place] = Param::Int(value);
        let error = server_error(client.execute(insert, &&beyond[..]));
        assert_eq!(error.sqlstate, "22003", "{error}");
    }
    assert_eq!(single(&mut client, "SELECT count(*) FROM t"), "4");
}

/// A column of each type and a value for it.
const TYPES: &[(&str, &str)] = &[
    ("int2", "-32768"),
    ("int4", "2147483647"),
    ("int8", "-9223372036854775808"),
    ("numeric(12,2)", "1234567.80"),
    ("numeric", "0.00000000000000000001"),
    ("float4", "0.1"),
    ("float8", "1e-300"),
    ("bool", "t"),
    ("bit(12)", "100000000001"),
    ("varbit(12)", "010"),
    ("jsonb", "{\"a\": [1, \"b\"]}"),
    ("date", "2026-01-02"),
    ("time", "03:04:05.000006"),
    ("timestamp", "2026-01-02 03:04:05.000006"),
    ("timestamptz", "2026-01-02 03:04:05+00"),
    ("interval", "1 day 02:03:04"),
    ("char(5)", "ä"),
    ("varchar(9)", "x y"),
    ("text", ""),
    ("bytea", "\\x00ff"),
    ("oid", "4294967295"),
    ("uuid", "00000000-0000-0000-0000-00000000002a"),
    ("json", "{\"a\": 1}"),
    ("int4[]", "{1,NULL}"),
];

#[test]
fn rows_of_every_type_come_as_text() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client.run("SET timezone='UTC'").unwrap();
    let columns: Vec<String> =
        TYPES.iter().enumerate().map(|(index, (kind, _))| format!("c{index} {kind}")).collect();
    client.run(&format!("CREATE TEMP TABLE t (id int, {})", columns.join(","))).unwrap();
    let marks: Vec<String> = (1..=TYPES.len() + 1).map(|number| format!("${number}")).collect();
    let marks = marks.join(",");
    let insert = client.prepare(&format!("INSERT INTO t VALUES ({marks})")).unwrap();
    let mut values = vec![Param::Int(0)];
    values.extend(TYPES.iter().map(|(_, value)| Param::Text(value.as_bytes())));
    client.execute(insert, &values).unwrap();
    values = vec![Param::Null; TYPES.len() + 1];
    values[0] = Param::Int(1);
    client.execute(insert, &values).unwrap();

    let sql = "SELECT * FROM t ORDER BY id";
    let text = client.query(sql).unwrap();
    let select = client.prepare(sql).unwrap();
    let mut rows = RowBuffer::new();
    assert_eq!(client.fetch(select, &vec![], &mut rows).unwrap().rows, 2);
    assert_eq!((rows.rows(), rows.columns(), rows.int(1, 0)), (2, TYPES.len() + 1, Some(1)));
    for (column, (kind, value)) in (1..).zip(TYPES) {
        let got = rows.text_at(0, column).map(|text| String::from_utf8(text.to_vec()).unwrap());
        assert_eq!(got, text.rows[0][column], "{kind}");
        assert_eq!(got.unwrap().trim_end(), *value, "{kind}");
        assert_eq!(rows.text_at(1, column), None);
    }
    // Counting afterwards asks for the binary form again, and nothing of before is left.
    assert_eq!(client.execute(select, &vec![]).unwrap().rows, 2);
    let none = client.prepare("SELECT id FROM t WHERE id > $1").unwrap();
    client.fetch(none, &vec![Param::Int(9)], &mut rows).unwrap();
    assert_eq!(rows.rows(), 0);
    let change = client.prepare("UPDATE t SET c0 = c0 WHERE id = $1").unwrap();
    assert_eq!(client.fetch(change, &vec![Param::Int(0)], &mut rows).unwrap().affected, 1);
    let divide = client.prepare("SELECT 1 / $1::int").unwrap();
    let error = server_error(client.fetch(divide, &vec![Param::Int(0)], &mut rows));
    assert_eq!(error.sqlstate, "22012");
    assert_eq!(client.fetch(divide, &vec![Param::Int(1)], &mut rows).unwrap().rows, 1);
    assert_eq!(rows.int(0, 0), Some(1));
}

#[test]
fn rows_are_counted_whatever_their_number_and_length() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client
        .run(
            "CREATE TEMP TABLE s (id int PRIMARY KEY, k int8, c char(120));
             INSERT INTO s SELECT i, i, repeat('x', 119) FROM generate_series(1,1000) i",
        )
        .unwrap();
    let holes: Vec<String> = (1..=100).map(|n| format!("${n}")).collect();
    let sql = format!("SELECT id, c FROM s WHERE id IN ({})", holes.join(","));
    let inlist = client.prepare(&sql).unwrap();
    for first in [1, 500, 951] {
        let ids: Vec<Param<'_>> = (first..first + 100).map(Param::Int).collect();
        let expected = (1000 - first + 1).min(100) as u64;
        assert_eq!(client.execute(inlist, &&ids[..]).unwrap(), rows(expected));
    }
    let series = client.prepare("SELECT repeat('y', $1), i FROM generate_series(1,$2) i").unwrap();
    for (length, count) in [(0, 0), (10, 300_000), (3_000_000, 3), (65_520, 50), (1, 1)] {
        let args = [Param::Int(length), Param::Int(count)];
        assert_eq!(client.execute(series, &&args[..]).unwrap(), rows(count as u64));
    }
    assert_eq!(client.run("SELECT c FROM s").unwrap(), rows(1000));
    let long = client.query("SELECT repeat('z', 5000000), NULL, ''").unwrap();
    assert_eq!(long.first_value().unwrap().len(), 5_000_000);
    assert_eq!(long.rows[0][1..], [None, Some(String::new())]);
    let returning = client.prepare("UPDATE s SET k=k+1 WHERE id <= $1 RETURNING id").unwrap();
    let outcome = client.execute(returning, &&[Param::Int(7)][..]).unwrap();
    assert_eq!(outcome, StatementCounts { rows: 7, affected: 7 });
}

#[test]
fn several_statements_in_one_string() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    let outcome = client
        .run(
            "CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1),(2),(3);
             UPDATE t SET a=a+1; SELECT * FROM t; SELECT 1; DELETE FROM t WHERE a=2",
        )
        .unwrap();
    assert_eq!(outcome, StatementCounts { rows: 4, affected: 7 });
    let last = client.query("SELECT 1 AS one, 2; SELECT a AS b FROM t ORDER BY a").unwrap();
    assert_eq!(last.columns, ["b"]);
    assert_eq!(last.rows, [[Some("3".to_owned())], [Some("4".to_owned())]]);
    assert_eq!(client.run("").unwrap(), StatementCounts::default());
    let empty = client.prepare("").unwrap();
    assert_eq!(client.execute(empty, &&[][..]).unwrap(), StatementCounts::default());
    let error = server_error(client.run("DELETE FROM t; SELECT 1/0"));
    assert_eq!(error.sqlstate, "22012");
    assert_eq!(single(&mut client, "SELECT count(*) FROM t"), "2");
    assert_eq!(server_error(client.run("SELECT 1\0; SELECT 2")).sqlstate, "08P01");
    assert_eq!(client.run("SELECT 1").unwrap(), rows(1));
}

#[test]
fn errors_leave_the_connection_usable() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    let one = client.prepare("SELECT 1/$1::int").unwrap();
    assert_eq!(server_error(client.prepare("SELEC 1")).sqlstate, "42601");
    assert_eq!(server_error(client.prepare("SELECT * FROM nowhere")).sqlstate, "42P01");
    let two = client.prepare("SELECT 2").unwrap();
    assert_eq!((one.0, two.0), (0, 1));
    let divide = |client: &mut PostgresConnection, by| client.execute(one, &&[Param::Int(by)][..]);
    assert_eq!(server_error(divide(&mut client, 0)).sqlstate, "22012");
    assert_eq!(divide(&mut client, 1).unwrap(), rows(1));
    assert_eq!(client.execute(two, &&[][..]).unwrap(), rows(1));
    client.run("SET client_min_messages=debug1; DO $$ BEGIN RAISE NOTICE 'x'; END $$").unwrap();
    assert_eq!(divide(&mut client, 1).unwrap(), rows(1));
    client.run("LISTEN c; NOTIFY c, 'hello'").unwrap();
    assert_eq!(divide(&mut client, 1).unwrap(), rows(1));
    let miscounted = client.execute(one, &&[][..]).unwrap_err();
    assert!(matches!(miscounted, WireError::Protocol(_)));
}

#[test]
fn prepared_transactions_commit_and_roll_back() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client.run("CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1)").unwrap();
    let [begin, commit, rollback] =
        ["BEGIN", "COMMIT", "ROLLBACK"].map(|sql| client.prepare(sql).unwrap());
    let add = client.prepare("UPDATE t SET a=a+$1").unwrap();
    let mut go = |statement, params: &[Param<'_>]| client.execute(statement, &params);
    for end in [rollback, commit] {
        assert_eq!(go(begin, &[]).unwrap(), StatementCounts::default());
        assert_eq!(go(add, &[Param::Int(10)]).unwrap().affected, 1);
        assert_eq!(go(end, &[]).unwrap(), StatementCounts::default());
    }
    go(begin, &[]).unwrap();
    assert_eq!(server_error(go(add, &[Param::Int(i64::from(i32::MAX))])).sqlstate, "22003");
    assert_eq!(server_error(go(add, &[Param::Int(1)])).sqlstate, "25P02");
    go(rollback, &[]).unwrap();
    assert_eq!(single(&mut client, "SELECT a FROM t"), "11");
}

#[test]
fn a_serialization_failure_may_be_asked_again() {
    let Some(server) = Server::shared() else { return };
    let (mut first, mut second) = (server.connect(), server.connect());
    first.run("CREATE TABLE serial_t (a int); INSERT INTO serial_t VALUES (1)").unwrap();
    let update = first.prepare("UPDATE serial_t SET a=a+$1").unwrap();
    first.run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT a FROM serial_t").unwrap();
    assert_eq!(second.run("UPDATE serial_t SET a=a+1").unwrap().affected, 1);
    let error = first.execute(update, &&[Param::Int(1)][..]).unwrap_err();
    assert!(error.is_retryable() && !error.is_fatal(), "{error}");
    first.run("ROLLBACK").unwrap();
    assert_eq!(first.execute(update, &&[Param::Int(1)][..]).unwrap().affected, 1);
    assert_eq!(single(&mut second, "SELECT a FROM serial_t"), "3");
}

#[test]
fn bulk_takes_rows_or_says_why_not() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client.run("CREATE TEMP TABLE t (a int, b text)").unwrap();
    let columns = ["a", "b"].map(str::to_owned);
    let target = BulkTarget { table: "t", columns: &columns, numbers: &[] };
    let copy = |client: &mut PostgresConnection, bad: u64, count: u64| {
        let mut next = 0;
        client.bulk_load(&target, &mut |piece| {
            for _ in 0..100 {
                let number = if next == bad { "x".to_owned() } else { next.to_string() };
                piece.extend_from_slice(format!("{number}\trow of {next}\n").as_bytes());
                next += 1;
            }
            next < count
        })
    };
    assert_eq!(copy(&mut client, u64::MAX, 10_000).unwrap(), 10_000);
    assert_eq!(single(&mut client, "SELECT sum(a) FROM t"), "49995000");
    // Refused while much is still to come, and after all has come.
    for count in [3_000_000, 600] {
        assert_eq!(server_error(copy(&mut client, 500, count)).sqlstate, "22P02");
        assert_eq!(single(&mut client, "SELECT count(*) FROM t"), "10000");
    }
    assert_eq!(server_error(copy(&mut client, 99, 100)).sqlstate, "22P02");
    client
        .run(
            "CREATE FUNCTION pg_temp.talk() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RAISE NOTICE 'a row came: %', NEW; RETURN NEW; END $$;
             CREATE TRIGGER talk AFTER INSERT ON t FOR EACH ROW EXECUTE FUNCTION pg_temp.talk()",
        )
        .unwrap();
    assert_eq!(copy(&mut client, u64::MAX, 50_000).unwrap(), 50_000);
    assert_eq!(client.run("COPY t TO STDOUT").unwrap(), rows(60_000));
    let nowhere = BulkTarget { table: "nowhere", ..target };
    let error = server_error(client.bulk_load(&nowhere, &mut |_| false));
    assert_eq!(error.sqlstate, "42P01");
    assert_eq!(client.bulk_load(&target, &mut |_| false).unwrap(), 0);
}

#[test]
fn a_copy_that_nobody_feeds_is_refused() {
    let Some(server) = Server::shared() else { return };
    let mut client = server.connect();
    client.run("CREATE TEMP TABLE t (a int)").unwrap();
    assert_eq!(server_error(client.run("COPY t FROM STDIN")).sqlstate, "57014");
    assert_eq!(server_error(client.query("COPY t FROM STDIN")).sqlstate, "57014");
    let copy = client.prepare("COPY t FROM STDIN").unwrap();
    assert_eq!(server_error(client.execute(copy, &&[][..])).sqlstate, "57014");
    assert_eq!(client.run("SELECT 1").unwrap(), rows(1));
}

#[test]
fn a_closed_connection_has_left_the_server() {
    let Some(server) = Server::shared() else { return };
    let (mut watcher, leaving) = (server.connect(), server.connect());
    let sql =
        format!("SELECT count(*) FROM pg_stat_activity WHERE pid={}", leaving.connection_id());
    assert_eq!(single(&mut watcher, &sql), "1");
    Box::new(leaving).close();
    assert_eq!(single(&mut watcher, &sql), "0");
}

#[test]
fn a_server_that_dies_is_a_fatal_error() {
    let Some(mut server) = Server::start() else { return };
    let mut clients: Vec<PostgresConnection> = (0..3).map(|_| server.connect()).collect();
    let one = clients[0].prepare("SELECT 1").unwrap();
    clients[1].run("SET idle_session_timeout='1ms'").unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let error = clients[1].run("SELECT 1").unwrap_err();
    assert!(error.is_fatal() && error.to_string().contains("57P05"), "{error}");
    // One backend killed brings the others down with it.
    signal("KILL", clients[2].connection_id());
    let error = clients[2].run("SELECT 1").unwrap_err();
    assert!(matches!(error, WireError::Broken(_)), "{error}");
    let mut error = clients[0].execute(one, &&[][..]);
    while error.is_ok() {
        error = clients[0].execute(one, &&[][..]);
    }
    assert!(error.unwrap_err().is_fatal());
    let mut client = server.await_ready();
    server.signal("QUIT");
    server.child.wait().unwrap();
    assert!(matches!(client.run("SELECT 1"), Err(WireError::Broken(_))));
    let again = PostgresConnection::connect(&server.endpoint("root"));
    assert!(matches!(again, Err(WireError::Connect(..))), "{again:?}");
}

#[test]
fn psql_and_pgbench_take_the_mock_for_a_server() {
    let Some(bin) = binaries() else { return };
    for auth in [Auth::Trust, Auth::Md5, Auth::Scram] {
        let login = Login { user: "bob".to_owned(), password: Secret::new("se cret"), auth };
        let script = Arc::new(FixedScript(Turn::point_query()));
        let server = MockServer::start(MockProtocol::Postgres, login, script).unwrap();
        let Transport::Tcp(_, port) = server.endpoint().transport else { panic!("not TCP") };
        let run = |program: &str, arguments: &[&str], password: &str| {
            let output = Command::new(bin.join(program))
                .args(["-h", "127.0.0.1", "-U", "bob", "-p", &port.to_string()])
                .args(arguments)
                .env("PGPASSWORD", password)
                .output()
                .unwrap();
            let text = [output.stdout, output.stderr].concat();
            (output.status.success(), String::from_utf8_lossy(&text).into_owned())
        };
        let ask = ["-AtX", "-c", "SELECT c FROM t", "d"];
        let (good, text) = run("psql", &ask, "se cret");
        assert_eq!((good, text.trim_end()), (true, &*"x".repeat(119)));
        let (good, text) = run("psql", &ask, "wrong");
        assert_eq!(good, auth == Auth::Trust, "{text}");
        let file = temporary_directory();
        let path = file.join("point.sql");
        fs::write(&path, "\\set id random(1,9)\nSELECT c FROM t WHERE id=:id;\n").unwrap();
        let before = server.statements();
        let bench = ["-n", "-M", "prepared", "-t", "100", "-f", path.to_str().unwrap(), "d"];
        let (good, text) = run("pgbench", &bench, "se cret");
        fs::remove_dir_all(&file).unwrap();
        assert!(good && text.contains("100/100"), "{text}");
        assert_eq!(server.statements() - before, 100);
    }
}
