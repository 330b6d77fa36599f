//! What the mechanisms of reference engines did: the same table in every shape.
//!
//! ```text
//!   What the engines did                          base     test    test ÷ base
//!   update-nonindex at 128 clients
//!     activations / commits                       1.94     1.00    0.516 (0.513 to 0.519)
//!     useful_activations / activations            0.52     1.00    1.94 (1.93 to 1.95)
//! ```

use dbdyno_document::{DataTable, TableCell, number};

use crate::view::{MechanismView, View};

/// A table for each cell; none where no arm is a reference engine.
pub(crate) fn mechanism_tables(view: &View) -> Vec<DataTable> {
    let all = &view.summary.mechanisms;
    let cells = all.chunk_by(|a, b| (&a.load, a.clients) == (&b.load, b.clients));
    cells.map(of_cell).collect()
}

fn of_cell(figures: &[MechanismView]) -> DataTable {
    let MechanismView { load, clients, .. } = &figures[0];
    let plural = if *clients == 1 { "client" } else { "clients" };
    let rows = figures.iter().map(|figure| {
        let ratio = match (figure.ratio, figure.ratio_low, figure.ratio_high) {
            (Some(ratio), Some(low), Some(high)) => {
                let [ratio, low, high] = [ratio, low, high].map(number::three_digits);
                format!("{ratio} ({low} to {high})").into()
            }
            _ => number::UNKNOWN.into(),
        };
        (figure.figure.replace("engine.", ""), vec![mean(figure.base), mean(figure.test), ratio])
    });
    DataTable::of_numbers("", ["base", "test", "test ÷ base"], rows)
        .with_title(format!("What the engines did: {load} at {clients} {plural}"))
        .with_legend(
            "Counts of the engine, and of the kernel for its threads: A / B is A for each B, \
             anything else is for each statement. Intervals of 95 % from pairs of rounds.",
        )
}

fn mean(value: Option<f64>) -> TableCell {
    value.map_or(number::UNKNOWN.to_owned(), number::three_digits).into()
}
