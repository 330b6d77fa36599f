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
//! `BEGIN`, `COMMIT`, `SET` and their like are *controls*: answered at once, counted apart, and
//! carried out unless the script says otherwise.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::{self, JoinHandle};

use crate::listener::Listener;
use crate::server_key::ServerKey;
use crate::stream::{Endpoint, SocketStream};
use crate::tls::Security;

mod login;
mod mysql;
mod mysql_login;
mod postgres;
mod script;
mod session;
mod sql;

pub use login::{Auth, Login, MockProtocol};
pub use script::{
    EveryNth, FixedScript, MockReply, SPIN_TAIL, Script, ServiceTime, TimedScript, Turn,
};
use session::{MockState, Session, shut};

/// A scripted server on a port or socket of its own. Dropping it cuts every connection and waits
/// for its threads.
pub struct MockServer {
    shared: Arc<MockState>,
    endpoint: Endpoint,
    listener: Listener,
    acceptor: Option<JoinHandle<()>>,
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
        protocol: MockProtocol,
        login: Login,
        script: Arc<dyn Script>,
    ) -> io::Result<MockServer> {
        Self::listen(protocol, login, script, Listener::bind_tcp(("127.0.0.1", 0))?)
    }

    /// Starts a server on a new unix socket. The file is left to the owner of its directory.
    ///
    /// # Errors
    /// The operating system's, when the path cannot be bound or is taken.
    pub fn start_unix(
        protocol: MockProtocol,
        login: Login,
        script: Arc<dyn Script>,
        path: &Path,
    ) -> io::Result<MockServer> {
        Self::listen(protocol, login, script, Listener::bind_unix(path)?)
    }

    fn listen(
        protocol: MockProtocol,
        login: Login,
        script: Arc<dyn Script>,
        listener: Listener,
    ) -> io::Result<MockServer> {
        let endpoint = Endpoint {
            transport: listener.transport().clone(),
            user: login.user.clone(),
            password: login.password.clone(),
            database: "dbdyno".to_owned(),
            // Whatever key answers there is one of this process.
            security: Security::without_tls().with_key(ServerKey::AnyOffered),
        };
        let shared = Arc::new(MockState::new(protocol, login, script));
        let (accepting, theirs) = (listener.duplicate()?, Arc::clone(&shared));
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
    pub fn control_count(&self) -> u64 {
        self.shared.controls.load(Ordering::Acquire)
    }

    /// Connections accepted in all, those that failed to log in included.
    pub fn connection_count(&self) -> u64 {
        self.shared.connections.load(Ordering::Acquire)
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.listener.shut();
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

fn accept(listener: &Listener, shared: &Arc<MockState>) {
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

fn admit(stream: SocketStream, shared: &Arc<MockState>) -> io::Result<()> {
    let number = shared.connections.fetch_add(1, Ordering::AcqRel);
    let second = stream.duplicate()?;
    let shared_too = Arc::clone(shared);
    let session = Session { stream, number, executed: 0, controlled: 0, shared: shared_too };
    // The lock is held over both, so that a session cannot end before it is listed.
    let mut sessions = shared.sessions();
    // Nobody waits for those that have ended; let go, they give their stacks back.
    if number.is_multiple_of(REAPED_EVERY) {
        sessions.threads.retain(|thread| !thread.is_finished());
    }
    let builder = thread::Builder::new().name(format!("mock-{number}")).stack_size(STACK);
    let thread = builder.spawn(move || serve(session))?;
    sessions.threads.push(thread);
    sessions.sockets.insert(number, second);
    Ok(())
}

/// Serves a connection to its end.
fn serve(mut session: Session) {
    // The kernel may wake a sleeper 50 µs late to save power; here that would be a service time of
    // its own. Where it refuses, sleeps are as long as they were.
    let _ = nix::sys::prctl::set_timerslack(1);
    // An error here is a client that went away or broke the protocol; the client's side tells.
    let _ = match session.shared.protocol {
        MockProtocol::Mysql => mysql::serve(&mut session),
        MockProtocol::Postgres => postgres::serve(&mut session),
    };
    shut(&session.stream);
    session.shared.sessions().sockets.remove(&session.number);
}
