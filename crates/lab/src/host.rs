//! What is true of the host.

use dbdyno_judge::cautions::saturation;
use dbdyno_load::{Clock, mock};

use crate::laboratory::Lab;

/// What is true of the host; of that of models, which is the same everywhere, what is asked for.
pub(crate) fn host_facts(lab: &Lab<'_>) -> Vec<(String, String)> {
    if let Clock::Virtual(_) = lab.clock {
        let processors = mock::PROCESSORS.to_string();
        let told = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        return vec![
            told("host.cpu.model", "a model"),
            told("host.cpu.logical", &processors),
            told("host.memory_kb", "8388608"),
            told(saturation::PROCESSORS, &processors),
        ];
    }
    let host = &**lab.home.host();
    let mut facts = dbdyno_probe::host_facts(host);
    facts.extend(dbdyno_probe::filesystem_facts(host, lab.home.dir()));
    let processors = dbdyno_sandbox::allowed_processors().len().to_string();
    facts.push((saturation::PROCESSORS.to_owned(), processors));
    facts
}

/// Memory of the host; 2 GB, which every server can live with, where the host does not tell.
pub(crate) fn memory_mb(facts: &[(String, String)]) -> u64 {
    let memory = facts.iter().find(|(name, _)| name == "host.memory_kb");
    memory.and_then(|(_, kb)| kb.parse::<u64>().ok()).map_or(2048, |kb| kb / 1024)
}
