//! Whole runs on models, as `cargo xtask calibrate runs` counted them.

use std::path::Path;

use crate::table::{Share, Table};

const HEAD: &str = "\
## Whole runs

The command itself, from the plan to the JSON, runs on models in virtual time (`cargo xtask \
calibrate runs`).
This tests everything between the statistics and the answer: plans, restarts, looks, limits, \
slices, excluded pairs, and the family of cells.
Each run has its own fixed seed, so that this table changes only when the product does.

* *quiet*: rounds vary by 2 %, starts by 1.5 %. Two arms whose starts vary by 1.5 % each differ \
by 2.1 %.
* *shared*: as quiet, and the speed of the host varies by 5 % with a correlation of 0.9 from one \
tenth of a second to the next, and one round in fifty loses 30 %.
* *stolen*: as quiet, and in 3 % of the tenths of a second the hypervisor gives half of the time \
to others.
* *drifting*: the host loses 1 % per minute.
* *once*: starts differ by 1.5 % between the arms. Where arms are started once, as with \
`--restarts 0` and in suites, dbdyno assumes this difference, which is what real servers showed. \
In a suite all cells share the one start, so that false verdicts come together.

With more than two arms, each is judged against base, and all cells of all arms are one family; \
the loss is planted in the third arm.
A run is wrong if any arm without a loss was called slower or faster.

";

/// Reads the file of a folder.
pub(crate) fn section(folder: &Path) -> String {
    let path = folder.join("whole_runs.csv");
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{} cannot be read: {error}", path.display()));
    let mut lines = text.lines();
    let columns: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut table = Table::new(&[
        "host",
        "arms",
        "planted",
        "flags",
        "runs",
        "cells",
        "false (95 % interval)",
        "wrong runs",
        "found (95 % interval)",
        "equal",
        "cannot tell",
        "interval holds the truth",
        "pairs of a cell",
    ]);
    for line in lines {
        table.row(&row(&columns, &line.split(',').collect::<Vec<_>>()));
    }
    HEAD.to_owned() + &table.end()
}

fn row(columns: &[&str], cells: &[&str]) -> Vec<String> {
    let cell = |name: &str| {
        let at = columns.iter().position(|column| *column == name);
        at.and_then(|at| cells.get(at)).copied().unwrap_or_default()
    };
    let number = |name: &str| cell(name).parse::<u64>().unwrap_or(0);
    let of = number("cells");
    let share = |count: u64, of: u64| Share { count, of };
    let lost: f64 = cell("lost_percent").parse().unwrap_or(0.0);
    let (slower, faster) = (number("slower"), number("faster"));
    let (wrong, found) = if lost > 0.0 { (faster, Some(slower)) } else { (slower + faster, None) };
    vec![
        cell("host").to_owned(),
        cell("arms").to_owned(),
        match cell("of") {
            "all" => "–".to_owned(),
            _ if lost > 0.0 => format!("{lost:.1} %"),
            others => others.to_owned(),
        },
        if cell("flags").is_empty() { "–".to_owned() } else { format!("`{}`", cell("flags")) },
        cell("runs").to_owned(),
        of.to_string(),
        share(wrong, of).with_interval(),
        match cell("runs_wrong").parse() {
            Ok(wrong) if lost == 0.0 => share(wrong, number("runs")).with_interval(),
            _ => "–".to_owned(),
        },
        found.map_or("–".to_owned(), |found| share(found, of).with_interval()),
        share(number("equal"), of).percent(),
        share(number("undecided"), of).percent(),
        share(number("held"), number("intervals").max(1)).with_interval(),
        format!("{:.0}", number("pairs") as f64 / of.max(1) as f64),
    ]
}
