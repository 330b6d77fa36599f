//! What sessions wait for, written in each format.

use crate::golden::check;
use dbdyno_document::terminal::{Colour, TextStyle};
use dbdyno_document::{csv, markdown, terminal};
use dbdyno_model::{Interval, PerArm, WaitLine, Waits};
use dbdyno_report::waits_document;

fn line(name: &str, us: [f64; 2], difference_us: Option<f64>, functions: [&str; 2]) -> WaitLine {
    let difference_us = difference_us.map(|estimate| Interval {
        estimate,
        low: estimate - 1.25,
        high: estimate + 1.25,
    });
    let [base, test] = functions.map(|name| (!name.is_empty()).then(|| name.to_owned()));
    let function = PerArm { base, test };
    let us = PerArm { base: us[0], test: us[1] };
    WaitLine { name: name.to_owned(), us, difference_us, function }
}

#[test]
fn a_document_is_written_in_each_format() {
    let locks = ["lock_wait_suspend_thread(unsigned long, unsigned char const*)", "b\u{1b}[2J|c"];
    let waits = Waits {
        lines: vec![
            line("working", [100.25, 120.5], Some(20.25), ["", ""]),
            line("waiting for a lock, in line", [10.0, 3.0], Some(-0.5), locks),
            line("=formula, \"quoted\"", [0.0, 1.0], None, ["", "futex_wait"]),
        ],
        total: line("sum", [110.25, 124.5], Some(14.25), ["", ""]),
        clients: 4,
        profiles: PerArm { base: 3, test: 4 },
    };
    let document = waits_document(&waits);
    let on_screen =
        |(colour, width)| terminal::render_document(&document, &TextStyle { colour, width });
    let screens =
        [(Colour::Plain, 40), (Colour::Plain, 80), (Colour::Plain, 120), (Colour::Ansi, 60)];
    let text = screens.map(on_screen).concat();
    check(
        "waits.txt",
        &(text + &markdown::render_document(&document) + &csv::render_document(&document)),
    );
}
