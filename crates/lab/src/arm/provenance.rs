//! Where arms come from: who built the servers, for two versions from two builders differ in more
//! than their version, and whose tables are in an image.

use dbdyno_model::{ArmSpec, Arms, Pairing, PerArm, Plan, Severity, Target, Warning};

use super::station::{SOURCE, Station};

/// Tells that two releases of one product come from different builders.
pub(crate) fn provenance_warnings(plan: &Plan, stations: &Arms<Station>) -> Vec<Warning> {
    let source = |arm| Some(stations.get(arm)?.environment.get(SOURCE).to_owned());
    plan.against_base()
        .into_iter()
        .filter_map(|pairing| {
            let (base, test) = (source(pairing.base)?, source(pairing.test)?);
            differ(&plan.pair_specs(pairing), pairing, &base, &test)
        })
        .collect()
}

fn differ(arms: &PerArm<&ArmSpec>, names: Pairing, from: &str, to: &str) -> Option<Warning> {
    let Target::Release(base) = &arms.base.target else { return None };
    let Target::Release(test) = &arms.test.target else { return None };
    if base.product != test.product || from == to {
        return None;
    }
    let (name, version) = (test.product.name(), test.version.split('@').next().unwrap_or_default());
    let text = format!(
        "{} comes from {from}, {} from {to}: compiler, flags and libraries differ beside the \
         version; `dbdyno server ls` shows whether one source has both, which is then named as \
         {name}:{version}@{from}",
        names.base, names.test
    );
    Some(Warning::new(Severity::Caution, "different-builders", text))
}

/// What the reader of the run must know: where the tables come from.
pub(crate) fn images(stations: &Arms<Station>) -> Vec<Warning> {
    let texts: Vec<Option<String>> = stations.values().map(Station::image_description).collect();
    if let Some(Some(first)) = texts.first()
        && texts.iter().all(|text| text.as_ref() == Some(first))
    {
        let all = if texts.len() == 2 { "both" } else { "all" };
        return vec![image_note(format!("{all} arms started from the image {first}"))];
    }
    stations
        .iter()
        .filter_map(|(arm, station)| {
            Some(image_note(format!(
                "{arm} started from the image {}",
                station.image_description()?
            )))
        })
        .collect()
}

fn image_note(text: String) -> Warning {
    Warning::new(Severity::Note, "image", text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_builders_of_one_product_are_told_of() {
        let told = |base: &str, test: &str, from: &str, to: &str| {
            let arms = PerArm { base: base.parse().unwrap(), test: test.parse().unwrap() };
            differ(&arms.as_ref(), Pairing::USUAL, from, to).map(|warning| warning.text)
        };
        let text = told("postgres:16", "postgres:17@debian", "maven", "debian").unwrap();
        assert!(text.contains("postgres:17@maven"), "{text}");
        assert_eq!(told("postgres:16", "postgres:17", "maven", "maven"), None);
        assert_eq!(told("mysql:5.7", "mariadb:10.2", "npm", "maven"), None);
        assert_eq!(told("mysql://h/d", "mysql:5.7", "", "maven"), None);
    }
}
