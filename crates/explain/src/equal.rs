//! Arms in which suspects were made equal, and whether they took it.

use dbdyno_model::{
    ArmSpec, Design, Environment, Product, Setting, Suspect, Target, TrialDirection, setting,
};

/// Switches of the planner are told as one value.
const SWITCHES: &str = "optimizer_switch";
/// The word of a target that names an allocator.
pub(crate) const ALLOCATOR: &str = "allocator";
/// Words of a target that limit the control group of a server; one that is not there limits
/// nothing, as does one without a value.
pub(crate) const LIMITS: [&str; 2] = ["cpus", "memory"];

/// The arm, told what the other one has of these suspects.
///
/// # Panics
/// On a server by URL, of which there are no suspects.
pub fn made_equal<'a>(
    arm: &ArmSpec,
    direction: TrialDirection,
    suspects: impl IntoIterator<Item = &'a Suspect>,
) -> ArmSpec {
    let mut spec = arm.clone();
    let lines: Vec<&(String, String)> =
        suspects.into_iter().flat_map(|suspect| suspect.lines(direction)).collect();
    if let Target::Release(release) = &mut spec.target {
        // All values of such an option are told together, in place of all that there were.
        let product = release.product;
        let is_told = |known: &str| {
            lines.iter().any(|(name, _)| is_a_list(product, name) && is_same(known, name))
        };
        release
            .settings
            .retain(|setting| !matches!(setting, Setting::Raw(known, _) if is_told(known)));
    }
    for (name, value) in lines {
        match &mut spec.target {
            Target::Release(release) if is_a_list(release.product, name) => {
                let told = (!value.is_empty()).then(|| Setting::Raw(name.clone(), value.clone()));
                release.settings.extend(told);
            }
            Target::Release(release) if is_limit(name) => {
                release.settings.retain(|setting| setting.name() != name);
                release.settings.extend(Setting::from_neutral(name, value));
            }
            Target::Release(release) => tell(&mut release.settings, name, value),
            Target::Engine(design) => {
                let field = format!("{name}={value}");
                let mut fields = design.options();
                fields.retain(|(known, _)| known != name);
                let others = fields.iter().map(|(name, value)| format!("{name}={value}"));
                let text: Vec<String> = others.chain([field]).collect();
                *design = text.join("&").parse::<Design>().expect("a value that the other arm has");
            }
            Target::Sqlite(words) | Target::Rocksdb(words) | Target::Mock(words) => {
                words.retain(|(known, _)| known != name);
                if !value.is_empty() {
                    words.push((name.clone(), value.clone()));
                }
            }
            Target::Url(_) => panic!("a server by URL is told nothing"),
        }
    }
    spec
}

/// Whether a server keeps all values that it is told under this name. Switches of the planner it
/// does, too, and they are told one by one in a text.
pub(crate) fn is_a_list(product: Product, name: &str) -> bool {
    setting::is_accumulated(product, name) && setting::plain_name(name) != SWITCHES
}

fn is_same(one: &str, other: &str) -> bool {
    setting::plain_name(one) == setting::plain_name(other)
}

/// All values that an arm is told under this name, in their order.
pub(crate) fn values_of<'s>(settings: &'s [Setting], name: &str) -> Vec<&'s str> {
    let value = |setting: &'s Setting| match setting {
        Setting::Raw(known, value) if is_same(known, name) => Some(value.as_str()),
        _ => None,
    };
    settings.iter().filter_map(value).collect()
}

/// Whether a word of a target limits the control group of a server.
pub fn is_limit(name: &str) -> bool {
    LIMITS.contains(&name)
}

/// What the control group of an arm may have by this word of its target; empty where nothing limits
/// it.
pub(crate) fn limit_of(settings: &[Setting], name: &str) -> String {
    let limit = settings.iter().find(|setting| setting.name() == name);
    limit.map_or_else(String::new, Setting::value)
}

/// Adds a setting; it replaces one of this name, with or without `loose_`.
fn tell(settings: &mut Vec<Setting>, name: &str, value: &str) {
    let plain = setting::plain_name(name);
    let is_it = |known: &Setting| match known {
        Setting::Raw(known, _) => setting::plain_name(known) == plain,
        other => other.name() == name,
    };
    let known = settings.iter_mut().find(|known| is_it(known));
    match known {
        Some(Setting::Raw(known, all)) if plain == SWITCHES => {
            // A server takes each switch once.
            let of = |part: &str| part.split('=').next().unwrap_or_default().trim().to_owned();
            let others = all.split(',').filter(|part| of(part) != of(value));
            let parts: Vec<&str> = others.chain([value]).collect();
            *all = parts.join(",");
            name.clone_into(known);
        }
        Some(setting) => *setting = meant(name, value),
        None => settings.push(meant(name, value)),
    }
}

/// The setting that is told so: that of the allocator is none of the server's own.
fn meant(name: &str, value: &str) -> Setting {
    let neutral = (name == ALLOCATOR).then(|| Setting::from_neutral(name, value)).flatten();
    neutral.unwrap_or_else(|| Setting::Raw(name.to_owned(), value.to_owned()))
}

/// Whether an arm is told what the other one has of a suspect.
pub(crate) fn is_told(spec: &ArmSpec, direction: TrialDirection, suspect: &Suspect) -> bool {
    let is = |(name, value): &(String, String)| match &spec.target {
        Target::Release(release) if is_a_list(release.product, name) => {
            let told = suspect.lines(direction).iter().filter(|(known, _)| known == name);
            let told = told.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty());
            values_of(&release.settings, name) == told.collect::<Vec<_>>()
        }
        Target::Release(release) if is_limit(name) => limit_of(&release.settings, name) == *value,
        Target::Release(release) => release.settings.iter().any(|setting| match setting {
            Setting::Raw(known, all) if known == name && name.ends_with(SWITCHES) => {
                all.split(',').any(|part| part == value)
            }
            Setting::Raw(known, all) => known == name && all == value,
            other => other.name() == name && other.value() == *value,
        }),
        Target::Engine(design) => {
            design.fields().iter().any(|(known, all)| known == name && all == value)
        }
        Target::Sqlite(words) | Target::Rocksdb(words) | Target::Mock(words) => {
            match words.iter().find(|(known, _)| known == name) {
                Some((_, all)) => all == value,
                None => value.is_empty(),
            }
        }
        Target::Url(_) => false,
    };
    let lines = suspect.lines(direction);
    !lines.is_empty() && lines.iter().all(is)
}

/// Whether an arm has taken what it was told: the facts of the suspect are those of the arm that it
/// is to be `like`; where that one has no such fact, those that it was told. What has no facts is
/// taken at its word; what cannot be told in this direction is never taken.
pub(crate) fn has_taken_effect(
    suspect: &Suspect,
    direction: TrialDirection,
    like: &Environment,
    arm: &Environment,
) -> bool {
    let lines = suspect.lines(direction);
    if lines.is_empty() {
        return false;
    }
    let told = |fact: &str| {
        let name = fact.strip_prefix("variable.")?;
        lines.iter().find(|(known, _)| known.strip_prefix("loose_").unwrap_or(known) == name)
    };
    suspect.facts.iter().filter(|fact| told(fact).is_some() || !fact.starts_with("variable.")).all(
        |fact| {
            let wanted = match (like.facts.get(fact), told(fact)) {
                (None, Some((_, value))) => value,
                (wanted, _) => wanted.map_or("", String::as_str),
            };
            let found = arm.get(fact);
            let number = |text: &str| text.parse::<f64>().ok();
            let is_number = number(wanted).is_some() && number(wanted) == number(found);
            let is_switch = fact.ends_with(SWITCHES);
            wanted.eq_ignore_ascii_case(found) || is_number || (is_switch && has_all(lines, found))
        },
    )
}

fn has_all(lines: &[(String, String)], value: &str) -> bool {
    let has = |wanted: &str| value.split(',').any(|part| part.trim() == wanted);
    lines.iter().all(|(_, wanted)| has(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::PerArm;

    #[test]
    fn a_switch_of_the_planner_is_told_once_and_seen_as_told() {
        let switch = |name: &str, base: &str, test: &str| Suspect {
            name: name.to_owned(),
            facts: Vec::new(),
            told: vec![("loose_optimizer_switch".to_owned(), format!("{name}={base}"))],
            given: vec![("loose_optimizer_switch".to_owned(), format!("{name}={test}"))],
            base: base.to_owned(),
            test: test.to_owned(),
            weight: 1.0,
        };
        let suspects = [switch("mrr", "on", "off"), switch("mrr_cost_based", "off", "on")];
        let test: ArmSpec = "mysql:8.0?optimizer_switch=mrr=off,mrr_cost_based=on".parse().unwrap();
        let direction = TrialDirection::TestAsBase;
        let one = made_equal(&test, direction, [&suspects[0]]);
        assert!(
            one.to_string().ends_with("loose_optimizer_switch=mrr_cost_based=on,mrr=on"),
            "{one}"
        );
        assert!(is_told(&one, direction, &suspects[0]) && !is_told(&one, direction, &suspects[1]));
        let both = made_equal(&test, direction, &suspects);
        assert!(suspects.iter().all(|one| is_told(&both, direction, one)), "{both}");
    }

    /// Lists of what is replicated: a trial has all values of base and none of test, and one that
    /// base has none of is left out.
    #[test]
    fn options_that_a_server_adds_up_keep_all_their_values() {
        let arms = PerArm {
            base: "mariadb:10.11?replicate_do_db=a&replicate_do_db=b&sync_binlog=0",
            test: "mariadb:10.11?replicate_do_db=b&replicate-ignore-table=a.t&sync_binlog=1&\
                   replicate_do_db=c&plugin_load_add=x.so",
        };
        let arms: PerArm<ArmSpec> = arms.map(|text| text.parse().unwrap());
        let audit = dbdyno_model::Audit { unequal: Vec::new(), equal: 0 };
        let all = crate::find_suspects(&arms.as_ref(), &audit, &crate::Pointing::default()).tried;
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["plugin_load_add", "replicate_do_db", "replicate_ignore_table"]);
        assert_eq!((&*all[1].base, &*all[1].test), ("a, b", "b, c"));
        let back = made_equal(&arms.test, TrialDirection::TestAsBase, &all[1..]);
        let told = "mariadb:10.11?sync_binlog=1&plugin_load_add=x.so&replicate_do_db=a&\
                    replicate_do_db=b";
        assert_eq!(back.to_string(), told);
        let is = |one: usize| is_told(&back, TrialDirection::TestAsBase, &all[one]);
        assert_eq!((is(0), is(1), is(2)), (false, true, true));
        assert!(!is_told(&arms.test, TrialDirection::TestAsBase, &all[1]));
        let given = made_equal(&arms.base, TrialDirection::BaseAsTest, [&all[1]]);
        assert!(given.to_string().ends_with("replicate_do_db=b&replicate_do_db=c"), "{given}");
    }

    /// A limit that dbdyno sets is taken back as it was set: with the word of base, or with none.
    #[test]
    fn a_limit_of_the_control_group_is_taken_back() {
        let arms = PerArm {
            base: "postgres:17?memory=2G",
            test: "postgres:17?work_mem=8MB&cpus=0.3&memory=1G",
        };
        let arms: PerArm<ArmSpec> = arms.map(|text| text.parse().unwrap());
        let quota = |name: &str, test: &str| dbdyno_model::Inequality {
            name: format!("process.cgroup.{name}"),
            base: None,
            test: Some(test.to_owned()),
            weight: dbdyno_model::Weight::Annotates,
            change: dbdyno_model::FactChange::Different,
            rule: "process-limits",
            topic: "",
        };
        let unequal = vec![quota("cpu_quota_us", "30000"), quota("memory_limit", "1073741824")];
        let audit = dbdyno_model::Audit { unequal, equal: 0 };
        let all = crate::find_suspects(&arms.as_ref(), &audit, &crate::Pointing::default());
        let names: Vec<&str> = all.tried.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((names, all.untried), (vec!["cpus", "memory"], Vec::new()));
        let back = |of: &[Suspect]| made_equal(&arms.test, TrialDirection::TestAsBase, of);
        let without = back(&all.tried[..1]);
        assert_eq!(without.to_string(), "postgres:17?work_mem=8MB&memory=1G");
        let both = back(&all.tried);
        assert_eq!(both.to_string(), "postgres:17?work_mem=8MB&memory=2G");
        let is =
            |spec: &ArmSpec, one: usize| is_told(spec, TrialDirection::TestAsBase, &all.tried[one]);
        assert_eq!((is(&without, 0), is(&without, 1)), (true, false));
        assert_eq!((is(&both, 0), is(&both, 1), is(&arms.test, 0)), (true, true, false));
        let given = made_equal(&arms.base, TrialDirection::BaseAsTest, &all.tried);
        assert_eq!(given.to_string(), "postgres:17?cpus=0.3&memory=1G");
    }

    /// A switch that only the release of base has: no trial of test is like base in it, whatever
    /// else it was told, so that it follows from nothing and is tried on base.
    #[test]
    fn what_one_release_lacks_follows_from_nothing() {
        let mut like = Environment::default();
        like.facts.insert("variable.query_cache_type".to_owned(), "ON".to_owned());
        let switch = Suspect {
            name: "query_cache_type".to_owned(),
            facts: vec!["variable.query_cache_type".to_owned()],
            told: Vec::new(),
            given: vec![("loose_query_cache_type".to_owned(), "OFF".to_owned())],
            base: "ON".to_owned(),
            test: "not there".to_owned(),
            weight: 1.0,
        };
        let (absent, mut off) = (Environment::default(), like.clone());
        assert!(!has_taken_effect(&switch, TrialDirection::TestAsBase, &like, &absent));
        off.facts.insert("variable.query_cache_type".to_owned(), "OFF".to_owned());
        assert!(has_taken_effect(&switch, TrialDirection::BaseAsTest, &absent, &off));
        assert!(!has_taken_effect(&switch, TrialDirection::BaseAsTest, &absent, &like));
    }
}
