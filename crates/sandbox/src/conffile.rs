//! A configuration file of the user's, read as the server would read it.
//!
//! ```text
//!   [mysqld]                      see `model::option_file`
//!   innodb_io_capacity = 2000     groups of the server only; a later line wins
//!
//!   shared_buffers = '2GB'        PostgreSQL: no groups, '' is a quote in quotes
//! ```
//!
//! The file is not handed to the server: read here, each of its lines is shown, stored and can be
//! overridden, and what would take the server away from us, such as another port, can be left out:
//! the file may be that of a server in use, whose directories must not be written to.

use std::fs;
use std::path::Path;

use dbdyno_model::option_file::{self, is_name, without_comment};
use dbdyno_model::{Product, setting};

use crate::error::SandboxError;
use crate::translation::{Told, Translation, Why};

/// Longer files are no configuration.
const MAX_BYTES: u64 = 1 << 20;

/// Tells the server what the file says.
///
/// # Errors
/// [`SandboxError::Unsuitable`] for a file that cannot be read, and for a line that cannot be
/// understood or that names another file.
pub(crate) fn apply(path: &str, all: &mut Translation) -> Result<(), SandboxError> {
    let refuse =
        |reason: String| SandboxError::Unsuitable { what: format!("the file {path}"), reason };
    let text = read(Path::new(path)).map_err(refuse)?;
    let lines = match all.product {
        Product::Postgres => postgresql_conf(&text),
        Product::MySql | Product::MariaDb => my_cnf(&text, all.product, &all.version),
    };
    for (name, value) in lines.map_err(refuse)? {
        if setting::is_ours(&name) || setting::is_secret(&name, &value) {
            all.left_out.push((name, path.to_owned()));
        } else if setting::is_log_elsewhere(&name, &value) {
            // Next to the data, under its own name: where other servers write is not touched.
            let value = value.rsplit('/').next().unwrap_or_default();
            all.overrule(Told::new("", &name, value, Why::File(path.to_owned())));
        } else {
            all.overrule(Told::new("", &name, value, Why::File(path.to_owned())));
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    let wrong = |error: std::io::Error| format!("{error}; name a file that can be read");
    let about = fs::metadata(path).map_err(wrong)?;
    if !about.is_file() || about.len() > MAX_BYTES {
        return Err("that is no configuration; name a file of at most 1 MB".to_owned());
    }
    fs::read_to_string(path).map_err(wrong)
}

/// The groups that a server reads, beside those that end with its series.
fn groups(product: Product) -> &'static [&'static str] {
    match product {
        Product::MariaDb => &["mysqld", "server", "mariadb", "mariadbd", "client-server", "galera"],
        _ => &["mysqld", "server"],
    }
}

fn my_cnf(text: &str, product: Product, version: &str) -> Result<Vec<(String, String)>, String> {
    let applies = |group: &str| {
        let series = group.rsplit_once('-').filter(|(_, series)| {
            let begins = version.strip_prefix(series);
            begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        });
        groups(product).contains(&series.map_or(group, |(group, _)| group))
    };
    let file = option_file::read(text, applies)?;
    if let Some(line) = file.includes.first() {
        return Err(format!(
            "line {line}: it includes other files, which are not read; put their lines into this one"
        ));
    }
    if let Some(wrong) = file.entries.iter().find(|one| one.value.contains(char::is_control)) {
        return Err(format!("line {}: no option; write NAME=VALUE", wrong.line));
    }
    Ok(file.entries.into_iter().map(|entry| (entry.name, entry.value)).collect())
}

fn postgresql_conf(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut all = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = |what: &str| Err(format!("line {}: {what}", number + 1));
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let end = line.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start().strip_prefix('=').unwrap_or(rest).trim();
        let name = name.to_ascii_lowercase();
        if name.starts_with("include") {
            return wrong(
                "it includes other files, which are not read; put their lines into this one",
            );
        }
        match postgres_value(rest) {
            Some(value) if is_name(&name) => all.push((name, value)),
            _ => {
                return wrong("no setting; write NAME = VALUE, with quotes around what has blanks");
            }
        }
    }
    Ok(all)
}

/// A value with its quotes taken off, if nothing but a comment follows it.
fn postgres_value(text: &str) -> Option<String> {
    let Some(mut rest) = text.strip_prefix('\'') else {
        let value = without_comment(text);
        let plain = !value.is_empty() && !value.contains(|c: char| c.is_whitespace() || c == '\'');
        return plain.then(|| value.to_owned());
    };
    let mut value = String::new();
    loop {
        let (inside, behind) = rest.split_once('\'')?;
        value.push_str(inside);
        rest = behind;
        match behind.strip_prefix('\'') {
            Some(behind) => {
                value.push('\'');
                rest = behind;
            }
            None => break,
        }
    }
    without_comment(rest).trim().is_empty().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn my_cnf_is_read_as_the_server_reads_it() {
        let text = "# of the house\n[client]\nport=1\n[mysqld]\ninnodb-io-capacity = 2000 # fast\n\
                    skip-name-resolve\ninit_connect='SET x=1 # no comment' # one\n\
                    ft_stopword=\"a\\sb\\\\c\"\n[mysqld-8.0]\nA_b=8\n[mysqld-5.7]\nA_b=5\n\
                    [mariadb]\nmaria=1\n; the end\n";
        let read = my_cnf(text, Product::MySql, "8.0.33").unwrap();
        assert_eq!(
            read,
            pairs(&[
                ("innodb_io_capacity", "2000"),
                ("skip_name_resolve", ""),
                ("init_connect", "SET x=1 # no comment"),
                ("ft_stopword", "a b\\c"),
                ("a_b", "8"),
            ])
        );
        let maria =
            my_cnf("[mariadb-10.11]\nx=1\n[mariadb-10.1]\ny=1\n", Product::MariaDb, "10.11.5");
        assert_eq!(maria.unwrap(), pairs(&[("x", "1")]));
        // The groups of MariaDB's own manual, which MySQL does not read.
        let groups = "[client-server]\na_b=1\n[galera]\nc_d=2\n[client]\ne_f=3\n[mysqld]\ng_h=4\n\
                      [client-mariadb]\ni_j=5\n[mariadbd-10.11]\nk_l=6\n";
        let maria = my_cnf(groups, Product::MariaDb, "10.11.5").unwrap();
        let told = pairs(&[("a_b", "1"), ("c_d", "2"), ("g_h", "4"), ("k_l", "6")]);
        assert_eq!(maria, told);
        assert_eq!(my_cnf(groups, Product::MySql, "8.0.33").unwrap(), pairs(&[("g_h", "4")]));
        for (wrong, hint) in [
            ("[mysqld]\n!include /etc/x.cnf\n", "line 2: it includes"),
            ("[mysqld\n", "line 1: the bracket"),
            ("[mysqld]\na b=1\n", "line 2: no option"),
        ] {
            let error = my_cnf(wrong, Product::MySql, "8.0.33").unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    #[test]
    fn postgresql_conf_is_read_as_the_server_reads_it() {
        let text = "# x\nshared_buffers = 2GB # much\nTimeZone 'Europe/Berlin'\njit=off\n\
                    log_line_prefix = 'it''s # %m ' # a quote\n";
        assert_eq!(
            postgresql_conf(text).unwrap(),
            pairs(&[
                ("shared_buffers", "2GB"),
                ("timezone", "Europe/Berlin"),
                ("jit", "off"),
                ("log_line_prefix", "it's # %m "),
            ])
        );
        for wrong in ["include 'x'\n", "a = 'b\n", "a = b c\n", "= 1\n", "a =\n", "a = 'b' c\n"] {
            assert!(postgresql_conf(wrong).is_err(), "{wrong}");
        }
    }
}
