//! Loads as text, held against what was written down.

mod custom;
mod filing;
mod guide;
mod insert_benchmark;
mod loads;
mod tpcc;
