//! A load by its name, or what was probably meant.

use dbdyno_workload::suggest::did_you_mean;
use dbdyno_workload::{Catalog, Load, SUITES, SpecError, Tables, catalog, insert_benchmark};

/// Any tables will do for telling whether a load can be resolved, and for showing it.
const SOME_TABLES: Tables = Tables { count: 1, rows: 1_000_000, seed: 1 };

/// The load with this label.
pub(crate) fn resolve_load(catalog: &Catalog, label: &str) -> Result<Load, String> {
    match catalog.resolve_load(label, SOME_TABLES) {
        Ok(load) => Ok(load),
        Err(SpecError::UnknownLoad(name)) => {
            let entries = catalog::entries();
            let loads = entries.iter().map(|entry| entry.name);
            let suites = SUITES.iter().map(|suite| suite.name);
            let custom = catalog.custom_loads().map(|custom| custom.name.as_str());
            let suites = suites.chain([insert_benchmark::NAME]);
            let near = did_you_mean(&name, loads.chain(suites).chain(custom));
            Err(format!("unknown load{near}; `dbdyno loads` names all"))
        }
        Err(error) => Err(error.to_string()),
    }
}
