//! Which run is meant: `@last`, `@name`, an id, or the beginning of one.

use dbdyno_model::RunId;

use crate::Store;
use crate::error::{Result, StoreError};
use crate::guard::ID_LENGTH;

/// Runs that are named to somebody who asked for one that does not exist.
const SUGGESTIONS: usize = 3;

/// How like an unknown name a known one must be to be suggested before newer ones (1 is equal).
const SIMILAR: f64 = 0.6;

impl Store {
    /// The run that `text` means: `@last` (the one that began last and is no trial), `@NAME` (the
    /// newest of that name), an id, or a beginning of exactly one id.
    ///
    /// # Errors
    /// [`StoreError::UnknownRun`] and [`StoreError::AmbiguousRun`] list what may have been meant.
    pub fn resolve_run(&self, text: &str) -> Result<RunId> {
        let text = text.trim();
        let found = match text.strip_prefix('@') {
            Some("last") => self.query_text(
                "SELECT id FROM run WHERE ?1 = 'last' AND seq NOT IN (SELECT run FROM trial) \
                 ORDER BY seq DESC LIMIT 1",
                "last",
            )?,
            Some(name) => self
                .query_text("SELECT id FROM run WHERE name = ?1 ORDER BY seq DESC LIMIT 1", name)?,
            None => self.by_prefix(text)?,
        };
        match found {
            Some(id) => Ok(RunId(id)),
            None => Err(StoreError::UnknownRun(text.to_owned(), self.similar_names(text)?)),
        }
    }

    fn by_prefix(&self, text: &str) -> Result<Option<String>> {
        let prefix = text.to_ascii_lowercase();
        let hexadecimal = prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
        if prefix.is_empty() || prefix.len() > ID_LENGTH || !hexadecimal {
            return Ok(None);
        }
        let mut found = self.query_texts(
            "SELECT id FROM run WHERE id >= ?1 AND id < ?1 || 'g' ORDER BY seq DESC",
            &prefix,
        )?;
        if found.len() > 1 {
            return Err(StoreError::AmbiguousRun(text.to_owned(), found));
        }
        Ok(found.pop())
    }

    /// What may have been meant: similar names first, then the newest runs.
    pub(crate) fn similar_names(&self, text: &str) -> Result<Vec<String>> {
        let wanted = text.trim_start_matches('@');
        let mut runs = self.list()?.runs;
        let likeness = |name: &Option<String>| {
            let name = name.as_deref().unwrap_or_default();
            let score = strsim::normalized_levenshtein(name, wanted);
            if score >= SIMILAR { score } else { 0.0 }
        };
        runs.sort_by(|a, b| likeness(&b.name).total_cmp(&likeness(&a.name)));
        runs.truncate(SUGGESTIONS);
        Ok(runs.iter().map(|run| shown_run(&run.id, &run.name)).collect())
    }
}

fn shown_run(id: &RunId, name: &Option<String>) -> String {
    match name {
        Some(name) => format!("{id} (@{name})"),
        None => id.to_string(),
    }
}
