//! What a sample stands for, where a text tells how often they were taken.
//!
//! ```text
//!   Sampling at 49 Hertz of all threads by …                  1/49 s of a processor      bcc
//!   Sampling at every 100000 events of …                      so many events
//!   # cmdline : /usr/bin/perf record -F 99 -g -- sleep 60     1/99 s                     perf
//!   # event : … { sample_period, sample_freq } = 99, … freq = 1
//! ```
//!
//! A hundred samples of one profile are no more work than fifty of another one where these were
//! taken half as often. Where nothing tells it, the times between samples of a processor do, near
//! enough to know that two profiles were not taken alike.

use std::collections::HashMap;

use super::filled::filled_lines;
use super::form::MeasureUnit;

/// Nanoseconds in a second.
const SECOND_NS: f64 = 1e9;
/// Lines above the samples: perf describes the machine there.
const HEAD_LINES: usize = 400;
/// Times between samples that are looked at.
const GAPS_MOST: usize = 1 << 16;
/// Fewer say nothing of a rate.
const GAPS_LEAST: usize = 20;
/// One of so many is no longer than the time between two samples of a processor that works: others
/// have idle in them.
const BUSY_ONE_IN: usize = 10;

/// What a sample stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Sampling {
    /// So much time.
    Nanoseconds(f64),
    /// So many events.
    Events(f64),
}

impl Sampling {
    fn of_hertz(number: &str) -> Option<Sampling> {
        positive(number).map(|hertz| Sampling::Nanoseconds(SECOND_NS / hertz))
    }

    fn of_events(number: &str) -> Option<Sampling> {
        positive(number).map(Sampling::Events)
    }

    /// What a sample weighs.
    pub(super) fn sample_weight(self) -> f64 {
        match self {
            Sampling::Nanoseconds(weight) | Sampling::Events(weight) => weight,
        }
    }

    /// What one of its weight is.
    pub(super) fn weight_unit(self) -> MeasureUnit {
        match self {
            Sampling::Nanoseconds(_) => MeasureUnit::Nanosecond,
            Sampling::Events(_) => MeasureUnit::Event,
        }
    }
}

fn positive(number: &str) -> Option<f64> {
    number.parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0)
}

/// What the heading of bcc's `profile` tells: `Sampling at 49 Hertz`, `at every 1000 events`.
pub(super) fn heading_sampling(line: &str) -> Option<Sampling> {
    let rest = line.trim_start_matches("# ").strip_prefix("Sampling at ")?;
    let words: Vec<&str> = rest.split_whitespace().take(3).collect();
    match words[..] {
        [hertz, "Hertz", ..] => Sampling::of_hertz(hertz),
        ["every", events, "events"] => Sampling::of_events(events),
        _ => None,
    }
}

/// What the head of a text of perf tells, as `--header` prints it.
pub(super) fn perf_sampling(text: &str) -> Option<Sampling> {
    let mut of_command = None;
    for (_, line) in filled_lines(text).take(HEAD_LINES) {
        let Some(head) = line.strip_prefix('#').map(str::trim_start) else { continue };
        let Some((name, rest)) = head.split_once(':') else { continue };
        match name.trim() {
            "event" if !rest.contains("name = dummy") => {
                if let Some(sampling) = event_sampling(rest) {
                    return Some(sampling);
                }
            }
            "cmdline" => of_command = command_sampling(rest),
            _ => {}
        }
    }
    of_command
}

/// `… { sample_period, sample_freq } = 99, …, freq = 1, …`
fn event_sampling(event: &str) -> Option<Sampling> {
    let (_, rest) = event.split_once("sample_freq } = ")?;
    let number = rest.split([',', ' ']).next()?;
    if rest.contains(" freq = 1") {
        Sampling::of_hertz(number)
    } else {
        Sampling::of_events(number)
    }
}

/// `perf record -F 99 -g -p 42 -- sleep 60`
fn command_sampling(command: &str) -> Option<Sampling> {
    let words = command.split_whitespace().skip_while(|word| *word != "record").skip(1);
    let words: Vec<&str> = words.take_while(|word| *word != "--").collect();
    words.iter().enumerate().find_map(|(at, word)| {
        let next = words.get(at + 1).copied();
        flag_value(word, "-F", "--freq", next)
            .and_then(Sampling::of_hertz)
            .or_else(|| flag_value(word, "-c", "--count", next).and_then(Sampling::of_events))
    })
}

/// What stands behind a flag in its word, or in the next one.
fn flag_value<'w>(
    word: &'w str,
    short: &str,
    long: &str,
    next: Option<&'w str>,
) -> Option<&'w str> {
    if word == short || word == long {
        return next;
    }
    let of_long = word.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
    of_long.or_else(|| word.strip_prefix(short))
}

/// The times between samples of a processor, or of a thread where no processor is told.
#[derive(Default)]
pub(super) struct SampleGaps<'t> {
    last: HashMap<&'t str, f64>,
    seconds: Vec<f64>,
}

impl<'t> SampleGaps<'t> {
    /// Notes a sample at a time in seconds, by what stands before it: `mysqld 7 [001]`.
    pub(super) fn note_sample(&mut self, before: &'t str, at_s: f64) {
        if self.seconds.len() >= GAPS_MOST {
            return;
        }
        let place = before.split_whitespace().next_back().unwrap_or_default();
        let place = if place.starts_with('[') { place } else { before };
        if let Some(before_s) = self.last.insert(place, at_s)
            && at_s > before_s
        {
            self.seconds.push(at_s - before_s);
        }
    }

    /// How far samples are apart where a processor works, in microseconds.
    pub(super) fn usual_gap_us(mut self) -> Option<u32> {
        if self.seconds.len() < GAPS_LEAST {
            return None;
        }
        self.seconds.sort_by(f64::total_cmp);
        let gap_us = 1e6 * self.seconds[self.seconds.len() / BUSY_ONE_IN];
        Some(gap_us.round().clamp(1.0, f64::from(u32::MAX)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use dbdyno_model::{ProfileDifference, ProfileScale};

    use super::super::difference::{WeightedProfile, difference, why_incomparable};
    use super::super::read::read;
    use super::*;

    fn side(text: &str) -> [WeightedProfile; 1] {
        [WeightedProfile { profile: read(text).unwrap(), operations: Some(100.0) }]
    }

    fn compared(base: &str, test: &str) -> ProfileDifference {
        difference(&side(base), &side(test))
    }

    fn is_refused(base: &str, test: &str) -> bool {
        why_incomparable(&side(base), &side(test)).is_some()
    }

    fn bcc(rate: &str, scope: &str, count: u64) -> String {
        format!(
            "Sampling at {rate} of PID 7 by {scope}... Hit Ctrl-C to end.\n\n    work\n    main\n    \
             -                mysqld (7)\n        {count}\n\n"
        )
    }

    /// Samples of a function each so many microseconds, below a head.
    fn script(head: &str, gap_us: u64, count: u64) -> String {
        let sample = |at: u64| {
            let us = at * gap_us;
            format!(
                "mysqld  7/8  [001] {}.{:06}: cpu-clock: \n\t    55d0c0de work+0x12 (/x)\n\n",
                us / 1_000_000,
                us % 1_000_000
            )
        };
        head.to_owned() + &(0..count).map(sample).collect::<String>()
    }

    /// Twice as many samples of half as much time were told as twice the work, and as proved.
    #[test]
    fn samples_of_other_rates_are_weighed_by_them() {
        let both = "user + kernel stack";
        let head = |hertz: u64| format!("# cmdline : /usr/bin/perf record -F {hertz} -g\n");
        let of_script = |hertz: u64| script(&head(hertz), 1_000_000 / hertz, 40 * hertz);
        for (base, test) in [
            (bcc("49 Hertz", both, 4_900), bcc("99 Hertz", both, 9_900)),
            (of_script(50), of_script(100)),
            (bcc("50 Hertz", both, 2_000), bcc("every 100000 events", both, 2_000)),
        ] {
            if is_refused(&base, &test) {
                assert!(test.contains("events"), "{test:.99}");
                continue;
            }
            let found = compared(&base, &test);
            assert_eq!(found.scale, ProfileScale::Operations, "{test:.99}");
            assert!(found.total.estimate.abs() < 0.01, "{:?}", found.total);
        }
        // As `--keep` writes them.
        let kept = |hertz: u64, seconds: u64| {
            let (period, samples) = (1_000_000_000 / hertz, hertz * seconds);
            let head = format!("# event: cpu-clock\n# samples: {samples}\n# period: {period}\n");
            format!("{head}main;work {}\nmain;rest {}\n", samples / 4, samples - samples / 4)
        };
        for (base, test) in [
            (kept(50, 40), kept(1_000, 40)),
            (kept(50, 40), of_script(100)),
            (kept(50, 40), kept(50, 20) + &kept(1_000, 20)),
        ] {
            let found = compared(&base, &test);
            assert_eq!(found.scale, ProfileScale::Operations, "{test:.99}");
            assert!(found.total.estimate.abs() < 0.01, "{:?}", found.total);
            assert_eq!(found.samples.base.map(f64::round), Some(2_000.0));
        }
        let error = read(&format!("main;work 3\n{}", kept(50, 40))).unwrap_err();
        assert!(error.line == 3 && error.what.contains("those above"), "{error}");
        let parted = kept(50, 40).replace("# samples: 2000\n", "");
        let error = read(&format!("main;work 3\n{parted}")).unwrap_err();
        assert!(error.line == 3 && error.what.contains("no `# period:`"), "{error}");
        let events = |every: u64, count| bcc(&format!("every {every} events"), both, count);
        assert!(is_refused(&events(100, 9), &bcc("49 Hertz", both, 9)));
        let found = compared(&events(100_000, 500), &events(10_000, 5_000));
        assert!(found.total.estimate.abs() < 1e-9, "{:?}", found.total);
        // Told of one side alone, or by nothing but the times of samples: shares.
        for (base, test) in [
            (of_script(50), script("", 10_000, 4_000)),
            (script("", 10_000, 300), script("", 1_000, 3_000)),
        ] {
            assert_eq!(compared(&base, &test).scale, ProfileScale::Samples, "{base:.99}");
        }
        let found = compared(&script("", 10_000, 300), &script("", 10_000, 330));
        assert_eq!(found.scale, ProfileScale::Operations);
        assert!((found.total.estimate - 0.1).abs() < 1e-9);
    }

    #[test]
    fn stacks_of_the_kernel_alone_are_of_another_scope() {
        let scopes = ["user + kernel stack", "user stack", "kernel stack"];
        for one in scopes {
            for other in scopes {
                let (base, test) = (bcc("49 Hertz", one, 90), bcc("49 Hertz", other, 90));
                assert_eq!(is_refused(&base, &test), one != other, "{one}, {other}");
                let waits = |scope: &str| {
                    format!(
                        "Tracing off-CPU time (us) of PID 7 by {scope}...\n    schedule\n    wait\n    \
                         -                m (7)\n        90\n"
                    )
                };
                assert_eq!(is_refused(&waits(one), &waits(other)), one != other, "{one}, {other}");
            }
        }
    }

    #[test]
    fn waits_are_in_one_unit_whoever_counts_them() {
        let of_bcc = "Tracing off-CPU time (us) of PID 7 by user + kernel stack...\n    \
                      schedule\n    wait\n    -                m (7)\n        5000\n";
        let tracing = "Tracing nanosecond time in off-CPU stacks. Ctrl-C to end.\n";
        for of_bpftrace in [
            format!("{tracing}@[\n    schedule+2\n    wait+3\n, m, 7]: 5000000\n"),
            "@offcpu_us[\n    schedule+2\n    wait+3\n, m, 7]: 5000\n".to_owned(),
        ] {
            let found = compared(of_bcc, &of_bpftrace);
            assert_eq!(found.scale, ProfileScale::Operations, "{of_bpftrace}");
            assert!(found.total.estimate.abs() < 1e-9, "{:?}", found.total);
        }
        let untold = "@offcpu[\n    schedule+2\n    wait+3\n, m, 7]: 5000000\n";
        assert_eq!(compared(of_bcc, untold).scale, ProfileScale::Samples);
    }

    #[test]
    fn a_rate_is_told_by_headings_and_commands() {
        let seconds = |hertz: f64| Some(Sampling::Nanoseconds(1e9 / hertz));
        assert_eq!(
            heading_sampling("Sampling at 49 Hertz of PID 7 by user stack..."),
            seconds(49.0)
        );
        let every = heading_sampling("# Sampling at every 100000 events of PID 7 by user stack");
        assert_eq!(every, Some(Sampling::Events(100_000.0)));
        for flag in ["-F 99", "-F99", "--freq 99", "--freq=99"] {
            let text = format!("# cmdline : /usr/bin/perf record {flag} -g -- x -F 7\n");
            assert_eq!(perf_sampling(&text), seconds(99.0), "{flag}");
        }
        let counted = perf_sampling("# cmdline : perf record -c 1000 -g\n");
        assert_eq!(counted, Some(Sampling::Events(1_000.0)));
        for command in ["perf record -g -- x -F 7", "perf record -F max", "perf script -F comm"] {
            assert_eq!(perf_sampling(&format!("# cmdline : {command}\n")), None, "{command}");
        }
        let event = |rest: &str| {
            perf_sampling(&format!(
                "# event : name = cycles, , {{ sample_period, sample_freq }} = 4000, {rest}\n"
            ))
        };
        assert_eq!(event("sample_type = IP, freq = 1"), seconds(4_000.0));
        assert_eq!(event("sample_type = IP, inherit = 1"), Some(Sampling::Events(4_000.0)));
    }
}
