//! Printed figures held against what was measured.
//!
//! ```text
//!   printed: hot-points 0.65 for 9.7.0 ÷ 5.6.51
//!   run:     arms that stand for the two releases, the cell of that load ─▶ ratio, interval
//!                                                                        ─▶ how the two stand
//! ```
//!
//! With one client the rate rests on what a statement takes of client and server together. A text's
//! client is another program than ours, so that the server's processor time is shown beside the
//! rate: the share of the client is in neither. Verdicts rest on the rate, which is what was
//! printed.

use std::rc::Rc;

use dbdyno_model::experiment::{FigureOutcome, RoundFigure};
use dbdyno_model::published::{
    Agreement, FigureStanding, PublishedRow, PublishedTable, ReplicatedRow, ReplicatedTable,
    ratio_tolerance,
};
use dbdyno_model::{CellComparison, Comparison, Interval, Pairing, Run, Severity};
use dbdyno_stats::agreement::rank_correlation;
use dbdyno_stats::median;

use crate::arms::compare_pair;
use crate::error::JudgeError;
use crate::expectation::figure_outcomes;

/// The figures of a run, each judged once however many tables ask for it.
pub struct RunFigures<'r> {
    run: &'r Run,
    comparisons: Vec<(Pairing, Rc<Comparison>)>,
    outcomes: Vec<(Pairing, RoundFigure, Rc<[FigureOutcome]>)>,
}

impl<'r> RunFigures<'r> {
    /// Those of a run; none is judged yet.
    pub fn of_run(run: &'r Run) -> RunFigures<'r> {
        RunFigures { run, comparisons: Vec::new(), outcomes: Vec::new() }
    }

    /// What was found of a figure of two arms, in each cell of their comparison.
    ///
    /// # Errors
    /// Figures that cannot be judged, which only a damaged store can hold.
    pub fn cell_outcomes(
        &mut self,
        arms: Pairing,
        figure: &RoundFigure,
    ) -> Result<Rc<[FigureOutcome]>, JudgeError> {
        let judged = self.outcomes.iter().find(|(of, what, _)| *of == arms && what == figure);
        if let Some((.., outcomes)) = judged {
            return Ok(Rc::clone(outcomes));
        }
        let comparison = self.pair_comparison(arms)?;
        let outcomes = figure_outcomes(self.run.pair(arms), &comparison, figure)?;
        let outcomes: Rc<[FigureOutcome]> = outcomes.into();
        self.outcomes.push((arms, figure.clone(), Rc::clone(&outcomes)));
        Ok(outcomes)
    }

    /// Two arms of the run, judged.
    ///
    /// # Errors
    /// Rates that cannot be judged, which only a damaged store can hold.
    fn pair_comparison(&mut self, arms: Pairing) -> Result<Rc<Comparison>, JudgeError> {
        let judged = self.comparisons.iter().find(|(of, _)| *of == arms);
        if let Some((_, comparison)) = judged {
            return Ok(Rc::clone(comparison));
        }
        let comparison = Rc::new(compare_pair(self.run.pair(arms))?);
        self.comparisons.push((arms, Rc::clone(&comparison)));
        Ok(comparison)
    }
}

/// Holds a printed table against the arms that stand for its releases; `None` where one of them was
/// not measured.
///
/// # Errors
/// Rates that cannot be judged, which only a damaged store can hold.
pub fn replicate(
    run: &mut RunFigures<'_>,
    published: PublishedTable,
    arms: Option<Pairing>,
) -> Result<ReplicatedTable, JudgeError> {
    let measured = match arms {
        Some(arms) => ArmRatios::new(run, arms, &published)?,
        None => ArmRatios::default(),
    };
    let row = |row: &PublishedRow| {
        let ours = measured.of(row, &measured.figure);
        ReplicatedRow {
            ours,
            by_server_cpu: measured.of(row, &measured.by_server_cpu),
            standing: FigureStanding::from_ratios(row.ratio, ours),
            published: row.clone(),
        }
    };
    let rows: Vec<ReplicatedRow> = published.rows.iter().map(row).collect();
    let mut clients: Vec<u32> = measured.figure.iter().map(|cell| cell.clients).collect();
    clients.sort_unstable();
    clients.dedup();
    Ok(ReplicatedTable {
        agreement: agreement(&rows, |row| row.ours),
        by_server_cpu: agreement(&rows, |row| row.by_server_cpu),
        arms,
        clients,
        rows,
        published,
    })
}

/// Ratios of two arms in all cells that can be held against a table.
#[derive(Default)]
struct ArmRatios {
    figure: Vec<Ratio>,
    by_server_cpu: Vec<Ratio>,
}

/// A ratio of a cell.
struct Ratio {
    load: String,
    clients: u32,
    group: Option<String>,
    ratio: Interval,
}

impl Ratio {
    /// Of a cost, that of the rates that it allows.
    fn reciprocal(self) -> Ratio {
        let Interval { estimate, low, high } = self.ratio;
        let ratio = Interval { estimate: 1.0 / estimate, low: 1.0 / high, high: 1.0 / low };
        Ratio { ratio, ..self }
    }
}

impl ArmRatios {
    fn new(
        run: &mut RunFigures<'_>,
        arms: Pairing,
        published: &PublishedTable,
    ) -> Result<ArmRatios, JudgeError> {
        let figure = ratios(run, arms, published.clients, &published.what)?;
        let mut by_server_cpu = Vec::new();
        if published.what == RoundFigure::Rate {
            let costs = ratios(run, arms, published.clients, &RoundFigure::ServerCpu)?;
            by_server_cpu.extend(costs.into_iter().map(Ratio::reciprocal));
        }
        Ok(ArmRatios { figure, by_server_cpu })
    }

    /// The ratio of a load, or the median of a group with the medians of the ends of its cells'
    /// intervals: if half of the cells lie above a bound, so does their median. That is wider than
    /// it need be, as errors of cells that are independent cancel in a median.
    fn of(&self, row: &PublishedRow, ratios: &[Ratio]) -> Option<Interval> {
        let Some(group) = row.load_group() else {
            return ratios.iter().find(|cell| row.is_of(&cell.load)).map(|cell| cell.ratio);
        };
        let own = ratios.iter().filter(|cell| cell.group.as_deref() == Some(group));
        let own: Vec<Interval> = own.map(|cell| cell.ratio).collect();
        let middle = |end: fn(&Interval) -> f64| median(&own.iter().map(end).collect::<Vec<_>>());
        Some(Interval {
            estimate: middle(|ratio| ratio.estimate)?,
            low: middle(|ratio| ratio.low)?,
            high: middle(|ratio| ratio.high)?,
        })
    }
}

/// The ratios of a figure in the cells that are believed and have the clients of the text.
fn ratios(
    run: &mut RunFigures<'_>,
    arms: Pairing,
    clients: Option<u32>,
    figure: &RoundFigure,
) -> Result<Vec<Ratio>, JudgeError> {
    let (comparison, outcomes) = (run.pair_comparison(arms)?, run.cell_outcomes(arms, figure)?);
    let usable = comparison.cells.iter().zip(&*outcomes).filter(|(cell, _)| {
        let is_blocked = cell.warnings.iter().any(|one| one.severity == Severity::Blocks);
        !is_blocked && is_theirs(cell, &comparison, clients)
    });
    let ratios = usable.filter_map(|(cell, outcome)| {
        Some(Ratio {
            load: cell.cell.load.clone(),
            clients: cell.cell.clients,
            group: cell.group.clone(),
            ratio: outcome.ratio?,
        })
    });
    Ok(ratios.collect())
}

/// Whether a cell has as many clients as the text has, or the only number that there is.
fn is_theirs(cell: &CellComparison, comparison: &Comparison, clients: Option<u32>) -> bool {
    clients.is_none_or(|clients| {
        let others = comparison.cells.iter().filter(|other| other.cell.load == cell.cell.load);
        cell.cell.clients == clients || others.count() == 1
    })
}

/// How the rows of loads agree, medians of groups left out.
fn agreement(
    rows: &[ReplicatedRow],
    ours: impl Fn(&ReplicatedRow) -> Option<Interval>,
) -> Option<Agreement> {
    let both = rows.iter().filter(|row| row.published.load_group().is_none());
    agreement_of(both.filter_map(|row| Some((row.published.ratio, ours(row)?.estimate))))
}

/// How far ratios of ours agree with printed ones: pairs of theirs and ours.
pub fn agreement_of(both: impl Iterator<Item = (f64, f64)>) -> Option<Agreement> {
    let (theirs, ours): (Vec<f64>, Vec<f64>) = both.unzip();
    let shifts: Vec<f64> = theirs.iter().zip(&ours).map(|(theirs, ours)| ours - theirs).collect();
    let sizes: Vec<f64> = shifts.iter().map(|shift| shift.abs()).collect();
    let within =
        theirs.iter().zip(&sizes).filter(|(theirs, size)| **size <= ratio_tolerance(**theirs));
    Some(Agreement {
        rows: theirs.len() as u32,
        rank_correlation: rank_correlation(&theirs, &ours),
        median_difference: median(&sizes)?,
        median_shift: median(&shifts)?,
        within: within.count() as u32,
    })
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ArmIndex, Round};

    use super::*;
    use crate::sample;

    /// In a run of the sample test is twice as fast.
    fn run() -> Run {
        let loads = ["point-query", "scan", "hot-points"];
        sample::of_cells(20, &loads, "sqlite:", &[1], |round: &mut Round| {
            if round.key.cell.load == "scan" && round.key.arm == ArmIndex::TEST {
                sample::set_events(round, 500.0 + f64::from(round.key.pair % 3));
            }
        })
    }

    fn table(what: &str, rows: &[(&str, f64)]) -> PublishedTable {
        let row = |(load, ratio): &(&str, f64)| PublishedRow {
            load: (*load).to_owned(),
            ratio: *ratio,
            because: None,
        };
        PublishedTable {
            of: "a table".to_owned(),
            base: "1".to_owned(),
            test: "2".to_owned(),
            what: RoundFigure::read(what),
            clients: Some(40),
            rows: rows.iter().map(row).collect(),
        }
    }

    #[test]
    fn each_row_is_held_against_its_cell_and_medians_against_their_group() {
        let rows = [
            ("scan", 0.9),
            ("hot-points", 2.0),
            ("point-query", 0.5),
            ("insert", 0.9),
            ("median of point", 2.0),
            ("median of write", 2.0),
        ];
        let run = run();
        let found =
            replicate(&mut RunFigures::of_run(&run), table("rate", &rows), Some(Pairing::USUAL))
                .unwrap();
        let comparison = crate::compare_run(run.first_pair()).unwrap();
        let of = |load: &str| {
            comparison.cells.iter().find(|cell| cell.cell.load == load).map(|cell| cell.rqps)
        };
        for (row, (load, theirs)) in found.rows.iter().zip(rows) {
            let expected = match load {
                "median of point" => Some(
                    of("point-query")
                        .unwrap()
                        .estimate
                        .midpoint(of("hot-points").unwrap().estimate),
                ),
                load => of(load).map(|ours| ours.estimate),
            };
            assert_eq!(row.ours.map(|ours| ours.estimate), expected, "{load}");
            assert_eq!(row.standing, FigureStanding::from_ratios(theirs, row.ours), "{load}");
        }
        let standings: Vec<FigureStanding> = found.rows.iter().map(|row| row.standing).collect();
        assert_eq!(
            standings[1..4],
            [FigureStanding::Confirmed, FigureStanding::Different, FigureStanding::NotTestable]
        );
        assert_eq!(found.clients, [1], "of theirs there are 40, and here there is one number only");
        let agreement = found.agreement.unwrap();
        assert_eq!((agreement.rows, agreement.within), (3, 1), "medians are no rows of their own");
    }

    #[test]
    fn by_server_cpu_a_ratio_is_the_reciprocal_of_its_cost() {
        let run = sample::of_pairs(20, "point-query", "sqlite:", 1, |round| {
            let each = if round.key.arm == ArmIndex::BASE { 10_000 } else { 12_500 };
            round.cost.server_cpu_ns = Some(round.statements * each);
        });
        let found = replicate(
            &mut RunFigures::of_run(&run),
            table("rate", &[("point-query", 0.8)]),
            Some(Pairing::USUAL),
        );
        let by_cpu = found.unwrap().rows[0].by_server_cpu.unwrap();
        assert!((by_cpu.estimate - 0.8).abs() < 1e-9, "{by_cpu:?}");
        assert!(by_cpu.low <= by_cpu.estimate && by_cpu.estimate <= by_cpu.high, "{by_cpu:?}");
        let found = replicate(
            &mut RunFigures::of_run(&run),
            table("cpu/o", &[("point-query", 1.25)]),
            Some(Pairing::USUAL),
        );
        let row = &found.unwrap().rows[0];
        assert!((row.ours.unwrap().estimate - 1.25).abs() < 1e-9);
        assert_eq!(row.by_server_cpu, None, "of rates only");
    }

    #[test]
    fn what_many_tables_ask_for_is_judged_once() {
        let run = run();
        let mut figures = RunFigures::of_run(&run);
        for _ in 0..3 {
            replicate(&mut figures, table("rate", &[("scan", 0.9)]), Some(Pairing::USUAL)).unwrap();
        }
        assert_eq!((figures.comparisons.len(), figures.outcomes.len()), (1, 2));
    }

    #[test]
    fn without_arms_nothing_is_testable() {
        let found =
            replicate(&mut RunFigures::of_run(&run()), table("rate", &[("scan", 0.9)]), None)
                .unwrap();
        assert_eq!(found.rows[0].standing, FigureStanding::NotTestable);
        assert_eq!(found.agreement, None);
    }
}
