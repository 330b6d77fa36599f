//! Settings of a server, each a name and a value: which of them hold, and how they are told.

/// Options of MySQL and MariaDB whose value is a text that may be empty: without one the servers
/// refuse them.
const TEXTS: [&str; 18] = [
    "sql_mode",
    "init_connect",
    "init_slave",
    "init_replica",
    "optimizer_switch",
    "innodb_data_home_dir",
    "innodb_ft_aux_table",
    "innodb_ft_server_stopword_table",
    "innodb_ft_user_stopword_table",
    "log_error_suppression_list",
    "mandatory_roles",
    "plugin_load",
    "plugin_load_add",
    "proxy_protocol_networks",
    "secure_file_priv",
    "ssl_cipher",
    "wsrep_cluster_address",
    "wsrep_provider_options",
];

/// A setting as MySQL and MariaDB take it; an empty value is a bare switch, or an empty text of an
/// option that has texts.
pub(super) fn option_argument(name: &str, value: &str) -> String {
    let plain = name.strip_prefix("loose_").unwrap_or(name);
    let is_bare = value.is_empty() && !TEXTS.contains(&plain);
    let (name, equals) = (name.replace('_', "-"), if is_bare { "" } else { "=" });
    format!("--{name}{equals}{value}")
}

/// Adds settings; an earlier one of the same name goes, and so does one that says the opposite. How
/// a commit is logged stays as it was said before.
pub(crate) fn overlay_settings(settings: &mut Vec<(String, String)>, added: Vec<(String, String)>) {
    let logs = added.iter().any(|(name, _)| name == "log_bin");
    let mut added = added;
    added.retain(|(name, _)| !(gives_way(name) && settings.iter().any(|(known, _)| known == name)));
    settings.retain(|(name, _)| {
        let opposite = logs && ["skip_log_bin", "disable_log_bin"].contains(&name.as_str());
        !opposite && !added.iter().any(|(new, _)| plain_option(new) == plain_option(name))
    });
    settings.extend(added);
}

fn plain_option(name: &str) -> String {
    name.strip_prefix("loose_").unwrap_or(name).to_owned()
}

fn gives_way(name: &str) -> bool {
    ["sync_binlog", "binlog_format"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_value_is_a_switch_or_an_empty_text() {
        assert_eq!(option_argument("sql_mode", ""), "--sql-mode=");
        assert_eq!(option_argument("loose_init_connect", ""), "--loose-init-connect=");
        assert_eq!(option_argument("skip_name_resolve", ""), "--skip-name-resolve");
        assert_eq!(option_argument("sql_mode", "ANSI"), "--sql-mode=ANSI");
    }

    #[test]
    fn what_is_added_replaces_what_was_there_and_its_opposite() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings =
            vec![pair("skip_log_bin", ""), pair("loose_x", "1"), pair("port_open", "2")];
        overlay_settings(&mut settings, vec![pair("log_bin", "binlog"), pair("x", "3")]);
        assert_eq!(settings, [pair("port_open", "2"), pair("log_bin", "binlog"), pair("x", "3")]);
    }
}
