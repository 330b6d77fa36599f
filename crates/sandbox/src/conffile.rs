//! A configuration file of the user's, read as the server would read it.
//!
//! ```text
//!   [mysqld]                      see `model::option_file`
//!   innodb_io_capacity = 2000     groups of the server only; a later line wins
//!   !includedir /etc/my.cnf.d     read in its place, files by their names
//!
//!   shared_buffers = '2GB'        PostgreSQL: no groups, '' is a quote in quotes
//!   include_dir 'conf.d'          read in its place
//! ```
//!
//! The file is not handed to the server: read here, each of its lines is shown, stored and can be
//! overridden, and what would take the server away from us, such as another port, can be left out:
//! the file may be that of a server in use, whose directories must not be written to.

use std::path::{Path, PathBuf};

use dbdyno_model::option_file::{is_name, without_comment};
use dbdyno_model::{Product, setting};

use crate::conftree::{Tree, path_beside};
use crate::error::SandboxError;
use crate::option_tree::{OptionLine, OptionWish, option_tree};
use crate::translation::{OptionReason, TranslatedOption, Translation, is_command};

/// Options that a file may have with all that it includes. Servers have some two thousand; each one
/// is held against all others.
const OPTIONS_MOST: usize = 5_000;

/// Tells the server what the file says.
///
/// # Errors
/// [`SandboxError::Unsuitable`] for a file that cannot be read, for a line that cannot be
/// understood, for more options than a server has, and for a file of another kind.
pub(crate) fn apply_file(path: &str, all: &mut Translation) -> Result<(), SandboxError> {
    let refuse =
        |reason: String| SandboxError::Unsuitable { what: format!("the file {path}"), reason };
    let lines = option_lines(Path::new(path), all.product, &all.version);
    for Line { name, value, file } in lines.map_err(refuse)? {
        let file = file.display().to_string();
        if setting::is_ours(&name) || setting::is_secret(&name, &value) || is_command(&name) {
            all.left_out.push((name, file));
        } else if setting::is_log_elsewhere(&name, &value) {
            // Next to the data, under its own name: where other servers write is not touched.
            let value = value.rsplit('/').next().unwrap_or_default();
            all.set_user_option(TranslatedOption::new("", &name, value, OptionReason::File(file)));
        } else {
            all.set_user_option(TranslatedOption::new("", &name, value, OptionReason::File(file)));
        }
    }
    Ok(())
}

fn option_lines(path: &Path, product: Product, version: &str) -> Result<Vec<Line>, String> {
    let lines = match product {
        Product::Postgres => postgresql_conf(path),
        Product::MySql | Product::MariaDb => my_cnf(path, product, version),
    }?;
    if lines.len() > OPTIONS_MOST {
        return Err(format!(
            "{} options with all that it includes are more than a server has, and {OPTIONS_MOST} \
             are read; take out those that are said again",
            lines.len()
        ));
    }
    Ok(lines)
}

/// What a line says, and the file in which it stands.
#[derive(Debug, PartialEq, Eq)]
struct Line {
    name: String,
    value: String,
    file: PathBuf,
}

/// The groups that a server reads, beside those of its programs that end with its series.
fn groups(product: Product) -> &'static [&'static str] {
    match product {
        Product::MariaDb => &["mysqld", "server", "mariadb", "mariadbd", "client-server", "galera"],
        _ => &["mysqld", "server"],
    }
}

/// Whether a server of this version reads a group: one of its own, or one of its programs with the
/// two numbers of its series: `mysqld-8.0`, and not `mysqld-8.0.33` or `server-8.0`.
fn is_read(group: &str, product: Product, version: &str) -> bool {
    let programs: &[&str] = match product {
        Product::MariaDb => &["mysqld", "mariadb", "mariadbd"],
        _ => &["mysqld"],
    };
    let numbers: Vec<&str> = version.splitn(3, '.').take(2).collect();
    groups(product).contains(&group)
        || group.split_once('-').is_some_and(|(program, series)| {
            programs.contains(&program) && series == numbers.join(".")
        })
}

fn my_cnf(path: &Path, product: Product, version: &str) -> Result<Vec<Line>, String> {
    let is_wanted = |group: &str| is_read(group, product, version);
    let wish = OptionWish { group: &is_wanted, file: &|_, _| true };
    let read = option_tree(path, &wish).map_err(|wrong| {
        if wrong.contains("without a group") {
            format!("{wrong}; a file of PostgreSQL, which has no groups, is postgresql-conf=FILE")
        } else {
            wrong
        }
    })?;
    if let Some((OptionLine { entry, file }, what)) =
        read.lines.iter().find_map(|one| Some((one, why_no_option(one)?)))
    {
        let within = if file == path { String::new() } else { format!("{}: ", file.display()) };
        return Err(format!("{within}line {}: {what}", entry.line));
    }
    let (lines, there) = (
        read.lines
            .into_iter()
            .map(|OptionLine { entry, file }| Line { name: entry.name, value: entry.value, file })
            .collect(),
        read.groups,
    );
    if there.iter().any(|group| is_wanted(group)) {
        return Ok(lines);
    }
    let wanted: Vec<String> = groups(product).iter().map(|group| format!("[{group}]")).collect();
    let found = match &there[..] {
        [] => "it has no group".to_owned(),
        there => {
            let there: Vec<String> = there.iter().take(8).map(|one| format!("[{one}]")).collect();
            format!("its groups are {}", there.join(", "))
        }
    };
    Err(format!(
        "{found}, and {} {version} reads {} and those with its version; nothing of it would be told",
        product.name(),
        wanted.join(", ")
    ))
}

fn why_no_option(one: &OptionLine) -> Option<&str> {
    match &one.entry.value {
        value if value.contains(char::is_control) => Some("no option; write NAME=VALUE"),
        value if value.contains("{DBInstance") || value.contains("{AllocatedStorage") => Some(
            "a formula of RDS, which no server reads; write the value that SHOW VARIABLES tells",
        ),
        _ => None,
    }
}

fn postgresql_conf(path: &Path) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    take_postgresql_conf(path, &mut Tree::default(), &mut lines)?;
    Ok(lines)
}

/// The settings of a file and of what it includes, relative to itself.
fn take_postgresql_conf(path: &Path, tree: &mut Tree, lines: &mut Vec<Line>) -> Result<(), String> {
    let text = tree.enter_file(path)?;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            return Err(tree.file_error(format!(
                "line {}: PostgreSQL has no groups; a file of MySQL or MariaDB is my-cnf=FILE",
                number + 1
            )));
        }
        let end = line.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        let rest = rest.trim_start().strip_prefix('=').unwrap_or(rest).trim();
        let name = name.to_ascii_lowercase();
        let Some(value) = postgres_value(rest).filter(|_| is_name(&name)) else {
            return Err(tree.file_error(format!(
                "line {}: no setting; write NAME = VALUE, with quotes around what has blanks",
                number + 1
            )));
        };
        let named = || path_beside(path, &value);
        let files = match name.as_str() {
            "include" => vec![named()],
            "include_if_exists" if named().exists() => vec![named()],
            "include_if_exists" => vec![],
            "include_dir" => tree.folder_files(&named(), "conf", number + 1)?,
            _ => {
                lines.push(Line { name, value, file: path.to_owned() });
                continue;
            }
        };
        for file in files {
            take_postgresql_conf(&file, tree, lines)?;
        }
    }
    tree.leave_file();
    Ok(())
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
        let at = rest.find(['\'', '\\'])?;
        value.push_str(&rest[..at]);
        let is_quote = rest[at..].starts_with('\'');
        rest = &rest[at + 1..];
        match (is_quote, rest.strip_prefix('\'')) {
            (true, Some(behind)) => {
                value.push('\'');
                rest = behind;
            }
            (true, None) => break,
            (false, _) => {
                let (escaped, behind) = unescaped(rest)?;
                value.push(escaped);
                rest = behind;
            }
        }
    }
    without_comment(rest).trim().is_empty().then_some(value)
}

/// What stands behind a backslash, as PostgreSQL undoes it: `b f n r t`, up to three octal digits,
/// and anything else as it is. `None` where nothing does, and for the sign that ends a text.
fn unescaped(text: &str) -> Option<(char, &str)> {
    let first = text.chars().next()?;
    let octal = text.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
    if octal > 0 {
        let (digits, behind) = text.split_at(octal);
        let code = u32::from_str_radix(digits, 8).ok()?;
        return char::from_u32(code)
            .filter(|c| ('\u{1}'..'\u{80}').contains(c))
            .map(|c| (c, behind));
    }
    let escaped = match first {
        'b' => '\u{8}',
        'f' => '\u{c}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        other => other,
    };
    Some((escaped, &text[first.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a file with this text says.
    fn my_cnf(
        text: &str,
        product: Product,
        version: &str,
    ) -> Result<Vec<(String, String)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("my.cnf");
        std::fs::write(&path, text).unwrap();
        super::my_cnf(&path, product, version).map(plain)
    }

    fn postgresql_conf(text: &str) -> Result<Vec<(String, String)>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("postgresql.conf");
        std::fs::write(&path, text).unwrap();
        super::postgresql_conf(&path).map(plain)
    }

    fn plain(lines: Vec<Line>) -> Vec<(String, String)> {
        lines.into_iter().map(|line| (line.name, line.value)).collect()
    }

    /// A folder with these files.
    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text.replace("ROOT", &dir.path().display().to_string())).unwrap();
        }
        dir
    }

    /// Each option is held against all others: 20 000 of them in 100 KB took 24 s.
    #[test]
    fn more_options_than_a_server_has_are_refused() {
        let text = |count: usize| (0..count).map(|at| format!("a{at} = 1\n")).collect::<String>();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("conf");
        for (product, head) in [(Product::MariaDb, "[mysqld]\n"), (Product::Postgres, "")] {
            std::fs::write(&path, format!("{head}{}", text(OPTIONS_MOST))).unwrap();
            assert_eq!(option_lines(&path, product, "11.4.5").unwrap().len(), OPTIONS_MOST);
            std::fs::write(&path, format!("{head}{}", text(OPTIONS_MOST + 1))).unwrap();
            let refused = option_lines(&path, product, "11.4.5").unwrap_err();
            assert!(refused.contains("5001 options"), "{refused}");
        }
    }

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
        // With blanks behind a name; and with no version but the series, of a program.
        let odd = "[mysqld ]\na=1\n[mysqld-8.0.33]\nb=2\n[mysqld-8]\nc=3\n[server-8.0]\nd=4\n\
                   [ mysqld]\ne=5\n";
        assert_eq!(my_cnf(odd, Product::MySql, "8.0.33").unwrap(), pairs(&[("a", "1")]));
        // The groups of MariaDB's own manual, which MySQL does not read.
        let groups = "[client-server]\na_b=1\n[galera]\nc_d=2\n[client]\ne_f=3\n[mysqld]\ng_h=4\n\
                      [client-mariadb]\ni_j=5\n[mariadbd-10.11]\nk_l=6\n";
        let maria = my_cnf(groups, Product::MariaDb, "10.11.5").unwrap();
        let told = pairs(&[("a_b", "1"), ("c_d", "2"), ("g_h", "4"), ("k_l", "6")]);
        assert_eq!(maria, told);
        assert_eq!(my_cnf(groups, Product::MySql, "8.0.33").unwrap(), pairs(&[("g_h", "4")]));
        for (wrong, hint) in [
            ("[mysqld]\n!include /no/x.cnf\n", "/no/x.cnf: No such file"),
            ("[mysqld]\n!includedir /no\n", "line 2: /no: No such file"),
            ("[client]\nport=1\n[mysqldump]\nquick\n", "its groups are [client], [mysqldump]"),
            ("[mariadb]\nport=1\n", "mysql 8.0.33 reads [mysqld], [server]"),
            ("# nothing\n", "it has no group"),
            ("shared_buffers = 1GB\n", "is postgresql-conf=FILE"),
            ("[mysqld\n", "line 1: the bracket"),
            ("[mysqld]\na b=1\n", "line 2: no option"),
        ] {
            let error = my_cnf(wrong, Product::MySql, "8.0.33").unwrap_err();
            assert!(error.contains(hint), "{error}");
        }
    }

    /// A command of a server in use writes into its archive; a formula of RDS is no value.
    #[test]
    fn commands_are_left_out_and_formulas_refused() {
        let dir = folder(&[
            (
                "p.conf",
                "archive_mode = on\narchive_command = 'cp %p /archive/%f'\nwork_mem = 9MB\n",
            ),
            ("rds.cnf", "[mysqld]\na=1\nb = {DBInstanceClassMemory*3/4}\n"),
        ]);
        let mut told = Translation::new(Product::Postgres, "15.20");
        apply_file(&dir.path().join("p.conf").display().to_string(), &mut told).unwrap();
        let names: Vec<&str> = told.told.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["archive_mode", "work_mem"]);
        assert_eq!(told.left_out[0].0, "archive_command");
        assert!(told.to_string().contains("p.conf has a command"), "{told}");
        let wrong = super::my_cnf(&dir.path().join("rds.cnf"), Product::MySql, "8.0.33");
        assert!(wrong.unwrap_err().contains("line 3: a formula of RDS"));
    }

    #[test]
    fn postgresql_conf_is_read_as_the_server_reads_it() {
        let text = "# x\nshared_buffers = 2GB # much\nTimeZone 'Europe/Berlin'\njit=off\n\
                    log_line_prefix = 'it''s # %m ' # a quote\n\
                    my.text = 'x\\ty\\101\\'\\\\'\n";
        assert_eq!(
            postgresql_conf(text).unwrap(),
            pairs(&[
                ("shared_buffers", "2GB"),
                ("timezone", "Europe/Berlin"),
                ("jit", "off"),
                ("log_line_prefix", "it's # %m "),
                ("my.text", "x\tyA'\\"),
            ])
        );
        let wrong = postgresql_conf("[mysqld]\nport=1\n").unwrap_err();
        assert!(wrong.contains("line 1: PostgreSQL has no groups"), "{wrong}");
        for wrong in [
            "include 'x'\n",
            "include_dir 'x'\n",
            "a = 'b\n",
            "a = b c\n",
            "= 1\n",
            "a =\n",
            "a = 'b' c\n",
        ] {
            assert!(postgresql_conf(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn files_that_are_included_are_read_in_their_place() {
        let dir = folder(&[
            (
                "my.cnf",
                "[mysqld]\na=1\n!includedir conf.d\nb=1\n!include ROOT/last\n[mysqld]\nc=1\n",
            ),
            ("conf.d/20.cnf", "[mysqld]\na=20\n[client]\nd=1\n"),
            ("conf.d/10.cnf", "[mysqld]\na=10\n"),
            ("conf.d/.30.cnf", "[mysqld]\na=30\n"),
            ("conf.d/40.cnf.bak", "no sense\n"),
            ("last", "[server]\nb=2\n"),
        ]);
        let lines = super::my_cnf(&dir.path().join("my.cnf"), Product::MySql, "8.0.33").unwrap();
        assert!(lines[1].file.ends_with("conf.d/10.cnf"), "{lines:?}");
        let expected =
            pairs(&[("a", "1"), ("a", "10"), ("a", "20"), ("b", "1"), ("b", "2"), ("c", "1")]);
        assert_eq!(plain(lines), expected);

        let dir = folder(&[
            ("p.conf", "a=1\ninclude 'x/y.conf'\ninclude_if_exists 'no.conf'\ninclude_dir 'x'\n"),
            ("x/y.conf", "a=2\ninclude = 'z.conf'\n"),
            ("x/z.conf", "b=1\n"),
            ("x/w.txt", "no sense at all\n"),
        ]);
        let lines = super::postgresql_conf(&dir.path().join("p.conf")).unwrap();
        let expected = [("a", "1"), ("a", "2"), ("b", "1"), ("a", "2"), ("b", "1"), ("b", "1")];
        assert_eq!(plain(lines), pairs(&expected));
    }

    #[test]
    fn what_cannot_be_included_is_refused_by_name() {
        let read = |files: &[(&str, &str)]| {
            let dir = folder(files);
            super::my_cnf(&dir.path().join("a.cnf"), Product::MySql, "8.0.33").unwrap_err()
        };
        let circle = read(&[
            ("a.cnf", "[mysqld]\n!include b.cnf\n"),
            ("b.cnf", "[mysqld]\n!include ROOT/a.cnf\n"),
        ]);
        assert!(circle.contains("a.cnf and ") && circle.contains("b.cnf include"), "{circle}");
        let itself = read(&[("a.cnf", "[mysqld]\n!include a.cnf\n")]);
        assert!(itself.contains("without end"), "{itself}");
        let inner = read(&[("a.cnf", "!include b.cnf\n"), ("b.cnf", "hunter2\n")]);
        assert!(inner.contains("b.cnf: line 1: an option without a group"), "{inner}");
        assert!(!inner.contains("hunter2"), "{inner}");
        let device = read(&[("a.cnf", "!include /dev/null\n")]);
        assert!(device.contains("/dev/null: that is no configuration"), "{device}");
        let names: Vec<String> = (0..12).map(|at| format!("{at}.cnf")).collect();
        let texts: Vec<String> = (1..13).map(|at| format!("!include {at}.cnf\n")).collect();
        let mut files: Vec<(&str, &str)> =
            names.iter().zip(&texts).map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.push(("a.cnf", "!include 0.cnf\n"));
        let deep = read(&files);
        assert!(deep.contains("more than 10 within one another"), "{deep}");
        // Wide rather than deep: each file twice as many as the one before it.
        let wide: Vec<(String, String)> = (0..9)
            .map(|at| (format!("{at}"), format!("!include {0}\n!include {0}\n", at + 1)))
            .collect();
        let mut files: Vec<(&str, &str)> =
            wide.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        files.extend([("9", "[mysqld]\n"), ("a.cnf", "!include 1\n")]);
        let many = read(&files);
        assert!(many.contains("more than 256 files"), "{many}");
    }
}
