//! Where arms come from: who built the servers, for two versions from two builders differ in more
//! than their version, and whose tables are in an image.

use dbdyno_model::{ArmSpec, Arms, Pairing, PerArm, Plan, ReleaseSpec, Severity, Target, Warning};
use dbdyno_sandbox::{all_offers, may_offer};

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
    let text = format!(
        "{} comes from {from}, {} from {to}: compiler, flags and libraries differ beside the \
         version; {}",
        names.base,
        names.test,
        common_source_advice(base, test, names, from, to)
    );
    Some(Warning::new(Severity::Caution, "different-builders", text))
}

/// How both arms are named so that one builder made them: the one that an arm has already, else
/// another one.
fn common_source_advice(
    base: &ReleaseSpec,
    test: &ReleaseSpec,
    names: Pairing,
    from: &str,
    to: &str,
) -> String {
    if may_have(test, from) {
        return format!("name {} as {}", names.test, release_from(test, from));
    }
    if may_have(base, to) {
        return format!("name {} as {}", names.base, release_from(base, to));
    }
    let mut others = all_offers().into_iter().map(|offer| offer.source.name());
    match others.find(|other| may_have(base, other) && may_have(test, other)) {
        Some(other) => {
            let [base, test] = [base, test].map(|spec| release_from(spec, other));
            format!("name them as {base} and {test}")
        }
        None => "no source that `dbdyno server ls` shows has both".to_owned(),
    }
}

fn may_have(spec: &ReleaseSpec, source: &str) -> bool {
    may_offer(spec.product, asked_version(spec), source)
}

fn release_from(spec: &ReleaseSpec, source: &str) -> String {
    format!("{}:{}@{source}", spec.product.name(), asked_version(spec))
}

fn asked_version(spec: &ReleaseSpec) -> &str {
    spec.version.split('@').next().unwrap_or_default()
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
        assert!(text.ends_with("name test as postgres:17@maven"), "{text}");
        let text = told("mariadb:10.11", "mariadb:11.4", "debian", "maven").unwrap();
        assert!(text.ends_with("name base as mariadb:10.11@maven"), "{text}");
        let text = told("postgres:18", "postgres:17", "system", "files").unwrap();
        assert!(text.ends_with("name them as postgres:18@debian and postgres:17@debian"), "{text}");
        let text = told("mysql:9.7", "mysql:5.5", "debian", "maven").unwrap();
        assert!(text.ends_with("no source that `dbdyno server ls` shows has both"), "{text}");
        assert_eq!(told("postgres:16", "postgres:17", "maven", "maven"), None);
        assert_eq!(told("mysql:5.7", "mariadb:10.2", "npm", "maven"), None);
        assert_eq!(told("mysql://h/d", "mysql:5.7", "", "maven"), None);
    }
}
