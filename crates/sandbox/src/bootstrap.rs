//! What a data directory is initialised with, as text.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;

/// The account that the endpoints name.
pub(crate) const USER: &str = "dbdyno";
/// The database that the endpoints name.
pub(crate) const DATABASE: &str = "dbdyno";

/// Where a MariaDB tree has its messages, character sets and initial SQL: the directory's name
/// changed between 10.11 and 11.8.
pub(crate) fn mariadb_share(tree: &Path) -> PathBuf {
    let share = ["mariadb", "mysql"].map(|name| tree.join("usr/share").join(name));
    let [new, old] = share;
    if new.join("mariadb_system_tables.sql").is_file() { new } else { old }
}

/// The SQL that makes an empty directory a MariaDB data directory, read by `mariadbd --bootstrap`
/// line by line: the release's own scripts, then our account and database.
///
/// The scripts make accounts without a password that are reachable over TCP; those are deleted.
/// Root remains on the unix socket, which is in a directory that only the server's account may
/// enter.
pub(crate) fn mariadb_sql(tree: &Path, password: &str) -> Result<String, SandboxError> {
    let share = mariadb_share(tree);
    let mut sql = "USE mysql;\nSET @auth_root_socket=NULL;\n".to_owned();
    for script in ["system_tables", "performance_tables", "system_tables_data", "sys_schema"] {
        let path = ["mariadb", "mysql"]
            .map(|name| share.join(format!("{name}_{script}.sql")))
            .into_iter()
            .find(|path| path.is_file())
            .unwrap_or_else(|| share.join(format!("mariadb_{script}.sql")));
        sql.push_str(&fs::read_to_string(&path).map_err(SandboxError::io("read", &path))?);
        sql.push('\n');
    }
    sql.push_str(
        "DELETE FROM mysql.global_priv WHERE User='' OR User='root' AND Host<>'localhost';\n",
    );
    sql.push_str("DELETE FROM mysql.proxies_priv WHERE Host<>'localhost';\n");
    for host in ["127.0.0.1", "localhost"] {
        sql.push_str(&format!(
            "INSERT INTO mysql.global_priv VALUES ('{host}','{USER}',JSON_OBJECT(\
             'access',18446744073709551615,'plugin','mysql_native_password',\
             'authentication_string',PASSWORD('{password}')));\n"
        ));
    }
    sql.push_str(&format!(
        "CREATE DATABASE {DATABASE} CHARACTER SET latin1 COLLATE latin1_swedish_ci;\n"
    ));
    Ok(sql)
}

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
