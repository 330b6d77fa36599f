//! Permissiveness of a protocol: of all that a level allows, what it lets happen.
//!
//! ```text
//!   results     sets of histories: produced ÷ allowed, level by level
//!   schedules   orders of statements: completed, blocked, deadlock, aborted, by one level
//! ```

use std::fmt::Write as _;

use dbdyno_cases::InterleavingSize;
use dbdyno_check::Level;
use dbdyno_protocols::{NamedProtocol, Results, Schedules, Share};

/// Permissiveness, as far as it was counted.
pub(super) struct CountedPermissiveness {
    results: Option<Vec<Results>>,
    schedules: Option<Schedules>,
}

impl CountedPermissiveness {
    /// Counts by a level: at most `states` states and `sample` schedules.
    pub(super) fn of(
        protocol: NamedProtocol,
        shape: InterleavingSize,
        level: Level,
        states: usize,
        sample: u64,
    ) -> CountedPermissiveness {
        CountedPermissiveness {
            results: protocol.results(shape, states),
            schedules: protocol.schedules(shape, level, sample),
        }
    }

    /// In words.
    pub(super) fn text(&self, level: Level) -> String {
        let mut out = String::new();
        match &self.results {
            None => out.push_str("\nresults: too many to be counted; ask for less\n"),
            Some(results) => {
                let all = results.first().map_or(0, |one| one.sets.all);
                let _ = writeln!(
                    out,
                    "\nresults: of {all} sets of histories, those that a level allows, and of \
                     these those produced"
                );
                results.iter().for_each(|one| result_line(&mut out, one));
            }
        }
        let Some(told) = &self.schedules else { return out };
        let _ = writeln!(
            out,
            "\nschedules: {} of {} orders of statements, once up to symmetry, by {level}",
            told.played, told.canonical
        );
        let share =
            |part: u64| format!("{:5.1} %", 100.0 * part as f64 / told.allowed.max(1) as f64);
        let lines = [
            ("allowed", told.allowed, ""),
            ("  completed at once", told.completed, ""),
            ("  blocked", told.blocked, ""),
            ("  deadlock", told.deadlocked, ""),
            ("  aborted", told.aborted, ""),
            ("    wrongly", told.wrongly_aborted, "; the result would have been allowed"),
        ];
        for (name, number, why) in lines {
            let _ = writeln!(out, "  {name:19} {number:8}  {}{why}", share(number));
        }
        if told.misread > 0 {
            let what = "; completed at once, with a result that is not allowed";
            let _ = writeln!(out, "    misread {:17} {}{what}", told.misread, share(told.misread));
        }
        if told.let_through > 0 {
            let what = "not allowed, and completed at once";
            let _ = writeln!(out, "  let through {:16}  {what}", told.let_through);
        }
        out
    }

    /// For programs.
    pub(super) fn json(&self, level: Level) -> serde_json::Value {
        let share = |one: &Share| {
            serde_json::json!({
                "all": one.all, "allowed": one.allowed, "produced": one.produced,
                "let_through": one.let_through,
            })
        };
        let result = |one: &Results| {
            serde_json::json!({
                "level": one.level.name(), "sets": share(&one.sets),
                "classes": share(&one.classes),
            })
        };
        let results = self.results.as_ref().map(|all| all.iter().map(result).collect::<Vec<_>>());
        let schedules = self.schedules.as_ref().map(|told| {
            serde_json::json!({
                "level": level.name(), "canonical": told.canonical, "played": told.played,
                "allowed": told.allowed, "completed": told.completed, "blocked": told.blocked,
                "deadlocked": told.deadlocked, "aborted": told.aborted,
                "wrongly_aborted": told.wrongly_aborted, "misread": told.misread,
                "let_through": told.let_through,
            })
        });
        serde_json::json!({ "results": results, "schedules": schedules })
    }
}

fn result_line(out: &mut String, one: &Results) {
    let Share { allowed, produced, let_through, .. } = one.sets;
    let beyond = match let_through {
        0 => String::new(),
        more => format!("; and {more} that it does not"),
    };
    let _ = writeln!(
        out,
        "  {:23} {produced:6} ÷ {allowed:6} = {:5.1} %  (classes {} ÷ {}){beyond}",
        one.level.name(),
        100.0 * one.sets.ratio(),
        one.classes.produced,
        one.classes.allowed,
    );
}
