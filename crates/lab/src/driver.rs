//! One arm under one cell.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dbdyno_check::Level;
use dbdyno_host::SharedHost;
use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_load::closed::{RoundMeasurement, SLOT};
use dbdyno_load::{
    Clock, Connector, KeptConnections, LoadError, Moment, OpenSpec, Recording, RoundSpec, Slices,
    Thinking, end_recording, run_interleaved, run_open, run_round,
};
use dbdyno_model::readings::EDGE_EVENTS;
use dbdyno_model::{
    ArmIndex, Arms, Block, Cell, Dialect, Driving, Pauses, Placement, Plan, Readings, Round,
    RoundKey, TransactionRecording, Warning,
};
use dbdyno_probe::ServerProbe;
use dbdyno_server::FactValues;
use dbdyno_workload::ready::EventSource;
use dbdyno_workload::{Load, ReadyLoad};

use crate::arm::Station;
use crate::arrivals;
use crate::capture::{Observer, RoundWork};
use crate::connecting::Connecting;
use crate::cost::CostReadings;
use crate::error::LabError;
use crate::mechanism;
use crate::neighbours::{self, Look, Neighbours, OtherArms};
use crate::pauses::PauseMeter;
use crate::recorded;
use crate::refill;
use crate::topology;
use crate::warm_up::Warmth;
use crate::watch::Watch;
use dbdyno_judge::forecast::interleaving::RoundSlices;
use dbdyno_workload::planned;

/// Operations of the warm-up are numbered from here, out of reach of those that are measured.
const WARM_UP_OPERATION: u64 = 1 << 62;
/// Pauses of the warm-up are those of a pair that no plan has.
const WARM_UP_PAIR: u32 = u32::MAX;
/// Operations that are repeated in a run that was taken up again.
const REPEATED_OPERATION: u64 = 1 << 61;
/// Every pair has this many operations to itself; both of its rounds start at the same one.
const OPERATIONS_PER_PAIR: u64 = 1 << 32;
/// Of these, so many belong to each attempt: see `workload::generate` for the limit of all.
const OPERATIONS_PER_ATTEMPT: u64 = 1 << 20;
/// A load that is made ready for a cell has this many operations to itself, until the numbers of
/// turns are used up and begin again. See `workload::program` for what rests on these numbers.
const OPERATIONS_PER_TURN: u64 = 1 << 50;
const TURNS: u64 = 1 << 9;
/// How long a load is run against nothing to learn what asking costs. On a host with much else to
/// do even this may pass without a turn of ours; then it is tried again, twice as long each time.
const NULL_WINDOW: Duration = Duration::from_millis(200);
const NULL_TRIES: u32 = 6;

/// Slots that are kept, and how many of the load's make one.
const KEPT_SLOT: Duration = Duration::from_millis(100);
const SLOTS_IN_ONE: u32 = (KEPT_SLOT.as_nanos() / SLOT.as_nanos()) as u32;

/// How long an open loop goes on after its window: as long as that was, within these bounds.
const DRAIN_LEAST: Duration = Duration::from_secs(1);
const DRAIN_MOST: Duration = Duration::from_secs(10);

/// The terms of one round.
pub(crate) struct RoundTerms {
    /// Which start of the servers it falls in.
    pub start: u32,
    /// Which filling of the tables.
    pub filling: u32,
    /// In the open loop, when events are meant to be sent.
    pub schedule: Option<ArrivalSchedule>,
    /// Length of the measured window.
    pub window: Duration,
    /// How often nothing was answered before.
    pub attempt: u32,
}

/// The terms of a block that is measured in slices.
pub(crate) struct SliceTerms {
    /// Which start of the servers it falls in.
    pub start: u32,
    /// Which filling of the tables.
    pub filling: u32,
    /// How its rounds are cut.
    pub cut: RoundSlices,
    /// How often nothing was answered before.
    pub attempt: u32,
}

/// What is known of an arm under a cell once it was warmed up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WarmArm {
    /// Events per second while it was warmed up.
    pub warm_tps: f64,
    /// Time of a round that is neither lead-in nor window: connecting, and leaving.
    pub around: Duration,
}

/// One arm under one cell: the load made ready.
pub(crate) struct Driver<'a> {
    /// What warming it up has told.
    pub known: WarmArm,
    /// What clients rest while they warm it up.
    thinking: Option<Thinking>,
    cell: Cell,
    arm: ArmIndex,
    connector: Connector,
    clock: Clock,
    dialect: Dialect,
    host: SharedHost,
    probe: Option<ServerProbe>,
    /// Who asks the server about itself, between windows.
    observer: Option<Observer>,
    /// Those that follow it, where it is not alone.
    members: Vec<ServerProbe>,
    /// Number of the first operation of a pair.
    offset: u64,
    source: Load,
    load: ReadyLoad,
    slow: f64,
    /// What is promised of its transactions, where they are recorded.
    promise: Option<Level>,
    /// Where its clients and its server run.
    pub placement: Placement,
    /// Connections that stay from the warm-up to the last round, where they do.
    kept: Option<KeptConnections>,
    stop: &'a AtomicBool,
    /// For an embedded arm: what asking costs by itself, nanoseconds of processor time per event.
    /// `None` where that cannot be known.
    asking_ns_per_event: Option<f64>,
}

impl<'a> Driver<'a> {
    /// Makes a load ready for an arm, and learns what asking costs. All arms get the same `turn`,
    /// which nothing else on these tables has.
    ///
    /// # Errors
    /// Whatever the load met.
    pub(crate) fn prepare(
        plan: &Plan,
        cell: &Cell,
        turn: u64,
        arm: ArmIndex,
        station: &Station,
        placement: Placement,
        stop: &'a AtomicBool,
    ) -> Result<Driver<'a>, LabError> {
        let source = planned::planned_load(plan, &cell.load)?;
        let load = ReadyLoad::compile(&source, station.dialect)
            .expect("the templates of the catalog parse, and those of a file that has been read");
        let slow = plan.arms[arm].slow;
        let mut driver = Driver {
            known: WarmArm { warm_tps: 0.0, around: Duration::ZERO },
            thinking: arrivals::client_thinking(plan, WARM_UP_PAIR),
            cell: cell.clone(),
            arm,
            connector: station.connector.clone(),
            clock: station.clock.clone(),
            dialect: station.dialect,
            host: station.host.clone(),
            probe: station.probe.clone(),
            observer: Observer::of_rounds(&station.connector, station.probe.as_ref()),
            members: station.follower_probes(),
            offset: offset(station, arm, turn),
            source,
            load,
            slow,
            promise: None,
            placement,
            kept: stay(plan, cell, station.dialect, station.is_ours())
                .then(KeptConnections::default),
            stop,
            asking_ns_per_event: None,
        };
        if plan.arms[arm].record == TransactionRecording::On {
            let promise = recorded::promise_of(&driver.connector, driver.dialect, &driver.source);
            driver.promise =
                Some(promise.map_err(|error| driver.failed("asking for the level of", error))?);
        }
        // Nobody can hold a dialogue with nothing; its asking stays in the server's account.
        let known = matches!(driver.load.event_source(), EventSource::Program(_));
        if station.connector.is_embedded() && known {
            let asking = driver.ask_nothing();
            let doing = "measuring the cost of asking";
            driver.asking_ns_per_event = Some(asking.map_err(|error| driver.failed(doing, error))?);
        }
        Ok(driver)
    }

    /// Runs the load until the rate is steady, or until time is up; returns what the reader must
    /// know.
    ///
    /// # Errors
    /// Whatever the load met.
    pub(crate) fn warm_up(
        &mut self,
        mut warmth: Warmth,
        watch: &mut dyn Watch,
    ) -> Result<Option<Warning>, LabError> {
        let mut first_operation = WARM_UP_OPERATION + self.offset;
        while let Some(window) = warmth.next_stretch() {
            let spec = self.spec(&self.connector, self.cell.clients, first_operation);
            let entrance = Connecting::begin_round(self.arm, self.cell.clients, &self.clock);
            let mut look = |moment| tell(&entrance, moment, watch);
            let measured = run_round(&RoundSpec { window, ..spec }, &mut look);
            self.known.around = entrance.elapsed().saturating_sub(window);
            let (events, slots) = match measured {
                Err(LoadError::NothingFinished) => (0, Vec::new()),
                Err(error) => return Err(self.failed("warming up", error)),
                Ok(measured) => (measured.events, measured.series.statements),
            };
            warmth.add_stretch(window, &slots);
            self.known.warm_tps = events as f64 / window.as_secs_f64();
            first_operation += OPERATIONS_PER_PAIR;
        }
        self.restore()?;
        Ok(warmth.drift_warning(&self.arm.to_string(), &self.cell))
    }

    /// Undoes what the load has done to the number of rows, if it wants that.
    fn restore(&self) -> Result<(), LabError> {
        refill::restore_row_count(&self.source, &self.connector, self.dialect)
            .map_err(|error| self.failed("making the tables whole after", error))
    }

    /// Runs the load for a time, unmeasured.
    ///
    /// # Errors
    /// Whatever the load met.
    pub(crate) fn repeat(&self, time: Duration, watch: &mut dyn Watch) -> Result<(), LabError> {
        let spec = self.spec(&self.connector, self.cell.clients, REPEATED_OPERATION + self.offset);
        let entrance = Connecting::begin_round(self.arm, self.cell.clients, &self.clock);
        let mut look = |moment| tell(&entrance, moment, watch);
        match run_round(&RoundSpec { window: time, ..spec }, &mut look) {
            Ok(_) | Err(LoadError::NothingFinished) => self.restore(),
            Err(error) => Err(self.failed("repeating", error)),
        }
    }

    /// Whether pauses of the clients are looked for. On one processor with the server, being held
    /// up is the server's work; and in virtual time nobody is held up.
    fn has_pauses(&self) -> bool {
        !self.placement.is_one_processor() && !matches!(self.clock, Clock::Virtual(_))
    }

    fn failed(&self, doing: &str, error: LoadError) -> LabError {
        self.failed_at(format!("{doing} {}", self.cell), error)
    }

    /// What failed at which doing; a statement that a user wrote has a file.
    fn failed_at(&self, doing: String, error: LoadError) -> LabError {
        let of_file = self.load.file().filter(|_| error.is_of_statement()).map(str::to_owned);
        let error = LabError::Load(self.arm, doing, error);
        match of_file {
            Some(file) => LabError::OwnLoad(file, Box::new(error)),
            None => error,
        }
    }

    /// What asking costs when nothing answers: nanoseconds of processor time per event.
    fn ask_nothing(&self) -> Result<f64, LoadError> {
        let spec = self.spec(&Connector::Null, 1, WARM_UP_OPERATION);
        let spec = RoundSpec { kept: None, ..spec };
        let mut outcome = Err(LoadError::NothingFinished);
        for attempt in 0..NULL_TRIES {
            let window = NULL_WINDOW * 2_u32.pow(attempt);
            outcome = run_round(&RoundSpec { window, slow: 0.0, think: None, ..spec }, &mut |_| {});
            if !matches!(outcome, Err(LoadError::NothingFinished)) {
                break;
            }
        }
        let events =
            |asked: &RoundMeasurement| asked.events as f64 + asked.edge_events.unwrap_or(0.0);
        outcome.map(|asked| asked.usage.cpu_ns as f64 / events(&asked))
    }

    fn spec<'b>(
        &'b self,
        connector: &'b Connector,
        clients: u32,
        first_operation: u64,
    ) -> RoundSpec<'b> {
        RoundSpec {
            load: &self.load,
            connector,
            clients,
            first_operation,
            lead_in: Duration::ZERO,
            window: Duration::ZERO,
            think: self.thinking,
            slow: self.slow,
            processors: self.placement.clients,
            kept: self.kept.as_ref(),
            record: None,
            stop: self.stop,
        }
    }

    /// The number of the first operation of a round. An attempt whose window closed on nothing may
    /// have been answered behind it, and what it put in must not be put in again: the next one asks
    /// what nobody has asked.
    fn first_operation(&self, pair: u32, attempt: u32) -> u64 {
        self.offset + first_of(pair, attempt)
    }

    /// Measures one round; with a schedule, one of the open loop.
    ///
    /// # Errors
    /// Whatever the load met; nothing of the round counts then.
    pub(crate) fn round(
        &self,
        plan: &Plan,
        key: &RoundKey,
        terms: RoundTerms,
        waiting: &[&Station],
        neighbours: &mut Neighbours,
        watch: &mut dyn Watch,
    ) -> Result<Round, LabError> {
        let RoundTerms { start, filling, schedule, window, attempt } = terms;
        let first_operation = self.first_operation(key.pair, attempt);
        let clients = key.cell.clients;
        let spec = self.spec(&self.connector, clients, first_operation);
        let lead_in = Duration::from_nanos(plan.schedule.lead_in_ns);
        let think = arrivals::client_thinking(plan, key.pair);
        refill::reset_rows(&self.source, &self.connector, self.dialect)
            .map_err(|error| self.failed("making the rows ready for", error))?;
        let recording = self.promise.map(|_| Recording::new(clients));
        let record = recording.as_ref();
        let spec = RoundSpec { lead_in, window, think, record, ..spec };
        let entrance = Connecting::begin_round(self.arm, clients, &self.clock);
        let idle: Vec<ServerProbe> =
            waiting.iter().flat_map(|station| station.follower_probes()).collect();
        let mut looks = Vec::with_capacity(2);
        let (mut meter, mut pauses) = (None, None);
        let mut look = |moment: Moment| {
            match moment {
                Moment::Connecting(inside) => return entrance.report_progress(inside, watch),
                Moment::Opened if self.has_pauses() => meter = PauseMeter::start(),
                Moment::Opened => {}
                Moment::Closed => pauses = meter.take().and_then(PauseMeter::stop),
            }
            let waiting = waiting.iter().map(|station| station.probe.as_ref());
            let look = Look::at_arms(&*self.host, self.probe.as_ref(), waiting)
                .with_those_of(&self.connector);
            looks.push(look.with_members(&self.members, &idle));
        };
        let before = self.look_at_work();
        let outcome = match schedule {
            None => run_round(&spec, &mut look).map(|measured| (measured, None)),
            Some(schedule) => {
                let drain = window.clamp(DRAIN_LEAST, DRAIN_MOST);
                let spec = OpenSpec { round: spec, schedule, drain };
                run_open(&spec, &mut look).map(|(measured, open)| (measured, Some(open)))
            }
        };
        let (measured, open) =
            outcome.map_err(|error| self.failed_at(key.cell.to_string(), error))?;
        let seen = self.seen(&measured, &looks);
        let mut readings = readings(&seen, OtherArms::Wait, neighbours);
        readings.set(EDGE_EVENTS, measured.edge_events);
        self.note_work(before.as_ref(), &measured, &mut readings);
        if let Some((recording, promise)) = recording.zip(self.promise) {
            let spec = self.spec(&self.connector, clients, first_operation);
            let recorded = end_recording(recording, &spec);
            let recorded = recorded.map_err(|error| self.failed("reading all rows of", error))?;
            recorded::note_verdict(&recorded, promise, &mut readings);
        }
        self.restore()?;
        let round = self.told(key, start, filling, measured, &looks);
        Ok(Round { pauses, open, readings, ..round })
    }

    /// What the server says of its work so far, where it says anything.
    fn look_at_work(&self) -> Option<FactValues> {
        self.observer.as_ref().map(Observer::read_facts)
    }

    /// Notes what it has done since then.
    fn note_work(
        &self,
        before: Option<&FactValues>,
        measured: &RoundMeasurement,
        readings: &mut Readings,
    ) {
        let (Some(observer), Some(before)) = (&self.observer, before) else { return };
        let asked = RoundWork {
            statements: measured.answer.statements,
            events: measured.events,
            rows: measured.answer.rows_read,
        };
        observer.note_work(before, asked, readings);
    }

    /// What clients and observer saw of a round, without what further instruments say.
    fn told(
        &self,
        key: &RoundKey,
        start: u32,
        filling: u32,
        measured: RoundMeasurement,
        looks: &[Look],
    ) -> Round {
        Round {
            key: key.clone(),
            start,
            filling,
            started_unix_ms: measured.started_unix_ms,
            wall_ns: measured.wall_ns,
            events: measured.events,
            statements: measured.answer.statements,
            rows_read: measured.answer.rows_read,
            rows_changed: measured.answer.rows_changed,
            retries: measured.answer.retries,
            cost: self.seen(&measured, looks).round_cost(&self.connector),
            latency: measured.latency,
            series: measured.series.with_longer_slots(SLOTS_IN_ONE),
            classes: measured
                .classes
                .into_iter()
                .map(|class| class.with_longer_slots(SLOTS_IN_ONE))
                .collect(),
            pauses: None,
            open: None,
            readings: Readings::default(),
        }
    }

    fn seen<'l>(&self, measured: &RoundMeasurement, looks: &'l [Look]) -> CostReadings<'l> {
        let events = measured.events as f64 + measured.edge_events.unwrap_or(0.0);
        let asking_ns = self.asking_ns_per_event.map(|ns| (ns * events) as u64);
        let RoundMeasurement { usage, wall_ns, observed_ns, .. } = *measured;
        CostReadings { usage, wall_ns, observed_ns, looks, asking_ns }
    }
}

/// Measures all rounds of a block in slices, in the order of its arms.
///
/// # Errors
/// Whatever the load of an arm met; nothing of the block counts then.
pub(crate) fn measure_interleaved(
    drivers: &Arms<Driver<'_>>,
    plan: &Plan,
    cell: &Cell,
    block: &Block,
    terms: SliceTerms,
    neighbours: &mut Neighbours,
    watch: &mut dyn Watch,
) -> Result<Arms<Round>, LabError> {
    let specs = Arms::from_fn(drivers.indices(), |arm| {
        let driver = &drivers[arm];
        let operation = driver.first_operation(block.pair, terms.attempt);
        let lead_in = Duration::from_nanos(plan.schedule.lead_in_ns);
        RoundSpec { lead_in, ..driver.spec(&driver.connector, driver.cell.clients, operation) }
    });
    let SliceTerms { start, filling, cut, .. } = terms;
    let (count, order) = (cut.count, block.order.clone());
    let slices = Slices { count, window: cut.window, lead_in: cut.lead_in(), order };
    let entrance = Arms::from_fn(drivers.indices(), |arm| {
        Connecting::begin_round(arm, drivers[arm].cell.clients, &drivers[arm].clock)
    });
    let mut looks = Arms::from_fn(drivers.indices(), |_| Vec::with_capacity(2));
    let (mut meter, mut pauses) = (None, None);
    let mut look = |arm: ArmIndex, moment: Moment| {
        match moment {
            Moment::Connecting(inside) => return entrance[arm].report_progress(inside, watch),
            Moment::Opened if meter.is_none() && drivers[arm].has_pauses() => {
                meter = PauseMeter::start();
            }
            Moment::Opened => {}
            Moment::Closed => pauses = meter.take().and_then(PauseMeter::stop).or(pauses),
        }
        looks[arm].push(look_at_turns(drivers, arm));
    };
    let before = Arms::from_fn(drivers.indices(), |arm| drivers[arm].look_at_work());
    let measured = run_interleaved(&specs, &slices, &mut look)
        .map_err(|(arm, error)| drivers[arm].failed_at(cell.to_string(), error))?;
    let all_ns: u64 = measured.values().map(|measured| measured.observed_ns).sum();
    let mut rounds = Arms::default();
    for (arm, measured) in measured {
        let key = block.key(cell, arm);
        let seen = drivers[arm].seen(&measured, &looks[arm]);
        let mut readings = readings(&seen, OtherArms::TakeTurns, neighbours);
        drivers[arm].note_work(before[arm].as_ref(), &measured, &mut readings);
        let round = drivers[arm].told(&key, start, filling, measured, &looks[arm]);
        // Those of all arms were seen as one.
        let share = |pauses: Pauses| Pauses {
            sum_ns: (pauses.sum_ns as f64 * round.wall_ns as f64 / all_ns as f64) as u64,
            ..pauses
        };
        rounds.push(arm, Round { pauses: pauses.map(share), readings, ..round });
    }
    Ok(rounds)
}

/// Looks at an arm, and at the others that take turns with it.
fn look_at_turns(drivers: &Arms<Driver<'_>>, arm: ArmIndex) -> Look {
    let own = &drivers[arm];
    let others = || drivers.all_except(arm).map(|(_, other)| other);
    let members: Vec<ServerProbe> =
        others().flat_map(|other| other.members.iter().cloned()).collect();
    Look::at_arms(&*own.host, own.probe.as_ref(), others().map(|other| other.probe.as_ref()))
        .with_those_of(&own.connector)
        .with_members(&own.members, &members)
}

/// What further instruments showed in a round.
fn readings(seen: &CostReadings<'_>, other: OtherArms, neighbours: &mut Neighbours) -> Readings {
    let mut readings = topology::follower_readings(seen.looks);
    mechanism::note_engine_counts(seen, &mut readings);
    if let Some(shares) = neighbours.add_looks(seen.looks, other) {
        neighbours::note_shares(&shares, &mut readings);
    }
    readings
}

/// Whether connections stay from round to round, so that none is measured young.
///
/// Only where it was seen to matter: a server with threads for its connections had nothing to warm
/// up behind the lead-in, and loads that write wait for the disk. And only with servers of ours,
/// which have a place for the clients of both arms at once and send nobody away for being idle.
fn stay(plan: &Plan, cell: &Cell, dialect: Dialect, is_ours: bool) -> bool {
    let is_closed = matches!(plan.question.driving, Driving::Closed | Driving::Thinking(_));
    is_closed && is_ours && dialect == Dialect::Postgres && planned::only_reads(plan, cell)
}

/// While nothing is measured only connecting is told.
fn tell(entrance: &Connecting, moment: Moment, watch: &mut dyn Watch) {
    if let Moment::Connecting(inside) = moment {
        entrance.report_progress(inside, watch);
    }
}

/// All rounds of a block begin with the same operation, except where arms share one set of tables:
/// there the second arm would write the values that the first one has just written, which is less
/// work. Each gets operations of its own.
///
/// What is asked at another client count, after a restart or under another load has operations of
/// its own, too: rows that were put in before are still there.
fn offset(station: &Station, arm: ArmIndex, turn: u64) -> u64 {
    let shared = if station.shares_tables() { shared_offset(arm) } else { 0 };
    (turn % TURNS) * OPERATIONS_PER_TURN + shared
}

/// The operations of a pair in sixteenths, of which the arms take those that lie farthest apart.
fn shared_offset(arm: ArmIndex) -> u64 {
    let sixteenth = u64::from(arm.0.reverse_bits() >> 4);
    sixteenth * (OPERATIONS_PER_PAIR / 16)
}

fn first_of(pair: u32, attempt: u32) -> u64 {
    u64::from(pair) * OPERATIONS_PER_PAIR + u64::from(attempt) * OPERATIONS_PER_ATTEMPT
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of an operation 22 bits tell where in its round it is, as custom loads number their rows.
    #[test]
    fn no_attempt_asks_what_another_one_asked() {
        let firsts = (0..3).flat_map(|pair| (0..4).map(move |attempt| first_of(pair, attempt)));
        let firsts: Vec<u64> = firsts.collect();
        for two in firsts.windows(2) {
            assert!(two[0] + OPERATIONS_PER_ATTEMPT <= two[1], "{two:?}");
        }
        assert!(firsts.iter().all(|first| first % OPERATIONS_PER_PAIR < 1 << 22), "{firsts:?}");
    }
    use dbdyno_judge::sample;

    #[test]
    fn arms_that_share_tables_ask_apart() {
        let mut offsets: Vec<u64> = ArmIndex::all(ArmIndex::MOST).map(shared_offset).collect();
        assert_eq!(offsets[..2], [0, OPERATIONS_PER_PAIR / 2]);
        offsets.sort_unstable();
        assert!(offsets.windows(2).all(|two| two[1] - two[0] >= OPERATIONS_PER_PAIR / 16));
        assert!(offsets.iter().all(|offset| *offset < OPERATIONS_PER_PAIR));
    }

    #[test]
    fn connections_stay_where_young_ones_would_be_measured() {
        let told = |load: &str, driving: &str, dialect, is_ours| {
            let mut plan = sample::of_load(load, "mysql://u@h/d", 1, |_| {}).plan;
            plan.question.driving = driving.parse().unwrap();
            stay(&plan, &plan.cells()[0], dialect, is_ours)
        };
        assert!(told("point-query", "closed", Dialect::Postgres, true));
        assert!(told("point-query", "think 1ms", Dialect::Postgres, true));
        assert!(!told("point-query", "closed", Dialect::Postgres, false), "a place for one arm");
        assert!(!told("point-query", "closed", Dialect::Mysql, true), "threads");
        assert!(!told("read-write", "closed", Dialect::Postgres, true), "the disk");
        assert!(!told("point-query", "rate 100", Dialect::Postgres, true));
    }

    #[test]
    fn slots_of_the_load_make_whole_ones_that_are_kept() {
        assert_eq!(SLOT * SLOTS_IN_ONE, KEPT_SLOT);
    }
}
