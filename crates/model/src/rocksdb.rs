//! What a user may want of RocksDB, as text: `rocksdb:?preset=direct&cache=64M`.
//!
//! ```text
//!   preset       block cache           files         compression    Callaghan's name
//!   cached       a quarter of memory   buffered      none           byrx: cached by RocksDB
//!   buffered     32 MB                 buffered      LZ4            iobuf, byos
//!   direct       32 MB                 O_DIRECT      LZ4            iodir
//! ```
//!
//! He makes databases larger than memory for the last two; here the cache is made smaller than the
//! database, and the operating system may cache the files of `buffered`. Words beat the preset. A
//! name that is no word of ours is an option of RocksDB's own and goes to RocksDB, which refuses
//! what it does not know.

use crate::setting::{Switch, whole_mb};

/// Which of Callaghan's kinds of work the options are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RocksPreset {
    /// RocksDB's block cache holds the database.
    Cached,
    /// The operating system caches files.
    Buffered,
    /// Nobody does.
    Direct,
}

/// Options of an arm, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RocksOptions {
    /// What the rest is where nothing is said.
    pub preset: RocksPreset,
    /// Size of the block cache, MB.
    pub cache_mb: Option<u64>,
    /// Whether reads, flushes and compactions go around the operating system's cache.
    pub direct: Option<Switch>,
    /// One of `COMPRESSIONS`.
    pub compression: Option<&'static str>,
    /// Whether writes go to the write-ahead log.
    pub wal: Switch,
    /// Whether the device has them before they are answered.
    pub sync: Switch,
    /// Bytes of an uncompressed block.
    pub block_size: u64,
    /// Options by RocksDB's own names.
    pub own: Vec<(String, String)>,
}

/// The words, in the order of the help.
pub const WORDS: [&str; 7] =
    ["preset", "cache", "direct", "compression", "wal", "sync", "block_size"];
/// The words of `compression`, and what RocksDB calls them.
pub(crate) const COMPRESSIONS: [(&str, &str); 5] = [
    ("none", "kNoCompression"),
    ("snappy", "kSnappyCompression"),
    ("lz4", "kLZ4Compression"),
    ("zstd", "kZSTD"),
    ("zlib", "kZlibCompression"),
];

/// That of Callaghan's runs.
const BLOCK_SIZE: u64 = 8_192;
const CACHE_MOST_MB: u64 = 16 * 1_024 * 1_024;

impl RocksOptions {
    /// Whether dbdyno itself says what an option of this name may be; all others are handed on.
    pub fn is_known(name: &str) -> bool {
        WORDS.contains(&name)
    }

    /// Reads options as they were written.
    ///
    /// # Errors
    /// A sentence: a value that a word does not take, a word that is said twice, or two words that
    /// contradict each other.
    pub fn read(options: &[(String, String)]) -> Result<RocksOptions, String> {
        let mut read = RocksOptions {
            preset: RocksPreset::Cached,
            cache_mb: None,
            direct: None,
            compression: None,
            wal: Switch::On,
            sync: Switch::Off,
            block_size: BLOCK_SIZE,
            own: Vec::new(),
        };
        for (index, (name, value)) in options.iter().enumerate() {
            if options[..index].iter().any(|(known, _)| known == name) {
                return Err(format!("{name} is set twice; leave one of them out"));
            }
            read.take(name, value)?;
        }
        if read.wal == Switch::Off && read.sync == Switch::On {
            return Err("sync=on means the log, and wal=off has none; leave one out".to_owned());
        }
        Ok(read)
    }

    fn take(&mut self, name: &str, value: &str) -> Result<(), String> {
        let takes = |what: &str| format!("{name}={value}: {name} takes {what}");
        let switch = || match value {
            "on" => Ok(Switch::On),
            "off" => Ok(Switch::Off),
            _ => Err(takes("on or off")),
        };
        match name {
            "preset" => {
                self.preset = match value {
                    "cached" => RocksPreset::Cached,
                    "buffered" => RocksPreset::Buffered,
                    "direct" => RocksPreset::Direct,
                    _ => return Err(takes("cached, buffered or direct")),
                }
            }
            "cache" => {
                let size = whole_mb(value).filter(|mb| (1..=CACHE_MOST_MB).contains(mb));
                self.cache_mb = Some(
                    size.ok_or_else(|| takes("a whole number with M, G or T, for example 64M"))?,
                );
            }
            "direct" => self.direct = Some(switch()?),
            "compression" => {
                let known = COMPRESSIONS.iter().find(|(word, _)| *word == value);
                let words = COMPRESSIONS.map(|(word, _)| word).join(", ");
                self.compression = Some(known.ok_or_else(|| takes(&words))?.0);
            }
            "wal" => self.wal = switch()?,
            "sync" => self.sync = switch()?,
            "block_size" => {
                let bytes = value.parse().ok().filter(|bytes| (512..=16_777_216).contains(bytes));
                self.block_size = bytes.ok_or_else(|| takes("bytes, 512 to 16777216"))?;
            }
            _ => {
                if !is_plain(name, "_") || !is_plain(value, "_.:-") {
                    let words = WORDS.join(", ");
                    return Err(format!(
                        "{name}={value} is no option; {words}, or an option of RocksDB's own, for \
                         example write_buffer_size=16777216"
                    ));
                }
                self.own.push((name.to_owned(), value.to_owned()));
            }
        }
        Ok(())
    }

    /// Size of the block cache on a host with so much memory, MB.
    pub fn cache_mb(&self, memory_mb: u64) -> u64 {
        const SMALL_MB: u64 = 32;
        self.cache_mb.unwrap_or(match self.preset {
            RocksPreset::Cached => (memory_mb / 4).max(SMALL_MB),
            RocksPreset::Buffered | RocksPreset::Direct => SMALL_MB,
        })
    }

    /// Whether files are read and written around the operating system's cache.
    pub fn is_direct(&self) -> bool {
        match self.direct {
            Some(direct) => direct == Switch::On,
            None => self.preset == RocksPreset::Direct,
        }
    }

    /// What RocksDB calls the compression.
    pub fn compression_name(&self) -> &'static str {
        let word = self.compression.unwrap_or(match self.preset {
            RocksPreset::Cached => "none",
            RocksPreset::Buffered | RocksPreset::Direct => "lz4",
        });
        let known = COMPRESSIONS.iter().find(|(known, _)| *known == word);
        known.map_or("kNoCompression", |(_, name)| name)
    }
}

/// Whether a text has letters, digits and these characters only.
fn is_plain(text: &str, besides: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || besides.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[(&str, &str)]) -> Result<RocksOptions, String> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        RocksOptions::read(&options.iter().map(owned).collect::<Vec<_>>())
    }

    #[test]
    fn presets_are_callaghans_and_words_beat_them_in_any_order() {
        let told = |options: &[(&str, &str)]| {
            let read = read(options).unwrap();
            (read.cache_mb(16_384), read.is_direct(), read.compression_name())
        };
        assert_eq!(told(&[]), (4_096, false, "kNoCompression"));
        assert_eq!(told(&[("preset", "buffered")]), (32, false, "kLZ4Compression"));
        assert_eq!(told(&[("preset", "direct")]), (32, true, "kLZ4Compression"));
        let words = [("direct", "off"), ("cache", "1G"), ("compression", "zstd")];
        let beaten = [&words[..], &[("preset", "direct")]].concat();
        assert_eq!(told(&beaten), (1_024, false, "kZSTD"));
        assert_eq!(told(&[("direct", "on")]), (4_096, true, "kNoCompression"));
    }

    #[test]
    fn what_cannot_be_is_refused_and_rocksdbs_own_is_passed_on() {
        for (options, said) in [
            (&[("preset", "dircet")][..], "cached, buffered or direct"),
            (&[("direct", "1")], "on or off"),
            (&[("cache", "64")], "64M"),
            (&[("compression", "lz5")], "snappy"),
            (&[("block_size", "1")], "512"),
            (&[("wal", "off"), ("sync", "on")], "leave one out"),
            (&[("wal", "off"), ("wal", "on")], "twice"),
            (&[("x", "1;create_if_missing=false")], "block_size"),
        ] {
            let error = read(options).unwrap_err();
            assert!(error.contains(said), "{options:?}: {error}");
        }
        let own = read(&[("max_background_jobs", "4")]).unwrap().own;
        assert_eq!(own, [("max_background_jobs".to_owned(), "4".to_owned())]);
    }
}
