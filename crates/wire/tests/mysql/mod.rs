//! The MySQL client: against servers played byte by byte, against the mock, and against MariaDB.

pub(crate) mod blast;
mod keys;
mod mariadb;
mod mock;
mod protocol;
pub(crate) mod stage;
mod types;
