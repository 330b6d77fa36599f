//! From stored runs to series.
//!
//! ```text
//!   key    load · clients · driving · tables × rows · test without its version · (base)
//!   value  one figure of one run: geometric mean over its pairs, or sums over its rounds
//!          none where a warning withholds the verdict: no level rests on what no verdict rests on
//! ```
//!
//! The version of the test arm is what changes from night to night, so it is not in the key, and
//! neither is `slow=`, which stands for a change. The base arm is in the key where the figure is a
//! ratio: only runs with the same base, to the version, have a control in common.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use dbdyno_model::{
    Arm, ArmSpec, BenchmarkHistory, Better, Cell, CellComparison, Driving, HistoryPoint,
    LatencyHistogram, PerArm, Round, RunPair, RunStatus, Severity, TERMS, Target, Warning,
};

use super::causes::Facts;
use super::{HistoryQuestion, Raw, judge_series};
use crate::comparison::compare_run;
use crate::error::JudgeError;
use crate::judged::judged_pairs;
use crate::rate_unit::CellUnits;
use crate::response::offered_rate;

/// A figure of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RunFigure {
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

impl RunFigure {
    /// All of them.
    pub const ALL: [RunFigure; 6] = [
        RunFigure::Rqps,
        RunFigure::Rate,
        RunFigure::Cpu,
        RunFigure::P99,
        RunFigure::RelativeCpu,
        RunFigure::RelativeP99,
    ];

    /// The name in flags and JSON.
    pub fn name(self) -> &'static str {
        match self {
            RunFigure::Rqps => "rqps",
            RunFigure::Rate => "rate",
            RunFigure::Cpu => "cpu",
            RunFigure::P99 => "p99",
            RunFigure::RelativeCpu => "rcpu",
            RunFigure::RelativeP99 => "rp99",
        }
    }

    fn better(self) -> Better {
        match self {
            RunFigure::Rqps | RunFigure::Rate => Better::Higher,
            RunFigure::Cpu | RunFigure::P99 | RunFigure::RelativeCpu | RunFigure::RelativeP99 => {
                Better::Lower
            }
        }
    }

    fn is_ratio(self) -> bool {
        matches!(self, RunFigure::Rqps | RunFigure::RelativeCpu | RunFigure::RelativeP99)
    }

    fn of(self, driving: &Driving, units: &CellUnits, pairs: &[PerArm<&Round>]) -> Option<f64> {
        let is_search = matches!(driving, Driving::Search(_));
        let rate = |round: &Round| if is_search { offered_rate(round) } else { units.rate(round) };
        let test = || pairs.iter().map(|pair| pair.test);
        let value = match self {
            RunFigure::Rqps => mean(pairs.iter().map(|pair| rate(pair.test) / rate(pair.base))),
            RunFigure::Rate => mean(test().map(rate)),
            RunFigure::Cpu => cpu(test())?,
            RunFigure::RelativeCpu => cpu(test())? / cpu(pairs.iter().map(|pair| pair.base))?,
            RunFigure::P99 => {
                let mut all = LatencyHistogram::new();
                test().for_each(|round| all.merge(times(round)));
                all.quantile_ns(0.99) as f64 / 1e3
            }
            RunFigure::RelativeP99 => {
                mean(pairs.iter().map(|pair| p99_us(pair.test) / p99_us(pair.base)))
            }
        };
        (value.is_finite() && value > 0.0).then_some(value)
    }
}

fn p99_us(round: &Round) -> f64 {
    times(round).quantile_ns(0.99).max(1) as f64 / 1e3
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
    let (mut ns, mut statements) = (0, 0.0);
    for round in rounds {
        ns += round.cost.server_cpu_ns?;
        statements += round.done_statements();
    }
    (statements > 0.0).then(|| ns as f64 / 1e3 / statements)
}

/// The warning of a history that runs are missing in, or of a series whose latest runs are.
pub const LEFT_OUT: &str = "left-out";
/// Warnings that withhold a verdict because too little was measured for an interval. They say
/// nothing against the value, and here runs are what is repeated.
const TOO_FEW: [&str; 2] = ["few-rounds", "one-measurement"];

/// What makes runs comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    cell: Cell,
    figure: RunFigure,
    driving: String,
    size: (u32, u64),
    family: String,
    base: Option<String>,
}

impl Key {
    fn of(run: RunPair<'_>, cell: &Cell, figure: RunFigure) -> Key {
        Key {
            cell: cell.clone(),
            figure,
            driving: run.plan().question.driving.to_string(),
            size: (run.plan().question.tables, run.plan().question.rows),
            family: family(run.spec_on(Arm::Test)),
            base: figure.is_ratio().then(|| label(run, Arm::Base)),
        }
    }

    /// Its series, without any value yet.
    fn series(&self) -> Raw {
        let against = self.base.as_ref().map(|base| format!(" against {base}")).unwrap_or_default();
        let (tables, rows) = self.size;
        let plural = if tables == 1 { "table" } else { "tables" };
        let driven = match self.driving.as_str() {
            "closed" => String::new(),
            driving => format!(", {driving}"),
        };
        Raw {
            name: self.cell.to_string(),
            about: format!("{}{against}, {tables} {plural} of {rows} rows{driven}", self.family),
            metric: self.figure.name().to_owned(),
            better: self.figure.better(),
            points: Vec::new(),
            facts: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// What is left out because warnings withhold the verdict.
#[derive(Clone, Debug, Default)]
struct Withheld {
    times: u32,
    /// By how many of these times a warning has this code.
    codes: BTreeMap<String, u32>,
    /// The last run of them.
    run: String,
}

impl Withheld {
    fn add(&mut self, run: RunPair<'_>, codes: &BTreeSet<&str>) {
        self.times += 1;
        for code in codes {
            *self.codes.entry((*code).to_owned()).or_default() += 1;
        }
        self.run = run.whole.id.to_string();
    }

    fn why(&self) -> String {
        let codes: Vec<String> =
            self.codes.iter().map(|(code, times)| format!("{code} ({times})")).collect();
        format!("{}; see `dbdyno show {}`", codes.join(", "), self.run)
    }

    /// What is to be said of a series that ends with these runs.
    fn at_the_end(&self) -> Warning {
        let runs = if self.times == 1 { "run".to_owned() } else { format!("{} runs", self.times) };
        let text = format!(
            "No verdict rests on the latest {runs}, so changes since then are unknown: {}",
            self.why()
        );
        Warning::new(Severity::Caution, LEFT_OUT, text)
    }
}

/// Series in the making, one run at a time: a store holds more than memory does.
pub struct Gathering<'q> {
    question: &'q HistoryQuestion,
    /// What is asked for; nothing where the runs are to say.
    figures: Vec<RunFigure>,
    groups: BTreeMap<Key, Raw>,
    /// What was true of runs, each once: an environment is that of many of them.
    facts: HashSet<Rc<Facts>>,
    /// Of all runs, asked for or not.
    loads: BTreeSet<String>,
    short: usize,
    withheld: Withheld,
    /// The same since the latest value of each series.
    since: BTreeMap<Key, Withheld>,
    /// The run of each cell that was added last.
    latest: BTreeMap<Cell, String>,
    /// What is wrong with runs that cannot be read.
    left_out: Vec<String>,
}

impl<'q> Gathering<'q> {
    /// Series of no runs yet.
    ///
    /// # Errors
    /// A figure that is not known.
    pub fn new(question: &'q HistoryQuestion) -> Result<Gathering<'q>, JudgeError> {
        let mut figures: Vec<RunFigure> =
            question.figures.iter().map(|name| named(name)).collect::<Result<_, _>>()?;
        // Named twice, a figure would have every value twice, and chance would look like proof.
        figures.sort_unstable();
        figures.dedup();
        Ok(Gathering {
            question,
            figures,
            groups: BTreeMap::new(),
            facts: HashSet::new(),
            loads: BTreeSet::new(),
            short: 0,
            withheld: Withheld::default(),
            since: BTreeMap::new(),
            latest: BTreeMap::new(),
            left_out: Vec::new(),
        })
    }

    /// Notes a run that cannot be read, and what is wrong with it.
    pub fn leave_out(&mut self, why: String) {
        self.left_out.push(why);
    }

    /// Adds what was measured in a run. Runs come in the order in which they were begun.
    pub fn add_run(&mut self, run: RunPair<'_>) {
        self.loads.extend(run.plan().labels().into_iter().map(str::to_owned));
        let cells: BTreeSet<Cell> =
            run.plan().cells().into_iter().filter(|cell| self.is_asked_for(cell)).collect();
        // Judging takes longer than reading, and is not done for what nobody asked.
        if cells.is_empty() {
            return;
        }
        let compared = match compare_run(run) {
            Ok(comparison) => comparison.cells,
            Err(error) => {
                self.leave_out(format!("run {}: {error}", run.whole.id));
                return;
            }
        };
        let mut facts = RunFacts::default();
        for cell in &cells {
            self.latest.insert(cell.clone(), run.whole.id.to_string());
            let compared = compared.iter().find(|compared| compared.cell == *cell);
            match compared.filter(|compared| is_whole(run, compared)) {
                Some(compared) => self.add_cell(run, cell, compared, &mut facts),
                None => self.short += 1,
            }
        }
    }

    fn add_cell(
        &mut self,
        run: RunPair<'_>,
        cell: &Cell,
        compared: &CellComparison,
        facts: &mut RunFacts,
    ) {
        let figures = if self.figures.is_empty() {
            by_itself(&run.plan().question.driving).to_vec()
        } else {
            self.figures.clone()
        };
        let codes = withheld_by(compared);
        if !codes.is_empty() {
            self.withheld.add(run, &codes);
            for figure in figures {
                self.since.entry(Key::of(run, cell, figure)).or_default().add(run, &codes);
            }
            return;
        }
        let (pairs, _, _) = judged_pairs(run, cell);
        let units = CellUnits::of_cell(run.plan(), cell);
        for figure in figures {
            let Some(value) = figure.of(&run.plan().question.driving, &units, &pairs) else {
                continue;
            };
            let key = Key::of(run, cell, figure);
            self.since.remove(&key);
            let raw = self.groups.entry(key).or_insert_with_key(Key::series);
            raw.points.push(point(run, value));
            raw.facts.push(facts.of(run, figure, &mut self.facts));
        }
    }

    fn is_asked_for(&self, cell: &Cell) -> bool {
        let HistoryQuestion { loads, clients, .. } = self.question;
        (loads.is_empty() || loads.contains(&cell.load))
            && (clients.is_empty() || clients.contains(&cell.clients))
    }

    /// The history of all that were added.
    ///
    /// # Errors
    /// Runs of which nothing remains, values that cannot be judged.
    pub fn into_history(mut self, source: &str) -> Result<BenchmarkHistory, JudgeError> {
        for (key, withheld) in &self.since {
            if let Some(raw) = self.groups.get_mut(key) {
                raw.warnings.push(withheld.at_the_end());
            }
        }
        // Of a load that is new, or whose base arm has just become another one, nothing else tells
        // that its latest run has no value; an older one is no question any more.
        let mut without = self.since.iter().filter(|(key, _)| !self.groups.contains_key(*key));
        let nowhere =
            without.find(|(key, withheld)| self.latest.get(&key.cell) == Some(&withheld.run));
        let nowhere = nowhere.map(|(_, withheld)| withheld.at_the_end());
        let warnings: Vec<Warning> =
            self.without_value().into_iter().chain(nowhere).chain(self.not_read()).collect();
        let mut raws: Vec<Raw> = if self.figures.is_empty() {
            telling(self.groups)
        } else {
            self.groups.into_values().collect()
        };
        raws.sort_by(|a, b| (&a.name, &a.about).cmp(&(&b.name, &b.about)));
        if raws.is_empty() {
            let mut nothing = nothing(source, &self.loads, self.question);
            nothing.extend(warnings.iter().map(|warning| format!("; {}", warning.text)));
            return Err(JudgeError::History(nothing));
        }
        judge_series(source, raws, self.question, warnings)
    }

    /// How often a run that was read gives a series no value, and why.
    fn without_value(&self) -> Option<Warning> {
        let short = (self.short > 0).then(|| {
            format!(
                "{} times a run has too few pairs of a load and is left out there; `dbdyno \
                 resume` takes such a run up again",
                self.short
            )
        });
        let withheld = (self.withheld.times > 0).then(|| {
            format!(
                "{} times a run has no verdict of a load and is left out there: {}",
                self.withheld.times,
                self.withheld.why()
            )
        });
        let severity = if withheld.is_some() { Severity::Caution } else { Severity::Note };
        let texts: Vec<String> = short.into_iter().chain(withheld).collect();
        (!texts.is_empty()).then(|| Warning::new(severity, "short-runs", texts.join(". ")))
    }

    /// That runs cannot be read.
    fn not_read(&self) -> Option<Warning> {
        self.left_out.first().map(|why| {
            let text =
                format!("left out, because they cannot be read: {}; {why}", self.left_out.len());
            Warning::new(Severity::Caution, LEFT_OUT, text)
        })
    }
}

/// Whether enough was measured of a cell to stand for the run.
fn is_whole(run: RunPair<'_>, compared: &CellComparison) -> bool {
    run.whole.status == RunStatus::Complete || 2 * compared.pairs >= run.plan().schedule.pairs
}

/// Codes of the warnings that withhold the verdict of a cell and speak against its values.
fn withheld_by(compared: &CellComparison) -> BTreeSet<&str> {
    let speaks = |warning: &&Warning| {
        warning.severity == Severity::Blocks && !TOO_FEW.contains(&warning.code.as_str())
    };
    compared.warnings.iter().filter(speaks).map(|warning| warning.code.as_str()).collect()
}

fn named(name: &str) -> Result<RunFigure, JudgeError> {
    let found = RunFigure::ALL.into_iter().find(|figure| figure.name() == name);
    found.ok_or_else(|| {
        let all: Vec<&str> = RunFigure::ALL.iter().map(|figure| figure.name()).collect();
        JudgeError::History(format!(
            "no figure of a run is called {name:?}; there are {}",
            all.join(", ")
        ))
    })
}

fn nothing(source: &str, loads: &BTreeSet<String>, question: &HistoryQuestion) -> String {
    if loads.is_empty() {
        return format!(
            "there are no runs in {source}; measure some with `dbdyno compare`, or name a file of figures"
        );
    }
    if question.loads.is_empty() && question.clients.is_empty() {
        format!("no run in {source} has values of that; try --metric rate")
    } else {
        let loads: Vec<&str> = loads.iter().map(String::as_str).collect();
        format!("no run in {source} measured that; the loads there are {}", loads.join(", "))
    }
}

/// Figures of which the better one is shown where none was asked for.
fn by_itself(driving: &Driving) -> [RunFigure; 2] {
    match driving {
        Driving::Closed | Driving::Search(_) => [RunFigure::Rqps, RunFigure::Rate],
        // Rates are given there.
        Driving::Thinking(_) | Driving::Open(_) => [RunFigure::RelativeP99, RunFigure::P99],
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

fn point(run: RunPair<'_>, value: f64) -> HistoryPoint {
    HistoryPoint {
        unix_ms: Some(run.whole.started_unix_ms as i64),
        label: run
            .whole
            .name
            .as_ref()
            .map_or_else(|| run.whole.id.to_string(), |name| format!("@{name}")),
        version: version(run),
        value,
    }
}

/// The arm without what changes from night to night.
fn family(spec: &ArmSpec) -> String {
    let mut spec = ArmSpec { slow: 0.0, ..spec.clone() };
    if let Target::Release(release) = &mut spec.target {
        release.version = "*".to_owned();
    }
    spec.to_string()
}

fn label(run: RunPair<'_>, arm: Arm) -> String {
    let spec = run.spec_on(arm).to_string();
    match run.environment(arm).get("server.version") {
        "" => spec,
        version => format!("{spec} ({version})"),
    }
}

fn version(run: RunPair<'_>) -> String {
    let asked = match &run.spec_on(Arm::Test).target {
        Target::Release(release) => release.version.as_str(),
        _ => "",
    };
    match run.environment(Arm::Test).get("server.version") {
        "" => asked.to_owned(),
        version => version.to_owned(),
    }
}

/// What led to plans, in pages whose numbers are others in every run; the plans are facts as well.
const OF_PLANS: [&str; 5] = ["decisions[", "plan_cause[", "histograms[", "runner_up[", "samples["];

/// What was true of a run, for ratios and for other figures, as far as it was asked for.
#[derive(Default)]
struct RunFacts([Option<Rc<Facts>>; 2]);

impl RunFacts {
    /// Those of a figure: the same as of a run before, where they are equal.
    fn of(
        &mut self,
        run: RunPair<'_>,
        figure: RunFigure,
        all: &mut HashSet<Rc<Facts>>,
    ) -> Rc<Facts> {
        let own = self.0[usize::from(figure.is_ratio())].get_or_insert_with(|| {
            let own = Rc::new(facts(run, figure));
            all.get(&own).cloned().unwrap_or_else(|| {
                all.insert(own.clone());
                own
            })
        });
        own.clone()
    }
}

/// What was true of a run: the host once, the test arm, and of the base what its ratio rests on.
fn facts(run: RunPair<'_>, figure: RunFigure) -> Facts {
    let plan = run.plan();
    let mut facts = BTreeMap::new();
    facts.insert("dbdyno".to_owned(), run.whole.tool_version.clone());
    let terms = TERMS.iter().filter_map(|term| Some((term.name, term.as_fact(plan)?)));
    facts.extend(terms.map(|(name, value)| (format!("plan.{name}"), value)));
    for file in &plan.question.files {
        let digest = dbdyno_model::random::key_of(&file.text);
        facts.insert(format!("plan.file.{}", file.file), format!("{digest:016x}"));
    }
    for arm in Arm::BOTH {
        if arm == Arm::Base && !figure.is_ratio() {
            continue;
        }
        facts.insert(format!("{arm}.slow"), run.spec_on(arm).slow.to_string());
        for (name, value) in &run.environment(arm).facts {
            if OF_PLANS.iter().any(|kind| name.starts_with(kind)) {
                continue;
            }
            let name =
                if name.starts_with("host.") { name.clone() } else { format!("{arm}.{name}") };
            facts.insert(name, value.clone());
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{WALL_NS, of_pairs, point_queries};
    use dbdyno_model::{ArmIndex, Run, ShiftWeight};

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
            run.environment[ArmIndex::BASE].set("host.kernel", kernel);
            run.environment[ArmIndex::TEST].set("host.kernel", kernel);
            if base_changes {
                run.environment[ArmIndex::BASE].set("server.version", format!("{number}"));
            }
            run.started_unix_ms = number * 86_400_000;
            run
        };
        (0..20).map(night).collect()
    }

    /// A store has an environment once for all runs of it, and a copy for each of them was the
    /// gigabytes of a file of megabytes.
    #[test]
    fn what_was_true_of_many_runs_is_kept_once() {
        let question = HistoryQuestion::of_figures(&[]);
        let mut gathering = Gathering::new(&question).unwrap();
        for run in &nights(false) {
            gathering.add_run(run.first_pair());
        }
        assert_eq!(gathering.facts.len(), 4, "with each kernel, of ratios and of others");
        let of_runs = gathering.groups.values().flat_map(|raw| &raw.facts);
        assert!(of_runs.clone().count() >= 20);
        assert!(of_runs.clone().all(|facts| Rc::strong_count(facts) > 8));
    }

    fn of_runs(runs: &[Run], question: &HistoryQuestion) -> Result<BenchmarkHistory, JudgeError> {
        let mut gathering = Gathering::new(question)?;
        runs.iter().for_each(|run| gathering.add_run(run.first_pair()));
        gathering.into_history("a store")
    }

    #[test]
    fn a_base_in_common_takes_the_host_out() {
        let runs = nights(false);
        let history = of_runs(&runs, &HistoryQuestion::of_figures(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!((series.metric.as_str(), series.points.len()), ("rqps", 20));
        assert!(series.changes.shifts.is_empty(), "{:?}", series.changes);
    }

    #[test]
    fn without_one_the_reader_is_told_and_the_kernel_is_named() {
        let history = of_runs(&nights(true), &HistoryQuestion::of_figures(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.metric, "rate");
        assert!(series.warnings.iter().any(|warning| warning.code == "no-common-base"));
        let [shift] = &series.changes.shifts[..] else { panic!("{:?}", series.changes) };
        assert_eq!((shift.first, shift.weight), (12, ShiftWeight::Alarm));
        assert!(
            series.is_worse(shift.size.estimate) && (shift.size.estimate + 0.5).abs() < 0.01,
            "{shift:?}"
        );
        let cause = &series.causes[0][0];
        assert_eq!((cause.fact.as_str(), cause.at), ("host.kernel", 12));
        assert_eq!((cause.before.as_str(), cause.after.as_str()), ("6.1.0", "6.1.9"));
    }

    /// A gate does not rest on the runs that happen to be readable.
    #[test]
    fn a_run_that_cannot_be_read_is_named() {
        let all = HistoryQuestion::of_figures(&[]);
        let mut gathering = Gathering::new(&all).unwrap();
        nights(false).iter().for_each(|run| gathering.add_run(run.first_pair()));
        gathering.leave_out("run 1badcafe, arm: gone".to_owned());
        let history = gathering.into_history("a store").unwrap();
        let [warning] = &history.warnings[..] else { panic!("{:?}", history.warnings) };
        assert_eq!(warning.code, LEFT_OUT);
        assert!(warning.text.contains("be read: 1;") && warning.text.contains("1badcafe"));
    }

    /// Nights of a server; in the last ones the client has no time left, and test does half as
    /// much.
    fn nights_of_a_server(sound: u64, saturated: u64) -> Vec<Run> {
        let night = |number: u64| {
            let is_saturated = number >= sound;
            let mut run = point_queries("mysql://u@h/d", 2, |round| {
                round.statements += (number * 37 + u64::from(round.key.pair)) % 11;
                if is_saturated && round.key.arm == ArmIndex::TEST {
                    round.statements /= 2;
                    round.cost.client_cpu_ns = Some(2 * WALL_NS * 85 / 100);
                }
            });
            run.started_unix_ms = number * 86_400_000;
            run
        };
        (0..sound + saturated).map(night).collect()
    }

    fn codes(warnings: &[Warning]) -> Vec<&str> {
        warnings.iter().map(|warning| warning.code.as_str()).collect()
    }

    /// The night in which the base arm became another one: a series of its own, without a value.
    #[test]
    fn a_latest_run_that_begins_no_series_is_told() {
        let mut runs = nights_of_a_server(18, 1);
        runs[18].id = dbdyno_model::RunId("tonight".to_owned());
        runs[18].environment[ArmIndex::BASE].set("server.version", "11.4.4");
        let told = |runs: &[Run]| {
            let warnings = of_runs(runs, &HistoryQuestion::of_figures(&["rqps"])).unwrap().warnings;
            codes(&warnings).contains(&LEFT_OUT)
        };
        assert!(told(&runs));
        runs.extend(nights_of_a_server(1, 0));
        assert!(!told(&runs), "it is no question any more");
    }

    /// What no verdict rests on raises no alarm, and hides none: it is missing, and said to be.
    #[test]
    fn runs_without_a_verdict_are_left_out_and_counted() {
        let mut runs = nights_of_a_server(18, 6);
        let history = of_runs(&runs, &HistoryQuestion::of_figures(&[])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.points.len(), 18);
        assert!(series.changes.shifts.is_empty(), "{:?}", series.changes);
        let [missing] = &history.warnings[..] else { panic!("{:?}", history.warnings) };
        assert_eq!((missing.severity, &*missing.code), (Severity::Caution, "short-runs"));
        for part in ["6 times a run has no verdict", "client-saturated (6)", "dbdyno show 0"] {
            assert!(missing.text.contains(part), "{part:?} is missing in {missing:?}");
        }
        let latest = series.warnings.iter().find(|warning| warning.code == LEFT_OUT).unwrap();
        assert!(latest.text.contains("the latest 6 runs"), "{latest:?}");
        // A sound night later the gap is not at the end any more.
        runs.extend(nights_of_a_server(1, 0));
        let history = of_runs(&runs, &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(history.series[0].points.len(), 19);
        assert!(!codes(&history.series[0].warnings).contains(&LEFT_OUT), "{history:?}");
        assert_eq!(codes(&history.warnings), ["short-runs"]);
    }

    #[test]
    fn where_no_run_has_a_verdict_the_reason_is_said() {
        let error = of_runs(&nights_of_a_server(0, 3), &HistoryQuestion::of_figures(&[]))
            .unwrap_err()
            .to_string();
        assert!(error.contains("client-saturated (3)"), "{error}");
    }

    /// Too few pairs for an interval say nothing against the value.
    #[test]
    fn a_run_of_two_pairs_is_a_value() {
        let run = of_pairs(2, "point-query", "sqlite:", 1, |_| {});
        let comparison = compare_run(run.first_pair()).unwrap();
        assert!(codes(&comparison.cells[0].warnings).contains(&"few-rounds"), "{comparison:?}");
        let history = of_runs(&[run], &HistoryQuestion::of_figures(&[])).unwrap();
        assert_eq!(history.series[0].points.len(), 1);
        assert_eq!(codes(&history.warnings), Vec::<&str>::new());
    }

    #[test]
    fn a_figure_that_is_named_twice_is_looked_at_once() {
        let history =
            of_runs(&nights(false), &HistoryQuestion::of_figures(&["rate", "rate"])).unwrap();
        let [series] = &history.series[..] else { panic!("{history:?}") };
        assert_eq!(series.points.len(), 20);
    }

    /// Two rates are two experiments, and their series have two names.
    #[test]
    fn series_say_how_they_were_driven() {
        let night = |driving: &str| {
            let mut run = point_queries("sqlite:", 1, |_| {});
            run.plan.question.driving = driving.parse().unwrap();
            run
        };
        let runs = ["closed", "think 10ms", "think 20ms"].map(night);
        let history = of_runs(&runs, &HistoryQuestion::of_figures(&["rate"])).unwrap();
        let mut about: Vec<&str> = history.series.iter().map(|one| &*one.about).collect();
        about.dedup();
        assert_eq!(about.len(), 3, "{about:?}");
    }

    #[test]
    fn what_was_not_measured_is_said() {
        let runs = nights(false);
        let mut other = HistoryQuestion::of_figures(&[]);
        other.loads = vec!["scan".into()];
        let error = of_runs(&runs, &other).unwrap_err().to_string();
        assert!(error.contains("the loads there are point-query"), "{error}");
        let error =
            of_runs(&runs, &HistoryQuestion::of_figures(&["speed"])).unwrap_err().to_string();
        assert!(error.contains("there are rqps, rate"), "{error}");
    }
}
