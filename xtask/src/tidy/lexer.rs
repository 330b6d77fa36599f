//! A light lexer: tells code, comments and strings apart, and nothing else.
//!
//! ```text
//!   text    let a = "if {"; // one {        what was written
//!   code    let a = "    ";                 strings and comments blanked: braces can be counted
//!   prose   let a = "    "; // one {        strings blanked: words are looked for here
//! ```
//!
//! Both results have the lines and columns (in characters) of the text. Where Rust and TypeScript
//! differ, [`Language`] decides; what TypeScript leaves ambiguous (a slash that may divide or open
//! a regular expression, an apostrophe in the text of an element) is guessed and ends with the
//! line.

/// How to read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    TypeScript,
}

/// A text with its strings, or its strings and comments, blanked.
pub(super) struct BlankedText {
    pub code: String,
    pub prose: String,
}

/// Blanks a text.
pub(super) fn blank_text(text: &str, language: Language) -> BlankedText {
    let mut lexer = Lexer {
        chars: text.chars().collect(),
        at: 0,
        language,
        code: String::with_capacity(text.len()),
        prose: String::with_capacity(text.len()),
    };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    BlankedText { code: lexer.code, prose: lexer.prose }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    language: Language,
    code: String,
    prose: String,
}

/// How a character shows in code and in prose.
#[derive(Clone, Copy)]
enum Show {
    Both,
    ProseOnly,
    Neither,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn previous(&self) -> char {
        self.at.checked_sub(1).map_or('\0', |index| self.chars[index])
    }

    fn take(&mut self, show: Show) {
        let Some(&char) = self.chars.get(self.at) else {
            return;
        };
        let blank = if char == '\n' { '\n' } else { ' ' };
        let (code, prose) = match show {
            Show::Both => (char, char),
            Show::ProseOnly => (blank, char),
            Show::Neither => (blank, blank),
        };
        self.code.push(code);
        self.prose.push(prose);
        self.at += 1;
    }

    fn step(&mut self) {
        let rust = self.language == Language::Rust;
        match (self.peek(0), self.peek(1)) {
            ('/', '/') => self.line_comment(),
            ('/', '*') => self.block_comment(),
            ('"', _) => self.string('"'),
            ('\'', _) if rust => self.char_or_lifetime(),
            ('r', '"' | '#') if rust && !self.inside_word() => self.raw_string(),
            (quote @ ('\'' | '`'), _) if !rust => self.string(quote),
            ('/', _) if !rust && self.expects_value() => self.string('/'),
            _ => self.take(Show::Both),
        }
    }

    /// `for` before a quote is a word; `r`, `br` and `cr` are prefixes of a raw string.
    fn inside_word(&self) -> bool {
        let before =
            |back: usize| self.at.checked_sub(back).map_or('\0', |index| self.chars[index]);
        is_word_char(before(1)) && (!matches!(before(1), 'b' | 'c') || is_word_char(before(2)))
    }

    fn line_comment(&mut self) {
        while self.at < self.chars.len() && self.peek(0) != '\n' {
            self.take(Show::ProseOnly);
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            let step = match (self.peek(0), self.peek(1)) {
                ('/', '*') if depth == 0 || self.language == Language::Rust => 1,
                ('*', '/') => -1,
                _ => 0,
            };
            depth += step;
            self.take(Show::ProseOnly);
            if step != 0 {
                self.take(Show::ProseOnly);
            }
            if depth == 0 {
                return;
            }
        }
    }

    /// A string that `quote` opens and closes; the quotes stay visible.
    fn string(&mut self, quote: char) {
        let spans_lines = self.language == Language::Rust || quote == '`';
        self.take(Show::Both);
        while self.at < self.chars.len() {
            match self.peek(0) {
                '\\' => {
                    self.take(Show::Neither);
                    self.take(Show::Neither);
                }
                '\n' if !spans_lines => return,
                char if char == quote => return self.take(Show::Both),
                _ => self.take(Show::Neither),
            }
        }
    }

    /// `r"…"`, `r#"…"#` and so on; `r#name` is an identifier.
    fn raw_string(&mut self) {
        let hashes = (1..).take_while(|&ahead| self.peek(ahead) == '#').count();
        if self.peek(1 + hashes) != '"' {
            return self.take(Show::Both);
        }
        for _ in 0..hashes + 2 {
            self.take(Show::Both);
        }
        while self.at < self.chars.len() {
            let closes = self.peek(0) == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == '#');
            if closes {
                for _ in 0..=hashes {
                    self.take(Show::Both);
                }
                return;
            }
            self.take(Show::Neither);
        }
    }

    /// `'a'`, `'\n'` and `'"'` are characters; `'a` is a lifetime.
    fn char_or_lifetime(&mut self) {
        if self.peek(1) == '\\' {
            return self.string('\'');
        }
        if self.peek(2) == '\'' && self.peek(1) != '\'' {
            self.take(Show::Both);
            self.take(Show::Neither);
        }
        self.take(Show::Both);
    }

    /// Whether a value may begin here, so that a slash opens a regular expression.
    fn expects_value(&self) -> bool {
        if self.previous() == '<' || self.peek(1) == '>' {
            return false; // `</tag>` and `<tag/>`
        }
        let code = self.code.trim_end();
        code.is_empty()
            || code.ends_with("return")
            || code.ends_with(['(', ',', '=', ':', '[', '!', '&', '|', '?', '{', '}', ';'])
    }
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        blank_text(text, Language::Rust).code
    }

    #[test]
    fn strings_and_comments_are_blank_and_keep_their_place() {
        assert_eq!(code(r#"a("b{", 'c') // d {"#), r#"a("  ", ' ')       "#);
        assert_eq!(code("a /* { /* { */ */ b"), format!("a{}b", " ".repeat(17)));
        assert_eq!(code("\"a\n{\" b"), "\" \n \" b");
        assert_eq!(blank_text("\"a\" // b", Language::Rust).prose, "\" \" // b");
    }

    #[test]
    fn raw_strings_end_where_their_hashes_do() {
        assert_eq!(code(r###"r#"a"{"# b"###), r###"r#"   "# b"###);
        assert_eq!(code(r#"br"\" b"#), r#"br" " b"#);
        assert_eq!(code("r#type { }"), "r#type { }");
        assert_eq!(code(r#"for"{" b"#), r#"for" " b"#);
    }

    #[test]
    fn lifetimes_are_no_strings() {
        assert_eq!(code("fn a<'b>(c: &'b str) {}"), "fn a<'b>(c: &'b str) {}");
        assert_eq!(code(r"'\'' '{' b'}' '\u{7d}' x"), r"'  ' ' ' b' ' '      ' x");
    }

    #[test]
    fn escapes_do_not_end_a_string() {
        assert_eq!(code(r#""a\"{" b"#), r#""    " b"#);
        assert_eq!(code(r#""a\\" {"#), r#""   " {"#);
    }

    #[test]
    fn typescript_has_templates_and_regular_expressions() {
        let code = |text| blank_text(text, Language::TypeScript).code;
        assert_eq!(code("a(`{\n`, /[{]/, '{')"), "a(` \n`, /   /, ' ')");
        assert_eq!(code("a / b / c {"), "a / b / c {");
        assert_eq!(code("<b>don't</b>\n{"), "<b>don'     \n{");
    }

    #[test]
    fn a_text_that_breaks_off_ends() {
        for text in ["\"a", "r#\"a", "/* a", "'", "'\\", "r#", "`"] {
            for language in [Language::Rust, Language::TypeScript] {
                assert_eq!(blank_text(text, language).code.chars().count(), text.chars().count());
            }
        }
    }
}
