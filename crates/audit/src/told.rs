//! What was found, in sentences.

use dbdyno_model::{Audit, FactChange, Inequality, Severity, Warning, Weight};

use crate::rules::{Looks, OTHER, RULES, Rule};
use crate::sources::Citation;

/// A warning, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditWarning {
    /// The load (`point-query`) or the cell (`point-query at 4 clients`) that it speaks of; `None`
    /// for the whole run.
    pub of: Option<String>,
    /// What the reader must know.
    pub warning: Warning,
}

/// Values that a sentence names; the rest is counted.
const NAMED_MOST: usize = 4;
/// The level that transactions have where they do not say it, of whichever family.
const ISOLATION_LEVEL: &str = "variable.transaction_isolation";
/// Longer values are cut.
const VALUE_MOST: usize = 48;

/// One warning for each rule that blocks or annotates, and each load that it speaks of.
pub fn audit_warnings(audit: &Audit) -> Vec<AuditWarning> {
    let mut found: Vec<(&Inequality, Vec<&Inequality>)> = Vec::new();
    for one in audit.unequal.iter().filter(|one| is_told(one)) {
        let alike = |other: &Inequality| {
            (other.rule, other.weight, place(&other.name))
                == (one.rule, one.weight, place(&one.name))
        };
        match found.iter_mut().find(|(first, _)| alike(first)) {
            Some((_, list)) => list.push(one),
            None => found.push((one, vec![one])),
        }
    }
    found.into_iter().map(|(first, list)| finding(first, &list)).collect()
}

/// Whether an inequality is reported: it blocks, annotates, or was varied beside the version. A
/// reader of the ratio must see that it compares two character sets, even if its author knew it.
fn is_told(one: &Inequality) -> bool {
    let rule = rule_of(one);
    let weighs = rule.weight != Weight::Harmless && rule.of_release != Weight::Varied;
    match one.weight {
        Weight::Blocks | Weight::Annotates => true,
        Weight::Varied => weighs && one.change == FactChange::Different && rule != &OTHER,
        Weight::Harmless => false,
    }
}

fn rule_of(one: &Inequality) -> &'static Rule {
    RULES.iter().find(|rule| rule.key == one.rule).unwrap_or(&OTHER)
}

fn finding(first: &Inequality, list: &[&Inequality]) -> AuditWarning {
    let rule = rule_of(first);
    let mut named: Vec<String> = list.iter().take(NAMED_MOST).map(|one| named(one)).collect();
    if list.len() > NAMED_MOST {
        named.push(format!("and {} more (`dbdyno diff --all`)", list.len() - NAMED_MOST));
    }
    let all_default = list.iter().all(|one| one.change == FactChange::Default);
    // Families have other levels by default, so that their transactions promise other things: that
    // nobody has chosen them makes them no more alike.
    let is_of_level = list.iter().any(|one| one.name == ISOLATION_LEVEL);
    let severity = match first.weight {
        Weight::Blocks => Severity::Blocks,
        Weight::Varied => Severity::Note,
        _ if all_default && !is_of_level => Severity::Note,
        _ => Severity::Caution,
    };
    let why = if all_default { " (the releases' own)" } else { "" };
    let place = place(&first.name);
    let on = place.map(|place| format!(" on {place}")).unwrap_or_default();
    let (what, named) = (rule.key.replace('-', " "), named.join(", "));
    if first.weight == Weight::Varied {
        let text = format!("what is compared is {what}{on}: {named}");
        let warning = Warning::new(severity, rule.key, text);
        return AuditWarning { of: place.map(str::to_owned), warning };
    }
    let end = match first.weight {
        Weight::Blocks => format!("; if it is intended, add --varied {}", rule.key),
        _ => String::new(),
    };
    let text = format!("the arms differ in {what}{why}{on}: {named}; {}{end}", rule.advice);
    AuditWarning { of: place.map(str::to_owned), warning: Warning::new(severity, rule.key, text) }
}

/// `plan[point-query].1` is about point-query.
fn place(name: &str) -> Option<&str> {
    name.split_once('[')?.1.rsplit_once(']').map(|(place, _)| place)
}

/// `sync_binlog 0 → 1`.
fn named(one: &Inequality) -> String {
    let name = one.name.strip_prefix("variable.").unwrap_or(&one.name);
    let name = match name.rsplit_once("].") {
        Some((_, last)) => last,
        None => name,
    };
    format!("{name} {} → {}", told_value(&one.base), told_value(&one.test))
}

fn told_value(value: &Option<String>) -> String {
    match value.as_deref() {
        None => "not there".to_owned(),
        Some("") => "empty".to_owned(),
        Some(value) => clipped(value),
    }
}

fn clipped(value: &str) -> String {
    match value.char_indices().nth(VALUE_MOST) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

/// A rule in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleTold {
    /// What it is called.
    pub key: &'static str,
    /// What a difference weighs.
    pub weight: Weight,
    /// And what it weighs between two releases.
    pub of_release: Weight,
    /// Facts or warnings, and how far they must be apart.
    pub looks_at: String,
    /// What a difference means, and what to do.
    pub advice: &'static str,
    /// Where a reader can look up that it is so.
    pub sources: &'static [Citation],
}

/// All rules.
pub fn all_rules() -> Vec<RuleTold> {
    RULES.iter().chain([&OTHER]).map(told).collect()
}

/// The table of rules as Markdown.
pub fn rules_as_markdown() -> String {
    let mut text = String::from(
        "| rule | weight | of two releases | looks at | what it means, and what to do | learnt from |\n\
         |:--|:--|:--|:--|:--|:--|\n",
    );
    for RuleTold { key, weight, of_release, looks_at, advice, sources } in all_rules() {
        let sources: Vec<String> = sources.iter().map(|source| source.markdown_link()).collect();
        text.push_str(&format!(
            "| {key} | {weight} | {of_release} | {looks_at} | {advice} | {} |\n",
            sources.join("; ")
        ));
    }
    text
}

/// What a default weighs that changed: see `diff`.
fn of_release(rule: &Rule) -> Weight {
    let is_of_settings = match rule.looks_at {
        Looks::Facts(forms) => forms.iter().any(|form| form.starts_with("variable.")),
        Looks::Warnings(_) => false,
    };
    let is_other = rule.key == OTHER.key;
    match rule.of_release {
        Weight::Harmless if (is_of_settings || is_other) && rule.key != "instance" => {
            Weight::Varied
        }
        weight => weight,
    }
}

fn told(rule: &Rule) -> RuleTold {
    let looks = match rule.looks_at {
        Looks::Facts(forms) => {
            let shown: Vec<String> = forms.iter().take(3).map(|form| format!("`{form}`")).collect();
            let more = forms.len().saturating_sub(3);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", shown.join(", "))
        }
        Looks::Warnings(codes) => {
            let codes: Vec<String> = codes.iter().map(|code| format!("`{code}`")).collect();
            format!("warnings {}", codes.join(", "))
        }
    };
    let apart = rule.tolerance.map_or(String::new(), |tolerance| {
        format!(" more than {}× apart, from {} on", tolerance.ratio, tolerance.least)
    });
    RuleTold {
        key: rule.key,
        weight: rule.weight,
        of_release: of_release(rule),
        looks_at: format!("{looks}{apart}"),
        advice: rule.advice,
        sources: rule.sources,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_level_is_a_caution_even_if_nobody_chose_it() {
        let severity = |name: &str| {
            let one = Inequality {
                name: name.to_owned(),
                base: Some("REPEATABLE-READ".to_owned()),
                test: Some("read committed".to_owned()),
                weight: Weight::Annotates,
                change: FactChange::Default,
                rule: "isolation",
                topic: "",
            };
            audit_warnings(&Audit { unequal: vec![one], equal: 0 }).remove(0).warning.severity
        };
        assert_eq!(severity(ISOLATION_LEVEL), Severity::Caution);
        assert_eq!(severity("variable.innodb_snapshot_isolation"), Severity::Note);
    }
}
