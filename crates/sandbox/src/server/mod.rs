//! A server of our own, from its start to its end.
//!
//! ```text
//!   template ──copy──▶ run/NAME-PID-N/s ──fork──▶ port lost? ──another port──┐
//!                                          │  ▲                              │
//!                                          ▼  └──────────────────────────────┘
//!                                   first login that answers with our data directory ──▶ Server
//! ```
//!
//! How it comes up is in `launch`, how it becomes an image and comes out of one in `images`,
//! how its instructions are counted in `counted`.

mod counted;
mod files;
mod guard;
mod images;
mod launch;
pub(crate) mod listener;
mod node;
mod reach;
mod seat;
mod settings;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use dbdyno_host::SharedMachine;
use dbdyno_model::{MemberRole, Secret, Transport};
use dbdyno_wire::Endpoint;

use crate::allocator;
use crate::bootstrap::{DATABASE, USER};
use crate::cgroup::{ControlGroup, Limits};
use crate::child::{self, GuardedChild};
use crate::claim::Claim;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::Home;
use crate::image::Image;
use crate::limits;
use crate::making::Making;
use crate::options::LaunchOptions;
use crate::process::{keep_on, kill_servers_in, servers_in};
use crate::release::Release;
use crate::space;
use crate::template::{self, Template};
use crate::upgrade::{Undone, upgrade_path};
use crate::valgrind::Valgrind;

pub(crate) use files::{copy_data, lay_out, remove_shared_memory};
use guard::Guard;
pub(crate) use launch::tell_database;
pub(crate) use node::Node;
pub(crate) use reach::{connect, ending_signal, free_port, own_security, socket_in};
pub(crate) use seat::Seat;
use settings::option_argument;
pub(crate) use settings::overlay_settings;

/// Seconds until the first login; half a second is usual, a loaded machine takes longer.
const START_WITHIN_S: u64 = 120;
/// The same on the data of an older release, whose dictionary is rewritten first.
const UPGRADE_WITHIN_S: u64 = 1_200;
/// Seconds for a clean shutdown, which writes every changed page.
pub(crate) const STOP_WITHIN_S: u64 = 60;
/// Seconds for a shutdown that leaves nothing to do, of tables that were just filled.
const REST_WITHIN_S: u64 = 1_200;
/// Room beside data and redo log: system tables, temporary files, logs; in MB.
const SLACK_MB: u64 = 256;
const LOG_LINES: usize = 12;
/// Ports that are tried before giving up.
const PORTS: usize = 5;

/// A running server. Dropping it kills it, waits until none of its processes is left, and removes
/// its directory; so does the death of this process, whatever kills it.
pub struct Server {
    // Fields are dropped in this order: the processes before the directory.
    kept: Option<GuardedChild>,
    machine: SharedMachine,
    what: String,
    release: Release,
    port: u16,
    password: Secret,
    /// The one that may hold instead, of a server in the background.
    next_password: Option<Secret>,
    /// Seconds until the first login.
    start_within_s: u64,
    settings: Vec<(String, String)>,
    servers: PathBuf,
    /// What it is to find as `/etc/hosts`, where that is not what all find.
    hosts: Option<PathBuf>,
    /// Its part in a Galera cluster, if it has one.
    seat: Option<Seat>,
    /// What holds it to its limits, if it has any; gone after its processes.
    group: Option<ControlGroup>,
    /// The library that is loaded before all others, if there is one.
    preloaded: Option<PathBuf>,
    /// Under which it is started, if its instructions are counted.
    valgrind: Option<Valgrind>,
    ground: Ground,
}

/// The directory in which a server lives.
enum Ground {
    /// Ours, gone when we are.
    Claim(Claim),
    /// A background server's, which stays, see `background`.
    Background(PathBuf),
}

impl Ground {
    fn dir(&self) -> &Path {
        match self {
            Ground::Claim(claim) => claim.dir(),
            Ground::Background(dir) => dir,
        }
    }
}

/// A background server, as it is to be started: what is recorded of it.
pub(crate) struct BackgroundRecord {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) password: Secret,
    /// The one that may hold instead.
    pub(crate) next_password: Option<Secret>,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) seat: Option<Seat>,
}

/// How a background server came up.
pub(crate) struct LaunchedServer {
    pub(crate) ports: Ports,
    /// By which it is asked.
    pub(crate) socket: Endpoint,
    /// To be released when the server is known to be what it should be.
    pub(crate) guard: Guard,
}

/// Whether a server has the ports that it was to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ports {
    Kept,
    /// Somebody else had one of them.
    Lost,
}

impl Server {
    /// Starts `release` on an empty data directory and a free port of 127.0.0.1. `name` tells it
    /// from others of this process: `base`, `test`. May be called from any thread, and that thread
    /// may end.
    ///
    /// # Errors
    /// [`SandboxError::StartFailed`] with the end of the error log, [`SandboxError::NoSpace`],
    /// [`SandboxError::Busy`], [`SandboxError::MissingTool`], [`SandboxError::Io`].
    pub fn start(
        home: &Home,
        release: &Release,
        options: &LaunchOptions,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let template = Template::find_or_make(
            home,
            release,
            &Making::from_translation(&options.told_to(release)?),
            progress,
        )?;
        Server::prepare(home, release, options, name, &template, 0, progress)?.begin()
    }

    /// As [`Server::start`], on a copy of `image`, which must have been made with the key of this
    /// release and these options, or by a release from which this one upgrades in place, see
    /// [`crate::upgrade_path`]; then it is started a second time when that is done.
    ///
    /// # Errors
    /// As [`Server::start`]; [`SandboxError::Unsuitable`] if the image was removed meanwhile.
    pub fn start_from(
        home: &Home,
        release: &Release,
        options: &LaunchOptions,
        name: &str,
        image: &Image,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let used = image.begin_use()?;
        let (template, mb) = (&used.template, image.mb);
        let server = Server::prepare(home, release, options, name, template, mb, progress)?;
        if image.tree == release.name() {
            return server.begin();
        }
        server.upgrade(&image.version(), progress)
    }

    /// Starts it on data that an older release has left.
    fn upgrade(
        mut self,
        from: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let release = &self.release;
        if upgrade_path(release.product, from, &release.version)? == Undone::SystemTables {
            let told = self.settings.iter().map(|(name, value)| option_argument(name, value));
            let told: Vec<String> = told.collect();
            template::add_system_tables(release, self.ground.dir(), &told)?;
        }
        self.start_within_s = UPGRADE_WITHIN_S;
        let mut server = self.begin()?;
        progress("starting again after the upgrade");
        server.start_within_s = START_WITHIN_S;
        server.go_down(UPGRADE_WITHIN_S)?;
        server.launch_process()?;
        Ok(server)
    }

    fn begin(mut self) -> Result<Server, SandboxError> {
        self.launch_process()?;
        self.tell_database()?;
        // A plugin may have begun to listen after the first login was let in.
        self.check_where_it_listens()?;
        Ok(self)
    }

    /// Makes everything ready to [`Server::launch_process`] a server on a copy of `template`;
    /// nothing runs yet.
    pub(crate) fn prepare(
        home: &Home,
        release: &Release,
        options: &LaunchOptions,
        name: &str,
        template: &Template,
        copied_mb: u64,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let told = options.told_to(release)?;
        let what = format!("{} {} ({name})", release.product.name(), release.version);
        let needed_mb = options.disk_mb(release.product).max(copied_mb).saturating_add(SLACK_MB);
        space::require_free_space(&format!("starting {what}"), home.dir(), needed_mb)?;
        if options.is_for_a_crowd() {
            let host = &**home.host();
            let purpose = format!("starting {what}");
            limits::require_limits(host, &purpose, release.product, options.max_connections)?;
        }
        progress(&format!("starting {what}"));
        let claim = Claim::new(home, name, progress)?;
        let server = Server {
            kept: None,
            machine: home.machine().clone(),
            what,
            release: release.clone(),
            port: free_port()?,
            password: template.password.clone(),
            next_password: None,
            start_within_s: START_WITHIN_S,
            settings: told.settings(),
            servers: home.servers_dir(),
            hosts: None,
            seat: None,
            group: ControlGroup::new(
                &**home.host(),
                claim.dir(),
                Limits::from_settings(&options.settings),
            )?,
            preloaded: allocator::find_library(&options.settings)?,
            valgrind: None,
            ground: Ground::Claim(claim),
        };
        server.copy(template)?;
        Ok(server)
    }

    /// Starts a server that outlives us, on the data in its directory, or on empty ones if it has
    /// none. `note` is told the port before each attempt to use it.
    pub(crate) fn start_in_background(
        home: &Home,
        release: &Release,
        recorded: BackgroundRecord,
        template: &Template,
        note: &mut dyn FnMut(u16) -> Result<(), SandboxError>,
    ) -> Result<LaunchedServer, SandboxError> {
        let BackgroundRecord { name, dir, port, password, next_password, settings, seat } =
            recorded;
        let mut server = Server {
            kept: None,
            machine: home.machine().clone(),
            what: format!("{} {} ({name})", release.product.name(), release.version),
            release: release.clone(),
            port: if port == 0 { free_port()? } else { port },
            password,
            next_password,
            start_within_s: START_WITHIN_S,
            settings,
            servers: home.servers_dir(),
            hosts: None,
            seat,
            group: None,
            preloaded: None,
            valgrind: None,
            ground: Ground::Background(dir),
        };
        let is_new = !server.data_dir().is_dir();
        if is_new {
            server.copy(template)?;
        }
        let mut ports = Ports::Kept;
        for _ in 0..PORTS {
            note(server.port)?;
            server.spawn()?;
            let guard = Guard::over_process(&*server.machine, server.pid())
                .map_err(SandboxError::spawn("sh"))?;
            if server.wait_until_ready()? {
                if is_new {
                    server.tell_database()?;
                }
                server.check_where_it_listens()?;
                if let Some(kept) = server.kept.take() {
                    kept.let_go();
                }
                return Ok(LaunchedServer { ports, socket: server.socket_endpoint(), guard });
            }
            ports = Ports::Lost;
            server.change_ports()?;
        }
        Err(server.start_failure(format!("found no free port in {PORTS} attempts")))
    }

    /// Shuts it down cleanly and starts it again on the same data: another process, with its memory
    /// laid out anew. It comes back on its port unless somebody has taken that meanwhile.
    ///
    /// # Errors
    /// As [`Server::start`] and [`Server::stop`]; it is down then.
    pub fn restart(&mut self) -> Result<(), SandboxError> {
        self.halt_cleanly()?;
        self.launch_process()
    }

    /// Shuts it down cleanly; [`Server::launch_process`] starts it again.
    pub(crate) fn halt_cleanly(&mut self) -> Result<(), SandboxError> {
        self.go_down(STOP_WITHIN_S)
    }

    /// Has it started with these settings; an earlier one of the same name is replaced.
    pub(crate) fn add_settings(&mut self, settings: Vec<(String, String)>) {
        overlay_settings(&mut self.settings, settings);
    }

    /// Has errors say what it is among others.
    pub(crate) fn is_called(&mut self, name: &str, role: MemberRole) {
        let (product, version) = (self.release.product.name(), &self.release.version);
        self.what = format!("{product} {version} ({name}, {})", role.name());
    }

    /// Has it find this file in the place of `/etc/hosts`.
    pub(crate) fn resolve_by(&mut self, hosts: PathBuf) {
        self.hosts = Some(hosts);
    }

    /// Has it take part in a Galera cluster from the next start on.
    pub(crate) fn sit_down(&mut self, seat: Seat) {
        self.seat = Some(seat);
    }

    pub(crate) fn release(&self) -> &Release {
        &self.release
    }

    /// As a member of a topology.
    pub(crate) fn node(&self) -> Node {
        Node {
            what: self.what.clone(),
            product: self.release.product,
            version: self.release.version.clone(),
            endpoint: self.socket_endpoint(),
            port: self.port,
            log: self.error_log(),
            data: self.data_dir(),
        }
    }

    fn go_down(&mut self, within_s: u64) -> Result<(), SandboxError> {
        let down = self.shut_down(within_s);
        self.judge_end(down, within_s)?;
        drop(self.kept.take());
        Ok(())
    }

    /// Where it listens on TCP, and the account to use.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint_at(Transport::Tcp("127.0.0.1".to_owned(), self.port))
    }

    /// The same server by its unix socket.
    pub fn socket_endpoint(&self) -> Endpoint {
        self.endpoint_at(Transport::Unix(self.socket().display().to_string()))
    }

    /// The server's process: `mariadbd`, or PostgreSQL's postmaster.
    pub fn pid(&self) -> u32 {
        self.kept.as_ref().map_or(0, |kept| kept.child.pid())
    }

    /// The settings that it was given, in the order given; an empty value is a bare switch. Paths
    /// and the port are left out.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// What it writes to its error log. The file is removed with the server.
    pub fn error_log(&self) -> PathBuf {
        self.ground.dir().join("log")
    }

    /// Its data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.work().join("data")
    }

    /// Keeps all its threads and processes, and those that it makes from now on, on these
    /// processors.
    ///
    /// # Errors
    /// [`SandboxError::Io`] if the kernel refuses one of the processors.
    pub fn pin_to_processors(&self, processors: &[usize]) -> Result<(), SandboxError> {
        let place = || -> io::Result<()> {
            // Twice, because a thread may have been made by one that had not had its turn.
            for _ in 0..2 {
                let servers = servers_in(&*self.machine, &self.servers, self.ground.dir());
                keep_on(&*self.machine, &servers, processors)?;
            }
            Ok(())
        };
        place().map_err(SandboxError::io("place on one processor", self.ground.dir()))
    }

    /// Shuts it down cleanly, within a limit, and removes its directory.
    ///
    /// # Errors
    /// [`SandboxError::StopFailed`] if it had ended by itself, or had to be killed; nothing is
    /// left of it then either.
    pub fn stop(mut self) -> Result<(), SandboxError> {
        let down = self.shut_down(STOP_WITHIN_S);
        self.judge_end(down, STOP_WITHIN_S)
    }

    fn judge_end(
        &self,
        down: io::Result<Option<ExitStatus>>,
        within_s: u64,
    ) -> Result<(), SandboxError> {
        let how = match down {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => format!("ended with {status}"),
            Ok(None) => format!("did not shut down within {within_s} s and was killed"),
            Err(error) => format!("could not be waited for: {error}"),
        };
        let log = child::last_lines(&self.error_log(), LOG_LINES);
        Err(SandboxError::StopFailed { what: format!("{} {how}", self.what), log })
    }

    fn shut_down(&mut self, within_s: u64) -> io::Result<Option<ExitStatus>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        if let Some(status) = kept.child.try_wait()? {
            return Ok(Some(status));
        }
        let signal = ending_signal(self.release.product);
        kept.child.send_signal(signal)?;
        let deadline = Deadline::after_seconds(within_s);
        while deadline.pause() {
            if let Some(status) = kept.child.try_wait()? {
                return Ok(Some(status));
            }
        }
        Ok(None)
    }

    fn work(&self) -> PathBuf {
        self.ground.dir().join("s")
    }

    fn socket(&self) -> PathBuf {
        socket_in(&self.work(), self.release.product, self.port)
    }

    fn endpoint_at(&self, transport: Transport) -> Endpoint {
        let (user, database) = (USER.to_owned(), DATABASE.to_owned());
        Endpoint {
            transport,
            user,
            password: self.password.clone(),
            database,
            security: own_security(self.release.product, &self.data_dir()),
        }
    }

    fn copy(&self, template: &Template) -> Result<(), SandboxError> {
        lay_out(&self.work(), &template.data)
    }

    /// Replaces its data directory, which nothing uses, by a copy of this one, which nothing uses
    /// either.
    pub(crate) fn take_over(&self, data: &Path) -> Result<(), SandboxError> {
        let own = self.data_dir();
        fs::remove_dir_all(&own).map_err(SandboxError::io("remove", &own))?;
        copy_data(data, &own)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.kept.is_none() && matches!(self.ground, Ground::Background(_)) {
            // Let go, or never started.
            return;
        }
        drop(self.kept.take());
        kill_servers_in(&*self.machine, &self.servers, self.ground.dir());
        remove_shared_memory(&self.data_dir());
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, pid {}, port {}", self.what, self.pid(), self.port)
    }
}
