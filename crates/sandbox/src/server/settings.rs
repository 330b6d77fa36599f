//! Settings of a server, each a name and a value: which of them hold, and how they are told.

/// A setting as MySQL and MariaDB take it; an empty value is a bare switch.
pub(super) fn option(name: &str, value: &str) -> String {
    let name = name.replace('_', "-");
    let equals = if value.is_empty() { "" } else { "=" };
    format!("--{name}{equals}{value}")
}

/// Adds settings; an earlier one of the same name goes, and so does one that says the opposite. How
/// a commit is logged stays as it was said before.
pub(crate) fn overlay(settings: &mut Vec<(String, String)>, added: Vec<(String, String)>) {
    let plain = |name: &str| name.strip_prefix("loose_").unwrap_or(name).to_owned();
    let logs = added.iter().any(|(name, _)| name == "log_bin");
    let gives_way = |name: &str| ["sync_binlog", "binlog_format"].contains(&name);
    let mut added = added;
    added.retain(|(name, _)| !(gives_way(name) && settings.iter().any(|(known, _)| known == name)));
    settings.retain(|(name, _)| {
        let opposite = logs && ["skip_log_bin", "disable_log_bin"].contains(&name.as_str());
        !opposite && !added.iter().any(|(new, _)| plain(new) == plain(name))
    });
    settings.extend(added);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_replaces_what_was_there_and_its_opposite() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings =
            vec![pair("skip_log_bin", ""), pair("loose_x", "1"), pair("port_open", "2")];
        overlay(&mut settings, vec![pair("log_bin", "binlog"), pair("x", "3")]);
        assert_eq!(settings, [pair("port_open", "2"), pair("log_bin", "binlog"), pair("x", "3")]);
    }
}
