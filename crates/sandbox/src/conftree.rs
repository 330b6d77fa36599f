//! Files that include one another, read within limits.
//!
//! ```text
//!   my.cnf ─ !includedir conf.d ─▶ conf.d/a.cnf
//!     │                            conf.d/b.cnf ─ !include ../my.cnf   a circle: refused
//!     └─ depth, number and size of all are bounded; each is an ordinary file
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Longer files are no configuration, nor is more of all files together.
const MAX_BYTES: u64 = 1 << 20;
/// Files of one tree at most.
const FILES_MOST: usize = 256;
/// Files that lie within one another at most, as with the servers themselves.
const DEPTH_MOST: usize = 10;
/// Names in one folder at most.
const NAMES_MOST: usize = 4_096;

/// The files that are being read, and how much was read.
#[derive(Default)]
pub(crate) struct Tree {
    /// As they are named, and where they are.
    open: Vec<(PathBuf, PathBuf)>,
    files: usize,
    bytes: u64,
}

impl Tree {
    /// The text of one file more, within the one that was entered last.
    ///
    /// # Errors
    /// A sentence: it is no ordinary file, it includes itself, or a limit is reached.
    pub(crate) fn enter_file(&mut self, path: &Path) -> Result<String, String> {
        let place = fs::canonicalize(path).map_err(|error| self.unreadable(path, &error))?;
        if let Some((known, _)) = self.open.iter().find(|(_, known)| *known == place) {
            let (known, last) = (known.display(), self.last().display().to_string());
            return Err(format!(
                "{known} and {last} include one another without end; take the line away in one"
            ));
        }
        self.files += 1;
        if self.open.len() >= DEPTH_MOST || self.files > FILES_MOST {
            return Err(self.file_error(format!(
                "it includes more than {FILES_MOST} files, or more than {DEPTH_MOST} within one \
                 another; put their lines into one"
            )));
        }
        let read = dbdyno_files::read(&place, MAX_BYTES).and_then(|bytes| {
            String::from_utf8(bytes)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.utf8_error()))
        });
        let text = read.map_err(|error| match error.kind() {
            io::ErrorKind::InvalidInput | io::ErrorKind::FileTooLarge => {
                let what = "that is no configuration; name a file of at most 1 MB";
                self.named(path, what)
            }
            _ => self.unreadable(path, &error),
        })?;
        self.bytes += text.len() as u64;
        if self.bytes > MAX_BYTES {
            let what = "with this file there is more than 1 MB, which is no configuration";
            return Err(self.named(path, what));
        }
        self.open.push((path.to_owned(), place));
        Ok(text)
    }

    /// The file that was entered last is done.
    pub(crate) fn leave_file(&mut self) {
        self.open.pop();
    }

    /// The files of a folder with this ending, by their names; those that begin with a point are
    /// left out.
    ///
    /// # Errors
    /// A sentence: there is no such folder, or it is too large.
    pub(crate) fn folder_files(
        &self,
        path: &Path,
        ending: &str,
        line: usize,
    ) -> Result<Vec<PathBuf>, String> {
        let wrong = |error: std::io::Error| {
            let path = path.display();
            self.file_error(format!(
                "line {line}: {path}: {error}; name a folder, or leave the line out"
            ))
        };
        let mut files = Vec::new();
        for (count, entry) in fs::read_dir(path).map_err(wrong)?.enumerate() {
            if count == NAMES_MOST {
                return Err(self.file_error(format!(
                    "line {line}: {} has more than {NAMES_MOST} files; name another folder",
                    path.display()
                )));
            }
            let file = entry.map_err(wrong)?.path();
            let is_hidden =
                file.file_name().is_none_or(|name| name.as_encoded_bytes().starts_with(b"."));
            if !is_hidden && file.extension().is_some_and(|found| found == ending) {
                files.push(file);
            }
        }
        files.sort();
        Ok(files)
    }

    /// A sentence about the file that was entered last. The first one is known to the reader.
    pub(crate) fn file_error(&self, text: String) -> String {
        match self.open.len() {
            0 | 1 => text,
            _ => format!("{}: {text}", self.last().display()),
        }
    }

    fn last(&self) -> &Path {
        self.open.last().map_or(Path::new(""), |(name, _)| name)
    }

    fn named(&self, path: &Path, text: &str) -> String {
        if self.open.is_empty() { text.to_owned() } else { format!("{}: {text}", path.display()) }
    }

    fn unreadable(&self, path: &Path, error: &std::io::Error) -> String {
        self.named(path, &format!("{error}; name a file that can be read"))
    }
}

/// Where a path leads that stands in a file: beside this one, unless it begins at the root.
pub(crate) fn path_beside(file: &Path, named: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(named)
}

/// Where a path leads that MySQL takes from the folder in which a server is started, and whoever
/// wrote it often from that of the file.
///
/// # Errors
/// There are two.
pub(crate) fn include_path(file: &Path, named: &str) -> Result<PathBuf, String> {
    let (started, beside) = (PathBuf::from(named), path_beside(file, named));
    match (fs::canonicalize(&started), fs::canonicalize(&beside)) {
        (Ok(one), Ok(other)) if one != other => Err(format!(
            "{} may be meant or {}; write a path that begins with /",
            one.display(),
            other.display()
        )),
        (Ok(_), Err(_)) => Ok(started),
        _ => Ok(beside),
    }
}
