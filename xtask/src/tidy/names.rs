//! Functions that other files call, named by one word.
//!
//! ```text
//!   x.told(y)            says nothing where it is read: what is told, by whom, to whom?
//!   x.logged_line(y)     says what comes back
//!   x.commit()           is one word, and everybody knows it: a term
//! ```
//!
//! A term is a word from which a reader of the field knows at once what a function of that name
//! returns or does on its receiver. Participles, prepositions and verbs without an object are none.
//! What is not public in any degree is called by its own file alone, where its definition is at
//! hand, and is free.

use super::rule::{Rule, Violation};
use super::signature::function_signatures;
use super::source::{Source, end_of_item};

/// What a Rust programmer knows from the standard library, and formats by their names.
const RUST: [&str; 158] = [
    "append",
    "bind",
    "bit",
    "bits",
    "boolean",
    "bytes",
    "capacity",
    "chain",
    "chars",
    "clear",
    "clock",
    "clone",
    "close",
    "code",
    "compile",
    "contains",
    "copy",
    "count",
    "cstring",
    "csv",
    "decode",
    "default",
    "depth",
    "directory",
    "display",
    "duplicate",
    "elapsed",
    "empty",
    "encode",
    "entries",
    "error",
    "escape",
    "exit",
    "expose",
    "extend",
    "file",
    "files",
    "filter",
    "find",
    "finish",
    "first",
    "float",
    "flush",
    "fold",
    "fork",
    "format",
    "from",
    "functions",
    "get",
    "hash",
    "headline",
    "height",
    "html",
    "i64",
    "id",
    "insert",
    "int",
    "io",
    "iter",
    "itf",
    "join",
    "json",
    "key",
    "keys",
    "kind",
    "last",
    "len",
    "length",
    "lines",
    "list",
    "listen",
    "literals",
    "load",
    "lossy",
    "map",
    "markdown",
    "max",
    "message",
    "min",
    "minutes",
    "mutex",
    "name",
    "names",
    "new",
    "next",
    "notify",
    "now",
    "null",
    "open",
    "operand",
    "operands",
    "opposite",
    "parse",
    "path",
    "peek",
    "pid",
    "placeholders",
    "poll",
    "pop",
    "position",
    "print",
    "push",
    "quote",
    "read",
    "reader",
    "receive",
    "remove",
    "rename",
    "render",
    "repeat",
    "replace",
    "reserve",
    "reset",
    "restart",
    "resume",
    "run",
    "seconds",
    "seek",
    "send",
    "set",
    "shuffle",
    "size",
    "sleep",
    "socket",
    "sort",
    "spawn",
    "split",
    "start",
    "status",
    "stop",
    "stream",
    "string",
    "sum",
    "svg",
    "sync",
    "timestamp",
    "title",
    "token",
    "tokens",
    "truncate",
    "u16",
    "u32",
    "u64",
    "u8",
    "unlock",
    "update",
    "url",
    "value",
    "values",
    "version",
    "visit",
    "wait",
    "wake",
    "width",
    "workers",
    "write",
    "xor",
    "zip",
];

/// What a database engineer knows: SQL, transactions, sessions, protocols, files of a server.
const DATABASES: [&str; 127] = [
    "accept",
    "anomaly",
    "assignment",
    "autocommit",
    "cell",
    "cells",
    "checkpoint",
    "checksum",
    "client",
    "clients",
    "collation",
    "column",
    "columns",
    "commit",
    "compact",
    "compress",
    "connect",
    "create",
    "database",
    "datum",
    "decompress",
    "delete",
    "derive",
    "design",
    "dialect",
    "digest",
    "download",
    "encrypt",
    "encryption",
    "endpoint",
    "environment",
    "evaluate",
    "execute",
    "expr",
    "fault",
    "faults",
    "fetch",
    "fingerprint",
    "fnv1a",
    "generation",
    "header",
    "horizon",
    "host",
    "images",
    "index",
    "indexes",
    "initial",
    "inserters",
    "invariants",
    "isolation",
    "keyring",
    "latch",
    "latency",
    "layout",
    "level",
    "levels",
    "lock",
    "login",
    "lsn",
    "members",
    "mirrors",
    "node",
    "nodes",
    "nonce",
    "operations",
    "optional",
    "options",
    "pack",
    "packets",
    "parameters",
    "password",
    "pause",
    "payload",
    "plan",
    "port",
    "prepare",
    "preset",
    "primary",
    "proof",
    "purge",
    "qps",
    "query",
    "queue",
    "receipts",
    "recover",
    "release",
    "remainder",
    "replay",
    "replicate",
    "required",
    "rollback",
    "round",
    "rounds",
    "rows",
    "savepoint",
    "schema",
    "secret",
    "seed",
    "select",
    "serve",
    "server",
    "session",
    "sessions",
    "settings",
    "sha256",
    "shut",
    "signature",
    "snapshot",
    "sql",
    "sqlstate",
    "stages",
    "statement",
    "statements",
    "table",
    "tables",
    "templates",
    "topology",
    "tps",
    "transaction",
    "transport",
    "trx",
    "txn",
    "unique",
    "unpack",
    "user",
    "vacuum",
    "variables",
];

/// What a statistician knows, and arithmetic.
const STATISTICS: [&str; 36] = [
    "bca",
    "bootstrap",
    "bounds",
    "confidence",
    "correlation",
    "difference",
    "distance",
    "divide",
    "draw",
    "fieller",
    "histogram",
    "interval",
    "kill",
    "labels",
    "mean",
    "median",
    "merge",
    "multiply",
    "nurand",
    "percentiles",
    "probability",
    "quantile",
    "rate",
    "rates",
    "ratio",
    "ratios",
    "residuals",
    "sample",
    "samples",
    "slope",
    "subtract",
    "uniform",
    "variance",
    "warmup",
    "weight",
    "welch",
];

/// Finds the functions of a source that others call, and whose name is one word that is no term.
pub(super) fn find_vague_names(source: &Source, found: &mut Vec<Violation>) {
    let is_in_trait = lines_of_traits(source);
    for signature in function_signatures(source) {
        let line = signature.line - 1;
        let is_shared = is_in_trait[line] || is_public(&source.code[line]);
        if is_shared && is_one_word(&signature.name) && !is_term(&signature.name) {
            let what = format!("fn {} is called by one word that is no term", signature.name);
            found.push(Violation::new(Rule::VagueName, &source.path, signature.line, what));
        }
    }
}

fn is_public(line: &str) -> bool {
    let code = line.trim_start();
    code.starts_with("pub ") || code.starts_with("pub(")
}

fn is_one_word(name: &str) -> bool {
    !name.trim_matches('_').contains('_')
}

fn is_term(name: &str) -> bool {
    [&RUST[..], &DATABASES, &STATISTICS].iter().any(|words| words.contains(&name))
}

/// For each line, whether a trait is declared there: its functions are called by others.
fn lines_of_traits(source: &Source) -> Vec<bool> {
    let mut is_in_trait = vec![false; source.code.len()];
    for at in 0..source.code.len() {
        if declares_trait(&source.code[at]) {
            is_in_trait[at..=end_of_item(&source.code, at)].fill(true);
        }
    }
    is_in_trait
}

fn declares_trait(line: &str) -> bool {
    let code = line.trim_start();
    let inner = code.strip_prefix("pub(").and_then(|rest| rest.split_once(") "));
    let item = code.strip_prefix("pub ").or(inner.map(|(_, rest)| rest)).unwrap_or(code);
    item.strip_prefix("unsafe ").unwrap_or(item).starts_with("trait ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vague_lines(text: &str) -> Vec<usize> {
        let mut found = Vec::new();
        find_vague_names(&Source::read("crates/a/src/b.rs", text).unwrap(), &mut found);
        found.into_iter().map(|one| one.line).collect()
    }

    #[test]
    fn one_word_that_is_no_term_is_found_where_others_call_it() {
        let text = "pub fn told() {}\nfn told() {}\nimpl A {\n    pub(crate) fn of(b: u8) {}\n    \
                    pub(super) const fn new() {}\n    fn take() {}\n    pub fn logged_line() {}\n\
                    }\n";
        assert_eq!(vague_lines(text), [1, 4]);
        assert!(vague_lines("#[cfg(test)]\nmod tests {\n    pub fn told() {}\n}\n").is_empty());
    }

    #[test]
    fn what_a_trait_declares_is_called_by_others() {
        let text = "pub(crate) unsafe trait A {\n    fn told(&self);\n    fn commit(&self) {}\n}\n\
                    impl A for B {\n    fn told(&self) {}\n}\n";
        assert_eq!(vague_lines(text), [2]);
    }

    #[test]
    fn terms_are_one_word_each_in_order_and_once() {
        for words in [&RUST[..], &DATABASES, &STATISTICS] {
            assert!(words.is_sorted_by(|a, b| a < b), "{words:?}");
            assert!(words.iter().all(|word| is_one_word(word)));
        }
    }
}
