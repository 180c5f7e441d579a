//! A device that can capture: it runs kernels at once, or keeps them for replays. Launches of graphs stay pending until
//! the test ends them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use sconce_base::collections::slab::Key;
use sconce_base::element::Dtype;
use sconce_base::error::{Error, Result, Status};
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{KernelArguments, StreamHandle, StreamRef};
use sconce_math::philox::{DeviceShape, Distribution, Fill, evaluate};

use crate::random::device::{Arena, DeviceWork, HostPair, NewestUse, RandomKernel, prepare};
use crate::random::fill::{FillTarget, launch};
use crate::random::generator::{self, with_state};
use crate::random::graph_draws::GraphDraws;
use crate::random::numbers;
use crate::random::stream_capture::{CapturingWork, StreamCapture};

pub(super) const SHAPE: DeviceShape =
    DeviceShape { multi_processors: 2, threads_per_multi_processor: 512 };
pub(super) const STREAM: StreamRef = StreamRef {
    device: DeviceIndex::ZERO,
    handle: StreamHandle::from_driver(crate::testing::FORGED, 8),
};
pub(super) const OTHER: StreamRef = StreamRef {
    device: DeviceIndex::ZERO,
    handle: StreamHandle::from_driver(crate::testing::FORGED, 16),
};
pub(super) const OUT: DevicePtr = DevicePtr(0x10_0000);

pub(super) type Launch = (RandomKernel, Vec<u64>);

/// What a fill drew: where its piece of the sequence began.
pub(super) type Drawn = (u64, u64);

pub(super) struct FakeDevice {
    pub(super) words: RefCell<HashMap<u64, u64>>,
    pub(super) out: RefCell<Vec<u8>>,
    pub(super) capturing: RefCell<Option<Vec<Launch>>>,
    /// What the graph that is captured draws; `None` for a capture of other code.
    pub(super) draws: RefCell<Option<Arc<GraphDraws>>>,
    pub(super) is_in_body: Cell<bool>,
    pub(super) arena: &'static Arena,
    /// Has no memory for the store.
    pub(super) is_full: Cell<bool>,
    /// Launches are not done yet, as far as the host knows.
    pub(super) is_busy: Cell<bool>,
    pub(super) drawn: RefCell<Vec<Drawn>>,
    /// The slot of each taking, with the stream it was queued on.
    pub(super) taken: RefCell<Vec<(StreamHandle, u64)>>,
}

impl Default for FakeDevice {
    fn default() -> FakeDevice {
        FakeDevice {
            words: RefCell::default(),
            out: RefCell::default(),
            capturing: RefCell::default(),
            draws: RefCell::default(),
            is_in_body: Cell::default(),
            arena: Box::leak(Box::new(Arena::new())),
            is_full: Cell::default(),
            is_busy: Cell::default(),
            drawn: RefCell::default(),
            taken: RefCell::default(),
        }
    }
}

/// A captured graph.
pub(super) struct Graph {
    pub(super) nodes: Vec<Launch>,
    pub(super) draws: Option<Arc<GraphDraws>>,
}

impl FakeDevice {
    pub(super) fn word(&self, address: u64) -> u64 {
        *self.words.borrow().get(&address).unwrap_or(&0)
    }

    pub(super) fn set_word(&self, address: u64, value: u64) {
        assert!(address.is_multiple_of(8));
        self.words.borrow_mut().insert(address, value);
    }

    pub(super) fn run(&self, (kernel, arguments): &Launch) {
        match kernel {
            RandomKernel::Take => {
                let [record, increment, slot, seed, offset] = arguments[..] else { panic!() };
                let taken = self.word(record + 8);
                self.set_word(record + 8, taken.wrapping_add(increment));
                self.set_word(slot, seed ^ self.word(record));
                self.set_word(slot + 8, offset.wrapping_add(taken));
            }
            RandomKernel::Permute => panic!("no fill permutes"),
            RandomKernel::Fill(fill) => {
                let [address, n, mut seed, mut offset, threads, first, second, state] =
                    arguments[..]
                else {
                    panic!()
                };
                assert_eq!((first, second), (fill.first, fill.second));
                if state != 0 {
                    seed = self.word(state);
                    offset = offset.wrapping_add(self.word(state + 8));
                }
                self.drawn.borrow_mut().push((seed, offset));
                let bytes = fill.dtype.bytes();
                let begin = (address - OUT.0) as usize;
                let mut out = self.out.borrow_mut();
                let length = out.len().max(begin + n as usize * bytes);
                out.resize(length, 0);
                evaluate::<()>(fill, n, seed, offset, threads, |element, run| {
                    let at = begin + element as usize * bytes;
                    out[at..at + run.len()].copy_from_slice(run);
                    Ok(())
                })
                .unwrap();
            }
        }
    }

    /// Captures into a graph of this library.
    pub(super) fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        *self.draws.borrow_mut() = Some(Arc::new(GraphDraws::new(self, DeviceIndex::ZERO)));
        self.capture_by_other_code(work)
    }

    pub(super) fn capture_by_other_code(&self, work: impl FnOnce() -> Result<()>) -> Result<Graph> {
        *self.capturing.borrow_mut() = Some(Vec::new());
        let result = work();
        let nodes = self.capturing.borrow_mut().take().unwrap();
        let draws = self.draws.borrow_mut().take();
        result.map(|()| Graph { nodes, draws })
    }

    /// Launches a graph. Returns what the fills wrote.
    pub(super) fn replay(&self, graph: &Graph) -> Vec<u8> {
        self.out.borrow_mut().clear();
        let mut nodes = || {
            graph.nodes.iter().for_each(|launch| self.run(launch));
            Ok(())
        };
        match &graph.draws {
            Some(draws) => draws.launch_on(self, STREAM, &mut nodes).unwrap(),
            None => nodes().unwrap(),
        }
        self.out.borrow().clone()
    }
}

impl CapturingWork for FakeDevice {
    fn capture(&self, _: StreamRef) -> Result<StreamCapture> {
        let is_in_body = self.is_in_body.get();
        Ok(match &*self.draws.borrow() {
            Some(draws) => StreamCapture::Graph { draws: Arc::clone(draws), is_in_body },
            None => StreamCapture::Other,
        })
    }
}

impl DeviceWork for FakeDevice {
    fn is_capturing(&self, _: StreamRef) -> Result<bool> {
        Ok(self.capturing.borrow().is_some())
    }

    fn load(&self, _: DeviceIndex, _: RandomKernel) -> Result<()> {
        Ok(())
    }

    fn launch(
        &self,
        kernel: RandomKernel,
        grid: [u32; 2],
        block: u32,
        arguments: &KernelArguments,
        stream: StreamRef,
    ) -> Result<()> {
        assert!(grid[0] > 0 && grid[1] > 0 && block > 0);
        let launch = (kernel, arguments.slots().to_vec());
        if matches!(kernel, RandomKernel::Take) {
            self.taken.borrow_mut().push((stream.handle, launch.1[2]));
        }
        match &mut *self.capturing.borrow_mut() {
            Some(graph) => graph.push(launch),
            None => self.run(&launch),
        }
        Ok(())
    }

    fn arena(&self, _: DeviceIndex) -> &'static Arena {
        self.arena
    }

    fn allocate_chunk(&self, _: DeviceIndex) -> Result<(DevicePtr, NewestUse)> {
        if self.is_full.get() {
            return Err(Error::new(Status::OutOfMemory, "the device is full"));
        }
        Ok((DevicePtr(0x1000), NewestUse::default()))
    }

    fn mark(&self, _: StreamRef, _: &mut NewestUse) -> Result<()> {
        Ok(())
    }

    fn follow(&self, _: StreamRef, _: &NewestUse) -> Result<()> {
        Ok(())
    }

    fn is_past(&self, _: &NewestUse) -> Result<bool> {
        Ok(!self.is_busy.get())
    }

    fn wait(&self, _: &NewestUse) -> Result<()> {
        self.is_busy.set(false);
        Ok(())
    }

    fn companion(&self, stream: StreamRef, _: DeviceIndex) -> Result<StreamRef> {
        Ok(stream)
    }

    fn new_pair(&self, _: DeviceIndex) -> Result<&'static HostPair> {
        Ok(Box::leak(Box::default()))
    }

    fn told(&self, pair: &'static HostPair) -> [u64; 2] {
        let address = pair.as_ptr().addr() as u64;
        [self.word(address), self.word(address + 8)]
    }

    fn on_new_stream(
        &self,
        _: DeviceIndex,
        queue: &mut dyn FnMut(StreamRef) -> Result<()>,
    ) -> Result<()> {
        queue(STREAM)
    }

    fn read(&self, _: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]> {
        Ok([self.word(place.0), self.word(place.0 + 8)])
    }

    fn write(&self, _: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()> {
        self.set_word(place.0, pair[0]);
        self.set_word(place.0 + 8, pair[1]);
        Ok(())
    }
}

impl FakeDevice {
    pub(super) fn prepared() -> FakeDevice {
        let device = FakeDevice::default();
        prepare(&device, DeviceIndex::ZERO).unwrap();
        device
    }

    pub(super) fn fill(&self, key: Key, n: u64, stream: StreamRef) -> Result<()> {
        self.fill_at(key, n, OUT, stream)
    }

    pub(super) fn fill_at(
        &self,
        key: Key,
        n: u64,
        ptr: DevicePtr,
        stream: StreamRef,
    ) -> Result<()> {
        let fill = Fill::real(Distribution::Normal, Dtype::F32, 0.0, 1.0);
        launch(self, key, &fill, FillTarget { ptr, n, shape: SHAPE }, stream)
    }

    pub(super) fn eager(&self, key: Key, n: u64) -> Vec<u8> {
        self.out.borrow_mut().clear();
        self.fill(key, n, STREAM).unwrap();
        self.out.borrow().clone()
    }

    /// Seed and offset of a generator, wherever they are.
    pub(super) fn truth(&self, key: Key) -> (u64, u64) {
        with_state(key, |state| {
            state.return_to_host_if_done(self)?;
            match state.at.record() {
                None => Ok((state.seed, state.offset)),
                Some(record) => record.read(self),
            }
        })
        .unwrap()
    }

    /// Captures in a body of a conditional node.
    pub(super) fn in_body(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.is_in_body.set(true);
        let done = work();
        self.is_in_body.set(false);
        done
    }

    /// Sets seed and offset, as the setters do.
    pub(super) fn set(&self, key: Key, seed: u64, offset: u64) {
        numbers::set_numbers(key, Some(seed), offset).unwrap().tell_on(self).unwrap();
    }
}

pub(super) fn seeded(seed: u64) -> Key {
    generator::create_default(Some(DeviceIndex::ZERO), seed).unwrap()
}
