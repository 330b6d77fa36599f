//! Runs of all loads as Markdown.

use std::fmt::Write as _;

use dbdyno_judge::compare_run;
use dbdyno_model::{
    Arm, ArmIndex, ArmSummary, Cell, CellComparison, Comparison, Interval, PerArm, Round, Run,
    Severity,
};
use dbdyno_workload::{Catalog, Custom, Load, LoadGroup, Tables};

const HEAD: &str = "\
# The loads on two servers

Every load that comes with dbdyno, and `examples/shop.toml`, on two servers of our own on one machine.
The figures of a row were measured in turn, in random ABBA order, and may be compared with each other; rows with those above and below.
They are not to be compared with figures of another machine, nor are they a verdict: that is what `dbdyno compare` and more pairs are for.
";

const COLUMNS: &str = "\
* *st/ev*: statements of an event, BEGIN and COMMIT included; an *op* is a statement.
* *rows/op*: rows that an op returned or changed; one figure where both servers agree, else one for each.
* *rate*: in the *unit* of the load, geometric mean over rounds, with half of its 95 % interval; `l.x`, whose rows are those that it indexes, is measured once and has none.
* *cpu/o*: processor time of the server for an op, µs; *client*: that of the client's threads.
* *remarks*: what a run says of the cell by itself, notes left out. `waiting-arm-busy` and the like say it of the whole run and stand above the table.
";

/// All runs, one below the other.
pub(crate) fn markdown(runs: &[Run]) -> String {
    let mut text = HEAD.to_owned();
    let first = &runs[0];
    let comparisons: Vec<Comparison> = runs
        .iter()
        .map(|run| compare_run(run.first_pair()).expect("what was measured can be judged"))
        .collect();
    let fact = |name: &str| first.environment[ArmIndex::BASE].get(name).to_owned();
    let memory_gb = fact("host.memory_kb").parse::<f64>().unwrap_or(0.0) / 1024.0 / 1024.0;
    let labels = &comparisons[0].labels;
    let _infallible = write!(
        text,
        "\n* servers: {} and {}, as `dbdyno compare` starts them (`sandbox::options`)\n\
         * machine: {} × {}, {memory_gb:.0} GB, {}, kernel {}\n\
         * made by `cargo bench -p dbdyno-lab --bench loads -- {} {} > docs/LOADS.md`\n\n{COLUMNS}",
        labels.base,
        labels.test,
        fact("host.cpu.logical"),
        fact("host.cpu.model"),
        fact("host.virtualisation"),
        fact("host.kernel"),
        first.plan.arms[ArmIndex::BASE],
        first.plan.arms[ArmIndex::TEST],
    );
    for (run, comparison) in runs.iter().zip(&comparisons) {
        part(run, comparison, &mut text);
    }
    text
}

fn part(run: &Run, comparison: &Comparison, text: &mut String) {
    let plan = &run.plan;
    let clients = plan.question.clients[0];
    let plural = if clients == 1 { "client" } else { "clients" };
    let seconds = f64::from(plan.schedule.pairs) * plan.schedule.round_ns as f64 / 1e9;
    let steps = comparison.insert_benchmark.len();
    let what = if steps > 0 { "The Insert Benchmark" } else { "All other loads" };
    let size = match plan.labels()[0].split_once('?') {
        Some((_, size)) if steps > 0 => format!("`{size}`, query steps of {seconds} s"),
        _ => format!(
            "{} table of {} rows, {} pairs of rounds of {} s, longer where an event takes long",
            plan.question.tables,
            grouped(plan.question.rows as f64),
            plan.schedule.pairs,
            plan.schedule.round_ns as f64 / 1e9
        ),
    };
    let _infallible = writeln!(text, "\n## {what} at {clients} {plural}\n\n{size}.");
    for warning in comparison.warnings.iter().filter(|w| w.severity != Severity::Note) {
        let _infallible = writeln!(text, "* {}: {}", warning.code, warning.text);
    }
    if steps > 0 {
        text.push('\n');
        rows(run, comparison.cells.iter().collect(), text);
        return;
    }
    let loads = Loads::of(run);
    for group in LoadGroup::ALL {
        let of_group = |cell: &&CellComparison| loads.get(&cell.cell).group == group;
        let _infallible = writeln!(text, "\n### {}\n", group.name());
        rows(run, comparison.cells.iter().filter(of_group).collect(), text);
    }
}

fn rows(run: &Run, cells: Vec<&CellComparison>, text: &mut String) {
    let name = |arm: Arm| match run.plan.arms[arm.into()].to_string() {
        name if run.plan.arms[ArmIndex::BASE].to_string()
            == run.plan.arms[ArmIndex::TEST].to_string() =>
        {
            format!("{name} ({arm})")
        }
        name => name,
    };
    let of = |arm| format!("{} | ± | cpu/o | client", name(arm));
    let (base, test) = (of(Arm::Base), of(Arm::Test));
    let _infallible = writeln!(
        text,
        "| load | st/ev | rows/op | unit | {base} | {test} | remarks |\n\
         |---|--:|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    );
    for cell in cells {
        let _infallible = writeln!(text, "{}", row(run, cell));
    }
}

fn row(run: &Run, cell: &CellComparison) -> String {
    let rounds = PerArm::from_fn(|arm| -> Vec<&Round> {
        let mine = |round: &&Round| round.key.cell == cell.cell && round.key.arm == arm.into();
        run.rounds.iter().filter(mine).collect()
    });
    let sum = |arm: Arm, count: fn(&Round) -> u64| -> f64 {
        rounds[arm].iter().map(|round| count(round)).sum::<u64>() as f64
    };
    let statements = |round: &Round| round.statements;
    let per_event = sum(Arm::Base, statements) / sum(Arm::Base, |round| round.events);
    let is_step = cell.cell.load.starts_with("l.");
    let rows = PerArm::from_fn(|arm| match (is_step, cell.cell.load.starts_with('q')) {
        // An op is a row there.
        (true, _) => 1.0,
        // What is changed is changed by the writers beside the queries.
        (_, true) => sum(arm, |round| round.rows_read) / sum(arm, statements),
        _ => sum(arm, |round| round.rows_read + round.rows_changed) / sum(arm, statements),
    });
    let (base, test) = (significant(rows.base), significant(rows.test));
    let rows = if base == test { base } else { format!("{base}, {test}") };
    let notes = cell.warnings.iter().filter(|warning| warning.severity != Severity::Note);
    let codes: Vec<&str> = notes.map(|warning| warning.code.as_str()).collect();
    format!(
        "| `{}` | {} | {rows} | {} | {} | {} | {} |",
        cell.cell.load.split_once("?nr1").map_or(cell.cell.load.as_str(), |(name, _)| name),
        significant(per_event),
        cell.unit.name(),
        arm(&cell.arms.base),
        arm(&cell.arms.test),
        codes.join(", ")
    )
}

fn arm(summary: &ArmSummary) -> String {
    let cost = |cost: Option<f64>| cost.map_or("–".to_owned(), significant);
    format!(
        "{} | {} | {} | {}",
        grouped(summary.rate.estimate),
        half_width(&summary.rate),
        cost(summary.server_cpu_us_per_op),
        cost(summary.client_cpu_us_per_op)
    )
}

/// Half of the interval, per cent of the estimate.
fn half_width(interval: &Interval) -> String {
    let half = (interval.high / interval.low).sqrt() - 1.0;
    if half.is_finite() { format!("{:.0} %", half * 100.0) } else { "–".to_owned() }
}

/// Three significant digits, or all that stand before the point.
fn significant(value: f64) -> String {
    match value {
        100.0.. => grouped(value),
        10.0.. => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// `12,345`.
fn grouped(value: f64) -> String {
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The loads of a run by label.
struct Loads {
    catalog: Catalog,
    tables: Tables,
}

impl Loads {
    fn of(run: &Run) -> Loads {
        let plan = &run.plan;
        let mut catalog = Catalog::default();
        for file in &plan.question.files {
            let custom = Custom::parse(&file.file, &file.text).expect("it has been measured");
            catalog.add_custom(custom).expect("it has been measured");
        }
        Loads {
            catalog,
            tables: Tables {
                count: plan.question.tables,
                rows: plan.question.rows,
                seed: plan.question.seed,
            },
        }
    }

    fn get(&self, cell: &Cell) -> Load {
        self.catalog.resolve_load(&cell.load, self.tables).expect("it has been measured")
    }
}
