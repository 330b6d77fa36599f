//! The loads on real servers, MariaDB 10.11 and PostgreSQL 15: what they do, load by load.

mod insert_benchmark;
mod place;
mod refill;
mod table;
mod walk;
