//! How often each question is asked: as often as its cost allows.
//!
//! A question whose answer takes the server 5 ms is asked each second; one that takes 200 ms, each
//! 40 s. An answer that was late once, as the first on a cold cache is, is no dear question: the
//! cheaper one of the last two counts, and a late one is left alone for ten times as long as it
//! took. A busy server may take longer for one than an idle one (`sys.innodb_lock_waits` took 232 s
//! for a user of dolphie), so that the cost is what it was lately.

/// A question takes at most this share of one processor of the server, if its answer is all work.
const SHARE_MOST: f64 = 0.005;
/// The same of an answer that was late and may have been so by chance.
const SHARE_ONCE: f64 = 0.1;

/// How often the questions of one server are asked.
#[derive(Debug)]
pub(crate) struct QuestionPace {
    every_ns: u64,
    questions: Vec<AskedQuestion>,
}

#[derive(Clone, Copy, Debug, Default)]
struct AskedQuestion {
    /// When it may be asked again.
    due_ns: u64,
    /// How long it is left alone after it was asked.
    rest_ns: u64,
    /// How long the latest answer took; nothing before the first.
    cost_ns: u64,
}

impl QuestionPace {
    /// So many questions, each at most once in this time.
    pub(crate) fn new(questions: usize, every_ns: u64) -> QuestionPace {
        QuestionPace { every_ns, questions: vec![AskedQuestion::default(); questions] }
    }

    /// Whether a question may be asked now.
    pub(crate) fn is_due(&self, question: usize, now_ns: u64) -> bool {
        self.questions[question].due_ns <= now_ns
    }

    /// Notes how long an answer took.
    pub(crate) fn note_answer(&mut self, question: usize, began_ns: u64, ended_ns: u64) {
        let cost_ns = ended_ns.saturating_sub(began_ns);
        let asked = &mut self.questions[question];
        let usual_ns = cost_ns.min(asked.cost_ns) as f64 / SHARE_MOST;
        let rest_ns = usual_ns.max(cost_ns as f64 / SHARE_ONCE) as u64;
        // Half a beat less: a second that comes a little early is the same second.
        let rest_ns = rest_ns.max(self.every_ns).saturating_sub(self.every_ns / 2);
        let due_ns = began_ns.saturating_add(rest_ns);
        *asked = AskedQuestion { due_ns, rest_ns, cost_ns };
    }

    /// The questions that are asked less often than each time, and after how many seconds.
    pub(crate) fn rare_questions(&self) -> Vec<(usize, f64)> {
        let rare = self.questions.iter().enumerate();
        let rare = rare.filter(|(_, asked)| asked.rest_ns > self.every_ns);
        rare.map(|(question, asked)| (question, asked.rest_ns as f64 / 1e9)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const SECOND: u64 = 1_000 * MS;

    /// How often a question is asked in a minute of looks each second that takes so long.
    fn asked_in_a_minute(cost_ns: u64) -> usize {
        let mut pace = QuestionPace::new(1, SECOND);
        let mut asked = 0;
        for second in 0..60 {
            let now_ns = second * SECOND;
            if pace.is_due(0, now_ns) {
                asked += 1;
                pace.note_answer(0, now_ns, now_ns + cost_ns);
            }
        }
        asked
    }

    #[test]
    fn what_costs_little_is_asked_each_time_and_what_costs_much_is_not() {
        assert_eq!(asked_in_a_minute(MS), 60);
        assert_eq!(asked_in_a_minute(5 * MS), 60);
        assert_eq!(asked_in_a_minute(100 * MS), 4, "once more, then each 20 s");
        assert_eq!(asked_in_a_minute(2 * SECOND), 2);
    }

    #[test]
    fn a_question_that_was_dear_once_comes_back() {
        let mut pace = QuestionPace::new(2, SECOND);
        pace.note_answer(1, 0, 50 * MS);
        assert!(pace.rare_questions().is_empty() && pace.is_due(1, SECOND), "late once");
        pace.note_answer(1, SECOND, SECOND + 50 * MS);
        assert_eq!(pace.rare_questions(), [(1, 9.5)]);
        assert!(pace.is_due(0, 2 * SECOND) && !pace.is_due(1, 2 * SECOND));
        assert!(pace.is_due(1, 11 * SECOND));
        pace.note_answer(1, 11 * SECOND, 11 * SECOND + MS);
        assert!(pace.rare_questions().is_empty() && pace.is_due(1, 12 * SECOND));
    }

    /// As `sys.innodb_lock_waits` did: it is not asked again at once, although it was so once only.
    #[test]
    fn an_answer_that_took_minutes_is_left_alone_for_longer() {
        let mut pace = QuestionPace::new(1, SECOND);
        pace.note_answer(0, 0, 232 * SECOND);
        assert!(!pace.is_due(0, 2_300 * SECOND) && pace.is_due(0, 2_320 * SECOND));
    }
}
