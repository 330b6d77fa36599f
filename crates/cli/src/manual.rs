//! `dbdyno completions` and `dbdyno man`: what shells and `man` read, made from the definition of
//! the command line.

use std::path::Path;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::command_line::Args;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::{files, output};

/// Prints what a shell reads to complete words.
pub(crate) fn completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "dbdyno", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}

/// Writes a page for the program and for each of its commands.
pub(crate) fn pages(directory: &Path) -> Result<Exit, Failure> {
    let failed = |error| Failure::Write(directory.display().to_string(), error);
    files::make_directory(directory)?;
    let generate = || clap_mangen::generate_to(Args::command(), directory);
    files::by_users_umask(generate).map_err(failed)?;
    let count = std::fs::read_dir(directory).map_err(failed)?.count();
    output::say(&format!("{count} pages in {}: man -l {0}/dbdyno.1", directory.display()));
    Ok(Exit::Holds)
}
