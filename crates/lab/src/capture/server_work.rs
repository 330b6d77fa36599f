//! What a server did beside answering while a cell was measured.
//!
//! Looked at once before and once after the rounds of a cell, for a look takes as long as many
//! statements do. A server that is started again counts from 0: what it did is added up by start.

use std::thread;
use std::time::Duration;

use dbdyno_model::{Cell, Dialect, Environment};
use dbdyno_wire::Client;

use crate::arm::Station;

/// How much is left to purge, or how many dead tuples there are.
const HISTORY: [&str; 2] = [
    "SELECT variable_value FROM information_schema.global_status WHERE variable_name = \
     'INNODB_HISTORY_LIST_LENGTH'",
    "SELECT `COUNT` FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
];
const DEAD_TUPLES: [&str; 1] = ["SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables"];

/// Syncs since the start. PostgreSQL has had them in two places, and before 14 in none.
const POSTGRES_FSYNCS: [&str; 2] = [
    "SELECT wal_sync FROM pg_stat_wal",
    "SELECT coalesce(sum(fsyncs), 0) FROM pg_stat_io WHERE object = 'wal'",
];
/// Pages written from the buffers since the start.
const POSTGRES_PAGES: [&str; 2] = [
    "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter",
    "SELECT (SELECT buffers_written FROM pg_stat_checkpointer) + buffers_clean \
     FROM pg_stat_bgwriter",
];

/// A history list below this is none.
const DEBT_LEAST: f64 = 5_000.0;
/// How often a longer one is looked at, and how long we wait in between.
const PURGE_LOOKS: u32 = 10;
const PURGE_LOOK_EVERY: Duration = Duration::from_millis(100);

/// What is added up over the starts of a server in one cell.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    debt: Option<f64>,
    begun: Counts,
    sum: Counts,
    statements: u64,
    start: Start,
}

/// Whether anything was added up already.
#[derive(Debug, Default, PartialEq)]
enum Start {
    #[default]
    First,
    Later,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    fsyncs: Option<f64>,
    pages: Option<f64>,
    log_bytes: Option<f64>,
}

impl Counts {
    fn of(station: &Station) -> Counts {
        let log_bytes = station.probe.as_ref().and_then(|probe| probe.error_log_bytes());
        let mut counts =
            Counts { log_bytes: log_bytes.map(|bytes| bytes as f64), ..Counts::default() };
        let Ok(mut client) = station.connector.connect() else { return counts };
        let client = &mut *client;
        match station.dialect {
            Dialect::Mysql => {
                counts.fsyncs = status(client, "Innodb_data_fsyncs");
                counts.pages = status(client, "Innodb_buffer_pool_pages_flushed");
            }
            Dialect::Postgres => {
                counts.fsyncs = first_of(client, &POSTGRES_FSYNCS);
                counts.pages = first_of(client, &POSTGRES_PAGES);
            }
            Dialect::Engine => counts.fsyncs = engine_status(client, "syncs"),
            Dialect::Sqlite | Dialect::Rocksdb => {}
        }
        counts
    }

    /// Field by field; what is missing anywhere is missing.
    fn with(self, other: Counts, how: fn(f64, f64) -> f64) -> Counts {
        let both = |a: Option<f64>, b: Option<f64>| Some(how(a?, b?));
        Counts {
            fsyncs: both(self.fsyncs, other.fsyncs),
            pages: both(self.pages, other.pages),
            log_bytes: both(self.log_bytes, other.log_bytes),
        }
    }
}

impl Meter {
    /// Looks before the first round of a start.
    pub(crate) fn begin(&mut self, station: &Station) {
        self.begun = Counts::of(station);
    }

    /// Looks at what is left to do of what came before, before this cell is warmed up. A history
    /// list that shrinks by itself is no debt: the arm that was asked last has one for a moment.
    pub(crate) fn look_at_debt(&mut self, station: &Station) {
        let Ok(mut client) = station.connector.connect() else { return };
        let client = &mut *client;
        for look in 0..PURGE_LOOKS {
            if look > 0 {
                thread::sleep(PURGE_LOOK_EVERY);
            }
            self.debt = match station.dialect {
                Dialect::Mysql => first_of(client, &HISTORY),
                Dialect::Postgres => first_of(client, &DEAD_TUPLES),
                Dialect::Engine => engine_status(client, "unpurged_transactions"),
                Dialect::Sqlite | Dialect::Rocksdb => None,
            };
            let may_shrink = matches!(station.dialect, Dialect::Mysql | Dialect::Engine);
            if !may_shrink || self.debt.is_none_or(|debt| debt < DEBT_LEAST) {
                break;
            }
        }
    }

    /// Counts the statements of a round.
    pub(crate) fn add(&mut self, statements: u64) {
        self.statements += statements;
    }

    /// Looks after the last round of a start, before the server is stopped.
    pub(crate) fn end(&mut self, station: &Station) {
        let did = Counts::of(station).with(self.begun, |now, then| (now - then).max(0.0));
        self.sum = match self.start {
            Start::First => did,
            Start::Later => self.sum.with(did, |sum, did| sum + did),
        };
        self.start = Start::Later;
    }

    /// Notes what was seen of a cell.
    pub(crate) fn note(&self, cell: &Cell, facts: &mut Environment) {
        let mut set = |name: &str, value: Option<f64>| {
            if let Some(value) = value {
                // Three digits, for this is a figure of one moment.
                facts.set(format!("step[{cell}].{name}"), format!("{}", rounded(value)));
            }
        };
        set("debt", self.debt);
        set("error_log_bytes", self.sum.log_bytes);
        if self.statements > 0 {
            let per_1000 = |count: f64| 1000.0 * count / self.statements as f64;
            set("fsyncs_per_1000_statements", self.sum.fsyncs.map(per_1000));
            set("pages_flushed_per_1000_statements", self.sum.pages.map(per_1000));
        }
    }
}

/// To three digits, small ones to a thousandth.
fn rounded(value: f64) -> f64 {
    let unit = 10_f64.powf((value.abs().max(1.0).log10().floor() - 2.0).max(-3.0));
    let rounded = (value / unit).round() * unit;
    (rounded * 1000.0).round() / 1000.0
}

fn status(client: &mut dyn Client, name: &str) -> Option<f64> {
    let rows = client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).ok()?;
    rows.rows.first()?.get(1)?.as_deref()?.parse().ok()
}

/// A counter of the reference engine.
pub(crate) fn engine_status(client: &mut dyn Client, name: &str) -> Option<f64> {
    let rows = client.query("SHOW STATUS").ok()?.rows;
    let row = rows.iter().find(|row| row[0].as_deref() == Some(name))?;
    row[1].as_deref()?.parse().ok()
}

/// The answer to the first of these questions that the server understands.
fn first_of(client: &mut dyn Client, questions: &[&str]) -> Option<f64> {
    questions.iter().find_map(|sql| client.query(sql).ok()?.single()?.parse().ok())
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
