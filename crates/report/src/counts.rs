//! Instructions per operation: the same sentences and tables in every shape.
//!
//! ```text
//!   Instructions per operation    base     test     difference   test ÷ base
//!   point-query                   46 512   72 401   +25 889      1.557 ±0.2 % more
//!
//!   …by function: point-query
//!   MYSQLparse                     5 580    8 011    +2 431      9.4 % of the difference
//!   no name, in libcrypto.so.3         0      912      +912
//! ```

use dbdyno_document::{DataTable, TableCell, number};
use dbdyno_model::CountVerdict;

use crate::view::{CountView, FunctionView, View};

/// Functions that are shown; the rest of them are in JSON.
const SHOWN: usize = 15;
/// And the least change of a function that is shown, as a share of an operation.
const SHOWN_SHARE: f64 = 5e-4;

/// The title of all that is counted, and of its first table.
const TITLE: &str = "Instructions per operation";

/// The tables; none where nothing was counted.
pub(crate) fn count_tables(view: &View) -> Vec<DataTable> {
    let counts = &view.summary.counts;
    if counts.is_empty() {
        return Vec::new();
    }
    let heads = ["base", "test", "difference", "test ÷ base", "±", "verdict"];
    let all = DataTable::of_numbers("", heads, counts.iter().map(row));
    let by_function = counts.iter().map(by_function).filter(|table| !table.is_empty());
    let all = all.with_title(TITLE).with_legend(together(counts));
    std::iter::once(all).chain(by_function).collect()
}

/// What stands above everything where nothing but instructions was measured.
pub(crate) fn verdict_summary(counts: &[CountView]) -> Option<String> {
    (!counts.is_empty()).then(|| counts.iter().map(verdict).collect::<Vec<_>>().join("; "))
}

/// `test needs more instructions on point-query: ×1.557 (±0.2 %)`
fn verdict(count: &CountView) -> String {
    if let Some(why) = blocked(count) {
        return format!("no verdict on {}: {why}", count.load);
    }
    let times = count.ratio.map_or(number::UNKNOWN.into(), |ratio| number::format_fixed(ratio, 3));
    let how = match count.verdict {
        CountVerdict::More => "test needs more instructions",
        CountVerdict::Fewer => "test needs fewer instructions",
        CountVerdict::Equal => "test needs as many instructions, within the budget,",
        CountVerdict::Undecided => "cannot tell which arm needs more instructions",
    };
    format!("{how} on {}: ×{times} (±{})", count.load, spread(count))
}

/// Why there is no verdict, where something forbids one.
fn blocked(count: &CountView) -> Option<&str> {
    let blocking = count.warnings.iter().find(|warning| warning.severity == "blocks");
    blocking.map(|warning| &*warning.text)
}

fn spread(count: &CountView) -> String {
    let half = match (count.ratio_low, count.ratio_high, count.ratio) {
        (Some(low), Some(high), Some(ratio)) => Some(100.0 * (high - low) / 2.0 / ratio),
        _ => None,
    };
    half.map_or(number::UNKNOWN.to_owned(), |half| format!("{} %", number::format_fixed(half, 2)))
}

fn whole(value: Option<f64>) -> TableCell {
    value.map_or(number::UNKNOWN.to_owned(), |value| number::format_fixed(value, 0)).into()
}

fn difference(base: Option<f64>, test: Option<f64>) -> TableCell {
    let (Some(base), Some(test)) = (base, test) else { return number::UNKNOWN.into() };
    let sign = if test > base { "+" } else { "" };
    format!("{sign}{}", number::format_fixed(test - base, 0)).into()
}

fn row(count: &CountView) -> (&str, Vec<TableCell>) {
    let (base, test) = (count.base.instructions_per_op, count.test.instructions_per_op);
    let ratio =
        count.ratio.map_or(number::UNKNOWN.to_owned(), |ratio| number::format_fixed(ratio, 3));
    let verdict = match count.verdict {
        CountVerdict::Undecided if blocked(count).is_some() => "no verdict",
        CountVerdict::Undecided => "cannot tell",
        decided => decided.name(),
    };
    // Numbers whose mean is not right are not compared.
    let (difference, ratio) = match blocked(count) {
        Some(_) => ("~".into(), "~".into()),
        None => (difference(base, test), ratio.into()),
    };
    let spread = spread(count).into();
    (&count.load, vec![whole(base), whole(test), difference, ratio, spread, verdict.into()])
}

fn together(counts: &[CountView]) -> String {
    let mut text = "User space, one client, per statement; ±: half of the 95 % interval over \
                    repetitions."
        .to_owned();
    for why in counts.iter().filter_map(blocked) {
        text.push_str(&format!(" No verdict because {why}."));
    }
    for sentence in counts.iter().flat_map(|count| &count.together) {
        text.push_str(&format!(" {sentence}."));
    }
    text
}

fn by_function(count: &CountView) -> DataTable {
    let least = SHOWN_SHARE * count.base.instructions_per_op.unwrap_or(0.0);
    let changed = count
        .functions
        .iter()
        .filter(|one| (one.test_own.unwrap_or(0.0) - one.base_own.unwrap_or(0.0)).abs() >= least);
    let rows = changed.take(SHOWN).map(|one| of_function(count, one));
    DataTable::of_numbers("", ["base", "test", "difference", "share"], rows)
        .with_title(format!("{TITLE}: by function, {}", count.load))
        .with_legend(format!(
            "Of its own, without what it calls; the largest changes, all are in JSON. Functions \
             with a name hold {} % of base and {} % of test: the rest is static code of stripped \
             files.",
            percent(count.base.named_share),
            percent(count.test.named_share)
        ))
}

/// `MYSQLparse (mysqld)`, and how much of the difference is its own.
fn of_function(count: &CountView, one: &FunctionView) -> (String, Vec<TableCell>) {
    let change = match (count.base.instructions_per_op, count.test.instructions_per_op) {
        (Some(base), Some(test)) => test - base,
        _ => 0.0,
    };
    let (base, test) = (one.base_own.unwrap_or(0.0), one.test_own.unwrap_or(0.0));
    let share = 100.0 * (test - base) / change;
    // A share of next to nothing says nothing.
    let is_decided = matches!(count.verdict, CountVerdict::More | CountVerdict::Fewer);
    let share = if is_decided && share.is_finite() {
        format!("{} %", number::format_fixed(share, 1))
    } else {
        String::new()
    };
    let name = match &one.function {
        Some(name) => format!("{} ({})", short(name), one.object),
        None => format!("without a name ({})", one.object),
    };
    let (base, test) = (Some(base), Some(test));
    (name, vec![whole(base), whole(test), difference(base, test), share.into()])
}

fn percent(share: Option<f64>) -> String {
    share.map_or(number::UNKNOWN.to_owned(), |share| number::format_fixed(100.0 * share, 0))
}

/// Names of templates fill a screen.
fn short(name: &str) -> String {
    const MOST: usize = 60;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}
