//! The steps of a plan: what is measured, and what is done to the servers in between.
//!
//! ```text
//!   warm:point-query   settle   point-query.pre   update-index   settle   point-query
//!   └── not measured ──────┘    └─ freshly loaded ┘ └─ writes ┘            └─ the same load,
//!                                                                             written to
//! ```
//!
//! Order matters: reads after writes meet a fragmented database on purpose, and the same load may
//! be measured before and after. The earlier one then carries the label `NAME.pre`, as in
//! Callaghan's tables.

use std::fmt;
use std::str::FromStr;

const SETTLE: &str = "settle";
const RESTORE: &str = "restore";
const WARM: &str = "warm:";

/// One step of a plan. Its text is what the command line takes and what the store keeps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The load with this label is measured at every client count: `point-query`,
    /// `point-query.pre`.
    Measure(String),
    /// Both servers are brought to a known state without a restart: `settle`.
    Settle,
    /// Both servers are started on a fresh copy of the tables as they were loaded: `restore`.
    Restore,
    /// Both servers are put under this load until their rate is steady, not measured:
    /// `warm:point-query`.
    Warm {
        /// Label of the load.
        load: String,
        /// Longest time; `None`: that of the plan. `warm:60s:scan`.
        limit_s: Option<u32>,
    },
}

impl Stage {
    /// The label of what is measured, if this stage measures.
    pub fn measured_label(&self) -> Option<&str> {
        match self {
            Stage::Measure(label) => Some(label),
            Stage::Settle | Stage::Restore | Stage::Warm { .. } => None,
        }
    }

    /// The label of the load that this stage runs, measured or not.
    pub fn load(&self) -> Option<&str> {
        match self {
            Stage::Measure(label) => Some(label),
            Stage::Warm { load, .. } => Some(load),
            Stage::Settle | Stage::Restore => None,
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stage::Measure(label) => f.write_str(label),
            Stage::Settle => f.write_str(SETTLE),
            Stage::Restore => f.write_str(RESTORE),
            Stage::Warm { load, limit_s: None } => write!(f, "{WARM}{load}"),
            Stage::Warm { load, limit_s: Some(limit_s) } => write!(f, "{WARM}{limit_s}s:{load}"),
        }
    }
}

impl FromStr for Stage {
    type Err = String;

    /// Reads the text of a stage; whether there is such a load is not looked at.
    ///
    /// # Errors
    /// A sentence that says what a stage looks like.
    fn from_str(text: &str) -> Result<Stage, String> {
        let usage = || {
            format!(
                "{text:?} is no stage; write the name of a load, `settle`, `restore`, `warm:LOAD` \
                 or `warm:60s:LOAD`"
            )
        };
        if text == SETTLE {
            return Ok(Stage::Settle);
        }
        if text == RESTORE {
            return Ok(Stage::Restore);
        }
        let Some(rest) = text.strip_prefix(WARM) else {
            let is_name = !text.is_empty() && !text.contains([',', ' ']);
            return if is_name { Ok(Stage::Measure(text.to_owned())) } else { Err(usage()) };
        };
        let (limit_s, load) = match rest.split_once("s:") {
            Some((seconds, load)) if seconds.bytes().all(|byte| byte.is_ascii_digit()) => {
                let seconds = seconds.parse().ok().filter(|&seconds| seconds > 0);
                (Some(seconds.ok_or_else(usage)?), load)
            }
            _ => (None, rest),
        };
        // A stranger's text may have a hundred thousand of them.
        if load.starts_with(WARM) {
            return Err(usage());
        }
        match load.parse()? {
            Stage::Measure(load) => Ok(Stage::Warm { load, limit_s }),
            Stage::Settle | Stage::Restore | Stage::Warm { .. } => Err(usage()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_what_their_text_says() {
        let warm = |load: &str, limit_s| Stage::Warm { load: load.into(), limit_s };
        for (text, stage) in [
            ("settle", Stage::Settle),
            ("restore", Stage::Restore),
            ("point-query", Stage::Measure("point-query".into())),
            ("random-points_range=10.pre", Stage::Measure("random-points_range=10.pre".into())),
            ("warm:point-query", warm("point-query", None)),
            ("warm:60s:scan", warm("scan", Some(60))),
            ("warm:reads:x", warm("reads:x", None)),
        ] {
            assert_eq!(text.parse(), Ok(stage.clone()));
            assert_eq!(stage.to_string(), text);
        }
        for wrong in ["", "warm:", "warm:settle", "warm:warm:x", "warm:0s:x", "a b", "a,b"] {
            assert!(wrong.parse::<Stage>().is_err(), "{wrong:?} was taken");
        }
        let endless = WARM.repeat(200_000) + "point-query";
        assert!(endless.parse::<Stage>().is_err(), "and no stack is so deep");
    }
}
