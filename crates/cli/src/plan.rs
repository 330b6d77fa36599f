//! From flags to a plan, and the plan in words before anything runs.

use std::time::Duration;

use dbdyno_judge::forecast::{CellForecast, RemainingWork};
use dbdyno_lab::{for_people, left_for_people};
use dbdyno_model::{
    ArmIndex, ArmSpec, Begin, Cache, Counting, Driving, ExperimentLevel, ImageUse, Interval,
    Pairing, Pin, Placement, Plan, Processors, Question, RateShape, RoundSchedule, Run, Stage,
    Stopping, Target, Topology,
};
use dbdyno_store::Store;
use dbdyno_workload::planned;

use crate::args::Compare;
use crate::failure::Failure;
use crate::insert_benchmark;
use crate::levels::Levels;
use crate::loads::{self, LoadChoice};
use crate::login;
use crate::rand::Rand;
use crate::until;

/// A change beyond which it is told as a factor: noise of a busy host, by which nothing is planned.
const CHANGE_MOST: f64 = 3.0;
/// How many stored runs are looked through for the noise of a load.
const RUNS_LOOKED_AT: usize = 10;

/// Rounds as `--quick` wants them: about a minute a cell.
///
/// On a shared host the rate wanders by a tenth within half a second, so that many short pairs tell
/// more than few long ones: a pair of rounds of 1 s has as much noise as one of 0.4 s. And starts
/// differ by more than 1 %, so that 16 of 6 pairs tell more than 8 of 18 in the same time.
const QUICK: Shape = Shape {
    pairs: 200,
    starts: Starts { restarts: 15, pairs: 96 },
    dear_starts: Starts { restarts: 7, pairs: 144 },
    round_ms: 100,
    lead_in_ms: 30,
    warm_up_ms: 2000,
};
/// Rounds otherwise: about five minutes a cell. Not as many starts as would be best for quick
/// starts, since large tables may take long to be warm again.
const THOROUGH: Shape = Shape {
    pairs: 500,
    starts: Starts { restarts: 23, pairs: 384 },
    dear_starts: Starts { restarts: 11, pairs: 480 },
    round_ms: 200,
    lead_in_ms: 50,
    warm_up_ms: 20_000,
};

/// Rounds of the open loop: long enough for a 99th percentile.
const OPEN_QUICK: Shape = Shape {
    pairs: 24,
    starts: Starts { restarts: 3, pairs: 16 },
    dear_starts: Starts { restarts: 3, pairs: 16 },
    round_ms: 1000,
    lead_in_ms: 200,
    warm_up_ms: 2000,
};
const OPEN_THOROUGH: Shape = Shape {
    pairs: 60,
    starts: Starts { restarts: 5, pairs: 48 },
    dear_starts: Starts { restarts: 5, pairs: 48 },
    round_ms: 2000,
    lead_in_ms: 300,
    warm_up_ms: 20_000,
};
/// Searches, each of which takes about seven rounds.
const SEARCH_QUICK: Shape = Shape {
    pairs: 6,
    starts: Starts { restarts: 2, pairs: 6 },
    dear_starts: Starts { restarts: 2, pairs: 6 },
    round_ms: 500,
    lead_in_ms: 100,
    warm_up_ms: 2000,
};
const SEARCH_THOROUGH: Shape = Shape {
    pairs: 12,
    starts: Starts { restarts: 3, pairs: 8 },
    dear_starts: Starts { restarts: 3, pairs: 8 },
    round_ms: 1000,
    lead_in_ms: 200,
    warm_up_ms: 20_000,
};
/// A start of two arms that takes longer is dear: of members of a topology, or with a copy of many
/// rows. More arms take longer for their rounds, too, in the same measure.
const DEAR_START_NS: u64 = 5_000_000_000;
/// Connections of the open loop, where nothing else is asked for: one would be a queue by itself.
const OPEN_CLIENTS: u32 = 16;
/// Each connection has a thread and three histograms.
const OPEN_CLIENTS_MAX: u32 = 1000;

#[derive(Clone, Copy)]
struct Shape {
    /// Of arms that live once.
    pairs: u32,
    /// Of arms that dbdyno starts or opens again within a few seconds, and where that is dear.
    starts: Starts,
    dear_starts: Starts,
    round_ms: u64,
    lead_in_ms: u64,
    warm_up_ms: u64,
}

/// How often arms are started again, and the pairs that there is time for beside that.
#[derive(Clone, Copy)]
struct Starts {
    restarts: u32,
    pairs: u32,
}

impl Starts {
    /// Arms that live once.
    fn none(pairs: u32) -> Starts {
        Starts { restarts: 0, pairs }
    }
}

/// The plan that the flags describe.
///
/// # Errors
/// Recorded arrivals that cannot be read; a load that is not there, or that cannot be asked of
/// these arms.
pub(crate) fn from_flags(flags: &Compare, mut arms: Vec<ArmSpec>) -> Result<Plan, Failure> {
    arms.iter_mut().try_for_each(login::fill_login)?;
    begin(flags, &mut arms)?;
    let driving = driving_of(flags)?;
    let shape = shape_of(&driving, flags);
    let rand = flags.rand.as_deref().map(|name| Rand { name, skew: flags.skew });
    let LoadChoice { stages, files, step_seconds } =
        loads::choose_loads(&flags.load, &flags.load_file, rand)?;
    let own = insert_benchmark::rounds(step_seconds);
    let is_steps = own.is_some();
    let warm_up_ns =
        flags.warm_up.map_or(shape.warm_up_ms * 1_000_000, |length| length.as_nanos() as u64);
    let clients = match flags.clients.as_slice() {
        [] => vec![if driving.is_open() { OPEN_CLIENTS } else { 1 }],
        given => without_repeats(given),
    };
    if driving.is_open() && clients.iter().any(|&clients| clients > OPEN_CLIENTS_MAX) {
        return Err(Failure::Usage(format!(
            "--rate and --find-max take at most {OPEN_CLIENTS_MAX} --clients, each of which has a \
             thread; fewer connections can hold any rate that the server can"
        )));
    }
    let mut plan = Plan { arms: arms.into_iter().collect(), ..flags.plan() };
    plan.question = Question { stages, clients, driving, files, ..plan.question };
    plan.question.rows = rows(flags);
    plan.schedule.lead_in_ns =
        own.as_ref().map_or(shape.lead_in_ms * 1_000_000, |own| own.lead_in_ns);
    plan.schedule.warm_up_ns = warm_up_ns;
    plan.quiet.pin = match placeable(flags.pin)? {
        // Each client has three connections, so that the processors stay awake.
        Pin::Auto if is_steps => Pin::None,
        pin => pin,
    };
    set_rounds(&mut plan, flags, &shape, own.as_ref())?;
    insert_benchmark::check_step_order(&plan).map_err(Failure::Usage)?;
    dbdyno_lab::check_plan(&plan)?;
    Ok(plan)
}

/// How the rates of trials of a run are measured: quickly, for a trial has many arms; as long as
/// it takes to part a small difference, no longer than it takes to part a large one, and no longer
/// than the run itself. `found` is what the run found, and in how many pairs. A trial ends before
/// its last pair as soon as the ratio of each of its arms is known to a part of what was found,
/// which a confidence sequence tells after each pair: a factor of seven takes about six of them.
pub(crate) fn rates_of_trials(plan: &Plan, found: Option<(Interval, u32)>) -> Plan {
    let starts = if are_restarted(plan) { QUICK.dear_starts } else { Starts::none(QUICK.pairs) };
    let pairs_of = |share: f64| found.map(|(rqps, pairs)| pairs_to_part(rqps, pairs, share));
    let usual = starts.pairs.max(pairs_of(PART_SEEN).unwrap_or(0));
    let (pairs, restarts) = match pairs_of(PART_PLAIN) {
        Some(few) if few.max(PAIRS_LEAST) < usual => {
            (few.max(PAIRS_LEAST), starts.restarts.min(RESTARTS_OF_FEW))
        }
        _ => (usual, starts.restarts),
    };
    let half = found.map(|(rqps, _)| {
        let size = rqps.estimate.ln().abs();
        let is_large = size >= std::f64::consts::LN_2;
        // A part of the logarithm of a factor of a hundred is no rate that anybody could tell.
        if is_large { PART_LARGE * (1.0 - (-size).exp()) } else { PART_PLAIN * size }
    });
    let stopping = match half.filter(|half| *half > 0.0 && half.is_finite()) {
        Some(half) => Stopping::Known { half },
        None => Stopping::Fixed,
    };
    let schedule = RoundSchedule {
        pairs: pairs.min(plan.schedule.pairs),
        restarts: restarts.min(plan.schedule.restarts),
        round_ns: plan.schedule.round_ns.min(QUICK.round_ms * 1_000_000),
        lead_in_ns: plan.schedule.lead_in_ns.min(QUICK.lead_in_ms * 1_000_000),
        warm_up_ns: plan.schedule.warm_up_ns.min(QUICK.warm_up_ms * 1_000_000),
        ..plan.schedule
    };
    Plan { schedule, ..plan.stopped_by(stopping) }
}

/// Half the interval, as a share of the difference on the scale of logarithms: where the larger
/// parts of a difference are seen, and where a twentieth of it is.
const PART_SEEN: f64 = 1.0 / 3.0;
const PART_PLAIN: f64 = 1.0 / 20.0;
/// The same of a factor of two and more, as a share of the rate that the slower arm lacks: what
/// makes it and what does not is plain long before.
const PART_LARGE: f64 = 1.0 / 8.0;
/// Pairs of a trial of a large difference, at least, in so many starts but one: one start says
/// nothing of what starts differ by.
const PAIRS_LEAST: u32 = 16;
const RESTARTS_OF_FEW: u32 = 3;

/// In how many pairs half the interval is this share of the difference.
fn pairs_to_part(rqps: Interval, pairs: u32, share: f64) -> u32 {
    let half = (rqps.high / rqps.low).ln() / 2.0;
    let times = half / rqps.estimate.ln().abs() / share;
    // Rounding does no harm, and what is no number asks for none.
    (f64::from(pairs) * times * times) as u32
}

/// How many rounds of which length, and in how many starts of the arms and fillings of the tables.
fn set_rounds(
    plan: &mut Plan,
    flags: &Compare,
    shape: &Shape,
    own: Option<&insert_benchmark::Rounds>,
) -> Result<(), Failure> {
    let of_two_ns = 2 * plan.start_again_ns() / plan.arms.count() as u64;
    let starts = if of_two_ns > DEAR_START_NS { shape.dear_starts } else { shape.starts };
    let (usual_restarts, pairs) = match (own, are_restarted(plan)) {
        (Some(own), _) => (0, own.pairs),
        (None, true) => (starts.restarts, starts.pairs),
        (None, false) => (0, shape.pairs),
    };
    plan.schedule.pairs = if flags.count_only { 0 } else { flags.rounds.unwrap_or(pairs) };
    plan.schedule.round_ns = match (flags.seconds, own) {
        (Some(length), _) => length.as_nanos() as u64,
        (None, Some(own)) => {
            own.step_seconds * 1_000_000_000 / u64::from(plan.schedule.pairs.max(1))
        }
        (None, None) => round_of(&plan.question.driving, shape.round_ms * 1_000_000)?,
    };
    let levels = Levels::from_flags(flags, plan, usual_restarts, own.is_some())?;
    (plan.schedule.restarts, plan.schedule.reloads) = (levels.restarts, levels.reloads);
    Ok(())
}

/// Where nothing is timed, the tables are those that are counted on.
fn rows(flags: &Compare) -> u64 {
    if !flags.count_only {
        return flags.rows;
    }
    flags.rows.min((dbdyno_lab::count::ROWS_MOST / u64::from(flags.tables)).max(1))
}

/// Says to all arms how they begin, as far as the flags do and the arms themselves do not.
fn begin(flags: &Compare, arms: &mut [ArmSpec]) -> Result<(), Failure> {
    if arms.len() > 2 && flags.upgrade_from.is_some() {
        return Err(Failure::Usage(
            "--upgrade-from is of TEST, and there are several; write ?upgrade-from= behind those \
             that it is meant for"
                .to_owned(),
        ));
    }
    let wanted = [
        ("--image", flags.image.is_some_and(|image| image != ImageUse::default())),
        ("--cache cold", flags.cache.is_some_and(|cache| cache != Cache::default())),
        ("--topology", flags.topology.is_some()),
    ];
    for (arm, spec) in ArmIndex::all(arms.len()).zip(arms) {
        let is_ours = matches!(spec.target, Target::Release(..));
        let upgrade = ("--upgrade-from", arm == ArmIndex::TEST && flags.upgrade_from.is_some());
        let unusable = wanted.iter().chain([&upgrade]).find(|(_, is_wanted)| *is_wanted);
        if let Some((flag, _)) = unusable.filter(|_| !is_ours) {
            return Err(Failure::Usage(format!(
                "{flag} is for servers that dbdyno gets and starts itself, and {arm} is {spec}; \
                 name a release such as mysql:8.0, or leave {flag} out"
            )));
        }
        let begin = &mut spec.begin;
        if begin.image == ImageUse::default() {
            begin.image = flags.image.unwrap_or_default();
        }
        if begin.cache == Cache::default() {
            begin.cache = flags.cache.unwrap_or_default();
        }
        if arm == ArmIndex::TEST && begin.upgrade_from.is_none() {
            begin.upgrade_from.clone_from(&flags.upgrade_from);
        }
        topology(flags, arm, begin)?;
        if begin.upgrade_from.is_some() && begin.topology.is_some() {
            return Err(Failure::Usage(
                "an upgrade in place is of one server; leave upgrade-from out, or the topology"
                    .to_owned(),
            ));
        }
        if begin.upgrade_from.is_some() && begin.image == ImageUse::None {
            return Err(Failure::Usage(
                "an upgrade in place begins with an image of the older release; leave image=none \
                 out, or upgrade-from"
                    .to_owned(),
            ));
        }
    }
    Ok(())
}

/// Among which servers an arm is the first.
fn topology(flags: &Compare, arm: ArmIndex, begin: &mut Begin) -> Result<(), Failure> {
    if begin.topology.is_none() {
        begin.topology = flags.topology.map(|shape| Topology { shape, delay: None });
    }
    if let Some(topology) = &mut begin.topology {
        topology.delay = topology.delay.or(flags.delay);
        topology
            .check_delay()
            .map_err(|why| Failure::Usage(format!("{arm} is {topology}: {why}")))?;
    }
    match begin.topology {
        None if flags.delay.is_some() => Err(Failure::Usage(format!(
            "--delay is that between the members of a topology, and {arm} is alone; add for \
             example --topology group:3, or write delay= behind the arm that it is meant for"
        ))),
        Some(topology) if begin.cache == Cache::Cold => Err(Failure::Usage(format!(
            "{arm} is {topology}, which is always started warm; leave out cold"
        ))),
        Some(topology) if begin.upgrade_from.is_some() => Err(Failure::Usage(format!(
            "{arm} is {topology}, which is started on empty data directories or on copies of an \
             image; leave out upgrade-from"
        ))),
        _ => Ok(()),
    }
}

fn driving_of(flags: &Compare) -> Result<Driving, Failure> {
    match (&flags.rate, flags.find_max, flags.think) {
        (None, None, None) => Ok(Driving::Closed),
        (None, None, Some(think)) => Ok(Driving::Thinking(think)),
        (Some(arrivals), _, None) => Ok(Driving::Open(arrivals.clone())),
        (None, Some(slo), None) => Ok(Driving::Search(slo)),
        (_, _, Some(_)) => Err(Failure::Usage(
            "--think is a pause after an answer; with --rate and --find-max events are sent at \
             scheduled times, whatever was answered: leave one of them out"
                .to_owned(),
        )),
    }
}

fn shape_of(driving: &Driving, flags: &Compare) -> Shape {
    match (driving, flags.quick) {
        (Driving::Closed, true) => QUICK,
        (Driving::Closed, false) => THOROUGH,
        // Response times are judged of both.
        (Driving::Thinking(_) | Driving::Open(_), true) => OPEN_QUICK,
        (Driving::Thinking(_) | Driving::Open(_), false) => OPEN_THOROUGH,
        (Driving::Search(_), true) => SEARCH_QUICK,
        (Driving::Search(_), false) => SEARCH_THOROUGH,
    }
}

/// A round long enough for the whole shape of the rate.
fn round_of(driving: &Driving, usual_ns: u64) -> Result<u64, Failure> {
    let Driving::Open(arrivals) = driving else { return Ok(usual_ns) };
    if let RateShape::Recorded(path) = &arrivals.shape {
        let times = dbdyno_lab::read_recording(path)?;
        return Ok(times.last().map_or(usual_ns, |last| last + 1_000_000));
    }
    Ok(arrivals.takes_ns().map_or(usual_ns, |shape_ns| shape_ns.max(usual_ns)))
}

/// Arms that are ours are started again between pairs, because two starts of one server are not
/// equally fast; but not in a suite, whose order leads from one state of the servers to the next.
fn are_restarted(plan: &Plan) -> bool {
    plan.arms.values().all(|arm| arm.can_be_restarted())
        && plan.question.stages.iter().all(|stage| matches!(stage, Stage::Measure(_)))
}

/// A placement on processors that we have.
fn placeable(pin: Pin) -> Result<Pin, Failure> {
    let ours = dbdyno_sandbox::allowed_processors();
    let all = Processors::from_numbers(ours.iter().copied());
    match pin {
        Pin::Given(Placement { clients, servers }) => {
            let named = clients.numbers().chain(servers.numbers());
            let foreign = Processors::from_numbers(named.filter(|number| !ours.contains(number)));
            if !foreign.is_any() {
                return Err(Failure::Usage(format!(
                    "--pin {pin} names processors that dbdyno may not use ({foreign}); it may use \
                     {all}"
                )));
            }
        }
        Pin::Split if ours.len() < 2 => {
            return Err(Failure::Usage(format!(
                "--pin split needs two processors and dbdyno may use {all} only; use --pin same"
            )));
        }
        Pin::Auto | Pin::Same | Pin::Split | Pin::None => {}
    }
    Ok(pin)
}

/// The command that carries out this plan again. Passwords are not part of it.
pub(crate) fn repeat_command(plan: &Plan, flags: &Compare) -> String {
    let wanted = until::in_words(flags);
    let mut plan = plan.clone();
    // Where something is wanted, the numbers are what the user gave.
    if !wanted.flags.is_empty() {
        plan.schedule.pairs = flags.rounds.unwrap_or(plan.schedule.pairs);
        plan.schedule.restarts = flags.restarts.unwrap_or(plan.schedule.restarts);
    }
    let mut command = plan.command_line(&wanted);
    if flags.quick {
        command.push_str(" --quick");
    }
    if !flags.varied.is_empty() {
        command.push_str(&format!(" --varied {}", flags.varied.join(",")));
    }
    if let Some(warm_up) = flags.warm_up {
        command.push_str(&format!(" --warm-up {}", warm_up.as_secs_f64()));
    }
    command
}

/// Whether a plan is told cell by cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Words {
    Few,
    EachCell,
}

/// The plan in words: how many rounds, how long, what can be found by what runs like it have shown.
pub(crate) fn announcement_of_plan(plan: &Plan, known: &[Run], words: Words) -> String {
    if plan.question.counting == Counting::Only {
        return format!("plan   {}\n{}", in_words(plan), counting_of(plan).trim_end());
    }
    let cells = plan.cells();
    let seconds = plan.schedule.round_ns as f64 / 1e9;
    let mut text = format!(
        "plan   {}\n       {} × {} {} of {seconds} s in random order: {}\n",
        in_words(plan),
        count_with_noun(cells.len(), "cell"),
        plan.schedule.pairs,
        blocks(plan),
        length(plan),
    );
    text.push_str(&driven(&plan.question.driving));
    // What can be found of response times is not known beforehand.
    let told = cells.iter().filter(|_| plan.question.driving == Driving::Closed);
    let forecasts: Vec<CellForecast> =
        told.map(|cell| CellForecast::of_cell(plan, cell, known)).collect();
    match forecasts.as_slice() {
        [_, _, ..] if words == Words::Few => text.push_str(&promise_of_all(plan, &forecasts)),
        each => each.iter().for_each(|forecast| text.push_str(&promise(plan, forecast))),
    }
    text.push_str(&ends(plan));
    for (between, what) in [
        (Stage::Settle, "the servers are left to settle"),
        (Stage::Restore, "the tables are made again as they were loaded"),
    ] {
        let count = plan.question.stages.iter().filter(|stage| **stage == between).count();
        if count > 0 {
            let times = count_with_noun(count, "time");
            text.push_str(&format!("       in between, {what} {times}\n"));
        }
    }
    if plan.question.counting == Counting::Beside {
        text.push_str(&counting_of(plan));
    }
    text.truncate(text.trim_end().len());
    text
}

/// How long it takes, as far as that is known beforehand.
fn length(plan: &Plan) -> String {
    let about =
        |ns: u64| for_people(Duration::from_nanos(ns.min(plan.schedule.limit_ns.unwrap_or(ns))));
    match planned::queries_ns(plan) {
        Some(0) => "as long as loading takes".to_owned(),
        Some(ns) => format!("about {} of queries, and what loading takes", about(ns)),
        None => format!("about {} of measuring", about(plan.measuring_ns())),
    }
}

/// The arms, and what they are.
fn in_words(plan: &Plan) -> String {
    let arms: Vec<String> = plan.arms.iter().map(|(arm, spec)| format!("{arm} {spec}")).collect();
    arms.join(", ")
}

/// What a block of rounds is called.
fn blocks(plan: &Plan) -> String {
    match plan.arms.count() {
        2 => "pairs of rounds".to_owned(),
        arms => format!("blocks of {arms} rounds"),
    }
}

/// What is counted, in words.
fn counting_of(plan: &Plan) -> String {
    format!(
        "       instructions of {} are counted under callgrind: about a minute each, and half a \
         minute for each server to start\n",
        count_with_noun(plan.labels().len(), "load"),
    )
}

/// How the clients are driven, if not by the server.
fn driven(driving: &Driving) -> String {
    match driving {
        Driving::Closed => String::new(),
        Driving::Thinking(think) => format!(
            "       each client rests {think} after an answer; the verdict rests on response times \
             (p50, p99) from the end of the pause\n"
        ),
        Driving::Open(arrivals) => format!(
            "       events are sent at rate {arrivals}; the verdict rests on response times (p50, \
             p99) from the intended moment\n"
        ),
        Driving::Search(slo) => format!(
            "       each pair searches for the highest rate at which {slo} holds, on each arm\n"
        ),
    }
}

/// The newest runs that measured such arms with rounds of this length, newest first.
pub(crate) fn runs_alike(plan: &Plan, store: &Store) -> Vec<Run> {
    let dialects = plan.pair_specs(Pairing::USUAL).map(ArmSpec::dialect);
    let runs = store.list().map(|listed| listed.runs).unwrap_or_default();
    let newest = runs.into_iter().take(RUNS_LOOKED_AT);
    let newest = newest.filter(|summary| {
        store.plan(&summary.id).is_ok_and(|known| {
            known.schedule.round_ns == plan.schedule.round_ns
                && known.question.driving == plan.question.driving
                && known.pair_specs(Pairing::USUAL).map(ArmSpec::dialect) == dialects
        })
    });
    newest.filter_map(|summary| store.load(&summary.id).ok()).collect()
}

/// What the cells find, in one line.
fn promise_of_all(plan: &Plan, forecasts: &[CellForecast]) -> String {
    let power = power(plan);
    let found: Vec<f64> =
        forecasts.iter().filter_map(|forecast| forecast.detectable_change(plan, power)).collect();
    let largest = found.iter().copied().fold(f64::NAN, f64::max);
    let least = found.iter().copied().fold(f64::NAN, f64::min);
    let mut text = if found.is_empty() {
        "       too few rounds for a verdict; give --rounds 3 or more".to_owned()
    } else {
        let [least, largest] = [least, largest].map(|share| format!("{:.1}", 100.0 * share));
        let noisiest = if least == largest {
            String::new()
        } else {
            format!(" ({largest} % in the noisiest cell)")
        };
        format!(
            "       finds changes of {least} % or more{noisiest}; cell by cell: dbdyno compare --verbose"
        )
    };
    text.push('\n');
    text
}

/// The probability with which a change is to be found.
fn power(plan: &Plan) -> f64 {
    match &plan.rule.stopping {
        Stopping::Detect { power, .. } => *power,
        _ => dbdyno_judge::forecast::USUAL_POWER,
    }
}

/// What a cell finds, and what that costs.
fn promise(plan: &Plan, forecast: &CellForecast) -> String {
    let cell = &forecast.cell;
    let what = format!("{} at {}", cell.load, count_with_noun(cell.clients as usize, "client"));
    let noise = forecast.pair_sd * 100.0;
    let source = match &forecast.run {
        Some(run) => format!("noise {noise:.1} % a pair in run {run}"),
        None => format!("noise of {noise:.0} % a pair assumed"),
    };
    let power = power(plan);
    let at_most = if plan.rule.stopping.look_schedule().is_some() { "at most" } else { "about" };
    let takes = for_people(forecast.measuring_time(plan));
    match forecast.detectable_change(plan, power) {
        Some(effect) if effect > CHANGE_MOST => format!(
            "       {what}: {source}: no change of less than a factor of {:.0} would be found in \
             {at_most} {takes}\n",
            1.0 + effect
        ),
        Some(effect) => format!(
            "       {what}: finds a change of {:.1} % or more in {at_most} {takes} ({source}{})\n",
            effect * 100.0,
            minute_more(plan, forecast)
        ),
        None => format!("       {what}: too few rounds for a verdict; give --rounds 3 or more\n"),
    }
}

/// Where the next minute is best spent, as far as older runs say.
fn minute_more(plan: &Plan, forecast: &CellForecast) -> String {
    forecast.next_minute(plan).map_or(String::new(), |(level, narrows)| {
        let more = match level {
            ExperimentLevel::Pair => "more pairs",
            ExperimentLevel::Start => "more starts",
            ExperimentLevel::Filling => "more fillings",
        };
        format!("; a minute more is best spent on {more}: {:.0} % narrower", 100.0 * narrows)
    })
}

/// What may end the measuring of a cell before all its rounds are measured.
fn ends(plan: &Plan) -> String {
    let mut text = String::new();
    let is_restarted = plan.schedule.restarts > 0;
    if let Some((pairs, _)) = plan.rule.stopping.look_schedule() {
        let what = if is_restarted { "start" } else { "stretch" };
        text.push_str(&format!(
            "       judged after each {what} of {pairs} pairs: a cell ends as soon as it is \
             decided"
        ));
        if let Stopping::Detect { effect, power, .. } = &plan.rule.stopping {
            text.push_str(&format!(
                ",\n       or a change of {} % would have been found with {:.0} %",
                effect * 100.0,
                power * 100.0
            ));
        }
        text.push('\n');
    }
    if let Some(limit) = plan.schedule.limit_ns {
        let limit = left_for_people(Duration::from_nanos(limit));
        text.push_str(&format!("       ends after {limit} in any case\n"));
    }
    text
}

/// What is left of a run, in words.
pub(crate) fn announcement_of_rest(run: &Run, longer: Option<&Plan>) -> String {
    let plan = longer.unwrap_or(&run.plan);
    let arms = in_words(plan);
    if let Some(longer) = longer {
        let rounds = longer.schedule.pairs;
        let text = format!(
            "resume {}: {arms}\n       undecided cells are measured for up to {rounds} {}\n{}",
            run.id,
            blocks(plan),
            ends(longer)
        );
        return text.trim_end().to_owned();
    }
    let left = RemainingWork::of_run(plan, Some(run));
    let mut text = format!(
        "resume {}: {arms}\n       {} of {} rounds are measured and kept; about \
         {} of measuring left",
        run.id,
        left.rounds_kept,
        left.rounds_kept + left.rounds_left as usize,
        for_people(left.measuring_time),
    );
    for (cell, time) in &left.repeated {
        let time = for_people(*time);
        text.push_str(&format!(
            "\n       {cell}: the tables are new, so it is repeated unmeasured, {time} for each arm"
        ));
    }
    text
}

fn without_repeats<T: Clone + PartialEq>(values: &[T]) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(values.len());
    for value in values {
        if !kept.contains(value) {
            kept.push(value.clone());
        }
    }
    kept
}

/// `1 round`, `2 rounds`.
pub(crate) fn count_with_noun(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use dbdyno_model::Arms;

    fn flags(words: &str) -> Compare {
        let words = words.split(' ').map(|word| word.trim_matches('\'').to_owned());
        crate::compare::flags_of(&words.collect::<Vec<_>>())
    }

    fn planned(flags: &Compare) -> Plan {
        from_flags(flags, crate::compare::servers_of(flags).unwrap()).unwrap()
    }

    /// A term that a command does not say is another run than the one that it is to repeat.
    #[test]
    fn the_command_of_a_plan_makes_that_plan() {
        for options in [
            "",
            " --quick --clients 1,4 --seed 7 --tables 3 --rows 5000 --budget 0.5%",
            " --idle poll --keep-memory never --slice none --interval robust --pin none",
            " --slice 2.5ms --restarts 3 --reloads 1 --warm-up 3 --count",
            " --think 8s..12s --quick",
            " --rate poisson:1000 --rounds 9 --seconds 2.5",
            " --count-only --quick",
            " --detect 1% --until decided --limit 90s --quick",
            " --detect 1% --restarts 5 --load settle,hot-points",
        ] {
            let given = flags(&format!("compare sqlite: sqlite:{options}"));
            let plan = planned(&given);
            let command = repeat_command(&plan, &given);
            let words = command.strip_prefix("dbdyno ").unwrap();
            assert_eq!(planned(&flags(words)), plan, "{command}");
        }
    }

    /// What is usual is one value: of a plan, of a command without flags, and of an old store.
    #[test]
    fn flags_that_are_not_given_have_the_usual_values_of_a_plan() {
        let plan = planned(&flags("compare sqlite: sqlite:"));
        let by_kind_of_run = ["pairs", "round_ns", "restarts", "lead_in_ns", "warm_up_ns"];
        for term in dbdyno_model::TERMS.iter().filter(|term| !by_kind_of_run.contains(&term.name)) {
            assert!(term.is_usual(&plan), "{}: {}", term.name, term.value(&plan));
        }
    }

    #[test]
    fn trials_of_a_small_difference_are_as_long_as_its_run() {
        let mut run = some_plan();
        run.schedule.pairs = 300;
        let of = |low: f64, high: f64| {
            let rqps = Interval { estimate: (low * high).sqrt(), low, high };
            rates_of_trials(&run, Some((rqps, 272))).schedule.pairs
        };
        let usual = rates_of_trials(&run, None).schedule.pairs;
        let rqps = Interval { estimate: 0.14, low: 0.138, high: 0.142 };
        let Stopping::Known { half } = rates_of_trials(&run, Some((rqps, 272))).rule.stopping
        else {
            panic!("it ends when it is known");
        };
        assert!((half - 0.1075).abs() < 1e-4, "an eighth of six sevenths: {half}");
        let larger = Interval { estimate: 0.006, low: 0.005, high: 0.007 };
        let Stopping::Known { half } = rates_of_trials(&run, Some((larger, 272))).rule.stopping
        else {
            panic!("it ends when it is known");
        };
        assert!((half - 0.1243).abs() < 1e-4, "no factor is so large that a fifth is all: {half}");
        let small = Interval { estimate: 0.9, low: 0.89, high: 0.91 };
        let Stopping::Known { half } = rates_of_trials(&run, Some((small, 272))).rule.stopping
        else {
            panic!("it ends when it is known");
        };
        assert!((half - 0.00527).abs() < 1e-5, "a twentieth: {half}");
        assert_eq!(rates_of_trials(&run, None).rule.stopping, Stopping::Fixed);
        assert_eq!(of(0.010, 0.012), 44, "a hundredth of the rate is seen at once");
        assert_eq!(of(0.138, 0.142), PAIRS_LEAST, "and so is a seventh that is well known");
        assert_eq!(of(0.915, 0.945), usual, "120 are enough");
        assert_eq!(of(0.936, 0.975), 300, "487 are not to be had");
        assert_eq!(of(0.99, 1.0 / 0.99), 300, "where nothing was found, none is too many");
        let middle = of(0.93, 0.965);
        assert!((usual + 1..300).contains(&middle), "{middle}");
    }

    pub(crate) fn some_plan() -> Plan {
        Plan {
            arms: Arms::from(["sqlite:"; 2].map(|arm| arm.parse().unwrap())),
            question: Question { rows: 1, ..Question::default() },
            schedule: RoundSchedule {
                round_ns: 1,
                lead_in_ns: 1,
                warm_up_ns: 1,
                ..RoundSchedule::default()
            },
            ..Plan::default()
        }
    }
}
