//! Upgrading in place: which paths there are, and what of them is done here.
//!
//! ```text
//!   MySQL        5.5 ─▶ 5.6 ─▶ 5.7 ─▶ 8.0 ─▶ 8.4 ─▶ 9.x     one step at a time, or within a series
//!   MariaDB      any ─▶ any newer
//!   PostgreSQL   only by pg_upgrade, which needs both releases' programs
//! ```
//!
//! Sources: MySQL 8.4 Reference Manual 3.2, "Upgrade Paths", and the same chapter of 5.6, 5.7 and
//! 8.0; MariaDB Knowledge Base, "Upgrading Between Major MariaDB Versions"; PostgreSQL manual,
//! "pg_upgrade".
//!
//! MySQL upgrades its system tables by itself from 8.0.16 on. Before that, and in MariaDB, a
//! program of the client does (`mysql_upgrade`, `mariadb-upgrade`), which runs the client, and the
//! trees of dbdyno do not have that. What they have is the SQL of the system tables: those that the
//! older release did not have are made with it, those that it had stay as they are, and the reader
//! is told. Tables of users are what is measured; their format is the server's own affair.

use dbdyno_model::{Product, split_version};

use crate::catalog::{at_least, compare_versions};
use crate::error::SandboxError;

/// MySQL's series in their order; each is reached from the one before. All of 9 count as one.
const MYSQL: [&str; 6] = ["5.5", "5.6", "5.7", "8.0", "8.4", "9"];

/// What a server leaves undone when it is started on the data of an older release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undone {
    /// Nothing.
    Nothing,
    /// Its system tables: it makes those that are new, and does not change the others.
    SystemTables,
}

/// Whether the makers support starting `to` on the data of `from`, and what that leaves undone.
/// Versions may lack their last parts.
///
/// # Errors
/// [`SandboxError::Unsuitable`] with the step that is to be taken first.
pub fn upgrade_path(product: Product, from: &str, to: &str) -> Result<Undone, SandboxError> {
    let (from, to) = (split_version(from).0, split_version(to).0);
    let refuse = |reason: String| {
        let name = product.name();
        let what = format!("upgrading {name} {from} in place to {to}");
        Err(SandboxError::Unsuitable { what, reason })
    };
    if product == Product::Postgres {
        return refuse(
            "that is done by pg_upgrade, which wants pg_dump, pg_dumpall, pg_restore and psql \
             beside it, and the packages that dbdyno unpacks do not have these; upgrade the \
             cluster yourself, start it and name it as postgres://USER@HOST:PORT/DB"
                .to_owned(),
        );
    }
    if compare_versions(from, to).is_gt() {
        return refuse("it is the newer one; servers do not go back".to_owned());
    }
    if product == Product::MariaDb {
        return Ok(if parts(from, 2) == parts(to, 2) {
            Undone::Nothing
        } else {
            Undone::SystemTables
        });
    }
    let (Some(old), Some(new)) = (place_of_series(from), place_of_series(to)) else {
        return refuse(format!("known are the steps {}", MYSQL.join(" → ")));
    };
    if new > old + 1 {
        let steps = MYSQL[old..=new].join(" → ");
        return refuse(format!(
            "MySQL supports one step at a time ({steps}), so {} comes first; load the tables with \
             {}, or upgrade a server of your own by these steps and name it by its URL",
            MYSQL[old + 1],
            MYSQL[new - 1],
        ));
    }
    Ok(if new == old || at_least(to, "8.0.16") || to == "8.0" {
        Undone::Nothing
    } else {
        Undone::SystemTables
    })
}

fn place_of_series(version: &str) -> Option<usize> {
    MYSQL.iter().position(|series| parts(version, series.split('.').count()) == **series)
}

/// The first parts of a version.
fn parts(version: &str, count: usize) -> String {
    version.split('.').take(count).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_the_makers_support_are_taken_and_no_others() {
        use Product::{MariaDb, MySql, Postgres};
        for (product, from, to, undone) in [
            (MySql, "5.6.24", "5.7.22", Undone::SystemTables),
            (MySql, "5.7", "8.0", Undone::Nothing),
            (MySql, "5.7.22@maven", "8.0.33", Undone::Nothing),
            (MySql, "5.7.22", "8.0.12", Undone::SystemTables),
            (MySql, "8.0.12", "8.0.33", Undone::Nothing),
            (MySql, "8.4.3", "9.7.4", Undone::Nothing),
            (MariaDb, "10.2", "11.8", Undone::SystemTables),
            (MariaDb, "10.11.5", "10.11.19", Undone::Nothing),
        ] {
            assert_eq!(upgrade_path(product, from, to).unwrap(), undone, "{from} → {to}");
        }
        for (product, from, to, word) in [
            (MySql, "8.0.33", "9.7.4", "so 8.4 comes first"),
            (MySql, "5.6", "8.0", "so 5.7 comes first"),
            (MySql, "8.0", "5.7", "do not go back"),
            (MySql, "7.9", "8.0", "known are the steps"),
            (MariaDb, "11.8", "10.11", "do not go back"),
            (Postgres, "15", "17", "pg_upgrade"),
        ] {
            let error = upgrade_path(product, from, to).unwrap_err().to_string();
            assert!(error.contains(word), "{from} → {to}: {error}");
        }
    }
}
