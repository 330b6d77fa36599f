//! What stands in the catalog under a name: a line for people, and how a load is made of options.

use std::sync::Arc;

use crate::dataset::Dataset;
use crate::load::{Background, Content, Group, Mix, Trend, Unit};
use crate::spec::{Options, SpecError};
use crate::table::Tables;

/// A load of the catalog, without its tables.
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Its place in the table of results.
    pub group: Group,
    /// Reads its options, and makes its tables and statements.
    pub(super) make: fn(&mut Options, Tables) -> Result<Made, SpecError>,
}

/// What an entry makes of its options.
pub(super) struct Made {
    pub(super) dataset: Arc<dyn Dataset>,
    pub(super) content: Content,
    pub(super) trend: Trend,
    pub(super) unit: Unit,
    pub(super) background: Option<Background>,
}

impl Made {
    /// A mix that asks sysbench's tables and leaves their size as it is.
    pub(super) fn mix(mix: Mix, tables: Tables) -> Made {
        Made {
            dataset: Arc::new(tables),
            content: Content::Mix(mix),
            trend: Trend::Steady,
            unit: Unit::Statements,
            background: None,
        }
    }
}
