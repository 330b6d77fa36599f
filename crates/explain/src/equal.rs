//! Arms in which suspects were made equal, and whether they took it.

use dbdyno_model::{ArmSpec, Design, Environment, Setting, Suspect, Target};

/// Switches of the planner are told as one value.
const SWITCHES: &str = "optimizer_switch";

/// The arm, told what base has of these suspects.
///
/// # Panics
/// On a server by URL, of which there are no suspects.
pub fn made_equal<'a>(test: &ArmSpec, suspects: impl IntoIterator<Item = &'a Suspect>) -> ArmSpec {
    let mut spec = test.clone();
    for (name, value) in suspects.into_iter().flat_map(|suspect| &suspect.told) {
        match &mut spec.target {
            Target::Release(release) => tell(&mut release.settings, name, value),
            Target::Engine(design) => {
                let field = format!("{name}={value}");
                let mut fields = design.options();
                fields.retain(|(known, _)| known != name);
                let others = fields.iter().map(|(name, value)| format!("{name}={value}"));
                let text: Vec<String> = others.chain([field]).collect();
                *design = text.join("&").parse::<Design>().expect("a value that base has");
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
        _ => false,
    };
    let known = settings.iter_mut().find(|setting| is_same(setting));
    match known {
        Some(Setting::Raw(_, all)) if plain == SWITCHES => {
            all.push(',');
            all.push_str(value);
        }
        Some(setting) => *setting = Setting::Raw(name.to_owned(), value.to_owned()),
        None => settings.push(Setting::Raw(name.to_owned(), value.to_owned())),
    }
}

/// Whether an arm is told what base has of a suspect.
pub(crate) fn is_told(spec: &ArmSpec, suspect: &Suspect) -> bool {
    let is = |(name, value): &(String, String)| match &spec.target {
        Target::Release(release) => release.settings.iter().any(|setting| match setting {
            Setting::Raw(known, all) if known == name && name.ends_with(SWITCHES) => {
                all.split(',').any(|part| part == value)
            }
            Setting::Raw(known, all) => known == name && all == value,
            _ => false,
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
    suspect.told.iter().all(is)
}

/// Whether an arm has taken what it was told: the facts of the suspect are those of base now. What
/// has no facts is taken at its word.
pub fn taken(suspect: &Suspect, base: &Environment, arm: &Environment) -> bool {
    let told: Vec<&str> =
        suspect.told.iter().map(|(name, _)| name.strip_prefix("loose_").unwrap_or(name)).collect();
    let is_told = |fact: &&String| {
        told.iter().any(|name| fact.strip_prefix("variable.") == Some(name))
            || !fact.starts_with("variable.")
    };
    suspect.facts.iter().filter(is_told).all(|fact| {
        let (base, arm) = (base.get(fact), arm.get(fact));
        let number = |text: &str| text.parse::<f64>().ok();
        let is_number = number(base).is_some() && number(base) == number(arm);
        let is_switch = fact.ends_with(SWITCHES);
        base.eq_ignore_ascii_case(arm) || is_number || (is_switch && has_switches(suspect, arm))
    })
}

fn has_switches(suspect: &Suspect, value: &str) -> bool {
    let has = |wanted: &str| value.split(',').any(|part| part.trim() == wanted);
    suspect.told.iter().all(|(_, wanted)| has(wanted))
}
