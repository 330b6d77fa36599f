//! Whether the tables are what they must be, whatever was asked of them.

use dbdyno_model::Dialect;
use dbdyno_workload::Dataset;

use crate::connector::Connector;
use crate::error::LoadError;

/// Asks the invariants of a dataset, all of which must be 0. A server that loses or doubles what it
/// was told is not fast, it is wrong.
///
/// # Errors
/// [`LoadError::WrongAnswer`] with the first one that is not, or the server's refusal.
pub fn check_invariants(
    connector: &Connector,
    dialect: Dialect,
    dataset: &dyn Dataset,
) -> Result<(), LoadError> {
    let invariants = dataset.invariants(dialect);
    if invariants.is_empty() || matches!(connector, Connector::Mock(_)) {
        return Ok(());
    }
    let mut client = connector.connect_for_work()?;
    for (sql, meaning) in invariants {
        let rows = client.query(&sql).map_err(|error| LoadError::Wire(error, Some(sql)))?;
        match rows.first_value() {
            Some("0") => {}
            other => {
                let count = other.unwrap_or("NULL");
                return Err(LoadError::WrongAnswer(format!("{meaning}: {count}, right is 0")));
            }
        }
    }
    client.close();
    Ok(())
}
