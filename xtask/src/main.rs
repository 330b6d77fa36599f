//! Tasks of this repository.
//!
//! `cargo xtask tidy` checks the rules of `docs/STYLE.md` that a program can check. It is a test as
//! well: `cargo test -p xtask`. `cargo xtask servers` gets, starts and stops every server of the
//! catalogue and writes `docs/SERVERS.md`; the program is a benchmark of the crate `sandbox`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the program of this repository")]

mod tidy;

use std::path::Path;
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask tidy                check the rules of docs/STYLE.md
       cargo xtask servers [TARGET…]   try every server and write docs/SERVERS.md";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => report(tidy::check(repository())),
        ["servers", ..] => servers(&arguments[1..]),
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn servers(targets: &[String]) -> ExitCode {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["bench", "--quiet", "--package", "dbdyno-sandbox", "--bench", "servers", "--"]);
    let status = cargo.args(targets).current_dir(repository()).status();
    if status.is_ok_and(|status| status.success()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn report(outcome: Result<Vec<tidy::Violation>, String>) -> ExitCode {
    match outcome {
        Ok(violations) if violations.is_empty() => ExitCode::SUCCESS,
        Ok(violations) => {
            for violation in &violations {
                println!("{violation}");
            }
            eprintln!("tidy: {} to mend", violations.len());
            ExitCode::FAILURE
        }
        Err(message) => {
            eprintln!("tidy: {message}");
            ExitCode::from(2)
        }
    }
}

fn repository() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the repository")
}
