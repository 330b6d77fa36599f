//! A source file as the rules see it: its lines, and which of them are test code.

use std::collections::HashSet;

use super::lexer::{self, Language};
use super::tree::Tree;

/// A file of Rust or TypeScript.
pub(super) struct Source {
    pub path: String,
    pub language: Language,
    /// The lines as they were written.
    pub lines: Vec<String>,
    /// The lines with strings and comments blanked.
    pub code: Vec<String>,
    /// The lines with strings blanked.
    pub prose: Vec<String>,
    /// For each line, whether it is compiled for tests only.
    pub is_test: Vec<bool>,
}

impl Source {
    /// All sources of a tree. A module that its parent declares under `#[cfg(test)]` is test code.
    pub(super) fn read_all(tree: &Tree) -> Vec<Source> {
        let mut sources: Vec<Source> =
            tree.files().filter_map(|(path, text)| Source::read(path, text)).collect();
        let test_modules: HashSet<String> = sources.iter().flat_map(test_modules).collect();
        for source in &mut sources {
            if test_modules.contains(&source.path) {
                source.is_test.fill(true);
            }
        }
        sources
    }

    /// The source of one file; `None` if it is in no language that has rules.
    pub(super) fn read(path: &str, text: &str) -> Option<Source> {
        let language = match path.rsplit_once('.')?.1 {
            "rs" => Language::Rust,
            "ts" | "tsx" | "mts" | "mjs" => Language::TypeScript,
            _ => return None,
        };
        let blanked = lexer::blank_text(text, language);
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let code = lines(&blanked.code);
        let is_test =
            if lies_in_test_folder(path) { vec![true; code.len()] } else { test_lines(&code) };
        Some(Source {
            path: path.to_owned(),
            language,
            lines: lines(text),
            prose: lines(&blanked.prose),
            code,
            is_test,
        })
    }

    /// The crate that the file belongs to, or the folder at the top.
    pub(super) fn owning_crate(&self) -> &str {
        let rest = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        rest.split('/').next().unwrap_or(rest)
    }
}

fn lies_in_test_folder(path: &str) -> bool {
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    folders.split('/').any(|folder| matches!(folder, "tests" | "test" | "benches" | "fuzz"))
        || path.contains(".test.")
}

/// Marks each item under `#[cfg(test)]`, from the attribute to the closing brace or semicolon.
fn test_lines(code: &[String]) -> Vec<bool> {
    let mut is_test = vec![false; code.len()];
    let mut from = 0;
    while let Some(start) = (from..code.len()).find(|&index| opens_test(&code[index])) {
        let end = if code[start].contains("#![cfg(test)]") {
            code.len() - 1
        } else {
            end_of_item(code, start)
        };
        is_test[start..=end].fill(true);
        from = end + 1;
    }
    is_test
}

fn opens_test(line: &str) -> bool {
    let is_all = line.contains("#[cfg(all(test,") || line.contains(", test))]");
    is_all || ["#[cfg(test)]", "#![cfg(test)]", "#[test]"].iter().any(|one| line.contains(one))
}

/// The last line of the item that begins in line `start`.
pub(super) fn end_of_item(code: &[String], start: usize) -> usize {
    let (mut braces, mut others) = (0i32, 0i32);
    for (index, line) in code.iter().enumerate().skip(start) {
        for char in line.chars() {
            match char {
                '(' | '[' => others += 1,
                ')' | ']' => others -= 1,
                '{' => braces += 1,
                '}' => {
                    braces -= 1;
                    if braces <= 0 {
                        return index;
                    }
                }
                ';' if braces == 0 && others == 0 => return index,
                _ => {}
            }
        }
    }
    code.len() - 1
}

/// The files of modules that this one declares under `#[cfg(test)]`.
fn test_modules(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or(("", &source.path));
    let inner = match file {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", file.trim_end_matches(".rs")),
    };
    let tested = source.code.iter().zip(&source.is_test).filter(|(_, is_test)| **is_test);
    tested
        .filter_map(|(line, _)| {
            let declared = line.trim().trim_start_matches("#[cfg(test)]").trim_start();
            declared.strip_prefix("mod ")?.strip_suffix(';')
        })
        .flat_map(|name| [format!("{inner}/{name}.rs"), format!("{inner}/{name}/mod.rs")])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_lines_of(text: &str) -> Vec<bool> {
        Source::read("crates/a/src/b.rs", text).unwrap().is_test
    }

    #[test]
    fn test_code_ends_with_its_brace() {
        let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n  fn b() { \"}\" }\n}\nfn c() {}\n";
        assert_eq!(test_lines_of(text), [false, true, true, true, true, false]);
        assert_eq!(test_lines_of("#[cfg(test)]\nuse a;\nfn b() {}"), [true, true, false]);
        assert_eq!(test_lines_of("#![cfg(test)]\nfn b() {}"), [true, true]);
        assert_eq!(test_lines_of("#[cfg(all(loom, test))]\nfn b() {}"), [true, true]);
        assert_eq!(test_lines_of("// #[cfg(test)]\nfn b() {}"), [false, false]);
    }

    #[test]
    fn a_module_that_is_declared_for_tests_is_test_code() {
        let tree = Tree::planted(&[
            ("crates/a/src/lib.rs", "#[cfg(test)]\nmod tests;\nmod b;\n"),
            ("crates/a/src/tests.rs", "fn c() {}\n"),
            ("crates/a/src/b.rs", "fn b() {}\n#[cfg(test)]\nmod d;\n"),
            ("crates/a/src/b/d.rs", "fn e() {}\n"),
        ]);
        for source in Source::read_all(&tree) {
            let expected = source.path.ends_with("tests.rs") || source.path.ends_with("d.rs");
            assert_eq!(source.is_test.iter().all(|&is_test| is_test), expected, "{}", source.path);
        }
    }

    #[test]
    fn folders_of_tests_are_test_code() {
        for path in ["crates/a/tests/b.rs", "crates/a/benches/b.rs", "web/test/a.ts"] {
            assert_eq!(Source::read(path, "a").unwrap().is_test, [true], "{path}");
        }
        assert!(Source::read("docs/STYLE.md", "").is_none());
    }
}
