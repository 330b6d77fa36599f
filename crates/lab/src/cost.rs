//! What a round cost, by the arm that it is measured on.
//!
//! ```text
//!              server                         client
//!   server     its processes, between looks   the client threads
//!   embedded   the client threads             what asking nothing costs, where that is known
//!              less what asking costs,
//!              and threads of its own
//! ```

use dbdyno_load::Connector;
use dbdyno_load::usage::ThreadUsage;
use dbdyno_model::Cost;
use dbdyno_probe::ThreadsCost;

use crate::neighbours::Look;

/// What was seen of a round's cost.
pub(crate) struct CostReadings<'a> {
    /// What the client threads used.
    pub(crate) usage: ThreadUsage,
    /// Length of the window.
    pub(crate) wall_ns: u64,
    /// Time between the two looks.
    pub(crate) observed_ns: u64,
    /// At the opening and at the closing of the window.
    pub(crate) looks: &'a [Look],
    /// For an embedded arm: what asking alone costs; `None` where that cannot be known.
    pub(crate) asking_ns: Option<u64>,
}

impl CostReadings<'_> {
    /// The cost of the round on an arm of this kind.
    pub(crate) fn round_cost(&self, connector: &Connector) -> Cost {
        if connector.is_embedded() { self.embedded() } else { self.of_server() }
    }

    fn embedded(&self) -> Cost {
        let usage = self.usage;
        let own = self.own_threads();
        let client_ns = self.asking_ns.map(|asking_ns| asking_ns.min(usage.cpu_ns));
        Cost {
            server_cpu_ns: Some(usage.cpu_ns - client_ns.unwrap_or(0) + own.cpu_ns),
            server_kernel_ns: Some(usage.kernel_ns),
            client_cpu_ns: client_ns,
            client_kernel_ns: client_ns.map(|_| 0),
            server_context_switches: Some(
                usage.context_switches() + own.voluntary_switches + own.involuntary_switches,
            ),
            server_read_bytes: Some(usage.read_bytes + own.read_bytes),
            server_written_bytes: Some(usage.written_bytes + own.written_bytes),
            ..Cost::default()
        }
    }

    /// What threads used that are the arm's and no client's. RocksDB's work for all databases of a
    /// process: what the other arm still had to compact is in it, too, unless it was settled.
    pub(crate) fn own_threads(&self) -> ThreadsCost {
        match self.looks {
            [Look { threads: Some(opened), .. }, Look { threads: Some(closed), .. }] => {
                closed.cost_since(opened)
            }
            _ => ThreadsCost::default(),
        }
    }

    fn of_server(&self) -> Cost {
        let server = match self.looks {
            [Look { server: Some(opened), .. }, Look { server: Some(closed), .. }] => {
                in_window(closed.cost_since(opened), self.wall_ns, self.observed_ns)
            }
            _ => Cost::default(),
        };
        Cost {
            client_cpu_ns: Some(self.usage.cpu_ns),
            client_kernel_ns: Some(self.usage.kernel_ns),
            client_context_switches: Some(self.usage.context_switches()),
            client_run_delay_ns: Some(self.usage.run_delay_ns),
            ..server
        }
    }
}

/// The looks come a little after the window's ends when the host is busy; the rate being steady,
/// the cost of the window is that share of the cost between the looks.
fn in_window(cost: Cost, wall_ns: u64, observed_ns: u64) -> Cost {
    let share = wall_ns as f64 / observed_ns.max(1) as f64;
    let scaled = |value: Option<u64>| value.map(|value| (value as f64 * share).round() as u64);
    Cost {
        server_cpu_ns: scaled(cost.server_cpu_ns),
        server_kernel_ns: scaled(cost.server_kernel_ns),
        server_context_switches: scaled(cost.server_context_switches),
        server_read_bytes: scaled(cost.server_read_bytes),
        server_written_bytes: scaled(cost.server_written_bytes),
        ..cost
    }
}
