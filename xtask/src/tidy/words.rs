//! Words that may not stand there, and words that must.

use super::lexer::Language;
use super::rule::{Rule, Violation};
use super::source::Source;

/// In comments as in code. Written so that this file does not find itself.
const LEFTOVER_WORDS: [&str; 3] = [concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X")];
const LEFTOVER_MACROS: [&str; 3] = ["dbg!", concat!("to", "do!"), concat!("unimpl", "emented!")];
/// The last one stands in `cfg_attr`.
const ALLOWANCES: [&str; 3] = ["#[allow(", "#![allow(", ",allow("];
const ALLOWANCES_TYPESCRIPT: [&str; 3] = ["@ts-ignore", "@ts-nocheck", "eslint-disable"];
/// Papers that nobody finds in the repository; their sections and they themselves are no source.
const PAPERS: [&str; 7] = ["coverage", "explain", "harness", "house", "servers", "style", "verify"];
/// Of these the sections alone: there are a reference engine and designs.
const PAPERS_OF_SECTIONS: [&str; 2] = ["design", "engine"];
/// Folders of one machine.
const MACHINE_PATHS: [&str; 3] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/tmp/br", "ief")];

/// Checks one source.
pub(super) fn check_source(source: &Source, found: &mut Vec<Violation>) {
    for (index, prose) in source.prose.iter().enumerate() {
        let code = &source.code[index];
        let mut push = |rule, what: String| {
            found.push(Violation::new(rule, &source.path, index + 1, what));
        };
        for word in LEFTOVER_WORDS.into_iter().filter(|word| has_word(prose, word)) {
            push(Rule::Leftover, format!("{word} was left over"));
        }
        for word in LEFTOVER_MACROS.into_iter().filter(|word| has_word(code, word)) {
            push(Rule::Leftover, format!("{word} was left over"));
        }
        let allowance = match source.language {
            Language::Rust => ALLOWANCES.into_iter().find(|word| dense(code).contains(word)),
            Language::TypeScript => {
                ALLOWANCES_TYPESCRIPT.into_iter().find(|word| prose.contains(word))
            }
        };
        if let Some(word) = allowance {
            push(Rule::Allow, format!("{word} silences a lint"));
        }
    }
    essay(source, found);
}

/// A file opens with what it is for. A test of the page says so by its name.
fn essay(source: &Source, found: &mut Vec<Violation>) {
    if source.path.ends_with(".test.ts") {
        return;
    }
    let mut lines = source.lines.iter().filter(|line| !line.trim().is_empty());
    let first = lines.find(|line| !line.starts_with("#!/")).map_or("", |line| line.trim());
    let opens = match source.language {
        Language::Rust => first.strip_prefix("//!"),
        Language::TypeScript => first.strip_prefix("/*").or_else(|| first.strip_prefix("//")),
    };
    // A TypeScript block comment may begin on the next line.
    let says_something = |rest: &str| {
        let first_words = rest.trim_matches(['*', '/', ' ']);
        source.language == Language::TypeScript || first_words.len() > 3
    };
    if !opens.is_some_and(says_something) {
        let what = "does not open with what it is for";
        found.push(Violation::new(Rule::Essay, &source.path, 1, what));
    } else if first.contains("under construction") {
        found.push(Violation::new(Rule::Essay, &source.path, 1, "is under construction"));
    }
}

/// Checks a text of any kind for paths of one machine.
pub(super) fn check_paths(path: &str, text: &str, found: &mut Vec<Violation>) {
    for (index, line) in text.lines().enumerate() {
        for word in MACHINE_PATHS {
            if line.match_indices(word).any(|(at, _)| begins_a_path(&line[..at])) {
                let what = format!("names {word}, a folder of one machine");
                found.push(Violation::new(Rule::Path, path, index + 1, what));
            }
        }
    }
}

/// Checks a text of any kind for sources that a reader cannot open.
pub(super) fn check_papers(path: &str, text: &str, found: &mut Vec<Violation>) {
    for (index, line) in text.lines().enumerate() {
        let of_sections = PAPERS.iter().chain(&PAPERS_OF_SECTIONS);
        let sections = of_sections.map(|paper| (*paper, format!("{paper} \u{a7}")));
        let wholes = PAPERS.iter().map(|paper| (*paper, format!("reference {paper}")));
        let line = line.replace(',', "").to_lowercase();
        if let Some((paper, _)) = sections.chain(wholes).find(|(_, cited)| has_word(&line, cited)) {
            let what = format!("cites {paper}, a paper that is not in the repository");
            found.push(Violation::new(Rule::Paper, path, index + 1, what));
        }
    }
}

/// `/a/` begins a path behind a blank, a quote or `=`, and is the middle of one behind a letter.
fn begins_a_path(before: &str) -> bool {
    !before.ends_with(|char: char| char.is_alphanumeric() || "._-~/*}>)]".contains(char))
}

fn dense(code: &str) -> String {
    code.chars().filter(|char| !char.is_whitespace()).collect()
}

/// Whether `word` stands in `text` with no letter, digit or underscore around it.
pub(super) fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, behind) = (&text[..at], &text[at + word.len()..]);
        let ends = word.ends_with(['!', '\u{a7}']) || !behind.starts_with(is_word_char);
        !before.ends_with(is_word_char) && ends
    })
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn papers_that_cannot_be_opened_are_found_and_books_are_not() {
        let lines = |text: &str| {
            let mut found = Vec::new();
            check_papers("a.toml", text, &mut found);
            found.into_iter().map(|violation| violation.line).collect::<Vec<usize>>()
        };
        for (paper, section) in
            [("explain", ""), ("servers", " \u{a7}4"), ("harness", ": a trap"), ("style", ".")]
        {
            assert_eq!(
                lines(&format!("a\nsource = \"Reference {paper}{section}\"")),
                [2],
                "{paper}"
            );
        }
        for paper in ["design", "reference engine", "explain,"] {
            assert_eq!(lines(&format!("a ({paper} \u{a7}4.5)\nb")), [1], "{paper}");
        }
        for source in [
            "the reference engine; planted",
            "Knuth, The Art of Computer Programming 3, \u{a7} 6.4",
            "MySQL 8.0 reference manual, \u{a7} 17.7.1",
            "a preference explains itself",
            "the design: a field for each mechanism",
        ] {
            assert_eq!(lines(source), Vec::<usize>::new(), "{source}");
        }
    }

    fn rules(path: &str, text: &str) -> Vec<(Rule, usize)> {
        let mut found = Vec::new();
        check_source(&Source::read(path, text).unwrap(), &mut found);
        found.into_iter().map(|violation| (violation.rule, violation.line)).collect()
    }

    #[test]
    fn leftovers_are_found_in_code_and_comments_but_not_in_strings() {
        for word in LEFTOVER_WORDS {
            assert_eq!(
                rules("a.rs", &format!("//! A file.\n// {word}: b\n")),
                [(Rule::Leftover, 2)]
            );
            assert_eq!(rules("a.ts", &format!("// A file.\n/* {word} */")), [(Rule::Leftover, 2)]);
            assert!(rules("a.rs", &format!("//! A file.\nlet a = \"{word}\";")).is_empty());
            assert!(rules("a.rs", &format!("//! A file.\n// {word}S")).is_empty());
        }
        for word in LEFTOVER_MACROS {
            let planted = format!("//! A file.\nfn a() {{ {word}(b) }}\n");
            assert_eq!(rules("a.rs", &planted), [(Rule::Leftover, 2)]);
            assert!(rules("a.rs", &format!("//! A file.\n// {word} is a macro")).is_empty());
        }
    }

    #[test]
    fn silenced_lints_are_found() {
        for planted in
            ["#[allow(dead_code)]", "#![allow(a)]", "# [ allow (a)]", "#[cfg_attr(test, allow(a))]"]
        {
            assert_eq!(rules("a.rs", &format!("//! A file.\n{planted}\n")), [(Rule::Allow, 2)]);
        }
        assert!(rules("a.rs", "//! A file.\n#[expect(dead_code, reason = \"b\")]\n").is_empty());
        assert_eq!(rules("a.ts", "// A file.\n// @ts-ignore\n"), [(Rule::Allow, 2)]);
    }

    #[test]
    fn a_file_without_an_essay_is_found() {
        for planted in ["", "use a;\n", "// A file.\n", "//!\n", "//! (under construction)\n"] {
            assert_eq!(rules("a.rs", planted), [(Rule::Essay, 1)], "{planted:?}");
        }
        assert_eq!(rules("a.ts", "import a from 'b';\n"), [(Rule::Essay, 1)]);
        assert!(rules("a.rs", "\n//! What it is for.\n").is_empty());
        assert!(rules("a.test.ts", "import a from 'b';\n").is_empty());
        assert!(rules("a.ts", "/**\n * What it is for.\n */\n").is_empty());
        assert!(rules("a.mjs", "#!/usr/bin/env node\n// What it is for.\n").is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_found_in_any_file() {
        for word in MACHINE_PATHS {
            for before in ["", "see ", "\"", "=", "("] {
                let mut found = Vec::new();
                check_paths("docs/A.md", &format!("first\n{before}{word}a\n"), &mut found);
                assert_eq!((found.len(), found[0].line), (1, 2), "{before}{word}");
            }
            let mut found = Vec::new();
            check_paths(
                "docs/A.md",
                &format!("a{word}b https://c.org{word}d ~{word}e"),
                &mut found,
            );
            assert!(found.is_empty(), "{word}: {found:?}");
        }
    }
}
