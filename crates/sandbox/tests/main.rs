//! Servers that are got, started, killed and stopped.

mod common;
mod hostile;
mod servers;
mod topology;
