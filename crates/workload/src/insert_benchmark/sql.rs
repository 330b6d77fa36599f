//! The statements, by dialect.

use dbdyno_model::Dialect;

use super::rows::InsertRows;
use crate::statement::Statement;

/// Ids of one point query.
pub(crate) const IDS_PER_QUERY: usize = 10;

/// Where the statements of one client stand among those of [`statements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertQuestion {
    /// The smallest id.
    Min,
    /// The largest id.
    Max,
    /// By product, customer and price.
    Market,
    /// By cash register, customer and price.
    Register,
    /// By price, time and customer.
    Pdc,
    /// Ten rows by id.
    Point,
}

/// Number of statements of a client.
pub const STATEMENTS: usize = 6;

/// A secondary index: its name behind that of the table, and its columns.
const INDEXES: [(&str, &str); 3] = [
    ("marketsegment", "productid, customerid, price"),
    ("registersegment", "cashregisterid, customerid, price"),
    ("pdc", "price, dateandtime, customerid"),
];

/// The table of a client, from 0: `pi1`.
pub fn table(client: u32) -> String {
    format!("pi{}", client + 1)
}

/// Makes an empty table with its primary key.
pub fn create(dialect: Dialect, client: u32) -> String {
    let table = table(client);
    let (id, time, end) = match dialect {
        Dialect::Mysql | Dialect::Engine => {
            ("BIGINT NOT NULL AUTO_INCREMENT", "DATETIME", ") ENGINE=InnoDB")
        }
        Dialect::Postgres => ("BIGSERIAL", "TIMESTAMP WITHOUT TIME ZONE", ")"),
        Dialect::Sqlite => ("INTEGER", "DATETIME", ")"),
        Dialect::Rocksdb => unreachable!("it has no statements for RocksDB"),
    };
    format!(
        "CREATE TABLE {table} (transactionid {id}, dateandtime {time}, cashregisterid INT NOT \
         NULL, customerid INT NOT NULL, productid INT NOT NULL, price INT NOT NULL, data \
         VARCHAR(4000), PRIMARY KEY (transactionid){end}"
    )
}

/// What a new table still needs: PostgreSQL hands out ids a thousand at a time.
pub fn finish(dialect: Dialect, client: u32) -> Vec<String> {
    match dialect {
        Dialect::Postgres => {
            vec![format!("ALTER SEQUENCE {}_transactionid_seq CACHE 1000", table(client))]
        }
        Dialect::Mysql | Dialect::Engine | Dialect::Sqlite | Dialect::Rocksdb => Vec::new(),
    }
}

/// Makes the three secondary indexes: in one go where the engine can, as InnoDB can.
pub fn indexes(dialect: Dialect, client: u32) -> Vec<String> {
    let table = table(client);
    match dialect {
        Dialect::Mysql | Dialect::Engine => {
            vec![format!(
                "ALTER TABLE {table} {}",
                INDEXES
                    .map(|(name, columns)| format!("ADD INDEX {table}_{name} ({columns})"))
                    .join(", ")
            )]
        }
        Dialect::Postgres | Dialect::Sqlite | Dialect::Rocksdb => {
            let make =
                |(name, columns)| format!("CREATE INDEX {table}_{name} ON {table} ({columns})");
            INDEXES.map(make).to_vec()
        }
    }
}

/// Overwrites `sql` with one INSERT of the rows `first .. first + count` of a client.
pub(crate) fn write_insert(
    sql: &mut Vec<u8>,
    rows: &InsertRows,
    table: &str,
    first: u64,
    count: u64,
) {
    sql.clear();
    for part in ["INSERT INTO ", table, " (dateandtime,cashregisterid,customerid,productid,price,"]
    {
        sql.extend_from_slice(part.as_bytes());
    }
    sql.extend_from_slice(b"data) VALUES ");
    for number in first..first + count {
        if number > first {
            sql.push(b',');
        }
        rows.row_at(number).push_values(sql);
    }
}

/// Overwrites `sql` with one DELETE of the `count` rows with the smallest ids from `from` on.
pub(crate) fn write_delete(sql: &mut String, dialect: Dialect, table: &str, from: i64, count: u64) {
    use std::fmt::Write as _;
    sql.clear();
    let tail = format_args!("transactionid >= {from} ORDER BY transactionid ASC LIMIT {count}");
    let written = match dialect {
        Dialect::Mysql | Dialect::Engine => write!(sql, "DELETE FROM {table} WHERE {tail}"),
        Dialect::Postgres | Dialect::Sqlite | Dialect::Rocksdb => write!(
            sql,
            "DELETE FROM {table} WHERE transactionid IN (SELECT transactionid FROM {table} WHERE \
             {tail})"
        ),
    };
    written.expect("writing to memory does not fail");
}

/// The questions of a client with the placeholders of the dialect, in the order of
/// [`InsertQuestion`]. On MySQL all but the first two are sent as text, as the
/// original does.
pub fn statements(dialect: Dialect, client: u32) -> Vec<Statement> {
    let table = table(client);
    let mark = |number: usize| match dialect {
        Dialect::Postgres => format!("${number}"),
        Dialect::Mysql | Dialect::Engine | Dialect::Sqlite | Dialect::Rocksdb => "?".to_owned(),
    };
    let marks: Vec<String> = (1..=IDS_PER_QUERY).map(mark).collect();
    let mut statements = vec![
        Statement::new_prepared(format!("SELECT min(transactionid) FROM {table}")),
        Statement::new_prepared(format!("SELECT max(transactionid) FROM {table}")),
    ];
    for question in [
        InsertQuestion::Market,
        InsertQuestion::Register,
        InsertQuestion::Pdc,
        InsertQuestion::Point,
    ] {
        let [head, tail] = query_pieces(question, dialect, &table);
        let marks = if question == InsertQuestion::Point { marks.join(", ") } else { mark(1) };
        statements.push(Statement::new_prepared(format!("{head}{marks}{tail}")));
    }
    statements
}

/// What stands before and behind the values of a range or point query.
pub(crate) fn query_pieces(question: InsertQuestion, dialect: Dialect, table: &str) -> [String; 2] {
    let (index, columns) = match question {
        InsertQuestion::Register => INDEXES[1],
        InsertQuestion::Pdc => INDEXES[2],
        InsertQuestion::Market => INDEXES[0],
        InsertQuestion::Min | InsertQuestion::Max | InsertQuestion::Point => {
            return [
                format!(
                    "SELECT transactionid, productid, data FROM {table} WHERE transactionid IN ("
                ),
                ")".to_owned(),
            ];
        }
    };
    let force = match dialect {
        Dialect::Mysql | Dialect::Engine => format!(" FORCE INDEX ({table}_{index})"),
        Dialect::Postgres | Dialect::Sqlite | Dialect::Rocksdb => String::new(),
    };
    let first = columns.split(',').next().unwrap_or_default();
    let relation = if question == InsertQuestion::Register { ">" } else { ">=" };
    [
        format!("SELECT {columns} FROM {table}{force} WHERE {first} {relation} "),
        format!(" ORDER BY {columns} LIMIT 10"),
    ]
}
