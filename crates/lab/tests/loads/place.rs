//! A server of our own for a test, and what is in its tables.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dbdyno_load::{Connector, fill};
use dbdyno_model::{Dialect, Product, Transport};
use dbdyno_sandbox::{Home, Options, Server, get};
use dbdyno_wire::Rows;
use dbdyno_workload::Dataset;

/// What is never set: nobody stops a test.
pub static GO_ON: AtomicBool = AtomicBool::new(false);

/// A running server.
pub struct Place {
    pub product: Product,
    pub connector: Connector,
    server: Server,
}

/// Held by every test that starts servers: two cores are enough for one of them.
pub fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The home that tests with servers share, or nothing where servers cannot be had and need not be.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub fn home() -> Option<Home> {
    let apt = Command::new("apt-get").arg("--version").stdout(Stdio::null()).status();
    if apt.is_err() && std::env::var_os("DBDYNO_REQUIRE_SERVERS").is_none() {
        eprintln!("skipped: there is no apt-get to get servers with");
        return None;
    }
    let default = || {
        let uid = nix::unistd::geteuid();
        PathBuf::from(format!("/var/tmp/dbdyno-test-home-{uid}"))
    };
    let dir = std::env::var_os("DBDYNO_TEST_HOME").map_or_else(default, PathBuf::from);
    Some(Home::open(Some(&dir)).unwrap())
}

impl Place {
    pub fn start(home: &Home, product: Product, version: &str) -> Place {
        let release = get(home, product, version, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
        let options =
            Options { buffer_mb: 128, redo_mb: 64, tables_mb: 128, ..Options::for_host(2_048) };
        let server = Server::start(home, &release, &options, "walk", &mut |_| {});
        let server = server.unwrap_or_else(|e| panic!("{e}"));
        let connector = match product {
            Product::MySql | Product::MariaDb => Connector::Mysql(server.endpoint()),
            Product::Postgres => Connector::Postgres(server.endpoint()),
        };
        Place { product, connector, server }
    }

    pub fn stop(self) {
        self.server.stop().unwrap_or_else(|e| panic!("{e}"));
    }

    pub fn name(&self) -> &'static str {
        match self.product {
            Product::MySql => "MySQL",
            Product::MariaDb => "MariaDB",
            Product::Postgres => "PostgreSQL",
        }
    }

    pub fn dialect(&self) -> Dialect {
        self.product.dialect()
    }

    /// The server as one names it that is running already, with the database of [`Place::query`].
    pub fn url(&self) -> String {
        let endpoint = self.server.endpoint();
        let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
        let scheme = match self.product {
            Product::MySql | Product::MariaDb => "mysql",
            Product::Postgres => "postgres",
        };
        let (user, password) = (&endpoint.user, endpoint.password.expose());
        format!("{scheme}://{user}:{password}@{host}:{port}/{}", endpoint.database)
    }

    pub fn fill(&self, dataset: &dyn Dataset) {
        let filled = fill(&self.connector, self.dialect(), dataset, &GO_ON, &mut |_| {});
        filled.unwrap_or_else(|error| panic!("{}, {}: {error}", self.name(), dataset.key()));
    }

    pub fn query(&self, sql: &str) -> Rows {
        let mut client = self.connector.connect().unwrap();
        let rows = client.query(sql);
        rows.unwrap_or_else(|error| panic!("{}: {error}: {sql}", self.name()))
    }

    /// The rows of a table as text, in an order that is the same everywhere. PostgreSQL fills CHAR
    /// columns up with blanks.
    pub fn content(&self, table: &str, columns: &[String]) -> Vec<String> {
        let rows = self.query(&format!("SELECT {} FROM {table}", columns.join(", "))).rows;
        let shown = |value: Option<String>| match value {
            Some(text) => text.trim_end().to_owned(),
            None => "NULL".to_owned(),
        };
        let line = |row: Vec<Option<String>>| -> String {
            row.into_iter().map(shown).collect::<Vec<_>>().join("|")
        };
        let mut lines: Vec<String> = rows.into_iter().map(line).collect();
        lines.sort_unstable();
        lines
    }
}

/// Where two tables differ first.
pub fn difference(one: &[String], other: &[String]) -> Option<String> {
    if one == other {
        return None;
    }
    let at = one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()));
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
    let (rows, others) = (one.len(), other.len());
    Some(format!("{rows} and {others} rows, first {} against {}", line(one), line(other)))
}
