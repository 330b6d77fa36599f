//! The data types of dbdyno.
//!
//! ```text
//!   Plan  =  arms (base, test) × stages × client counts × pairs of rounds
//!   Stage =  a load that is measured, or what is done to the servers in between
//!   Round =  what one arm did under one load at one client count: counts, latencies, cost
//!   Run   =  a plan, the rounds that were measured under it, the environment of both arms
//!   CellComparison = relative rate with an interval, and a verdict
//! ```
//!
//! Everything here is a plain value. Nothing in this crate reads a clock, a file or a socket, and
//! it depends on no other crate of ours; every other crate speaks in these terms.

pub mod arm;
pub mod arms;
pub mod arms_comparison;
pub mod arrivals;
pub mod audit;
pub mod begin;
pub mod calendar;
pub mod classes;
pub mod command;
mod comparison;
pub mod count;
pub mod curve;
pub mod deadlock;
pub mod design;
pub mod driving;
pub mod experiment;
pub mod explanation;
mod finding;
pub mod foreign;
pub mod histogram;
pub mod history;
mod history_gate;
pub mod identifier;
mod idle;
pub mod insert_benchmark;
pub mod isolation;
mod keep_memory;
pub mod latest_doubt;
pub mod ledger;
pub mod levels;
pub mod live_facts;
pub mod masking;
pub mod method;
pub mod metric_lessons;
pub mod mock;
mod open_transaction;
pub mod option_file;
pub mod pace;
mod pin;
pub mod plan;
pub mod product;
pub mod profile;
pub mod published;
pub mod random;
pub mod rate;
pub mod readings;
pub mod rocksdb;
pub mod round;
pub mod row_cost;
pub mod run;
mod run_pair;
pub mod secret;
pub mod series;
pub mod server_facts;
pub mod setting;
mod shell;
pub mod stage;
pub mod stopping;
pub mod target;
pub mod target_completion;
pub mod target_parts;
mod target_words;
pub mod terms;
mod think;
pub mod tls;
pub mod topology;
pub mod transport;
pub mod verdict;
pub mod warning;
mod words;

pub use arm::{Arm, PerArm};
pub use arms::{ArmIndex, Arms, Pairing};
pub use arms_comparison::{ArmsComparison, PairComparison, Reference};
pub use arrivals::{Arrivals, RateShape, Spacing};
pub use audit::{Audit, FactChange, Inequality, Weight};
pub use begin::{Begin, Cache, ImageUse};
pub use classes::{ClassTally, ClassTimes, ClassUnit};
pub use command::WantedWords;
pub use comparison::{
    ArmSummary, CellComparison, ClassSummary, Comparison, Gate, GateOutcome, LatencyUs, Metric,
    MetricComparison, MetricVerdict, OpenSummary, Percentile, SelfTests, SingleRuns, TestFamily,
    VerdictMeasure,
};
pub use count::{
    CallCount, CountComparison, CountSample, CountVerdict, Counting, FunctionChange, FunctionCount,
    RunCounts,
};
pub use curve::{
    BandPoint, CurveChange, CurveComparison, CurveFit, CurvePoint, CurveQuestion, PointPlace,
    UslCurve,
};
pub use deadlock::{DeadlockCluster, DeadlockCounts, DeadlockParty};
pub use design::Design;
pub use driving::{Driving, Slo};
pub use explanation::{
    CodeChange, CodeStanding, DifferenceAccount, Elsewhere, Explanation, FoundCause,
    HistogramDifference, Interaction, Lead, PlanCause, PlanChange, PlanClass, PlanParting,
    PlanRemedy, PlanStability, Prior, Remedy, RemedyCell, RunnerUp, SampledPlans, StatisticsOf,
    Suspect, Trial, TrialDirection, UntriedDifference, Witness, Worth,
};
pub use finding::{Advice, Finding};
pub use foreign::Foreign;
pub use histogram::{LatencyHistogram, SharedHistogram};
pub use history::{
    BenchmarkHistory, Better, Cause, ChangeScale, HistoryPoint, HistorySeries, LapsedShift, Modes,
    NullKind, SeriesChanges, Shift, ShiftWeight, Slide,
};
pub use history_gate::{HistoryGateAnswer, SeriesGateAnswer, SeriesGateReason};
pub use identifier::{Identifier, Literal, UnfitName, plain_number};
pub use idle::Idle;
pub use keep_memory::KeepMemory;
pub use ledger::{LEDGER_LINES, Ledger, LedgerLine, LineStanding};
pub use levels::{LevelShare, Levels, Spend};
pub use masking::{MaskedTarget, mask_line, mask_message};
pub use method::{Basis, ExperimentLevel, IntervalChoice, IntervalKind};
pub use mock::MockModel;
pub use open_transaction::OpenTransaction;
pub use pace::RoundPace;
pub use pin::{Pin, Placement, Processors};
pub use plan::{
    Block, Cell, JudgingRule, LoadFile, Plan, Question, Quiet, RoundKey, RoundSchedule,
    USUAL_BUDGET, USUAL_BUDGET_TEXT,
};
pub use product::{Dialect, Product, TargetError};
pub use profile::{
    ClassWait, FlameNode, FunctionDifference, FunctionPlace, LEFT_OUT, Match, NAMELESS,
    ProfileDifference, ProfileScale, UntoldFunction, UntoldReason, WaitLine, WaitProfile, Waits,
};
pub use rate::{RateUnit, Since};
pub use readings::Readings;
pub use rocksdb::{RocksOptions, RocksPreset};
pub use round::{Cost, OpenLoop, Pauses, Round};
pub use row_cost::{
    CostChange, CostChanges, CostComparison, CostFit, CostLine, CostMeasure, CostPoint,
};
pub use run::{EndedArm, Environment, Run, RunId, RunStatus};
pub use run_pair::{RunArm, RunPair};
pub use secret::Secret;
pub use series::Series;
pub use server_facts::{FactComparison, FactWorth, ServerFact};
pub use setting::{Allocator, Charset, Durability, Flush, Preset, Setting, Switch};
pub use stage::Stage;
pub use stopping::Stopping;
pub use target::{ArmSpec, ReleaseSpec, ServerUrl, Target, TransactionRecording, split_version};
pub use target_completion::ServerParts;
pub use target_words::SourceKind;
pub use terms::{TERMS, Term};
pub use think::Think;
pub use tls::{KEY_FILE, KEY_OFFERED, PasswordKey, Tls, TlsMode, TlsStart, TlsWords};
pub use topology::{MemberRole, NetworkDelay, Topology, TopologyShape};
pub use transport::Transport;
pub use verdict::{Interval, Verdict};
pub use warning::{Severity, Warning};
