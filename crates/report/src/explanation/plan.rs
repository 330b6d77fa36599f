//! A plan that changed, in sentences: in what, where the optimizers part, and what brings the plan
//! of base back.

use dbdyno_model::{
    PlanCause, PlanChange, PlanClass, PlanParting, PlanRemedy, RunnerUp, StatisticsOf,
};

/// What is said of a plan that changed, a paragraph each.
pub(crate) fn change_notes(change: &PlanChange) -> Vec<String> {
    let statement = change.statement;
    let (base, test) = (shown_text(&change.base), shown_text(&change.test));
    let mut notes = vec![format!("statement {statement}: {}: {base} → {test}", what(change.class))];
    let parting = change.parting.as_ref().map(parting);
    notes.extend(parting.map(|note| format!("statement {statement}: {note}")));
    notes.extend(cause_sentence(change));
    notes.extend(suspected(change));
    let arms = [("base", &change.runner_up.base), ("test", &change.runner_up.test)];
    let next = |(arm, one): (&str, &Option<RunnerUp>)| {
        one.as_ref().map(|one| format!("on {arm} {}", runner_up(one)))
    };
    let next: Vec<String> = arms.into_iter().filter_map(next).collect();
    if !next.is_empty() {
        notes.push(format!("statement {statement}: next to these plans: {}", next.join("; ")));
    }
    notes
}

fn shown_text(text: &str) -> String {
    if text.is_empty() { "nothing".to_owned() } else { text.to_owned() }
}

/// What an optimizer would have taken next: `access of t: scan at 1.04 times the cost`.
pub(crate) fn runner_up(one: &RunnerUp) -> String {
    let times = one.cost_ratio();
    let decimals = if times < 10.0 { 2 } else { 0 };
    format!("{} at {times:.decimals$} times the cost", one.what)
}

/// Columns of which the optimizers know different things, and what that makes of estimates.
fn suspected(change: &PlanChange) -> Option<String> {
    let columns: Vec<String> = change
        .histograms
        .iter()
        .map(|one| format!("{}: {}, on test {}", one.column, one.base, one.test))
        .collect();
    let statement = change.statement;
    (!columns.is_empty()).then(|| {
        let what = "suspected: the optimizers know different things of these columns";
        format!("statement {statement}: {what}: {}", columns.join("; "))
    })
}

/// What brings the plan of base back, in a sentence.
pub(crate) fn cause_sentence(change: &PlanChange) -> Option<String> {
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
    side.clone().unwrap_or_else(|| "not examined".to_owned())
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
        PlanClass::Misestimate => "base's estimates",
        PlanClass::Bounds | PlanClass::Estimate => "base's plan",
    };
    let untried = one.untried.as_ref().map_or(String::new(), |why| format!(" ({why})"));
    let Some(PlanRemedy { settings, costs, statistics }) = &one.remedy else {
        let statistics = if one.untried.is_some() { "" } else { " and no statistics of base" };
        let left = if one.untried.is_some() { "the code or the statistics" } else { "the code" };
        return format!(
            "no setting of the session{statistics} brings {plan} back: it is {left}{untried}"
        );
    };
    let told = settings.iter().chain(costs).cloned().collect::<Vec<_>>().join(", ");
    let whose = match statistics {
        StatisticsOf::Itself => return format!("with {told}, test takes {plan}{untried}"),
        StatisticsOf::Base => "statistics",
        StatisticsOf::BaseOfColumns => "histograms",
    };
    if told.is_empty() {
        format!("it is the {whose}: with those of base, test takes {plan}")
    } else {
        format!("with {told} and the {whose} of base, test takes {plan}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::{HistogramDifference, PerArm};

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
            histograms: Vec::new(),
            runner_up: PerArm::default(),
        }
    }

    #[test]
    fn a_change_is_told_with_its_parting_and_its_cause() {
        let remedy = |settings: &[&str], statistics| {
            let settings = settings.iter().map(|one| (*one).to_owned()).collect();
            Some(PlanRemedy { settings, costs: Vec::new(), statistics })
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
                remedy(&[], StatisticsOf::BaseOfColumns),
                None,
                "it is the histograms: with those of base, test takes base's shape of the plan",
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
            let told = change_notes(&change(Some(PlanCause { remedy, untried })));
            let expected = [
                "statement 2: the plan has another shape: range t2.b → ALL t2.-".to_owned(),
                "statement 2: the optimizers part at the range of t2.b: base taken (? <= b <= ?, \
                 rows 57, cost 20.2); test not examined"
                    .to_owned(),
                format!("statement 2: {said}"),
            ];
            assert_eq!(told, expected);
        }
        assert_eq!(change_notes(&change(None)).len(), 2, "what was not tried is not told");
        let mut more = change(None);
        more.histograms.push(HistogramDifference {
            column: "t2.b".to_owned(),
            base: "JSON_HB, 100 buckets".to_owned(),
            test: "none".to_owned(),
        });
        let what = "access of t2: scan".to_owned();
        more.runner_up.test = Some(RunnerUp { what, cost: 100.0, other: 104.0 });
        assert_eq!(
            change_notes(&more)[2..],
            [
                "statement 2: suspected: the optimizers know different things of these columns: \
                 t2.b: JSON_HB, 100 buckets, on test none",
                "statement 2: next to these plans: on test access of t2: scan at 1.04 times the \
                 cost",
            ]
        );
        let rows = rows(&change(None));
        assert_eq!(rows[0], ["statement 2: the plan has another shape", "range t2.b", "ALL t2.-"]);
        assert_eq!(rows[1][2], "not examined");
    }
}
