//! A load whose rows tell their versions, driven by the clients of the closed loop and recorded.
//!
//! The same clients, statements and recorders as in a measured round (`dbdyno_load::record`): what
//! is judged here is what is measured there. Tables are made anew for each level.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_check::Level;
use dbdyno_lab::{LabError, promised_level};
use dbdyno_load::{
    Connector, LoadError, Recording, RoundSpec, ask_each, drop_tables, end_recording, fill_tables,
    run_round,
};
use dbdyno_model::Processors;
use dbdyno_model::isolation::IsolationLevel;
use dbdyno_workload::versioned::VersionedRowKind;
use dbdyno_workload::{ReadyLoad, Tables, resolve_load};

use crate::bench::{ARM, Bench};
use crate::random::{LevelRecord, PromiseScope};
use crate::random_load::{AskingLimit, RandomLoad};

/// A load on tables that were just made.
pub(crate) struct FreshLoad {
    label: String,
    ready: ReadyLoad,
    connector: Connector,
    tables: Vec<String>,
    /// What the server promises.
    pub(crate) promise: Level,
}

impl FreshLoad {
    /// A round of it that nobody records.
    pub(crate) fn round_spec<'a>(
        &'a self,
        load: RandomLoad,
        stop: &'a AtomicBool,
    ) -> RoundSpec<'a> {
        let window = match load.extent {
            AskingLimit::Seconds(seconds) => Duration::from_secs_f64(seconds),
            AskingLimit::Transactions(_) => Duration::ZERO,
        };
        RoundSpec {
            load: &self.ready,
            connector: &self.connector,
            clients: load.clients,
            first_operation: 0,
            lead_in: Duration::ZERO,
            window,
            think: None,
            slow: 0.0,
            processors: Processors::ANY,
            kept: None,
            record: None,
            stop,
        }
    }

    /// What it met.
    pub(crate) fn load_error(&self, error: LoadError) -> LabError {
        LabError::Load(ARM, self.label.clone(), error)
    }

    /// Takes its tables away.
    pub(crate) fn drop_tables(&self) -> Result<(), LabError> {
        drop_tables(&self.connector, &self.tables).map_err(|error| self.load_error(error))
    }
}

impl Bench<'_, '_> {
    /// Makes the tables of a load of this shape.
    ///
    /// # Errors
    /// What filling met.
    pub(crate) fn prepare_load(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
        shape: VersionedRowKind,
    ) -> Result<FreshLoad, LabError> {
        let label = format!("{}?rows={}&level={level}", shape.name(), load.keys);
        let tables = Tables { count: 1, rows: 1, seed: load.seed };
        let source = resolve_load(&label, tables).expect("the catalog has it, with these options");
        let dialect = self.dialect();
        let names = source.dataset.tables(dialect).into_iter().map(|table| table.name);
        let driven = FreshLoad {
            label,
            ready: ReadyLoad::compile(&source, dialect).expect("a dialogue has no templates"),
            connector: self.station.connector.clone(),
            tables: names.collect(),
            promise: promised_level(self.promise_family(), level),
        };
        driven.drop_tables()?;
        fill_tables(&driven.connector, dialect, &*source.dataset, self.lab.stop, &mut |_| {})
            .map_err(|error| driven.load_error(error))?;
        self.report_progress(&format!("{level}: {}, {}", shape.name(), load.extent));
        Ok(driven)
    }

    /// Drives clients at one level, and keeps what they recorded.
    ///
    /// # Errors
    /// What the load met.
    pub(crate) fn closed_loop(
        &mut self,
        level: IsolationLevel,
        load: RandomLoad,
        driven: &FreshLoad,
    ) -> Result<LevelRecord, LabError> {
        let recording = Recording::new(load.clients);
        let spec = driven.round_spec(load, self.lab.stop);
        let recorded = RoundSpec { record: Some(&recording), ..spec };
        let asked = match load.extent {
            AskingLimit::Seconds(_) => {
                run_round(&recorded, &mut |_| {}).map(|told| told.answer.retries)
            }
            AskingLimit::Transactions(count) => ask_each(&recorded, count),
        };
        let retries = match asked {
            Ok(retries) => retries,
            Err(LoadError::NothingFinished) => 0,
            Err(error) => return Err(driven.load_error(error)),
        };
        let recorded = end_recording(recording, &spec).map_err(|error| driven.load_error(error))?;
        let refused = (retries > 0).then(|| ("for the sake of others".to_owned(), retries));
        Ok(LevelRecord {
            level,
            promise: driven.promise,
            family: self.promise_family().name(),
            of: PromiseScope::OfAll,
            records: recorded.records,
            refused: refused.into_iter().collect::<BTreeMap<_, _>>(),
            lost: 0,
            unrecorded: recorded.unrecorded,
            log: None,
        })
    }
}
