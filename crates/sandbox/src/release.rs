//! Getting a release: from a version as the user wrote it to a tree of executables that run.
//!
//! ```text
//!   asked ─▶ line ─▶ is a finished tree of it here? ── yes ─▶ Release      (no network)
//!                              │ no: take the lock, look again
//!                              ▼
//!   indexes ─▶ newest version that matches ─▶ room? ─▶ download ─▶ unpack into .tmp-…
//!           ─▶ ask the binary its version ─▶ relocate ─▶ stamp ─▶ flush ─▶ rename ─▶ run it
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_model::Product;

use crate::apt::{Apt, Deb, run};
use crate::catalog::{self, Line};
use crate::child;
use crate::error::SandboxError;
use crate::home::Home;
use crate::relocate::{self, Patchelf};
use crate::space;
use crate::stamp::Stamp;

/// A server's executables, ready to run.
#[derive(Clone, Debug)]
pub struct Release {
    /// The product.
    pub product: Product,
    /// The full version, as the binary itself says it: `10.11.19`, `15.20`.
    pub version: String,
    /// The tree. It cannot be moved.
    pub dir: PathBuf,
    /// For people: suite, and the versions of the server's package and of the libraries that weigh
    /// in a measurement. Two releases from different suites differ in these too.
    pub origin: String,
    /// Every package in the tree, with Debian's version.
    pub packages: Vec<(String, String)>,
    pub(crate) line: &'static Line,
}

/// Libraries that are part of what is measured.
const WEIGHTY: [&str; 4] = ["libc6", "libstdc++6", "zlib1g", "liburing2"];

/// Unpacked size over downloaded size, generously: 3.6 to 5 was seen.
const UNPACKED: u64 = 6;

impl Release {
    /// The server's executable.
    pub fn server(&self) -> PathBuf {
        self.line.server(&self.dir)
    }

    /// Finds an executable of the tree by its name.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        let programs = self.line.programs(&self.dir);
        programs.into_iter().find(|path| path.ends_with(name)).unwrap_or_else(|| self.server())
    }

    fn new(stamp: Stamp, line: &'static Line, dir: PathBuf) -> Release {
        let weighty = |name: &String| name == line.package || WEIGHTY.contains(&name.as_str());
        let named = stamp.packages.iter().filter(|(name, _)| weighty(name));
        let mut named: Vec<_> = named.map(|(name, v)| format!("{name} {v}")).collect();
        named.sort_by_key(|text| !text.starts_with(line.package));
        Release {
            product: stamp.product,
            origin: format!("Debian {}: {}", stamp.suite, named.join(", ")),
            version: stamp.version,
            dir,
            packages: stamp.packages,
            line,
        }
    }
}

/// Gets the newest release that matches `version`: `10.11`, `10.11.19`, `10`, or empty for the
/// newest of all. One that was got before is taken as it is, without the network. `progress` hears
/// a clause before each step that takes time.
///
/// # Errors
/// [`SandboxError::UnknownVersion`], [`SandboxError::NotReachable`], [`SandboxError::NoSpace`],
/// [`SandboxError::MissingTool`], [`SandboxError::Busy`], [`SandboxError::Damaged`],
/// [`SandboxError::Io`].
pub fn get(
    home: &Home,
    product: Product,
    version: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let line = catalog::line_for(product, version)?;
    let here = |stamp: &Stamp, dir: &Path| stamp.root == dir;
    if let Some((stamp, dir)) = finished(home, line, version)
        && here(&stamp, &dir)
    {
        return Ok(Release::new(stamp, line, dir));
    }
    let _lock = home.lock(progress)?;
    home.remove_unfinished("servers");
    home.remove_unfinished("tools");
    match finished(home, line, version) {
        Some((stamp, dir)) if here(&stamp, &dir) => Ok(Release::new(stamp, line, dir)),
        Some((stamp, dir)) => settle_in(home, line, stamp, dir, progress),
        None => fetch(home, line, version, progress),
    }
}

/// The newest finished tree of `line` that matches `version`.
fn finished(home: &Home, line: &Line, version: &str) -> Option<(Stamp, PathBuf)> {
    let dirs = fs::read_dir(home.servers()).ok()?.flatten().map(|entry| entry.path());
    let visible = dirs
        .filter(|dir| dir.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')));
    visible
        .filter_map(|dir| Some((Stamp::read(&dir)?, dir)))
        .filter(|(stamp, dir)| {
            let wanted = stamp.product == line.product && stamp.line == line.version;
            wanted && catalog::matches(&stamp.version, version) && line.server(dir).is_file()
        })
        .max_by(|(a, _), (b, _)| catalog::compare(&a.version, &b.version))
}

/// The home was moved: writes the tree's new place into its executables.
fn settle_in(
    home: &Home,
    line: &'static Line,
    mut stamp: Stamp,
    dir: PathBuf,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    progress(&format!("fitting {} {} to its new place", line.product.name(), stamp.version));
    let apt = |progress: &mut dyn FnMut(&str)| Apt::open(home, line.suite, progress);
    let patchelf = Patchelf::find(home, apt, progress)?;
    relocate::relocate(&patchelf, &dir, &dir, &line.programs(&dir))?;
    stamp.root = dir.clone();
    stamp.write(&dir)?;
    Ok(Release::new(stamp, line, dir))
}

fn fetch(
    home: &Home,
    line: &'static Line,
    asked: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let apt = Apt::open(home, line.suite, progress)?;
    let name = line.product.name();
    let debian = choose(line, asked, &apt.versions(line.package)?)?;
    let patchelf = Patchelf::find(home, |_| Ok(apt.clone()), progress)?;

    let spec = format!("{}={debian}", line.package);
    let debs = apt.closure(&spec, line.assumed)?;
    let bytes: u64 = debs.iter().map(|deb| deb.bytes).sum();
    let mb = bytes.div_ceil(1 << 20);
    let version = catalog::upstream(&debian);
    let what = format!("{name} {version}");
    space::require(&format!("unpacking {what}"), home.dir(), mb + UNPACKED * mb)?;

    let tree = home.servers().join(format!(".tmp-{}", std::process::id()));
    progress(&format!("downloading {what} ({} packages, {mb} MB)", debs.len()));
    let made = relocate::unpack(&apt, &spec, &debs, &tree)
        .and_then(|()| finish(home, line, &patchelf, &tree, debs, progress));
    if made.is_err() {
        let _ = fs::remove_dir_all(&tree);
    }
    made
}

/// Picks Debian's version to install.
fn choose(line: &Line, asked: &str, listed: &[String]) -> Result<String, SandboxError> {
    let matching = listed.iter().filter(|v| {
        let upstream = catalog::upstream(v);
        catalog::matches(upstream, line.version) && catalog::matches(upstream, asked)
    });
    // apt lists the newest first, and of equal ones the first is the one that it prefers.
    let by_upstream =
        |a: &&String, b: &&String| catalog::compare(catalog::upstream(b), catalog::upstream(a));
    matching.min_by(by_upstream).cloned().ok_or_else(|| {
        let lines = catalog::available(line.product).into_iter().map(str::to_owned);
        let mut exact: Vec<String> =
            listed.iter().map(|v| catalog::upstream(v).to_owned()).collect();
        exact.sort_by(|a, b| catalog::compare(a, b));
        exact.dedup();
        SandboxError::UnknownVersion {
            product: line.product,
            asked: asked.to_owned(),
            available: lines.chain(exact).collect(),
        }
    })
}

/// Turns an unpacked tree under a temporary name into a release.
fn finish(
    home: &Home,
    line: &'static Line,
    patchelf: &Patchelf,
    tree: &Path,
    debs: Vec<Deb>,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let mut command = relocate::run_in_place(tree, &line.server(tree))?;
    let version = ask_version(&mut command, tree)?;
    let what = format!("{} {version}", line.product.name());
    progress(&format!("fitting {what} to its place"));
    let dir = home.servers().join(what.replace(' ', "-"));
    relocate::relocate(patchelf, tree, &dir, &line.programs(tree))?;
    let stamp = Stamp {
        product: line.product,
        line: line.version.to_owned(),
        version: version.clone(),
        suite: line.suite.to_owned(),
        root: dir.clone(),
        packages: debs.iter().filter_map(Deb::name_and_version).collect(),
    };
    stamp.write(tree)?;
    relocate::flush(tree)?;
    if dir.exists() {
        // Not finished, or it would have been taken; so nothing runs from it.
        fs::remove_dir_all(&dir).map_err(SandboxError::io("remove", &dir))?;
    }
    fs::rename(tree, &dir).map_err(SandboxError::io("rename", tree))?;
    let relocated = ask_version(&mut child::command(line.server(&dir)), &dir);
    if relocated.as_ref().ok() != Some(&version) {
        let _ = fs::remove_dir_all(&dir);
        relocated?;
    }
    Ok(Release::new(stamp, line, dir))
}

/// Asks a server's executable for its version.
fn ask_version(command: &mut std::process::Command, tree: &Path) -> Result<String, SandboxError> {
    let output = run(command.arg("--version"), "server")?;
    let text = String::from_utf8_lossy(&output.stdout);
    parse_version(&text).ok_or_else(|| SandboxError::Damaged {
        place: tree.to_owned(),
        detail: format!("{}{}", text.trim(), String::from_utf8_lossy(&output.stderr).trim()),
    })
}

/// `mariadbd  Ver 10.11.19-MariaDB-… for …` or `postgres (PostgreSQL) 15.20 (Debian …)`.
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
    use super::*;

    #[test]
    fn versions_are_read_from_what_the_binaries_say() {
        let mariadb =
            "/h/mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu (Debian 12)";
        assert_eq!(parse_version(mariadb).unwrap(), "10.11.19");
        let postgres = "postgres (PostgreSQL) 15.20 (Debian 15.20-0+deb12u1)";
        assert_eq!(parse_version(postgres).unwrap(), "15.20");
        assert_eq!(parse_version("postgres (PostgreSQL) 19rc1 (Debian)").unwrap(), "19rc1");
        for wrong in ["", "Segmentation fault", "x Ver ../../etc", "x (PostgreSQL) "] {
            assert_eq!(parse_version(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn the_newest_listed_version_that_matches_is_chosen() {
        let line = catalog::line_for(Product::MariaDb, "10.11").unwrap();
        let listed = ["1:10.11.9-0+deb12u1", "1:10.11.19-0+deb12u2", "1:10.11.19-0+deb12u1"];
        let listed = listed.map(str::to_owned);
        assert_eq!(choose(line, "10", &listed).unwrap(), "1:10.11.19-0+deb12u2");
        assert_eq!(choose(line, "10.11.9", &listed).unwrap(), "1:10.11.9-0+deb12u1");
        let text = choose(line, "10.11.1", &listed).unwrap_err().to_string();
        for part in ["mariadb:10.11.1 ", "mariadb:10.11.9,", "mariadb:10.11.19", "mariadb:11.8"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }

    #[test]
    fn a_tree_without_a_whole_stamp_is_not_used() {
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        crate::home::set_mode(dir.path(), 0o755).unwrap();
        let home = Home::open(Some(dir.path())).unwrap();
        let line = catalog::line_for(Product::MariaDb, "10.11").unwrap();
        let tree = home.servers().join("mariadb-10.11.3");
        fs::create_dir_all(tree.join("usr/sbin")).unwrap();
        fs::write(line.server(&tree), "half").unwrap();
        assert!(finished(&home, line, "").is_none());
        fs::write(tree.join("dbdyno-stamp"), "dbdyno-release 1\nproduct maria").unwrap();
        assert!(finished(&home, line, "").is_none());
        let stamp = Stamp {
            product: Product::MariaDb,
            line: "10.11".into(),
            version: "10.11.3".into(),
            suite: "bookworm".into(),
            root: tree.clone(),
            packages: Vec::new(),
        };
        stamp.write(&tree).unwrap();
        assert!(finished(&home, line, "10.11.3").is_some());
        assert!(finished(&home, line, "10.11.30").is_none());
        fs::remove_file(line.server(&tree)).unwrap();
        assert!(finished(&home, line, "").is_none());
    }
}
