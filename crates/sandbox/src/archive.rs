//! Taking a package apart.
//!
//! ```text
//!   .jar .zip .whl ──unzip──┐                 ┌─ the server is in it
//!   .tgz .txz .tar.… ──tar──┴──▶ a directory ─┤
//!                                             └─ an archive is in it ──▶ once more
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::child;
use crate::error::SandboxError;
use crate::tool::{complaint, run, succeed};

/// `unzip` says so when one of the patterns matched nothing.
const NOTHING_MATCHED: i32 = 11;
/// How deep an archive lies within another.
const DEEPEST: usize = 4;

/// Whether `file` is called like an archive that can be taken apart.
pub(crate) fn is_archive(file: &Path) -> bool {
    let name = name_of(file);
    is_zip(&name) || is_tar(&name)
}

/// Unpacks `file` into the new directory `into`; `members` are patterns of what is wanted of a zip
/// file, none for all.
pub(crate) fn unpack(file: &Path, members: &[&str], into: &Path) -> Result<(), SandboxError> {
    fs::create_dir_all(into).map_err(SandboxError::io("create", into))?;
    let name = name_of(file);
    if is_zip(&name) {
        let mut unzip = child::command("unzip");
        unzip.arg("-q").arg("-o").arg(file).args(members).arg("-d").arg(into);
        let output = run(&mut unzip, "unzip")?;
        if !output.status.success() && output.status.code() != Some(NOTHING_MATCHED) {
            let detail = format!("unzip: {}", complaint(&output, &[]));
            return Err(SandboxError::Damaged { place: file.to_owned(), detail });
        }
        return Ok(());
    }
    if !is_tar(&name) {
        let detail =
            "it is no archive of a kind that is known (.zip, .jar, .whl, .tar…)".to_owned();
        return Err(SandboxError::Damaged { place: file.to_owned(), detail });
    }
    let arguments = ["--no-same-owner".as_ref(), "-xf".as_ref(), file.as_os_str()];
    let arguments = arguments.into_iter().chain(["-C".as_ref(), into.as_os_str()]);
    succeed("tar", arguments, file).map(|_| ())
}

/// The file below `dir` whose name ends with `ending`.
pub(crate) fn find(dir: &Path, ending: &str) -> Option<PathBuf> {
    let mut level = vec![dir.to_owned()];
    for _ in 0..DEEPEST {
        let below = level.iter().flat_map(|dir| fs::read_dir(dir).into_iter().flatten().flatten());
        let paths: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        let ends = |path: &Path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(ending))
        };
        let found = paths.iter().find(|path| path.is_file() && ends(path));
        if found.is_some() {
            return found.cloned();
        }
        level = paths.into_iter().filter(|path| path.is_dir()).collect();
    }
    None
}

/// Makes a tree usable for the account under which servers run: some packages lose the rights of
/// their files.
pub(crate) fn open_up(tree: &Path, programs: &[PathBuf]) -> Result<(), SandboxError> {
    let arguments = ["-R".as_ref(), "u+rwX,go+rX,go-w".as_ref(), tree.as_os_str()];
    succeed("chmod", arguments, tree)?;
    programs.iter().try_for_each(|program| crate::home::set_mode(program, 0o755))
}

fn name_of(file: &Path) -> String {
    file.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

fn is_zip(name: &str) -> bool {
    [".jar", ".zip", ".whl"].iter().any(|ending| name.ends_with(ending))
}

fn is_tar(name: &str) -> bool {
    let short = [".tgz", ".txz", ".tbz2", ".tar"].iter().any(|ending| name.ends_with(ending));
    short || [".tar.gz", ".tar.xz", ".tar.bz2", ".tar.zst"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_in_an_archive_is_found_and_a_torn_one_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("in/deep")).unwrap();
        fs::write(at("in/deep/file"), "x").unwrap();
        let tar = |name: &str, from: &str| {
            let (file, from) = (at(name), at(from));
            succeed(
                "tar",
                ["-czf".as_ref(), file.as_os_str(), "-C".as_ref(), from.as_os_str(), ".".as_ref()],
                &file,
            )
        };
        tar("Inner.tar.gz", "in").unwrap();
        fs::create_dir_all(at("out/a/b")).unwrap();
        fs::rename(at("Inner.tar.gz"), at("out/a/b/Inner.tar.gz")).unwrap();
        tar("outer.tgz", "out").unwrap();

        unpack(&at("outer.tgz"), &[], &at("one")).unwrap();
        let inner = find(&at("one"), "Inner.tar.gz").unwrap();
        unpack(&inner, &[], &at("two")).unwrap();
        assert_eq!(fs::read_to_string(at("two/deep/file")).unwrap(), "x");

        let whole = fs::read(at("outer.tgz")).unwrap();
        fs::write(at("torn.tgz"), &whole[..whole.len() / 2]).unwrap();
        let error = unpack(&at("torn.tgz"), &[], &at("three")).unwrap_err();
        assert!(matches!(error, SandboxError::Damaged { .. }), "{error}");
        fs::write(at("x.rpm"), "x").unwrap();
        assert!(!is_archive(&at("x.rpm")) && is_archive(&at("mysql-8.4.tar.xz")));
        assert!(unpack(&at("x.rpm"), &[], &at("four")).is_err());
    }
}
