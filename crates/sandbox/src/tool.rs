//! Programs of the system that we run to their end, and what they complain of.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::child;
use crate::error::SandboxError;

/// Characters of a complaint that are repeated.
const COMPLAINT: usize = 400;

/// Runs a program to its end.
pub(crate) fn run(command: &mut Command, tool: &str) -> Result<Output, SandboxError> {
    command.output().map_err(SandboxError::spawn(tool))
}

/// Runs a program that must succeed; if it does not, `place` is what is wrong.
pub(crate) fn succeed<A: AsRef<OsStr>>(
    tool: &str,
    arguments: impl IntoIterator<Item = A>,
    place: &Path,
) -> Result<Output, SandboxError> {
    let output = run(child::command(tool).args(arguments), tool)?;
    if output.status.success() {
        return Ok(output);
    }
    let detail = format!("{tool}: {}", complaint(&output, &[]));
    Err(SandboxError::Damaged { place: place.to_owned(), detail })
}

/// What a program complained of, in a line, without the account of a mirror or proxy: the first
/// lines that begin with one of `marks`, else the last one.
pub(crate) fn complaint(output: &Output, marks: &[&str]) -> String {
    let text = String::from_utf8_lossy(if output.stderr.trim_ascii().is_empty() {
        &output.stdout
    } else {
        &output.stderr
    });
    let marked = |line: &&str| marks.iter().any(|mark| line.starts_with(mark));
    let mut lines: Vec<&str> = text.lines().filter(marked).collect();
    lines.truncate(3);
    if lines.is_empty() {
        lines.extend(text.lines().rfind(|line| !line.trim().is_empty()));
    }
    let text: String = lines.join(" ").chars().filter(|c| !c.is_control()).collect();
    match text.trim() {
        "" => output.status.to_string(),
        text => without_accounts(text).chars().take(COMPLAINT).collect(),
    }
}

/// Replaces `//user:password@` by `//`.
fn without_accounts(text: &str) -> String {
    let mut parts = text.split("//");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let authority = part.find(['/', ' ', '\'', '"']).unwrap_or(part.len());
        let host = part[..authority].rfind('@').map_or(0, |at| at + 1);
        clean.push_str("//");
        clean.push_str(&part[host..]);
    }
    clean
}

/// SHA-256 of files, in their order, as hexadecimal digits.
pub(crate) fn sha256(files: &[PathBuf]) -> Result<Vec<String>, SandboxError> {
    let Some(first) = files.first() else { return Ok(Vec::new()) };
    // Without file names in the output, which may be escaped.
    let sum = |file: &PathBuf| {
        let output = succeed("sha256sum", ["--zero".as_ref(), file.as_os_str()], first)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok(text.chars().take_while(char::is_ascii_hexdigit).collect())
    };
    files.iter().map(sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_do_not_show_the_account_of_a_mirror() {
        let text = "E: Failed to fetch https://bob:s3cret@m.example/debian/dists http://p@q/x//y";
        let clean = without_accounts(text);
        assert_eq!(clean, "E: Failed to fetch https://m.example/debian/dists http://q/x//y");
    }

    #[test]
    fn a_complaint_is_the_marked_lines_or_the_last_one() {
        let said = |script: &str, marks: &[&str]| {
            complaint(&run(child::command("sh").args(["-c", script]), "sh").unwrap(), marks)
        };
        assert_eq!(said("echo talk >&2; echo E: broken >&2; echo end >&2", &["E:"]), "E: broken");
        assert_eq!(said("echo one >&2; echo two >&2; echo >&2", &["E:"]), "two");
        assert_eq!(said("echo out", &[]), "out");
        assert_eq!(said("exit 3", &[]), "exit status: 3");
    }

    #[test]
    fn the_sum_is_that_of_the_standard() {
        // FIPS 180-4's example: SHA-256 of the three bytes "abc".
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a b");
        std::fs::write(&file, "abc").unwrap();
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(&[file]).unwrap(), [abc]);
        assert!(sha256(&[dir.path().join("none")]).is_err());
    }
}
