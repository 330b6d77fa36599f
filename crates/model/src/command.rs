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
use crate::shell::{in_shell, quoted_word};
use crate::stage::Stage;
use crate::terms::{CommandPlace, TERMS};

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
    pub fn command_line(&self, wanted: &WantedWords) -> String {
        let question = &self.question;
        let arms = self.arms.values().map(|arm| quoted_word(&arm.to_string()));
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
        TERMS
            .iter()
            .filter(|term| has_rounds || term.name != "pairs")
            .filter(|term| !wanted.in_place_of.contains(&term.name))
            .filter_map(|term| term.in_command(self, place))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LoadFile;

    /// What a name has in it is never carried out by the shell into which the command is copied.
    #[test]
    fn names_are_quoted_where_a_shell_would_read_them() {
        let mut plan = Plan::default();
        plan.question.files =
            vec![LoadFile { file: "x';touch y;'.toml".to_owned(), text: String::new() }];
        let command = plan.command_line(&WantedWords::default());
        assert!(command.ends_with(r"--load-file 'x'\'';touch y;'\''.toml'"), "{command}");
    }
}
