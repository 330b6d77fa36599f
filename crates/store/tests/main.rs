//! Files that are written, read back, upgraded and killed.

mod common;
mod counted;
mod files;
mod killed;
mod names;
mod round_trip;
mod seal;
