//! The ten steps, their names and their sizes.

use dbdyno_model::Stage;

use super::sizes::{Deletes, Sizes};
use crate::spec::{Spec, SpecError};

/// What the whole of it is called: `insert-benchmark`, or `insert-benchmark?nr1=…`.
pub const NAME: &str = "insert-benchmark";
/// One line for people.
pub const ABOUT: &str = "Callaghan's Insert Benchmark: l.i0 to l.i2, then queries next to writes";

/// Rows inserted by `l.x` before it makes the indexes.
const ROWS_OF_X: u64 = 100;

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BenchmarkStep {
    /// `l.i0`: rows in the order of the key, no other index.
    FillInKeyOrder,
    /// `l.x`: the three secondary indexes.
    MakeIndexes,
    /// `l.i1`: inserts and deletes, 50 rows a commit.
    WriteInBulk,
    /// `l.i2`: inserts and deletes, 5 rows a commit.
    WriteInBits,
    /// `qrN`: range queries next to N rows/s for each client.
    RangeQueries(u32),
    /// `qpN`: point queries next to N rows/s for each client.
    PointQueries(u32),
}

/// The steps that make and write the tables, in order; all others query.
pub const LOAD_STEPS: [BenchmarkStep; 4] = [
    BenchmarkStep::FillInKeyOrder,
    BenchmarkStep::MakeIndexes,
    BenchmarkStep::WriteInBulk,
    BenchmarkStep::WriteInBits,
];

/// How much a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// So many commits of each client, as fast as the server takes them.
    Commits(u64),
    /// Indexes.
    Indexes,
    /// Queries as fast as the server answers, next to so many rows/s inserted for each client.
    QueriesAtRate(u32),
}

impl BenchmarkStep {
    /// The steps in order.
    pub fn all_in_order(sizes: &Sizes) -> Vec<BenchmarkStep> {
        let mut steps = LOAD_STEPS.to_vec();
        for &rate in &sizes.rates {
            steps.extend([BenchmarkStep::RangeQueries(rate), BenchmarkStep::PointQueries(rate)]);
        }
        steps
    }

    /// `l.i0`, `qr100`: Callaghan's names.
    pub fn name(self) -> String {
        match self {
            BenchmarkStep::FillInKeyOrder => "l.i0".to_owned(),
            BenchmarkStep::MakeIndexes => "l.x".to_owned(),
            BenchmarkStep::WriteInBulk => "l.i1".to_owned(),
            BenchmarkStep::WriteInBits => "l.i2".to_owned(),
            BenchmarkStep::RangeQueries(rate) => format!("qr{rate}"),
            BenchmarkStep::PointQueries(rate) => format!("qp{rate}"),
        }
    }

    /// The step that a name without options stands for; `None` for other loads.
    pub fn from_name(name: &str) -> Option<BenchmarkStep> {
        LOAD_STEPS.into_iter().find(|step| step.name() == name).or_else(|| {
            let make = match name.get(..2)? {
                "qr" => BenchmarkStep::RangeQueries,
                "qp" => BenchmarkStep::PointQueries,
                _ => return None,
            };
            name[2..].parse().ok().filter(|&rate| rate > 0).map(make)
        })
    }

    /// The step and the sizes that a load's name stands for: `l.i1`, `qr100?nr1=5000`. `None` for
    /// the names of other loads.
    ///
    /// # Errors
    /// Options that cannot be meant.
    pub fn find(load: &str) -> Option<Result<(BenchmarkStep, Sizes), SpecError>> {
        let step = BenchmarkStep::from_name(load.split('?').next()?)?;
        let sizes = || {
            let mut options = Spec::parse(load)?.options();
            let sizes = Sizes::of_step(&mut options)?;
            options.finish()?;
            Ok((step, sizes))
        };
        Some(sizes())
    }

    /// Rows of one INSERT, and of one DELETE.
    pub fn rows_per_commit(self) -> u64 {
        match self {
            BenchmarkStep::FillInKeyOrder | BenchmarkStep::MakeIndexes => 100,
            BenchmarkStep::WriteInBits => 5,
            BenchmarkStep::WriteInBulk
            | BenchmarkStep::RangeQueries(_)
            | BenchmarkStep::PointQueries(_) => 50,
        }
    }

    /// How much it does.
    pub fn planned_work(self, sizes: &Sizes) -> Work {
        let commits = |rows: u64| Work::Commits((rows / self.rows_per_commit()).max(1));
        match self {
            BenchmarkStep::FillInKeyOrder => commits(sizes.nr1),
            BenchmarkStep::MakeIndexes => Work::Indexes,
            BenchmarkStep::WriteInBulk => commits(sizes.nr2 * 4 / 5),
            BenchmarkStep::WriteInBits => commits(sizes.nr2 / 5),
            BenchmarkStep::RangeQueries(rate) | BenchmarkStep::PointQueries(rate) => {
                Work::QueriesAtRate(rate)
            }
        }
    }

    /// Number of each client's first row in this step; the query steps go on from one another, so
    /// it is that of the first of them.
    pub fn first_row(self, sizes: &Sizes) -> u64 {
        let before = LOAD_STEPS.into_iter().take_while(|step| *step != self);
        before.map(|step| step.rows(sizes)).sum()
    }

    /// Rows that each client inserts in a step of fixed amount; 0 for the query steps.
    pub fn rows(self, sizes: &Sizes) -> u64 {
        match self.planned_work(sizes) {
            Work::Commits(commits) => commits * self.rows_per_commit(),
            Work::Indexes => ROWS_OF_X,
            Work::QueriesAtRate(_) => 0,
        }
    }

    /// Whether rows are deleted in this step.
    pub(crate) fn delete_mode(self, sizes: &Sizes) -> Deletes {
        match self {
            BenchmarkStep::FillInKeyOrder | BenchmarkStep::MakeIndexes => Deletes::Off,
            _ => sizes.deletes,
        }
    }

    /// The commits of chunk `chunk` of `chunks` that are as equal as can be: first, and how many.
    pub fn chunk_commits(commits: u64, chunks: u32, chunk: u32) -> (u64, u64) {
        let at = |chunk: u32| {
            (u128::from(commits) * u128::from(chunk) / u128::from(chunks.max(1))) as u64
        };
        (at(chunk), at(chunk + 1) - at(chunk))
    }

    /// One line for people.
    pub fn summary_line(self) -> String {
        match self {
            BenchmarkStep::FillInKeyOrder => "insert rows in the order of the key".to_owned(),
            BenchmarkStep::MakeIndexes => "make three secondary indexes".to_owned(),
            BenchmarkStep::WriteInBulk => {
                "insert and delete at both ends, 50 rows a commit".to_owned()
            }
            BenchmarkStep::WriteInBits => {
                "insert and delete at both ends, 5 rows a commit".to_owned()
            }
            BenchmarkStep::RangeQueries(rate) => {
                format!("range queries next to {rate} rows/s for each client")
            }
            BenchmarkStep::PointQueries(rate) => {
                format!("point queries next to {rate} rows/s for each client")
            }
        }
    }
}

/// What `insert-benchmark?OPTIONS` stands for, and the sizes: the four load steps, settling, and
/// the query steps. `None` for the names of other loads.
///
/// # Errors
/// Options that cannot be meant.
pub fn expand_benchmark(load: &str) -> Option<Result<(Vec<Stage>, Sizes), SpecError>> {
    let expanded = || {
        let mut options = Spec::parse(load)?.options();
        let sizes = Sizes::of_whole(&mut options)?;
        options.finish()?;
        let mut stages: Vec<Stage> = BenchmarkStep::all_in_order(&sizes)
            .into_iter()
            .map(|step| Stage::Measure(format!("{}{sizes}", step.name())))
            .collect();
        stages.insert(LOAD_STEPS.len(), Stage::Settle);
        Ok((stages, sizes))
    };
    (load.split('?').next() == Some(NAME)).then(expanded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_steps_have_their_names_order_and_sizes() {
        let (stages, sizes) =
            expand_benchmark("insert-benchmark?nr1=1000&nr2=500").unwrap().unwrap();
        assert_eq!(stages[4], Stage::Settle);
        let names: Vec<&str> = stages.iter().filter_map(Stage::measured_label).collect();
        let bare: Vec<_> = names.iter().map(|name| name.split('?').next().unwrap()).collect();
        assert_eq!(bare.join(" "), "l.i0 l.x l.i1 l.i2 qr100 qp100 qr500 qp500 qr1000 qp1000");
        assert!(names.iter().all(|name| name.ends_with("?nr1=1000&nr2=500")), "{names:?}");
        let size = |name: &str| {
            let (step, sizes) = BenchmarkStep::find(name).unwrap().unwrap();
            (step.first_row(&sizes), step.rows(&sizes), step.rows_per_commit())
        };
        assert_eq!(size(names[0]), (0, 1000, 100));
        assert_eq!(size(names[1]), (1000, 100, 100));
        assert_eq!(size(names[2]), (1100, 400, 50));
        assert_eq!(size(names[3]), (1500, 100, 5));
        assert_eq!(size(names[4]), (1600, 0, 50));
        assert_eq!(BenchmarkStep::find(names[9]).unwrap().unwrap().1, sizes);
        assert!(
            expand_benchmark("insert-benchmark")
                .unwrap()
                .unwrap()
                .0
                .contains(&"l.i0".parse().unwrap())
        );
    }

    #[test]
    fn other_names_are_other_loads() {
        for name in ["point-query", "qr", "qr0", "qrx", "q", "l.i3", "read-write", "é"] {
            assert!(BenchmarkStep::find(name).is_none(), "{name}");
        }
        assert!(expand_benchmark("point-query").is_none());
        assert!(BenchmarkStep::find("l.i0?nr9=1").unwrap().is_err());
    }

    #[test]
    fn chunks_cover_all_commits_once_and_differ_by_one_at_most() {
        for (commits, chunks) in [(100, 7), (3, 5), (1, 1), (20, 20)] {
            let mut next = 0;
            for chunk in 0..chunks {
                let (first, count) = BenchmarkStep::chunk_commits(commits, chunks, chunk);
                assert_eq!(first, next);
                assert!(count.abs_diff(commits / u64::from(chunks)) <= 1);
                next += count;
            }
            assert_eq!(next, commits);
        }
    }
}
