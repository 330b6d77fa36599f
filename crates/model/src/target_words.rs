//! The words of targets: kinds, and the options of URLs.
//!
//! ```text
//!   KIND:VERSION@SOURCE?SETTING=VALUE     SCHEME://ACCOUNT@HOST/DATABASE?OPTION=VALUE
//! ```
//!
//! The parser of targets knows them, and so does what takes secrets out of a target before it is
//! parsed: what is none of these words may be a secret.

use crate::tls::Tls;
use crate::words::words;

/// The words with which a target can begin.
pub const KINDS: [&str; 7] =
    ["mariadb", "postgres", "mysql", "postgresql", "sqlite", "rocksdb", "engine"];

/// Those of them that live in the client's own threads.
pub(crate) const EMBEDDED: [&str; 3] = ["sqlite", "rocksdb", "engine"];

/// The kind that stands for no server, hidden from those that can be written.
pub(crate) const MOCK: &str = "mock";

/// Options that a URL may have beside those of [`Tls::take_from`].
const URL_OPTIONS: [&str; 11] = [
    "socket",
    "host",
    "hostaddr",
    "port",
    "dbname",
    "user",
    "password",
    "login-path",
    "service",
    "slow",
    "record",
];

/// Whether URLs of servers have an option with this name.
pub(crate) fn is_url_option(name: &str) -> bool {
    URL_OPTIONS.contains(&name) || Tls::is_option(name)
}

/// Whether it is the kind of a target without a server.
pub(crate) fn is_embedded_kind(kind: &str) -> bool {
    EMBEDDED.contains(&kind) || kind == MOCK
}

/// Whether this may be a version and the source that it comes from.
pub(crate) fn is_version(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || ".-~@".contains(c))
}

words! {
    /// Where a release comes from.
    #[derive(PartialOrd, Ord)]
    SourceKind {
        /// Packages of a Debian suite.
        Debian = "debian",
        /// An artefact in a Maven repository that has a server in it.
        Maven = "maven",
        /// An npm package that has a server in it.
        Npm = "npm",
        /// A Python wheel that has a server in it.
        Pypi = "pypi",
        /// An archive or a folder that the user has.
        Files = "files",
        /// What is installed on the machine.
        System = "system",
    }
}
