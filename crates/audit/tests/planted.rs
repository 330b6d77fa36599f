//! Every rule, planted in two environments that are equal but for it.

use dbdyno_audit::rules::{Looks, OTHER, RULES, Rule};
use dbdyno_audit::{MEANT, all_rules, audit_arms, audit_warnings};
use dbdyno_model::{ArmSpec, Environment, FactChange, PerArm, Severity, Weight};

const URL: &str = "mysql://u@h/d";

fn arms(base: &str, test: &str) -> PerArm<ArmSpec> {
    PerArm { base: base.parse().unwrap(), test: test.parse().unwrap() }
}

/// Two arms of these versions with what every arm has.
fn environments(base: &str, test: &str) -> PerArm<Environment> {
    let of = |version: &str| {
        let mut facts = Environment::default();
        for (name, value) in [
            ("server.version", version),
            ("setting.max_connections", "1100"),
            ("variable.max_connections", "1100"),
            ("variable.character_set_server", "latin1"),
            ("variable.sync_binlog", "0"),
            ("plan[point-query].1", "const sbtest1.PRIMARY"),
        ] {
            facts.set(name, value);
        }
        facts
    };
    PerArm { base: of(base), test: of(test) }
}

/// What is said of one fact with these values.
fn weight_of(
    arms: &PerArm<ArmSpec>,
    facts: &PerArm<Environment>,
    name: &str,
) -> Option<(Weight, FactChange, &'static str)> {
    let found = audit_arms(&arms.as_ref(), &facts.as_ref());
    let one = found.unequal.iter().find(|one| one.name == name)?;
    Some((one.weight, one.change, one.rule))
}

/// Values that no tolerance takes for equal.
fn plant(facts: &mut PerArm<Environment>, name: &str) {
    facts.base.set(name, "10");
    facts.test.set(name, "1000000000000");
}

/// The first fact of this form that an earlier rule has not.
fn fact_of(rule: &Rule) -> Option<String> {
    let Looks::Facts(forms) = rule.looks_at else { return None };
    let form = forms.iter().find(|form| !form.starts_with("neutral."))?;
    Some(form.replace('*', "x"))
}

#[test]
fn two_equal_arms_have_nothing_to_say() {
    let facts = environments("8.0.33", "8.0.33");
    let found = audit_arms(&arms(URL, URL).as_ref(), &facts.as_ref());
    assert_eq!((found.unequal.len(), found.equal), (0, 6));
    assert_eq!(audit_warnings(&found), []);
}

#[test]
fn each_rule_finds_what_is_planted_and_weighs_it() {
    for rule in RULES.iter().chain([&OTHER]) {
        let Some(name) = fact_of(rule) else { continue };
        let name = if rule.key == OTHER.key { "variable.never_heard_of".to_owned() } else { name };
        let mut same = environments("8.0.33", "8.0.33");
        plant(&mut same, &name);
        let seen = weight_of(&arms(URL, URL), &same, &name);
        if name == "server.version" {
            // Two versions are varied, whatever else is.
            assert_eq!(seen.unwrap().0, Weight::Varied);
            continue;
        }
        let (weight, _, key) = seen.unwrap();
        assert_eq!((weight, key), (rule.weight, rule.key), "{name}");
        let found = audit_arms(&arms(URL, URL).as_ref(), &same.as_ref());
        let told = audit_warnings(&found);
        match rule.weight {
            Weight::Blocks => assert_eq!(told[0].warning.severity, Severity::Blocks, "{name}"),
            Weight::Annotates => assert_eq!(told[0].warning.severity, Severity::Caution, "{name}"),
            Weight::Harmless | Weight::Varied => assert_eq!(told, [], "{name}"),
        }
        let mut releases = environments("8.0.33", "9.7.4");
        plant(&mut releases, &name);
        let (weight, ..) = weight_of(&arms("mysql:8.0", "mysql:9.7"), &releases, &name).unwrap();
        // No default that changed is harmless by decree.
        let is_default = name.starts_with("variable.") && rule.key != "instance";
        let expected = match rule.of_release {
            Weight::Harmless if is_default => Weight::Varied,
            weight => weight,
        };
        assert_eq!(weight, expected, "{name} of two releases");
    }
}

#[test]
fn a_rule_that_is_meant_is_the_question() {
    for rule in RULES {
        let Some(name) = fact_of(rule).filter(|_| rule.weight != Weight::Harmless) else {
            continue;
        };
        let mut facts = environments("8.0.33", "8.0.33");
        plant(&mut facts, &name);
        for arm in [&mut facts.base, &mut facts.test] {
            arm.set(format!("{MEANT}{}", rule.key), "on purpose");
        }
        let (weight, ..) = weight_of(&arms(URL, URL), &facts, &name).unwrap();
        assert_eq!(weight, Weight::Varied, "{name}");
        for finding in audit_warnings(&audit_arms(&arms(URL, URL).as_ref(), &facts.as_ref())) {
            assert_eq!(finding.warning.severity, Severity::Note, "{finding:?}");
            assert!(finding.warning.text.starts_with("what is compared is"), "{finding:?}");
        }
    }
}

#[test]
fn what_is_written_behind_a_target_is_varied_with_all_that_hangs_on_it() {
    let arms = arms("sqlite:?synchronous=off", "sqlite:?synchronous=full");
    let mut facts = environments("3.50", "3.50");
    facts.base.set("variable.synchronous", "0");
    facts.test.set("variable.synchronous", "2");
    facts.base.set("variable.journal_mode", "delete");
    facts.test.set("variable.journal_mode", "wal");
    facts.test.set("variable.page_size", "8192");
    facts.base.set("variable.page_size", "4096");
    let weight = |name: &str| weight_of(&arms, &facts, name).unwrap().0;
    assert_eq!(weight("variable.synchronous"), Weight::Varied);
    assert_eq!(weight("variable.journal_mode"), Weight::Varied, "of the same rule");
    assert_eq!(weight("variable.page_size"), Weight::Annotates, "nobody wrote that");
}

#[test]
fn who_belongs_to_others_is_unequal_in_what_follows_from_that_and_in_nothing_else() {
    let alone = "mysql:8.0.33";
    let near = "mysql:8.0.33?topology=group:3&delay=0ms";
    let far = "mysql:8.0.33?topology=group:3&delay=5ms";
    let mut facts = environments("8.0.33", "8.0.33");
    for name in ["topology.shape", "topology.delay_ns", "topology.delay_out_ns_p50"] {
        plant(&mut facts, name);
    }
    let of =
        |base: &str, test: &str, name: &str| weight_of(&arms(base, test), &facts, name).unwrap().0;
    assert_eq!(of(alone, near, "topology.shape"), Weight::Varied);
    assert_eq!(of(near, far, "topology.delay_ns"), Weight::Varied);
    assert_eq!(of(near, near, "topology.delay_ns"), Weight::Annotates, "nobody wrote that");
    // It was measured, and is a little different each time.
    assert_eq!(of(near, near, "topology.delay_out_ns_p50"), Weight::Harmless);
}

#[test]
fn one_release_has_settings_that_the_other_has_not() {
    let mut facts = environments("8.0.33", "9.7.4");
    facts.base.set("variable.innodb_log_files_in_group", "2");
    facts.test.set("variable.innodb_new", "1");
    facts.base.set("process.allocator", "glibc");
    let releases = arms("mysql:8.0", "mysql:9.7");
    let of = |name: &str| weight_of(&releases, &facts, name).unwrap();
    let gone = of("variable.innodb_log_files_in_group");
    assert_eq!((gone.0, gone.1), (Weight::Varied, FactChange::Gone));
    let new = of("variable.innodb_new");
    assert_eq!((new.0, new.1), (Weight::Varied, FactChange::New));
    let unseen = of("process.allocator");
    assert_eq!((unseen.0, unseen.1), (Weight::Harmless, FactChange::Unseen), "never guessed");
}

/// What servers by URL were told is not known: a difference may be somebody's doing.
#[test]
fn only_servers_of_our_own_have_known_defaults() {
    let mut facts = environments("8.0.33", "9.7.4");
    plant(&mut facts, "variable.character_set_server");
    let name = "variable.character_set_server";
    let ours = weight_of(&arms("mysql:8.0", "mysql:9.7"), &facts, name).unwrap();
    assert_eq!((ours.0, ours.1), (Weight::Annotates, FactChange::Default));
    let theirs = weight_of(&arms(URL, "mysql://u@i/d"), &facts, name).unwrap();
    assert_eq!((theirs.0, theirs.1), (Weight::Blocks, FactChange::Different));
}

#[test]
fn another_plan_blocks_unless_something_was_varied_that_may_choose_it() {
    let name = "plan[point-query].1";
    let of = |base: &str, test: &str, versions: (&str, &str)| {
        let mut facts = environments(versions.0, versions.1);
        facts.test.set(name, "ALL sbtest1.-");
        weight_of(&arms(base, test), &facts, name).unwrap().0
    };
    assert_eq!(of(URL, URL, ("8.0.33", "8.0.33")), Weight::Blocks);
    assert_eq!(of("mysql:8.0", "mysql:9.7", ("8.0.33", "9.7.4")), Weight::Annotates);
    assert_eq!(of("sqlite:", "sqlite:?page_size=4096", ("3", "3")), Weight::Annotates);
    assert_eq!(of(URL, "postgres://u@h/d", ("8.0.33", "17.2")), Weight::Harmless);
}

#[test]
fn two_families_are_compared_in_words_of_neither() {
    let mut facts = environments("8.0.33", "17.2");
    facts.base.set("neutral.commit", "is not synced");
    facts.test.set("neutral.commit", "is synced");
    let of = |arms| weight_of(&arms, &facts, "neutral.commit").map(|(weight, ..)| weight);
    assert_eq!(of(arms("mysql:8.0", "postgres:17")), Some(Weight::Annotates));
    assert_eq!(of(arms("mysql:8.0", "mysql:9.7")), None, "its own settings say it");
}

/// MariaDB and PostgreSQL divide and compare texts in their own ways: other rows were counted, and
/// the faster one was told without a word of it.
#[test]
fn two_answers_of_two_families_are_told_and_block_within_one() {
    let of = |base: &str, test: &str| {
        let mut facts = environments("8.0.33", "8.0.33");
        facts.base.set("result[shop].1", "1 rows, 00000000000000aa");
        facts.test.set("result[shop].1", "1 rows, 00000000000000bb");
        weight_of(&arms(base, test), &facts, "result[shop].1").unwrap().0
    };
    assert_eq!(of("mysql:8.0", "postgres:17"), Weight::Annotates);
    assert_eq!(of(URL, URL), Weight::Blocks);
}

#[test]
fn findings_say_which_load_they_speak_of() {
    let mut facts = environments("8.0.33", "8.0.33");
    facts.test.set("plan[point-query].1", "ALL sbtest1.-");
    facts.base.set("step[scan at 4 clients].error_log_bytes", "0");
    facts.test.set("step[scan at 4 clients].error_log_bytes", "90000");
    let told = audit_warnings(&audit_arms(&arms(URL, URL).as_ref(), &facts.as_ref()));
    let of: Vec<_> = told.iter().map(|finding| finding.of.as_deref().unwrap()).collect();
    assert_eq!(of, ["point-query", "scan at 4 clients"]);
    let text = &told[0].warning.text;
    assert!(text.contains("on point-query: 1 const sbtest1.PRIMARY → ALL sbtest1.-"), "{text}");
    assert!(text.contains("--varied plan"), "{text}");
}

#[test]
fn a_number_is_the_same_however_it_is_written() {
    let mut facts = environments("5.6.24", "5.7.22");
    facts.base.set("variable.innodb_max_dirty_pages_pct", "75");
    facts.test.set("variable.innodb_max_dirty_pages_pct", "75.000000");
    let releases = arms("mysql:5.6", "mysql:5.7");
    assert_eq!(weight_of(&releases, &facts, "variable.innodb_max_dirty_pages_pct"), None);
}

/// InnoDB has made an index for a foreign key, which PostgreSQL does not do: that is told. Two
/// servers of one family that differ in it have other tables.
#[test]
fn an_index_of_a_foreign_key_blocks_within_one_family_only() {
    let name = "table.child.foreign_key_indexes";
    let of = |base: &str, test: &str| {
        let mut facts = environments("8.0.33", "8.0.33");
        facts.base.set(name, "index (parent_id)");
        facts.test.set(name, "none");
        let (weight, _, rule) = weight_of(&arms(base, test), &facts, name).unwrap();
        (weight, rule)
    };
    let rule = "foreign-key-indexes";
    assert_eq!(of("mysql:8.0", "postgres:17"), (Weight::Annotates, rule));
    assert_eq!(of(URL, "postgres://u@h/d"), (Weight::Annotates, rule));
    assert_eq!(of(URL, URL), (Weight::Blocks, rule));
    let mut facts = environments("8.0.33", "8.0.33");
    facts.base.set("table.child.indexes", "index (k), primary (id)");
    facts.test.set("table.child.indexes", "primary (id)");
    let found = weight_of(&arms("mysql:8.0", "postgres:17"), &facts, "table.child.indexes");
    assert_eq!(found.unwrap().0, Weight::Blocks, "another index is another table");
}

#[test]
fn numbers_may_be_a_little_apart() {
    let of = |name: &str, base: &str, test: &str| {
        let mut facts = environments("8.0.33", "8.0.33");
        facts.base.set(name, base);
        facts.test.set(name, test);
        weight_of(&arms(URL, URL), &facts, name).unwrap().0
    };
    let debt = "step[scan at 1 client].debt";
    assert_eq!(of(debt, "0", "9000"), Weight::Harmless, "too little to matter");
    assert_eq!(of(debt, "20000", "30000"), Weight::Harmless, "about as much");
    assert_eq!(of(debt, "0", "30000"), Weight::Annotates);
    assert_eq!(of("data.sbtest1.rows", "20000", "20001"), Weight::Blocks);
}

#[test]
fn each_rule_has_a_key_of_its_own_a_source_and_an_end_that_says_what_to_do() {
    for (at, rule) in RULES.iter().enumerate() {
        assert!(RULES[..at].iter().all(|other| other.key != rule.key), "{}", rule.key);
        assert!(!rule.sources.is_empty() && !rule.advice.ends_with('.'), "{}", rule.key);
        assert!(
            rule.weight <= rule.of_release || rule.of_release == Weight::Varied,
            "{}",
            rule.key
        );
    }
}

/// That a source is an address or below `docs/` is seen by the compiler.
#[test]
fn the_sources_of_a_rule_are_there_and_are_no_private_papers() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../").to_owned();
    let sources = || all_rules().into_iter().flat_map(|rule| rule.sources);
    for source in sources() {
        let (title, place) = (source.title(), source.place());
        if place.starts_with("docs/") {
            assert!(std::fs::exists(root.clone() + place).unwrap(), "{place} is not there");
        }
        assert!(!place.contains([' ', '|', ')']), "{place} ends a link of Markdown");
        let papers = ["design", "reference", "issue", "explain", "harness", "measured"];
        let is_private = title.contains(['§', '|']) || papers.iter().any(|p| title.starts_with(p));
        assert!(!is_private, "{title}: a title of a manual, a page or the journal is wanted");
        let same = sources().find(|other| other.title() == title).unwrap();
        assert_eq!(same.place(), place, "{title} has two places");
    }
    assert!(sources().count() > all_rules().len());
}

/// The figures in sentences of rules are those of their sources.
#[test]
fn figures_that_rules_name_are_those_of_their_sources() {
    let of = |key: &str| RULES.iter().find(|rule| rule.key == key).unwrap();
    // Callaghan has 5 % of MariaDB; 23 % is the journal's. "Up to 5 % of MySQL" was neither.
    let charset = of("charset");
    assert!(charset.advice.contains("MariaDB 5 % of processor time"), "{}", charset.advice);
    assert!(charset.advice.contains("23 % of instructions"), "{}", charset.advice);
    let journal = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/journal/2026-11-24-causes.md");
    let journal = std::fs::read_to_string(journal).unwrap();
    assert!(journal.contains("charset.toml`: as expected, +23.24"), "the figure of the rule");
    // PostgreSQL's manual says "significantly", and no source "many times".
    assert!(of("debug-build").advice.contains("significantly"));
    // Percona: 5000 and 3500 transactions a second with 64 threads on 8 processors, equal on 4.
    assert!(of("allocator").advice.contains("nearly a third of its rate with 64 threads on 8"));
}

/// `docs/AUDIT.md` is what `dbdyno diff --rules` prints.
#[test]
fn the_page_of_rules_is_the_table() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/AUDIT.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    let (head, _) = page.split_once("| rule |").unwrap_or((&page, ""));
    let wanted = format!("{head}{}", dbdyno_audit::rules_as_markdown());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, &wanted).unwrap();
        return;
    }
    assert_eq!(page, wanted, "if that is meant, write it with UPDATE_GOLDEN=1");
}
