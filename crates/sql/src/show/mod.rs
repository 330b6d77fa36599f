//! What a server tells of itself: variables, counters, tables and their columns.

mod tables;

use std::sync::Arc;

use dbdyno_engine::follow::{ReplicaComparison, ReplicaProgress};
use dbdyno_engine::{Engine, Following};

use crate::column::{ColumnKind, ResultColumn};
use crate::error::Result;
use crate::host::ProcessRow;
use crate::operand::Operand;
use crate::parse::{Access, Detail, Show};
use crate::run::Sink;
use crate::settings::{Autocommit, Settings};
use tables::has_form;

/// The columns in which something is shown; the name of the one of tables has that of the schema.
pub(crate) fn columns(show: &Show, schema: &str) -> Arc<[ResultColumn]> {
    names(show, schema).iter().map(|name| ResultColumn::new(name, kind_of(name))).collect()
}

fn kind_of(name: &str) -> ColumnKind {
    if WITH_NUMBERS.contains(&name) { ColumnKind::BIGINT } else { ColumnKind::Any }
}

/// Columns of MySQL's that have whole numbers.
const WITH_NUMBERS: [&str; 7] =
    ["Cardinality", "Code", "Id", "Non_unique", "Seq_in_index", "Sub_part", "Time"];

fn names(show: &Show, schema: &str) -> Vec<String> {
    let fixed: &[&str] = match show {
        Show::Variables(_) | Show::Status(_) => &["Variable_name", "Value"],
        Show::Tables(detail, form) => {
            let form = form.as_ref().map(|form| format!(" ({})", String::from_utf8_lossy(form)));
            let tables = format!("Tables_in_{schema}{}", form.unwrap_or_default());
            let kind = (*detail == Detail::Full).then(|| "Table_type".to_owned());
            return std::iter::once(tables).chain(kind).collect();
        }
        Show::Columns(detail, ..) => tables::column_headings(*detail),
        Show::Indexes(_) => &tables::INDEX_HEADINGS,
        Show::CreateTable(_) => &["Table", "Create Table"],
        Show::Databases(_) => &["Database"],
        Show::Processes => &["Id", "User", "Host", "db", "Command", "Time", "State", "Info"],
        Show::Replica => &OF_REPLICA,
        Show::Comparison => &["Behind_Bytes", "Difference"],
        Show::Warnings => &["Level", "Code", "Message"],
    };
    fixed.iter().map(|&name| name.to_owned()).collect()
}

/// What is told of a replica; lags are those since it was started, in nanoseconds from when a
/// transaction began to commit on the source until it was durable and visible on the replica.
const OF_REPLICA: [&str; 8] = [
    "Replica_State",
    "Behind_Bytes",
    "Applied_Transactions",
    "Repeated_Transactions",
    "Lag_ns_Mean",
    "Lag_ns_P50",
    "Lag_ns_P99",
    "Lag_ns_Max",
];

/// Shows something; in how many rows.
pub(crate) fn execute_show(
    show: &Show,
    engine: &Engine,
    settings: &Settings,
    columns: &Arc<[ResultColumn]>,
    sink: &mut dyn Sink,
) -> Result<u64> {
    Ok(match show {
        Show::Variables(form) => {
            let fields = engine.design().fields().into_iter();
            let all = fields.chain(settings.shown());
            let rows = all.filter(|(name, _)| has_form(form, name));
            emit_rows(sink, columns, rows.map(|(name, value)| [name.to_owned(), value]))
        }
        Show::Status(form) => {
            let counts = engine.meter_counts();
            let unpurged = ("unpurged_transactions", engine.unpurged_transactions() as u64);
            let counts = counts.named_counts().chain([unpurged]);
            let counts = counts.map(|(name, count)| (name, count.to_string()));
            let all = settings.variables.status().chain(counts);
            let rows = all.filter(|(name, _)| has_form(form, name));
            emit_rows(sink, columns, rows.map(|(name, value)| [name.to_owned(), value]))
        }
        Show::Tables(detail, form) => {
            let tables = engine.tables();
            let names = tables.iter().map(|table| table.name());
            let names = names.filter(|name| has_form(form, name)).map(str::to_owned);
            match detail {
                Detail::Usual => emit_rows(sink, columns, names.map(|name| [name])),
                Detail::Full => {
                    let kind = "BASE TABLE".to_owned();
                    emit_rows(sink, columns, names.map(|name| [name, kind.clone()]))
                }
            }
        }
        Show::Columns(detail, table, form) => {
            tables::emit_columns(&*engine.table(table)?, *detail, form, columns, sink)
        }
        Show::Indexes(table) => tables::emit_indexes(&*engine.table(table)?, columns, sink),
        Show::CreateTable(name) => {
            let statement = tables::statement_of(&*engine.table(name)?);
            emit_rows(sink, columns, std::iter::once([name.clone(), statement]))
        }
        Show::Databases(form) => {
            let name = settings.variables.value_text("database()");
            let name = name.filter(|name| has_form(form, name)).map(str::to_owned);
            emit_rows(sink, columns, name.into_iter().map(|name| [name]))
        }
        Show::Replica => {
            let following = Following::of_source(engine);
            emit_rows(sink, columns, following.into_iter().map(|replica| of_replica(&replica)))
        }
        Show::Comparison => {
            let compared =
                Following::of_source(engine).map(|replica| replica.compare_rows()).transpose()?;
            sink.begin_rows(columns);
            if let Some(ReplicaComparison { behind_bytes, difference }) = &compared {
                sink.value(&Operand::of_text(behind_bytes.to_string().as_bytes()));
                let difference = difference.as_ref().map(|what| Operand::of_text(what.as_bytes()));
                sink.value(&difference.unwrap_or(Operand::Null));
                let _ = sink.end_row();
            }
            u64::from(compared.is_some())
        }
        Show::Processes => unreachable!("the server around the session tells them"),
        Show::Warnings => emit_rows(sink, columns, std::iter::empty::<[String; 3]>()),
    })
}

/// Tells the sessions of a server; since when they do what they do, and what it is, is not kept.
pub(crate) fn emit_processes(
    processes: Vec<ProcessRow>,
    settings: &Settings,
    columns: &Arc<[ResultColumn]>,
    sink: &mut dyn Sink,
) -> u64 {
    let schema = settings.variables.value_text("database()").unwrap_or_default();
    sink.begin_rows(columns);
    for ProcessRow { id, user, is_busy, is_waiting } in &processes {
        sink.value(&Operand::Int(i64::from(*id)));
        let command = if *is_busy { "Query" } else { "Sleep" };
        for text in [user, "localhost", schema, command] {
            sink.value(&Operand::of_text(text.as_bytes()));
        }
        sink.value(&Operand::Null);
        let state = is_waiting.then(|| Operand::of_text(b"waiting for a lock"));
        sink.value(&state.unwrap_or(Operand::Null));
        sink.value(&Operand::Null);
        if sink.end_row().is_break() {
            break;
        }
    }
    processes.len() as u64
}

impl Settings {
    /// What a list of variables shows besides the design; nothing where a session has no list.
    fn shown(&self) -> Vec<(&'static str, String)> {
        let mut all = self.variables.names_and_values();
        if !all.is_empty() {
            let autocommit = if self.autocommit == Autocommit::On { "ON" } else { "OFF" };
            let isolation = self.isolation.name().to_ascii_uppercase();
            all.push(("autocommit", autocommit.to_owned()));
            let access = if self.access == Access::ReadOnly { "ON" } else { "OFF" };
            all.push(("transaction_isolation", isolation));
            all.push(("transaction_read_only", access.to_owned()));
            all.sort_unstable();
        }
        all
    }
}

fn of_replica(replica: &Following) -> [String; OF_REPLICA.len()] {
    let behind_bytes = replica.behind_bytes();
    let ReplicaProgress { applied, again, lag } = replica.progress();
    let [p50, p99, max] = [0.5, 0.99, 1.0].map(|quantile| lag.quantile_ns(quantile).to_string());
    let mean = (lag.mean_ns() as u64).to_string();
    let [behind, applied, again] = [behind_bytes, applied, again].map(|count| count.to_string());
    [replica.state_text(), behind, applied, again, mean, p50, p99, max]
}

/// Tells rows of text; how many.
pub(crate) fn emit_rows<const N: usize>(
    sink: &mut dyn Sink,
    columns: &Arc<[ResultColumn]>,
    rows: impl Iterator<Item = [String; N]>,
) -> u64 {
    sink.begin_rows(columns);
    let mut count = 0;
    for row in rows {
        row.iter().for_each(|value| sink.value(&Operand::of_text(value.as_bytes())));
        count += 1;
        if sink.end_row().is_break() {
            break;
        }
    }
    count
}
