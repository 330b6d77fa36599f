//! One side, in a process of its own: it is told on its input how many transactions to do, and says
//! on its output what that cost.
//!
//! ```text
//!   about                 ──▶  what it is
//!   round FIRST MANY      ──▶  elapsed ns, ns of clients, ns of the process, conflicts, answers
//!   contents              ──▶  rows and sums
//! ```

use std::io::BufRead as _;
use std::path::Path;
use std::sync::Barrier;
use std::time::Instant;

use dbdyno_model::Design;
use dbdyno_rivals::work::{NewOrder, Payment, Questions, ReadWrite, Scale};
use dbdyno_rivals::{
    Answers, Contents, EngineSide, Failure, RivalClient, RivalDatabase, RocksSide,
};
use dbdyno_rocks::Library;
use rustix::time::{ClockId, clock_gettime};

use crate::{Load, Wanted, durability};

pub(crate) fn serve(wanted: &Wanted) {
    let scale = wanted.scale();
    let side = open(wanted, &scale);
    let load = Load::read(wanted.text("load", "point-query"));
    let clients = wanted.number("clients", 1);
    let seed = wanted.number("seed", 1);
    println!("ready");
    let mut paid_ns = now_ns(ClockId::ProcessCPUTime);
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the parent writes text");
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["about"] => println!("{}", side.describe_setup()),
            ["contents"] => println!("{}", side.read_contents().expect("it can be read")),
            ["round", first, many] => {
                let number = |text: &str| text.parse().expect("a number");
                let (first, many): (u64, u64) = (number(first), number(many));
                let round = Round { side: &*side, load, scale, seed, clients, first, many };
                let (elapsed_ns, of_clients) = round.run();
                let paid_before_ns =
                    std::mem::replace(&mut paid_ns, now_ns(ClockId::ProcessCPUTime));
                let [cpu_ns, conflicts, sum] = of_clients;
                println!("{elapsed_ns} {cpu_ns} {} {conflicts} {sum}", paid_ns - paid_before_ns);
            }
            _ => panic!("{line:?}"),
        }
    }
}

fn open(wanted: &Wanted, scale: &Scale) -> Box<dyn RivalDatabase> {
    let directory = Path::new(wanted.text("directory", "."));
    let durability = durability(wanted.text("log", "written"));
    match wanted.text("side", "none") {
        "engine" => {
            let design: Result<Design, _> = wanted.text("engine", "").parse();
            let design = design.unwrap_or_else(|error| panic!("{error}"));
            let side = EngineSide::open(directory, &design, durability, scale);
            Box::new(side.unwrap_or_else(|error| panic!("{error}")))
        }
        "rocks" => {
            let library = match wanted.text("library", "") {
                "" => Library::of_system(),
                file => Library::load_from(Path::new(file)),
            };
            let library = library.unwrap_or_else(|error| panic!("{error}"));
            let side = RocksSide::open(library, directory, wanted.rocks(), durability, scale);
            Box::new(side.unwrap_or_else(|error| panic!("{error}")))
        }
        _ => Box::new(Nothing),
    }
}

struct Round<'a> {
    side: &'a dyn RivalDatabase,
    load: Load,
    scale: Scale,
    seed: u64,
    clients: u64,
    /// The first transaction of each client, and how many it does.
    first: u64,
    many: u64,
}

impl Round<'_> {
    /// Elapsed time, and of all clients: processor time, conflicts, answers.
    fn run(&self) -> (u64, [u64; 3]) {
        let start = &Barrier::new(self.clients as usize + 1);
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..self.clients).map(|it| scope.spawn(move || self.client(it, start))).collect();
            start.wait();
            let begun = Instant::now();
            let mut all = [0_u64; 3];
            for thread in threads {
                let one = thread.join().expect("a client ends");
                all.iter_mut().zip(one).for_each(|(sum, it)| *sum = sum.wrapping_add(it));
            }
            (begun.elapsed().as_nanos() as u64, all)
        })
    }

    fn client(&self, number: u64, start: &Barrier) -> [u64; 3] {
        let clients = self.clients as i64;
        let questions = Questions::new(self.scale, self.seed, clients, number as i64);
        let mut client = self.side.client();
        let mut answers = Answers::default();
        let mut conflicts = 0;
        start.wait();
        let begun = now_ns(ClockId::ThreadCPUTime);
        for it in self.first..self.first + self.many {
            while let Err(failure) = ask(self.load, &mut *client, &questions, it, &mut answers) {
                match failure {
                    Failure::Conflict => conflicts += 1,
                    Failure::Broken(what) => panic!("{what}"),
                }
            }
        }
        [now_ns(ClockId::ThreadCPUTime) - begun, conflicts, answers.take_sum()]
    }
}

fn ask(
    load: Load,
    client: &mut dyn RivalClient,
    questions: &Questions,
    it: u64,
    answers: &mut Answers,
) -> Result<(), Failure> {
    match load {
        Load::PointQuery => client.point_query(questions.point_query(it), answers),
        Load::ReadWrite => client.read_write(&questions.read_write(it), answers),
        Load::Tpcc if questions.is_order(it) => client.new_order(&questions.new_order(it), answers),
        Load::Tpcc => client.payment(&questions.payment(it), answers),
    }
}

fn now_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The side that does nothing.
struct Nothing;

impl RivalDatabase for Nothing {
    fn client(&self) -> Box<dyn RivalClient + '_> {
        Box::new(Nothing)
    }

    fn read_contents(&self) -> Result<Contents, Failure> {
        Ok(Contents::default())
    }

    fn describe_setup(&self) -> String {
        "nothing".to_owned()
    }
}

impl RivalClient for Nothing {
    fn point_query(&mut self, id: i64, _: &mut Answers) -> Result<(), Failure> {
        std::hint::black_box(id);
        Ok(())
    }

    fn read_write(&mut self, what: &ReadWrite, _: &mut Answers) -> Result<(), Failure> {
        std::hint::black_box(what);
        Ok(())
    }

    fn new_order(&mut self, what: &NewOrder, _: &mut Answers) -> Result<(), Failure> {
        std::hint::black_box(what);
        Ok(())
    }

    fn payment(&mut self, what: &Payment, _: &mut Answers) -> Result<(), Failure> {
        std::hint::black_box(what);
        Ok(())
    }
}
