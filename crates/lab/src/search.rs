//! Looking for the highest rate at which a condition on response times holds.
//!
//! ```text
//!   rate   ├────────────────────────────────────────────┤ what the closed loop did, and a bit
//!   1                             ✗
//!   2           ✓
//!   3                    ✓                                each step a round of its own, stored
//!   4                        ✗
//!   …                      ✓ ◀ found: the highest rate that held
//! ```
//!
//! A search halves the bracket, in logarithms, until it is narrower than [`RESOLUTION`]. One search
//! says little: near the edge a round passes or fails by luck. So there are many, in turn on both
//! arms as rounds are, each in a bracket that begins elsewhere; the rates that they find are the
//! data, and pairs of them are judged as pairs of rounds are.

use dbdyno_model::driving::SEARCH_STEPS;
use dbdyno_model::{ArmIndex, RoundKey, random};

use crate::error::LabError;

/// A bracket whose ends differ by less is not halved again.
const RESOLUTION: f64 = 0.04;
/// The lowest rate that is tried, as a share of the highest.
const LOWEST: f64 = 1.0 / 64.0;
/// The key of the numbers that say where brackets begin.
const BRACKETS: u64 = 0x6272_6163_6b65_7473;

/// One step that was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step {
    /// Events per second.
    pub rate: f64,
    /// Whether the condition held.
    pub held: bool,
}

/// The key of the round in which a search takes step number `step`.
pub(crate) fn step_key(search: &RoundKey, step: u32) -> RoundKey {
    RoundKey { pair: search.pair * SEARCH_STEPS + step, ..search.clone() }
}

/// Searches below about `closed_rate`, what the closed loop did. `measure` takes a step: it
/// measures a round at a rate and says whether the condition held.
///
/// # Errors
/// Those of `measure`.
pub(crate) fn search_rate(
    seed: u64,
    number: u32,
    closed_rate: f64,
    mut measure: impl FnMut(u32, f64) -> Result<bool, LabError>,
) -> Result<Vec<Step>, LabError> {
    // Both arms of a pair begin at the same share of what they can do.
    let draw = random::stream(&[seed, BRACKETS, u64::from(number)]).next_u64();
    let shift = 1.0 + RESOLUTION * (draw >> 11) as f64 / (1_u64 << 53) as f64;
    let mut high = closed_rate * 1.1 * shift;
    let mut low = high * LOWEST;
    let mut path = Vec::new();
    for step in 0..SEARCH_STEPS {
        // The capacity is near the upper end: look there first, and below it by halves.
        let rate = if step == 0 { high * 0.75 } else { (low * high).sqrt() };
        let held = measure(step, rate)?;
        path.push(Step { rate, held });
        if held {
            low = rate
        } else {
            high = rate
        }
        if high / low < 1.0 + RESOLUTION {
            break;
        }
    }
    Ok(path)
}

/// The path of a search in words: `base, point-query at 16 clients: 8000 ✗ 3900 ✓ … found 5400/s`.
pub(crate) fn describe_path(search: &RoundKey, arm: ArmIndex, path: &[Step]) -> String {
    let steps: Vec<String> = path
        .iter()
        .map(|step| format!("{:.0} {}", step.rate, if step.held { "✓" } else { "✗" }))
        .collect();
    let held = path.iter().filter(|step| step.held).map(|step| step.rate);
    let found = match held.reduce(f64::max) {
        Some(rate) => format!("found {rate:.0}/s"),
        None => "found none".to_owned(),
    };
    format!("{arm}, {}: {}  {found}", search.cell, steps.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(number: u32, truth: f64) -> Vec<Step> {
        search_rate(1, number, 1000.0, |_, rate| Ok(rate < truth)).unwrap()
    }

    #[test]
    fn the_highest_rate_is_found_to_its_resolution_and_right_in_the_mean() {
        for truth in [40.0, 300.0, 777.0, 1050.0] {
            let found = |number| {
                let path = find(number, truth);
                let held = path.iter().filter(|step| step.held).map(|step| step.rate);
                held.fold(0.0, f64::max)
            };
            let rates: Vec<f64> = (0..50).map(found).collect();
            for &rate in &rates {
                assert!(rate < truth && rate > truth / (1.0 + RESOLUTION), "{truth}: {rate}");
            }
            let mean = rates.iter().sum::<f64>() / 50.0;
            assert!((mean / truth - 1.0).abs() < RESOLUTION, "{truth}: {mean}");
        }
    }

    #[test]
    fn a_search_ends_whatever_happens() {
        let nothing = find(0, 0.0);
        assert!(nothing.iter().all(|step| !step.held) && nothing.len() <= SEARCH_STEPS as usize);
        let all = find(0, f64::INFINITY);
        assert!(all.iter().all(|step| step.held) && all.len() < SEARCH_STEPS as usize);
        let mut asked = 0;
        let failed = search_rate(1, 0, 1000.0, |_, _| {
            asked += 1;
            Err(LabError::Unlike("stopped".into()))
        });
        assert!(failed.is_err() && asked == 1);
    }
}
