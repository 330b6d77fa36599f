//! `dbdyno engine serve`: the reference engine as a server of MySQL's protocol.
//!
//! ```text
//!   open the directory ─▶ listen ─▶ print the URL ─▶ serve … Ctrl-C or SIGTERM ─▶ flush, end
//! ```

use std::io::Read as _;
use std::net::ToSocketAddrs as _;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use clap::{Args, Subcommand, ValueEnum};
use dbdyno_files::owner;
use dbdyno_model::{ArmSpec, Design, Secret, Target, Transport};
use dbdyno_sandbox::own_directory;
use dbdyno_serve::{
    CutTail, EngineListener, Listener, ServeLimits, ServerSecurity, Settings, engine_in,
};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::args::Place;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{files, output, session};

#[derive(Debug, Args)]
pub(crate) struct EngineFlags {
    #[command(subcommand)]
    pub command: EngineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum EngineCommand {
    /// Serve the reference engine to clients of MySQL; prints its URL
    Serve(Serve),
}

/// Serve the reference engine to clients of MySQL; prints its URL.
///
/// It speaks MySQL's protocol over the SQL that docs/ENGINE.md tells, until Ctrl-C or SIGTERM: then
/// clients that are at work may finish, and what was committed is made durable. It listens on
/// 127.0.0.1; any other address wants a password, from DBDYNO_ENGINE_PASSWORD or a file.
#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Fields of the design, as behind engine:? — 'view=csn&wake=group'
    #[arg(long, value_name = "FIELD=VALUE&…", default_value = "", hide_default_value = true)]
    pub design: String,
    /// Address and port; port 0 is one that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:3307")]
    pub listen: String,
    /// A unix socket instead, which is made and taken away; without a password it is private
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub socket: Option<PathBuf>,
    /// Directory of the tables, private, made if it is not there [default: engine in the home]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// The account that is let in
    #[arg(long, value_name = "NAME", default_value = "root")]
    pub user: String,
    /// File whose first line is the account's password; else DBDYNO_ENGINE_PASSWORD, else none
    #[arg(long, value_name = "FILE")]
    pub password_file: Option<PathBuf>,
    /// Whether connections are encrypted [default: off; offered where --tls-cert names a file]
    #[arg(long, value_name = "MODE", hide_possible_values = true, long_help = TLS_HELP)]
    pub tls: Option<Encrypting>,
    /// File of the certificate, in PEM, with those between it and its authority
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// File of its private key, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// How its one database is called
    #[arg(long, value_name = "NAME", default_value = "test")]
    pub database: String,
    /// Connections at a time; whoever comes beyond is told so (error 1040)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000),
          default_value_t = 4_096)]
    pub max_connections: u32,
}

/// Whether a server encrypts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Encrypting {
    /// Never
    Off,
    /// Where the client asks for it
    Offered,
    /// Always, except on a unix socket
    Required,
}

/// Where a password may stand.
const PASSWORD: &str = "DBDYNO_ENGINE_PASSWORD";

const TLS_HELP: &str = "\
Whether connections are encrypted:

  off       never; the default
  offered   where the client asks for it; the default with --tls-cert
  required  always, except on a unix socket (error 3159)

Without --tls-cert a certificate is made when the server starts, which nobody has signed:
clients can encrypt with it, and cannot verify to whom.";

pub(crate) fn run(place: &Place, flags: &EngineFlags) -> Result<Exit, Failure> {
    let EngineCommand::Serve(serve) = &flags.command;
    serve.run(place)
}

impl Serve {
    fn run(&self, place: &Place) -> Result<Exit, Failure> {
        let design = self.design()?;
        let settings = self.settings()?;
        if let Some(outside) = self.outside(&settings.password)? {
            return Err(outside);
        }
        let data = match &self.data {
            Some(data) => data.clone(),
            None => session::open_home(place)?.dir().join("engine"),
        };
        let data = own_directory(&data).map_err(|error| {
            Failure::Usage(format!("{error}; name another directory with --data"))
        })?;
        let shown = data.display();
        let engine = engine_in(&data, &design, monotonic_ns);
        let engine = engine.map_err(|error| {
            Failure::Usage(format!("{shown}: {error}; name another directory with --data"))
        })?;
        if let Some(CutTail { file, place, bytes }) = engine.cut_tail() {
            output::say_text(&format!(
                "the last {bytes} bytes of {shown}/{file}, from {place} on, were no whole record \
                 and were cut off: what was being written when the engine ended. If it was ended \
                 with care, the disk has changed them, and the last transaction may be lost"
            ));
        }
        let signals = signals()?;
        let listener = self.listener(&settings.password)?;
        let (user, database) = (settings.user.clone(), settings.database.clone());
        let is_required = settings.security.as_ref().is_some_and(ServerSecurity::is_required);
        let server = EngineListener::start(listener, engine, settings).map_err(|error| {
            Failure::Usage(format!("no thread to serve with: {error}; end something else"))
        })?;
        let url = match server.transport() {
            Transport::Unix(path) => format!("mysql://{user}@/{database}?socket={path}"),
            tcp if is_required => format!("mysql://{user}@{tcp}/{database}?tls=required"),
            tcp => format!("mysql://{user}@{tcp}/{database}"),
        };
        output::say_text(&format!("tables in {shown}; Ctrl-C or SIGTERM ends it"));
        output::print(&format!("{url}\n"))?;
        wait_for(signals);
        output::say_text("ending: clients that are at work may finish");
        let ended = server.stop();
        if let Some(path) = &self.socket {
            // It was ours; where it is gone already, so much the better.
            let _ = std::fs::remove_file(path);
        }
        ended.map_err(|error| Failure::Usage(format!("{shown}: {error}")))?;
        Ok(Exit::Holds)
    }

    fn design(&self) -> Result<Design, Failure> {
        let fields = self.design.trim_start_matches("engine:").trim_start_matches('?');
        let spec = format!("engine:?{fields}").parse::<ArmSpec>();
        match spec.map(|spec| spec.target) {
            Ok(Target::Engine(design)) => Ok(design),
            Ok(_) => Err(Failure::Usage(format!("--design {fields}: no design of the engine"))),
            Err(error) => Err(Failure::Usage(format!("--design: {error}"))),
        }
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let password = match &self.password_file {
            Some(path) => {
                let text = dbdyno_lab::input::read_text(path).map_err(|error| {
                    Failure::Usage(format!("--password-file {}: {error}", path.display()))
                })?;
                Secret::new(text.lines().next().unwrap_or_default())
            }
            None => Secret::new(std::env::var(PASSWORD).unwrap_or_default()),
        };
        let connections = self.max_connections as usize;
        Ok(Settings {
            user: self.user.clone(),
            password,
            security: self.security()?,
            database: self.database.clone(),
            version: format!("8.0.33-dbdyno-{}", env!("CARGO_PKG_VERSION")),
            clock: now_us,
            uptime_ns: monotonic_ns,
            limits: ServeLimits { connections, ..ServeLimits::default() },
        })
    }

    /// How connections are encrypted, if they are.
    fn security(&self) -> Result<Option<ServerSecurity>, Failure> {
        fn unready(error: impl std::fmt::Display) -> Failure {
            Failure::Usage(error.to_string())
        }
        let (mode, security) = match (self.tls, &self.tls_cert, &self.tls_key) {
            (Some(Encrypting::Off), Some(_), _) => {
                let text = "--tls off says to encrypt nothing, and --tls-cert names a certificate; \
                            leave one of them out";
                return Err(Failure::Usage(text.to_owned()));
            }
            (None | Some(Encrypting::Off), None, _) => return Ok(None),
            (mode, Some(certificate), Some(key)) => {
                let options = ["--tls-cert", "--tls-key"];
                let read = ServerSecurity::of_files(options, certificate, key);
                (mode, read.map_err(unready)?)
            }
            (mode, ..) => {
                output::say_text(
                    "encrypted by a certificate made just now, which clients cannot verify \
                     (tls=required); name one of your own with --tls-cert and --tls-key",
                );
                (mode, ServerSecurity::self_signed().map_err(unready)?)
            }
        };
        Ok(Some(if mode == Some(Encrypting::Required) { security.required() } else { security }))
    }

    /// Why it must not listen where it is told, if that is so.
    fn outside(&self, password: &Secret) -> Result<Option<Failure>, Failure> {
        if self.socket.is_some() || !password.is_empty() {
            return Ok(None);
        }
        let mut all = self.listen.to_socket_addrs().map_err(|error| self.unheard(&error))?;
        let is_outside = all.any(|address| !address.ip().is_loopback());
        Ok(is_outside.then(|| {
            Failure::Usage(format!(
                "--listen {}: an address that others can reach wants a password; put one into \
                 {PASSWORD} or a file (--password-file), or listen on 127.0.0.1",
                self.listen
            ))
        }))
    }

    fn listener(&self, password: &Secret) -> Result<Listener, Failure> {
        match &self.socket {
            Some(path) => {
                let bind = || owner::check_way(path).and_then(|()| Listener::bind_unix(path));
                // Where nobody is asked for a password, the socket's mode lets the user in alone.
                let is_private = password.is_empty();
                let bound = if is_private { bind() } else { files::by_users_umask(bind) };
                bound.map_err(|error| {
                    let shown = path.display();
                    Failure::Usage(format!("--socket {shown}: {error}; name another or remove it"))
                })
            }
            None => Listener::bind_tcp(&*self.listen).map_err(|error| self.unheard(&error)),
        }
    }

    fn unheard(&self, error: &std::io::Error) -> Failure {
        let listen = &self.listen;
        Failure::Usage(format!("--listen {listen}: {error}; 127.0.0.1:0 is a port that is free"))
    }
}

/// What can be read from when a signal has come that ends the server. A second one ends it at once.
fn signals() -> Result<UnixStream, Failure> {
    let uncaught = |error| Failure::Usage(format!("signals cannot be caught: {error}"));
    let (ours, theirs) = UnixStream::pair().map_err(uncaught)?;
    let seen = Arc::default();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let theirs = theirs.try_clone().map_err(uncaught)?;
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&seen)))
            .and_then(|_| signal_hook::low_level::pipe::register(signal, theirs))
            .map_err(uncaught)?;
    }
    Ok(ours)
}

fn wait_for(mut signals: UnixStream) {
    let mut byte = [0];
    while signals
        .read(&mut byte)
        .is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted)
    {}
}

/// Microseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a row may carry the time of day")]
fn now_us() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_micros() as i64)
}

/// Nanoseconds of the system's monotonic clock, which goes on from life to life: a replica applies
/// now what began to commit in the life before.
fn monotonic_ns() -> u64 {
    // Linux always has this clock; it can fail for a wrong address only.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(0, |time| time.num_nanoseconds() as u64)
}
