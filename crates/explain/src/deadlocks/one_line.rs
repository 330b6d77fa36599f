//! Several lines that a client or a tool has written as one.
//!
//! ```text
//!   InnoDB\t\t2026-01-01 …\n*** (1) TRANSACTION:\n…    what `mysql -e` prints, and others
//! ```
//!
//! Some of them double the backslashes of a text, and some do not: `\\'` ends a literal or does
//! not. What stands from the first mark on of a line with such a place is in doubt, and may be a
//! secret.

/// What stands for the rest of a statement whose marks are in doubt: of Unicode's private use, so
/// that no server writes it.
pub(super) const IN_DOUBT: char = '\u{f8fe}';

/// Marks of strings.
const MARKS: [char; 2] = ['\'', '"'];

/// The lines of a text in which `\n` stands for their ends.
pub(super) fn lines_of_one(text: &str) -> impl Iterator<Item = String> + '_ {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let line = rest?;
        let end = end_of_line(line);
        rest = end.map(|end| &line[end + 2..]);
        Some(unescaped_line(&line[..end.unwrap_or(line.len())]))
    })
}

/// Where `\n` stands that is no backslash and a letter.
fn end_of_line(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('\\').map(|at| from + at) {
        let next = text[at + 1..].chars().next()?;
        if next == 'n' {
            return Some(at);
        }
        from = at + 1 + next.len_utf8();
    }
    None
}

/// A line as it was before somebody put backslashes into it, as far as it is sure.
fn unescaped_line(line: &str) -> String {
    if MARKS.iter().any(|mark| line.contains(&format!("\\{mark}"))) {
        let first = line.find(MARKS).unwrap_or(line.len());
        return format!("{}{IN_DOUBT}", unescaped(&line[..first]));
    }
    unescaped(line)
}

fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let escaped = if letter == '\\' { letters.next() } else { None };
        match escaped {
            Some('\\') => plain.push('\\'),
            Some('t') => plain.push('\t'),
            Some('r') => plain.push('\r'),
            Some('0') => plain.push('\u{fffd}'),
            other => {
                plain.push(letter);
                plain.extend(other);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_lines_are_none_within_doubled_backslashes() {
        for (text, lines) in [
            (r"a\tb\nc", &["a\tb", "c"][..]),
            (r"a\\nb\nc\\", &[r"a\nb", r"c\"]),
            (r"x = 'c:\\dir', y = 'b'\n", &[r"x = 'c:\dir', y = 'b'", ""]),
            (r"x = 'a', y = 'it\\'s me'\nz = 'b'", &["x = \u{f8fe}", "z = 'b'"]),
            (r#"x = \"a\", y\n"#, &["x = \\\u{f8fe}", ""]),
            ("a\\", &["a\\"]),
        ] {
            assert_eq!(lines_of_one(text).collect::<Vec<_>>(), lines, "{text}");
        }
    }
}
