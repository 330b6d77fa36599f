//! From stored runs to series.
//!
//! ```text
//!   key    load · clients · driving · tables × rows · test without its version · (base)
//!   value  one figure of one run: geometric mean over its pairs, or sums over its rounds
//! ```
//!
//! The version of the test arm is what changes from night to night, so it is not in the key, and
//! neither is `slow=`, which stands for a change. The base arm is in the key where the figure is a
//! ratio: only runs with the same base, to the version, have a control in common.

use std::collections::{BTreeMap, BTreeSet};

use dbdyno_model::{
    Arm, ArmSpec, Better, Cell, Driving, History, HistoryPoint, LatencyHistogram, PerArm, Round,
    Run, RunStatus, Severity, Target, Warning,
};

use super::{Question, Raw, judge};
use crate::error::LabError;
use crate::judge::judged_pairs;
use crate::response::offered_rate;
use crate::yardstick::Yardstick;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Rate, test ÷ base.
    Rqps,
    /// Rate of the test arm.
    Rate,
    /// Processor time of the server per operation, test arm, microseconds.
    Cpu,
    /// 99th percentile of latency, test arm, microseconds.
    P99,
    /// Processor time of the server per operation, test ÷ base.
    RelativeCpu,
    /// 99th percentile of latency, test ÷ base.
    RelativeP99,
}

impl Figure {
    /// All of them.
    pub const ALL: [Figure; 6] = [
        Figure::Rqps,
        Figure::Rate,
        Figure::Cpu,
        Figure::P99,
        Figure::RelativeCpu,
        Figure::RelativeP99,
    ];

    /// The name in flags and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Figure::Rqps => "rqps",
            Figure::Rate => "rate",
            Figure::Cpu => "cpu",
            Figure::P99 => "p99",
            Figure::RelativeCpu => "rcpu",
            Figure::RelativeP99 => "rp99",
        }
    }

    fn better(self) -> Better {
        match self {
            Figure::Rqps | Figure::Rate => Better::Higher,
            Figure::Cpu | Figure::P99 | Figure::RelativeCpu | Figure::RelativeP99 => Better::Lower,
        }
    }

    fn is_ratio(self) -> bool {
        matches!(self, Figure::Rqps | Figure::RelativeCpu | Figure::RelativeP99)
    }

    fn of(self, driving: &Driving, yardstick: &Yardstick, pairs: &[PerArm<&Round>]) -> Option<f64> {
        let is_search = matches!(driving, Driving::Search(_));
        let rate = |round: &Round| match is_search {
            true => offered_rate(round),
            false => yardstick.rate(round),
        };
        let test = || pairs.iter().map(|pair| pair.test);
        let p99 = |round: &Round| times(round).quantile_ns(0.99).max(1) as f64 / 1e3;
        let value = match self {
            Figure::Rqps => mean(pairs.iter().map(|pair| rate(pair.test) / rate(pair.base))),
            Figure::Rate => mean(test().map(rate)),
            Figure::Cpu => cpu(test())?,
            Figure::RelativeCpu => cpu(test())? / cpu(pairs.iter().map(|pair| pair.base))?,
            Figure::P99 => {
                let mut all = LatencyHistogram::new();
                test().for_each(|round| all.merge(times(round)));
                all.quantile_ns(0.99) as f64 / 1e3
            }
            Figure::RelativeP99 => mean(pairs.iter().map(|pair| p99(pair.test) / p99(pair.base))),
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

/// In the open loop, response times.
fn times(round: &Round) -> &LatencyHistogram {
    round.open.as_ref().map_or(&round.latency, |open| &open.response)
}

/// Geometric.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) =
        values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    (sum / count).exp()
}

fn cpu<'a>(rounds: impl Iterator<Item = &'a Round>) -> Option<f64> {
    let (mut ns, mut statements) = (0, 0);
    for round in rounds {
        ns += round.cost.server_cpu_ns?;
        statements += round.statements;
    }
    (statements > 0).then(|| ns as f64 / 1e3 / statements as f64)
}

/// The warning of a history that runs are missing in.
pub const LEFT_OUT: &str = "left-out";

/// What makes runs comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    cell: Cell,
    figure: Figure,
    driving: String,
    size: (u32, u64),
    family: String,
    base: Option<String>,
}

/// Series in the making, one run at a time: a store holds more than memory does.
pub struct Gathering<'q> {
    question: &'q Question,
    /// What is asked for; nothing where the runs are to say.
    figures: Vec<Figure>,
    groups: BTreeMap<Key, Raw>,
    /// Of all runs, asked for or not.
    loads: BTreeSet<String>,
    short: usize,
    /// What is wrong with runs that cannot be read.
    left_out: Vec<String>,
}

impl<'q> Gathering<'q> {
    /// Series of no runs yet.
    ///
    /// # Errors
    /// A figure that is not known.
    pub fn new(question: &'q Question) -> Result<Gathering<'q>, LabError> {
        let figures = question.figures.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        let (groups, loads) = (BTreeMap::new(), BTreeSet::new());
        Ok(Gathering { question, figures, groups, loads, short: 0, left_out: Vec::new() })
    }

    /// Notes a run that cannot be read, and what is wrong with it.
    pub fn leave_out(&mut self, why: String) {
        self.left_out.push(why);
    }

    /// Adds what was measured in a run. Runs come in the order in which they were begun.
    pub fn add(&mut self, run: &Run) {
        self.loads.extend(run.plan.labels().into_iter().map(str::to_owned));
        for cell in run.plan.cells() {
            if !self.is_asked_for(&cell) {
                continue;
            }
            let (pairs, _, _) = judged_pairs(run, &cell);
            let is_whole =
                run.status == RunStatus::Complete || 2 * pairs.len() as u32 >= run.plan.pairs;
            if pairs.is_empty() || !is_whole {
                self.short += 1;
                continue;
            }
            let usual = by_itself(&run.plan.driving);
            let asked = if self.figures.is_empty() { &usual[..] } else { &self.figures };
            for &figure in asked {
                add(&mut self.groups, run, &cell, figure, &pairs);
            }
        }
    }

    fn is_asked_for(&self, cell: &Cell) -> bool {
        let Question { loads, clients, .. } = self.question;
        (loads.is_empty() || loads.contains(&cell.load))
            && (clients.is_empty() || clients.contains(&cell.clients))
    }

    /// The history of all that were added.
    ///
    /// # Errors
    /// Runs of which nothing remains, values that cannot be judged.
    pub fn history(self, source: &str) -> Result<History, LabError> {
        let mut raws: Vec<Raw> = match self.figures.is_empty() {
            true => telling(self.groups),
            false => self.groups.into_values().collect(),
        };
        raws.sort_by(|a, b| (&a.name, &a.about).cmp(&(&b.name, &b.about)));
        let left_out = self.left_out.first().map(|why| {
            let text =
                format!("left out, because they cannot be read: {}; {why}", self.left_out.len());
            Warning::new(Severity::Caution, LEFT_OUT, text)
        });
        if raws.is_empty() {
            let mut nothing = nothing(source, &self.loads, self.question);
            nothing.extend(left_out.iter().map(|warning| format!("; {}", warning.text)));
            return Err(LabError::History(nothing));
        }
        let short = (self.short > 0).then(|| {
            let text = format!(
                "{} times a run has too few pairs of a load and is left out there; `dbdyno \
                 resume` takes such a run up again",
                self.short
            );
            Warning::new(Severity::Note, "short-runs", text)
        });
        judge(source, raws, self.question, short.into_iter().chain(left_out).collect())
    }
}

fn named(name: &str) -> Result<Figure, LabError> {
    let found = Figure::ALL.into_iter().find(|figure| figure.name() == name);
    found.ok_or_else(|| {
        let all: Vec<&str> = Figure::ALL.iter().map(|figure| figure.name()).collect();
        LabError::History(format!(
            "no figure of a run is called {name:?}; there are {}",
            all.join(", ")
        ))
    })
}

fn nothing(source: &str, loads: &BTreeSet<String>, question: &Question) -> String {
    if loads.is_empty() {
        return format!(
            "there are no runs in {source}; measure some with `dbdyno compare`, or name a CSV file"
        );
    }
    match question.loads.is_empty() && question.clients.is_empty() {
        true => format!("no run in {source} has values of that; try --metric rate"),
        false => {
            let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
            format!("no run in {source} measured that; the loads there are {}", loads.join(", "))
        }
    }
}

/// Figures of which the better one is shown where none was asked for.
fn by_itself(driving: &Driving) -> [Figure; 2] {
    match driving {
        Driving::Closed | Driving::Search(_) => [Figure::Rqps, Figure::Rate],
        // Rates are given there.
        Driving::Thinking(_) | Driving::Open(_) => [Figure::RelativeP99, Figure::P99],
    }
}

/// Ratios where most runs have their base in common, else raw figures.
fn telling(groups: BTreeMap<Key, Raw>) -> Vec<Raw> {
    let (ratios, raws): (BTreeMap<Key, Raw>, BTreeMap<Key, Raw>) =
        groups.into_iter().partition(|(key, _)| key.figure.is_ratio());
    let mut kept = Vec::new();
    for (key, mut raw) in raws {
        let same = |other: &&Key| {
            (&other.cell, &other.driving, other.size, &other.family)
                == (&key.cell, &key.driving, key.size, &key.family)
        };
        let of_it: Vec<&Key> = ratios.keys().filter(same).collect();
        let longest = of_it.iter().map(|key| ratios[*key].points.len()).max().unwrap_or(0);
        if 2 * longest >= raw.points.len() {
            kept.extend(of_it.into_iter().map(|key| ratios[key].clone()));
            continue;
        }
        let text = "Most runs have no base arm in common, so these are raw figures: a change of \
                    the host looks like a change of the server. Measure against the same base \
                    every time.";
        raw.warnings.push(Warning::new(Severity::Caution, "no-common-base", text));
        kept.push(raw);
    }
    kept
}

fn add(
    groups: &mut BTreeMap<Key, Raw>,
    run: &Run,
    cell: &Cell,
    figure: Figure,
    pairs: &[PerArm<&Round>],
) {
    let yardstick = Yardstick::of(&run.plan, cell);
    let Some(value) = figure.of(&run.plan.driving, &yardstick, pairs) else { return };
    let family = family(&run.plan.arms.test);
    let base = figure.is_ratio().then(|| label(run, Arm::Base));
    let (tables, rows) = (run.plan.tables, run.plan.rows);
    let key = Key {
        cell: cell.clone(),
        figure,
        driving: run.plan.driving.to_string(),
        size: (tables, rows),
        family: family.clone(),
        base: base.clone(),
    };
    let raw = groups.entry(key).or_insert_with(|| {
        let against = base.map(|base| format!(" against {base}")).unwrap_or_default();
        let plural = if tables == 1 { "table" } else { "tables" };
        Raw {
            name: cell.to_string(),
            about: format!("{family}{against}, {tables} {plural} of {rows} rows"),
            metric: figure.name().to_owned(),
            better: figure.better(),
            points: Vec::new(),
            facts: Vec::new(),
            warnings: Vec::new(),
        }
    });
    raw.points.push(HistoryPoint {
        unix_ms: Some(run.started_unix_ms as i64),
        label: run.name.as_ref().map_or_else(|| run.id.to_string(), |name| format!("@{name}")),
        version: version(run),
        value,
    });
    raw.facts.push(facts(run, figure));
}

/// The arm without what changes from night to night.
fn family(spec: &ArmSpec) -> String {
    let mut spec = ArmSpec { slow: 0.0, ..spec.clone() };
    if let Target::Release(release) = &mut spec.target {
        release.version = "*".to_owned();
    }
    spec.to_string()
}

fn label(run: &Run, arm: Arm) -> String {
    let spec = run.plan.arms[arm].to_string();
    match run.environment[arm].get("server.version") {
        "" => spec,
        version => format!("{spec} ({version})"),
    }
}

fn version(run: &Run) -> String {
    let asked = match &run.plan.arms.test.target {
        Target::Release(release) => release.version.as_str(),
        Target::Url(_) | Target::Sqlite(_) | Target::Rocksdb(_) | Target::Engine(_) => "",
    };
    match run.environment.test.get("server.version") {
        "" => asked.to_owned(),
        version => version.to_owned(),
    }
}

/// What was true of a run: the host once, the test arm, and of the base what its ratio rests on.
fn facts(run: &Run, figure: Figure) -> BTreeMap<String, String> {
    let plan = &run.plan;
    let mut facts = BTreeMap::new();
    facts.insert("dbdyno".to_owned(), run.tool_version.clone());
    facts.insert("plan.pairs".to_owned(), plan.pairs.to_string());
    facts.insert("plan.round_ns".to_owned(), plan.round_ns.to_string());
    facts.insert("plan.restarts".to_owned(), plan.restarts.to_string());
    facts.insert("plan.pin".to_owned(), plan.pin.to_string());
    for file in &plan.files {
        let digest = dbdyno_model::random::key_of(&file.text);
        facts.insert(format!("plan.file.{}", file.file), format!("{digest:016x}"));
    }
    for arm in Arm::BOTH {
        if arm == Arm::Base && !figure.is_ratio() {
            continue;
        }
        facts.insert(format!("{arm}.slow"), plan.arms[arm].slow.to_string());
        for (name, value) in &run.environment[arm].facts {
            let name = match name.starts_with("host.") {
                true => name.clone(),
                false => format!("{arm}.{name}"),
            };
            facts.insert(name, value.clone());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::point_queries;
    use dbdyno_model::ShiftWeight;

    fn question(figures: &[&str]) -> Question {
        Question {
            loads: Vec::new(),
            clients: Vec::new(),
            figures: figures.iter().map(|&name| name.to_owned()).collect(),
            filters: Vec::new(),
            better: None,
            budget: 0.02,
            superiority: 0.9,
            last: None,
        }
    }

    /// Twenty nights; from the twelfth on there is a new kernel, and both arms do half as much.
    fn nights(base_changes: bool) -> Vec<Run> {
        let night = |number: u64| {
            let late = number >= 12;
            let mut run = point_queries("sqlite:", 1, |round| {
                round.statements += (number * 37 + u64::from(round.key.pair)) % 11;
                if late {
                    round.statements /= 2;
                }
            });
            let kernel = if late { "6.1.9" } else { "6.1.0" };
            run.environment.base.set("host.kernel", kernel);
            run.environment.test.set("host.kernel", kernel);
            if base_changes {
                run.environment.base.set("server.version", format!("{number}"));
            }
            run.started_unix_ms = number * 86_400_000;
            run
        };
        (0..20).map(night).collect()
    }

    fn of_runs(runs: &[Run], question: &Question) -> Result<History, LabError> {
        let mut gathering = Gathering::new(question)?;
        runs.iter().for_each(|run| gathering.add(run));
        gathering.history("a store")
    }

    #[test]
    fn a_base_in_common_takes_the_host_out() {
        let runs = nights(false);
        let history = of_runs(&runs, &question(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!((series.metric.as_str(), series.points.len()), ("rqps", 20));
        assert!(series.changes.shifts.is_empty(), "{:?}", series.changes);
    }

    #[test]
    fn without_one_the_reader_is_told_and_the_kernel_is_named() {
        let history = of_runs(&nights(true), &question(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.metric, "rate");
        assert!(series.warnings.iter().any(|warning| warning.code == "no-common-base"));
        let [shift] = &series.changes.shifts[..] else { panic!("{:?}", series.changes) };
        assert_eq!((shift.first, shift.weight), (12, ShiftWeight::Alarm));
        assert!(series.is_worse(shift) && (shift.size.estimate + 0.5).abs() < 0.01, "{shift:?}");
        let cause = &series.causes[0][0];
        assert_eq!((cause.fact.as_str(), cause.at), ("host.kernel", 12));
        assert_eq!((cause.before.as_str(), cause.after.as_str()), ("6.1.0", "6.1.9"));
    }

    /// A gate does not rest on the runs that happen to be readable.
    #[test]
    fn a_run_that_cannot_be_read_is_named() {
        let all = question(&[]);
        let mut gathering = Gathering::new(&all).unwrap();
        nights(false).iter().for_each(|run| gathering.add(run));
        gathering.leave_out("run 1badcafe, arm: gone".to_owned());
        let history = gathering.history("a store").unwrap();
        let [warning] = &history.warnings[..] else { panic!("{:?}", history.warnings) };
        assert_eq!(warning.code, LEFT_OUT);
        assert!(warning.text.contains("be read: 1;") && warning.text.contains("1badcafe"));
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let runs = nights(false);
        let mut other = question(&[]);
        other.loads = vec!["scan".into()];
        let error = of_runs(&runs, &other).unwrap_err().to_string();
        assert!(error.contains("the loads there are point-query"), "{error}");
        let error = of_runs(&runs, &question(&["speed"])).unwrap_err().to_string();
        assert!(error.contains("there are rqps, rate"), "{error}");
    }
}
