//! The kinds of driver calls, and how often each was made.
//!
//! One kind for each method of the traits of [`Driver`](sconce_driver::Driver), then one for each call of the objects
//! that products, convolutions and transforms are made with. Counting happens at entry, so refused and failed calls
//! count too.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! calls {
    ($($variant:ident = $name:literal),* $(,)?) => {
        /// A kind of driver call, named as the method of its trait.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(usize)]
        pub enum Call {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Call {
            /// Every kind, in the order of the traits.
            pub const ALL: &'static [Call] = &[$(Call::$variant),*];

            /// The method's name.
            pub const fn name(self) -> &'static str {
                match self { $(Call::$variant => $name),* }
            }
        }
    };
}

calls! {
    DeviceCount = "device_count",
    DeviceProperties = "device_properties",
    DeviceSynchronize = "device_synchronize",
    DeviceProcesses = "device_processes",
    CanAccessPeer = "can_access_peer",
    EnablePeerAccess = "enable_peer_access",
    ContextIsActive = "context_is_active",
    BindDevice = "bind_device",
    UnbindDevice = "unbind_device",
    CurrentContext = "current_context",
    CurrentDevice = "current_device",
    ExchangeCaptureMode = "exchange_capture_mode",
    MemoryInfo = "memory_info",
    MemoryAlloc = "memory_alloc",
    MemoryFree = "memory_free",
    PointerInfo = "pointer_info",
    HostAlloc = "host_alloc",
    HostFree = "host_free",
    HostRegister = "host_register",
    HostUnregister = "host_unregister",
    VirtualGranularity = "virtual_granularity",
    VirtualReserve = "virtual_reserve",
    VirtualRelease = "virtual_release",
    PhysicalCreate = "physical_create",
    PhysicalRelease = "physical_release",
    PhysicalRetain = "physical_retain",
    VirtualMap = "virtual_map",
    VirtualUnmap = "virtual_unmap",
    VirtualSetAccess = "virtual_set_access",
    PhysicalExport = "physical_export",
    PhysicalImport = "physical_import",
    StreamPriorityRange = "stream_priority_range",
    StreamCreate = "stream_create",
    StreamDestroy = "stream_destroy",
    StreamCheck = "stream_check",
    StreamId = "stream_id",
    StreamQuery = "stream_query",
    StreamSynchronize = "stream_synchronize",
    StreamPriority = "stream_priority",
    StreamIsCapturing = "stream_is_capturing",
    StreamWaitEvent = "stream_wait_event",
    StreamWriteWord = "stream_write_word",
    LaunchHostFunction = "launch_host_function",
    EventCreate = "event_create",
    EventDestroy = "event_destroy",
    EventRecord = "event_record",
    EventQuery = "event_query",
    EventSynchronize = "event_synchronize",
    EventElapsedMs = "event_elapsed_ms",
    CopyAsync = "copy_async",
    CopyPeerAsync = "copy_peer_async",
    Copy2dAsync = "copy_2d_async",
    FillAsync = "fill_async",
    Fill2dAsync = "fill_2d_async",
    ModuleLoad = "module_load",
    ModuleUnload = "module_unload",
    KernelFind = "kernel_find",
    KernelLaunch = "kernel_launch",
    ModuleLoadCode = "module_load_code",
    ModuleRelease = "module_release",
    KernelAttributes = "kernel_attributes",
    KernelParameters = "kernel_parameters",
    KernelAllowShared = "kernel_allow_shared",
    KernelOccupancy = "kernel_occupancy",
    KernelBestBlock = "kernel_best_block",
    KernelLaunchValues = "kernel_launch_values",
    CaptureBegin = "capture_begin",
    CaptureEnd = "capture_end",
    GraphNodeCount = "graph_node_count",
    GraphDebugDump = "graph_debug_dump",
    GraphDestroy = "graph_destroy",
    GraphInstantiate = "graph_instantiate",
    GraphUpdate = "graph_update",
    GraphUpload = "graph_upload",
    GraphLaunch = "graph_launch",
    GraphExecDestroy = "graph_exec_destroy",
    ConditionCreate = "condition_create",
    ConditionalAdd = "conditional_add",
    CaptureBeginBody = "capture_begin_body",
    IpcMemoryExport = "ipc_memory_export",
    IpcMemoryOpen = "ipc_memory_open",
    IpcMemoryClose = "ipc_memory_close",
    IpcEventExport = "ipc_event_export",
    IpcEventOpen = "ipc_event_open",
    BlasCreate = "blas_create",
    DnnCreate = "dnn_create",
    DnnVersion = "dnn_version",
    FftPlan = "fft_plan",
    FftMostPlans = "fft_most_plans",
    CompileSource = "compile_source",
    CommVersion = "comm_version",
    CommUniqueId = "comm_unique_id",
    CommCreate = "comm_create",
    CommGroupStart = "comm_group_start",
    CommGroupEnd = "comm_group_end",
    // What the libraries' objects do.
    BlasSetStream = "blas_set_stream",
    BlasSetWorkspace = "blas_set_workspace",
    BlasSetMathMode = "blas_set_math_mode",
    BlasIsSet = "blas_is_set",
    BlasGemm = "blas_gemm",
    DnnSetStream = "dnn_set_stream",
    DnnIsSet = "dnn_is_set",
    DnnEngines = "dnn_engines",
    DnnPlan = "dnn_plan",
    DnnPlanDestroy = "dnn_plan_destroy",
    DnnExecute = "dnn_execute",
    FftExecute = "fft_execute",
    CommQueue = "comm_queue",
    CommSplit = "comm_split",
    CommFinalize = "comm_finalize",
    CommAbort = "comm_abort",
}

impl Call {
    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Call> {
        Call::ALL.iter().copied().find(|call| call.name() == name)
    }
}

/// One counter a kind.
pub(crate) struct Counters(Vec<AtomicU64>);

impl Counters {
    pub(crate) fn new() -> Counters {
        Counters(Call::ALL.iter().map(|_| AtomicU64::new(0)).collect())
    }

    pub(crate) fn add(&self, call: Call) {
        self.0[call as usize].fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn get(&self, call: Call) -> u64 {
        self.0[call as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn reset(&self) {
        for counter in &self.0 {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_a_kind_for_each_method_of_the_traits_in_their_order() {
        let files = [
            include_str!("../../driver/src/contract/devices.rs"),
            include_str!("../../driver/src/contract/contexts.rs"),
            include_str!("../../driver/src/contract/captures.rs"),
            include_str!("../../driver/src/contract/memory.rs"),
            include_str!("../../driver/src/contract/host_memory.rs"),
            include_str!("../../driver/src/contract/virtual_memory.rs"),
            include_str!("../../driver/src/contract/streams.rs"),
            include_str!("../../driver/src/contract/events.rs"),
            include_str!("../../driver/src/contract/copies.rs"),
            include_str!("../../driver/src/contract/kernels.rs"),
            include_str!("../../driver/src/contract/modules/mod.rs"),
            include_str!("../../driver/src/contract/graphs.rs"),
            include_str!("../../driver/src/contract/ipc.rs"),
            include_str!("../../driver/src/contract/libraries/blas.rs"),
            include_str!("../../driver/src/contract/libraries/dnn.rs"),
            include_str!("../../driver/src/contract/libraries/fft.rs"),
            include_str!("../../driver/src/contract/libraries/compiler.rs"),
            include_str!("../../driver/src/contract/libraries/collectives.rs"),
        ];
        let methods: Vec<&str> = files
            .iter()
            .flat_map(|file| {
                let start = file.find(": Send + Sync {").unwrap();
                let end = start + file[start..].find("\n}").unwrap();
                file[start..end].lines()
            })
            .filter_map(|line| line.strip_prefix("    fn "))
            .filter_map(|rest| rest.split('(').next())
            // A copy is one kind of call, whatever the caller knows of the addresses, and so are a launch of a kernel
            // of the library, however many slots its arguments have, and a question for captures, however it is put.
            // Calls of the collectives' library that still run are counted without a call of a driver. What a stream is
            // at is asked for reports alone.
            .filter(|name| {
                let others = [
                    "copy_direct_async",
                    "kernel_launch_wide",
                    "stream_capture_status",
                    "stream_capture_number",
                    "stream_seen_capture",
                    "stream_head",
                    "comm_pending",
                ];
                !others.contains(name)
            })
            .collect();
        let kinds: Vec<&str> = Call::ALL.iter().map(|call| call.name()).collect();
        assert_eq!(methods, kinds[..methods.len()]);
        let of_libraries =
            |name: &&str| ["blas_", "dnn_", "fft_", "comm_"].iter().any(|l| name.starts_with(l));
        assert!(kinds[methods.len()..].iter().all(of_libraries));
    }

    #[test]
    fn names_lead_back_to_kinds() {
        for call in Call::ALL {
            assert_eq!(Call::from_name(call.name()), Some(*call));
        }
        assert_eq!(Call::from_name("cuMemAlloc"), None);
    }
}
