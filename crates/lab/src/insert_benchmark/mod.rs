//! Carrying out the Insert Benchmark: both arms take part step by step.
//!
//! ```text
//!   l.i0, l.i1, l.i2   the rows of a step are cut into as many chunks as there are pairs:
//!                      base 0 │ test 0 │ test 1 │ base 1 │ …    a chunk is a round, whatever time
//!                                                               it takes
//!   l.x                base │ test        one round of each: a measurement and no verdict
//!   qrN, qpN           base │ test │ test │ base │ …            rounds of equal length
//! ```
//!
//! So every step but `l.x` has pairs, and the ordinary judge decides it. While one arm is measured
//! the others rest, and pay off some of its debts meanwhile; that is why history length and
//! dead tuples are noted before and after each round. Connections and partners live as long as a
//! step does; the rows of the query steps run on from step to step.

mod readings;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dbdyno_load::crew::{Conditions, Crew, CrewMeasured, TimedRound};
use dbdyno_load::{LoadError, Moment};
use dbdyno_model::{
    ArmIndex, Arms, Cell, Cost, Dialect, Placement, Plan, Readings, Round, RoundKey, RunId, Series,
    readings as names,
};
use dbdyno_workload::insert_benchmark::{
    BenchmarkStep, Class, ConnectionRole, RolePart, Sizes, Work, sql,
};
use dbdyno_workload::planned;
use dbdyno_workload::{Content, Load, ReadyLoad};

use crate::arm::Station;
use crate::capture::{Meter, Observer, RoundWork};
use crate::cost::CostReadings;
use crate::error::LabError;
use crate::laboratory::Lab;
use crate::neighbours::{Look, Neighbours, OtherArms};
use crate::standstill;
use crate::watch::{Counter, Progress};
use readings::Control;

/// Queries of a pair are numbered apart from those of all others.
const OPERATIONS_PER_PAIR: u64 = 1 << 32;

/// What goes on from step to step.
#[derive(Default)]
pub(crate) struct InsertProgress {
    /// By arm and client: number of the next insert of the query steps.
    next_commits: BTreeMap<ArmIndex, Vec<u64>>,
}

/// Where a step is measured.
pub(crate) struct Site<'a, 'b> {
    /// The laboratory.
    pub(crate) lab: &'a mut Lab<'b>,
    /// The plan.
    pub(crate) plan: &'a Plan,
    /// All arms.
    pub(crate) stations: &'a Arms<Station>,
    /// The run that rounds are stored in.
    pub(crate) run: &'a RunId,
    /// Who else is at work.
    pub(crate) neighbours: &'a mut Neighbours,
    /// Where clients and servers are.
    pub(crate) placement: Placement,
    /// In which start the servers are.
    pub(crate) start: u32,
    /// How far the run is.
    pub(crate) counter: &'a mut Counter,
    /// What servers do beside answering.
    pub(crate) meters: &'a mut Arms<Meter>,
}

impl Site<'_, '_> {
    /// Measures the rounds of a step on all arms from pair `next_pair` on. The rows of those before
    /// it, which are stored, are inserted again, unmeasured: the tables were made anew. Returns
    /// what arms met that the others went on without.
    ///
    /// # Errors
    /// Whatever the load met where fewer than two arms would be left; the rounds until then are
    /// stored.
    pub(crate) fn measure_step(
        &mut self,
        inserted: &mut InsertProgress,
        cell: &Cell,
        step: BenchmarkStep,
        sizes: &Sizes,
        next_pair: u32,
    ) -> Result<Vec<LabError>, LabError> {
        let (plan, stations) = (self.plan, self.stations);
        let pairs = planned::rounds_of_step(plan, step, sizes);
        if next_pair >= pairs && matches!(step.planned_work(sizes), Work::QueriesAtRate(_)) {
            return Ok(Vec::new());
        }
        self.check(cell)?;
        let mut failed = Vec::new();
        let arms = stations.indices();
        let scripts =
            Arms::from_fn(arms.clone(), |arm| scripts(plan, cell, step, sizes, &stations[arm]));
        let mut drivers = Arms::try_from_fn(arms, |arm| {
            let (station, scripts) = (&stations[arm], &scripts[arm]);
            StepTrack::prepare(inserted, cell, arm, step, sizes.clone(), station, scripts)
        })?;
        let blocks = plan.blocks_of(cell).into_iter().filter(|block| block.pair < pairs);
        let rounds = blocks.flat_map(|block| {
            block.order.iter().map(|arm| (*arm, block.key(cell, *arm))).collect::<Vec<_>>()
        });
        for (arm, key) in rounds {
            let is_stored = key.pair < next_pair;
            if is_stored && matches!(step.planned_work(sizes), Work::QueriesAtRate(_)) {
                continue;
            }
            self.announce(cell);
            let conditions = Conditions {
                slow: plan.arms[arm].slow,
                processors: self.placement.clients,
                stop: self.lab.stop,
            };
            let waiting: Vec<&Station> = stations.all_except(arm).map(|(_, one)| one).collect();
            let others = drivers.count() - 1;
            let Some(driver) = drivers.get_mut(arm) else { continue };
            let (start, neighbours) = (self.start, &mut *self.neighbours);
            let measured = standstill::until_answered(|attempt| {
                let terms = StepTerms { start, attempt, conditions: &conditions };
                driver.round(plan, &key, &terms, &waiting, neighbours)
            });
            let (mut round, still) = match measured {
                Ok(measured) => measured,
                Err(error) if error.can_be_done_without(others) => {
                    drivers.remove(arm);
                    failed.push(error);
                    continue;
                }
                Err(error) => return Err(error),
            };
            if is_stored {
                continue;
            }
            round.readings.set(names::STOOD_STILL, (still > 0).then_some(f64::from(still)));
            self.lab.store.add_round(self.run, &round)?;
            self.meters[arm].add_round(&round.readings);
            self.counter.done += 1;
            let server = self.stations[arm].server_processes();
            let done = Progress::RoundDone { arm, round: &round, server: &server };
            self.lab.watch.report_progress(done);
        }
        drivers.into_iter().for_each(|(arm, driver)| driver.finish(inserted, arm));
        Ok(failed)
    }

    fn check(&self, cell: &Cell) -> Result<(), LabError> {
        let because = |arm, why: &str| {
            let error = LoadError::Unfit(why.to_owned());
            Err(LabError::Load(arm, cell.load.clone(), error))
        };
        for (arm, station) in self.stations.iter() {
            if station.shares_tables() {
                return because(
                    arm,
                    "the Insert Benchmark needs tables of its own for each arm, and both arms are \
                     the same database; name another database in one of the URLs",
                );
            }
            if station.dialect == Dialect::Sqlite && cell.clients > 1 {
                return because(
                    arm,
                    "SQLite has one writer at a time; give --clients 1 for the Insert Benchmark",
                );
            }
        }
        Ok(())
    }

    fn announce(&mut self, cell: &Cell) {
        let round_ns = self.plan.schedule.round_ns + self.plan.schedule.lead_in_ns;
        self.lab.watch.report_progress(Progress::RoundBegins {
            done: self.counter.done,
            total: self.counter.total,
            left: Duration::from_nanos(round_ns) * (self.counter.total - self.counter.done),
            may_end_sooner: false,
            load: &cell.load,
            clients: cell.clients,
        });
    }
}

/// The terms of one round of a step.
struct StepTerms<'a> {
    /// Which start of the servers it falls in.
    start: u32,
    /// How often nothing was answered before.
    attempt: u32,
    /// What the clients keep to.
    conditions: &'a Conditions<'a>,
}

/// One arm in one step.
struct StepTrack<'a> {
    arm: ArmIndex,
    step: BenchmarkStep,
    sizes: Sizes,
    station: &'a Station,
    crew: Crew<'a>,
    control: Control,
    observer: Option<Observer>,
}

/// The roles of a step, made ready for an arm.
fn scripts(
    plan: &Plan,
    cell: &Cell,
    step: BenchmarkStep,
    sizes: &Sizes,
    station: &Station,
) -> Vec<(ConnectionRole, ReadyLoad)> {
    let load = step.load(sizes, cell.clients, plan.question.seed);
    let part = RolePart::of_foreground(step, sizes, cell.clients, plan.question.seed);
    RolePart::step_roles(step, sizes, station.dialect)
        .into_iter()
        .map(|role| {
            let content = Content::Dialogue(Arc::new(RolePart { role, ..part.clone() }));
            let load = Load { content, ..load.clone() };
            let script = ReadyLoad::compile(&load, station.dialect);
            (role, script.expect("a dialogue has no templates that could be wrong"))
        })
        .collect()
}

impl<'a> StepTrack<'a> {
    /// Connects an arm for a step.
    ///
    /// # Errors
    /// Whatever the connections met.
    fn prepare(
        inserted: &InsertProgress,
        cell: &Cell,
        arm: ArmIndex,
        step: BenchmarkStep,
        sizes: Sizes,
        station: &'a Station,
        scripts: &'a [(ConnectionRole, ReadyLoad)],
    ) -> Result<StepTrack<'a>, LabError> {
        let mut next = vec![0; cell.clients as usize];
        if let Work::QueriesAtRate(_) = step.planned_work(&sizes) {
            let known = inserted.next_commits.get(&arm).into_iter().flatten();
            for (next, known) in next.iter_mut().zip(known) {
                *next = *known;
            }
        }
        let crew = Crew::open(&station.connector, scripts, &next);
        let crew = crew.map_err(|error| LabError::Load(arm, format!("preparing {cell}"), error))?;
        let observer = Observer::of_rounds(&station.connector, station.probe.as_ref());
        let control = Control::open(station);
        Ok(StepTrack { arm, step, sizes, station, crew, control, observer })
    }

    /// Notes how far the inserts have come.
    fn finish(self, inserted: &mut InsertProgress, arm: ArmIndex) {
        if let Work::QueriesAtRate(_) = self.step.planned_work(&self.sizes) {
            inserted.next_commits.insert(arm, self.crew.next_commits());
        }
    }

    /// Measures one round.
    ///
    /// # Errors
    /// Whatever the load met; nothing of the round counts then.
    fn round(
        &mut self,
        plan: &Plan,
        key: &RoundKey,
        terms: &StepTerms<'_>,
        waiting: &[&Station],
        neighbours: &mut Neighbours,
    ) -> Result<Round, LabError> {
        let StepTerms { start, attempt, conditions } = *terms;
        let debt = self.control.read_debt();
        let before = self.observer.as_ref().map(Observer::read_facts);
        let mut looks = Vec::with_capacity(2);
        let mut look = |_: Moment| {
            let others = waiting.iter().map(|station| station.probe.as_ref());
            let look = Look::at_arms(&*self.station.host, self.station.probe.as_ref(), others);
            let members: Vec<_> =
                waiting.iter().flat_map(|station| station.follower_probes()).collect();
            looks.push(look.with_members(&self.station.follower_probes(), &members));
        };
        let clients = key.cell.clients;
        let measured = match self.step.planned_work(&self.sizes) {
            Work::Commits(commits) => {
                let pairs = planned::rounds_of_step(plan, self.step, &self.sizes);
                let (_, count) = BenchmarkStep::chunk_commits(commits, pairs, key.pair);
                self.crew.run_commits(count, conditions, &mut look)
            }
            Work::Indexes => {
                let scripts: Vec<_> =
                    (0..clients).map(|client| sql::indexes(self.station.dialect, client)).collect();
                self.crew.run_scripts(&scripts, conditions, &mut look)
            }
            Work::QueriesAtRate(rate) => {
                let timed = self.timed(plan, key, rate, attempt);
                self.crew.run_timed(&timed, conditions, &mut look)
            }
        };
        let measured = measured.map_err(|error| {
            LabError::Load(self.arm, key.cell.to_string(), self.explained(error))
        })?;
        neighbours.add_looks(&looks, OtherArms::Wait);
        let mut taken = self.readings(&measured, clients);
        if let (Some(observer), Some(before)) = (&self.observer, &before) {
            let events = Class::ALL.into_iter().map(|class| measured.turns_of(class).count).sum();
            let asked = RoundWork { statements: events, events, rows: measured.rows_read };
            observer.note_work(before, asked, &mut taken);
        }
        taken.set(names::DEBT_BEGIN, debt);
        taken.set(names::DEBT_END, self.control.read_debt());
        self.control.note_sizes(self.station, &mut taken);
        let cost = self.cost(&measured, &looks);
        Ok(self.as_round(key, start, measured, cost, taken))
    }

    fn explained(&self, error: LoadError) -> LoadError {
        match error {
            LoadError::NothingFinished if self.station.dialect == Dialect::Sqlite => {
                let why = "not one query got in between the writes: without a write-ahead log \
                           SQLite lets nobody read while it writes; try sqlite:?journal_mode=wal";
                LoadError::Unfit(why.to_owned())
            }
            error => error,
        }
    }

    fn timed(&self, plan: &Plan, key: &RoundKey, rate: u32, attempt: u32) -> TimedRound {
        TimedRound {
            rate,
            rows_per_commit: self.step.rows_per_commit(),
            first_query: u64::from(key.pair) * OPERATIONS_PER_PAIR,
            lead_in: Duration::from_nanos(plan.schedule.lead_in_ns),
            window: standstill::window_of_attempt(
                Duration::from_nanos(plan.schedule.round_ns),
                attempt,
            ),
        }
    }

    fn readings(&self, measured: &CrewMeasured, clients: u32) -> Readings {
        let rows = self.step.rows_per_commit() as f64;
        let getmin = measured.turns_of(Class::GetMin);
        let slowest = [Class::Insert, Class::Delete, Class::Query];
        let slowest = slowest.map(|class| measured.turns_of(class).ns_max).into_iter().max();
        let mut taken = Readings::default();
        taken.set(names::ROWS_INSERTED, Some(measured.turns_of(Class::Insert).count as f64 * rows));
        taken.set(names::ROWS_DELETED, Some(measured.turns_of(Class::Delete).count as f64 * rows));
        taken.set(names::SLOWEST_NS, slowest.map(|ns| ns as f64));
        taken.set(names::BUSIEST_THREAD_NS, Some(measured.busiest_ns as f64));
        taken.set(names::GETMIN_COUNT, Some(getmin.count as f64));
        taken.set(names::GETMIN_NS, Some(getmin.ns as f64));
        if getmin.count > 0 {
            taken.set(names::GETMIN_NS_MAX, Some(getmin.ns_max as f64));
        }
        if let Work::QueriesAtRate(rate) = self.step.planned_work(&self.sizes) {
            taken.set(names::TARGET_ROWS_PER_S, Some(f64::from(rate) * f64::from(clients)));
            taken.set(names::ROWS_DUE, measured.rows_due.map(|due| due as f64));
        }
        if self.step == BenchmarkStep::MakeIndexes {
            taken.set(names::ROWS_INSERTED, Some(self.rows_indexed(clients) as f64));
        }
        taken
    }

    fn rows_indexed(&self, clients: u32) -> u64 {
        u64::from(clients) * BenchmarkStep::WriteInBulk.first_row(&self.sizes)
    }

    /// In the load steps an *op* is a row inserted, in `l.x` a row indexed.
    fn as_round(
        &self,
        key: &RoundKey,
        start: u32,
        measured: CrewMeasured,
        cost: Cost,
        readings: Readings,
    ) -> Round {
        let (events, per_event) = match self.step.planned_work(&self.sizes) {
            Work::QueriesAtRate(_) => (measured.turns_of(Class::Query).count, 1),
            Work::Commits(_) => {
                (measured.turns_of(Class::Insert).count, self.step.rows_per_commit())
            }
            Work::Indexes => (measured.turns_of(Class::Insert).count, self.rows_indexed(1)),
        };
        let slots = measured.series.statements.iter().map(|count| count * per_event);
        let statements = match self.step.planned_work(&self.sizes) {
            // One moment at the end: that is no series.
            Work::Indexes => Vec::new(),
            Work::Commits(_) | Work::QueriesAtRate(_) => slots.collect(),
        };
        Round {
            key: key.clone(),
            start,
            // Steps go on with the tables of those before them.
            filling: 0,
            started_unix_ms: measured.started_unix_ms,
            wall_ns: measured.wall_ns,
            events,
            statements: events * per_event,
            rows_read: measured.rows_read,
            rows_changed: measured.rows_changed,
            retries: measured.retries,
            latency: measured.latency,
            series: Series { slot_ns: measured.series.slot_ns, statements },
            classes: measured.classes,
            cost,
            pauses: None,
            open: None,
            readings,
        }
    }

    /// On an embedded arm all of the cost is the arm's, the making of the statements included,
    /// which is little beside an insert of 50 rows.
    fn cost(&self, measured: &CrewMeasured, looks: &[Look]) -> Cost {
        let CrewMeasured { usage, wall_ns, observed_ns, .. } = *measured;
        let seen = CostReadings { usage, wall_ns, observed_ns, looks, asking_ns: None };
        seen.round_cost(&self.station.connector)
    }
}
