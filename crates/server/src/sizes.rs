//! How large a database is, and how much of it is dead.

use dbdyno_model::Literal;
use dbdyno_wire::Client;

use crate::family::ServerRelease;

/// Files of the database, in MariaDB and in MySQL; estimates where they may not be seen.
pub(crate) const MYSQL_SIZES: &[&str] = &[
    "SELECT sum(file_size) FROM information_schema.innodb_sys_tablespaces WHERE name LIKE \
     concat(database(), '/%')",
    "SELECT sum(file_size) FROM information_schema.innodb_tablespaces WHERE name LIKE \
     concat(database(), '/%')",
    "SELECT sum(data_length + index_length) FROM information_schema.tables WHERE table_schema = \
     database()",
];
pub(crate) const POSTGRES_SIZES: &[&str] = &["SELECT pg_database_size(current_database())"];
pub(crate) const SQLITE_SIZES: &[&str] =
    &["SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"];

/// The bytes of the session's database: of its files, where these may be seen; `None` where the
/// server does not tell.
pub fn database_bytes(client: &mut dyn Client, server: ServerRelease) -> Option<f64> {
    let mut questions = server.family().sizes.iter();
    questions.find_map(|sql| client.query(sql).ok()?.first_value()?.parse().ok())
}

/// Dead rows of the tables of PostgreSQL whose names a regular expression has.
pub fn dead_rows(client: &mut dyn Client, server: ServerRelease, names: &str) -> Option<f64> {
    let dialect = server.family().dialect;
    let names = Literal::new(names, dialect);
    let sql = format!(
        "SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relname ~ {names}"
    );
    client.query(&sql).ok()?.first_value()?.parse().ok()
}
