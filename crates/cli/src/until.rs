//! `--detect`, `--power`, `--until` and `--limit`: what is wanted of a run, in place of a number of
//! rounds.

use std::time::Duration;

use dbdyno_forecast::{End, Extension, Numbers, Wish};
use dbdyno_model::{Plan, Run};

use crate::args::{Compare, Resume, Until};
use crate::failure::Failure;

/// The plan that the flags want, and what is to be said of it beside the plan.
///
/// # Errors
/// What cannot be found, or cannot be looked at.
pub fn aim(plan: Plan, flags: &Compare, known: &[Run]) -> Result<(Plan, Vec<String>), Failure> {
    let given = flags.rounds.is_some() || flags.restarts.is_some();
    let wish = Wish {
        detect: flags.detect.map(|effect| (effect, flags.power)),
        end: end_of(flags.until),
        limit: flags.limit,
        numbers: numbers(given),
        warm_up: numbers(flags.warm_up.is_some()),
    };
    dbdyno_forecast::aim(plan, &wish, known).map_err(Failure::Usage)
}

fn numbers(are_given: bool) -> Numbers {
    if are_given { Numbers::Given } else { Numbers::Usual }
}

/// How a run is to be made longer; `None`: it is not.
pub fn extension(flags: &Resume) -> Option<Extension> {
    let is_wanted = flags.rounds.is_some() || flags.until.is_some() || flags.limit.is_some();
    is_wanted.then_some(Extension { pairs: flags.rounds, limit: flags.limit })
}

/// The flags that stand in a command in place of numbers; empty without any.
pub fn in_words(flags: &Compare) -> String {
    let mut words = String::new();
    if let Some(effect) = flags.detect {
        words.push_str(&format!(" --detect {}% --power {}%", effect * 100.0, flags.power * 100.0));
    }
    if flags.until.is_some() {
        words.push_str(" --until decided");
    }
    if let Some(limit) = flags.limit {
        words.push_str(&format!(" --limit {}s", limit.as_secs_f64()));
    }
    words
}

fn end_of(until: Option<Until>) -> End {
    match until {
        Some(Until::Decided) => End::Decided,
        None => End::Planned,
    }
}

/// `1bp`, `1%` or `0.01`.
pub fn parse_effect(text: &str) -> Result<f64, String> {
    let (number, unit) = match (text.strip_suffix("bp"), text.strip_suffix('%')) {
        (Some(points), _) => (points, 100.0),
        (None, Some(percent)) => (percent, 100.0),
        (None, None) => (text, 1.0),
    };
    let effect = number.trim().parse::<f64>().ok().map(|number| number / unit);
    let usage = "an effect lies between 0.05% and 50%, for example 1bp, 1% or 0.01";
    effect.filter(|effect| (0.0005..=0.5).contains(effect)).ok_or_else(|| usage.to_owned())
}

/// `80%` or `0.8`.
pub fn parse_power(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let power = number.trim().parse::<f64>().ok().map(|number| number / unit);
    let usage = "a chance lies between 50% and 99.9%, for example 95%";
    power.filter(|power| (0.5..=0.999).contains(power)).ok_or_else(|| usage.to_owned())
}

/// `10m`, `90s`, `1h` or seconds.
pub fn parse_limit(text: &str) -> Result<Duration, String> {
    let units = [("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let unit = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let limit = number.trim().parse::<f64>().ok().map(|number| number * seconds);
    let usage = "give 1 s to 7 days, for example 10m, 90s or 1h";
    let limit = limit.filter(|limit| (1.0..=604_800.0).contains(limit));
    limit.map(Duration::from_secs_f64).ok_or_else(|| usage.to_owned())
}

/// `+100` or `100`.
pub fn parse_more(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('+').unwrap_or(text).parse::<u32>().ok();
    let usage = "give a number of rounds from +1 to +100000, for example +100";
    number.filter(|number| (1..=100_000).contains(number)).ok_or_else(|| usage.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_basis_point_is_a_per_cent() {
        assert_eq!(parse_effect("1bp"), Ok(0.01));
        assert_eq!(parse_effect("0.5%"), Ok(0.005));
        assert_eq!(parse_effect("0.02"), Ok(0.02));
        for wrong in ["", "0%", "80%", "-1bp", "1 %%", "bp", "nan"] {
            assert!(parse_effect(wrong).is_err(), "{wrong:?} was taken");
        }
    }

    #[test]
    fn limits_powers_and_numbers_have_bounds() {
        assert_eq!(parse_limit("10m"), Ok(Duration::from_secs(600)));
        assert_eq!(parse_limit("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_limit("90"), parse_limit("90s"));
        assert!(parse_limit("0s").is_err() && parse_limit("8 days").is_err());
        assert_eq!(parse_power("95%"), parse_power("0.95"));
        assert!(parse_power("100%").is_err() && parse_power("20%").is_err());
        assert_eq!(parse_more("+8"), Ok(8));
        assert!(parse_more("+0").is_err() && parse_more("-3").is_err());
    }
}
