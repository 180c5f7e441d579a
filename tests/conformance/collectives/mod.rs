//! `Collectives`: what the calls of several ranks compute, their order, and how communicators begin and end.
//!
//! | file | what |
//! |---|---|
//! | `copies`, `reductions` | the values of every call, for every type and operation |
//! | `narrow_floats` | reductions of 8-bit floating-point numbers |
//! | `order` | streams, groups, threads, captures |
//! | `life` | making, splitting, finalizing, aborting |
//!
//! The simulator has 1 to 8 ranks, a machine with GPUs as many as it has devices. Numbers are such that sums and
//! products are exact in the type, because a library may add in any order; the tests of inexact sums say so.

pub(crate) mod copies;
pub(crate) mod life;
pub(crate) mod narrow_floats;
pub(crate) mod order;
pub(crate) mod reductions;

use std::time::{Duration, Instant};

use sconce_base::element::{Dtype, bf16_bits, bf16_value, f16_bits, f16_value};
use sconce_base::error::Result;
use sconce_base::types::{DeviceIndex, DevicePtr};
use sconce_driver::{CommCall, CommEndpoint, CommId, CommMember, CommOptions, StreamRef};

use crate::libraries::installed;
use crate::support::host::Pageable;
use crate::support::stage::{Memory, Outcome, SOON, Stage, Stop, Stream};

/// The types of the contract.
pub(crate) const TYPES: [Dtype; 10] = [
    Dtype::I8,
    Dtype::U8,
    Dtype::I32,
    Dtype::U32,
    Dtype::I64,
    Dtype::U64,
    Dtype::F16,
    Dtype::Bf16,
    Dtype::F32,
    Dtype::F64,
];
/// The byte that stands where no call has written.
const UNTOUCHED: u8 = 0x5a;

/// One rank with its memory.
pub(crate) struct Rank<'a> {
    pub(crate) end: Box<dyn CommEndpoint>,
    pub(crate) stream: Stream<'a>,
    pub(crate) device: DeviceIndex,
    send: Memory<'a>,
    recv: Memory<'a>,
}

impl Rank<'_> {
    /// Where the elements lie that the rank gives.
    pub(crate) fn send(&self) -> DevicePtr {
        self.send.ptr
    }

    /// Where the rank receives.
    pub(crate) fn recv(&self) -> DevicePtr {
        self.recv.ptr
    }
}

/// All ranks of a communicator, one on each of the first devices.
pub(crate) struct Ranks<'a> {
    pub(crate) stage: Stage<'a>,
    pub(crate) ranks: Vec<Rank<'a>>,
    bytes: usize,
}

/// Waits until what the ends have begun is done. Asks all of them in turn, as the contract demands.
pub(crate) fn settle<'e>(ends: impl Iterator<Item = &'e mut Box<dyn CommEndpoint>>) -> Result<()> {
    let mut pending: Vec<_> = ends.collect();
    let start = Instant::now();
    loop {
        let mut left = Vec::new();
        for end in pending {
            if !end.poll()? {
                left.push(end);
            }
        }
        if left.is_empty() {
            return Ok(());
        }
        pending = left;
        assert!(start.elapsed() < SOON, "what {} ends have begun does not end", pending.len());
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// An id, unless the library is not installed.
pub(crate) fn new_id(stage: &Stage<'_>) -> Outcome<CommId> {
    installed(stage.driver.comm_unique_id())
}

/// Runs `test` with communicators of 1, 2, 3, 5 and 8 ranks, as far as there are devices.
pub(crate) fn with_ranks(
    stage: &Stage<'_>,
    bytes: usize,
    test: impl Fn(&mut Ranks<'_>) -> Outcome,
) -> Outcome {
    for count in [1, 2, 3, 5, 8] {
        let machine = match stage.machine(count) {
            Err(Stop::Skip(_)) if count > 1 => break,
            machine => machine?,
        };
        let stage = Stage { driver: machine.driver(), subject: stage.subject };
        test(&mut Ranks::new(&stage, count as usize, bytes)?)?;
    }
    Ok(())
}

impl<'a> Ranks<'a> {
    /// A communicator of the first devices; each rank has two ranges of so many bytes.
    pub(crate) fn new(stage: &Stage<'a>, count: usize, bytes: usize) -> Outcome<Ranks<'a>> {
        let devices: Vec<DeviceIndex> = stage.devices().into_iter().take(count).collect();
        Ranks::on(stage, &devices, bytes)
    }

    /// A communicator whose ranks are on these devices.
    pub(crate) fn on(
        stage: &Stage<'a>,
        devices: &[DeviceIndex],
        bytes: usize,
    ) -> Outcome<Ranks<'a>> {
        let id = new_id(stage)?;
        let members: Vec<CommMember> = devices
            .iter()
            .enumerate()
            .map(|(rank, device)| CommMember { rank, device: *device })
            .collect();
        let options = CommOptions::default();
        let ends = stage.driver.comm_create(&id, devices.len(), &members, &options)?;
        Ranks::of(stage, ends, devices, bytes)
    }

    /// Memory and streams for ends on devices.
    pub(crate) fn of(
        stage: &Stage<'a>,
        ends: Vec<Box<dyn CommEndpoint>>,
        devices: &[DeviceIndex],
        bytes: usize,
    ) -> Outcome<Ranks<'a>> {
        let (mut ranks, mut ends) = (Vec::new(), ends);
        settle(ends.iter_mut())?;
        for (mut end, device) in ends.into_iter().zip(devices) {
            // The number of the rank is known from here on.
            end.place()?;
            let (stream, device) = (stage.stream(*device)?, *device);
            let (send, recv) = (stage.memory(device, bytes)?, stage.memory(device, bytes)?);
            ranks.push(Rank { end, stream, device, send, recv });
        }
        Ok(Ranks { stage: *stage, ranks, bytes })
    }

    /// Waits until what the ends have begun is done.
    pub(crate) fn settle(&mut self) -> Result<()> {
        settle(self.ranks.iter_mut().map(|rank| &mut rank.end))
    }

    pub(crate) fn count(&self) -> usize {
        self.ranks.len()
    }

    /// Writes what each rank gives, and marks where it receives.
    pub(crate) fn write(&self, given: &[Vec<u8>]) -> Outcome {
        for (rank, given) in self.ranks.iter().zip(given) {
            let host = Pageable::holding(given);
            let stream = StreamRef::default_of(rank.device);
            let driver = self.stage.driver;
            driver.device_synchronize(rank.device)?;
            driver.copy_async(rank.send.ptr.into(), host.raw(), host.bytes(), stream)?;
            driver.fill_async(rank.recv.ptr, UNTOUCHED, self.bytes, stream)?;
            driver.stream_synchronize(stream)?;
        }
        Ok(())
    }

    /// Queues a call of each rank, together.
    pub(crate) fn queue(&mut self, call: impl Fn(usize, &Rank<'_>) -> CommCall) -> Outcome {
        let driver = self.stage.driver;
        driver.comm_group_start()?;
        let queued = self.ranks.iter_mut().enumerate().try_for_each(|(number, rank)| {
            let call = call(number, rank);
            rank.end.queue(&call, rank.stream.at)
        });
        let ended = driver.comm_group_end();
        queued?;
        Ok(ended?)
    }

    /// Waits for the streams of all ranks.
    pub(crate) fn finish(&self) -> Outcome {
        for rank in &self.ranks {
            rank.stream.synchronize()?;
        }
        Ok(())
    }

    /// Gives, calls and waits, and sees what each rank has received: `expected`, and nothing behind it.
    #[track_caller]
    pub(crate) fn check(
        &mut self,
        given: &[Vec<u8>],
        call: impl Fn(usize, &Rank<'_>) -> CommCall,
        expected: &[Vec<u8>],
    ) -> Outcome {
        self.write(given)?;
        self.queue(call)?;
        self.finish()?;
        self.received(expected)
    }

    /// Sees what each rank has received.
    #[track_caller]
    pub(crate) fn received(&self, expected: &[Vec<u8>]) -> Outcome {
        for (number, (rank, expected)) in self.ranks.iter().zip(expected).enumerate() {
            let seen = self.stage.read(rank.device, rank.recv.ptr, self.bytes)?;
            let (result, rest) = seen.split_at(expected.len());
            assert!(result == expected, "rank {number} has {}", difference(result, expected));
            let is_untouched = rest.iter().all(|byte| *byte == UNTOUCHED);
            assert!(is_untouched, "rank {number}: something was written behind the result");
        }
        Ok(())
    }

    /// The first bytes that a rank has received, after all work.
    pub(crate) fn result(&self, rank: usize, bytes: usize) -> Outcome<Vec<u8>> {
        let rank = &self.ranks[rank];
        Ok(self.stage.read(rank.device, rank.recv.ptr, bytes)?)
    }

    /// The bytes that a rank gives now, after all work.
    pub(crate) fn sent(&self, rank: usize) -> Outcome<Vec<u8>> {
        let rank = &self.ranks[rank];
        Ok(self.stage.read(rank.device, rank.send.ptr, self.bytes)?)
    }
}

fn difference(seen: &[u8], expected: &[u8]) -> String {
    let at = seen.iter().zip(expected).position(|(seen, expected)| seen != expected);
    let at = at.unwrap_or_default();
    let end = (at + 16).min(seen.len());
    format!("{:?} from byte {at} on, not {:?}", &seen[at..end], &expected[at..end])
}

/// Numbers as elements of a type.
pub(crate) fn encode(dtype: Dtype, values: &[f64]) -> Vec<u8> {
    let one = |value: &f64| match dtype {
        Dtype::F16 => f16_bits(*value as f32).to_le_bytes().to_vec(),
        Dtype::Bf16 => bf16_bits(*value as f32).to_le_bytes().to_vec(),
        Dtype::F32 => (*value as f32).to_le_bytes().to_vec(),
        Dtype::F64 => value.to_le_bytes().to_vec(),
        integer => (*value as i64).to_le_bytes()[..integer.bytes()].to_vec(),
    };
    values.iter().flat_map(one).collect()
}

/// Elements of a floating-point type as numbers.
pub(crate) fn decode(dtype: Dtype, bytes: &[u8]) -> Vec<f64> {
    let one = |bytes: &[u8]| match dtype {
        Dtype::F16 => f64::from(f16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        Dtype::Bf16 => f64::from(bf16_value(u16::from_le_bytes(bytes.try_into().unwrap()))),
        Dtype::F32 => f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
        Dtype::F64 => f64::from_le_bytes(bytes.try_into().unwrap()),
        other => panic!("{other:?} is no floating-point type"),
    };
    bytes.chunks_exact(dtype.bytes()).map(one).collect()
}

/// Whether a type has numbers below zero.
pub(crate) fn is_signed(dtype: Dtype) -> bool {
    !matches!(dtype, Dtype::U8 | Dtype::U32 | Dtype::U64)
}

pub(crate) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64)
}
