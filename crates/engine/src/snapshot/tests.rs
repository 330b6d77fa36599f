//! All variants against plain sets, one history after another and many threads at once.
//!
//! The histories have windows and rings of 128 ids, idle writers and gaps between ids, so that ids
//! become long, rings go round, and what is too old for them is asked for.

use std::collections::BTreeSet;

use dbdyno_model::design::ViewClose;
use proptest::prelude::*;

use super::*;

const SMALL: Sizes = Sizes { window: 128, ring: 128 };
/// Views of a history.
const VIEWS: usize = 4;

/// Each variant, closed in each way, in one shard and in several.
fn designs() -> impl Iterator<Item = Design> {
    let views = design::View::ALL.iter().flat_map(|view| {
        let closes = ViewClose::ALL.iter();
        closes.flat_map(move |close| [1, 3].map(|shards| (*view, *close, shards)))
    });
    views.map(|(view, view_close, trx_shards)| Design {
        view,
        view_close,
        trx_shards,
        ..Design::default()
    })
}

fn small(design: &Design) -> TrxSys {
    TrxSys::build(design, Arc::default(), None, SMALL)
}

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
        let of = |view: &Seen| ids().map(|id| (TrxId(*id), view.sees(*id))).collect();
        std::array::from_fn(|view| self.views[view].as_ref().map(of).unwrap_or_default())
    }

    /// The lowest id that somebody does not see.
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
    views: Vec<View>,
    horizon: TrxId,
}

/// Does all steps in all variants and compares them with the truth after each.
fn follow(steps: &[Step], gaps: bool) {
    let mut truth = Truth { next: 1, ..Truth::default() };
    let mut arms: Vec<Arm> = designs()
        .map(|design| {
            let sys = small(&design);
            let views = (0..VIEWS).map(|_| sys.view()).collect();
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
                arms.iter_mut().for_each(|arm| arm.views[view].adopt(TrxId(own)));
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
        let csn = arm.sys.end(TrxId(id));
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
            assert_eq!(sys.sees(view, *id), *sees, "{design:?}: {id}");
        }
    }
    let told = sys.horizon();
    assert!(told >= *horizon, "{design:?}: {told} after {horizon}");
    *horizon = told;
    let true_horizon = truth.horizon();
    assert!(told.0 <= true_horizon, "{design:?}: {told}, and {true_horizon} is not seen by all");
    assert!(gaps || told.0 == true_horizon, "{design:?}: {told} could be {true_horizon}");
    assert_eq!(sys.settled(), Csn(truth.settled()), "{design:?}");
    for &id in &truth.active {
        assert!(sys.is_active(TrxId(id)), "{design:?}: {id}");
    }
    let ended = truth.ended.last().is_some_and(|&id| sys.is_active(TrxId(id)));
    assert!(!ended, "{design:?}: the last that ended is still active");
}

#[cfg(not(shuttle))]
proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        rng_seed: prop::test_runner::RngSeed::Fixed(61),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn same_history_same_answers(steps in steps(false)) {
        follow(&steps, false);
    }

    #[test]
    fn same_history_same_answers_with_gaps_between_ids(steps in steps(true)) {
        follow(&steps, true);
    }
}
