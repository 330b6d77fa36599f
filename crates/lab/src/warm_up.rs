//! Whether a server is warm.
//!
//! ```text
//!   rate  ·      · · ·  ·   · ·  ·         one value for each window
//!        ·   · ·       · ·       ·
//!      ·                     └── last ten ──┘   no slope that the noise does not explain: steady
//! ```
//!
//! A warm-up ends when the rate of the last ten windows shows no trend, up or down, at a level at
//! which one look in five at a steady rate is a false alarm ([`dbdyno_stats::is_steady`]); a false
//! alarm costs five windows more. After the longest time that the plan allows it ends in any case.
//! If the trend is then sure at the level at which cells are decided, the reader is told.
//!
//! Starts of the servers are short, and every second of a warm-up is one in which no pair is
//! measured. So a server that comes back, and has its tables in memory, is looked at in windows
//! that are as short as the rate allows ([`Warmth::after_restart`]). Short windows do not see a
//! slow rise; but how fast it was in the start before is known. Who is steady and not as fast again
//! is looked at as one that is cold.

use std::time::Duration;

use dbdyno_load::closed::SLOT;
use dbdyno_model::{Cell, Severity, Warning};
use dbdyno_stats::{DECISION_ALPHA, is_steady, slope};

/// Windows that are looked at.
const WINDOWS: usize = 10;
/// Windows after which we look again.
const WINDOWS_MORE: usize = 5;
/// So many windows fit into the longest warm-up.
const WINDOWS_MOST: u32 = 40;
/// The shortest window of a cold server.
const COLD_WINDOW: Duration = Duration::from_millis(100);
/// Events of each client in a window: chance alone moves fewer of them by more than a twentieth,
/// and what warms up in a server's connection does so by what it is asked.
const EVENTS: f64 = 400.0;
/// Who has this share of its rate back is as fast again as far as two starts are alike.
const BACK: f64 = 0.95;

/// What is known of an arm under a cell from the start before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    /// Events per second of each client.
    pub(crate) client_tps: f64,
    /// Statements per second in its last round; `None` where there was none.
    pub(crate) sps: Option<f64>,
}

/// A warm-up under way.
pub(crate) struct Warmth {
    window: Duration,
    left: Duration,
    /// Statements in each window so far.
    windows: Vec<u64>,
    /// Statements per second that it had before, while that is waited for.
    before_sps: Option<f64>,
}

impl Warmth {
    /// A cold server that may be warmed for as long as `limit`.
    pub(crate) fn new(limit: Duration) -> Warmth {
        let tenths = (limit / WINDOWS_MOST).as_nanos() / COLD_WINDOW.as_nanos();
        let window = COLD_WINDOW * (tenths as u32).max(1);
        Warmth { window, left: limit, windows: Vec::new(), before_sps: None }
    }

    /// A server that comes back with its tables in memory.
    pub(crate) fn after_restart(limit: Duration, before: Before) -> Warmth {
        let cold = Warmth::new(limit);
        let takes = Duration::try_from_secs_f64(EVENTS / before.client_tps);
        let slots = takes.unwrap_or(cold.window).min(cold.window).as_nanos() / SLOT.as_nanos();
        Warmth { window: SLOT * (slots as u32).max(1), before_sps: before.sps, ..cold }
    }

    /// How long to go on before looking again; `None` when the warm-up is over.
    pub(crate) fn next_stretch(&self) -> Option<Duration> {
        let windows = if self.windows.is_empty() { WINDOWS } else { WINDOWS_MORE };
        let more = (self.window * windows as u32).min(self.left);
        (!more.is_zero() && !self.is_steady()).then_some(more)
    }

    /// Adds what was seen in a stretch of this length: statements in slots of [`SLOT`].
    pub(crate) fn add_stretch(&mut self, stretch: Duration, slots: &[u64]) {
        self.left = self.left.saturating_sub(stretch);
        let per_window = (self.window.as_nanos() / SLOT.as_nanos()) as usize;
        self.windows.extend(slots.chunks_exact(per_window).map(|slots| slots.iter().sum::<u64>()));
        if self.is_steady() && !self.is_back() {
            *self = Warmth::new(self.left);
        }
    }

    /// What the reader of the cell must know: the rate was still moving when time was up.
    pub(crate) fn drift_warning(&self, what: &str, cell: &Cell) -> Option<Warning> {
        let rates = self.last().filter(|_| !self.is_steady())?;
        let slope = slope(&rates).ok().filter(|slope| slope.p_value < DECISION_ALPHA)?;
        let change = 100.0 * (slope.per_step * (WINDOWS - 1) as f64).exp_m1();
        let text = format!(
            "{what}, {cell}: the rate still {} by {:.0} % within {:.1} s when the time for warming \
             up was over; give more time with --warm-up, or measure longer",
            if change > 0.0 { "rises" } else { "falls" },
            change.abs(),
            (self.window * WINDOWS as u32).as_secs_f64(),
        );
        Some(Warning::new(Severity::Caution, "not-steady", text))
    }

    fn is_steady(&self) -> bool {
        self.last().is_some_and(|rates| is_steady(&rates).unwrap_or(false))
    }

    /// Whether it is as fast as before, where that is known.
    fn is_back(&self) -> bool {
        let last = &self.windows[self.windows.len().saturating_sub(WINDOWS)..];
        let sps = last.iter().sum::<u64>() as f64 / (self.window * WINDOWS as u32).as_secs_f64();
        self.before_sps.is_none_or(|before| sps >= BACK * before)
    }

    /// Logarithms of the last rates; `None` while there are too few, or where windows are empty.
    fn last(&self) -> Option<Vec<f64>> {
        let from = self.windows.len().checked_sub(WINDOWS)?;
        let last = &self.windows[from..];
        (!last.contains(&0)).then(|| last.iter().map(|&count| (count as f64).ln()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots of a window of a tenth of a second.
    const TENTH: usize = 4;

    /// How many windows are looked at before a rate is called steady, or time is up. It is given
    /// for each tenth of a second.
    fn warm(limit: Duration, rate: impl Fn(usize) -> u64) -> (Warmth, usize) {
        let (warmth, slots) = warmed(Warmth::new(limit), |slot| match slot % TENTH {
            0 => rate(slot / TENTH),
            _ => 0,
        });
        (warmth, slots / TENTH)
    }

    /// How many slots are looked at; the rate is given for each.
    fn warmed(mut warmth: Warmth, rate: impl Fn(usize) -> u64) -> (Warmth, usize) {
        let mut slot = 0;
        while let Some(stretch) = warmth.next_stretch() {
            let count = (stretch.as_nanos() / SLOT.as_nanos()) as usize;
            let slots: Vec<u64> = (slot..slot + count).map(&rate).collect();
            slot += count;
            warmth.add_stretch(stretch, &slots);
        }
        (warmth, slot)
    }

    fn cell() -> Cell {
        Cell { load: "scan".into(), clients: 1 }
    }

    /// A rate that wobbles and has no trend.
    fn wobbling(slot: usize) -> u64 {
        1_000 + [0, 30, 10, 40, 20][slot * 3 % 5]
    }

    #[test]
    fn a_steady_rate_is_believed_after_ten_windows() {
        let (warmth, slots) = warm(Duration::from_secs(4), wobbling);
        assert_eq!(slots, WINDOWS);
        assert_eq!(warmth.drift_warning("base", &cell()), None);
        let (_, slots) = warm(Duration::from_secs(20), wobbling);
        assert_eq!(slots, WINDOWS * 5, "windows of half a second");
    }

    #[test]
    fn who_comes_back_is_looked_at_as_finely_as_the_rate_allows() {
        let again = |client_tps: f64| {
            let before = Before { client_tps, sps: None };
            warmed(Warmth::after_restart(Duration::from_secs(5), before), wobbling).1
        };
        assert_eq!(again(40_000.0), WINDOWS, "a quarter of a second");
        assert_eq!(again(8_000.0), WINDOWS * 2, "400 events take 50 ms");
        assert_eq!(again(1_000.0), WINDOWS * TENTH, "those of a cold server");
        assert_eq!(again(0.0), WINDOWS * TENTH);
        let rising = |slot: usize| wobbling(slot) * (slot.min(17) as u64 + 3) / 20;
        let before = Before { client_tps: 40_000.0, sps: None };
        let slots = warmed(Warmth::after_restart(Duration::from_secs(5), before), rising).1;
        assert!((27..40).contains(&slots), "{slots}");
    }

    /// A rise by a thousandth a window is not seen in ten of them.
    #[test]
    fn who_is_steady_but_not_as_fast_as_before_is_looked_at_as_a_cold_one() {
        let rising = |slot: usize| wobbling(slot) * (900 + slot.min(100) as u64) / 1_000;
        let per_second = 1_020.0 / SLOT.as_secs_f64();
        let again = |share: f64| {
            let before = Before { client_tps: 40_000.0, sps: Some(share * per_second) };
            warmed(Warmth::after_restart(Duration::from_secs(20), before), rising).1
        };
        assert_eq!(again(0.9), WINDOWS, "it is back");
        let slots = again(1.0);
        assert!(slots >= WINDOWS + 100, "it waits for what it knows: {slots}");
    }

    #[test]
    fn a_rising_rate_is_waited_for() {
        let rising = |slot: usize| wobbling(slot) * (slot.min(17) as u64 + 3) / 20;
        let (warmth, slots) = warm(Duration::from_secs(4), rising);
        assert!((27..40).contains(&slots), "{slots}");
        assert_eq!(warmth.drift_warning("base", &cell()), None);
    }

    #[test]
    fn a_rate_that_never_stops_moving_is_said_to() {
        let falling = |slot: usize| 100_000 / (slot as u64 + 5);
        let (warmth, slots) = warm(Duration::from_secs(4), falling);
        assert_eq!(slots, 40);
        let warning = warmth.drift_warning("base", &cell()).unwrap();
        assert!(
            warning.text.contains("base, scan at 1 client: the rate still falls"),
            "{warning:?}"
        );
    }

    #[test]
    fn an_idle_load_ends_with_the_time() {
        let (warmth, slots) = warm(Duration::from_secs(1), |slot| u64::from(slot % 4 == 0));
        assert_eq!((slots, warmth.drift_warning("base", &cell())), (10, None));
        assert!(Warmth::new(Duration::ZERO).next_stretch().is_none());
    }
}
