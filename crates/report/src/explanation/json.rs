//! An explanation as JSON, schema 1 of explanations: the names are a contract.

use serde::Serialize;

use dbdyno_model::experiment::Sign;
use dbdyno_model::{
    DeadlockCounts, DifferenceAccount, Explanation, FactComparison, FactWorth, FoundCause,
    HistogramDifference, Lead, Ledger, LedgerLine, LineStanding, PerArm, PlanCause, PlanChange,
    Remedy, RemedyCell, RunnerUp, StatisticsOf, Trial, Worth,
};

/// Version of the JSON contract of explanations.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    explanations: Vec<ExplanationJson<'a>>,
}

/// An explanation; also part of other documents.
#[derive(Serialize)]
pub(crate) struct ExplanationJson<'a> {
    run: &'a str,
    load: &'a str,
    clients: u32,
    base: &'a str,
    test: &'a str,
    accounts: Vec<AccountJson<'a>>,
    tried: usize,
    least_cost_share: f64,
    /// What the facts of the cell point to.
    prior: Option<PriorJson<'a>>,
    /// Why the servers are not searched for a cause.
    limit: Option<&'a str>,
    leads: Vec<LeadJson<'a>>,
    remedy: Option<RemedyJson<'a>>,
    untried: Vec<UntriedJson<'a>>,
    plans: Vec<PlanJson<'a>>,
    /// Missing where processor time was not observed.
    ledger: Option<LedgerJson<'a>>,
    unwaited: Option<&'a str>,
    work: Vec<FactJson>,
    deadlocks: Vec<DeadlockJson<'a>>,
    blockers: BlockersJson<'a>,
    /// Whether what accounts call code is known to be that, and what else it may be.
    code_is: &'static str,
    code_or: &'a [String],
    code: Vec<CodeJson<'a>>,
    /// Shares without a name, where they are too unequal for `code` to be told.
    code_nameless: Option<NamelessJson>,
    trials: Vec<TrialJson<'a>>,
    /// Why it is not complete.
    open: Option<&'a str>,
}

/// What was tried first, and why.
#[derive(Serialize)]
struct PriorJson<'a> {
    points_to: &'a [&'static str],
    why: &'a str,
    first: &'a [String],
}

#[derive(Serialize)]
struct AccountJson<'a> {
    witness: &'static str,
    total: WorthJson,
    causes: Vec<CauseJson<'a>>,
    together: WorthJson,
    not_told_apart: Vec<CauseJson<'a>>,
    others: WorthJson,
    others_alone: Option<WorthJson>,
    code: WorthJson,
    interactions: Vec<InteractionJson<'a>>,
}

/// A share of the cost of an operation in base, and points of rQPS.
#[derive(Serialize)]
struct WorthJson {
    cost_share: f64,
    cost_share_low: f64,
    cost_share_high: f64,
    points: f64,
    points_low: f64,
    points_high: f64,
}

#[derive(Serialize)]
struct CauseJson<'a> {
    name: &'a str,
    base: &'a str,
    test: &'a str,
    direction: &'static str,
    told: Vec<String>,
    #[serde(flatten)]
    worth: WorthJson,
    alone: WorthJson,
}

#[derive(Serialize)]
struct InteractionJson<'a> {
    names: &'a [String; 2],
    each: [WorthJson; 2],
    together: WorthJson,
    only_together: bool,
    #[serde(flatten)]
    worth: WorthJson,
}

#[derive(Serialize)]
struct UntriedJson<'a> {
    name: &'a str,
    base: Option<&'a str>,
    test: Option<&'a str>,
    why: &'a str,
    condition: bool,
}

/// A difference without a measured share.
#[derive(Serialize)]
struct LeadJson<'a> {
    name: &'a str,
    base: Option<&'a str>,
    test: Option<&'a str>,
    advice: &'a str,
}

#[derive(Serialize)]
struct RemedyJson<'a> {
    lines: &'a [String],
    /// Where it was measured.
    run: Option<&'a str>,
    witness: Option<&'static str>,
    cells: Vec<RemedyCellJson<'a>>,
    cells_left: usize,
}

#[derive(Serialize)]
struct RemedyCellJson<'a> {
    load: &'a str,
    clients: u32,
    ratio: f64,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    verdict: &'static str,
}

#[derive(Serialize)]
pub(crate) struct PlanJson<'a> {
    statement: u32,
    class: &'static str,
    base: &'a str,
    test: &'a str,
    parting: Option<PartingJson<'a>>,
    cause: Option<PlanCauseJson<'a>>,
    histograms: Vec<HistogramJson<'a>>,
    runner_up: Sides<Option<RunnerUpJson<'a>>>,
}

/// One of each arm.
#[derive(Serialize)]
pub(crate) struct Sides<T> {
    pub(crate) base: T,
    pub(crate) test: T,
}

/// A column of which the optimizers know different things.
#[derive(Serialize)]
struct HistogramJson<'a> {
    column: &'a str,
    base: &'a str,
    test: &'a str,
}

/// The best plan that was not taken.
#[derive(Serialize)]
pub(crate) struct RunnerUpJson<'a> {
    what: &'a str,
    cost: f64,
    other_cost: f64,
    times: Option<f64>,
}

#[derive(Serialize)]
struct PartingJson<'a> {
    at: &'a str,
    base: Option<&'a str>,
    test: Option<&'a str>,
}

#[derive(Serialize)]
struct PlanCauseJson<'a> {
    /// Missing where nothing brings the plan of base back.
    settings: Option<&'a [String]>,
    /// Prices of the optimizer, which are those of a whole server.
    costs: Option<&'a [String]>,
    statistics_of_base: Option<bool>,
    histograms_of_base: Option<bool>,
    untried: Option<&'a str>,
}

#[derive(Serialize)]
struct LedgerJson<'a> {
    lines: Vec<LineJson<'a>>,
    total: LineJson<'a>,
    rest_share: f64,
    rqps: f64,
    rqps_of_work: f64,
    rqps_of_work_low: f64,
    rqps_of_work_high: f64,
}

#[derive(Serialize)]
struct LineJson<'a> {
    name: &'a str,
    /// Whether it is a part of the line by itself before it.
    is_part: bool,
    base_us: f64,
    test_us: f64,
    difference_us: f64,
    difference_us_low: f64,
    difference_us_high: f64,
}

/// Deadlocks of one signature.
#[derive(Serialize)]
struct DeadlockJson<'a> {
    signature: &'a str,
    base: Option<u64>,
    test: Option<u64>,
}

/// Transactions of others, those who wait beneath whom they wait for.
#[derive(Serialize)]
struct BlockersJson<'a> {
    base: &'a [String],
    test: &'a [String],
}

/// What servers say that they did.
#[derive(Serialize)]
struct FactJson {
    fact: &'static str,
    unit: &'static str,
    kind: &'static str,
    base: Option<f64>,
    test: Option<f64>,
    ratio: Option<f64>,
    ratio_low: Option<f64>,
    ratio_high: Option<f64>,
    sign: Option<&'static str>,
    telling: bool,
}

/// Shares of instructions without a name.
#[derive(Serialize)]
struct NamelessJson {
    base: f64,
    test: f64,
}

#[derive(Serialize)]
struct CodeJson<'a> {
    function: &'a str,
    matched: &'static str,
    instructions_per_op: f64,
}

#[derive(Serialize)]
struct TrialJson<'a> {
    run: &'a str,
    witness: &'static str,
    direction: &'static str,
    equal: &'a [String],
    cost_share: Option<f64>,
    why: Option<&'a str>,
}

/// The explanations as JSON, indented, ending with a line feed.
pub fn explanation_json(all: &[Explanation]) -> String {
    let document =
        Document { schema: SCHEMA, explanations: all.iter().map(explanation_entry).collect() };
    crate::json::json_text(&document)
}

pub(crate) fn explanation_entry(of: &Explanation) -> ExplanationJson<'_> {
    let untried = of.untried.iter().map(|one| UntriedJson {
        name: &one.name,
        base: one.base.as_deref(),
        test: one.test.as_deref(),
        why: &one.why,
        condition: one.is_condition,
    });
    let code = of.code.iter().map(|one| CodeJson {
        function: &one.name,
        matched: one.matched.name(),
        instructions_per_op: one.own_per_op,
    });
    ExplanationJson {
        run: &of.run.0,
        load: &of.cell.load,
        clients: of.cell.clients,
        base: &of.labels[0],
        test: &of.labels[1],
        accounts: of.accounts.iter().map(account).collect(),
        tried: of.tried,
        least_cost_share: of.least,
        prior: of.prior.as_ref().map(|prior| PriorJson {
            points_to: &prior.points_to,
            why: &prior.why,
            first: &prior.first,
        }),
        limit: of.limit.as_deref(),
        leads: of.leads.iter().map(lead).collect(),
        remedy: of.remedy.as_ref().map(remedy),
        untried: untried.collect(),
        plans: of.plans.iter().map(plan).collect(),
        ledger: of.ledger.as_ref().map(ledger),
        unwaited: of.unwaited.as_deref(),
        work: of.work.iter().map(fact).collect(),
        deadlocks: of.deadlocks.iter().map(deadlock).collect(),
        blockers: BlockersJson { base: &of.blockers.base, test: &of.blockers.test },
        code_is: of.code_standing.name(),
        code_or: of.code_standing.untried_conditions(),
        code: code.collect(),
        code_nameless: of.nameless.map(|PerArm { base, test }| NamelessJson { base, test }),
        trials: of.trials.iter().map(trial).collect(),
        open: of.open.as_deref(),
    }
}

/// A plan that changed, for explanations and differences alike.
pub(crate) fn plan(of: &PlanChange) -> PlanJson<'_> {
    let parting = of.parting.as_ref().map(|one| PartingJson {
        at: &one.at,
        base: one.base.as_deref(),
        test: one.test.as_deref(),
    });
    PlanJson {
        statement: of.statement,
        class: of.class.name(),
        base: &of.base,
        test: &of.test,
        parting,
        cause: of.cause.as_ref().map(plan_cause),
        histograms: of.histograms.iter().map(histogram).collect(),
        runner_up: Sides {
            base: of.runner_up.base.as_ref().map(runner_up),
            test: of.runner_up.test.as_ref().map(runner_up),
        },
    }
}

fn plan_cause(of: &PlanCause) -> PlanCauseJson<'_> {
    let remedy = of.remedy.as_ref();
    let is_of = |whose| remedy.map(|remedy| remedy.statistics == whose);
    PlanCauseJson {
        settings: remedy.map(|remedy| &*remedy.settings),
        costs: remedy.map(|remedy| &*remedy.costs),
        statistics_of_base: is_of(StatisticsOf::Base),
        histograms_of_base: is_of(StatisticsOf::BaseOfColumns),
        untried: of.untried.as_deref(),
    }
}

fn histogram(of: &HistogramDifference) -> HistogramJson<'_> {
    HistogramJson { column: &of.column, base: &of.base, test: &of.test }
}

/// What an optimizer would have taken next, for explanations and differences alike.
pub(crate) fn runner_up(of: &RunnerUp) -> RunnerUpJson<'_> {
    let times = Some(of.cost_ratio()).filter(|times| times.is_finite());
    RunnerUpJson { what: &of.what, cost: of.cost, other_cost: of.other, times }
}

fn account(of: &DifferenceAccount) -> AccountJson<'_> {
    AccountJson {
        witness: of.witness.name(),
        total: worth(&of.total),
        causes: of.causes.iter().map(cause).collect(),
        together: worth(&of.together),
        not_told_apart: of.not_told_apart.iter().map(cause).collect(),
        others: worth(&of.others),
        others_alone: of.others_alone.as_ref().map(worth),
        code: worth(&of.code),
        interactions: of
            .interactions
            .iter()
            .map(|one| InteractionJson {
                names: &one.names,
                each: [worth(&one.each[0]), worth(&one.each[1])],
                together: worth(&one.together),
                only_together: one.is_only_together(),
                worth: worth(&one.worth),
            })
            .collect(),
    }
}

fn cause(of: &FoundCause) -> CauseJson<'_> {
    let lines = of.suspect.lines(of.direction).iter();
    CauseJson {
        name: &of.suspect.name,
        base: &of.suspect.base,
        test: &of.suspect.test,
        direction: of.direction.name(),
        told: lines.map(|(name, value)| format!("{name}={value}")).collect(),
        worth: worth(&of.worth),
        alone: worth(&of.alone),
    }
}

fn worth(part: &Worth) -> WorthJson {
    WorthJson {
        cost_share: part.cost.estimate,
        cost_share_low: part.cost.low,
        cost_share_high: part.cost.high,
        points: part.points.estimate,
        points_low: part.points.low,
        points_high: part.points.high,
    }
}

fn lead(of: &Lead) -> LeadJson<'_> {
    LeadJson {
        name: &of.name,
        base: of.base.as_deref(),
        test: of.test.as_deref(),
        advice: of.advice,
    }
}

fn fact(of: &FactComparison) -> FactJson {
    let finite = |value: f64| value.is_finite().then_some(value);
    FactJson {
        fact: of.fact.name,
        unit: of.fact.unit,
        kind: of.fact.kind.name(),
        base: of.base,
        test: of.test,
        ratio: of.ratio_to_base().and_then(finite),
        ratio_low: of.ratio.and_then(|ratio| finite(ratio.low)),
        ratio_high: of.ratio.and_then(|ratio| finite(ratio.high)),
        sign: of.sign.map(Sign::name),
        telling: of.worth == FactWorth::Telling,
    }
}

fn deadlock(of: &DeadlockCounts) -> DeadlockJson<'_> {
    DeadlockJson { signature: &of.signature, base: of.count.base, test: of.count.test }
}

fn remedy(of: &Remedy) -> RemedyJson<'_> {
    let elsewhere = of.elsewhere.as_ref();
    let cells = elsewhere.map_or(&[][..], |elsewhere| &elsewhere.cells);
    RemedyJson {
        lines: &of.lines,
        run: elsewhere.map(|elsewhere| elsewhere.run.0.as_str()),
        witness: elsewhere.map(|elsewhere| elsewhere.witness.name()),
        cells: cells.iter().map(remedy_cell).collect(),
        cells_left: of.cells_left,
    }
}

fn remedy_cell(of: &RemedyCell) -> RemedyCellJson<'_> {
    let finite = |bound: f64| bound.is_finite().then_some(bound);
    RemedyCellJson {
        load: &of.cell.load,
        clients: of.cell.clients,
        ratio: of.ratio.estimate,
        ratio_low: finite(of.ratio.low),
        ratio_high: finite(of.ratio.high),
        verdict: of.verdict.name(),
    }
}

fn ledger(of: &Ledger) -> LedgerJson<'_> {
    LedgerJson {
        lines: of.lines.iter().map(line).collect(),
        total: line(&of.total),
        rest_share: of.rest_share,
        rqps: of.rqps,
        rqps_of_work: of.rqps_of_work.estimate,
        rqps_of_work_low: of.rqps_of_work.low,
        rqps_of_work_high: of.rqps_of_work.high,
    }
}

fn trial(of: &Trial) -> TrialJson<'_> {
    TrialJson {
        run: &of.run.0,
        witness: of.witness.name(),
        direction: of.direction.name(),
        equal: &of.equal,
        cost_share: of.worth.map(|worth| worth.cost.estimate),
        why: of.why.as_deref(),
    }
}

fn line(of: &LedgerLine) -> LineJson<'_> {
    LineJson {
        name: &of.name,
        is_part: of.is_part == LineStanding::OfLine,
        base_us: of.us.base,
        test_us: of.us.test,
        difference_us: of.difference_us.estimate,
        difference_us_low: of.difference_us.low,
        difference_us_high: of.difference_us.high,
    }
}
