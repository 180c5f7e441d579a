//! Which bytes two operations share.

use sconce_sim::{Intent, MemoryAccess};

use super::*;
use crate::pattern::Pattern;

const Y: u64 = 0x80_0000;
const PAGE: u64 = 4096;

/// Sixteen elements of `bytes` bytes, each 8 bytes behind the one before.
fn elements(address: u64, bytes: u64) -> Use {
    let access = MemoryAccess::strided(Intent::Write, address, bytes, [(16, 8)]);
    Use::new(true, Pattern::of(&access))
}

/// How many reports there are of two operations on streams that do not wait for each other.
fn reports(mut checker: Checker, first: Use, second: Use) -> usize {
    checker.queued(a(), "first", Some(vec![first]));
    checker.queued(b(), "second", Some(vec![second]));
    kinds(&checker).len()
}

#[test]
fn ranges_meet_in_one_byte() {
    let of = |second| reports(checker(), Use::writes(X, 1536), second);
    assert_eq!(of(Use::writes(X + 1536, 100)), 0);
    assert_eq!(of(Use::writes(X + 1535, 100)), 1);
    assert_eq!(of(Use::reads(X - 100, 100)), 0);
    assert_eq!(of(Use::reads(X - 100, 101)), 1);
    assert_eq!(of(Use::reads(X + 7, 0)), 0);
}

#[test]
fn strided_operands_may_interleave() {
    let of = |second| reports(checker(), elements(X, 4), second);
    assert_eq!(of(elements(X + 4, 4)), 0);
    assert_eq!(of(elements(X + 3, 4)), 1);
    assert_eq!(of(elements(X + 8 * 16, 4)), 0);
    assert_eq!(of(elements(X + 8 * 15, 4)), 1);
    assert_eq!(of(Use::reads(X + 4, 4)), 0);
    assert_eq!(of(Use::reads(X + 4, 5)), 1);
    let back = MemoryAccess::strided(Intent::Write, X + 8 * 15 + 4, 4, [(16, -8)]);
    assert_eq!(of(Use::new(true, Pattern::of(&back))), 0);
}

#[test]
fn strided_operands_meet_across_pieces_of_memory() {
    let mut checker = checker();
    checker.handed_out(a(), X, 64);
    checker.handed_out(a(), X + 64, 64);
    checker.devices_done(None);
    checker.queued(a(), "one column", Some(vec![elements(X, 4)]));
    checker.queued(b(), "the other column", Some(vec![elements(X + 4, 4)]));
    // Each goes beyond its block, but they share no byte.
    assert_eq!(kinds(&checker), [FindingKind::OutOfBounds; 2]);
}

/// Two addresses of physical memory: of one handle, or of two.
fn mapped(handles: [u64; 2], offsets: [u64; 2]) -> Checker {
    let mut checker = checker();
    checker.physical_created(7, 2 * PAGE);
    checker.physical_created(8, 2 * PAGE);
    checker.mapped(X, PAGE, handles[0], offsets[0]);
    checker.mapped(Y, PAGE, handles[1], offsets[1]);
    checker
}

#[test]
fn two_addresses_may_be_one_page() {
    let first = || Use::writes(X + 16, 16);
    let of = |checker, second| reports(checker, first(), second);
    assert_eq!(of(mapped([7, 7], [0, 0]), Use::reads(Y + 16, 16)), 1);
    assert_eq!(of(mapped([7, 7], [0, 0]), Use::reads(Y + 32, 16)), 0);
    assert_eq!(of(mapped([7, 7], [0, PAGE]), Use::reads(Y + 16, 16)), 0);
    assert_eq!(of(mapped([7, 8], [0, 0]), Use::reads(Y + 16, 16)), 0);
}

#[test]
fn a_handle_that_was_retained_is_the_same_memory() {
    // A handle stands for all of its memory, wherever the mapping that it was asked for begins.
    for (offset, inside) in [(0, 0), (0, 16), (PAGE, 0)] {
        let mut checker = mapped([7, 8], [offset, 0]);
        checker.physical_retained(X + inside, 9);
        checker.unmapped(Y, PAGE);
        checker.mapped(Y, PAGE, 9, offset);
        assert_eq!(reports(checker, Use::writes(X + 16, 16), Use::reads(Y + 16, 16)), 1);
    }
}

#[test]
fn a_report_names_the_address_that_the_second_operation_used() {
    let mut checker = mapped([7, 7], [0, 0]);
    checker.queued(a(), "first", Some(vec![Use::writes(X, PAGE)]));
    checker.queued(b(), "second", Some(vec![Use::reads(Y + 100, 50)]));
    let report = &checker.reports.all()[0];
    assert_eq!((report.address, report.bytes), (Y + 100, 50));
}

#[test]
fn memory_that_went_back_to_the_driver_is_forgotten() {
    let mut checker = checker();
    write(&mut checker, a());
    checker.forget(X, BYTES);
    write(&mut checker, b());
    assert_eq!(kinds(&checker), []);
}

#[test]
fn the_block_of_an_address_is_known_while_it_is_handed_out() {
    let mut checker = checker();
    checker.handed_out(a(), X, BYTES);
    assert_eq!(checker.block_at(X + BYTES - 1), Some((X, BYTES)));
    assert_eq!(checker.block_at(X + BYTES), None);
    checker.taken_back(X);
    checker.forget(X, BYTES);
    assert_eq!(checker.block_at(X), None);
}

#[test]
fn a_block_that_is_handed_out_is_one_piece_of_memory() {
    let mut checker = checker();
    let small = || (0..8).map(|at| X + at * BYTES);
    for _ in 0..3 {
        small().for_each(|at| checker.handed_out(a(), at, BYTES));
        assert_eq!(checker.pieces(), 8);
        small().for_each(|at| checker.taken_back(at));
        checker.handed_out(a(), X, 8 * BYTES);
        assert_eq!(checker.pieces(), 1);
        checker.taken_back(X);
    }
    // The whole block is known, and what was queued on it.
    checker.handed_out(a(), X, 8 * BYTES);
    checker.queued(b(), "a read of the last bytes", Some(vec![Use::reads(X + 7 * BYTES, 8)]));
    assert_eq!(kinds(&checker), [FindingKind::Race]);
    assert_eq!(checker.reports.all()[0].block.as_ref().map(|block| block.1), Some(8 * BYTES));
}

#[test]
fn pieces_with_uses_that_still_count_stay_apart() {
    let mut checker = checker();
    checker.queued(b(), "a read of the driver's memory", Some(vec![Use::reads(X, 8)]));
    checker.handed_out(a(), X, BYTES);
    checker.queued(c(), "a write", Some(vec![Use::writes(X, 8)]));
    assert_eq!(kinds(&checker), [FindingKind::EarlyReuse, FindingKind::Race, FindingKind::Race]);
}

#[test]
fn nothing_is_kept_of_physical_memory_that_nobody_holds() {
    for is_retained in [false, true] {
        let mut checker = mapped([7, 8], [0, 0]);
        if is_retained {
            checker.physical_retained(X, 7);
        }
        checker.queued(a(), "first", Some(vec![Use::writes(X, 8)]));
        assert_eq!(checker.pieces(), 1);
        checker.handle_dropped(7);
        assert_eq!(checker.pieces(), 1, "it is mapped");
        let was = checker.unmapped(X, PAGE);
        assert_eq!(checker.pieces(), 1, "the driver may refuse");
        checker.were_unmapped(was);
        assert_eq!(checker.pieces(), usize::from(is_retained));
        // The number may be that of other memory, or still be that of the same.
        if !is_retained {
            checker.physical_created(7, PAGE);
        }
        checker.mapped(X, PAGE, 7, 0);
        checker.queued(b(), "second", Some(vec![Use::reads(X, 8)]));
        assert_eq!(kinds(&checker).len(), usize::from(is_retained));
    }
}

#[test]
fn a_handle_that_the_driver_does_not_take_back_stays() {
    for is_mapped in [true, false] {
        let mut checker = mapped([7, 8], [0, 0]);
        checker.queued(a(), "first", Some(vec![Use::writes(X, 8)]));
        if !is_mapped {
            let was = checker.unmapped(X, PAGE);
            checker.were_unmapped(was);
        }
        let was = checker.handle_dropped(7).expect("it is known");
        checker.handle_not_dropped(was);
        checker.mapped(Y + PAGE, PAGE, 7, 0);
        checker.queued(b(), "second", Some(vec![Use::reads(Y + PAGE, 8)]));
        // What nobody can reach is not kept.
        assert_eq!(kinds(&checker).len(), usize::from(is_mapped));
    }
}
