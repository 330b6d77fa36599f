//! Servers that are got, started, killed and stopped.

mod common;
mod servers;
mod topology;
