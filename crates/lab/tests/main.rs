//! Whole runs on models, and what every load does in two places that are each other's oracle.

mod loads;
mod models;
