//! Where arms come from: who built the servers, for two versions from two builders differ in more
//! than their version, and whose tables are in an image.

use dbdyno_model::{Arm, ArmSpec, PerArm, Severity, Target, Warning};

use super::station::{SOURCE, Station};

/// Tells that two releases of one product come from different builders.
pub(crate) fn warning(arms: &PerArm<ArmSpec>, stations: &PerArm<Station>) -> Option<Warning> {
    let source = |station: &Station| station.environment.get(SOURCE).to_owned();
    differ(arms, &source(&stations.base), &source(&stations.test))
}

fn differ(arms: &PerArm<ArmSpec>, from: &str, to: &str) -> Option<Warning> {
    let Target::Release(base) = &arms.base.target else { return None };
    let Target::Release(test) = &arms.test.target else { return None };
    if base.product != test.product || from == to {
        return None;
    }
    let (name, version) = (test.product.name(), test.version.split('@').next().unwrap_or_default());
    let text = format!(
        "base comes from {from}, test from {to}: compiler, flags and libraries differ beside the \
         version; `dbdyno server ls` shows whether one source has both, which is then named as \
         {name}:{version}@{from}"
    );
    Some(Warning::new(Severity::Caution, "different-builders", text))
}

/// What the reader of the run must know: where the tables come from.
pub(crate) fn images(stations: &PerArm<Station>) -> Vec<Warning> {
    let texts = PerArm::from_fn(|arm| stations[arm].image());
    let note = |text: String| Warning::new(Severity::Note, "image", text);
    match (&texts.base, &texts.test) {
        (Some(base), Some(test)) if base == test => {
            vec![note(format!("both arms started from the image {base}"))]
        }
        _ => {
            let of_arm =
                |arm| Some(note(format!("{arm} started from the image {}", texts[arm].as_ref()?)));
            Arm::BOTH.into_iter().filter_map(of_arm).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_builders_of_one_product_are_told_of() {
        let told = |base: &str, test: &str, from: &str, to: &str| {
            let arms = PerArm { base: base.parse().unwrap(), test: test.parse().unwrap() };
            differ(&arms, from, to).map(|warning| warning.text)
        };
        let text = told("postgres:16", "postgres:17@debian", "maven", "debian").unwrap();
        assert!(text.contains("postgres:17@maven"), "{text}");
        assert_eq!(told("postgres:16", "postgres:17", "maven", "maven"), None);
        assert_eq!(told("mysql:5.7", "mariadb:10.2", "npm", "maven"), None);
        assert_eq!(told("mysql://h/d", "mysql:5.7", "", "maven"), None);
    }
}
