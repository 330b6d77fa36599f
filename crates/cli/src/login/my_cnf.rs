//! What option files of MySQL's clients say of accounts.

use std::collections::BTreeMap;

use dbdyno_model::{PasswordKey, Secret, option_file};

/// What a group says. What it does not say is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) user: Option<String>,
    pub(super) password: Option<Secret>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) socket: Option<String>,
    pub(super) password_key: PasswordKey,
}

/// All groups of a file, by name; later lines win. Other files that it names are not read.
///
/// # Errors
/// A sentence with the number of the line; nothing of the line itself is repeated.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, Account>, String> {
    let mut groups: BTreeMap<String, Account> = BTreeMap::new();
    for entry in option_file::read(text, |_| true)?.entries {
        let account = groups.entry(entry.group).or_default();
        let known = std::mem::take(&mut account.password_key);
        account.password_key = known
            .of_option(&entry.name, &entry.value)
            .map_err(|text| format!("line {}: {text}", entry.line))?;
        // A bare `password` means that a terminal is asked.
        if entry.value.is_empty() {
            continue;
        }
        match entry.name.as_str() {
            "user" => account.user = Some(entry.value),
            "password" => account.password = Some(Secret::new(entry.value)),
            "host" => account.host = Some(entry.value),
            "socket" => account.socket = Some(entry.value),
            "port" => {
                let port = entry.value.parse().ok().filter(|&port| port > 0);
                account.port = Some(port.ok_or_else(|| {
                    format!("line {}: that is not a port; ports are 1 to 65535", entry.line)
                })?);
            }
            _ => {}
        }
    }
    Ok(groups)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn groups_are_told_apart_and_later_lines_win() {
        let text = "# mine\n[client]\nuser = bob\npassword='a#b'\nport=3307\n[mysqldump]\nuser=x\n\
                    [dbdyno]\npassword=\"c\\\\d\"\n[client]\npassword = later # not this\n";
        let groups = parse(text).unwrap();
        assert_eq!(groups["client"].password, Some(Secret::new("later")));
        assert_eq!(groups["client"].user.as_deref(), Some("bob"));
        assert_eq!(groups["client"].port, Some(3307));
        assert_eq!(groups["dbdyno"].password, Some(Secret::new("c\\d")));
        let keys = "[client]\nget-server-public-key\n[a]\nserver_public_key_path = /k.pem\n\
                    get_server_public_key=ON\n[b]\nget-server-public-key=0\n";
        let groups = parse(keys).unwrap();
        assert_eq!(groups["client"].password_key, PasswordKey::Offered);
        assert_eq!(groups["a"].password_key, PasswordKey::File("/k.pem".to_owned()));
        assert_eq!(groups["b"].password_key, PasswordKey::Unknown);
        let wrong = parse("[client]\n\nget-server-public-key=hunter2\n").unwrap_err();
        assert!(wrong.starts_with("line 3: get-server-public-key= is on or off"), "{wrong}");
        assert_eq!(parse("[client]\npassword\n").unwrap()["client"].password, None);
        assert!(parse("[client]\nport=hunter2\n").unwrap_err().starts_with("line 2: that is not"));
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused_by_its_line(text in "(?s).{0,200}") {
            if let Err(error) = parse(&text) {
                prop_assert!(error.starts_with("line "), "{error}");
            }
        }

        #[test]
        fn a_quoted_password_comes_out_as_it_went_in(password in "[^\\pC]{1,40}") {
            let escaped = password.replace('\\', "\\\\").replace('"', "\\\"");
            let groups = parse(&format!("[client]\npassword=\"{escaped}\"\n")).unwrap();
            prop_assert_eq!(&groups["client"].password, &Some(Secret::new(password)));
        }
    }
}
