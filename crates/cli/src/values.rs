//! Values of flags, as people write them.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use dbdyno_model::{ArmSpec, Dialect, MaskedTarget, TargetError, target};
use dbdyno_workload::explain::DIALECTS;
use dbdyno_workload::suggest::did_you_mean;

use crate::failure::Failure;

/// What BASE or TEST mean.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one for each target of the command line")]
pub(crate) enum Side {
    /// A server to measure.
    Server(ArmSpec),
    /// A stored run.
    Stored(String),
}

/// The dialects in which loads are shown.
pub(crate) fn dialect_parser() -> impl TypedValueParser<Value = Dialect> {
    let values = DIALECTS.map(|(dialect, name)| match dialect {
        Dialect::Rocksdb => PossibleValue::new(name).help("RocksDB"),
        _ => PossibleValue::new(name),
    });
    PossibleValuesParser::new(values).map(|name| {
        let known = DIALECTS.into_iter().find(|(_, own)| *own == name);
        known.expect("only names of the list are let through").0
    })
}

/// Tells servers from stored runs: a run is `@something` or hexadecimal digits.
///
/// # Errors
/// A sentence with the nearest thing that would be understood.
pub(crate) fn parse_side(text: &str) -> Result<Side, String> {
    let id = text.split('/').next().unwrap_or_default();
    let is_id = (4..=8).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_hexdigit());
    if text.starts_with('@') || is_id {
        return Ok(Side::Stored(text.to_owned()));
    }
    text.parse().map(Side::Server).map_err(|error| match error {
        TargetError::UnknownKind(ref kind) => format!(
            "{error}{}; a server is mysql:VERSION, mariadb:VERSION, postgres:VERSION, \
             mysql://USER@HOST/DB, postgres://USER@HOST/DB, sqlite:?PRAGMA=VALUE, \
             rocksdb:?OPTION=VALUE or engine:?FIELD=VALUE, a stored run is @last or @NAME",
            did_you_mean(kind, target::KINDS)
        ),
        TargetError::Malformed(_) => error.to_string(),
    })
}

/// A server or a stored run of the command line; `what` is the name of the argument.
///
/// # Errors
/// A sentence that repeats nothing that may be a password.
pub(crate) fn read_side(what: &str, text: &str) -> Result<Side, Failure> {
    parse_side(text).map_err(|error| {
        Failure::Usage(format!("{what} {:?}: {error}", MaskedTarget::from_text(text)))
    })
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.strip_suffix('s').unwrap_or(text).parse::<f64>().ok();
    match seconds.filter(|seconds| (0.1..=86_400.0).contains(seconds)) {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds)),
        None => Err("give 0.1 to 86400 seconds, for example 2.5".to_owned()),
    }
}

pub(crate) fn parse_slice(text: &str) -> Result<Duration, String> {
    let milliseconds = text.strip_suffix("ms").and_then(|number| number.parse::<f64>().ok());
    match milliseconds.filter(|milliseconds| (1.0..=10_000.0).contains(milliseconds)) {
        _ if text == "none" => Ok(Duration::ZERO),
        Some(milliseconds) => Ok(Duration::from_secs_f64(milliseconds / 1e3)),
        None => Err("give 1ms to 10000ms, or none".to_owned()),
    }
}

pub(crate) fn parse_rule(text: &str) -> Result<String, String> {
    let keys = || dbdyno_audit::rules::RULES.iter().chain([&dbdyno_audit::rules::OTHER]);
    if keys().any(|rule| rule.key == text) {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "unknown rule{}; `dbdyno diff --rules` shows them",
            did_you_mean(text, keys().map(|rule| rule.key))
        ))
    }
}

pub(crate) fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    let usage = "a share lies between 0% and 50%, for example 2% or 0.02";
    share.ok().filter(|share| (0.0..=0.5).contains(share)).ok_or_else(|| usage.to_owned())
}

/// `1%` or `0.01`.
pub(crate) fn parse_effect(text: &str) -> Result<f64, String> {
    if let Some(points) = text.strip_suffix("bp") {
        return Err(format!(
            "bp is 0.01 % to some and 1 % of rQPS to others; write {points}% for the latter"
        ));
    }
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let effect = number.trim().parse::<f64>().ok().map(|number| number / unit);
    let usage = "an effect lies between 0.05% and 50%, for example 1% or 0.01";
    effect.filter(|effect| (0.0005..=0.5).contains(effect)).ok_or_else(|| usage.to_owned())
}

/// `80%` or `0.8`.
pub(crate) fn parse_power(text: &str) -> Result<f64, String> {
    let (number, unit) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let power = number.trim().parse::<f64>().ok().map(|number| number / unit);
    let usage = "a chance lies between 50% and 99.9%, for example 95%";
    power.filter(|power| (0.5..=0.999).contains(power)).ok_or_else(|| usage.to_owned())
}

/// `10m`, `90s`, `1h` or seconds.
pub(crate) fn parse_limit(text: &str) -> Result<Duration, String> {
    let units = [("h", 3600.0), ("m", 60.0), ("s", 1.0)];
    let unit = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let limit = number.trim().parse::<f64>().ok().map(|number| number * seconds);
    let usage = "give 1 s to 7 days, for example 10m, 90s or 1h";
    let limit = limit.filter(|limit| (1.0..=604_800.0).contains(limit));
    limit.map(Duration::from_secs_f64).ok_or_else(|| usage.to_owned())
}

/// As [`parse_limit`], or 0: nothing new is begun.
pub(crate) fn parse_limit_of_trials(text: &str) -> Result<Duration, String> {
    match text.trim_end_matches(['h', 'm', 's']) {
        "0" => Ok(Duration::ZERO),
        _ => parse_limit(text).map_err(|usage| format!("{usage}; 0 begins nothing new")),
    }
}

/// A name for a run, which is kept and shown: no target, for there may be a password in one.
pub(crate) fn parse_name(text: &str) -> Result<String, String> {
    if text.contains("://") || text.contains('@') {
        return Err("a name has no @ and no ://, as an address of a server has".to_owned());
    }
    Ok(text.to_owned())
}

/// `+100` or `100`.
pub(crate) fn parse_more(text: &str) -> Result<u32, String> {
    let number = text.strip_prefix('+').unwrap_or(text).parse::<u32>().ok();
    let usage = "give a number of rounds from +1 to +100000, for example +100";
    number.filter(|number| (1..=100_000).contains(number)).ok_or_else(|| usage.to_owned())
}

/// A report without a script, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Still {
    pub path: PathBuf,
    pub shape: StillShape,
}

/// By the ending of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StillShape {
    Svg,
    Markdown,
    Csv,
    Json,
}

/// # Errors
/// A sentence that names the endings that there are.
pub(crate) fn parse_still(text: &str) -> Result<Still, String> {
    let path = PathBuf::from(text);
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    let shape = match ending.as_deref() {
        Some("svg") => StillShape::Svg,
        Some("md" | "markdown") => StillShape::Markdown,
        Some("csv") => StillShape::Csv,
        Some("json") => StillShape::Json,
        Some("html" | "htm") => {
            return Err(
                "a page is written by --output FILE.html; --static writes .svg, .md, .csv \
                        or .json"
                    .to_owned(),
            );
        }
        _ => {
            return Err(format!(
                "the ending says what is written: .svg, .md, .csv or .json, and {} is none of \
                 them; name the file table.svg, for example",
                ending.map_or("nothing".to_owned(), |ending| format!(".{ending}"))
            ));
        }
    };
    Ok(Still { path, shape })
}

/// Against what arms are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Against {
    /// Each against the one before it.
    Before,
    /// All against the arm with this name or target.
    Arm(String),
}

impl std::str::FromStr for Against {
    type Err = String;

    fn from_str(text: &str) -> Result<Against, String> {
        match text {
            "before" => Ok(Against::Before),
            "" => Err("name an arm: base, test, test2, its target, or before".to_owned()),
            arm => Ok(Against::Arm(arm.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_what_is_written() {
        let shape = |text: &str| parse_still(text).map(|still| still.shape);
        assert_eq!(shape("out/table.SVG"), Ok(StillShape::Svg));
        assert_eq!(shape("a.b.md"), Ok(StillShape::Markdown));
        assert_eq!(shape("table.csv"), Ok(StillShape::Csv));
        assert_eq!(shape("table.json"), Ok(StillShape::Json));
        assert!(shape("table.html").unwrap_err().contains("--output FILE.html"));
        for wrong in ["table", "table.png", ".svg", "svg", ""] {
            assert!(shape(wrong).unwrap_err().contains(".svg, .md, .csv or .json"), "{wrong}");
        }
    }

    #[test]
    fn sides_are_told_apart() {
        assert_eq!(parse_side("@last"), Ok(Side::Stored("@last".into())));
        assert_eq!(parse_side("3f2c"), Ok(Side::Stored("3f2c".into())));
        assert!(matches!(parse_side("mariadb:10.11"), Ok(Side::Server(_))));
        let error = parse_side("maridb:10.11").unwrap_err();
        assert!(error.contains("did you mean \"mariadb\"?"), "{error}");
    }

    #[test]
    fn shares_and_seconds_have_bounds() {
        assert_eq!(parse_share("2%"), Ok(0.02));
        assert_eq!(parse_share("0.05"), Ok(0.05));
        assert!(parse_share("80%").is_err() && parse_share("-1%").is_err());
        assert!(parse_seconds("0").is_err() && parse_seconds("nan").is_err());
    }

    #[test]
    fn a_basis_point_is_a_per_cent() {
        assert_eq!(parse_effect("1%"), Ok(0.01));
        assert!(parse_effect("1bp").unwrap_err().contains("write 1%"));
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
