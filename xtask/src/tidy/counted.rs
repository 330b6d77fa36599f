//! Rules that the repository does not keep yet: how often each is broken may only fall.
//!
//! ```text
//!   Source ──► places that break a rule ──► how many? ──┬─ more than the table says: mend yours
//!                                                       └─ fewer: write the new number down
//! ```
//!
//! A rule whose number is 0 is one like any other. `cargo xtask counted` lists the places.

use std::collections::BTreeMap;

use super::lexer::Language;
use super::names;
use super::rule::{Rule, Violation};
use super::signature::{Signature, function_signatures};
use super::source::Source;
use super::words::has_word;

/// A rule, and how many places break it today.
struct Allowance {
    rule: Rule,
    places: usize,
}

/// What is left to mend.
const ALLOWANCES: [Allowance; 9] = [
    Allowance { rule: Rule::SharedName, places: 0 },
    Allowance { rule: Rule::Participle, places: 0 },
    Allowance { rule: Rule::TupleParameter, places: 0 },
    Allowance { rule: Rule::NamedClosure, places: 985 },
    Allowance { rule: Rule::NamedClosures, places: 0 },
    Allowance { rule: Rule::MatchInDisguise, places: 37 },
    Allowance { rule: Rule::ServerSql, places: 9 },
    Allowance { rule: Rule::KernelFile, places: 0 },
    Allowance { rule: Rule::VagueName, places: 82 },
];

/// What texts have in them that ask a server about itself, or know its tables about itself.
const SERVER_SQL: [&str; 8] = [
    "information_schema.",
    "performance_schema.",
    "pg_stat",
    "pg_catalog.",
    "pg_settings",
    "SHOW ",
    "SELECT @@",
    "EXPLAIN ",
];
/// Beginnings of the paths where such texts stand: the crate that asks, the table of what servers
/// count, the servers of our own, which are asked, and crates without connections, in which they
/// are told to people.
const SERVER_SQL_OWNERS: [&str; 10] = [
    "crates/server/",
    "crates/model/src/live_facts.rs",
    "crates/model/src/server_facts.rs",
    "crates/engine/",
    "crates/sql/",
    "crates/serve/",
    "crates/audit/",
    "crates/explain/",
    "crates/report/",
    "crates/cli/",
];

/// How texts begin that name what the kernel makes up.
const KERNEL_FILES: [&str; 2] = ["\n/proc", "\n/sys/"];
/// Beginnings of the paths where such texts stand: the crate that opens them for all others, and
/// the one below it, which reopens what it has open by its number.
const KERNEL_FILE_OWNERS: [&str; 2] = ["crates/host/", "crates/files/"];
/// Beginnings of the paths where everything that is looked at is a host's.
const OBSERVERS: [&str; 1] = ["crates/probe/src/"];
/// Calls that look at this machine, whichever host one was given.
const LOCAL_LOOKS: [&str; 8] = [
    "File::open",
    "fs::canonicalize",
    "fs::metadata",
    "fs::read",
    "fs::read_dir",
    "fs::read_link",
    "fs::read_to_string",
    "fs::symlink_metadata",
];

/// Named closures in one function that a reader can keep apart.
const CLOSURES_AT_MOST: usize = 2;

/// Participles and interrogatives that name no thing. Of regular ones see [`is_participle`].
const NO_NOUNS: [&str; 50] = [
    "Begun",
    "Bound",
    "Broken",
    "Brought",
    "Built",
    "Caught",
    "Chosen",
    "Cut",
    "Done",
    "Drawn",
    "Driven",
    "Found",
    "Given",
    "Gone",
    "Heard",
    "Held",
    "How",
    "Kept",
    "Known",
    "Left",
    "Lent",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Put",
    "Read",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Spent",
    "Split",
    "Spoken",
    "Stood",
    "Taken",
    "Thought",
    "Thrown",
    "Told",
    "Understood",
    "What",
    "When",
    "Where",
    "Whether",
    "Which",
    "Who",
    "Whom",
    "Whose",
    "Why",
    "Written",
];

/// What the standard library itself calls in each module by one name: `io::Result`, `fmt::Result`.
const ALIAS: &str = "Result";

/// Words that end like a participle and are nouns.
const NOUNS: [&str; 6] = ["Deed", "Feed", "Need", "Seed", "Shed", "Speed"];

/// Compares how often each rule is broken with what the table allows.
pub(super) fn check_sources(sources: &[Source], found: &mut Vec<Violation>) {
    let places = violation_places(sources);
    for allowance in &ALLOWANCES {
        let count = places.iter().filter(|place| place.rule == allowance.rule).count();
        let what = match count.cmp(&allowance.places) {
            std::cmp::Ordering::Equal => continue,
            std::cmp::Ordering::Greater => format!(
                "{:?} at {count} places, {} are allowed: `cargo xtask counted` lists them",
                allowance.rule, allowance.places
            ),
            std::cmp::Ordering::Less => format!(
                "{:?} at {count} places, fewer than the {} that are allowed: write down {count}",
                allowance.rule, allowance.places
            ),
        };
        found.push(Violation::new(allowance.rule, "xtask/src/tidy/counted.rs", 1, what));
    }
}

/// All places that break one of these rules.
pub(super) fn violation_places(sources: &[Source]) -> Vec<Violation> {
    let sources: Vec<&Source> = sources
        .iter()
        .filter(|source| {
            let path = source.path.as_str();
            source.language == Language::Rust && path.contains("src/") && !path.starts_with("fuzz")
        })
        .collect();
    let mut found = Vec::new();
    type_names(&sources, &mut found);
    for source in sources {
        for signature in function_signatures(source) {
            parameters(source, &signature, &mut found);
            closures(source, &signature, &mut found);
        }
        matches(source, &mut found);
        server_sql(source, &mut found);
        names::find_vague_names(source, &mut found);
        kernel_files(source, &mut found);
    }
    found
}

/// Types by their names: public ones that share theirs, and all that are called by a participle.
fn type_names(sources: &[&Source], found: &mut Vec<Violation>) {
    let mut public: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for source in sources {
        for (at, line) in source.code.iter().enumerate().filter(|(at, _)| !source.is_test[*at]) {
            let Some((name, is_public)) = type_name(line) else { continue };
            if is_public && name != ALIAS {
                public.entry(name).or_default().push((&source.path, at + 1));
            }
            if is_participle(name) {
                let what = format!("{name} is no noun");
                found.push(Violation::new(Rule::Participle, &source.path, at + 1, what));
            }
        }
    }
    for (name, places) in public.iter().filter(|(_, places)| places.len() > 1) {
        for (path, line) in places {
            let what = format!("{name} is the name of {} public types", places.len());
            found.push(Violation::new(Rule::SharedName, path, *line, what));
        }
    }
}

/// The type that a line declares, and whether it is public beyond its crate.
fn type_name(line: &str) -> Option<(&str, bool)> {
    let code = line.trim_start();
    let open = code.strip_prefix("pub ");
    let inner = code.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    let item = open.or(inner.map(|(_, rest)| rest)).unwrap_or(code);
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let kinds = ["struct ", "enum ", "trait ", "union ", "type "];
    let rest = kinds.iter().find_map(|kind| item.strip_prefix(kind))?;
    let is_alias = item.starts_with("type ");
    let name = rest.split(|char| !is_word_char(char)).next().filter(|name| !name.is_empty())?;
    // What implements a trait names the trait's types.
    (!is_alias || open.is_some() || inner.is_some()).then_some((name, open.is_some()))
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().filter(|char| char.is_uppercase()).count() == 1;
    let is_regular = is_one_word && name.ends_with("ed") && !NOUNS.contains(&name);
    is_regular || NO_NOUNS.contains(&name)
}

fn parameters(source: &Source, signature: &Signature, found: &mut Vec<Violation>) {
    let tuples = signature
        .parameters
        .iter()
        .filter(|parameter| parameter.trim_start_matches(['&', ' ']).starts_with('('));
    for parameter in tuples {
        let what = format!("fn {} takes {parameter}", signature.name);
        found.push(Violation::new(Rule::TupleParameter, &source.path, signature.line, what));
    }
}

fn closures(source: &Source, signature: &Signature, found: &mut Vec<Violation>) {
    let Some(end) = signature.end else { return };
    let body = signature.line - 1..end;
    let named: Vec<usize> = body.filter(|at| names_a_closure(&source.code[*at])).collect();
    for at in &named {
        let what = "a closure has a name";
        found.push(Violation::new(Rule::NamedClosure, &source.path, at + 1, what));
    }
    let count = named.len();
    if count > CLOSURES_AT_MOST {
        let what = format!("fn {} has {count} named closures", signature.name);
        found.push(Violation::new(Rule::NamedClosures, &source.path, signature.line, what));
    }
}

fn names_a_closure(line: &str) -> bool {
    let Some(rest) = line.trim_start().strip_prefix("let ") else { return false };
    let Some((_, value)) = rest.split_once(" = ") else { return false };
    value.starts_with('|') || value.starts_with("move |")
}

/// Texts that ask a server about itself elsewhere than where that is known.
fn server_sql(source: &Source, found: &mut Vec<Violation>) {
    let is_free = SERVER_SQL_OWNERS.iter().any(|owner| source.path.starts_with(owner));
    if is_free || !source.path.starts_with("crates/") {
        return;
    }
    let lines = source.lines.iter().zip(&source.prose).enumerate();
    for (at, (line, prose)) in lines.filter(|(at, _)| !source.is_test[*at]) {
        let text = blanked_text(line, prose);
        if let Some(word) = SERVER_SQL.iter().find(|word| text.contains(**word)) {
            let what = format!("{} asks a server about itself: {word}", source.owning_crate());
            found.push(Violation::new(Rule::ServerSql, &source.path, at + 1, what));
        }
    }
}

/// Texts that name a file of the kernel elsewhere than where it is opened, and looks at this
/// machine where a host is what is looked at.
fn kernel_files(source: &Source, found: &mut Vec<Violation>) {
    let is_in = |folders: &[&str]| folders.iter().any(|folder| source.path.starts_with(folder));
    if is_in(&KERNEL_FILE_OWNERS) || !source.path.starts_with("crates/") {
        return;
    }
    let is_observer = is_in(&OBSERVERS);
    let lines = source.lines.iter().zip(&source.prose).enumerate();
    for (at, (line, prose)) in lines.filter(|(at, _)| !source.is_test[*at]) {
        let text = blanked_text(line, prose);
        let code = &source.code[at];
        let what = if KERNEL_FILES.iter().any(|begin| text.contains(begin)) {
            "names a file of the kernel"
        } else if is_observer && LOCAL_LOOKS.iter().any(|call| has_word(code, call)) {
            "looks past its host"
        } else {
            continue;
        };
        let what = format!("{} {what}", source.owning_crate());
        found.push(Violation::new(Rule::KernelFile, &source.path, at + 1, what));
    }
}

/// What of a line stands in texts: the characters that its prose has blanked.
fn blanked_text(line: &str, prose: &str) -> String {
    let both = line.chars().zip(prose.chars());
    both.map(|(own, kept)| if own == kept && own != ' ' { '\n' } else { own }).collect()
}

/// Chains of conditions that are written as a `match`.
fn matches(source: &Source, found: &mut Vec<Violation>) {
    for (at, line) in source.code.iter().enumerate().filter(|(at, _)| !source.is_test[*at]) {
        let code = line.trim();
        if code.starts_with("true =>") || code.contains("match () {") {
            let what = "a match on nothing, or on true and false";
            found.push(Violation::new(Rule::MatchInDisguise, &source.path, at + 1, what));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(Rule, usize, String)> {
        let source = Source::read("crates/a/src/b.rs", text).unwrap();
        violation_places(&[source]).into_iter().map(|one| (one.rule, one.line, one.what)).collect()
    }

    #[test]
    fn public_types_of_one_name_are_found_in_whatever_crate() {
        let read = |path, text| Source::read(path, text).unwrap();
        let sources = [
            read("crates/a/src/lib.rs", "pub struct Row;\npub(crate) struct Line;\n"),
            read("crates/b/src/lib.rs", "pub enum Row {}\nstruct Line;\n#[cfg(test)]\nstruct A;\n"),
            read("crates/b/tests/a.rs", "pub struct Row;\n"),
        ];
        let rows = violation_places(&sources);
        assert_eq!(rows.len(), 2);
        assert!(rows.iter().all(|row| row.what == "Row is the name of 2 public types"));
    }

    #[test]
    fn participles_are_no_names_of_types() {
        let text = "struct Told;\npub(crate) enum Counted {}\nstruct Seed;\nstruct CountedRow;\n\
            trait Why {}\n";
        let names: Vec<usize> = found(text).iter().map(|(_, line, _)| *line).collect();
        assert_eq!(names, [1, 2, 5]);
        assert!(found("impl Iterator for A {\n    type Told = u8;\n}\n").is_empty());
    }

    #[test]
    fn tuples_in_signatures_are_found_over_several_lines() {
        let text =
            "fn a(\n    (b, c): (u8, u8),\n    d: (u8, u8),\n) {}\nfn e(&(f, g): &(u8, u8)) {}\n";
        let all = found(text);
        assert_eq!(all.iter().map(|one| one.1).collect::<Vec<_>>(), [1, 5]);
        assert_eq!(all[0].2, "fn a takes (b, c): (u8, u8)");
    }

    #[test]
    fn questions_about_servers_stand_in_one_crate() {
        let text = "let a = \"SELECT 1\";\nask(\"SELECT a FROM \\\n    information_schema.b\");\n\
                    // SHOW STATUS\nask(\"SHOW STATUS\");\n#[cfg(test)]\nmod tests {\n    \
                    const A: &str = \"SHOW STATUS\";\n}\n";
        let lines = |path: &str| -> Vec<usize> {
            violation_places(&[Source::read(path, text).unwrap()])
                .iter()
                .map(|one| one.line)
                .collect()
        };
        assert_eq!(lines("crates/lab/src/a.rs"), [3, 5]);
        assert_eq!(lines("crates/server/src/a.rs"), Vec::<usize>::new());
        assert_eq!(lines("crates/serverless/src/a.rs"), [3, 5]);
        assert_eq!(lines("crates/lab/tests/a.rs"), Vec::<usize>::new());
    }

    #[test]
    fn files_of_the_kernel_are_named_and_opened_in_one_crate() {
        let text = "let a = format!(\"/proc/{pid}/stat\");\nopen(\"/sys/fs/cgroup\");\n\
                    say(\"see /proc/stat\");\n// \"/proc/stat\"\nfs::read(path);\n\
                    #[cfg(test)]\nmod tests {\n    \
                    const A: &str = \"/proc/stat\";\n}\n";
        for (path, expected) in [
            ("crates/sandbox/src/a.rs", &[1, 2][..]),
            ("crates/probe/src/a.rs", &[1, 2, 5]),
            ("crates/probe/tests/a.rs", &[]),
            ("crates/host/src/a.rs", &[]),
            ("crates/hostile/src/a.rs", &[1, 2]),
            ("xtask/src/a.rs", &[]),
        ] {
            let found = violation_places(&[Source::read(path, text).unwrap()]);
            assert_eq!(found.iter().map(|one| one.line).collect::<Vec<_>>(), expected, "{path}");
        }
    }

    #[test]
    fn a_function_with_three_named_closures_is_found() {
        let closures = "    let a = |x| x;\n    let b = move |x| x;\n    let c = |x| x;\n";
        let rules = |text: String| found(&text).into_iter().map(|one| one.0).collect::<Vec<_>>();
        let named = [Rule::NamedClosure; 4];
        let all = rules(format!("fn f() {{\n{closures}}}\n"));
        assert_eq!(all, [&named[1..], &[Rule::NamedClosures]].concat());
        let two = closures.split_inclusive('\n').take(2).collect::<String>();
        assert_eq!(rules(format!("fn f() {{\n{two}}}\nfn g() {{\n{two}}}\n")), named);
        assert!(found(&format!("#[cfg(test)]\nfn f() {{\n{closures}}}\n")).is_empty());
    }

    #[test]
    fn a_match_that_hides_conditions_is_found() {
        let text = "fn f() {\n    match () {\n        () if a => {}\n    }\n    match b {\n        \
            true => c,\n        false => d,\n    }\n}\n";
        assert_eq!(found(text).iter().map(|one| one.1).collect::<Vec<_>>(), [2, 6]);
    }
}
