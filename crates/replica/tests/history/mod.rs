//! Histories of transactions: keys that are drawn evenly, or as Pareto has it.

use dbdyno_model::random::{RandomStream, mix_bits, stream};
use dbdyno_replica::RowKey;

/// How keys are drawn. Not every bench draws them in both ways.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Keys {
    /// All alike.
    Uniform(u64),
    /// As sysbench's `--rand-type=pareto` with `h = 0.2`: one of five goes to the first key of
    /// 100,000.
    Pareto(u64),
}

impl Keys {
    fn draw(self, random: &mut RandomStream) -> u64 {
        match self {
            Keys::Uniform(keys) => random.next_below(keys),
            Keys::Pareto(keys) => {
                let power = 0.2_f64.ln() / (1.0_f64 - 0.2).ln();
                let uniform = random.next_u64() as f64 / 2.0_f64.powi(64);
                (keys as f64 * uniform.powf(power)) as u64
            }
        }
    }
}

/// What transaction `number` writes: so many rows.
pub(crate) fn rows(keys: Keys, seed: u64, number: u64, many: usize, into: &mut Vec<RowKey>) {
    let mut random = stream(&[seed, number]);
    into.clear();
    into.extend((0..many).map(|_| RowKey(mix_bits(keys.draw(&mut random)))));
}
