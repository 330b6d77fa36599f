//! Open files: every connection is one, and the kernel has a limit for each process.
//!
//! ```text
//!   soft limit  ──raised when it is too low──▶  hard limit   above it: an error before connecting
//! ```

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::error::LoadError;

/// Files that this process has open besides: its store, its logs, its libraries, the pipes of the
/// servers that it has started.
const BESIDES: u64 = 200;

/// Files that this process may open; `None` where the kernel does not say.
pub fn open_file_limit() -> Option<u64> {
    getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(_, hard)| hard)
}

/// Sees to it that this process may open a connection for each of so many clients.
///
/// # Errors
/// [`LoadError::TooFewFiles`] where the kernel's hard limit is lower.
pub(crate) fn raise_file_limit(clients: u32) -> Result<(), LoadError> {
    let needed = u64::from(clients) + BESIDES;
    // Without an answer there is no limit to raise; connecting will tell.
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return Ok(()) };
    if soft >= needed {
        return Ok(());
    }
    // The wanted limit and not the highest: programs started later would inherit it.
    if hard < needed || setrlimit(Resource::RLIMIT_NOFILE, needed, hard).is_err() {
        return Err(LoadError::TooFewFiles { clients, needed, allowed: hard });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_allows_is_raised_and_no_more() {
        let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
        raise_file_limit(1).unwrap();
        assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (soft, hard), "enough is enough");
        let low = 64.min(hard);
        setrlimit(Resource::RLIMIT_NOFILE, low, hard).unwrap();
        if hard >= 301 {
            raise_file_limit(101).unwrap();
            assert_eq!(getrlimit(Resource::RLIMIT_NOFILE).unwrap(), (301, hard));
        }
        if hard < u64::from(u32::MAX) {
            let error = raise_file_limit(u32::MAX).unwrap_err().to_string();
            assert!(error.contains(&hard.to_string()) && error.contains("ulimit"), "{error}");
        }
        setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
    }
}
