//! Statements with `?` for each literal.

/// A statement with `?` for each literal, one space between words, and a list of literals as one.
pub fn statement_with_holes(sql: &str) -> String {
    let mut text = String::with_capacity(sql.len());
    let mut rest = sql.trim();
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first);
        rest = &rest[length..];
        match token {
            Token::Space => space(&mut text),
            Token::Literal => hole(&mut text),
            Token::Text(token) => text.push_str(token),
        }
    }
    text.trim_end().to_owned()
}

enum Token<'a> {
    Space,
    Literal,
    Text(&'a str),
}

/// The token at the beginning of a text that is not empty, and its length in bytes.
fn token(rest: &str, first: char) -> (Token<'_>, usize) {
    let run = |is: fn(char) -> bool| rest.find(|c: char| !is(c)).unwrap_or(rest.len());
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '@';
    match first {
        c if c.is_whitespace() => (Token::Space, run(char::is_whitespace)),
        '\'' | '"' => {
            let length = quoted(rest, first);
            // What PostgreSQL puts between these is a name; a text of MySQL is told as one, too.
            let token = if first == '\'' { Token::Literal } else { Token::Text(&rest[..length]) };
            (token, length)
        }
        '`' => {
            let length = quoted(rest, first);
            (Token::Text(&rest[..length]), length)
        }
        // A parameter of PostgreSQL.
        '$' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => (
            Token::Literal,
            1 + rest[1..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - 1),
        ),
        c if c.is_ascii_digit() => {
            let is_number = |c: char| c.is_ascii_alphanumeric() || c == '.';
            (Token::Literal, run(is_number))
        }
        c if is_word(c) => {
            let length = run(is_word);
            (Token::Text(&rest[..length]), length)
        }
        c => (Token::Text(&rest[..c.len_utf8()]), c.len_utf8()),
    }
}

/// Bytes up to the end of what is quoted; a doubled mark or one behind a backslash is within.
fn quoted(rest: &str, mark: char) -> usize {
    let mut chars = rest.char_indices().skip(1).peekable();
    while let Some((at, c)) = chars.next() {
        let is_doubled = c == mark && chars.peek().is_some_and(|(_, next)| *next == mark);
        if c == '\\' && mark == '\'' || is_doubled {
            chars.next();
        } else if c == mark {
            return at + c.len_utf8();
        }
    }
    rest.len()
}

fn space(text: &mut String) {
    if !text.is_empty() && !text.ends_with(' ') {
        text.push(' ');
    }
}

/// Adds a hole, unless it goes on a list of them.
fn hole(text: &mut String) {
    let before = text.trim_end();
    if before.strip_suffix(',').is_some_and(|list| list.trim_end().ends_with('?')) {
        let length = before.len() - 1;
        text.truncate(length);
        text.truncate(text.trim_end().len());
    } else {
        text.push('?');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_holes_and_names_stay() {
        for (sql, holes) in [
            (
                "UPDATE t1 SET a = a + 7,\n  b='it''s 7' WHERE w=1",
                "UPDATE t1 SET a = a + ?, b=? WHERE w=?",
            ),
            ("SELECT c FROM `t 1` WHERE id IN (1, 2,3 , 4)", "SELECT c FROM `t 1` WHERE id IN (?)"),
            (
                "SELECT \"a\" FROM t WHERE b = 'x\\'y' AND c = 0xFF",
                "SELECT \"a\" FROM t WHERE b = ? AND c = ?",
            ),
            ("INSERT INTO t VALUES (1.5e3, 'ä', NULL)", "INSERT INTO t VALUES (?, NULL)"),
            ("UPDATE t SET a = a + $1 WHERE b = $12", "UPDATE t SET a = a + ? WHERE b = ?"),
            ("SELECT sbtest1.k", "SELECT sbtest1.k"),
            ("'never ends", "?"),
            ("", ""),
        ] {
            assert_eq!(statement_with_holes(sql), holes, "{sql}");
        }
    }
}
