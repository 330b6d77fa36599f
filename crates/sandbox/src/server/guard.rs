//! What ends a background server whose start we do not live to see.
//!
//! ```text
//!   dbdyno ── spawns ──▶ server, which is to outlive us
//!     └────── spawns ──▶ guard ◀── a pipe from us: "ready", or its end, which kills the server
//! ```
//!
//! Until its first login a server may listen where it should not, with accounts that it should not
//! have: nobody has looked yet. Whoever kills us then, with whatever signal, closes the pipe.

use std::io::{self, Write as _};

use dbdyno_host::{Machine, ProgramStream, RunningProgram};

use crate::child;

/// A process that kills another one when this is dropped, or when we end; see [`Guard::release`].
pub(crate) struct Guard {
    shell: Box<dyn RunningProgram>,
}

impl Guard {
    /// Guards the process of this machine with this number, a child of ours.
    pub(super) fn over_process(machine: &dyn Machine, pid: u32) -> io::Result<Guard> {
        let mut command = child::machine_tool("sh");
        command.args(["-c", "read -r word || kill -KILL \"$1\"", "sh"]).arg(pid.to_string());
        command.stdin(ProgramStream::Pipe).stdout(no_stream()).stderr(no_stream());
        child::let_outlive(&mut command);
        let shell = machine.start(command).map_err(|error| error.into_source())?;
        Ok(Guard { shell })
    }

    /// The server is what it should be, and is left to itself.
    pub(crate) fn release(mut self) -> io::Result<()> {
        self.shell.take_input().map_or(Ok(()), |mut pipe| pipe.write_all(b"ready\n"))
    }
}

fn no_stream() -> ProgramStream {
    ProgramStream::None
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.shell.take_input());
        let _ended = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use dbdyno_host::Local;
    use nix::libc::SIGKILL;

    use super::*;

    #[test]
    fn what_was_not_seen_to_be_ready_ends_with_its_guard() {
        for is_ready in [false, true] {
            let mut sleep = child::machine_tool("sleep");
            sleep.arg("600");
            let mut server = child::start(sleep).unwrap();
            let guard = Guard::over_process(&Local, server.pid()).unwrap();
            if is_ready {
                guard.release().unwrap();
                // The guard has ended: if it were to kill, it would have.
                assert!(server.try_wait().unwrap().is_none());
                server.kill().unwrap();
            } else {
                drop(guard);
            }
            assert_eq!(server.wait().unwrap().signal(), Some(SIGKILL));
        }
    }
}
