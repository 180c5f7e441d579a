//! Work of streams: copies, fills, kernels, host functions, captures and graphs.
#![forbid(unsafe_code)]

use sconce_base::error::{Error, Result};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{
    BestBlock, CaptureMode, CaptureStatus, ConditionHandle, ConditionalKind, Copies, EventHandle,
    GraphExecHandle, GraphHandle, GraphUpdate, Graphs, HostFunction, HostRange, KernelArguments,
    KernelAttributes, KernelHandle, KernelImage, KernelValues, Kernels, LaunchConfig, LaunchShape,
    ModuleCode, ModuleHandle, Modules, RawAddress, StreamFlags, StreamHandle, StreamHead,
    StreamRef, Streams,
};
use sconce_sim::{Intent, declared};

use super::{CheckedDriver, pass_on};
use crate::checker::{Checker, Reading, Use};
use crate::pattern::Pattern;
use crate::pending::{Awaited, HOST_FUNCTION};
use crate::scope;

impl Streams for CheckedDriver {
    pass_on! {
        stream_priority_range(device: DeviceIndex) -> Result<(i32, i32)>;
        stream_check(stream: StreamRef) -> Result<()>;
        stream_id(stream: StreamRef) -> Result<Option<u64>>;
        stream_head(stream: StreamRef) -> Option<StreamHead>;
        stream_priority(stream: StreamRef) -> Result<i32>;
        stream_capture_status(stream: StreamRef) -> Result<CaptureStatus>;
        stream_is_capturing(stream: StreamRef) -> Result<bool>;
        stream_capture_number(stream: StreamRef) -> Result<Option<u64>>;
        stream_seen_capture(stream: StreamRef) -> Option<u64>;
    }

    fn stream_create(
        &self,
        device: DeviceIndex,
        flags: StreamFlags,
        priority: i32,
    ) -> Result<StreamHandle> {
        let handle = self.inner.stream_create(device, flags, priority)?;
        let stream = StreamRef { device, handle };
        self.sanitizer.note(|checker| checker.stream_created(stream, flags.non_blocking));
        Ok(handle)
    }

    fn stream_destroy(&self, stream: StreamRef) -> Result<()> {
        self.sanitizer.note(|checker| checker.stream_destroyed(stream));
        self.inner.stream_destroy(stream)
    }

    fn stream_query(&self, stream: StreamRef) -> Result<bool> {
        self.asks(Awaited::Stream(stream), || self.inner.stream_query(stream))
    }

    fn stream_synchronize(&self, stream: StreamRef) -> Result<()> {
        self.waits(Awaited::Stream(stream), || self.inner.stream_synchronize(stream))
    }

    fn stream_wait_event(&self, stream: StreamRef, event: EventHandle) -> Result<()> {
        let capture = self.sanitizer.capture_of(stream);
        self.inner.stream_wait_event(stream, event)?;
        self.sanitizer.note(|checker| {
            checker.found_capture(stream, capture);
            checker.waits(stream, event.native());
        });
        Ok(())
    }

    /// A thread that watches the word learns of the stream's work without a call. So that the checker sees what threads
    /// wait for, they have to wait in another way.
    fn stream_write_word(&self, _stream: StreamRef, _word: HostRange, _value: u32) -> Result<()> {
        Err(Error::not_supported("words written in stream order are not used with the sanitizer"))
    }

    fn launch_host_function(&self, stream: StreamRef, function: HostFunction) -> Result<()> {
        self.sanitizer.queue(stream, HOST_FUNCTION, None, || {
            self.inner.launch_host_function(stream, function)
        })
    }
}

impl CheckedDriver {
    fn capture_began(&self, stream: StreamRef) {
        let number = self.inner.stream_seen_capture(stream);
        self.sanitizer.note(|checker| checker.capture_began(stream, number));
    }
}

/// How the host sees a copy: memory that is not pinned is read or written by the call itself.
struct CopyUses {
    uses: Vec<Use>,
    /// The call returns when the copy is done.
    is_waited_for: bool,
    /// The call may wait for earlier work of the stream.
    may_wait: bool,
}

impl CheckedDriver {
    fn uses_of_copy(&self, dst: RawAddress, src: RawAddress, sides: [Pattern; 2]) -> CopyUses {
        let [to, from] = sides;
        let is_shared = |address: RawAddress| {
            address.is_known_device_memory()
                || self.sanitizer.is_released(address.get())
                || self.sanitizer.is_pinned_or_device(self.inner, address.get())
        };
        let (to_shared, from_shared) = (is_shared(dst), is_shared(src));
        let mut uses = Vec::new();
        if from_shared {
            let stays = to_shared && !self.sanitizer.is_pinned(dst.get());
            let reading = if stays { Reading::Moves } else { Reading::Uses };
            uses.push(Use { reading, ..Use::new(false, from) });
        }
        if to_shared {
            uses.push(Use::new(true, to));
        }
        CopyUses { uses, is_waited_for: !to_shared, may_wait: !to_shared || !from_shared }
    }

    fn copies(
        &self,
        name: &str,
        stream: StreamRef,
        uses: CopyUses,
        call: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let CopyUses { mut uses, is_waited_for, may_wait } = uses;
        if scope::moves_memory() {
            uses.iter_mut().for_each(|it| it.reading = Reading::Anything);
        }
        let awaited = Awaited::Stream(stream);
        let mut target = None;
        self.sanitizer.queue(stream, name, Some(uses), || {
            target = is_waited_for.then(|| self.target(awaited)).flatten();
            let _watch = may_wait.then(|| self.sanitizer.awaits(awaited));
            call()
        })?;
        self.waited(awaited, target);
        Ok(())
    }
}

/// Rows of a copy or fill. Those that no memory has are empty here: the driver refuses them.
fn rows(address: usize, pitch: usize, width: usize, height: usize) -> Pattern {
    const MOST: usize = 1 << 48;
    if pitch < width || pitch.checked_mul(height).is_none_or(|bytes| bytes > MOST) {
        return Pattern::range(address as u64, 0);
    }
    Pattern::of(&declared::of_rows(Intent::Read, address as u64, pitch, width, height))
}

impl Copies for CheckedDriver {
    fn copy_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let range = |address: RawAddress| Pattern::range(address.get() as u64, bytes as u64);
        let uses = self.uses_of_copy(dst, src, [range(dst), range(src)]);
        self.copies("copy", stream, uses, || self.inner.copy_async(dst, src, bytes, stream))
    }

    fn copy_direct_async(
        &self,
        dst: RawAddress,
        src: RawAddress,
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let range = |address: RawAddress| Pattern::range(address.get() as u64, bytes as u64);
        let uses = self.uses_of_copy(dst, src, [range(dst), range(src)]);
        self.copies("copy", stream, uses, || self.inner.copy_direct_async(dst, src, bytes, stream))
    }

    fn copy_peer_async(
        &self,
        dst: (DeviceIndex, DevicePtr),
        src: (DeviceIndex, DevicePtr),
        bytes: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let read = Use { reading: Reading::Moves, ..Use::reads(src.1.0, bytes as u64) };
        let uses = vec![read, Use::writes(dst.1.0, bytes as u64)];
        let uses = CopyUses { uses, is_waited_for: false, may_wait: false };
        self.copies("peer copy", stream, uses, || {
            self.inner.copy_peer_async(dst, src, bytes, stream)
        })
    }

    fn copy_2d_async(
        &self,
        dst: (RawAddress, usize),
        src: (RawAddress, usize),
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let sides =
            [rows(dst.0.get(), dst.1, width, height), rows(src.0.get(), src.1, width, height)];
        let uses = self.uses_of_copy(dst.0, src.0, sides);
        self.copies("copy of rows", stream, uses, || {
            self.inner.copy_2d_async(dst, src, width, height, stream)
        })
    }

    fn fill_async(&self, dst: DevicePtr, value: u8, bytes: usize, stream: StreamRef) -> Result<()> {
        let uses = vec![Use::writes(dst.0, bytes as u64)];
        self.sanitizer
            .queue(stream, "fill", Some(uses), || self.inner.fill_async(dst, value, bytes, stream))
    }

    fn fill_2d_async(
        &self,
        dst: (DevicePtr, usize),
        value: u8,
        width: usize,
        height: usize,
        stream: StreamRef,
    ) -> Result<()> {
        let pattern = rows(dst.0.0 as usize, dst.1, width, height);
        let uses = vec![Use::new(true, pattern)];
        self.sanitizer.queue(stream, "fill of rows", Some(uses), || {
            self.inner.fill_2d_async(dst, value, width, height, stream)
        })
    }
}

/// What declared accesses are here.
pub(super) fn uses_of(accesses: &[sconce_sim::MemoryAccess]) -> Vec<Use> {
    let of = |access: &sconce_sim::MemoryAccess| {
        Use::new(access.intent() == Intent::Write, Pattern::of(access))
    };
    accesses.iter().map(of).collect()
}

/// The same, with a workspace: what a library reads there it has written in the same operation.
pub(super) fn uses_beside_workspace(
    accesses: &[sconce_sim::MemoryAccess],
    workspace: Option<(DevicePtr, usize)>,
) -> Vec<Use> {
    let mut uses = uses_of(accesses);
    if let Some((address, bytes)) = workspace {
        let range = Pattern::range(address.0, bytes as u64);
        let of_workspace = uses.iter_mut().filter(|it| it.pattern == range);
        of_workspace.for_each(|it| it.reading = Reading::None);
    }
    uses
}

impl CheckedDriver {
    /// `call` drops a module.
    fn drops(&self, module: ModuleHandle, call: impl FnOnce() -> Result<()>) -> Result<()> {
        // Before the call: after it, another module may have its number.
        let was = self.kernels.lock().goes(module);
        call().inspect_err(|_| self.kernels.lock().stays(was))
    }

    fn launches(
        &self,
        kernel: KernelHandle,
        slots: &[u64],
        stream: StreamRef,
        call: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let known = self.kernels.lock().get(kernel).cloned();
        let (name, is_own) = known
            .map_or_else(|| ("kernel".to_owned(), false), |kernel| (kernel.name, kernel.is_own));
        let declared = if is_own { declared::of_kernel(&name, slots) } else { None };
        let uses = declared.map(|accesses| uses_of(&accesses));
        self.sanitizer.queue(stream, &name, uses, call)
    }
}

impl Kernels for CheckedDriver {
    fn module_load(&self, device: DeviceIndex, image: &KernelImage) -> Result<ModuleHandle> {
        let module = self.inner.module_load(device, image)?;
        self.kernels.lock().loaded(module);
        Ok(module)
    }

    fn module_unload(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        self.drops(module, || self.inner.module_unload(device, module))
    }

    fn kernel_find(
        &self,
        device: DeviceIndex,
        module: ModuleHandle,
        name: &str,
    ) -> Result<KernelHandle> {
        let kernel = self.inner.kernel_find(device, module, name)?;
        self.kernels.lock().found(module, kernel, name);
        Ok(kernel)
    }

    fn kernel_launch(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        self.launches(kernel, arguments.slots(), stream, || {
            self.inner.kernel_launch(kernel, shape, arguments, stream)
        })
    }

    fn kernel_launch_wide(
        &self,
        kernel: KernelHandle,
        shape: LaunchShape,
        structure: &[u64],
        stream: StreamRef,
    ) -> Result<()> {
        self.launches(kernel, structure, stream, || {
            self.inner.kernel_launch_wide(kernel, shape, structure, stream)
        })
    }
}

impl Modules for CheckedDriver {
    pass_on! {
        module_load_code(device: DeviceIndex, code: &ModuleCode) -> Result<ModuleHandle>;
        kernel_attributes(device: DeviceIndex, kernel: KernelHandle) -> Result<KernelAttributes>;
        kernel_parameters(device: DeviceIndex, kernel: KernelHandle) -> Result<Option<Vec<usize>>>;
        kernel_allow_shared(device: DeviceIndex, kernel: KernelHandle, bytes: u32) -> Result<()>;
        kernel_occupancy(device: DeviceIndex, kernel: KernelHandle, threads: u32, shared_bytes: u32) -> Result<u32>;
        kernel_best_block(device: DeviceIndex, kernel: KernelHandle, shared_bytes: u32, most_threads: u32)
            -> Result<BestBlock>;
    }

    fn module_release(&self, device: DeviceIndex, module: ModuleHandle) -> Result<()> {
        self.drops(module, || self.inner.module_release(device, module))
    }

    fn kernel_launch_values(
        &self,
        kernel: KernelHandle,
        config: &LaunchConfig,
        values: &KernelValues<'_>,
        stream: StreamRef,
        asks_captured: bool,
    ) -> Result<bool> {
        let known = self.kernels.lock().get(kernel).map(|kernel| kernel.name.clone());
        let name = known.unwrap_or_else(|| "kernel".to_owned());
        let declared = scope::take_launch();
        if scope::is_open() {
            self.sanitizer.tell(Checker::may_write_elsewhere);
        }
        self.sanitizer.queue(stream, &name, declared, || {
            self.inner.kernel_launch_values(kernel, config, values, stream, asks_captured)
        })
    }
}

impl Graphs for CheckedDriver {
    pass_on! {
        graph_node_count(graph: GraphHandle) -> Result<usize>;
        graph_debug_dump(graph: GraphHandle, path: &str, flags: u32) -> Result<()>;
        graph_upload(exec: GraphExecHandle, stream: StreamRef) -> Result<()>;
        condition_create(stream: StreamRef) -> Result<ConditionHandle>;
    }

    fn capture_begin(&self, stream: StreamRef, mode: CaptureMode) -> Result<()> {
        self.guards.capture_begins(|| self.inner.capture_begin(stream, mode))?;
        self.capture_began(stream);
        Ok(())
    }

    fn capture_begin_body(
        &self,
        stream: StreamRef,
        body: GraphHandle,
        mode: CaptureMode,
    ) -> Result<()> {
        self.guards.capture_begins(|| self.inner.capture_begin_body(stream, body, mode))?;
        self.capture_began(stream);
        Ok(())
    }

    fn capture_end(&self, stream: StreamRef) -> Result<GraphHandle> {
        let ended = self.inner.capture_end(stream);
        self.guards.capture_ended();
        let graph = ended.as_ref().ok().map(|graph| graph.native());
        self.sanitizer.note(|checker| checker.capture_ended(stream, graph));
        ended
    }

    fn graph_destroy(&self, graph: GraphHandle) -> Result<()> {
        self.sanitizer.note(|checker| checker.graph_destroyed(graph.native()));
        self.inner.graph_destroy(graph)
    }

    fn graph_instantiate(
        &self,
        device: DeviceIndex,
        graph: GraphHandle,
    ) -> Result<GraphExecHandle> {
        let executable = self.inner.graph_instantiate(device, graph)?;
        self.sanitizer.note(|checker| checker.instantiated(executable.native(), graph.native()));
        Ok(executable)
    }

    fn graph_update(&self, exec: GraphExecHandle, graph: GraphHandle) -> Result<GraphUpdate> {
        let updated = self.inner.graph_update(exec, graph)?;
        if updated == GraphUpdate::Done {
            self.sanitizer.note(|checker| checker.instantiated(exec.native(), graph.native()));
        }
        Ok(updated)
    }

    fn graph_launch(&self, exec: GraphExecHandle, stream: StreamRef) -> Result<()> {
        let capture = self.sanitizer.capture_of(stream);
        let launched = |checker: &mut Checker| {
            checker.found_capture(stream, capture);
            checker.launched(exec.native(), stream)
        };
        self.sanitizer.attempt(launched, || self.inner.graph_launch(exec, stream))
    }

    fn graph_exec_destroy(&self, exec: GraphExecHandle) -> Result<()> {
        self.sanitizer.note(|checker| checker.executable_destroyed(exec.native()));
        self.inner.graph_exec_destroy(exec)
    }

    fn conditional_add(
        &self,
        stream: StreamRef,
        condition: ConditionHandle,
        kind: ConditionalKind,
        bodies: usize,
    ) -> Result<Vec<GraphHandle>> {
        let bodies = self.inner.conditional_add(stream, condition, kind, bodies)?;
        let numbers: Vec<usize> = bodies.iter().map(|body| body.native()).collect();
        self.sanitizer.note(|checker| checker.bodies_added(stream, &numbers));
        Ok(bodies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_no_memory_has_are_empty() {
        assert_eq!(rows(64, 16, 8, 3).end(), 64 + 2 * 16 + 8);
        for (pitch, width, height) in [(7, 8, 3), (usize::MAX, 8, 3), (usize::MAX / 2, 8, 4)] {
            assert!(rows(64, pitch, width, height).is_empty(), "{pitch} {width} {height}");
        }
    }
}
