//! `dbdyno profile`: which functions two sets of profiles differ in, for an operation.

use std::path::{Path, PathBuf};

use dbdyno_explain::profile::{Weighed, difference, read};
use dbdyno_report::{ProfileExtent, profile_csv, profile_json, profile_markdown, profile_text};

use crate::args::{Format, Shape};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output;

/// Compare processor profiles of two servers, function by function.
///
/// Profiles are stacks, collapsed (`main;work;read 12`) or as `perf script` prints them, of
/// whatever tool. FILE@OPERATIONS says how many operations were carried out while one was taken:
/// then a function is compared by what it costs for an operation, and the weights of all functions
/// add up to the change of the whole. With three profiles or more of each side it is known how far
/// they are apart by themselves.
#[derive(Debug, clap::Args)]
pub(crate) struct ProfileFlags {
    /// Profiles of base: FILE or FILE@OPERATIONS, several of them apart
    #[arg(long, required = true, num_args = 1.., value_name = "FILE[@OPERATIONS]",
          value_parser = parse_file)]
    pub base: Vec<(PathBuf, Option<f64>)>,
    /// Profiles of test
    #[arg(long, required = true, num_args = 1.., value_name = "FILE[@OPERATIONS]",
          value_parser = parse_file)]
    pub test: Vec<(PathBuf, Option<f64>)>,
    /// Show all functions, those that did not change, too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub shape: Shape,
}

/// `base.folded@120000`.
fn parse_file(text: &str) -> Result<(PathBuf, Option<f64>), String> {
    let Some((file, operations)) = text.rsplit_once('@') else { return Ok((text.into(), None)) };
    let number = operations.parse::<f64>().ok().filter(|number| *number > 0.0);
    let number = number.filter(|number| number.is_finite());
    match number {
        Some(number) => Ok((file.into(), Some(number))),
        None => Err(format!(
            "{operations:?} is no number of operations; write FILE@120000, or FILE alone"
        )),
    }
}

/// Shows the difference.
pub(crate) fn run(flags: &ProfileFlags) -> Result<Exit, Failure> {
    let side = |files: &[(PathBuf, Option<f64>)]| -> Result<Vec<Weighed>, Failure> {
        // Files may be large: each is read by a thread.
        std::thread::scope(|scope| {
            let threads: Vec<_> = files
                .iter()
                .map(|(file, operations)| scope.spawn(|| weighed(file, *operations)))
                .collect();
            let joined = threads.into_iter().map(|thread| thread.join());
            joined
                .map(|read| read.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        })
    };
    let found = difference(&side(&flags.base)?, &side(&flags.test)?);
    let extent = if flags.all { ProfileExtent::All } else { ProfileExtent::Changed };
    output::print(&match flags.shape.format {
        Format::Text => profile_text(&found, extent, &output::style(flags.shape.color)),
        Format::Markdown => profile_markdown(&found, extent),
        Format::Json => profile_json(&found),
        Format::Csv => profile_csv(&found),
    })?;
    Ok(Exit::Holds)
}

fn weighed(file: &Path, operations: Option<f64>) -> Result<Weighed, Failure> {
    let shown = file.display();
    let bytes = std::fs::read(file)
        .map_err(|error| Failure::Usage(format!("{shown}: {error}; profiles are text files")))?;
    // Names of functions may have any bytes.
    let profile = read(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::Usage(format!("{shown}:{error}")))?;
    Ok(Weighed { profile, operations })
}
