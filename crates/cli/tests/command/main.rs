//! The command as a user meets it: what it says, what it measures, what it leaves behind.

mod audit;
mod classes;
mod common;
mod counted;
mod curves;
mod custom;
mod doctor;
mod driving;
mod engine;
mod guest;
mod host;
mod images;
mod insert_benchmark;
mod killed;
mod levels;
mod options;
mod resume;
mod rocksdb;
mod scripts;
mod servers;
mod settles;
mod sqlite;
mod topology;
mod tpcc;
mod until;
mod verdicts;
