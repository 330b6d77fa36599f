//! Several questions about one object, answered together.
//!
//! A curve is asked five questions, and in one of them chance speaks five times as often as in one
//! alone. *Slower* and *faster* are given by Holm's step-down rule ("A simple sequentially
//! rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979): where nothing
//! changed, any of them is said in no more than a share [`DECISION_ALPHA`] of all families, however
//! the questions hang together. *Equal* needs an interval within the budget that holds for all
//! questions at once with 95 % confidence (Bonferroni).

use dbdyno_model::Verdict;

use crate::confidence::{DECISION_ALPHA, SHOWN_CONFIDENCE};

/// One of the questions of a family.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    /// Logarithm of test ÷ base, positive where the test arm is the better one.
    pub better: f64,
    /// Two-sided p-value of "nothing changed"; 1 where that cannot be asked.
    pub p_value: f64,
    /// The interval of `better` at [`simultaneous_confidence`] confidence.
    pub low: f64,
    pub high: f64,
}

/// The confidence of one interval of a family in which all hold with 95 %.
pub(crate) fn simultaneous_confidence(questions: usize) -> f64 {
    1.0 - (1.0 - SHOWN_CONFIDENCE) / questions as f64
}

/// The verdicts of a family of `questions`, of which some may not have been asked. *Equal* is the
/// rule of `decision::interval_verdict`, which has to agree with this one.
pub(crate) fn family_verdicts(
    asked: &[Question],
    questions: usize,
    budget_log: f64,
) -> Vec<Verdict> {
    let mut order: Vec<usize> = (0..asked.len()).collect();
    order.sort_by(|&a, &b| asked[a].p_value.total_cmp(&asked[b].p_value));
    let mut is_change = vec![false; asked.len()];
    for (rank, &index) in order.iter().enumerate() {
        let share = DECISION_ALPHA / (questions.max(asked.len()) - rank) as f64;
        if asked[index].p_value >= share {
            break;
        }
        is_change[index] = true;
    }
    let verdict = |(question, is_change): (&Question, bool)| {
        if question.low >= -budget_log && question.high <= budget_log {
            Verdict::Equal
        } else if !is_change {
            Verdict::Undecided
        } else if question.better < 0.0 {
            Verdict::Slower
        } else {
            Verdict::Faster
        }
    };
    asked.iter().zip(is_change).map(verdict).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_down_rule_gives_each_question_its_share() {
        let question =
            |p_value: f64, better: f64| Question { better, p_value, low: -1.0, high: 1.0 };
        let told = |p_values: [f64; 3]| {
            family_verdicts(&p_values.map(|p| question(p, -0.1)), 3, 0.02)
                .iter()
                .filter(|verdict| **verdict == Verdict::Slower)
                .count()
        };
        assert_eq!(told([0.0033, 0.0049, 0.0099]), 3);
        assert_eq!(told([0.0034, 0.0001, 0.0101]), 2, "0.0034 of 0.005, 0.0101 of 0.01");
        assert_eq!(told([0.0034, 0.0035, 0.0036]), 0, "the first step fails");
        assert_eq!(family_verdicts(&[question(0.0033, 0.1)], 3, 0.02), [Verdict::Faster]);
        assert_eq!(family_verdicts(&[question(0.0034, 0.1)], 3, 0.02), [Verdict::Undecided]);
    }

    #[test]
    fn equal_is_proved_within_the_budget() {
        let question = Question { better: 0.01, p_value: 1e-9, low: 0.005, high: 0.015 };
        assert_eq!(family_verdicts(&[question], 1, 0.02), [Verdict::Equal]);
        assert_eq!(family_verdicts(&[question], 1, 0.012), [Verdict::Faster]);
    }
}
