//! The headers of the C API, one a noun: what each is about, and the sources that it is generated from.

/// A header: `include/sconce/c/<name>.h`.
pub(crate) struct Noun {
    pub(crate) name: &'static str,
    /// What it declares, as the header says it.
    pub(crate) about: &'static str,
    /// Sources below `src`, without their ending, in the order a reader wants them.
    pub(crate) files: &'static [&'static str],
    /// `sconce.h` includes it.
    pub(crate) in_runtime: bool,
}

const fn runtime(name: &'static str, about: &'static str, files: &'static [&'static str]) -> Noun {
    Noun { name, about, files, in_runtime: true }
}

const fn further(name: &'static str, about: &'static str, files: &'static [&'static str]) -> Noun {
    Noun { name, about, files, in_runtime: false }
}

/// A header includes only headers of nouns before it.
pub(crate) const NOUNS: [Noun; 26] = [
    runtime(
        "library",
        "The library: statuses, messages of errors, texts, version, log, initialisation.",
        &[
            "library/status",
            "last_error",
            "library/string",
            "library/version",
            "library/log",
            "library/init",
        ],
    ),
    runtime(
        "context",
        "The global context: TF32 and determinism, as in torch.backends.",
        &["context"],
    ),
    runtime(
        "device",
        "Devices: their count and properties, the current device, peers.",
        &["device/properties", "device/current", "device/query"],
    ),
    runtime(
        "stream",
        "Streams: pools of streams, current streams, order, captures.",
        &["stream/current", "stream/owned", "stream/capture_mode", "stream/work"],
    ),
    runtime("event", "Events: marks in streams, waits and times.", &["event"]),
    runtime(
        "memory",
        "Memory of devices: the caching allocator, pools, settings, statistics, snapshots, sleep.",
        &[
            "memory/alloc",
            "memory/pool",
            "memory/sleep",
            "memory/settings",
            "memory/figures",
            "memory/stats",
            "memory/page_figures",
            "memory/snapshot",
            "memory/layout",
            "memory/snapshot_arrays",
            "memory/drop_in",
        ],
    ),
    runtime(
        "host_memory",
        "Pinned memory of the host.",
        &["host_memory/figures", "host_memory/alloc"],
    ),
    runtime("dtype", "Types of elements.", &["dtype"]),
    runtime(
        "copy",
        "Copies and fills of bytes and of strided elements.",
        &["copy/bytes", "copy/shapes"],
    ),
    runtime("ipc", "Memory and events that processes share.", &["ipc"]),
    runtime(
        "module",
        "Modules and kernels: loading, compiling, attributes, launches.",
        &["module/load", "module/source", "module/attributes", "module/launch"],
    ),
    runtime(
        "random",
        "Random numbers: generators, seeds, fills.",
        &[
            "random/generator",
            "random/generator_state",
            "random/seed",
            "random/fill",
            "random/fill_on",
        ],
    ),
    runtime(
        "graph",
        "Graphs: captures, launches, conditional nodes.",
        &["graph/capture", "graph/launch", "graph/conditional"],
    ),
    runtime("nvtx", "NVTX: marks and ranges for profilers.", &["nvtx"]),
    further(
        "blas",
        "Products of matrices, with cuBLAS and cuBLASLt.",
        &["blas/matmul", "blas/workspaces"],
    ),
    further("dnn", "Convolutions, with cuDNN.", &["dnn"]),
    further(
        "fft",
        "Fourier transforms, with cuFFT and its cache of plans.",
        &["fft/transform", "fft/cache"],
    ),
    further("parallel", "Threads of the CPU for the calculations of the library.", &["parallel"]),
    further(
        "tensor",
        "Tensors: creation, views, conversions, calculations.",
        &[
            "tensor/handle",
            "tensor/scalar",
            "tensor/options",
            "tensor/query",
            "tensor/create",
            "tensor/blob",
            "tensor/random",
            "tensor/convert",
            "tensor/views",
            "tensor/pieces",
            OPERATIONS,
            "tensor/pointwise",
            "tensor/reduce",
            "tensor/order",
            "tensor/product",
            "tensor/outputs/calculate",
            "tensor/outputs/order",
            "tensor/outputs/product",
            "tensor/outputs/create",
            "tensor/keep",
        ],
    ),
    further(
        "backward",
        "Backward passes: functions, their graph and its streams.",
        &["backward/function", "backward/graph"],
    ),
    further(
        "dlpack",
        "Exchange of tensors with other libraries by DLPack.",
        &["dlpack/tensors", "dlpack/exchange", "dlpack/types"],
    ),
    further(
        "store",
        "Key-value stores, by which processes find each other.",
        &["store/create", "store/values"],
    ),
    further(
        "comm",
        "Communicators: collective calls, messages, work.",
        &["comm/config", "comm/life", "comm/reduce", "comm/exchange", "comm/work"],
    ),
    further(
        "comm_tensors",
        "Collective calls on tensors.",
        &["comm_tensors/spread", "comm_tensors/collect"],
    ),
    runtime(
        "sanitizer",
        "The sanitizer: races between streams, and uses of freed memory.",
        &["sanitizer/control", "sanitizer/declare", "sanitizer/operation", "sanitizer/page"],
    ),
    further(
        "sim",
        "The simulated device: its settings, and what a test asks of it.",
        &["sim/control", "sim/capture", "sim/external", "sim/memory", "sim/comm", "sim/kernel"],
    ),
];

/// Stands for the enums that follow from the tables of operations.
pub(crate) const OPERATIONS: &str = "the tables of operations";
