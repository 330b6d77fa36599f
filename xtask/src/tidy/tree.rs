//! The files of the repository: those that git tracks, and new ones that it does not ignore.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Text by path. Files that are not UTF-8 are not text and not here.
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
}

impl Tree {
    /// Reads the working tree.
    pub(crate) fn read(repository: &Path) -> Result<Tree, String> {
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(repository)
            .output()
            .map_err(|error| format!("could not run git: {error}; install git"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            return Err(format!("git ls-files failed: {}; run it in a clone", said.trim()));
        }
        let list = String::from_utf8_lossy(&output.stdout);
        let mut files = BTreeMap::new();
        for path in list.split('\0').filter(|path| !path.is_empty()) {
            // A tracked file that was deleted is listed all the same.
            if let Ok(text) = std::fs::read_to_string(repository.join(path)) {
                files.insert(path.to_owned(), text);
            }
        }
        Ok(Tree { files })
    }

    /// A tree that never was on disk.
    #[cfg(test)]
    pub(crate) fn planted(files: &[(&str, &str)]) -> Tree {
        let own = |&(path, text): &(&str, &str)| (path.to_owned(), text.to_owned());
        Tree { files: files.iter().map(own).collect() }
    }

    /// All files in the order of their paths.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of a file.
    pub(crate) fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }
}
