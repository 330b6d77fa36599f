//! A password from the terminal, which shows nothing of it.
//!
//! While it is typed, the terminal hands over every key as it comes, Ctrl-C among them: whoever
//! gives up leaves a terminal that shows what is typed again.

use std::io::{self, IsTerminal as _};

use nix::sys::termios::{LocalFlags, SetArg, Termios, tcgetattr, tcsetattr};

use crate::failure::Failure;
use crate::output;

const CTRL_C: u8 = 3;
const CTRL_D: u8 = 4;
const BACKSPACE: [u8; 2] = [8, 127];
/// Ctrl-U, which clears a line.
const CLEAR: u8 = 21;

/// Whether somebody is there to be asked, and to see the question.
pub(super) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks. `None` where nothing was typed.
///
/// # Errors
/// Ctrl-C, Ctrl-D, a terminal that goes away.
pub(super) fn ask_password(question: &str) -> Result<Option<String>, Failure> {
    let typed = {
        // Before the question: who answers faster than we look would be seen, or not heard.
        let _silent = Silent::begin().map_err(|_| no_password_given())?;
        // The question is told whether or not somebody still looks.
        output::write_prompt(question);
        typed(&mut io::stdin().lock())
    };
    output::write_prompt("\n");
    let typed = typed.ok_or_else(no_password_given)?;
    Ok((!typed.is_empty()).then_some(typed))
}

fn no_password_given() -> Failure {
    Failure::Usage("no password was given; the server wants one".to_owned())
}

/// A terminal that shows nothing; it is as it was when this goes.
struct Silent(Termios);

impl Silent {
    fn begin() -> nix::Result<Silent> {
        let before = tcgetattr(io::stdin())?;
        let mut silent = before.clone();
        silent.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
        tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &silent)?;
        Ok(Silent(before))
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // A terminal that has gone needs nothing back.
        let _ = tcsetattr(io::stdin(), SetArg::TCSAFLUSH, &self.0);
    }
}

/// What is typed up to Enter; `None` where it was given up.
fn typed(keys: &mut impl io::BufRead) -> Option<String> {
    let mut line = Vec::new();
    for key in io::Read::bytes(keys) {
        match key.ok()? {
            b'\r' | b'\n' => return Some(String::from_utf8_lossy(&line).into_owned()),
            CTRL_C | CTRL_D => return None,
            CLEAR => line.clear(),
            key if BACKSPACE.contains(&key) => {
                // A letter outside of ASCII has several bytes, of which the first is no follower.
                while line.pop().is_some_and(|byte: u8| byte & 0xC0 == 0x80) {}
            }
            key => line.push(key),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_make_a_line() {
        for (keys, line) in [
            (&b"secret\r"[..], Some("secret")),
            (b"secrets\x7f\n", Some("secret")),
            ("sä\x08ecret\n".as_bytes(), Some("secret")),
            (b"wrong\x15right\n", Some("right")),
            (b"\x7f\n", Some("")),
            (b"sec\x03", None),
            (b"\x04", None),
            (b"the end", None),
        ] {
            assert_eq!(typed(&mut &keys[..]).as_deref(), line, "{keys:?}");
        }
    }
}
