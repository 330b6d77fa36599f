//! Commands of a workflow of GitHub, which its runner reads from the output line by line (GitHub
//! Docs, "Workflow commands for GitHub Actions").
//!
//! ```text
//!   ::error file=nightly.csv,title=dbdyno%3A qps::what is said%0Aand its second line
//!     name  properties                            message
//! ```

use crate::layout::printable_line;

/// A command with its properties and the lines of its message. Ends with a line feed.
pub fn workflow_command(name: &str, properties: &[(&str, &str)], message: &[String]) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", property(value))).collect();
    let message: Vec<String> = message.iter().map(|line| data(line)).collect();
    format!("::{name} {}::{}\n", properties.join(","), message.join("%0A"))
}

/// One line of what a command says: it ends with its line.
fn data(text: &str) -> String {
    printable_line(text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// What a property says: these end at a colon or comma, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_becomes_a_command() {
        let lines = ["5 %".to_owned(), "a\n::error::x".to_owned()];
        assert_eq!(
            workflow_command("notice", &[("title", "a,b: c"), ("file", "d")], &lines),
            "::notice title=a%2Cb%3A c,file=d::5 %25%0Aa ::error::x\n"
        );
    }
}
