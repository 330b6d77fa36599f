//! Variants that are measured in turn, so that a drift of the host meets all of them alike.

/// What was written behind the name of the benchmark.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args().skip(1).filter(|argument| argument != "--bench").collect()
}

/// The number at a place among them.
pub(crate) fn number(arguments: &[String], place: usize, default: u64) -> u64 {
    arguments.get(place).map_or(default, |text| text.parse().expect("a number"))
}

/// What was measured of each variant, by its number; every other round begins with the last one.
pub(crate) fn in_turn<T>(
    variants: usize,
    rounds: u64,
    mut measure: impl FnMut(usize) -> T,
) -> Vec<Vec<T>> {
    let mut seen: Vec<Vec<T>> = (0..variants).map(|_| Vec::new()).collect();
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..variants).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for variant in order {
            seen[variant].push(measure(variant));
        }
    }
    seen
}
