//! The MySQL client: against servers played byte by byte, against the mock, and against MariaDB.

mod mariadb;
mod mock;
mod protocol;
mod stage;
mod types;
