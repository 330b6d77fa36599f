//! The table of figures names every load.

use std::path::Path;

use dbdyno_model::Stage;
use dbdyno_workload::insert_benchmark::{BenchmarkStep, NAME, expand_benchmark};
use dbdyno_workload::suite;

#[test]
fn the_table_in_the_repository_has_a_row_for_every_load() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/LOADS.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows_of = |name: &str| text.matches(&format!("\n| `{name}` |")).count();
    let everything = suite::full_suite();
    for label in everything.iter().filter_map(Stage::measured_label).chain(["shop"]) {
        assert!(rows_of(label) > 0, "{label}; `cargo bench -p dbdyno-lab --bench loads` makes it");
    }
    let (_, sizes) = expand_benchmark(NAME).unwrap().unwrap();
    for step in BenchmarkStep::all_in_order(&sizes) {
        assert_eq!(rows_of(&step.name()), 1, "{}", step.name());
    }
}
