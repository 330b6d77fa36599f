//! What one process has mapped, as a tree that processes share.
//!
//! ```text
//!   parent ─▶ (d)          a fork is a second hold on the same tree; what is mapped afterwards
//!            ╱   ╲         makes anew the nodes on the way to it, and no others
//!          (b)   (f)
//!         ╱   ╲     ╲      child ─▶ (d') ─▶ (b), (f') ─▶ (e'), (g)
//!       (a)   (c)   (g)
//! ```
//!
//! A file of a megabyte may have twenty thousand forks of a process with five thousand mappings: a
//! copy of them for each, made at once or at its first own mapping, would take gigabytes. Heights
//! differ by one at most (Adelson-Velsky and Landis), and trees are cut and joined as in Blelloch,
//! Ferizovic and Sun, *Just Join for Parallel Ordered Sets* (2016), so that a record takes steps
//! and nodes by the logarithm of what is mapped, in whatever order a file has them.

use std::rc::Rc;

/// A part of a file that is mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) start: u64,
    /// The first address behind it.
    pub(super) end: u64,
    /// Number of the file.
    pub(super) object: u32,
    /// What is added to an address for the offset in the file.
    pub(super) shift: u64,
}

/// Mappings by address, of which none meet.
#[derive(Clone, Debug, Default)]
pub(super) struct Space {
    root: Link,
}

type Link = Option<Rc<Node>>;

#[derive(Debug)]
struct Node {
    mapping: Mapping,
    height: u8,
    below: Link,
    above: Link,
}

impl Space {
    /// Puts a mapping in the place of whatever was there.
    pub(super) fn map(&mut self, mapping: Mapping) {
        let Mapping { start, end, .. } = mapping;
        if start >= end {
            return;
        }
        let (below, rest) = cut(&self.root, start);
        let (covered, mut above) = cut(&rest, end);
        // What begins before the end may reach beyond it.
        let last = last(&covered).or_else(|| last(&below));
        if let Some(last) = last.filter(|last| last.end > end) {
            above = joined(None, Mapping { start: end, ..last }, above);
        }
        let below = match split_last(&below) {
            Some((rest, before)) if before.end > start => {
                joined(rest, Mapping { end: start, ..before }, None)
            }
            _ => below,
        };
        self.root = joined(below, mapping, above);
    }

    /// What is mapped at an address.
    pub(super) fn mapping_at(&self, address: u64) -> Option<Mapping> {
        let (mut next, mut found) = (&self.root, None);
        while let Some(node) = next {
            if node.mapping.start <= address {
                (next, found) = (&node.above, Some(node.mapping));
            } else {
                next = &node.below;
            }
        }
        found.filter(|mapping| address < mapping.end)
    }
}

fn height(link: &Link) -> u8 {
    link.as_ref().map_or(0, |node| node.height)
}

fn node(below: Link, mapping: Mapping, above: Link) -> Link {
    let height = 1 + height(&below).max(height(&above));
    Some(Rc::new(Node { mapping, height, below, above }))
}

/// A tree of two whose heights differ by two at most, and what is between them.
fn balanced(below: Link, mapping: Mapping, above: Link) -> Link {
    if let Some(left) = below.as_ref().filter(|left| left.height > height(&above) + 1) {
        return match left.above.as_ref().filter(|inner| inner.height > height(&left.below)) {
            None => {
                node(left.below.clone(), left.mapping, node(left.above.clone(), mapping, above))
            }
            Some(inner) => node(
                node(left.below.clone(), left.mapping, inner.below.clone()),
                inner.mapping,
                node(inner.above.clone(), mapping, above),
            ),
        };
    }
    if let Some(right) = above.as_ref().filter(|right| right.height > height(&below) + 1) {
        return match right.below.as_ref().filter(|inner| inner.height > height(&right.above)) {
            None => {
                node(node(below, mapping, right.below.clone()), right.mapping, right.above.clone())
            }
            Some(inner) => node(
                node(below, mapping, inner.below.clone()),
                inner.mapping,
                node(inner.above.clone(), right.mapping, right.above.clone()),
            ),
        };
    }
    node(below, mapping, above)
}

/// A tree of two of any heights, and what is between them.
fn joined(below: Link, mapping: Mapping, above: Link) -> Link {
    let heights = (height(&below), height(&above));
    if let Some(left) = below.as_ref().filter(|_| heights.0 > heights.1 + 1) {
        let rest = joined(left.above.clone(), mapping, above);
        return balanced(left.below.clone(), left.mapping, rest);
    }
    if let Some(right) = above.as_ref().filter(|_| heights.1 > heights.0 + 1) {
        let rest = joined(below, mapping, right.below.clone());
        return balanced(rest, right.mapping, right.above.clone());
    }
    node(below, mapping, above)
}

/// What begins before an address, and the others.
fn cut(link: &Link, address: u64) -> (Link, Link) {
    let Some(node) = link else { return (None, None) };
    if node.mapping.start < address {
        let (before, others) = cut(&node.above, address);
        (joined(node.below.clone(), node.mapping, before), others)
    } else {
        let (before, others) = cut(&node.below, address);
        (before, joined(others, node.mapping, node.above.clone()))
    }
}

fn last(link: &Link) -> Option<Mapping> {
    let mut node = link.as_ref()?;
    while let Some(above) = &node.above {
        node = above;
    }
    Some(node.mapping)
}

/// All but the last, and the last.
fn split_last(link: &Link) -> Option<(Link, Mapping)> {
    let node = link.as_ref()?;
    Some(match split_last(&node.above) {
        None => (node.below.clone(), node.mapping),
        Some((rest, last)) => (joined(node.below.clone(), node.mapping, rest), last),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn mapping(start: u64, length: u64, object: u32) -> Mapping {
        Mapping { start, end: start + length, object, shift: 0_u64.wrapping_sub(start) }
    }

    /// Adds the nodes of a tree to those that are known, each once.
    fn count(link: &Link, known: &mut HashSet<*const Node>) {
        if let Some(node) = link.as_ref().filter(|node| known.insert(Rc::as_ptr(node))) {
            count(&node.below, known);
            count(&node.above, known);
        }
    }

    fn is_balanced(link: &Link) -> bool {
        link.as_ref().is_none_or(|node| {
            let heights = (height(&node.below), height(&node.above));
            heights.0.abs_diff(heights.1) <= 1
                && node.height == 1 + heights.0.max(heights.1)
                && is_balanced(&node.below)
                && is_balanced(&node.above)
        })
    }

    /// In bytes: a parent of 5000 mappings is 400 KB, and 20 000 children hold the same.
    #[test]
    fn a_fork_takes_no_nodes_and_an_own_mapping_a_few() {
        let mut parent = Space::default();
        for at in 0..5_000 {
            parent.map(mapping(0x1000 * at, 0x1000, 1));
        }
        assert!(height(&parent.root) <= 18, "{}", height(&parent.root));
        let mut known = HashSet::new();
        count(&parent.root, &mut known);
        assert_eq!(known.len(), 5_000);
        let mut children = vec![parent.clone(); 2_000];
        children.iter().for_each(|child| count(&child.root, &mut known));
        assert_eq!(known.len(), 5_000);
        for (at, child) in (0..).zip(&mut children) {
            child.map(mapping(0x800 + 0x1000 * at, 0x1000, 2));
        }
        children.iter().for_each(|child| count(&child.root, &mut known));
        assert!(known.len() < 5_000 + 2_000 * 40, "{}", known.len());
        assert_eq!(parent.mapping_at(0x1900).map(|found| found.object), Some(1));
        assert_eq!(children[1].mapping_at(0x1900).map(|found| found.object), Some(2));
    }

    proptest! {
        /// Against a map of every single address.
        #[test]
        fn an_address_is_of_the_last_that_covered_it(
            all in prop::collection::vec((0..200_u64, 0..60_u64), 0..60),
        ) {
            let (mut space, mut each) = (Space::default(), [None; 300]);
            for (object, (start, length)) in (0..).zip(all) {
                space.map(mapping(start, length, object));
                each[start as usize..(start + length) as usize].fill(Some(object));
                prop_assert!(is_balanced(&space.root));
            }
            for (address, object) in (0..).zip(each) {
                prop_assert_eq!(space.mapping_at(address).map(|found| found.object), object);
            }
        }
    }
}
