//! The difference of profiles: which functions changed, and by how much of the whole.
//!
//! What changed by no more than chance is one line by default: a table sorted by relative change
//! shows noise first (of two profiles of one program, two thirds of the fifty top functions differ
//! by more than a tenth).

mod page;
mod waits;

use dbdyno_document::csv::number_field;
use dbdyno_document::number::{GLUE, format_fixed, format_signed};
use dbdyno_document::{DataTable, Document, Element, TableColumn, Text};
use dbdyno_model::{
    Arm, FunctionDifference, FunctionPlace, Interval, LEFT_OUT, NAMELESS, PerArm,
    ProfileDifference, ProfileScale, UntoldFunction, UntoldReason,
};
use serde::Serialize;

/// Version of the JSON contract of profile differences.
const SCHEMA: u32 = 1;
/// A change with a q-value of at most this is called one.
const Q_MOST: f64 = 0.05;
/// Functions that changed and are listed by themselves: those that changed most.
const CHANGED_MOST: usize = 25;
/// Functions that an excerpt lacks and are listed by themselves.
const UNTOLD_MOST: usize = 10;
/// A program that is told beside another one has at least this share.
const NOTABLE_LEAST: f64 = 0.01;
/// Programs that are listed by themselves: the largest.
const PROGRAMS_MOST: usize = 6;
/// Longer names are cut in text.
const NAME_MOST: usize = 48;

pub use page::profile_html;
pub use waits::{waits_document, waits_json};

/// How much is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileExtent {
    /// Functions that changed.
    Changed,
    /// All of them.
    All,
}

/// The difference as a document: functions for programs are all of them.
pub fn profile_document(of: &ProfileDifference, extent: ProfileExtent) -> Document {
    Document::from(vec![
        vec![Element::Headline(headline(of).into())],
        vec![Element::Table(table(of, extent))],
        vec![Element::Notes(notes(of).into_iter().map(Text::from).collect())],
    ])
}

fn table(of: &ProfileDifference, extent: ProfileExtent) -> DataTable {
    let all = of.functions.iter().map(ProfileRow::of);
    let all: Vec<ProfileRow> = all.chain(of.untold.iter().map(ProfileRow::of_untold)).collect();
    DataTable::new(&columns(), &rows(of, extent)).with_sum().with_records(&columns(), &all)
}

/// A function, or several together.
#[derive(Default)]
struct ProfileRow {
    name: String,
    matched: &'static str,
    share: PerArm<Option<f64>>,
    /// What is not told of a side, and may be its; nothing where all is told.
    hidden_share: PerArm<Option<f64>>,
    /// Of a function; infinite for one that base has not, and no number where a side may have it
    /// and does not tell.
    relative: Option<f64>,
    weighted: Option<Interval>,
    p_value: Option<f64>,
    q_value: Option<f64>,
    moved_within: Option<String>,
    /// How it was matched, or why not.
    told: String,
}

impl ProfileRow {
    fn of(one: &FunctionDifference) -> ProfileRow {
        let moved = one.moved_within.as_ref();
        let moved = moved.map(|caller| format!(", moved within {}", clipped(caller)));
        let relative = if is_untold(one) { f64::NAN } else { one.relative };
        ProfileRow {
            name: one.name.clone(),
            matched: one.matched.name(),
            share: PerArm::from_fn(|arm| Some(one.share[arm])),
            hidden_share: PerArm::from_fn(|arm| hidden_share(one, arm)),
            relative: Some(relative),
            weighted: Some(one.weighted),
            p_value: one.p_value,
            q_value: one.q_value,
            moved_within: one.moved_within.clone(),
            told: one.matched.name().to_owned() + &moved.unwrap_or_default(),
        }
    }

    /// A function that a side lacks: what is known of it, and no difference.
    fn of_untold(one: &UntoldFunction) -> ProfileRow {
        ProfileRow {
            name: one.name.clone(),
            matched: "untold",
            share: one.share,
            told: lacking(one),
            ..ProfileRow::default()
        }
    }

    fn of_several(name: String, all: &[&FunctionDifference]) -> ProfileRow {
        let estimate = all.iter().map(|one| one.weighted.estimate).sum();
        ProfileRow {
            name,
            share: PerArm::from_fn(|arm| Some(all.iter().map(|one| one.share[arm]).sum())),
            weighted: Some(Interval { estimate, low: f64::NAN, high: f64::NAN }),
            ..ProfileRow::default()
        }
    }

    /// Nothing where a side tells nothing of a function and may hide some.
    fn told_share(&self, arm: Arm) -> Option<f64> {
        self.share[arm].filter(|share| *share > 0.0 || self.hidden_share[arm].is_none())
    }

    fn shown_share(&self, arm: Arm) -> Text {
        let (sign, share) = match (self.share[arm], self.hidden_share[arm]) {
            (None, _) => return "?".into(),
            (Some(0.0), Some(hidden)) => ("≤ ", hidden),
            (Some(share), Some(_)) => ("≥ ", share),
            (Some(share), None) => ("", share),
        };
        format!("{sign}{}", format_fixed(100.0 * share, 2)).into()
    }

    fn shown_relative(&self) -> Text {
        match self.relative {
            None => Text::default(),
            Some(relative) if relative.is_finite() => format_signed(100.0 * relative, 1).into(),
            Some(relative) if relative.is_nan() => "?".into(),
            Some(_) => "new".into(),
        }
    }

    fn shown_weighted(&self) -> Text {
        let Some(weighted) = self.weighted else { return Text::default() };
        let estimate = format_signed(100.0 * weighted.estimate, 2);
        let has_hidden = self.hidden_share.base.or(self.hidden_share.test).is_some();
        match self.q_value {
            None => estimate.into(),
            // What is hidden lies on one side of it.
            Some(_) if has_hidden => {
                let [low, high] =
                    [weighted.low, weighted.high].map(|end| format_signed(100.0 * end, 2));
                format!("{low} to {high}").into()
            }
            Some(_) => {
                let half = 50.0 * (weighted.high - weighted.low);
                format!("{estimate} ± {}", format_fixed(half, 2)).into()
            }
        }
    }

    fn shown_q(&self) -> Text {
        match self.q_value {
            Some(q) if q < 0.001 => "<0.001".into(),
            Some(q) => format_fixed(q, 3).into(),
            None if self.relative.is_some() => "?".into(),
            None => Text::default(),
        }
    }
}

type ProfileColumn = TableColumn<'static, ProfileRow>;

fn columns() -> [ProfileColumn; 11] {
    [
        ProfileColumn::word_texts("function", |row| row.name.as_str().into())
            .cut_behind(NAME_MOST)
            .and_recorded("function", |row| row.name.clone()),
        ProfileColumn::recorded_field("matched", |row| row.matched.to_owned()),
        ProfileColumn::number_texts("base, %", |row| row.shown_share(Arm::Base))
            .and_recorded("base_share", |row| number_field(row.told_share(Arm::Base))),
        ProfileColumn::number_texts("test, %", |row| row.shown_share(Arm::Test))
            .and_recorded("test_share", |row| number_field(row.told_share(Arm::Test))),
        ProfileColumn::number_texts("relative, %", ProfileRow::shown_relative)
            .and_recorded("relative", |row| number_field(row.relative)),
        ProfileColumn::number_texts("weighted, %", ProfileRow::shown_weighted)
            .and_recorded("weighted", |row| number_field(row.weighted.map(|of| of.estimate))),
        ProfileColumn::recorded_field("weighted_low", |row| {
            number_field(row.weighted.map(|of| of.low))
        }),
        ProfileColumn::recorded_field("weighted_high", |row| {
            number_field(row.weighted.map(|of| of.high))
        }),
        ProfileColumn::recorded_field("p_value", move |row| probability_text(row.p_value)),
        ProfileColumn::number_texts("q", ProfileRow::shown_q)
            .and_recorded("q_value", move |row| probability_text(row.q_value)),
        ProfileColumn::word_texts("how matched", |row| row.told.as_str().into())
            .and_recorded("moved_within", |row| row.moved_within.clone().unwrap_or_default()),
    ]
}

fn probability_text(p: Option<f64>) -> String {
    p.map_or_else(String::new, |p| format!("{p:.3e}"))
}

/// Why nothing is proved by profiles that tell shares alone.
const UNTOLD_SAMPLES: &str = "the profiles do not all tell how many samples they have, so that \
    nobody knows what is chance: differences of shares are shown as they stand, and none of them \
    is proved; give files of perf record, what perf script prints, or all of perf report --stdio, \
    with the line # Samples at its head; above collapsed stacks write how many samples they have, \
    as # samples: 12000";

/// What is compared of threads that wait.
const OF_WAITS: &str = "each wait counts for the first function above what all waits have in \
    common: the kernel's switch, locks and conditions, and the server's own wrappers of them";

fn is_changed(one: &FunctionDifference) -> bool {
    one.q_value.is_some_and(|q| q <= Q_MOST)
}

/// Whether the number of samples is told, so that it is known what is chance.
fn is_tested(of: &ProfileDifference) -> bool {
    of.samples.base.is_some() && of.samples.test.is_some()
}

fn headline(of: &ProfileDifference) -> String {
    let half = (of.total.high - of.total.low) / 2.0;
    let estimate = of.total.estimate;
    let (percent, more) = if estimate < 0.0 {
        (format_fixed(-100.0 * estimate, 1), "less")
    } else {
        (format_signed(100.0 * estimate, 1), "more")
    };
    let total = match of.scale {
        ProfileScale::Samples => "shares of equal wholes are compared".to_owned(),
        ProfileScale::Operations if half > 0.0 => format!(
            "an operation of test costs {percent}{GLUE}% ± {}{GLUE}% {more} {}",
            format_fixed(100.0 * half, 1),
            of.measure
        ),
        ProfileScale::Operations => {
            format!("an operation of test costs {percent}{GLUE}% {more} {}", of.measure)
        }
    };
    let total = match of.place {
        FunctionPlace::Innermost => total,
        FunctionPlace::Waiting => format!("{total}, by the function that waits"),
    };
    let told =
        || of.functions.iter().filter(|one| ![LEFT_OUT, NAMELESS].contains(&one.name.as_str()));
    let total = total + &without_names(of);
    if !is_tested(of) && told().count() > 0 {
        return format!("{total}; the number of samples is not told: no difference is proved");
    }
    match (told().filter(|one| is_changed(one)).count(), told().count()) {
        (_, 0) if of.untold.iter().any(|one| one.reason == UntoldReason::Nameless) => {
            format!("{total}; all functions may be among those: none can be compared")
        }
        (_, 0) => format!("{total}; no function stands in all excerpts: none can be compared"),
        (0, all) => format!("{total}; no function of {all} changed by more than chance"),
        (1, all) => format!("{total}; 1 function of {all} changed"),
        (more, all) => format!("{total}; {more} functions of {all} changed"),
    }
}

/// The rows of the table; what is not shown is one row, and the last one is the sum.
fn rows(of: &ProfileDifference, extent: ProfileExtent) -> Vec<ProfileRow> {
    let is_all = extent == ProfileExtent::All;
    let (shown, hidden): (Vec<_>, Vec<_>) =
        of.functions.iter().partition(|one| is_all || is_changed(one) || one.q_value.is_none());
    let most = if is_all { shown.len() } else { CHANGED_MOST };
    let (listed, further) = shown.split_at(most.min(shown.len()));
    let mut rows: Vec<ProfileRow> = listed.iter().map(|one| ProfileRow::of(one)).collect();
    if !further.is_empty() {
        let which = if is_tested(of) { " that changed" } else { "" };
        rows.push(ProfileRow::of_several(format!("{} others{which}", further.len()), further));
    }
    if !hidden.is_empty() {
        rows.push(ProfileRow::of_several(format!("{} others together", hidden.len()), &hidden));
    }
    let most = if is_all { of.untold.len() } else { UNTOLD_MOST };
    rows.extend(of.untold.iter().take(most).map(ProfileRow::of_untold));
    rows.push(ProfileRow::of_several("sum".to_owned(), &of.functions.iter().collect::<Vec<_>>()));
    rows
}

/// Which excerpt does not tell a function, or which side has so many without names.
fn lacking(one: &UntoldFunction) -> String {
    let side = if one.lacking.base { Arm::Base } else { Arm::Test };
    match (one.reason, one.lacking) {
        (UntoldReason::Nameless, _) => format!("may have no name in {side}"),
        (UntoldReason::Excerpt, PerArm { base: true, test: true }) => {
            "not in all excerpts".to_owned()
        }
        (UntoldReason::Excerpt, _) => format!("not in the excerpt of {side}"),
    }
}

/// How much of a side has no names, where functions may be hidden there.
fn without_names(of: &ProfileDifference) -> String {
    let hidden = of.untold.iter().find(|one| one.reason == UntoldReason::Nameless);
    hidden.map_or_else(String::new, |one| {
        let side = if one.lacking.base { Arm::Base } else { Arm::Test };
        let share = format_fixed(100.0 * of.nameless_share[side], 1);
        format!("; {share}{GLUE}% of {side} has no names")
    })
}

fn samples(number: Option<f64>) -> String {
    number.map_or_else(|| "?".to_owned(), |number| format_fixed(number, 0))
}

fn notes(of: &ProfileDifference) -> Vec<String> {
    let matched: Vec<String> = of
        .matched
        .iter()
        .filter(|(_, share)| *share > 0.0)
        .map(|(rung, share)| format!("{} {}{GLUE}%", rung.name(), format_fixed(100.0 * share, 1)))
        .collect();
    let few = of.profiles.base.min(of.profiles.test);
    let spread = match of.dispersion.map(|dispersion| (few, format_fixed(dispersion, 2))) {
        None => UNTOLD_SAMPLES.to_owned(),
        Some((0..=1, dispersion)) => format!(
            "there is one profile on a side: that its samples are {dispersion} times as far apart \
             as by chance is assumed, and how far servers are apart from start to start is not \
             known; take three or more of each"
        ),
        Some((_, dispersion)) => {
            format!("samples are {dispersion} times as far apart as by chance")
        }
    };
    let mut notes = vec![
        format!(
            "{} and {} profiles with {} and {} samples; of base's samples matched: {}",
            of.profiles.base,
            of.profiles.test,
            samples(of.samples.base),
            samples(of.samples.test),
            matched.join(", ")
        ),
        spread,
        "weighted: what a function adds to the cost of an operation, in per cent of the whole in \
         base, with its 95 % interval; weights add up to the sum. q: among so many functions, the \
         share of wrong ones if all with as small a q are called changed"
            .to_owned(),
    ];
    if of.place == FunctionPlace::Waiting {
        notes.push(OF_WAITS.to_owned());
    }
    if of.scale == ProfileScale::Samples {
        notes.push(
            "only shares are compared, so that a function which became cheaper makes all others \
             look dearer: operations are not known (give them as FILE@OPERATIONS), or the profiles \
             do not tell how much was sampled in one and the same unit, or were sampled at other \
             rates that not all of them tell"
                .to_owned(),
        );
    }
    notes.extend(Arm::BOTH.into_iter().filter_map(|arm| several_programs(of, arm)));
    for arm in Arm::BOTH.into_iter().filter(|arm| of.idle_share[*arm] > 0.0) {
        notes.push(format!(
            "of all that was sampled of {arm}, {}{GLUE}% is idle, and left out: no program worked",
            format_fixed(100.0 * of.idle_share[arm], 1)
        ));
    }
    notes.extend(of_excerpts(of));
    notes.extend(of_nameless(of));
    notes
}

/// Functions that a side does not tell for a reason, and what is said where not all are shown.
fn untold_for(
    of: &ProfileDifference,
    reason: UntoldReason,
) -> (Vec<&UntoldFunction>, &'static str) {
    let listed = if of.untold.len() > UNTOLD_MOST { "; --all shows all of them" } else { "" };
    (of.untold.iter().filter(|one| one.reason == reason).collect(), listed)
}

/// What excerpts do not tell.
fn of_excerpts(of: &ProfileDifference) -> Option<String> {
    let (untold, listed) = untold_for(of, UntoldReason::Excerpt);
    let largest = untold.first()?;
    Some(format!(
        "{} in every excerpt, the largest of them {}: what is known of them counts with what is left \
         out, and what they differ by is not known; give profiles that are whole{listed}",
        match untold.len() {
            1 => "1 function does not stand".to_owned(),
            more => format!("{more} functions do not stand"),
        },
        clipped(&largest.name),
    ))
}

/// What may be among functions without names.
fn of_nameless(of: &ProfileDifference) -> Option<String> {
    let (untold, listed) = untold_for(of, UntoldReason::Nameless);
    let largest = untold.first()?;
    let side = if largest.lacking.base { Arm::Base } else { Arm::Test };
    let share = |arm: Arm| format_fixed(100.0 * of.nameless_share[arm], 1);
    Some(format!(
        "of {side} {}{GLUE}% of the samples are of functions without names, and of {} {}{GLUE}%: {} \
         may be among these, the largest of them {}, so that what they differ by is not known; they \
         count together with what has no names; give {side} the symbols of its build{listed}",
        share(side),
        side.other_side(),
        share(side.other_side()),
        match untold.len() {
            1 => "1 function".to_owned(),
            more => format!("{more} functions"),
        },
        clipped(&largest.name),
    ))
}

/// That programs of a side are counted together, where that matters.
fn several_programs(of: &ProfileDifference, arm: Arm) -> Option<String> {
    let programs = &of.programs[arm];
    let notable = programs.iter().filter(|(_, share)| *share >= NOTABLE_LEAST).count();
    if notable < 2 {
        return None;
    }
    let listed = programs.iter().take(notable.min(PROGRAMS_MOST));
    let listed: Vec<String> = listed
        .map(|(name, share)| format!("{name} {}{GLUE}%", format_fixed(100.0 * share, 1)))
        .collect();
    Some(format!(
        "several programs of {arm} are counted together: {}; --process {} compares one of them",
        listed.join(", "),
        programs[0].0
    ))
}

fn clipped(name: &str) -> String {
    match name.char_indices().nth(NAME_MOST) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

#[derive(Serialize)]
struct ProfileJson<'a> {
    schema: u32,
    scale: &'static str,
    total: f64,
    total_low: f64,
    total_high: f64,
    base_profiles: usize,
    test_profiles: usize,
    /// Missing where profiles tell shares alone.
    base_samples: Option<f64>,
    test_samples: Option<f64>,
    measure: &'a str,
    /// Missing where the number of samples is.
    dispersion: Option<f64>,
    matched: Vec<MatchedJson>,
    functions: Vec<FunctionJson<'a>>,
    untold: Vec<UntoldJson<'a>>,
    base_programs: Vec<ProgramJson<'a>>,
    test_programs: Vec<ProgramJson<'a>>,
    base_idle_share: f64,
    test_idle_share: f64,
    base_nameless_share: f64,
    test_nameless_share: f64,
}

/// A program that is counted together with others.
#[derive(Serialize)]
struct ProgramJson<'a> {
    program: &'a str,
    share: f64,
}

fn programs_json(programs: &[(String, f64)]) -> Vec<ProgramJson<'_>> {
    programs.iter().map(|it| ProgramJson { program: &it.0, share: it.1 }).collect()
}

/// A function that a side does not tell, or not all of it.
#[derive(Serialize)]
struct UntoldJson<'a> {
    function: &'a str,
    base_share: Option<f64>,
    test_share: Option<f64>,
    lacking: Vec<&'static str>,
    reason: &'static str,
}

impl UntoldJson<'_> {
    fn of(one: &UntoldFunction) -> UntoldJson<'_> {
        let lacking = Arm::BOTH.into_iter().filter(|arm| one.lacking[*arm]).map(Arm::name);
        UntoldJson {
            function: &one.name,
            base_share: one.share.base,
            test_share: one.share.test,
            lacking: lacking.collect(),
            reason: match one.reason {
                UntoldReason::Excerpt => "excerpt",
                UntoldReason::Nameless => "nameless",
            },
        }
    }
}

#[derive(Serialize)]
struct MatchedJson {
    matched: &'static str,
    base_share: f64,
}

#[derive(Serialize)]
struct FunctionJson<'a> {
    function: &'a str,
    matched: &'static str,
    base_share: f64,
    test_share: f64,
    /// What a side does not tell, and may be its.
    base_hidden_share: f64,
    test_hidden_share: f64,
    /// Missing where base does not have it, and where a side may have it and does not tell.
    relative: Option<f64>,
    weighted: f64,
    /// Missing, as are the chances, where the number of samples is not told.
    weighted_low: Option<f64>,
    weighted_high: Option<f64>,
    p_value: Option<f64>,
    q_value: Option<f64>,
    moved_within: Option<&'a str>,
}

/// The difference as JSON, indented, ending with a line feed.
pub fn profile_json(of: &ProfileDifference) -> String {
    let functions = of.functions.iter().map(|one| FunctionJson {
        function: &one.name,
        matched: one.matched.name(),
        base_share: one.share.base,
        test_share: one.share.test,
        base_hidden_share: one.hidden_share.base,
        test_hidden_share: one.hidden_share.test,
        relative: finite_change(one),
        weighted: one.weighted.estimate,
        weighted_low: finite(one.weighted.low),
        weighted_high: finite(one.weighted.high),
        p_value: one.p_value,
        q_value: one.q_value,
        moved_within: one.moved_within.as_deref(),
    });
    let matched = of
        .matched
        .iter()
        .map(|(rung, share)| MatchedJson { matched: rung.name(), base_share: *share });
    let document = ProfileJson {
        schema: SCHEMA,
        scale: match of.scale {
            ProfileScale::Operations => "operations",
            ProfileScale::Samples => "samples",
        },
        total: of.total.estimate,
        total_low: of.total.low,
        total_high: of.total.high,
        base_profiles: of.profiles.base,
        test_profiles: of.profiles.test,
        base_samples: of.samples.base,
        test_samples: of.samples.test,
        measure: &of.measure,
        dispersion: of.dispersion,
        matched: matched.collect(),
        functions: functions.collect(),
        untold: of.untold.iter().map(UntoldJson::of).collect(),
        base_programs: programs_json(&of.programs.base),
        test_programs: programs_json(&of.programs.test),
        base_idle_share: of.idle_share.base,
        test_idle_share: of.idle_share.test,
        base_nameless_share: of.nameless_share.base,
        test_nameless_share: of.nameless_share.test,
    };
    crate::json::json_text(&document)
}

fn finite_change(one: &FunctionDifference) -> Option<f64> {
    (one.relative.is_finite() && !is_untold(one)).then_some(one.relative)
}

/// What a side does not tell and may be of a function, if a table shows it.
fn hidden_share(one: &FunctionDifference, arm: Arm) -> Option<f64> {
    Some(one.hidden_share[arm]).filter(|share| *share >= SHOWN_LEAST)
}

/// Whether a side has nothing of a function in what it tells, and may have some in what it does
/// not.
fn is_untold(one: &FunctionDifference) -> bool {
    Arm::BOTH.iter().any(|&arm| one.share[arm] == 0.0 && hidden_share(one, arm).is_some())
}

/// Half of the last digit of a share.
const SHOWN_LEAST: f64 = 5e-5;

#[cfg(test)]
mod tests {
    use super::*;

    /// A cut list tells no share of what it lacks, and 0 would be one.
    #[test]
    fn what_a_side_may_hide_is_a_bound_and_no_number() {
        let of = |hidden: f64| FunctionDifference {
            name: "hot".to_owned(),
            matched: dbdyno_model::Match::Alone,
            share: PerArm { base: 0.0, test: 0.3 },
            hidden_share: PerArm { base: hidden, test: 0.0 },
            relative: f64::INFINITY,
            weighted: Interval { estimate: 0.3, low: 0.04, high: 0.31 },
            p_value: Some(1e-9),
            q_value: Some(1e-9),
            moved_within: None,
        };
        let texts = |one: &FunctionDifference| {
            let row = ProfileRow::of(one);
            let texts = [row.shown_share(Arm::Base), row.shown_relative(), row.shown_weighted()];
            (texts, row.told_share(Arm::Base), finite_change(one))
        };
        let hidden = ["≤ 25.00", "?", "+4.00 to +31.00"].map(Text::from);
        assert_eq!(texts(&of(0.25)), (hidden, None, None));
        let (told, share, _) = texts(&of(0.0));
        assert_eq!((&told[..2], share), (&["0.00", "new"].map(Text::from)[..], Some(0.0)));
    }
}
