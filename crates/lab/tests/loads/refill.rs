//! `delete?refill=on` and `insert?refill=on` on real servers: after every round, and after the
//! warm-up, each table has the rows that it was filled with, and no others. While an embedded arm
//! is measured nobody else can look at its tables: of the engine and SQLite, `lab::refill` itself
//! is tested.

use dbdyno_lab::{Progress, Watch};
use dbdyno_model::{Product, Round};
use dbdyno_workload::{Dataset as _, Tables};

use super::place::{Place, difference, home, turn};
use super::run;

const TABLES: Tables = Tables { count: 2, rows: 700, seed: 9 };
const LOADS: [&str; 3] = ["delete?refill=on", "insert?refill=on", "delete"];

/// The rows as they are made, not as a server gives them back.
fn filled(table: usize) -> Vec<String> {
    let mut rows = Vec::new();
    for unit in 0..TABLES.rows {
        TABLES.push(table, unit, &mut rows);
    }
    let text = String::from_utf8(rows).unwrap();
    let mut lines: Vec<String> = text.lines().map(|line| line.replace('\t', "|")).collect();
    lines.sort_unstable();
    lines
}

/// Looks at the tables when a round is over.
struct Looking<'a> {
    place: &'a Place,
    /// Load of the round, and how the tables then differ from what was filled in.
    seen: Vec<(String, Option<String>)>,
}

impl Looking<'_> {
    fn look(&mut self, round: &Round) {
        let tables = TABLES.tables(self.place.dialect).into_iter().enumerate();
        let differs = |(index, table): (usize, dbdyno_workload::TableScript)| {
            difference(&filled(index), &self.place.content(&table.name, &table.columns))
        };
        let load = &round.key.cell.load;
        assert!(round.rows_changed > 0 || !load.ends_with("refill=on"), "{round:?}");
        self.seen.push((load.clone(), tables.filter_map(differs).next()));
    }
}

impl Watch for Looking<'_> {
    fn report_progress(&mut self, progress: Progress<'_>) {
        if let Progress::RoundDone { round, .. } = progress {
            self.look(round);
        }
    }
}

fn refilled(product: Product, version: &str) {
    let Some(home) = home() else { return };
    let _turn = turn();
    let place = Place::start(&home, product, version);
    let plan = run::plan(&place.url(), &TABLES, &LOADS);
    let mut watch = Looking { place: &place, seen: Vec::new() };
    run::carry_out(&home, &plan, &mut watch);
    let seen = std::mem::take(&mut watch.seen);
    assert_eq!(seen.len(), LOADS.len() * 2 * plan.schedule.pairs as usize);
    for (load, differs) in seen {
        let is_whole = load.ends_with("refill=on");
        assert_eq!(differs.is_none(), is_whole, "{load}: {differs:?}");
    }
    place.stop();
}

#[test]
fn tables_of_mariadb_are_whole_after_every_round() {
    refilled(Product::MariaDb, "10.11");
}

#[test]
fn tables_of_postgres_are_whole_after_every_round() {
    refilled(Product::Postgres, "15");
}
