//! How a server of ours begins: on which data, with what in memory, among which others.
//!
//! ```text
//!   mysql:8.0?image=none          its tables are filled by this run, and not kept
//!   mysql:8.0?cache=cold          started with nothing in memory, again and again
//!   mysql:8.0?upgrade-from=5.7    its tables were loaded by 5.7, and upgraded in place
//!   mysql:8.0?topology=group:3    the primary of a group; see `topology`
//! ```

use crate::topology::{NetworkDelay, Topology, TopologyShape};
use crate::words::words;

words! {
    /// Whether tables come from an image: a data directory that was loaded once and is copied.
    #[derive(Default)]
    ImageUse {
        /// From an image if there is one; one is made of tables that are worth it.
        #[default]
        Auto = "auto",
        /// Filled by this run, and kept as the image in place of the one that there is.
        Fresh = "fresh",
        /// Filled by this run, and not kept.
        None = "none",
    }
}

words! {
    /// What is in a server's memory when measuring begins.
    #[derive(Default)]
    Cache {
        /// The tables, as far as they fit: they are read once after each start, and the load is run
        /// until its rate is steady.
        #[default]
        Warm = "warm",
        /// Nothing: before each cell, and at each start within it, the server is stopped, the pages
        /// of its files are dropped from the page cache, no buffers are read in beforehand, and the
        /// first round begins at once.
        Cold = "cold",
    }
}

/// How a server of ours begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Begin {
    /// Where its tables come from.
    pub image: ImageUse,
    /// What is in its memory.
    pub cache: Cache,
    /// The version, as a target has it, that loads its tables before it is upgraded in place.
    pub upgrade_from: Option<String>,
    /// The servers among which it is the first; `None` for one that is alone.
    pub topology: Option<Topology>,
}

impl Begin {
    /// Takes what is ours out of the options of a target.
    ///
    /// # Errors
    /// A sentence with the values that are known.
    pub(crate) fn take_from(options: &mut Vec<(String, String)>) -> Result<Begin, String> {
        let mut begin = Begin::default();
        let (mut shape, mut delay) = (None, None);
        for (name, value) in std::mem::take(options) {
            match name.as_str() {
                "image" => begin.image = one_of(&name, &value, &ImageUse::ALL, ImageUse::name)?,
                "cache" => begin.cache = one_of(&name, &value, &Cache::ALL, Cache::name)?,
                "upgrade-from" => begin.upgrade_from = Some(value),
                "topology" => shape = Some(value.parse::<TopologyShape>()?),
                "delay" => delay = Some(value.parse::<NetworkDelay>()?),
                _ => options.push((name, value)),
            }
        }
        begin.topology = shape.map(|shape| Topology { shape, delay });
        begin.topology.map_or(Ok(()), Topology::check_delay)?;
        if delay.is_some() && shape.is_none() {
            return Err("delay= is that between the members of a topology; write \
                        topology=group:3&delay=5ms"
                .to_owned());
        }
        Ok(begin)
    }

    /// The options that differ from the default, as a target has them.
    pub fn options(&self) -> Vec<(&'static str, String)> {
        let mut options = Vec::new();
        if self.image != ImageUse::default() {
            options.push(("image", self.image.name().to_owned()));
        }
        if self.cache != Cache::default() {
            options.push(("cache", self.cache.name().to_owned()));
        }
        options.extend(self.upgrade_from.clone().map(|version| ("upgrade-from", version)));
        if let Some(Topology { shape, delay }) = self.topology {
            options.push(("topology", shape.to_string()));
            options.extend(delay.map(|delay| ("delay", delay.to_string())));
        }
        options
    }
}

fn one_of<T: Copy>(
    name: &str,
    value: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    all.iter().copied().find(|known| name_of(*known) == value).ok_or_else(|| {
        let known: Vec<&str> = all.iter().map(|known| name_of(*known)).collect();
        format!("{name}={value}: write {name}={}", known.join(&format!(" or {name}=")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_taken_and_the_rest_stays() {
        let pair = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut options = [("a", "1"), ("image", "none"), ("cache", "cold")].map(pair).to_vec();
        let begin = Begin::take_from(&mut options).unwrap();
        assert_eq!((begin.image, begin.cache), (ImageUse::None, Cache::Cold));
        assert_eq!(options, [pair(("a", "1"))]);
        assert_eq!(begin.options(), [("image", "none".into()), ("cache", "cold".into())]);
        assert!(Begin::default().options().is_empty());
        let mut options = [("topology", "group:3"), ("delay", "5ms")].map(pair).to_vec();
        let begin = Begin::take_from(&mut options).unwrap();
        assert_eq!(begin.options(), [("topology", "group:3".into()), ("delay", "5ms".into())]);
        let error = Begin::take_from(&mut vec![pair(("delay", "5ms"))]).unwrap_err();
        assert!(error.contains("topology=group:3&delay=5ms"), "{error}");
        let error = Begin::take_from(&mut vec![pair(("cache", "tepid"))]).unwrap_err();
        assert!(error.contains("cache=warm or cache=cold"), "{error}");
    }
}
