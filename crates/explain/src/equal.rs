//! Arms in which suspects were made equal, and whether they took it.

use dbdyno_model::{ArmSpec, Design, Direction, Environment, Setting, Suspect, Target};

/// Switches of the planner are told as one value.
const SWITCHES: &str = "optimizer_switch";
/// The word of a target that names an allocator.
pub(crate) const ALLOCATOR: &str = "allocator";

/// The arm, told what the other one has of these suspects.
///
/// # Panics
/// On a server by URL, of which there are no suspects.
pub fn made_equal<'a>(
    arm: &ArmSpec,
    direction: Direction,
    suspects: impl IntoIterator<Item = &'a Suspect>,
) -> ArmSpec {
    let mut spec = arm.clone();
    for (name, value) in suspects.into_iter().flat_map(|suspect| suspect.lines(direction)) {
        match &mut spec.target {
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

/// Adds a setting; it replaces one of this name, with or without `loose_`.
fn tell(settings: &mut Vec<Setting>, name: &str, value: &str) {
    let plain = dbdyno_model::setting::plain_name(name);
    let is_same = |setting: &Setting| match setting {
        Setting::Raw(known, _) => dbdyno_model::setting::plain_name(known) == plain,
        other => other.name() == name,
    };
    let known = settings.iter_mut().find(|setting| is_same(setting));
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
    let neutral = (name == ALLOCATOR).then(|| Setting::neutral(name, value)).flatten();
    neutral.unwrap_or_else(|| Setting::Raw(name.to_owned(), value.to_owned()))
}

/// Whether an arm is told what the other one has of a suspect.
pub(crate) fn is_told(spec: &ArmSpec, direction: Direction, suspect: &Suspect) -> bool {
    let is = |(name, value): &(String, String)| match &spec.target {
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
pub fn taken(
    suspect: &Suspect,
    direction: Direction,
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
    let is_meant = |fact: &&String| told(fact).is_some() || !fact.starts_with("variable.");
    suspect.facts.iter().filter(is_meant).all(|fact| {
        let wanted = match (like.facts.get(fact), told(fact)) {
            (None, Some((_, value))) => value,
            (wanted, _) => wanted.map_or("", String::as_str),
        };
        let found = arm.get(fact);
        let number = |text: &str| text.parse::<f64>().ok();
        let is_number = number(wanted).is_some() && number(wanted) == number(found);
        let is_switch = fact.ends_with(SWITCHES);
        wanted.eq_ignore_ascii_case(found) || is_number || (is_switch && has_all(lines, found))
    })
}

fn has_all(lines: &[(String, String)], value: &str) -> bool {
    let has = |wanted: &str| value.split(',').any(|part| part.trim() == wanted);
    lines.iter().all(|(_, wanted)| has(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let direction = Direction::TestAsBase;
        let one = made_equal(&test, direction, [&suspects[0]]);
        assert!(
            one.to_string().ends_with("loose_optimizer_switch=mrr_cost_based=on,mrr=on"),
            "{one}"
        );
        assert!(is_told(&one, direction, &suspects[0]) && !is_told(&one, direction, &suspects[1]));
        let both = made_equal(&test, direction, &suspects);
        assert!(suspects.iter().all(|one| is_told(&both, direction, one)), "{both}");
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
        assert!(!taken(&switch, Direction::TestAsBase, &like, &absent));
        off.facts.insert("variable.query_cache_type".to_owned(), "OFF".to_owned());
        assert!(taken(&switch, Direction::BaseAsTest, &absent, &off));
        assert!(!taken(&switch, Direction::BaseAsTest, &absent, &like));
    }
}
