//! All variants against plain sets: one history after another, many threads at once, and all orders
//! of small protocols.

use dbdyno_model::design::ViewClose;

use super::*;

#[cfg(not(any(feature = "loom", feature = "shuttle")))]
mod histories;
#[cfg(feature = "loom")]
mod orders;
#[cfg(not(feature = "loom"))]
mod threads;

/// Few ids at hand, so that rings go round and ids become long.
const SMALL: Sizes = Sizes { window: 128, ring: if cfg!(feature = "loom") { 4 } else { 128 } };

/// Each variant, closed in each way.
#[cfg(not(feature = "loom"))]
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
