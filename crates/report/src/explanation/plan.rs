//! A plan that changed, in sentences: in what, where the optimizers part, and what brings the plan
//! of base back.

use dbdyno_model::{PlanCause, PlanChange, PlanClass, PlanParting, PlanRemedy, StatisticsOf};

/// What is said of a plan that changed, a paragraph each.
pub(crate) fn notes(change: &PlanChange) -> Vec<String> {
    let statement = change.statement;
    let shown = |text: &str| if text.is_empty() { "nothing".to_owned() } else { text.to_owned() };
    let (base, test) = (shown(&change.base), shown(&change.test));
    let mut notes = vec![format!("statement {statement}: {}: {base} → {test}", what(change.class))];
    let parting = change.parting.as_ref().map(parting);
    notes.extend(parting.map(|note| format!("statement {statement}: {note}")));
    notes.extend(why(change));
    notes
}

/// What brings the plan of base back, in a sentence.
pub(crate) fn why(change: &PlanChange) -> Option<String> {
    let cause = cause(change.cause.as_ref()?, change.class);
    Some(format!("statement {}: {cause}", change.statement))
}

/// Base beside test: what it is, the plans, and where the optimizers part.
pub(crate) fn rows(change: &PlanChange) -> Vec<[String; 3]> {
    let what = format!("statement {}: {}", change.statement, what(change.class));
    let mut rows = vec![[what, change.base.clone(), change.test.clone()]];
    rows.extend(change.parting.as_ref().map(|one| {
        let [base, test] = [&one.base, &one.test].map(side);
        [format!("the optimizers part at the {}", one.at), base, test]
    }));
    rows
}

fn side(side: &Option<String>) -> String {
    side.clone().unwrap_or_else(|| "not looked at".to_owned())
}

fn what(class: PlanClass) -> &'static str {
    match class {
        PlanClass::Shape => "the plan has another shape",
        PlanClass::Bounds => "the plan has the same shape and reads between other bounds",
        PlanClass::Estimate => "the plan is the same and expects another number of rows",
        PlanClass::Misestimate => {
            "a warning: the plan is the same, and one arm meets other rows than it expects"
        }
    }
}

fn parting(one: &PlanParting) -> String {
    format!(
        "the optimizers part at the {}: base {}; test {}",
        one.at,
        side(&one.base),
        side(&one.test)
    )
}

fn cause(one: &PlanCause, class: PlanClass) -> String {
    let plan = match class {
        PlanClass::Shape => "base's shape of the plan",
        _ => "base's plan",
    };
    let untried = one.untried.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    let Some(PlanRemedy { settings, statistics }) = &one.remedy else {
        let statistics = if one.untried.is_some() { "" } else { " and no statistics of base" };
        let left = if one.untried.is_some() { "the code or the statistics" } else { "the code" };
        return format!(
            "no setting of the session{statistics} brings {plan} back: it is {left}{untried}"
        );
    };
    let settings = settings.join(", ");
    match (statistics, settings.is_empty()) {
        (StatisticsOf::Base, true) => {
            format!("it is the statistics: with those of base, test takes {plan}")
        }
        (StatisticsOf::Base, false) => {
            format!("with {settings} and the statistics of base, test takes {plan}")
        }
        (StatisticsOf::Itself, _) => format!("with {settings}, test takes {plan}{untried}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(cause: Option<PlanCause>) -> PlanChange {
        PlanChange {
            statement: 2,
            class: PlanClass::Shape,
            base: "range t2.b".to_owned(),
            test: "ALL t2.-".to_owned(),
            parting: Some(PlanParting {
                at: "range of t2.b".to_owned(),
                base: Some("taken (? <= b <= ?, rows 57, cost 20.2)".to_owned()),
                test: None,
            }),
            cause,
        }
    }

    #[test]
    fn a_change_is_told_with_its_parting_and_its_cause() {
        let remedy = |settings: &[&str], statistics| {
            let settings = settings.iter().map(|one| (*one).to_owned()).collect();
            Some(PlanRemedy { settings, statistics })
        };
        for (remedy, untried, said) in [
            (
                remedy(&["optimizer_switch='mrr=off'"], StatisticsOf::Itself),
                None,
                "with optimizer_switch='mrr=off', test takes base's shape of the plan",
            ),
            (
                remedy(&[], StatisticsOf::Base),
                None,
                "it is the statistics: with those of base, test takes base's shape of the plan",
            ),
            (
                None,
                None,
                "no setting of the session and no statistics of base brings base's shape of the \
                 plan back: it is the code",
            ),
            (
                None,
                Some("too old".to_owned()),
                "no setting of the session brings base's shape of the plan back: it is the code or \
                 the statistics (too old)",
            ),
        ] {
            let told = notes(&change(Some(PlanCause { remedy, untried })));
            let expected = [
                "statement 2: the plan has another shape: range t2.b → ALL t2.-".to_owned(),
                "statement 2: the optimizers part at the range of t2.b: base taken (? <= b <= ?, \
                 rows 57, cost 20.2); test not looked at"
                    .to_owned(),
                format!("statement 2: {said}"),
            ];
            assert_eq!(told, expected);
        }
        assert_eq!(notes(&change(None)).len(), 2, "what was not tried is not told");
        let rows = rows(&change(None));
        assert_eq!(rows[0], ["statement 2: the plan has another shape", "range t2.b", "ALL t2.-"]);
        assert_eq!(rows[1][2], "not looked at");
    }
}
