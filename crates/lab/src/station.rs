//! An arm, set up: running, filled, watched, and taken down again.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use dbdyno_load::{Connector, FillProgress, LoadError, SqliteFile, drop_tables, fill};
use dbdyno_model::{
    Arm, ArmSpec, Dialect, Environment, Product, ServerUrl, Severity, Target, Warning,
};
use dbdyno_probe::ServerProbe;
use dbdyno_sandbox::{Home, Options, Scratch, Server};
use dbdyno_wire::{Client, Endpoint};
use dbdyno_workload::Tables;

use crate::environment;
use crate::error::LabError;
use crate::watch::{Progress, Watch};

/// An arm that can be asked.
pub struct Station {
    /// Where its connections come from.
    pub connector: Connector,
    /// How its SQL is spelled.
    pub dialect: Dialect,
    /// Its processes, if they can be observed.
    pub probe: Option<ServerProbe>,
    /// What is true of it.
    pub environment: Environment,
    /// What the reader of its numbers must know.
    pub warnings: Vec<Warning>,
    keeper: Keeper,
}

/// What has to be taken down afterwards.
enum Keeper {
    Server(Server),
    /// Held for its `Drop`.
    Scratch {
        _directory: Scratch,
    },
    Guest(Guest),
    /// The tables are those of the other arm.
    Shared,
}

/// Our tables on a server that is not ours.
struct Guest {
    connector: Connector,
    dialect: Dialect,
    tables: Tables,
}

/// Marks the tables of a database as made by dbdyno, so that those of a killed run can be told from
/// somebody's own.
const MARKER: &str = "dbdyno_tables";

/// Everything that setting up needs to know.
pub struct SetUp<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Which arm it is.
    pub arm: Arm,
    /// What it is.
    pub spec: &'a ArmSpec,
    /// What to fill it with.
    pub tables: Tables,
    /// Memory of the host.
    pub memory_mb: u64,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

impl Station {
    /// Gets, starts and fills an arm.
    ///
    /// # Errors
    /// Whatever is in the way; nothing stays behind then.
    pub fn set_up(setup: &SetUp<'_>, watch: &mut dyn Watch) -> Result<Station, LabError> {
        let mut station = match &setup.spec.target {
            Target::Release(product, version) => Self::start(setup, *product, version, watch)?,
            Target::Url(url) => Self::visit(setup, url, watch)?,
            Target::Sqlite(pragmas) => Self::embed(setup, pragmas)?,
        };
        if let Keeper::Guest(guest) = &station.keeper {
            guest.mark(setup.arm)?;
        }
        station.fill(setup, watch)?;
        station.warnings.extend(slowed(setup));
        Ok(station)
    }

    /// A second view of an arm whose tables are there already: for comparing a server with itself.
    pub fn share(&self, setup: &SetUp<'_>) -> Station {
        Station {
            connector: self.connector.clone(),
            dialect: self.dialect,
            probe: self.probe.clone(),
            environment: self.environment.clone(),
            warnings: slowed(setup),
            keeper: Keeper::Shared,
        }
    }

    /// Stops what we started and takes away what we made.
    ///
    /// # Errors
    /// A server that does not stop in time, or that does not let us take our tables away.
    pub fn take_down(self, arm: Arm) -> Result<(), LabError> {
        match self.keeper {
            Keeper::Server(server) => server.stop().map_err(|error| LabError::Sandbox(arm, error)),
            Keeper::Guest(guest) => guest
                .leave()
                .map_err(|error| LabError::Load(arm, "taking our tables away".to_owned(), error)),
            Keeper::Scratch { .. } | Keeper::Shared => Ok(()),
        }
    }

    fn start(
        setup: &SetUp<'_>,
        product: Product,
        version: &str,
        watch: &mut dyn Watch,
    ) -> Result<Station, LabError> {
        let arm = setup.arm;
        let sandbox = |error| LabError::Sandbox(arm, error);
        let mut say = |text: &str| watch.progress(Progress::Stage(arm, text));
        let release =
            dbdyno_sandbox::get(setup.home, product, version, &mut say).map_err(sandbox)?;
        let options = Options::for_host(setup.memory_mb);
        let server =
            Server::start(setup.home, &release, &options, arm.name(), &mut say).map_err(sandbox)?;
        let endpoint = server.endpoint();
        let connector = connector(product.dialect(), endpoint.clone());
        let port = match &endpoint.transport {
            dbdyno_model::Transport::Tcp(_, port) => port.to_string(),
            dbdyno_model::Transport::Unix(path) => path.clone(),
        };
        let directory = server.data_dir().parent().map(Path::to_owned).unwrap_or_default();
        let directory = directory.display().to_string();
        let tree = release.dir.display().to_string();
        let instance = [(directory, "<sandbox>"), (tree, "<release>"), (port, "<port>")];
        let label = setup.spec.to_string();
        let mut environment = ask(arm, &label, &connector, product.dialect(), &instance)?;
        environment.set("server.origin", &*release.origin);
        for (package, version) in &release.packages {
            environment.set(format!("package.{package}"), version);
        }
        for (name, value) in server.settings() {
            environment.set(format!("setting.{name}"), environment::general(value, &instance));
        }
        Ok(Station {
            connector,
            dialect: product.dialect(),
            probe: Some(ServerProbe::of_process(server.pid())),
            environment,
            warnings: Vec::new(),
            keeper: Keeper::Server(server),
        })
    }

    fn visit(
        setup: &SetUp<'_>,
        url: &ServerUrl,
        watch: &mut dyn Watch,
    ) -> Result<Station, LabError> {
        let (arm, label) = (setup.arm, setup.spec.to_string());
        let server = |error| LabError::Server(arm, label.clone(), error);
        let stage = format!("connecting to {}", url.transport);
        watch.progress(Progress::Stage(arm, &stage));
        let endpoint = Endpoint {
            transport: url.transport.clone(),
            user: url.user.clone(),
            password: url.password.clone().unwrap_or_default(),
            database: url.database.clone(),
        };
        make_database(&endpoint, url.dialect).map_err(server)?;
        let connector = connector(url.dialect, endpoint);
        let environment = ask(arm, &label, &connector, url.dialect, &[])?;
        let mut warnings = Vec::new();
        let probe = match ServerProbe::locate(&url.transport) {
            Ok(probe) => Some(probe),
            Err(reason) => {
                let text = format!("{arm}: the server's own cost is left blank: {reason}");
                warnings.push(Warning::new(Severity::Note, "server-not-observable", text));
                None
            }
        };
        let guest =
            Guest { connector: connector.clone(), dialect: url.dialect, tables: setup.tables };
        if guest.clear_left_overs().map_err(|error| guest_error(arm, error))? {
            let text = "took away tables that a killed dbdyno had left";
            watch.progress(Progress::Stage(arm, text));
        }
        let keeper = Keeper::Guest(guest);
        let dialect = url.dialect;
        Ok(Station { connector, dialect, probe, environment, warnings, keeper })
    }

    fn embed(setup: &SetUp<'_>, pragmas: &[(String, String)]) -> Result<Station, LabError> {
        let arm = setup.arm;
        let scratch = setup.home.scratch(arm.name()).map_err(|e| LabError::Sandbox(arm, e))?;
        let path = scratch.path().join("arm.sqlite");
        let connector = Connector::Sqlite(SqliteFile { path, pragmas: pragmas.to_vec() });
        let label = setup.spec.to_string();
        let environment = ask(arm, &label, &connector, Dialect::Sqlite, &[])?;
        Ok(Station {
            connector,
            dialect: Dialect::Sqlite,
            probe: None,
            environment,
            warnings: Vec::new(),
            keeper: Keeper::Scratch { _directory: scratch },
        })
    }

    fn fill(&mut self, setup: &SetUp<'_>, watch: &mut dyn Watch) -> Result<(), LabError> {
        let arm = setup.arm;
        let mut tell = |progress| match progress {
            FillProgress::Rows { done, total } => {
                watch.progress(Progress::Filling { arm, done, total });
            }
            FillProgress::Finishing(table) => {
                let text = format!("making the index of table {}", table + 1);
                watch.progress(Progress::Stage(arm, &text));
            }
        };
        fill(&self.connector, self.dialect, &setup.tables, setup.stop, &mut tell)
            .map_err(|error| LabError::Load(arm, "filling the tables".to_owned(), error))
    }
}

impl Guest {
    /// Whether an earlier run was killed before it could take its tables away. They are gone now.
    fn clear_left_overs(&self) -> Result<bool, LoadError> {
        let mut client = self.connector.connect()?;
        let marked = client.query(&format!("SELECT table_count FROM {MARKER}"));
        let Ok(marked) = marked else { return Ok(false) };
        let count = marked.single().and_then(|text| text.parse().ok()).unwrap_or(0);
        client.close();
        drop_tables(&self.connector, self.dialect, &self.tables, count)?;
        self.unmark()?;
        Ok(true)
    }

    fn mark(&self, arm: Arm) -> Result<(), LabError> {
        let mark = || {
            // Somebody's own tables are found before anything is marked as ours.
            let mut client = self.connector.connect()?;
            for index in 0..self.tables.count {
                let name = Tables::name(index);
                if client.query(&format!("SELECT 1 FROM {name} WHERE 1=0")).is_ok() {
                    return Err(LoadError::TableExists(name));
                }
            }
            client.query(&format!("CREATE TABLE {MARKER} (table_count INTEGER NOT NULL)"))?;
            client.query(&format!("INSERT INTO {MARKER} VALUES ({})", self.tables.count))?;
            client.close();
            Ok(())
        };
        mark().map_err(|error| guest_error(arm, error))
    }

    fn unmark(&self) -> Result<(), LoadError> {
        let mut client = self.connector.connect()?;
        client.query(&format!("DROP TABLE {MARKER}"))?;
        client.close();
        Ok(())
    }

    fn leave(mut self) -> Result<(), LoadError> {
        let left = self.take_all_away();
        self.tables.count = 0;
        left
    }

    fn take_all_away(&self) -> Result<(), LoadError> {
        drop_tables(&self.connector, self.dialect, &self.tables, self.tables.count)?;
        self.unmark()
    }
}

impl Drop for Guest {
    /// On the way out of a failure. What cannot be taken away now is marked, and goes next time.
    fn drop(&mut self) {
        if self.tables.count > 0
            && self.connector.connect().is_ok_and(|mut client| {
                client.query(&format!("SELECT table_count FROM {MARKER}")).is_ok()
            })
        {
            let _left_for_next_time = self.take_all_away();
        }
    }
}

fn slowed(setup: &SetUp<'_>) -> Vec<Warning> {
    if setup.spec.slow <= 0.0 {
        return Vec::new();
    }
    let percent = setup.spec.slow * 100.0;
    let text = format!("{} is slowed by {percent} % on purpose (slow=)", setup.arm);
    vec![Warning::new(Severity::Caution, "slowed", text)]
}

fn guest_error(arm: Arm, error: LoadError) -> LabError {
    LabError::Load(arm, "preparing the database".to_owned(), error)
}

fn connector(dialect: Dialect, endpoint: Endpoint) -> Connector {
    match dialect {
        Dialect::Mysql => Connector::Mysql(endpoint),
        Dialect::Postgres => Connector::Postgres(endpoint),
        Dialect::Sqlite => unreachable!("SQLite has no endpoint"),
    }
}

fn ask(
    arm: Arm,
    label: &str,
    connector: &Connector,
    dialect: Dialect,
    instance: &[(String, &str)],
) -> Result<Environment, LabError> {
    let asked = connector.connect().and_then(|mut client| {
        let environment = environment::capture(&mut *client, dialect, instance)?;
        client.close();
        Ok(environment)
    });
    asked.map_err(|error| LabError::Server(arm, label.to_owned(), error))
}

/// Makes the database that the URL names, if it is not there and we may.
fn make_database(endpoint: &Endpoint, dialect: Dialect) -> Result<(), dbdyno_wire::WireError> {
    let direct = connector(dialect, endpoint.clone()).connect();
    let unknown = match &direct {
        Err(dbdyno_wire::WireError::Login(error)) => {
            error.code == 1049 || (error.code == 0 && error.sqlstate == "3D000")
        }
        _ => false,
    };
    if !unknown {
        return direct.map(Client::close);
    }
    let database = if dialect == Dialect::Postgres { "postgres" } else { "" };
    let lobby = Endpoint { database: database.to_owned(), ..endpoint.clone() };
    let mut client = connector(dialect, lobby).connect()?;
    let quote = if dialect == Dialect::Postgres { '"' } else { '`' };
    let doubled = endpoint.database.replace(quote, &format!("{quote}{quote}"));
    client.query(&format!("CREATE DATABASE {quote}{doubled}{quote}"))?;
    client.close();
    Ok(())
}
