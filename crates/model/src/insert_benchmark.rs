//! What the Insert Benchmark says of a step, in Callaghan's columns.

use crate::arm::PerArm;
use crate::plan::Cell;

/// The columns, under his names and in his order; the twenty-first, `tag`, is the arm's label.
///
/// | name               | meaning here                                                         |
/// |--------------------|----------------------------------------------------------------------|
/// | ips, qps           | rows inserted, queries answered each second                          |
/// | rps, wps, rpq, wpi | operations on storage: cannot be observed of one process, so absent  |
/// | rmbps, wmbps       | MB read from and written to storage each second, by the server       |
/// | rkbpq, wkbpi       | KB read for each query (load steps: insert), written for each insert |
/// | csps, cspq         | context switches of the server each second, for each query (insert)  |
/// | cpups              | processor time of the server, % of all processors                    |
/// | cpupq              | the same in µs for each query (insert)                               |
/// | dbgb1, dbgb2       | size of the database, of the data directory, GB at the end           |
/// | rss                | memory of the server's processes, GB at the end; shared pages once   |
/// | maxop              | slowest insert, delete or query, seconds                             |
/// | p50, p99           | throughput reached or exceeded in 50 %, 99 % of the seconds          |
///
/// MB and GB are powers of 1 024. His come from `vmstat` and `iostat`: those are of the whole host,
/// the client and everything else included.
pub const COLUMNS: [&str; 20] = [
    "ips", "qps", "rps", "rmbps", "wps", "wmbps", "rpq", "rkbpq", "wpi", "wkbpi", "csps", "cpups",
    "cspq", "cpupq", "dbgb1", "dbgb2", "rss", "maxop", "p50", "p99",
];

/// The share of its target that a background must reach, or the step is not comparable.
pub const SLA: f64 = 0.95;

/// One step, both arms.
#[derive(Clone, Debug, PartialEq)]
pub struct StepMetrics {
    /// Its cell.
    pub cell: Cell,
    /// Its bare name: `l.i0`, `qr100`.
    pub step: String,
    /// Rows per second that the background should insert, all clients together; only where there is
    /// a background.
    pub target_ips: Option<f64>,
    /// Each arm.
    pub arms: PerArm<ArmMetrics>,
}

/// One arm in one step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ArmMetrics {
    /// In the order of [`COLUMNS`]; `None`: not observed, or it does not apply.
    pub columns: [Option<f64>; COLUMNS.len()],
    /// Rows inserted ÷ rows due; only where there is a background.
    pub kept: Option<f64>,
    /// How often the first row was looked for.
    pub getmin_count: u64,
    /// How long that took on average, milliseconds.
    pub getmin_ms_mean: Option<f64>,
    /// How long the slowest took, milliseconds.
    pub getmin_ms_max: Option<f64>,
    /// History length or dead tuples when the step began.
    pub debt_begin: Option<f64>,
    /// The same when it ended.
    pub debt_end: Option<f64>,
}

impl ArmMetrics {
    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<f64> {
        let at = COLUMNS.iter().position(|column| *column == name)?;
        self.columns[at]
    }

    /// Whether the background fell short of what was asked of it.
    pub fn has_missed_sla(&self) -> bool {
        self.kept.is_some_and(|kept| kept < SLA)
    }
}

impl StepMetrics {
    /// Whether queries are the point of this step: `qr…`, `qp…`.
    pub(crate) fn is_query_step(&self) -> bool {
        self.target_ips.is_some()
    }

    /// The rate that the step is about: queries per second, or rows per second.
    pub fn rate(&self, arm: &ArmMetrics) -> Option<f64> {
        arm.column(if self.is_query_step() { "qps" } else { "ips" })
    }
}
