//! Rounds as results of Go's benchmarks, which `benchstat` reads (the proposal "Go Benchmark Data
//! Format", 2016, and golang.org/x/perf/benchfmt).
//!
//! ```text
//!   goos: linux
//!   base: mariadb:10.11 (10.11.19)
//!   BenchmarkDbdyno/load=point-query/clients=1/arm=base  1  45123 ns/op  22161 queries/s
//! ```
//!
//! A round is a result, so that `benchstat -col /arm` compares the arms by its own means: it takes
//! rounds for independent, and knows nothing of pairs and of starts of servers.

use std::fmt::Write as _;

use dbdyno_document::layout::printable_line;

use super::comparison::GateCheck;

/// The rounds. Ends with a line feed.
pub fn benchfmt_report(all: &[GateCheck]) -> String {
    let mut text = format!("goos: {}\ngoarch: {}\n", std::env::consts::OS, std::env::consts::ARCH);
    for checked in all {
        let summary = &checked.view.summary;
        let (base, test) =
            (printable_line(&summary.base.label), printable_line(&summary.test.label));
        let _infallible =
            writeln!(text, "run: {}\nbase: {base}\ntest: {test}", printable_line(&summary.run));
        for (cell, detail) in summary.cells.iter().zip(&checked.view.detail.cells) {
            for round in &detail.rounds {
                // What was not observed has no line.
                let Some(qps) = round.qps.filter(|qps| *qps > 0.0) else { continue };
                let _infallible = writeln!(
                    text,
                    "BenchmarkDbdyno/load={}/clients={}/arm={} 1 {:.0} ns/op {qps:.3} queries/s",
                    word(&cell.load),
                    cell.clients,
                    round.arm,
                    1e9 * f64::from(cell.clients) / qps,
                );
            }
        }
    }
    text
}

/// A part of a name: a name has no spaces, and a slash begins its next part.
fn word(text: &str) -> String {
    printable_line(text).replace('/', "_").split_whitespace().collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word_of_one_part() {
        assert_eq!(word("./my load.toml?rand=x"), "._my_load.toml?rand=x");
    }
}
