//! Advice can be followed: an option that a message names is one of the command that it is for.
//!
//! ```text
//!   crates/*/src ──▶ string literals ──▶ --option ──┐
//!                                                   ├──▶ is it there?
//!   dbdyno … --help, of every command ──────────────┘
//!      `dbdyno show --arm`      of the command that is named
//!      cli/src/verify.rs        of the command whose file it is
//!      else                     of any command
//! ```
//!
//! What another program is told, and what is a variable of a style, is no advice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::common::Home;

/// Options of each command by its words, such as `server get`.
type Commands = BTreeMap<String, BTreeSet<String>>;

/// Files by how their paths begin, the most particular first, and the commands that show their
/// messages: each of these has each option, unless the message names another one.
const SHOWN_BY: [(&str, &[&str]); 36] = [
    ("cli/src/arms.rs", &["show", "report"]),
    ("cli/src/check.rs", &["check"]),
    ("cli/src/compare.rs", &["compare"]),
    ("cli/src/deadlocks.rs", &["deadlocks"]),
    ("cli/src/diff.rs", &["diff"]),
    ("cli/src/engine.rs", &["engine serve"]),
    // What it measures first, it measures by flags of `compare`.
    ("cli/src/explain.rs", &["compare"]),
    ("cli/src/history.rs", &["history"]),
    ("cli/src/insert_benchmark.rs", &["compare"]),
    ("cli/src/levels.rs", &["compare"]),
    ("cli/src/loads.rs", &["compare", "diff", "profile"]),
    ("cli/src/model", &["model"]),
    ("cli/src/online.rs", &["verify"]),
    ("cli/src/plan.rs", &["compare"]),
    ("cli/src/profile.rs", &["profile"]),
    ("cli/src/published.rs", &["published"]),
    ("cli/src/rand.rs", &["compare"]),
    ("cli/src/random_transactions.rs", &["verify"]),
    ("cli/src/server.rs", &["server get"]),
    ("cli/src/until.rs", &["compare"]),
    ("cli/src/verify.rs", &["verify"]),
    ("cli/src/witnesses.rs", &["verify"]),
    ("judge/src/history", &["history"]),
    // Judged is what `compare` measured, and what is advised is another measurement.
    ("judge/src", &["compare"]),
    ("stats/src", &["compare"]),
    ("lab/src/doctor", &["doctor"]),
    ("trials/src/trial.rs", &["compare"]),
    ("trials/src", &["explain"]),
    ("isolation/src", &["verify"]),
    ("lab/src", &["compare"]),
    // Parts of one sentence that begins with `dbdyno show`.
    ("report/src/arms/document.rs", &["show"]),
    ("report/src/arms", &["compare", "show"]),
    ("report/src/explanation", &["compare", "explain"]),
    ("report/src/history", &["history"]),
    ("report/src/profile", &["profile"]),
    ("report/src/", &["compare", "show", "demo", "resume"]),
];

/// Other places than those of whole reports.
const SHOWN_APART: [(&str, &str); 4] = [
    ("report/src/difference.rs", "diff"),
    ("report/src/doctor.rs", "doctor"),
    ("report/src/isolation", "verify"),
    ("report/src/verdicts/protocols.rs", "model"),
];

/// Options of other programs, by the files of which messages name them.
const OF_OTHERS: [(&str, &[&str]); 8] = [
    ("cli/src/login/mod.rs", &["host", "login-path", "password"]),
    ("explain/src/profile/read.rs", &["stdio"]),
    ("explain/src/profile/perf_report.rs", &["no-group", "stdio"]),
    ("explain/src/profile/rate.rs", &["freq"]),
    ("judge/src/history/file.rs", &["benchmark"]),
    ("judge/src/history/pgbench.rs", &["aggregate-interval", "progress"]),
    ("sandbox/src/cgroup.rs", &["scope"]),
    ("sandbox/src/recorder.rs", &["switch-events"]),
];

/// The same in the help of a command.
const OF_OTHERS_IN_HELP: [(&str, &str); 1] = [("profile", "stdio")];

/// The option at the beginning of a text, without its dashes.
fn option_at(text: &str) -> Option<&str> {
    let name = text.strip_prefix("--")?;
    let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
    let name = name[..end].trim_end_matches('-');
    name.starts_with(|c: char| c.is_ascii_lowercase()).then_some(name)
}

/// Where options stand in a text, and which.
fn options(text: &str) -> Vec<(usize, &str)> {
    let is_begin = |at: usize| {
        let before = text[..at].chars().next_back();
        before.is_none_or(|c| !c.is_alphanumeric() && !['-', '_', '{', '<'].contains(&c))
    };
    let places = text.match_indices("--").map(|(at, _)| at).filter(|&at| is_begin(at));
    places.filter_map(|at| Some((at, option_at(&text[at..])?))).collect()
}

/// The options of a command and of those below it, as its help has them.
fn gather(home: &Home, words: &[&str], all: &mut Commands) {
    let help = home.dbdyno([words, &["--help"]].concat()).out;
    let own = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let short = line.starts_with('-') && line.get(2..4) == Some(", ");
        option_at(if short { &line[4..] } else { line }).map(str::to_owned)
    });
    all.insert(words.join(" "), own.collect());
    let Some((_, list)) = help.split_once("\nCommands:\n") else { return };
    let list = list.split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()) {
        if name != "help" {
            gather(home, &[words, &[name]].concat(), all);
        }
    }
}

fn commands() -> Commands {
    let mut all = Commands::new();
    gather(&Home::new(), &[], &mut all);
    all
}

/// String literals of a source with the lines where they begin; comments have none.
fn literals(source: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut at = 0;
    let line_of = |at: usize| 1 + source[..at].matches('\n').count();
    while at < source.len() {
        let rest = &source[at..];
        let raw = rest.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
        let is_name = source[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        at += match rest.chars().next() {
            _ if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            Some('r') if !is_name && raw.is_some_and(|raw| raw.starts_with('"')) => {
                let hashes = rest.len() - raw.unwrap_or(rest).len() - 1;
                let (open, close) = (hashes + 2, format!("\"{}", "#".repeat(hashes)));
                let end = rest[open..].find(&close).unwrap_or(rest.len() - open);
                found.push((line_of(at), rest[open..open + end].to_owned()));
                open + end + close.len()
            }
            Some('"') => {
                let (text, length) = literal(&rest[1..]);
                found.push((line_of(at), text));
                length + 1
            }
            // A character; a lifetime has no quote behind its first letter.
            Some('\'') if rest[1..].starts_with('\\') => {
                rest[3..].find('\'').map_or(rest.len(), |end| end + 4)
            }
            Some('\'') => match rest.char_indices().nth(2) {
                Some((end, '\'')) => end + 1,
                _ => 1,
            },
            Some(letter) => letter.len_utf8(),
            None => 1,
        };
    }
    found
}

/// A literal without its first quote, and how long it is in the source with its last one.
fn literal(source: &str) -> (String, usize) {
    let mut text = String::new();
    let mut letters = source.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (text, at + 1),
            '\\' => match letters.next() {
                Some((at, '\n')) => {
                    let rest = &source[at + 1..];
                    let skipped = rest.len() - rest.trim_start().len();
                    letters = source.char_indices();
                    letters.by_ref().take_while(|(own, _)| *own < at + skipped).for_each(drop);
                }
                Some((_, 'n')) => text.push('\n'),
                Some((_, letter)) => text.push(letter),
                None => {}
            },
            letter => text.push(letter),
        }
    }
    (text, source.len())
}

/// The words of the command that a text names last before a place, in the same quotation or, where
/// it stands in none, in the same sentence.
fn named<'a>(text: &'a str, commands: &Commands) -> Option<String> {
    let quoted = text.matches('`').count() % 2 == 1;
    let begin = if quoted { text.rfind('`') } else { text.rfind(['.', ';']) };
    let (_, behind) = text[begin.unwrap_or(0)..].rsplit_once("dbdyno ")?;
    if !quoted && behind.contains('`') {
        return None;
    }
    let words: Vec<&'a str> = behind.split_whitespace().take(2).collect();
    let two = words.join(" ");
    let known = [two.as_str(), words.first().copied().unwrap_or_default()];
    known
        .into_iter()
        .find(|name| !name.is_empty() && commands.contains_key(*name))
        .map(str::to_owned)
}

/// Sources of all crates without their tests, and their paths below `crates`.
fn sources() -> Vec<(String, String)> {
    fn below(folder: &Path, all: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            match path.is_dir() {
                true => below(&path, all),
                false => all.push(path),
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = Vec::new();
    for each in std::fs::read_dir(crates).unwrap().flatten() {
        below(&each.path().join("src"), &mut paths);
    }
    paths.sort();
    let is_source = |path: &&PathBuf| {
        path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs")
    };
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(crates).unwrap().display().to_string();
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        (name, code.to_owned())
    };
    paths.iter().filter(is_source).map(read).collect()
}

/// Whether a text is an argument of another program, or has variables of a style.
fn is_no_message(file: &str, text: &str) -> bool {
    let is_argument = text.starts_with("--") && !text.contains(' ') && file.starts_with("sandbox/");
    is_argument || ["var(--", "--ink:", "style=\"--"].iter().any(|part| text.contains(part))
}

/// The commands that show the messages of a file; none where that may be any.
fn shown_by(file: &str) -> Vec<&'static str> {
    if let Some((_, one)) = SHOWN_APART.iter().find(|(begin, _)| file.starts_with(begin)) {
        return vec![one];
    }
    let all = SHOWN_BY.iter().find(|(begin, _)| file.starts_with(begin));
    all.map_or(Vec::new(), |(_, all)| all.to_vec())
}

#[test]
fn every_option_that_a_message_names_is_one_of_its_command() {
    let commands = commands();
    let has = |command: &str, name: &str| commands[command].contains(name);
    let (mut wrong, mut count) = (Vec::new(), 0);
    let excepted: Vec<(&str, &str)> = OF_OTHERS
        .iter()
        .flat_map(|(file, names)| names.iter().map(move |name| (*file, *name)))
        .collect();
    let mut needed = BTreeSet::new();
    for (file, source) in sources() {
        let shown_by = shown_by(&file);
        for (line, text) in literals(&source) {
            if is_no_message(&file, &text) {
                continue;
            }
            for (at, name) in options(&text) {
                count += 1;
                let (of, is_there) = match named(&text[..at], &commands) {
                    Some(named) => (named.clone(), has(&named, name)),
                    None if shown_by.is_empty() => {
                        ("any command".to_owned(), commands.keys().any(|one| has(one, name)))
                    }
                    None => (shown_by.join(" and "), shown_by.iter().all(|one| has(one, name))),
                };
                let of_another = excepted.iter().find(|one| **one == (file.as_str(), name));
                if let Some(of_another) = of_another {
                    needed.insert(*of_another);
                } else if !is_there {
                    wrong.push(format!("{file}:{line}: --{name} is no option of {of}: {text:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(needed, excepted.into_iter().collect(), "exceptions that nothing needs");
    assert!(count > 150, "{count} options in messages");
}

#[test]
fn every_option_that_a_help_names_is_one_of_its_command() {
    let commands = commands();
    let home = Home::new();
    let mut wrong = Vec::new();
    for (command, own) in &commands {
        let words = command.split_whitespace().chain(["--help"]);
        let help = home.dbdyno(words).out.split_whitespace().collect::<Vec<_>>().join(" ");
        for (at, name) in options(&help) {
            let before = &help[..at];
            // "Flags of `dbdyno compare`, such as --quick".
            let sentence = before.rsplit(". ").next().unwrap_or_default();
            let of_named = |one: &String| sentence.contains(&format!("`dbdyno {one}`"));
            let named = named(before, &commands);
            let also = commands.keys().find(|one| !one.is_empty() && of_named(one));
            let is_there = own.contains(name)
                || named.iter().chain(also).any(|one| commands[one].contains(name))
                || OF_OTHERS_IN_HELP.contains(&(command.as_str(), name));
            if !is_there {
                wrong.push(format!("{command} --help: --{name}: {sentence}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn literals_are_told_from_comments_and_characters() {
    let source = concat!(
        "// \"no\"\nlet a = \"a \\\n      --b\"; /* \"no\" */ let c = '\"'; fn d<'a>(e: &'a str) {",
        "r#\"raw \" --f\"#; '\\''; \"g\" }"
    );
    let found: Vec<String> = literals(source).into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, ["a --b", "raw \" --f", "g"]);
    let names: Vec<&str> = options("--a-b=1, (--c) x--d `--e`").iter().map(|one| one.1).collect();
    assert_eq!(names, ["a-b", "c", "e"]);
}
