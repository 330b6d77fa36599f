//! What a client rests between two events of the closed loop: the text of `--think`.
//!
//! ```text
//!   10s          always the same                   ask ──10 s── ask ──10 s── ask
//!   8s..12s      anything from 8 s to 12 s         ask ──8.3 s── ask ──11.6 s── ask
//! ```
//!
//! A pause is a function of the seed, the client and its number, so that both arms of a pair rest
//! alike. Whoever asks at the pace of people asks about the same number of questions however fast
//! the answers are; what differs is how long each answer took.

use std::fmt;
use std::str::FromStr;

use crate::arrivals::{Time, time_ns};
use crate::random;

/// The shortest and the longest pause, nanoseconds; every length between them is as likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Think {
    /// The shortest.
    pub least_ns: u64,
    /// The longest.
    pub most_ns: u64,
}

/// The keys of the streams of pauses, and of the rest before a first event.
const PAUSES: u64 = 0x7468_696e_6b69_6e67;
const FIRST: u64 = 0x6669_7273_7472_6573;

impl Think {
    /// Pause number `number` of a client.
    pub fn pause_ns(self, seed: u64, client: u32, number: u64) -> u64 {
        let width = self.most_ns - self.least_ns;
        if width == 0 {
            return self.least_ns;
        }
        let key = [seed, PAUSES, u64::from(client), number];
        self.least_ns + random::stream(&key).next_below(width + 1)
    }

    /// What a client rests before its first event, so that `clients` clients are from the beginning
    /// as if they had been at it for long.
    ///
    /// Whoever looks at a moment meets a long pause more often than a short one, by its length, and
    /// the moment is anywhere in it (Cox, *Renewal Theory*, 1962, § 5.4). The lengths are drawn,
    /// the moments stand as evenly as the clients allow.
    pub fn first_ns(self, seed: u64, client: u32, clients: u32) -> u64 {
        let draw = random::stream(&[seed, FIRST, u64::from(client)]).next_u64() >> 11;
        let share = draw as f64 / (1_u64 << 53) as f64;
        let (least, most) = (self.least_ns as f64, self.most_ns as f64);
        let met = (least * least + share * (most * most - least * least)).sqrt();
        (met * f64::from(client) / f64::from(clients)) as u64
    }

    /// The mean pause, nanoseconds.
    pub fn mean_ns(self) -> u64 {
        self.least_ns + (self.most_ns - self.least_ns) / 2
    }
}

impl FromStr for Think {
    type Err = String;

    /// Reads the text of `--think`. The error is a sentence that says what would be right.
    fn from_str(text: &str) -> Result<Think, String> {
        let (least, most) = text.split_once("..").unwrap_or((text, text));
        let least_ns = if least.trim() == "0s" { Ok(0) } else { time_ns(least) };
        let (least_ns, most_ns) =
            (least_ns.map_err(pause_advice)?, time_ns(most).map_err(pause_advice)?);
        if least_ns > most_ns {
            return Err(pause_advice(format!("{least} is longer than {most}")));
        }
        Ok(Think { least_ns, most_ns })
    }
}

fn pause_advice(why: String) -> String {
    format!("{why}; write for example 10s, 250ms or 8s..12s")
}

/// The text that [`Think::from_str`] reads.
impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.least_ns {
            0 => write!(f, "0s..{}", Time(self.most_ns)),
            least_ns if least_ns == self.most_ns => write!(f, "{}", Time(least_ns)),
            least_ns => write!(f, "{}..{}", Time(least_ns), Time(self.most_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_come_back_as_they_were_written() {
        for text in ["10s", "250ms", "8s..12s", "0s..1.5s", "500ms..2s"] {
            assert_eq!(text.parse::<Think>().unwrap().to_string(), text);
        }
        assert_eq!(" 1m .. 2m ".parse::<Think>().unwrap().to_string(), "60s..120s");
        for (text, why) in [
            ("", "is no time"),
            ("10", "is no time"),
            ("0s", "between 1ms and a day"),
            ("12s..8s", "12s is longer than 8s"),
            ("1s..", "is no time"),
        ] {
            let error = text.parse::<Think>().unwrap_err();
            assert!(error.contains(why) && error.contains("8s..12s"), "{text}: {error}");
        }
    }

    /// Chi-square over 50 cells of equal probability: 49 degrees, 0.1 % point 85.4.
    #[test]
    fn pauses_are_uniform_over_clients_and_numbers() {
        let think: Think = "2s..3s".parse().unwrap();
        let mut cells = [0_u32; 50];
        for client in 0..100 {
            for number in 0..200 {
                let pause_ns = think.pause_ns(7, client, number);
                assert!((2_000_000_000..=3_000_000_000).contains(&pause_ns));
                cells[((pause_ns - 2_000_000_000) / 20_000_001) as usize] += 1;
            }
        }
        let chi2: f64 = cells.iter().map(|&n| (f64::from(n) - 400.0).powi(2) / 400.0).sum();
        assert!(chi2 < 85.4, "chi-square {chi2}");
        assert_eq!(think.pause_ns(7, 3, 4), think.pause_ns(7, 3, 4));
        assert_ne!(think.pause_ns(7, 3, 4), think.pause_ns(8, 3, 4), "the seed matters");
        assert_eq!("10s".parse::<Think>().unwrap().pause_ns(7, 3, 4), 10_000_000_000);
    }

    /// In a process that has been going on for ever, the numbers of events in equal stretches are
    /// alike; the first stretches must not differ from later ones. Oracle: clients ÷ mean pause.
    #[test]
    fn from_the_beginning_events_come_at_the_rate_of_later() {
        for text in ["10s", "1s..19s", "0s..20s"] {
            let think: Think = text.parse().unwrap();
            assert_eq!(think.mean_ns(), 10_000_000_000);
            let clients = 20_000;
            let mut seconds = [0_u32; 40];
            for client in 0..clients {
                let mut time_ns = think.first_ns(3, client, clients);
                for number in 0.. {
                    let Some(second) = seconds.get_mut((time_ns / 1_000_000_000) as usize) else {
                        break;
                    };
                    *second += 1;
                    time_ns += think.pause_ns(3, client, number);
                }
            }
            for (second, &events) in seconds.iter().enumerate() {
                // 2 000 are expected; where they are independent, 4.5 sigma are 200.
                assert!(events.abs_diff(2000) < 200, "{text}: {events} in second {second}");
            }
        }
    }
}
