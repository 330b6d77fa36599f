//! Why something cannot be observed.

use std::fmt;

use dbdyno_host::HostError;

/// Why something cannot be observed. `Display` is one sentence and what to try next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotObservable {
    /// The process is gone: the server died or was stopped. Carries its process id.
    ServerDied(u32),
    /// The address is not one of this host's. Carries it.
    OtherHost(String),
    /// A name has no address. Carries the name and the resolver's reason.
    UnknownHost(String, String),
    /// Nothing listens there, as far as this network namespace shows. Carries the address.
    NobodyListens(String),
    /// Somebody listens, in a process that we may not look into. Carries the address.
    NoPermission(String),
    /// What listens passes the traffic on to the real server. Carries address and program.
    Forwarder(String, String),
    /// We listen there ourselves: the cost of server and client cannot be told apart.
    Ourselves(String),
    /// Several unrelated processes listen there. Carries the address and their ids.
    Ambiguous(String, Vec<u32>),
    /// `/proc` does not give what it should. Carries the file and the reason.
    Proc(String, String),
}

impl fmt::Display for NotObservable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotObservable::ServerDied(pid) => {
                write!(f, "the server died: process {pid} is gone; see its error log")
            }
            NotObservable::OtherHost(address) => write!(
                f,
                "the processes behind {address} cannot be observed: it is not an address of this \
                 host; run dbdyno on the host of the server to see its costs"
            ),
            NotObservable::UnknownHost(name, why) => write!(
                f,
                "the processes behind {name} cannot be observed: the name has no address ({why}); \
                 check its spelling"
            ),
            NotObservable::NobodyListens(address) => write!(
                f,
                "no process listens on {address} in this network namespace; if the server runs in \
                 a container, run dbdyno on the host network or inside the container"
            ),
            NotObservable::NoPermission(address) => write!(
                f,
                "the process that listens on {address} belongs to another user; run dbdyno as \
                 root or as the user of the server to see its costs"
            ),
            NotObservable::Forwarder(address, program) => write!(
                f,
                "{program} listens on {address} and passes the traffic on; connect to the server \
                 itself to see its costs"
            ),
            NotObservable::Ourselves(address) => write!(
                f,
                "{address} is served by this very process; its costs are those of the client"
            ),
            NotObservable::Ambiguous(address, pids) => write!(
                f,
                "several unrelated processes listen on {address} ({pids:?}); stop all but one, or \
                 use its unix socket or an address that it does not share"
            ),
            NotObservable::Proc(file, why) => write!(
                f,
                "{file} cannot be used ({why}); dbdyno needs /proc of Linux, mounted without \
                 hidepid, to see costs"
            ),
        }
    }
}

impl std::error::Error for NotObservable {}

impl From<HostError> for NotObservable {
    fn from(error: HostError) -> NotObservable {
        NotObservable::Proc(error.place().display().to_string(), error.into_source().to_string())
    }
}
