//! Switches of the planner, which MySQL and MariaDB keep in one variable:
//! `mrr=on,mrr_cost_based=off`.

/// A switch that is not the same in two values of the variable: its name, the value in base if it
/// has the switch, and that in test.
pub(crate) struct Switch {
    pub(crate) name: String,
    pub(crate) base: Option<String>,
    pub(crate) test: String,
}

/// The switches of test that base has otherwise, or does not have and test has on.
pub(crate) fn changed_switches(base: &str, test: &str) -> Vec<Switch> {
    let pairs = |text: &str| -> Vec<(String, String)> {
        let parts = text.split(',').filter_map(|part| part.split_once('='));
        parts.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect()
    };
    let base = pairs(base);
    let differing = pairs(test).into_iter().filter_map(|(name, test)| {
        let base = base.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone());
        let differs = match &base {
            Some(base) => *base != test,
            None => test == "on",
        };
        differs.then_some(Switch { name, base, test })
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_that_differ_or_that_only_test_has_on_are_found() {
        let base = "mrr=on,index_merge=on,gone=on,firstmatch=off";
        let test = "mrr=on,index_merge=off,hash_join=on,skip_scan=off,firstmatch=on";
        let found = changed_switches(base, test);
        let found: Vec<(&str, Option<&str>, &str)> = found
            .iter()
            .map(|one| (one.name.as_str(), one.base.as_deref(), one.test.as_str()))
            .collect();
        let expected = [
            ("index_merge", Some("on"), "off"),
            ("hash_join", None, "on"),
            ("firstmatch", Some("off"), "on"),
        ];
        assert_eq!(found, expected);
    }
}
