//! The clients of both protocols: against servers played byte by byte, against the mock, and
//! against real servers.

mod allocations;
mod mysql;
mod mysql_alloc;
mod mysql_fuzz;
mod postgres_alloc;
mod postgres_mock;
mod postgres_real;
mod silence;
mod tls;
