//! A node: a range of keys, what belongs to them, and how one is found.

use crate::ids::TrxId;
use crate::key::{Key, head_number};

/// Most entries of a leaf. Few where orders of threads are searched: a handful of rows then parts
/// and joins leaves.
pub(crate) const LEAF: usize = if cfg!(feature = "shuttle") { 3 } else { 128 };
/// Most children of a node above the leaves.
pub(crate) const INNER: usize = 1024;
/// Heads of a cache line, and one more than keys that are compared one after the other.
const LINE: usize = 8;
const FEW: usize = 4;
/// No node.
pub(super) const NONE: u32 = u32::MAX;

/// A key that is looked for, with its first bytes.
#[derive(Clone, Copy)]
pub(super) struct Probe<'a> {
    pub key: &'a [u8],
    head: u64,
}

impl<'a> Probe<'a> {
    #[inline]
    pub(super) fn new(key: &'a [u8]) -> Probe<'a> {
        Probe { key, head: head_number(key) }
    }
}

/// What a latch protects. What every search needs stands together at the front.
#[repr(C)]
pub(super) struct Node<V> {
    heads: Vec<u64>,
    /// The heads of `low` and `high`; the greatest there is without `high`.
    low_head: u64,
    high_head: u64,
    slots: Slots<V>,
    /// The node to the right.
    pub right: u32,
    /// 0 for leaves.
    pub level: u8,
    /// It was taken over by its left neighbour and is for no keys.
    pub dead: bool,
    /// The greatest of the writers that touched the leaf.
    pub stamp: TrxId,
    low: Key,
    high: Option<Key>,
}

/// Keys, and what belongs to them.
enum Slots<V> {
    Leaf(Vec<(Key, V)>),
    /// The node for keys from this one on. The first key is `low`.
    Inner(Vec<(Key, u32)>),
}

impl<V> Default for Node<V> {
    fn default() -> Node<V> {
        Node {
            heads: Vec::new(),
            low_head: 0,
            high_head: u64::MAX,
            slots: Slots::Leaf(Vec::new()),
            right: NONE,
            level: 0,
            dead: true,
            stamp: TrxId::NOBODY,
            low: Key::default(),
            high: None,
        }
    }
}

impl<V> Node<V> {
    /// Becomes a root over the old one and its new neighbour.
    pub(crate) fn become_root(&mut self, level: u8, old: u32, low: &Key, right: u32) {
        self.level = level;
        self.dead = false;
        self.slots = Slots::Inner(Vec::new());
        self.put_child(0, Key::default(), old);
        self.put_child(1, low.clone(), right);
    }

    /// The number of keys.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Whether there are more keys than a node should have.
    pub(crate) fn is_over_full(&self) -> bool {
        self.len() > if self.level == 0 { LEAF } else { INNER }
    }

    /// The least key that it is for.
    pub(super) fn low_key(&self) -> &Key {
        &self.low
    }

    /// The least key that it is not for any more; `None` on the right edge.
    pub(super) fn high_key(&self) -> Option<&Key> {
        self.high.as_ref()
    }

    /// Whether a key lies to the left of what it is for: the way here is out of date.
    #[inline]
    pub(super) fn is_past(&self, probe: Probe<'_>) -> bool {
        self.dead
            || probe.head < self.low_head
            || (probe.head == self.low_head && probe.key < self.low.bytes())
    }

    /// Whether a key lies to the right.
    #[inline]
    pub(crate) fn is_before(&self, probe: Probe<'_>) -> bool {
        probe.head >= self.high_head
            && self.high.as_ref().is_some_and(|high| high.bytes() <= probe.key)
    }

    /// The place of the first key that is not below this one.
    #[inline]
    pub(super) fn lower_bound(&self, probe: Probe<'_>) -> usize {
        let begin = self.place_of_head(probe.head);
        if self.heads.get(begin) != Some(&probe.head) {
            return begin;
        }
        let mut place = begin;
        while self.heads.get(place) == Some(&probe.head) && self.key(place).bytes() < probe.key {
            place += 1;
            if place - begin == FEW {
                let alike = self.heads[place..].partition_point(|&head| head == probe.head);
                return place + self.part(place, alike, probe.key);
            }
        }
        place
    }

    /// Of so many keys from a place on, those below a key.
    fn part(&self, place: usize, many: usize, key: &[u8]) -> usize {
        let (mut least, mut most) = (0, many);
        while least < most {
            let middle = (least + most) / 2;
            if self.key(place + middle).bytes() < key {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        least
    }

    /// The place of the first head that is not below this one. Nodes lie far from the processor,
    /// and keys often lie evenly: so it is guessed, and searched for from the guess on in steps
    /// that double.
    #[inline]
    fn place_of_head(&self, wanted: u64) -> usize {
        let heads = &self.heads[..];
        if heads.len() < 2 * LINE {
            return heads.partition_point(|&head| head < wanted);
        }
        // On the edges of the tree the range says nothing of where keys are.
        let low = if self.low_head == 0 { heads[1] } else { self.low_head };
        let high = if self.high_head == u64::MAX { heads[heads.len() - 1] } else { self.high_head };
        if wanted <= low || wanted >= high {
            return heads.partition_point(|&head| head < wanted);
        }
        let share = (wanted - low) as f64 / (high - low) as f64;
        let guess = ((share * heads.len() as f64) as usize).min(heads.len() - 1);
        let mut step = LINE;
        if heads[guess] < wanted {
            let mut least = guess + 1;
            while least + step < heads.len() && heads[least + step] < wanted {
                least += step + 1;
                step *= 2;
            }
            let most = (least + step).min(heads.len());
            least + heads[least..most].partition_point(|&head| head < wanted)
        } else {
            let mut most = guess;
            while most > step && heads[most - step] >= wanted {
                most -= step;
                step *= 2;
            }
            let least = most.saturating_sub(step);
            least + heads[least..most].partition_point(|&head| head < wanted)
        }
    }

    /// The place of a key, and whether it is there.
    #[inline]
    pub(super) fn find(&self, probe: Probe<'_>) -> (usize, bool) {
        let place = self.lower_bound(probe);
        let there =
            self.heads.get(place) == Some(&probe.head) && self.key(place).bytes() == probe.key;
        (place, there)
    }

    /// The place of the child for a key.
    #[inline]
    pub(crate) fn child_place(&self, probe: Probe<'_>) -> usize {
        let (place, there) = self.find(probe);
        if there { place } else { place.saturating_sub(1) }
    }

    #[inline]
    fn leaf(&self) -> &Vec<(Key, V)> {
        match &self.slots {
            Slots::Leaf(leaf) => leaf,
            Slots::Inner(_) => unreachable!("it is no leaf"),
        }
    }

    #[inline]
    fn leaf_mut(&mut self) -> &mut Vec<(Key, V)> {
        match &mut self.slots {
            Slots::Leaf(leaf) => leaf,
            Slots::Inner(_) => unreachable!("it is no leaf"),
        }
    }

    fn inner_mut(&mut self) -> &mut Vec<(Key, u32)> {
        match &mut self.slots {
            Slots::Inner(inner) => inner,
            Slots::Leaf(_) => unreachable!("it is a leaf"),
        }
    }

    #[inline]
    pub(super) fn child_at(&self, place: usize) -> u32 {
        match &self.slots {
            Slots::Inner(inner) => inner[place].1,
            Slots::Leaf(_) => unreachable!("it is a leaf"),
        }
    }

    #[inline]
    pub(super) fn key(&self, place: usize) -> &Key {
        match &self.slots {
            Slots::Leaf(leaf) => &leaf[place].0,
            Slots::Inner(inner) => &inner[place].0,
        }
    }

    #[inline]
    pub(super) fn value(&self, place: usize) -> &V {
        &self.leaf()[place].1
    }

    #[inline]
    pub(crate) fn value_mut(&mut self, place: usize) -> &mut V {
        &mut self.leaf_mut()[place].1
    }

    pub(super) fn put_value(&mut self, place: usize, key: Key, value: V) {
        self.heads.insert(place, head_number(key.bytes()));
        self.leaf_mut().insert(place, (key, value));
    }

    pub(crate) fn put_child(&mut self, place: usize, key: Key, child: u32) {
        self.heads.insert(place, head_number(key.bytes()));
        self.inner_mut().insert(place, (key, child));
    }

    pub(super) fn take_value(&mut self, place: usize) -> V {
        self.heads.remove(place);
        self.leaf_mut().remove(place).1
    }

    pub(crate) fn take_child(&mut self, place: usize) {
        self.heads.remove(place);
        self.inner_mut().remove(place);
    }

    fn set_high(&mut self, high: Option<Key>) -> Option<Key> {
        self.high_head = high.as_ref().map_or(u64::MAX, |high| head_number(high.bytes()));
        std::mem::replace(&mut self.high, high)
    }

    /// Gives the right part of its keys to a fresh node with this number. Where the last key is
    /// the newest, keys come in order: then the left part stays nearly full.
    pub(super) fn split(&mut self, newest: usize, fresh: &mut Node<V>, number: u32) {
        let length = self.len();
        let at = if newest + 1 == length { length - length / 16 - 1 } else { length / 2 };
        fresh.level = self.level;
        fresh.dead = false;
        fresh.stamp = self.stamp;
        fresh.right = self.right;
        fresh.heads = self.heads.split_off(at);
        fresh.slots = match &mut self.slots {
            Slots::Leaf(leaf) => Slots::Leaf(leaf.split_off(at)),
            Slots::Inner(inner) => Slots::Inner(inner.split_off(at)),
        };
        fresh.low = fresh.key(0).clone();
        fresh.low_head = fresh.heads[0];
        let high = self.set_high(Some(fresh.low.clone()));
        fresh.set_high(high);
        self.right = number;
    }

    /// Takes over all of its right neighbour, a leaf as itself, which is dead then.
    pub(super) fn take_over(&mut self, neighbour: &mut Node<V>) {
        self.heads.append(&mut neighbour.heads);
        self.leaf_mut().append(neighbour.leaf_mut());
        let high = neighbour.high.take();
        self.set_high(high);
        self.right = neighbour.right;
        self.stamp = self.stamp.max(neighbour.stamp);
        *neighbour = Node::default();
    }

    /// Bytes that it holds on the heap, without those of its values.
    pub(super) fn heap_bytes(&self) -> usize {
        let slots = match &self.slots {
            Slots::Leaf(leaf) => leaf.capacity() * size_of::<(Key, V)>(),
            Slots::Inner(inner) => inner.capacity() * size_of::<(Key, u32)>(),
        };
        let keys = (0..self.len()).map(|place| self.key(place).heap_bytes());
        self.heads.capacity() * 8 + slots + keys.sum::<usize>()
    }
}
