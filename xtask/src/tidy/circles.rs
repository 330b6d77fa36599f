//! Files of a crate that import each other in a circle.
//!
//! ```text
//!   use crate::lock::Queue;  ──▶  lock/mod.rs: pub use queue::Queue;  ──▶  lock/queue.rs
//!          │                              a name is followed to the file that has it, so that a
//!   a file ▼ imports a file               parent that only hands names on is no station
//!   a.rs ──▶ b.rs ──▶ c.rs ──▶ a.rs       a circle: none of them is understood without the others
//! ```
//!
//! Names are followed as text: what a macro makes is not seen. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};

use super::lexer::Language;
use super::rule::{Rule, Violation};
use super::source::Source;

/// Segments of a path, from the root of the crate.
type Segments = Vec<String>;

/// Finds the circles of all crates.
pub(super) fn check_sources(sources: &[Source], found: &mut Vec<Violation>) {
    let mut crates: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.language == Language::Rust) {
        if let Some((root, _)) = source.path.split_once("/src/") {
            crates.entry(root).or_default().push(source);
        }
    }
    for (root, sources) in crates {
        let arrows = House::of(root, &sources).arrows();
        let name = |path: &str| path[root.len() + "/src/".len()..].to_owned();
        for circle in circles(&arrows) {
            let told: Vec<String> = circle
                .iter()
                .map(|from| {
                    let targets = arrows[*from].iter().filter(|target| circle.contains(target));
                    let targets: Vec<String> = targets.map(|target| name(target)).collect();
                    format!("{} → {}", name(from), targets.join(" and "))
                })
                .collect();
            let what = format!("is in a circle of {}: {}", circle.len(), told.join(", "));
            found.push(Violation::new(Rule::Circle, circle[0], 1, what));
        }
    }
}

/// The modules of a crate.
struct House<'s> {
    /// File of each module.
    files: BTreeMap<Segments, &'s str>,
    rooms: Vec<Room<'s>>,
    /// Names that a module hands on, and where they come from.
    handed_on: BTreeMap<Segments, BTreeMap<String, Segments>>,
}

/// A file: its module, and what its code says.
struct Room<'s> {
    path: &'s str,
    module: Segments,
    words: Vec<String>,
}

impl<'s> House<'s> {
    fn of(root: &str, sources: &[&'s Source]) -> House<'s> {
        let room = |source: &&'s Source| {
            let inner = source.path.strip_prefix(root)?.strip_prefix("/src/")?;
            let mut module: Segments =
                inner.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            let last = module.last().map(String::as_str);
            if last == Some("mod") || inner == "lib.rs" || inner == "main.rs" {
                module.pop();
            }
            let lines = source.code.iter().zip(&source.is_test).filter(|(_, is_test)| !**is_test);
            let words = words(lines.map(|(line, _)| line.as_str()));
            Some(Room { path: &source.path, module, words })
        };
        let rooms: Vec<Room<'s>> = sources.iter().filter_map(room).collect();
        let files = rooms.iter().map(|room| (room.module.clone(), room.path)).collect();
        let mut house = House { files, rooms, handed_on: BTreeMap::new() };
        for room in &house.rooms {
            let mut names = BTreeMap::new();
            for import in imports(&room.words).into_iter().filter(|import| import.is_public) {
                if let Some(target) = house.absolute(&room.module, &import.path) {
                    names.insert(import.name, target);
                }
            }
            house.handed_on.insert(room.module.clone(), names);
        }
        house
    }

    /// The path from the root of the crate; `None` for one of another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Segments> {
        let mut base = module.to_vec();
        let mut rest = path;
        match rest.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &rest[1..]),
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|word| word == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            child => {
                let is_child = self.files.contains_key(&[module, &[child.to_owned()]].concat());
                is_child.then_some(())?;
            }
        }
        Some([&base, rest].concat())
    }

    /// The file that has what a path names.
    fn file_of(&self, path: &[String], depth: u32) -> Option<&'s str> {
        let (at, file) =
            (0..=path.len()).rev().find_map(|at| Some((at, *self.files.get(&path[..at])?)))?;
        let handed_on = path.get(at).and_then(|name| self.handed_on.get(&path[..at])?.get(name));
        match handed_on {
            Some(target) if depth > 0 => {
                self.file_of(&[target, &path[at + 1..]].concat(), depth - 1)
            }
            _ => Some(file),
        }
    }

    /// What each file imports.
    fn arrows(&self) -> BTreeMap<&'s str, BTreeSet<&'s str>> {
        const DEPTH: u32 = 8;
        let mut arrows: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for room in &self.rooms {
            let targets = arrows.entry(room.path).or_default();
            let mut modules: BTreeMap<String, Segments> = BTreeMap::new();
            for import in imports(&room.words).into_iter().filter(|import| !import.is_public) {
                let Some(path) = self.absolute(&room.module, &import.path) else { continue };
                if self.files.contains_key(&path) {
                    // A module by name: what is taken out of it is seen where it is used.
                    modules.insert(import.name, path);
                } else {
                    targets.extend(self.file_of(&path, DEPTH));
                }
            }
            for path in inline_paths(&room.words) {
                let absolute = match modules.get(&path[0]) {
                    Some(module) => Some([module, &path[1..]].concat()),
                    None => self.absolute(&room.module, &path),
                };
                targets.extend(absolute.and_then(|path| self.file_of(&path, DEPTH)));
            }
            targets.remove(room.path);
        }
        arrows
    }
}

/// Identifiers, `::`, and every other character by itself.
fn words<'l>(lines: impl Iterator<Item = &'l str>) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for line in lines {
        let mut chars = line.chars().peekable();
        while let Some(char) = chars.next() {
            if is_name_char(char) {
                let mut word = String::from(char);
                while let Some(next) = chars.next_if(|&next| is_name_char(next)) {
                    word.push(next);
                }
                words.push(word);
            } else if char == ':' && chars.next_if_eq(&':').is_some() {
                words.push("::".to_owned());
            } else if !char.is_whitespace() {
                words.push(char.to_string());
            }
        }
    }
    words
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

/// One name that a `use` brings.
struct Import {
    name: String,
    path: Segments,
    is_public: bool,
}

fn imports(words: &[String]) -> Vec<Import> {
    let mut all = Vec::new();
    for at in (0..words.len()).filter(|&at| words[at] == "use") {
        let is_public = at > 0 && (words[at - 1] == "pub" || words[at - 1] == ")");
        let end = (at..words.len()).find(|&end| words[end] == ";").unwrap_or(words.len());
        let mut tree = Tree { words: &words[at + 1..end], at: 0, found: Vec::new() };
        tree.read(&[]);
        all.extend(tree.found.into_iter().map(|(name, path)| Import { name, path, is_public }));
    }
    all
}

/// The tree of a `use`.
struct Tree<'w> {
    words: &'w [String],
    at: usize,
    found: Vec<(String, Segments)>,
}

impl Tree<'_> {
    fn next(&mut self) -> Option<&str> {
        self.at += 1;
        self.words.get(self.at - 1).map(String::as_str)
    }

    /// Reads one branch below these segments, up to a comma or a closing brace.
    fn read(&mut self, above: &[String]) {
        let mut path = above.to_vec();
        let mut name = None;
        while let Some(word) = self.next().map(str::to_owned) {
            match word.as_str() {
                "::" => {}
                "as" => name = self.next().map(str::to_owned),
                "{" => {
                    while self.words.get(self.at - 1).is_some_and(|word| word != "}") {
                        self.read(&path);
                    }
                    // What the braces held has been told; behind them is a comma, or nothing.
                    path.clear();
                    self.at += 1;
                    if self.words.get(self.at - 1).is_none_or(|word| word == "," || word == "}") {
                        return;
                    }
                }
                "}" | "," => break,
                // The module itself, under its own name.
                "self" if path.len() > above.len() || !above.is_empty() => {}
                _ => path.push(word),
            }
        }
        if let Some(last) = path.last() {
            self.found.push((name.unwrap_or_else(|| last.clone()), path));
        }
    }
}

/// Paths of two segments or more that are not part of a `use`.
fn inline_paths(words: &[String]) -> Vec<Segments> {
    let is_name = |word: &String| word.chars().all(|char| char.is_alphanumeric() || char == '_');
    let mut paths = Vec::new();
    let mut at = 0;
    while at < words.len() {
        if words[at] == "use" {
            at = (at..words.len()).find(|&end| words[end] == ";").unwrap_or(words.len());
            continue;
        }
        // `pub(in crate::a)` says who may look, and takes nothing from there.
        if words[at] == "in" && at > 0 && words[at - 1] == "(" {
            at = (at..words.len()).find(|&end| words[end] == ")").unwrap_or(words.len());
            continue;
        }
        let mut path = Vec::new();
        while at < words.len() && is_name(&words[at]) {
            path.push(words[at].clone());
            let goes_on = words.get(at + 1).is_some_and(|word| word == "::")
                && words.get(at + 2).is_some_and(is_name);
            at += if goes_on { 2 } else { 1 };
            if !goes_on {
                break;
            }
        }
        match path.len() {
            0 => at += 1,
            1 => {}
            _ => paths.push(path),
        }
    }
    paths
}

/// The sets of files that can all be reached from each other, two at least; each in order.
fn circles<'s>(arrows: &BTreeMap<&'s str, BTreeSet<&'s str>>) -> Vec<Vec<&'s str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        arrows.keys().map(|&from| (from, reach(arrows, from))).collect();
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for &file in arrows.keys() {
        let circle: Vec<&str> = reached[file]
            .iter()
            .filter(|other| reached.get(**other).is_some_and(|them| them.contains(file)))
            .copied()
            .collect();
        if circle.len() > 1 && seen.insert(circle.clone()) {
            found.push(circle);
        }
    }
    found
}

fn reach<'s>(arrows: &BTreeMap<&'s str, BTreeSet<&'s str>>, from: &'s str) -> BTreeSet<&'s str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        for &target in arrows.get(file).into_iter().flatten() {
            if reached.insert(target) {
                next.push(target);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> =
            files.iter().filter_map(|(path, text)| Source::read(path, text)).collect();
        let mut found = Vec::new();
        check_sources(&sources, &mut found);
        found.into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_circle_is_found_whichever_way_its_names_are_spelled() {
        for (a, b) in [
            ("use crate::b::B;\n", "use crate::a::A;\n"),
            ("use crate::{b::{B, C}, c};\n", "use super::a::A;\n"),
            ("fn f() { crate::b::g() }\n", "use crate::a as other;\nfn g() { other::f() }\n"),
            ("use crate::b::{self};\nfn f() { b::g() }\n", "fn g(a: super::a::A) {}\n"),
        ] {
            let files = [("crates/x/src/a.rs", a), ("crates/x/src/b.rs", b)];
            assert_eq!(found(&files), ["is in a circle of 2: a.rs → b.rs, b.rs → a.rs"], "{a} {b}");
        }
    }

    #[test]
    fn a_parent_that_hands_names_on_is_no_station() {
        let parent = ("crates/x/src/p/mod.rs", "mod a;\nmod b;\npub use a::A;\npub use b::B;\n");
        let a = ("crates/x/src/p/a.rs", "pub struct A;\n");
        let b = ("crates/x/src/p/b.rs", "use crate::p::A;\n");
        assert_eq!(found(&[parent, a, b]), [""; 0]);
        let uses = ("crates/x/src/p/mod.rs", "mod b;\npub struct A;\nfn f() { b::f() }\n");
        assert_eq!(
            found(&[uses, b]),
            ["is in a circle of 2: p/b.rs → p/mod.rs, p/mod.rs → p/b.rs"]
        );
    }

    #[test]
    fn tests_and_other_crates_make_no_circle() {
        let a = ("crates/x/src/a.rs", "use crate::b::B;\n");
        let b = ("crates/x/src/b.rs", "#[cfg(test)]\nmod tests { use crate::a::A; }\n");
        let other = ("crates/y/src/b.rs", "use crate::a::A;\n");
        let text = ("crates/x/src/b.rs", "// use crate::a::A;\nconst C: &str = \"crate::a::A\";\n");
        let shown = ("crates/x/src/b.rs", "pub(in crate::a) fn f() {}\n");
        assert_eq!(found(&[a, shown]), [""; 0]);
        assert_eq!(found(&[a, b]), [""; 0]);
        assert_eq!(found(&[a, other]), [""; 0]);
        assert_eq!(found(&[a, text]), [""; 0]);
    }
}
