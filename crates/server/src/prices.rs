//! The prices by which an optimizer counts work: constants that no session has for itself.
//!
//! ```text
//!   MySQL 5.7, later      mysql.server_cost, mysql.engine_cost   FLUSH OPTIMIZER_COSTS
//!   MariaDB 11.0, later   information_schema.OPTIMIZER_COSTS     SET GLOBAL innodb.…, FLUSH TABLES
//!   PostgreSQL            seq_page_cost, cpu_tuple_cost, …       settings of a session, as others
//! ```
//!
//! They are facts, `cost.…`, and may be lent: test is given those of base, new sessions plan with
//! them, and its own come back, the time of their last change included. A row that one server alone
//! has is compared and not lent.

use dbdyno_model::{Dialect, Environment, Literal, plain_number};
use dbdyno_wire::{Client, WireError};

use crate::family::{ReadPrices, ServerRelease, Ways, since_release, way_for};
use crate::optimizer_statistics::{LentStatistics, loan_refusal};

const COST: &str = "cost.";
const SERVER: &str = "mysql.server_cost";
const ENGINE: &str = "mysql.engine_cost";
/// Of the engine in which tables are.
const INNODB: &str = "innodb.";

/// What MySQL 5.7 counts with where its tables say NULL; later releases tell it there. MySQL 5.7
/// Reference Manual, 8.9.5, The Optimizer Cost Model.
const DEFAULTS_OF_5_7: [(&str, &str); 8] = [
    ("disk_temptable_create_cost", "40"),
    ("disk_temptable_row_cost", "1"),
    ("key_compare_cost", "0.1"),
    ("memory_temptable_create_cost", "2"),
    ("memory_temptable_row_cost", "0.2"),
    ("row_evaluate_cost", "0.2"),
    ("io_block_read_cost", "1"),
    ("memory_block_read_cost", "1"),
];

pub(crate) static MYSQL_PRICES: Ways<ReadPrices> = &[since_release(5_07_00, mysql)];
pub(crate) static MARIADB_PRICES: Ways<ReadPrices> = &[since_release(11_00_00, mariadb)];

/// Notes the prices; nothing where a server has none of its own, or does not tell them.
pub fn note_prices(client: &mut dyn Client, server: ServerRelease, facts: &mut Environment) {
    let found = way_for(server.family().prices, server).and_then(|read| read(client).ok());
    for (name, value) in found.unwrap_or_default() {
        facts.set(format!("{COST}{name}"), value);
    }
}

/// `mysql.engine_cost default.0.io_block_read_cost` and the price.
fn mysql(client: &mut dyn Client) -> Result<Vec<(String, String)>, WireError> {
    let mut found = Vec::new();
    for (table, place) in [(SERVER, "''"), (ENGINE, "concat(engine_name, '.', device_type, '.')")] {
        let question = |value: &str| format!("SELECT {place}, cost_name, {value} FROM {table}");
        let rows = match client.query(&question("coalesce(cost_value, default_value)")) {
            Ok(rows) => rows,
            Err(error) if error.is_fatal() => return Err(error),
            Err(_) => client.query(&question("cost_value"))?,
        };
        for row in rows.rows {
            let [Some(place), Some(name), value] = row.as_slice() else { continue };
            let known = DEFAULTS_OF_5_7.iter().find(|(known, _)| known == name);
            let default = || known.map(|(_, value)| (*value).to_owned());
            if let Some(value) = value.clone().or_else(default) {
                found.push((format!("{table} {place}{name}"), value));
            }
        }
    }
    Ok(found)
}

/// `innodb.optimizer_disk_read_cost` and the price, in microseconds.
fn mariadb(client: &mut dyn Client) -> Result<Vec<(String, String)>, WireError> {
    let rows =
        client.query("SELECT * FROM information_schema.OPTIMIZER_COSTS WHERE engine = 'InnoDB'")?;
    let Some(row) = rows.rows.first() else { return Ok(Vec::new()) };
    let named = rows.columns.iter().zip(row).filter_map(|(name, value)| {
        let name = name.to_lowercase();
        name.starts_with("optimizer_").then(|| Some((format!("{INNODB}{name}"), value.clone()?)))?
    });
    Ok(named.collect())
}

/// A price that is not the same in both arms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptimizerPrice {
    name: String,
    base: String,
    test: String,
}

impl OptimizerPrice {
    /// As it is told: `mysql.server_cost row_evaluate_cost=0.2`.
    pub fn as_assignment(&self) -> String {
        let global = if self.name.starts_with(INNODB) { "GLOBAL " } else { "" };
        format!("{global}{}={}", self.name, self.base)
    }
}

/// The prices that both arms have and that differ, as numbers.
pub fn differing_prices(base: &Environment, test: &Environment) -> Vec<OptimizerPrice> {
    test.facts
        .iter()
        .filter_map(|(fact, of_test)| {
            let name = fact.strip_prefix(COST)?;
            let of_base = base.facts.get(fact)?;
            let (a, b) = (plain_number(of_base)?, plain_number(of_test)?);
            let (base, test) = (of_base.clone(), of_test.clone());
            (a != b && is_name(name)).then(|| OptimizerPrice { name: name.to_owned(), base, test })
        })
        .collect()
}

/// Whether a price is called as servers call theirs: its name stands in statements.
fn is_name(name: &str) -> bool {
    let rest = [INNODB, &format!("{SERVER} "), &format!("{ENGINE} ")]
        .iter()
        .find_map(|head| name.strip_prefix(&**head).map(str::to_owned));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
    })
}

/// Gives test, of which `client` is a session, these prices of base.
///
/// # Errors
/// Why that cannot be done: a sentence.
pub fn lend_prices(
    mut client: Box<dyn Client>,
    prices: &[&OptimizerPrice],
) -> Result<LentStatistics, String> {
    let mut own = Vec::new();
    for price in prices {
        own.push(match price.name.strip_prefix(INNODB) {
            Some(_) => global(price, &price.test),
            None => row(&mut *client, price).map_err(loan_refusal)?,
        });
    }
    let is_mariadb = prices.iter().any(|price| price.name.starts_with(INNODB));
    let lent = prices.iter().map(|price| {
        if price.name.starts_with(INNODB) {
            global(price, &price.base)
        } else {
            updated(price, &format!("cost_value = {}", price.base))
        }
    });
    let framed = |statements: Vec<String>| {
        let (first, last) = if is_mariadb {
            // What is opened already has the prices that it was opened with.
            (None, "FLUSH LOCAL TABLES")
        } else {
            (Some("SET sql_log_bin=0".to_owned()), "FLUSH LOCAL OPTIMIZER_COSTS")
        };
        first.into_iter().chain(statements).chain([last.to_owned()]).collect::<Vec<_>>()
    };
    let lent = framed(lent.collect());
    LentStatistics::carry_out(client, &lent, framed(own))
}

fn global(price: &OptimizerPrice, value: &str) -> String {
    format!("SET GLOBAL {}={value}", price.name)
}

/// What gives test its own row back as it is.
fn row(client: &mut dyn Client, price: &OptimizerPrice) -> Result<String, WireError> {
    let (table, place) = place(price);
    let row =
        client.query(&format!("SELECT cost_value, last_update FROM {table} WHERE {place}"))?;
    let row = row.rows.into_iter().next().unwrap_or_default();
    let value = |at: usize| row.get(at).cloned().flatten();
    let cost = value(0).and_then(|cost| plain_number(&cost));
    let cost = cost.map_or_else(|| "NULL".to_owned(), |cost| cost.to_string());
    let changed = value(1).map_or(String::new(), |time| {
        format!(", last_update = {}", Literal::new(&time, Dialect::Mysql))
    });
    Ok(updated(price, &format!("cost_value = {cost}{changed}")))
}

fn updated(price: &OptimizerPrice, set: &str) -> String {
    let (table, place) = place(price);
    format!("UPDATE {table} SET {set} WHERE {place}")
}

/// Table and row of `mysql.engine_cost default.0.io_block_read_cost`.
fn place(price: &OptimizerPrice) -> (&str, String) {
    let (table, name) = price.name.split_once(' ').unwrap_or((SERVER, &price.name));
    let parts: Vec<&str> = name.rsplitn(3, '.').collect();
    let place = match parts.as_slice() {
        [name, device, engine] => {
            format!(
                "engine_name = '{engine}' AND device_type = '{device}' AND cost_name = '{name}'"
            )
        }
        _ => format!("cost_name = '{name}'"),
    };
    (table, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(facts: &[(&str, &str)]) -> Environment {
        let mut environment = Environment::default();
        facts.iter().for_each(|(name, value)| environment.set(*name, *value));
        environment
    }

    /// MySQL 5.7.22 and 8.0.33: of the two of a block in memory only the former is not told.
    #[test]
    fn prices_that_differ_are_told_with_their_rows() {
        let block = "cost.mysql.engine_cost default.0.memory_block_read_cost";
        let base = environment(&[
            (block, "1"),
            ("cost.mysql.server_cost key_compare_cost", "0.1"),
            ("cost.mysql.server_cost gone_cost", "0.1"),
            ("variable.random_page_cost", "4"),
        ]);
        let test = environment(&[
            (block, "0.25"),
            ("cost.mysql.server_cost key_compare_cost", "0.10"),
            ("cost.mysql.server_cost new_cost", "0.1"),
            ("variable.random_page_cost", "2"),
        ]);
        let found = differing_prices(&base, &test);
        let [one] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!(one.as_assignment(), "mysql.engine_cost default.0.memory_block_read_cost=1");
        let (table, place) = place(one);
        assert_eq!(table, "mysql.engine_cost");
        assert_eq!(
            place,
            "engine_name = 'default' AND device_type = '0' AND cost_name = 'memory_block_read_cost'"
        );
    }

    #[test]
    fn names_that_are_more_than_names_are_no_prices() {
        for name in ["innodb.x=1, sql_log_bin", "mysql.server_cost a' OR '1", "other.x", "innodb."]
        {
            let fact = format!("{COST}{name}");
            let found =
                differing_prices(&environment(&[(&fact, "1")]), &environment(&[(&fact, "2")]));
            assert_eq!(found, [], "{name}");
        }
    }

    #[test]
    fn prices_of_mariadb_are_those_of_an_engine() {
        let fact = "cost.innodb.optimizer_row_lookup_cost";
        let found =
            differing_prices(&environment(&[(fact, "0.765970")]), &environment(&[(fact, "0.1")]));
        assert_eq!(found[0].as_assignment(), "GLOBAL innodb.optimizer_row_lookup_cost=0.765970");
        assert_eq!(global(&found[0], "1"), "SET GLOBAL innodb.optimizer_row_lookup_cost=1");
    }
}
