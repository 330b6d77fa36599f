//! Certifiers, trackers and appliers, each held against an oracle.

mod apply;
mod certify;
mod history;
