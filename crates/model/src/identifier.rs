//! Names and texts of a server, as they stand in SQL.
//!
//! ```text
//!   sales"; DROP …  ──Identifier──▶ "sales""; DROP …"     PostgreSQL, SQLite
//!                               └─▶ `sales"; DROP …`      MySQL, the engine
//!   it's \ é        ──Literal─────▶ _utf8mb4 x'69742773…'           MySQL
//!                               └─▶ convert_from('\x…'::bytea, …)   PostgreSQL
//! ```
//!
//! Neither can be written into a statement otherwise than whole: what a server says of itself stays
//! one name or one text, whatever is in it. A literal that is more than letters, digits and spaces
//! is written in hexadecimal digits, so that it needs no escaping: what a quote or a backslash
//! means depends on `sql_mode`, `standard_conforming_strings` and the character set of the session,
//! all of which the owner of a database can set.

use std::fmt;

use crate::product::Dialect;

/// PostgreSQL cuts a longer name off without an error, and means another table then.
const BYTES_MOST_POSTGRES: usize = 63;
/// MySQL refuses more.
const CHARACTERS_MOST: usize = 64;

/// The name of a table, column, index or database. It is displayed as SQL: quoted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identifier {
    name: String,
    dialect: Dialect,
}

/// Why a name cannot be one of a table or database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfitName {
    /// It has no characters.
    Empty,
    /// It is longer than what a server keeps of a name.
    TooLong,
    /// It has a control character in it.
    Control,
}

impl Identifier {
    /// The name as a server has it, for statements of this dialect.
    ///
    /// # Errors
    /// A name that no server has, or that it would take for another one.
    pub fn new(name: &str, dialect: Dialect) -> Result<Identifier, UnfitName> {
        if name.is_empty() {
            return Err(UnfitName::Empty);
        }
        let is_too_long = match dialect {
            Dialect::Postgres => name.len() > BYTES_MOST_POSTGRES,
            _ => name.chars().count() > CHARACTERS_MOST,
        };
        if is_too_long {
            return Err(UnfitName::TooLong);
        }
        if name.chars().any(char::is_control) {
            return Err(UnfitName::Control);
        }
        Ok(Identifier { name: name.to_owned(), dialect })
    }

    /// The name that a table gets which is made as this word, without quotes: PostgreSQL folds it
    /// to small letters.
    ///
    /// # Errors
    /// Those of [`Identifier::new`].
    pub fn of_word(word: &str, dialect: Dialect) -> Result<Identifier, UnfitName> {
        match dialect {
            Dialect::Postgres => Identifier::new(&word.to_ascii_lowercase(), dialect),
            _ => Identifier::new(word, dialect),
        }
    }

    /// The name itself, to be compared or shown; not for SQL.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quote = match self.dialect {
            Dialect::Postgres | Dialect::Sqlite => "\"",
            Dialect::Mysql | Dialect::Engine | Dialect::Rocksdb => "`",
        };
        let doubled = self.name.replace(quote, &[quote, quote].concat());
        write!(f, "{quote}{doubled}{quote}")
    }
}

impl fmt::Display for UnfitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnfitName::Empty => f.write_str("a name has at least one character"),
            UnfitName::TooLong => write!(
                f,
                "the name is too long: PostgreSQL keeps {BYTES_MOST_POSTGRES} bytes of one, MySQL \
                 {CHARACTERS_MOST} characters"
            ),
            UnfitName::Control => f.write_str("the name has a control character in it"),
        }
    }
}

impl std::error::Error for UnfitName {}

/// A number as servers write theirs, in digits: what `parse` takes has `inf` and `nan` as well,
/// which are names where they stand in a statement.
pub fn plain_number(text: &str) -> Option<f64> {
    let is_plain = text.len() <= 32
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    text.parse::<f64>().ok().filter(|number| is_plain && number.is_finite())
}

/// A text as an expression of SQL. It is displayed as such: printable ASCII without quote or
/// backslash, that nothing needs to be escaped in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Literal {
    text: String,
    dialect: Dialect,
}

impl Literal {
    /// The text, for statements of this dialect.
    pub fn new(text: &str, dialect: Dialect) -> Literal {
        Literal { text: text.to_owned(), dialect }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.text;
        if text.bytes().all(|byte| matches!(byte, b' '..=b'~') && !b"'\\".contains(&byte)) {
            return write!(f, "'{text}'");
        }
        let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
        match self.dialect {
            Dialect::Mysql | Dialect::Engine | Dialect::Rocksdb => write!(f, "_utf8mb4 x'{hex}'"),
            Dialect::Postgres => {
                write!(f, "pg_catalog.convert_from(pg_catalog.decode('{hex}', 'hex'), 'UTF8')")
            }
            Dialect::Sqlite => write!(f, "CAST(x'{hex}' AS TEXT)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// What stands at the beginning of a statement, read by the rules of the manuals and by other
    /// code than wrote it: the name in quotes, in which a doubled quote is one, and the rest.
    fn name_of(sql: &str, quote: char) -> Option<(String, String)> {
        let mut chars = sql.strip_prefix(quote)?.chars().peekable();
        let mut name = String::new();
        while let Some(c) = chars.next() {
            if c != quote {
                name.push(c);
            } else if chars.peek() == Some(&quote) {
                name.push(quote);
                chars.next();
            } else {
                return Some((name, chars.collect()));
            }
        }
        None
    }

    const QUOTES: [(Dialect, char); 4] = [
        (Dialect::Mysql, '`'),
        (Dialect::Engine, '`'),
        (Dialect::Postgres, '"'),
        (Dialect::Sqlite, '"'),
    ];

    #[test]
    fn names_of_the_attacks_are_names() {
        for name in ["pg_class where false; alter role eve superuser; --", "payroll.salaries"] {
            for (dialect, quote) in QUOTES {
                let sql = Identifier::new(name, dialect).unwrap().to_string();
                assert_eq!(name_of(&sql, quote), Some((name.to_owned(), String::new())));
            }
        }
        assert_eq!(Identifier::new("", Dialect::Mysql), Err(UnfitName::Empty));
        assert_eq!(Identifier::new("a\0b", Dialect::Mysql), Err(UnfitName::Control));
        let long = "x".repeat(64);
        assert_eq!(Identifier::new(&long, Dialect::Postgres), Err(UnfitName::TooLong));
        assert!(Identifier::new(&long, Dialect::Mysql).is_ok());
    }

    #[test]
    fn a_word_is_folded_where_the_server_folds_it() {
        let of = |dialect| Identifier::of_word("Orders", dialect).unwrap().to_string();
        assert_eq!(of(Dialect::Postgres), "\"orders\"");
        assert_eq!(of(Dialect::Mysql), "`Orders`");
    }

    #[test]
    fn texts_that_need_no_care_are_written_as_they_are() {
        let of = |text, dialect| Literal::new(text, dialect).to_string();
        assert_eq!(of("sbtest1 \"x\"", Dialect::Mysql), "'sbtest1 \"x\"'");
        assert_eq!(of("it's", Dialect::Mysql), "_utf8mb4 x'69742773'");
        assert_eq!(
            of("a\\", Dialect::Postgres),
            "pg_catalog.convert_from(pg_catalog.decode('615c', 'hex'), 'UTF8')"
        );
    }

    /// Names with all that has a meaning in SQL.
    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            prop::sample::select(vec![
                "`", "\"", "'", "\\", "\\'", "--", "/*", "*/", ";", "$$", "%", "?", "$1", ".", "¿",
                "é", "\u{a0}", "x'", "E'", "\0", "\n", "\u{1b}", "0x", "#", "(", ")", "sbtest1",
            ])
            .prop_map(str::to_owned),
            any::<char>().prop_map(String::from),
            "[a-z ]{0,5}",
        ];
        prop::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        /// One token, which is the name; nothing behind it.
        #[test]
        fn a_quoted_name_is_one_token_that_decodes_to_the_name(name in hostile()) {
            for (dialect, quote) in QUOTES {
                let Ok(own) = Identifier::new(&name, dialect) else {
                    let is_long = name.len() > 63 || name.chars().count() > 64;
                    let is_unfit = name.is_empty() || is_long || name.chars().any(char::is_control);
                    prop_assert!(is_unfit, "{name:?}");
                    continue;
                };
                let (read, rest) = name_of(&own.to_string(), quote).unwrap();
                prop_assert_eq!(read, name.clone());
                prop_assert_eq!(rest, "");
            }
        }

        /// Printable ASCII, without a backslash, and each text in quotes is without a quote: no
        /// mode and no character set of a server reads it otherwise.
        #[test]
        fn a_literal_has_nothing_to_escape_and_decodes_to_the_text(text in hostile()) {
            for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
                let sql = Literal::new(&text, dialect).to_string();
                prop_assert!(sql.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{sql}");
                prop_assert!(!sql.contains('\\'), "{sql}");
                let parts: Vec<&str> = sql.split('\'').collect();
                let own = match (parts.len(), parts[0]) {
                    (3, "") => parts[1].to_owned(),
                    (3, "_utf8mb4 x") | (3, "CAST(x") | (7, _) => {
                        let digits = parts[1];
                        let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
                        let bytes = (0..digits.len()).step_by(2).map(byte).collect();
                        String::from_utf8(bytes).unwrap()
                    }
                    _ => panic!("{sql}"),
                };
                prop_assert_eq!(own, text.clone());
            }
        }
    }
}
