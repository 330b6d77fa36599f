//! The tables of the Insert Benchmark, as Callaghan's reports have them: one column for each step.
//!
//! ```text
//!   throughput    l.i0     l.x      l.i1    …  qr100      red ▼    lowest quarter of the range of
//!   base         90 000 ▲  350 000  9 000 ▲ …  12 000 ∅            the column, if it is wide
//!   test         60 000 ▼  340 000  6 000 ▼ …  11 900 ∅   green ▲  highest quarter
//!                                                         grey ∅   the background fell short
//!   relative       0.67 −    0.97    0.67 − …    0.99 ∅   yellow − less than 0.95
//!                                                         blue +   more than 1.05
//!   background   target, base, test                       red ▼    less than 95 % of the target
//! ```
//!
//! Colour only repeats the mark.

use dbdyno_document::{DataTable, TableCell, Tint, number};
use dbdyno_model::insert_benchmark::{COLUMNS, SLA};

use crate::view::{StepArmView, StepView, View};

/// The tables of the Insert Benchmark; none where it was not measured.
pub(crate) fn step_tables(view: &View) -> Vec<DataTable> {
    let steps = &view.summary.insert_benchmark;
    if steps.is_empty() {
        return Vec::new();
    }
    let mut tables = vec![throughput(steps), relative(steps)];
    if steps.iter().any(|step| step.target_ips.is_some()) {
        tables.push(background(steps));
    }
    tables.push(debts(steps));
    tables.push(metrics(steps, "base", |step| &step.base));
    tables.push(metrics(steps, "test", |step| &step.test));
    tables
}

/// A number with what its colour says, and the sign that says the same.
fn tinted(text: String, tint: Tint) -> TableCell {
    let sign = match tint {
        Tint::Lowest => " ▼",
        Tint::Highest => " ▲",
        Tint::Incomparable => " ∅",
        Tint::Lower => " −",
        Tint::Higher => " +",
        _ => "",
    };
    TableCell::from(text + sign).with_shade(tint, None)
}

fn shown(value: Option<f64>) -> String {
    match value {
        None => number::UNKNOWN.to_owned(),
        Some(value) if value.abs() >= 100.0 => number::format_fixed(value, 0),
        Some(value) => number::three_digits(value),
    }
}

fn plain(value: Option<f64>) -> TableCell {
    shown(value).into()
}

/// A column for each of these steps.
fn over(steps: &[StepView], title: &str, rows: Vec<(String, Vec<TableCell>)>) -> DataTable {
    let heads = steps.iter().map(|step| step.step.as_str());
    DataTable::of_numbers("", heads, rows).with_title(format!("Insert Benchmark: {title}"))
}

fn throughput(steps: &[StepView]) -> DataTable {
    let (mut base, mut test) = (Vec::new(), Vec::new());
    for step in steps {
        let rates = [step.rate(&step.base), step.rate(&step.test)];
        let tints = ranked(&rates, &[step.base.sla_missed, step.test.sla_missed]);
        base.push(tinted(shown(rates[0]), tints[0]));
        test.push(tinted(shown(rates[1]), tints[1]));
    }
    over(steps, "throughput", vec![("base".to_owned(), base), ("test".to_owned(), test)])
        .with_legend(
            "Rows inserted each second in l.i0, l.i1, l.i2, rows indexed in l.x, queries in qr \
         and qp. ▼ lowest, ▲ highest quarter between the lowest and the highest; no ▼ where \
         the lowest is at least 80 % of the highest. ∅: the background fell short, so the \
         rate is not comparable. Whether a difference is proved stands in the table of \
         rates.",
        )
}

fn relative(steps: &[StepView]) -> DataTable {
    let mut cells = Vec::new();
    for step in steps {
        let ratio = match (step.rate(&step.base), step.rate(&step.test)) {
            (Some(base), Some(test)) if base > 0.0 => Some(test / base),
            _ => None,
        };
        let missed = step.base.sla_missed || step.test.sla_missed;
        let text = ratio.map_or(number::UNKNOWN.to_owned(), |ratio| number::format_fixed(ratio, 2));
        cells.push(tinted(text, compared(ratio, missed)));
    }
    over(steps, "relative to base", vec![("test ÷ base".to_owned(), cells)])
        .with_legend("− less than 0.95, + more than 1.05, ∅ not comparable.")
}

fn background(steps: &[StepView]) -> DataTable {
    let with: Vec<StepView> =
        steps.iter().filter(|step| step.target_ips.is_some()).cloned().collect();
    let mut rows = ["target", "base", "test"].map(|name| (name.to_owned(), Vec::new()));
    for step in &with {
        rows[0].1.push(plain(step.target_ips));
        for (row, arm) in rows[1..].iter_mut().zip([&step.base, &step.test]) {
            let tint = if arm.sla_missed { Tint::Lowest } else { Tint::None };
            row.1.push(tinted(shown(arm.column("ips")), tint));
        }
    }
    over(&with, "background inserts per second", rows.into())
        .with_legend("▼ less than 95 % of the rows that were due.")
}

fn debts(steps: &[StepView]) -> DataTable {
    type Pick = fn(&StepArmView) -> Option<f64>;
    let quantities: [(&str, Pick); 4] = [
        ("getmin ms, mean", |arm| arm.getmin_ms_mean),
        ("getmin ms, max", |arm| arm.getmin_ms_max),
        ("debt at begin", |arm| arm.debt_begin),
        ("debt at end", |arm| arm.debt_end),
    ];
    let mut rows = Vec::new();
    for (name, pick) in quantities {
        let base = steps.iter().map(|step| plain(pick(&step.base)));
        rows.push((format!("base {name}"), base.collect()));
        let test = steps.iter().map(|step| plain(pick(&step.test)));
        rows.push((format!("test {name}"), test.collect()));
    }
    over(steps, "what deletes leave behind", rows).with_legend(
        "getmin: looking for the first living row, which steps over deleted ones. Debt: \
         history length (MySQL, MariaDB) or dead tuples of the tables (PostgreSQL) at the \
         ends of the step.",
    )
}

fn metrics(steps: &[StepView], name: &str, pick: fn(&StepView) -> &StepArmView) -> DataTable {
    let tag = steps.first().map(|step| pick(step).tag.clone()).unwrap_or_default();
    let rows = steps.iter().map(|step| {
        let cells = COLUMNS.iter().map(|column| plain(pick(step).column(column)));
        (step.step.as_str(), cells.collect())
    });
    let table = DataTable::of_numbers("", COLUMNS.iter().copied(), rows);
    table.with_title(format!("Insert Benchmark: metrics of {name}, {tag}")).with_legend(
        "Of the server's own processes, not of the host. rps, wps, rpq and wpi cannot be \
         observed of a process. cpups: % of all processors; cpupq: µs for each query, in load \
         steps for each insert; dbgb1 database, dbgb2 data directory, rss: GB at the end; \
         maxop: seconds; p50, p99: throughput reached or exceeded in 50 %, 99 % of the \
         seconds.",
    )
}

/// Colours of one column: the lowest and the highest quarter of its range.
fn ranked(rates: &[Option<f64>], missed: &[bool]) -> Vec<Tint> {
    let fair: Vec<f64> =
        rates.iter().zip(missed).filter(|(_, missed)| !**missed).filter_map(|(r, _)| *r).collect();
    let low = fair.iter().copied().fold(f64::INFINITY, f64::min);
    let high = fair.iter().copied().fold(0.0, f64::max);
    let quarter = (high - low) / 4.0;
    let tints = rates.iter().zip(missed).map(|(rate, missed)| match rate {
        _ if *missed => Tint::Incomparable,
        Some(rate) if quarter > 0.0 && *rate >= high - quarter => Tint::Highest,
        Some(rate) if quarter > 0.0 && *rate <= low + quarter && low < 0.8 * high => Tint::Lowest,
        _ => Tint::None,
    });
    tints.collect()
}

fn compared(ratio: Option<f64>, missed: bool) -> Tint {
    match ratio {
        _ if missed => Tint::Incomparable,
        Some(ratio) if ratio < SLA => Tint::Lower,
        Some(ratio) if ratio > 1.05 => Tint::Higher,
        _ => Tint::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quarters_of_the_range_are_coloured_by_his_rules() {
        use Tint::{Highest as Green, Incomparable as Grey, Lowest as Red, None as Plain};
        let ranked = |rates: &[f64], missed: &[bool]| {
            super::ranked(&rates.iter().copied().map(Some).collect::<Vec<_>>(), missed)
        };
        let fair = [false; 5];
        // 10 … 50: up to 20 red, from 40 on green.
        assert_eq!(ranked(&[10.0, 20.0, 30.0, 40.0, 50.0], &fair), [Red, Red, Plain, Green, Green]);
        // The lowest is 80 % of the highest: no red.
        assert_eq!(ranked(&[80.0, 100.0], &fair[..2]), [Plain, Green]);
        assert_eq!(ranked(&[79.9, 100.0], &fair[..2]), [Red, Green]);
        assert_eq!(ranked(&[7.0, 7.0], &fair[..2]), [Plain, Plain]);
        // What is not comparable has no part in the range.
        assert_eq!(ranked(&[1.0, 90.0, 100.0], &[true, false, false]), [Grey, Plain, Green]);
        assert_eq!(super::ranked(&[Option::None], &[false]), [Plain]);
    }

    #[test]
    fn five_per_cent_to_either_side_are_plain() {
        for (ratio, tint) in
            [(0.949, Tint::Lower), (0.95, Tint::None), (1.05, Tint::None), (1.051, Tint::Higher)]
        {
            assert_eq!(compared(Some(ratio), false), tint, "{ratio}");
            assert_eq!(compared(Some(ratio), true), Tint::Incomparable);
        }
        assert_eq!(compared(None, false), Tint::None);
    }
}
