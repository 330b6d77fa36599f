//! A profile by function, whatever it was read from.

use std::collections::BTreeMap;

/// What was sampled, by function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// Samples of a function itself.
    pub own: BTreeMap<String, f64>,
    /// Samples of a function and all that it called, by its caller; the outermost has none.
    pub by_caller: BTreeMap<(String, String), f64>,
    /// All samples.
    pub total: f64,
}
