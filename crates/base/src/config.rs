//! The environment, read in one place, once.
//!
//! A malformed value is not fatal: it is logged as a warning that names the variable, and the
//! default holds.

use std::cell::RefCell;
use std::time::Duration;

use once_cell::race::OnceBox;

use crate::{log, process};

/// The backend that the environment names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendChoice {
    /// CUDA if its driver shows a device, else none.
    Auto,
    /// CUDA or failure.
    Cuda,
    /// The simulator.
    Sim,
}

/// The sizes of the simulated machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimConfig {
    /// Devices, 1 to 64 (`SCONCE_SIM_DEVICES`, default 2).
    pub devices: i32,
    /// Memory of each device, in bytes (`SCONCE_SIM_MEMORY`, default 4 GiB).
    pub memory_bytes: u64,
    /// Streaming multiprocessors of each device (`SCONCE_SIM_SMS`, default 132).
    pub multi_processors: i32,
    /// Threads of each multiprocessor (`SCONCE_SIM_THREADS_PER_SM`, default 2048).
    pub threads_per_multi_processor: i32,
}

impl Default for SimConfig {
    fn default() -> Self {
        SimConfig {
            devices: 2,
            memory_bytes: 4 << 30,
            multi_processors: 132,
            threads_per_multi_processor: 2048,
        }
    }
}

/// How long a wait takes at least that the sanitizer reports, unless `SCONCE_SANITIZER_HANG_S` says otherwise.
const USUAL_HANG: Duration = Duration::from_secs(5);
const MOST_HANG_S: f64 = 86_400.0;

/// What the sanitizer does (`docs/design/sanitizer.md`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizerConfig {
    /// Whether calls are checked at all.
    pub is_on: bool,
    /// `SCONCE_SANITIZER=abort`: the process ends with the first report.
    pub aborts: bool,
    /// `SCONCE_SANITIZER_FILE`: where reports are appended, one JSON object a line.
    pub file: Option<String>,
    /// `SCONCE_SANITIZER_HANG_S`: how long a wait may take before it is reported; 0: for ever.
    pub hang: Duration,
    /// `SCONCE_SANITIZER_PAGE`: the page of the run, written at its end.
    pub page: Option<String>,
    /// `SCONCE_SANITIZER_GUARD_BYTES`: how many bytes behind each block are nobody's.
    pub guard_bytes: usize,
    /// `SCONCE_SANITIZER_QUARANTINE_MB`: how much of freed blocks is not handed out again, in MiB for each stream.
    pub quarantine_mb: usize,
}

/// All settings that the library reads from the environment.
#[derive(Clone, Debug)]
pub struct Config {
    /// `SCONCE_BACKEND`.
    pub backend: BackendChoice,
    /// `SCONCE_SIM_*`.
    pub sim: SimConfig,
    /// `CUDA_VISIBLE_DEVICES`, which may be empty: the simulated devices that the process sees. NVIDIA's driver reads
    /// it itself.
    pub visible_devices: Option<String>,
    /// `SCONCE_SIM_REUSE_ADDRESSES=1`: the simulator reuses freed addresses and handles at once.
    pub sim_reuse_addresses: bool,
    /// `SCONCE_SIM_LATENCY_NS`: nanoseconds that an operation of the simulator takes (default 5000).
    pub sim_latency_ns: u64,
    /// `SCONCE_CHECK_DEVICE`, when set to 0 or 1: whether the current device follows other code.
    pub check_device: Option<bool>,
    /// `CUDA_LAUNCH_BLOCKING=1`: every launch and copy waits for its end.
    pub launch_blocking: bool,
    /// `TORCH_ALLOW_TF32_CUBLAS_OVERRIDE`, when set to 0 or 1.
    pub allow_tf32_cublas_override: Option<bool>,
    /// `NVIDIA_TF32_OVERRIDE=0`: NVIDIA's libraries never use TF32, whatever the switches say.
    pub tf32_forbidden: bool,
    /// `NVTX_INJECTION64_PATH`: the library of the profiler that receives the marks.
    pub nvtx_injection: Option<String>,
    /// `SCONCE_NVTX_MEMORY=1`: the profiler learns of the blocks of the allocator, if it checks memory.
    pub nvtx_memory: bool,
    /// `SCONCE_SANITIZER=off|report|abort`, or `TORCH_CUDA_SANITIZER=1`, which is `report`; `SCONCE_SANITIZER_FILE`,
    /// `SCONCE_SANITIZER_HANG_S`, `SCONCE_SANITIZER_PAGE`.
    pub sanitizer: SanitizerConfig,
    /// `SCONCE_LIBCUDA`: the file to open as `libcuda`, instead of the usual names.
    pub libcuda: Option<String>,
    /// `SCONCE_LIBNVML`: the file to open as `libnvidia-ml`, instead of the usual names.
    pub libnvml: Option<String>,
    /// `SCONCE_LIBCUBLAS`: the file to open as `libcublas`, instead of the usual names.
    pub libcublas: Option<String>,
    /// `SCONCE_LIBCUDNN`: the file to open as `libcudnn`, instead of the usual names.
    pub libcudnn: Option<String>,
    /// `SCONCE_LIBCUFFT`: the file to open as `libcufft`, instead of the usual names.
    pub libcufft: Option<String>,
    /// `SCONCE_LIBNVRTC`: the file to open as `libnvrtc`, instead of the usual names.
    pub libnvrtc: Option<String>,
    /// `SCONCE_LIBNCCL`: the file to open as `libnccl`, instead of the usual name.
    pub libnccl: Option<String>,
    /// `CUDA_HOME` or `CUDA_PATH`: the folder of the CUDA toolkit.
    pub cuda_home: Option<String>,
    /// `CUBLAS_WORKSPACE_CONFIG`: sizes and counts of cuBLAS's workspaces.
    pub cublas_workspace_config: Option<String>,
    /// `SCONCE_BLAS_WORKSPACE_MAX`: the most bytes that all cuBLAS workspaces of a device may have.
    pub blas_workspace_max: Option<u64>,
    /// The allocator's configuration, with the name of its variable in front: the first that is set
    /// of `SCONCE_ALLOC_CONF`, `PYTORCH_CUDA_ALLOC_CONF` and `PYTORCH_ALLOC_CONF`.
    pub alloc_conf: Option<(String, String)>,
    /// `PYTORCH_NO_CUDA_MEMORY_CACHING`, set to anything but 0: each allocation is one of
    /// the driver's, and each free returns it at once.
    pub no_memory_caching: bool,
    /// `OMP_NUM_THREADS`, else `MKL_NUM_THREADS`: the most threads that work on a call on the CPU. Of a list, which
    /// has a number for each level of OpenMP's nesting, the first.
    pub threads: Option<usize>,
    /// `OMP_THREAD_LIMIT`: bounds that number, whoever chose it.
    pub thread_limit: Option<usize>,
}

/// The variables of the allocator's configuration. The first that is set is used.
const ALLOC_CONF_VARIABLES: [&str; 3] =
    ["SCONCE_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"];

/// Variables that name code to load: files, or folders with such files.
const NAMES_OF_CODE: [&str; 9] = [
    "NVTX_INJECTION64_PATH",
    "SCONCE_LIBCUDA",
    "SCONCE_LIBNVML",
    "SCONCE_LIBCUBLAS",
    "SCONCE_LIBCUDNN",
    "SCONCE_LIBCUFFT",
    "SCONCE_LIBNVRTC",
    "CUDA_HOME",
    "CUDA_PATH",
];

impl Config {
    /// The configuration from the environment at the time of the first call.
    pub fn get() -> &'static Config {
        // Set without a lock: a forked child must not wait for a thread of the parent that was
        // reading.
        static CONFIG: OnceBox<Config> = OnceBox::new();
        if let Some(config) = CONFIG.get() {
            return config;
        }
        let (config, complaints) = Config::of_process();
        if CONFIG.set(Box::new(config)).is_ok() {
            for complaint in complaints {
                log::warn(format_args!("{complaint}"));
            }
        }
        CONFIG.get_or_init(|| Box::new(Config::of_process().0))
    }

    fn of_process() -> (Config, Vec<String>) {
        let (config, mut complaints) =
            Config::read(&|name| std::env::var(name).ok(), process::is_privileged());
        let names = std::env::vars_os().map(|(name, _)| name);
        complaints.extend(names.filter_map(|name| unknown::complaint(name.to_str()?)));
        (config, complaints)
    }

    /// The configuration from some variables, and warnings for those that are malformed.
    /// `privileged`: the program has more rights than its caller, whose environment must not choose
    /// the code it loads.
    fn read(variable: &dyn Fn(&str) -> Option<String>, privileged: bool) -> (Config, Vec<String>) {
        let complaints = RefCell::new(Vec::new());
        let variable = |name: &str| {
            let value = variable(name)?;
            if privileged && NAMES_OF_CODE.contains(&name) && !value.is_empty() {
                complaints.borrow_mut().push(format!(
                    "{name} is ignored: it names code to load, and this program has more rights than \
                     its caller (setuid, setgid or file capabilities)"
                ));
                return None;
            }
            Some(value)
        };
        let config = Config::parse(&variable, &|complaint| complaints.borrow_mut().push(complaint));
        (config, complaints.into_inner())
    }

    fn parse(variable: &dyn Fn(&str) -> Option<String>, complain: &dyn Fn(String)) -> Config {
        let text = |name: &str| variable(name).filter(|value| !value.is_empty());
        let text = Variables { text: &text, complain };
        let defaults = SimConfig::default();
        // `log` reads its variable itself: this may be a warning about it.
        let _ = text.parsed("SCONCE_LOG", "off, error, warn, info or debug", log::level_named);
        Config {
            backend: text
                .parsed("SCONCE_BACKEND", "auto, cuda or sim", backend)
                .unwrap_or(BackendChoice::Auto),
            sim: SimConfig {
                devices: text
                    .parsed("SCONCE_SIM_DEVICES", "a number from 1 to 64", |value| {
                        value.parse().ok().filter(|n| (1..=64).contains(n))
                    })
                    .unwrap_or(defaults.devices),
                memory_bytes: text
                    .parsed("SCONCE_SIM_MEMORY", "bytes, with an optional K, M or G", memory_size)
                    .unwrap_or(defaults.memory_bytes),
                multi_processors: text
                    .parsed("SCONCE_SIM_SMS", "a positive number", positive)
                    .unwrap_or(defaults.multi_processors),
                threads_per_multi_processor: text
                    .parsed("SCONCE_SIM_THREADS_PER_SM", "a positive number", positive)
                    .unwrap_or(defaults.threads_per_multi_processor),
            },
            visible_devices: variable("CUDA_VISIBLE_DEVICES"),
            sim_reuse_addresses: text
                .parsed("SCONCE_SIM_REUSE_ADDRESSES", "0 or 1", switch)
                .unwrap_or(false),
            sim_latency_ns: text
                .parsed("SCONCE_SIM_LATENCY_NS", "a whole number", |value| value.parse().ok())
                .unwrap_or(5_000),
            check_device: text.parsed("SCONCE_CHECK_DEVICE", "0 or 1", switch),
            launch_blocking: text.get("CUDA_LAUNCH_BLOCKING").is_some_and(|value| value != "0"),
            allow_tf32_cublas_override: text.parsed(
                "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
                "0 or 1",
                switch,
            ),
            tf32_forbidden: text.get("NVIDIA_TF32_OVERRIDE").as_deref() == Some("0"),
            nvtx_injection: text.get("NVTX_INJECTION64_PATH"),
            nvtx_memory: text.get("SCONCE_NVTX_MEMORY").is_some_and(|value| value != "0"),
            sanitizer: sanitizer(&text),
            libcuda: text.get("SCONCE_LIBCUDA"),
            libnvml: text.get("SCONCE_LIBNVML"),
            libcublas: text.get("SCONCE_LIBCUBLAS"),
            libcudnn: text.get("SCONCE_LIBCUDNN"),
            libcufft: text.get("SCONCE_LIBCUFFT"),
            libnvrtc: text.get("SCONCE_LIBNVRTC"),
            libnccl: text.get("SCONCE_LIBNCCL"),
            cuda_home: text.get("CUDA_HOME").or_else(|| text.get("CUDA_PATH")),
            cublas_workspace_config: text.get("CUBLAS_WORKSPACE_CONFIG"),
            blas_workspace_max: text.parsed(
                "SCONCE_BLAS_WORKSPACE_MAX",
                "bytes, with an optional K, M or G",
                |value| if value == "0" { Some(0) } else { memory_size(value) },
            ),
            alloc_conf: ALLOC_CONF_VARIABLES
                .into_iter()
                .find_map(|name| text.get(name).map(|value| (name.to_owned(), value))),
            no_memory_caching: text
                .get("PYTORCH_NO_CUDA_MEMORY_CACHING")
                .is_some_and(|value| value != "0"),
            threads: ["OMP_NUM_THREADS", "MKL_NUM_THREADS"].into_iter().find_map(|name| {
                text.parsed(name, "a positive number", |value| threads(value.split(',').next()?))
            }),
            thread_limit: text.parsed("OMP_THREAD_LIMIT", "a positive number", threads),
        }
    }
}

const MOST_GUARD_BYTES: usize = 1 << 20;
const MOST_QUARANTINE_MB: usize = 1 << 20;

fn sanitizer(text: &Variables<'_>) -> SanitizerConfig {
    let mode = text.parsed("SCONCE_SANITIZER", "off, report or abort", |value| match value {
        "off" | "0" => Some((false, false)),
        "report" | "1" => Some((true, false)),
        "abort" => Some((true, true)),
        _ => None,
    });
    let torch = text.parsed("TORCH_CUDA_SANITIZER", "0 or 1", switch).unwrap_or(false);
    let (is_on, aborts) = mode.unwrap_or((torch, false));
    let seconds = |value: &str| {
        let seconds = value.parse().ok().filter(|seconds: &f64| *seconds <= MOST_HANG_S)?;
        Duration::try_from_secs_f64(seconds).ok()
    };
    let expected = "a number of seconds, from 0 to 86400";
    let hang = text.parsed("SCONCE_SANITIZER_HANG_S", expected, seconds).unwrap_or(USUAL_HANG);
    let number = |name, most: usize, default| {
        let within = |value: &str| value.parse().ok().filter(|number| *number <= most);
        text.parsed(name, &format!("a number up to {most}"), within).unwrap_or(default)
    };
    SanitizerConfig {
        is_on,
        hang,
        aborts,
        file: text.get("SCONCE_SANITIZER_FILE"),
        page: text.get("SCONCE_SANITIZER_PAGE"),
        guard_bytes: number("SCONCE_SANITIZER_GUARD_BYTES", MOST_GUARD_BYTES, 512),
        quarantine_mb: number("SCONCE_SANITIZER_QUARANTINE_MB", MOST_QUARANTINE_MB, 64),
    }
}

/// The variables that are set, and the receiver of warnings.
struct Variables<'a> {
    text: &'a dyn Fn(&str) -> Option<String>,
    complain: &'a dyn Fn(String),
}

impl Variables<'_> {
    fn get(&self, name: &str) -> Option<String> {
        (self.text)(name)
    }

    fn parsed<T>(
        &self,
        name: &str,
        expected: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.get(name)?;
        let result = parse(value.trim());
        if result.is_none() {
            (self.complain)(format!("{name}={value} is not {expected}; the default is used"));
        }
        result
    }
}

fn backend(value: &str) -> Option<BackendChoice> {
    match value.to_ascii_lowercase().as_str() {
        "auto" => Some(BackendChoice::Auto),
        "cuda" => Some(BackendChoice::Cuda),
        "sim" => Some(BackendChoice::Sim),
        _ => None,
    }
}

fn switch(value: &str) -> Option<bool> {
    match value {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

fn positive(value: &str) -> Option<i32> {
    value.parse().ok().filter(|n| *n > 0)
}

fn threads(value: &str) -> Option<usize> {
    value.trim().parse().ok().filter(|n| *n > 0)
}

/// Bytes, with an optional binary suffix: `512M`, `4G`, `4GiB`.
fn memory_size(value: &str) -> Option<u64> {
    let digits = value.trim_end_matches(|c: char| !c.is_ascii_digit());
    let shift = match value[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()?.checked_shl(shift)?;
    (bytes > 0 && bytes >> shift == digits.parse().ok()?).then_some(bytes)
}

mod job;
mod unknown;

pub use job::JobEnvironment;

#[cfg(test)]
mod tests;
