//! Verdicts on a property, and how levels beyond a promise are told.

use dbdyno_document::LabelledItem;
use serde::Serialize;

/// Whether something was proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    /// It holds.
    Holds,
    /// Something breaks it.
    Broken,
    /// Neither could be proved.
    CannotTell,
}

/// Whether a property holds, and what breaks it or keeps it from being told.
#[derive(Clone, Debug, Serialize)]
pub struct PropertyVerdict {
    /// The verdict.
    pub verdict: VerdictWord,
    /// What a breach is called.
    pub anomaly: Option<String>,
    /// Why it cannot be told, or how it holds.
    pub why: Option<String>,
}

impl PropertyVerdict {
    /// It holds.
    pub fn holds() -> PropertyVerdict {
        PropertyVerdict { verdict: VerdictWord::Holds, anomaly: None, why: None }
    }

    /// This breaks it.
    pub fn broken_by(anomaly: impl Into<String>) -> PropertyVerdict {
        let anomaly = Some(anomaly.into());
        PropertyVerdict { verdict: VerdictWord::Broken, anomaly, why: None }
    }

    /// It cannot be told.
    pub fn cannot_tell(why: impl Into<String>) -> PropertyVerdict {
        let why = Some(why.into());
        PropertyVerdict { verdict: VerdictWord::CannotTell, anomaly: None, why }
    }

    /// In a few words.
    pub(super) fn in_words(&self) -> String {
        let why = self.why.as_deref().unwrap_or_default();
        match self.verdict {
            VerdictWord::Holds if why.is_empty() => "holds".to_owned(),
            VerdictWord::Holds => format!("holds; {why}"),
            VerdictWord::Broken => {
                format!("broken by {}", self.anomaly.as_deref().unwrap_or_default())
            }
            VerdictWord::CannotTell => format!("cannot tell: {why}"),
        }
    }
}

/// What levels that a server does not promise turned out to be: those that hold in one item, each
/// of the others in its own.
pub(super) fn unpromised_levels<'a>(
    levels: impl Iterator<Item = (&'a str, &'a PropertyVerdict)>,
) -> (Option<LabelledItem>, Vec<LabelledItem>) {
    let (held, others): (Vec<_>, Vec<_>) =
        levels.partition(|(_, verdict)| verdict.verdict == VerdictWord::Holds);
    let names: Vec<&str> = held.into_iter().map(|(level, _)| level).collect();
    let held = (!names.is_empty())
        .then(|| LabelledItem::new(format!("held as well: {}", names.join(", "))));
    let others = others.into_iter().map(|(level, verdict)| {
        LabelledItem::new(format!("not promised: {level}, {}", verdict.in_words()))
    });
    (held, others.collect())
}
