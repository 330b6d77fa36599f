//! The other side of the wire, scripted.
//!
//! ```text
//!   client ──socket──▶ session thread ──turn(connection, statement)──▶ Script
//!                           │                                            │
//!                           │◀──────────── Turn { delay, reply } ────────┘
//!                           └─ waits the delay, writes the reply: one write
//! ```
//!
//! A [`MockServer`] speaks a real protocol and holds no data. What it answers, and how long it
//! takes, is known beforehand; so what a load generator reports about it can be checked, and what
//! it costs besides the sockets is the client's own: it is the null server against which the
//! client's processor time is measured. Therefore a session allocates nothing per statement and
//! answers with prepared bytes.
//!
//! Executions of prepared statements and text queries are *statements* and go through the script.
//! `BEGIN`, `COMMIT`, `SET` and their like are *controls*: answered at once, counted apart.

use std::collections::HashMap;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use dbdyno_model::{Secret, Transport};

use crate::stream::{Endpoint, Stream};

mod mysql;
mod mysql_login;
mod postgres;
mod script;
mod sql;

pub use script::{Delay, EveryNth, Fixed, Reply, SPIN_TAIL, Script, Timed, Turn};

/// The language that the mock speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// MySQL's, as version 8.0 speaks it.
    Mysql,
    /// PostgreSQL's, version 3.0.
    Postgres,
}

/// How the mock lets clients prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// MySQL: `mysql_native_password`.
    Native,
    /// MySQL: `caching_sha2_password`. The first login of a server goes the full way, the later
    /// ones the fast way, as with a real server's cache.
    CachingSha2,
    /// PostgreSQL: SCRAM-SHA-256.
    Scram,
    /// PostgreSQL: MD5.
    Md5,
    /// Anybody is let in.
    Trust,
}

/// The one account of a mock server.
#[derive(Clone, Debug)]
pub struct Login {
    /// Its name.
    pub user: String,
    /// Its password.
    pub password: Secret,
    /// The proof that is demanded.
    pub auth: Auth,
}

impl Login {
    /// An account that needs no proof.
    pub fn trust(user: &str) -> Login {
        Login { user: user.to_owned(), password: Secret::default(), auth: Auth::Trust }
    }
}

/// A scripted server on a port or socket of its own. Dropping it cuts every connection and waits
/// for its threads.
pub struct MockServer {
    shared: Arc<Shared>,
    endpoint: Endpoint,
    listener: Listener,
    acceptor: Option<JoinHandle<()>>,
}

/// What all sessions of a server have in common.
struct Shared {
    protocol: Protocol,
    login: Login,
    script: Arc<dyn Script>,
    statements: AtomicU64,
    controls: AtomicU64,
    connections: AtomicU64,
    /// Whether a login has gone the full way, so that the next may go the fast way.
    cached: AtomicBool,
    stopping: AtomicBool,
    sessions: Mutex<Sessions>,
}

/// What the end of a server has to undo.
#[derive(Default)]
struct Sessions {
    /// A second handle on every open socket, by connection number.
    sockets: HashMap<u64, Stream>,
    threads: Vec<JoinHandle<()>>,
}

enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

/// Stack of a session's thread, a fraction of the usual: thousands fit into one process.
const STACK: usize = 256 << 10;

/// Connections after which threads that have ended are looked for.
const REAPED_EVERY: u64 = 256;

impl MockServer {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// The operating system's, when it gives no port or no thread.
    pub fn start(
        protocol: Protocol,
        login: Login,
        script: Arc<dyn Script>,
    ) -> io::Result<MockServer> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let port = listener.local_addr()?.port();
        let transport = Transport::Tcp("127.0.0.1".to_owned(), port);
        Self::listen(protocol, login, script, Listener::Tcp(listener), transport)
    }

    /// Starts a server on a new unix socket. The file is left to the owner of its directory.
    ///
    /// # Errors
    /// The operating system's, when the path cannot be bound or is taken.
    pub fn start_unix(
        protocol: Protocol,
        login: Login,
        script: Arc<dyn Script>,
        path: &Path,
    ) -> io::Result<MockServer> {
        let listener = UnixListener::bind(path)?;
        let transport = Transport::Unix(path.to_string_lossy().into_owned());
        Self::listen(protocol, login, script, Listener::Unix(listener), transport)
    }

    fn listen(
        protocol: Protocol,
        login: Login,
        script: Arc<dyn Script>,
        listener: Listener,
        transport: Transport,
    ) -> io::Result<MockServer> {
        let endpoint = Endpoint {
            transport,
            user: login.user.clone(),
            password: login.password.clone(),
            database: "dbdyno".to_owned(),
        };
        let shared = Arc::new(Shared {
            protocol,
            login,
            script,
            statements: AtomicU64::new(0),
            controls: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            cached: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            sessions: Mutex::default(),
        });
        let (accepting, theirs) = (listener.try_clone()?, Arc::clone(&shared));
        let acceptor = thread::Builder::new()
            .name("mock-accept".to_owned())
            .spawn(move || accept(&accepting, &theirs))?;
        Ok(MockServer { shared, endpoint, listener, acceptor: Some(acceptor) })
    }

    /// Where it listens, with the account that it lets in.
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint.clone()
    }

    /// Statements answered in all. A statement is counted before its answer is written, so who has
    /// read the answer sees it counted; one that was cut is not counted.
    pub fn statements(&self) -> u64 {
        self.shared.statements.load(Ordering::Acquire)
    }

    /// Controls (`BEGIN`, `SET` …) answered in all.
    pub fn controls(&self) -> u64 {
        self.shared.controls.load(Ordering::Acquire)
    }

    /// Connections accepted in all, those that failed to log in included.
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::Acquire)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.listener.shutdown();
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let threads = {
            let mut sessions = self.shared.sessions();
            for socket in sessions.sockets.values() {
                shut(socket);
            }
            std::mem::take(&mut sessions.threads)
        };
        for session in threads {
            session.thread().unpark();
            let _ = session.join();
        }
    }
}

impl Shared {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    fn try_clone(&self) -> io::Result<Listener> {
        Ok(match self {
            Listener::Tcp(listener) => Listener::Tcp(listener.try_clone()?),
            Listener::Unix(listener) => Listener::Unix(listener.try_clone()?),
        })
    }

    fn accept(&self) -> io::Result<Stream> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Stream::Tcp(stream))
            }
            Listener::Unix(listener) => Ok(Stream::Unix(listener.accept()?.0)),
        }
    }

    /// Wakes whoever waits in `accept`, for good. The standard library shuts down streams only, but
    /// to the kernel a listener is a socket like another.
    fn shutdown(&self) {
        let _ = self.try_clone().and_then(|listener| match listener {
            Listener::Tcp(tcp) => TcpStream::from(OwnedFd::from(tcp)).shutdown(Shutdown::Both),
            Listener::Unix(unix) => UnixStream::from(OwnedFd::from(unix)).shutdown(Shutdown::Both),
        });
    }
}

fn accept(listener: &Listener, shared: &Arc<Shared>) {
    while !shared.stopping.load(Ordering::Acquire) {
        match listener.accept() {
            // A client that could not be served sees its connection close.
            Ok(stream) => drop(admit(stream, shared)),
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

fn admit(stream: Stream, shared: &Arc<Shared>) -> io::Result<()> {
    let number = shared.connections.fetch_add(1, Ordering::AcqRel);
    let second = duplicate(&stream)?;
    let session = Session { stream, number, executed: 0, shared: Arc::clone(shared) };
    // The lock is held over both, so that a session cannot end before it is listed.
    let mut sessions = shared.sessions();
    // Nobody waits for those that have ended; let go, they give their stacks back.
    if number.is_multiple_of(REAPED_EVERY) {
        sessions.threads.retain(|thread| !thread.is_finished());
    }
    let builder = thread::Builder::new().name(format!("mock-{number}")).stack_size(STACK);
    let thread = builder.spawn(move || session.serve())?;
    sessions.threads.push(thread);
    sessions.sockets.insert(number, second);
    Ok(())
}

/// Another handle on the same socket.
fn duplicate(stream: &Stream) -> io::Result<Stream> {
    Ok(match stream {
        Stream::Tcp(stream) => Stream::Tcp(stream.try_clone()?),
        Stream::Unix(stream) => Stream::Unix(stream.try_clone()?),
    })
}

fn shut(stream: &Stream) {
    // It fails only where the other side was first.
    let _ = match stream {
        Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
        Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
    };
}

/// One connection, as the protocol sides see it.
struct Session {
    stream: Stream,
    /// The connection's number, from 0.
    number: u64,
    executed: u64,
    shared: Arc<Shared>,
}

impl Session {
    fn serve(mut self) {
        // The kernel may wake a sleeper 50 µs late to save power; here that would be a service time
        // of its own. Where it refuses, sleeps are as long as they were.
        let _ = nix::sys::prctl::set_timerslack(1);
        // An error here is a client that went away or broke the protocol; the client's side tells.
        let _ = match self.shared.protocol {
            Protocol::Mysql => mysql::serve(&mut self),
            Protocol::Postgres => postgres::serve(&mut self),
        };
        shut(&self.stream);
        self.shared.sessions().sockets.remove(&self.number);
    }

    fn login(&self) -> &Login {
        &self.shared.login
    }

    /// Asks the script for the next statement, waits its delay and counts it.
    fn turn(&mut self) -> Reply {
        let turn = self.shared.script.turn(self.number, self.executed);
        self.executed += 1;
        match turn.delay {
            Delay::None => {}
            Delay::Sleep(time) => self.wait(time, thread::park_timeout),
            Delay::Exact(time) => self.wait(time, |rest| match rest.checked_sub(SPIN_TAIL) {
                Some(sleep) if !sleep.is_zero() => thread::park_timeout(sleep),
                _ => std::hint::spin_loop(),
            }),
            Delay::Spin(time) => self.wait(time, |_| std::hint::spin_loop()),
        }
        // A server that is going down does not answer before its time.
        let stopping = self.shared.stopping.load(Ordering::Relaxed);
        if stopping || turn.reply == Reply::Cut {
            return Reply::Cut;
        }
        self.shared.statements.fetch_add(1, Ordering::Release);
        turn.reply
    }

    /// Counts a control.
    fn control(&self) {
        self.shared.controls.fetch_add(1, Ordering::Release);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a scripted service time is this server's own clock"
    )]
    fn wait(&self, time: Duration, pause: impl Fn(Duration)) {
        let start = Instant::now();
        while !self.shared.stopping.load(Ordering::Relaxed) {
            match time.checked_sub(start.elapsed()) {
                None | Some(Duration::ZERO) => return,
                Some(rest) => pause(rest),
            }
        }
    }
}
