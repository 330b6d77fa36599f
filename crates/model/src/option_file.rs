//! Option files of MySQL, as servers and clients read them.
//!
//! ```text
//!   [mysqld]                      name = value, name, "quoted", # comment, ; comment
//!   innodb-io-capacity = 2000     a dash in a name is an underscore
//!   !include FILE                 noted; whoever reads decides
//! ```

/// A line with an option.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number, from 1.
    pub line: usize,
    /// The group that it stands in.
    pub group: String,
    /// Its name, in small letters and with underscores.
    pub name: String,
    /// Its value, without quotes; empty for a bare name.
    pub value: String,
}

/// What is in a file. It has no `Debug`: there may be passwords among the values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OptionFile {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// Numbers of lines that name another file.
    pub includes: Vec<usize>,
}

/// Reads the groups that `wanted` likes. Nothing of the text is repeated in an error.
///
/// # Errors
/// A sentence with the number of the line.
pub fn read(text: &str, wanted: impl Fn(&str) -> bool) -> Result<OptionFile, String> {
    let mut file = OptionFile::default();
    let mut group = None;
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if line.starts_with('!') {
            file.includes.push(number);
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else {
                return Err(format!("line {number}: the bracket is not closed; write [GROUP]"));
            };
            group = Some(name);
            continue;
        }
        let Some(group) = group else {
            return Err(format!("line {number}: an option without a group; write [GROUP] first"));
        };
        if !wanted(group) {
            continue;
        }
        let (name, value) = match line.split_once('=') {
            Some((name, value)) => (name.trim(), value_of(value.trim())),
            None => (without_comment(line), String::new()),
        };
        let name = name.replace('-', "_").to_ascii_lowercase();
        if !is_name(&name) {
            return Err(format!("line {number}: no option; write NAME=VALUE"));
        }
        file.entries.push(Entry { line: number, group: group.to_owned(), name, value });
    }
    Ok(file)
}

/// What stands before a comment.
pub fn without_comment(text: &str) -> &str {
    text.split('#').next().unwrap_or_default().trim_end()
}

/// A value with its quotes taken off and its escapes read, up to a comment.
fn value_of(text: &str) -> String {
    let quote = text.chars().next().filter(|first| "'\"".contains(*first));
    let body = match quote.and_then(|quote| quoted(&text[1..], quote)) {
        Some(inside) => inside,
        None => without_comment(text),
    };
    let mut value = String::with_capacity(body.len());
    let mut letters = body.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            value.push(letter);
            continue;
        }
        match letters.next() {
            Some('s') => value.push(' '),
            Some('t') => value.push('\t'),
            Some('n') => value.push('\n'),
            Some(other) if "\\\"'".contains(other) => value.push(other),
            Some(other) => value.extend(['\\', other]),
            None => value.push('\\'),
        }
    }
    value
}

/// What stands before the quote that ends it; one behind a backslash does not.
fn quoted(text: &str, quote: char) -> Option<&str> {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return Some(&text[..at]),
            _ => {}
        }
    }
    None
}

/// Whether an option can be called so.
pub fn is_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.".contains(c);
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_mysql_reads_them() {
        for (written, read) in [
            ("plain", "plain"),
            ("two words # no more", "two words"),
            ("'a#b' # c", "a#b"),
            ("\"a\\\"b\"", "a\"b"),
            ("\"a\\\\\"", "a\\"),
            ("a\\sb\\tc\\nd\\qe", "a b\tc\nd\\qe"),
            ("'open", "'open"),
            ("", ""),
        ] {
            assert_eq!(value_of(written), read, "{written}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_by_its_line_and_not_repeated() {
        for (text, expected) in [
            ("[client\n", "line 1: the bracket"),
            ("\npassword=hunter2\n", "line 2: an option without a group"),
            ("[client]\nhunter2 hunter2\n", "line 2: no option"),
        ] {
            let Err(error) = read(text, |_| true) else { panic!("{text} was taken") };
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
        let file = read("!include x\n[a]\nb\n[c]\nno sense\n", |group| group == "a").ok().unwrap();
        assert_eq!((file.entries.len(), file.includes), (1, vec![1]));
    }
}
