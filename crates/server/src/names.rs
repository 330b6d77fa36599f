//! How tables are called in statements about them.

use dbdyno_model::{Dialect, Identifier, Literal, UnfitName};

/// How tables are named in a session that looks.
#[derive(Clone, Debug)]
pub struct TableNames {
    pub(crate) dialect: Dialect,
    /// The schema of PostgreSQL in which tables are made.
    pub(crate) schema: Option<Identifier>,
}

impl TableNames {
    /// A table that is made as this word, for a statement.
    ///
    /// # Errors
    /// A word that cannot be a name.
    pub fn of_word(&self, word: &str) -> Result<TableName, UnfitName> {
        self.placed(Identifier::of_word(word, self.dialect)?)
    }

    /// A table that the server calls so.
    ///
    /// # Errors
    /// What cannot be a name.
    pub fn of_exact_name(&self, name: &str) -> Result<TableName, UnfitName> {
        self.placed(Identifier::new(name, self.dialect)?)
    }

    fn placed(&self, name: Identifier) -> Result<TableName, UnfitName> {
        let place = match (&self.schema, self.dialect) {
            (Some(schema), _) => format!("{schema}.{name}"),
            // It has words and no quotes.
            (None, Dialect::Rocksdb) => name.name().to_owned(),
            (None, _) => name.to_string(),
        };
        Ok(TableName { place, name, dialect: self.dialect })
    }

    /// The schema of PostgreSQL in which tables are made, as a text for a statement.
    pub fn schema(&self) -> String {
        let schema = self.schema.as_ref().map(|schema| Literal::new(schema.name(), self.dialect));
        schema.map_or_else(|| "NULL".to_owned(), |schema| schema.to_string())
    }
}

/// A table in a session that looks.
#[derive(Clone, Debug)]
pub struct TableName {
    place: String,
    name: Identifier,
    dialect: Dialect,
}

impl TableName {
    /// As it stands in FROM.
    pub fn qualified_name(&self) -> &str {
        &self.place
    }

    /// Its name as a text for a statement, to be compared in a catalogue.
    pub(crate) fn name_literal(&self) -> Literal {
        Literal::new(self.name.name(), self.dialect)
    }

    /// Its oid in PostgreSQL, as an expression.
    pub(crate) fn oid_expression(&self) -> String {
        let place = Literal::new(&self.place, self.dialect);
        format!("{place}::pg_catalog.regclass::pg_catalog.oid")
    }
}
