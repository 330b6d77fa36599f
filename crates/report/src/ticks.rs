//! Which values of an axis have room for their labels.
//!
//! ```text
//!   1     2     4     8 10 12 16       wide: 10 and 12 are left out, the ends stay
//!   1           4           16         narrow: letters are larger beside the drawing
//! ```
//!
//! A drawing has one size whatever the width that it is shown at, and its letters grow on narrow
//! screens by the style sheet, so that both are asked here.

/// About the width of a letter of the widest usual font, in its height.
const LETTER_WIDTH: f64 = 0.66;
/// What stays free between two labels, in the height of a letter.
const GAP: f64 = 0.5;

/// How high letters are, in units of the drawing.
#[derive(Clone, Copy)]
pub(crate) struct LetterHeights {
    pub(crate) wide: f64,
    pub(crate) narrow: f64,
}

/// Where labels stand beside each other.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// In a line, centred.
    Across,
    /// Below each other.
    Up,
}

/// The labels that have room, in their order, each with its class: `fine` for one that has none
/// where letters are large. Labels that say 1 come first, then the ends.
pub(crate) fn labels_with_room(
    labels: &[(f64, String)],
    heights: LetterHeights,
    direction: Direction,
) -> Vec<(f64, &str, &'static str)> {
    let wide = have_room(labels, heights.wide, direction);
    // What has no room on a wide screen has none on a narrow one.
    let left: Vec<(f64, &str)> = (0..labels.len())
        .filter(|at| wide.contains(at))
        .map(|at| (labels[at].0, labels[at].1.as_str()))
        .collect();
    let narrow = have_room(&left, heights.narrow, direction);
    left.into_iter()
        .enumerate()
        .map(|(at, (place, text))| (place, text, if narrow.contains(&at) { "" } else { "fine" }))
        .collect()
}

/// The numbers of those that do not stand upon another one.
fn have_room<T: AsRef<str>>(labels: &[(f64, T)], height: f64, direction: Direction) -> Vec<usize> {
    let ones = (0..labels.len()).filter(|&at| labels[at].1.as_ref() == "1");
    let ends = labels.len().checked_sub(1).into_iter().chain([0]);
    let mut taken: Vec<usize> = Vec::new();
    for at in ones.chain(ends).chain(0..labels.len()) {
        let Some((place, text)) = labels.get(at) else { break };
        let own = half_size(text.as_ref(), height, direction);
        if taken.iter().map(|other| &labels[*other]).all(|(other, said)| {
            (place - other).abs() >= own + half_size(said.as_ref(), height, direction)
        }) {
            taken.push(at);
        }
    }
    taken
}

/// What a label takes to either side of its middle.
fn half_size(text: &str, height: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Across => (text.chars().count() as f64 * LETTER_WIDTH + GAP) * height / 2.0,
        Direction::Up => (1.0 + GAP / 2.0) * height / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Client counts on a logarithmic axis of so many units.
    fn counts(all: &[u32], length: f64) -> Vec<(f64, String)> {
        let last = f64::from(*all.last().expect("there is a count")).ln();
        all.iter()
            .map(|count| (f64::from(*count).ln() / last * length, count.to_string()))
            .collect()
    }

    const HEIGHTS: LetterHeights = LetterHeights { wide: 13.0, narrow: 20.0 };

    #[test]
    fn labels_that_have_room_do_not_overlap_and_have_1_and_the_ends() {
        for most in [2, 12, 64, 1024] {
            let counts = counts(&(1..=most).collect::<Vec<u32>>(), 550.0);
            let shown = labels_with_room(&counts, HEIGHTS, Direction::Across);
            assert!(shown.len() >= 2, "{most}");
            assert_eq!((shown[0].1, shown[0].2), ("1", ""), "{most}");
            assert_eq!(shown.last().map(|last| last.1), Some(most.to_string().as_str()));
            for (class, height) in [("fine", HEIGHTS.wide), ("", HEIGHTS.narrow)] {
                let seen: Vec<_> = shown.iter().filter(|one| one.2 <= class).collect();
                for two in seen.windows(2) {
                    let letters = (two[0].1.len() + two[1].1.len()) as f64 / 2.0;
                    assert!(two[1].0 - two[0].0 > 0.64 * letters * height, "{most}: {two:?}");
                }
            }
        }
    }

    #[test]
    fn a_single_label_and_none_have_room() {
        assert_eq!(labels_with_room(&[], HEIGHTS, Direction::Up), []);
        let one = [(3.0, "7".to_owned())];
        assert_eq!(labels_with_room(&one, HEIGHTS, Direction::Up), [(3.0, "7", "")]);
    }
}
