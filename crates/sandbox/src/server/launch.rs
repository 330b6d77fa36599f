//! From a data directory to the first login.
//!
//! Another program may take the port between our looking for a free one and the server's listening
//! on it; then another port is taken, a few times. Whoever has the port then could pose as our
//! server. So nobody is asked on it: the first login goes to the socket in a directory that only
//! the server's account may enter, and then the port must be seen in the server's own process.
//!
//! ```text
//!   spawn ─▶ log in by the socket ─▶ our data directory? ─▶ the port is our child's ─▶ ready
//!               │                                              (see `listener`)
//!               └─ it has ended: "Address already in use" ─▶ another port
//! ```

use std::process::ExitStatus;

use dbdyno_host::Launch;
use dbdyno_model::{Dialect, Identifier, Product};
use dbdyno_server::data_directory;
use dbdyno_wire::{Endpoint, WireError};

use super::listener;
use super::reach::{connect, free_port};
use super::seat::Seat;
use super::settings::option_argument;
use super::{Ground, LOG_LINES, PORTS, Server};
use crate::bootstrap::{self, DATABASE};
use crate::child::{self, GuardedChild};
use crate::clock::Deadline;
use crate::error::SandboxError;
use crate::home::{create_private, write_private};
use crate::process::Identity;
use crate::spelling;
use crate::template;

/// The slowest rate at which a redo log is written before the first login, in MB a second: a busy
/// disk.
const REDO_MB_S: u64 = 20;
impl Server {
    /// Starts the process, on another port where the present one was lost.
    pub(crate) fn launch_process(&mut self) -> Result<(), SandboxError> {
        for _ in 0..PORTS {
            self.spawn()?;
            if self.wait_until_ready()? {
                return Ok(());
            }
            self.change_ports()?;
        }
        Err(self.start_failure(format!("found no free port in {PORTS} attempts")))
    }

    /// Somebody was faster on one of its ports, and it does not say on which.
    pub(super) fn change_ports(&mut self) -> Result<(), SandboxError> {
        self.port = free_port()?;
        self.seat.as_mut().map_or(Ok(()), Seat::change_ports)
    }

    pub(super) fn spawn(&mut self) -> Result<(), SandboxError> {
        let mut command = match self.release.product.dialect() {
            Dialect::Postgres => self.postgres(),
            _ => self.mysqld(),
        };
        if let Some(library) = &self.preloaded {
            command.env("LD_PRELOAD", library);
        }
        let mut command = self.counted_command(command);
        if matches!(self.ground, Ground::Background(_)) {
            child::let_outlive(&mut command);
        }
        if let Some(group) = &self.group {
            group.admit_launch(&mut command)?;
        }
        if let Some(hosts) = &self.hosts {
            child::resolve_by(&mut command, hosts);
        }
        let log = self.error_log();
        let failed = || SandboxError::io("create", &log);
        let file = create_private(&log).map_err(failed())?;
        command.stdout(file.try_clone().map_err(failed())?).stderr(file);
        let program = self.release.server().display().to_string();
        let kept =
            GuardedChild::start(&self.machine, command).map_err(SandboxError::spawn(&program))?;
        let identity = Identity::of_process(&*self.machine, kept.child.pid())
            .map(|identity| identity.to_line());
        self.kept = Some(kept);
        write_private(&self.ground.dir().join("server"), &identity.unwrap_or_default())
    }

    fn mysqld(&self) -> Launch {
        let mut command = template::mysqld_command(&self.release, &self.work());
        command.args(self.settings.iter().map(|(name, value)| option_argument(name, value)));
        let seat = self.seat.iter().flat_map(|seat| seat.settings(&self.settings));
        command.args(seat.map(|(name, value)| option_argument(&name, &value)));
        // Ours are the last, which count: these servers take an option by its beginning, too.
        command.arg(format!("--socket={}", self.socket().display()));
        command.arg(format!("--pid-file={}", self.work().join("pid").display()));
        command.arg(format!("--port={}", self.port)).arg("--bind-address=127.0.0.1");
        command.args(["--loose-skip-grant-tables=0", "--loose-skip-networking=0"]);
        command
    }

    fn postgres(&self) -> Launch {
        let mut command = self.release.command_for(&self.release.server(), &self.work());
        command.arg("-D").arg(self.data_dir());
        for (name, value) in &self.settings {
            command.arg("-c").arg(format!("{name}={value}"));
        }
        // Ours are the last, which count.
        command.arg("-k").arg(self.work()).arg("-p").arg(self.port.to_string());
        command.args(["-c", "listen_addresses=127.0.0.1"]);
        command
    }

    /// Waits for the first login. `false`: the port was taken by somebody else in the meantime.
    pub(super) fn wait_until_ready(&mut self) -> Result<bool, SandboxError> {
        let within_s = self.start_within_s + spelling::redo_told_mb(&self.settings) / REDO_MB_S;
        let deadline = Deadline::after_seconds(within_s);
        let mut last = "it did not accept connections".to_owned();
        loop {
            self.check_where_it_listens()?;
            match self.log_in(&self.socket_endpoint()) {
                Ok(true) if self.has_its_port() => return Ok(true),
                Ok(true) => last = format!("it does not listen on 127.0.0.1:{}", self.port),
                Ok(false) => "another server answered".clone_into(&mut last),
                Err(error) => {
                    last = error.to_string();
                    let refused = matches!(error, WireError::Login(_));
                    if let Some(other) = self.next_password.as_mut().filter(|_| refused) {
                        // Whoever was to tell it the next one may have been killed after that. A
                        // server that is starting up refuses, too, so that both are tried in turn.
                        std::mem::swap(&mut self.password, other);
                    }
                }
            }
            if let Some(status) = self.ended() {
                let log = child::last_lines(&self.error_log(), 100);
                if log.iter().any(|line| line.contains("Address already in use")) {
                    return Ok(false);
                }
                return Err(
                    self.start_failure(format!("ended with {status} before the first login"))
                );
            }
            if !deadline.pause() {
                let how = format!("did not accept a login within {within_s} s: {last}");
                return Err(self.start_failure(how));
            }
        }
    }

    /// Refuses a server that other machines may reach; whoever hears of it drops it, which kills
    /// it.
    pub(super) fn check_where_it_listens(&self) -> Result<(), SandboxError> {
        match listener::beyond_loopback(&*self.machine, self.pid()) {
            None => Ok(()),
            Some(address) => Err(self.start_failure(format!(
                "listens on {address}, where other machines may reach it; leave out the option \
                 that has it listen there"
            ))),
        }
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.kept.as_mut()?.child.try_wait().ok()?
    }

    /// Whether what listens on its port is the server.
    fn has_its_port(&self) -> bool {
        listener::is_of(&*self.machine, self.pid(), self.port).unwrap_or(false)
    }

    /// Our database was made with latin1, whatever the server prefers now: its tables take their
    /// character set from it.
    pub(crate) fn tell_database(&self) -> Result<(), SandboxError> {
        let told = tell_database(self.release.product, &self.socket_endpoint());
        told.map_err(|error| self.start_failure(format!("does not change its database: {error}")))
    }

    /// Logs in and asks for the data directory. `caching_sha2_password` remembers the account from
    /// then on, see [`bootstrap::mysql_sql`].
    fn log_in(&self, endpoint: &Endpoint) -> Result<bool, WireError> {
        let mut client = connect(self.release.product, endpoint)?;
        let directory = data_directory(&mut *client, self.release.product.dialect())?;
        let ours = directory.is_some_and(|directory| directory == self.data_dir());
        client.close();
        Ok(ours)
    }

    pub(super) fn start_failure(&self, how: String) -> SandboxError {
        let log = child::last_lines(&self.error_log(), LOG_LINES);
        SandboxError::StartFailed { what: format!("{} {how}", self.what), log }
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
        let (charset, collation) = (quoted_name(charset)?, quoted_name(collation)?);
        client.run(&format!(
            "ALTER DATABASE {DATABASE} CHARACTER SET {charset} COLLATE {collation}"
        ))?;
    }
    client.close();
    Ok(())
}

fn quoted_name(name: &str) -> Result<Identifier, WireError> {
    Identifier::new(name, Dialect::Mysql)
        .map_err(|error| WireError::Protocol(format!("a character set: {error}")))
}
