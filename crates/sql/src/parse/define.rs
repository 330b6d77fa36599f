//! Tables and indexes: made, and taken away.

use dbdyno_engine::EngineError;
use dbdyno_engine::value::ValueType;

use super::lex::Token;
use super::{AddKeys, ColumnDefinition, CreateTable, IndexDefinition, Parser, Statement};
use crate::column::{LONGTEXT_MOST, MEDIUMTEXT_MOST, TEXT_MOST};
use crate::error::{Result, SqlError};

/// The longest of UTF-8: 32 bits have room for the bytes of all characters.
const BYTES_OF_CHARACTER: u64 = 4;
/// Digits behind the point that 64 bits have room for.
const SCALE_MOST: u8 = 18;
/// The most digits of a DECIMAL, and how many one has that says nothing, after MySQL's manual.
const DIGITS: (u64, u64) = (65, 10);
/// Character sets whose characters are all among those of UTF-8, which they are kept in.
const CHARSETS: [&str; 5] = ["ascii", "latin1", "utf8", "utf8mb3", "utf8mb4"];

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Result<Statement> {
        if self.eat("TABLE")? {
            return self.create_table();
        }
        let unique = self.eat("UNIQUE")?;
        self.want("INDEX")?;
        let name = self.name()?;
        self.want("ON")?;
        let table = self.table_name()?;
        let columns = self.key()?;
        let indexes = vec![IndexDefinition { name: Some(name), columns, unique }];
        Ok(Statement::AddKeys(AddKeys { table, primary: Vec::new(), indexes }))
    }

    fn create_table(&mut self) -> Result<Statement> {
        let unless_there = self.eat("IF")?;
        if unless_there {
            self.want("NOT")?;
            self.want("EXISTS")?;
        }
        let mut made = CreateTable {
            name: self.table_name()?,
            unless_there,
            columns: Vec::new(),
            primary: Vec::new(),
            indexes: Vec::new(),
        };
        self.want_symbol("(")?;
        loop {
            self.part_of_table(&mut made)?;
            if !self.eat_symbol(",")? {
                break;
            }
        }
        self.want_symbol(")")?;
        while self.table_option()? {
            self.eat_symbol(",")?;
        }
        Ok(Statement::CreateTable(made))
    }

    /// One of the options behind the columns of a table, all of which leave it as it is here;
    /// whether there was one.
    fn table_option(&mut self) -> Result<bool> {
        if self.charset_or_collation()? || self.comment()? {
            return Ok(true);
        }
        if self.eat("ENGINE")? {
            // Whatever it says: there is one engine.
            self.eat_symbol("=")?;
            self.name()?;
            return Ok(true);
        }
        if self.eat("AUTO_INCREMENT")? {
            self.eat_symbol("=")?;
            let here = self.here();
            let first = self.number()?;
            if first > 1 {
                let what = format!("AUTO_INCREMENT={first} of a table: numbers begin with 1");
                return Err(self.blame(here, SqlError::Unknown(what)));
            }
            return Ok(true);
        }
        Ok(false)
    }

    /// `COMMENT 'text'`, which is not kept.
    fn comment(&mut self) -> Result<bool> {
        if !self.eat("COMMENT")? {
            return Ok(false);
        }
        self.eat_symbol("=")?;
        match self.advance()? {
            Token::Text(_) => Ok(true),
            _ => Err(self.unexpected("a comment in quotes")),
        }
    }

    /// `[DEFAULT] CHARACTER SET x`, `CHARSET x` or `COLLATE x`: what is kept is UTF-8, and texts
    /// compare as bytes.
    fn charset_or_collation(&mut self) -> Result<bool> {
        let is_default = self.eat("DEFAULT")?;
        let is_charset = self.eat("CHARSET")?
            || (self.is("CHARACTER") || self.is("CHAR")) && {
                self.advance()?;
                self.want("SET")?;
                true
            };
        if !is_charset && !self.eat("COLLATE")? {
            if is_default {
                return Err(self.unexpected("CHARACTER SET or COLLATE"));
            }
            return Ok(false);
        }
        self.eat_symbol("=")?;
        let here = self.here();
        let name = self.name_or_text(if is_charset { "CHARACTER SET" } else { "COLLATE" })?;
        let small = name.to_ascii_lowercase();
        let refusal = if is_charset {
            (!CHARSETS.contains(&&*small)).then(|| format!("the character set {name}"))
        } else {
            (!small.ends_with("_bin") && small != "binary").then(|| {
                format!("the collation {name}: texts compare as bytes, as with utf8mb4_0900_bin")
            })
        };
        match refusal {
            Some(what) => Err(self.blame(here, SqlError::Unknown(what))),
            None => Ok(true),
        }
    }

    fn part_of_table(&mut self, made: &mut CreateTable) -> Result<()> {
        let constraint = self.constraint_name()?;
        if self.eat("PRIMARY")? {
            self.want("KEY")?;
            let key = self.key()?;
            return set_primary(&mut made.primary, &made.name, key);
        }
        let unique = self.eat("UNIQUE")?;
        if unique || self.is("INDEX") || self.is("KEY") {
            let _ = self.eat("INDEX")? || self.eat("KEY")?;
            let index = self.index_definition(unique)?;
            made.indexes.push(IndexDefinition { name: index.name.or(constraint), ..index });
            return Ok(());
        }
        let name = self.name()?;
        let kind = self.kind()?;
        let mut column =
            ColumnDefinition { name, kind, nullable: true, default: None, counts_up: false };
        loop {
            if self.eat("NOT")? {
                self.want("NULL")?;
                column.nullable = false;
            } else if self.eat("NULL")? {
                column.nullable = true;
            } else if self.eat("DEFAULT")? {
                column.default = Some(self.operand()?);
            } else if self.eat("AUTO_INCREMENT")? {
                column.counts_up = true;
            } else if self.eat("PRIMARY")? {
                self.want("KEY")?;
                set_primary(&mut made.primary, &made.name, vec![column.name.clone()])?;
            } else if self.charset_or_collation()? || self.comment()? {
                // Nothing is another for it.
            } else if self.eat("UNIQUE")? {
                self.eat("KEY")?;
                let columns = vec![column.name.clone()];
                made.indexes.push(IndexDefinition { name: None, columns, unique: true });
            } else {
                break;
            }
        }
        made.columns.push(column);
        Ok(())
    }

    fn kind(&mut self) -> Result<ValueType> {
        let here = self.here();
        let word = self.name()?.to_ascii_uppercase();
        // ENUM has something else in its brackets: what is not known is the type.
        if let Err(error @ SqlError::Unknown(_)) = kind_of(&word, &[]) {
            return Err(self.blame(here, error));
        }
        let lengths = self.lengths()?;
        let kind = kind_of(&word, &lengths).map_err(|error| self.blame(here, error))?;
        Ok(match kind {
            ValueType::Int { bytes, .. } if self.eat("UNSIGNED")? => {
                ValueType::Int { bytes, signed: false }
            }
            kind => kind,
        })
    }

    /// `(10)`, `(10,2)` or nothing.
    fn lengths(&mut self) -> Result<Vec<u64>> {
        let mut lengths = Vec::new();
        if self.eat_symbol("(")? {
            lengths.push(self.number()?);
            while self.eat_symbol(",")? {
                lengths.push(self.number()?);
            }
            self.want_symbol(")")?;
        }
        Ok(lengths)
    }

    /// An index from its name on.
    fn index_definition(&mut self, unique: bool) -> Result<IndexDefinition> {
        let name = if self.is_symbol("(") { None } else { Some(self.name()?) };
        Ok(IndexDefinition { name, columns: self.key()?, unique })
    }

    /// Columns of a key, in brackets.
    fn key(&mut self) -> Result<Vec<String>> {
        self.want_symbol("(")?;
        let names = self.names()?;
        self.want_symbol(")")?;
        Ok(names)
    }

    pub(super) fn alter_table(&mut self) -> Result<Statement> {
        self.want("TABLE")?;
        let table = self.table_name()?;
        let mut added = AddKeys { table, primary: Vec::new(), indexes: Vec::new() };
        loop {
            self.want("ADD")?;
            self.added(&mut added)?;
            if !self.eat_symbol(",")? {
                break;
            }
        }
        Ok(Statement::AddKeys(added))
    }

    /// The name that a key has as a constraint, if it has one.
    fn constraint_name(&mut self) -> Result<Option<String>> {
        if !self.is("CONSTRAINT") {
            return Ok(None);
        }
        // What is no key is named whole.
        let (here, unknown) = (self.here(), self.unexpected("PRIMARY KEY or UNIQUE"));
        self.advance()?;
        let is_named = !["PRIMARY", "UNIQUE", "FOREIGN", "CHECK"].iter().any(|word| self.is(word));
        let name = if is_named { Some(self.name()?) } else { None };
        if self.is("PRIMARY") || self.is("UNIQUE") {
            return Ok(name);
        }
        Err(self.blame(here, unknown))
    }

    /// A key of a table, which may have a name as a constraint.
    fn added(&mut self, added: &mut AddKeys) -> Result<()> {
        let constraint = self.constraint_name()?;
        if self.eat("PRIMARY")? {
            self.want("KEY")?;
            let key = self.key()?;
            return set_primary(&mut added.primary, &added.table, key);
        }
        let unique = self.eat("UNIQUE")?;
        let is_index = self.eat("KEY")? || self.eat("INDEX")?;
        if !unique && !is_index {
            return Err(self.unexpected("PRIMARY KEY, UNIQUE or INDEX"));
        }
        let index = self.index_definition(unique)?;
        added.indexes.push(IndexDefinition { name: index.name.or(constraint), ..index });
        Ok(())
    }

    pub(super) fn drop_table(&mut self) -> Result<Statement> {
        self.want("TABLE")?;
        let if_there = self.eat("IF")?;
        if if_there {
            self.want("EXISTS")?;
        }
        Ok(Statement::DropTable { name: self.table_name()?, if_there })
    }
}

/// A table has one primary key.
fn set_primary(primary: &mut Vec<String>, table: &str, key: Vec<String>) -> Result<()> {
    if !primary.is_empty() {
        return Err(EngineError::TwoPrimaryKeys(table.to_owned()).into());
    }
    *primary = key;
    Ok(())
}

/// A type.
fn kind_of(word: &str, lengths: &[u64]) -> Result<ValueType> {
    let length = lengths.first().copied();
    let int = |bytes| Ok(ValueType::Int { bytes, signed: true });
    match word {
        "TINYINT" | "BOOL" | "BOOLEAN" => int(1),
        "SMALLINT" => int(2),
        "MEDIUMINT" => int(3),
        "INT" | "INTEGER" => int(4),
        "BIGINT" => int(8),
        "DECIMAL" | "NUMERIC" => decimal(lengths),
        "CHAR" => Ok(ValueType::Char { most: characters(word, length.unwrap_or(1))? }),
        "VARCHAR" => {
            let Some(length) = length else {
                return Err(SqlError::Syntax("VARCHAR has no length".to_owned()));
            };
            Ok(ValueType::Text { most: characters(word, length)? })
        }
        "TEXT" => Ok(ValueType::Text { most: TEXT_MOST }),
        "MEDIUMTEXT" => Ok(ValueType::Text { most: MEDIUMTEXT_MOST }),
        "LONGTEXT" => Ok(ValueType::Text { most: LONGTEXT_MOST }),
        "DATE" => Ok(ValueType::Date),
        "DATETIME" | "TIMESTAMP" => match length.unwrap_or(0) {
            digits @ 0..=6 => Ok(ValueType::Timestamp { digits: digits as u8 }),
            digits => {
                Err(SqlError::Unknown(format!("a {word} of {digits} digits; 6 are the most")))
            }
        },
        _ => Err(SqlError::Unknown(format!("the type {word}"))),
    }
}

/// How many characters a text of this type has at most.
fn characters(word: &str, most: u64) -> Result<u32> {
    let bytes = most.checked_mul(BYTES_OF_CHARACTER);
    match bytes.and_then(|bytes| u32::try_from(bytes).ok()) {
        Some(_) => Ok(most as u32),
        None => Err(SqlError::Unknown(format!("{word}({most})"))),
    }
}

fn decimal(lengths: &[u64]) -> Result<ValueType> {
    let digits = lengths.first().copied().filter(|digits| *digits > 0).unwrap_or(DIGITS.1);
    let scale = lengths.get(1).copied().unwrap_or(0);
    let is_known = digits <= DIGITS.0 && scale <= u64::from(SCALE_MOST) && scale <= digits;
    if !is_known {
        let unknown = format!("a DECIMAL of {digits} digits with {scale} behind the point");
        return Err(SqlError::Unknown(unknown));
    }
    Ok(ValueType::Decimal { digits: digits as u8, scale: scale as u8 })
}

#[cfg(test)]
mod tests {
    use crate::parse::parse;

    #[test]
    fn a_text_may_be_long_and_not_without_end() {
        assert!(parse("CREATE TABLE t (a VARCHAR(1073741823))").is_ok());
        for length in ["1073741824", "4611686018427387904", "18446744073709551615"] {
            let error = parse(&format!("CREATE TABLE t (a CHAR({length}))")).unwrap_err();
            assert!(error.to_string().contains(length), "{error}");
        }
    }
}
