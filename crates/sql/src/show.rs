//! What a server tells of itself: variables, counters, tables and their columns.

use std::sync::Arc;

use dbdyno_engine::follow::{ReplicaComparison, ReplicaProgress};
use dbdyno_engine::table::Uniqueness;
use dbdyno_engine::value::{Value, ValueType};
use dbdyno_engine::{Engine, Following};

use crate::column::ResultColumn;
use crate::error::Result;
use crate::expr::matches_pattern;
use crate::operand::Operand;
use crate::parse::Show;
use crate::run::Sink;
use crate::settings::{Autocommit, Settings};

/// The names of the columns in which something is shown.
pub(crate) fn names(show: &Show) -> &'static [&'static str] {
    match show {
        Show::Variables(_) | Show::Status(_) => &["Variable_name", "Value"],
        Show::Tables(_) => &["Tables"],
        Show::Columns(_) => &["Field", "Type", "Null", "Key", "Default", "Extra"],
        Show::Databases => &["Database"],
        Show::Replica => &OF_REPLICA,
        Show::Comparison => &["Behind_Bytes", "Difference"],
        Show::Warnings => &["Level", "Code", "Message"],
    }
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

/// Columns of text with these names.
pub(crate) fn columns(names: &[&str]) -> Arc<[ResultColumn]> {
    names.iter().map(|name| ResultColumn::of_text(name)).collect()
}

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
            let rows = all.filter(|(name, _)| is_of(form, name));
            emit_rows(sink, columns, rows.map(|(name, value)| [name.to_owned(), value]))
        }
        Show::Status(form) => {
            let counts = engine.meter_counts();
            let unpurged = ("unpurged_transactions", engine.unpurged_transactions() as u64);
            let counts = counts.named_counts().chain([unpurged]);
            let counts = counts.map(|(name, count)| (name, count.to_string()));
            let all = settings.variables.status().chain(counts);
            let rows = all.filter(|(name, _)| is_of(form, name));
            emit_rows(sink, columns, rows.map(|(name, value)| [name.to_owned(), value]))
        }
        Show::Tables(form) => {
            let tables = engine.tables();
            let names = tables.iter().map(|table| table.name());
            let rows = names.filter(|name| is_of(form, name)).map(|name| [name.to_owned()]);
            emit_rows(sink, columns, rows)
        }
        Show::Columns(table) => return of_table(table, engine, columns, sink),
        Show::Databases => {
            let name = settings.variables.value_text("database()").map(str::to_owned);
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
                sink.end_row();
            }
            u64::from(compared.is_some())
        }
        Show::Warnings => emit_rows(sink, columns, std::iter::empty::<[String; 3]>()),
    })
}

impl Settings {
    /// What a list of variables shows besides the design; nothing where a session has no list.
    fn shown(&self) -> Vec<(&'static str, String)> {
        let mut all = self.variables.names_and_values();
        if !all.is_empty() {
            let autocommit = if self.autocommit == Autocommit::On { "ON" } else { "OFF" };
            let isolation = self.isolation.name().to_ascii_uppercase();
            all.push(("autocommit", autocommit.to_owned()));
            all.push(("transaction_isolation", isolation));
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

/// Whether a name is of a form, if one is given: small and capital letters are the same.
fn is_of(form: &Option<Vec<u8>>, name: &str) -> bool {
    form.as_ref().is_none_or(|form| {
        matches_pattern(name.to_ascii_lowercase().as_bytes(), &form.to_ascii_lowercase())
    })
}

fn of_table(
    name: &str,
    engine: &Engine,
    columns: &Arc<[ResultColumn]>,
    sink: &mut dyn Sink,
) -> Result<u64> {
    let table = engine.table(name)?;
    let key = |place: usize| {
        if table.primary().contains(&place) {
            return "PRI";
        }
        let mut indexes =
            table.indexes().filter(|index| index.spec.columns.first() == Some(&place));
        match indexes.next() {
            Some(index) if index.spec.uniqueness == Uniqueness::Unique => "UNI",
            Some(_) => "MUL",
            None => "",
        }
    };
    sink.begin_rows(columns);
    for (place, column) in table.columns().iter().enumerate() {
        let counts_up = table.auto_increment() == Some(place);
        let nullable = if column.nullable { "YES" } else { "NO" };
        let default = match &column.default {
            Value::Null => Operand::Null,
            other => crate::expr::of_datum(other.datum(), column.kind),
        };
        let extra = if counts_up { "auto_increment" } else { "" };
        let written = type_of(column.kind);
        for text in [&*column.name, &written, nullable, key(place)] {
            sink.value(&Operand::of_text(text.as_bytes()));
        }
        sink.value(&default);
        sink.value(&Operand::of_text(extra.as_bytes()));
        sink.end_row();
    }
    Ok(table.columns().len() as u64)
}

/// A type as MySQL shows it. Which of the types of text it was is not kept.
fn type_of(kind: ValueType) -> String {
    match kind {
        ValueType::Int { bytes, signed } => {
            let name = match bytes {
                1 => "tinyint",
                2 => "smallint",
                3 => "mediumint",
                4 => "int",
                _ => "bigint",
            };
            format!("{name}{}", if signed { "" } else { " unsigned" })
        }
        ValueType::Decimal { digits, scale } => format!("decimal({digits},{scale})"),
        ValueType::Text { most } => format!("varchar({most})"),
        ValueType::Timestamp => "datetime".to_owned(),
    }
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
        sink.end_row();
        count += 1;
    }
    count
}
