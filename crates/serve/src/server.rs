//! Connections: let in, counted, ended.
//!
//! ```text
//!   accept ─▶ room? ── no ──▶ 1040                stop: nobody is let in
//!               │ yes                                    waits are ended, reading is ended
//!             thread ─▶ session ─▶ end                   who works answers and goes
//!                                                        who does not is cut; the log is flushed
//! ```

use std::collections::HashMap;
use std::io;
use std::net::Shutdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use dbdyno_engine::{EngineError, Replica};
use dbdyno_model::Transport;
use dbdyno_wire::mysql::server::turn_away;
use dbdyno_wire::{Listener, SocketStream};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::ServedEngine;
use crate::house::House;
use crate::session;
use crate::settings::Settings;

/// A server that listens.
pub struct EngineListener {
    shared: Arc<ServerState>,
    listener: Listener,
    acceptor: JoinHandle<()>,
    replica: Option<Replica>,
}

/// What all connections have in common.
struct ServerState {
    house: House,
    connections: Mutex<Connections>,
    /// Somebody has gone.
    gone: Condvar,
    stopping: AtomicBool,
}

#[derive(Default)]
struct Connections {
    /// A second handle on the socket of each, and its thread.
    open: HashMap<u32, (SocketStream, Option<JoinHandle<()>>)>,
    /// Threads that are about to end.
    ended: Vec<JoinHandle<()>>,
}

/// Room for what is no thread's stack: see `sql`, which bounds how deep statements are.
const STACK: usize = 2 << 20;
/// Where there is no room for a socket, one is waited for.
const NO_ROOM: Duration = Duration::from_millis(10);
/// Files that the process has open besides sockets of clients, each of which has two handles.
const OTHER_FILES: u64 = 256;

impl EngineListener {
    /// Begins to serve an engine to whoever connects.
    ///
    /// # Errors
    /// The operating system's, when it gives no thread.
    pub fn start(
        listener: Listener,
        served: impl Into<ServedEngine>,
        settings: Settings,
    ) -> io::Result<EngineListener> {
        let ServedEngine { engine, replica } = served.into();
        make_room(settings.limits.connections);
        let shared = Arc::new(ServerState {
            house: House::new(engine, settings),
            connections: Mutex::default(),
            gone: Condvar::new(),
            stopping: AtomicBool::new(false),
        });
        let (accepting, theirs) = (listener.duplicate()?, shared.clone());
        let builder = thread::Builder::new().name("serve:accept".to_owned());
        let acceptor = builder.spawn(move || accept(&accepting, &theirs))?;
        Ok(EngineListener { shared, listener, acceptor, replica })
    }

    /// Where it listens.
    pub fn transport(&self) -> &Transport {
        self.listener.transport()
    }

    /// Ends it: nobody is let in any more, who works may finish, and what was committed is made
    /// durable. A replica ends where it is, and goes on from there when it is opened again.
    ///
    /// # Errors
    /// The disk's refusal to keep it; what ended the replica before.
    ///
    /// # Panics
    /// If a thread of it panicked.
    pub fn stop(self) -> Result<(), EngineError> {
        let EngineListener { shared, listener, acceptor, replica } = self;
        shared.stopping.store(true, Ordering::Release);
        listener.shut();
        acceptor.join().expect("nothing panics where connections are accepted");
        let interruption = shared.house.engine.interrupt_waits();
        shared.house.processes.let_finish(true);
        shared.shut_all(Shutdown::Read);
        shared.wait_for_all();
        shared.house.processes.let_finish(false);
        // Who is left does not read what it was answered.
        shared.shut_all(Shutdown::Both);
        shared.wait_for_all();
        drop(interruption);
        let ended = std::mem::take(&mut shared.connections().ended);
        for thread in ended {
            // One that panicked has told so, and its transaction was rolled back.
            let _ = thread.join();
        }
        shared.house.engine.flush()?;
        replica.map_or(Ok(()), Replica::stop)
    }
}

impl ServerState {
    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn shut_all(&self, how: Shutdown) {
        for (socket, _) in self.connections().open.values() {
            // It fails only where the other side was first.
            let _ = socket.shut(how);
        }
    }

    fn wait_for_all(&self) {
        let most = self.house.settings.limits.ending;
        let waited = self.gone.wait_timeout_while(self.connections(), most, |connections| {
            !connections.open.is_empty()
        });
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

fn accept(listener: &Listener, shared: &Arc<ServerState>) {
    let mut id = 0_u32;
    while !shared.stopping.load(Ordering::Acquire) {
        match listener.accept() {
            Ok(stream) => {
                id = id.wrapping_add(1).max(1);
                admit(stream, id, shared);
            }
            Err(_) if shared.stopping.load(Ordering::Acquire) => return,
            // No room for a socket, or a client that went before it was let in.
            Err(_) => thread::sleep(NO_ROOM),
        }
    }
}

/// Gives a connection its thread, or tells it that there is no room.
fn admit(stream: SocketStream, id: u32, shared: &Arc<ServerState>) {
    let ended = {
        let mut connections = shared.connections();
        let is_full = connections.open.len() >= shared.house.settings.limits.connections
            || connections.open.contains_key(&id);
        if is_full {
            drop(connections);
            return turn_away(stream, 1040, "08004", "too many connections; try again later");
        }
        let Ok(second) = stream.duplicate() else { return no_thread(stream) };
        connections.open.insert(id, (second, None));
        std::mem::take(&mut connections.ended)
    };
    for thread in ended {
        let _ = thread.join();
    }
    let Ok(spare) = stream.duplicate() else {
        shared.connections().open.remove(&id);
        return no_thread(stream);
    };
    let theirs = shared.clone();
    let builder = thread::Builder::new().name(format!("serve:{id}")).stack_size(STACK);
    let spawned = builder.spawn(move || {
        let leaving = Leaving { id, shared: &theirs };
        session::serve(stream, id, &leaving.shared.house);
    });
    match spawned {
        Ok(thread) => {
            let mut connections = shared.connections();
            match connections.open.get_mut(&id) {
                Some((_, place)) => *place = Some(thread),
                None => connections.ended.push(thread),
            }
        }
        Err(_) => {
            shared.connections().open.remove(&id);
            no_thread(spare);
        }
    }
}

fn no_thread(stream: SocketStream) {
    turn_away(stream, 1135, "HY000", "there is no room for another thread; try again later");
}

/// A connection that ends, however it does.
struct Leaving<'s> {
    id: u32,
    shared: &'s ServerState,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let mut connections = self.shared.connections();
        if let Some((socket, thread)) = connections.open.remove(&self.id) {
            let _ = socket.shut(Shutdown::Both);
            connections.ended.extend(thread);
        }
        self.shared.gone.notify_all();
    }
}

/// Lets the process have as many files as it needs for its clients, or as many as it may.
fn make_room(connections: usize) {
    let limit = getrlimit(Resource::Nofile);
    let wanted = 2 * connections as u64 + OTHER_FILES;
    if limit.current.is_some_and(|current| current < wanted) {
        let most = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        // Without it there is room for fewer clients, and those beyond are told so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(most), ..limit });
    }
}
