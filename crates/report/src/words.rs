//! What is said in sentences. The same sentences stand in every shape.
//!
//! ```text
//!   one cell      test is slower on point-query at 1 client: 4.9 % fewer queries per second (…)
//!   many cells    6 cells: test is slower on 2, equal on 3; cannot tell on 1
//!                   slower        read-write at 8 clients −4.9 %, …
//! ```
//!
//! A sentence never says more than the interval: where there is none, it says so.

use dbdyno_document::number::{self, GLUE};
use dbdyno_model::Verdict;

use crate::counts;
use crate::view::{CellView, Effect, Fact, Summary, View};

/// Cells that are named in one summary line; the rest are counted.
const NAMED_CELLS_MAX: usize = 6;

/// What stands above everything else.
pub(crate) struct Headline {
    /// How far the run got, if not to its end.
    pub status: Option<String>,
    /// The answer.
    pub sentence: String,
    /// For several cells: word of the verdict, and the cells that it holds for.
    pub classes: Vec<(Verdict, String)>,
}

/// The order in which verdicts are told: bad news first.
const TOLD: [Verdict; 4] = [Verdict::Slower, Verdict::Undecided, Verdict::Faster, Verdict::Equal];

pub(crate) fn headline(view: &View) -> Headline {
    let cells = &view.summary.cells;
    let (sentence, classes) = match cells.as_slice() {
        [] => (nothing(view), vec![]),
        [only] => (verdict_sentence(only, view.summary.budget), vec![]),
        _ => (count_sentence(cells), class_lines(cells)),
    };
    Headline { status: status(view), sentence, classes }
}

/// How far the verdicts of this host are to be trusted, as far as it was looked up.
pub(crate) fn trust_note(summary: &Summary) -> Option<String> {
    let tests = summary.self_tests.filter(|_| !summary.cells.is_empty())?;
    if tests.cells == 0 {
        let text = "trust: no arm was compared with itself on this host yet; in simulation 1 % of \
                    such cells are called slower or faster";
        return Some(text.to_owned());
    }
    let shares = [tests.wrong_share, tests.wrong_share_low, tests.wrong_share_high];
    let [share, low, high] = shares.map(|share| format!("{:.1}", 100.0 * share));
    Some(format!(
        "trust: arms compared with themselves on this host were called slower or faster in {} of \
         {}: {share}{GLUE}% ({low} to {high})",
        tests.wrong,
        count_with_noun(tests.cells, "cell"),
    ))
}

/// Where no rate was measured.
fn nothing(view: &View) -> String {
    let counted = counts::verdict_summary(&view.summary.counts);
    counted.unwrap_or_else(|| "nothing was compared: no cell was measured".to_owned())
}

/// The word that people read.
pub(crate) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Undecided => "cannot tell",
        told => told.name(),
    }
}

pub(crate) fn clients(clients: u32) -> String {
    count_with_noun(u64::from(clients), "client")
}

pub(crate) fn count_with_noun(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{}{GLUE}{noun}{ending}", number::format_fixed(count as f64, 0))
}

pub(crate) fn cell_place(cell: &CellView) -> String {
    format!("{} at {}", cell.load, clients(cell.clients))
}

/// What an op and an event are: the footnote under every table.
const OP: &str = "op: one statement as queries/s counts it, BEGIN and COMMIT included. \
    Latency is per event: one statement, or one whole transaction. KB: 1024 bytes of storage \
    traffic of the server.";

/// What an op is in this run, too.
pub(crate) fn op_definition(view: &View) -> String {
    if view.summary.insert_benchmark.is_empty() {
        OP.to_owned()
    } else {
        format!("{OP} In the load steps of the Insert Benchmark an op is a row.")
    }
}

/// What the signs of the tables mean.
pub(crate) const SIGNS: &str = "±: half of the 95 % interval. ~: not decided. —: could not be \
    observed. ×: test ÷ base, with a 95 % interval where it is judged by itself (higher: test needs \
    more), else without a verdict.";

fn status(view: &View) -> Option<String> {
    let summary = &view.summary;
    let how = match summary.status.as_str() {
        "complete" => return None,
        "interrupted" => "INTERRUPTED RUN: it was stopped",
        _ => "PARTIAL RUN: it did not reach its end",
    };
    let measured: u64 = summary.cells.iter().map(|cell| u64::from(cell.pairs)).sum();
    if view.detail.pairs_planned == 0 {
        let counted = count_with_noun(summary.counts.len() as u64, "load");
        return Some(format!("{how}; instructions were counted of {counted}"));
    }
    let planned = count_with_noun(view.detail.pairs_planned, "planned pair");
    let verb = if measured == 1 { "was" } else { "were" };
    let rests = if measured > 0 { ", and the results use only these" } else { "" };
    Some(format!(
        "{how}; {} of {planned} {verb} measured{rests}",
        number::format_fixed(measured as f64, 0)
    ))
}

/// Settings with which dbdyno says how durable a commit is, and the value that waits for the disk.
const COMMIT_SETTINGS: [(&str, &str); 2] =
    [("setting.innodb_flush_log_at_trx_commit", "1"), ("setting.synchronous_commit", "on")];
/// Kinds of loads that commit nothing.
const READING: [&str; 3] = ["point", "range", "range-aggregate"];

/// That commits do not wait for the disk, where loads write and dbdyno has set the servers so.
pub(crate) fn durability_note(view: &View) -> Option<String> {
    let is_reading =
        |cell: &CellView| cell.group.as_deref().is_some_and(|of| READING.contains(&of));
    if view.summary.cells.iter().all(is_reading) {
        return None;
    }
    let arms = unwaiting_arms(&view.detail.facts)?;
    Some(format!("commits of {arms} do not wait for the disk; with durability=full they do"))
}

/// The arms that dbdyno has told not to wait.
fn unwaiting_arms(facts: &[Fact]) -> Option<&'static str> {
    let (mut base, mut test) = (false, false);
    for fact in facts {
        let Some((_, full)) = COMMIT_SETTINGS.iter().find(|(name, _)| *name == fact.name) else {
            continue;
        };
        base |= fact.base.as_deref().is_some_and(|value| value != *full);
        test |= fact.test.as_deref().is_some_and(|value| value != *full);
    }
    match (base, test) {
        (false, false) => None,
        (true, true) => Some("both arms"),
        (true, false) => Some("base"),
        (false, true) => Some("test"),
    }
}

/// The answer of a cell in one sentence.
pub(crate) fn verdict_sentence(cell: &CellView, budget: Option<f64>) -> String {
    verdict_of(cell, budget, ["base", "test"])
}

/// The same of arms that are called otherwise.
pub(crate) fn verdict_of(cell: &CellView, budget: Option<f64>, [base, test]: [&str; 2]) -> String {
    let place = cell_place(cell);
    let evidence = evidence(cell);
    match cell.verdict.0 {
        Verdict::Slower => format!(
            "{test} is slower on {place}: {} {} {evidence}",
            gap(cell, slower_direction(cell)),
            if is_time(cell) { longer(cell) } else { format!("fewer {}", what(cell)) }
        ),
        Verdict::Faster => format!(
            "{test} is faster on {place}: {} {} {evidence}",
            gap(cell, -slower_direction(cell)),
            if is_time(cell) { shorter(cell) } else { format!("more {}", what(cell)) }
        ),
        Verdict::Equal => format!(
            "{test} equals {base} on {place} within the budget of {}: {} {} {evidence}",
            budget.map_or(number::UNKNOWN.to_owned(), number::percent_as_given),
            cell_change(cell).estimate,
            what(cell)
        ),
        Verdict::Undecided => format!("cannot tell on {place}: {}", doubt(cell)),
    }
}

/// Whether the verdict rests on times, of which more is worse.
fn is_time(cell: &CellView) -> bool {
    cell.response_ratio.is_some()
}

/// The direction in which slower lies.
fn slower_direction(cell: &CellView) -> f64 {
    if is_time(cell) { 1.0 } else { -1.0 }
}

fn longer(cell: &CellView) -> String {
    format!("longer {}", what(cell))
}

fn shorter(cell: &CellView) -> String {
    format!("shorter {}", what(cell))
}

/// What the verdict rests on.
fn what(cell: &CellView) -> String {
    match (&cell.response_ratio, cell.measure) {
        (Some(times), _) => format!("{} response times", times.telling),
        (None, "max_rate") => "events per second at the limit".to_owned(),
        (None, _) => in_full(cell.unit),
    }
}

/// A unit in full: `rows/s` is `rows per second`.
pub(crate) fn in_full(unit: &str) -> String {
    unit.replace("/s", " per second").replace("/min", " per minute")
}

/// Cells whose figures stand in one column.
pub(crate) struct Group<'a> {
    /// What stands above the column: a unit, or the condition of an open loop.
    pub title: String,
    /// The unit, if the figures are rates.
    pub unit: Option<&'static str>,
    /// Its cells, in order.
    pub cells: Vec<&'a CellView>,
}

/// The cells by what their figures count, in the order in which that first appears.
pub(crate) fn unit_groups(view: &View) -> Vec<Group<'_>> {
    let summary = &view.summary;
    let mut groups: Vec<Group<'_>> = Vec::new();
    for cell in &summary.cells {
        let (title, unit) = match cell.measure {
            "response" if summary.driving.starts_with("think ") => {
                (format!("response time of clients that {}", summary.driving), None)
            }
            "response" => (format!("response time at {}", summary.driving), None),
            "max_rate" => {
                let condition = summary.driving.trim_start_matches("find-max ");
                (format!("events/s with {condition}"), None)
            }
            _ => (cell.unit.to_owned(), Some(cell.unit)),
        };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.cells.push(cell),
            None => groups.push(Group { title, unit, cells: vec![cell] }),
        }
    }
    groups
}

/// A cell whose latencies follow; what they count from where that is not the sending.
pub(crate) fn place_of_times(cell: &CellView) -> String {
    let since = match cell.latency_since {
        "intended" => ", latency from the intended start",
        _ => "",
    };
    format!("{}{since}", cell_place(cell))
}

/// A cell whose classes follow, and what their times count from.
pub(crate) fn place_of_classes(cell: &CellView) -> String {
    let open = cell.base.response_us.is_some() || cell.test.response_us.is_some();
    let since = if open || cell.latency_since == "intended" {
        "response times from the intended start"
    } else {
        "latency from sending"
    };
    format!("{} by class, {since}", cell_place(cell))
}

/// Why an undecided cell is undecided, and what would decide it.
fn doubt(cell: &CellView) -> String {
    if cell.pairs == 0 {
        return "no pair of rounds was measured".to_owned();
    }
    let blocking: Vec<&str> = cell
        .warnings
        .iter()
        .filter(|warning| warning.severity == "blocks")
        .map(|warning| warning.text.as_str())
        .collect();
    let mut text = format!("{} {} {}", cell_change(cell).estimate, what(cell), evidence(cell));
    if !blocking.is_empty() {
        return format!("{text}; no verdict because: {}", blocking.join("; "));
    }
    if let Some(needs) = needed_pairs(cell) {
        text.push_str("; ");
        text.push_str(&needs);
    }
    if let Some(detectable) = cell.detectable {
        let size = number::percent_of_spread(detectable);
        text.push_str(&format!("; a change of {size} would probably have been found"));
    }
    text
}

/// `needs about 14 more pairs, 3 min`, where that is known and would help.
pub(crate) fn needed_pairs(cell: &CellView) -> Option<String> {
    let would_help = cell.verdict.0 == Verdict::Undecided && !cell.is_blocked();
    let missing = cell.pairs_missing.filter(|_| would_help)?;
    let time = cell.minutes_missing.map(number::minutes);
    let time = time.map_or(String::new(), |time| format!(", {time}"));
    Some(format!("needs about {}{time}", count_with_noun(u64::from(missing), "more pair")))
}

/// `(95 % interval 4.1 to 5.6 %), 24 pairs` in the direction of the verdict.
fn evidence(cell: &CellView) -> String {
    let pairs = match cell.looks {
        Some(looks) => {
            let looks = count_with_noun(u64::from(looks), "time");
            format!("{}, analysed {looks}", count_with_noun(u64::from(cell.pairs), "pair"))
        }
        None => count_with_noun(u64::from(cell.pairs), "pair"),
    };
    let (direction, signs) = match cell.verdict.0 {
        Verdict::Slower => (slower_direction(cell), Signs::OnlyWhereMixed),
        Verdict::Faster => (-slower_direction(cell), Signs::OnlyWhereMixed),
        Verdict::Equal | Verdict::Undecided => (1.0, Signs::Always),
    };
    match range(cell, direction, signs) {
        Some(range) => format!("(95{GLUE}% interval {range}), {pairs}"),
        None => format!("(no interval: too few pairs), {pairs}"),
    }
}

/// Estimate and interval of the change that the verdict rests on, as per cent.
pub(crate) struct Change {
    /// `−4.9 %`, or `—`.
    pub estimate: String,
    /// `−5.6 to −4.1 %`; `None` where nothing bounds it.
    pub interval: Option<String>,
}

pub(crate) fn cell_change(cell: &CellView) -> Change {
    let estimate = match cell.effect().ratio {
        Some(rqps) => {
            let percent = (rqps - 1.0) * 100.0;
            format!("{}{GLUE}%", number::format_signed(percent, decimals(cell)))
        }
        None => number::UNKNOWN.to_owned(),
    };
    Change { estimate, interval: range(cell, 1.0, Signs::Always) }
}

/// The size of a change that goes in the direction of the verdict, without a sign.
fn gap(cell: &CellView, direction: f64) -> String {
    match cell.effect().ratio {
        Some(rqps) => {
            let percent = (rqps - 1.0) * direction * 100.0;
            format!("{}{GLUE}%", number::format_fixed(percent, decimals(cell)))
        }
        None => "an unknown share".to_owned(),
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Signs {
    Always,
    OnlyWhereMixed,
}

fn range(cell: &CellView, direction: f64, signs: Signs) -> Option<String> {
    let effect = cell.effect();
    let [a, b] = [effect.low?, effect.high?].map(|rqps| (rqps - 1.0) * direction * 100.0);
    let (low, high) = (a.min(b), a.max(b));
    let decimals = decimals(cell);
    let bare = signs == Signs::OnlyWhereMixed && low >= 0.0;
    let show = if bare { number::format_fixed } else { number::format_signed };
    Some(format!("{} to {}{GLUE}%", show(low, decimals), show(high, decimals)))
}

/// Decimals of per cent that the interval deserves; more where a bound would round to zero, so that
/// an interval that leaves zero out is also seen to do so.
fn decimals(cell: &CellView) -> i32 {
    let Effect { low: Some(low), high: Some(high), .. } = cell.effect() else {
        return 1;
    };
    let fit = number::decimals_for((high - low).abs() * 50.0).unwrap_or(2).clamp(0, 4);
    let telling = (fit..=fit + 2).find(|&decimals| {
        [low, high].iter().all(|bound| {
            let percent = (bound - 1.0).abs() * 100.0;
            percent == 0.0 || (percent * 10f64.powi(decimals)).round() != 0.0
        })
    });
    telling.unwrap_or(fit)
}

fn count_sentence(cells: &[CellView]) -> String {
    let verdicts = [Verdict::Slower, Verdict::Equal, Verdict::Faster, Verdict::Undecided];
    let counts = verdicts.into_iter().filter_map(|verdict| {
        let count = cells.iter().filter(|cell| cell.verdict.0 == verdict).count();
        (count > 0).then(|| (verdict, format!("{} on {count}", verdict_word(verdict))))
    });
    let (known, unknown): (Vec<_>, Vec<_>) =
        counts.partition(|(verdict, _)| *verdict != Verdict::Undecided);
    let known: Vec<String> = known.into_iter().map(|(_, said)| said).collect();
    let mut parts: Vec<String> = unknown.into_iter().map(|(_, said)| said).collect();
    if !known.is_empty() {
        parts.insert(0, format!("test is {}", known.join(", ")));
    }
    format!("{} cells: {}", cells.len(), parts.join("; "))
}

fn class_lines(cells: &[CellView]) -> Vec<(Verdict, String)> {
    TOLD.into_iter()
        .filter_map(|verdict| {
            let mut members: Vec<&CellView> =
                cells.iter().filter(|cell| cell.verdict.0 == verdict).collect();
            // The largest change first; those without an estimate come last.
            members.sort_by(|a, b| {
                let [a, b] =
                    [a, b].map(|cell| cell.effect().ratio.map_or(-1.0, |rqps| rqps.ln().abs()));
                b.total_cmp(&a)
            });
            (!members.is_empty()).then(|| (verdict, class_line(&members)))
        })
        .collect()
}

fn class_line(members: &[&CellView]) -> String {
    let mut names: Vec<String> = members.iter().take(NAMED_CELLS_MAX).map(|c| member(c)).collect();
    if members.len() > NAMED_CELLS_MAX {
        names.push(format!("and {} more", members.len() - NAMED_CELLS_MAX));
    }
    names.join(", ")
}

fn member(cell: &CellView) -> String {
    let place = cell_place(cell);
    match cell.verdict.0 {
        Verdict::Slower | Verdict::Faster => format!("{place} {}", cell_change(cell).estimate),
        Verdict::Equal => place,
        Verdict::Undecided if cell.pairs == 0 => format!("{place} (not measured)"),
        Verdict::Undecided if cell.is_blocked() => format!("{place} (blocked by a warning)"),
        Verdict::Undecided => match needed_pairs(cell) {
            Some(needs) => format!("{place} ({needs})"),
            None => place,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{ArmView, DoubtView, ResponseRatio, VerdictView};

    #[test]
    fn arms_that_do_not_wait_for_the_disk_are_named() {
        let fact = |at: usize, base: Option<&str>, test: Option<&str>| Fact {
            name: COMMIT_SETTINGS[at].0.to_owned(),
            base: base.map(str::to_owned),
            test: test.map(str::to_owned),
        };
        let both = [fact(0, Some("2"), None), fact(1, None, Some("off"))];
        assert_eq!(unwaiting_arms(&both), Some("both arms"));
        assert_eq!(unwaiting_arms(&[fact(0, Some("1"), Some("0"))]), Some("test"));
        assert_eq!(unwaiting_arms(&[fact(1, Some("on"), Some("on"))]), None);
    }

    fn cell(verdict: Verdict, rqps: [f64; 3]) -> CellView {
        CellView {
            load: "point-query".to_owned(),
            clients: 1,
            group: None,
            unit: "queries/s",
            latency_since: "sent",
            rqps: Some(rqps[0]),
            rqps_low: Some(rqps[1]),
            rqps_high: Some(rqps[2]),
            measure: "rate",
            response_ratio: None,
            verdict: VerdictView(verdict),
            doubt: DoubtView::default(),
            pairs: 24,
            pairs_dropped: 0,
            detectable: Some(0.0123),
            pairs_missing: Some(14),
            minutes_missing: None,
            looks: None,
            metrics: vec![],
            base: ArmView::default(),
            test: ArmView::default(),
            warnings: vec![],
            is_doubted_by_run: false,
        }
    }

    fn sentence(verdict: Verdict, rqps: [f64; 3]) -> String {
        verdict_sentence(&cell(verdict, rqps), Some(0.02)).replace(GLUE, " ")
    }

    #[test]
    fn each_verdict_has_its_sentence() {
        assert_eq!(
            sentence(Verdict::Slower, [0.951, 0.944, 0.959]),
            "test is slower on point-query at 1 client: 4.9 % fewer queries per second \
             (95 % interval 4.1 to 5.6 %), 24 pairs"
        );
        assert_eq!(
            sentence(Verdict::Faster, [1.5, 1.25, 1.8]),
            "test is faster on point-query at 1 client: 50 % more queries per second \
             (95 % interval 25 to 80 %), 24 pairs"
        );
        assert_eq!(
            sentence(Verdict::Equal, [1.001, 0.9949, 1.0071]),
            "test equals base on point-query at 1 client within the budget of 2 %: \
             +0.1 % queries per second (95 % interval −0.5 to +0.7 %), 24 pairs"
        );
        assert_eq!(
            sentence(Verdict::Undecided, [1.02, 0.99, 1.05]),
            "cannot tell on point-query at 1 client: +2.0 % queries per second \
             (95 % interval −1.0 to +5.0 %), 24 pairs; needs about 14 more pairs; \
             a change of 1.2 % would probably have been found"
        );
    }

    #[test]
    fn looks_and_waiting_are_told() {
        let looked_at = CellView {
            looks: Some(6),
            minutes_missing: Some(2.6),
            ..cell(Verdict::Undecided, [1.02, 0.99, 1.05])
        };
        assert_eq!(
            verdict_sentence(&looked_at, Some(0.02)).replace(GLUE, " "),
            "cannot tell on point-query at 1 client: +2.0 % queries per second \
             (95 % interval −1.0 to +5.0 %), 24 pairs, analysed 6 times; needs about 14 more \
             pairs, 3 min; a change of 1.2 % would probably have been found"
        );
    }

    #[test]
    fn times_are_longer_where_rates_are_fewer() {
        let ratio = |ratio: [f64; 3]| ResponseRatio {
            p50: Some(1.0),
            p50_low: Some(0.99),
            p50_high: Some(1.01),
            p99: Some(ratio[0]),
            p99_low: Some(ratio[1]),
            p99_high: Some(ratio[2]),
            telling: "p99",
        };
        let sentence = |verdict, times| {
            let cell = cell(verdict, [1.0, 0.999, 1.001]);
            let cell = CellView { measure: "response", response_ratio: Some(ratio(times)), ..cell };
            verdict_sentence(&cell, Some(0.02)).replace(GLUE, " ")
        };
        assert_eq!(
            sentence(Verdict::Slower, [1.12, 1.05, 1.2]),
            "test is slower on point-query at 1 client: 12 % longer p99 response times \
             (95 % interval 5 to 20 %), 24 pairs"
        );
        assert_eq!(
            sentence(Verdict::Faster, [0.8, 0.75, 0.86]),
            "test is faster on point-query at 1 client: 20 % shorter p99 response times \
             (95 % interval 14 to 25 %), 24 pairs"
        );
    }

    #[test]
    fn an_interval_that_leaves_zero_out_is_seen_to_do_so() {
        for high in [0.99, 0.999, 0.9996, 0.99994] {
            let cell = cell(Verdict::Slower, [0.95, 0.9, high]);
            let interval = cell_change(&cell).interval.unwrap();
            let end = interval.rsplit(" to ").next().unwrap();
            assert!(
                end.starts_with('−') && end.contains(|c| ('1'..='9').contains(&c)),
                "{interval}"
            );
        }
    }

    #[test]
    fn a_verdict_against_the_interval_is_not_smoothed_over() {
        let text = sentence(Verdict::Slower, [0.99, 0.97, 1.01]);
        assert!(text.contains("(95 % interval −1.0 to +3.0 %)"), "{text}");
    }
}
