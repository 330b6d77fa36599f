//! The MySQL protocol.
