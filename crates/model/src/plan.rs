//! What is to be measured, and in which order.
//!
//! The order is part of the answer. Rounds come in pairs, one of each arm, and each pair is turned
//! one way or the other by the seed, on data loaded once per arm:
//!
//! ```text
//!   pair 0   base test
//!   pair 1   test base
//!   pair 2   test base
//!   pair 3   base test     …
//! ```
//!
//! What the host does is then as likely to favour the one arm as the other, in each pair anew and
//! whatever it does: drift, a rhythm, a memory from round to round. Given the host, the log-ratios
//! of the pairs have independent signs, and that is all that a test of their mean needs (Fisher,
//! "The Design of Experiments", 1935). Blocks `base test test base`, turned as a whole, cancel a
//! linear drift exactly, but where rounds remember those before, the two pairs of a block err in
//! the same direction: 1.4 % false alarms instead of 1 % (`docs/CALIBRATION.md`).

use std::collections::BTreeSet;
use std::fmt;

use crate::arm::PerArm;
use crate::arms::{ArmIndex, Arms, Pairing};
use crate::count::Counting;
use crate::driving::Driving;
use crate::idle::Idle;
use crate::keep_memory::KeepMemory;
use crate::method::IntervalChoice;
use crate::pin::Pin;
use crate::random;
use crate::stage::Stage;
use crate::stopping::Stopping;
use crate::target::ArmSpec;

/// More clients than this share threads, one for each processor; see `load::shards`. A thread each
/// costs least as long as the scheduler can hold them.
pub const THREADS_MAX: u32 = 256;

/// One load at one client count.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cell {
    /// Label of the load: its name, or its name and `.pre`.
    pub load: String,
    /// Number of concurrent clients.
    pub clients: u32,
}

impl Cell {
    /// The rounds of so many pairs, in the order in which they are measured: blocks of two arms.
    pub fn rounds(&self, seed: u64, pairs: u32) -> Vec<RoundKey> {
        let blocks = self.shuffled_blocks(seed, pairs, 2);
        let keys =
            blocks.iter().flat_map(|block| block.order.iter().map(|arm| block.key(self, *arm)));
        keys.collect()
    }

    /// The blocks of an experiment of so many arms. Each is shuffled by itself, so that each arm
    /// follows each other one equally often in the mean, and no pattern of the host can take sides.
    pub(crate) fn shuffled_blocks(&self, seed: u64, pairs: u32, arms: usize) -> Vec<Block> {
        let load = random::key_of(&self.load);
        (0..pairs)
            .map(|pair| {
                let key = [seed, load, u64::from(self.clients), u64::from(pair)];
                let mut order: Vec<ArmIndex> = ArmIndex::all(arms).collect();
                random::stream(&key).shuffle(&mut order);
                Block { pair, order }
            })
            .collect()
    }
}

/// `point-query at 4 clients`.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.clients == 1 { "client" } else { "clients" };
        write!(f, "{} at {} {plural}", self.load, self.clients)
    }
}

/// One round of each arm, all of which ask the same questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The pair that each of them makes with the round of base.
    pub pair: u32,
    /// Who is measured first, second, and so on.
    pub order: Vec<ArmIndex>,
}

impl Block {
    /// The key of the round of an arm.
    pub fn key(&self, cell: &Cell, arm: ArmIndex) -> RoundKey {
        RoundKey { cell: cell.clone(), pair: self.pair, arm }
    }

    /// The block of those that are left.
    pub fn of_those(mut self, takes_part: impl Fn(ArmIndex) -> bool) -> Block {
        self.order.retain(|arm| takes_part(*arm));
        self
    }
}

/// The place of a round in the plan.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RoundKey {
    /// Which load, how many clients.
    pub cell: Cell,
    /// Which pair of the cell; both rounds of a pair ask the same questions.
    pub pair: u32,
    /// Which arm.
    pub arm: ArmIndex,
}

/// A whole experiment: who is compared, and four parts that each have a usual value, so that a
/// plan is written down as what differs from it.
///
/// ```text
///   Plan ─┬─ arms       who is compared
///         ├─ question   what is asked of them: loads, clients, data
///         ├─ schedule   how often, for how long, between which starts
///         ├─ rule       by which rule the rounds are judged, and when that ends them
///         └─ quiet      what is done so that the host does not disturb
/// ```
///
/// What is one value has a row in [`TERMS`](crate::TERMS).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// What is compared: base, and one arm or more that are measured against it.
    pub arms: Arms<ArmSpec>,
    /// What is asked of each arm.
    pub question: Question,
    /// How often and for how long it is asked.
    pub schedule: RoundSchedule,
    /// By which rule the answer is judged.
    pub rule: JudgingRule,
    /// What keeps the host from disturbing.
    pub quiet: Quiet,
}

/// What is asked of each arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// What is done, in order. No label is measured twice.
    pub stages: Vec<Stage>,
    /// The custom loads that stages name.
    pub files: Vec<LoadFile>,
    /// Client counts, in order.
    pub clients: Vec<u32>,
    /// How clients are driven. In a search for the highest rate a *pair* is a search on each arm.
    pub driving: Driving,
    /// Number of tables.
    pub tables: u32,
    /// Rows in each table.
    pub rows: u64,
    /// Seed of the data, the questions and the order.
    pub seed: u64,
    /// Whether instructions per operation are counted, too.
    pub counting: Counting,
    /// What the user wants to remember of the run, on one line; nothing is done by it.
    pub note: String,
}

/// One client, and a table of a million rows.
impl Default for Question {
    fn default() -> Question {
        Question {
            stages: Vec::new(),
            files: Vec::new(),
            clients: vec![1],
            driving: Driving::Closed,
            tables: 1,
            rows: 1_000_000,
            seed: 1,
            counting: Counting::No,
            note: String::new(),
        }
    }
}

/// How often and for how long each cell is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundSchedule {
    /// Pairs of rounds in each cell; the most of them, where [`JudgingRule::stopping`] or
    /// [`RoundSchedule::limit_ns`] may end it sooner. Where nothing but instructions is counted:
    /// how often, and 0 for as often as is usual.
    pub pairs: u32,
    /// How often both arms are stopped and started again within a cell, between pairs. Servers by
    /// URL cannot be.
    pub restarts: u32,
    /// How often the tables of both arms are filled anew within a cell, each time at the beginning
    /// of a start: never more often than `restarts` says.
    pub reloads: u32,
    /// Length of the measured window of a round.
    pub round_ns: u64,
    /// Slices that both rounds of a pair are cut into where rows are only read, so that they take
    /// turns and meet the same host; 0: one round after the other.
    pub slice_ns: u64,
    /// Load that runs before the window opens in each round, not measured.
    pub lead_in_ns: u64,
    /// Load that runs on each arm before the first round of a cell, not measured.
    pub warm_up_ns: u64,
    /// The longest that measuring may take in all, restarts and warming included and setting up
    /// not; cells share it. It ends a cell blind to its results.
    pub limit_ns: Option<u64>,
}

/// One pair of rounds of a second, without anything before them: how many there are, and what
/// comes before, is decided by each command.
impl Default for RoundSchedule {
    fn default() -> RoundSchedule {
        RoundSchedule {
            pairs: 1,
            restarts: 0,
            reloads: 0,
            round_ns: 1_000_000_000,
            slice_ns: 10_000_000,
            lead_in_ns: 0,
            warm_up_ns: 0,
            limit_ns: None,
        }
    }
}

/// What counts as equal where nobody says otherwise.
pub const USUAL_BUDGET: f64 = 0.02;
/// The same as it is typed.
pub const USUAL_BUDGET_TEXT: &str = "2%";

/// By which rule the rounds of a cell are judged.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgingRule {
    /// Largest difference of rQPS that counts as equal (0.02 = 2 %).
    pub budget: f64,
    /// Which interval is wanted.
    pub interval: IntervalChoice,
    /// When the measuring of a cell ends, and by which rule it is judged.
    pub stopping: Stopping,
}

/// Judged once, at the end.
impl Default for JudgingRule {
    fn default() -> JudgingRule {
        JudgingRule {
            budget: USUAL_BUDGET,
            interval: IntervalChoice::Auto,
            stopping: Stopping::Fixed,
        }
    }
}

/// What keeps the host from disturbing rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quiet {
    /// Whether clients and servers share one processor.
    pub pin: Pin,
    /// What processors without work do while rounds are measured.
    pub idle: Idle,
    /// Whether pages of the arms are read before rounds, so that the host has them all.
    pub keep_memory: KeepMemory,
}

/// The text of a custom load, so that a stored plan needs no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadFile {
    /// The file as the user named it.
    pub file: String,
    /// What was in it.
    pub text: String,
}

/// About how long two servers take to stop, to start and to read their tables: 0.7 s were seen of
/// MariaDB 10.11 and PostgreSQL 15.
const RESTART_NS: u64 = 2_000_000_000;
/// Members of a topology leave and join one after the other.
const RESTART_OF_MEMBERS_NS: u64 = 15_000_000_000;
/// The same of two databases in our threads, and for each row of theirs.
const OPEN_AGAIN_NS: u64 = 500_000_000;
const OPEN_AGAIN_ROW_NS: u64 = 2_000;
/// About how long a warm-up after either takes, where the tables have been read.
const WARM_AGAIN_NS: u64 = 1_000_000_000;

impl Plan {
    /// The same, judged by another rule for when a cell ends.
    pub fn stopped_by(&self, stopping: Stopping) -> Plan {
        let rule = JudgingRule { stopping, ..self.rule };
        Plan { rule, ..self.clone() }
    }

    /// Labels of the loads that are measured, in order.
    pub fn labels(&self) -> Vec<&str> {
        self.question.stages.iter().filter_map(Stage::measured_label).collect()
    }

    /// All cells, loads outermost.
    pub fn cells(&self) -> Vec<Cell> {
        self.labels().into_iter().flat_map(|label| self.cells_of(label)).collect()
    }

    /// The cells that are none of these.
    pub fn cells_beside<'c>(&self, measured: impl Iterator<Item = &'c Cell>) -> Vec<Cell> {
        let measured: BTreeSet<&Cell> = measured.collect();
        self.cells().into_iter().filter(|cell| !measured.contains(cell)).collect()
    }

    /// The cells of one load.
    pub fn cells_of(&self, label: &str) -> Vec<Cell> {
        self.question
            .clients
            .iter()
            .map(|&clients| Cell { load: label.to_owned(), clients })
            .collect()
    }

    /// The rounds of one cell of two arms in the order of measuring. A pure function of plan and
    /// cell, so that a run can be taken up where it stopped.
    pub fn rounds(&self, cell: &Cell) -> Vec<RoundKey> {
        cell.rounds(self.question.seed, self.schedule.pairs)
    }

    /// The blocks of one cell, in the order of measuring.
    pub fn blocks_of(&self, cell: &Cell) -> Vec<Block> {
        cell.shuffled_blocks(self.question.seed, self.schedule.pairs, self.arms.count())
    }

    /// What the arms of a pair are.
    pub fn pair_specs(&self, pairing: Pairing) -> PerArm<&ArmSpec> {
        PerArm::from_fn(|side| &self.arms[pairing.arm_on(side)])
    }

    /// How many answers the experiment gives: one for each cell and each arm beside base, all of
    /// which are one family.
    pub fn answer_count(&self) -> usize {
        self.cells().len() * (self.arms.count() - 1)
    }

    /// Each arm against base.
    pub fn against_base(&self) -> Vec<Pairing> {
        self.arms.indices().skip(1).map(|test| Pairing { base: ArmIndex::BASE, test }).collect()
    }

    /// Each arm against the one before it.
    pub fn against_before(&self) -> Vec<Pairing> {
        let others = self.arms.indices().skip(1);
        self.arms.indices().zip(others).map(|(base, test)| Pairing { base, test }).collect()
    }

    /// Whether the tables of both arms are filled anew before this pair, which begins a start:
    /// fillings part the starts as evenly as these part the pairs.
    pub fn reloads_before(&self, pair: u32, pairs: u32) -> bool {
        if self.schedule.reloads == 0 {
            return false;
        }
        let begins: Vec<u32> =
            (1..pairs).filter(|&pair| self.restarts_before(pair, pairs)).collect();
        let starts = begins.len() as u64 + 1;
        let fillings = (u64::from(self.schedule.reloads) + 1).min(starts);
        let filling = |start: u64| start * fillings / starts;
        let start = begins.iter().position(|&begin| begin == pair).map(|at| at as u64 + 1);
        start.is_some_and(|start| filling(start) > filling(start - 1))
    }

    /// Whether both servers are started again before this pair, when a cell has `pairs` of them:
    /// restarts part the pairs into starts of equal length, an even number of pairs each; where
    /// results are looked at, a start is what lies between two looks.
    pub fn restarts_before(&self, pair: u32, pairs: u32) -> bool {
        if let (Some(between), true) = (self.pairs_between_looks(pairs), self.schedule.restarts > 0)
        {
            return pair > 0 && pair.is_multiple_of(between);
        }
        let starts = (self.schedule.restarts + 1).min(pairs / 2).max(1);
        let begins =
            |start: u32| 2 * ((u64::from(start) * u64::from(pairs / 2)) / u64::from(starts));
        (1..starts).any(|start| begins(start) == u64::from(pair))
    }

    /// Pairs between two looks at a cell that has `pairs` of them; `None` where it is judged once.
    /// Where a slow load leaves time for fewer pairs than were planned, so it does between looks.
    pub fn pairs_between_looks(&self, pairs: u32) -> Option<u32> {
        let (between, _) = self.rule.stopping.look_schedule()?;
        let fewer = u64::from(between) * u64::from(pairs) / u64::from(self.schedule.pairs.max(1));
        Some((fewer as u32 / 2 * 2).clamp(2, between.max(2)))
    }

    /// About how long the servers take to start again, until they are warm.
    pub fn start_again_ns(&self) -> u64 {
        self.restart_ns() + self.arms.count() as u64 * self.warm_again_ns().min(WARM_AGAIN_NS)
    }

    /// All are started at once, and the slowest one counts; each two of them take about as long as
    /// two do.
    fn restart_ns(&self) -> u64 {
        let rows = u64::from(self.question.tables).saturating_mul(self.question.rows);
        let slowest = self
            .arms
            .values()
            .map(|arm| match arm {
                arm if arm.is_embedded() => {
                    OPEN_AGAIN_NS.saturating_add(rows.saturating_mul(OPEN_AGAIN_ROW_NS))
                }
                arm if arm.begin.topology.is_some() => RESTART_OF_MEMBERS_NS,
                _ => RESTART_NS,
            })
            .max()
            .unwrap_or(0);
        slowest.saturating_mul(self.arms.count().div_ceil(2) as u64)
    }

    /// Longest warm-up after a restart: the tables have been read then.
    pub fn warm_again_ns(&self) -> u64 {
        self.schedule.warm_up_ns / 4
    }

    /// Time that the measuring of one cell takes, without setting up the servers and the data.
    pub(crate) fn cell_ns(&self) -> u64 {
        let starts = u64::from(self.schedule.restarts) + 1;
        let rounds = u64::from(self.schedule.pairs) * self.question.driving.rounds_in_pair();
        let rounds_ns = rounds * (self.schedule.round_ns + self.schedule.lead_in_ns);
        self.arms.count() as u64 * (self.schedule.warm_up_ns + rounds_ns)
            + (starts - 1) * self.start_again_ns()
    }

    /// Time that measuring and warming take: about, and at most where servers live once; without
    /// settling.
    pub fn measuring_ns(&self) -> u64 {
        let warm_ns = |stage: &Stage| match stage {
            Stage::Warm { limit_s, .. } => {
                let limit_ns = limit_s.map(|seconds| u64::from(seconds) * 1_000_000_000);
                self.arms.count() as u64 * limit_ns.unwrap_or(self.schedule.warm_up_ns)
            }
            Stage::Measure(_) | Stage::Settle | Stage::Restore => 0,
        };
        let warming_ns: u64 = self.question.stages.iter().map(warm_ns).sum();
        warming_ns + self.cell_ns() * (self.labels().len() * self.question.clients.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::ArmSpec;

    fn plan(pairs: u32) -> Plan {
        Plan {
            arms: Arms::from(["sqlite:"; 2].map(|arm| arm.parse::<ArmSpec>().unwrap())),
            question: Question {
                stages: ["settle", "point-query", "warm:9s:scan", "read-write"]
                    .map(|stage| stage.parse().unwrap())
                    .into(),
                clients: vec![1, 4],
                ..Question::default()
            },
            schedule: RoundSchedule {
                pairs,
                round_ns: 1,
                lead_in_ns: 1,
                warm_up_ns: 1,
                ..RoundSchedule::default()
            },
            ..Plan::default()
        }
    }

    #[test]
    fn every_pair_has_both_arms_next_to_each_other() {
        for pairs in [1, 2, 7, 30] {
            let plan = plan(pairs);
            for cell in plan.cells() {
                let rounds = plan.rounds(&cell);
                assert_eq!(rounds.len(), 2 * pairs as usize);
                for (index, pair) in rounds.chunks(2).enumerate() {
                    assert_eq!(pair[0].pair, index as u32);
                    assert_eq!(pair[1].pair, index as u32);
                    assert_ne!(pair[0].arm, pair[1].arm);
                }
            }
        }
    }

    #[test]
    fn only_what_is_measured_has_cells() {
        let plan = plan(3);
        assert_eq!(plan.labels(), ["point-query", "read-write"]);
        let cells: Vec<_> = plan.cells().iter().map(Cell::to_string).collect();
        let each = ["point-query at 1 client", "point-query at 4 clients"];
        assert_eq!(cells[..2], each);
        assert_eq!(cells.len(), 4);
        // Four cells of twice a warm-up and three rounds with their lead-ins, and a warming.
        assert_eq!(plan.measuring_ns(), 4 * 2 * (1 + 3 * 2) + 2 * 9_000_000_000);
    }

    #[test]
    fn reloads_begin_starts() {
        let at = |restarts, reloads| -> Vec<u32> {
            let mut plan = plan(40);
            (plan.schedule.restarts, plan.schedule.reloads) = (restarts, reloads);
            (0..40).filter(|&pair| plan.reloads_before(pair, 40)).collect()
        };
        assert_eq!(at(3, 3), [10, 20, 30]);
        assert_eq!(at(3, 1), [20]);
        assert_eq!(at(7, 2), [14, 30]);
        assert_eq!(at(3, 0), []);
        assert_eq!(at(1, 9), [20], "a filling has at least one start");
    }

    #[test]
    fn restarts_part_the_pairs_into_equal_starts() {
        let at = |pairs, restarts| -> Vec<u32> {
            let mut plan = plan(pairs);
            plan.schedule.restarts = restarts;
            (0..pairs).filter(|&pair| plan.restarts_before(pair, pairs)).collect()
        };
        assert_eq!(at(160, 7), [20, 40, 60, 80, 100, 120, 140]);
        assert_eq!(at(10, 2), [2, 6]);
        assert_eq!(at(200, 0), []);
        assert_eq!(at(4, 9), [2], "a start has at least two pairs");
        assert_eq!(at(1, 3), []);
        let mut plan = plan(30);
        plan.schedule.restarts = 2;
        plan.rule.stopping = Stopping::Decided { pairs: 8, horizon: 3 };
        let begin = (0..30).filter(|&pair| plan.restarts_before(pair, 30));
        assert_eq!(begin.collect::<Vec<_>>(), [8, 16, 24], "however many pairs there come to be");
    }

    #[test]
    fn pairs_turn_both_ways_and_the_same_way_for_the_same_seed() {
        let plan = plan(64);
        let firsts =
            |cell: &Cell| plan.rounds(cell).chunks(2).map(|pair| pair[0].arm).collect::<Vec<_>>();
        let cells = plan.cells();
        let first = firsts(&cells[0]);
        assert!(first.contains(&ArmIndex::BASE) && first.contains(&ArmIndex::TEST));
        assert_eq!(first, firsts(&cells[0]));
        assert_ne!(first, firsts(&cells[1]));
    }
}
