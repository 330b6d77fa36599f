//! A place where loads are asked, and what is in its tables.
//!
//! ```text
//!   Place ── connector, dialect ─┬─ a server of our own, stopped in the end
//!                                └─ an engine or an SQLite file in a directory
//! ```

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dbdyno_load::{Connector, EngineArm, SqliteFile, fill_tables};
use dbdyno_model::design::Device;
use dbdyno_model::{Design, Dialect, Product, Transport};
use dbdyno_sandbox::{Home, LaunchOptions, Server, get};
use dbdyno_wire::Rows;
use dbdyno_workload::Dataset;
use tempfile::TempDir;

/// What is never set: nobody stops a test.
pub(crate) static GO_ON: AtomicBool = AtomicBool::new(false);

/// Something that can be asked.
pub(crate) struct Place {
    pub name: &'static str,
    pub connector: Connector,
    pub dialect: Dialect,
    keeper: Keeper,
}

/// What has to be there as long as the place is asked.
enum Keeper {
    Server(Box<Server>),
    /// Held for its `Drop`.
    Directory {
        _held: TempDir,
    },
}

/// Held by every test that asks: two cores are enough for one of them.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The home that tests with servers share, or nothing where servers cannot be had and need not be.
#[expect(clippy::print_stderr, reason = "a test that is left out says so")]
pub(crate) fn home() -> Option<Home> {
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

/// A design whose commits wait for no device.
pub(crate) fn in_memory() -> Design {
    Design { device: Device::None, ..Design::default() }
}

impl Place {
    /// MariaDB and PostgreSQL.
    pub(crate) fn servers(home: &Home) -> [Place; 2] {
        [(Product::MariaDb, "10.11"), (Product::Postgres, "15")]
            .map(|(product, version)| Place::start(home, product, version))
    }

    /// The reference engine and SQLite.
    pub(crate) fn embedded() -> [Place; 2] {
        [Place::engine(&in_memory()), Place::sqlite()]
    }

    pub(crate) fn start(home: &Home, product: Product, version: &str) -> Place {
        let release = get(home, product, version, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"));
        let options = LaunchOptions {
            buffer_mb: 128,
            redo_mb: 64,
            tables_mb: 128,
            ..LaunchOptions::for_host(2_048)
        };
        let server = Server::start(home, &release, &options, "walk", &mut |_| {});
        let server = server.unwrap_or_else(|e| panic!("{e}"));
        let (name, connector) = match product {
            Product::MySql => ("MySQL", Connector::Mysql(server.endpoint())),
            Product::MariaDb => ("MariaDB", Connector::Mysql(server.endpoint())),
            Product::Postgres => ("PostgreSQL", Connector::Postgres(server.endpoint())),
        };
        let keeper = Keeper::Server(Box::new(server));
        Place { name, connector, dialect: product.dialect(), keeper }
    }

    pub(crate) fn engine(design: &Design) -> Place {
        let held = tempfile::tempdir().unwrap();
        let connector = Connector::Engine(EngineArm::open(held.path(), design).unwrap());
        let keeper = Keeper::Directory { _held: held };
        Place { name: "the engine", connector, dialect: Dialect::Engine, keeper }
    }

    pub(crate) fn sqlite() -> Place {
        let held = tempfile::tempdir().unwrap();
        let pragmas = [("journal_mode", "WAL"), ("synchronous", "off")];
        let pragmas = pragmas.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let file = SqliteFile { path: held.path().join("arm.sqlite"), pragmas };
        let keeper = Keeper::Directory { _held: held };
        Place {
            name: "SQLite",
            connector: Connector::Sqlite(file),
            dialect: Dialect::Sqlite,
            keeper,
        }
    }

    pub(crate) fn stop(self) {
        if let Keeper::Server(server) = self.keeper {
            server.stop().unwrap_or_else(|e| panic!("{e}"));
        }
    }

    /// The server as one names it that is running already, with the database of [`Place::query`].
    pub(crate) fn url(&self) -> String {
        let (scheme, endpoint) = match &self.connector {
            Connector::Mysql(endpoint) => ("mysql", endpoint),
            Connector::Postgres(endpoint) => ("postgres", endpoint),
            _ => panic!("{} is no server", self.name),
        };
        let Transport::Tcp(host, port) = &endpoint.transport else { panic!("a TCP endpoint") };
        let (user, password) = (&endpoint.user, endpoint.password.expose());
        format!("{scheme}://{user}:{password}@{host}:{port}/{}", endpoint.database)
    }

    pub(crate) fn fill(&self, dataset: &dyn Dataset) {
        let filled = fill_tables(&self.connector, self.dialect, dataset, &GO_ON, &mut |_| {});
        filled.unwrap_or_else(|error| panic!("{}, {}: {error}", self.name, dataset.key()));
    }

    pub(crate) fn query(&self, sql: &str) -> Rows {
        let mut client = self.connector.connect().unwrap();
        let rows = client.query(sql);
        rows.unwrap_or_else(|error| panic!("{}: {error}: {sql}", self.name))
    }

    /// The rows of a table as text, in an order that is the same everywhere.
    pub(crate) fn content(&self, table: &str, columns: &[String]) -> Vec<String> {
        let rows = self.query(&format!("SELECT {} FROM {table}", columns.join(", "))).rows;
        let shown = |value: Option<String>| match value {
            Some(text) => self.plain(&text),
            None => "NULL".to_owned(),
        };
        let line = |row: Vec<Option<String>>| -> String {
            row.into_iter().map(shown).collect::<Vec<_>>().join("|")
        };
        let mut lines: Vec<String> = rows.into_iter().map(line).collect();
        lines.sort_unstable();
        lines
    }

    /// A value as both of a pair show it: PostgreSQL fills CHAR columns up with blanks; SQLite has
    /// no decimals, and adds money as doubles.
    fn plain(&self, text: &str) -> String {
        match (&self.keeper, text.parse::<f64>()) {
            (Keeper::Server(_), _) => text.trim_end().to_owned(),
            (Keeper::Directory { .. }, Ok(number)) if text.contains('.') => {
                let rounded = format!("{number:.4}");
                rounded.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
            (Keeper::Directory { .. }, _) => text.to_owned(),
        }
    }
}

/// Where two tables differ first.
pub(crate) fn difference(one: &[String], other: &[String]) -> Option<String> {
    if one == other {
        return None;
    }
    let at = one.iter().zip(other).position(|(a, b)| a != b).unwrap_or(one.len().min(other.len()));
    let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_else(|| "nothing".to_owned());
    let (rows, others) = (one.len(), other.len());
    Some(format!("{rows} and {others} rows, first {} against {}", line(one), line(other)))
}
