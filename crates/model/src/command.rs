//! The command that carries out a plan again.
//!
//! ```text
//!   dbdyno compare 'BASE' 'TEST' --load L --clients N      who is compared, and the lists
//!     --rounds 500 --seconds 0.2 … --restarts 23           terms that stand in each command
//!     --detect 1% …                                        what is wanted in place of numbers
//!     --idle poll …                                        terms that are not usual
//!     --load-file F                                        custom loads
//! ```
//!
//! A term that is added to [`TERMS`] is in the command of each run from then on. Passwords are not:
//! an arm is written without them.

use crate::count::Counting;
use crate::plan::Plan;
use crate::stage::Stage;
use crate::terms::{CommandPlace, TERMS, Term};

/// What stands in a command in place of numbers.
#[derive(Clone, Debug, Default)]
pub struct WantedWords {
    /// Flags, such as `--detect 1%`.
    pub flags: Vec<String>,
    /// Names of terms that they stand for, which are left out.
    pub in_place_of: Vec<&'static str>,
}

impl Plan {
    /// The command that carries out this plan again, as far as a plan goes: flags that are no part
    /// of it come after.
    pub fn command(&self, wanted: &WantedWords) -> String {
        let question = &self.question;
        let arms = self.arms.values().map(|arm| format!("'{arm}'"));
        let stages: Vec<String> = question.stages.iter().map(Stage::to_string).collect();
        let clients: Vec<String> = question.clients.iter().map(u32::to_string).collect();
        let files = question.files.iter().map(|file| in_shell(&file.file));
        let lists = [
            format!("--load {}", in_shell(&stages.join(","))),
            format!("--clients {}", clients.join(",")),
        ];
        let mut words = vec!["dbdyno compare".to_owned()];
        words.extend(arms);
        words.extend(lists);
        words.extend(self.terms_in(CommandPlace::Always, wanted));
        words.extend(wanted.flags.iter().cloned());
        words.extend(self.terms_in(CommandPlace::WhereUnusual, wanted));
        words.extend(files.map(|file| format!("--load-file {file}")));
        words.join(" ")
    }

    fn terms_in(&self, place: CommandPlace, wanted: &WantedWords) -> Vec<String> {
        // Where nothing is measured there are no rounds, and none may be asked for.
        let has_rounds = self.question.counting != Counting::Only;
        let is_said = |term: &&Term| {
            !wanted.in_place_of.contains(&term.name) && (has_rounds || term.name != "pairs")
        };
        let said = TERMS.iter().filter(is_said);
        said.filter_map(|term| term.in_command(self, place)).collect()
    }
}

/// A word as a shell takes it: options of a load have characters with a meaning there.
fn in_shell(word: &str) -> String {
    if word.contains(['?', '&', '*', ' ', '$', '(', ')', ';']) {
        format!("'{word}'")
    } else {
        word.to_owned()
    }
}
