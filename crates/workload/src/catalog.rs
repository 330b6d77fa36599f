//! The loads, as data.
//!
//! Names and statements are those of Callaghan's microbenchmarks (`mdcallag/mytools`, sysbench with
//! his Lua); the facts were read there, the code was not. A load is a list of steps; each step is
//! one or more statements, asked `repeat` times on one table drawn for the step. See
//! [`crate::template`] for what stands in braces.

/// The part of the table of results in which a load belongs (Callaghan's groups).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Rows found by key.
    Point,
    /// Rows found by range.
    Range,
    /// Rows changed.
    Write,
}

impl Group {
    /// `"point"`, `"range"` or `"write"`.
    pub fn name(self) -> &'static str {
        match self {
            Group::Point => "point",
            Group::Range => "range",
            Group::Write => "write",
        }
    }
}

/// What a right answer looks like. An answer outside of it stops the run: a server that is fast and
/// wrong is not fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Number of rows returned, both bounds included.
    Rows(u64, u64),
    /// Number of rows changed, both bounds included.
    Changed(u64, u64),
}

/// One statement of a load.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// SQL with generators in braces.
    pub template: &'static str,
    /// What is right.
    pub expect: Expect,
}

/// Statements that share a table.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The statements, in order.
    pub asks: &'static [Ask],
    /// How often they are asked in a row.
    pub repeat: u32,
}

/// A named mix of statements.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Callaghan's name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its place in the table of results.
    pub group: Group,
    /// Whether the steps of an event are one transaction; else each statement commits by itself.
    pub transaction: bool,
    /// The statements of one event.
    pub steps: &'static [Step],
}

impl Load {
    /// The load with this name.
    pub fn find(name: &str) -> Option<&'static Load> {
        LOADS.iter().find(|load| load.name == name)
    }

    /// Whether events change rows.
    pub fn writes(&self) -> bool {
        let mut asks = self.steps.iter().flat_map(|step| step.asks);
        asks.any(|ask| matches!(ask.expect, Expect::Changed(..)))
    }

    /// Statements of one event as QPS counts them: BEGIN and COMMIT included.
    pub fn statements_per_event(&self) -> u64 {
        let of_step = |step: &Step| step.asks.len() as u64 * u64::from(step.repeat);
        let asked: u64 = self.steps.iter().map(of_step).sum();
        asked + if self.transaction { 2 } else { 0 }
    }
}

const fn read(template: &'static str, rows_min: u64, rows_max: u64) -> Ask {
    Ask { template, expect: Expect::Rows(rows_min, rows_max) }
}

const fn write(template: &'static str, rows_min: u64) -> Ask {
    Ask { template, expect: Expect::Changed(rows_min, 1) }
}

const fn once(asks: &'static [Ask]) -> Step {
    Step { asks, repeat: 1 }
}

const POINT: Ask = read("SELECT c FROM {table} WHERE id={id}", 1, 1);
const SIMPLE: Ask = read("SELECT c FROM {table} WHERE id BETWEEN {id} AND {id+99}", 1, 100);
const SUM: Ask = read("SELECT SUM(k) FROM {table} WHERE id BETWEEN {id} AND {id+99}", 1, 1);
const ORDER: Ask =
    read("SELECT c FROM {table} WHERE id BETWEEN {id} AND {id+99} ORDER BY c", 1, 100);
const DISTINCT: Ask =
    read("SELECT DISTINCT c FROM {table} WHERE id BETWEEN {id} AND {id+99} ORDER BY c", 1, 100);
const UPDATE_ONE_C: Ask = write("UPDATE {table} SET c={c} WHERE id={id}", 1);
// In the mix, another client may have deleted and put back the row: PostgreSQL then finds no row to
// change, because the new one came after the statement's snapshot.
const UPDATE_K: Ask = write("UPDATE {table} SET k=k+1 WHERE id={id}", 0);
const UPDATE_C: Ask = write("UPDATE {table} SET c={c} WHERE id={id}", 0);
// The row that is deleted comes back under the same id, so the table keeps its size.
const DELETE: Ask = write("DELETE FROM {table} WHERE id={id}", 0);
const INSERT_BACK: Ask =
    write("INSERT INTO {table} (id, k, c, pad) VALUES ({same id}, {k}, {c}, {pad})", 1);

/// All loads.
pub const LOADS: &[Load] = &[
    Load {
        name: "point-query",
        about: "one row by primary key, not covered",
        group: Group::Point,
        transaction: false,
        steps: &[once(&[POINT])],
    },
    Load {
        name: "points-covered-si",
        about: "100 random keys of the secondary index, index only",
        group: Group::Point,
        transaction: false,
        // About one row for each key: rows per key are Poisson(1).
        steps: &[once(&[read("SELECT k FROM {table} WHERE k IN ({k*100})", 0, u64::MAX)])],
    },
    Load {
        name: "range-notcovered-pk",
        about: "101 rows by a range of the primary key",
        group: Group::Range,
        transaction: false,
        steps: &[once(&[read(
            "SELECT id, c FROM {table} WHERE id BETWEEN {id} AND {id+100}",
            1,
            101,
        )])],
    },
    Load {
        name: "update-nonindex",
        about: "one row by primary key, a column without index",
        group: Group::Write,
        transaction: false,
        steps: &[once(&[UPDATE_ONE_C])],
    },
    Load {
        name: "read-write",
        about: "sysbench OLTP: 10 points, 4 ranges of 100, 4 writes in a transaction",
        group: Group::Write,
        transaction: true,
        steps: &[
            Step { asks: &[POINT], repeat: 10 },
            once(&[SIMPLE]),
            once(&[SUM]),
            once(&[ORDER]),
            once(&[DISTINCT]),
            once(&[UPDATE_K]),
            once(&[UPDATE_C]),
            once(&[DELETE, INSERT_BACK]),
        ],
    },
];
