//! What libpq takes from service files and the environment.
//!
//! ```text
//!   URL ─▶ [SERVICE] of PGSERVICEFILE, else ~/.pg_service.conf; then of PGSYSCONFDIR
//!       ─▶ PGHOST, PGPORT, PGUSER, PGDATABASE, PGSSLMODE …
//!       ─▶ defaults
//! ```
//!
//! The order is that of PostgreSQL's documentation (libpq, "The Connection Service File"): each
//! counts less than the one before it. What libpq would follow and dbdyno does not is refused by
//! name. A service file decides to whom a password goes: one that others can write is refused.

use std::path::{Path, PathBuf};

use dbdyno_model::target::OF_LIBPQ;
use dbdyno_model::{Secret, ServerParts, ServerUrl};

/// Variables, and the words for which they stand.
const VARIABLES: [(&str, &str); 10] = [
    ("PGHOST", "host"),
    ("PGHOSTADDR", "hostaddr"),
    ("PGPORT", "port"),
    ("PGUSER", "user"),
    ("PGDATABASE", "dbname"),
    ("PGSSLMODE", "sslmode"),
    ("PGSSLROOTCERT", "sslrootcert"),
    ("PGSSLCERT", "sslcert"),
    ("PGSSLKEY", "sslkey"),
    ("PGSSLNEGOTIATION", "sslnegotiation"),
];
/// Variables that choose among servers or change what a session is, with the value that does not.
const NOT_FOLLOWED: [(&str, &str); 8] = [
    ("PGOPTIONS", ""),
    ("PGTARGETSESSIONATTRS", "any"),
    ("PGLOADBALANCEHOSTS", "disable"),
    ("PGREQUIREAUTH", ""),
    ("PGCHANNELBINDING", "prefer"),
    ("PGREQUIREPEER", ""),
    ("PGSSLCRL", ""),
    ("PGREQUIRESSL", "0"),
];
/// Words about encryption.
const OF_TLS: [&str; 5] = ["sslmode", "sslrootcert", "sslcert", "sslkey", "sslnegotiation"];
/// Where packages keep the file of the whole system.
const SYSTEM_FOLDERS: [&str; 3] =
    ["/etc/postgresql-common", "/etc/sysconfig/pgsql", "/usr/local/pgsql/etc"];

/// What this process sees of its surroundings.
pub(super) struct Surroundings<'a> {
    /// A variable of the environment, if it has a value.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// The text of a service file, if it is there; it is refused if others can write it.
    pub(super) read: &'a dyn Fn(&Path) -> Result<Option<String>, String>,
}

/// Makes a URL whole.
///
/// # Errors
/// A sentence: a service that is not there, a word that is not followed. No value of a service file
/// is repeated.
pub(super) fn complete_url(url: &mut ServerUrl, around: &Surroundings<'_>) -> Result<(), String> {
    for (name, harmless) in NOT_FOLLOWED {
        if (around.variable)(name).is_some_and(|value| value != harmless) {
            return Err(format!(
                "{name} is set, which PostgreSQL's own clients follow and dbdyno does not; unset it"
            ));
        }
    }
    let service = url.left_out.service.clone().or_else(|| (around.variable)("PGSERVICE"));
    let mut words: Vec<Word> = match &service {
        Some(service) => of_service(service, around)?,
        None => Vec::new(),
    };
    for (variable, name) in VARIABLES {
        let value = (around.variable)(variable);
        if let Some(value) = value.filter(|_| !words.iter().any(|word| word.name == name)) {
            let (name, from) = (name.to_owned(), variable.to_owned());
            words.push(Word { name, value, from });
        }
    }
    let parts = parts(words, url)?;
    url.complete_with(parts)
}

/// A word of libpq, its value, and where it stands: for messages.
struct Word {
    name: String,
    value: String,
    from: String,
}

fn parts(words: Vec<Word>, url: &ServerUrl) -> Result<ServerParts, String> {
    let mut parts = ServerParts::default();
    let has = |name: &str| words.iter().any(|word| word.name == name);
    if has("hostaddr") && (has("host") || !url.left_out.host) {
        return Err("hostaddr (PGHOSTADDR) is told beside a host, so that libpq would connect to \
                    the one and check the name of the other; leave one of them out"
            .to_owned());
    }
    for Word { name, value, from } in words {
        match name.as_str() {
            "host" | "hostaddr" if value.contains(',') => {
                return Err(format!(
                    "{from} names several hosts; name the one that is meant: which server answers \
                     must be known"
                ));
            }
            "host" if value.starts_with('@') => {
                return Err(format!(
                    "{from} names an abstract socket, which is not supported; name a folder"
                ));
            }
            "host" | "hostaddr" => parts.host = Some(value),
            "port" => {
                let port = value.parse::<u16>().ok().filter(|&port| port > 0);
                parts.port = Some(port.ok_or_else(|| {
                    format!("{from} is not a port of one server; ports are 1 to 65535")
                })?);
            }
            "user" => parts.user = Some(value),
            "password" => parts.password = Some(Secret::new(value)),
            "dbname" if value.contains(['=', ':']) => {
                return Err(format!("{from} is a whole connection string; name a database"));
            }
            "dbname" => parts.database = Some(value),
            _ => parts.tls.push((name, value)),
        }
    }
    Ok(parts)
}

/// The words of a service, from the first file that has it.
fn of_service(service: &str, around: &Surroundings<'_>) -> Result<Vec<Word>, String> {
    let variable = |name: &str| (around.variable)(name).map(PathBuf::from);
    let own = variable("PGSERVICEFILE");
    let of_system = match variable("PGSYSCONFDIR") {
        Some(folder) => vec![folder],
        None => SYSTEM_FOLDERS.map(PathBuf::from).to_vec(),
    };
    let of_system = of_system.into_iter().map(|folder| folder.join("pg_service.conf"));
    let files: Vec<PathBuf> = own
        .clone()
        .or_else(|| variable("HOME").map(|home| home.join(".pg_service.conf")))
        .into_iter()
        .chain(of_system)
        .collect();
    for file in &files {
        let shown = file.display();
        let text = (around.read)(file).map_err(|wrong| format!("{shown}: {wrong}"))?;
        match text {
            None if own.as_ref() == Some(file) => {
                return Err(format!("{shown}: PGSERVICEFILE names it, and it is not there"));
            }
            None => {}
            Some(text) => {
                let found = parse(&text, service).map_err(|wrong| format!("{shown}: {wrong}"))?;
                if let Some(words) = found {
                    let words = words.into_iter().map(|(name, value)| {
                        let from = format!("{name}= of [{service}] in {shown}");
                        Word { name, value, from }
                    });
                    return Ok(words.collect());
                }
            }
        }
    }
    let files: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
    Err(format!("there is no service [{service}] in {}; write one there", files.join(", ")))
}

/// The words of a service; `None` where the file does not have it. The first one of a name counts.
fn parse(text: &str, service: &str) -> Result<Option<Vec<(String, String)>>, String> {
    let mut words: Option<Vec<(String, String)>> = None;
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            if words.is_some() {
                break;
            }
            let is_it = rest.split_once(']').is_some_and(|(name, _)| name == service);
            words = is_it.then(Vec::new);
            continue;
        }
        let Some(words) = &mut words else { continue };
        if line.starts_with("ldap") {
            return Err(format!(
                "line {number}: services in a directory (LDAP) are not looked up; write host=, \
                 port=, user= and dbname="
            ));
        }
        let known = line.split_once('=').filter(|(name, _)| is_known(name));
        let Some((name, value)) = known else {
            return Err(format!(
                "line {number}: that is no word of libpq with its value; write NAME=VALUE without \
                 blanks around the mark"
            ));
        };
        if name == "service" || OF_LIBPQ.contains(&name) {
            return Err(format!(
                "line {number}: {name}= is a word of libpq that dbdyno does not follow; leave it \
                 out, and name the one server that is meant"
            ));
        }
        if !words.iter().any(|(known, _)| known == name) {
            words.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(words)
}

fn is_known(name: &str) -> bool {
    const OWN: [&str; 7] = ["host", "hostaddr", "port", "user", "password", "dbname", "service"];
    OWN.contains(&name) || OF_TLS.contains(&name) || OF_LIBPQ.contains(&name)
}

/// What MySQL's client takes from the environment where nothing else says it: MySQL 8.0 Reference
/// Manual, 6.9, "Environment Variables". Without a host, or on localhost, it takes the socket.
///
/// # Errors
/// A sentence about a port.
pub(super) fn complete_mysql(
    url: &mut ServerUrl,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let mut parts = ServerParts::default();
    if url.login_path.is_some() {
        return url.complete_with(parts);
    }
    let socket = variable("MYSQL_UNIX_PORT").filter(|path| path.starts_with('/'));
    let host = variable("MYSQL_HOST");
    let is_here = host.as_ref().is_none_or(|host| host == "localhost");
    parts.host = match socket {
        Some(socket) if is_here && url.left_out.port => Some(socket),
        _ => host,
    };
    if let Some(port) = variable("MYSQL_TCP_PORT") {
        let port = port.parse::<u16>().ok().filter(|&port| port > 0);
        parts.port = Some(port.ok_or("MYSQL_TCP_PORT is not a port; ports are 1 to 65535")?);
    }
    url.complete_with(parts)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dbdyno_model::{ArmSpec, Target, Transport};
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "# mine\n[other]\nhost=no\n[prod]\nhost=db.example\nport=6432\nuser=ann\n\
                        password=hunter2\ndbname=shop\nsslmode=require\nhost=second\n[last]\nx=1\n";

    fn url(text: &str) -> ServerUrl {
        let Target::Url(url) = text.parse::<ArmSpec>().unwrap().target else { panic!() };
        url
    }

    fn shown(url: &ServerUrl) -> String {
        format!("{}@{}/{}", url.user, url.transport, url.database)
    }

    fn asked(text: &str, variables: &[(&str, &str)], file: &str) -> Result<ServerUrl, String> {
        let known: BTreeMap<&str, &str> = variables.iter().copied().collect();
        let variable = |name: &str| known.get(name).map(|&value| value.to_owned());
        let read = |path: &Path| Ok(path.ends_with(".pg_service.conf").then(|| file.to_owned()));
        let mut url = url(text);
        complete_url(&mut url, &Surroundings { variable: &variable, read: &read })?;
        Ok(url)
    }

    #[test]
    fn a_url_counts_more_than_a_service_and_that_more_than_the_environment() {
        let home = ("HOME", "/h");
        let variables =
            [home, ("PGHOST", "env"), ("PGPORT", "7"), ("PGUSER", "eve"), ("PGDATABASE", "e")];
        let all = |text: &str| shown(&asked(text, &variables, FILE).unwrap());
        assert_eq!(all("postgres://"), "eve@env:7/e");
        assert_eq!(all("postgres://bob@h/d"), "bob@h:7/d");
        assert_eq!(all("postgres:///?service=prod"), "ann@db.example:6432/shop");
        assert_eq!(all("postgres://bob@/d?service=prod"), "bob@db.example:6432/d");
        let whole = asked("postgres:///?service=prod", &variables, FILE).unwrap();
        assert_eq!(whole.password, Some(Secret::new("hunter2")));
        assert_eq!(*whole.left_out, dbdyno_model::target_parts::LeftOut::default());
        let own = asked("postgres://u:own@h/?service=prod", &variables, FILE).unwrap();
        assert_eq!(own.password, Some(Secret::new("own")));
        let by_variable = [home, ("PGSERVICE", "prod"), ("PGUSER", "eve")];
        let url = asked("postgres://", &by_variable, FILE).unwrap();
        assert_eq!(shown(&url), "ann@db.example:6432/shop");
        assert_eq!(
            shown(&asked("postgres://", &[], "").unwrap()),
            "postgres@127.0.0.1:5432/dbdyno"
        );
        let socket =
            asked("postgres://", &[("PGHOST", "/run/pg"), ("PGPORT", "5433")], "").unwrap();
        assert_eq!(socket.transport, Transport::Unix("/run/pg/.s.PGSQL.5433".to_owned()));
    }

    #[test]
    fn what_is_not_followed_is_refused_by_name_and_without_its_value() {
        let home = ("HOME", "/h");
        for (text, variables, file, hint) in [
            ("postgres:///?service=x", vec![home], FILE, "no service [x] in /h/.pg_service.conf"),
            (
                "postgres:///?service=prod",
                vec![("PGSERVICEFILE", "/no")],
                FILE,
                "/no: PGSERVICEFILE",
            ),
            ("postgres://", vec![("PGOPTIONS", "-c a=hunter2")], "", "PGOPTIONS is set"),
            ("postgres://", vec![("PGTARGETSESSIONATTRS", "primary")], "", "PGTARGETSESSIONATTRS"),
            ("postgres://", vec![("PGHOST", "a,b")], "", "PGHOST names several hosts"),
            ("postgres://", vec![("PGHOST", "@a")], "", "abstract socket"),
            ("postgres://", vec![("PGPORT", "hunter2")], "", "PGPORT is not a port"),
            ("postgres://h", vec![("PGHOSTADDR", "::1")], "", "told beside a host"),
            ("postgres://", vec![("PGDATABASE", "dbname=hunter2")], "", "whole connection string"),
            ("postgres:///?service=a", vec![home], "[a]\noptions=hunter2\n", "line 2: options="),
            ("postgres:///?service=a", vec![home], "[a]\nservice=b\n", "line 2: service="),
            ("postgres:///?service=a", vec![home], "[a]\nhost = hunter2\n", "without blanks"),
            ("postgres:///?service=a", vec![home], "[a]\nldap://hunter2\n", "LDAP"),
            ("postgres:///?service=a", vec![home], "[a]\nport=hunter2\n", "port= of [a] in"),
        ] {
            let wrong = asked(text, &variables, file).unwrap_err();
            assert!(wrong.contains(hint) && !wrong.contains("hunter2"), "{text}: {wrong}");
        }
        assert!(asked("postgres://", &[("PGCHANNELBINDING", "prefer")], "").is_ok());
    }

    #[test]
    fn the_variables_of_mysql_fill_what_is_left_out() {
        let of = |text: &str, variables: &[(&str, &str)]| {
            let known: BTreeMap<&str, &str> = variables.iter().copied().collect();
            let mut url = url(text);
            complete_mysql(&mut url, &|name| known.get(name).map(|&value| value.to_owned()))?;
            Ok::<String, String>(shown(&url))
        };
        let host = [("MYSQL_HOST", "db"), ("MYSQL_TCP_PORT", "3307"), ("MYSQL_UNIX_PORT", "/s")];
        assert_eq!(of("mysql://", &host).unwrap(), "root@db:3307/dbdyno");
        assert_eq!(of("mysql://u@h/d", &host).unwrap(), "u@h:3307/d");
        assert_eq!(of("mysql://u@h:1/d", &host).unwrap(), "u@h:1/d");
        assert_eq!(of("mysql:///d", &host[2..]).unwrap(), "root@/s/d");
        assert_eq!(of("mysql://:3309/d", &host[2..]).unwrap(), "root@127.0.0.1:3309/d");
        assert_eq!(of("mysql:///d", &[]).unwrap(), "root@127.0.0.1:3306/d");
        assert!(of("mysql:///d", &[("MYSQL_TCP_PORT", "x")]).is_err());
        assert_eq!(of("mysql:///d?login-path=p", &host).unwrap(), "@:3306/d");
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused_by_its_line(text in "(?s).{0,200}") {
            let text = format!("[a]\n{text}");
            if let Err(wrong) = parse(&text, "a") {
                prop_assert!(wrong.starts_with("line "), "{wrong}");
            }
        }
    }
}
