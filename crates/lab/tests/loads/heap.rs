//! How the rows of a table lie in PostgreSQL when they were filled in, and when it was left to
//! settle: plans depend on it. The server commits without waiting for the disk, as those of
//! comparisons do.

use dbdyno_lab::{Progress, Watch};
use dbdyno_model::{ArmIndex, Product};
use dbdyno_workload::Tables;

use super::place::{Place, home, turn};
use super::run;

fn asked(place: &Place, sql: &str) -> String {
    place.query(sql).rows[0][0].clone().unwrap()
}

/// Pages of which it is not known that all can see their rows: what a scan of an index alone has
/// to look at.
fn unknown_pages(place: &Place) -> String {
    asked(place, "SELECT relpages - relallvisible FROM pg_class WHERE relname = 'sbtest1'")
}

/// Rows that a scan of the index alone looks at in the table. A page that was added beside others
/// and that nobody has used yet is known to nobody and has none.
fn rows_looked_at(place: &Place) -> String {
    let sql = "EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, COSTS OFF) SELECT id FROM sbtest1 WHERE \
               id > 0";
    let lines: Vec<String> =
        place.query(sql).rows.into_iter().filter_map(|row| row[0].clone()).collect();
    let found = lines.iter().find_map(|line| line.trim().strip_prefix("Heap Fetches: "));
    found.unwrap_or_else(|| panic!("no scan of an index alone: {lines:?}")).to_owned()
}

/// What is committed is not on disk for as long as nobody asks for it, and nobody else vacuums.
fn hold_back_the_log(place: &Place) {
    place.query("ALTER SYSTEM SET autovacuum = 'off'");
    place.query("ALTER SYSTEM SET wal_writer_delay = '10s'");
    place.query("ALTER SYSTEM SET wal_writer_flush_after = '1GB'");
    // Small tables are read whole otherwise.
    place.query("ALTER SYSTEM SET enable_seqscan = 'off'");
    place.query("ALTER SYSTEM SET enable_bitmapscan = 'off'");
    place.query("SELECT pg_reload_conf()");
}

/// Rows that two connections write by turns lie in runs of chance lengths, so that one arm scans an
/// index where the other makes a bitmap first.
#[test]
fn rows_are_filled_in_by_their_keys_and_are_known_to_be_visible() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let place = Place::start(&home, Product::Postgres, "15");
    hold_back_the_log(&place);
    // More than a connection sends in one part where a table is divided.
    place.fill(&Tables { count: 1, rows: 120_000, seed: 3 });
    let correlation = "SELECT correlation FROM pg_stats WHERE tablename = 'sbtest1' \
                       AND attname = 'id'";
    assert_eq!(asked(&place, correlation), "1");
    assert_eq!(unknown_pages(&place), "0");
    place.stop();
}

/// Looks at the table when a round of reads is over.
struct Looking<'a> {
    place: &'a Place,
    seen: Vec<String>,
}

impl Watch for Looking<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::RoundDone { round, .. } if round.rows_changed == 0 => {
                self.seen.push(rows_looked_at(self.place));
            }
            _ => {}
        }
    }
}

/// The writes are not on disk when settling begins.
#[test]
fn after_settling_rows_are_known_to_be_visible() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let place = Place::start(&home, Product::Postgres, "15");
    hold_back_the_log(&place);
    let tables = Tables { count: 1, rows: 10_000, seed: 5 };
    let plan = run::plan(&place.url(), &tables, &["update-index", "settle", "point-query"]);
    let mut watch = Looking { place: &place, seen: Vec::new() };
    run::carry_out(&home, &plan, &mut watch);
    assert_eq!(watch.seen, ["0"; 4]);
    place.stop();
}

/// Takes an index away when the first round is over.
struct Dropping<'a> {
    place: &'a Place,
}

impl Watch for Dropping<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        if let Progress::RoundDone { .. } = progress {
            self.place.query("DROP INDEX IF EXISTS k_1");
        }
    }
}

/// Plans are looked at when the tables are full, and by then nothing has changed them.
#[test]
fn a_plan_that_changed_since_the_tables_were_filled_is_noted_of_the_cell() {
    let Some(home) = home() else { return };
    let _turn = turn();
    let place = Place::start(&home, Product::Postgres, "15");
    let tables = Tables { count: 1, rows: 10_000, seed: 5 };
    let plan = run::plan(&place.url(), &tables, &["point-query", "range-covered-si"]);
    let run = run::carry_out(&home, &plan, &mut Dropping { place: &place });
    for arm in [ArmIndex::BASE, ArmIndex::TEST] {
        let facts = &run.environment[arm];
        assert!(facts.get("plan[range-covered-si].1").contains("using k_1"), "{facts:?}");
        let measured = facts.get("step[range-covered-si at 2 clients].plan.1");
        assert_eq!(measured, "Seq Scan on sbtest1");
        assert_eq!(facts.get("step[point-query at 2 clients].plan.1"), "", "it is as it was");
    }
    place.stop();
}
