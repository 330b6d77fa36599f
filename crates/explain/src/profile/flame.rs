//! The stacks of both sides as one tree: who called whom, and what that cost in each.
//!
//! Functions are the same on both sides if they match as in the table. A frame that one side alone
//! has is in the tree as well; it is as wide as its dearer side, so that nothing vanishes (tools
//! that draw the second profile leave out what it lost; Gregg, "Differential Flame Graphs", 2014).
//! Costs are real numbers for an operation, not samples scaled to equal totals and cut to whole
//! ones, which loses a tenth of a profile of many small stacks (reference explain, §0.7).
//!
//! Threads begin in other functions in each build, some without names. Stacks are therefore cut at
//! the outermost function that most of both sides runs in: what is below it is told by nothing but
//! its own width.

use std::collections::{BTreeMap, HashMap, HashSet};

use dbdyno_model::{Arm, FlameNode, PerArm};

use super::names::{Pair, is_of_a_file, plain};
use super::read::{ProfileError, each_stack};

/// Frames narrower than this share of the widest one are told within their callers only.
const LEAST: f64 = 0.0005;
/// A function in which so much of each side runs is where stacks begin.
const COMMON_LEAST: f64 = 0.3;
/// What stands below all stacks.
const ALL: &str = "all";

/// Stacks as text, in any form that is read, and the operations that were carried out meanwhile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Text<'t> {
    pub(super) stacks: &'t str,
    pub(super) operations: Option<f64>,
}

/// Frames of both sides, as shares of what an operation of base costs; without the operations of
/// all profiles each side is a whole of its own.
///
/// # Errors
/// The first line that is no stack.
pub(super) fn tree(
    sides: &PerArm<Vec<Text<'_>>>,
    pairs: &[Pair],
) -> Result<FlameNode, ProfileError> {
    let mut keys = Keys::new(pairs);
    keys.common = common(sides, &keys)?;
    let mut root = Frame::default();
    for arm in Arm::BOTH {
        let mut samples = 0.0;
        for text in &sides[arm] {
            each_stack(text.stacks, &mut |stack, count| {
                samples += count;
                root.add(arm, &keys, stack, count);
            })?;
        }
        let known: Option<f64> = sides[arm].iter().map(|text| text.operations).sum();
        root.times[arm] = known.unwrap_or(samples);
    }
    let is_known = sides.base.iter().chain(&sides.test).all(|text| text.operations.is_some());
    let times = match is_known {
        true => root.times,
        false => PerArm::from_fn(|arm| root.cost(arm)),
    };
    let whole = root.cost(Arm::Base) / times.base;
    let scale = PerArm::from_fn(|arm| 1.0 / (times[arm] * whole));
    let least = LEAST * root.width(&scale);
    Ok(root.node(ALL.to_owned(), &scale, least))
}

/// The functions in which much of both sides runs.
fn common(sides: &PerArm<Vec<Text<'_>>>, keys: &Keys<'_>) -> Result<HashSet<String>, ProfileError> {
    let mut often: PerArm<HashSet<String>> = PerArm::from_fn(|_| HashSet::new());
    for arm in Arm::BOTH {
        let (mut within, mut all) = (HashMap::new(), 0.0);
        for text in &sides[arm] {
            each_stack(text.stacks, &mut |stack, count| {
                all += count;
                let functions: HashSet<String> =
                    stack.iter().map(|name| keys.key(arm, name)).collect();
                for function in functions.into_iter().filter(|name| !is_of_a_file(name)) {
                    *within.entry(function).or_insert(0.0) += count;
                }
            })?;
        }
        let much = within.into_iter().filter(|(_, samples)| *samples >= COMMON_LEAST * all);
        often[arm].extend(much.map(|(name, _)| name));
    }
    Ok(often.base.intersection(&often.test).cloned().collect())
}

/// By what name a function of a side is known in the tree.
struct Keys<'p> {
    renamed: PerArm<HashMap<&'p str, &'p str>>,
    common: HashSet<String>,
}

impl<'p> Keys<'p> {
    fn new(pairs: &'p [Pair]) -> Keys<'p> {
        let mut renamed: PerArm<HashMap<&str, &str>> = PerArm::from_fn(|_| HashMap::new());
        for pair in pairs {
            let Some(first) = pair.names.base.first().or(pair.names.test.first()) else { continue };
            for arm in Arm::BOTH {
                let others = pair.names[arm].iter().filter(|name| *name != first);
                renamed[arm].extend(others.map(|name| (name.as_str(), first.as_str())));
            }
        }
        Keys { renamed, common: HashSet::new() }
    }

    fn key(&self, arm: Arm, name: &str) -> String {
        let name = self.renamed[arm].get(name).copied().unwrap_or(name);
        match plain(name) {
            plain if plain.is_empty() => name.to_owned(),
            plain => plain,
        }
    }
}

#[derive(Default)]
struct Frame {
    own: PerArm<f64>,
    /// By name; the first full one is shown.
    callees: BTreeMap<String, (String, Frame)>,
    /// Of the root: what each side is divided by.
    times: PerArm<f64>,
}

impl Frame {
    fn add(&mut self, arm: Arm, keys: &Keys<'_>, stack: &[&str], count: f64) {
        let mut frame = self;
        let named: Vec<String> = stack.iter().map(|name| keys.key(arm, name)).collect();
        let begin = named.iter().position(|key| keys.common.contains(key)).unwrap_or(0);
        for (key, name) in named.into_iter().zip(stack).skip(begin) {
            let named = || ((*name).to_owned(), Frame::default());
            frame = &mut frame.callees.entry(key).or_insert_with(named).1;
        }
        frame.own[arm] += count;
    }

    fn cost(&self, arm: Arm) -> f64 {
        let callees = self.callees.values().map(|(_, callee)| callee.cost(arm));
        self.own[arm] + callees.sum::<f64>()
    }

    fn width(&self, scale: &PerArm<f64>) -> f64 {
        let own = PerArm::from_fn(|arm| self.own[arm] * scale[arm]);
        let callees = self.callees.values().map(|(_, callee)| callee.width(scale));
        own.base.max(own.test) + callees.sum::<f64>()
    }

    /// What narrow callees cost stays in their caller.
    fn node(self, name: String, scale: &PerArm<f64>, least: f64) -> FlameNode {
        let width = self.width(scale);
        let cost = PerArm::from_fn(|arm| self.cost(arm) * scale[arm]);
        let wide = self.callees.into_values().filter(|(_, callee)| callee.width(scale) >= least);
        let mut callees: Vec<FlameNode> =
            wide.map(|(name, callee)| callee.node(name, scale, least)).collect();
        callees.sort_by(|a, b| b.width.total_cmp(&a.width));
        FlameNode { name, cost, width, callees }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::Match;

    fn of(base: &str, test: &str, operations: [Option<f64>; 2], pairs: &[Pair]) -> FlameNode {
        let text = |stacks, operations| vec![Text { stacks, operations }];
        let sides = PerArm { base: text(base, operations[0]), test: text(test, operations[1]) };
        tree(&sides, pairs).unwrap()
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
            names: PerArm { base: vec!["old(int)".to_owned()], test: vec!["new_way".to_owned()] },
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
