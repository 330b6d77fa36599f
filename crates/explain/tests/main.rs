//! What servers recorded, read and explained.

mod deadlocks;
mod memory;
mod recorded;
