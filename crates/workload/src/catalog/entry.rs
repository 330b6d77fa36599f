//! What stands in the catalog under a name: a line for people, and how a load is made of options.

use std::sync::Arc;

use crate::dataset::Dataset;
use crate::load::{BackgroundMix, Content, LoadGroup, Mix, Trend, Unit};
use crate::spec::{SpecError, SpecOptions};
use crate::table::Tables;

/// A load of the catalog, without its tables.
pub struct LoadEntry {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its place in the table of results.
    pub group: LoadGroup,
    /// Reads its options, and makes its tables and statements.
    pub(super) make: fn(&mut SpecOptions, Tables) -> Result<LoadParts, SpecError>,
}

/// What an entry makes of its options.
pub(super) struct LoadParts {
    pub(super) dataset: Arc<dyn Dataset>,
    pub(super) content: Content,
    pub(super) trend: Trend,
    pub(super) unit: Unit,
    pub(super) background: Option<BackgroundMix>,
}

impl LoadParts {
    /// A mix that asks sysbench's tables and leaves their size as it is.
    pub(super) fn from_mix(mix: Mix, tables: Tables) -> LoadParts {
        LoadParts {
            dataset: Arc::new(tables),
            content: Content::Mix(mix),
            trend: Trend::Steady,
            unit: Unit::Statements,
            background: None,
        }
    }
}
