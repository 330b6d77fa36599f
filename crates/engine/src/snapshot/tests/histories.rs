//! One history in all variants: the same answers, and those that plain sets give.
//!
//! Windows and rings have 128 ids, some writers are idle for long and there may be gaps between
//! ids, so that ids become long, rings go round, and what is too old for them is asked for.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

/// Views of a history.
const VIEWS: usize = 4;

/// What happens in a history. Numbers are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    Begin(u64),
    Skip(u64),
    /// The newest but so many ends: short transactions are common.
    EndRecent(usize),
    EndAny(usize),
    Open(usize, Option<usize>),
    Adopt(usize, usize),
    Close(usize),
}

fn steps(gaps: bool) -> impl Strategy<Value = Vec<Step>> {
    let skip = if gaps { 1 } else { 0 };
    let step = prop_oneof![
        6 => (1..40_u64).prop_map(Step::Begin),
        skip => (1..700_u64).prop_map(Step::Skip),
        40 => (0..3_usize).prop_map(Step::EndRecent),
        6 => any::<usize>().prop_map(Step::EndAny),
        4 => (0..VIEWS, any::<Option<usize>>()).prop_map(|(view, own)| Step::Open(view, own)),
        2 => (0..VIEWS, any::<usize>()).prop_map(|(view, own)| Step::Adopt(view, own)),
        2 => (0..VIEWS).prop_map(Step::Close),
    ];
    prop::collection::vec(step, 1..250)
}

/// What is true, as plain sets.
#[derive(Default)]
struct Truth {
    next: u64,
    active: Vec<u64>,
    /// In the order of their ends.
    ended: Vec<u64>,
    views: [Option<Seen>; VIEWS],
}

struct Seen {
    ended: BTreeSet<u64>,
    own: Option<u64>,
}

impl Seen {
    fn sees(&self, id: u64) -> bool {
        id == 0 || self.own == Some(id) || self.ended.contains(&id)
    }
}

impl Truth {
    /// Of each open view, of each id that ever began: whether it is seen.
    fn answers(&self) -> [Vec<(TrxId, bool)>; VIEWS] {
        let ids = || self.active.iter().chain(&self.ended).chain(&[0]);
        std::array::from_fn(|view| {
            self.views[view]
                .as_ref()
                .map(|view| ids().map(|id| (TrxId(*id), view.sees(*id))).collect())
                .unwrap_or_default()
        })
    }

    /// The lowest id that some view does not see.
    fn horizon(&self) -> u64 {
        let open = self.views.iter().flatten();
        let hidden = open.flat_map(|view| &self.ended[view.ended.len()..]);
        hidden.chain(&self.active).copied().min().unwrap_or(self.next)
    }

    fn settled(&self) -> u64 {
        let all = self.ended.len();
        let open = self.views.iter().flatten().map(|view| view.ended.len());
        open.min().unwrap_or(all) as u64
    }
}

struct Arm {
    design: Design,
    sys: TrxSys,
    views: Vec<ReadView>,
    horizon: TrxId,
}

/// Does all steps in all variants and compares them with the truth after each.
fn follow(steps: &[Step], gaps: bool) {
    let mut truth = Truth { next: 1, ..Truth::default() };
    let mut arms: Vec<Arm> = designs()
        .flat_map(|design| [1, 3].map(|trx_shards| Design { trx_shards, ..design }))
        .map(|design| {
            let sys = small(&design);
            let views = (0..VIEWS).map(|_| sys.new_view()).collect();
            Arm { design, sys, views, horizon: TrxId(0) }
        })
        .collect();
    for step in steps {
        take(step, &mut truth, &mut arms);
        let answers = truth.answers();
        for arm in &mut arms {
            compare(&truth, &answers, arm, gaps);
        }
    }
}

fn take(step: &Step, truth: &mut Truth, arms: &mut [Arm]) {
    match *step {
        Step::Begin(many) => {
            for _ in 0..many {
                truth.active.push(truth.next);
                for arm in &mut *arms {
                    assert_eq!(arm.sys.begin_write(), TrxId(truth.next), "{:?}", arm.design);
                }
                truth.next += 1;
            }
        }
        Step::Skip(many) => {
            truth.next += many;
            arms.iter().for_each(|arm| arm.sys.skip_to(truth.next));
        }
        Step::EndRecent(back) => {
            let many = truth.active.len();
            end(many.checked_sub(1 + back), truth, arms);
        }
        Step::EndAny(which) => {
            let many = truth.active.len();
            end(which.checked_rem(many), truth, arms);
        }
        Step::Open(view, own) => {
            let own = own.and_then(|own| pick(&truth.active, own));
            let ended = truth.ended.iter().copied().collect();
            truth.views[view] = Some(Seen { ended, own });
            for arm in arms {
                arm.sys.close_view(&mut arm.views[view]);
                arm.sys.open_view(own.map(TrxId), &mut arm.views[view]);
            }
        }
        Step::Adopt(view, own) => {
            if let Some(own) = pick(&truth.active, own)
                && let Some(seen) = &mut truth.views[view]
            {
                seen.own = Some(own);
                arms.iter_mut().for_each(|arm| arm.views[view].adopt_writer(TrxId(own)));
            }
        }
        Step::Close(view) => {
            truth.views[view] = None;
            arms.iter_mut().for_each(|arm| arm.sys.close_view(&mut arm.views[view]));
        }
    }
}

fn pick(of: &[u64], which: usize) -> Option<u64> {
    which.checked_rem(of.len()).map(|place| of[place])
}

fn end(place: Option<usize>, truth: &mut Truth, arms: &mut [Arm]) {
    let Some(place) = place else { return };
    let id = truth.active.remove(place);
    truth.ended.push(id);
    for arm in arms {
        let csn = arm.sys.end_trx(TrxId(id));
        assert_eq!(csn, Csn(truth.ended.len() as u64), "{:?}", arm.design);
    }
}

fn compare(truth: &Truth, answers: &[Vec<(TrxId, bool)>; VIEWS], arm: &mut Arm, gaps: bool) {
    let Arm { design, sys, views, horizon } = arm;
    for ((seen, answers), view) in truth.views.iter().zip(answers).zip(views) {
        assert_eq!(seen.is_some(), view.is_open(), "{design:?}");
        if let Some(seen) = seen {
            assert_eq!(view.csn().0 as usize, seen.ended.len(), "{design:?}");
        }
        for (id, sees) in answers {
            assert_eq!(sys.sees_writer(view, *id), *sees, "{design:?}: {id}");
        }
    }
    let told = sys.horizon();
    assert!(told >= *horizon, "{design:?}: {told} after {horizon}");
    *horizon = told;
    let true_horizon = truth.horizon();
    assert!(told.0 <= true_horizon, "{design:?}: {told}, and {true_horizon} is not seen by all");
    assert!(gaps || told.0 == true_horizon, "{design:?}: {told} could be {true_horizon}");
    assert_eq!(sys.settled_csn(), Csn(truth.settled()), "{design:?}");
    for &id in &truth.active {
        assert!(sys.is_active(TrxId(id)), "{design:?}: {id}");
    }
    let ended = truth.ended.last().is_some_and(|&id| sys.is_active(TrxId(id)));
    assert!(!ended, "{design:?}: the last that ended is still active");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn same_history_same_answers(steps in steps(false)) {
        follow(&steps, false);
    }

    #[test]
    fn same_history_same_answers_with_gaps_between_ids(steps in steps(true)) {
        follow(&steps, true);
    }
}

/// What the published bitmap gets wrong: it counts such an id and never sets its bit.
#[test]
fn an_id_a_ring_above_an_idle_writer_is_hidden() {
    for design in designs() {
        let sys = small(&design);
        let idle = sys.begin_write();
        let mut view = sys.new_view();
        for far in [127, 128, 129, 1_000, 100_000] {
            sys.skip_to(idle.0 + far);
            let trx = sys.begin_write();
            sys.open_view(None, &mut view);
            assert!(!sys.sees_writer(&view, trx), "{design:?}: {trx}");
            assert!(!sys.sees_writer(&view, idle), "{design:?}: {trx}");
            sys.close_view(&mut view);
            sys.end_trx(trx);
            sys.open_view(None, &mut view);
            assert!(sys.sees_writer(&view, trx), "{design:?}: {trx}");
            sys.close_view(&mut view);
        }
    }
}

#[test]
fn mechanisms_are_told_apart_by_their_counts() {
    let count = |view, close| {
        let meter = Arc::new(Meter::default());
        let sys = TrxSys::build(&arm(view, close), Arc::clone(&meter), None, SMALL);
        let writers: Vec<_> = (0..100).map(|_| sys.begin_write()).collect();
        let mut view = sys.new_view();
        let before = meter.current_counts();
        for _ in 0..10 {
            sys.open_view(None, &mut view);
            sys.close_view(&mut view);
        }
        let seen = meter.current_counts().since(&before);
        for trx in writers {
            sys.end_trx(trx);
        }
        let of = [Counter::Views, Counter::ViewsReused, Counter::TrxLatches, Counter::ViewBytes];
        of.map(|counter| seen.count_of(counter))
    };
    use design::View::{Cached, Csn, Hybrid, Vector};
    assert_eq!(count(Vector, ViewClose::Unlatched), [10, 0, 10, 8_000]);
    assert_eq!(count(Vector, ViewClose::Latched), [10, 0, 20, 8_000]);
    // Ids 1 to 100 lie in two words.
    assert_eq!(count(Hybrid, ViewClose::Unlatched), [10, 0, 10, 160]);
    assert_eq!(count(Cached, ViewClose::Unlatched), [10, 9, 1, 800]);
    assert_eq!(count(Cached, ViewClose::Latched), [10, 9, 11, 800]);
    assert_eq!(count(Csn, ViewClose::Unlatched), [10, 0, 0, 0]);
    assert_eq!(count(Csn, ViewClose::Latched), [10, 0, 10, 0]);
}

#[test]
fn time_under_the_latch_is_counted_where_there_is_a_clock() {
    fn ticks() -> u64 {
        static NOW: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        NOW.fetch_add(7, std::sync::atomic::Ordering::Relaxed)
    }
    let meter = Arc::new(Meter::default());
    let sys = TrxSys::new(&Design::default(), Arc::clone(&meter), Some(ticks));
    let trx = sys.begin_write();
    sys.end_trx(trx);
    let counts = meter.current_counts();
    assert_eq!(counts.count_of(Counter::TrxLatches), 2);
    assert_eq!(counts.count_of(Counter::TrxLatchHeld), 14);
}

#[test]
fn a_view_that_is_dropped_holds_nothing_back_and_leaves_its_slot() {
    for design in designs() {
        let sys = small(&design);
        let trx = sys.begin_write();
        let mut view = sys.new_view();
        sys.open_view(None, &mut view);
        sys.end_trx(trx);
        assert_eq!(sys.settled_csn(), Csn(0), "{design:?}");
        drop(view);
        assert_eq!(sys.settled_csn(), Csn(1), "{design:?}");
        let first = Arc::as_ptr(&sys.new_view().slot);
        assert_eq!(Arc::as_ptr(&sys.new_view().slot), first, "{design:?}");
    }
}

#[test]
#[should_panic(expected = "active")]
fn who_is_not_active_cannot_end() {
    let sys = small(&Design::default());
    let trx = sys.begin_write();
    sys.end_trx(trx);
    sys.end_trx(trx);
}
