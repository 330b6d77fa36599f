//! What is not ours: under which terms it may be used, where it comes from, and what its makers ask
//! to be said wherever it is.
//!
//! ```text
//!   Cargo.lock ── cargo metadata ──▶ packages ─┬─▶ check, by deny.toml      make check
//!                                              └─▶ notices, for the .deb    make dist
//! ```
//!
//! The check is what cargo-deny does of licences, bans and sources, by the same file. cargo-deny
//! itself takes minutes to build; `make soak` has it look at all features, and for advisories.

mod licences;
mod notices;
mod packages;

use std::path::Path;

use serde::Deserialize;

use crate::place::repository_folder;
use licences::is_met;
use packages::Package;

/// What `deny.toml` permits, as far as it is read here.
#[derive(Debug, Deserialize)]
struct Rules {
    licenses: Licenses,
    bans: Bans,
    sources: Sources,
}

#[derive(Debug, Deserialize)]
struct Licenses {
    allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Bans {
    deny: Vec<BannedName>,
}

#[derive(Debug, Deserialize)]
struct BannedName {
    #[serde(rename = "crate")]
    name: String,
}

#[derive(Debug, Deserialize)]
struct Sources {
    #[serde(rename = "allow-registry")]
    registries: Vec<String>,
}

impl Rules {
    fn read() -> Result<Rules, String> {
        let path = repository_folder().join("deny.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string());
        let rules = text.and_then(|text| toml::from_str(&text).map_err(|error| error.to_string()));
        rules.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// What speaks against a package, a sentence each. What is in the repository is ours.
    fn against(&self, package: &Package) -> Vec<String> {
        let Some(source) = &package.source else { return Vec::new() };
        let (name, mut found) = (package.name_and_version(), Vec::new());
        let registry = source.strip_prefix("registry+");
        if !registry.is_some_and(|from| self.sources.registries.iter().any(|known| known == from)) {
            found.push(format!("{name} comes from {source}, which is not among the registries"));
        }
        match &package.license {
            Some(terms) if is_met(terms, &self.licenses.allow) => {}
            Some(terms) => {
                found.push(format!("{name} has the licence {terms}, which is not allowed"))
            }
            None => found.push(format!("{name} does not say its licence")),
        }
        if self.bans.deny.iter().any(|banned| banned.name == package.name) {
            found.push(format!("{name} is banned"));
        }
        found
    }
}

/// Checks every package that any build or test of this repository uses.
///
/// # Errors
/// Packages or rules that cannot be read.
pub(crate) fn check_packages() -> Result<Vec<String>, String> {
    let rules = Rules::read()?;
    let all = packages::all_packages()?;
    Ok(all.iter().flat_map(|package| rules.against(package)).collect())
}

/// Writes the notices of what is in the program.
///
/// # Errors
/// What cannot be read or written.
pub(crate) fn write_notices(path: &Path) -> Result<usize, String> {
    let used = packages::in_the_program()?;
    let text = notices::package_notices(&used)?;
    let written = std::fs::write(path, text);
    written.map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(used.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(license: Option<&str>, source: Option<&str>) -> Package {
        Package {
            id: "x".to_owned(),
            name: "x".to_owned(),
            version: "1.0.0".to_owned(),
            license: license.map(str::to_owned),
            source: source.map(str::to_owned),
            manifest_path: "/nowhere/Cargo.toml".into(),
            authors: Vec::new(),
            repository: None,
        }
    }

    #[test]
    fn what_this_repository_uses_is_allowed() {
        assert_eq!(check_packages().unwrap(), [""; 0]);
    }

    #[test]
    fn other_terms_other_sources_and_what_is_banned_are_found() {
        let rules = Rules::read().unwrap();
        let crates_io = format!("registry+{}", rules.sources.registries[0]);
        let against = |package: &Package| rules.against(package).join("; ");
        assert_eq!(against(&package(Some("MIT OR GPL-2.0-only"), Some(&crates_io))), "");
        for wrong in [Some("GPL-2.0-only"), Some("MIT AND SSPL-1.0"), Some(""), None] {
            let found = against(&package(wrong, Some(&crates_io)));
            assert!(found.contains("licence"), "{wrong:?}: {found}");
        }
        let git = "git+https://example.org/x?branch=main#0";
        assert!(against(&package(Some("MIT"), Some(git))).contains("registries"));
        let banned =
            Package { name: "openssl-sys".to_owned(), ..package(Some("MIT"), Some(&crates_io)) };
        assert!(against(&banned).contains("banned"));
        assert_eq!(against(&package(None, None)), "", "what is in the repository is ours");
    }
}
