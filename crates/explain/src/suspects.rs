//! What two arms differ in and what of it can be made equal.
//!
//! ```text
//!   mysql:5.6 · mysql:9.7     variables that both have, with another value in each; switches of
//!                             the planner one by one; what one of them alone has, and has on; the
//!                             format of rows; the allocator
//!   engine: · sqlite: · …     words behind the target
//!   mysql://… · postgres://…  nothing: leads, without shares
//! ```
//!
//! The direction is that of taking back: the test arm is given what base has. What it does not take
//! is tried in the other one: base is given what test has. So is what only base has, which is
//! turned off there; what only test has is turned off in test. What is no switch and is there on
//! one side only, a compiler, a library belong to the code, and are listed with the reason.

use std::collections::BTreeSet;

use dbdyno_model::{
    ArmSpec, Audit, Dialect, FactChange, FactComparison, FactWorth, Inequality, Lead, PerArm,
    Setting, Suspect, Target, TransactionRecording, UntriedDifference, Weight, setting,
};

use crate::equal::{ALLOCATOR, LIMITS, is_a_list, is_limit, limit_of, values_of};
use crate::planner::{Switch, changed_switches};
use crate::pointing::Pointing;
use crate::usual;

/// What can be tried and what cannot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Suspects {
    /// What can be made equal, the likely ones first.
    pub tried: Vec<Suspect>,
    /// What cannot, and why not.
    pub untried: Vec<UntriedDifference>,
}

const VARIABLE: &str = "variable.";
/// What a server was told, whatever it says of it.
const SETTING: &str = "setting.";
/// The library that gives a server memory, as its process shows it, and as MariaDB says it again.
const PROCESS_ALLOCATOR: &str = "process.allocator";
/// What the control group of a server's process may have.
const GROUP: &str = "process.cgroup.";
/// How the facts of a control group begin for each word of a target that sets them.
const OF_LIMITS: [(&str, &str); 2] = [("cpus", "cpu_"), ("memory", "memory_")];
/// What a process may open or lock, which servers raise by themselves.
const OF_PROCESS: &str = "process.limit.";
const MALLOC_LIBRARY: &str = "variable.version_malloc_library";
/// How the fact of the process begins for each word of a target.
const ALLOCATORS: [(&str, &str); 3] =
    [("glibc", "system"), ("libjemalloc", "jemalloc"), ("libtcmalloc", "tcmalloc")];
/// What a switch is called that is on in one arm and not there in the other.
const NOT_THERE: &str = "not there";
/// Rules of the audit whose facts say who an instance is, what it is made of or what we told it.
const OF_THE_INSTANCE: [&str; 4] = ["instance", "version", "packages", "translation"];
/// Rules whose facts follow from something else: from the settings or from the work.
const FOLLOWING: [&str; 16] = [
    "plan",
    "plan-bounds",
    "plan-estimate",
    "plan-misestimate",
    "plan-decisions",
    "results",
    "statistics",
    "histograms",
    "table-size",
    "error-log",
    "debt",
    "fsyncs",
    "furious-flushing",
    "deadlocks",
    "open-transactions",
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

/// Settings of one release alone, and the value with which it works as one without them.
/// PostgreSQL 18, 19.4.4: `sync` is how sessions have read all along.
const AS_WITHOUT: [(&str, &str); 1] = [("io_method", "sync")];

/// What can be tried of two arms, given in what they are unequal; what the facts of a cell point to
/// comes first.
pub fn find_suspects(arms: &PerArm<&ArmSpec>, audit: &Audit, pointing: &Pointing) -> Suspects {
    let words = |spec: &ArmSpec| match &spec.target {
        Target::Engine(design) => Some(design.fields().map(|(n, v)| (n.to_owned(), v)).to_vec()),
        Target::Sqlite(words) | Target::Rocksdb(words) | Target::Mock(words) => Some(words.clone()),
        Target::Release(_) | Target::Url(_) => None,
    };
    let mut found = match (words(arms.base), words(arms.test)) {
        (Some(base), Some(test)) if arms.base.dialect() == arms.test.dialect() => {
            Suspects { tried: by_words(&base, &test), untried: Vec::new() }
        }
        _ => by_facts(arms, audit),
    };
    found.untried.extend(conditions(arms));
    pointing.rank_suspects(&mut found.tried);
    found
}

/// Words of the targets that no trial takes back, and that cost as code does: a delay of our own,
/// recording, other servers beside it, what is in its memory.
fn conditions(arms: &PerArm<&ArmSpec>) -> Vec<UntriedDifference> {
    let words = arms.as_ref().map(|spec| {
        let mut words: Vec<(&str, String)> = spec.begin.options();
        // It only saves time.
        words.retain(|(name, _)| *name != "image");
        if spec.slow > 0.0 {
            words.push(("slow", format!("{}%", spec.slow * 100.0)));
        }
        if spec.record == TransactionRecording::On {
            words.push(("record", "on".to_owned()));
        }
        words
    });
    let mut all: Vec<UntriedDifference> = Vec::new();
    let names: BTreeSet<&str> =
        words.base.iter().chain(&words.test).map(|(name, _)| *name).collect();
    for name in names {
        let of_both = words.as_ref().map(|words| words.iter().find(|(known, _)| *known == name));
        let PerArm { base, test } = of_both.map(|word| word.map(|(_, value)| value.clone()));
        if base != test {
            let (name, why) = (name.to_owned(), "no trial takes it back".to_owned());
            all.push(UntriedDifference { name, base, test, why, is_condition: true });
        }
    }
    all
}

/// Rules of the audit whose facts tell two programs apart.
const OF_THE_PROGRAM: [&str; 3] = ["version", "packages", "compiler"];

/// Whether both arms are the same program, so that nothing that differs is its code.
pub fn is_same_program(arms: &PerArm<&ArmSpec>, audit: &Audit) -> bool {
    let is_one_kind = match (&arms.base.target, &arms.test.target) {
        (Target::Release(base), Target::Release(test)) => base.product == test.product,
        (base, test) => std::mem::discriminant(base) == std::mem::discriminant(test),
    };
    is_one_kind && !audit.unequal.iter().any(|one| OF_THE_PROGRAM.contains(&one.rule))
}

/// Whether a suspect is a condition under which a program runs, and no setting of it.
pub fn is_condition_of_process(suspect: &Suspect) -> bool {
    is_limit(&suspect.name) || suspect.name == ALLOCATOR
}

/// Rules that name what makes servers unequal whatever they are told, the likely ones first: other
/// tables or indexes, transactions of others, old row versions, plans, deadlocks.
const LEADING: [&str; 8] = [
    "table-content",
    "foreign-key-indexes",
    "open-transactions",
    "debt",
    "plan",
    "plan-bounds",
    "plan-estimate",
    "deadlocks",
];

/// What differs between servers that cannot be started again and is known to matter, the likely
/// first: nothing of it can be taken back, and so nothing of it has a measured share. What the
/// servers themselves count stands behind what leads and before settings: it says where to look.
pub fn find_leads(audit: &Audit, work: &[FactComparison]) -> Vec<Lead> {
    let mut all: Vec<&Inequality> = audit.unequal.iter().filter(|one| is_lead(one)).collect();
    all.sort_by_key(|one| {
        let leading = LEADING.iter().position(|key| *key == one.rule);
        let name = one.name.strip_prefix(VARIABLE).unwrap_or_default();
        (leading.unwrap_or(LEADING.len()), !usual::is_known(name), one.name.clone())
    });
    let leading = all.partition_point(|one| LEADING.contains(&one.rule));
    let settings = all.split_off(leading);
    let counted = work.iter().filter(|one| one.worth == FactWorth::Telling).map(counted);
    all.into_iter().map(lead).chain(counted).chain(settings.into_iter().map(lead)).collect()
}

/// Whether an inequality may be why the arms differ, and not what follows from another.
fn is_lead(one: &Inequality) -> bool {
    let is_leading = LEADING.contains(&one.rule);
    let is_cause = !OF_THE_INSTANCE.contains(&one.rule) && !FOLLOWING.contains(&one.rule);
    let weighs = one.weight != Weight::Harmless && one.change != FactChange::Unseen;
    is_leading || (is_cause && weighs)
}

fn lead(one: &Inequality) -> Lead {
    let rule = dbdyno_audit::rules::RULES.iter().find(|rule| rule.key == one.rule);
    Lead {
        name: one.name.strip_prefix(VARIABLE).unwrap_or(&one.name).to_owned(),
        base: one.base.clone(),
        test: one.test.clone(),
        advice: rule.unwrap_or(&dbdyno_audit::rules::OTHER).advice,
    }
}

/// What the servers count, as a lead.
fn counted(one: &FactComparison) -> Lead {
    Lead {
        name: one.fact.name.to_owned(),
        base: one.fact.display_value(one.base),
        test: one.fact.display_value(one.test),
        advice: one.fact.class.advice(),
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
            given: vec![(name.clone(), test.clone().unwrap_or_default())],
            base: base.unwrap_or_default(),
            test: test.unwrap_or_default(),
            weight: usual::LITTLE,
        })
    };
    names.into_iter().filter_map(suspect).collect()
}

fn by_facts(arms: &PerArm<&ArmSpec>, audit: &Audit) -> Suspects {
    let mut found = Suspects::default();
    let is_ours = matches!(arms.test.target, Target::Release(_));
    let is_one_family = arms.base.dialect() == arms.test.dialect();
    let limits = limits(arms);
    for one in &audit.unequal {
        found.untried.extend(of_file(arms, one));
        let is_said_before = one.name == MALLOC_LIBRARY || is_of_limits(&limits, one);
        let is_no_cause = OF_THE_INSTANCE.contains(&one.rule) || FOLLOWING.contains(&one.rule);
        if is_said_before || is_no_cause {
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
    found.tried.extend(limits);
    for list in lists(arms, audit) {
        found.tried.retain(|one| one.name != list.name);
        found.untried.retain(|one| one.name != list.name);
        found.tried.push(list);
    }
    found
}

/// What dbdyno lets the control groups of both servers have, where that is not the same.
fn limits(arms: &PerArm<&ArmSpec>) -> Vec<Suspect> {
    let (Target::Release(base), Target::Release(test)) = (&arms.base.target, &arms.test.target)
    else {
        return Vec::new();
    };
    let values =
        LIMITS.map(|name| (name, limit_of(&base.settings, name), limit_of(&test.settings, name)));
    let unequal = values.into_iter().filter(|(_, base, test)| base != test);
    unequal.map(|(name, base, test)| limit(name, base, test)).collect()
}

/// A limit of the control group, by the word of a target and its values, which may be empty.
fn limit(name: &str, base: String, test: String) -> Suspect {
    let [told, given] = [&base, &test].map(|value| vec![(name.to_owned(), value.clone())]);
    let [base, test] = [base, test].map(|value| match value.as_str() {
        "" => "no limit".to_owned(),
        _ => value,
    });
    let weight = usual::weight(name, Weight::Annotates);
    Suspect { name: name.to_owned(), facts: Vec::new(), told, given, base, test, weight }
}

/// Whether a fact is what one of these limits has set.
fn is_of_limits(limits: &[Suspect], one: &Inequality) -> bool {
    let Some(file) = one.name.strip_prefix(GROUP) else { return false };
    let words = OF_LIMITS.iter().filter(|(_, beginning)| file.starts_with(beginning));
    words.into_iter().any(|(word, _)| limits.iter().any(|limit| limit.name == *word))
}

/// Whether a fact is a condition under which the program runs and not the program: processors,
/// disks, limits, an allocator, other servers, an encrypted connection, the compiler of its maker.
fn is_condition(one: &Inequality) -> bool {
    let is_of_process = one.rule == "process-limits" && !one.name.starts_with(OF_PROCESS);
    let is_known = [PROCESS_ALLOCATOR, "connection.encrypted", "process.compiler"]
        .contains(&one.name.as_str());
    is_of_process || is_known || one.name.starts_with("topology.")
}

/// A list whose values are not the same, and are told by files: it shows in what servers were told.
fn of_file(arms: &PerArm<&ArmSpec>, one: &Inequality) -> Option<UntriedDifference> {
    let name = one.name.strip_prefix(SETTING)?;
    let Target::Release(test) = &arms.test.target else { return None };
    let why = "a server keeps all values of it, and those of a file cannot be taken back; write \
               them behind the ? of each arm instead";
    let untried = |name: &str| UntriedDifference {
        name: setting::plain_name(name),
        base: one.base.clone(),
        test: one.test.clone(),
        why: why.to_owned(),
        is_condition: false,
    };
    is_a_list(test.product, name).then(|| untried(name))
}

/// Options of both arms that a server adds up, whose values are not the same: a variable, if there
/// is one, has them in another form, and may have one of many. They are those that the user wrote.
fn lists(arms: &PerArm<&ArmSpec>, audit: &Audit) -> Vec<Suspect> {
    let (Target::Release(base), Target::Release(test)) = (&arms.base.target, &arms.test.target)
    else {
        return Vec::new();
    };
    if arms.base.dialect() != arms.test.dialect() {
        return Vec::new();
    }
    let names = base.settings.iter().chain(&test.settings).filter_map(|setting| match setting {
        Setting::Raw(name, _) if is_a_list(test.product, name) => Some(setting::plain_name(name)),
        _ => None,
    });
    let suspect = |name: String| {
        let of_base = values_of(&base.settings, &name);
        let of_test = values_of(&test.settings, &name);
        let variable = format!("{VARIABLE}{name}");
        let fact = audit.unequal.iter().any(|one| one.name == variable).then_some(variable);
        (of_base != of_test).then(|| Suspect {
            facts: fact.into_iter().collect(),
            told: list_lines(&name, &of_base),
            given: list_lines(&name, &of_test),
            base: of_base.join(", "),
            test: of_test.join(", "),
            weight: usual::weight(&name, Weight::Annotates),
            name: name.clone(),
        })
    };
    names.collect::<BTreeSet<_>>().into_iter().filter_map(suspect).collect()
}

/// The lines that tell a server each of these values; an empty one where there is none.
fn list_lines(name: &str, values: &[&str]) -> Vec<(String, String)> {
    let values = if values.is_empty() { &[""][..] } else { values };
    values.iter().map(|value| (name.to_owned(), (*value).to_owned())).collect()
}

/// Why a difference cannot be taken back, if it cannot.
fn why_not(one: &Inequality) -> Option<&'static str> {
    if one.rule == "table-kind" && one.name.ends_with(".row_format") {
        return None;
    }
    if one.name == PROCESS_ALLOCATOR {
        let is_known = [&one.base, &one.test].into_iter().all(|name| word_of(name).is_some());
        return (!is_known).then_some("dbdyno does not know this allocator");
    }
    if one.rule == "cost-constants" {
        return Some("it is a price of the optimizer: `dbdyno diff --load` tries it with EXPLAIN");
    }
    let Some(name) = one.name.strip_prefix(VARIABLE) else {
        return Some("it is no setting of the server");
    };
    let values = [&one.base, &one.test].into_iter().flatten();
    if values.into_iter().any(|value| setting::is_carried_out(name, value)) {
        return Some("it names a file, a program or a statement, which no other server is given");
    }
    let (Some(base), Some(test)) = (&one.base, &one.test) else {
        if is_switch(one).is_some() && !is_no_option(name) {
            return None;
        }
        return Some(match one.change {
            FactChange::New => "only the release of test has it",
            FactChange::Gone => "only the release of base has it",
            _ => "it was observed on one side only",
        });
    };
    if is_no_option(name) {
        return Some("it says where the server is, or what it can do");
    }
    let is_neither = !can_be_told(base) && !can_be_told(test);
    is_neither.then_some("a server cannot be started with any of its values")
}

fn can_be_told(value: &str) -> bool {
    !value.is_empty() && value != "NULL" && value != "''" && !value.contains('<')
}

fn is_no_option(name: &str) -> bool {
    let is = |form: &&str| match form.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => name == *form,
    };
    NO_OPTIONS.iter().any(is)
}

/// What a server is told to be as one that has no such setting, where it is a switch and is on, or
/// the value is known.
fn is_switch(one: &Inequality) -> Option<&'static str> {
    let is_release = matches!(one.change, FactChange::New | FactChange::Gone);
    let value = one.base.as_ref().or(one.test.as_ref()).filter(|_| is_release)?;
    let as_without =
        AS_WITHOUT.iter().find(|(name, _)| one.name.strip_prefix(VARIABLE) == Some(name));
    if let Some((_, without)) = as_without {
        return (value != without).then_some(without);
    }
    match value.as_str() {
        "ON" => Some("OFF"),
        "on" => Some("off"),
        _ => None,
    }
}

/// The word of a target for an allocator, by what the process shows.
fn word_of(fact: &Option<String>) -> Option<&'static str> {
    let name = fact.as_deref()?;
    ALLOCATORS.iter().find(|(known, _)| name.starts_with(known)).map(|(_, word)| *word)
}

fn untried(one: &Inequality, why: &str) -> UntriedDifference {
    let name = one.name.strip_prefix(VARIABLE).unwrap_or(&one.name).to_owned();
    UntriedDifference {
        name,
        base: one.base.clone(),
        test: one.test.clone(),
        why: why.to_owned(),
        is_condition: is_condition(one),
    }
}

fn of_inequality(dialect: Dialect, one: &Inequality) -> Vec<Suspect> {
    let (base, test) = (one.base.clone().unwrap_or_default(), one.test.clone().unwrap_or_default());
    let Some(name) = one.name.strip_prefix(VARIABLE) else {
        return if one.name == PROCESS_ALLOCATOR {
            allocator(one, base, test)
        } else {
            row_format(one, base, test)
        };
    };
    let rule = dbdyno_audit::rules::RULES.iter().find(|rule| rule.key == one.rule);
    let weight = usual::weight(name, rule.map_or(Weight::Harmless, |rule| rule.of_release));
    let option = option(dialect, name);
    let suspect = Suspect {
        name: name.to_owned(),
        facts: vec![one.name.clone()],
        told: Vec::new(),
        given: Vec::new(),
        base,
        test,
        weight,
    };
    if name == "optimizer_switch" {
        let switches = changed_switches(&suspect.base, &suspect.test).into_iter();
        return switches.map(|switch| of_switch(&suspect, &option, switch)).collect();
    }
    let line = |value: &str| vec![(option.clone(), value.to_owned())];
    let absent = NOT_THERE.to_owned();
    vec![match (&one.base, &one.test, is_switch(one)) {
        (None, _, Some(off)) => Suspect { base: absent, told: line(off), ..suspect },
        (_, None, Some(off)) => Suspect { test: absent, given: line(off), ..suspect },
        _ => Suspect {
            told: if can_be_told(&suspect.base) { line(&suspect.base) } else { Vec::new() },
            given: if can_be_told(&suspect.test) { line(&suspect.test) } else { Vec::new() },
            ..suspect
        },
    }]
}

/// One switch of the planner that differs, of the suspect that has all of them.
fn of_switch(all: &Suspect, option: &str, switch: Switch) -> Suspect {
    let line = |value: &str| (option.to_owned(), format!("{}={value}", switch.name));
    Suspect {
        name: format!("optimizer_switch {}", switch.name),
        told: vec![line(switch.base.as_deref().unwrap_or("off"))],
        given: switch.base.iter().map(|_| line(&switch.test)).collect(),
        base: switch.base.clone().unwrap_or_else(|| NOT_THERE.to_owned()),
        test: switch.test.clone(),
        ..all.clone()
    }
}

/// The library that is loaded before all others.
fn allocator(one: &Inequality, base: String, test: String) -> Vec<Suspect> {
    let line = |fact: &Option<String>| {
        let word = word_of(fact).expect("what dbdyno does not know is not tried");
        vec![(ALLOCATOR.to_owned(), word.to_owned())]
    };
    let (told, given) = (line(&one.base), line(&one.test));
    let weight = usual::weight(ALLOCATOR, Weight::Annotates);
    let name = ALLOCATOR.to_owned();
    vec![Suspect { name, facts: vec![one.name.clone()], told, given, base, test, weight }]
}

/// Rows are stored as the server has it for tables that name no format.
fn row_format(one: &Inequality, base: String, test: String) -> Vec<Suspect> {
    let line =
        |format: &str| vec![("loose_innodb_default_row_format".to_owned(), format.to_lowercase())];
    let (told, given) = (line(&base), line(&test));
    let weight = usual::weight("", Weight::Annotates);
    let name = "row_format".to_owned();
    vec![Suspect { name, facts: vec![one.name.clone()], told, given, base, test, weight }]
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
                    known.given.extend(one.given);
                }
                known.facts.extend(one.facts);
                known.weight = known.weight.max(one.weight);
            }
            None if is_told => kept.push(Suspect { name, ..one }),
            None => {
                let (base, test) = (String::new(), String::new());
                let (told, given) = (Vec::new(), Vec::new());
                kept.push(Suspect { name, told, given, base, test, ..one });
            }
        }
    }
    kept.retain(|one| !one.told.is_empty() || !one.given.is_empty());
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

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::TrialDirection;

    fn arms(base: &str, test: &str) -> PerArm<ArmSpec> {
        PerArm { base, test }.map(|text| text.parse().unwrap())
    }

    /// What a server says of itself must not become a program that another one starts.
    #[test]
    fn no_value_that_a_server_would_run_is_tried() {
        let arms = arms("postgres://ann@10.0.0.7/shop", "postgres:17");
        let hostile = [
            ("variable.archive_command", "touch /tmp/x"),
            ("variable.archive_library", "evil"),
            ("variable.shared_preload_libraries", "/tmp/evil.so"),
            ("variable.jit_provider", "evil"),
            ("variable.init_connect", "drop table t"),
            ("variable.init_file", "x.sql"),
            ("variable.wsrep_notify_cmd", "reboot"),
            ("variable.local_preload_libraries", "../evil"),
        ];
        let mut audit = Audit { unequal: Vec::new(), equal: 0 };
        for (name, value) in hostile {
            audit.unequal.push(unequal(name, Some(value), Some("a"), FactChange::Different));
            audit.unequal.push(unequal(name, Some("a"), Some(value), FactChange::Different));
        }
        let work_mem =
            unequal("variable.work_mem", Some("4MB"), Some("8MB"), FactChange::Different);
        audit.unequal.push(work_mem);
        let found = find_suspects(&arms.as_ref(), &audit, &Pointing::default());
        let tried: Vec<&str> = found.tried.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(tried, ["work_mem"]);
        let command = found.untried.iter().find(|one| one.name == "archive_command").unwrap();
        assert!(command.why.contains("a program"), "{}", command.why);
    }

    fn unequal(
        name: &str,
        base: Option<&str>,
        test: Option<&str>,
        change: FactChange,
    ) -> Inequality {
        Inequality {
            name: name.to_owned(),
            base: base.map(str::to_owned),
            test: test.map(str::to_owned),
            weight: Weight::Varied,
            change,
            rule: dbdyno_audit::rule_key_of(name),
            topic: "",
        }
    }

    fn of(unequal: Vec<Inequality>) -> Suspects {
        let arms = arms("mysql:5.7", "mysql:8.0");
        find_suspects(&arms.as_ref(), &Audit { unequal, equal: 0 }, &Pointing::default())
    }

    /// What each arm can be told: test, then base.
    fn told(all: &Suspects, name: &str) -> [Vec<String>; 2] {
        let one = all.tried.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("{name}"));
        let text = |(name, value): &(String, String)| format!("{name}={value}");
        TrialDirection::BOTH.map(|direction| one.lines(direction).iter().map(text).collect())
    }

    #[test]
    fn both_arms_can_be_told_what_the_other_one_has() {
        let all = of(vec![unequal("variable.a", Some("10"), Some("200"), FactChange::Default)]);
        assert_eq!(told(&all, "a"), [["loose_a=10"], ["loose_a=200"]]);
    }

    #[test]
    fn what_one_release_alone_has_on_is_turned_off_there() {
        let all = of(vec![
            unequal("variable.query_cache_type", Some("ON"), None, FactChange::Gone),
            unequal("variable.log_raw", None, Some("ON"), FactChange::New),
            unequal("variable.query_cache_size", Some("1048576"), None, FactChange::Gone),
            unequal("variable.new_off", None, Some("OFF"), FactChange::New),
        ]);
        let nothing: [String; 0] = [];
        let [test, base] = told(&all, "query_cache_type");
        assert_eq!((test, base), (nothing.to_vec(), vec!["loose_query_cache_type=OFF".to_owned()]));
        let [test, base] = told(&all, "log_raw");
        assert_eq!((test, base), (vec!["loose_log_raw=OFF".to_owned()], nothing.to_vec()));
        let untried: Vec<&str> = all.untried.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(untried, ["query_cache_size", "new_off"], "no switch, or not on");
    }

    #[test]
    fn what_base_has_and_nobody_can_be_told_is_given_the_other_way() {
        let all = of(vec![unequal("variable.b", Some(""), Some("x"), FactChange::Different)]);
        assert_eq!(told(&all, "b"), [vec![], vec!["loose_b=x".to_owned()]]);
        let all = of(vec![unequal("variable.b", Some(""), Some("NULL"), FactChange::Different)]);
        assert_eq!((all.tried.len(), all.untried.len()), (0, 1));
    }

    /// MySQL has no variable for what it replicates; what it was told by two files is noted whole.
    #[test]
    fn a_list_of_a_file_is_told_as_untried() {
        let told = |value| Some(value);
        let all = of(vec![
            unequal("setting.replicate_do_db", told("a, b"), told("b, c"), FactChange::Different),
            unequal("setting.sync_binlog", told("0"), told("1"), FactChange::Different),
        ]);
        let names: Vec<&str> = all.untried.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((names, all.tried.len()), (vec!["replicate_do_db"], 0), "{all:?}");
        assert_eq!(all.untried[0].base.as_deref(), Some("a, b"));
    }

    #[test]
    fn an_allocator_is_one_suspect_however_often_it_is_said() {
        let jemalloc = Some("libjemalloc.so.2");
        let all = of(vec![
            unequal("process.allocator", Some("glibc"), jemalloc, FactChange::Different),
            unequal(MALLOC_LIBRARY, Some("system"), Some("jemalloc 5"), FactChange::Different),
        ]);
        assert_eq!((all.tried.len(), all.untried.len()), (1, 0), "{all:?}");
        assert_eq!(told(&all, "allocator"), [["allocator=system"], ["allocator=jemalloc"]]);
        let own = Some("libhoard.so");
        let all = of(vec![unequal("process.allocator", own, jemalloc, FactChange::Different)]);
        assert_eq!((all.tried.len(), all.untried.len()), (0, 1), "{all:?}");
    }

    /// What dbdyno itself does to one arm, and what its process has, are no code; what servers may
    /// open they raise by themselves.
    #[test]
    fn conditions_that_no_trial_takes_back_are_told_as_such() {
        let arms = arms("mysql:8.0?cache=cold", "mysql:8.0?slow=10%&record=on");
        let unequal = vec![
            unequal("process.compiler", Some("GCC 12"), Some("GCC 11"), FactChange::Different),
            unequal("process.processors", Some("0"), Some("1"), FactChange::Different),
            unequal("process.limit.open_files", Some("1"), Some("2"), FactChange::Different),
        ];
        let audit = Audit { unequal, equal: 0 };
        let all = find_suspects(&arms.as_ref(), &audit, &Pointing::default());
        let told = |is: bool| {
            let of = all.untried.iter().filter(|one| one.is_condition == is);
            of.map(|one| one.name.as_str()).collect::<Vec<_>>()
        };
        let conditions = ["process.compiler", "process.processors", "cache", "record", "slow"];
        assert_eq!(told(true), conditions);
        assert_eq!(told(false), ["process.limit.open_files"]);
    }

    #[test]
    fn programs_are_the_same_until_a_fact_tells_them_apart() {
        let is_same = |base: &str, test: &str, fact: &str| {
            let arms = arms(base, test);
            let unequal = vec![unequal(fact, Some("a"), Some("b"), FactChange::Different)];
            is_same_program(&arms.as_ref(), &Audit { unequal, equal: 0 })
        };
        let limit = "process.cgroup.cpu_quota_us";
        assert!(is_same("postgres:17", "postgres:17?cpus=0.3", limit));
        assert!(is_same("sqlite:", "sqlite:?journal_mode=WAL", "variable.a"));
        assert!(!is_same("mysql:8.0", "mysql:8.0@maven", "process.binary"));
        assert!(!is_same("mysql:8.0", "mysql:9.7", "server.version"));
        assert!(
            !is_same("mysql:8.0", "mariadb:10.11", limit) && !is_same("sqlite:", "engine:", limit)
        );
    }

    #[test]
    fn of_servers_that_cannot_be_started_the_likely_leads_come_first() {
        let audit = Audit {
            unequal: vec![
                unequal("variable.lock_wait_timeout", Some("1"), Some("2"), FactChange::Different),
                unequal("variable.port", Some("1"), Some("2"), FactChange::Different),
                unequal(
                    "variable.innodb_buffer_pool_size",
                    Some("1"),
                    Some("2"),
                    FactChange::Different,
                ),
                unequal(
                    "step[a at 1 client].debt",
                    Some("0"),
                    Some("20000"),
                    FactChange::Different,
                ),
                unequal("table.a.indexes", Some("index (b)"), None, FactChange::Different),
            ],
            equal: 0,
        };
        let counted = |worth| FactComparison {
            fact: dbdyno_model::server_facts::find_fact("handler_read_next").unwrap(),
            base: Some(1.0),
            test: Some(101.0),
            ratio: None,
            sign: None,
            worth,
        };
        let all = find_leads(&audit, &[counted(FactWorth::Telling), counted(FactWorth::Listed)]);
        let names: Vec<&str> = all.iter().map(|lead| lead.name.as_str()).collect();
        let expected = [
            "table.a.indexes",
            "step[a at 1 client].debt",
            "handler_read_next",
            "innodb_buffer_pool_size",
        ];
        assert_eq!(names[..4], expected, "{names:?}");
        assert_eq!(all[2].test.as_deref(), Some("101 rows an operation"), "{all:?}");
        assert!(!names.contains(&"port"), "{names:?}");
        assert!(all[0].advice.contains("tables differ"), "{all:?}");
    }
}
