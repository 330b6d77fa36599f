//! The labels of entries in PostgreSQL's log, and what stands behind them.
//!
//! ```text
//!   2026-01-01 00:00:00 UTC [7] STATEMENT:  UPDATE t SET a = 1
//!                               └─ label ─┘ └── text ───────
//! ```

/// What stands behind the label of a line with which an entry begins, and is not indented.
pub(super) fn entry_text(line: &str) -> Option<&str> {
    if line.starts_with(char::is_whitespace) || !line.contains(":  ") {
        return None;
    }
    let (label, text) = label_and_text(line);
    label.filter(|label| !is_in_quotes(line, label)).map(|_| text)
}

/// The label of a line and what is behind it: `… DETAIL:  …`. Clients write it as a word, and one
/// blank behind it.
pub(super) fn label_and_text(text: &str) -> (Option<&str>, &str) {
    let split = text.split_once(":  ").or_else(|| {
        let (label, rest) = text.split_once(": ")?;
        let known = ["Detail", "Hint", "Where", "DETAIL", "HINT", "CONTEXT", "STATEMENT"];
        known.contains(&label.trim()).then_some((label, rest))
    });
    let Some((before, rest)) = split else { return (None, text) };
    // A prefix may end without a blank: `…:[77]:DETAIL`.
    let label = before.trim_end();
    let begin = label.trim_end_matches(char::is_alphabetic).len();
    let label = &label[begin..];
    let is_label = label.chars().all(|c: char| c.is_alphabetic() && !c.is_lowercase())
        || ["Detail", "Hint", "Where"].contains(&label);
    if !label.is_empty() && is_label { (Some(label), rest.trim_start()) } else { (None, text) }
}

/// Whether a mark of a literal stands before a label.
pub(super) fn is_in_quotes(text: &str, label: &str) -> bool {
    text.split(label).next().is_some_and(|before| before.contains(['\'', '"']))
}
