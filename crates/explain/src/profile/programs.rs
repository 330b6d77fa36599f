//! Which program a stack is of, and which stacks are idle.
//!
//! ```text
//!   swapper      native_safe_halt                     idle: of no program, left out
//!   mysqld       row_search_mvcc      (mysqld)        of mysqld
//!   connection   row_search_mvcc      (mysqld)        a thread of mysqld: its functions tell
//!   sysbench     lj_vm_call           (libluajit.so)  of sysbench: libraries tell nothing
//!   kworker/0:1  worker_thread        [kernel]        of kworker
//! ```
//!
//! Linux names threads, and servers name their own: which program a thread is of shows in the files
//! that its functions are of.

use std::collections::{BTreeMap, HashMap};

use super::form::ProfileError;

/// A stack as a text tells it.
pub(super) struct Sighting<'s> {
    /// The program that it is of; empty where the text does not tell.
    pub(super) program: &'s str,
    /// Its functions, the outermost first.
    pub(super) stack: &'s [&'s str],
    /// What it weighs each time.
    pub(super) weight: f64,
    /// How often it was seen with this weight.
    pub(super) times: u64,
}

impl<'s> Sighting<'s> {
    /// Of a text that does not tell programs.
    pub(super) fn new(stack: &'s [&'s str], weight: f64) -> Sighting<'s> {
        Sighting { program: "", stack, weight, times: 1 }
    }

    /// What it weighs, all times together.
    pub(super) fn total_weight(&self) -> f64 {
        self.weight * self.times as f64
    }

    /// Whether no program worked: the idle task, with the interrupts that it serves, or a function
    /// that only waits for one.
    pub(super) fn is_idle(&self) -> bool {
        let innermost = self.stack.last().copied().unwrap_or_default();
        is_idle_task(self.program)
            || is_idle_function(innermost)
            || (self.stack.len() > 1 && is_idle_task(self.stack[0]))
    }
}

/// `swapper`, `swapper/12`, and with the number of its process: `swapper-0`.
fn is_idle_task(name: &str) -> bool {
    name.strip_prefix("swapper").is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-']))
}

/// Functions of Linux in which a processor waits for an interrupt.
const IDLE: [&str; 14] = [
    "native_safe_halt",
    "pv_native_safe_halt",
    "arch_safe_halt",
    "xen_safe_halt",
    "native_halt",
    "default_idle",
    "default_idle_call",
    "arch_cpu_idle",
    "poll_idle",
    "amd_e400_idle",
    "c1e_idle",
    "cpu_idle_loop",
    "cpu_idle_poll",
    "cpu_startup_entry",
];
/// How the names of such functions of drivers begin.
const IDLE_DRIVERS: [&str; 5] =
    ["cpuidle_", "intel_idle", "acpi_idle_", "mwait_idle", "acpi_processor_ffh_cstate"];

fn is_idle_function(name: &str) -> bool {
    let name = name.strip_suffix("_[k]").unwrap_or(name);
    let name = name.split('.').next().unwrap_or_default();
    IDLE.contains(&name) || IDLE_DRIVERS.iter().any(|begin| name.starts_with(begin))
}

/// Names of threads and programs that are told apart, at most; a machine has some thousand.
const NAMES_MOST: usize = 1 << 16;
/// Files of a thread that are looked at, at most.
const FILES_MOST: usize = 64;
/// All programs beyond so many.
const OTHERS: &str = "[other programs]";

/// The files that functions of threads are of, and how often.
#[derive(Default)]
pub(super) struct Threads<'t> {
    files: HashMap<&'t str, HashMap<&'t str, u64>>,
}

impl<'t> Threads<'t> {
    /// A thread of this name was in a function of this file.
    pub(super) fn note_file(&mut self, thread: &'t str, file: &'t str) {
        // Programs are in no directory of libraries, and those have ends of all kinds.
        let file = if file.starts_with("/lib") { "[library]" } else { file };
        let file = file.rsplit('/').next().unwrap_or(file);
        let is_full = self.files.len() >= NAMES_MOST && !self.files.contains_key(thread);
        if is_full {
            return;
        }
        let files = self.files.entry(thread).or_default();
        if files.len() < FILES_MOST || files.contains_key(file) {
            *files.entry(file).or_default() += 1;
        }
    }

    /// The program of each thread.
    pub(super) fn into_programs(self) -> HashMap<&'t str, &'t str> {
        self.files.into_iter().map(|(thread, files)| (thread, program(thread, &files))).collect()
    }
}

/// Whether a file is a program, and no library, and not of the kernel.
fn is_program(file: &str) -> bool {
    let is_library = file.contains(".so") || file.contains("libjvm");
    let is_of_kernel = is_kernel(file) || file.ends_with(".ko");
    let is_none = ["", "inlined", "unknown", "deleted", "//anon", "vdso"].contains(&file);
    !is_library && !is_of_kernel && !is_none && !file.ends_with(".map")
}

/// `[kernel.kallsyms]`, `[ext4]`, `vmlinux-5.4.14`
fn is_kernel(file: &str) -> bool {
    ["[", "vmlinux", "bpf_prog_"].iter().any(|begin| file.starts_with(begin))
}

fn program<'t>(thread: &'t str, files: &HashMap<&'t str, u64>) -> &'t str {
    if files.keys().any(|file| is_program(file) && is_named(file, thread)) {
        return thread;
    }
    let largest = files
        .iter()
        .filter(|(file, _)| is_program(file))
        .max_by_key(|(file, count)| (**count, std::cmp::Reverse(**file)));
    match largest {
        Some((file, _)) => file,
        // Threads of the kernel have the number of a processor behind their names.
        None if is_of_kernel(thread, files) => thread.split('/').next().unwrap_or(thread),
        None => thread,
    }
}

/// `kworker/0:1`, `jbd2/sda1-8`: a thread that runs nothing but the kernel.
fn is_of_kernel(thread: &str, files: &HashMap<&str, u64>) -> bool {
    files.keys().all(|file| is_kernel(file)) && !is_idle_task(thread) && !thread.contains(' ')
}

/// Whether a program has this name, of which Linux keeps 15 bytes.
fn is_named(name: &str, program: &str) -> bool {
    const KEPT: usize = 15;
    name == program || (program.len() == KEPT && name.starts_with(program))
}

/// What a text tells of programs, while it is read.
#[derive(Default)]
pub(super) struct Programs {
    /// The weight of each; of those that the text does not tell, by the empty name.
    weights: BTreeMap<String, f64>,
    idle: f64,
}

impl Programs {
    /// What is known beside a text.
    pub(super) fn from_weights(weights: &BTreeMap<String, f64>, idle: f64) -> Programs {
        Programs { weights: weights.clone(), idle }
    }

    /// Notes a stack; whether it counts, for it is not idle and of the process that is asked for.
    pub(super) fn note_stack(&mut self, seen: &Sighting<'_>, process: Option<&str>) -> bool {
        if seen.is_idle() {
            self.idle += seen.total_weight();
            return false;
        }
        match self.weights.get_mut(seen.program) {
            Some(weight) => *weight += seen.total_weight(),
            None => {
                let is_full = self.weights.len() >= NAMES_MOST;
                let program = if is_full { OTHERS } else { seen.program };
                *self.weights.entry(program.to_owned()).or_default() += seen.total_weight();
            }
        }
        // What was left out of an excerpt has no program.
        let is_excerpt = seen.stack == [dbdyno_model::LEFT_OUT];
        process.is_none_or(|process| is_named(process, seen.program) || is_excerpt)
    }

    /// The share of idle in all that was sampled.
    pub(super) fn idle_share(&self) -> f64 {
        let all = self.idle + self.weights.values().sum::<f64>();
        if all > 0.0 { self.idle / all } else { 0.0 }
    }

    /// Programs and their shares of what is not idle, the largest first; none where the text does
    /// not tell them.
    pub(super) fn busy_shares(&self) -> Vec<(String, f64)> {
        let known =
            || self.weights.iter().filter(|(name, weight)| !name.is_empty() && **weight > 0.0);
        let all: f64 = self.weights.values().sum();
        let mut shares: Vec<(String, f64)> =
            known().map(|(name, weight)| (name.clone(), weight / all)).collect();
        shares.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        shares
    }

    /// Why nothing is left of a profile of which one process was asked for, or that is idle.
    pub(super) fn nothing_left(&self, process: Option<&str>) -> Option<ProfileError> {
        let what = match (process, self.busy_shares()) {
            (Some(name), shares) if shares.is_empty() && !self.weights.is_empty() => format!(
                "it does not tell which program a stack is of, so that those of {name} cannot be \
                 told apart; leave out --process"
            ),
            (Some(name), shares) if !shares.is_empty() => format!(
                "it has no sample of a program named {name}, but of {}; name one of them with \
                 --process",
                listed(&shares)
            ),
            _ if self.idle > 0.0 => {
                "all that was sampled is idle, or interrupts in the idle task: no program worked; \
                 sample while a load runs"
                    .to_owned()
            }
            _ => return None,
        };
        Some(ProfileError::new(0, what))
    }

    /// In words: `; of mysqld 70.0 %, sysbench 30.0 %; 50.0 % of all is idle and left out`.
    pub(super) fn shares_text(&self, process: Option<&str>) -> String {
        let mut told = String::new();
        let shares = self.busy_shares();
        match process.and_then(|name| shares.iter().find(|(of, _)| is_named(name, of))) {
            Some((name, share)) => {
                told += &format!("; of {name}, {:.1} % of it", 100.0 * share);
            }
            None if shares.len() == 1 => told += &format!("; of {}", shares[0].0),
            None if !shares.is_empty() => told += &format!("; of {}", listed(&shares)),
            None => {}
        }
        if self.idle > 0.0 {
            let share = 100.0 * self.idle_share();
            told += &format!("; {share:.1} % of all samples are idle and left out");
        }
        told
    }
}

/// Programs that are named by themselves, at most.
const NAMED_MOST: usize = 4;

/// `mysqld 70.0 %, sysbench 30.0 %`
fn listed(shares: &[(String, f64)]) -> String {
    let mut words: Vec<String> = Vec::new();
    for (name, share) in shares.iter().take(NAMED_MOST) {
        words.push(format!("{name} {:.1} %", 100.0 * share));
    }
    if shares.len() > NAMED_MOST {
        let rest: f64 = shares[NAMED_MOST..].iter().map(|(_, share)| share).sum();
        let count = shares.len() - NAMED_MOST;
        words.push(format!("{count} others {:.1} %", 100.0 * rest));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::read::{read, read_process};

    fn sample(thread: &str, stack: &str) -> String {
        let frames: String =
            stack.split(';').map(|frame| format!("\t  b2c3d0 {frame}\n")).collect();
        format!("{thread} [001] 5.25: 250000 cpu-clock:pppH:\n{frames}\n")
    }

    #[test]
    fn idle_is_no_processor_time_whatever_tells_it() {
        let work = sample("mysqld 77", "row_search_mvcc (/usr/sbin/mysqld)");
        let kernel = |name: &str| format!("{name} ([kernel.kallsyms])");
        for idle in [
            sample("swapper 0", &kernel("native_safe_halt")),
            sample("swapper/3 0", &kernel("finish_task_switch")),
            sample("mysqld 77", &(kernel("intel_idle_irq") + ";" + &kernel("cpuidle_enter_state"))),
        ] {
            let profile = read(&(work.clone() + &idle)).unwrap();
            assert_eq!((profile.total, profile.idle_share), (250_000.0, 0.5), "{idle}");
            assert!(
                profile
                    .taken_for
                    .ends_with("of mysqld; 50.0 % of all samples are idle and left out")
            );
            assert!(read(&idle).unwrap_err().what.contains("all that was sampled is idle"));
        }
        let collapsed =
            "mysqld;work 3\nswapper;cpu_startup_entry;do_idle 1\nmain;mwait_idle_[k] 1\n";
        assert_eq!(read(collapsed).unwrap().total, 3.0);
        for no_idle in ["swapper 5\n", "main;swapper 5\n", "main;set_idle_[k] 5\n"] {
            assert_eq!(read(no_idle).unwrap().total, 5.0, "{no_idle}");
        }
        let report = "# Overhead  Command  Shared Object  Symbol\n\
                      50.00%  swapper  [kernel.kallsyms]  [k] native_safe_halt\n\
                      50.00%  mysqld   mysqld             [.] row_search_mvcc\n";
        let profile = read(report).unwrap();
        assert_eq!((profile.total, profile.idle_share, profile.is_excerpt), (5_000.0, 0.5, false));
        let bcc = "Sampling at 49 Hertz of all threads by user + kernel stack.\n    f\n    \
                   -                mysqld (7)\n        5\n\n    g\n    -                \
                   swapper/2 (0)\n        15\n";
        assert!((read(bcc).unwrap().idle_share - 0.75).abs() < 1e-9);
        let map = "@[\n    f+1\n, mysqld]: 5\n@[\n    g+1\n, swapper/1]: 15\n";
        assert_eq!(read(map).unwrap().idle_share, 0.75);
    }

    /// Servers name their threads, and a thread is of the program whose functions it runs.
    #[test]
    fn threads_are_of_the_program_that_their_functions_are_of() {
        let text = sample("mysqld 77", "main (/usr/sbin/mysqld)")
            + &sample("connection 77/78", "memcpy (/lib/libc.so.6);do_command (/usr/sbin/mysqld)")
            + &sample("IO thread 1 77/79", "fil_aio_wait (/usr/sbin/mysqld (deleted))")
            + &sample("sysbench 90", "lj_vm_call (/usr/lib/libluajit-5.1.so.2)")
            + &sample("kworker/0:1 12", "worker_thread ([kernel.kallsyms])");
        let shares = |text: &str, process| read_process(text, process).unwrap().programs;
        let share = |name: &str, share: f64| (name.to_owned(), share);
        let expected = [share("mysqld", 0.6), share("kworker", 0.2), share("sysbench", 0.2)];
        assert_eq!(shares(&text, None), expected);
        let of_mysqld = read_process(&text, Some("mysqld")).unwrap();
        assert_eq!(of_mysqld.total, 750_000.0);
        assert!(
            of_mysqld.taken_for.ends_with("; of mysqld, 60.0 % of it"),
            "{}",
            of_mysqld.taken_for
        );
        let error = read_process(&text, Some("postgres")).unwrap_err().what;
        assert!(error.contains("of mysqld 60.0 %, kworker 20.0 %, sysbench 20.0 %"), "{error}");
        let error = read_process("main;work 5\n", Some("postgres")).unwrap_err().what;
        assert!(error.contains("no sample of a program named postgres, but of main"), "{error}");
    }

    #[test]
    fn reports_tell_programs_in_the_column_that_their_head_names() {
        let head = "# Overhead  Command  Shared Object  Symbol\n";
        let rows = "40.00%  mysqld      libc.so  [.] memcpy\n\
                    30.00%  sysbench    libc.so  [.] memcpy\n\
                    30.00%  connection  mysqld   [.] row_search_mvcc\n";
        let shares = |text: &str| {
            read(text).unwrap().programs.into_iter().map(|it| it.0).collect::<Vec<_>>()
        };
        assert_eq!(shares(&(head.to_owned() + rows)), ["mysqld", "sysbench"]);
        assert_eq!(shares(rows), ["mysqld", "sysbench"]);
        let of_sysbench = read_process(rows, Some("sysbench")).unwrap();
        assert_eq!((of_sysbench.total, of_sysbench.own["memcpy"]), (3_000.0, 3_000.0));
        let pid = "# Overhead  Pid:Command  Shared Object  Symbol\n\
                   60.00%  1234:postgres  postgres  [.] f\n40.00%  1235:postgres  postgres  [.] f\n";
        assert_eq!(shares(pid), ["postgres"]);
        let cpu = "# Overhead  CPU  Shared Object  Symbol\n100.00%  001  postgres  [.] f\n";
        let none = "100.00%  mysqld  [.] f\n";
        assert!(shares(cpu).is_empty() && shares(none).is_empty());
        let error = read_process(none, Some("mysqld")).unwrap_err().what;
        assert!(error.contains("does not tell which program"), "{error}");
    }
}
