//! Every key of a load's file, and what it says.
//!
//! The guide, `docs/guide/custom-loads.md`, has these as tables, which a test writes; another holds
//! them against what is read: a key that is missing here, or is here and not read, fails.

/// A key of a load's file.
#[derive(Clone, Copy, Debug)]
pub struct FileKey {
    /// As it is written.
    pub name: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// What that says, and what holds where it is not written.
    pub says: &'static str,
}

/// The keys of one kind of section.
#[derive(Clone, Copy, Debug)]
pub struct KeySection {
    /// Where they stand.
    pub heading: &'static str,
    /// Those that it takes.
    pub keys: &'static [FileKey],
}

const fn key(name: &'static str, takes: &'static str, says: &'static str) -> FileKey {
    FileKey { name, takes, says }
}

/// All sections of a file.
pub const SECTIONS: [KeySection; 6] = [
    KeySection {
        heading: "At the top of the file",
        keys: &[
            key("name", "letters, digits, `-`, `_`", "what `--load` and reports call it; needed"),
            key("about", "text", "one line for people; the name of the file if it is missing"),
            key(
                "group",
                "`\"point\"`, `\"range\"`, `\"range-aggregate\"`, `\"write\"`",
                "its place in tables of results; needed",
            ),
            key(
                "trend",
                "`\"steady\"`, `\"grows\"`, `\"shrinks\"`",
                "what becomes of the tables, where the statements do not tell it",
            ),
            key(
                "rand",
                "`\"uniform\"`, `\"gaussian\"`, `\"special\"`, `\"pareto\"`, `\"zipfian\"`, \
                 `\"hotspot\"`, `\"latest\"`",
                "how often each row is drawn by `{id}` and `{id of TABLE}`; uniform if it is missing",
            ),
            key("skew", "a number", "how unequal the draws are; each `rand` has a usual one"),
            key(
                "transaction",
                "`true`, `false`",
                "whether the statements of an event are one transaction; `true` if it is missing, \
                 and `false` for a single statement at the top",
            ),
            key(
                "tables",
                "`\"sbtest\"`, `\"none\"`",
                "sysbench's tables, or those that a running server has; sysbench's if the file has \
                 no `[[table]]`",
            ),
            key("rows", "a whole number", "with `tables = \"none\"`: `{id}` goes from 1 to it"),
            key("table", "`[[table]]`, several", "tables of its own"),
            key("step", "`[[step]]`, several", "what a load of one event asks"),
            key("event", "`[[event]]`, several", "several kinds of events, chosen by weight"),
        ],
    },
    KeySection {
        heading: "In `[[table]]`",
        keys: &[
            key("name", "letters, digits, `_`", "the table; needed"),
            key(
                "rows",
                "a whole number, or a share of `--rows` such as `\"50%\"`",
                "how many rows it is filled with; `\"100%\"` if it is missing",
            ),
            key("create", "SQL", "the CREATE TABLE; needed"),
            key(
                "after",
                "a list of SQL",
                "what follows once the rows are there: CREATE INDEX, foreign keys",
            ),
            key(
                "columns",
                "a section: column = text with generators",
                "what is in each row; needed unless `rows = 0`",
            ),
        ],
    },
    KeySection {
        heading: "In `[[event]]`",
        keys: &[
            key("name", "text", "what its latencies are filed under; needed"),
            key(
                "weight",
                "a whole number",
                "how often it is chosen beside the others; 1 if it is missing",
            ),
            key("transaction", "`true`, `false`", "as at the top, for this event"),
            key("step", "`[[event.step]]`, several", "what it asks, in order; needed"),
        ],
    },
    KeySection {
        heading: "In `[[step]]` and `[[event.step]]`",
        keys: &[
            key("repeat", "1 to 10000", "how often the step is done; 1 if it is missing"),
            key(
                "table",
                "`\"random\"`, `\"client\"`",
                "which of sysbench's tables `{table}` is: drawn for the step, or one for each \
                 client; random if it is missing",
            ),
            key(
                "statements",
                "a list of sections, as below",
                "several statements that are repeated together, in the place of `sql`",
            ),
        ],
    },
    KeySection {
        heading: "In a step, and in each of its `statements`",
        keys: &[
            key("sql", "SQL with generators", "the statement; needed"),
            key(
                "class",
                "text",
                "what its latencies are filed under; the name of the event, or the first word of \
                 the statement",
            ),
            key(
                "channel",
                "`\"prepared\"`, `\"text\"`",
                "whether it is prepared once, or sent as text; prepared if it is missing",
            ),
            key(
                "rows",
                "a whole number, or bounds such as `\"0..10\"`, `\"1..\"`",
                "how many rows a right answer has; this or `changed` is needed",
            ),
            key("changed", "the same", "how many rows it changes"),
        ],
    },
    KeySection {
        heading: "In the place of SQL: a section by dialect",
        keys: &[
            key("default", "SQL", "for the dialects that are not named"),
            key("mysql", "SQL", "for MySQL, MariaDB and the reference engine"),
            key("postgres", "SQL", "for PostgreSQL"),
            key("sqlite", "SQL", "for SQLite"),
        ],
    },
];
