//! How a tree comes from each kind of source, up to the point where it is unpacked under a
//! temporary name; from there on `release::finish` goes on.
//!
//! ```text
//!   Debian    indexes ─▶ newest that matches ─▶ room? ─▶ .deb closure ─▶ .tmp-PID
//!   registry  list    ─▶ newest that matches ─▶ room? ─▶ client ─▶ .tmp-PID/package
//!   files                                       room? ─▶ copy or unpack   └─▶ …/unpacked ─▶ root
//!   system                                      room? ─▶ executables copied, the rest linked
//! ```

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use dbdyno_model::{Product, SourceKind};

use crate::apt::{Apt, Deb};
use crate::archive;
use crate::catalog::{self, Line, ServerPackage, Source};
use crate::child;
use crate::error::SandboxError;
use crate::home::{Home, make_passage, set_mode};
use crate::layout::{Layout, root_in};
use crate::registry;
use crate::release::{Release, ask_version, find_finished, finish};
use crate::relocate;
use crate::space::{self, size_mb};
use crate::stamp::Stamp;
use crate::sums::{self, Pinning};
use crate::tool::sha256;
use crate::tree::{self, Outward};

/// Unpacked size over downloaded size, generously: 3.6 to 5 was seen for Debian's packages, 2.5
/// for the makers' archives.
const UNPACKED: u64 = 6;
/// Room for what clients keep and for libraries that are brought along, in MB.
const BESIDE_MB: u64 = 60;

/// Gets the newest release of `line` that matches `asked`.
pub(crate) fn fetch_newest_release(
    home: &Home,
    line: &'static Line,
    asked: &str,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    match &line.source {
        Source::Debian { suite, package, assumed } => {
            debian(home, line, suite, package, assumed, asked, progress)
        }
        Source::Packed(packed) => registered(home, line, packed, asked, pinning, progress),
    }
}

fn debian(
    home: &Home,
    line: &'static Line,
    suite: &'static str,
    package: &str,
    assumed: &[&str],
    asked: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let apt = Apt::open(home, suite, progress)?;
    let debian = choose(line, asked, &apt.package_versions(package)?)?;
    let spec = format!("{package}={debian}");
    let debs = apt.packages_to_download(&spec, assumed)?;
    let bytes: u64 = debs.iter().map(|deb| deb.bytes).sum();
    let mb = bytes.div_ceil(1 << 20);
    let what = format!("{} {}", line.product.name(), catalog::upstream_version(&debian));
    space::require_free_space(&format!("unpacking {what}"), home.dir(), mb + UNPACKED * mb)?;
    progress(&format!("downloading {what} ({} packages, {mb} MB)", debs.len()));
    within_temporary(home, |tree| {
        let sums = relocate::unpack(&apt, &spec, &debs, tree, progress)?;
        let stamp = Stamp {
            suite: suite.to_owned(),
            packages: debs.iter().filter_map(Deb::name_and_version).collect(),
            sums,
            ..unfinished(line.product, line.version, SourceKind::Debian, package)
        };
        finish(home, stamp, tree, progress)
    })
}

/// Picks Debian's version to install.
fn choose(line: &Line, asked: &str, listed: &[String]) -> Result<String, SandboxError> {
    let matching = listed.iter().filter(|v| {
        let upstream = catalog::upstream_version(v);
        catalog::version_matches(upstream, line.version)
            && catalog::version_matches(upstream, asked)
    });
    matching.min_by(by_upstream).cloned().ok_or_else(|| SandboxError::UnknownVersion {
        product: line.product,
        asked: asked.to_owned(),
        available: listed.iter().map(|v| catalog::upstream_version(v).to_owned()).collect(),
    })
}

/// apt lists the newest first, and of equal ones the first is the one that it prefers.
fn by_upstream(a: &&String, b: &&String) -> std::cmp::Ordering {
    catalog::compare_versions(catalog::upstream_version(b), catalog::upstream_version(a))
}

fn registered(
    home: &Home,
    line: &'static Line,
    packed: &'static ServerPackage,
    asked: &str,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let entries = registry::entries(home, line.version, packed, pinning, progress)?;
    let entry = entries
        .iter()
        .rev()
        .find(|entry| catalog::version_matches(&entry.version, asked))
        .ok_or_else(|| SandboxError::UnknownVersion {
            product: line.product,
            asked: asked.to_owned(),
            available: entries.iter().map(|entry| entry.version.clone()).collect(),
        })?;
    let what = format!("{} {}", line.product.name(), entry.version);
    let needed_mb = 2 * line.download_mb + line.disk_mb + BESIDE_MB;
    space::require_free_space(&format!("getting {what}"), home.dir(), needed_mb)?;
    progress(&format!("downloading {what} ({}, {} MB)", packed.package, line.download_mb));
    let called = format!("{} {}", packed.package, entry.release);
    within_temporary(home, |work| {
        let package = work.join("package");
        fs::create_dir_all(&package).map_err(SandboxError::io("create", &package))?;
        let file = registry::download(home, packed, &entry.release, &package)?;
        let sum = sums::verify_sum(&file, packed, &entry.release, pinning, progress)?;
        progress(&format!("unpacking {what}"));
        let stamp = Stamp {
            sums: vec![(name_of(&file), sum)],
            ..unfinished(line.product, line.version, line.kind(), &called)
        };
        let package = PackedServer {
            file: &file,
            members: packed.members,
            inner: packed.inner,
            outward: Outward::LeftOut,
        };
        let root = unpack(line.product, &package, work, progress)?;
        let release = finish(home, stamp, &root, progress);
        registry::delete_cached_files(home, packed);
        release
    })
}

/// The path of a folder or an archive, absolute.
pub(crate) fn usable_path(path: &Path) -> Result<PathBuf, SandboxError> {
    let path = path.canonicalize().map_err(SandboxError::io("find", path))?;
    if path.is_dir() || archive::is_archive(&path) {
        return Ok(path);
    }
    let kinds = "name a folder, or an archive (.tar.gz, .tar.xz, .zip, .jar, .whl)";
    let reason = format!("it is neither a folder nor a known archive; {kinds}");
    Err(SandboxError::Unsuitable { what: path.display().to_string(), reason })
}

/// See [`crate::get_from`]; `path` is [`usable_path`].
pub(crate) fn files(
    home: &Home,
    product: Product,
    asked: &str,
    path: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let unsuitable =
        |reason: String| SandboxError::Unsuitable { what: path.display().to_string(), reason };
    let is_dir = path.is_dir();
    let mb = size_mb(path)?;
    let needed_mb = if is_dir { mb } else { UNPACKED * mb } + BESIDE_MB;
    space::require_free_space(&format!("unpacking {}", path.display()), home.dir(), needed_mb)?;
    within_temporary(home, |work| {
        let root = if is_dir {
            let found = root_in(product, path);
            let found = found.ok_or_else(|| unsuitable(no_server(product)))?;
            progress(&format!("copying {} ({mb} MB)", found.display()));
            archive::copy(&found, Outward::Refused, &work.join("unpacked"))?;
            work.join("unpacked")
        } else {
            progress(&format!("unpacking {} ({mb} MB)", path.display()));
            let outward = Outward::Refused;
            let package = PackedServer { file: path, members: &[], inner: None, outward };
            unpack(product, &package, work, progress)?
        };
        let server = Layout::find_in_tree(product, &root).map(|layout| root.join(layout.server));
        let summed = if is_dir { server } else { Some(path.to_owned()) };
        let called = path.display().to_string();
        let stamp = Stamp {
            sums: summed.map(|file| sums_of(&file)).transpose()?.unwrap_or_default(),
            ..unfinished(product, asked, SourceKind::Files, &called)
        };
        finish(home, stamp, &root, progress)
    })
}

/// Where systems have their servers. PostgreSQL's directory has versions in it.
const SYSTEM_MYSQL: [&str; 4] = ["usr/sbin", "usr/libexec", "usr/bin", "usr/local/sbin"];

/// Gets the machine's own server: its executables are copied, so that its processes can be told
/// from the machine's; the rest is linked.
pub(crate) fn fetch_system_server(
    home: &Home,
    product: Product,
    asked: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let unsuitable = |reason: String| SandboxError::Unsuitable {
        what: format!("{}:{asked}@system", product.name()),
        reason: format!("{reason}; leave out @system, and dbdyno gets one"),
    };
    let programs = system_programs(product);
    let Some(server) = programs.first() else {
        return Err(unsuitable("no such server is installed on this machine".to_owned()));
    };
    let version =
        ask_version(product, child::foreign_program(server, Path::new("/")), Path::new("/"));
    let Ok(version) = version else {
        return Err(unsuitable(format!("{} is something else", server.display())));
    };
    if !catalog::version_matches(&version, asked) {
        return Err(unsuitable(format!("this machine has {version}")));
    }
    let sums = sums_of(server)?;
    let same = || {
        let known = find_finished(home, product, &version, Some(SourceKind::System))?.release();
        (known.sums == sums).then_some(known)
    };
    if let Some(release) = same() {
        return Ok(release);
    }
    let _lock = home.lock(progress)?;
    home.remove_unfinished("servers");
    if let Some(release) = same() {
        return Ok(release);
    }
    let mut mb = BESIDE_MB;
    for program in &programs {
        mb += size_mb(program)?;
    }
    space::require_free_space("copying the machine's server", home.dir(), mb)?;
    within_temporary(home, |tree| {
        mirror(product, &programs, tree)?;
        let called = server.display().to_string();
        let stamp = Stamp {
            sums: sums.clone(),
            ..unfinished(product, &version, SourceKind::System, &called)
        };
        finish(home, stamp, tree, progress)
    })
}

/// The machine's executables, the server first.
fn system_programs(product: Product) -> Vec<PathBuf> {
    if product == Product::Postgres {
        let Some(layout) = Layout::find_in_tree(product, Path::new("/")) else { return Vec::new() };
        let bin = Path::new("/").join(layout.program_dir());
        return ["postgres", "initdb"].map(|name| bin.join(name)).to_vec();
    }
    let names: &[&str] =
        if product == Product::MariaDb { &["mariadbd", "mysqld"] } else { &["mysqld"] };
    let places = SYSTEM_MYSQL.iter().flat_map(|dir| names.iter().map(move |name| (dir, name)));
    let mut paths = places.map(|(dir, name)| Path::new("/").join(dir).join(name));
    paths.find(|path| path.is_file()).into_iter().collect()
}

/// Builds a tree like the system's: executables copied, what they read linked.
fn mirror(product: Product, programs: &[PathBuf], tree: &Path) -> Result<(), SandboxError> {
    let inside = |path: &Path| tree.join(path.strip_prefix("/").unwrap_or(path));
    let parent = |path: &Path| {
        let parent = path.parent().unwrap_or(tree);
        open_dirs(tree, parent)
    };
    for program in programs {
        let copy = inside(program);
        parent(&copy)?;
        fs::copy(program, &copy).map_err(SandboxError::io("copy", program))?;
    }
    let mut linked: Vec<PathBuf> = ["usr/share/mysql", "usr/share/mariadb", "usr/lib/mysql"]
        .map(|p| Path::new("/").join(p))
        .to_vec();
    if product == Product::Postgres {
        let bin = programs[0].parent().unwrap_or(Path::new("/"));
        let base = bin.parent().unwrap_or(bin);
        let version = base.file_name().unwrap_or_default();
        linked = vec![base.join("lib"), Path::new("/usr/share/postgresql").join(version)];
    }
    for path in linked.into_iter().filter(|path| path.is_dir()) {
        let link = inside(&path);
        parent(&link)?;
        symlink(&path, &link).map_err(SandboxError::io("create", &link))?;
    }
    Ok(())
}

/// Makes directories that everybody may enter, whatever the mask of this process.
fn open_dirs(tree: &Path, dir: &Path) -> Result<(), SandboxError> {
    fs::create_dir_all(dir).map_err(SandboxError::io("create", dir))?;
    let within = dir.ancestors().take_while(|dir| dir.starts_with(tree));
    within.collect::<Vec<_>>().into_iter().try_for_each(|dir| set_mode(dir, 0o755))
}

/// A file with a server in it.
struct PackedServer<'p> {
    file: &'p Path,
    /// Which members of it are wanted, as patterns; none: all of them.
    members: &'p [&'p str],
    /// How the name of the archive within it ends, if the server is in one.
    inner: Option<&'p str>,
    /// What becomes of members that lead out of it.
    outward: Outward,
}

/// Unpacks a package below `work` and finds the tree in it.
fn unpack(
    product: Product,
    package: &PackedServer<'_>,
    work: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, SandboxError> {
    let PackedServer { file, members, inner, outward } = *package;
    let unpacked = work.join("unpacked");
    let mut left_out = archive::unpack(file, members, outward, &unpacked)?;
    let damaged = |detail: String| SandboxError::Damaged { place: file.to_owned(), detail };
    let mut place = unpacked;
    if let Some(ending) = inner {
        let archive = archive::find(&place, ending);
        let archive = archive.ok_or_else(|| damaged(format!("there is no *{ending} in it")))?;
        let within = work.join("within");
        left_out.extend(archive::unpack(&archive, &[], outward, &within)?);
        place = within;
    }
    let root = root_in(product, &place).ok_or_else(|| damaged(no_server(product)))?;
    adopt_libraries(&place, &root)?;
    left_out.extend(tree::confine_links(&root, file, outward)?);
    archive::left_out_note(&left_out).iter().for_each(|note| progress(note));
    Ok(root)
}

/// Wheels have the libraries that they bring along beside the package, in `NAME.libs`; where the
/// tree is a part of the package, they go into it.
fn adopt_libraries(place: &Path, root: &Path) -> Result<(), SandboxError> {
    for path in fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let is_libraries = path.extension().is_some_and(|ending| ending == "libs");
        if let Some(name) = path.file_name().filter(|_| is_libraries && path.is_dir())
            && place != root
        {
            fs::rename(&path, root.join(name)).map_err(SandboxError::io("rename", &path))?;
        }
    }
    Ok(())
}

fn no_server(product: Product) -> String {
    let files = match product {
        Product::Postgres => "bin/postgres and bin/initdb",
        Product::MariaDb => "bin/mariadbd or bin/mysqld, and share/english/errmsg.sys",
        Product::MySql => "bin/mysqld and share/english/errmsg.sys",
    };
    format!("there is no {} server in it ({files})", product.name())
}

/// Runs `make` with a new directory of ours in `servers`, which does not survive a failure.
fn within_temporary(
    home: &Home,
    make: impl FnOnce(&Path) -> Result<Release, SandboxError>,
) -> Result<Release, SandboxError> {
    let dir = home.servers_dir().join(format!(".tmp-{}", std::process::id()));
    // Foreign programs are asked there under their account.
    make_passage(&dir)?;
    let made = make(&dir);
    let _ = fs::remove_dir_all(&dir);
    made
}

/// A stamp of a tree that is not finished.
fn unfinished(product: Product, line: &str, source: SourceKind, called: &str) -> Stamp {
    Stamp {
        product,
        line: line.to_owned(),
        version: String::new(),
        suite: String::new(),
        root: PathBuf::new(),
        packages: Vec::new(),
        source,
        called: called.to_owned(),
        libraries: Vec::new(),
        sums: Vec::new(),
    }
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn sums_of(file: &Path) -> Result<Vec<(String, String)>, SandboxError> {
    let name = name_of(file);
    let sums = sha256(&[file.to_owned()])?;
    Ok(sums.into_iter().map(|sum| (name.clone(), sum)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_listed_version_that_matches_is_chosen() {
        let lines = catalog::lines_for(Product::MariaDb, "10.11", None).unwrap();
        let listed = ["1:10.11.9-0+deb12u1", "1:10.11.19-0+deb12u2", "1:10.11.19-0+deb12u1"];
        let listed = listed.map(str::to_owned);
        assert_eq!(choose(lines[0], "10", &listed).unwrap(), "1:10.11.19-0+deb12u2");
        assert_eq!(choose(lines[0], "10.11.9", &listed).unwrap(), "1:10.11.9-0+deb12u1");
        let text = choose(lines[0], "10.11.1", &listed).unwrap_err().to_string();
        for part in ["mariadb:10.11.1 ", "mariadb:10.11.9,", "mariadb:10.11.19"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}
