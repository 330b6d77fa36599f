//! Whether a text that is read line by line ends within a literal or a comment.
//!
//! ```text
//!   UPDATE t SET a = 'it\'s      a backslash protects the mark: within a literal
//!                                it does not: behind one, and within the next
//! ```
//!
//! A log does not say whether a backslash protects, which is a mode of MySQL, nor whether a comment
//! of some releases was executed. So a text is scanned once for each meaning.

use dbdyno_model::Dialect;

use super::one_line::IN_DOUBT;

/// All scans of one text.
#[derive(Clone, Debug)]
pub(super) struct LiteralScan {
    scans: Vec<Scan>,
    /// Whether what is behind a line is in doubt, whatever it has.
    is_in_doubt: bool,
}

/// One of them.
#[derive(Clone, Debug)]
struct Scan {
    rules: Rules,
    within: Within,
}

/// What marks mean.
#[derive(Clone, Copy, Debug)]
struct Rules {
    is_postgres: bool,
    /// Whether a backslash protects in every literal, and not only in `E'…'`.
    protects: bool,
    /// Whether `/*! … */` is no comment.
    is_executed: bool,
}

/// What the end of a text is within.
#[derive(Clone, Debug, Default)]
enum Within {
    #[default]
    Nothing,
    /// A name in quotes.
    Name(char),
    Literal {
        mark: char,
        protects: bool,
    },
    /// `$tag$ … $tag$`
    DollarQuotes(String),
    Comment {
        depth: usize,
    },
}

impl LiteralScan {
    /// Of a text that has no line yet.
    pub(super) fn new(dialect: Dialect) -> LiteralScan {
        let is_postgres = dialect == Dialect::Postgres;
        let senses = if is_postgres { &[false][..] } else { &[true, false] };
        let rules = senses.iter().flat_map(|is_executed| {
            [true, false].map(|protects| Rules { is_postgres, protects, is_executed: *is_executed })
        });
        let scans = rules.map(|rules| Scan { rules, within: Within::Nothing }).collect();
        LiteralScan { scans, is_in_doubt: false }
    }

    /// Of a text.
    pub(super) fn of_text(text: &str, dialect: Dialect) -> LiteralScan {
        let mut scan = LiteralScan::new(dialect);
        text.lines().for_each(|line| scan.push_line(line));
        scan
    }

    /// The next line.
    pub(super) fn push_line(&mut self, line: &str) {
        self.is_in_doubt |= line.contains(IN_DOUBT);
        self.scans.iter_mut().for_each(|scan| scan.push_line(line));
    }

    /// Whether the next line may be within a literal or a comment. Names of PostgreSQL are none of
    /// anybody's values, and its log cuts many statements within one.
    pub(super) fn is_open(&self) -> bool {
        let mut scans = self.scans.iter();
        self.is_in_doubt
            || scans.any(|scan| match scan.within {
                Within::Nothing => false,
                Within::Name(_) => !scan.rules.is_postgres,
                _ => true,
            })
    }
}

impl Scan {
    fn push_line(&mut self, line: &str) {
        let mut at = 0;
        while at < line.len() {
            at = match &self.within {
                Within::Nothing => {
                    let (within, next) = self.rules.begin(line, at);
                    self.within = within;
                    next
                }
                within => match self.rules.end(within, line, at) {
                    Ok(next) => {
                        self.within = Within::Nothing;
                        next
                    }
                    Err(within) => {
                        self.within = within;
                        return;
                    }
                },
            };
        }
    }
}

impl Rules {
    /// What begins next in a line, and where it goes on behind the mark.
    fn begin(self, line: &str, from: usize) -> (Within, usize) {
        let marks = ['\'', '"', '`', '$', '/', '-', '#'];
        let Some(at) = line[from..].find(marks).map(|at| from + at) else {
            return (Within::Nothing, line.len());
        };
        let (rest, next) = (&line[at..], at + 1);
        let is_comment_of_a_line = match rest.strip_prefix("--") {
            Some(behind) => self.is_postgres || !behind.starts_with(|c: char| !c.is_whitespace()),
            None => rest.starts_with('#') && !self.is_postgres,
        };
        if is_comment_of_a_line {
            return (Within::Nothing, line.len());
        }
        let is_executed = self.is_executed && ["/*!", "/*M!"].iter().any(|it| rest.starts_with(it));
        match rest.chars().next() {
            Some('"') if self.is_postgres => (Within::Name('"'), next),
            Some('`') if !self.is_postgres => (Within::Name('`'), next),
            Some(mark @ ('\'' | '"')) => {
                let protects = self.protects || self.is_postgres && is_escape_string(&line[..at]);
                (Within::Literal { mark, protects }, next)
            }
            Some('$') if self.is_postgres => match dollar_tag(line, at) {
                Some(tag) => (Within::DollarQuotes(tag.to_owned()), at + tag.len()),
                None => (Within::Nothing, next),
            },
            _ if rest.starts_with("/*") && !is_executed => (Within::Comment { depth: 1 }, at + 2),
            _ => (Within::Nothing, next),
        }
    }

    /// Where it ends in a line, or what the end of the line is within.
    fn end(self, within: &Within, line: &str, from: usize) -> Result<usize, Within> {
        let found = match within {
            Within::Nothing => Some(from),
            Within::Name(mark) => end_of_marks(line, from, *mark, false),
            Within::Literal { mark, protects } => end_of_marks(line, from, *mark, *protects),
            Within::DollarQuotes(tag) => line[from..].find(&**tag).map(|at| from + at + tag.len()),
            Within::Comment { depth } => return self.end_of_comment(line, from, *depth),
        };
        found.ok_or_else(|| within.clone())
    }

    fn end_of_comment(self, line: &str, from: usize, mut depth: usize) -> Result<usize, Within> {
        let mut at = from;
        while let Some(mark) = line[at..].find(['/', '*']).map(|length| at + length) {
            at = mark + 2;
            match line.get(mark..at) {
                Some("*/") => depth -= 1,
                Some("/*") if self.is_postgres => depth += 1,
                _ => at = mark + 1,
            }
            if depth == 0 {
                return Ok(at);
            }
        }
        Err(Within::Comment { depth })
    }
}

/// Where the mark stands that ends a literal; a doubled one is a letter of it.
fn end_of_marks(line: &str, from: usize, mark: char, protects: bool) -> Option<usize> {
    let mut letters = line[from..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let is_doubled = letter == mark && letters.peek().is_some_and(|(_, next)| *next == mark);
        if letter == '\\' && protects || is_doubled {
            letters.next();
        } else if letter == mark {
            return Some(from + at + mark.len_utf8());
        }
    }
    None
}

/// Whether a literal behind this text is one of `E'…'`.
fn is_escape_string(before: &str) -> bool {
    let mut letters = before.chars().rev();
    matches!(letters.next(), Some('e' | 'E'))
        && !letters.next().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// The tag that begins here: `$tag$`, and none within a name or a number.
fn dollar_tag(line: &str, at: usize) -> Option<&str> {
    let rest = &line[at..];
    let tag = rest[1..].find('$').map(|length| &rest[..length + 2])?;
    let name = &tag[1..tag.len() - 1];
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    is_name.then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_open_within_a_literal_or_a_comment_of_any_meaning() {
        for (text, mysql, postgres) in [
            ("UPDATE t SET a = 'x'", false, false),
            ("a = 'x", true, true),
            ("a = 'x\ny', b = 'z", true, true),
            ("a = 'x\ny', b = 'z'", false, false),
            ("a = 'it''s'", false, false),
            ("a = 'it\\'s'", true, true),
            ("a = E'it\\'s', b = 'c\\'", true, true),
            ("a = 'c\\', b = E'it\\'s'", true, false),
            ("a = \"x", true, false),
            ("a = `x", true, false),
            ("a -- it's\n", false, false),
            ("a --it's\n", true, false),
            ("a # it's", false, true),
            ("a /* it's", true, true),
            ("a /* b /* c */ d", false, true),
            ("a /*!99999 it's */ b", true, false),
            ("a /*!99999 it's */ 'b", true, true),
            ("a /*M!99999 it's */ 'b", true, true),
            ("a = $1, b = $2", false, false),
            ("a = $$it's", true, true),
            ("a = $b$it's$b$", true, false),
            ("a = $b$\nit's\n$b$, 'c", false, true),
            ("a = \u{f8fe}", true, true),
        ] {
            let is_open = |dialect| LiteralScan::of_text(text, dialect).is_open();
            assert_eq!(
                (is_open(Dialect::Mysql), is_open(Dialect::Postgres)),
                (mysql, postgres),
                "{text}"
            );
        }
    }
}
