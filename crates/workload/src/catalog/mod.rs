//! The loads that come with dbdyno.
//!
//! | file        | loads                                                                      |
//! |-------------|----------------------------------------------------------------------------|
//! | [`micro`]   | Callaghan's microbenchmarks, under his names                               |
//! | [`oltp`]    | sysbench's OLTP mixes                                                      |
//! | [`mechanisms`]| one mechanism each: a join, a bulk insert; and what fits into no other file |
//! | [`tpcc`]    | TPC-C, see [`crate::tpcc`]                                                 |
//! | [`key_value`] | the steps of RocksDB's `db_bench`                                        |
//! | [`versioned`] | loads whose isolation can be judged, see [`crate::versioned`]            |
//!
//! A load is found by its name with options, see [`crate::spec`]. Facts about names, statements and
//! their order were read in `mdcallag/mytools` and in sysbench's documentation; the code was not.

pub(crate) mod built_in;
mod entry;
pub mod key_value;
pub mod mechanisms;
pub mod micro;
pub mod oltp;
pub mod tpcc;
pub mod versioned;

pub use built_in::entries;
pub use entry::LoadEntry;

use std::sync::Arc;

use dbdyno_model::Dialect;

use crate::custom::Custom;
use crate::dataset::Dataset;
use crate::insert_benchmark;
use crate::load::Load;
use crate::spec::{Spec, SpecError};
use crate::table::Tables;
use built_in::{BEFORE_WRITES, find};

/// The load that a spec names among those that come with dbdyno; see [`Catalog::resolve_load`].
///
/// A step of the Insert Benchmark comes with tables for one client.
///
/// # Errors
/// An unknown name or option, or a value that an option cannot have.
pub fn resolve_load(spec: &str, tables: Tables) -> Result<Load, SpecError> {
    Catalog::default().resolve_load(spec, tables)
}

/// The loads that come with dbdyno and those of some files.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    custom: Vec<Arc<Custom>>,
}

impl Catalog {
    /// Takes a custom load in; the same file twice is one load.
    ///
    /// # Errors
    /// A sentence: another file has a load of this name.
    pub fn add_custom(&mut self, custom: Custom) -> Result<(), String> {
        if let Some(known) = self.custom.iter().find(|known| known.name == custom.name) {
            if known.text == custom.text {
                return Ok(());
            }
            return Err(format!(
                "{} and {} both describe a load {:?}; give one of them another name",
                known.file, custom.file, custom.name
            ));
        }
        self.custom.push(Arc::new(custom));
        Ok(())
    }

    /// The custom loads, in the order in which they were added.
    pub fn custom_loads(&self) -> impl Iterator<Item = &Custom> {
        self.custom.iter().map(|custom| &**custom)
    }

    /// The custom load that a spec names, if it names one.
    pub fn custom_of(&self, spec: &str) -> Option<&Custom> {
        let name = spec.split_once('?').map_or(spec, |(name, _)| name);
        let plain = name.strip_suffix(BEFORE_WRITES).unwrap_or(name);
        self.custom_loads().find(|custom| custom.name == plain)
    }

    /// The load that a spec names. `tables` are those that sysbench's loads ask; loads with tables
    /// of their own take the seed from it.
    ///
    /// `NAME.pre` is the load NAME; so is Callaghan's label `NAME_range=100`, where the range is
    /// only a label.
    ///
    /// # Errors
    /// An unknown name or option, or a value that an option cannot have.
    pub fn resolve_load(&self, spec: &str, tables: Tables) -> Result<Load, SpecError> {
        if let Some(step) = insert_benchmark::BenchmarkStep::find(spec) {
            let (step, sizes) = step?;
            return Ok(step.load(&sizes, 1, tables.seed));
        }
        let parsed = Spec::parse(spec)?;
        let plain = parsed.name.strip_suffix(BEFORE_WRITES).unwrap_or(&parsed.name);
        let mut options = parsed.options();
        if let Some(custom) = self.custom_loads().find(|custom| custom.name == plain) {
            let load = custom.load(spec, &mut options, tables)?;
            options.finish()?;
            return Ok(load);
        }
        let entries = entries();
        let entry =
            find(&entries, plain).ok_or_else(|| SpecError::UnknownLoad(parsed.name.clone()))?;
        let made = (entry.make)(&mut options, tables)?;
        let known = options.requested_names();
        options.finish()?;
        Ok(Load {
            name: spec.to_owned(),
            about: entry.about.to_owned(),
            group: entry.group,
            trend: made.trend,
            unit: made.unit,
            dataset: made.dataset,
            content: made.content,
            background: made.background,
            options: known,
            file: None,
        })
    }

    /// The tables of several loads, each set once.
    ///
    /// # Errors
    /// A spec that names no load; [`SpecError::Clash`] for two loads whose tables have the same
    /// name but are not the same.
    pub fn datasets_of<'a>(
        &self,
        specs: impl IntoIterator<Item = &'a str>,
        tables: Tables,
    ) -> Result<Vec<Arc<dyn Dataset>>, SpecError> {
        let mut found: Vec<(String, Arc<dyn Dataset>)> = Vec::new();
        for spec in specs {
            let dataset = self.resolve_load(spec, tables)?.dataset;
            if found.iter().any(|(_, known)| known.key() == dataset.key()) {
                continue;
            }
            let names = names(&*dataset);
            for (other, known) in &found {
                if let Some(name) = self::names(&**known).into_iter().find(|n| names.contains(n)) {
                    let (other, spec) = (other.clone(), spec.to_owned());
                    return Err(SpecError::Clash(other, spec, name));
                }
            }
            found.push((spec.to_owned(), dataset));
        }
        Ok(found.into_iter().map(|(_, dataset)| dataset).collect())
    }
}

/// Tables have the same names in all dialects; servers differ in whether case matters.
fn names(dataset: &dyn Dataset) -> Vec<String> {
    let tables = dataset.tables(Dialect::Sqlite);
    tables.into_iter().map(|table| table.name.to_ascii_lowercase()).collect()
}
