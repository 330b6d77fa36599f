//! What a CREATE TABLE says of its columns, as far as filling them depends on it.
//!
//! ```text
//!   CREATE TABLE t (flags BIT(8) NOT NULL, total INT GENERATED ALWAYS AS (a * b), …)
//!                   ──┬── ─┬─              ──┬──                      ───┬───
//!                    name  type             name                     AS and a formula
//! ```

use dbdyno_model::Dialect;

use crate::references::{Token, tokens};

/// Types whose values come back in another form from each family of servers: documents with their
/// keys sorted, truths as `t` or 1, bytes as digits or as they are, moments with a zone or without,
/// floating-point numbers with more digits or fewer.
const RESHAPED: [&str; 19] = [
    "json",
    "jsonb",
    "bool",
    "boolean",
    "bytea",
    "binary",
    "varbinary",
    "tinyblob",
    "blob",
    "mediumblob",
    "longblob",
    "timestamptz",
    "timetz",
    "float",
    "float4",
    "float8",
    "real",
    "double",
    "point",
];

/// The columns of a table, each with the words that describe it.
pub(super) struct DeclaredColumns(Vec<(Token, Vec<Token>)>);

/// Reads a CREATE TABLE; of other SQL it makes columns that nobody asks for.
pub(super) fn declared_columns(create: &str) -> DeclaredColumns {
    let mut columns: Vec<Vec<Token>> = Vec::new();
    let mut depth = 0;
    for token in tokens(create) {
        match token {
            Token::Symbol('(') => depth += 1,
            Token::Symbol(')') => depth -= 1,
            _ => {}
        }
        let begins = matches!(token, Token::Symbol('(' | ',')) && depth == 1;
        match columns.last_mut() {
            _ if begins => columns.push(Vec::new()),
            Some(column) => column.push(token),
            None => {}
        }
    }
    let named = columns.into_iter().filter_map(|mut column| {
        let (Token::Word(_) | Token::Quoted(_)) = column.first()? else { return None };
        Some((column.remove(0), column))
    });
    DeclaredColumns(named.collect())
}

fn is_word(token: &Token, word: &str) -> bool {
    matches!(token, Token::Word(found) if found.eq_ignore_ascii_case(word))
}

impl DeclaredColumns {
    fn column(&self, name: &str) -> Option<&(Token, Vec<Token>)> {
        self.0.iter().find(|(known, _)| match known {
            Token::Word(known) | Token::Quoted(known) => known.eq_ignore_ascii_case(name),
            Token::Symbol(_) => false,
        })
    }

    fn words(&self, name: &str) -> &[Token] {
        self.column(name).map_or(&[], |(_, words)| words)
    }

    /// The column as other statements have to write it: in quotes if it is made so.
    pub(super) fn column_spelling(&self, dialect: Dialect, name: &str) -> String {
        match (self.column(name), dialect) {
            (Some((Token::Quoted(_), _)), Dialect::Mysql | Dialect::Engine) => format!("`{name}`"),
            (Some((Token::Quoted(_), _)), _) => format!("\"{name}\""),
            _ => name.to_owned(),
        }
    }

    /// Whether the column is of type BIT.
    pub(super) fn is_bit(&self, name: &str) -> bool {
        self.words(name).first().is_some_and(|kind| is_word(kind, "bit"))
    }

    /// Whether families of servers write values of the column's type differently.
    pub(super) fn is_reshaped(&self, name: &str) -> bool {
        let kind = self.words(name).first();
        kind.is_some_and(|kind| RESHAPED.iter().any(|known| is_word(kind, known)))
    }

    /// Whether the server computes the column: `AS` and a formula in parentheses.
    pub(super) fn is_generated(&self, name: &str) -> bool {
        let pairs = self.words(name).windows(2);
        pairs.into_iter().any(|pair| is_word(&pair[0], "as") && pair[1] == Token::Symbol('('))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_formulae_are_found_and_nothing_that_looks_like_them() {
        let create = "CREATE TABLE t (id INT PRIMARY KEY, `Flags` bit (8) NOT NULL, \
                      price DECIMAL(10, 2) DEFAULT 1, -- total AS (1)\n\
                      total INT GENERATED ALWAYS AS (id * 2) STORED, short INT AS (id), \
                      own BIGINT GENERATED ALWAYS AS IDENTITY, text VARCHAR(9) DEFAULT 'AS (', \
                      KEY (bit), CHECK (CAST(id AS CHAR) = '1'))";
        let found = declared_columns(create);
        let all = ["id", "flags", "price", "total", "short", "own", "text", "bit"];
        let bits: Vec<&str> = all.into_iter().filter(|name| found.is_bit(name)).collect();
        let made: Vec<&str> = all.into_iter().filter(|name| found.is_generated(name)).collect();
        assert_eq!((bits, made), (vec!["flags"], vec!["total", "short"]));
        let spelled = |name| found.column_spelling(Dialect::Mysql, name);
        assert_eq!((spelled("flags"), spelled("price")), ("`flags`".into(), "price".into()));
        let found = declared_columns("CREATE TABLE t (\"Group\" INT)");
        assert_eq!(found.column_spelling(Dialect::Postgres, "Group"), "\"Group\"");
        let document = declared_columns("CREATE TABLE t (id INT, body Jsonb, json INT)");
        assert!(document.is_reshaped("body") && !document.is_reshaped("json"));
        for other in ["", "CREATE TABLE t", "CREATE TABLE t AS SELECT 1", "(((", ")))(,"] {
            assert!(!declared_columns(other).is_bit("t"), "{other}");
        }
    }
}
