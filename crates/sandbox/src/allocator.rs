//! The library that gives a server memory, where a target names one: it is loaded before all
//! others (`LD_PRELOAD`), so that the server's calls of `malloc` find it first.
//!
//! It is the system's own library, not one that is brought along: what is measured is what a user
//! of this machine would have.

use std::path::{Path, PathBuf};

use dbdyno_model::{Allocator, Setting};

use crate::error::SandboxError;

/// Where systems keep their libraries, the usual place first.
const PLACES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib64",
];

/// The library that the last of these settings names; `None` where it is the system's.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if this machine does not have it.
pub(crate) fn find_library(settings: &[Setting]) -> Result<Option<PathBuf>, SandboxError> {
    let Some((file, package)) = named(settings).and_then(file_of) else { return Ok(None) };
    let found = PLACES.iter().map(|place| Path::new(place).join(file)).find(|path| path.is_file());
    found.map(Some).ok_or_else(|| SandboxError::Unsuitable {
        what: format!("allocator={}", Setting::Allocator(named(settings).expect("one")).value()),
        reason: format!("this machine has no {file}; apt-get install {package}"),
    })
}

/// A server in the background is started again by others than the one who named the library.
///
/// # Errors
/// [`SandboxError::Unsuitable`] if one is named.
pub(crate) fn is_for_arms(settings: &[Setting]) -> Result<(), SandboxError> {
    match named(settings).and_then(file_of) {
        None => Ok(()),
        Some(_) => Err(SandboxError::Unsuitable {
            what: "allocator=".to_owned(),
            reason: "it is for the arms of a comparison; start a server of your own with \
                     LD_PRELOAD, and name it by its URL"
                .to_owned(),
        }),
    }
}

fn named(settings: &[Setting]) -> Option<Allocator> {
    settings.iter().rev().find_map(|setting| match setting {
        Setting::Allocator(allocator) => Some(*allocator),
        _ => None,
    })
}

/// The file of the library, and the package of Debian that has it.
fn file_of(allocator: Allocator) -> Option<(&'static str, &'static str)> {
    match allocator {
        Allocator::System => None,
        Allocator::Jemalloc => Some(("libjemalloc.so.2", "libjemalloc2")),
        Allocator::Tcmalloc => Some(("libtcmalloc_minimal.so.4", "libtcmalloc-minimal4")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_own_allocator_needs_no_library() {
        assert_eq!(find_library(&[]).unwrap(), None);
        assert_eq!(find_library(&[Setting::Allocator(Allocator::System)]).unwrap(), None);
        assert!(is_for_arms(&[Setting::Allocator(Allocator::System)]).is_ok());
    }

    #[test]
    fn another_one_is_found_or_its_package_is_named() {
        let settings = [Setting::Allocator(Allocator::Jemalloc)];
        match find_library(&settings) {
            Ok(found) => assert!(found.unwrap().ends_with("libjemalloc.so.2")),
            Err(error) => assert!(error.to_string().contains("install libjemalloc2"), "{error}"),
        }
        assert!(is_for_arms(&settings).unwrap_err().to_string().contains("LD_PRELOAD"));
    }
}
