//! A stack while it is read, and the limits that profiles of strangers are kept within.
//!
//! ```text
//!   a line     at most 1 MiB, else the file is refused
//!   a stack    at most a million functions, else the file is refused
//!   a name     at most 4 KiB; a longer one is cut, with a mark that tells it from others
//! ```
//!
//! A name stands in many places of what is made of a profile, so that without a limit one of 50 MB
//! would be there twenty times. Names are cut in one place, whatever the form of the text.

use std::borrow::Cow;

use dbdyno_model::random::key_of;

use super::filled::filled_lines;
use super::form::ProfileError;
use super::programs::Sighting;
use crate::beginning::text_beginning;

/// Bytes of a line, at most: stacks of some thousand functions with long names.
const LINE_MOST: usize = 1 << 20;
/// Functions of a stack, at most: a thread that has used up 8 MB has some hundred thousand.
const FRAMES_MOST: usize = 1 << 20;
/// Bytes of a name, at most. Templates of C++ are written out in some hundred.
const NAME_MOST: usize = 4 << 10;
/// Bytes of the mark behind one that was cut, at most.
const MARK_MOST: usize = 64;

/// Functions of a stack, the innermost first, borrowed from the text where that is possible.
#[derive(Default)]
pub(super) struct Stack<'t> {
    frames: Vec<Cow<'t, str>>,
}

impl<'t> Stack<'t> {
    /// Adds the caller of what is there.
    ///
    /// # Errors
    /// There are more than any program has; `number` is that of the line.
    pub(super) fn push(&mut self, number: usize, frame: Cow<'t, str>) -> Result<(), ProfileError> {
        if self.frames.len() == FRAMES_MOST {
            let what =
                format!("a stack has at most {FRAMES_MOST} functions, and this one has more");
            return Err(ProfileError::new(number, what));
        }
        self.frames.push(frame);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Gives the stack of a program, the outermost function first, and is empty afterwards.
    pub(super) fn emit_sighting(
        &mut self,
        program: &str,
        weight: f64,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) {
        if !self.frames.is_empty() {
            let stack: Vec<&str> = self.frames.iter().rev().map(Cow::as_ref).collect();
            take(&Sighting { program, stack: &stack, weight });
            self.frames.clear();
        }
    }
}

/// Whether somebody has left lines out here: `[...]`, `[...truncated...]`.
pub(super) fn is_left_out(line: &str) -> bool {
    let line = line.trim();
    ["...", "…", "[…]", "<snip>", "[snip]"].contains(&line)
        || (line.starts_with("[...") && line.ends_with(']'))
}

/// The first line that is longer than any that a tool prints.
pub(super) fn endless_line(text: &str) -> Option<ProfileError> {
    let (number, line) = filled_lines(text).find(|(_, line)| line.len() > LINE_MOST)?;
    let what = format!(
        "this line has {} bytes, and one of a profile has at most {LINE_MOST}; give what the tool \
         has printed, a stack or a function a line",
        line.len()
    );
    Some(ProfileError::new(number, what))
}

/// Gives a stack with names of a sensible length.
pub(super) fn with_cut_names(seen: &Sighting<'_>, take: &mut dyn FnMut(&Sighting<'_>)) {
    if seen.stack.iter().all(|name| name.len() <= NAME_MOST) && seen.program.len() <= NAME_MOST {
        return take(seen);
    }
    let names: Vec<Cow<'_, str>> = seen.stack.iter().map(|name| cut_name(name)).collect();
    let stack: Vec<&str> = names.iter().map(Cow::as_ref).collect();
    take(&Sighting { program: &cut_name(seen.program), stack: &stack, weight: seen.weight });
}

/// The beginning of a name, how much of it is not shown, and a number of the whole: two names with
/// one beginning stay two. The mark is one word, for that is what is left of a name in comparing.
/// What was cut is not cut again.
pub(super) fn cut_name(name: &str) -> Cow<'_, str> {
    if name.len() <= NAME_MOST {
        return Cow::Borrowed(name);
    }
    let beginning = text_beginning(name, NAME_MOST - MARK_MOST);
    let left = name.len() - beginning.len();
    Cow::Owned(format!("{beginning}…{left}_more_bytes_{:016x}", key_of(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let long = |last: &str| format!("{}{last}", "ä".repeat(3_000));
        let (one, other) = (long("one"), long("two"));
        assert_eq!(cut_name("short"), "short");
        assert!(cut_name(&one).starts_with("ää") && cut_name(&one).contains("…1971_more_bytes_"));
        assert_eq!(cut_name(&cut_name(&one)), cut_name(&one));
        assert_ne!(cut_name(&one), cut_name(&other));
        let mut given = Vec::new();
        with_cut_names(&Sighting::new(&["main", &one], 2.0), &mut |seen| {
            given = seen.stack.iter().map(|name| name.len()).collect();
            assert_eq!(seen.weight, 2.0);
        });
        assert_eq!(given[0], 4);
        assert!((NAME_MOST - MARK_MOST..=NAME_MOST).contains(&given[1]), "{given:?}");
    }

    #[test]
    fn endless_lines_and_stacks_are_refused() {
        let text = format!("main;work 1\n{} 1\n", "a".repeat(LINE_MOST));
        let error = endless_line(&text).unwrap();
        assert!(error.line == 2 && error.what.contains("at most 1048576"), "{error}");
        assert_eq!(endless_line("main;work 1\n"), None);
        let mut stack = Stack::default();
        for _ in 0..FRAMES_MOST {
            stack.push(1, Cow::Borrowed("f")).unwrap();
        }
        assert_eq!(stack.push(7, Cow::Borrowed("f")).unwrap_err().line, 7);
    }
}
