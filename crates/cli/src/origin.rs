//! Runs that this home did not begin: what going on with one would do, said before it is done.
//!
//! `resume`, and `explain` with its trials, start what a run names, with its options, and send the
//! statements of its loads. The laboratory refuses that for a run of somebody else; here stands
//! what the user has to look at before he says `--trust-store`.

use dbdyno_model::{ArmSpec, Run, Target, foreign};
use dbdyno_store::Store;

use crate::failure::Failure;
use crate::output;

/// Lines of a load's file that are shown; what people write by hand has fewer.
const LINES_MOST: usize = 60;

/// Says what a run would carry out, unless this home began it.
///
/// # Errors
/// A store that cannot be read.
pub(crate) fn announce(store: &Store, run: &Run) -> Result<(), Failure> {
    if !store.is_own(&run.id)? {
        announced(run).iter().for_each(|line| output::say(line));
    }
    Ok(())
}

fn announced(run: &Run) -> Vec<String> {
    let mut lines =
        vec![format!("run {} was not begun from this home. To go on with it means", run.id)];
    for (arm, spec) in run.plan.specs() {
        let target = foreign::one_line(&spec.to_string()).into_owned();
        lines.push(format!("  {arm}: {} {target}", does(spec)));
    }
    for file in &run.plan.files {
        let all: Vec<&str> = file.text.lines().collect();
        lines.push(format!("  to send what {} holds:", foreign::one_line(&file.file)));
        let shown = all.iter().take(LINES_MOST);
        lines.extend(shown.map(|line| format!("    {}", foreign::one_line(line))));
        if all.len() > LINES_MOST {
            let rest = all.len() - LINES_MOST;
            lines.push(format!("    … and {rest} lines more, in the table plan_file of the store"));
        }
    }
    lines
}

fn does(spec: &ArmSpec) -> &'static str {
    match spec.target {
        Target::Url(_) => "to log in with your account to",
        Target::Release(_) => "to start, on this machine, with these options,",
        _ => "to run, in this process,",
    }
}
