//! The neutral words between a preset, or a user, and the spelling of a release.

use dbdyno_model::{Charset, Durability, Flush, Switch};

use crate::translation::OptionReason;

/// What is wanted in neutral words, each with who wants it; what is absent is left to the release.
#[derive(Clone, Debug)]
pub(crate) struct NeutralOptions {
    pub(crate) buffer_mb: Option<(u64, OptionReason)>,
    pub(crate) redo_mb: Option<(u64, OptionReason)>,
    pub(crate) durability: Option<(Durability, OptionReason)>,
    pub(crate) flush: Option<(Flush, OptionReason)>,
    pub(crate) charset: Option<(Charset, OptionReason)>,
    pub(crate) binlog: Option<(Switch, OptionReason)>,
    pub(crate) pfs: Option<(Switch, OptionReason)>,
}
