//! Every operation of the CPU with one operand in pinned memory that a copy still writes: the sanitizer reports it.

use sconce::sconce_status::SCONCE_OK;
use sconce::*;
use testkit::places::alone;

use super::operations::{ALL, Operation, Tensors, is_unpredictable};
use crate::api::{CPU, Handle, Outcome};
use crate::create::from_bytes;

/// An operand: its name, its place, and how bytes of it become others that are valid, too.
type Operand = (&'static str, fn(&mut Tensors) -> &mut Handle, fn(&mut [u8]));

fn numbers(bytes: &mut [u8]) {
    for bytes in bytes.chunks_exact_mut(4) {
        let number = f32::from_le_bytes((&*bytes).try_into().unwrap());
        bytes.copy_from_slice(&(number - 8.5).to_le_bytes());
    }
}

fn truths(bytes: &mut [u8]) {
    bytes.iter_mut().for_each(|byte| *byte = 1 - *byte);
}

const OPERANDS: [Operand; 7] = [
    ("matrix", |it| &mut it.matrix, numbers),
    ("batch", |it| &mut it.batch, numbers),
    ("image", |it| &mut it.image, numbers),
    ("second", |it| &mut it.second, numbers),
    ("other_batch", |it| &mut it.other_batch, numbers),
    ("filter", |it| &mut it.filter, numbers),
    ("condition", |it| &mut it.condition, truths),
];

/// The index, whose values have to stay below the sizes.
const INDEX: Operand = ("index", |it| &mut it.index, |bytes| bytes.rotate_left(8));

/// Tensors of the CPU, one of which is in pinned memory.
fn with_pinned((_, place, _): &Operand) -> Tensors {
    let mut tensors = Tensors::new(CPU, CPU);
    let pinned = place(&mut tensors).pin_memory().unwrap();
    *place(&mut tensors) = pinned;
    tensors.turned = tensors.matrix.transpose(0, 1).unwrap();
    tensors
}

/// The bytes of what a call returns, without views of an operand, and of what it may have changed.
fn bytes_after(
    operation: &Operation,
    operand: &Operand,
    mut tensors: Tensors,
) -> Option<Vec<Vec<u8>>> {
    let results = (operation.call)(&tensors).ok()?;
    let (start, length) = (operand.1)(&mut tensors).storage();
    let new = results.iter().filter(|result| !(start..start + length).contains(&result.data()));
    let mut all: Vec<_> = new.map(Handle::bytes).collect::<Outcome<_>>().ok()?;
    for (_, place, _) in &OPERANDS {
        all.push(place(&mut tensors).bytes().ok()?);
    }
    Some(all)
}

/// Whether what a call returns or changes depends on an operand.
fn depends(operation: &Operation, operand: &Operand) -> bool {
    let (_, place, change) = operand;
    let before = bytes_after(operation, operand, with_pinned(operand));
    let mut tensors = with_pinned(operand);
    let changed = place(&mut tensors);
    let mut bytes = changed.bytes().unwrap();
    change(&mut bytes);
    changed
        .copy_from(&from_bytes(&bytes, &changed.sizes(), changed.dtype(), CPU).unwrap(), false)
        .unwrap();
    let own = OPERANDS.iter().position(|(name, ..)| *name == operand.0);
    let after = bytes_after(operation, operand, tensors);
    let (Some(mut before), Some(mut after)) = (before, after) else { return false };
    // The operand itself differs in any case.
    if let Some(own) = own {
        let at = before.len() - OPERANDS.len() + own;
        before.remove(at);
        after.remove(at.min(after.len() - 1));
    }
    before != after
}

/// How many reports there are of a call on an operand that a copy of a stream writes.
fn reports(operation: &Operation, operand: &Operand, waits: bool) -> i64 {
    let mut tensors = with_pinned(operand);
    let pinned = (operand.1)(&mut tensors);
    let (bytes, sizes) = (pinned.bytes().unwrap(), pinned.sizes());
    let on_device = from_bytes(&bytes, &sizes, pinned.dtype(), 0).unwrap();
    let mut stream = sconce_stream { id: 0, device: 0, reserved: 0 };
    let (mut previous, mut device) = (stream, 0);
    // SAFETY: a writable place.
    assert_eq!(unsafe { sconce_stream_get_from_pool(0, 0, &raw mut stream) }, SCONCE_OK);
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    assert_eq!(sconce_sanitizer_reset(), SCONCE_OK);
    // SAFETY: writable places.
    let set = unsafe { sconce_stream_exchange(stream, &raw mut previous, &raw mut device) };
    assert_eq!(set, SCONCE_OK);
    pinned.copy_from(&on_device, true).unwrap();
    assert_eq!(sconce_stream_restore(previous, device), SCONCE_OK);
    if waits {
        assert_eq!(sconce_stream_synchronize(stream), SCONCE_OK);
    }
    let _results = (operation.call)(&tensors);
    let count = sconce_sanitizer_report_count();
    assert_eq!(sconce_device_synchronize(0), SCONCE_OK);
    count
}

#[test]
fn what_the_processor_reads_races_with_copies_that_write_it() {
    for (name, value) in [("SCONCE_BACKEND", "sim"), ("SCONCE_SANITIZER", "report")] {
        // SAFETY: the test is a process of its own, and nothing else reads the environment yet.
        unsafe { std::env::set_var(name, value) };
    }
    let _one = alone();
    assert!(sconce_sanitizer_is_enabled());
    let (mut wrong, mut seen) = (Vec::new(), Vec::new());
    for operation in ALL.iter().filter(|operation| !is_unpredictable(operation)) {
        for operand in OPERANDS.iter().chain([&INDEX]) {
            if !depends(operation, operand) {
                continue;
            }
            seen.push((operation.name, operand.0));
            let found = [false, true].map(|waits| reports(operation, operand, waits));
            if found[0] == 0 || found[1] != 0 {
                wrong.push(format!("{} of {}: {found:?}", operation.name, operand.0));
            }
        }
    }
    assert!(wrong.is_empty(), "reports without and with a wait:\n{}", wrong.join("\n"));
    for kind in [
        ("sort", "matrix"),
        ("index_select", "matrix"),
        ("index_select", "index"),
        ("cat", "second"),
        ("matmul", "second"),
        ("convolution", "filter"),
    ] {
        assert!(seen.contains(&kind), "{kind:?} is not among {seen:?}");
    }
}
