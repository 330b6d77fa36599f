//! Change points in series in which nothing changes, and in series with a step.

use dbdyno_model::{Shift, ShiftWeight};
use dbdyno_stats::{ChangeOptions, change_points, e_divisive};

use crate::hosts::{Host, normal, numbers};
use crate::table::{Share, Table};

const SERIES: u64 = 2_000;
/// E-divisive takes as long as it takes.
const BESIDE: u64 = 300;
const SD: f64 = 0.02;
/// Permutations of E-divisive, and its level.
const DRAWS: u32 = 199;
const ALPHA: f64 = 0.01;

/// A step of so many standard deviations in the middle.
fn series(host: Host, length: usize, step: f64, index: u64) -> Vec<f64> {
    series_with(host, length, (length / 2, step), index)
}

/// With a step at a place.
fn series_with(host: Host, length: usize, (place, step): (usize, f64), index: u64) -> Vec<f64> {
    let mut stream = numbers("series", index * 1_000 + length as u64);
    let speeds = host.speeds(length, SD, &mut stream);
    let level = |at: usize| if at >= place { -step * SD } else { 0.0 };
    speeds.iter().enumerate().map(|(at, log)| 1_000.0 * (log + level(at)).exp()).collect()
}

/// Two levels that alternate by chance: stationary, but of two kinds.
fn bimodal(length: usize, index: u64) -> Vec<f64> {
    let mut stream = numbers("bimodal", index * 1_000 + length as u64);
    let value = |_| {
        let level = 5.0 * SD * stream.next_below(2) as f64;
        1_000.0 * (level + SD * normal(&mut stream)).exp()
    };
    (0..length).map(value).collect()
}

/// Any change that is significant, whatever its size.
fn finds(values: &[f64]) -> Vec<usize> {
    let found = change_points(values, &ChangeOptions::with_budget(0.0)).expect("values");
    found.shifts.iter().map(|shift| shift.first).collect()
}

/// Any change or slide that is significant, whatever its size.
fn tells(values: &[f64]) -> bool {
    let found = change_points(values, &ChangeOptions::with_budget(0.0)).expect("values");
    !found.shifts.is_empty() || !found.slides.is_empty()
}

/// A change that would be told as an alarm at a budget of 2 %.
fn alarms(values: &[f64]) -> bool {
    let found = change_points(values, &ChangeOptions::with_budget(0.02)).expect("values");
    found.shifts.iter().any(|shift| shift.weight == ShiftWeight::Alarm)
}

fn e_divisive_finds(values: &[f64], seed: u64) -> Vec<usize> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    e_divisive(&logs, ALPHA, DRAWS, seed).expect("values")
}

fn alarm_table() -> String {
    let mut table = Table::new(&[
        "series",
        "30 values",
        "100 values",
        "200 values",
        "as alarms at 2 %, 100 values",
        "*E-divisive, 100 values*",
    ]);
    type Make = Box<dyn Fn(usize, u64) -> Vec<f64>>;
    let of_host = |host: Host| -> (String, Make) {
        (host.name().to_owned(), Box::new(move |length, index| series(host, length, 0.0, index)))
    };
    let hosts = Host::ALL.into_iter().filter(|host| *host != Host::Drift).map(of_host);
    let all = hosts.chain([("two levels by chance".to_owned(), Box::new(bimodal) as Make)]);
    for (name, make) in all {
        let of_length = [30, 100, 200]
            .map(|length| Share::count(SERIES, |index| tells(&make(length, index))).percent());
        let told = Share::count(SERIES, |index| alarms(&make(100, index)));
        let beside =
            Share::count(BESIDE, |index| !e_divisive_finds(&make(100, index), index).is_empty());
        table.row(&[&[name][..], &of_length, &[told.percent(), beside.percent()]].concat());
    }
    table.end()
}

fn step_table() -> String {
    const STEPS: u64 = 500;
    let near = |found: &[usize]| found.iter().any(|first| first.abs_diff(50) <= 5);
    let mut table = Table::new(&["series", "step", "found within ±5", "*E-divisive*"]);
    for host in [Host::Independent, Host::Ar3, Host::Ar6, Host::Spikes] {
        for step in [1.0, 1.5, 2.0] {
            let found = Share::count(STEPS, |index| near(&finds(&series(host, 100, step, index))));
            let beside = Share::count(BESIDE, |index| {
                near(&e_divisive_finds(&series(host, 100, step, index), index))
            });
            table.row(&[
                host.name().to_owned(),
                format!("{step} sd"),
                found.percent(),
                beside.percent(),
            ]);
        }
    }
    table.end()
}

/// Twenty of a hundred values lie three standard deviations higher: a change that was taken back.
fn bumps() -> String {
    const BUMPS: u64 = 500;
    let mut table = Table::new(&["series", "both edges found within ±5", "any change"]);
    for host in [Host::Independent, Host::Ar3, Host::Ar6, Host::Spikes] {
        let found: Vec<Vec<usize>> = (0..BUMPS)
            .map(|index| {
                let mut values = series(host, 100, 0.0, index);
                values[40..60].iter_mut().for_each(|value| *value *= (3.0 * SD).exp());
                finds(&values)
            })
            .collect();
        let near = |firsts: &[usize], edge: usize| firsts.iter().any(|at| at.abs_diff(edge) <= 5);
        let count = |holds: &dyn Fn(&[usize]) -> bool| {
            Share::count(BUMPS, |index| holds(&found[index as usize])).percent()
        };
        table.row(&[
            host.name().to_owned(),
            count(&|firsts| near(firsts, 40) && near(firsts, 60)),
            count(&|firsts| !firsts.is_empty()),
        ]);
    }
    table.end()
}

/// How often the intervals of a shift that was found have the truth in them.
fn intervals() -> String {
    let mut table = Table::new(&[
        "series",
        "values",
        "step",
        "one shift found",
        "size",
        "place",
        "*best place alone*",
    ]);
    for host in [Host::Independent, Host::Ar3, Host::Ar6, Host::Spikes, Host::LogNormal] {
        for step in [2.0, 4.0] {
            table.row(&intervals_of(host, 60, (30, step)));
        }
    }
    for (length, place) in [(30, 15), (120, 24)] {
        for host in [Host::Independent, Host::Ar3, Host::Ar6] {
            table.row(&intervals_of(host, length, (place, 2.0)));
        }
    }
    table.end()
}

fn intervals_of(host: Host, length: usize, (place, step): (usize, f64)) -> [String; 7] {
    const STEPS: u64 = 10_000;
    let truth = f64::exp_m1(-step * SD);
    let one_shift = |index| {
        let values = series_with(host, length, (place, step), index);
        let options = ChangeOptions::with_budget(0.0);
        let found = change_points(&values, &options).expect("values").shifts;
        <[Shift; 1]>::try_from(found).ok().map(|[shift]| shift)
    };
    let found: Vec<Shift> = (0..STEPS).filter_map(one_shift).collect();
    let of_found = |holds: &dyn Fn(&Shift) -> bool| {
        Share::count(found.len() as u64, |index| holds(&found[index as usize])).percent()
    };
    [
        host.name().to_owned(),
        format!("{place} + {}", length - place),
        format!("{step} sd"),
        Share { count: found.len() as u64, of: STEPS }.percent(),
        of_found(&|shift| shift.size.low <= truth && truth <= shift.size.high),
        of_found(&|shift| (shift.earliest..=shift.latest).contains(&place)),
        of_found(&|shift| shift.first == place),
    ]
}

/// Series that no constant was chosen by.
fn fresh() -> String {
    const FRESH: u64 = 10_000;
    let mut table = Table::new(&["series", "values", "found"]);
    for host in [Host::Independent, Host::Ar3, Host::Ar6] {
        let found = Share::count(FRESH, |index| {
            let mut stream = numbers("fresh series", index);
            let speeds = host.speeds(30, SD, &mut stream);
            let values: Vec<f64> = speeds.iter().map(|log| 1_000.0 * log.exp()).collect();
            tells(&values)
        });
        table.row(&[host.name().to_owned(), "30".to_owned(), found.percent()]);
    }
    table.end()
}

/// The tables of change points.
pub(crate) fn section() -> String {
    format!(
        "## Change points\n\n\
         How often a change point or a slide is found at the level of 1 % in series without a change; \
         {SERIES} series each, ±0.4 %.\n\
         For comparison: E-divisive (Matteson and James 2014) with {DRAWS} permutations, \
         {BESIDE} series.\n\n\
         {}The constants for correlated noise were chosen with series of such hosts.\n\
         The next table has 10000 series of 30 values that were not used for that choice, \
         ±0.5 %:\n\n\
         {}A step in the middle of 100 values:\n\n\
         {}A rise by 3 sd in 20 of 100 values, which is then reverted:\n\n\
         {}Coverage of the 95 % intervals for the size and the place of a shift, among those \
         of 10000 series each in which one shift is found; *values* are those before and \
         after the step.\n\
         A place is a whole number: where the best place alone is right in about 95 %, an \
         interval of two neighbouring places is right more often.\n\
         The amount by which the estimated correlation is increased was chosen with rows like \
         these.\n\
         In 30 values with an autocorrelation of 0.3 or 0.6 few steps are found, and those in \
         series whose correlation does not show; no interval can tell these from independent \
         series:\n\n\
         {}",
        alarm_table(),
        fresh(),
        step_table(),
        bumps(),
        intervals()
    )
}
