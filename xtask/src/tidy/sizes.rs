//! Limits of size: functions, lines, files.

use super::lexer::Language;
use super::rule::{Rule, Violation};
use super::source::Source;

/// Lines of a function, from its name to its closing brace. Tests may be longer.
const FUNCTION_LINES_MAX: usize = 70;
/// Columns of a line. What cannot be broken (a URL, a line that is one string) may be longer.
const LINE_COLUMNS_MAX: usize = 100;
/// Lines of a file that are not test code.
const FILE_LINES_MAX: usize = 800;

/// Checks one file.
pub(super) fn check_source(source: &Source, found: &mut Vec<Violation>) {
    for function in functions(source) {
        if function.lines > FUNCTION_LINES_MAX && !source.is_test[function.line - 1] {
            let Function { line, name, lines } = function;
            let what = format!("{name} has {lines} lines of at most {FUNCTION_LINES_MAX}");
            found.push(Violation::new(Rule::FunctionLength, &source.path, line, what));
        }
    }
    for (index, line) in source.lines.iter().enumerate() {
        let columns = line.chars().count();
        if columns > LINE_COLUMNS_MAX && !cannot_be_broken(line, &source.prose[index]) {
            let what = format!("{columns} columns of at most {LINE_COLUMNS_MAX}");
            found.push(Violation::new(Rule::LineLength, &source.path, index + 1, what));
        }
    }
    let lines = source.is_test.iter().filter(|is_test| !**is_test).count();
    if lines > FILE_LINES_MAX {
        let what = format!("{lines} lines, tests aside, of at most {FILE_LINES_MAX}");
        found.push(Violation::new(Rule::FileLength, &source.path, 1, what));
    }
}

fn cannot_be_broken(line: &str, prose: &str) -> bool {
    let only_a_string = prose.chars().all(|char| " \"'`r#b(),;&[]".contains(char));
    line.contains("://") || only_a_string
}

struct Function {
    line: usize,
    name: String,
    lines: usize,
}

/// Functions with a body, in the order of the file. An arrow function of TypeScript counts from the
/// line of its arrow.
fn functions(source: &Source) -> Vec<Function> {
    let mut functions = Vec::new();
    for (index, line) in source.code.iter().enumerate() {
        for (column, name) in function_heads(line, source.language) {
            if let Some(end) = end_of_body(&source.code, index, column) {
                functions.push(Function { line: index + 1, name, lines: end - index + 1 });
            }
        }
    }
    functions
}

/// Where functions begin in a line of code, as byte columns behind the keyword, with their names.
pub(super) fn function_heads(line: &str, language: Language) -> Vec<(usize, String)> {
    let keyword = match language {
        Language::Rust => "fn",
        Language::TypeScript => "function",
    };
    let mut heads = Vec::new();
    for (at, _) in line.match_indices(keyword) {
        let rest = &line[at + keyword.len()..];
        let whole_word = !line[..at].ends_with(is_word_char) && !rest.starts_with(is_word_char);
        let name: String =
            rest.trim_start().chars().take_while(|&char| is_word_char(char)).collect();
        if whole_word && (!name.is_empty() || language == Language::TypeScript) {
            heads.push((at + keyword.len(), format!("{keyword} {name}").trim_end().to_owned()));
        }
    }
    if language == Language::TypeScript {
        let arrows = line.match_indices("=> {");
        heads.extend(arrows.map(|(at, _)| (at + 2, "an arrow function".to_owned())));
    }
    heads
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || char == '_' || char == '$'
}

/// The line of the brace that closes the body of the function whose parameters begin at `column`
/// of line `start`; `None` if it has no body.
pub(super) fn end_of_body(code: &[String], start: usize, column: usize) -> Option<usize> {
    let (mut braces, mut others) = (0i32, 0i32);
    let first = std::iter::once((start, &code[start][column..]));
    let rest = code.iter().enumerate().skip(start + 1).map(|(index, line)| (index, &line[..]));
    for (index, line) in first.chain(rest) {
        for char in line.chars() {
            match char {
                '(' | '[' => others += 1,
                ')' | ']' => others -= 1,
                '{' if braces > 0 || others == 0 => braces += 1,
                '}' if braces > 0 => {
                    braces -= 1;
                    if braces == 0 {
                        return Some(index);
                    }
                }
                ';' | '}' if braces == 0 && others <= 0 => return None,
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_text(path: &str, text: &str) -> Vec<(Rule, usize, String)> {
        let mut found = Vec::new();
        check_source(&Source::read(path, text).unwrap(), &mut found);
        found
            .into_iter()
            .map(|violation| (violation.rule, violation.line, violation.what))
            .collect()
    }

    fn function(lines: usize) -> String {
        format!("//! A.\npub fn a(b: [u8; 4]) -> u8 {{\n{}}}\n", "  \"}\";\n".repeat(lines - 2))
    }

    #[test]
    fn a_long_function_is_found() {
        assert!(check_text("a.rs", &function(70)).is_empty());
        let found = check_text("a.rs", &function(71));
        assert_eq!(found, [(Rule::FunctionLength, 2, "fn a has 71 lines of at most 70".into())]);
        let tested = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function(90));
        assert!(check_text("a.rs", &tested).is_empty(), "tests may be long");
    }

    #[test]
    fn a_long_function_inside_another_item_is_found() {
        let method =
            format!("trait A {{\n  fn short(&self);\n}}\nimpl A for B {{\n{}}}", function(71));
        assert_eq!(check_text("a.rs", &method).len(), 1);
        let many = format!("mod b {{\n{}}}", "fn a() {\n}\n".repeat(60));
        assert!(check_text("a.rs", &many).is_empty(), "a module may hold many short functions");
    }

    #[test]
    fn long_functions_of_typescript_are_found() {
        let body = "  b();\n".repeat(70);
        let found = check_text("a.ts", &format!("function a({{ b }}) {{\n{body}}}\n"));
        assert_eq!(found[0].2, "function a has 72 lines of at most 70");
        let found = check_text("a.tsx", &format!("const a = (b) => {{\n{body}}};\n"));
        assert_eq!(found[0].2, "an arrow function has 72 lines of at most 70");
    }

    #[test]
    fn a_long_line_is_found_unless_it_cannot_be_broken() {
        let long = "x".repeat(101);
        let found = check_text("a.rs", &format!("//! A.\n// {long}\n"));
        assert_eq!(found, [(Rule::LineLength, 2, "104 columns of at most 100".into())]);
        assert!(check_text("a.rs", &format!("// {}", "ü".repeat(97))).is_empty(), "not bytes");
        assert!(check_text("a.rs", &format!("// https://{long}")).is_empty());
        assert!(check_text("a.rs", &format!("    (\"{long}\"),")).is_empty());
        assert_eq!(check_text("a.rs", &format!("    call(\"{long}\"),")).len(), 1);
        assert_eq!(check_text("tests/a.rs", &format!("// {long}")).len(), 1, "tests are read too");
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_do_not_count() {
        let code = "const A: u8 = 0;\n";
        assert!(check_text("a.rs", &code.repeat(800)).is_empty());
        assert_eq!(check_text("a.rs", &code.repeat(801))[0].0, Rule::FileLength);
        let tests = format!("{}#[cfg(test)]\nmod a {{\n{}}}\n", code.repeat(800), code.repeat(99));
        assert!(check_text("a.rs", &tests).is_empty());
    }
}
