//! Versions and numbers of builds, as orders.
//!
//! ```text
//!   5.7.9 < 5.7.10          part by part, as numbers
//!   8.0.0-rc1 < 8.0.0       what comes before a release
//!   v1.9 · mysql-8.0.36     the same word before all of them, or none
//!   #101 · build-101        one number
//! ```

/// A version that can be put in order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    parts: Vec<u64>,
    /// How far from the release, which has the last step, and the number there.
    step: (usize, u64),
}

/// What comes before a release, in this order.
const STEPS: [&str; 9] = ["dev", "m", "dmr", "a", "alpha", "b", "beta", "pre", "rc"];

/// The ranks of versions, the oldest first; equal versions have one rank. `None` where one cell is
/// no version, or where they are of several products.
pub(super) fn version_ranks(cells: &[&str]) -> Option<Vec<i64>> {
    let parsed: Vec<(&str, Version, &str)> =
        cells.iter().map(|cell| parse(cell)).collect::<Option<_>>()?;
    let (product, _, build) = parsed.first()?;
    let is_one = parsed.iter().all(|(other, _, of)| other == product && of == build);
    let has_parts = parsed.iter().any(|(_, version, _)| version.parts.len() > 1);
    (is_one && has_parts).then(|| ranked(parsed.iter().map(|(_, version, _)| version.clone())))
}

/// The ranks of whole numbers behind one word: `#101`, `build-102`.
pub(super) fn of_numbers(cells: &[&str]) -> Option<Vec<i64>> {
    let split = |cell: &&str| -> Option<(String, i64)> {
        let word = cell.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = cell[word.len()..].parse().ok()?;
        let is_word = !word.contains(|c: char| c.is_ascii_digit() || ['.', ',', '+'].contains(&c));
        (is_word && word != "-").then(|| (word.trim().to_ascii_lowercase(), number))
    };
    let parsed: Vec<(String, i64)> = cells.iter().map(split).collect::<Option<_>>()?;
    let (word, _) = parsed.first()?;
    let is_one = parsed.iter().all(|(other, _)| other == word);
    is_one.then(|| parsed.iter().map(|(_, number)| *number).collect())
}

fn ranked(versions: impl Iterator<Item = Version> + Clone) -> Vec<i64> {
    let mut known: Vec<Version> = versions.clone().collect();
    known.sort();
    known.dedup();
    versions.map(|version| known.partition_point(|one| *one < version) as i64).collect()
}

/// The word before a version, the version, and what stands behind it that is no step to a release.
fn parse(cell: &str) -> Option<(&str, Version, &str)> {
    let from = cell.find(|c: char| c.is_ascii_digit())?;
    let word = cell[..from].trim_end_matches([' ', '-', '_', ':']);
    if word.contains(|c: char| !c.is_ascii_alphabetic() && ![' ', '-', '_'].contains(&c)) {
        return None;
    }
    let rest = &cell[from..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    let parts = rest[..end].trim_end_matches('.').split('.').map(|part| part.parse().ok());
    let mut parts = parts.collect::<Option<Vec<u64>>>()?;
    // 8.0 and 8.0.0 are one.
    while parts.len() > 1 && parts.last() == Some(&0) {
        parts.pop();
    }
    if rest[..end].contains('.') && parts.len() == 1 {
        parts.push(0);
    }
    let behind = rest[end..].trim_start_matches(['-', '_', '~', ' ', '.']);
    let letters = behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(behind.len());
    let name = behind[..letters].to_ascii_lowercase();
    let Some(step) = STEPS.iter().position(|step| *step == name) else {
        return Some((word, Version { parts, step: (STEPS.len(), 0) }, behind));
    };
    let number = behind[letters..].trim_start_matches(['.', '-']);
    let number = if number.is_empty() { 0 } else { number.parse().ok()? };
    Some((word, Version { parts, step: (step, number) }, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_the_order_of_their_parts() {
        for (cells, expected) in [
            (vec!["5.7.10", "5.7.9", "5.7.44", "8.0.1"], Some(vec![1, 0, 2, 3])),
            (vec!["10.11", "10.9", "11.4"], Some(vec![1, 0, 2])),
            (vec!["v1.0-rc2", "v1.0", "v1.0-beta1", "v1.0-rc10"], Some(vec![1, 3, 0, 2])),
            (vec!["mysql-8.0.36", "mysql-8.0.9"], Some(vec![1, 0])),
            (vec!["8.0.36-log", "8.0.4-log"], Some(vec![1, 0])),
            (vec!["PostgreSQL 16.2", "PostgreSQL 9.6"], Some(vec![1, 0])),
            (vec!["8.0", "8.0.0", "8.0.1"], Some(vec![0, 0, 1])),
            (vec!["mysql-8.0", "mariadb-10.11"], None),
            (vec!["8.0.36-log", "8.0.4"], None),
            (vec!["8.0", "nightly"], None),
            (vec!["a1b2c3", "d4e5f6"], None),
            (vec!["1", "2"], None),
        ] {
            assert_eq!(version_ranks(&cells), expected, "{cells:?}");
        }
        assert_eq!(of_numbers(&["#9", "#101"]), Some(vec![9, 101]));
        assert_eq!(of_numbers(&["Build 9", "build 10"]), Some(vec![9, 10]));
        for cells in [["9.5", "10"], ["a1", "b2"], ["a", "b"], ["2024-01", "2024-02"]] {
            assert_eq!(of_numbers(&cells), None, "{cells:?}");
        }
    }
}
