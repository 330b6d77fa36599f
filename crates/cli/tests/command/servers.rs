//! Real servers: got and started by the command, and running already. The first run downloads about
//! 120 MB into a home that later runs share.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use dbdyno_model::{ArmSpec, Product, Target, Transport};
use dbdyno_sandbox::{LaunchOptions, Server, get};
use dbdyno_wire::{Client, Endpoint};
use serde_json::Value;

use crate::common::{BRIEF, Done, Home, eventually, finish, processes_in, skipped, turn};

const LOADS: &str = "point-query,range-notcovered-pk,points-covered-si,update-nonindex,read-write";

/// The home that tests with servers share, or nothing where servers cannot be had and need not be.
pub(crate) fn home() -> Option<Home> {
    let apt = Command::new("apt-get").arg("--version").stdout(Stdio::null()).status();
    if apt.is_err() && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
        skipped("there is no apt-get to get servers with");
        return None;
    }
    let default = || {
        let uid = nix::unistd::geteuid();
        PathBuf::from(format!("/var/tmp/dbdyno-test-home-{uid}"))
    };
    Some(Home::at(std::env::var_os("DBDYNO_TEST_HOME").map_or_else(default, PathBuf::from)))
}

/// Results of one test; the home is everybody's.
pub(crate) struct Store {
    dir: tempfile::TempDir,
}

impl Store {
    pub(crate) fn new() -> Store {
        Store { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.dir.path().join("results.db")
    }

    /// The command with its results here.
    pub(crate) fn command(&self, home: &Home, args: &[&str]) -> Command {
        let mut command = home.command(args);
        command.env("DBDYNO_STORE", self.path());
        command
    }

    /// Everything that was written, whatever SQLite calls the files.
    fn bytes(&self) -> Vec<u8> {
        let files = std::fs::read_dir(self.dir.path()).unwrap().flatten();
        files.flat_map(|file| std::fs::read(file.path()).unwrap()).collect()
    }
}

/// The sandboxes that belong to process `pid`.
pub(crate) fn sandboxes_of(home: &Home, pid: u32) -> Vec<PathBuf> {
    let names = home.sandboxes().into_iter().filter(|name| name.contains(&format!("-{pid}-")));
    names.map(|name| home.path().join("run").join(name)).collect()
}

fn two_releases(base: &str, test: &str, versions: [&str; 2]) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let more = ["--load", LOADS, "--clients", "2", "--rounds", "1", "--format", "json"];
    let args = [&["compare", base, test][..], &BRIEF, &more].concat();
    let mut command = store.command(&home, &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let Done { code, out, err } = crate::common::end(child);
    assert_eq!(code, 3, "one round is too few for a verdict: {err}");
    let run: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(run["status"], "complete");
    for (arm, version) in ["base", "test"].into_iter().zip(versions) {
        let label = run[arm]["label"].as_str().unwrap();
        assert!(label.contains(&format!("({version}")), "{label}");
    }
    let cells = run["cells"].as_array().unwrap();
    let loads: Vec<_> = cells.iter().map(|cell| cell["load"].as_str().unwrap()).collect();
    assert_eq!(loads.join(","), LOADS);
    for cell in cells {
        assert_eq!(cell["verdict"], "undecided");
        let saturated = |warning: &Value| warning["code"] == "client-saturated";
        assert!(!cell["warnings"].as_array().unwrap().iter().any(saturated), "{cell}");
        for arm in ["base", "test"] {
            for cost in ["server_cpu_us_per_op", "client_cpu_us_per_op", "context_switches_per_op"]
            {
                let cost_of = cell[arm][cost].as_f64();
                assert!(cost_of.is_some_and(|cost| cost > 0.0), "{arm} {cost}: {cell}");
            }
        }
    }
    let product = |target: &str| Product::named(target.split(':').next().unwrap()).unwrap();
    let told = ["base", "test"].map(|arm| {
        let label = run[arm]["label"].as_str().unwrap();
        label.split_once('(').unwrap().1.to_owned()
    });
    let versions = told.each_ref().map(String::as_str);
    crate::facts::are_told(&store.path(), [product(base), product(test)], versions);
    assert!(sandboxes_of(&home, pid).is_empty(), "something is left in run/");
    let base = home.path().join("run").join(format!("base-{pid}-0"));
    let test = home.path().join("run").join(format!("test-{pid}-1"));
    assert!(processes_in(&base).is_empty() && processes_in(&test).is_empty());
}

#[test]
fn two_releases_of_mariadb_are_compared() {
    two_releases("mariadb:10.11", "mariadb:11.8", ["10.11.", "11.8."]);
}

/// Whether the clients of registries are here, or must be.
pub(crate) fn are_here<const N: usize>(tools: [&str; N]) -> bool {
    let missing = |tool: &&str| Command::new(tool).arg("--version").output().is_err();
    let missing: Vec<&str> = tools.into_iter().filter(missing).collect();
    if !missing.is_empty() && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
        skipped(&format!("this machine has no {}", missing.join(", ")));
        return false;
    }
    true
}

#[test]
fn two_releases_of_mysql_are_compared() {
    if !are_here(["npm", "mvn"]) {
        return;
    }
    two_releases("mysql:5.6", "mysql:5.7", ["5.6.", "5.7."]);
}

#[test]
fn two_releases_of_postgres_are_compared() {
    two_releases("postgres:15", "postgres:17", ["15.", "17."]);
}

/// Ends a background server however its test ends.
pub(crate) struct Ending<'a>(pub &'a Home, pub &'a str);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        for word in ["stop", "rm"] {
            self.0.dbdyno(["server", word, self.1]);
        }
    }
}

#[test]
fn a_background_server_is_measured_by_its_url_and_ends_when_it_is_told_to() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let name = format!("cli-{}", std::process::id());
    let _ending = Ending(&home, &name);
    let server = |words: &[&str]| home.dbdyno([&["server"], words].concat());
    let started = server(&["start", "mariadb:10.11", "--name", &name]);
    assert_eq!(started.code, 0, "{started:?}");
    let url = started.out.trim().to_owned();
    let password = url.split([':', '@']).nth(2).unwrap().to_owned();
    assert!(url.starts_with("mysql://dbdyno:") && password.len() >= 32, "{}", url.len());
    assert_eq!(server(&["start", &name]).out.trim(), url, "it was started a second time");
    let listed = server(&["ls"]);
    assert!(listed.out.contains(&name) && listed.out.contains("runs, pid"), "{listed:?}");
    assert!(!listed.out.contains(&password), "{listed:?}");
    assert!(server(&["logs", &name]).out.contains("ready for connections"));

    let store = Store::new();
    let args = one_round(&url, &url);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let measured = finish(store.command(&home, &args));
    assert_eq!(measured.code, 3, "one round is too few for a verdict: {measured:?}");

    let mut shell = home.command(["server", "shell", &name]);
    shell.stdin(Stdio::from(std::fs::File::open("tests/command/answer.sql").unwrap()));
    let shell = finish(shell);
    if shell.code == 0 {
        assert!(shell.out.contains("42"), "{shell:?}");
    } else {
        assert!(shell.err.contains("has a client (mariadb, mysql); install one"), "{shell:?}");
    }
    let refused = server(&["rm", &name]);
    assert!(refused.code == 2 && refused.err.contains("server stop"), "{refused:?}");
    assert_eq!(server(&["stop", &name]).code, 0);
    assert!(server(&["stop", &name]).err.contains("it does not run"));
    let stopped = server(&["shell", &name]);
    assert!(stopped.code == 2 && stopped.err.contains("server start"), "{stopped:?}");
    assert!(server(&["ls"]).out.lines().any(|l| l.contains(&name) && l.ends_with("stopped")));
    assert_eq!(server(&["rm", &name]).code, 0);
    assert!(!home.path().join("bg").join(&name).exists());
}

#[test]
fn a_killed_dbdyno_takes_its_servers_with_it() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let more = ["--rounds", "10000"];
    let args = [&["compare", "mariadb:11.8", "postgres:17"][..], &BRIEF, &more].concat();
    let mut command = store.command(&home, &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &store.path(), 2);
    let claims = sandboxes_of(&home, child.id());
    // That it measures is told by a directory of its own, in which no server lives.
    let (sandboxes, signs): (Vec<PathBuf>, Vec<PathBuf>) =
        claims.into_iter().partition(|claim| !processes_in(claim).is_empty());
    assert_eq!((sandboxes.len(), signs.len()), (2, 1), "{signs:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    // PostgreSQL's backends see the end of their postmaster a moment later; zombies work nowhere.
    eventually("the end of the servers", || {
        sandboxes.iter().all(|sandbox| processes_in(sandbox).is_empty())
    });
    let next = store.command(&home, &["compare", "sqlite:?no=1", "sqlite:"]);
    assert_eq!(finish(next).code, 2);
    assert!(sandboxes.iter().chain(&signs).all(|claim| !claim.exists()), "{sandboxes:?}");
    let shown = finish(store.command(&home, &["show", "--format", "json"]));
    let run: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!(run["status"], "partial");
}

/// Reads, writes, what the servers do between them, and again, unattended, killed in the middle. A
/// whole suite goes the same way on models (`resume.rs`).
#[test]
fn loads_in_a_row_are_measured_although_they_were_killed_on_the_way() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let store = Store::new();
    let loads = "point-query.pre,update-index,settle,read-only,delete,insert";
    let flags = "--quick --rounds 1 --seconds 0.3 --warm-up 0.1 --rows 1000 --load";
    let mut args = vec!["compare", "mariadb:10.11", "mariadb:10.11"];
    args.extend(flags.split(' ').chain([loads]));
    let mut command = store.command(&home, &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    home.wait_for_rounds(&mut child, &store.path(), 4);
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = finish(store.command(&home, &["resume", "--format", "json"]));
    assert_eq!(resumed.code, 3, "one round is too few for a verdict: {resumed:?}");
    let run: Value = serde_json::from_str(&resumed.out).unwrap();
    assert_eq!(run["status"], "complete");
    // The round in which it was killed may be the first of its pair, whose other half is gone.
    let cells = run["cells"].as_array().unwrap().len();
    assert!((4..=5).contains(&cells), "{cells}");
    let warnings = run["warnings"].as_array().unwrap();
    let count = |code: &str| warnings.iter().filter(|warning| warning["code"] == code).count();
    assert_eq!(count("resumed"), 1, "{warnings:?}");
    assert_eq!(count("environment-changed"), 0, "{warnings:?}");
    // Once for each arm, and once more where the settling before the kill was for writes that were
    // repeated after it.
    let settled = count("settled");
    assert!([2, 4].contains(&settled), "{settled}: {warnings:?}");
}

/// A server that is running already, as far as the command knows.
pub(crate) struct Running {
    server: Server,
    product: Product,
}

impl Running {
    pub(crate) fn start(home: &Home, product: Product, version: &str) -> Running {
        Running::told(home, product, version, "")
    }

    /// One that is told this, as behind the question mark of a target.
    pub(crate) fn told(home: &Home, product: Product, version: &str, settings: &str) -> Running {
        let home = dbdyno_sandbox::Home::open(Some(home.path())).unwrap();
        let release = get(&home, product, version, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
        let target = format!("{}:{version}?{settings}", product.name());
        let Target::Release(asked) = target.parse::<ArmSpec>().unwrap().target else { panic!() };
        let options = LaunchOptions {
            buffer_mb: 128,
            redo_mb: 64,
            tables_mb: 64,
            ..LaunchOptions::for_host(2_048)
        }
        .with_settings(&asked.settings);
        let server = Server::start(&home, &release, &options, "url", &mut |_| {});
        Running { server: server.unwrap_or_else(|e| panic!("{e}")), product }
    }

    pub(crate) fn stop(self) {
        self.server.stop().unwrap();
    }

    pub(crate) fn endpoint(&self) -> Endpoint {
        self.server.endpoint()
    }

    /// How it is reached.
    pub(crate) fn access(&self) -> Access {
        let Transport::Unix(socket) = self.server.socket_endpoint().transport else { panic!() };
        Access { product: self.product, endpoint: self.endpoint(), socket }
    }

    pub(crate) fn password(&self) -> String {
        self.server.endpoint().password.expose().to_owned()
    }

    pub(crate) fn tcp(&self, account: &str, database: &str) -> String {
        let Transport::Tcp(_, port) = self.server.endpoint().transport else { panic!() };
        format!("{}://{account}@127.0.0.1:{port}/{database}", self.access().scheme())
    }

    pub(crate) fn socket(&self, account: &str, database: &str) -> String {
        self.access().socket(account, database)
    }

    pub(crate) fn connect(&self, database: &str) -> Box<dyn Client> {
        self.access().connect(database)
    }

    /// The database that is there from the beginning.
    pub(crate) fn own_database(&self) -> String {
        self.server.endpoint().database
    }

    pub(crate) fn ask(&self, sql: &str) -> String {
        self.access().ask(&self.own_database(), sql)
    }

    pub(crate) fn has_database(&self, name: &str) -> bool {
        let sql = if self.product == Product::MariaDb {
            format!("SELECT count(*) FROM information_schema.schemata WHERE schema_name='{name}'")
        } else {
            format!("SELECT count(*) FROM pg_database WHERE datname='{name}'")
        };
        self.ask(&sql) == "1"
    }

    /// The user's tables in the database that is there from the beginning.
    pub(crate) fn tables(&self) -> String {
        self.access().tables(&self.own_database())
    }
}

/// How a server is reached, by whatever thread.
pub(crate) struct Access {
    product: Product,
    /// By TCP.
    pub endpoint: Endpoint,
    socket: String,
}

impl Access {
    fn scheme(&self) -> &'static str {
        if self.product == Product::Postgres { "postgres" } else { "mysql" }
    }

    pub(crate) fn socket(&self, account: &str, database: &str) -> String {
        format!("{}://{account}@/{database}?socket={}", self.scheme(), self.socket)
    }

    pub(crate) fn connect(&self, database: &str) -> Box<dyn Client> {
        let endpoint = Endpoint { database: database.to_owned(), ..self.endpoint.clone() };
        if self.product == Product::Postgres {
            Box::new(dbdyno_wire::postgres::PostgresConnection::connect(&endpoint).unwrap())
        } else {
            Box::new(dbdyno_wire::mysql::MysqlConnection::connect(&endpoint).unwrap())
        }
    }

    pub(crate) fn ask(&self, database: &str, sql: &str) -> String {
        let rows = self.connect(database).query(sql).unwrap();
        rows.first_value().unwrap_or("NULL").to_owned()
    }

    /// How many tables a database has.
    pub(crate) fn tables(&self, database: &str) -> String {
        let schema = if self.product == Product::Postgres { "'public'" } else { "database()" };
        let sql = "SELECT count(*) FROM information_schema.tables WHERE table_schema=";
        self.ask(database, &format!("{sql}{schema}"))
    }
}

fn one_round(base: &str, test: &str) -> Vec<String> {
    let more = ["--rounds", "1", "--load", "point-query", "--format", "json"];
    [&["compare", base, test][..], &BRIEF, &more].concat().into_iter().map(str::to_owned).collect()
}

fn urls(product: Product, version: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let running = Running::start(&home, product, version);
    let store = Store::new();
    let password = running.password();
    let variable = if product == Product::MariaDb { "MYSQL_PWD" } else { "PGPASSWORD" };
    let run = |base: &str, test: &str, in_environment: &str| {
        let args = one_round(base, test);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = store.command(&home, &args);
        command.env(variable, in_environment);
        finish(command)
    };
    let own = running.own_database();
    let with_password = format!("dbdyno:{password}");
    let silent = |done: &Done| {
        let bytes = store.bytes();
        let found = bytes.windows(password.len()).any(|window| window == password.as_bytes());
        assert!(!found, "the password is in the store");
        assert!(!done.err.contains(&password) && !done.out.contains(&password), "{done:?}");
    };

    // Itself, in a database that is made for it; and the same database by two ways.
    let itself = running.tcp(&with_password, "made_for_it");
    let over_socket = running.socket("dbdyno", &own);
    let over_tcp = running.tcp(&with_password, &own);
    for (base, test) in [(&itself, &itself), (&over_tcp, &over_socket)] {
        let done = run(base, test, &password);
        assert_eq!(done.code, 3, "{done:?}");
        let json: Value = serde_json::from_str(&done.out).unwrap();
        let cost = &json["cells"][0]["test"]["server_cpu_us_per_op"];
        assert!(cost.as_f64().is_some_and(|cost| cost > 0.0), "{json}");
        silent(&done);
    }
    assert!(!running.has_database("made_for_it"), "the database that we made is left");
    assert_eq!(running.tables(), "0", "tables or marker are left");

    // A wrong password: the server's words, and neither the right nor the wrong one.
    let wrong = running.tcp("dbdyno:hunter2", &own);
    let done = run(&wrong, &over_socket, &password);
    assert_eq!((done.code, done.out.as_str()), (2, ""), "{done:?}");
    let words = if product == Product::MariaDb { "Access denied" } else { "authentication failed" };
    assert!(done.err.contains(words) && done.err.contains(variable), "{done:?}");
    assert!(!done.err.contains("hunter2"), "{done:?}");
    silent(&done);

    // Somebody's own table.
    running.connect(&own).run("CREATE TABLE sbtest1 (precious INTEGER)").unwrap();
    running.connect(&own).run("INSERT INTO sbtest1 VALUES (42)").unwrap();
    let done = run(&over_socket, &over_socket, &password);
    assert_eq!((done.code, done.out.as_str()), (2, ""), "{done:?}");
    assert!(done.err.contains("table sbtest1 exists already"), "{done:?}");
    assert_eq!(running.ask("SELECT precious FROM sbtest1"), "42");
    assert_eq!(running.tables(), "1");
    running.connect(&own).run("DROP TABLE sbtest1").unwrap();

    second_at_once_and_killed(&home, &running, &store, variable);
    running.server.stop().unwrap();
}

/// A second dbdyno in the same database is refused while the first one lives, and cleans up after
/// it when it was killed.
fn second_at_once_and_killed(home: &Home, running: &Running, store: &Store, variable: &str) {
    let url = running.socket("dbdyno", "busy");
    let more = ["--rounds", "10000"];
    let args = [&["compare", &url, &url][..], &BRIEF, &more].concat();
    let other = Store::new();
    let mut command = other.command(home, &args);
    command.env(variable, running.password()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut first = command.spawn().unwrap();
    home.wait_for_rounds(&mut first, &other.path(), 1);
    let second = || {
        let args = one_round(&url, &url);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = store.command(home, &args);
        command.env(variable, running.password());
        finish(command)
    };
    let refused = second();
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("another dbdyno works in the database busy"), "{refused:?}");
    assert!(first.try_wait().unwrap().is_none(), "the first one was disturbed");
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(running.has_database("busy"));

    let mut done = second();
    eventually("the end of the killed one's connections", || {
        if done.code == 2 && done.err.contains("another dbdyno works") {
            done = second();
        }
        done.code != 2
    });
    assert_eq!(done.code, 3, "{done:?}");
    assert!(!running.has_database("busy"), "the database that the killed one made is left");
}

#[test]
fn a_running_mariadb_is_compared_by_its_url_and_left_as_it_was() {
    urls(Product::MariaDb, "10.11");
}

#[test]
fn a_running_postgres_is_compared_by_its_url_and_left_as_it_was() {
    urls(Product::Postgres, "17");
}
