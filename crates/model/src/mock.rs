//! The words of an arm that is not there: `mock:?rate=1000&noise=0.02&seed=1`.
//!
//! A seeded model answers for it, in virtual time, so that what rests on the course of a run
//! (looks, limits, verdicts, resuming) is tested exactly and within milliseconds. It is hidden from
//! the help: nobody who measures a server needs it.
//!
//! ```text
//!   ln rate of an event =   ln rate of one client, by the curve of `sigma` and `kappa`
//!                         + opening   N(0, fillings)   each time its tables are filled
//!                         + start     N(0, restarts)   each time it is started
//!                         + round     N(0, noise)      each round; `spikes` of them lose `spike`
//!                         + drift     for each minute of the run
//!                         + warm      while it has been asked for less than some times warm_s
//!                         − ln of what its rows take it longer (`row_us`), and the pages that its
//!                                     host has taken away (`away`, `away_us`), and what its
//!                                     commit waits for (`sync_us`)
//!                         + host      a walk in tenths of a second, the same for both arms that
//!                                     are told the same of it
//! ```

/// What a model is told, each with what it is where nothing is said.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MockModel {
    /// Events per second of one client.
    pub rate: f64,
    /// Contention of the universal scalability law.
    pub sigma: f64,
    /// Its coherency.
    pub kappa: f64,
    /// Standard deviation of the logarithm of the rate from round to round.
    pub noise: f64,
    /// From start to start.
    pub restarts: f64,
    /// From filling to filling.
    pub fillings: f64,
    /// Of the host, from one tenth of a second to another one far away.
    pub host: f64,
    /// Correlation of the host between neighbouring tenths of a second.
    pub ar: f64,
    /// What the logarithm of the rate gains in a minute.
    pub drift: f64,
    /// Share of the rounds that are slowed.
    pub spikes: f64,
    /// Share of the rate that such a round loses.
    pub spike: f64,
    /// Share of the tenths of a second in which the hypervisor gives time to others.
    pub steal: f64,
    /// Share of the time that it gives away then.
    pub stolen: f64,
    /// Seconds that one event of a round takes longer than the others.
    pub stall_s: f64,
    /// Share of the rounds that have such an event.
    pub stalls: f64,
    /// Standard deviation of the logarithm of an event's time.
    pub jitter: f64,
    /// Share of the rate that it lacks when it was started a moment ago.
    pub cold: f64,
    /// Seconds of being asked after which that is a third.
    pub warm_s: f64,
    /// Microseconds of processor time that it needs for an event.
    pub cpu_us: f64,
    /// Microseconds of time, of a processor too, that each row of an event takes it beyond that.
    pub row_us: f64,
    /// Microseconds that each event waits for its commit, and no processor works.
    pub sync_us: f64,
    /// Microseconds of processor time that a client needs for an event.
    pub client_us: f64,
    /// Seconds that a start takes.
    pub start_s: f64,
    /// Share of the time that its clients' threads wait for a processor.
    pub lag: f64,
    /// Share of its memory that its host has taken away where nobody fetched it for some seconds.
    pub away: f64,
    /// Microseconds that an event would take longer if all of it were away when its round begins.
    pub away_us: f64,
    /// Seconds of the run after which it answers nobody any more; 0: never.
    pub dies_s: f64,
    /// Another seed, other noise.
    pub seed: f64,
}

/// A word, what it sets, and the bounds of its value.
type Word = (&'static str, fn(&mut MockModel) -> &mut f64, f64, f64);

const MOST: f64 = 1e9;

const WORDS: [Word; 28] = [
    ("rate", |model| &mut model.rate, 0.001, MOST),
    ("sigma", |model| &mut model.sigma, 0.0, 1.0),
    ("kappa", |model| &mut model.kappa, 0.0, 1.0),
    ("noise", |model| &mut model.noise, 0.0, 1.0),
    ("restarts", |model| &mut model.restarts, 0.0, 1.0),
    ("fillings", |model| &mut model.fillings, 0.0, 1.0),
    ("host", |model| &mut model.host, 0.0, 1.0),
    ("ar", |model| &mut model.ar, 0.0, 0.999),
    ("drift", |model| &mut model.drift, -1.0, 1.0),
    ("spikes", |model| &mut model.spikes, 0.0, 1.0),
    ("spike", |model| &mut model.spike, 0.0, 0.99),
    ("steal", |model| &mut model.steal, 0.0, 1.0),
    ("stolen", |model| &mut model.stolen, 0.0, 0.9),
    ("stall_s", |model| &mut model.stall_s, 0.0, 3600.0),
    ("stalls", |model| &mut model.stalls, 0.0, 1.0),
    ("jitter", |model| &mut model.jitter, 0.0, 2.0),
    ("cold", |model| &mut model.cold, 0.0, 0.99),
    ("warm_s", |model| &mut model.warm_s, 0.001, 3600.0),
    ("cpu_us", |model| &mut model.cpu_us, 0.0, MOST),
    ("row_us", |model| &mut model.row_us, 0.0, MOST),
    ("sync_us", |model| &mut model.sync_us, 0.0, MOST),
    ("client_us", |model| &mut model.client_us, 0.0, MOST),
    ("start_s", |model| &mut model.start_s, 0.0, 3600.0),
    ("lag", |model| &mut model.lag, 0.0, 1.0),
    ("away", |model| &mut model.away, 0.0, 1.0),
    ("away_us", |model| &mut model.away_us, 0.0, MOST),
    ("dies_s", |model| &mut model.dies_s, 0.0, MOST),
    ("seed", |model| &mut model.seed, 0.0, MOST),
];

impl Default for MockModel {
    fn default() -> MockModel {
        MockModel {
            rate: 1000.0,
            sigma: 0.0,
            kappa: 0.0,
            noise: 0.0,
            restarts: 0.0,
            fillings: 0.0,
            host: 0.0,
            ar: 0.0,
            drift: 0.0,
            spikes: 0.0,
            spike: 0.5,
            steal: 0.0,
            stolen: 0.3,
            stall_s: 0.0,
            stalls: 1.0,
            jitter: 0.0,
            cold: 0.0,
            warm_s: 1.0,
            cpu_us: 50.0,
            row_us: 0.0,
            sync_us: 0.0,
            client_us: 10.0,
            start_s: 1.0,
            lag: 0.0,
            away: 0.0,
            away_us: 1000.0,
            dies_s: 0.0,
            seed: 1.0,
        }
    }
}

impl MockModel {
    /// Reads words as they were written.
    ///
    /// # Errors
    /// A sentence: a word that there is not, one that is said twice, or a value out of its bounds.
    pub fn read(options: &[(String, String)]) -> Result<MockModel, String> {
        let mut model = MockModel::default();
        for (index, (name, value)) in options.iter().enumerate() {
            let Some((_, field, least, most)) = WORDS.iter().find(|(word, ..)| word == name) else {
                let known: Vec<&str> = WORDS.iter().map(|(word, ..)| *word).collect();
                return Err(format!("{name:?} is no word of it; known are {}", known.join(", ")));
            };
            if options[..index].iter().any(|(known, _)| known == name) {
                return Err(format!("{name} is set twice; leave one of them out"));
            }
            let number =
                value.parse::<f64>().ok().filter(|number| (*least..=*most).contains(number));
            *field(&mut model) = number
                .ok_or_else(|| format!("{name}={value}: give a number from {least} to {most}"))?;
        }
        Ok(model)
    }

    /// Events per second of each of so many clients.
    pub fn client_rate(&self, clients: u32) -> f64 {
        let others = f64::from(clients) - 1.0;
        self.rate / (1.0 + self.sigma * others + self.kappa * others * f64::from(clients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &[(&str, &str)]) -> Result<MockModel, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        MockModel::read(&words.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn words_set_what_they_name_and_wrong_ones_are_refused() {
        assert_eq!(read(&[]), Ok(MockModel::default()));
        let model = read(&[("rate", "250"), ("kappa", "0.01")]).unwrap();
        assert_eq!((model.rate, model.kappa, model.noise), (250.0, 0.01, 0.0));
        for (words, said) in [
            (&[("noise", "2")][..], "from 0 to 1"),
            (&[("noise", "x")], "give a number"),
            (&[("nois", "0.1")], "no word of it"),
            (&[("ar", "0.1"), ("ar", "0.2")], "twice"),
        ] {
            assert!(read(words).unwrap_err().contains(said), "{words:?}");
        }
    }

    #[test]
    fn clients_share_by_the_universal_scalability_law() {
        let model = MockModel { sigma: 0.1, kappa: 0.01, ..MockModel::default() };
        assert_eq!(model.client_rate(1), 1000.0);
        let of_eight = 8.0 * model.client_rate(8);
        assert!((of_eight - 8000.0 / (1.0 + 0.1 * 7.0 + 0.01 * 56.0)).abs() < 1e-9);
    }
}
