//! Names and columns that state which direction is good: `score (lower is better)`, `score ↓`.
//!
//! ```text
//!   score (lower is better)   moins c'est mieux   weniger ist besser   越低越好        lower
//!   cost, higher is worse                                                           lower
//!   score ↑                                                                         higher
//! ```
//!
//! Such words are what the owner of a file says about the figure, and outweigh what it is called.
//! Before the word that judges stands one that compares, with nothing but small words between them.
//!
//! A column says it of the figures of its row:
//!
//! ```text
//!   {"metric": "score", "value": 99.5, "direction": "lower_is_better"}    Nyrkiö
//!   {"score": 99.5, "lowerIsBetter": true}                                Perfherder
//! ```

use dbdyno_model::Better;

use super::table::{BIGGER, SMALLER, Table, is_blank};
use super::words::name_words;

/// `better` and `worse`, in the languages of the other lists.
const BETTER: [&str; 10] = [
    "better",
    "besser",
    "mieux",
    "meilleur",
    "meilleure",
    "mejor",
    "melhor",
    "meglio",
    "migliore",
    "лучше",
];
const WORSE: [&str; 7] = ["worse", "schlechter", "pire", "peor", "pior", "peggio", "хуже"];
/// Words that compare downwards.
const DOWN: [&str; 37] = [
    "lower",
    "low",
    "smaller",
    "less",
    "fewer",
    "shorter",
    "niedriger",
    "niedrigere",
    "kleiner",
    "kleinere",
    "weniger",
    "geringer",
    "kürzer",
    "tiefer",
    "moins",
    "petit",
    "petite",
    "bas",
    "basse",
    "faible",
    "court",
    "menor",
    "menos",
    "bajo",
    "baja",
    "pequeño",
    "baixo",
    "minore",
    "meno",
    "basso",
    "меньше",
    "ниже",
    "lowest",
    "smallest",
    "least",
    "down",
    "fewest",
];
/// Words that compare upwards.
const UP: [&str; 32] = [
    "higher",
    "high",
    "bigger",
    "larger",
    "greater",
    "more",
    "longer",
    "höher",
    "höhere",
    "hoeher",
    "größer",
    "grösser",
    "groesser",
    "mehr",
    "länger",
    "plus",
    "haut",
    "haute",
    "grand",
    "grande",
    "élevé",
    "mayor",
    "más",
    "alto",
    "alta",
    "maior",
    "mais",
    "maggiore",
    "больше",
    "выше",
    "highest",
    "up",
];
/// What may stand between a word that compares and one that judges.
const BETWEEN: [&str; 15] = [
    "is", "are", "the", "means", "ist", "sind", "desto", "umso", "est", "c", "le", "es", "é", "è",
    "values",
];
/// Letters of languages without blanks.
const UNPARTED: [(&str, Better); 8] = [
    ("越低越好", Better::Lower),
    ("越小越好", Better::Lower),
    ("越少越好", Better::Lower),
    ("越高越好", Better::Higher),
    ("越大越好", Better::Higher),
    ("越多越好", Better::Higher),
    ("低いほど良い", Better::Lower),
    ("高いほど良い", Better::Higher),
];
const ARROWS_DOWN: [char; 4] = ['↓', '⬇', '⇓', '↘'];
const ARROWS_UP: [char; 4] = ['↑', '⬆', '⇑', '↗'];
/// Of traffic an arrow says which way it goes.
const TRAFFIC: [&str; 9] =
    ["download", "upload", "rx", "tx", "net", "network", "traffic", "in", "out"];

/// How the names of columns end that say which direction is good.
const COLUMNS: [&str; 12] = [
    "better",
    "direction",
    "improvement",
    "goal",
    "objective",
    "optimize",
    "optimise",
    "optimum",
    "polarity",
    "preference",
    "preferred",
    "sense",
];
/// What such a column says beside the words that compare.
const LOWER_WORDS: [&str; 11] = [
    "min",
    "minimize",
    "minimise",
    "minimum",
    "decrease",
    "decreasing",
    "descending",
    "desc",
    "-1",
    "negative",
    "↓",
];
const HIGHER_WORDS: [&str; 12] = [
    "max",
    "maximize",
    "maximise",
    "maximum",
    "increase",
    "increasing",
    "ascending",
    "asc",
    "1",
    "+1",
    "positive",
    "↑",
];
/// What is a way to go as well, and states nothing under a name such as `direction`.
const WAYS: [&str; 8] = ["up", "down", "↑", "↓", "asc", "desc", "ascending", "descending"];
const YES: [&str; 4] = ["true", "yes", "y", "1"];
const NO: [&str; 4] = ["false", "no", "n", "0"];

/// Finds the column that states the direction of its row's figures, where no form knows one, and
/// makes its cells the words of an owner.
pub(super) fn take_column(table: &mut Table<'_>) {
    if table.better.is_some() {
        return;
    }
    let found = (0..table.header.len()).find_map(|column| Some((column, says(table, column)?)));
    let Some((column, says)) = found else { return };
    for (row, better) in table.rows.iter_mut().zip(says) {
        row.cells[column] = match better {
            Some(Better::Lower) => SMALLER.to_owned(),
            Some(Better::Higher) => BIGGER.to_owned(),
            None => String::new(),
        };
    }
    table.better = Some(column);
}

/// What each row says in this column; `None` where one says something else.
fn says(table: &Table<'_>, column: usize) -> Option<Vec<Option<Better>>> {
    let head = name_words(&table.header[column]);
    let is_named = head.last().is_some_and(|last| COLUMNS.contains(&last.as_str()));
    let is_any_way = !head.iter().any(|word| ["better", "improvement"].contains(&word.as_str()));
    // `lowerIsBetter`, and not `score (lower is better)`, which is the figure.
    let of_yes = stated_direction(&table.header[column]).filter(|_| {
        let lists: [&[&str]; 5] = [&BETTER, &WORSE, &DOWN, &UP, &BETWEEN];
        head.iter().all(|word| lists.iter().any(|list| list.contains(&word.as_str())))
    });
    let mut told = Vec::with_capacity(table.rows.len());
    for cell in table.cells(column) {
        let cell = cell.to_lowercase();
        let better = match of_yes {
            Some(better) if YES.contains(&cell.as_str()) => Some(better),
            Some(better) if NO.contains(&cell.as_str()) => Some(better.opposite()),
            // Traffic goes up and down, too, and rows are read in either order.
            None if is_named && !(is_any_way && WAYS.contains(&cell.as_str())) => of_word(&cell),
            _ => None,
        };
        if better.is_none() && !is_blank(&cell) {
            return None;
        }
        told.push(better);
    }
    told.iter().any(Option::is_some).then_some(told)
}

fn of_word(cell: &str) -> Option<Better> {
    if LOWER_WORDS.contains(&cell) || DOWN.contains(&cell) {
        return Some(Better::Lower);
    }
    let is_higher = HIGHER_WORDS.contains(&cell) || UP.contains(&cell);
    if is_higher { Some(Better::Higher) } else { stated_direction(cell) }
}

/// The direction that a name states; `None` where it states none, or both.
pub(super) fn stated_direction(name: &str) -> Option<Better> {
    let words = name_words(name);
    let mut stated: Vec<Better> =
        (0..words.len()).filter_map(|at| judged_before(&words, at)).collect();
    stated.extend(UNPARTED.iter().filter(|(text, _)| name.contains(text)).map(|(_, it)| *it));
    let is_traffic = words.iter().any(|word| TRAFFIC.contains(&word.as_str()));
    if stated.is_empty() && !is_traffic {
        if name.contains(ARROWS_DOWN) {
            stated.push(Better::Lower);
        }
        if name.contains(ARROWS_UP) {
            stated.push(Better::Higher);
        }
    }
    let first = *stated.first()?;
    stated.iter().all(|other| *other == first).then_some(first)
}

/// What the word at this place judges of the one that compares before it, or right behind it:
/// `better: lower`.
fn judged_before(words: &[String], at: usize) -> Option<Better> {
    let is_better = BETTER.contains(&words[at].as_str());
    if !is_better && !WORSE.contains(&words[at].as_str()) {
        return None;
    }
    let before = words[..at].iter().rev().find(|word| !BETWEEN.contains(&word.as_str()));
    let mut comparing = before.into_iter().chain(words.get(at + 1));
    let is_down = comparing.find_map(|word| {
        let is_down = DOWN.contains(&word.as_str());
        (is_down || UP.contains(&word.as_str())).then_some(is_down)
    })?;
    Some(if is_down == is_better { Better::Lower } else { Better::Higher })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_states_its_direction_says_it() {
        for name in [
            "score (lower is better)",
            "score ↓",
            "Score, smaller is better",
            "lower_is_better_score",
            "LowerIsBetter",
            "tps - the lower the better",
            "score (less=better)",
            "score (higher is worse)",
            "Punkte (weniger ist besser)",
            "Punkte (kleiner ist besser)",
            "score (plus petit est mieux)",
            "score (moins c'est mieux)",
            "puntos (menor es mejor)",
            "очки (меньше лучше)",
            "得分 越低越好",
            "score [better: lower]",
        ] {
            assert_eq!(stated_direction(name), Some(Better::Lower), "{name}");
        }
        for name in [
            "latency (higher is better)",
            "cost ↑",
            "errors, bigger is better",
            "Punkte (höher ist besser)",
            "score (plus c'est élevé, mieux c'est)",
            "score (plus haut est mieux)",
            "score (lower is worse)",
            "puntos (mayor es mejor)",
        ] {
            assert_eq!(stated_direction(name), Some(Better::Higher), "{name}");
        }
        for name in [
            "score",
            "score ↑↓",
            "download ↓",
            "lower bound",
            "lower is not better",
            "lower is better, higher is better",
            "better",
        ] {
            assert_eq!(stated_direction(name), None, "{name}");
        }
    }
}
