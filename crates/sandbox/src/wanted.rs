//! The neutral words between a preset, or a user, and the spelling of a release.

use dbdyno_model::{Charset, Durability, Flush, Switch};

use crate::translation::Why;

/// What is wanted in neutral words, each with who wants it; what is absent is left to the release.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub(crate) buffer_mb: Option<(u64, Why)>,
    pub(crate) redo_mb: Option<(u64, Why)>,
    pub(crate) durability: Option<(Durability, Why)>,
    pub(crate) flush: Option<(Flush, Why)>,
    pub(crate) charset: Option<(Charset, Why)>,
    pub(crate) binlog: Option<(Switch, Why)>,
    pub(crate) pfs: Option<(Switch, Why)>,
}
