//! Backtraces of all threads: what gdb, pstack, eu-stack and coredumpctl print, and what pt-pmp
//! makes of them.
//!
//! ```text
//!   Thread 41 (Thread 0x7f71 (LWP 2278)):                              a stack for each thread;
//!   #0  0x0000003ae4e0b5bc in pthread_cond_wait () from /lib64/libpthread.so.0     the first
//!   #1  0x000000000065dabd in Ack_receiver::run() ()                               thread again:
//!   #2  start_thread (arg=0x7fc9) at pthread_create.c:309                          a new sample
//!
//!      48 __lll_lock_wait,pthread_mutex_lock,mutex_enter,start_thread  pt-pmp: threads, functions
//! ```
//!
//! Threads are looked at whether they work or wait, so that these are no profiles of a processor.

use std::borrow::Cow;
use std::collections::HashSet;

use super::coverage::Coverage;
use super::filled::filled_lines;
use super::form::{Form, MeasureUnit, ProfileError, ProfileMeasure, Weighing};
use super::programs::Sighting;
use super::stack::{Stack, UNKNOWN, cut_name};

/// Threads of a process, at most: Linux numbers 4 million, and servers have some thousand.
const THREADS_MOST: usize = 200_000;

/// Whether a line is one of gdb's.
pub(super) fn is_of_gdb(line: &str) -> bool {
    is_thread(line) || number_of_frame(line).is_some_and(|(number, _)| number == 0)
}

/// `Thread 41 (…`, `Stack trace of thread 8509:`, `TID 8509:`
fn is_thread(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let of_gdb = line.strip_prefix("Thread ").and_then(|rest| rest.split_once(' '));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    of_gdb.is_some_and(|(number, rest)| is_number(number) && rest.starts_with('('))
        || line.starts_with("Stack trace of thread ")
        || line.strip_prefix("TID ").and_then(|rest| rest.strip_suffix(':')).is_some_and(is_number)
}

/// `#12 0x… in …`: the number of a frame, and what is behind it. Pages protect the sign by a
/// backslash, or leave the blank out: `#120x…`.
fn number_of_frame(line: &str) -> Option<(u32, &str)> {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    let line = line.strip_prefix('\\').unwrap_or(line).strip_prefix('#')?;
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let end = if line[digits..].starts_with('x') { digits.checked_sub(1)? } else { digits };
    let (number, rest) = line.split_at(end);
    let is_parted = end < digits || rest.starts_with([' ', '\t']);
    Some((number.parse().ok()?, rest.trim_start())).filter(|_| is_parted)
}

/// The threads of a text while it is read.
#[derive(Default)]
struct ThreadStacks<'t> {
    stack: Stack<'t>,
    /// What tells the threads of this sample.
    seen: HashSet<&'t str>,
    samples: u64,
    threads: u64,
    /// Threads of which nothing is told but that they are.
    frameless: u64,
    /// Whether the heading of a thread stands above, and no stack was given since.
    is_awaited: bool,
    is_headed: bool,
    /// Behind all threads gdb prints once more the frame in which it stopped.
    is_again: bool,
}

impl<'t> ThreadStacks<'t> {
    /// The heading of a thread; its identity stands behind its number, which gdb may give anew.
    fn note_heading(
        &mut self,
        number: usize,
        line: &'t str,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        self.end_thread(take);
        (self.is_headed, self.is_awaited, self.is_again) = (true, true, false);
        if !self.seen.insert(line.trim()) {
            self.samples += 1;
            self.seen.clear();
            self.seen.insert(line.trim());
        } else if self.seen.len() > THREADS_MOST {
            let what = format!(
                "more than {THREADS_MOST} threads in one sample, which no program has; give what \
                 gdb has printed of one process"
            );
            return Err(ProfileError::new(number, what));
        }
        Ok(())
    }

    fn note_frame(
        &mut self,
        number: usize,
        place: u32,
        frame: &'t str,
        take: &mut dyn FnMut(&Sighting<'_>),
    ) -> Result<(), ProfileError> {
        if place == 0 {
            self.is_again = self.is_headed && !self.stack.is_empty();
            self.give(take);
        }
        match function(frame).filter(|_| !self.is_again) {
            Some(function) => self.stack.push(number, function),
            None => Ok(()),
        }
    }

    fn give(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) {
        if !self.stack.is_empty() {
            self.threads += 1;
            self.is_awaited = false;
        }
        self.stack.emit_sighting("", 1.0, take);
    }

    fn end_thread(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) {
        self.give(take);
        self.frameless += u64::from(std::mem::take(&mut self.is_awaited));
    }

    /// Gives threads without frames, where others have some: they are as much of the whole.
    fn emit_frameless(&mut self, take: &mut dyn FnMut(&Sighting<'_>)) {
        self.end_thread(take);
        if self.threads > 0 && self.frameless > 0 {
            self.threads += self.frameless;
            take(&Sighting::new(&[UNKNOWN], self.frameless as f64));
        }
    }
}

/// Gives each stack, the outermost function first.
pub(super) fn each_stack(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let mut found = ThreadStacks { samples: 1, ..ThreadStacks::default() };
    for (number, line) in filled_lines(text) {
        if is_thread(line) {
            found.note_heading(number, line, take)?;
        } else if let Some((place, frame)) = number_of_frame(line) {
            found.note_frame(number, place, frame, take)?;
        }
    }
    found.emit_frameless(take);
    let (samples, stacks) = (found.samples, found.threads);
    let threads = stacks as f64 / samples as f64;
    let threads = match samples {
        1 => format!("1 sample of {stacks} threads"),
        _ if threads.fract() == 0.0 => format!("{samples} samples of {threads} threads"),
        _ => format!("{samples} samples of {threads:.1} threads on average"),
    };
    let frameless = match found.frameless {
        0 => String::new(),
        count => format!(", {count} of them without a frame"),
    };
    Ok(of_threads(format!("gdb backtraces, {threads}{frameless}")))
}

fn of_threads(taken_for: String) -> Form {
    Form {
        taken_for,
        measure: ProfileMeasure::of_unit(MeasureUnit::Thread, None),
        weighing: Weighing::Unit(1.0),
        coverage: Coverage::WHOLE,
    }
}

/// The function of a frame: `0x… in NAME (ARGUMENTS) at FILE:LINE`; nothing for what is none.
fn function(frame: &str) -> Option<Cow<'_, str>> {
    let has_address = frame.starts_with("0x");
    let text = if has_address {
        let (_, rest) = frame.split_once(' ')?;
        rest.trim_start().strip_prefix("in ").unwrap_or(rest)
    } else {
        frame
    };
    if text.starts_with('<') {
        return None;
    }
    // eu-stack: `main - /usr/sbin/mysqld  file.cc:7:1`
    let (text, file) = match text.split_once(" - /") {
        Some((text, file)) => (text, file.split_whitespace().next()),
        None => (text, None),
    };
    let (name, rest) = text.split_at(end_of_name(text).min(end_without_place(text)));
    // Sanitizers have a file behind a name without arguments; gdb has none there.
    if rest.is_empty() && name.contains(" /") {
        return None;
    }
    let name = versionless(name.trim());
    if name != "??" && name != "n/a" {
        return (!name.is_empty()).then_some(Cow::Borrowed(name));
    }
    let file = file.or_else(|| Some(rest.split_once(" from ")?.1.trim()));
    // coredumpctl: `(libc.so.6 + 0x6d7e9)`
    let file = file.or_else(|| Some(rest.split_once('(')?.1.split_once(" + ")?.0));
    let file = file.map(|file| file.rsplit('/').next().unwrap_or(file));
    Some(format!("[{}]", cut_name(file.unwrap_or("unknown"))).into())
}

/// Where the arguments begin: the first ` (` outside of templates.
fn end_of_name(text: &str) -> usize {
    let (mut depth, mut last) = (0_i32, ' ');
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if last != '-' => depth -= 1,
            '(' if depth <= 0 && last == ' ' && at > 0 => return at - 1,
            _ => {}
        }
        last = c;
    }
    text.len()
}

/// Where the place begins of a name without arguments: `poll at poll.c:29:10`, as pt-pmp has it, or
/// `io_getevents from /lib/libaio.so`.
fn end_without_place(text: &str) -> usize {
    let is_line =
        |place: &str| place.rsplit(':').next().is_some_and(|at| at.parse::<u32>().is_ok());
    let at = text.rfind(" at ").filter(|at| is_line(&text[at + 4..]));
    at.or_else(|| text.find(" from /")).unwrap_or(text.len())
}

/// `pthread_cond_wait` of `pthread_cond_wait@@GLIBC_2.3.2`.
fn versionless(name: &str) -> &str {
    name.split_once("@GLIBC").map_or(name, |(name, _)| name.trim_end_matches('@'))
}

/// Whether a line is one of pt-pmp's: `48 pthread_mutex_lock,mutex_enter`.
pub(super) fn is_of_pmp(line: &str) -> bool {
    // A frame of perf has its offset, or its file behind a blank.
    let is_frame = |stack: &str| stack.contains("+0x") || stack.contains(" (");
    summed(line).is_some_and(|(_, stack)| stack.contains(',') && !is_frame(stack))
}

/// Threads, and their stack, the innermost function first.
fn summed(line: &str) -> Option<(u64, &str)> {
    let (count, stack) = line.trim().split_once(' ')?;
    let stack = stack.trim();
    let is_stack = !stack.is_empty() && !stack.contains(';') && !stack.contains('%');
    Some((count.parse().ok()?, stack)).filter(|_| {
        is_stack
            && stack.starts_with(|c: char| {
                c.is_alphabetic() || matches!(c, '_' | '?' | '~' | '[' | '(')
            })
    })
}

/// Gives each stack of pt-pmp, the outermost function first.
pub(super) fn each_sum(
    text: &str,
    take: &mut dyn FnMut(&Sighting<'_>),
) -> Result<Form, ProfileError> {
    let (mut threads, mut stacks) = (0, 0_u64);
    for (number, line) in filled_lines(text) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("```") || is_date(line) {
            continue;
        }
        let Some((count, stack)) = summed(line) else {
            let what = "pt-pmp has printed what stands before; a line of it is the number of \
                        threads and their functions: `48 pthread_mutex_lock,mutex_enter`; where \
                        lines were left out, nothing can be said of the whole";
            return Err(ProfileError::new(number, what));
        };
        threads = u64::saturating_add(threads, count);
        stacks += 1;
        let names: Vec<Cow<'_, str>> = stack.split(',').rev().filter_map(name).collect();
        take(&Sighting::new(&names.iter().map(Cow::as_ref).collect::<Vec<_>>(), count as f64));
    }
    Ok(of_threads(format!("pt-pmp, {stacks} stacks of {threads} threads")))
}

/// `Fri Jan  6 23:48:24 UTC 2017`
fn is_date(line: &str) -> bool {
    let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    days.iter().any(|day| line.starts_with(day)) && line.matches(':').count() >= 2
}

/// The function, without its file or the line of its source: `MDL_wait::timed_wait(mdl.cc:1837)`.
fn name(text: &str) -> Option<Cow<'_, str>> {
    let text = versionless(text.trim());
    let (text, file) = match text.rsplit_once('(') {
        Some((name, place)) if is_place(place) => (name, None),
        Some((name, file)) if file.contains(".so") => (name, file.strip_suffix(')')),
        _ => (text, None),
    };
    match text.split_once("::??") {
        _ if text.is_empty() => None,
        Some((file, "")) => Some(format!("[{}]", cut_name(file)).into()),
        _ if text == "??" && file.is_some() => {
            file.map(|file| format!("[{}]", cut_name(file)).into())
        }
        _ if text == "??" => Some(UNKNOWN.into()),
        _ => Some(text.into()),
    }
}

/// `mdl.cc:1837)`
fn is_place(text: &str) -> bool {
    let line = text.strip_suffix(')').and_then(|text| text.rsplit_once(':'));
    line.is_some_and(|(file, line)| file.contains('.') && line.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// pt-pmp's example of eu-stack: of two releases every line differs, and no function does.
    #[test]
    fn places_are_no_part_of_a_name() {
        for (frame, name) in [
            ("0x00007f27 in __GI___poll at poll.c:29:10", "__GI___poll"),
            ("0x000055be in L::listen() at socket.cc:1354:3", "L::listen()"),
            ("0x00007f27 in io_getevents from /usr/lib/libaio.so.1", "io_getevents"),
            ("0x00007f27 in syscall at syscall.S:38", "syscall"),
            ("0x00007f27 in A<B at C>::f (x=1) at f.cc:2", "A<B at C>::f"),
        ] {
            assert_eq!(function(frame).as_deref(), Some(name), "{frame}");
        }
    }

    /// gdb prints the frame in which it stopped once more behind all threads.
    #[test]
    fn the_last_frame_of_gdb_is_no_thread() {
        let text = "Thread 2 (LWP 6):\n#0  0x01 in poll () from /lib/x\n#1  0x02 in main ()\n\
                    Thread 1 (LWP 5):\n#0  0x01 in select () from /lib/x\n#1  0x02 in main ()\n\
                    #0  0x01 in select () from /lib/x\n";
        let mut stacks = 0;
        let form = each_stack(text, &mut |_| stacks += 1).unwrap();
        assert_eq!((stacks, form.taken_for.as_str()), (2, "gdb backtraces, 1 sample of 2 threads"));
    }

    /// A thread whose stack could not be read is a thread: the others would be more than they are.
    #[test]
    fn threads_without_frames_are_counted() {
        let thread = |number: u32, frame: &str| format!("Thread {number} (LWP {number}):\n{frame}");
        let (poll, signal) = ("#0  0x01 in poll () from /x\n", "#0  <signal handler called>\n");
        let text = thread(4, poll) + &thread(3, "") + &thread(2, signal) + &thread(1, poll);
        let (mut weights, mut unknown) = (0.0, 0.0);
        let form = each_stack(&text, &mut |seen| {
            weights += seen.weight;
            unknown += if seen.stack == [UNKNOWN] { seen.weight } else { 0.0 };
        });
        assert_eq!((weights, unknown), (4.0, 2.0));
        let told = "gdb backtraces, 1 sample of 4 threads, 2 of them without a frame";
        assert_eq!(form.unwrap().taken_for, told);
        let form = each_stack(&thread(3, ""), &mut |_| panic!("nothing is known of it"));
        assert!(form.is_ok());
    }

    #[test]
    fn functions_of_frames_have_their_names() {
        for (frame, name) in [
            (
                "0x0000003ae4e0b5bc in pthread_cond_wait@@GLIBC_2.3.2 () from /x",
                "pthread_cond_wait",
            ),
            (
                "0x00007f in asio::service::run(asio::error_code&) () from /usr/lib/x.so",
                "asio::service::run(asio::error_code&)",
            ),
            (
                "galera::Monitor<galera::Order>::wait (this=this@entry=0x2, seqno=2) at m.hpp:276",
                "galera::Monitor<galera::Order>::wait",
            ),
            (
                "0x1 in std::function<void (int)>::operator() (this=0x1) at f:1",
                "std::function<void (int)>::operator()",
            ),
            ("0x0000003ae4600614 in ?? () from /lib64/libaio.so.1", "[libaio.so.1]"),
            ("0x0000000000000000 in ?? ()", "[unknown]"),
            ("__lll_lock_wait ()", "__lll_lock_wait"),
            ("0x00007f3a1e27d148 start_thread (libc.so.6 + 0x71148)", "start_thread"),
            ("0x00007f3a1e44b524 n/a (libstdc++.so.6 + 0x4b524)", "[libstdc++.so.6]"),
            ("main.fact (n=1) at x.go:3", "main.fact"),
        ] {
            assert_eq!(function(frame).as_deref(), Some(name), "{frame}");
        }
        assert_eq!(function("<signal handler called>"), None);
    }

    #[test]
    fn functions_of_sums_have_no_lines() {
        for (text, is) in [
            ("MDL_wait::timed_wait(mdl.cc:1837)", Some("MDL_wait::timed_wait")),
            ("mongo::runQuery(mongo::Message&", Some("mongo::runQuery(mongo::Message&")),
            ("libstdc++::??", Some("[libstdc++]")),
            ("??(libaio.so.1)", Some("[libaio.so.1]")),
            ("select(libc.so.6)", Some("select")),
            ("??", Some("[unknown]")),
            ("", None),
        ] {
            assert_eq!(name(text).as_deref(), is, "{text}");
        }
    }
}
