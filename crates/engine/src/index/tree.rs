//! The ways through the tree: to one key, along many, and changing what is there.

use std::ops::ControlFlow;

use crate::ids::TrxId;
use crate::index::arena::Arena;
use crate::index::node::{LEAF, NONE, Node, Probe};
use crate::key::Key;
use crate::sync::atomic::{AtomicU32, Ordering};
use crate::sync::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Keys in order, each with a value.
pub struct IndexTree<V> {
    nodes: Arena<RwLock<Node<V>>>,
    root: AtomicU32,
    /// Held to put a root above the root. Not `room`: a thread that splits the root holds its latch
    /// when it asks for room.
    growing: Mutex<()>,
    room: Mutex<Room>,
}

/// What is to become of a key.
pub enum Edit<V> {
    /// It stays as it is, or as the caller has changed its value.
    Keep,
    /// It is there from now on with this value. Only where it was not.
    Put(V),
    /// It is there no longer. Only where it was.
    Take,
}

/// Numbers of nodes that are not in use.
struct Room {
    next: u32,
    freed: Vec<u32>,
}

/// A key, its value, and the greatest of the writers that touched their leaf.
pub type TreeEntry<'a, V> = (&'a [u8], &'a V, TrxId);

type Reading<'a, V> = RwLockReadGuard<'a, Node<V>>;
type Writing<'a, V> = RwLockWriteGuard<'a, Node<V>>;

impl<V> Default for IndexTree<V> {
    fn default() -> IndexTree<V> {
        let tree = IndexTree {
            nodes: Arena::new(),
            root: AtomicU32::new(0),
            growing: Mutex::new(()),
            room: Mutex::new(Room { next: 1, freed: Vec::new() }),
        };
        tree.write(0).dead = false;
        tree
    }
}

impl<V> IndexTree<V> {
    /// Looks at the value of a key, under the latch of its leaf.
    #[inline]
    pub fn get<R>(&self, key: &[u8], look: impl FnOnce(&V) -> R) -> Option<R> {
        let leaf = self.leaf(key);
        let (place, there) = leaf.find(Probe::new(key));
        there.then(|| look(leaf.value(place)))
    }

    /// Looks at the value of a key, if it is there, unless a latch would have to be waited for:
    /// then `None`. For callers that hold what holders of latches may wait for.
    pub(crate) fn try_get<R>(&self, key: &[u8], look: impl FnOnce(Option<&V>) -> R) -> Option<R> {
        let probe = Probe::new(key);
        let mut at = self.root.load(Ordering::Acquire);
        loop {
            let node = self.nodes.get(at).try_read().ok()?;
            if node.is_past(probe) {
                return None;
            }
            if node.is_before(probe) {
                at = node.right;
            } else if node.level == 0 {
                let (place, there) = node.find(probe);
                return Some(look(there.then(|| node.value(place))));
            } else {
                at = node.child_at(node.child_place(probe));
            }
        }
    }

    /// Looks at the first key that is not below `from`, with the gap between the two latched: no
    /// key comes into it while `look` is at work. `None` is shown where there is no such key.
    /// Beside key and value it is shown the stamp of the leaf.
    pub fn seek<R>(&self, from: &[u8], look: impl FnOnce(Option<TreeEntry<'_, V>>) -> R) -> R {
        let first = self.leaf(from);
        let place = first.lower_bound(Probe::new(from));
        if place < first.len() {
            return look(Some((first.key(place).bytes(), first.value(place), first.stamp)));
        }
        let right = self.first_to_the_right(first.right);
        let last = right.last().filter(|leaf| leaf.len() > 0);
        look(last.map(|leaf| (leaf.key(0).bytes(), leaf.value(0), leaf.stamp)))
    }

    /// Looks at the last key below `bound`, or at the last of all, under the latch of its leaf.
    pub(crate) fn seek_back<R>(
        &self,
        bound: Option<&[u8]>,
        look: impl FnOnce(Option<TreeEntry<'_, V>>) -> R,
    ) -> R {
        let mut bound: Option<Key> = bound.map(Key::new);
        loop {
            let leaf = self.leaf_below(bound.as_ref().map(Key::bytes));
            let place = bound
                .as_ref()
                .map_or(leaf.len(), |bound| leaf.lower_bound(Probe::new(bound.bytes())));
            if place > 0 {
                let (key, value) = (leaf.key(place - 1).bytes(), leaf.value(place - 1));
                return look(Some((key, value, leaf.stamp)));
            }
            if leaf.low_key().bytes().is_empty() {
                return look(None);
            }
            bound = Some(leaf.low_key().clone());
        }
    }

    /// Shows the keys of one leaf that lie in `[from, end)`, upwards, with the stamp of the leaf.
    /// Gives where to go on; `None` at the end, or when `look` breaks off.
    pub(crate) fn read_on(
        &self,
        from: &[u8],
        end: Option<&[u8]>,
        mut look: impl FnMut(&[u8], &V, TrxId) -> ControlFlow<()>,
    ) -> Option<Key> {
        let leaf = self.leaf(from);
        for place in leaf.lower_bound(Probe::new(from))..leaf.len() {
            let key = leaf.key(place).bytes();
            if end.is_some_and(|end| key >= end) {
                return None;
            }
            if look(key, leaf.value(place), leaf.stamp).is_break() {
                return None;
            }
        }
        leaf.high_key().cloned().filter(|high| end.is_none_or(|end| high.bytes() < end))
    }

    /// Shows the keys of one leaf that lie in `[begin, bound)`, downwards. As `read_on`.
    pub fn read_back(
        &self,
        begin: &[u8],
        bound: Option<&[u8]>,
        mut look: impl FnMut(&[u8], &V, TrxId) -> ControlFlow<()>,
    ) -> Option<Key> {
        let leaf = self.leaf_below(bound);
        let last = bound.map_or(leaf.len(), |bound| leaf.lower_bound(Probe::new(bound)));
        for place in (0..last).rev() {
            let key = leaf.key(place).bytes();
            if key < begin || look(key, leaf.value(place), leaf.stamp).is_break() {
                return None;
            }
        }
        Some(leaf.low_key().clone()).filter(|low| !low.bytes().is_empty() && low.bytes() > begin)
    }

    /// Changes the value of a key that is there, under the latch of its leaf.
    #[inline]
    pub(crate) fn change_value<R>(
        &self,
        key: &[u8],
        writer: TrxId,
        change: impl FnOnce(&mut V) -> R,
    ) -> Option<R> {
        let mut leaf = self.leaf_to_write(key);
        let (place, there) = leaf.find(Probe::new(key));
        there.then(|| {
            leaf.stamp = leaf.stamp.max(writer);
            change(leaf.value_mut(place))
        })
    }

    /// Puts a key in, changes it or takes it out. `edit` sees its value, if it is there, and the
    /// next key above it, if there is one; from there to its left neighbour everything is latched.
    pub(crate) fn edit_entry<R>(
        &self,
        key: &[u8],
        writer: TrxId,
        edit: impl FnOnce(Option<&mut V>, Option<&[u8]>) -> (Edit<V>, R),
    ) -> R {
        let mut leaf = self.leaf_to_write(key);
        leaf.stamp = leaf.stamp.max(writer);
        let (place, there) = leaf.find(Probe::new(key));
        let above = place + usize::from(there);
        let right =
            if above < leaf.len() { Vec::new() } else { self.first_to_the_right(leaf.right) };
        let next = match right.last() {
            Some(leaf) => (leaf.len() > 0).then(|| leaf.key(0)),
            None => (above < leaf.len()).then(|| leaf.key(above)),
        };
        let next = next.cloned();
        let value = there.then(|| leaf.value_mut(place));
        let (what, result) = edit(value, next.as_ref().map(Key::bytes));
        drop(right);
        match what {
            Edit::Keep => {}
            Edit::Put(value) => {
                assert!(!there, "a key is put in once");
                leaf.put_value(place, Key::new(key), value);
                if leaf.is_over_full() {
                    self.split(leaf, place);
                }
            }
            Edit::Take => {
                assert!(there, "only what is there is taken out");
                drop(leaf.take_value(place));
                if leaf.len() == 0 {
                    drop(leaf);
                    self.shrink(key);
                }
            }
        }
        result
    }

    /// Bytes of all nodes, without what their values hold elsewhere.
    pub fn heap_bytes(&self) -> usize {
        let nodes = self.room.lock().expect("no panic before").next;
        (0..nodes).map(|node| size_of::<RwLock<Node<V>>>() + self.read(node).heap_bytes()).sum()
    }

    #[inline]
    fn read(&self, node: u32) -> Reading<'_, V> {
        self.nodes.get(node).read().expect("no panic before")
    }

    #[inline]
    fn write(&self, node: u32) -> Writing<'_, V> {
        self.nodes.get(node).write().expect("no panic before")
    }

    /// The leaf for a key, to read.
    #[inline]
    fn leaf(&self, key: &[u8]) -> Reading<'_, V> {
        let probe = Probe::new(key);
        'again: loop {
            let mut at = self.root.load(Ordering::Acquire);
            loop {
                let node = self.read(at);
                if node.is_past(probe) {
                    continue 'again;
                }
                if node.is_before(probe) {
                    at = node.right;
                } else if node.level == 0 {
                    return node;
                } else {
                    at = node.child_at(node.child_place(probe));
                }
            }
        }
    }

    /// The leaf in which the last key below `bound` would be, to read.
    fn leaf_below(&self, bound: Option<&[u8]>) -> Reading<'_, V> {
        'again: loop {
            let mut at = self.root.load(Ordering::Acquire);
            loop {
                let node = self.read(at);
                let below = |key: &Key| bound.is_none_or(|bound| key.bytes() < bound);
                if node.dead || !(node.low_key().bytes().is_empty() || below(node.low_key())) {
                    continue 'again;
                }
                if node.high_key().is_some_and(below) {
                    at = node.right;
                } else if node.level == 0 {
                    return node;
                } else {
                    let place =
                        bound.map_or(node.len(), |bound| node.lower_bound(Probe::new(bound)));
                    at = node.child_at(place.saturating_sub(1));
                }
            }
        }
    }

    /// The leaf for a key, to write.
    fn leaf_to_write(&self, key: &[u8]) -> Writing<'_, V> {
        self.to_write(key, 0).expect("there are leaves")
    }

    /// The node of a level for a key, to write; `None` if the tree is not so high.
    fn to_write(&self, key: &[u8], level: u8) -> Option<Writing<'_, V>> {
        let probe = Probe::new(key);
        'again: loop {
            let mut at = self.root.load(Ordering::Acquire);
            let mut below = self.read(at).level.checked_sub(level)?;
            while below > 0 {
                let node = self.read(at);
                if node.is_past(probe) {
                    continue 'again;
                }
                if node.is_before(probe) {
                    at = node.right;
                } else {
                    at = node.child_at(node.child_place(probe));
                    below -= 1;
                }
            }
            loop {
                let node = self.write(at);
                if node.is_past(probe) || node.level != level {
                    continue 'again;
                }
                if !node.is_before(probe) {
                    return Some(node);
                }
                at = node.right;
            }
        }
    }

    /// Latches leaves to the right up to the first that is not empty, or to the last.
    fn first_to_the_right(&self, right: u32) -> Vec<Reading<'_, V>> {
        let mut leaves: Vec<Reading<'_, V>> = Vec::new();
        let mut at = right;
        while at != NONE && leaves.last().is_none_or(|leaf| leaf.len() == 0) {
            let leaf = self.read(at);
            at = leaf.right;
            leaves.push(leaf);
        }
        leaves
    }

    /// Parts a node in two and tells the level above.
    fn split(&self, mut node: Writing<'_, V>, newest: usize) {
        let number = self.fresh();
        let mut fresh = self.write(number);
        node.split(newest, &mut fresh, number);
        let (low, level) = (fresh.low_key().clone(), node.level);
        drop((fresh, node));
        self.tell_above(low, number, level + 1);
    }

    /// Enters a node into the level above it.
    fn tell_above(&self, low: Key, number: u32, level: u8) {
        loop {
            if let Some(mut above) = self.to_write(low.bytes(), level) {
                let (place, there) = above.find(Probe::new(low.bytes()));
                assert!(!there, "two nodes are not for the same keys");
                above.put_child(place, low, number);
                if above.is_over_full() {
                    self.split(above, place);
                }
                return;
            }
            if self.grow(&low, number, level) {
                return;
            }
        }
    }

    /// Puts a root above the root, unless another thread has.
    fn grow(&self, low: &Key, number: u32, level: u8) -> bool {
        let _growing = self.growing.lock().expect("no panic before");
        let old = self.root.load(Ordering::Acquire);
        if self.read(old).level >= level {
            return false;
        }
        let fresh = self.fresh();
        let mut root = self.write(fresh);
        root.become_root(level, old, low, number);
        drop(root);
        self.root.store(fresh, Ordering::Release);
        true
    }

    /// Puts the empty leaf for a key together with a neighbour under the same node.
    fn shrink(&self, key: &[u8]) {
        let Some(mut above) = self.to_write(key, 1) else { return };
        let place = above.child_place(Probe::new(key));
        let left = if place + 1 < above.len() { place } else { place.wrapping_sub(1) };
        if left >= above.len() {
            return;
        }
        let right_number = above.child_at(left + 1);
        let mut left_node = self.write(above.child_at(left));
        if left_node.right != right_number {
            return;
        }
        let mut right_node = self.write(right_number);
        if left_node.len().min(right_node.len()) > 0 || left_node.len() + right_node.len() > LEAF {
            return;
        }
        left_node.take_over(&mut right_node);
        above.take_child(left + 1);
        drop((right_node, left_node, above));
        self.room.lock().expect("no panic before").freed.push(right_number);
    }

    fn fresh(&self) -> u32 {
        self.room.lock().expect("no panic before").take()
    }
}

impl Room {
    fn take(&mut self) -> u32 {
        self.freed.pop().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dbdyno_model::random::stream;
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const W: TrxId = TrxId(1);

    fn put(tree: &IndexTree<u64>, key: &[u8], value: u64) -> Option<u64> {
        tree.edit_entry(key, W, |old, _| match old {
            Some(old) => (Edit::Keep, Some(std::mem::replace(old, value))),
            None => (Edit::Put(value), None),
        })
    }

    fn take(tree: &IndexTree<u64>, key: &[u8]) -> Option<u64> {
        tree.edit_entry(key, W, |old, _| match old {
            Some(old) => (Edit::Take, Some(*old)),
            None => (Edit::Keep, None),
        })
    }

    fn upwards(tree: &IndexTree<u64>, begin: &[u8], end: Option<&[u8]>) -> Vec<(Vec<u8>, u64)> {
        let mut found = Vec::new();
        let mut at = Some(Key::new(begin));
        while let Some(from) = at {
            at = tree.read_on(from.bytes(), end, |key, value, _| {
                found.push((key.to_vec(), *value));
                ControlFlow::Continue(())
            });
        }
        found
    }

    fn downwards(tree: &IndexTree<u64>, begin: &[u8], end: Option<&[u8]>) -> Vec<(Vec<u8>, u64)> {
        let mut found = Vec::new();
        let mut at = Some(end.map(Key::new));
        while let Some(bound) = at {
            let next = tree.read_back(begin, bound.as_ref().map(Key::bytes), |key, value, _| {
                found.push((key.to_vec(), *value));
                ControlFlow::Continue(())
            });
            at = next.map(Some);
        }
        found.reverse();
        found
    }

    fn key_of(number: u16, long: bool) -> Vec<u8> {
        let mut key = if long { vec![b'x'; 30] } else { Vec::new() };
        key.extend(number.to_be_bytes());
        key
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Against an ordered map: puts and takes in clusters, so that leaves fill and empty.
        #[test]
        fn a_tree_is_an_ordered_map(
            seed in any::<u64>(),
            long in any::<bool>(),
            bounds in vec((any::<u16>(), any::<u16>()), 8),
        ) {
            let (tree, mut map) = (IndexTree::default(), BTreeMap::new());
            let mut random = stream(&[seed]);
            for round in 0..12 {
                let base = random.next_below(60_000);
                let many = random.next_below(700);
                for step in 0..many {
                    let is_near = round % 3 == 0;
                    let number = if is_near { base + step } else { random.next_below(2_000) };
                    let key = key_of(number as u16, long);
                    if round % 4 == 3 {
                        prop_assert_eq!(take(&tree, &key), map.remove(&key));
                    } else {
                        prop_assert_eq!(put(&tree, &key, step), map.insert(key, step));
                    }
                }
            }
            let all: Vec<_> = map.clone().into_iter().collect();
            prop_assert_eq!(upwards(&tree, &[], None), all.clone());
            prop_assert_eq!(downwards(&tree, &[], None), all);
            for (a, b) in bounds {
                let (a, b) = (key_of(a.min(b), long), key_of(a.max(b), long));
                let range: Vec<_> =
                    map.range(a.clone()..b.clone()).map(|(k, v)| (k.clone(), *v)).collect();
                prop_assert_eq!(upwards(&tree, &a, Some(&b)), range.clone());
                prop_assert_eq!(downwards(&tree, &a, Some(&b)), range);
                let next = map.range(a.clone()..).next().map(|(key, _)| key.clone());
                let found = tree.seek(&a, |found| found.map(|(key, ..)| key.to_vec()));
                prop_assert_eq!(found, next);
                let last = map.range(..a.clone()).next_back().map(|(key, _)| key.clone());
                let found = tree.seek_back(Some(&a), |found| found.map(|(key, ..)| key.to_vec()));
                prop_assert_eq!(found, last);
                let above = map.range(a.clone()..).map(|(key, _)| key).find(|key| **key != a);
                let next = tree.edit_entry(&a, W, |_, next| (Edit::Keep, next.map(<[u8]>::to_vec)));
                prop_assert_eq!(next.as_ref(), above);
            }
        }
    }

    #[test]
    fn who_does_not_wait_sees_what_is_not_latched() {
        let tree: IndexTree<u64> = IndexTree::default();
        for number in 0..1_000_u64 {
            put(&tree, &number.to_be_bytes(), number);
        }
        let look = |number: u64| tree.try_get(&number.to_be_bytes(), |value| value.copied());
        assert_eq!((look(7), look(999), look(1_000)), (Some(Some(7)), Some(Some(999)), Some(None)));
        let seen = tree.change_value(&7_u64.to_be_bytes(), W, |_| (look(7), look(999)));
        assert_eq!(seen, Some((None, Some(Some(999)))), "the leaf of 7 is latched");
    }

    /// Four threads put, look up and take out keys of their own among those of the others; at last
    /// exactly what they left is there, and while they worked each found what was its own.
    #[test]
    fn threads_do_not_lose_each_others_keys() {
        let tree: IndexTree<u64> = IndexTree::default();
        let threads = 4_u64;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let tree = &tree;
                scope.spawn(move || {
                    let mut random = stream(&[9, thread]);
                    let mut mine = BTreeMap::new();
                    for step in 0..30_000 {
                        let number = random.next_below(3_000) * threads + thread;
                        let key = (number as u16).to_be_bytes();
                        match random.next_below(5) {
                            0 | 1 => assert_eq!(put(tree, &key, step), mine.insert(number, step)),
                            2 | 3 => assert_eq!(take(tree, &key), mine.remove(&number)),
                            _ => assert_eq!(tree.get(&key, |v| *v), mine.get(&number).copied()),
                        }
                        if step % 1_000 == 0 {
                            let all = upwards(tree, &[], None);
                            assert!(all.is_sorted());
                            assert!(downwards(tree, &[], None).is_sorted());
                        }
                    }
                    for (number, step) in mine {
                        assert_eq!(take(tree, &(number as u16).to_be_bytes()), Some(step));
                    }
                });
            }
        });
        assert!(upwards(&tree, &[], None).is_empty());
        let in_use = tree.room.lock().unwrap();
        let used = in_use.next as usize - in_use.freed.len();
        assert!(used < 10, "{used} nodes for nothing");
    }
}
