//! As much SQL as a mock needs to know: what kind of statement it is and how many parameters.

/// What the mock does with a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Transaction control and settings: answered at once, counted apart.
    Control,
    /// Returns rows.
    Select,
    /// Takes rows from the client: `COPY … FROM STDIN`.
    Bulk,
    /// Everything else.
    Write,
}

const CONTROLS: [&str; 11] = [
    "BEGIN",
    "START",
    "COMMIT",
    "END",
    "ROLLBACK",
    "ABORT",
    "SAVEPOINT",
    "RELEASE",
    "SET",
    "USE",
    "DISCARD",
];
const SELECTS: [&str; 8] =
    ["SELECT", "SHOW", "VALUES", "WITH", "TABLE", "EXPLAIN", "DESCRIBE", "DESC"];

/// The kind of the statement, by its first word. Leading comments are not understood.
pub(super) fn kind(sql: &[u8]) -> Kind {
    let sql = sql.trim_ascii_start();
    let word = sql.split(|byte| !byte.is_ascii_alphabetic()).next();
    let word = word.unwrap_or_default();
    let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    if CONTROLS.iter().any(|name| is(name)) {
        Kind::Control
    } else if sql.first() == Some(&b'(') || SELECTS.iter().any(|name| is(name)) {
        Kind::Select
    } else if is("COPY") {
        Kind::Bulk
    } else {
        Kind::Write
    }
}

/// Number of `?` outside quotes and backticks.
pub(super) fn placeholders(sql: &[u8]) -> usize {
    let mut count = 0;
    let mut quote = None;
    let mut bytes = sql.iter();
    while let Some(&byte) = bytes.next() {
        match quote {
            None if matches!(byte, b'\'' | b'"' | b'`') => quote = Some(byte),
            None => count += usize::from(byte == b'?'),
            Some(open) if byte == open => quote = None,
            Some(b'\'' | b'"') if byte == b'\\' => {
                bytes.next();
            }
            Some(_) => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_told_apart_by_their_first_word() {
        for (sql, expected) in [
            ("  begin", Kind::Control),
            ("COMMIT;", Kind::Control),
            ("settle", Kind::Write),
            ("SELECT c FROM t WHERE id=?", Kind::Select),
            ("(SELECT 1) UNION (SELECT 2)", Kind::Select),
            ("update t set k=k+1", Kind::Write),
            ("COPY t FROM STDIN", Kind::Bulk),
            ("", Kind::Write),
        ] {
            assert_eq!(kind(sql.as_bytes()), expected, "{sql}");
        }
    }

    #[test]
    fn placeholders_in_quotes_are_characters() {
        for (sql, expected) in [
            ("SELECT ?, ?", 2),
            ("SELECT '?', \"?\", `?`, ?", 1),
            (r"SELECT 'it''s ?', 'a\'?', ?", 1),
            ("SELECT '?", 0),
            ("SELECT '\\", 0),
        ] {
            assert_eq!(placeholders(sql.as_bytes()), expected, "{sql}");
        }
    }
}
