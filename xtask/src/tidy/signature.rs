//! Where functions are declared, and what they take.

use super::sizes::{end_of_body, function_heads};
use super::source::Source;

/// One function that is not a test's.
pub(super) struct Signature {
    pub name: String,
    /// The line of its name, from 1.
    pub line: usize,
    /// Its parameters as they are written, each on one line.
    pub parameters: Vec<String>,
    /// The line of the brace that ends it, from 1; `None` if it has no body.
    pub end: Option<usize>,
}

/// All functions of a source in Rust.
pub(super) fn function_signatures(source: &Source) -> Vec<Signature> {
    let mut found = Vec::new();
    for (at, line) in source.code.iter().enumerate().filter(|(at, _)| !source.is_test[*at]) {
        for (column, name) in function_heads(line, source.language) {
            let end = end_of_body(&source.code, at, column).map(|end| end + 1);
            let parameters = parameters(&source.code, at, column);
            let name = name.trim_start_matches("fn ").to_owned();
            found.push(Signature { name, line: at + 1, parameters, end });
        }
    }
    found
}

/// What stands in the parentheses behind a name, cut at its commas.
fn parameters(code: &[String], start: usize, column: usize) -> Vec<String> {
    let first = code[start][column..].chars().chain([' ']);
    let rest = code[start + 1..].iter().flat_map(|line| line.trim().chars().chain([' ']));
    let (mut depth, mut angles, mut before) = (0, 0, ' ');
    let mut parameters = vec![String::new()];
    for char in first.chain(rest) {
        match char {
            '<' if depth < 2 => angles += 1,
            '>' if depth < 2 && before != '-' => angles -= 1,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        before = char;
        let is_inside = depth > 0 && !(depth == 1 && char == '(' && parameters == [""]);
        match char {
            '(' if depth == 1 && angles > 0 && parameters == [""] => {}
            ',' if depth == 1 && angles == 0 => parameters.push(String::new()),
            ')' if depth == 0 && angles == 0 => break,
            char if is_inside && (angles == 0 || parameters != [""]) => {
                parameters.last_mut().expect("there is one at least").push(char);
            }
            _ => {}
        }
    }
    let trimmed = parameters.iter().map(|one| one.trim().to_owned());
    trimmed.filter(|one| !one.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> Vec<String> {
        let source = Source::read("crates/a/src/b.rs", text).unwrap();
        function_signatures(&source).remove(0).parameters
    }

    #[test]
    fn parameters_are_cut_at_their_own_commas() {
        assert_eq!(taken("fn a() {}"), [""; 0]);
        assert_eq!(taken("fn a(b: u8, c: (u8, u8)) -> u8 { d(e) }"), ["b: u8", "c: (u8, u8)"]);
        assert_eq!(
            taken("fn a(b: Vec<(u8, u8)>, c: A<B, C>) {}"),
            ["b: Vec<(u8, u8)>", "c: A<B, C>"]
        );
        let generic = "fn a<F: Fn(u8, u8) -> u8, T>(b: F, (c, d): (T, T)) {}";
        assert_eq!(taken(generic), ["b: F", "(c, d): (T, T)"]);
        let lines = "fn a(\n    b: impl Fn(u8) -> u8,\n    c: &[u8; 4],\n) {\n}\n";
        assert_eq!(taken(lines), ["b: impl Fn(u8) -> u8", "c: &[u8; 4]"]);
    }
}
