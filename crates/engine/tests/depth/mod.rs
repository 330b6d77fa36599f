//! How far orders of threads are searched: the same few in every run of the tests, and with
//! `SOAK_SEED=N` ten times as many, from this seed.

const DEEPER: usize = 10;

fn soak_seed() -> Option<u64> {
    let seed = std::env::var("SOAK_SEED").ok()?;
    Some(seed.parse().expect("SOAK_SEED is a number"))
}

/// Where the search begins.
pub(crate) fn seed(usual: u64) -> u64 {
    soak_seed().unwrap_or(usual)
}

/// How many orders are tried.
pub(crate) fn orders(usual: usize) -> usize {
    if soak_seed().is_some() { usual * DEEPER } else { usual }
}
