//! What is permitted although a rule forbids it.

use super::rule::{Rule, Violation};

/// One permitted case.
pub(super) struct Exception {
    pub rule: Rule,
    /// The file.
    pub path: &'static str,
    /// What the violation says, or a part of it.
    pub what: &'static str,
    /// Why it is right all the same.
    pub reason: &'static str,
}

/// All of them. One that matches nothing is itself a violation.
pub(super) const EXCEPTIONS: &[Exception] = &[];

/// Takes away what is permitted, and adds the exceptions that permit nothing.
pub(super) fn apply_exceptions(
    violations: Vec<Violation>,
    exceptions: &[Exception],
) -> Vec<Violation> {
    let unused = exceptions.iter().filter(|exception| {
        exception.reason.is_empty()
            || !violations.iter().any(|found| is_permitted_by(exception, found))
    });
    let unused = unused.map(|exception| {
        let what = format!(
            "the exception for {:?} in {} ({:?}) permits nothing",
            exception.rule, exception.path, exception.reason
        );
        Violation::new(Rule::Exception, "xtask/src/tidy/exceptions.rs", 1, what)
    });
    let unused: Vec<Violation> = unused.collect();
    let left = violations
        .into_iter()
        .filter(|found| !exceptions.iter().any(|exception| is_permitted_by(exception, found)));
    left.chain(unused).collect()
}

fn is_permitted_by(exception: &Exception, violation: &Violation) -> bool {
    exception.rule == violation.rule
        && exception.path == violation.path
        && violation.what.contains(exception.what)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXCEPTION: Exception =
        Exception { rule: Rule::Clock, path: "a.rs", what: "reads", reason: "a good one" };

    #[test]
    fn an_exception_permits_its_case_and_no_other() {
        let own = Violation::new(Rule::Clock, "a.rs", 1, "reads a clock");
        let others = [
            Violation::new(Rule::Print, "a.rs", 1, "reads a clock"),
            Violation::new(Rule::Clock, "b.rs", 1, "reads a clock"),
            Violation::new(Rule::Clock, "a.rs", 1, "something else"),
        ];
        let mut all = others.to_vec();
        all.push(own);
        assert_eq!(apply_exceptions(all, &[EXCEPTION]), others);
    }

    #[test]
    fn an_exception_that_is_no_longer_needed_fails() {
        let left = apply_exceptions(Vec::new(), &[EXCEPTION]);
        assert_eq!((left.len(), left[0].rule), (1, Rule::Exception));
        assert!(left[0].what.contains("a good one"));
    }

    #[test]
    fn an_exception_without_a_reason_fails() {
        let silent = Exception { reason: "", ..EXCEPTION };
        let own = Violation::new(Rule::Clock, "a.rs", 1, "reads a clock");
        assert_eq!(apply_exceptions(vec![own], &[silent])[0].rule, Rule::Exception);
    }
}
