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
    /// A sentence about encryption that cannot be as it is asked for.
    pub fn complete_with(&mut self, parts: ServerParts) -> Result<(), String> {
        let left_out = std::mem::take(&mut self.left_out);
        let port = parts.port.filter(|_| left_out.port);
        let host = parts.host.filter(|_| left_out.host);
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
        let is_open = self.tls.mode.is_none_or(|mode| mode >= TlsMode::Required);
        for (name, value) in words {
            let is_mode = name == "sslmode";
            let is_known = all.iter().any(|(known, _)| *known == name);
            if !is_known && is_open && !(is_mode && self.tls.mode.is_some()) {
                all.push((name, value));
            }
        }
        self.tls = Tls::take_from(&mut all, self.dialect)?;
        match all.first() {
            Some((name, _)) => Err(format!("{name}= is not known here; leave it out")),
            None => Ok(()),
        }
    }
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
