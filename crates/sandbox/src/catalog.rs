//! Which releases can be had, and from where.
//!
//! ```text
//!   asked "10", "10.11", "10.11.19"  ──line──▶  10.11 of bookworm  ──apt──▶  10.11.19, 10.11.18
//! ```
//!
//! A *line* is a series of patch releases that one Debian suite carries. The suite's indexes know
//! the patch releases; the lines are written here, because a suite's name is not in its packages.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use dbdyno_model::Product;

use crate::error::SandboxError;

/// A series of releases in one Debian suite.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) product: Product,
    /// The versions' common beginning.
    pub(crate) version: &'static str,
    pub(crate) suite: &'static str,
    pub(crate) package: &'static str,
    /// Dependencies that the server does not need to run, which apt is told are installed: scripts
    /// that manage clusters, the compiler behind `jit`, locales, and what only those need. For
    /// PostgreSQL this is 41 MB instead of 93 MB to download, 135 MB instead of 400 MB on disk.
    pub(crate) assumed: &'static [&'static str],
    /// Executables that are started, below the tree; the first is the server.
    programs: &'static [&'static str],
}

/// All of them, for each product the newest first.
static LINES: [Line; 4] = [
    Line {
        product: Product::MariaDb,
        version: "11.8",
        suite: "trixie",
        package: "mariadb-server-core",
        assumed: &[],
        programs: &["usr/sbin/mariadbd"],
    },
    Line {
        product: Product::MariaDb,
        version: "10.11",
        suite: "bookworm",
        package: "mariadb-server-core",
        assumed: &[],
        programs: &["usr/sbin/mariadbd"],
    },
    Line {
        product: Product::Postgres,
        version: "17",
        suite: "trixie",
        package: "postgresql-17",
        assumed: &[
            "postgresql-common",
            "postgresql-client-17",
            "ssl-cert",
            "locales",
            "tzdata",
            "debconf",
            "libllvm19",
        ],
        programs: &["usr/lib/postgresql/17/bin/postgres", "usr/lib/postgresql/17/bin/initdb"],
    },
    Line {
        product: Product::Postgres,
        version: "15",
        suite: "bookworm",
        package: "postgresql-15",
        assumed: &[
            "postgresql-common",
            "postgresql-client-15",
            "ssl-cert",
            "locales",
            "tzdata",
            "debconf",
            "libllvm14",
        ],
        programs: &["usr/lib/postgresql/15/bin/postgres", "usr/lib/postgresql/15/bin/initdb"],
    },
];

impl Line {
    /// The server's executable in `tree`.
    pub(crate) fn server(&self, tree: &Path) -> PathBuf {
        tree.join(self.programs[0])
    }

    /// Everything that is executed in `tree`.
    pub(crate) fn programs(&self, tree: &Path) -> Vec<PathBuf> {
        self.programs.iter().map(|program| tree.join(program)).collect()
    }
}

/// The lines that can be had, oldest first: what to offer when something else was asked for.
pub fn available(product: Product) -> Vec<&'static str> {
    let lines = LINES.iter().rev().filter(|line| line.product == product);
    lines.map(|line| line.version).collect()
}

/// The newest line in which `asked` may be found.
pub(crate) fn line_for(product: Product, asked: &str) -> Result<&'static Line, SandboxError> {
    let fits = |line: &&Line| {
        line.product == product && (matches(line.version, asked) || matches(asked, line.version))
    };
    LINES.iter().find(fits).ok_or_else(|| SandboxError::UnknownVersion {
        product,
        asked: asked.to_owned(),
        available: available(product).into_iter().map(str::to_owned).collect(),
    })
}

/// Whether `version` is `prefix` or begins with it, part by part: 10.11.19 matches 10.11 but not
/// 10.1. The empty prefix matches everything.
pub(crate) fn matches(version: &str, prefix: &str) -> bool {
    let rest = version.strip_prefix(prefix);
    prefix.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Orders versions part by part, numbers as numbers.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(u64, String)> {
        let split = version.split(['.', '~', '-']);
        split.map(|part| (part.parse().unwrap_or(0), part.to_owned())).collect()
    };
    parts(a).cmp(&parts(b))
}

/// The version that the makers of the server gave, out of Debian's: `1:10.11.19-0+deb12u1` is
/// 10.11.19.
pub(crate) fn upstream(debian: &str) -> &str {
    let version = debian.split_once(':').map_or(debian, |(_epoch, version)| version);
    version.rsplit_once('-').map_or(version, |(upstream, _revision)| upstream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn prefixes_are_resolved_part_by_part_to_the_newest_line() {
        let line = |product, asked| line_for(product, asked).map(|line| line.version).ok();
        let (mariadb, postgres) = (Product::MariaDb, Product::Postgres);
        for (asked, found) in [
            ("10", Some("10.11")),
            ("10.11", Some("10.11")),
            ("10.11.18", Some("10.11")),
            ("11", Some("11.8")),
            ("", Some("11.8")),
            ("10.1", None),
            ("10.111", None),
            ("1", None),
            ("10.", None),
            ("10.6", None),
            ("x", None),
        ] {
            assert_eq!(line(mariadb, asked), found, "mariadb:{asked}");
        }
        assert_eq!(line(postgres, "17"), Some("17"));
        assert_eq!(line(postgres, "15.20"), Some("15"));
        assert_eq!(line(postgres, ""), Some("17"));
        assert_eq!(line(postgres, "1"), None);
        assert_eq!(line(postgres, "10.11"), None);
    }

    #[test]
    fn an_unknown_version_comes_with_those_that_can_be_had() {
        let text = line_for(Product::MariaDb, "10.6").unwrap_err().to_string();
        for part in ["mariadb:10.6", "mariadb:10.11", "mariadb:11.8", "mysql://"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        assert_eq!(available(Product::MariaDb), ["10.11", "11.8"]);
        assert_eq!(available(Product::Postgres), ["15", "17"]);
    }

    #[test]
    fn debian_versions_lose_epoch_and_revision() {
        assert_eq!(upstream("1:10.11.19-0+deb12u1"), "10.11.19");
        assert_eq!(upstream("15.20-0+deb12u1"), "15.20");
        assert_eq!(upstream("19~rc1-1"), "19~rc1");
        assert_eq!(upstream("2.9.14+dfsg-1.3~deb12u6"), "2.9.14+dfsg");
    }

    proptest! {
        #[test]
        fn order_is_that_of_the_numbers(a in prop::collection::vec(0_u64..300, 1..4),
                                        b in prop::collection::vec(0_u64..300, 1..4)) {
            let words = |parts: &[u64]| parts.iter().map(u64::to_string).collect::<Vec<_>>();
            let text = |parts: &[u64]| words(parts).join(".");
            prop_assert_eq!(compare(&text(&a), &text(&b)), a.cmp(&b));
        }
    }
}
