//! Whether an arm's tables come from an image, and what has to be equal for that.
//!
//! ```text
//!   open    key of release, settings and tables ─▶ an image with this key?  yes: start on a copy
//!                                                                           no:  start empty
//!   fill    made by the other arm meanwhile? start over on a copy of it
//!           else: fill ─▶ keep as an image ─▶ start over on a copy of it
//! ```
//!
//! The run that makes an image thus starts from it as every later one does, and two arms of one
//! release start from the same bytes.

use std::fmt::Write as _;
use std::sync::Arc;

use dbdyno_load::FILL_VERSION;
use dbdyno_model::random::key_of;
use dbdyno_model::{Dialect, ImageUse};
use dbdyno_sandbox::{Image, ImageKey};
use dbdyno_workload::Dataset;

use super::set_up::Restores;

/// Tables of fewer bytes of rows are filled faster than an image of them is made.
const WORTH_BYTES: u64 = 64_000_000;

/// Where the tables of an arm come from.
pub(crate) enum Origin {
    /// They are filled.
    Filling,
    /// They are filled and kept as an image with this key, unless one is there by then.
    Making(ImageKey),
    /// They are in this image of an older release, of which the server has a copy that it has
    /// upgraded; that is kept as an image with this key.
    Upgrading(Image, ImageKey),
    /// They are in this image, of which the server has a copy.
    Image(Image),
}

/// What is done where there is an image, and where there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Tables are filled, whatever images there are.
    Fill,
    /// An image is used if it is there, and not made.
    Use,
    /// An image is used if it is there, and made if it is not.
    UseOrMake,
    /// An image is made.
    Make,
}

/// What is to be done with these tables.
pub(crate) fn image_policy(
    image: ImageUse,
    restores: Restores,
    datasets: &[Arc<dyn Dataset>],
) -> Policy {
    let bytes: u64 = datasets.iter().filter(|d| has_rows(d)).map(|dataset| dataset.bytes()).sum();
    match image {
        _ if bytes == 0 => Policy::Fill,
        ImageUse::None => Policy::Fill,
        ImageUse::Fresh => Policy::Make,
        ImageUse::Auto if bytes >= WORTH_BYTES || restores == Restores::Yes => Policy::UseOrMake,
        ImageUse::Auto => Policy::Use,
    }
}

fn has_rows(dataset: &Arc<dyn Dataset>) -> bool {
    let tables = dataset.tables(Dialect::Mysql).len();
    (0..tables).any(|table| dataset.unit_count(table) > 0)
}

/// Everything about the tables that shapes the data directory, a line each. What the key of a
/// dataset does not say, a changed statement or generator, the hash does: of all statements and of
/// a few rows.
pub(crate) fn content_lines(datasets: &[Arc<dyn Dataset>], dialect: Dialect) -> Vec<String> {
    let line = |dataset: &Arc<dyn Dataset>| {
        let scripts = dataset.tables(dialect);
        let mut text = String::new();
        for (table, script) in scripts.iter().enumerate() {
            let _infallible = write!(text, "{script:?}");
            let last = dataset.unit_count(table).checked_sub(1);
            let mut rows = Vec::new();
            for unit in last.into_iter().flat_map(|last| [0, last / 2, last]) {
                dataset.push(table, unit, &mut rows);
            }
            text.push_str(&String::from_utf8_lossy(&rows));
        }
        format!("{} {:016x}", dataset.key(), key_of(&text))
    };
    let mut lines: Vec<String> = datasets.iter().map(line).collect();
    lines.push(format!("filled by version {FILL_VERSION}"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_workload::Tables;

    fn tables(rows: u64, seed: u64) -> Vec<Arc<dyn Dataset>> {
        vec![Arc::new(Tables { count: 1, rows, seed })]
    }

    #[test]
    fn tables_are_worth_an_image_from_a_size_on() {
        let (small, large) = (tables(2_000, 1), tables(1_000_000, 1));
        assert_eq!(image_policy(ImageUse::Auto, Restores::No, &small), Policy::Use);
        assert_eq!(image_policy(ImageUse::Auto, Restores::No, &large), Policy::UseOrMake);
        assert_eq!(image_policy(ImageUse::Auto, Restores::Yes, &small), Policy::UseOrMake);
        assert_eq!(image_policy(ImageUse::Fresh, Restores::No, &small), Policy::Make);
        assert_eq!(image_policy(ImageUse::None, Restores::No, &large), Policy::Fill);
        assert_eq!(
            image_policy(ImageUse::Fresh, Restores::No, &[]),
            Policy::Fill,
            "there is nothing to keep"
        );
    }

    #[test]
    fn other_rows_are_other_content() {
        let of = |rows, seed, dialect| content_lines(&tables(rows, seed), dialect);
        let one = of(1_000, 1, Dialect::Mysql);
        assert_eq!(one, of(1_000, 1, Dialect::Mysql));
        assert_ne!(one, of(1_001, 1, Dialect::Mysql));
        assert_ne!(one, of(1_000, 2, Dialect::Mysql));
        assert_ne!(one, of(1_000, 1, Dialect::Postgres));
    }
}
