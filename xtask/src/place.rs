//! Where the repository is.

use std::path::Path;

/// Its folder, wherever it was cloned.
pub(crate) fn repository_folder() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the repository")
}
