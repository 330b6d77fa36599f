//! What async-profiler prints with `-o text` or `-o traces`: stacks, each below a line with what it
//! weighs.
//!
//! ```text
//!   Started [lock] profiling                                what is sampled, if that was kept
//!   --- Execution profile ---
//!   Total samples       : 496
//!
//!   --- 352227700 ns (53.09%), 248 samples                  weight, share, samples
//!     [ 0] java.util.Properties                             the innermost first
//!     [ 1] java.util.Hashtable.get
//! ```
//!
//! With `-o flat` it prints functions with what they have themselves:
//!
//! ```text
//!             ns  percent  samples  top
//!     ----------  -------  -------  ---
//!     1375787484   17.54%      130  java.util.HashMap.putVal
//! ```
//!
//! The unit tells bytes from time; what kind of time it is, the line above alone. It prints so many
//! of the stacks, 200 if nothing else was asked for: the shares tell what is left out.

use dbdyno_model::LEFT_OUT;

use super::filled::filled_lines;
use super::form::{
    ALLOCATIONS, Form, MeasureUnit, PROCESSOR, ProfileError, ProfileMeasure, WALL, Weighing,
    check_weights,
};
use super::programs::Sighting;
use super::stack::Stack;

/// Why a table is refused with stacks below it.
const TWICE: &str = "a table of functions, and stacks below it, are of one profile twice; leave \
                     one of them in the file";
/// The shares from which on a text is taken for whole: they are rounded.
const WHOLE: f64 = 0.97;

/// Whether a line is the head of its text, or of a stack.
pub(super) fn is_of_async_profiler(line: &str) -> bool {
    line.trim() == "--- Execution profile ---" || weight(line).is_some()
}

/// What stands above a stack.
#[derive(Clone, Copy)]
struct Weight<'t> {
    value: f64,
    unit: &'t str,
    share: f64,
    samples: f64,
}

impl Weight<'_> {
    /// The squares of the weights of its samples, if they are alike.
    fn square(&self) -> f64 {
        self.value * self.value / f64::max(self.samples, 1.0)
    }
}

/// `--- 352227700 ns (53.09%), 248 samples`
fn weight(line: &str) -> Option<Weight<'_>> {
    let words: Vec<&str> = line.strip_prefix("--- ")?.split_whitespace().collect();
    let [value, unit, share, samples, "sample" | "samples"] = words[..] else { return None };
    let share = share.strip_prefix('(')?.strip_suffix("%),")?.parse::<f64>().ok()? / 100.0;
    let (value, samples) = (value.parse::<f64>().ok()?, samples.parse::<f64>().ok()?);
    (value >= 0.0 && samples > 0.0).then_some(Weight { value, unit, share, samples })
}

/// `          ns  percent  samples  top`: the unit.
fn head_of_flat(line: &str) -> Option<&str> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [unit, "percent", "samples", "top"] = words[..] { Some(unit) } else { None }
}

/// `  1375787484   17.54%      130  java.util.HashMap.putVal`: what it weighs, and the function.
fn flat<'t>(line: &'t str, unit: &'t str) -> Option<(Weight<'t>, &'t str)> {
    let (value, rest) = line.trim().split_once(' ')?;
    let (share, rest) = rest.trim_start().split_once("% ")?;
    let (samples, name) = rest.trim_start().split_once(' ')?;
    let share = share.parse::<f64>().ok()? / 100.0;
    let (value, samples) = (value.parse::<f64>().ok()?, samples.parse::<f64>().ok()?);
    (value >= 0.0).then(|| (Weight { value, unit, share, samples }, name.trim()))
}

/// `  [ 1] java.util.Hashtable.get`: the name.
fn frame(line: &str) -> Option<&str> {
    let (number, name) = line.trim_start().strip_prefix('[')?.split_once("] ")?;
    number.trim().parse::<u32>().ok().map(|_| name.trim()).filter(|name| !name.is_empty())
}

/// `Started [lock] profiling`: what is sampled.
fn started(line: &str) -> Option<&str> {
    line.trim().strip_prefix("Started [")?.strip_suffix("] profiling")
}

/// What is sampled, by what was started and the unit of the weights.
fn sampled_event<'t>(kind: Option<&'t str>, unit: Option<&str>) -> &'t str {
    match (kind, unit) {
        (Some("cpu" | "itimer" | "ctimer"), _) => PROCESSOR,
        (Some("wall"), _) => WALL,
        (Some("lock"), _) => "time of waiting for locks",
        (Some("alloc"), _) | (None, Some("bytes")) => ALLOCATIONS,
        (Some(other), _) => other,
        (None, Some("ns")) => "time",
        (None, _) => "samples",
    }
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut stack = Stack::default();
    let (mut kind, mut first, mut above) = (None, None::<&str>, None::<Weight<'_>>);
    let (mut total, mut share, mut squares, mut stacks) = (0.0, 0.0, 0.0, 0_u64);
    let (mut table, mut functions) = (None, 0_u64);
    for (number, line) in filled_lines(text).chain([(0, "")]) {
        kind = kind.or_else(|| started(line));
        if let Some(name) = frame(line).filter(|_| above.is_some()) {
            stack.push(number, name.into())?;
            continue;
        }
        if let Some(of) = above.take_if(|_| !stack.is_empty()) {
            stacks += 1;
            stack.emit_sighting("", of.value, take);
            (total, share, squares) = (total + of.value, share + of.share, squares + of.square());
        }
        table = head_of_flat(line).or(table);
        // Behind stacks the table says the same once more.
        if let Some((of, name)) = table.filter(|_| stacks == 0).and_then(|unit| flat(line, unit)) {
            first = first.or(Some(of.unit));
            functions += 1;
            check_weights(number, total + of.value)?;
            take(&Sighting::new(&[name], of.value));
            (total, share, squares) = (total + of.value, share + of.share, squares + of.square());
        }
        let Some(next) = weight(line) else { continue };
        check_weights(number, total + next.value)?;
        match first {
            Some(first) if first != next.unit => {
                let what = format!(
                    "weights in {first} above, and in {} here, cannot be added up; leave those of \
                     one unit in the file",
                    next.unit
                );
                return Err(ProfileError::new(number, what));
            }
            _ => first = Some(next.unit),
        }
        above = Some(next);
    }
    if functions > 0 && stacks > 0 {
        return Err(ProfileError::new(0, TWICE));
    }
    let event = sampled_event(kind, first);
    let is_excerpt = share > 0.0 && share < WHOLE;
    // Kish: amounts are of all sizes, and a stack tells the mean of its own.
    let unit = if squares > 0.0 { squares / total } else { 1.0 };
    if is_excerpt {
        take(&Sighting::new(&[LEFT_OUT], total * (1.0 / share - 1.0)));
    }
    let told = 100.0 * f64::min(share, 1.0);
    let count =
        if functions == 0 { format!("{stacks} stacks") } else { format!("{functions} functions") };
    Ok(Form {
        taken_for: format!("async-profiler's text of {event}, {count}, {told:.1} % of it"),
        measure: ProfileMeasure::of_unit(MeasureUnit::Event, Some(event)),
        weighing: Weighing::Unit(unit),
        is_excerpt,
    })
}
