//! What a server did beside answering while a cell was measured, as facts that are audited.
//!
//! The debt is looked at once, before the cell is warmed up; the rest is the sum of what servers
//! said of each round (`facts`), whatever starts they had in between.

use std::thread;
use std::time::Duration;

use dbdyno_model::readings::ENGINE_PREFIX;
use dbdyno_model::server_facts::{STATEMENTS, fact_reading};
use dbdyno_model::{Cell, Dialect, Readings};
use dbdyno_server::{Onlooker, read_fact, unpurged_transactions};

use super::locks::Locks;
use crate::arm::Station;

/// A history list below this is none.
const DEBT_LEAST: f64 = 5_000.0;
/// How often a longer one is looked at, and how long we wait in between.
const PURGE_LOOKS: u32 = 10;
const PURGE_LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is added up over the rounds of a cell.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    debt: Option<f64>,
    statements: Option<f64>,
    fsyncs: Option<f64>,
    pages: Option<f64>,
    log_bytes: Option<f64>,
    locks: Locks,
}

impl Meter {
    /// Looks at the locks, and at what is left to do of what came before, before this cell is
    /// warmed up. A history list that shrinks by itself is no debt: the arm that was asked last
    /// has one for a moment.
    pub(crate) fn begin_cell(&mut self, station: &Station) {
        self.locks = Locks::begin_cell(station);
        let mut debt = debt_of(station);
        for look in 0..PURGE_LOOKS {
            if look > 0 {
                thread::sleep(PURGE_LOOK_EVERY);
            }
            self.debt = debt();
            let may_shrink = matches!(station.dialect, Dialect::Mysql | Dialect::Engine);
            if !may_shrink || self.debt.is_none_or(|debt| debt < DEBT_LEAST) {
                break;
            }
        }
    }

    /// Adds what was seen of a round.
    pub(crate) fn add_round(&mut self, readings: &Readings) {
        let add = |sum: &mut Option<f64>, name: &str| {
            let more = readings.get(name);
            *sum = sum.map_or(more, |sum| Some(sum + more.unwrap_or(0.0)));
        };
        for (sum, fact) in [
            (&mut self.statements, STATEMENTS),
            (&mut self.fsyncs, "fsyncs"),
            (&mut self.pages, "pages_flushed"),
            (&mut self.log_bytes, "error_log_bytes"),
        ] {
            add(sum, &fact_reading(fact));
        }
        add(&mut self.statements, &format!("{ENGINE_PREFIX}statements"));
        add(&mut self.fsyncs, &format!("{ENGINE_PREFIX}syncs"));
    }

    /// Notes what was seen of a cell.
    pub(crate) fn note_cell(&self, station: &mut Station, cell: &Cell) {
        let mut facts = std::mem::take(&mut station.environment);
        self.locks.note_cell(station, cell, &mut facts);
        let mut set = |name: &str, value: Option<f64>| {
            if let Some(value) = value {
                // Three digits, for this is a figure of one moment.
                facts.set(format!("step[{cell}].{name}"), format!("{}", rounded(value)));
            }
        };
        set("debt", self.debt);
        set("error_log_bytes", self.log_bytes);
        if let Some(statements) = self.statements.filter(|statements| *statements > 0.0) {
            let per_1000 = |count: f64| 1000.0 * count / statements;
            set("fsyncs_per_1000_statements", self.fsyncs.map(per_1000));
            set("pages_flushed_per_1000_statements", self.pages.map(per_1000));
        }
        station.environment = facts;
    }
}

/// Who tells how much is left to purge, or how many dead tuples there are.
fn debt_of(station: &Station) -> Box<dyn FnMut() -> Option<f64>> {
    match station.dialect {
        Dialect::Engine => {
            let mut client = station.connector.connect().ok();
            Box::new(move || unpurged_transactions(client.as_deref_mut()?).ok()?)
        }
        Dialect::Mysql | Dialect::Postgres => {
            let mut onlooker = station.connector.open_onlooker().ok();
            Box::new(move || {
                let Onlooker { client, server, .. } = onlooker.as_mut()?;
                ["history_list", "dead_rows"]
                    .into_iter()
                    .find_map(|name| read_fact(&mut **client, *server, name).ok()?)
            })
        }
        Dialect::Sqlite | Dialect::Rocksdb => Box::new(|| None),
    }
}

/// To three digits, small ones to a thousandth.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powf((value.abs().max(1.0).log10().floor() - 2.0).max(-3.0));
    let rounded = (value / unit).round() * unit;
    (rounded * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        for (value, shown) in [(0.0, 0.0), (1234.5, 1230.0), (12.345, 12.3), (0.01234, 0.01)] {
            assert!((rounded(value) - shown).abs() < 1e-9, "{value}: {}", rounded(value));
        }
    }
}
