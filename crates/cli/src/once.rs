//! Notes on the method, each of which is shown once for each store.
//!
//! ```text
//!   warning ──▶ about the method? ── no ──▶ shown
//!                  │ yes
//!                  └─ shown from this store before? ── no ──▶ shown, and kept as shown
//!                                                    └ yes ─▶ counted
//! ```
//!
//! They are talk, on stderr: what a command writes to stdout depends on the run alone, so that
//! `show` prints what `compare` printed. Every note stays with its run, and `--all`,
//! `--section notes` and the formats for machines have it.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::Warning;
use dbdyno_store::Store;

use crate::failure::Failure;

/// Decides which notes are shown.
#[derive(Default)]
pub(crate) struct Once {
    /// Codes of what was shown before.
    known: BTreeSet<String>,
    /// The notes of the method that were shown, by code.
    shown: BTreeMap<String, Warning>,
}

impl Once {
    /// Knows what was shown from this store before.
    ///
    /// # Errors
    /// A store that cannot be read.
    pub(crate) fn from_store(store: &Store) -> Result<Once, Failure> {
        Ok(Once { known: store.shown_notes()?, ..Once::default() })
    }

    /// Whether to show this one.
    pub(crate) fn admits_warning(&mut self, warning: &Warning) -> bool {
        if !warning.is_about_method() {
            return true;
        }
        let is_new = !self.known.contains(&warning.code) && !self.shown.contains_key(&warning.code);
        if is_new {
            self.shown.insert(warning.code.clone(), warning.clone());
        }
        is_new
    }

    /// Keeps what was shown.
    ///
    /// # Errors
    /// A store that cannot be written.
    pub(crate) fn save_notes(self, store: &mut Store) -> Result<(), Failure> {
        if self.shown.is_empty() {
            return Ok(());
        }
        Ok(store.note_shown(self.shown.values())?)
    }
}
