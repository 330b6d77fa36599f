//! What a terminal shows, on a terminal: 80 columns hold every screen, and one that can do nothing
//! but print gets nothing that it would have to interpret.
//!
//! ```text
//!   dbdyno ──▶ pseudo terminal of 80 columns ──▶ lines of at most 80 columns
//!                    TERM=dumb                   no escape sequence, no carriage return
//! ```

use std::fs::File;
use std::io::Read as _;

use nix::pty::{Winsize, openpty};

use crate::common::Home;

const WIDTH: usize = 80;

/// Runs that differ in all that `runs`, `show` and `history` lay out: loads, clients, arms, names.
const MEASURED: [&[&str]; 3] = [
    &[
        "mock:?noise=0.02&restarts=0.01&seed=3",
        "mock:?noise=0.02&restarts=0.01&seed=3&slow=5%",
        "--load",
        "point-query,update-one,random-points_range=1000",
        "--name",
        "a-rather-long-name-of-a-run",
    ],
    &[
        "mock:?noise=0.02&restarts=0.01",
        "mock:?noise=0.02&restarts=0.01&slow=5%",
        "mock:?noise=0.02&slow=20%",
        "mock:?noise=0.02",
        "--load",
        "point-query,update-one",
        "--clients",
        "1,4",
        "--name",
        "four",
    ],
    &[
        "mock:?noise=0.02&restarts=0.01",
        "mock:?noise=0.02&restarts=0.01&slow=5%",
        "--load",
        "point-query,update-one",
        "--clients",
        "1,4,16,64,128,256,512",
    ],
];

/// Screens that need no server: each is the words of a command.
const SCREENS: [&str; 30] = [
    "runs",
    "show",
    "show --all",
    "show @a-rather-long-name-of-a-run",
    "show @a-rather-long-name-of-a-run --all",
    "show @four",
    "show @four --all",
    "history",
    "history --all",
    "history tests/cmd/history.in/nightly.csv",
    "diff @last",
    "diff @a-rather-long-name-of-a-run @last",
    "diff @x",
    "diff sqlite: sqlite:?synchronous=off&page_size=8192 --all",
    "diff mock: mock:?noise=0.02&restarts=0.01&client_us=12&jitter=0.1&kappa=0.001&cpu_us=55&drift=0",
    "diff --rules",
    "server ls",
    "server ls --all",
    "server images",
    "server options mysql:8.0?durability=full&charset=utf8mb4&innodb_io_capacity=2000",
    "server presets",
    "loads",
    "loads --all",
    "loads show tpcc",
    "loads show sysbench-42",
    "model",
    "model 2pl --max-states 100 --permissiveness --sample 10",
    "check tests/cmd/check.in/transfers.jsonl",
    "verify engine: --one-thread --seed 1 --transactions 50 --clients 3 --all",
    "profile --base tests/cmd/profile.in/base.folded@1000 --test tests/cmd/profile.in/test.folded@1000",
];

/// A home with those runs.
fn measured() -> Home {
    let home = Home::new();
    for arms in MEASURED {
        let quick = ["--quick", "--rows", "2000", "--restarts", "2", "--rounds", "6"];
        let done = home.dbdyno(["compare"].iter().chain(arms).chain(&quick));
        assert!([0, 3].contains(&done.code), "{done:?}");
    }
    home
}

/// What a terminal gets from a command, stdout and stderr, with a line feed behind each line.
fn on_terminal(home: &Home, words: &[&str], environment: &[(&str, &str)]) -> String {
    let size = Winsize { ws_row: 40, ws_col: WIDTH as u16, ws_xpixel: 0, ws_ypixel: 0 };
    let ends = openpty(Some(&size), None).unwrap();
    let mut command = home.command(words);
    command.env_remove("COLUMNS").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    command.envs(environment.iter().copied());
    command.stdout(ends.slave.try_clone().unwrap()).stderr(ends.slave);
    let mut child = command.spawn().unwrap();
    // The terminal is at its end when nobody has the other end open, this process neither.
    drop(command);
    let (mut shown, mut piece) = (Vec::new(), [0; 4096]);
    let mut terminal = File::from(ends.master);
    while let Ok(count @ 1..) = terminal.read(&mut piece) {
        shown.extend_from_slice(&piece[..count]);
    }
    child.wait().unwrap();
    String::from_utf8(shown).unwrap().replace("\r\n", "\n")
}

/// Lines that do not fit. One that is a single word is not divided, so that it can be copied.
fn too_wide(shown: &str) -> Vec<&str> {
    let width = |line: &str| unicode_width::UnicodeWidthStr::width(line);
    let is_wide = |line: &&str| width(line) > WIDTH && line.trim().contains(' ');
    shown.lines().filter(is_wide).collect()
}

fn without_spaces(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn every_screen_fits_in_80_columns() {
    let home = measured();
    for screen in SCREENS {
        let words: Vec<&str> = screen.split(' ').collect();
        let shown = on_terminal(&home, &words, &[("NO_COLOR", "1"), ("TERM", "dumb")]);
        assert!(shown.lines().count() > 0, "{screen}");
        assert_eq!(too_wide(&shown), Vec::<&str>::new(), "{screen}:\n{shown}");
    }
    // A narrow screen says the same as a pipe, in which a run is a line, however long.
    let piped = home.dbdyno(["runs"]).out;
    assert_eq!(piped.lines().count(), MEASURED.len(), "{piped}");
    assert!(piped.lines().any(|line| line.len() > WIDTH), "{piped}");
    assert_eq!(without_spaces(&on_terminal(&home, &["runs"], &[])), without_spaces(&piped));
    let mut narrow = home.command(["runs"]);
    narrow.env("COLUMNS", "80");
    let narrow = String::from_utf8(narrow.output().unwrap().stdout).unwrap();
    assert!(narrow.lines().count() > MEASURED.len(), "COLUMNS counts in a pipe as well: {narrow}");
}

/// Looks at the help of a command, and of those below it. Gives back how many there are.
fn helps(home: &Home, command: &[&str]) -> usize {
    let shown = on_terminal(home, &[command, &["--help"]].concat(), &[]);
    assert_eq!(too_wide(&shown), Vec::<&str>::new(), "{command:?}:\n{shown}");
    let Some((_, list)) = shown.split_once("\nCommands:\n") else { return 1 };
    let list = list.split("\n\n").next().unwrap_or_default();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let below = names.filter(|name| *name != "help");
    1 + below.map(|name| helps(home, &[command, &[name]].concat())).sum::<usize>()
}

#[test]
fn every_help_fits_in_80_columns() {
    let count = helps(&Home::new(), &[]);
    assert!(count > 30, "{count} commands");
}

#[test]
fn a_dumb_terminal_gets_characters_and_line_feeds() {
    let home = Home::new();
    let arms = ["mock:?noise=0.02", "mock:?noise=0.02&slow=50%", "mock:?noise=0.02"];
    let more = ["--quick", "--rows", "2000", "--restarts", "2", "--rounds", "6"];
    let compare = [&["compare"][..], &arms, &more].concat();
    let show = ["show", "--all"];
    for words in [&compare[..], &show] {
        let shown = on_terminal(&home, words, &[("TERM", "dumb")]);
        let steers = |c: char| c.is_control() && c != '\n';
        assert!(!shown.contains(steers), "{shown:?}");
    }
    let is_coloured =
        |environment: &[(&str, &str)]| on_terminal(&home, &show, environment).contains("\u{1b}[3");
    assert!(is_coloured(&[]), "a capable terminal gets colours");
    assert!(!is_coloured(&[("NO_COLOR", "1")]), "nobody who wishes none");
    assert!(is_coloured(&[("NO_COLOR", "")]), "an empty wish is none");
    let bar = on_terminal(&home, &compare, &[]);
    assert!(bar.contains("\u{1b}["), "a bar is drawn again where that is possible: {bar:?}");
}

/// Times of day that no zone follows: `2026-11-20 12:33` is one, and `2026-11-20` is none.
fn without_zone(text: &str) -> Vec<&str> {
    const FORM: &[u8] = b"0000-00-00 00:00";
    let is_time = |at: &usize| {
        let shown = text.as_bytes()[*at..].iter();
        let fits = shown.zip(FORM).filter(|(own, form)| match form {
            b'0' => own.is_ascii_digit(),
            b' ' => [b' ', b'T'].contains(own),
            form => own == form,
        });
        fits.count() == FORM.len()
    };
    let times = (0..text.len()).filter(is_time).map(|at| (at, &text[at + FORM.len()..]));
    let behind = |rest: &str| {
        let end = rest.find(|c: char| !c.is_ascii_digit() && ![':', '.'].contains(&c));
        end.map_or(String::new(), |end| rest[end..].to_owned())
    };
    let has_zone = |rest: &str| {
        let zones = [" UTC", "Z", "+"];
        zones.iter().any(|zone| behind(rest).starts_with(zone))
    };
    times.filter(|(_, rest)| !has_zone(rest)).map(|(at, _)| &text[at..at + FORM.len()]).collect()
}

#[test]
fn every_time_of_day_says_its_zone() {
    assert_eq!(without_zone("at 2026-11-20 12:33:07 and 2026-11-20 12:33 UTC").len(), 1);
    let home = Home::new();
    let arms = ["mock:", "mock:?slow=9%"];
    let quick = ["--quick", "--rows", "2000", "--restarts", "2", "--rounds", "6"];
    for _ in 0..2 {
        home.dbdyno([&["compare"][..], &arms, &quick].concat());
    }
    home.dbdyno([&["compare"][..], &arms, &["mock:"], &quick].concat());
    let (page, several) = (home.path().join("page.html"), home.path().join("several.html"));
    let trend = home.path().join("trend.html");
    let told = [
        vec!["runs"],
        vec!["show", "@last", "--all"],
        vec!["show", "@last", "--all", "--format", "markdown"],
        vec!["history", "--all"],
        vec!["history", "--all", "--format", "markdown", "--output", trend.to_str().unwrap()],
        vec!["report", "@last", "--output", several.to_str().unwrap()],
        vec!["report", "@last", "--arm", "test", "--output", page.to_str().unwrap()],
    ];
    let mut times = 0;
    let mut look = |what: &str, text: &str| {
        assert_eq!(without_zone(text), Vec::<&str>::new(), "{what}: {text:.2000}");
        times += text.matches(" UTC").count();
    };
    for words in told {
        let done = home.dbdyno(&words);
        assert!([0, 3].contains(&done.code), "{done:?}");
        look(&words.join(" "), &(done.out + &done.err));
    }
    for page in [&page, &several, &trend] {
        look(&page.display().to_string(), &std::fs::read_to_string(page).unwrap());
    }
    assert!(times > 6, "{times}");
}

/// Talk is laid out for the terminal; what is to be copied stays whole.
#[test]
fn talk_fits_in_80_columns() {
    let home = Home::new();
    let arms = MEASURED[1];
    let words: Vec<&str> =
        ["compare"].iter().chain(arms).chain(&["--quick", "--rows", "2000"]).copied().collect();
    let shown = on_terminal(&home, &words, &[("TERM", "dumb")]);
    let copied = |line: &&str| line.starts_with("again  ");
    let wide: Vec<&str> = too_wide(&shown).into_iter().filter(|line| !copied(line)).collect();
    assert_eq!(wide, Vec::<&str>::new(), "{shown}");
    assert!(shown.lines().any(|line| line.starts_with("plan   base mock:")), "{shown}");
}
