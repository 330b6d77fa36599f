//! A level asked of a history whose versions are in an order: a line of all events, or cycles.

use crate::edges::Reach;
use crate::history::{History, UNKNOWN};
use crate::layout::{Before, Layout, Node};
use crate::level::Shape;
use crate::region::{Cycle, Label, Region, RegionResult};
use crate::versions::Versions;

/// Which cycles are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cycles {
    /// No more after one of two steps, the shortest there is.
    Shortest,
    /// Some of each stretch of the line that has any, a shortest one first.
    OfEachStretch,
}

/// A level's graph, and what it keeps beside versions.
pub(crate) struct Question<'a> {
    pub history: &'a History,
    pub shape: Shape,
    pub before: Before,
}

impl Question<'_> {
    /// An order of all events that every dependency agrees with, or cycles.
    pub(crate) fn order_events(
        &self,
        versions: &Versions,
        reach: &Reach,
        wanted: Cycles,
    ) -> Result<Vec<Node>, Vec<Cycle>> {
        let layout = Layout::from_reach(self.history, versions, reach, &self.shape, &self.before);
        let mut line = layout.ordered_nodes(versions);
        let nodes = if layout.stretches.is_empty() { 0 } else { 2 * self.history.len() };
        let mut region = self.region(versions, &layout, nodes);
        let mut cycles: Vec<Cycle> = Vec::new();
        for &(low, high) in &layout.stretches {
            let first = line.partition_point(|node| layout.position(*node) < low);
            let end = line.partition_point(|node| layout.position(*node) <= high);
            match region.search_stretch(&line[first..end]) {
                RegionResult::Order(order) => line[first..end].copy_from_slice(&order),
                RegionResult::Cycle(cycle) => {
                    cycles.push(cycle);
                    if wanted == Cycles::OfEachStretch {
                        cycles.extend(region.stretch_cycles(&line[first..end]));
                    }
                }
            }
            let is_shortest = cycles.last().is_some_and(|cycle| cycle.steps.len() == 2);
            if wanted == Cycles::Shortest && is_shortest {
                break;
            }
        }
        if cycles.is_empty() { Ok(line) } else { Err(cycles) }
    }

    /// The same with more edges, whose nodes may lie anywhere: one graph of everything, and an
    /// order that stays as near to the line as the edges allow.
    pub(crate) fn line_with(
        &self,
        versions: &Versions,
        reach: &Reach,
        more: &[(Node, Node, Label)],
    ) -> Result<Vec<Node>, Cycle> {
        let layout = Layout::from_reach(self.history, versions, reach, &self.shape, &self.before);
        let mut region = self.region(versions, &layout, 2 * self.history.len());
        region.search_with(&layout.ordered_nodes(versions), more)
    }

    fn region<'a>(
        &'a self,
        versions: &'a Versions,
        layout: &'a Layout,
        nodes: usize,
    ) -> Region<'a> {
        let (history, shape, before) = (self.history, &self.shape, &self.before);
        Region { history, versions, shape, layout, before, local: vec![UNKNOWN; nodes] }
    }
}
