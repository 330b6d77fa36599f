//! Servers that run without a dbdyno: started by one command, stopped by another.
//!
//! ```text
//!   bg/NAME/
//!     record      the tree, port and settings; among which others it is
//!     password    of the account; random, readable by dbdyno only
//!     server      the process: pid, start time, boot; absent when it was stopped
//!     log         what it writes
//!     s/          the server's own: data, socket, temporary files
//! ```
//!
//! They have no owner, so that nothing in [`crate::Home::remove_leftovers`] ends them; whether one
//! runs is read from its process. One whose process is gone although nobody stopped it, by a crash
//! or a restart of the machine, is shown as such; its data are there and can be started on again.

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_host::{Launch, SharedHost};
use dbdyno_model::{Dialect, Product, Secret, TopologyShape};

use crate::allocator;
use crate::bootstrap::{DATABASE, USER};
use crate::cgroup;
use crate::child;
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::{Home, make_passage, write_private};
use crate::making::Making;
use crate::options::LaunchOptions;
use crate::password;
use crate::process::{Identity, kill_servers_in, servers_in};
use crate::release::{self, Release};
use crate::removal;
use crate::server::{
    BackgroundRecord, LaunchedServer, Ports, STOP_WITHIN_S, Seat, Server, ending_signal,
    remove_shared_memory, socket_in,
};
use crate::space;
use crate::template::Template;
use crate::tool::{Allowance, run_with_allowance};

/// Longer names would not fit into a socket's address together with the home.
const MAX_NAME_BYTES: usize = 24;
/// What is known of a server, in its directory.
const RECORD: &str = "record";

/// Room beside data and redo log, in MB.
const SLACK_MB: u64 = 256;

/// Whether a background server runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackgroundState {
    /// It runs, with this process.
    Running(u32),
    /// It was stopped.
    Stopped,
    /// Its process is gone although nobody stopped it: a crash, or a restart of the machine.
    Gone,
}

/// A server in the background.
#[derive(Clone, Debug)]
pub struct BackgroundServer {
    /// Its name among the others.
    pub name: String,
    /// What it is.
    pub product: Product,
    /// The tree that it runs from, by its name.
    pub tree: String,
    /// Where it listens on 127.0.0.1.
    pub port: u16,
    /// The settings that it is given, in the order given; an empty value is a bare switch.
    pub settings: Vec<(String, String)>,
    /// Among which others it is; `None` if it is alone.
    pub membership: Option<Membership>,
    pub(crate) dir: PathBuf,
    host: SharedHost,
}

/// The place of a background server among those that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Membership {
    /// How they belong together.
    pub shape: TopologyShape,
    /// Its number, from 1.
    pub number: u8,
    /// The name of the first, which is that of all of them.
    pub of: String,
}

impl Membership {
    /// Of the values of a record by their names.
    fn read<'r>(value: impl Fn(&str) -> Option<&'r str>) -> Option<Membership> {
        Some(Membership {
            shape: value("topology")?.parse().ok()?,
            number: value("member")?.parse().ok()?,
            of: value("of")?.to_owned(),
        })
    }
}

impl BackgroundServer {
    /// Starts `release` on an empty data directory. `name` is up to 24 letters, digits, dots and
    /// hyphens.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] for a name that is taken or too long; as [`Server::start`].
    pub fn start(
        home: &Home,
        release: &Release,
        options: &LaunchOptions,
        name: &str,
        progress: &mut dyn FnMut(&str),
    ) -> Result<BackgroundServer, SandboxError> {
        cgroup::are_for_arms(&options.settings)?;
        allocator::is_for_arms(&options.settings)?;
        let told = options.told_to(release)?;
        let template =
            Template::find_or_make(home, release, &Making::from_translation(&told), progress)?;
        let needed_mb = options.disk_mb(release.product).saturating_add(SLACK_MB);
        space::require_free_space(&format!("starting {name}"), home.dir(), needed_mb)?;
        let new = BackgroundServer::create_stopped(
            home,
            release,
            told.settings(),
            &template,
            name,
            None,
        )?;
        progress(&format!("starting {} in the background as {name}", release.name()));
        let started = new.launch_process(home, release, &template, None);
        if started.is_err() {
            let _ = fs::remove_dir_all(&new.dir);
        }
        started
    }

    /// Whether a server can be called so.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] with what a name is made of.
    pub fn check_name(name: &str) -> Result<(), SandboxError> {
        let fits = !name.is_empty() && name.len() <= MAX_NAME_BYTES && !name.starts_with('.');
        if fits && name.chars().all(|c: char| c.is_ascii_alphanumeric() || ".-@".contains(c)) {
            return Ok(());
        }
        Err(SandboxError::Unsuitable {
            what: format!("the name {name:?}"),
            reason: format!("use up to {MAX_NAME_BYTES} letters, digits, dots and hyphens"),
        })
    }

    /// Makes the directory of one that is not started yet.
    pub(crate) fn create_stopped(
        home: &Home,
        release: &Release,
        settings: Vec<(String, String)>,
        template: &Template,
        name: &str,
        membership: Option<Membership>,
    ) -> Result<BackgroundServer, SandboxError> {
        BackgroundServer::check_name(name)?;
        let dir = home.background_dir().join(name);
        if dir.exists() {
            return Err(SandboxError::Unsuitable {
                what: format!("the name {name:?}"),
                reason: format!(
                    "a background server is called so; start it again with `dbdyno server start \
                     {name}`, remove it with `dbdyno server rm {name}`, or give another --name"
                ),
            });
        }
        make_passage(&dir)?;
        let (name, tree) = (name.to_owned(), release.name());
        let (product, port) = (release.product, 0);
        let host = home.host().clone();
        let new = BackgroundServer { name, product, tree, port, settings, membership, dir, host };
        password::save_password(&new.dir, &template.password)?;
        Ok(new)
    }

    /// Starts one that does not run on the data that it has.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] if it runs, or if its tree is gone; as [`Server::start`].
    pub fn start_again(
        &self,
        home: &Home,
        progress: &mut dyn FnMut(&str),
    ) -> Result<BackgroundServer, SandboxError> {
        if let BackgroundState::Running(pid) = self.state() {
            return Err(self.unsuitable_error(format!("it runs already (pid {pid})")));
        }
        let release = self.release(home)?;
        let template = Template::find_or_make(home, &release, &Making::default(), progress)?;
        end_processes(home, &self.dir);
        progress(&format!("starting {} again", self.name));
        self.launch_process(home, &release, &template, None)
    }

    /// Starts it, in this place of a Galera cluster if there is one.
    pub(crate) fn launch_process(
        &self,
        home: &Home,
        release: &Release,
        template: &Template,
        seat: Option<Seat>,
    ) -> Result<BackgroundServer, SandboxError> {
        let mut launched = self.clone();
        let (password, next) = password::read(&self.dir)?;
        let is_doubtful = self.port == 0 || next.is_some();
        let recorded = BackgroundRecord {
            name: self.name.clone(),
            dir: self.dir.clone(),
            port: self.port,
            password,
            next_password: next,
            settings: self.settings.clone(),
            seat,
        };
        let mut note = |port: u16| {
            launched.port = port;
            launched.write()
        };
        let LaunchedServer { ports, socket, guard } =
            Server::start_in_background(home, release, recorded, template, &mut note)?;
        if self.membership.is_none() && release.product != Product::Postgres {
            let taken = password::take_root_away(release.product, &socket);
            taken.inspect_err(|_| end_processes(home, &self.dir))?;
        }
        if is_doubtful || ports == Ports::Lost {
            // Members log in to each other, and get a new one together when all of them run.
            let renewed = match self.membership {
                Some(_) => password::note_doubt(&self.dir),
                None => password::renew_password(&self.dir, release, &socket),
            };
            renewed.inspect_err(|_| end_processes(home, &self.dir))?;
        }
        guard.release().map_err(SandboxError::io("release", &self.dir))?;
        Ok(launched)
    }

    /// All of them, in the order of their names.
    pub fn all_in(home: &Home) -> Vec<BackgroundServer> {
        let entries = fs::read_dir(home.background_dir()).into_iter().flatten().flatten();
        let mut all: Vec<BackgroundServer> =
            entries.filter_map(|entry| BackgroundServer::read(home, &entry.path())).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The one with this name.
    pub fn find_by_name(home: &Home, name: &str) -> Option<BackgroundServer> {
        BackgroundServer::all_in(home).into_iter().find(|known| known.name == name)
    }

    /// Whether it runs.
    pub fn state(&self) -> BackgroundState {
        let Ok(text) = fs::read_to_string(self.dir.join("server")) else {
            return BackgroundState::Stopped;
        };
        match Identity::from_line(&text).filter(|recorded| recorded.is_alive(&*self.host)) {
            Some(running) => BackgroundState::Running(running.pid),
            None => BackgroundState::Gone,
        }
    }

    /// The URL by which it is reached, password included: for whoever started it.
    ///
    /// # Errors
    /// [`SandboxError::Io`] if the password cannot be read.
    pub fn url(&self) -> Result<Secret, SandboxError> {
        let scheme = if self.product.dialect() == Dialect::Postgres { "postgres" } else { "mysql" };
        let (password, port) = (self.password()?, self.port);
        let password = password.expose();
        Ok(Secret::new(format!("{scheme}://{USER}:{password}@127.0.0.1:{port}/{DATABASE}")))
    }

    /// What it writes to its error log since it was last started.
    pub fn error_log(&self) -> PathBuf {
        self.dir.join("log")
    }

    /// The last lines of the error log, without what a terminal would obey.
    pub fn last_log_lines(&self, lines: usize) -> Vec<String> {
        child::last_lines(&self.error_log(), lines)
    }

    /// Shuts it down cleanly; its data stay.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] if it does not run; [`SandboxError::StopFailed`] if it had to
    /// be killed.
    pub fn stop(&self, home: &Home) -> Result<(), SandboxError> {
        let BackgroundState::Running(pid) = self.state() else {
            return Err(self.unsuitable_error("it does not run".to_owned()));
        };
        // Gone since we looked: then it need not be told.
        let _ = home.machine().signal_process(pid, ending_signal(self.product));
        let deadline = Deadline::after_seconds(STOP_WITHIN_S);
        let mut ended = false;
        while !ended && deadline.pause() {
            ended = !matches!(self.state(), BackgroundState::Running(_));
        }
        end_processes(home, &self.dir);
        let record = self.dir.join("server");
        fs::remove_file(&record).map_err(SandboxError::io("remove", &record))?;
        if ended {
            return Ok(());
        }
        let what =
            format!("{} did not shut down within {STOP_WITHIN_S} s; it was killed", self.name);
        Err(SandboxError::StopFailed { what, log: child::last_lines(&self.error_log(), 12) })
    }

    /// Removes it with its data.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] if it runs.
    pub fn remove(&self, home: &Home) -> Result<(), SandboxError> {
        if let BackgroundState::Running(_) = self.state() {
            let name = &self.name;
            return Err(self.unsuitable_error(format!(
                "it runs; stop it first with `dbdyno server stop {name}`"
            )));
        }
        end_processes(home, &self.dir);
        // The record last: what cannot be removed keeps its name.
        for part in ["s", "log"] {
            removal::remove(&self.dir.join(part))?;
        }
        removal::remove(&self.dir)
    }

    /// Runs the family's interactive client on it, on our terminal, until that ends: the one that
    /// came with the server if it works here, else the machine's; root's terminal is given to the
    /// machine's first. Returns its exit code.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] if it does not run, or if there is no client.
    pub fn run_shell(&self, home: &Home) -> Result<i32, SandboxError> {
        let BackgroundState::Running(_) = self.state() else {
            let name = &self.name;
            return Err(self.unsuitable_error(format!(
                "it does not run; start it with `dbdyno server start {name}`"
            )));
        };
        let names: &[&'static str] = match self.product {
            Product::Postgres => &["psql"],
            Product::MySql => &["mysql", "mariadb"],
            Product::MariaDb => &["mariadb", "mysql"],
        };
        let release = self.release(home)?;
        let own = release.client(names).map(|program| {
            let mut command = child::foreign_on_terminal(&program, &release.dir);
            release.tell_libraries(&mut command);
            (command, release.command_for(&program, &release.dir))
        });
        let machines = names.iter().map(|name| {
            (child::tool_on_terminal(name), child::foreign_program(Path::new(name), Path::new("/")))
        });
        let works = |(client, mut probe): (Launch, Launch)| {
            probe.arg("--version");
            let said = run_with_allowance(probe, Allowance::QUESTION).ok().flatten();
            said.is_some_and(|said| said.status.success()).then(|| Box::new(client))
        };
        let found = if child::is_root() {
            machines.chain(own).find_map(works)
        } else {
            own.into_iter().chain(machines).find_map(works)
        };
        let Some(mut client) = found else {
            return Err(self.unsuitable_error(format!(
                "neither its release nor this machine has a client ({}); install one, or use the \
                 URL that `dbdyno server start {}` printed",
                names.join(", "),
                self.name
            )));
        };
        self.point(&mut client)?;
        let program = client.program().to_string_lossy().into_owned();
        let status = child::start(*client).and_then(|mut client| client.wait());
        let status = status.map_err(SandboxError::spawn(&program))?;
        Ok(status.code().unwrap_or(1))
    }

    /// Tells a client where the server is. The password goes by the environment, which other users
    /// cannot see.
    fn point(&self, client: &mut Launch) -> Result<(), SandboxError> {
        let (work, password) = (self.dir.join("s"), self.password()?);
        if self.product.dialect() == Dialect::Postgres {
            client.arg("-h").arg(work).arg("-p").arg(self.port.to_string());
            client.args(["-U", USER, DATABASE]).env("PGPASSWORD", password.expose());
        } else {
            let socket = socket_in(&work, self.product, self.port);
            client.arg("--no-defaults").arg(format!("--socket={}", socket.display()));
            // Whoever listens on the socket does not get a file of ours.
            client.arg("--local-infile=0");
            client.args(["-u", USER, DATABASE]).env("MYSQL_PWD", password.expose());
        }
        Ok(())
    }

    pub(crate) fn release(&self, home: &Home) -> Result<Release, SandboxError> {
        let known = release::installed_releases(home)
            .into_iter()
            .find(|release| release.name() == self.tree);
        known.ok_or_else(|| {
            self.unsuitable_error(format!(
                "its release {} is not here any more; get it again with `dbdyno server get`",
                self.tree
            ))
        })
    }

    pub(crate) fn password(&self) -> Result<Secret, SandboxError> {
        password::read(&self.dir).map(|(holds, _)| holds)
    }

    pub(crate) fn unsuitable_error(&self, reason: String) -> SandboxError {
        SandboxError::Unsuitable { what: format!("background server {}", self.name), reason }
    }

    fn write(&self) -> Result<(), SandboxError> {
        let mut text = format!("product {}\n", self.product.name());
        text.push_str(&format!("tree {}\nport {}\n", self.tree, self.port));
        if let Some(Membership { shape, number, of }) = &self.membership {
            text.push_str(&format!("topology {shape}\nmember {number}\nof {of}\n"));
        }
        for (name, value) in &self.settings {
            text.push_str(&format!("setting {name} {value}\n"));
        }
        write_private(&self.dir.join(RECORD), &text)
    }

    fn read(home: &Home, dir: &Path) -> Option<BackgroundServer> {
        let name = dir.file_name()?.to_str()?.to_owned();
        let text = fs::read_to_string(dir.join(RECORD)).ok()?;
        let pairs = || text.lines().filter_map(|line| line.split_once(' '));
        let of = |wanted: &str| pairs().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        let settings = pairs().filter(|(name, _)| *name == "setting");
        let settings = settings.filter_map(|(_, value)| value.split_once(' '));
        Some(BackgroundServer {
            name,
            membership: Membership::read(of),
            product: Product::named(of("product")?)?,
            tree: of("tree")?.to_owned(),
            port: of("port")?.parse().ok()?,
            settings: settings.map(|(name, v)| (name.to_owned(), v.to_owned())).collect(),
            dir: dir.to_owned(),
            host: home.host().clone(),
        })
    }
}

/// Removes a release that is here, and its empty data directories; `progress` hears for whom it
/// waits.
///
/// # Errors
/// [`SandboxError::Unsuitable`] while a server runs from it or a background server needs it.
pub fn remove(
    home: &Home,
    release: &Release,
    progress: &mut dyn FnMut(&str),
) -> Result<(), SandboxError> {
    let _lock = home.lock(progress)?;
    let name = release.name();
    let refuse = |reason: String| {
        let what = format!("release {name}");
        Err(SandboxError::Unsuitable { what, reason })
    };
    if let Some(user) = BackgroundServer::all_in(home).into_iter().find(|known| known.tree == name)
    {
        let user = user.name;
        return refuse(format!(
            "the background server {user} needs it; remove that first with `dbdyno server rm {user}`"
        ));
    }
    if let Some(server) = servers_in(&**home.host(), &release.dir, Path::new("/")).first() {
        return refuse(format!("a server runs from it (pid {}); end that first", server.pid));
    }
    for entry in fs::read_dir(home.templates()).into_iter().flatten().flatten() {
        let template = entry.file_name().to_string_lossy().into_owned();
        if template.rsplit_once("-t").is_some_and(|(tree, _)| tree == name) {
            let path = entry.path();
            fs::remove_dir_all(&path).map_err(SandboxError::io("remove", &path))?;
        }
    }
    // Away from its name at once: half a tree must not be found.
    let doomed = home.servers_dir().join(format!(".tmp-{}", std::process::id()));
    fs::rename(&release.dir, &doomed).map_err(SandboxError::io("rename", &release.dir))?;
    fs::remove_dir_all(&doomed).map_err(SandboxError::io("remove", &doomed))
}

/// Kills the process that is recorded, whatever program it runs by now, and all servers that work
/// in a directory, and waits until they are gone.
pub(crate) fn end_processes(home: &Home, dir: &Path) {
    let recorded = fs::read_to_string(dir.join("server")).unwrap_or_default();
    if let Some(recorded) = Identity::from_line(&recorded) {
        recorded.kill_and_wait(&**home.machine());
    }
    kill_servers_in(&**home.machine(), &home.servers_dir(), dir);
    remove_shared_memory(&dir.join("s/data"));
}

/// Names of directories of servers without a record, in order: of starts that were ended, or that
/// go on.
pub fn unfinished_starts(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.background_dir()).into_iter().flatten().flatten();
    let without_record = entries.filter(|entry| is_unfinished(&entry.path()));
    let mut names: Vec<String> =
        without_record.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| BackgroundServer::check_name(name).is_ok());
    names.sort();
    names
}

fn is_unfinished(dir: &Path) -> bool {
    dir.is_dir() && !dir.join(RECORD).exists()
}

/// Removes what a start left that was ended before the server of this name had its record, by which
/// all other commands know it. Whether there was such a thing.
///
/// # Errors
/// Files that cannot be removed.
pub fn remove_unfinished(home: &Home, name: &str) -> Result<bool, SandboxError> {
    BackgroundServer::check_name(name)?;
    let dir = home.background_dir().join(name);
    if !is_unfinished(&dir) {
        return Ok(false);
    }
    end_processes(home, &dir);
    removal::remove(&dir)?;
    Ok(true)
}
