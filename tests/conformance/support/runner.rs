//! Runs tests one after the other, each on a fresh thread and under a watchdog, and counts.
//!
//! A panic fails its test and the rest go on. A hang cannot be undone: the runner names the test,
//! prints what it counted so far, and ends the process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::support::child::Role;
use crate::support::stage::{Outcome, Stage, Stop};
use crate::support::subject::{self, Absent, Subject};

/// How long a test may take.
const LIMIT: Duration = Duration::from_secs(60);

/// One test: it runs on every backend that no exclusion names.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    /// `subject::what_is_promised`.
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Stage<'_>) -> Outcome,
}

/// The tests of the file it is used in, by their names.
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[$crate::support::runner::Test] = &[$($crate::support::runner::Test {
            name: concat!(module_path!(), "::", stringify!($test)),
            run: $test,
        }),+];
    };
}
pub(crate) use tests;

impl Test {
    /// The name without the crate's.
    pub(crate) fn short_name(&self) -> &'static str {
        self.name.split_once("::").map_or(self.name, |(_, rest)| rest)
    }
}

/// What came of the tests of a backend.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
    pub(crate) skipped: usize,
}

enum Verdict {
    Passed,
    Skipped(String),
    Failed(String),
    Hung,
}

/// Runs the tests on one backend and tells each verdict, then the tally, on standard output.
pub(crate) fn run(subject: &'static dyn Subject, tests: &[Test]) -> Tally {
    let mut tally = Tally::default();
    let mut whole = String::new();
    if let Err(Absent::NotHere(reason)) = subject.open(1) {
        tally.skipped = tests.len();
        whole = format!(" (the whole backend: {reason})");
    } else {
        for test in tests {
            run_one(subject, test, &mut tally);
        }
    }
    let Tally { passed, failed, skipped } = tally;
    let name = subject.name();
    println!("conformance[{name}]: {passed} passed, {failed} failed, {skipped} skipped{whole}");
    tally
}

fn run_one(subject: &'static dyn Subject, test: &Test, tally: &mut Tally) {
    let name = format!("{}::{}", subject.name(), test.short_name());
    let start = Instant::now();
    let verdict = match subject::exclusion(subject, test.short_name()) {
        Some(reason) => Verdict::Skipped(format!("excluded: {reason}")),
        None => watched(subject, &name, test.run),
    };
    let took = start.elapsed().as_secs_f64();
    match verdict {
        Verdict::Passed => {
            tally.passed += 1;
            println!("test {name} ... ok ({took:.2} s)");
        }
        Verdict::Skipped(reason) => {
            tally.skipped += 1;
            println!("test {name} ... ignored, {reason}");
        }
        Verdict::Failed(why) => {
            tally.failed += 1;
            println!("test {name} ... FAILED ({took:.2} s)\n    {why}");
        }
        Verdict::Hung => {
            tally.failed += 1;
            println!("test {name} ... FAILED: hangs; not over after {} s", LIMIT.as_secs());
            finish(*tally, 0);
        }
    }
}

/// Runs one thing on a thread of its own.
fn watched(subject: &'static dyn Subject, name: &str, run: fn(&Stage<'_>) -> Outcome) -> Verdict {
    let (send, receive) = mpsc::channel::<()>();
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        let _ended = send; // Dropped when the thread ends, however that comes about.
        let machine = subject.open(2)?.checked();
        let outcome = run(&Stage { driver: machine.driver(), subject });
        drop(machine);
        outcome
    });
    let Ok(thread) = thread else {
        return Verdict::Failed("no thread could be started".to_owned());
    };
    if receive.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
        return Verdict::Hung;
    }
    match thread.join() {
        Ok(Ok(())) => Verdict::Passed,
        Ok(Err(Stop::Skip(reason))) => Verdict::Skipped(reason),
        Ok(Err(Stop::Failed(why))) => Verdict::Failed(why),
        Err(panic) => Verdict::Failed(words_of(panic.as_ref())),
    }
}

fn words_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// Runs a child's role; the exit status tells the parent.
pub(crate) fn run_role(subject: &'static dyn Subject, role: &Role) -> ! {
    match watched(subject, role.name, role.run) {
        Verdict::Passed => std::process::exit(0),
        Verdict::Skipped(reason) => {
            println!("skip: {reason}");
            std::process::exit(0)
        }
        Verdict::Failed(why) => println!("{why}"),
        Verdict::Hung => println!("hangs; not over after {} s", LIMIT.as_secs()),
    }
    std::process::exit(101)
}

/// Prints the line that readers of `cargo test` look for, and ends the process.
pub(crate) fn finish(total: Tally, filtered_out: usize) -> ! {
    let Tally { passed, failed, skipped } = total;
    let word = if failed == 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {word}. {passed} passed; {failed} failed; {skipped} ignored; \
         0 measured; {filtered_out} filtered out"
    );
    std::process::exit(if failed == 0 { 0 } else { 101 })
}
