//! Libraries that a server wants and this machine does not have.
//!
//! Makers' builds of long ago link libraries that systems of today no longer have, or have under
//! another name. They are brought along, not installed: what a tree has itself is used from there,
//! the rest is unpacked from Debian into the tree.
//!
//! ```text
//!   the machine's loader, asked to list ──▶ libaio.so.1 => not found
//!                                             ├─▶ somewhere in the tree: its directory
//!                                             └─▶ bookworm libaio1 ──▶ TREE/dbdyno-libraries/
//! ```
//!
//! The loader is asked itself, and not by `ldd`, which may run the loader that an executable names.
//!
//! The server is told by `LD_LIBRARY_PATH`, and its executable stays as its makers built it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::apt::Apt;
use crate::archive::{copy, find};
use crate::child;
use crate::error::SandboxError;
use crate::home::Home;
use crate::relocate;
use crate::tool::{Allowance, run_with_allowance};
use crate::tree::Outward;

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

/// Where the C library puts its loader, by the kind of processor.
const LOADERS: [&str; 2] = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];

/// Brings along what `programs` of `tree` lack; returns the directories for their search path,
/// relative to the tree.
pub(crate) fn add_missing_libraries(
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

/// Libraries that the machine's loader does not find.
fn missing(program: &Path, tree: &Path, dirs: &[PathBuf]) -> Result<Vec<String>, SandboxError> {
    let loader = LOADERS.iter().map(Path::new).find(|path| path.is_file());
    let mut list = child::foreign_program(
        loader.ok_or_else(|| SandboxError::MissingTool { tool: LOADERS[0].to_owned() })?,
        tree,
    );
    // Unlike its option `--list` this goes on after the first that is not found.
    list.env("LD_TRACE_LOADED_OBJECTS", "1").arg(program);
    if !dirs.is_empty() {
        list.env("LD_LIBRARY_PATH", search_path(tree, dirs));
    }
    let listed =
        run_with_allowance(list, Allowance::QUESTION).map_err(SandboxError::spawn(LOADERS[0]))?;
    Ok(listed.map_or_else(Vec::new, |said| parse_list(&String::from_utf8_lossy(&said.stdout))))
}

/// `libaio.so.1 => not found`
fn parse_list(text: &str) -> Vec<String> {
    let missing = text.lines().filter_map(|line| line.trim().strip_suffix("=> not found"));
    let missing = missing.map(str::trim);
    // A name goes into paths and messages.
    let plain = |name: &&str| name.chars().all(|c| c.is_ascii_alphanumeric() || ".-_+".contains(c));
    missing.filter(plain).map(str::to_owned).collect()
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
    let debs = apt.packages_to_download(package, &ASSUMED)?;
    let unpacked = tree.join(".tmp-libraries");
    relocate::unpack(&apt, package, &debs, &unpacked, progress)?;
    let dir = tree.join(DIR);
    for place in ["usr/lib", "lib"] {
        let places = fs::read_dir(unpacked.join(place)).into_iter().flatten().flatten();
        for place in places.map(|entry| entry.path()).filter(|path| path.is_dir()) {
            copy(&place, Outward::LeftOut, &dir)?;
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
        assert_eq!(parse_list(text), ["libaio.so.1", "libnuma.so.1"]);
        assert!(parse_list("\tnot a dynamic executable\n").is_empty());
        let dirs = [PathBuf::from("a"), PathBuf::from("b/c")];
        assert_eq!(search_path(Path::new("/t"), &dirs), "/t/a:/t/b/c");
    }
}
