//! The lines of a text without blank ones, for a file may have nothing but those.

/// Lines with something in them, with their numbers from 1. Of blank ones together one is given,
/// for it may end a sample.
pub(super) fn filled_lines(text: &str) -> FilledText<'_> {
    FilledText { rest: text, number: 0 }
}

/// Whether a word is a number without a sign: digits, and nothing else.
pub(super) fn is_digits(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// See [`filled_lines`].
#[derive(Clone)]
pub(super) struct FilledText<'t> {
    rest: &'t str,
    /// Lines that were passed.
    number: usize,
}

impl<'t> Iterator for FilledText<'t> {
    type Item = (usize, &'t str);

    fn next(&mut self) -> Option<(usize, &'t str)> {
        let blank = self.rest.bytes().position(|b| b != b'\n' && b != b'\r');
        let blank = blank.unwrap_or(self.rest.len());
        if blank > 0 {
            let number = self.number + 1;
            let (passed, rest) = self.rest.split_at(blank);
            self.number += passed.bytes().filter(|b| *b == b'\n').count();
            self.rest = rest;
            return Some((number, ""));
        }
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some((self.number, line.strip_suffix('\r').unwrap_or(line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many blank lines there are, they are one step.
    #[test]
    fn blank_lines_are_passed_at_once() {
        let text = format!("a\n{}b\r\n\r\nc", "\n".repeat(1_000_000));
        let lines: Vec<_> = filled_lines(&text).collect();
        let expected = [(1, "a"), (2, ""), (1_000_002, "b"), (1_000_003, ""), (1_000_004, "c")];
        assert_eq!(lines, expected);
        assert_eq!(filled_lines("").next(), None);
    }
}
