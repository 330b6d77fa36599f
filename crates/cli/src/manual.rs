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
pub(crate) fn print_completions(shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "dbdyno", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Holds)
}

/// Writes a page for the program and for each of its commands.
pub(crate) fn write_pages(directory: &Path) -> Result<Exit, Failure> {
    files::make_directory(directory)?;
    let mut program = Args::command().disable_help_subcommand(true);
    program.build();
    let mut count = 0;
    let mut left = vec![program];
    while let Some(command) = left.pop() {
        left.extend(command.get_subcommands().filter(|one| !one.is_hide_set()).cloned());
        let page = clap_mangen::Man::new(command);
        let (name, mut text) = (page.get_filename(), Vec::new());
        page.render(&mut text).map_err(|error| Failure::Write(name.clone(), error))?;
        files::write(&directory.join(name), text)?;
        count += 1;
    }
    output::say_text(&format!("{count} pages in {}: man -l {0}/dbdyno.1", directory.display()));
    Ok(Exit::Holds)
}
