//! The intended time of every event, as a pure function of a seed.
//!
//! ```text
//!   y = Λ(t) = ∫ rate                 Poisson: y₀ < y₁ < …, gaps −ln u, u = stream(seed, k)
//!    │            ╭────               evenly:  y_k = k + ½
//!  y₂┼───────────╱                    t_k = Λ⁻¹(y_k)
//!  y₁┼──────╱╌╌╌╱
//!  y₀┼──╱╌╌╱   ╱
//!    └──┴───┴──┴──── t                a rate that changes only bends the curve
//!      t₀  t₁  t₂
//! ```
//!
//! Events of rate 1 are stretched by the inverse of the integrated rate (the time-change theorem:
//! Çinlar, *Introduction to Stochastic Processes*, 1975, § 4.7); so every shape is exact, thinning
//! is not needed, and event *k* stays event *k* whatever the shape. The gaps of a Poisson process
//! are summed as integers of 2⁻³² of the mean gap: the sum is exact after billions of events,
//! whoever adds it up in whatever order.
//!
//! Time 0 is when the window opens. The lead-in before it runs at the rate of time 0.

use std::f64::consts::TAU;
use std::sync::Arc;

use dbdyno_model::random;
use dbdyno_model::{Arrivals, RateShape, Spacing};

/// The key of the stream of gaps, so that they are independent of everything else that the seed
/// gives.
const GAPS: u64 = 0x6172_7269_7661_6c73;
/// Units of a gap in the mean gap.
const FIXED_POINT: f64 = 4_294_967_296.0;
/// Steps after which the search for a time ends in any case; bisection alone takes 60.
const SEARCH_STEPS: usize = 200;

/// Intended times, event by event. A clone goes on from where it was taken.
#[derive(Clone, Debug)]
pub struct ArrivalSchedule {
    profile: Profile,
    spacing: Spacing,
    seed: u64,
    /// Expected number of events before the window opens.
    lead: f64,
    /// Number of the next event.
    next: u64,
    /// Sum of all gaps before the next event.
    gaps: u128,
}

impl ArrivalSchedule {
    /// The schedule with lead-in. `recording` is what [`parse_arrivals`] read of the file, for
    /// [`RateShape::Recorded`], and ignored else; a recording has no lead-in.
    pub fn new(
        arrivals: &Arrivals,
        seed: u64,
        lead_in_ns: u64,
        recording: &[u64],
    ) -> ArrivalSchedule {
        let profile = Profile::of(&arrivals.shape, recording);
        let expected = profile.first_rate() * lead_in_ns as f64 / 1e9;
        let lead = match arrivals.spacing {
            // A whole number, so that the window begins half a gap before an event.
            Spacing::Even => expected.floor(),
            Spacing::Poisson => expected,
        };
        ArrivalSchedule { profile, spacing: arrivals.spacing, seed, lead, next: 0, gaps: 0 }
    }

    /// Number of the event that [`ArrivalSchedule::next_ns`] gives next.
    pub fn next_number(&self) -> u64 {
        self.next
    }

    /// The intended time of the next event, nanoseconds since the window opened, negative in the
    /// lead-in; `None` when no event will ever arrive again. Times never go back.
    pub fn next_ns(&mut self) -> Option<i64> {
        let number = self.next;
        let seconds = if let Profile::Recorded(times) = &self.profile {
            *times.get(usize::try_from(number).ok()?)? as f64 / 1e9
        } else {
            let expected = self.expected_before() - self.lead;
            if expected < 0.0 {
                expected / self.profile.first_rate()
            } else {
                self.profile.inverse(expected)?
            }
        };
        self.next += 1;
        Some((seconds * 1e9).round() as i64)
    }

    /// Goes on with event `number`. Poisson gaps between here and there are added up: five
    /// nanoseconds each.
    ///
    /// # Panics
    /// When that event lies behind.
    pub fn skip_to(&mut self, number: u64) {
        assert!(number >= self.next, "event {number} lies behind event {}", self.next);
        if self.spacing == Spacing::Poisson {
            for skipped in self.next..number {
                self.gaps += u128::from(gap(self.seed, skipped));
            }
        }
        self.next = number;
    }

    /// The integrated rate at which the next event stands, counted from the lead-in.
    fn expected_before(&mut self) -> f64 {
        match self.spacing {
            Spacing::Even => self.next as f64 + 0.5,
            Spacing::Poisson => {
                self.gaps += u128::from(gap(self.seed, self.next));
                self.gaps as f64 / FIXED_POINT
            }
        }
    }
}

/// The gap before event `number` of a Poisson process, in units of 2⁻³² of the mean gap.
fn gap(seed: u64, number: u64) -> u64 {
    let bits = random::stream(&[seed, GAPS, number]).next_u64() >> 11;
    let uniform = (bits as f64 + 0.5) / (1_u64 << 53) as f64;
    (-uniform.ln() * FIXED_POINT) as u64
}

/// A rate with its integral and the inverse of that, in seconds.
#[derive(Clone, Debug)]
enum Profile {
    /// Pieces of constant rate; with a period they begin again, without one the last one stays.
    Pieces {
        pieces: Vec<Piece>,
        period: Option<Piece>,
    },
    Ramp {
        from: f64,
        to: f64,
        over: f64,
    },
    Sine {
        mean: f64,
        swing: f64,
        period: f64,
    },
    Recorded(Arc<[u64]>),
}

/// From time `start` on, when `before` events were expected, `rate` holds.
#[derive(Clone, Copy, Debug)]
struct Piece {
    start: f64,
    before: f64,
    rate: f64,
}

impl Profile {
    fn of(shape: &RateShape, recording: &[u64]) -> Profile {
        match *shape {
            RateShape::Constant(rate) => {
                let (pieces, _) = pieces(&[(rate, 0.0)]);
                Profile::Pieces { pieces, period: None }
            }
            RateShape::Steps { ref rates, each_ns } => {
                let steps: Vec<_> =
                    rates.iter().map(|&rate| (rate, whole_seconds(each_ns))).collect();
                Profile::Pieces { pieces: pieces(&steps).0, period: None }
            }
            RateShape::Burst { usual, burst, length_ns, every_ns } => {
                let quiet = whole_seconds(every_ns - length_ns) / 2.0;
                let burst = (burst, whole_seconds(length_ns));
                let (pieces, end) = pieces(&[(usual, quiet), burst, (usual, quiet)]);
                Profile::Pieces { pieces, period: Some(end) }
            }
            RateShape::Ramp { from, to, over_ns } => {
                Profile::Ramp { from, to, over: whole_seconds(over_ns) }
            }
            RateShape::Sine { mean, swing, period_ns } => {
                Profile::Sine { mean, swing, period: whole_seconds(period_ns) }
            }
            RateShape::Recorded(_) => Profile::Recorded(recording.into()),
        }
    }

    /// The rate at time 0 and before.
    fn first_rate(&self) -> f64 {
        match self {
            Profile::Pieces { pieces, .. } => pieces[0].rate,
            Profile::Ramp { from, .. } => *from,
            Profile::Sine { mean, .. } => *mean,
            Profile::Recorded(_) => 0.0,
        }
    }

    /// The time at which `expected` events are expected since time 0; `None` if that is never.
    fn inverse(&self, expected: f64) -> Option<f64> {
        match *self {
            Profile::Pieces { ref pieces, period } => {
                let (turns, rest) = match period {
                    Some(end) => {
                        let turns = (expected / end.before).floor();
                        (turns * end.start, expected - turns * end.before)
                    }
                    None => (0.0, expected),
                };
                let piece = pieces[pieces.partition_point(|p| p.before <= rest).max(1) - 1];
                let time = turns + piece.start + (rest - piece.before) / piece.rate;
                time.is_finite().then_some(time)
            }
            Profile::Ramp { from, to, over } => {
                let whole = (from + to) / 2.0 * over;
                if expected >= whole {
                    return (to > 0.0).then(|| over + (expected - whole) / to);
                }
                // The root of from·t + (to − from)/(2·over)·t² = expected, in the form that does
                // not lose digits where the slope is small.
                let root = from * from + 2.0 * (to - from) / over * expected;
                Some(2.0 * expected / (from + root.max(0.0).sqrt()))
            }
            Profile::Sine { mean, swing, period } => {
                let turns = (expected / (mean * period)).floor();
                let rest = expected - turns * mean * period;
                Some(turns * period + sine_inverse(mean, swing, period, rest))
            }
            Profile::Recorded(_) => None,
        }
    }
}

fn whole_seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Pieces of these rates and lengths, and where they end.
fn pieces(steps: &[(f64, f64)]) -> (Vec<Piece>, Piece) {
    let mut end = Piece { start: 0.0, before: 0.0, rate: 0.0 };
    let mut pieces = Vec::with_capacity(steps.len());
    for &(rate, length) in steps {
        pieces.push(Piece { rate, ..end });
        end.start += length;
        end.before += rate * length;
    }
    (pieces, end)
}

/// The time within one turn at which `expected` events are expected: Newton's steps where they stay
/// within the bracket, else halves of it.
fn sine_inverse(mean: f64, swing: f64, period: f64, expected: f64) -> f64 {
    let turn = TAU / period;
    let (mut low, mut high) = (0.0_f64, period);
    let mut time = (expected / mean).clamp(low, high);
    for _ in 0..SEARCH_STEPS {
        let excess = mean * time + swing / turn * (1.0 - (turn * time).cos()) - expected;
        if excess > 0.0 {
            high = time;
        } else {
            low = time;
        }
        let newton = time - excess / (mean + swing * (turn * time).sin());
        let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
        if (next - time).abs() <= period * 1e-15 {
            return next;
        }
        time = next;
    }
    time
}

/// Reads recorded arrivals: one number a line, seconds since the recording began, or, under a first
/// line `gaps`, seconds since the event before. Empty lines and lines that begin with `#` do not
/// count. Returns nanoseconds since the first event of a list of times, or since the beginning of a
/// list of gaps.
///
/// # Errors
/// A sentence that names the line.
pub fn parse_arrivals(text: &str) -> Result<Vec<u64>, String> {
    let mut times: Vec<u64> = Vec::new();
    let (mut gaps, mut first, mut last) = (false, None, 0.0);
    for (line, content) in text.lines().enumerate() {
        let content = content.trim();
        let wrong = |why: &str| format!("line {}: {content:?} {why}", line + 1);
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if content == "gaps" && times.is_empty() {
            gaps = true;
            continue;
        }
        let number = content.parse::<f64>().ok().filter(|number| number.is_finite());
        let number = number.ok_or_else(|| wrong("is no number of seconds, for example 0.0125"))?;
        let begin = *first.get_or_insert(if gaps { 0.0 } else { number });
        let time = if gaps { last + number } else { number - begin };
        if time < last {
            return Err(wrong("goes back in time; sort the file, or begin it with a line `gaps`"));
        }
        last = time;
        times.push((time * 1e9).round() as u64);
    }
    if times.is_empty() {
        return Err("there is no arrival in it; write one time in seconds on each line".to_owned());
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn schedule(text: &str, lead_in_ns: u64) -> ArrivalSchedule {
        ArrivalSchedule::new(&text.parse().unwrap(), 7, lead_in_ns, &[])
    }

    fn times(text: &str, count: usize) -> Vec<i64> {
        let mut schedule = schedule(text, 0);
        std::iter::from_fn(|| schedule.next_ns()).take(count).collect()
    }

    /// The rate of each shape, written down independently of its inverse.
    fn rate_at(text: &str, t: f64) -> f64 {
        match text.trim_start_matches("poisson:") {
            "1000" => 1000.0,
            "steps:1000,0,2500@2s" => [1000.0, 0.0, 2500.0][((t / 2.0) as usize).min(2)],
            "ramp:0-3000@5s" => (t / 5.0).min(1.0) * 3000.0,
            "ramp:3000-100@4s" => 3000.0 - 2900.0 * (t / 4.0).min(1.0),
            "sine:1000+-1000@3s" => 1000.0 + 1000.0 * (TAU * t / 3.0).sin(),
            "sine:500+-100@700ms" => 500.0 + 100.0 * (TAU * t / 0.7).sin(),
            "burst:200,4000@500ms/2s" => {
                if (0.75..1.25).contains(&(t % 2.0)) {
                    4000.0
                } else {
                    200.0
                }
            }
            other => panic!("{other}"),
        }
    }

    const SHAPES: [&str; 7] = [
        "1000",
        "steps:1000,0,2500@2s",
        "ramp:0-3000@5s",
        "ramp:3000-100@4s",
        "sine:1000+-1000@3s",
        "sine:500+-100@700ms",
        "burst:200,4000@500ms/2s",
    ];

    /// Oracle: the rate summed up in steps of 10 µs (midpoint rule) must give k + ½ at event k. A
    /// step over an edge of a burst is wrong by up to 0.02 of an event, a wrong formula by whole
    /// ones.
    #[test]
    fn even_events_stand_where_the_integrated_rate_says() {
        for text in SHAPES {
            let times = times(text, 9000);
            let (mut t, mut integral) = (0.0_f64, 0.0_f64);
            for (number, &time) in times.iter().enumerate() {
                let target = time as f64 / 1e9;
                while t < target {
                    let step = (target - t).min(1e-5);
                    integral += rate_at(text, t + step / 2.0) * step;
                    t += step;
                }
                let error = (integral - (number as f64 + 0.5)).abs();
                assert!(error < 0.1, "{text}: event {number} is {error} of an event away");
            }
            assert!(times.is_sorted(), "{text}");
        }
    }

    /// Oracle: under the integrated rate the gaps of any Poisson process are exponential with mean
    /// 1. Chi-square over 50 cells of equal probability: 49 degrees, 0.1 % point 85.4.
    #[test]
    fn poisson_gaps_are_exponential_under_every_shape() {
        for text in SHAPES {
            let times = times(&format!("poisson:{text}"), 20_000);
            let mut cells = [0_u32; 50];
            let (mut t, mut integral, mut last) = (0.0_f64, 0.0_f64, 0.0_f64);
            for &time in &times {
                let target = time as f64 / 1e9;
                while t < target {
                    let step = (target - t).min(2e-5);
                    integral += rate_at(text, t + step / 2.0) * step;
                    t += step;
                }
                let probability = 1.0 - (-(integral - last)).exp();
                cells[((probability * 50.0) as usize).min(49)] += 1;
                last = integral;
            }
            let expected = times.len() as f64 / 50.0;
            let chi2: f64 =
                cells.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
            assert!(chi2 < 85.4, "{text}: chi-square {chi2}");
            let mean = last / times.len() as f64;
            assert!((mean - 1.0).abs() < 0.025, "{text}: mean gap {mean}");
        }
    }

    /// Counts of a Poisson process in disjoint seconds are independent with variance = mean: the
    /// index of dispersion of 1 000 seconds is 1 ± 0.14 (3 sigma), that of even spacing is 0.
    #[test]
    fn poisson_counts_are_dispersed_and_even_ones_are_not() {
        let dispersion = |text: &str| {
            let mut counts = vec![0_f64; 1000];
            for time in times(text, 30_000) {
                if let Some(count) = counts.get_mut((time / SECOND as i64) as usize) {
                    *count += 1.0;
                }
            }
            counts.retain(|&count| count > 0.0);
            counts.pop();
            let mean = counts.iter().sum::<f64>() / counts.len() as f64;
            counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / counts.len() as f64 / mean
        };
        let poisson = dispersion("poisson:30");
        assert!((poisson - 1.0).abs() < 0.14, "{poisson}");
        assert!(dispersion("30") < 1e-9);
    }

    #[test]
    fn billions_of_events_stay_exact() {
        for rate in [1000.0_f64, 20_000.0, 100_000.0] {
            let mut schedule = schedule(&rate.to_string(), 0);
            schedule.skip_to(5_000_000_000);
            let time = schedule.next_ns().unwrap();
            assert_eq!(time, ((5e9 + 0.5) / rate * 1e9).round() as i64);
        }
    }

    #[test]
    fn a_schedule_can_be_taken_up_anywhere() {
        for text in ["poisson:2000", "poisson:sine:1000+-1000@3s", "burst:200,4000@500ms/2s"] {
            let all = times(text, 5000);
            for number in [0, 1, 999, 4999] {
                let mut later = schedule(text, 0);
                later.skip_to(number);
                assert_eq!(later.next_number(), number);
                assert_eq!(later.next_ns(), Some(all[number as usize]), "{text} {number}");
            }
        }
        let other = ArrivalSchedule::new(&"poisson:2000".parse().unwrap(), 8, 0, &[]).next_ns();
        assert_ne!(other, Some(times("poisson:2000", 1)[0]), "the seed matters");
    }

    #[test]
    fn the_lead_in_runs_at_the_first_rate_and_the_window_has_its_count() {
        for (text, lead_in_ns, before) in
            [("1000", SECOND / 2, 500), ("1000", 0, 0), ("ramp:100-500@2s", SECOND, 100)]
        {
            let mut schedule = schedule(text, lead_in_ns);
            let times: Vec<i64> = std::iter::from_fn(|| schedule.next_ns()).take(2000).collect();
            assert_eq!(times.iter().filter(|&&time| time < 0).count(), before, "{text}");
            assert!(times[0] >= -(lead_in_ns as i64));
            assert!(times.is_sorted());
            let in_window = times.iter().filter(|time| (0..SECOND as i64).contains(*time)).count();
            assert_eq!(in_window, if text == "1000" { 1000 } else { 200 }, "{text}");
        }
    }

    #[test]
    fn a_rate_that_ends_at_zero_ends_the_schedule() {
        assert_eq!(times("ramp:1000-0@2s", 5000).len(), 1000);
        assert_eq!(times("steps:1000,0@2s", 5000).len(), 2000);
    }

    #[test]
    fn recordings_are_read_or_refused_with_their_line() {
        assert_eq!(
            parse_arrivals("# x\n10.5\n\n10.75\n 11\n").unwrap(),
            [0, 250_000_000, 500_000_000]
        );
        assert_eq!(
            parse_arrivals("gaps\n0.5\n0\n0.25").unwrap(),
            [500_000_000, 500_000_000, 750_000_000]
        );
        for (text, why) in [
            ("", "no arrival"),
            ("1\n2\nx\n", "line 3: \"x\" is no number"),
            ("1\n2\n1.5", "line 3: \"1.5\" goes back"),
            ("gaps\n1\n-1", "line 3: \"-1\" goes back"),
            ("inf", "is no number"),
        ] {
            assert!(parse_arrivals(text).unwrap_err().contains(why), "{text}");
        }
        let arrivals = "file:x".parse().unwrap();
        let mut schedule = ArrivalSchedule::new(&arrivals, 1, SECOND, &[0, 5, 9]);
        let times: Vec<i64> = std::iter::from_fn(|| schedule.next_ns()).collect();
        assert_eq!(times, [0, 5, 9]);
    }
}
