//! Libraries that a server wants and this machine does not have.
//!
//! Makers' builds of long ago link libraries that systems of today no longer have, or have under
//! another name. They are brought along, not installed: what a tree has itself is used from there,
//! the rest is unpacked from Debian into the tree.
//!
//! ```text
//!   ldd server ──▶ libaio.so.1 => not found ──┬─▶ somewhere in the tree: its directory
//!                                             └─▶ bookworm libaio1 ──▶ TREE/dbdyno-libraries/
//! ```
//!
//! The server is told by `LD_LIBRARY_PATH`, and its executable stays as its makers built it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::apt::Apt;
use crate::archive::find;
use crate::child;
use crate::error::SandboxError;
use crate::home::Home;
use crate::relocate;
use crate::tool::{run, succeed};

/// Which package has which library: suite and package.
const PACKAGES: [(&str, &str, &str); 8] = [
    ("libaio.so.1", "bookworm", "libaio1"),
    ("libnuma.so.1", "bookworm", "libnuma1"),
    ("liburing.so.2", "bookworm", "liburing2"),
    ("libncurses.so.5", "bullseye", "libncurses5"),
    ("libtinfo.so.5", "bullseye", "libtinfo5"),
    ("libssl.so.1.1", "bullseye", "libssl1.1"),
    ("libcrypto.so.1.1", "bullseye", "libssl1.1"),
    ("libcrypt.so.1", "bookworm", "libcrypt1"),
];

/// What every system has, so that only the package itself comes.
const ASSUMED: [&str; 6] =
    ["libc6", "libgcc-s1", "libcrypt1", "gcc-10-base", "gcc-12-base", "debconf"];

const DIR: &str = "dbdyno-libraries";

/// Brings along what `programs` of `tree` lack; returns the directories for their search path,
/// relative to the tree.
pub(crate) fn complete(
    home: &Home,
    tree: &Path,
    programs: &[PathBuf],
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, SandboxError> {
    let (mut dirs, mut tried) = (Vec::new(), Vec::new());
    loop {
        let mut lacking = Vec::new();
        for program in programs {
            lacking.extend(missing(program, tree, &dirs)?);
        }
        let Some(library) = lacking.first() else { return Ok(dirs) };
        if tried.contains(library) {
            return Err(SandboxError::Damaged {
                place: tree.to_owned(),
                detail: format!("its {library} cannot be loaded on this machine"),
            });
        }
        tried.push(library.clone());
        let found = match find(tree, library) {
            Some(found) => found,
            None => bring(home, tree, library, progress)?,
        };
        let dir = found.parent().and_then(|dir| dir.strip_prefix(tree).ok());
        let dir = dir.unwrap_or(Path::new(DIR)).to_owned();
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
}

/// `LD_LIBRARY_PATH` for a tree whose own libraries are in `dirs`.
pub(crate) fn search_path(tree: &Path, dirs: &[PathBuf]) -> std::ffi::OsString {
    let dirs: Vec<_> = dirs.iter().map(|dir| tree.join(dir).into_os_string()).collect();
    dirs.join(std::ffi::OsStr::new(":"))
}

/// Libraries that the loader does not find.
fn missing(program: &Path, tree: &Path, dirs: &[PathBuf]) -> Result<Vec<String>, SandboxError> {
    let mut ldd = child::command("ldd");
    ldd.arg(program);
    if !dirs.is_empty() {
        ldd.env("LD_LIBRARY_PATH", search_path(tree, dirs));
    }
    let output = run(&mut ldd, "ldd")?;
    Ok(parse_ldd(&String::from_utf8_lossy(&output.stdout)))
}

/// `libaio.so.1 => not found`
fn parse_ldd(text: &str) -> Vec<String> {
    let missing = text.lines().filter_map(|line| line.trim().strip_suffix("=> not found"));
    missing.map(|name| name.trim().to_owned()).collect()
}

/// Unpacks the package that has `library` and puts its libraries into the tree.
fn bring(
    home: &Home,
    tree: &Path,
    library: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, SandboxError> {
    let lacks = || SandboxError::Damaged {
        place: tree.to_owned(),
        detail: format!("it needs {library}, which this machine does not have; install that"),
    };
    let known = PACKAGES.iter().find(|(known, ..)| *known == library);
    let (_, suite, package) = known.ok_or_else(lacks)?;
    let apt = Apt::open(home, suite, progress)?;
    progress(&format!("bringing along {library}, which this machine does not have"));
    let debs = apt.closure(package, &ASSUMED)?;
    let unpacked = tree.join(".tmp-libraries");
    relocate::unpack(&apt, package, &debs, &unpacked)?;
    let dir = tree.join(DIR);
    fs::create_dir_all(&dir).map_err(SandboxError::io("create", &dir))?;
    for place in ["usr/lib", "lib"] {
        let places = fs::read_dir(unpacked.join(place)).into_iter().flatten().flatten();
        for place in places.map(|entry| entry.path()).filter(|path| path.is_dir()) {
            let from = place.join(".");
            let arguments = ["-a".as_ref(), from.as_os_str(), dir.as_os_str()];
            succeed("cp", arguments, &unpacked)?;
        }
    }
    let _ = fs::remove_dir_all(&unpacked);
    let library = dir.join(library);
    if library.exists() { Ok(library) } else { Err(lacks()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_not_found_is_missing() {
        let text = "\tlinux-vdso.so.1 (0x00007ffd)\n\tlibaio.so.1 => not found\n\
                    \tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f)\n\
                    \tlibnuma.so.1 => not found\n";
        assert_eq!(parse_ldd(text), ["libaio.so.1", "libnuma.so.1"]);
        assert!(parse_ldd("\tnot a dynamic executable\n").is_empty());
        let dirs = [PathBuf::from("a"), PathBuf::from("b/c")];
        assert_eq!(search_path(Path::new("/t"), &dirs), "/t/a:/t/b/c");
    }
}
