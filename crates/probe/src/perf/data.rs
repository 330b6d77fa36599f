//! `perf.data` as stacks of functions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{BufReader, ErrorKind};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::rc::Rc;

use dbdyno_host::Host;
use linux_perf_data::linux_perf_event_reader::{
    ContextSwitchRecord, CpuMode, Endianness, EventRecord, RawData, RawEventRecord, RecordType,
    SampleFormat, SampleRecord, TaskWasPreempted,
};
use linux_perf_data::{PerfFileReader, PerfFileRecord};

use super::maps::{Maps, Objects, Place, READY, UNKNOWN};
use super::sections;
use super::symbols::{KERNEL, Symbols};

/// Addresses of a callchain from here on say whose the ones behind them are (`PERF_CONTEXT_MAX`
/// of `linux/perf_event.h`).
const CONTEXTS: u64 = -4095_i64 as u64;
const CONTEXT_KERNEL: u64 = -128_i64 as u64;
const CONTEXT_USER: u64 = -512_i64 as u64;
/// Where `perf` says that the kernel begins.
const KERNEL_BEGINS: &str = "[kernel.kallsyms]_text";
/// Processes between one and its server.
const GENERATIONS_MOST: usize = 16;
/// Bytes of all stacks as text, each once: a place of eight bytes may have a name of thousands.
const TEXT_MOST: usize = 1 << 30;

/// Which samples are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Nanoseconds since 1970 from which, and until which; of files whose clock is another one,
    /// the whole.
    pub unix_ns: (u64, u64),
    /// Of these processes and all that they begin; empty: of all but the idle one.
    pub processes: Vec<u32>,
    /// Of processes of this name only.
    pub name: Option<String>,
}

impl Window {
    /// All samples.
    pub fn all_samples(name: Option<String>) -> Window {
        Window { unix_ns: (0, u64::MAX), processes: Vec::new(), name }
    }
}

/// The stacks of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stacks {
    /// A line for each stack, outermost function first, with its count, as [`SampleKind`] says:
    /// `main;do_command;row_search_mvcc 12`.
    pub collapsed: String,
    /// All of them.
    pub samples: f64,
    /// What was sampled, where the file tells it: `cpu-clock`, `cycles`; of waits `offcpu-time`.
    pub event: Option<String>,
    /// Events that a sample stands for in the mean of the whole file: of a clock nanoseconds.
    /// Absent of waits, and where the file does not tell it.
    pub period: Option<f64>,
    /// Records that were lost because they came faster than they were written, in the whole file.
    pub lost: u64,
    /// Those in functions whose names are not known, by file: stripped, not there any more, or
    /// another build of it.
    pub unnamed: BTreeMap<String, f64>,
    /// Files whose functions have no names for another reason, and which.
    pub unread: BTreeMap<String, &'static str>,
    /// Samples of each program, by its name; those without one are left out.
    pub programs: BTreeMap<String, f64>,
    /// Samples of processors that had nothing to do; they are not among the others.
    pub idle: f64,
}

impl Stacks {
    /// Adds those of another window of the same file.
    pub fn add_window(&mut self, other: &Stacks) {
        self.collapsed.push_str(&other.collapsed);
        self.samples += other.samples;
        self.event = self.event.take().or_else(|| other.event.clone());
        self.period = self.period.or(other.period);
        self.lost = self.lost.max(other.lost);
        for (file, samples) in &other.unnamed {
            *self.unnamed.entry(file.clone()).or_default() += samples;
        }
        self.unread.extend(other.unread.iter().map(|(file, why)| (file.clone(), *why)));
        for (program, samples) in &other.programs {
            *self.programs.entry(program.clone()).or_default() += samples;
        }
        self.idle += other.idle;
    }
}

/// Whether a file on a disk is one of `perf record`.
///
/// # Errors
/// A file that cannot be read.
pub fn is_perf_data(file: &Path) -> std::io::Result<bool> {
    let opened = match dbdyno_files::open(file) {
        // What a shell hands over can be read once.
        Err(error) if error.kind() == ErrorKind::InvalidInput => return Ok(false),
        opened => opened?,
    };
    let mut magic = [0; 8];
    match opened.read_exact_at(&mut magic, 0) {
        Ok(()) => Ok(&magic == b"PERFILE2" || &magic == b"2ELIFREP"),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is read from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Samples: where processor time goes. Counts are samples.
    Samples,
    /// What is between a thread's going to sleep and its waking: where it waits. Counts are
    /// microseconds, and each stack begins with its thread, as `thread 123`.
    Waits,
}

/// Reads the stacks of these windows; functions of the kernel have names if it is the one that
/// `host` runs.
///
/// # Errors
/// A file that is not one of `perf record`, is damaged, or has samples of two events.
pub fn read_stacks(
    host: &dyn Host,
    file: &Path,
    windows: &[Window],
    kind: SampleKind,
) -> Result<Vec<Stacks>, String> {
    let wrong = |error: linux_perf_data::Error| format!("{}: {error}", file.display());
    let unreadable = |error: std::io::Error| format!("{}: {error}", file.display());
    let opened = dbdyno_files::open(file).map_err(unreadable)?;
    if let Some(damage) = sections::find_damage(&opened).map_err(unreadable)? {
        return Err(format!("{} is damaged: {damage}", file.display()));
    }
    let PerfFileReader { mut perf_file, mut record_iter } =
        PerfFileReader::parse_file(BufReader::new(opened)).map_err(wrong)?;
    let events = perf_file.event_attributes().iter().map(|of| of.name().map(plain_event));
    let events: Vec<Option<String>> = events.collect();
    let mut event: Option<&str> = None;
    let mut reader = Reader::new(windows, kind);
    while let Some(record) = record_iter.next_record(&mut perf_file).map_err(wrong)? {
        let PerfFileRecord::EventRecord { record, attr_index } = record else { continue };
        let misc = record.misc;
        let of = record.common_data().ok();
        let at = of.and_then(|of| Some((of.tid?, of.timestamp?)));
        let (tid, time) = at.unwrap_or_default();
        if !has_whole_chain(&record) {
            return Err(format!("{} is damaged: a sample ends within its callers", file.display()));
        }
        let record = record.parse().map_err(|error| format!("{}: {error}", file.display()))?;
        if kind == SampleKind::Samples && matches!(record, EventRecord::Sample(_)) {
            let own = events.get(attr_index).and_then(|name| name.as_deref());
            if let (Some(first), Some(own)) = (event, own.filter(|own| Some(*own) != event)) {
                return Err(two_events(file, first, own));
            }
            event = event.or(own);
        }
        reader.take(record, misc, tid, time);
    }
    let ids = perf_file.build_ids().map_err(wrong)?;
    let ids = ids.into_values().map(|of| (text(&of.path), of.build_id)).collect();
    let event = if kind == SampleKind::Waits { Some("offcpu-time") } else { event };
    let mut all = reader.named(host, ids).map_err(|what| format!("{}: {what}", file.display()))?;
    all.iter_mut().for_each(|one| one.event = event.map(str::to_owned));
    Ok(all)
}

/// Whether the callers of a sample fit into it: their number is multiplied before it is looked at.
/// Of samples that have values of counters in them, whose length varies, that is not known.
fn has_whole_chain(record: &RawEventRecord<'_>) -> bool {
    const BEFORE: [SampleFormat; 9] = [
        SampleFormat::IDENTIFIER,
        SampleFormat::IP,
        SampleFormat::TID,
        SampleFormat::TIME,
        SampleFormat::ADDR,
        SampleFormat::ID,
        SampleFormat::STREAM_ID,
        SampleFormat::CPU,
        SampleFormat::PERIOD,
    ];
    let format = record.parse_info.sample_format;
    let is_sample = record.record_type == RecordType::SAMPLE;
    if !is_sample
        || !format.contains(SampleFormat::CALLCHAIN)
        || format.contains(SampleFormat::READ)
    {
        return true;
    }
    let before = 8 * BEFORE.iter().filter(|one| format.contains(**one)).count();
    let Some(mut rest) = record.data.get(before..record.data.len()) else { return true };
    let mut count = [0; 8];
    if rest.read_exact(&mut count).is_err() {
        return true;
    }
    let count = match record.parse_info.endian {
        Endianness::LittleEndian => u64::from_le_bytes(count),
        Endianness::BigEndian => u64::from_be_bytes(count),
    };
    count <= rest.len() as u64 / 8
}

/// An event without the unit of the processor that counts it and what it is restricted to: `cycles`
/// of `cpu_core/cycles/u` and of `cycles:u`.
fn plain_event(name: &str) -> String {
    let name = match name.split_once('/') {
        Some((unit, rest)) if unit.starts_with("cpu") => rest.split('/').next().unwrap_or(rest),
        _ => name,
    };
    let is_modifier =
        |end: &str| !end.is_empty() && end.bytes().all(|b| b"ukhGHpPSDIW".contains(&b));
    let plain = name.rsplit_once(':').filter(|(_, end)| is_modifier(end));
    plain.map_or(name, |(event, _)| event).to_owned()
}

fn two_events(file: &Path, first: &str, other: &str) -> String {
    format!(
        "{}: samples of two events, {first} and {other}, cannot be added up; give what `perf script` \
         prints of one of them, or record one (`perf record -e {first}`)",
        file.display()
    )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What is known of the host at a moment of the file, and the samples so far.
struct Reader<'w> {
    windows: &'w [Window],
    objects: Objects,
    maps: Maps,
    parents: HashMap<i32, i32>,
    /// Of processes; those that one began share it.
    names: HashMap<i32, Rc<str>>,
    kernel: u32,
    kernel_begins: Option<u64>,
    kind: SampleKind,
    /// For each window how often each stack was met, innermost place first, and of which thread
    /// where threads are told apart.
    found: Vec<HashMap<(i32, Vec<Place>), f64>>,
    /// For each window the periods of each program.
    programs: Vec<BTreeMap<String, f64>>,
    /// The periods of the idle process.
    idle: f64,
    /// Threads that sleep.
    asleep: HashMap<i32, Asleep>,
    /// Threads that have ended: they let their processors go for good.
    gone: HashSet<i32>,
    lost: u64,
    /// The last time in the file.
    now: u64,
    /// Periods and samples of all, for what a sample weighs.
    periods: (f64, f64),
    /// Whether all samples tell theirs.
    has_periods: bool,
}

/// A thread that has no processor.
struct Asleep {
    since: u64,
    pid: i32,
    stack: Vec<Place>,
}

impl<'w> Reader<'w> {
    fn new(windows: &'w [Window], kind: SampleKind) -> Reader<'w> {
        let mut objects = Objects::default();
        let kernel = objects.number_of(KERNEL);
        Reader {
            windows,
            objects,
            maps: Maps::default(),
            parents: HashMap::new(),
            names: HashMap::new(),
            kernel,
            kernel_begins: None,
            kind,
            found: vec![HashMap::new(); windows.len()],
            programs: vec![BTreeMap::new(); windows.len()],
            idle: 0.0,
            asleep: HashMap::new(),
            gone: HashSet::new(),
            lost: 0,
            now: 0,
            periods: (0.0, 0.0),
            has_periods: true,
        }
    }

    /// Takes a record, which is of a thread at a time.
    fn take(&mut self, record: EventRecord<'_>, misc: u16, tid: i32, time: u64) {
        self.now = self.now.max(time);
        match record {
            EventRecord::Mmap(map) => {
                let is_user = map.cpu_mode == CpuMode::User;
                let (start, length) = (map.address, map.length);
                self.map(is_user, map.pid, start, length, map.page_offset, map.path);
            }
            EventRecord::Mmap2(map) => {
                let is_user = map.cpu_mode == CpuMode::User;
                let (start, length) = (map.address, map.length);
                self.map(is_user, map.pid, start, length, map.page_offset, map.path);
            }
            EventRecord::Lost(lost) => self.lost = self.lost.saturating_add(lost.count),
            EventRecord::Exit(exit) => {
                self.gone.insert(exit.tid);
                self.asleep.remove(&exit.tid);
            }
            EventRecord::Fork(fork) if fork.pid == fork.ppid => {
                self.gone.remove(&fork.tid);
            }
            EventRecord::Fork(fork) => {
                self.gone.remove(&fork.tid);
                self.maps.fork(fork.ppid, fork.pid);
                self.parents.insert(fork.pid, fork.ppid);
                if let Some(name) = self.names.get(&fork.ppid).cloned() {
                    self.names.entry(fork.pid).or_insert(name);
                }
            }
            EventRecord::Comm(comm) => {
                if comm.is_execve {
                    self.maps.exec(comm.pid);
                }
                if comm.pid == comm.tid {
                    self.names.insert(comm.pid, text(&comm.name.as_slice()).into());
                }
            }
            EventRecord::Sample(sample) if self.kind == SampleKind::Waits => {
                self.sleeps(&sample, misc)
            }
            EventRecord::Sample(sample) => self.sample(&sample, misc),
            EventRecord::ContextSwitch(ContextSwitchRecord::In { .. }) => self.wakes(tid, time),
            EventRecord::ContextSwitch(ContextSwitchRecord::Out { preempted, .. }) => {
                // It could work and has no processor; the sample of its going came before.
                let asleep = self.asleep.get_mut(&tid);
                if let Some(asleep) = asleep.filter(|_| preempted == TaskWasPreempted::Yes) {
                    asleep.stack.insert(0, READY);
                }
            }
            _ => {}
        }
    }

    fn map(
        &mut self,
        is_user: bool,
        pid: i32,
        start: u64,
        length: u64,
        offset: u64,
        path: RawData<'_>,
    ) {
        let path = text(&path.as_slice());
        if is_user {
            let object = self.objects.number_of(&path);
            self.maps.map(pid, start, length, object, offset);
        } else if path == KERNEL_BEGINS {
            self.kernel_begins = Some(offset);
        }
    }

    fn sample(&mut self, sample: &SampleRecord<'_>, misc: u16) {
        let (Some(pid), time) = (sample.pid, sample.timestamp.unwrap_or(0)) else { return };
        self.has_periods &= sample.period.is_some();
        let period = sample.period.unwrap_or(1) as f64;
        self.periods.0 += period;
        self.periods.1 += 1.0;
        if pid == 0 {
            self.idle += period;
        }
        let wanted: Vec<usize> = (0..self.windows.len())
            .filter(|at| self.is_of(&self.windows[*at], pid, time))
            .collect();
        if wanted.is_empty() {
            return;
        }
        let stack = self.stack(sample, pid, CpuMode::from_misc(misc));
        let program = self.names.get(&pid);
        for at in wanted {
            if let Some(program) = program {
                match self.programs[at].get_mut(&**program) {
                    Some(periods) => *periods += period,
                    None => drop(self.programs[at].insert(program.to_string(), period)),
                }
            }
            *self.found[at].entry((0, stack.clone())).or_default() += period;
        }
    }

    /// A thread lets its processor go, or loses it.
    fn sleeps(&mut self, sample: &SampleRecord<'_>, misc: u16) {
        let (Some(pid), Some(tid), Some(since)) = (sample.pid, sample.tid, sample.timestamp) else {
            return;
        };
        let is_wanted = self.windows.iter().any(|window| self.is_of_process(window, pid));
        if is_wanted && !self.gone.contains(&tid) {
            let stack = self.stack(sample, pid, CpuMode::from_misc(misc));
            self.asleep.insert(tid, Asleep { since, pid, stack });
        }
    }

    /// It has one again: what lies between belongs to the windows that it lies in.
    fn wakes(&mut self, tid: i32, time: u64) {
        let Some(Asleep { since, pid, stack }) = self.asleep.remove(&tid) else { return };
        for at in 0..self.windows.len() {
            let (from, until) = self.windows[at].unix_ns;
            let within_ns = time.min(until).saturating_sub(since.max(from));
            if within_ns > 0 && self.is_of_process(&self.windows[at], pid) {
                let place = (tid, stack.clone());
                *self.found[at].entry(place).or_default() += within_ns as f64 / 1e3;
            }
        }
    }

    fn is_of(&self, window: &Window, pid: i32, time: u64) -> bool {
        let (from, until) = window.unix_ns;
        (from..until).contains(&time) && self.is_of_process(window, pid)
    }

    fn is_of_process(&self, window: &Window, pid: i32) -> bool {
        let mut line = std::iter::successors(Some(pid), |pid| self.parents.get(pid).copied());
        let is_wanted = if window.processes.is_empty() {
            pid > 0
        } else {
            line.by_ref().take(GENERATIONS_MOST).any(|pid| window.processes.contains(&(pid as u32)))
        };
        is_wanted
            && window
                .name
                .as_ref()
                .is_none_or(|name| self.names.get(&pid).is_some_and(|own| **own == **name))
    }

    /// The places of a stack, innermost first. A caller is where it called, one byte before where
    /// it goes on.
    fn stack(&self, sample: &SampleRecord<'_>, pid: i32, mode: CpuMode) -> Vec<Place> {
        let mut is_kernel = mode == CpuMode::Kernel;
        let mut stack = Vec::new();
        let mut add = |is_kernel: bool, address: u64| {
            let address = if stack.is_empty() { address } else { address.wrapping_sub(1) };
            match is_kernel {
                true => stack.push(Place { object: self.kernel, offset: address }),
                false => match self.maps.place_of(pid, address) {
                    Some(place) => stack.push(place),
                    None if stack.is_empty() => stack.push(UNKNOWN),
                    // Where there is no frame pointer, anything may stand in its place.
                    None => {}
                },
            }
        };
        let Some(chain) = sample.callchain else {
            sample.ip.into_iter().for_each(|ip| add(is_kernel, ip));
            return stack;
        };
        for address in (0..chain.len()).filter_map(|at| chain.get(at)) {
            match address {
                CONTEXT_KERNEL => is_kernel = true,
                CONTEXT_USER => is_kernel = false,
                CONTEXTS.. => {}
                // Where frame pointers end; nothing is mapped there.
                0..4096 => {}
                _ => add(is_kernel, address),
            }
        }
        stack
    }

    /// Names for places, and stacks with the same names together. A sample weighs what its period
    /// is, by the mean of all.
    ///
    /// # Errors
    /// Stacks as text would be larger than what is read of one.
    fn named(
        mut self,
        host: &dyn Host,
        build_ids: HashMap<String, Vec<u8>>,
    ) -> Result<Vec<Stacks>, String> {
        // Who never woke sleeps until the end of the file.
        let asleep: Vec<i32> = self.asleep.keys().copied().collect();
        asleep.into_iter().for_each(|tid| self.wakes(tid, self.now));
        let mean = match self.kind {
            SampleKind::Samples => self.periods.0 / self.periods.1.max(1.0),
            SampleKind::Waits => 1.0,
        };
        let is_told = self.kind == SampleKind::Samples && self.has_periods && mean > 0.0;
        let mut symbols = Symbols::new(host, &self.objects, self.kernel_begins, build_ids);
        let mut named = Vec::with_capacity(self.found.len());
        let mut letters = 0;
        for (window, programs) in self.found.into_iter().zip(self.programs) {
            let mut lines: BTreeMap<String, f64> = BTreeMap::new();
            let in_samples = programs.into_iter().map(|(name, periods)| (name, periods / mean));
            let mut stacks = Stacks {
                lost: self.lost,
                programs: in_samples.collect(),
                idle: self.idle / mean,
                period: is_told.then_some(mean),
                ..Stacks::default()
            };
            for ((tid, places), periods) in window {
                let samples = periods / mean;
                let mut line = symbols.stack_line(&places);
                if self.kind == SampleKind::Waits {
                    line = format!("thread {tid};{line}");
                }
                // A sample without an address says nothing.
                if line.is_empty() {
                    continue;
                }
                if let Some(file) = places.first().and_then(|place| symbols.file_if_unnamed(*place))
                {
                    *stacks.unnamed.entry(file).or_default() += samples;
                }
                stacks.samples += samples;
                letters += line.len();
                if letters > TEXT_MOST {
                    return Err(format!(
                        "its stacks would be a text of more than {} MiB; record a shorter time, or \
                         give what `perf script` prints",
                        TEXT_MOST >> 20
                    ));
                }
                *lines.entry(line).or_default() += samples;
            }
            stacks.unread = symbols.unread_files().clone();
            for (line, samples) in lines {
                stacks.collapsed.push_str(&format!("{line} {samples}\n"));
            }
            named.push(stacks);
        }
        Ok(named)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_host::Local;
    use proptest::prelude::*;
    use proptest::sample::Index;

    #[test]
    fn events_go_by_what_they_count() {
        for (name, plain) in [
            ("cycles:P", "cycles"),
            ("cpu_core/cycles/u", "cycles"),
            ("cpu-clock:pppH", "cpu-clock"),
            ("sched:sched_switch", "sched:sched_switch"),
            ("offcpu-time", "offcpu-time"),
        ] {
            assert_eq!(plain_event(name), plain, "{name}");
        }
    }

    /// A file of `perf record` (tools/perf/Documentation/perf.data-file-format.txt of Linux), with
    /// addresses, processes, times, periods and callchains in its samples.
    #[derive(Default)]
    struct Recorded {
        records: Vec<u8>,
    }

    impl Recorded {
        fn record(&mut self, kind: u32, misc: u16, body: &[u8]) {
            self.records.extend(kind.to_le_bytes());
            self.records.extend(misc.to_le_bytes());
            self.records.extend((body.len() as u16 + 8).to_le_bytes());
            self.records.extend(body);
        }

        fn padded(path: &str) -> Vec<u8> {
            let mut bytes = path.as_bytes().to_vec();
            bytes.resize((bytes.len() / 8 + 1) * 8, 0);
            bytes
        }

        fn map(&mut self, pid: i32, (start, length, offset): (u64, u64, u64), path: &str) {
            let mut body = [pid.to_le_bytes(), pid.to_le_bytes()].concat();
            [start, length, offset].iter().for_each(|number| body.extend(number.to_le_bytes()));
            body.extend(Self::padded(path));
            self.record(1, 2, &[body, Self::ids(pid, 0)].concat());
        }

        fn comm(&mut self, pid: i32, name: &str) {
            let ids = [pid.to_le_bytes(), pid.to_le_bytes()].concat();
            self.record(3, 0, &[ids, Self::padded(name), Self::ids(pid, 0)].concat());
        }

        fn fork(&mut self, parent: i32, child: i32) {
            let mut body: Vec<u8> =
                [child, parent, child, parent].iter().flat_map(|id| id.to_le_bytes()).collect();
            body.extend(0_u64.to_le_bytes());
            self.record(7, 0, &[body, Self::ids(parent, 0)].concat());
        }

        fn sample(&mut self, pid: i32, time: u64, period: u64, chain: &[u64]) {
            let mut body = chain.get(1).copied().unwrap_or(0).to_le_bytes().to_vec();
            body.extend([pid.to_le_bytes(), pid.to_le_bytes()].concat());
            [time, period, chain.len() as u64]
                .iter()
                .chain(chain)
                .for_each(|number| body.extend(number.to_le_bytes()));
            self.record(9, 2, &body);
        }

        /// A sample that says that it has so many callers, and has none.
        fn sample_without_callers(&mut self, pid: i32, count: u64) {
            let mut body = [0; 8].to_vec();
            body.extend([pid.to_le_bytes(), pid.to_le_bytes()].concat());
            [1, 1, count].iter().for_each(|number: &u64| body.extend(number.to_le_bytes()));
            self.record(9, 2, &body);
        }

        /// Flags are those of `PERF_RECORD_MISC_SWITCH_OUT`.
        fn switch(&mut self, pid: i32, time: u64, flags: u16) {
            let others = [[0; 4], [0; 4]].concat();
            self.record(15, flags, &[others, Self::ids(pid, time)].concat());
        }

        fn lost(&mut self, count: u64) {
            let body = [0_u64, count].iter().flat_map(|number| number.to_le_bytes()).collect();
            self.record(2, 0, &[body, Self::ids(7, 0)].concat());
        }

        fn exit(&mut self, pid: i32, time: u64) {
            let ids: Vec<u8> = [pid; 4].iter().flat_map(|id| id.to_le_bytes()).collect();
            let time_of = time.to_le_bytes().to_vec();
            self.record(4, 0, &[ids, time_of, Self::ids(pid, time)].concat());
        }

        /// What ends each record but samples, where records tell whose they are.
        fn ids(pid: i32, time: u64) -> Vec<u8> {
            let ids = [pid.to_le_bytes(), pid.to_le_bytes()].concat();
            [ids, time.to_le_bytes().to_vec()].concat()
        }

        fn file(&self) -> Vec<u8> {
            let sample_type: u64 = 1 | 2 | 4 | 32 | 256;
            let mut attr = [1_u32.to_le_bytes(), 64_u32.to_le_bytes()].concat();
            // All records tell whose they are (`sample_id_all`).
            for number in [0, 1_000_000, sample_type, 0, 1 << 18, 0, 0] {
                attr.extend(u64::to_le_bytes(number));
            }
            attr.truncate(64);
            attr.extend([0; 16]);
            let attrs = (104_u64, attr.len() as u64);
            let mut file = b"PERFILE2".to_vec();
            let data = (attrs.0 + attrs.1, self.records.len() as u64);
            let numbers = [104, attrs.1, attrs.0, attrs.1, data.0, data.1];
            numbers.iter().for_each(|number: &u64| file.extend(number.to_le_bytes()));
            file.resize(104, 0);
            [file, attr, self.records.clone()].concat()
        }

        fn stacks(&self, windows: &[Window]) -> Vec<Stacks> {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), self.file()).unwrap();
            assert!(is_perf_data(file.path()).unwrap());
            read_stacks(&Local, file.path(), windows, SampleKind::Samples).unwrap()
        }
    }

    #[test]
    fn callers_that_a_sample_has_not_are_damage() {
        let damage = |count: u64| {
            let mut recorded = recorded();
            recorded.sample_without_callers(7, count);
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), recorded.file()).unwrap();
            read_stacks(&Local, file.path(), &[Window::all_samples(None)], SampleKind::Samples)
                .err()
        };
        assert_eq!(damage(0), None);
        for count in [1, 1 << 61, u64::MAX] {
            let damage = damage(count).unwrap_or_default();
            assert!(damage.contains("a sample ends within its callers"), "{count}: {damage}");
        }
    }

    /// What is read of a file with these sections: an event type with so many bytes of ids, and a
    /// description of so many events, of which one is there.
    fn read_with(records: &[u8], ids: Option<u64>, events: Option<u32>) -> Result<(), String> {
        let mut file = Recorded { records: records.to_vec() }.file();
        let attribute = file[104..168].to_vec();
        if let Some(ids) = ids {
            let begin = file.len() as u64 - records.len() as u64;
            // It has the size of an attribute with its ids, and where these are.
            let mut types = [&attribute[..], &[0; 16]].concat();
            [104, ids].iter().for_each(|number: &u64| types.extend(number.to_le_bytes()));
            let length = types.len() as u64;
            file.splice(begin as usize..begin as usize, types);
            for (at, number) in [(40, begin + length), (56, begin), (64, length)] {
                file[at..at + 8].copy_from_slice(&number.to_le_bytes());
            }
        }
        if let Some(count) = events {
            let begin = file.len() as u64 + 16;
            let mut section: Vec<u8> = [count, 64].iter().flat_map(|it| it.to_le_bytes()).collect();
            section.extend(&attribute);
            // One id, and a name of four bytes.
            [1_u32, 4].iter().for_each(|number| section.extend(number.to_le_bytes()));
            section.extend(*b"abc\0");
            section.extend(5_u64.to_le_bytes());
            for number in [begin, section.len() as u64] {
                file.extend(number.to_le_bytes());
            }
            file.extend(section);
            file[72..80].copy_from_slice(&(1_u64 << 12).to_le_bytes());
        }
        let to_read = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(to_read.path(), file).unwrap();
        let windows = [Window::all_samples(None)];
        read_stacks(&Local, to_read.path(), &windows, SampleKind::Samples).map(drop)
    }

    /// Whatever a file says of its sizes, no more is taken than it has.
    #[test]
    fn counts_and_sizes_that_a_file_has_not_are_damage() {
        let records = recorded().records;
        assert_eq!(read_with(&records, None, Some(1)), Ok(()));
        for count in [2, u32::MAX] {
            let damage = read_with(&records, None, Some(count)).unwrap_err();
            assert!(damage.contains(&format!("within event 2 of {count}")), "{damage}");
        }
        assert_eq!(read_with(&records, Some(64), None), Ok(()));
        for bytes in [1 << 20, 1 << 63] {
            let damage = read_with(&records, Some(bytes), None).unwrap_err();
            assert!(damage.contains("the ids of its events, told at byte"), "{damage}");
        }
        for (trace, is_there) in [(8_u64, true), (1 << 20, false), (1 << 40, false)] {
            let mut recorded = recorded();
            // A round that ends does not hide what is behind it.
            recorded.record(68, 0, &[]);
            let mut body = trace.to_le_bytes().to_vec();
            body.resize(40, 0);
            recorded.record(71, 0, &body);
            recorded.records.extend([0; 8]);
            let read = read_with(&recorded.records, None, None);
            assert_eq!(read.is_ok(), is_there, "{read:?}");
            let damage = read.err().unwrap_or_default();
            assert!(is_there || damage.contains("the trace of a record"), "{damage}");
        }
    }

    /// Two counts that have no sum.
    #[test]
    fn lost_records_are_as_many_as_can_be_told() {
        let mut recorded = recorded();
        recorded.lost(1 << 63);
        recorded.lost(1 << 63);
        assert_eq!(recorded.stacks(&[Window::all_samples(None)])[0].lost, u64::MAX);
    }

    /// A server with a child, and another program; nothing of it is on this host.
    fn recorded() -> Recorded {
        let mut recorded = Recorded::default();
        recorded.comm(7, "postgres");
        recorded.map(7, (0x40_0000, 0x1000, 0), "/nowhere/bin/postgres");
        recorded.map(7, (0x50_0000, 0x1000, 0), "/nowhere/lib/libc.so.6");
        recorded.fork(7, 8);
        recorded.comm(9, "cc1");
        recorded.map(9, (0x40_0000, 0x1000, 0), "/nowhere/bin/cc1");
        let user = CONTEXT_USER;
        recorded.sample(7, 100, 1, &[user, 0x40_0010]);
        recorded.sample(8, 200, 1, &[user, 0x50_0010, 0x40_0020, 0x60_0000]);
        recorded.sample(9, 200, 1, &[user, 0x40_0010]);
        recorded.sample(0, 200, 1, &[CONTEXT_KERNEL, 0xffff_ffff_8100_0000]);
        recorded.sample(8, 300, 2, &[user, 0x60_0000]);
        recorded
    }

    /// Each of two hundred parts is the whole file: the reader would keep it as often.
    #[test]
    fn parts_that_lie_one_upon_the_other_are_damage() {
        let mut file = recorded().file();
        let all = file.len() as u64 + 200 * 16;
        for word in 0..4 {
            file[72 + 8 * word..80 + 8 * word].copy_from_slice(&(u64::MAX >> 14).to_le_bytes());
        }
        (0..200).for_each(|_| {
            file.extend([0_u64.to_le_bytes(), all.to_le_bytes()].concat());
        });
        let path = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(path.path(), &file).unwrap();
        let whole = [Window::all_samples(None)];
        let error = read_stacks(&Local, path.path(), &whole, SampleKind::Samples).unwrap_err();
        assert!(error.contains("lie one upon the other"), "{error}");
        let mut file = recorded().file();
        let (from, length) = (104_u64, file.len() as u64);
        // Attributes over the whole file, each with the whole file for its ids.
        file[24..32].copy_from_slice(&length.to_le_bytes());
        file[32..40].copy_from_slice(&160_u64.to_le_bytes());
        let ids = [0_u64.to_le_bytes(), (length + 160).to_le_bytes()].concat();
        let attribute = [file[from as usize..from as usize + 64].to_vec(), ids].concat();
        file.extend([attribute.clone(), attribute].concat());
        std::fs::write(path.path(), &file).unwrap();
        let error = read_stacks(&Local, path.path(), &whole, SampleKind::Samples).unwrap_err();
        assert!(error.contains("ids of its events lie one upon the other"), "{error}");
    }

    #[test]
    fn samples_are_of_a_window_and_of_a_server_with_all_that_it_began() {
        let window =
            |from, until| Window { unix_ns: (from, until), processes: vec![7], name: None };
        let found = recorded().stacks(&[window(0, 200), window(200, 300), window(300, 400)]);
        let texts: Vec<&str> = found.iter().map(|stacks| stacks.collapsed.as_str()).collect();
        // Six periods in five samples: one with twice the period weighs 10/6.
        let one = 5.0 / 6.0;
        assert_eq!(texts[0], format!("[postgres] {one}\n"));
        assert_eq!(texts[1], format!("[postgres];[libc.so.6] {one}\n"), "no caller is unknown");
        assert_eq!(texts[2], format!("[unknown] {}\n", 2.0 * one));
        assert_eq!(found[1].unnamed.keys().collect::<Vec<_>>(), ["libc.so.6"]);
        assert!(found.iter().all(|stacks| stacks.period == Some(1.2)), "{found:?}");
    }

    #[test]
    fn samples_are_of_processes_of_a_name_or_of_all_but_the_idle_one() {
        let whole = |name: Option<&str>| Window::all_samples(name.map(str::to_owned));
        let found = recorded().stacks(&[whole(Some("postgres")), whole(Some("cc1")), whole(None)]);
        let samples: Vec<f64> = found.iter().map(|stacks| (stacks.samples * 1.2).round()).collect();
        assert_eq!(samples, [4.0, 1.0, 5.0]);
        let programs = |at: usize| found[at].programs.keys().cloned().collect::<Vec<_>>();
        assert_eq!(
            (programs(0), programs(2)),
            (vec!["postgres".to_owned()], vec!["cc1".to_owned(), "postgres".to_owned()])
        );
        assert_eq!(found[2].idle * 1.2, 1.0);
    }

    /// A thread sleeps from 100 to 250 µs and has no processor from 300 to 320; another one ends.
    #[test]
    fn waits_lie_between_going_to_sleep_and_waking() {
        let mut recorded = recorded();
        let user = CONTEXT_USER;
        recorded.sample(7, 100_000, 1, &[user, 0x40_0010]);
        recorded.switch(7, 100_000, 1 << 13);
        recorded.switch(7, 250_000, 0);
        recorded.sample(7, 300_000, 1, &[user, 0x50_0010]);
        recorded.switch(7, 300_000, (1 << 13) | (1 << 14));
        recorded.switch(7, 320_000, 0);
        recorded.exit(8, 400_000);
        recorded.sample(8, 400_000, 1, &[user, 0x40_0010]);
        recorded.sample(7, 500_000, 1, &[user, 0x40_0010]);
        recorded.switch(9, 600_000, 0);
        recorded.lost(3);
        let window = Window { unix_ns: (150_000, 550_000), processes: vec![7], name: None };
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), recorded.file()).unwrap();
        let found = read_stacks(&Local, file.path(), &[window], SampleKind::Waits).unwrap();
        assert_eq!((found[0].lost, found[0].period), (3, None));
        assert_eq!(
            found[0].collapsed,
            "thread 7;[libc.so.6];[waits for a processor] 20\n\
                                        thread 7;[postgres] 150\n"
        );
    }

    #[test]
    fn what_is_no_file_of_perf_is_told_from_one() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["", "main;work 3\n"] {
            std::fs::write(file.path(), text).unwrap();
            assert!(!is_perf_data(file.path()).unwrap());
        }
        let (reader, mut writer) = std::io::pipe().unwrap();
        std::io::Write::write_all(&mut writer, b"main;work 3\n").unwrap();
        drop(writer);
        let handed = format!("/dev/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&reader));
        assert!(!is_perf_data(Path::new(&handed)).unwrap());
        let whole = std::io::read_to_string(reader).unwrap();
        assert_eq!(whole, "main;work 3\n", "nothing of a pipe is taken away");
        assert!(
            read_stacks(&Local, file.path(), &[Window::all_samples(None)], SampleKind::Samples)
                .is_err()
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn no_damaged_file_makes_it_panic(
            hurts in proptest::collection::vec((any::<Index>(), any::<u8>()), 1..8),
            cut in any::<Index>(),
        ) {
            let mut file = recorded().file();
            for (at, byte) in hurts {
                let at = at.index(file.len() - 8) + 8;
                file[at] = byte;
            }
            file.truncate(cut.index(file.len()).max(8));
            let place = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(place.path(), &file).unwrap();
            for kind in [SampleKind::Samples, SampleKind::Waits] {
                let _told = read_stacks(&Local, place.path(), &[Window::all_samples(None)], kind);
            }
        }
    }
}
