//! Copies belong behind the work that was queued before them: they read what it writes, and overwrite what it has
//! read, between every two kinds of memory, of all types and layouts, whether they wait or not.

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use testkit::numbers::Random;
use testkit::places::{alone, captured, default_stream, own_stream, pending, run_until_idle};

use super::pairs::numbers_in;
use super::spot::{DTYPES, SPOTS, Spot};
use crate::api::{self, CPU, Handle, integer, options};
use crate::create::full;

/// Long enough for the host to get ahead of the devices.
const BUSY_NS: u64 = 1_500_000;

/// Elements of the memory that tensors of all layouts lie in.
const ELEMENTS: i64 = 24;

/// Where the six elements of a tensor lie.
const LAYOUTS: [&str; 8] =
    ["packed", "turned", "gaps", "rows", "overlapping", "repeated", "scalar", "empty"];

fn laid(layout: &str, memory: &Handle) -> Handle {
    match layout {
        "packed" => memory.as_strided(&[2, 3], &[3, 1], 1),
        "turned" => memory.as_strided(&[2, 3], &[1, 2], 0),
        "gaps" => memory.as_strided(&[2, 3], &[7, 2], 1),
        "rows" => memory.as_strided(&[2, 3], &[10, 1], 2),
        "overlapping" => memory.as_strided(&[2, 3], &[1, 2], 3),
        "repeated" => memory.as_strided(&[2, 3], &[1, 0], 2),
        "scalar" => memory.as_strided(&[], &[], 4),
        _ => memory.as_strided(&[0, 3], &[3, 1], 0),
    }
    .unwrap()
}

/// The layouts that a destination may have for a source.
fn targets(source: &str) -> &'static [&'static str] {
    if source == "empty" { &["empty"] } else { &["packed", "turned", "gaps", "rows"] }
}

/// The memory in a type, on the CPU: numbers that all types hold. `None` if nothing is converted to the type.
fn values(dtype: i32) -> Option<Handle> {
    let numbers = numbers_in(dtype)?;
    let four = crate::operations::cat(&[&numbers, &numbers, &numbers, &numbers], 0).ok();
    // What has no arithmetic is joined as bytes.
    let joined = four.unwrap_or_else(|| panic!("numbers of type {dtype} cannot be joined"));
    Some(joined.view(&[ELEMENTS]).unwrap())
}

fn keep_busy(devices: &[i32]) {
    for device in devices {
        let mut stream = sconce_stream { id: -1, device: -1, reserved: -1 };
        // SAFETY: a good place.
        let found = unsafe { sconce_stream_get_current(*device, &raw mut stream) };
        assert_eq!((found, sconce_stream_sleep(stream, BUSY_NS)), (SCONCE_OK, SCONCE_OK));
    }
}

fn wait_for_all() {
    for device in [0, 1] {
        sconce_runtime::device::synchronize(device).unwrap();
    }
}

/// One copy behind work that writes to its source and reads its destination.
struct Trial {
    source: (Spot, i32, &'static str),
    target: (Spot, i32, &'static str),
    non_blocking: bool,
}

impl Trial {
    /// The device whose stream does the copy; `None` between host memories.
    fn device(&self) -> Option<i32> {
        match (self.source.0, self.target.0) {
            (Spot::Device(device), _) | (_, Spot::Device(device)) => Some(device),
            _ => None,
        }
    }

    /// Memory on a device that is to be written to a place first, or is read from it.
    fn beside(&self, spot: Spot) -> Option<Spot> {
        match spot {
            Spot::Ordinary => None,
            Spot::Pinned => self.device().map(Spot::Device),
            device => Some(device),
        }
    }

    fn run(&self, context: &str) {
        let (from, from_type, from_layout) = self.source;
        let (to, to_type, to_layout) = self.target;
        let Some(new) = values(from_type) else { return };
        let old = Spot::Ordinary.empty(&[ELEMENTS], to_type);
        // The same copy of ordinary memory tells what is to be found.
        let expected = old.clone_as(SCONCE_MEMORY_FORMAT_PRESERVE).unwrap();
        if laid(to_layout, &expected).copy_from(&laid(from_layout, &new), false).is_err() {
            return;
        }
        let memory = from.holding(&Spot::Ordinary.empty(&[ELEMENTS], from_type));
        let target_memory = to.holding(&old);
        let writer = self.beside(from).map(|spot| spot.holding(&new));
        let reader =
            self.beside(to).map(|spot| spot.holding(&values(to_type).unwrap_or(old.again())));
        let (source, target) = (laid(from_layout, &memory), laid(to_layout, &target_memory));
        wait_for_all();
        keep_busy(&[0, 1]);
        match &writer {
            Some(writer) => memory.copy_from(writer, true).unwrap(),
            None => memory.copy_from(&new, false).unwrap(),
        }
        if let Some(reader) = &reader {
            reader.copy_from(&target_memory, true).unwrap();
        }
        target.copy_from(&source, self.non_blocking).unwrap();
        // Ordinary memory may be changed, and a copy that waits leaves nothing to wait for, unless it has nothing to
        // do.
        let is_on_host = |spot| matches!(spot, Spot::Ordinary | Spot::Pinned);
        let has_read = from == Spot::Ordinary || self.device().is_none() || !self.non_blocking;
        if is_on_host(from) && has_read && from_layout != "empty" {
            memory.copy_from(&Spot::Ordinary.empty(&[ELEMENTS], from_type), false).unwrap();
        }
        let has_written = to == Spot::Ordinary || self.device().is_none() || !self.non_blocking;
        if is_on_host(to) && has_written {
            assert_eq!(
                target_memory.bytes().unwrap(),
                expected.bytes().unwrap(),
                "at once: {context}"
            );
        }
        wait_for_all();
        assert_eq!(target_memory.bytes().unwrap(), expected.bytes().unwrap(), "{context}");
        if let Some(reader) = reader {
            assert_eq!(
                reader.bytes().unwrap(),
                old.bytes().unwrap(),
                "overwritten early: {context}"
            );
        }
    }
}

fn each_pair_of_spots(mut trial: impl FnMut(Spot, Spot, bool)) {
    for (from, to) in SPOTS.into_iter().flat_map(|from| SPOTS.map(move |to| (from, to))) {
        for non_blocking in [false, true] {
            trial(from, to, non_blocking);
        }
    }
}

/// Streams of the program's own, because work on the default ones waits for all others.
fn with_own_streams(test: impl FnOnce()) {
    let _one = alone();
    let _streams = [0, 1].map(own_stream);
    test();
    for device in [0, 1] {
        assert_eq!(sconce_stream_set_current(default_stream(device)), SCONCE_OK);
    }
}

#[test]
fn every_layout_to_every_layout_behind_queued_work() {
    with_own_streams(|| {
        let mut random = Random(35);
        each_pair_of_spots(|from, to, non_blocking| {
            for from_layout in LAYOUTS {
                for to_layout in targets(from_layout) {
                    // Once without a conversion, and once with one.
                    let dtype =
                        random.one_of(&[SCONCE_DTYPE_F32, SCONCE_DTYPE_I16, SCONCE_DTYPE_C64]);
                    for to_type in [dtype, SCONCE_DTYPE_F64] {
                        let source = (from, dtype, from_layout);
                        let target = (to, to_type, *to_layout);
                        let trial = Trial { source, target, non_blocking };
                        trial.run(&format!(
                            "{from_layout} {dtype} of {from:?} to {to_layout} {to_type} of {to:?}, {non_blocking}"
                        ));
                    }
                }
            }
        });
    });
}

#[test]
fn every_type_to_every_type_behind_queued_work() {
    with_own_streams(|| {
        let mut random = Random(36);
        for (from_type, to_type) in DTYPES.flat_map(|from| DTYPES.map(move |to| (from, to))) {
            // Most faults would be between pinned memory and a device.
            let (from, to) = match random.below(4) {
                0 | 1 => (Spot::Pinned, Spot::Device(random.below(2) as i32)),
                2 => (Spot::Device(random.below(2) as i32), Spot::Pinned),
                _ => (random.one_of(&SPOTS), random.one_of(&SPOTS)),
            };
            let from_layout = random.one_of(&LAYOUTS);
            let to_layout = random.one_of(targets(from_layout));
            let non_blocking = random.below(4) != 0;
            let trial = Trial {
                source: (from, from_type, from_layout),
                target: (to, to_type, to_layout),
                non_blocking,
            };
            trial.run(&format!(
                "{from_layout} {from_type} of {from:?} to {to_layout} {to_type} of {to:?}, {non_blocking}"
            ));
        }
    });
}

/// The conversions of `to`, which makes the destination.
#[test]
fn tensors_that_are_moved_and_converted_behind_queued_work() {
    with_own_streams(|| {
        each_pair_of_spots(|from, to, non_blocking| {
            for dtype in [SCONCE_DTYPE_F32, SCONCE_DTYPE_I64, SCONCE_DTYPE_F16, SCONCE_DTYPE_BOOL] {
                for layout in ["packed", "turned", "gaps", "repeated"] {
                    let new = values(SCONCE_DTYPE_F32).unwrap();
                    let memory = from.holding(&Spot::Ordinary.empty(&[ELEMENTS], SCONCE_DTYPE_F32));
                    let device = match (from, to) {
                        (Spot::Device(device), _) | (_, Spot::Device(device)) => Some(device),
                        _ => None,
                    };
                    let writer = device.map(|device| Spot::Device(device).holding(&new));
                    wait_for_all();
                    keep_busy(&[0, 1]);
                    match &writer {
                        Some(writer) if from != Spot::Ordinary => {
                            memory.copy_from(writer, true).unwrap();
                        }
                        _ => memory.copy_from(&new, false).unwrap(),
                    }
                    let wanted = options(dtype, to.device());
                    let source = laid(layout, &memory);
                    // SAFETY: options and a writable place.
                    let result = api::returned(|out| unsafe {
                        let options = &raw const wanted;
                        sconce_tensor_to(
                            source.raw(),
                            options,
                            non_blocking.into(),
                            CBool::TRUE,
                            out,
                        )
                    });
                    let result = result.unwrap();
                    if non_blocking || to.device() != CPU {
                        wait_for_all();
                    }
                    let expected = laid(layout, &new).to(&options(dtype, CPU), true).unwrap();
                    let context =
                        format!("{layout} of {from:?} to {dtype} of {to:?}, {non_blocking}");
                    assert_eq!(result.bytes().unwrap(), expected.bytes().unwrap(), "{context}");
                }
            }
        });
    });
}

/// A copy from pinned memory that converts does not wait, and can be captured.
#[test]
fn conversions_of_packed_pinned_memory_are_queued() {
    let _one = alone();
    let numbers = full(&[4], integer(0), &options(SCONCE_DTYPE_F32, CPU)).unwrap();
    let pinned = Spot::Pinned.holding(&numbers);
    let scalar = pinned.select(0, 0).unwrap();
    let spread = pinned.unsqueeze(1).unwrap().expand(&[4, 3]).unwrap();
    let cases = [(&pinned, vec![4]), (&scalar, vec![4]), (&spread, vec![4, 3])];
    for (source, sizes) in cases {
        for dtype in [SCONCE_DTYPE_F32, SCONCE_DTYPE_I64] {
            let target = Spot::Device(0).empty(&sizes, dtype);
            target.copy_from(source, true).unwrap();
            pinned.fill(integer(0)).unwrap();
            wait_for_all();
            let stream = own_stream(0);
            assert_eq!(sconce_sim_set_manual(CBool::TRUE), SCONCE_OK);
            target.copy_from(source, true).unwrap();
            assert!(pending(stream) > 0);
            // The copy is still to come.
            pinned.fill(integer(3)).unwrap();
            run_until_idle();
            assert_eq!(sconce_sim_set_manual(CBool::FALSE), SCONCE_OK);
            let found = target.to(&options(SCONCE_DTYPE_I32, CPU), false).unwrap().i32s();
            assert_eq!(found, vec![3; found.len()]);
            assert_eq!(sconce_stream_set_current(default_stream(0)), SCONCE_OK);
            captured(|_| target.copy_from(source, true).unwrap());
        }
    }
}
