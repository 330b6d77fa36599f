//! Blocks of Ruby's methods, which have no names but that of the method.
//!
//! ```text
//!   run - a.rb:30;each;block in run - a.rb:31     the line that ran: it was called by line 30
//!   run - a.rb:35;map;block in run - a.rb:37      another one
//!   run - a.rb:28;each;block in run - a.rb:31     the line where each begins
//! ```
//!
//! A method may have several blocks, and only lines tell them apart. rbspy tells the line that ran:
//! a block has many of them, but what calls it stands in one line of what is around it, which is
//! above it in the stack. Other tools tell where a method or block begins. A method with two lines
//! is of the first kind; methods that call several others, always from one line, are of the second.
//! Where it is neither, or nothing above a block tells its line, all blocks of the method are one,
//! and their name says so.
//!
//! Lines move from release to release, so that blocks of a method are paired by their order, if
//! there are as many on both sides. If there are not, nobody knows which one is new.

use std::collections::HashMap;

/// What stands behind the name of several blocks that are counted as one.
const ALL_BLOCKS: &str = " (all blocks)";
/// Methods that call several others from one line, from so many on lines are where they begin.
const BEGINS_LEAST: usize = 3;
/// Methods whose lines are looked at, at most.
const METHODS_MOST: usize = 50_000;

/// Whether there may be blocks in a text.
pub(super) fn may_have_blocks(text: &str) -> bool {
    text.contains("block in ") || text.contains(" levels) in ")
}

/// A frame of Ruby: `block (2 levels) in run - a.rb:12`.
#[derive(Clone, Copy, PartialEq)]
struct RubyFrame<'n> {
    /// The method with its file, without the line.
    method: &'n str,
    file: &'n str,
    /// 0 of the method itself.
    level: u32,
    line: Option<u32>,
    /// The whole without the line.
    name: &'n str,
}

impl<'n> RubyFrame<'n> {
    fn read(text: &'n str) -> Option<RubyFrame<'n>> {
        let (label, place) = text.rsplit_once(" - ")?;
        let numbered = place.rsplit_once(':');
        let numbered = numbered.and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
        let file = numbered.map_or(place, |(file, _)| file);
        let level_and_method = match label.strip_prefix("block ") {
            Some(rest) => match rest.strip_prefix("in ") {
                Some(method) => Some((1, method)),
                None => rest
                    .strip_prefix('(')
                    .and_then(|rest| rest.split_once(" levels) in "))
                    .and_then(|(level, method)| Some((level.parse().ok()?, method))),
            },
            None => Some((0, label)),
        };
        let (level, method) = level_and_method?;
        let name = &text[..text.len() - (place.len() - file.len())];
        Some(RubyFrame { method, file, level, line: numbered.map(|(_, line)| line), name })
    }

    /// Whether this is what is right around the other one.
    fn is_around(&self, inner: &RubyFrame<'_>) -> bool {
        self.method == inner.method && self.file == inner.file && self.level + 1 == inner.level
    }
}

/// What the lines of a text tell of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum BlockLines {
    /// Nothing.
    #[default]
    Untold,
    /// Which line ran.
    Running,
    /// Where each begins.
    Begin,
}

impl BlockLines {
    /// The name of the block at this place of a stack, with the line by which it is known; nothing
    /// of other functions, and where lines are not told.
    pub(super) fn block_name(self, stack: &[&str], at: usize) -> Option<String> {
        let block = RubyFrame::read(stack[at]).filter(|frame| frame.level > 0)?;
        let line = block.line?;
        let known = match self {
            BlockLines::Untold => None,
            BlockLines::Begin => Some(line),
            BlockLines::Running => {
                let mut callers = stack[..at].iter().rev().filter_map(|name| RubyFrame::read(name));
                callers.find(|caller| caller.is_around(&block)).and_then(|caller| caller.line)
            }
        };
        let name = block.name;
        Some(known.map_or_else(|| format!("{name}{ALL_BLOCKS}"), |line| format!("{name}:{line}")))
    }
}

/// Lines of methods, by their names without them.
#[derive(Default)]
pub(super) struct MethodLines {
    methods: HashMap<String, MethodLine>,
    has_several: bool,
}

struct MethodLine {
    line: u32,
    callee: Option<String>,
    has_several_callees: bool,
}

impl MethodLines {
    pub(super) fn note_stack(&mut self, stack: &[&str]) {
        for (at, name) in stack.iter().enumerate() {
            let Some(frame) = RubyFrame::read(name).filter(|frame| frame.level == 0) else {
                continue;
            };
            let Some(line) = frame.line.filter(|line| *line > 0) else { continue };
            let callee = stack.get(at + 1).map(|name| (*name).to_owned());
            if let Some(known) = self.methods.get_mut(frame.name) {
                self.has_several |= known.line != line;
                known.has_several_callees |= known.callee != callee;
            } else if self.methods.len() < METHODS_MOST {
                let method = MethodLine { line, callee, has_several_callees: false };
                self.methods.insert(frame.name.to_owned(), method);
            }
        }
    }

    pub(super) fn block_lines(&self) -> BlockLines {
        let calling = self.methods.values().filter(|method| method.has_several_callees);
        if self.has_several {
            BlockLines::Running
        } else if calling.count() >= BEGINS_LEAST {
            BlockLines::Begin
        } else {
            BlockLines::Untold
        }
    }
}

/// The name of a block without what tells it from others of its method, and its line, if the name
/// has that; nothing of other functions.
pub(super) fn block_and_line(name: &str) -> Option<(&str, Option<u32>)> {
    let block = RubyFrame::read(name.strip_suffix(ALL_BLOCKS).unwrap_or(name))?;
    (block.level > 0).then_some((block.name, block.line))
}

/// The name of all blocks of a method together.
pub(super) fn all_blocks_name(block: &str) -> String {
    format!("{block}{ALL_BLOCKS}")
}

#[cfg(test)]
mod tests {
    use super::super::names::match_functions;
    use super::super::read::read;

    /// What was found of blocks: the names of both sides, the first of each, with their samples.
    fn found(base: &str, test: &str) -> Vec<(String, f64, f64)> {
        let (base, test) = (read(base).unwrap(), read(test).unwrap());
        let mut found = Vec::new();
        for pair in match_functions(&base, &test) {
            let sum = |profile: &super::super::Profile, names: &[std::sync::Arc<str>]| -> f64 {
                names.iter().filter_map(|name| profile.own.get(name)).sum()
            };
            let first = pair.names.base.first().or(pair.names.test.first()).unwrap();
            if first.starts_with("block") {
                let (base, test) = (sum(&base, &pair.names.base), sum(&test, &pair.names.test));
                found.push((first.to_string(), base, test));
            }
        }
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn named(name: &str, base: f64, test: f64) -> (String, f64, f64) {
        (name.to_owned(), base, test)
    }

    /// rbspy tells which line ran: a block has several.
    #[test]
    fn blocks_are_told_apart_by_the_line_that_calls_them() {
        let base = "<main> - a.rb:50;run - a.rb:30;each - (unknown):0;block in run - a.rb:31 40\n\
                    <main> - a.rb:50;run - a.rb:30;each - (unknown):0;block in run - a.rb:32 20\n\
                    <main> - a.rb:50;run - a.rb:35;map - (unknown):0;block in run - a.rb:36 9\n\
                    <main> - a.rb:50;run - a.rb:35;map - (unknown):0;block in run - a.rb:36;\
                    each - (unknown):0;block (2 levels) in run - a.rb:37 7\n";
        // Three lines were put above.
        let test = base.replace(":35", ":38").replace(":36", ":39").replace(":37", ":40");
        let test = test.replace(":30", ":33").replace(":31 40", ":34 90").replace(":32", ":35");
        assert_eq!(
            found(base, &test),
            [
                named("block (2 levels) in run - a.rb:36", 7.0, 7.0),
                named("block in run - a.rb:30", 60.0, 110.0),
                named("block in run - a.rb:35", 9.0, 9.0)
            ]
        );
        // One is gone: nobody knows which.
        let one: String = test.lines().take(2).map(|line| format!("{line}\n")).collect();
        let one = one + "<main> - a.rb:51;other - a.rb:9 1\n";
        let told = found(base, &one);
        assert!(told.contains(&named("block in run - a.rb (all blocks)", 69.0, 110.0)), "{told:?}");
    }

    /// Other tools tell where each begins.
    #[test]
    fn blocks_are_told_apart_by_where_they_begin() {
        let base = "a - a.rb:1;b - a.rb:5;c - a.rb:10;block in c - a.rb:12 40\n\
                    a - a.rb:1;b - a.rb:5;c - a.rb:10;each;block in c - a.rb:20 9\n\
                    a - a.rb:1;b - a.rb:5;f 1\na - a.rb:1;g 1\n";
        let test = base.replace(":12 40", ":14 9").replace(":20 9", ":22 50");
        assert_eq!(
            found(base, &test),
            [named("block in c - a.rb:12", 40.0, 9.0), named("block in c - a.rb:20", 9.0, 50.0)]
        );
        // Nothing says which kind these lines are of.
        let few = "c - a.rb:10;block in c - a.rb:12 4\nc - a.rb:10;block in c - a.rb:20 3\n";
        let all = "block in c - a.rb (all blocks)";
        assert_eq!(found(few, few), [named(all, 7.0, 7.0)]);
        assert_eq!(found(base, few), [named(all, 49.0, 7.0)]);
    }

    /// What tells no lines is as it stands.
    #[test]
    fn blocks_without_lines_are_one() {
        let text = "Foo#run;block in Foo#run 4\nFoo#run;block (2 levels) in Foo#run 3\n";
        let own =
            [named("block (2 levels) in Foo#run", 3.0, 3.0), named("block in Foo#run", 4.0, 4.0)];
        assert_eq!(found(text, text), own);
    }
}
