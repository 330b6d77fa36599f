//! Many cells: how many of those that are called slower or faster are so by chance?
//!
//! ```text
//!   p of the cells, sorted    p₁ ≤ p₂ ≤ … ≤ pₙ
//!   Benjamini–Hochberg        q₍ᵢ₎ = min over j ≥ i of  pⱼ · n/j          q ≤ 5 %: told
//! ```
//!
//! A table of 40 cells in which nothing changed shows a cell beyond its 99 % interval in one run of
//! three. The false-discovery rate is the share of such cells among all that are told, expected
//! over runs; telling only cells with `q ≤` [`FALSE_DISCOVERIES`] keeps it there (Benjamini and
//! Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995). A cell must pass its own
//! level as well: p ≤ 1 %, as for a single one. So up to five cells nothing changes, and of many
//! each needs the more proof the fewer others show something.
//!
//! Why not Yekutieli's, which holds however the cells hang together (Benjamini and Yekutieli,
//! Annals of Statistics 29, 2001)? Cells of a run share their host, their servers and their tables;
//! what they share moves them the same way, and under such positive dependence Hochberg's rule
//! holds as it is (same paper, theorem 1.2). Yekutieli's asks 4 times the proof in a table of 40
//! cells. The simulation `a_table_is_wrong_as_rarely_as_it_says` has cells that share two thirds of
//! their noise.

/// Of the cells of a table that are told to be slower or faster, at most this share is wrong.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// The q-values of Benjamini and Hochberg, in the order of `p_values`: the smallest share of false
/// ones at which each is still told.
///
/// Assumes p-values that are uniform, or larger, where nothing changed, and independent of each
/// other or positively dependent.
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[b].total_cmp(&p_values[a]));
    let mut q_values = vec![1.0; p_values.len()];
    let mut smallest = 1.0f64;
    for (from_the_end, &at) in order.iter().enumerate() {
        let rank = (p_values.len() - from_the_end) as f64;
        smallest = smallest.min(p_values[at] * p_values.len() as f64 / rank);
        q_values[at] = smallest;
    }
    q_values
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.false_discovery_control(p, method=…)`, SciPy 1.17.
    #[test]
    fn q_values_agree_with_scipy() {
        let p = [0.041, 0.0004, 0.039, 0.74, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344];
        for (ours, truth) in benjamini_hochberg(&p).iter().zip(BH) {
            assert!((ours - truth).abs() < 1e-12, "{ours}, not {truth}");
        }
    }

    const BH: [f64; 10] = [
        0.04555555555555556,
        0.004,
        0.04555555555555556,
        0.74,
        0.0095,
        0.03166666666666667,
        0.04555555555555556,
        0.04555555555555556,
        0.04555555555555556,
        0.04555555555555556,
    ];
    #[test]
    fn one_cell_is_judged_as_if_there_were_no_family() {
        assert_eq!(benjamini_hochberg(&[0.0099]), [0.0099]);
        assert!(benjamini_hochberg(&[]).is_empty());
    }

    #[test]
    fn up_to_five_cells_the_level_of_the_cell_is_the_stricter_one() {
        let q = benjamini_hochberg(&[0.0099, 0.9, 0.8, 0.7, 0.6]);
        assert!(q[0] <= FALSE_DISCOVERIES);
        let q = benjamini_hochberg(&[0.0099, 0.9, 0.8, 0.7, 0.6, 0.5]);
        assert!(q[0] > FALSE_DISCOVERIES, "the sixth cell makes one of them too likely");
    }
}
