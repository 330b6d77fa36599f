//! What readers of foreign text take of memory, counted by the allocator: each thread for itself,
//! as other tests run in this process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dbdyno_explain::profile::{WeightedProfile, difference, read};

thread_local! {
    /// Bytes that this thread has now, and the most that it had.
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

fn note(bytes: isize) {
    LIVE.set(LIVE.get() + bytes);
    MOST.set(MOST.get().max(LIVE.get()));
}

// SAFETY: every call goes to the system's allocator unchanged; counting touches cells that need
// neither initialisation nor destruction.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both are there while the content is moved.
        note(size as isize);
        note(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes at most that were taken meanwhile, beside what was there before.
fn most_bytes(work: impl FnOnce()) -> usize {
    let before = LIVE.get();
    MOST.set(before);
    work();
    usize::try_from(MOST.get() - before).unwrap_or(0)
}

/// The size of a file that somebody sends.
const LARGE: usize = 10 << 20;
/// Large enough for what does not depend on the size: every form of a profile is tried.
const SIZE: usize = 5 << 20;

/// A frame, and what begins, parts and ends stacks, in each form of a profile.
struct Tool {
    name: &'static str,
    head: &'static str,
    /// A sample of a function with this name.
    sample: fn(&str) -> String,
}

const TOOLS: [Tool; 8] = [
    Tool { name: "collapsed", head: "", sample: |name| format!("main;{name} 1\n") },
    Tool {
        name: "perf script",
        head: "",
        sample: |name| format!("m 7 [001] 5.25: 25 cycles:u:\n\t7f3a {name}+0x1 (/bin/m)\n\n"),
    },
    Tool {
        name: "perf report",
        head: "# Samples: 12K of event 'cycles'\n",
        sample: |name| format!("  1.00%  m  m  [.] {name}\n"),
    },
    Tool {
        name: "perf report, kernel",
        head: "",
        sample: |name| format!("  1.00%  m  m  [k] {name}\n"),
    },
    Tool {
        name: "pprof",
        head: "flat flat% sum% cum cum%\n",
        sample: |name| format!("1s 1% 1% 1s 1% {name}\n"),
    },
    Tool {
        name: "gdb",
        head: "Thread 1 (Thread 0x7f (LWP 1)):\n",
        sample: |name| format!("#0  0x0001 in {name} () from /lib/x.so\n"),
    },
    Tool { name: "bpftrace", head: "", sample: |name| format!("@[\n    {name}+1\n]: 3\n") },
    Tool { name: "pt-pmp", head: "", sample: |name| format!("  4 {name},main\n") },
];

fn taken(text: &str) -> usize {
    most_bytes(|| {
        let Ok(profile) = read(text) else { return };
        let side = [WeightedProfile { profile, operations: None }];
        drop(difference(&side, &side));
    })
}

/// However long names are, a text takes little more than itself.
#[test]
fn huge_names_of_profiles_take_no_memory() {
    for Tool { name, head, sample } in TOOLS {
        let long = "n".repeat(500_000);
        let many: String = (0..SIZE / 500_000).map(|at| sample(&format!("{at}{long}"))).collect();
        let text = format!("{head}{many}");
        let bytes = taken(&text);
        assert!(bytes < text.len() / 2, "{name}: {bytes} bytes for many huge names");
        let one = format!("{head}{}", sample(&"n".repeat(LARGE / 2)));
        let bytes = taken(&one);
        assert!(bytes < 1 << 20, "{name}: {bytes} bytes for one huge name");
    }
}

/// Names just short enough to be kept whole stand in memory once, and what is made of them: those
/// without copies, plain ones, and those in the difference.
#[test]
fn many_names_of_profiles_take_as_much_as_they_are() {
    for Tool { name, head, sample } in TOOLS {
        let long = "n".repeat(4_000);
        let many: String = (0..SIZE / 16_400).map(|at| sample(&format!("{at}{long}"))).collect();
        let text = format!("{head}{many}");
        let bytes = taken(&text);
        assert!(bytes < 6 * text.len(), "{name}: {bytes} bytes for {} of text", text.len());
    }
}

/// A line without an end is none of a profile.
#[test]
fn a_huge_line_takes_no_memory() {
    for line in ["a;".repeat(LARGE / 2), " ".repeat(LARGE) + "x", "1 ".repeat(LARGE / 2)] {
        let mut told = String::new();
        let bytes = most_bytes(|| told = read(&line).unwrap_err().to_string());
        assert!(told.starts_with("1: this line has 10485"), "{told}");
        assert!(bytes < 10_000, "{bytes} bytes for a line that begins with {}", &line[..2]);
    }
}

/// Short names that differ all are more than any program has, and are not kept.
#[test]
fn endless_names_of_profiles_take_little() {
    let names: String = (0..2 * SIZE / 12).map(|at| format!("{at:08x};b 1\n")).collect();
    let mut told = String::new();
    let bytes = most_bytes(|| told = read(&names).unwrap_err().to_string());
    assert!(told.contains("no program has"), "{told}");
    assert!(bytes < 20 << 20, "{bytes} bytes");
}
