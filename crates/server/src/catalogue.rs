//! What stands in the database of a server, by its catalogue alone, and what of it may go.
//!
//! ```text
//!   names of ours ──▶ catalogue ──▶ nobody │ an ordinary table of our account │ somebody else's
//!                                                       └──▶ DROP TABLE "schema"."name"
//! ```
//!
//! A server may be full of other people's things: a view, a function or an operator that is called
//! as one of ours would be carried out with our rights. So nothing is selected from a table whose
//! name alone is ours; what the catalogue says is compared and never carried out; names stand
//! quoted, and in PostgreSQL with their schema, in a session that finds functions and operators in
//! `pg_catalog` alone. In MySQL the session speaks latin1 even where the server does not take that
//! from the login, so that no character swallows a quote.

use std::collections::BTreeMap;
use std::fmt;

use dbdyno_model::{Dialect, Identifier, Literal, UnfitName};
use dbdyno_wire::{Client, Rows, WireError};

use crate::family::{CatalogueKind, ServerRelease};
use crate::onlooker::postgres_session;
use crate::refusal::{Refusal, ask_server};

/// Why tables were not taken away.
#[derive(Debug)]
pub enum CatalogueError {
    /// The server's refusal.
    Refused(Refusal),
    /// What is called as a table of ours is none of ours.
    NotOurs {
        /// The name.
        name: String,
        /// What it is, as the catalogue has it.
        what: String,
    },
}

impl fmt::Display for CatalogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CatalogueError::Refused(refusal) => write!(f, "{refusal}"),
            CatalogueError::NotOurs { name, what } => {
                write!(f, "{name} is {what}, and no table of this account; rename it")
            }
        }
    }
}

impl std::error::Error for CatalogueError {}

impl<E: Into<Refusal>> From<E> for CatalogueError {
    fn from(refusal: E) -> CatalogueError {
        CatalogueError::Refused(refusal.into())
    }
}

/// What is called so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Occupant {
    /// An ordinary table that our account may call its own.
    Table,
    /// Something else, in the catalogue's words: a view, a table of another account.
    Other(String),
}

/// A session that looks at the catalogue of a server.
pub struct Catalogue {
    client: Box<dyn Client>,
    kind: Kind,
}

enum Kind {
    /// MySQL; whether it takes names without regard to case.
    Mysql(Case),
    /// PostgreSQL, and the schema in which tables are made: `None` where there is none.
    Postgres(Option<Identifier>),
    /// The served reference engine: it has tables, and neither views nor other accounts.
    Engine,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    Matters,
    IsFolded,
}

impl Catalogue {
    /// One of the session of a client, which may wait for long: taking a table away may take long.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn from_client(
        mut client: Box<dyn Client>,
        server: ServerRelease,
    ) -> Result<Catalogue, WireError> {
        let kind = match server.family().catalogue {
            CatalogueKind::Schemas => Kind::Postgres(postgres_session(&mut *client)?),
            CatalogueKind::Tables => Kind::Engine,
            CatalogueKind::Databases => {
                server.begin_to_look(&mut *client)?;
                let case = client.query("SELECT @@lower_case_table_names")?;
                let matters = case.first_value() == Some("0");
                Kind::Mysql(if matters { Case::Matters } else { Case::IsFolded })
            }
        };
        Ok(Catalogue { client, kind })
    }

    /// How its names are quoted.
    fn dialect(&self) -> Dialect {
        match self.kind {
            Kind::Mysql(_) => Dialect::Mysql,
            Kind::Postgres(_) => Dialect::Postgres,
            Kind::Engine => Dialect::Engine,
        }
    }

    /// The name that a table has here which is made as this word.
    ///
    /// # Errors
    /// A word that cannot be a name.
    pub fn table(&self, word: &str) -> Result<Identifier, UnfitName> {
        Identifier::of_word(word, self.dialect())
    }

    /// A name in a statement: with its schema, where there are schemas.
    pub fn qualified_name(&self, table: &Identifier) -> String {
        match &self.kind {
            Kind::Postgres(Some(schema)) => format!("{schema}.{table}"),
            _ => table.to_string(),
        }
    }

    /// Which of these names are taken, and by what.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn find_occupants(
        &mut self,
        names: &[Identifier],
    ) -> Result<BTreeMap<String, Occupant>, WireError> {
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let list: Vec<String> = names
            .iter()
            .map(|name| Literal::new(name.name(), self.dialect()).to_string())
            .collect();
        let list = list.join(", ");
        let rows = match &self.kind {
            Kind::Mysql(_) => self.client.query(&format!(
                "SELECT table_name, table_type FROM information_schema.tables \
                 WHERE table_schema = DATABASE() AND table_name IN ({list})"
            ))?,
            Kind::Postgres(None) => return Ok(BTreeMap::new()),
            Kind::Postgres(Some(schema)) => {
                let schema = Literal::new(schema.name(), Dialect::Postgres);
                self.client.query(&format!(
                    "SELECT c.relname, CASE WHEN c.relkind NOT IN ('r', 'p') \
                     THEN 'a view, an index or another relation (relkind ' || c.relkind::text || ')' \
                     WHEN pg_get_userbyid(c.relowner) <> current_user \
                     THEN 'a table of the account ' || pg_get_userbyid(c.relowner)::text \
                     ELSE 'BASE TABLE' END \
                     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                     WHERE n.nspname = {schema} AND c.relname IN ({list})"
                ))?
            }
            Kind::Engine => named_tables(self.client.query("SHOW TABLES")?),
        };
        let folded = |name: &str| match self.kind {
            Kind::Mysql(Case::IsFolded) => name.to_ascii_lowercase(),
            _ => name.to_owned(),
        };
        let mut found = BTreeMap::new();
        for row in rows.rows {
            let [Some(name), Some(kind)] = row.as_slice() else { continue };
            // The catalogue of MySQL compares names without regard to case.
            for asked in names.iter().filter(|asked| folded(asked.name()) == folded(name)) {
                let occupant = match kind.as_str() {
                    // The latter are MariaDB's that keep old rows.
                    "BASE TABLE" | "SYSTEM VERSIONED" => Occupant::Table,
                    other => Occupant::Other(other.to_owned()),
                };
                found.insert(asked.name().to_owned(), occupant);
            }
        }
        Ok(found)
    }

    /// The names of the columns of a table.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn columns(&mut self, table: &Identifier) -> Result<Vec<String>, WireError> {
        let name = Literal::new(table.name(), self.dialect());
        let rows = match &self.kind {
            Kind::Mysql(_) => self.client.query(&format!(
                "SELECT column_name FROM information_schema.columns \
                 WHERE table_schema = DATABASE() AND table_name = {name}"
            ))?,
            Kind::Postgres(None) => Rows::default(),
            Kind::Postgres(Some(schema)) => {
                let schema = Literal::new(schema.name(), Dialect::Postgres);
                self.client.query(&format!(
                    "SELECT a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
                     JOIN pg_namespace n ON n.oid = c.relnamespace WHERE a.attnum > 0 \
                     AND NOT a.attisdropped AND n.nspname = {schema} AND c.relname = {name}"
                ))?
            }
            Kind::Engine => self.client.query(&format!("SHOW COLUMNS FROM {table}"))?,
        };
        Ok(rows.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()).collect())
    }

    /// Whether the database has no table, view or routine at all.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn is_empty(&mut self) -> Result<bool, WireError> {
        let question = match self.kind {
            Kind::Mysql(_) => {
                "SELECT (SELECT count(*) FROM information_schema.tables \
                 WHERE table_schema = DATABASE()) + (SELECT count(*) FROM \
                 information_schema.routines WHERE routine_schema = DATABASE())"
            }
            Kind::Postgres(_) => {
                "SELECT (SELECT count(*) FROM pg_class c JOIN pg_namespace n \
                 ON n.oid = c.relnamespace WHERE n.nspname !~ '^(pg_|information_schema$)') + \
                 (SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
                 WHERE n.nspname !~ '^(pg_|information_schema$)')"
            }
            Kind::Engine => return Ok(self.client.query("SHOW TABLES")?.rows.is_empty()),
        };
        Ok(self.client.query(question)?.first_value() == Some("0"))
    }

    /// Carries out a statement.
    ///
    /// # Errors
    /// The server's refusal.
    pub fn run(&mut self, sql: &str) -> Result<(), Refusal> {
        ask_server(&mut *self.client, sql).map(drop)
    }

    /// Takes those of these tables away that are there: ordinary ones of our account alone.
    ///
    /// # Errors
    /// [`CatalogueError::NotOurs`] for anything else that is called so, before anything is dropped;
    /// the server's refusal.
    pub fn drop_tables(&mut self, names: &[Identifier]) -> Result<(), CatalogueError> {
        let found = self.find_occupants(names)?;
        if let Some((name, Occupant::Other(what))) =
            found.iter().find(|(_, occupant)| **occupant != Occupant::Table)
        {
            return Err(CatalogueError::NotOurs { name: name.clone(), what: what.clone() });
        }
        // Backwards: a table may refer to one that was made before it.
        let mut left: Vec<&Identifier> =
            names.iter().rev().filter(|name| found.contains_key(name.name())).collect();
        while !left.is_empty() {
            let (before, mut failed) = (left.len(), None);
            let mut kept = Vec::new();
            for name in left {
                match self.run(&format!("DROP TABLE {}", self.qualified_name(name))) {
                    Ok(()) => {}
                    Err(refusal) if !refusal.error.is_fatal() => {
                        failed = failed.or(Some(refusal));
                        kept.push(name);
                    }
                    Err(refusal) => return Err(refusal.into()),
                }
            }
            // One that refers to it may have gone since.
            match failed {
                Some(refusal) if kept.len() == before => return Err(refusal.into()),
                _ => left = kept,
            }
        }
        Ok(())
    }

    /// Tells the server that the session ends.
    pub fn close(self) {
        self.client.close();
    }
}

/// Names alone, all of ordinary tables.
fn named_tables(mut rows: Rows) -> Rows {
    rows.rows.iter_mut().for_each(|row| row.push(Some("BASE TABLE".to_owned())));
    rows
}
