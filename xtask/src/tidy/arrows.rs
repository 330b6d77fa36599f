//! Which crate may know which.
//!
//! ```text
//!   cli ──► lab ──► load, sandbox, probe, stats, store, workload, wire ──► model
//!    └────► report, sandbox, store, workload                          ──► model
//! ```
//!
//! [`ARROWS`] is the table of crates in `docs/ARCHITECTURE.md`, in an order in which every arrow
//! points upwards in the list; the two are held against each other. Tests may look further down
//! than the crate itself does, never up.

use super::rule::{Rule, Violation};
use super::tree::Tree;

/// A crate and the crates of ours that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("files", &[]),
    ("host", &["files"]),
    ("json", &[]),
    ("model", &[]),
    ("symbols", &[]),
    ("stats", &["model"]),
    ("audit", &["model"]),
    ("cases", &["model"]),
    ("check", &["json"]),
    ("protocols", &["cases", "check"]),
    ("workload", &["model"]),
    ("wire", &["files", "model"]),
    ("server", &["json", "model", "wire"]),
    ("rocks", &[]),
    ("replica", &["model"]),
    ("engine", &["model", "replica"]),
    ("sql", &["model", "engine"]),
    ("load", &["host", "model", "check", "rocks", "engine", "sql", "workload", "wire", "server"]),
    ("serve", &["model", "wire", "engine", "sql"]),
    ("sandbox", &["files", "host", "model", "wire", "server"]),
    ("probe", &["files", "host", "model", "symbols"]),
    ("store", &["files", "model"]),
    ("judge", &["json", "model", "stats", "audit", "workload"]),
    ("explain", &["json", "model", "stats", "symbols", "audit"]),
    (
        "lab",
        &[
            "files",
            "host",
            "json",
            "model",
            "stats",
            "symbols",
            "audit",
            "cases",
            "check",
            "workload",
            "wire",
            "server",
            "rocks",
            "replica",
            "engine",
            "sql",
            "load",
            "sandbox",
            "probe",
            "store",
            "judge",
            "explain",
            "protocols",
        ],
    ),
    ("trials", &["model", "wire", "load", "sandbox", "store", "judge", "explain", "lab"]),
    (
        "isolation",
        &[
            "model", "stats", "cases", "check", "workload", "wire", "server", "engine", "load",
            "sandbox", "lab",
        ],
    ),
    ("watch", &["model", "wire", "server", "load"]),
    ("document", &["model"]),
    ("report", &["model", "document"]),
    ("rivals", &["model", "rocks", "engine"]),
    (
        "cli",
        &[
            "files",
            "model",
            "audit",
            "cases",
            "check",
            "workload",
            "serve",
            "sandbox",
            "store",
            "document",
            "report",
            "judge",
            "explain",
            "lab",
            "trials",
            "isolation",
            "watch",
            "protocols",
        ],
    ),
];

const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";
/// The crate of the program; every other one is `dbdyno-` and its folder.
const PROGRAM: &str = "dbdyno";

/// Checks the manifests of all crates, and that each has its invariant.
pub(super) fn check_tree(tree: &Tree, found: &mut Vec<Violation>) {
    let crates = crates(tree);
    for &(name, path, manifest) in &crates {
        match ARROWS.iter().position(|(known, _)| *known == name) {
            Some(place) => manifest_arrows(place, path, manifest, found),
            None => {
                let what = format!("{name} is not in the table of crates");
                found.push(Violation::new(Rule::Arrow, path, 1, what));
            }
        }
    }
    for (name, _) in ARROWS {
        if !crates.iter().any(|(known, ..)| known == name) {
            let what = format!("{name} is in the table of crates and not in the repository");
            found.push(Violation::new(Rule::Arrow, "xtask/src/tidy/arrows.rs", 1, what));
        }
    }
    if let Some(manifest) = tree.get("xtask/Cargo.toml") {
        for dependency in dependencies(manifest) {
            let what = format!("xtask depends on {}", dependency.name);
            found.push(Violation::new(Rule::Arrow, "xtask/Cargo.toml", dependency.line, what));
        }
    }
    match tree.get(ARCHITECTURE) {
        Some(text) => document(text, crates.iter().map(|(name, ..)| *name), found),
        None => {
            found.push(Violation::new(Rule::Invariant, ARCHITECTURE, 1, "there is no such file"))
        }
    }
}

/// Folder, path of the manifest and manifest of each crate.
fn crates(tree: &Tree) -> Vec<(&str, &str, &str)> {
    tree.files()
        .filter_map(|(path, text)| {
            let name = path.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?;
            (!name.contains('/')).then_some((name, path, text))
        })
        .collect()
}

fn manifest_arrows(place: usize, path: &str, manifest: &str, found: &mut Vec<Violation>) {
    let (name, permitted) = ARROWS[place];
    for dependency in dependencies(manifest) {
        let lies_below = ARROWS[..place].iter().any(|(below, _)| *below == dependency.name);
        let may = permitted.contains(&&*dependency.name) || (dependency.for_tests && lies_below);
        if !may {
            let what = format!("{name} may not depend on {}", dependency.name);
            found.push(Violation::new(Rule::Arrow, path, dependency.line, what));
        }
    }
}

struct Dependency {
    line: usize,
    /// The folder of the crate.
    name: String,
    for_tests: bool,
}

/// The dependencies on crates of ours: by name, under another name, or by path.
fn dependencies(manifest: &str) -> Vec<Dependency> {
    let mut dependencies = Vec::new();
    let mut section = "";
    for (index, line) in manifest.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']);
        }
        if !section.split('.').any(|part| part.ends_with("dependencies")) {
            continue;
        }
        let for_tests = section.split('.').any(|part| part == "dev-dependencies");
        for word in line.split(|char| !is_name_char(char)) {
            let name = match word.strip_prefix("dbdyno-") {
                Some(name) => name,
                None if word == PROGRAM => "cli",
                None => continue,
            };
            let line = index + 1;
            dependencies.push(Dependency { line, name: name.to_owned(), for_tests });
        }
    }
    dependencies
}

fn is_name_char(char: char) -> bool {
    char.is_alphanumeric() || char == '-' || char == '_'
}

/// Each crate has its row in the table and a line with its invariant.
fn document<'a>(document: &str, crates: impl Iterator<Item = &'a str>, found: &mut Vec<Violation>) {
    let rows = rows(document);
    for name in crates {
        let invariant = format!("`{name}` — **Invariant:** ");
        if !document.lines().any(|line| line.starts_with(&invariant)) {
            let what = format!("`{name}` has no invariant");
            found.push(Violation::new(Rule::Invariant, ARCHITECTURE, 1, what));
        }
        let permitted = ARROWS.iter().find(|(known, _)| *known == name).map(|(_, below)| below);
        let mut permitted = permitted.map_or(Vec::new(), |below| below.to_vec());
        permitted.sort_unstable();
        match rows.iter().find(|row| row.name == name) {
            Some(row) if row.below == permitted => {}
            Some(row) => {
                let what = format!("`{name}` may use {:?}, not {:?}", permitted, row.below);
                found.push(Violation::new(Rule::Arrow, ARCHITECTURE, row.line, what));
            }
            None => {
                let what = format!("`{name}` has no row in the table of crates");
                found.push(Violation::new(Rule::Arrow, ARCHITECTURE, 1, what));
            }
        }
    }
}

struct Row<'a> {
    line: usize,
    name: &'a str,
    /// Sorted.
    below: Vec<&'a str>,
}

/// The rows `| crate | what lives there | may use |` of the document's table of crates.
fn rows(document: &str) -> Vec<Row<'_>> {
    let mut rows: Vec<Row> = Vec::new();
    for (index, line) in document.lines().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", name, _, below, ""] = cells[..] else {
            continue;
        };
        let Some(name) = name.strip_prefix('`').and_then(|name| name.strip_suffix('`')) else {
            continue;
        };
        let mut below: Vec<&str> = match below {
            "–" => Vec::new(),
            "all of the above" => rows.iter().map(|row| row.name).collect(),
            list => list.split(',').map(str::trim).collect(),
        };
        below.sort_unstable();
        rows.push(Row { line: index + 1, name, below });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows_of(name: &str, manifest: &str) -> Vec<String> {
        let path = format!("crates/{name}/Cargo.toml");
        let mut found = Vec::new();
        check_tree(&Tree::planted(&[(&path, manifest)]), &mut found);
        let mine = found.into_iter().filter(|violation| violation.path == path);
        mine.map(|violation| format!("{}: {}", violation.line, violation.what)).collect()
    }

    #[test]
    fn an_arrow_that_points_up_or_aside_is_found() {
        let up =
            "[package]\nname = \"dbdyno-model\"\n[dependencies]\ndbdyno-lab.workspace = true\n";
        assert_eq!(arrows_of("model", up), ["4: model may not depend on lab"]);
        let aside = "[dependencies]\ndbdyno-model.workspace = true\ndbdyno-store = \"1\"";
        assert_eq!(arrows_of("stats", aside), ["3: stats may not depend on store"]);
        let program = "[build-dependencies]\ndbdyno = { path = \"../cli\" }";
        assert_eq!(arrows_of("lab", program), ["2: lab may not depend on cli"]);
        let fine = "[dependencies]\ndbdyno-model.workspace = true # not dbdyno-cli\nstatrs = \"1\"";
        assert!(arrows_of("stats", fine).is_empty());
    }

    #[test]
    fn an_arrow_in_disguise_is_found() {
        for disguised in [
            "[dependencies]\nwords = { package = \"dbdyno-lab\", path = \"../lab\" }",
            "[target.'cfg(unix)'.dependencies]\ndbdyno-lab.workspace = true",
            "[dependencies.dbdyno-lab]\nworkspace = true",
        ] {
            assert_eq!(arrows_of("wire", disguised).len(), 1, "{disguised}");
        }
    }

    #[test]
    fn tests_look_down_and_never_up() {
        let tests = |name| format!("[dev-dependencies]\ndbdyno-{name}.workspace = true");
        assert!(arrows_of("cli", &tests("wire")).is_empty());
        assert_eq!(arrows_of("wire", &tests("lab")), ["2: wire may not depend on lab"]);
    }

    #[test]
    fn the_table_and_the_repository_agree() {
        let new = arrows_of("gearbox", "[package]\n");
        assert_eq!(new, ["1: gearbox is not in the table of crates"]);
        let mut found = Vec::new();
        check_tree(&Tree::planted(&[]), &mut found);
        let missing = found.iter().filter(|violation| violation.rule == Rule::Arrow).count();
        assert_eq!(missing, ARROWS.len());
    }

    #[test]
    fn xtask_depends_on_nothing_of_ours() {
        let manifest = "[dependencies]\ndbdyno-model.workspace = true";
        let mut found = Vec::new();
        check_tree(&Tree::planted(&[("xtask/Cargo.toml", manifest)]), &mut found);
        assert!(found.iter().any(|violation| violation.what == "xtask depends on model"));
    }

    #[test]
    fn the_table_has_no_cycle() {
        for (place, (name, below)) in ARROWS.iter().enumerate() {
            for below in *below {
                let known = ARROWS[..place].iter().any(|(known, _)| known == below);
                assert!(known, "{name} points to {below}, which does not stand above it");
            }
        }
    }

    fn said_of(text: &str, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        document(text, [name].into_iter(), &mut found);
        found.into_iter().map(|violation| violation.what).collect()
    }

    #[test]
    fn a_crate_without_an_invariant_is_found() {
        let (_, below) = ARROWS.iter().find(|(name, _)| *name == "load").expect("a crate");
        let row = format!("| `load` | b | {} |\n", below.join(", "));
        assert!(said_of(&format!("{row}`load` — **Invariant:** c."), "load").is_empty());
        for missing in ["", "`lab` — **Invariant:** c.", "**Invariant:** `load`"] {
            let said = said_of(&format!("{row}{missing}"), "load");
            assert_eq!(said, ["`load` has no invariant"], "{missing}");
        }
    }

    #[test]
    fn a_document_that_shows_other_arrows_is_found() {
        let said = |rows: &str, name: &str| {
            said_of(&format!("{rows}\n`{name}` — **Invariant:** c."), name)
        };
        assert_eq!(said("", "load"), ["`load` has no row in the table of crates"]);
        let other = said("| `replica` | a | model, load |", "replica");
        assert_eq!(other, ["`replica` may use [\"model\"], not [\"load\", \"model\"]"]);
        assert!(said("| `model` | a | – |", "model").is_empty());
        let all = said(
            "| `model` | a | – |\n| `stats` | b | model |\n| `lab` | c | all of the above |",
            "lab",
        );
        assert_eq!(all.len(), 1, "eight are above, not two");
    }
}
