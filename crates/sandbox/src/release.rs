//! A release: a tree of executables that run, from the unpacked tree on.
//!
//! ```text
//!   tree under a temporary name ─▶ libraries ─▶ ask the binary its version ─▶ relocate
//!           ─▶ stamp ─▶ flush ─▶ rename ─▶ run it ─▶ Release
//! ```
//!
//! How the tree comes is in `fetch`; which one is taken, and whether any must be fetched, in `get`.

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_host::Launch;
use dbdyno_model::{Product, SourceKind, random};
use dbdyno_server::ServerRelease;

use crate::apt::Apt;
use crate::archive::make_programs;
use crate::catalog;
use crate::child;
use crate::error::SandboxError;
use crate::home::Home;
use crate::layout::Layout;
use crate::libraries;
use crate::relocate::{self, Patchelf};
use crate::space;
use crate::stamp::Stamp;
use crate::symbols::Symbols;
use crate::tool::{Allowance, error_summary, run_with_allowance};

/// A server's executables, ready to run.
#[derive(Clone, Debug)]
pub struct Release {
    /// The product.
    pub product: Product,
    /// The full version, as the binary itself says it: `10.11.19`, `15.20`.
    pub version: String,
    /// The tree. It cannot be moved.
    pub dir: PathBuf,
    /// Where it comes from.
    pub source: SourceKind,
    /// For people: the source in words. For Debian the suite, and the versions of the server's
    /// package and of the libraries that weigh in a measurement: two releases from different
    /// suites differ in these too.
    pub origin: String,
    /// Every package in the tree, with its version.
    pub packages: Vec<(String, String)>,
    /// Name and SHA-256 of what was unpacked.
    pub sums: Vec<(String, String)>,
    pub(crate) layout: Layout,
    libraries: Vec<PathBuf>,
}

/// Libraries that are part of what is measured.
const WEIGHTY: [&str; 4] = ["libc6", "libstdc++6", "zlib1g", "liburing2"];

/// Where patchelf comes from, if not from the suite of the release itself.
const PATCHELF_SUITE: &str = "bookworm";

impl Release {
    /// What is in a file of its tree, of at most so many bytes. Whoever made the release may have
    /// put a link there; of the machine's own server they are ours, and lead to its data.
    ///
    /// # Errors
    /// [`SandboxError::Io`] if it cannot be read or is too large; [`SandboxError::Unsuitable`] if
    /// it lies somewhere else.
    pub(crate) fn read(&self, file: &Path, most: u64) -> Result<Vec<u8>, SandboxError> {
        let itself = file.canonicalize().map_err(SandboxError::io("find", file))?;
        let tree = self.dir.canonicalize().map_err(SandboxError::io("find", &self.dir))?;
        if self.source != SourceKind::System && !itself.starts_with(tree) {
            let reason = "it is a link that leads out of the server's folder".to_owned();
            return Err(SandboxError::Unsuitable { what: file.display().to_string(), reason });
        }
        dbdyno_files::read(&itself, most).map_err(SandboxError::io("read", file))
    }

    /// The server's executable.
    pub fn server(&self) -> PathBuf {
        self.dir.join(&self.layout.server)
    }

    /// What its executable knows of its own functions.
    pub fn read_symbols(&self) -> Option<Symbols> {
        Symbols::of_executable(&self.server())
    }

    /// Its tree's name among the others: `mariadb-10.11.19`, `mysql-8.0.33@maven`.
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A number that differs for two trees of the same name with other packages in them.
    /// Whether PostgreSQL can compile plans: what is downloaded is unpacked without LLVM, see
    /// `catalog`; a server of the machine has what its packager gave it.
    pub(crate) fn compiles_plans(&self) -> bool {
        let is_of_others = matches!(self.source, SourceKind::System | SourceKind::Files);
        is_of_others || self.packages.iter().any(|(name, _)| name.starts_with("libllvm"))
    }

    pub(crate) fn fingerprint(&self) -> String {
        format!("{:016x}", random::key_of(&format!("{:?} {:?}", self.packages, self.sums)))
    }

    /// Disk that the tree takes, in MB.
    ///
    /// # Errors
    /// [`SandboxError::Damaged`] if it cannot be read.
    pub fn disk_mb(&self) -> Result<u64, SandboxError> {
        space::size_mb(&self.dir)
    }

    /// An executable that came with the server, by its name.
    pub(crate) fn program_path(&self, name: &str) -> PathBuf {
        self.dir.join(self.layout.program_dir()).join(name)
    }

    /// The client of the family that came with the server, if one did.
    pub(crate) fn client(&self, names: &[&str]) -> Option<PathBuf> {
        let places = [self.layout.program_dir(), self.layout.base.join("bin")];
        let programs = places.iter().flat_map(|dir| names.iter().map(|name| dir.join(name)));
        programs.map(|program| self.dir.join(program)).find(|program| program.is_file())
    }

    /// A command that runs `program` of the tree with `work` as its directory, as
    /// [`child::foreign_program`] does.
    pub(crate) fn command_for(&self, program: &Path, work: &Path) -> Launch {
        let mut command = child::foreign_program(program, work);
        self.tell_libraries(&mut command);
        command
    }

    /// Adds the libraries that were brought along.
    pub(crate) fn tell_libraries(&self, command: &mut Launch) {
        if !self.libraries.is_empty() {
            let path = libraries::search_path(&self.dir, &self.libraries);
            command.env("LD_LIBRARY_PATH", path);
        }
    }

    fn new(stamp: Stamp, layout: Layout, dir: PathBuf) -> Release {
        Release {
            product: stamp.product,
            origin: origin(&stamp),
            source: stamp.source,
            version: stamp.version,
            dir,
            packages: stamp.packages,
            sums: stamp.sums,
            layout,
            libraries: stamp.libraries,
        }
    }
}

fn origin(stamp: &Stamp) -> String {
    let called = match stamp.source {
        SourceKind::Debian => {
            let prefixes = ["mysql-server", "mariadb-server", "postgresql-"];
            let is_servers = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
            let weighty = |name: &str| is_servers(name) || WEIGHTY.contains(&name);
            let named = stamp.packages.iter().filter(|(name, _)| weighty(name));
            let mut named: Vec<_> = named.map(|(name, v)| format!("{name} {v}")).collect();
            named.sort_by_key(|text| !is_servers(text));
            return format!("Debian {}: {}", stamp.suite, named.join(", "));
        }
        SourceKind::Maven => "Maven ",
        SourceKind::Npm => "npm ",
        SourceKind::Pypi => "PyPI ",
        SourceKind::Files => "files: ",
        SourceKind::System => "this machine: ",
    };
    format!("{called}{}", stamp.called)
}

/// The releases that are here, in order.
pub fn installed_releases(home: &Home) -> Vec<Release> {
    let mut all = all_finished(home);
    all.sort_by(|a, b| {
        let by_product = a.stamp.product.cmp(&b.stamp.product);
        by_product.then_with(|| catalog::compare_versions(&a.stamp.version, &b.stamp.version))
    });
    all.into_iter().map(Here::release).collect()
}

/// A finished tree.
pub(crate) struct Here {
    pub(crate) stamp: Stamp,
    layout: Layout,
    dir: PathBuf,
}

impl Here {
    pub(crate) fn release(self) -> Release {
        Release::new(self.stamp, self.layout, self.dir)
    }

    /// Whether it is where it was made: else the home was moved.
    pub(crate) fn is_in_place(&self) -> bool {
        self.stamp.root == self.dir
    }

    /// Writes the tree's new place into its executables, after the home was moved.
    pub(crate) fn settle_in(
        self,
        home: &Home,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Release, SandboxError> {
        let Here { mut stamp, layout, dir } = self;
        progress(&format!("fitting {} {} to its new place", stamp.product.name(), stamp.version));
        if relocate::has_loader(&dir) {
            let patchelf = patchelf(home, &stamp.suite, progress)?;
            relocate::relocate_programs(&patchelf, &dir, &dir, &layout.program_paths(&dir))?;
        }
        stamp.root = dir.clone();
        stamp.write(&dir)?;
        Ok(Release::new(stamp, layout, dir))
    }
}

fn all_finished(home: &Home) -> Vec<Here> {
    let dirs = fs::read_dir(home.servers_dir()).into_iter().flatten().flatten();
    let visible = dirs
        .map(|entry| entry.path())
        .filter(|dir| dir.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    visible
        .filter_map(|dir| {
            let stamp = Stamp::read(&dir)?;
            Some(Here { layout: Layout::find_in_tree(stamp.product, &dir)?, stamp, dir })
        })
        .collect()
}

/// The newest finished tree of `product` that matches. What is the system's own counts only if
/// that was asked for.
pub(crate) fn find_finished(
    home: &Home,
    product: Product,
    version: &str,
    source: Option<SourceKind>,
) -> Option<Here> {
    let wanted = |stamp: &Stamp| {
        let from_there = match source {
            Some(source) => stamp.source == source,
            None => stamp.source != SourceKind::System,
        };
        stamp.product == product && from_there && catalog::version_matches(&stamp.version, version)
    };
    let by_version =
        |a: &Here, b: &Here| catalog::compare_versions(&a.stamp.version, &b.stamp.version);
    let fitting = all_finished(home).into_iter().filter(|here| wanted(&here.stamp));
    // Of equal versions the kind of source that is named first.
    fitting.max_by(|a, b| by_version(a, b).then_with(|| b.stamp.source.cmp(&a.stamp.source)))
}

fn patchelf(
    home: &Home,
    suite: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Patchelf, SandboxError> {
    let suite = catalog::suite_named(suite).unwrap_or(PATCHELF_SUITE);
    Patchelf::find(home, |progress| Apt::open(home, suite, progress), progress)
}

/// Turns an unpacked tree under a temporary name into a release. `stamp` has yet to learn the
/// version, the place and the libraries.
pub(crate) fn finish(
    home: &Home,
    mut stamp: Stamp,
    tree: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let layout =
        Layout::find_in_tree(stamp.product, tree).ok_or_else(|| SandboxError::Damaged {
            place: tree.to_owned(),
            detail: format!("there is no {} server in it", stamp.product.name()),
        })?;
    let server = tree.join(&layout.server);
    let own_loader = relocate::has_loader(tree);
    let command = if own_loader {
        relocate::run_in_place(tree, &server)?
    } else {
        make_programs(tree, &layout.program_paths(tree))?;
        let initdb =
            Some(tree.join(layout.program_dir()).join("initdb")).filter(|path| path.is_file());
        let needed: Vec<PathBuf> = [server.clone()].into_iter().chain(initdb).collect();
        stamp.libraries = libraries::add_missing_libraries(home, tree, &needed, progress)?;
        let mut command = child::foreign_program(&server, tree);
        command.env("LD_LIBRARY_PATH", libraries::search_path(tree, &stamp.libraries));
        command
    };
    stamp.version = ask_version(stamp.product, command, tree)?;
    if stamp.source == SourceKind::Files {
        check_is_new(home, &stamp)?;
    }
    let what = format!("{}-{}", stamp.product.name(), stamp.version);
    let dir = home.servers_dir().join(match stamp.source {
        SourceKind::Debian => what,
        other => format!("{what}@{}", other.name()),
    });
    stamp.root = dir.clone();
    if own_loader {
        progress(&format!("fitting {} {} to its place", stamp.product.name(), stamp.version));
        let patchelf = patchelf(home, &stamp.suite, progress)?;
        relocate::relocate_programs(&patchelf, tree, &dir, &layout.program_paths(tree))?;
    }
    stamp.write(tree)?;
    relocate::flush(tree)?;
    if dir.exists() {
        // Not finished, or it would have been taken; so nothing runs from it.
        fs::remove_dir_all(&dir).map_err(SandboxError::io("remove", &dir))?;
    }
    fs::rename(tree, &dir).map_err(SandboxError::io("rename", tree))?;
    let release = Release::new(stamp, layout, dir.clone());
    let command = release.command_for(&release.server(), &dir);
    let placed = ask_version(release.product, command, &dir);
    if placed.as_ref().ok() != Some(&release.version) {
        let _ = fs::remove_dir_all(&dir);
        placed?;
    }
    Ok(release)
}

/// What the user gave must be the version that was asked for, and not be here yet: servers may be
/// running from the tree that is.
fn check_is_new(home: &Home, stamp: &Stamp) -> Result<(), SandboxError> {
    let unsuitable =
        |reason: String| Err(SandboxError::Unsuitable { what: stamp.called.clone(), reason });
    let (name, version, asked) = (stamp.product.name(), &stamp.version, &stamp.line);
    if !catalog::version_matches(version, asked) {
        return unsuitable(format!("it is {name} {version}, not {asked}; write {name}:{version}"));
    }
    if find_finished(home, stamp.product, version, Some(SourceKind::Files)).is_some() {
        return unsuitable(format!(
            "{name} {version} from files is here already; use it as {name}:{version}@files, or \
             remove it first: dbdyno server rm {name}-{version}@files"
        ));
    }
    Ok(())
}

/// Asks a server's executable for its version.
pub(crate) fn ask_version(
    product: Product,
    mut command: Launch,
    tree: &Path,
) -> Result<String, SandboxError> {
    if product != Product::Postgres {
        // The machine's own my.cnf is not for it.
        command.arg("--no-defaults");
    }
    command.arg("--version");
    let said =
        run_with_allowance(command, Allowance::QUESTION).map_err(SandboxError::spawn("server"))?;
    let damaged = |detail: String| SandboxError::Damaged { place: tree.to_owned(), detail };
    let said = said.ok_or_else(|| {
        let seconds = Allowance::QUESTION.seconds;
        damaged(format!("it did not say its version (--version) within {seconds} s"))
    })?;
    let text = String::from_utf8_lossy(&said.stdout);
    let version = parse_version(&text).ok_or_else(|| {
        damaged(format!("asked for its version, it said: {}", error_summary(&said, &[])))
    })?;
    let said = ServerRelease::of_version(&text, product.dialect()).family();
    if said.product != Some(product) {
        return Err(damaged(format!("it is not {}, but version {version}", product.name())));
    }
    Ok(version)
}

/// `mariadbd  Ver 10.11.19-MariaDB-… for …`, `mysqld  Ver 5.6.24 for …` or
/// `postgres (PostgreSQL) 15.20 (Debian …)`.
fn parse_version(text: &str) -> Option<String> {
    let after = text.split_once(" Ver ").or_else(|| text.split_once("(PostgreSQL) "))?.1;
    let word = after.split_whitespace().next()?;
    let number = word.split('-').next()?;
    let starts = number.starts_with(|c: char| c.is_ascii_digit());
    let plain = number.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    (starts && plain).then(|| number.to_owned())
}

#[cfg(test)]
mod tests {
    use dbdyno_model::split_version;

    use super::*;

    #[test]
    fn versions_are_read_from_what_the_binaries_say() {
        let mariadb =
            "/h/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu (Debian 12)";
        assert_eq!(parse_version(mariadb).unwrap(), "10.11.19");
        let mysql = "/h/mysqld  Ver 5.6.24 for Linux on x86_64 (MySQL Community Server (GPL))";
        assert_eq!(parse_version(mysql).unwrap(), "5.6.24");
        let postgres = "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)";
        assert_eq!(parse_version(postgres).unwrap(), "15.20");
        assert_eq!(parse_version("postgres (PostgreSQL) 19rc1 (Debian)").unwrap(), "19rc1");
        for wrong in ["", "Segmentation fault", "x Ver ../../etc", "x (PostgreSQL) "] {
            assert_eq!(parse_version(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_tree_without_a_whole_stamp_is_not_used_and_the_newest_whole_one_is() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        let make = |name: &str, version: &str, source: SourceKind| {
            let tree = home.servers_dir().join(name);
            for file in ["usr/sbin/mariadbd", "usr/share/mysql/english/errmsg.sys"] {
                let file = tree.join(file);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, "half").unwrap();
            }
            let stamp = Stamp {
                product: Product::MariaDb,
                line: "10.11".into(),
                version: version.into(),
                suite: "bookworm".into(),
                root: tree.clone(),
                packages: Vec::new(),
                source,
                called: String::new(),
                libraries: Vec::new(),
                sums: Vec::new(),
            };
            (tree, stamp)
        };
        let found = |asked: &str| {
            let (version, source) = split_version(asked);
            find_finished(&home, Product::MariaDb, version, source).map(|here| here.stamp.version)
        };
        let (tree, stamp) = make("mariadb-10.11.3", "10.11.3", SourceKind::Debian);
        assert_eq!(found(""), None);
        fs::write(tree.join("dbdyno-stamp"), "dbdyno-release 1\nproduct maria").unwrap();
        assert_eq!(found(""), None);
        stamp.write(&tree).unwrap();
        assert_eq!(found("10.11.3").unwrap(), "10.11.3");
        assert_eq!(found("10.11.30"), None);
        let (newer, stamp) = make("mariadb-10.11.12@maven", "10.11.12", SourceKind::Maven);
        stamp.write(&newer).unwrap();
        assert_eq!(found("10.11").unwrap(), "10.11.12");
        assert_eq!(found("10.11@debian").unwrap(), "10.11.3");
        assert_eq!(found("10.11@npm"), None);
        let (system, stamp) = make("mariadb-10.11.20@system", "10.11.20", SourceKind::System);
        stamp.write(&system).unwrap();
        assert_eq!(found("10").unwrap(), "10.11.12", "the system's own was not asked for");
        fs::remove_file(newer.join("usr/sbin/mariadbd")).unwrap();
        assert_eq!(found("10").unwrap(), "10.11.3");
    }
}
