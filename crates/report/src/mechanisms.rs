//! What the mechanisms of reference engines did: the same table in every shape.
//!
//! ```text
//!   What the engines did                          base     test    test ÷ base
//!   update-nonindex at 128 clients
//!     activations / commits                       1.94     1.00    0.516 (0.513 to 0.519)
//!     useful_activations / activations            0.52     1.00    1.94 (1.93 to 1.95)
//! ```

use dbdyno_document::number;

use crate::sheet::{Sheet, SheetCell, Tint};
use crate::view::{MechanismView, View};

/// The title of the tables.
pub(crate) const TITLE: &str = "What the engines did";

/// A table for each cell; none where no arm is a reference engine.
pub(crate) fn sheets(view: &View) -> Vec<Sheet> {
    let all = &view.summary.mechanisms;
    let cells = all.chunk_by(|a, b| (&a.load, a.clients) == (&b.load, b.clients));
    cells.map(of_cell).collect()
}

fn of_cell(figures: &[MechanismView]) -> Sheet {
    let MechanismView { load, clients, .. } = &figures[0];
    let plural = if *clients == 1 { "client" } else { "clients" };
    Sheet {
        title: format!("{TITLE}: {load} at {clients} {plural}"),
        head: ["base", "test", "test ÷ base"].map(str::to_owned).into(),
        rows: figures.iter().map(row).collect(),
        aside: "Counts of the engine, and of the kernel for its threads: A / B is A for each B, \
                anything else is for each statement. Intervals of 95 % from pairs of rounds."
            .to_owned(),
    }
}

fn row(figure: &MechanismView) -> (String, Vec<SheetCell>) {
    let plain = |text: String| SheetCell { text, tint: Tint::None };
    let mean =
        |value: Option<f64>| plain(value.map_or(number::UNKNOWN.to_owned(), number::three_digits));
    let ratio = match (figure.ratio, figure.ratio_low, figure.ratio_high) {
        (Some(ratio), Some(low), Some(high)) => {
            let [ratio, low, high] = [ratio, low, high].map(number::three_digits);
            format!("{ratio} ({low} to {high})")
        }
        _ => number::UNKNOWN.to_owned(),
    };
    (figure.figure.replace("engine.", ""), vec![mean(figure.base), mean(figure.test), plain(ratio)])
}
