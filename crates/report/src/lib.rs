//! Results, built as documents and as JSON.
//!
//! ```text
//!   Run + Comparison ──► View (`comparison`)       ┐
//!   Run + ArmsComparison ──► ArmsView (`arms`)     ├─► Document ──► the writers of `document`
//!   ProfileDifference, Waits (`profile`)           │   pages: the same elements, drawings between
//!   DeadlocksShown, findings of doctor             │
//!   Audit (`difference`), Explanation              │
//!   IsolationTold (`isolation`)                    │
//!   Replication (`published`), History             │
//!   proofs of levels (`verdicts`)                  ┘
//!
//!   laid out by hand, format by format, with the tools of `document`:
//!   pages of explanations and of traces
//!
//!   all of them ──► json   for programs; the names are a contract
//!   View ──► csv; ci: benchfmt; View, History ──► checks of `ci` ──► github, junit
//! ```
//!
//! Nothing is computed here that could change an answer: verdicts, intervals and costs come from
//! the comparison. What is decided here is how many digits a number deserves, which sentence says
//! it, and what stands on top. Sentences are made in `words`, quantities in `rows`, columns of
//! rates in `rates`.
//!
//! The page's script and style are built from `web/` and committed under `assets/`, so that
//! building this crate needs no Node.

mod arms;
mod calendar;
mod cautions;
mod ci;
mod comparison;
mod counts;
mod csv;
mod deadlocks;
mod difference;
mod doctor;
mod doubt;
mod explanation;
mod firmness;
mod groups;
mod history;
mod html;
mod insert_benchmark;
mod isolation;
mod json;
mod mechanisms;
mod metrics;
mod notes;
mod profile;
mod published;
mod rates;
mod rows;
mod shapes;
mod tables;
mod ticks;
mod trace;
pub mod verdicts;
mod view;
mod watch;
mod words;

pub use arms::{
    ArmsDetail, ArmsView, arms_csv, arms_html, arms_json, arms_markdown, arms_svg, arms_text,
};
pub use ci::{
    CheckStatus, CheckSuite, GateCheck, GateResult, NamedCheck, benchfmt_report, comparison_checks,
    error_line, failure_checks, gate_markdown, github_annotations, junit_report, result_line,
    round_line,
};
pub use comparison::{
    CellOrder, Section, first_markdown, first_screen, markdown, report_sections, terminal_report,
};
pub use csv::csv;
pub use deadlocks::{
    DeadlockInPart, DeadlockInput, DeadlocksShown, deadlocks_document, deadlocks_json,
};
pub use difference::{Extent, Plans, difference_document, difference_json};
pub use doctor::{DoctorExtent, doctor_document, doctor_json};
pub use explanation::{explanation_document, explanation_html, explanation_json};
pub use history::{
    HistoryExtent, history_checks, history_document, history_gate_result, history_gate_sentences,
    history_html, history_json,
};
pub use html::html;
pub use isolation::{IsolationExtent, IsolationLayout, isolation_document, isolation_json};
pub use json::json;
pub use metrics::{MetricExtent, metrics_document, metrics_json};
pub use profile::{
    ProfileExtent, profile_document, profile_html, profile_json, waits_document, waits_json,
};
pub use published::{outcome_words, published_document, published_json, published_svg};
pub use trace::{TraceHead, trace_html};
pub use view::{
    ArmView, AuditView, BandView, CellDetail, CellView, ClassView, CostChangeView, CostPointView,
    CostView, CountArmView, CountView, Curve, CurveChangeView, CurvePointView, CurveView, Detail,
    DoubtView, Fact, FamilyView, FunctionView, InequalityView, IntervalView, LabelView,
    LatencyView, LevelView, LineView, MetricView, PairView, ResponseRatio, RoundView,
    SelfTestsView, SlotsView, SpendView, StepArmView, StepView, Summary, UslView, VerdictView,
    View, WarningView,
};
pub use watch::{WatchLines, WatchedMetric, WatchedServer, watch_document, watch_line_json};
