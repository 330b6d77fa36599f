//! Small pieces of work that always cost the same, so that what varies is the host.
//!
//! ```text
//!   turns     two threads and a socket: one byte there and back    what a wake-up costs
//!   sums      additions in registers                               how even the processor is
//!   chase     a walk through memory in random order                how even the memory is
//!   syncs     4 KiB written and fdatasync                          what a durable commit waits for
//!   sleeps    1 ms asked for                                       how late a sleeper wakes up
//! ```
//!
//! After the canary workloads of MongoDB's performance tests: work that touches no database tells
//! a sick host from a slow server (D. Daly, "Creating a Virtuous Cycle in Performance Testing at
//! MongoDB", ICPE 2021).

use std::fs::File;
use std::hint::black_box;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dbdyno_load::pin_to;
use dbdyno_model::{Processors, random};

/// Where the two ends of [`turns_per_second`] run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Both on this processor.
    On(usize),
    /// One on each.
    Apart(usize, usize),
}

/// Durations of equal work, ascending, nanoseconds; never empty.
pub(crate) struct Sample(Vec<u64>);

const SLEEPS: usize = 200;

impl Sample {
    pub(crate) fn of_durations(mut durations_ns: Vec<u64>) -> Sample {
        assert!(!durations_ns.is_empty(), "nothing was measured");
        durations_ns.sort_unstable();
        Sample(durations_ns)
    }

    /// The duration that this share (0 to 1) of the work did not exceed.
    pub(crate) fn quantile_ns(&self, share: f64) -> u64 {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }

    /// How far nine of ten lie apart, as a share of the median.
    pub(crate) fn relative_spread(&self) -> f64 {
        let wide = self.quantile_ns(0.95) - self.quantile_ns(0.05);
        wide as f64 / self.quantile_ns(0.5).max(1) as f64
    }
}

/// Turns per second of two threads that send each other one byte over TCP for so long.
pub(crate) fn turns_per_second(ends: Ends, time: Duration) -> io::Result<f64> {
    let (here, there) = match ends {
        Ends::On(processor) => (processor, processor),
        Ends::Apart(here, there) => (here, there),
    };
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut far = TcpStream::connect(listener.local_addr()?)?;
    let (mut near, _) = listener.accept()?;
    far.set_nodelay(true)?;
    near.set_nodelay(true)?;
    thread::scope(|scope| {
        scope.spawn(move || {
            keep_on(there);
            let mut byte = [0];
            // Ends when the other side hangs up.
            while matches!(far.read(&mut byte), Ok(1)) && far.write_all(&byte).is_ok() {}
        });
        scope
            .spawn(move || {
                keep_on(here);
                let (mut byte, mut turns, start) = ([0], 0u64, now());
                while start.elapsed() < time {
                    near.write_all(&byte)?;
                    near.read_exact(&mut byte)?;
                    turns += 1;
                }
                Ok(turns as f64 / start.elapsed().as_secs_f64())
            })
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// So many sums in registers of so many steps each.
pub(crate) fn time_sums(count: usize, steps: u64) -> Sample {
    Sample::of_durations((0..count).map(|_| timed(|| sum(steps))).collect())
}

/// A ring of words in memory.
pub(crate) struct Ring {
    next: Vec<u32>,
    at: u32,
}

impl Ring {
    /// Of so many words of four bytes.
    pub(crate) fn of_words(words: usize) -> Ring {
        Ring { next: ring(words), at: 0 }
    }

    /// So many walks of so many steps each, from word to word.
    pub(crate) fn time_walks(&mut self, count: usize, steps: u32) -> Sample {
        let chase = |_| {
            timed(|| {
                for _ in 0..steps {
                    self.at = self.next[self.at as usize];
                }
                black_box(self.at);
            })
        };
        Sample::of_durations((0..count).map(chase).collect())
    }
}

/// Small writes made durable in a file of this directory, which is removed again: `count` of them,
/// and fewer where they take longer than `limit`, but one at least.
pub(crate) fn time_syncs(directory: &Path, count: usize, limit: Duration) -> io::Result<Sample> {
    let path = directory.join(format!("canary-{}", std::process::id()));
    let measured = File::create(&path).and_then(|mut file| {
        let (block, start, mut durations_ns) = ([1; 4096], now(), Vec::new());
        while durations_ns.is_empty() || (durations_ns.len() < count && start.elapsed() < limit) {
            let begin = now();
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&block)?;
            file.sync_data()?;
            durations_ns.push(nanos(begin.elapsed()));
        }
        Ok(Sample::of_durations(durations_ns))
    });
    let removed = std::fs::remove_file(&path);
    measured.and_then(|sample| removed.map(|()| sample))
}

/// How late a sleeper wakes up that asked for 1 ms.
pub(crate) fn wakeup_lateness() -> Sample {
    let asked = Duration::from_millis(1);
    Sample::of_durations(
        (0..SLEEPS)
            .map(|_| {
                let begin = now();
                thread::sleep(asked);
                nanos(begin.elapsed().saturating_sub(asked))
            })
            .collect(),
    )
}

fn sum(steps: u64) {
    let mut sum = 1u64;
    for step in 0..steps {
        sum = black_box(sum.rotate_left(5) ^ step);
    }
    black_box(sum);
}

/// A ring through all words in an order that no prefetcher guesses (Sattolo's algorithm).
fn ring(words: usize) -> Vec<u32> {
    let mut next: Vec<u32> = (0..words as u32).collect();
    let mut random = random::stream(&[random::key_of("chase")]);
    for last in (1..words).rev() {
        next.swap(last, random.next_below(last as u64) as usize);
    }
    next
}

fn keep_on(processor: usize) {
    // Where the kernel refuses, the figure is that of its own placement.
    let _ = pin_to(Processors::from_numbers([processor]));
}

fn timed(work: impl FnOnce()) -> u64 {
    let begin = now();
    work();
    nanos(begin.elapsed())
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[expect(clippy::disallowed_methods, reason = "a canary is measured where the experiment is")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_comes_to_every_word_before_it_comes_home() {
        let next = ring(1000);
        let mut seen = vec![false; 1000];
        let mut at = 0usize;
        while !std::mem::replace(&mut seen[at], true) {
            at = next[at] as usize;
        }
        assert_eq!((at, seen.iter().filter(|seen| **seen).count()), (0, 1000));
    }

    #[test]
    fn quantiles_are_those_of_what_was_measured() {
        let sample = Sample::of_durations((1..=101).rev().map(|n| n * 10).collect());
        assert_eq!([0.0, 0.5, 0.99, 1.0].map(|q| sample.quantile_ns(q)), [10, 510, 1000, 1010]);
        assert!((sample.relative_spread() - 900.0 / 510.0).abs() < 1e-12);
        assert_eq!(Sample::of_durations(vec![7]).quantile_ns(0.99), 7);
    }

    #[test]
    fn turns_are_made_and_a_file_is_left_nowhere() {
        let processor = dbdyno_sandbox::allowed_processors()[0];
        assert!(turns_per_second(Ends::On(processor), Duration::from_millis(20)).unwrap() > 0.0);
        let directory = tempfile::tempdir().unwrap();
        assert!(
            time_syncs(directory.path(), 3, Duration::from_secs(1)).unwrap().quantile_ns(0.5) > 0
        );
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
        assert!(time_syncs(Path::new("/nowhere"), 1, Duration::ZERO).is_err());
    }
}
