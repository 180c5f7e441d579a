//! The order of all locks of the library, from the first to the last. A thread that holds a lock takes only locks that
//! stand behind it. `docs/design/locks.md` says why the order is what it is, and a test compares it with this list.

/// The place of a lock in the order. Each lock names its own by a type.
pub trait LockRank: 'static {
    #[cfg_attr(
        any(not(debug_assertions), loom),
        allow(dead_code, reason = "debug builds check the order")
    )]
    const CLASS: &'static RankClass;
}

/// What is known of the locks of a rank.
#[cfg_attr(
    any(not(debug_assertions), loom),
    allow(dead_code, reason = "debug builds check the order")
)]
pub struct RankClass {
    pub(crate) name: &'static str,
    /// Where the locks are, and what they guard.
    pub(crate) what: &'static str,
    pub(crate) number: u16,
    pub(crate) nesting: Nesting,
}

/// Whether a thread may hold several locks of a rank.
#[cfg_attr(
    any(not(debug_assertions), loom),
    allow(dead_code, reason = "debug builds check the order")
)]
pub(crate) enum Nesting {
    Never,
    /// It takes them in the order of their addresses, or of the numbers that it takes them with.
    InOrder,
    /// It holds a lock of this rank alone, so that no other thread takes several.
    Behind(&'static RankClass),
}

/// How a thread holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LockHold {
    /// Nobody else is inside.
    Alone,
    /// Beside others. Taking a lock like this waits for those that wait to be alone, so it counts as the other way.
    Shared,
    /// Not a lock: others wait for what the thread does.
    Serving,
}

macro_rules! nesting {
    () => {
        Nesting::Never
    };
    (in_order) => {
        Nesting::InOrder
    };
    (behind $gate:ident) => {
        Nesting::Behind(<$gate as LockRank>::CLASS)
    };
}

macro_rules! ranks {
    ($($name:ident $(($($nesting:tt)+))?: $what:literal,)*) => {
        #[allow(dead_code, reason = "numbers the ranks")]
        enum Numbers { $($name,)* }

        $(
            #[doc = $what]
            pub enum $name {}

            impl LockRank for $name {
                const CLASS: &'static RankClass = &RankClass {
                    name: stringify!($name),
                    what: $what,
                    number: Numbers::$name as u16,
                    nesting: nesting!($($($nesting)+)?),
                };
            }
        )*

        /// All ranks, in their order.
        #[cfg(test)]
        const ORDER: &[&RankClass] = &[$(<$name as LockRank>::CLASS,)*];
    };
}

ranks! {
    Idle: "nothing is held: a thread waits for work, or for functions of the program",
    CountedDevices: "context/runtime: devices are being counted without a backend",
    Context: "context/once: the backend is being opened",
    ContextValue: "context: an opened backend, or how one is opened, is being published",
    StoreHandle: "store/handle: the store of a handle",
    StoreFile: "store/file: what is known of a store's file",
    StoreConnections: "store/tcp: the connections to a server",
    BackwardHandle: "backward/handle: the graph of a handle",
    BackwardNodes: "backward/graph: the nodes of a graph",
    BackwardFunction: "backward/node: the function of a node",
    BackwardLeaf: "backward/leaf: a gradient is being added",
    BackwardGradient: "backward/leaf: the gradient of a leaf",
    BackwardInputs: "backward/plan: the gradients that have come to a node",
    BackwardProgress: "backward/progress: what of a pass is done",
    BackwardQueue: "backward/queues: the functions that are ready on a device",
    CommHandle: "collectives/registry: the communicator of a handle",
    WorkHandle: "collectives/work: the work of a handle",
    CommStream: "collectives/comm: the stream of asynchronous calls is being made",
    CommEnd (in_order): "collectives/comm: the driver's object of a rank",
    CommWatched: "collectives/comm: queued work with a limit",
    CommWork: "collectives/work: the state of a call",
    CommsWatched: "collectives/watchdog: the watched communicators",
    CommsLive: "collectives/exit: the communicators that may live",
    CommFailure: "collectives/failure: why a communicator is broken",
    CommHandler: "collectives/exit: the handler of an exit is being installed",
    Team: "comm_tensors/team: the communicators of groups of devices",
    Lanes: "comm_tensors/lanes: the streams of copies",
    ModuleSource: "module/source: a source that is being compiled",
    UserModule: "module/table: a module and its text",
    ModuleKernels: "module/table: the kernels of a module",
    UserKernel: "module/table: a kernel is used, or destroyed",
    PoolFixing: "memory/sleep/fix: a pool is being fixed",
    PoolSleep: "memory/sleep: a pool of a device falls asleep or wakes",
    FftMaking: "fft/cached_plan: a plan is being made",
    FftCost: "fft/plan_cost: the plans of a device that are being made",
    IpcImport: "ipc/imports: an import that is being opened or closed",
    IpcDoors: "ipc/service: what other processes may open",
    UncachedTurn: "memory/source/uncached: freed memory goes back",
    GivingBack: "stream/giving_back: memory goes back, or a capture begins",
    GraphState (in_order): "graph/state: a graph, while it is launched",
    OwnCaptures: "stream/own_captures: captures under way",
    DeviceWaits: "stream/device_waits: waits of callers under way",
    GeneratorSeeds: "random/registry: the seeds of default generators",
    GeneratorDraws: "random/graph_draws: what a graph draws",
    Generator (in_order): "random/generator: a generator, or what it left to graphs",
    GeneratorRecord: "random/device/record: the newest use of a record",
    GeneratorShape: "random/device/process: what is known of a device is being asked for",
    GeneratorArena: "random/device/arena: device memory for the states of generators",
    GeneratorPairs: "random/device/host_pairs: spare pairs in memory of the host",
    PinnedTurn: "host_memory/cache: a thread waits for all events",
    Rescue: "memory/streams/device/rescue: a rescue of a device",
    Reading: "memory/streams/device: figures of a device are summed up",
    Gate: "memory/streams/device/gate: segments on their way",
    Device: "work of a device, and what it waits for",
    Pages: "memory/source/pages: the pages of a device",
    LibraryHandles: "library_handles/pool: idle handles",
    BlasTables: "blas/workspaces: the tables are being made",
    BlasTable: "blas/workspaces: the workspaces of a device",
    BlasWorkspace: "blas/stream_workspace: a workspace in use",
    StreamCaches: "memory/streams/lookup: the caches of streams",
    Cache (behind Gate): "memory/streams/cache: the memory of a stream",
    PinnedDeferred: "host_memory/cache: freed blocks that wait for events",
    PinnedHeap: "host_memory/cache: the heap of pinned memory",
    Segments: "memory/streams/live_blocks: which cache an address is in",
    DeviceAccounting: "memory/figures/device_accounting: the sums of a device",
    HistorySetting: "memory/history: histories are switched on or off",
    History: "memory/history: the history of a device",
    Sleepers: "memory/streams/sleepers: which pools are asleep",
    PoolHolds: "memory/pool_holds: the pools that graphs hold",
    CaptureUsers: "graph/holds: what is known of a capture",
    LateShares: "graph/late: what graphs kept and launches use",
    LaunchedPools: "memory/pool_release: the pools that queued launches use",
    LatePools: "memory/pool_release: the pools whose memory goes back later",
    FixedPools: "memory/fixed_pools: the fixed pools",
    PoolPolicies: "memory/source/pool_policy: the policies of pools",
    UncachedLive: "memory/source/uncached: live allocations",
    UncachedLetGo: "memory/source/uncached: memory that other processes have closed",
    FftCaches: "fft/device_caches: the cache of a device is being made",
    Givers: "memory/miss/reclaim: who can give plans back",
    BlockHolders: "memory/miss/reclaim: who keeps blocks",
    OutOfMemoryObservers: "memory/miss/observers: observers of missing memory",
    FirstTime: "what is registered or said once",
    FftDeferred: "fft/plan: plans that are to be destroyed",
    FftCache: "fft/plan_cache: the plans of a device",
    FftPlan: "fft/cached_plan: a plan",
    GraphShared: "graph_shared: a plan whose owner has gone",
    DnnTable: "dnn/plans: the table of findings is being made",
    DnnPlans: "dnn/plans: the engines that were found",
    BlasSettings: "blas/workspace_size: the settings are being read",
    IpcImports: "ipc/imports: all imports",
    DlpackUsers: "dlpack/loan: the streams that use a loan",
    ModuleKernel: "module/table: a kernel is being looked up on a device",
    ModuleLoaded: "module/table: a module is being loaded on a device",
    DriverHandle: "lazy_handle: a handle of the driver is being made",
    KernelModule: "kernel_loader: a module of the library is being loaded",
    KernelParameters: "module/table: the sizes of a kernel's parameters are being asked for",
    DeviceFact: "facts of a device are being asked for",
    ParkedOwners: "device/parked: the allocators that park blocks",
    RestGivers: "device/parked: who gives memory back after a wait for a device",
    PeersEnabled: "device/peers: observers of peers",
    StreamMakers: "stream/makers: the owners of streams",
    StreamReplacement: "stream/makers: observers of replaced streams",
    EventState: "event/slots: the driver's event",
    EventsExported: "event/native: the handles of exported events",
    EventsRetired: "event/hazard_pointers: events that may be in use",
    EventsSpare: "event/recycler: spare events",
    CopyJobs: "copy/staged/jobs: queued copies",
    CopyHelp: "copy/staged/jobs: the helpers of a copy",
    CopyHelpers: "copy/staged/helpers: the helpers are being started",
    MoverJobs: "sleep/movers: the jobs of a pool that sleeps or wakes",
    Movers: "sleep/movers: a job of another thread",
    DrainThread: "host_memory/drain: the thread is being started",
    Snapshot: "src/memory/snapshot_arrays: the arrays of a snapshot",
    SanitizerSlots: "sanitizer/checked/guards: memory of the host is being registered, or a stream made",
    SanitizerCaptures: "sanitizer/checked/guards: a capture begins, or zones are filled",
    CudaLibrary: "cuda: a library is being loaded",
    CudaContext: "cuda/primary: the context of a device is being made",
    CudaHostFunctions: "cuda/streams/host_functions: captured host functions",
    CudaModules: "cuda/early_launch: modules that wait",
    CudaTask: "cuda/collectives/task: the outcome of a call",
    SimModules: "sim/state: loaded modules",
    SimRegistry: "sim/kernels/user/registry: registered kernels",
    SimCollectiveMember: "sim/libraries/collectives/endpoint: the rank of an endpoint",
    SimRankProgress: "sim/processes/rank: what a rank has received",
    SimLastOperation: "sim/libraries/collectives/group: the last operation of a rank",
    SimDnnStream: "sim/libraries/dnn/handle: the stream of a handle",
    SimWork: "sim/machine/worker: an idle thread waits for work",
    SimEngine: "sim/machine/worker: the queues of the devices",
    SimGraph: "sim/machine/graphs: a graph",
    SimGraphOrigin: "sim/machine/graphs: the stream where a graph begins",
    SimGraphInstance: "sim/machine/graphs: the executable graph of a graph",
    SimConditions: "sim/machine/graphs: conditions by their numbers",
    SimDependents: "sim/machine/token: the streams that wait for an operation",
    SimAtomic: "sim/kernels/random: one kernel at a time",
    SimSpace: "sim/state: the addresses of the devices",
    SimExports: "sim/state: exported memory",
    SimTouched: "sim/memory/physical: touched pages",
    SimRanks: "sim/processes/rank: all ranks",
    SimRankFailure: "sim/processes/rank: why a rank failed",
    SimUnread: "sim/processes/rank: messages that nobody has read",
    SimKernelFailure: "sim/kernels/user/work: why a kernel failed",
    SimFaults: "sim/faults: failures that tests want",
    SimReports: "sim/block_reports: what kernels report",
    SimThreads: "sim/machine/token: the numbers of threads",
    SimWatched: "sim/host/stray_access: watched addresses",
    ParallelJobs: "parallel/pool: the jobs of the processor's threads",
    ParallelHelpers: "parallel/pool: helpers of a job",
    ParallelOutcome: "parallel: the failure of a part",
    Settings: "caching/settings/in_force: the settings of the allocators",
    SettingsNotes: "caching/settings/notes: what was said of settings",
    NvtxRegions: "memory/nvtx_regions: what a tool knows of blocks",
    NvtxTool: "nvtx/injection, nvtx/memory: the tool is being loaded",
    TensorLarge: "tensor/handle/place: large shapes",
    SlabFree: "collections/slab: free places",
    SlabChunk: "collections/slab: a chunk is being made",
    PoolShared: "collections/pool: places that threads share",
    PoolList: "collections/pool: a list is being made",
    AnnouncementWords: "announcements/words: the words of threads",
    OwnerWords: "caching/biased_lock/owner_words: spare words",
    ProgramFunctions: "program_code/later: functions of the program that wait",
    SanitizerKernels: "sanitizer/checked: names of kernels, streams of handles, calls of other ranks",
    SanitizerPinned: "sanitizer: pinned memory",
    SanitizerGuards: "sanitizer/checked/guards: the zones behind blocks",
    Sanitizer: "sanitizer: the checker",
    SanitizerWaits: "sanitizer/watch: threads that wait",
    Messages: "log: messages that wait for the callback",
}

#[cfg(test)]
mod tests {
    use super::ORDER;

    /// The rows of the page's table: a lock's name and where it is.
    fn rows() -> Vec<(String, String)> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/locks.md");
        let page = std::fs::read_to_string(path).unwrap();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
        let cells = rows.filter_map(|row| row.split_once("` | "));
        // Those of the other table are no single words.
        let cells = cells.filter(|(name, _)| name.chars().all(char::is_alphanumeric));
        cells
            .map(|(name, rest)| {
                (name.to_owned(), rest.split(" |").next().unwrap().replace('`', ""))
            })
            .collect()
    }

    #[test]
    fn the_page_has_the_same_order() {
        let order: Vec<(String, String)> =
            ORDER.iter().map(|class| (class.name.to_owned(), class.what.to_owned())).collect();
        assert_eq!(
            rows(),
            order,
            "docs/design/locks.md has another order than crates/base/src/lock/rank.rs"
        );
    }

    #[test]
    fn each_number_is_a_place() {
        for (place, class) in ORDER.iter().enumerate() {
            assert_eq!(usize::from(class.number), place, "{}", class.name);
        }
    }
}
