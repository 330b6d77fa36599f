//! Made-up counts of instructions.

use dbdyno_model::{
    CountComparison, CountVerdict, FunctionChange, Interval, PerArm, Severity, Warning,
};

use super::{Sample, nothing, six_cells};

/// Rates of three loads, of which two were counted: one has more, one cannot be told.
pub(crate) fn beside() -> Sample {
    let mut sample = six_cells();
    sample.comparison.counts = vec![more(), unsteady()];
    sample
}

/// The same counts and one that is equal, without rates.
pub(crate) fn alone() -> Sample {
    let mut sample = nothing();
    sample.run.rounds.clear();
    sample.run.plan.schedule.pairs = 0;
    sample.comparison.cells.clear();
    sample.comparison.counts = vec![more(), equal(), unsteady()];
    sample
}

fn about(estimate: f64, half: f64) -> Interval {
    Interval { estimate, low: estimate * (1.0 - half), high: estimate * (1.0 + half) }
}

fn count(load: &str, base: f64, ratio: f64, half: f64, verdict: CountVerdict) -> CountComparison {
    CountComparison {
        load: load.to_owned(),
        repeats: 5,
        per_op: PerArm { base: about(base, half), test: about(base * ratio, half) },
        ratio: about(ratio, half),
        verdict,
        warnings: Vec::new(),
        functions: Vec::new(),
        named_share: PerArm { base: 0.75, test: 0.999 },
        together: Vec::new(),
    }
}

fn more() -> CountComparison {
    let change = |name: &str, object: &str, base: f64, test: f64| FunctionChange {
        name: name.to_owned(),
        object: object.to_owned(),
        own_per_op: PerArm { base, test },
        inclusive_per_op: PerArm { base: 2.0 * base, test: 2.0 * test },
    };
    let mut count = count("point-query", 46_512.4, 1.056, 0.002, CountVerdict::More);
    count.functions = vec![
        change("MYSQLparse", "mysqld", 5_580.2, 8_011.9),
        change("", "libcrypto.so.3", 0.0, 912.4),
        change("ut_delay|<b>", "mysqld", 700.0, 100.0),
        change("hardly_changed", "mysqld", 700.0, 701.0),
    ];
    count.together = vec!["point-query, 1 client: rate and instructions agree".to_owned()];
    count
}

fn equal() -> CountComparison {
    count("read-write", 50_242.0, 1.0, 0.0, CountVerdict::Equal)
}

fn unsteady() -> CountComparison {
    let mut count = count("update-nonindex", 33_440.0, 1.377, 0.62, CountVerdict::Undecided);
    count.warnings.push(Warning::new(
        Severity::Blocks,
        "count-unsteady",
        "the repetitions of the count of update-nonindex disagree; count once more",
    ));
    count
}
