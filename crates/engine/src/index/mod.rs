//! Keys in order: a tree whose nodes may be split while others are on their way through it.
//!
//! ```text
//!                    ┌─ root ──────────────┐
//!                    │ ·  k4096  k9000     │                        level 2
//!                    └─┼────┼──────┼───────┘
//!            ┌─────────▼┐  ┌▼────────┐  ┌▼─────────┐
//!            │ · k128 … ├─►│ k4096 … ├─►│ k9000 …  │                level 1
//!            └─┼───┼────┘  └─────────┘  └──────────┘
//!         ┌────▼┐ ┌▼────┐ ┌─────┐ ┌─────┐
//!         │leaf ├►│leaf ├►│ new ├►│leaf ├► …                        level 0
//!         └─────┘ └─────┘ └─────┘ └─────┘
//!          each: [low, high), heads, keys, values, the node to the right
//! ```
//!
//! A node knows the range of keys that it is for and the node to its right. A search that came from
//! above a moment before a split finds its key not below `high` any more and goes to the right; so
//! a split latches the leaf first and tells the level above afterwards, and none ever holds the
//! latch of one level while it waits for another (Lehman and Yao, "Efficient locking for concurrent
//! operations on B-trees", TODS 6(4), 1981). An empty leaf takes over the range of its right
//! neighbour, or is taken over; nodes are named by numbers and never freed, and a number that was
//! given to other keys in the meantime shows by `low`: begin again.
//!
//! Latches are taken downwards and to the right, never the other way. What the caller does under a
//! latch must not wait: that is why locks are only tried there. `heads` are the first eight bytes
//! of the keys as numbers, side by side, so that a search looks into one or two cache lines before
//! it looks at a key.

mod arena;
mod node;
mod tree;

pub use tree::{Edit, IndexTree, TreeEntry};
