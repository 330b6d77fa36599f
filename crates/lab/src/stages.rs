//! The stages of a plan, one after the other.
//!
//! ```text
//!   stage     settle        warm         measure: for each client count a cell
//!             all arms      all arms     ├─ place servers, warm up until steady
//!                                        └─ rounds in random blocks, each stored before the next;
//!                                           between blocks the servers may be started again
//! ```
//!
//! Where more than two arms take part, the one that fails is taken down and the others go on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use dbdyno_judge::response;
use dbdyno_load::arrival::ArrivalSchedule;
use dbdyno_model::random;
use dbdyno_model::readings::{CanarySide, ENGINE_PREFIX, REPLICA_BEHIND, STOOD_STILL, WINDOW_NS};
use dbdyno_model::{
    ArmIndex, Arms, Block, Cell, Dialect, Driving, Placement, Plan, Readings, Round, RoundKey,
    RoundPace, RunId, Slo, Stage, Warning,
};
use dbdyno_workload::Dataset;
use dbdyno_workload::insert_benchmark::{BenchmarkStep, Sizes};

use crate::all_arms;
use crate::arm::Station;
use crate::arrivals;
use crate::capture::{self, Meter};
use crate::driver::{self, Driver, RoundTerms, SliceTerms, WarmArm};
use crate::ending::{self, Ending};
use crate::error::LabError;
use crate::host_check::{HostCheck, HostLook};
use crate::insert_benchmark::{InsertProgress, Site};
use crate::laboratory::Lab;
use crate::neighbours::Neighbours;
use crate::pace;
use crate::placement;
use crate::remaining_time::{RemainingTime, WorkAhead};
use crate::resting::Resting;
use crate::search;
use crate::settle::{self, Settling};
use crate::standstill;
use crate::topology::{self, Following};
use crate::warm_up::{Before, Warmth};
use crate::watch::{Counter, Progress};
use dbdyno_judge::forecast::RemainingWork;
use dbdyno_judge::forecast::interleaving::RoundSlices;
use dbdyno_judge::sequential;
use dbdyno_workload::planned::{self, datasets_of};

/// A run under way.
pub(crate) struct Stages<'a, 'b> {
    lab: &'a mut Lab<'b>,
    plan: &'a Plan,
    stations: &'a mut Arms<Station>,
    run: &'a RunId,
    left: &'a RemainingWork,
    start: u32,
    filling: u32,
    /// How often a load was made ready.
    turn: u64,
    counter: Counter,
    neighbours: Neighbours,
    following: Following,
    /// Since the last settling, in a run that was taken up again.
    repeated: WriteDebt,
    /// How far the steps of the Insert Benchmark have come.
    inserted: InsertProgress,
    /// When a cell ends before all its pairs are measured.
    ending: Ending,
    /// What servers do beside answering, in the cell that is measured.
    meters: Arms<Meter>,
    host_check: HostCheck,
    resting: Resting,
    /// The host since the last round, if nothing has been done since.
    last_look: Option<HostLook>,
    /// Statements per second in the last round of the cell, where there was one.
    last_sps: BTreeMap<ArmIndex, f64>,
    /// Whether the reader knows that rounds are cut into slices.
    has_told_slices: bool,
    remaining_time: RemainingTime,
    /// Starts and cells that are ahead.
    ahead: (u32, u32),
    /// Rounds of the cells that are ahead, whose pace is the plan's as far as is known.
    later_rounds: u32,
}

/// Whether writes were repeated, for which the servers owe work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteDebt {
    Nothing,
    Writes,
}

impl<'a, 'b> Stages<'a, 'b> {
    /// At the first stage.
    pub(crate) fn new(
        lab: &'a mut Lab<'b>,
        plan: &'a Plan,
        stations: &'a mut Arms<Station>,
        run: &'a RunId,
        left: &'a RemainingWork,
        ending: Ending,
    ) -> Stages<'a, 'b> {
        let counter = Counter { done: 0, total: left.rounds_left };
        let host_check = HostCheck::new(lab.home.dir().to_owned());
        let remaining_time = RemainingTime::new(lab.clock.clone());
        let resting = Resting::new(plan);
        Stages {
            lab,
            plan,
            stations,
            run,
            left,
            start: left.start,
            filling: left.filling,
            turn: 0,
            counter,
            neighbours: Neighbours::default(),
            following: Following::default(),
            repeated: WriteDebt::Nothing,
            inserted: InsertProgress::default(),
            ending,
            meters: Arms::default(),
            host_check,
            resting,
            last_look: None,
            last_sps: BTreeMap::new(),
            has_told_slices: false,
            remaining_time,
            ahead: (0, 0),
            later_rounds: 0,
        }
    }

    /// Goes through all stages.
    ///
    /// # Errors
    /// Whatever was in the way; the rounds until then are stored.
    pub(crate) fn carry_out(mut self) -> Result<(), LabError> {
        let plan = self.plan;
        for (index, stage) in plan.question.stages.iter().enumerate() {
            let is_past = self.left.is_past(index);
            match stage {
                Stage::Measure(label) => {
                    for cell in plan.cells_of(label) {
                        if let Some((step, sizes)) = planned::step_of(&cell) {
                            self.step(&cell, step, &sizes)?;
                        } else {
                            self.repeat(&cell)?;
                            self.measure(&cell)?;
                        }
                    }
                }
                Stage::Settle if is_past && self.repeated == WriteDebt::Nothing => {}
                Stage::Settle => self.settle()?,
                Stage::Restore if is_past && self.repeated == WriteDebt::Nothing => {}
                Stage::Restore => self.restore()?,
                Stage::Warm { .. } if is_past => {}
                Stage::Warm { load, limit_s } => self.warm(load, *limit_s)?,
            }
        }
        for warning in std::mem::take(&mut self.neighbours).warnings() {
            self.warn(&warning)?;
        }
        for warning in std::mem::take(&mut self.following).warnings() {
            self.warn(&warning)?;
        }
        Ok(())
    }

    /// Goes on without the arm that an error is of; which one that is.
    ///
    /// # Errors
    /// The error itself, where nothing can go on.
    fn without(&mut self, error: LabError) -> Result<ArmIndex, LabError> {
        let ended = error.ends_an_arm(self.stations.count() - 1)?;
        // What failed may fail once more when it is stopped; the reason is known already.
        self.stations.remove(ended.arm).map(|station| station.take_down(ended.arm));
        self.meters.remove(ended.arm);
        self.ending.goes_on_without(&ended);
        let left = self.counter.total - self.counter.done;
        let arms = self.stations.count() as u32;
        self.counter.total = self.counter.done + left / (arms + 1) * arms;
        self.lab.end_arm(self.run, &ended)?;
        Ok(ended.arm)
    }

    /// Does something to all arms again and again, until none of them fails.
    fn until_it_succeeds(
        &mut self,
        mut work: impl FnMut(&mut Self) -> Result<(), LabError>,
    ) -> Result<(), LabError> {
        while let Err(error) = work(self) {
            self.without(error)?;
        }
        Ok(())
    }

    fn warn(&mut self, warning: &Warning) -> Result<(), LabError> {
        self.lab.watch.report_progress(Progress::Warning(warning));
        self.lab.store.add_warning(self.run, warning)?;
        Ok(())
    }

    /// Measures a step of the Insert Benchmark; what was measured before the run was taken up again
    /// is repeated there.
    fn step(&mut self, cell: &Cell, step: BenchmarkStep, sizes: &Sizes) -> Result<(), LabError> {
        let next_pair = self.left.next_pair(cell);
        if next_pair > 0 {
            self.repeated = WriteDebt::Writes;
        }
        self.reset_meters();
        let mut site = Site {
            placement: placement::place_servers(self.plan, cell.clients, self.stations)?,
            lab: self.lab,
            plan: self.plan,
            stations: self.stations,
            run: self.run,
            start: self.start,
            neighbours: &mut self.neighbours,
            counter: &mut self.counter,
            meters: &mut self.meters,
        };
        let failed = site.measure_step(&mut self.inserted, cell, step, sizes, next_pair)?;
        for error in failed {
            self.without(error)?;
        }
        self.note_meters(cell)
    }

    fn settle(&mut self) -> Result<(), LabError> {
        self.until_it_succeeds(Stages::settle_all)?;
        self.repeated = WriteDebt::Nothing;
        Ok(())
    }

    fn settle_all(&mut self) -> Result<(), LabError> {
        let datasets = datasets_of(self.plan)?;
        let arms = self.stations.indices();
        let settling = Settling {
            stations: self.stations,
            tables: Arms::from_fn(arms, |arm| names_of(&datasets, self.stations[arm].dialect)),
            limit: settle::settling_limit(datasets.iter().map(|dataset| dataset.bytes()).sum()),
            stop: self.lab.stop,
        };
        for warning in settling.settle_arms(self.lab.watch)? {
            self.warn(&warning)?;
        }
        Ok(())
    }

    /// Repeats the writes of a cell that was measured before the run was taken up again.
    fn repeat(&mut self, cell: &Cell) -> Result<(), LabError> {
        let Some(time) = self.left.repeat(cell) else { return Ok(()) };
        let placement = placement::place_servers(self.plan, cell.clients, self.stations)?;
        self.turn += 1;
        for arm in self.stations.indices() {
            let stage = format!("repeating {cell}, unmeasured, for {:.0} s", time.as_secs_f64());
            self.lab.watch.report_progress(Progress::Stage(arm, &stage));
            let station = &self.stations[arm];
            let (turn, stop) = (self.turn, self.lab.stop);
            let repeated = Driver::prepare(self.plan, cell, turn, arm, station, placement, stop)
                .and_then(|driver| driver.repeat(time, self.lab.watch));
            if let Err(error) = repeated {
                self.without(error)?;
            }
        }
        self.repeated = WriteDebt::Writes;
        Ok(())
    }

    /// Runs a load on all arms, with as many clients as the plan has at most.
    fn warm(&mut self, label: &str, limit_s: Option<u32>) -> Result<(), LabError> {
        let cells = self.plan.cells_of(label);
        let Some(cell) = cells.into_iter().max_by_key(|cell| cell.clients) else { return Ok(()) };
        let limit_ns = limit_s
            .map_or(self.plan.schedule.warm_up_ns, |seconds| u64::from(seconds) * 1_000_000_000);
        self.drivers(&cell, |_| Warmth::new(Duration::from_nanos(limit_ns)))?;
        Ok(())
    }

    /// All arms made ready for a cell, and as warm as is wanted.
    fn drivers(
        &mut self,
        cell: &Cell,
        warmth: impl Fn(ArmIndex) -> Warmth,
    ) -> Result<Arms<Driver<'b>>, LabError> {
        let placement = placement::place_servers(self.plan, cell.clients, self.stations)?;
        self.last_look = None;
        self.turn += 1;
        let mut drivers = Arms::default();
        for arm in self.stations.indices() {
            match self.driver(cell, arm, placement, warmth(arm)) {
                Ok(driver) => drivers.push(arm, driver),
                Err(error) => drop(self.without(error)?),
            }
        }
        Ok(drivers)
    }

    /// One of them.
    fn driver(
        &mut self,
        cell: &Cell,
        arm: ArmIndex,
        placement: Placement,
        warmth: Warmth,
    ) -> Result<Driver<'b>, LabError> {
        let stage = format!("warming up {cell}");
        self.lab.watch.report_progress(Progress::Stage(arm, &stage));
        let (station, turn, stop) = (&self.stations[arm], self.turn, self.lab.stop);
        let mut driver = Driver::prepare(self.plan, cell, turn, arm, station, placement, stop)?;
        if let Some(warning) = driver.warm_up(warmth, self.lab.watch)? {
            self.warn(&warning)?;
        }
        Ok(driver)
    }

    /// Sets the pace of a cell that none is known of.
    fn pace(&mut self, cell: &Cell, drivers: &Arms<Driver<'_>>) -> Result<RoundPace, LabError> {
        let around = drivers.values().map(|driver| driver.known.around).max().unwrap_or_default();
        let pace = pace::pace_of(self.plan, cell, slowest_tps(drivers), around);
        if let Some(warning) = pace::pace_warning(&pace, self.plan, cell) {
            self.warn(&warning)?;
        }
        self.leave_out(pace.pairs..self.plan.schedule.pairs);
        Ok(pace)
    }

    /// Starts all servers on fresh copies of their images, which owe no work.
    fn restore(&mut self) -> Result<(), LabError> {
        let datasets = datasets_of(self.plan)?;
        for arm in self.stations.indices() {
            let text = "starting on the tables as they were loaded";
            self.lab.watch.report_progress(Progress::Stage(arm, text));
            if let Err(error) = self.stations[arm].restore_image(arm, &datasets) {
                self.without(error)?;
            }
        }
        self.repeated = WriteDebt::Nothing;
        Ok(())
    }

    /// Whether a new start begins before this pair of `pairs`.
    fn begins_start(&self, pair: u32, pairs: u32) -> bool {
        sequential::has_starts(self.plan) && self.plan.restarts_before(pair, pairs)
    }

    /// Begins a new start before this pair of `pairs`: on tables that are filled anew, or on those
    /// that there are.
    fn begin_start(&mut self, pair: u32, pairs: u32) -> Result<(), LabError> {
        if !self.plan.reloads_before(pair, pairs) {
            return self.restart();
        }
        all_arms::reload_arms(self.lab, self.plan, self.stations)?;
        self.start += 1;
        self.filling += 1;
        Ok(())
    }

    /// Starts all arms again, at once, so that none is the older one. Each has a thread for it, and
    /// chance says whose begins: what lives in our threads gets memory by that.
    fn restart(&mut self) -> Result<(), LabError> {
        let all = if self.stations.count() == 2 { "both" } else { "all" };
        let text = format!("starting {all} arms again");
        self.lab.watch.report_progress(Progress::Stage(ArmIndex::TEST, &text));
        let datasets = datasets_of(self.plan)?;
        self.start += 1;
        let key = [self.plan.question.seed, random::key_of("restart"), u64::from(self.start)];
        let mut stream = random::stream(&key);
        let mut stations: Vec<(ArmIndex, &mut Station)> = self.stations.iter_mut().collect();
        stream.shuffle(&mut stations);
        let datasets = &datasets;
        let ended: Vec<Result<(), LabError>> = thread::scope(|scope| {
            let begun: Vec<_> = stations
                .into_iter()
                .map(|(arm, station)| scope.spawn(move || station.restart(arm, datasets)))
                .collect();
            let ended = begun.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect()
        });
        for error in ended.into_iter().filter_map(Result::err) {
            self.without(error)?;
        }
        Ok(())
    }

    /// Servers that begin cold are started again, and nothing is asked of them before the first
    /// round; of their rate is known what the drivers before had.
    fn cool(
        &mut self,
        cell: &Cell,
        drivers: Arms<Driver<'b>>,
    ) -> Result<Arms<Driver<'b>>, LabError> {
        let can_be = self.plan.arms.values().all(|arm| arm.can_be_restarted());
        if !self.begins_cold() || !can_be {
            return Ok(drivers);
        }
        let known = drivers.map(|driver| driver.known);
        self.restart()?;
        self.again(cell, known)
    }

    fn begins_cold(&self) -> bool {
        self.stations.values().any(Station::begins_cold)
    }

    /// All arms made ready once more after a start of the servers.
    fn again(&mut self, cell: &Cell, known: Arms<WarmArm>) -> Result<Arms<Driver<'b>>, LabError> {
        if !self.begins_cold() {
            let limit = Duration::from_nanos(self.plan.warm_again_ns());
            // Where rows change, what is slow to settle after a start is no matter of the memory.
            let is_short = planned::only_reads(self.plan, cell);
            let before = Arms::from_fn(self.stations.indices(), |arm| Before {
                client_tps: known[arm].warm_tps / f64::from(cell.clients),
                sps: self.last_sps.get(&arm).copied(),
            });
            return self.drivers(cell, |arm| {
                if is_short {
                    Warmth::after_restart(limit, before[arm])
                } else {
                    Warmth::new(limit)
                }
            });
        }
        let mut drivers = self.drivers(cell, |_| Warmth::new(Duration::ZERO))?;
        drivers.iter_mut().for_each(|(arm, driver)| driver.known = known[arm]);
        Ok(drivers)
    }

    fn measure(&mut self, cell: &Cell) -> Result<(), LabError> {
        let (plan, next_pair) = (self.plan, self.left.next_pair(cell));
        let known = self.left.cell_pace(plan, cell);
        let is_measured = known.as_ref().is_some_and(|pace| next_pair >= pace.pairs);
        if is_measured || self.left.is_over(cell) {
            return Ok(());
        }
        if self.ending.is_decided(cell)? {
            self.leave_out(next_pair..known.map_or(plan.schedule.pairs, |pace| pace.pairs));
            return Ok(());
        }
        self.ending.cell_begins(self.left.cells_from(plan, cell));
        self.reset_meters();
        self.last_sps.clear();
        self.remaining_time.mark_begin();
        let limit = Duration::from_nanos(plan.schedule.warm_up_ns);
        let drivers = self.drivers(cell, |_| Warmth::new(limit))?;
        let recording = arrivals::recording_of(plan)?;
        let pace = match known {
            Some(pace) => pace,
            None if plan.question.driving.is_open() => {
                RoundPace::with_window(plan, Duration::from_nanos(plan.schedule.round_ns))
            }
            None => self.pace(cell, &drivers)?,
        };
        let mut drivers = self.cool(cell, drivers)?;
        let again = if sequential::has_starts(plan) { plan.start_again_ns() } else { 0 };
        self.ending.rounds_begin(Duration::from_nanos(again));
        let cut = self.cut(cell, &drivers, pace.window);
        self.remaining_time.cell_is_ready();
        for block in plan
            .blocks_of(cell)
            .into_iter()
            .filter(|block| (next_pair..pace.pairs).contains(&block.pair))
        {
            let pair = block.pair;
            if pair > next_pair {
                if ending::may_end_before(plan, pair, pace.pairs)
                    && self.ending.is_cell_over(cell)?
                {
                    self.leave_out(pair..pace.pairs);
                    break;
                }
                if self.begins_start(pair, pace.pairs) {
                    // Tracks are let go: what lives in our threads cannot be opened twice.
                    let known = drivers.map(|driver| driver.known);
                    self.remaining_time.mark_begin();
                    self.begin_start(pair, pace.pairs)?;
                    drivers = self.again(cell, known)?;
                    self.remaining_time.is_started();
                }
            }
            let block = block.of_those(|arm| drivers.get(arm).is_some());
            self.ahead = self.ahead_of(cell, pair, pace.pairs);
            self.later_rounds = self.rounds_behind(pair, pace.pairs);
            match cut {
                Some(cut) => self.interleaved(&mut drivers, cell, &block, cut, &pace)?,
                None => self.alternating(&mut drivers, cell, &block, &pace, &recording)?,
            }
        }
        self.note_meters(cell)
    }

    /// How the rounds of a cell are cut into slices, if they are.
    fn cut(
        &self,
        cell: &Cell,
        drivers: &Arms<Driver<'_>>,
        window: Duration,
    ) -> Option<RoundSlices> {
        let cut = RoundSlices::of_cell(self.plan, cell, window, slowest_tps(drivers));
        match self.left.was_cut(cell) {
            Some(was_cut) => RoundSlices::of_resumed_cell(was_cut, cut, window),
            None => cut,
        }
    }

    /// Measures the rounds of a block one after the other. Who fails has no further round.
    fn alternating(
        &mut self,
        drivers: &mut Arms<Driver<'_>>,
        cell: &Cell,
        block: &Block,
        pace: &RoundPace,
        recording: &[u64],
    ) -> Result<(), LabError> {
        for &arm in &block.order {
            let (driver, key) = (&drivers[arm], block.key(cell, arm));
            let around = driver.known.around;
            self.tell_round(cell, pace, around);
            let measured = match self.plan.question.driving {
                Driving::Search(slo) => self.search(driver, arm, &key, slo),
                Driving::Closed | Driving::Thinking(_) | Driving::Open(_) => {
                    let schedule = arrivals::arrival_schedule(self.plan, &key, recording);
                    self.round(driver, arm, &key, schedule, pace.window).map(drop)
                }
            };
            match measured {
                Ok(()) => {
                    self.counter.done += 1;
                    self.remaining_time.rounds_are_done(self.round_of(pace, around));
                }
                Err(error) => drop(drivers.remove(self.without(error)?)),
            }
        }
        Ok(())
    }

    /// Measures all rounds of a block in slices. Where one arm fails, the block is lost.
    fn interleaved(
        &mut self,
        drivers: &mut Arms<Driver<'_>>,
        cell: &Cell,
        block: &Block,
        cut: RoundSlices,
        pace: &RoundPace,
    ) -> Result<(), LabError> {
        if !std::mem::replace(&mut self.has_told_slices, true) {
            self.warn(&RoundSlices::interleaving_warning(self.plan))?;
        }
        let first = &drivers[block.order[0]];
        let around = first.known.around;
        self.tell_round(cell, pace, around);
        let before = self.last_look.take().unwrap_or_else(|| self.look(first));
        self.neighbours.add_unasked(before.servers_share());
        let mut memory = BTreeMap::new();
        for &arm in &block.order {
            memory.insert(arm, self.memory_before(arm)?);
        }
        let (plan, start, filling) = (self.plan, self.start, self.filling);
        let (neighbours, watch) = (&mut self.neighbours, &mut *self.lab.watch);
        let measured = standstill::until_answered(|attempt| {
            let cut = RoundSlices { count: cut.count << attempt, ..cut };
            let terms = SliceTerms { start, filling, cut, attempt };
            driver::measure_interleaved(drivers, plan, cell, block, terms, neighbours, watch)
        });
        let (mut rounds, still) = match measured {
            Ok(measured) => measured,
            Err(error) => {
                drivers.remove(self.without(error)?);
                return Ok(());
            }
        };
        let after = self.look(first);
        for &arm in &block.order {
            let round = &mut rounds[arm];
            round.readings.add_all(&memory[&arm]);
            round.readings.set(WINDOW_NS, Some(pace.window.as_nanos() as f64));
            round.readings.set(STOOD_STILL, (still > 0).then_some(f64::from(still)));
            self.keep(arm, round, &before, &after)?;
            self.counter.done += 1;
        }
        let rounds = block.order.len() as u32;
        self.remaining_time.rounds_are_done(self.round_of(pace, around) * rounds);
        self.last_look = Some(after);
        Ok(())
    }

    /// Tells that a round, or a block of them, begins.
    fn tell_round(&mut self, cell: &Cell, pace: &RoundPace, around: Duration) {
        self.lab.watch.report_progress(Progress::RoundBegins {
            done: self.counter.done,
            total: self.counter.total,
            left: self.time_left(pace, around),
            may_end_sooner: self.plan.rule.stopping.look_schedule().is_some(),
            load: &cell.load,
            clients: cell.clients,
        });
    }

    /// Pairs that will not be measured.
    fn leave_out(&mut self, pairs: std::ops::Range<u32>) {
        self.counter.total -= (self.stations.count() * pairs.len()) as u32;
    }

    /// Time that is left by what is to be done or by the clock, whichever is less.
    fn time_left(&self, pace: &RoundPace, around: Duration) -> Duration {
        let (starts, cells) = self.ahead;
        let rounds = self.counter.total - self.counter.done;
        let later = self.later_rounds.min(rounds);
        let by_plan =
            RoundPace::with_window(self.plan, Duration::from_nanos(self.plan.schedule.round_ns));
        let windows = self.round_of(pace, around) * (rounds - later)
            + self.round_of(&by_plan, around) * later;
        let ahead = WorkAhead { windows, starts, cells };
        let by_work = self.remaining_time.time_left(self.plan, &ahead);
        self.ending.time_left().map_or(by_work, |by_clock| by_clock.min(by_work))
    }

    /// What a round takes by the plan, with its clients getting in and out.
    fn round_of(&self, pace: &RoundPace, around: Duration) -> Duration {
        pace.window + Duration::from_nanos(self.plan.schedule.lead_in_ns) + around
    }

    /// Rounds behind this cell, of which these pairs are left.
    fn rounds_behind(&self, pair: u32, pairs: u32) -> u32 {
        let here = self.stations.count() as u32 * (pairs - pair);
        (self.counter.total - self.counter.done).saturating_sub(here)
    }

    /// Starts and cells behind this pair of a cell.
    fn ahead_of(&self, cell: &Cell, pair: u32, pairs: u32) -> (u32, u32) {
        let cells = self.left.cells_from(self.plan, cell).saturating_sub(1);
        let starts = |from: u32| (from..pairs).filter(|at| self.begins_start(*at, pairs)).count();
        (starts(pair + 1) as u32 + cells * starts(1) as u32, cells)
    }

    /// Adds to the facts of all arms what they did while a cell was measured.
    fn note_meters(&mut self, cell: &Cell) -> Result<(), LabError> {
        capture::note_measured_plans(self.plan, self.stations, cell);
        for (arm, station) in self.stations.iter_mut() {
            self.meters[arm].note_cell(station, cell);
            self.lab.store.set_environment(self.run, arm, &station.environment)?;
        }
        Ok(())
    }

    /// Meters of a cell that is about to begin.
    fn reset_meters(&mut self) {
        self.meters = Arms::from_fn(self.stations.indices(), |_| Meter::default());
        self.meters.iter_mut().for_each(|(arm, meter)| meter.begin_cell(&self.stations[arm]));
    }

    fn round(
        &mut self,
        driver: &Driver<'_>,
        arm: ArmIndex,
        key: &RoundKey,
        schedule: Option<ArrivalSchedule>,
        window: Duration,
    ) -> Result<Round, LabError> {
        let before = self.last_look.take().unwrap_or_else(|| self.look(driver));
        let memory = self.memory_before(arm)?;
        let waiting: Vec<&Station> =
            self.stations.all_except(arm).map(|(_, station)| station).collect();
        let neighbours = &mut self.neighbours;
        let (start, filling) = (self.start, self.filling);
        let (mut round, still) = standstill::until_answered(|attempt| {
            let (schedule, window) =
                (schedule.clone(), standstill::window_of_attempt(window, attempt));
            let terms = RoundTerms { start, filling, schedule, window, attempt };
            driver.round(self.plan, key, terms, &waiting, neighbours, self.lab.watch)
        })?;
        round.readings.set(STOOD_STILL, (still > 0).then_some(f64::from(still)));
        round.readings.add_all(&memory);
        let after = self.look(driver);
        self.keep(arm, &mut round, &before, &after)?;
        self.last_look = Some(after);
        Ok(round)
    }

    /// Stores a round with what was seen of the host before and after it.
    fn keep(
        &mut self,
        arm: ArmIndex,
        round: &mut Round,
        before: &HostLook,
        after: &HostLook,
    ) -> Result<(), LabError> {
        if let Some(ensemble) = self.stations[arm].ensemble() {
            self.following.look_at_followers(arm, ensemble, round);
        }
        let station = &self.stations[arm];
        let behind = topology::hold_against_source(arm, &station.connector, station.dialect)?;
        let name = format!("{ENGINE_PREFIX}{REPLICA_BEHIND}");
        round.readings.set(&name, behind.map(|bytes| bytes as f64));
        self.resting.after_round(&self.stations[arm].arm_watch(), &mut round.readings);
        before.note_canaries(CanarySide::Before, &mut round.readings);
        after.note_canaries(CanarySide::After, &mut round.readings);
        round.shrink_to_fit();
        self.lab.store.add_round(self.run, round)?;
        self.ending.note_round(round);
        self.last_sps.insert(arm, round.statements as f64 * 1e9 / round.wall_ns as f64);
        self.meters[arm].add_round(&round.readings);
        let server = self.stations[arm].server_processes();
        self.lab.watch.report_progress(Progress::RoundDone { arm, round, server: &server });
        Ok(())
    }

    /// Sees to the memory of an arm that is about to be measured.
    fn memory_before(&mut self, arm: ArmIndex) -> Result<Readings, LabError> {
        let (readings, told) = self.resting.before_round(arm, &self.stations[arm].arm_watch());
        if let Some(warning) = told {
            self.warn(&warning)?;
        }
        Ok(readings)
    }

    /// Looks at the host between two rounds.
    fn look(&mut self, driver: &Driver<'_>) -> HostLook {
        let watched: Vec<_> = self.stations.values().map(Station::arm_watch).collect();
        self.host_check.look_at_host(driver.placement, &watched)
    }

    /// Looks for the highest rate once; each step is a round of its own.
    fn search(
        &mut self,
        driver: &Driver<'_>,
        arm: ArmIndex,
        key: &RoundKey,
        slo: Slo,
    ) -> Result<(), LabError> {
        let (plan, window) = (self.plan, Duration::from_nanos(self.plan.schedule.round_ns));
        let path = search::search_rate(
            plan.question.seed,
            key.pair,
            driver.known.warm_tps,
            |step, rate| {
                let key = search::step_key(key, step);
                let schedule = arrivals::schedule_at(plan, &key, rate);
                let round = self.round(driver, arm, &key, Some(schedule), window)?;
                Ok(response::holds_slo(&round, slo))
            },
        )?;
        let text = search::describe_path(key, arm, &path);
        self.lab.watch.report_progress(Progress::Searched(&text));
        Ok(())
    }
}

/// Events per second of the arm that warmed up slowest.
fn slowest_tps(drivers: &Arms<Driver<'_>>) -> f64 {
    drivers.values().map(|driver| driver.known.warm_tps).fold(f64::INFINITY, f64::min)
}

/// What the tables of these datasets are called.
fn names_of(datasets: &[Arc<dyn Dataset>], dialect: Dialect) -> Vec<String> {
    let tables = datasets.iter().flat_map(|dataset| dataset.tables(dialect));
    tables.map(|table| table.name).collect()
}
