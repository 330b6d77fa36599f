//! The table that marks what is ours on a server that is not ours.
//!
//! ```text
//!   dbdyno_tables ( token_3f…a1  INTEGER NOT NULL PRIMARY KEY )         no rows
//!                         └── the token of a receipt in the home that made it
//! ```
//!
//! It is read from the catalogue and never selected from: whoever may make a table in the database
//! may make one of this name, or a view that calls a function of his. What it says is a token,
//! which is looked up in this home (`dbdyno_sandbox::Receipt`); which tables there are, the receipt
//! says.

use dbdyno_load::LoadError;
use dbdyno_model::Identifier;
use dbdyno_sandbox::Receipt;
use dbdyno_server::{Catalogue, Occupant};
use dbdyno_wire::WireError;

const NAME: &str = "dbdyno_tables";
const TOKEN: &str = "token_";

/// What stands in the place of the marker.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Marker {
    /// Nothing.
    Nothing,
    /// The marker with this token.
    Of(String),
    /// Something that is called so and is no marker of ours: what it is.
    Alien(String),
}

impl Marker {
    /// Looks for it.
    ///
    /// # Errors
    /// The server's refusal.
    pub(super) fn find(catalogue: &mut Catalogue) -> Result<Marker, LoadError> {
        let name = name(catalogue);
        match catalogue.find_occupants(std::slice::from_ref(&name))?.remove(name.name()) {
            None => Ok(Marker::Nothing),
            Some(Occupant::Other(what)) => Ok(Marker::Alien(what)),
            Some(Occupant::Table) => {
                let columns = catalogue.columns(&name)?;
                let [column] = columns.as_slice() else {
                    return Ok(Marker::Alien("a table without a token".to_owned()));
                };
                let token = column.strip_prefix(TOKEN);
                Ok(token.map_or_else(
                    || Marker::Alien("a table without a token".to_owned()),
                    |token| Marker::Of(token.to_owned()),
                ))
            }
        }
    }

    /// Marks what a receipt names as ours.
    ///
    /// # Errors
    /// The server's refusal, with what the account needs.
    pub(super) fn create_table(
        catalogue: &mut Catalogue,
        receipt: &Receipt,
    ) -> Result<(), LoadError> {
        let place = catalogue.qualified_name(&name(catalogue));
        let column = token_column(catalogue, receipt.token());
        let sql = format!("CREATE TABLE {place} ({column} INTEGER NOT NULL PRIMARY KEY)");
        catalogue.run(&sql).map_err(|refusal| match LoadError::from(refusal) {
            LoadError::Wire(error @ WireError::Server(_), _) => LoadError::Unfit(format!(
                "dbdyno marks its tables and cannot: {error}; it needs an account that may make and \
                 drop tables in the database of the URL, on a server that takes writes (in \
                 PostgreSQL the right CREATE on the schema, which since 15 only the owner of the \
                 database has)"
            )),
            other => other,
        })
    }

    /// Takes it away.
    ///
    /// # Errors
    /// [`LoadError::NotOurs`], or the server's refusal.
    pub(super) fn take_away(catalogue: &mut Catalogue) -> Result<(), LoadError> {
        let name = name(catalogue);
        Ok(catalogue.drop_tables(&[name])?)
    }
}

fn name(catalogue: &Catalogue) -> Identifier {
    catalogue.table(NAME).expect("a name of ours")
}

fn token_column(catalogue: &Catalogue, token: &str) -> Identifier {
    catalogue.table(&format!("{TOKEN}{token}")).expect("32 digits")
}
