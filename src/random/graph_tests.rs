//! Fills in graphs, on a device of the test's own that can capture: it runs kernels at once, or
//! keeps them for replays.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use proptest::prelude::*;

use super::arena::Arena;
use super::capture;
use super::device_work::{DeviceWork, RandomKernel};
use super::fill::{FillTarget, launch};
use super::generator;
use crate::collections::slab::Key;
use crate::driver::{KernelArguments, StreamHandle, StreamRef};
use crate::element::Dtype;
use crate::error::{Error, Result, Status};
use crate::philox::{DeviceShape, Distribution, Fill, evaluate};
use crate::types::{DeviceIndex, DevicePtr};

const SHAPE: DeviceShape = DeviceShape { multi_processors: 2, threads_per_multi_processor: 512 };
const STREAM: StreamRef = StreamRef { device: DeviceIndex::ZERO, handle: StreamHandle::forged(8) };
const OTHER: StreamRef = StreamRef { device: DeviceIndex::ZERO, handle: StreamHandle::forged(16) };
const OUT: DevicePtr = DevicePtr(0x10_0000);

type Launch = (RandomKernel, Vec<u64>);

/// What a fill drew: where its piece of the sequence began.
type Drawn = (u64, u64);

#[derive(Default)]
struct FakeDevice {
    words: RefCell<HashMap<u64, u64>>,
    out: RefCell<Vec<u8>>,
    capturing: RefCell<Option<Vec<Launch>>>,
    arena: ArenaBox,
    /// Has no memory for the store.
    is_full: Cell<bool>,
    drawn: RefCell<Vec<Drawn>>,
    /// The slot of each taking, with the stream it was queued on.
    taken: RefCell<Vec<(StreamHandle, u64)>>,
}

struct ArenaBox(Arena);

impl Default for ArenaBox {
    fn default() -> Self {
        ArenaBox(Arena::new())
    }
}

impl FakeDevice {
    fn word(&self, address: u64) -> u64 {
        *self.words.borrow().get(&address).unwrap_or(&0)
    }

    fn set_word(&self, address: u64, value: u64) {
        assert!(address.is_multiple_of(8));
        self.words.borrow_mut().insert(address, value);
    }

    fn run(&self, (kernel, arguments): &Launch) {
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

    fn capture(&self, work: impl FnOnce() -> Result<()>) -> Result<Vec<Launch>> {
        *self.capturing.borrow_mut() = Some(Vec::new());
        let result = work();
        let graph = self.capturing.borrow_mut().take().unwrap();
        result.map(|()| graph)
    }

    /// Runs a graph. Returns what the fills wrote.
    fn replay(&self, graph: &[Launch]) -> Vec<u8> {
        self.out.borrow_mut().clear();
        graph.iter().for_each(|launch| self.run(launch));
        self.out.borrow().clone()
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

    fn arena(&self, _: DeviceIndex) -> &Arena {
        &self.arena.0
    }

    fn allocate_chunk(&self, _: DeviceIndex) -> Result<DevicePtr> {
        if self.is_full.get() {
            return Err(Error::new(Status::OutOfMemory, "the device is full"));
        }
        Ok(DevicePtr(0x1000))
    }

    fn read(&self, _: DeviceIndex, place: DevicePtr) -> Result<[u64; 2]> {
        self.forbidden_in_captures();
        Ok([self.word(place.0), self.word(place.0 + 8)])
    }

    fn write(&self, _: DeviceIndex, place: DevicePtr, pair: [u64; 2]) -> Result<()> {
        self.forbidden_in_captures();
        self.set_word(place.0, pair[0]);
        self.set_word(place.0 + 8, pair[1]);
        Ok(())
    }
}

impl FakeDevice {
    fn forbidden_in_captures(&self) {
        assert!(self.capturing.borrow().is_none(), "a capture does not survive this");
    }

    fn prepared() -> FakeDevice {
        let device = FakeDevice::default();
        capture::prepare(&device, DeviceIndex::ZERO).unwrap();
        device
    }

    fn fill(&self, key: Key, n: u64, stream: StreamRef) -> Result<()> {
        self.fill_at(key, n, OUT, stream)
    }

    fn fill_at(&self, key: Key, n: u64, ptr: DevicePtr, stream: StreamRef) -> Result<()> {
        let fill = Fill::real(Distribution::Normal, Dtype::F32, 0.0, 1.0);
        launch(self, key, &fill, FillTarget { ptr, n, shape: SHAPE }, stream)
    }

    fn eager(&self, key: Key, n: u64) -> Vec<u8> {
        self.out.borrow_mut().clear();
        self.fill(key, n, STREAM).unwrap();
        self.out.borrow().clone()
    }

    /// Seed and offset of a captured generator, as the getters read them.
    fn truth(&self, key: Key) -> (u64, u64) {
        generator::record_of(key).unwrap().unwrap().read(self).unwrap()
    }
}

fn seeded(seed: u64) -> Key {
    generator::create_default(Some(DeviceIndex::ZERO), seed).unwrap()
}

#[test]
fn replays_and_ordinary_fills_continue_one_sequence() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(42), seeded(42));
    assert_eq!(device.eager(captured, 5000), device.eager(plain, 5000));
    let graph = device.capture(|| device.fill(captured, 9000, STREAM)).unwrap();
    let first = device.replay(&graph);
    assert_eq!(first, device.eager(plain, 9000));
    let second = device.replay(&graph);
    assert_ne!(second, first);
    assert_eq!(second, device.eager(plain, 9000));
    // An ordinary fill between two replays, then the third.
    assert_eq!(device.eager(captured, 300), device.eager(plain, 300));
    assert_eq!(device.replay(&graph), device.eager(plain, 9000));
    assert_eq!(device.truth(captured), (42, generator::offset(plain).unwrap()));
}

#[test]
fn several_fills_of_a_graph_follow_each_other() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(7), seeded(7));
    let upper = OUT.offset(4 * 3000);
    let graph = device
        .capture(|| {
            device.fill(captured, 3000, STREAM)?;
            device.fill_at(captured, 100, upper, STREAM)
        })
        .unwrap();
    for _ in 0..3 {
        let replayed = device.replay(&graph);
        let expected = [device.eager(plain, 3000), device.eager(plain, 100)].concat();
        assert_eq!(replayed, expected);
    }
}

#[test]
fn capturing_alone_draws_nothing() {
    let device = FakeDevice::prepared();
    let key = seeded(3);
    generator::set_offset(key, 12).unwrap();
    device.capture(|| device.fill(key, 100, STREAM)).unwrap();
    assert_eq!(device.truth(key), (3, 12));
    assert!(device.drawn.borrow().is_empty());
}

#[test]
fn seeding_reaches_graphs_that_are_there_already() {
    let device = FakeDevice::prepared();
    let (captured, plain) = (seeded(1), seeded(99));
    let graph = device.capture(|| device.fill(captured, 700, STREAM)).unwrap();
    device.replay(&graph);
    generator::record_of(captured).unwrap().unwrap().write(&device, 99, 0).unwrap();
    assert_eq!(device.truth(captured), (99, 0));
    assert_eq!(device.replay(&graph), device.eager(plain, 700));
    assert_eq!(device.eager(captured, 700), device.eager(plain, 700));
}

#[test]
fn a_split_fill_takes_one_piece_for_all_its_parts() {
    let device = FakeDevice::prepared();
    let key = seeded(5);
    let graph = device.capture(|| device.fill(key, 1 << 31, STREAM)).unwrap();
    let distances: Vec<_> = graph
        .iter()
        .filter(|(kernel, _)| matches!(kernel, RandomKernel::Fill(_)))
        .map(|(_, arguments)| arguments[3])
        .collect();
    assert_eq!((graph.len(), distances.len()), (5, 4), "one taking, four parts");
    assert!(distances.windows(2).all(|pair| pair[0] < pair[1]) && distances[0] > 0);
    let states: Vec<_> = graph[1..].iter().map(|(_, arguments)| arguments[7]).collect();
    assert!(states.iter().all(|state| *state == states[0] && *state != 0));
}

#[test]
fn the_first_fill_of_a_device_may_be_captured() {
    let device = FakeDevice::default();
    let (captured, plain) = (seeded(6), seeded(6));
    let graph = device.capture(|| device.fill(captured, 900, STREAM)).unwrap();
    for _ in 0..2 {
        assert_eq!(device.replay(&graph), device.eager(plain, 900));
    }
}

#[test]
fn a_full_device_refuses_captured_fills_only() {
    let device = FakeDevice::default();
    device.is_full.set(true);
    let (key, plain) = (seeded(0), seeded(0));
    let error = device.capture(|| device.fill(key, 10, STREAM)).unwrap_err();
    assert_eq!(error.status(), Status::OutOfMemory);
    assert!(error.message().contains("the device is full"), "{}", error.message());
    // It is as it was: the generator works, and captures too once there is room.
    let first = device.eager(key, 10);
    device.is_full.set(false);
    let graph = device.capture(|| device.fill(key, 10, STREAM)).unwrap();
    let second = device.replay(&graph);
    assert_eq!([first, second], [device.eager(plain, 10), device.eager(plain, 10)]);
}

#[test]
fn states_are_not_told_during_a_capture() {
    let device = FakeDevice::prepared();
    let refused = device
        .capture(|| {
            let error: Error = generator::refuse_capture(&device, STREAM).unwrap_err();
            assert_eq!(error.status(), Status::InvalidState);
            Ok(())
        })
        .is_ok();
    assert!(refused);
    assert!(generator::refuse_capture(&device, STREAM).is_ok());
}

#[test]
fn each_stream_and_each_captured_fill_has_a_slot_of_its_own() {
    let device = FakeDevice::prepared();
    let key = seeded(11);
    device
        .capture(|| {
            device.fill(key, 10, STREAM)?;
            device.fill(key, 10, STREAM)
        })
        .unwrap();
    device.fill(key, 10, STREAM).unwrap();
    device.fill(key, 10, OTHER).unwrap();
    device.fill(key, 10, STREAM).unwrap();
    let taken = device.taken.borrow();
    let [(_, first), (_, second), (_, here), (other, there), (_, again)] = taken[..] else {
        panic!("{taken:?}")
    };
    assert_eq!((other, here), (OTHER.handle, again), "a stream keeps its slot");
    let slots = std::collections::HashSet::from([first, second, here, there]);
    assert_eq!(slots.len(), 4, "{taken:?}");
    let offsets: Vec<_> = device.drawn.borrow().iter().map(|(_, offset)| *offset).collect();
    assert_eq!(offsets, [0, 4, 8]);
}

proptest! {
    /// Whatever is replayed and filled, in any order, on any stream: no piece is drawn from twice.
    #[test]
    fn no_piece_of_the_sequence_is_used_twice(
        steps in proptest::collection::vec((0_usize..4, 1_u64..5000), 1..30),
    ) {
        let device = FakeDevice::prepared();
        let key = seeded(17);
        device.eager(key, 600);
        let graphs = [100, 4097].map(|n| {
            device.capture(|| device.fill(key, n, STREAM)).unwrap()
        });
        for (what, n) in steps {
            match what {
                0 | 1 => { device.replay(&graphs[what]); }
                2 => device.fill(key, n, STREAM).unwrap(),
                _ => device.fill(key, n, OTHER).unwrap(),
            }
        }
        let drawn = device.drawn.borrow();
        prop_assert!(drawn.iter().all(|(seed, _)| *seed == 17));
        prop_assert!(drawn.windows(2).all(|pair| pair[0].1 < pair[1].1), "{drawn:?}");
        let (_, end) = device.truth(key);
        prop_assert!(drawn.last().unwrap().1 < end);
    }
}
