//! Tables and indexes, made and taken away as a statement says it.

use dbdyno_engine::row::ColumnSpec;
use dbdyno_engine::table::{IndexSpec, TableSpec, Uniqueness};
use dbdyno_engine::value::Value;
use dbdyno_engine::{Engine, EngineError};

use crate::error::{NameFault, Result};
use crate::parse::{AddKeys, ColumnDefinition, CreateTable, IndexDefinition, Statement};
use crate::run;

/// Makes and takes away tables and indexes.
pub(crate) fn execute_definition(engine: &Engine, statement: &Statement) -> Result<()> {
    match statement {
        Statement::CreateTable(create) => match engine.create_table(spec_of(create)?) {
            Err(EngineError::Exists(_)) if create.unless_there => {}
            made => drop(made?),
        },
        Statement::AddKeys(AddKeys { table: name, primary, indexes }) => {
            let table = engine.table(name)?;
            let primary = places(primary, name, table.columns())?;
            let there = table.indexes().map(|index| index.spec.name.clone()).collect();
            let indexes = indexes_of(indexes, name, table.columns(), there)?;
            if !primary.is_empty() {
                engine.add_primary_key(name, &primary)?;
            }
            for index in indexes {
                engine.create_index(name, index)?;
            }
        }
        Statement::DropTable { name, if_there } => match engine.drop_table(name) {
            Err(EngineError::NoTable(_)) if *if_there => {}
            Err(error @ EngineError::NoTable(_)) => {
                return Err(NameFault::NoTableToDrop.with_sentence(error.to_string()));
            }
            done => done?,
        },
        Statement::Truncate(name) => engine.truncate_table(name)?,
        _ => unreachable!("statements that define nothing are done elsewhere"),
    }
    Ok(())
}

fn spec_of(create: &CreateTable) -> Result<TableSpec> {
    let columns = create.columns.iter().map(column_of).collect::<Result<Vec<_>>>()?;
    check_names(&create.name, &columns)?;
    let primary = places(&create.primary, &create.name, &columns)?;
    Ok(TableSpec {
        name: create.name.clone(),
        primary,
        auto_increment: create.columns.iter().position(|column| column.counts_up),
        indexes: indexes_of(&create.indexes, &create.name, &columns, Vec::new())?,
        columns,
    })
}

/// Columns are called differently, in more than capitals.
fn check_names(table: &str, columns: &[ColumnSpec]) -> Result<()> {
    for (place, column) in columns.iter().enumerate() {
        if columns[..place].iter().any(|other| other.name.eq_ignore_ascii_case(&column.name)) {
            let text = format!("{table} has two columns {}", column.name);
            return Err(NameFault::ColumnTwice.with_sentence(text));
        }
    }
    Ok(())
}

fn column_of(column: &ColumnDefinition) -> Result<ColumnSpec> {
    let (name, kind, nullable) = (column.name.clone(), column.kind, column.nullable);
    let default = match &column.default {
        Some(default) => run::evaluate_constant(default, kind, &name)?,
        None => Value::Null,
    };
    Ok(ColumnSpec { name, kind, nullable, default })
}

/// Indexes beside those that are `there`. One without a name is called as its first column, with a
/// number where another is called so, as in MySQL.
fn indexes_of(
    indexes: &[IndexDefinition],
    table: &str,
    columns: &[ColumnSpec],
    mut there: Vec<String>,
) -> Result<Vec<IndexSpec>> {
    let mut specs = Vec::with_capacity(indexes.len());
    for IndexDefinition { name, columns: key, unique } in indexes {
        let name = name.clone().unwrap_or_else(|| free_name(&key[0], &there));
        if there.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
            return Err(NameFault::KeyTwice.with_sentence(format!("{table} has two keys {name}")));
        }
        there.push(name.clone());
        let uniqueness = if *unique { Uniqueness::Unique } else { Uniqueness::Repeated };
        specs.push(IndexSpec { name, columns: places(key, table, columns)?, uniqueness });
    }
    Ok(specs)
}

fn free_name(column: &str, there: &[String]) -> String {
    let numbered = (2..).map(|number| format!("{column}_{number}"));
    std::iter::once(column.to_owned())
        .chain(numbered)
        .find(|name| !there.iter().any(|other| other.eq_ignore_ascii_case(name)))
        .unwrap_or_default()
}

fn places(names: &[String], table: &str, columns: &[ColumnSpec]) -> Result<Vec<usize>> {
    names
        .iter()
        .map(|name| {
            let found = columns.iter().position(|column| column.name.eq_ignore_ascii_case(name));
            found.ok_or_else(|| {
                NameFault::NoKeyColumn.with_sentence(format!("{table} has no column {name}"))
            })
        })
        .collect()
}
