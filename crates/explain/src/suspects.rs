//! What two arms differ in and what of it can be made equal.
//!
//! ```text
//!   mysql:5.6 · mysql:9.7     variables that both have, with another value in each; switches of
//!                             the planner one by one; the format of rows
//!   engine: · sqlite: · …     words behind the target
//! ```
//!
//! The direction is that of taking back: the test arm is given what base has. A variable that only
//! one of them has, a compiler, a library cannot be taken back so; they belong to the code, and are
//! listed with the reason.

use dbdyno_model::{
    ArmSpec, Audit, Change, Dialect, Inequality, PerArm, Suspect, Target, Untried, Weight,
};

use crate::planner::switches;
use crate::usual;

/// What can be tried and what cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suspects {
    /// What can be made equal, the likely ones first.
    pub tried: Vec<Suspect>,
    /// What cannot, and why not.
    pub untried: Vec<Untried>,
}

const VARIABLE: &str = "variable.";
/// Rules of the audit whose facts say who an instance is, what it is made of or what we told it.
const OF_THE_INSTANCE: [&str; 4] = ["instance", "version", "packages", "translation"];
/// Rules whose facts follow from something else: from the settings or from the work.
const FOLLOWING: [&str; 13] = [
    "plan",
    "plan-bounds",
    "plan-estimate",
    "plan-misestimate",
    "plan-decisions",
    "results",
    "statistics",
    "table-size",
    "error-log",
    "debt",
    "fsyncs",
    "furious-flushing",
    "image",
];
/// Rules whose variables a server takes only together, and how the names end of those that it can
/// be told.
const TOGETHER: [(&str, &[&str]); 2] = [
    ("charset", &["character_set_server", "collation_server"]),
    ("gtid", &["gtid_mode", "enforce_gtid_consistency"]),
];
/// Variables of MySQL and MariaDB that say where files are, what the program can do or what it has
/// counted: there is no such option, or it would break the server.
const NO_OPTIONS: [&str; 23] = [
    "basedir",
    "character_set_system",
    "character_sets_dir",
    "datadir",
    "have_*",
    "hostname",
    "innodb_data_file_path",
    "innodb_undo_directory",
    "lc_messages_dir",
    "log_bin_*",
    "log_error",
    "pid_file",
    "plugin_dir",
    "port",
    "relay_log*",
    "server_*",
    "slave_load_tmpdir",
    "ssl_*",
    "system_time_zone",
    "tls_*",
    "tmpdir",
    "version*",
    "innodb_version",
];

/// What can be tried of two arms, given in what they are unequal.
pub fn suspects(arms: &PerArm<ArmSpec>, audit: &Audit) -> Suspects {
    let words = |spec: &ArmSpec| match &spec.target {
        Target::Engine(design) => Some(design.fields().map(|(n, v)| (n.to_owned(), v)).to_vec()),
        Target::Sqlite(words) | Target::Rocksdb(words) | Target::Mock(words) => Some(words.clone()),
        Target::Release(_) | Target::Url(_) => None,
    };
    match (words(&arms.base), words(&arms.test)) {
        (Some(base), Some(test)) if arms.base.dialect() == arms.test.dialect() => {
            Suspects { tried: by_words(&base, &test), untried: Vec::new() }
        }
        _ => by_facts(arms, audit),
    }
}

/// Words behind the targets of arms that live in our own threads.
fn by_words(base: &[(String, String)], test: &[(String, String)]) -> Vec<Suspect> {
    let find = |words: &[(String, String)], name: &str| {
        words.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let mut names: Vec<&String> = base.iter().chain(test).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    let suspect = |name: &String| {
        let (base, test) = (find(base, name), find(test, name));
        (base != test).then(|| Suspect {
            name: name.clone(),
            facts: Vec::new(),
            told: vec![(name.clone(), base.clone().unwrap_or_default())],
            base: base.unwrap_or_default(),
            test: test.unwrap_or_default(),
            weight: usual::LITTLE,
        })
    };
    names.into_iter().filter_map(suspect).collect()
}

fn by_facts(arms: &PerArm<ArmSpec>, audit: &Audit) -> Suspects {
    let mut found = Suspects::default();
    let is_ours = matches!(arms.test.target, Target::Release(_));
    let is_one_family = arms.base.dialect() == arms.test.dialect();
    for one in &audit.unequal {
        if OF_THE_INSTANCE.contains(&one.rule) || FOLLOWING.contains(&one.rule) {
            continue;
        }
        let refused = if !is_ours {
            Some("the server is not ours: dbdyno starts none that it was given by URL")
        } else if !is_one_family {
            Some("two families have no settings in common")
        } else {
            why_not(one)
        };
        match refused {
            Some(why) => found.untried.push(untried(one, why)),
            None => found.tried.extend(of_inequality(arms.test.dialect(), one)),
        }
    }
    join(&mut found.tried);
    found.tried.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.name.cmp(&b.name)));
    found
}

/// Why a difference cannot be taken back, if it cannot.
fn why_not(one: &Inequality) -> Option<&'static str> {
    if one.rule == "table-kind" && one.name.ends_with(".row_format") {
        return None;
    }
    let Some(name) = one.name.strip_prefix(VARIABLE) else {
        return Some("it is no setting of the server");
    };
    let (Some(base), Some(_)) = (&one.base, &one.test) else {
        return Some(match one.change {
            Change::New => "only the release of test has it",
            Change::Gone => "only the release of base has it",
            _ => "it was observed on one side only",
        });
    };
    let is = |form: &&str| match form.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *form,
    };
    if NO_OPTIONS.iter().any(is) {
        return Some("it says where the server is, or what it can do");
    }
    let is_told = !base.is_empty() && base != "NULL" && base != "''" && !base.contains('<');
    (!is_told).then_some("the value of base is nothing that a server can be told")
}

fn untried(one: &Inequality, why: &str) -> Untried {
    let name = one.name.strip_prefix(VARIABLE).unwrap_or(&one.name).to_owned();
    Untried { name, base: one.base.clone(), test: one.test.clone(), why: why.to_owned() }
}

fn of_inequality(dialect: Dialect, one: &Inequality) -> Vec<Suspect> {
    let (base, test) = (one.base.clone().unwrap_or_default(), one.test.clone().unwrap_or_default());
    let Some(name) = one.name.strip_prefix(VARIABLE) else {
        return row_format(one, base, test);
    };
    let rule = dbdyno_audit::rules::RULES.iter().find(|rule| rule.key == one.rule);
    let weight = usual::weight(name, rule.map_or(Weight::Harmless, |rule| rule.of_release));
    let suspect = |name: String, base: String, test: String, value: String| Suspect {
        told: vec![(option(dialect, one.name.strip_prefix(VARIABLE).unwrap_or_default()), value)],
        facts: vec![one.name.clone()],
        name,
        base,
        test,
        weight,
    };
    if name != "optimizer_switch" {
        return vec![suspect(name.to_owned(), base.clone(), test, base)];
    }
    let switch = |switch: crate::planner::Switch| {
        let taken = switch.base.clone().unwrap_or_else(|| "off".to_owned());
        let value = format!("{}={taken}", switch.name);
        let base = switch.base.unwrap_or_else(|| "not there".to_owned());
        suspect(format!("optimizer_switch {}", switch.name), base, switch.test, value)
    };
    switches(&base, &test).into_iter().map(switch).collect()
}

/// Rows are stored as the server has it for tables that name no format.
fn row_format(one: &Inequality, base: String, test: String) -> Vec<Suspect> {
    let told = vec![("loose_innodb_default_row_format".to_owned(), base.to_lowercase())];
    let weight = usual::weight("", Weight::Annotates);
    let name = "row_format".to_owned();
    vec![Suspect { name, facts: vec![one.name.clone()], told, base, test, weight }]
}

/// As a server is told a variable. MySQL and MariaDB only warn of one that they do not know if it
/// is called loose, and then start: that it has taken nothing shows in its facts.
fn option(dialect: Dialect, name: &str) -> String {
    match dialect {
        Dialect::Mysql => format!("loose_{name}"),
        _ => name.to_owned(),
    }
}

/// Makes one suspect of those that a server takes only together, and of one that several tables
/// show.
fn join(suspects: &mut Vec<Suspect>) {
    let mut kept: Vec<Suspect> = Vec::with_capacity(suspects.len());
    for one in suspects.drain(..) {
        let group = TOGETHER.iter().find(|(key, _)| rule_key(&one) == *key);
        let name = group.map_or(one.name.clone(), |(key, _)| (*key).to_owned());
        let is_told = group.is_none_or(|(_, names)| names.contains(&one.name.as_str()));
        match kept.iter_mut().find(|known| known.name == name) {
            Some(known) => {
                if is_told && known.told != one.told {
                    known.base = together(&known.base, &one.base);
                    known.test = together(&known.test, &one.test);
                    known.told.extend(one.told);
                }
                known.facts.extend(one.facts);
                known.weight = known.weight.max(one.weight);
            }
            None if is_told => kept.push(Suspect { name, ..one }),
            None => {
                let (told, base, test) = (Vec::new(), String::new(), String::new());
                kept.push(Suspect { name, told, base, test, ..one });
            }
        }
    }
    kept.retain(|one| !one.told.is_empty());
    *suspects = kept;
}

fn together(known: &str, more: &str) -> String {
    if known.is_empty() { more.to_owned() } else { format!("{known}, {more}") }
}

/// Key of the rule that has the first fact of a suspect.
fn rule_key(one: &Suspect) -> &'static str {
    let fact = one.facts.first().map_or("", String::as_str);
    dbdyno_audit::rule_key_of(fact)
}
