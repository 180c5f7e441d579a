//! `sconce-replay`: replays the allocations of a recorded program on Sconce's allocator and prints
//! their cost in memory, driver calls and time.
//!
//! ```text
//! read/ ─▶ trace ─▶ replay ─▶ measure ─▶ report ─▶ table, JSON
//!                     └ place: which backend       ▲
//!                       compare: itself, once for each configuration
//! ```

// Opens the backends.
use sconce as _;

mod cli;
mod compare;
mod error;
mod measure;
mod place;
mod progress;
mod read;
mod replay;
mod report;
mod table;
mod trace;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;

use cli::Options;
use error::{Failure, Result};
use progress::Progress;
use report::Report;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("sconce-replay: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<()> {
    let progress = Progress::wanted(!options.no_progress);
    let trace = read::read(&options.trace, options.from_device, progress)?;
    let name = options.trace.file_name().unwrap_or_default().to_string_lossy();
    let (measurements, summary) = if options.compare.is_empty() {
        let outcome = measure::measure(options, &trace, progress)?;
        (vec![outcome.measurement], outcome.summary)
    } else {
        (compare::compare(options)?, None)
    };

    let report = Report::new(&trace, &name, measurements);
    let mut text = if options.json {
        serde_json::to_string_pretty(&report).map_err(|error| Failure::new(error.to_string()))?
    } else {
        report.text()
    };
    if let Some(summary) = summary {
        text = format!("{text}\n{summary}");
    }
    // A reader that closes the pipe early is no failure.
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}
