//! The stacks of both sides as one tree: who called whom, and what that cost in each.
//!
//! Functions are the same on both sides if they match as in the table. A frame that one side alone
//! has is in the tree as well; it is as wide as its dearer side, so that nothing vanishes (tools
//! that draw the second profile leave out what it lost; Gregg, "Differential Flame Graphs", 2014).
//! Costs are real numbers for an operation, not samples scaled to equal totals and cut to whole
//! ones, which loses 14 % of a profile of a thousand stacks (`docs/journal/
//! 2026-11-29-sources-of-rules.md`).
//!
//! Threads begin in other functions in each build, some without names. Stacks are therefore cut at
//! the outermost function that most of both sides runs in: what is below it is told by nothing but
//! its own width.
//!
//! Functions without names are drawn as that, those of a file together: an address is no function,
//! and what one side has under a hundred addresses is not as many differences. Several of a file
//! under one another are one frame, for how many they are is told by no name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use dbdyno_model::{Arm, FlameNode, LEFT_OUT, PerArm};
use dbdyno_symbols::plain_name;

use super::form::ProfileError;
use super::names::{Pair, is_nameless, is_of_a_file, nameless_object};
use super::read::each_stack;

/// Frames narrower than this share of the widest one are told within their callers only.
const LEAST: f64 = 0.0005;
/// Functions under all that called them, at most: a hundred profiles of a server have some million.
const FRAMES_MOST: usize = 4_000_000;
/// Functions under one another, at most: whoever draws the tree goes down in it step by step. What
/// lies deeper is told within the last one.
const DEPTH_MOST: usize = 1_000;
/// A function in which so much of each side runs is where stacks begin.
const COMMON_LEAST: f64 = 0.3;
/// What stands below all stacks.
const ALL: &str = "all";

/// Stacks as text, in any form that is read, and the operations that were carried out meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub(super) stacks: &'t str,
    /// The program that is counted alone.
    pub(super) process: Option<&'t str>,
    pub(super) operations: Option<f64>,
}

/// Frames of both sides, as shares of what an operation of base costs; without the operations of
/// all profiles each side is a whole of its own.
///
/// # Errors
/// The first line that is no stack, and more stacks than a page can show.
pub(super) fn frame_tree(
    sides: &PerArm<Vec<Text<'_>>>,
    pairs: &[Pair],
) -> Result<FlameNode, ProfileError> {
    let mut names = Names::new(pairs);
    let common = common(sides, &mut names)?;
    let mut frames = Frames::default();
    let mut samples = PerArm { base: 0.0, test: 0.0 };
    for arm in Arm::BOTH {
        for text in &sides[arm] {
            each_stack(text.stacks, text.process, &mut |seen| {
                let count = seen.total_weight();
                samples[arm] += count;
                frames.add(arm, names.of(arm, seen.stack), &common, count);
            })?;
        }
    }
    if frames.frames.len() > FRAMES_MOST {
        let what = format!(
            "its stacks have more than {FRAMES_MOST} different beginnings, too many for a page; \
             leave out --report"
        );
        return Err(ProfileError::new(0, what));
    }
    let is_known = sides.base.iter().chain(&sides.test).all(|text| text.operations.is_some());
    let times = if is_known {
        PerArm::from_fn(|arm| sides[arm].iter().filter_map(|text| text.operations).sum::<f64>())
    } else {
        samples
    };
    let whole = samples.base / times.base;
    let scale = PerArm::from_fn(|arm| 1.0 / (times[arm] * whole));
    Ok(frames.drawn(&names, &scale))
}

/// The functions in which much of both sides runs, by number of key.
fn common(
    sides: &PerArm<Vec<Text<'_>>>,
    names: &mut Names<'_>,
) -> Result<HashSet<u32>, ProfileError> {
    let mut often: PerArm<HashSet<u32>> = PerArm::from_fn(|_| HashSet::new());
    for arm in Arm::BOTH {
        // By key: the samples within it, and the stack in which it was met last.
        let (mut within, mut all, mut stacks) = (Vec::<(f64, u64)>::new(), 0.0, 0);
        for text in &sides[arm] {
            each_stack(text.stacks, text.process, &mut |seen| {
                let count = seen.total_weight();
                all += count;
                stacks += 1;
                for FunctionKey { key, .. } in names.of(arm, seen.stack) {
                    let key = *key as usize;
                    within.resize(within.len().max(key + 1), (0.0, 0));
                    if within[key].1 < stacks {
                        within[key] = (within[key].0 + count, stacks);
                    }
                }
            })?;
        }
        let much = (0..).zip(within).filter(|(_, (samples, _))| *samples >= COMMON_LEAST * all);
        often[arm].extend(much.map(|(key, _)| key));
    }
    let both = often.base.intersection(&often.test).copied();
    Ok(both.filter(|key| !is_of_a_file(&names.keys[*key as usize])).collect())
}

/// A function as a stack names it, by numbers: a million stacks have a few thousand names.
#[derive(Clone, Copy)]
struct FunctionKey {
    /// By what it is known in the tree.
    key: u32,
    /// The name that is shown.
    name: u32,
    has_name: bool,
}

/// By what name a function of a side is known in the tree.
struct Names<'p> {
    renamed: PerArm<HashMap<&'p str, &'p str>>,
    known: PerArm<HashMap<Arc<str>, FunctionKey>>,
    /// By number.
    shown: Vec<Arc<str>>,
    keys: Vec<Arc<str>>,
    number_of_key: HashMap<Arc<str>, u32>,
    /// The stack that was asked for last, kept to be used again.
    stack: Vec<FunctionKey>,
}

impl<'p> Names<'p> {
    fn new(pairs: &'p [Pair]) -> Names<'p> {
        let mut renamed: PerArm<HashMap<&str, &str>> = PerArm::from_fn(|_| HashMap::new());
        for pair in pairs {
            let all = pair.names.base.iter().chain(&pair.names.test);
            let named = all.clone().find(|name| !is_nameless(name));
            let Some(first) = named.or(all.clone().next()) else { continue };
            for arm in Arm::BOTH {
                let others = pair.names[arm].iter().filter(|name| *name != first);
                renamed[arm].extend(others.map(|name| (&**name, &**first)));
            }
        }
        Names {
            renamed,
            known: PerArm::from_fn(|_| HashMap::new()),
            shown: Vec::new(),
            keys: Vec::new(),
            number_of_key: HashMap::new(),
            stack: Vec::new(),
        }
    }

    /// The functions of a stack.
    fn of(&mut self, arm: Arm, stack: &[&str]) -> &[FunctionKey] {
        self.stack.clear();
        for name in stack {
            let named = match self.known[arm].get(*name) {
                Some(named) => *named,
                None => self.meet(arm, name),
            };
            self.stack.push(named);
        }
        &self.stack
    }

    fn meet(&mut self, arm: Arm, name: &str) -> FunctionKey {
        let first = self.renamed[arm].get(name).copied().unwrap_or(name);
        let nameless = nameless_object(first).map(nameless_text);
        let key: Arc<str> = match &nameless {
            Some(text) => text.as_str().into(),
            None => match plain_name(first) {
                plain if plain.is_empty() => first.into(),
                plain => plain.into(),
            },
        };
        let number = match self.number_of_key.get(&key) {
            Some(number) => *number,
            None => {
                let number = self.keys.len() as u32;
                self.keys.push(key.clone());
                self.number_of_key.insert(key, number);
                number
            }
        };
        let has_name = nameless.is_none();
        let named = FunctionKey { key: number, name: self.shown.len() as u32, has_name };
        // What counts with what is left out is not shown as one of its functions.
        let shown = match &nameless {
            Some(text) => text,
            None if first == LEFT_OUT || is_nameless(name) => first,
            None => name,
        };
        self.shown.push(shown.into());
        self.known[arm].insert(name.into(), named);
        named
    }
}

/// What stands in the graph for functions of a file, or of none that is known, without names.
fn nameless_text(object: &str) -> String {
    if object.is_empty() { "[no name]".to_owned() } else { format!("[no name, {object}]") }
}

/// One function under one caller. A caller stands before those that it calls.
struct Frame {
    caller: u32,
    /// The first name by which it was met here.
    name: u32,
    own: PerArm<f64>,
}

/// The number of what stands below all stacks.
const ROOT: u32 = 0;

struct Frames {
    frames: Vec<Frame>,
    /// By caller and key.
    places: HashMap<(u32, u32), u32>,
}

impl Default for Frames {
    fn default() -> Frames {
        let root = Frame { caller: ROOT, name: 0, own: PerArm { base: 0.0, test: 0.0 } };
        Frames { frames: vec![root], places: HashMap::new() }
    }
}

impl Frames {
    fn add(&mut self, arm: Arm, stack: &[FunctionKey], common: &HashSet<u32>, count: f64) {
        let begin = stack.iter().position(|named| common.contains(&named.key)).unwrap_or(0);
        let (mut at, mut nameless) = (ROOT, None);
        for FunctionKey { key, name, has_name } in stack[begin..].iter().take(DEPTH_MOST) {
            if nameless == Some(key) {
                continue;
            }
            nameless = Some(key).filter(|_| !has_name);
            if self.frames.len() > FRAMES_MOST {
                return;
            }
            let next = self.frames.len() as u32;
            let place = *self.places.entry((at, *key)).or_insert(next);
            if place == next {
                let own = PerArm { base: 0.0, test: 0.0 };
                self.frames.push(Frame { caller: at, name: *name, own });
            }
            at = place;
        }
        self.frames[at as usize].own[arm] += count;
    }

    /// The tree of the frames that are wide enough. What narrow callees cost stays in their caller.
    fn drawn(self, names: &Names<'_>, scale: &PerArm<f64>) -> FlameNode {
        let own = |frame: &Frame| PerArm::from_fn(|arm| frame.own[arm] * scale[arm]);
        let mut costs: Vec<PerArm<f64>> = self.frames.iter().map(own).collect();
        let mut widths: Vec<f64> = costs.iter().map(|own| own.base.max(own.test)).collect();
        for at in (1..self.frames.len()).rev() {
            let caller = self.frames[at].caller as usize;
            for arm in Arm::BOTH {
                costs[caller][arm] += costs[at][arm];
            }
            widths[caller] += widths[at];
        }
        let least = LEAST * widths[ROOT as usize];
        let mut callees: HashMap<u32, Vec<FlameNode>> = HashMap::new();
        for at in (0..self.frames.len() as u32).rev() {
            let (frame, width) = (&self.frames[at as usize], widths[at as usize]);
            if width < least {
                continue;
            }
            let mut called = callees.remove(&at).unwrap_or_default();
            called.sort_by(|a, b| b.width.total_cmp(&a.width).then_with(|| a.name.cmp(&b.name)));
            let cost = costs[at as usize];
            let name = match at {
                ROOT => return FlameNode { name: ALL.to_owned(), cost, width, callees: called },
                _ => names.shown[frame.name as usize].to_string(),
            };
            let node = FlameNode { name, cost, width, callees: called };
            callees.entry(frame.caller).or_default().push(node);
        }
        unreachable!("the root is as wide as anything")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Match;

    fn of(base: &str, test: &str, operations: [Option<f64>; 2], pairs: &[Pair]) -> FlameNode {
        let text = |stacks, operations| vec![Text { stacks, process: None, operations }];
        let sides = PerArm { base: text(base, operations[0]), test: text(test, operations[1]) };
        frame_tree(&sides, pairs).unwrap()
    }

    fn lines(node: &FlameNode, depth: usize, out: &mut Vec<String>) {
        let spaces = " ".repeat(depth);
        out.push(format!(
            "{spaces}{} {:.2} {:.2} {:.2}",
            node.name, node.cost.base, node.cost.test, node.width
        ));
        node.callees.iter().for_each(|callee| lines(callee, depth + 1, out));
    }

    fn told(node: &FlameNode) -> Vec<String> {
        let mut out = Vec::new();
        lines(node, 0, &mut out);
        out
    }

    #[test]
    fn what_one_side_alone_has_stays_and_costs_are_those_of_an_operation() {
        let base = "main;work;old(int) 20\nmain;work 30\nmain;parse 50\n";
        let test = "main;work;new_way 30\nmain;work.part.0 20\nmain;parse 50\n";
        let node = of(base, test, [Some(100.0), Some(50.0)], &[]);
        assert_eq!(
            told(&node),
            [
                "all 1.00 2.00 2.20",
                " main 1.00 2.00 2.20",
                "  work 0.50 1.00 1.20",
                "   new_way 0.00 0.60 0.60",
                "   old(int) 0.20 0.00 0.20",
                "  parse 0.50 1.00 1.00",
            ]
        );
        let pair = Pair {
            names: PerArm { base: vec!["old(int)".into()], test: vec!["new_way".into()] },
            matched: Match::Renamed,
        };
        let node = of(base, test, [Some(100.0), Some(50.0)], &[pair]);
        assert_eq!(told(&node)[4], "   old(int) 0.20 0.60 0.60", "one frame under two names");
        let node = of(base, test, [None, Some(50.0)], &[]);
        assert_eq!(told(&node)[0], "all 1.00 1.00 1.30", "shares of equal wholes");
    }

    #[test]
    fn stacks_begin_where_both_sides_are_most_of_the_time() {
        let base = "start_thread;handle_one;do_command;read 70\nbackground;purge 30\n";
        let test = "[libc.so.6];[mysqld];do_command;read 100\n";
        let node = of(base, test, [Some(1.0), Some(1.0)], &[]);
        assert_eq!(
            told(&node),
            [
                "all 1.00 1.00 1.30",
                " do_command 0.70 1.00 1.00",
                "  read 0.70 1.00 1.00",
                " background 0.30 0.00 0.30",
                "  purge 0.30 0.00 0.30",
            ]
        );
    }

    /// Files and addresses are no functions: those of a file are one frame on both sides.
    #[test]
    fn what_has_no_name_is_drawn_as_that_and_by_file() {
        let base = "main;[mysqld];[mysqld];read 20\nmain;0x55d0c0de1234 10\nmain;[unknown] 10\n\
                    main;/usr/lib/libc.so.6+0x29d90 20\nmain;parse 40\n";
        let test = "main;[mysqld];read 20\nmain;55d0c0de9999 5\nmain;0x7f00c0de1235 15\n\
                    main;[libc.so.6] 20\nmain;parse 40\n";
        let node = of(base, test, [Some(1.0), Some(1.0)], &[]);
        assert_eq!(
            told(&node),
            [
                "all 1.00 1.00 1.00",
                " main 1.00 1.00 1.00",
                "  parse 0.40 0.40 0.40",
                "  [no name, libc.so.6] 0.20 0.20 0.20",
                "  [no name, mysqld] 0.20 0.20 0.20",
                "   read 0.20 0.20 0.20",
                "  [no name] 0.20 0.20 0.20",
            ]
        );
        let pair = Pair {
            names: PerArm { base: vec!["0x55d0c0de1234".into()], test: vec!["parse".into()] },
            matched: Match::Renamed,
        };
        let node = of("main;0x55d0c0de1234 9\n", "main;parse 9\n", [Some(1.0); 2], &[pair]);
        assert_eq!(told(&node)[2], "  parse 1.00 1.00 1.00", "one side knows its name");
    }

    /// A stack of a hundred thousand functions is drawn as deep as anybody looks.
    #[test]
    fn deep_stacks_are_drawn_to_a_depth() {
        let base = format!("{}work 5\n", "f;g;".repeat(50_000));
        let node = of(&base, &base, [Some(1.0), Some(1.0)], &[]);
        let (mut depth, mut at) = (0, &node);
        while let Some(callee) = at.callees.first() {
            (depth, at) = (depth + 1, callee);
        }
        assert_eq!((depth, at.cost.base), (DEPTH_MOST, 1.0));
    }

    #[test]
    fn narrow_frames_are_left_to_their_callers() {
        let base = "main;wide 9999\nmain;narrow 1\n";
        let node = of(base, base, [Some(1.0), Some(1.0)], &[]);
        assert_eq!(
            told(&node),
            ["all 1.00 1.00 1.00", " main 1.00 1.00 1.00", "  wide 1.00 1.00 1.00"]
        );
    }
}
