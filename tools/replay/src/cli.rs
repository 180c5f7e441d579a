//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Replays the allocations of a recorded program on Sconce's allocator and prints their cost.
///
/// TRACE is a list of events (`a,ID,BYTES,STREAM` and `f,ID,BYTES,STREAM`, one on each line), or a
/// memory snapshot of PyTorch's with history (.pickle or .json), plain or gzipped.
#[derive(Clone, Debug, Parser)]
#[command(name = "sconce-replay", version)]
pub(crate) struct Options {
    /// The trace.
    pub(crate) trace: PathBuf,

    /// The backend; auto is SCONCE_BACKEND, else the GPU if there is one, else the simulator.
    #[arg(long, value_enum, default_value_t = Place::Auto)]
    pub(crate) backend: Place,

    /// The device to replay on.
    #[arg(long, value_name = "INDEX", default_value_t = 0, value_parser = clap::value_parser!(i32).range(0..64))]
    pub(crate) device: i32,

    /// Memory of the simulated device, such as 160G [default: SCONCE_SIM_MEMORY, else twice the
    /// trace's expected need]. Only memory that is touched takes memory of this machine.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) sim_memory: Option<u64>,

    /// The allocator's settings, as in PYTORCH_CUDA_ALLOC_CONF [default: the environment's].
    #[arg(long, value_name = "SETTINGS")]
    pub(crate) conf: Option<String>,

    /// Replays also with these settings, or with `uncached`, and prints all side by side. May be
    /// repeated; each configuration runs in a separate process.
    #[arg(long, value_name = "SETTINGS", conflicts_with_all = ["summary", "snapshot"])]
    pub(crate) compare: Vec<String>,

    /// Replays this many copies of the trace at once, each on a thread with its own streams.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: u32,

    /// Passes over the trace: the first determines the figures, the later ones the time with cached
    /// memory.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: u32,

    /// The device of a snapshot whose history is replayed [default: the busiest].
    #[arg(long, value_name = "INDEX")]
    pub(crate) from_device: Option<usize>,

    /// Prints the memory summary too, as of the last event of the first pass.
    #[arg(long)]
    pub(crate) summary: bool,

    /// Records history during the first pass and writes a snapshot at its end: .pickle, .json, or
    /// .html for a browser.
    #[arg(long, value_name = "PATH")]
    pub(crate) snapshot: Option<PathBuf>,

    /// Prints the figures as JSON.
    #[arg(long)]
    pub(crate) json: bool,

    /// Shows no progress bar.
    #[arg(long)]
    pub(crate) no_progress: bool,
}

/// A backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Place {
    Auto,
    Cuda,
    Sim,
}

/// Bytes with an optional binary suffix: `512M`, `4G`, `4GiB`.
fn bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        "g" | "gb" | "gib" => Some(1 << 30),
        "t" | "tb" | "tib" => Some(1_u64 << 40),
        _ => None,
    };
    let count = digits.parse::<u64>().ok().filter(|count| *count > 0);
    count
        .zip(unit)
        .and_then(|(count, unit)| count.checked_mul(unit))
        .ok_or_else(|| "bytes are expected, with an optional K, M, G or T, such as 160G".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Options::command().debug_assert();
    }

    #[test]
    fn bytes_take_suffixes() {
        assert_eq!(bytes("512"), Ok(512));
        assert_eq!(bytes("160G"), Ok(160 << 30));
        assert_eq!(bytes("3MiB"), Ok(3 << 20));
        for wrong in ["", "G", "-1", "1.5G", "0", "5X", "99999999999G"] {
            assert!(bytes(wrong).is_err(), "{wrong}");
        }
    }
}
