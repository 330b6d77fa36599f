//! A node: a range of keys, what belongs to them, and how one is found.

use crate::ids::TrxId;
use crate::key::{Key, head};

/// Most entries of a leaf.
pub const LEAF: usize = 128;
/// Most children of a node above the leaves.
pub const INNER: usize = 1024;
/// No node.
pub const NONE: u32 = u32::MAX;

/// What a latch protects.
pub struct Node<V> {
    /// 0 for leaves.
    pub level: u8,
    /// It was taken over by its left neighbour and is for no keys.
    pub dead: bool,
    /// The least key that it is for.
    pub low: Key,
    /// The least key that it is not for any more; `None` on the right edge.
    pub high: Option<Key>,
    /// The node to the right.
    pub right: u32,
    /// The greatest of the writers that touched the leaf.
    pub stamp: TrxId,
    heads: Vec<u64>,
    keys: Vec<Key>,
    /// Of a leaf: what belongs to each key.
    values: Vec<V>,
    /// Of others: the node for keys from this one on. The first key is `low`.
    children: Vec<u32>,
}

impl<V> Default for Node<V> {
    fn default() -> Node<V> {
        Node {
            level: 0,
            dead: true,
            low: Key::default(),
            high: None,
            right: NONE,
            stamp: TrxId::NOBODY,
            heads: Vec::new(),
            keys: Vec::new(),
            values: Vec::new(),
            children: Vec::new(),
        }
    }
}

impl<V> Node<V> {
    /// The number of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are more keys than a node should have.
    pub fn is_over_full(&self) -> bool {
        self.len() > if self.level == 0 { LEAF } else { INNER }
    }

    /// Whether a key lies to the left of what it is for: the way here is out of date.
    #[inline]
    pub fn is_past(&self, key: &[u8]) -> bool {
        self.dead || key < self.low.bytes()
    }

    /// Whether a key lies to the right.
    #[inline]
    pub fn is_before(&self, key: &[u8]) -> bool {
        self.high.as_ref().is_some_and(|high| high.bytes() <= key)
    }

    /// The place of the first key that is not below this one.
    #[inline]
    pub fn place(&self, key: &[u8]) -> usize {
        let first = head(key);
        let begin = self.heads.partition_point(|&head| head < first);
        if self.heads.get(begin) != Some(&first) {
            return begin;
        }
        let alike = self.heads[begin..].partition_point(|&head| head == first);
        begin + self.keys[begin..begin + alike].partition_point(|known| known.bytes() < key)
    }

    /// The place of a key, and whether it is there.
    #[inline]
    pub fn find(&self, key: &[u8]) -> (usize, bool) {
        let place = self.place(key);
        (place, self.keys.get(place).is_some_and(|known| known.bytes() == key))
    }

    /// The place of the child for a key.
    #[inline]
    pub fn child_place(&self, key: &[u8]) -> usize {
        let (place, there) = self.find(key);
        if there { place } else { place.saturating_sub(1) }
    }

    #[inline]
    pub fn child(&self, place: usize) -> u32 {
        self.children[place]
    }

    #[inline]
    pub fn key(&self, place: usize) -> &Key {
        &self.keys[place]
    }

    #[inline]
    pub fn value(&self, place: usize) -> &V {
        &self.values[place]
    }

    #[inline]
    pub fn value_mut(&mut self, place: usize) -> &mut V {
        &mut self.values[place]
    }

    pub fn put(&mut self, place: usize, key: Key, value: V) {
        self.heads.insert(place, head(key.bytes()));
        self.keys.insert(place, key);
        self.values.insert(place, value);
    }

    pub fn put_child(&mut self, place: usize, key: Key, child: u32) {
        self.heads.insert(place, head(key.bytes()));
        self.keys.insert(place, key);
        self.children.insert(place, child);
    }

    pub fn take(&mut self, place: usize) -> V {
        self.heads.remove(place);
        self.keys.remove(place);
        self.values.remove(place)
    }

    pub fn take_child(&mut self, place: usize) {
        self.heads.remove(place);
        self.keys.remove(place);
        self.children.remove(place);
    }

    /// Gives the right part of its keys to a fresh node with this number. Where the last key is
    /// the newest, keys come in order: then the left part stays nearly full.
    pub fn split(&mut self, newest: usize, fresh: &mut Node<V>, number: u32) {
        let length = self.len();
        let at = if newest + 1 == length { length - length / 16 - 1 } else { length / 2 };
        fresh.level = self.level;
        fresh.dead = false;
        fresh.stamp = self.stamp;
        fresh.right = self.right;
        fresh.heads = self.heads.split_off(at);
        fresh.keys = self.keys.split_off(at);
        fresh.values = self.values.split_off(at.min(self.values.len()));
        fresh.children = self.children.split_off(at.min(self.children.len()));
        fresh.low = fresh.keys[0].clone();
        fresh.high = self.high.replace(fresh.low.clone());
        self.right = number;
    }

    /// Takes over all of its right neighbour, which is dead then.
    pub fn take_over(&mut self, neighbour: &mut Node<V>) {
        self.heads.append(&mut neighbour.heads);
        self.keys.append(&mut neighbour.keys);
        self.values.append(&mut neighbour.values);
        self.high = neighbour.high.take();
        self.right = neighbour.right;
        self.stamp = self.stamp.max(neighbour.stamp);
        *neighbour = Node::default();
    }

    /// Bytes that it holds on the heap, without those of its values.
    pub fn heap_bytes(&self) -> usize {
        self.heads.capacity() * 8
            + self.keys.capacity() * size_of::<Key>()
            + self.values.capacity() * size_of::<V>()
            + self.children.capacity() * 4
            + self.keys.iter().map(Key::heap_bytes).sum::<usize>()
    }
}
