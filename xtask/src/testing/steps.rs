//! What is checked, in which order: what is quick and fails often comes first.

/// A command that has to end well.
pub(super) struct Step {
    pub name: String,
    pub program: String,
    pub arguments: Vec<String>,
    pub environment: Vec<(String, String)>,
}

impl Step {
    pub(super) fn new(name: &str, line: &[&str]) -> Step {
        let mut words = line.iter().map(|&word| word.to_owned());
        Step {
            name: name.to_owned(),
            program: words.next().expect("a step has a program"),
            arguments: words.collect(),
            environment: Vec::new(),
        }
    }

    pub(super) fn with_variable(mut self, name: &str, value: &str) -> Step {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// As it is typed.
    pub(super) fn command_line(&self) -> String {
        let mut words = Vec::new();
        for (name, value) in &self.environment {
            words.push(format!("{name}={value}"));
        }
        words.push(self.program.clone());
        for argument in &self.arguments {
            let is_plain = !argument.contains([' ', '"', '\'', '(']);
            words.push(if is_plain { argument.clone() } else { format!("'{argument}'") });
        }
        words.join(" ")
    }
}

/// Where test programs start they are told to take options that are not stable.
const RUNNER: &str = r#"target."cfg(all())".runner=["env","RUSTC_BOOTSTRAP=1"]"#;

/// Tests of these targets, with the seconds of each.
pub(super) fn test_step(name: &str, targets: &[&str], filters: &[&str]) -> Step {
    let head = ["cargo", "test", "--locked", "--workspace", "--no-fail-fast", "--config", RUNNER];
    let tail = ["--", "-Zunstable-options", "--report-time"];
    Step::new(name, &[&head[..], targets, &tail, filters].concat())
}

/// Every test, with real servers.
fn all_tests(name: &str) -> Step {
    let targets = ["--lib", "--bins", "--tests"];
    let step = test_step(name, &targets, &[]).with_variable("DBDYNO_REQUIRE_SERVERS", "1");
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    step.with_variable("RUST_TEST_THREADS", &tests_at_once(cores).to_string())
}

/// Tests of the command wait for servers during a third of their time, so that a small machine is
/// busy with twice as many as it has cores.
fn tests_at_once(cores: usize) -> usize {
    cores.max((2 * cores).min(8))
}

/// Every test so many times.
pub(super) fn repeated_tests(times: u64) -> Vec<Step> {
    (1..=times).map(|time| all_tests(&format!("tests, {time} of {times}"))).collect()
}

/// The same without what makes the next build shorter and this one longer.
pub(super) fn built_once(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().map(|step| step.with_variable("CARGO_INCREMENTAL", "0")).collect()
}

/// What is done in a few minutes.
pub(super) fn quick_steps() -> Vec<Step> {
    let mut steps = form();
    steps.push(test_step("unit tests", &["--lib", "--bins"], &[]));
    steps
}

/// Everything.
pub(super) fn all_steps() -> Vec<Step> {
    let mut steps = form();
    let smallest = ["cargo", "clippy", "--locked", "-p", "dbdyno", "--no-default-features"];
    let denied = ["--", "-D", "warnings"];
    let documentation = ["cargo", "doc", "--locked", "--workspace", "--no-deps"];
    let private = ["--document-private-items", "--quiet"];
    steps.push(Step::new("clippy of the smallest build", &[&smallest[..], &denied].concat()));
    steps.push(all_tests("tests"));
    steps.push(Step::new("orders", &["make", "--no-print-directory", "--keep-going", "orders"]));
    steps.push(
        Step::new("documentation", &[&documentation[..], &private].concat())
            .with_variable("RUSTDOCFLAGS", "-Dwarnings"),
    );
    steps.push(Step::new("page", &["tools/page"]));
    steps
}

fn form() -> Vec<Step> {
    let clippy = ["cargo", "clippy", "--locked", "--workspace", "--all-targets"];
    let denied = ["--", "-D", "warnings"];
    vec![
        Step::new("format", &["cargo", "fmt", "--all", "--check"]),
        Step::new("third parties", &["cargo", "xtask", "third-parties"]),
        Step::new("clippy", &[&clippy[..], &denied].concat()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_shown_as_it_is_typed() {
        let step = super::test_step("t", &["--lib"], &["one"]).with_variable("A", "b");
        assert_eq!(
            step.command_line(),
            "A=b cargo test --locked --workspace --no-fail-fast --config \
             'target.\"cfg(all())\".runner=[\"env\",\"RUSTC_BOOTSTRAP=1\"]' --lib -- \
             -Zunstable-options --report-time one"
        );
    }

    #[test]
    fn the_terms_of_others_are_a_step_of_the_quick_check() {
        assert!(
            quick_steps().iter().any(|step| step.command_line() == "cargo xtask third-parties")
        );
    }

    #[test]
    fn small_machines_run_more_tests_than_they_have_cores() {
        assert_eq!([1, 2, 4, 6, 16].map(tests_at_once), [2, 4, 8, 8, 16]);
    }

    #[test]
    fn without_servers_the_tests_fail() {
        let all = all_steps();
        let step = all.iter().find(|step| step.name == "tests").unwrap();
        assert!(step.command_line().starts_with("DBDYNO_REQUIRE_SERVERS=1 "));
    }
}
