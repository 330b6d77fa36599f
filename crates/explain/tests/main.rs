//! What servers recorded, read and explained.

mod deadlocks;
mod literals;
mod memory;
mod recorded;
