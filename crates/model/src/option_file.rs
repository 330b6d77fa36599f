//! Option files of MySQL, as servers and clients read them.
//!
//! ```text
//!   [mysqld]                      name = value, name, "quoted", # comment, ; comment
//!   innodb-io-capacity = 2000     a dash in a name is an underscore
//!   !include FILE                 noted with its place; whoever reads decides
//!   !includedir FOLDER
//! ```

use std::collections::HashSet;

/// A line with an option.
#[derive(Clone, PartialEq, Eq)]
pub struct OptionEntry {
    /// Its number, from 1.
    pub line: usize,
    /// The group that it stands in, in small letters.
    pub group: String,
    /// Its name, in small letters and with underscores.
    pub name: String,
    /// Its value, without quotes; empty for a bare name.
    pub value: String,
}

/// A line that names another file, or a folder of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Include {
    /// Its number, from 1.
    pub line: usize,
    /// So many entries stand before it.
    pub before: usize,
    /// The file, or the folder.
    pub path: String,
    /// Which of the two.
    pub kind: IncludeKind,
}

/// What a line includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IncludeKind {
    /// One file.
    File,
    /// The files of a folder.
    Folder,
}

/// What is in a file. It has no `Debug`: there may be passwords among the values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct OptionFile {
    /// In the order of the file.
    pub entries: Vec<OptionEntry>,
    /// Lines that name another file, in the order of the file.
    pub includes: Vec<Include>,
    /// All groups that it has, each once and in small letters, whether or not they were wanted.
    pub groups: Vec<String>,
}

/// Reads the groups that `wanted` likes. Nothing of the text is repeated in an error.
///
/// # Errors
/// A sentence with the number of the line.
pub fn read(text: &str, wanted: impl Fn(&str) -> bool) -> Result<OptionFile, String> {
    let mut file = OptionFile::default();
    let (mut group, mut known) = (None, HashSet::new());
    for (index, line) in text.lines().enumerate() {
        let (line, number) = (line.trim(), index + 1);
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = line.strip_prefix('!') {
            file.includes.push(include(rest, number, file.entries.len())?);
            continue;
        }
        if let Some(rest) = line.strip_prefix('[') {
            let Some((name, _)) = rest.split_once(']') else {
                return Err(format!("line {number}: the bracket is not closed; write [GROUP]"));
            };
            // Servers take blanks off the end, leave those before a name, and read capital letters
            // as small ones (mysys/my_default.cc, `find_type`).
            let name = name.trim_end().to_ascii_lowercase();
            if known.insert(name.clone()) {
                file.groups.push(name.clone());
            }
            group = Some(name);
            continue;
        }
        let Some(group) = &group else {
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
        file.entries.push(OptionEntry { line: number, group: group.clone(), name, value });
    }
    Ok(file)
}

/// What stands behind the mark of a line that includes.
fn include(rest: &str, line: usize, before: usize) -> Result<Include, String> {
    let (word, path) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let kind = match word {
        "include" => IncludeKind::File,
        "includedir" => IncludeKind::Folder,
        _ => return Err(format!("line {line}: write !include FILE or !includedir FOLDER")),
    };
    let path = path.trim().to_owned();
    if path.is_empty() || path.contains(char::is_control) {
        Err(format!("line {line}: it includes a file without a name; write it behind"))
    } else {
        Ok(Include { line, before, path, kind })
    }
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
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c: char| c.is_ascii_alphanumeric() || "_.".contains(c))
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
            ("!hunter2 x\n", "line 1: write !include FILE"),
            ("!include \n", "line 1: it includes a file without a name"),
        ] {
            let Err(error) = read(text, |_| true) else { panic!("{text} was taken") };
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
        let file = read("!include x\n[a]\nb\n[c]\nno sense\n", |group| group == "a").ok().unwrap();
        let include =
            |line, before, path: &str, kind| Include { line, before, path: path.to_owned(), kind };
        assert_eq!(file.includes, [include(1, 0, "x", IncludeKind::File)]);
        assert_eq!((file.entries.len(), file.groups), (1, vec!["a".to_owned(), "c".to_owned()]));
        let file = read("[MYSQLD]\na=1\n[mysqld]\n", |group| group == "mysqld").ok().unwrap();
        assert_eq!((file.entries.len(), file.groups), (1, vec!["mysqld".to_owned()]));
        let file = read("[a]\nb=1\n!includedir  /etc/my x/ \nc=1\n", |_| true).ok().unwrap();
        assert_eq!(file.includes, [include(3, 1, "/etc/my x/", IncludeKind::Folder)]);
    }
    /// Held against each other, they would take half a minute.
    #[test]
    fn many_groups_are_read_each_once() {
        let text: String = (0..80_000).map(|number| format!("[g{}]\n", number % 79_999)).collect();
        let groups = read(&text, |_| true).ok().unwrap().groups;
        assert_eq!((groups.len(), groups[79_998].as_str()), (79_999, "g79998"));
    }
}
