//! What option files of MySQL's clients say of accounts.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::Path;

use dbdyno_model::option_file::{self, OptionEntry};
use dbdyno_model::{PasswordKey, Secret};
use dbdyno_sandbox::{OptionLine, OptionWish, option_tree};

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

/// Groups that clients read, beside our own.
const CLIENTS: [&str; 5] = ["client", "client-server", "client-mariadb", "mariadb-client", "mysql"];
/// Our own, which counts more.
const OWN: &str = "dbdyno";

/// A group, and which line of all has its password: of two a client takes the later one.
#[derive(Default)]
struct Group {
    account: Account,
    told: usize,
}

/// All groups of a login path file, by name; later lines win.
///
/// # Errors
/// A sentence with the number of the line; nothing of the line itself is repeated.
pub(super) fn parse(text: &str) -> Result<BTreeMap<String, Account>, String> {
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (at, entry) in option_file::read(text, |_| true)?.entries.into_iter().enumerate() {
        let line = entry.line;
        take(&mut groups, at, entry).map_err(|text| format!("line {line}: {text}"))?;
    }
    Ok(groups.into_iter().map(|(name, group)| (name, group.account)).collect())
}

/// What a file and all that it includes say to clients: the group of ours first, then the others,
/// the one with the latest password first, as clients take the latest line of any group.
///
/// # Errors
/// A sentence with the number of the line, and the file where it is not this one.
pub(super) fn of_clients(
    path: &Path,
    counts: &dyn Fn(&Path, &Metadata) -> bool,
) -> Result<Vec<Account>, String> {
    let wish =
        OptionWish { group: &|group| group == OWN || CLIENTS.contains(&group), file: counts };
    let mut groups: BTreeMap<String, Group> = BTreeMap::new();
    for (at, OptionLine { entry, file }) in option_tree(path, &wish)?.lines.into_iter().enumerate()
    {
        let line = entry.line;
        take(&mut groups, at, entry).map_err(|text| {
            if file == path {
                format!("line {line}: {text}")
            } else {
                format!("{}: line {line}: {text}", file.display())
            }
        })?;
    }
    let mut groups: Vec<(bool, Group)> =
        groups.into_iter().map(|(name, group)| (name != OWN, group)).collect();
    groups.sort_by_key(|(is_other, group)| (*is_other, Reverse(group.told)));
    Ok(groups.into_iter().map(|(_, group)| group.account).collect())
}

/// Takes the line that is the `at`-th of all.
fn take(groups: &mut BTreeMap<String, Group>, at: usize, entry: OptionEntry) -> Result<(), String> {
    let Group { account, told } = groups.entry(entry.group).or_default();
    let known = std::mem::take(&mut account.password_key);
    account.password_key = known.of_option(&entry.name, &entry.value)?;
    // A bare `password` means that a terminal is asked.
    if entry.value.is_empty() {
        return Ok(());
    }
    match entry.name.as_str() {
        "user" => account.user = Some(entry.value),
        "password" => {
            account.password = Some(Secret::new(entry.value));
            *told = at + 1;
        }
        "host" => account.host = Some(entry.value),
        "socket" => account.socket = Some(entry.value),
        "port" => {
            let port = entry.value.parse().ok().filter(|&port| port > 0);
            account.port = Some(port.ok_or("that is not a port; ports are 1 to 65535")?);
        }
        _ => {}
    }
    Ok(())
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

    /// Files that are included, and all groups of clients, in the order in which they count.
    #[test]
    fn files_are_read_with_what_they_include() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let passwords = |path: &Path, counts: &dyn Fn(&Path, &Metadata) -> bool| {
            let accounts = of_clients(path, counts).unwrap();
            let shown = |one: &Account| one.password.as_ref().map(|one| one.expose().to_owned());
            accounts.iter().filter_map(shown).collect::<Vec<_>>()
        };
        let all = |_: &Path, _: &Metadata| true;
        write("conf.d/b.cnf", "[client-mariadb]\npassword=b\n[mysqld]\npassword=no\n");
        write("conf.d/a.cnf", "[client]\npassword=a\nhost=h\n[mysql]\npassword=m\n");
        write("conf.d/c.txt", "[client]\npassword=no\n");
        let dir = folder.path().join("conf.d");
        let main = write(
            "my.cnf",
            &format!("[client]\nuser=u\npassword=first\n!includedir {}\n", dir.display()),
        );
        assert_eq!(passwords(&main, &all), ["b", "m", "a"]);
        let client = of_clients(&main, &all).unwrap().pop().unwrap();
        assert_eq!((client.user.as_deref(), client.host.as_deref()), (Some("u"), Some("h")));
        let is_not_b = |path: &Path, _: &Metadata| !path.ends_with("b.cnf");
        assert_eq!(passwords(&main, &is_not_b), ["m", "a"]);
        let own = write("own.cnf", "[dbdyno]\npassword=o\n[client-server]\npassword=s\n");
        let including =
            write("top.cnf", &format!("!include {}\n[client]\npassword=t\n", own.display()));
        assert_eq!(passwords(&including, &all), ["o", "t", "s"]);
        let circle = write("circle.cnf", "!include circle.cnf\n");
        let wrong = of_clients(&circle, &all).err().unwrap();
        assert!(wrong.contains("without end"), "{wrong}");
        write("conf.d/bad.cnf", "[client]\n\nport=hunter2\n");
        let wrong = of_clients(&main, &all).err().unwrap();
        assert!(wrong.contains("bad.cnf: line 3: that is not a port"), "{wrong}");
        assert!(!wrong.contains("hunter2"), "{wrong}");
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
