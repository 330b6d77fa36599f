//! How a server is set up for measuring: one description for both arms, spelled for each release.
//!
//! ```text
//!   preset ──┐
//!   buffer   │                                             ┌─ innodb_redo_log_capacity=1G
//!   redo     ├──▶ Wanted ──▶ spelling of family, version ──┤  innodb_log_file_size=512M
//!   durability                                             └─ max_wal_size=2048MB
//!   flush, charset, binlog, pfs                                      │
//!   my-cnf=FILE, postgresql-conf=FILE, options of the server ───────▶│ come last and win
//!                                                                    ▼
//!                                              Translation: name, value, why, instead of what
//! ```
//!
//! Without a preset, both arms get `dbdyno`: the same sizes, no flush at commit, no binary log, no
//! instrumentation, one character set. Where a release has a default that nobody names, it keeps
//! it: a changed default is part of what an upgrade comparison must show. `default` goes all the
//! way there.

use dbdyno_model::{Charset, Durability, Flush, Preset, Product, Setting, Switch};

use crate::catalog::at_least;
use crate::conffile;
use crate::error::SandboxError;
use crate::making;
use crate::presets;
use crate::release::Release;
use crate::spelling;
use crate::translation::{OptionReason, TranslatedOption, Translation};
use crate::wanted::NeutralOptions;

/// Sizes that depend on the host, and what the user wants beside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchOptions {
    /// Buffer pool, or shared buffers, in MB, where neither preset nor user say another size.
    pub buffer_mb: u64,
    /// Redo log that may be written before the server must begin to write pages, in MB, likewise.
    pub redo_mb: u64,
    /// Room that the tables will need, in MB: checked against the free disk before the start.
    pub tables_mb: u64,
    /// Connections that the server accepts.
    pub max_connections: u32,
    /// Clients that are meant to use it at once; 0 where that is not known.
    pub clients: u32,
    /// Memory of the host, in MB.
    pub memory_mb: u64,
    /// What the user wants, in the order written.
    pub settings: Vec<Setting>,
}

/// Enough for 1,000 clients, control connections and the reserve of the superuser.
const MAX_CONNECTIONS: u32 = 1_100;
/// Connections beside those of the clients.
const RESERVE: u32 = 100;
/// Clients that every release has room for by itself: PostgreSQL accepts 100 connections.
const EVERYWHERE: u32 = 64;

/// Whether PostgreSQL compiles plans.
const JIT: &str = "jit";

impl LaunchOptions {
    /// Sizes for a host with `memory_mb` MB of memory. An eighth of it for the buffer pool, so that
    /// two servers, the client and the page cache fit side by side.
    pub fn for_host(memory_mb: u64) -> LaunchOptions {
        let buffer_mb = (memory_mb / 8 / 128 * 128).clamp(128, 16_384);
        let redo_mb = buffer_mb.clamp(256, 1_024);
        LaunchOptions {
            buffer_mb,
            redo_mb,
            tables_mb: 1_024,
            max_connections: MAX_CONNECTIONS,
            clients: 0,
            memory_mb,
            settings: Vec::new(),
        }
    }

    /// The same for a server that many clients use at once.
    pub fn for_clients(self, clients: u32) -> LaunchOptions {
        let max_connections = self.max_connections.max(clients.saturating_add(RESERVE));
        LaunchOptions { max_connections, clients, ..self }
    }

    /// The same with what the user wants.
    pub fn with_settings(self, settings: &[Setting]) -> LaunchOptions {
        LaunchOptions { settings: settings.to_vec(), ..self }
    }

    /// Whether there are more connections than every machine has room for.
    pub(crate) fn is_for_a_crowd(&self) -> bool {
        self.max_connections > MAX_CONNECTIONS
    }

    /// Disk that a running server needs, in MB, beside its empty data directory.
    pub(crate) fn disk_mb(&self, product: Product) -> u64 {
        let redo_mb = self.wanted(product).redo_mb.map_or(self.redo_mb, |(mb, _)| mb);
        let redo_mb = if product == Product::Postgres { 2 * redo_mb } else { redo_mb };
        redo_mb.saturating_add(self.tables_mb)
    }

    /// Where everything else starts from.
    pub fn preset(&self) -> Preset {
        let named = self.settings.iter().find_map(|setting| match setting {
            Setting::Preset(preset) => Some(*preset),
            _ => None,
        });
        named.unwrap_or(Preset::Dbdyno)
    }

    /// The encoding of a PostgreSQL data directory, which is chosen when that is made.
    pub(crate) fn initdb_charset(&self) -> Charset {
        let asked = self.settings.iter().find_map(|setting| match setting {
            Setting::Charset(charset) => Some(*charset),
            _ => None,
        });
        asked.unwrap_or(Charset::Default)
    }

    /// What a server of this release is told. The files that the user names are read.
    ///
    /// # Errors
    /// [`SandboxError::Unsuitable`] for a file that cannot be read or understood.
    pub fn translate_for(
        &self,
        product: Product,
        version: &str,
    ) -> Result<Translation, SandboxError> {
        let mut all = Translation::new(product, version);
        let wanted = self.wanted(product);
        let mut before = spelling::spell_options(product, version, &self.of_preset(product));
        let preset = self.preset();
        let (taken, besides): (Vec<TranslatedOption>, Vec<TranslatedOption>) =
            presets::extra_options(preset, product, version, self.memory_mb, &wanted)
                .into_iter()
                .partition(|told| self.settings.iter().any(|setting| setting.name() == told.field));
        before.extend(taken);
        for mut told in spelling::spell_options(product, version, &wanted) {
            if matches!(told.why, OptionReason::Asked(_)) {
                told.instead_of = all.replaced_value(&before, &told);
            }
            all.set_option(told);
        }
        for told in self.needed(product, version).into_iter().chain(besides) {
            all.set_option(told);
        }
        if product == Product::Postgres {
            all.made_with.push(self.encoding_told());
        }
        for setting in &self.settings {
            if let Setting::File(path) = setting {
                conffile::apply_file(path, &mut all)?;
            }
        }
        for setting in &self.settings {
            if let Setting::Raw(name, value) = setting {
                all.set_user_option(TranslatedOption::new(
                    "",
                    name,
                    value.clone(),
                    OptionReason::Override,
                ));
            }
        }
        let made: Vec<TranslatedOption> =
            all.told.extract_if(.., |told| making::is_of_initdb(product, &told.name)).collect();
        all.made_with.extend(made);
        Ok(all)
    }

    /// As [`LaunchOptions::translate_for`], for a release that is here: what it cannot do it is not
    /// told to.
    ///
    /// # Errors
    /// Those of [`LaunchOptions::translate_for`], and [`SandboxError::Unsuitable`] where plans are
    /// to be compiled and there is nothing to compile them with: a session would fail at its first
    /// long statement.
    pub fn told_to(&self, release: &Release) -> Result<Translation, SandboxError> {
        let mut all = self.translate_for(release.product, &release.version)?;
        if release.product == Product::Postgres && !release.compiles_plans() {
            let jit = all.told.iter().find(|told| told.name == JIT).map(|told| &told.value);
            match jit.map(|value| value.to_lowercase()) {
                // Where nothing is said, PostgreSQL compiles plans since 12.
                None if at_least(&release.version, "11") => {
                    all.set_option(TranslatedOption::new("", JIT, "off", OptionReason::Needed));
                }
                Some(value) if !["off", "false", "no", "0"].contains(&value.as_str()) => {
                    return Err(SandboxError::Unsuitable {
                        what: format!("{} with jit={value}", release.name()),
                        reason: "it is unpacked without LLVM, which compiles plans; leave jit= \
                                 out, or compare servers by URL that have it"
                            .to_owned(),
                    });
                }
                None | Some(_) => {}
            }
        }
        Ok(all)
    }

    fn needed(&self, product: Product, version: &str) -> Vec<TranslatedOption> {
        let mut needed = presets::needed_options(product, version);
        let connections = match self.preset() {
            Preset::Default if self.clients <= EVERYWHERE => None,
            Preset::Default => Some(self.clients.saturating_add(RESERVE)),
            Preset::Dbdyno | Preset::Callaghan => Some(self.max_connections),
        };
        if let Some(connections) = connections {
            needed.push(TranslatedOption::new(
                "",
                "max_connections",
                connections.to_string(),
                OptionReason::Needed,
            ));
        }
        needed
    }

    fn encoding_told(&self) -> TranslatedOption {
        let asked = self.settings.iter().find(|setting| matches!(setting, Setting::Charset(_)));
        let why = asked.map_or(OptionReason::Preset(self.preset()), |asked| {
            OptionReason::Asked(asked.clone())
        });
        TranslatedOption::new(
            "charset",
            "server_encoding",
            spelling::postgres_encoding(self.initdb_charset()),
            why,
        )
    }

    /// What the preset wants in neutral words.
    fn of_preset(&self, product: Product) -> NeutralOptions {
        let preset = self.preset();
        let why = || OptionReason::Preset(preset);
        let (buffer_mb, redo_mb) = match preset {
            Preset::Callaghan => presets::callaghan_sizes(product, self.memory_mb),
            Preset::Dbdyno | Preset::Default => (self.buffer_mb, self.redo_mb),
        };
        let binlog = if preset == Preset::Callaghan { Switch::On } else { Switch::Off };
        let wanted = NeutralOptions {
            buffer_mb: Some((buffer_mb, why())),
            redo_mb: Some((redo_mb, why())),
            durability: Some((Durability::Relaxed, why())),
            flush: Some((Flush::Direct, why())),
            charset: Some((Charset::Latin1, why())),
            binlog: Some((binlog, why())),
            pfs: Some((binlog, why())),
        };
        match preset {
            Preset::Dbdyno => wanted,
            // How he writes pages is his own, see `presets`.
            Preset::Callaghan => NeutralOptions { flush: None, ..wanted },
            Preset::Default => NeutralOptions {
                buffer_mb: None,
                redo_mb: None,
                durability: None,
                flush: None,
                charset: None,
                binlog: None,
                pfs: None,
            },
        }
    }

    /// What is wanted in the end.
    fn wanted(&self, product: Product) -> NeutralOptions {
        let mut wanted = self.of_preset(product);
        for setting in &self.settings {
            let why = OptionReason::Asked(setting.clone());
            match *setting {
                Setting::Buffer(mb) => wanted.buffer_mb = Some((mb, why)),
                Setting::Redo(mb) => wanted.redo_mb = Some((mb, why)),
                Setting::Durability(durability) => wanted.durability = Some((durability, why)),
                Setting::Flush(flush) => wanted.flush = Some((flush, why)),
                Setting::Charset(charset) => wanted.charset = Some((charset, why)),
                Setting::Binlog(switch) => wanted.binlog = Some((switch, why)),
                Setting::Pfs(switch) => wanted.pfs = Some((switch, why)),
                Setting::Preset(_) | Setting::File(_) | Setting::Raw(..) => {}
                // The kernel is told, not the server.
                Setting::Cpus(_) | Setting::Memory(_) => {}
                // The loader is told.
                Setting::Allocator(_) => {}
            }
        }
        wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{ArmSpec, Target};
    use std::collections::HashSet;

    /// What a server of this target, on a host with 8 GB, is told.
    fn told(target: &str) -> Translation {
        let Target::Release(release) = target.parse::<ArmSpec>().unwrap().target else { panic!() };
        let options = LaunchOptions::for_host(8_000).with_settings(&release.settings);
        options.translate_for(release.product, &release.version).unwrap()
    }

    fn value(target: &str, name: &str) -> Option<String> {
        let settings = told(target).settings();
        settings.into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    fn reason(target: &str, name: &str) -> String {
        let told = told(target);
        told.told
            .iter()
            .find(|told| told.name == name)
            .map(TranslatedOption::reason_text)
            .unwrap_or_default()
    }

    #[test]
    fn two_servers_fit_beside_the_client_on_every_host() {
        for memory_mb in [512, 2_000, 8_000, 24_000, 512_000] {
            let options = LaunchOptions::for_host(memory_mb);
            assert!(2 * options.buffer_mb <= memory_mb / 2, "{memory_mb}: {options:?}");
            assert!(options.max_connections > 1_000);
            assert_eq!(options.clone().for_clients(300).max_connections, options.max_connections);
            assert_eq!(options.for_clients(5_000).max_connections, 5_100);
            let (buffer_mb, _) = presets::callaghan_sizes(Product::MySql, memory_mb);
            assert!(2 * buffer_mb <= memory_mb * 3 / 4, "{memory_mb}: cz-a has {buffer_mb} MB");
        }
    }

    #[test]
    fn settings_that_a_version_does_not_know_are_not_passed_to_it() {
        let has = |target: &str, name: &str| value(target, name).is_some();
        for (name, without, with) in [
            ("innodb_redo_log_capacity", "mysql:8.0.29", "mysql:8.0.30"),
            ("innodb_log_file_size", "mysql:9.7.4", "mysql:8.0.15"),
            ("query_cache_type", "mysql:8.0.12", "mysql:5.7.44"),
            ("skip_ssl", "mysql:8.4.0", "mysql:8.0.33"),
            ("skip_character_set_client_handshake", "mysql:9.7.4", "mysql:8.4.2"),
            ("loose_mysqlx", "mysql:5.7.22", "mysql:8.0.12"),
            ("jit", "postgres:10.23", "postgres:11.22"),
            ("loose_innodb_buffer_pool_size_max", "mysql:8.0.33", "mariadb:10.11.19"),
            ("loose_mysqlx", "mariadb:11.8.6", "mysql:9.7.4"),
            ("innodb_flush_method", "mariadb:11.4.5", "mariadb:10.11.19"),
        ] {
            assert!(!has(without, name), "{name} with {without}");
            assert!(has(with, name), "{name} without {with}");
        }
        let redo = |target: &str| value(target, "innodb_log_file_size").unwrap();
        assert_eq!(
            (redo("mariadb:10.2.11"), redo("mariadb:10.5.23")),
            ("448M".into(), "896M".into())
        );
    }

    #[test]
    fn a_word_beats_the_preset_a_file_the_word_and_an_option_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("my.cnf");
        let text = "[mysqld]\ninnodb_buffer_pool_size=1G\nport=1\ninnodb_io_capacity=2\n\
                    sync_binlog=9\nlog-bin = /var/log/mysql/mysql-bin.log\n\
                    innodb_data_home_dir=/var/lib/mysql\n";
        std::fs::write(&file, text).unwrap();
        let path = file.display();
        let words = "preset=cz-a&innodb_io_capacity=3&buffer=2G&sync-binlog=0";
        let target = format!("mysql:5.7.22?{words}&my-cnf={path}");
        assert_eq!(
            reason(&target, "innodb_buffer_pool_size"),
            format!("{path}, instead of 2048M (buffer=2G)")
        );
        assert_eq!(reason(&target, "innodb_io_capacity"), format!("yours, instead of 2 ({path})"));
        assert_eq!(reason(&target, "sync_binlog"), format!("yours, instead of 9 ({path})"));
        let told = told(&target);
        let left_out: Vec<&str> = told.left_out.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(left_out, ["port", "innodb_data_home_dir"]);
        let logs = reason(&target, "log_bin");
        assert_eq!(logs, format!("{path}, instead of binlog (preset=cz-a)"));
        assert_eq!(value(&target, "log_bin").unwrap(), "mysql-bin.log");
        assert!(told.to_string().contains("left out"), "{told}");
        let missing =
            LaunchOptions::for_host(8_000).with_settings(&[Setting::File("/no/such.cnf".into())]);
        let error = missing.translate_for(Product::MySql, "8.0.33").unwrap_err().to_string();
        assert!(error.contains("/no/such.cnf") && error.contains("name a file"), "{error}");
    }

    #[test]
    fn a_word_says_what_it_replaced_and_takes_along_what_hangs_on_it() {
        let on = "mysql:8.0.33?binlog=on";
        assert_eq!(reason(on, "log_bin"), "binlog=on, instead of skip_log_bin (preset=dbdyno)");
        assert_eq!(reason(on, "sync_binlog"), "preset=dbdyno");
        assert_eq!(value(on, "skip_log_bin"), None);
        assert_eq!(value("mysql:8.0.33?preset=cz-a&binlog=off", "sync_binlog"), None);
        let full = "mysql:8.0.33?preset=cz-a&durability=full";
        assert_eq!(reason(full, "sync_binlog"), "durability=full, instead of 0 (preset=cz-a)");
        let direct = "mysql:8.0.33?preset=cz-a&flush=direct";
        let instead = "flush=direct, instead of O_DIRECT_NO_FSYNC (preset=cz-a)";
        assert_eq!(reason(direct, "innodb_flush_method"), instead);
        assert_eq!(value("mysql:8.0.33?preset=cz-a&flush=default", "innodb_flush_method"), None);
    }

    #[test]
    fn an_option_is_not_silenced_by_a_newer_word_for_the_same() {
        let old = "mysql:8.0.33?innodb_log_file_size=64M";
        assert_eq!(value(old, "innodb_redo_log_capacity"), None);
        let instead = "yours, instead of innodb_redo_log_capacity=896M (preset=dbdyno)";
        assert_eq!(reason(old, "innodb_log_file_size"), instead);
        let both = "mysql:8.0.33?innodb_log_file_size=64M&innodb_redo_log_capacity=99M";
        assert_eq!(value(both, "innodb_redo_log_capacity"), Some("99M".into()));
        let flush = "mariadb:11.8.6?preset=cz-a&innodb_flush_method=O_DSYNC";
        for name in ["innodb_data_file_buffering", "innodb_log_file_buffering"] {
            assert_eq!(value(flush, name), None, "{name}");
        }
        assert_eq!(value("mysql:5.7.22?character_set_server=utf8", "collation_server"), None);
        let pool = "mariadb:10.11.19?innodb_buffer_pool_size=9G";
        assert_eq!(value(pool, "loose_innodb_buffer_pool_size_max"), None);
    }

    #[test]
    fn no_option_is_told_twice_and_default_tells_only_what_is_needed() {
        for version in
            ["mysql:5.5.34", "mysql:9.7.4", "mariadb:10.1.23", "mariadb:11.8.6", "postgres:18.6"]
        {
            for preset in ["dbdyno", "default", "cz-a"] {
                let target = format!("{version}?preset={preset}");
                let told = told(&target);
                let names: HashSet<_> =
                    told.told.iter().map(|told| setting_name(&told.name)).collect();
                assert_eq!(names.len(), told.told.len(), "{target}: {told}");
                let needed = told.told.iter().all(|told| told.why == OptionReason::Needed);
                assert_eq!(needed, preset == "default", "{target}: {told}");
            }
        }
        let few = LaunchOptions::for_host(8_000).with_settings(&[Setting::Preset(Preset::Default)]);
        let connections = |options: LaunchOptions| {
            let told = options.translate_for(Product::Postgres, "17.1").unwrap();
            told.settings().into_iter().find(|(name, _)| name == "max_connections")
        };
        assert_eq!(connections(few.clone().for_clients(64)), None);
        assert_eq!(connections(few.for_clients(65)).unwrap().1, "165");
    }

    fn setting_name(name: &str) -> String {
        dbdyno_model::setting::plain_name(name)
    }
}
