//! Writes the pages of made-up runs into a folder, to look at them while working on the page:
//! `cargo run -p dbdyno-report --example pages -- FOLDER`.

#[path = "../tests/common/mod.rs"]
mod common;

use std::io;
use std::path::PathBuf;

use dbdyno_report::{View, html};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(std::env::args_os().nth(1).unwrap_or_else(|| ".".into()));
    for (name, sample) in [
        ("one", common::one_cell()),
        ("six", common::six_cells()),
        ("partial", common::partial()),
        ("nothing", common::nothing()),
        ("no-cells", common::no_cells()),
        ("hostile", common::hostile()),
        ("large", common::large()),
        ("metrics", common::judged_metrics()),
        ("engines", common::engines()),
        ("insert-benchmark", common::insert_benchmark()),
        ("units", common::three_units()),
        ("shapes", common::shapes()),
        ("counts", common::counts::beside()),
        ("counts-alone", common::counts::alone()),
    ] {
        let view = View::new(sample.run.first_pair(), &sample.comparison);
        std::fs::write(folder.join(name).with_extension("html"), html(&view))?;
    }
    Ok(())
}
