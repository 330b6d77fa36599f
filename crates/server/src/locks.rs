//! Transactions that are open, and the latest deadlock.

use dbdyno_model::OpenTransaction;
use dbdyno_wire::Client;

use crate::family::ServerRelease;
use crate::innodb::innodb_status;

/// Where the monitor of InnoDB tells the latest deadlock, and what stands behind it.
const LATEST: &str = "LATEST DETECTED DEADLOCK";
const BEHIND: &str = "------------\nTRANSACTIONS\n";

/// Open transactions: session, age, statement, and whom it waits for. Of MySQL from 8.0 on, then of
/// MySQL before it and of MariaDB.
pub(crate) const INNODB_OPEN: &[&str] = &[
    "SELECT t.trx_mysql_thread_id, timestampdiff(second, t.trx_started, now()), t.trx_query, \
     (SELECT group_concat(DISTINCT b.trx_mysql_thread_id) \
     FROM performance_schema.data_lock_waits w JOIN information_schema.innodb_trx b \
     ON b.trx_id = w.blocking_engine_transaction_id \
     WHERE w.requesting_engine_transaction_id = t.trx_id) FROM information_schema.innodb_trx t",
    "SELECT t.trx_mysql_thread_id, timestampdiff(second, t.trx_started, now()), t.trx_query, \
     (SELECT group_concat(DISTINCT b.trx_mysql_thread_id) \
     FROM information_schema.innodb_lock_waits w JOIN information_schema.innodb_trx b \
     ON b.trx_id = w.blocking_trx_id WHERE w.requesting_trx_id = t.trx_id) \
     FROM information_schema.innodb_trx t",
];
pub(crate) const POSTGRES_OPEN: &[&str] =
    &["SELECT pid, extract(epoch FROM now() - xact_start)::bigint, \
      CASE WHEN state = 'active' THEN query END, array_to_string(pg_blocking_pids(pid), ',') \
      FROM pg_stat_activity WHERE xact_start IS NOT NULL AND pid <> pg_backend_pid() \
      AND backend_type = 'client backend'"];

/// The transactions that other sessions have open; none where the server does not tell.
pub fn open_transactions(client: &mut dyn Client, server: ServerRelease) -> Vec<OpenTransaction> {
    let questions = server.family().open_transactions;
    let answer = questions.iter().find_map(|sql| client.query(sql).ok());
    let rows = answer.map_or_else(Vec::new, |answer| answer.rows);
    rows.iter().filter_map(|row| transaction(row)).collect()
}

fn transaction(row: &[Option<String>]) -> Option<OpenTransaction> {
    let [Some(session), Some(age), statement, waits_for] = row else { return None };
    let waits_for = waits_for.as_deref().unwrap_or_default();
    Some(OpenTransaction {
        session: session.parse().ok()?,
        age_s: age.parse().ok()?,
        statement: statement.clone().unwrap_or_default(),
        waits_for: waits_for.split(',').filter_map(|one| one.parse().ok()).collect(),
    })
}

/// What the monitor of InnoDB tells of the latest deadlock; `None` where there was none, or where
/// the server has no monitor.
pub fn latest_deadlock(client: &mut dyn Client, server: ServerRelease) -> Option<String> {
    server.family().has_monitor.then_some(())?;
    let text = innodb_status(client).ok()?;
    let section = &text[text.find(LATEST)?..];
    Some(section.split(BEHIND).next().unwrap_or(section).to_owned())
}
