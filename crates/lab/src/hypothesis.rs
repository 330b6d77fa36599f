//! Whether two designs of the reference engine ask one question.
//!
//! A hypothesis is two designs that differ in one field. Where they differ in several, the ratio is
//! that of all of them together, and the reader is told so.

use dbdyno_model::{ArmSpec, PerArm, Plan, Severity, Target, Warning};

/// Tells that two designs differ in several fields.
pub(crate) fn hypothesis_warnings(plan: &Plan) -> Vec<Warning> {
    let of_pair = |pairing| {
        let warning = warning(&plan.pair_specs(pairing))?;
        let named = |text: String| {
            if plan.arms.count() == 2 {
                text
            } else {
                format!("{} against {}: {text}", pairing.test, pairing.base)
            }
        };
        Some(Warning { text: named(warning.text), ..warning })
    };
    plan.against_base().into_iter().filter_map(of_pair).collect()
}

fn warning(arms: &PerArm<&ArmSpec>) -> Option<Warning> {
    let (Target::Engine(base), Target::Engine(test)) = (&arms.base.target, &arms.test.target)
    else {
        return None;
    };
    let differences = base.differing_fields(test);
    if differences.len() < 2 {
        return None;
    }
    let fields: Vec<_> =
        differences.iter().map(|(name, base, test)| format!("{name}: {base}, {test}")).collect();
    let text = format!(
        "the designs differ in {} fields ({}), so the result is due to no single one of them: vary \
         one at a time",
        fields.len(),
        fields.join("; ")
    );
    Some(Warning::new(Severity::Caution, "several-mechanisms", text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn designs_that_differ_in_several_fields_are_told_of() {
        let told = |base: &str, test: &str| {
            let arms = PerArm { base: base.parse().unwrap(), test: test.parse().unwrap() };
            warning(&arms.as_ref()).map(|warning| warning.text)
        };
        assert_eq!(told("engine:", "engine:"), None);
        assert_eq!(told("engine:", "engine:?view=csn&slow=5%"), None);
        assert_eq!(told("engine:", "sqlite:"), None);
        let text = told("engine:?device=8ms", "engine:?wake=futex&device=none").unwrap();
        assert!(text.contains("2 fields (wake: group, futex; device: 8ms, none)"), "{text}");
    }
}
