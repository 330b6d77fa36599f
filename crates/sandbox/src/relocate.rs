//! Makes executables of another Debian suite run here, as ordinary executables.
//!
//! A server from a newer suite needs a newer C library than the machine has. Its tree holds that
//! library, and `patchelf` writes two things into each executable: the tree's own loader as the
//! interpreter, and the tree's library directories as the search path. It is the old kind of
//! search path (`--force-rpath`), which holds for the libraries' own dependencies too. Afterwards
//! nothing needs an environment or a wrapper: a server can execute another, `/proc/PID/exe` is the
//! server, and profilers find its symbols. The price is that the tree cannot be moved without
//! doing it again.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use dbdyno_host::Launch;

use crate::apt::{Apt, Deb};
use crate::archive;
use crate::child;
use crate::error::SandboxError;
use crate::foreign_files::{create_fresh, open_plain, private_dir, set_mode_of};
use crate::home::Home;
use crate::space;
use crate::tool::{Allowance, error_summary, run, run_with_allowance, sha256};

/// Room for patchelf and its C library, in MB.
const PATCHELF_MB: u64 = 64;

/// A way to run patchelf: a program and the arguments that come first.
pub(crate) struct Patchelf {
    program: PathBuf,
    first: Vec<OsString>,
}

impl Patchelf {
    /// The machine's patchelf, or Debian's, unpacked into the home and run through its own loader.
    /// The home's lock must be held.
    pub(crate) fn find(
        home: &Home,
        apt: impl FnOnce(&mut dyn FnMut(&str)) -> Result<Apt, SandboxError>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Patchelf, SandboxError> {
        let mut ask = child::machine_tool("patchelf");
        ask.arg("--version");
        if run(ask, "patchelf").is_ok_and(|output| output.status.success()) {
            return Ok(Patchelf { program: "patchelf".into(), first: Vec::new() });
        }
        let tree = home.dir().join("tools/patchelf");
        if !tree.is_dir() {
            let apt = apt(progress)?;
            progress("getting patchelf, which makes servers run from any directory");
            space::require_free_space("unpacking patchelf", home.dir(), PATCHELF_MB)?;
            let debs = apt.packages_to_download("patchelf", &[])?;
            let fresh = home.dir().join("tools/.tmp-patchelf");
            let _ = fs::remove_dir_all(&fresh);
            unpack(&apt, "patchelf", &debs, &fresh, progress)?;
            flush(&fresh)?;
            fs::rename(&fresh, &tree).map_err(SandboxError::io("rename", &fresh))?;
        }
        let libraries = libraries(&tree)?;
        let mut first = vec!["--library-path".into(), libraries.path(&tree)];
        first.push(tree.join("usr/bin/patchelf").into());
        Ok(Patchelf { program: tree.join(&libraries.loader), first })
    }

    /// Makes the executable `file` use the loader and the libraries of the tree that is, or will
    /// be, at `root`.
    fn relocate(&self, file: &Path, root: &Path, libs: &Libraries) -> Result<(), SandboxError> {
        let work = file.with_extension("relocating");
        // A killed dbdyno may have left it.
        let _need_not_be_there = fs::remove_dir_all(&work);
        let made = self.patch(file, &work, root, libs);
        let _ = fs::remove_dir_all(&work);
        made
    }

    /// Has `work` be the directory of patchelf, which reads what a foreign package brought along
    /// and so has no right to write anywhere else.
    fn patch(
        &self,
        file: &Path,
        work: &Path,
        root: &Path,
        libs: &Libraries,
    ) -> Result<(), SandboxError> {
        private_dir(work).map_err(SandboxError::io("create", work))?;
        let patched = work.join("patched");
        let mut command = child::foreign_program(&self.program, work);
        command.args(&self.first);
        command.arg("--set-interpreter").arg(root.join(&libs.loader));
        command.arg("--force-rpath").arg("--set-rpath").arg(libs.path(root));
        command.arg("--output").arg(&patched).arg(file);
        let said = run_with_allowance(command, Allowance::WORK)
            .map_err(SandboxError::spawn("patchelf"))?;
        let detail = match &said {
            Some(output) if output.status.success() => None,
            Some(output) => Some(error_summary(output, &[])),
            None => Some(format!("patchelf did not end within {} s", Allowance::WORK.seconds)),
        };
        if let Some(detail) = detail {
            return Err(SandboxError::Damaged { place: file.to_owned(), detail });
        }
        let fresh = file.with_extension("relocated");
        let copy = || -> io::Result<()> {
            io::copy(&mut open_plain(&patched)?, &mut create_fresh(&fresh)?)?;
            set_mode_of(&fresh, 0o755)?;
            fs::rename(&fresh, file)
        };
        copy().map_err(SandboxError::io("write", &fresh))
    }
}

/// Whether `tree` has a loader of its own, and so must be relocated.
pub(crate) fn has_loader(tree: &Path) -> bool {
    libraries(tree).is_ok()
}

/// Where a tree has its loader and its libraries, relative to the tree.
struct Libraries {
    loader: PathBuf,
    dirs: Vec<PathBuf>,
}

impl Libraries {
    /// The search path when the tree is at `root`.
    fn path(&self, root: &Path) -> OsString {
        let dirs: Vec<OsString> = self.dirs.iter().map(|dir| root.join(dir).into()).collect();
        dirs.join(std::ffi::OsStr::new(":"))
    }
}

/// Finds loader and libraries: in `usr/lib/ARCHITECTURE`, and in `lib/ARCHITECTURE` for suites that
/// came before the merged `/usr`.
fn libraries(tree: &Path) -> Result<Libraries, SandboxError> {
    let mut found: Option<(PathBuf, OsString)> = None;
    for parent in ["usr/lib", "lib"] {
        for dir in fs::read_dir(tree.join(parent)).into_iter().flatten().flatten() {
            for file in fs::read_dir(dir.path()).into_iter().flatten().flatten() {
                if file.file_name().to_string_lossy().starts_with("ld-linux") {
                    let loader = Path::new(parent).join(dir.file_name()).join(file.file_name());
                    found = Some((loader, dir.file_name()));
                }
            }
        }
    }
    let (loader, architecture) = found.ok_or_else(|| SandboxError::Damaged {
        place: tree.to_owned(),
        detail: "it has no loader (ld-linux…)".to_owned(),
    })?;
    let dirs = ["usr/lib", "lib"].map(|parent| Path::new(parent).join(&architecture));
    let dirs = dirs.into_iter().filter(|dir| tree.join(dir).is_dir()).collect();
    Ok(Libraries { loader, dirs })
}

/// Makes `programs` of the tree at `tree` run once the tree is at `root`.
pub(crate) fn relocate_programs(
    patchelf: &Patchelf,
    tree: &Path,
    root: &Path,
    programs: &[PathBuf],
) -> Result<(), SandboxError> {
    let libraries = libraries(tree)?;
    programs.iter().try_for_each(|program| patchelf.relocate(program, root, &libraries))
}

/// A command that runs `program` of `tree` wherever the tree is now.
pub(crate) fn run_in_place(tree: &Path, program: &Path) -> Result<Launch, SandboxError> {
    let libraries = libraries(tree)?;
    let mut command = child::foreign_program(&tree.join(&libraries.loader), tree);
    command.arg("--library-path").arg(libraries.path(tree)).arg(program);
    Ok(command)
}

/// Downloads `debs`, the closure of `spec` that [`Apt::packages_to_download`] was last asked for,
/// and unpacks them into `tree`; returns their names and SHA-256. Downloads are deleted afterwards;
/// those of an earlier, broken attempt are used.
pub(crate) fn unpack(
    apt: &Apt,
    spec: &str,
    debs: &[Deb],
    tree: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<(String, String)>, SandboxError> {
    let archives = apt.download(spec)?;
    let files: Vec<PathBuf> = debs.iter().map(|deb| archives.join(&deb.file)).collect();
    let sums = sha256(&files)?;
    let left_out = archive::unpack_debs(&files, tree)?;
    archive::left_out_note(&left_out).iter().for_each(|note| progress(note));
    apt.delete_downloads();
    Ok(debs.iter().map(|deb| deb.file.clone()).zip(sums).collect())
}

/// Waits until the file system of `path` is on the disk.
pub(crate) fn flush(path: &Path) -> Result<(), SandboxError> {
    fs::File::open(path)
        .and_then(|file| nix::unistd::syncfs(file).map_err(io::Error::from))
        .map_err(SandboxError::io("flush", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::set_mode;

    #[test]
    fn what_a_killed_process_left_is_not_in_the_way() {
        let tree = tempfile::tempdir().unwrap();
        set_mode(tree.path(), 0o755).unwrap();
        let file = tree.path().join("mysqld");
        fs::write(&file, "of the package").unwrap();
        // Killed while the new executable was being made, and before it took its place.
        let left = tree.path().join("mysqld.relocating");
        private_dir(&left).unwrap();
        fs::write(left.join("patched"), "a part").unwrap();
        fs::write(tree.path().join("mysqld.relocated"), "a part").unwrap();
        // Stands for patchelf: its last two words are where to, and from where.
        let first = ["-c", r#"exec cp "$7" "$6""#].map(OsString::from).to_vec();
        let patchelf = Patchelf { program: "sh".into(), first };
        let libraries = Libraries { loader: "ld-linux.so.2".into(), dirs: Vec::new() };
        patchelf.relocate(&file, tree.path(), &libraries).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "of the package");
        let names = fs::read_dir(tree.path()).unwrap().count();
        assert_eq!(names, 1, "something was left");
    }
}
