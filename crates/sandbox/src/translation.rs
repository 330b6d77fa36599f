//! What a server is told, item by item, and who said so.
//!
//! ```text
//!   needed ─▶ preset ─▶ neutral words of the user ─▶ files of the user ─▶ options of the user
//!                                                                                 │
//!        each replaces what stands before it under the same name, and says what ◀─┘
//! ```

use std::fmt;

use dbdyno_model::{Preset, Product, Setting, setting};

/// Why a server is told something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionReason {
    /// Without it, it would not start or not be reached.
    Needed,
    /// It belongs to a preset.
    Preset(Preset),
    /// A neutral word of the user.
    Asked(Setting),
    /// A file of the user; its path.
    File(String),
    /// The user's own option.
    Override,
}

impl fmt::Display for OptionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OptionReason::Needed => f.write_str("needed"),
            OptionReason::Preset(preset) => write!(f, "{}", Setting::Preset(*preset)),
            OptionReason::Asked(setting) => write!(f, "{setting}"),
            OptionReason::File(path) => f.write_str(path),
            OptionReason::Override => f.write_str("yours"),
        }
    }
}

/// One thing that a server is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranslatedOption {
    /// The option as the server spells it.
    pub name: String,
    /// Its value; empty for a bare switch.
    pub value: String,
    /// Who said so.
    pub why: OptionReason,
    /// What it would have been told otherwise, and why.
    pub instead_of: Option<(String, OptionReason)>,
    /// The neutral word that it belongs to, or nothing.
    pub(crate) field: &'static str,
}

impl TranslatedOption {
    pub(crate) fn new(
        field: &'static str,
        name: &str,
        value: impl Into<String>,
        why: OptionReason,
    ) -> TranslatedOption {
        TranslatedOption {
            name: name.to_owned(),
            value: value.into(),
            why,
            instead_of: None,
            field,
        }
    }

    /// `name=value`, or the name alone.
    pub fn assignment(&self) -> String {
        shown(&self.name, &self.value)
    }

    /// Why, and what it replaced.
    pub fn reason_text(&self) -> String {
        match &self.instead_of {
            None => self.why.to_string(),
            Some((value, why)) => format!("{}, instead of {value} ({why})", self.why),
        }
    }
}

fn shown(name: &str, value: &str) -> String {
    if value.is_empty() { name.to_owned() } else { format!("{name}={value}") }
}

/// All that a server of one release is told, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Translation {
    /// What it is.
    pub product: Product,
    /// Its version.
    pub version: String,
    /// What it is told when it starts. Paths and the port come beside.
    pub told: Vec<TranslatedOption>,
    /// What its data directory is made with, where that is more than a matter of starting, by the
    /// name under which the server shows it.
    pub made_with: Vec<TranslatedOption>,
    /// What stood in a file and was left out, since it is dbdyno's own; with the file.
    pub left_out: Vec<(String, String)>,
}

impl Translation {
    pub(crate) fn new(product: Product, version: &str) -> Translation {
        let version = version.to_owned();
        Translation { product, version, told: vec![], made_with: vec![], left_out: vec![] }
    }

    /// Names and values as they are passed; an empty value is a bare switch.
    pub fn settings(&self) -> Vec<(String, String)> {
        self.told.iter().map(|told| (told.name.clone(), told.value.clone())).collect()
    }

    /// What is due to the user's words, files and options; nothing where there are none.
    pub fn of_the_user(&self) -> Vec<&TranslatedOption> {
        let all = self.told.iter().chain(&self.made_with);
        all.filter(|told| !matches!(told.why, OptionReason::Needed | OptionReason::Preset(_)))
            .collect()
    }

    /// Tells one thing more, in place of what has its name.
    pub(crate) fn set_option(&mut self, mut told: TranslatedOption) {
        if setting::is_accumulated(self.product, &told.name) {
            // The server adds them up itself; what is said twice is said once.
            if !self.told.iter().any(|known| known.assignment() == told.assignment()) {
                self.told.push(told);
            }
            return;
        }
        if let Some(replaced) = self.replaced_value(&self.told, &told) {
            told.instead_of = Some(replaced);
        }
        let name = self.plain(&told.name);
        let product = self.product;
        self.told.retain(|known| plain(product, &known.name) != name);
        self.told.push(told);
    }

    /// Tells what a file or an option of the user says. What nobody but us says in other words, and
    /// what would be stronger than it, is taken back.
    pub(crate) fn set_user_option(&mut self, mut told: TranslatedOption) {
        let weaker = overruled_by(&self.plain(&told.name));
        for name in weaker.iter().filter(|_| self.product != Product::Postgres) {
            if let Some(at) = self.told.iter().position(|known| {
                let by_user = matches!(known.why, OptionReason::File(_) | OptionReason::Override);
                setting::plain_name(&known.name) == *name && !by_user
            }) {
                let known = self.told.remove(at);
                told.instead_of = Some(
                    told.instead_of
                        .take()
                        .unwrap_or_else(|| (known.assignment(), known.why.clone())),
                );
            }
        }
        self.set_option(told);
    }

    /// What `told` says otherwise than what has its name among `before`.
    pub(crate) fn replaced_value(
        &self,
        before: &[TranslatedOption],
        told: &TranslatedOption,
    ) -> Option<(String, OptionReason)> {
        let name = self.plain(&told.name);
        let known = before.iter().find(|known| self.plain(&known.name) == name)?;
        if known.assignment() == told.assignment() {
            return None;
        }
        let same = known.name == told.name && !known.value.is_empty();
        let value = if same { known.value.clone() } else { known.assignment() };
        Some((value, known.why.clone()))
    }

    fn plain(&self, name: &str) -> String {
        plain(self.product, name)
    }
}

/// What tells options from each other.
fn plain(product: Product, name: &str) -> String {
    match product {
        Product::MySql | Product::MariaDb => setting::plain_name(name),
        Product::Postgres => name.to_owned(),
    }
}
/// Options that mean the same or hang on it, and would win or clash if they were told beside it:
/// the older words for redo log and flush method, which newer ones silence; a collation of another
/// character set; a limit below the size.
fn overruled_by(name: &str) -> &'static [&'static str] {
    match name {
        "innodb_log_file_size" | "innodb_log_files_in_group" => &["innodb_redo_log_capacity"],
        "innodb_flush_method" => &[
            "innodb_data_file_buffering",
            "innodb_data_file_write_through",
            "innodb_log_file_buffering",
            "innodb_log_file_write_through",
        ],
        "character_set_server" => &["collation_server"],
        "innodb_buffer_pool_size" => &["innodb_buffer_pool_size_max"],
        _ => &[],
    }
}

/// Whether a server would carry out the value as a command: that of a server in use writes into its
/// archive, or takes from there.
pub(crate) fn is_command(name: &str) -> bool {
    name.to_ascii_lowercase().replace('-', "_").ends_with("_command")
}

/// A line for each thing: name, value, reason.
impl fmt::Display for Translation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || self.made_with.iter().chain(&self.told);
        let names = all().map(|told| told.name.len()).max().unwrap_or(0).min(64);
        let values = all().map(|told| told.value.len()).max().unwrap_or(0).min(24);
        for told in all() {
            let TranslatedOption { name, value, .. } = told;
            let equals = if value.is_empty() { ' ' } else { '=' };
            write!(f, "  {name:names$} {equals} {value:values$}  {}", told.reason_text())?;
            let is_made = self.made_with.contains(told);
            f.write_str(if is_made { ", when its data directory is made\n" } else { "\n" })?;
        }
        for (name, file) in &self.left_out {
            let why = if setting::is_ours(name) {
                "names it, and dbdyno gives its own"
            } else if is_command(name) {
                "has a command, which would do what it does for the server of the file; say it in \
                 the target if it is meant"
            } else {
                "has a password in it, and what servers are told is stored"
            };
            writeln!(f, "  {name:names$}   left out: {file} {why}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(name: &str, value: &str, why: OptionReason) -> TranslatedOption {
        TranslatedOption::new("", name, value, why)
    }

    #[test]
    fn what_comes_later_replaces_what_has_its_name_and_says_so() {
        let mut mysql = Translation::new(Product::MySql, "8.0.33");
        mysql.set_option(told("skip_log_bin", "", OptionReason::Preset(Preset::Dbdyno)));
        mysql.set_option(told("sync_binlog", "1", OptionReason::File("./my.cnf".into())));
        mysql.set_option(told("log_bin", "x", OptionReason::Override));
        mysql.set_option(told("sync_binlog", "1", OptionReason::Override));
        let reasons: Vec<String> = mysql.told.iter().map(TranslatedOption::reason_text).collect();
        assert_eq!(reasons, ["yours, instead of skip_log_bin (preset=dbdyno)", "yours"]);
        assert_eq!(mysql.told[0].assignment(), "log_bin=x");
        assert_eq!(mysql.of_the_user().len(), 2);

        let mut many = Translation::new(Product::MySql, "8.0.33");
        for (name, value) in [
            ("replicate_do_db", "a"),
            ("replicate-do-db", "b"),
            ("loose_replicate-do-db", "c"),
            ("replicate_do_db", "a"),
            ("conn.replicate_wild_do_table", "a.%"),
            ("conn.replicate_wild_do_table", "b.%"),
            ("binlog_do_db", "a"),
            ("binlog_do_db", "b"),
            ("plugin-load-add", "a.so"),
            ("plugin_load_add", "b.so"),
            ("performance-schema-instrument", "'wait/%=ON'"),
            ("performance-schema-instrument", "'stage/%=ON'"),
            ("optimizer_switch", "mrr=off"),
            ("optimizer_switch", "icp=off"),
            ("sync_binlog", "1"),
            ("sync-binlog", "2"),
        ] {
            many.set_user_option(told(name, value, OptionReason::File("./my.cnf".into())));
        }
        assert_eq!(many.told.len(), 14, "{many}");

        let mut postgres = Translation::new(Product::Postgres, "17.1");
        postgres.set_option(told("enable_seqscan", "off", OptionReason::Override));
        postgres.set_option(told("seqscan", "off", OptionReason::Override));
        assert_eq!(postgres.told.len(), 2, "prefixes mean nothing to PostgreSQL");
    }
}
