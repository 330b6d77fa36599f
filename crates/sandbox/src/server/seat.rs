//! A server's place in a Galera cluster: whom it joins, and two ports beside that for SQL, one for
//! the others' messages and one for transfers. It is taken anew for each start, see `topology`.

use std::path::PathBuf;

use super::reach::free_port;
use crate::error::SandboxError;

/// A machine that stands still for seconds, as a busy or virtual one does, is not a lost node: with
/// the 5 and 15 s of the maker's a pause of 21 s broke a cluster up, and none could be written.
const PATIENCE: &str = "evs.suspect_timeout=PT40S;evs.inactive_timeout=PT60S";
/// Letters of the UUID that name the cluster, for which 32 is the limit.
const NAME_CHARS: usize = 18;

/// What one node is told for one start: who it is, and whom it joins.
#[derive(Clone, Debug)]
pub(crate) struct Seat {
    provider: PathBuf,
    cluster: String,
    /// Addresses of those that are there; of none by the first, which makes the cluster.
    others: Vec<String>,
    port: u16,
    transfer_port: u16,
}

impl Seat {
    /// A place on free ports in the cluster of this UUID. `provider` is Galera's library.
    pub(crate) fn new(
        provider: PathBuf,
        uuid: &str,
        others: &[String],
    ) -> Result<Seat, SandboxError> {
        Ok(Seat {
            provider,
            cluster: uuid.chars().take(NAME_CHARS).collect(),
            others: others.to_vec(),
            port: free_port()?,
            transfer_port: free_port()?,
        })
    }

    /// Takes other ports: somebody was faster.
    pub(crate) fn change_ports(&mut self) -> Result<(), SandboxError> {
        self.port = free_port()?;
        self.transfer_port = free_port()?;
        Ok(())
    }

    /// As settings, to be told after `settings`, which are the server's.
    pub(crate) fn settings(&self, settings: &[(String, String)]) -> Vec<(String, String)> {
        let (port, transfer) = (self.port, self.transfer_port);
        let own = format!(
            "gmcast.listen_addr=tcp://127.0.0.1:{port};ist.recv_addr=127.0.0.1:{transfer};\
             gcache.recover=no;{PATIENCE}"
        );
        // The option is one; of two the server would take the last.
        let theirs = settings.iter().find(|(name, _)| name == "wsrep_provider_options");
        let options = theirs.map_or(own.clone(), |(_, theirs)| format!("{theirs};{own}"));
        let mut all = vec![
            ("wsrep_provider", self.provider.display().to_string()),
            ("wsrep_cluster_name", self.cluster.clone()),
            ("wsrep_cluster_address", format!("gcomm://{}", self.others.join(","))),
            ("wsrep_node_address", format!("127.0.0.1:{port}")),
            ("wsrep_provider_options", options),
        ];
        if self.others.is_empty() {
            all.push(("wsrep_new_cluster", String::new()));
        }
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
