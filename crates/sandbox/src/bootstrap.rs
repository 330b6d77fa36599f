//! What a data directory is initialised with, as text.

use std::path::PathBuf;

use dbdyno_model::{Product, Secret};
use dbdyno_wire::WireError;
use dbdyno_wire::mysql::native_password_hash;
use dbdyno_wire::postgres::scram_verifier;

use crate::catalog::at_least;
use crate::error::SandboxError;
use crate::release::Release;

/// The account that the endpoints name.
pub(crate) const USER: &str = "dbdyno";
/// The database that the endpoints name.
pub(crate) const DATABASE: &str = "dbdyno";
/// Its collation in MySQL and MariaDB, until a server that prefers another one is started on it.
pub(crate) const COLLATION: &str = "latin1_swedish_ci";

/// Scripts of the release that make the system tables, in their order. MariaDB has them all;
/// MySQL 5.5 and 5.6 the first and the third, later ones none.
const SCRIPTS: [&str; 4] =
    ["system_tables", "performance_tables", "system_tables_data", "sys_schema"];

/// Bytes of the largest of them many times over.
const SCRIPT_BYTES: u64 = 64 << 20;

/// Whether this server makes its system tables itself (`--initialize-insecure`), which MySQL has
/// done since 5.7.6.
pub(crate) fn initialises_itself(product: Product, version: &str) -> bool {
    product == Product::MySql && at_least(version, "5.7.6")
}

/// The SQL that makes an empty directory a data directory, read by `--bootstrap` line by line: the
/// release's own scripts, then our account and database.
///
/// The scripts make accounts without a password; all are deleted. What is root on the unix socket,
/// which nobody else reaches, is root over TCP, too, where the server resolves names: 127.0.0.1 is
/// `localhost` then.
pub(crate) fn bootstrap_sql(release: &Release, password: &str) -> Result<String, SandboxError> {
    let mut sql = scripts(&SCRIPTS, release)?;
    let modern = release.product == Product::MariaDb && at_least(&release.version, "10.4");
    sql.push_str(&if modern { accounts_in_json(password) } else { accounts_in_table(password) });
    sql.push_str(&format!(
        "CREATE DATABASE {DATABASE} CHARACTER SET latin1 COLLATE {COLLATION};\n"
    ));
    Ok(sql)
}

/// The SQL that makes those system tables which an older release did not have: the first part of
/// what `mysql_upgrade` does. The second, columns that were added to older ones, is in that program
/// and in no file.
pub(crate) fn upgrade_sql(release: &Release) -> Result<String, SandboxError> {
    scripts(&SCRIPTS[..2], release)
}

fn scripts(wanted: &[&str], release: &Release) -> Result<String, SandboxError> {
    let share = release.layout.share.as_ref().map(|share| release.dir.join(share));
    let share = share.unwrap_or_else(|| release.dir.clone());
    let mut sql = "USE mysql;\nSET @auth_root_socket=NULL;\n".to_owned();
    for script in wanted.iter().copied() {
        let names = ["mariadb", "mysql"].map(|name| share.join(format!("{name}_{script}.sql")));
        let path = match names.iter().find(|path| path.is_file()) {
            Some(path) => path,
            None if script == SCRIPTS[0] => &names[1],
            None => continue,
        };
        let bytes = release.read(path, SCRIPT_BYTES)?;
        sql.push_str(&String::from_utf8_lossy(&bytes));
        sql.push('\n');
    }
    Ok(sql)
}

/// MariaDB from 10.4 on keeps accounts in `global_priv`.
fn accounts_in_json(password: &str) -> String {
    let mut sql = "DELETE FROM mysql.global_priv WHERE User='' OR User='root';\n\
         DELETE FROM mysql.proxies_priv;\n"
        .to_owned();
    for host in ["127.0.0.1", "localhost"] {
        sql.push_str(&format!(
            "INSERT INTO mysql.global_priv VALUES ('{host}','{USER}',JSON_OBJECT(\
             'access',18446744073709551615,'plugin','mysql_native_password',\
             'authentication_string',PASSWORD('{password}')));\n"
        ));
    }
    sql
}

/// Before, the columns of `user` differ from release to release, and there are no statements for
/// accounts while bootstrapping. So the accounts that the scripts make for root on 127.0.0.1 and
/// ::1, which have all rights, become ours.
fn accounts_in_table(password: &str) -> String {
    let ours = format!("User='{USER}', Password=PASSWORD('{password}')");
    format!(
        "DELETE FROM mysql.user WHERE User<>'root' OR Host NOT IN ('127.0.0.1','::1');\n\
         UPDATE mysql.user SET {ours} WHERE Host='127.0.0.1';\n\
         UPDATE mysql.user SET {ours}, Host='localhost' WHERE Host='::1';\n\
         DELETE FROM mysql.proxies_priv;\n\
         DELETE FROM mysql.db;\n"
    )
}

/// What a server that has initialised itself is told by root over its socket: our account, and the
/// database. The account is proved by the release's default method.
///
/// It is one account for the socket and for TCP: what `caching_sha2_password` remembers of an
/// account that has logged in over the socket then lets it in over TCP by a proof alone, and the
/// password is never told there.
pub(crate) fn mysql_sql(password: &str) -> Vec<String> {
    vec![
        format!("CREATE USER '{USER}'@'%' IDENTIFIED BY '{password}'"),
        format!("GRANT ALL ON *.* TO '{USER}'@'%' WITH GRANT OPTION"),
        format!("CREATE DATABASE {DATABASE} CHARACTER SET latin1 COLLATE {COLLATION}"),
        // Whoever tells all this is root, and has told enough.
        "DROP USER 'root'@'localhost'".to_owned(),
    ]
}

/// What takes root away where an earlier dbdyno has left it, without a password. The server may say
/// that there is none.
pub(crate) const WITHOUT_ROOT: [&str; 2] =
    ["SET SESSION sql_log_bin=0", "DROP USER 'root'@'localhost'"];

/// Places from which our account may come; which of them a server has depends on how, and by which
/// dbdyno, its data directory was made.
const HOSTS: [&str; 3] = ["%", "127.0.0.1", "localhost"];

/// The question for those places; none where an account has none.
pub(crate) fn accounts_question(product: Product) -> Option<&'static str> {
    (product != Product::Postgres).then_some("SELECT Host FROM mysql.user WHERE User='dbdyno'")
}

/// What gives our account a new password. `hosts` are the places that the server named.
///
/// Logs of statements have what is said here, and people show them to others: where a server writes
/// statements down as they came, it is told what it keeps of the password (MySQL from 5.7.6 on
/// writes down what it keeps, unless `log_raw` is set, which is refused).
///
/// # Errors
/// The system's random numbers cannot be read.
pub(crate) fn renewal_sql(
    product: Product,
    version: &str,
    hosts: &[&str],
    password: &Secret,
) -> Result<Vec<String>, WireError> {
    if product == Product::Postgres {
        let kept = scram_verifier(password)?;
        return Ok(vec![format!("ALTER ROLE {USER} PASSWORD '{kept}'")]);
    }
    let mut sql = vec!["SET SESSION sql_log_bin=0".to_owned()];
    // Only words of ours are told: what the server says chooses among them.
    for host in HOSTS.iter().filter(|host| hosts.contains(host)) {
        sql.push(if initialises_itself(product, version) {
            let password = password.expose();
            format!("ALTER USER '{USER}'@'{host}' IDENTIFIED BY '{password}'")
        } else {
            let kept = native_password_hash(password);
            format!("SET PASSWORD FOR '{USER}'@'{host}' = '{kept}'")
        });
    }
    Ok(sql)
}

/// What a session of MariaDB says before it says a password: the logs of statements that it may
/// have been told to write leave the session out.
pub(crate) const UNLOGGED: [&str; 2] =
    ["SET SESSION sql_log_off=1", "SET SESSION long_query_time=31536000"];

/// What `postgres --single` reads after `initdb`.
pub(crate) fn postgres_sql() -> String {
    format!("CREATE DATABASE {DATABASE};\n")
}

/// A password that nobody can guess: 128 random bits.
pub(crate) fn random_password() -> Result<String, SandboxError> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| SandboxError::Io {
        action: "read",
        place: PathBuf::from("the system's random numbers"),
        error: std::io::Error::other(error.to_string()),
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of statements showed it: `server logs` of PostgreSQL with `log_statement=ddl`.
    #[test]
    fn servers_that_log_statements_are_not_told_the_password() {
        let password = Secret::new("0123456789abcdef");
        let told = |product, version| {
            renewal_sql(product, version, &["%", "localhost"], &password).unwrap().concat()
        };
        for (product, version, kept) in [
            (Product::Postgres, "12.20", "PASSWORD 'SCRAM-SHA-256$4096:"),
            (Product::MariaDb, "11.4.5", "'dbdyno'@'localhost' = '*"),
            (Product::MySql, "5.6.24", "'dbdyno'@'%' = '*"),
        ] {
            let told = told(product, version);
            assert!(told.contains(kept) && !told.contains(password.expose()), "{told}");
        }
        assert!(told(Product::MySql, "8.0.33").contains("IDENTIFIED BY '0123456789abcdef'"));
    }
}
