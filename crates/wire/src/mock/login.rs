//! What is agreed before a client may ask: the language, and the proof of the one account.

use dbdyno_model::Secret;

/// The language that the mock speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MockProtocol {
    /// MySQL's, as version 8.0 speaks it.
    Mysql,
    /// PostgreSQL's, version 3.0.
    Postgres,
}

/// How the mock lets clients prove who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// MySQL: `mysql_native_password`.
    Native,
    /// MySQL: `caching_sha2_password`. The first login of a server goes the full way, the later
    /// ones the fast way, as with a real server's cache.
    CachingSha2,
    /// PostgreSQL: SCRAM-SHA-256.
    Scram,
    /// PostgreSQL: MD5.
    Md5,
    /// Anybody is let in.
    Trust,
}

/// The one account of a mock server.
#[derive(Clone, Debug)]
pub struct Login {
    /// Its name.
    pub user: String,
    /// Its password.
    pub password: Secret,
    /// The proof that is demanded.
    pub auth: Auth,
}

impl Login {
    /// An account that needs no proof.
    pub fn without_password(user: &str) -> Login {
        Login { user: user.to_owned(), password: Secret::default(), auth: Auth::Trust }
    }
}
