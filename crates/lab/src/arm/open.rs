//! How an arm comes to be: a server of ours, somebody else's, or one in our own threads.
//!
//! ```text
//!   release   got ─ tables: image, upgrade or filling ─ started, alone or with others ─┐
//!   URL       found, and our tables marked ────────────────────────────────────────────┼─ asked
//!   engine with wire=on       a directory, and a process of its own ───────────────────┤
//!   sqlite, rocksdb, engine   a directory ─────────────────────────────────────────────┘
//! ```

use std::path::Path;

use dbdyno_load::{Clock, Connector, EngineArm, LoadError, MockArm, RocksArm, SqliteFile};
use dbdyno_model::design::Wire;
use dbdyno_model::{
    ArmIndex, Arms, Cache, Design, Dialect, Environment, MockModel, ReleaseSpec, RocksOptions,
    ServerUrl, Severity, Target, Transport, Warning,
};
use dbdyno_probe::ServerProbe;
use dbdyno_sandbox::{
    EngineServer, Ensemble, Image, ImageKey, LaunchOptions, Release, SandboxError, Server,
    Translation,
};
use dbdyno_wire::WireError;

use super::connecting::{self, connector_for};
use super::guest::{DatabaseState, Destination, Guest};
use super::image::{self, Origin, Policy};
use super::pragma;
use super::set_up::{SetUp, options, slowdown_warnings};
use super::station::{Keeper, SOURCE, Station};
use super::upgrade::Older;
use crate::capture;
use crate::error::LabError;
use crate::topology;
use crate::watch::{Progress, Watch, stages};

/// Gets and starts an arm. A server by URL may turn out to be that of one of the `others`; then its
/// tables are shared.
///
/// # Errors
/// Whatever is in the way; nothing stays behind then.
pub fn open_station(
    setup: &SetUp<'_>,
    others: &Arms<Station>,
    watch: &mut dyn Watch,
) -> Result<Station, LabError> {
    let mut station = match &setup.spec.target {
        Target::Release(release) => start(setup, release, watch)?,
        Target::Url(url) => visit(setup, url, others, watch)?,
        Target::Sqlite(pragmas) => embed(setup, watch, |at| sqlite(at, pragmas))?,
        Target::Rocksdb(options) => {
            embed(setup, watch, |at| rocksdb(at, options, setup.memory_mb))?
        }
        Target::Engine(design) if design.wire == Wire::On => served(setup, design, watch)?,
        Target::Engine(design) => {
            embed(setup, watch, |at| EngineArm::open(at, design).map(Connector::Engine))?
        }
        Target::Mock(words) => mock(setup, words),
    };
    station.warnings.extend(slowdown_warnings(setup));
    Ok(station)
}

/// Gets, sets up and starts a server that is ours.
fn start(
    setup: &SetUp<'_>,
    wanted: &ReleaseSpec,
    watch: &mut dyn Watch,
) -> Result<Station, LabError> {
    let (arm, product) = (setup.arm, wanted.product);
    let sandbox = |error| LabError::Sandbox(arm, error);
    let version = &wanted.version;
    let release = dbdyno_sandbox::get(setup.home, product, version, &mut stages(watch, arm))
        .map_err(sandbox)?;
    let options = options(setup, wanted);
    let translation = options.translate_for(product, &release.version).map_err(sandbox)?;
    for told in translation.of_the_user() {
        let text = format!("{} ({})", told.assignment(), told.reason_text());
        watch.report_progress(Progress::Told(arm, &text));
    }
    let (origin, warnings) = begin(setup, wanted, &release, &options, watch)?;
    let keeper =
        launch(setup, &release, &options, &origin, &mut stages(watch, arm)).map_err(sandbox)?;
    let Some(server) = keeper.server() else { unreachable!("it was started just now") };
    let endpoint = server.endpoint();
    let connector = connector_for(product.dialect(), endpoint.clone());
    let port = match &endpoint.transport {
        Transport::Tcp(_, port) => port.to_string(),
        Transport::Unix(path) => path.clone(),
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
    environment.set(SOURCE, release.source.name());
    environment.set("server.cache", setup.spec.begin.cache.name());
    for (package, version) in &release.packages {
        environment.set(format!("package.{package}"), version);
    }
    for (name, value) in joined(server.settings()) {
        environment
            .set(format!("setting.{name}"), dbdyno_server::without_instance(&value, &instance));
    }
    explain(&translation, &mut environment);
    let probe = ServerProbe::of_process(setup.home.host(), server.pid());
    capture::note_process(&probe, &instance, &mut environment);
    if let Keeper::Ensemble(ensemble) = &keeper {
        topology::describe_ensemble(&mut environment, ensemble);
    }
    Ok(Station {
        connector,
        dialect: product.dialect(),
        host: setup.home.host().clone(),
        probe: Some(probe),
        environment,
        warnings,
        clock: setup.clock.clone(),
        keeper,
        origin,
        cache: setup.spec.begin.cache,
    })
}

/// Looks at a server that is there already.
fn visit(
    setup: &SetUp<'_>,
    url: &ServerUrl,
    others: &Arms<Station>,
    watch: &mut dyn Watch,
) -> Result<Station, LabError> {
    let (arm, label) = (setup.arm, setup.spec.to_string());
    let server = |error| LabError::Server(arm, label.clone(), error);
    let stage = format!("connecting to {}", url.transport);
    watch.report_progress(Progress::Stage(arm, &stage));
    let endpoint = connecting::endpoint(url).map_err(server)?;
    let mut tell = |text: &str| watch.report_progress(Progress::Stage(arm, text));
    let guests = others.iter().filter_map(|(arm, other)| match &other.keeper {
        Keeper::Guest(guest) => Some((arm, &**guest)),
        _ => None,
    });
    let (arms, guests): (Vec<ArmIndex>, Vec<&Guest>) = guests.unzip();
    let tables = setup.datasets.iter().flat_map(|dataset| dataset.tables(url.dialect));
    let names = tables.map(|table| table.name).collect();
    let destination = Destination { home: setup.home, endpoint: &endpoint, dialect: url.dialect };
    let found = Guest::enter_database(&destination, names, &guests, &mut tell);
    let keeper = match found {
        Ok(DatabaseState::Free(guest)) => Keeper::Guest(guest),
        Ok(DatabaseState::Shared(at)) => Keeper::Shared(arms[at]),
        Err(LoadError::Wire(error, None)) => return Err(server(error)),
        Err(error) => {
            return Err(LabError::Load(arm, "preparing the database".to_owned(), error));
        }
    };
    let connector = connector_for(url.dialect, endpoint);
    let mut environment = ask(arm, &label, &connector, url.dialect, &[])?;
    let mut warnings: Vec<Warning> = encrypted(arm, &environment).into_iter().collect();
    let probe = match ServerProbe::locate(setup.home.host(), &url.transport) {
        Ok(probe) => {
            // A background server of this home runs the program that an arm of ours would.
            let tree = setup.home.release_with(&probe.binary_path().unwrap_or_default());
            let instance = tree.map(|tree| (tree.display().to_string(), "<release>"));
            capture::note_process(&probe, instance.as_slice(), &mut environment);
            Some(probe)
        }
        Err(reason) => {
            let text = format!("{arm}: the cost of the server is not measured: {reason}");
            warnings.push(Warning::new(Severity::Note, "server-not-observable", text));
            None
        }
    };
    let dialect = url.dialect;
    let (origin, cache) = (Origin::Filling, Cache::Warm);
    let clock = setup.clock.clone();
    let host = setup.home.host().clone();
    Ok(Station {
        connector,
        dialect,
        host,
        probe,
        environment,
        warnings,
        clock,
        keeper,
        origin,
        cache,
    })
}

/// What is told of an arm that is reached encrypted, wherever its run is shown: part of each
/// latency is due to that, in the server and in the client.
fn encrypted(arm: ArmIndex, environment: &Environment) -> Option<Warning> {
    (environment.get("connection.encrypted") == "yes").then(|| {
        let [version, cipher] = ["connection.tls", "connection.cipher"];
        let (version, cipher) = (environment.get(version), environment.get(cipher));
        let text = format!("{arm}: its connections are encrypted, {version} {cipher}");
        Warning::new(Severity::Note, "encrypted", text)
    })
}

/// Opens an arm in a directory of its own, which lives in our threads.
fn embed(
    setup: &SetUp<'_>,
    watch: &mut dyn Watch,
    open: impl FnOnce(&Path) -> Result<Connector, WireError>,
) -> Result<Station, LabError> {
    let (arm, label, dialect) = (setup.arm, setup.spec.to_string(), setup.spec.dialect());
    let mut say = stages(watch, arm);
    let directory = setup.home.create_scratch(&arm.to_string(), &mut say);
    let directory = directory.map_err(|error| LabError::Sandbox(arm, error))?;
    let opened = open(directory.path());
    let connector = opened.map_err(|error| LabError::Server(arm, label.clone(), error))?;
    let mut environment = ask(arm, &label, &connector, dialect, &[])?;
    if dialect != Dialect::Sqlite {
        told_to_be(&mut environment);
    }
    Ok(Station {
        connector,
        dialect,
        host: setup.home.host().clone(),
        probe: None,
        environment,
        warnings: Vec::new(),
        clock: setup.clock.clone(),
        keeper: Keeper::Scratch { _directory: directory },
        origin: Origin::Filling,
        cache: Cache::Warm,
    })
}

/// Starts the reference engine in a process of its own.
fn served(setup: &SetUp<'_>, design: &Design, watch: &mut dyn Watch) -> Result<Station, LabError> {
    let (arm, label, dialect) = (setup.arm, setup.spec.to_string(), setup.spec.dialect());
    watch.report_progress(Progress::Stage(arm, "starting the engine in a process of its own"));
    let mut say = stages(watch, arm);
    let server = EngineServer::start(setup.home, design, &arm.to_string(), &mut say);
    let server = server.map_err(|error| LabError::Sandbox(arm, error))?;
    let endpoint = server.endpoint();
    let Transport::Tcp(_, port) = &endpoint.transport else { unreachable!("it listens on TCP") };
    let instance = [(port.to_string(), "<port>")];
    let connector = connector_for(dialect, endpoint.clone());
    let mut environment = ask(arm, &label, &connector, dialect, &instance)?;
    told_to_be(&mut environment);
    let probe = ServerProbe::of_process(setup.home.host(), server.pid());
    capture::note_process(&probe, &instance, &mut environment);
    Ok(Station {
        connector,
        dialect,
        host: setup.home.host().clone(),
        probe: Some(probe),
        environment,
        warnings: Vec::new(),
        clock: setup.clock.clone(),
        keeper: Keeper::Engine(Box::new(server)),
        origin: Origin::Filling,
        cache: Cache::Warm,
    })
}

/// An arm of which there is nothing but its words.
fn mock(setup: &SetUp<'_>, words: &[(String, String)]) -> Station {
    let model = MockModel::read(words).expect("a target is read when it is parsed");
    let Clock::Virtual(clock) = setup.clock else {
        unreachable!("a plan with a model is carried out in virtual time")
    };
    let mut environment = Environment::default();
    environment.set("server.version", "mock");
    Station {
        connector: Connector::Mock(MockArm::open(model, setup.arm, clock.clone())),
        dialect: setup.spec.dialect(),
        host: setup.home.host().clone(),
        probe: None,
        environment,
        warnings: Vec::new(),
        clock: setup.clock.clone(),
        keeper: Keeper::Mock,
        origin: Origin::Filling,
        cache: Cache::Warm,
    }
}

fn sqlite(directory: &Path, pragmas: &[(String, String)]) -> Result<Connector, WireError> {
    let file = SqliteFile { path: directory.join("arm.sqlite"), pragmas: pragmas.to_vec() };
    let connector = Connector::Sqlite(file);
    pragma::check_pragmas(&connector, pragmas)?;
    Ok(connector)
}

fn rocksdb(
    directory: &Path,
    options: &[(String, String)],
    memory_mb: u64,
) -> Result<Connector, WireError> {
    let options = RocksOptions::read(options).expect("a target is read when it is parsed");
    RocksArm::open(directory, &options, memory_mb).map(Connector::Rocks)
}

/// Starts a server that is ours, or several that belong together.
fn launch(
    setup: &SetUp<'_>,
    release: &Release,
    options: &LaunchOptions,
    origin: &Origin,
    say: &mut dyn FnMut(&str),
) -> Result<Keeper, SandboxError> {
    let (home, name) = (setup.home, &*setup.arm.to_string());
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

/// Where the tables of a release come from, and what the reader must know of that.
fn begin(
    setup: &SetUp<'_>,
    wanted: &ReleaseSpec,
    release: &Release,
    options: &LaunchOptions,
    watch: &mut dyn Watch,
) -> Result<(Origin, Vec<Warning>), LabError> {
    let found = |older: Option<&Older>, watch: &mut dyn Watch| {
        let found = origin(setup, release, options, older, watch);
        found.map_err(|error| LabError::Sandbox(setup.arm, error))
    };
    let Some(from) = &setup.spec.begin.upgrade_from else {
        return Ok((found(None, watch)?, Vec::new()));
    };
    let older = Older::find(setup, wanted, from, watch)?;
    let warning = older.upgrade_warning(setup.arm, release)?;
    let origin = match found(Some(&older), watch)? {
        Origin::Making(key) => Origin::Upgrading(older.ensure_image(setup, wanted, watch)?, key),
        other => other,
    };
    Ok((origin, vec![warning]))
}

fn origin(
    setup: &SetUp<'_>,
    release: &Release,
    options: &LaunchOptions,
    older: Option<&Older>,
    watch: &mut dyn Watch,
) -> Result<Origin, SandboxError> {
    let begin = &setup.spec.begin;
    let policy =
        match (image::image_policy(begin.image, setup.restores, setup.datasets), begin.topology) {
            // An image is made of a server that is alone; members can start as copies of it.
            (Policy::UseOrMake, Some(_)) => Policy::Use,
            (Policy::Make, Some(_)) => Policy::Fill,
            (Policy::Use, None) if older.is_some() => Policy::UseOrMake,
            (policy, _) => policy,
        };
    if policy == Policy::Fill {
        return Ok(Origin::Filling);
    }
    let mut content = image::content_lines(setup.datasets, release.product.dialect());
    content.extend(older.map(|older| format!("upgraded from {}", older.key.name())));
    let key = ImageKey::new(release, options, &content)?;
    let found = Image::find(setup.home, &key);
    Ok(match (policy, found) {
        (Policy::Make, found) => {
            let mut say = stages(watch, setup.arm);
            found.map(|image| image.remove(setup.home, &mut say)).transpose()?;
            Origin::Making(key)
        }
        (_, Some(image)) => Origin::Image(image),
        (Policy::UseOrMake, None) => Origin::Making(key),
        (Policy::Fill | Policy::Use, None) => Origin::Filling,
    })
}

/// Settings by their names: of those that a server adds up, all values in their order.
fn joined(settings: &[(String, String)]) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = Vec::with_capacity(settings.len());
    for (name, value) in settings {
        match all.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => *values = format!("{values}, {value}"),
            None => all.push((name.clone(), value.clone())),
        }
    }
    all
}

/// What the data directory was made with, and for each setting that is due to the user, why it is
/// told and what it replaced.
fn explain(translation: &Translation, environment: &mut Environment) {
    for told in &translation.made_with {
        environment.set(format!("setting.{}", told.name), &*told.value);
    }
    for told in translation.of_the_user() {
        environment.set(format!("reason.{}", told.name), told.reason_text());
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
    arm: ArmIndex,
    label: &str,
    connector: &Connector,
    dialect: Dialect,
    instance: &[(String, &str)],
) -> Result<Environment, LabError> {
    let asked = connector.connect_to_ask().and_then(|mut client| {
        let mut environment = dbdyno_server::settings(&mut *client, dialect, instance)?;
        client.close();
        capture::leave_out_password(connector, &mut environment);
        Ok(environment)
    });
    asked.map_err(|error| LabError::Server(arm, label.to_owned(), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_adds_up_is_noted_whole() {
        let told = [("replicate_do_db", "a"), ("sync_binlog", "1"), ("replicate_do_db", "b")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let noted = joined(&told);
        let noted: Vec<(&str, &str)> =
            noted.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(noted, [("replicate_do_db", "a, b"), ("sync_binlog", "1")]);
    }
}
