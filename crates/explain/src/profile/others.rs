//! Profiles of other tools, which are known by how they begin and not read: what makes stacks of
//! them that are.

use super::filled::filled_lines;
use super::form::ProfileError;
use crate::beginning::text_beginning;

/// Lines at the beginning by which a tool is known.
const LINES_MOST: usize = 12;
/// Bytes at the beginning of a line by which a tool is known.
const LINE_BYTES: usize = 4 << 10;
/// Bytes at the beginning of a document by which it is known.
const DOCUMENT_BYTES: usize = 1 << 20;
/// Bytes at the beginning by which what is no text is known.
const HEAD_BYTES: usize = 256;

/// What a tool writes at the beginning of a line, what it is, and what to give instead.
const TOOLS: [(&str, &str, &str); 22] = [
    ("<?xml", "a picture or a file of XML", PICTURE),
    ("<svg", "a flame graph as a picture", PICTURE),
    ("<!DOCTYPE", "a page", PICTURE),
    ("<html", "a page", PICTURE),
    ("Full thread dump", "a thread dump of Java", JAVA),
    ("FLR\0", "a recording of Java's flight recorder", JAVA),
    ("goroutine profile:", "a dump of Go", GO),
    ("goroutine ", "a dump of Go", GO),
    ("# callgrind format", "a file of callgrind", "what `perf script` prints of the same load"),
    ("Flat profile:", "a profile of gprof", "what `perf script` or `perf report --stdio` prints"),
    ("Sampling process ", "what `sample` of macOS prints", MACOS),
    ("Analysis of sampling ", "what `sample` of macOS prints", MACOS),
    (
        "Weight\tSelf Weight",
        "a deep copy of Instruments",
        "what stackcollapse-instruments.pl makes of it",
    ),
    ("@ ", "what pmcstat prints", "what stackcollapse-pmc.pl makes of it"),
    ("CPU     ID ", "what dtrace prints", DTRACE),
    ("dtrace:", "what dtrace prints", DTRACE),
    ("* thread #", "backtraces of lldb", "gdb's `thread apply all bt`, or `bt all` of coredumpctl"),
    ("Function,CPU Time", "a table of VTune", "what `perf script` prints of the same load"),
    (
        "% self  % total  name",
        "a summary of rbspy",
        "what `rbspy report --format collapsed` prints",
    ),
    (
        "Summary of profiling data",
        "a summary of rbspy",
        "what `rbspy report --format collapsed` prints",
    ),
    ("Python v", "what `py-spy dump` prints", "what `py-spy record --format raw` writes"),
    ("PERFILE2", "a file of `perf record` that is packed", "the file itself"),
];
const PICTURE: &str = "the collapsed stacks of which it was made";
const JAVA: &str = "what async-profiler writes with `-o collapsed`, or `jfrconv -o collapsed` \
                    makes of a recording";
const GO: &str = "what `go tool pprof -top` prints of a profile";
const MACOS: &str = "what stackcollapse-sample.awk makes of it";
const DTRACE: &str = "what stackcollapse.pl of FlameGraph makes of it";

/// Names in documents of JSON, whose they are, and what to give instead.
const DOCUMENTS: [(&str, &str, &str); 8] = [
    ("\"callFrame\"", "a profile of Chrome or Node", SPEEDSCOPE),
    ("\"stackTable\"", "a profile of Firefox or samply", PERF),
    ("\"ph\"", "a trace of Chrome", SPEEDSCOPE),
    ("\"traceEvents\"", "a trace of Chrome", SPEEDSCOPE),
    ("\"raw_timestamp_deltas\"", "a profile of stackprof", "its collapsed stacks"),
    ("\"frames\"", "a profile of stackprof", "its collapsed stacks"),
    ("\"flamebearer\"", "a profile of Pyroscope", "its collapsed form"),
    ("\"rts_arguments\"", "a profile of Haskell", SPEEDSCOPE),
];
const SPEEDSCOPE: &str = "the same as speedscope's JSON, or as collapsed stacks";
const PERF: &str = "what `perf script` prints of the same load, or collapsed stacks";

/// What stands in a line of the beginning, all of it, whose it is, and what to give instead.
const LINES: [(&[&str], &str, &str); 47] = [
    (&["# TYPE "], "what an exporter of Prometheus serves", SCRIPT),
    (&["nr_free_pages "], "counters of the kernel, as /proc/vmstat has them", SCRIPT),
    (&["Source code & Disassembly of"], "what `perf annotate` prints", REPORT),
    (&["Percent", "|", "Disassembly"], "what `perf annotate` prints", REPORT),
    (&["Shared Data Cache Line Table"], "what `perf c2c` prints", REPORT),
    (&["Trace Event Information"], "what `perf c2c` prints", REPORT),
    (&["contended", "total wait", "avg wait"], "what `perf lock` prints", REPORT),
    (&["Name", "acquired", "contended"], "what `perf lock` prints", REPORT),
    (&["Performance counter stats for"], "what `perf stat` prints", REPORT),
    (&["Task", "Runtime ms", "Switches"], "what `perf sched` prints", REPORT),
    (&["wait time", "sch delay", "run time"], "what `perf sched` prints", REPORT),
    (&["Summary of events:"], "what `perf trace` prints", REPORT),
    (&[" ms): ", "(", "/"], "what `perf trace` prints", REPORT),
    (&[": count", "distribution"], "a histogram, as tools of bcc print it", BCC),
    (
        &["Tracing ", " functions for \""],
        "counts or times of calls, as tools of bcc print them",
        BCC,
    ),
    (&["Tracing ", "slower than"], "a list of slow operations, as tools of bcc print it", BCC),
    (&["outstanding allocations"], "what `memleak` of bcc prints", BCC),
    (&["TIME", "COMM", "LAT(ms)"], "a list of operations, as tools of bcc print it", BCC),
    (&["[", ")", "|@"], "a histogram of bpftrace", BCC),
    (&["ERROR: ", "Sanitizer"], "a report of a sanitizer", SCRIPT),
    (&["==", "Memcheck, a memory"], "a report of valgrind", SCRIPT),
    (&["function calls", " seconds"], "a table of cProfile", PY_SPY),
    (&["ncalls", "tottime", "cumtime"], "a table of cProfile", PY_SPY),
    (&["nsamples", "sample%"], "a table of a profiler of Python", PY_SPY),
    (&["Timer unit:", " s"], "what line_profiler prints", PY_SPY),
    (&["%Own", "OwnTime"], "a screen of `py-spy top`", PY_SPY),
    (&["Collecting samples from '"], "a screen of `py-spy top`", PY_SPY),
    (&["Traceback (most recent call last)"], "an error of Python", PY_SPY),
    (&["Exception in thread", "Exception"], "an error of Java", JAVA),
    (&["creator: ", "callgrind"], "a file of callgrind", SCRIPT),
    (&["events: ", "Ir"], "a file of callgrind or cachegrind", SCRIPT),
    (&["desc: I1 cache:"], "a file of callgrind or cachegrind", SCRIPT),
    (&["Profile data file '", "callgrind"], "what callgrind_annotate prints", SCRIPT),
    (&["desc: --"], "a file of massif", SCRIPT),
    (&["Massif arguments:"], "what ms_print makes of massif", SCRIPT),
    (&["CALLS TO ALLOCATION FUNCTIONS"], "what heaptrack prints", SCRIPT),
    (&["Function", "CPU Time"], "a table of VTune", SCRIPT),
    (&["Function Stack", ","], "a table of VTune", SCRIPT),
    (&["CPU: ", ", speed "], "what opreport prints", SCRIPT),
    (&["Measure Mode:"], "a table of ruby-prof", "what `rbspy report --format collapsed` prints"),
    (&["Running Time", "Self", "Symbol Name"], "a copy of Instruments", INSTRUMENTS),
    (&["ROUTINE ======"], "what `pprof -list` prints", TOP),
    (&["calls%", "context"], "what `pprof -peek` prints", TOP),
    (&[ENTRY], "what `pprof -traces` prints", TOP),
    (&[NEIGHBOURS], "what `pprof -peek` or `-tree` prints", TOP),
    (&["usecs/call", "syscall"], "what `strace -c` prints", SCRIPT),
    (&["Time and Allocation Profiling Report"], "a profile of Haskell", SPEEDSCOPE),
];
/// What stands between entries of pprof; those of tables of SQL are shorter.
const ENTRY: &str = "-----------+-------------------------------------------------------";
const NEIGHBOURS: &str = "----------------------------------------------------------+-------------";
const REPORT: &str = "what `perf script` or `perf report --stdio` prints";
const SCRIPT: &str = "what `perf script` prints of the same load";
const BCC: &str = "what bcc's `profile` or `offcputime` prints";
const PY_SPY: &str = "what `py-spy record --format raw` writes";
const TOP: &str = "what `pprof -top` prints";
const INSTRUMENTS: &str = "what stackcollapse-instruments.pl makes of a deep copy";

/// Whose output a line is part of that stands in no profile that is read: its beginning tells.
fn told_by_line(line: &str) -> Option<(&'static str, &'static str)> {
    let line = text_beginning(line, LINE_BYTES);
    let found = LINES.iter().find(|(parts, ..)| parts.iter().all(|part| line.contains(part)));
    found.map(|(_, whose, instead)| (*whose, *instead))
}

/// Why a text is refused that another tool has written, by its name.
pub(super) fn other_tool_refusal(text: &str) -> Option<ProfileError> {
    let refused = |line: usize, whose: &str, instead: &str| {
        ProfileError::new(line, format!("this is {whose}, which is not read; give {instead}"))
    };
    let head = text_beginning(text, HEAD_BYTES);
    if may_be_document(text) {
        let head = text_beginning(text, DOCUMENT_BYTES);
        let known = DOCUMENTS.iter().find(|(name, ..)| head.contains(name));
        let unknown = ("a document of JSON that is not known", "stacks as `main;work;read 12`");
        let is_document = text.trim_end().ends_with(['}', ']']);
        return match known {
            Some((_, whose, instead)) => Some(refused(1, whose, instead)),
            None => is_document.then(|| refused(1, unknown.0, unknown.1)),
        };
    }
    for (number, line) in filled_lines(text).filter(|(_, line)| !line.is_empty()).take(LINES_MOST) {
        let line = line.trim_start();
        // A function of a stack may be called so.
        if line.contains(';') && line.ends_with(|c: char| c.is_ascii_digit()) {
            continue;
        }
        if let Some((_, whose, instead)) = TOOLS.iter().find(|(begin, ..)| line.starts_with(begin))
        {
            return Some(refused(number, whose, instead));
        }
        if let Some((whose, instead)) = told_by_line(line) {
            return Some(refused(number, whose, instead));
        }
        if of_dtrace(line) {
            return Some(refused(number, "what dtrace prints", DTRACE));
        }
    }
    let is_binary = head.contains('\0') || head.matches('\u{fffd}').count() > 4;
    is_binary.then(|| {
        refused(
            1,
            "no text; profiles of pprof are packed so",
            "what `pprof -top` or `go tool pprof -top` prints of it",
        )
    })
}

/// Whether a text may be a document of JSON. Logs of gdb begin and end with a bracket, too:
/// `[New LWP 4001]`, `[Inferior 1 (process 4001) detached]`.
fn may_be_document(text: &str) -> bool {
    let text = text.trim_start();
    let inner = text.strip_prefix('[').map(str::trim_start);
    text.starts_with('{')
        || inner
            .is_some_and(|it| it.starts_with(|c: char| "{[]\"-".contains(c) || c.is_ascii_digit()))
}

/// A frame of dtrace: "mysqld`row_search_mvcc+0x1a".
fn of_dtrace(line: &str) -> bool {
    let is_word = |text: &str| !text.is_empty() && !text.contains([' ', ';', '`']);
    let parts = line.split_once('`').filter(|(module, name)| is_word(module) && is_word(name));
    parts.is_some_and(|(_, name)| name.contains("+0x"))
}

#[cfg(test)]
mod tests {
    use super::super::read::read;

    /// The beginnings of files as these tools write them.
    #[test]
    fn files_of_other_tools_are_refused_by_name() {
        for (text, whose) in [
            (
                "<?xml version=\"1.0\"?>\n<svg><title>main (12 samples, 9%)</title></svg>\n",
                "picture",
            ),
            ("2026-01-01 00:00:00\nFull thread dump OpenJDK 64-Bit (17):\n\n\"main\" #1\n", "Java"),
            ("goroutine 1 [running]:\nmain.f(0x1)\n\t/x.go:3 +0x1\n", "Go"),
            ("# callgrind format\nevents: Instructions\nfn=main\n16 20\n", "callgrind"),
            (
                "Sampling process 12 for 3 seconds\nCall graph:\n    2000 Thread_1   Queue\n    + 2000 \
                 start  (in dyld) + 1  [0x1]\n",
                "`sample` of macOS",
            ),
            ("Weight\tSelf Weight\t\tSymbol Name\n96.08 Gc  100.0%\t-\t \tapp\n", "Instruments"),
            ("@ inst_retired.any [35705 samples]\n\n20.86%  [7447]  f @ /x.ko\n", "pmcstat"),
            ("\n    mysqld`row_search_mvcc+0x1a\n    mysqld`main+0x5\n     12\n", "dtrace"),
            ("* thread #1, name = 'm'\n  * frame #0: 0x7f libc`poll + 79\n", "lldb"),
            ("Process 12: python a.py\nPython v3.11 (/x)\n\nThread 12 (active): \"M\"\n", "py-spy"),
            ("Flat profile:\n\nEach sample counts as 0.01 seconds.\n", "gprof"),
            (
                "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"}}]}",
                "Chrome or Node",
            ),
            ("{\"meta\":{},\"threads\":[{\"stackTable\":{}}]}", "Firefox or samply"),
            ("[\n {\"pid\": 0, \"ph\": \"M\"}\n]\n", "trace of Chrome"),
            ("{\"a\": 1}", "JSON that is not known"),
            ("\u{fffd}\u{fffd}\u{fffd}M\u{fffd}U\u{fffd}\0", "profiles of pprof"),
        ] {
            let error = read(text).unwrap_err();
            assert!(
                error.what.contains(whose) && error.what.contains("; give "),
                "{error}\n{text}"
            );
        }
        for (line, whose) in [
            (
                " Percent |\tSource code & Disassembly of mysqld for cycles (1234 samples)",
                "annotate",
            ),
            ("=====\n   Shared Data Cache Line Table   \n=====", "perf c2c"),
            (
                " contended   total wait     max wait     avg wait         type   caller",
                "perf lock",
            ),
            (" Performance counter stats for process id '7':", "perf stat"),
            ("     usecs               : count     distribution\n  1024 -> 2047  : 1 |*  |", "bcc"),
            ("   2326448 function calls (2299873 primitive calls) in 2.345 seconds", "cProfile"),
            (
                "==1==ERROR: AddressSanitizer: heap-use\n    #0 0x4f5a2d in main /x/a.cc:5:10",
                "sanit",
            ),
            ("  %Own   %Total  OwnTime  TotalTime  Function (filename)", "py-spy top"),
            ("version: 1\ncreator: callgrind-3.15.0\npid: 7\n", "callgrind"),
            ("Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n", "VTune"),
            ("Tracing 1 functions for \"c:malloc\"... Hit Ctrl-C to end.", "tools of bcc"),
        ] {
            let error = read(line).unwrap_err();
            assert!(error.what.contains(whose) && error.what.contains("; give "), "{error}");
        }
        for read_as_stacks in
            ["[unknown];main 5\n", "{closure};f 5\n", "a`b;c+0x1 5\n", "@a[\n f+1\n]: 3\n"]
        {
            assert!(read(read_as_stacks).is_ok(), "{read_as_stacks}");
        }
        for first in ["[New LWP 4001]", "[Thread debugging using libthread_db enabled]"] {
            let log = format!(
                "{first}\n\nThread 1 (Thread 0x7f1 (LWP 1)):\n#0  0x01 in poll () from /x\n#1  0x02 in \
                 main ()\n[Inferior 1 (process 1) detached]\n"
            );
            assert!(read(&log).unwrap().taken_for.starts_with("gdb backtraces"), "{first}");
        }
    }
}
