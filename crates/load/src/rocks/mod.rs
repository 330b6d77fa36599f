//! RocksDB as an arm: a store without a wire and without SQL, in the client's own threads.
//!
//! ```text
//!   CREATE TABLE kv        gives the table a number      DROP TABLE kv
//!   TABLE kv               is it there?                  FLUSH        memory into files
//!   GET kv ?               the value of a key            PROPERTY p   what RocksDB says of p
//!   PUT kv ? AT ?          a value at a key              SETTINGS     options it was opened with
//!   SEEK kv ? NEXT 10      ten keys upwards from one, with their values; PREV: downwards
//! ```
//!
//! These words take the place of SQL, so that every part of the load generator works as it is:
//! questions as a pure function of the seed, checks of every answer, latencies, cost. Keys are
//! numbers, in an order that is theirs, twenty bytes as `db_bench` has them by Callaghan's choice:
//!
//! ```text
//!   4 bytes   number of the table        8 bytes   key, big-endian, above all negative ones
//!   8 bytes   zeros in writing, what db_bench fills up with
//! ```
//!
//! All clients share one database: RocksDB lets a process open it once. What RocksDB does in
//! threads of its own, flushing and compacting, is not part of a client's cost; see `lab::cost`.

#[cfg(feature = "rocksdb")]
mod client;
#[cfg(feature = "rocksdb")]
mod words;

#[cfg(feature = "rocksdb")]
pub use client::RocksArm;

#[cfg(not(feature = "rocksdb"))]
pub use absent::NoRocks as RocksArm;

use dbdyno_model::RocksOptions;
use dbdyno_wire::{ServerError, WireError};

/// Options in RocksDB's own form for a host with so much memory, MB, and so many processors. What
/// is not the user's is Callaghan's (`tools/benchmark.sh`), sizes of files excepted: his databases
/// have 40 million keys and more, and with ours all keys would fit into one file.
#[cfg_attr(not(any(feature = "rocksdb", test)), expect(dead_code, reason = "for the library only"))]
fn settings(options: &RocksOptions, memory_mb: u64, processors: usize) -> String {
    const MB: u64 = 1 << 20;
    let is_direct = options.is_direct();
    let mut settings: Vec<(&str, String)> = vec![
        ("write_buffer_size", (16 * MB).to_string()),
        ("max_write_buffer_number", "8".to_owned()),
        ("target_file_size_base", (16 * MB).to_string()),
        ("max_bytes_for_level_base", (64 * MB).to_string()),
        ("max_bytes_for_level_multiplier", "8".to_owned()),
        ("num_levels", "8".to_owned()),
        ("level_compaction_dynamic_level_bytes", "true".to_owned()),
        ("level0_file_num_compaction_trigger", "4".to_owned()),
        ("level0_slowdown_writes_trigger", "20".to_owned()),
        ("level0_stop_writes_trigger", "30".to_owned()),
        ("max_background_jobs", processors.max(2).to_string()),
        ("max_open_files", "-1".to_owned()),
        ("bytes_per_sync", (8 * MB).to_string()),
        ("use_direct_reads", is_direct.to_string()),
        ("use_direct_io_for_flush_and_compaction", is_direct.to_string()),
        ("compression", options.compression_name().to_owned()),
    ];
    for (name, value) in &options.own {
        match settings.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => settings.push((name, value.clone())),
        }
    }
    let blocks = format!(
        "{{block_size={};block_cache={};filter_policy=bloomfilter:10:false;\
         pin_l0_filter_and_index_blocks_in_cache=true}}",
        options.block_size,
        options.cache_mb(memory_mb) * MB
    );
    settings.push(("block_based_table_factory", blocks));
    let texts: Vec<String> =
        settings.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    texts.join(";")
}

fn refused(message: String) -> WireError {
    WireError::Server(ServerError {
        code: 0,
        sqlstate: "HY000".to_owned(),
        message: message.into(),
    })
}

#[cfg(not(feature = "rocksdb"))]
mod absent {
    use std::path::Path;

    use dbdyno_model::RocksOptions;
    use dbdyno_wire::{Client, WireError};

    /// There is none in this build.
    #[derive(Clone, Debug)]
    pub enum NoRocks {}

    impl NoRocks {
        /// Opens nothing.
        ///
        /// # Errors
        /// Always: dbdyno was built without RocksDB.
        pub fn open(
            _directory: &Path,
            _options: &RocksOptions,
            _memory_mb: u64,
        ) -> Result<NoRocks, WireError> {
            Err(super::refused(
                "this dbdyno was built without RocksDB; build it with its features as they are: \
                 cargo install dbdyno"
                    .to_owned(),
            ))
        }

        pub(crate) fn open_again(self) -> Result<NoRocks, WireError> {
            match self {}
        }

        pub(crate) fn client(&self) -> Box<dyn Client> {
            match *self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(options: &[(&str, &str)]) -> String {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options: Vec<_> = options.iter().map(owned).collect();
        settings(&RocksOptions::read(&options).unwrap(), 8_192, 4)
    }

    #[test]
    fn options_become_rocksdbs_and_its_own_beat_ours() {
        let direct = told(&[("preset", "direct"), ("max_background_jobs", "9"), ("ttl", "7")]);
        for part in [
            "use_direct_reads=true;use_direct_io_for_flush_and_compaction=true",
            ";compression=kLZ4Compression;",
            ";max_background_jobs=9;",
            ";ttl=7;",
            "{block_size=8192;block_cache=33554432;",
        ] {
            assert!(direct.contains(part), "{part} is not in {direct}");
        }
        assert_eq!(direct.matches("max_background_jobs").count(), 1);
        assert!(told(&[]).contains(";block_cache=2147483648;"));
    }
}
