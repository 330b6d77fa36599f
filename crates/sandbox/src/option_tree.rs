//! Option files of MySQL and MariaDB with all that they include, as servers and clients read them.
//!
//! ```text
//!   ~/.my.cnf   [client]                        lines in the order in which they count:
//!               host = db                         ~/.my.cnf: host
//!               !includedir ~/.my.cnf.d            ~/.my.cnf.d/a.cnf: password
//! ```

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use dbdyno_model::option_file::{self, IncludeKind, OptionEntry};

use crate::conftree::{Tree, include_path};

/// A line with an option, and the file in which it stands.
pub struct OptionLine {
    /// What it says.
    pub entry: OptionEntry,
    /// Where.
    pub file: PathBuf,
}

/// What is in a file and in those that it includes. It has no `Debug`: there may be passwords.
#[derive(Default)]
pub struct OptionTree {
    /// Lines of the groups that were wanted, in the order in which they count: a later one wins.
    pub lines: Vec<OptionLine>,
    /// All groups that are there, once for each file.
    pub groups: Vec<String>,
}

/// What is wanted of option files, and which of them count.
pub struct OptionWish<'a> {
    /// Whether a group is read.
    pub group: &'a dyn Fn(&str) -> bool,
    /// Whether a file that is included counts, by what the system says of it; others are passed.
    pub file: &'a dyn Fn(&Path, &Metadata) -> bool,
}

/// Reads a file and all that it includes: 256 files of 1 MB together at most, of which 10 lie
/// within one another.
///
/// # Errors
/// A sentence with the number of the line, and the name of the file where it is an included one.
/// Nothing of the line itself is repeated.
pub fn option_tree(path: &Path, wish: &OptionWish<'_>) -> Result<OptionTree, String> {
    let mut all = OptionTree::default();
    take(path, wish, &mut Tree::default(), &mut all)?;
    Ok(all)
}

fn take(
    path: &Path,
    wish: &OptionWish<'_>,
    tree: &mut Tree,
    all: &mut OptionTree,
) -> Result<(), String> {
    let text = tree.enter_file(path)?;
    let file = option_file::read(&text, wish.group).map_err(|wrong| tree.file_error(wrong))?;
    all.groups.extend(file.groups);
    let mut includes = file.includes.into_iter().peekable();
    let mut entries = file.entries.into_iter().enumerate().peekable();
    loop {
        let at = entries.peek().map_or(usize::MAX, |(index, _)| *index);
        if let Some(include) = includes.next_if(|include| include.before <= at) {
            let named = include_path(path, &include.path)
                .map_err(|text| tree.file_error(format!("line {}: {text}", include.line)))?;
            let files = match include.kind {
                IncludeKind::File => vec![named],
                IncludeKind::Folder => tree.folder_files(&named, "cnf", include.line)?,
            };
            for file in files {
                // One that is not there is told of when it is entered.
                if fs::metadata(&file).is_ok_and(|about| !(wish.file)(&file, &about)) {
                    continue;
                }
                take(&file, wish, tree, all)?;
            }
        } else if let Some((_, entry)) = entries.next() {
            all.lines.push(OptionLine { entry, file: path.to_owned() });
        } else {
            break;
        }
    }
    tree.leave_file();
    Ok(())
}
