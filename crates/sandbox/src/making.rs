//! Settings that belong to the making of a data directory, and to nothing after it.
//!
//! ```text
//!   mysql:8.0?innodb_page_size=8192     told when it is made, and at each start as well
//!   postgres:17?wal_segment_size=64MB   told to initdb only: the server refuses it
//! ```
//!
//! They are part of the name of a [template](crate::template), so that arms that differ in one of
//! them do not share a data directory.

use dbdyno_model::random::key_of;
use dbdyno_model::{Product, setting};

use crate::catalog::at_least;
use crate::error::SandboxError;
use crate::translation::{TranslatedOption, Translation};

/// Of MySQL and MariaDB. MySQL's manual, "InnoDB Startup Configuration"; `lower_case_table_names`
/// is fixed from MySQL 8.0 on, the number of undo tablespaces was before it.
const INNODB: [&str; 4] = [
    "innodb_page_size",
    "innodb_data_file_path",
    "innodb_undo_tablespaces",
    "lower_case_table_names",
];

/// What `initdb` of PostgreSQL is told with an option, by the name under which the server shows it.
const INITDB: [(&str, &str); 4] = [
    ("wal_segment_size", "--wal-segsize"),
    ("data_checksums", "--data-checksums"),
    ("lc_collate", "--lc-collate"),
    ("lc_ctype", "--lc-ctype"),
];

/// The encoding of PostgreSQL, as the server shows it.
const ENCODING: &str = "server_encoding";
/// The encoding that a template's name does not mention.
const USUAL: &str = "UTF8";
const MB: u64 = 1 << 20;

/// What a data directory is made with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Making {
    /// Of PostgreSQL only.
    encoding: Option<String>,
    /// Names as the server shows them, and values.
    settings: Vec<(String, String)>,
}

/// Whether PostgreSQL is told this when its data directory is made, and not later.
pub(crate) fn is_of_initdb(product: Product, name: &str) -> bool {
    product == Product::Postgres && INITDB.iter().any(|(known, _)| *known == name)
}

impl Making {
    pub(crate) fn from_translation(translation: &Translation) -> Making {
        let made = translation.made_with.iter().map(option_pair);
        let (encoding, mut settings): (Vec<_>, Vec<_>) =
            made.partition(|(name, _)| name == ENCODING);
        if translation.product != Product::Postgres {
            let started = translation.told.iter().map(option_pair);
            settings.extend(started.filter(|(name, _)| INNODB.contains(&&**name)));
        }
        Making { encoding: encoding.into_iter().next().map(|(_, value)| value), settings }
    }

    /// What stands behind the name of a template; nothing for a usual one.
    pub(crate) fn name_suffix(&self) -> String {
        let encoding = self.encoding.as_deref().filter(|encoding| *encoding != USUAL);
        let mut suffix = encoding.map_or_else(String::new, |encoding| format!("-{encoding}"));
        if !self.settings.is_empty() {
            let all: Vec<String> =
                self.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
            suffix.push_str(&format!("-{:08x}", key_of(&all.join("\n")) >> 32));
        }
        suffix
    }

    /// Options for a server of MySQL or MariaDB that makes its own data directory.
    pub(crate) fn of_mysqld(&self) -> Vec<String> {
        let option =
            |(name, value): &(String, String)| format!("--{}={value}", name.replace('_', "-"));
        self.settings.iter().map(option).collect()
    }

    /// Options for `initdb` of this version.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] for a value that is none.
    pub(crate) fn of_initdb(&self, version: &str) -> Result<Vec<String>, SandboxError> {
        let encoding = self.encoding.as_deref().unwrap_or(USUAL);
        // Later options win: the locale of the user over ours.
        let mut options = vec!["--locale=C".to_owned(), format!("--encoding={encoding}")];
        for (name, value) in &self.settings {
            let known = INITDB.iter().find(|(known, _)| known == name);
            let Some((_, option)) = known else { continue };
            let unsuitable = |reason: &str| SandboxError::Unsuitable {
                what: format!("{name}={value}"),
                reason: reason.to_owned(),
            };
            match name.as_str() {
                "wal_segment_size" => {
                    let mb = megabytes(value).ok_or_else(|| {
                        unsuitable("a segment of the log has 1MB to 1024MB, a power of two")
                    })?;
                    options.push(format!("{option}={mb}"));
                }
                "data_checksums" => match value.as_str() {
                    "on" | "ON" | "true" | "1" => options.push((*option).to_owned()),
                    // Before 18 that is what it does without being told.
                    "off" | "OFF" | "false" | "0" if !at_least(version, "18") => {}
                    "off" | "OFF" | "false" | "0" => options.push("--no-data-checksums".to_owned()),
                    _ => return Err(unsuitable("it is on or off")),
                },
                _ => options.push(format!("{option}={value}")),
            }
        }
        Ok(options)
    }
}

fn option_pair(told: &TranslatedOption) -> (String, String) {
    (setting::plain_name(&told.name), told.value.clone())
}

/// `64MB`, `64`, `1GB`, or bytes as `pg_settings` shows them, in MB.
fn megabytes(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|one: char| !one.is_ascii_digit());
    let number: u64 = digits.parse().ok()?;
    let mb = match value[digits.len()..].trim() {
        "MB" => number,
        "GB" => number.checked_mul(1024)?,
        "" if number >= MB => number / MB,
        "" => number,
        _ => return None,
    };
    (mb.is_power_of_two() && mb <= 1024).then_some(mb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::LaunchOptions;
    use dbdyno_model::Setting;

    fn making(product: Product, version: &str, settings: &[(&str, &str)]) -> (Making, Translation) {
        let raw = |(name, value): &(&str, &str)| Setting::Raw((*name).into(), (*value).into());
        let settings: Vec<Setting> = settings.iter().map(raw).collect();
        let told = LaunchOptions::for_host(16_000)
            .with_settings(&settings)
            .translate_for(product, version)
            .unwrap();
        (Making::from_translation(&told), told)
    }

    #[test]
    fn a_template_is_named_by_what_it_is_made_with() {
        let usual = making(Product::MySql, "8.0.33", &[("sort_buffer_size", "1M")]).0;
        assert_eq!(usual.name_suffix(), "");
        let small = making(Product::MySql, "8.0.33", &[("innodb_page_size", "8192")]).0;
        let dashed = making(Product::MySql, "8.0.33", &[("innodb-page-size", "8192")]).0;
        let large = making(Product::MySql, "8.0.33", &[("innodb_page_size", "32768")]).0;
        assert_eq!(small, dashed, "names are told either way");
        assert_ne!(small.name_suffix(), large.name_suffix());
        assert_eq!(small.of_mysqld(), ["--innodb-page-size=8192"]);
    }

    #[test]
    fn initdb_is_told_what_a_server_would_refuse() {
        let settings = [("wal_segment_size", "64MB"), ("work_mem", "8MB"), ("lc_ctype", "C.UTF-8")];
        let (making, told) = making(Product::Postgres, "17.2", &settings);
        assert!(told.told.iter().all(|told| told.name != "wal_segment_size"));
        assert!(told.told.iter().any(|told| told.name == "work_mem"));
        let options = making.of_initdb("17.2").unwrap();
        assert_eq!(
            options,
            ["--locale=C", "--encoding=UTF8", "--wal-segsize=64", "--lc-ctype=C.UTF-8"]
        );
    }

    #[test]
    fn checksums_are_told_as_each_version_spells_them() {
        for (value, version, expected) in [
            ("on", "15.1", Some("--data-checksums")),
            ("off", "15.1", None),
            ("off", "18.0", Some("--no-data-checksums")),
        ] {
            let making = making(Product::Postgres, version, &[("data_checksums", value)]).0;
            let options = making.of_initdb(version).unwrap();
            assert_eq!(options.get(2).map(String::as_str), expected, "{value} of {version}");
        }
    }

    #[test]
    fn a_size_that_is_none_is_refused() {
        for (text, mb) in
            [("64MB", Some(64)), ("16", Some(16)), ("1GB", Some(1024)), ("67108864", Some(64))]
        {
            assert_eq!(megabytes(text), mb, "{text}");
        }
        for text in ["", "MB", "48MB", "2GB", "64kB", "99999999999999999999", "−1"] {
            assert_eq!(megabytes(text), None, "{text}");
        }
        let making = making(Product::Postgres, "17.2", &[("wal_segment_size", "48MB")]).0;
        let said = making.of_initdb("17.2").unwrap_err().to_string();
        assert!(said.contains("wal_segment_size=48MB") && said.contains("power of two"), "{said}");
    }
}
