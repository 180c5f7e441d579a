//! The conformance suite: what `sconce_driver::Driver` promises, checked on every backend.
//!
//! Each test acts through the trait alone and looks at what comes of it: memory contents, events,
//! times, host functions. Written from the contract table, not from a backend; when a backend fails
//! here, the backend is wrong or the table is. See `docs/design/conformance.md`.
//!
//! ```text
//! conformance [--list] [--require] [name part]…
//! ```
//!
//! `SCONCE_TEST_BACKEND=sim|cuda|all` chooses backends (default: all). A backend that is not on this
//! machine is skipped and said so, unless `--require` is given.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a failure of a test is a panic")]

mod collectives;
mod contexts;
mod copies;
mod devices;
mod errors;
mod events;
mod graphs;
mod host_functions;
mod ipc;
mod kernels;
mod libraries;
mod load;
mod memory;
mod observe;
mod retain;
mod rows;
mod stream_order;
mod streams;
mod support;
mod virtual_memory;

use support::runner::{Tally, Test};
use support::{child, runner, subject};

/// The tests by the trait of the contract that they check.
const TRAITS: &[(&str, &[&[Test]])] = &[
    ("Devices", &[devices::TESTS]),
    ("Contexts", &[contexts::TESTS]),
    ("Memory, HostMemory", &[memory::TESTS]),
    ("VirtualMemory", &[virtual_memory::TESTS, retain::TESTS]),
    ("Streams, Captures", &[streams::TESTS, stream_order::TESTS, host_functions::TESTS]),
    ("Events", &[events::TESTS]),
    ("Copies", &[copies::TESTS, rows::TESTS]),
    (
        "Kernels",
        &[
            kernels::TESTS,
            kernels::rows::TESTS,
            kernels::strided::TESTS,
            kernels::scale::TESTS,
            kernels::wide::TESTS,
        ],
    ),
    ("Modules", &[kernels::modules::TESTS]),
    (
        "Graphs, Captures",
        &[
            graphs::TESTS,
            graphs::captures::TESTS,
            graphs::conditions::TESTS,
            graphs::programs::TESTS,
        ],
    ),
    ("Ipc", &[ipc::TESTS]),
    (
        "Blas",
        &[libraries::blas::TESTS, libraries::blas_complex::TESTS, libraries::blas_order::TESTS],
    ),
    ("Dnn", &[libraries::dnn::TESTS, libraries::dnn_order::TESTS]),
    ("Fft", &[libraries::fft::TESTS, libraries::fft_order::TESTS]),
    ("Compiler", &[libraries::compiler::TESTS]),
    (
        "Collectives",
        &[
            collectives::copies::TESTS,
            collectives::reductions::TESTS,
            collectives::narrow_floats::TESTS,
            collectives::order::TESTS,
            collectives::life::TESTS,
        ],
    ),
    ("Observe", &[observe::TESTS]),
    ("Driver", &[errors::TESTS, load::TESTS]),
];

const ROLES: &[&[child::Role]] =
    &[contexts::ROLES, virtual_memory::ROLES, errors::ROLES, ipc::ROLES];

/// What the command line asks for.
#[derive(Default)]
struct Request {
    list: bool,
    /// Only tests that are off by default: there are none.
    ignored: bool,
    exact: bool,
    require: bool,
    parts: Vec<String>,
    skipped_parts: Vec<String>,
}

impl Request {
    /// Reads the arguments; those of the usual test harness that mean nothing here are let through.
    fn read(arguments: impl Iterator<Item = String>) -> Result<Request, String> {
        let mut request = Request::default();
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--list" => request.list = true,
                "--ignored" => request.ignored = true,
                "--exact" => request.exact = true,
                "--require" => request.require = true,
                "--skip" => request.skipped_parts.extend(arguments.next()),
                "--test-threads" | "--format" | "--color" => drop(arguments.next()),
                "--nocapture" | "--no-capture" | "--show-output" | "--quiet" | "-q" => {}
                flag if flag.starts_with("--test-threads=") => {}
                flag if flag.starts_with('-') => return Err(format!("unknown argument {flag}")),
                part => request.parts.push(part.to_owned()),
            }
        }
        Ok(request)
    }

    fn wants(&self, name: &str) -> bool {
        let matches = |part: &String| match self.exact {
            true => name == part,
            false => name.contains(part.as_str()),
        };
        !self.ignored
            && (self.parts.is_empty() || self.parts.iter().any(matches))
            && !self.skipped_parts.iter().any(|part| name.contains(part.as_str()))
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().map(String::as_str) == Some("--child") {
        run_child(&arguments);
    }
    let request = Request::read(arguments.drain(..)).unwrap_or_else(|why| usage(&why));
    let files = TRAITS.iter().flat_map(|(_, files)| files.iter());
    let all: Vec<Test> = files.flat_map(|file| file.iter().copied()).collect();
    subject::check_exclusions(&all).unwrap_or_else(|why| usage(&why));
    let subjects = subject::chosen().unwrap_or_else(|why| usage(&why));

    if request.list {
        for subject in subjects {
            let names = all.iter().map(|test| format!("{}::{}", subject.name(), test.short_name()));
            for name in names.filter(|name| request.wants(name)) {
                println!("{name}: test");
            }
        }
        return;
    }
    let mut total = Tally::default();
    let mut filtered_out = 0;
    for subject in subjects {
        if request.require
            && let Err(subject::Absent::NotHere(reason)) = subject.open(1)
        {
            usage(&format!("--require: {} is not on this machine: {reason}", subject.name()));
        }
        let full_name = |test: &Test| format!("{}::{}", subject.name(), test.short_name());
        let (wanted, rest): (Vec<Test>, Vec<Test>) =
            all.iter().partition(|test| request.wants(&full_name(test)));
        let tally = runner::run(subject, &wanted);
        total.passed += tally.passed;
        total.failed += tally.failed;
        total.skipped += tally.skipped;
        filtered_out += rest.len();
    }
    runner::finish(total, filtered_out)
}

fn run_child(arguments: &[String]) -> ! {
    let [_, backend, name] = arguments else { usage("--child takes a backend and a role") };
    let subject = subject::by_name(backend).unwrap_or_else(|| usage("no such backend"));
    let mut roles = ROLES.iter().flat_map(|file| file.iter());
    match roles.find(|role| role.name == name) {
        Some(role) => runner::run_role(subject, role),
        None => usage("no such role"),
    }
}

fn usage(why: &str) -> ! {
    eprintln!("conformance: {why}\nusage: conformance [--list] [--require] [name part]...");
    std::process::exit(2)
}
