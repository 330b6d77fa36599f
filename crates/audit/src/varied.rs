//! What the user varied.
//!
//! ```text
//!   mysql:8.0 · mysql:9.7                       the version, and what follows from it
//!   mariadb:10.11 · mysql:8.0                   the product, and the version with it
//!   mariadb:10.11 · mariadb:10.11?sync_binlog=1 what is written behind the target
//!   mysql:8.0 · mysql:8.0?topology=group:3      and what follows from it
//!   --varied charset                            for servers by URL: a rule, by its key
//! ```

use std::collections::BTreeSet;

use dbdyno_model::{ArmSpec, Environment, PerArm, Target};

use crate::rules::{self, Rule};

/// Facts that begin with this name the rules that `--varied` takes out.
pub const MEANT: &str = "varied.";
/// Facts that begin with this are what we told a server.
const SETTING: &str = "setting.";
const VARIABLE: &str = "variable.";
/// `server.cache` is what `cache=` says.
const SERVER: &str = "server.";
const VERSION: &str = "server.version";
/// Facts that follow from words of a target that are no settings of a server, by how they begin.
const FOLLOWING: [(&str, &[&str]); 6] = [
    ("connection.", &["tls"]),
    ("image.", &["upgrade_from"]),
    ("topology.", &["topology", "delay"]),
    ("process.cgroup.", &["cpus", "memory"]),
    ("process.allocator", &["allocator"]),
    ("variable.version_malloc_library", &["allocator"]),
];
/// Parts of a target that say how to reach a server, slow it on purpose, or save time.
const NOT_SETTINGS: [&str; 12] = [
    "slow",
    "socket",
    "host",
    "image",
    "login-path",
    "sslnegotiation",
    "ssl-ca",
    "ssl-cert",
    "ssl-key",
    "sslrootcert",
    "sslcert",
    "sslkey",
];

/// What was varied between two arms.
pub(crate) struct Variation {
    pub(crate) version: bool,
    /// Whether neither is a server by URL, so that what we did not tell them are defaults.
    known_settings: bool,
    /// Settings that the targets say differently.
    names: BTreeSet<String>,
    /// Keys of rules whose looks are at one of those settings, or that were meant.
    rules: BTreeSet<&'static str>,
}

impl Variation {
    pub(crate) fn from_arms(arms: &PerArm<&ArmSpec>, facts: &PerArm<&Environment>) -> Variation {
        let names = names(arms, facts);
        let is_meant = |rule: &&'static Rule| {
            let key = format!("{MEANT}{}", rule.key);
            facts.base.facts.contains_key(&key) || facts.test.facts.contains_key(&key)
        };
        let mut touched = BTreeSet::new();
        for name in &names {
            touched.extend(rules::rule_of(&format!("{VARIABLE}{name}")).map(|rule| rule.key));
        }
        let rules = rules::RULES.iter().filter(|rule| is_meant(rule) || touched.contains(rule.key));
        Variation {
            version: facts.base.get(VERSION) != facts.test.get(VERSION),
            known_settings: [&arms.base, &arms.test]
                .into_iter()
                .all(|spec| !matches!(spec.target, Target::Url(_))),
            rules: rules.map(|rule| rule.key).collect(),
            names,
        }
    }

    /// Whether the user varied anything that may change which plan is chosen.
    pub(crate) fn affects_plan(&self) -> bool {
        self.version || !self.names.is_empty()
    }

    /// Whether this fact was varied, by itself or with its rule.
    pub(crate) fn has_fact(&self, name: &str, rule: Option<&Rule>) -> bool {
        let bare = [VARIABLE, SETTING, SERVER].iter().find_map(|kind| name.strip_prefix(kind));
        let follows = FOLLOWING.iter().any(|(kind, words)| {
            name.starts_with(kind) && words.iter().any(|word| self.names.contains(*word))
        });
        follows
            || bare.is_some_and(|bare| self.names.contains(&plain(bare)))
            || rule.is_some_and(|rule| self.rules.contains(rule.key))
    }

    /// Whether an inequality follows from two releases: of their defaults, of how one description
    /// is spelled for each, or of what they do. What servers by URL were told is not known.
    pub(crate) fn is_default(&self, name: &str) -> bool {
        self.version && (self.known_settings || !name.starts_with(VARIABLE))
    }
}

/// A setting as a variable is called: `loose-skip-log-bin` sets `log_bin`. Some variables of MySQL
/// have two names, of which the older one counts.
fn plain(setting: &str) -> String {
    let name = setting.replace('-', "_").replace("replica", "slave");
    let name = name.strip_prefix("loose_").unwrap_or(&name);
    name.strip_prefix("skip_").unwrap_or(name).to_owned()
}

/// What stands behind the question mark of one target and not of the other. Words that stand for
/// several settings, such as a preset, show in what the server was told.
fn names(arms: &PerArm<&ArmSpec>, facts: &PerArm<&Environment>) -> BTreeSet<String> {
    let [base, test] = [&arms.base, &arms.test].map(|spec| written(&spec.to_string()));
    let mut names: BTreeSet<String> = base.symmetric_difference(&test).cloned().collect();
    if names.is_empty() {
        return names;
    }
    names = names.iter().map(|pair| plain(pair.split('=').next().unwrap_or_default())).collect();
    let all = facts.base.facts.keys().chain(facts.test.facts.keys());
    let told = all.filter_map(|name| Some((name, name.strip_prefix(SETTING)?)));
    let unequal =
        told.filter(|(name, _)| facts.base.facts.get(*name) != facts.test.facts.get(*name));
    names.extend(unequal.map(|(_, setting)| plain(setting)));
    names
}

/// `name=value` for each option of a target that is a setting.
fn written(target: &str) -> BTreeSet<String> {
    let options = target.split_once('?').map_or("", |(_, options)| options);
    let options = options.split('&').filter(|option| !option.is_empty());
    let is_setting =
        |option: &&str| !NOT_SETTINGS.contains(&option.split('=').next().unwrap_or_default());
    options.filter(is_setting).map(str::to_owned).collect()
}
