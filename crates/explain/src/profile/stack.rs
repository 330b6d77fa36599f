//! A stack while it is read, and the limits that profiles of strangers are kept within.
//!
//! ```text
//!   a line     at most 1 MiB, else the file is refused
//!   a stack    at most a million functions, else the file is refused
//!   a name     at most 4 KiB; a longer one is cut, with a mark that tells it from others
//!   all names  at most 256 MiB, else the file is refused
//! ```
//!
//! A name stands in many places of what is made of a profile, so that without a limit one of 50 MB
//! would be there twenty times. Names are written as their language has them, and cut, in one
//! place, whatever the form of the text.

use std::borrow::Cow;
use std::collections::HashMap;

use dbdyno_model::random::key_of;
use dbdyno_symbols::{MANGLED_MOST, is_plainly_readable, readable_name};

use super::filled::filled_lines;
use super::form::ProfileError;
use super::inlined::inlined_frames;
use super::programs::Sighting;
use super::ruby::BlockLines;
use crate::beginning::text_beginning;

/// Bytes of a line, at most: stacks of some thousand functions with long names.
const LINE_MOST: usize = 1 << 20;
/// Functions of a stack, at most: a thread that has used up 8 MB has some hundred thousand.
const FRAMES_MOST: usize = 1 << 20;
/// Bytes of a name, at most. Templates of C++ are written out in some hundred.
const NAME_MOST: usize = 4 << 10;
/// Bytes of the mark behind one that was cut, at most.
const MARK_MOST: usize = 64;
/// Bytes of all names that may be written otherwise than they stand, with how they are written, at
/// most: thirty thousand functions with long templates have some 60 MiB.
const ALL_NAMES_MOST: usize = 256 << 20;

/// What `perf` calls a function without a name, and what samples without any are counted under:
/// they are as much of the whole as others.
pub(super) const UNKNOWN: &str = "[unknown]";

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

    /// How many functions are in it.
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
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
            take(&Sighting { program, ..Sighting::new(&stack, weight) });
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

/// Names that are not written as they stand: a million stacks have a few thousand.
pub(super) struct WrittenNames {
    /// Nothing for those that stay.
    written: HashMap<Box<str>, Option<Box<str>>>,
    /// Bytes that more of them may have; none if they had more.
    left: Option<usize>,
    block_lines: BlockLines,
}

impl WrittenNames {
    /// None yet, of a text whose lines tell this of blocks.
    pub(super) fn with_block_lines(block_lines: BlockLines) -> WrittenNames {
        WrittenNames { written: HashMap::new(), left: Some(ALL_NAMES_MOST), block_lines }
    }

    /// The same, and all names have so many bytes at most.
    #[cfg(test)]
    pub(super) fn with_bytes_at_most(bytes: usize) -> WrittenNames {
        WrittenNames { left: Some(bytes), ..WrittenNames::with_block_lines(BlockLines::Untold) }
    }

    /// That there were more than any program has, so that the last stacks were not given.
    pub(super) fn endless_names(&self) -> Option<ProfileError> {
        let what = format!(
            "the names of its functions have more than {} MiB, which no program has; give a \
             profile whose functions have names",
            ALL_NAMES_MOST >> 20
        );
        self.left.is_none().then(|| ProfileError::new(0, what))
    }

    /// Gives a stack with names as their language has them, of a sensible length.
    pub(super) fn emit_written(
        &mut self,
        seen: &Sighting<'_>,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) {
        if seen.stack.iter().any(|name| inlined_frames(name).is_some()) {
            let frames =
                seen.stack.iter().flat_map(|name| inlined_frames(name).unwrap_or(vec![name]));
            let stack: Vec<&str> = frames.collect();
            return self.emit_written(&Sighting { stack: &stack, ..*seen }, take);
        }
        let is_short = seen.stack.iter().all(|name| name.len() <= NAME_MOST);
        if is_short && seen.stack.iter().all(|name| is_plainly_readable(name)) {
            let program = &cut_name(seen.program);
            return take(&Sighting { program, ..*seen });
        }
        seen.stack.iter().for_each(|name| self.learn_name(name));
        if self.left.is_none() {
            return;
        }
        let names = seen.stack.iter().enumerate().map(|(at, name)| {
            match self.block_lines.block_name(seen.stack, at) {
                Some(block) => Cow::Owned(cut_name(&block).into_owned()),
                None => self.written_name(name),
            }
        });
        let names: Vec<Cow<'_, str>> = names.collect();
        let stack: Vec<&str> = names.iter().map(Cow::as_ref).collect();
        take(&Sighting { program: &cut_name(seen.program), stack: &stack, ..*seen });
    }

    /// A name that was learned, as its language has it, of a sensible length.
    pub(super) fn written_name<'n>(&'n self, name: &'n str) -> Cow<'n, str> {
        match self.written.get(name) {
            Some(Some(written)) => Cow::Borrowed(written),
            _ => cut_name(name),
        }
    }

    /// Remembers how a name is written, if it may be written otherwise than it stands.
    pub(super) fn learn_name(&mut self, name: &str) {
        let Some(left) = self.left else { return };
        if name.len() > MANGLED_MOST || is_plainly_readable(name) || self.written.contains_key(name)
        {
            return;
        }
        let written = Some(readable_name(name)).filter(|written| **written != *name);
        let written: Option<Box<str>> = written.map(|written| (*cut_name(&written)).into());
        let bytes = name.len() + written.as_ref().map_or(0, |written| written.len());
        self.left = left.checked_sub(bytes);
        self.written.insert(name.into(), written);
    }
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
        let mut names = WrittenNames::with_block_lines(BlockLines::Untold);
        names.emit_written(&Sighting::new(&["main", &one], 2.0), &mut |seen| {
            given = seen.stack.iter().map(|name| name.len()).collect();
            assert_eq!(seen.weight, 2.0);
        });
        assert_eq!(given[0], 4);
        assert!((NAME_MOST - MARK_MOST..=NAME_MOST).contains(&given[1]), "{given:?}");
    }

    /// Of a few hundred bytes some thousand are written: names without end would take hours.
    #[test]
    fn endless_names_are_refused() {
        let mut names = WrittenNames::with_bytes_at_most(1_000);
        let mut given = 0;
        for at in 0..100 {
            let name = format!("_ZN4name{}f{at}Ev", 1 + at.to_string().len());
            let stack = ["main", &name];
            names.emit_written(&Sighting::new(&stack, 1.0), &mut |_| given += 1);
        }
        assert!((20..=50).contains(&given), "{given}");
        assert!(names.endless_names().unwrap().what.contains("no program has"));
        let names = WrittenNames::with_block_lines(BlockLines::Untold);
        assert_eq!(names.endless_names(), None);
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
