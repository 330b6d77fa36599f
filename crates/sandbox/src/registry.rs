//! Registries other than Debian's: Maven, npm and PyPI, each by its ordinary client.
//!
//! The client is used as the machine has it configured, mirrors, proxies and accounts included;
//! dbdyno knows no host. What a client keeps for itself is put into the home, so that the user's
//! own caches stay as they are:
//!
//! ```text
//!   mvn dependency:get     tools/maven, a local repository        SHA-1, must match
//!   npm pack               tools/npm, a cache                     SHA-512 of the registry
//!   pip download           none                                   SHA-256 of the index
//! ```
//!
//! Clients check what they download against what the registry says now; that is what the third
//! column is. It is held against what was there when dbdyno was made by [`crate::sums`].

use std::fs;
use std::path::{Path, PathBuf};

use dbdyno_host::Launch;

use crate::catalog::{self, Registry, Releases, ServerPackage};
use crate::child;
use crate::error::SandboxError;
use crate::home::Home;
use crate::sums::{self, Pinning};
use crate::tool::{error_summary, run};

/// Pinned, so that the same is done everywhere; 3.6.1 was tried.
const MAVEN_GET: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get";

/// A release at a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As its makers call it.
    pub(crate) version: String,
    /// As the registry calls it; for Maven with type and classifier.
    pub(crate) release: String,
}

/// The releases of a line, the newest last: those that have a sum, of which nobody need be asked,
/// or with [`Pinning::Waived`] all that the registry has.
pub(crate) fn entries(
    home: &Home,
    line: &str,
    packed: &ServerPackage,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<Entry>, SandboxError> {
    match packed.releases {
        Releases::One(release) => {
            Ok(vec![Entry { version: line.to_owned(), release: release.to_owned() }])
        }
        Releases::Listed => {
            let mut entries = match pinning {
                Pinning::Required => in_order(sums::pinned_releases(packed)),
                Pinning::Waived => {
                    progress(&format!("asking Maven for the releases of {}", packed.package));
                    parse_metadata(&maven_metadata(home, packed)?)
                }
            };
            entries.retain(|entry| catalog::version_matches(&entry.version, line));
            Ok(entries)
        }
    }
}

/// Downloads a release; returns its file, which is in `into` or in the client's own directory.
pub(crate) fn download(
    home: &Home,
    packed: &ServerPackage,
    release: &str,
    into: &Path,
) -> Result<PathBuf, SandboxError> {
    match packed.registry {
        Registry::Maven => {
            maven_get(home, packed, release)?;
            let version = release.split(':').next().unwrap_or_default();
            let dir = artifact_dir(home, packed.package).join(version);
            only_file(&dir, &["jar", "zip"]).ok_or_else(|| not_there(packed, &dir))
        }
        Registry::Npm => {
            let mut npm = child::client("npm");
            npm.arg("pack").arg(format!("{}@{release}", packed.package));
            npm.args(["--silent", "--ignore-scripts", "--pack-destination"]).arg(into);
            npm.arg("--cache").arg(tool_dir(home, "npm")).current_dir(into);
            finish(npm, "npm", packed)?;
            only_file(into, &["tgz"]).ok_or_else(|| not_there(packed, into))
        }
        Registry::Pypi => {
            let mut pip = child::client("python3");
            pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"]);
            pip.args(["--disable-pip-version-check", "--only-binary", ":all:"]);
            // What is in the wheel does not depend on the Python of this machine.
            pip.args(["--implementation", "cp", "--python-version", "3.11"]);
            pip.args(["--platform", "manylinux2014_x86_64"]);
            pip.args(["--platform", "manylinux_2_28_x86_64", "--dest"]).arg(into);
            pip.arg(format!("{}=={release}", packed.package)).current_dir(into);
            finish(pip, "python3", packed)?;
            only_file(into, &["whl"]).ok_or_else(|| not_there(packed, into))
        }
    }
}

/// Deletes what a client keeps of a release that has been unpacked.
pub(crate) fn delete_cached_files(home: &Home, packed: &ServerPackage) {
    let kept = match packed.registry {
        Registry::Maven => artifact_dir(home, packed.package),
        Registry::Npm => tool_dir(home, "npm"),
        Registry::Pypi => return,
    };
    let _ = fs::remove_dir_all(kept);
}

fn maven_get(home: &Home, packed: &ServerPackage, release: &str) -> Result<(), SandboxError> {
    let mut mvn = child::client("mvn");
    // Strict checksums: without it a mismatch is only a warning.
    mvn.args(["--batch-mode", "--quiet", "--strict-checksums", "--update-snapshots"]);
    mvn.arg(format!("-Dmaven.repo.local={}", tool_dir(home, "maven").display()));
    mvn.arg(MAVEN_GET).arg("-Dtransitive=false");
    mvn.arg(format!("-Dartifact={}:{release}", packed.package)).current_dir(home.dir());
    finish(mvn, "mvn", packed)
}

/// The list of an artefact's versions, which Maven keeps when it is asked for the latest. Only
/// that one's description is downloaded, not the artefact.
fn maven_metadata(home: &Home, packed: &ServerPackage) -> Result<String, SandboxError> {
    maven_get(home, packed, "LATEST:pom")?;
    let dir = artifact_dir(home, packed.package);
    let entries = fs::read_dir(&dir).map_err(SandboxError::io("read", &dir))?;
    let mut text = String::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // One for each repository that was asked.
        if name.starts_with("maven-metadata-") && name.ends_with(".xml") {
            text.push_str(&fs::read_to_string(&path).map_err(SandboxError::io("read", &path))?);
        }
    }
    Ok(text)
}

/// Reads `<version>12.22.0</version>`.
fn parse_metadata(xml: &str) -> Vec<Entry> {
    let versions = xml.split("<version>").skip(1).filter_map(|rest| rest.split_once("</version>"));
    in_order(versions.map(|(release, _)| release))
}

/// `12.22.0` is release 12.22.
fn in_order<'a>(releases: impl Iterator<Item = &'a str>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = releases
        .filter_map(|release| {
            let (version, number) = release.trim().rsplit_once('.')?;
            (is_plain_version(version) && is_plain_version(number) && !version.is_empty())
                .then(|| Entry { version: version.to_owned(), release: release.trim().to_owned() })
        })
        .collect();
    entries.sort_by(|a, b| catalog::compare_versions(&a.release, &b.release));
    entries.dedup();
    entries
}

fn is_plain_version(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}

fn artifact_dir(home: &Home, package: &str) -> PathBuf {
    let (group, artifact) = package.split_once(':').unwrap_or((package, ""));
    let group = group.split('.');
    group.fold(tool_dir(home, "maven"), |dir, part| dir.join(part)).join(artifact)
}

fn tool_dir(home: &Home, name: &str) -> PathBuf {
    home.dir().join("tools").join(name)
}

/// Runs a client to its end.
fn finish(command: Launch, tool: &'static str, packed: &ServerPackage) -> Result<(), SandboxError> {
    let output = run(command, tool)?;
    if output.status.success() {
        return Ok(());
    }
    Err(not_reachable(
        packed,
        error_summary(&output, &["[ERROR]", "ERROR:", "npm error", "npm ERR!"]),
    ))
}

fn not_there(packed: &ServerPackage, dir: &Path) -> SandboxError {
    not_reachable(packed, format!("the client has left no package in {}", dir.display()))
}

fn not_reachable(packed: &ServerPackage, detail: String) -> SandboxError {
    let name = packed.registry.display_name();
    let check = match packed.registry {
        Registry::Maven => "`mvn` reaches its repository (settings.xml, proxy)",
        Registry::Npm => "`npm ping` works",
        Registry::Pypi => "`python3 -m pip download` works",
    };
    SandboxError::NotReachable { source: format!("{name}, {}", packed.package), detail, check }
}

/// The file in `dir` whose name ends so.
fn only_file(dir: &Path, endings: &[&str]) -> Option<PathBuf> {
    let paths = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    paths
        .filter(|path| {
            path.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_read_from_what_maven_keeps() {
        let xml = "<metadata><versioning><latest>18.6.0</latest><versions>\n\
                   <version>12.0.0</version><version>12.22.0</version>\
                   <version>11.22.0</version><version>11.22.1</version>\
                   <version>17.0.0-beta</version><version>x</version><version>9</version>\
                   </versions></versioning></metadata>";
        let entries = parse_metadata(xml);
        let shown: Vec<_> =
            entries.iter().map(|entry| format!("{}={}", entry.version, entry.release)).collect();
        assert_eq!(shown, ["11.22=11.22.0", "11.22=11.22.1", "12.0=12.0.0", "12.22=12.22.0"]);
        assert!(parse_metadata("").is_empty());
    }

    /// Of these nobody need be asked, and what comes out tomorrow is not taken unseen.
    #[test]
    fn without_a_network_the_releases_that_have_a_sum_are_known() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::open(Some(&dir.path().join("home"))).unwrap();
        let of = |asked: &str| {
            let lines = catalog::lines_for(dbdyno_model::Product::Postgres, asked, None).unwrap();
            let listed = lines.iter().find_map(|line| match &line.source {
                catalog::Source::Packed(packed) if packed.releases == Releases::Listed => {
                    Some((line.version, packed))
                }
                _ => None,
            });
            let (line, packed) = listed.unwrap();
            entries(&home, line, packed, Pinning::Required, &mut |text| panic!("{text}")).unwrap()
        };
        assert_eq!(of("11").last().unwrap().release, "11.22.1");
        assert_eq!(of("9.6").last().unwrap().release, "9.6.24");
        assert!(of("17").iter().all(|entry| entry.version.starts_with("17.")));
    }
}
