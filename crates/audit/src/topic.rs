//! What a fact is about: the headings under which inequalities are shown, in the order of showing.

/// A heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// What was asked for.
    Identity,
    /// What is in the tables, and what comes out of them.
    Data,
    /// Which way to the rows.
    Plans,
    /// Character sets and collations.
    Characters,
    /// What survives a crash.
    Durability,
    /// How and when pages and logs reach the disk.
    Flushing,
    /// Caches and buffers.
    Memory,
    /// The binary log, GTIDs, write-ahead log for replicas.
    Replication,
    /// Threads, locks, isolation.
    Concurrency,
    /// Costs, switches, statistics.
    Optimizer,
    /// What the server notes of itself.
    Instruments,
    /// Connections, SQL mode.
    Sessions,
    /// Compiler, flags, libraries.
    Build,
    /// Limits, file system, host.
    Host,
    /// What happened while it was measured.
    Course,
    /// Everything else.
    Other,
}

impl Topic {
    /// The heading as people read it.
    pub fn name(self) -> &'static str {
        match self {
            Topic::Identity => "what is compared",
            Topic::Data => "data and results",
            Topic::Plans => "plans and statistics",
            Topic::Characters => "character sets",
            Topic::Durability => "durability",
            Topic::Flushing => "redo, flushing and purge",
            Topic::Memory => "memory",
            Topic::Replication => "binary log and replication",
            Topic::Concurrency => "threads, locks and isolation",
            Topic::Optimizer => "optimizer",
            Topic::Instruments => "instrumentation and logs",
            Topic::Sessions => "connections and SQL mode",
            Topic::Build => "build",
            Topic::Host => "process, host and disk",
            Topic::Course => "while it was measured",
            Topic::Other => "other settings",
        }
    }
}
