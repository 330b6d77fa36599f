//! On which processors clients and servers run.
//!
//! ```text
//!   --pin auto                         one processor where there is one client, else all
//!   --pin same     │ c s │   │   │   │
//!   --pin split    │  s  │ s │ s │ c │   the last quarter for clients, at least one
//!   --pin none                         where the scheduler puts them
//!   --pin clients=6-7/servers=0-5      as it says
//! ```
//!
//! With one client, a server and its client take turns. On a machine that is otherwise idle each of
//! them sleeps on a processor of its own, every statement pays for two wake-ups of an idle
//! processor, and the rate is theirs, not the server's: 14 thousand point queries per second
//! against 48 thousand with both on one processor, and twice the noise. `dbdyno doctor` measures
//! what it is on a host. With more clients the processors stay awake.

use std::fmt;
use std::str::FromStr;

/// Processors are numbered below this.
const MOST: usize = 512;

/// Where clients and servers are put.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Pin {
    /// One processor where there is one client, else all.
    #[default]
    Auto,
    /// One processor for client and server, always.
    Same,
    /// Clients on some and servers on the others, always.
    Split,
    /// The scheduler decides, always.
    None,
    /// As the user says, always.
    Given(Placement),
}

/// Processors of the two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placement {
    /// Of all clients.
    pub clients: Processors,
    /// Of the servers, each of them.
    pub servers: Processors,
}

/// A set of processors by the kernel's numbers. The empty one means: any.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Processors([u64; MOST / 64]);

impl Pin {
    /// Where `clients` clients and the servers go, of `all` processors that we may use; `None`
    /// leaves all of them to the scheduler.
    pub fn placement_for(self, clients: u32, all: &[usize]) -> Option<Placement> {
        // The last one: the first serves most interrupts.
        let same = || {
            let last = Processors::from_numbers(all.last().copied());
            Placement { clients: last, servers: last }
        };
        match self {
            Pin::Auto => (clients == 1).then(same),
            Pin::Same => Some(same()),
            Pin::Split => {
                let of_clients = (all.len() / 4).max(1);
                let (servers, clients) = all.split_at(all.len().saturating_sub(of_clients));
                let [clients, servers] =
                    [clients, servers].map(|part| Processors::from_numbers(part.iter().copied()));
                Some(Placement { clients, servers })
            }
            Pin::None => None,
            Pin::Given(placement) => Some(placement),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::Auto => f.write_str("auto"),
            Pin::Same => f.write_str("same"),
            Pin::Split => f.write_str("split"),
            Pin::None => f.write_str("none"),
            Pin::Given(Placement { clients, servers }) => {
                write!(f, "clients={clients}/servers={servers}")
            }
        }
    }
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Pin, String> {
        Ok(match text {
            "auto" => Pin::Auto,
            "same" => Pin::Same,
            "split" => Pin::Split,
            "none" => Pin::None,
            given => {
                let parts = given.strip_prefix("clients=").and_then(|g| g.split_once("/servers="));
                let usage = "write auto, same, split, none or clients=2-3/servers=0-1";
                let (clients, servers) = parts.ok_or(usage)?;
                Pin::Given(Placement { clients: clients.parse()?, servers: servers.parse()? })
            }
        })
    }
}

impl Placement {
    /// Whether both sides are on one and the same processor.
    pub fn is_one_processor(&self) -> bool {
        self.clients == self.servers && self.clients.count() == 1
    }
}

impl Processors {
    /// Any of them: the scheduler decides.
    pub const ANY: Processors = Processors([0; MOST / 64]);

    /// These; a number from 512 on is left out.
    pub fn from_numbers(numbers: impl IntoIterator<Item = usize>) -> Processors {
        let mut set = Processors::ANY;
        for number in numbers.into_iter().filter(|number| *number < MOST) {
            set.0[number / 64] |= 1 << (number % 64);
        }
        set
    }

    /// Whether the scheduler decides.
    pub fn is_any(&self) -> bool {
        *self == Processors::ANY
    }

    /// How many; 0 where the scheduler decides.
    pub fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Their numbers, ascending.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..MOST).filter(move |number| self.0[number / 64] >> (number % 64) & 1 == 1)
    }
}

/// As `taskset` and `cpuset` write it: `0-3,8`.
impl fmt::Display for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut left = self.numbers().peekable();
        let mut separator = "";
        while let Some(first) = left.next() {
            let mut last = first;
            while let Some(next) = left.next_if_eq(&(last + 1)) {
                last = next;
            }
            write!(f, "{separator}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            separator = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for Processors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Processors({self})")
    }
}

impl FromStr for Processors {
    type Err = String;

    fn from_str(text: &str) -> Result<Processors, String> {
        let wrong = || format!("{text:?} is no list of processors; write 0-3,8");
        let mut numbers = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            match (processor_number(first), processor_number(last)) {
                (Some(first), Some(last)) if first <= last => numbers.extend(first..=last),
                _ => return Err(wrong()),
            }
        }
        Ok(Processors::from_numbers(numbers))
    }
}

fn processor_number(text: &str) -> Option<usize> {
    text.parse::<usize>().ok().filter(|&number| number < MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_are_shown_as_they_are_written() {
        for text in ["auto", "same", "split", "none", "clients=6-7/servers=0-5,511"] {
            assert_eq!(text.parse::<Pin>().unwrap().to_string(), text);
        }
        let tidied = "clients=3,1,2/servers=0".parse::<Pin>().unwrap();
        assert_eq!(tidied.to_string(), "clients=1-3/servers=0");
        for wrong in ["", "both", "clients=1", "clients=/servers=0", "clients=3-1/servers=0"] {
            assert!(wrong.parse::<Pin>().is_err(), "{wrong} was taken");
        }
        assert!("clients=0/servers=512".parse::<Pin>().is_err());
    }

    #[test]
    fn both_sides_get_processors_on_every_host() {
        let place = |pin: Pin, clients, count: usize| {
            let all: Vec<usize> = (0..count).collect();
            pin.placement_for(clients, &all)
                .map(|placed| (placed.clients.to_string(), placed.servers.to_string()))
        };
        let pair = |clients: &str, servers: &str| Some((clients.to_owned(), servers.to_owned()));
        assert_eq!(place(Pin::Auto, 1, 4), pair("3", "3"));
        assert_eq!(place(Pin::Auto, 2, 4), None);
        assert_eq!(place(Pin::Same, 8, 2), pair("1", "1"));
        assert_eq!(place(Pin::Split, 1, 2), pair("1", "0"));
        assert_eq!(place(Pin::Split, 1, 16), pair("12-15", "0-11"));
        assert_eq!(place(Pin::Split, 1, 1), pair("0", ""), "a server alone with its client: any");
        assert_eq!(place(Pin::None, 1, 4), None);
        let all_in_one = Pin::Same.placement_for(1, &[5, 6]).unwrap();
        assert!(all_in_one.is_one_processor());
        assert!(!Pin::Split.placement_for(1, &[5, 6]).unwrap().is_one_processor());
    }
}
