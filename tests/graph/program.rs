//! A program that uses everything a graph may contain and everything a graph can do, for [`super::faults`].
#![allow(unsafe_code, reason = "calls the C API")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

use sconce::sconce_status::*;
use sconce::*;
use testkit::last_message;
use testkit::simulated::launch_desc;
use testkit::statuses::ok;

use crate::support;

/// Of the memory that the capture allocates and that the program returns.
const BYTES: usize = 64 << 10;
const PINNED: usize = 1 << 16;
const NUMBERS: usize = 1000;
const NUMBERS_OF_BODY: usize = 100;

/// A call that has failed.
pub(crate) struct Failure {
    pub(crate) status: sconce_status,
    pub(crate) message: String,
}

type Outcome<T> = Result<T, Failure>;

fn done(status: sconce_status) -> Outcome<()> {
    if status == SCONCE_OK { Ok(()) } else { Err(Failure { status, message: last_message() }) }
}

/// Memory of the current device.
struct Block(*mut c_void);

impl Block {
    fn new(bytes: usize) -> Outcome<Block> {
        let mut address = null_mut();
        // SAFETY: a writable place.
        done(unsafe { sconce_memory_alloc(bytes, &raw mut address) })?;
        Ok(Block(address))
    }

    fn at(&self, distance: usize) -> *mut c_void {
        self.0.wrapping_byte_add(distance)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        ok(sconce_memory_free(self.0));
    }
}

/// Pinned memory that holds one value.
struct Pinned(*mut c_void);

impl Pinned {
    fn new(value: u8) -> Outcome<Pinned> {
        let mut address = null_mut();
        // SAFETY: a writable place.
        done(unsafe { sconce_host_memory_alloc(PINNED, &raw mut address) })?;
        // SAFETY: as long as this.
        unsafe { address.cast::<u8>().write_bytes(value, PINNED) };
        Ok(Pinned(address))
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        ok(sconce_host_memory_free(self.0));
    }
}

struct Event(*mut sconce_event);

impl Event {
    fn new() -> Outcome<Event> {
        let mut event = null_mut();
        // SAFETY: a writable place.
        done(unsafe { sconce_event_create(0, &raw mut event) })?;
        Ok(Event(event))
    }

    /// Lets later work of one stream wait for what another has queued.
    fn order(&self, before: sconce_stream, after: sconce_stream) -> Outcome<()> {
        done(sconce_event_record(self.0, before))?;
        done(sconce_stream_wait_event(after, self.0))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        ok(sconce_event_destroy(self.0));
    }
}

/// A graph, which is destroyed in any state.
struct Graph(*mut sconce_graph);

impl Graph {
    fn new() -> Graph {
        Graph(support::graph(true))
    }

    fn pool(&self) -> Outcome<*mut sconce_memory_pool> {
        let mut pool = null_mut();
        // SAFETY: a writable place.
        done(unsafe { sconce_graph_get_pool(self.0, &raw mut pool) })?;
        Ok(pool)
    }

    fn destroy(self) -> Outcome<()> {
        let graph = self.0;
        std::mem::forget(self);
        done(sconce_graph_destroy(graph))
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // Another call has failed already: either works or says why, and both leave nothing captured.
        if sconce_graph_destroy(self.0) == SCONCE_ERROR_INVALID_STATE {
            let _ = sconce_graph_capture_abort(self.0);
            let _ = sconce_graph_destroy(self.0);
        }
    }
}

/// The name of the program's own kernel.
const WORD: &CStr = c"word";

static CALLED: AtomicU64 = AtomicU64::new(0);

unsafe extern "C" fn count(_user: *mut c_void) {
    CALLED.fetch_add(1, Ordering::SeqCst);
}

/// The function of the program's own kernel: writes a word to the address that is its argument.
unsafe extern "C" fn write_word(launch: *mut sconce_sim_launch, _user: *mut c_void) {
    let word = 0x5ca1_ab1e_u32;
    // SAFETY: the launch is the simulator's.
    let arguments = unsafe { (*launch).arguments };
    // SAFETY: the launch has one argument.
    let argument = unsafe { arguments.read() };
    // SAFETY: the argument has 8 bytes.
    let address = unsafe { argument.cast::<u64>().read_unaligned() };
    // SAFETY: four readable bytes.
    let status = unsafe { sconce_sim_kernel_write(address, 4, (&raw const word).cast()) };
    assert_eq!(status, SCONCE_OK);
}

/// The module with the program's kernel. No device has loaded it.
fn module() -> *mut sconce_module {
    let code = c".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry word()\n{ ret; }\n";
    let (sizes, mut module) = ([8_usize], null_mut());
    let (function, nobody): (sconce_sim_kernel_function, _) = (Some(write_word), null_mut());
    let (name, sizes) = (WORD.as_ptr(), sizes.as_ptr());
    // SAFETY: a text, the size of a parameter, and a function for any thread.
    ok(unsafe { sconce_sim_register_kernel(name, sizes, 1, 32, 0, function, nobody, None) });
    let (text, bytes) = (code.as_ptr().cast(), code.count_bytes());
    // SAFETY: readable bytes and a writable place.
    ok(unsafe { sconce_module_load(text, bytes, &raw mut module) });
    module
}

/// What the program finds: streams, memory, a generator, a module.
pub(crate) struct Setup {
    stream: sconce_stream,
    side: sconce_stream,
    body: sconce_stream,
    output: Block,
    /// The output of each replay.
    results: [Block; 4],
    flag: Block,
    /// Memory of other code, of which the driver is asked.
    foreign: *mut c_void,
    generator: *mut sconce_generator,
    module: *mut sconce_module,
}

impl Setup {
    pub(crate) fn new() -> Setup {
        let (stream, side) = (support::current_stream(), support::pool_stream());
        let block = |bytes| Block::new(bytes).ok().expect("memory");
        let (output, flag) = (block(BYTES), block(4));
        ok(support::set(flag.0, 1, 4));
        let mut foreign = null_mut();
        // SAFETY: a writable place.
        ok(unsafe { sconce_sim_memory_alloc(0, 4096, &raw mut foreign) });
        ok(support::set(foreign, 44, 4096));
        ok(sconce_device_synchronize(0));
        let generator = testkit::simulated::generator(5);
        let body = support::pool_stream();
        let results = [(); 4].map(|()| block(BYTES));
        Setup { stream, side, body, output, results, flag, foreign, generator, module: module() }
    }

    /// Whether a stream of the program is being captured.
    pub(crate) fn is_capturing(&self) -> bool {
        [self.stream, self.side, self.body].into_iter().any(support::is_capturing)
    }

    /// Everything of the program.
    pub(crate) fn run(&self) -> Outcome<()> {
        done(sconce_generator_set_seed(self.generator, 99))?;
        done(sconce_generator_prepare_capture(self.generator))?;
        // The memory for the graphs' numbers is ready, so that each run makes the same calls.
        done(sconce_device_synchronize(0))?;
        let [plain, other, conditional] = [(); 3].map(|()| Graph::new());
        let before = CALLED.load(Ordering::SeqCst);
        self.capture(&plain, null_mut(), 3, false)?;
        done(sconce_graph_instantiate(plain.0))?;
        done(sconce_graph_upload(plain.0, self.stream))?;
        self.replay(&plain, &self.results[0])?;
        self.capture(&other, plain.pool()?, 4, false)?;
        let mut updated = false;
        // SAFETY: a writable place.
        done(unsafe { sconce_graph_update(plain.0, other.0, &raw mut updated) })?;
        assert!(updated, "the graphs have the same nodes");
        self.replay(&plain, &self.results[1])?;
        // SAFETY: a NUL-terminated path.
        done(unsafe { sconce_graph_debug_dump(plain.0, c"/dev/null".as_ptr(), 0) })?;
        done(sconce_graph_instantiate(plain.0))?;
        self.replay(&plain, &self.results[2])?;
        self.capture(&conditional, null_mut(), 5, true)?;
        done(sconce_graph_instantiate(conditional.0))?;
        self.replay(&conditional, &self.results[3])?;
        self.draw_behind(&conditional)?;
        done(sconce_graph_reset(conditional.0))?;
        // Destroyed in this order: another graph keeps the pool.
        for graph in [plain, other, conditional] {
            graph.destroy()?;
        }
        assert_eq!(CALLED.load(Ordering::SeqCst) - before, 5, "a launch calls the function once");
        // After the host functions no graph gives memory back by itself.
        done(sconce_memory_empty_cache())
    }

    /// Launches a graph whose draws only the device knows, fills behind it, and reads the generator's state.
    fn draw_behind(&self, graph: &Graph) -> Outcome<()> {
        // The launch is pending until the fills are queued.
        ok(sconce_sim_set_manual(CBool::TRUE));
        let queued = self.queue_behind(graph);
        ok(sconce_sim_set_manual(CBool::FALSE));
        queued?;
        done(sconce_stream_synchronize(self.stream))?;
        done(sconce_stream_synchronize(self.side))?;
        let mut offset = 0;
        // SAFETY: a writable place.
        done(unsafe { sconce_generator_get_offset(self.generator, &raw mut offset) })
    }

    fn queue_behind(&self, graph: &Graph) -> Outcome<()> {
        done(sconce_graph_replay(graph.0, self.stream))?;
        for (stream, at) in [(self.stream, 0), (self.side, 4 * NUMBERS_OF_BODY)] {
            let (place, kind, few) = (self.results[3].at(at), SCONCE_DTYPE_F32, NUMBERS_OF_BODY);
            done(sconce_random_uniform_on(place, few, kind, 0.0, 1.0, self.generator, stream))?;
        }
        Ok(())
    }

    /// Launches a graph, keeps its output and waits.
    fn replay(&self, graph: &Graph, result: &Block) -> Outcome<()> {
        done(sconce_graph_replay(graph.0, self.stream))?;
        done(support::copy(result.0, self.output.0, BYTES))?;
        done(sconce_stream_synchronize(self.stream))
    }

    /// What the last run has computed: the output of each replay.
    pub(crate) fn results(&self) -> Vec<Vec<u8>> {
        let read = |result: &Block| {
            let mut data = vec![0_u8; BYTES];
            // SAFETY: memory of a device, and a writable place of this size.
            ok(unsafe { sconce_sim_memory_read(result.0, BYTES, data.as_mut_ptr().cast()) });
            data
        };
        self.results.iter().map(read).collect()
    }

    fn capture(
        &self,
        graph: &Graph,
        pool: *mut sconce_memory_pool,
        value: u8,
        conditional: bool,
    ) -> Outcome<()> {
        done(sconce_graph_capture_begin(graph.0, self.stream, pool, SCONCE_CAPTURE_GLOBAL))?;
        let inside = Block::new(BYTES)?;
        let pinned = Pinned::new(value + 100)?;
        done(support::set(inside.0, value, BYTES))?;
        // SAFETY: memory of a device is checked.
        done(unsafe { sconce_memory_set_2d(inside.at(BYTES / 2), 64, value + 1, 24, 5) })?;
        done(support::copy(inside.at(4096), pinned.0, 1000))?;
        // SAFETY: both addresses are memory of a device, which the call checks.
        done(unsafe {
            sconce_copy_2d(inside.at(8192), 64, inside.at(4096), 32, 24, 5, CBool::TRUE)
        })?;
        done(support::copy(inside.at(12 << 10), self.foreign, 1000))?;
        let (left, joined) = (Event::new()?, Event::new()?);
        left.order(self.stream, self.side)?;
        let drawn = inside.at(16 << 10);
        done(sconce_random_uniform_on(
            drawn,
            NUMBERS,
            SCONCE_DTYPE_F32,
            0.0,
            1.0,
            self.generator,
            self.side,
        ))?;
        joined.order(self.side, self.stream)?;
        self.launch(inside.at(48 << 10))?;
        // SAFETY: the function takes no pointer.
        done(unsafe { sconce_stream_launch_host_function(self.stream, Some(count), null_mut()) })?;
        if conditional {
            self.branch(graph, inside.at(56 << 10))?;
        }
        done(support::copy(self.output.0, inside.0, BYTES))?;
        done(sconce_graph_capture_end(graph.0))
    }

    /// A conditional node with two bodies.
    fn branch(&self, graph: &Graph, place: *mut c_void) -> Outcome<()> {
        let mut condition = 0;
        // SAFETY: a writable place.
        done(unsafe { sconce_graph_condition_create(graph.0, &raw mut condition) })?;
        // SAFETY: memory of a device is checked.
        done(unsafe {
            sconce_graph_condition_set(graph.0, condition, self.flag.0, 4, self.stream)
        })?;
        done(sconce_graph_conditional_begin(graph.0, condition, SCONCE_GRAPH_IF, 2, self.body))?;
        // SAFETY: memory of a device is checked.
        done(unsafe { sconce_memory_set_on(place, 71, 100, self.body) })?;
        // Its numbers are known to the device alone.
        let drawn = place.wrapping_byte_add(128);
        let (kind, few) = (SCONCE_DTYPE_F32, NUMBERS_OF_BODY);
        done(sconce_random_uniform_on(drawn, few, kind, 0.0, 1.0, self.generator, self.body))?;
        done(sconce_graph_conditional_next(graph.0))?;
        // SAFETY: memory of a device is checked.
        done(unsafe { sconce_memory_set_on(place, 72, 100, self.body) })?;
        done(sconce_graph_conditional_end(graph.0))
    }

    /// Launches the program's kernel. Its first use loads the module.
    fn launch(&self, address: *mut c_void) -> Outcome<()> {
        let mut kernel = null_mut();
        // SAFETY: a text and a writable place.
        done(unsafe { sconce_kernel_get(self.module, WORD.as_ptr(), &raw mut kernel) })?;
        let shape = launch_desc(1, 1);
        let value = address.addr();
        let arguments: [*const c_void; 1] = [(&raw const value).cast()];
        // SAFETY: a whole description, and one argument of its size.
        done(unsafe {
            sconce_kernel_launch(kernel, &raw const shape, arguments.as_ptr(), [8].as_ptr(), 1)
        })
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        ok(sconce_generator_destroy(self.generator));
        ok(sconce_sim_memory_free(self.foreign));
    }
}
