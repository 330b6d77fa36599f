//! The notices that stand beside the program: what is in it that others made, and their terms.
//!
//! ```text
//!   a package's files LICENSE…, COPYING…, NOTICE…, also below its src/ and third_party/
//!     ├─ none of them: the comment at the head of its sources
//!     └─ nor that: its makers, and the text of the MIT licence
//!   what is C or JavaScript: SQLite, Preact, uPlot
//! ```
//!
//! Equal texts stand once, under all packages that have them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use super::packages::Package;
use crate::place::repository_folder;

/// How the names of files begin in which terms stand, in capitals.
const BEGINNINGS: [&str; 5] = ["LICEN", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
/// How deep they lie: ring has those of what it took over in `third_party/fiat`.
const DEEPEST: usize = 4;

const HEAD: &str = "\
dbdyno is under the MIT licence or the Apache licence 2.0, as you choose. It contains what others
have made, listed here with the terms of each. Of terms that leave a choice, MIT is taken where it
is among them.
";

/// What is in the program and is no package of its own.
const SQLITE: &str = "\
SQLite (in libsqlite3-sys), https://sqlite.org: in the public domain. Its authors disclaim copyright
and ask to be given a blessing: May you do good and not evil. May you find forgiveness for yourself
and forgive others. May you share freely, never taking more than you give.
";

/// Scripts in the page of a report, and the files with their terms.
const SCRIPTS: [(&str, &str); 2] =
    [("Preact (JavaScript)", "preact.txt"), ("uPlot (JavaScript)", "uplot.txt")];

/// The notices of these packages and of what is beside them.
///
/// # Errors
/// A file that cannot be read.
pub(super) fn package_notices(packages: &[Package]) -> Result<String, String> {
    let mut text = HEAD.to_owned();
    let mut bodies: BTreeMap<String, Vec<String>> = BTreeMap::new();
    text.push('\n');
    for package in packages {
        let terms = package.license.as_deref().unwrap_or("see below");
        let place = package.repository.as_deref().unwrap_or_default();
        let _infallible = writeln!(text, "  {}: {terms}  {place}", package.name_and_version());
        for body in terms_of(package)? {
            bodies.entry(body).or_default().push(package.name_and_version());
        }
    }
    for (name, file) in SCRIPTS {
        let _infallible = writeln!(text, "  {name}: MIT");
        let body = read(&repository_folder().join("web/licences").join(file))?;
        bodies.entry(body).or_default().push(name.to_owned());
    }
    let _infallible = writeln!(text, "\n{SQLITE}");
    // In the order of the first package that has them.
    let mut bodies: Vec<(String, Vec<String>)> = bodies.into_iter().collect();
    bodies.sort_by(|(_, a), (_, b)| a.cmp(b));
    for (body, whose) in bodies {
        let _infallible = writeln!(text, "{}\n{}\n\n{body}\n", "-".repeat(80), whose.join(", "));
    }
    Ok(text)
}

/// The terms of a package in its own words.
fn terms_of(package: &Package) -> Result<Vec<String>, String> {
    let dir = package.manifest_path.parent().unwrap_or(Path::new("/"));
    let mut files = Vec::new();
    collect(dir, DEEPEST, &mut files);
    files.sort();
    if !files.is_empty() {
        return files.iter().map(|file| read(file)).collect();
    }
    let head = read(&dir.join("src/lib.rs"))?;
    let comment = head.strip_prefix("/*").and_then(|rest| rest.split_once("*/"));
    if let Some((comment, _)) = comment.filter(|(text, _)| text.contains("Copyright")) {
        return Ok(vec![comment.trim_matches(['*', '\n']).to_owned()]);
    }
    let mit = read(&repository_folder().join("LICENSE-MIT"))?;
    let (_, terms) = mit.split_once("Permission").ok_or("LICENSE-MIT grants no permission")?;
    let makers = package.authors.join(", ");
    Ok(vec![format!("Copyright (c) {makers} and contributors\n\nPermission{terms}")])
}

fn collect(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().to_uppercase());
        if path.is_dir() && depth > 1 {
            collect(&path, depth - 1, found);
        } else if path.is_file() && BEGINNINGS.iter().any(|word| name.starts_with(word)) {
            found.push(path);
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    Ok(text.trim_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::packages;
    use super::*;

    #[test]
    fn everything_in_the_program_stands_there_with_its_terms() {
        let used = packages::in_the_program().unwrap();
        let text = package_notices(&used).unwrap();
        for package in &used {
            let heading = format!("  {}: ", package.name_and_version());
            assert!(text.contains(&heading), "{heading}");
            assert!(!terms_of(package).unwrap().iter().all(String::is_empty), "{heading}");
        }
        for part in ["BoringSSL", "public domain", "Jason Miller", "Leon Sorokin", "Masaki Hara"] {
            assert!(text.contains(part), "{part} is missing");
        }
        // Those of tests are not in it.
        assert!(!text.contains("  proptest ") && !text.contains("  tempfile "));
    }
}
