//! VACUUM of PostgreSQL until all rows are known to be visible to all.
//!
//! A scan of an index alone looks at the table wherever that is not known, and the optimizer
//! reckons with it (`pg_class.relallvisible`): the plans of two arms must not depend on it by
//! chance. A page stays unknown where VACUUM meets
//!
//! ```text
//!   rows of a commit that has not reached the disk  they are not marked as committed (SetHintBits)
//!   rows that a snapshot may not see                a worker of autovacuum has one for a moment
//!   a page that somebody holds                      it is passed over
//!   few dead rows, from 14 on                       indexes are not cleaned up, nor the rows
//! ```
//!
//! The first of these may come back: the server remembers for 32 transactions together how far
//! its log must be on disk (`TransactionIdGetCommitLSN`), so that a later commit of anybody, not
//! synced, has the rows of earlier ones wait again. A page that was added to the table beside
//! others while several sessions wrote, and that nobody has used yet, is never known to be visible
//! and has no rows.

use std::thread;
use std::time::Duration;

use dbdyno_model::{Dialect, Literal};
use dbdyno_wire::Client;

use crate::family::{ServerRelease, Ways, since_release, way_for};
use crate::refusal::{Refusal, ask_server};

/// What a session is told before it writes rows that are vacuumed next, or statistics, whose commit
/// takes all before it to the disk.
pub const COMMITS_ARE_SYNCED: &str = "SET synchronous_commit = on";
/// Takes the log to the disk: a commit that has written something. There since 9.6.
const FLUSH: &str = "SELECT pg_catalog.pg_logical_emit_message(true, 'dbdyno', 'settled')";
/// How often a table is vacuumed again, and how long we wait before that.
const AGAIN_MOST: u32 = 4;
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// How VACUUM is told to clean up indexes whatever it costs. Callaghan does so from that release
/// on.
const INDEX_CLEANUP: Ways<&str> = &[since_release(12_00_00, "(INDEX_CLEANUP ON) ")];

/// Vacuums a table, which is named as it stands in statements, and again as long as some of its
/// rows are not known to be visible; a few times at most, for sessions of others may be in the way
/// for long.
///
/// # Errors
/// The server's refusal.
pub fn vacuum(client: &mut dyn Client, table: &str) -> Result<(), Refusal> {
    let server = ServerRelease::of_client(client, Dialect::Postgres);
    let options = way_for(INDEX_CLEANUP, server).unwrap_or_default();
    let sql = format!("VACUUM {options}{table}");
    for again in 0..=AGAIN_MOST {
        if again > 0 {
            thread::sleep(AGAIN_AFTER);
            // Who may not do that waits for the server to write its log by itself.
            client.query(FLUSH).ok();
        }
        ask_server(client, &sql)?;
        if unknown_pages(client, table)? <= 0 {
            break;
        }
    }
    Ok(())
}

/// Pages of which it is not known that all can see their rows.
fn unknown_pages(client: &mut dyn Client, table: &str) -> Result<i64, Refusal> {
    let name = Literal::new(table, Dialect::Postgres);
    // Operators of others are not called, wherever the session looks for them.
    let sql = format!(
        "SELECT relpages OPERATOR(pg_catalog.-) relallvisible FROM pg_catalog.pg_class \
         WHERE oid OPERATOR(pg_catalog.=) {name}::pg_catalog.regclass::pg_catalog.oid"
    );
    let rows = ask_server(client, &sql)?;
    let pages = rows.rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
    Ok(pages.unwrap_or(0))
}
