//! A server of our own, from its start to its end.
//!
//! ```text
//!   template ──copy──▶ run/NAME-PID-N/s ──fork──▶ port lost? ──another port──┐
//!                                          │  ▲                              │
//!                                          ▼  └──────────────────────────────┘
//!                                   first login that answers with our data directory ──▶ Server
//! ```

use std::fs::{self, File};
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use dbdyno_model::{Dialect, Product, Role, Secret, Transport};
use dbdyno_wire::{Client, Endpoint, WireError};
use nix::sched::CpuSet;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bootstrap::{self, DATABASE, USER};
use crate::cgroup::{ControlGroup, Limits};
use crate::child::{self, Kept};
use crate::claim::Claim;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::fetch;
use crate::home::{Home, write_private};
use crate::image::{self, Image, ImageKey};
use crate::limits;
use crate::options::Options;
use crate::pages;
use crate::process::{Identity, keep_on, kill_servers_in, servers_in};
use crate::release::Release;
use crate::space;
use crate::spelling;
use crate::template::{self, Template};
use crate::topology::{self, Node};
use crate::upgrade::{Undone, upgrade_path};

/// Seconds until the first login; half a second is usual, a loaded machine takes longer.
const START_WITHIN_S: u64 = 120;
/// The slowest rate at which a redo log is written before that, in MB a second: a busy disk.
const REDO_MB_S: u64 = 20;
/// The same on the data of an older release, whose dictionary is rewritten first.
const UPGRADE_WITHIN_S: u64 = 1_200;
/// Seconds for a clean shutdown, which writes every changed page.
pub(crate) const STOP_WITHIN_S: u64 = 60;
/// Seconds for a shutdown that leaves nothing to do, of tables that were just filled.
const REST_WITHIN_S: u64 = 1_200;
/// Ports that are tried before giving up.
const PORTS: usize = 5;
/// Room beside data and redo log: system tables, temporary files, logs; in MB.
const SLACK_MB: u64 = 256;
const LOG_LINES: usize = 12;

/// A running server. Dropping it kills it, waits until none of its processes is left, and removes
/// its directory; so does the death of this process, whatever kills it.
pub struct Server {
    // Fields are dropped in this order: the processes before the directory.
    kept: Option<Kept>,
    what: String,
    release: Release,
    port: u16,
    password: Secret,
    /// Seconds until the first login.
    start_within_s: u64,
    settings: Vec<(String, String)>,
    servers: PathBuf,
    /// What it is to find as `/etc/hosts`, where that is not what all find.
    hosts: Option<PathBuf>,
    /// What holds it to its limits, if it has any; gone after its processes.
    group: Option<ControlGroup>,
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
pub(crate) struct Recorded {
    pub(crate) name: String,
    pub(crate) dir: PathBuf,
    pub(crate) port: u16,
    pub(crate) password: Secret,
    pub(crate) settings: Vec<(String, String)>,
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
        options: &Options,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let template = Template::of(home, release, options.encoding(), progress)?;
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
        options: &Options,
        name: &str,
        image: &Image,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let used = image.take()?;
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
            let told = self.settings.iter().map(|(name, value)| option(name, value));
            let told: Vec<String> = told.collect();
            template::add_system_tables(release, self.ground.dir(), &told)?;
        }
        self.start_within_s = UPGRADE_WITHIN_S;
        let mut server = self.begin()?;
        progress("starting again after the upgrade");
        server.start_within_s = START_WITHIN_S;
        server.go_down(UPGRADE_WITHIN_S)?;
        server.launch()?;
        Ok(server)
    }

    fn begin(mut self) -> Result<Server, SandboxError> {
        self.launch()?;
        self.tell_database()?;
        Ok(self)
    }

    /// Makes everything ready to [`Server::launch`] a server on a copy of `template`; nothing runs
    /// yet.
    pub(crate) fn prepare(
        home: &Home,
        release: &Release,
        options: &Options,
        name: &str,
        template: &Template,
        copied_mb: u64,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Server, SandboxError> {
        let told = options.translate(release.product, &release.version)?;
        let what = format!("{} {} ({name})", release.product.name(), release.version);
        let needed_mb = options.disk_mb(release.product).max(copied_mb).saturating_add(SLACK_MB);
        space::require(&format!("starting {what}"), home.dir(), needed_mb)?;
        if options.is_for_a_crowd() {
            limits::require(&format!("starting {what}"), release.product, options.max_connections)?;
        }
        progress(&format!("starting {what}"));
        let claim = Claim::new(home, name)?;
        let server = Server {
            kept: None,
            what,
            release: release.clone(),
            port: free_port()?,
            password: template.password.clone(),
            start_within_s: START_WITHIN_S,
            settings: told.settings(),
            servers: home.servers(),
            hosts: None,
            group: ControlGroup::new(claim.dir(), Limits::among(&options.settings))?,
            ground: Ground::Claim(claim),
        };
        server.copy(template)?;
        Ok(server)
    }

    /// Starts a server that outlives us, on the data in its directory, or on empty ones if it has
    /// none. `note` is told the port before each attempt to use it. What is returned is its
    /// process and its port.
    pub(crate) fn start_in_background(
        home: &Home,
        release: &Release,
        recorded: Recorded,
        template: &Template,
        note: &mut dyn FnMut(u16) -> Result<(), SandboxError>,
    ) -> Result<(), SandboxError> {
        let Recorded { name, dir, port, password, settings } = recorded;
        let mut server = Server {
            kept: None,
            what: format!("{} {} ({name})", release.product.name(), release.version),
            release: release.clone(),
            port: if port == 0 { free_port()? } else { port },
            password,
            start_within_s: START_WITHIN_S,
            settings,
            servers: home.servers(),
            hosts: None,
            group: None,
            ground: Ground::Background(dir),
        };
        let is_new = !server.data_dir().is_dir();
        if is_new {
            server.copy(template)?;
        }
        for _ in 0..PORTS {
            note(server.port)?;
            server.spawn()?;
            if server.wait_until_ready()? {
                if is_new {
                    server.tell_database()?;
                }
                if let Some(kept) = server.kept.take() {
                    kept.let_go();
                }
                return Ok(());
            }
            server.port = free_port()?;
        }
        Err(server.failed(format!("found no free port in {PORTS} attempts")))
    }

    /// Shuts it down cleanly and starts it again on the same data: another process, with its memory
    /// laid out anew. It comes back on its port unless somebody has taken that meanwhile.
    ///
    /// # Errors
    /// As [`Server::start`] and [`Server::stop`]; it is down then.
    pub fn restart(&mut self) -> Result<(), SandboxError> {
        self.halt()?;
        self.launch()
    }

    /// Shuts it down cleanly; [`Server::launch`] starts it again.
    pub(crate) fn halt(&mut self) -> Result<(), SandboxError> {
        self.go_down(STOP_WITHIN_S)
    }

    /// Has it started with these settings; an earlier one of the same name is replaced.
    pub(crate) fn tell(&mut self, settings: Vec<(String, String)>) {
        topology::overlay(&mut self.settings, settings);
    }

    /// Has errors say what it is among others.
    pub(crate) fn is_called(&mut self, name: &str, role: Role) {
        let (product, version) = (self.release.product.name(), &self.release.version);
        self.what = format!("{product} {version} ({name}, {})", role.name());
    }

    /// Has it find this file in the place of `/etc/hosts`.
    pub(crate) fn resolve_by(&mut self, hosts: PathBuf) {
        self.hosts = Some(hosts);
    }

    /// As a member of a topology.
    pub(crate) fn node(&self) -> Node {
        Node {
            what: self.what.clone(),
            product: self.release.product,
            version: self.release.version.clone(),
            endpoint: self.endpoint(),
            port: self.port,
            log: self.error_log(),
            data: self.data_dir(),
        }
    }

    /// As [`Server::restart`], with nothing in memory that it could read faster than the disk gives
    /// it: what lies in the page cache of its files is dropped, and no buffers are read in
    /// beforehand. Files that it reads with `O_DIRECT`, InnoDB's, were not in the page cache.
    ///
    /// # Errors
    /// As [`Server::restart`].
    pub fn restart_cold(&mut self) -> Result<(), SandboxError> {
        self.go_down(STOP_WITHIN_S)?;
        let data = self.data_dir();
        image::forget_buffers(&data);
        pages::drop_cached(&data).map_err(SandboxError::io("drop the cached pages of", &data))?;
        self.launch()
    }

    /// Brings it to rest, turns its data into an image and starts it again on a copy of that.
    /// `None` where there is no room for an image; it is only started again then.
    ///
    /// # Errors
    /// As [`Server::restart`]; it is down then.
    pub fn keep_as_image(
        &mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Image>, SandboxError> {
        let image = self.lay_down(home, key, progress)?;
        match &image {
            Some(image) => self.start_over(image)?,
            None => self.launch()?,
        }
        Ok(image)
    }

    /// As [`Server::keep_as_image`], and does not start it again.
    ///
    /// # Errors
    /// As [`Server::stop`]; [`SandboxError::NoSpace`] where there is no room for an image.
    pub fn into_image(
        mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Image, SandboxError> {
        let image = self.lay_down(home, key, progress)?;
        let needed_mb = || fetch::size_mb(&self.data_dir()).map(image::room_for);
        image.map_or_else(
            || {
                let (purpose, needed_mb) = (format!("an image of {}", self.what), needed_mb()?);
                let free_mb = space::free_mb(home.dir())?;
                Err(SandboxError::NoSpace { place: home.images(), purpose, needed_mb, free_mb })
            },
            Ok,
        )
    }

    /// Brings it to rest and turns its data into an image, if there is room for one. It is down.
    fn lay_down(
        &mut self,
        home: &Home,
        key: &ImageKey,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Image>, SandboxError> {
        progress("shutting down for an image");
        self.come_to_rest()?;
        let data = self.data_dir();
        if !image::make_room(home, fetch::size_mb(&data)?)? {
            progress("no room for an image");
            return Ok(None);
        }
        progress(&format!("making the image {}", key.name()));
        image::keep(home, key, &data, &self.password).map(Some)
    }

    /// Ends it, whatever it does, and starts it on a fresh copy of `image`.
    ///
    /// # Errors
    /// As [`Server::start_from`]; it is down then.
    pub fn restore(&mut self, image: &Image) -> Result<(), SandboxError> {
        drop(self.kept.take());
        kill_servers_in(&self.servers, self.ground.dir());
        let data = self.data_dir();
        remove_shared_memory(&data);
        fs::remove_dir_all(&data).map_err(SandboxError::io("remove", &data))?;
        self.start_over(image)
    }

    fn start_over(&mut self, image: &Image) -> Result<(), SandboxError> {
        let used = image.take()?;
        let what = format!("starting {} from {}", self.what, image.name);
        space::require(&what, self.ground.dir(), image.mb.saturating_add(SLACK_MB))?;
        self.password.clone_from(&used.template.password);
        copy_data(&used.template.data, &self.data_dir())?;
        self.launch()
    }

    /// Shuts it down with nothing left to do: no row versions to purge, no changes of indexes to
    /// merge, and a small redo log, which the next start makes anew.
    fn come_to_rest(&mut self) -> Result<(), SandboxError> {
        self.go_down(REST_WITHIN_S)?;
        if self.release.product.dialect() == Dialect::Postgres {
            return Ok(());
        }
        let mut resting = self.settings.clone();
        resting.extend(template::at_rest(self.release.product, &self.release.version));
        let usual = std::mem::replace(&mut self.settings, resting);
        let launched = self.launch();
        self.settings = usual;
        launched?;
        self.go_down(REST_WITHIN_S)?;
        template::drop_fixed_redo(&self.release, &self.data_dir())
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
        self.kept.as_ref().map_or(0, |kept| kept.child.id())
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
    pub fn place(&self, processors: &[usize]) -> Result<(), SandboxError> {
        let place = || -> io::Result<()> {
            let mut set = CpuSet::new();
            processors.iter().try_for_each(|&processor| set.set(processor))?;
            // Twice, because a thread may have been made by one that had not had its turn.
            for _ in 0..2 {
                keep_on(&servers_in(&self.servers, self.ground.dir()), &set)?;
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

    /// Starts the process, on another port where the present one was lost.
    pub(crate) fn launch(&mut self) -> Result<(), SandboxError> {
        for _ in 0..PORTS {
            self.spawn()?;
            if self.wait_until_ready()? {
                return Ok(());
            }
            self.port = free_port()?;
        }
        Err(self.failed(format!("found no free port in {PORTS} attempts")))
    }

    fn shut_down(&mut self, within_s: u64) -> io::Result<Option<ExitStatus>> {
        let Some(kept) = &mut self.kept else { return Ok(None) };
        if let Some(status) = kept.child.try_wait()? {
            return Ok(Some(status));
        }
        let signal = ending_signal(self.release.product);
        if let Ok(pid) = i32::try_from(kept.child.id()) {
            kill(Pid::from_raw(pid), signal)?;
        }
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
        Endpoint { transport, user, password: self.password.clone(), database }
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

    fn spawn(&mut self) -> Result<(), SandboxError> {
        let mut command = match self.release.product.dialect() {
            Dialect::Postgres => self.postgres(),
            _ => self.mysqld(),
        };
        if matches!(self.ground, Ground::Background(_)) {
            child::outlive(&mut command);
        }
        if let Some(group) = &self.group {
            group.admit(&mut command)?;
        }
        if let Some(hosts) = &self.hosts {
            child::resolve_by(&mut command, hosts)?;
        }
        let log = self.error_log();
        let failed = || SandboxError::io("create", &log);
        let file = File::create(&log).map_err(failed())?;
        command.stdout(file.try_clone().map_err(failed())?).stderr(file);
        let program = self.release.server().display().to_string();
        let kept = Kept::spawn(command).map_err(SandboxError::spawn(&program))?;
        let pid = i32::try_from(kept.child.id()).ok();
        self.kept = Some(kept);
        let identity = pid.and_then(Identity::of).map(|identity| identity.to_line());
        write_private(&self.ground.dir().join("server"), &identity.unwrap_or_default())
    }

    fn mysqld(&self) -> Command {
        let mut command = template::mysqld(&self.release, &self.work());
        command.arg(format!("--socket={}", self.socket().display()));
        command.arg(format!("--pid-file={}", self.work().join("pid").display()));
        command.arg(format!("--port={}", self.port)).arg("--bind-address=127.0.0.1");
        command.args(self.settings.iter().map(|(name, value)| option(name, value)));
        command
    }

    fn postgres(&self) -> Command {
        let mut command = self.release.command(&self.release.server(), &self.work());
        command.arg("-D").arg(self.data_dir()).arg("-k").arg(self.work());
        command.arg("-p").arg(self.port.to_string());
        command.args(["-c", "listen_addresses=127.0.0.1"]);
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        command
    }

    /// Waits for the first login. `false`: the port was taken by somebody else in the meantime.
    fn wait_until_ready(&mut self) -> Result<bool, SandboxError> {
        let within_s = self.start_within_s + spelling::redo_told_mb(&self.settings) / REDO_MB_S;
        let deadline = Deadline::after_seconds(within_s);
        let endpoint = self.endpoint();
        let mut last = "nobody listened".to_owned();
        loop {
            match self.log_in(&endpoint) {
                Ok(true) => return Ok(true),
                Ok(false) => "another server answered".clone_into(&mut last),
                Err(error) => last = error.to_string(),
            }
            if let Some(status) = self.ended() {
                let log = child::last_lines(&self.error_log(), 100);
                if log.iter().any(|line| line.contains("Address already in use")) {
                    return Ok(false);
                }
                return Err(self.failed(format!("ended with {status} before the first login")));
            }
            if !deadline.pause() {
                let how = format!("did not accept a login within {within_s} s: {last}");
                return Err(self.failed(how));
            }
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.kept.as_mut()?.child.try_wait().ok()?
    }

    /// Our database was made with latin1, whatever the server prefers now: its tables take their
    /// character set from it.
    pub(crate) fn tell_database(&self) -> Result<(), SandboxError> {
        let told = tell_database(self.release.product, &self.endpoint());
        told.map_err(|error| self.failed(format!("does not change its database: {error}")))
    }

    /// Logs in and asks for the data directory: on our port somebody else may have been faster.
    fn log_in(&self, endpoint: &Endpoint) -> Result<bool, WireError> {
        let mut client = connect(self.release.product, endpoint)?;
        let question = match self.release.product.dialect() {
            Dialect::Postgres => "SHOW data_directory",
            _ => "SELECT @@datadir",
        };
        let answer = client.query(question)?;
        let ours = answer.single().is_some_and(|dir| Path::new(dir) == self.data_dir());
        client.close();
        Ok(ours)
    }

    fn failed(&self, how: String) -> SandboxError {
        let log = child::last_lines(&self.error_log(), LOG_LINES);
        SandboxError::StartFailed { what: format!("{} {how}", self.what), log }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.kept.is_none() && matches!(self.ground, Ground::Background(_)) {
            // Let go, or never started.
            return;
        }
        drop(self.kept.take());
        kill_servers_in(&self.servers, self.ground.dir());
        remove_shared_memory(&self.data_dir());
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, pid {}, port {}", self.what, self.pid(), self.port)
    }
}

/// See [`Server::tell_database`].
pub(crate) fn tell_database(product: Product, endpoint: &Endpoint) -> Result<(), WireError> {
    if product.dialect() == Dialect::Postgres {
        return Ok(());
    }
    let mut client = connect(product, endpoint)?;
    let answer = client.query("SELECT @@character_set_server, @@collation_server")?;
    if let Some([Some(charset), Some(collation)]) = answer.rows.first().map(Vec::as_slice)
        && collation != bootstrap::COLLATION
    {
        client.run(&format!(
            "ALTER DATABASE {DATABASE} CHARACTER SET {charset} COLLATE {collation}"
        ))?;
    }
    client.close();
    Ok(())
}

/// Makes `to`, which does not exist, a copy of the data directory `from`.
pub(crate) fn copy_data(from: &Path, to: &Path) -> Result<(), SandboxError> {
    let mut copy = child::command("cp");
    copy.args(["-a", "--reflink=auto"]).arg(from).arg(to);
    let output = copy.output().map_err(SandboxError::spawn("cp"))?;
    if output.status.success() {
        return Ok(());
    }
    let detail = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(SandboxError::io("copy", from)(io::Error::other(detail)))
}

/// Makes a server's own directory, with a copy of a data directory in it.
pub(crate) fn lay_out(work: &Path, data: &Path) -> Result<(), SandboxError> {
    for dir in [work, &work.join("tmp")] {
        child::private_dir(dir).map_err(SandboxError::io("create", dir))?;
    }
    copy_data(data, &work.join("data"))
}

/// A connection of the product's protocol.
pub(crate) fn connect(product: Product, endpoint: &Endpoint) -> Result<Box<dyn Client>, WireError> {
    Ok(match product.dialect() {
        Dialect::Postgres => Box::new(dbdyno_wire::postgres::Connection::connect(endpoint)?),
        _ => Box::new(dbdyno_wire::mysql::Connection::connect(endpoint)?),
    })
}

/// A setting as MySQL and MariaDB take it; an empty value is a bare switch.
fn option(name: &str, value: &str) -> String {
    let name = name.replace('_', "-");
    let equals = if value.is_empty() { "" } else { "=" };
    format!("--{name}{equals}{value}")
}

/// By which a server shuts down cleanly. PostgreSQL's is "fast": connections are cut, nothing is
/// lost.
pub(crate) fn ending_signal(product: Product) -> Signal {
    match product.dialect() {
        Dialect::Postgres => Signal::SIGINT,
        _ => Signal::SIGTERM,
    }
}

/// The unix socket of a server that works in `work`.
pub(crate) fn socket_in(work: &Path, product: Product, port: u16) -> PathBuf {
    match product.dialect() {
        Dialect::Postgres => work.join(format!(".s.PGSQL.{port}")),
        _ => work.join("mysql.sock"),
    }
}

/// A port of 127.0.0.1 that is free now.
pub(crate) fn free_port() -> Result<u16, SandboxError> {
    let listener = TcpListener::bind(("127.0.0.1", 0));
    let address = listener.and_then(|listener| listener.local_addr());
    let port = address.map(|address| address.port());
    port.map_err(SandboxError::io("find a free port on", Path::new("127.0.0.1")))
}

/// Removes the System V segment by which PostgreSQL guards a data directory: it outlives a killed
/// server. Its number is in the seventh line of `postmaster.pid`. Only one that belongs to the
/// account of the servers and that no process has attached is removed.
pub(crate) fn remove_shared_memory(data: &Path) {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else { return };
    let Some(id) = shared_memory_id(&text) else { return };
    let owner =
        if child::is_root() { child::UNPRIVILEGED } else { nix::unistd::geteuid().as_raw() };
    // SAFETY: `status` is plain data that the kernel fills, of the type that IPC_STAT asks for;
    // IPC_RMID takes no pointer.
    unsafe {
        let mut status: nix::libc::shmid_ds = std::mem::zeroed();
        let known = nix::libc::shmctl(id, nix::libc::IPC_STAT, &raw mut status) == 0;
        if known && status.shm_perm.uid == owner && status.shm_nattch == 0 {
            nix::libc::shmctl(id, nix::libc::IPC_RMID, std::ptr::null_mut());
        }
    }
}

/// The segment's number: the second word of the seventh line.
fn shared_memory_id(postmaster_pid: &str) -> Option<i32> {
    postmaster_pid.lines().nth(6)?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segment_is_read_from_the_seventh_line_and_from_no_other() {
        let file =
            "1234\n/h/data\n1760000000\n54321\n/h\n127.0.0.1\n  6291501    98305\nready   \n";
        assert_eq!(shared_memory_id(file), Some(98_305));
        assert_eq!(shared_memory_id("1234\n/h/data\n"), None);
        assert_eq!(shared_memory_id(&file.replace("98305", "x")), None);
    }
}
