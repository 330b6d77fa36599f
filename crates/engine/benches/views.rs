//! What views cost, variant beside variant.
//!
//! ```text
//!   cargo bench -p dbdyno-engine --bench views [-- ROUNDS]
//! ```
//!
//! So many writers are active, each `spread`-th id one of them, and the view is opened, asked and
//! closed by one thread. Figures are nanoseconds of its processor time, with everything in the
//! cache: medians over rounds in which the variants take turns. What copying costs is the
//! difference to a view that is opened with nobody active. The second table is of single calls, in
//! time of the clock, so that its last columns contain what the host did meanwhile.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use dbdyno_engine::{Counter, Meter, ReadView, TrxId, TrxSys};
use dbdyno_model::Design;
use dbdyno_model::design;
use rustix::time::{ClockId, clock_gettime};

/// A measurement takes so much processor time, ns.
const WINDOW_NS: f64 = 4e6;
/// Writers that are asked for, in turn.
const ASKED: usize = 4_096;
/// Ids that the published bitmap of a view has room for, all of which it may have to walk.
const PUBLISHED_IDS: usize = 65_536;
/// Idle writers, and short ones after them until the bitmap has no room for the first of them.
const IDLE: usize = 10_000;
const BEFORE: usize = 16_384 - IDLE;
/// How often they become long.
const SPIKE_RUNS: usize = 20;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let rounds = numbers.next().unwrap_or(9);
    println!("ns of processor time, medians of {rounds} rounds in turn");
    println!(
        "{:>7} {:>7} {:8}{:>11}{:>9}{:>9}{:>11}{:>11}{:>9}{:>8}{:>9}",
        "active",
        "ids",
        "view",
        "open+close",
        "copying",
        "a look",
        "anew*",
        "begin+end",
        "B copied",
        "B held",
        "B shared"
    );
    let alone = Costs::of_all(0, 1, rounds);
    for (active, spread) in [100, 1_000, 4_000, 10_000]
        .into_iter()
        .flat_map(|active| [1, 4, 16].map(|spread| (active, spread)))
    {
        let costs = Costs::of_all(active, spread, rounds);
        for (place, (costs, alone)) in costs.iter().zip(&alone).enumerate() {
            println!(
                "{active:>7} {:>7} {:8}{:>11.1}{:>9.1}{:>9.2}{:>11.1}{:>11.1}{:>9}{:>8}{:>9}",
                active * spread,
                design::View::ALL[place].name(),
                costs.open,
                costs.open - alone.open,
                costs.look,
                costs.anew,
                costs.write,
                costs.copied,
                costs.held,
                costs.shared,
            );
        }
    }
    println!(
        "* open+close after one transaction began and ended, which is taken off; by then so many"
    );
    println!("  have ended that the writers are long ones\n");
    spikes();
}

/// Medians, ns; and bytes of the last round.
#[derive(Clone, Default)]
struct Costs {
    open: f64,
    look: f64,
    anew: f64,
    write: f64,
    copied: u64,
    held: usize,
    shared: usize,
}

impl Costs {
    fn of_all(active: u64, spread: u64, rounds: usize) -> Vec<Costs> {
        let views = design::View::ALL;
        let mut seen = vec![Vec::new(); views.len()];
        for round in 0..rounds {
            for turn in 0..views.len() {
                let place = (round + turn) % views.len();
                seen[place].push(Arm::new(views[place], active, spread).measure());
            }
        }
        let middle = |of: fn(&Costs) -> f64, costs: &[Costs]| {
            let mut values: Vec<f64> = costs.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let medians = seen.iter().map(|costs| Costs {
            open: middle(|costs| costs.open, costs),
            look: middle(|costs| costs.look, costs),
            anew: middle(|costs| costs.anew, costs),
            write: middle(|costs| costs.write, costs),
            ..costs[costs.len() - 1].clone()
        });
        medians.collect()
    }
}

struct Arm {
    meter: Arc<Meter>,
    sys: TrxSys,
    view: ReadView,
    asked: Vec<TrxId>,
}

impl Arm {
    fn new(view: design::View, active: u64, spread: u64) -> Arm {
        let meter = Arc::new(Meter::default());
        let sys = TrxSys::new(&Design { view, ..Design::default() }, Arc::clone(&meter), None);
        for _ in 0..active {
            sys.begin_write();
            for _ in 1..spread {
                sys.end_trx(sys.begin_write());
            }
        }
        sys.horizon();
        // Spread over all ids by a step that has no factor in common with their number.
        let ids = (active * spread).max(1);
        let step = (ids * 618 / 1_000) | 1;
        let asked = (0..ASKED as u64).map(|turn| TrxId(1 + turn * step % ids)).collect();
        let view = sys.new_view();
        Arm { meter, sys, view, asked }
    }

    fn measure(mut self) -> Costs {
        let Arm { meter, sys, view, asked } = &mut self;
        let before = meter.current_counts();
        let open = repeat(|| {
            sys.open_view(None, view);
            sys.close_view(black_box(view));
        });
        let counted = meter.current_counts().since(&before);
        let copied = counted.count_of(Counter::Views) - counted.count_of(Counter::ViewsReused);
        sys.open_view(None, view);
        let looks = repeat(|| {
            let seen = asked.iter().filter(|id| sys.sees_writer(black_box(view), **id)).count();
            black_box(seen);
        });
        let (held, shared) = (size_of::<ReadView>() + view.buffer_bytes(), view.shared_bytes());
        sys.close_view(view);
        let write = repeat(|| {
            black_box(sys.end_trx(sys.begin_write()));
        });
        let both = repeat(|| {
            black_box(sys.end_trx(sys.begin_write()));
            sys.open_view(None, view);
            sys.close_view(black_box(view));
        });
        Costs {
            open,
            look: looks / asked.len() as f64,
            anew: both - write,
            write,
            copied: counted.count_of(Counter::ViewBytes) / copied.max(1),
            held,
            shared,
        }
    }
}

/// Nanoseconds that a call takes.
fn repeat(mut work: impl FnMut()) -> f64 {
    let mut times = 16_u32;
    loop {
        let start = cpu_ns();
        for _ in 0..times {
            work();
        }
        let took = (cpu_ns() - start) as f64;
        if took >= WINDOW_NS {
            return took / f64::from(times);
        }
        times = times.saturating_mul(if took < WINDOW_NS / 4.0 { 4 } else { 2 });
    }
}

fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Single calls while 10,000 idle writers become long, and what the published walk would take.
fn spikes() {
    println!("ns of single calls while 10,000 idle writers become long, view by view");
    println!("{:31}{:>9}{:>9}{:>9}{:>10}", "", "p50", "p99", "p99.9", "max");
    for view in design::View::ALL {
        let [begins, ends, opens] = single_calls(view);
        row(&format!("{} begin", view.name()), begins);
        row(&format!("{} end", view.name()), ends);
        row(&format!("{} open+close", view.name()), opens);
    }
    let mut bitmap = vec![0_u8; PUBLISHED_IDS / 8];
    (0..PUBLISHED_IDS).filter(|id| id % 65 == 0).for_each(|id| bitmap[id / 8] |= 1 << (id % 8));
    let mut long = Vec::with_capacity(PUBLISHED_IDS);
    let mut times = |walk: fn(&[u8], &mut Vec<u64>)| -> Vec<u64> {
        let mut time = || {
            long.clear();
            let start = now();
            walk(black_box(&bitmap), &mut long);
            start.elapsed().as_nanos() as u64
        };
        (0..2_000).map(|_| time()).collect()
    };
    row("65,536 ids walked bit by bit", times(by_bits));
    row("65,536 ids walked by words", times(by_words));
    let timer = (0..200_000).map(|_| now().elapsed().as_nanos() as u64).collect();
    row("two looks at the clock", timer);
}

fn single_calls(view: design::View) -> [Vec<u64>; 3] {
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..SPIKE_RUNS {
        let sys = TrxSys::new(&Design { view, ..Design::default() }, Arc::default(), None);
        let mut view = sys.new_view();
        for _ in 0..IDLE {
            sys.begin_write();
        }
        for _ in 0..BEFORE {
            sys.end_trx(sys.begin_write());
        }
        for _ in 0..IDLE {
            let start = now();
            let trx = sys.begin_write();
            let begun = now();
            sys.end_trx(trx);
            let ended = now();
            sys.open_view(None, &mut view);
            sys.close_view(&mut view);
            let closed = now();
            let spans = [begun - start, ended - begun, closed - ended];
            for (times, span) in times.iter_mut().zip(spans) {
                times.push(span.as_nanos() as u64);
            }
        }
    }
    times
}

fn by_bits(bitmap: &[u8], long: &mut Vec<u64>) {
    for id in 0..bitmap.len() * 8 {
        if bitmap[id / 8] & 1 << (id % 8) != 0 {
            long.push(id as u64);
        }
    }
}

fn by_words(bitmap: &[u8], long: &mut Vec<u64>) {
    for (place, bytes) in bitmap.chunks_exact(8).enumerate() {
        let mut bits = u64::from_le_bytes(bytes.try_into().expect("chunks of eight"));
        while bits != 0 {
            long.push(place as u64 * 64 + u64::from(bits.trailing_zeros()));
            bits &= bits - 1;
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a benchmark measures")]
fn now() -> Instant {
    Instant::now()
}

fn row(name: &str, mut times: Vec<u64>) {
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let most = times[times.len() - 1];
    println!("  {name:29}{:>9}{:>9}{:>9}{most:>10}", at(0.5), at(0.99), at(0.999));
}
