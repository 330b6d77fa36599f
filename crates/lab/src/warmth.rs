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

/// A warm-up under way.
pub(crate) struct Warmth {
    window: Duration,
    left: Duration,
    /// Statements in each window so far.
    windows: Vec<u64>,
}

impl Warmth {
    /// A cold server that may be warmed for as long as `limit`.
    pub(crate) fn new(limit: Duration) -> Warmth {
        let slots = (limit / WINDOWS_MOST).as_nanos() / SLOT.as_nanos();
        Warmth { window: SLOT * (slots as u32).max(1), left: limit, windows: Vec::new() }
    }

    /// How long to go on before looking again; `None` when the warm-up is over.
    pub(crate) fn more(&self) -> Option<Duration> {
        let windows = if self.windows.is_empty() { WINDOWS } else { WINDOWS_MORE };
        let more = (self.window * windows as u32).min(self.left);
        (!more.is_zero() && !self.is_steady()).then_some(more)
    }

    /// Adds what was seen in a stretch of this length: statements in slots of [`SLOT`].
    pub(crate) fn add(&mut self, stretch: Duration, slots: &[u64]) {
        self.left = self.left.saturating_sub(stretch);
        let per_window = (self.window.as_nanos() / SLOT.as_nanos()) as usize;
        self.windows.extend(slots.chunks_exact(per_window).map(|slots| slots.iter().sum::<u64>()));
    }

    /// What the reader of the cell must know: the rate was still moving when time was up.
    pub(crate) fn warning(&self, what: &str, cell: &Cell) -> Option<Warning> {
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

    /// How many windows of a rate are looked at before it is called steady, or time is up.
    fn warm(limit: Duration, rate: impl Fn(usize) -> u64) -> (Warmth, usize) {
        let mut warmth = Warmth::new(limit);
        let mut slot = 0;
        while let Some(stretch) = warmth.more() {
            let count = (stretch.as_nanos() / SLOT.as_nanos()) as usize;
            let slots: Vec<u64> = (slot..slot + count).map(&rate).collect();
            slot += count;
            warmth.add(stretch, &slots);
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
        assert_eq!(warmth.warning("base", &cell()), None);
        let (_, slots) = warm(Duration::from_secs(20), wobbling);
        assert_eq!(slots, WINDOWS * 5, "windows of half a second");
    }

    #[test]
    fn a_rising_rate_is_waited_for() {
        let rising = |slot: usize| wobbling(slot) * (slot.min(17) as u64 + 3) / 20;
        let (warmth, slots) = warm(Duration::from_secs(4), rising);
        assert!((27..40).contains(&slots), "{slots}");
        assert_eq!(warmth.warning("base", &cell()), None);
    }

    #[test]
    fn a_rate_that_never_stops_moving_is_said_to() {
        let falling = |slot: usize| 100_000 / (slot as u64 + 5);
        let (warmth, slots) = warm(Duration::from_secs(4), falling);
        assert_eq!(slots, 40);
        let warning = warmth.warning("base", &cell()).unwrap();
        assert!(
            warning.text.contains("base, scan at 1 client: the rate still falls"),
            "{warning:?}"
        );
    }

    #[test]
    fn an_idle_load_ends_with_the_time() {
        let (warmth, slots) = warm(Duration::from_secs(1), |slot| u64::from(slot % 4 == 0));
        assert_eq!((slots, warmth.warning("base", &cell())), (10, None));
        assert!(Warmth::new(Duration::ZERO).more().is_none());
    }
}
