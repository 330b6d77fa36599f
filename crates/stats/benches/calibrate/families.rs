//! Tables of many cells: what is told of them that is not so.
//!
//! ```text
//!   40 cells × 8 starts ─▶ p of each ─▶ p ≤ 1 %                  each cell by itself
//!                                  └─▶ p ≤ 1 % and q ≤ 5 %      what dbdyno tells
//! ```

use dbdyno_model::Verdict;
use dbdyno_stats::{
    BETWEEN_STARTS_SD, DECISION_ALPHA, FALSE_DISCOVERIES, POWER, benjamini_hochberg,
    detectable_change, judge_pairs,
};

use crate::hosts::{normal, numbers};
use crate::table::{Share, Table};

const TABLES: u64 = 4_000;
const CELLS: usize = 40;
const STARTS: u32 = 8;
/// Too narrow for noise to prove anything equal, so that `equal` hides no alarm.
const BUDGET: f64 = 1e-4;
/// Effects in units of what a cell finds with 80 %.
const SIZES: [f64; 4] = [0.75, 1.0, 1.25, 1.5];

/// One table, of whose cells the first `changed` have an effect; what cells share is a part of
/// their noise.
struct Told {
    changed: usize,
    verdicts: Vec<Verdict>,
    p_values: Vec<f64>,
}

/// What was told of some tables by one rule.
#[derive(Clone, Copy, Default)]
struct Tally {
    with_false: u64,
    false_share: f64,
    found: u64,
}

fn effect(cell: usize) -> f64 {
    let least = detectable_change(BETWEEN_STARTS_SD, STARTS, DECISION_ALPHA, POWER).ln_1p();
    let sign = if cell.is_multiple_of(2) { -1.0 } else { 1.0 };
    sign * SIZES[cell / 2 % SIZES.len()] * least
}

fn table(changed: usize, shared: f64, index: u64) -> Told {
    let mut stream = numbers("families", index);
    let common: Vec<f64> = (0..STARTS).map(|_| normal(&mut stream)).collect();
    let mut told = Told { changed, verdicts: Vec::new(), p_values: Vec::new() };
    for cell in 0..CELLS {
        let truth = if cell < changed { effect(cell) } else { 0.0 };
        let start = |common: &f64| {
            let noise = shared.sqrt() * common + (1.0 - shared).sqrt() * normal(&mut stream);
            truth + BETWEEN_STARTS_SD * noise
        };
        let starts: Vec<f64> = common.iter().map(start).collect();
        let judged = judge_pairs(&starts, BUDGET).expect("starts");
        told.verdicts.push(judged.verdict);
        told.p_values.push(judged.p_value);
    }
    told
}

impl Tally {
    fn add(&mut self, table: &Told, holds: impl Fn(usize) -> bool) {
        let (mut wrong, mut right) = (0_u32, 0_u32);
        for (cell, &verdict) in table.verdicts.iter().enumerate() {
            let truth = match (cell < table.changed, effect(cell) < 0.0) {
                (false, _) => Verdict::Equal,
                (true, true) => Verdict::Slower,
                (true, false) => Verdict::Faster,
            };
            if matches!(verdict, Verdict::Slower | Verdict::Faster) && holds(cell) {
                if verdict == truth { right += 1 } else { wrong += 1 }
            }
        }
        self.with_false += u64::from(wrong > 0);
        self.false_share += f64::from(wrong) / f64::from((wrong + right).max(1));
        self.found += u64::from(right);
    }

    fn cells(self, changed: usize) -> [String; 3] {
        let any = Share { count: self.with_false, of: TABLES }.percent();
        let mean = format!("{:.2} %", 100.0 * self.false_share / TABLES as f64);
        let found = match changed as u64 * TABLES {
            0 => "–".to_owned(),
            of => Share { count: self.found, of }.percent(),
        };
        [any, mean, found]
    }
}

/// The table of many cells.
pub(crate) fn section() -> String {
    let mut rows = Table::new(&[
        "cells with an effect",
        "noise in common",
        "rule",
        "tables with a false verdict",
        "false share of verdicts, mean",
        "effects found",
    ]);
    for (changed, shared) in [(0, 0.0), (5, 0.0), (20, 0.0), (0, 0.5), (5, 0.5), (20, 0.5)] {
        let mut tallies = [Tally::default(); 2];
        for index in 0..TABLES {
            let told = table(changed, shared, index);
            let q_values = benjamini_hochberg(&told.p_values);
            tallies[0].add(&told, |_| true);
            tallies[1].add(&told, |cell| q_values[cell] <= FALSE_DISCOVERIES);
        }
        for (rule, tally) in ["*p ≤ 1 %*", "p ≤ 1 % and q ≤ 5 %"].iter().zip(tallies) {
            let head =
                [changed.to_string(), format!("{:.0} %", 100.0 * shared), (*rule).to_owned()];
            rows.row(&[&head[..], &tally.cells(changed)].concat());
        }
    }
    format!(
        "## Many cells\n\n\
         Tables of {CELLS} cells with {STARTS} starts each; starts differ by {:.1} %.\n\
         Effects are 0.75 to 1.5 times the effect that a cell finds with a power of 80 %, \
         half of them slower and half faster; {TABLES} tables each, ±1.5 %.\n\
         A verdict with the wrong sign is false, too.\n\
         dbdyno uses the second rule, p ≤ 1 % and q ≤ 5 %.\n\n\
         {}",
        100.0 * BETWEEN_STARTS_SD,
        rows.end()
    )
}
