//! Signs of life: a bar on a terminal, a line now and then elsewhere.

use std::time::{Duration, Instant};

use dbdyno_lab::{Progress, Watch, left_for_people};
use dbdyno_model::{ArmIndex, foreign};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::ToldFormat;
use crate::once::Once;
use crate::output;

/// Shows the progress of an experiment on stderr.
pub(crate) struct Ticker {
    bar: ProgressBar,
    /// Without a terminal: when the last line was written.
    last_line: Option<Instant>,
    last_text: String,
    /// Whether each round is a line of JSON on stdout.
    has_lines: bool,
    /// The plan, until it is known that all arms are there.
    plan: Option<String>,
    once: Once,
}

/// Without a terminal, progress is told this often.
const LINE_EVERY: Duration = Duration::from_secs(10);

impl Ticker {
    /// Starts showing.
    pub(crate) fn new() -> Ticker {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4));
        let style = ProgressStyle::with_template("{spinner} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        Ticker {
            bar,
            last_line: None,
            last_text: String::new(),
            has_lines: false,
            plan: None,
            once: Once::default(),
        }
    }

    /// Starts showing; where lines of JSON were asked for, rounds are told on stdout, too.
    pub(crate) fn for_format(format: ToldFormat) -> Ticker {
        let mut ticker = Ticker::new();
        ticker.has_lines = format == ToldFormat::Jsonl;
        ticker
    }

    /// The same, and tells the plan when all arms are there: of one that cannot be had nobody needs
    /// to know how long it would take.
    pub(crate) fn with_plan(self, plan: String) -> Ticker {
        let mut ticker = self;
        ticker.plan = Some(plan);
        ticker
    }

    /// The same, without notes on the method that were shown from this store before.
    pub(crate) fn without_known(self, once: Once) -> Ticker {
        let mut ticker = self;
        ticker.once = once;
        ticker
    }

    /// Ends showing; gives back which notes on the method were shown.
    pub(crate) fn end_display(mut self) -> Once {
        std::mem::take(&mut self.once)
    }

    fn show(&mut self, text: String) {
        if self.bar.is_hidden() {
            let now = now();
            let due = self.last_line.is_none_or(|last| now - last >= LINE_EVERY);
            if due && text != self.last_text {
                output::say_text(&text);
                self.last_line = Some(now);
                self.last_text = text;
            }
        } else {
            // A bar is one line, and is not written by `output`.
            self.bar.set_message(foreign::one_line(&text).into_owned());
            self.bar.tick();
        }
    }

    /// Says something that stays.
    fn keep(&mut self, text: &str) {
        self.bar.suspend(|| output::say_lines(text));
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

impl Watch for Ticker {
    fn report_progress(&mut self, progress: Progress<'_>) {
        if matches!(progress, Progress::Filling { .. } | Progress::Begun(_))
            && let Some(plan) = self.plan.take()
        {
            self.keep(&plan);
        }
        match progress {
            Progress::Stage(arm, text) => self.show(format!("{arm}: {text}")),
            Progress::Filling { arm, done, total } => {
                self.show(filling(arm, done, total));
            }
            Progress::Connecting { arm, inside, clients, left } => {
                let left = left.map_or(String::new(), |left| {
                    format!(", about {} left", left_for_people(left))
                });
                self.show(format!("{arm}: {inside} of {clients} clients are connected{left}"));
            }
            Progress::Told(arm, text) => self.keep(&format!("set    {arm}: {text}")),
            Progress::ImageKept(arm, text) => self.keep(&format!("image  {arm}: {text}")),
            Progress::Begun(run) => self.keep(&format!("run    {run}")),
            Progress::RoundBegins { done, total, left, may_end_sooner, load, clients } => {
                let plural = if clients == 1 { "client" } else { "clients" };
                let left = left_for_people(left);
                let (most, about) =
                    if may_end_sooner { ("at most ", "at most") } else { ("", "about") };
                self.show(format!(
                    "{load}, {clients} {plural}: round {} of {most}{total}, {about} {left} left",
                    done + 1
                ));
            }
            Progress::RoundDone { arm, round, .. } if self.has_lines => {
                // Who reads may have gone; the run is stored all the same.
                let told =
                    self.bar.suspend(|| output::print(&dbdyno_report::round_line(arm, round)));
                self.has_lines = told.is_ok();
            }
            Progress::RoundDone { .. } => {}
            Progress::Searched(text) => self.keep(&format!("search {text}")),
            Progress::Reading(text) => self.show(format!("reading {text}")),
            Progress::Playing(text) => self.show(format!("playing {text}")),
            Progress::Trial(text) => self.keep(&format!("trial  {text}")),
            Progress::Warning(warning) if self.once.admits_warning(warning) => {
                self.keep(&output::labelled_line(warning.severity.name(), &warning.text));
            }
            Progress::Warning(_) => {}
        }
    }
}

fn filling(arm: ArmIndex, done: u64, total: u64) -> String {
    format!("{arm}: filling, {:.0} % of {total} rows", 100.0 * done as f64 / total.max(1) as f64)
}

#[expect(clippy::disallowed_methods, reason = "paces the lines of progress, nothing measured")]
fn now() -> Instant {
    Instant::now()
}
