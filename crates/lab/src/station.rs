//! An arm, set up: running, filled, watched, and taken down again.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use dbdyno_load::{
    Connector, EngineArm, FillProgress, LoadError, RocksArm, SqliteFile, check_invariants, fill,
};
use dbdyno_model::{
    Arm, ArmSpec, Cache, Design, Dialect, Environment, ReleaseSpec, RocksOptions, ServerUrl,
    Severity, Target, Warning,
};
use dbdyno_probe::ServerProbe;
use dbdyno_sandbox::{
    Ensemble, Home, Image, ImageKey, Options, Release, SandboxError, Scratch, Server, Translation,
    Valgrind,
};
use dbdyno_wire::{Client, Endpoint};
use dbdyno_workload::Dataset;

use crate::between::Watched;
use crate::capture;
use crate::error::LabError;
use crate::guest::{Found, Guest};
use crate::image::{self, Origin, Policy};
use crate::pragma;
use crate::provenance;
use crate::topology;
use crate::upgrade::Older;
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
    origin: Origin,
    cache: Cache,
}

/// What has to be taken down afterwards.
enum Keeper {
    Server(Box<Server>),
    Ensemble(Box<Ensemble>),
    /// Held for its `Drop`.
    Scratch {
        _directory: Scratch,
    },
    Guest(Box<Guest>),
    /// The tables are those of the other arm.
    Shared,
}

/// Whether tables are wanted back as they were loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restores {
    /// Never.
    No,
    /// At a stage `restore`.
    Yes,
}

/// Everything that setting up needs to know.
pub struct SetUp<'a> {
    /// Where sandboxes live.
    pub home: &'a Home,
    /// Which arm it is.
    pub arm: Arm,
    /// What it is.
    pub spec: &'a ArmSpec,
    /// What to fill it with.
    pub datasets: &'a [Arc<dyn Dataset>],
    /// Memory of the host.
    pub memory_mb: u64,
    /// Clients that will ask it at the same time, at most.
    pub clients: u32,
    /// Whether the plan wants its tables back as they were loaded.
    pub restores: Restores,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

impl Station {
    /// Gets and starts an arm. A server by URL may turn out to be that of the `other` arm; then its
    /// tables are shared.
    ///
    /// # Errors
    /// Whatever is in the way; nothing stays behind then.
    pub fn open(
        setup: &SetUp<'_>,
        other: Option<&Station>,
        watch: &mut dyn Watch,
    ) -> Result<Station, LabError> {
        let mut station = match &setup.spec.target {
            Target::Release(release) => Self::start(setup, release, watch)?,
            Target::Url(url) => Self::visit(setup, url, other, watch)?,
            Target::Sqlite(pragmas) => Self::embed(setup, pragmas)?,
            Target::Rocksdb(options) => Self::embed_rocksdb(setup, options)?,
            Target::Engine(design) => Self::embed_engine(setup, design)?,
        };
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
            origin: Origin::Filling,
            cache: Cache::Warm,
        }
    }

    /// Whether its tables are those of the other arm, too.
    pub fn shares_tables(&self) -> bool {
        matches!(self.keeper, Keeper::Shared)
    }

    /// Whether nobody but us uses it: we started it, or it lives in our threads.
    pub fn is_ours(&self) -> bool {
        matches!(self.keeper, Keeper::Server(_) | Keeper::Ensemble(_) | Keeper::Scratch { .. })
    }

    /// Whether it may be kept on processors of our choice: it is ours, or lives in our threads.
    pub fn can_be_placed(&self) -> bool {
        self.is_ours()
    }

    /// Keeps its server on these processors, if it has one that is ours.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub fn place(&self, arm: Arm, processors: &[usize]) -> Result<(), LabError> {
        let sandbox = |error| LabError::Sandbox(arm, error);
        match &self.keeper {
            Keeper::Server(server) => server.place(processors).map_err(sandbox),
            Keeper::Ensemble(ensemble) => ensemble.place(processors).map_err(sandbox),
            Keeper::Scratch { .. } | Keeper::Guest(_) | Keeper::Shared => Ok(()),
        }
    }

    /// Whether it can be started again: a server of ours.
    pub fn can_be_restarted(&self) -> bool {
        self.keeper.server().is_some()
    }

    /// Notes what the delay between members has come to so far, where there is one.
    pub(crate) fn note_delay(&mut self) {
        if let Keeper::Ensemble(ensemble) = &self.keeper {
            topology::measure_delay(&mut self.environment, ensemble);
        }
    }

    /// Those among which it is the first, where it is not alone.
    pub(crate) fn ensemble(&self) -> Option<&Ensemble> {
        match &self.keeper {
            Keeper::Ensemble(ensemble) => Some(ensemble),
            _ => None,
        }
    }

    /// Probes of those that follow it, by their number; none where it is alone.
    pub(crate) fn followers(&self) -> Vec<ServerProbe> {
        let members = self.ensemble().into_iter().flat_map(Ensemble::members).skip(1);
        members.map(|(_, member)| ServerProbe::of_process(member.pid())).collect()
    }

    /// How it is watched between rounds. RocksDB and the engine work in threads of
    /// our own process.
    pub(crate) fn watched(&self) -> Watched {
        match (&self.probe, &self.connector) {
            (Some(probe), _) => Watched::Servers([vec![probe.clone()], self.followers()].concat()),
            (None, Connector::Sqlite(_)) => Watched::Servers(Vec::new()),
            (None, _) => Watched::Unseen,
        }
    }

    /// The image that it started from, and when that was made, in words.
    pub fn image(&self) -> Option<String> {
        let Origin::Image(image) = &self.origin else { return None };
        Some(format!("{} ({})", image.name, self.environment.get("image.origin")))
    }

    /// Whether each of its lives begins with nothing in memory.
    pub fn begins_cold(&self) -> bool {
        self.cache == Cache::Cold
    }

    /// Starts the server again on its data and reads the tables once, so that its memory holds them
    /// as before; or, if it is to begin cold, sees to it that nothing is in memory.
    ///
    /// # Errors
    /// A server that does not stop or does not come back.
    pub fn restart(&mut self, arm: Arm, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let restarted = match (&mut self.keeper, self.cache) {
            (Keeper::Server(server), Cache::Warm) => server.restart(),
            (Keeper::Server(server), Cache::Cold) => server.restart_cold(),
            (Keeper::Ensemble(ensemble), _) => ensemble.restart(),
            (Keeper::Scratch { .. } | Keeper::Guest(_) | Keeper::Shared, _) => return Ok(()),
        };
        restarted.map_err(|error| LabError::Sandbox(arm, error))?;
        self.come_back(arm, datasets)
    }

    /// Starts a server of ours that is alone again under callgrind; returns where it leaves its
    /// files.
    ///
    /// # Errors
    /// Those of [`Station::restart`].
    pub(crate) fn restart_counted(
        &mut self,
        arm: Arm,
        valgrind: &Valgrind,
        datasets: &[Arc<dyn Dataset>],
    ) -> Result<PathBuf, LabError> {
        let Keeper::Server(server) = &mut self.keeper else {
            return Err(LabError::Counting(arm, "it is no server of ours".to_owned()));
        };
        server.restart_counted(valgrind).map_err(|error| LabError::Sandbox(arm, error))?;
        let files = server.count_files();
        self.come_back(arm, datasets)?;
        Ok(files)
    }

    /// Starts the server on a fresh copy of the image that it started from.
    ///
    /// # Errors
    /// [`LabError::Loads`] where there is none, and those of a start.
    pub fn restore(&mut self, arm: Arm, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        match (&mut self.keeper, &self.origin) {
            (Keeper::Server(server), Origin::Image(image)) => {
                server.restore(image).map_err(|error| LabError::Sandbox(arm, error))?;
            }
            _ => {
                return Err(LabError::Loads(format!(
                    "{arm} has no image to restore its tables from: there was no room for one; \
                     make room or leave `restore` out"
                )));
            }
        }
        self.come_back(arm, datasets)
    }

    /// After a start of the server: learns where it is, and warms it unless it is to be cold.
    fn come_back(&mut self, arm: Arm, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let Some(server) = self.keeper.server() else { return Ok(()) };
        self.connector = connector(self.dialect, server.endpoint());
        self.probe = Some(ServerProbe::of_process(server.pid()));
        match self.cache {
            Cache::Warm => self.read_tables(arm, datasets),
            Cache::Cold => Ok(()),
        }
    }

    fn read_tables(&self, arm: Arm, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let tables = datasets.iter().flat_map(|dataset| dataset.tables(self.dialect));
        let read = |client: &mut dyn Client| {
            tables.into_iter().try_for_each(|table| {
                let last = table.columns.last().map_or("1", String::as_str);
                client.query(&format!("SELECT max({last}) FROM {}", table.name))?;
                client.query(&format!("SELECT count(*) FROM {}", table.name)).map(|_| ())
            })
        };
        let warmed = self.connector.connect().and_then(|mut client| {
            read(&mut *client)?;
            client.close();
            Ok(())
        });
        warmed.map_err(|error| LabError::Load(arm, "reading the tables".to_owned(), error.into()))
    }

    /// Stops what we started and takes away what we made.
    ///
    /// # Errors
    /// A server that does not stop in time, or that does not let us take our tables away.
    pub fn take_down(self, arm: Arm) -> Result<(), LabError> {
        let sandbox = |error| LabError::Sandbox(arm, error);
        match self.keeper {
            Keeper::Server(server) => server.stop().map_err(sandbox),
            Keeper::Ensemble(ensemble) => ensemble.stop().map_err(sandbox),
            Keeper::Guest(guest) => guest
                .leave()
                .map_err(|error| LabError::Load(arm, "taking our tables away".to_owned(), error)),
            Keeper::Scratch { .. } | Keeper::Shared => Ok(()),
        }
    }

    fn start(
        setup: &SetUp<'_>,
        wanted: &ReleaseSpec,
        watch: &mut dyn Watch,
    ) -> Result<Station, LabError> {
        let (arm, product) = (setup.arm, wanted.product);
        let sandbox = |error| LabError::Sandbox(arm, error);
        let mut say = |text: &str| watch.progress(Progress::Stage(arm, text));
        let release =
            dbdyno_sandbox::get(setup.home, product, &wanted.version, &mut say).map_err(sandbox)?;
        let options = options(setup, wanted);
        let translation = options.translate(product, &release.version).map_err(sandbox)?;
        for told in translation.of_the_user() {
            let text = format!("{} ({})", told.assignment(), told.reason());
            watch.progress(Progress::Told(arm, &text));
        }
        let (origin, warnings) = begin(setup, wanted, &release, &options, watch)?;
        let mut say = |text: &str| watch.progress(Progress::Stage(arm, text));
        let keeper = launch(setup, &release, &options, &origin, &mut say).map_err(sandbox)?;
        let Some(server) = keeper.server() else { unreachable!("it was started just now") };
        let endpoint = server.endpoint();
        let connector = connector(product.dialect(), endpoint.clone());
        let port = match &endpoint.transport {
            dbdyno_model::Transport::Tcp(_, port) => port.to_string(),
            dbdyno_model::Transport::Unix(path) => path.clone(),
        };
        let directory = server.data_dir().parent().map(Path::to_owned).unwrap_or_default();
        let directory = directory.display().to_string();
        let tree = release.dir.display().to_string();
        let words = ensemble_words(&keeper);
        let mut instance = vec![(directory, "<sandbox>"), (tree, "<release>"), (port, "<port>")];
        instance.extend(words.iter().map(|(own, word)| (own.clone(), word.as_str())));
        let label = setup.spec.to_string();
        let mut environment = ask(arm, &label, &connector, product.dialect(), &instance)?;
        environment.set("server.origin", &*release.origin);
        environment.set(provenance::SOURCE, release.source.name());
        environment.set("server.cache", setup.spec.begin.cache.name());
        for (package, version) in &release.packages {
            environment.set(format!("package.{package}"), version);
        }
        for (name, value) in server.settings() {
            environment.set(format!("setting.{name}"), capture::general(value, &instance));
        }
        explain(&translation, &mut environment);
        let probe = ServerProbe::of_process(server.pid());
        capture::process(&probe, &instance, &mut environment);
        if let Keeper::Ensemble(ensemble) = &keeper {
            topology::describe(&mut environment, ensemble);
        }
        Ok(Station {
            connector,
            dialect: product.dialect(),
            probe: Some(probe),
            environment,
            warnings,
            keeper,
            origin,
            cache: setup.spec.begin.cache,
        })
    }

    fn visit(
        setup: &SetUp<'_>,
        url: &ServerUrl,
        other: Option<&Station>,
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
        let mut tell = |text: &str| watch.progress(Progress::Stage(arm, text));
        let token = other.and_then(|other| match &other.keeper {
            Keeper::Guest(guest) => Some(guest.token()),
            _ => None,
        });
        let tables = setup.datasets.iter().flat_map(|dataset| dataset.tables(url.dialect));
        let names = tables.map(|table| table.name).collect();
        let found = Guest::arrive(&endpoint, url.dialect, names, token, &mut tell);
        let keeper = match found {
            Ok(Found::Free(guest)) => Keeper::Guest(guest),
            Ok(Found::Shared) => Keeper::Shared,
            Err(LoadError::Wire(error, None)) => return Err(server(error)),
            Err(error) => {
                return Err(LabError::Load(arm, "preparing the database".to_owned(), error));
            }
        };
        let connector = connector(url.dialect, endpoint);
        let mut environment = ask(arm, &label, &connector, url.dialect, &[])?;
        let mut warnings = Vec::new();
        let probe = match ServerProbe::locate(&url.transport) {
            Ok(probe) => {
                capture::process(&probe, &[], &mut environment);
                Some(probe)
            }
            Err(reason) => {
                let text = format!("{arm}: the server's own cost is left blank: {reason}");
                warnings.push(Warning::new(Severity::Note, "server-not-observable", text));
                None
            }
        };
        let dialect = url.dialect;
        let (origin, cache) = (Origin::Filling, Cache::Warm);
        Ok(Station { connector, dialect, probe, environment, warnings, keeper, origin, cache })
    }

    fn embed(setup: &SetUp<'_>, pragmas: &[(String, String)]) -> Result<Station, LabError> {
        let arm = setup.arm;
        let scratch = setup.home.scratch(arm.name()).map_err(|e| LabError::Sandbox(arm, e))?;
        let path = scratch.path().join("arm.sqlite");
        let connector = Connector::Sqlite(SqliteFile { path, pragmas: pragmas.to_vec() });
        let label = setup.spec.to_string();
        let environment = ask(arm, &label, &connector, Dialect::Sqlite, &[])?;
        pragma::check(&connector, pragmas).map_err(|error| LabError::Server(arm, label, error))?;
        Ok(Self::embedded(connector, Dialect::Sqlite, environment, scratch))
    }

    fn embed_rocksdb(setup: &SetUp<'_>, options: &[(String, String)]) -> Result<Station, LabError> {
        let (arm, label) = (setup.arm, setup.spec.to_string());
        let scratch = setup.home.scratch(arm.name()).map_err(|e| LabError::Sandbox(arm, e))?;
        let options = RocksOptions::read(options).expect("a target is read when it is parsed");
        let opened = RocksArm::open(scratch.path(), &options, setup.memory_mb);
        let opened = opened.map_err(|error| LabError::Server(arm, label.clone(), error))?;
        let connector = Connector::Rocks(opened);
        let mut environment = ask(arm, &label, &connector, Dialect::Rocksdb, &[])?;
        told_to_be(&mut environment);
        Ok(Self::embedded(connector, Dialect::Rocksdb, environment, scratch))
    }

    fn embed_engine(setup: &SetUp<'_>, design: &Design) -> Result<Station, LabError> {
        let (arm, label) = (setup.arm, setup.spec.to_string());
        let scratch = setup.home.scratch(arm.name()).map_err(|e| LabError::Sandbox(arm, e))?;
        let opened = EngineArm::open(scratch.path(), design);
        let opened = opened.map_err(|error| LabError::Server(arm, label.clone(), error))?;
        let connector = Connector::Engine(opened);
        let mut environment = ask(arm, &label, &connector, Dialect::Engine, &[])?;
        told_to_be(&mut environment);
        Ok(Self::embedded(connector, Dialect::Engine, environment, scratch))
    }

    fn embedded(
        connector: Connector,
        dialect: Dialect,
        environment: Environment,
        scratch: Scratch,
    ) -> Station {
        Station {
            connector,
            dialect,
            probe: None,
            environment,
            warnings: Vec::new(),
            keeper: Keeper::Scratch { _directory: scratch },
            origin: Origin::Filling,
            cache: Cache::Warm,
        }
    }

    /// Makes and fills the tables, unless they are those of the other arm or come from an image.
    ///
    /// # Errors
    /// The server's refusal, or a request to stop.
    pub fn fill(&mut self, setup: &SetUp<'_>, watch: &mut dyn Watch) -> Result<(), LabError> {
        let sandbox = |error| LabError::Sandbox(setup.arm, error);
        let made = match std::mem::replace(&mut self.origin, Origin::Filling) {
            Origin::Filling => return self.fill_tables(setup, watch),
            Origin::Image(image) => (image, "made earlier"),
            Origin::Upgrading(_, key) => {
                let Keeper::Server(server) = &mut self.keeper else { return Ok(()) };
                let mut say = |text: &str| watch.progress(Progress::Stage(setup.arm, text));
                match server.keep_as_image(setup.home, &key, &mut say).map_err(sandbox)? {
                    Some(image) => (image, "made by this run"),
                    None => return self.come_back(setup.arm, setup.datasets),
                }
            }
            Origin::Making(key) => {
                // The other arm may have made it since we looked.
                let found = Image::find(setup.home, &key);
                if found.is_none() {
                    self.fill_tables(setup, watch)?;
                }
                let Keeper::Server(server) = &mut self.keeper else { return Ok(()) };
                let mut say = |text: &str| watch.progress(Progress::Stage(setup.arm, text));
                match found {
                    Some(image) => {
                        server.restore(&image).map_err(sandbox)?;
                        (image, "made by this run")
                    }
                    None => match server.keep_as_image(setup.home, &key, &mut say) {
                        Ok(Some(image)) => (image, "made by this run"),
                        Ok(None) => return self.come_back(setup.arm, setup.datasets),
                        Err(error) => return Err(sandbox(error)),
                    },
                }
            }
        };
        let (image, when) = made;
        self.environment.set("image.key", &*image.name);
        self.environment.set("image.content", format!("{:016x}", image.content_hash()));
        self.environment.set("image.origin", when);
        self.origin = Origin::Image(image);
        self.come_back(setup.arm, setup.datasets)
    }

    fn fill_tables(&self, setup: &SetUp<'_>, watch: &mut dyn Watch) -> Result<(), LabError> {
        if matches!(self.keeper, Keeper::Shared) {
            return Ok(());
        }
        fill_all(&self.connector, self.dialect, setup, watch)?;
        self.write_back().map_err(|error| {
            LabError::Load(setup.arm, "writing back the filled tables".to_owned(), error)
        })
    }

    /// Lets PostgreSQL write what filling has changed, so that the first cell does not pay for it.
    fn write_back(&self) -> Result<(), LoadError> {
        if self.dialect != Dialect::Postgres {
            return Ok(());
        }
        let mut client = self.connector.connect()?;
        match client.run("CHECKPOINT") {
            Err(error) if error.is_fatal() => return Err(error.into()),
            // Only a superuser may; elsewhere the checkpoint comes when it comes.
            Err(_) | Ok(_) => client.close(),
        }
        Ok(())
    }

    /// Asks what must hold of the tables, where anything must.
    ///
    /// # Errors
    /// [`LoadError::WrongAnswer`] if it does not hold, or the server's refusal.
    pub fn check(
        &self,
        arm: Arm,
        datasets: &[Arc<dyn Dataset>],
        watch: &mut dyn Watch,
    ) -> Result<(), LabError> {
        for dataset in datasets {
            if dataset.invariants(self.dialect).is_empty() {
                continue;
            }
            watch.progress(Progress::Stage(arm, "checking the consistency of the tables"));
            let checked = check_invariants(&self.connector, self.dialect, &**dataset);
            checked
                .map_err(|error| LabError::Load(arm, "checking the tables".to_owned(), error))?;
        }
        Ok(())
    }
}

impl Keeper {
    /// The server that is asked, if it is ours.
    fn server(&self) -> Option<&Server> {
        match self {
            Keeper::Server(server) => Some(server),
            Keeper::Ensemble(ensemble) => Some(ensemble.first()),
            Keeper::Scratch { .. } | Keeper::Guest(_) | Keeper::Shared => None,
        }
    }
}

/// Starts a server that is ours, or several that belong together.
fn launch(
    setup: &SetUp<'_>,
    release: &Release,
    options: &Options,
    origin: &Origin,
    say: &mut dyn FnMut(&str),
) -> Result<Keeper, SandboxError> {
    let (home, name) = (setup.home, setup.arm.name());
    let image = match origin {
        Origin::Image(image) | Origin::Upgrading(image, _) => Some(image),
        Origin::Filling | Origin::Making(_) => None,
    };
    if let Some(topology) = setup.spec.begin.topology {
        let ensemble = Ensemble::start(home, release, options, topology, image, name, say)?;
        return Ok(Keeper::Ensemble(Box::new(ensemble)));
    }
    let server = match image {
        Some(image) => Server::start_from(home, release, options, name, image, say),
        None => Server::start(home, release, options, name, say),
    };
    Ok(Keeper::Server(Box::new(server?)))
}

/// Words of servers that belong together which differ from instance to instance.
fn ensemble_words(keeper: &Keeper) -> Vec<(String, String)> {
    match keeper {
        Keeper::Ensemble(ensemble) => ensemble.own_words(),
        _ => Vec::new(),
    }
}

/// Makes and fills the tables there.
///
/// # Errors
/// The server's refusal, or a request to stop.
pub(crate) fn fill_all(
    connector: &Connector,
    dialect: Dialect,
    setup: &SetUp<'_>,
    watch: &mut dyn Watch,
) -> Result<(), LabError> {
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
    let mut fill_one =
        |dataset: &Arc<dyn Dataset>| fill(connector, dialect, &**dataset, setup.stop, &mut tell);
    let filled = setup.datasets.iter().try_for_each(&mut fill_one);
    filled.map_err(|error| LabError::Load(arm, "filling the tables".to_owned(), error))
}

/// How a server of this arm is set up, whatever release it is.
pub(crate) fn options(setup: &SetUp<'_>, wanted: &ReleaseSpec) -> Options {
    let options = Options::for_host(setup.memory_mb).for_clients(setup.clients);
    with_room(options.with(&wanted.settings), setup.datasets)
}

/// Room for these tables: their rows as text, twice, for what indexes and pages take.
fn with_room(options: Options, datasets: &[Arc<dyn Dataset>]) -> Options {
    let bytes: u64 = datasets.iter().map(|dataset| dataset.bytes()).sum();
    Options { tables_mb: options.tables_mb.max(2 * bytes / (1 << 20)), ..options }
}

/// Where the tables of a release come from, and what the reader must know of that.
fn begin(
    setup: &SetUp<'_>,
    wanted: &ReleaseSpec,
    release: &Release,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<(Origin, Vec<Warning>), LabError> {
    let found = |older: Option<&Older>| {
        let found = origin(setup, release, options, older);
        found.map_err(|error| LabError::Sandbox(setup.arm, error))
    };
    let Some(from) = &setup.spec.begin.upgrade_from else { return Ok((found(None)?, Vec::new())) };
    let older = Older::find(setup, wanted, from, watch)?;
    let warning = older.warning(setup.arm, release)?;
    let origin = match found(Some(&older))? {
        Origin::Making(key) => Origin::Upgrading(older.image(setup, wanted, watch)?, key),
        other => other,
    };
    Ok((origin, vec![warning]))
}

fn origin(
    setup: &SetUp<'_>,
    release: &Release,
    options: &Options,
    older: Option<&Older>,
) -> Result<Origin, SandboxError> {
    let begin = &setup.spec.begin;
    let policy = match (image::policy(begin.image, setup.restores, setup.datasets), begin.topology)
    {
        // An image is made of a server that is alone; members can start as copies of it.
        (Policy::UseOrMake, Some(_)) => Policy::Use,
        (Policy::Make, Some(_)) => Policy::Fill,
        (Policy::Use, None) if older.is_some() => Policy::UseOrMake,
        (policy, _) => policy,
    };
    if policy == Policy::Fill {
        return Ok(Origin::Filling);
    }
    let mut content = image::content(setup.datasets, release.product.dialect());
    content.extend(older.map(|older| format!("upgraded from {}", older.key.name())));
    let key = ImageKey::new(release, options, &content)?;
    let found = Image::find(setup.home, &key);
    Ok(match (policy, found) {
        (Policy::Make, found) => {
            found.map(|image| image.remove(setup.home)).transpose()?;
            Origin::Making(key)
        }
        (_, Some(image)) => Origin::Image(image),
        (Policy::UseOrMake, None) => Origin::Making(key),
        (Policy::Fill | Policy::Use, None) => Origin::Filling,
    })
}

/// What the data directory was made with, and for each setting that is due to the user, why it is
/// told and what it replaced.
fn explain(translation: &Translation, environment: &mut Environment) {
    for told in &translation.made_with {
        environment.set(format!("setting.{}", told.name), &*told.value);
    }
    for told in translation.of_the_user() {
        environment.set(format!("reason.{}", told.name), told.reason());
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

/// Connections in this dialect to there.
pub(crate) fn connector(dialect: Dialect, endpoint: Endpoint) -> Connector {
    match dialect {
        Dialect::Mysql => Connector::Mysql(endpoint),
        Dialect::Postgres => Connector::Postgres(endpoint),
        Dialect::Sqlite | Dialect::Rocksdb | Dialect::Engine => {
            unreachable!("it has no endpoint")
        }
    }
}

/// Notes that all that an arm says of itself is what it was told.
fn told_to_be(environment: &mut Environment) {
    for (name, value) in environment.facts.clone() {
        if let Some(name) = name.strip_prefix("variable.") {
            environment.set(format!("setting.{name}"), value);
        }
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
        let environment = capture::settings(&mut *client, dialect, instance)?;
        client.close();
        Ok(environment)
    });
    asked.map_err(|error| LabError::Server(arm, label.to_owned(), error))
}
