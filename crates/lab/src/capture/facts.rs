//! What servers say of their own work, read before and after a round.
//!
//! ```text
//!   look ─▶ lead-in │ window │ ─▶ look        on a connection of its own, outside of the window
//!      └──── what was done in between, less what a look does itself ────┘ ÷ statements
//! ```
//!
//! `server` reads the facts of the table `model::server_facts`. A look is counted by the server as
//! any other work is: two in succession tell once what it adds, and that is taken away from each
//! round.

use std::cell::RefCell;

use dbdyno_load::Connector;
use dbdyno_model::Readings;
use dbdyno_model::server_facts::{FACTS, FactKind, STATEMENTS, TRANSACTIONS, fact_reading};
use dbdyno_probe::ServerProbe;
use dbdyno_server::{FactReader, FactValues};
use dbdyno_wire::Client;

use super::error_log::ErrorLog;

/// What the clients did in a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RoundWork {
    pub(crate) statements: u64,
    pub(crate) events: u64,
    /// Rows that they were sent.
    pub(crate) rows: u64,
}

/// Who asks a server about itself.
pub(crate) struct Observer {
    client: RefCell<Box<dyn Client>>,
    log: Option<ErrorLog>,
    reader: FactReader,
    /// What a look adds to counters.
    own: FactValues,
}

impl Observer {
    /// Connects to a server; `None` where the arm is none, or does not let us in.
    pub(crate) fn open(connector: &Connector, probe: Option<&ServerProbe>) -> Option<Observer> {
        let onlooker = connector.is_server().then(|| connector.open_onlooker().ok())??;
        Some(Observer {
            client: RefCell::new(onlooker.client),
            log: probe.map(|probe| ErrorLog::new(probe, connector.dialect())),
            reader: FactReader::for_release(onlooker.server),
            own: FactValues::new(),
        })
    }

    /// The same, knowing what its own looks add to what the server counts.
    pub(crate) fn of_rounds(
        connector: &Connector,
        probe: Option<&ServerProbe>,
    ) -> Option<Observer> {
        let mut observer = Observer::open(connector, probe)?;
        // The first of all looks is dearer than those that follow.
        let [_, before, after] = [(); 3].map(|()| observer.read_facts());
        observer.own = after
            .iter()
            .filter_map(|(name, now)| Some((*name, now - before.get(*name)?)))
            .collect();
        Some(observer)
    }

    /// Reads all facts. What is refused or not there is left out.
    pub(crate) fn read_facts(&self) -> FactValues {
        let mut facts = self.reader.read(&mut **self.client.borrow_mut());
        let log_bytes = self.log.as_ref().and_then(ErrorLog::told_bytes);
        facts.extend(log_bytes.map(|bytes| ("error_log_bytes", bytes)));
        facts
    }

    /// Notes what was done since a look `before`, in which the clients did what they `asked`.
    pub(crate) fn note_work(&self, before: &FactValues, asked: RoundWork, readings: &mut Readings) {
        let now = self.read_facts();
        let added = |name: &str| -> Option<f64> {
            let own = self.own.get(name).copied().unwrap_or(0.0);
            Some((now.get(name)? - before.get(name)? - own).max(0.0))
        };
        // What a transaction is made of only its clients have counted.
        let by_transactions = || {
            Some(added(TRANSACTIONS)? * asked.statements as f64 / (asked.events as f64).max(1.0))
        };
        let Some(statements) = added(STATEMENTS).or_else(by_transactions) else { return };
        readings.set(&fact_reading(STATEMENTS), Some(statements));
        let sent = asked.rows as f64 * statements / (asked.statements as f64).max(1.0);
        readings.set(&fact_reading("rows_sent"), Some(sent));
        for fact in FACTS {
            match fact.kind {
                FactKind::Counter => readings.set(&fact.reading_name(), added(fact.name)),
                FactKind::Gauge => readings.set(&fact.reading_name(), now.get(fact.name).copied()),
                FactKind::Each(..) => {}
            }
        }
    }
}
