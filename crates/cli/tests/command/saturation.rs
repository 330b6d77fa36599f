//! The anchor of the client's own account: a client that has to share its only processor with
//! threads that never rest is late with everything it asks, and the result says so.

use std::process::{Child, Command, Stdio};

use dbdyno_model::Product;
use serde_json::Value;

use crate::common::{Home, finish, skipped, turn};
use crate::servers::{Running, Store, home};

/// So many want the processor all the time that a client gets less of it than it asks for. With
/// many more, filling takes minutes.
const NEIGHBOURS: usize = 16;

/// Threads that never rest, on one processor; they end with the test.
struct Neighbours(Vec<Child>);

impl Neighbours {
    fn on(processor: usize) -> Neighbours {
        let spin = || {
            let mut command = kept_on(processor, "sh");
            command.args(["-c", "while :; do :; done"]).stdin(Stdio::null());
            command.spawn().unwrap()
        };
        Neighbours((0..NEIGHBOURS).map(|_| spin()).collect())
    }
}

impl Drop for Neighbours {
    fn drop(&mut self) {
        for child in &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

fn kept_on(processor: usize, program: &str) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", &processor.to_string(), program]);
    command
}

#[test]
fn a_client_without_a_processor_of_its_own_is_told() {
    let Some(home) = home() else { return };
    let _turn = turn();
    if Command::new("taskset").arg("--version").stdout(Stdio::null()).status().is_err() {
        skipped("there is no taskset to keep a process on a processor with");
        return;
    }
    let running = Running::start(&home, Product::MariaDb, "10.11");
    let url = running.socket(&format!("dbdyno:{}", running.password()), "squeezed");
    let neighbours = Neighbours::on(*dbdyno_sandbox::processors().last().unwrap());
    // Where the host is busy with other things the server starves as well, and the client has
    // nothing to be late with: such a time passes.
    let mut cells = Vec::new();
    let is_told = |cells: &[Value], arm| cells.iter().any(|cell| is_late(cell, arm));
    let arms = ["base: ", "test: "];
    while cells.len() < 3 && !arms.iter().all(|arm| is_told(&cells, arm)) {
        cells.push(squeezed(&home, &url));
    }
    drop(neighbours);
    for arm in arms {
        assert!(is_told(&cells, arm), "{arm} {cells:?}");
    }
    running.stop();
}

/// The cell of a comparison whose client has to share its processor.
fn squeezed(home: &Home, url: &str) -> Value {
    let flags = "--quick --rounds 3 --seconds 0.4 --warm-up 0.1 --rows 2000 --clients 4 \
                 --pin none --format json";
    let last = *dbdyno_sandbox::processors().last().unwrap();
    let store = Store::new();
    let plain = store.command(home, &[]);
    let mut command = kept_on(last, plain.get_program().to_str().unwrap());
    command.args(["compare", url, url]).args(flags.split_whitespace());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let done = finish(command);
    assert!([0, 3].contains(&done.code), "{done:?}");
    let run: Value = serde_json::from_str(&done.out).unwrap();
    run["cells"][0].clone()
}

/// Whether the client of an arm was told to be late.
fn is_late(cell: &Value, arm: &str) -> bool {
    cell["warnings"].as_array().unwrap().iter().any(|warning| {
        warning["code"] == "client-lag" && warning["text"].as_str().unwrap().starts_with(arm)
    })
}
