//! Getting a release: from a version as the user wrote it to a tree of executables that run.
//!
//! ```text
//!   asked ─▶ is a finished tree that matches here? ── yes, the newest ─▶ Release    (no network)
//!               │ no: take the lock, look again
//!               ▼
//!   lines of the catalogue, one after the other, until one has it ─▶ `fetch` ─▶ `release`
//! ```
//!
//! A source that cannot be reached is an error and not a reason to take another one: a release
//! from elsewhere is another patch release or another build, which is for the user to choose.

use std::path::Path;

use dbdyno_model::{Product, SourceKind, split_version};

use crate::catalog::{self, Line};
use crate::error::SandboxError;
use crate::fetch;
use crate::home::Home;
use crate::release::{Release, find_finished};
use crate::sums::Pinning;

/// Gets the release that matches `asked`: `10.11`, `10.11.19`, `10`, `8.0@maven`, or empty for the
/// newest of all. The newest that was got before is taken as it is, without the network. `progress`
/// hears a clause before each step that takes time.
///
/// # Errors
/// [`SandboxError::UnknownVersion`], [`SandboxError::NotReachable`], [`SandboxError::NoSpace`],
/// [`SandboxError::MissingTool`], [`SandboxError::Busy`], [`SandboxError::Damaged`],
/// [`SandboxError::Changed`] for a package that is not what was pinned,
/// [`SandboxError::NotOurs`] for a home that servers cannot enter, [`SandboxError::Io`].
pub fn get(
    home: &Home,
    product: Product,
    asked: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    get_checked(home, product, asked, Pinning::Required, progress)
}

/// As [`get`], and a release that came to its registry after dbdyno was made, for which no SHA-256
/// is pinned, is taken as well; `progress` hears that it was.
///
/// # Errors
/// As [`get`].
pub fn get_unpinned(
    home: &Home,
    product: Product,
    asked: &str,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    get_checked(home, product, asked, Pinning::Waived, progress)
}

fn get_checked(
    home: &Home,
    product: Product,
    asked: &str,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    home.check_traversable()?;
    let (version, source) = split_version(asked);
    if source == Some(SourceKind::System) {
        return fetch::fetch_system_server(home, product, version, progress);
    }
    let lines = catalog::lines_for(product, version, source);
    // The newest of all is not the newest of those that happen to be here.
    let newest = lines.as_ref().ok().and_then(|lines| lines.first()).map_or("", |l| l.version);
    let wanted = if version.is_empty() { newest } else { version };
    if let Some(here) = find_finished(home, product, wanted, source)
        && here.is_in_place()
    {
        return Ok(here.release());
    }
    let _lock = home.lock(progress)?;
    home.remove_unfinished("servers");
    home.remove_unfinished("tools");
    match find_finished(home, product, wanted, source) {
        Some(here) if here.is_in_place() => Ok(here.release()),
        Some(here) => here.settle_in(home, progress),
        None => fetch_one_of(home, &lines?, version, pinning, progress),
    }
}

/// Gets a release out of an archive or a folder of the maker's: `path`. It must be of `product`,
/// and of the version `asked`, of which a part or nothing may be given.
///
/// # Errors
/// As [`get`]; [`SandboxError::Unsuitable`] if something else is there.
pub fn get_from(
    home: &Home,
    product: Product,
    asked: &str,
    path: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    home.check_traversable()?;
    let path = fetch::usable_path(path)?;
    let _lock = home.lock(progress)?;
    home.remove_unfinished("servers");
    fetch::files(home, product, asked, &path, progress)
}

/// The version that [`get`] would come back with, as far as that is known without asking anybody:
/// of a series that is not here, the series.
pub fn likely_version(home: &Home, product: Product, asked: &str) -> String {
    let (version, source) = split_version(asked);
    let lines = catalog::lines_for(product, version, source);
    let line = lines.as_ref().ok().and_then(|lines| lines.first()).map_or("", |l| l.version);
    let wanted = if version.is_empty() { line } else { version };
    if let Some(here) = find_finished(home, product, wanted, source) {
        return here.stamp.version;
    }
    if catalog::version_matches(line, wanted) { line.to_owned() } else { wanted.to_owned() }
}

/// Goes from line to line until one has what was asked for.
fn fetch_one_of(
    home: &Home,
    lines: &[&'static Line],
    asked: &str,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<Release, SandboxError> {
    let mut unknown = None;
    for (index, line) in lines.iter().enumerate() {
        match fetch::fetch_newest_release(home, line, asked, pinning, progress) {
            Err(SandboxError::UnknownVersion { product, asked, available }) => {
                let (_, _, known) = unknown.get_or_insert((product, asked, Vec::new()));
                known.extend(available);
            }
            Err(error @ (SandboxError::NotReachable { .. } | SandboxError::MissingTool { .. })) => {
                let other = |other: &&&'static Line| other.kind() != line.kind();
                let others = lines[index + 1..].iter().filter(other);
                let names = others.map(|other| {
                    let (name, source) = (other.product.name(), other.kind().name());
                    format!("{name}:{asked}@{source}")
                });
                let mut others: Vec<String> = names.collect();
                others.dedup();
                return Err(if others.is_empty() {
                    error
                } else {
                    SandboxError::Elsewhere { error: Box::new(error), others }
                });
            }
            done => return done,
        }
    }
    let (product, asked, mut available) =
        unknown.unwrap_or((lines[0].product, asked.to_owned(), Vec::new()));
    available.extend(catalog::available_versions(product).into_iter().map(str::to_owned));
    available.sort_by(|a, b| catalog::compare_versions(a, b));
    available.dedup();
    Err(SandboxError::UnknownVersion { product, asked, available })
}
