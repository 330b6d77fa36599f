//! Who built the servers: two versions from two builders differ in more than their version.

use dbdyno_model::{ArmSpec, PerArm, Severity, Target, Warning};

use crate::station::Station;

/// Under which name a station's environment has the kind of its source.
pub(crate) const SOURCE: &str = "server.source";

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
