//! The sentences and tables that all shapes share.

use dbdyno_document::number::{GLUE, format_fixed, format_signed};
use dbdyno_model::{
    CodeStanding, DifferenceAccount, Explanation, FoundCause, Interaction, Interval, Lead, Ledger,
    LedgerLine, LineStanding, PerArm, Prior, Remedy, RemedyCell, Suspect, Trial, TrialDirection,
    UntriedDifference, Verdict, WaitLine, Waits, Witness, Worth,
};

use super::{facts, plan};

/// Where a cause is the first and only one that a sentence names.
const NAMED_MOST: usize = 3;
/// Names of a list that are shown; the rest is counted.
const LISTED_MOST: usize = 8;
/// Classes of waits of which the function is named.
const PLACES_NAMED: usize = 3;

/// A line of an account.
pub(super) struct Row {
    /// What it is.
    pub(super) name: String,
    /// `10 → 200`, where it is a setting.
    pub(super) values: String,
    /// `−36 ± 2` points of rQPS, or per cent of base's instructions.
    pub(super) share: String,
    /// The share as a part of the whole, for drawing: 1 is all of it.
    pub(super) part: f64,
}

/// The answer in one sentence.
pub(super) fn headline(of: &Explanation) -> String {
    let place = &of.cell;
    let Some(account) = best(of) else { return unexplained(of) };
    let total = total(account);
    let size = account.total.cost.estimate.abs();
    let causes = causes(account, of);
    let is_small = size < of.least && causes.is_empty();
    if is_small {
        return format!("{place}: {total}; there is nothing to explain");
    }
    let code = format!("{} {}", code_named(of), share(account, &account.code));
    let others = value(account, &account.others);
    let is_by_others =
        others.low * others.high > 0.0 && others.estimate.abs() >= least_shown(account, of);
    if causes.is_empty() && (of.open.is_some() || is_by_others) && of.tried > 0 {
        let others = share(account, &account.others);
        return format!("{place}: {total}; all differences together {others}, {code}");
    }
    let also: Vec<String> =
        account.not_told_apart.iter().map(|cause| alone(account, cause)).collect();
    let also = match also.len() {
        0 => String::new(),
        _ => format!("; not told apart from it: {}", also[..also.len().min(NAMED_MOST)].join(", ")),
    };
    if causes.is_empty() {
        format!("{place}: {total}; {}; {code}", no_cause(of.tried, &of.untried))
    } else {
        // What the causes leave to the others is looked for as long as there is time.
        let others = if is_by_others && of.open.is_some() {
            format!(", the others {}", share(account, &account.others))
        } else {
            String::new()
        };
        format!("{place}: {total}; {}{others}, {code}{also}", causes.join(", "))
    }
}

/// That no setting was found to make it: nothing is said of those that were not tried.
fn no_cause(tried: usize, untried: &[UntriedDifference]) -> &'static str {
    match (tried, untried_settings(untried)) {
        (_, 0) => "no setting makes it",
        (0, _) => "no setting was tried",
        (_, _) => "no setting that was tried makes it",
    }
}

/// Settings that are unequal and that no trial took back, which may make what is called code.
fn untried_settings(untried: &[UntriedDifference]) -> usize {
    untried.iter().filter(|one| !one.is_condition && !one.is_follower()).count()
}

/// What is left when all was taken back that can be, in a sentence.
fn code_named(of: &Explanation) -> String {
    let names = listed(of.code_standing.untried_conditions(), NAMED_MOST);
    match of.code_standing {
        CodeStanding::Code if untried_settings(&of.untried) > 0 => {
            "code or settings not tried".to_owned()
        }
        CodeStanding::Code => "code".to_owned(),
        CodeStanding::CodeOrUntried(_) => format!("{names} (not tried) or code"),
        CodeStanding::Untried(_) => format!("{names} (not tried)"),
        CodeStanding::Unexplained => "not explained".to_owned(),
    }
}

/// The same in a table.
fn code_line(of: &Explanation) -> String {
    let names = listed(of.code_standing.untried_conditions(), NAMED_MOST);
    match of.code_standing {
        CodeStanding::Code if untried_settings(&of.untried) > 0 => {
            "code, or settings that were not tried".to_owned()
        }
        CodeStanding::Code => "code: not due to any setting".to_owned(),
        CodeStanding::CodeOrUntried(_) => format!("not tried: {names}; this or the code"),
        CodeStanding::Untried(_) => format!("not tried: {names}"),
        CodeStanding::Unexplained => "not explained: the programs are the same".to_owned(),
    }
}

/// So many of these names, and how many more there are.
fn listed(names: &[String], most: usize) -> String {
    let (shown, more) = names.split_at(names.len().min(most));
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    shown.join(", ") + &more
}

/// `sync_binlog −36 points`, as it is worth alone.
fn alone(account: &DifferenceAccount, cause: &FoundCause) -> String {
    format!("{} {}", cause.suspect.name, share(account, &cause.alone))
}

/// The causes that are named in a sentence, the largest first, each with what it is worth alone;
/// those that make the difference only together with what they are worth so, and last what all of
/// them are worth together beyond that.
fn causes(account: &DifferenceAccount, of: &Explanation) -> Vec<String> {
    let size = account.total.cost.estimate.abs();
    let least = least_shown(account, of);
    let all: Vec<&FoundCause> = account
        .causes
        .iter()
        .filter(|cause| {
            let is_large = value(account, &cause.worth).estimate.abs() >= least;
            is_large || cause.worth.cost.estimate.abs() >= of.least.min(size) || size < of.least
        })
        .collect();
    let mut said: Vec<&str> = Vec::new();
    let (mut named, mut sum) = (Vec::new(), 0.0);
    for cause in &all {
        let name = cause.suspect.name.as_str();
        if said.contains(&name) {
            continue;
        }
        let together: Vec<&Interaction> =
            account.interactions.iter().filter(|one| one.is_only_together()).collect();
        let pairs = together.iter().filter(|one| one.names.iter().any(|of| of == name));
        let others = pairs.clone().flat_map(|one| one.names.iter().map(String::as_str));
        let group: Vec<&str> = [name].into_iter().chain(others.filter(|of| *of != name)).collect();
        match pairs.clone().next() {
            Some(pair) => {
                named.push(format!(
                    "{} only together {}",
                    group.join(" and "),
                    share(account, &pair.together)
                ));
                sum += value(account, &pair.together).estimate;
            }
            None => {
                named.push(alone(account, cause));
                sum += value(account, &cause.alone).estimate;
            }
        }
        said.extend(group);
    }
    let all_alone = account.causes.iter().map(|cause| value(account, &cause.alone).estimate);
    let beyond = all_alone.sum::<f64>() + value(account, &account.together).estimate - sum;
    let is_beyond = named.len() > 1 && beyond.abs() >= least;
    named.truncate(NAMED_MOST);
    if is_beyond {
        named.push(format!("together {} beyond that", shown(account, beyond)));
    }
    named
}

/// The least share that a sentence speaks of, in the unit of an account: what was looked for is a
/// share of the time of the slower arm, or of the rate of the faster one.
fn least_shown(account: &DifferenceAccount, of: &Explanation) -> f64 {
    match account.witness {
        Witness::Rate => 100.0 * of.least / (1.0 + account.total.cost.estimate),
        Witness::Instructions => 100.0 * of.least,
    }
}

/// The answer where no share is known.
fn unexplained(of: &Explanation) -> String {
    let place = &of.cell;
    if of.limit.is_some() {
        return format!(
            "{place}: the client is the limit; the servers are not searched for a cause"
        );
    }
    match (of.leads.first(), &of.open) {
        (Some(first), _) => {
            format!("{place}: no share is measured; what may make it is, first, {}", first.name)
        }
        (None, Some(why)) => format!("{place}: not explained, because {why}"),
        (None, None) => format!("{place}: not explained"),
    }
}

/// What was measured by rates tells more than instructions do: it is what the user gets.
fn best(of: &Explanation) -> Option<&DifferenceAccount> {
    of.accounts.iter().find(|account| account.witness == Witness::Rate).or(of.accounts.first())
}

fn total(account: &DifferenceAccount) -> String {
    match account.witness {
        Witness::Rate => {
            let rqps = 1.0 / (1.0 + account.total.cost.estimate);
            format!("rQPS {} ({})", format_fixed(rqps, 2), share(account, &account.total))
        }
        Witness::Instructions => {
            format!("test needs {} instructions", share(account, &account.total))
        }
    }
}

/// What an account is about.
pub(super) fn title(account: &DifferenceAccount) -> String {
    let what = match account.witness {
        Witness::Instructions => "instructions for an operation, in per cent of those of base",
        Witness::Rate => "rate, in points of rQPS",
    };
    if account.causes.is_empty() {
        return what.to_owned();
    }
    format!("{what}: a cause as it is worth if it alone is taken back")
}

/// Heads of the columns.
pub(super) fn column_heads(account: &DifferenceAccount) -> [&'static str; 3] {
    match account.witness {
        Witness::Instructions => ["what", "base → test", "%"],
        Witness::Rate => ["what", "base → test", "points"],
    }
}

/// The lines of an account, which add up: causes alone, what they are worth together beyond that,
/// the others, code, and their sum.
pub(super) fn rows(account: &DifferenceAccount, of: &Explanation) -> Vec<Row> {
    let total = value(account, &account.total).estimate;
    let part = |worth: &Worth| match value(account, worth).estimate {
        _ if total == 0.0 => 0.0,
        estimate => estimate / total,
    };
    let line = |name: String, worth: &Worth| Row {
        name,
        values: String::new(),
        share: spread(account, worth),
        part: part(worth),
    };
    let mut rows: Vec<Row> = account
        .causes
        .iter()
        .map(|cause| Row {
            values: values(cause),
            ..line(cause.suspect.name.clone(), &cause.alone)
        })
        .collect();
    match account.causes.len() {
        0 | 1 => {}
        2 => rows.push(line("both together, beyond that".to_owned(), &account.together)),
        more => rows.push(line(format!("all {more} together, beyond that"), &account.together)),
    }
    let others = of.tried.saturating_sub(account.causes.len());
    if others > 0 {
        let name = match (others, account.causes.is_empty()) {
            (1, true) => "1 other difference".to_owned(),
            (1, false) => "1 other difference, taken back as well".to_owned(),
            (more, true) => format!("{more} other differences together"),
            (more, false) => format!("{more} others, taken back as well"),
        };
        rows.push(line(name, &account.others));
    }
    rows.push(line(code_line(of), &account.code));
    rows.push(line("sum".to_owned(), &account.total));
    rows
}

fn values(cause: &FoundCause) -> String {
    let Suspect { base, test, .. } = &cause.suspect;
    let shown = |value: &str| match value {
        "" => "not said".to_owned(),
        value => value.to_owned(),
    };
    let whose = match cause.direction {
        TrialDirection::TestAsBase => "",
        TrialDirection::BaseAsTest => " (given to base)",
    };
    format!("{} → {}{whose}", shown(base), shown(test))
}

/// A share without its interval: `−36 points`, `+78 %`.
fn share(account: &DifferenceAccount, worth: &Worth) -> String {
    shown(account, value(account, worth).estimate)
}

/// A number in the unit of an account.
fn shown(account: &DifferenceAccount, value: f64) -> String {
    let decimals = if value.abs() < 9.95 { 1 } else { 0 };
    let unit = match account.witness {
        Witness::Rate => "points",
        Witness::Instructions => "%",
    };
    format!("{}{GLUE}{unit}", format_signed(value, decimals))
}

/// A share with half of its interval.
fn spread(account: &DifferenceAccount, worth: &Worth) -> String {
    let Interval { estimate, low, high } = value(account, worth);
    let half = (high - low) / 2.0;
    let decimals =
        dbdyno_document::number::decimals_for(half).map_or(1, |decimals| decimals.clamp(0, 2));
    format!("{} ± {}", format_signed(estimate, decimals), format_fixed(half, decimals))
}

fn value(account: &DifferenceAccount, worth: &Worth) -> Interval {
    match account.witness {
        Witness::Rate => worth.points,
        Witness::Instructions => {
            let Interval { estimate, low, high } = worth.cost;
            Interval { estimate: 100.0 * estimate, low: 100.0 * low, high: 100.0 * high }
        }
    }
}

/// A line of the ledger: what, microseconds in base and test, and their difference.
pub(super) type LedgerRow = [String; 4];

/// Heads of the ledger.
pub(super) const LEDGER_HEADS: [&str; 4] =
    ["time of an operation, µs", "base", "test", "test − base"];

/// The ledger, line by line, its sum last. Parts are set in.
pub(super) fn ledger_rows(ledger: &Ledger) -> Vec<LedgerRow> {
    let decimals = |line: &LedgerLine| {
        dbdyno_document::number::decimals_for(half_width(line))
            .map_or(2, |decimals| decimals.clamp(0, 2))
    };
    let row = |line: &LedgerLine| {
        let decimals = decimals(line);
        let name = match line.is_part {
            LineStanding::Whole => line.name.clone(),
            LineStanding::OfLine => format!("{GLUE}{GLUE}{}", line.name),
        };
        let difference = line.difference_us.estimate;
        [
            name,
            format_fixed(line.us.base, decimals),
            format_fixed(line.us.test, decimals),
            format!(
                "{} ± {}",
                format_signed(difference, decimals),
                format_fixed(half_width(line), decimals)
            ),
        ]
    };
    ledger.lines.iter().chain([&ledger.total]).map(row).collect()
}

fn half_width(line: &LedgerLine) -> f64 {
    (line.difference_us.high - line.difference_us.low) / 2.0
}

/// What the ledger says beside its lines.
pub(super) fn of_ledger(ledger: &Ledger) -> String {
    let Interval { estimate, low, high } = ledger.rqps_of_work;
    let half = (high - low) / 2.0;
    let agrees = (low..=high).contains(&ledger.rqps);
    let rest = 100.0 * ledger.rest_share;
    let total = ledger.total.difference_us;
    let ends = match (agrees, total.low * total.high > 0.0) {
        (_, false) => "and no difference is proved that had to be parted",
        (true, true) => "so that the difference is work, and not waiting",
        (false, true) => "so that not all of the difference is work: see the rest",
    };
    let background = if rest < 0.0 {
        "; the rest is below 0 where the server works beside its clients"
    } else {
        ""
    };
    format!(
        "processor time alone makes rQPS {} ± {}, and in the rounds of this table it is {}: {ends}; the rest is {} % of \
         base's time{background}; code of the server is parted by instructions, as if all took the \
         same time",
        format_fixed(estimate, 3),
        format_fixed(half, 3),
        format_fixed(ledger.rqps, 3),
        format_fixed(rest, 0),
    )
}

/// What parts the rest of the ledger, and where most of it is waited.
fn of_waits(ledger: &Ledger, waits: &Waits) -> String {
    let of = waits.profiles;
    let starts = of.base.min(of.test);
    let mut changed: Vec<_> = waits
        .lines
        .iter()
        .filter(|line| ledger.lines.iter().any(|part| part.name == line.name))
        .filter_map(wait_with_change)
        .collect();
    changed.sort_by(|a, b| b.2.total_cmp(&a.2));
    let places: Vec<String> = changed
        .into_iter()
        .take(PLACES_NAMED)
        .map(|(name, function, _)| format!("{name} in {function}"))
        .collect();
    let places = if places.is_empty() {
        String::new()
    } else {
        format!("; most of it is waited: {}", places.join(", "))
    };
    format!(
        "the rest is parted by what sessions waited for in {starts} starts of each server, while \
         each switch of a thread was recorded, as shares of the time of an operation{places}"
    )
}

fn wait_with_change(line: &WaitLine) -> Option<(String, String, f64)> {
    let function = line.function.test.as_ref().or(line.function.base.as_ref())?;
    let interval = line.difference_us.filter(|of| of.low * of.high > 0.0)?;
    Some((line.name.clone(), function.clone(), interval.estimate.abs()))
}

/// What is said of plans that changed, a paragraph each.
pub(super) fn plan_notes(of: &Explanation) -> Vec<String> {
    of.plans.iter().flat_map(plan::change_notes).collect()
}

/// What the reader must know beside the tables, a paragraph each.
pub(super) fn reader_notes(of: &Explanation) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(of.limit.iter().map(|why| format!("the client is the limit: {why}")));
    notes.extend(of.leads.iter().take(LISTED_MOST).map(lead));
    if of.leads.len() > LISTED_MOST {
        let more = of.leads.len() - LISTED_MOST;
        notes.push(format!("{more} more differences; `dbdyno diff` has all"));
    }
    if let Some(account) = best(of) {
        notes.extend(account.interactions.iter().map(|one| together(account, one)));
        notes.extend(others(account, of));
        notes.extend(given(account));
    }
    notes.extend(of.remedy.iter().flat_map(remedy));
    notes.extend(of.ledger.as_ref().map(of_ledger));
    let parted = of.ledger.as_ref().zip(of.waits.as_ref());
    notes.extend(parted.map(|(ledger, waits)| of_waits(ledger, waits)));
    notes.extend(
        of.unwaited.as_ref().map(|why| format!("what sessions wait for is not known: {why}")),
    );
    notes.extend(facts::table_note(of));
    notes.extend(facts::lock_notes(of));
    if !of.code.is_empty()
        && of.accounts.iter().any(|account| account.code.cost.estimate.abs() >= of.least)
    {
        let functions: Vec<String> = of
            .code
            .iter()
            .map(|one| format!("{} {}", one.name, format_signed(one.own_per_op, 0)))
            .collect();
        notes.push(format!(
            "the code, where all else is equal; instructions for an operation, test − base: {}",
            functions.join(", ")
        ));
    }
    notes.extend(of.nameless.as_ref().map(nameless));
    notes.extend(untried(of));
    notes.extend(of.prior.as_ref().filter(|_| of.tried > 0 && !of.trials.is_empty()).map(prior));
    notes.extend(tried(of));
    notes.extend(of.open.as_ref().map(|why| {
        if is_explained(of) {
            format!("the causes leave nothing that matters; what was still to be tried: {why}")
        } else {
            format!("not complete: {why}")
        }
    }));
    notes
}

/// Whether the causes that are proved leave nothing that would be told: who reads that an answer is
/// not complete looks for more of them.
fn is_explained(of: &Explanation) -> bool {
    best(of).is_some_and(|account| {
        let least = least_shown(account, of);
        let left = [&account.others, &account.code].map(|part| value(account, part).estimate);
        !account.causes.is_empty() && left.iter().all(|left| left.abs() < least)
    })
}

fn together(account: &DifferenceAccount, one: &Interaction) -> String {
    let [first, second] = &one.names;
    let [of_first, of_second] = one.each.each_ref().map(|each| share(account, each));
    let of_both = share(account, &one.together);
    if !one.is_only_together() {
        return format!(
            "{first} and {second} do not add up: taken back alone they are worth {of_first} and \
             {of_second}, and together {of_both}"
        );
    }
    // What one costs where the other is as in base: what both bring back, less what the other does.
    let [beside_first, beside_second] = one.each.each_ref().map(|each| {
        let of_both = value(account, &one.together).estimate;
        shown(account, of_both - value(account, each).estimate)
    });
    format!(
        "{first} and {second} make it only together: taken back alone the one is worth {of_first} \
         and the other {of_second} of {of_both}, so that either one heals it; where the other is \
         as base has it, {first} is worth {beside_second} and {second} {beside_first}"
    )
}

/// What is known, and not known, of the others without the causes.
fn others(account: &DifferenceAccount, of: &Explanation) -> Vec<String> {
    let names: Vec<&str> =
        account.causes.iter().map(|cause| cause.suspect.name.as_str()).take(LISTED_MOST).collect();
    let others = of.tried.saturating_sub(names.len());
    if names.is_empty() || others == 0 {
        return Vec::new();
    }
    let causes = names.join(", ");
    let mut said: Vec<String> = Vec::new();
    for cause in account.not_told_apart.iter().take(NAMED_MOST) {
        said.push(format!(
            "{} taken back alone is worth {}: what it is worth together with {causes} was not tried, \
             so that it may be the cause as well, or both only together",
            cause.suspect.name,
            share(account, &cause.alone)
        ));
    }
    let is_open = of.open.is_some();
    match &account.others_alone {
        Some(worth) if value(account, worth).estimate.abs() >= least_shown(account, of) => {
            let text = format!(
                "all the others taken back without {causes} are worth {}",
                share(account, worth)
            );
            said.extend(is_open.then_some(text));
        }
        None if is_open && said.is_empty() => said.push(format!(
            "the others were measured with {causes} taken back; whether one of them heals as much \
             without that was not tried to the end"
        )),
        Some(_) | None => {}
    }
    said
}

/// A difference of servers that cannot be started again.
fn lead(one: &Lead) -> String {
    let shown = |value: &Option<String>| match value.as_deref() {
        None | Some("") => "not there".to_owned(),
        Some(value) => value.to_owned(),
    };
    let (base, test) = (shown(&one.base), shown(&one.test));
    format!("{}, {base} → {test}: {}; no share is measured", one.name, one.advice)
}

/// What was seen from the side of base.
fn given(account: &DifferenceAccount) -> Option<String> {
    let names: Vec<&str> = account
        .causes
        .iter()
        .filter(|cause| cause.direction == TrialDirection::BaseAsTest)
        .map(|cause| cause.suspect.name.as_str())
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "base given test's value, because test cannot be given base's: {}; the share is what \
             base loses, and nothing on test takes it away",
            names.join(", ")
        )
    })
}

/// The lines of an option file that take the loss away, and what they do in other cells.
fn remedy(of: &Remedy) -> Vec<String> {
    let mut notes = vec![format!("as base has it, on test: {}", of.lines.join("  "))];
    notes.extend(of.elsewhere.as_ref().map(|elsewhere| {
        let cells: Vec<String> =
            elsewhere.cells.iter().map(|cell| remedied(cell, elsewhere.witness)).collect();
        format!("with that, against test without it (run {}): {}", elsewhere.run, cells.join("; "))
    }));
    if of.cells_left > 0 {
        let cells = match of.cells_left {
            1 => "1 other cell".to_owned(),
            more => format!("{more} other cells"),
        };
        notes.push(format!(
            "what that costs in {cells} of the run was not measured: dbdyno compare TEST \
             TEST?OPTION=VALUE with the loads and clients of the run tells"
        ));
    }
    notes
}

/// `point-query, 8 clients: +3.1 ± 0.4 points, faster`.
fn remedied(of: &RemedyCell, witness: Witness) -> String {
    let Interval { estimate, low, high } = of.ratio;
    let half = 50.0 * (high - low);
    let decimals =
        dbdyno_document::number::decimals_for(half).map_or(1, |decimals| decimals.clamp(0, 2));
    let (unit, verdict) = match (witness, of.verdict) {
        (Witness::Rate, verdict) => ("points", verdict.name()),
        (Witness::Instructions, Verdict::Slower) => ("% instructions", "more"),
        (Witness::Instructions, Verdict::Faster) => ("% instructions", "fewer"),
        (Witness::Instructions, verdict) => ("% instructions", verdict.name()),
    };
    format!(
        "{}: {} ± {}{GLUE}{unit}, {verdict}",
        of.cell,
        format_signed(100.0 * (estimate - 1.0), decimals),
        format_fixed(half, decimals),
    )
}

/// Why functions and layers are not told.
fn nameless(shares: &PerArm<f64>) -> String {
    let [base, test] = [shares.base, shares.test]
        .map(|share| format!("{}{GLUE}%", format_fixed(100.0 * share, 0)));
    format!(
        "which functions and layers changed is not told: {base} of base's instructions and {test} of \
         test's have no name of a function; compare programs that both have symbols (`dbdyno server \
         ls`)"
    )
}

/// What was not tried, by the reason.
fn untried(of: &Explanation) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in &of.untried {
        match reasons.iter_mut().find(|(why, _)| *why == one.why) {
            Some((_, names)) => names.push(&one.name),
            None => reasons.push((&one.why, vec![&one.name])),
        }
    }
    reasons
        .into_iter()
        .map(|(why, names)| {
            let shown: Vec<&str> = names.iter().take(LISTED_MOST).copied().collect();
            let more = names.len() - shown.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("not tried, because {why}: {}{more}", shown.join(", "))
        })
        .collect()
}

/// What was tried first, and why.
fn prior(of: &Prior) -> String {
    let shown: Vec<&str> = of.first.iter().take(NAMED_MOST).map(String::as_str).collect();
    let more = of.first.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!(
        "{}: what costs {} was tried first: {}{more}",
        of.why,
        of.points_to.join(", or "),
        shown.join(", ")
    )
}

/// How it is known.
fn tried(of: &Explanation) -> Option<String> {
    let mut runs: Vec<String> = of.trials.iter().map(|trial| trial.run.to_string()).collect();
    runs.dedup();
    (!runs.is_empty()).then(|| {
        format!(
            "known from {} trials in the runs {}; `dbdyno show RUN` has the command that repeats \
             each",
            of.trials.iter().filter(|trial| !trial.equal.is_empty()).count(),
            runs.join(", ")
        )
    })
}

/// One trial, for the table of all.
pub(super) fn trial_row(trial: &Trial) -> [String; 4] {
    let equal = match trial.equal.len() {
        0 => "nothing: test as it is".to_owned(),
        1..=LISTED_MOST => trial.equal.join(", "),
        more => format!("{more} differences: {}, …", trial.equal[..NAMED_MOST].join(", ")),
    };
    let equal = match trial.direction {
        TrialDirection::TestAsBase => equal,
        TrialDirection::BaseAsTest => format!("given to base: {equal}"),
    };
    let found = match (&trial.worth, &trial.why) {
        (Some(worth), _) => {
            let Interval { estimate, low, high } = worth.cost;
            let half = 50.0 * (high - low);
            format!("{}{GLUE}% ± {}", format_signed(100.0 * estimate, 1), format_fixed(half, 1))
        }
        (None, Some(why)) => format!("did not start: {}", why.lines().next().unwrap_or_default()),
        (None, None) => "nothing was measured".to_owned(),
    };
    [trial.run.to_string(), trial.witness.name().to_owned(), equal, found]
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{Cell, RunId};

    use super::*;

    fn untried(why: &str, is_condition: bool) -> UntriedDifference {
        let (name, why) = ("innodb_doublewrite".to_owned(), why.to_owned());
        UntriedDifference { name, base: None, test: None, why, is_condition }
    }

    /// Points of rate, as a share of base's time an operation.
    fn worth(points: f64, half: f64) -> Worth {
        let around = |middle: f64, half: f64| Interval {
            estimate: middle,
            low: middle - half,
            high: middle + half,
        };
        Worth { cost: around(-points / 100.0, half / 100.0), points: around(points, half) }
    }

    /// Four differences of which no trial tells which one it is.
    fn explained(others: Worth) -> Explanation {
        let account = DifferenceAccount {
            witness: Witness::Rate,
            total: worth(-50.0, 1.0),
            causes: Vec::new(),
            together: worth(0.0, 0.0),
            not_told_apart: Vec::new(),
            others,
            others_alone: None,
            code: worth(-5.0, 20.0),
            interactions: Vec::new(),
        };
        Explanation {
            run: RunId("1".to_owned()),
            labels: ["base".to_owned(), "test".to_owned()],
            cell: Cell { load: "point-query".to_owned(), clients: 1 },
            accounts: vec![account],
            tried: 4,
            least: 0.01,
            prior: None,
            limit: None,
            leads: Vec::new(),
            remedy: None,
            untried: Vec::new(),
            plans: Vec::new(),
            ledger: None,
            waits: None,
            unwaited: None,
            work: Vec::new(),
            deadlocks: Vec::new(),
            blockers: PerArm::default(),
            code_standing: CodeStanding::Code,
            code: Vec::new(),
            nameless: None,
            trials: Vec::new(),
            open: None,
        }
    }

    #[test]
    fn what_all_differences_make_together_is_not_denied() {
        let told = headline(&explained(worth(-45.0, 20.0))).replace(GLUE, " ");
        assert!(told.contains("all differences together −45 points"), "{told}");
        let told = headline(&explained(worth(-3.0, 20.0))).replace(GLUE, " ");
        assert!(told.contains("no setting makes it"), "{told}");
    }

    #[test]
    fn an_answer_in_which_nothing_is_left_is_not_called_incomplete() {
        let mut of = explained(worth(-0.1, 0.2));
        of.open = Some("the time limit was reached".to_owned());
        of.accounts[0].code = worth(0.2, 0.4);
        let is_incomplete = |of: &Explanation| {
            let last = reader_notes(of).pop().unwrap_or_default();
            last.starts_with("not complete: the time limit")
        };
        assert!(is_incomplete(&of), "no cause is known");
        of.accounts[0].causes = vec![FoundCause {
            suspect: Suspect {
                name: "flush".to_owned(),
                facts: Vec::new(),
                told: Vec::new(),
                given: Vec::new(),
                base: "0".to_owned(),
                test: "1".to_owned(),
                weight: 1.0,
            },
            direction: TrialDirection::TestAsBase,
            worth: worth(-50.0, 1.0),
            alone: worth(-50.0, 1.0),
        }];
        assert!(!is_incomplete(&of), "{:?}", reader_notes(&of));
        of.accounts[0].others = worth(-20.0, 5.0);
        assert!(is_incomplete(&of), "others matter");
    }

    #[test]
    fn what_was_not_tried_is_neither_claimed_nor_denied() {
        let setting = [untried("two families have no settings in common", false)];
        assert_eq!(no_cause(0, &setting), "no setting was tried");
        assert_eq!(no_cause(7, &setting), "no setting that was tried makes it");
        // A follower was given with its leader, and a condition is named on its own.
        let others = [
            untried(&format!("{} sync_binlog", UntriedDifference::FOLLOWS), false),
            untried("no trial takes it back", true),
        ];
        assert_eq!(no_cause(7, &others), "no setting makes it");
        assert_eq!(no_cause(0, &[]), "no setting makes it");
    }
}
