//! What is guarded, and a place where it is broken.

use std::fmt;

/// What is guarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    FunctionLength,
    LineLength,
    FileLength,
    Leftover,
    Allow,
    Essay,
    Path,
    Paper,
    Clock,
    Print,
    Process,
    Sql,
    Assumption,
    Arrow,
    Circle,
    Surface,
    SharedName,
    Participle,
    TupleParameter,
    NamedClosure,
    NamedClosures,
    MatchInDisguise,
    ServerSql,
    VagueName,
    KernelFile,
    Invariant,
    Program,
    Exception,
}

impl Rule {
    /// Why the rule exists.
    fn why(self) -> &'static str {
        match self {
            Rule::FunctionLength => "a function is read on one screen",
            Rule::LineLength => "two files are read side by side",
            Rule::FileLength => "a file holds one idea",
            Rule::Leftover => "what is left over is forgotten",
            Rule::Allow => "an exemption that is no longer needed must show itself",
            Rule::Essay => "a reader meets the idea before the code",
            Rule::Path => "the repository works wherever it is cloned",
            Rule::Paper => "a claim is worth what a reader can look up",
            Rule::Clock => "pure code is tested with the times that matter",
            Rule::Print => "data and talk have one way out each",
            Rule::Process => "one crate answers for every process that is started",
            Rule::Sql => "one crate answers for the file of stored runs",
            Rule::Assumption => "a number is worth what its assumptions are worth",
            Rule::Arrow => "arrows between crates go down only",
            Rule::Circle => "what imports each other in a circle is only understood as a whole",
            Rule::Surface => "what is public has to be kept for others",
            Rule::SharedName => "a reader who meets a type by its name knows which one it is",
            Rule::Participle => "a type is a thing, and things have nouns",
            Rule::TupleParameter => "a parameter has a name, and a limit is kept by its meaning",
            Rule::NamedClosure => "a closure stands where it is used, or is a function",
            Rule::NamedClosures => "a function is read from its first statement",
            Rule::MatchInDisguise => "a condition is read as one",
            Rule::ServerSql => "one crate knows what servers of each release say of themselves",
            Rule::VagueName => "a function is understood where it is called",
            Rule::KernelFile => "a machine may be another one, or a text that a test wrote",
            Rule::Invariant => "a crate is a noun with one invariant",
            Rule::Program => {
                "each test program is linked with the whole crate, and one may be forgotten"
            }
            Rule::Exception => "an exception without a case hides the next case",
        }
    }

    /// What to do about a violation.
    fn remedy(self) -> &'static str {
        match self {
            Rule::FunctionLength => "split it where its comments or blank lines do",
            Rule::LineLength => "break it: cargo fmt does so for code, comments are broken by hand",
            Rule::FileLength => "move one idea into a module of its own",
            Rule::Leftover => "do it now, or write it into the issue tracker",
            Rule::Allow => "mend the cause, or use #[expect(lint, reason = \"…\")]",
            Rule::Essay => "open the file with //! (in TypeScript /**) and say what it is for",
            Rule::Path => "take the path from the environment or make it relative",
            Rule::Paper => "cite a manual, a post, a paper or a page below docs/ by its address",
            Rule::Clock => {
                "take the time as an argument; the owners are in xtask/src/tidy/owners.rs"
            }
            Rule::Print => "return the text, or a Warning, and let `cli` show it",
            Rule::Process => "ask `sandbox` for it",
            Rule::Sql => "ask `store` for it",
            Rule::Assumption => "write a sentence \"Assumes …\" into its documentation",
            Rule::Arrow => {
                "turn the arrow round, or change xtask/src/tidy/arrows.rs and \
                 docs/ARCHITECTURE.md together"
            }
            Rule::Circle => "move what both need below them, or make the two one",
            Rule::Surface => "make it pub(crate), or take it away",
            Rule::SharedName => "name it by what it is in its own field",
            Rule::Participle => "name it by a noun of the field",
            Rule::TupleParameter => "make them two parameters, or a struct with a name",
            Rule::NamedClosure => "write it where it is used, or make a function of it",
            Rule::NamedClosures => "make functions of them, or one loop",
            Rule::MatchInDisguise => "write if and else",
            Rule::ServerSql => "make it a question of `server`, or give it a row of its families",
            Rule::VagueName => "say what it returns, or verb and object of what it does",
            Rule::KernelFile => "ask a `Host`, by a path that `host::kernel` makes",
            Rule::Invariant => "give it a line \"`crate` — **Invariant:** …\"",
            Rule::Program => "name it in tests/main.rs, which Cargo.toml names",
            Rule::Exception => "remove it from xtask/src/tidy/exceptions.rs",
        }
    }
}

/// One place that breaks one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Violation {
    pub rule: Rule,
    pub path: String,
    pub line: usize,
    pub what: String,
}

impl Violation {
    pub(crate) fn new(rule: Rule, path: &str, line: usize, what: impl Into<String>) -> Self {
        Violation { rule, path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Violation { rule, path, line, what } = self;
        write!(f, "{path}:{line}: {what}; {}: {}", rule.why(), rule.remedy())
    }
}
