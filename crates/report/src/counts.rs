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

use dbdyno_document::number;
use dbdyno_model::CountVerdict;

use crate::sheet::{Sheet, SheetCell, Tint};
use crate::view::{CountView, FunctionView, View};

/// Functions that are shown; the rest of them are in JSON.
const SHOWN: usize = 15;
/// And the least change of a function that is shown, as a share of an operation.
const SHOWN_SHARE: f64 = 5e-4;

/// The title of all that is counted, and of its first table.
pub(crate) const TITLE: &str = "Instructions per operation";

/// The tables; none where nothing was counted.
pub(crate) fn sheets(view: &View) -> Vec<Sheet> {
    let counts = &view.summary.counts;
    if counts.is_empty() {
        return Vec::new();
    }
    let mut sheets = vec![Sheet {
        title: TITLE.to_owned(),
        head: ["base", "test", "difference", "test ÷ base", "±", "verdict"]
            .map(str::to_owned)
            .into(),
        rows: counts.iter().map(row).collect(),
        aside: together(counts),
    }];
    let by_function = counts.iter().map(by_function);
    sheets.extend(by_function.filter(|sheet| !sheet.rows.is_empty()));
    sheets
}

/// What stands above everything where nothing but instructions was measured.
pub(crate) fn sentence(counts: &[CountView]) -> Option<String> {
    let one = |count: &CountView| {
        if let Some(why) = blocked(count) {
            return format!("no verdict on {}: {why}", count.load);
        }
        let times = count.ratio.map_or(number::UNKNOWN.into(), |ratio| number::fixed(ratio, 3));
        let how = match count.verdict {
            CountVerdict::More => "test needs more instructions",
            CountVerdict::Fewer => "test needs fewer instructions",
            CountVerdict::Equal => "test needs as many instructions, within the budget,",
            CountVerdict::Undecided => "cannot tell which arm needs more instructions",
        };
        format!("{how} on {}: ×{times} (±{})", count.load, spread(count))
    };
    (!counts.is_empty()).then(|| counts.iter().map(one).collect::<Vec<_>>().join("; "))
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
    half.map_or(number::UNKNOWN.to_owned(), |half| format!("{} %", number::fixed(half, 2)))
}

fn plain(text: String) -> SheetCell {
    SheetCell { text, tint: Tint::None }
}

fn whole(value: Option<f64>) -> SheetCell {
    plain(value.map_or(number::UNKNOWN.to_owned(), |value| number::fixed(value, 0)))
}

fn difference(base: Option<f64>, test: Option<f64>) -> SheetCell {
    let text = match (base, test) {
        (Some(base), Some(test)) => {
            let sign = if test > base { "+" } else { "" };
            format!("{sign}{}", number::fixed(test - base, 0))
        }
        _ => number::UNKNOWN.to_owned(),
    };
    plain(text)
}

fn row(count: &CountView) -> (String, Vec<SheetCell>) {
    let (base, test) = (count.base.instructions_per_op, count.test.instructions_per_op);
    let ratio = count.ratio.map_or(number::UNKNOWN.to_owned(), |ratio| number::fixed(ratio, 3));
    let verdict = match count.verdict {
        CountVerdict::Undecided if blocked(count).is_some() => "no verdict",
        CountVerdict::Undecided => "cannot tell",
        decided => decided.name(),
    };
    // Numbers whose mean is not right are not compared.
    let is_open = blocked(count).is_some();
    let compared = |cell: SheetCell| if is_open { plain("~".to_owned()) } else { cell };
    let cells = vec![
        whole(base),
        whole(test),
        compared(difference(base, test)),
        compared(plain(ratio)),
        plain(spread(count)),
        plain(verdict.to_owned()),
    ];
    (count.load.clone(), cells)
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

fn by_function(count: &CountView) -> Sheet {
    let least = SHOWN_SHARE * count.base.instructions_per_op.unwrap_or(0.0);
    let is_changed = |one: &&FunctionView| {
        (one.test_own.unwrap_or(0.0) - one.base_own.unwrap_or(0.0)).abs() >= least
    };
    let shown = count.functions.iter().filter(is_changed).take(SHOWN);
    let change = match (count.base.instructions_per_op, count.test.instructions_per_op) {
        (Some(base), Some(test)) => test - base,
        _ => 0.0,
    };
    let cells = |one: &FunctionView| {
        let (base, test) = (one.base_own.unwrap_or(0.0), one.test_own.unwrap_or(0.0));
        let share = 100.0 * (test - base) / change;
        // A share of next to nothing says nothing.
        let is_decided = matches!(count.verdict, CountVerdict::More | CountVerdict::Fewer);
        let tells = is_decided && share.is_finite();
        let share = if tells { format!("{} %", number::fixed(share, 1)) } else { "".to_owned() };
        let name = match &one.function {
            Some(name) => format!("{} ({})", short(name), one.object),
            None => format!("without a name ({})", one.object),
        };
        let own = vec![whole(Some(base)), whole(Some(test)), difference(Some(base), Some(test))];
        (name, [own, vec![plain(share)]].concat())
    };
    let named = |share: Option<f64>| {
        share.map_or(number::UNKNOWN.to_owned(), |share| number::fixed(100.0 * share, 0))
    };
    Sheet {
        title: format!("{TITLE}: by function, {}", count.load),
        head: ["base", "test", "difference", "share"].map(str::to_owned).into(),
        rows: shown.map(cells).collect(),
        aside: format!(
            "Of its own, without what it calls; the largest changes, all are in JSON. Functions \
             with a name hold {} % of base and {} % of test: the rest is static code of stripped \
             files.",
            named(count.base.named_share),
            named(count.test.named_share)
        ),
    }
}

/// Names of templates fill a screen.
fn short(name: &str) -> String {
    const MOST: usize = 60;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}
