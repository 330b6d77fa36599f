//! An arm, set up: running, filled, watched, and taken down again.
//!
//! ```text
//!   open ─► fill ─► asked … ─► restarted │ restored ─► asked … ─► take_down
//! ```
//!
//! How it begins is in `open`, what becomes of its tables in `fill`; here is what is done to it
//! from then on.

use std::path::PathBuf;
use std::sync::Arc;

use dbdyno_host::SharedHost;
use dbdyno_load::{Clock, Connector};
use dbdyno_model::{ArmIndex, Cache, Dialect, Environment, Warning};
use dbdyno_probe::ServerProbe;
use dbdyno_sandbox::{EngineServer, Ensemble, Scratch, Server, Valgrind};
use dbdyno_wire::Client;
use dbdyno_workload::Dataset;

use super::connecting::connector_for;
use super::guest::Guest;
use super::image::Origin;
use super::set_up::{SetUp, slowdown_warnings};
use crate::error::LabError;
use crate::host_check::ArmWatch;
use crate::topology;

/// An arm that can be asked.
pub struct Station {
    /// Where its connections come from.
    pub connector: Connector,
    /// How its SQL is spelled.
    pub dialect: Dialect,
    /// The machine that it runs on.
    pub host: SharedHost,
    /// Its processes, if they can be observed.
    pub probe: Option<ServerProbe>,
    /// What is true of it.
    pub environment: Environment,
    /// What the reader of its numbers must know.
    pub warnings: Vec<Warning>,
    /// The time in which it lives.
    pub clock: Clock,
    pub(super) keeper: Keeper,
    pub(super) origin: Origin,
    pub(super) cache: Cache,
}

/// Under which name the environment has the kind of its source.
pub(crate) const SOURCE: &str = "server.source";

/// What has to be taken down afterwards.
pub(super) enum Keeper {
    Server(Box<Server>),
    Ensemble(Box<Ensemble>),
    /// The reference engine in a process of its own.
    Engine(Box<EngineServer>),
    /// A database in our threads; its directory is held for its `Drop`.
    Scratch {
        _directory: Scratch,
    },
    Guest(Box<Guest>),
    /// Nobody: the arm is a model.
    Mock,
    /// The tables are those of this arm.
    Shared(ArmIndex),
}

impl Station {
    /// Another view of this arm, whose tables are there already: for comparing a server with
    /// itself.
    pub(crate) fn shared_view(&self, this: ArmIndex, setup: &SetUp<'_>) -> Station {
        Station {
            connector: self.connector.clone(),
            dialect: self.dialect,
            host: self.host.clone(),
            probe: self.probe.clone(),
            environment: self.environment.clone(),
            warnings: slowdown_warnings(setup),
            clock: self.clock.clone(),
            keeper: Keeper::Shared(this),
            origin: Origin::Filling,
            cache: Cache::Warm,
        }
    }

    /// Whether its tables are those of another arm, too.
    pub(crate) fn shares_tables(&self) -> bool {
        self.shares_tables_of().is_some()
    }

    /// Whose tables it has, where they are not its own.
    pub(crate) fn shares_tables_of(&self) -> Option<ArmIndex> {
        match self.keeper {
            Keeper::Shared(arm) => Some(arm),
            _ => None,
        }
    }

    /// Whether nobody but us uses it: we started it, or it lives in our threads.
    pub(crate) fn is_ours(&self) -> bool {
        !matches!(self.keeper, Keeper::Guest(_) | Keeper::Shared(_))
    }

    /// Whether it is a model, which runs nowhere.
    pub(crate) fn is_mock(&self) -> bool {
        matches!(self.keeper, Keeper::Mock)
    }

    /// Keeps its server on these processors, if it has one that is ours.
    ///
    /// # Errors
    /// The kernel's refusal.
    pub(crate) fn pin_server(&self, arm: ArmIndex, processors: &[usize]) -> Result<(), LabError> {
        let sandbox = |error| LabError::Sandbox(arm, error);
        match &self.keeper {
            Keeper::Server(server) => server.pin_to_processors(processors).map_err(sandbox),
            Keeper::Ensemble(ensemble) => ensemble.pin_to_processors(processors).map_err(sandbox),
            Keeper::Engine(server) => server.pin_to_processors(processors).map_err(sandbox),
            Keeper::Scratch { .. } | Keeper::Guest(_) | Keeper::Mock | Keeper::Shared(_) => Ok(()),
        }
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
    pub(crate) fn follower_probes(&self) -> Vec<ServerProbe> {
        let members = self.ensemble().into_iter().flat_map(Ensemble::members).skip(1);
        members.map(|(_, member)| ServerProbe::of_process(&self.host, member.pid())).collect()
    }

    /// The processes that its server began with, of those that follow it, too.
    pub(crate) fn server_processes(&self) -> Vec<u32> {
        let own = self.probe.iter().map(ServerProbe::root_pid);
        own.chain(self.follower_probes().iter().map(ServerProbe::root_pid)).collect()
    }

    /// How it is watched between rounds. RocksDB and the engine work in threads of
    /// our own process.
    pub(crate) fn arm_watch(&self) -> ArmWatch {
        match (&self.probe, &self.connector) {
            (Some(probe), _) => {
                ArmWatch::Servers([vec![probe.clone()], self.follower_probes()].concat())
            }
            (None, Connector::Mock(arm)) => ArmWatch::Modelled(arm.clone()),
            (None, Connector::Sqlite(_)) => ArmWatch::Servers(Vec::new()),
            (None, _) => ArmWatch::Unseen,
        }
    }

    /// The image that it started from, and when that was made, in words.
    pub(crate) fn image_description(&self) -> Option<String> {
        let Origin::Image(image) = &self.origin else { return None };
        Some(format!("{} ({})", image.name, self.environment.get("image.origin")))
    }

    /// Whether each of its starts begins with nothing in memory.
    pub(crate) fn begins_cold(&self) -> bool {
        self.cache == Cache::Cold
    }

    /// Starts the server again on its data, or opens the database in our threads again, and reads
    /// the tables once, so that memory holds them as before; or, if it is to begin cold, sees to it
    /// that nothing is in memory. Nobody may be connected.
    ///
    /// # Errors
    /// A server that does not stop or does not come back.
    pub(crate) fn restart(
        &mut self,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
    ) -> Result<(), LabError> {
        let restarted = match (&mut self.keeper, self.cache) {
            (Keeper::Server(server), Cache::Warm) => server.restart(),
            (Keeper::Server(server), Cache::Cold) => server.restart_cold(),
            (Keeper::Ensemble(ensemble), _) => ensemble.restart(),
            (Keeper::Engine(server), _) => server.restart(),
            (Keeper::Scratch { .. } | Keeper::Mock, _) => return self.open_again(arm, datasets),
            (Keeper::Guest(_) | Keeper::Shared(_), _) => return Ok(()),
        };
        restarted.map_err(|error| LabError::Sandbox(arm, error))?;
        self.come_back(arm, datasets)
    }

    fn open_again(&mut self, arm: ArmIndex, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let open = std::mem::replace(&mut self.connector, Connector::Null);
        self.connector = open
            .open_again()
            .map_err(|error| LabError::Load(arm, "opening it again".to_owned(), error.into()))?;
        match self.dialect {
            // It has read itself: it has no words for that.
            Dialect::Rocksdb => Ok(()),
            _ => self.read_tables(arm, datasets),
        }
    }

    /// Begins to start a server of ours that is alone again under callgrind; returns where it
    /// leaves its files. It is not there before [`Station::await_counted`] says so.
    ///
    /// # Errors
    /// Those of [`Station::restart`].
    pub(crate) fn begin_counted(
        &mut self,
        arm: ArmIndex,
        valgrind: &Valgrind,
    ) -> Result<PathBuf, LabError> {
        let Keeper::Server(server) = &mut self.keeper else {
            return Err(LabError::Counting(arm, "it is no server of ours".to_owned()));
        };
        server.begin_counted(valgrind).map_err(|error| LabError::Sandbox(arm, error))?;
        Ok(server.count_files())
    }

    /// Waits for a server that begins to be counted.
    ///
    /// # Errors
    /// Those of [`Station::restart`].
    pub(crate) fn await_counted(
        &mut self,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
    ) -> Result<(), LabError> {
        if let Keeper::Server(server) = &mut self.keeper {
            server.await_counted().map_err(|error| LabError::Sandbox(arm, error))?;
            self.come_back(arm, datasets)?;
        }
        Ok(())
    }

    /// Starts the server on a fresh copy of the image that it started from.
    ///
    /// # Errors
    /// [`LabError::Loads`] where there is none, and those of a start.
    pub(crate) fn restore_image(
        &mut self,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
    ) -> Result<(), LabError> {
        match (&mut self.keeper, &self.origin) {
            (Keeper::Server(server), Origin::Image(image)) => {
                server.restore_image(image).map_err(|error| LabError::Sandbox(arm, error))?;
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
    pub(super) fn come_back(
        &mut self,
        arm: ArmIndex,
        datasets: &[Arc<dyn Dataset>],
    ) -> Result<(), LabError> {
        let (endpoint, pid) = match &self.keeper {
            Keeper::Engine(server) => (server.endpoint(), server.pid()),
            other => match other.server() {
                Some(server) => (server.endpoint(), server.pid()),
                None => return Ok(()),
            },
        };
        self.connector = connector_for(self.dialect, endpoint);
        self.probe = Some(ServerProbe::of_process(&self.host, pid));
        match self.cache {
            Cache::Warm => self.read_tables(arm, datasets),
            Cache::Cold => Ok(()),
        }
    }

    fn read_tables(&self, arm: ArmIndex, datasets: &[Arc<dyn Dataset>]) -> Result<(), LabError> {
        let tables = datasets.iter().flat_map(|dataset| dataset.tables(self.dialect));
        let read = |client: &mut dyn Client| {
            tables.into_iter().try_for_each(|table| {
                let last = table.columns.last().map_or("1", String::as_str);
                // PostgreSQL has no greatest of bits, documents and others.
                let read = if self.dialect == Dialect::Postgres { "count" } else { "max" };
                client.query(&format!("SELECT {read}({last}) FROM {}", table.name))?;
                client.query(&format!("SELECT count(*) FROM {}", table.name)).map(|_| ())
            })
        };
        let warmed = self.connector.connect_for_work().and_then(|mut client| {
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
    pub fn take_down(self, arm: ArmIndex) -> Result<(), LabError> {
        let sandbox = |error| LabError::Sandbox(arm, error);
        match self.keeper {
            Keeper::Server(server) => server.stop().map_err(sandbox),
            Keeper::Ensemble(ensemble) => ensemble.stop().map_err(sandbox),
            Keeper::Engine(server) => server.stop().map_err(sandbox),
            Keeper::Guest(guest) => guest
                .leave_database()
                .map_err(|error| LabError::Load(arm, "taking our tables away".to_owned(), error)),
            Keeper::Scratch { .. } | Keeper::Mock | Keeper::Shared(_) => Ok(()),
        }
    }
}

impl Keeper {
    /// The release that is asked, if it is a server of ours.
    pub(super) fn server(&self) -> Option<&Server> {
        match self {
            Keeper::Server(server) => Some(server),
            Keeper::Ensemble(ensemble) => Some(ensemble.first()),
            Keeper::Engine(_)
            | Keeper::Scratch { .. }
            | Keeper::Guest(_)
            | Keeper::Mock
            | Keeper::Shared(_) => None,
        }
    }
}
