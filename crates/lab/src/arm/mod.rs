//! An arm, set up.
//!
//! ```text
//!   set_up ─▶ open ─┬─ a release of ours    image, upgrade ─▶ fill ─┐
//!                   ├─ somebody else's      guest                   ├─▶ station: asked, restarted,
//!                   └─ in our threads       pragma                  │   restored, taken down
//!                                                        provenance ┘
//! ```

mod connecting;
mod fill;
mod guest;
mod image;
mod marker;
mod open;
mod pragma;
pub(crate) mod provenance;
mod set_up;
mod station;
pub(crate) mod upgrade;

pub use connecting::{connector_of_url, wants_password};
pub use open::open_station;
pub use set_up::{Restores, SetUp};
pub use station::Station;
