//! All variants against plain sets: one history after another, many threads at once, and all orders
//! of small protocols.

use dbdyno_model::design::ViewClose;

use super::*;

#[cfg(not(any(loom, shuttle)))]
mod histories;
#[cfg(loom)]
mod orders;
#[cfg(not(loom))]
mod threads;

/// Few ids at hand, so that rings go round and ids become long.
const SMALL: Sizes = Sizes { window: 128, ring: if cfg!(loom) { 4 } else { 128 } };

/// Each variant, closed in each way.
#[cfg(not(loom))]
fn designs() -> impl Iterator<Item = Design> {
    let views = design::View::ALL.iter();
    views.flat_map(|view| ViewClose::ALL.iter().map(|close| arm(*view, *close)))
}

fn arm(view: design::View, view_close: ViewClose) -> Design {
    Design { view, view_close, ..Design::default() }
}

fn small(design: &Design) -> TrxSys {
    TrxSys::build(design, Arc::default(), None, SMALL)
}
