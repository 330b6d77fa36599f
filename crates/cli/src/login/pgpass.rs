//! PostgreSQL's password file.
//!
//! ```text
//!   HOST:PORT:DATABASE:USER:PASSWORD     * is any; \: and \\ are : and \; the first line that fits
//! ```

use dbdyno_model::{Secret, ServerUrl, Transport};

/// The password for this URL, if there is one.
///
/// # Errors
/// A sentence with the number of the line, of a line before the one that fits; nothing of the line
/// itself is repeated.
pub(super) fn find(text: &str, url: &ServerUrl) -> Result<Option<Secret>, String> {
    for (index, line) in text.lines().enumerate() {
        let line = line.trim_end_matches('\r');
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = fields(line);
        let [host, port, database, user, password, ..] = fields.as_slice() else {
            return Err(format!(
                "line {}: write HOST:PORT:DATABASE:USER:PASSWORD, with * for any",
                index + 1
            ));
        };
        let fits = is_host(host, &url.transport)
            && is_port(port, &url.transport)
            && is(database, &url.database)
            && is(user, &url.user);
        if fits {
            return Ok(Some(Secret::new(plain(password))));
        }
    }
    Ok(None)
}

/// What stands between colons that have no backslash before them, backslashes and all.
fn fields(line: &str) -> Vec<&str> {
    let mut fields = Vec::with_capacity(5);
    let (mut from, mut escaped) = (0, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b':' => {
                fields.push(&line[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    fields.push(&line[from..]);
    fields
}

/// Without the backslashes that protect.
fn plain(field: &str) -> String {
    let mut text = String::with_capacity(field.len());
    let mut letters = field.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            other => text.push(other),
        }
    }
    text
}

fn is(field: &str, value: &str) -> bool {
    field == "*" || plain(field) == value
}

fn is_host(field: &str, transport: &Transport) -> bool {
    match transport {
        Transport::Tcp(host, _) => is(field, host),
        // A socket is known by its directory; `localhost` is that of the usual one.
        Transport::Unix(path) => {
            let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
            is(field, directory) || is(field, "localhost")
        }
    }
}

fn is_port(field: &str, transport: &Transport) -> bool {
    match transport {
        Transport::Tcp(_, port) => is(field, &port.to_string()),
        Transport::Unix(path) => is(field, path.rsplit_once('.').map_or("", |(_, port)| port)),
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ArmSpec, Target};
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> ServerUrl {
        let Target::Url(url) = text.parse::<ArmSpec>().unwrap().target else { panic!() };
        url
    }

    #[test]
    fn the_first_line_that_fits_counts() {
        let text = "# HOST:PORT:DB:USER:PW\n\nh:5433:*:*:one\nh:*:d:bob:t\\:wo\\\\:cut\n\
                    localhost:5432:*:*:socket\n/run/pg:*:*:*:folder\n*:*:*:bob:any\n";
        for (target, password) in [
            ("postgres://bob@h:5433/d", Some("one")),
            ("postgres://bob@h/d", Some("t:wo\\")),
            ("postgres://bob@g/d", Some("any")),
            ("postgres://ann@g/d", None),
            ("postgres://ann@localhost/d", Some("socket")),
            ("postgres://ann@/d?host=/tmp", Some("socket")),
            ("postgres://ann@:5433/d?host=/run/pg", Some("folder")),
        ] {
            let found = find(text, &url(target)).unwrap();
            assert_eq!(found, password.map(Secret::new), "{target}");
        }
        let error = find("h:*:*:*:x\nhunter2:x\n", &url("postgres://ann@g/d")).unwrap_err();
        assert!(error.starts_with("line 2: write HOST") && !error.contains("hunter2"), "{error}");
    }

    proptest! {
        #[test]
        fn whatever_stands_there_is_read_or_refused_by_its_line(text in "(?s).{0,200}") {
            if let Err(error) = find(&text, &url("postgres://bob@h/d")) {
                prop_assert!(error.starts_with("line "), "{error}");
            }
        }

        #[test]
        fn a_protected_password_comes_out_as_it_went_in(password in "[^\\r\\n]{0,40}") {
            let protected = password.replace('\\', "\\\\").replace(':', "\\:");
            let text = format!("*:*:*:*:{protected}\n");
            let found = find(&text, &url("postgres://bob@h/d")).unwrap();
            prop_assert_eq!(found, Some(Secret::new(password)));
        }
    }
}
