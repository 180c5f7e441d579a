//! Configurations side by side: each is replayed by a separate process of this program, so that
//! memory and settings of one cannot affect another.

use std::process::{Command, Stdio};

use crate::cli::{Options, Place};
use crate::error::{Failure, Result};
use crate::measure::{Measurement, UNCACHED};
use crate::report::Report;

/// The variables that hold settings, besides the command line.
const SETTINGS: [&str; 3] = ["SCONCE_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"];

/// The configuration of the command line, then each `--compare`.
pub(crate) fn compare(options: &Options) -> Result<Vec<Measurement>> {
    let mut all = vec![replay(options, None)?];
    for configuration in &options.compare {
        all.push(
            replay(options, Some(configuration)).map_err(|failure| {
                failure.context(format_args!("--compare \"{configuration}\""))
            })?,
        );
    }
    Ok(all)
}

/// One configuration; without any, that of the command line and the environment.
fn replay(options: &Options, configuration: Option<&str>) -> Result<Measurement> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::new(format!("cannot find this program's file: {error}")))?;
    let mut command = Command::new(program);
    command.arg("--json").args(arguments(options));
    if let Some(text) = configuration {
        for name in SETTINGS {
            command.env_remove(name);
        }
        if text == "uncached" {
            command.env(UNCACHED, "1");
        } else {
            command.env_remove(UNCACHED).args(["--conf", text]);
        }
    } else if let Some(text) = &options.conf {
        command.args(["--conf", text]);
    }
    command.arg("--").arg(&options.trace);
    // The process writes its progress bar and its errors to this program's standard error.
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| Failure::new(format!("cannot start this program again: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("the replay ended with {}", output.status)));
    }
    let report: Report = serde_json::from_slice(&output.stdout)
        .map_err(|error| Failure::new(format!("the replay's figures cannot be read: {error}")))?;
    let mut measurements = report.measurements.into_iter();
    measurements.next().ok_or_else(|| Failure::new("the replay gave no figures"))
}

/// The arguments that all configurations share.
fn arguments(options: &Options) -> Vec<String> {
    let backend = match options.backend {
        Place::Auto => "auto",
        Place::Cuda => "cuda",
        Place::Sim => "sim",
    };
    let mut arguments = vec![
        format!("--backend={backend}"),
        format!("--device={}", options.device),
        format!("--threads={}", options.threads),
        format!("--repeat={}", options.repeat),
    ];
    arguments.extend(options.sim_memory.map(|bytes| format!("--sim-memory={bytes}")));
    arguments.extend(options.from_device.map(|device| format!("--from-device={device}")));
    arguments.extend(options.no_progress.then(|| "--no-progress".to_owned()));
    arguments
}
