//! A connection of the mock, as the sides of the two protocols see it, and what it has in common
//! with the others of its server.
//!
//! Whatever is counted, waited for or cut is so here, so that both protocols do it alike.

use std::collections::HashMap;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::login::{Login, MockProtocol};
use super::script::{MockReply, SPIN_TAIL, Script, ServiceTime};
use crate::stream::SocketStream;

/// What all sessions of a server have in common.
pub(super) struct MockState {
    pub(super) protocol: MockProtocol,
    login: Login,
    script: Arc<dyn Script>,
    pub(super) statements: AtomicU64,
    pub(super) controls: AtomicU64,
    pub(super) connections: AtomicU64,
    /// Whether a login has gone the full way, so that the next may go the fast way.
    pub(super) cached: AtomicBool,
    pub(super) stopping: AtomicBool,
    sessions: Mutex<Sessions>,
}

/// What the end of a server has to undo.
#[derive(Default)]
pub(super) struct Sessions {
    /// A second handle on every open socket, by connection number.
    pub(super) sockets: HashMap<u64, SocketStream>,
    pub(super) threads: Vec<JoinHandle<()>>,
}

impl MockState {
    pub(super) fn new(protocol: MockProtocol, login: Login, script: Arc<dyn Script>) -> MockState {
        MockState {
            protocol,
            login,
            script,
            statements: AtomicU64::new(0),
            controls: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            cached: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
            sessions: Mutex::default(),
        }
    }

    pub(super) fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection.
pub(super) struct Session {
    pub(super) stream: SocketStream,
    /// The connection's number, from 0.
    pub(super) number: u64,
    pub(super) executed: u64,
    pub(super) controlled: u64,
    pub(super) shared: Arc<MockState>,
}

impl Session {
    pub(super) fn login(&self) -> &Login {
        &self.shared.login
    }

    /// What the server calls itself.
    pub(super) fn version(&self) -> Option<&str> {
        self.shared.script.version()
    }

    /// What the script answers to a text, if it does; that is counted as a statement.
    pub(super) fn text_reply(&mut self, sql: &[u8]) -> Option<MockReply> {
        let reply = self.shared.script.text_reply(&String::from_utf8_lossy(sql))?;
        self.shared.statements.fetch_add(1, Ordering::Release);
        Some(reply)
    }

    /// Asks the script for the next statement, waits its delay and counts it.
    pub(super) fn statement_reply(&mut self) -> MockReply {
        let turn = self.shared.script.statement_turn(self.number, self.executed);
        self.executed += 1;
        match turn.delay {
            ServiceTime::None => {}
            ServiceTime::Sleep(time) => self.wait(time, thread::park_timeout),
            ServiceTime::Exact(time) => self.wait(time, |rest| match rest.checked_sub(SPIN_TAIL) {
                Some(sleep) if !sleep.is_zero() => thread::park_timeout(sleep),
                _ => std::hint::spin_loop(),
            }),
            ServiceTime::Spin(time) => self.wait(time, |_| std::hint::spin_loop()),
        }
        // A server that is going down does not answer before its time.
        let stopping = self.shared.stopping.load(Ordering::Relaxed);
        if stopping || turn.reply == MockReply::Cut {
            return MockReply::Cut;
        }
        self.shared.statements.fetch_add(1, Ordering::Release);
        turn.reply
    }

    /// Asks the script for the next control and counts it.
    pub(super) fn control_reply(&mut self) -> MockReply {
        let reply = self.shared.script.control_reply(self.number, self.controlled);
        self.controlled += 1;
        if reply != MockReply::Cut {
            self.shared.controls.fetch_add(1, Ordering::Release);
        }
        reply
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

/// Cuts a connection.
pub(super) fn shut(stream: &SocketStream) {
    // It fails only where the other side was first.
    let _ = stream.shut(Shutdown::Both);
}
