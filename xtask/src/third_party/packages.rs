//! The packages that are used here, as cargo knows them, from what was downloaded already.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;

use crate::place::repository_folder;

/// The machines that the program is for.
const TARGET: &str = "x86_64-unknown-linux-gnu";
/// The package of the program.
const PROGRAM: &str = "dbdyno";

/// A package, ours or not.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    /// None of those that are in the repository.
    pub(super) source: Option<String>,
    pub(super) manifest_path: PathBuf,
    #[serde(default)]
    pub(super) authors: Vec<String>,
    pub(super) repository: Option<String>,
}

impl Package {
    pub(super) fn name_and_version(&self) -> String {
        format!("{} {}", self.name, self.version)
    }
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Use>,
}

/// What a package is needed for: `dev`, `build`, or nothing that has a name, the program.
#[derive(Debug, Deserialize)]
struct Use {
    kind: Option<String>,
}

/// All that any build or test uses.
///
/// # Errors
/// What cargo says.
pub(super) fn all_packages() -> Result<Vec<Package>, String> {
    Ok(metadata()?.packages)
}

/// What others have made and is linked into the program, by name.
///
/// # Errors
/// What cargo says.
pub(super) fn in_the_program() -> Result<Vec<Package>, String> {
    let Metadata { packages, resolve } = metadata()?;
    let nodes: BTreeMap<&str, &Node> =
        resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let program = packages.iter().find(|package| package.name == PROGRAM);
    let program = program.ok_or_else(|| format!("there is no package {PROGRAM}"))?;
    let (mut linked, mut left) = (BTreeSet::new(), vec![program.id.as_str()]);
    while let Some(id) = left.pop() {
        if linked.insert(id) {
            let needed = nodes.get(id).into_iter().flat_map(|node| &node.deps);
            let needed =
                needed.filter(|needed| needed.dep_kinds.iter().any(|of| of.kind.is_none()));
            left.extend(needed.map(|needed| needed.pkg.as_str()));
        }
    }
    let is_theirs =
        |package: &&Package| package.source.is_some() && linked.contains(package.id.as_str());
    let mut theirs: Vec<Package> = packages.iter().filter(is_theirs).cloned().collect();
    theirs.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(theirs)
}

fn metadata() -> Result<Metadata, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--locked", "--format-version", "1", "--filter-platform", TARGET]);
    let output =
        cargo.current_dir(repository_folder()).output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {}", said.trim()));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))
}
