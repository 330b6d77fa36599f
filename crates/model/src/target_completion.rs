//! A URL made whole: what it leaves out comes from elsewhere.
//!
//! ```text
//!   URL ─▶ service file, environment (read by the caller) ─▶ defaults
//!     what the URL says is never replaced
//! ```
//!
//! What comes out names one server without further help: it is what is shown and stored.

use crate::product::Dialect;
use crate::secret::Secret;
use crate::target::ServerUrl;
use crate::tls::{Tls, TlsMode};
use crate::transport::Transport;

/// What is known of a server and an account from elsewhere.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ServerParts {
    /// A host, an address, or the folder (of MySQL the file) of a unix socket, which begins with /.
    pub host: Option<String>,
    /// Its port.
    pub port: Option<u16>,
    /// Account.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<Secret>,
    /// Database.
    pub database: Option<String>,
    /// Words about encryption, as `Tls::take_from` reads them.
    pub tls: Vec<(String, String)>,
}

impl ServerUrl {
    /// Takes what the URL leaves out.
    ///
    /// # Errors
    /// A sentence about encryption that cannot be as it is asked for, and about a host that is
    /// none: its value is not repeated, for it may have a password.
    pub fn complete_with(&mut self, parts: ServerParts) -> Result<(), String> {
        let left_out = std::mem::take(&mut self.left_out);
        let port = parts.port.filter(|_| left_out.port);
        let host = parts.host.filter(|_| left_out.host);
        if host.as_deref().is_some_and(|host| !may_be_host(host)) {
            return Err(
                "the host that the service, an option file or the environment names is no \
                        host (it is not shown: it may have a password); name the host alone, and \
                        user, password and port each by its own word"
                    .to_owned(),
            );
        }
        self.transport = self.transport_to(host, port);
        if let Some(user) = parts.user.filter(|_| left_out.user) {
            self.user = user;
        }
        if let Some(database) = parts.database.filter(|_| left_out.database) {
            self.database = database;
        }
        if self.password.is_none() {
            self.password = parts.password;
        }
        let is_sure = self.tls.mode.is_some_and(|mode| mode >= TlsMode::Required);
        if is_sure && self.is_unencrypted() {
            return Err("PostgreSQL encrypts nothing on a unix socket, which the service or the \
                        environment names; leave out tls=, or name a host"
                .to_owned());
        }
        self.take_tls(parts.tls)
    }

    /// Whether it is a socket of PostgreSQL.
    fn is_unencrypted(&self) -> bool {
        self.dialect == Dialect::Postgres && matches!(self.transport, Transport::Unix(_))
    }

    fn transport_to(&self, host: Option<String>, port: Option<u16>) -> Transport {
        let is_postgres = self.dialect == Dialect::Postgres;
        let known = match &self.transport {
            Transport::Tcp(_, port) => *port,
            Transport::Unix(path) => {
                path.rsplit_once('.').and_then(|(_, port)| port.parse().ok()).unwrap_or(0)
            }
        };
        let port = port.unwrap_or(known);
        let socket = |folder: &str| {
            Transport::Unix(format!("{}/.s.PGSQL.{port}", folder.trim_end_matches('/')))
        };
        match (host, &self.transport) {
            (Some(host), _) if host.starts_with('/') && is_postgres => socket(&host),
            (Some(host), _) if host.starts_with('/') => Transport::Unix(host),
            (Some(host), _) => Transport::Tcp(host, port),
            (None, Transport::Tcp(host, _)) => Transport::Tcp(host.clone(), port),
            (None, Transport::Unix(path)) => match path.split_once("/.s.PGSQL.") {
                Some((folder, _)) if is_postgres => socket(folder),
                _ => Transport::Unix(path.clone()),
            },
        }
    }

    /// What the URL says of encryption counts more. On a unix socket of PostgreSQL nothing is
    /// encrypted, whatever the environment says, as with its own client.
    fn take_tls(&mut self, words: Vec<(String, String)>) -> Result<(), String> {
        let is_postgres = self.dialect == Dialect::Postgres;
        if words.is_empty() || self.is_unencrypted() {
            return Ok(());
        }
        let mut all = Vec::new();
        for (name, value) in self.tls.options(self.dialect) {
            // With authorities beside it, `require` asks them, as libpq has it.
            match name == "tls" && is_postgres && self.tls.mode == Some(TlsMode::Required) {
                true => all.push(("sslmode".to_owned(), "require".to_owned())),
                false => all.push((name.to_owned(), value)),
            }
        }
        let values: Vec<String> = words.iter().map(|(_, value)| format!("={value}")).collect();
        let is_open = self.tls.mode.is_none_or(|mode| mode >= TlsMode::Required);
        for (name, value) in words {
            let is_mode = name == "sslmode";
            let is_known = all.iter().any(|(known, _)| *known == name);
            if !is_known && is_open && !(is_mode && self.tls.mode.is_some()) {
                all.push((name, value));
            }
        }
        self.tls = Tls::take_from(&mut all, self.dialect).map_err(|wrong| {
            values.iter().fold(wrong, |wrong, value| wrong.replace(value, "=…"))
        })?;
        match all.first() {
            Some((name, _)) => Err(format!("{name}= is not known here; leave it out")),
            None => Ok(()),
        }
    }
}

/// Whether a text may be a host: a name, an address, or the path of a socket. A connection string
/// and an account before the host have other marks.
fn may_be_host(text: &str) -> bool {
    text.starts_with('/') || text.chars().all(|c| c.is_alphanumeric() || "._-:%[]".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{ArmSpec, Target};

    fn completed(text: &str, parts: ServerParts) -> String {
        let mut spec: ArmSpec = text.parse().unwrap();
        let Target::Url(url) = &mut spec.target else { panic!() };
        url.complete_with(parts).unwrap();
        let shown = spec.to_string();
        assert_eq!(shown.parse::<ArmSpec>().unwrap().to_string(), shown);
        shown
    }

    #[test]
    fn what_a_url_says_is_never_replaced() {
        let parts = || ServerParts {
            host: Some("db.example".to_owned()),
            port: Some(6432),
            user: Some("ann".to_owned()),
            password: None,
            database: Some("shop".to_owned()),
            tls: vec![("sslmode".to_owned(), "require".to_owned())],
        };
        for (text, whole) in [
            ("postgres://", "postgres://ann@db.example:6432/shop?tls=required"),
            ("postgres://h", "postgres://ann@h:6432/shop?tls=required"),
            ("postgres://bob@h:5432/d", "postgres://bob@h:5432/d?tls=required"),
            ("postgres://bob@h/?port=5&dbname=d", "postgres://bob@h:5/d?tls=required"),
            ("postgres://h?sslmode=disable", "postgres://ann@h:6432/shop?tls=off"),
            ("postgres:///d?host=/run/pg", "postgres://ann@/d?socket=/run/pg/.s.PGSQL.6432"),
            (
                "postgres:///d?host=/run/pg&port=5432",
                "postgres://ann@/d?socket=/run/pg/.s.PGSQL.5432",
            ),
        ] {
            let shown = completed(text, parts()).replace("%2F", "/");
            assert_eq!(shown, whole, "{text}");
        }
        let mut spec: ArmSpec = "postgres://?tls=required".parse().unwrap();
        let Target::Url(url) = &mut spec.target else { panic!() };
        let socket = ServerParts { host: Some("/run/pg".to_owned()), ..ServerParts::default() };
        assert!(
            url.complete_with(socket).unwrap_err().contains("encrypts nothing on a unix socket")
        );
        let nothing = completed("postgres:///", ServerParts::default());
        assert_eq!(nothing, "postgres://postgres@127.0.0.1:5432/dbdyno");
        let socket = ServerParts { host: Some("/run/pg/".to_owned()), ..ServerParts::default() };
        let shown = completed("postgres://", socket).replace("%2F", "/");
        assert_eq!(shown, "postgres://postgres@/dbdyno?socket=/run/pg/.s.PGSQL.5432");
    }

    /// A connection string where a host belongs has a password, and a slip of a word may be one.
    #[test]
    fn what_is_no_host_and_no_word_is_refused_and_not_shown() {
        let refused = |parts: ServerParts| {
            let spec: ArmSpec = "postgres://".parse().unwrap();
            let Target::Url(mut url) = spec.target else { panic!() };
            url.complete_with(parts).unwrap_err()
        };
        for host in ["u:hunter2@h", "h password=hunter2", "postgres://u:hunter2@h/d", "h?hunter2"] {
            let error = refused(ServerParts { host: Some(host.into()), ..ServerParts::default() });
            assert!(error.contains("no host") && !error.contains("hunter2"), "{error}");
        }
        for word in ["sslmode", "sslnegotiation", "tls"] {
            let tls = vec![(word.to_owned(), "hunter2".to_owned())];
            let error = refused(ServerParts { tls, ..ServerParts::default() });
            assert!(!error.contains("hunter2"), "{error}");
        }
        for host in ["db-1.example_x", "10.0.0.7", "fe80::1%eth0", "bücher.example", "/run/a b"] {
            assert!(may_be_host(host), "{host}");
        }
    }

    #[test]
    fn authorities_from_elsewhere_are_asked_where_encryption_is_required() {
        let ca = || ServerParts {
            tls: vec![("sslrootcert".to_owned(), "/ca.pem".to_owned())],
            ..ServerParts::default()
        };
        let shown = completed("postgres://u@h/d?sslmode=require", ca());
        assert!(shown.contains("tls=verify-ca"), "{shown}");
        let shown = completed("postgres://u@h/d?sslmode=prefer", ca());
        assert!(!shown.contains("sslrootcert"), "{shown}");
    }
}
